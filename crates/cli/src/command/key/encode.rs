//! `stonecrop key encode`: a JSON array of values in, a key in hex out.

use std::io::Write as _;

use clap::Args;
use serde::Serialize;

use super::{SchemaArgument, write_json};
use crate::command::heading;
use crate::error::{Error, Result};
use crate::output::hex;
use crate::session::Session;

/// Prints the key of a JSON array of values, in hex
///
/// Decimals and 128-bit integers can stand in quotes, so that nothing rounds them on the way.
/// Bytes are base64. Times are RFC 3339, or a count since 1970 in the unit of the field. Points
/// are [longitude, latitude] or [longitude, latitude, altitude]; tuples and lists are arrays.
#[derive(Args)]
#[command(after_help = HELP)]
pub(crate) struct Arguments {
    #[command(flatten)]
    schema: SchemaArgument,

    /// Print {"hex": "..."}
    #[arg(long)]
    json: bool,

    /// A JSON array with one value for each field; without it, one array a line is read from
    /// standard input
    values: Option<String>,
}

const HELP: &str = concat!(
    heading!("Examples:"),
    "
  stonecrop key encode --schema 'tenant string, at timestamp desc, score f64 nulls last' \\
      '[\"acme\", \"2024-01-15T10:00:00Z\", null]'
  jq -c '[.tenant, .seq]' rows.json | stonecrop key encode --schema 'tenant string, seq u32'

",
    line_by_line!(),
    heading!("Exit codes:"),
    "
  0 good, 1 bad values or lines, 2 wrong usage or a bad schema"
);

#[derive(Serialize)]
struct Encoded {
    hex: String,
}

pub(crate) fn run(arguments: &Arguments, session: &mut Session) -> Result<()> {
    let schema = arguments.schema.parse()?;
    session.each(arguments.values.as_deref(), "JSON arrays", |json, out| {
        let hex = hex(&schema.encode(&schema.values_from_json(json)?)?);
        match arguments.json {
            true => write_json(out, &Encoded { hex }),
            false => writeln!(out, "{hex}").map_err(Error::Output),
        }
    })
}
