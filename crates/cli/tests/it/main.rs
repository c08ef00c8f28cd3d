//! The command from outside: the real binary with arguments, pipes and exit codes.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test that panics has failed, which is what it is for"
)]

mod both;
mod changes;
mod colour;
mod convert;
mod demo;
mod explain;
mod import;
mod kill;
mod objects;
mod pages;
mod pipes;
mod readme;
mod rows;
mod table;
mod usage;
mod world;

use std::io::Write as _;
use std::process::{Command, Stdio};
use std::thread;

/// The schema of the documentation.
const SCHEMA: &str = "tenant string, at timestamp desc, score f64 nulls last";
const VALUES: &str = r#"["acme","2024-01-15T10:00:00Z",null]"#;
const HEX: &str = "3861636d650001b77ffffe72f36fb2fffd";

/// What a run of the command gave.
#[derive(Debug)]
struct Run {
    code: i32,
    out: String,
    errors: String,
}

impl Run {
    /// The output of a run in which nothing was wrong.
    #[track_caller]
    fn good(self) -> String {
        assert_eq!((self.code, self.errors.as_str()), (0, ""), "{}", self.out);
        self.out
    }

    /// The errors of a run that had nothing to print.
    #[track_caller]
    fn bad(self, code: i32) -> String {
        assert_eq!((self.code, self.out.as_str()), (code, ""), "{}", self.errors);
        self.errors
    }
}

/// The command, free of what the environment of the tests says.
fn stonecrop(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_stonecrop"));
    for variable in
        ["NO_COLOR", "CLICOLOR", "CLICOLOR_FORCE", "STONECROP_DATABASE", "STONECROP_TOKEN"]
    {
        command.env_remove(variable);
    }
    command.args(arguments).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

fn run(arguments: &[&str]) -> Run {
    finish(stonecrop(arguments))
}

fn finish(mut command: Command) -> Run {
    let output = command.output().unwrap();
    Run {
        code: output.status.code().expect("it ends by itself"),
        out: String::from_utf8(output.stdout).unwrap(),
        errors: String::from_utf8(output.stderr).unwrap(),
    }
}

/// Runs with these bytes on standard input.
fn run_with(arguments: &[&str], input: impl Into<Vec<u8>>) -> Run {
    let input = input.into();
    let mut child = stonecrop(arguments).stdin(Stdio::piped()).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let writer = thread::spawn(move || stdin.write_all(&input));
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap().unwrap();
    Run {
        code: output.status.code().expect("it ends by itself"),
        out: String::from_utf8(output.stdout).unwrap(),
        errors: String::from_utf8(output.stderr).unwrap(),
    }
}
