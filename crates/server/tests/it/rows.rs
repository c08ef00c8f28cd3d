use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};

use crate::harness::{Answer, Running, start};

#[tokio::test]
async fn a_row_is_written_read_with_its_clocks_and_deleted() {
    let server = start().await;
    server.make_accounts().await;
    server.put_account("a1", "adam", 42).await;
    server.clock.advance(Duration::from_secs(61));
    let row = server.get("/v1/tables/accounts/rows/a1").await.expect(200);
    assert_eq!(row["row_key"], "a1");
    assert_eq!(
        row["columns"]["score"],
        json!({"value": {"Int": 42}, "fresh": false, "family": "scoring",
            "written_at": "2027-01-15T08:00:00Z", "fresh_until": "2027-01-15T08:01:00Z",
            "gone_at": "2027-01-15T09:01:00Z"})
    );
    assert_eq!(row["columns"]["name"]["fresh_until"], Value::Null);
    let some = server.get("/v1/tables/accounts/rows/a1?columns=score,owner").await.expect(200);
    assert_eq!(some["columns"].as_object().unwrap().len(), 2);
    server.send("DELETE", "/v1/tables/accounts/rows/a1", None).await.expect(200);
    let gone = server.get("/v1/tables/accounts/rows/a1").await;
    assert_eq!(gone.problem(404).0, "no-row");
}

#[tokio::test]
async fn a_put_replaces_and_a_patch_keeps() {
    let server = start().await;
    server.make_accounts().await;
    server.put_account("a1", "adam", 42).await;
    let path = "/v1/tables/accounts/rows/a1";
    let change = json!({"set": {"note": {"String": "hi"}}, "add": {"score": {"Int": 1}},
        "remove": ["owner"], "append": {"tags": [{"Int": 1}]}});
    server.send("PATCH", path, Some(change)).await.expect(200);
    let row = server.get(path).await.expect(200);
    assert_eq!(row["columns"]["score"]["value"], json!({"Int": 43}));
    assert_eq!(row["columns"]["tags"]["value"], json!({"List": [{"Int": 1}]}));
    assert_eq!(row["columns"]["owner"], Value::Null);
    let all = json!({"set": {"note": {"String": "all"}}, "durability": "none"});
    let receipt = server.send("PUT", path, Some(all)).await.expect(200);
    assert_eq!(receipt["durability"], "none");
    let row = server.get(path).await.expect(200);
    assert_eq!(row["columns"].as_object().unwrap().len(), 1);
}

#[tokio::test]
async fn an_edit_of_what_somebody_else_changed_is_refused() {
    let server = start().await;
    server.make_accounts().await;
    server.put_account("a1", "adam", 42).await;
    let path = "/v1/tables/accounts/rows/a1";
    let edit = |old: i64, new: i64| {
        json!({"set": {"score": {"Int": new}},
            "when": {"Condition": {"field": "score", "operator": "Eq", "value": {"Int": old}}}})
    };
    server.send("PATCH", path, Some(edit(42, 43))).await.expect(200);
    let late = server.send("PATCH", path, Some(edit(42, 44))).await;
    assert_eq!(late.problem(412).0, "condition-failed");
    let row = server.get(path).await.expect(200);
    assert_eq!(row["columns"]["score"]["value"], json!({"Int": 43}));
}

#[tokio::test]
async fn a_late_write_is_ignored_and_says_so() {
    let server = start().await;
    server.make_accounts().await;
    server.put_account("a1", "adam", 42).await;
    let late = json!({"set": {"score": {"Int": 1}}, "written_at": "2026-01-01T00:00:00Z"});
    let path = "/v1/tables/accounts/rows/a1";
    let receipt = server.send("PATCH", path, Some(late)).await.expect(200);
    assert_eq!(receipt["writes"][0]["ignored"], json!(["scoring"]));
}

#[tokio::test]
async fn keys_of_every_kind_can_stand_in_an_address() {
    let server = start().await;
    let schema = json!({"name": "t", "partition_key": "tenant string", "sort_key": "n u64"});
    server.post("/v1/tables", schema).await.expect(201);
    let path = "/v1/tables/t/rows/%5B%22a%2Fb%22%2C18446744073709551615%5D";
    let set = json!({"set": {"x": {"Int": 1}}});
    server.send("PATCH", path, Some(set.clone())).await.expect(200);
    let row = server.get(path).await.expect(200);
    assert_eq!(row["row_key"], json!(["a/b", 18_446_744_073_709_551_615_u64]));
    let (code, problem) = server.send("PATCH", "/v1/tables/t/rows/a", Some(set)).await.problem(400);
    assert_eq!((code.as_str(), problem["path"].as_str()), ("bad-key", Some("key")));

    server.post("/v1/tables", json!({"name": "n", "partition_key": "n u64"})).await.expect(201);
    let (_, problem) = server.get("/v1/tables/n/rows/x").await.problem(400);
    assert!(problem["detail"].as_str().unwrap().contains("field n: expected an integer"));

    let texts = json!({"name": "texts", "partition_key": "id string"});
    server.post("/v1/tables", texts).await.expect(201);
    for (address, key) in [("123", "123"), ("null", "null"), ("%22q%22", "q"), ("a%20b", "a b")] {
        let path = format!("/v1/tables/texts/rows/{address}");
        server.send("PATCH", &path, Some(json!({"set": {"x": {"Int": 1}}}))).await.expect(200);
        assert_eq!(server.get(&path).await.expect(200)["row_key"], key);
    }
}

#[tokio::test]
async fn a_batch_is_all_or_nothing_and_names_the_bad_write() {
    let server = start().await;
    server.make_accounts().await;
    let write = |key: &str, score: Value| json!({"key": key, "set": {"score": score}});
    let batch = json!({"writes": [write("a", json!({"Int": 1})), write("b", json!({"Int": 2})),
        write("c", json!({"String": "3"}))]});
    let (code, problem) = server.post("/v1/tables/accounts/rows", batch).await.problem(400);
    assert_eq!(code, "column-type");
    assert_eq!(problem["path"], "/writes/2/set/score");
    assert_eq!(server.get("/v1/tables/accounts/rows/a").await.status, 404);
    let only = json!({"writes": [{"key": 7, "set": {}}]});
    let (code, problem) = server.post("/v1/tables/accounts/rows", only).await.problem(400);
    assert_eq!((code.as_str(), problem["path"].as_str()), ("bad-key", Some("/writes/0/key")));
    let good = json!({"writes": [write("a", json!({"Int": 1})), {"key": "b", "op": "delete"}]});
    let receipt = server.post("/v1/tables/accounts/rows", good).await.expect(200);
    assert_eq!(receipt["writes"].as_array().unwrap().len(), 2);
    assert_eq!(receipt["durability"], "sync");
    let many = (0..10_001).map(|n| json!({"key": n.to_string()})).collect::<Vec<_>>();
    let many = server.post("/v1/tables/accounts/rows", json!({"writes": many})).await;
    assert_eq!(many.problem(400).0, "too-many");
}

#[tokio::test]
async fn a_transaction_spans_tables() {
    let server = start().await;
    server.make_accounts().await;
    server.post("/v1/tables", json!({"name": "log", "partition_key": "n u64"})).await.expect(201);
    server.put_account("a1", "adam", 1).await;
    let is = |owner: &str| json!({"Condition": {"field": "owner", "operator": "Eq", "value": {"String": owner}}});
    let transaction = |owner: &str| {
        json!({"writes": [
            {"table": "log", "key": 1, "set": {"what": {"String": "reassigned"}}},
            {"table": "accounts", "key": "a1", "set": {"owner": {"String": "bea"}},
                "when": is(owner)},
        ]})
    };
    let (code, problem) = server.post("/v1/transaction", transaction("carl")).await.problem(412);
    assert_eq!((code.as_str(), problem["path"].as_str()), ("condition-failed", Some("/writes/1")));
    assert_eq!(server.get("/v1/tables/log/rows/1").await.status, 404);
    server.post("/v1/transaction", transaction("adam")).await.expect(200);
    assert_eq!(server.get("/v1/tables/log/rows/1").await.status, 200);
}

#[tokio::test]
async fn many_rows_are_read_at_once() {
    let server = start().await;
    server.make_accounts().await;
    server.put_account("a1", "adam", 1).await;
    let get = json!({"keys": ["a0", "a1"], "columns": ["owner"]});
    let rows = server.post("/v1/tables/accounts/get", get).await.expect(200);
    assert_eq!(rows["rows"][0], Value::Null);
    assert_eq!(rows["rows"][1]["columns"]["owner"]["value"], json!({"String": "adam"}));
}

#[tokio::test]
async fn what_a_cell_said_before_is_told() {
    let server = start().await;
    server.make_accounts().await;
    for score in 1..=4 {
        server.put_account("a1", "adam", score).await;
        server.clock.advance(Duration::from_secs(10));
    }
    let path = "/v1/tables/accounts/rows/a1";
    let history = server.get(&format!("{path}/history?family=scoring")).await.expect(200);
    let scores = history["versions"].as_array().unwrap().iter().map(|v| &v["columns"]["score"]);
    assert_eq!(
        scores.collect::<Vec<_>>(),
        [&json!({"Int": 4}), &json!({"Int": 3}), &json!({"Int": 2})]
    );
    let then = server.get(&format!("{path}?as_of=2027-01-15T08:00:25Z")).await.expect(200);
    assert_eq!(then["columns"]["score"]["value"], json!({"Int": 3}));
    let wrong = server.get(&format!("{path}?as_of=yesterday")).await.problem(400);
    assert_eq!(wrong.1["path"], "as_of");
}

#[tokio::test]
async fn the_stored_keys_of_a_row_are_taken_apart() {
    let server = start().await;
    server.make_accounts().await;
    server.put_account("a1", "adam", 42).await;
    let set = json!({"set": {"note": {"String": "loose"}}});
    server.send("PATCH", "/v1/tables/accounts/rows/a1", Some(set)).await.expect(200);
    let anatomy = server.get("/v1/tables/accounts/rows/a1/anatomy").await.expect(200);
    let families = anatomy["families"].as_array().unwrap();
    let names: Vec<_> = families.iter().map(|f| f["family"].as_str().unwrap()).collect();
    assert_eq!(names, ["crm", "scoring", "note"]);
    assert_eq!(anatomy["indexes"][0]["index"], "by_owner");
    let keys = families.iter().chain(anatomy["indexes"].as_array().unwrap()).map(|f| &f["key"]);
    for key in keys {
        let bytes = key["hex"].as_str().unwrap().len() / 2;
        let mut at = 0;
        for part in key["parts"].as_array().unwrap() {
            assert_eq!(part["start"], at, "{key}");
            at = part["end"].as_u64().unwrap();
        }
        assert_eq!(at, bytes as u64, "{key}");
    }
    let values: Vec<_> = anatomy["indexes"][0]["key"]["parts"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|part| part["value"].as_str())
        .collect();
    assert!(values.contains(&"\"adam\"") && values.contains(&"\"a1\""), "{values:?}");
    assert_eq!(server.get("/v1/tables/accounts/rows/a2/anatomy").await.status, 404);
}

#[tokio::test]
async fn a_row_is_told_the_same_with_and_without_the_router() {
    let server = start().await;
    server.make_accounts().await;
    server.put_account("a1", "adam", 42).await;
    for path in
        ["/v1/tables/accounts/rows/a1", "/v1/tables/accounts/rows/a2", "/v1/tables/no/rows/a"]
    {
        let plain = server.get(path).await;
        // A question mark is enough to need the router.
        let routed = server.get(&format!("{path}?")).await;
        let without_id = |answer: &Answer| {
            let mut headers = answer.headers.clone();
            assert!(headers.remove("x-request-id").is_some());
            headers.remove("date");
            let mut body = answer.json();
            body.as_object_mut().unwrap().remove("request_id");
            (answer.status, headers, body)
        };
        assert_eq!(without_id(&plain), without_id(&routed), "{path}");
    }
    let metrics = server.get("/metrics").await.text();
    let counted =
        r#"requests_total{method="GET",route="/v1/tables/{table}/rows/{key}",status="200"} 2"#;
    assert!(metrics.contains(counted), "{metrics}");
}

#[tokio::test(flavor = "multi_thread")]
async fn writes_are_committed_alone_and_together() {
    let server = Arc::new(start().await);
    server.make_accounts().await;
    server.put_account("a0", "adam", 0).await;
    let add = |server: Arc<Running>| async move {
        let add = json!({"add": {"score": {"Int": 1}}});
        for _ in 0..20 {
            let path = "/v1/tables/accounts/rows/a0";
            server.send("PATCH", path, Some(add.clone())).await.expect(200);
        }
    };
    add(server.clone()).await;
    let many: Vec<_> = (0..8).map(|_| tokio::spawn(add(server.clone()))).collect();
    for one in many {
        one.await.unwrap();
    }
    let row = server.get("/v1/tables/accounts/rows/a0").await.expect(200);
    assert_eq!(row["columns"]["score"]["value"], json!({"Int": 180}));
}
