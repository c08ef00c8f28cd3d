//! What compaction gives back, and that no reader can tell whether it ran.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use stonecrop::{Family, History, Scan, Table, TableSchema, Write};

use crate::harness::{Engine, Fixture, State, on_every_engine, rows, seconds, value};

const ROWS: u64 = 20_000;

fn create(fixture: &Fixture) -> Table {
    let short = Family::new("short").column("value").ttl(seconds(5)).keep(seconds(5));
    let long = Family::new("long").column("other").history(History::For(seconds(10)));
    let schema = TableSchema::new("table", "id u64", "").unwrap().family(short).family(long);
    fixture.db.create_table(schema).unwrap()
}

fn fill(table: &Table, columns: &[&'static str]) {
    for start in (0..ROWS).step_by(1_000) {
        let row = |id: u64| {
            let text = format!("{:064}", id * 7_919);
            columns.iter().fold(Write::put(id), |write, column| write.set(*column, text.clone()))
        };
        table.write_all((start..start + 1_000).map(row)).unwrap();
    }
}

/// The bytes of tables on disk. Journals are left out: the engine makes them of a size of its own,
/// far larger than what is tested here.
fn table_bytes(fixture: &Fixture) -> u64 {
    let stats = fixture.db.stats().unwrap();
    stats.disk_bytes - stats.journal_bytes
}

/// That what is left after all rows went and compaction ran is what an empty table takes.
fn gives_its_space_back(fill: impl Fn(&Fixture, &Table), go: impl Fn(&Fixture, &Table)) {
    let mut fixture = Fixture::new(Engine::Fjall);
    let table = create(&fixture);
    fixture.bring(State::Compacted);
    let empty = table_bytes(&fixture);
    fill(&fixture, &table);
    fixture.bring(State::Compacted);
    let full = table_bytes(&fixture);
    go(&fixture, &table);
    fixture.bring(State::Compacted);
    let after = table_bytes(&fixture);
    assert!(full > empty + 100_000, "{full} bytes when full");
    // An empty table takes some hundred bytes, and so does what the engine notes of each flush.
    let room = (empty / 10).max(1_000);
    assert!(after <= empty + room, "{empty} bytes when empty, {after} after compaction");
    assert!(rows(&fixture.table(), Scan::all()).is_empty());
}

#[test]
fn the_space_of_rows_that_are_gone_comes_back() {
    gives_its_space_back(|_, table| fill(table, &["value"]), |fixture, _| fixture.pass(10 + 60));
}

#[test]
fn the_space_of_a_truncated_table_comes_back() {
    let fill = |_: &Fixture, table: &Table| fill(table, &["value", "other", "loose"]);
    gives_its_space_back(fill, |_, table| table.truncate().unwrap());
}

#[test]
fn the_space_of_a_dropped_table_comes_back() {
    let fill = |_: &Fixture, table: &Table| fill(table, &["value", "other", "loose"]);
    gives_its_space_back(fill, |fixture, _| {
        fixture.db.drop_table("table").unwrap();
        create(fixture);
    });
}

#[test]
fn the_space_of_deleted_rows_and_of_their_history_comes_back() {
    let fill = |_: &Fixture, table: &Table| {
        fill(table, &["other", "loose"]);
        fill(table, &["other"]);
    };
    gives_its_space_back(fill, |fixture, table| {
        for id in 0..ROWS {
            table.write(Write::delete(id)).unwrap();
        }
        // The word of a delete is kept for a day.
        fixture.pass(86_400 + 60);
    });
}

#[test]
fn an_older_value_does_not_come_back_when_a_newer_one_is_dropped() {
    on_every_engine(|fixture| {
        let table = create(fixture);
        for column in ["value", "other", "loose"] {
            table.write(Write::put(1).set(column, 1).ttl(seconds(100_000))).unwrap();
            fixture.bring(State::Flushed);
            let short = Write::put(1).set(column, 2).ttl(seconds(1)).keep(seconds(1));
            table.write(short).unwrap();
            fixture.bring(State::Flushed);
            fixture.pass(2);
            assert_eq!(value(fixture, column), None, "before compaction");
            fixture.bring(State::Compacted);
            assert_eq!(value(fixture, column), None);
            fixture.pass(3_600);
            fixture.bring(State::Compacted);
            assert_eq!(value(fixture, column), None);
            fixture.bring(State::Compacted);
            assert_eq!(value(fixture, column), None);
        }
        fixture.bring(State::Reopened);
        assert!(rows(&fixture.table(), Scan::all()).is_empty());
    });
}

#[test]
fn reads_give_the_same_answer_before_during_and_after_compaction() {
    on_every_engine(|fixture| {
        let table = create(fixture);
        for round in 0..4 {
            let row = |id: u64| Write::put(id).set("value", 1).set("other", round).set("loose", 2);
            table.write_all((0..500).map(row)).unwrap();
            fixture.bring(State::Flushed);
            fixture.pass(1);
        }
        // Those of odd ids are not refreshed, and so are gone and dropped first.
        fixture.pass(66);
        table.write_all((0..500).step_by(2).map(|id| Write::put(id).set("value", 3))).unwrap();
        fixture.bring(State::Flushed);
        fixture.pass(4);
        let before = rows(&table, Scan::all());
        let done = AtomicBool::new(false);
        thread::scope(|scope| {
            let reader = scope.spawn(|| {
                let mut reads = 0;
                while reads < 3 || !done.load(Ordering::SeqCst) {
                    assert!(rows(&table, Scan::all()) == before, "read {reads} is another");
                    reads += 1;
                }
            });
            for _ in 0..3 {
                fixture.db.compact().unwrap();
            }
            done.store(true, Ordering::SeqCst);
            reader.join().unwrap();
        });
        assert!(rows(&table, Scan::all()) == before);
    });
}
