"""The ten types, and numbers of 38 digits."""
import base64
import re
from decimal import Decimal

import pytest

from dynamo import VALIDATION, column, refused


def store(table, pk, value):
    """The attribute as it comes back."""
    table.client.put_item(TableName=table.name, Item={"pk": {"S": pk}, "v": value})
    answer = table.client.get_item(TableName=table.name, Key={"pk": {"S": pk}}, ConsistentRead=True)
    return answer["Item"]["v"]


@pytest.mark.parametrize("value", [
    {"S": "text"}, {"S": ""}, {"S": "ünïcödé ☃ 🦀"}, {"S": "\x00\n\t\"\\"}, {"S": " spaces "},
    {"S": "x" * 10_000}, {"N": "0"}, {"N": "-1"}, {"B": b"\x00\xff"}, {"B": b""}, {"BOOL": True},
    {"BOOL": False}, {"NULL": True}, {"L": []}, {"L": [{"N": "1"}, {"S": "x"}, {"L": []}]},
    {"M": {}}, {"M": {"a": {"M": {"b": {"S": "deep"}}}}},
    {"SS": ["one"]}, {"SS": [""]}, {"NS": ["1"]}, {"BS": [b"\x01"]}, {"BS": [b""]},
    {"L": [{"NULL": True}, {"BOOL": False}, {"B": b"x"}, {"SS": ["a"]}]},
], ids=lambda value: str(value)[:30])
def test_a_value_comes_back_as_it_was(simple, pk, value):
    """AWS: Supported data types and naming rules in Amazon DynamoDB."""
    assert store(simple, pk, value) == value


@pytest.mark.parametrize("kind, members", [
    ("SS", ["b", "a", "c"]), ("NS", ["3", "-1", "2.5"]), ("BS", [b"b", b"a"])])
def test_a_set_has_its_members_in_any_order(simple, pk, kind, members):
    """AWS: Supported data types and naming rules in Amazon DynamoDB."""
    assert sorted(store(simple, pk, {kind: members})[kind]) == sorted(members)


NUMBERS = [
    ("0", "0"), ("-0", "0"), ("0.0", "0"), ("1", "1"), ("01", "1"), ("1.0", "1"), ("1.10", "1.1"),
    ("-1.50", "-1.5"), ("1e3", "1000"), ("1E3", "1000"), ("1e+3", "1000"), ("1.5e1", "15"),
    ("123e-2", "1.23"), (".5", "0.5"), ("1e-5", "0.00001"), ("100", "100"), ("0.000", "0"),
    ("12345678901234567890123456789012345678", "12345678901234567890123456789012345678"),
    ("1234567890123456789.0123456789012345678", "1234567890123456789.0123456789012345678"),
    ("-99999999999999999999999999999999999999", "-99999999999999999999999999999999999999"),
    ("1e125", "1" + "0" * 125), ("-1e-130", "-0." + "0" * 129 + "1"),
    ("1" + "0" * 100, "1" + "0" * 100), ("0.1" + "0" * 60, "0.1"), ("0" * 50 + "7", "7"),
]


@pytest.mark.parametrize("sent, shown", NUMBERS, ids=[case[0][:40] for case in NUMBERS])
def test_a_number_is_shown_in_one_way(simple, pk, sent, shown):
    """AWS: Supported data types and naming rules in Amazon DynamoDB."""
    assert store(simple, pk, {"N": sent}) == {"N": shown}


def test_the_largest_number_is_kept(simple, pk):
    """AWS: Supported data types and naming rules in Amazon DynamoDB."""
    largest = "9.9999999999999999999999999999999999999E+125"
    shown = store(simple, pk, {"N": largest})["N"]
    assert Decimal(shown) == Decimal(largest)


@pytest.mark.parametrize("number, told", [
    ("", "The parameter cannot be converted to a numeric value"),
    ("abc", "The parameter cannot be converted to a numeric value: abc"),
    ("1x", "The parameter cannot be converted to a numeric value: 1x"),
    ("--1", "The parameter cannot be converted to a numeric value: --1"),
    ("1.2.3", "The parameter cannot be converted to a numeric value: 1.2.3"),
    ("1e", "The parameter cannot be converted to a numeric value: 1e"),
    ("NaN", "The parameter cannot be converted to a numeric value: NaN"),
    ("Infinity", "The parameter cannot be converted to a numeric value: Infinity"),
    ("0x10", "The parameter cannot be converted to a numeric value: 0x10"),
    ("1,000", "The parameter cannot be converted to a numeric value: 1,000"),
    ("1" * 39, "Attempting to store more than 38 significant digits in a Number"),
    ("1." + "1" * 38, "Attempting to store more than 38 significant digits in a Number"),
    ("1e126", "Number overflow. Attempting to store a number with magnitude larger than supported "
              "range"),
    ("-1e126", "Number overflow. Attempting to store a number with magnitude larger than supported "
               "range"),
    ("1e-131", "Number underflow. Attempting to store a number with magnitude smaller than "
               "supported range"),
], ids=lambda value: value[:20])
def test_what_is_no_number_is_refused(client, simple, pk, number, told):
    """AWS: Supported data types and naming rules in Amazon DynamoDB."""
    with refused(VALIDATION, told):
        client.put_item(TableName=simple.name, Item={"pk": {"S": pk}, "v": {"N": number}})
    assert simple.get({"pk": pk}) is None


@pytest.mark.parametrize("number, told", [
    ("x", "The parameter cannot be converted to a numeric value: x"),
    ("1" * 39, "Attempting to store more than 38 significant digits in a Number")])
@pytest.mark.parametrize("place", ["set", "list", "map"])
def test_numbers_are_judged_wherever_they_are(client, simple, pk, number, told, place):
    """AWS: Supported data types and naming rules in Amazon DynamoDB."""
    value = {"set": {"NS": ["1", number]}, "list": {"L": [{"N": number}]},
             "map": {"M": {"a": {"N": number}}}}[place]
    with refused(VALIDATION, told):
        client.put_item(TableName=simple.name, Item={"pk": {"S": pk}, "v": value})


@pytest.mark.parametrize("before, added, after", [
    ("0.1", "0.2", "0.3"), ("1", "-1", "0"), ("9.99", "0.01", "10"),
    ("99999999999999999999999999999999999999", "1", "1" + "0" * 38),
    ("12345678901234567890", "0.0000000001", "12345678901234567890.0000000001"),
    ("-5", "2.5", "-2.5"), ("1e20", "1e-17", "100000000000000000000.00000000000000001"),
])
@pytest.mark.parametrize("how", ["SET v = v + :d", "ADD v :d"])
def test_sums_are_exact(client, simple, pk, before, added, after, how):
    """AWS: Supported data types and naming rules in Amazon DynamoDB."""
    store(simple, pk, {"N": before})
    answer = client.update_item(TableName=simple.name, Key={"pk": {"S": pk}}, UpdateExpression=how,
                                ExpressionAttributeValues={":d": {"N": added}},
                                ReturnValues="UPDATED_NEW")
    assert answer["Attributes"]["v"] == {"N": after}


def test_a_sum_that_is_too_large_is_refused(client, simple, pk):
    """AWS: Supported data types and naming rules in Amazon DynamoDB."""
    store(simple, pk, {"N": "9e125"})
    with refused(VALIDATION, re.compile("Number overflow")):
        client.update_item(TableName=simple.name, Key={"pk": {"S": pk}},
                           UpdateExpression="ADD v :d",
                           ExpressionAttributeValues={":d": {"N": "9e125"}})
    # Not as boto3 reads it, which takes all zeros for digits that count.
    kept = client.get_item(TableName=simple.name, Key={"pk": {"S": pk}})["Item"]["v"]
    assert kept == {"N": "9" + "0" * 125}


def test_number_keys_are_in_order_of_value(sorted_table, pk):
    """AWS: Query."""
    numbers = [Decimal(text) for text in (
        "-1e30", "-100.5", "-100", "-20", "-3", "-0.001", "0", "1e-100", "0.001", "0.5", "1", "2",
        "3", "10", "20", "100", "100.0001", "1e30", "1e125")]
    for number in reversed(numbers):
        sorted_table.put({"pk": pk, "sk": number})
    answer = sorted_table.query("pk = :p", {":p": pk})
    assert [Decimal(item["sk"]["N"]) for item in answer["Items"]] == numbers


def test_string_keys_are_in_order_of_their_bytes(named, pk):
    """AWS: Query."""
    words = ["", "A", "B", "Z", "a", "aa", "ab", "b", "z", "é", "中", "\uffff", "🦀"][1:]
    for word in reversed(words):
        named.put({"pk": pk, "sk": word})
    assert column(named.query("pk = :p", {":p": pk}), "sk") == sorted(
        words, key=lambda word: word.encode())


def test_binary_keys_are_in_order_of_unsigned_bytes(make):
    """AWS: Query."""
    table = make(sort="sk", types={"sk": "B"})
    values = [b"\x00", b"\x00\x00", b"\x01", b"\x7f", b"\x80", b"\xff", b"\xff\x00"]
    for value in reversed(values):
        table.put({"pk": "p", "sk": value})
    assert column(table.query("pk = :p", {":p": "p"}), "sk") == values


def test_equal_numbers_are_one_key(sorted_table, pk):
    """AWS: Supported data types and naming rules in Amazon DynamoDB."""
    for text in ("5", "5.0", "5.00", "0.5e1"):
        sorted_table.client.put_item(TableName=sorted_table.name, Item={
            "pk": {"S": pk}, "sk": {"N": text}, "last": {"S": text}})
    answer = sorted_table.query("pk = :p", {":p": pk})
    assert [(item["sk"], item["last"]) for item in answer["Items"]] == [
        ({"N": "5"}, {"S": "0.5e1"})]


@pytest.mark.parametrize("left, right, equal", [
    ({"N": "1.0"}, {"N": "1"}, True), ({"SS": ["a", "b"]}, {"SS": ["b", "a"]}, True),
    ({"NS": ["1", "2"]}, {"NS": ["2.0", "1.0"]}, True),
    ({"L": [{"N": "1"}, {"N": "2"}]}, {"L": [{"N": "2"}, {"N": "1"}]}, False),
    ({"S": "1"}, {"N": "1"}, False), ({"S": "a"}, {"S": "A"}, False),
    ({"M": {"a": {"N": "1"}, "b": {"N": "2"}}}, {"M": {"b": {"N": "2.0"}, "a": {"N": "1"}}}, True),
    ({"NULL": True}, {"NULL": True}, True), ({"L": []}, {"M": {}}, False),
    ({"S": ""}, {"NULL": True}, False), ({"BOOL": True}, {"S": "true"}, False),
], ids=str)
def test_values_are_equal_by_what_they_mean(simple, pk, left, right, equal):
    """AWS: Comparison operator and function reference."""
    store(simple, pk, left)
    answer = simple.client.query(
        TableName=simple.name, KeyConditionExpression="pk = :p", FilterExpression="v = :v",
        ExpressionAttributeValues={":p": {"S": pk}, ":v": right})
    assert answer["Count"] == (1 if equal else 0)


def test_bytes_travel_as_base64(http, simple, pk):
    """AWS: DynamoDB low-level API."""
    simple.put({"pk": pk, "v": b"\x00\x01\xfe\xff"})
    answer = http.send("GetItem", {"TableName": simple.name, "Key": {"pk": {"S": pk}}})
    assert answer.json["Item"]["v"] == {"B": base64.b64encode(b"\x00\x01\xfe\xff").decode()}


@pytest.mark.parametrize("text", ["abc", "a", "====", "a b=", "@@@@"])
def test_what_is_no_base64_is_refused(http, simple, pk, text):
    """AWS: DynamoDB low-level API."""
    answer = http.send("PutItem", {"TableName": simple.name,
                                   "Item": {"pk": {"S": pk}, "v": {"B": text}}})
    assert answer.status == 400
    assert answer.type in ("SerializationException", "ValidationException")
    assert simple.get({"pk": pk}) is None


@pytest.mark.parametrize("flag", ["true", "false"])
def test_truth_is_no_text(http, simple, pk, flag):
    """AWS: AttributeValue."""
    simple.client.put_item(TableName=simple.name, Item={"pk": {"S": pk},
                                                        "v": {"BOOL": flag == "true"}})
    answer = http.send("GetItem", {"TableName": simple.name, "Key": {"pk": {"S": pk}}})
    assert f'"BOOL":{flag}' in answer.body.decode().replace(" ", "")
