use aws_sdk_dynamodb::types::{AttributeValue, Select};

use crate::support::{Item, TABLE, key, n, numbers, put, s, songs, songs_of_ann, told};

#[tokio::test]
async fn a_query_is_in_the_order_of_the_sort_key() {
    let (_server, client) = songs_of_ann(5).await;
    put(&client, [("artist", s("bob")), ("number", n(1))]).await;
    let query = || {
        let query = client.query().table_name(TABLE).key_condition_expression("artist = :a");
        query.expression_attribute_values(":a", s("ann"))
    };
    let forward = query().send().await.unwrap();
    assert_eq!(numbers(forward.items()), [1, 2, 3, 4, 5]);
    assert_eq!((forward.count, forward.scanned_count), (5, 5));
    let backward = query().scan_index_forward(false).limit(2).send().await.unwrap();
    assert_eq!(numbers(backward.items()), [5, 4]);
    assert_eq!(backward.last_evaluated_key, Some(key("ann", 4)));
}

#[tokio::test]
async fn a_paginator_goes_over_all_pages() {
    let (_server, client) = songs_of_ann(25).await;
    let pages = client
        .query()
        .table_name(TABLE)
        .key_condition_expression("artist = :a AND #n BETWEEN :from AND :to")
        .expression_attribute_names("#n", "number")
        .expression_attribute_values(":a", s("ann"))
        .expression_attribute_values(":from", n(3))
        .expression_attribute_values(":to", n(22))
        .into_paginator()
        .page_size(7)
        .send()
        .collect::<Result<Vec<_>, _>>()
        .await
        .unwrap();
    let found: Vec<i64> = pages.iter().flat_map(|page| numbers(page.items())).collect();
    assert_eq!(found, (3..=22).collect::<Vec<i64>>());
    assert_eq!(pages.len(), 3);
}

#[tokio::test]
async fn a_paginator_gives_items_one_by_one() {
    let (_server, client) = songs_of_ann(12).await;
    let items = client.scan().table_name(TABLE).into_paginator().page_size(5).items().send();
    let items: Vec<Item> = items.collect::<Result<_, _>>().await.unwrap();
    assert_eq!(numbers(&items), (1..=12).collect::<Vec<i64>>());
}

#[tokio::test]
async fn a_filter_leaves_out_and_the_count_tells_it() {
    let (_server, client) = songs_of_ann(20).await;
    let answer = client
        .query()
        .table_name(TABLE)
        .key_condition_expression("artist = :a")
        .filter_expression("genre = :g")
        .expression_attribute_values(":a", s("ann"))
        .expression_attribute_values(":g", s("jazz"))
        .send()
        .await
        .unwrap();
    assert_eq!(numbers(answer.items()), [10, 20]);
    assert_eq!((answer.count, answer.scanned_count), (2, 20));
}

#[tokio::test]
async fn an_index_finds_what_its_key_says() {
    let (_server, client) = songs_of_ann(20).await;
    let answer = client
        .query()
        .table_name(TABLE)
        .index_name("by-genre")
        .key_condition_expression("genre = :g")
        .expression_attribute_values(":g", s("jazz"))
        .send()
        .await
        .unwrap();
    let mut found = numbers(answer.items());
    found.sort();
    assert_eq!(found, [10, 20]);
}

#[tokio::test]
async fn items_are_counted_without_being_sent() {
    let (_server, client) = songs_of_ann(6).await;
    let answer = client.scan().table_name(TABLE).select(Select::Count).send().await.unwrap();
    assert_eq!((answer.count, answer.items), (6, None));
}

#[tokio::test]
async fn segments_of_a_scan_have_every_item_once() {
    let (_server, client) = songs().await;
    for number in 0..40 {
        put(&client, [("artist", s(&format!("artist {number}"))), ("number", n(number))]).await;
    }
    let mut found = Vec::new();
    for segment in 0..4 {
        let scan = client.scan().table_name(TABLE).segment(segment).total_segments(4);
        found.extend(numbers(scan.send().await.unwrap().items()));
    }
    found.sort();
    assert_eq!(found, (0..40).collect::<Vec<i64>>());
}

#[tokio::test]
async fn a_query_without_the_partition_key_is_refused() {
    let (_server, client) = songs().await;
    let query = client.query().table_name(TABLE).key_condition_expression("#n = :n");
    let query = query.expression_attribute_names("#n", "number");
    let (code, message) = told(query.expression_attribute_values(":n", n(1)).send().await);
    assert_eq!(code, "ValidationException");
    assert_eq!(message, "Query condition missed key schema element: artist");
}

#[tokio::test]
async fn statements_find_and_change_items() {
    let (_server, client) = songs_of_ann(3).await;
    let update = client
        .execute_statement()
        .statement("UPDATE songs SET plays = ? WHERE artist = ? AND \"number\" = ?");
    let update = update.parameters(n(7)).parameters(s("ann")).parameters(n(2));
    update.send().await.unwrap();
    let select = client
        .execute_statement()
        .statement("SELECT plays FROM songs WHERE artist = ? AND \"number\" = 2");
    let found = select.parameters(s("ann")).send().await.unwrap();
    assert_eq!(found.items()[0]["plays"], n(7));
}

#[tokio::test]
async fn a_value_that_is_not_used_is_refused() {
    let (_server, client) = songs().await;
    let query = client
        .query()
        .table_name(TABLE)
        .key_condition_expression("artist = :a")
        .expression_attribute_values(":a", s("ann"))
        .expression_attribute_values(":b", AttributeValue::Bool(true));
    let (code, message) = told(query.send().await);
    assert_eq!(code, "ValidationException");
    assert!(message.contains("unused in expressions: keys: {:b}"), "{message}");
}
