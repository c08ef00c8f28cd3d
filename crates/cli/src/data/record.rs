//! A row of a file, before it is known what the table makes of it.

use std::sync::Arc;

use serde_json::{Map, Value as Json};
use stonecrop::{ColumnType, Value};

use crate::value::{from_json, plain, read_as, to_text};

/// What was read next.
pub(crate) enum Read {
    Row(Record),
    Bad(Reject),
}

/// A row that is left out, and why.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub(crate) struct Reject {
    /// Where it begins, counted from one; of Parquet, which row it is.
    pub(crate) line: u64,
    pub(crate) reason: String,
    pub(crate) text: String,
}

#[derive(Clone, Debug)]
pub(crate) struct Record {
    pub(crate) line: u64,
    /// The whole key, where it stands apart from the columns.
    pub(crate) key: Option<Json>,
    pub(crate) fields: Vec<(Arc<str>, Field)>,
    /// The line, where it is not the fields that make it.
    pub(crate) source: Option<String>,
}

/// A value that knows as much about its type as the file does.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Field {
    /// Text that can stand for anything; nothing at all if it is empty.
    Text(String),
    Json(Json),
    Typed(Value),
}

impl Record {
    pub(crate) fn field(&self, name: &str) -> Option<&Field> {
        self.fields.iter().find(|(known, _)| &**known == name).map(|(_, field)| field)
    }

    pub(crate) fn reject(&self, reason: impl Into<String>) -> Reject {
        Reject { line: self.line, reason: reason.into(), text: self.text() }
    }

    /// As it was in the file, or as near as we can tell.
    fn text(&self) -> String {
        if let Some(source) = &self.source {
            return source.clone();
        }
        if self.fields.iter().all(|(_, field)| matches!(field, Field::Text(_))) {
            return super::csv::line(self.fields.iter().map(|(_, field)| field.text()));
        }
        let fields = self.fields.iter().map(|(name, field)| (name.to_string(), field.plain()));
        Json::Object(fields.collect::<Map<_, _>>()).to_string()
    }
}

impl Field {
    /// Whether there is nothing.
    pub(crate) fn is_empty(&self) -> bool {
        match self {
            Field::Text(text) => text.is_empty(),
            Field::Json(json) => json.is_null(),
            Field::Typed(value) => matches!(value, Value::Null),
        }
    }

    pub(crate) fn text(&self) -> String {
        match self {
            Field::Text(text) => text.clone(),
            Field::Json(Json::String(text)) => text.clone(),
            Field::Json(json) => json.to_string(),
            Field::Typed(value) => to_text(value).into_owned(),
        }
    }

    pub(crate) fn plain(&self) -> Json {
        match self {
            Field::Text(text) => Json::from(text.as_str()),
            Field::Json(json) => json.clone(),
            Field::Typed(value) => plain(value),
        }
    }

    /// The value for a column of a type; none if there is nothing to write.
    pub(crate) fn value(&self, wanted: ColumnType) -> Result<Option<Value>, String> {
        match self {
            Field::Text(text) if text.is_empty() => Ok(None),
            Field::Text(text) => read_as(wanted, text).map(Some),
            Field::Json(json) => from_json(wanted, json).map(Some),
            Field::Typed(value) => retype(wanted, value).map(Some),
        }
    }
}

/// A value as one of another type, where nothing is lost.
fn retype(wanted: ColumnType, value: &Value) -> Result<Value, String> {
    let found = value.column_type();
    match value {
        Value::Null => Ok(Value::Null),
        _ if wanted == ColumnType::Any || wanted == found => Ok(value.clone()),
        // Parquet has no types for these, so they are text there.
        Value::String(text) => read_as(wanted, text),
        Value::Int(_) | Value::Decimal(_)
            if matches!(wanted, ColumnType::Float | ColumnType::Decimal | ColumnType::Int) =>
        {
            read_as(wanted, &to_text(value))
        }
        _ => from_json(wanted, &plain(value)).map_err(|_| {
            let name = crate::value::type_name(wanted);
            format!("{} is of type {found}, and the column holds {name}", to_text(value))
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_gives_its_line_back() {
        let field = |name: &str, text: &str| (Arc::from(name), Field::Text(text.to_owned()));
        let fields = vec![field("a", "x, y"), field("b", "say \"hi\""), field("c", "")];
        let record = Record { line: 7, key: None, fields, source: None };
        let reject = record.reject("no");
        assert_eq!((reject.line, reject.text.as_str()), (7, "\"x, y\",\"say \"\"hi\"\"\","));
    }

    #[test]
    fn values_change_their_type_only_where_nothing_is_lost() {
        let value = |field: Value, wanted| Field::Typed(field).value(wanted);
        assert_eq!(value(7.into(), ColumnType::Float), Ok(Some(7.0.into())));
        assert_eq!(value("9.99".into(), ColumnType::Decimal), {
            Ok(Some(Value::Decimal("9.99".parse().unwrap())))
        });
        assert!(value(1.5.into(), ColumnType::Int).is_err());
        assert!(value("abc".into(), ColumnType::Int).is_err());
        assert_eq!(Field::Text(String::new()).value(ColumnType::Int), Ok(None));
    }
}
