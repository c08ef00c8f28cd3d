"""Conditions: each case is judged as a condition of a write and as a filter of a scan."""
import re

import pytest

from dynamo import CONDITION_FAILED, VALIDATION, refused

ITEM = {
    "n": 5, "neg": -3, "s": "banana", "b": b"\x01\x02\x03", "yes": True, "nay": False, "nil": None,
    "ss": {"red", "green"}, "ns": {1, 2, 3}, "bs": {b"x", b"y"}, "l": [1, "two", [3]],
    "m": {"x": 1, "y": {"z": "deep"}}, "blank": "", "n2": 5, "s2": "cherry",
}
VALUES = {
    ":n5": 5, ":n4": 4, ":n6": 6, ":n1": 1, ":n2": 2, ":n3": 3, ":n50": 50, ":s": "banana",
    ":ap": "apple",
    ":ch": "cherry", ":ban": "ban", ":nan": "nan", ":5": "5", ":b": b"\x01\x02\x03", ":b1": b"\x01",
    ":b2": b"\x02", ":bff": b"\xff", ":t": True, ":f": False, ":nil": None, ":red": "red",
    ":ss": {"red", "green"},
    ":ns": {1, 2, 3}, ":l": [1, "two", [3]], ":m": {"x": 1, "y": {"z": "deep"}}, ":two": "two",
    ":S": "S", ":N": "N", ":B": "B", ":BOOL": "BOOL", ":NULL": "NULL", ":SS": "SS", ":NS": "NS",
    ":BS": "BS", ":L": "L", ":M": "M", ":e": "", ":deep": "deep", ":l3": [3], ":x": b"x",
}

HOLDS = [
    # comparisons
    "n = :n5", "n <> :n4", "n < :n6", "n <= :n5", "n > :n4", "n >= :n5", ":n4 < n", "n = n2",
    "s = :s", "s <> :ap", "s > :ap", "s < :ch", "s < s2", "b = :b", "b > :b1", "b < :bff",
    "yes = :t", "nay = :f", "yes <> nay", "nil = :nil", "ss = :ss", "ns = :ns", "l = :l", "m = :m",
    "blank = :e", "n <> :5", "neg < n", "n < :n50",
    # paths
    "m.x = :n1", "m.y.z = :deep", "l[0] = :n1", "l[1] = :two", "l[2] = :l3", "l[2][0] = :n3",
    "m.x < n",
    # between and in
    "n BETWEEN :n4 AND :n6", "n BETWEEN :n5 AND :n5", "s BETWEEN :ap AND :ch",
    "b BETWEEN :b1 AND :bff", "n between :n4 and :n6", ":n4 BETWEEN m.x AND n", "n IN (:n4, :n5)",
    "n IN (:n5)", "s IN (:ap, :s, :ch)", "n IN (n2)", "l in (:n1, :l)", "m.x IN (:n1)",
    # functions
    "attribute_exists(n)", "attribute_exists(nil)", "attribute_exists(m.y.z)",
    "attribute_exists(l[2])", "attribute_not_exists(absent)", "attribute_not_exists(m.absent)",
    "attribute_not_exists(l[3])", "attribute_not_exists(n.x)", "attribute_not_exists(m[0])",
    "attribute_type(n, :N)", "attribute_type(s, :S)", "attribute_type(b, :B)",
    "attribute_type(yes, :BOOL)", "attribute_type(nil, :NULL)", "attribute_type(ss, :SS)",
    "attribute_type(ns, :NS)", "attribute_type(bs, :BS)", "attribute_type(l, :L)",
    "attribute_type(m, :M)", "attribute_type(m.y, :M)", "begins_with(s, :ban)",
    "begins_with(s, :s)", "begins_with(b, :b1)", "begins_with(s, :e)", "contains(s, :nan)",
    "contains(ss, :red)", "contains(ns, :n2)", "contains(bs, :x)", "contains(l, :two)",
    "contains(b, :b2)", "contains(m.y.z, :deep)",
    "size(s) = :n6", "size(b) = :n3", "size(ss) = :n2", "size(ns) = :n3", "size(l) = :n3",
    "size(m) = :n2", "size(s) > n", "size(blank) < n", "size(l) BETWEEN :n2 AND :n4",
    "size(m.y) IN (:n1, :n2)", ":n6 = size(s)",
    # logic
    "n = :n5 AND s = :s", "n = :n4 OR s = :s", "NOT n = :n4", "NOT (n = :n4 AND s = :s)",
    "n = :n4 OR n = :n6 OR n = :n5", "n = :n5 OR s = :ap AND s = :ch",
    "(n = :n5)", "NOT n = :n4 AND s = :s", "NOT NOT n = :n5",
    "n=:n5 and not(s=:ap)", "attribute_exists(n) AND (s = :ap OR l[0] = :n1)",
    "NOT contains(ss, :two)", "NOT n IN (:n4, :n6)", "NOT n BETWEEN :n6 AND :n50",
    # absent attributes
    "absent <> :n5", "NOT absent = :n5", "NOT absent < :n5", "NOT begins_with(absent, :ban)",
    "NOT attribute_type(absent, :N)", "NOT contains(absent, :ban)", "m.absent <> :n1",
]

FAILS = [
    "n = :n4", "n <> :n5", "n < :n5", "n > :n5", "n = :5", "s = :ban", "s < :ap", "ss = :red",
    "yes = :f", "l = :m", "n < :s", "s > :n1", "absent = :n5", "absent < :n5", "absent > :n5",
    "absent = nil", "n BETWEEN :n6 AND :n50", "s BETWEEN :n1 AND :n6", "n IN (:n4, :n6)",
    "n IN (:5)", "absent IN (:n5)", "attribute_exists(absent)", "attribute_exists(m.absent)",
    "attribute_exists(l[9])", "attribute_not_exists(n)", "attribute_type(n, :S)",
    "attribute_type(ss, :S)", "attribute_type(absent, :NULL)", "begins_with(s, :nan)",
    "begins_with(n, :ban)", "begins_with(b, :b2)", "contains(s, :ch)", "contains(ss, :two)",
    "contains(ns, :n5)", "contains(l, :n3)", "contains(n, :n5)", "contains(m, :n1)",
    "size(s) < :n6", "size(n) = :n1", "size(yes) = :n1", "size(absent) = :n1", "NOT n = :n5",
    "n = :n5 AND s = :ap", "n = :n4 OR s = :ap", "NOT (n = :n5 OR s = :ap)",
    "(n = :n5 OR s = :ap) AND s = :ch", "attribute_exists(n) AND absent = :n5",
    "NOT attribute_exists(n)", "m = :l", "ns = :ss",
]


@pytest.fixture
def item(simple):
    """The table with the one item that is judged, whatever an earlier test did to it."""
    simple.put({"pk": "judged", **ITEM})
    return simple


def used(expression):
    names = set(re.findall(r":\w+", expression))
    return {name: VALUES[name] for name in names} or None


@pytest.mark.parametrize("expression", HOLDS)
def test_a_condition_that_holds_lets_the_write_through(item, expression):
    """AWS: Comparison operator and function reference."""
    answer = item.put({"pk": "judged", **ITEM}, ConditionExpression=expression,
                      values=used(expression), ReturnValues="ALL_OLD")
    assert "n" in answer["Attributes"]


@pytest.mark.parametrize("expression", FAILS)
def test_a_condition_that_does_not_hold_stops_the_write(item, expression):
    """AWS: Comparison operator and function reference."""
    with refused(CONDITION_FAILED, "The conditional request failed"):
        item.put({"pk": "judged"}, ConditionExpression=expression, values=used(expression))
    assert item.get({"pk": "judged"})["n"] == 5


@pytest.mark.parametrize("expression, count", [
    *[(expression, 1) for expression in HOLDS[::4]],
    *[(expression, 0) for expression in FAILS[::4]]])
def test_a_filter_judges_as_a_condition_does(item, expression, count):
    """AWS: Working with scans in DynamoDB."""
    answer = item.scan(FilterExpression=expression, values=used(expression))
    assert (answer["Count"], answer["ScannedCount"]) == (count, 1)


BY_ITSELF = [
    ("", "The expression can not be empty;"),
    ("n = :absent", "An expression attribute value used in expression is not defined; attribute "
                    "value: :absent"),
    ("#absent = :n5", "An expression attribute name used in the document path is not defined; "
                      "attribute name: #absent"),
    ("size = :n5", "Attribute name is a reserved keyword; reserved keyword: size"),
    ("m.value = :n5", "Attribute name is a reserved keyword; reserved keyword: value"),
    ("unheard_of(n)", "Invalid function name; function: unheard_of"),
    ("ATTRIBUTE_EXISTS(n)", "Invalid function name; function: ATTRIBUTE_EXISTS"),
    ("attribute_exists(n, s)", "Incorrect number of operands for operator or function; operator or "
                               "function: attribute_exists, number of operands: 2"),
    ("begins_with(s)", "Incorrect number of operands for operator or function; operator or "
                       "function: begins_with, number of operands: 1"),
    ("begins_with(s, :n5)", "Incorrect operand type for operator or function; operator or "
                            "function: begins_with, operand type: N"),
    ("attribute_type(s, :n5)", "Incorrect operand type for operator or function; operator or "
                               "function: attribute_type, operand type: N"),
    ("attribute_exists(:s)", "Operator or function requires a document path; operator or function: "
                             "attribute_exists"),
    ("n BETWEEN :n5 AND :n1", "The BETWEEN operator requires upper bound to be greater than or "
                              "equal to lower bound; lower bound operand: AttributeValue: {N:5}, "
                              "upper bound operand: AttributeValue: {N:1}"),
    ("n BETWEEN :n1 AND :s", "The BETWEEN operator requires same data type for lower and upper "
                             "bounds; lower bound operand: AttributeValue: {N:1}, upper bound "
                             "operand: AttributeValue: {S:banana}"),
    ("n = n", "The first operand must be distinct from the remaining operands for this operator or "
              "function; operator: =, first operand: [n]"),
    ("size(n)", "The function is not allowed to be used this way in an expression; function: size"),
    ("attribute_exists(n) = :t", "The function is not allowed to be used this way in an "
                                 "expression; function: attribute_exists"),
]


@pytest.mark.parametrize("expression, told", BY_ITSELF, ids=[case[0] for case in BY_ITSELF])
def test_a_condition_that_is_wrong_by_itself_is_refused(item, expression, told):
    """AWS: Comparison operator and function reference."""
    values = {name: VALUES[name] for name in re.findall(r":\w+", expression) if name in VALUES}
    with refused(VALIDATION, "Invalid ConditionExpression: " + told):
        item.put({"pk": "judged", **ITEM}, ConditionExpression=expression, values=values or None)


@pytest.mark.parametrize("expression", ["((n = :n5)) AND s = :s", "((n = :n5 AND s = :s))"])
def test_redundant_parentheses_are_refused(item, expression):
    """AWS: Comparison operator and function reference."""
    with refused(VALIDATION, "Invalid ConditionExpression: The expression has redundant "
                             "parentheses;"):
        item.put({"pk": "judged", **ITEM}, ConditionExpression=expression, values=used(expression))


@pytest.mark.parametrize("expression", [
    "n", "n =", "= :n5", "n = :n5 AND", "AND n = :n5", "n = :n5 s = :s", "n == :n5", "n != :n5",
    "n = :n5)", "(n = :n5", "()", "n IN ()", "n IN :n5", "n BETWEEN :n1", "n BETWEEN :n1, :n5",
    "NOT", "n = 5", "s = 'banana'", "n > :n1 > :n2", "attribute_exists()", "begins_with s, :s",
    "l[x] = :n1", "l[0 = :n1", "m. = :n1", "n = :n5;", "n = :n5 -- rest", "n & :n5", "XOR",
])
def test_a_broken_condition_is_refused(item, expression):
    """AWS: Condition expressions."""
    values = {name: VALUES[name] for name in re.findall(r":\w+", expression)}
    with refused(VALIDATION, re.compile("^Invalid ConditionExpression: Syntax error; token: ")):
        item.put({"pk": "judged", **ITEM}, ConditionExpression=expression, values=values or None)


@pytest.mark.parametrize("names, values, told", [
    ({"#x": "x"}, {":a": 1},
     "Value provided in ExpressionAttributeNames unused in expressions: keys: {#x}"),
    (None, {":a": 1, ":b": 1},
     "Value provided in ExpressionAttributeValues unused in expressions: keys: {:b}"),
    ({}, {":a": 1}, "ExpressionAttributeNames must not be empty"),
    ({"x": "n"}, {":a": 1},
     'ExpressionAttributeNames contains invalid key: Syntax error; key: "x"'),
    (None, {"a": 1}, 'ExpressionAttributeValues contains invalid key: Syntax error; key: "a"'),
])
def test_names_and_values_must_be_used_and_well_formed(item, names, values, told):
    """AWS: Using expressions in DynamoDB."""
    with refused(VALIDATION, told):
        item.put({"pk": "judged", **ITEM}, ConditionExpression="n = :a", names=names, values=values)


def test_a_bad_value_is_told_with_its_name(client, item):
    """AWS: Expression attribute values."""
    with refused(VALIDATION, "ExpressionAttributeValues contains invalid value: Supplied "
                             "AttributeValue is empty, must contain exactly one of the supported "
                             "datatypes for key :a"):
        client.put_item(TableName=item.name, Item={"pk": {"S": "judged"}},
                        ConditionExpression="n = :a", ExpressionAttributeValues={":a": {}})


@pytest.mark.parametrize("operator, value", [
    ("<", ":ss"), ("<=", ":l"), (">", ":m"), (">=", ":t"), ("<", ":nil"), (">", ":ns")])
def test_only_what_has_an_order_is_compared_by_order(item, operator, value):
    """AWS: Comparison operator and function reference."""
    with refused(VALIDATION, re.compile(
            "^Invalid ConditionExpression: Incorrect operand type for operator or function; "
            f"operator or function: {operator}, operand type: ")):
        item.put({"pk": "judged", **ITEM}, ConditionExpression=f"n {operator} {value}",
                 values={value: VALUES[value]})


def test_values_without_an_expression_are_refused(item):
    """AWS: PutItem."""
    with refused(VALIDATION, "ExpressionAttributeValues can only be specified when using "
                             "expressions: ConditionExpression is null"):
        item.put({"pk": "judged", **ITEM}, values={":a": 1})


def test_an_unknown_type_name_is_refused(item):
    """AWS: Comparison operator and function reference."""
    with refused(VALIDATION, re.compile(
            "^Invalid ConditionExpression: Invalid attribute type name found; type: STRING, "
            r"valid types: \{")):
        item.put({"pk": "judged", **ITEM}, ConditionExpression="attribute_type(s, :x)",
                 values={":x": "STRING"})


@pytest.mark.parametrize("expression, names, holds", [
    ("#n = :five", {"#n": "n"}, True),
    ("#m.#y.#z = :deep", {"#m": "m", "#y": "y", "#z": "z"}, True),
    ("m.#dotted = :five", {"#dotted": "y.z"}, False),
    ("#l[0] < :five", {"#l": "l"}, True),
    ("attribute_not_exists(#d)", {"#d": "m.x"}, True),
    ("size(#s) > :five", {"#s": "s"}, True),
])
def test_a_name_stands_for_one_element_of_a_path(item, expression, names, holds):
    """AWS: Expression attribute names in DynamoDB."""
    values = {name: value for name, value in {":five": 5, ":deep": "deep"}.items()
              if name in expression}
    answer = item.scan(FilterExpression=expression, names=names, values=values or None)
    assert answer["Count"] == (1 if holds else 0)
