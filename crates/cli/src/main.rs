//! The `stonecrop` command.

mod command;
mod error;
mod input;
mod output;
mod session;

use std::process::ExitCode;

use clap::Parser;

use crate::command::Command;
use crate::output::When;
use crate::session::Session;

/// Turns typed composite keys into bytes whose byte order is the value order, and back.
#[derive(Parser)]
#[command(name = "stonecrop", version, arg_required_else_help = true)]
#[command(after_help = command::HELP, subcommand_required = true)]
struct Arguments {
    /// When to colour: "auto" is on terminals, unless NO_COLOR is set
    #[arg(long, global = true, value_name = "WHEN", default_value = "auto", display_order = 100)]
    color: When,

    #[command(subcommand)]
    command: Command,
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let mut session = Session::new(arguments.color);
    let ended = command::run(&arguments.command, &mut session);
    session.finish(ended)
}
