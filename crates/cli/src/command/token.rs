//! `stonecrop token`: tokens for a server.

use std::io::Write as _;
use std::path::PathBuf;

use clap::Args;
use stonecrop_server::{Scope, Tokens};

use crate::command::heading;
use crate::error::{Error, Result};
use crate::session::Session;

/// Makes a token for a server, which keeps only its hash
#[derive(Args)]
#[command(after_help = HELP)]
pub(crate) struct Arguments {
    /// What it allows: "read", "write" (also rows) or "admin" (also tables and care)
    scope: Scope,
    /// Whose it is, for those who read the token file
    #[arg(default_value = "")]
    name: String,
    /// The token file that its line is added to; without, the line is shown
    #[arg(long, value_name = "FILE")]
    file: Option<PathBuf>,
}

const HELP: &str = concat!(
    heading!("Examples:"),
    "
  stonecrop token admin me --file tokens
  stonecrop serve --listen 0.0.0.0:8321 --token-file tokens
  STONECROP_TOKEN=stonecrop_… stonecrop --database http://host:8321 table list"
);

pub(crate) fn run(arguments: &Arguments, session: &mut Session) -> Result<()> {
    let (token, line) = Tokens::create(arguments.scope, &arguments.name);
    match &arguments.file {
        Some(path) => {
            let of_file = |cause| Error::File { path: path.clone(), cause };
            let mut options = std::fs::OpenOptions::new();
            let mut file = options.create(true).append(true).open(path).map_err(of_file)?;
            file.write_all(format!("{}\n", line.trim_end()).as_bytes()).map_err(of_file)?;
        }
        None => session.note(&format!("for the token file: {}", line.trim_end())),
    }
    session.note("the token, which is shown only now:");
    session.say(&token)
}
