use axum::body::Body;
use axum::http::Request;
use serde_json::json;
use stonecrop::Database;
use stonecrop_server::{Config, Scope, ServeError, Server, Tokens};

use crate::harness::{start, start_with};

#[tokio::test]
async fn a_token_allows_what_its_scope_says_and_no_more() {
    let made = [Scope::Read, Scope::Write, Scope::Admin].map(|scope| Tokens::create(scope, "test"));
    let file = made.each_ref().map(|(_, line)| line.as_str()).join("\n");
    let tokens: Tokens = file.parse().unwrap();
    let mut server = start_with(Config { tokens: Some(tokens), ..Config::default() }).await;
    let [read, write, admin] = made.map(|(token, _)| token);
    let put = json!({"set": {"name": {"String": "Ann"}}});
    let path = "/v1/tables/accounts/rows/a1";

    let refused = server.get("/v1/tables").await;
    assert_eq!(refused.headers["www-authenticate"], "Bearer");
    assert_eq!(refused.problem(401).0, "unauthenticated");
    server.headers = vec![("authorization", "Bearer guess".to_owned())];
    assert_eq!(server.get("/v1/tables").await.problem(401).0, "unauthenticated");
    assert_eq!(server.get("/health/live").await.status, 200);

    server.headers = vec![("authorization", format!("Bearer {admin}"))];
    server.make_accounts().await;
    server.headers = vec![("authorization", format!("Bearer {write}"))];
    server.send("PATCH", path, Some(put.clone())).await.expect(200);
    let drop = server.send("DELETE", "/v1/tables/accounts", None).await;
    assert_eq!(drop.problem(403).0, "forbidden");
    server.headers = vec![("authorization", format!("bearer {read}"))];
    server.get(path).await.expect(200);
    server.post("/v1/query", json!({"prefixes": ["accounts"]})).await.expect(200);
    server.get("/v1/whoami").await.expect(200);
    assert_eq!(server.get("/v1/whoami").await.expect(200)["scope"], "read");
    for (method, path) in [
        ("PATCH", path),
        ("POST", "/v1/tables/accounts/rows"),
        ("POST", "/v1/transaction"),
        ("POST", "/v1/tables"),
        ("POST", "/v1/compact"),
        ("POST", "/v1/tables/accounts/truncate"),
        ("POST", "/v1/tables/accounts/import"),
        ("DELETE", "/v1/tables/accounts/indexes/by_owner"),
        ("POST", "/v1/check"),
    ] {
        let answer = server.send(method, path, Some(put.clone())).await;
        assert_eq!(answer.problem(403).0, "forbidden", "{method} {path}");
    }
}

#[tokio::test]
async fn a_page_of_another_site_can_not_write() {
    let server = start().await;
    server.make_accounts().await;
    let send = async |origin: &str, host: Option<&str>, method: &str| {
        let mut request = Request::builder()
            .method(method)
            .uri(format!("http://{}/v1/query", server.address))
            .header("content-type", "application/json");
        if !origin.is_empty() {
            request = request.header("origin", origin);
        }
        if let Some(host) = host {
            request = request.header("host", host);
        }
        let body = Body::from(json!({"prefixes": ["accounts"]}).to_string());
        server.request(request.body(body).unwrap()).await
    };
    assert_eq!(send("https://evil.example", None, "POST").await.problem(403).0, "cross-site");
    assert_eq!(send("null", None, "POST").await.problem(403).0, "cross-site");
    let own = format!("http://{}", server.address);
    assert_eq!(send(&own, None, "POST").await.status, 200);
    // A name that somebody else's page made lead here.
    assert_eq!(send("", Some("evil.example"), "POST").await.problem(421).0, "host");
}

#[tokio::test]
async fn an_address_that_others_reach_needs_tokens_or_a_plain_word() {
    let listener = tokio::net::TcpListener::bind("0.0.0.0:0").await.unwrap();
    let server = Server::new(Database::memory(), Config::default());
    let refused = server.serve(listener, None, std::future::pending()).await.unwrap_err();
    assert!(matches!(refused, ServeError::Exposed { .. }), "{refused}");
    let listener = tokio::net::TcpListener::bind("0.0.0.0:0").await.unwrap();
    let config = Config { any_host: true, ..Config::default() };
    let server = Server::new(Database::memory(), config);
    server.serve(listener, None, std::future::ready(())).await.unwrap();
}

#[tokio::test]
async fn the_page_lets_nothing_but_the_server_run() {
    let server = start().await;
    let page = server.get("/").await;
    assert_eq!(page.status, 200);
    let policy = page.headers["content-security-policy"].to_str().unwrap();
    assert!(policy.contains("default-src 'none'") && policy.contains("frame-ancestors 'none'"));
    assert!(!policy.contains("unsafe"));
    assert_eq!(page.headers["x-content-type-options"], "nosniff");
}
