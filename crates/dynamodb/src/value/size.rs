//! Sizes as the service counts them.

use stonecrop::Value;
use stonecrop_keys::{Decimal, Value as KeyValue};

use super::{Item, Seen};
use crate::error::{Error, Result};

/// An item has at most 400 KB.
///
/// ```
/// assert_eq!(stonecrop_dynamodb::value::MAX_ITEM_BYTES, 409_600);
/// ```
pub const MAX_ITEM_BYTES: usize = 400 * 1024;

/// What a list or a map has besides its elements.
const NESTED_BYTES: usize = 3;
const ELEMENT_BYTES: usize = 1;

/// The bytes of an item: its names and its values.
///
/// ```
/// use stonecrop_dynamodb::value::{decode_item, item_size};
/// let item = decode_item(serde_json::json!({"id": {"S": "é"}, "n": {"N": "12345"}}))?;
/// assert_eq!(item_size(&item), 2 + 2 + 1 + 4);
/// # Ok::<(), stonecrop_dynamodb::Error>(())
/// ```
pub fn item_size(item: &Item) -> usize {
    item.iter().map(|(name, value)| name.len() + value_size(value)).sum()
}

/// The bytes of a value.
///
/// ```
/// use stonecrop_dynamodb::value::{decode, value_size};
/// let list = decode(serde_json::json!({"L": [{"BOOL": true}, {"NULL": true}]}))?;
/// assert_eq!(value_size(&list), 3 + 2 + 2);
/// # Ok::<(), stonecrop_dynamodb::Error>(())
/// ```
pub fn value_size(value: &Value) -> usize {
    match Seen::of(value) {
        Seen::Text(text) => text.len(),
        Seen::Number(number) => number_size(&number),
        Seen::Bytes(bytes) => bytes.len(),
        Seen::Bool(_) | Seen::Null => 1,
        Seen::List(values) => {
            let each = values.iter().map(|value| ELEMENT_BYTES + value_size(value));
            NESTED_BYTES + each.sum::<usize>()
        }
        Seen::Map(values) => NESTED_BYTES + ELEMENT_BYTES * values.len() + item_size(values),
        Seen::StringSet(values) => values.iter().map(String::len).sum(),
        Seen::NumberSet(values) => values.iter().map(number_size).sum(),
        Seen::BytesSet(values) => values.iter().map(Vec::len).sum(),
    }
}

/// The bytes of a field of a key.
///
/// ```
/// use stonecrop_dynamodb::value::{key_size, value_size};
/// use stonecrop_keys::Value;
/// assert_eq!(key_size(&Value::from("é")), value_size(&"é".into()));
/// ```
pub fn key_size(value: &KeyValue<'_>) -> usize {
    match value {
        KeyValue::String(text) => text.len(),
        KeyValue::Decimal(number) => number_size(number),
        KeyValue::Bytes(bytes) => bytes.len(),
        other => value_size(&Value::from_key(other)),
    }
}

/// The bytes of a number: one, one for each two digits, and one for a minus.
///
/// ```
/// use stonecrop_dynamodb::value::number_size;
/// let sizes = [0, 1, 12, 123, 1234, -1, 1000].map(|number: i32| number_size(&number.into()));
/// assert_eq!(sizes, [1, 2, 2, 3, 3, 3, 2]);
/// ```
pub fn number_size(number: &Decimal) -> usize {
    1 + number.digit_bytes() + usize::from(number.is_negative())
}

/// Refuses an item to put that is too large.
///
/// ```
/// use stonecrop_dynamodb::value::{Item, check_put_size};
/// let item = Item::from([("id".to_owned(), "a".repeat(409_599).into())]);
/// let error = check_put_size(&item).unwrap_err();
/// assert_eq!(error.message(), "Item size has exceeded the maximum allowed size");
/// ```
pub fn check_put_size(item: &Item) -> Result<()> {
    match item_size(item) > MAX_ITEM_BYTES {
        true => Err(Error::validation("Item size has exceeded the maximum allowed size")),
        false => Ok(()),
    }
}

/// Refuses what an update made of an item if it is too large.
///
/// ```
/// use stonecrop_dynamodb::value::{Item, check_update_size};
/// let item = Item::from([("id".to_owned(), "a".repeat(409_599).into())]);
/// let error = check_update_size(&item).unwrap_err();
/// assert_eq!(error.message(), "Item size to update has exceeded the maximum allowed size");
/// ```
pub fn check_update_size(item: &Item) -> Result<()> {
    match item_size(item) > MAX_ITEM_BYTES {
        true => Err(Error::validation("Item size to update has exceeded the maximum allowed size")),
        false => Ok(()),
    }
}
