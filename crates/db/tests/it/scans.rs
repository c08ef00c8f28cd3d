//! Scans: which rows, in which order, page by page, and what they do not see.

use stonecrop::keys::{Predicate, Value as KeyValue};
use stonecrop::{ColumnType, Condition, Family, Placement, Row, Scan, Table, TableSchema, Write};

use crate::harness::{ENGINES, Fixture, State, in_every_state, on_every_engine, rows};

fn schema(placement: Placement) -> TableSchema {
    let first = Family::new("first").column("f1").column("f2");
    let second = Family::new("second").typed("s1", ColumnType::Int);
    let schema = TableSchema::new("table", "part string", "sort u64").unwrap();
    schema.placement(placement).family(first).family(second)
}

fn fill_with(placement: Placement) -> impl Fn(&Fixture) {
    move |fixture| {
        let table = fixture.db.create_table(schema(placement)).unwrap();
        for part in ["a", "b", "c"] {
            let row = |sort: i32| Write::put((part, sort)).set("s1", sort).set("loose", part);
            table.write_all((0..10).map(row)).unwrap();
        }
    }
}

fn key(row: &Row) -> (String, i128) {
    match row.key().values() {
        [KeyValue::String(part), KeyValue::Int(sort)] => (part.to_string(), *sort),
        other => panic!("{other:?}"),
    }
}

fn keys(table: &Table, scan: Scan<'_>) -> Vec<(String, i128)> {
    rows(table, scan).iter().map(key).collect()
}

fn names(row: &Row) -> Vec<&str> {
    row.columns().map(|(name, _)| name).collect()
}

#[test]
fn the_rows_of_a_partition_come_in_the_order_of_their_sort_keys() {
    in_every_state(fill_with(Placement::Hash), |fixture| {
        let expected: Vec<_> = (0..10).map(|sort| ("b".to_owned(), sort)).collect();
        assert_eq!(keys(&fixture.table(), Scan::partition("b")), expected);
        let backward = keys(&fixture.table(), Scan::partition("b").backward());
        assert_eq!(backward, expected.into_iter().rev().collect::<Vec<_>>());
    });
}

#[test]
fn a_range_of_the_sort_key_is_exact() {
    in_every_state(fill_with(Placement::Hash), |fixture| {
        let sorts = |predicate| {
            let found = keys(&fixture.table(), Scan::partition("b").range(predicate));
            found.into_iter().map(|(_, sort)| sort).collect::<Vec<_>>()
        };
        assert_eq!(sorts(Predicate::Lt(2.into())), [0, 1]);
        assert_eq!(sorts(Predicate::Le(1.into())), [0, 1]);
        assert_eq!(sorts(Predicate::Gt(7.into())), [8, 9]);
        assert_eq!(sorts(Predicate::Ge(9.into())), [9]);
        assert_eq!(sorts(Predicate::Between(3.into(), 4.into())), [3, 4]);
    });
}

#[test]
fn a_table_placed_by_range_is_in_the_order_of_its_whole_key() {
    in_every_state(fill_with(Placement::Range), |fixture| {
        let found = keys(&fixture.table(), Scan::all());
        assert!(found.is_sorted() && found.len() == 30);
        let from_b = keys(&fixture.table(), Scan::all().range(Predicate::Ge("b".into())));
        assert_eq!(from_b, found[10..]);
    });
}

#[test]
fn segments_together_see_every_row_once() {
    for &engine in ENGINES {
        for shards in [1, 3, 256] {
            if engine != crate::harness::Engine::Memory && shards == 256 {
                // Opening so many keyspaces or trees takes longer than all other tests.
                continue;
            }
            let fixture = Fixture::with_shards(engine, shards);
            fill_with(Placement::Hash)(&fixture);
            let all = keys(&fixture.table(), Scan::all());
            assert_eq!(all.len(), 30);
            for count in [1, 2, 7, 256, 1_000] {
                let scan = |index| keys(&fixture.table(), Scan::all().segment(index, count));
                assert_eq!((0..count).flat_map(scan).collect::<Vec<_>>(), all);
            }
        }
    }
}

#[test]
fn pages_follow_each_other_without_a_gap_in_both_directions() {
    in_every_state(fill_with(Placement::Hash), |fixture| {
        for backward in [false, true] {
            let scan = || if backward { Scan::all().backward() } else { Scan::all() };
            let (mut found, mut cursor) = (Vec::new(), None::<String>);
            loop {
                let page = scan().limit(7);
                let page = cursor.iter().fold(page, |page, cursor| page.after(cursor));
                let mut page = fixture.table().scan(page).unwrap();
                found.extend(page.by_ref().map(|row| key(&row.unwrap())));
                cursor = page.cursor();
                if cursor.is_none() {
                    break;
                }
            }
            assert_eq!(found, keys(&fixture.table(), scan()));
        }
    });
}

#[test]
fn a_cursor_is_good_after_the_row_it_came_from_was_deleted_and_all_was_opened_again() {
    on_every_engine(|fixture| {
        fill_with(Placement::Hash)(fixture);
        let table = fixture.table();
        let mut page = table.scan(Scan::partition("b").limit(5)).unwrap();
        page.by_ref().for_each(|row| drop(row.unwrap()));
        let cursor = page.cursor().unwrap();
        drop(page);
        table.write(Write::delete(("b", 4))).unwrap();
        fixture.bring(State::Reopened);
        let rest = keys(&fixture.table(), Scan::partition("b").after(cursor.clone()));
        assert_eq!(rest.iter().map(|(_, sort)| *sort).collect::<Vec<_>>(), [5, 6, 7, 8, 9]);
        let back = keys(&fixture.table(), Scan::partition("b").backward().after(cursor));
        assert_eq!(back.iter().map(|(_, sort)| *sort).collect::<Vec<_>>(), [3, 2, 1, 0]);
    });
}

#[test]
fn a_scan_sees_nothing_that_was_written_after_it_began() {
    on_every_engine(|fixture| {
        fill_with(Placement::Hash)(fixture);
        let table = fixture.table();
        let before = rows(&table, Scan::all());
        let mut scan = table.scan(Scan::all()).unwrap();
        let first = scan.next().unwrap().unwrap();
        for part in ["a", "b", "c"] {
            table.write_all((0..10).map(|sort| Write::delete((part, sort)))).unwrap();
            table.write(Write::put((part, 11)).set("f1", 1)).unwrap();
        }
        fixture.bring(State::Compacted);
        let rest = scan.map(Result::unwrap);
        assert_eq!([first].into_iter().chain(rest).collect::<Vec<_>>(), before);
    });
}

#[test]
fn a_scan_that_began_before_a_truncation_goes_on_to_its_end() {
    for &engine in ENGINES {
        let mut fixture = Fixture::with_shards(engine, 4);
        let table = fixture.db.create_table(schema(Placement::Hash)).unwrap();
        let row = |part: i32| Write::put((part.to_string(), 1)).set("f1", part).set("s1", part);
        table.write_all((0..100).map(row)).unwrap();
        fixture.bring(State::Flushed);
        let before = rows(&table, Scan::all());
        let mut scan = table.scan(Scan::all()).unwrap();
        let first = scan.next().unwrap().unwrap();
        table.truncate().unwrap();
        fixture.bring(State::Compacted);
        let rest = scan.map(Result::unwrap);
        let found: Vec<_> = [first].into_iter().chain(rest).collect();
        assert_eq!((engine, found.len()), (engine, before.len()));
        assert_eq!(found, before);
    }
}

#[test]
fn a_filter_lets_through_the_rows_of_which_it_is_true() {
    in_every_state(fill_with(Placement::Hash), |fixture| {
        let filter = Condition::All(vec![Condition::ge("s1", 8), Condition::ne("loose", "c")]);
        let mut found = keys(&fixture.table(), Scan::all().filter(filter));
        found.sort();
        let expected = [("a", 8), ("a", 9), ("b", 8), ("b", 9)];
        assert_eq!(found, expected.map(|(part, sort)| (part.to_owned(), sort)));
        let none = Condition::has("f1");
        assert!(keys(&fixture.table(), Scan::all().filter(none.clone())).is_empty());
        let not = Condition::Not(Box::new(none));
        assert_eq!(keys(&fixture.table(), Scan::all().filter(not)).len(), 30);
    });
}

#[test]
fn a_filter_can_look_at_columns_that_are_not_returned() {
    in_every_state(fill_with(Placement::Hash), |fixture| {
        let scan = Scan::partition("a").columns(["loose"]).filter(Condition::eq("s1", 3));
        let found = rows(&fixture.table(), scan);
        assert_eq!(found.iter().map(names).collect::<Vec<_>>(), [["loose"]]);
    });
}

#[test]
fn rows_without_any_of_the_columns_are_returned_too() {
    in_every_state(fill_with(Placement::Hash), |fixture| {
        let found = rows(&fixture.table(), Scan::all().columns(["f1"]));
        assert_eq!(found.len(), 30);
        assert!(found.iter().all(|row| names(row).is_empty()));
    });
}

#[test]
fn the_columns_of_a_row_come_in_the_same_order_however_it_was_read() {
    on_every_engine(|fixture| {
        let table = fixture.db.create_table(schema(Placement::Hash)).unwrap();
        let row = Write::put(("a", 1)).set("y", 1).set("s1", 2).set("x", 3).set("f2", 4);
        table.write(row.set("f1", 5)).unwrap();
        let expected = ["f1", "f2", "s1", "x", "y"];
        assert_eq!(names(&table.get(("a", 1)).unwrap().unwrap()), expected);
        for scan in [
            Scan::all(),
            Scan::all().backward(),
            Scan::all().columns(["y", "x", "s1", "f2", "f1"]),
            Scan::all().filter(Condition::eq("s1", 2)),
            Scan::all().filter(Condition::eq("x", 3)),
        ] {
            assert_eq!(names(&rows(&table, scan.clone())[0]), expected, "{scan:?}");
        }
    });
}

#[test]
fn a_scan_goes_on_after_a_key_whether_or_not_a_row_has_it() {
    on_every_engine(|fixture| {
        fill_with(Placement::Hash)(fixture);
        let table = fixture.table();
        table.write(Write::delete(("b", 4))).unwrap();
        let after = |sort: i32| table.cursor_after(("b", sort)).unwrap();
        let sorts = |scan| keys(&table, scan).into_iter().map(|(_, s)| s).collect::<Vec<_>>();
        assert_eq!(sorts(Scan::partition("b").after(after(6))), [7, 8, 9]);
        assert_eq!(sorts(Scan::partition("b").after(after(4))), [5, 6, 7, 8, 9]);
        assert_eq!(sorts(Scan::partition("b").backward().after(after(2))), [1, 0]);
    });
}

#[test]
fn every_key_is_in_one_segment_and_a_scan_of_it_finds_its_row() {
    on_every_engine(|fixture| {
        fill_with(Placement::Hash)(fixture);
        let table = fixture.table();
        for part in ["a", "b", "c"] {
            let holds = |index: &u32| table.is_in_segment((part, 1), *index, 3).unwrap();
            let homes: Vec<u32> = (0..3).filter(holds).collect();
            let [home] = homes[..] else { panic!("{part} is in {homes:?}") };
            let found = keys(&table, Scan::all().segment(home, 3));
            assert!(found.contains(&(part.to_owned(), 1)));
        }
    });
}
