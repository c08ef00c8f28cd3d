//! Tables, values and errors.

use std::collections::HashMap;

use aws_sdk_dynamodb::Client;
use aws_sdk_dynamodb::error::{ProvideErrorMetadata, SdkError};
use aws_sdk_dynamodb::types::{
    AttributeDefinition, AttributeValue, BillingMode, GlobalSecondaryIndex, KeySchemaElement,
    KeyType, Projection, ProjectionType, ScalarAttributeType,
};
use stonecrop_dynamodb_sdk_tests::Server;

pub(crate) type Item = HashMap<String, AttributeValue>;

pub(crate) const TABLE: &str = "songs";

pub(crate) fn s(text: &str) -> AttributeValue {
    AttributeValue::S(text.to_owned())
}

pub(crate) fn n(number: i64) -> AttributeValue {
    AttributeValue::N(number.to_string())
}

pub(crate) fn item<const N: usize>(attributes: [(&str, AttributeValue); N]) -> Item {
    attributes.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}

pub(crate) fn key(artist: &str, number: i64) -> Item {
    item([("artist", s(artist)), ("number", n(number))])
}

pub(crate) fn definition(name: &str, of: ScalarAttributeType) -> AttributeDefinition {
    let definition = AttributeDefinition::builder().attribute_name(name).attribute_type(of);
    definition.build().unwrap()
}

pub(crate) fn key_part(name: &str, of: KeyType) -> KeySchemaElement {
    KeySchemaElement::builder().attribute_name(name).key_type(of).build().unwrap()
}

/// A server with a table: artist (a string), number, and an index by genre.
pub(crate) async fn songs() -> (Server, Client) {
    let server = Server::start();
    let client = server.client();
    let by_genre = GlobalSecondaryIndex::builder()
        .index_name("by-genre")
        .key_schema(key_part("genre", KeyType::Hash))
        .projection(Projection::builder().projection_type(ProjectionType::All).build())
        .build()
        .unwrap();
    client
        .create_table()
        .table_name(TABLE)
        .billing_mode(BillingMode::PayPerRequest)
        .attribute_definitions(definition("artist", ScalarAttributeType::S))
        .attribute_definitions(definition("number", ScalarAttributeType::N))
        .attribute_definitions(definition("genre", ScalarAttributeType::S))
        .key_schema(key_part("artist", KeyType::Hash))
        .key_schema(key_part("number", KeyType::Range))
        .global_secondary_indexes(by_genre)
        .send()
        .await
        .unwrap();
    (server, client)
}

/// The same with so many songs of ann, each tenth of which is jazz.
pub(crate) async fn songs_of_ann(count: i64) -> (Server, Client) {
    let (server, client) = songs().await;
    for number in 1..=count {
        let genre = if number % 10 == 0 { "jazz" } else { "pop" };
        put(&client, [("artist", s("ann")), ("number", n(number)), ("genre", s(genre))]).await;
    }
    (server, client)
}

pub(crate) async fn put<const N: usize>(client: &Client, attributes: [(&str, AttributeValue); N]) {
    let put = client.put_item().table_name(TABLE).set_item(Some(item(attributes)));
    put.send().await.unwrap();
}

pub(crate) async fn get(client: &Client, key: Item) -> Option<Item> {
    let got = client.get_item().table_name(TABLE).set_key(Some(key)).consistent_read(true);
    got.send().await.unwrap().item
}

/// The name and the message of an error that the server told.
pub(crate) fn told<T: std::fmt::Debug, E: ProvideErrorMetadata + std::fmt::Debug>(
    answer: Result<T, SdkError<E>>,
) -> (String, String) {
    let error = answer.unwrap_err();
    let error =
        error.as_service_error().unwrap_or_else(|| panic!("no error of the service: {error:?}"));
    let text = |text: Option<&str>| text.unwrap_or_default().to_owned();
    (text(error.code()), text(error.message()))
}

/// The numbers of songs.
pub(crate) fn numbers(items: &[Item]) -> Vec<i64> {
    items.iter().map(|item| item["number"].as_n().unwrap().parse().unwrap()).collect()
}
