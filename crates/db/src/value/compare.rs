//! Which of two values is the larger. Numbers compare by value, whatever their types.

use std::cmp::Ordering;
use std::str::FromStr;

use bigdecimal::{BigDecimal, FromPrimitive};

use super::Value;

/// The order of two values; none where they can't be compared, as a text and a number.
pub(crate) fn compare(a: &Value, b: &Value) -> Option<Ordering> {
    use Value as V;
    Some(match (a, b) {
        (V::Null, V::Null) => Ordering::Equal,
        (V::Bool(a), V::Bool(b)) => a.cmp(b),
        (V::Int(a), V::Int(b)) => a.cmp(b),
        (V::Float(a), V::Float(b)) => float_order(*a, *b),
        (V::Decimal(a), V::Decimal(b)) => a.cmp(b),
        (V::Int(_) | V::Float(_) | V::Decimal(_), V::Int(_) | V::Float(_) | V::Decimal(_)) => {
            mixed_order(a, b)?
        }
        (V::String(a), V::String(b)) => a.cmp(b),
        (V::Bytes(a), V::Bytes(b)) => a.cmp(b),
        (V::Timestamp(a), V::Timestamp(b)) => a.cmp(b),
        (V::Date(a), V::Date(b)) => a.cmp(b),
        (V::Uuid(a), V::Uuid(b)) => a.0.cmp(&b.0),
        (V::List(a), V::List(b)) => {
            for (a, b) in a.iter().zip(b) {
                match compare(a, b)? {
                    Ordering::Equal => {}
                    order => return Some(order),
                }
            }
            a.len().cmp(&b.len())
        }
        // Maps and sets are equal or not; neither is the larger.
        (V::Map(a), V::Map(b)) => {
            let same = a.len() == b.len()
                && a.iter().zip(b).all(|((a_name, a), (b_name, b))| {
                    a_name == b_name && compare(a, b) == Some(Ordering::Equal)
                });
            return same.then_some(Ordering::Equal);
        }
        (V::StringSet(a), V::StringSet(b)) => return (a == b).then_some(Ordering::Equal),
        (V::NumberSet(a), V::NumberSet(b)) => return (a == b).then_some(Ordering::Equal),
        (V::BytesSet(a), V::BytesSet(b)) => return (a == b).then_some(Ordering::Equal),
        _ => return None,
    })
}

/// An order of all values: those of different kinds are in the order of their kinds.
pub(crate) fn total_order(a: &Value, b: &Value) -> Ordering {
    use Value as V;
    let all = |mut pairs: Vec<Ordering>, lengths: Ordering| {
        pairs.push(lengths);
        pairs.into_iter().find(|order| *order != Ordering::Equal).unwrap_or(Ordering::Equal)
    };
    match (a, b) {
        (V::List(a), V::List(b)) => {
            let pairs = a.iter().zip(b).map(|(a, b)| total_order(a, b));
            all(pairs.collect(), a.len().cmp(&b.len()))
        }
        (V::Map(a), V::Map(b)) => {
            let pairs = a.iter().zip(b).map(|((a_name, a), (b_name, b))| {
                a_name.cmp(b_name).then_with(|| total_order(a, b))
            });
            all(pairs.collect(), a.len().cmp(&b.len()))
        }
        (V::StringSet(a), V::StringSet(b)) => a.cmp(b),
        (V::NumberSet(a), V::NumberSet(b)) => a.cmp(b),
        (V::BytesSet(a), V::BytesSet(b)) => a.cmp(b),
        _ => compare(a, b).unwrap_or_else(|| kind(a).cmp(&kind(b))),
    }
}

fn kind(value: &Value) -> u8 {
    match value {
        Value::Null => 0,
        Value::Bool(_) => 1,
        Value::Int(_) | Value::Float(_) | Value::Decimal(_) => 2,
        Value::String(_) => 3,
        Value::Bytes(_) => 4,
        Value::Timestamp(_) => 5,
        Value::Date(_) => 6,
        Value::Uuid(_) => 7,
        Value::List(_) => 8,
        Value::Map(_) => 9,
        Value::StringSet(_) => 10,
        Value::NumberSet(_) => 11,
        Value::BytesSet(_) => 12,
    }
}

/// As in keys: -0 is +0, and NaN is one value above infinity.
pub(super) fn float_order(a: f64, b: f64) -> Ordering {
    a.partial_cmp(&b).unwrap_or_else(|| a.is_nan().cmp(&b.is_nan()))
}

fn mixed_order(a: &Value, b: &Value) -> Option<Ordering> {
    match (a, b) {
        (Value::Int(a), Value::Float(b)) => return Some(int_float_order(*a, *b)),
        (Value::Float(a), Value::Int(b)) => return Some(int_float_order(*b, *a).reverse()),
        _ => {}
    }
    for (value, order) in [(a, Ordering::Less), (b, Ordering::Greater)] {
        if let Value::Float(float) = value
            && !float.is_finite()
        {
            let low = *float == f64::NEG_INFINITY;
            return Some(if low { order } else { order.reverse() });
        }
    }
    Some(exact(a)?.cmp(&exact(b)?))
}

/// Exact, unlike either number as the type of the other.
pub(super) fn int_float_order(int: i64, float: f64) -> Ordering {
    /// Beyond all ints; its negative is the least of them.
    const BEYOND: f64 = 9_223_372_036_854_775_808.0;
    if float.is_nan() || float >= BEYOND {
        return Ordering::Less;
    }
    if float < -BEYOND {
        return Ordering::Greater;
    }
    int.cmp(&(float.trunc() as i64)).then_with(|| float_order(0.0, float.fract()))
}

/// A finite number, exactly.
pub(super) fn exact(value: &Value) -> Option<BigDecimal> {
    match value {
        Value::Int(value) => Some(BigDecimal::from(*value)),
        Value::Float(value) => BigDecimal::from_f64(*value),
        Value::Decimal(value) => BigDecimal::from_str(&value.to_string()).ok(),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decimal(text: &str) -> Value {
        Value::Decimal(text.parse().unwrap())
    }

    #[test]
    fn numbers_of_different_types_compare_by_value() {
        let ascending = [
            Value::Float(f64::NEG_INFINITY),
            decimal("-1e100"),
            Value::Int(i64::MIN),
            Value::Float(-0.5),
            decimal("0.1"),
            // The float nearest to 0.1 is a little above it.
            Value::Float(0.1),
            Value::Int(9_007_199_254_740_993),
            decimal("9007199254740993.5"),
            Value::Float(9_007_199_254_740_994.0),
            Value::Float(f64::INFINITY),
            Value::Float(f64::NAN),
        ];
        for (i, a) in ascending.iter().enumerate() {
            for (j, b) in ascending.iter().enumerate() {
                assert_eq!(compare(a, b), Some(i.cmp(&j)), "{a:?} and {b:?}");
            }
        }
        assert_eq!(compare(&Value::Int(5), &decimal("5.00")), Some(Ordering::Equal));
        assert_eq!(compare(&Value::Float(0.0), &Value::Float(-0.0)), Some(Ordering::Equal));
    }

    #[test]
    fn ints_and_floats_compare_exactly_at_the_edges() {
        let edge = 9_223_372_036_854_775_808.0;
        for (int, float, order) in [
            (i64::MAX, edge, Ordering::Less),
            (i64::MIN, -edge, Ordering::Equal),
            (i64::MIN, -edge * 2.0, Ordering::Greater),
            (0, -0.0, Ordering::Equal),
            (-1, -1.5, Ordering::Greater),
            (-2, -1.5, Ordering::Less),
            (1, 1.5, Ordering::Less),
            (9_007_199_254_740_993, 9_007_199_254_740_992.0, Ordering::Greater),
        ] {
            assert_eq!(compare(&Value::Int(int), &Value::Float(float)), Some(order));
            assert_eq!(compare(&Value::Float(float), &Value::Int(int)), Some(order.reverse()));
        }
    }

    #[test]
    fn values_of_different_kinds_do_not_compare() {
        assert_eq!(compare(&"1".into(), &Value::Int(1)), None);
        assert_eq!(compare(&Value::Null, &Value::Int(1)), None);
    }
}
