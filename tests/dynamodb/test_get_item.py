"""GetItem: one item by its whole key."""
import pytest

from dynamo import NOT_FOUND, VALIDATION, plain_item, refused, typed_all


def test_a_missing_item_is_an_answer_without_one(client, simple, pk):
    """AWS: GetItem."""
    simple.put({"pk": pk})
    answer = client.get_item(TableName=simple.name, Key=typed_all({"pk": pk + "-missing"}))
    assert answer["ResponseMetadata"]["HTTPStatusCode"] == 200
    assert "Item" not in answer
    assert simple.get({"pk": pk}) == {"pk": pk}


@pytest.mark.parametrize("consistent", [True, False])
def test_both_kinds_of_reads_see_an_earlier_write(simple, pk, consistent):
    """AWS: Read consistency."""
    simple.put({"pk": pk, "a": 1})
    assert simple.get({"pk": pk}, ConsistentRead=consistent) == {"pk": pk, "a": 1}


def test_the_sort_key_picks_one_of_the_partition(sorted_table, pk):
    """AWS: GetItem."""
    for number in (1, 2, 3):
        sorted_table.put({"pk": pk, "sk": number, "a": number * 10})
    assert sorted_table.get({"pk": pk, "sk": 2}) == {"pk": pk, "sk": 2, "a": 20}
    assert sorted_table.get({"pk": pk, "sk": 4}) is None


@pytest.mark.parametrize("sort", ["1.0", "1", "1e0", "0.1E1", "01"])
def test_a_number_key_is_found_however_it_is_written(client, sorted_table, pk, sort):
    """AWS: Supported data types and naming rules in Amazon DynamoDB."""
    sorted_table.put({"pk": pk, "sk": 1, "a": "x"})
    answer = client.get_item(TableName=sorted_table.name, Key={"pk": {"S": pk}, "sk": {"N": sort}})
    assert plain_item(answer["Item"]) == {"pk": pk, "sk": 1, "a": "x"}


@pytest.mark.parametrize("key", [
    {}, {"pk": "a"}, {"sk": 1}, {"pk": "a", "other": 1}, {"pk": "a", "sk": 1, "other": 1},
    {"pk": 1, "sk": 1}, {"pk": "a", "sk": "1"}, {"pk": "a", "sk": None}, {"pk": "a", "sk": [1]},
], ids=str)
def test_a_key_that_is_not_the_table_s_is_refused(sorted_table, key):
    """AWS: GetItem."""
    with refused(VALIDATION, "The provided key element does not match the schema"):
        sorted_table.get(key)


def test_a_get_from_no_table_is_refused(client):
    """AWS: GetItem."""
    with refused(NOT_FOUND, "Requested resource not found"):
        client.get_item(TableName="no-such-table", Key=typed_all({"pk": "a"}))


def test_a_get_without_a_key_is_refused(client, simple):
    """AWS: GetItem."""
    with refused(VALIDATION) as caught:
        client.get_item(TableName=simple.name)
    assert "key" in caught.value.response["Error"]["Message"].lower()


def test_an_empty_key_value_is_refused(simple):
    """AWS: Supported data types and naming rules in Amazon DynamoDB."""
    with refused(VALIDATION, "One or more parameter values are not valid. The AttributeValue for a "
                             "key attribute cannot contain an empty string value. Key: pk"):
        simple.get({"pk": ""})


def test_only_the_projected_attributes_come_back(simple, pk):
    """AWS: Projection expressions."""
    simple.put({"pk": pk, "a": 1, "b": 2, "c": 3})
    assert simple.get({"pk": pk}, ProjectionExpression="a, c") == {"a": 1, "c": 3}


def test_projecting_nothing_that_is_there_gives_an_empty_item(simple, pk):
    """AWS: GetItem."""
    simple.put({"pk": pk, "a": 1})
    assert simple.get({"pk": pk}, ProjectionExpression="absent") == {}


def test_the_table_may_be_named_by_its_arn(client, simple, pk):
    """AWS: GetItem."""
    simple.put({"pk": pk, "a": 1})
    arn = simple.describe()["TableArn"]
    answer = client.get_item(TableName=arn, Key=typed_all({"pk": pk}))
    assert plain_item(answer["Item"]) == {"pk": pk, "a": 1}


def test_an_item_is_its_table_s_alone(make, simple, pk):
    """AWS: Core components of Amazon DynamoDB."""
    simple.put({"pk": pk})
    assert make().get({"pk": pk}) is None
    assert simple.get({"pk": pk}) == {"pk": pk}
