//! Access keys at DynamoDB's door: requests that were signed, and those that only claim it.

use axum::body::Body;
use axum::http::Request;
use flate2::Compression;
use flate2::write::GzEncoder;
use hmac::{Hmac, KeyInit as _, Mac as _};
use http_body_util::BodyExt as _;
use hyper_util::client::legacy::Client;
use hyper_util::rt::TokioExecutor;
use sha2::{Digest as _, Sha256};
use std::io::Write as _;
use stonecrop_server::{AccessKeys, Config, Scope, Tokens};

use crate::harness::{Answer, Running, start_with};

/// The day and the time of the server's clock.
const DAY: &str = "20270115";
const TIME: &str = "20270115T080000Z";
const FILE: &str = "read reader its-secret\nwrite writer her-secret\nadmin owner his-secret";

async fn with_keys() -> Running {
    let access_keys: AccessKeys = FILE.parse().unwrap();
    start_with(Config { access_keys: Some(access_keys), ..Config::default() }).await
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// A request as AWS's clients sign it.
fn signed(host: &str, key: &str, secret: &str, operation: &str, body: &[u8]) -> Request<Body> {
    let target = format!("DynamoDB_20120810.{operation}");
    let scope = format!("{DAY}/here/dynamodb/aws4_request");
    let body_hash = hex(&Sha256::digest(body));
    let request = format!(
        "POST\n/\n\nhost:{host}\nx-amz-date:{TIME}\nx-amz-target:{target}\n\n\
         host;x-amz-date;x-amz-target\n{body_hash}"
    );
    let request_hash = hex(&Sha256::digest(request.as_bytes()));
    let text = format!("AWS4-HMAC-SHA256\n{TIME}\n{scope}\n{request_hash}");
    let mut signature = format!("AWS4{secret}").into_bytes();
    for part in scope.split('/').chain([text.as_str()]) {
        let mut mac = Hmac::<Sha256>::new_from_slice(&signature).unwrap();
        mac.update(part.as_bytes());
        signature = mac.finalize().into_bytes().to_vec();
    }
    let authorization = format!(
        "AWS4-HMAC-SHA256 Credential={key}/{scope},SignedHeaders=host;x-amz-date;x-amz-target,\
         Signature={}",
        hex(&signature)
    );
    Request::post(format!("http://{host}/"))
        .header("content-type", "application/x-amz-json-1.0")
        .header("x-amz-date", TIME)
        .header("x-amz-target", target)
        .header("authorization", authorization)
        .body(Body::from(body.to_vec()))
        .unwrap()
}

async fn send(server: &Running, key: &str, secret: &str, operation: &str) -> Answer {
    let host = server.address.to_string();
    server.request(signed(&host, key, secret, operation, b"{}")).await
}

/// The exception of an answer, and its message.
fn refusal(answer: Answer) -> (String, String) {
    let body = answer.expect(400);
    let text = |name: &str| body[name].as_str().unwrap_or_default().to_owned();
    (text("__type").split('#').nth(1).unwrap().to_owned(), text("message") + &text("Message"))
}

#[tokio::test]
async fn a_key_allows_what_its_scope_says_and_no_more() {
    let server = with_keys().await;
    assert_eq!(send(&server, "reader", "its-secret", "ListTables").await.status, 200);
    let (kind, message) = refusal(send(&server, "reader", "its-secret", "PutItem").await);
    assert_eq!(kind, "AccessDeniedException");
    assert_eq!(message, "these credentials allow to read, and this needs write");
    let (kind, _) = refusal(send(&server, "writer", "her-secret", "PutItem").await);
    assert_eq!(kind, "ValidationException");
    let (kind, _) = refusal(send(&server, "writer", "her-secret", "DeleteTable").await);
    assert_eq!(kind, "AccessDeniedException");
    let (kind, _) = refusal(send(&server, "owner", "his-secret", "DeleteTable").await);
    assert_eq!(kind, "ValidationException");
}

#[tokio::test]
async fn a_wrong_secret_an_unknown_key_and_no_signature_are_told_apart() {
    let server = with_keys().await;
    let (kind, message) = refusal(send(&server, "reader", "her-secret", "ListTables").await);
    assert_eq!(kind, "InvalidSignatureException");
    assert!(message.starts_with("The request signature we calculated"), "{message}");
    let (kind, _) = refusal(send(&server, "nobody", "her-secret", "ListTables").await);
    assert_eq!(kind, "UnrecognizedClientException");
    for authorization in ["", "Basic dXNlcjpwYXNz"] {
        let host = server.address.to_string();
        let mut request = signed(&host, "reader", "its-secret", "ListTables", b"{}");
        request.headers_mut().insert("authorization", authorization.parse().unwrap());
        let (kind, _) = refusal(server.request(request).await);
        assert_eq!(kind, "MissingAuthenticationTokenException");
    }
    let mut request =
        signed(&server.address.to_string(), "reader", "its-secret", "ListTables", b"{}");
    request.headers_mut().insert("authorization", "Bearer its-secret".parse().unwrap());
    assert_eq!(refusal(server.request(request).await).0, "UnrecognizedClientException");
}

#[tokio::test]
async fn a_request_that_was_changed_on_its_way_is_refused() {
    let server = with_keys().await;
    let host = server.address.to_string();
    let good = || signed(&host, "owner", "his-secret", "ListTables", b"{}");
    assert_eq!(server.request(good()).await.status, 200);
    let mut body = good();
    *body.body_mut() = Body::from(r#"{"Limit":1}"#);
    let mut target = good();
    let other = "DynamoDB_20120810.DeleteTable".parse().unwrap();
    target.headers_mut().insert("x-amz-target", other);
    let mut address = good();
    *address.uri_mut() = format!("http://{host}/?more").parse().unwrap();
    let mut second = good();
    second.headers_mut().append("x-amz-target", "DynamoDB_20120810.ListTables".parse().unwrap());
    for changed in [body, target, address, second] {
        assert_eq!(refusal(server.request(changed).await).0, "InvalidSignatureException");
    }
    // What is not in its normal form is no address of this door.
    let mut path = good();
    *path.uri_mut() = format!("http://{host}//").parse().unwrap();
    assert!(!server.request(path).await.headers.contains_key("x-amzn-requestid"));
}

#[tokio::test]
async fn a_signature_is_good_for_a_quarter_of_an_hour() {
    let server = with_keys().await;
    server.clock.advance(std::time::Duration::from_secs(900));
    assert_eq!(send(&server, "reader", "its-secret", "ListTables").await.status, 200);
    server.clock.advance(std::time::Duration::from_secs(1));
    let (kind, message) = refusal(send(&server, "reader", "its-secret", "ListTables").await);
    assert_eq!(kind, "InvalidSignatureException");
    assert!(message.starts_with("Signature expired: 20270115T080000Z is now"), "{message}");
}

#[tokio::test]
async fn a_compressed_body_is_signed_as_it_is_sent() {
    let server = with_keys().await;
    let mut packer = GzEncoder::new(Vec::new(), Compression::fast());
    packer.write_all(b"{}").unwrap();
    let body = packer.finish().unwrap();
    let host = server.address.to_string();
    let mut request = signed(&host, "reader", "its-secret", "ListTables", &body);
    request.headers_mut().insert("content-encoding", "gzip".parse().unwrap());
    server.request(request).await.expect(200);
}

#[tokio::test]
async fn the_name_of_the_server_is_signed_with_http_2_as_well() {
    let server = with_keys().await;
    let client: Client<_, Body> =
        Client::builder(TokioExecutor::new()).http2_only(true).build_http();
    let host = server.address.to_string();
    let request = signed(&host, "reader", "its-secret", "ListTables", b"{}");
    let answer = client.request(request).await.unwrap();
    assert_eq!((answer.status().as_u16(), answer.version()), (200, axum::http::Version::HTTP_2));
    let body = answer.into_body().collect().await.unwrap().to_bytes();
    assert_eq!(&body[..], br#"{"TableNames":[]}"#);
}

#[tokio::test]
async fn a_signature_in_the_address_is_refused() {
    let server = with_keys().await;
    let request = Request::post(format!("http://{}/?X-Amz-Algorithm=x", server.address))
        .header("content-type", "application/x-amz-json-1.0")
        .header("x-amz-target", "DynamoDB_20120810.ListTables")
        .body(Body::from("{}"));
    let (kind, message) = refusal(server.request(request.unwrap()).await);
    assert_eq!(kind, "InvalidSignatureException");
    assert!(message.contains("sign with the Authorization header"), "{message}");
}

#[tokio::test]
async fn access_keys_close_the_other_doors_too() {
    let server = with_keys().await;
    let (code, problem) = server.get("/v1/tables").await.problem(401);
    assert_eq!(code, "unauthenticated");
    assert!(problem["detail"].as_str().unwrap().contains("--token-file"), "{problem}");
    let health = server.get("/health/live").await;
    assert_eq!(health.status, 200);
}

#[tokio::test]
async fn tokens_and_access_keys_go_together() {
    let (token, line) = Tokens::create(Scope::Write, "");
    let config = Config {
        tokens: Some(line.parse().unwrap()),
        access_keys: Some(FILE.parse().unwrap()),
        ..Config::default()
    };
    let mut server = start_with(config).await;
    assert_eq!(send(&server, "reader", "its-secret", "ListTables").await.status, 200);
    server.headers = vec![("authorization", format!("Bearer {token}"))];
    server.get("/v1/tables").await.expect(200);
    let mut request = signed(&server.address.to_string(), "reader", "wrong", "ListTables", b"{}");
    let bearer = format!("Bearer {token}").parse().unwrap();
    request.headers_mut().insert("authorization", bearer);
    server.request(request).await.expect(200);
}

#[tokio::test]
async fn tokens_alone_say_what_is_missing_for_signatures() {
    let (_, line) = Tokens::create(Scope::Write, "");
    let server = start_with(Config { tokens: Some(line.parse().unwrap()), ..Config::default() });
    let (kind, message) = refusal(send(&server.await, "reader", "its-secret", "ListTables").await);
    assert_eq!(kind, "UnrecognizedClientException");
    assert!(message.contains("--access-key-file") && message.contains("Bearer"), "{message}");
}

#[test]
fn secrets_are_not_in_what_is_printed_of_a_server() {
    let config = Config { access_keys: Some(FILE.parse().unwrap()), ..Config::default() };
    let printed = format!("{config:?}");
    assert!(printed.contains("3 access keys") && !printed.contains("secret"), "{printed}");
}
