"""TagResource, UntagResource, ListTagsOfResource."""
import re

import pytest

from dynamo import NOT_FOUND, VALIDATION, refused


@pytest.fixture
def arn(make):
    return make().describe()["TableArn"]


def tags(client, arn):
    """Every tag, however many pages they come in."""
    pages = [client.list_tags_of_resource(ResourceArn=arn)]
    while "NextToken" in pages[-1]:
        pages.append(client.list_tags_of_resource(
            ResourceArn=arn, NextToken=pages[-1]["NextToken"]))
    return {tag["Key"]: tag["Value"] for page in pages for tag in page["Tags"]}


def tag(client, arn, **values):
    client.tag_resource(ResourceArn=arn, Tags=[
        {"Key": key, "Value": value} for key, value in values.items()])


def test_a_new_table_has_no_tags(client, arn):
    """AWS: ListTagsOfResource."""
    assert tags(client, arn) == {}


def test_tags_are_kept(client, arn):
    """AWS: TagResource."""
    tag(client, arn, owner="blue", stage="test")
    assert tags(client, arn) == {"owner": "blue", "stage": "test"}


def test_later_tags_join_the_earlier(client, arn):
    """AWS: TagResource."""
    tag(client, arn, owner="blue")
    tag(client, arn, stage="test")
    assert tags(client, arn) == {"owner": "blue", "stage": "test"}


def test_a_tag_given_again_has_the_new_value(client, arn):
    """AWS: Tagging restrictions in DynamoDB."""
    tag(client, arn, owner="blue")
    tag(client, arn, owner="red")
    assert tags(client, arn) == {"owner": "red"}


def test_keys_differ_by_case(client, arn):
    """AWS: Tagging restrictions in DynamoDB."""
    tag(client, arn, owner="a", Owner="b")
    assert tags(client, arn) == {"owner": "a", "Owner": "b"}


def test_a_value_may_be_empty(client, arn):
    """AWS: Tag."""
    tag(client, arn, owner="")
    assert tags(client, arn) == {"owner": ""}


def test_named_tags_are_removed(client, arn):
    """AWS: UntagResource."""
    tag(client, arn, a="1", b="2", c="3")
    client.untag_resource(ResourceArn=arn, TagKeys=["a", "c", "never-there"])
    assert tags(client, arn) == {"b": "2"}


def test_fifty_tags_are_allowed_and_no_more(client, arn):
    """AWS: Tagging restrictions in DynamoDB."""
    tag(client, arn, **{f"key{number}": "x" for number in range(50)})
    assert len(tags(client, arn)) == 50
    with refused(VALIDATION, "Number of Tags exceed the current limit for the provided "
                             "ResourceArn"):
        tag(client, arn, one_more="x")
    assert len(tags(client, arn)) == 50


@pytest.mark.parametrize("key, value", [
    ("k" * 128, "x"), ("x", "v" * 256), ("with space", "and space"), ("a+b-c=d._:/", "x")])
def test_tags_within_the_rules_are_allowed(client, arn, key, value):
    """AWS: Tagging restrictions in DynamoDB."""
    tag(client, arn, **{key: value})
    assert tags(client, arn) == {key: value}


@pytest.mark.parametrize("key, value", [("k" * 129, "x"), ("x", "v" * 257), ("", "x")])
def test_tags_outside_the_rules_are_refused(client, arn, key, value):
    """AWS: Tagging restrictions in DynamoDB."""
    with refused(VALIDATION, re.compile("Tag (Key|Value) provided is invalid|Member must have")):
        tag(client, arn, **{key: value})
    assert tags(client, arn) == {}


def test_the_prefix_of_the_service_is_its_own(client, arn):
    """AWS: Tagging restrictions in DynamoDB."""
    with refused(VALIDATION, re.compile("^Tag Key cannot be prefixed with aws:")):
        tag(client, arn, **{"aws:mine": "x"})
    assert tags(client, arn) == {}


@pytest.mark.parametrize("call", [
    lambda client, arn: client.tag_resource(ResourceArn=arn, Tags=[{"Key": "a", "Value": "b"}]),
    lambda client, arn: client.untag_resource(ResourceArn=arn, TagKeys=["a"]),
    lambda client, arn: client.list_tags_of_resource(ResourceArn=arn),
], ids=["tag", "untag", "list"])
def test_a_table_that_is_not_there_has_no_tags(client, arn, call):
    """AWS: TagResource."""
    missing = arn.rsplit("/", 1)[0] + "/no-such-table"
    with refused(NOT_FOUND, re.compile("^Requested resource not found")):
        call(client, missing)


@pytest.mark.parametrize("operation", ["TagResource", "UntagResource", "ListTagsOfResource"])
@pytest.mark.parametrize("wrong", [
    "no-arn", "a:b:c:d:e:f/g", "arn:aws:dynamodb:us-east-1", "arn:aws:s3:::bucket/key",
    "arn:aws:dynamodb:us-east-1:123456789012:table/",
    "arn:aws:dynamodb:us-east-1:123456789012:table/abc/index/i"])
def test_what_is_no_arn_of_a_table_is_refused(http, operation, wrong):
    """AWS: ListTagsOfResource."""
    answer = http.send(operation, {"ResourceArn": wrong, "TagKeys": ["a"],
                                   "Tags": [{"Key": "a", "Value": "b"}]})
    assert (answer.type, answer.message) == (
        VALIDATION, f"Invalid TableArn: Invalid ResourceArn provided as input {wrong}")


def test_a_key_is_given_once_in_a_request(client, arn):
    """AWS: Tagging restrictions in DynamoDB."""
    with refused(VALIDATION, re.compile("^Duplicate Tag Keys provided as input")):
        client.tag_resource(ResourceArn=arn, Tags=[{"Key": "a", "Value": "1"},
                                                   {"Key": "a", "Value": "2"}])
    assert tags(client, arn) == {}


def test_no_tags_to_add_are_refused(client, arn):
    """AWS: TagResource."""
    with refused(VALIDATION, "Atleast one Tag needs to be provided as Input."):
        client.tag_resource(ResourceArn=arn, Tags=[])


def test_no_tags_to_remove_are_refused(client, arn):
    """AWS: UntagResource."""
    with refused(VALIDATION, "Atleast one Tag Key needs to be provided as Input."):
        client.untag_resource(ResourceArn=arn, TagKeys=[])


@pytest.mark.parametrize("operation", ["TagResource", "UntagResource", "ListTagsOfResource"])
def test_a_table_of_another_account_is_not_for_us(http, arn, operation):
    """AWS: How Amazon DynamoDB works with IAM."""
    parts = arn.split(":")
    parts[4] = "000000000000"
    foreign = ":".join(parts)
    answer = http.send(operation, {"ResourceArn": foreign})
    assert (answer.status, answer.type) == (400, "AccessDeniedException")
    assert re.fullmatch(
        rf"User: arn:aws:iam::\d+:.+ is not authorized to perform: dynamodb:{operation} on resource: "
        rf"{re.escape(foreign)} because no resource-based policy allows the dynamodb:{operation} "
        "action", answer.message)


@pytest.mark.parametrize("operation", ["TagResource", "UntagResource", "ListTagsOfResource"])
def test_no_resource_is_no_arn(http, operation):
    """AWS: TagResource."""
    assert http.send(operation, {}).message == "Invalid TableArn"


@pytest.mark.parametrize("operation, more, told", [
    ("TagResource", {}, "1 validation error detected: Value null at 'tags' failed to satisfy "
                        "constraint: Member must not be null"),
    ("UntagResource", {}, "1 validation error detected: Value null at 'tagKeys' failed to satisfy "
                          "constraint: Member must not be null"),
    ("TagResource", {"Tags": []}, "Invalid TableArn: Invalid ResourceArn provided as input "
                                  "a:b:c:d:e:f/g"),
])
def test_what_is_missing_is_told_before_whose_resource_it_is(http, operation, more, told):
    """AWS: TagResource."""
    assert http.send(operation, {"ResourceArn": "a:b:c:d:e:f/g", **more}).message == told
