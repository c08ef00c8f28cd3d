//! The commands, one file each.

mod demo;
mod key;
mod serve;

use clap::Subcommand;

use crate::error::Result;
use crate::session::Session;

/// A heading in the help, as clap writes its own.
macro_rules! heading {
    ($text:literal) => {
        concat!("\x1b[1m\x1b[4m", $text, "\x1b[0m")
    };
}
pub(crate) use heading;

pub(crate) const HELP: &str = concat!(
    heading!("Examples:"),
    "
  stonecrop key demo
  stonecrop key encode --schema 'tenant string, seq u32 desc' '[\"acme\", 7]'
  stonecrop key explain --schema 'tenant string, seq u32 desc' 3861636d650001edfffffff8

",
    heading!("Exit codes:"),
    "
  0  all went well, or the reader of the output closed it
  1  bad data: values, keys or lines; or input or output failed
  2  wrong usage, a bad schema included"
);

#[derive(Subcommand)]
pub(crate) enum Command {
    Serve(serve::Arguments),
    Demo(demo::Arguments),
    /// Encodes, decodes and explains keys
    #[command(subcommand)]
    Key(key::Command),
}

pub(crate) fn run(command: &Command, session: &mut Session) -> Result<()> {
    match command {
        Command::Serve(arguments) => serve::run(arguments, session),
        Command::Demo(arguments) => demo::run(arguments, session),
        Command::Key(command) => key::run(command, session),
    }
}
