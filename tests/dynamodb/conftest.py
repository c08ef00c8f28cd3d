"""Clients and tables. STONECROP_URL says which server is judged."""
import os
import uuid

import boto3
import pytest
from botocore.config import Config

from dynamo import Http, Table


# Where a table is in several shards, a transaction is within one: these span them.
SPANNING = {
    "test_an_order_grows",
    "test_at_night_the_books_are_right",
    "test_at_noon_an_order_takes_from_the_stock_or_does_not_happen",
    "test_an_order_for_too_much_leaves_no_trace",
    "test_customer_and_order_are_seen_at_one_moment",
    "test_an_index_follows_its_table[a transaction moves the item]",
    "test_a_transaction_of_writes_is_done_whole",
    "test_a_transaction_with_the_same_token_is_done_once",
    "test_the_same_token_for_other_statements_is_refused",
    "test_one_failure_undoes_the_transaction",
    "test_a_transaction_may_check_that_something_exists[1-True]",
    "test_a_transaction_may_check_that_something_exists[2-False]",
    "test_failed_conditions_in_batches_and_transactions_tell_the_item_when_asked",
    "test_every_way_of_writing_is_recorded[transaction]",
}


def _spans_shards(item):
    return item.name in SPANNING or item.path.name == "test_transact_write.py"


def pytest_collection_modifyitems(items):
    """Every test names the documentation page that it rests on.

    What tries to kill the server runs last: a dead one would take the other results along.
    """
    items.sort(key=lambda item: item.path.name == "test_survival.py")
    for item in items:
        if int(os.environ.get("STONECROP_SHARDS", "1")) > 1 and _spans_shards(item):
            item.add_marker(pytest.mark.skip(reason="the transaction spans shards"))
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
