//! The `stonecrop` command.

mod client;
mod command;
mod data;
mod demo;
mod error;
mod filter;
mod grid;
mod input;
mod machine;
mod output;
mod progress;
mod rows;
mod session;
mod value;

use std::process::ExitCode;

use clap::Parser;

use crate::client::Target;
use crate::command::Command;
use crate::output::When;
use crate::session::Session;

/// Rows and their columns are allocated one by one; this allocator makes that up to twice as fast.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// A wide-column database with typed, ordered keys and a freshness clock on every group of columns.
#[derive(Parser)]
#[command(name = "stonecrop", version, arg_required_else_help = true)]
#[command(after_help = command::HELP, subcommand_required = true)]
struct Arguments {
    /// When to colour: "auto" is on terminals, unless NO_COLOR is set
    #[arg(long, global = true, value_name = "WHEN", default_value = "auto", display_order = 100)]
    color: When,

    #[command(flatten)]
    target: Target,

    #[command(subcommand)]
    command: Command,
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let mut session = Session::new(arguments.color, arguments.target);
    let ended = command::run(&arguments.command, &mut session);
    session.finish(ended)
}
