//! `stonecrop check`: whether indexes and rows agree.

use clap::Args;
use serde_json::json;

use crate::client::wire::CheckReport;
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
    let report: CheckReport = client.post("/v1/check", &json!({ "repair": arguments.repair }))?;
    client.close()?;
    if !report.disagreements.is_empty() && !report.repaired {
        session.mark_bad();
    }
    if arguments.json {
        return session.print_json(&report);
    }
    for disagreement in &report.disagreements {
        session.say(&visible(disagreement))?;
    }
    let looked = format!("{} rows and {} index entries", report.rows, report.entries);
    match (report.disagreements.len(), report.repaired) {
        (0, _) => session.say(&format!("{looked}: all agrees")),
        (count, true) => session.say(&format!("{looked}: {count} did not agree, and were mended")),
        (count, false) => session
            .say(&format!("{looked}: {count} do not agree; stonecrop check --repair mends them")),
    }
}
