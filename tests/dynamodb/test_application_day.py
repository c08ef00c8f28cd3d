"""A day of an application that uses PynamoDB: a shop with customers, orders and stock.

The tests are the hours of the day, in order, on the same tables.
"""
import os
from datetime import datetime, timedelta, timezone

import pytest
from pynamodb.attributes import (
    BooleanAttribute, JSONAttribute, ListAttribute, MapAttribute, NumberAttribute,
    UTCDateTimeAttribute, UnicodeAttribute, UnicodeSetAttribute, VersionAttribute)
from pynamodb.exceptions import (
    DoesNotExist, PutError, TransactWriteError, UpdateError)
from pynamodb.indexes import (
    AllProjection, GlobalSecondaryIndex, KeysOnlyProjection, LocalSecondaryIndex)
from pynamodb.models import Model
from pynamodb.transactions import TransactGet, TransactWrite

from dynamo import fresh_name

URL = os.environ.get("STONECROP_URL", "http://127.0.0.1:1")
MORNING = datetime(2026, 3, 2, 8, 0, tzinfo=timezone.utc)


class ShopMeta:
    host = URL
    region = "us-east-1"
    aws_access_key_id = "test"
    aws_secret_access_key = "test"
    billing_mode = "PAY_PER_REQUEST"
    max_retry_attempts = 0


class ByCity(GlobalSecondaryIndex):
    class Meta:
        index_name = "by-city"
        projection = AllProjection()

    city = UnicodeAttribute(hash_key=True)
    points = NumberAttribute(range_key=True)


class Address(MapAttribute):
    street = UnicodeAttribute()
    zip = UnicodeAttribute(null=True)


class Customer(Model):
    class Meta(ShopMeta):
        table_name = fresh_name("customers")

    email = UnicodeAttribute(hash_key=True)
    city = UnicodeAttribute(null=True)
    points = NumberAttribute(default=0)
    active = BooleanAttribute(default=True)
    tags = UnicodeSetAttribute(null=True)
    address = Address(null=True)
    settings = JSONAttribute(null=True)
    version = VersionAttribute()
    by_city = ByCity()


class ByState(LocalSecondaryIndex):
    class Meta:
        index_name = "by-state"
        projection = KeysOnlyProjection()

    email = UnicodeAttribute(hash_key=True)
    state = UnicodeAttribute(range_key=True)


class Line(MapAttribute):
    sku = UnicodeAttribute()
    amount = NumberAttribute()


class Order(Model):
    class Meta(ShopMeta):
        table_name = fresh_name("orders")

    email = UnicodeAttribute(hash_key=True)
    at = UTCDateTimeAttribute(range_key=True)
    state = UnicodeAttribute(default="open")
    lines = ListAttribute(of=Line, default=list)
    by_state = ByState()


class Stock(Model):
    class Meta(ShopMeta):
        table_name = fresh_name("stock")

    sku = UnicodeAttribute(hash_key=True)
    left = NumberAttribute(default=0)


MODELS = (Customer, Order, Stock)


@pytest.fixture(scope="module", autouse=True)
def shop():
    for model in MODELS:
        model.create_table(wait=True)
    yield
    for model in MODELS:
        model.delete_table()


def test_at_seven_the_tables_are_there():
    """AWS: DescribeTable."""
    assert all(model.exists() for model in MODELS)
    assert Customer.describe_table()["TableStatus"] == "ACTIVE"
    assert Customer.count() == 0


def test_at_eight_customers_sign_up():
    """AWS: PutItem."""
    Customer("ann@x.org", city="Oslo", points=30, tags={"new", "vip"},
             address=Address(street="Storgata 1"), settings={"dark": True}).save()
    Customer("bob@x.org", city="Oslo", points=10).save()
    Customer("cat@x.org", city="Rome", points=20, active=False).save()
    ann = Customer.get("ann@x.org", consistent_read=True)
    assert (ann.city, ann.points, ann.active, ann.tags) == ("Oslo", 30, True, {"new", "vip"})
    assert ann.address.street == "Storgata 1"
    assert ann.settings == {"dark": True}
    assert ann.version == 1


def test_nobody_signs_up_twice():
    """AWS: Condition expressions."""
    again = Customer("ann@x.org", city="Bergen")
    with pytest.raises(PutError) as caught:
        again.save(Customer.email.does_not_exist())
    assert caught.value.cause_response_code == "ConditionalCheckFailedException"
    assert Customer.get("ann@x.org").city == "Oslo"


def test_a_stranger_is_not_found():
    """AWS: GetItem."""
    with pytest.raises(DoesNotExist):
        Customer.get("nobody@x.org")


def test_at_nine_two_clerks_change_one_customer_and_one_of_them_loses():
    """AWS: Condition expressions."""
    first, second = Customer.get("bob@x.org"), Customer.get("bob@x.org")
    first.city = "Bergen"
    first.save()
    second.city = "Rome"
    with pytest.raises(PutError) as caught:
        second.save()
    assert caught.value.cause_response_code == "ConditionalCheckFailedException"
    assert Customer.get("bob@x.org").city == "Bergen"
    assert Customer.get("bob@x.org").version == 2


def test_customers_are_found_by_city_in_order_of_points():
    """AWS: Using Global Secondary Indexes in DynamoDB."""
    Customer("dan@x.org", city="Oslo", points=50).save()
    Customer("eva@x.org", city="Oslo", points=5).save()
    found = [customer.email for customer in Customer.by_city.query("Oslo")]
    assert found == ["eva@x.org", "ann@x.org", "dan@x.org"]
    best = Customer.by_city.query("Oslo", Customer.points > 10, scan_index_forward=False, limit=1)
    assert [customer.email for customer in best] == ["dan@x.org"]


def test_at_ten_the_stock_arrives_in_batches():
    """AWS: BatchWriteItem."""
    with Stock.batch_write() as batch:
        for number in range(60):  # more than one request holds
            batch.save(Stock(f"sku-{number:02}", left=number))
    assert len(list(Stock.scan(consistent_read=True))) == 60
    with Stock.batch_write() as batch:
        for number in range(50, 60):
            batch.delete(Stock(f"sku-{number:02}"))
    assert len(list(Stock.scan(consistent_read=True))) == 50


def test_many_articles_are_fetched_at_once():
    """AWS: BatchGetItem."""
    wanted = [f"sku-{number:02}" for number in range(0, 60)]
    found = {article.sku: article.left for article in Stock.batch_get(wanted)}
    assert found == {f"sku-{number:02}": number for number in range(50)}


def test_the_shelves_are_walked_in_pages():
    """AWS: Working with scans in DynamoDB."""
    pages, start = [], None
    while True:
        result = Stock.scan(limit=20, page_size=7, last_evaluated_key=start)
        pages.append([article.sku for article in result])
        start = result.last_evaluated_key
        if start is None:
            break
    walked = [sku for page in pages for sku in page]
    assert sorted(walked) == [f"sku-{number:02}" for number in range(50)]
    assert len(pages) >= 3


def test_counters_count():
    """AWS: Update expressions."""
    article = Stock.get("sku-10")
    for _ in range(5):
        article.update(actions=[Stock.left.add(1)])
    assert article.left == 15
    article.update(actions=[Stock.left.set(Stock.left - 15)])
    assert Stock.get("sku-10").left == 0


def test_nothing_is_sold_that_is_not_there():
    """AWS: Condition expressions."""
    article = Stock.get("sku-10")
    with pytest.raises(UpdateError) as caught:
        article.update(actions=[Stock.left.set(Stock.left - 1)], condition=Stock.left >= 1)
    assert caught.value.cause_response_code == "ConditionalCheckFailedException"
    assert Stock.get("sku-10").left == 0



def test_at_noon_an_order_takes_from_the_stock_or_does_not_happen():
    """AWS: TransactWriteItems."""
    connection = Stock._get_connection().connection
    with TransactWrite(connection=connection) as transaction:
        transaction.save(Order("ann@x.org", MORNING, lines=[Line(sku="sku-20", amount=2)]))
        transaction.update(Stock("sku-20"), actions=[Stock.left.set(Stock.left - 2)],
                           condition=Stock.left >= 2)
        transaction.condition_check(Customer, "ann@x.org", condition=Customer.points > 0)
    assert Stock.get("sku-20").left == 18
    assert Order.get("ann@x.org", MORNING).lines[0].sku == "sku-20"


def test_an_order_for_too_much_leaves_no_trace():
    """AWS: TransactWriteItems."""
    connection = Stock._get_connection().connection
    late = MORNING + timedelta(hours=1)
    with pytest.raises(TransactWriteError) as caught:
        with TransactWrite(connection=connection) as transaction:
            transaction.save(Order("ann@x.org", late, lines=[Line(sku="sku-01", amount=9)]))
            transaction.update(Stock("sku-01"), actions=[Stock.left.set(Stock.left - 9)],
                               condition=Stock.left >= 9)
    codes = [reason.code if reason else None for reason in caught.value.cancellation_reasons]
    assert codes == [None, "ConditionalCheckFailed"]
    assert Stock.get("sku-01").left == 1
    with pytest.raises(DoesNotExist):
        Order.get("ann@x.org", late)


def test_customer_and_order_are_seen_at_one_moment():
    """AWS: TransactGetItems."""
    connection = Stock._get_connection().connection
    with TransactGet(connection=connection) as transaction:
        customer = transaction.get(Customer, "ann@x.org")
        order = transaction.get(Order, "ann@x.org", MORNING)
    assert customer.get().points == 30
    assert order.get().state == "open"


def test_in_the_afternoon_orders_are_listed_by_time():
    """AWS: Query operations in DynamoDB."""
    for hour in range(1, 6):
        Order("bob@x.org", MORNING + timedelta(hours=hour),
              state="paid" if hour % 2 else "open").save()
    between = Order.query("bob@x.org", Order.at.between(MORNING + timedelta(hours=2),
                                                        MORNING + timedelta(hours=4)))
    assert [order.at.hour for order in between] == [10, 11, 12]
    latest = next(iter(Order.query("bob@x.org", scan_index_forward=False, limit=1)))
    assert latest.at.hour == 13
    filtered = Order.query("bob@x.org", filter_condition=Order.state == "paid")
    assert [order.at.hour for order in filtered] == [9, 11, 13]


def test_orders_are_found_by_state():
    """AWS: Local Secondary Indexes."""
    found = Order.by_state.query("bob@x.org", Order.state == "paid")
    assert sorted(order.at.hour for order in found) == [9, 11, 13]
    assert Order.by_state.count("bob@x.org", Order.state == "open") == 2


def test_an_order_grows():
    """AWS: Update expressions."""
    order = Order.get("ann@x.org", MORNING)
    order.update(actions=[Order.lines.set(Order.lines.append([Line(sku="sku-30", amount=1)])),
                          Order.state.set("packed")])
    order.refresh()
    assert [line.sku for line in order.lines] == ["sku-20", "sku-30"]
    order.update(actions=[Order.lines[0].remove()])
    assert [line.sku for line in Order.get("ann@x.org", MORNING).lines] == ["sku-30"]


def test_a_customer_s_details_change():
    """AWS: Update expressions."""
    ann = Customer.get("ann@x.org")
    ann.update(actions=[Customer.tags.add({"gold"}), Customer.address.zip.set("0155"),
                        Customer.settings.remove()])
    ann = Customer.get("ann@x.org")
    assert ann.tags == {"new", "vip", "gold"}
    assert (ann.address.street, ann.address.zip) == ("Storgata 1", "0155")
    assert ann.settings is None
    assert ann.version == 2


def test_in_the_evening_a_customer_leaves():
    """AWS: DeleteItem."""
    eva = Customer.get("eva@x.org")
    eva.delete(Customer.points < 10)
    with pytest.raises(DoesNotExist):
        Customer.get("eva@x.org")
    assert "eva@x.org" not in [customer.email for customer in Customer.by_city.query("Oslo")]


def test_at_night_the_books_are_right():
    """AWS: Scan."""
    assert sorted(customer.email for customer in Customer.scan()) == [
        "ann@x.org", "bob@x.org", "cat@x.org", "dan@x.org"]
    idle = Customer.scan(Customer.active == False)
    assert [customer.email for customer in idle] == ["cat@x.org"]
    assert sum(article.left for article in Stock.scan()) == sum(range(50)) - 10 - 2
    assert Order.count("bob@x.org") == 5
