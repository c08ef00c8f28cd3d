"""ListTables: names in order, in pages."""
import pytest

from dynamo import VALIDATION, fresh_name, refused


@pytest.fixture(scope="module")
def names(make):
    start = fresh_name("list")
    return sorted(make(TableName=f"{start}.{number}").name for number in range(5))


def all_names(client, **more):
    answer = client.list_tables(**more)
    yield answer["TableNames"]
    while "LastEvaluatedTableName" in answer:
        last = answer["LastEvaluatedTableName"]
        answer = client.list_tables(ExclusiveStartTableName=last, **more)
        yield answer["TableNames"]


def test_every_table_is_listed(client, names):
    """AWS: ListTables."""
    listed = [name for page in all_names(client) for name in page]
    assert set(names) <= set(listed)


def test_names_come_in_order(client, names):
    """AWS: ListTables."""
    listed = [name for page in all_names(client) for name in page]
    ours = [name for name in listed if name in names]
    assert ours == names


@pytest.mark.parametrize("limit", [1, 2, 100])
def test_pages_follow_each_other_without_gaps(client, names, limit):
    """AWS: ListTables."""
    pages = list(all_names(client, Limit=limit))
    listed = [name for page in pages for name in page]
    assert set(names) <= set(listed)
    assert len(listed) == len(set(listed))
    assert all(len(page) <= limit for page in pages)


def test_a_full_page_names_its_last_table(client, names):
    """AWS: ListTables."""
    answer = client.list_tables(Limit=2, ExclusiveStartTableName=names[0])
    assert answer["TableNames"] == names[1:3]
    assert answer["LastEvaluatedTableName"] == names[2]


def test_a_list_may_start_after_a_name_that_no_table_has(client, names):
    """AWS: ListTables."""
    answer = client.list_tables(Limit=1, ExclusiveStartTableName=names[0] + "a")
    assert answer["TableNames"] == [names[1]]


def test_nothing_comes_after_the_last_name(client, names):
    """AWS: ListTables."""
    answer = client.list_tables(ExclusiveStartTableName="z" * 255)
    assert answer["TableNames"] == []
    assert "LastEvaluatedTableName" not in answer


@pytest.mark.parametrize("limit, told", [
    (0, "greater than or equal to 1"), (-1, "greater than or equal to 1"),
    (101, "less than or equal to 100")])
def test_a_limit_is_one_to_a_hundred(client, limit, told):
    """AWS: ListTables."""
    with refused(VALIDATION, f"1 validation error detected: Value '{limit}' at 'limit' failed to "
                             f"satisfy constraint: Member must have value {told}"):
        client.list_tables(Limit=limit)


@pytest.mark.parametrize("start", ["ab", "a b c", "x" * 256])
def test_a_start_that_no_table_can_have_is_refused(client, names, start):
    """AWS: ListTables."""
    with refused(VALIDATION):
        client.list_tables(ExclusiveStartTableName=start)
    assert client.list_tables(ExclusiveStartTableName=names[0], Limit=1)["TableNames"] == names[1:2]
