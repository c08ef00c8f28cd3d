//! `stonecrop index`: the indexes of a table.

use std::time::Duration;

use clap::{Args, Subcommand};
use hyper::Method;
use stonecrop::IndexProgress;
use stonecrop_server::api::{Index, Table};

use super::table::{index_grid, notation};
use crate::client::{Client, escape, table_path};
use crate::command::heading;
use crate::error::{Error, Result};
use crate::output::terminal_columns;
use crate::progress;
use crate::session::Session;

#[derive(Subcommand)]
#[command(after_help = HELP)]
pub(crate) enum Command {
    List(ListArguments),
    Create(CreateArguments),
    Wait(WaitArguments),
    Drop(DropArguments),
}

/// Lists the indexes of a table
#[derive(Args)]
#[command(after_help = HELP)]
pub(crate) struct ListArguments {
    /// The table
    table: String,

    /// Print a JSON document an index, one a line
    #[arg(long)]
    json: bool,
}

/// Adds an index to a table, and waits until all rows are in it
#[derive(Args)]
#[command(after_help = HELP)]
pub(crate) struct CreateArguments {
    /// The table
    table: String,

    /// The index, as in 'by_owner: owner string, score i64 desc', with "unique" before the name, or
    /// "; covering name, plan" at the end
    index: String,

    /// Do not wait: a server builds it in the background, a folder when it is opened the next time
    #[arg(long)]
    background: bool,

    /// Print the index as JSON
    #[arg(long)]
    json: bool,
}

/// Waits until an index, or every index of a table, is complete
#[derive(Args)]
#[command(after_help = HELP)]
pub(crate) struct WaitArguments {
    /// The table
    table: String,

    /// The index
    index: Option<String>,
}

/// Drops an index
#[derive(Args)]
#[command(after_help = HELP)]
pub(crate) struct DropArguments {
    /// The table
    table: String,

    /// The index
    index: String,
}

const HELP: &str = concat!(
    heading!("Examples:"),
    "
  stonecrop index list people
  stonecrop index create people 'by_owner: owner string, score i64 desc'
  stonecrop index create people 'unique by_email: email string; covering name' --background
  stonecrop index wait people by_email
  stonecrop index drop people by_email"
);

/// How often we look how far an index is.
const INTERVAL: Duration = Duration::from_millis(100);

pub(crate) fn run(command: &Command, session: &mut Session) -> Result<()> {
    let client = session.open()?;
    match command {
        Command::List(arguments) => list(arguments, &client, session)?,
        Command::Create(arguments) => create(arguments, &client, session)?,
        Command::Wait(arguments) => {
            let table: Table = client.get(&table_path(&arguments.table, ""))?;
            let names: Vec<String> = match &arguments.index {
                Some(name) => vec![name.clone()],
                None => table.indexes.into_iter().map(|index| index.name).collect(),
            };
            for name in names {
                wait(&arguments.table, &name, &client)?;
                session.say(&format!("{name} is complete"))?;
            }
        }
        Command::Drop(arguments) => {
            client.call(Method::DELETE, &index_path(&arguments.table, &arguments.index), None)?;
            session.say(&format!("{} is dropped", arguments.index))?;
        }
    }
    client.close()
}

fn index_path(table: &str, index: &str) -> String {
    table_path(table, &format!("/indexes/{}", escape(index)))
}

fn list(arguments: &ListArguments, client: &Client, session: &mut Session) -> Result<()> {
    let table: Table = client.get(&table_path(&arguments.table, ""))?;
    if arguments.json {
        return table.indexes.iter().try_for_each(|index| session.print_json(index));
    }
    if table.indexes.is_empty() {
        return session.say("there are no indexes; stonecrop index create makes one");
    }
    index_grid(&table.indexes).write(session.out(), terminal_columns()).map_err(Error::Output)
}

fn create(arguments: &CreateArguments, client: &Client, session: &mut Session) -> Result<()> {
    let body = notation::index(&arguments.index)?;
    let mut index: Index = client.post(&table_path(&arguments.table, "/indexes"), &body)?;
    if !arguments.background {
        index = wait(&arguments.table, &index.name, client)?;
    }
    if arguments.json {
        return session.print_json(&index);
    }
    let grid = index_grid(std::slice::from_ref(&index));
    grid.write(session.out(), terminal_columns()).map_err(Error::Output)
}

/// Looks until the index is complete, and shows how far it is.
fn wait(table: &str, name: &str, client: &Client) -> Result<Index> {
    let spinner = progress::spinner(&format!("building {name}"));
    loop {
        let index: Index = client.get(&index_path(table, name))?;
        match index.progress.clone().unwrap_or_default() {
            IndexProgress::Complete | IndexProgress::Partial { .. } => {
                spinner.finish_and_clear();
                return Ok(index);
            }
            IndexProgress::Failed { problem } => {
                spinner.finish_and_clear();
                return Err(Error::Data(format!("index {name:?} failed: {problem}")));
            }
            IndexProgress::Building { rows } => spinner.set_position(rows),
        }
        client.pause(INTERVAL);
    }
}
