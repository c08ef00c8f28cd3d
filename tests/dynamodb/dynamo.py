"""What the tests share: values, tables, refusals and plain HTTP."""
import gzip
import http.client
import json
import re
import time
import uuid
from contextlib import contextmanager
from decimal import Decimal
from urllib.parse import urlsplit

import pytest
from boto3.dynamodb.types import Binary, TypeDeserializer, TypeSerializer
from botocore.exceptions import ClientError

VALIDATION = "ValidationException"
NOT_FOUND = "ResourceNotFoundException"
IN_USE = "ResourceInUseException"
CONDITION_FAILED = "ConditionalCheckFailedException"
CANCELLED = "TransactionCanceledException"


def typed(value):
    """A Python value as DynamoDB writes it: 1 is {"N": "1"}."""
    return TypeSerializer().serialize(value)


def typed_all(values):
    return {name: typed(value) for name, value in values.items()}


def plain(attribute):
    """The Python value of a typed one; whole numbers are int."""
    return _simple(TypeDeserializer().deserialize(attribute))


def plain_item(item):
    return {name: plain(attribute) for name, attribute in item.items()}


def items(response):
    return [plain_item(item) for item in response["Items"]]


def column(response, name):
    return [item.get(name) for item in items(response)]


def _simple(value):
    if isinstance(value, Decimal):
        return int(value) if value == value.to_integral_value() else value
    if isinstance(value, Binary):
        return bytes(value.value)
    if isinstance(value, dict):
        return {name: _simple(inner) for name, inner in value.items()}
    if isinstance(value, list):
        return [_simple(inner) for inner in value]
    if isinstance(value, set):
        return {_simple(inner) for inner in value}
    return value


def fresh_name(start="t"):
    return f"{start}-{uuid.uuid4().hex[:12]}"


@contextmanager
def refused(code, message=None):
    """The block must be refused with this code and, if given, this message or a pattern of it."""
    with pytest.raises(ClientError) as caught:
        yield caught
    error = caught.value.response["Error"]
    assert error["Code"] == code, error
    if isinstance(message, re.Pattern):
        assert message.search(error["Message"]), error["Message"]
    elif message is not None:
        # Some regions put this envelope around a message and others do not.
        envelope = "1 validation error detected: "
        assert error["Message"].removeprefix(envelope) == message.removeprefix(envelope)


def until(condition, seconds=10):
    """Asks again until the answer is true; the last answer."""
    end = time.monotonic() + seconds
    while True:
        answer = condition()
        if answer or time.monotonic() > end:
            return answer
        time.sleep(0.05)


def key_schema(partition, sort=None):
    schema = [{"AttributeName": partition, "KeyType": "HASH"}]
    if sort:
        schema.append({"AttributeName": sort, "KeyType": "RANGE"})
    return schema


def index(name, partition, sort=None, projection="ALL", include=None):
    projected = {"ProjectionType": projection}
    if include:
        projected["NonKeyAttributes"] = include
    return {"IndexName": name, "KeySchema": key_schema(partition, sort), "Projection": projected}


def table_request(partition="pk", sort=None, types=None, **more):
    """A CreateTable request; `types` gives the types of key attributes that are no strings."""
    request = {"TableName": fresh_name(), "KeySchema": key_schema(partition, sort)}
    if "ProvisionedThroughput" not in more:
        request["BillingMode"] = "PAY_PER_REQUEST"
    request.update(more)
    names = [element["AttributeName"] for element in request["KeySchema"]]
    for kind in ("LocalSecondaryIndexes", "GlobalSecondaryIndexes"):
        for each in request.get(kind, []):
            names += [element["AttributeName"] for element in each["KeySchema"]]
    types = types or {}
    request.setdefault("AttributeDefinitions", [
        {"AttributeName": name, "AttributeType": types.get(name, "S")}
        for name in dict.fromkeys(names)])
    return request


class Table:
    """A table with calls that take and give plain Python values."""

    def __init__(self, client, **request):
        self.client = client
        self.request = table_request(**request)
        self.name = self.request["TableName"]
        client.create_table(**self.request)
        assert self.wait(), "the table did not become ACTIVE"

    def describe(self):
        return self.client.describe_table(TableName=self.name)["Table"]

    def wait(self):
        def active():
            table = self.describe()
            indexes = table.get("GlobalSecondaryIndexes", [])
            return all(each.get("IndexStatus", "ACTIVE") == "ACTIVE" for each in [
                {"IndexStatus": table["TableStatus"]}, *indexes])
        return until(active)

    def drop(self):
        self.client.delete_table(TableName=self.name)

    def put(self, item, **more):
        return self.client.put_item(TableName=self.name, Item=typed_all(item), **_values(more))

    def get(self, key, **more):
        """The item, or None."""
        more.setdefault("ConsistentRead", True)
        answer = self.client.get_item(TableName=self.name, Key=typed_all(key), **_values(more))
        return plain_item(answer["Item"]) if "Item" in answer else None

    def update(self, key, expression=None, values=None, names=None, **more):
        more.update(values=values, names=names)
        if expression is not None:
            more["UpdateExpression"] = expression
        return self.client.update_item(TableName=self.name, Key=typed_all(key), **_values(more))

    def delete(self, key, **more):
        return self.client.delete_item(TableName=self.name, Key=typed_all(key), **_values(more))

    def query(self, condition=None, values=None, names=None, **more):
        more.update(values=values, names=names)
        if condition is not None:
            more["KeyConditionExpression"] = condition
        return self.client.query(TableName=self.name, **_values(more))

    def scan(self, **more):
        return self.client.scan(TableName=self.name, **_values(more))


def _values(more):
    values, names = more.pop("values", None), more.pop("names", None)
    if values is not None:
        more["ExpressionAttributeValues"] = typed_all(values)
    if names is not None:
        more["ExpressionAttributeNames"] = names
    return more


class Answer:
    def __init__(self, response):
        self.status = response.status
        self.headers = {name.lower(): value for name, value in response.getheaders()}
        self.body = response.read()

    @property
    def json(self):
        body = self.body
        if self.headers.get("content-encoding") == "gzip":
            body = gzip.decompress(body)
        return json.loads(body)

    @property
    def type(self):
        """The error's name, without its namespace."""
        return self.json["__type"].split("#")[-1]

    @property
    def message(self):
        return self.json.get("message", self.json.get("Message"))


SIGNED = ("AWS4-HMAC-SHA256 Credential=test/20260101/us-east-1/dynamodb/aws4_request, "
          "SignedHeaders=host;x-amz-date;x-amz-target, Signature=" + "0" * 64)


class Http:
    """Plain HTTP, for requests that no SDK would send."""

    def __init__(self, url):
        self.url = urlsplit(url)

    def send(self, target=None, body=b"{}", method="POST", path="/", headers=None):
        """Headers given here win; one given as None is left out."""
        if not isinstance(body, (bytes, str)):
            body = json.dumps(body)
        if isinstance(body, str):
            body = body.encode()
        sent = {
            "Content-Type": "application/x-amz-json-1.0",
            "X-Amz-Date": time.strftime("%Y%m%dT%H%M%SZ", time.gmtime()),
            "Authorization": SIGNED,
        }
        if target:
            sent["X-Amz-Target"] = target if "." in target else f"DynamoDB_20120810.{target}"
        sent.update(headers or {})
        connection = http.client.HTTPConnection(self.url.hostname, self.url.port, timeout=30)
        try:
            connection.request(method, path, body, {
                name: value for name, value in sent.items() if value is not None})
            return Answer(connection.getresponse())
        finally:
            connection.close()
