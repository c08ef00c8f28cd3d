//! `QueryFilter`, `ScanFilter` and `KeyConditions`: an operator and its values for each attribute.

use serde_json::Value as Json;
use stonecrop::Value;

use super::operator::{Operator, value_list};
use super::{entries, join, take, take_text};
use crate::error::{Error, Result};
use crate::expression::{Condition, KeyConditions};

/// Which filter a condition is, for the messages about it.
///
/// ```
/// use stonecrop_dynamodb::legacy::Filter;
/// assert_ne!(Filter::Query, Filter::Scan);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Filter {
    /// `QueryFilter`
    Query,
    /// `ScanFilter`
    Scan,
}

/// Reads `QueryFilter` or `ScanFilter`, and the `ConditionalOperator` between their conditions.
///
/// ```
/// use serde_json::json;
/// use stonecrop_dynamodb::legacy::{Filter, filter};
/// let of = |operator: &str, value: serde_json::Value| {
///     json!({"a": {"ComparisonOperator": operator, "AttributeValueList": [value]}})
/// };
/// assert!(filter(Filter::Scan, of("GT", json!({"N": "1"})), None).is_ok());
/// assert_eq!(
///     filter(Filter::Scan, of("GT", json!({"BOOL": true})), None).unwrap_err().message(),
///     "One or more parameter values were invalid: \
///      ComparisonOperator GT is not valid for BOOL AttributeValue type"
/// );
/// ```
pub fn filter(which: Filter, json: Json, operator: Option<&str>) -> Result<Condition> {
    let parameter = match which {
        Filter::Query => "queryFilter",
        Filter::Scan => "scanFilter",
    };
    let tests = read(json, parameter)?.into_iter();
    join(
        tests.map(|(name, operator, values)| operator.condition(&name, values)).collect(),
        operator,
    )
}

/// Reads `KeyConditions`.
///
/// ```
/// use serde_json::json;
/// use stonecrop_dynamodb::legacy::key_conditions;
/// let conditions = json!({"id": {"ComparisonOperator": "EQ", "AttributeValueList": [{"N": "1"}]}});
/// assert_eq!(key_conditions(conditions)?.tests().len(), 1);
/// # Ok::<(), stonecrop_dynamodb::Error>(())
/// ```
pub fn key_conditions(json: Json) -> Result<KeyConditions> {
    let tests = read(json, "keyConditions")?.into_iter();
    let tests = tests.map(|(name, operator, values)| (name, operator.key_test(values)));
    Ok(KeyConditions::from_tests(tests.collect()))
}

fn read(json: Json, parameter: &str) -> Result<Vec<(String, Operator, Vec<Value>)>> {
    let mut tests = Vec::new();
    for (name, mut fields) in entries(json)? {
        let place = format!("{parameter}.{name}.member.comparisonOperator");
        let Some(operator) = take_text(&mut fields, "ComparisonOperator")? else {
            return Err(Error::validation(format!(
                "1 validation error detected: Value null at '{place}' failed to satisfy \
                 constraint: Member must not be null"
            )));
        };
        tests.push((
            name,
            Operator::named(&operator, &place)?,
            take(&mut fields, "AttributeValueList"),
        ));
    }
    let read = |(name, operator, list): (String, Operator, Option<Json>)| {
        let values = value_list(list)?;
        operator.check(&values)?;
        Ok((name, operator, values))
    };
    tests.into_iter().map(read).collect()
}
