//! Changes of a table that keeps them.

use serde_json::{Value, json};

use crate::world::World;

/// A line without the time, which is another every time.
fn plain(line: &str) -> String {
    let mut words: Vec<&str> = line.split("  ").map(str::trim).collect();
    words.retain(|word| !word.is_empty());
    words.remove(1);
    words.join(" | ")
}

#[test]
fn changes_are_shown_from_the_oldest_on_or_after_a_number() {
    let world = World::folder();
    world.good(&["table", "create", "pets", "--key", "id u64", "--changes", "24h"]);
    world.good(&["put", "pets", "1", "name=Rex", "age=3"]);
    world.good(&["put", "pets", "1", "age=4", "kind=dog"]);
    world.good(&["put", "pets", "1", "age=4"]);
    world.good(&["put", "pets", "1", "--remove", "kind"]);
    world.good(&["delete", "pets", "1"]);
    let shown = world.good(&["changes", "pets"]);
    let expected = [
        "1 | new | 1 | age 3, name Rex",
        "2 | changed | 1 | age 3 -> 4, kind dog",
        "3 | changed | 1 | kind dog -> nothing",
        "4 | gone | 1 | age 4, name Rex",
    ];
    assert_eq!(shown.lines().map(plain).collect::<Vec<_>>(), expected);
    let rest = world.good(&["changes", "pets", "--after", "3", "--json"]);
    let change: Value = serde_json::from_str(&rest).unwrap();
    assert_eq!((&change["number"], &change["new"]), (&json!(4), &Value::Null));
    assert_eq!(world.good(&["changes", "pets", "--after", "latest"]), "");
}

#[test]
fn changes_are_switched_on_and_off_and_what_is_missing_is_said() {
    let world = World::folder();
    world.good(&["table", "create", "pets", "--key", "id u64"]);
    let errors = world.run(&["changes", "pets"]).bad(4);
    assert!(errors.contains("--changes 24h"), "{errors}");
    let shown = world.good(&["table", "alter", "pets", "--changes", "1h"]);
    assert!(shown.contains("Changes of rows are kept for 1h."), "{shown}");
    world.good(&["put", "pets", "1", "name=Rex"]);
    let shown = world.good(&["table", "alter", "pets", "--changes", "off"]);
    assert!(!shown.contains("Changes"), "{shown}");
    assert_eq!(world.good(&["changes", "pets"]).lines().count(), 1, "they can still be read");
    let errors = world.run(&["changes", "pets", "--after", "999"]).bad(3);
    assert!(errors.contains("--after latest"), "{errors}");
    world.run(&["table", "alter", "pets", "--changes", "soon"]).bad(2);
    let errors = world.run(&["changes", "pets", "--follow"]).bad(2);
    assert!(errors.contains("http://"), "{errors}");
}
