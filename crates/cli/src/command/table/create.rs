//! `stonecrop table create`: a new table, and the folder for it if need be.

use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use serde_json::Value as Json;
use stonecrop_server::api::{KeptChanges, Lasting, Placement, Schema, Table};

use super::notation;
use crate::command::heading;
use crate::error::{Error, Result};
use crate::input::read_text;
use crate::session::Session;

/// Creates a table
///
/// A family is its name, a colon, and columns, each with a type if it is to have one. Among them
/// can stand how the family ages: "ttl 10m" (fresh for so long), "keep 30d" (kept for so long
/// after that), "history 5 versions" or "history for 30d" (what is superseded stays that long).
#[derive(Args)]
#[command(after_help = HELP)]
pub(crate) struct Arguments {
    /// The name of the table
    #[arg(required_unless_present = "schema")]
    table: Option<String>,

    /// The fields of the partition key and, after a semicolon, of the sort key, as in
    /// 'company string; id u64'
    #[arg(long, value_name = "FIELDS", required_unless_present = "schema")]
    key: Option<String>,

    /// How partitions are placed
    #[arg(long, value_name = "HOW", default_value = "hash")]
    placement: Place,

    /// A family of columns, as in 'crm: name, email string, ttl 10m'; can be given several times
    #[arg(long = "family", value_name = "FAMILY")]
    families: Vec<String>,

    /// An index, as in 'by_owner: owner string, score i64 desc', with "unique" before the name, or
    /// "; covering name, plan" at the end; can be given several times
    #[arg(long = "index", value_name = "INDEX")]
    indexes: Vec<String>,

    /// Keep every change of a row for so long, as 24h; see stonecrop changes
    #[arg(long, value_name = "DURATION")]
    changes: Option<Lasting>,

    /// Read all of it as JSON from a file, or from standard input if it is "-"
    #[arg(long, value_name = "FILE", conflicts_with_all = ["key", "families", "indexes", "changes"])]
    schema: Option<PathBuf>,

    /// Print the table as JSON
    #[arg(long)]
    json: bool,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Place {
    /// Spread by a hash
    Hash,
    /// In the order of the key
    Range,
}

const HELP: &str = concat!(
    heading!("Examples:"),
    "
  stonecrop table create people --key 'company string; id u64' \\
      --family 'crm: name, email string, ttl 10m' \\
      --family 'billing: plan string, ttl 1d, history 5 versions' \\
      --index 'unique by_email: email string; covering name'
  stonecrop table create events --key 'day date, seq u64' --placement range
  stonecrop table show people --json | stonecrop --database copy table create --schema -"
);

pub(crate) fn run(arguments: &Arguments, session: &mut Session) -> Result<()> {
    let schema = match &arguments.schema {
        Some(path) => from_file(path, arguments.table.as_deref())?,
        None => from_arguments(arguments)?,
    };
    let client = session.open_or_create()?;
    let table: Table = client.post("/v1/tables", &schema)?;
    client.close()?;
    match arguments.json {
        true => session.print_json(&table),
        false => super::describe(session.out(), &table).map_err(Error::Output),
    }
}

fn from_arguments(arguments: &Arguments) -> Result<Schema> {
    let families = arguments.families.iter().map(|text| notation::family(text));
    let indexes = arguments.indexes.iter().map(|text| notation::index(text));
    let (partition_key, sort_key) = notation::key(arguments.key.as_deref().unwrap_or_default());
    Ok(Schema {
        name: arguments.table.clone().unwrap_or_default(),
        partition_key,
        sort_key,
        placement: match arguments.placement {
            Place::Hash => Placement::Hash,
            Place::Range => Placement::Range,
        },
        families: families.collect::<Result<_>>()?,
        indexes: indexes.collect::<Result<_>>()?,
        changes: arguments.changes.map(|keep| KeptChanges { keep }),
    })
}

/// A schema, or a table as it is shown: what only a table has is left out.
fn from_file(path: &Path, name: Option<&str>) -> Result<Schema> {
    let bad = |problem: String| Error::Data(format!("{}: {problem}", path.display()));
    let mut json: Json =
        serde_json::from_str(&read_text(path)?).map_err(|error| bad(error.to_string()))?;
    let object = json.as_object_mut().ok_or_else(|| bad("it is no JSON object".to_owned()))?;
    for derived in ["version", "key", "partition_fields"] {
        object.remove(derived);
    }
    if let Some(name) = name {
        object.insert("name".to_owned(), name.into());
    }
    let mut schema: Schema =
        serde_json::from_value(json).map_err(|error| bad(error.to_string()))?;
    schema.indexes.iter_mut().for_each(|index| index.progress = None);
    Ok(schema)
}
