//! `stonecrop key`: values to keys, keys to values, and what every byte is for.

/// What the commands that take lines say of them in their help.
macro_rules! line_by_line {
    () => {
        concat!(
            $crate::command::heading!("Standard input:"),
            "
  Every line gives one line. A bad line is reported on standard error by its number and gives
  no line; the rest is worked on all the same, and the exit code is 1 at the end.

"
        )
    };
}

mod decode;
mod demo;
mod encode;
mod explain;
mod legend;
mod picture;

use std::io::Write;

use clap::{Args, Subcommand};
use serde::Serialize;
use stonecrop_keys::Schema;

use crate::command::heading;
use crate::error::{Error, Result};
use crate::output::visible;
use crate::session::Session;

#[derive(Subcommand)]
#[command(after_help = HELP)]
pub(crate) enum Command {
    Encode(encode::Arguments),
    Decode(decode::Arguments),
    Explain(explain::Arguments),
    Demo(demo::Arguments),
}

const HELP: &str = concat!(
    heading!("Examples:"),
    "
  stonecrop key encode --schema 'tenant string, at timestamp desc, score f64 nulls last' \\
      '[\"acme\", \"2024-01-15T10:00:00Z\", null]'
  stonecrop key decode --schema 'tenant string, seq u32' 3861636d6500011200000007
  stonecrop key explain --schema 'name string' --values '[\"a\\u0000b\"]'
  stonecrop key demo"
);

pub(crate) fn run(command: &Command, session: &mut Session) -> Result<()> {
    match command {
        Command::Encode(arguments) => encode::run(arguments, session),
        Command::Decode(arguments) => decode::run(arguments, session),
        Command::Explain(arguments) => explain::run(arguments, session),
        Command::Demo(arguments) => demo::run(arguments, session),
    }
}

#[derive(Args)]
struct SchemaArgument {
    /// The fields of the key, as in 'tenant string, at timestamp desc, score f64 nulls last'
    ///
    /// Fields are written `name type [asc | desc] [nulls first | nulls last | not null]`, with
    /// commas between them. A field is ascending and not null unless it says otherwise.
    ///
    /// The types: bool, u8 to u128, i8 to i128, varuint, varint, f32, f64, f32_exact, f64_exact,
    /// decimal, string, collated(locale), bytes, bytes(n), uuid, uuid_v1, timestamp,
    /// timestamp(us), timestamp(ns), date, geo2, geo2(hilbert), geo3, geo3(hilbert),
    /// tuple(fields), list(type), and raw, which can only be the last one.
    #[arg(long = "schema", value_name = "SCHEMA")]
    text: String,
}

impl SchemaArgument {
    fn parse(&self) -> Result<Schema> {
        self.text.parse().map_err(|cause| Error::Schema { text: self.text.clone(), cause })
    }
}

/// One object on a line of its own.
fn write_json(out: &mut impl Write, object: &impl Serialize) -> Result<()> {
    let json = serde_json::to_string(object).map_err(|error| Error::Output(error.into()))?;
    writeln!(out, "{}", visible(&json)).map_err(Error::Output)
}
