use axum::body::Body;
use axum::http::Request;
use serde_json::json;

use crate::harness::start;

#[tokio::test]
async fn a_bad_body_says_where_it_is_bad() {
    let server = start().await;
    server.make_accounts().await;
    let batch = json!({"writes": [{"key": "a", "set": {"x": {"Int": 1}}},
        {"key": "b", "set": {"x": {"Integer": 1}}}]});
    let (code, problem) = server.post("/v1/tables/accounts/rows", batch).await.problem(400);
    assert_eq!(code, "bad-json");
    let path = problem["path"].as_str().unwrap();
    assert!(path.starts_with("/writes/1/set/x"), "{path}");
    assert!(problem["detail"].as_str().unwrap().contains("Integer"));
}

#[tokio::test]
async fn bodies_of_other_kinds_are_refused() {
    let server = start().await;
    let send = async |content_type: Option<&str>, body: &'static [u8]| {
        let mut request = Request::post(format!("http://{}/v1/query", server.address));
        if let Some(content_type) = content_type {
            request = request.header("content-type", content_type);
        }
        server.request(request.body(Body::from(body)).unwrap()).await
    };
    assert_eq!(send(None, b"{}").await.problem(415).0, "media-type");
    assert_eq!(send(Some("text/plain"), b"{}").await.problem(415).0, "media-type");
    let json = Some("application/json; charset=utf-8");
    assert_eq!(send(json, b"{\"prefixes\": [\"\xff\"]}").await.problem(400).0, "bad-json");
    assert_eq!(send(json, b" [[\"accounts\"]]").await.problem(400).0, "bad-json");
    assert_eq!(send(json, b"").await.problem(400).0, "bad-json");
    assert_eq!(send(json, b"{\"prefixes\": []}").await.problem(400).0, "bad-query");
}

#[tokio::test]
async fn what_is_not_there_is_a_problem_too() {
    let server = start().await;
    assert_eq!(server.get("/v1/nothing").await.problem(404).0, "no-such-address");
    assert_eq!(server.get("/nothing").await.problem(404).0, "no-such-address");
    assert_eq!(server.get("/v1/query").await.problem(405).0, "method-not-allowed");
    assert_eq!(server.get("/v1/tables/none/rows/1").await.problem(404).0, "no-table");
    let (code, problem) = server.get("/v1/tables/none/rows/1?colums=a").await.problem(400);
    assert_eq!(code, "bad-parameter");
    assert!(problem["detail"].as_str().unwrap().contains("colums"));
}

#[tokio::test]
async fn every_answer_has_an_id_and_keeps_that_of_the_client() {
    let server = start().await;
    let made = server.get("/v1/tables").await;
    assert_eq!(made.headers["x-request-id"].len(), 32);
    let request = Request::get(format!("http://{}/v1/nothing", server.address))
        .header("x-request-id", "mine-7");
    let answer = server.request(request.body(Body::empty()).unwrap()).await;
    assert_eq!(answer.headers["x-request-id"], "mine-7");
    assert_eq!(answer.problem(404).1["request_id"], "mine-7");
}

#[tokio::test]
async fn the_description_names_every_route() {
    let server = start().await;
    let document = server.get("/v1/openapi.json").await.expect(200);
    assert_eq!(document["openapi"], "3.1.0");
    let paths = document["paths"].as_object().unwrap();
    for path in ["/v1/tables", "/v1/query", "/v1/tables/{table}/rows/{key}", "/v1/keys"] {
        assert!(paths.contains_key(path), "{path}");
    }
    assert!(document["components"]["schemas"]["Filter"].is_object());
}

#[tokio::test]
async fn health_and_figures_are_told() {
    let server = start().await;
    server.make_accounts().await;
    server.put_account("a1", "adam", 1).await;
    assert_eq!(server.get("/health/live").await.text(), "alive\n");
    assert_eq!(server.get("/health/ready").await.text(), "ready\n");
    let stats = server.get("/v1/stats").await.expect(200);
    assert_eq!((&stats["tables"], &stats["writes"]), (&json!(1), &json!(1)));
    let metrics = server.get("/metrics").await.text();
    for name in [
        "stonecrop_http_requests_total{method=\"PATCH\",route=\"/v1/tables/{table}/rows/{key}\",status=\"200\"} 1",
        "stonecrop_http_request_seconds_bucket",
        "stonecrop_commits_total 1",
        "stonecrop_syncs_total 1",
        "stonecrop_queued_bytes 0",
        "stonecrop_disk_bytes",
    ] {
        assert!(metrics.contains(name), "{name}\n{metrics}");
    }
}
