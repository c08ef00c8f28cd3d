"""Query: order, pages, filters, what is selected."""
import re

import pytest

from dynamo import NOT_FOUND, VALIDATION, column, items, plain_item, refused, typed_all


@pytest.fixture(scope="module")
def table(sorted_table):
    for number in range(20):
        sorted_table.put({"pk": "p", "sk": number, "even": number % 2 == 0, "a": number * 10})
    sorted_table.put({"pk": "other", "sk": 1})
    return sorted_table


def pages(table, **query):
    """Every page of a query, by its sort keys."""
    start = {}
    while True:
        answer = table.query("pk = :p", {":p": "p", **query.get("extra", {})},
                             **{k: v for k, v in query.items() if k != "extra"}, **start)
        yield column(answer, "sk")
        if "LastEvaluatedKey" not in answer:
            return
        start = {"ExclusiveStartKey": answer["LastEvaluatedKey"]}


def test_a_query_gives_one_partition_in_order(table):
    """AWS: Query."""
    answer = table.query("pk = :p", {":p": "p"})
    assert column(answer, "sk") == list(range(20))
    assert (answer["Count"], answer["ScannedCount"]) == (20, 20)
    assert "LastEvaluatedKey" not in answer


def test_a_query_backwards_gives_the_reverse(table):
    """AWS: Query."""
    answer = table.query("pk = :p", {":p": "p"}, ScanIndexForward=False)
    assert column(answer, "sk") == list(range(19, -1, -1))


def test_an_empty_partition_is_an_empty_answer(table):
    """AWS: Query operations in DynamoDB."""
    answer = table.query("pk = :p", {":p": "nobody"})
    assert (answer["Items"], answer["Count"], answer["ScannedCount"]) == ([], 0, 0)


def test_items_come_whole(table):
    """AWS: Query."""
    answer = table.query("pk = :p AND sk = :s", {":p": "p", ":s": 3})
    assert items(answer) == [{"pk": "p", "sk": 3, "even": False, "a": 30}]


@pytest.mark.parametrize("limit, forward", [
    (1, True), (6, True), (7, False), (20, True), (21, True)])
def test_pages_follow_each_other_without_gaps(table, limit, forward):
    """AWS: Paginating table query results."""
    seen = list(pages(table, Limit=limit, ScanIndexForward=forward))
    flat = [number for page in seen for number in page]
    assert flat == list(range(20)) if forward else list(range(19, -1, -1))
    assert all(len(page) <= limit for page in seen)


def test_a_full_page_names_its_last_key(table):
    """AWS: Paginating table query results."""
    answer = table.query("pk = :p", {":p": "p"}, Limit=5)
    assert plain_item(answer["LastEvaluatedKey"]) == {"pk": "p", "sk": 4}
    assert answer["Count"] == 5


def test_a_page_may_start_after_an_item_that_is_gone(table, pk):
    """AWS: Query."""
    for number in (1, 2, 3):
        table.put({"pk": pk, "sk": number})
    table.delete({"pk": pk, "sk": 2})
    answer = table.query("pk = :p", {":p": pk}, ExclusiveStartKey=typed_all({"pk": pk, "sk": 2}))
    assert column(answer, "sk") == [3]


def test_the_limit_counts_items_before_the_filter(table):
    """AWS: Query operations in DynamoDB."""
    answer = table.query("pk = :p", {":p": "p", ":a": 150}, FilterExpression="a >= :a", Limit=10)
    assert (answer["Count"], answer["ScannedCount"]) == (0, 10)
    assert plain_item(answer["LastEvaluatedKey"]) == {"pk": "p", "sk": 9}


@pytest.mark.parametrize("condition, values, expected", [
    ("even = :t", {":t": True}, list(range(0, 20, 2))),
    ("a > :a", {":a": 170}, [18, 19]),
    ("a > :a AND even = :t", {":a": 170, ":t": True}, [18]),
    ("attribute_not_exists(a)", {}, []),
    ("NOT even = :t", {":t": True}, list(range(1, 20, 2))),
    ("a IN (:x, :y)", {":x": 0, ":y": 190}, [0, 19]),
], ids=lambda value: value if isinstance(value, str) else "")
def test_a_filter_leaves_items_out(table, condition, values, expected):
    """AWS: Query operations in DynamoDB."""
    answer = table.query("pk = :p", {":p": "p", **values}, FilterExpression=condition)
    assert column(answer, "sk") == expected
    assert (answer["Count"], answer["ScannedCount"]) == (len(expected), 20)


@pytest.mark.parametrize("name, condition", [
    ("pk", "pk = :p"), ("sk", "sk > :n"), ("sk", "attribute_exists(sk) AND a > :n"),
    ("sk", "a = :n OR sk = :n")])
def test_a_filter_has_no_key_attributes(table, name, condition):
    """AWS: Query operations in DynamoDB."""
    values = {":p": "p", ":n": 1} if ":n" in condition else {":p": "p"}
    with refused(VALIDATION, "Filter Expression can only contain non-primary key attributes: "
                             f"Primary key attribute: {name}"):
        table.query("pk = :p", values, FilterExpression=condition)


def test_a_projection_shows_only_its_attributes(table):
    """AWS: Query."""
    answer = table.query("pk = :p AND sk < :s", {":p": "p", ":s": 2}, ProjectionExpression="a")
    assert items(answer) == [{"a": 0}, {"a": 10}]


def test_a_count_has_no_items(table):
    """AWS: Query."""
    answer = table.query("pk = :p", {":p": "p"}, Select="COUNT")
    assert "Items" not in answer
    assert (answer["Count"], answer["ScannedCount"]) == (20, 20)


def test_a_count_is_of_items_that_pass_the_filter(table):
    """AWS: Query."""
    answer = table.query("pk = :p", {":p": "p", ":t": True}, Select="COUNT",
                         FilterExpression="even = :t")
    assert (answer["Count"], answer["ScannedCount"]) == (10, 20)


def test_specific_attributes_are_those_of_the_projection(table):
    """AWS: Query."""
    answer = table.query("pk = :p AND sk = :s", {":p": "p", ":s": 2}, ProjectionExpression="a",
                         Select="SPECIFIC_ATTRIBUTES")
    assert items(answer) == [{"a": 20}]


@pytest.mark.parametrize("select, more, told", [
    ("ALL_PROJECTED_ATTRIBUTES", {},
     "ALL_PROJECTED_ATTRIBUTES can be used only when Querying using an IndexName"),
    ("ALL_ATTRIBUTES", {"ProjectionExpression": "a"},
     "Cannot specify the ProjectionExpression when choosing to get ALL_ATTRIBUTES"),
    ("COUNT", {"ProjectionExpression": "a"},
     "Cannot specify the ProjectionExpression when choosing to get only the Count"),
])
def test_a_selection_that_contradicts_itself_is_refused(table, select, more, told):
    """AWS: Query."""
    with refused(VALIDATION, told):
        table.query("pk = :p", {":p": "p"}, Select=select, **more)


def test_specific_attributes_without_a_projection_are_refused(table):
    """AWS: Query."""
    with refused(VALIDATION, re.compile("Must specify the AttributesToGet or ProjectionExpression "
                                        "when choosing to get SPECIFIC_ATTRIBUTES$")):
        table.query("pk = :p", {":p": "p"}, Select="SPECIFIC_ATTRIBUTES")


@pytest.mark.parametrize("start", [
    {"pk": "p"}, {"sk": 1}, {"pk": "p", "sk": "1"}, {"pk": "p", "sk": 1, "a": 1},
    {"pk": 1, "sk": 1}, {"a": 1}], ids=str)
def test_a_start_that_is_no_key_is_refused(table, start):
    """AWS: Query."""
    with refused(VALIDATION) as caught:
        table.query("pk = :p", {":p": "p"}, ExclusiveStartKey=typed_all(start))
    message = caught.value.response["Error"]["Message"]
    assert message.startswith(("The provided starting key is invalid",
                               "The provided key element does not match the schema")), message


def test_a_start_in_another_partition_is_refused(table):
    """AWS: Query."""
    with refused(VALIDATION, "The provided starting key is outside query boundaries based on "
                             "provided conditions"):
        table.query("pk = :p", {":p": "p"}, ExclusiveStartKey=typed_all({"pk": "x", "sk": 1}))


def test_a_start_outside_the_range_is_refused(table):
    """AWS: Query."""
    with refused(VALIDATION, "The provided starting key does not match the range key predicate"):
        table.query("pk = :p AND sk < :s", {":p": "p", ":s": 5},
                    ExclusiveStartKey=typed_all({"pk": "p", "sk": 9}))


@pytest.mark.parametrize("limit", [0, -1])
def test_a_limit_is_at_least_one(table, limit):
    """AWS: Query."""
    with refused(VALIDATION, "1 validation error detected: Value at 'Limit' failed to satisfy "
                             "constraint: Member must have value greater than or equal to 1"):
        table.query("pk = :p", {":p": "p"}, Limit=limit)


def test_an_index_that_is_not_there_is_refused(table):
    """AWS: Query."""
    with refused(VALIDATION, "The table does not have the specified index: nowhere"):
        table.query("pk = :p", {":p": "p"}, IndexName="nowhere")


def test_a_query_of_no_table_is_refused(client):
    """AWS: Query."""
    with refused(NOT_FOUND, "Requested resource not found"):
        client.query(TableName="no-such-table", KeyConditionExpression="pk = :p",
                     ExpressionAttributeValues=typed_all({":p": "p"}))


def test_an_unknown_selection_is_refused(table):
    """AWS: Query."""
    with refused(VALIDATION) as caught:
        table.query("pk = :p", {":p": "p"}, Select="SOME")
    message = caught.value.response["Error"]["Message"]
    assert "Value 'SOME' at 'select' failed to satisfy constraint" in message


def test_a_consistent_query_sees_the_write_before_it(table, pk):
    """AWS: Read consistency."""
    table.put({"pk": pk, "sk": 1})
    answer = table.query("pk = :p", {":p": pk}, ConsistentRead=True)
    assert column(answer, "sk") == [1]


def test_a_page_ends_at_a_megabyte(make):
    """AWS: Paginating table query results."""
    table = make(sort="sk", types={"sk": "N"})
    for number in range(5):
        table.put({"pk": "p", "sk": number, "load": "x" * 300_000})
    first = table.query("pk = :p", {":p": "p"})
    assert column(first, "sk") == [0, 1, 2, 3]
    second = table.query("pk = :p", {":p": "p"}, ExclusiveStartKey=first["LastEvaluatedKey"])
    assert column(second, "sk") == [4]
    assert "LastEvaluatedKey" not in second


def test_a_megabyte_is_counted_before_filter_and_projection(make):
    """AWS: Paginating table query results."""
    table = make(sort="sk", types={"sk": "N"})
    for number in range(5):
        table.put({"pk": "p", "sk": number, "load": "x" * 300_000})
    answer = table.query("pk = :p", {":p": "p"}, FilterExpression="attribute_not_exists(#l)",
                         names={"#l": "load"}, ProjectionExpression="pk")
    assert (answer["Count"], answer["ScannedCount"]) == (0, 4)
    assert plain_item(answer["LastEvaluatedKey"]) == {"pk": "p", "sk": 3}


def test_conditions_are_counted_before_the_table_is_looked_for(client):
    """AWS: Query."""
    with refused(VALIDATION, "Conditions can be of length 1 or 2 only"):
        client.query(TableName="no-such-table", KeyConditions={})


def test_all_that_is_wrong_with_the_name_of_an_index_is_told(table):
    """AWS: Query."""
    with refused(VALIDATION, re.compile("^2 validation errors detected: .*pattern.*; .*length")):
        table.query("pk = :a", {":a": "a"}, IndexName="a;")


def test_a_missing_condition_is_told_before_a_wrong_start(named):
    """AWS: Query."""
    with refused(VALIDATION, "Query condition missed key schema element: pk"):
        named.query("sk = :a", {":a": "a"}, ExclusiveStartKey={"pk": {"S": "a"}, "zz": {"S": "a"}})
