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

use crate::{machine, page};
use contender::Contender;
use figures::Figures;
use limit::Limit;
pub(crate) use limit::answer;
use measure::{Place, Size, pass};

const SIZE: Size = Size { customers: 10_000, partitions: 100, time: Duration::from_secs(2) };
const QUICK: Size = Size { customers: 200, partitions: 2, time: Duration::from_millis(20) };

/// Proves that everything runs, without peers; the figures mean nothing.
pub(crate) fn quick(program: &Path, directory: &Path) -> Result<()> {
    let mut figures = Figures::default();
    let place = Place { program, peers: Path::new(""), directory };
    for contender in Contender::OURS {
        pass(contender, place, QUICK, &mut figures)?;
    }
    let mut limit = Limit::default();
    limit.pass(program, QUICK.time)?;
    print!("{}{}", report::markdown(&figures)?, limit.markdown(&figures)?);
    figures.ours_are_right()
}

/// Measures everything and writes the report.
pub(crate) fn run(
    program: &Path,
    peers: &Path,
    directory: &Path,
    docs: &Path,
    passes: u32,
) -> Result<()> {
    let (mut figures, mut limit) = (Figures::default(), Limit::default());
    let place = Place { program, peers, directory };
    for _ in 0..passes {
        limit.pass(program, SIZE.time)?;
        for contender in Contender::ALL {
            if contender.is_installed(peers) {
                pass(contender, place, SIZE, &mut figures)?;
            } else {
                figures.miss(contender);
            }
        }
    }
    let tables = format!("{}{}", report::markdown(&figures)?, limit.markdown(&figures)?);
    print!("{tables}");
    figures.ours_are_right()?;
    let section = format!(
        "Made by `stonecrop-bench run --only dynamodb --passes {passes}`. {}\n{}{tables}\
         ![Rate of each server as a multiple of moto's](benchmarks/dynamodb.svg)\n",
        machine::markdown()?,
        report::durability(&figures)?,
    );
    page::replace_section(&docs.join("benchmarks.md"), "dynamodb", &section)?;
    page::write(&docs.join("benchmarks/dynamodb.svg"), &report::chart(&figures).svg()?)
}
