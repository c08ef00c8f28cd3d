//! Requests and answers as JSON, as the design of the wide columns has them.

use std::time::Duration;

use serde_json::json;
use stonecrop::{Family, Request, TableSchema, Write};

use crate::harness::{Engine, Fixture};

const SEED: &str = r#"{
  "prefixes": ["accounts"],
  "columns": ["name", "email", "score"],
  "filter": {
    "logical": "And",
    "children": [
      { "Condition": { "field": "status", "operator": "Eq", "value": { "String": "active" } } }
    ]
  },
  "sort": [{ "field": "name", "direction": "Asc" }],
  "take": 200
}"#;

/// Names that are fresh for 12 hours, and scores that are for 30 minutes.
fn accounts() -> Fixture {
    let fixture = Fixture::new(Engine::Memory);
    let hours = |count: u64| Duration::from_secs(count * 3600);
    let crm = Family::new("crm").column("name").column("email").column("status").ttl(hours(12));
    let scores = Family::new("scores").column("score").ttl(hours(1) / 2);
    let schema = TableSchema::new("accounts", "id string", "").unwrap().family(crm).family(scores);
    let table = fixture.db.create_table(schema).unwrap();
    let row = |id: &'static str, name: &str, status: &str| {
        Write::put(id).set("name", name).set("email", "...").set("status", status).set("score", 42)
    };
    table.write(row("acct_001", "Adam", "active")).unwrap();
    table.write(row("acct_002", "Bob", "closed")).unwrap();
    fixture.pass(3600);
    fixture
}

fn ask(fixture: &Fixture, request: &serde_json::Value) -> serde_json::Value {
    let request: Request = serde_json::from_value(request.clone()).unwrap();
    serde_json::to_value(fixture.db.query(&request).unwrap()).unwrap()
}

#[test]
fn the_request_of_the_design_gets_the_answer_of_the_design() {
    let fixture = accounts();
    let request: Request = serde_json::from_str(SEED).unwrap();
    let response = serde_json::to_string(&fixture.db.query(&request).unwrap()).unwrap();
    let name = r#""name":{"value":{"String":"Adam"},"fresh":true}"#;
    let email = r#""email":{"value":{"String":"..."},"fresh":true}"#;
    let score = r#""score":{"value":{"Int":42},"fresh":false}"#;
    let columns = format!("{{{name},{email},{score}}}");
    assert_eq!(response, format!(r#"{{"rows":[{{"row_key":"acct_001","columns":{columns}}}]}}"#));
    let again = serde_json::to_value(&request).unwrap();
    assert_eq!(again, serde_json::from_str::<serde_json::Value>(SEED).unwrap());
}

#[test]
fn names_that_a_request_does_not_have_are_refused() {
    for (request, name) in [
        (json!({"prefixes": ["accounts"], "limit": 5}), "limit"),
        (
            json!({"prefixes": ["accounts"], "sort": [{"field": "a", "direction": "Asc", "x": 1}]}),
            "x",
        ),
        (
            json!({"prefixes": ["accounts"], "filter": {"Condition": {"field": "a", "op": "Eq"}}}),
            "op",
        ),
        (json!({"prefixes": ["accounts"], "filter": {"logical": "And", "kids": []}}), "kids"),
    ] {
        let error = serde_json::from_value::<Request>(request).unwrap_err().to_string();
        assert!(error.contains(name), "{error}");
    }
    for (request, problem) in [
        (json!({"take": -1}), "invalid value"),
        (json!({"sort": [{"field": "a", "direction": "asc"}]}), "unknown variant"),
        (json!({"sort": [{"field": "a."}]}), "is no path"),
        (json!({"freshness": "Fresh"}), "unknown variant"),
    ] {
        let error = serde_json::from_value::<Request>(request).unwrap_err().to_string();
        assert!(error.contains(problem), "{error}");
    }
}

#[test]
fn a_key_of_several_fields_is_an_array() {
    let fixture = Fixture::new(Engine::Memory);
    let schema = TableSchema::new("readings", "tenant string", "at i64").unwrap();
    let table = fixture.db.create_table(schema).unwrap();
    table.write(Write::put(("acme", 7)).set("n", 1)).unwrap();
    let expected = json!({"rows": [
        {"row_key": ["acme", 7], "columns": {"n": {"value": {"Int": 1}, "fresh": true}}},
    ]});
    assert_eq!(ask(&fixture, &json!({"prefixes": ["readings"]})), expected);
}

#[test]
fn a_request_goes_on_from_a_cursor_and_back() {
    let fixture = accounts();
    let sort = json!([{"field": "name", "direction": "Desc"}]);
    let request = json!({"prefixes": ["accounts"], "columns": [], "sort": sort, "take": 1});
    let with = |name: &str, cursor: &serde_json::Value| {
        let mut request = request.clone();
        request[name] = cursor.clone();
        request
    };
    let first = ask(&fixture, &request);
    assert_eq!(first["rows"], json!([{"row_key": "acct_002", "columns": {}}]));
    let second = ask(&fixture, &with("after", &first["next"]));
    assert_eq!(second["rows"], json!([{"row_key": "acct_001", "columns": {}}]));
    assert!(second.get("next").is_none());
    let back = ask(&fixture, &with("before", &second["previous"]));
    assert_eq!(back["rows"], first["rows"]);
    let mut both = with("after", &first["next"]);
    both["before"] = second["previous"].clone();
    let both: Request = serde_json::from_value(both).unwrap();
    let error = fixture.db.query(&both).unwrap_err().to_string();
    assert_eq!(error, "query: rows after one cursor and before another");
}

#[test]
fn a_request_counts_explains_and_asks_for_freshness() {
    let fixture = accounts();
    let count = ask(&fixture, &json!({"prefixes": ["accounts"], "count": true}));
    assert_eq!(count, json!({"rows": [], "count": 2}));
    let explained = ask(&fixture, &json!({"prefixes": ["accounts"], "explain": true, "take": 1}));
    assert_eq!(explained["explanation"][0]["plans"], json!(["scan"]));
    assert_eq!(explained["rows"].as_array().unwrap().len(), 1);
    let stale = |columns: serde_json::Value, freshness: &str| {
        let request = json!({"prefixes": ["accounts"], "columns": columns, "freshness": freshness});
        ask(&fixture, &request)["rows"].as_array().unwrap().len()
    };
    assert_eq!(stale(json!(["name", "score"]), "SomeStale"), 2);
    assert_eq!(stale(json!(["name", "score"]), "AllFresh"), 0);
    assert_eq!(stale(json!(["name"]), "AllFresh"), 2);
}

#[test]
fn a_request_that_counts_is_explained_as_well() {
    let fixture = accounts();
    let request = json!({"prefixes": ["accounts"], "count": true, "explain": true});
    let answer = ask(&fixture, &request);
    assert_eq!((&answer["count"], &answer["rows"]), (&json!(2), &json!([])));
    assert_eq!(answer["explanation"][0]["plans"], json!(["scan"]));
}

#[test]
fn several_tables_are_answered_one_after_the_other() {
    let fixture = accounts();
    let schema = TableSchema::new("leads", "id string", "").unwrap();
    let table = fixture.db.create_table(schema).unwrap();
    table.write_all(["l1", "l2"].map(|id| Write::put(id).set("name", "Cem"))).unwrap();
    let request = json!({"prefixes": ["accounts", "leads"], "columns": ["name"], "take": 3});
    let answer = ask(&fixture, &request);
    let keys = answer["rows"].as_array().unwrap().iter().map(|row| row["row_key"].clone());
    assert_eq!(keys.filter(|key| key.as_str().unwrap().starts_with("acct")).count(), 2);
    assert_eq!(answer["rows"].as_array().unwrap().len(), 3);
    assert!(answer.get("next").is_none());
    let count =
        ask(&fixture, &json!({"prefixes": ["accounts", "leads"], "count": true, "take": 1}));
    assert_eq!(count["count"], json!(4));
    for (request, problem) in [
        (json!({"prefixes": []}), "query: prefixes: name a table"),
        (json!({"prefixes": ["x"]}), "there is no table \"x\""),
        (
            json!({"prefixes": ["accounts", "leads"], "after": "x"}),
            "query: rows of several tables have no cursors",
        ),
    ] {
        let request: Request = serde_json::from_value(request).unwrap();
        assert_eq!(fixture.db.query(&request).unwrap_err().to_string(), problem);
    }
}

#[test]
fn rows_of_several_tables_are_sorted_as_one() {
    let fixture = accounts();
    let schema = TableSchema::new("leads", "id string", "").unwrap();
    let leads = fixture.db.create_table(schema).unwrap();
    let lead = |(id, name): (&'static str, &str)| Write::put(id).set("name", name).set("rank", 1);
    leads.write_all([("l1", "Abe"), ("l2", "Ben"), ("l3", "Adam")].map(lead)).unwrap();
    leads.write(Write::put("l4").set("rank", 2)).unwrap();
    let sorted = |direction: &str, take: Option<usize>| {
        let request = json!({"prefixes": ["accounts", "leads"], "columns": ["rank"], "take": take,
            "sort": [{"field": "name", "direction": direction}]});
        let answer = ask(&fixture, &request);
        let rows = answer["rows"].as_array().unwrap().clone();
        rows.iter().map(|row| row["row_key"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(sorted("Asc", None), ["l1", "acct_001", "l3", "l2", "acct_002", "l4"]);
    assert_eq!(sorted("Desc", Some(2)), ["acct_002", "l2"]);
}
