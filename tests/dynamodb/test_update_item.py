"""UpdateItem: making, changing and what is answered. Its expressions are in their own file."""
import pytest

from dynamo import CONDITION_FAILED, NOT_FOUND, VALIDATION, plain_item, refused, typed_all


def test_an_update_makes_an_item_that_was_not_there(simple, pk):
    """AWS: UpdateItem."""
    simple.update({"pk": pk}, "SET a = :a", {":a": 1})
    assert simple.get({"pk": pk}) == {"pk": pk, "a": 1}


def test_an_update_without_an_expression_makes_an_item_of_its_key(simple, pk):
    """AWS: UpdateItem."""
    simple.update({"pk": pk})
    assert simple.get({"pk": pk}) == {"pk": pk}


def test_an_update_without_an_expression_keeps_the_item(simple, pk):
    """AWS: UpdateItem."""
    simple.put({"pk": pk, "a": 1})
    simple.update({"pk": pk})
    assert simple.get({"pk": pk}) == {"pk": pk, "a": 1}


def test_attributes_that_are_not_named_stay(simple, pk):
    """AWS: UpdateItem."""
    simple.put({"pk": pk, "a": 1, "b": 2})
    simple.update({"pk": pk}, "SET a = :a", {":a": 3})
    assert simple.get({"pk": pk}) == {"pk": pk, "a": 3, "b": 2}


@pytest.mark.parametrize("wanted, expected", [
    ("NONE", None),
    ("ALL_OLD", {"a": 1, "b": {"x": 1, "y": 2}, "c": 9}),
    ("ALL_NEW", {"a": 2, "b": {"x": 5, "y": 2}, "c": 9, "d": 4}),
    ("UPDATED_OLD", {"a": 1, "b": {"x": 1}}),
    ("UPDATED_NEW", {"a": 2, "b": {"x": 5}, "d": 4}),
])
def test_an_update_answers_with_what_was_asked(simple, pk, wanted, expected):
    """AWS: UpdateItem."""
    simple.put({"pk": pk, "a": 1, "b": {"x": 1, "y": 2}, "c": 9})
    answer = simple.update({"pk": pk}, "SET a = :a, b.x = :x, d = :d", {":a": 2, ":x": 5, ":d": 4},
                           ReturnValues=wanted)
    if expected is None:
        assert "Attributes" not in answer
    else:
        shown = plain_item(answer["Attributes"])
        assert shown.pop("pk", pk) == pk
        assert shown == expected
    assert simple.get({"pk": pk}) == {"pk": pk, "a": 2, "b": {"x": 5, "y": 2}, "c": 9, "d": 4}


@pytest.mark.parametrize("wanted, holds_key", [
    ("ALL_OLD", True), ("ALL_NEW", True), ("UPDATED_OLD", False), ("UPDATED_NEW", False)])
def test_only_whole_items_come_with_their_key(simple, pk, wanted, holds_key):
    """AWS: UpdateItem."""
    simple.put({"pk": pk, "a": 1})
    answer = simple.update({"pk": pk}, "SET a = :a", {":a": 2}, ReturnValues=wanted)
    assert ("pk" in answer["Attributes"]) == holds_key


@pytest.mark.parametrize("wanted", ["ALL_OLD", "UPDATED_OLD"])
def test_a_new_item_has_no_old_attributes(simple, pk, wanted):
    """AWS: UpdateItem."""
    answer = simple.update({"pk": pk}, "SET a = :a", {":a": 2}, ReturnValues=wanted)
    assert "Attributes" not in answer
    assert simple.get({"pk": pk}) == {"pk": pk, "a": 2}


def test_a_removed_attribute_is_no_new_one(simple, pk):
    """AWS: UpdateItem."""
    simple.put({"pk": pk, "a": 1, "b": 2})
    answer = simple.update({"pk": pk}, "REMOVE a", ReturnValues="UPDATED_NEW")
    assert "a" not in answer.get("Attributes", {})
    assert simple.get({"pk": pk}) == {"pk": pk, "b": 2}


def test_a_removed_attribute_is_shown_as_old(simple, pk):
    """AWS: UpdateItem."""
    simple.put({"pk": pk, "a": 1, "b": 2})
    answer = simple.update({"pk": pk}, "REMOVE a", ReturnValues="UPDATED_OLD")
    assert plain_item(answer["Attributes"]) == {"a": 1}


def test_an_update_whose_condition_holds_is_done(simple, pk):
    """AWS: Condition expressions."""
    simple.put({"pk": pk, "price": 500})
    simple.update({"pk": pk}, "SET price = price - :cut", {":cut": 100, ":least": 450},
                  ConditionExpression="price > :least")
    assert simple.get({"pk": pk})["price"] == 400


def test_an_update_with_a_failed_condition_changes_nothing(simple, pk):
    """AWS: Condition expressions."""
    simple.put({"pk": pk, "price": 400})
    with refused(CONDITION_FAILED, "The conditional request failed"):
        simple.update({"pk": pk}, "SET price = price - :cut", {":cut": 100, ":least": 450},
                      ConditionExpression="price > :least")
    assert simple.get({"pk": pk}) == {"pk": pk, "price": 400}


def test_a_failed_condition_on_a_missing_item_makes_none(simple, pk):
    """AWS: Condition expressions."""
    with refused(CONDITION_FAILED):
        simple.update({"pk": pk}, "SET a = :a", {":a": 1},
                      ConditionExpression="attribute_exists(pk)")
    assert simple.get({"pk": pk}) is None


def test_a_failed_condition_shows_the_item_when_asked(simple, pk):
    """AWS: UpdateItem."""
    simple.put({"pk": pk, "a": 1})
    with refused(CONDITION_FAILED) as caught:
        simple.update({"pk": pk}, "SET a = :new", {":new": 2, ":old": 5},
                      ConditionExpression="a = :old", ReturnValuesOnConditionCheckFailure="ALL_OLD")
    assert plain_item(caught.value.response["Item"]) == {"pk": pk, "a": 1}


@pytest.mark.parametrize("expression", [
    "SET pk = :v", "REMOVE pk", "ADD sk :v", "SET a = :v, sk = :v"])
def test_a_key_cannot_be_changed(sorted_table, pk, expression):
    """AWS: UpdateItem."""
    sorted_table.put({"pk": pk, "sk": 1})
    name = "sk" if "sk" in expression else "pk"
    values = {":v": 2} if ":v" in expression else None
    with refused(VALIDATION, f"One or more parameter values were invalid: Cannot update attribute "
                             f"{name}. This attribute is part of the key"):
        sorted_table.update({"pk": pk, "sk": 1}, expression, values)
    assert sorted_table.get({"pk": pk, "sk": 1}) == {"pk": pk, "sk": 1}


@pytest.mark.parametrize("key", [{}, {"pk": "a"}, {"pk": "a", "sk": "1"}, {"pk": 1, "sk": 1},
                                 {"pk": "a", "sk": 1, "z": 1}], ids=str)
def test_a_key_that_is_not_the_table_s_is_refused(sorted_table, key):
    """AWS: UpdateItem."""
    with refused(VALIDATION, "The provided key element does not match the schema"):
        sorted_table.update(key, "SET a = :a", {":a": 1})


def test_an_update_in_no_table_is_refused(client):
    """AWS: UpdateItem."""
    with refused(NOT_FOUND, "Requested resource not found"):
        client.update_item(TableName="no-such-table", Key=typed_all({"pk": "a"}))


def test_a_hundred_increments_are_a_hundred(simple, pk):
    """AWS: UpdateItem."""
    for _ in range(100):
        simple.update({"pk": pk}, "ADD visits :one", {":one": 1})
    assert simple.get({"pk": pk}) == {"pk": pk, "visits": 100}


def test_an_update_that_fails_halfway_changes_nothing(simple, pk):
    """AWS: UpdateItem."""
    simple.put({"pk": pk, "a": 1, "letters": "x"})
    with refused(VALIDATION, "An operand in the update expression has an incorrect data type"):
        simple.update({"pk": pk}, "SET a = :v, b = letters + :v", {":v": 5})
    assert simple.get({"pk": pk}) == {"pk": pk, "a": 1, "letters": "x"}
