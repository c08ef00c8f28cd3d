"""Clients and tables. STONECROP_URL says which server is judged."""
import os
import uuid

import boto3
import pytest
from botocore.config import Config

from dynamo import Http, Table


def pytest_collection_modifyitems(items):
    """Every test names the documentation page that it rests on.

    What tries to kill the server runs last: a dead one would take the other results along.
    """
    items.sort(key=lambda item: item.path.name == "test_survival.py")
    for item in items:
        text = item.function.__doc__ or ""
        if not text.startswith("AWS: "):
            raise pytest.UsageError(f"{item.nodeid} names no AWS page in its docstring")


def _boto(service):
    # Malformed requests must reach the server, and every answer must be its first.
    return boto3.client(
        service,
        endpoint_url=os.environ["STONECROP_URL"],
        region_name="us-east-1",
        aws_access_key_id="test",
        aws_secret_access_key="test",
        config=Config(
            parameter_validation=False,
            retries={"max_attempts": 0},
            connect_timeout=5,
            read_timeout=30,
        ),
    )


@pytest.fixture(scope="session")
def client():
    return _boto("dynamodb")


@pytest.fixture(scope="session")
def streams():
    return _boto("dynamodbstreams")


@pytest.fixture(scope="session")
def http():
    return Http(os.environ["STONECROP_URL"])


@pytest.fixture(scope="module")
def make(client):
    """Makes tables as Table does; they go at the end of the module."""
    made = []

    def make_table(**request):
        table = Table(client, **request)
        made.append(table)
        return table

    yield make_table
    for table in made:
        try:
            table.drop()
        except client.exceptions.ClientError:
            pass  # the test dropped or protected it


@pytest.fixture(scope="module")
def simple(make):
    """A table with the partition key pk, a string."""
    return make()


@pytest.fixture(scope="module")
def sorted_table(make):
    """A table with the partition key pk, a string, and the sort key sk, a number."""
    return make(sort="sk", types={"sk": "N"})


@pytest.fixture(scope="module")
def named(make):
    """A table with the partition key pk and the sort key sk, both strings."""
    return make(sort="sk")


@pytest.fixture
def pk():
    """A partition that no other test uses."""
    return uuid.uuid4().hex
