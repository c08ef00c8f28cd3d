use serde_json::{Value, json};

use crate::harness::{Running, start};

async fn filled() -> Running {
    let server = start().await;
    server.make_accounts().await;
    for number in 0..30 {
        let owner = if number % 3 == 0 { "adam" } else { "bea" };
        server.put_account(&format!("a{number:02}"), owner, number).await;
    }
    server
}

fn keys(page: &Value) -> Vec<&str> {
    page["rows"].as_array().unwrap().iter().map(|row| row["row_key"].as_str().unwrap()).collect()
}

#[tokio::test]
async fn a_page_has_the_shape_of_the_wide_column_request() {
    let server = filled().await;
    let request = json!({
        "prefixes": ["accounts"],
        "columns": ["name", "score"],
        "filter": {"logical": "And", "children": [
            {"Condition": {"field": "owner", "operator": "Eq", "value": {"String": "adam"}}},
        ]},
        "sort": [{"field": "score", "direction": "Desc"}],
        "take": 2,
    });
    let page = server.post("/v1/query", request.clone()).await.expect(200);
    assert_eq!(keys(&page), ["a27", "a24"]);
    assert_eq!(
        page["rows"][0],
        json!({"row_key": "a27", "columns": {
            "name": {"value": {"String": "Account a27"}, "fresh": true},
            "score": {"value": {"Int": 27}, "fresh": true}}})
    );
    let mut next = request.clone();
    next["after"] = page["next"].clone();
    let page = server.post("/v1/query", next).await.expect(200);
    assert_eq!(keys(&page), ["a21", "a18"]);
    let mut skipped = request;
    skipped["skip"] = json!(3);
    skipped["clocks"] = json!(true);
    let page = server.post("/v1/query", skipped).await.expect(200);
    assert_eq!(keys(&page), ["a18", "a15"]);
    let cell = &page["rows"][0]["columns"]["score"];
    assert_eq!(cell["family"], "scoring");
    assert_eq!(cell["fresh_until"], "2027-01-15T08:01:00Z");
}

#[tokio::test]
async fn a_page_is_bounded_even_if_nothing_is_said() {
    let server = start().await;
    server.post("/v1/tables", json!({"name": "t", "partition_key": "n u64"})).await.expect(201);
    let writes: Vec<_> = (0..300).map(|n| json!({"key": n, "set": {"x": {"Int": n}}})).collect();
    server.post("/v1/tables/t/rows", json!({"writes": writes})).await.expect(200);
    let page = server.post("/v1/query", json!({"prefixes": ["t"]})).await.expect(200);
    assert_eq!(page["rows"].as_array().unwrap().len(), 200);
    let many = server.post("/v1/query", json!({"prefixes": ["t"], "take": 10_001})).await;
    let (code, problem) = many.problem(400);
    assert_eq!((code.as_str(), problem["path"].as_str()), ("bad-query", Some("/take")));
}

#[tokio::test]
async fn only_rows_with_something_stale_can_be_asked_for() {
    let server = filled().await;
    server.clock.advance(std::time::Duration::from_secs(61));
    server.put_account("a00", "adam", 1).await;
    let request =
        |freshness: &str| json!({"prefixes": ["accounts"], "freshness": freshness, "count": true});
    let count = async |freshness| {
        server.post("/v1/query", request(freshness)).await.expect(200)["count"].clone()
    };
    assert_eq!(count("SomeStale").await, 29);
    assert_eq!(count("AllFresh").await, 1);
}

#[tokio::test]
async fn a_plan_is_explained_and_what_it_took() {
    let server = filled().await;
    let request = json!({"prefixes": ["accounts"], "filter":
        {"Condition": {"field": "owner", "operator": "Eq", "value": {"String": "adam"}}}});
    let plan = json!({"request": request, "analyze": false});
    let plan = server.post("/v1/explain", plan).await.expect(200);
    assert_eq!(plan["parts"][0]["actual_rows"], Value::Null);
    assert!(plan["plans"].as_array().unwrap().contains(&json!("index by_owner")), "{plan}");
    let plan = json!({"request": request, "analyze": true});
    let plan = server.post("/v1/explain", plan).await.expect(200);
    assert_eq!(plan["parts"][0]["actual_rows"], 10);
    assert!(plan["text"].as_str().unwrap().contains("10"));
}

#[tokio::test]
async fn values_of_a_column_are_counted_and_summed() {
    let server = filled().await;
    let facets = json!({"table": "accounts", "column": "owner", "limit": 1});
    let facets = server.post("/v1/facets", facets).await.expect(200);
    assert_eq!(
        facets,
        json!({"distinct": 2, "values": [{"value": {"String": "bea"}, "rows": 20}]})
    );
    let summary = json!({"table": "accounts", "column": "score"});
    let summary = server.post("/v1/summary", summary).await.expect(200);
    assert_eq!((&summary["sum"], &summary["average"]), (&json!({"Int": 435}), &json!(14.5)));
}

#[tokio::test]
async fn keys_are_encoded_ranked_and_explained() {
    let server = start().await;
    let keys = json!({"schema": "name string, n i64 desc",
        "rows": [["b", 1], ["a", 1], ["a", 2], ["a"]]});
    let encoded = server.post("/v1/keys", keys).await.expect(200);
    let ranks: Vec<_> =
        encoded["rows"].as_array().unwrap().iter().map(|row| &row["rank"]).collect();
    assert_eq!(ranks, [&json!(2), &json!(1), &json!(0), &Value::Null]);
    assert!(encoded["rows"][3]["error"].is_string());
    assert_eq!(encoded["rows"][0]["key"]["parts"][0]["name"], "name");
    let wrong = server.post("/v1/keys", json!({"schema": "name strong", "rows": []})).await;
    assert_eq!(wrong.problem(400).1["path"], "/schema");
}
