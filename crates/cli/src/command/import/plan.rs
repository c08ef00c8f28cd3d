//! What an import will do: which table, which columns, which types.

use std::io::{self, Write};
use std::sync::Arc;

use serde_json::Value as Json;
use serde_json::value::RawValue;
use stonecrop::ColumnType;
use stonecrop::keys::{Schema as KeySchema, Type};
use stonecrop_server::api::{self, Family, Key, Operation, Schema, Table};

use super::Arguments;
use crate::client::{declared, key_text};
use crate::data::infer::Column;
use crate::data::{Field, Record};
use crate::error::{Error, Result};
use crate::grid::{Grid, Text};
use crate::output::{DIM, terminal_columns, visible};
use crate::value::type_name;

/// How records become writes.
pub(super) struct Plan {
    pub(super) columns: Vec<Column>,
    /// The table to make, if there is none.
    pub(super) create: Option<Schema>,
    /// Why the key is what it is.
    key_reason: &'static str,
    key_text: String,
    /// The fields of the key, in order.
    key: Vec<(String, Type)>,
    /// The types of the columns that are not in the key.
    types: Vec<(Arc<str>, ColumnType)>,
}

impl Plan {
    /// Rows into a table that is there.
    pub(super) fn into_table(table: &Table, columns: Vec<Column>, has_keys: bool) -> Result<Self> {
        let key = key_fields(&key_text(table).replacen("; ", ", ", 1))?;
        if !has_keys {
            let is_missing = |name: &String| !columns.iter().any(|column| *column.name == **name);
            if let Some((name, _)) = key.iter().find(|(name, _)| is_missing(name)) {
                let names: Vec<&str> = columns.iter().map(|column| &*column.name).collect();
                return Err(Error::Data(format!(
                    "the key of the table has the field {name:?}, and the file has no such \
                     column: it has {}",
                    names.join(", ")
                )));
            }
        }
        let types = columns.iter().map(|column| {
            let known = declared(table).find(|known| *known.name == *column.name);
            (column.name.clone(), known.map_or(column.column_type, |known| known.column_type))
        });
        let types = types.filter(|(name, _)| !key.iter().any(|(field, _)| **field == **name));
        let types = types.collect();
        let key_text = key_text(table);
        Ok(Plan { columns, create: None, key_reason: "of the table", key_text, key, types })
    }

    /// Rows into a table that has to be made.
    pub(super) fn new_table(
        arguments: &Arguments,
        columns: Vec<Column>,
        family: String,
    ) -> Result<Self> {
        let (parts, key_reason) = match &arguments.key {
            Some(text) => (split_key(text), "as you said"),
            None => {
                let unique = columns.iter().find(|column| {
                    column.unique && column.key_type().is_some_and(|of| of != "f64" && of != "bool")
                });
                let unique = unique.ok_or_else(|| {
                    let problem = "no column has another value in every row: name the key with";
                    Error::Usage(format!("{problem} --key COLUMN,COLUMN"))
                })?;
                (vec![vec![unique.name.to_string()]], "the first that is unique")
            }
        };
        let mut notations = parts.iter().map(|names| key_notation(names, &columns));
        let partition_key = notations.next().transpose()?.unwrap_or_default();
        let sort_key = notations.next().transpose()?.unwrap_or_default();
        let of_key = |column: &&Column| parts.iter().flatten().any(|name| **name == *column.name);
        let others = columns.iter().filter(|column| !of_key(column)).map(|column| api::Column {
            name: column.name.to_string(),
            column_type: column.column_type,
        });
        let columns_of_family: Vec<api::Column> = others.collect();
        let types = columns_of_family
            .iter()
            .map(|column| (Arc::from(column.name.as_str()), column.column_type))
            .collect();
        let family = Family {
            name: family,
            columns: columns_of_family,
            ttl: arguments.ttl,
            keep: None,
            history: None,
        };
        let both = [partition_key.as_str(), sort_key.as_str()];
        let both = both.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>();
        let (key, key_text) = (key_fields(&both.join(", "))?, both.join("; "));
        let create = Some(Schema {
            name: arguments.table.clone(),
            partition_key,
            sort_key,
            placement: api::Placement::default(),
            families: vec![family],
            indexes: Vec::new(),
            changes: None,
        });
        Ok(Plan { columns, create, key_reason, key_text, key, types })
    }

    /// Shows the columns with an example each, and the table that will be made.
    pub(super) fn show(&self, table: &str, out: &mut impl Write) -> io::Result<()> {
        let mut grid = Grid::new(["column", "type", "example"]);
        for column in &self.columns {
            let of_key = self.key.iter().find(|(name, _)| **name == *column.name);
            let known = self.types.iter().find(|(name, _)| *name == column.name);
            let shown = match (of_key, known) {
                (Some((_, field)), _) => format!("{field}, key"),
                (None, Some((_, column_type))) => type_name(*column_type),
                (None, None) => String::new(),
            };
            let example: String = column.example.chars().take(60).collect();
            grid.push([Text::new(&column.name), Text::new(shown), Text::new(example).style(DIM)]);
        }
        grid.write(out, terminal_columns())?;
        let (table, key) = (visible(table), visible(&self.key_text));
        match self.create.as_ref().and_then(|schema| schema.families.first()) {
            Some(family) => writeln!(
                out,
                "\nnew table {table}, key {key} ({}), all else in the family {}",
                self.key_reason,
                visible(&family.name)
            ),
            None => writeln!(out, "\ninto the table {table}, key {key}"),
        }
    }

    /// The write of a record, as JSON, or why there can be none.
    pub(super) fn write(&self, record: &Record) -> Result<Vec<u8>, String> {
        let key = match &record.key {
            Some(key) => key.to_string(),
            None => self.key_of(record)?,
        };
        let key = RawValue::from_string(key).map_err(|error| error.to_string())?;
        let mut write = api::Write {
            key: Key(key),
            table: None,
            op: Operation::Put,
            set: Default::default(),
            remove: Vec::new(),
            add: Default::default(),
            append: Default::default(),
            when: None,
            written_at: None,
            ttl: None,
            keep: None,
        };
        for (name, field) in &record.fields {
            if record.key.is_none() && self.key.iter().any(|(key, _)| **key == **name) {
                continue;
            }
            let known = self.types.iter().find(|(known, _)| known == name);
            let column_type = known.map_or(ColumnType::Any, |(_, column_type)| *column_type);
            let value = field.value(column_type).map_err(|problem| format!("{name}: {problem}"))?;
            if let Some(value) = value {
                write.set.insert(name.to_string(), value);
            }
        }
        serde_json::to_vec(&write).map_err(|error| error.to_string())
    }

    /// The key of a record: a value if it has one field, otherwise a list.
    fn key_of(&self, record: &Record) -> Result<String, String> {
        let mut values = Vec::with_capacity(self.key.len());
        for (name, field_type) in &self.key {
            let field = record.field(name).filter(|field| !field.is_empty());
            let field = field.ok_or_else(|| format!("{name}: the key has no value"))?;
            let value = key_json(field_type, field);
            let checked = field_type.value_from_json(&value);
            checked.map_err(|error| format!("{name}: {error}"))?;
            values.push(value);
        }
        match values.as_slice() {
            [only] => Ok(only.clone()),
            _ => Ok(format!("[{}]", values.join(","))),
        }
    }
}

/// A value for a field of a key: text is a number where the field holds numbers.
fn key_json(field_type: &Type, field: &Field) -> String {
    let is_text = matches!(
        field_type,
        Type::String
            | Type::Collated(_)
            | Type::Decimal
            | Type::Bytes
            | Type::FixedBytes(_)
            | Type::Uuid
            | Type::UuidV1
            | Type::Timestamp(_)
            | Type::Date
            | Type::U128
            | Type::I128
    );
    match field.plain() {
        Json::String(text) if !is_text && serde_json::from_str::<Json>(&text).is_ok() => text,
        Json::Number(number) if matches!(field_type, Type::String | Type::Decimal) => {
            Json::from(number.to_string()).to_string()
        }
        json => json.to_string(),
    }
}

fn key_fields(notation: &str) -> Result<Vec<(String, Type)>> {
    let schema: KeySchema =
        notation.parse().map_err(|cause| Error::Schema { text: notation.to_owned(), cause })?;
    let fields = schema.fields().iter();
    Ok(fields.map(|field| (field.name().to_owned(), field.field_type().clone())).collect())
}

/// The names of the partition key's columns, and of the sort key's.
fn split_key(text: &str) -> Vec<Vec<String>> {
    let names = |part: &str| {
        let names = part.split(',').map(|name| name.trim().to_owned());
        names.filter(|name| !name.is_empty()).collect()
    };
    text.splitn(2, ';').map(names).collect()
}

fn key_notation(names: &[String], columns: &[Column]) -> Result<String> {
    let mut fields = Vec::new();
    for name in names {
        let column = columns.iter().find(|column| *column.name == **name).ok_or_else(|| {
            Error::Usage(format!("--key names {name:?}, and the file has no such column"))
        })?;
        let key_type = column.key_type().ok_or_else(|| {
            let column_type = type_name(column.column_type);
            Error::Usage(format!("--key names {name:?}, and {column_type} can't be in a key"))
        })?;
        fields.push(format!("{} {key_type}", Json::from(name.as_str())));
    }
    let text = fields.join(", ");
    // As the server writes it: names in quotes only where they need them.
    let schema: KeySchema =
        text.parse().map_err(|cause| Error::Schema { text: text.clone(), cause })?;
    Ok(schema.to_string())
}
