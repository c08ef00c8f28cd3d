//! `Expected`: for each attribute a value or its absence, or an operator and values.

use serde_json::{Map, Value as Json};
use stonecrop::Comparison;

use super::operator::{Operator, value_list};
use super::{INVALID, entries, join, take, take_text};
use crate::error::{Error, Result};
use crate::expression::Condition;
use crate::value::decode;

/// Reads `Expected`, and the `ConditionalOperator` between its conditions.
///
/// ```
/// use serde_json::json;
/// use stonecrop_dynamodb::legacy::expected;
/// use stonecrop_dynamodb::value::decode_item;
/// let condition = expected(
///     json!({"a": {"Value": {"N": "1"}}, "b": {"ComparisonOperator": "NULL"}}),
///     Some("OR"),
/// )?;
/// assert!(condition.matches(&decode_item(json!({"a": {"N": "1"}, "b": {"N": "2"}}))?));
/// assert!(!condition.matches(&decode_item(json!({"b": {"N": "2"}}))?));
/// # Ok::<(), stonecrop_dynamodb::Error>(())
/// ```
pub fn expected(json: Json, operator: Option<&str>) -> Result<Condition> {
    let conditions = entries(json)?.into_iter().map(|(name, fields)| one(&name, fields));
    join(conditions.collect::<Result<_>>()?, operator)
}

fn invalid<T>(problem: String) -> Result<T> {
    Err(Error::validation(format!("{INVALID}{problem}")))
}

fn one(name: &str, mut fields: Map<String, Json>) -> Result<Condition> {
    let value = take(&mut fields, "Value");
    let list = take(&mut fields, "AttributeValueList");
    let operator = take_text(&mut fields, "ComparisonOperator")?;
    let exists = match take(&mut fields, "Exists") {
        None => None,
        Some(Json::Bool(exists)) => Some(exists),
        Some(_) => return Err(Error::serialization("Unexpected field type")),
    };
    if value.is_some() && list.is_some() {
        return invalid(format!(
            "Value and AttributeValueList cannot be used together for Attribute: {name}"
        ));
    }
    match operator {
        Some(operator) => compared(name, &operator, value, list, exists),
        None if list.is_some() => invalid(format!(
            "AttributeValueList can only be used with a ComparisonOperator for Attribute: {name}"
        )),
        None => valued(name, value, exists),
    }
}

fn compared(
    name: &str,
    operator_name: &str,
    value: Option<Json>,
    list: Option<Json>,
    exists: Option<bool>,
) -> Result<Condition> {
    let place = format!("expected.{name}.member.comparisonOperator");
    let operator = Operator::named(operator_name, &place)?;
    if exists.is_some() {
        return invalid(format!(
            "Exists and ComparisonOperator cannot be used together for Attribute: {name}"
        ));
    }
    let takes_none = matches!(operator, Operator::Null | Operator::NotNull);
    if !takes_none && value.is_none() && list.is_none() {
        return invalid(format!(
            "Value or AttributeValueList must be used with ComparisonOperator: {operator_name} \
             for Attribute: {name}"
        ));
    }
    let values = match value {
        Some(value) => vec![decode(value)?],
        None => value_list(list)?,
    };
    operator.check(&values)?;
    Ok(operator.condition(name, values))
}

fn valued(name: &str, value: Option<Json>, exists: Option<bool>) -> Result<Condition> {
    match (exists, value) {
        (Some(false), None) => Ok(Operator::Null.condition(name, Vec::new())),
        (Some(false), Some(_)) => {
            invalid(format!("Value cannot be used when Exists is false for Attribute: {name}"))
        }
        (exists, None) => {
            let exists = if exists.is_some() { "true" } else { "null" };
            invalid(format!("Value must be provided when Exists is {exists} for Attribute: {name}"))
        }
        (_, Some(value)) => {
            Ok(Operator::Compare(Comparison::Eq).condition(name, vec![decode(value)?]))
        }
    }
}
