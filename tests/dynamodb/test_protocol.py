"""The protocol itself: headers, checksums, content types, compression, requests that are none."""
import gzip
import http.client
import json
import re
import zlib

import pytest

from dynamo import SIGNED

JSON_10 = "application/x-amz-json-1.0"


@pytest.fixture(scope="module")
def table(simple):
    simple.put({"pk": "small", "n": 1})
    simple.put({"pk": "large", "load": "abc " * 20_000})
    return simple


def get(table, pk):
    return {"TableName": table.name, "Key": {"pk": {"S": pk}}}


# Answers

@pytest.mark.parametrize("target, body, status", [
    ("ListTables", {}, 200), ("ListTables", {"Limit": 0}, 400),
    ("DescribeTable", {"TableName": "no-such-table"}, 400), ("NoSuchOperation", {}, 400)])
def test_every_answer_has_its_headers(http, target, body, status):
    """AWS: DynamoDB low-level API."""
    answer = http.send(target, body)
    assert answer.status == status
    assert re.fullmatch(r"[0-9A-Z]{52}", answer.headers["x-amzn-requestid"])
    assert int(answer.headers["x-amz-crc32"]) == zlib.crc32(answer.body)
    assert int(answer.headers["content-length"]) == len(answer.body)
    assert answer.headers["content-type"] == JSON_10


def test_every_request_has_its_own_id(http):
    """AWS: DynamoDB low-level API."""
    ids = {http.send("ListTables").headers["x-amzn-requestid"] for _ in range(5)}
    assert len(ids) == 5


@pytest.mark.parametrize("content_type, answered", [
    ("application/x-amz-json-1.0", "application/x-amz-json-1.0"),
    ("application/x-amz-json-1.1", "application/x-amz-json-1.1"),
    ("application/json", "application/json"),
    ("application/x-amz-json-1.0; charset=utf-8", "application/x-amz-json-1.0")])
def test_content_types_are_understood(http, table, content_type, answered):
    """AWS: DynamoDB low-level API."""
    answer = http.send("GetItem", get(table, "small"), headers={"Content-Type": content_type})
    assert answer.status == 200
    assert answer.json["Item"]["n"] == {"N": "1"}
    assert answer.headers["content-type"].split(";")[0] == answered


@pytest.mark.parametrize("content_type", ["text/plain", "application/xml", "application/jsonx"])
def test_other_content_types_are_not_understood(http, table, content_type):
    """AWS: DynamoDB low-level API."""
    answer = http.send("GetItem", get(table, "small"), headers={"Content-Type": content_type})
    assert answer.status == 404
    assert b"UnknownOperationException" in answer.body


def test_one_connection_serves_many_requests(http, table):
    """AWS: DynamoDB low-level API."""
    connection = http_connection(http)
    try:
        for _ in range(3):
            connection.request("POST", "/", json.dumps(get(table, "small")), {
                "Content-Type": JSON_10, "X-Amz-Target": "DynamoDB_20120810.GetItem",
                "X-Amz-Date": "20260101T000000Z", "Authorization": SIGNED})
            answer = connection.getresponse()
            assert answer.status == 200
            assert json.loads(answer.read())["Item"]["n"] == {"N": "1"}
    finally:
        connection.close()


def http_connection(plain):
    return http.client.HTTPConnection(plain.url.hostname, plain.url.port, timeout=10)


# Operations

@pytest.mark.parametrize("target", [
    "DynamoDB_20120810.NoSuchOperation", "DynamoDB_20120810.listTables", "DynamoDB_20120810.",
    "DynamoDB_20990101.ListTables", "Kinesis_20131202.ListStreams", "no.such.thing"])
def test_an_unknown_operation_is_refused(http, target):
    """AWS: Error handling with DynamoDB."""
    answer = http.send(target)
    assert answer.status == 400
    assert answer.json["__type"] == "com.amazon.coral.service#UnknownOperationException"


def test_a_request_without_an_operation_is_refused(http):
    """AWS: DynamoDB low-level API."""
    answer = http.send(None)
    assert (answer.status, answer.type) == (400, "UnknownOperationException")


@pytest.mark.parametrize("method", ["PUT", "DELETE", "PATCH"])
def test_only_posts_are_operations(http, method):
    """AWS: DynamoDB low-level API."""
    answer = http.send("ListTables", method=method)
    assert answer.status in (404, 405)


@pytest.mark.parametrize("operation, body, kind", [
    ("DescribeTable", {"TableName": "no-such-table"},
     "com.amazonaws.dynamodb.v20120810#ResourceNotFoundException"),
    ("ListTables", {"Limit": 0}, "com.amazon.coral.validate#ValidationException"),
    ("ListTables", {"Limit": "x"}, "com.amazon.coral.service#SerializationException")])
def test_an_error_has_a_type_and_a_message(http, operation, body, kind):
    """AWS: Error handling with DynamoDB."""
    answer = http.send(operation, body)
    assert answer.status == 400
    assert answer.json["__type"] == kind
    assert answer.message


def test_a_failed_condition_has_its_type(http, table):
    """AWS: Error handling with DynamoDB."""
    answer = http.send("PutItem", {"TableName": table.name, "Item": {"pk": {"S": "small"}},
                                   "ConditionExpression": "attribute_not_exists(pk)"})
    assert answer.status == 400
    assert answer.json == {
        "__type": "com.amazonaws.dynamodb.v20120810#ConditionalCheckFailedException",
        "message": "The conditional request failed"}


# Bodies

@pytest.mark.parametrize("body", ["hi", "{", '{"TableName": }', "{'TableName': 'x'}", '{"a": 1,}',
                                  '{"a": 1} trailing', '{"a": NaN}', "\xff\xfe"])
def test_a_body_that_is_no_json_is_refused(http, body):
    """AWS: Error handling with DynamoDB."""
    answer = http.send("ListTables", body.encode("latin-1"))
    assert (answer.status, answer.type) == (400, "SerializationException")


@pytest.mark.parametrize("body", ["[]", '"text"', "5", "true"])
def test_a_body_that_is_no_object_is_refused(http, body):
    """AWS: Error handling with DynamoDB."""
    answer = http.send("DescribeTable", body)
    assert answer.status == 400
    assert answer.type in ("SerializationException", "ValidationException")


WRONG_TYPES = [
    ("DescribeTable", {"TableName": 23}, "NUMBER_VALUE cannot be converted to String"),
    ("DescribeTable", {"TableName": 2.5}, "DECIMAL_VALUE cannot be converted to String"),
    ("DescribeTable", {"TableName": True}, "TRUE_VALUE cannot be converted to String"),
    ("DescribeTable", {"TableName": False}, "FALSE_VALUE cannot be converted to String"),
    ("DescribeTable", {"TableName": {}}, "Start of structure or map found where not expected"),
    ("DescribeTable", {"TableName": []}, "Unrecognized collection type class java.lang.String"),
    ("ListTables", {"Limit": "x"}, "STRING_VALUE cannot be converted to Integer"),
    ("ListTables", {"Limit": True}, "TRUE_VALUE cannot be converted to Integer"),
    ("ListTables", {"Limit": []}, "Unrecognized collection type class java.lang.Integer"),
    ("GetItem", {"ConsistentRead": 1}, "NUMBER_VALUE cannot be converted to Boolean"),
    ("GetItem", {"ConsistentRead": "maybe"}, "Unexpected token received from parser"),
    ("GetItem", {"Key": "text"}, None), ("GetItem", {"Key": []}, None),
    ("GetItem", {"Key": {"pk": "text"}}, None), ("GetItem", {"Key": {"pk": ["S", "x"]}}, None),
    ("GetItem", {"Key": {"pk": {"S": 5}}}, "NUMBER_VALUE cannot be converted to String"),
    ("GetItem", {"Key": {"pk": {"N": 5}}}, "NUMBER_VALUE cannot be converted to String"),
    ("GetItem", {"Key": {"pk": {"B": 5}}}, None), ("GetItem", {"Key": {"pk": {"SS": "x"}}}, None),
    ("GetItem", {"Key": {"pk": {"L": {}}}}, None), ("GetItem", {"Key": {"pk": {"M": []}}}, None),
    ("GetItem", {"AttributesToGet": "a"}, None), ("GetItem", {"AttributesToGet": {}}, None),
    ("GetItem", {"ExpressionAttributeNames": []}, None),
    ("GetItem", {"ExpressionAttributeNames": {"#a": 5}},
     "NUMBER_VALUE cannot be converted to String"),
    ("PutItem", {"Item": {"a": {"BOOL": "maybe"}}}, "Unexpected token received from parser"),
    ("CreateTable", {"KeySchema": "x"}, None), ("CreateTable", {"KeySchema": ["x"]}, None),
    ("BatchGetItem", {"RequestItems": []}, None),
    ("BatchWriteItem", {"RequestItems": {"t": {}}}, None),
    ("TransactWriteItems", {"TransactItems": {}}, None),
]


@pytest.mark.parametrize("operation, body, told", WRONG_TYPES,
                         ids=[f"{case[0]} {json.dumps(case[1])}" for case in WRONG_TYPES])
def test_a_parameter_of_another_type_is_refused(http, operation, body, told):
    """AWS: Error handling with DynamoDB."""
    answer = http.send(operation, {"TableName": "any-table", **body})
    assert (answer.status, answer.type) == (400, "SerializationException")
    if told:
        assert answer.message == told


def test_parameters_that_nobody_knows_are_ignored(http, table):
    """AWS: DynamoDB low-level API."""
    answer = http.send("GetItem", {**get(table, "small"), "Unheard": {"of": [1]}})
    assert answer.status == 200
    assert answer.json["Item"]["n"] == {"N": "1"}


def test_null_is_as_if_not_given(http, table):
    """AWS: DynamoDB low-level API."""
    answer = http.send("GetItem", {**get(table, "small"), "ProjectionExpression": None,
                                   "ConsistentRead": None})
    assert answer.status == 200
    assert answer.json["Item"]["n"] == {"N": "1"}


def test_escaped_text_is_text(http, table):
    """AWS: DynamoDB low-level API."""
    body = ('{"TableName": "%s", "Item": {"pk": {"S": "esc\\u0061ped"}, '
            '"v": {"S": "\\ud83e\\udd80 \\n \\u0000"}}}' % table.name)
    assert http.send("PutItem", body).status == 200
    assert table.get({"pk": "escaped"}) == {"pk": "escaped", "v": "\U0001f980 \n \x00"}


def test_a_body_of_more_than_sixteen_megabytes_is_refused(http, table):
    """AWS: Service, account, and table quotas in Amazon DynamoDB."""
    try:
        answer = http.send("PutItem", b" " * (16 * 1024 * 1024 + 1024))
    except (ConnectionError, BrokenPipeError):
        answer = None  # it may hang up before it has read everything
    assert answer is None or answer.status in (400, 413)
    assert http.send("GetItem", get(table, "small")).status == 200


# Compression

def test_a_large_answer_is_compressed_when_asked(http, table):
    """AWS: GetItem."""
    answer = http.send("GetItem", get(table, "large"), headers={"Accept-Encoding": "gzip"})
    assert answer.headers["content-encoding"] == "gzip"
    assert len(answer.body) < 10_000
    assert json.loads(gzip.decompress(answer.body))["Item"]["load"] == {"S": "abc " * 20_000}


def test_the_checksum_is_that_of_the_compressed_bytes(http, table):
    """AWS: GetItem."""
    answer = http.send("GetItem", get(table, "large"), headers={"Accept-Encoding": "gzip"})
    assert answer.headers["content-encoding"] == "gzip"
    assert int(answer.headers["x-amz-crc32"]) == zlib.crc32(answer.body)


@pytest.mark.parametrize("accepted", [None, "identity", "gzip;q=0"])
def test_an_answer_is_plain_unless_asked(http, table, accepted):
    """AWS: GetItem."""
    answer = http.send("GetItem", get(table, "large"), headers={"Accept-Encoding": accepted})
    assert "content-encoding" not in answer.headers
    assert json.loads(answer.body)["Item"]["load"] == {"S": "abc " * 20_000}


def test_a_compressed_request_is_understood(http, table):
    """AWS: Request compression."""
    body = gzip.compress(json.dumps({"TableName": table.name, "Item": {
        "pk": {"S": "packed"}, "load": {"S": "x" * 50_000}}}).encode())
    answer = http.send("PutItem", body, headers={"Content-Encoding": "gzip"})
    assert answer.status == 200
    assert table.get({"pk": "packed"})["load"] == "x" * 50_000


def test_a_broken_compressed_request_is_refused(http, table):
    """AWS: Request compression."""
    body = gzip.compress(json.dumps(get(table, "small")).encode())[:-10]
    answer = http.send("GetItem", body, headers={"Content-Encoding": "gzip"})
    assert answer.status == 400


def test_a_small_request_that_unpacks_to_a_huge_one_is_refused(http, table):
    """AWS: Request compression."""
    answer = http.send("GetItem", gzip.compress(b" " * 64 * 1024 * 1024),
                       headers={"Content-Encoding": "gzip"})
    assert answer.status in (400, 413)
    assert http.send("GetItem", get(table, "small")).status == 200


# Browsers: run.sh starts the server with --cors-origin https://example.com

def preflight(http, origin):
    return http.send(None, b"", method="OPTIONS", headers={
        "Origin": origin, "Access-Control-Request-Method": "POST",
        "Access-Control-Request-Headers": "authorization,content-type,x-amz-date,x-amz-target",
        "Authorization": None})


def test_a_page_of_an_allowed_origin_may_ask(http, table):
    """AWS: DynamoDB low-level API."""
    answer = http.send("GetItem", get(table, "small"), headers={"Origin": "https://example.com"})
    assert answer.status == 200
    assert answer.headers["access-control-allow-origin"] in ("*", "https://example.com")
    assert "x-amz-crc32" in answer.headers["access-control-expose-headers"].lower()


def test_a_browser_may_ask_before_it_asks(http):
    """AWS: DynamoDB low-level API."""
    answer = preflight(http, "https://example.com")
    assert answer.status in (200, 204)
    assert answer.headers["access-control-allow-origin"] in ("*", "https://example.com")
    allowed = answer.headers["access-control-allow-headers"].lower().split(", ")
    assert {"authorization", "content-type", "x-amz-date", "x-amz-target"} <= set(allowed)
    assert "POST" in answer.headers["access-control-allow-methods"]


def test_a_page_of_another_origin_may_not_ask(http, table):
    """AWS: DynamoDB low-level API. Ours is stricter: without credentials any page could ask."""
    refused = http.send("GetItem", get(table, "small"), headers={"Origin": "https://evil.example"})
    assert (refused.status, refused.type) == (400, "AccessDeniedException")
    assert "--cors-origin https://evil.example" in refused.message
    assert "access-control-allow-origin" not in refused.headers
    refused = preflight(http, "https://evil.example")
    assert refused.status == 403
    assert "access-control-allow-origin" not in refused.headers


# Signatures

@pytest.mark.parametrize("authorization", [None, "AWS4", "Basic dXNlcjpwYXNz"])
def test_a_request_without_a_signature_is_refused(http, authorization):
    """AWS: Error handling with DynamoDB."""
    answer = http.send("ListTables", headers={"Authorization": authorization})
    assert (answer.status, answer.type) == (400, "MissingAuthenticationTokenException")
    assert answer.message == "Request is missing Authentication Token"


@pytest.mark.parametrize("authorization, missing", [
    ("AWS4-HMAC-SHA256 Credential=a/b/c/d/e, SignedHeaders=host", "Signature"),
    ("AWS4-HMAC-SHA256 SignedHeaders=host, Signature=b", "Credential"),
    ("AWS4-HMAC-SHA256 Credential=a/b/c/d/e, Signature=b", "SignedHeaders")])
def test_an_incomplete_signature_is_refused(http, authorization, missing):
    """AWS: Error handling with DynamoDB."""
    answer = http.send("ListTables", headers={"Authorization": authorization})
    assert (answer.status, answer.type) == (400, "IncompleteSignatureException")
    assert f"Authorization header requires '{missing}' parameter." in answer.message


def test_a_signature_without_a_date_is_refused(http):
    """AWS: Error handling with DynamoDB."""
    answer = http.send("ListTables", headers={"X-Amz-Date": None})
    assert (answer.status, answer.type) == (400, "IncompleteSignatureException")
    assert "requires existence of either a 'X-Amz-Date' or a 'Date' header" in answer.message


def test_two_signatures_are_refused(http):
    """AWS: Error handling with DynamoDB."""
    answer = http.send("ListTables", path="/?X-Amz-Algorithm=AWS4-HMAC-SHA256")
    assert (answer.status, answer.type) == (400, "InvalidSignatureException")


def test_the_door_is_at_one_address(http):
    """AWS: DynamoDB low-level API."""
    assert http.send("ListTables", path="//").status == 404
