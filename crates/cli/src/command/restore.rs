//! `stonecrop restore`: back to a copy.

use clap::Args;

use super::copy::{self, Form};
use crate::command::heading;
use crate::error::Result;
use crate::session::Session;

/// Makes the database from a backup, and verifies it
///
/// Where it is made, there must be nothing: move away what is left of the one before.
#[derive(Args)]
#[command(after_help = HELP)]
pub(crate) struct Arguments {
    /// The backup: a folder, or a place on object storage
    from: String,
    #[command(flatten)]
    form: Form,
}

const HELP: &str = concat!(
    heading!("Examples:"),
    "
  stonecrop restore /backups/monday
  stonecrop --database s3://bucket/path restore /backups/monday --shards 16"
);

pub(crate) fn run(arguments: &Arguments, session: &mut Session) -> Result<()> {
    let to = session.target().text().to_owned();
    copy::copy(&arguments.from, &to, &arguments.form, session)
}
