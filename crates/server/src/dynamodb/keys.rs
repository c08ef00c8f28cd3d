//! Keys of items: which attributes they are, and what may be in them.

use std::borrow::Cow;

use stonecrop::keys::{Type, Value as KeyValue};
use stonecrop::{Path, RowKey, Value};
use stonecrop_dynamodb::expression::{Action, Update};
use stonecrop_dynamodb::value::{AttributeType, Item, number_text, value_size};

use super::about::About;
use super::known::{KeyPart, Known};
use super::refusal::{Refusal, Result};

const MAX_PARTITION_BYTES: usize = 2048;
const MAX_SORT_BYTES: usize = 1024;

fn no_match() -> Refusal {
    Refusal::validation("The provided key element does not match the schema")
}

impl Known {
    /// The key of a row from a parameter that must be a key and nothing else.
    pub(super) fn key_of(&self, key: &Item) -> Result<RowKey<'static>> {
        let fits = |part: &KeyPart| key.get(&part.name).is_some_and(|v| type_of(v) == part.of);
        if key.len() != self.key.len() || !self.key.iter().all(fits) {
            return Err(no_match());
        }
        self.row_key(key)
    }

    /// The key of a row from a whole item.
    pub(super) fn key_in(&self, item: &Item) -> Result<RowKey<'static>> {
        for KeyPart { name, of, .. } in &self.key {
            let Some(value) = item.get(name) else {
                return Err(Refusal::invalid(format!("Missing the key {name} in the item")));
            };
            let found = type_of(value);
            if found != *of {
                let problem =
                    format!("Type mismatch for key {name} expected: {of} actual: {found}");
                return Err(Refusal::invalid(problem));
            }
        }
        self.row_key(item)
    }

    fn row_key(&self, item: &Item) -> Result<RowKey<'static>> {
        let mut values = Vec::with_capacity(self.key.len());
        for (at, part) in self.key.iter().enumerate() {
            let value = item.get(&part.name).ok_or_else(no_match)?;
            check_content(value, &part.name)?;
            check_size(value, at > 0)?;
            values.push(to_key(value, &part.field).ok_or_else(no_match)?);
        }
        Ok(values.into())
    }

    /// Those attributes of an item that are its key.
    pub(super) fn key_item(&self, item: &Item) -> Item {
        let entry = |part: &KeyPart| item.get_key_value(&part.name);
        let entries = self.key.iter().filter_map(entry);
        entries.map(|(name, value)| (name.clone(), value.clone())).collect()
    }

    /// Refuses paths into attributes of a key, which hold neither maps nor lists.
    pub(super) fn check_scalars<'p>(&self, paths: impl Iterator<Item = &'p Path>) -> Result<()> {
        for path in paths.filter(|path| !path.steps().is_empty()) {
            let name = path.column();
            let what = if self.is_key(name) {
                "Key"
            } else if self.about.indexes.iter().any(|index| index.key().any(|key| key == name)) {
                "IndexKey"
            } else {
                continue;
            };
            return Err(Refusal::validation(format!(
                "Key attributes must be scalars; list random access '[]' and map lookup '.' are \
                 not allowed: {what}: {name}"
            )));
        }
        Ok(())
    }

    /// Refuses what an update made of an item if an index could not take it.
    pub(super) fn check_updated(&self, update: &Update, item: &Item) -> Result<()> {
        // Whose types the expression alone does not tell.
        let copied = update.actions().iter().filter(|action| action.value_type().is_none());
        for path in copied.map(Action::path).filter(|path| path.steps().is_empty()) {
            let is_key = self.about.indexes.iter().any(|i| i.key().any(|key| key == path.column()));
            let expected = self.about.type_of(path.column());
            let found = item.get(path.column()).map(|value| type_of(value).code());
            if is_key && found.is_some() && found != expected {
                return Err(Refusal::validation(
                    "The update expression attempted to update the secondary index key to \
                     unsupported type",
                ));
            }
        }
        self.check_indexes(item)
    }

    /// Refuses an item that an index could not take.
    pub(super) fn check_indexes(&self, item: &Item) -> Result<()> {
        for index in &self.about.indexes {
            for name in index.key().filter(|name| !self.is_key(name)) {
                let Some(value) = item.get(name) else { continue };
                check_index_key(&self.about, &index.name, name, value)?;
                check_size(value, index.sort.contains(name))?;
            }
        }
        Ok(())
    }
}

fn check_index_key(about: &About, index: &str, name: &str, value: &Value) -> Result<()> {
    let (expected, found) = (about.type_of(name).unwrap_or_default(), type_of(value));
    if found.code() != expected {
        return Err(Refusal::invalid(format!(
            "Type mismatch for Index Key {name} Expected: {expected} Actual: {found} IndexName: \
             {index}"
        )));
    }
    if let Some(kind) = empty_kind(value) {
        return Err(Refusal::validation(format!(
            "One or more parameter values are not valid. A value specified for a secondary index \
             key is not supported. The AttributeValue for a key attribute cannot contain an empty \
             {kind} value. IndexName: {index}, IndexKey: {name}"
        )));
    }
    Ok(())
}

pub(super) fn type_of(value: &Value) -> AttributeType {
    AttributeType::of(value)
}

fn empty_kind(value: &Value) -> Option<&'static str> {
    match value {
        Value::String(text) if text.is_empty() => Some("string"),
        Value::Bytes(bytes) if bytes.is_empty() => Some("binary"),
        _ => None,
    }
}

pub(super) fn check_content(value: &Value, name: &str) -> Result<()> {
    match empty_kind(value) {
        None => Ok(()),
        Some(kind) => Err(Refusal::validation(format!(
            "One or more parameter values are not valid. The AttributeValue for a key attribute \
             cannot contain an empty {kind} value. Key: {name}"
        ))),
    }
}

fn check_size(value: &Value, is_sort: bool) -> Result<()> {
    let size = value_size(value);
    match is_sort {
        false if size > MAX_PARTITION_BYTES => Err(Refusal::invalid(
            "Size of hashkey has exceeded the maximum size limit of2048 bytes",
        )),
        true if size > MAX_SORT_BYTES => Err(Refusal::invalid(
            "Aggregated size of all range keys has exceeded the size limit of 1024 bytes",
        )),
        _ => Ok(()),
    }
}

/// A value as one of a key; none where the field can't hold it.
pub(super) fn to_key(value: &Value, field: &Type) -> Option<KeyValue<'static>> {
    Some(match (value, field) {
        (Value::String(text), Type::String) => KeyValue::String(Cow::Owned(text.clone())),
        (Value::Bytes(bytes), Type::Bytes) => KeyValue::Bytes(Cow::Owned(bytes.clone())),
        (Value::Decimal(number), Type::Decimal) => KeyValue::Decimal(*number),
        (Value::Int(number), Type::Decimal) => KeyValue::Decimal((*number).into()),
        (Value::Decimal(number), Type::F64) => KeyValue::F64(number_text(number).parse().ok()?),
        (Value::Float(number), Type::F64) => KeyValue::F64(*number),
        (Value::Decimal(number), _) => KeyValue::Int(number_text(number).parse().ok()?),
        (Value::Int(number), _) => KeyValue::Int((*number).into()),
        _ => return None,
    })
}

/// The type of the database for one of the service's.
pub(super) fn field_type(code: &str) -> Type {
    match code {
        "N" => Type::Decimal,
        "B" => Type::Bytes,
        _ => Type::String,
    }
}
