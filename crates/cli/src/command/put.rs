//! `stonecrop put`: columns of a row, with types that are seen or said.

use clap::Args;
use hyper::Method;
use serde_json::Value as Json;
use stonecrop::{ColumnType, Value};
use stonecrop_server::api::{Change, Lasting, Receipt, Table};

use crate::client::{declared, escape, table_path};
use crate::command::heading;
use crate::error::{Error, Result};
use crate::filter;
use crate::session::Session;
use crate::value::{TYPES, column_type, natural, read_as};

/// Writes columns of a row, and makes the row if need be
///
/// Other columns stay as they are, unless the row is replaced. A value has the type that its column is declared with; in
/// others, it is a number, true, false or null if it looks like one, and a string if not.
#[derive(Args)]
#[command(after_help = HELP)]
pub(crate) struct Arguments {
    /// The table
    table: String,

    /// The key: its text if it has one field, otherwise a JSON list
    key: String,

    /// Columns, each as name=value, name:type=value or name:=JSON
    #[arg(value_name = "COLUMN=VALUE", required_unless_present_any = ["add", "remove", "replace"])]
    columns: Vec<String>,

    /// Add a number to a column, as in visits=1; one that is not there counts as zero
    #[arg(long, value_name = "COLUMN=NUMBER", conflicts_with = "replace")]
    add: Vec<String>,

    /// Remove a column
    #[arg(long, value_name = "COLUMN", conflicts_with = "replace")]
    remove: Vec<String>,

    /// Make the row exactly this: all other columns go
    #[arg(long)]
    replace: bool,

    /// Fresh for so long, as in 10m, whatever the families say
    #[arg(long, value_name = "DURATION")]
    ttl: Option<Lasting>,

    /// Kept for so long after that, as in 30d
    #[arg(long, value_name = "DURATION")]
    keep: Option<Lasting>,

    /// Only if this is true of the row, as in 'version = 3' or 'not exists'
    #[arg(long, value_name = "FILTER")]
    when: Option<String>,

    /// Print the receipt as JSON
    #[arg(long)]
    json: bool,
}

const HELP: &str = concat!(
    heading!("Examples:"),
    "
  stonecrop put accounts acct_001 name=Ann age=41
  stonecrop put accounts acct_001 zip:string=04103 balance:decimal=9.99
  stonecrop put accounts acct_001 'tags:=[\"a\", \"b\"]' --ttl 10m
  stonecrop put people '[\"acme\", 7]' plan=pro --when 'plan = \"free\"'
  stonecrop put accounts acct_002 name=Bob --when 'not exists'
  stonecrop put accounts acct_002 --add visits=1 --remove phone

",
    heading!("Exit codes:"),
    "
  0 written, 1 a value does not fit, 2 wrong usage, 3 there is no such table,
  4 the condition is not true, and nothing was written"
);

pub(crate) fn run(arguments: &Arguments, session: &mut Session) -> Result<()> {
    let mut change = Change {
        when: arguments.when.as_deref().map(filter::parse).transpose()?,
        ttl: arguments.ttl,
        keep: arguments.keep,
        remove: arguments.remove.clone(),
        ..Change::default()
    };
    let columns = assignments(&arguments.columns)?;
    let sums = assignments(&arguments.add)?;
    let client = session.open()?;
    let table: Table = client.get(&table_path(&arguments.table, ""))?;
    for column in columns {
        change.set.insert(column.name.to_owned(), column.value(&table)?);
    }
    for column in sums {
        change.add.insert(column.name.to_owned(), column.value(&table)?);
    }
    let path = table_path(&arguments.table, &format!("/rows/{}", escape(&arguments.key)));
    let method = if arguments.replace { Method::PUT } else { Method::PATCH };
    let receipt: Receipt = client.request(method, &path, &change)?;
    client.close()?;
    report(&receipt, "written", arguments.json, session)
}

/// What was done, and what was left alone.
pub(super) fn report(
    receipt: &Receipt,
    done: &str,
    json: bool,
    session: &mut Session,
) -> Result<()> {
    if json {
        return session.print_json(receipt);
    }
    let ignored: Vec<&str> =
        receipt.writes.iter().flat_map(|write| &write.ignored).map(String::as_str).collect();
    match ignored.is_empty() {
        true => session.say(done),
        false => session.say(&format!(
            "{done}, except what is newer in the row: {}",
            crate::output::visible(&ignored.join(", "))
        )),
    }
}

/// A column and what is to be in it.
struct Assignment<'t> {
    name: &'t str,
    content: Content<'t>,
}

enum Content<'t> {
    Text(&'t str),
    Typed(ColumnType, &'t str),
    Json(Json),
}

fn assignments(texts: &[String]) -> Result<Vec<Assignment<'_>>> {
    texts.iter().map(|text| assignment(text)).collect()
}

fn assignment(text: &str) -> Result<Assignment<'_>> {
    let usage = |problem: String| Error::Usage(format!("in {text:?}, {problem}"));
    let (name, value) = text
        .split_once('=')
        .ok_or_else(|| usage("there is no \"=\" between the column and its value".to_owned()))?;
    let (name, content) = match name.rsplit_once(':') {
        None => (name, Content::Text(value)),
        Some((name, "")) => {
            let json = serde_json::from_str(value);
            (name, Content::Json(json.map_err(|error| usage(format!("no JSON follows: {error}")))?))
        }
        Some((name, named)) => {
            let unknown = || usage(format!("{named:?} is no type; there are {TYPES}"));
            (name, Content::Typed(column_type(named).ok_or_else(unknown)?, value))
        }
    };
    match name.is_empty() {
        true => Err(usage("the column has no name".to_owned())),
        false => Ok(Assignment { name, content }),
    }
}

impl Assignment<'_> {
    fn value(&self, table: &Table) -> Result<Value> {
        let column = declared(table).find(|column| column.name == self.name);
        let declared = column.map_or(ColumnType::Any, |column| column.column_type);
        let value = match &self.content {
            // Else null could not be written to a column with a type, unless that is string.
            Content::Text("null") if declared != ColumnType::String => Ok(Value::Null),
            Content::Text(text) => read_as(declared, text),
            Content::Typed(wanted, text) => read_as(*wanted, text),
            Content::Json(json) if declared == ColumnType::Any => Ok(natural(json)),
            Content::Json(json) => crate::value::from_json(declared, json),
        };
        value.map_err(|problem| Error::Data(format!("column {:?}: {problem}", self.name)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(column: &str, column_type: &str) -> Table {
        let json = serde_json::json!({
            "name": "t", "partition_key": "id u64", "sort_key": "", "placement": "hash", "version": 1,
            "key": [], "partition_fields": 1, "indexes": [],
            "families": [{"name": "f", "columns": [{"name": column, "type": column_type}]}],
        });
        serde_json::from_value(json).unwrap()
    }

    fn value(text: &str) -> Result<Value> {
        assignment(text)?.value(&table("day", "date"))
    }

    #[test]
    fn values_have_the_type_that_is_declared_said_or_seen() {
        let day = stonecrop::keys::Date(19_737);
        for (text, expected) in [
            ("name=Ann", "Ann".into()),
            ("name=", "".into()),
            ("name=a=b", "a=b".into()),
            ("age=41", 41.into()),
            ("zip:string=04103", "04103".into()),
            ("age:float=41", 41.0.into()),
            ("x:=[1, null]", vec![1.into(), Value::Null].into()),
            ("x:=\"41\"", "41".into()),
            ("day=2024-01-15", day.into()),
            ("day=null", Value::Null),
            ("day:=\"2024-01-15\"", day.into()),
            ("other:date=2024-01-15", day.into()),
        ] {
            assert_eq!(value(text).unwrap(), expected, "{text}");
        }
    }

    #[test]
    fn what_can_not_be_read_is_named() {
        for (text, part) in [
            ("name", "no \"=\""),
            ("=1", "no name"),
            ("age:number=1", "\"number\" is no type"),
            ("x:=[", "no JSON"),
            ("day=soon", "column \"day\""),
            ("age:int=1.5", "whole number"),
        ] {
            let error = value(text).unwrap_err().to_string();
            assert!(error.contains(part), "{text}: {error}");
        }
    }
}
