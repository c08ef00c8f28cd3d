use serde_json::json;

use crate::harness::start;

#[tokio::test]
async fn a_table_is_created_described_altered_emptied_and_dropped() {
    let server = start().await;
    server.make_accounts().await;
    let table = server.get("/v1/tables/accounts").await.expect(200);
    assert_eq!(table["families"][1]["ttl"], "1m");
    assert_eq!(table["families"][1]["history"], json!({"versions": 3}));
    assert_eq!(
        table["key"][0],
        json!({"name": "id", "type": "string", "descending": false, "nullable": false})
    );
    assert_eq!(table["indexes"][0]["progress"], "Complete");
    let alteration = json!({
        "add_families": [{"name": "billing", "columns": [{"name": "plan"}], "ttl": "30d"}],
        "add_columns": [{"family": "crm", "name": "city", "type": "string"}],
        "lifetimes": [{"family": "scoring", "ttl": "2h 30m", "keep": null}],
    });
    let altered = server.send("PATCH", "/v1/tables/accounts", Some(alteration)).await.expect(200);
    assert_eq!(altered["families"][2]["ttl"], "720h");
    assert_eq!(altered["families"][1]["ttl"], "2h 30m");
    assert_eq!(altered["families"][0]["columns"][2]["name"], "city");
    assert!(altered["version"].as_u64() > table["version"].as_u64());

    server.put_account("a1", "adam", 1).await;
    server.post("/v1/tables/accounts/truncate", json!({})).await.expect(204);
    let count = json!({"prefixes": ["accounts"], "count": true});
    assert_eq!(server.post("/v1/query", count).await.expect(200)["count"], 0);

    assert_eq!(server.get("/v1/tables").await.expect(200)["tables"][0]["name"], "accounts");
    server.send("DELETE", "/v1/tables/accounts", None).await.expect(204);
    assert_eq!(server.get("/v1/tables").await.expect(200), json!({"tables": []}));
    assert_eq!(server.get("/v1/tables/accounts").await.problem(404).0, "no-table");
}

#[tokio::test]
async fn a_table_that_is_there_or_can_not_be_is_refused() {
    let server = start().await;
    server.make_accounts().await;
    let again = json!({"name": "accounts", "partition_key": "id string"});
    assert_eq!(server.post("/v1/tables", again).await.problem(409).0, "table-exists");
    let no_type = json!({"name": "t", "partition_key": "id strung"});
    let (code, problem) = server.post("/v1/tables", no_type).await.problem(400);
    assert_eq!(code, "bad-schema");
    assert!(problem["detail"].as_str().unwrap().contains("strung"));
    let unknown = json!({"name": "t", "partition_key": "id string", "famlies": []});
    let (code, problem) = server.post("/v1/tables", unknown).await.problem(400);
    assert_eq!(code, "bad-json");
    assert!(problem["detail"].as_str().unwrap().contains("famlies"));
}

#[tokio::test]
async fn an_index_is_added_and_tells_how_far_it_is() {
    let server = start().await;
    server.make_accounts().await;
    for number in 0..50 {
        server.put_account(&format!("a{number}"), "adam", number).await;
    }
    let index = json!({"name": "by_score", "columns": "score i64 desc", "covering": ["name"]});
    let made = server.post("/v1/tables/accounts/indexes", index).await.expect(202);
    assert_eq!(made["covering"], json!(["name"]));
    loop {
        let index = server.get("/v1/tables/accounts/indexes/by_score").await.expect(200);
        if index["progress"] == "Complete" {
            break;
        }
        tokio::task::yield_now().await;
    }
    let request = json!({"prefixes": ["accounts"], "columns": ["score"], "take": 1,
        "sort": [{"field": "score", "direction": "Desc"}], "explain": true});
    let page = server.post("/v1/query", request).await.expect(200);
    assert_eq!(page["rows"][0]["columns"]["score"]["value"], json!({"Int": 49}));
    server.send("DELETE", "/v1/tables/accounts/indexes/by_score", None).await.expect(204);
    let gone = server.get("/v1/tables/accounts/indexes/by_score").await;
    assert_eq!(gone.problem(404).0, "no-index");
}

#[tokio::test]
async fn freshness_is_counted_by_family() {
    let server = start().await;
    server.make_accounts().await;
    server.put_account("a1", "adam", 1).await;
    server.clock.advance(std::time::Duration::from_secs(61));
    server.put_account("a2", "adam", 1).await;
    let set = json!({"set": {"name": {"String": "no score"}}});
    server.send("PATCH", "/v1/tables/accounts/rows/a3", Some(set)).await.expect(200);
    let freshness = server.get("/v1/tables/accounts/freshness").await.expect(200);
    assert_eq!(freshness["rows"], 3);
    assert_eq!(
        freshness["families"],
        json!([{"family": "crm", "fresh": 3, "stale": 0, "missing": 0},
            {"family": "scoring", "fresh": 1, "stale": 1, "missing": 1}])
    );
    let metrics = server.get("/metrics").await.text();
    let line = "stonecrop_family_rows{table=\"accounts\",family=\"scoring\",state=\"stale\"} 1";
    assert!(metrics.contains(line), "{metrics}");
}
