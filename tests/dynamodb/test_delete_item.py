"""DeleteItem: one item goes, or nothing does."""
import pytest

from dynamo import CONDITION_FAILED, NOT_FOUND, VALIDATION, plain_item, refused, typed_all


def test_a_deleted_item_is_gone(simple, pk):
    """AWS: DeleteItem."""
    simple.put({"pk": pk})
    assert simple.get({"pk": pk}) == {"pk": pk}
    simple.delete({"pk": pk})
    assert simple.get({"pk": pk}) is None


def test_only_the_named_item_goes(sorted_table, pk):
    """AWS: DeleteItem."""
    sorted_table.put({"pk": pk, "sk": 1})
    sorted_table.put({"pk": pk, "sk": 2})
    sorted_table.delete({"pk": pk, "sk": 1})
    assert sorted_table.get({"pk": pk, "sk": 1}) is None
    assert sorted_table.get({"pk": pk, "sk": 2}) == {"pk": pk, "sk": 2}


def test_deleting_twice_is_no_error(simple, pk):
    """AWS: DeleteItem."""
    simple.put({"pk": pk})
    first = simple.delete({"pk": pk}, ReturnValues="ALL_OLD")
    second = simple.delete({"pk": pk}, ReturnValues="ALL_OLD")
    assert "Attributes" in first
    assert "Attributes" not in second


def test_all_old_gives_the_deleted_item(simple, pk):
    """AWS: DeleteItem."""
    simple.put({"pk": pk, "a": [1, 2]})
    answer = simple.delete({"pk": pk}, ReturnValues="ALL_OLD")
    assert plain_item(answer["Attributes"]) == {"pk": pk, "a": [1, 2]}


@pytest.mark.parametrize("wanted", ["ALL_NEW", "UPDATED_OLD", "UPDATED_NEW"])
def test_a_delete_returns_only_all_old_or_none(simple, pk, wanted):
    """AWS: DeleteItem."""
    simple.put({"pk": pk})
    with refused(VALIDATION, "ReturnValues can only be ALL_OLD or NONE"):
        simple.delete({"pk": pk}, ReturnValues=wanted)
    assert simple.get({"pk": pk}) == {"pk": pk}


def test_a_delete_whose_condition_holds_is_done(simple, pk):
    """AWS: Condition expressions."""
    simple.put({"pk": pk, "price": 650})
    answer = simple.delete({"pk": pk}, ConditionExpression="price > :low", values={":low": 600},
                           ReturnValues="ALL_OLD")
    assert plain_item(answer["Attributes"]) == {"pk": pk, "price": 650}
    assert simple.get({"pk": pk}) is None


def test_a_delete_with_a_failed_condition_keeps_the_item(simple, pk):
    """AWS: Condition expressions."""
    simple.put({"pk": pk, "price": 450})
    with refused(CONDITION_FAILED, "The conditional request failed"):
        simple.delete({"pk": pk}, ConditionExpression="price > :low", values={":low": 600})
    assert simple.get({"pk": pk}) == {"pk": pk, "price": 450}


def test_a_condition_on_a_missing_item_fails(simple, pk):
    """AWS: DeleteItem."""
    with refused(CONDITION_FAILED):
        simple.delete({"pk": pk}, ConditionExpression="attribute_exists(pk)")


def test_a_failed_condition_shows_the_item_when_asked(simple, pk):
    """AWS: DeleteItem."""
    simple.put({"pk": pk, "a": 1})
    with refused(CONDITION_FAILED) as caught:
        simple.delete({"pk": pk}, ConditionExpression="a = :two", values={":two": 2},
                      ReturnValuesOnConditionCheckFailure="ALL_OLD")
    assert plain_item(caught.value.response["Item"]) == {"pk": pk, "a": 1}


@pytest.mark.parametrize("key", [{}, {"pk": "a"}, {"pk": "a", "sk": "1"}, {"pk": 1, "sk": 1},
                                 {"pk": "a", "sk": 1, "z": 1}], ids=str)
def test_a_key_that_is_not_the_table_s_is_refused(sorted_table, key):
    """AWS: DeleteItem."""
    with refused(VALIDATION, "The provided key element does not match the schema"):
        sorted_table.delete(key)


def test_a_delete_from_no_table_is_refused(client):
    """AWS: DeleteItem."""
    with refused(NOT_FOUND, "Requested resource not found"):
        client.delete_item(TableName="no-such-table", Key=typed_all({"pk": "a"}))


def test_a_deleted_item_can_be_put_again(simple, pk):
    """AWS: DeleteItem."""
    simple.put({"pk": pk, "a": 1})
    simple.delete({"pk": pk})
    simple.put({"pk": pk, "b": 2}, ConditionExpression="attribute_not_exists(a)")
    assert simple.get({"pk": pk}) == {"pk": pk, "b": 2}
