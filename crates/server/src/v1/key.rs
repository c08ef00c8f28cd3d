//! Keys of rows in JSON and in addresses.

use serde_json::value::RawValue;
use stonecrop::RowKey;
use stonecrop::keys::{Schema, Type};

use crate::api::Key;
use crate::problem::{BAD_KEY, Problem, Result};

/// The key of a row in JSON: a value if the key has one field, otherwise a list.
pub(super) fn read(schema: &Schema, json: &str) -> Result<RowKey<'static>> {
    let values = match schema.fields() {
        [_] => schema.values_from_json(&format!("[{json}]")),
        _ => schema.values_from_json(json),
    };
    match values {
        Ok(values) => Ok(RowKey::from(values)),
        Err(error) => Err(Problem::new(BAD_KEY, format!("the key {json}: {error}")).at("/key")),
    }
}

/// The key of a row in an address: JSON, or the bare text of a key of one field.
pub(super) fn read_address(schema: &Schema, text: &str) -> Result<RowKey<'static>> {
    if let [field] = schema.fields()
        && *field.field_type() == Type::String
        && !text.trim_start().starts_with(['"', 'n'])
    {
        // No JSON of a string or of null: it was meant as it stands.
        return Ok(RowKey::from(text.to_owned()));
    }
    let as_json = read(schema, text);
    if as_json.is_ok() || schema.fields().len() != 1 {
        return as_json.map_err(|problem| problem.at("key"));
    }
    let as_text = read(schema, &serde_json::Value::from(text).to_string());
    // Text that is no JSON was meant as it stands.
    let is_json = serde_json::from_str::<serde::de::IgnoredAny>(text).is_ok();
    let key = if is_json { as_text.or(as_json) } else { as_text };
    key.map_err(|problem| problem.at("key"))
}

/// The key of a row as JSON.
pub(super) fn write(schema: &Schema, key: &RowKey<'_>) -> Result<Key> {
    let json = match (schema.fields(), key.values()) {
        ([field], [value]) => field.field_type().value_to_json(value),
        (_, values) => schema.values_to_json(values),
    };
    let raw = RawValue::from_string(json);
    Ok(Key(raw.map_err(|error| Problem::new(BAD_KEY, error.to_string()))?))
}
