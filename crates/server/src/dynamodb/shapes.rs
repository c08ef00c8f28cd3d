//! The shapes of parameters: the service reads a whole request before it looks at any rule.

use serde_json::{Map, Value as Json};
use stonecrop_dynamodb::value::check_shape;

use super::refusal::{Refusal, Result};

/// What a parameter is in JSON.
#[derive(Clone, Copy)]
enum Shape {
    Text,
    Integer,
    Flag,
    /// Attribute values by name.
    Item,
    /// Attribute values in an order.
    Values,
    Texts,
    TextsByName,
    Object,
    Objects,
    Items,
    /// Their keys are texts, and no keys of items.
    Tags,
    ObjectsByName,
    ListsByName,
}

/// A name has the same shape in all operations but one.
fn shape_of(operation: &str, name: &str) -> Option<Shape> {
    Some(match name {
        "TableName"
        | "IndexName"
        | "ProjectionExpression"
        | "ConditionExpression"
        | "FilterExpression"
        | "KeyConditionExpression"
        | "UpdateExpression"
        | "ReturnValues"
        | "ReturnConsumedCapacity"
        | "ReturnItemCollectionMetrics"
        | "Select"
        | "ConditionalOperator"
        | "BillingMode"
        | "TableClass"
        | "ExclusiveStartTableName"
        | "ResourceArn"
        | "NextToken"
        | "Statement"
        | "ClientRequestToken"
        | "AttributeName"
        | "AttributeType"
        | "KeyType"
        | "ProjectionType"
        | "StreamViewType"
        | "StreamArn"
        | "ExclusiveStartStreamArn"
        | "ExclusiveStartShardId"
        | "ShardId"
        | "ShardIterator"
        | "ShardIteratorType"
        | "SequenceNumber"
        | "ReturnValuesOnConditionCheckFailure" => Shape::Text,
        "Limit" | "Segment" | "TotalSegments" | "ReadCapacityUnits" | "WriteCapacityUnits" => {
            Shape::Integer
        }
        "ConsistentRead"
        | "ScanIndexForward"
        | "DeletionProtectionEnabled"
        | "Enabled"
        | "StreamEnabled" => Shape::Flag,
        "Key" | "Item" | "ExclusiveStartKey" | "ExpressionAttributeValues" => Shape::Item,
        "Parameters" => Shape::Values,
        "Keys" => Shape::Items,
        "AttributesToGet" | "NonKeyAttributes" | "TagKeys" => Shape::Texts,
        "ExpressionAttributeNames" => Shape::TextsByName,
        "Projection"
        | "ProvisionedThroughput"
        | "TimeToLiveSpecification"
        | "StreamSpecification"
        | "ShardFilter"
        | "PutRequest"
        | "DeleteRequest"
        | "Put"
        | "Delete"
        | "Update"
        | "Get"
        | "ConditionCheck"
        | "Create" => Shape::Object,
        "KeySchema"
        | "AttributeDefinitions"
        | "LocalSecondaryIndexes"
        | "GlobalSecondaryIndexes"
        | "GlobalSecondaryIndexUpdates"
        | "TransactItems"
        | "Statements"
        | "TransactStatements" => Shape::Objects,
        "Tags" => Shape::Tags,
        "Expected" | "AttributeUpdates" | "KeyConditions" | "QueryFilter" | "ScanFilter" => {
            Shape::ObjectsByName
        }
        "RequestItems" if operation == "BatchGetItem" => Shape::ObjectsByName,
        "RequestItems" => Shape::ListsByName,
        _ => return None,
    })
}

/// Refuses parameters that are of another shape than theirs; what nobody knows is let be.
pub(super) fn check(operation: &str, fields: &Map<String, Json>) -> Result<()> {
    for (name, json) in fields.iter().filter(|(_, json)| !json.is_null()) {
        if let Some(shape) = shape_of(operation, name) {
            check_one(operation, shape, json)?;
        }
    }
    Ok(())
}

fn check_one(operation: &str, shape: Shape, json: &Json) -> Result<()> {
    let inner = |json: &Json| match json {
        Json::Object(fields) => check(operation, fields),
        other => Err(not_an_object(other)),
    };
    let values = |fields: &Map<String, Json>| -> Result<()> {
        fields.values().try_for_each(|json| Ok(check_shape(json)?))
    };
    match shape {
        Shape::Text => text(json),
        Shape::Integer => match json {
            Json::Number(number) if number.is_i64() || number.is_u64() => Ok(()),
            other => Err(not_a(other, "Integer")),
        },
        Shape::Flag => match json {
            Json::Bool(_) => Ok(()),
            Json::String(_) => Err(Refusal::serialization("Unexpected token received from parser")),
            other => Err(not_a(other, "Boolean")),
        },
        Shape::Item => values(object(json)?),
        Shape::Values => list(json)?.iter().try_for_each(|json| Ok(check_shape(json)?)),
        Shape::Items => list(json)?.iter().try_for_each(|json| values(object(json)?)),
        Shape::Tags => {
            list(json)?.iter().try_for_each(|json| object(json)?.values().try_for_each(text))
        }
        Shape::Texts => list(json)?.iter().try_for_each(text),
        Shape::TextsByName => object(json)?.values().try_for_each(text),
        Shape::Object => inner(json),
        Shape::Objects => list(json)?.iter().try_for_each(inner),
        Shape::ObjectsByName => object(json)?.values().try_for_each(inner),
        Shape::ListsByName => {
            object(json)?.values().try_for_each(|json| list(json)?.iter().try_for_each(inner))
        }
    }
}

fn text(json: &Json) -> Result<()> {
    match json {
        Json::String(_) => Ok(()),
        other => Err(not_a(other, "String")),
    }
}

fn object(json: &Json) -> Result<&Map<String, Json>> {
    json.as_object().ok_or_else(|| not_an_object(json))
}

fn list(json: &Json) -> Result<&Vec<Json>> {
    json.as_array().ok_or_else(|| match json {
        Json::Object(_) => {
            Refusal::serialization("Start of structure or map found where not expected")
        }
        _ => Refusal::serialization("Unexpected field type"),
    })
}

fn not_an_object(json: &Json) -> Refusal {
    Refusal::serialization(match json {
        Json::Array(_) => "Unrecognized collection type java.util.Map",
        _ => "Unexpected value type in payload",
    })
}

/// The service's words for a scalar that is another.
fn not_a(json: &Json, wanted: &str) -> Refusal {
    let found = match json {
        Json::Object(_) => {
            return Refusal::serialization("Start of structure or map found where not expected");
        }
        Json::Array(_) => {
            let message = format!("Unrecognized collection type class java.lang.{wanted}");
            return Refusal::serialization(message);
        }
        Json::Bool(true) => "TRUE_VALUE",
        Json::Bool(false) => "FALSE_VALUE",
        Json::Number(number) if number.is_f64() => "DECIMAL_VALUE",
        Json::Number(_) => "NUMBER_VALUE",
        Json::String(_) => "STRING_VALUE",
        Json::Null => "NULL_VALUE",
    };
    Refusal::serialization(format!("{found} cannot be converted to {wanted}"))
}
