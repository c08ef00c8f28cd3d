//! Changes over HTTP: pages, waiting, events.

use std::time::Duration;

use axum::body::Body;
use axum::http::Request;
use http_body_util::BodyExt;
use serde_json::{Value, json};
use stonecrop_server::{Config, Limits};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use crate::harness::{Running, start, start_with};

async fn make_people(server: &Running) {
    let schema = json!({"name": "people", "partition_key": "id u64", "changes": {"keep": "24h"}});
    let table = server.post("/v1/tables", schema).await.expect(201);
    assert_eq!(table["changes"], json!({"keep": "24h"}));
}

async fn put(server: &Running, id: u64, name: &str) {
    let body = json!({"set": {"name": {"String": name}}});
    server.send("PATCH", &format!("/v1/tables/people/rows/{id}"), Some(body)).await.expect(200);
}

async fn changes(server: &Running, asked: &str) -> Value {
    server.get(&format!("/v1/tables/people/changes{asked}")).await.expect(200)
}

fn numbers(page: &Value) -> Vec<u64> {
    let changes = page["changes"].as_array().unwrap();
    changes.iter().map(|change| change["number"].as_u64().unwrap()).collect()
}

#[tokio::test]
async fn changes_come_in_pages_with_the_rows_before_and_after() {
    let server = start().await;
    make_people(&server).await;
    put(&server, 1, "Ann").await;
    put(&server, 1, "Bob").await;
    server.send("DELETE", "/v1/tables/people/rows/1", None).await.expect(200);
    let page = changes(&server, "?take=2").await;
    assert_eq!((numbers(&page), &page["more"]), (vec![1, 2], &json!(true)));
    assert_eq!(
        page["changes"][1],
        json!({"number": 2, "at": "2027-01-15T08:00:00Z", "key": 1,
            "old": {"name": {"String": "Ann"}}, "new": {"name": {"String": "Bob"}}})
    );
    let rest = changes(&server, &format!("?after={}", page["next"])).await;
    assert_eq!((numbers(&rest), &rest["more"]), (vec![3], &json!(false)));
    assert_eq!(rest["changes"][0]["new"], Value::Null);
    assert_eq!(numbers(&changes(&server, "?after=latest").await), [0; 0]);
}

#[tokio::test]
async fn changes_are_switched_on_and_off_and_what_was_missed_is_told() {
    let server = start().await;
    server.make_accounts().await;
    let path = "/v1/tables/accounts";
    let get = async |after: &str| server.get(&format!("{path}/changes{after}")).await;
    let (code, problem) = get("").await.problem(409);
    assert_eq!(code, "no-changes");
    assert!(problem["hint"].as_str().unwrap().contains("keep"), "{problem}");
    for (keep, told) in [(json!({"keep": "1h"}), json!({"keep": "1h"})), (Value::Null, Value::Null)]
    {
        let table = server.send("PATCH", path, Some(json!({"changes": keep}))).await.expect(200);
        assert_eq!(table["changes"], told);
        server.put_account("a", "adam", 1).await;
    }
    assert_eq!(numbers(&get("").await.expect(200)), [2]);
    let unchanged = server.send("PATCH", path, Some(json!({"lifetimes": []}))).await.expect(200);
    assert_eq!(unchanged["changes"], Value::Null, "what is not named stays");
    server.send("PATCH", path, Some(json!({"changes": {"keep": "1h"}}))).await.expect(200);
    assert_eq!(get("?after=2").await.problem(410).0, "changes-lost");
    let nothing = server.send("PATCH", path, Some(json!({"changes": {"keep": "0s"}}))).await;
    assert_eq!(nothing.problem(400).0, "bad-schema");
}

#[tokio::test]
async fn parameters_that_are_wrong_are_named() {
    let server = start().await;
    make_people(&server).await;
    for (asked, path) in [
        ("?after=x", "after"),
        ("?after=-1", "after"),
        ("?take=0", "take"),
        ("?take=1001", "take"),
        ("?wait=31s", "wait"),
    ] {
        let answer = server.get(&format!("/v1/tables/people/changes{asked}")).await;
        let (code, problem) = answer.problem(400);
        assert_eq!((code.as_str(), &problem["path"]), ("bad-parameter", &json!(path)), "{problem}");
    }
    let unknown = server.get("/v1/tables/nobody/changes").await;
    assert_eq!(unknown.problem(404).0, "no-table");
}

#[tokio::test]
async fn who_waits_is_answered_by_the_next_change_and_holds_up_nobody() {
    // One request at a time: who waits must not be it.
    let limits = Limits { requests: 1, ..Limits::default() };
    let server = start_with(Config { limits, ..Config::default() }).await;
    make_people(&server).await;
    put(&server, 1, "Ann").await;
    let (waiting, ()) = tokio::join!(changes(&server, "?after=1&wait=30s"), put(&server, 2, "Bob"));
    assert_eq!(numbers(&waiting), [2]);
}

#[tokio::test]
async fn who_waits_in_vain_is_told_so_and_kept_meanwhile() {
    let limits = Limits { idle_time: Duration::from_millis(300), ..Limits::default() };
    let server = start_with(Config { limits, ..Config::default() }).await;
    make_people(&server).await;
    let answer = server.get("/v1/tables/people/changes?wait=1s").await;
    // Blanks came first, for nobody to take the connection for dead.
    assert!(answer.text().starts_with(' '), "{}", answer.text());
    assert_eq!(answer.expect(200), json!({"changes": [], "next": 0, "more": false}));
}

#[tokio::test]
async fn who_sends_half_of_the_next_request_meanwhile_is_not_cut_off_for_it() {
    let (header_time, idle_time) = (Duration::from_millis(100), Duration::from_secs(1));
    let limits = Limits { header_time, idle_time, ..Limits::default() };
    let server = start_with(Config { limits, ..Config::default() }).await;
    make_people(&server).await;
    let mut stream = tokio::net::TcpStream::connect(server.address).await.unwrap();
    let head = "GET /v1/tables/people/changes?wait=1s HTTP/1.1\r\nhost: localhost\r\n\r\n";
    stream.write_all(head.as_bytes()).await.unwrap();
    tokio::time::sleep(Duration::from_millis(50)).await;
    stream.write_all(b"GET /").await.unwrap();
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).await.unwrap();
    let answer = String::from_utf8_lossy(&answer);
    assert!(answer.ends_with("\r\n0\r\n\r\n"), "{answer}");
}

#[tokio::test]
async fn more_clients_than_may_wait_are_told_to_come_again() {
    let limits = Limits { followers: 1, ..Limits::default() };
    let server = start_with(Config { limits, ..Config::default() }).await;
    make_people(&server).await;
    let first = follow(&server, "", None).await;
    let second = server.get("/v1/tables/people/changes?wait=1s").await;
    assert_eq!(second.problem(503).0, "busy");
    assert_eq!(numbers(&changes(&server, "").await), [0; 0], "who does not wait is answered");
    drop(first);
}

/// The events of a table, as they come.
struct Events {
    body: hyper::body::Incoming,
    text: String,
}

async fn follow(server: &Running, asked: &str, last: Option<u64>) -> Events {
    let address = format!("http://{}/v1/tables/people/changes{asked}", server.address);
    let mut request = Request::builder().uri(address).header("accept", "text/event-stream");
    request = request.header("accept-encoding", "gzip");
    if let Some(last) = last {
        request = request.header("last-event-id", last.to_string());
    }
    let response = server.client.request(request.body(Body::empty()).unwrap()).await.unwrap();
    assert_eq!(response.status(), 200);
    assert_eq!(response.headers()["content-type"], "text/event-stream");
    assert!(!response.headers().contains_key("content-encoding"));
    Events { body: response.into_body(), text: String::new() }
}

impl Events {
    /// The next event that is no comment; none at the end.
    async fn next(&mut self) -> Option<String> {
        loop {
            if let Some((event, rest)) = self.text.split_once("\n\n") {
                let (event, rest) = (event.to_owned(), rest.to_owned());
                self.text = rest;
                if !event.starts_with(':') {
                    return Some(event);
                }
                continue;
            }
            let frame = self.body.frame().await?.ok()?;
            self.text.push_str(std::str::from_utf8(frame.data_ref()?).unwrap());
        }
    }
}

#[tokio::test]
async fn events_come_as_rows_change_and_go_on_after_the_last_that_was_seen() {
    let server = start().await;
    make_people(&server).await;
    put(&server, 1, "Ann").await;
    let mut events = follow(&server, "", None).await;
    let first = events.next().await.unwrap();
    let (head, data) = first.split_once("\ndata: ").unwrap();
    assert_eq!(head, "id: 1\nevent: change");
    let data: Value = serde_json::from_str(data).unwrap();
    assert_eq!(data["new"], json!({"name": {"String": "Ann"}}));
    put(&server, 2, "Bob").await;
    assert!(events.next().await.unwrap().starts_with("id: 2\n"));
    drop(events);
    put(&server, 3, "Cid").await;
    let mut again = follow(&server, "?after=1", Some(2)).await;
    assert!(again.next().await.unwrap().starts_with("id: 3\n"), "not from 1");
}

#[tokio::test]
async fn events_tell_why_they_end() {
    let server = start().await;
    make_people(&server).await;
    let mut events = follow(&server, "", None).await;
    put(&server, 1, "Ann").await;
    assert!(events.next().await.unwrap().starts_with("id: 1\n"));
    server.send("POST", "/v1/tables/people/truncate", None).await.expect(204);
    let problem = events.next().await.unwrap();
    assert!(problem.starts_with("event: problem\n") && problem.contains("changes-lost"));
    assert_eq!(events.next().await, None);
}

#[tokio::test]
async fn events_and_those_who_wait_end_when_the_server_does() {
    let server = start().await;
    make_people(&server).await;
    let mut events = follow(&server, "", None).await;
    let address = format!("http://{}/v1/tables/people/changes?wait=30s", server.address);
    let request = Request::builder().uri(address).body(Body::empty()).unwrap();
    let waiting = server.client.request(request).await.unwrap();
    server.stop().await;
    assert_eq!(events.next().await, None);
    let page = waiting.into_body().collect().await.unwrap().to_bytes();
    let page: Value = serde_json::from_slice(&page).unwrap();
    assert_eq!(page["changes"], json!([]));
}
