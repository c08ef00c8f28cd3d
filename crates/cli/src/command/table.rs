//! `stonecrop table`: what tables there are, and what they are declared as.

mod alter;
mod create;
mod list;
pub(crate) mod notation;
mod remove;
mod show;

use clap::Subcommand;

use crate::command::heading;
use crate::error::Result;
use crate::session::Session;

pub(crate) use show::{describe, index_grid};

#[derive(Subcommand)]
#[command(after_help = HELP)]
pub(crate) enum Command {
    List(list::Arguments),
    Show(show::Arguments),
    Create(create::Arguments),
    Alter(alter::Arguments),
    Drop(remove::DropArguments),
    Truncate(remove::TruncateArguments),
}

const HELP: &str = concat!(
    heading!("Examples:"),
    "
  stonecrop table create people --key 'company string; id u64' \\
      --family 'crm: name, email string, ttl 10m' --index 'by_email: email string'
  stonecrop table list
  stonecrop table show people --json
  stonecrop table alter people --add-column 'crm: phone string'
  stonecrop table drop people --yes"
);

pub(crate) fn run(command: &Command, session: &mut Session) -> Result<()> {
    match command {
        Command::List(arguments) => list::run(arguments, session),
        Command::Show(arguments) => show::run(arguments, session),
        Command::Create(arguments) => create::run(arguments, session),
        Command::Alter(arguments) => alter::run(arguments, session),
        Command::Drop(arguments) => remove::drop(arguments, session),
        Command::Truncate(arguments) => remove::truncate(arguments, session),
    }
}
