//! `stonecrop table drop` and `stonecrop table truncate`: after a question, or with `--yes`.

use clap::Args;
use hyper::Method;

use crate::client::table_path;
use crate::command::heading;
use crate::error::Result;
use crate::session::Session;

/// Drops a table with all of its rows
#[derive(Args)]
#[command(after_help = DROP_HELP)]
pub(crate) struct DropArguments {
    /// The table
    table: String,

    /// Do not ask
    #[arg(short, long)]
    yes: bool,
}

/// Drops all rows of a table, and keeps the table
#[derive(Args)]
#[command(after_help = TRUNCATE_HELP)]
pub(crate) struct TruncateArguments {
    /// The table
    table: String,

    /// Do not ask
    #[arg(short, long)]
    yes: bool,
}

const DROP_HELP: &str = concat!(
    heading!("Examples:"),
    "
  stonecrop table drop people
  stonecrop table drop people --yes"
);

const TRUNCATE_HELP: &str = concat!(
    heading!("Examples:"),
    "
  stonecrop table truncate people --yes"
);

pub(crate) fn drop(arguments: &DropArguments, session: &mut Session) -> Result<()> {
    let table = &arguments.table;
    let question = format!("Drop the table {table:?} with all of its rows?");
    if !session.confirm(arguments.yes, &question, false)? {
        return session.say("nothing was done");
    }
    let client = session.open()?;
    client.call(Method::DELETE, &table_path(table, ""), None)?;
    client.close()?;
    session.say(&format!("{table} is dropped"))
}

pub(crate) fn truncate(arguments: &TruncateArguments, session: &mut Session) -> Result<()> {
    let table = &arguments.table;
    let question = format!("Drop all rows of the table {table:?}?");
    if !session.confirm(arguments.yes, &question, false)? {
        return session.say("nothing was done");
    }
    let client = session.open()?;
    client.call(Method::POST, &table_path(table, "/truncate"), None)?;
    client.close()?;
    session.say(&format!("{table} is empty"))
}
