"""Streams: every change of an item, in order, as the view shows it."""
import re

import pytest

from dynamo import NOT_FOUND, VALIDATION, plain_item, refused, typed_all, until


def view(kind):
    return {"StreamEnabled": True, "StreamViewType": kind}


def stream_of(table):
    return table.describe()["LatestStreamArn"]


def shards(streams, arn):
    return streams.describe_stream(StreamArn=arn)["StreamDescription"]["Shards"]


def iterator(streams, arn, shard, kind="TRIM_HORIZON", **more):
    return streams.get_shard_iterator(StreamArn=arn, ShardId=shard["ShardId"],
                                      ShardIteratorType=kind, **more)["ShardIterator"]


def read(streams, arn, at_least):
    """All records from the beginning of all shards, once there are so many."""
    def records():
        found = []
        for shard in shards(streams, arn):
            place = iterator(streams, arn, shard)
            for _ in range(5):
                answer = streams.get_records(ShardIterator=place)
                found += answer["Records"]
                place = answer.get("NextShardIterator")
                if place is None or not answer["Records"]:
                    break
        return found
    until(lambda: len(records()) >= at_least, seconds=5)
    return records()


@pytest.fixture(scope="module")
def both(make):
    return make(StreamSpecification=view("NEW_AND_OLD_IMAGES"))


def of(records, pk):
    return [record for record in records if record["dynamodb"]["Keys"]["pk"]["S"] == pk]


def test_a_table_with_a_stream_names_it(both):
    """AWS: Change data capture for DynamoDB Streams."""
    told = both.describe()
    assert told["StreamSpecification"] == view("NEW_AND_OLD_IMAGES")
    assert told["LatestStreamArn"] == f"{told['TableArn']}/stream/{told['LatestStreamLabel']}"


def test_a_table_without_a_stream_names_none(make):
    """AWS: DescribeTable."""
    told = make().describe()
    assert "LatestStreamArn" not in told
    assert "StreamSpecification" not in told


def test_a_stream_is_described(streams, both):
    """AWS: DescribeStream."""
    told = streams.describe_stream(StreamArn=stream_of(both))["StreamDescription"]
    assert told["StreamArn"] == stream_of(both)
    assert told["StreamStatus"] == "ENABLED"
    assert told["StreamViewType"] == "NEW_AND_OLD_IMAGES"
    assert told["TableName"] == both.name
    assert told["KeySchema"] == [{"AttributeName": "pk", "KeyType": "HASH"}]
    assert told["StreamLabel"] == both.describe()["LatestStreamLabel"]
    assert len(told["Shards"]) >= 1
    for shard in told["Shards"]:
        assert 28 <= len(shard["ShardId"]) <= 65
        assert re.fullmatch(r"\d{21,40}", shard["SequenceNumberRange"]["StartingSequenceNumber"])


def test_a_stream_is_listed_with_its_table(streams, both):
    """AWS: ListStreams."""
    (told,) = streams.list_streams(TableName=both.name)["Streams"]
    assert told["StreamArn"] == stream_of(both)
    assert told["TableName"] == both.name
    assert told["StreamLabel"] == both.describe()["LatestStreamLabel"]


def test_all_streams_are_listed(streams, both):
    """AWS: ListStreams."""
    answer = streams.list_streams()
    found = [stream["StreamArn"] for stream in answer["Streams"]]
    while "LastEvaluatedStreamArn" in answer:
        answer = streams.list_streams(ExclusiveStartStreamArn=answer["LastEvaluatedStreamArn"])
        found += [stream["StreamArn"] for stream in answer["Streams"]]
    assert stream_of(both) in found


def test_a_life_is_an_insert_modifies_and_a_remove(streams, both, pk):
    """AWS: Change data capture for DynamoDB Streams."""
    both.put({"pk": pk, "a": 1})
    both.update({"pk": pk}, "SET a = :a", {":a": 2})
    both.put({"pk": pk, "b": 3})
    both.delete({"pk": pk})
    told = of(read(streams, stream_of(both), 4), pk)
    assert [record["eventName"] for record in told] == ["INSERT", "MODIFY", "MODIFY", "REMOVE"]
    images = [(record["dynamodb"].get("OldImage"), record["dynamodb"].get("NewImage"))
              for record in told]
    assert [(old and plain_item(old), new and plain_item(new)) for old, new in images] == [
        (None, {"pk": pk, "a": 1}), ({"pk": pk, "a": 1}, {"pk": pk, "a": 2}),
        ({"pk": pk, "a": 2}, {"pk": pk, "b": 3}), ({"pk": pk, "b": 3}, None)]


def test_a_record_says_what_it_is(streams, both, pk):
    """AWS: Record."""
    both.put({"pk": pk, "a": 1})
    (record,) = of(read(streams, stream_of(both), 1), pk)
    assert record["eventSource"] == "aws:dynamodb"
    assert record["awsRegion"] == "us-east-1"
    assert record["eventVersion"] in ("1.0", "1.1")
    assert record["eventID"]
    change = record["dynamodb"]
    assert plain_item(change["Keys"]) == {"pk": pk}
    assert change["StreamViewType"] == "NEW_AND_OLD_IMAGES"
    assert change["SizeBytes"] > len(pk)
    assert re.fullmatch(r"\d{21,40}", change["SequenceNumber"])
    assert change["ApproximateCreationDateTime"].year >= 2024


def test_sequence_numbers_grow(streams, both, pk):
    """AWS: Change data capture for DynamoDB Streams."""
    for number in range(5):
        both.put({"pk": pk, "n": number})
    told = of(read(streams, stream_of(both), 5), pk)
    numbers = [int(record["dynamodb"]["SequenceNumber"]) for record in told]
    assert len(numbers) == 5
    assert numbers == sorted(set(numbers))
    assert len({record["eventID"] for record in told}) == 5


@pytest.mark.parametrize("again", [
    lambda table, pk: table.put({"pk": pk, "a": 1}),
    lambda table, pk: table.update({"pk": pk}, "SET a = :a", {":a": 1}),
    lambda table, pk: table.update({"pk": pk}),
    lambda table, pk: table.delete({"pk": pk + "-never-there"}),
], ids=["put", "update", "empty update", "delete of nothing"])
def test_a_write_that_changes_nothing_leaves_no_record(streams, both, pk, again):
    """AWS: Change data capture for DynamoDB Streams."""
    both.put({"pk": pk, "a": 1})
    again(both, pk)
    both.put({"pk": pk, "a": 2})
    told = [record for record in read(streams, stream_of(both), 2)
            if record["dynamodb"]["Keys"]["pk"]["S"].startswith(pk)]
    assert [record["eventName"] for record in told] == ["INSERT", "MODIFY"]


def test_a_refused_write_leaves_no_record(client, streams, both, pk):
    """AWS: Change data capture for DynamoDB Streams."""
    both.put({"pk": pk, "a": 1})
    with refused("ConditionalCheckFailedException"):
        both.put({"pk": pk, "a": 2}, ConditionExpression="attribute_not_exists(pk)")
    both.put({"pk": pk, "a": 3})
    told = of(read(streams, stream_of(both), 2), pk)
    assert [plain_item(record["dynamodb"]["NewImage"])["a"] for record in told] == [1, 3]


@pytest.mark.parametrize("write", ["batch", "transaction", "partiql"])
def test_every_way_of_writing_is_recorded(client, streams, both, pk, write):
    """AWS: Change data capture for DynamoDB Streams."""
    if write == "batch":
        client.batch_write_item(RequestItems={both.name: [
            {"PutRequest": {"Item": typed_all({"pk": pk})}}]})
    elif write == "transaction":
        client.transact_write_items(TransactItems=[
            {"Put": {"TableName": both.name, "Item": typed_all({"pk": pk})}}])
    else:
        client.execute_statement(Statement=f"INSERT INTO \"{both.name}\" VALUE {{'pk': '{pk}'}}")
    (record,) = of(read(streams, stream_of(both), 1), pk)
    assert record["eventName"] == "INSERT"
    assert plain_item(record["dynamodb"]["NewImage"]) == {"pk": pk}


@pytest.mark.parametrize("kind, held", [
    ("KEYS_ONLY", set()), ("NEW_IMAGE", {"NewImage"}), ("OLD_IMAGE", {"OldImage"}),
    ("NEW_AND_OLD_IMAGES", {"NewImage", "OldImage"})])
def test_a_view_shows_its_images(streams, make, kind, held):
    """AWS: StreamSpecification."""
    table = make(sort="sk", types={"sk": "N"}, StreamSpecification=view(kind))
    table.put({"pk": "p", "sk": 1, "a": 1})
    table.put({"pk": "p", "sk": 1, "a": 2})
    told = read(streams, stream_of(table), 2)
    change = told[1]["dynamodb"]
    assert plain_item(change["Keys"]) == {"pk": "p", "sk": 1}
    assert {"NewImage", "OldImage"} & set(change) == held
    if "NewImage" in held:
        assert plain_item(change["NewImage"]) == {"pk": "p", "sk": 1, "a": 2}
    if "OldImage" in held:
        assert plain_item(change["OldImage"]) == {"pk": "p", "sk": 1, "a": 1}
    assert change["StreamViewType"] == kind


def one_shard(streams, table):
    """The shard that holds the table's records."""
    arn = stream_of(table)
    for shard in shards(streams, arn):
        if streams.get_records(ShardIterator=iterator(streams, arn, shard))["Records"]:
            return arn, shard
    raise AssertionError("no shard has records")


@pytest.fixture(scope="module")
def counted(make, streams):
    """A stream with the puts of n from 0 to 9 to one item."""
    table = make(StreamSpecification=view("NEW_IMAGE"))
    for number in range(10):
        table.put({"pk": "p", "n": number})
    assert len(read(streams, stream_of(table), 10)) == 10
    return table


def numbers(answer):
    return [plain_item(record["dynamodb"]["NewImage"])["n"] for record in answer["Records"]]


def test_records_come_in_pages(streams, counted):
    """AWS: GetRecords."""
    arn, shard = one_shard(streams, counted)
    first = streams.get_records(ShardIterator=iterator(streams, arn, shard), Limit=4)
    second = streams.get_records(ShardIterator=first["NextShardIterator"], Limit=4)
    assert (numbers(first), numbers(second)) == ([0, 1, 2, 3], [4, 5, 6, 7])


def test_an_open_shard_always_has_a_next_iterator(streams, counted):
    """AWS: GetRecords."""
    arn, shard = one_shard(streams, counted)
    answer = streams.get_records(ShardIterator=iterator(streams, arn, shard))
    assert numbers(answer) == list(range(10))
    last = streams.get_records(ShardIterator=answer["NextShardIterator"])
    assert last["Records"] == []
    assert last["NextShardIterator"]


@pytest.mark.parametrize("kind, expected", [
    ("AT_SEQUENCE_NUMBER", [5, 6, 7, 8, 9]), ("AFTER_SEQUENCE_NUMBER", [6, 7, 8, 9])])
def test_an_iterator_may_start_at_a_record(streams, counted, kind, expected):
    """AWS: GetShardIterator."""
    arn, shard = one_shard(streams, counted)
    whole = streams.get_records(ShardIterator=iterator(streams, arn, shard))
    number = whole["Records"][5]["dynamodb"]["SequenceNumber"]
    place = iterator(streams, arn, shard, kind, SequenceNumber=number)
    assert numbers(streams.get_records(ShardIterator=place)) == expected


def test_the_latest_iterator_sees_only_what_comes(streams, make):
    """AWS: GetShardIterator."""
    table = make(StreamSpecification=view("NEW_IMAGE"))
    table.put({"pk": "p", "n": 1})
    arn, shard = stream_of(table), None
    read(streams, arn, 1)
    arn, shard = one_shard(streams, table)
    place = iterator(streams, arn, shard, "LATEST")
    table.put({"pk": "p", "n": 2})
    assert until(lambda: numbers(streams.get_records(ShardIterator=place)) == [2])


@pytest.mark.parametrize("kind", ["AT_SEQUENCE_NUMBER", "AFTER_SEQUENCE_NUMBER"])
def test_such_a_start_needs_a_sequence_number(streams, counted, kind):
    """AWS: GetShardIterator."""
    arn, shard = one_shard(streams, counted)
    with refused(VALIDATION):
        iterator(streams, arn, shard, kind)


def test_a_start_that_is_none_is_refused(streams, counted):
    """AWS: GetShardIterator."""
    arn, shard = one_shard(streams, counted)
    with refused(VALIDATION, re.compile("shardIteratorType")):
        iterator(streams, arn, shard, "SOMEWHERE")


def test_a_shard_that_is_not_there_is_refused(streams, counted):
    """AWS: GetShardIterator."""
    with refused(NOT_FOUND):
        iterator(streams, stream_of(counted), {"ShardId": "shardId-00000000000000000000-00000000"})


@pytest.mark.parametrize("limit", [0, 1001])
def test_a_limit_is_one_to_a_thousand(streams, counted, limit):
    """AWS: GetRecords."""
    arn, shard = one_shard(streams, counted)
    place = iterator(streams, arn, shard)
    with refused(VALIDATION, re.compile("at 'limit' failed to satisfy constraint")):
        streams.get_records(ShardIterator=place, Limit=limit)


def test_an_iterator_that_is_none_is_refused(streams):
    """AWS: GetRecords."""
    with refused(VALIDATION):
        streams.get_records(ShardIterator="nonsense")


def test_a_stream_that_is_not_there_is_refused(streams, both):
    """AWS: DescribeStream."""
    missing = both.describe()["TableArn"] + "/stream/2020-01-01T00:00:00.000"
    with refused(NOT_FOUND):
        streams.describe_stream(StreamArn=missing)


def test_a_view_that_is_none_is_refused(make):
    """AWS: StreamSpecification."""
    with refused(VALIDATION, re.compile("Member must satisfy enum value set: \\[")):
        make(StreamSpecification=view("EVERYTHING"))


def test_a_stream_without_a_view_is_refused(make):
    """AWS: StreamSpecification."""
    with refused(VALIDATION, "One or more parameter values were invalid: Table is being created "
                             "with a stream enabled, UpdateViewType is required"):
        make(StreamSpecification={"StreamEnabled": True})


def test_a_stream_that_was_switched_off_can_still_be_read(client, streams, make):
    """AWS: Change data capture for DynamoDB Streams."""
    table = make(StreamSpecification=view("NEW_IMAGE"))
    table.put({"pk": "p", "n": 1})
    arn = stream_of(table)
    assert len(read(streams, arn, 1)) == 1
    client.update_table(TableName=table.name, StreamSpecification={"StreamEnabled": False})
    assert until(lambda: streams.describe_stream(StreamArn=arn)["StreamDescription"][
        "StreamStatus"] in ("DISABLING", "DISABLED"))
    table.put({"pk": "p", "n": 2})
    assert [plain_item(record["dynamodb"]["NewImage"])["n"]
            for record in read(streams, arn, 1)] == [1]


def native(http, method, path, body=None):
    headers = {"Authorization": None, "Content-Type": "application/json"}
    return http.send(method=method, path=f"/v1/tables/{path}", body=body, headers=headers)


def test_a_stream_is_over_when_the_changes_are_switched_off_elsewhere(client, http, streams, make):
    """AWS: DescribeStream."""
    table = make(StreamSpecification=view("KEYS_ONLY"))
    table.put({"pk": "a"})
    arn = stream_of(table)
    assert native(http, "PATCH", table.name, {"changes": None}).status == 200
    told = table.describe()
    assert "StreamSpecification" not in told
    assert told["LatestStreamArn"] == arn
    assert streams.describe_stream(StreamArn=arn)["StreamDescription"]["StreamStatus"] == "DISABLED"
    assert len(read(streams, arn, 1)) == 1
    client.update_table(TableName=table.name, StreamSpecification=view("NEW_IMAGE"))
    assert stream_of(table) != arn


def test_a_stream_that_ends_leaves_the_changes_that_were_kept_before_it(client, http, make):
    """AWS: UpdateTable."""
    table = make()
    assert native(http, "PATCH", table.name, {"changes": {"keep": "2h"}}).status == 200
    client.update_table(TableName=table.name, StreamSpecification=view("NEW_IMAGE"))
    assert native(http, "GET", table.name).json["changes"] != {"keep": "2h"}
    client.update_table(TableName=table.name, StreamSpecification={"StreamEnabled": False})
    assert native(http, "GET", table.name).json["changes"] == {"keep": "2h"}


def test_a_stream_that_ended_elsewhere_does_not_come_back_with_the_changes(http, streams, make):
    """AWS: DescribeStream."""
    table = make(StreamSpecification=view("KEYS_ONLY"))
    table.put({"pk": "a"})
    arn = stream_of(table)
    for changes in (None, {"keep": "24h"}):
        assert native(http, "PATCH", table.name, {"changes": changes}).status == 200
    table.put({"pk": "b"})
    assert "StreamSpecification" not in table.describe()
    assert streams.describe_stream(StreamArn=arn)["StreamDescription"]["StreamStatus"] == "DISABLED"


@pytest.mark.parametrize("keep", ["1h", "24h", "48h"])
def test_a_stream_that_ends_leaves_the_changes_that_others_asked_for(client, http, make, keep):
    """AWS: UpdateTable."""
    table = make(StreamSpecification=view("NEW_IMAGE"))
    assert native(http, "PATCH", table.name, {"changes": {"keep": keep}}).status == 200
    kept = native(http, "GET", table.name).json["changes"]
    client.update_table(TableName=table.name, StreamSpecification={"StreamEnabled": False})
    assert native(http, "GET", table.name).json["changes"] == kept
