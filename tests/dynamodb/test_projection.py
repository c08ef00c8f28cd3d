"""Projection expressions: each case is an expression and what is left of the item."""
import re

import pytest

from dynamo import VALIDATION, items, refused

ITEM = {
    "a": 1, "b": "two", "l": ["zero", "one", "two", {"x": 3, "y": [4, 5]}],
    "m": {"x": 1, "y": {"z": "deep", "w": 2}, "dotted.key": 7}, "size": 9, "with-dash": 8,
}

PARTS = [
    ("a", None, {"a": 1}),
    ("a, b", None, {"a": 1, "b": "two"}),
    ("a,b", None, {"a": 1, "b": "two"}),
    ("pk", None, {"pk": "shown"}),
    ("absent", None, {}),
    ("a, absent", None, {"a": 1}),
    ("m", None, {"m": ITEM["m"]}),
    ("m.x", None, {"m": {"x": 1}}),
    ("m.y.z", None, {"m": {"y": {"z": "deep"}}}),
    ("m.x, m.y.w", None, {"m": {"x": 1, "y": {"w": 2}}}),
    ("m.absent", None, {}),
    ("a.x", None, {}),
    ("l[0]", None, {"l": ["zero"]}),
    ("l[2]", None, {"l": ["two"]}),
    ("l[2], l[0]", None, {"l": ["zero", "two"]}),
    ("l[3].x", None, {"l": [{"x": 3}]}),
    ("l[3].y[1]", None, {"l": [{"y": [5]}]}),
    ("l[9]", None, {}),
    ("m[0]", None, {}),
    ("l.x", None, {}),
    ("#s", {"#s": "size"}, {"size": 9}),
    ("#d", {"#d": "with-dash"}, {"with-dash": 8}),
    ("m.#k", {"#k": "dotted.key"}, {"m": {"dotted.key": 7}}),
    ("#m.#y.#z, a", {"#m": "m", "#y": "y", "#z": "z"}, {"m": {"y": {"z": "deep"}}, "a": 1}),
    ("l[3].x, l[3].y[0], l[1]", None, {"l": ["one", {"x": 3, "y": [4]}]}),
]


@pytest.fixture(scope="module")
def item(simple):
    simple.put({"pk": "shown", **ITEM})
    return simple


@pytest.mark.parametrize("expression, names, expected", PARTS, ids=[case[0] for case in PARTS])
def test_a_projection_shows_a_part(item, expression, names, expected):
    """AWS: Projection expressions."""
    assert item.get({"pk": "shown"}, ProjectionExpression=expression, names=names) == expected


@pytest.mark.parametrize("expression, names, expected", PARTS[::3], ids=[c[0] for c in PARTS[::3]])
def test_a_scan_projects_as_a_get_does(item, expression, names, expected):
    """AWS: Projection expressions."""
    assert items(item.scan(ProjectionExpression=expression, names=names)) == [expected]


@pytest.mark.parametrize("expression, told", [
    ("", "The expression can not be empty;"),
    ("size", "Attribute name is a reserved keyword; reserved keyword: size"),
    ("a, Date", "Attribute name is a reserved keyword; reserved keyword: Date"),
    ("m.name", "Attribute name is a reserved keyword; reserved keyword: name"),
    ("#nope", "An expression attribute name used in the document path is not defined; attribute "
              "name: #nope"),
    ("a, a", "Two document paths overlap with each other; must remove or rewrite one of these "
             "paths; path one: [a], path two: [a]"),
    ("m, m.x", "Two document paths overlap with each other; must remove or rewrite one of these "
               "paths; path one: [m], path two: [m, x]"),
    ("l[0], l", "Two document paths overlap with each other; must remove or rewrite one of these "
                "paths; path one: [l, [0]], path two: [l]"),
    ("m.x, m[0]", "Two document paths conflict with each other; must remove or rewrite one of "
                  "these paths; path one: [m, x], path two: [m, [0]]"),
])
def test_a_wrong_projection_is_refused(item, expression, told):
    """AWS: Projection expressions."""
    with refused(VALIDATION, "Invalid ProjectionExpression: " + told):
        item.get({"pk": "shown"}, ProjectionExpression=expression)


@pytest.mark.parametrize("expression", [
    "a,", ",a", "a b", "a,,b", ":v", "a.", ".a", "a[", "a[]", "a[x]", "a[-1]", "a = b", "(a)", "*",
    "1a", "with-dash", "a; b", "size(a)"])
def test_a_broken_projection_is_refused(item, expression):
    """AWS: Projection expressions."""
    with refused(VALIDATION, re.compile("^Invalid ProjectionExpression: Syntax error; ")):
        item.get({"pk": "shown"}, ProjectionExpression=expression)


def test_a_name_that_no_path_uses_is_refused(item):
    """AWS: Expression attribute names in DynamoDB."""
    with refused(VALIDATION, "Value provided in ExpressionAttributeNames unused in expressions: "
                             "keys: {#x}"):
        item.get({"pk": "shown"}, ProjectionExpression="a", names={"#x": "b"})


def test_names_without_a_projection_are_refused(item):
    """AWS: Expression attribute names in DynamoDB."""
    with refused(VALIDATION, "ExpressionAttributeNames can only be specified when using "
                             "expressions"):
        item.get({"pk": "shown"}, names={"#x": "b"})
