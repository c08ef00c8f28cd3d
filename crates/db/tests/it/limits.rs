//! What is refused: each with an error that names the offending thing, and the database goes on.

use std::fs;
use std::sync::mpsc;
use std::sync::{Arc, Condvar, Mutex};
use std::thread;
use std::time::Duration;

use stonecrop::keys::{Decimal, Predicate, Value as KeyValue};
use stonecrop::{
    Clock, ColumnType, Database, Durability, Error, Family, Options, Placement, Result, Scan,
    Table, TableSchema, Timestamp, Value, Write,
};

use crate::harness::{Fixture, START, State, folder, on_every_engine, rows};

fn schema() -> TableSchema {
    let family = Family::new("family").column("any").typed("number", ColumnType::Int);
    let family = family.typed("list", ColumnType::List);
    TableSchema::new("table", "part string", "sort u64").unwrap().family(family)
}

/// That it is refused on every engine with all of these in the message, and nothing else changes.
#[track_caller]
fn refused<T: std::fmt::Debug>(
    attempt: impl Fn(&Fixture, &Table) -> Result<T>,
    is_expected: impl Fn(&Error) -> bool,
    in_message: &[&str],
) {
    on_every_engine(|fixture| {
        let table = fixture.db.create_table(schema()).unwrap();
        let good = || Write::put(("good", 1)).set("any", 7).set("loose", 8).set("number", 1);
        table.write(good()).unwrap();
        let before = rows(&table, Scan::all());

        let error = attempt(fixture, &table).unwrap_err();
        let message = error.to_string();
        assert!(is_expected(&error), "{error:?}");
        for part in in_message {
            assert!(message.contains(part), "{part:?} is not in {message:?}");
        }

        let table = fixture.table();
        assert_eq!(rows(&table, Scan::all()), before);
        table.write(good()).unwrap();
        fixture.bring(State::Reopened);
        assert_eq!(rows(&fixture.table(), Scan::all()), before);
    });
}

fn put() -> Write<'static> {
    Write::put(("bad", 1)).set("loose", 1)
}

#[test]
fn a_key_of_more_than_65535_bytes_is_refused() {
    let long = "k".repeat(65_536);
    let too_long = |error: &Error| matches!(error, Error::TooLarge { .. } | Error::Key { .. });
    refused(
        |_, table| table.write(Write::put((long.as_str(), 1)).set("any", 1)),
        too_long,
        &["65535", "\"table\""],
    );
    refused(|_, table| table.get((long.as_str(), 1)), too_long, &["65535", "\"table\""]);
}

#[test]
fn the_longest_key_that_is_taken_can_be_read_and_scanned() {
    on_every_engine(|fixture| {
        let table = fixture.db.create_table(schema()).unwrap();
        let fits = |length: usize| {
            let key = "k".repeat(length);
            table.write(Write::put((key.as_str(), 1)).set("any", 1)).is_ok()
        };
        let longest = (65_000..65_536).rev().find(|length| fits(*length)).unwrap();
        let key = "k".repeat(longest);
        assert!(table.get((key.as_str(), 1)).unwrap().is_some());
        assert_eq!(rows(&table, Scan::all()).len(), 1);
        table.write(Write::delete((key.as_str(), 1))).unwrap();
        assert!(rows(&table, Scan::all()).is_empty());
    });
}

#[test]
fn a_column_name_that_makes_the_key_too_long_is_refused() {
    let name = "n".repeat(65_536);
    refused(
        |_, table| table.write(Write::put(("bad", 1)).set(name.as_str(), 1)),
        |error| matches!(error, Error::TooLarge { .. }),
        &["65535", "\"table\""],
    );
}

#[test]
fn a_key_without_fields_is_refused() {
    refused(
        |_, table| table.write(Write::put(Vec::<KeyValue<'_>>::new()).set("any", 1)),
        |error| matches!(error, Error::Key { .. }),
        &["\"table\"", "2"],
    );
}

#[test]
fn a_key_with_too_few_or_too_many_fields_is_refused() {
    let is_key = |error: &Error| matches!(error, Error::Key { .. });
    refused(|_, table| table.get("only"), is_key, &["\"table\"", "1", "2"]);
    refused(|_, table| table.get(("one", 2, 3)), is_key, &["\"table\"", "3", "2"]);
}

#[test]
fn a_key_field_of_another_type_is_refused() {
    let is_key = |error: &Error| matches!(error, Error::Key { .. });
    refused(|_, table| table.get(("part", "text")), is_key, &["\"table\"", "sort", "u64"]);
    refused(|_, table| table.get(("part", -1)), is_key, &["\"table\"", "sort", "u64"]);
}

#[test]
fn a_value_of_more_than_16_mib_is_refused() {
    let large = vec![0_u8; (16 << 20) + 1];
    let is_large = |error: &Error| matches!(error, Error::TooLarge { .. });
    for (column, named) in [("loose2", "\"loose2\""), ("any", "any")] {
        refused(
            |_, table| table.write(Write::put(("bad", 1)).set(column, large.clone())),
            is_large,
            &["16777216", named],
        );
    }
}

#[test]
fn a_family_that_grows_beyond_16_mib_is_refused() {
    let half = vec![0_u8; 9 << 20];
    refused(
        |_, table| {
            let many = |count: usize| vec![Value::Bytes(half.clone()); count];
            table.write_all([
                Write::put(("bad", 1)).set("any", half.clone()),
                Write::put(("bad", 1)).append("list", many(1)),
            ])
        },
        |error| {
            matches!(error, Error::Write { write: 1, cause }
                if matches!(**cause, Error::TooLarge { .. }))
        },
        &["16777216", "family"],
    );
}

#[test]
fn an_unknown_table_is_refused() {
    let is_unknown = |error: &Error| matches!(error, Error::NoTable { .. });
    refused(|fixture, _| fixture.db.table("tabel"), is_unknown, &["\"tabel\""]);
    refused(|fixture, _| fixture.db.drop_table("tabel"), is_unknown, &["\"tabel\""]);
}

#[test]
fn the_handle_of_a_dropped_table_is_refused_even_when_one_of_its_name_is_made_again() {
    on_every_engine(|fixture| {
        let old = fixture.db.create_table(schema()).unwrap();
        fixture.db.drop_table("table").unwrap();
        let new = fixture.db.create_table(schema()).unwrap();
        let errors = [
            old.get(("p", 1)).unwrap_err(),
            old.write(put()).unwrap_err(),
            old.scan(Scan::all()).unwrap_err(),
            old.truncate().unwrap_err(),
            fixture.db.transaction([(&new, put()), (&old, put())]).unwrap_err(),
        ];
        for error in errors {
            assert!(matches!(&error, Error::NoTable { table } if table == "table"), "{error:?}");
        }
        assert!(rows(&new, Scan::all()).is_empty(), "nor was half of the transaction written");
        new.write(put()).unwrap();
    });
}

#[test]
fn a_table_that_is_there_already_is_refused() {
    refused(
        |fixture, _| fixture.db.create_table(schema()),
        |error| matches!(error, Error::TableExists { .. }),
        &["\"table\""],
    );
}

#[test]
fn a_value_of_another_type_than_its_column_is_refused() {
    let is_type = |error: &Error| matches!(error, Error::ColumnType { .. });
    let in_message = ["\"number\"", "int", "string"];
    refused(|_, table| table.write(put().set("number", "text")), is_type, &in_message);
    refused(|_, table| table.write(put().append("number", [1])), is_type, &["\"number\"", "list"]);
    refused(|_, table| table.write(put().add("number", 0.5)), is_type, &["\"number\"", "float"]);
}

#[test]
fn not_a_number_is_no_decimal() {
    for text in ["NaN", "inf", "1e999", ""] {
        assert!(text.parse::<Decimal>().is_err(), "{text}");
    }
}

#[test]
fn a_column_that_is_named_twice_is_refused() {
    let is_column = |error: &Error| matches!(error, Error::Column { .. });
    for name in ["loose2", "any"] {
        let named = format!("{name:?}");
        refused(
            |_, table| table.write(put().set(name, 1).add(name, 2)),
            is_column,
            &[&named, "twice"],
        );
    }
}

#[test]
fn a_column_that_is_named_as_a_field_of_the_key_is_refused() {
    refused(
        |_, table| table.write(put().set("sort", 1)),
        |error| matches!(error, Error::Column { .. }),
        &["\"sort\"", "key"],
    );
    refused(
        |fixture, _| {
            let family = Family::new("family").column("id");
            fixture.db.create_table(TableSchema::new("other", "id u64", "")?.family(family))
        },
        |error| matches!(error, Error::Schema { .. }),
        &["\"other\"", "\"id\""],
    );
}

#[test]
fn a_column_without_a_name_is_refused() {
    let is_column = |error: &Error| matches!(error, Error::Column { .. });
    refused(|_, table| table.write(put().set("", 1)), is_column, &["\"\""]);
    refused(|_, table| table.write(put().set("\0", 1)), is_column, &["\"\\0\""]);
}

#[test]
fn nesting_of_more_than_32_levels_is_refused() {
    let nested = (0..33).fold(Value::Null, |value, _| Value::List(vec![value]));
    let is_value = |error: &Error| matches!(error, Error::Value { .. });
    for column in ["loose2", "any"] {
        let named = format!("{column:?}");
        refused(
            |_, table| table.write(put().set(column, nested.clone())),
            is_value,
            &[&named, "32"],
        );
    }
    refused(
        |_, table| table.write(put().append("list", [nested.clone()])),
        is_value,
        &["\"list\""],
    );
}

#[test]
fn a_sum_that_does_not_fit_is_refused() {
    refused(
        |_, table| table.write(Write::put(("good", 1)).add("number", i64::MAX)),
        |error| matches!(error, Error::Value { .. }),
        &["\"number\"", "9223372036854775807"],
    );
}

#[test]
fn adding_to_what_is_no_number_is_refused() {
    refused(
        |_, table| table.write_all([put().set("any", "text"), put().add("any", 1)]),
        |error| matches!(error, Error::Write { write: 1, cause } if matches!(**cause, Error::Value { .. })),
        &["write 1", "\"any\"", "string", "int"],
    );
}

#[test]
fn appending_to_what_is_no_list_and_merging_into_what_is_no_map_are_refused() {
    let is_value = |error: &Error| matches!(error, Error::Value { .. });
    let at = || Write::put(("good", 1));
    refused(|_, table| table.write(at().append("any", [1])), is_value, &["\"any\"", "int", "list"]);
    let merge = || at().merge("loose", [("a", 1)]);
    refused(|_, table| table.write(merge()), is_value, &["\"loose\"", "int", "map"]);
}

#[test]
fn a_delete_with_columns_and_a_replacement_that_changes_them_are_refused() {
    let is_value = |error: &Error| matches!(error, Error::Value { .. });
    let delete = || Write::delete(("good", 1)).set("any", 1);
    refused(|_, table| table.write(delete()), is_value, &["\"any\"", "delete"]);
    let replace = || Write::replace(("good", 1)).add("any", 1);
    refused(|_, table| table.write(replace()), is_value, &["\"any\"", "replace"]);
}

#[test]
fn a_scan_by_part_of_a_hashed_partition_key_is_refused() {
    let is_scan = |error: &Error| matches!(error, Error::Scan { .. });
    refused(
        |fixture, _| {
            let other = TableSchema::new("other", "a u64, b u64", "c u64")?;
            fixture.db.create_table(other)?.scan(Scan::partition(1))
        },
        is_scan,
        &["1 fields", "2", "hash"],
    );
    let range = || Scan::all().range(Predicate::Ge("a".into()));
    refused(|_, table| table.scan(range()), is_scan, &["0 fields", "1", "hash"]);
    on_every_engine(|fixture| {
        let other = TableSchema::new("other", "a u64, b u64", "c u64").unwrap();
        let other = fixture.db.create_table(other.placement(Placement::Range)).unwrap();
        assert_eq!(other.scan(Scan::partition(1)).unwrap().count(), 0, "placed by range it is not");
    });
}

#[test]
fn a_segment_that_is_not_one_of_them_is_refused() {
    let is_scan = |error: &Error| matches!(error, Error::Scan { .. });
    refused(|_, table| table.scan(Scan::all().segment(2, 2)), is_scan, &["segment 2 of 2"]);
    refused(|_, table| table.scan(Scan::all().segment(0, 0)), is_scan, &["segment 0 of 0"]);
}

fn cursor(table: &Table) -> String {
    let mut page = table.scan(Scan::all().limit(1)).unwrap();
    page.by_ref().for_each(|row| drop(row.unwrap()));
    page.cursor().unwrap()
}

#[test]
fn a_cursor_of_another_table_is_refused() {
    let is_cursor = |error: &Error| matches!(error, Error::Cursor { .. });
    refused(
        |fixture, table| {
            let other = TableSchema::new("other", "part string", "sort u64")?;
            let other = fixture.db.create_table(other)?;
            other.scan(Scan::all().after(cursor(table)))
        },
        is_cursor,
        &["another table"],
    );
}

#[test]
fn a_cursor_from_before_a_truncation_is_refused() {
    on_every_engine(|fixture| {
        let table = fixture.db.create_table(schema()).unwrap();
        table.write(put()).unwrap();
        let cursor = cursor(&table);
        table.truncate().unwrap();
        let error = table.scan(Scan::all().after(cursor)).unwrap_err();
        assert!(error.to_string().contains("since emptied"), "{error}");
    });
}

#[test]
fn a_changed_cursor_is_refused_whichever_character_was_changed() {
    let fixture = Fixture::new(crate::harness::Engine::Memory);
    let table = fixture.db.create_table(schema()).unwrap();
    table.write(put()).unwrap();
    let good = cursor(&table);
    for index in 0..good.len() {
        for other in ['A', 'B', 'z', '_', '=', ' ', 'é'] {
            let mut changed: Vec<char> = good.chars().collect();
            if changed[index] == other {
                continue;
            }
            changed[index] = other;
            let changed: String = changed.into_iter().collect();
            let error = table.scan(Scan::all().after(changed.clone())).unwrap_err();
            assert!(matches!(error, Error::Cursor { .. }), "{changed}: {error:?}");
        }
    }
    for cut in 0..good.len() {
        assert!(table.scan(Scan::all().after(&good[..cut])).is_err(), "cut after {cut}");
    }
    assert_eq!(table.scan(Scan::all().after(good)).unwrap().count(), 0);
}

#[test]
fn a_folder_that_is_no_database_is_refused_and_left_alone() {
    let folder = folder();
    fs::write(folder.path().join("thesis.doc"), "years of work").unwrap();
    let message = Database::open(folder.path()).unwrap_err().to_string();
    assert!(message.contains("not a Stonecrop database") && message.contains("thesis.doc"));
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
}

#[test]
fn a_newer_format_is_refused_and_left_alone() {
    let folder = folder();
    Database::open(folder.path()).unwrap().close().unwrap();
    let marker = folder.path().join("STONECROP");
    let good = fs::read_to_string(&marker).unwrap();
    let newer = good.replace("stonecrop 2", "stonecrop 3");
    assert_ne!(newer, good);
    fs::write(&marker, newer).unwrap();
    let error = Database::open(folder.path()).unwrap_err();
    let is_version =
        |e: &Error| matches!(e, Error::Store(e) if e.kind() == stonecrop::StoreErrorKind::Version);
    assert!(is_version(&error) && error.to_string().contains("format 3"), "{error}");
    fs::write(&marker, good).unwrap();
    Database::open(folder.path()).unwrap();
}

#[test]
fn a_location_of_an_unknown_engine_is_refused() {
    let error = Database::open("ftp://host/path").unwrap_err();
    assert!(error.to_string().contains("ftp://host/path"), "{error}");
}

#[test]
fn a_database_that_was_closed_refuses_everything() {
    on_every_engine(|fixture| {
        let table = fixture.db.create_table(schema()).unwrap();
        fixture.db.close().unwrap();
        let errors = [
            table.get(("p", 1)).unwrap_err(),
            table.write(put()).unwrap_err(),
            table.scan(Scan::all()).unwrap_err(),
            table.truncate().unwrap_err(),
            fixture.db.flush().unwrap_err(),
            fixture.db.compact().unwrap_err(),
            fixture.db.stats().unwrap_err(),
        ];
        for error in errors {
            assert!(matches!(error, Error::Closed), "{error:?}");
        }
    });
}

/// A clock that stops whoever asks while the gate is shut, and says that somebody did.
struct Gate {
    shut: Mutex<bool>,
    opened: Condvar,
    asked: mpsc::SyncSender<()>,
}

impl Gate {
    fn set(&self, shut: bool) {
        *self.shut.lock().unwrap() = shut;
        self.opened.notify_all();
    }
}

impl Clock for Gate {
    fn now(&self) -> Timestamp {
        let shut = self.shut.lock().unwrap();
        if *shut {
            let _ = self.asked.try_send(());
        }
        drop(self.opened.wait_while(shut, |shut| *shut).unwrap());
        START
    }
}

#[test]
fn a_write_that_finds_the_queue_full_is_refused_and_those_that_wait_are_done() {
    let (asked, is_asked) = mpsc::sync_channel(1);
    let gate = Arc::new(Gate { shut: Mutex::new(false), opened: Condvar::new(), asked });
    let options = Options::default().clock(gate.clone()).queue(1, Duration::ZERO);
    let db = Database::open_with("memory:", options.durability(Durability::None)).unwrap();
    let table = db.create_table(schema()).unwrap();
    let (answer, answers) = mpsc::channel();
    gate.set(true);
    thread::scope(|scope| {
        let write = |id: i32| {
            let (answer, table) = (answer.clone(), &table);
            scope.spawn(move || answer.send(table.write(Write::put(("p", id)).set("any", id))));
        };
        write(1);
        // The first one commits now, and one more may wait; there is no room for the third.
        is_asked.recv().unwrap();
        write(2);
        write(3);
        let refused = answers.recv().unwrap().unwrap_err();
        assert!(matches!(refused, Error::Busy), "{refused:?}");
        gate.set(false);
        assert!(answers.recv().unwrap().is_ok() && answers.recv().unwrap().is_ok());
    });
    assert_eq!(table.scan(Scan::all()).unwrap().count(), 2);
    table.write(put()).unwrap();
}
