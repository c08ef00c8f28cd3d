//! The expressions of a request, or the parameters that they replaced.

use stonecrop_dynamodb::expression::{Condition, Placeholders, Projection, Update};
use stonecrop_dynamodb::legacy;

use serde_json::Value as Json;

use super::input::Input;
use super::refusal::Result;

/// Refuses both kinds of parameters in one request.
pub(super) fn check_kinds(input: &Input, expressions: &[&str], others: &[&str]) -> Result<()> {
    fn known<'n>(input: &Input, names: &[&'n str]) -> Vec<(&'n str, bool)> {
        names.iter().map(|name| (*name, input.has(name))).collect()
    }
    legacy::check_parameters(
        &known(input, expressions),
        &known(input, others),
        input.has("ExpressionAttributeNames"),
        input.has("ExpressionAttributeValues"),
    )?;
    Ok(())
}

pub(super) fn placeholders(input: &mut Input) -> Result<Placeholders> {
    let names = input.take("ExpressionAttributeNames");
    Ok(Placeholders::from_json(names, input.take("ExpressionAttributeValues"))?)
}

/// The condition of a write.
pub(super) fn condition(
    input: &mut Input,
    placeholders: &mut Placeholders,
) -> Result<Option<Condition>> {
    if let Some(text) = input.text("ConditionExpression") {
        return Ok(Some(Condition::parse(text, placeholders)?));
    }
    expected(input)
}

/// The older form of the same.
pub(super) fn expected(input: &mut Input) -> Result<Option<Condition>> {
    let expected = input.take("Expected");
    let operator = input.text("ConditionalOperator");
    let conditions = expected.as_ref().and_then(Json::as_object).map_or(0, |fields| fields.len());
    legacy::check_conditional_operator(operator, conditions)?;
    Ok(match expected {
        Some(expected) => Some(legacy::expected(expected, operator)?),
        None => None,
    })
}

pub(super) fn projection(
    input: &mut Input,
    placeholders: &mut Placeholders,
) -> Result<Option<Projection>> {
    if let Some(text) = input.text("ProjectionExpression") {
        return Ok(Some(Projection::parse(text, placeholders)?));
    }
    listed(input)
}

/// The older form of the same.
pub(super) fn listed(input: &Input) -> Result<Option<Projection>> {
    if !input.has("AttributesToGet") {
        return Ok(None);
    }
    let names = input.list("AttributesToGet").iter().filter_map(Json::as_str);
    Ok(Some(legacy::attributes_to_get(names)?))
}

pub(super) fn update(input: &mut Input, placeholders: &mut Placeholders) -> Result<Option<Update>> {
    if let Some(text) = input.text("UpdateExpression") {
        return Ok(Some(Update::parse(text, placeholders)?));
    }
    Ok(match input.take("AttributeUpdates") {
        Some(json) => Some(legacy::attribute_updates(json)?),
        None => None,
    })
}
