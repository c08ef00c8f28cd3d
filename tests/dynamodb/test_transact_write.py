"""TransactWriteItems: all of it or nothing."""
import re
import uuid
from concurrent.futures import ThreadPoolExecutor

import pytest

from dynamo import CANCELLED, NOT_FOUND, VALIDATION, plain_item, refused, typed, typed_all

CANCELLED_WITH = "Transaction cancelled, please refer cancellation reasons for specific reasons "


def put(table, item, **more):
    return {"Put": {"TableName": table.name, "Item": typed_all(item), **more}}


def delete(table, key, **more):
    return {"Delete": {"TableName": table.name, "Key": typed_all(key), **more}}


def update(table, key, expression, values=None, **more):
    if values:
        more["ExpressionAttributeValues"] = typed_all(values)
    return {"Update": {"TableName": table.name, "Key": typed_all(key),
                       "UpdateExpression": expression, **more}}


def check(table, key, condition, **more):
    return {"ConditionCheck": {"TableName": table.name, "Key": typed_all(key),
                               "ConditionExpression": condition, **more}}


def write(client, *actions, **more):
    return client.transact_write_items(TransactItems=list(actions), **more)


def reasons(caught):
    return [reason["Code"] for reason in caught.value.response["CancellationReasons"]]


def test_all_four_actions_are_done_together(client, simple, pk):
    """AWS: TransactWriteItems."""
    for letter in "bcd":
        simple.put({"pk": pk + letter, "n": 1})
    write(client, put(simple, {"pk": pk + "a", "n": 1}),
          update(simple, {"pk": pk + "b"}, "SET n = n + :one", {":one": 1}),
          delete(simple, {"pk": pk + "c"}),
          check(simple, {"pk": pk + "d"}, "attribute_exists(pk)"))
    assert [simple.get({"pk": pk + letter}) for letter in "abcd"] == [
        {"pk": pk + "a", "n": 1}, {"pk": pk + "b", "n": 2}, None, {"pk": pk + "d", "n": 1}]


def test_one_failed_condition_undoes_everything(client, simple, pk):
    """AWS: Amazon DynamoDB Transactions: How it works."""
    simple.put({"pk": pk + "b", "n": 1})
    with refused(CANCELLED, CANCELLED_WITH + "[None, ConditionalCheckFailed, None]") as caught:
        write(client, put(simple, {"pk": pk + "a"}),
              update(simple, {"pk": pk + "b"}, "SET n = :n", {":n": 5, ":old": 7},
                     ConditionExpression="n = :old"),
              put(simple, {"pk": pk + "c"}))
    assert reasons(caught) == ["None", "ConditionalCheckFailed", "None"]
    assert simple.get({"pk": pk + "a"}) is None
    assert simple.get({"pk": pk + "b"}) == {"pk": pk + "b", "n": 1}
    assert simple.get({"pk": pk + "c"}) is None


def test_every_failed_condition_is_told(client, simple, pk):
    """AWS: TransactWriteItems."""
    with refused(CANCELLED, CANCELLED_WITH + "[ConditionalCheckFailed, None, "
                            "ConditionalCheckFailed]") as caught:
        write(client, check(simple, {"pk": pk + "a"}, "attribute_exists(pk)"),
              put(simple, {"pk": pk + "b"}),
              delete(simple, {"pk": pk + "c"}, ConditionExpression="attribute_exists(pk)"))
    told = caught.value.response["CancellationReasons"]
    assert told[0]["Message"] == "The conditional request failed"
    assert "Message" not in told[1]


def test_a_failed_condition_shows_its_item_when_asked(client, simple, pk):
    """AWS: TransactWriteItems."""
    simple.put({"pk": pk, "n": 1})
    with refused(CANCELLED) as caught:
        write(client, put(simple, {"pk": pk}, ConditionExpression="attribute_not_exists(pk)",
                          ReturnValuesOnConditionCheckFailure="ALL_OLD"))
    (reason,) = caught.value.response["CancellationReasons"]
    assert plain_item(reason["Item"]) == {"pk": pk, "n": 1}


def test_a_failed_condition_shows_no_item_unless_asked(client, simple, pk):
    """AWS: TransactWriteItems."""
    simple.put({"pk": pk, "n": 1})
    with refused(CANCELLED) as caught:
        write(client, put(simple, {"pk": pk}, ConditionExpression="attribute_not_exists(pk)"))
    (reason,) = caught.value.response["CancellationReasons"]
    assert reason["Code"] == "ConditionalCheckFailed"
    assert "Item" not in reason


def test_a_check_changes_nothing(client, simple, pk):
    """AWS: ConditionCheck."""
    simple.put({"pk": pk, "n": 1})
    write(client, check(simple, {"pk": pk}, "n = :one",
                        ExpressionAttributeValues={":one": typed(1)}))
    assert simple.get({"pk": pk}) == {"pk": pk, "n": 1}


def test_several_tables_are_written_at_once(client, simple, sorted_table, pk):
    """AWS: TransactWriteItems."""
    write(client, put(simple, {"pk": pk}), put(sorted_table, {"pk": pk, "sk": 1}))
    assert simple.get({"pk": pk}) == {"pk": pk}
    assert sorted_table.get({"pk": pk, "sk": 1}) == {"pk": pk, "sk": 1}


def test_an_update_makes_an_item_that_was_not_there(client, simple, pk):
    """AWS: TransactWriteItems."""
    write(client, update(simple, {"pk": pk}, "ADD n :one", {":one": 1}))
    assert simple.get({"pk": pk}) == {"pk": pk, "n": 1}


@pytest.mark.parametrize("second", [
    lambda table, key: delete(table, key),
    lambda table, key: update(table, key, "REMOVE a"),
    lambda table, key: check(table, key, "attribute_not_exists(pk)"),
    lambda table, key: put(table, key),
], ids=["delete", "update", "check", "put"])
def test_two_actions_on_one_item_are_refused(client, simple, pk, second):
    """AWS: TransactWriteItems."""
    with refused(VALIDATION, "Transaction request cannot include multiple operations on one item"):
        write(client, put(simple, {"pk": pk}), second(simple, {"pk": pk}))
    assert simple.get({"pk": pk}) is None


def test_a_hundred_actions_are_allowed(client, sorted_table, pk):
    """AWS: TransactWriteItems."""
    write(client, *[put(sorted_table, {"pk": pk, "sk": number}) for number in range(100)])
    assert sorted_table.query("pk = :p", {":p": pk}, ConsistentRead=True)["Count"] == 100


def test_more_than_a_hundred_actions_are_refused(client, sorted_table, pk):
    """AWS: TransactWriteItems."""
    with refused(VALIDATION, re.compile("Member must have length less than or equal to 100")):
        write(client, *[put(sorted_table, {"pk": pk, "sk": number}) for number in range(101)])
    assert sorted_table.query("pk = :p", {":p": pk}, ConsistentRead=True)["Count"] == 0


def test_no_actions_are_refused(client):
    """AWS: TransactWriteItems."""
    with refused(VALIDATION, re.compile("Member must have length greater than or equal to 1$")):
        write(client)


def test_an_item_in_no_table_is_refused(client, simple, pk):
    """AWS: TransactWriteItems."""
    with refused(NOT_FOUND):
        write(client, put(simple, {"pk": pk}),
              {"Put": {"TableName": "no-such-table", "Item": typed_all({"pk": pk})}})
    assert simple.get({"pk": pk}) is None


@pytest.mark.parametrize("wrong", [{}, "both"], ids=["nothing", "two actions"])
def test_each_element_is_one_action(client, simple, pk, wrong):
    """AWS: TransactWriteItem."""
    if wrong == "both":
        wrong = {**put(simple, {"pk": pk + "x"}), **delete(simple, {"pk": pk + "y"})}
    with refused(VALIDATION, "TransactItems can only contain one of Check, Put, Update or Delete"):
        write(client, put(simple, {"pk": pk}), wrong)
    assert simple.get({"pk": pk}) is None


@pytest.mark.parametrize("action, told", [
    (lambda t, pk: put(t, {"a": 1}), "Missing the key pk in the item"),
    (lambda t, pk: put(t, {"pk": 1}), "Type mismatch for key pk expected: S actual: N"),
    (lambda t, pk: delete(t, {"pk": 1}), "The provided key element does not match the schema"),
    (lambda t, pk: delete(t, {"zz": "a"}), "The provided key element does not match the schema"),
    (lambda t, pk: update(t, {"pk": pk}, "SET pk = :p", {":p": "x"}),
     "Cannot update attribute pk. This attribute is part of the key"),
    (lambda t, pk: update(t, {"pk": pk}, "SET a ="), "Invalid UpdateExpression: Syntax error"),
    (lambda t, pk: check(t, {"pk": pk}, ""), "The expression can not be empty"),
    (lambda t, pk: check(t, {"pk": pk}, "a = :b"), "attribute value: :b"),
    (lambda t, pk: put(t, {"pk": ""}), "cannot contain an empty string value"),
    (lambda t, pk: put(t, {"pk": pk, "big": "x" * 410_000}), "Item size"),
], ids=["no key", "key type", "delete key type", "delete key name", "update of the key",
        "broken update", "empty check", "undefined value", "empty key", "large item"])
def test_a_wrong_action_spoils_the_transaction(client, simple, pk, action, told):
    """AWS: TransactWriteItems."""
    with pytest.raises(client.exceptions.ClientError) as caught:
        write(client, put(simple, {"pk": pk + "good"}), action(simple, pk + "bad"))
    answer = caught.value.response
    assert answer["Error"]["Code"] in (VALIDATION, CANCELLED)
    if answer["Error"]["Code"] == CANCELLED:
        assert reasons(caught) == ["None", "ValidationError"]
        assert told in answer["CancellationReasons"][1]["Message"]
    else:
        assert told in answer["Error"]["Message"]
    assert simple.get({"pk": pk + "good"}) is None


def test_an_update_that_does_not_fit_its_item_cancels(client, simple, pk):
    """AWS: TransactWriteItems."""
    simple.put({"pk": pk, "letters": "x"})
    with refused(CANCELLED) as caught:
        write(client, put(simple, {"pk": pk + "2"}),
              update(simple, {"pk": pk}, "SET n = letters + :one", {":one": 1}))
    assert reasons(caught) == ["None", "ValidationError"]
    assert caught.value.response["CancellationReasons"][1]["Message"] == (
        "An operand in the update expression has an incorrect data type")
    assert simple.get({"pk": pk + "2"}) is None


def test_the_same_token_is_done_once(client, simple, pk):
    """AWS: Amazon DynamoDB Transactions: How it works."""
    token = uuid.uuid4().hex
    action = update(simple, {"pk": pk}, "ADD n :one", {":one": 1})
    write(client, action, ClientRequestToken=token)
    write(client, action, ClientRequestToken=token)
    assert simple.get({"pk": pk}) == {"pk": pk, "n": 1}


def test_the_same_token_many_times_at_once_is_done_once(client, simple, pk):
    """AWS: Amazon DynamoDB Transactions: How it works."""
    token = uuid.uuid4().hex
    action = update(simple, {"pk": pk}, "ADD n :one", {":one": 1})
    with ThreadPoolExecutor(8) as threads:
        sent = [threads.submit(write, client, action, ClientRequestToken=token) for _ in range(8)]
        for answer in sent:
            answer.result()
    assert simple.get({"pk": pk}) == {"pk": pk, "n": 1}


def test_other_tokens_are_done_again(client, simple, pk):
    """AWS: Amazon DynamoDB Transactions: How it works."""
    action = update(simple, {"pk": pk}, "ADD n :one", {":one": 1})
    for _ in range(2):
        write(client, action, ClientRequestToken=uuid.uuid4().hex)
    assert simple.get({"pk": pk}) == {"pk": pk, "n": 2}


def test_the_same_token_for_other_writes_is_refused(client, simple, pk):
    """AWS: Amazon DynamoDB Transactions: How it works."""
    token = uuid.uuid4().hex
    write(client, put(simple, {"pk": pk, "n": 1}), ClientRequestToken=token)
    with refused("IdempotentParameterMismatchException"):
        write(client, put(simple, {"pk": pk, "n": 2}), ClientRequestToken=token)
    assert simple.get({"pk": pk}) == {"pk": pk, "n": 1}


def test_a_cancelled_transaction_may_be_sent_again_with_its_token(client, simple, pk):
    """AWS: Amazon DynamoDB Transactions: How it works."""
    token = uuid.uuid4().hex
    action = put(simple, {"pk": pk, "n": 1}, ConditionExpression="attribute_not_exists(pk)")
    simple.put({"pk": pk})
    with refused(CANCELLED):
        write(client, action, ClientRequestToken=token)
    simple.delete({"pk": pk})
    write(client, action, ClientRequestToken=token)
    assert simple.get({"pk": pk}) == {"pk": pk, "n": 1}


@pytest.mark.parametrize("token", ["", "x" * 37])
def test_a_token_has_one_to_thirty_six_characters(client, simple, pk, token):
    """AWS: TransactWriteItems."""
    with refused(VALIDATION, re.compile("clientRequestToken")):
        write(client, put(simple, {"pk": pk}), ClientRequestToken=token)
    assert simple.get({"pk": pk}) is None


def test_a_transaction_holds_at_most_four_megabytes(client, simple, pk):
    """AWS: TransactWriteItems."""
    big = [put(simple, {"pk": f"{pk}{number}", "load": "x" * 390_000}) for number in range(12)]
    with pytest.raises(client.exceptions.ClientError) as caught:
        write(client, *big)
    assert caught.value.response["Error"]["Code"] in (
        VALIDATION, "TransactionCanceledException", "413")
    assert simple.get({"pk": pk + "0"}) is None


def test_transactional_writes_cost_double(client, simple, pk):
    """AWS: Amazon DynamoDB Transactions: How it works."""
    answer = write(client, put(simple, {"pk": pk}), put(simple, {"pk": pk + "2"}),
                   ReturnConsumedCapacity="TOTAL")
    (spent,) = answer["ConsumedCapacity"]
    assert (spent["TableName"], spent["CapacityUnits"]) == (simple.name, 4.0)
