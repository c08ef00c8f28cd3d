use std::time::Duration;

use serde_json::{Value as Json, json};
use stonecrop::{ColumnType, Database, Family, TableSchema, Value};
use stonecrop_dynamodb::value::decode_item;

use super::*;
use crate::Config;
use crate::dynamodb::input::Input;
use crate::dynamodb::{create, time_to_live, transact};

const TTL: i64 = 4_000_000_000;

/// A server with a table whose items have no time to live.
async fn with_table() -> App {
    let app = App::new(Database::memory(), Config::default());
    let table = json!({
        "TableName": "sessions", "BillingMode": "PAY_PER_REQUEST",
        "AttributeDefinitions": [{"AttributeName": "pk", "AttributeType": "S"}],
        "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}],
    });
    create::create(&app, Input::of(table)).await.unwrap();
    app
}

/// A put as a request begins it: with what is told of the table now.
async fn begun(app: &App) -> Change {
    begun_in(app, "sessions", json!({"pk": {"S": "a"}, "ends": {"N": TTL.to_string()}})).await
}

async fn begun_in(app: &App, table: &str, item: Json) -> Change {
    let known = app.known(table).await.unwrap();
    let item = decode_item(item).unwrap();
    Change {
        row_key: known.key_in(&item).unwrap(),
        key: Item::new(),
        known,
        action: Action::Put(item),
        condition: None,
        tells_item: false,
        keeps_items: false,
        now: app.database.now(),
    }
}

/// Switches time to live on, and waits until the rows that are there have their times.
async fn switch_on(app: &App) {
    let wish: Json = json!({
        "TableName": "sessions",
        "TimeToLiveSpecification": {"Enabled": true, "AttributeName": "ends"},
    });
    time_to_live::update(app, Input::of(wish)).await.unwrap();
    loop {
        let about = app.known("sessions").await.unwrap().about.clone();
        if about.ttl_changes == about.ttl_swept {
            return;
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

fn check_has_its_time(app: &App) {
    let row = app.database.table("sessions").unwrap().get("a").unwrap().unwrap();
    let times: Vec<_> = row.columns().map(|(_, cell)| cell.gone_at).collect();
    assert_eq!(times, [Timestamp::from_micros(TTL * 1_000_000)]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_write_that_began_before_time_to_live_has_its_time_all_the_same() {
    let app = with_table().await;
    let change = begun(&app).await;
    switch_on(&app).await;
    app.change(change).await.unwrap();
    check_has_its_time(&app);
}

#[tokio::test(flavor = "multi_thread")]
async fn so_do_batches_and_transactions() {
    let app = with_table().await;
    let batch = vec![begun(&app).await];
    let transaction = [Arc::new(begun(&app).await)];
    switch_on(&app).await;
    app.change_all(batch).await.unwrap();
    check_has_its_time(&app);
    app.database.table("sessions").unwrap().write(Write::delete("a")).unwrap();
    let done = transact::commit(&app, &transaction, None).await.unwrap();
    assert!(matches!(done, transact::Committed::Now(_)));
    check_has_its_time(&app);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_put_that_began_before_its_column_had_a_type_has_that_type() {
    let app = App::new(Database::memory(), Config::default());
    let schema = TableSchema::new("people", "id string", "").unwrap();
    let people = app.database.create_table(schema).unwrap();
    let item = json!({"id": {"S": "a"}, "age": {"N": "5"}});
    let (change, batch) =
        (begun_in(&app, "people", item.clone()).await, begun_in(&app, "people", item).await);
    let age = || people.get("a").unwrap().unwrap().value("age").cloned();
    people.add_family(Family::new("crm").typed("age", ColumnType::Int)).unwrap();
    app.change(change).await.unwrap();
    assert_eq!(age(), Some(Value::Int(5)));
    people.write(Write::delete("a")).unwrap();
    app.change_all(vec![batch]).await.unwrap();
    assert_eq!(age(), Some(Value::Int(5)));
}

#[tokio::test(flavor = "multi_thread")]
async fn an_item_that_is_there_is_told_before_what_is_wrong_with_another() {
    let app = App::new(Database::memory(), Config::default());
    let family = Family::new("crm").typed("age", ColumnType::Int);
    let schema = TableSchema::new("people", "id string", "").unwrap().family(family);
    let people = app.database.create_table(schema).unwrap();
    let item = json!({"id": {"S": "a"}, "age": {"S": "old"}});
    let insert = async || {
        let change = begun_in(&app, "people", item.clone()).await;
        let Action::Put(item) = change.action else { panic!("not a put") };
        let change = Change { action: Action::Insert(item), ..change };
        app.change(change).await.err().map(|refusal| refusal.kind)
    };
    assert_eq!(insert().await, Some("ValidationException"));
    people.write(Write::put("a")).unwrap();
    assert_eq!(insert().await, Some("DuplicateItemException"));
}
