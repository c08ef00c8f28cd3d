"""Legacy parameters: Expected, AttributeUpdates, AttributesToGet, KeyConditions and filters."""
import re

import pytest

from dynamo import CONDITION_FAILED, VALIDATION, column, items, plain_item, refused, typed

INVALID = "One or more parameter values were invalid: "


def compare(operator, *values):
    condition = {"ComparisonOperator": operator}
    if values:
        condition["AttributeValueList"] = [typed(value) for value in values]
    return condition


def changes(**actions):
    """AttributeUpdates from name=(action, value) or name=(action,)."""
    return {name: {"Action": action[0], **({"Value": typed(action[1])} if len(action) > 1 else {})}
            for name, action in actions.items()}


# AttributeUpdates

@pytest.mark.parametrize("before, actions, after", [
    ({"a": 1}, {"a": ("PUT", 2)}, {"a": 2}),
    ({}, {"a": ("PUT", "x")}, {"a": "x"}),
    ({"a": 1, "b": 2}, {"a": ("DELETE",)}, {"b": 2}),
    ({"b": 2}, {"a": ("DELETE",)}, {"b": 2}),
    ({"s": {"a", "b"}}, {"s": ("DELETE", {"a"})}, {"s": {"b"}}),
    ({"s": {"a"}, "b": 1}, {"s": ("DELETE", {"a"})}, {"b": 1}),
    ({"n": 5}, {"n": ("ADD", 3)}, {"n": 8}),
    ({"n": 5}, {"n": ("ADD", -7)}, {"n": -2}),
    ({}, {"n": ("ADD", 3)}, {"n": 3}),
    ({"s": {1}}, {"s": ("ADD", {2})}, {"s": {1, 2}}),
    ({}, {"s": ("ADD", {"x"})}, {"s": {"x"}}),
    ({"l": [1]}, {"l": ("ADD", [2, 3])}, {"l": [1, 2, 3]}),
    ({"a": 1, "n": 1, "z": 1}, {"a": ("PUT", 5), "n": ("ADD", 1), "z": ("DELETE",)},
     {"a": 5, "n": 2}),
], ids=str)
def test_updates_change_an_item(simple, pk, before, actions, after):
    """AWS: AttributeUpdates."""
    simple.put({"pk": pk, **before})
    simple.update({"pk": pk}, AttributeUpdates=changes(**actions))
    assert simple.get({"pk": pk}) == {"pk": pk, **after}


def test_an_update_without_an_action_puts(simple, pk):
    """AWS: AttributeUpdates."""
    simple.update({"pk": pk}, AttributeUpdates={"a": {"Value": typed(1)}})
    assert simple.get({"pk": pk}) == {"pk": pk, "a": 1}


@pytest.mark.parametrize("updates, told", [
    (changes(a=("ADD", "text")), INVALID + "ADD action is not supported for the type S"),
    (changes(a=("DELETE", 5)),
     INVALID + "DELETE action with value is not supported for the type N"),
    (changes(a=("PUT",)), INVALID + "Only DELETE action is allowed when no attribute value is "
                                    "specified"),
    (changes(pk=("PUT", "x")), INVALID + "Cannot update attribute pk. This attribute is part of "
                                         "the key"),
], ids=["add text", "delete a number", "put nothing", "the key"])
def test_an_update_that_cannot_be_is_refused(simple, pk, updates, told):
    """AWS: AttributeUpdates."""
    with refused(VALIDATION, told):
        simple.update({"pk": pk}, AttributeUpdates=updates)
    assert simple.get({"pk": pk}) is None


def test_an_addition_to_another_type_is_refused(simple, pk):
    """AWS: AttributeUpdates."""
    simple.put({"pk": pk, "a": "text"})
    with refused(VALIDATION, "Type mismatch for attribute to update"):
        simple.update({"pk": pk}, AttributeUpdates=changes(a=("ADD", 1)))
    assert simple.get({"pk": pk}) == {"pk": pk, "a": "text"}


@pytest.mark.parametrize("wanted, expected", [
    ("ALL_NEW", {"a": 2, "b": 1}), ("UPDATED_NEW", {"a": 2}), ("UPDATED_OLD", {"a": 1}),
    ("ALL_OLD", {"a": 1, "b": 1})])
def test_updates_answer_with_what_was_asked(simple, pk, wanted, expected):
    """AWS: UpdateItem."""
    simple.put({"pk": pk, "a": 1, "b": 1})
    answer = simple.update({"pk": pk}, AttributeUpdates=changes(a=("PUT", 2)), ReturnValues=wanted)
    shown = plain_item(answer["Attributes"])
    assert shown.pop("pk", pk) == pk
    assert shown == expected


# Expected, and the comparisons that every legacy condition shares

ITEM = {"n": 5, "s": "banana", "ss": {"red", "green"}, "ns": {1, 2}, "b": b"\x01\x02",
        "l": [1, "x"], "yes": True}

HOLDS = [
    ("n", compare("EQ", 5)), ("n", compare("NE", 4)), ("n", compare("LE", 5)),
    ("n", compare("LT", 6)), ("n", compare("GE", 5)), ("n", compare("GT", 4)),
    ("n", compare("BETWEEN", 4, 6)), ("n", compare("IN", 4, 5)), ("n", compare("NOT_NULL")),
    ("absent", compare("NULL")), ("absent", compare("NE", 5)), ("s", compare("EQ", "banana")),
    ("s", compare("BEGINS_WITH", "ban")), ("s", compare("CONTAINS", "nan")),
    ("s", compare("NOT_CONTAINS", "xyz")), ("ss", compare("CONTAINS", "red")),
    ("ss", compare("NOT_CONTAINS", "blue")), ("ns", compare("CONTAINS", 2)),
    ("ss", compare("EQ", {"green", "red"})), ("b", compare("BEGINS_WITH", b"\x01")),
    ("l", compare("CONTAINS", "x")), ("yes", compare("EQ", True)), ("l", compare("EQ", [1, "x"])),
    ("s", compare("BETWEEN", "a", "c")), ("n", compare("NE", "5")),
]
FAILS = [
    ("n", compare("EQ", 4)), ("n", compare("EQ", "5")), ("n", compare("NE", 5)),
    ("n", compare("LT", 5)), ("n", compare("GT", "a")), ("n", compare("BETWEEN", 6, 7)),
    ("n", compare("IN", 1, 2)), ("n", compare("NULL")), ("absent", compare("NOT_NULL")),
    ("absent", compare("EQ", 5)), ("s", compare("BEGINS_WITH", "nan")),
    ("s", compare("CONTAINS", "xyz")), ("s", compare("NOT_CONTAINS", "nan")),
    ("ss", compare("CONTAINS", "blue")), ("ss", compare("EQ", {"red"})),
    ("n", compare("CONTAINS", 5)), ("absent", compare("CONTAINS", "a")),
]


def label(case):
    name, condition = case
    return f"{name} {condition['ComparisonOperator']} {condition.get('AttributeValueList', '')}"


@pytest.mark.parametrize("case", HOLDS, ids=label)
def test_an_expectation_that_holds_lets_the_write_through(simple, pk, case):
    """AWS: Expected."""
    simple.put({"pk": pk, **ITEM})
    simple.put({"pk": pk, "done": 1}, Expected=dict([case]))
    assert simple.get({"pk": pk}) == {"pk": pk, "done": 1}


@pytest.mark.parametrize("case", FAILS, ids=label)
def test_an_expectation_that_does_not_hold_stops_the_write(simple, pk, case):
    """AWS: Expected."""
    simple.put({"pk": pk, **ITEM})
    with refused(CONDITION_FAILED, "The conditional request failed"):
        simple.put({"pk": pk, "done": 1}, Expected=dict([case]))
    assert simple.get({"pk": pk}) == {"pk": pk, **ITEM}


@pytest.mark.parametrize("case, count", [*[(case, 1) for case in HOLDS[::2]],
                                         *[(case, 0) for case in FAILS[::2]]],
                         ids=lambda value: label(value) if isinstance(value, tuple) else "")
def test_a_scan_filter_judges_as_an_expectation_does(legacy_item, case, count):
    """AWS: ScanFilter."""
    answer = legacy_item.scan(ScanFilter=dict([case]))
    assert (answer["Count"], answer["ScannedCount"]) == (count, 1)


@pytest.fixture(scope="module")
def legacy_item(make):
    table = make()
    table.put({"pk": "judged", **ITEM})
    return table


@pytest.mark.parametrize("expected, holds", [
    ({"a": {"Value": typed(1)}}, True), ({"a": {"Value": typed(2)}}, False),
    ({"a": {"Exists": True, "Value": typed(1)}}, True), ({"b": {"Exists": False}}, True),
    ({"a": {"Exists": False}}, False)], ids=str)
def test_an_expectation_may_be_a_value_or_an_absence(simple, pk, expected, holds):
    """AWS: Expected."""
    simple.put({"pk": pk, "a": 1})
    assert simple.get({"pk": pk}) == {"pk": pk, "a": 1}
    if holds:
        simple.delete({"pk": pk}, Expected=expected)
    else:
        with refused(CONDITION_FAILED):
            simple.delete({"pk": pk}, Expected=expected)
    assert (simple.get({"pk": pk}) is None) == holds


@pytest.mark.parametrize("operator, conditions, holds", [
    (None, {"n": compare("EQ", 5), "s": compare("EQ", "banana")}, True),
    (None, {"n": compare("EQ", 5), "s": compare("EQ", "other")}, False),
    ("AND", {"n": compare("EQ", 5), "s": compare("EQ", "other")}, False),
    ("OR", {"n": compare("EQ", 5), "s": compare("EQ", "other")}, True),
    ("OR", {"n": compare("EQ", 6), "s": compare("EQ", "other")}, False)],
    ids=["both by default", "one by default", "AND", "OR", "neither"])
def test_conditions_are_joined(legacy_item, operator, conditions, holds):
    """AWS: ConditionalOperator."""
    joined = {"ConditionalOperator": operator} if operator else {}
    assert legacy_item.scan(ScanFilter=conditions, **joined)["Count"] == (1 if holds else 0)
    if holds:
        legacy_item.update({"pk": "judged"}, Expected=conditions, **joined)
    else:
        with refused(CONDITION_FAILED):
            legacy_item.update({"pk": "judged"}, Expected=conditions, **joined)


@pytest.mark.parametrize("expected, told", [
    ({"a": {"Exists": True}}, "Value must be provided when Exists is true for Attribute: a"),
    ({"a": {}}, "Value must be provided when Exists is null for Attribute: a"),
    ({"a": {"Exists": False, "Value": typed(1)}},
     "Value cannot be used when Exists is false for Attribute: a"),
    ({"a": {"Exists": True, **compare("EQ", 1)}},
     "Exists and ComparisonOperator cannot be used together for Attribute: a"),
    ({"a": {"Value": typed(1), "AttributeValueList": [typed(1)]}},
     "Value and AttributeValueList cannot be used together for Attribute: a"),
    ({"a": {"AttributeValueList": [typed(1)]}},
     "AttributeValueList can only be used with a ComparisonOperator for Attribute: a"),
    ({"a": {"ComparisonOperator": "EQ"}},
     "Value or AttributeValueList must be used with ComparisonOperator: EQ for Attribute: a"),
    ({"a": compare("EQ", 1, 2)}, "Invalid number of argument(s) for the EQ ComparisonOperator"),
    ({"a": compare("BETWEEN", 1)}, "Invalid number of argument(s) for the BETWEEN "
                                   "ComparisonOperator"),
    ({"a": compare("NULL", 1)}, "Invalid number of argument(s) for the NULL ComparisonOperator"),
    ({"a": compare("IN", 1, "x")},
     "AttributeValues inside AttributeValueList must be of same type"),
], ids=str)
def test_an_expectation_that_contradicts_itself_is_refused(simple, pk, expected, told):
    """AWS: Expected."""
    with refused(VALIDATION, INVALID + told):
        simple.put({"pk": pk}, Expected=expected)
    assert simple.get({"pk": pk}) is None


@pytest.mark.parametrize("condition, told", [
    (compare("EQ", 1, 2), INVALID + "Invalid number of argument(s) for the EQ ComparisonOperator"),
    (compare("LT", {"a"}),
     INVALID + "ComparisonOperator LT is not valid for SS AttributeValue type"),
    (compare("BEGINS_WITH", 5), INVALID + "ComparisonOperator BEGINS_WITH is not valid for N "
                                          "AttributeValue type"),
    (compare("BETWEEN", 5, 1), "The BETWEEN condition was provided a range where the lower bound "
                               "is greater than the upper bound"),
    (compare("LIKE", 5), re.compile("Member must satisfy enum value set: \\[")),
], ids=str)
def test_a_filter_that_contradicts_itself_is_refused(legacy_item, condition, told):
    """AWS: ScanFilter."""
    with refused(VALIDATION, told):
        legacy_item.scan(ScanFilter={"a": condition})


# KeyConditions, QueryFilter, AttributesToGet

@pytest.fixture(scope="module")
def numbers(sorted_table):
    for number in range(10):
        sorted_table.put({"pk": "p", "sk": number, "a": number * 10, "b": "x"})
    return sorted_table


@pytest.mark.parametrize("condition, expected", [
    (None, list(range(10))), (compare("EQ", 3), [3]), (compare("LT", 2), [0, 1]),
    (compare("LE", 1), [0, 1]), (compare("GT", 7), [8, 9]), (compare("GE", 8), [8, 9]),
    (compare("BETWEEN", 4, 5), [4, 5])], ids=str)
def test_key_conditions_read_a_range(numbers, condition, expected):
    """AWS: KeyConditions."""
    conditions = {"pk": compare("EQ", "p"), **({"sk": condition} if condition else {})}
    assert column(numbers.query(KeyConditions=conditions), "sk") == expected


def test_a_key_condition_may_be_a_prefix(named):
    """AWS: KeyConditions."""
    for word in ("aa", "ab", "b"):
        named.put({"pk": "p", "sk": word})
    answer = named.query(KeyConditions={"pk": compare("EQ", "p"),
                                        "sk": compare("BEGINS_WITH", "a")})
    assert column(answer, "sk") == ["aa", "ab"]


@pytest.mark.parametrize("conditions, told", [
    ({"sk": compare("EQ", 1)}, "Query condition missed key schema element: pk"),
    ({"pk": compare("GT", "p")}, "Query key condition not supported"),
    ({"pk": compare("EQ", "p"), "a": compare("EQ", 1)},
     "Query condition missed key schema element: sk"),
    ({"pk": compare("EQ", "p"), "sk": compare("EQ", "1")},
     INVALID + "Condition parameter type does not match schema type"),
    ({"pk": compare("EQ", "p"), "sk": compare("NE", 1)},
     "Attempted conditional constraint is not an indexable operation"),
    ({"pk": compare("EQ", "p"), "sk": compare("CONTAINS", 1)},
     "Attempted conditional constraint is not an indexable operation"),
], ids=str)
def test_conditions_that_no_key_can_have_are_refused(numbers, conditions, told):
    """AWS: KeyConditions."""
    with refused(VALIDATION, told):
        numbers.query(KeyConditions=conditions)


def test_a_query_filter_leaves_items_out(numbers):
    """AWS: QueryFilter."""
    answer = numbers.query(KeyConditions={"pk": compare("EQ", "p")},
                           QueryFilter={"a": compare("GE", 70)})
    assert column(answer, "sk") == [7, 8, 9]
    assert answer["ScannedCount"] == 10


def test_query_filters_may_be_joined_by_or(numbers):
    """AWS: ConditionalOperator."""
    answer = numbers.query(KeyConditions={"pk": compare("EQ", "p")}, ConditionalOperator="OR",
                           QueryFilter={"a": compare("EQ", 10), "b": compare("EQ", "y")})
    assert column(answer, "sk") == [1]


def test_a_query_filter_has_no_key_attributes(numbers):
    """AWS: QueryFilter."""
    with refused(VALIDATION, re.compile("non-primary key attributes")):
        numbers.query(KeyConditions={"pk": compare("EQ", "p")},
                      QueryFilter={"sk": compare("EQ", 1)})


def test_attributes_to_get_are_shown(numbers):
    """AWS: AttributesToGet."""
    assert numbers.get({"pk": "p", "sk": 1}, AttributesToGet=["a", "absent"]) == {"a": 10}
    answer = numbers.query(KeyConditions={"pk": compare("EQ", "p"), "sk": compare("EQ", 2)},
                           AttributesToGet=["sk"])
    assert items(answer) == [{"sk": 2}]


def test_attributes_to_get_are_named_once(numbers):
    """AWS: AttributesToGet."""
    with refused(VALIDATION, INVALID + "Duplicate value in attribute name: a"):
        numbers.get({"pk": "p", "sk": 1}, AttributesToGet=["a", "b", "a"])


def test_attributes_to_get_are_not_paths(simple, pk):
    """AWS: AttributesToGet."""
    simple.put({"pk": pk, "m": {"x": 1}, "m.x": 2})
    assert simple.get({"pk": pk}, AttributesToGet=["m.x"]) == {"m.x": 2}


@pytest.mark.parametrize("call, legacy, modern", [
    (lambda t: t.put({"pk": "a"}, Expected={"a": {"Exists": False}},
                     ConditionExpression="attribute_exists(pk)"),
     "Expected", "ConditionExpression"),
    (lambda t: t.get({"pk": "a"}, AttributesToGet=["a"], ProjectionExpression="a"),
     "AttributesToGet", "ProjectionExpression"),
    (lambda t: t.update({"pk": "a"}, "REMOVE a", AttributeUpdates=changes(a=("DELETE",))),
     "AttributeUpdates", "UpdateExpression"),
    (lambda t: t.scan(ScanFilter={"a": compare("NULL")}, FilterExpression="attribute_exists(a)"),
     "ScanFilter", "FilterExpression"),
    (lambda t: t.query("pk = :p", {":p": "a"}, KeyConditions={"pk": compare("EQ", "a")}),
     "KeyConditions", "KeyConditionExpression"),
    (lambda t: t.delete({"pk": "a"}, Expected={"a": {"Exists": False}},
                        ConditionExpression="attribute_exists(pk)"),
     "Expected", "ConditionExpression"),
], ids=["put", "get", "update", "scan", "query", "delete"])
def test_legacy_parameters_and_expressions_do_not_mix(simple, call, legacy, modern):
    """AWS: Legacy conditional parameters."""
    with refused(VALIDATION, "Can not use both expression and non-expression parameters in the "
                             f"same request: Non-expression parameters: {{{legacy}}} Expression "
                             f"parameters: {{{modern}}}"):
        call(simple)


def test_a_conditional_operator_joins_something(simple, pk):
    """AWS: ConditionalOperator."""
    with refused(VALIDATION, "ConditionalOperator cannot be used without Filter or Expected"):
        simple.put({"pk": pk}, ConditionalOperator="OR")
    assert simple.get({"pk": pk}) is None
