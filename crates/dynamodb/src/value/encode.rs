//! Values as the JSON of the service.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use serde::ser::{Serialize, SerializeMap, Serializer};
use serde_json::Value as Json;
use stonecrop::Value;
use stonecrop_keys::Value as KeyValue;

use super::number::number_text;
use super::{Item, Seen};

/// A value or an item that serializes to the JSON of the service, without a tree in between.
///
/// ```
/// use stonecrop_dynamodb::value::{Encoded, Item};
/// let item = Item::from([("age".to_owned(), 42.into())]);
/// assert_eq!(serde_json::to_string(&Encoded(&item))?, r#"{"age":{"N":"42"}}"#);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug)]
pub struct Encoded<'v, T: ?Sized>(pub &'v T);

impl Serialize for Encoded<'_, Item> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(name, value)| (name, Encoded(value))))
    }
}

impl Serialize for Encoded<'_, [Value]> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.0.iter().map(Encoded))
    }
}

impl Serialize for Encoded<'_, Value> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match Seen::of(self.0) {
            Seen::Text(text) => typed(serializer, "S", &text),
            Seen::Number(number) => typed(serializer, "N", &number_text(&number)),
            Seen::Bytes(bytes) => typed(serializer, "B", &BASE64.encode(bytes)),
            Seen::Bool(value) => typed(serializer, "BOOL", &value),
            Seen::Null => typed(serializer, "NULL", &true),
            Seen::List(values) => typed(serializer, "L", &Encoded(values)),
            Seen::Map(values) => typed(serializer, "M", &Encoded(values)),
            Seen::StringSet(values) => typed(serializer, "SS", values),
            Seen::NumberSet(values) => {
                let texts: Vec<String> = values.iter().map(number_text).collect();
                typed(serializer, "NS", &texts)
            }
            Seen::BytesSet(values) => {
                let texts: Vec<String> = values.iter().map(|bytes| BASE64.encode(bytes)).collect();
                typed(serializer, "BS", &texts)
            }
        }
    }
}

/// A field of a key; texts, numbers and bytes, which most are, without a copy.
impl Serialize for Encoded<'_, KeyValue<'_>> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            KeyValue::String(text) => typed(serializer, "S", text),
            KeyValue::Decimal(number) => typed(serializer, "N", &number_text(number)),
            KeyValue::Bytes(bytes) => typed(serializer, "B", &BASE64.encode(bytes)),
            other => Encoded(&Value::from_key(other)).serialize(serializer),
        }
    }
}

fn typed<S: Serializer, T: Serialize + ?Sized>(
    serializer: S,
    code: &'static str,
    content: &T,
) -> Result<S::Ok, S::Error> {
    let mut map = serializer.serialize_map(Some(1))?;
    map.serialize_entry(code, content)?;
    map.end()
}

/// A value as JSON.
///
/// ```
/// use stonecrop_dynamodb::value::encode;
/// assert_eq!(encode(&"Ann".into()), serde_json::json!({"S": "Ann"}));
/// ```
pub fn encode(value: &Value) -> Json {
    // Names are text and nothing here refuses, so there is always a tree.
    serde_json::to_value(Encoded(value)).unwrap_or_default()
}

/// An item as JSON.
///
/// ```
/// use stonecrop_dynamodb::value::{Item, encode_item};
/// let item = Item::from([("ok".to_owned(), true.into())]);
/// assert_eq!(encode_item(&item), serde_json::json!({"ok": {"BOOL": true}}));
/// ```
pub fn encode_item(item: &Item) -> Json {
    serde_json::to_value(Encoded(item)).unwrap_or_default()
}
