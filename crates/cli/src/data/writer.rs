//! Rows into a file, one after the other.

use std::collections::BTreeSet;
use std::io::Write;

use serde::ser::SerializeMap as _;
use serde::{Serialize, Serializer};
use serde_json::Value as Json;
use stonecrop::{ColumnType, ResponseRow, Value};
use stonecrop_server::api::Table;

use super::Format;
use crate::client::declared;
use crate::error::{Error, Result};
use crate::value::{plain, to_text};

/// Names of columns that were left out are remembered up to this many.
const MAX_NAMED: usize = 20;

/// What a file has a place for, where that is fixed from the beginning.
#[derive(Clone, Debug)]
pub(crate) struct Columns {
    /// The fields of the key, with the names of their types.
    pub(crate) key: Vec<(String, String)>,
    pub(crate) columns: Vec<(String, ColumnType)>,
}

impl Columns {
    /// Those that were asked for, or all that the table declares.
    pub(crate) fn new(table: &Table, asked: Option<&[String]>) -> Self {
        let fields = table.key.iter();
        let key = fields.map(|field| (field.name.clone(), field.field_type.clone())).collect();
        let in_table: Vec<(String, ColumnType)> =
            declared(table).map(|column| (column.name.clone(), column.column_type)).collect();
        let columns = match asked {
            None => in_table,
            Some(asked) => asked
                .iter()
                .map(|name| {
                    let known = in_table.iter().find(|(known, _)| known == name);
                    known.cloned().unwrap_or((name.clone(), ColumnType::Any))
                })
                .collect(),
        };
        Columns { key, columns }
    }
}

/// Where rows go to.
pub(crate) struct RowWriter {
    kind: Kind,
    columns: Columns,
    left_out: BTreeSet<String>,
}

type Output = Box<dyn Write + Send>;

enum Kind {
    Csv(Box<csv::Writer<Output>>),
    Jsonl(Output),
    Rows(Output),
    #[cfg(feature = "parquet")]
    Parquet(Box<super::parquet::Writer>),
}

impl RowWriter {
    pub(crate) fn new(format: Format, columns: Columns, output: Output) -> Result<Self> {
        let kind = match format {
            Format::Csv => {
                let mut writer = csv::Writer::from_writer(output);
                let keys = columns.key.iter().map(|(name, _)| name);
                let names = keys.chain(columns.columns.iter().map(|(name, _)| name));
                writer.write_record(names).map_err(csv_failed)?;
                Kind::Csv(Box::new(writer))
            }
            Format::Jsonl => Kind::Jsonl(output),
            Format::Rows => Kind::Rows(output),
            #[cfg(feature = "parquet")]
            Format::Parquet => {
                Kind::Parquet(Box::new(super::parquet::Writer::new(&columns, output)?))
            }
            #[cfg(not(feature = "parquet"))]
            Format::Parquet => return Err(Error::Usage(super::WITHOUT_PARQUET.to_owned())),
        };
        Ok(RowWriter { kind, columns, left_out: BTreeSet::new() })
    }

    pub(crate) fn write(&mut self, row: &ResponseRow) -> Result<()> {
        if matches!(&self.kind, Kind::Rows(_) | Kind::Jsonl(_)) {
            return self.write_line(row);
        }
        for (name, _) in &row.columns {
            let known = self.columns.columns.iter().any(|(known, _)| known == name);
            if !known && self.left_out.len() < MAX_NAMED && !self.left_out.contains(name) {
                self.left_out.insert(name.clone());
            }
        }
        let keys = key_values(&row.row_key, self.columns.key.len());
        match &mut self.kind {
            Kind::Csv(writer) => {
                let keys = keys.iter().map(|key| key_text(key));
                let values = self.columns.columns.iter().map(|(name, _)| {
                    value(row, name).map_or(String::new(), |value| to_text(value).into_owned())
                });
                writer.write_record(keys.chain(values)).map_err(csv_failed)
            }
            #[cfg(feature = "parquet")]
            Kind::Parquet(writer) => writer.write(&keys, |name| value(row, name)),
            Kind::Jsonl(_) | Kind::Rows(_) => Ok(()),
        }
    }

    fn write_line(&mut self, row: &ResponseRow) -> Result<()> {
        let (output, line) = match &mut self.kind {
            Kind::Rows(output) => (output, serde_json::to_string(row)),
            Kind::Jsonl(output) => {
                let plain = Plain { columns: &self.columns, row };
                (output, serde_json::to_string(&plain))
            }
            _ => return Ok(()),
        };
        let line = line.map_err(|error| Error::Output(error.into()))?;
        writeln!(output, "{line}").map_err(Error::Output)
    }

    /// Writes what is left, and gives the names of columns that had no place.
    pub(crate) fn finish(self) -> Result<Vec<String>> {
        match self.kind {
            Kind::Csv(mut writer) => writer.flush().map_err(Error::Output)?,
            Kind::Jsonl(mut output) | Kind::Rows(mut output) => {
                output.flush().map_err(Error::Output)?;
            }
            #[cfg(feature = "parquet")]
            Kind::Parquet(writer) => writer.finish()?,
        }
        Ok(self.left_out.into_iter().collect())
    }
}

/// A row as one object, the fields of its key first.
struct Plain<'r> {
    columns: &'r Columns,
    row: &'r ResponseRow,
}

impl Serialize for Plain<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        let keys = key_values(&self.row.row_key, self.columns.key.len());
        for ((name, _), key) in self.columns.key.iter().zip(keys) {
            map.serialize_entry(name, key)?;
        }
        let declared = self.columns.columns.iter().map(|(name, _)| name);
        let others = self.row.columns.iter().map(|(name, _)| name);
        let others =
            others.filter(|name| !self.columns.columns.iter().any(|(known, _)| known == *name));
        for name in declared.chain(others) {
            if let Some(value) = value(self.row, name) {
                map.serialize_entry(name, &plain(value))?;
            }
        }
        map.end()
    }
}

fn value<'r>(row: &'r ResponseRow, name: &str) -> Option<&'r Value> {
    row.columns.iter().find(|(known, _)| known == name).map(|(_, cell)| &cell.value)
}

/// The values of a key, which is a list only if it has several fields.
fn key_values(key: &Json, fields: usize) -> Vec<&Json> {
    match key {
        Json::Array(values) if fields > 1 => values.iter().collect(),
        value => vec![value],
    }
}

pub(super) fn key_text(key: &Json) -> String {
    match key {
        Json::String(text) => text.clone(),
        Json::Null => String::new(),
        other => other.to_string(),
    }
}

fn csv_failed(error: csv::Error) -> Error {
    let text = error.to_string();
    match error.into_kind() {
        csv::ErrorKind::Io(cause) => Error::Output(cause),
        _ => Error::Output(std::io::Error::other(text)),
    }
}
