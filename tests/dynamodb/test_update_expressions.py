"""Update expressions: each case is an item, an expression and the item after it."""
import re

import pytest

from dynamo import VALIDATION, index, plain_item, refused

INVALID = "Invalid UpdateExpression: "

CHANGES = [
    # SET
    ({}, "SET a = :v", {":v": 1}, {"a": 1}),
    ({"a": 1}, "SET a = :v", {":v": "x"}, {"a": "x"}),
    ({"a": 1}, "set a = :v", {":v": 2}, {"a": 2}),
    ({"a": 1, "b": 2}, "SET a = b", None, {"a": 2, "b": 2}),
    ({"a": 1, "b": 2}, "SET a = b, b = a", None, {"a": 2, "b": 1}),
    ({"m": {"x": 1}}, "SET m.x = :v", {":v": 2}, {"m": {"x": 2}}),
    ({"m": {"x": 1}}, "SET m.y = :v", {":v": 2}, {"m": {"x": 1, "y": 2}}),
    ({"m": {"x": {"y": 1}}}, "SET m.x.y = :v", {":v": 2}, {"m": {"x": {"y": 2}}}),
    ({"m": {}}, "SET m.x = :v", {":v": {"y": [1]}}, {"m": {"x": {"y": [1]}}}),
    ({"l": [1, 2, 3]}, "SET l[1] = :v", {":v": 9}, {"l": [1, 9, 3]}),
    ({"l": [1, 2]}, "SET l[5] = :v", {":v": 9}, {"l": [1, 2, 9]}),
    ({"l": [1]}, "SET l[7] = :a, l[5] = :b", {":a": "a", ":b": "b"}, {"l": [1, "b", "a"]}),
    ({"l": [[1], [2]]}, "SET l[1][0] = :v", {":v": 9}, {"l": [[1], [9]]}),
    ({"l": [{"x": 1}]}, "SET l[0].x = :v", {":v": 9}, {"l": [{"x": 9}]}),
    ({"m": {"l": [1]}}, "SET m.l[0] = :v", {":v": 9}, {"m": {"l": [9]}}),
    ({"a": 1}, "SET b = a, c = :v", {":v": 3}, {"a": 1, "b": 1, "c": 3}),
    ({"m": {"x": 7}}, "SET a = m.x", None, {"m": {"x": 7}, "a": 7}),
    ({"l": [5, 6]}, "SET a = l[1]", None, {"l": [5, 6], "a": 6}),
    # arithmetic
    ({"n": 10}, "SET n = n + :v", {":v": 5}, {"n": 15}),
    ({"n": 10}, "SET n = n - :v", {":v": 15}, {"n": -5}),
    ({"n": 10}, "SET n = :v - n", {":v": 15}, {"n": 5}),
    ({"n": 10, "m": 4}, "SET n = n - m", None, {"n": 6, "m": 4}),
    ({}, "SET n = :a + :b", {":a": 1, ":b": 2}, {"n": 3}),
    ({"m": {"n": 1}}, "SET m.n = m.n + :v", {":v": 1}, {"m": {"n": 2}}),
    ({"l": [1]}, "SET l[0] = l[0] + :v", {":v": 1}, {"l": [2]}),
    ({"n": 1}, "SET n=n+:v", {":v": 1}, {"n": 2}),
    # if_not_exists
    ({}, "SET a = if_not_exists(a, :v)", {":v": 1}, {"a": 1}),
    ({"a": 5}, "SET a = if_not_exists(a, :v)", {":v": 1}, {"a": 5}),
    ({"b": 7}, "SET a = if_not_exists(b, :v)", {":v": 1}, {"a": 7, "b": 7}),
    ({}, "SET n = if_not_exists(n, :zero) + :one", {":zero": 0, ":one": 1}, {"n": 1}),
    ({"n": 4}, "SET n = if_not_exists(n, :zero) + :one", {":zero": 0, ":one": 1}, {"n": 5}),
    ({"b": 3}, "SET a = if_not_exists(a, b)", None, {"a": 3, "b": 3}),
    ({"m": {"x": 1}}, "SET m.x = if_not_exists(m.x, :v)", {":v": 9}, {"m": {"x": 1}}),
    ({"c": 2}, "SET a = if_not_exists(a, if_not_exists(b, c))", None, {"a": 2, "c": 2}),
    # list_append
    ({"l": [1]}, "SET l = list_append(l, :v)", {":v": [2, 3]}, {"l": [1, 2, 3]}),
    ({"l": [1]}, "SET l = list_append(:v, l)", {":v": [2, 3]}, {"l": [2, 3, 1]}),
    ({"l": [1]}, "SET k = list_append(l, l)", None, {"l": [1], "k": [1, 1]}),
    ({"l": [1]}, "SET l = list_append(l, :v)", {":v": []}, {"l": [1]}),
    ({}, "SET l = list_append(if_not_exists(l, :none), :v)", {":none": [], ":v": ["x"]},
     {"l": ["x"]}),
    ({"m": {"l": ["a"]}}, "SET m.l = list_append(m.l, :v)", {":v": ["b"]},
     {"m": {"l": ["a", "b"]}}),
    # REMOVE
    ({"a": 1, "b": 2}, "REMOVE a", None, {"b": 2}),
    ({"a": 1, "b": 2}, "REMOVE a, b", None, {}),
    ({"a": 1}, "REMOVE absent", None, {"a": 1}),
    ({"m": {"x": 1, "y": 2}}, "REMOVE m.x", None, {"m": {"y": 2}}),
    ({"m": {"x": 1}}, "REMOVE m.x", None, {"m": {}}),
    ({"m": {"x": 1}}, "REMOVE m.absent", None, {"m": {"x": 1}}),
    ({"l": ["a", "b", "c"]}, "REMOVE l[1]", None, {"l": ["a", "c"]}),
    ({"l": ["a", "b", "c", "d"]}, "REMOVE l[0], l[2]", None, {"l": ["b", "d"]}),
    ({"l": ["a"]}, "REMOVE l[4]", None, {"l": ["a"]}),
    ({"l": [{"x": 1, "y": 2}]}, "REMOVE l[0].x", None, {"l": [{"y": 2}]}),
    # ADD
    ({"n": 5}, "ADD n :v", {":v": 2}, {"n": 7}),
    ({"n": 5}, "ADD n :v", {":v": -7}, {"n": -2}),
    ({}, "ADD n :v", {":v": 2}, {"n": 2}),
    ({"s": {"a"}}, "ADD s :v", {":v": {"a", "b"}}, {"s": {"a", "b"}}),
    ({}, "ADD s :v", {":v": {"a"}}, {"s": {"a"}}),
    ({"s": {1, 2}}, "ADD s :v", {":v": {2, 3}}, {"s": {1, 2, 3}}),
    ({"s": {b"a"}}, "ADD s :v", {":v": {b"b"}}, {"s": {b"a", b"b"}}),
    ({"m": {"n": 1}}, "ADD m.n :v", {":v": 1}, {"m": {"n": 2}}),
    ({"m": {}}, "ADD m.n :v", {":v": 1}, {"m": {"n": 1}}),
    ({"l": [1]}, "ADD l[0] :v", {":v": 1}, {"l": [2]}),
    # DELETE
    ({"s": {"a", "b"}}, "DELETE s :v", {":v": {"a"}}, {"s": {"b"}}),
    ({"s": {"a", "b"}}, "DELETE s :v", {":v": {"c"}}, {"s": {"a", "b"}}),
    ({"s": {"a"}, "x": 1}, "DELETE s :v", {":v": {"a"}}, {"x": 1}),
    ({"x": 1}, "DELETE s :v", {":v": {"a"}}, {"x": 1}),
    ({"s": {1, 2, 3}}, "DELETE s :v", {":v": {1, 3}}, {"s": {2}}),
    ({"m": {"s": {"a", "b"}}}, "DELETE m.s :v", {":v": {"a"}}, {"m": {"s": {"b"}}}),
    # several clauses
    ({"a": 1, "b": 2, "n": 3, "s": {"x", "y"}},
     "SET a = :a REMOVE b ADD n :n DELETE s :s", {":a": 9, ":n": 1, ":s": {"x"}},
     {"a": 9, "n": 4, "s": {"y"}}),
    ({"a": 1, "b": 2}, "REMOVE b SET c = :c", {":c": 3}, {"a": 1, "c": 3}),
    ({"a": 1}, "SET b = a REMOVE a", None, {"b": 1}),
    ({"a": 1}, "SET b = a ADD a :v", {":v": 5}, {"a": 6, "b": 1}),
]


@pytest.mark.parametrize("before, expression, values, after", CHANGES,
                         ids=[f"{number}-{case[1]}" for number, case in enumerate(CHANGES)])
def test_an_expression_changes_an_item(simple, pk, before, expression, values, after):
    """AWS: Update expressions."""
    simple.put({"pk": pk, **before})
    simple.update({"pk": pk}, expression, values)
    assert simple.get({"pk": pk}) == {"pk": pk, **after}


@pytest.mark.parametrize("before, expression, names, values, after", [
    ({"name": "a"}, "SET #n = :v", {"#n": "name"}, {":v": "b"}, {"name": "b"}),
    ({"a.b": 1}, "SET #n = :v", {"#n": "a.b"}, {":v": 2}, {"a.b": 2}),
    ({"m": {"size": 1}}, "SET m.#s = :v", {"#s": "size"}, {":v": 2}, {"m": {"size": 2}}),
    ({"x-y": {"z": [1]}}, "SET #m.#z[0] = :v", {"#m": "x-y", "#z": "z"}, {":v": 2},
     {"x-y": {"z": [2]}}),
    ({"a": 1}, "SET #one = #one + :v", {"#one": "a"}, {":v": 2}, {"a": 3}),
    ({"data": 1}, "REMOVE #d", {"#d": "data"}, None, {}),
    ({}, "SET #0 = :0", {"#0": "0"}, {":0": 1}, {"0": 1}),
    ({}, "ADD #c :v", {"#c": "count"}, {":v": 1}, {"count": 1}),
], ids=lambda value: value if isinstance(value, str) else "")
def test_names_stand_for_attributes(simple, pk, before, expression, names, values, after):
    """AWS: Expression attribute names in DynamoDB."""
    simple.put({"pk": pk, **before})
    simple.update({"pk": pk}, expression, values, names)
    assert simple.get({"pk": pk}) == {"pk": pk, **after}


ON_THE_ITEM = [
    ("SET m.absent.x = :n", "The document path provided in the update expression is invalid for "
                            "update"),
    ("SET absent.x = :n", "The document path provided in the update expression is invalid for "
                          "update"),
    ("SET absent[0] = :n", "The document path provided in the update expression is invalid for "
                           "update"),
    ("SET n.x = :n", "The document path provided in the update expression is invalid for update"),
    ("SET m[0] = :n", "The document path provided in the update expression is invalid for update"),
    ("REMOVE n.x", "The document path provided in the update expression is invalid for update"),
    ("SET a = absent", "The provided expression refers to an attribute that does not exist in the "
                       "item"),
    ("SET a = absent + :n", "The provided expression refers to an attribute that does not exist in "
                            "the item"),
    ("SET a = list_append(absent, :l)", "The provided expression refers to an attribute that does "
                                        "not exist in the item"),
    ("SET a = t + :n", "An operand in the update expression has an incorrect data type"),
    ("SET a = :n - t", "An operand in the update expression has an incorrect data type"),
    ("SET a = list_append(n, :l)",
     "An operand in the update expression has an incorrect data type"),
    ("ADD t :n", "An operand in the update expression has an incorrect data type"),
    ("ADD s :n", "An operand in the update expression has an incorrect data type"),
    ("ADD n :s", "An operand in the update expression has an incorrect data type"),
    ("DELETE n :s", "An operand in the update expression has an incorrect data type"),
    ("DELETE ns :s", "An operand in the update expression has an incorrect data type"),
]


@pytest.mark.parametrize("expression, told", ON_THE_ITEM, ids=[case[0] for case in ON_THE_ITEM])
def test_an_expression_that_does_not_fit_the_item_is_refused(simple, pk, expression, told):
    """AWS: Update expressions."""
    item = {"pk": pk, "n": 1, "t": "text", "m": {"x": 1}, "s": {"a"}, "ns": {1}}
    values = {":n": 1, ":l": [1], ":s": {"a"}}
    simple.put(item)
    with refused(VALIDATION, told):
        simple.update({"pk": pk}, expression,
                      {name: value for name, value in values.items() if name in expression} or None)
    assert simple.get({"pk": pk}) == item


BY_ITSELF = [
    ("SET a = :s + :n", "Incorrect operand type for operator or function; operator or function: +, "
                        "operand type: S"),
    ("SET a = a - :s", "Incorrect operand type for operator or function; operator or function: -, "
                       "operand type: S"),
    ("SET a = list_append(a, :n)", "Incorrect operand type for operator or function; operator or "
                                   "function: list_append, operand type: N"),
    ("SET a = if_not_exists(:n, a)", "Operator or function requires a document path; operator or "
                                     "function: if_not_exists"),
    ("SET a = if_not_exists(a)", "Incorrect number of operands for operator or function; operator "
                                 "or function: if_not_exists, number of operands: 1"),
    ("SET a = list_append(a, b, c)", "Incorrect number of operands for operator or function; "
                                     "operator or function: list_append, number of operands: 3"),
    ("SET a = nothing_known(a)", "Invalid function name; function: nothing_known"),
    ("SET a = IF_NOT_EXISTS(a, b)", "Invalid function name; function: IF_NOT_EXISTS"),
    ("SET a = :n, a = :n", "Two document paths overlap with each other; must remove or rewrite one "
                           "of these paths; path one: [a], path two: [a]"),
    ("SET a = :n REMOVE a", "Two document paths overlap with each other; must remove or rewrite "
                            "one of these paths; path one: [a], path two: [a]"),
    ("SET a.b = :n, a = :n", "Two document paths overlap with each other; must remove or rewrite "
                             "one of these paths; path one: [a, b], path two: [a]"),
    ("SET l[1].x = :n REMOVE l[1]", "Two document paths overlap with each other; must remove or "
                                    "rewrite one of these paths; path one: [l, [1], x], path two: "
                                    "[l, [1]]"),
    ("SET a.b = :n, a[0] = :n", "Two document paths conflict with each other; must remove or "
                                "rewrite one of these paths; path one: [a, b], path two: [a, [0]]"),
    ("SET a = :n SET b = :n", 'The "SET" section can only be used once in an update expression;'),
    ("REMOVE a REMOVE b", 'The "REMOVE" section can only be used once in an update expression;'),
    ("ADD a :n ADD b :n", 'The "ADD" section can only be used once in an update expression;'),
    ("DELETE a :ss DELETE b :ss", 'The "DELETE" section can only be used once in an update '
                                  'expression;'),
    ("ADD a :s", "Incorrect operand type for operator or function; operator: ADD, operand type: "
                 "STRING, typeSet: ALLOWED_FOR_ADD_OPERAND"),
    ("DELETE a :n", "Incorrect operand type for operator or function; operator: DELETE, operand "
                    "type: NUMBER, typeSet: ALLOWED_FOR_DELETE_OPERAND"),
    ("SET a = :absent", "An expression attribute value used in expression is not defined; "
                        "attribute value: :absent"),
    ("SET #absent = :n", "An expression attribute name used in the document path is not defined; "
                         "attribute name: #absent"),
    ("SET name = :n", "Attribute name is a reserved keyword; reserved keyword: name"),
    ("REMOVE Status", "Attribute name is a reserved keyword; reserved keyword: Status"),
    ("SET a.size = :n", "Attribute name is a reserved keyword; reserved keyword: size"),
    ("", "The expression can not be empty;"),
]


@pytest.mark.parametrize("expression, told", BY_ITSELF, ids=[case[0] for case in BY_ITSELF])
def test_an_expression_that_is_wrong_by_itself_is_refused(simple, pk, expression, told):
    """AWS: Update expressions."""
    values = {":n": 1, ":s": "text", ":ss": {"a"}}
    used = {name: value for name, value in values.items()
            if re.search(name + r"\b", expression)}
    with refused(VALIDATION, INVALID + told):
        simple.update({"pk": pk}, expression, used or None)
    assert simple.get({"pk": pk}) is None


@pytest.mark.parametrize("expression", [
    "SET", "SET a", "SET a =", "SET a = :n,", "SET a = :n b = :n", "a = :n", "SET a == :n",
    "SET :n = a", "SET a = :n + :n + ", "REMOVE", "REMOVE a,", "REMOVE a b", "ADD a", "ADD a, :n",
    "DELETE s", "SET a = (:n", "SET a[x] = :n", "SET a[-1] = :n", "SET a[] = :n", "SET a..b = :n",
    "SET .a = :n", "SET a. = :n", "SET a = 5", "SET a = 'text'", "SET a = :n;", "UPSERT a = :n",
    "SET a = :n * :n", "SET a-b = :n", "SET 1a = :n", "SET a = -:n",
    "ADD a = :n", "ADD a b",
])
def test_a_broken_expression_is_refused(simple, pk, expression):
    """AWS: Update expressions."""
    values = {":n": 1} if ":n" in expression else None
    with refused(VALIDATION, re.compile("^Invalid UpdateExpression: Syntax error; token: ")):
        simple.update({"pk": pk}, expression, values)
    assert simple.get({"pk": pk}) is None


@pytest.mark.parametrize("expression, token, near", [
    ("SET a = 5", "5", "= 5"),
    ("UPSERT a = :n", "UPSERT", "UPSERT a"),
    ("SET a == :n", "=", "== :n"),
    ("SET a", "<EOF>", "a"),
])
def test_a_broken_expression_is_told_where(simple, pk, expression, token, near):
    """AWS: Update expressions."""
    values = {":n": 1} if ":n" in expression else None
    with refused(VALIDATION, f'Invalid UpdateExpression: Syntax error; token: "{token}", '
                             f'near: "{near}"'):
        simple.update({"pk": pk}, expression, values)


@pytest.mark.parametrize("expression, names, values, told", [
    ("SET a = :a", {"#x": "x"}, {":a": 1},
     "Value provided in ExpressionAttributeNames unused in expressions: keys: {#x}"),
    ("SET a = :a", None, {":a": 1, ":x": 1},
     "Value provided in ExpressionAttributeValues unused in expressions: keys: {:x}"),
    ("REMOVE a", {}, None, "ExpressionAttributeNames must not be empty"),
    ("REMOVE a", None, {}, "ExpressionAttributeValues must not be empty"),
    ("REMOVE a", {"x": "x"}, None,
     'ExpressionAttributeNames contains invalid key: Syntax error; key: "x"'),
    ("REMOVE a", {"#x-y": "x"}, None,
     'ExpressionAttributeNames contains invalid key: Syntax error; key: "#x-y"'),
    ("SET a = :a", None, {"a": 1},
     'ExpressionAttributeValues contains invalid key: Syntax error; key: "a"'),
    (None, {"#x": "x"}, None, "ExpressionAttributeNames can only be specified when using "
                              "expressions"),
    (None, None, {":x": 1}, "ExpressionAttributeValues can only be specified when using "
                            "expressions: UpdateExpression and ConditionExpression are null"),
])
def test_names_and_values_must_be_used_and_well_formed(simple, pk, expression, names, values, told):
    """AWS: Using expressions in DynamoDB."""
    with refused(VALIDATION, told):
        simple.update({"pk": pk}, expression, values, names)


def test_what_is_told_of_a_list_is_what_is_at_the_places_named(simple, pk):
    """AWS: UpdateItem."""
    simple.put({"pk": pk, "l": [1, 3]})
    answer = simple.update({"pk": pk}, "SET l[1] = :a, l[4] = :b, l[2] = :c ADD l[8] :d",
                           {":a": "one", ":b": 4, ":c": 2, ":d": 8}, ReturnValues="UPDATED_NEW")
    assert simple.get({"pk": pk})["l"] == [1, "one", 2, 4, 8]
    assert plain_item(answer["Attributes"]) == {"l": ["one", 2, 8]}


def test_the_key_of_an_index_is_not_set_to_a_copy_of_another_type(make, pk):
    """AWS: UpdateItem."""
    table = make(GlobalSecondaryIndexes=[index("by-who", "who")])
    table.put({"pk": pk, "count": 1})
    with refused(VALIDATION, "The update expression attempted to update the secondary index key to "
                             "unsupported type"):
        table.update({"pk": pk}, "SET who = #count", names={"#count": "count"})
    with refused(VALIDATION, re.compile("Type mismatch for Index Key who Expected: S Actual: N")):
        table.update({"pk": pk}, "SET who = :one", {":one": 1})
