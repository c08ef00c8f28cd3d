//! Values to and from JSON, one array a key, as the command line and the test vectors write them.
//!
//! Integers of up to 64 bits and floats are numbers; decimals and 128-bit integers are strings, so
//! that no reader rounds them; bytes are base64; times are RFC 3339. `docs/format.md` has the table.

use std::borrow::Cow;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use jiff::civil;
use serde_json::value::RawValue;

use crate::encode::{null_error, wrong_count};
use crate::error::{Error, Result};
use crate::schema::{Field, Nulls, Schema, Type};
use crate::types::geo::{Point2, Point3};
use crate::types::time::TimeUnit;
use crate::value::Value;

impl Schema {
    /// The values that a JSON array stands for, one for each field.
    ///
    /// ```
    /// use stonecrop_keys::{Schema, TimestampMs};
    /// let schema: Schema = "tenant string, at timestamp, price decimal".parse()?;
    /// let values = schema.values_from_json(r#"["acme", "2024-01-15T10:00:00Z", "19.90"]"#)?;
    /// assert_eq!(values[1], TimestampMs(1_705_312_800_000).into());
    /// # Ok::<(), stonecrop_keys::Error>(())
    /// ```
    pub fn values_from_json(&self, json: &str) -> Result<Vec<Value<'static>>> {
        from_array(self.fields(), json)
    }

    /// The JSON array of a key's values.
    ///
    /// ```
    /// use stonecrop_keys::{Schema, TimestampMs, Value};
    /// let schema: Schema = "at timestamp, day date, id u128 nulls first".parse()?;
    /// let values = [TimestampMs(1_705_312_800_000).into(), Value::Date(0), Value::Null];
    /// assert_eq!(schema.values_to_json(&values), r#"["2024-01-15T10:00:00Z","1970-01-01",null]"#);
    /// # Ok::<(), stonecrop_keys::Error>(())
    /// ```
    pub fn values_to_json(&self, values: &[Value<'_>]) -> String {
        to_array(self.fields().iter().map(Field::field_type).zip(values))
    }
}

impl Type {
    /// One value of this type as JSON.
    ///
    /// ```
    /// use stonecrop_keys::{Type, Value};
    /// assert_eq!(Type::Bytes.value_to_json(&Value::from(&b"\x00\xFF"[..])), r#""AP8=""#);
    /// ```
    pub fn value_to_json(&self, value: &Value<'_>) -> String {
        match (self, value) {
            (_, Value::Null) => "null".to_owned(),
            (_, Value::Bool(value)) => value.to_string(),
            (Type::U128 | Type::I128, Value::Int(value)) => quoted(&value.to_string()),
            (Type::U128 | Type::I128, Value::Uint(value)) => quoted(&value.to_string()),
            (_, Value::Int(value)) => value.to_string(),
            (_, Value::Uint(value)) => value.to_string(),
            (_, Value::F32(value)) => float_to_json(
                f64::from(*value),
                value.to_bits() == 0x7FC0_0000,
                || format!("{value:?}"),
                || format!("{:08x}", value.to_bits()),
            ),
            (_, Value::F64(value)) => float_to_json(
                *value,
                value.to_bits() == 0x7FF8_0000_0000_0000,
                || format!("{value:?}"),
                || format!("{:016x}", value.to_bits()),
            ),
            (_, Value::Decimal(value)) => quoted(&value.to_string()),
            (_, Value::String(value)) => quoted(value),
            (_, Value::Bytes(value)) => quoted(&BASE64.encode(value)),
            (_, Value::SortKey(value)) => {
                format!(r#"{{"sort_key":{}}}"#, quoted(&BASE64.encode(value)))
            }
            (_, Value::Uuid(value)) => quoted(&uuid::Uuid::from_bytes(*value).to_string()),
            (_, Value::Timestamp(value, unit)) => unit.to_json(*value),
            (_, Value::Date(value)) => {
                date_of(*value).map_or(value.to_string(), |date| quoted(&date.to_string()))
            }
            (_, Value::Point2(value)) => format!("{:?}", value.to_degrees()).replace(' ', ""),
            (_, Value::Point3(value)) => format!("{:?}", value.to_degrees()).replace(' ', ""),
            (Type::Tuple(schema), Value::Tuple(values)) => schema.values_to_json(values),
            (Type::List(element), Value::Tuple(values)) => {
                to_array(values.iter().map(|value| (element.field_type(), value)))
            }
            // Not a list, so its elements have no type to say how; their own form will do.
            (ty, Value::Tuple(values)) => to_array(values.iter().map(|value| (ty, value))),
        }
    }

    /// The value of this type that JSON stands for; null is none.
    ///
    /// ```
    /// use stonecrop_keys::{Type, Value};
    /// assert_eq!(Type::Date.value_from_json(r#""1970-01-02""#)?, Value::Date(1));
    /// # Ok::<(), stonecrop_keys::Error>(())
    /// ```
    pub fn value_from_json(&self, json: &str) -> Result<Value<'static>> {
        from_json(&Field::new("", self.clone()), json)
    }
}

fn to_array<'a, 'v: 'a>(values: impl Iterator<Item = (&'a Type, &'a Value<'v>)>) -> String {
    let values: Vec<_> = values.map(|(ty, value)| ty.value_to_json(value)).collect();
    format!("[{}]", values.join(","))
}

fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// JSON has no number for what is not finite; a NaN other than the usual one gives its bits.
fn float_to_json(
    value: f64,
    usual_nan: bool,
    digits: impl FnOnce() -> String,
    bits: impl FnOnce() -> String,
) -> String {
    if value.is_finite() {
        digits()
    } else if value.is_nan() {
        quoted(&if usual_nan { "NaN".to_owned() } else { format!("bits:{}", bits()) })
    } else {
        quoted(if value > 0.0 { "Infinity" } else { "-Infinity" })
    }
}

fn from_array(fields: &[Field], json: &str) -> Result<Vec<Value<'static>>> {
    let elements = array(json)?;
    if elements.len() != fields.len() {
        return Err(wrong_count(elements.len(), fields.len()));
    }
    let pairs = fields.iter().zip(elements);
    pairs
        .map(|(field, element)| {
            from_json(field, element.get()).map_err(|error| error.in_field(field.name()))
        })
        .collect()
}

fn array(json: &str) -> Result<Vec<&RawValue>> {
    serde_json::from_str(json).map_err(|error| {
        // The place is of this text alone, which can be a line or a part of one.
        let reason = error.to_string();
        let reason = reason.split(" at line ").next().unwrap_or_default();
        Error::value(format!("expected a JSON array of values: {reason}"))
    })
}

fn from_json(field: &Field, json: &str) -> Result<Value<'static>> {
    if json == "null" {
        if field.nulls() == Nulls::NotAllowed {
            return Err(null_error());
        }
        return Ok(Value::Null);
    }
    Ok(match field.field_type() {
        Type::Bool => Value::Bool(match json {
            "true" => true,
            "false" => false,
            _ => return Err(expected("true or false", json)),
        }),
        Type::U8 | Type::U16 | Type::U32 | Type::U64 | Type::U128 | Type::Varuint => {
            parsed::<u128>(&unquoted(json), "an integer from 0 up", json)?.into()
        }
        Type::I8 | Type::I16 | Type::I32 | Type::I64 | Type::I128 | Type::Varint => {
            Value::Int(parsed(&unquoted(json), "an integer", json)?)
        }
        Type::F32 | Type::F32Exact => {
            Value::F32(float(json, f32::from_bits, |bits| u32::from_str_radix(bits, 16).ok())?)
        }
        Type::F64 | Type::F64Exact => {
            Value::F64(float(json, f64::from_bits, |bits| u64::from_str_radix(bits, 16).ok())?)
        }
        Type::Decimal => Value::Decimal(unquoted(json).parse()?),
        Type::String => Value::String(string("a string", json)?.into()),
        Type::Collated(_) => match json.starts_with('{') {
            true => Value::SortKey(sort_key(json)?.into()),
            false => Value::String(string("a string", json)?.into()),
        },
        Type::Bytes | Type::FixedBytes(_) | Type::Raw => Value::Bytes(base64(json)?.into()),
        Type::Uuid | Type::UuidV1 => {
            let text = string("a UUID", json)?;
            Value::Uuid(parsed::<uuid::Uuid>(&text, "a UUID", json)?.into_bytes())
        }
        Type::Timestamp(unit) => Value::Timestamp(unit.count_of(json)?, *unit),
        Type::Date => Value::Date(date(json)?),
        Type::Geo2(_) => {
            let [longitude, latitude] = coordinates("[longitude, latitude]", json)?;
            Value::Point2(Point2::from_degrees(longitude, latitude)?)
        }
        Type::Geo3(_) => {
            let [longitude, latitude, altitude] =
                coordinates("[longitude, latitude, altitude]", json)?;
            Value::Point3(Point3::from_degrees(longitude, latitude, altitude)?)
        }
        Type::Tuple(schema) => Value::Tuple(from_array(schema.fields(), json)?),
        Type::List(element) => {
            let elements = array(json)?.into_iter().enumerate();
            let values = elements.map(|(index, json)| {
                from_json(element, json.get()).map_err(|error| error.in_field(&index.to_string()))
            });
            Value::Tuple(values.collect::<Result<_>>()?)
        }
    })
}

#[cold]
fn expected(what: &str, json: &str) -> Error {
    let mut found: String = json.chars().take(60).collect();
    if found.len() < json.len() {
        found.push('…');
    }
    Error::value(format!("expected {what}, found {found}"))
}

fn parsed<T: std::str::FromStr>(text: &str, what: &str, json: &str) -> Result<T> {
    text.parse().map_err(|_| expected(what, json))
}

fn string(what: &str, json: &str) -> Result<String> {
    serde_json::from_str(json).map_err(|_| expected(what, json))
}

/// The text of a number, which may stand in quotes so that no reader has rounded it.
fn unquoted(json: &str) -> Cow<'_, str> {
    match serde_json::from_str::<String>(json) {
        Ok(text) => Cow::Owned(text),
        Err(_) => Cow::Borrowed(json),
    }
}

fn float<F: std::str::FromStr + Into<f64> + Copy, B>(
    json: &str,
    from_bits: impl FnOnce(B) -> F,
    parse_bits: impl FnOnce(&str) -> Option<B>,
) -> Result<F> {
    const WHAT: &str = "a number in range, \"NaN\", \"Infinity\" or \"-Infinity\"";
    let text = unquoted(json);
    if let Some(bits) = text.strip_prefix("bits:") {
        return parse_bits(bits).map(from_bits).ok_or_else(|| expected(WHAT, json));
    }
    let named = matches!(&*text, "NaN" | "Infinity" | "-Infinity");
    let number: F = parsed(&text, WHAT, json)?;
    // A number too large for the type parses as infinity, which is not what was written.
    if named || number.into().is_finite() { Ok(number) } else { Err(expected(WHAT, json)) }
}

fn base64(json: &str) -> Result<Vec<u8>> {
    let text = string("base64 in a string", json)?;
    BASE64.decode(&text).map_err(|error| Error::value(format!("{text:?} is not base64: {error}")))
}

fn sort_key(json: &str) -> Result<Vec<u8>> {
    let object: std::collections::BTreeMap<&str, &RawValue> =
        serde_json::from_str(json).map_err(|_| expected("a string or a sort_key", json))?;
    match object.into_iter().collect::<Vec<_>>().as_slice() {
        [("sort_key", key)] => base64(key.get()),
        _ => Err(expected(r#"a string or {"sort_key": "..."}"#, json)),
    }
}

/// From the text of the numbers: serde_json's own floats are off by a bit now and then.
fn coordinates<const D: usize>(what: &str, json: &str) -> Result<[f64; D]> {
    let numbers: Vec<&RawValue> = serde_json::from_str(json).map_err(|_| expected(what, json))?;
    let numbers = numbers.iter().map(|number| parsed(number.get(), what, json));
    numbers.collect::<Result<Vec<f64>>>()?.try_into().map_err(|_| expected(what, json))
}

impl TimeUnit {
    fn nanoseconds(self) -> i128 {
        match self {
            TimeUnit::Milliseconds => 1_000_000,
            TimeUnit::Microseconds => 1_000,
            TimeUnit::Nanoseconds => 1,
        }
    }

    /// RFC 3339, or the plain count for a time that has no four digits for its year.
    fn to_json(self, count: i64) -> String {
        match jiff::Timestamp::from_nanosecond(i128::from(count) * self.nanoseconds()) {
            Ok(time) if (FIRST_TIME..=LAST_TIME).contains(&time) => quoted(&time.to_string()),
            _ => count.to_string(),
        }
    }

    fn count_of(self, json: &str) -> Result<i64> {
        const WHAT: &str = "a time such as \"2024-01-15T10:00:00Z\", or a count since 1970";
        let Ok(text) = serde_json::from_str::<String>(json) else {
            return parsed(json, WHAT, json);
        };
        let nanoseconds = parsed::<jiff::Timestamp>(&text, WHAT, json)?.as_nanosecond();
        if nanoseconds % self.nanoseconds() != 0 {
            return Err(Error::value(format!(
                "{text} is finer than the field, which is {}; use timestamp(us) or timestamp(ns)",
                Type::Timestamp(self)
            )));
        }
        i64::try_from(nanoseconds / self.nanoseconds())
            .map_err(|_| Error::value(format!("{text} is out of the range of the field")))
    }
}

/// The year 0000, and the last whole second that is at most 9999 in every time zone.
const FIRST_TIME: jiff::Timestamp = jiff::Timestamp::constant(-62_167_219_200, 0);
const LAST_TIME: jiff::Timestamp = jiff::Timestamp::constant(253_402_207_200, 0);

const EPOCH: civil::Date = civil::Date::constant(1970, 1, 1);

/// None for a date that has no four digits for its year.
fn date_of(days: i32) -> Option<civil::Date> {
    let date = EPOCH.checked_add(jiff::Span::new().try_days(days).ok()?).ok()?;
    (date.year() >= 0).then_some(date)
}

fn date(json: &str) -> Result<i32> {
    const WHAT: &str = "a date such as \"2024-01-15\", or a count of days since 1970";
    let Ok(text) = serde_json::from_str::<String>(json) else {
        return parsed(json, WHAT, json);
    };
    let date: civil::Date = parsed(&text, WHAT, json)?;
    // A date and a time would parse too, and lose the time.
    if date.to_string() != text {
        return Err(expected(WHAT, json));
    }
    let days = EPOCH.until((jiff::Unit::Day, date)).map_err(|_| expected(WHAT, json))?;
    Ok(days.get_days())
}
