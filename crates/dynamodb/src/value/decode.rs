//! Values from the JSON of the service, with its checks.

use std::collections::BTreeSet;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use serde_json::Value as Json;
use stonecrop::Value;

use super::number::parse_number;
use super::{AttributeType, Item};
use crate::error::{Error, Result};

/// Values are nested at most this deep; the value of an attribute is the first level.
///
/// ```
/// use stonecrop_dynamodb::value::{MAX_NESTING, decode};
/// let nested = |levels| (1..levels).fold(serde_json::json!({"S": ""}), |inner, _| {
///     serde_json::json!({"L": [inner]})
/// });
/// assert!(decode(nested(MAX_NESTING)).is_ok());
/// assert!(decode(nested(MAX_NESTING + 1)).is_err());
/// ```
pub const MAX_NESTING: usize = 32;

const INVALID: &str = "One or more parameter values were invalid: ";
const STRUCTURE: &str = "Start of structure or map found where not expected";

/// The error of values that are nested too deep.
///
/// ```
/// let error = stonecrop_dynamodb::value::nesting_error();
/// assert!(error.message().starts_with("Nesting Levels have exceeded supported limits"));
/// ```
pub fn nesting_error() -> Error {
    Error::validation(
        "Nesting Levels have exceeded supported limits: \
         Attributes in the item have nested levels beyond supported limit",
    )
}

/// The JSON of a request.
///
/// JSON can be nested deeper than any value may be; of such the nesting is the fault that is told,
/// found before the stack knows of it.
///
/// ```
/// use stonecrop_dynamodb::value::read_json;
/// assert!(read_json(b"{}").is_ok());
/// let deep = r#"{"L":["#.repeat(10_000);
/// let error = read_json(deep.as_bytes()).unwrap_err();
/// assert!(error.message().starts_with("Nesting Levels"));
/// ```
pub fn read_json(bytes: &[u8]) -> Result<Json> {
    serde_json::from_slice(bytes).map_err(|error| {
        // The only way in which serde_json tells this error from others.
        match error.to_string().starts_with("recursion limit exceeded") {
            true => nesting_error(),
            false => Error::serialization(error.to_string()),
        }
    })
}

/// A value from its JSON.
///
/// ```
/// use stonecrop::Value;
/// use stonecrop_dynamodb::value::decode;
/// assert_eq!(decode(serde_json::json!({"S": "Ann"}))?, Value::from("Ann"));
/// let error = decode(serde_json::json!({"S": "Ann", "N": "1"})).unwrap_err();
/// assert!(error.message().starts_with("Supplied AttributeValue has more than one datatypes set"));
/// # Ok::<(), stonecrop_dynamodb::Error>(())
/// ```
pub fn decode(json: Json) -> Result<Value> {
    decode_at(json, 1)
}

/// An item from its JSON.
///
/// ```
/// use stonecrop_dynamodb::value::decode_item;
/// let item = decode_item(serde_json::json!({"id": {"N": "1"}}))?;
/// assert!(item.contains_key("id"));
/// # Ok::<(), stonecrop_dynamodb::Error>(())
/// ```
pub fn decode_item(json: Json) -> Result<Item> {
    decode_map(json, 1)
}

fn decode_map(json: Json, depth: usize) -> Result<Item> {
    match json {
        Json::Object(fields) => {
            fields.into_iter().map(|(name, json)| Ok((name, decode_at(json, depth)?))).collect()
        }
        other => Err(not_a_map(&other)),
    }
}

fn decode_at(json: Json, depth: usize) -> Result<Value> {
    if depth > MAX_NESTING {
        return Err(nesting_error());
    }
    let Json::Object(fields) = json else { return Err(not_a_value(&json)) };
    let mut found = None;
    let mut types = 0;
    for (code, content) in fields {
        // As the service does, which knows neither other names nor nulls.
        let Some(of) = AttributeType::from_code(&code).filter(|_| !content.is_null()) else {
            continue;
        };
        types += 1;
        found = Some(decode_typed(of, content, depth)?);
    }
    match found {
        Some(value) if types == 1 => Ok(value),
        Some(_) => Err(Error::validation(
            "Supplied AttributeValue has more than one datatypes set, \
             must contain exactly one of the supported datatypes",
        )),
        None => Err(Error::validation(
            "Supplied AttributeValue is empty, must contain exactly one of the supported datatypes",
        )),
    }
}

pub(super) fn decode_typed(of: AttributeType, json: Json, depth: usize) -> Result<Value> {
    match of {
        AttributeType::String => text(json).map(Value::String),
        AttributeType::Number => parse_number(&text(json)?).map(Value::Decimal),
        AttributeType::Binary => bytes(&json).map(Value::Bytes),
        AttributeType::Bool => boolean(&json).map(Value::Bool),
        AttributeType::Null => match boolean(&json)? {
            true => Ok(Value::Null),
            false => Err(Error::validation(format!(
                "{INVALID}Null attribute value types must have the value of true"
            ))),
        },
        AttributeType::List => {
            let each = list(json)?.into_iter().map(|json| decode_at(json, depth + 1));
            each.collect::<Result<_>>().map(Value::List)
        }
        AttributeType::Map => decode_map(json, depth + 1).map(Value::Map),
        AttributeType::StringSet => string_set(json),
        AttributeType::NumberSet => number_set(json),
        AttributeType::BinarySet => binary_set(json),
    }
}

fn string_set(json: Json) -> Result<Value> {
    let texts = list(json)?.into_iter().map(text).collect::<Result<Vec<_>>>()?;
    if texts.is_empty() {
        return Err(Error::validation(format!("{INVALID}An string set  may not be empty")));
    }
    let count = texts.len();
    let set: BTreeSet<String> = texts.iter().cloned().collect();
    match set.len() == count {
        true => Ok(Value::StringSet(set)),
        false => Err(Error::validation(format!(
            "{INVALID}Input collection [{}] contains duplicates.",
            texts.join(", ")
        ))),
    }
}

fn number_set(json: Json) -> Result<Value> {
    let texts = list(json)?.into_iter().map(text).collect::<Result<Vec<_>>>()?;
    if texts.is_empty() {
        return Err(Error::validation(format!("{INVALID}An number set  may not be empty")));
    }
    let set = texts.iter().map(|text| parse_number(text)).collect::<Result<BTreeSet<_>>>()?;
    match set.len() == texts.len() {
        true => Ok(Value::NumberSet(set)),
        false => Err(Error::validation("Input collection contains duplicates")),
    }
}

fn binary_set(json: Json) -> Result<Value> {
    let elements = list(json)?;
    let set = elements.iter().map(bytes).collect::<Result<BTreeSet<_>>>()?;
    if elements.is_empty() {
        return Err(Error::validation(format!("{INVALID}Binary sets should not be empty")));
    }
    if set.len() == elements.len() {
        return Ok(Value::BytesSet(set));
    }
    let texts: Vec<&str> = elements.iter().filter_map(Json::as_str).collect();
    Err(Error::validation(format!(
        "{INVALID}Input collection [{}]of type BS contains duplicates.",
        texts.join(", ")
    )))
}

fn text(json: Json) -> Result<String> {
    match json {
        Json::String(text) => Ok(text),
        other => Err(not_a(&other, "String")),
    }
}

fn boolean(json: &Json) -> Result<bool> {
    match json {
        Json::Bool(value) => Ok(*value),
        Json::String(text) => match text.to_ascii_lowercase().as_str() {
            "true" | "1" | "yes" => Ok(true),
            "false" | "0" | "no" => Ok(false),
            _ => Err(Error::serialization("Unexpected token received from parser")),
        },
        other => Err(not_a(other, "Boolean")),
    }
}

fn bytes(json: &Json) -> Result<Vec<u8>> {
    let text = match json {
        Json::String(text) => text,
        Json::Array(_) => {
            let problem = "Unrecognized collection type class java.nio.ByteBuffer";
            return Err(Error::serialization(problem));
        }
        Json::Object(_) => return Err(Error::serialization(STRUCTURE)),
        _ => {
            let problem = "only base-64-encoded strings are convertible to bytes";
            return Err(Error::serialization(problem));
        }
    };
    if !text.len().is_multiple_of(4) {
        return Err(Error::serialization(format!(
            "Base64 encoded length is expected a multiple of 4 bytes but found: {}",
            text.len()
        )));
    }
    BASE64
        .decode(text)
        .map_err(|_| Error::serialization("Invalid last non-pad Base64 character dectected"))
}

fn list(json: Json) -> Result<Vec<Json>> {
    match json {
        Json::Array(elements) => Ok(elements),
        Json::Object(_) => Err(Error::serialization(STRUCTURE)),
        _ => Err(Error::serialization("Unexpected field type")),
    }
}

fn not_a(json: &Json, expected: &str) -> Error {
    Error::serialization(match json {
        Json::Bool(true) => format!("TRUE_VALUE cannot be converted to {expected}"),
        Json::Bool(false) => format!("FALSE_VALUE cannot be converted to {expected}"),
        Json::Number(number) if number.is_f64() => {
            format!("DECIMAL_VALUE cannot be converted to {expected}")
        }
        Json::Number(_) => format!("NUMBER_VALUE cannot be converted to {expected}"),
        Json::String(_) => format!("STRING_VALUE cannot be converted to {expected}"),
        Json::Array(_) => format!("Unrecognized collection type class java.lang.{expected}"),
        Json::Object(_) | Json::Null => STRUCTURE.to_owned(),
    })
}

fn not_a_map(json: &Json) -> Error {
    Error::serialization(match json {
        Json::Array(_) => {
            "Unrecognized collection type java.util.Map<java.lang.String, \
             com.amazonaws.dynamodb.v20120810.AttributeValue>"
        }
        _ => "Unexpected field type",
    })
}

fn not_a_value(json: &Json) -> Error {
    Error::serialization(match json {
        Json::Array(_) => {
            "Unrecognized collection type class com.amazonaws.dynamodb.v20120810.AttributeValue"
        }
        _ => "Unexpected value type in payload",
    })
}

/// Whether the JSON is a value in shape, whatever rules it breaks.
///
/// The service reads a whole request before it looks at its rules, so a request with both faults
/// is refused for its shape. Those who want the same order call this first.
///
/// ```
/// use serde_json::json;
/// use stonecrop_dynamodb::value::check_shape;
/// assert!(check_shape(&json!({"N": "one", "SS": []})).is_ok());
/// assert!(check_shape(&json!({"L": [{"N": 1}]})).is_err());
/// ```
pub fn check_shape(json: &Json) -> Result<()> {
    shape_at(json, 1)
}

fn shape_at(json: &Json, depth: usize) -> Result<()> {
    let Json::Object(fields) = json else { return Err(not_a_value(json)) };
    // What is deeper is refused for that.
    if depth > MAX_NESTING {
        return Ok(());
    }
    for (code, content) in fields {
        if let Some(of) = AttributeType::from_code(code).filter(|_| !content.is_null()) {
            typed_shape(of, content, depth)?;
        }
    }
    Ok(())
}

fn typed_shape(of: AttributeType, json: &Json, depth: usize) -> Result<()> {
    let elements = || match json {
        Json::Array(elements) => Ok(elements),
        other => list(other.clone()).and(Err(not_a_map(other))),
    };
    let is_text = |json: &Json| match json {
        Json::String(_) => Ok(()),
        other => Err(not_a(other, "String")),
    };
    match of {
        AttributeType::String | AttributeType::Number => is_text(json),
        AttributeType::Binary => bytes(json).map(drop),
        AttributeType::Bool | AttributeType::Null => boolean(json).map(drop),
        AttributeType::StringSet | AttributeType::NumberSet => {
            elements()?.iter().try_for_each(is_text)
        }
        AttributeType::BinarySet => elements()?.iter().try_for_each(|json| bytes(json).map(drop)),
        AttributeType::List => elements()?.iter().try_for_each(|json| shape_at(json, depth + 1)),
        AttributeType::Map => match json {
            Json::Object(fields) => fields.values().try_for_each(|json| shape_at(json, depth + 1)),
            other => Err(not_a_map(other)),
        },
    }
}

/// Refuses an item whose values are nested too deep, as an update can make one.
///
/// ```
/// use stonecrop::Value;
/// use stonecrop_dynamodb::value::{Item, check_nesting};
/// let deep = (0..32).fold(Value::Null, |inner, _| vec![inner].into());
/// assert!(check_nesting(&Item::from([("a".to_owned(), deep)])).is_err());
/// ```
pub fn check_nesting(item: &Item) -> Result<()> {
    match item.values().all(|value| is_nested_within(value, MAX_NESTING)) {
        true => Ok(()),
        false => Err(nesting_error()),
    }
}

fn is_nested_within(value: &Value, levels: usize) -> bool {
    if levels == 0 {
        return false;
    }
    match value {
        Value::List(values) => values.iter().all(|value| is_nested_within(value, levels - 1)),
        Value::Map(values) => values.values().all(|value| is_nested_within(value, levels - 1)),
        _ => true,
    }
}
