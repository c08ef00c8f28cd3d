//! `AttributeUpdates`: an action and a value for each attribute.

use serde_json::{Map, Value as Json};
use stonecrop::Path;

use super::{INVALID, entries, not_one_of, take, take_text};
use crate::error::{Error, Result};
use crate::expression::{Action, SetValue, Update};
use crate::value::{AttributeType, decode};

/// Reads `AttributeUpdates`.
///
/// ```
/// use serde_json::json;
/// use stonecrop_dynamodb::legacy::attribute_updates;
/// use stonecrop_dynamodb::value::{decode_item, encode_item};
/// let update = attribute_updates(json!({
///     "visits": {"Action": "ADD", "Value": {"N": "1"}},
///     "name": {"Value": {"S": "Ann"}},
///     "draft": {"Action": "DELETE"},
/// }))?;
/// let item = decode_item(json!({"visits": {"N": "41"}, "draft": {"BOOL": true}}))?;
/// assert_eq!(
///     encode_item(&update.apply(&item)?),
///     json!({"visits": {"N": "42"}, "name": {"S": "Ann"}})
/// );
/// # Ok::<(), stonecrop_dynamodb::Error>(())
/// ```
pub fn attribute_updates(json: Json) -> Result<Update> {
    let actions = entries(json)?.into_iter().map(|(name, fields)| action(&name, fields));
    Ok(Update::new(actions.collect::<Result<_>>()?))
}

fn action(name: &str, mut fields: Map<String, Json>) -> Result<Action> {
    let path = Path::new(name);
    let action = take_text(&mut fields, "Action")?;
    let action = action.as_deref().unwrap_or("PUT");
    if !["ADD", "PUT", "DELETE"].contains(&action) {
        let place = format!("attributeUpdates.{name}.member.action");
        return Err(not_one_of(action, &place, "ADD, PUT, DELETE"));
    }
    let Some(value) = take(&mut fields, "Value").map(decode).transpose()? else {
        return match action {
            "DELETE" => Ok(Action::Remove(path)),
            _ => Err(Error::validation(format!(
                "{INVALID}Only DELETE action is allowed when no attribute value is specified"
            ))),
        };
    };
    let of = AttributeType::of(&value);
    match action {
        "DELETE" if of.is_set() => Ok(Action::LegacyDelete(path, value)),
        "DELETE" => Err(Error::validation(format!(
            "{INVALID}DELETE action with value is not supported for the type {of}"
        ))),
        "ADD" if of.is_set() || matches!(of, AttributeType::Number | AttributeType::List) => {
            Ok(Action::LegacyAdd(path, value))
        }
        "ADD" => Err(Error::validation(format!(
            "{INVALID}ADD action is not supported for the type {of}"
        ))),
        _ => Ok(Action::Set(path, SetValue::Value(value))),
    }
}
