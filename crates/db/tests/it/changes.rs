//! Changes of a table that keeps them: what a reader can rely on.

use std::collections::BTreeMap;
use std::thread;
use std::time::Duration;

use proptest::prelude::*;
use stonecrop::{
    Change, Condition, Database, Error, Family, Scan, Table, TableSchema, Value, Write,
};
use stonecrop_store::{Direction, Read};

use crate::harness::{ENGINES, Engine, Fixture, State, in_every_state, rows, seconds};

const DAY: Duration = seconds(86_400);

fn schema() -> TableSchema {
    let crm = Family::new("crm").column("name").column("age");
    TableSchema::new("table", "id u64", "").unwrap().family(crm).changes(DAY)
}

fn create(fixture: &Fixture) -> Table {
    fixture.db.create_table(schema()).unwrap()
}

/// All changes from the oldest on, in pages of a few.
fn all(table: &Table) -> Vec<Change> {
    let (mut found, mut after) = (Vec::new(), None);
    loop {
        let page = table.changes(after, 3).unwrap();
        after = Some(page.next);
        let is_last = !page.more;
        found.extend(page.changes);
        if is_last {
            return found;
        }
    }
}

fn numbers(changes: &[Change]) -> Vec<u64> {
    changes.iter().map(|change| change.number).collect()
}

#[test]
fn a_life_is_told_from_its_beginning_to_its_end_wherever_the_data_is() {
    let fill = |fixture: &Fixture| {
        let table = create(fixture);
        table.write(Write::put(1).set("name", "Ann").set("loose", 1)).unwrap();
        table.write(Write::put(1).set("age", 41)).unwrap();
        table.write(Write::put(1).remove("loose")).unwrap();
        table.write(Write::delete(1)).unwrap();
    };
    in_every_state(fill, |fixture| {
        let changes = all(&fixture.table());
        let names = |row: &Option<stonecrop::Row>| {
            let names = |row: &stonecrop::Row| {
                row.columns().map(|(name, _)| name.to_owned()).collect::<Vec<_>>().join(" ")
            };
            row.as_ref().map_or("-".to_owned(), names)
        };
        let told = changes.iter().map(|c| (names(&c.old), names(&c.new))).collect::<Vec<_>>();
        let expected = [
            ("-", "name loose"),
            ("name loose", "name age loose"),
            ("name age loose", "name age"),
            ("name age", "-"),
        ];
        assert_eq!(told, expected.map(|(old, new)| (old.to_owned(), new.to_owned())));
        assert_eq!(numbers(&changes), [1, 2, 3, 4]);
        assert!(fixture.db.check().unwrap().is_clean());
    });
}

#[test]
fn a_write_that_nobody_could_see_is_no_change() {
    let fixture = Fixture::new(Engine::Memory);
    let table = create(&fixture);
    table.write(Write::put(1).set("name", "Ann").set("loose", 1)).unwrap();
    let before = table.last_change().unwrap();
    fixture.pass(1);
    table.write(Write::put(1).set("name", "Ann")).unwrap();
    table.write(Write::replace(1).set("name", "Ann").set("loose", 1)).unwrap();
    table.write(Write::put(1)).unwrap();
    table.write(Write::put(1).remove("age")).unwrap();
    table.write(Write::delete(2)).unwrap();
    let late = Write::put(1).set("name", "An").written_at(crate::harness::at(-5));
    assert_eq!(table.write(late).unwrap().writes[0].ignored, ["crm"]);
    assert_eq!(table.last_change().unwrap(), before);
    table.write(Write::put(3)).unwrap();
    let empty = table.changes(Some(before), 10).unwrap().changes.remove(0);
    assert!(empty.old.is_none());
    assert_eq!(empty.new.unwrap().columns().count(), 0, "a row without columns is there");
}

#[test]
fn a_table_that_keeps_no_changes_says_so_and_stores_none() {
    let mut fixture = Fixture::new(Engine::Fjall);
    let schema = TableSchema::new("table", "id u64", "").unwrap();
    let table = fixture.db.create_table(schema).unwrap();
    table.write(Write::put(1).set("name", "Ann")).unwrap();
    for error in [table.changes(None, 1).unwrap_err(), table.last_change().unwrap_err()] {
        assert!(matches!(error, Error::NoChanges { .. }));
        assert!(error.to_string().contains("switch them on"), "{error}");
    }
    let count = |store: &stonecrop_store::FjallStore, prefix: &[u8]| {
        store.scan_prefix(0, prefix, Direction::Forward).unwrap().count()
    };
    let (changes, numbers) =
        fixture.beneath(|store| (count(store, &[0x01, 0x50]), count(store, &[0x01, 0x10, 0x05])));
    assert_eq!((changes, numbers), (0, 0));
}

#[test]
fn changes_are_hidden_once_their_time_is_over_and_their_space_comes_back() {
    let mut fixture = Fixture::new(Engine::Fjall);
    let table = create(&fixture);
    for id in 0..10 {
        table.write(Write::put(id).set("name", "Ann")).unwrap();
    }
    fixture.pass(86_399);
    assert_eq!(all(&table).len(), 10);
    fixture.pass(1);
    assert!(all(&table).is_empty());
    let lost = table.changes(Some(3), 10).unwrap_err();
    assert!(lost.to_string().contains("begin again"), "{lost}");
    assert!(table.changes(Some(10), 10).unwrap().changes.is_empty(), "nothing was missed");

    fixture.pass(60);
    fixture.bring(State::Compacted);
    fixture.bring(State::Reopened);
    let left = fixture.beneath(|store| {
        let changes = store.scan_prefix(0, &[0x01, 0x50], Direction::Forward).unwrap();
        changes.map(|entry| entry.unwrap().0[6..].to_vec()).collect::<Vec<_>>()
    });
    assert_eq!(left, [10_u64.to_be_bytes()], "the last stays, for the numbers to go on from");

    let table = fixture.table();
    assert!(table.changes(Some(10), 10).unwrap().changes.is_empty(), "still nothing was missed");
    table.write(Write::put(1).set("name", "Bob")).unwrap();
    assert_eq!(numbers(&table.changes(Some(10), 10).unwrap().changes), [11]);
}

#[test]
fn numbers_are_never_used_again_whatever_happens_to_the_changes() {
    let mut fixture = Fixture::new(Engine::Fjall);
    create(&fixture);
    let mut last = 0;
    for round in 0..12 {
        let table = fixture.table();
        table.write(Write::put(1).set("age", round)).unwrap();
        let now = table.last_change().unwrap();
        assert!(now > last, "round {round}: {now} after {last}");
        last = now;
        match round % 6 {
            0 => table.truncate().unwrap(),
            1 => _ = table.keep_changes(None).unwrap(),
            2 => _ = table.keep_changes(Some(DAY)).unwrap(),
            3 => fixture.pass(2 * 86_400),
            4 => fixture.bring(State::Compacted),
            _ => {}
        }
        if round % 6 == 1 {
            // It is not counted while it is off; on for the next round.
            fixture.bring(State::Reopened);
            fixture.table().keep_changes(Some(DAY)).unwrap();
        }
        fixture.bring(State::Reopened);
    }
}

#[test]
fn who_reads_on_after_changes_were_not_kept_for_a_while_is_told() {
    let fixture = Fixture::new(Engine::Memory);
    let table = create(&fixture);
    table.write(Write::put(1).set("age", 1)).unwrap();
    let seen = table.last_change().unwrap();
    table.keep_changes(None).unwrap();
    assert_eq!(all(&table).len(), 1, "what was kept can still be read");
    table.write(Write::put(1).set("age", 2)).unwrap();
    assert!(table.changes(Some(seen), 10).unwrap().changes.is_empty());
    table.keep_changes(Some(DAY)).unwrap();
    assert!(matches!(table.changes(Some(seen), 10), Err(Error::ChangesLost { .. })));
    let unknown = table.changes(Some(1_000), 10);
    assert!(matches!(unknown, Err(Error::ChangesLost { .. })), "a number of another table");
}

#[test]
fn a_page_has_no_more_than_a_mebibyte_and_at_least_one_change() {
    let fixture = Fixture::new(Engine::Memory);
    let table = create(&fixture);
    for (id, size) in [(1, 400_000), (2, 400_000), (3, 400_000), (4, 3_000_000), (5, 10)] {
        table.write(Write::put(id).set("name", "x".repeat(size))).unwrap();
    }
    let mut after = 0;
    for (count, more) in [(2, true), (1, true), (1, true), (1, false)] {
        let page = table.changes(Some(after), 100).unwrap();
        assert_eq!((page.changes.len(), page.more), (count, more));
        after = page.next;
    }
    let none = table.changes(Some(0), 0).unwrap();
    assert!(none.changes.is_empty() && none.more && none.next == 0);
}

#[test]
fn who_waits_is_woken_by_a_commit_and_by_the_end_of_the_table() {
    let fixture = Fixture::new(Engine::Memory);
    let table = create(&fixture);
    let waits = |after: u64, act: &dyn Fn()| {
        let changed = table.changed(after).unwrap();
        assert!(!changed.wait(Duration::ZERO));
        thread::scope(|scope| {
            let waiting = scope.spawn(|| changed.wait(seconds(60)));
            act();
            assert!(waiting.join().unwrap(), "it was woken");
        });
    };
    waits(0, &|| drop(table.write(Write::put(1).set("age", 1)).unwrap()));
    waits(1, &|| table.truncate().unwrap());
    let last = table.last_change().unwrap();
    waits(last, &|| fixture.db.drop_table("table").unwrap());
    let table = create(&fixture);
    let changed = table.changed(0).unwrap();
    fixture.db.close().unwrap();
    assert!(changed.wait(Duration::ZERO));
}

#[test]
fn changes_are_not_kept_for_no_time() {
    let schema = TableSchema::new("table", "id u64", "").unwrap().changes(Duration::ZERO);
    let error = Database::memory().create_table(schema).unwrap_err();
    assert!(error.to_string().contains("for some time, or not at all"), "{error}");
}

/// The rows that changes lead to, from nothing.
fn replayed(changes: &[Change]) -> BTreeMap<String, BTreeMap<String, Value>> {
    let mut rows = BTreeMap::new();
    let mut last = 0;
    for change in changes {
        assert!(change.number > last, "{} after {last}", change.number);
        last = change.number;
        let key = format!("{:?}", change.key);
        let before = rows.remove(&key);
        assert_eq!(before, change.old.as_ref().map(columns), "change {last}");
        if let Some(new) = &change.new {
            rows.insert(key, columns(new));
        }
    }
    rows
}

fn columns(row: &stonecrop::Row) -> BTreeMap<String, Value> {
    row.columns().map(|(name, cell)| (name.to_owned(), cell.value.clone())).collect()
}

fn present(table: &Table) -> BTreeMap<String, BTreeMap<String, Value>> {
    let rows = rows(table, Scan::all());
    rows.iter().map(|row| (format!("{:?}", row.key()), columns(row))).collect()
}

#[derive(Clone, Debug)]
enum Step {
    Write(Vec<(u64, u8, i64)>),
    Bring(State),
}

fn real(id: u64, kind: u8, number: i64) -> Write<'static> {
    match kind {
        0 => Write::put(id).set("age", number).set("name", "Ann"),
        1 => Write::put(id).add("age", number),
        2 => Write::put(id).set("loose", number),
        3 => Write::put(id).remove("loose").remove("name"),
        4 => Write::replace(id).set("age", number),
        5 => Write::delete(id),
        6 => Write::put(id),
        _ => Write::put(id).set("age", number).when(Condition::lt("age", number)),
    }
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 200,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn replaying_the_changes_from_nothing_gives_the_rows(
        fjall in any::<bool>(),
        shards in prop::sample::select(vec![1_u16, 5]),
        steps in prop::collection::vec(
            prop_oneof![
                8 => prop::collection::vec((0..6_u64, 0..8_u8, 0..3_i64), 1..5)
                    .prop_map(Step::Write),
                1 => prop::sample::select(vec![State::Flushed, State::Compacted, State::Reopened])
                    .prop_map(Step::Bring),
            ],
            1..40,
        ),
    ) {
        let engine = if fjall { Engine::Fjall } else { Engine::Memory };
        let mut fixture = Fixture::with_shards(engine, shards);
        create(&fixture);
        for step in steps {
            match step {
                Step::Write(writes) => {
                    let writes = writes.into_iter().map(|(id, kind, number)| real(id, kind, number));
                    // One that is refused leaves nothing.
                    let _ = fixture.table().write_all(writes);
                }
                Step::Bring(state) => fixture.bring(state),
            }
        }
        let table = fixture.table();
        prop_assert_eq!(replayed(&all(&table)), present(&table));
    }
}

#[test]
fn the_changes_of_many_threads_are_in_the_order_of_their_commits() {
    for &engine in ENGINES {
        let fixture = Fixture::with_shards(engine, 3);
        let table = create(&fixture);
        thread::scope(|scope| {
            for thread in 0..4_u64 {
                let table = &table;
                scope.spawn(move || {
                    for round in 0..100_u64 {
                        let (id, kind) = ((round * 7 + thread) % 5, (round + thread) % 8);
                        let _ = table.write(real(id, kind as u8, round as i64));
                    }
                });
            }
            // Reading meanwhile, nothing is missed and nothing is told twice.
            let mut seen = Vec::new();
            while seen.len() < 40 {
                let after = seen.last().copied().unwrap_or(0);
                table.changed(after).unwrap().wait(seconds(60));
                seen.extend(numbers(&table.changes(Some(after), 7).unwrap().changes));
            }
            assert!(seen.is_sorted_by(|a, b| a < b));
            assert_eq!(seen, numbers(&table.changes(Some(0), seen.len()).unwrap().changes));
        });
        assert_eq!(replayed(&all(&table)), present(&table));
    }
}
