"""PutItem: what is stored, what is answered, what is refused."""
import pytest

from dynamo import CONDITION_FAILED, NOT_FOUND, VALIDATION, plain_item, refused, typed, typed_all


def test_an_item_comes_back_as_it_was_put(simple, pk):
    """AWS: PutItem."""
    item = {"pk": pk, "name": "Fluffy", "age": 3, "tags": {"a", "b"}, "home": {"city": "Oslo"}}
    simple.put(item)
    assert simple.get({"pk": pk}) == item


def test_a_put_replaces_the_whole_item(simple, pk):
    """AWS: PutItem."""
    simple.put({"pk": pk, "old": 1, "kept": 1})
    simple.put({"pk": pk, "kept": 2})
    assert simple.get({"pk": pk}) == {"pk": pk, "kept": 2}


def test_items_with_different_sort_keys_live_side_by_side(sorted_table, pk):
    """AWS: PutItem."""
    sorted_table.put({"pk": pk, "sk": 1, "a": "one"})
    sorted_table.put({"pk": pk, "sk": 2, "a": "two"})
    assert sorted_table.get({"pk": pk, "sk": 1})["a"] == "one"
    assert sorted_table.get({"pk": pk, "sk": 2})["a"] == "two"


def test_a_put_answers_with_nothing_unless_asked(simple, pk):
    """AWS: PutItem."""
    simple.put({"pk": pk, "a": 1})
    answer = simple.put({"pk": pk, "a": 2})
    assert set(answer) == {"ResponseMetadata"}
    assert simple.get({"pk": pk}) == {"pk": pk, "a": 2}


def test_all_old_gives_the_replaced_item(simple, pk):
    """AWS: PutItem."""
    simple.put({"pk": pk, "a": 1})
    answer = simple.put({"pk": pk, "b": 2}, ReturnValues="ALL_OLD")
    assert plain_item(answer["Attributes"]) == {"pk": pk, "a": 1}


def test_all_old_gives_nothing_for_a_new_item(simple, pk):
    """AWS: PutItem."""
    answer = simple.put({"pk": pk, "a": 1}, ReturnValues="ALL_OLD")
    assert "Attributes" not in answer
    assert simple.get({"pk": pk}) == {"pk": pk, "a": 1}


@pytest.mark.parametrize("wanted", ["ALL_NEW", "UPDATED_OLD", "UPDATED_NEW"])
def test_a_put_returns_only_all_old_or_none(simple, pk, wanted):
    """AWS: PutItem."""
    with refused(VALIDATION, "ReturnValues can only be ALL_OLD or NONE"):
        simple.put({"pk": pk}, ReturnValues=wanted)
    assert simple.get({"pk": pk}) is None


def test_a_put_whose_condition_holds_is_done(simple, pk):
    """AWS: Condition expressions."""
    simple.put({"pk": pk, "a": 1}, ConditionExpression="attribute_not_exists(pk)")
    assert simple.get({"pk": pk}) == {"pk": pk, "a": 1}


def test_a_put_with_a_failed_condition_changes_nothing(simple, pk):
    """AWS: Condition expressions."""
    simple.put({"pk": pk, "a": 1})
    with refused(CONDITION_FAILED, "The conditional request failed"):
        simple.put({"pk": pk, "a": 2}, ConditionExpression="attribute_not_exists(pk)")
    assert simple.get({"pk": pk}) == {"pk": pk, "a": 1}


def test_a_failed_condition_says_nothing_of_the_item_unless_asked(simple, pk):
    """AWS: PutItem."""
    simple.put({"pk": pk, "a": 1})
    with refused(CONDITION_FAILED) as caught:
        simple.put({"pk": pk}, ConditionExpression="attribute_not_exists(pk)")
    assert "Item" not in caught.value.response


def test_a_failed_condition_shows_the_item_when_asked(simple, pk):
    """AWS: PutItem."""
    simple.put({"pk": pk, "a": 1})
    with refused(CONDITION_FAILED) as caught:
        simple.put({"pk": pk}, ConditionExpression="attribute_not_exists(pk)",
                   ReturnValuesOnConditionCheckFailure="ALL_OLD")
    assert plain_item(caught.value.response["Item"]) == {"pk": pk, "a": 1}


def test_a_failed_condition_on_no_item_shows_none(simple, pk):
    """AWS: PutItem."""
    with refused(CONDITION_FAILED) as caught:
        simple.put({"pk": pk}, ConditionExpression="attribute_exists(pk)",
                   ReturnValuesOnConditionCheckFailure="ALL_OLD")
    assert "Item" not in caught.value.response


def test_a_put_into_no_table_is_refused(client):
    """AWS: PutItem."""
    with refused(NOT_FOUND, "Requested resource not found"):
        client.put_item(TableName="no-such-table", Item=typed_all({"pk": "a"}))


@pytest.mark.parametrize("missing, item", [
    ("pk", {"sk": 1}), ("sk", {"pk": "a"}), ("pk", {"a": 1})])
def test_an_item_without_its_key_is_refused(sorted_table, missing, item):
    """AWS: PutItem."""
    with refused(VALIDATION, f"One or more parameter values were invalid: "
                             f"Missing the key {missing} in the item"):
        sorted_table.put(item)


@pytest.mark.parametrize("name, expected, value, actual", [
    ("pk", "S", 1, "N"), ("pk", "S", b"a", "B"), ("pk", "S", True, "BOOL"), ("pk", "S", ["a"], "L"),
    ("sk", "N", "1", "S"), ("sk", "N", {1}, "NS"), ("sk", "N", {"a": 1}, "M"),
    ("sk", "N", None, "NULL"),
])
def test_a_key_of_another_type_is_refused(sorted_table, pk, name, expected, value, actual):
    """AWS: PutItem."""
    with refused(VALIDATION, f"One or more parameter values were invalid: Type mismatch for key "
                             f"{name} expected: {expected} actual: {actual}"):
        sorted_table.put({"pk": pk, "sk": 1, name: value})


@pytest.mark.parametrize("name", ["pk", "sk"])
def test_an_empty_string_is_no_key(named, pk, name):
    """AWS: Supported data types and naming rules in Amazon DynamoDB."""
    with refused(VALIDATION, "One or more parameter values are not valid. The AttributeValue for a "
                             f"key attribute cannot contain an empty string value. Key: {name}"):
        named.put({"pk": pk, "sk": "a", name: ""})


def test_an_empty_binary_is_no_key(make):
    """AWS: Supported data types and naming rules in Amazon DynamoDB."""
    table = make(types={"pk": "B"})
    with refused(VALIDATION, "One or more parameter values are not valid. The AttributeValue for a "
                             "key attribute cannot contain an empty binary value. Key: pk"):
        table.put({"pk": b""})


def test_an_unknown_answer_wish_is_refused(simple, pk):
    """AWS: PutItem."""
    with refused(VALIDATION) as caught:
        simple.put({"pk": pk}, ReturnValues="EVERYTHING")
    message = caught.value.response["Error"]["Message"]
    assert "Value 'EVERYTHING' at 'returnValues' failed to satisfy constraint" in message
    assert "Member must satisfy enum value set" in message


def test_a_put_without_an_item_is_refused(client, simple):
    """AWS: PutItem."""
    with refused(VALIDATION) as caught:
        client.put_item(TableName=simple.name)
    assert "item" in caught.value.response["Error"]["Message"].lower()


def test_a_refused_put_leaves_no_item_behind(simple, pk):
    """AWS: PutItem."""
    with refused(VALIDATION):
        simple.put({"pk": pk, "a": 1}, ConditionExpression="a = :missing")
    assert simple.get({"pk": pk}) is None


def test_attribute_names_may_hold_any_character(simple, pk):
    """AWS: Supported data types and naming rules in Amazon DynamoDB."""
    item = {"pk": pk, "a b": 1, "a.b": 2, "ü-name": 3, "#x": 4, ":y": 5, "select": 6, "0": 7}
    simple.put(item)
    assert simple.get({"pk": pk}) == item


def test_names_differ_by_case(simple, pk):
    """AWS: Supported data types and naming rules in Amazon DynamoDB."""
    simple.put({"pk": pk, "Name": 1, "name": 2})
    assert simple.get({"pk": pk}) == {"pk": pk, "Name": 1, "name": 2}


def test_the_table_may_be_named_by_its_arn(client, simple, pk):
    """AWS: PutItem."""
    arn = simple.describe()["TableArn"]
    client.put_item(TableName=arn, Item=typed_all({"pk": pk, "a": 1}))
    assert simple.get({"pk": pk}) == {"pk": pk, "a": 1}


@pytest.mark.parametrize("item, told", [
    ({"a": {}}, "Supplied AttributeValue is empty, must contain exactly one of the supported "
                "datatypes"),
    ({"a": {"S": "x", "N": "1"}}, "Supplied AttributeValue has more than one datatypes set, must "
                                  "contain exactly one of the supported datatypes"),
    ({"a": {"NULL": False}}, "One or more parameter values were invalid: Null attribute value "
                             "types must have the value of true"),
    ({"a": {"SS": []}}, "One or more parameter values were invalid: An string set  may not be "
                        "empty"),
    ({"a": {"NS": []}}, "One or more parameter values were invalid: An number set  may not be "
                        "empty"),
    ({"a": {"BS": []}}, "One or more parameter values were invalid: Binary sets should not be "
                        "empty"),
    ({"a": {"SS": ["x", "y", "x"]}}, "One or more parameter values were invalid: Input collection "
                                     "[x, y, x] contains duplicates."),
    ({"a": {"NS": ["1", "1.0"]}}, "Input collection contains duplicates"),
    ({"a": {"L": [{"M": {"x": {}}}]}}, "Supplied AttributeValue is empty, must contain exactly one "
                                       "of the supported datatypes"),
], ids=lambda value: str(value)[:24])
def test_a_value_that_is_none_is_refused(client, simple, pk, item, told):
    """AWS: AttributeValue."""
    with refused(VALIDATION, told):
        client.put_item(TableName=simple.name, Item={"pk": typed(pk), **item})
    assert simple.get({"pk": pk}) is None


@pytest.mark.parametrize("name, rule", [
    ("", "Member must have length greater than or equal to 1"),
    ("a" * 256, "Member must have length less than or equal to 255"),
    ("a name", "Member must satisfy regular expression pattern: [a-zA-Z0-9_.-]+")])
def test_the_name_of_a_table_keeps_to_its_rules(client, name, rule):
    """AWS: PutItem."""
    with refused(VALIDATION, f"1 validation error detected: Value '{name}' at 'tableName' failed to "
                             f"satisfy constraint: {rule}"):
        client.put_item(TableName=name, Item=typed_all({"pk": "a"}))
