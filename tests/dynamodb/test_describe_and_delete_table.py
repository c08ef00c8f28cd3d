"""DescribeTable, DeleteTable and the account's own descriptions."""
import pytest

from dynamo import NOT_FOUND, VALIDATION, index, refused, typed_all, until


def gone(client, name):
    def missing():
        try:
            client.describe_table(TableName=name)
        except client.exceptions.ResourceNotFoundException:
            return True
        return False
    return until(missing)


def test_a_description_holds_the_indexes(make):
    """AWS: DescribeTable."""
    table = make(sort="sk", LocalSecondaryIndexes=[index("loc", "pk", "a", "KEYS_ONLY")],
                 GlobalSecondaryIndexes=[index("glo", "b", "c", "INCLUDE", ["d"])])
    told = table.describe()
    (local,), (globe,) = told["LocalSecondaryIndexes"], told["GlobalSecondaryIndexes"]
    assert local["IndexName"] == "loc"
    assert local["Projection"] == {"ProjectionType": "KEYS_ONLY"}
    assert local["IndexArn"] == told["TableArn"] + "/index/loc"
    assert (local["ItemCount"], local["IndexSizeBytes"]) == (0, 0)
    assert globe["KeySchema"] == [{"AttributeName": "b", "KeyType": "HASH"},
                                  {"AttributeName": "c", "KeyType": "RANGE"}]
    assert globe["Projection"] == {"ProjectionType": "INCLUDE", "NonKeyAttributes": ["d"]}
    assert globe["IndexStatus"] == "ACTIVE"
    assert globe["IndexArn"] == told["TableArn"] + "/index/glo"


def test_a_description_stays_the_same(simple):
    """AWS: DescribeTable."""
    first, second = simple.describe(), simple.describe()
    for name in ("TableId", "TableArn", "CreationDateTime", "KeySchema"):
        assert first[name] == second[name]


def test_a_table_may_be_described_by_its_arn(client, simple):
    """AWS: DescribeTable."""
    told = client.describe_table(TableName=simple.describe()["TableArn"])["Table"]
    assert told["TableName"] == simple.name


@pytest.mark.parametrize("operation", ["describe_table", "delete_table"])
def test_a_table_that_is_not_there_is_told_by_name(client, operation):
    """AWS: DescribeTable."""
    with refused(NOT_FOUND, "Requested resource not found: Table: no-such-table not found"):
        getattr(client, operation)(TableName="no-such-table")


@pytest.mark.parametrize("operation", ["describe_table", "delete_table"])
@pytest.mark.parametrize("name", ["ab", "a b c", "x" * 1025])
def test_a_name_that_no_table_can_have_is_refused(client, operation, name):
    """AWS: Supported data types and naming rules in Amazon DynamoDB."""
    with refused(VALIDATION):
        getattr(client, operation)(TableName=name)


def test_a_deleted_table_is_gone_with_its_items(client, make):
    """AWS: DeleteTable."""
    table = make()
    table.put({"pk": "a"})
    told = client.delete_table(TableName=table.name)["TableDescription"]
    assert (told["TableName"], told["TableStatus"]) == (table.name, "DELETING")
    assert gone(client, table.name)
    with refused(NOT_FOUND):
        client.get_item(TableName=table.name, Key=typed_all({"pk": "a"}))
    assert table.name not in client.list_tables()["TableNames"]


def test_a_table_made_again_is_empty_and_another(client, make):
    """AWS: DeleteTable."""
    table = make()
    table.put({"pk": "a"})
    identity = table.describe()["TableId"]
    table.drop()
    assert gone(client, table.name)
    again = make(TableName=table.name)
    assert again.get({"pk": "a"}) is None
    assert again.describe()["TableId"] != identity


def test_a_protected_table_is_not_deleted(client, make):
    """AWS: DeleteTable."""
    table = make(DeletionProtectionEnabled=True)
    try:
        with refused(VALIDATION, "Resource cannot be deleted as it is currently protected against "
                                 "deletion. Disable deletion protection first."):
            table.drop()
        assert table.describe()["TableStatus"] == "ACTIVE"
    finally:
        client.update_table(TableName=table.name, DeletionProtectionEnabled=False)


def test_endpoints_are_described(client):
    """AWS: DescribeEndpoints."""
    (endpoint,) = client.describe_endpoints()["Endpoints"]
    assert endpoint["Address"]
    assert endpoint["CachePeriodInMinutes"] > 0


def test_limits_are_described(client):
    """AWS: DescribeLimits."""
    limits = client.describe_limits()
    for name in ("AccountMaxReadCapacityUnits", "AccountMaxWriteCapacityUnits",
                 "TableMaxReadCapacityUnits", "TableMaxWriteCapacityUnits"):
        assert limits[name] >= 10_000


def test_continuous_backups_are_described(client, simple):
    """AWS: DescribeContinuousBackups."""
    told = client.describe_continuous_backups(TableName=simple.name)
    told = told["ContinuousBackupsDescription"]
    assert told["ContinuousBackupsStatus"] == "ENABLED"
    assert told["PointInTimeRecoveryDescription"]["PointInTimeRecoveryStatus"] == "DISABLED"
