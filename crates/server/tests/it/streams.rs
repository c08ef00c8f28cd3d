//! Streams of DynamoDB's door as time goes by; tests/dynamodb has the rest.

use std::time::Duration;

use axum::body::Body;
use axum::http::Request;
use serde_json::{Value, json};

use crate::harness::{Answer, Running, start};

const HOUR: Duration = Duration::from_secs(3600);

async fn send(server: &Running, target: &str, body: Value) -> Answer {
    let request = Request::post(format!("http://{}/", server.address))
        .header("content-type", "application/x-amz-json-1.0")
        .header("x-amz-target", target)
        .header("x-amz-date", "20260101T000000Z")
        .header(
            "authorization",
            "AWS4-HMAC-SHA256 Credential=a/20260101/us-east-1/dynamodb/aws4_request, \
             SignedHeaders=host, Signature=0",
        )
        .body(Body::from(body.to_string()));
    server.request(request.unwrap()).await
}

async fn of_tables(server: &Running, operation: &str, body: Value) -> Value {
    send(server, &format!("DynamoDB_20120810.{operation}"), body).await.expect(200)
}

async fn of_streams(server: &Running, operation: &str, body: Value) -> Value {
    send(server, &format!("DynamoDBStreams_20120810.{operation}"), body).await.expect(200)
}

async fn refused(server: &Running, operation: &str, body: Value) -> String {
    let target = format!("DynamoDBStreams_20120810.{operation}");
    let answer = send(server, &target, body).await.expect(400);
    let kind = answer["__type"].as_str().unwrap();
    kind.split('#').next_back().unwrap().to_owned()
}

fn view() -> Value {
    json!({"StreamEnabled": true, "StreamViewType": "NEW_AND_OLD_IMAGES"})
}

/// A table with a stream, and the ARN of that.
async fn with_stream() -> (Running, String) {
    let server = start().await;
    let request = json!({
        "TableName": "songs",
        "BillingMode": "PAY_PER_REQUEST",
        "AttributeDefinitions": [{"AttributeName": "pk", "AttributeType": "S"}],
        "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}],
        "StreamSpecification": view(),
    });
    let made = of_tables(&server, "CreateTable", request).await;
    let arn = made["TableDescription"]["LatestStreamArn"].as_str().unwrap().to_owned();
    (server, arn)
}

async fn put(server: &Running, pk: &str, n: u32) {
    let item = json!({"pk": {"S": pk}, "n": {"N": n.to_string()}});
    of_tables(server, "PutItem", json!({"TableName": "songs", "Item": item})).await;
}

async fn switch(server: &Running, specification: Value) -> Value {
    let request = json!({"TableName": "songs", "StreamSpecification": specification});
    of_tables(server, "UpdateTable", request).await["TableDescription"].clone()
}

async fn shard(server: &Running, arn: &str) -> Value {
    let told = of_streams(server, "DescribeStream", json!({"StreamArn": arn})).await;
    told["StreamDescription"]["Shards"][0].clone()
}

async fn place(server: &Running, arn: &str, kind: &str) -> Value {
    let shard = shard(server, arn).await["ShardId"].clone();
    let request = json!({"StreamArn": arn, "ShardId": shard, "ShardIteratorType": kind});
    of_streams(server, "GetShardIterator", request).await["ShardIterator"].clone()
}

async fn read(server: &Running, place: &Value) -> (Vec<String>, Value) {
    let answer = of_streams(server, "GetRecords", json!({"ShardIterator": place})).await;
    let of = |record: &Value| {
        let keys = &record["dynamodb"]["Keys"];
        format!("{} {}", record["eventName"].as_str().unwrap(), keys["pk"]["S"].as_str().unwrap())
    };
    let records = answer["Records"].as_array().unwrap().iter().map(of).collect();
    (records, answer["NextShardIterator"].clone())
}

#[tokio::test]
async fn an_iterator_lasts_fifteen_minutes() {
    let (server, arn) = with_stream().await;
    put(&server, "a", 1).await;
    let place = place(&server, &arn, "TRIM_HORIZON").await;
    server.clock.advance(Duration::from_secs(15 * 60));
    assert_eq!(read(&server, &place).await.0, ["INSERT a"]);
    server.clock.advance(Duration::from_secs(1));
    let kind = refused(&server, "GetRecords", json!({"ShardIterator": place})).await;
    assert_eq!(kind, "ExpiredIteratorException");
}

#[tokio::test]
async fn records_are_kept_for_a_day_and_then_refused() {
    let (server, arn) = with_stream().await;
    put(&server, "a", 1).await;
    let shard = shard(&server, &arn).await;
    let first = shard["SequenceNumberRange"]["StartingSequenceNumber"].clone();
    server.clock.advance(24 * HOUR - Duration::from_secs(60));
    put(&server, "b", 1).await;
    let early = place(&server, &arn, "TRIM_HORIZON").await;
    assert_eq!(read(&server, &early).await.0, ["INSERT a", "INSERT b"]);
    server.clock.advance(Duration::from_secs(60));
    let kind = refused(&server, "GetRecords", json!({"ShardIterator": early})).await;
    assert_eq!(kind, "TrimmedDataAccessException");
    let at = json!({"StreamArn": arn, "ShardId": shard["ShardId"], "SequenceNumber": first,
        "ShardIteratorType": "AT_SEQUENCE_NUMBER"});
    assert_eq!(refused(&server, "GetShardIterator", at).await, "TrimmedDataAccessException");
    let now = place(&server, &arn, "TRIM_HORIZON").await;
    assert_eq!(read(&server, &now).await.0, ["INSERT b"]);
    server.clock.advance(24 * HOUR);
    let empty = place(&server, &arn, "TRIM_HORIZON").await;
    assert_eq!(read(&server, &empty).await.0, [""; 0]);
}

#[tokio::test]
async fn a_stream_that_was_switched_off_ends_and_the_next_begins_after_it() {
    let (server, first) = with_stream().await;
    put(&server, "a", 1).await;
    let told = switch(&server, json!({"StreamEnabled": false})).await;
    assert_eq!(told["LatestStreamArn"], first.as_str(), "its name is still told");
    put(&server, "unseen", 1).await;
    server.clock.advance(HOUR);
    let told = switch(&server, view()).await;
    let second = told["LatestStreamArn"].as_str().unwrap().to_owned();
    assert_ne!(first, second);
    put(&server, "b", 1).await;

    let (records, next) = read(&server, &place(&server, &first, "TRIM_HORIZON").await).await;
    assert_eq!((records, next), (vec!["INSERT a".to_owned()], Value::Null), "it is closed");
    let (records, next) = read(&server, &place(&server, &first, "LATEST").await).await;
    assert_eq!((records.len(), next), (0, Value::Null));
    let (records, next) = read(&server, &place(&server, &second, "TRIM_HORIZON").await).await;
    assert_eq!(records, ["INSERT b"]);
    put(&server, "b", 2).await;
    assert_eq!(read(&server, &next).await.0, ["MODIFY b"]);
    assert!(
        shard(&server, &first).await["SequenceNumberRange"]["EndingSequenceNumber"].is_string()
    );

    let list = json!({"TableName": "songs", "Limit": 1});
    let page = of_streams(&server, "ListStreams", list).await;
    assert_eq!(page["Streams"][0]["StreamArn"], first.as_str());
    let rest = json!({"ExclusiveStartStreamArn": page["LastEvaluatedStreamArn"]});
    let page = of_streams(&server, "ListStreams", rest).await;
    assert_eq!(page["Streams"][0]["StreamArn"], second.as_str());
    assert_eq!(page.get("LastEvaluatedStreamArn"), None);

    server.clock.advance(23 * HOUR + Duration::from_secs(1));
    let gone = refused(&server, "DescribeStream", json!({"StreamArn": first})).await;
    assert_eq!(gone, "ResourceNotFoundException");
}

#[tokio::test]
async fn an_iterator_does_not_begin_outside_of_its_stream() {
    let (server, arn) = with_stream().await;
    put(&server, "a", 1).await;
    let shard = shard(&server, &arn).await["ShardId"].clone();
    for number in ["100000000000000000000", "100000000000000000002", "99999999999999999999999999"] {
        let request = json!({"StreamArn": arn, "ShardId": shard, "SequenceNumber": number,
            "ShardIteratorType": "AFTER_SEQUENCE_NUMBER"});
        let kind = refused(&server, "GetShardIterator", request).await;
        assert_eq!(kind, "ValidationException", "{number}");
    }
    let children = json!({"StreamArn": arn,
        "ShardFilter": {"Type": "CHILD_SHARDS", "ShardId": shard}});
    let told = of_streams(&server, "DescribeStream", children).await;
    assert_eq!(told["StreamDescription"]["Shards"], json!([]));
}

#[tokio::test]
async fn an_item_whose_time_is_over_comes_back_as_a_new_one() {
    let (server, arn) = with_stream().await;
    let ttl = json!({"TableName": "songs",
        "TimeToLiveSpecification": {"AttributeName": "until", "Enabled": true}});
    of_tables(&server, "UpdateTimeToLive", ttl).await;
    let item = json!({"pk": {"S": "a"}, "until": {"N": "1800000010"}});
    of_tables(&server, "PutItem", json!({"TableName": "songs", "Item": item})).await;
    server.clock.advance(Duration::from_secs(60));
    put(&server, "a", 1).await;
    let place = place(&server, &arn, "TRIM_HORIZON").await;
    assert_eq!(read(&server, &place).await.0, ["INSERT a", "INSERT a"]);
}
