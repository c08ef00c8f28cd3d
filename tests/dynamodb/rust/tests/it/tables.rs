use aws_sdk_dynamodb::client::Waiters as _;
use aws_sdk_dynamodb::types::{
    KeyType, ProvisionedThroughput, ScalarAttributeType, TableStatus, Tag, TimeToLiveSpecification,
    TimeToLiveStatus,
};
use std::time::Duration;
use stonecrop_dynamodb_sdk_tests::Server;

use crate::support::{TABLE, definition, key_part, songs, told};

#[tokio::test]
async fn a_table_is_described_as_it_was_made() {
    let (_server, client) = songs().await;
    let answer = client.describe_table().table_name(TABLE).send().await.unwrap();
    let table = answer.table.unwrap();
    assert_eq!(table.table_name.as_deref(), Some(TABLE));
    assert_eq!(table.table_status, Some(TableStatus::Active));
    let keys = table.key_schema();
    assert_eq!((keys[0].attribute_name(), keys[0].key_type()), ("artist", &KeyType::Hash));
    assert_eq!((keys[1].attribute_name(), keys[1].key_type()), ("number", &KeyType::Range));
    assert_eq!(table.global_secondary_indexes()[0].index_name(), Some("by-genre"));
    assert!(table.table_arn().unwrap().ends_with("table/songs"));
    assert!(table.creation_date_time().unwrap().secs() > 1_700_000_000);
}

#[tokio::test]
async fn waiters_see_a_table_come_and_go() {
    let (_server, client) = songs().await;
    let time = Duration::from_secs(20);
    client.wait_until_table_exists().table_name(TABLE).wait(time).await.unwrap();
    client.delete_table().table_name(TABLE).send().await.unwrap();
    client.wait_until_table_not_exists().table_name(TABLE).wait(time).await.unwrap();
}

#[tokio::test]
async fn a_second_table_of_the_same_name_is_the_sdk_s_resource_in_use() {
    let (_server, client) = songs().await;
    let again = client
        .create_table()
        .table_name(TABLE)
        .attribute_definitions(definition("a", ScalarAttributeType::S))
        .key_schema(key_part("a", KeyType::Hash))
        .provisioned_throughput(
            ProvisionedThroughput::builder()
                .read_capacity_units(1)
                .write_capacity_units(1)
                .build()
                .unwrap(),
        );
    let error = again.send().await.unwrap_err().into_service_error();
    assert!(error.is_resource_in_use_exception(), "{error:?}");
}

#[tokio::test]
async fn a_table_that_is_not_there_is_the_sdk_s_resource_not_found() {
    let server = Server::start();
    let describe = server.client().describe_table().table_name("no-such-table").send().await;
    let error = describe.unwrap_err().into_service_error();
    assert!(error.is_resource_not_found_exception(), "{error:?}");
    let message = error.meta().message().unwrap();
    assert_eq!(message, "Requested resource not found: Table: no-such-table not found");
}

#[tokio::test]
async fn tables_are_listed_page_by_page() {
    let server = Server::start();
    let client = server.client();
    for name in ["table-a", "table-b", "table-c"] {
        client
            .create_table()
            .table_name(name)
            .billing_mode("PAY_PER_REQUEST".into())
            .attribute_definitions(definition("a", ScalarAttributeType::B))
            .key_schema(key_part("a", KeyType::Hash))
            .send()
            .await
            .unwrap();
    }
    let mut pages = client.list_tables().into_paginator().page_size(2).send();
    let mut found = Vec::new();
    while let Some(page) = pages.next().await {
        found.push(page.unwrap().table_names.unwrap());
    }
    found.retain(|page| !page.is_empty());
    assert_eq!(found, [vec!["table-a", "table-b"], vec!["table-c"]]);
}

#[tokio::test]
async fn a_key_without_its_definition_is_refused_with_the_service_s_words() {
    let server = Server::start();
    let create = server
        .client()
        .create_table()
        .table_name("broken")
        .billing_mode("PAY_PER_REQUEST".into())
        .attribute_definitions(definition("a", ScalarAttributeType::S))
        .key_schema(key_part("b", KeyType::Hash));
    let (code, message) = told(create.send().await);
    assert_eq!(code, "ValidationException");
    assert!(message.starts_with("One or more parameter values were invalid"), "{message}");
}

#[tokio::test]
async fn tags_are_kept() {
    let (_server, client) = songs().await;
    let table = client.describe_table().table_name(TABLE).send().await.unwrap().table.unwrap();
    let arn = table.table_arn.unwrap();
    let tag = Tag::builder().key("team").value("music").build().unwrap();
    client.tag_resource().resource_arn(&arn).tags(tag.clone()).send().await.unwrap();
    let told = client.list_tags_of_resource().resource_arn(&arn).send().await.unwrap();
    assert_eq!(told.tags(), [tag]);
}

#[tokio::test]
async fn the_attribute_that_tells_when_an_item_goes_is_kept() {
    let (_server, client) = songs().await;
    let specification =
        TimeToLiveSpecification::builder().enabled(true).attribute_name("until").build().unwrap();
    let update = client.update_time_to_live().table_name(TABLE);
    update.time_to_live_specification(specification).send().await.unwrap();
    let answer = client.describe_time_to_live().table_name(TABLE).send().await.unwrap();
    let told = answer.time_to_live_description.unwrap();
    assert_eq!(told.attribute_name.as_deref(), Some("until"));
    assert_eq!(told.time_to_live_status, Some(TimeToLiveStatus::Enabled));
}
