//! The parameters that expressions replaced, turned into the same conditions, updates and
//! projections.
//!
//! They name whole attributes, whatever is in the names: `a.b` is an attribute here, not a path.
//!
//! ```
//! use serde_json::json;
//! use stonecrop_dynamodb::legacy;
//! use stonecrop_dynamodb::value::Item;
//! let expected = json!({"id": {"Exists": false}});
//! assert!(legacy::expected(expected, None)?.matches(&Item::new()));
//! # Ok::<(), stonecrop_dynamodb::Error>(())
//! ```

mod condition;
mod expected;
mod operator;
mod update;

use stonecrop::Path;

pub use condition::{Filter, filter, key_conditions};
pub use expected::expected;
pub use update::attribute_updates;

use serde_json::{Map, Value as Json};

use crate::error::{Error, Result};
use crate::expression::{Condition, Projection};

const INVALID: &str = "One or more parameter values were invalid: ";

/// Reads `AttributesToGet`.
///
/// ```
/// use stonecrop_dynamodb::legacy::attributes_to_get;
/// assert_eq!(attributes_to_get(["a", "b.c"])?.paths().len(), 2);
/// assert_eq!(
///     attributes_to_get(["a", "a"]).unwrap_err().message(),
///     "One or more parameter values were invalid: Duplicate value in attribute name: a"
/// );
/// # Ok::<(), stonecrop_dynamodb::Error>(())
/// ```
pub fn attributes_to_get<S: AsRef<str>>(names: impl IntoIterator<Item = S>) -> Result<Projection> {
    let mut paths: Vec<Path> = Vec::new();
    for name in names {
        let name = name.as_ref();
        if paths.iter().any(|path| path.column() == name) {
            let problem = format!("{INVALID}Duplicate value in attribute name: {name}");
            return Err(Error::validation(problem));
        }
        paths.push(Path::new(name));
    }
    Ok(Projection::new(paths))
}

/// Refuses a request with parameters of both kinds, and placeholders without expressions.
///
/// The parameters are those of the operation in the service's order, each with whether the request
/// has it; `names` and `values` tell whether it has `ExpressionAttributeNames` and
/// `ExpressionAttributeValues`.
///
/// ```
/// use stonecrop_dynamodb::legacy::check_parameters;
/// let expressions = [("UpdateExpression", true), ("ConditionExpression", false)];
/// let others = [("AttributeUpdates", true), ("Expected", true)];
/// assert_eq!(
///     check_parameters(&expressions, &others, false, false).unwrap_err().message(),
///     "Can not use both expression and non-expression parameters in the same request: \
///      Non-expression parameters: {AttributeUpdates, Expected} \
///      Expression parameters: {UpdateExpression}"
/// );
/// let expressions = [("ConditionExpression", false)];
/// assert_eq!(
///     check_parameters(&expressions, &[], false, true).unwrap_err().message(),
///     "ExpressionAttributeValues can only be specified when using expressions: \
///      ConditionExpression is null"
/// );
/// ```
pub fn check_parameters(
    expressions: &[(&str, bool)],
    others: &[(&str, bool)],
    names: bool,
    values: bool,
) -> Result<()> {
    let given = |parameters: &[(&str, bool)]| -> Vec<String> {
        let given = parameters.iter().filter(|(_, given)| *given);
        given.map(|(name, _)| (*name).to_owned()).collect()
    };
    let used = given(expressions);
    let has = |name: &str| expressions.contains(&(name, true));
    let mut unused = given(others);
    // A query by `KeyConditions` may still have a `FilterExpression`.
    if !has("KeyConditionExpression") {
        unused.retain(|name| name != "KeyConditions");
    }
    if !used.is_empty() && !unused.is_empty() {
        return Err(Error::validation(format!(
            "Can not use both expression and non-expression parameters in the same request: \
             Non-expression parameters: {{{}}} Expression parameters: {{{}}}",
            unused.join(", "),
            used.join(", ")
        )));
    }
    if names && used.is_empty() {
        let problem = "ExpressionAttributeNames can only be specified when using expressions";
        return Err(Error::validation(problem));
    }
    let with_values: Vec<&str> = expressions
        .iter()
        .map(|(name, _)| *name)
        .filter(|name| *name != "ProjectionExpression")
        .collect();
    if values && !with_values.is_empty() && !with_values.iter().any(|name| has(name)) {
        let are = if with_values.len() > 1 { "are" } else { "is" };
        return Err(Error::validation(format!(
            "ExpressionAttributeValues can only be specified when using expressions: {} {are} null",
            with_values.join(" and ")
        )));
    }
    Ok(())
}

/// Refuses a `ConditionalOperator` with nothing, or one condition, to be between.
///
/// ```
/// use stonecrop_dynamodb::legacy::check_conditional_operator;
/// assert!(check_conditional_operator(None, 0).is_ok());
/// assert_eq!(
///     check_conditional_operator(Some("AND"), 0).unwrap_err().message(),
///     "ConditionalOperator cannot be used without Filter or Expected"
/// );
/// ```
pub fn check_conditional_operator(operator: Option<&str>, conditions: usize) -> Result<()> {
    match (operator, conditions) {
        (Some(_), 0) => {
            Err(Error::validation("ConditionalOperator cannot be used without Filter or Expected"))
        }
        (Some(_), 1) => Err(Error::validation(
            "ConditionalOperator can only be used when Filter or Expected has two or more elements",
        )),
        _ => Ok(()),
    }
}

/// All of the conditions or one of them, as `ConditionalOperator` says.
fn join(conditions: Vec<Condition>, operator: Option<&str>) -> Result<Condition> {
    match operator {
        None | Some("AND") => Ok(Condition::All(conditions)),
        Some("OR") if conditions.is_empty() => Ok(Condition::All(conditions)),
        Some("OR") => Ok(Condition::Any(conditions)),
        Some(other) => Err(not_one_of(other, "conditionalOperator", "OR, AND")),
    }
}

fn not_one_of(value: &str, place: &str, values: &str) -> Error {
    Error::validation(format!(
        "1 validation error detected: Value '{value}' at '{place}' failed to satisfy constraint: \
         Member must satisfy enum value set: [{values}]"
    ))
}

/// The entries of a parameter, which are objects by the names of attributes.
fn entries(json: Json) -> Result<Vec<(String, Map<String, Json>)>> {
    let Json::Object(entries) = json else {
        return Err(Error::serialization("Unexpected field type"));
    };
    let read = |(name, json): (String, Json)| match json {
        Json::Object(fields) => Ok((name, fields)),
        _ => Err(Error::serialization("Unexpected value type in payload")),
    };
    entries.into_iter().map(read).collect()
}

/// A field that is there and is no null.
fn take(fields: &mut Map<String, Json>, name: &str) -> Option<Json> {
    fields.remove(name).filter(|json| !json.is_null())
}

/// A text, if the field is there.
fn take_text(fields: &mut Map<String, Json>, name: &str) -> Result<Option<String>> {
    match take(fields, name) {
        None => Ok(None),
        Some(Json::String(text)) => Ok(Some(text)),
        Some(_) => Err(Error::serialization("Unexpected field type")),
    }
}
