"""Requests that are meant to exhaust the server: they are refused, and it lives."""
import pytest

from dynamo import VALIDATION, refused


@pytest.mark.parametrize("depth", [100, 1000, 10_000, 100_000])
@pytest.mark.parametrize("opening, closing", [('{"L": [', "]}"), ('{"M": {"a": ', "}}")],
                         ids=["lists", "maps"])
def test_absurdly_deep_values_are_refused(http, simple, pk, depth, opening, closing):
    """AWS: Service, account, and table quotas in Amazon DynamoDB."""
    body = ('{"TableName": "%s", "Item": {"pk": {"S": "%s"}, "v": %s{"S": "x"}%s}}'
            % (simple.name, pk, opening * depth, closing * depth))
    answer = http.send("PutItem", body)
    assert answer.status in (400, 413)
    assert simple.get({"pk": pk}) is None


@pytest.mark.parametrize("body", [
    "", "null", "[" * 100_000, '{"a":' * 100_000, '{"TableName": "' + "x" * 10**6],
    ids=["nothing", "null", "lists", "objects", "an endless string"])
def test_absurd_bodies_are_refused(http, simple, pk, body):
    """AWS: Error handling with DynamoDB."""
    simple.put({"pk": pk})
    answer = http.send("GetItem", body)
    assert answer.status in (400, 413)
    assert simple.get({"pk": pk}) == {"pk": pk}


@pytest.mark.parametrize("depth", [400, 1000, 10_000, 100_000])
@pytest.mark.parametrize("shape", ["(", "NOT "])
def test_absurdly_nested_conditions_are_refused(simple, pk, shape, depth):
    """AWS: Service, account, and table quotas in Amazon DynamoDB."""
    simple.put({"pk": pk, "a": 1})
    expression = shape * depth + "a = :a" + (")" * depth if shape == "(" else "")
    with refused(VALIDATION):
        simple.put({"pk": pk}, ConditionExpression=expression, values={":a": 1})
    assert simple.get({"pk": pk}) == {"pk": pk, "a": 1}


@pytest.mark.parametrize("expression", [
    # 200 would be allowed (300 functions are); so many do not fit into the 4 KB of an expression.
    "SET a = " + "if_not_exists(a, " * 301 + ":v" + ")" * 301,
    "SET a = " + "(" * 1000 + ":v" + ")" * 1000,
    "SET a = " + ":v + " * 1000 + ":v", "SET a" + "[0]" * 2000 + " = :v",
    "SET a" + ".b" * 2000 + " = :v"], ids=["functions", "parentheses", "sums", "indexes", "path"])
def test_absurdly_nested_updates_are_refused(simple, pk, expression):
    """AWS: Service, account, and table quotas in Amazon DynamoDB."""
    simple.put({"pk": pk})
    with refused(VALIDATION):
        simple.update({"pk": pk}, expression, {":v": 1})
    assert simple.get({"pk": pk}) == {"pk": pk}


@pytest.mark.parametrize("number", ["1e999999999", "-1e999999999", "1e-999999999", "9" * 100_000,
                                    "0." + "0" * 100_000 + "1", "1e" + "9" * 1000])
def test_absurd_numbers_are_refused(client, simple, pk, number):
    """AWS: Supported data types and naming rules in Amazon DynamoDB."""
    with refused(VALIDATION):
        client.put_item(TableName=simple.name, Item={"pk": {"S": pk}, "v": {"N": number}})
    assert simple.get({"pk": pk}) is None


@pytest.mark.parametrize("statement", ["SELECT * FROM " + "(" * 4000, "(" * 8000,
                                       "SELECT * FROM t WHERE " + "NOT " * 1900 + "a = 1"])
def test_absurd_statements_are_refused(client, simple, pk, statement):
    """AWS: ExecuteStatement."""
    simple.put({"pk": pk})
    with pytest.raises(client.exceptions.ClientError) as caught:
        client.execute_statement(Statement=statement)
    assert caught.value.response["Error"]["Code"] in (VALIDATION, "ResourceNotFoundException")
    assert simple.get({"pk": pk}) == {"pk": pk}
