use axum::body::Body;
use axum::http::Request;
use serde_json::{Value, json};

use crate::harness::{Answer, Running, start};

async fn import(server: &Running, query: &str, body: Body) -> Answer {
    let request =
        Request::post(format!("http://{}/v1/tables/accounts/import{query}", server.address))
            .header("content-type", "application/x-ndjson")
            .body(body);
    server.request(request.unwrap()).await
}

#[tokio::test]
async fn an_import_takes_the_good_lines_and_names_the_bad() {
    let server = start().await;
    server.make_accounts().await;
    let mut lines = String::new();
    for number in 0..2_500 {
        let line = match number {
            7 => "{\"key\": \"x\", ".to_owned(),
            1_200 => json!({"key": "x", "set": {"score": {"String": "no"}}}).to_string(),
            1_201 => json!({"key": 12, "set": {}}).to_string(),
            2_000 => String::new(),
            n => json!({"key": format!("a{n}"), "set": {"score": {"Int": n}}}).to_string(),
        };
        lines.push_str(&line);
        lines.push('\n');
    }
    lines.push_str(&json!({"key": "last", "set": {"score": {"Int": 1}}}).to_string());
    let imported = import(&server, "?durability=none", Body::from(lines)).await.expect(200);
    assert_eq!((&imported["rows"], &imported["rejected"]), (&json!(2_497), &json!(3)));
    let rejects: Vec<_> = imported["rejects"]
        .as_array()
        .unwrap()
        .iter()
        .map(|reject| (reject["line"].as_u64().unwrap(), reject["code"].as_str().unwrap()))
        .collect();
    assert_eq!(rejects, [(8, "bad-json"), (1_202, "bad-key"), (1_201, "column-type")]);
    let count = json!({"prefixes": ["accounts"], "count": true});
    assert_eq!(server.post("/v1/query", count).await.expect(200)["count"], 2_497);
}

#[tokio::test]
async fn an_export_can_be_imported_again() {
    let server = start().await;
    server.make_accounts().await;
    for number in 0..500 {
        server.put_account(&format!("a{number:03}"), "adam", number).await;
    }
    let export = server.get("/v1/tables/accounts/export?columns=score").await;
    assert_eq!(export.headers["content-type"], "application/x-ndjson");
    let rows: Vec<Value> =
        export.text().lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(rows.len(), 500);
    let lines: String = rows
        .iter()
        .map(|row| {
            let set = json!({"score": row["columns"]["score"]["value"]});
            format!("{}\n", json!({"key": row["row_key"], "set": set}))
        })
        .collect();
    server.post("/v1/tables/accounts/truncate", json!({})).await.expect(204);
    let imported = import(&server, "", Body::from(lines)).await.expect(200);
    assert_eq!((&imported["rows"], &imported["rejected"]), (&json!(500), &json!(0)));
}

#[tokio::test]
async fn a_line_that_never_ends_is_rejected_and_not_held() {
    let server = start().await;
    server.make_accounts().await;
    let mut body = vec![b' '; 5 << 20];
    body.extend_from_slice(b"\n{\"key\": \"a\", \"set\": {}}\n");
    let imported = import(&server, "", Body::from(body)).await.expect(200);
    assert_eq!((&imported["rows"], &imported["rejected"]), (&json!(1), &json!(1)));
    assert_eq!(imported["rejects"][0]["code"], "too-large");
}

#[tokio::test]
async fn answers_are_compressed_for_those_who_can_read_them() {
    let server = start().await;
    server.make_accounts().await;
    for number in 0..100 {
        server.put_account(&format!("a{number:03}"), "adam", number).await;
    }
    for encoding in ["gzip", "zstd"] {
        let address = format!("http://{}/v1/tables/accounts/export", server.address);
        let request = Request::get(address).header("accept-encoding", encoding);
        let answer = server.request(request.body(Body::empty()).unwrap()).await;
        assert_eq!(answer.headers["content-encoding"], encoding);
        assert!(answer.bytes.len() < 5_000, "{}", answer.bytes.len());
    }
}
