use std::sync::Arc;
use std::time::Duration;

use serde_json::json;
use stonecrop::{Database, Durability, ManualClock, Options, TableSchema, Timestamp, Write};
use stonecrop_server::Config;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::harness::{start, start_on};

#[tokio::test]
async fn a_server_that_stops_finishes_what_it_has_begun() {
    let server = start().await;
    server.make_accounts().await;
    let mut stream = TcpStream::connect(server.address).await.unwrap();
    let body = json!({"set": {"name": {"String": "Ann"}}}).to_string();
    let head = format!(
        "PATCH /v1/tables/accounts/rows/a1 HTTP/1.1\r\nhost: localhost\r\n\
         content-type: application/json\r\ncontent-length: {}\r\n\r\n",
        body.len()
    );
    stream.write_all(head.as_bytes()).await.unwrap();
    stream.write_all(&body.as_bytes()[..5]).await.unwrap();
    // It is being worked on once it is counted.
    while !server.get("/metrics").await.text().contains("stonecrop_http_in_flight 2\n") {
        tokio::task::yield_now().await;
    }
    let stopping = tokio::spawn(server.stop());
    tokio::time::sleep(Duration::from_millis(100)).await;
    stream.write_all(&body.as_bytes()[5..]).await.unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.unwrap();
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    stopping.await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_full_queue_answers_slow_down() {
    let clock = Arc::new(ManualClock::new(Timestamp::from_micros(1_800_000_000_000_000)));
    let folder = tempfile::tempdir().unwrap();
    let options = Options::default()
        .clock(clock.clone())
        .durability(Durability::Sync)
        .queue(1_000, Duration::from_millis(1));
    let database = Database::open_with(folder.path(), options).unwrap();
    let table = database.create_table(TableSchema::new("t", "n u64", "").unwrap()).unwrap();
    table.write(Write::put(0).set("x", 1)).unwrap();
    let server = Arc::new(start_on(database, clock, Config::default()).await);
    let mut busy = 0;
    for _ in 0..50 {
        let mut tasks = Vec::new();
        for n in 0..64 {
            let server = server.clone();
            tasks.push(tokio::spawn(async move {
                let set = json!({"set": {"x": {"String": "y".repeat(5_000)}}});
                let answer =
                    server.send("PATCH", &format!("/v1/tables/t/rows/{n}"), Some(set)).await;
                let retry = answer.headers.get("retry-after").is_some();
                assert!(answer.status == 200 || answer.status == 503 && retry, "{}", answer.status);
                u32::from(answer.status == 503)
            }));
        }
        for task in tasks {
            busy += task.await.unwrap();
        }
        if busy > 0 {
            break;
        }
    }
    assert!(busy > 0, "the queue was never full");
    assert_eq!(server.get("/health/ready").await.status, 200);
}
