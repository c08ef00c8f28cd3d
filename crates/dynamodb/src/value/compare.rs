//! Which values are equal, and which of two is the larger.

use std::cmp::Ordering;

use memchr::memmem;
use stonecrop::Value;

use super::Seen;

/// Whether two values are the same to the service: of one type, with the same content.
///
/// ```
/// use stonecrop::Value;
/// use stonecrop_dynamodb::value::{decode, equal};
/// // Numbers are equal by value, whatever native types hold them.
/// assert!(equal(&Value::Int(5), &decode(serde_json::json!({"N": "5.0"}))?));
/// assert!(!equal(&Value::Int(5), &"5".into()));
/// # Ok::<(), stonecrop_dynamodb::Error>(())
/// ```
pub fn equal(a: &Value, b: &Value) -> bool {
    match (Seen::of(a), Seen::of(b)) {
        (Seen::Text(a), Seen::Text(b)) => a == b,
        (Seen::Number(a), Seen::Number(b)) => a == b,
        (Seen::Bytes(a), Seen::Bytes(b)) => a == b,
        (Seen::Bool(a), Seen::Bool(b)) => a == b,
        (Seen::Null, Seen::Null) => true,
        (Seen::List(a), Seen::List(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| equal(a, b))
        }
        (Seen::Map(a), Seen::Map(b)) => {
            let same = |((a_name, a), (b_name, b)): ((&String, _), (&String, _))| {
                a_name == b_name && equal(a, b)
            };
            a.len() == b.len() && a.iter().zip(b).all(same)
        }
        (Seen::StringSet(a), Seen::StringSet(b)) => a == b,
        (Seen::NumberSet(a), Seen::NumberSet(b)) => a == b,
        (Seen::BytesSet(a), Seen::BytesSet(b)) => a == b,
        _ => false,
    }
}

/// The order of two strings, numbers or binaries; none of anything else, or of different types.
///
/// ```
/// use std::cmp::Ordering;
/// use stonecrop_dynamodb::value::order;
/// assert_eq!(order(&2.into(), &10.into()), Some(Ordering::Less));
/// assert_eq!(order(&2.into(), &"10".into()), None);
/// ```
pub fn order(a: &Value, b: &Value) -> Option<Ordering> {
    match (Seen::of(a), Seen::of(b)) {
        (Seen::Text(a), Seen::Text(b)) => Some(a.cmp(&b)),
        (Seen::Number(a), Seen::Number(b)) => Some(a.cmp(&b)),
        (Seen::Bytes(a), Seen::Bytes(b)) => Some(a.cmp(b)),
        _ => None,
    }
}

/// Whether a string or binary begins with another.
pub(crate) fn begins_with(whole: &Value, start: &Value) -> bool {
    match (Seen::of(whole), Seen::of(start)) {
        (Seen::Text(whole), Seen::Text(start)) => whole.starts_with(start.as_ref()),
        (Seen::Bytes(whole), Seen::Bytes(start)) => whole.starts_with(start),
        _ => false,
    }
}

/// Whether a string or binary has another in it, or a set or a list an element.
pub(crate) fn contains(whole: &Value, part: &Value) -> bool {
    match (Seen::of(whole), Seen::of(part)) {
        (Seen::List(values), _) => values.iter().any(|value| equal(value, part)),
        (Seen::Text(whole), Seen::Text(part)) => {
            memmem::find(whole.as_bytes(), part.as_bytes()).is_some()
        }
        (Seen::Bytes(whole), Seen::Bytes(part)) => memmem::find(whole, part).is_some(),
        (Seen::StringSet(values), Seen::Text(part)) => values.contains(part.as_ref()),
        (Seen::NumberSet(values), Seen::Number(part)) => values.contains(&part),
        (Seen::BytesSet(values), Seen::Bytes(part)) => values.contains(part),
        _ => false,
    }
}
