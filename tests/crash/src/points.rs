//! An end, or a failed sync, at exactly the Nth call of the operating system, by strace.

use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use serde::Serialize;

use crate::child::{self, Ended, Kill, Moment};
use crate::expected::Expected;
use crate::rounds::{UNREADABLE, check, command};
use crate::{Report, Result};

/// The calls that change files. A writer of one thread counts them for each of its threads.
const CALLS: [&str; 8] = [
    "fsync,fdatasync",
    "write,pwrite64",
    "rename,renameat,renameat2",
    "openat",
    "unlink,unlinkat",
    "mkdir,mkdirat",
    "ftruncate",
    "flock",
];

/// No thread of a writer syncs more often.
const MOST_SYNCS: u64 = 200;
const UNHARMED: Kill = Kill { moment: Moment::Never, delay: Duration::ZERO };

/// Kill a writer at its Nth call that changes files, and fail its Nth sync.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// The most points to try: of each call the 1st, then of each the 2nd, and so on; kills and
    /// failed syncs take turns.
    #[arg(long, default_value_t = 50)]
    count: u64,
    /// Only kills, or only failed syncs.
    #[arg(long)]
    only: Option<Only>,
    /// The summary as JSON on stdout.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Clone, Copy, PartialEq, clap::ValueEnum)]
pub(crate) enum Only {
    Kill,
    Fail,
}

#[derive(Default, Serialize)]
struct Summary {
    kill_points: u64,
    failed_syncs: u64,
    failed_syncs_that_stopped_writes: u64,
    failed_syncs_that_stopped_opening: u64,
    failed_syncs_that_went_unsaid: u64,
    failed_syncs_that_came_twice: u64,
    acknowledged_batches: u64,
    messages: Vec<String>,
    seconds: f64,
    broken: Vec<String>,
}

pub(crate) fn run(arguments: &Arguments) -> Result<Report> {
    if Command::new("strace").arg("-V").output().is_err() {
        let reason = "there is no strace; install it (apt install strace)".to_owned();
        let skipped = Some(reason);
        return Ok(Report { text: String::new(), json: String::new(), broken: vec![], skipped });
    }
    let start = child::now();
    let mut summary = Summary::default();
    // Calls that a writer has made fewer of than have been tried.
    let mut exhausted = [[false; CALLS.len() + 1]; 2];
    for nth in 1..=MOST_SYNCS {
        for (made, exhausted) in [false, true].into_iter().zip(&mut exhausted) {
            for (index, done) in exhausted.iter_mut().enumerate() {
                let tried = summary.kill_points + summary.failed_syncs;
                if *done || tried >= arguments.count {
                    continue;
                }
                *done = match CALLS.get(index) {
                    Some(_) if arguments.only == Some(Only::Fail) => true,
                    None if arguments.only == Some(Only::Kill) => true,
                    Some(call) => !kill_at(call, nth, made, &mut summary)?,
                    None => !fail_sync(nth, made, &mut summary)?,
                };
            }
        }
    }
    summary.seconds = start.elapsed().as_secs_f64();
    let mut text = format!(
        "{} kills at the Nth call and {} failed syncs in {:.0} s; {} batches were acknowledged.\nOf \
         the failed syncs, {} stopped writes till the next opening, and {} an opening.\nThe errors:\n",
        summary.kill_points,
        summary.failed_syncs,
        summary.seconds,
        summary.acknowledged_batches,
        summary.failed_syncs_that_stopped_writes,
        summary.failed_syncs_that_stopped_opening,
    );
    summary.messages.iter().for_each(|line| text += &format!("  {line}\n"));
    Report::new(text, summary.broken.clone(), &summary)
}

/// A folder to write to: a new one, or one with a database.
struct Ground {
    folder: tempfile::TempDir,
    expected: Expected,
    name: &'static str,
}

impl Ground {
    fn new(made: bool) -> Result<Self> {
        let folder = tempfile::tempdir_in(crate::scratch())?;
        let mut expected = Expected::default();
        if made {
            let mut writer = command("write", &folder.path().join("db"))?;
            writer.args(["--seed", "3", "--batches", "40"]);
            let ended = child::run(writer, UNHARMED)?;
            let broken = check(&folder.path().join("db"), &mut expected, &ended.heard)?;
            if let Some(broken) = broken.first() {
                return Err(broken.as_str().into());
            }
        }
        let name = if made { "an old folder" } else { "a new folder" };
        Ok(Ground { folder, expected, name })
    }

    fn path(&self) -> PathBuf {
        self.folder.path().join("db")
    }

    fn trace(&self) -> PathBuf {
        self.folder.path().join("trace")
    }

    /// How many calls failed, because strace made them fail.
    fn failures(&self) -> Result<usize> {
        let trace = std::fs::read(self.trace())?;
        Ok(String::from_utf8_lossy(&trace).matches("(INJECTED)").count())
    }

    /// Writes 60 batches while strace does something to a call.
    fn traced(&self, call: &str, what: &str, more: &[&str]) -> Result<Ended> {
        let writer = command("write", &self.path())?;
        let mut strace = Command::new("strace");
        strace.args(["-f", "-qq", "-e", &format!("trace={call}"), "-o"]).arg(self.trace());
        strace.args(["-e", &format!("inject={call}:{what}")]);
        strace.arg(writer.get_program()).args(writer.get_args());
        strace.args(["--seed", "7", "--batches", "60"]).args(more);
        strace.args(["--first", &self.expected.next_batch().to_string()]);
        strace.args(["--first-step", &self.expected.next_step().to_string()]);
        child::run(strace, UNHARMED)
    }

    fn judge(&mut self, ended: &Ended, place: &str, summary: &mut Summary) {
        summary.acknowledged_batches += ended.heard.acknowledged.len() as u64;
        let mut broken = Vec::new();
        if ended.hung {
            broken.push("the writer hangs".to_owned());
        }
        let path = self.path();
        match check(&path, &mut self.expected, &ended.heard) {
            Ok(found) => broken.extend(found),
            Err(error) => broken.push(format!("{UNREADABLE}: {error}")),
        }
        summary.broken.extend(broken.iter().map(|broken| format!("{place}: {broken}")));
    }
}

/// False where the writer came to its end.
fn kill_at(call: &str, nth: u64, made: bool, summary: &mut Summary) -> Result<bool> {
    let mut ground = Ground::new(made)?;
    let ended = ground.traced(call, &format!("signal=KILL:when={nth}"), &[])?;
    if ended.status.success() {
        return Ok(false);
    }
    summary.kill_points += 1;
    let place = format!("killed at {call} {nth} in {}", ground.name);
    ground.judge(&ended, &place, summary);
    Ok(true)
}

/// False where no sync failed.
fn fail_sync(nth: u64, made: bool, summary: &mut Summary) -> Result<bool> {
    let mut ground = Ground::new(made)?;
    let what = format!("error=EIO:when={nth}");
    let ended = ground.traced("fsync,fdatasync", &what, &["--after-error"])?;
    let place = format!("sync {nth} failed in {}", ground.name);
    let said = |word: &str| ended.remarks.iter().any(|remark| remark.starts_with(word));
    if ended.remarks.is_empty() && ended.status.success() {
        // Some failures are nobody's business; a count beyond the last sync is none at all.
        summary.failed_syncs_that_went_unsaid += 1;
        ground.judge(&ended, &place, summary);
        return Ok(nth < MOST_SYNCS);
    }
    summary.failed_syncs += 1;
    if said("error unopened") {
        summary.failed_syncs_that_stopped_opening += 1;
    } else {
        summary.failed_syncs_that_stopped_writes += 1;
        // strace counts for each thread: after the Nth sync of one in the background, the Nth of
        // the main thread fails as well, and that may be while it opens the folder again.
        let again = ground.failures()? > 1;
        summary.failed_syncs_that_came_twice += u64::from(again);
        if said("accepted") || said("unread") || !(said("reopened") || again) {
            let remarks = ended.remarks.join("; ");
            summary.broken.push(format!("{place}: {remarks} {}", ended.stderr));
        }
    }
    let here = ground.path().display().to_string();
    for remark in ended.remarks.iter().filter(|remark| remark.starts_with("error")) {
        let message = remark.replace(&here, "FOLDER");
        if !summary.messages.contains(&message) {
            summary.messages.push(message);
        }
    }
    ground.judge(&ended, &place, summary);
    Ok(true)
}
