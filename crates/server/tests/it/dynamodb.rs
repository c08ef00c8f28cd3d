//! DynamoDB's door, as a client without an SDK sees it; tests/dynamodb has the SDK.

use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::http::Request;
use serde_json::{Value, json};
use stonecrop::{Database, ManualClock, Options, Timestamp};
use stonecrop_server::{Config, Scope, Tokens};

use crate::harness::{Answer, Running, start, start_on, start_with};

const SIGNED: &str = "AWS4-HMAC-SHA256 Credential=a/20260101/us-east-1/dynamodb/aws4_request, \
                      SignedHeaders=host, Signature=0";

async fn send(server: &Running, operation: &str, authorization: &str, body: String) -> Answer {
    let request = Request::post(format!("http://{}/", server.address))
        .header("content-type", "application/x-amz-json-1.0")
        .header("x-amz-target", format!("DynamoDB_20120810.{operation}"))
        .header("x-amz-date", "20260101T000000Z")
        .header("authorization", authorization)
        .body(Body::from(body));
    server.request(request.unwrap()).await
}

pub(crate) async fn ask(server: &Running, operation: &str, body: Value) -> Value {
    send(server, operation, SIGNED, body.to_string()).await.expect(200)
}

pub(crate) async fn refused(server: &Running, operation: &str, body: Value) -> String {
    let answer = send(server, operation, SIGNED, body.to_string()).await.expect(400);
    let kind = answer["__type"].as_str().unwrap().to_owned();
    kind.split('#').next_back().unwrap().to_owned()
}

async fn with_table() -> Running {
    let server = start().await;
    let request = json!({
        "TableName": "songs",
        "BillingMode": "PAY_PER_REQUEST",
        "AttributeDefinitions": [
            {"AttributeName": "artist", "AttributeType": "S"},
            {"AttributeName": "number", "AttributeType": "N"},
            {"AttributeName": "year", "AttributeType": "N"},
        ],
        "KeySchema": [
            {"AttributeName": "artist", "KeyType": "HASH"},
            {"AttributeName": "number", "KeyType": "RANGE"},
        ],
        "LocalSecondaryIndexes": [{
            "IndexName": "by-year",
            "KeySchema": [
                {"AttributeName": "artist", "KeyType": "HASH"},
                {"AttributeName": "year", "KeyType": "RANGE"},
            ],
            "Projection": {"ProjectionType": "ALL"},
        }],
    });
    ask(&server, "CreateTable", request).await;
    for number in 0..5 {
        let item = json!({
            "artist": {"S": "ann"}, "number": {"N": number.to_string()},
            "year": {"N": (2030 - number).to_string()},
        });
        ask(&server, "PutItem", json!({"TableName": "songs", "Item": item})).await;
    }
    server
}

fn key(number: u32) -> Value {
    json!({"artist": {"S": "ann"}, "number": {"N": number.to_string()}})
}

fn numbers(answer: &Value) -> Vec<&str> {
    let items = answer["Items"].as_array().unwrap();
    items.iter().map(|item| item["number"]["N"].as_str().unwrap()).collect()
}

#[tokio::test]
async fn what_was_put_is_got() {
    let server = with_table().await;
    let answer = ask(&server, "GetItem", json!({"TableName": "songs", "Key": key(3)})).await;
    let item = json!({"artist": {"S": "ann"}, "number": {"N": "3"}, "year": {"N": "2027"}});
    assert_eq!(answer, json!({"Item": item}));
    let answer = ask(&server, "GetItem", json!({"TableName": "songs", "Key": key(9)})).await;
    assert_eq!(answer, json!({}));
}

#[tokio::test]
async fn an_update_is_done_if_its_condition_is_true() {
    let server = with_table().await;
    let update = |least: u32| {
        json!({
            "TableName": "songs", "Key": key(1), "UpdateExpression": "ADD plays :one",
            "ConditionExpression": "#y > :least", "ExpressionAttributeNames": {"#y": "year"},
            "ExpressionAttributeValues": {
                ":one": {"N": "1"}, ":least": {"N": least.to_string()},
            },
            "ReturnValues": "UPDATED_NEW",
        })
    };
    let answer = ask(&server, "UpdateItem", update(2000)).await;
    assert_eq!(answer, json!({"Attributes": {"plays": {"N": "1"}}}));
    let kind = refused(&server, "UpdateItem", update(2029)).await;
    assert_eq!(kind, "ConditionalCheckFailedException");
}

#[tokio::test]
async fn a_query_goes_along_the_key_or_an_index_page_by_page() {
    let server = with_table().await;
    let query = |more: Value| {
        let mut query = json!({
            "TableName": "songs", "KeyConditionExpression": "artist = :a",
            "ExpressionAttributeValues": {":a": {"S": "ann"}},
        });
        query.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        query
    };
    let answer = ask(&server, "Query", query(json!({"ScanIndexForward": false}))).await;
    assert_eq!(numbers(&answer), ["4", "3", "2", "1", "0"]);
    let page = query(json!({"IndexName": "by-year", "Limit": 3}));
    let first = ask(&server, "Query", page.clone()).await;
    assert_eq!(numbers(&first), ["4", "3", "2"]);
    let mut page = page;
    page["ExclusiveStartKey"] = first["LastEvaluatedKey"].clone();
    let second = ask(&server, "Query", page).await;
    assert_eq!(numbers(&second), ["1", "0"]);
}

#[tokio::test]
async fn a_scan_sees_all_items_and_filters_them() {
    let server = with_table().await;
    let scan = json!({
        "TableName": "songs", "FilterExpression": "#y >= :y",
        "ExpressionAttributeNames": {"#y": "year"},
        "ExpressionAttributeValues": {":y": {"N": "2029"}},
    });
    let answer = ask(&server, "Scan", scan).await;
    assert_eq!((numbers(&answer), &answer["ScannedCount"]), (vec!["0", "1"], &json!(5)));
}

#[tokio::test]
async fn a_transaction_is_done_whole_or_not_at_all() {
    let server = with_table().await;
    let write = |condition: &str| {
        json!({"TransactItems": [
            {"Delete": {"TableName": "songs", "Key": key(0)}},
            {"ConditionCheck": {
                "TableName": "songs", "Key": key(1), "ConditionExpression": condition,
            }},
        ]})
    };
    let answer =
        send(&server, "TransactWriteItems", SIGNED, write("attribute_exists(x)").to_string());
    let answer = answer.await.expect(400);
    assert_eq!(answer["CancellationReasons"][1]["Code"], "ConditionalCheckFailed");
    let scan = json!({"TableName": "songs"});
    assert_eq!(ask(&server, "Scan", scan.clone()).await["Count"], 5);
    ask(&server, "TransactWriteItems", write("attribute_exists(artist)")).await;
    assert_eq!(ask(&server, "Scan", scan).await["Count"], 4);
}

#[tokio::test]
async fn a_token_is_known_after_a_restart_and_for_ten_minutes() {
    let folder = tempfile::tempdir().unwrap();
    let clock = Arc::new(ManualClock::new(Timestamp::from_micros(1_800_000_000_000_000)));
    let open = || {
        let options = Options::default().clock(clock.clone());
        let database = Database::open_with(folder.path(), options).unwrap();
        start_on(database, clock.clone(), Config::default())
    };
    let server = open().await;
    let table = json!({
        "TableName": "counts", "BillingMode": "PAY_PER_REQUEST",
        "AttributeDefinitions": [{"AttributeName": "id", "AttributeType": "S"}],
        "KeySchema": [{"AttributeName": "id", "KeyType": "HASH"}],
    });
    ask(&server, "CreateTable", table).await;
    let id = json!({"id": {"S": "a"}});
    let count = json!({"ClientRequestToken": "once", "TransactItems": [{"Update": {
        "TableName": "counts", "Key": id, "UpdateExpression": "ADD n :one",
        "ExpressionAttributeValues": {":one": {"N": "1"}},
    }}]});
    let get = json!({"TableName": "counts", "Key": id});
    ask(&server, "TransactWriteItems", count.clone()).await;
    server.stop().await;

    let server = open().await;
    ask(&server, "TransactWriteItems", count.clone()).await;
    assert_eq!(ask(&server, "GetItem", get.clone()).await["Item"]["n"], json!({"N": "1"}));
    clock.advance(Duration::from_secs(600));
    ask(&server, "TransactWriteItems", count).await;
    assert_eq!(ask(&server, "GetItem", get).await["Item"]["n"], json!({"N": "2"}));
    let tables = ask(&server, "ListTables", json!({})).await;
    assert_eq!(tables, json!({"TableNames": ["counts"]}));
}

#[tokio::test]
async fn what_is_no_operation_and_what_is_no_json_are_refused() {
    let server = start().await;
    assert_eq!(refused(&server, "DropEverything", json!({})).await, "UnknownOperationException");
    let answer = send(&server, "ListTables", SIGNED, "{".to_owned()).await;
    assert!(answer.headers.contains_key("x-amz-crc32"));
    assert_eq!(answer.headers["x-amzn-requestid"].len(), 52);
    let answer = answer.expect(400);
    assert_eq!(answer["__type"], "com.amazon.coral.service#SerializationException");
}

#[tokio::test]
async fn a_table_made_through_the_door_is_one_of_the_database() {
    let server = with_table().await;
    let table = server.get("/v1/tables/songs").await.expect(200);
    assert_eq!(table["name"], "songs");
    let query = json!({"prefixes": ["songs"], "count": true});
    let answer = server.post("/v1/query", query).await.expect(200);
    assert_eq!(answer["count"], 5);
}

#[tokio::test]
async fn with_tokens_a_signature_is_not_enough() {
    let (token, line) = Tokens::create(Scope::Read, "");
    let tokens = Some(line.parse().unwrap());
    let server = start_with(Config { tokens, ..Config::default() }).await;
    let kind = refused(&server, "ListTables", json!({})).await;
    assert_eq!(kind, "UnrecognizedClientException");
    let bearer = format!("Bearer {token}");
    let tables = send(&server, "ListTables", &bearer, "{}".to_owned()).await.expect(200);
    assert_eq!(tables, json!({"TableNames": []}));
    let answer = send(&server, "PutItem", &bearer, "{}".to_owned()).await.expect(400);
    assert_eq!(answer["__type"], "com.amazon.coral.service#AccessDeniedException");
}

#[tokio::test]
async fn a_transaction_of_statements_reads_items_by_their_keys() {
    let server = with_table().await;
    let select = |number: u32, more: &str| {
        let text =
            format!("SELECT \"year\" FROM songs WHERE artist = 'ann' AND \"number\" = {number}");
        json!({"Statement": format!("{text}{more}")})
    };
    let statements = [select(1, ""), select(9, ""), select(2, " AND \"year\" = 1")];
    let answer = ask(&server, "ExecuteTransaction", json!({"TransactStatements": statements}));
    let expected = json!([{"Item": {"year": {"N": "2029"}}}, {}, {}]);
    assert_eq!(answer.await["Responses"], expected);
    let whole = json!([{"Statement": "SELECT * FROM songs WHERE artist = 'ann'"}]);
    let kind = refused(&server, "ExecuteTransaction", json!({"TransactStatements": whole})).await;
    assert_eq!(kind, "ValidationException");
}

#[tokio::test]
async fn a_statement_that_reads_needs_less_than_one_that_writes() {
    let (token, line) = Tokens::create(Scope::Read, "");
    let tokens = Some(line.parse().unwrap());
    let server = start_with(Config { tokens, ..Config::default() }).await;
    let bearer = format!("Bearer {token}");
    let run = async |statement: &str| {
        let body = json!({"Statement": statement}).to_string();
        let answer = send(&server, "ExecuteStatement", &bearer, body).await.expect(400);
        answer["__type"].as_str().unwrap().split('#').next_back().unwrap().to_owned()
    };
    // There is no such table, which only those are told who may look.
    assert_eq!(run("SELECT * FROM songs WHERE id = 1").await, "ResourceNotFoundException");
    assert_eq!(run("INSERT INTO songs VALUE {'id': 1}").await, "AccessDeniedException");
    assert_eq!(run("DELETE FROM songs WHERE id = 1").await, "AccessDeniedException");
}
