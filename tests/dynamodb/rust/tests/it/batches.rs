use aws_sdk_dynamodb::types::{DeleteRequest, KeysAndAttributes, PutRequest, WriteRequest};

use crate::support::{Item, TABLE, get, item, key, n, numbers, put, s, songs, songs_of_ann, told};

fn put_of(item: Item) -> WriteRequest {
    let put = PutRequest::builder().set_item(Some(item)).build().unwrap();
    WriteRequest::builder().put_request(put).build()
}

fn delete_of(key: Item) -> WriteRequest {
    let delete = DeleteRequest::builder().set_key(Some(key)).build().unwrap();
    WriteRequest::builder().delete_request(delete).build()
}

#[tokio::test]
async fn a_batch_puts_and_deletes() {
    let (_server, client) = songs().await;
    put(&client, [("artist", s("ann")), ("number", n(1))]).await;
    let writes = vec![put_of(key("ann", 2)), put_of(key("bob", 1)), delete_of(key("ann", 1))];
    let answer = client.batch_write_item().request_items(TABLE, writes).send().await.unwrap();
    assert!(answer.unprocessed_items.unwrap_or_default().is_empty());
    assert_eq!(get(&client, key("ann", 1)).await, None);
    assert_eq!(get(&client, key("ann", 2)).await, Some(key("ann", 2)));
}

#[tokio::test]
async fn a_batch_has_25_writes_at_most() {
    let (_server, client) = songs().await;
    let writes = (0..26).map(|number| put_of(key("ann", number))).collect();
    let (code, _) = told(client.batch_write_item().request_items(TABLE, writes).send().await);
    assert_eq!(code, "ValidationException");
    assert_eq!(get(&client, key("ann", 0)).await, None);
}

#[tokio::test]
async fn a_batch_does_not_name_an_item_twice() {
    let (_server, client) = songs().await;
    let writes = vec![put_of(key("ann", 1)), delete_of(key("ann", 1))];
    let (code, message) = told(client.batch_write_item().request_items(TABLE, writes).send().await);
    assert_eq!(code, "ValidationException");
    assert_eq!(message, "Provided list of item keys contains duplicates");
}

#[tokio::test]
async fn a_batch_gets_what_is_there() {
    let (_server, client) = songs_of_ann(5).await;
    let keys = KeysAndAttributes::builder()
        .set_keys(Some([1, 3, 5, 7].map(|number| key("ann", number)).to_vec()))
        .projection_expression("#n")
        .expression_attribute_names("#n", "number");
    let get = client.batch_get_item().request_items(TABLE, keys.build().unwrap());
    let answer = get.send().await.unwrap();
    let mut found = numbers(&answer.responses().unwrap()[TABLE]);
    found.sort();
    assert_eq!(found, [1, 3, 5]);
    assert_eq!(answer.responses().unwrap()[TABLE][0].len(), 1);
}

#[tokio::test]
async fn what_did_not_fit_into_the_answer_is_told_and_can_be_asked_for() {
    let (_server, client) = songs().await;
    let load = "x".repeat(390_000);
    for number in 0..50 {
        put(&client, [("artist", s("ann")), ("number", n(number)), ("load", s(&load))]).await;
    }
    let keys = (0..50).map(|number| key("ann", number)).collect();
    let mut asked = Some(KeysAndAttributes::builder().set_keys(Some(keys)).build().unwrap());
    let (mut found, mut answers) = (Vec::new(), 0);
    while let Some(keys) = asked.take() {
        let answer = client.batch_get_item().request_items(TABLE, keys).send().await.unwrap();
        found.extend(numbers(&answer.responses().unwrap()[TABLE]));
        asked = answer.unprocessed_keys.and_then(|mut keys| keys.remove(TABLE));
        answers += 1;
    }
    found.sort();
    assert_eq!(found, (0..50).collect::<Vec<i64>>());
    assert!(answers > 1);
}

#[tokio::test]
async fn a_batch_of_a_table_that_is_not_there_is_the_sdk_s_resource_not_found() {
    let (_server, client) = songs().await;
    let writes = vec![put_of(item([("a", s("b"))]))];
    let write = client.batch_write_item().request_items("no-such-table", writes).send().await;
    let error = write.unwrap_err().into_service_error();
    assert!(error.is_resource_not_found_exception(), "{error:?}");
}
