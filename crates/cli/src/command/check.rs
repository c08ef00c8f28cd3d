//! `stonecrop check`: whether indexes and rows agree.

use clap::Args;
use stonecrop::{Disagreement, Report};
use stonecrop_server::api::Check;

use crate::command::heading;
use crate::error::Result;
use crate::output::visible;
use crate::session::Session;

/// Compares every index with the rows
#[derive(Args)]
#[command(after_help = HELP)]
pub(crate) struct Arguments {
    /// Mend what does not agree
    #[arg(long)]
    repair: bool,

    /// Print the report as JSON
    #[arg(long)]
    json: bool,
}

const HELP: &str = concat!(
    heading!("Examples:"),
    "
  stonecrop check
  stonecrop check --repair

",
    heading!("Exit codes:"),
    "
  0 all agrees or was mended, 1 something does not agree"
);

pub(crate) fn run(arguments: &Arguments, session: &mut Session) -> Result<()> {
    let client = session.open()?;
    let report: Report = client.post("/v1/check", &Check { repair: arguments.repair })?;
    client.close()?;
    if report.mended < report.found {
        session.mark_bad();
    }
    if arguments.json {
        return session.print_json(&report);
    }
    for Disagreement { table, index, problem, key, .. } in &report.problems {
        let place = match index {
            Some(index) => format!("table {table}, index {index}"),
            None => format!("table {table}"),
        };
        session.say(&visible(&format!("{place}: {problem} (stored key {key})")))?;
    }
    let Report { entries, found, mended, .. } = report;
    session.say(&match (found, arguments.repair) {
        (0, _) => format!("{entries} entries were looked at: all agrees"),
        (_, true) => format!("{entries} entries were looked at: {mended} of {found} were mended"),
        (_, false) => format!(
            "{entries} entries were looked at: {found} do not agree; stonecrop check --repair \
             mends what can be"
        ),
    })
}
