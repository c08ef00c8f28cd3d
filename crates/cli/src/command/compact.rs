//! `stonecrop compact`: makes room.

use clap::Args;
use hyper::Method;

use crate::command::heading;
use crate::error::Result;
use crate::session::Session;

/// Rewrites the files without what is deleted, superseded or gone
///
/// This happens by itself, bit by bit; the command does all of it now.
#[derive(Args)]
#[command(after_help = HELP)]
pub(crate) struct Arguments {}

const HELP: &str = concat!(
    heading!("Examples:"),
    "
  stonecrop compact
  stonecrop --database http://localhost:8321 compact"
);

pub(crate) fn run(_: &Arguments, session: &mut Session) -> Result<()> {
    let client = session.open()?;
    client.call(Method::POST, "/v1/compact", None)?;
    client.close()?;
    session.say("compacted")
}
