//! Files in and out.

use std::fmt::Write as _;
use std::io::Write as _;
use std::process::Stdio;

use serde_json::{Value, json};

use crate::world::World;

const PEOPLE: &str = "\
id,company,name,age,joined,score,zip
1,acme,Ann,41,2024-01-15,9.5,04103
2,acme,Bob,37,2023-11-02,7.25,8001
3,globex,\"Carl, Jr.\",,2022-05-30,8,3000
";

fn json_lines(text: &str) -> Vec<Value> {
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn the_schema_is_shown_and_nothing_is_written_without_a_yes() {
    let world = World::folder();
    world.write("people.csv", PEOPLE);
    let shown = world.good(&["import", "people", "people.csv", "--dry-run"]);
    let expected = "\
column   type      example
id       i64, key  1
company  string    acme
name     string    Ann
age      int       41
joined   date      2024-01-15
score    float     9.5
zip      string    04103

new table people, key id i64 (the first that is unique), all else in the family people
";
    assert_eq!(shown, expected);
    assert!(!world.path("data").exists());
    let run = world.run(&["import", "people", "people.csv"]);
    assert_eq!((run.code, run.out.as_str()), (2, expected));
    assert!(run.errors.contains("--yes"), "{}", run.errors);
    assert!(!world.path("data").exists());
}

#[test]
fn a_csv_becomes_a_table() {
    let world = World::folder();
    world.write("people.csv", PEOPLE);
    let arguments = [
        "import",
        "people",
        "people.csv",
        "--key",
        "company; id",
        "--family",
        "crm",
        "--ttl",
        "10m",
    ];
    let done = world.good(&[&arguments[..], &["--yes"]].concat());
    assert!(done.ends_with("3 rows imported\n"), "{done}");
    let shown = world.good(&["table", "show", "people"]);
    assert!(shown.starts_with("people  key company string; id i64"), "{shown}");
    assert!(shown.contains("joined  date    crm     10m"), "{shown}");
    let row = world.good(&["get", "people", r#"["globex", 3]"#, "--json"]);
    let row: Value = serde_json::from_str(&row).unwrap();
    assert_eq!(row["columns"]["name"]["value"], json!({"String": "Carl, Jr."}));
    assert_eq!(row["columns"]["joined"]["value"], json!({"Date": "2022-05-30"}));
    assert_eq!(row["columns"].get("age"), None);
    assert!(!world.path("people.csv.stonecrop-import").exists());
    assert!(!world.path("people.csv.rejects.jsonl").exists());
}

#[test]
fn a_type_can_be_said_where_another_is_seen() {
    let world = World::folder();
    world.write("t.csv", "id,n,zip\n1,5,1000\n2,x,2000\n");
    let said = ["import", "t", "t.csv", "--type", "n:int", "--type", "zip:string", "--yes"];
    let run = world.run(&said);
    assert_eq!(run.code, 1, "{}", run.errors);
    assert!(
        run.out
            .ends_with("1 row imported\n1 row left out: t.csv.rejects.jsonl says which and why\n")
    );
    assert!(world.good(&["table", "show", "t"]).contains("zip     string"));
    let errors = world.run(&["import", "t", "t.csv", "--type", "n:number", "--yes"]).bad(2);
    assert!(errors.contains("\"number\" is no type"), "{errors}");
}

#[test]
fn bad_lines_go_to_a_file_with_reasons_and_the_rest_is_imported() {
    let world = World::folder();
    let mut text = String::from("id,n\n");
    for id in 1..=1_200 {
        writeln!(text, "{id},{id}").unwrap();
    }
    text += "1201,many\n1202\n,7\n1203,8\n";
    world.write("rows.csv", &text);
    let run = world.run(&["import", "rows", "rows.csv", "--yes", "--json"]);
    assert_eq!((run.code, run.errors.as_str()), (1, ""));
    let summary = json!({"imported": 1201, "rejected": 3, "rejects": ["rows.csv.rejects.jsonl"]});
    assert_eq!(json_lines(&run.out), [summary]);
    let rejects = json_lines(&world.read("rows.csv.rejects.jsonl"));
    assert_eq!(
        rejects,
        [
            json!({"line": 1202, "reason": "n: \"many\" is no whole number of 64 bits", "text": "1201,many"}),
            json!({"line": 1203, "reason": "1 fields, and the first line has 2", "text": "1202"}),
            json!({"line": 1204, "reason": "id: the key has no value", "text": ",7"}),
        ]
    );
    assert_eq!(world.good(&["query", "rows", "--count"]), "1201\n");
}

#[test]
fn what_the_table_refuses_is_left_out_and_the_rest_of_its_batch_is_written() {
    let world = World::folder();
    let index = "unique by_mail: mail string";
    world.good(&[
        "table",
        "create",
        "t",
        "--key",
        "id u64",
        "--family",
        "f: mail string",
        "--index",
        index,
    ]);
    world.write(
        "t.jsonl",
        r#"{"id": 1, "mail": "a"}
{"id": 2, "mail": "b"}
{"id": 3, "mail": "a"}
{"id": 4, "mail": "c"}
{"id": 5, "mail": "b"}
"#,
    );
    let run = world.run(&["import", "t", "t.jsonl", "--yes"]);
    assert_eq!(run.code, 1, "{}", run.errors);
    assert!(run.out.contains("3 rows imported\n2 rows left out"), "{}", run.out);
    let lines: Vec<Value> = json_lines(&world.read("t.jsonl.rejects.jsonl"));
    assert_eq!(
        lines.iter().map(|reject| reject["line"].clone()).collect::<Vec<_>>(),
        [json!(3), json!(5)]
    );
    let reason = r#"another row has the same values in the unique index "by_mail""#;
    assert_eq!(lines[0]["reason"], reason, "and not that nothing was written: the rest was");
    assert_eq!(lines[0]["text"], r#"{"id": 3, "mail": "a"}"#);
}

#[test]
fn every_format_comes_back_as_it_went_out() {
    let world = World::folder();
    let family = "f: text string, whole int, real float, exact decimal, raw bytes, at timestamp, \
                  day date, uid uuid, list list, map map, yes bool";
    world.good(&["table", "create", "all", "--key", "a string; b i64, c date", "--family", family]);
    for n in 0..3 {
        let (key, whole) =
            (format!(r#"["k,{n}", -{n}, "2024-01-0{}"]"#, n + 1), format!("whole={n}"));
        world.good(&[
            "put",
            "all",
            &key,
            &whole,
            "text=say \"hi\",\n",
            "real=1.5",
            "exact=9.99",
            "raw=AP8=",
            "at=2024-01-15T10:00:00.000001Z",
            "day=2024-01-15",
            "uid=00000000-0000-0000-0000-000000000001",
            r#"list=[1,"a"]"#,
            r#"map={"x":[1]}"#,
            "yes=true",
        ]);
    }
    world.good(&["put", "all", r#"["empty", 0, "2024-01-01"]"#, "text=only"]);
    let schema = world.good(&["table", "show", "all", "--json"]);
    world.write("schema.json", &schema);
    let plain = |table: &str| world.good(&["export", table]);
    for (format, file) in [
        ("csv", "all.csv"),
        ("jsonl", "all.jsonl"),
        ("parquet", "all.parquet"),
        ("rows", "all.rows"),
    ] {
        let exported = world.good(&["export", "all", "--format", format, "-o", file]);
        assert_eq!(exported, format!("4 rows exported to {file}\n"));
        world.good(&["table", "create", format, "--schema", "schema.json"]);
        let read_as = if format == "rows" { "jsonl" } else { format };
        let done = world.good(&["import", format, file, "--format", read_as, "--yes"]);
        assert!(done.ends_with("4 rows imported\n"), "{done}");
        assert_eq!(plain(format), plain("all"), "{format}");
    }
}

#[test]
fn only_some_rows_and_columns_can_be_exported() {
    let world = World::folder().with_people();
    let arguments = [
        "export",
        "people",
        "--format",
        "csv",
        "--where",
        "city = 'Bern'",
        "--columns",
        "age,name",
    ];
    let mut lines: Vec<_> = world.good(&arguments).lines().map(str::to_owned).collect();
    assert_eq!(lines.remove(0), "id,age,name");
    lines.sort();
    assert_eq!(lines, ["1,41,Ann", "3,29,Eve"]);
    world.good(&["put", "people", "1", "loose=1"]);
    let run = world.run(&["export", "people", "--format", "csv"]);
    assert!(run.errors.contains("left out; --columns can name them: loose"), "{}", run.errors);
    assert!(world.good(&["export", "people"]).contains("\"loose\":1"));
}

#[test]
fn standard_input_can_be_imported() {
    let world = World::folder();
    let mut command = world.command(&["import", "t", "-", "--format", "jsonl", "--yes"]);
    let mut child = command.stdin(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(b"{\"id\": \"a\", \"n\": 1}\n").unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(world.good(&["query", "t"]), "id  n\na   1\n");
    let errors = world.run(&["import", "t", "-", "--yes"]).bad(2);
    assert!(errors.contains("--format"), "{errors}");
}

#[test]
fn an_import_goes_on_where_it_was_cut_short() {
    let world = World::folder();
    let mut text = String::from("id,n\n");
    for id in 1..=5_000 {
        writeln!(text, "{id},{id}").unwrap();
    }
    world.write("rows.csv", &text);
    world.good(&["table", "create", "rows", "--key", "id u64", "--family", "f: n int"]);
    // As it is left by an import that ended after its first batch.
    let metadata = std::fs::metadata(world.path("rows.csv")).unwrap();
    let modified = metadata.modified().unwrap().duration_since(std::time::UNIX_EPOCH).unwrap();
    let mut state = json!({
        "database": world.path("data"), "table": "rows", "size": metadata.len(),
        "modified": modified.as_micros() as u64, "rows_done": 2000, "imported": 2000, "rejected": 0,
    });
    world.write("rows.csv.stonecrop-import", state.to_string());
    let done = world.good(&["import", "rows", "rows.csv", "--resume", "--yes"]);
    assert!(done.ends_with("3,000 rows imported\n"), "{done}");
    assert_eq!(world.good(&["query", "rows", "--count"]), "3000\n");
    assert!(!world.path("rows.csv.stonecrop-import").exists());
    // Of another table, or of a file that was changed, it is not taken.
    state["table"] = json!("other");
    world.write("rows.csv.stonecrop-import", state.to_string());
    let errors = world.run(&["import", "rows", "rows.csv", "--resume", "--yes"]).bad(2);
    assert!(errors.contains("begins again"), "{errors}");
    let done = world.good(&["import", "rows", "rows.csv", "--yes"]);
    assert!(done.ends_with("5,000 rows imported\n"), "{done}");
}

#[test]
fn an_import_that_is_killed_is_resumed_without_a_gap() {
    let world = World::folder();
    let mut text = String::from("id,n\n");
    for id in 1..=40_000 {
        writeln!(text, "{id},{}", if id % 1_000 == 7 { "x".to_owned() } else { id.to_string() })
            .unwrap();
    }
    world.write("rows.csv", &text);
    world.good(&["table", "create", "rows", "--key", "id u64", "--family", "f: n int"]);
    let mut child = world.command(&["import", "rows", "rows.csv", "--yes"]).spawn().unwrap();
    while !world.path("rows.csv.stonecrop-import").exists() {
        assert_eq!(child.try_wait().unwrap(), None, "it ended before it could be killed");
        std::thread::yield_now();
    }
    child.kill().unwrap();
    child.wait().unwrap();
    let state: Value = serde_json::from_str(&world.read("rows.csv.stonecrop-import")).unwrap();
    let run = world.run(&["import", "rows", "rows.csv", "--resume", "--yes", "--json"]);
    assert_eq!((run.code, run.errors.as_str()), (1, ""));
    let summary: Value = serde_json::from_str(&run.out).unwrap();
    let imported = state["imported"].as_u64().unwrap() + summary["imported"].as_u64().unwrap();
    assert_eq!(imported, 39_960);
    assert_eq!(world.good(&["query", "rows", "--count"]), "39960\n");
    let lines: std::collections::BTreeSet<u64> = json_lines(&world.read("rows.csv.rejects.jsonl"))
        .iter()
        .map(|reject| reject["line"].as_u64().unwrap())
        .collect();
    assert_eq!(lines, (0..40).map(|n| n * 1_000 + 8).collect());
}

#[test]
fn what_can_not_be_imported_is_told_before_anything_is_written() {
    let world = World::folder();
    world.write("same.csv", "a,b\n1,x\n1,x\n");
    let errors = world.run(&["import", "t", "same.csv", "--yes"]).bad(2);
    assert!(errors.contains("--key"), "{errors}");
    let errors = world.run(&["import", "t", "same.csv", "--key", "c", "--yes"]).bad(2);
    assert!(errors.contains("no such column"), "{errors}");
    world.run(&["import", "t", "missing.csv", "--yes"]).bad(1);
    world.write("none.csv", "a,b\n");
    world.run(&["import", "t", "none.csv", "--yes"]).bad(1);
    assert!(!world.path("data").exists());
    world.good(&["table", "create", "t", "--key", "id u64"]);
    let errors = world.run(&["import", "t", "same.csv", "--yes"]).bad(1);
    assert!(errors.contains("the field \"id\""), "{errors}");
}
