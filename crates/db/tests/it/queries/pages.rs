//! Pages and their cursors.

use std::collections::BTreeSet;

use stonecrop::{Condition, Database, Error, Index, Query, Sort, Table, TableSchema, Write};

use super::model::key_text;
use super::random::{Random, World};

const TABLES: u64 = 60;
const QUERIES: usize = 10;

/// A row that was changed may come twice or not at all, as it may have moved over the cursor; one
/// that was not comes once.
#[test]
fn rows_that_stay_as_they_are_come_once_while_others_are_written() {
    for seed in 10_000..10_000 + TABLES {
        let mut world = World::new(seed);
        let mut random = Random(seed);
        for _ in 0..QUERIES {
            let parts = world.query(&mut random);
            let take = 1 + random.below(12);
            let query = parts.query().take(take);
            let before = world.seen();
            let expected = parts.select(&before);
            let (mut changed, mut found) = (BTreeSet::new(), Vec::new());
            let mut next: Option<String> = None;
            loop {
                let query = next.iter().fold(query.clone(), |query, cursor| query.after(cursor));
                let page = world.table.query(&query);
                let page = page.unwrap_or_else(|error| panic!("{error}: {query:?}"));
                found.extend(page.rows.iter().map(key_text));
                for _ in 0..random.below(4) {
                    changed.insert(world.write(&mut random, 60));
                }
                next = page.next;
                if next.is_none() {
                    break;
                }
            }
            let unchanged = |key: &String| !changed.contains(key);
            let mut found: Vec<String> = found.into_iter().filter(unchanged).collect();
            let expected = expected.iter().map(|row| row.key_text()).filter(unchanged);
            let mut expected: Vec<String> = expected.collect();
            found.sort();
            expected.sort();
            assert_eq!(found, expected, "{query:?}");
        }
    }
}

fn numbers() -> (Database, Table) {
    let db = Database::memory();
    let schema = TableSchema::new("numbers", "id u64", "").unwrap();
    let table = db.create_table(schema.index(Index::new("by_n", "n i64").unwrap())).unwrap();
    table.write_all((0..30).map(|id| Write::put(id).set("n", id / 3))).unwrap();
    (db, table)
}

fn problem(result: Result<stonecrop::Page, Error>) -> String {
    match result.unwrap_err() {
        Error::Cursor { problem } => problem.to_owned(),
        other => panic!("{other:?}"),
    }
}

fn by_n() -> Query {
    Query::new().filter(Condition::ge("n", 0)).sort([Sort::asc("n")]).take(7)
}

#[test]
fn pages_go_back_to_where_they_came_from() {
    let (_db, table) = numbers();
    for plan in ["scan", "index by_n"] {
        let query = by_n().plan(plan);
        let first = table.query(&query).unwrap();
        assert!(first.previous.is_none());
        let second = table.query(&query.clone().after(first.next.clone().unwrap())).unwrap();
        let back = table.query(&query.clone().before(second.previous.clone().unwrap())).unwrap();
        assert_eq!(back.rows, first.rows);
        assert!(back.previous.is_none() && back.next.is_some());
        let again = table.query(&query.clone().after(back.next.unwrap())).unwrap();
        assert_eq!(again.rows, second.rows);
    }
}

#[test]
fn rows_are_skipped_from_a_cursor_on_in_both_directions() {
    let (_db, table) = numbers();
    for plan in ["scan", "index by_n"] {
        let query = by_n().plan(plan);
        let all = table.query(&query.clone().take(30)).unwrap().rows;
        let first = table.query(&query).unwrap();
        let next = first.next.unwrap();
        let further = table.query(&query.clone().after(next).skip(10)).unwrap();
        assert_eq!(further.rows, all[17..24]);
        let back = further.previous.unwrap();
        let back = table.query(&query.clone().before(back).skip(3)).unwrap();
        assert_eq!(back.rows, all[7..14]);
        let beyond = table.query(&query.clone().skip(31)).unwrap();
        assert!(beyond.rows.is_empty() && beyond.next.is_none());
    }
}

#[test]
fn a_cursor_of_another_query_is_refused() {
    let (_db, table) = numbers();
    let cursor = table.query(&by_n()).unwrap().next.unwrap();
    for other in [
        by_n().filter(Condition::ge("n", 1)),
        by_n().sort([Sort::desc("n")]),
        by_n().index("by_n"),
        by_n().as_of(crate::harness::at(0)),
    ] {
        let expected = "it belongs to a query with another filter or order";
        assert_eq!(problem(table.query(&other.after(cursor.clone()))), expected);
    }
    // The columns and the number of rows may change from page to page.
    assert!(table.query(&by_n().columns(["n"]).take(2).after(cursor)).is_ok());
}

#[test]
fn a_cursor_of_another_table_is_refused() {
    let (db, table) = numbers();
    let other = db.create_table(TableSchema::new("other", "id u64", "").unwrap()).unwrap();
    let cursor = table.query(&by_n()).unwrap().next.unwrap();
    let expected = "it belongs to another table, or one since emptied";
    assert_eq!(problem(other.query(&by_n().after(cursor.clone()))), expected);
    table.truncate().unwrap();
    assert_eq!(problem(table.query(&by_n().after(cursor))), expected);
}

#[test]
fn a_cursor_of_an_index_that_was_dropped_is_refused() {
    let (_db, table) = numbers();
    let cursor = table.query(&by_n().plan("index by_n")).unwrap().next.unwrap();
    table.drop_index("by_n").unwrap();
    assert_eq!(problem(table.query(&by_n().after(cursor.clone()))), "its index was dropped");
    table.create_index(Index::new("by_n", "n i64").unwrap()).unwrap();
    table.wait_for_index("by_n").unwrap();
    assert_eq!(problem(table.query(&by_n().after(cursor))), "its index was dropped");
}

#[test]
fn a_cursor_that_was_changed_is_refused() {
    let (_db, table) = numbers();
    for plan in ["scan", "index by_n"] {
        let cursor = table.query(&by_n().plan(plan)).unwrap().next.unwrap();
        for at in 0..cursor.len() {
            let mut changed = cursor.clone().into_bytes();
            changed[at] = if changed[at] == b'A' { b'B' } else { b'A' };
            let changed = String::from_utf8(changed).unwrap();
            let expected = "it was changed, or is none";
            assert_eq!(problem(table.query(&by_n().after(changed))), expected, "byte {at}");
        }
        for text in ["", "a cursor", &cursor[1..], &cursor[..cursor.len() - 1]] {
            let expected = "it was changed, or is none";
            assert_eq!(problem(table.query(&by_n().after(text))), expected);
        }
    }
}

#[test]
fn a_cursor_is_good_after_its_row_was_deleted() {
    let (_db, table) = numbers();
    for plan in ["scan", "index by_n"] {
        let first = table.query(&by_n().plan(plan)).unwrap();
        let last = first.rows.last().unwrap();
        table.write(Write::delete(last.key())).unwrap();
        let second = table.query(&by_n().after(first.next.unwrap())).unwrap();
        assert_eq!(second.rows.len(), 7);
        assert!(second.rows.iter().all(|row| !first.rows.contains(row)));
    }
}

#[test]
fn a_query_along_an_index_goes_on_from_an_entry_in_both_directions() {
    let schema = TableSchema::new("table", "id u64", "").unwrap();
    let index = Index::new("by_group", "group string, rank i64").unwrap();
    let table = Database::memory().create_table(schema.index(index)).unwrap();
    let row = |id: i64| Write::put(id).set("group", "a").set("rank", id / 2);
    table.write_all((0..10).map(row)).unwrap();
    let query = Query::new().index("by_group").filter(Condition::eq("group", "a"));
    let ids = |query: Query| -> Vec<String> {
        table.query(&query).unwrap().rows.iter().map(key_text).collect()
    };
    let all = ids(query.clone());
    assert_eq!(all.len(), 10);
    for (at, row) in table.query(&query).unwrap().rows.iter().enumerate() {
        let rank = row.value("rank").cloned().unwrap();
        let stonecrop::Value::Int(rank) = rank else { panic!("{rank:?}") };
        let entry = ["a".into(), rank.into()];
        let cursor = table.index_cursor(&query, &entry, row.key().clone()).unwrap();
        assert_eq!(ids(query.clone().after(&cursor)), all[at + 1..]);
        assert_eq!(ids(query.clone().before(&cursor)), all[..at]);
    }
    assert_eq!(ids(query.clone().from_end().take(3)), all[7..]);
}
