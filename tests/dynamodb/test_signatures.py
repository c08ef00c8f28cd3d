"""Signatures, as boto3 makes them, at a server with access keys."""
import os
import subprocess

import boto3
import pytest
from botocore.config import Config
from botocore.exceptions import ClientError

from dynamo import refused

KEYS = "admin owner his-secret\nwrite writer her-secret\nread reader its-secret\n"


@pytest.fixture(scope="module")
def guarded(tmp_path_factory):
    """The address of a server that knows KEYS."""
    binary = os.environ.get("STONECROP_BIN")
    if not binary:
        pytest.skip("needs STONECROP_BIN, the binary to start with access keys: see run.sh")
    file = tmp_path_factory.mktemp("keys") / "access-keys"
    file.write_text(KEYS)
    file.chmod(0o600)
    server = subprocess.Popen(
        [binary, "serve", "memory:", "--listen", "127.0.0.1:0", "--access-key-file", file],
        stdout=subprocess.PIPE, text=True)
    try:
        yield server.stdout.readline().split()[-1]
    finally:
        server.terminate()
        server.wait(10)


def client(url, key, secret, region="us-east-1"):
    return boto3.client("dynamodb", endpoint_url=url, region_name=region, aws_access_key_id=key,
                        aws_secret_access_key=secret, config=Config(retries={"max_attempts": 0}))


@pytest.mark.parametrize("region", ["us-east-1", "eu-central-2", "local"])
@pytest.mark.parametrize("key, secret", [("owner", "his-secret"), ("reader", "its-secret")])
def test_the_right_secret_passes_whatever_the_region(guarded, key, secret, region):
    """AWS: Signing AWS API requests."""
    assert "TableNames" in client(guarded, key, secret, region).list_tables()


def test_a_wrong_secret_is_refused(guarded):
    """AWS: Error handling with DynamoDB."""
    with refused("InvalidSignatureException", (
            "The request signature we calculated does not match the signature you provided. Check "
            "your AWS Secret Access Key and signing method. Consult the service documentation for "
            "details.")):
        client(guarded, "owner", "her-secret").list_tables()


def test_an_unknown_key_is_refused(guarded):
    """AWS: Error handling with DynamoDB."""
    with refused("UnrecognizedClientException",
                 "The security token included in the request is invalid."):
        client(guarded, "nobody", "his-secret").list_tables()


@pytest.mark.parametrize("change", [
    lambda request: setattr(request, "body", b'{"Limit": 1}'),
    lambda request: request.headers.__setitem__("X-Amz-Target", "DynamoDB_20120810.DeleteTable"),
    lambda request: request.headers.__setitem__("X-Amz-Date", "20260101T000000Z"),
    lambda request: setattr(request, "url", request.url + "?a=b"),
], ids=["body", "operation", "date", "address"])
def test_a_request_that_was_changed_after_it_was_signed_is_refused(guarded, change):
    """AWS: Signing AWS API requests."""
    owner = client(guarded, "owner", "his-secret")
    owner.meta.events.register("before-send.dynamodb.ListTables",
                               lambda request, **_: change(request))
    with refused("InvalidSignatureException"):
        owner.list_tables()


def test_a_key_allows_what_its_scope_says(guarded):
    """AWS: Error handling with DynamoDB."""
    owner, writer, reader = (client(guarded, key, secret) for _, key, secret in
                             map(str.split, KEYS.splitlines()))
    table = dict(TableName="scoped", BillingMode="PAY_PER_REQUEST",
                 AttributeDefinitions=[{"AttributeName": "pk", "AttributeType": "S"}],
                 KeySchema=[{"AttributeName": "pk", "KeyType": "HASH"}])
    with refused("AccessDeniedException"):
        writer.create_table(**table)
    owner.create_table(**table)
    with refused("AccessDeniedException"):
        reader.put_item(TableName="scoped", Item={"pk": {"S": "a"}})
    writer.put_item(TableName="scoped", Item={"pk": {"S": "a"}})
    assert reader.get_item(TableName="scoped", Key={"pk": {"S": "a"}})["Item"] == {"pk": {"S": "a"}}


def test_a_presigned_request_is_refused(guarded):
    """AWS: Signing AWS API requests. Ours is stricter: the header alone is accepted."""
    owner = client(guarded, "owner", "his-secret")
    owner.meta.events.register("choose-signer.dynamodb.ListTables", lambda **_: "v4-query")
    with pytest.raises(ClientError) as caught:
        owner.list_tables()
    assert caught.value.response["Error"]["Code"] == "InvalidSignatureException"
    assert "Authorization header" in caught.value.response["Error"]["Message"]
