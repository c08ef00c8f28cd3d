"""ReturnConsumedCapacity and ReturnItemCollectionMetrics: what is spent and by whom."""
import pytest

from dynamo import index, typed_all

KB = 1024


def sized(size, **key):
    """An item of exactly so many bytes, of string attributes."""
    used = sum(len(name) + len(value) for name, value in key.items()) + len("v")
    return {**key, "v": "x" * (size - used)}


def units(answer):
    return answer["ConsumedCapacity"]["CapacityUnits"]


@pytest.mark.parametrize("size, spent", [(100, 1), (KB, 1), (KB + 1, 2), (10 * KB, 10)])
def test_a_write_costs_a_unit_for_each_kilobyte(simple, pk, size, spent):
    """AWS: DynamoDB Item sizes and formats."""
    answer = simple.put(sized(size, pk=pk), ReturnConsumedCapacity="TOTAL")
    assert answer["ConsumedCapacity"] == {"TableName": simple.name, "CapacityUnits": float(spent)}


@pytest.mark.parametrize("size, consistent, spent", [
    (100, True, 1), (100, False, 0.5), (4 * KB, True, 1), (4 * KB, False, 0.5),
    (4 * KB + 1, True, 2), (4 * KB + 1, False, 1), (20 * KB, True, 5)])
def test_a_read_costs_a_unit_for_four_kilobytes(client, simple, pk, size, consistent, spent):
    """AWS: DynamoDB Item sizes and formats."""
    simple.put(sized(size, pk=pk))
    answer = client.get_item(TableName=simple.name, Key=typed_all({"pk": pk}),
                             ConsistentRead=consistent, ReturnConsumedCapacity="TOTAL")
    assert units(answer) == spent


@pytest.mark.parametrize("consistent, spent", [(True, 1), (False, 0.5)])
def test_a_read_of_nothing_costs_the_least(client, simple, pk, consistent, spent):
    """AWS: DynamoDB Item sizes and formats."""
    answer = client.get_item(TableName=simple.name, Key=typed_all({"pk": pk}),
                             ConsistentRead=consistent, ReturnConsumedCapacity="TOTAL")
    assert units(answer) == spent


def test_a_projection_does_not_make_a_read_cheaper(client, simple, pk):
    """AWS: DynamoDB Item sizes and formats."""
    simple.put(sized(8 * KB, pk=pk))
    answer = client.get_item(TableName=simple.name, Key=typed_all({"pk": pk}), ConsistentRead=True,
                             ProjectionExpression="pk", ReturnConsumedCapacity="TOTAL")
    assert units(answer) == 2


def test_a_delete_costs_what_the_item_was(simple, pk):
    """AWS: DynamoDB Item sizes and formats."""
    simple.put(sized(3 * KB, pk=pk))
    assert units(simple.delete({"pk": pk}, ReturnConsumedCapacity="TOTAL")) == 3
    assert units(simple.delete({"pk": pk}, ReturnConsumedCapacity="TOTAL")) == 1


@pytest.mark.parametrize("before, after, spent", [(3, 1, 3), (1, 5, 5), (2, 2, 2)])
def test_a_write_costs_the_larger_of_before_and_after(simple, pk, before, after, spent):
    """AWS: DynamoDB Item sizes and formats."""
    simple.put(sized(before * KB, pk=pk))
    answer = simple.update({"pk": pk}, "SET v = :v",
                           {":v": sized(after * KB, pk=pk)["v"]}, ReturnConsumedCapacity="TOTAL")
    assert units(answer) == spent


@pytest.mark.parametrize("consistent, spent", [(True, 3), (False, 1.5)])
def test_a_query_costs_the_sum_of_what_it_reads(named, pk, consistent, spent):
    """AWS: DynamoDB Item sizes and formats."""
    for letter in "abc":
        named.put(sized(3 * KB, pk=pk, sk=letter))
    answer = named.query("pk = :p", {":p": pk}, ConsistentRead=consistent,
                         ReturnConsumedCapacity="TOTAL")
    assert units(answer) == spent  # nine kilobytes, rounded up once


def test_a_filter_does_not_make_a_query_cheaper(named, pk):
    """AWS: Query operations in DynamoDB."""
    for letter in "ab":
        named.put(sized(4 * KB, pk=pk, sk=letter))
    answer = named.query("pk = :p", {":p": pk}, FilterExpression="attribute_not_exists(v)",
                         ConsistentRead=True, ReturnConsumedCapacity="TOTAL")
    assert (answer["Count"], units(answer)) == (0, 2)


def test_a_scan_costs_the_sum_of_what_it_reads(make):
    """AWS: Working with scans in DynamoDB."""
    table = make()
    for number in range(4):
        table.put(sized(2 * KB, pk=f"k{number}"))
    assert units(table.scan(ReturnConsumedCapacity="TOTAL")) == 1
    assert units(table.scan(ReturnConsumedCapacity="TOTAL", ConsistentRead=True)) == 2


@pytest.mark.parametrize("wanted", [None, "NONE"])
def test_nothing_is_told_unless_asked(simple, pk, wanted):
    """AWS: PutItem."""
    more = {"ReturnConsumedCapacity": wanted} if wanted else {}
    assert "ConsumedCapacity" not in simple.put({"pk": pk}, **more)
    assert simple.get({"pk": pk}) == {"pk": pk}


def test_indexes_are_told_apart_when_asked(simple, pk):
    """AWS: ConsumedCapacity."""
    answer = simple.put({"pk": pk}, ReturnConsumedCapacity="INDEXES")
    assert answer["ConsumedCapacity"] == {
        "TableName": simple.name, "CapacityUnits": 1.0, "Table": {"CapacityUnits": 1.0}}


@pytest.fixture(scope="module")
def indexed(make):
    return make(sort="sk", LocalSecondaryIndexes=[index("local", "pk", "a")],
                GlobalSecondaryIndexes=[index("global", "b")])


def spent_on(answer):
    told = answer["ConsumedCapacity"]
    return (told["CapacityUnits"], told["Table"]["CapacityUnits"],
            told.get("LocalSecondaryIndexes", {}).get("local", {}).get("CapacityUnits", 0),
            told.get("GlobalSecondaryIndexes", {}).get("global", {}).get("CapacityUnits", 0))


@pytest.mark.parametrize("before, item, expected", [
    (None, {}, (1, 1, 0, 0)),
    (None, {"a": "x"}, (2, 1, 1, 0)),
    (None, {"b": "x"}, (2, 1, 0, 1)),
    (None, {"a": "x", "b": "x"}, (3, 1, 1, 1)),
    ({"b": "x"}, {"b": "y"}, (3, 1, 0, 2)),
    ({"b": "x"}, {}, (2, 1, 0, 1)),
    ({"b": "x"}, {"b": "x", "c": "new"}, (2, 1, 0, 1)),
    ({"b": "x", "c": "same"}, {"b": "x", "c": "same"}, (1, 1, 0, 0)),
], ids=str)
def test_a_write_to_indexes_costs_what_changes_there(indexed, pk, before, item, expected):
    """AWS: Using Global Secondary Indexes in DynamoDB."""
    key = {"pk": pk, "sk": "s"}
    if before is not None:
        indexed.put({**key, **before})
    answer = indexed.put({**key, **item}, ReturnConsumedCapacity="INDEXES")
    assert spent_on(answer) == expected


def test_a_query_of_an_index_is_told_with_it(indexed, pk):
    """AWS: ConsumedCapacity."""
    indexed.put({"pk": pk, "sk": "s", "b": pk})
    answer = indexed.query("b = :b", {":b": pk}, IndexName="global",
                           ReturnConsumedCapacity="INDEXES")
    assert spent_on(answer) == (0.5, 0, 0, 0.5)


def test_a_batch_of_reads_tells_each_table(client, simple, named, pk):
    """AWS: BatchGetItem."""
    simple.put({"pk": pk})
    named.put(sized(5 * KB, pk=pk, sk="s"))
    answer = client.batch_get_item(ReturnConsumedCapacity="TOTAL", RequestItems={
        simple.name: {"Keys": [typed_all({"pk": pk})]},
        named.name: {"Keys": [typed_all({"pk": pk, "sk": "s"})], "ConsistentRead": True}})
    told = {each["TableName"]: each["CapacityUnits"] for each in answer["ConsumedCapacity"]}
    assert told == {simple.name: 0.5, named.name: 2}


def test_a_batch_of_writes_costs_each_item(client, simple, pk):
    """AWS: BatchWriteItem."""
    answer = client.batch_write_item(ReturnConsumedCapacity="TOTAL", RequestItems={simple.name: [
        {"PutRequest": {"Item": typed_all(sized(size * KB, pk=f"{pk}{size}"))}}
        for size in (1, 3)]})
    assert answer["ConsumedCapacity"] == [{"TableName": simple.name, "CapacityUnits": 4.0}]


def test_a_collection_is_measured_where_there_are_local_indexes(indexed, pk):
    """AWS: ItemCollectionMetrics."""
    answer = indexed.put({"pk": pk, "sk": "s", "a": "x"}, ReturnItemCollectionMetrics="SIZE")
    told = answer["ItemCollectionMetrics"]
    assert told["ItemCollectionKey"] == {"pk": {"S": pk}}
    low, high = told["SizeEstimateRangeGB"]
    assert 0 <= low <= high <= 10


def test_a_collection_is_not_measured_elsewhere(simple, pk):
    """AWS: ItemCollectionMetrics."""
    answer = simple.put({"pk": pk}, ReturnItemCollectionMetrics="SIZE")
    assert "ItemCollectionMetrics" not in answer
    assert simple.get({"pk": pk}) == {"pk": pk}


@pytest.mark.parametrize("operation", ["update", "delete"])
def test_every_write_measures_its_collection(indexed, pk, operation):
    """AWS: ItemCollectionMetrics."""
    answer = getattr(indexed, operation)({"pk": pk, "sk": "s"}, ReturnItemCollectionMetrics="SIZE")
    assert answer["ItemCollectionMetrics"]["ItemCollectionKey"] == {"pk": {"S": pk}}


def test_statements_tell_what_they_cost(client, simple, pk):
    """AWS: ExecuteStatement, ConsumedCapacity."""
    put = simple.client.execute_statement(
        Statement=f'INSERT INTO "{simple.name}" VALUE {{\'pk\': \'{pk}\'}}',
        ReturnConsumedCapacity="TOTAL")
    assert put["ConsumedCapacity"] == {"TableName": simple.name, "CapacityUnits": 1.0}
    get = f'SELECT * FROM "{simple.name}" WHERE pk = \'{pk}\''
    got = simple.client.execute_statement(Statement=get, ReturnConsumedCapacity="TOTAL")
    assert units(got) == 0.5
    batch = client.batch_execute_statement(
        Statements=[{"Statement": get}], ReturnConsumedCapacity="TOTAL")
    assert [cost["CapacityUnits"] for cost in batch["ConsumedCapacity"]] == [0.5]
    together = client.execute_transaction(
        TransactStatements=[{"Statement": get}], ReturnConsumedCapacity="TOTAL")
    assert [cost["CapacityUnits"] for cost in together["ConsumedCapacity"]] == [2.0]
