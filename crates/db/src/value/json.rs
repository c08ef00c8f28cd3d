//! Values as JSON: an object with the type as its one name, as `{"Int": 42}`.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use serde::de::{self, DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};
use serde::ser::{SerializeMap, SerializeSeq};
use serde::{Deserialize, Serialize, Serializer};
use stonecrop_keys::{Decimal, TimeUnit, Type, Value as KeyValue};

use super::Value;
use super::encode::MAX_DEPTH;

const TIMESTAMP: Type = Type::Timestamp(TimeUnit::Microseconds);
const TYPES: &str = "Null, Bool, Int, Float, Decimal, String, Bytes, Timestamp, Date, Uuid, List, \
                     Map, StringSet, NumberSet, BytesSet";

/// ```
/// use stonecrop::{Timestamp, Value};
/// let json = |value: Value| serde_json::to_string(&value).unwrap();
/// assert_eq!(json("Adam".into()), r#"{"String":"Adam"}"#);
/// assert_eq!(json(vec![42.into(), Value::Null].into()), r#"{"List":[{"Int":42},"Null"]}"#);
/// assert_eq!(json(f64::INFINITY.into()), r#"{"Float":"Infinity"}"#);
/// let time = Timestamp::from_micros(1_705_312_800_000_001);
/// assert_eq!(json(time.into()), r#"{"Timestamp":"2024-01-15T10:00:00.000001Z"}"#);
/// ```
impl Serialize for Value {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Value::Null => serializer.serialize_str("Null"),
            Value::Bool(value) => tagged(serializer, "Bool", value),
            Value::Int(value) => tagged(serializer, "Int", value),
            Value::Float(value) if value.is_finite() => tagged(serializer, "Float", value),
            // As in JSON of keys: NaN, inf and -inf are words.
            Value::Float(value) if value.is_nan() => tagged(serializer, "Float", "NaN"),
            Value::Float(value) if *value > 0.0 => tagged(serializer, "Float", "Infinity"),
            Value::Float(_) => tagged(serializer, "Float", "-Infinity"),
            Value::Decimal(value) => tagged(serializer, "Decimal", &value.to_string()),
            Value::String(value) => tagged(serializer, "String", value),
            Value::Bytes(value) => tagged(serializer, "Bytes", &BASE64.encode(value)),
            Value::Timestamp(time) => {
                let count = time.as_micros();
                let time = KeyValue::Timestamp(count, TimeUnit::Microseconds);
                as_key(serializer, "Timestamp", &TIMESTAMP, &time, count)
            }
            Value::Date(date) => {
                let days = i64::from(date.0);
                as_key(serializer, "Date", &Type::Date, &KeyValue::Date(date.0), days)
            }
            Value::Uuid(value) => {
                as_key(serializer, "Uuid", &Type::Uuid, &KeyValue::Uuid(value.0), 0)
            }
            Value::List(values) => tagged(serializer, "List", values),
            Value::Map(values) => tagged(serializer, "Map", values),
            Value::StringSet(values) => tagged(serializer, "StringSet", values),
            Value::NumberSet(values) => {
                tagged(serializer, "NumberSet", &Each(values, Decimal::to_string))
            }
            Value::BytesSet(values) => {
                tagged(serializer, "BytesSet", &Each(values, |bytes| BASE64.encode(bytes)))
            }
        }
    }
}

fn tagged<S: Serializer, T: Serialize + ?Sized>(
    serializer: S,
    tag: &'static str,
    content: &T,
) -> Result<S::Ok, S::Error> {
    let mut map = serializer.serialize_map(Some(1))?;
    map.serialize_entry(tag, content)?;
    map.end()
}

/// As the text that keys have for it, or the count where they have none.
fn as_key<S: Serializer>(
    serializer: S,
    tag: &'static str,
    key_type: &Type,
    value: &KeyValue<'_>,
    count: i64,
) -> Result<S::Ok, S::Error> {
    let json = key_type.value_to_json(value);
    match json.strip_prefix('"').and_then(|text| text.strip_suffix('"')) {
        Some(text) => tagged(serializer, tag, text),
        None => tagged(serializer, tag, &count),
    }
}

/// The texts of a set's elements.
struct Each<'s, T>(&'s BTreeSet<T>, fn(&T) -> String);

impl<T> Serialize for Each<'_, T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut seq = serializer.serialize_seq(Some(self.0.len()))?;
        for element in self.0 {
            seq.serialize_element(&self.1(element))?;
        }
        seq.end()
    }
}

/// From JSON, and other formats that say what follows.
///
/// ```
/// use stonecrop::Value;
/// let value: Value = serde_json::from_str(r#"{"Date": "2024-01-15"}"#)?;
/// assert_eq!(value, stonecrop::keys::Date(19_737).into());
/// let error = serde_json::from_str::<Value>(r#"{"Int": 1.5}"#).unwrap_err();
/// assert!(error.to_string().starts_with("Int: 1.5 is no whole number of 64 bits"));
/// # Ok::<(), serde_json::Error>(())
/// ```
impl<'de> Deserialize<'de> for Value {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Nested(0).deserialize(deserializer)
    }
}

/// A value so deep in others.
#[derive(Clone, Copy)]
struct Nested(usize);

impl<'de> DeserializeSeed<'de> for Nested {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        if self.0 > MAX_DEPTH {
            return Err(de::Error::custom("lists and maps are nested more than 32 deep"));
        }
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Nested {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(r#"a value such as {"Int": 42} or "Null""#)
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Value, E> {
        match text {
            "Null" => Ok(Value::Null),
            _ => Err(E::invalid_value(de::Unexpected::Str(text), &self)),
        }
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Value, A::Error> {
        let Some(tag) = map.next_key::<String>()? else {
            return Err(de::Error::custom("{} is no value: it has no type"));
        };
        let inner = Nested(self.0 + 1);
        let value = match tag.as_str() {
            "List" => Value::List(map.next_value_seed(List(inner))?),
            "Map" => Value::Map(map.next_value_seed(Map(inner))?),
            "StringSet" => Value::StringSet(map.next_value_seed(Set("StringSet", |text| {
                Ok::<_, std::convert::Infallible>(text)
            }))?),
            "NumberSet" => Value::NumberSet(
                map.next_value_seed(Set("NumberSet", |text: String| text.parse()))?,
            ),
            "BytesSet" => {
                Value::BytesSet(map.next_value_seed(Set("BytesSet", |text| BASE64.decode(text)))?)
            }
            tag => {
                let content = map.next_value::<Content>()?;
                let value = content.read(tag);
                value.map_err(|problem| de::Error::custom(format_args!("{tag}: {problem}")))?
            }
        };
        match map.next_key::<String>()? {
            None => Ok(value),
            Some(more) => Err(de::Error::custom(format_args!(
                "a value has one type, and this has {tag:?} and {more:?}"
            ))),
        }
    }
}

/// What a type can stand before, other than lists and maps.
enum Content {
    Null,
    Bool(bool),
    Int(i64),
    /// Beyond `Int`.
    Uint(u64),
    Float(f64),
    Text(String),
}

impl<'de> Deserialize<'de> for Content {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Scalar;
        impl Visitor<'_> for Scalar {
            type Value = Content;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "the content of a value of one of the types {TYPES}")
            }

            fn visit_unit<E>(self) -> Result<Content, E> {
                Ok(Content::Null)
            }

            fn visit_bool<E>(self, value: bool) -> Result<Content, E> {
                Ok(Content::Bool(value))
            }

            fn visit_i64<E>(self, value: i64) -> Result<Content, E> {
                Ok(Content::Int(value))
            }

            fn visit_u64<E>(self, value: u64) -> Result<Content, E> {
                Ok(i64::try_from(value).map_or(Content::Uint(value), Content::Int))
            }

            fn visit_f64<E>(self, value: f64) -> Result<Content, E> {
                Ok(Content::Float(value))
            }

            fn visit_str<E>(self, value: &str) -> Result<Content, E> {
                Ok(Content::Text(value.to_owned()))
            }

            fn visit_string<E>(self, value: String) -> Result<Content, E> {
                Ok(Content::Text(value))
            }
        }
        deserializer.deserialize_any(Scalar)
    }
}

impl Content {
    fn read(self, tag: &str) -> Result<Value, String> {
        Ok(match (tag, self) {
            ("Bool", Content::Bool(value)) => Value::Bool(value),
            ("Int", Content::Int(value)) => Value::Int(value),
            ("Float", Content::Float(value)) => Value::Float(value),
            ("Float", Content::Int(value)) => Value::Float(value as f64),
            ("Float", Content::Uint(value)) => Value::Float(value as f64),
            ("Float", Content::Text(text)) => Value::Float(match text.as_str() {
                "NaN" => f64::NAN,
                "Infinity" => f64::INFINITY,
                "-Infinity" => f64::NEG_INFINITY,
                _ => return Err(Content::Text(text).is_no(FLOAT)),
            }),
            ("Decimal", Content::Text(text)) => {
                let number = text.parse::<Decimal>();
                Value::Decimal(number.map_err(|error| format!("{text:?}: {error}"))?)
            }
            ("String", Content::Text(text)) => Value::String(text),
            ("Bytes", Content::Text(text)) => {
                let bytes = BASE64.decode(&text);
                Value::Bytes(bytes.map_err(|error| format!("{text:?} is no base64: {error}"))?)
            }
            ("Timestamp", content @ (Content::Text(_) | Content::Int(_))) => {
                content.read_key(&TIMESTAMP)?
            }
            ("Date", content @ (Content::Text(_) | Content::Int(_))) => {
                content.read_key(&Type::Date)?
            }
            ("Uuid", content @ Content::Text(_)) => content.read_key(&Type::Uuid)?,
            (tag, content) => {
                return Err(content.is_no(match tag {
                    "Null" => return Err(r#"it is written as "Null" alone"#.to_owned()),
                    "Bool" => "bool",
                    "Int" => "whole number of 64 bits",
                    "Float" => FLOAT,
                    "Decimal" => "number in a string",
                    "String" => "string",
                    "Bytes" => "base64 in a string",
                    "Timestamp" => "time in a string, and no count of microseconds",
                    "Date" => "date in a string, and no count of days",
                    "Uuid" => "UUID in a string",
                    _ => return Err(format!("there is no such type; there are {TYPES}")),
                }));
            }
        })
    }

    fn read_key(&self, key_type: &Type) -> Result<Value, String> {
        let value = key_type.value_from_json(&self.to_string());
        value.map(|value| Value::from_key(&value)).map_err(|error| error.to_string())
    }

    fn is_no(&self, what: &str) -> String {
        format!("{self} is no {what}")
    }
}

const FLOAT: &str = r#"number, and none of "NaN", "Infinity" and "-Infinity""#;

/// As it was in JSON.
impl fmt::Display for Content {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Content::Null => f.write_str("null"),
            Content::Bool(value) => value.fmt(f),
            Content::Int(value) => value.fmt(f),
            Content::Uint(value) => value.fmt(f),
            Content::Float(value) => write!(f, "{value:?}"),
            Content::Text(text) => write!(f, "{}", serde_json::Value::from(text.as_str())),
        }
    }
}

struct List(Nested);

impl<'de> DeserializeSeed<'de> for List {
    type Value = Vec<Value>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Vec<Value>, D::Error> {
        deserializer.deserialize_seq(self)
    }
}

impl<'de> Visitor<'de> for List {
    type Value = Vec<Value>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an array of values after List")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Vec<Value>, A::Error> {
        let mut values = Vec::new();
        while let Some(value) = seq.next_element_seed(self.0)? {
            values.push(value);
        }
        Ok(values)
    }
}

struct Map(Nested);

impl<'de> DeserializeSeed<'de> for Map {
    type Value = BTreeMap<String, Value>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for Map {
    type Value = BTreeMap<String, Value>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object of values after Map")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut values = BTreeMap::new();
        while let Some(name) = map.next_key::<String>()? {
            let value = map.next_value_seed(self.0)?;
            if values.contains_key(&name) {
                return Err(de::Error::custom(format_args!("Map: {name:?} is there twice")));
            }
            values.insert(name, value);
        }
        Ok(values)
    }
}

/// A set of what a function makes of texts.
struct Set<F>(&'static str, F);

impl<'de, T: Ord, E: fmt::Display, F: Fn(String) -> Result<T, E>> DeserializeSeed<'de> for Set<F> {
    type Value = BTreeSet<T>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<BTreeSet<T>, D::Error> {
        deserializer.deserialize_seq(self)
    }
}

impl<'de, T: Ord, E: fmt::Display, F: Fn(String) -> Result<T, E>> Visitor<'de> for Set<F> {
    type Value = BTreeSet<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "an array of strings after {}", self.0)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<BTreeSet<T>, A::Error> {
        let Set(tag, read) = self;
        let mut set = BTreeSet::new();
        while let Some(text) = seq.next_element::<String>()? {
            let element = read(text.clone())
                .map_err(|error| de::Error::custom(format_args!("{tag}: {text:?}: {error}")))?;
            if !set.insert(element) {
                return Err(de::Error::custom(format_args!("{tag}: {text:?} is there twice")));
            }
        }
        Ok(set)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::value::encode::tests::value;
    use proptest::prelude::*;
    use serde_json::json;

    fn read(json: serde_json::Value) -> Result<Value, String> {
        serde_json::from_str(&json.to_string()).map_err(|error| error.to_string())
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2_000))]

        #[test]
        fn every_value_comes_back_from_its_json(value in value()) {
            let text = serde_json::to_string(&value).unwrap();
            prop_assert_eq!(serde_json::from_str::<Value>(&text).unwrap(), value.clone());
            let tree: serde_json::Value = serde_json::from_str(&text).unwrap();
            prop_assert_eq!(Value::deserialize(&tree).unwrap(), value);
        }
    }

    #[test]
    fn types_are_written_as_users_know_them() {
        for (json, value) in [
            (json!("Null"), Value::Null),
            (json!({"Bool": true}), true.into()),
            (json!({"Float": 1.5}), 1.5.into()),
            (json!({"Float": "-Infinity"}), f64::NEG_INFINITY.into()),
            (json!({"Decimal": "12.5"}), Value::Decimal("12.50".parse().unwrap())),
            (json!({"Bytes": "AP8="}), vec![0, 0xFF].into()),
            (json!({"Date": "2024-01-15"}), stonecrop_keys::Date(19_737).into()),
            (json!({"Date": 10_000_000}), stonecrop_keys::Date(10_000_000).into()),
            (json!({"Timestamp": i64::MIN}), crate::Timestamp::MIN.into()),
            (
                json!({"Uuid": "07070707-0707-0707-0707-070707070707"}),
                stonecrop_keys::Uuid([7; 16]).into(),
            ),
            (json!({"Map": {"a": {"Int": 1}}}), BTreeMap::from([("a".into(), 1.into())]).into()),
            (json!({"StringSet": ["a"]}), BTreeSet::from(["a".to_owned()]).into()),
            (
                json!({"NumberSet": ["2.5"]}),
                BTreeSet::from(["2.5".parse::<Decimal>().unwrap()]).into(),
            ),
            (json!({"BytesSet": ["AA=="]}), BTreeSet::from([vec![0]]).into()),
        ] {
            assert_eq!(serde_json::to_value(&value).unwrap(), json);
            assert_eq!(read(json), Ok(value));
        }
        assert_eq!(read(json!(null)), Ok(Value::Null));
        assert_eq!(read(json!({"Float": 1})), Ok(Value::Float(1.0)));
        assert!(matches!(read(json!({"Float": "NaN"})), Ok(Value::Float(f)) if f.is_nan()));
        let time = Value::Timestamp(crate::Timestamp::from_micros(1_705_312_800_000_000));
        assert_eq!(read(json!({"Timestamp": 1_705_312_800_000_000_i64})), Ok(time.clone()));
        assert_eq!(read(json!({"Timestamp": "2024-01-15T12:00:00+02:00"})), Ok(time));
    }

    #[test]
    fn what_is_no_value_says_why() {
        for (json, why) in [
            (json!(1), r#"expected a value such as {"Int": 42}"#),
            (json!("null"), r#"expected a value such as {"Int": 42}"#),
            (json!({}), "it has no type"),
            (json!({"Null": null}), r#"Null: it is written as "Null" alone"#),
            (json!({"Int": 1, "Float": 1}), r#"one type, and this has "Float" and "Int""#),
            (json!({"Text": "a"}), "Text: there is no such type; there are Null, Bool"),
            (json!({"Int": 9_223_372_036_854_775_808_u64}), "no whole number of 64 bits"),
            (json!({"Int": "1"}), r#"Int: "1" is no whole number"#),
            (json!({"Int": []}), "expected the content of a value"),
            (json!({"Float": "1.5"}), r#"Float: "1.5" is no number"#),
            (json!({"Decimal": "ten"}), r#"Decimal: "ten": "#),
            (json!({"Bytes": "?"}), "is no base64"),
            (json!({"Timestamp": "2024-01-15T10:00:00.1234567Z"}), "is finer than"),
            (json!({"Timestamp": 1.5}), "no count of microseconds"),
            (json!({"Date": "2024-13-01"}), "expected a date"),
            (json!({"Uuid": "7"}), "expected a UUID"),
            (json!({"StringSet": ["a", "a"]}), r#"StringSet: "a" is there twice"#),
            (json!({"NumberSet": ["1", "1.0"]}), r#"NumberSet: "1.0" is there twice"#),
            (json!({"NumberSet": ["x"]}), r#"NumberSet: "x": "#),
            (json!({"List": [1]}), r#"expected a value such as {"Int": 42}"#),
        ] {
            let error = read(json.clone()).unwrap_err();
            assert!(error.contains(why), "{json}: {error}");
        }
        let twice = serde_json::from_str::<Value>(r#"{"Map": {"a": null, "a": null}}"#);
        assert!(twice.unwrap_err().to_string().contains(r#"Map: "a" is there twice"#));
    }

    #[test]
    fn nesting_is_bounded() {
        let nested = |depth| (0..depth).fold(json!("Null"), |value, _| json!({"List": [value]}));
        assert!(read(nested(32)).is_ok());
        assert!(read(nested(33)).unwrap_err().contains("more than 32 deep"));
    }
}
