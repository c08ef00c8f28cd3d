//! Queries beside those of SQLite, and beside what the engine takes for the entries that they need.

mod contender;
mod data;
mod goals;
mod growth;
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
const NAMES: [Name; 3] = [Name::Stonecrop, Name::Sqlite, Name::Fjall];

/// Proves that everything runs; the figures mean nothing.
pub(crate) fn quick(directory: &Path) -> Result<()> {
    let growth = run::quick(directory)?;
    print!("{}{}", figures::markdown(growth.largest()?, &NAMES)?, growth.markdown()?);
    Ok(())
}

/// Measures everything and writes the report.
pub(crate) fn run(directory: &Path, docs: &Path, passes: u32) -> Result<()> {
    let growth = run::passes(directory, passes)?;
    let figures = growth.largest()?;
    let (table, times) = (figures::markdown(figures, &NAMES)?, growth.markdown()?);
    let goals = goal::markdown(&goals::goals(&growth)?)?;
    let section = format!(
        "{}\n{table}\
         ![Rate of each database as a multiple of SQLite's](benchmarks/queries.svg)\n\n{times}\
         ![Time of an answer by the rows of the table](benchmarks/queries-growth.svg)\n\n{goals}",
        machine::markdown()?,
    );
    let chart = figures::chart(figures, &NAMES, "Queries beside SQLite", 270.0)?;
    page::replace_section(&docs.join("benchmarks.md"), "queries", &section)?;
    page::write(&docs.join("benchmarks/queries.svg"), &chart.svg()?)?;
    page::write(&docs.join("benchmarks/queries-growth.svg"), &growth.chart()?.svg()?)?;
    print!("{table}{times}{goals}");
    Ok(())
}
