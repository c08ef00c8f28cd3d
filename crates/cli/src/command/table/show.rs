//! `stonecrop table show`: one table, with all that is declared of it.

use std::io::{self, Write};

use clap::Args;
use stonecrop::IndexProgress;
use stonecrop_server::api::{Family, History, Index, KeptChanges, Lasting, Placement, Table};

use crate::client::{key_text, table_path};
use crate::command::heading;
use crate::error::{Error, Result};
use crate::grid::{Grid, Text};
use crate::output::{HEADING, terminal_columns, visible};
use crate::session::Session;
use crate::value::type_name;

/// Shows what a table is declared as
#[derive(Args)]
#[command(after_help = HELP)]
pub(crate) struct Arguments {
    /// The table
    table: String,

    /// Print the table as JSON
    #[arg(long)]
    json: bool,
}

const HELP: &str = concat!(
    heading!("Examples:"),
    "
  stonecrop table show people
  stonecrop table show people --json | jq '.families[].name'"
);

pub(crate) fn run(arguments: &Arguments, session: &mut Session) -> Result<()> {
    let client = session.open_to_read()?;
    let table: Table = client.get(&table_path(&arguments.table, ""))?;
    client.close()?;
    if arguments.json {
        return session.print_json(&table);
    }
    describe(session.out(), &table).map_err(Error::Output)
}

/// A table in words.
pub(crate) fn describe(out: &mut impl Write, table: &Table) -> io::Result<()> {
    let (name, key) = (visible(&table.name), key_text(table));
    let placed = match table.placement {
        Placement::Hash => "placed by hash",
        Placement::Range => "placed in order",
    };
    writeln!(out, "{HEADING}{name}{HEADING:#}  key {}, {placed}", visible(&key))?;
    if !table.families.is_empty() {
        writeln!(out)?;
        let mut grid = Grid::new(["column", "type", "family", "fresh for", "kept for", "history"]);
        for family in &table.families {
            push_family(&mut grid, family);
        }
        grid.write(out, terminal_columns())?;
    }
    if !table.indexes.is_empty() {
        writeln!(out)?;
        index_grid(&table.indexes).write(out, terminal_columns())?;
    }
    if let Some(KeptChanges { keep }) = table.changes {
        writeln!(out)?;
        writeln!(out, "Changes of rows are kept for {}.", lasting_text(keep))?;
    }
    Ok(())
}

fn push_family(grid: &mut Grid, family: &Family) {
    let length = |lasting: Option<Lasting>| lasting.map_or("ever".to_owned(), lasting_text);
    let (ttl, keep) = (length(family.ttl), length(family.keep));
    let history = match &family.history {
        None => "none".to_owned(),
        Some(History::Versions(count)) => format!("{count} versions"),
        Some(History::For(lasting)) => format!("for {}", lasting_text(*lasting)),
    };
    let mut push = |name: &str, column_type: &str| {
        let texts = [name, column_type, &family.name, &ttl, &keep, &history];
        grid.push(texts.map(Text::new));
    };
    if family.columns.is_empty() {
        push("", "");
    }
    for column in &family.columns {
        push(&column.name, &type_name(column.column_type));
    }
}

pub(crate) fn index_grid(indexes: &[Index]) -> Grid {
    let mut grid = Grid::new(["index", "columns", "unique", "covering", "state"]);
    for index in indexes {
        let unique = if index.unique { "yes" } else { "no" };
        let covering = index.covering.join(", ");
        let state = index.progress.as_ref().map_or(String::new(), state);
        grid.push([&index.name, &index.columns, unique, &covering, &state].map(Text::new));
    }
    grid
}

fn state(progress: &IndexProgress) -> String {
    match progress {
        IndexProgress::Complete => "complete".to_owned(),
        IndexProgress::Partial { left_out } => {
            format!("without {left_out} rows of other types")
        }
        IndexProgress::Building { rows } => format!("building, {rows} rows so far"),
        IndexProgress::Failed { problem } => format!("failed: {problem}"),
    }
}

/// As it is given and answered: `1h 30m`.
fn lasting_text(lasting: Lasting) -> String {
    match serde_json::to_value(lasting) {
        Ok(serde_json::Value::String(text)) => text,
        _ => format!("{:?}", lasting.0),
    }
}
