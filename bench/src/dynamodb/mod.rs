//! DynamoDB's door under load, beside other servers that answer its protocol.

mod contender;
mod data;
mod figures;
mod limit;
mod measure;
mod report;
mod workload;

use std::path::Path;
use std::time::Duration;

use anyhow::Result;

use crate::cores::Cores;
use crate::{machine, page};
pub(crate) use contender::Contender;
use figures::Figures;
use limit::Limits;
pub(crate) use limit::answer;
pub(crate) use measure::Place;
use measure::{Size, pass};

const SIZE: Size = Size { customers: 10_000, partitions: 100, time: Duration::from_secs(2) };
const QUICK: Size = Size { customers: 200, partitions: 2, time: Duration::from_millis(20) };

/// Proves that everything runs, without peers; the figures mean nothing.
pub(crate) fn quick(place: Place<'_>) -> Result<()> {
    let (mut figures, mut limits) = (Figures::default(), Limits::default());
    let cores = Cores::divide()?;
    for contender in Contender::OURS {
        pass(contender, place, &cores, QUICK, &mut figures)?;
    }
    limits.pass(place, &cores, QUICK.time)?;
    print!("{}{}", report::markdown(&figures)?, limits.markdown(&figures)?);
    figures.ours_are_right()
}

/// Measures everything and writes the report; with some of the servers it is only printed.
pub(crate) fn run(place: Place<'_>, docs: &Path, passes: u32, servers: &[Contender]) -> Result<()> {
    let (mut figures, mut limits) = (Figures::default(), Limits::default());
    let cores = Cores::divide()?;
    let is_wanted = |server: &Contender| servers.is_empty() || servers.contains(server);
    for _ in 0..passes {
        limits.pass(place, &cores, SIZE.time)?;
        for contender in Contender::ALL.into_iter().filter(is_wanted) {
            if contender.is_installed(place.peers) {
                pass(contender, place, &cores, SIZE, &mut figures)?;
            } else {
                figures.miss(contender);
            }
        }
    }
    // The report counts the cores of the machine.
    drop(cores);
    let tables = format!("{}{}", report::markdown(&figures)?, limits.markdown(&figures)?);
    print!("{tables}");
    figures.ours_are_right()?;
    if !servers.is_empty() {
        return Ok(());
    }
    let section = format!(
        "Made by `stonecrop-bench run --only dynamodb --passes {passes}`. {}\n{}{tables}\
         ![Rate of each server as a multiple of dynoxide's](benchmarks/dynamodb.svg)\n",
        machine::markdown()?,
        report::durability(&figures)?,
    );
    page::replace_section(&docs.join("benchmarks.md"), "dynamodb", &section)?;
    page::write(&docs.join("benchmarks/dynamodb.svg"), &report::chart(&figures).svg()?)
}
