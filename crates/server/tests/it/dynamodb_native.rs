//! Native tables through DynamoDB's door, and its tables through the others.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use stonecrop::{Database, ManualClock, Options, Timestamp};
use stonecrop_server::Config;

use crate::dynamodb::{ask, refused};
use crate::harness::{Running, start, start_on, start_with};

/// Two families of every type, one of them fresh for a minute.
async fn with_native() -> Running {
    let server = start().await;
    let schema = json!({
        "name": "things",
        "partition_key": "kind string",
        "sort_key": "id u64",
        "families": [
            {"name": "own", "columns": [
                {"name": "count", "type": "int"}, {"name": "ratio", "type": "float"},
                {"name": "at", "type": "timestamp"}, {"name": "day", "type": "date"},
                {"name": "uuid", "type": "uuid"}, {"name": "ok", "type": "bool"},
                {"name": "tree", "type": "map"}]},
            {"name": "scoring", "ttl": "1m", "columns": [{"name": "score", "type": "int"}]},
        ],
        "indexes": [
            {"name": "by_score", "columns": "score i64, id u64 desc"},
            {"name": "inverted", "columns": "id u64, kind string"},
        ],
    });
    server.post("/v1/tables", schema).await.expect(201);
    for id in 1..=3 {
        let set = json!({
            "count": {"Int": 7}, "ratio": {"Float": 0.5}, "at": {"Timestamp": "2027-01-15T08:00:00Z"},
            "day": {"Date": "2027-01-15"}, "uuid": {"Uuid": "00000000-0000-4000-8000-000000000001"},
            "ok": {"Bool": true}, "tree": {"Map": {"a": {"List": [{"Int": 1}]}}},
            "score": {"Int": 10 * id}, "loose": {"Int": 5}});
        patch(&server, id, json!({"set": set})).await;
    }
    server
}

const ROWS: &str = "/v1/tables/things/rows/%5B%22a%22,";

async fn patch(server: &Running, id: u32, change: Value) {
    let path = format!("{ROWS}{id}%5D");
    server.send("PATCH", &path, Some(change)).await.expect(200);
}

/// The cells of a row, as the native API has them.
async fn cells(server: &Running, id: u32) -> Value {
    server.get(&format!("{ROWS}{id}%5D")).await.expect(200)["columns"].clone()
}

fn key(id: u32) -> Value {
    json!({"kind": {"S": "a"}, "id": {"N": id.to_string()}})
}

async fn set(server: &Running, id: u32, attribute: &str, value: Value) {
    let update = json!({
        "TableName": "things", "Key": key(id), "UpdateExpression": "SET #n = :v",
        "ExpressionAttributeNames": {"#n": attribute}, "ExpressionAttributeValues": {":v": value},
    });
    ask(server, "UpdateItem", update).await;
}

#[tokio::test]
async fn a_native_row_is_an_item_with_a_type_for_every_column() {
    let server = with_native().await;
    let item = ask(&server, "GetItem", json!({"TableName": "things", "Key": key(1)})).await;
    let expected = json!({
        "kind": {"S": "a"}, "id": {"N": "1"}, "count": {"N": "7"}, "ratio": {"N": "0.5"},
        "at": {"S": "2027-01-15T08:00:00Z"}, "day": {"S": "2027-01-15"},
        "uuid": {"S": "00000000-0000-4000-8000-000000000001"}, "ok": {"BOOL": true},
        "tree": {"M": {"a": {"L": [{"N": "1"}]}}}, "score": {"N": "10"}, "loose": {"N": "5"},
    });
    assert_eq!(item["Item"], expected);
}

#[tokio::test]
async fn what_is_written_to_a_native_column_has_its_type() {
    let server = with_native().await;
    for (attribute, value, native) in [
        ("count", json!({"N": "8"}), json!({"Int": 8})),
        ("ratio", json!({"N": "0.25"}), json!({"Float": 0.25})),
        ("at", json!({"S": "2028-01-01T00:00:00Z"}), json!({"Timestamp": "2028-01-01T00:00:00Z"})),
        ("day", json!({"S": "2028-02-29"}), json!({"Date": "2028-02-29"})),
        (
            "uuid",
            json!({"S": "00000000-0000-4000-8000-000000000002"}),
            json!({"Uuid": "00000000-0000-4000-8000-000000000002"}),
        ),
        ("ok", json!({"BOOL": false}), json!({"Bool": false})),
        ("tree", json!({"M": {"b": {"S": "x"}}}), json!({"Map": {"b": {"String": "x"}}})),
        ("loose", json!({"N": "6"}), json!({"Decimal": "6"})),
    ] {
        set(&server, 1, attribute, value).await;
        assert_eq!(cells(&server, 1).await[attribute]["value"], native);
    }
    let wrong = json!({
        "TableName": "things", "Key": key(1), "UpdateExpression": "SET #n = :v",
        "ExpressionAttributeNames": {"#n": "count"},
        "ExpressionAttributeValues": {":v": {"N": "1.5"}},
    });
    assert_eq!(refused(&server, "UpdateItem", wrong).await, "ValidationException");
}

#[tokio::test]
async fn an_update_refreshes_the_family_that_it_names_and_no_other() {
    let server = with_native().await;
    let before = cells(&server, 1).await;
    server.clock.advance(Duration::from_secs(90));
    set(&server, 1, "count", json!({"N": "8"})).await;
    let after = cells(&server, 1).await;
    assert_eq!(after["score"]["fresh"], false);
    assert_eq!(after["score"]["fresh_until"], before["score"]["fresh_until"]);
    assert_ne!(after["count"]["written_at"], before["count"]["written_at"]);
    // Even with the value that it has.
    set(&server, 1, "score", json!({"N": "10"})).await;
    assert_eq!(cells(&server, 1).await["score"]["fresh"], true);
    assert_eq!(cells(&server, 1).await["count"]["written_at"], after["count"]["written_at"]);
}

#[tokio::test]
async fn a_put_of_a_native_row_leaves_nothing_that_is_not_in_it() {
    let server = with_native().await;
    server.clock.advance(Duration::from_secs(90));
    let item = json!({"kind": {"S": "a"}, "id": {"N": "1"}, "score": {"N": "10"}});
    ask(&server, "PutItem", json!({"TableName": "things", "Item": item})).await;
    let cells = cells(&server, 1).await;
    assert_eq!(cells.as_object().unwrap().len(), 1, "{cells}");
    assert_eq!(
        (&cells["score"]["value"], &cells["score"]["fresh"]),
        (&json!({"Int": 10}), &json!(true))
    );
}

#[tokio::test]
async fn native_indexes_are_queried_page_by_page() {
    let server = with_native().await;
    for (index, condition, values, expected) in [
        ("by_score", "score = :v", json!({":v": {"N": "20"}}), vec!["2"]),
        ("inverted", "id = :v", json!({":v": {"N": "3"}}), vec!["3"]),
    ] {
        let query = json!({
            "TableName": "things", "IndexName": index, "KeyConditionExpression": condition,
            "ExpressionAttributeValues": values,
        });
        let answer = ask(&server, "Query", query).await;
        let ids: Vec<_> =
            answer["Items"].as_array().unwrap().iter().map(|i| &i["id"]["N"]).collect();
        assert_eq!(ids, expected);
    }
    let mut scan = json!({"TableName": "things", "IndexName": "by_score", "Limit": 1});
    let mut seen = Vec::new();
    loop {
        let page = ask(&server, "Scan", scan.clone()).await;
        seen.extend(page["Items"].as_array().unwrap().iter().map(|item| item["score"].clone()));
        match page.get("LastEvaluatedKey") {
            Some(last) => scan["ExclusiveStartKey"] = last.clone(),
            None => break,
        }
    }
    assert_eq!(seen, [10, 20, 30].map(|score: u32| json!({"N": score.to_string()})));
}

/// A table of the door with a local index and an inverted one.
async fn with_songs(config: Config) -> Running {
    let server = start_with(config).await;
    make_songs(&server).await;
    server
}

async fn make_songs(server: &Running) {
    let key = |partition: &str, sort: &str| {
        json!([{"AttributeName": partition, "KeyType": "HASH"},
            {"AttributeName": sort, "KeyType": "RANGE"}])
    };
    let index = |name: &str, partition: &str, sort: &str| {
        json!({"IndexName": name, "KeySchema": key(partition, sort),
            "Projection": {"ProjectionType": "ALL"}})
    };
    let request = json!({
        "TableName": "songs", "BillingMode": "PAY_PER_REQUEST",
        "AttributeDefinitions": [
            {"AttributeName": "artist", "AttributeType": "S"},
            {"AttributeName": "number", "AttributeType": "N"},
            {"AttributeName": "year", "AttributeType": "N"},
        ],
        "KeySchema": key("artist", "number"),
        "LocalSecondaryIndexes": [index("by-year", "artist", "year")],
        "GlobalSecondaryIndexes": [index("inverted", "number", "artist")],
    });
    ask(server, "CreateTable", request).await;
    for number in 0..5 {
        put(server, number, json!({"year": {"N": (2030 - number).to_string()}})).await;
    }
}

async fn put(server: &Running, number: u32, more: Value) {
    let mut item = json!({"artist": {"S": "ann"}, "number": {"N": number.to_string()}});
    item.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    ask(server, "PutItem", json!({"TableName": "songs", "Item": item})).await;
}

/// How many songs a native query finds, and the plans for it.
async fn native_songs(server: &Running, field: &str, value: Value) -> (usize, String) {
    let request = json!({"prefixes": ["songs"], "explain": true, "columns": ["year"],
        "filter": {"Condition": {"field": field, "operator": "Eq", "value": value}}});
    let answer = server.post("/v1/query", request).await.expect(200);
    (answer["rows"].as_array().unwrap().len(), answer["explanation"][0]["plans"].to_string())
}

#[tokio::test]
async fn rows_written_natively_are_in_the_indexes_of_the_door() {
    let server = with_songs(Config::default()).await;
    let change = json!({"set": {"year": {"Decimal": "1999"}}});
    server
        .send("PATCH", "/v1/tables/songs/rows/%5B%22bob%22,%223%22%5D", Some(change))
        .await
        .expect(200);
    for (index, condition, value, count) in [
        ("inverted", "#k = :v", json!({"N": "3"}), 2),
        ("by-year", "#k = :v", json!({"S": "bob"}), 1),
    ] {
        let name = if index == "inverted" { "number" } else { "artist" };
        let query = json!({
            "TableName": "songs", "IndexName": index, "KeyConditionExpression": condition,
            "ExpressionAttributeNames": {"#k": name}, "ExpressionAttributeValues": {":v": value},
        });
        assert_eq!(ask(&server, "Query", query).await["Count"], count, "{index}");
    }
    let (songs, plans) = native_songs(&server, "number", json!({"Decimal": "3"})).await;
    assert!(songs == 2 && plans.contains("index inverted"), "{songs} {plans}");
    assert!(server.post("/v1/check", json!({"repair": false})).await.expect(200)["found"] == 0);
}

#[tokio::test]
async fn an_index_is_told_of_as_long_as_the_table_has_it() {
    let server = with_songs(Config::default()).await;
    let told = async || {
        let table = ask(&server, "DescribeTable", json!({"TableName": "songs"})).await;
        let names = |field: &str| {
            let list = table["Table"][field].as_array().cloned().unwrap_or_default();
            list.iter()
                .map(|index| index["IndexName"].as_str().unwrap().to_owned())
                .collect::<Vec<_>>()
        };
        (names("LocalSecondaryIndexes"), names("GlobalSecondaryIndexes"))
    };
    assert_eq!(told().await, (vec!["by-year".to_owned()], vec!["inverted".to_owned()]));
    // As if the server had stopped after the table was changed.
    server.send("DELETE", "/v1/tables/songs/indexes/inverted", None).await.expect(204);
    assert_eq!(told().await, (vec!["by-year".to_owned()], vec![]));
    let query = json!({"TableName": "songs", "IndexName": "inverted",
        "KeyConditionExpression": "#n = :v", "ExpressionAttributeNames": {"#n": "number"},
        "ExpressionAttributeValues": {":v": {"N": "3"}}});
    assert_eq!(refused(&server, "Query", query.clone()).await, "ValidationException");
    // As if it had stopped before: what is told of it is there, the index is not.
    let create = json!({"TableName": "songs", "AttributeDefinitions": [
            {"AttributeName": "artist", "AttributeType": "S"},
            {"AttributeName": "number", "AttributeType": "N"}],
        "GlobalSecondaryIndexUpdates": [{"Create": {"IndexName": "inverted",
            "KeySchema": [{"AttributeName": "number", "KeyType": "HASH"},
                {"AttributeName": "artist", "KeyType": "RANGE"}],
            "Projection": {"ProjectionType": "KEYS_ONLY"}}}]});
    ask(&server, "UpdateTable", create.clone()).await;
    server.send("DELETE", "/v1/tables/songs/indexes/inverted", None).await.expect(204);
    ask(&server, "UpdateTable", create).await;
    assert_eq!(told().await.1, ["inverted"]);
    let indexed = || ask(&server, "Query", query.clone());
    let mut count = json!(null);
    for _ in 0..1000 {
        let index = server.get("/v1/tables/songs/indexes/inverted").await.expect(200);
        if index["progress"] == "Complete" {
            count = indexed().await["Count"].clone();
            break;
        }
    }
    assert_eq!(count, 1);
    // One that was made natively is told, too.
    let index = json!({"name": "natively", "columns": "year decimal"});
    server.post("/v1/tables/songs/indexes", index).await.expect(202);
    assert_eq!(told().await.1, ["inverted", "natively"]);
}

#[tokio::test]
async fn a_table_that_is_dropped_and_made_natively_keeps_nothing_of_the_doors() {
    let server = with_songs(Config::default()).await;
    switch(&server, true).await;
    server.send("DELETE", "/v1/tables/songs", None).await.expect(204);
    let schema = json!({"name": "songs", "partition_key": "id string", "families": []});
    server.post("/v1/tables", schema).await.expect(201);
    let told = ask(&server, "DescribeTimeToLive", json!({"TableName": "songs"})).await;
    assert_eq!(told["TimeToLiveDescription"], json!({"TimeToLiveStatus": "DISABLED"}));
}

async fn switch(server: &Running, on: bool) {
    let request = json!({"TableName": "songs",
        "TimeToLiveSpecification": {"Enabled": on, "AttributeName": "until"}});
    ask(server, "UpdateTimeToLive", request).await;
}

const NOW: u64 = 1_800_000_000;

/// When a song is gone, as the native API tells it.
async fn gone_at(server: &Running, number: u32) -> Value {
    let path = format!("/v1/tables/songs/rows/%5B%22ann%22,%22{number}%22%5D");
    let answer = server.get(&path).await;
    if answer.status == 404 {
        return json!("gone");
    }
    let columns = answer.expect(200)["columns"].as_object().unwrap().clone();
    let times: Vec<_> = columns.values().map(|cell| cell["gone_at"].clone()).collect();
    assert!(times.iter().all(|time| *time == times[0]), "{times:?}");
    times[0].clone()
}

/// Waits until a song has this time; the sweep is in the background.
async fn has_time(server: &Running, number: u32, expected: &Value) {
    for _ in 0..10_000 {
        if gone_at(server, number).await == *expected {
            return;
        }
        tokio::task::yield_now().await;
    }
    assert_eq!(gone_at(server, number).await, *expected);
}

#[tokio::test]
async fn an_item_is_gone_everywhere_when_its_time_has_come() {
    let server = with_songs(Config::default()).await;
    switch(&server, true).await;
    let until =
        |seconds: u64| json!({"until": {"N": (NOW + seconds).to_string()}, "year": {"N": "1"}});
    put(&server, 1, until(60)).await;
    put(&server, 2, until(120)).await;
    assert_eq!(gone_at(&server, 1).await, "2027-01-15T08:01:00Z");
    // A change of another attribute keeps the time, one of the time moves it.
    let update = |number: u32, name: &str, value: &str| {
        json!({"TableName": "songs", "UpdateExpression": "SET #n = :v",
            "Key": {"artist": {"S": "ann"}, "number": {"N": number.to_string()}},
            "ExpressionAttributeNames": {"#n": name}, "ExpressionAttributeValues": {":v": {"N": value}}})
    };
    ask(&server, "UpdateItem", update(1, "plays", "7")).await;
    assert_eq!(gone_at(&server, 1).await, "2027-01-15T08:01:00Z");
    ask(&server, "UpdateItem", update(2, "until", &(NOW + 180).to_string())).await;
    assert_eq!(gone_at(&server, 2).await, "2027-01-15T08:03:00Z");
    server.clock.advance(Duration::from_secs(61));
    assert_eq!(gone_at(&server, 1).await, "gone");
    let (songs, _) = native_songs(&server, "artist", json!({"String": "ann"})).await;
    assert_eq!(songs, 4);
    assert_eq!(ask(&server, "Scan", json!({"TableName": "songs"})).await["Count"], 4);
    assert!(server.post("/v1/check", json!({"repair": false})).await.expect(200)["found"] == 0);
}

#[tokio::test]
async fn items_that_were_there_are_given_their_times_when_it_is_switched_on_and_lose_them() {
    let server = with_songs(Config::default()).await;
    for number in 0..1_200 {
        put(&server, number, json!({"until": {"N": (NOW + 600).to_string()}})).await;
    }
    put(&server, 7, json!({"until": {"S": "no number"}})).await;
    assert_eq!(gone_at(&server, 3).await, Value::Null);
    switch(&server, true).await;
    let time = json!("2027-01-15T08:10:00Z");
    for number in [0, 600, 1_199] {
        has_time(&server, number, &time).await;
    }
    assert_eq!(gone_at(&server, 7).await, Value::Null);
    switch(&server, false).await;
    for number in [0, 600, 1_199] {
        has_time(&server, number, &Value::Null).await;
    }
    server.clock.advance(Duration::from_secs(601));
    let count = server.post("/v1/query", json!({"prefixes": ["songs"], "count": true})).await;
    assert_eq!(count.expect(200)["count"], 1_200);
}

#[tokio::test]
async fn items_stay_for_the_delay_after_their_time() {
    let delay = Duration::from_secs(3600);
    let server = with_songs(Config { dynamodb_ttl_delay: delay, ..Config::default() }).await;
    switch(&server, true).await;
    put(&server, 1, json!({"until": {"N": (NOW - 60).to_string()}})).await;
    assert_eq!(gone_at(&server, 1).await, "2027-01-15T08:59:00Z");
    let get = json!({"TableName": "songs", "Key": {"artist": {"S": "ann"}, "number": {"N": "1"}}});
    assert!(ask(&server, "GetItem", get.clone()).await.get("Item").is_some());
    server.clock.advance(Duration::from_secs(3541));
    assert_eq!(ask(&server, "GetItem", get).await, json!({}));
}

#[tokio::test]
async fn a_sweep_that_was_not_done_when_the_server_stopped_is_done_by_the_next() {
    let clock = Arc::new(ManualClock::new(Timestamp::from_micros(NOW as i64 * 1_000_000)));
    let options = Options::default().clock(clock.clone());
    let database = Database::open_with("memory:", options).unwrap();
    let server = start_on(database.clone(), clock.clone(), Config::default()).await;
    make_songs(&server).await;
    put(&server, 1, json!({"until": {"N": (NOW + 60).to_string()}})).await;
    // What is stored when it is switched on, and nothing else yet.
    let path = "/v1/tables/stonecrop.dynamodb/rows/songs";
    let row = server.get(path).await.expect(200);
    let about = row["columns"]["about"]["value"]["String"].as_str().unwrap();
    let mut about: Value = serde_json::from_str(about).unwrap();
    about["ttl"] = json!("until");
    about["ttl_changes"] = json!(1);
    let change = json!({"set": {"about": {"String": about.to_string()}}});
    server.send("PATCH", path, Some(change)).await.expect(200);
    server.stop().await;
    let server = start_on(database, clock, Config::default()).await;
    has_time(&server, 1, &json!("2027-01-15T08:01:00Z")).await;
}
