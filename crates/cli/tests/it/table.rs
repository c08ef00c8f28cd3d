//! Tables and indexes.

use serde_json::{Value, json};

use crate::world::World;

#[test]
fn a_table_is_shown_as_it_was_created() {
    let world = World::folder();
    let shown = world.good(&[
        "table",
        "create",
        "people",
        "--key",
        "company string; id u64",
        "--family",
        "crm: name, email string, ttl 10m, keep 1h",
        "--family",
        "billing: plan string, history 5 versions",
        "--index",
        "unique by_email: email string; covering name",
    ]);
    let expected = "\
people  key company string; id u64, placed by hash

column  type    family   fresh for  kept for  history
name    any     crm      10m        1h        none
email   string  crm      10m        1h        none
plan    string  billing  ever       ever      5 versions

index     columns       unique  covering  state
by_email  email string  yes     name      complete
";
    assert_eq!(shown, expected);
    assert_eq!(world.good(&["table", "show", "people"]), expected);
    let listed = world.good(&["table", "list"]);
    let expected = "\
table   key                     families      columns  indexes
people  company string; id u64  crm, billing        3        1
";
    assert_eq!(listed, expected);
}

#[test]
fn a_table_can_be_copied_by_its_json() {
    let world = World::folder().with_people();
    let json = world.good(&["table", "show", "people", "--json"]);
    world.write("people.json", &json);
    world.good(&["table", "create", "copy", "--schema", "people.json"]);
    let copied: Value =
        serde_json::from_str(&world.good(&["table", "show", "copy", "--json"])).unwrap();
    let mut original: Value = serde_json::from_str(&json).unwrap();
    original["name"] = json!("copy");
    assert_eq!(copied, original);
}

#[test]
fn a_table_can_be_altered() {
    let world = World::folder().with_people();
    world.good(&["table", "alter", "people", "--add-column", "crm: phone string, fax"]);
    world.good(&[
        "table",
        "alter",
        "people",
        "--add-family",
        "extra: note",
        "--lifetime",
        "crm: ttl 1h",
    ]);
    let shown = world.good(&["table", "show", "people"]);
    for line in
        ["phone   string  crm     1h", "fax     any     crm", "note    any     extra   ever"]
    {
        assert!(shown.contains(line), "{shown}");
    }
    let errors = world.run(&["table", "alter", "people"]).bad(2);
    assert!(errors.contains("nothing to alter"), "{errors}");
}

#[test]
fn dropping_needs_a_yes_where_nobody_can_be_asked() {
    let world = World::folder().with_people();
    for command in ["drop", "truncate"] {
        let errors = world.run(&["table", command, "people"]).bad(2);
        assert!(errors.contains("--yes"), "{errors}");
    }
    assert_eq!(world.good(&["query", "people", "--count"]), "3\n");
    world.good(&["table", "truncate", "people", "--yes"]);
    assert_eq!(world.good(&["query", "people", "--count"]), "0\n");
    world.good(&["table", "drop", "people", "--yes"]);
    let errors = world.run(&["table", "show", "people"]).bad(3);
    assert!(errors.contains("there is no table \"people\""), "{errors}");
    assert!(errors.contains("stonecrop table list"), "{errors}");
}

#[test]
fn a_table_that_is_there_is_a_conflict() {
    let world = World::folder().with_people();
    world.run(&["table", "create", "people", "--key", "id u64"]).bad(4);
}

#[test]
fn a_folder_that_is_no_database_is_not_taken_for_one() {
    let world = World::folder();
    let errors = world.run(&["table", "list"]).bad(3);
    assert!(errors.contains("there is no database at"), "{errors}");
    assert!(!world.path("data").exists());
    std::fs::create_dir(world.path("data")).unwrap();
    world.write("data/something", "else");
    let errors = world.run(&["query", "people"]).bad(3);
    assert!(errors.contains("is not a Stonecrop database"), "{errors}");
    let errors = world.run(&["table", "create", "people", "--key", "id u64"]).bad(5);
    assert!(errors.contains("not empty"), "{errors}");
}

#[test]
fn an_index_is_complete_when_its_creation_returns() {
    let world = World::folder().with_people();
    let created = world.good(&["index", "create", "people", "by_city: city string, age i64 desc"]);
    let expected = "\
index    columns                     unique  covering  state
by_city  city string, age i64 desc   no                complete
";
    assert_eq!(
        created,
        expected
            .replace("desc   no", "desc  no")
            .replace("columns                     u", "columns                    u")
    );
    assert_eq!(world.good(&["index", "list", "people"]), created);
    assert_eq!(world.good(&["index", "wait", "people"]), "by_city is complete\n");
    let explained = world.good(&["query", "people", "--where", "city = 'Bern'", "--explain"]);
    assert!(explained.contains("by_city"), "{explained}");
    assert_eq!(world.good(&["index", "drop", "people", "by_city"]), "by_city is dropped\n");
    world.run(&["index", "drop", "people", "by_city"]).bad(3);
}

#[test]
fn a_unique_index_over_equal_values_fails_and_says_so() {
    let world = World::folder().with_people();
    let errors = world.run(&["index", "create", "people", "unique by_city: city string"]).bad(1);
    assert!(errors.contains("by_city"), "{errors}");
}

#[test]
fn care_is_taken_of_a_database() {
    let world = World::folder().with_people();
    assert!(world.good(&["check"]).ends_with("all agrees\n"));
    let report: Value = serde_json::from_str(&world.good(&["check", "--json"])).unwrap();
    assert_eq!(report["found"], 0);
    assert_eq!(world.good(&["compact"]), "compacted\n");
    let stats: Value = serde_json::from_str(&world.good(&["stats", "--json"])).unwrap();
    assert_eq!(stats["tables"], 1);
    assert!(world.good(&["stats"]).contains("tables"));
}
