//! `stonecrop table list`: the tables, a line each.

use clap::Args;
use stonecrop_server::api::Tables;

use crate::client::{declared, key_text};
use crate::command::heading;
use crate::error::{Error, Result};
use crate::grid::{Grid, Text};
use crate::output::terminal_columns;
use crate::session::Session;

/// Lists the tables
#[derive(Args)]
#[command(after_help = HELP)]
pub(crate) struct Arguments {
    /// Print a JSON document a table, one a line
    #[arg(long)]
    json: bool,
}

const HELP: &str = concat!(
    heading!("Examples:"),
    "
  stonecrop table list
  stonecrop table list --json | jq -r .name"
);

pub(crate) fn run(arguments: &Arguments, session: &mut Session) -> Result<()> {
    let client = session.open_to_read()?;
    let tables: Tables = client.get("/v1/tables")?;
    client.close()?;
    if arguments.json {
        return tables.tables.iter().try_for_each(|table| session.print_json(table));
    }
    if tables.tables.is_empty() {
        return session.say("there are no tables yet; stonecrop table create makes one");
    }
    let mut grid = Grid::new(["table", "key", "families", "columns", "indexes"]);
    for table in &tables.tables {
        let families: Vec<_> = table.families.iter().map(|family| family.name.as_str()).collect();
        grid.push([
            Text::new(&table.name),
            Text::new(key_text(table)),
            Text::new(families.join(", ")),
            Text::number(declared(table).count().to_string()),
            Text::number(table.indexes.len().to_string()),
        ]);
    }
    grid.write(session.out(), terminal_columns()).map_err(Error::Output)
}
