//! Pages of other sites at DynamoDB's door.

use axum::body::Body;
use axum::http::Request;
use stonecrop_server::{Config, Scope, Tokens};

use crate::harness::{Answer, Running, start, start_with};

const SITE: &str = "http://example.com";
const AUTHORIZATION: &str = "AWS4-HMAC-SHA256 Credential=a/20260101/us-east-1/dynamodb/aws4_request, \
                             SignedHeaders=host, Signature=0";

async fn ask(server: &Running, origin: &str, authorization: &str) -> Answer {
    let request = Request::post(format!("http://{}/", server.address))
        .header("content-type", "application/x-amz-json-1.0")
        .header("x-amz-target", "DynamoDB_20120810.ListTables")
        .header("x-amz-date", "20260101T000000Z")
        .header("authorization", authorization)
        .header("sec-fetch-site", "cross-site")
        .header("origin", origin)
        .body(Body::from("{}"));
    server.request(request.unwrap()).await
}

async fn preflight(server: &Running, origin: &str, path: &str) -> Answer {
    let request = Request::options(format!("http://{}{path}", server.address))
        .header("origin", origin)
        .header("access-control-request-method", "POST")
        .header("access-control-request-headers", "authorization,content-type,x-amz-target")
        .body(Body::empty());
    server.request(request.unwrap()).await
}

fn header<'a>(answer: &'a Answer, name: &str) -> Option<&'a str> {
    answer.headers.get(name).map(|value| value.to_str().unwrap())
}

const ALLOWED: &str = "access-control-allow-origin";

#[tokio::test]
async fn where_nobody_needs_a_secret_no_page_of_another_site_may_ask() {
    let server = start().await;
    let refused = ask(&server, SITE, AUTHORIZATION).await;
    assert_eq!(header(&refused, ALLOWED), None);
    let refused = refused.expect(400);
    assert_eq!(refused["__type"], "com.amazon.coral.service#AccessDeniedException");
    let message = refused["Message"].as_str().unwrap();
    assert!(message.contains("--cors-origin http://example.com"), "{message}");
    let refused = preflight(&server, SITE, "/").await;
    assert_eq!(header(&refused, ALLOWED), None);
    assert_eq!(refused.problem(403).0, "cross-site");
    let own = format!("http://{}", server.address);
    assert_eq!(preflight(&server, &own, "/").await.status, 200);
}

#[tokio::test]
async fn a_page_that_knows_a_secret_may_ask() {
    let (token, line) = Tokens::create(Scope::Read, "");
    let server = start_with(Config { tokens: Some(line.parse().unwrap()), ..Config::default() });
    let server = server.await;
    let answer = preflight(&server, SITE, "/").await;
    assert_eq!((answer.status.as_u16(), header(&answer, ALLOWED)), (200, Some("*")));
    assert_eq!(header(&answer, "access-control-allow-methods"), Some("POST"));
    let sent = header(&answer, "access-control-allow-headers").unwrap();
    for name in ["authorization", "content-type", "x-amz-target", "x-amz-date", "amz-sdk-request"] {
        assert!(sent.split(", ").any(|known| known == name), "{name} is not in {sent}");
    }
    let answer = ask(&server, SITE, &format!("Bearer {token}")).await;
    assert_eq!((answer.status.as_u16(), header(&answer, ALLOWED)), (200, Some("*")));
    let read = header(&answer, "access-control-expose-headers").unwrap();
    assert!(read.contains("x-amzn-requestid") && read.contains("x-amz-crc32"), "{read}");
    // The page may see why it was refused.
    let refused = ask(&server, SITE, "Bearer guess").await;
    assert_eq!((refused.status.as_u16(), header(&refused, ALLOWED)), (400, Some("*")));
}

#[tokio::test]
async fn pages_of_the_named_sites_may_ask_and_no_others() {
    let cors_origins = vec![SITE.to_owned(), "https://example.org:8080".to_owned()];
    let server = start_with(Config { cors_origins, ..Config::default() }).await;
    for origin in [SITE, "https://example.org:8080"] {
        let answer = ask(&server, origin, AUTHORIZATION).await;
        assert_eq!((answer.status.as_u16(), header(&answer, ALLOWED)), (200, Some(origin)));
        assert_eq!(header(&answer, "vary"), Some("origin"));
        assert_eq!(preflight(&server, origin, "/").await.status, 200);
    }
    for origin in ["https://example.com", "http://example.com.evil.example", "null", "*"] {
        let refused = ask(&server, origin, AUTHORIZATION).await;
        assert_eq!((refused.status.as_u16(), header(&refused, ALLOWED)), (400, None), "{origin}");
        assert_eq!(preflight(&server, origin, "/").await.status, 403);
    }
    // The other doors stay as they are.
    assert_eq!(header(&preflight(&server, SITE, "/v1/query").await, ALLOWED), None);
    let request = Request::post(format!("http://{}/v1/query", server.address))
        .header("content-type", "application/json")
        .header("origin", SITE)
        .body(Body::from(r#"{"prefixes": []}"#));
    assert_eq!(server.request(request.unwrap()).await.problem(403).0, "cross-site");
}

#[tokio::test]
async fn a_star_is_every_site() {
    let server = start_with(Config { cors_origins: vec!["*".to_owned()], ..Config::default() });
    let answer = ask(&server.await, "null", AUTHORIZATION).await;
    assert_eq!((answer.status.as_u16(), header(&answer, ALLOWED)), (200, Some("*")));
}
