"""BatchWriteItem: many puts and deletes, each for itself."""
import re

import pytest

from dynamo import NOT_FOUND, VALIDATION, plain_item, refused, typed_all


def put(**item):
    return {"PutRequest": {"Item": typed_all(item)}}


def delete(**key):
    return {"DeleteRequest": {"Key": typed_all(key)}}


def write(table, *requests, **more):
    return table.client.batch_write_item(RequestItems={table.name: list(requests)}, **more)


def test_puts_and_deletes_are_done_together(sorted_table, pk):
    """AWS: BatchWriteItem."""
    sorted_table.put({"pk": pk, "sk": 1})
    answer = write(sorted_table, delete(pk=pk, sk=1), put(pk=pk, sk=2, a=1), put(pk=pk, sk=3))
    assert answer["UnprocessedItems"] == {}
    left = sorted_table.query("pk = :p", {":p": pk}, ConsistentRead=True)
    assert [plain_item(item) for item in left["Items"]] == [
        {"pk": pk, "sk": 2, "a": 1}, {"pk": pk, "sk": 3}]


def test_a_put_replaces_an_item(simple, pk):
    """AWS: BatchWriteItem."""
    simple.put({"pk": pk, "old": 1})
    write(simple, put(pk=pk, new=2))
    assert simple.get({"pk": pk}) == {"pk": pk, "new": 2}


def test_deleting_what_is_not_there_is_no_error(simple, pk):
    """AWS: BatchWriteItem."""
    answer = write(simple, delete(pk=pk))
    assert answer["UnprocessedItems"] == {}


def test_several_tables_are_written_at_once(client, simple, sorted_table, pk):
    """AWS: BatchWriteItem."""
    client.batch_write_item(RequestItems={
        simple.name: [put(pk=pk)], sorted_table.name: [put(pk=pk, sk=1)]})
    assert simple.get({"pk": pk}) == {"pk": pk}
    assert sorted_table.get({"pk": pk, "sk": 1}) == {"pk": pk, "sk": 1}


def test_twenty_five_writes_are_allowed(sorted_table, pk):
    """AWS: BatchWriteItem."""
    write(sorted_table, *[put(pk=pk, sk=number) for number in range(25)])
    assert sorted_table.query("pk = :p", {":p": pk}, ConsistentRead=True)["Count"] == 25


def test_more_than_twenty_five_writes_are_refused(sorted_table, pk):
    """AWS: BatchWriteItem."""
    with refused(VALIDATION) as caught:
        write(sorted_table, *[put(pk=pk, sk=number) for number in range(26)])
    message = caught.value.response["Error"]["Message"]
    assert ("Too many items requested for the BatchWriteItem call" in message
            or "Member must have length less than or equal to 25" in message), message
    assert sorted_table.query("pk = :p", {":p": pk}, ConsistentRead=True)["Count"] == 0


def test_twenty_five_are_counted_over_tables(client, simple, sorted_table, pk):
    """AWS: BatchWriteItem."""
    with refused(VALIDATION, "Too many items requested for the BatchWriteItem call"):
        client.batch_write_item(RequestItems={
            simple.name: [put(pk=f"{pk}{number}") for number in range(13)],
            sorted_table.name: [put(pk=pk, sk=number) for number in range(13)]})
    assert simple.get({"pk": pk + "0"}) is None


@pytest.mark.parametrize("second", [{"a": 2}, None], ids=["put and put", "put and delete"])
def test_two_writes_of_one_item_are_refused(simple, pk, second):
    """AWS: BatchWriteItem."""
    other = delete(pk=pk) if second is None else put(pk=pk, **second)
    with refused(VALIDATION, "Provided list of item keys contains duplicates"):
        write(simple, put(pk=pk, a=1), other)
    assert simple.get({"pk": pk}) is None


def test_one_unknown_table_spoils_the_batch(client, simple, pk):
    """AWS: BatchWriteItem."""
    with refused(NOT_FOUND, "Requested resource not found"):
        client.batch_write_item(RequestItems={
            simple.name: [put(pk=pk)], "no-such-table": [put(pk=pk)]})
    assert simple.get({"pk": pk}) is None


@pytest.mark.parametrize("wrong, told", [
    (put(a=1), "The provided key element does not match the schema"),
    (put(pk=1), "The provided key element does not match the schema"),
    (delete(pk=1), "The provided key element does not match the schema"),
    (delete(pk="a", b="c"), "The provided key element does not match the schema"),
    (delete(), "The provided key element does not match the schema"),
    ({"PutRequest": {"Item": {"pk": {"S": "a"}, "b": {}}}},
     "Supplied AttributeValue is empty, must contain exactly one of the supported datatypes"),
    ({"PutRequest": {"Item": {"pk": {"S": "a"}, "b": {"N": "x"}}}},
     "The parameter cannot be converted to a numeric value: x"),
    ({"PutRequest": {"Item": {"pk": {"S": ""}}}},
     "One or more parameter values are not valid. The AttributeValue for a key attribute cannot "
     "contain an empty string value. Key: pk"),
], ids=str)
def test_one_wrong_write_spoils_the_batch(simple, pk, wrong, told):
    """AWS: BatchWriteItem."""
    with refused(VALIDATION, told):
        write(simple, put(pk=pk), wrong)
    assert simple.get({"pk": pk}) is None


@pytest.mark.parametrize("request_of", [
    lambda name: {"RequestItems": {}}, lambda name: {"RequestItems": {name: []}},
], ids=["no tables", "no writes"])
def test_a_batch_without_writes_is_refused(client, simple, request_of):
    """AWS: BatchWriteItem."""
    with refused(VALIDATION) as caught:
        client.batch_write_item(**request_of(simple.name))
    message = caught.value.response["Error"]["Message"].lower()
    assert "requestitems" in message or "batch write request list" in message, message


@pytest.mark.parametrize("wrong", [{}, {**put(pk="a"), **delete(pk="a")}],
                         ids=["neither", "both"])
def test_a_write_is_a_put_or_a_delete(simple, wrong):
    """AWS: WriteRequest."""
    with refused(VALIDATION):
        write(simple, put(pk="b"), wrong)
    assert simple.get({"pk": "b"}) is None


def test_an_item_that_is_too_large_spoils_the_batch(simple, pk):
    """AWS: BatchWriteItem."""
    with refused(VALIDATION, "Item size has exceeded the maximum allowed size"):
        write(simple, put(pk=pk), put(pk=pk + "big", load="x" * 410_000))
    assert simple.get({"pk": pk}) is None


def test_metrics_and_capacity_come_when_asked(simple, pk):
    """AWS: BatchWriteItem."""
    answer = write(simple, put(pk=pk), put(pk=pk + "2"), ReturnConsumedCapacity="TOTAL")
    assert answer["ConsumedCapacity"] == [{"TableName": simple.name, "CapacityUnits": 2.0}]


def test_too_many_writes_are_told_with_what_was_asked(client):
    """AWS: BatchWriteItem."""
    puts = [{"PutRequest": {"Item": {"pk": {"S": str(number)}}}} for number in range(26)]
    with refused(VALIDATION, re.compile(
            r"^1 validation error detected: Value '\{no-such-table=\[\{PutRequest=\{Item=\{pk=\{S=0"
            r"\}\}\}\}, .+\]\}' at 'requestItems' failed to satisfy "
            r"constraint: Map value must satisfy constraint: \[Member must have length less than or "
            r"equal to 25, Member must have length greater than or equal to 1\]$")):
        client.batch_write_item(RequestItems={"no-such-table": puts})


@pytest.mark.parametrize("request_items", [{}, None], ids=["empty", "missing"])
def test_a_batch_of_nothing_is_refused_in_words_of_its_own(http, request_items):
    """AWS: BatchWriteItem."""
    answer = http.send("BatchWriteItem", {"RequestItems": request_items})
    assert (answer.type, answer.message) == (
        VALIDATION, "The requestItems parameter is required for BatchWriteItem")
