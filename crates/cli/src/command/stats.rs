//! `stonecrop stats`: the engine and the writer in figures.

use clap::Args;
use indicatif::{BinaryBytes, HumanCount};
use serde_json::{Map, Value as Json};

use crate::command::heading;
use crate::error::{Error, Result};
use crate::grid::{Grid, Text};
use crate::output::terminal_columns;
use crate::session::Session;

/// Shows the size of the database, and what it has done
#[derive(Args)]
#[command(after_help = HELP)]
pub(crate) struct Arguments {
    /// Print the figures as JSON
    #[arg(long)]
    json: bool,
}

const HELP: &str = concat!(
    heading!("Examples:"),
    "
  stonecrop stats
  stonecrop stats --json | jq .disk_bytes"
);

pub(crate) fn run(arguments: &Arguments, session: &mut Session) -> Result<()> {
    let client = session.open_to_read()?;
    let stats: Map<String, Json> = client.get("/v1/stats")?;
    client.close()?;
    if arguments.json {
        return session.print_json(&stats);
    }
    let mut grid = Grid::new(["what", "value"]);
    let within = stats.get("objects").and_then(Json::as_object).into_iter().flatten();
    let plain = stats.iter().filter(|(_, value)| !value.is_object());
    for (name, value) in plain.chain(within) {
        let (name, text) = match (name.strip_suffix("_bytes"), value.as_u64()) {
            (Some(name), Some(bytes)) => (name, BinaryBytes(bytes).to_string()),
            (_, Some(count)) => (name.as_str(), HumanCount(count).to_string()),
            _ if value.is_f64() => {
                (name.as_str(), format!("{:.2}", value.as_f64().unwrap_or_default()))
            }
            _ => (name.as_str(), value.as_str().map_or(value.to_string(), str::to_owned)),
        };
        grid.push([Text::new(name.replace('_', " ")), Text::new(text)]);
    }
    grid.write(session.out(), terminal_columns()).map_err(Error::Output)
}
