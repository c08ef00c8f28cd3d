//! The shapes of parameters: the service reads a whole request before it looks at any rule.

use serde_json::{Map, Value as Json};
use stonecrop_dynamodb::value::check_shape;

use super::refusal::{Refusal, Result};

/// What a parameter is in JSON.
#[derive(Clone, Copy)]
enum Shape {
    Text,
    Integer,
    Long,
    Flag,
    /// The value of an attribute.
    Value,
    List(&'static Shape),
    /// Any names, each with the same.
    Map(&'static Shape),
    /// Parameters by name, and what the service calls them together.
    Struct(&'static str),
    /// One whose names mean something else elsewhere: all are texts.
    Tag,
}

const ITEM: Shape = Shape::Map(&Shape::Value);
const TEXTS: Shape = Shape::List(&Shape::Text);
const CONDITIONS: Shape = Shape::Map(&Shape::Struct("Condition"));

/// Where something stands: what the service says of it depends on that.
#[derive(Clone, Copy, PartialEq)]
enum At {
    /// It is a parameter.
    Field,
    /// It is one of a list or a map.
    Element,
}

/// A name has the same shape in all operations but a few.
fn shape_of(operation: &str, name: &str) -> Option<Shape> {
    let is_of_table = operation == "UpdateTable";
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
        | "ComparisonOperator"
        | "Action"
        | "BillingMode"
        | "TableClass"
        | "ExclusiveStartTableName"
        | "ExclusiveStartStreamArn"
        | "ExclusiveStartShardId"
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
        | "ShardId"
        | "ShardIterator"
        | "ShardIteratorType"
        | "SequenceNumber"
        | "ReturnValuesOnConditionCheckFailure" => Shape::Text,
        "Limit" | "Segment" | "TotalSegments" => Shape::Integer,
        "ReadCapacityUnits" | "WriteCapacityUnits" => Shape::Long,
        "ConsistentRead"
        | "ScanIndexForward"
        | "DeletionProtectionEnabled"
        | "Enabled"
        | "Exists"
        | "StreamEnabled" => Shape::Flag,
        "Value" => Shape::Value,
        "Key" | "Item" | "ExclusiveStartKey" | "ExpressionAttributeValues" => ITEM,
        "Parameters" | "AttributeValueList" => Shape::List(&Shape::Value),
        "Keys" => Shape::List(&ITEM),
        "AttributesToGet" | "NonKeyAttributes" | "TagKeys" => TEXTS,
        "ExpressionAttributeNames" => Shape::Map(&Shape::Text),
        "Projection" => Shape::Struct("Projection"),
        "ProvisionedThroughput" => Shape::Struct("ProvisionedThroughput"),
        "TimeToLiveSpecification" => Shape::Struct("TimeToLiveSpecification"),
        "StreamSpecification" => Shape::Struct("StreamSpecification"),
        "ShardFilter" => Shape::Struct("ShardFilter"),
        "PutRequest" => Shape::Struct("PutRequest"),
        "DeleteRequest" => Shape::Struct("DeleteRequest"),
        "Put" => Shape::Struct("Put"),
        "Delete" if is_of_table => Shape::Struct("DeleteGlobalSecondaryIndexAction"),
        "Delete" => Shape::Struct("Delete"),
        "Update" if is_of_table => Shape::Struct("UpdateGlobalSecondaryIndexAction"),
        "Update" => Shape::Struct("Update"),
        "Create" => Shape::Struct("CreateGlobalSecondaryIndexAction"),
        "Get" => Shape::Struct("Get"),
        "ConditionCheck" => Shape::Struct("ConditionCheck"),
        "KeySchema" => Shape::List(&Shape::Struct("KeySchemaElement")),
        "AttributeDefinitions" => Shape::List(&Shape::Struct("AttributeDefinition")),
        "LocalSecondaryIndexes" => Shape::List(&Shape::Struct("LocalSecondaryIndex")),
        "GlobalSecondaryIndexes" => Shape::List(&Shape::Struct("GlobalSecondaryIndex")),
        "GlobalSecondaryIndexUpdates" => Shape::List(&Shape::Struct("GlobalSecondaryIndexUpdate")),
        "TransactItems" if operation == "TransactGetItems" => {
            Shape::List(&Shape::Struct("TransactGetItem"))
        }
        "TransactItems" => Shape::List(&Shape::Struct("TransactWriteItem")),
        "Statements" => Shape::List(&Shape::Struct("BatchStatementRequest")),
        "TransactStatements" => Shape::List(&Shape::Struct("ParameterizedStatement")),
        "Tags" => Shape::List(&Shape::Tag),
        "Expected" => Shape::Map(&Shape::Struct("ExpectedAttributeValue")),
        "AttributeUpdates" => Shape::Map(&Shape::Struct("AttributeValueUpdate")),
        "KeyConditions" | "QueryFilter" | "ScanFilter" => CONDITIONS,
        "RequestItems" if operation == "BatchGetItem" => {
            Shape::Map(&Shape::Struct("KeysAndAttributes"))
        }
        "RequestItems" => Shape::Map(&Shape::List(&Shape::Struct("WriteRequest"))),
        _ => return None,
    })
}

/// Refuses parameters that are of another shape than theirs; what nobody knows is let be.
pub(super) fn check(operation: &str, fields: &Map<String, Json>) -> Result<()> {
    for (name, json) in fields.iter().filter(|(_, json)| !json.is_null()) {
        if let Some(shape) = shape_of(operation, name) {
            check_one(operation, shape, json, At::Field)?;
        }
    }
    Ok(())
}

fn check_one(operation: &str, shape: Shape, json: &Json, at: At) -> Result<()> {
    match (shape, json) {
        (Shape::Text, Json::String(_)) | (Shape::Flag, Json::Bool(_)) => Ok(()),
        (Shape::Text, other) => Err(not_a(other, "String")),
        (Shape::Flag, Json::String(_)) => {
            Err(Refusal::serialization("Unexpected token received from parser"))
        }
        (Shape::Flag, other) => Err(not_a(other, "Boolean")),
        (Shape::Integer | Shape::Long, Json::Number(n)) if n.is_i64() || n.is_u64() => Ok(()),
        (Shape::Integer, other) => Err(not_a(other, "Integer")),
        (Shape::Long, other) => Err(not_a(other, "Long")),
        (Shape::Value, Json::Object(_)) => Ok(check_shape(json)?),
        (Shape::List(of), Json::Array(elements)) => {
            elements.iter().try_for_each(|json| check_one(operation, *of, json, At::Element))
        }
        (Shape::List(_), Json::Object(_)) => Err(structure()),
        (Shape::Map(of), Json::Object(fields)) => {
            fields.values().try_for_each(|json| check_one(operation, *of, json, At::Element))
        }
        (Shape::Struct(_), Json::Object(fields)) => check(operation, fields),
        (Shape::Tag, Json::Object(fields)) => {
            fields.values().try_for_each(|json| check_one(operation, Shape::Text, json, At::Field))
        }
        (Shape::Map(of), Json::Array(_)) => Err(Refusal::serialization(format!(
            "Unrecognized collection type java.util.Map<java.lang.String, {}>",
            java_name(*of)
        ))),
        (Shape::Value | Shape::Struct(_) | Shape::Tag, Json::Array(_)) => {
            Err(Refusal::serialization(format!(
                "Unrecognized collection type class {}",
                java_name(shape)
            )))
        }
        _ if at == At::Field => Err(Refusal::serialization("Unexpected field type")),
        (Shape::Value | Shape::Struct(_) | Shape::Tag, _) => {
            Err(Refusal::serialization("Unexpected value type in payload"))
        }
        // A list or a map within another: the service's own words.
        _ => Err(Refusal::serialization(
            "class sun.reflect.generics.reflectiveObjects.ParameterizedTypeImpl cannot be cast to \
             class java.lang.Class (sun.reflect.generics.reflectiveObjects.ParameterizedTypeImpl \
             and java.lang.Class are in module java.base of loader 'bootstrap')",
        )),
    }
}

/// What the service calls a shape when it refuses another in its place.
fn java_name(shape: Shape) -> String {
    const SPACE: &str = "com.amazonaws.dynamodb.v20120810";
    match shape {
        Shape::Text => "java.lang.String".to_owned(),
        Shape::Integer => "java.lang.Integer".to_owned(),
        Shape::Long => "java.lang.Long".to_owned(),
        Shape::Flag => "java.lang.Boolean".to_owned(),
        Shape::Value => format!("{SPACE}.AttributeValue"),
        Shape::Struct(name) => format!("{SPACE}.{name}"),
        Shape::Tag => format!("{SPACE}.Tag"),
        Shape::List(of) => format!("java.util.List<{}>", java_name(*of)),
        Shape::Map(of) => format!("java.util.Map<java.lang.String, {}>", java_name(*of)),
    }
}

fn structure() -> Refusal {
    Refusal::serialization("Start of structure or map found where not expected")
}

/// The service's words for a scalar that is another.
fn not_a(json: &Json, wanted: &str) -> Refusal {
    let found = match json {
        Json::Object(_) => return structure(),
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
