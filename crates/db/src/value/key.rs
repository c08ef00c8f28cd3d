//! The values of a row's key, as values of columns.

use stonecrop_keys::{Date, Decimal, TimeUnit, Uuid, Value as KeyValue};

use super::Value;
use crate::clock::Timestamp;

impl Value {
    /// What a field of a key holds, as conditions see it.
    ///
    /// Whole numbers beyond an int are decimals, or the nearest float where they have more digits
    /// than a decimal; times are in microseconds, rounded down; tuples, lists and points in degrees
    /// are lists; a collated text is the bytes of its sort key.
    ///
    /// ```
    /// use stonecrop::{Value, keys};
    /// assert_eq!(Value::from_key(&keys::Value::Int(7)), Value::Int(7));
    /// assert_eq!(Value::from_key(&keys::Value::from("acme")), Value::from("acme"));
    /// let large = Value::from_key(&keys::Value::from(u64::MAX));
    /// assert_eq!(large, Value::Decimal("18446744073709551615".parse()?));
    /// # Ok::<(), keys::Error>(())
    /// ```
    pub fn from_key(value: &KeyValue<'_>) -> Self {
        match value {
            KeyValue::Null => Value::Null,
            KeyValue::Bool(value) => Value::Bool(*value),
            KeyValue::Int(value) => match i64::try_from(*value) {
                Ok(value) => Value::Int(value),
                Err(_) => large(&value.to_string(), *value as f64),
            },
            KeyValue::Uint(value) => large(&value.to_string(), *value as f64),
            KeyValue::F32(value) => Value::Float(f64::from(*value)),
            KeyValue::F64(value) => Value::Float(*value),
            KeyValue::Decimal(value) => Value::Decimal(*value),
            KeyValue::String(value) => Value::String(value.as_ref().to_owned()),
            KeyValue::Bytes(value) | KeyValue::SortKey(value) => {
                Value::Bytes(value.as_ref().to_owned())
            }
            KeyValue::Uuid(value) => Value::Uuid(Uuid(*value)),
            KeyValue::Timestamp(count, unit) => {
                Value::Timestamp(Timestamp::from_micros(match unit {
                    TimeUnit::Milliseconds => count.saturating_mul(1_000),
                    TimeUnit::Nanoseconds => count.div_euclid(1_000),
                    _ => *count,
                }))
            }
            KeyValue::Date(value) => Value::Date(Date(*value)),
            KeyValue::Point2(point) => Value::List(point.to_degrees().map(Value::Float).into()),
            KeyValue::Point3(point) => Value::List(point.to_degrees().map(Value::Float).into()),
            KeyValue::Tuple(values) => Value::List(values.iter().map(Value::from_key).collect()),
            // A kind that is not known here still has its text.
            other => Value::String(other.to_string()),
        }
    }
}

fn large(digits: &str, nearest: f64) -> Value {
    digits.parse::<Decimal>().map_or(Value::Float(nearest), Value::Decimal)
}

#[cfg(test)]
mod tests {
    use super::*;
    use stonecrop_keys::{Point2, TimestampMs, TimestampNs, TimestampUs};

    #[test]
    fn every_kind_of_key_field_becomes_a_value() {
        let time = |micros| Value::Timestamp(Timestamp::from_micros(micros));
        let decimal = |text: &str| Value::Decimal(text.parse().unwrap());
        for (key, value) in [
            (KeyValue::Null, Value::Null),
            (true.into(), true.into()),
            (i64::MIN.into(), Value::Int(i64::MIN)),
            (u64::MAX.into(), decimal("18446744073709551615")),
            ((-(1_i128 << 64)).into(), decimal("-18446744073709551616")),
            (u128::MAX.into(), Value::Float(u128::MAX as f64)),
            (1.5_f32.into(), Value::Float(1.5)),
            (0.1_f64.into(), Value::Float(0.1)),
            ("a".into(), "a".into()),
            ((&b"a"[..]).into(), (&b"a"[..]).into()),
            (KeyValue::SortKey((&b"s"[..]).into()), (&b"s"[..]).into()),
            (KeyValue::Uuid([7; 16]), Uuid([7; 16]).into()),
            (TimestampMs(-1).into(), time(-1_000)),
            (TimestampMs(i64::MAX).into(), time(i64::MAX)),
            (TimestampUs(5).into(), time(5)),
            (TimestampNs(-1).into(), time(-1)),
            (TimestampNs(1_999).into(), time(1)),
            (KeyValue::Date(3), Date(3).into()),
            (
                KeyValue::Tuple(vec![1.into(), "b".into()]),
                Value::List(vec![Value::Int(1), "b".into()]),
            ),
        ] {
            assert_eq!(Value::from_key(&key), value, "{key:?}");
        }
        let point = Point2::from_degrees(0.0, 0.0).unwrap();
        assert!(matches!(Value::from_key(&point.into()), Value::List(list) if list.len() == 2));
    }
}
