//! `stonecrop man`: a manual page a command.

use std::fs;
use std::path::PathBuf;

use clap::{Args, CommandFactory as _};

use crate::command::heading;
use crate::error::{Error, Result};
use crate::session::Session;

/// Writes a manual page for every command into a folder
#[derive(Args)]
#[command(after_help = HELP)]
pub(crate) struct Arguments {
    /// The folder, which is made if need be
    folder: PathBuf,
}

const HELP: &str = concat!(
    heading!("Examples:"),
    "
  stonecrop man ~/.local/share/man/man1 && man stonecrop-query"
);

pub(crate) fn run(arguments: &Arguments, session: &mut Session) -> Result<()> {
    let folder = &arguments.folder;
    let failed = |cause| Error::File { path: folder.clone(), cause };
    fs::create_dir_all(folder).map_err(failed)?;
    clap_mangen::generate_to(crate::Arguments::command(), folder).map_err(failed)?;
    session.say(&format!("the manual is in {}", folder.display()))
}
