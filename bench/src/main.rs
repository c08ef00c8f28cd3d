//! Runs the benchmarks several times and writes what they say into `docs/`.

mod goals;
mod machine;
mod page;
mod plot;
mod run;
mod samples;
mod table;

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use clap::{Parser, Subcommand};

use crate::samples::Samples;

/// Stonecrop measured beside its peers.
#[derive(Parser)]
#[command(version)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Run the benchmarks, and write the report
    Run {
        /// How often to run them all; the best of each counts
        #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..))]
        passes: u32,
        /// Only prove that they run: one short pass, and the report is not written
        #[arg(long, conflicts_with = "passes")]
        quick: bool,
    },
    /// Write the report from the best of all samples that are in target/criterion
    Report,
}

fn main() -> Result<()> {
    let criterion = target_directory()?.join("criterion");
    match Arguments::parse().command {
        Command::Run { quick: true, .. } => {
            let samples = run::quick(&criterion.with_file_name("criterion-quick"))?;
            print!("{}{}", table::markdown(&samples)?, goals::markdown(&samples)?);
        }
        Command::Run { passes, quick: false } => {
            write_report(&run::passes(&criterion.join("passes"), passes)?)?;
        }
        Command::Report => write_report(&Samples::read(&criterion)?)?,
    }
    Ok(())
}

/// Where cargo put this program, and criterion its samples.
fn target_directory() -> Result<PathBuf> {
    let program = std::env::current_exe()?;
    let target = program.parent().and_then(Path::parent);
    Ok(target.context("the program is not in cargo's target directory")?.to_owned())
}

fn write_report(samples: &Samples) -> Result<()> {
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).with_file_name("docs");
    let goals = goals::markdown(samples)?;
    let section = format!(
        "{}\n{}![Time of each codec as a multiple of memcpy's](benchmarks/keys.svg)\n\n{goals}",
        machine::markdown()?,
        table::markdown(samples)?,
    );
    page::replace_section(&docs.join("benchmarks.md"), "keys", &section)?;
    page::write(&docs.join("benchmarks/keys.svg"), &plot::svg(samples)?)?;
    print!("{goals}");
    Ok(())
}
