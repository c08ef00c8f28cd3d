//! JSON lines: an object a row, plain or with the types that the API writes.

use std::fmt;
use std::io::Read;
use std::sync::Arc;

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::Value as Json;
use stonecrop::ResponseRow;

use super::record::{Field, Read as ReadRow, Record, Reject};
use crate::error::Result;
use crate::input::Lines;

pub(crate) struct Reader {
    lines: Lines<Box<dyn Read>>,
}

impl Reader {
    pub(super) fn new(input: Box<dyn Read>) -> Self {
        Reader { lines: Lines::new(input) }
    }

    pub(super) fn position(&self) -> u64 {
        self.lines.bytes()
    }

    pub(super) fn next(&mut self) -> Result<Option<ReadRow>> {
        let Some(line) = self.lines.next() else { return Ok(None) };
        let line = match line {
            Ok(line) => line.to_owned(),
            Err(error) if error.is_bad_data() => {
                let (line, reason) = (self.lines.number(), error.to_string());
                return Ok(Some(ReadRow::Bad(Reject { line, reason, text: String::new() })));
            }
            Err(error) => return Err(error),
        };
        let number = self.lines.number();
        Ok(Some(match record(number, &line) {
            Ok(record) => ReadRow::Row(Record { source: Some(line), ..record }),
            Err(reason) => ReadRow::Bad(Reject { line: number, reason, text: line }),
        }))
    }
}

fn record(line: u64, text: &str) -> Result<Record, String> {
    let Object(members) = serde_json::from_str(text).map_err(|error| error.to_string())?;
    let mut names: Vec<&str> = members.iter().map(|(name, _)| name.as_str()).collect();
    names.sort_unstable();
    if names == ["columns", "row_key"] {
        let row: ResponseRow = serde_json::from_str(text).map_err(|error| error.to_string())?;
        let fields = row.columns.into_iter();
        let fields = fields.map(|(name, cell)| (Arc::from(name), Field::Typed(cell.value)));
        let (key, fields) = (Some(row.row_key), fields.collect());
        return Ok(Record { line, key, fields, source: None });
    }
    let fields = members.into_iter().map(|(name, json)| (Arc::from(name), Field::Json(json)));
    Ok(Record { line, key: None, fields: fields.collect(), source: None })
}

/// The members of an object in their order, each name once.
struct Object(Vec<(String, Json)>);

impl<'de> Deserialize<'de> for Object {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Members;
        impl<'de> Visitor<'de> for Members {
            type Value = Object;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a JSON object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Object, A::Error> {
                let mut members: Vec<(String, Json)> = Vec::new();
                while let Some((name, value)) = map.next_entry::<String, Json>()? {
                    if members.iter().any(|(known, _)| *known == name) {
                        let problem = format_args!("{name:?} is there twice");
                        return Err(serde::de::Error::custom(problem));
                    }
                    members.push((name, value));
                }
                Ok(Object(members))
            }
        }
        deserializer.deserialize_map(Members)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn objects_keep_the_order_of_their_members() {
        let record = record(1, r#"{"z": 1, "a": null}"#).unwrap();
        let names: Vec<_> = record.fields.iter().map(|(name, _)| &**name).collect();
        assert_eq!(names, ["z", "a"]);
    }

    #[test]
    fn rows_of_the_api_keep_their_types_and_their_key() {
        let text = r#"{"row_key":["a",1],"columns":{"n":{"value":{"Decimal":"1"},"fresh":true}}}"#;
        let record = record(1, text).unwrap();
        assert_eq!(record.key, Some(serde_json::json!(["a", 1])));
        assert!(matches!(record.field("n"), Some(Field::Typed(stonecrop::Value::Decimal(_)))));
    }

    #[test]
    fn what_is_no_object_is_bad() {
        for text in ["[1]", "1", "{\"a\":1", "{\"a\":1,\"a\":2}", ""] {
            assert!(record(1, text).is_err(), "{text}");
        }
    }
}
