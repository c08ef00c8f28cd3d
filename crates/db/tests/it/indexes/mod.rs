//! Indexes: which rows have an entry, and when; seen in the files themselves.

mod backfill;
mod check;
mod keys;
mod unique;

use bytes::Bytes;
use stonecrop::{
    Condition, Database, Error, Family, Index, Query, Scan, TableSchema, Value, Write,
};
use stonecrop_store::{Batch, Direction, Durability, FjallStore, KeyRange, Read, Store};

use crate::harness::{
    Engine, Fixture, State, at, in_every_state, on_every_engine, rows, seconds, value,
};

/// What every key of an index's entry begins with.
const INDEX: [u8; 2] = [0x01, 0x30];
/// What every key of a row's entry begins with.
const ROW: [u8; 2] = [0x01, 0x20];
/// What every key of an index's progress begins with.
const PROGRESS: [u8; 3] = [0x01, 0x10, 0x04];

type Entries = Vec<(Bytes, Bytes)>;

fn schema() -> TableSchema {
    let crm = Family::new("crm").column("name").column("email").column("age");
    let web = Family::new("web").column("seen").column("page").ttl(seconds(5)).keep(seconds(5));
    TableSchema::new("table", "id u64", "").unwrap().family(crm).family(web)
}

fn index(columns: &str) -> Index {
    Index::new("index", columns).unwrap()
}

fn with_index(engine: Engine, index: Index) -> Fixture {
    let fixture = Fixture::new(engine);
    fixture.db.create_table(schema().index(index)).unwrap();
    fixture
}

fn write(fixture: &Fixture, write: Write<'_>) {
    fixture.table().write(write).unwrap();
}

fn stored(store: &FjallStore, prefix: &[u8]) -> Entries {
    let entries = store.scan(0, KeyRange::prefix(prefix), Direction::Forward).unwrap();
    entries.map(Result::unwrap).collect()
}

/// All entries of indexes that are stored, gone or not.
fn entries(fixture: &mut Fixture) -> Entries {
    fixture.beneath(|store| stored(store, &INDEX))
}

/// Puts, or deletes where there is no value, beneath the database.
fn change(fixture: &mut Fixture, changes: impl IntoIterator<Item = (Bytes, Option<Bytes>)>) {
    fixture.beneath(|store| {
        let mut batch = Batch::new();
        for (key, value) in changes {
            match value {
                Some(value) => batch.put(0, key, value),
                None => batch.delete(0, key),
            }
        }
        store.write(batch, Durability::Sync).unwrap();
    });
}

fn assert_clean(fixture: &Fixture) {
    let report = fixture.db.check().unwrap();
    assert!(report.is_clean(), "{report:#?}");
}

#[test]
fn a_row_has_an_entry_only_with_all_the_columns() {
    let mut fixture = with_index(Engine::Fjall, index("name string, seen i64, loose i64"));
    write(&fixture, Write::put(1));
    write(&fixture, Write::put(2).set("name", "Ann").set("seen", 1));
    write(&fixture, Write::put(3).set("seen", 1).set("loose", 1).set("email", "a"));
    assert_eq!(entries(&mut fixture).len(), 0);
    write(&fixture, Write::put(2).set("loose", 1));
    write(&fixture, Write::put(3).set("name", "Bob"));
    assert_eq!(entries(&mut fixture).len(), 2);
    write(&fixture, Write::put(2).remove("loose"));
    write(&fixture, Write::put(3).remove("name"));
    assert_eq!(entries(&mut fixture).len(), 0);
    assert_clean(&fixture);
}

#[test]
fn a_null_has_an_entry_only_where_nulls_have_a_place() {
    for (columns, count) in [
        ("age i64", 0),
        ("age i64 desc", 0),
        ("age i64 nulls first", 1),
        ("age i64 desc nulls last", 1),
        ("age i64 nulls first, loose i64", 0),
        ("age i64 nulls first, loose i64 nulls last", 1),
    ] {
        let mut fixture = with_index(Engine::Fjall, index(columns));
        write(&fixture, Write::put(1).set("age", Value::Null).set("loose", Value::Null));
        assert_eq!(entries(&mut fixture).len(), count, "{columns}");
        write(&fixture, Write::put(1).set("age", 1).set("loose", 1));
        assert_eq!(entries(&mut fixture).len(), 1, "{columns}");
        write(&fixture, Write::put(1).set("age", Value::Null).set("loose", Value::Null));
        assert_eq!(entries(&mut fixture).len(), count, "{columns}");
        assert_clean(&fixture);
    }
}

#[test]
fn a_value_that_stays_the_same_writes_nothing_to_the_index() {
    let mut fixture = with_index(Engine::Fjall, index("name string"));
    write(&fixture, Write::put(1).set("name", "Ann"));
    // If the entry is written again, it is back.
    let entry = entries(&mut fixture).remove(0).0;
    change(&mut fixture, [(entry, None)]);
    write(&fixture, Write::put(1).set("name", "Ann"));
    write(&fixture, Write::put(1).set("name", "Ann").set("email", "ann@x").set("age", 41));
    write(&fixture, Write::put(1).set("email", "ann@y").set("loose", 1));
    write(&fixture, Write::replace(1).set("name", "Ann"));
    assert_eq!(entries(&mut fixture).len(), 0);
    write(&fixture, Write::put(1).set("name", "Anne"));
    assert_eq!(entries(&mut fixture).len(), 1);
}

#[test]
fn a_row_that_is_given_another_value_has_one_entry() {
    let mut fixture = with_index(Engine::Fjall, index("name string desc, loose i64"));
    let mut seen = Vec::new();
    for (name, loose) in [("Ann", 1), ("Bob", 1), ("Bob", 2), ("", -1), ("Ann", 1)] {
        write(&fixture, Write::put(1).set("name", name).set("loose", loose));
        let mut found = entries(&mut fixture);
        assert_eq!(found.len(), 1);
        seen.append(&mut found);
    }
    assert_eq!(seen.first(), seen.last());
    seen.dedup();
    assert_eq!(seen.len(), 5);
    // Many times in one batch, too.
    let names = ["Cy", "Di", "Cy", "Ed"];
    fixture.table().write_all(names.map(|name| Write::put(1).set("name", name))).unwrap();
    assert_eq!(entries(&mut fixture).len(), 1);
    assert_clean(&fixture);
}

#[test]
fn every_kind_of_write_keeps_the_index_exact() {
    let late = |write: Write<'static>| write.written_at(at(-5));
    // What is written to a row with the age 40, and its age in the index afterwards.
    let cases: [(Write<'static>, Option<i64>); 12] = [
        (Write::put(1).set("age", 41), Some(41)),
        (Write::put(1).add("age", 3), Some(43)),
        (Write::put(1).set("email", "a"), Some(40)),
        (Write::put(1).remove("age"), None),
        (Write::put(1).set("age", Value::Null), None),
        (Write::replace(1).set("name", "Bob"), None),
        (Write::replace(1).set("age", 42), Some(42)),
        (Write::replace(1), None),
        (Write::delete(1), None),
        (late(Write::put(1).set("age", 1)), Some(40)),
        (late(Write::delete(1)), Some(40)),
        (late(Write::replace(1).set("age", 2)), Some(40)),
    ];
    let of = |age: i64| {
        let mut fixture = with_index(Engine::Fjall, index("age i64"));
        write(&fixture, Write::put(1).set("age", age));
        entries(&mut fixture)
    };
    for (case, age) in cases {
        let mut fixture = with_index(Engine::Fjall, index("age i64"));
        write(&fixture, Write::put(1).set("age", 40).set("name", "Ann"));
        let text = format!("{case:?}");
        write(&fixture, case);
        assert_eq!(entries(&mut fixture), age.map(of).unwrap_or_default(), "{text}");
        assert_clean(&fixture);
    }
}

#[test]
fn a_late_write_after_a_delete_brings_no_entry_back() {
    in_every_state(
        |fixture| {
            fixture.db.create_table(schema().index(index("age i64, loose i64"))).unwrap();
            write(fixture, Write::put(1).set("age", 1).set("loose", 1));
            write(fixture, Write::delete(1));
            let late = Write::put(1).set("age", 2).set("loose", 2).written_at(at(-1));
            write(fixture, late);
        },
        |fixture| {
            assert_eq!(value(fixture, "age"), None);
            assert_clean(fixture);
        },
    );
}

#[test]
fn a_value_of_another_type_is_refused_by_its_column_and_the_index() {
    on_every_engine(|fixture| {
        let table =
            fixture.db.create_table(schema().index(index("age i64, loose string"))).unwrap();
        table.write(Write::put(1).set("age", 1).set("loose", "a")).unwrap();
        let refused = [
            (Write::put(1).set("age", "old"), "age"),
            (Write::put(1).set("age", 1.5), "age"),
            (Write::put(1).set("loose", 1), "loose"),
            (Write::put(1).append("loose", [1]), "loose"),
            (Write::replace(2).set("age", 1).set("loose", true), "loose"),
        ];
        for (write, column) in refused {
            let error = table.write_all([Write::put(3).set("age", 7), write]).unwrap_err();
            let Error::Write { write: 1, cause } = &error else { panic!("{error:?}") };
            assert!(matches!(&**cause, Error::Value { column: c, .. } if c == column), "{error:?}");
            let text = error.to_string();
            assert!(text.contains(column) && text.contains("\"index\"") || text.contains("list"));
        }
        assert_eq!(rows(&table, Scan::all()).len(), 1);
        assert_eq!(value(fixture, "age"), Some(1.into()));
        assert_clean(fixture);
    });
}

#[test]
fn a_value_that_makes_the_key_of_an_entry_too_long_is_refused_as_too_large() {
    on_every_engine(|fixture| {
        let table = fixture.db.create_table(schema().index(index("name string"))).unwrap();
        for length in [65_530, 65_600, 1 << 20] {
            let error = table.write(Write::put(1).set("name", "a".repeat(length))).unwrap_err();
            assert!(matches!(&error, Error::TooLarge { .. }), "{length}: {error:?}");
            assert!(error.to_string().contains("\"index\""), "{error}");
        }
        table.write(Write::put(1).set("name", "a".repeat(65_000))).unwrap();
        table.write(Write::put(1).set("email", "a".repeat(1 << 20))).unwrap();
        assert_clean(fixture);
    });
}

#[test]
fn an_entry_is_gone_with_the_first_of_its_columns_and_compaction_drops_it() {
    let mut fixture = with_index(Engine::Fjall, index("age i64, seen i64"));
    write(&fixture, Write::put(1).set("age", 1).set("seen", 1));
    for (passes, count) in [(9, 1), (1, 1), (59, 1), (1, 0)] {
        fixture.pass(passes);
        fixture.bring(State::Compacted);
        assert_clean(&fixture);
        assert_eq!(entries(&mut fixture).len(), count);
    }
    assert_eq!(value(&fixture, "age"), Some(1.into()));
    write(&fixture, Write::put(1).set("seen", 2));
    assert_eq!(entries(&mut fixture).len(), 1);
    assert_clean(&fixture);
}

#[test]
fn an_entry_of_a_value_that_is_gone_does_not_outlive_the_next_write() {
    let mut fixture = with_index(Engine::Fjall, index("seen i64"));
    write(&fixture, Write::put(1).set("seen", 1));
    fixture.pass(10);
    write(&fixture, Write::put(1).set("seen", 2));
    assert_eq!(entries(&mut fixture).len(), 1);
    fixture.pass(10);
    write(&fixture, Write::put(1).set("page", "/"));
    assert_eq!(entries(&mut fixture).len(), 0);
}

#[test]
fn rows_and_indexes_agree_when_the_clock_goes_back_to_before_a_value_was_gone() {
    on_every_engine(|fixture| {
        let table = fixture.db.create_table(schema().index(index("seen i64, loose i64"))).unwrap();
        table.write(Write::put(1).set("seen", 1).set("loose", 1)).unwrap();
        fixture.clock.set(at(11));
        table.write(Write::put(1).set("loose", 2)).unwrap();
        table.create_index(Index::new("later", "seen i64").unwrap()).unwrap();
        table.wait_for_index("later").unwrap();
        fixture.clock.set(at(9));
        assert_eq!(value(fixture, "seen"), Some(1.into()));
        assert_clean(fixture);
    });
}

#[test]
fn the_entries_of_a_dropped_index_go_with_compaction_and_it_can_be_made_again() {
    let mut fixture = with_index(Engine::Fjall, index("age i64"));
    fixture.table().create_index(Index::new("other", "name string").unwrap()).unwrap();
    fixture.table().write_all((0..100).map(|id| Write::put(id).set("age", 1))).unwrap();
    fixture.table().write_all((0..50).map(|id| Write::put(id).set("name", "Ann"))).unwrap();
    fixture.table().drop_index("index").unwrap();
    assert_eq!(entries(&mut fixture).len(), 150, "it is instant");
    assert_clean(&fixture);
    write(&fixture, Write::put(1).set("age", "of no type any more"));
    write(&fixture, Write::put(1).set("age", 2));
    fixture.bring(State::Compacted);
    assert_eq!(entries(&mut fixture).len(), 50);
    fixture.table().create_index(index("age i64 desc")).unwrap();
    fixture.table().wait_for_index("index").unwrap();
    fixture.bring(State::Compacted);
    assert_eq!(entries(&mut fixture).len(), 150);
    assert_clean(&fixture);
}

#[test]
fn a_truncated_table_has_its_indexes_and_none_of_their_entries() {
    let mut fixture = with_index(Engine::Fjall, index("age i64").unique());
    fixture.table().write_all((0..100).map(|id| Write::put(id).set("age", id as i64))).unwrap();
    fixture.table().truncate().unwrap();
    assert_clean(&fixture);
    write(&fixture, Write::put(1_000).set("age", 7));
    assert!(fixture.table().write(Write::put(1_001).set("age", 7)).is_err());
    fixture.bring(State::Compacted);
    assert_eq!(entries(&mut fixture).len(), 1);
    fixture.db.drop_table("table").unwrap();
    fixture.db.create_table(schema().index(index("age i64"))).unwrap();
    fixture.bring(State::Compacted);
    assert_eq!(entries(&mut fixture).len(), 0);
    assert_clean(&fixture);
}

#[test]
fn copies_of_covered_columns_follow_every_refresh() {
    let covering = index("age i64").covering(["seen", "loose", "name"]);
    let mut fixture = with_index(Engine::Fjall, covering);
    write(&fixture, Write::put(1).set("age", 1).set("seen", 1).set("loose", 1));
    let mut before = entries(&mut fixture);
    let writes = [
        Write::put(1).set("seen", 1),
        Write::put(1).set("seen", 2),
        Write::put(1).set("loose", 1),
        Write::put(1).remove("loose"),
        Write::put(1).set("name", "Ann"),
        Write::put(1).set("email", "a"),
    ];
    for refresh in writes {
        fixture.pass(1);
        let text = format!("{refresh:?}");
        write(&fixture, refresh);
        assert_clean(&fixture);
        let after = entries(&mut fixture);
        assert_eq!(after.len(), 1);
        assert!(after[0].0 == before[0].0 && after[0].1 != before[0].1, "{text}");
        before = after;
    }
}

#[test]
fn a_copy_of_what_is_gone_and_dropped_from_its_row_is_no_disagreement() {
    in_every_state(
        |fixture| {
            let covering = index("age i64").covering(["seen", "loose"]);
            fixture.db.create_table(schema().index(covering)).unwrap();
            write(fixture, Write::put(1).set("age", 1).set("seen", 1));
            let short = Write::put(1).set("loose", 1).ttl(seconds(1)).keep(seconds(1));
            write(fixture, short);
            fixture.pass(1_000);
            fixture.db.compact().unwrap();
        },
        assert_clean,
    );
}

#[test]
fn indexes_of_a_table_that_was_declared_in_json_are_numbered_by_the_table() {
    let json = r#"{"name": "t", "partition_key": "id u64", "sort_key": "", "placement": "hash",
        "families": [], "indexes": [{"name": "a", "columns": "a i64"},
        {"name": "b", "columns": "b i64"}]}"#;
    let db = Database::memory();
    let table = db.create_table(serde_json::from_str(json).unwrap()).unwrap();
    table.write_all((0..10).map(|id| Write::put(id).set("a", id).set("b", 9 - id))).unwrap();
    assert_eq!(table.count(&Query::new().filter(Condition::eq("a", 3))).unwrap(), 1);
    assert!(db.check().unwrap().is_clean());
}
