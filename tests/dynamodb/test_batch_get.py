"""BatchGetItem: many items by their keys."""
import pytest

from dynamo import NOT_FOUND, VALIDATION, plain_item, refused, typed_all


def keys(*numbers, **more):
    return {"Keys": [typed_all({"pk": "p", "sk": number}) for number in numbers], **more}


@pytest.fixture(scope="module")
def table(sorted_table):
    for number in range(10):
        sorted_table.put({"pk": "p", "sk": number, "a": number * 10, "m": {"x": 1, "y": 2}})
    return sorted_table


def test_all_items_come_that_are_there(client, table):
    """AWS: BatchGetItem."""
    answer = client.batch_get_item(RequestItems={table.name: keys(1, 3, 99)})
    found = sorted((plain_item(item) for item in answer["Responses"][table.name]),
                   key=lambda item: item["sk"])
    assert found == [{"pk": "p", "sk": n, "a": n * 10, "m": {"x": 1, "y": 2}} for n in (1, 3)]
    assert answer["UnprocessedKeys"] == {}


def test_a_table_without_found_items_answers_with_none(client, table):
    """AWS: BatchGetItem."""
    answer = client.batch_get_item(RequestItems={table.name: keys(99)})
    assert answer["Responses"] == {table.name: []}


def test_several_tables_are_read_at_once(client, table, simple):
    """AWS: BatchGetItem."""
    simple.put({"pk": "x", "b": 1})
    answer = client.batch_get_item(RequestItems={
        table.name: keys(1), simple.name: {"Keys": [typed_all({"pk": "x"})]}})
    assert [item["a"] for item in answer["Responses"][table.name]] == [{"N": "10"}]
    assert [plain_item(item) for item in answer["Responses"][simple.name]] == [{"pk": "x", "b": 1}]


def test_a_hundred_keys_are_allowed(client, table):
    """AWS: BatchGetItem."""
    answer = client.batch_get_item(RequestItems={table.name: keys(*range(100))})
    assert len(answer["Responses"][table.name]) == 10


def test_more_than_a_hundred_keys_are_refused(client, table):
    """AWS: BatchGetItem."""
    with refused(VALIDATION) as caught:
        client.batch_get_item(RequestItems={table.name: keys(*range(101))})
    message = caught.value.response["Error"]["Message"]
    assert ("Too many items requested for the BatchGetItem call" in message
            or "Member must have length less than or equal to 100" in message), message


def test_a_hundred_keys_are_counted_over_tables(client, table, simple):
    """AWS: BatchGetItem."""
    with refused(VALIDATION, "Too many items requested for the BatchGetItem call"):
        client.batch_get_item(RequestItems={
            table.name: keys(*range(60)),
            simple.name: {"Keys": [typed_all({"pk": f"k{n}"}) for n in range(60)]}})


def test_the_same_key_twice_is_refused(client, table):
    """AWS: BatchGetItem."""
    with refused(VALIDATION, "Provided list of item keys contains duplicates"):
        client.batch_get_item(RequestItems={table.name: keys(1, 2, 1)})


def test_numbers_that_are_equal_are_the_same_key(client, table):
    """AWS: BatchGetItem."""
    with refused(VALIDATION, "Provided list of item keys contains duplicates"):
        client.batch_get_item(RequestItems={table.name: {"Keys": [
            {"pk": {"S": "p"}, "sk": {"N": "1"}}, {"pk": {"S": "p"}, "sk": {"N": "1.0"}}]}})


@pytest.mark.parametrize("more, expected", [
    ({"ProjectionExpression": "a"}, {"a": 20}),
    ({"ProjectionExpression": "m.x, sk"}, {"m": {"x": 1}, "sk": 2}),
    ({"ProjectionExpression": "#n", "ExpressionAttributeNames": {"#n": "a"}}, {"a": 20}),
    ({"AttributesToGet": ["sk", "a"]}, {"sk": 2, "a": 20}),
    ({"ConsistentRead": True, "ProjectionExpression": "pk"}, {"pk": "p"}),
], ids=str)
def test_each_table_has_its_own_projection(client, table, more, expected):
    """AWS: BatchGetItem."""
    answer = client.batch_get_item(RequestItems={table.name: keys(2, **more)})
    assert [plain_item(item) for item in answer["Responses"][table.name]] == [expected]


@pytest.mark.parametrize("key", [{"pk": "p"}, {"sk": 1}, {"pk": "p", "sk": "1"}, {},
                                 {"pk": "p", "sk": 1, "z": 1}], ids=str)
def test_a_key_that_is_not_the_table_s_is_refused(client, table, key):
    """AWS: BatchGetItem."""
    with refused(VALIDATION, "The provided key element does not match the schema"):
        client.batch_get_item(RequestItems={table.name: {"Keys": [typed_all(key)]}})


def test_one_unknown_table_spoils_the_batch(client, table):
    """AWS: BatchGetItem."""
    with refused(NOT_FOUND, "Requested resource not found"):
        client.batch_get_item(RequestItems={
            table.name: keys(1), "no-such-table": {"Keys": [typed_all({"pk": "a"})]}})


def test_a_batch_without_tables_is_refused(client):
    """AWS: BatchGetItem."""
    with refused(VALIDATION) as caught:
        client.batch_get_item(RequestItems={})
    assert "requestitems" in caught.value.response["Error"]["Message"].lower()


def test_a_table_without_keys_is_refused(client, table):
    """AWS: BatchGetItem."""
    with refused(VALIDATION) as caught:
        client.batch_get_item(RequestItems={table.name: {"Keys": []}})
    assert "Member must have length greater than or equal to 1" in (
        caught.value.response["Error"]["Message"])


def test_both_kinds_of_projection_are_refused(client, table):
    """AWS: BatchGetItem."""
    with refused(VALIDATION) as caught:
        client.batch_get_item(RequestItems={table.name: keys(
            1, AttributesToGet=["a"], ProjectionExpression="a")})
    assert "Can not use both expression and non-expression parameters in the same request" in (
        caught.value.response["Error"]["Message"])


def test_what_exceeds_sixteen_megabytes_is_left_for_later(client, make):
    """AWS: BatchGetItem."""
    table = make()
    wanted = [f"k{number}" for number in range(50)]
    for key in wanted:
        table.put({"pk": key, "load": "x" * 390_000})
    request, seen, rounds = {table.name: {"Keys": [typed_all({"pk": k}) for k in wanted]}}, [], 0
    while request and rounds < 20:
        answer = client.batch_get_item(RequestItems=request)
        seen += [item["pk"]["S"] for item in answer["Responses"][table.name]]
        request, rounds = answer["UnprocessedKeys"], rounds + 1
    assert sorted(seen) == sorted(wanted)
    assert rounds > 1


def test_too_many_keys_are_told_by_their_place(client, table):
    """AWS: BatchGetItem."""
    with refused(VALIDATION, "1 validation error detected: Value at "
                             f"'RequestItems.{table.name}.member.Keys' failed to satisfy constraint: "
                             "Member must have length less than or equal to 100"):
        client.batch_get_item(RequestItems={table.name: keys(*range(101))})
