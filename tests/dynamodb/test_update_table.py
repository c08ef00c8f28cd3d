"""UpdateTable: units, billing, protection, streams; indexes that come and go on a living table."""
import re

import pytest

from dynamo import NOT_FOUND, VALIDATION, column, index, items, refused, until

INVALID = "One or more parameter values were invalid: "


def change(table, **more):
    answer = table.client.update_table(TableName=table.name, **more)["TableDescription"]
    assert table.wait(), "the table did not become ACTIVE again"
    return answer


def definitions(**types):
    return [{"AttributeName": name, "AttributeType": kind} for name, kind in types.items()]


def create(name, partition, sort=None, **more):
    return [{"Create": index(name, partition, sort, **more)}]


def no_index(table, name):
    return until(lambda: name not in [
        each["IndexName"] for each in table.describe().get("GlobalSecondaryIndexes", [])])


def test_units_can_be_changed(make):
    """AWS: UpdateTable."""
    table = make(ProvisionedThroughput={"ReadCapacityUnits": 1, "WriteCapacityUnits": 1})
    change(table, ProvisionedThroughput={"ReadCapacityUnits": 5, "WriteCapacityUnits": 2})
    told = table.describe()["ProvisionedThroughput"]
    assert (told["ReadCapacityUnits"], told["WriteCapacityUnits"]) == (5, 2)
    assert "LastIncreaseDateTime" in told


def test_units_that_stay_the_same_are_refused(client, make):
    """AWS: UpdateTable."""
    table = make(ProvisionedThroughput={"ReadCapacityUnits": 1, "WriteCapacityUnits": 2})
    with refused(VALIDATION, re.compile(
            "^The provisioned throughput for the table will not change. The requested value equals "
            "the current value. Current ReadCapacityUnits provisioned for the table: 1. Requested "
            "ReadCapacityUnits: 1. Current WriteCapacityUnits provisioned for the table: 2. "
            "Requested WriteCapacityUnits: 2. ")):
        client.update_table(TableName=table.name, ProvisionedThroughput={
            "ReadCapacityUnits": 1, "WriteCapacityUnits": 2})


def test_a_provisioned_table_can_become_one_on_demand(make):
    """AWS: UpdateTable."""
    table = make(ProvisionedThroughput={"ReadCapacityUnits": 1, "WriteCapacityUnits": 1})
    table.put({"pk": "a"})
    change(table, BillingMode="PAY_PER_REQUEST")
    told = table.describe()
    assert told["BillingModeSummary"]["BillingMode"] == "PAY_PER_REQUEST"
    assert told["ProvisionedThroughput"]["ReadCapacityUnits"] == 0
    assert table.get({"pk": "a"}) == {"pk": "a"}


def test_a_table_on_demand_can_become_a_provisioned_one(make):
    """AWS: UpdateTable."""
    table = make()
    change(table, BillingMode="PROVISIONED",
           ProvisionedThroughput={"ReadCapacityUnits": 7, "WriteCapacityUnits": 8})
    told = table.describe()
    assert told["BillingModeSummary"]["BillingMode"] == "PROVISIONED"
    assert told["ProvisionedThroughput"]["WriteCapacityUnits"] == 8


@pytest.mark.parametrize("more, told", [
    ({}, re.compile("^At least one of ProvisionedThroughput, BillingMode, UpdateStreamEnabled, "
                    "GlobalSecondaryIndexUpdates.* is required$")),
    ({"BillingMode": "PROVISIONED"}, INVALID + "ProvisionedThroughput must be specified when "
                                               "BillingMode is PROVISIONED"),
    ({"ProvisionedThroughput": {"ReadCapacityUnits": 1, "WriteCapacityUnits": 1}},
     INVALID + "Neither ReadCapacityUnits nor WriteCapacityUnits can be specified when BillingMode "
               "is PAY_PER_REQUEST"),
    ({"GlobalSecondaryIndexUpdates": [{}]},
     INVALID + "One of GlobalSecondaryIndexUpdate.Update, GlobalSecondaryIndexUpdate.Create, "
               "GlobalSecondaryIndexUpdate.Delete must not be null"),
    ({"BillingMode": "FREE"}, re.compile("Member must satisfy enum value set: \\[")),
    ({"GlobalSecondaryIndexUpdates": [{"Create": index("by-a", "a"),
                                       "Delete": {"IndexName": "by-b"}}]},
     INVALID + "Only one global secondary index action is allowed per GlobalSecondaryIndexUpdate "
               "object"),
    ({"TableClass": "STANDARD_INFREQUENT_ACCESS", "DeletionProtectionEnabled": True},
     re.compile("modification must be the only operation in the request$")),
    ({"StreamSpecification": {"StreamEnabled": True}},
     INVALID + "If stream is being enabled then UpdateViewType is required"),
    ({"StreamSpecification": {"StreamEnabled": False}},
     re.compile("^Table has no stream to disable")),
], ids=["nothing", "no units", "units on demand", "an empty change", "an unknown mode",
        "two actions in one", "two changes at once", "a stream without a view", "no stream to end"])
def test_a_change_that_is_none_is_refused(client, simple, more, told):
    """AWS: UpdateTable."""
    with refused(VALIDATION, told):
        client.update_table(TableName=simple.name, **more)


def test_a_change_of_no_table_is_refused(client):
    """AWS: UpdateTable."""
    with refused(NOT_FOUND, "Requested resource not found: Table: no-such-table not found"):
        client.update_table(TableName="no-such-table", BillingMode="PAY_PER_REQUEST")


def test_protection_can_be_switched(client, make):
    """AWS: UpdateTable."""
    table = make()
    change(table, DeletionProtectionEnabled=True)
    assert table.describe()["DeletionProtectionEnabled"] is True
    change(table, DeletionProtectionEnabled=False)
    assert table.describe()["DeletionProtectionEnabled"] is False
    table.drop()


def test_a_table_class_can_be_changed(make):
    """AWS: UpdateTable."""
    table = make()
    change(table, TableClass="STANDARD_INFREQUENT_ACCESS")
    assert table.describe()["TableClassSummary"]["TableClass"] == "STANDARD_INFREQUENT_ACCESS"


def test_a_new_index_holds_the_items_from_before(make):
    """AWS: Managing Global Secondary Indexes."""
    table = make()
    for number in range(30):
        table.put({"pk": f"k{number}", "color": "red" if number % 3 else "blue", "n": number})
    table.put({"pk": "sparse", "n": 99})
    change(table, AttributeDefinitions=definitions(color="S", n="N"),
           GlobalSecondaryIndexUpdates=create("by-color", "color", "n"))
    answer = table.query("color = :c", {":c": "blue"}, IndexName="by-color")
    assert column(answer, "n") == list(range(0, 30, 3))
    assert table.scan(IndexName="by-color")["Count"] == 30


def test_a_new_index_follows_later_writes(make):
    """AWS: Managing Global Secondary Indexes."""
    table = make()
    change(table, AttributeDefinitions=definitions(color="S"),
           GlobalSecondaryIndexUpdates=create("by-color", "color"))
    table.put({"pk": "a", "color": "red"})
    assert until(lambda: items(table.query("color = :c", {":c": "red"}, IndexName="by-color")) == [
        {"pk": "a", "color": "red"}])


def test_a_new_index_is_described(make):
    """AWS: UpdateTable."""
    table = make()
    told = change(table, AttributeDefinitions=definitions(color="S"),
                  GlobalSecondaryIndexUpdates=create(
                      "by-color", "color", projection="INCLUDE", include=["size"]))
    (growing,) = told["GlobalSecondaryIndexes"]
    assert growing["IndexStatus"] in ("CREATING", "ACTIVE")
    (grown,) = table.describe()["GlobalSecondaryIndexes"]
    assert grown["IndexStatus"] == "ACTIVE"
    assert grown["Projection"] == {"ProjectionType": "INCLUDE", "NonKeyAttributes": ["size"]}
    assert {"AttributeName": "color", "AttributeType": "S"} in table.describe()[
        "AttributeDefinitions"]


def test_backfill_skips_items_whose_key_has_another_type(make):
    """AWS: Managing Global Secondary Indexes."""
    table = make()
    table.put({"pk": "text", "n": "five"})
    table.put({"pk": "number", "n": 5})
    table.put({"pk": "nothing"})
    change(table, AttributeDefinitions=definitions(n="N"),
           GlobalSecondaryIndexUpdates=create("by-n", "n"))
    assert column(table.scan(IndexName="by-n"), "pk") == ["number"]
    assert table.get({"pk": "text"}) == {"pk": "text", "n": "five"}


def test_a_removed_index_is_gone_and_the_items_stay(make):
    """AWS: Managing Global Secondary Indexes."""
    table = make(GlobalSecondaryIndexes=[index("by-color", "color")])
    table.put({"pk": "a", "color": "red"})
    change(table, GlobalSecondaryIndexUpdates=[{"Delete": {"IndexName": "by-color"}}])
    assert no_index(table, "by-color")
    with refused(VALIDATION, "The table does not have the specified index: by-color"):
        table.query("color = :c", {":c": "red"}, IndexName="by-color")
    assert table.get({"pk": "a"}) == {"pk": "a", "color": "red"}


def test_a_key_without_its_index_takes_any_value(make):
    """AWS: Managing Global Secondary Indexes."""
    table = make(GlobalSecondaryIndexes=[index("by-color", "color")])
    with refused(VALIDATION):
        table.put({"pk": "a", "color": 5})
    change(table, GlobalSecondaryIndexUpdates=[{"Delete": {"IndexName": "by-color"}}])
    assert no_index(table, "by-color")
    table.put({"pk": "a", "color": 5})
    assert table.get({"pk": "a"}) == {"pk": "a", "color": 5}


def test_an_index_may_come_back_under_its_name(make):
    """AWS: Managing Global Secondary Indexes."""
    table = make(GlobalSecondaryIndexes=[index("again", "color")])
    table.put({"pk": "a", "color": "red", "form": "round"})
    change(table, GlobalSecondaryIndexUpdates=[{"Delete": {"IndexName": "again"}}])
    assert no_index(table, "again")
    change(table, AttributeDefinitions=definitions(form="S"),
           GlobalSecondaryIndexUpdates=create("again", "form"))
    assert column(table.query("form = :f", {":f": "round"}, IndexName="again"), "pk") == ["a"]


def test_an_index_that_is_there_is_not_made_again(client, make):
    """AWS: UpdateTable."""
    table = make(GlobalSecondaryIndexes=[index("by-color", "color")])
    with refused(VALIDATION, "Attempting to create an index which already exists"):
        client.update_table(TableName=table.name, AttributeDefinitions=definitions(color="S"),
                            GlobalSecondaryIndexUpdates=create("by-color", "color"))


def test_an_index_that_is_not_there_is_not_removed(client, simple):
    """AWS: UpdateTable."""
    with refused(NOT_FOUND, re.compile("^Requested resource not found")):
        client.update_table(TableName=simple.name, GlobalSecondaryIndexUpdates=[
            {"Delete": {"IndexName": "nowhere"}}])


def test_a_new_index_needs_the_types_of_its_keys(client, simple):
    """AWS: UpdateTable."""
    with refused(VALIDATION, re.compile("AttributeDefinitions")):
        client.update_table(TableName=simple.name, AttributeDefinitions=definitions(pk="S"),
                            GlobalSecondaryIndexUpdates=create("by-color", "color"))


def test_only_one_index_is_made_at_a_time(client, simple):
    """AWS: UpdateTable."""
    with refused("LimitExceededException", re.compile(
            "Only 1 online index can be created or deleted simultaneously per table")):
        client.update_table(
            TableName=simple.name, AttributeDefinitions=definitions(a="S", b="S"),
            GlobalSecondaryIndexUpdates=create("by-a", "a") + create("by-b", "b"))


def test_one_index_is_changed_once_in_a_request(client, make):
    """AWS: UpdateTable."""
    table = make(GlobalSecondaryIndexes=[index("by-color", "color")])
    with refused(VALIDATION, INVALID + "Only one global secondary index update per index is "
                                       "allowed simultaneously. Index: by-color"):
        client.update_table(TableName=table.name, GlobalSecondaryIndexUpdates=[
            {"Delete": {"IndexName": "by-color"}}, {"Delete": {"IndexName": "by-color"}}])


def test_a_stream_can_be_switched_on_and_off(make):
    """AWS: Change data capture for DynamoDB Streams."""
    table = make()
    change(table, StreamSpecification={"StreamEnabled": True, "StreamViewType": "NEW_IMAGE"})
    told = table.describe()
    assert told["StreamSpecification"] == {"StreamEnabled": True, "StreamViewType": "NEW_IMAGE"}
    assert told["LatestStreamArn"].startswith(told["TableArn"] + "/stream/")
    change(table, StreamSpecification={"StreamEnabled": False})
    assert "StreamSpecification" not in table.describe() or not table.describe()[
        "StreamSpecification"]["StreamEnabled"]


def test_a_stream_that_is_on_is_not_switched_on_again(client, make):
    """AWS: UpdateTable."""
    view = {"StreamEnabled": True, "StreamViewType": "NEW_IMAGE"}
    table = make(StreamSpecification=view)
    with refused(VALIDATION, f"Table already has an enabled stream: TableName: {table.name}"):
        client.update_table(TableName=table.name, StreamSpecification=view)


def test_a_new_index_with_the_wrong_key_schema_is_refused(client, simple):
    """AWS: UpdateTable."""
    wrong = {"IndexName": "by-color", "KeySchema": [
        {"AttributeName": "color", "KeyType": "HASH"},
        {"AttributeName": "color", "KeyType": "RANGE"}], "Projection": {"ProjectionType": "ALL"}}
    with refused(VALIDATION, re.compile("have the same name|with the same name")):
        client.update_table(TableName=simple.name, AttributeDefinitions=definitions(color="S"),
                            GlobalSecondaryIndexUpdates=[{"Create": wrong}])
    assert "GlobalSecondaryIndexes" not in simple.describe()


@pytest.mark.parametrize("more, told", [
    ({"ProvisionedThroughput": {"ReadCapacityUnits": 10**12 + 1, "WriteCapacityUnits": 1}},
     f"Given value {10**12 + 1} for ReadCapacityUnits is out of bounds"),
    ({"GlobalSecondaryIndexUpdates": []},
     "At least one of ProvisionedThroughput, BillingMode, UpdateStreamEnabled, "
     "GlobalSecondaryIndexUpdates or SSESpecification or ReplicaUpdates is required"),
    ({"GlobalSecondaryIndexUpdates": [{"Update": {}}]},
     "2 validation errors detected: Value null at "
     "'globalSecondaryIndexUpdates.1.member.update.indexName' failed to satisfy constraint: Member "
     "must not be null; Value null at "
     "'globalSecondaryIndexUpdates.1.member.update.provisionedThroughput' failed to satisfy "
     "constraint: Member must not be null"),
    ({"GlobalSecondaryIndexUpdates": [{"Delete": {"IndexName": "a;b"}}]},
     "1 validation error detected: Value 'a;b' at "
     "'globalSecondaryIndexUpdates.1.member.delete.indexName' failed to satisfy constraint: Member "
     "must satisfy regular expression pattern: [a-zA-Z0-9_.-]+"),
])
def test_what_is_wrong_by_itself_is_told_before_the_table_is_looked_for(client, more, told):
    """AWS: UpdateTable."""
    with refused(VALIDATION, told):
        client.update_table(TableName="no-such-table", **more)
