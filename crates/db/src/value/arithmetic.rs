//! Sums: exact for whole numbers and decimals.

use stonecrop_keys::Decimal;

use super::{Value, compare::exact};

/// The sum of two numbers, or what is wrong. A float makes the sum a float, a decimal a decimal.
pub(crate) fn add(a: &Value, b: &Value) -> Result<Value, String> {
    match (a, b) {
        (Value::Int(a), Value::Int(b)) => a.checked_add(*b).map(Value::Int).ok_or_else(|| {
            format!("{a} plus {b} is more than an int of 64 bits holds; use a decimal")
        }),
        (Value::Float(a), Value::Float(b)) => Ok(Value::Float(a + b)),
        (Value::Float(float), Value::Int(int)) | (Value::Int(int), Value::Float(float)) => {
            Ok(Value::Float(float + *int as f64))
        }
        (Value::Int(_) | Value::Decimal(_), Value::Int(_) | Value::Decimal(_)) => {
            let (Some(exact_a), Some(exact_b)) = (exact(a), exact(b)) else {
                return Err("not numbers".to_owned());
            };
            let sum = (exact_a + exact_b).normalized().to_scientific_notation();
            sum.parse::<Decimal>().map(Value::Decimal).map_err(|error| format!("the sum: {error}"))
        }
        _ => Err(format!("{} can't be added to {}", b.column_type(), a.column_type())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decimal(text: &str) -> Value {
        Value::Decimal(text.parse().unwrap())
    }

    #[test]
    fn sums_of_decimals_are_exact_to_38_digits() {
        assert_eq!(add(&decimal("0.1"), &decimal("0.2")), Ok(decimal("0.3")));
        assert_eq!(
            add(&decimal("1e37"), &Value::Int(1)),
            Ok(decimal("10000000000000000000000000000000000001"))
        );
        assert_eq!(add(&decimal("1.5"), &decimal("-1.5")), Ok(decimal("0")));
        assert!(add(&decimal("1e60"), &decimal("1e-60")).is_err());
    }

    #[test]
    fn a_sum_that_does_not_fit_is_an_error() {
        assert_eq!(add(&Value::Int(i64::MAX - 1), &Value::Int(1)), Ok(Value::Int(i64::MAX)));
        let problem = add(&Value::Int(i64::MAX), &Value::Int(1)).unwrap_err();
        assert!(problem.contains("use a decimal"), "{problem}");
        assert!(
            add(&"a".into(), &Value::Int(1)).unwrap_err().contains("int can't be added to string")
        );
    }
}
