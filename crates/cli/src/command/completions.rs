//! `stonecrop completions`: what a shell needs to complete our commands.

use clap::{Args, CommandFactory as _};
use clap_complete::Shell;

use crate::command::heading;
use crate::error::Result;
use crate::session::Session;

/// Prints completions for a shell
#[derive(Args)]
#[command(after_help = HELP)]
pub(crate) struct Arguments {
    /// The shell
    shell: Shell,
}

const HELP: &str = concat!(
    heading!("Examples:"),
    "
  stonecrop completions bash > ~/.local/share/bash-completion/completions/stonecrop
  stonecrop completions zsh > ~/.zfunc/_stonecrop
  stonecrop completions fish > ~/.config/fish/completions/stonecrop.fish"
);

pub(crate) fn run(arguments: &Arguments, session: &mut Session) -> Result<()> {
    let mut command = crate::Arguments::command();
    // All at once: the generator does not take a closed pipe well.
    let mut script = Vec::new();
    clap_complete::generate(arguments.shell, &mut command, "stonecrop", &mut script);
    std::io::Write::write_all(session.out(), &script).map_err(crate::error::Error::Output)
}
