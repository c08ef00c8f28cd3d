"""The service's quotas: sizes, depths, lengths and counts, at the line and beyond it."""
import re

import pytest

from dynamo import VALIDATION, index, refused, typed

ITEM_SIZE = 400 * 1024
TOO_LARGE = "Item size has exceeded the maximum allowed size"


def filled(pk, size, name="v"):
    """An item of exactly so many bytes: names and text count in UTF-8."""
    return {"pk": pk, name: "x" * (size - len("pk") - len(pk) - len(name))}


def test_an_item_of_400_kilobytes_is_allowed(simple, pk):
    """AWS: Service, account, and table quotas in Amazon DynamoDB."""
    item = filled(pk, ITEM_SIZE)
    simple.put(item)
    assert simple.get({"pk": pk}) == item


def test_an_item_of_one_byte_more_is_refused(simple, pk):
    """AWS: Service, account, and table quotas in Amazon DynamoDB."""
    with refused(VALIDATION, TOO_LARGE):
        simple.put(filled(pk, ITEM_SIZE + 1))
    assert simple.get({"pk": pk}) is None


def test_names_count_towards_the_size(simple, pk):
    """AWS: DynamoDB Item sizes and formats."""
    name = "n" * 1000
    simple.put(filled(pk, ITEM_SIZE, name))
    with refused(VALIDATION, TOO_LARGE):
        simple.put(filled(pk, ITEM_SIZE + 1, name))


def test_text_counts_in_bytes(simple, pk):
    """AWS: DynamoDB Item sizes and formats."""
    room = ITEM_SIZE - len("pk") - len(pk) - len("v")
    simple.put({"pk": pk, "v": "é" * (room // 2)})
    with refused(VALIDATION, TOO_LARGE):
        simple.put({"pk": pk, "v": "é" * (room // 2 + 1)})


@pytest.mark.parametrize("value, size", [
    (True, 1), (None, 1), (b"1234", 4), ([], 3), ({}, 3), (["a"], 5), ({"k": "a"}, 6),
    ({"ab", "cd"}, 4)], ids=str)
def test_values_have_their_documented_sizes(simple, pk, value, size):
    """AWS: DynamoDB Item sizes and formats."""
    item = filled(pk, ITEM_SIZE - len("w") - size)
    simple.put({**item, "w": value})
    item["v"] += "x"
    with refused(VALIDATION, TOO_LARGE):
        simple.put({**item, "w": value})


def test_an_update_does_not_make_an_item_too_large(simple, pk):
    """AWS: Service, account, and table quotas in Amazon DynamoDB."""
    simple.put(filled(pk, ITEM_SIZE - 10))
    with refused(VALIDATION, "Item size to update has exceeded the maximum allowed size"):
        simple.update({"pk": pk}, "SET w = :w", {":w": "x" * 100})
    assert "w" not in simple.get({"pk": pk})


@pytest.mark.parametrize("size, allowed", [(2048, True), (2049, False)])
def test_a_partition_key_has_at_most_2048_bytes(simple, size, allowed):
    """AWS: Service, account, and table quotas in Amazon DynamoDB."""
    key = "k" * size
    if allowed:
        simple.put({"pk": key})
        assert simple.get({"pk": key}) == {"pk": key}
    else:
        with refused(VALIDATION, "One or more parameter values were invalid: Size of hashkey has "
                                 "exceeded the maximum size limit of2048 bytes"):
            simple.put({"pk": key})


@pytest.mark.parametrize("size, allowed", [(1024, True), (1025, False)])
def test_a_sort_key_has_at_most_1024_bytes(named, pk, size, allowed):
    """AWS: Service, account, and table quotas in Amazon DynamoDB."""
    key = "k" * size
    if allowed:
        named.put({"pk": pk, "sk": key})
        assert named.get({"pk": pk, "sk": key}) == {"pk": pk, "sk": key}
    else:
        with refused(VALIDATION, "One or more parameter values were invalid: Aggregated size of "
                                 "all range keys has exceeded the size limit of 1024 bytes"):
            named.put({"pk": pk, "sk": key})


@pytest.mark.parametrize("operation", ["get", "delete", "update"])
def test_a_key_that_is_too_long_is_refused_everywhere(simple, operation):
    """AWS: Service, account, and table quotas in Amazon DynamoDB."""
    with refused(VALIDATION, re.compile("Size of hashkey has exceeded the maximum size limit")):
        getattr(simple, operation)({"pk": "k" * 2049})


def test_an_index_key_that_is_too_long_is_refused(make):
    """AWS: Service, account, and table quotas in Amazon DynamoDB."""
    table = make(GlobalSecondaryIndexes=[index("by-a", "a", "b")])
    table.put({"pk": "fits", "a": "x" * 2048, "b": "x" * 1024})
    for wrong in ({"a": "x" * 2049, "b": "x"}, {"a": "x", "b": "x" * 1025}):
        with refused(VALIDATION, re.compile("has exceeded the .*size limit")):
            table.put({"pk": "wide", **wrong})
    assert table.get({"pk": "wide"}) is None


def nested(depth, kind):
    """A value of so many levels of lists or maps."""
    value = typed("end")
    for _ in range(depth):
        value = {"L": [value]} if kind == "L" else {"M": {"a": value}}
    return value


@pytest.mark.parametrize("kind", ["L", "M"])
def test_values_nest_up_to_32_levels(client, simple, pk, kind):
    """AWS: Service, account, and table quotas in Amazon DynamoDB."""
    value = nested(31, kind)  # the item itself is a level
    client.put_item(TableName=simple.name, Item={"pk": typed(pk), "v": value})
    assert client.get_item(TableName=simple.name, Key={"pk": typed(pk)})["Item"]["v"] == value


@pytest.mark.parametrize("kind", ["L", "M"])
def test_values_that_nest_deeper_are_refused(client, simple, pk, kind):
    """AWS: Service, account, and table quotas in Amazon DynamoDB."""
    with refused(VALIDATION, re.compile("Nesting Levels have exceeded supported limits")):
        client.put_item(TableName=simple.name, Item={"pk": typed(pk), "v": nested(33, kind)})
    assert simple.get({"pk": pk}) is None


def padded(expression, size):
    return expression + " " * (size - len(expression))


def test_an_expression_of_four_kilobytes_is_allowed(simple, pk):
    """AWS: Service, account, and table quotas in Amazon DynamoDB."""
    simple.put({"pk": pk, "a": 1}, ConditionExpression=padded("attribute_not_exists(pk)", 4096))
    assert simple.get({"pk": pk}) == {"pk": pk, "a": 1}


@pytest.mark.parametrize("name, call", [
    ("ConditionExpression", lambda t, text: t.put({"pk": "a"}, ConditionExpression=text)),
    ("FilterExpression", lambda t, text: t.scan(FilterExpression=text)),
    ("ProjectionExpression", lambda t, text: t.get({"pk": "a"}, ProjectionExpression=text)),
    ("UpdateExpression", lambda t, text: t.update({"pk": "a"}, text)),
])
def test_a_longer_expression_is_refused(simple, name, call):
    """AWS: Service, account, and table quotas in Amazon DynamoDB."""
    text = {"ProjectionExpression": "b", "UpdateExpression": "REMOVE b"}.get(
        name, "attribute_exists(b)")
    with refused(VALIDATION, re.compile(
            f"^Invalid {name}: Expression size has exceeded the maximum allowed size; expression "
            "size: 4097")):
        call(simple, padded(text, 4097))


@pytest.mark.parametrize("count, allowed", [(100, True), (101, False)])
def test_in_has_at_most_a_hundred_operands(simple, pk, count, allowed):
    """AWS: Service, account, and table quotas in Amazon DynamoDB."""
    simple.put({"pk": pk, "a": 0})
    values = {f":v{number}": number for number in range(count)}
    expression = f"a IN ({', '.join(values)})"
    if allowed:
        simple.put({"pk": pk, "b": 1}, ConditionExpression=expression, values=values)
    else:
        with refused(VALIDATION, re.compile("^Invalid ConditionExpression: ")):
            simple.put({"pk": pk, "b": 1}, ConditionExpression=expression, values=values)
    assert ("b" in simple.get({"pk": pk})) == allowed


@pytest.mark.parametrize("count, allowed", [(100, True), (350, False)])
def test_a_condition_has_at_most_300_operators(simple, pk, count, allowed):
    """AWS: Service, account, and table quotas in Amazon DynamoDB."""
    simple.put({"pk": pk, "a": 1})
    expression = " OR ".join(["a=:a"] * count)
    if allowed:
        simple.put({"pk": pk, "b": 1}, ConditionExpression=expression, values={":a": 1})
    else:
        with refused(VALIDATION, re.compile("^Invalid ConditionExpression: ")):
            simple.put({"pk": pk, "b": 1}, ConditionExpression=expression, values={":a": 1})
    assert ("b" in simple.get({"pk": pk})) == allowed


@pytest.mark.parametrize("count, allowed", [(100, True), (301, False)])
def test_an_update_has_at_most_300_operators(simple, pk, count, allowed):
    """AWS: Service, account, and table quotas in Amazon DynamoDB."""
    simple.put({"pk": pk})
    expression = "SET " + ",".join(f"a{number}=:v+:v" for number in range(count))
    if allowed:
        simple.update({"pk": pk}, expression, {":v": 1})
    else:
        with refused(VALIDATION, re.compile("^Invalid UpdateExpression: ")):
            simple.update({"pk": pk}, expression, {":v": 1})
    assert len(simple.get({"pk": pk})) == (1 + count if allowed else 1)


@pytest.mark.parametrize("length, allowed", [(255, True), (256, False)])
def test_a_placeholder_has_at_most_255_bytes(simple, pk, length, allowed):
    """AWS: Service, account, and table quotas in Amazon DynamoDB."""
    name = "#" + "n" * (length - 1)
    if allowed:
        simple.update({"pk": pk}, f"SET {name} = :v", {":v": 1}, {name: "a"})
        assert simple.get({"pk": pk}) == {"pk": pk, "a": 1}
    else:
        with refused(VALIDATION):
            simple.update({"pk": pk}, f"SET {name} = :v", {":v": 1}, {name: "a"})
        assert simple.get({"pk": pk}) is None


def test_an_attribute_name_may_be_long(simple, pk):
    """AWS: Service, account, and table quotas in Amazon DynamoDB."""
    name = "n" * 60_000
    simple.put({"pk": pk, name: 1})
    assert simple.get({"pk": pk}) == {"pk": pk, name: 1}


@pytest.mark.parametrize("length, allowed", [(255, True), (256, False)])
def test_a_key_s_name_has_at_most_255_characters(make, length, allowed):
    """AWS: Service, account, and table quotas in Amazon DynamoDB."""
    name = "k" * length
    if allowed:
        table = make(partition=name)
        table.put({name: "a"})
        assert table.get({name: "a"}) == {name: "a"}
    else:
        with refused(VALIDATION, re.compile("255")):
            make(partition=name)


def test_an_empty_attribute_name_is_refused(simple, pk):
    """AWS: Supported data types and naming rules in Amazon DynamoDB."""
    with refused(VALIDATION):
        simple.put({"pk": pk, "": 1})
    assert simple.get({"pk": pk}) is None


def test_at_most_a_hundred_attributes_are_projected_by_name(make):
    """AWS: Service, account, and table quotas in Amazon DynamoDB."""
    def indexes(each):
        return [index(f"index-{number}", f"key{number}", None, "INCLUDE",
                      [f"a{number}-{n}" for n in range(each)]) for number in range(10)]
    make(GlobalSecondaryIndexes=indexes(10))
    with refused(VALIDATION):
        make(GlobalSecondaryIndexes=indexes(11))


def test_a_list_grows_where_an_index_points_far_away(simple, pk):
    """AWS: Update expressions."""
    simple.put({"pk": pk, "l": ["a"]})
    simple.update({"pk": pk}, "SET l[99999] = :v", {":v": "b"})
    assert simple.get({"pk": pk}) == {"pk": pk, "l": ["a", "b"]}
