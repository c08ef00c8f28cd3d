//! The key codec beside its peers, measured by criterion.

mod goals;
mod plot;
mod run;
mod samples;
mod table;

use std::path::Path;

use anyhow::Result;

use crate::keys::samples::Samples;
use crate::{goal, machine, page};

/// Proves that everything runs; the figures mean nothing.
pub(crate) fn quick(directory: &Path) -> Result<()> {
    let samples = run::quick(directory)?;
    print!("{}{}", table::markdown(&samples)?, goal::markdown(&goals::goals(&samples)?)?);
    Ok(())
}

/// Measures everything and writes the report.
pub(crate) fn run(directory: &Path, docs: &Path, passes: u32) -> Result<()> {
    write_report(&run::passes(directory, passes)?, docs)
}

/// Writes the report from the samples of earlier runs.
pub(crate) fn report(directory: &Path, docs: &Path) -> Result<()> {
    write_report(&Samples::read(directory)?, docs)
}

fn write_report(samples: &Samples, docs: &Path) -> Result<()> {
    let goals = goal::markdown(&goals::goals(samples)?)?;
    let section = format!(
        "{}\n{}![Time of each codec as a multiple of memcpy's](benchmarks/keys.svg)\n\n{goals}",
        machine::markdown()?,
        table::markdown(samples)?,
    );
    page::replace_section(&docs.join("benchmarks.md"), "keys", &section)?;
    page::write(&docs.join("benchmarks/keys.svg"), &plot::chart(samples)?.svg()?)?;
    print!("{goals}");
    Ok(())
}
