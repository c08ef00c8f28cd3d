//! `stonecrop key decode`: a key in hex in, a JSON array of its values out.

use std::io::Write as _;

use clap::Args;
use serde::Serialize;
use serde_json::value::RawValue;

use super::{SchemaArgument, write_json};
use crate::command::heading;
use crate::error::{Error, Result};
use crate::input::parse_hex;
use crate::output::visible;
use crate::session::Session;

/// Prints the values of a key as a JSON array
///
/// Decimals and 128-bit integers are strings, so that no reader rounds them. Bytes are base64,
/// times RFC 3339. Collated text can't be had back: its sort key is shown.
#[derive(Args)]
#[command(after_help = HELP)]
pub(crate) struct Arguments {
    #[command(flatten)]
    schema: SchemaArgument,

    /// Print {"values": [...]}
    #[arg(long)]
    json: bool,

    /// The key: hex in either case, with or without 0x before it, and with or without spaces,
    /// colons or underscores between the bytes; without it, one key a line is read from standard
    /// input
    hex: Option<String>,
}

const HELP: &str = concat!(
    heading!("Examples:"),
    "
  stonecrop key decode --schema 'tenant string, seq u32' 3861636d6500011200000007
  stonecrop key decode --schema 'on bool, seq u16' '0x09 11:00:07'
  stonecrop key decode --schema 'tenant string, seq u32' < keys.txt | jq '.[0]'

",
    line_by_line!(),
    heading!("Exit codes:"),
    "
  0 good, 1 bad keys or lines, 2 wrong usage or a bad schema"
);

#[derive(Serialize)]
struct Decoded {
    values: Box<RawValue>,
}

pub(crate) fn run(arguments: &Arguments, session: &mut Session) -> Result<()> {
    let schema = arguments.schema.parse()?;
    session.each(arguments.hex.as_deref(), "keys in hex", |text, out| {
        let values = schema.values_to_json(&schema.decode(&parse_hex(text)?)?);
        match arguments.json {
            true => {
                let values =
                    RawValue::from_string(values).map_err(|error| Error::Output(error.into()))?;
                write_json(out, &Decoded { values })
            }
            false => writeln!(out, "{}", visible(&values)).map_err(Error::Output),
        }
    })
}
