//! `stonecrop key explain`: what every byte of a key is for.

use std::io::Write as _;

use clap::Args;
use serde::Serialize;
use serde_json::value::RawValue;
use stonecrop_keys::{Explanation, Field, Part, Schema, Value};

use super::{SchemaArgument, legend, picture, write_json};
use crate::command::heading;
use crate::error::{Error, Result};
use crate::input::parse_hex;
use crate::output::hex;
use crate::session::{Out, Session};

/// Shows what every byte of a key is for
///
/// The bytes stand in rows of 16, each with the offset of its first byte; a bar stands between
/// fields. Beneath each byte is its role: T tag, p payload, x escape, z terminator, ? unread. The
/// table below says which bytes a field has, counted from zero, and its value.
///
/// Of a key that can't be read to its end, what could be read is shown, and the rest is marked.
#[derive(Args)]
#[command(after_help = HELP)]
pub(crate) struct Arguments {
    #[command(flatten)]
    schema: SchemaArgument,

    /// Print one object a line: hex, fields, parts, error
    ///
    /// {"hex", "fields": [{"name", "type", "direction", "nulls", "value"}], "parts": [{"path",
    /// "field", "role", "start", "end", "hex"}], "error"}. A field that could not be read has no
    /// "value". "field" counts fields from zero; bytes after the last field have the one after it.
    /// "start" is the first byte of a part, "end" the one after its last. "error" is null or
    /// {"kind", "field", "offset", "message"}.
    #[arg(long)]
    json: bool,

    /// Explain the key of these values, a JSON array, instead of a key in hex
    #[arg(long, value_name = "VALUES", conflicts_with = "hex")]
    values: Option<String>,

    /// The key: hex in either case, with or without 0x before it, and with or without spaces,
    /// colons or underscores between the bytes; without it, one key a line is read from standard
    /// input
    hex: Option<String>,
}

const HELP: &str = concat!(
    heading!("Examples:"),
    "
  stonecrop key explain --schema 'tenant string, seq u32' 3861636d6500011200000007
  stonecrop key explain --schema 'name string' --values '[\"a\\u0000b\"]'
  stonecrop key explain --schema 'name string' --json < keys.txt | jq .parts

",
    heading!("Standard input:"),
    "
  A blank line stands between the keys. A bad line is reported on standard error by its number;
  the rest is worked on all the same, and the exit code is 1 at the end.

",
    heading!("Exit codes:"),
    "
  0 good, 1 bad values, keys or lines, 2 wrong usage or a bad schema"
);

pub(crate) fn run(arguments: &Arguments, session: &mut Session) -> Result<()> {
    let schema = arguments.schema.parse()?;
    if let Some(json) = &arguments.values {
        let key = schema.encode(&schema.values_from_json(json)?)?;
        return explain(&schema, &key, arguments.json, session.out());
    }
    let mut first = true;
    session.each(arguments.hex.as_deref(), "keys in hex", |text, out| {
        let key = parse_hex(text)?;
        if !arguments.json && !std::mem::take(&mut first) {
            writeln!(out).map_err(Error::Output)?;
        }
        explain(&schema, &key, arguments.json, out)
    })
}

/// Writes as much as can be read, and then fails if that was not all.
fn explain(schema: &Schema, key: &[u8], json: bool, out: &mut Out) -> Result<()> {
    let explanation = schema.explain(key);
    match json {
        true => write_json(out, &Explained::new(schema, key, &explanation)?)?,
        false => picture::write(out, schema, key, &explanation).map_err(Error::Output)?,
    }
    explanation.error.map_or(Ok(()), |error| Err(error.into()))
}

#[derive(Serialize)]
struct Explained<'a> {
    hex: String,
    fields: Vec<ExplainedField<'a>>,
    parts: Vec<ExplainedPart<'a>>,
    error: Option<ExplainedError<'a>>,
}

#[derive(Serialize)]
struct ExplainedField<'a> {
    name: &'a str,
    r#type: String,
    direction: &'static str,
    nulls: &'static str,
    // Absent where it could not be read; null is a value.
    #[serde(skip_serializing_if = "Option::is_none")]
    value: Option<Box<RawValue>>,
}

#[derive(Serialize)]
struct ExplainedPart<'a> {
    path: &'a str,
    field: usize,
    role: &'static str,
    start: usize,
    end: usize,
    hex: String,
}

#[derive(Serialize)]
struct ExplainedError<'a> {
    kind: &'static str,
    field: Option<&'a str>,
    offset: Option<usize>,
    message: &'a str,
}

impl<'a> Explained<'a> {
    fn new(schema: &'a Schema, key: &[u8], explanation: &'a Explanation<'_>) -> Result<Self> {
        let fields = schema.fields().iter().enumerate();
        Ok(Explained {
            hex: hex(key),
            fields: fields
                .map(|(index, field)| ExplainedField::new(field, explanation.values.get(index)))
                .collect::<Result<_>>()?,
            parts: explanation.parts.iter().map(|part| ExplainedPart::new(part, key)).collect(),
            error: explanation.error.as_ref().map(|error| ExplainedError {
                kind: error.kind().name(),
                field: error.field(),
                offset: error.offset(),
                message: error.message(),
            }),
        })
    }
}

impl<'a> ExplainedField<'a> {
    fn new(field: &'a Field, value: Option<&Value<'_>>) -> Result<Self> {
        let value =
            value.map(|value| RawValue::from_string(field.field_type().value_to_json(value)));
        Ok(ExplainedField {
            name: field.name(),
            r#type: field.field_type().to_string(),
            direction: legend::direction(field.direction()),
            nulls: legend::nulls(field.nulls()),
            value: value.transpose().map_err(|error| Error::Output(error.into()))?,
        })
    }
}

impl<'a> ExplainedPart<'a> {
    fn new(part: &'a Part, key: &[u8]) -> Self {
        ExplainedPart {
            path: &part.path,
            field: part.field,
            role: part.role.name(),
            start: part.start,
            end: part.end,
            hex: hex(key.get(part.start..part.end).unwrap_or_default()),
        }
    }
}
