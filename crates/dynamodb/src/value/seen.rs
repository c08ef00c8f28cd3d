//! A value as the service sees it.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use stonecrop::Value;
use stonecrop_keys::{Decimal, Type, Value as KeyValue};

/// One of the ten types, whatever the native one is.
pub(crate) enum Seen<'v> {
    Text(Cow<'v, str>),
    Number(Decimal),
    Bytes(&'v [u8]),
    Bool(bool),
    Null,
    List(&'v [Value]),
    Map(&'v BTreeMap<String, Value>),
    StringSet(&'v BTreeSet<String>),
    NumberSet(&'v BTreeSet<Decimal>),
    BytesSet(&'v BTreeSet<Vec<u8>>),
}

impl<'v> Seen<'v> {
    pub(crate) fn of(value: &'v Value) -> Self {
        match value {
            Value::String(text) => Seen::Text(Cow::Borrowed(text)),
            Value::Decimal(number) => Seen::Number(*number),
            Value::Int(number) => Seen::Number(Decimal::from(*number)),
            Value::Float(number) => match format!("{number:e}").parse() {
                Ok(decimal) => Seen::Number(decimal),
                Err(_) => Seen::Text(Cow::Owned(number.to_string())),
            },
            Value::Bytes(bytes) => Seen::Bytes(bytes),
            Value::Bool(value) => Seen::Bool(*value),
            Value::Timestamp(time) => Seen::Text(Cow::Owned(time.to_string())),
            Value::Date(date) => key_text(&Type::Date, &KeyValue::Date(date.0)),
            Value::Uuid(uuid) => key_text(&Type::Uuid, &KeyValue::Uuid(uuid.0)),
            Value::List(values) => Seen::List(values),
            Value::Map(values) => Seen::Map(values),
            Value::StringSet(values) => Seen::StringSet(values),
            Value::NumberSet(values) => Seen::NumberSet(values),
            Value::BytesSet(values) => Seen::BytesSet(values),
            // `Null`, and types that may come to the database one day.
            _ => Seen::Null,
        }
    }
}

/// The text that a native type has in JSON.
fn key_text<'v>(of: &Type, value: &KeyValue<'_>) -> Seen<'v> {
    let json = of.value_to_json(value);
    Seen::Text(Cow::Owned(json.trim_matches('"').to_owned()))
}
