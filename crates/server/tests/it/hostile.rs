//! Clients that mean no good, or are just slow: all of them are bounded.

use std::time::Duration;

use serde_json::json;
use stonecrop_server::{Config, Limits};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::harness::{Running, start, start_with};

async fn impatient() -> Running {
    let limits = Limits {
        header_time: Duration::from_millis(200),
        idle_time: Duration::from_millis(400),
        connections: 64,
        ..Limits::default()
    };
    start_with(Config { limits, ..Config::default() }).await
}

/// Everything that comes until the server ends the connection.
async fn until_the_end(mut stream: TcpStream) -> String {
    let mut all = Vec::new();
    let ended = tokio::time::timeout(Duration::from_secs(20), stream.read_to_end(&mut all)).await;
    let _ = ended.expect("the server holds the connection open");
    String::from_utf8_lossy(&all).into_owned()
}

async fn send(server: &Running, bytes: &[u8]) -> TcpStream {
    let mut stream = TcpStream::connect(server.address).await.unwrap();
    stream.write_all(bytes).await.unwrap();
    stream
}

async fn is_well(server: &Running) {
    assert_eq!(server.get("/health/ready").await.status, 200);
}

#[tokio::test]
async fn half_a_head_is_not_waited_for() {
    let server = impatient().await;
    for start in [&b""[..], b"P", b"POST /v1/query HTTP/1.1\r\nhost: localhost\r\nx: ", b"PRI * HT"]
    {
        let stream = send(&server, start).await;
        until_the_end(stream).await;
    }
    is_well(&server).await;
}

#[tokio::test]
async fn a_head_that_comes_byte_by_byte_is_not_waited_for() {
    let server = impatient().await;
    let mut stream = send(&server, b"").await;
    // The second one on the connection: the first is answered.
    for head in [&b"GET /health/live HTTP/1.1\r\nhost: localhost\r\n\r\n"[..], b"GET /"] {
        stream.write_all(head).await.unwrap();
    }
    let ended = tokio::time::timeout(Duration::from_secs(20), async {
        while stream.write_all(b"a").await.is_ok() {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    });
    ended.await.expect("the server takes byte after byte");
    is_well(&server).await;
}

#[tokio::test]
async fn a_client_may_rest_between_requests_for_longer_than_a_head_may_take() {
    let limits = Limits { header_time: Duration::from_millis(50), ..Limits::default() };
    let server = start_with(Config { limits, ..Config::default() }).await;
    let mut stream = send(&server, b"").await;
    for _ in 0..2 {
        stream.write_all(b"GET /health/live HTTP/1.1\r\nhost: localhost\r\n\r\n").await.unwrap();
        let mut answer = Vec::new();
        while !answer.ends_with(b"alive\n") {
            assert_ne!(stream.read_buf(&mut answer).await.unwrap(), 0, "it was cut off");
        }
        tokio::time::sleep(Duration::from_millis(400)).await;
    }
}

#[tokio::test]
async fn half_a_body_is_not_waited_for() {
    let server = impatient().await;
    let head = b"POST /v1/query HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n\
        content-length: 100\r\n\r\n{\"prefixes\"";
    let answer = until_the_end(send(&server, head).await).await;
    assert!(answer.starts_with("HTTP/1.1 408"), "{answer}");
    assert!(answer.contains("slow-client"));
    is_well(&server).await;
}

#[tokio::test]
async fn an_idle_connection_is_ended() {
    let server = impatient().await;
    let stream = send(&server, b"GET /health/live HTTP/1.1\r\nhost: localhost\r\n\r\n").await;
    let answer = until_the_end(stream).await;
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
}

#[tokio::test]
async fn a_client_that_does_not_take_its_answer_is_cut_off() {
    let server = impatient().await;
    server.make_accounts().await;
    let long = "x".repeat(10_000);
    let writes: Vec<_> = (0..1_000)
        .map(|n| json!({"key": n.to_string(), "set": {"name": {"String": long}}}))
        .collect();
    // Each is short enough to be there in time on a busy machine too.
    for writes in writes.chunks(20) {
        server.post("/v1/tables/accounts/rows", json!({"writes": writes})).await.expect(200);
    }
    let request = b"GET /v1/tables/accounts/export HTTP/1.1\r\nhost: localhost\r\n\r\n";
    let mut stream = send(&server, request).await;
    // More than the buffers of both ends hold is on its way, and nobody takes it.
    let mut cut_off = false;
    for _ in 0..200 {
        tokio::time::sleep(Duration::from_millis(50)).await;
        let metrics = server.get("/metrics").await.text();
        if metrics.contains("stonecrop_http_connections 1\n") {
            cut_off = true;
            break;
        }
    }
    assert!(cut_off);
    let mut rest = Vec::new();
    let _ = stream.read_to_end(&mut rest).await;
    assert!(rest.len() < 10_000_000, "{} bytes came", rest.len());
}

#[tokio::test]
async fn a_body_of_a_gigabyte_is_refused_at_its_head() {
    let server = start().await;
    let head = b"POST /v1/query HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n\
        content-length: 1073741824\r\n\r\n{";
    let mut stream = send(&server, head).await;
    let mut start = [0; 12];
    stream.read_exact(&mut start).await.unwrap();
    assert_eq!(&start, b"HTTP/1.1 413");
    is_well(&server).await;
}

#[tokio::test]
async fn a_body_without_a_length_is_refused_when_it_is_too_large() {
    let limits = Limits { body_bytes: 100_000, ..Limits::default() };
    let server = start_with(Config { limits, ..Config::default() }).await;
    let head = b"POST /v1/query HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n\
        transfer-encoding: chunked\r\n\r\n";
    let mut stream = send(&server, head).await;
    let chunk = [b"2710\r\n".as_slice(), &[b' '; 10_000], b"\r\n"].concat();
    for _ in 0..11 {
        stream.write_all(&chunk).await.unwrap();
    }
    let mut start = [0; 12];
    stream.read_exact(&mut start).await.unwrap();
    assert_eq!(&start, b"HTTP/1.1 413");
    is_well(&server).await;
}

#[tokio::test]
async fn a_head_that_is_too_large_is_refused() {
    let server = start().await;
    let mut head = b"GET /v1/tables HTTP/1.1\r\nhost: localhost\r\nx: ".to_vec();
    head.resize(40_000, b'y');
    let answer = until_the_end(send(&server, &head).await).await;
    assert!(answer.starts_with("HTTP/1.1 431"), "{answer}");
    is_well(&server).await;
}

#[tokio::test]
async fn deep_json_is_refused() {
    let server = start().await;
    server.make_accounts().await;
    for open in ["[", "{\"a\":", "{\"List\": [", "{\"logical\": \"Not\", \"children\": ["] {
        let body = format!("{{\"prefixes\": [\"accounts\"], \"filter\": {}", open.repeat(100_000));
        let request = axum::http::Request::post(format!("http://{}/v1/query", server.address))
            .header("content-type", "application/json")
            .body(axum::body::Body::from(body))
            .unwrap();
        let (code, _) = server.request(request).await.problem(400);
        assert_eq!(code, "bad-json");
    }
    is_well(&server).await;
}

#[tokio::test]
async fn what_is_not_http_is_refused() {
    let server = impatient().await;
    for garbage in [
        &b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc"[..],
        b"\0\0\0\0\0\0\0\0\r\n\r\n",
        b"GET / HTTP/9.9\r\n\r\n",
        b"GET /\xff\xfe HTTP/1.1\r\nhost: localhost\r\n\r\n",
    ] {
        until_the_end(send(&server, garbage).await).await;
    }
    is_well(&server).await;
}

#[tokio::test]
async fn connections_beyond_the_limit_wait_for_a_place() {
    let limits =
        Limits { connections: 4, idle_time: Duration::from_millis(400), ..Limits::default() };
    let server = start_with(Config { limits, ..Config::default() }).await;
    let mut held = Vec::new();
    for _ in 0..12 {
        held.push(TcpStream::connect(server.address).await.unwrap());
    }
    // The idle ones are ended, and then it is this one's turn.
    is_well(&server).await;
}

#[tokio::test]
async fn ten_thousand_connections_hold_up_nobody() {
    use rustix::process::{Resource, getrlimit, setrlimit};
    let mut files = getrlimit(Resource::Nofile);
    files.current = files.maximum;
    setrlimit(Resource::Nofile, files).unwrap();
    // Both ends are in this process, among the other tests.
    assert!(files.current.is_none_or(|most| most > 19_000), "ulimit -Hn: {:?}", files.current);
    let limits = Limits { idle_time: Duration::from_secs(2), ..Limits::default() };
    let server = start_with(Config { limits, ..Config::default() }).await;
    let mut held = Vec::new();
    for _ in 0..10_000 {
        let connecting = TcpStream::connect(server.address);
        // Those that there is no place for wait in the system's queue, which is short.
        match tokio::time::timeout(Duration::from_secs(10), connecting).await {
            Ok(stream) => held.push(stream.unwrap()),
            Err(_) => break,
        }
    }
    assert!(held.len() >= limits.connections, "only {} connections", held.len());
    is_well(&server).await;
}

#[tokio::test]
async fn requests_beyond_the_limit_are_told_to_come_again() {
    let limits =
        Limits { requests: 0, requests_wait: Duration::from_millis(50), ..Limits::default() };
    let server = start_with(Config { limits, ..Config::default() }).await;
    let answer = server.get("/v1/tables").await;
    assert_eq!(answer.headers["retry-after"], "1");
    assert_eq!(answer.problem(503).0, "busy");
    assert_eq!(server.get("/health/live").await.status, 200);
}
