//! The database beside SQLite, and beside the engine that it stands on.

mod contender;
mod data;
mod figures;
mod goals;
mod ours;
mod plot;
mod raw_fjall;
mod run;
mod sqlite;
mod table;

use std::path::Path;

use anyhow::Result;

use crate::{goal, machine, page};

/// Proves that everything runs; the figures mean nothing.
pub(crate) fn quick(directory: &Path) -> Result<()> {
    print!("{}", table::markdown(&run::quick(directory)?)?);
    Ok(())
}

/// Measures everything and writes the report.
pub(crate) fn run(directory: &Path, docs: &Path, passes: u32) -> Result<()> {
    let figures = run::passes(directory, passes)?;
    let (table, goals) = (table::markdown(&figures)?, goal::markdown(&goals::goals(&figures)?)?);
    let section = format!(
        "{}\n{table}![Rate of each database as a multiple of SQLite's](benchmarks/db.svg)\n\n{goals}",
        machine::markdown()?,
    );
    page::replace_section(&docs.join("benchmarks.md"), "db", &section)?;
    page::write(&docs.join("benchmarks/db.svg"), &plot::chart(&figures)?.svg()?)?;
    print!("{table}{goals}");
    Ok(())
}
