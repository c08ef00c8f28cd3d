//! Kills, damages and starves a database from outside, and checks that it kept its promises.
//!
//! Every command ends with 0 if all promises were kept, with 1 if one was broken, and with 77 if
//! the machine lacks what it needs; then it says what.

#![forbid(unsafe_code)]

mod batch;
mod child;
mod damage;
mod expected;
mod full;
mod index;
mod place;
mod points;
mod power;
mod rounds;
mod side;
mod writer;
mod zombie;

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Parser, Subcommand};
use serde::Serialize;

type Result<T, E = Box<dyn std::error::Error + Send + Sync>> = std::result::Result<T, E>;

const SKIPPED: u8 = 77;

#[derive(Parser)]
#[command(name = "crash", about)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    Write(writer::Arguments),
    Rounds(rounds::Arguments),
    Damage(damage::Arguments),
    Torn(damage::TornArguments),
    Points(points::Arguments),
    Full(full::Arguments),
    Index(index::Arguments),
    Power(power::Arguments),
    Zombie(zombie::Arguments),
    Inspect(rounds::InspectArguments),
    #[command(hide = true)]
    Build(index::BuildArguments),
    #[command(hide = true)]
    Verify(damage::VerifyArguments),
}

/// What a command found.
struct Report {
    text: String,
    json: String,
    /// Each a broken promise.
    broken: Vec<String>,
    /// Why nothing was tried.
    skipped: Option<String>,
}

impl Report {
    fn new(text: String, broken: Vec<String>, summary: &impl Serialize) -> Result<Self> {
        Ok(Report { text, json: serde_json::to_string(summary)?, broken, skipped: None })
    }

    fn tell(&self, json: bool) -> Result<ExitCode> {
        let mut out = std::io::stdout();
        if let Some(reason) = &self.skipped {
            writeln!(out, "SKIPPED: {reason}")?;
            return Ok(ExitCode::from(SKIPPED));
        }
        if json {
            writeln!(out, "{}", self.json)?;
        } else {
            writeln!(out, "{}", self.text)?;
        }
        let mut complaints = std::io::stderr();
        for broken in &self.broken {
            writeln!(complaints, "BROKEN: {broken}")?;
        }
        Ok(if self.broken.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
    }
}

fn main() -> ExitCode {
    let ran = match Arguments::parse().command {
        Command::Write(arguments) => writer::run(&arguments).map(|()| ExitCode::SUCCESS),
        Command::Rounds(arguments) => rounds::run(&arguments).and_then(|r| r.tell(arguments.json)),
        Command::Damage(arguments) => damage::run(&arguments).and_then(|r| r.tell(arguments.json)),
        Command::Torn(arguments) => {
            damage::run_torn(&arguments).and_then(|r| r.tell(arguments.json))
        }
        Command::Points(arguments) => points::run(&arguments).and_then(|r| r.tell(arguments.json)),
        Command::Full(arguments) => full::run(&arguments).and_then(|r| r.tell(arguments.json)),
        Command::Index(arguments) => index::run(&arguments).and_then(|r| r.tell(arguments.json)),
        Command::Power(arguments) => power::run(&arguments).and_then(|r| r.tell(arguments.json)),
        Command::Zombie(arguments) => zombie::run(&arguments).and_then(|r| r.tell(arguments.json)),
        Command::Inspect(arguments) => rounds::inspect(&arguments).map(|()| ExitCode::SUCCESS),
        Command::Build(arguments) => index::build(&arguments).map(|()| ExitCode::SUCCESS),
        Command::Verify(arguments) => damage::verify(&arguments).map(|()| ExitCode::SUCCESS),
    };
    ran.unwrap_or_else(|error| {
        let _ = writeln!(std::io::stderr(), "{error}");
        ExitCode::from(2)
    })
}

/// A folder in memory, where there is one: what is tested is not the disk.
fn scratch() -> PathBuf {
    let shared = Path::new("/dev/shm");
    if shared.is_dir() { shared.to_owned() } else { std::env::temp_dir() }
}

/// What kind of error it is to the caller.
fn kind(error: &stonecrop::Error) -> String {
    use stonecrop::Error;
    match error {
        Error::Store(cause) => format!("{:?}", cause.kind()),
        Error::Commit(cause) => format!("{:?}", cause.kind()),
        Error::Corrupt { .. } => "Corrupt".to_owned(),
        Error::Closed => "Closed".to_owned(),
        _ => "Other".to_owned(),
    }
}
