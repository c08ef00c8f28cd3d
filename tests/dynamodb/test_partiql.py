"""PartiQL: ExecuteStatement, BatchExecuteStatement, ExecuteTransaction."""
import uuid

import pytest

from dynamo import (
    CANCELLED, CONDITION_FAILED, NOT_FOUND, VALIDATION, column, index, items, refused, typed)


def run(table, statement, *parameters, **more):
    """One statement; TABLE stands for the table's name."""
    if parameters:
        more["Parameters"] = [typed(value) for value in parameters]
    return table.client.execute_statement(Statement=_named(table, statement), **more)


def _named(table, statement):
    return statement.replace("TABLE", f'"{table.name}"')


@pytest.fixture(scope="module")
def music(make):
    table = make(sort="sk", types={"sk": "N", "price": "N"},
                 GlobalSecondaryIndexes=[index("by-price", "shop", "price")])
    for number in range(1, 6):
        table.put({"pk": "acme", "sk": number, "title": f"song {number}", "price": number * 10,
                   "shop": "north", "awards": {"years": [2018, 2020]},
                   "tags": {"pop", f"t{number}"}})
    table.put({"pk": "other", "sk": 1, "title": "else", "price": 5})
    return table


SELECTS = [
    ("SELECT * FROM TABLE WHERE pk = 'acme' AND sk = 2", [2]),
    ("SELECT * FROM TABLE WHERE pk = 'acme'", [1, 2, 3, 4, 5]),
    ("select * from TABLE where pk = 'acme' and sk > 3", [4, 5]),
    ("SELECT * FROM TABLE WHERE pk = 'acme' AND sk BETWEEN 2 AND 3", [2, 3]),
    ("SELECT * FROM TABLE WHERE pk = 'acme' AND price >= 40", [4, 5]),
    ("SELECT * FROM TABLE WHERE pk = 'acme' ORDER BY sk DESC", [5, 4, 3, 2, 1]),
    ("SELECT * FROM TABLE WHERE pk = 'acme' AND sk IN [1, 5]", [1, 5]),
    ("SELECT * FROM TABLE WHERE pk = 'acme' AND begins_with(title, 'song 3')", [3]),
    ("SELECT * FROM TABLE WHERE pk = 'acme' AND contains(tags, 't4')", [4]),
    ("SELECT * FROM TABLE WHERE pk = 'acme' AND attribute_type(title, 'S') AND sk < 2", [1]),
    ("SELECT * FROM TABLE WHERE pk = 'acme' AND size(title) = 6 AND sk = 1", [1]),
    ("SELECT * FROM TABLE WHERE pk = 'acme' AND awards IS MISSING", []),
    ("SELECT * FROM TABLE WHERE pk = 'other' AND awards IS MISSING", [1]),
    ("SELECT * FROM TABLE WHERE pk = 'acme' AND awards IS NOT MISSING AND sk = 1", [1]),
    ("SELECT * FROM TABLE WHERE pk = 'acme' AND NOT sk = 3 AND sk < 5", [1, 2, 4]),
    ("SELECT * FROM TABLE WHERE pk = 'acme' AND (sk = 1 OR price = 50)", [1, 5]),
    ("SELECT * FROM TABLE WHERE pk = 'acme' AND awards.years[0] = 2018 AND sk = 2", [2]),
    ("SELECT * FROM TABLE WHERE pk = 'acme' AND title <> 'song 1' AND sk <= 2", [2]),
    ("SELECT * FROM TABLE WHERE pk = 'nobody'", []),
    ("SELECT * FROM TABLE.\"by-price\" WHERE shop = 'north' AND price < 25", [1, 2]),
]


@pytest.mark.parametrize("statement, expected", SELECTS, ids=[case[0] for case in SELECTS])
def test_a_select_finds_items(music, statement, expected):
    """AWS: PartiQL select statements for DynamoDB."""
    assert column(run(music, statement), "sk") == expected


@pytest.mark.parametrize("statement, expected", [
    ("SELECT title FROM TABLE WHERE pk = 'acme' AND sk = 1", [{"title": "song 1"}]),
    ("SELECT sk, price FROM TABLE WHERE pk = 'acme' AND sk = 1", [{"sk": 1, "price": 10}]),
    ("SELECT \"title\" FROM TABLE WHERE pk = 'acme' AND sk = 1", [{"title": "song 1"}]),
    ("SELECT absent FROM TABLE WHERE pk = 'acme' AND sk = 1", [{}]),
    ("SELECT awards FROM TABLE WHERE pk = 'acme' AND sk = 1",
     [{"awards": {"years": [2018, 2020]}}]),
    ("SELECT awards.years, title FROM TABLE WHERE pk = 'acme' AND sk = 1",
     [{"years": [2018, 2020], "title": "song 1"}]),
])
def test_a_select_shows_what_it_names(music, statement, expected):
    """AWS: PartiQL select statements for DynamoDB."""
    assert items(run(music, statement)) == expected


@pytest.mark.parametrize("statement, count", [
    ("SELECT * FROM TABLE", 6), ("SELECT * FROM TABLE WHERE price > 25", 3),
    ("SELECT * FROM TABLE WHERE price IN [10, 5]", 2),
    ("SELECT * FROM TABLE WHERE pk IN ['acme', 'other']", 6),
    ("SELECT * FROM TABLE WHERE pk = 'acme' OR pk = 'other'", 6)])
def test_a_select_without_one_partition_reads_the_table(music, statement, count):
    """AWS: PartiQL select statements for DynamoDB."""
    assert len(run(music, statement)["Items"]) == count


@pytest.mark.parametrize("statement, parameters, expected", [
    ("SELECT * FROM TABLE WHERE pk = ? AND sk = ?", ("acme", 2), [2]),
    ("SELECT * FROM TABLE WHERE pk = ? AND sk BETWEEN ? AND ?", ("acme", 2, 3), [2, 3]),
    ("SELECT * FROM TABLE WHERE pk = ? AND title = ?", ("acme", "song 4"), [4]),
    ("SELECT * FROM TABLE WHERE pk = ? AND sk IN [?, ?]", ("acme", 1, 3), [1, 3])])
def test_question_marks_are_parameters_in_order(music, statement, parameters, expected):
    """AWS: ExecuteStatement."""
    assert column(run(music, statement, *parameters), "sk") == expected


def test_a_select_goes_in_pages(music):
    """AWS: ExecuteStatement."""
    seen, token = [], {}
    for _ in range(10):
        answer = run(music, "SELECT * FROM TABLE WHERE pk = 'acme'", Limit=2, **token)
        seen.append(column(answer, "sk"))
        if "NextToken" not in answer:
            break
        token = {"NextToken": answer["NextToken"]}
    assert [number for page in seen for number in page] == [1, 2, 3, 4, 5]
    assert all(len(page) <= 2 for page in seen)


def test_an_insert_makes_an_item(simple, pk):
    """AWS: PartiQL insert statements for DynamoDB."""
    run(simple, f"INSERT INTO TABLE VALUE {{'pk': '{pk}', 'n': 1}}")
    assert simple.get({"pk": pk}) == {"pk": pk, "n": 1}


def test_an_insert_does_not_replace(simple, pk):
    """AWS: PartiQL insert statements for DynamoDB."""
    simple.put({"pk": pk, "n": 1})
    with refused("DuplicateItemException", "Duplicate primary key exists in table"):
        run(simple, f"INSERT INTO TABLE VALUE {{'pk': '{pk}', 'n': 2}}")
    assert simple.get({"pk": pk}) == {"pk": pk, "n": 1}


def test_every_type_can_be_written_out(simple, pk):
    """AWS: PartiQL data types for DynamoDB."""
    run(simple, f"""INSERT INTO TABLE VALUE {{'pk': '{pk}', 'n': -1.5, 'list': [1, 'two', [3]],
        'map': {{'x': 'y', 'z': 4}}, 'ns': <<1, 34, 4.5>>, 'ss': <<'a', 'b'>>, 'yes': true,
        'nil': null, 'quote': 'it''s'}}""")
    item = simple.get({"pk": pk})
    assert str(item.pop("n")) == "-1.5"
    assert {str(number) for number in item.pop("ns")} == {"1", "34", "4.5"}
    assert item == {"pk": pk, "list": [1, "two", [3]], "map": {"x": "y", "z": 4}, "ss": {"a", "b"},
                    "yes": True, "nil": None, "quote": "it's"}


def test_an_insert_takes_parameters(simple, pk):
    """AWS: ExecuteStatement."""
    run(simple, "INSERT INTO TABLE VALUE {'pk': ?, 'm': ?}", pk, {"x": [1]})
    assert simple.get({"pk": pk}) == {"pk": pk, "m": {"x": [1]}}


UPDATES = [
    ("SET n = 5", {"n": 5, "l": [1, 2], "s": {"a", "b"}, "m": {"x": 1}}),
    ("SET n = n + 100", {"n": 101, "l": [1, 2], "s": {"a", "b"}, "m": {"x": 1}}),
    ("SET n = n - 3", {"n": -2, "l": [1, 2], "s": {"a", "b"}, "m": {"x": 1}}),
    ("SET m.y = 'new'", {"n": 1, "l": [1, 2], "s": {"a", "b"}, "m": {"x": 1, "y": "new"}}),
    ("SET n = 2 SET k = 'v'", {"n": 2, "k": "v", "l": [1, 2], "s": {"a", "b"}, "m": {"x": 1}}),
    ("SET l = list_append(l, [3])", {"n": 1, "l": [1, 2, 3], "s": {"a", "b"}, "m": {"x": 1}}),
    ("SET s = set_add(s, <<'c'>>)", {"n": 1, "l": [1, 2], "s": {"a", "b", "c"}, "m": {"x": 1}}),
    ("SET s = set_delete(s, <<'a'>>)", {"n": 1, "l": [1, 2], "s": {"b"}, "m": {"x": 1}}),
    ("SET l[0] = 9", {"n": 1, "l": [9, 2], "s": {"a", "b"}, "m": {"x": 1}}),
    ("REMOVE n", {"l": [1, 2], "s": {"a", "b"}, "m": {"x": 1}}),
    ("REMOVE l[0]", {"n": 1, "l": [2], "s": {"a", "b"}, "m": {"x": 1}}),
    ("REMOVE m.x", {"n": 1, "l": [1, 2], "s": {"a", "b"}, "m": {}}),
    ("SET n = 7 REMOVE l", {"n": 7, "s": {"a", "b"}, "m": {"x": 1}}),
]


@pytest.mark.parametrize("change, expected", UPDATES, ids=[case[0] for case in UPDATES])
def test_an_update_changes_an_item(simple, pk, change, expected):
    """AWS: PartiQL update statements for DynamoDB."""
    simple.put({"pk": pk, "n": 1, "l": [1, 2], "s": {"a", "b"}, "m": {"x": 1}})
    run(simple, f"UPDATE TABLE {change} WHERE pk = '{pk}'")
    assert simple.get({"pk": pk}) == {"pk": pk, **expected}


@pytest.mark.parametrize("returning, expected", [
    ("ALL OLD *", {"n": 1, "o": 2}), ("ALL NEW *", {"n": 5, "o": 2}),
    ("MODIFIED OLD *", {"n": 1}), ("MODIFIED NEW *", {"n": 5})])
def test_an_update_answers_with_what_was_asked(simple, pk, returning, expected):
    """AWS: PartiQL update statements for DynamoDB."""
    simple.put({"pk": pk, "n": 1, "o": 2})
    answer = run(simple, f"UPDATE TABLE SET n = 5 WHERE pk = '{pk}' RETURNING {returning}")
    (shown,) = items(answer)
    assert shown.pop("pk", pk) == pk
    assert shown == expected


def test_an_update_of_no_item_is_refused(simple, pk):
    """AWS: PartiQL update statements for DynamoDB."""
    with refused(CONDITION_FAILED, "The conditional request failed"):
        run(simple, f"UPDATE TABLE SET n = 5 WHERE pk = '{pk}'")
    assert simple.get({"pk": pk}) is None


def test_an_update_may_have_a_condition(simple, pk):
    """AWS: PartiQL update statements for DynamoDB."""
    simple.put({"pk": pk, "n": 1})
    run(simple, f"UPDATE TABLE SET n = 5 WHERE pk = '{pk}' AND n = 1")
    with refused(CONDITION_FAILED):
        run(simple, f"UPDATE TABLE SET n = 9 WHERE pk = '{pk}' AND n = 1")
    assert simple.get({"pk": pk}) == {"pk": pk, "n": 5}


def test_a_delete_takes_the_item(simple, pk):
    """AWS: PartiQL delete statements for DynamoDB."""
    simple.put({"pk": pk, "n": 1})
    answer = run(simple, f"DELETE FROM TABLE WHERE pk = '{pk}' RETURNING ALL OLD *")
    assert items(answer) == [{"pk": pk, "n": 1}]
    assert simple.get({"pk": pk}) is None


def test_a_delete_of_no_item_is_no_error(simple, pk):
    """AWS: PartiQL delete statements for DynamoDB."""
    answer = run(simple, f"DELETE FROM TABLE WHERE pk = '{pk}'")
    assert answer["Items"] == []


def test_a_delete_with_a_failed_condition_keeps_the_item(simple, pk):
    """AWS: PartiQL delete statements for DynamoDB."""
    simple.put({"pk": pk, "n": 1})
    with refused(CONDITION_FAILED):
        run(simple, f"DELETE FROM TABLE WHERE pk = '{pk}' AND n = 2")
    assert simple.get({"pk": pk}) == {"pk": pk, "n": 1}


@pytest.mark.parametrize("statement", [
    "UPDATE TABLE SET a = 1 WHERE pk = 'acme'", "DELETE FROM TABLE WHERE pk = 'acme'",
    "UPDATE TABLE SET a = 1 WHERE title = 'song 1'",
    "UPDATE TABLE SET a = 1 WHERE pk = 'acme' AND sk > 1"])
def test_a_write_names_the_whole_key(music, statement):
    """AWS: PartiQL update statements for DynamoDB."""
    with refused(VALIDATION, "Where clause does not contain a mandatory equality on all key "
                             "attributes"):
        run(music, statement)
    assert "a" not in music.get({"pk": "acme", "sk": 1})


@pytest.mark.parametrize("statement", [
    "", "SELECT", "SELEC * FROM TABLE", "SELECT * FROM", "SELECT * FROM TABLE WHERE",
    "SELECT * FROM TABLE WHERE pk =", "INSERT INTO TABLE VALUE", "UPDATE TABLE WHERE pk = 'a'",
    "DELETE TABLE", "DROP TABLE x", "SELECT * FROM TABLE WHERE pk = 'a' LIMIT 1",
    "SELECT * FROM TABLE GROUP BY pk", "SELECT * FROM TABLE; SELECT * FROM TABLE",
    "INSERT INTO TABLE VALUE {'n': 1}"])
def test_a_statement_that_is_none_is_refused(simple, pk, statement):
    """AWS: PartiQL statements for DynamoDB."""
    simple.put({"pk": pk})
    with refused(VALIDATION):
        run(simple, statement)
    assert items(run(simple, f"SELECT * FROM TABLE WHERE pk = '{pk}'")) == [{"pk": pk}]


@pytest.mark.parametrize("parameters", [("a",), ("a", "b", "c")])
def test_parameters_must_be_as_many_as_question_marks(music, parameters):
    """AWS: ExecuteStatement."""
    with refused(VALIDATION):
        run(music, "SELECT * FROM TABLE WHERE pk = ? AND title = ?", *parameters)


def test_a_table_that_is_not_there_is_refused(client):
    """AWS: ExecuteStatement."""
    with refused(NOT_FOUND, "Requested resource not found"):
        client.execute_statement(Statement="SELECT * FROM \"no-such-table\" WHERE pk = 'a'")


# BatchExecuteStatement

def batch(table, *statements):
    return table.client.batch_execute_statement(Statements=[
        {"Statement": _named(table, statement)} for statement in statements])["Responses"]


def test_a_batch_of_writes_is_done_one_by_one(simple, pk):
    """AWS: Running batch operations with PartiQL for DynamoDB."""
    simple.put({"pk": pk + "b"})
    answer = batch(simple, f"INSERT INTO TABLE VALUE {{'pk': '{pk}a'}}",
                   f"INSERT INTO TABLE VALUE {{'pk': '{pk}b'}}",
                   f"INSERT INTO TABLE VALUE {{'pk': '{pk}c'}}")
    assert [one.get("Error", {}).get("Code") for one in answer] == [None, "DuplicateItem", None]
    assert simple.get({"pk": pk + "a"}) == {"pk": pk + "a"}
    assert simple.get({"pk": pk + "c"}) == {"pk": pk + "c"}


def test_a_batch_of_reads_answers_in_order(music):
    """AWS: Running batch operations with PartiQL for DynamoDB."""
    answer = batch(music, *[f"SELECT * FROM TABLE WHERE pk = 'acme' AND sk = {number}"
                            for number in (3, 99, 1)])
    assert [one["Item"]["sk"]["N"] if "Item" in one else None for one in answer] == ["3", None, "1"]
    assert {one["TableName"] for one in answer} == {music.name}


def test_a_batch_does_not_mix_reads_and_writes(simple, pk):
    """AWS: Running batch operations with PartiQL for DynamoDB."""
    with refused(VALIDATION):
        batch(simple, f"SELECT * FROM TABLE WHERE pk = '{pk}'",
              f"INSERT INTO TABLE VALUE {{'pk': '{pk}'}}")
    assert simple.get({"pk": pk}) is None


def test_a_batch_holds_at_most_twenty_five_statements(simple, pk):
    """AWS: BatchExecuteStatement."""
    with refused(VALIDATION):
        batch(simple, *[f"INSERT INTO TABLE VALUE {{'pk': '{pk}{n}'}}" for n in range(26)])
    assert simple.get({"pk": pk + "0"}) is None


# ExecuteTransaction

def together(table, *statements, **more):
    return table.client.execute_transaction(TransactStatements=[
        {"Statement": _named(table, statement)} for statement in statements], **more)["Responses"]


def test_a_transaction_of_writes_is_done_whole(simple, pk):
    """AWS: Performing transactions with PartiQL for DynamoDB."""
    simple.put({"pk": pk + "b", "n": 1})
    simple.put({"pk": pk + "c"})
    together(simple, f"INSERT INTO TABLE VALUE {{'pk': '{pk}a'}}",
             f"UPDATE TABLE SET n = 2 WHERE pk = '{pk}b'", f"DELETE FROM TABLE WHERE pk = '{pk}c'")
    assert [simple.get({"pk": pk + letter}) for letter in "abc"] == [
        {"pk": pk + "a"}, {"pk": pk + "b", "n": 2}, None]


def test_a_transaction_with_the_same_token_is_done_once(simple, pk):
    """AWS: ExecuteTransaction."""
    simple.put({"pk": pk, "n": 1})
    token = uuid.uuid4().hex
    for _ in range(2):
        together(simple, f"UPDATE TABLE SET n = n + 1 WHERE pk = '{pk}'", ClientRequestToken=token)
    assert simple.get({"pk": pk}) == {"pk": pk, "n": 2}


def test_the_same_token_for_other_statements_is_refused(simple, pk):
    """AWS: ExecuteTransaction."""
    token = uuid.uuid4().hex
    together(simple, f"INSERT INTO TABLE VALUE {{'pk': '{pk}a'}}", ClientRequestToken=token)
    with refused("IdempotentParameterMismatchException"):
        together(simple, f"INSERT INTO TABLE VALUE {{'pk': '{pk}b'}}", ClientRequestToken=token)
    assert simple.get({"pk": pk + "b"}) is None


def test_one_failure_undoes_the_transaction(simple, pk):
    """AWS: Performing transactions with PartiQL for DynamoDB."""
    simple.put({"pk": pk + "b"})
    with refused(CANCELLED) as caught:
        together(simple, f"INSERT INTO TABLE VALUE {{'pk': '{pk}a'}}",
                 f"INSERT INTO TABLE VALUE {{'pk': '{pk}b'}}")
    assert [reason["Code"] for reason in caught.value.response["CancellationReasons"]] == [
        "None", "DuplicateItem"]
    assert simple.get({"pk": pk + "a"}) is None


def test_a_transaction_of_reads_answers_in_order(music):
    """AWS: Performing transactions with PartiQL for DynamoDB."""
    answer = together(music, "SELECT * FROM TABLE WHERE pk = 'acme' AND sk = 2",
                      "SELECT absent FROM TABLE WHERE pk = 'acme' AND sk = 1",
                      "SELECT * FROM TABLE WHERE pk = 'acme' AND sk = 99")
    assert answer[0]["Item"]["sk"] == {"N": "2"}
    assert answer[1:] == [{"Item": {}}, {}]


@pytest.mark.parametrize("n, done", [(1, True), (2, False)])
def test_a_transaction_may_check_that_something_exists(simple, pk, n, done):
    """AWS: Using the EXISTS function with PartiQL for DynamoDB."""
    simple.put({"pk": pk + "a", "n": 1})
    statements = (f"EXISTS(SELECT * FROM TABLE WHERE pk = '{pk}a' AND n = {n})",
                  f"INSERT INTO TABLE VALUE {{'pk': '{pk}b'}}")
    if done:
        together(simple, *statements)
    else:
        with refused(CANCELLED):
            together(simple, *statements)
    assert (simple.get({"pk": pk + "b"}) is not None) == done


def test_a_transaction_does_not_mix_reads_and_writes(simple, pk):
    """AWS: Performing transactions with PartiQL for DynamoDB."""
    with refused(VALIDATION):
        together(simple, f"SELECT * FROM TABLE WHERE pk = '{pk}'",
                 f"INSERT INTO TABLE VALUE {{'pk': '{pk}2'}}")
    assert simple.get({"pk": pk + "2"}) is None


def test_a_failed_condition_tells_the_item_when_asked(client, music):
    """AWS: ExecuteStatement."""
    statement = "UPDATE TABLE SET title = 'x' WHERE pk = 'acme' AND sk = 1 AND price = 99"
    with refused(CONDITION_FAILED) as caught:
        run(music, statement, ReturnValuesOnConditionCheckFailure="ALL_OLD")
    assert caught.value.response["Item"]["title"] == {"S": "song 1"}
    with refused(CONDITION_FAILED) as caught:
        run(music, statement)
    assert "Item" not in caught.value.response
    with refused(VALIDATION):
        run(music, statement, ReturnValuesOnConditionCheckFailure="ALL_NEW")


def test_failed_conditions_in_batches_and_transactions_tell_the_item_when_asked(client, music):
    """AWS: BatchExecuteStatement."""
    statement = {
        "Statement": _named(music, "DELETE FROM TABLE WHERE pk = 'acme' AND sk = 2 AND price = 99"),
        "ReturnValuesOnConditionCheckFailure": "ALL_OLD"}
    answer = client.batch_execute_statement(Statements=[statement])
    assert answer["Responses"][0]["Error"]["Item"]["title"] == {"S": "song 2"}
    with refused(CANCELLED) as caught:
        client.execute_transaction(TransactStatements=[statement])
    reasons = caught.value.response["CancellationReasons"]
    assert reasons[0]["Item"]["title"] == {"S": "song 2"}
