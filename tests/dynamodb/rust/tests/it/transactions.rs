use aws_sdk_dynamodb::operation::transact_write_items::TransactWriteItemsError;
use aws_sdk_dynamodb::types::{
    ConditionCheck, Delete, Get, Put, ReturnValuesOnConditionCheckFailure, TransactGetItem,
    TransactWriteItem, Update,
};

use crate::support::{TABLE, get, item, key, n, put, s, songs, told};

fn buy(number: i64) -> TransactWriteItem {
    let update = Update::builder()
        .table_name(TABLE)
        .set_key(Some(key("ann", number)))
        .update_expression("SET stock = stock - :one")
        .condition_expression("stock >= :one")
        .expression_attribute_values(":one", n(1))
        .return_values_on_condition_check_failure(ReturnValuesOnConditionCheckFailure::AllOld);
    TransactWriteItem::builder().update(update.build().unwrap()).build()
}

fn receipt(number: i64) -> TransactWriteItem {
    let put = Put::builder().table_name(TABLE).set_item(Some(key("receipts", number)));
    TransactWriteItem::builder().put(put.build().unwrap()).build()
}

#[tokio::test]
async fn a_transaction_is_done_whole() {
    let (_server, client) = songs().await;
    put(&client, [("artist", s("ann")), ("number", n(1)), ("stock", n(1))]).await;
    put(&client, [("artist", s("old")), ("number", n(1))]).await;
    let delete = Delete::builder().table_name(TABLE).set_key(Some(key("old", 1))).build().unwrap();
    let delete = TransactWriteItem::builder().delete(delete).build();
    let write = client.transact_write_items().transact_items(buy(1)).transact_items(receipt(1));
    write.transact_items(delete).send().await.unwrap();
    assert_eq!(get(&client, key("ann", 1)).await.unwrap()["stock"], n(0));
    assert_eq!(get(&client, key("receipts", 1)).await, Some(key("receipts", 1)));
    assert_eq!(get(&client, key("old", 1)).await, None);
}

#[tokio::test]
async fn a_transaction_that_is_not_done_tells_the_reason_of_each_part() {
    let (_server, client) = songs().await;
    put(&client, [("artist", s("ann")), ("number", n(1)), ("stock", n(5))]).await;
    put(&client, [("artist", s("ann")), ("number", n(2)), ("stock", n(0))]).await;
    let write = client.transact_write_items().transact_items(buy(1)).transact_items(buy(2));
    let error = write.transact_items(receipt(1)).send().await.unwrap_err().into_service_error();
    let TransactWriteItemsError::TransactionCanceledException(canceled) = error else {
        panic!("{error:?}");
    };
    let reasons = canceled.cancellation_reasons();
    let codes: Vec<_> = reasons.iter().map(|reason| reason.code().unwrap()).collect();
    assert_eq!(codes, ["None", "ConditionalCheckFailed", "None"]);
    assert_eq!(reasons[1].message(), Some("The conditional request failed"));
    assert_eq!(reasons[1].item().unwrap()["stock"], n(0));
    assert_eq!(
        canceled.message.as_deref(),
        Some(
            "Transaction cancelled, please refer cancellation reasons for specific reasons [None, \
             ConditionalCheckFailed, None]"
        )
    );
    assert_eq!(get(&client, key("ann", 1)).await.unwrap()["stock"], n(5));
    assert_eq!(get(&client, key("receipts", 1)).await, None);
}

#[tokio::test]
async fn a_check_alone_can_stop_a_transaction() {
    let (_server, client) = songs().await;
    let check = ConditionCheck::builder()
        .table_name(TABLE)
        .set_key(Some(key("ann", 1)))
        .condition_expression("attribute_exists(artist)");
    let check = TransactWriteItem::builder().condition_check(check.build().unwrap()).build();
    let write = client.transact_write_items().transact_items(check).transact_items(receipt(1));
    let error = write.send().await.unwrap_err().into_service_error();
    assert!(error.is_transaction_canceled_exception(), "{error:?}");
    assert_eq!(get(&client, key("receipts", 1)).await, None);
}

#[tokio::test]
async fn a_transaction_that_is_sent_again_with_its_token_is_done_once() {
    let (_server, client) = songs().await;
    put(&client, [("artist", s("ann")), ("number", n(1)), ("stock", n(5))]).await;
    for _ in 0..3 {
        let write = client.transact_write_items().transact_items(buy(1));
        write.client_request_token("the-same-token").send().await.unwrap();
    }
    assert_eq!(get(&client, key("ann", 1)).await.unwrap()["stock"], n(4));
    let other = client.transact_write_items().transact_items(receipt(1));
    let error = other.client_request_token("the-same-token").send().await;
    let error = error.unwrap_err().into_service_error();
    assert!(error.is_idempotent_parameter_mismatch_exception(), "{error:?}");
}

#[tokio::test]
async fn a_transaction_does_not_name_an_item_twice() {
    let (_server, client) = songs().await;
    let write = client.transact_write_items().transact_items(receipt(1)).transact_items(receipt(1));
    let (code, message) = told(write.send().await);
    assert_eq!(code, "ValidationException");
    assert_eq!(message, "Transaction request cannot include multiple operations on one item");
}

#[tokio::test]
async fn a_transaction_reads_in_the_order_asked_for() {
    let (_server, client) = songs().await;
    for number in [1, 2] {
        put(&client, [("artist", s("ann")), ("number", n(number)), ("a", n(number))]).await;
    }
    let mut read = client.transact_get_items();
    for number in [2, 9, 1] {
        let get = Get::builder().table_name(TABLE).set_key(Some(key("ann", number)));
        let get = get.projection_expression("a").build().unwrap();
        read = read.transact_items(TransactGetItem::builder().get(get).build());
    }
    let answer = read.send().await.unwrap();
    let found: Vec<_> = answer.responses().iter().map(|answer| answer.item.clone()).collect();
    let of = |number| Some(item([("a", n(number))]));
    assert_eq!(found[0], of(2));
    assert!(found[1].as_ref().is_none_or(|item| item.is_empty()));
    assert_eq!(found[2], of(1));
}
