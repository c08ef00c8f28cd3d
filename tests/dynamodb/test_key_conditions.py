"""Key conditions: which part of a partition a query reads, and which conditions are none."""
import pytest

from dynamo import VALIDATION, column, refused

WORDS = ["a", "ab", "abc", "b", "ba", "c", "é", "z"]


@pytest.fixture(scope="module")
def numbers(sorted_table):
    for number in range(-3, 8):
        sorted_table.put({"pk": "p", "sk": number})
    sorted_table.put({"pk": "q", "sk": 1})
    return sorted_table


@pytest.fixture(scope="module")
def words(named):
    for word in WORDS:
        named.put({"pk": "p", "sk": word})
    return named


@pytest.fixture(scope="module")
def bytes_table(make):
    table = make(sort="sk", types={"sk": "B"})
    for value in (b"\x00", b"\x01", b"\x01\x00", b"\x01\xff", b"\x02", b"\xff"):
        table.put({"pk": "p", "sk": value})
    return table


@pytest.mark.parametrize("condition, values, expected", [
    ("pk = :p", {}, [-3, -2, -1, 0, 1, 2, 3, 4, 5, 6, 7]),
    ("pk = :p AND sk = :a", {":a": 3}, [3]),
    ("pk = :p AND sk < :a", {":a": -1}, [-3, -2]),
    ("pk = :p AND sk <= :a", {":a": -1}, [-3, -2, -1]),
    ("pk = :p AND sk > :a", {":a": 5}, [6, 7]),
    ("pk = :p AND sk >= :a", {":a": 5}, [5, 6, 7]),
    ("pk = :p AND sk BETWEEN :a AND :b", {":a": -1, ":b": 1}, [-1, 0, 1]),
    ("pk = :p AND sk BETWEEN :a AND :b", {":a": 2, ":b": 2}, [2]),
    ("sk > :a AND pk = :p", {":a": 6}, [7]),
    (":p = pk AND :a < sk", {":a": 6}, [7]),
    ("pk = :p and sk between :a and :b", {":a": 0, ":b": 1}, [0, 1]),
    ("(pk = :p) AND (sk > :a)", {":a": 6}, [7]),
    ("(pk = :p AND sk > :a)", {":a": 6}, [7]),
    ("pk = :p AND sk > :a", {":a": 100}, []),
], ids=lambda value: value if isinstance(value, str) else "")
def test_a_condition_on_a_number_reads_a_range(numbers, condition, values, expected):
    """AWS: Query operations in DynamoDB."""
    assert column(numbers.query(condition, {":p": "p", **values}), "sk") == expected


@pytest.mark.parametrize("condition, values, expected", [
    ("begins_with(sk, :a)", {":a": "a"}, ["a", "ab", "abc"]),
    ("begins_with(sk, :a)", {":a": "ab"}, ["ab", "abc"]),
    ("begins_with(sk, :a)", {":a": "abcd"}, []),
    ("begins_with(sk, :a)", {":a": "é"}, ["é"]),
    ("sk < :a", {":a": "b"}, ["a", "ab", "abc"]),
    ("sk >= :a", {":a": "c"}, ["c", "z", "é"]),
    ("sk BETWEEN :a AND :b", {":a": "ab", ":b": "b"}, ["ab", "abc", "b"]),
    ("sk = :a", {":a": "ba"}, ["ba"]),
], ids=str)
def test_a_condition_on_a_string_reads_a_range(words, condition, values, expected):
    """AWS: Query operations in DynamoDB."""
    answer = words.query("pk = :p AND " + condition, {":p": "p", **values})
    assert column(answer, "sk") == expected


@pytest.mark.parametrize("condition, values, expected", [
    ("begins_with(sk, :a)", {":a": b"\x01"}, [b"\x01", b"\x01\x00", b"\x01\xff"]),
    ("sk > :a", {":a": b"\x01\xff"}, [b"\x02", b"\xff"]),
    ("sk BETWEEN :a AND :b", {":a": b"\x00", ":b": b"\x01"}, [b"\x00", b"\x01"]),
    ("sk <= :a", {":a": b"\x00"}, [b"\x00"]),
], ids=str)
def test_a_condition_on_bytes_reads_a_range(bytes_table, condition, values, expected):
    """AWS: Query operations in DynamoDB."""
    answer = bytes_table.query("pk = :p AND " + condition, {":p": "p", **values})
    assert column(answer, "sk") == expected


def test_names_stand_for_keys(numbers):
    """AWS: Expression attribute names in DynamoDB."""
    answer = numbers.query("#p = :p AND #s < :s", {":p": "p", ":s": -2}, {"#p": "pk", "#s": "sk"})
    assert column(answer, "sk") == [-3]


MISSED = "Query condition missed key schema element: "

REFUSED = [
    ("sk = :a", {":a": 1}, MISSED + "pk"),
    ("stray = :a", {":a": 1}, MISSED + "pk"),
    ("pk = :p AND stray = :a", {":a": 1}, MISSED + "sk"),
    ("pk > :p", {}, "Query key condition not supported"),
    ("begins_with(pk, :p)", {}, "Query key condition not supported"),
    ("pk BETWEEN :p AND :a", {":a": "z"}, "Query key condition not supported"),
    ("pk = :p OR sk = :a", {":a": 1}, "Invalid operator used in KeyConditionExpression: OR"),
    ("pk = :p AND NOT sk = :a", {":a": 1}, "Invalid operator used in KeyConditionExpression: NOT"),
    ("pk = :p AND sk <> :a", {":a": 1}, "Invalid operator used in KeyConditionExpression: <>"),
    ("pk = :p AND sk IN (:a)", {":a": 1}, "Invalid operator used in KeyConditionExpression: IN"),
    ("pk = :p AND attribute_exists(sk)", {},
     "Invalid operator used in KeyConditionExpression: attribute_exists"),
    ("pk = :p AND contains(sk, :a)", {":a": "a"},
     "Invalid operator used in KeyConditionExpression: contains"),
    ("pk = :p AND size(sk) = :a", {":a": 1},
     "KeyConditionExpressions cannot contain nested operations"),
    ("pk = :p AND sk > :a AND sk < :b", {":a": 1, ":b": 3},
     "KeyConditionExpressions must only contain one condition per key"),
    ("pk = :p AND pk = :a", {":a": "z"},
     "KeyConditionExpressions must only contain one condition per key"),
    ("pk = :p AND sk.x = :a", {":a": 1},
     "KeyConditionExpressions cannot have conditions on nested attributes"),
]


@pytest.mark.parametrize("condition, values, told", REFUSED, ids=[case[0] for case in REFUSED])
def test_a_condition_that_no_key_can_have_is_refused(numbers, condition, values, told):
    """AWS: Query operations in DynamoDB."""
    values = {**({":p": "p"} if ":p" in condition else {}), **values}
    with refused(VALIDATION) as caught:
        numbers.query(condition, values)
    message = caught.value.response["Error"]["Message"]
    assert message.removeprefix("Invalid KeyConditionExpression: ") == told


@pytest.mark.parametrize("condition, values", [
    ("pk = :p AND sk = :a", {":p": "p", ":a": "1"}),
    ("pk = :p", {":p": 1}),
    ("pk = :p AND sk BETWEEN :a AND :b", {":p": "p", ":a": "1", ":b": "2"}),
    ("pk = :p AND begins_with(sk, :a)", {":p": "p", ":a": "1"}),
], ids=str)
def test_a_value_of_another_type_than_the_key_is_refused(numbers, condition, values):
    """AWS: Query operations in DynamoDB."""
    with refused(VALIDATION, "One or more parameter values were invalid: Condition parameter type "
                             "does not match schema type"):
        numbers.query(condition, values)


def test_a_prefix_of_a_number_is_refused(numbers):
    """AWS: Query operations in DynamoDB."""
    with refused(VALIDATION, "Invalid KeyConditionExpression: Incorrect operand type for operator "
                             "or function; operator or function: begins_with, operand type: N"):
        numbers.query("pk = :p AND begins_with(sk, :a)", {":p": "p", ":a": 1})


def test_an_upside_down_range_is_refused(numbers):
    """AWS: Query operations in DynamoDB."""
    with refused(VALIDATION, "Invalid KeyConditionExpression: The BETWEEN operator requires upper "
                             "bound to be greater than or equal to lower bound; lower bound "
                             "operand: AttributeValue: {N:5}, upper bound operand: "
                             "AttributeValue: {N:1}"):
        numbers.query("pk = :p AND sk BETWEEN :a AND :b", {":p": "p", ":a": 5, ":b": 1})


def test_a_query_without_a_key_condition_is_refused(numbers):
    """AWS: Query."""
    with refused(VALIDATION, "Either the KeyConditions or KeyConditionExpression parameter must be "
                             "specified in the request."):
        numbers.query()


def test_an_empty_key_condition_is_refused(numbers):
    """AWS: Query."""
    with refused(VALIDATION, "Invalid KeyConditionExpression: The expression can not be empty;"):
        numbers.query("")


def test_an_empty_key_value_is_refused(numbers):
    """AWS: Query."""
    with refused(VALIDATION, "One or more parameter values are not valid. The AttributeValue for a "
                             "key attribute cannot contain an empty string value. Key: pk"):
        numbers.query("pk = :p", {":p": ""})


def test_a_sort_condition_in_a_table_without_a_sort_key_is_refused(simple):
    """AWS: Query."""
    with refused(VALIDATION, "Query key condition not supported"):
        simple.query("pk = :p AND a = :a", {":p": "p", ":a": 1})
