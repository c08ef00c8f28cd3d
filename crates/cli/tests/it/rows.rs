//! Rows that are put, got, deleted and queried.

use serde_json::{Value, json};

use crate::run_with;
use crate::world::World;

fn json_of(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

#[test]
fn what_was_put_is_got() {
    let world = World::folder().with_people();
    let put = ["put", "people", "4", "name=Zoë", "zip:string=04103", "tags:=[1, \"a\"]", "on=true"];
    assert_eq!(world.good(&put), "written\n");
    let row = json_of(&world.good(&["get", "people", "4", "--json"]));
    assert_eq!(row["row_key"], 4);
    let value = |name: &str| row["columns"][name]["value"].clone();
    assert_eq!(value("name"), json!({"String": "Zoë"}));
    assert_eq!(value("zip"), json!({"String": "04103"}));
    assert_eq!(value("tags"), json!({"List": [{"Int": 1}, {"String": "a"}]}));
    assert_eq!(value("on"), json!({"Bool": true}));
    let shown = world.good(&["get", "people", "4", "--columns", "name"]);
    let lines: Vec<&str> = shown.lines().collect();
    assert!(lines[0].starts_with("column  value  family"), "{shown}");
    assert!(lines[1].starts_with("id      4      (key)"), "{shown}");
    assert!(lines[2].starts_with("name    Zoë    crm"), "{shown}");
    assert!(lines[2].ends_with("ever"), "{shown}");
}

#[test]
fn keys_of_several_fields_are_lists() {
    let world = World::folder();
    world.good(&["table", "create", "people", "--key", "company string; id u64"]);
    world.good(&["put", "people", r#"["a/b ?", 7]"#, "name=Ann"]);
    let row = json_of(&world.good(&["get", "people", r#"["a/b ?",7]"#, "--json"]));
    assert_eq!(row["row_key"], json!(["a/b ?", 7]));
    let found = world.good(&["query", "people"]);
    assert_eq!(found, "company  id  name\na/b ?     7  Ann\n");
    world.run(&["get", "people", "7"]).bad(1);
}

#[test]
fn a_value_that_does_not_fit_its_column_is_bad_data() {
    let world = World::folder().with_people();
    let errors = world.run(&["put", "people", "1", "age=old"]).bad(1);
    assert!(errors.contains("\"old\" is no whole number"), "{errors}");
    let errors = world.run(&["put", "people", "1", "age:string=old"]).bad(1);
    assert!(errors.contains("age"), "{errors}");
    world.run(&["put", "people", "x", "age=1"]).bad(1);
    world.run(&["put", "people", "1", "age"]).bad(2);
}

#[test]
fn conditions_decide_and_the_exit_code_tells() {
    let world = World::folder().with_people();
    world.good(&["put", "people", "1", "age=42", "--when", "age = 41"]);
    let errors = world.run(&["put", "people", "1", "age=43", "--when", "age = 41"]).bad(4);
    assert!(errors.contains("condition"), "{errors}");
    world.run(&["put", "people", "1", "age=43", "--when", "not exists"]).bad(4);
    world.run(&["delete", "people", "1", "--when", "age < 42"]).bad(4);
    assert_eq!(world.good(&["delete", "people", "1", "--when", "age = 42"]), "deleted\n");
    let errors = world.run(&["get", "people", "1"]).bad(3);
    assert!(errors.contains("no row"), "{errors}");
}

#[test]
fn rows_are_found_sorted_and_counted() {
    let world = World::folder().with_people();
    let found = world.good(&["query", "people", "--where", "age > 30", "--sort", "-age"]);
    assert_eq!(found, "id  name  age  city\n 1  Ann    41  Bern\n 2  Bob    37  Basel\n");
    let found = world.good(&["query", "people", "--columns", "city,name", "--sort", "city,-name"]);
    assert_eq!(found, "id  city   name\n 2  Basel  Bob\n 3  Bern   Eve\n 1  Bern   Ann\n");
    assert_eq!(world.good(&["query", "people", "--where", "city = 'Bern'", "--count"]), "2\n");
    assert_eq!(world.good(&["query", "people", "--where", "city = 'Rom'"]), "no rows\n");
    let lines = world.good(&["query", "people", "--json", "--sort", "id"]);
    let keys: Vec<Value> = lines.lines().map(|line| json_of(line)["row_key"].clone()).collect();
    assert_eq!(keys, [json!(1), json!(2), json!(3)]);
}

#[test]
fn a_page_tells_how_to_go_on() {
    let world = World::folder().with_people();
    let page = world.run(&["query", "people", "--sort", "name", "--take", "2"]);
    assert_eq!((page.code, page.out.lines().count()), (0, 3));
    let cursor = page.errors.trim().strip_prefix("there are more rows: --after ").unwrap();
    let rest = world.good(&["query", "people", "--sort", "name", "--after", cursor]);
    assert_eq!(rest, "id  name  age  city\n 3  Eve    29  Bern\n");
}

#[test]
fn stale_values_are_marked() {
    let world = World::folder().with_people();
    world.good(&["put", "people", "1", "name=Ann", "age=41", "city=Bern", "--ttl", "0s"]);
    let found = world.good(&["query", "people", "--sort", "id", "--take", "3"]);
    assert!(found.contains(" 1  Ann~  41~  Bern~\n"), "{found}");
    assert_eq!(world.good(&["query", "people", "--stale", "--count"]), "1\n");
    assert_eq!(world.good(&["query", "people", "--fresh", "--count"]), "2\n");
    assert!(world.good(&["get", "people", "1"]).contains("Ann~"));
    let coloured = world.good(&["query", "people", "--stale", "--color", "always"]);
    assert!(coloured.contains("\x1b[2mAnn~"), "{coloured:?}");
}

#[test]
fn a_bad_filter_is_shown_with_a_caret() {
    let world = World::folder().with_people();
    let errors = world.run(&["query", "people", "--where", "age >> 3"]).bad(2);
    let lines: Vec<&str> = errors.lines().collect();
    assert!(lines[0].starts_with("error: in the filter, here should be a value"), "{errors}");
    assert_eq!((lines[1], lines[2]), ("  age >> 3", "       ^"));
}

#[test]
fn a_whole_request_can_be_given() {
    let world = World::folder().with_people();
    world.write(
        "request.json",
        r#"{"prefixes": ["people"], "take": 1, "sort": [{"field": "age", "direction": "Asc"}]}"#,
    );
    let run = world.run(&["query", "--request", "request.json", "--json"]);
    assert_eq!(json_of(&run.out)["row_key"], 3);
    world.write("request.json", r#"{"tables": ["people"]}"#);
    let errors = world.run(&["query", "--request", "request.json"]).bad(1);
    assert!(errors.contains("tables"), "{errors}");
}

#[test]
fn an_unreachable_server_is_told_apart() {
    let errors = run_with(&["--database", "http://127.0.0.1:9", "table", "list"], "").bad(5);
    assert!(errors.contains("no answer from http://127.0.0.1:9"), "{errors}");
    let errors = run_with(&["--database", "ftp://bucket", "table", "list"], "").bad(2);
    assert!(errors.contains("ftp://"), "{errors}");
}

#[test]
fn a_put_can_add_remove_and_replace() {
    let world = World::folder();
    world.good(&["table", "create", "visits", "--key", "id string"]);
    world.good(&["put", "visits", "a", "name=Ann", "phone=1", "count=2"]);
    world.good(&["put", "visits", "a", "--add", "count=3", "--add", "new=1", "--remove", "phone"]);
    let row = json_of(&world.good(&["get", "visits", "a", "--json"]));
    let value = |row: &Value, name: &str| row["columns"][name]["value"].clone();
    assert_eq!(value(&row, "count"), json!({"Int": 5}));
    assert_eq!(value(&row, "new"), json!({"Int": 1}));
    assert_eq!(value(&row, "name"), json!({"String": "Ann"}));
    assert_eq!(value(&row, "phone"), Value::Null);
    world.good(&["put", "visits", "a", "--replace", "name=Bob"]);
    let row = json_of(&world.good(&["get", "visits", "a", "--json"]));
    assert_eq!(row["columns"].as_object().unwrap().len(), 1);
    world.run(&["put", "visits", "a", "--replace", "--remove", "name"]).bad(2);
    world.run(&["put", "visits", "a"]).bad(2);
}

#[test]
fn an_explanation_can_tell_what_it_took() {
    let world = World::folder().with_people();
    let planned = json_of(&world.good(&["query", "people", "--explain", "--json"]));
    assert_eq!(planned["parts"][0]["actual_rows"], Value::Null, "{planned}");
    let analyzed = json_of(&world.good(&["query", "people", "--explain", "--analyze", "--json"]));
    assert_ne!(analyzed["parts"][0]["actual_rows"], Value::Null, "{analyzed}");
    world.run(&["query", "people", "--analyze"]).bad(2);
}
