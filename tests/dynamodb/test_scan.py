"""Scan: the whole table, in pages and in segments."""
import pytest

from dynamo import NOT_FOUND, VALIDATION, column, items, plain_item, refused, typed_all


@pytest.fixture(scope="module")
def table(sorted_table):
    for number in range(30):
        sorted_table.put({"pk": f"p{number % 10}", "sk": number, "a": number})
    return sorted_table


def scan_all(table, **more):
    answer = table.scan(**more)
    yield answer
    while "LastEvaluatedKey" in answer:
        answer = table.scan(ExclusiveStartKey=answer["LastEvaluatedKey"], **more)
        yield answer


def test_a_scan_gives_every_item_once(table):
    """AWS: Scan."""
    answer = table.scan()
    assert sorted(column(answer, "a")) == list(range(30))
    assert (answer["Count"], answer["ScannedCount"]) == (30, 30)
    assert "LastEvaluatedKey" not in answer


def test_a_scan_keeps_partitions_together_and_sorted(table):
    """AWS: Working with scans in DynamoDB."""
    seen = [(item["pk"], item["sk"]) for item in items(table.scan())]
    partitions = list(dict.fromkeys(partition for partition, _ in seen))
    assert len(partitions) == 10
    assert seen == [(p, s) for p in partitions for s in sorted(s for q, s in seen if p == q)]


def test_an_empty_table_is_an_empty_answer(make):
    """AWS: Scan."""
    answer = make().scan()
    assert (answer["Items"], answer["Count"], answer["ScannedCount"]) == ([], 0, 0)


@pytest.mark.parametrize("limit", [1, 7, 29, 30, 31])
def test_pages_follow_each_other_without_gaps(table, limit):
    """AWS: Working with scans in DynamoDB."""
    pages = list(scan_all(table, Limit=limit))
    seen = [number for page in pages for number in column(page, "a")]
    assert sorted(seen) == list(range(30))
    assert all(page["Count"] <= limit for page in pages)


def test_a_page_names_its_last_key(table):
    """AWS: Scan."""
    answer = table.scan(Limit=4)
    last = items(answer)[-1]
    assert plain_item(answer["LastEvaluatedKey"]) == {"pk": last["pk"], "sk": last["sk"]}


def test_the_limit_counts_items_before_the_filter(table):
    """AWS: Working with scans in DynamoDB."""
    answer = table.scan(FilterExpression="a > :big", values={":big": 1000}, Limit=5)
    assert (answer["Count"], answer["ScannedCount"]) == (0, 5)
    assert "LastEvaluatedKey" in answer


@pytest.mark.parametrize("condition, values, expected", [
    ("a < :x", {":x": 3}, [0, 1, 2]),
    ("pk = :p", {":p": "p4"}, [4, 14, 24]),
    ("sk BETWEEN :x AND :y", {":x": 5, ":y": 6}, [5, 6]),
    ("pk = :p AND sk > :x", {":p": "p4", ":x": 14}, [24]),
    ("begins_with(pk, :p) AND a > :x", {":p": "p", ":x": 27}, [28, 29]),
    ("attribute_not_exists(a)", None, []),
], ids=lambda value: value if isinstance(value, str) else "")
def test_a_filter_may_use_any_attribute(table, condition, values, expected):
    """AWS: Working with scans in DynamoDB."""
    answer = table.scan(FilterExpression=condition, values=values)
    assert sorted(column(answer, "a")) == expected
    assert (answer["Count"], answer["ScannedCount"]) == (len(expected), 30)


def test_a_projection_shows_only_its_attributes(table):
    """AWS: Scan."""
    answer = table.scan(ProjectionExpression="a")
    assert sorted(item["a"] for item in items(answer)) == list(range(30))
    assert all(set(item) == {"a"} for item in items(answer))


def test_a_count_has_no_items(table):
    """AWS: Scan."""
    answer = table.scan(Select="COUNT")
    assert "Items" not in answer
    assert (answer["Count"], answer["ScannedCount"]) == (30, 30)


@pytest.mark.parametrize("total", [1, 2, 3, 8])
def test_segments_share_the_table(table, total):
    """AWS: Working with scans in DynamoDB."""
    seen = []
    for segment in range(total):
        for page in scan_all(table, Segment=segment, TotalSegments=total, Limit=7):
            seen += column(page, "a")
    assert sorted(seen) == list(range(30))


def test_a_partition_is_in_one_segment(table):
    """AWS: Working with scans in DynamoDB."""
    homes = {}
    for segment in range(4):
        for page in scan_all(table, Segment=segment, TotalSegments=4):
            for partition in column(page, "pk"):
                homes.setdefault(partition, set()).add(segment)
    assert len(homes) == 10
    assert all(len(segments) == 1 for segments in homes.values())


@pytest.mark.parametrize("more, told", [
    ({"Segment": 0}, "The TotalSegments parameter is required but was not present in the request "
                     "when Segment parameter is present"),
    ({"TotalSegments": 2}, "The Segment parameter is required but was not present in the request "
                           "when parameter TotalSegments is present"),
    ({"Segment": 2, "TotalSegments": 2},
     "The Segment parameter is zero-based and must be less than parameter TotalSegments: Segment: "
     "2 is not less than TotalSegments: 2"),
    ({"Segment": 0, "TotalSegments": 1000001},
     "1 validation error detected: Value '1000001' at 'totalSegments' failed to satisfy "
     "constraint: Member must have value less than or equal to 1000000"),
    ({"Segment": 0, "TotalSegments": 0},
     "1 validation error detected: Value '0' at 'totalSegments' failed to satisfy constraint: "
     "Member must have value greater than or equal to 1"),
    ({"Segment": -1, "TotalSegments": 2},
     "1 validation error detected: Value '-1' at 'segment' failed to satisfy constraint: "
     "Member must have value greater than or equal to 0"),
    ({"Limit": 0}, "1 validation error detected: Value '0' at 'limit' failed to satisfy "
                   "constraint: Member must have value greater than or equal to 1"),
    ({"IndexName": "nowhere"}, "The table does not have the specified index: nowhere"),
    ({"FilterExpression": ""}, "Invalid FilterExpression: The expression can not be empty;"),
    ({"Select": "COUNT", "ProjectionExpression": "a"},
     "Cannot specify the ProjectionExpression when choosing to get only the Count"),
], ids=str)
def test_a_wrong_parameter_is_refused(table, more, told):
    """AWS: Scan."""
    with refused(VALIDATION, told):
        table.scan(**more)


@pytest.mark.parametrize("start", [
    {"pk": "p1"}, {"sk": 1}, {"pk": 1, "sk": 1}, {"pk": "p1", "sk": 1, "a": 1}], ids=str)
def test_a_start_that_is_no_key_is_refused(table, start):
    """AWS: Scan."""
    with refused(VALIDATION) as caught:
        table.scan(ExclusiveStartKey=typed_all(start))
    message = caught.value.response["Error"]["Message"]
    assert "provided" in message and "key" in message, message


def test_a_start_of_another_segment_is_refused(table):
    """AWS: Scan."""
    homes = {}
    for segment in range(2):
        for item in items(table.scan(Segment=segment, TotalSegments=2)):
            homes[segment] = {"pk": item["pk"], "sk": item["sk"]}
    if len(homes) < 2:
        pytest.fail("ten partitions all in one of two segments")
    with refused(VALIDATION, "The provided starting key is invalid: Invalid ExclusiveStartKey. "
                             "Please use ExclusiveStartKey with correct Segment. TotalSegments: 2 "
                             "Segment: 0"):
        table.scan(Segment=0, TotalSegments=2, ExclusiveStartKey=typed_all(homes[1]))


def test_a_scan_of_no_table_is_refused(client):
    """AWS: Scan."""
    with refused(NOT_FOUND, "Requested resource not found"):
        client.scan(TableName="no-such-table")


def test_a_page_ends_at_a_megabyte(make):
    """AWS: Scan."""
    table = make()
    for number in range(5):
        table.put({"pk": f"p{number}", "load": "x" * 300_000})
    pages = list(scan_all(table))
    assert [page["Count"] for page in pages] == [4, 1]


@pytest.mark.parametrize("condition", [
    "a = :a AND a > ((b))", "(a) BETWEEN (((b.c)).d) AND (c)", "((b.c)).d = :a",
    "a = :a AND ((a = :a AND b = :a))"])
def test_parentheses_around_parentheses_are_refused(table, condition):
    """AWS: Condition and filter expressions, operators, and functions in DynamoDB."""
    with refused(VALIDATION, "Invalid FilterExpression: The expression has redundant parentheses;"):
        table.scan(FilterExpression=condition, values={":a": 1})


@pytest.mark.parametrize("start", [{}, {"other": 1}, {"pk": 5}, {"pk": "a", "more": 1, "most": 1}])
def test_the_start_of_a_scan_is_a_key_of_the_table(simple, start):
    """AWS: Scan."""
    with refused(VALIDATION, "The provided starting key is invalid: The provided key element does "
                             "not match the schema"):
        simple.scan(ExclusiveStartKey=typed_all(start))
