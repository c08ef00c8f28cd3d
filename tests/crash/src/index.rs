//! kill -9 while indexes are built, on the same folder again and again.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::Serialize;
use stonecrop::{Database, Durability, Error, Family, Index, IndexProgress, TableSchema, Write};

use crate::child::{self, Kill, Moment};
use crate::rounds::{command, complaints};
use crate::{Report, Result};

const TABLE: &str = "table";
const ROWS: u64 = 3_000;
/// How many indexes a builder makes, if it is left alone.
const STEPS: u64 = 20;

/// Kill a builder of indexes with SIGKILL at random moments; then they are completed, and right.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    #[arg(long, default_value_t = 15)]
    count: u64,
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// The summary as JSON on stdout.
    #[arg(long)]
    pub(crate) json: bool,
}

/// Make one index after the other while rows are written, until killed.
#[derive(clap::Args)]
pub(crate) struct BuildArguments {
    folder: PathBuf,
    #[arg(long)]
    seed: u64,
}

#[derive(Default, Serialize)]
struct Summary {
    rounds: u64,
    kills: u64,
    /// Indexes that were half built when the folder was opened again.
    resumed: u64,
    /// Entries that were looked at and found right.
    entries: u64,
}

pub(crate) fn run(arguments: &Arguments) -> Result<Report> {
    let folder = tempfile::Builder::new().prefix("stonecrop-index-").tempdir_in(crate::scratch())?;
    let path = folder.path().join("db");
    fill(&path)?;
    let mut random = fastrand::Rng::with_seed(arguments.seed);
    let mut summary = Summary::default();
    let mut broken = Vec::new();
    while summary.rounds < arguments.count && broken.is_empty() {
        summary.rounds += 1;
        let mut builder = command("build", &path)?;
        builder.args(["--seed", &random.u32(..).to_string()]);
        let delay = Duration::from_micros(random.u64(0..40_000));
        let moment = Moment::Maintenance(random.usize(1..4));
        let ended = child::run(builder, Kill { moment, delay })?;
        summary.kills += u64::from(ended.killed);
        broken.extend(complaints(&ended));
        match check(&path, &mut summary) {
            Ok(found) => broken.extend(found),
            Err(error) => broken.push(format!("{}: {error}", crate::rounds::UNREADABLE)),
        }
    }
    if !broken.is_empty() {
        broken.push(format!("kept: {}", folder.keep().display()));
    }
    let Summary { rounds, kills, resumed, .. } = summary;
    let text = format!("{rounds} rounds, {kills} kills, {resumed} indexes went on half way.");
    Report::new(text, broken, &summary)
}

fn row(id: u64, value: i64) -> Write<'static> {
    Write::put(id).set("a", value).set("b", format!("{value}")).set("loose", value % 7)
}

fn fill(path: &Path) -> Result<()> {
    let db = Database::open(path)?;
    let family = Family::new("family").column("a").column("b").column("c");
    let table = db.create_table(TableSchema::new(TABLE, "id u64", "")?.family(family))?;
    table.write_with((0..ROWS).map(|id| row(id, id as i64)), Durability::Sync)?;
    Ok(db.close()?)
}

pub(crate) fn build(arguments: &BuildArguments) -> Result<()> {
    let db = Database::open(&arguments.folder)?;
    let table = db.table(TABLE)?;
    let mut random = fastrand::Rng::with_seed(arguments.seed);
    for step in 0..STEPS {
        for index in table.schema()?.indexes().iter().rev().skip(1) {
            table.drop_index(index.name())?;
        }
        writeln!(std::io::stdout(), "maintain index")?;
        let name = format!("{} {step}", arguments.seed);
        let columns = ["a i64", "loose i64, b string desc", "b string, loose i64"];
        let columns = columns.get(random.usize(0..columns.len())).copied().unwrap_or("a i64");
        table.create_index(Index::new(&name, columns)?.covering(["c"]))?;
        while matches!(table.index_progress(&name)?, IndexProgress::Building { .. }) {
            let id = random.u64(0..ROWS);
            let write = match random.u32(0..4) {
                0 => Write::delete(id),
                1 => Write::put(id).set("c", random.i64(..)),
                _ => row(id, random.i64(0..1_000_000)),
            };
            table.write_with([write], Durability::None)?;
        }
        table.wait_for_index(&name)?;
    }
    Ok(db.close()?)
}

/// Opens the folder as the next process would, and waits until all indexes are complete.
fn check(path: &Path, summary: &mut Summary) -> Result<Vec<String>, Error> {
    let db = Database::open(path)?;
    let table = db.table(TABLE)?;
    for index in table.schema()?.indexes() {
        let progress = table.index_progress(index.name())?;
        let is_half = matches!(progress, IndexProgress::Building { rows } if rows > 0);
        summary.resumed += u64::from(is_half);
        table.wait_for_index(index.name())?;
    }
    let report = db.check()?;
    summary.entries += report.entries;
    // What dropped indexes left would make every round slower than the one before.
    db.compact()?;
    db.close()?;
    Ok(report.problems.iter().map(|found| format!("{found:?}")).collect())
}
