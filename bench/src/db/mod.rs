//! The database beside SQLite, and beside the engine that it stands on.

mod contender;
mod data;
mod goals;
mod measure;
mod ours;
mod raw_fjall;
mod run;
mod sqlite;

use std::path::Path;

use anyhow::Result;

use crate::figures::{self, Name};
use crate::{goal, machine, page};

/// The columns of the report.
const NAMES: [Name; 4] = [Name::Stonecrop, Name::Sqlite, Name::SqliteTwoThreads, Name::Fjall];

/// Proves that everything runs; the figures mean nothing.
pub(crate) fn quick(directory: &Path) -> Result<()> {
    print!("{}", figures::markdown(&run::quick(directory)?, &NAMES)?);
    Ok(())
}

/// Measures everything and writes the report.
pub(crate) fn run(directory: &Path, docs: &Path, passes: u32) -> Result<()> {
    let figures = run::passes(directory, passes)?;
    let table = figures::markdown(&figures, &NAMES)?;
    let goals = goal::markdown(&goals::goals(&figures)?)?;
    let chart = figures::chart(&figures, &NAMES, "The database beside SQLite", 230.0)?;
    let section = format!(
        "{}\n{table}![Rate of each database as a multiple of SQLite's](benchmarks/db.svg)\n\n{goals}",
        machine::markdown()?,
    );
    page::replace_section(&docs.join("benchmarks.md"), "db", &section)?;
    page::write(&docs.join("benchmarks/db.svg"), &chart.svg()?)?;
    print!("{table}{goals}");
    Ok(())
}
