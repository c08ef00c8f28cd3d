//! `stonecrop get`: one row by its key.

use clap::Args;
use stonecrop::ResponseRow;
use stonecrop_server::api::Table;

use crate::client::{escape, table_path};
use crate::command::heading;
use crate::error::{Error, Result};
use crate::output::terminal_columns;
use crate::rows;
use crate::session::Session;

/// Shows a row
///
/// A value that is no longer fresh has a "~" after it.
#[derive(Args)]
#[command(after_help = HELP)]
pub(crate) struct Arguments {
    /// The table
    table: String,

    /// The key: its text if it has one field, otherwise a JSON list
    key: String,

    /// Only these columns
    #[arg(long, value_name = "COLUMN", value_delimiter = ',')]
    columns: Option<Vec<String>>,

    /// The row as it was then, as in 2024-01-15T10:00:00Z
    #[arg(long, value_name = "TIME")]
    as_of: Option<String>,

    /// Print the row as JSON
    #[arg(long)]
    json: bool,
}

const HELP: &str = concat!(
    heading!("Examples:"),
    "
  stonecrop get accounts acct_001
  stonecrop get people '[\"acme\", 7]' --columns name,email
  stonecrop get accounts acct_001 --json | jq .columns.name.value.String

",
    heading!("Exit codes:"),
    "
  0 it is there, 3 there is no such row or table, 5 the server failed or can't be reached"
);

pub(crate) fn run(arguments: &Arguments, session: &mut Session) -> Result<()> {
    let mut query = Vec::new();
    if let Some(columns) = &arguments.columns {
        query.push(format!("columns={}", escape(&columns.join(","))));
    }
    if let Some(time) = &arguments.as_of {
        query.push(format!("as_of={}", escape(time)));
    }
    let question = if query.is_empty() { "" } else { "?" };
    let path = format!("/rows/{}{question}{}", escape(&arguments.key), query.join("&"));
    let client = session.open_to_read()?;
    let row: ResponseRow = client.get(&table_path(&arguments.table, &path))?;
    if arguments.json {
        client.close()?;
        return session.print_json(&row);
    }
    let table: Table = client.get(&table_path(&arguments.table, ""))?;
    client.close()?;
    rows::card(&row, &table).write(session.out(), terminal_columns()).map_err(Error::Output)
}
