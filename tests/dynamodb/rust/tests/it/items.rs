use aws_sdk_dynamodb::operation::update_item::UpdateItemError;
use aws_sdk_dynamodb::primitives::Blob;
use aws_sdk_dynamodb::types::{
    AttributeValue, ReturnConsumedCapacity, ReturnValue, ReturnValuesOnConditionCheckFailure,
};

use crate::support::{TABLE, get, item, key, n, put, s, songs, told};

#[tokio::test]
async fn every_type_comes_back_as_it_was_sent() {
    let (_server, client) = songs().await;
    let text = |texts: [&str; 2]| texts.map(str::to_owned).to_vec();
    let sent = item([
        ("artist", s("ann 🦀")),
        ("number", n(1)),
        ("empty", s("")),
        ("price", AttributeValue::N("9.99".to_owned())),
        ("bytes", AttributeValue::B(Blob::new([0, 255, 7]))),
        ("yes", AttributeValue::Bool(true)),
        ("nothing", AttributeValue::Null(true)),
        ("list", AttributeValue::L(vec![s("a"), n(2), AttributeValue::L(vec![])])),
        ("map", AttributeValue::M(item([("inner", AttributeValue::M(item([("x", n(1))])))]))),
        ("strings", AttributeValue::Ss(text(["a", "b"]))),
        ("numbers", AttributeValue::Ns(text(["1", "2"]))),
        ("blobs", AttributeValue::Bs(vec![Blob::new([1]), Blob::new([2])])),
    ]);
    client.put_item().table_name(TABLE).set_item(Some(sent.clone())).send().await.unwrap();
    assert_eq!(get(&client, key("ann 🦀", 1)).await, Some(sent));
}

#[tokio::test]
async fn an_item_that_is_not_there_is_none() {
    let (_server, client) = songs().await;
    assert_eq!(get(&client, key("nobody", 1)).await, None);
}

#[tokio::test]
async fn a_put_replaces_all_and_tells_what_was_there() {
    let (_server, client) = songs().await;
    put(&client, [("artist", s("ann")), ("number", n(1)), ("a", n(1))]).await;
    let second = item([("artist", s("ann")), ("number", n(1)), ("b", n(2))]);
    let put = client.put_item().table_name(TABLE).set_item(Some(second.clone()));
    let before = put.return_values(ReturnValue::AllOld).send().await.unwrap().attributes.unwrap();
    assert_eq!(before["a"], n(1));
    assert_eq!(get(&client, key("ann", 1)).await, Some(second));
}

#[tokio::test]
async fn a_condition_that_is_not_true_is_the_sdk_s_exception_with_the_item() {
    let (_server, client) = songs().await;
    put(&client, [("artist", s("ann")), ("number", n(1)), ("stock", n(0))]).await;
    let buy = client
        .update_item()
        .table_name(TABLE)
        .set_key(Some(key("ann", 1)))
        .update_expression("SET stock = stock - :one")
        .condition_expression("stock >= :one")
        .expression_attribute_values(":one", n(1))
        .return_values_on_condition_check_failure(ReturnValuesOnConditionCheckFailure::AllOld);
    let error = buy.send().await.unwrap_err().into_service_error();
    let UpdateItemError::ConditionalCheckFailedException(failed) = error else {
        panic!("{error:?}");
    };
    assert_eq!(failed.message.as_deref(), Some("The conditional request failed"));
    assert_eq!(failed.item.as_ref().unwrap()["stock"], n(0));
}

#[tokio::test]
async fn an_item_is_made_once() {
    let (_server, client) = songs().await;
    let make = || {
        let put = client.put_item().table_name(TABLE).set_item(Some(key("ann", 1)));
        put.condition_expression("attribute_not_exists(artist)").send()
    };
    make().await.unwrap();
    let error = make().await.unwrap_err().into_service_error();
    assert!(error.is_conditional_check_failed_exception(), "{error:?}");
}

#[tokio::test]
async fn an_update_makes_the_item_and_counts() {
    let (_server, client) = songs().await;
    for count in 1..=3 {
        let answer = client
            .update_item()
            .table_name(TABLE)
            .set_key(Some(key("ann", 1)))
            .update_expression("ADD plays :one")
            .expression_attribute_values(":one", n(1))
            .return_values(ReturnValue::UpdatedNew)
            .send()
            .await
            .unwrap();
        assert_eq!(answer.attributes.unwrap(), item([("plays", n(count))]));
    }
}

#[tokio::test]
async fn an_update_reaches_into_maps_and_lists() {
    let (_server, client) = songs().await;
    let list = AttributeValue::L(vec![n(1), n(2)]);
    let map = AttributeValue::M(item([("city", s("Bern"))]));
    put(&client, [("artist", s("ann")), ("number", n(1)), ("l", list), ("m", map)]).await;
    client
        .update_item()
        .table_name(TABLE)
        .set_key(Some(key("ann", 1)))
        .update_expression("SET #m.#c = :c REMOVE l[0]")
        .expression_attribute_names("#m", "m")
        .expression_attribute_names("#c", "city")
        .expression_attribute_values(":c", s("Basel"))
        .send()
        .await
        .unwrap();
    let got = get(&client, key("ann", 1)).await.unwrap();
    assert_eq!(got["m"], AttributeValue::M(item([("city", s("Basel"))])));
    assert_eq!(got["l"], AttributeValue::L(vec![n(2)]));
}

#[tokio::test]
async fn a_delete_tells_what_was_there_and_can_have_a_condition() {
    let (_server, client) = songs().await;
    put(&client, [("artist", s("ann")), ("number", n(1)), ("a", n(1))]).await;
    let delete = || client.delete_item().table_name(TABLE).set_key(Some(key("ann", 1)));
    let refused = delete()
        .condition_expression("a = :a")
        .expression_attribute_values(":a", n(2))
        .send()
        .await
        .unwrap_err()
        .into_service_error();
    assert!(refused.is_conditional_check_failed_exception(), "{refused:?}");
    let gone = delete().return_values(ReturnValue::AllOld).send().await.unwrap();
    assert_eq!(gone.attributes.unwrap()["a"], n(1));
    assert_eq!(get(&client, key("ann", 1)).await, None);
}

#[tokio::test]
async fn a_projection_gives_the_named_attributes_alone() {
    let (_server, client) = songs().await;
    put(&client, [("artist", s("ann")), ("number", n(1)), ("a", n(1)), ("b", n(2))]).await;
    let got = client
        .get_item()
        .table_name(TABLE)
        .set_key(Some(key("ann", 1)))
        .projection_expression("#b, absent")
        .expression_attribute_names("#b", "b")
        .send()
        .await
        .unwrap();
    assert_eq!(got.item, Some(item([("b", n(2))])));
}

#[tokio::test]
async fn what_it_would_cost_is_told() {
    let (_server, client) = songs().await;
    let put = client.put_item().table_name(TABLE).set_item(Some(key("ann", 1)));
    let put = put.return_consumed_capacity(ReturnConsumedCapacity::Total);
    let cost = put.send().await.unwrap().consumed_capacity.unwrap();
    assert_eq!((cost.table_name.as_deref(), cost.capacity_units), (Some(TABLE), Some(1.0)));
}

#[tokio::test]
async fn a_key_of_another_type_is_refused() {
    let (_server, client) = songs().await;
    let wrong = item([("artist", n(1)), ("number", n(1))]);
    let got = client.get_item().table_name(TABLE).set_key(Some(wrong)).send().await;
    let (code, message) = told(got);
    assert_eq!(code, "ValidationException");
    assert_eq!(message, "The provided key element does not match the schema");
}

#[tokio::test]
async fn an_expression_that_is_none_is_refused_with_its_place() {
    let (_server, client) = songs().await;
    let put = client.put_item().table_name(TABLE).set_item(Some(key("ann", 1)));
    let (code, message) = told(put.condition_expression("a = = b").send().await);
    assert_eq!(code, "ValidationException");
    assert!(
        message.starts_with("Invalid ConditionExpression: Syntax error; token: \"=\""),
        "{message}"
    );
}

#[tokio::test]
async fn an_item_of_a_table_that_is_not_there_is_the_sdk_s_resource_not_found() {
    let (_server, client) = songs().await;
    let put = client.put_item().table_name("no-such-table").set_item(Some(key("ann", 1)));
    let error = put.send().await.unwrap_err().into_service_error();
    assert!(error.is_resource_not_found_exception(), "{error:?}");
}

#[tokio::test]
async fn an_item_of_more_than_400_kilobytes_is_refused() {
    let (_server, client) = songs().await;
    let large = item([("artist", s("ann")), ("number", n(1)), ("load", s(&"x".repeat(410_000)))]);
    let put = client.put_item().table_name(TABLE).set_item(Some(large));
    let (code, message) = told(put.send().await);
    assert_eq!(
        (&*code, &*message),
        ("ValidationException", "Item size has exceeded the maximum allowed size")
    );
}

#[tokio::test]
async fn numbers_have_38_digits() {
    let (_server, client) = songs().await;
    let digits = AttributeValue::N("12345678901234567890123456789012345678".to_owned());
    put(&client, [("artist", s("ann")), ("number", n(1)), ("v", digits.clone())]).await;
    assert_eq!(get(&client, key("ann", 1)).await.unwrap()["v"], digits);
}
