//! What the columns of a file are, by a look at its first rows.

use std::collections::HashSet;
use std::sync::Arc;

use serde_json::Value as Json;
use stonecrop::{ColumnType, Value};

use super::record::{Field, Record};
use crate::value::{guess_number, read_as};

/// A column of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Column {
    pub(crate) name: Arc<str>,
    pub(crate) column_type: ColumnType,
    /// The first value.
    pub(crate) example: String,
    /// Whether every row has a value, and each its own.
    pub(crate) unique: bool,
}

impl Column {
    /// The type of a field of a key that holds the values; some can't be in a key.
    pub(crate) fn key_type(&self) -> Option<&'static str> {
        Some(match self.column_type {
            ColumnType::Bool => "bool",
            ColumnType::Int => "i64",
            ColumnType::Float => "f64",
            ColumnType::Decimal => "decimal",
            ColumnType::String => "string",
            ColumnType::Bytes => "bytes",
            ColumnType::Timestamp => "timestamp(us)",
            ColumnType::Date => "date",
            ColumnType::Uuid => "uuid",
            _ => return None,
        })
    }
}

/// The columns of these rows, in the order in which they first occur.
pub(crate) fn infer(records: &[Record]) -> Vec<Column> {
    let mut columns: Vec<Seen> = Vec::new();
    for record in records {
        for (place, (name, field)) in record.fields.iter().enumerate() {
            // Most files have their columns in the same order in every row.
            let here = columns.get(place).is_some_and(|seen| seen.name == *name);
            let known = if here { Some(place) } else { None };
            let known = known.or_else(|| columns.iter().position(|seen| seen.name == *name));
            match known.and_then(|known| columns.get_mut(known)) {
                Some(seen) => seen.look(field),
                None => {
                    let mut seen = Seen::new(name.clone());
                    seen.look(field);
                    columns.push(seen);
                }
            }
        }
    }
    columns.into_iter().map(|seen| seen.column(records.len())).collect()
}

struct Seen {
    name: Arc<str>,
    /// The types that all values so far can have, the one to prefer first; none if there was none.
    types: Option<Vec<ColumnType>>,
    values: HashSet<String>,
    filled: usize,
    example: String,
}

impl Seen {
    fn new(name: Arc<str>) -> Self {
        Seen { name, types: None, values: HashSet::new(), filled: 0, example: String::new() }
    }

    fn look(&mut self, field: &Field) {
        if field.is_empty() {
            return;
        }
        let text = field.text();
        if self.filled == 0 {
            self.example.clone_from(&text);
        }
        self.filled += 1;
        self.values.insert(text);
        let possible = types(field);
        match &mut self.types {
            None => self.types = Some(possible),
            Some(types) => types.retain(|known| possible.contains(known)),
        }
    }

    fn column(self, rows: usize) -> Column {
        let column_type = match &self.types {
            Some(types) => types.first().copied().unwrap_or(ColumnType::Any),
            None => ColumnType::Any,
        };
        let unique = self.filled == rows && self.values.len() == rows;
        Column { name: self.name, column_type, example: self.example, unique }
    }
}

/// The types that a value can have, the one to prefer first.
fn types(field: &Field) -> Vec<ColumnType> {
    use ColumnType::{Any, Bool, Date, Float, Int, List, Map, String as Text, Timestamp, Uuid};
    let texts = |text: &str| {
        let special = [Timestamp, Date, Uuid].into_iter();
        special.filter(|special| is_written(*special, text)).chain([Text]).collect()
    };
    match field {
        Field::Text(text) if is_written(Bool, text) => vec![Bool, Text],
        Field::Text(text) => match guess_number(text) {
            Some(Value::Int(_)) => vec![Int, Float, Text],
            Some(_) => vec![Float, Text],
            None => texts(text),
        },
        Field::Json(Json::Bool(_)) => vec![Bool],
        Field::Json(Json::Number(number)) if number.is_i64() => vec![Int, Float],
        Field::Json(Json::Number(_)) => vec![Float],
        Field::Json(Json::String(text)) => texts(text),
        Field::Json(Json::Array(_)) => vec![List],
        Field::Json(Json::Object(_)) => vec![Map],
        Field::Json(Json::Null) => vec![Any],
        Field::Typed(Value::Int(_)) => vec![Int, Float],
        Field::Typed(value) => vec![value.column_type()],
    }
}

/// Whether text is a value of a type, as we write it: a number is no date, though it is read as one.
fn is_written(column_type: ColumnType, text: &str) -> bool {
    let looks = match column_type {
        ColumnType::Timestamp => text.len() >= 20 && text.contains(['T', 't', ' ']),
        ColumnType::Date => text.len() == 10,
        ColumnType::Uuid => text.len() == 36,
        _ => true,
    };
    looks && read_as(column_type, text).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(values: &[&str]) -> Column {
        let records: Vec<_> = values
            .iter()
            .map(|text| Record {
                line: 1,
                key: None,
                fields: vec![("c".into(), Field::Text((*text).to_owned()))],
                source: None,
            })
            .collect();
        infer(&records).remove(0)
    }

    #[test]
    fn the_narrowest_type_that_holds_all_values_is_chosen() {
        for (values, expected) in [
            (&["1", "2", ""][..], ColumnType::Int),
            (&["1", "2.5"], ColumnType::Float),
            (&["1", "n/a"], ColumnType::String),
            (&["007", "8"], ColumnType::String),
            (&["true", "false"], ColumnType::Bool),
            (&["true", "1"], ColumnType::String),
            (&["2024-01-15"], ColumnType::Date),
            (&["2024-01-15T10:00:00Z"], ColumnType::Timestamp),
            (&["2024-01-15", "2024-01-15T10:00:00Z"], ColumnType::String),
            (&["00000000-0000-0000-0000-000000000001"], ColumnType::Uuid),
            (&["2024-13-45"], ColumnType::String),
            (&["", ""], ColumnType::Any),
        ] {
            assert_eq!(texts(values).column_type, expected, "{values:?}");
        }
    }

    #[test]
    fn a_column_is_unique_if_every_row_has_a_value_of_its_own() {
        assert!(texts(&["1", "2"]).unique);
        assert!(!texts(&["1", "1"]).unique);
        assert!(!texts(&["1", ""]).unique);
    }

    #[test]
    fn json_says_its_types_and_mixed_ones_are_any() {
        let of = |values: &[Json]| {
            let records: Vec<_> = values
                .iter()
                .map(|json| Record {
                    line: 1,
                    key: None,
                    fields: vec![("c".into(), Field::Json(json.clone()))],
                    source: None,
                })
                .collect();
            infer(&records).remove(0).column_type
        };
        use serde_json::json;
        assert_eq!(of(&[json!(1), json!(2.5)]), ColumnType::Float);
        assert_eq!(of(&[json!(1), json!("a")]), ColumnType::Any);
        assert_eq!(of(&[json!("1")]), ColumnType::String);
        assert_eq!(of(&[json!([1]), json!(null)]), ColumnType::List);
        assert_eq!(of(&[json!("2024-01-15")]), ColumnType::Date);
    }
}
