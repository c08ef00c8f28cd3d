//! Two horizons: until when a family is fresh, and from when on it is gone.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use stonecrop::{
    Clock, Condition, Database, Family, Options, Scan, TableSchema, Timestamp, Value, Write,
};

use crate::harness::{Fixture, START, at, in_every_state, on_every_engine, rows, seconds, value};

/// A family that is fresh for 10 seconds and kept for 20 more, one that is never gone, one for ever.
fn schema() -> TableSchema {
    let short = Family::new("short").column("s1").column("s2").ttl(seconds(10)).keep(seconds(20));
    let stale = Family::new("stale").column("stale").ttl(seconds(10));
    let table = TableSchema::new("table", "id u64", "").unwrap();
    table.family(short).family(stale).family(Family::new("forever").column("forever"))
}

fn fill(fixture: &Fixture) {
    let table = fixture.db.create_table(schema()).unwrap();
    let row = Write::put(1).set("s1", 1).set("s2", 2).set("stale", 3).set("forever", 4);
    table.write(row).unwrap();
}

/// Whether a column is fresh; none where it is not there.
fn fresh(fixture: &Fixture, column: &str) -> Option<bool> {
    let scanned = rows(&fixture.table(), Scan::all().columns([column]));
    let got = fixture.table().get(1).unwrap();
    let fresh = got.as_ref().and_then(|row| row.cell(column)).map(|cell| cell.fresh);
    let in_scan = scanned.first().and_then(|row| row.cell(column)).map(|cell| cell.fresh);
    assert_eq!(fresh, in_scan, "a get and a scan agree");
    fresh
}

#[test]
fn a_value_is_fresh_until_its_ttl_is_over() {
    in_every_state(fill, |fixture| {
        fixture.clock.set(Timestamp::from_micros(at(10).as_micros() - 1));
        assert_eq!(fresh(fixture, "s1"), Some(true));
        fixture.clock.set(at(10));
        assert_eq!(fresh(fixture, "s1"), Some(false));
    });
}

#[test]
fn a_stale_value_is_served_until_its_keep_is_over() {
    in_every_state(fill, |fixture| {
        fixture.clock.set(Timestamp::from_micros(at(30).as_micros() - 1));
        assert_eq!(value(fixture, "s1"), Some(1.into()));
        fixture.clock.set(at(30));
        assert_eq!(value(fixture, "s1"), None);
        assert_eq!(value(fixture, "s2"), None);
    });
}

#[test]
fn without_a_keep_a_stale_value_is_never_gone() {
    in_every_state(fill, |fixture| {
        fixture.pass(100 * 365 * 86_400);
        assert_eq!(fresh(fixture, "stale"), Some(false));
    });
}

#[test]
fn without_a_ttl_a_value_is_always_fresh() {
    in_every_state(fill, |fixture| {
        fixture.pass(100 * 365 * 86_400);
        assert_eq!(fresh(fixture, "forever"), Some(true));
    });
}

#[test]
fn the_families_of_a_row_age_each_at_its_own_pace() {
    in_every_state(fill, |fixture| {
        fixture.pass(30);
        assert_eq!(
            ["s1", "stale", "forever"].map(|column| fresh(fixture, column)),
            [None, Some(false), Some(true)]
        );
    });
}

#[test]
fn a_write_can_say_how_long_it_is_fresh_and_kept() {
    let fill = |fixture: &Fixture| {
        fill(fixture);
        let short = Write::put(1).set("forever", 5).set("loose", 6);
        fixture.table().write(short.ttl(seconds(1)).keep(seconds(2))).unwrap();
        let long = Write::put(1).set("s1", 7);
        fixture.table().write(long.ttl(seconds(100))).unwrap();
    };
    in_every_state(fill, |fixture| {
        fixture.pass(1);
        assert_eq!(["forever", "loose"].map(|c| fresh(fixture, c)), [Some(false); 2]);
        fixture.pass(2);
        assert_eq!(["forever", "loose"].map(|c| fresh(fixture, c)), [None; 2]);
        fixture.clock.set(at(119));
        assert_eq!(fresh(fixture, "s1"), Some(false), "the family's keep comes after the own ttl");
        fixture.clock.set(at(120));
        assert_eq!(fresh(fixture, "s1"), None);
    });
}

#[test]
fn a_row_of_which_all_is_gone_is_not_there() {
    let fill = |fixture: &Fixture| {
        let table = fixture.db.create_table(schema()).unwrap();
        table.write(Write::put(1).set("s1", 1)).unwrap();
    };
    in_every_state(fill, |fixture| {
        fixture.pass(30);
        let table = fixture.table();
        assert_eq!(table.get(1).unwrap(), None);
        assert_eq!(table.get_columns(1, ["s1"]).unwrap(), None);
        assert_eq!(table.multi_get([1], None).unwrap(), [None]);
        assert!(rows(&table, Scan::all()).is_empty());
        assert!(rows(&table, Scan::all().filter(Condition::eq("s1", 1))).is_empty());
        table.write(Write::put(1).set("s1", 2).when(Condition::NotExists)).unwrap();
    });
}

#[test]
fn a_gone_family_is_as_if_it_had_never_been_to_what_is_written_next() {
    in_every_state(fill, |fixture| {
        fixture.pass(30);
        fixture.table().write(Write::put(1).add("s1", 10)).unwrap();
        assert_eq!(value(fixture, "s1"), Some(10.into()));
        assert_eq!(value(fixture, "s2"), None, "it does not come back with the others");
    });
}

#[test]
fn a_refresh_makes_the_whole_family_fresh_again() {
    in_every_state(fill, |fixture| {
        fixture.pass(15);
        fixture.table().write(Write::put(1).set("s1", 9)).unwrap();
        let row = fixture.table().get(1).unwrap().unwrap();
        for column in ["s1", "s2"] {
            let cell = row.cell(column).unwrap();
            assert!(cell.fresh && cell.written_at == at(15) && cell.fresh_until == at(25));
        }
    });
}

#[test]
fn filters_and_conditions_see_stale_values() {
    in_every_state(fill, |fixture| {
        fixture.pass(20);
        let found = rows(&fixture.table(), Scan::all().filter(Condition::eq("s1", 1)));
        assert_eq!(found.len(), 1);
        fixture.table().write(Write::put(1).set("s1", 2).when(Condition::eq("s2", 2))).unwrap();
    });
}

/// A clock that goes on by a second whenever it is asked.
struct Restless(AtomicI64);

impl Clock for Restless {
    fn now(&self) -> Timestamp {
        Timestamp::from_micros(self.0.fetch_add(1_000_000, Ordering::SeqCst))
    }
}

#[test]
fn a_read_has_one_time_for_all_of_its_rows() {
    let clock = Arc::new(Restless(AtomicI64::new(START.as_micros())));
    let db = Database::open_with("memory:", Options::default().clock(clock.clone())).unwrap();
    let family = Family::new("family").column("value").ttl(seconds(50));
    let schema = TableSchema::new("table", "id u64", "").unwrap().family(family);
    let table = db.create_table(schema).unwrap();
    table.write_all((0..100).map(|id| Write::put(id).set("value", 1))).unwrap();
    let fresh = |row: &stonecrop::Row| row.cell("value").unwrap().fresh;
    let asked = || clock.0.load(Ordering::SeqCst);

    let before = asked();
    let scanned: Vec<_> =
        table.scan(Scan::all()).unwrap().map(|row| fresh(&row.unwrap())).collect();
    assert_eq!((asked() - before, scanned), (1_000_000, vec![true; 100]));

    let before = asked();
    let found = table.multi_get(0..100, None).unwrap();
    assert_eq!(asked() - before, 1_000_000);
    assert!(found.iter().flatten().all(fresh));
}

#[test]
fn a_scan_that_began_before_a_family_was_gone_goes_on_to_return_it() {
    on_every_engine(|fixture| {
        let table = fixture.db.create_table(schema()).unwrap();
        table.write_all((0..10).map(|id| Write::put(id).set("s1", 1))).unwrap();
        fixture.pass(29);
        let mut scan = table.scan(Scan::all()).unwrap();
        scan.next().unwrap().unwrap();
        fixture.pass(1);
        assert_eq!(
            scan.map(|row| row.unwrap().value("s1").cloned()).collect::<Vec<_>>(),
            vec![Some(Value::Int(1)); 9]
        );
        assert_eq!(table.scan(Scan::all()).unwrap().count(), 0);
    });
}

#[test]
fn a_row_can_be_gone_at_a_time_of_its_own() {
    let index = |name, columns| stonecrop::Index::new(name, columns).unwrap();
    in_every_state(
        |fixture| {
            let schema = schema().index(index("all", "id u64")).index(index("some", "forever i64"));
            let table = fixture.db.create_table(schema).unwrap();
            let row =
                |id| Write::put(id).set("s1", 1).set("stale", 3).set("forever", 4).set("loose", 5);
            table.write(row(1).gone_at(at(50))).unwrap();
            table.write(row(2)).unwrap();
            table.write(row(3).gone_at(at(5))).unwrap();
            // Written before: what is not written again goes too, with the clocks that it had.
            fixture.clock.set(at(1));
            table.write(Write::put(2).set("loose", 6).gone_at(at(40))).unwrap();
            table.write(Write::expire(9, at(40))).unwrap();
        },
        |fixture| {
            let table = fixture.table();
            let clean = || assert!(fixture.db.check().unwrap().is_clean());
            let cell = |id: u64, column| table.get(id).unwrap().unwrap().cell(column).cloned();
            assert!(table.get(9).unwrap().is_none());
            assert_eq!(cell(1, "s1").unwrap().gone_at, at(30), "its family says so");
            assert_eq!(cell(1, "loose").unwrap().gone_at, at(50));
            let stale = cell(2, "stale").unwrap();
            assert_eq!(
                (stale.written_at, stale.fresh_until, stale.gone_at),
                (START, at(10), at(40))
            );
            clean();
            fixture.clock.set(at(5));
            assert!(table.get(3).unwrap().is_none());
            // The time is moved, and taken away.
            table.write(Write::expire(1, at(60))).unwrap();
            table.write(Write::expire(2, Timestamp::NEVER)).unwrap();
            assert_eq!(cell(2, "s1").unwrap().gone_at, at(30), "its family says so");
            clean();
            let found =
                |name: &str| table.query(&stonecrop::Query::new().index(name)).unwrap().rows.len();
            fixture.clock.set(at(59));
            assert_eq!((found("all"), found("some")), (2, 2));
            fixture.clock.set(at(60));
            assert_eq!((found("all"), found("some")), (1, 1));
            assert!(table.get(1).unwrap().is_none());
            assert_eq!(cell(2, "stale").unwrap().gone_at, Timestamp::NEVER);
            clean();
        },
    );
}
