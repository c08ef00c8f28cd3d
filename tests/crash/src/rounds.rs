//! kill -9 at random moments, on the same folder again and again.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use serde::Serialize;

use crate::batch::open;
use crate::child::{self, Ended, Kill, Moment};
use crate::expected::{Expected, Heard};
use crate::place::Place;
use crate::{Report, Result};

const ROUNDS_A_FOLDER: u64 = 20;
/// So many folders with a broken promise are enough.
const FOLDERS_KEPT: usize = 3;

/// Kill a writer with SIGKILL at random moments and check what it left, many times.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    #[arg(long, default_value_t = 200)]
    count: u64,
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Stop after so many seconds, however many rounds that are.
    #[arg(long, default_value_t = u64::MAX)]
    seconds: u64,
    /// Where databases are made: a folder, best on a tmpfs, or a location on object storage, such
    /// as file:///path?engine=slatedb. /dev/shm without, if it is there.
    #[arg(long, alias = "folder")]
    location: Option<String>,
    /// The summary as JSON on stdout.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Default, Serialize)]
pub(crate) struct Summary {
    rounds: u64,
    folders: u64,
    kills: u64,
    kills_while_opening: u64,
    kills_during_flush_or_compaction: u64,
    kills_during_catalog_change: u64,
    acknowledged_batches: u64,
    acknowledged_catalog_changes: u64,
    unacknowledged_batches_found_whole: u64,
    seconds: f64,
    pub(crate) broken: Vec<String>,
    kept: Vec<PathBuf>,
}

pub(crate) fn run(arguments: &Arguments) -> Result<Report> {
    let start = child::now();
    let mut random = fastrand::Rng::with_seed(arguments.seed);
    let mut summary = Summary::default();
    while summary.rounds < arguments.count
        && summary.kept.len() < FOLDERS_KEPT
        && start.elapsed().as_secs() < arguments.seconds
    {
        let place = Place::new(arguments.location.as_deref())?;
        let mut expected = Expected::default();
        summary.folders += 1;
        for _ in 0..ROUNDS_A_FOLDER.min(arguments.count - summary.rounds) {
            summary.rounds += 1;
            let broken = round(&place.path, &mut expected, &mut random, &mut summary)?;
            if !broken.is_empty() {
                let round = summary.rounds;
                writeln!(std::io::stderr(), "round {round} is broken: {}", broken.join("\n"))?;
                summary.broken.extend(broken.iter().map(|what| format!("round {round}: {what}")));
                let note = format!("round {round}\n{}\n", broken.join("\n"));
                summary.kept.push(place.keep(&note)?);
                break;
            }
        }
        let (rounds, batches) = (summary.rounds, summary.acknowledged_batches);
        let seconds = start.elapsed().as_secs();
        writeln!(
            std::io::stderr(),
            "round {rounds} of {}: {batches} acknowledged batches, {seconds} s",
            arguments.count
        )?;
    }
    summary.seconds = start.elapsed().as_secs_f64();
    let text = format!(
        "{} rounds in {:.0} s, {} kills ({} while opening, {} during a flush or compaction, {} \
         during a change of the catalog).\n{} batches and {} changes of the catalog were \
         acknowledged; {} more were whole without.",
        summary.rounds,
        summary.seconds,
        summary.kills,
        summary.kills_while_opening,
        summary.kills_during_flush_or_compaction,
        summary.kills_during_catalog_change,
        summary.acknowledged_batches,
        summary.acknowledged_catalog_changes,
        summary.unacknowledged_batches_found_whole,
    );
    let mut broken = summary.broken.clone();
    broken.extend(summary.kept.iter().map(|folder| format!("kept: {}", folder.display())));
    Report::new(text, broken, &summary)
}

pub(crate) const UNREADABLE: &str = "the folder can't be read after a kill";

fn round(
    path: &Path,
    expected: &mut Expected,
    random: &mut fastrand::Rng,
    summary: &mut Summary,
) -> Result<Vec<String>> {
    let mut writer = command("write", path)?;
    writer.args(["--seed", &random.u32(..).to_string()]);
    writer.args(["--first", &expected.next_batch().to_string()]);
    writer.args(["--first-step", &expected.next_step().to_string()]);
    writer.args(["--threads", if random.bool() { "4" } else { "1" }]);
    writer.args(["--batches", "2000"]);
    let ended = child::run(writer, choose(random))?;
    count(&ended, summary);
    let mut broken = complaints(&ended);
    // A second end, while what the first left is being recovered.
    if random.u32(0..4) == 0 {
        let mut opener = command("write", path)?;
        opener.arg("--open-only");
        let delay = Duration::from_micros(random.u64(0..40_000));
        let ended = child::run(opener, Kill { moment: Moment::Started, delay })?;
        summary.kills += u64::from(ended.killed);
        summary.kills_while_opening += u64::from(ended.killed);
        broken.extend(complaints(&ended));
    }
    let before = expected.batches();
    match check(path, expected, &ended.heard) {
        Ok(found) => broken.extend(found),
        Err(error) => broken.push(format!("{UNREADABLE}: {error}")),
    }
    let whole = (expected.batches() - before) as u64;
    summary.unacknowledged_batches_found_whole +=
        whole.saturating_sub(ended.heard.acknowledged.len() as u64);
    Ok(broken)
}

fn choose(random: &mut fastrand::Rng) -> Kill {
    let (moment, micros) = match random.u32(0..10) {
        0 => (Moment::Started, 40_000),
        1..=2 => (Moment::Maintenance(random.usize(1..4)), 20_000),
        3..=4 => (Moment::Catalog(random.usize(1..8)), 60),
        _ => (Moment::Acknowledged(random.usize(1..200)), 3_000),
    };
    Kill { moment, delay: Duration::from_micros(random.u64(0..micros)) }
}

fn count(ended: &Ended, summary: &mut Summary) {
    let heard = &ended.heard;
    let killed = u64::from(ended.killed);
    summary.kills += killed;
    summary.kills_while_opening += killed * u64::from(heard.tried.is_empty());
    summary.kills_during_flush_or_compaction += killed * u64::from(ended.maintaining);
    summary.kills_during_catalog_change += killed * u64::from(heard.begun.is_some());
    summary.acknowledged_batches += heard.acknowledged.len() as u64;
    summary.acknowledged_catalog_changes += heard.steps.len() as u64;
}

/// What a writer must never do: hang, panic, or fail.
pub(crate) fn complaints(ended: &Ended) -> Vec<String> {
    let mut broken = Vec::new();
    if ended.hung {
        broken.push("the writer hangs".to_owned());
    }
    if ended.stderr.contains("panicked")
        || (!ended.killed && !ended.hung && !ended.status.success())
    {
        broken.push(format!("the writer failed: {} {}", ended.remarks.join("; "), ended.stderr));
    }
    broken
}

pub(crate) fn command(name: &str, path: &Path) -> Result<Command> {
    let mut command = Command::new(std::env::current_exe()?);
    command.arg(name).arg(path);
    Ok(command)
}

/// Opens the folder as the next process would, and compares.
pub(crate) fn check(path: &Path, expected: &mut Expected, heard: &Heard) -> Result<Vec<String>> {
    let db = open(path)?;
    let broken = expected.check(&db, heard)?;
    db.close()?;
    Ok(broken)
}

/// Compare the rows of a folder that was kept with the batches that are there.
#[derive(clap::Args)]
pub(crate) struct InspectArguments {
    folder: PathBuf,
}

pub(crate) fn inspect(arguments: &InspectArguments) -> Result<()> {
    let db = open(&arguments.folder)?;
    let heard = Heard { tried: (1..200_000).collect(), ..Heard::default() };
    for broken in Expected::default().check(&db, &heard)? {
        writeln!(std::io::stdout(), "{broken}")?;
    }
    Ok(())
}
