//! `stonecrop access-key`: access keys for a server's clients of DynamoDB's protocol.

use std::path::PathBuf;

use clap::Args;
use stonecrop_server::{AccessKeys, Scope};

use crate::command::heading;
use crate::error::{Error, Result};
use crate::session::Session;

/// Makes an access key for AWS's clients of a server, which keeps its secret
#[derive(Args)]
#[command(after_help = HELP)]
pub(crate) struct Arguments {
    /// What it allows: "read", "write" (also items) or "admin" (also tables)
    scope: Scope,
    /// Whose it is, for those who read the access key file
    #[arg(default_value = "")]
    name: String,
    /// The access key file that its line is added to; without, the line is shown
    #[arg(long, value_name = "FILE")]
    file: Option<PathBuf>,
}

const HELP: &str = concat!(
    heading!("Examples:"),
    "
  stonecrop access-key write importer --file access-keys > importer.env
  stonecrop serve --access-key-file access-keys
  eval \"$(cat importer.env)\"
  aws dynamodb list-tables --endpoint-url http://127.0.0.1:8321 --region local"
);

pub(crate) fn run(arguments: &Arguments, session: &mut Session) -> Result<()> {
    let (id, secret, line) = AccessKeys::create(arguments.scope, &arguments.name);
    match &arguments.file {
        Some(path) => AccessKeys::add(path, &line).map_err(Error::Data)?,
        None => session.note(&format!("for the access key file: {}", line.trim_end())),
    }
    session.say(&format!("export AWS_ACCESS_KEY_ID={id}\nexport AWS_SECRET_ACCESS_KEY={secret}"))
}
