"""UpdateTimeToLive, DescribeTimeToLive and items that have run out."""
import time

import pytest

from dynamo import NOT_FOUND, VALIDATION, column, index, refused, until


def switch(table, on=True, name="until"):
    return table.client.update_time_to_live(TableName=table.name, TimeToLiveSpecification={
        "Enabled": on, "AttributeName": name})


def status(table):
    return table.client.describe_time_to_live(TableName=table.name)["TimeToLiveDescription"]


@pytest.fixture(scope="module")
def timed(make):
    table = make(sort="sk", types={"sk": "N"}, GlobalSecondaryIndexes=[index("by-color", "color")])
    switch(table)
    assert until(lambda: status(table)["TimeToLiveStatus"] == "ENABLED")
    return table


def test_a_new_table_has_no_time_to_live(make):
    """AWS: DescribeTimeToLive."""
    assert status(make()) == {"TimeToLiveStatus": "DISABLED"}


def test_switching_on_answers_with_the_specification(make):
    """AWS: UpdateTimeToLive."""
    table = make()
    answer = switch(table)
    assert answer["TimeToLiveSpecification"] == {"Enabled": True, "AttributeName": "until"}
    assert status(table)["TimeToLiveStatus"] in ("ENABLING", "ENABLED")
    assert status(table)["AttributeName"] == "until"


def test_switching_off_forgets_the_attribute(make):
    """AWS: UpdateTimeToLive."""
    table = make()
    switch(table)
    assert until(lambda: status(table)["TimeToLiveStatus"] == "ENABLED")
    answer = switch(table, on=False)
    assert answer["TimeToLiveSpecification"] == {"Enabled": False, "AttributeName": "until"}
    assert until(lambda: status(table)["TimeToLiveStatus"] == "DISABLED")
    assert "AttributeName" not in status(table)


def test_what_is_on_is_not_switched_on_again(timed):
    """AWS: UpdateTimeToLive."""
    with refused(VALIDATION, "TimeToLive is already enabled"):
        switch(timed)


def test_what_is_off_is_not_switched_off_again(make):
    """AWS: UpdateTimeToLive."""
    with refused(VALIDATION, "TimeToLive is already disabled"):
        switch(make(), on=False)


def test_the_attribute_is_not_changed_while_on(timed):
    """AWS: UpdateTimeToLive."""
    with refused(VALIDATION, "TimeToLive is active on a different AttributeName: current "
                             "AttributeName is until"):
        switch(timed, name="another")
    assert status(timed)["AttributeName"] == "until"


@pytest.mark.parametrize("name", ["", "x" * 256])
def test_an_attribute_name_has_one_to_255_characters(make, name):
    """AWS: TimeToLiveSpecification."""
    table = make()
    with refused(VALIDATION):
        switch(table, name=name)
    assert status(table)["TimeToLiveStatus"] == "DISABLED"


@pytest.mark.parametrize("operation, more", [
    ("describe_time_to_live", {}),
    ("update_time_to_live", {"TimeToLiveSpecification": {"Enabled": True, "AttributeName": "a"}})])
def test_a_table_that_is_not_there_has_no_time_to_live(client, operation, more):
    """AWS: UpdateTimeToLive."""
    with refused(NOT_FOUND, "Requested resource not found: Table: no-such-table not found"):
        getattr(client, operation)(TableName="no-such-table", **more)


def test_an_item_whose_time_has_not_come_is_there(timed, pk):
    """AWS: How it works: DynamoDB Time to Live (TTL)."""
    timed.put({"pk": pk, "sk": 1, "until": int(time.time()) + 3600})
    assert timed.get({"pk": pk, "sk": 1})["sk"] == 1
    assert timed.query("pk = :p", {":p": pk})["Count"] == 1


@pytest.mark.parametrize("value", ["text", None, [1], True], ids=str)
def test_only_numbers_run_out(timed, pk, value):
    """AWS: Using DynamoDB Time to Live (TTL)."""
    timed.put({"pk": pk, "sk": 1, "until": value})
    timed.put({"pk": pk, "sk": 2})
    time.sleep(0.2)
    assert column(timed.query("pk = :p", {":p": pk}), "sk") == [1, 2]


def test_what_ran_out_more_than_five_years_ago_stays(timed, pk):
    """AWS: Using DynamoDB Time to Live (TTL)."""
    timed.put({"pk": pk, "sk": 1, "until": int(time.time()) - 6 * 365 * 86400})
    time.sleep(0.2)
    assert timed.get({"pk": pk, "sk": 1})["sk"] == 1


# The service removes such items within days; Stonecrop no longer shows them at all by default.
@pytest.mark.parametrize("how", ["get", "query", "scan", "index"])
def test_an_item_that_has_run_out_is_gone(timed, pk, how):
    """AWS: How it works: DynamoDB Time to Live (TTL)."""
    timed.put({"pk": pk, "sk": 1, "color": pk, "until": int(time.time()) - 60})
    timed.put({"pk": pk, "sk": 2, "color": pk})

    def seen():
        if how == "get":
            return [n for n in (1, 2) if timed.get({"pk": pk, "sk": n})]
        if how == "query":
            return column(timed.query("pk = :p", {":p": pk}), "sk")
        if how == "scan":
            return column(timed.scan(FilterExpression="pk = :p", values={":p": pk}), "sk")
        return column(timed.query("color = :c", {":c": pk}, IndexName="by-color"), "sk")

    assert until(lambda: seen() == [2], seconds=5)


def test_without_time_to_live_nothing_runs_out(make):
    """AWS: How it works: DynamoDB Time to Live (TTL)."""
    table = make()
    table.put({"pk": "a", "until": int(time.time()) - 60})
    time.sleep(0.2)
    assert table.get({"pk": "a"})["pk"] == "a"
