//! `stonecrop key demo`: a few telling keys, explained, and lists of keys in the order of their
//! bytes.

use std::io::{self, Write as _};

use clap::Args;
use stonecrop_keys::Schema;

use super::picture;
use crate::error::{Error, Result};
use crate::output::{HEADING, field_style, hex, visible, width};
use crate::session::{Out, Session};

/// Shows a few telling keys, and that sorting their bytes sorts their values
#[derive(Args)]
pub(crate) struct Arguments {}

struct Example {
    title: &'static str,
    schema: &'static str,
    /// The values of the key that is drawn byte by byte.
    drawn: &'static str,
    /// Values in no particular order; their keys bring them into it.
    listed: &'static [&'static str],
}

const SORTED: &str = "sorted by their bytes";

const EXAMPLES: [Example; 8] = [
    Example {
        title: "Fields stand one after the other; nulls sort last if you like, descending or not",
        schema: "tenant string, seq u16, score f64 desc nulls last",
        drawn: r#"["acme",7,null]"#,
        listed: &[
            r#"["acme",7,null]"#,
            r#"["zeta",1,0.5]"#,
            r#"["acme",300,1.5]"#,
            r#"["acme",7,-2.5]"#,
            r#"["acme",7,99.0]"#,
        ],
    },
    Example {
        title: "Why text has escapes and an end: \"a\" sorts before all that it begins, zero bytes too",
        schema: "name string, seq u8",
        drawn: r#"["a\u0000b",1]"#,
        listed: &[
            r#"["ab",0]"#,
            r#"["a\u0000b",1]"#,
            r#"["a",255]"#,
            r#"["",9]"#,
            r#"["a\u0000",3]"#,
        ],
    },
    Example {
        title: "Decimals are as long as their digits, and sort by what they are worth",
        schema: "price decimal",
        drawn: r#"["-1234.5"]"#,
        listed: &[
            r#"["19.99"]"#,
            r#"["-0.001"]"#,
            r#"["100000000000000000000000000000000000"]"#,
            r#"["5"]"#,
            r#"["-1234.5"]"#,
            r#"["0"]"#,
            r#"["0.01"]"#,
            r#"["19.9"]"#,
        ],
    },
    Example {
        title: "Newest first: a descending field is complemented, tag and all",
        schema: "at timestamp desc",
        drawn: r#"["2024-01-15T10:00:00Z"]"#,
        listed: &[
            r#"["1969-07-20T20:17:40Z"]"#,
            r#"["2024-01-15T10:00:00Z"]"#,
            r#"["2024-01-15T10:00:00.001Z"]"#,
            r#"["1999-12-31T23:59:59Z"]"#,
        ],
    },
    Example {
        title: "Tuples and lists are keys within the key; a shorter list sorts first",
        schema: "path list(string), version tuple(major u8, minor u8 desc)",
        drawn: r#"[["usr","bin"],[1,4]]"#,
        listed: &[
            r#"[["usr","bin"],[1,4]]"#,
            r#"[["usr"],[2,0]]"#,
            r#"[["usr","bin"],[1,9]]"#,
            r#"[["usr2"],[0,1]]"#,
            r#"[[],[9,9]]"#,
        ],
    },
    Example {
        title: "Places along a Hilbert curve: neighbours on the map are mostly neighbours in keys",
        schema: "place geo2(hilbert), city string",
        drawn: r#"[[2.35,48.86],"Paris"]"#,
        listed: &[
            r#"[[139.69,35.69],"Tokyo"]"#,
            r#"[[2.35,48.86],"Paris"]"#,
            r#"[[-74.01,40.71],"New York"]"#,
            r#"[[139.64,35.44],"Yokohama"]"#,
            r#"[[2.13,48.8],"Versailles"]"#,
            r#"[[-74.17,40.74],"Newark"]"#,
        ],
    },
    Example {
        title: "Text sorts by its code points",
        schema: "word string",
        drawn: r#"["Äpfel 🍏"]"#,
        listed: &[r#"["Zimt"]"#, r#"["Äpfel"]"#, r#"["apfel"]"#, r#"["Apfel"]"#, r#"["東京"]"#],
    },
    Example {
        title: "Collated text sorts as a language does, and only its sort key is in the key",
        schema: "word collated(de)",
        drawn: r#"["Äpfel"]"#,
        listed: &[r#"["Zimt"]"#, r#"["Äpfel"]"#, r#"["apfel"]"#, r#"["Apfel"]"#, r#"["東京"]"#],
    },
];

pub(crate) fn run(Arguments {}: &Arguments, session: &mut Session) -> Result<()> {
    for (index, example) in EXAMPLES.iter().enumerate() {
        if index > 0 {
            writeln!(session.out(), "\n").map_err(Error::Output)?;
        }
        show(example, session.out())?;
    }
    Ok(())
}

fn show(example: &Example, out: &mut Out) -> Result<()> {
    let Example { title, schema: text, drawn, listed } = example;
    let schema: Schema = text.parse()?;
    let key = schema.encode(&schema.values_from_json(drawn)?)?;
    let keys = sorted(&schema, listed)?;
    write_drawn(out, title, &schema, drawn, &key)
        .and_then(|()| write_list(out, &schema, &keys))
        .map_err(Error::Output)
}

fn write_drawn(
    out: &mut Out,
    title: &str,
    schema: &Schema,
    values: &str,
    key: &[u8],
) -> io::Result<()> {
    writeln!(out, "{HEADING}{title}{HEADING:#}\n")?;
    writeln!(out, "$ stonecrop key explain --schema '{schema}' \\\n    --values '{values}'\n")?;
    picture::write(out, schema, key, &schema.explain(key))?;
    writeln!(out)
}

fn write_list(out: &mut Out, schema: &Schema, keys: &[(Vec<u8>, &str)]) -> io::Result<()> {
    let lines: Vec<_> = keys.iter().map(|(key, json)| (fields(schema, key), json)).collect();
    let widths = lines.iter().map(|(fields, _)| width(&fields.join(" ")));
    let widest = widths.chain([width(SORTED)]).max().unwrap_or(0);
    writeln!(out, "{HEADING}{SORTED:widest$}  values{HEADING:#}")?;
    for (fields, json) in lines {
        for (index, field) in fields.iter().enumerate() {
            let style = field_style(index);
            let space = if index > 0 { " " } else { "" };
            write!(out, "{space}{style}{field}{style:#}")?;
        }
        let padding = widest.saturating_sub(width(&fields.join(" ")));
        writeln!(out, "{:padding$}  {}", "", visible(json))?;
    }
    Ok(())
}

/// The keys in the order of their bytes, each with the values it came from.
fn sorted<'j>(schema: &Schema, values: &[&'j str]) -> Result<Vec<(Vec<u8>, &'j str)>> {
    let keys = values.iter().map(|json| {
        let key = schema.encode(&schema.values_from_json(json)?)?;
        Ok((key, *json))
    });
    let mut keys: Vec<_> = keys.collect::<Result<_>>()?;
    keys.sort();
    Ok(keys)
}

/// The hex of each field.
fn fields(schema: &Schema, key: &[u8]) -> Vec<String> {
    let parts = schema.explain(key).parts;
    let of_a_field = parts.chunk_by(|part, next| part.field == next.field);
    let ranges = of_a_field.filter_map(|parts| Some(parts.first()?.start..parts.last()?.end));
    ranges.map(|range| hex(key.get(range).unwrap_or_default())).collect()
}
