//! Values as text: as people write and read them, and as plain JSON.

use std::borrow::Cow;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use serde_json::{Map, Value as Json};
use stonecrop::{ColumnType, Value};

use crate::filter::{TypedText, typed};
use crate::output::hex;

/// The names of the types of columns, as they are written on a command line and in JSON.
pub(crate) const TYPES: &str = "any, bool, int, float, decimal, string, bytes, timestamp, date, \
                                uuid, list, map, string_set, number_set, bytes_set";

/// The type of a column by its name.
pub(crate) fn column_type(name: &str) -> Option<ColumnType> {
    serde_json::from_value(Json::from(name)).ok().filter(|found| *found != ColumnType::Null)
}

/// The name that [`column_type`] takes.
pub(crate) fn type_name(column_type: ColumnType) -> String {
    match serde_json::to_value(column_type) {
        Ok(Json::String(name)) => name,
        _ => column_type.to_string(),
    }
}

/// A value of a type, from text.
pub(crate) fn read_as(wanted: ColumnType, text: &str) -> Result<Value, String> {
    let is_no = |what: &str| format!("{text:?} is no {what}");
    match wanted {
        ColumnType::Any => Ok(guess(text)),
        ColumnType::Null => Ok(Value::Null),
        ColumnType::String => Ok(Value::String(text.to_owned())),
        ColumnType::Bool => match text {
            "true" | "TRUE" | "True" => Ok(Value::Bool(true)),
            "false" | "FALSE" | "False" => Ok(Value::Bool(false)),
            _ => Err(is_no("bool: true or false")),
        },
        ColumnType::Int => {
            text.parse().map(Value::Int).map_err(|_| is_no("whole number of 64 bits"))
        }
        ColumnType::Float => text.parse().map(Value::Float).map_err(|_| is_no("number")),
        ColumnType::Decimal => typed(TypedText::Decimal, text),
        ColumnType::Bytes => typed(TypedText::Bytes, text),
        ColumnType::Timestamp => typed(TypedText::Timestamp, text),
        ColumnType::Date => typed(TypedText::Date, text),
        ColumnType::Uuid => typed(TypedText::Uuid, text),
        _ => {
            let json = serde_json::from_str(text);
            from_json(wanted, &json.map_err(|error| format!("{text:?} is no JSON: {error}"))?)
        }
    }
}

/// A value from text that does not say what it is: a bool, null, a number, or else a string.
pub(crate) fn guess(text: &str) -> Value {
    match text {
        "true" => Value::Bool(true),
        "false" => Value::Bool(false),
        "null" => Value::Null,
        _ => guess_number(text).unwrap_or_else(|| Value::String(text.to_owned())),
    }
}

/// A number, if text is one as JSON writes them: `007` and `1_000` are none, nor are `inf` and `+1`.
pub(crate) fn guess_number(text: &str) -> Option<Value> {
    let number: serde_json::Number = serde_json::from_str(text).ok()?;
    match number.as_i64() {
        Some(whole) => Some(Value::Int(whole)),
        None if text.contains(['.', 'e', 'E']) => {
            number.as_f64().filter(|number| number.is_finite()).map(Value::Float)
        }
        // Too many digits for an int, and a float would round them.
        None => None,
    }
}

/// A value of a type, from plain JSON.
pub(crate) fn from_json(wanted: ColumnType, json: &Json) -> Result<Value, String> {
    let wrong = || format!("{json} is no {wanted}");
    match (wanted, json) {
        (_, Json::Null) => Ok(Value::Null),
        (ColumnType::Any, _) => Ok(natural(json)),
        (ColumnType::Bool, Json::Bool(value)) => Ok(Value::Bool(*value)),
        (ColumnType::Int, Json::Number(number)) => {
            number.as_i64().map(Value::Int).ok_or_else(wrong)
        }
        (ColumnType::Float, Json::Number(number)) => {
            number.as_f64().map(Value::Float).ok_or_else(wrong)
        }
        (ColumnType::Decimal, Json::Number(number)) => {
            typed(TypedText::Decimal, &number.to_string())
        }
        (ColumnType::Float, Json::String(text)) => match text.as_str() {
            "NaN" | "Infinity" | "-Infinity" => read_as(wanted, text),
            _ => Err(wrong()),
        },
        (ColumnType::String, Json::String(text)) => Ok(Value::String(text.clone())),
        (
            ColumnType::Decimal
            | ColumnType::Bytes
            | ColumnType::Timestamp
            | ColumnType::Date
            | ColumnType::Uuid,
            Json::String(text),
        ) => read_as(wanted, text),
        (ColumnType::List, Json::Array(_)) | (ColumnType::Map, Json::Object(_)) => {
            Ok(natural(json))
        }
        (ColumnType::StringSet, Json::Array(_)) => tagged("StringSet", json),
        (ColumnType::NumberSet, Json::Array(numbers)) => {
            let texts = numbers.iter().map(|number| match number {
                Json::Number(number) => Json::from(number.to_string()),
                other => other.clone(),
            });
            tagged("NumberSet", &texts.collect())
        }
        (ColumnType::BytesSet, Json::Array(_)) => tagged("BytesSet", json),
        _ => Err(wrong()),
    }
}

/// A value from the JSON that says its type, as the API writes it.
pub(crate) fn tagged(tag: &str, content: &Json) -> Result<Value, String> {
    let json = serde_json::json!({ tag: content });
    serde_json::from_value(json).map_err(|error| error.to_string())
}

/// The value that plain JSON stands for by itself.
pub(crate) fn natural(json: &Json) -> Value {
    match json {
        Json::Null => Value::Null,
        Json::Bool(value) => Value::Bool(*value),
        Json::Number(number) => match number.as_i64() {
            Some(whole) => Value::Int(whole),
            None if number.is_u64() => {
                typed(TypedText::Decimal, &number.to_string()).unwrap_or(Value::Null)
            }
            None => Value::Float(number.as_f64().unwrap_or(f64::NAN)),
        },
        Json::String(text) => Value::String(text.clone()),
        Json::Array(values) => Value::List(values.iter().map(natural).collect()),
        Json::Object(values) => {
            Value::Map(values.iter().map(|(name, value)| (name.clone(), natural(value))).collect())
        }
    }
}

/// A value as JSON without its type: decimals, times and UUIDs are strings, bytes are base64.
pub(crate) fn plain(value: &Value) -> Json {
    match value {
        Value::Null => Json::Null,
        Value::Bool(value) => Json::from(*value),
        Value::Int(value) => Json::from(*value),
        Value::Float(value) if value.is_finite() => Json::from(*value),
        Value::Float(value) if value.is_nan() => Json::from("NaN"),
        Value::Float(value) if *value > 0.0 => Json::from("Infinity"),
        Value::Float(_) => Json::from("-Infinity"),
        Value::String(text) => Json::from(text.as_str()),
        Value::List(values) => values.iter().map(plain).collect(),
        Value::Map(values) => {
            let values = values.iter().map(|(name, value)| (name.clone(), plain(value)));
            Json::Object(values.collect::<Map<_, _>>())
        }
        // What follows its type there is what we want of the others.
        other => match serde_json::to_value(other) {
            Ok(Json::Object(tagged)) => {
                tagged.into_iter().next().map_or(Json::Null, |(_, json)| json)
            }
            _ => Json::Null,
        },
    }
}

/// A value as text for a file: what [`read_as`] reads.
pub(crate) fn to_text(value: &Value) -> Cow<'_, str> {
    match value {
        Value::String(text) => Cow::Borrowed(text),
        Value::Null => Cow::Borrowed(""),
        Value::Bytes(bytes) => Cow::Owned(BASE64.encode(bytes)),
        other => match plain(other) {
            Json::String(text) => Cow::Owned(text),
            json => Cow::Owned(json.to_string()),
        },
    }
}

/// A value as people like to read it.
pub(crate) fn to_show(value: &Value) -> Cow<'_, str> {
    match value {
        Value::Null => Cow::Borrowed("null"),
        Value::Bytes(bytes) => Cow::Owned(format!("0x{}", hex(bytes))),
        other => to_text(other),
    }
}

/// Whether values stand right in their column, as numbers do.
pub(crate) fn is_number(value: &Value) -> bool {
    matches!(value, Value::Int(_) | Value::Float(_) | Value::Decimal(_))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_without_a_type_is_what_it_looks_like() {
        for (text, value) in [
            ("Ann", "Ann".into()),
            ("41", 41.into()),
            ("-1.5", (-1.5).into()),
            ("1e3", 1000.0.into()),
            ("true", true.into()),
            ("null", Value::Null),
            ("", "".into()),
            ("007", "007".into()),
            ("+1", "+1".into()),
            ("inf", "inf".into()),
            ("99999999999999999999", "99999999999999999999".into()),
            ("2024-01-15", "2024-01-15".into()),
        ] {
            assert_eq!(guess(text), value, "{text:?}");
        }
    }

    #[test]
    fn what_is_written_to_a_file_reads_the_same() {
        for (name, text) in [
            ("bool", "true"),
            ("int", "-7"),
            ("float", "1.5"),
            ("float", "NaN"),
            ("decimal", "9.99"),
            ("string", "a, \"b\""),
            ("bytes", "AP8="),
            ("timestamp", "2024-01-15T10:00:00.000001Z"),
            ("date", "2024-01-15"),
            ("uuid", "00000000-0000-0000-0000-000000000001"),
            ("list", r#"[1,"a",null]"#),
            ("map", r#"{"a":{"b":1}}"#),
            ("string_set", r#"["a","b"]"#),
            ("number_set", r#"["1","2.5"]"#),
            ("bytes_set", r#"["AP8="]"#),
        ] {
            let column_type = column_type(name).unwrap();
            assert_eq!(type_name(column_type), name);
            assert_eq!(to_text(&read_as(column_type, text).unwrap()), text, "{name}");
        }
    }

    #[test]
    fn text_of_another_type_is_refused_with_the_text() {
        for name in ["bool", "int", "float", "decimal", "timestamp", "date", "uuid", "list"] {
            let error = read_as(column_type(name).unwrap(), "abc").unwrap_err();
            assert!(error.contains("abc"), "{name}: {error}");
        }
        assert!(column_type("null").is_none() && column_type("text").is_none());
    }
}
