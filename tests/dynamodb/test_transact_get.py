"""TransactGetItems: several items at one moment."""
import re

import pytest

from dynamo import CANCELLED, NOT_FOUND, VALIDATION, plain_item, refused, typed_all


def get(table, key, **more):
    return {"Get": {"TableName": table.name, "Key": typed_all(key), **more}}


def read(client, *actions, **more):
    return client.transact_get_items(TransactItems=list(actions), **more)["Responses"]


@pytest.fixture(scope="module")
def table(simple):
    for letter in "abc":
        simple.put({"pk": letter, "n": ord(letter), "m": {"x": 1, "y": 2}})
    return simple


def test_answers_stand_in_the_order_of_the_questions(client, table):
    """AWS: TransactGetItems."""
    answer = read(client, get(table, {"pk": "c"}), get(table, {"pk": "a"}), get(table, {"pk": "b"}))
    assert [plain_item(one["Item"])["n"] for one in answer] == [99, 97, 98]


def test_a_missing_item_is_an_empty_answer(client, table):
    """AWS: TransactGetItems."""
    answer = read(client, get(table, {"pk": "nobody"}), get(table, {"pk": "a"}))
    assert answer[0] == {}
    assert answer[1]["Item"]["n"] == {"N": "97"}


def test_several_tables_are_read_at_once(client, table, sorted_table):
    """AWS: TransactGetItems."""
    sorted_table.put({"pk": "a", "sk": 1})
    answer = read(client, get(table, {"pk": "a"}), get(sorted_table, {"pk": "a", "sk": 1}))
    assert [plain_item(one["Item"])["pk"] for one in answer] == ["a", "a"]
    assert answer[1]["Item"]["sk"] == {"N": "1"}


@pytest.mark.parametrize("more, expected", [
    ({"ProjectionExpression": "n"}, {"n": 97}),
    ({"ProjectionExpression": "m.y, pk"}, {"m": {"y": 2}, "pk": "a"}),
    ({"ProjectionExpression": "#n", "ExpressionAttributeNames": {"#n": "n"}}, {"n": 97}),
], ids=str)
def test_each_get_has_its_own_projection(client, table, more, expected):
    """AWS: TransactGetItems."""
    answer = read(client, get(table, {"pk": "a"}, **more), get(table, {"pk": "b"}))
    assert plain_item(answer[0]["Item"]) == expected
    assert plain_item(answer[1]["Item"]) == {"pk": "b", "n": 98, "m": {"x": 1, "y": 2}}


def test_the_same_item_twice_is_refused(client, table):
    """AWS: TransactGetItems."""
    with refused(VALIDATION, "Transaction request cannot include multiple operations on one item"):
        read(client, get(table, {"pk": "a"}), get(table, {"pk": "a"}))


def test_a_hundred_gets_are_allowed(client, table):
    """AWS: TransactGetItems."""
    answer = read(client, *[get(table, {"pk": f"none{number}"}) for number in range(100)])
    assert answer == [{}] * 100


def test_more_than_a_hundred_gets_are_refused(client, table):
    """AWS: TransactGetItems."""
    with refused(VALIDATION, re.compile(
            r"Value '\[\{Get=.+\]' at 'transactItems' failed to satisfy constraint: Member must have "
            "length less than or equal to 100$")):
        read(client, *[get(table, {"pk": f"none{number}"}) for number in range(101)])


def test_no_gets_are_refused(client):
    """AWS: TransactGetItems."""
    with refused(VALIDATION, re.compile("Member must have length greater than or equal to 1$")):
        read(client)


def test_an_item_in_no_table_is_refused(client, table):
    """AWS: TransactGetItems."""
    with refused(NOT_FOUND):
        read(client, get(table, {"pk": "a"}),
             {"Get": {"TableName": "no-such-table", "Key": typed_all({"pk": "a"})}})


@pytest.mark.parametrize("key", [{}, {"pk": 1}, {"zz": "a"}, {"pk": "a", "zz": "a"}], ids=str)
def test_a_key_that_is_not_the_table_s_is_refused(client, table, key):
    """AWS: TransactGetItems."""
    with refused(CANCELLED, "Transaction cancelled, please refer cancellation reasons for specific "
                            "reasons [None, ValidationError]") as caught:
        read(client, get(table, {"pk": "a"}), get(table, key))
    assert caught.value.response["CancellationReasons"] == [{"Code": "None"}, {
        "Code": "ValidationError",
        "Message": "The provided key element does not match the schema"}]


def test_transactional_reads_cost_double(client, table):
    """AWS: Amazon DynamoDB Transactions: How it works."""
    answer = client.transact_get_items(
        TransactItems=[get(table, {"pk": "a"}), get(table, {"pk": "b"})],
        ReturnConsumedCapacity="TOTAL")
    (spent,) = answer["ConsumedCapacity"]
    assert (spent["TableName"], spent["CapacityUnits"]) == (table.name, 4.0)
