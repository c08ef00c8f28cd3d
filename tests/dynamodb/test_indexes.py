"""Secondary indexes: local, global, sparse, projected, and with keys of several attributes."""
import re

import pytest

from dynamo import VALIDATION, column, index, items, plain_item, refused, typed_all, until


@pytest.fixture(scope="module")
def orders(make):
    """Orders by customer (pk) and number (sk), with every kind of index and projection."""
    table = make(
        sort="sk", types={"sk": "N", "cost": "N", "day": "S"},
        LocalSecondaryIndexes=[
            index("local-all", "pk", "cost"),
            index("local-keys", "pk", "day", "KEYS_ONLY"),
            index("local-some", "pk", "state", "INCLUDE", ["note"]),
        ],
        GlobalSecondaryIndexes=[
            index("by-state", "state", "cost"),
            index("keys-by-state", "state", "day", "KEYS_ONLY"),
            index("some-by-state", "state", None, "INCLUDE", ["note"]),
        ])
    for number in range(1, 7):
        table.put({"pk": "ann" if number % 2 else "bob", "sk": number, "cost": 70 - number * 10,
                   "day": f"2026-01-0{number}", "state": "paid" if number < 4 else "open",
                   "note": f"n{number}", "extra": number})
    table.put({"pk": "ann", "sk": 99, "extra": 99})  # in no index
    return table


WHOLE = {"pk": "ann", "sk": 1, "cost": 60, "day": "2026-01-01", "state": "paid", "note": "n1",
         "extra": 1}


@pytest.mark.parametrize("name, condition, values, expected", [
    ("local-all", "pk = :p", {":p": "ann"}, [5, 3, 1]),
    ("local-all", "pk = :p AND cost > :t", {":p": "ann", ":t": 20}, [3, 1]),
    ("local-keys", "pk = :p", {":p": "bob"}, [2, 4, 6]),
    ("local-keys", "pk = :p AND begins_with(#d, :d)", {":p": "bob", ":d": "2026-01-04"}, [4]),
    ("by-state", "#s = :s", {":s": "paid"}, [3, 2, 1]),
    ("by-state", "#s = :s AND cost BETWEEN :a AND :b", {":s": "open", ":a": 10, ":b": 20}, [6, 5]),
    ("keys-by-state", "#s = :s AND #d > :d", {":s": "paid", ":d": "2026-01-01"}, [2, 3]),
    ("some-by-state", "#s = :s", {":s": "nothing"}, []),
])
def test_an_index_is_queried_in_its_own_order(orders, name, condition, values, expected):
    """AWS: Using Global Secondary Indexes in DynamoDB."""
    names = {short: long for short, long in {"#s": "state", "#d": "day"}.items()
             if short in condition}
    answer = orders.query(condition, values, names or None, IndexName=name)
    assert column(answer, "sk") == expected


@pytest.mark.parametrize("name, shown", [
    ("local-all", set(WHOLE)),
    ("local-keys", {"pk", "sk", "day"}),
    ("local-some", {"pk", "sk", "state", "note"}),
    ("by-state", set(WHOLE)),
    ("keys-by-state", {"pk", "sk", "state", "day"}),
    ("some-by-state", {"pk", "sk", "state", "note"}),
])
def test_an_index_shows_what_it_projects(orders, name, shown):
    """AWS: Projection."""
    (item,) = [item for item in items(orders.scan(IndexName=name)) if item["sk"] == 1]
    assert item == {key: WHOLE[key] for key in shown}


@pytest.mark.parametrize("name", ["local-all", "local-keys", "local-some", "by-state",
                                  "keys-by-state", "some-by-state"])
def test_an_item_without_the_index_key_is_not_in_the_index(orders, name):
    """AWS: Using Global Secondary Indexes in DynamoDB."""
    answer = orders.scan(IndexName=name)
    assert sorted(column(answer, "sk")) == [1, 2, 3, 4, 5, 6]


def test_items_with_the_same_index_key_are_all_there(make):
    """AWS: Using Global Secondary Indexes in DynamoDB."""
    table = make(GlobalSecondaryIndexes=[index("by-color", "color")])
    for number in range(5):
        table.put({"pk": f"k{number}", "color": "red"})
    answer = table.query("color = :c", {":c": "red"}, IndexName="by-color")
    assert sorted(column(answer, "pk")) == [f"k{number}" for number in range(5)]


def test_a_page_of_an_index_names_both_keys(orders):
    """AWS: Query."""
    answer = orders.query("#s = :s", {":s": "paid"}, {"#s": "state"}, IndexName="by-state", Limit=2)
    assert plain_item(answer["LastEvaluatedKey"]) == {
        "pk": "bob", "sk": 2, "state": "paid", "cost": 50}


@pytest.mark.parametrize("forward", [True, False])
def test_pages_of_equal_index_keys_follow_each_other_without_gaps(make, forward):
    """AWS: Paginating table query results."""
    table = make(sort="sk", types={"sk": "N", "rank": "N"},
                 GlobalSecondaryIndexes=[index("by-rank", "team", "rank")])
    for number in range(9):
        table.put({"pk": f"p{number % 4}", "sk": number, "team": "a", "rank": 1})
    seen, start = [], {}
    for _ in range(20):
        answer = table.query("team = :t", {":t": "a"}, IndexName="by-rank", Limit=2,
                             ScanIndexForward=forward, **start)
        seen += column(answer, "sk")
        if "LastEvaluatedKey" not in answer:
            break
        start = {"ExclusiveStartKey": answer["LastEvaluatedKey"]}
    assert sorted(seen) == list(range(9))


def test_an_index_scan_goes_in_pages(orders):
    """AWS: Scan."""
    seen, start = [], {}
    for _ in range(20):
        answer = orders.scan(IndexName="by-state", Limit=4, **start)
        seen += column(answer, "sk")
        if "LastEvaluatedKey" not in answer:
            break
        assert set(answer["LastEvaluatedKey"]) == {"pk", "sk", "state", "cost"}
        start = {"ExclusiveStartKey": answer["LastEvaluatedKey"]}
    assert sorted(seen) == [1, 2, 3, 4, 5, 6]


CHANGES = {
    "a changed key moves the item": (
        lambda table: table.update({"pk": "a"}, "SET color = :c", {":c": "blue"}),
        {"red": [], "blue": [{"pk": "a", "color": "blue", "n": 1}]}),
    "a removed key takes the item out": (
        lambda table: table.update({"pk": "a"}, "REMOVE color"), {"red": [], "blue": []}),
    "a deleted item is out": (
        lambda table: table.delete({"pk": "a"}), {"red": [], "blue": []}),
    "another attribute changes in place": (
        lambda table: table.update({"pk": "a"}, "SET n = :n", {":n": 2}),
        {"red": [{"pk": "a", "color": "red", "n": 2}], "blue": []}),
    "a put without the key takes the item out": (
        lambda table: table.put({"pk": "a", "n": 5}), {"red": [], "blue": []}),
    "a put moves the item": (
        lambda table: table.put({"pk": "a", "color": "blue"}),
        {"red": [], "blue": [{"pk": "a", "color": "blue"}]}),
    "a batch moves the item": (
        lambda table: table.client.batch_write_item(RequestItems={table.name: [
            {"PutRequest": {"Item": typed_all({"pk": "a", "color": "blue"})}}]}),
        {"red": [], "blue": [{"pk": "a", "color": "blue"}]}),
    "a transaction moves the item": (
        lambda table: table.client.transact_write_items(TransactItems=[
            {"Put": {"TableName": table.name, "Item": typed_all({"pk": "a", "color": "blue"})}}]),
        {"red": [], "blue": [{"pk": "a", "color": "blue"}]}),
}


@pytest.fixture(scope="module")
def colors(make):
    return make(GlobalSecondaryIndexes=[index("by-color", "color")])


@pytest.mark.parametrize("case", CHANGES)
def test_an_index_follows_its_table(colors, case):
    """AWS: Using Global Secondary Indexes in DynamoDB."""
    act, expected = CHANGES[case]
    colors.put({"pk": "a", "color": "red", "n": 1})
    act(colors)
    assert until(lambda: {color: items(colors.query("color = :c", {":c": color},
                                                    IndexName="by-color"))
                          for color in expected} == expected)


@pytest.mark.parametrize("value, kind", [(5, "N"), ([1], "L"), (True, "BOOL"), ({"x"}, "SS")])
def test_an_index_key_of_another_type_is_refused(colors, pk, value, kind):
    """AWS: Using Global Secondary Indexes in DynamoDB."""
    with refused(VALIDATION, re.compile(
            "^One or more parameter values were invalid: Type mismatch for Index Key color "
            f"Expected: S Actual: {kind} IndexName: by-color")):
        colors.put({"pk": pk, "color": value})
    assert colors.get({"pk": pk}) is None


def test_an_update_to_an_index_key_of_another_type_is_refused(colors, pk):
    """AWS: Using Global Secondary Indexes in DynamoDB."""
    colors.put({"pk": pk, "color": "red"})
    with refused(VALIDATION):
        colors.update({"pk": pk}, "SET color = :c", {":c": 5})
    assert colors.get({"pk": pk}) == {"pk": pk, "color": "red"}


def test_an_empty_index_key_is_refused(colors, pk):
    """AWS: Supported data types and naming rules in Amazon DynamoDB."""
    with refused(VALIDATION, re.compile(
            "^One or more parameter values are not valid. A value specified for a secondary index "
            "key is not supported. The AttributeValue for a key attribute cannot contain an empty "
            "string value. IndexName: by-color, IndexKey: color")):
        colors.put({"pk": pk, "color": ""})


def test_a_global_index_is_not_read_consistently(orders):
    """AWS: Query."""
    with refused(VALIDATION, re.compile(
            "Consistent reads are not supported on global secondary indexes$")):
        orders.query("#s = :s", {":s": "paid"}, {"#s": "state"}, IndexName="by-state",
                     ConsistentRead=True)


def test_a_global_index_is_not_scanned_consistently(orders):
    """AWS: Scan."""
    with refused(VALIDATION, re.compile(
            "Consistent reads are not supported on global secondary indexes$")):
        orders.scan(IndexName="by-state", ConsistentRead=True)


def test_a_local_index_may_be_read_consistently(orders):
    """AWS: Local Secondary Indexes."""
    answer = orders.query("pk = :p", {":p": "bob"}, IndexName="local-all", ConsistentRead=True)
    assert column(answer, "sk") == [6, 4, 2]


def test_a_local_index_fetches_what_it_does_not_project(orders):
    """AWS: Local Secondary Indexes."""
    answer = orders.query("pk = :p AND #d = :d", {":p": "ann", ":d": "2026-01-01"}, {"#d": "day"},
                          IndexName="local-keys", Select="ALL_ATTRIBUTES")
    assert items(answer) == [WHOLE]


def test_a_local_index_fetches_attributes_that_are_asked_for(orders):
    """AWS: Local Secondary Indexes."""
    answer = orders.query("pk = :p AND #d = :d", {":p": "ann", ":d": "2026-01-01"}, {"#d": "day"},
                          IndexName="local-keys", ProjectionExpression="extra, sk")
    assert items(answer) == [{"extra": 1, "sk": 1}]


def test_a_global_index_has_only_what_it_projects(orders):
    """AWS: Query."""
    with refused(VALIDATION, "One or more parameter values were invalid: Select type "
                             "ALL_ATTRIBUTES is not supported for global secondary index keys-by-state because "
                             "its projection type is not ALL"):
        orders.query("#s = :s", {":s": "paid"}, {"#s": "state"}, IndexName="keys-by-state",
                     Select="ALL_ATTRIBUTES")


def test_all_projected_attributes_are_those_of_the_index(orders):
    """AWS: Query."""
    answer = orders.query("#s = :s", {":s": "paid"}, {"#s": "state"}, IndexName="keys-by-state",
                          Select="ALL_PROJECTED_ATTRIBUTES", Limit=1)
    assert items(answer) == [{"pk": "ann", "sk": 1, "state": "paid", "day": "2026-01-01"}]


def test_a_filter_of_an_index_may_use_the_table_s_keys(orders):
    """AWS: Query operations in DynamoDB."""
    answer = orders.query("#s = :s", {":s": "paid", ":p": "ann"}, {"#s": "state"},
                          IndexName="by-state", FilterExpression="pk = :p")
    assert column(answer, "sk") == [3, 1]
    assert answer["ScannedCount"] == 3


def test_a_filter_of_an_index_has_no_keys_of_the_index(orders):
    """AWS: Query operations in DynamoDB."""
    with refused(VALIDATION, "Filter Expression can only contain non-primary key attributes: "
                             "Primary key attribute: cost"):
        orders.query("#s = :s", {":s": "paid", ":t": 5}, {"#s": "state"}, IndexName="by-state",
                     FilterExpression="cost > :t")


def test_a_query_of_an_index_needs_the_key_of_the_index(orders):
    """AWS: Query operations in DynamoDB."""
    with refused(VALIDATION, re.compile("Query condition missed key schema element: state$")):
        orders.query("pk = :p", {":p": "ann"}, IndexName="by-state")


def test_a_start_of_an_index_needs_all_keys(orders):
    """AWS: Query."""
    with refused(VALIDATION, re.compile("^The provided starting key is invalid")):
        orders.query("#s = :s", {":s": "paid"}, {"#s": "state"}, IndexName="by-state",
                     ExclusiveStartKey=typed_all({"pk": "ann", "sk": 1}))


# Keys of several attributes: up to four for the partition, up to four for the order.

def several(name, partition, sort=()):
    return {"IndexName": name, "Projection": {"ProjectionType": "ALL"}, "KeySchema": [
        *[{"AttributeName": each, "KeyType": "HASH"} for each in partition],
        *[{"AttributeName": each, "KeyType": "RANGE"} for each in sort]]}


@pytest.fixture(scope="module")
def matches(make):
    table = make(types={"round": "N"}, GlobalSecondaryIndexes=[
        several("by-cup", ["cup", "area"], ["round", "bracket", "game"])])
    number = 0
    for area in ("east", "west"):
        for stage in (1, 2, 10):
            for bracket in ("lower", "upper"):
                number += 1
                table.put({"pk": f"m{number:02}", "cup": "winter", "area": area, "round": stage,
                           "bracket": bracket, "game": f"g{number}"})
    table.put({"pk": "no-area", "cup": "winter", "round": 1, "bracket": "lower", "game": "x"})
    table.put({"pk": "no-game", "cup": "winter", "area": "east", "round": 1, "bracket": "lower"})
    return table


@pytest.mark.parametrize("condition, values, expected", [
    ("cup = :c AND area = :a", {}, ["m01", "m02", "m03", "m04", "m05", "m06"]),
    ("area = :a AND cup = :c", {}, ["m01", "m02", "m03", "m04", "m05", "m06"]),
    ("cup = :c AND area = :a AND round = :r", {":r": 2}, ["m03", "m04"]),
    ("cup = :c AND area = :a AND round > :r", {":r": 1}, ["m03", "m04", "m05", "m06"]),
    ("cup = :c AND area = :a AND round BETWEEN :r AND :s", {":r": 1, ":s": 2},
     ["m01", "m02", "m03", "m04"]),
    ("cup = :c AND area = :a AND round = :r AND bracket = :b", {":r": 10, ":b": "upper"}, ["m06"]),
    ("cup = :c AND area = :a AND round = :r AND begins_with(bracket, :b)", {":r": 1, ":b": "u"},
     ["m02"]),
    ("cup = :c AND area = :a AND round = :r AND bracket = :b AND game = :g",
     {":r": 1, ":b": "lower", ":g": "g1"}, ["m01"]),
    ("cup = :c AND area = :a AND round = :r AND bracket > :b", {":r": 2, ":b": "lower"}, ["m04"]),
], ids=lambda value: value if isinstance(value, str) else "")
def test_conditions_go_from_left_to_right(matches, condition, values, expected):
    """AWS: Multi-attribute keys pattern."""
    answer = matches.query(condition, {":c": "winter", ":a": "east", **values}, IndexName="by-cup")
    assert column(answer, "pk") == expected


@pytest.mark.parametrize("condition, values", [
    ("cup = :c", {}),
    ("cup = :c AND round = :r", {":r": 1}),
    ("cup = :c AND area > :a", {":a": "east"}),
    ("cup = :c AND area = :a AND bracket = :b", {":a": "east", ":b": "upper"}),
    ("cup = :c AND area = :a AND round > :r AND bracket = :b",
     {":a": "east", ":r": 1, ":b": "upper"}),
    ("cup = :c AND area = :a AND round = :r AND game = :g", {":a": "east", ":r": 1, ":g": "g1"}),
], ids=lambda value: value if isinstance(value, str) else "")
def test_no_attribute_of_the_key_is_skipped(matches, condition, values):
    """AWS: Multi-attribute keys pattern."""
    with refused(VALIDATION):
        matches.query(condition, {":c": "winter", **values}, IndexName="by-cup")


def test_an_item_needs_every_attribute_of_the_key_to_be_indexed(matches):
    """AWS: Multi-attribute keys pattern."""
    seen = column(matches.scan(IndexName="by-cup"), "pk")
    assert sorted(seen) == [f"m{number:02}" for number in range(1, 13)]


def test_the_order_is_that_of_all_sort_attributes(matches):
    """AWS: Multi-attribute keys pattern."""
    answer = matches.query("cup = :c AND area = :a", {":c": "winter", ":a": "west"},
                           IndexName="by-cup", ScanIndexForward=False)
    assert column(answer, "pk") == ["m12", "m11", "m10", "m09", "m08", "m07"]


def test_pages_of_such_an_index_follow_each_other(matches):
    """AWS: Multi-attribute keys pattern."""
    seen, start = [], {}
    for _ in range(10):
        answer = matches.query("cup = :c AND area = :a", {":c": "winter", ":a": "east"},
                               IndexName="by-cup", Limit=4, **start)
        seen += column(answer, "pk")
        if "LastEvaluatedKey" not in answer:
            break
        start = {"ExclusiveStartKey": answer["LastEvaluatedKey"]}
    assert seen == ["m01", "m02", "m03", "m04", "m05", "m06"]


def test_such_an_index_is_described_in_order(matches):
    """AWS: GlobalSecondaryIndexDescription."""
    (told,) = matches.describe()["GlobalSecondaryIndexes"]
    assert [(part["AttributeName"], part["KeyType"]) for part in told["KeySchema"]] == [
        ("cup", "HASH"), ("area", "HASH"), ("round", "RANGE"), ("bracket", "RANGE"),
        ("game", "RANGE")]


def test_four_and_four_attributes_are_allowed(make):
    """AWS: Multi-attribute keys pattern."""
    table = make(GlobalSecondaryIndexes=[several("wide", "abcd", "efgh")])
    table.put({"pk": "k", **{letter: letter for letter in "abcdefgh"}})
    answer = table.query("a = :a AND b = :b AND c = :c AND d = :d",
                         {f":{letter}": letter for letter in "abcd"}, IndexName="wide")
    assert column(answer, "pk") == ["k"]


@pytest.mark.parametrize("partition, sort", [("abcde", "f"), ("a", "bcdef")])
def test_more_than_four_attributes_are_refused(make, partition, sort):
    """AWS: Multi-attribute keys pattern."""
    kind = "HASH" if len(partition) > 4 else "RANGE"
    with refused(VALIDATION, "One or more parameter values were invalid: The KeySchema exceeds the "
                             f"maximum allowed number of {kind} key attributes"):
        make(GlobalSecondaryIndexes=[several("wide", partition, sort)])


def test_the_attributes_of_the_partition_come_first(make):
    """AWS: Multi-attribute keys pattern."""
    mixed = several("mixed", "ab", "c")
    mixed["KeySchema"][1:] = reversed(mixed["KeySchema"][1:])
    with refused(VALIDATION, "One or more parameter values were invalid: All HASH key attributes "
                             "must precede RANGE key attributes in the KeySchema"):
        make(GlobalSecondaryIndexes=[mixed])


def test_a_table_s_own_key_has_one_attribute_each(make):
    """AWS: Multi-attribute keys pattern."""
    with refused(VALIDATION):
        make(KeySchema=several("x", ["a", "b"], ["c"])["KeySchema"])
