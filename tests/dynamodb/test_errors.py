"""Which fault is told first, and how faults of parameters are told."""
import re

import pytest

from dynamo import CONDITION_FAILED, NOT_FOUND, VALIDATION, refused, typed, typed_all

PK = {"pk": {"S": "a"}}

REQUIRED = [
    ("GetItem", "tableName"), ("PutItem", "tableName"), ("UpdateItem", "tableName"),
    ("DeleteItem", "tableName"), ("Query", "tableName"), ("Scan", "tableName"),
    ("DescribeTable", "tableName"), ("DeleteTable", "tableName"), ("UpdateTable", "tableName"),
    ("CreateTable", "tableName"), ("DescribeTimeToLive", "tableName"),
    ("UpdateTimeToLive", "tableName"), ("BatchGetItem", "requestItems"),
    ("BatchWriteItem", "requestItems"), ("TransactWriteItems", "transactItems"),
    ("TransactGetItems", "transactItems"), ("ExecuteStatement", "statement"),
    ("BatchExecuteStatement", "statements"), ("ExecuteTransaction", "transactStatements"),
    ("ListTagsOfResource", "resourceArn"), ("TagResource", "resourceArn"),
    ("UntagResource", "resourceArn"),
]


@pytest.mark.parametrize("operation, name", REQUIRED, ids=[case[0] for case in REQUIRED])
def test_what_is_required_is_told(http, operation, name):
    """AWS: Common Errors."""
    answer = http.send(operation, {})
    assert (answer.status, answer.type) == (400, VALIDATION)
    assert (f"Value null at '{name}' failed to satisfy constraint: Member must not be null"
            in answer.message
            or f"The parameter '{name[0].upper() + name[1:]}' is required but was not present in "
               "the request" in answer.message
            or f"The {name} parameter is required for {operation}" in answer.message
            or "Invalid TableArn" in answer.message), answer.message


ON_NO_TABLE = {
    "get": ("GetItem", {"Key": PK}), "put": ("PutItem", {"Item": PK}),
    "update": ("UpdateItem", {"Key": PK}), "delete": ("DeleteItem", {"Key": PK}),
    "scan": ("Scan", {}), "query": ("Query", {
        "KeyConditionExpression": "pk = :p", "ExpressionAttributeValues": {":p": {"S": "a"}}}),
}


@pytest.mark.parametrize("case", ON_NO_TABLE)
def test_a_missing_table_is_told_when_all_else_is_well(http, case):
    """AWS: Error handling with DynamoDB."""
    operation, body = ON_NO_TABLE[case]
    answer = http.send(operation, {"TableName": "no-such-table", **body})
    assert (answer.status, answer.type) == (400, NOT_FOUND)
    assert answer.message == "Requested resource not found"


FIRST = [
    ("GetItem", {"Key": PK, "ProjectionExpression": "a,,b"}, "Invalid ProjectionExpression"),
    ("GetItem", {"Key": {"pk": {}}}, "Supplied AttributeValue is empty"),
    ("GetItem", {"Key": PK, "ExpressionAttributeNames": {"#a": "a"}},
     "ExpressionAttributeNames can"),
    ("PutItem", {"Item": PK, "ConditionExpression": "a ="}, "Invalid ConditionExpression"),
    ("PutItem", {"Item": PK, "ReturnValues": "ALL_NEW"}, "ReturnValues can only be"),
    ("PutItem", {"Item": {"pk": {"N": "x"}}}, "The parameter cannot be converted"),
    ("UpdateItem", {"Key": PK, "UpdateExpression": "SET"}, "Invalid UpdateExpression"),
    ("UpdateItem", {"Key": PK, "UpdateExpression": "SET a = :a"}, "Invalid UpdateExpression"),
    ("DeleteItem", {"Key": PK, "ConditionExpression": ""}, "Invalid ConditionExpression"),
    ("Scan", {"Segment": 1}, "The TotalSegments parameter is required"),
    ("Scan", {"FilterExpression": "name = :a"}, "Invalid FilterExpression"),
    ("Query", {}, "Either the KeyConditions or KeyConditionExpression"),
    ("Query", {"KeyConditionExpression": "pk > > :a"}, "Invalid KeyConditionExpression"),
]


@pytest.mark.parametrize("operation, body, told", FIRST,
                         ids=[f"{case[0]} {case[1]}" for case in FIRST])
def test_a_fault_of_the_request_comes_before_a_missing_table(http, operation, body, told):
    """AWS: Error handling with DynamoDB."""
    answer = http.send(operation, {"TableName": "no-such-table", **body})
    assert (answer.status, answer.type) == (400, VALIDATION)
    assert answer.message.startswith(told)


def test_a_missing_table_comes_before_a_key_that_does_not_fit(client):
    """AWS: Error handling with DynamoDB."""
    with refused(NOT_FOUND):
        client.get_item(TableName="no-such-table", Key=typed_all({"whatever": 1}))


def test_a_key_that_does_not_fit_comes_before_a_failed_condition(simple):
    """AWS: Error handling with DynamoDB."""
    with refused(VALIDATION, "The provided key element does not match the schema"):
        simple.delete({"wrong": "a"}, ConditionExpression="attribute_exists(pk)")


def test_a_failed_condition_comes_before_an_update_that_does_not_fit(simple, pk):
    """AWS: UpdateItem."""
    simple.put({"pk": pk, "letters": "x"})
    with refused(CONDITION_FAILED):
        simple.update({"pk": pk}, "SET n = letters + :one", {":one": 1},
                      ConditionExpression="attribute_exists(absent)")


def test_a_wrong_type_of_json_comes_before_everything(http):
    """AWS: Error handling with DynamoDB."""
    answer = http.send("GetItem", {"TableName": 5, "Key": {}, "ReturnConsumedCapacity": "hi"})
    assert answer.type == "SerializationException"


def test_an_unknown_operation_comes_before_a_missing_signature(http):
    """AWS: Error handling with DynamoDB."""
    answer = http.send("NoSuchOperation", headers={"Authorization": None})
    assert answer.type == "UnknownOperationException"


def test_a_broken_body_comes_before_an_unknown_operation(http):
    """AWS: Error handling with DynamoDB."""
    assert http.send("NoSuchOperation", "{").type == "SerializationException"


def test_all_constraints_are_told_together(http):
    """AWS: PutItem."""
    answer = http.send("PutItem", {
        "TableName": "any-table", "Item": PK, "ReturnValues": "a", "ReturnConsumedCapacity": "b",
        "ReturnItemCollectionMetrics": "c"})
    assert answer.type == VALIDATION
    assert answer.message.startswith("3 validation errors detected: ")
    for value, name in (("a", "returnValues"), ("b", "returnConsumedCapacity"),
                        ("c", "returnItemCollectionMetrics")):
        assert (f"Value '{value}' at '{name}' failed to satisfy constraint: Member must satisfy "
                "enum value set: [") in answer.message
    assert answer.message.count("; ") == 2


@pytest.mark.parametrize("operation, body, name, values", [
    ("GetItem", {"Key": PK}, "returnConsumedCapacity", "[INDEXES, TOTAL, NONE]"),
    ("PutItem", {"Item": PK}, "returnItemCollectionMetrics", "[SIZE, NONE]"),
    ("PutItem", {"Item": PK}, "returnValues", "[ALL_NEW, UPDATED_OLD, ALL_OLD, NONE, UPDATED_NEW]"),
    ("Scan", {}, "select",
     "[SPECIFIC_ATTRIBUTES, COUNT, ALL_ATTRIBUTES, ALL_PROJECTED_ATTRIBUTES]"),
    ("Scan", {}, "conditionalOperator", "[OR, AND]"),
])
def test_a_word_outside_its_list_is_told_with_the_list(http, operation, body, name, values):
    """AWS: PutItem."""
    answer = http.send(operation, {"TableName": "any-table", **body,
                                   name[0].upper() + name[1:]: "hi"})
    assert answer.type == VALIDATION
    told = re.fullmatch(r"1 validation error detected: Value 'hi' at '(\w+)' failed to satisfy "
                        r"constraint: Member must satisfy enum value set: (\[.*\])", answer.message)
    assert told and told[1] == name
    assert sorted(told[2].strip("[]").split(", ")) == sorted(values.strip("[]").split(", "))


ORDER = {
    "mixed parameters before a broken expression": (
        {"UpdateExpression": "SET", "AttributeUpdates": {}},
        re.compile("^Can not use both expression and non-expression parameters")),
    "empty names before a broken expression": (
        {"UpdateExpression": "SET", "ExpressionAttributeNames": {}},
        "ExpressionAttributeNames must not be empty"),
    "a malformed name before a broken expression": (
        {"UpdateExpression": "SET", "ExpressionAttributeNames": {"a": "b"}},
        'ExpressionAttributeNames contains invalid key: Syntax error; key: "a"'),
    "a malformed value before a broken expression": (
        {"UpdateExpression": "SET", "ExpressionAttributeValues": {":a": {"N": "x"}}},
        "ExpressionAttributeValues contains invalid value: The parameter cannot be converted to a "
        "numeric value: x for key :a"),
    "a broken update before a broken condition": (
        {"UpdateExpression": "SET", "ConditionExpression": "a ="},
        re.compile("^Invalid UpdateExpression: ")),
    "a broken expression before an unused value": (
        {"UpdateExpression": "SET", "ExpressionAttributeValues": {":a": typed(1)}},
        re.compile("^Invalid UpdateExpression: Syntax error")),
    "an unused name before an unused value": (
        {"UpdateExpression": "REMOVE a", "ExpressionAttributeNames": {"#x": "x"},
         "ExpressionAttributeValues": {":y": typed(1)}},
        "Value provided in ExpressionAttributeNames unused in expressions: keys: {#x}"),
    "an unused value before the key of the table": (
        {"UpdateExpression": "REMOVE a", "ExpressionAttributeValues": {":y": typed(1)},
         "Key": {"wrong": typed(1)}},
        "Value provided in ExpressionAttributeValues unused in expressions: keys: {:y}"),
}


@pytest.mark.parametrize("case", ORDER)
def test_faults_are_told_in_order(client, simple, case):
    """AWS: UpdateItem."""
    body, told = ORDER[case]
    with refused(VALIDATION, told):
        client.update_item(**{"TableName": simple.name, "Key": typed_all({"pk": "a"}), **body})
    assert simple.get({"pk": "a"}) is None


@pytest.mark.parametrize("word", [
    "abort", "ACTION", "Attribute", "count", "data", "date", "day", "desc", "group", "hash",
    "index",
    "item", "key", "language", "list", "location", "map", "max", "month", "name", "number", "owner",
    "path", "percent", "range", "region", "role", "rows", "size", "state", "status", "table",
    "time",
    "timestamp", "token", "total", "ttl", "type", "url", "user", "uuid", "value", "values", "view",
    "year", "zone"])
def test_a_reserved_word_needs_a_name(simple, word):
    """AWS: Reserved words in DynamoDB."""
    with refused(VALIDATION, "Invalid ProjectionExpression: Attribute name is a reserved keyword; "
                             f"reserved keyword: {word}"):
        simple.get({"pk": "a"}, ProjectionExpression=word)


@pytest.mark.parametrize("word", ["id", "email", "title", "price", "address", "phone", "score",
                                  "artist", "color", "username", "created_at", "expires"])
def test_other_words_need_none(simple, pk, word):
    """AWS: Reserved words in DynamoDB."""
    simple.put({"pk": pk, word: 1})
    assert simple.get({"pk": pk}, ProjectionExpression=word) == {word: 1}
