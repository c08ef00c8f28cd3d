"""CreateTable: what a table is made of and what is none."""
import re
from datetime import datetime, timedelta, timezone

import pytest

from dynamo import IN_USE, VALIDATION, fresh_name, index, key_schema, refused, table_request

INVALID = "One or more parameter values were invalid: "


def definitions(**types):
    return [{"AttributeName": name, "AttributeType": kind} for name, kind in types.items()]


def test_a_new_table_is_described_in_the_answer(client):
    """AWS: CreateTable."""
    request = table_request(sort="sk", types={"sk": "N"})
    try:
        told = client.create_table(**request)["TableDescription"]
        assert told["TableName"] == request["TableName"]
        assert told["TableStatus"] in ("CREATING", "ACTIVE")
        assert told["KeySchema"] == request["KeySchema"]
        assert sorted(told["AttributeDefinitions"], key=str) == sorted(
            request["AttributeDefinitions"], key=str)
        assert told["ItemCount"] == 0
        assert told["TableSizeBytes"] == 0
        assert re.fullmatch(
            rf"arn:aws:dynamodb:us-east-1:\d{{12}}:table/{request['TableName']}", told["TableArn"])
        assert re.fullmatch(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", told["TableId"])
        age = datetime.now(timezone.utc) - told["CreationDateTime"]
        assert abs(age) < timedelta(minutes=5)
    finally:
        client.delete_table(TableName=request["TableName"])


def test_a_table_on_demand_says_so(make):
    """AWS: CreateTable."""
    told = make().describe()
    assert told["BillingModeSummary"]["BillingMode"] == "PAY_PER_REQUEST"
    assert told["ProvisionedThroughput"]["ReadCapacityUnits"] == 0
    assert told["ProvisionedThroughput"]["WriteCapacityUnits"] == 0
    assert told["ProvisionedThroughput"]["NumberOfDecreasesToday"] == 0


def test_a_provisioned_table_keeps_its_units(make):
    """AWS: CreateTable."""
    told = make(ProvisionedThroughput={"ReadCapacityUnits": 3, "WriteCapacityUnits": 4}).describe()
    assert told["ProvisionedThroughput"]["ReadCapacityUnits"] == 3
    assert told["ProvisionedThroughput"]["WriteCapacityUnits"] == 4
    assert told.get("BillingModeSummary", {}).get("BillingMode", "PROVISIONED") == "PROVISIONED"


def test_deletion_protection_is_off_unless_asked(make):
    """AWS: CreateTable."""
    assert make().describe()["DeletionProtectionEnabled"] is False


def test_a_table_class_is_kept(make):
    """AWS: CreateTable."""
    told = make(TableClass="STANDARD_INFREQUENT_ACCESS").describe()
    assert told["TableClassSummary"]["TableClass"] == "STANDARD_INFREQUENT_ACCESS"


@pytest.mark.parametrize("name", ["abc", "a" * 255, "A.b-c_9", "...", "123"])
def test_names_within_the_rules_are_allowed(client, name):
    """AWS: Supported data types and naming rules in Amazon DynamoDB."""
    request = table_request(TableName=name)
    try:
        told = client.create_table(**request)["TableDescription"]
        assert told["TableName"] == name
    finally:
        client.delete_table(TableName=name)


@pytest.mark.parametrize("name", ["ab", "", "a" * 256, "a b c", "abc/", "täble", "abc$"])
def test_names_outside_the_rules_are_refused(client, name):
    """AWS: Supported data types and naming rules in Amazon DynamoDB."""
    with refused(VALIDATION, re.compile("Value '.*' at 'tableName' failed to satisfy constraint: ")):
        client.create_table(**table_request(TableName=name))


@pytest.mark.parametrize("name, rule", [
    ("ab", "greater than or equal to 3"), ("a" * 256, "less than or equal to 255")])
def test_the_length_of_a_name_is_told_as_a_rule(client, name, rule):
    """AWS: CreateTable."""
    with refused(VALIDATION, f"1 validation error detected: Value '{name}' at 'tableName' failed to "
                             f"satisfy constraint: Member must have length {rule}"):
        client.create_table(**table_request(TableName=name))


def test_a_key_of_too_many_attributes_is_told_with_them(client):
    """AWS: CreateTable."""
    schema = [*key_schema("pk", "sk"), {"AttributeName": "more", "KeyType": "RANGE"}]
    shown = ", ".join(f"KeySchemaElement(attributeName={name}, keyType={kind})" for name, kind in [
        ("pk", "HASH"), ("sk", "RANGE"), ("more", "RANGE")])
    with refused(VALIDATION, f"1 validation error detected: Value '[{shown}]' at 'keySchema' failed "
                             "to satisfy constraint: Member must have length less than or equal to 2"):
        client.create_table(**table_request(KeySchema=schema))


def test_a_name_is_used_once(client, simple):
    """AWS: CreateTable."""
    with refused(IN_USE, f"Table already exists: {simple.name}"):
        client.create_table(**simple.request)


def test_names_differ_by_case(make):
    """AWS: Supported data types and naming rules in Amazon DynamoDB."""
    name = fresh_name("case")
    lower, upper = make(TableName=name), make(TableName=name.upper())
    lower.put({"pk": "a"})
    assert upper.get({"pk": "a"}) is None
    assert lower.get({"pk": "a"}) == {"pk": "a"}


@pytest.mark.parametrize("kind, value", [("S", "text"), ("N", -12), ("B", b"\x00\xff")])
def test_a_partition_key_is_a_string_a_number_or_bytes(make, kind, value):
    """AWS: CreateTable."""
    table = make(types={"pk": kind})
    table.put({"pk": value, "a": 1})
    assert table.get({"pk": value}) == {"pk": value, "a": 1}


CAPACITY = {"ReadCapacityUnits": 1, "WriteCapacityUnits": 1}
WRONG = {
    "a key without a definition": (
        {"KeySchema": key_schema("pk", "sk"), "AttributeDefinitions": definitions(pk="S", zz="S")},
        INVALID + "Some index key attributes are not defined in AttributeDefinitions. Keys: "
                  "[pk, sk], AttributeDefinitions: [pk, zz]"),
    "fewer definitions than keys": (
        {"KeySchema": key_schema("pk", "sk"), "AttributeDefinitions": definitions(pk="S")},
        "Invalid KeySchema: Some index key attribute have no definition"),
    "a definition that no key uses": (
        {"AttributeDefinitions": definitions(pk="S", zz="S")},
        INVALID + "Number of attributes in KeySchema does not exactly match number of attributes "
                  "defined in AttributeDefinitions"),
    "the sort key first": (
        {"KeySchema": [{"AttributeName": "pk", "KeyType": "RANGE"}]},
        "Invalid KeySchema: The first KeySchemaElement is not a HASH key type"),
    "two partition keys": (
        {"KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"},
                       {"AttributeName": "sk", "KeyType": "HASH"}],
         "AttributeDefinitions": definitions(pk="S", sk="S")},
        "Invalid KeySchema: The second KeySchemaElement is not a RANGE key type"),
    "one name for both keys": (
        {"KeySchema": key_schema("pk", "pk"), "AttributeDefinitions": definitions(pk="S", zz="S")},
        "Both the Hash Key and the Range Key element in the KeySchema have the same name"),
    "provisioned without units": (
        {"BillingMode": "PROVISIONED"},
        INVALID + "ReadCapacityUnits and WriteCapacityUnits must both be specified when "
                  "BillingMode is PROVISIONED"),
    "on demand with units": (
        {"BillingMode": "PAY_PER_REQUEST", "ProvisionedThroughput": CAPACITY},
        INVALID + "Neither ReadCapacityUnits nor WriteCapacityUnits can be specified when "
                  "BillingMode is PAY_PER_REQUEST"),
    "an empty list of local indexes": (
        {"KeySchema": key_schema("pk", "sk"), "AttributeDefinitions": definitions(pk="S", sk="S"),
         "LocalSecondaryIndexes": []},
        INVALID + "List of LocalSecondaryIndexes is empty"),
    "an empty list of global indexes": (
        {"GlobalSecondaryIndexes": []}, INVALID + "List of GlobalSecondaryIndexes is empty"),
    "a local index without a sort key in the table": (
        {"LocalSecondaryIndexes": [index("loc", "pk", "zz")]},
        INVALID + "Table KeySchema does not have a range key, which is required when specifying a "
                  "LocalSecondaryIndex"),
    "a local index without a sort key": (
        {"sort": "sk", "LocalSecondaryIndexes": [index("loc", "pk")]},
        INVALID + "Index KeySchema does not have a range key for index: loc"),
    "a local index with another partition key": (
        {"sort": "sk", "LocalSecondaryIndexes": [index("loc", "zz", "sk")]},
        INVALID + "Index KeySchema does not have the same leading hash key as table KeySchema for "
                  "index: loc. index hash key: zz, table hash key: pk"),
    "two indexes of one name": (
        {"sort": "sk", "LocalSecondaryIndexes": [
            index("same", "pk", "y"), index("same", "pk", "z")]},
        INVALID + "Duplicate index name: same"),
    "a local and a global index of one name": (
        {"sort": "sk", "LocalSecondaryIndexes": [index("same", "pk", "y")],
         "GlobalSecondaryIndexes": [index("same", "z")]},
        INVALID + "Duplicate index name: same"),
    "six local indexes": (
        {"sort": "sk", "LocalSecondaryIndexes": [
            index(f"loc{n}", "pk", f"a{n}") for n in range(6)]},
        INVALID + "Number of LocalSecondaryIndexes exceeds per-table limit of 5"),
    "twenty-one global indexes": (
        {"GlobalSecondaryIndexes": [index(f"glo{n}", f"a{n}") for n in range(21)]},
        re.compile("GlobalSecondaryIndex count exceeds the per-table limit of 20")),
    "attributes projected with everything": (
        {"GlobalSecondaryIndexes": [index("glo", "a", include=["b"])]},
        INVALID + "ProjectionType is ALL, but NonKeyAttributes is specified"),
    "attributes projected with keys only": (
        {"GlobalSecondaryIndexes": [index("glo", "a", projection="KEYS_ONLY", include=["b"])]},
        INVALID + "ProjectionType is KEYS_ONLY, but NonKeyAttributes is specified"),
    "nothing included": (
        {"GlobalSecondaryIndexes": [index("glo", "a", projection="INCLUDE")]},
        INVALID + "ProjectionType is INCLUDE, but NonKeyAttributes is not specified"),
    "a projection without a type": (
        {"GlobalSecondaryIndexes": [{"IndexName": "glo", "KeySchema": key_schema("a"),
                                     "Projection": {}}]},
        INVALID + "Unknown ProjectionType: null"),
    "an attribute included twice": (
        {"GlobalSecondaryIndexes": [index("glo", "a", projection="INCLUDE", include=["b", "b"])]},
        re.compile("Duplicate element in NonKeyAttributes: b$")),
    "a definition that no key and no index uses": (
        {"AttributeDefinitions": definitions(pk="S", a="S", zz="S"),
         "GlobalSecondaryIndexes": [index("glo", "a")]},
        re.compile("Some AttributeDefinitions are not used. AttributeDefinitions: \\[")),
    "a definition given twice": (
        {"AttributeDefinitions": definitions(pk="S") * 2},
        re.compile("pk$|does not exactly match")),
    "units for the table and none for an index": (
        {"ProvisionedThroughput": CAPACITY, "GlobalSecondaryIndexes": [index("glo", "a")]},
        INVALID + "ProvisionedThroughput is not specified for index: glo"),
    "units for an index on demand": (
        {"GlobalSecondaryIndexes": [{**index("glo", "a"), "ProvisionedThroughput": CAPACITY}]},
        INVALID + "ProvisionedThroughput should not be specified for index: glo when BillingMode "
                  "is PAY_PER_REQUEST"),
    "an unknown table class": (
        {"TableClass": "CHEAP"},
        re.compile("Member must satisfy enum|Invalid table-class parameter")),
    "an index key without a definition": (
        {"AttributeDefinitions": definitions(pk="S", b="S"),
         "GlobalSecondaryIndexes": [index("glo", "a")]},
        re.compile("Some index key attributes are not defined in AttributeDefinitions")),
    "a short index name": (
        {"GlobalSecondaryIndexes": [index("ab", "a")]},
        re.compile("Member must have length greater than or equal to 3")),
    "a type that keys cannot have": (
        {"AttributeDefinitions": definitions(pk="BOOL")},
        re.compile("Member must satisfy enum value set: \\[")),
    "a key kind that is none": (
        {"KeySchema": [{"AttributeName": "pk", "KeyType": "PRIMARY"}]},
        re.compile("Member must satisfy enum value set: \\[")),
    "no key": (
        {"KeySchema": []}, re.compile("Member must have length greater than or equal to 1")),
    "an unknown billing mode": (
        {"BillingMode": "FREE"}, re.compile("Member must satisfy enum value set: \\[")),
    "a capacity of nothing": (
        {"ProvisionedThroughput": {"ReadCapacityUnits": 0, "WriteCapacityUnits": 1}},
        re.compile("Member must have value greater than or equal to 1")),
}


@pytest.mark.parametrize("case", WRONG)
def test_a_table_that_contradicts_itself_is_refused(client, case):
    """AWS: CreateTable."""
    more, told = WRONG[case]
    request = table_request(**more)
    with refused(VALIDATION, told):
        client.create_table(**request)
    with refused("ResourceNotFoundException"):
        client.describe_table(TableName=request["TableName"])


def test_five_local_and_twenty_global_indexes_are_allowed(make):
    """AWS: Service, account, and table quotas in Amazon DynamoDB."""
    table = make(sort="sk",
                 LocalSecondaryIndexes=[index(f"loc{n}", "pk", f"a{n}") for n in range(5)],
                 GlobalSecondaryIndexes=[index(f"glo{n}", f"b{n}") for n in range(20)])
    told = table.describe()
    assert len(told["LocalSecondaryIndexes"]) == 5
    assert len(told["GlobalSecondaryIndexes"]) == 20


def test_tags_given_at_birth_are_kept(client, make):
    """AWS: CreateTable."""
    table = make(Tags=[{"Key": "owner", "Value": "blue"}])
    tags = client.list_tags_of_resource(ResourceArn=table.describe()["TableArn"])["Tags"]
    assert tags == [{"Key": "owner", "Value": "blue"}]


def told_of(answer):
    """The faults that a refusal tells, and how many it says there are."""
    count, _, rest = answer.message.partition(" validation error")
    return int(count), set(rest.partition("detected: ")[2].split("; "))


def fault(value, at, rule):
    return f"Value {value} at '{at}' failed to satisfy constraint: {rule}"


MISSING = "Member must not be null"


def test_all_faults_of_members_are_told_at_once_with_their_places(http):
    """AWS: CreateTable."""
    count, told = told_of(http.send("CreateTable", {
        "TableName": "abc", "AttributeDefinitions": [{}],
        "KeySchema": [{"KeyType": "HASH"}, {"AttributeName": "a", "KeyType": "Woop"}],
        "ProvisionedThroughput": {"WriteCapacityUnits": 0}}))
    expected = {
        fault("null", "keySchema.1.member.attributeName", MISSING),
        fault("'Woop'", "keySchema.2.member.keyType",
              "Member must satisfy enum value set: [HASH, RANGE]"),
        fault("null", "attributeDefinitions.1.member.attributeName", MISSING),
        fault("null", "attributeDefinitions.1.member.attributeType", MISSING),
        fault("null", "provisionedThroughput.readCapacityUnits", MISSING),
        fault("'0'", "provisionedThroughput.writeCapacityUnits",
              "Member must have value greater than or equal to 1"),
    }
    assert (count, told) == (len(expected), expected)


@pytest.mark.parametrize("which", ["LocalSecondaryIndexes", "GlobalSecondaryIndexes"])
def test_faults_of_an_index_are_told_with_its_place(http, which):
    """AWS: CreateTable."""
    at = f"{which[0].lower()}{which[1:]}.2.member"
    good = index("good", "pk", "sk")
    count, told = told_of(http.send("CreateTable", table_request(sort="sk", **{which: [
        good, {"IndexName": "h;", "KeySchema": [], "Projection": {
            "ProjectionType": "SOME", "NonKeyAttributes": []}}]})))
    expected = {
        fault("'h;'", f"{at}.indexName",
              "Member must satisfy regular expression pattern: [a-zA-Z0-9_.-]+"),
        fault("'h;'", f"{at}.indexName", "Member must have length greater than or equal to 3"),
        fault("'[]'", f"{at}.keySchema", "Member must have length greater than or equal to 1"),
        fault("'SOME'", f"{at}.projection.projectionType",
              "Member must satisfy enum value set: [ALL, INCLUDE, KEYS_ONLY]"),
        fault("'[]'", f"{at}.projection.nonKeyAttributes",
              "Member must have length greater than or equal to 1"),
    }
    assert (count, told) == (len(expected), expected)


def test_ten_faults_are_told_and_no_more(http):
    """AWS: CreateTable."""
    count, told = told_of(http.send("CreateTable", table_request(
        sort="sk", AttributeDefinitions=definitions(pk="S", sk="S"),
        KeySchema=key_schema("pk", "sk"), LocalSecondaryIndexes=[{"KeySchema": []}] * 9)))
    assert (count, len(told)) == (10, 10)


@pytest.mark.parametrize("read, write, which", [
    (10**12 + 1, 10**12 + 1, "ReadCapacityUnits"), (10**12, 10**12 + 1, "WriteCapacityUnits")])
def test_units_have_a_bound(client, read, write, which):
    """AWS: CreateTable."""
    with refused(VALIDATION, f"Given value {10**12 + 1} for {which} is out of bounds"):
        client.create_table(**table_request(ProvisionedThroughput={
            "ReadCapacityUnits": read, "WriteCapacityUnits": write}))


def test_definitions_are_looked_at_before_the_order_of_keys(client):
    """AWS: CreateTable."""
    with refused(VALIDATION, "Invalid KeySchema: Some index key attribute have no definition"):
        client.create_table(**table_request(AttributeDefinitions=definitions(pk="S"), KeySchema=[
            {"AttributeName": "pk", "KeyType": "RANGE"}, {"AttributeName": "pk", "KeyType": "HASH"}]))
