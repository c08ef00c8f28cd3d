//! `stonecrop delete`: one row by its key.

use clap::Args;
use hyper::Method;
use stonecrop_server::api::{Change, Receipt};

use super::put::report;
use crate::client::{escape, table_path};
use crate::command::heading;
use crate::error::Result;
use crate::filter;
use crate::session::Session;

/// Deletes a row
///
/// A row that is not there is deleted as well: nothing is left of it either way.
#[derive(Args)]
#[command(after_help = HELP)]
pub(crate) struct Arguments {
    /// The table
    table: String,

    /// The key: its text if it has one field, otherwise a JSON list
    key: String,

    /// Only if this is true of the row, as in 'status = "closed"'
    #[arg(long, value_name = "FILTER")]
    when: Option<String>,

    /// Print the receipt as JSON
    #[arg(long)]
    json: bool,
}

const HELP: &str = concat!(
    heading!("Examples:"),
    "
  stonecrop delete accounts acct_001
  stonecrop delete people '[\"acme\", 7]' --when 'plan = \"free\"'

",
    heading!("Exit codes:"),
    "
  0 deleted, 3 there is no such table, 4 the condition is not true, and nothing was deleted"
);

pub(crate) fn run(arguments: &Arguments, session: &mut Session) -> Result<()> {
    let when = arguments.when.as_deref().map(filter::parse).transpose()?;
    let change = Change { when, ..Change::default() };
    let client = session.open()?;
    let path = table_path(&arguments.table, &format!("/rows/{}", escape(&arguments.key)));
    let receipt: Receipt = client.request(Method::DELETE, &path, &change)?;
    client.close()?;
    report(&receipt, "deleted", arguments.json, session)
}
