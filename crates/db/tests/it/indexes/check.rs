//! What is wrong beneath a database is found, and mended where rows can tell how.

use super::*;

/// Rows 1 to 3 of the ages 1 to 3, each with an entry that has a copy of the name.
fn filled() -> Fixture {
    let fixture = with_index(Engine::Fjall, index("age i64").covering(["name"]));
    for id in 1..=3 {
        write(&fixture, Write::put(id).set("age", id as i64).set("name", "Ann"));
    }
    fixture
}

/// That a change of entries is found as `problem`, and that all is as it was once it is mended.
fn is_mended(problem: &str, changes: impl Fn(&Entries) -> Entries) {
    let mut fixture = filled();
    let right = entries(&mut fixture);
    let wrong = changes(&right);
    let delete = right.iter().map(|(key, _)| (key.clone(), None));
    change(&mut fixture, delete.collect::<Vec<_>>());
    let put = wrong.into_iter().map(|(key, value)| (key, Some(value)));
    change(&mut fixture, put.collect::<Vec<_>>());
    let report = fixture.db.check().unwrap();
    assert!(report.found > 0 && report.mended == 0, "{problem}: {report:#?}");
    let found = report.problems.iter().find(|found| found.problem.contains(problem));
    let found = found.unwrap_or_else(|| panic!("no {problem:?} in {report:#?}"));
    assert_eq!((found.table.as_str(), found.index.as_deref()), ("table", Some("index")));
    assert!(found.mendable && found.key.starts_with("0130"), "{found:?}");
    let mended = fixture.db.repair().unwrap();
    assert_eq!((mended.found, mended.mended), (report.found, report.found));
    assert_clean(&fixture);
    assert_eq!(fixture.db.repair().unwrap().mended, 0);
    assert_eq!(entries(&mut fixture), right, "{problem}");
}

#[test]
fn entries_that_are_missing_are_found_and_put_back() {
    is_mended("missing", |right| right[1..].to_vec());
    is_mended("missing", |_| Vec::new());
}

#[test]
fn entries_of_no_row_are_found_and_deleted() {
    let with = |right: &Entries, key: Vec<u8>| {
        let mut entries = right.clone();
        entries.push((key.into(), right[0].1.clone()));
        entries
    };
    is_mended("no row should have", |right| {
        // Of a row that is not there.
        let mut key = right[0].0.to_vec();
        *key.last_mut().unwrap() = 99;
        with(right, key)
    });
    is_mended("no row should have", |right| {
        // Another value of a row that is.
        let mut key = right[0].0.to_vec();
        key[15] = 99;
        with(right, key)
    });
    is_mended("no row should have", |right| with(right, [&right[0].0[..8], &[7; 40]].concat()));
    is_mended("too short", |right| with(right, right[0].0[..9].to_vec()));
}

#[test]
fn entries_that_say_something_else_than_their_rows_are_found_and_mended() {
    let changed = |change: fn(&mut Vec<u8>)| {
        move |right: &Entries| {
            let mut entries = right.clone();
            let mut value = entries[1].1.to_vec();
            change(&mut value);
            entries[1].1 = value.into();
            entries
        }
    };
    // When it is gone: at once, or a while later.
    is_mended("something else", changed(|value| value[0] = 0x80));
    is_mended("something else", changed(|value| value[0] = 0x70));
    // The length of the row's key: none of any row, and that of no key.
    is_mended("something else", changed(|value| value[9] -= 1));
    is_mended("something else", changed(|value| value[8] = 0xff));
    // The copies: one byte, some, all of it.
    is_mended("something else", changed(|value| *value.last_mut().unwrap() ^= 1));
    is_mended("something else", changed(|value| value.truncate(20)));
    is_mended("something else", changed(|value| value.push(0)));
    is_mended("something else", changed(|value| value.truncate(9)));
    is_mended("something else", changed(Vec::clear));
}

#[test]
fn all_of_it_at_once_is_mended_at_once() {
    is_mended("missing", |right| {
        let mut entries = right[1..].to_vec();
        let mut key = right[2].0.to_vec();
        *key.last_mut().unwrap() = 99;
        entries.push((key.into(), right[2].1.clone()));
        entries[0].1 = Bytes::from_static(b"nothing");
        entries
    });
}

#[test]
fn an_entry_of_an_index_that_never_was_is_found() {
    let mut fixture = filled();
    let (key, value) = entries(&mut fixture).remove(0);
    let mut other = key.to_vec();
    other[7] = 9;
    change(&mut fixture, [(other.into(), Some(value))]);
    let report = fixture.db.check().unwrap();
    assert_eq!(report.found, 1, "{report:#?}");
    assert!(report.problems[0].problem.contains("never was"), "{report:#?}");
}

#[test]
fn a_damaged_row_is_reported_and_neither_it_nor_its_entry_is_mended_away() {
    // The header cut short, a flag that is not known, a column that ends too early.
    let damages: [fn(&mut Vec<u8>); 3] =
        [|value| value.truncate(5), |value| value[0] = 0x80, |value| value.truncate(27)];
    for damage in damages {
        let mut fixture = filled();
        let before = entries(&mut fixture);
        let (key, value) = fixture.beneath(|store| stored(store, &ROW)).remove(0);
        let mut value = value.to_vec();
        damage(&mut value);
        change(&mut fixture, [(key.clone(), Some(value.into()))]);
        let damaged = fixture.beneath(|store| stored(store, &ROW));
        let report = fixture.db.repair().unwrap();
        assert!(report.found > 0 && report.mended == 0, "{report:#?}");
        assert!(report.problems.iter().all(|found| !found.mendable), "{report:#?}");
        let hex: String = key.iter().map(|byte| format!("{byte:02x}")).collect();
        assert!(report.problems.iter().any(|found| found.key == hex), "{report:#?}");
        assert_eq!(fixture.beneath(|store| stored(store, &ROW)), damaged);
        assert_eq!(entries(&mut fixture), before);
        // Once the row is whole again, nothing is wrong.
        let id = before.iter().position(|(entry, _)| entry.ends_with(&key[8..])).unwrap();
        let (id, age) = (id as u64 + 1, id as i64 + 1);
        write(&fixture, Write::put(id).set("age", age).set("name", "Ann").set("email", "a"));
        assert_clean(&fixture);
    }
}

#[test]
fn a_repair_while_others_write_loses_nothing() {
    on_every_engine(|fixture| {
        let table = fixture.db.create_table(schema().index(index("age i64"))).unwrap();
        std::thread::scope(|scope| {
            let writer = scope.spawn(|| {
                for id in 0..2_000_u64 {
                    table.write(Write::put(id % 500).set("age", id as i64)).unwrap();
                }
            });
            while !writer.is_finished() {
                assert!(fixture.db.repair().unwrap().is_clean());
                assert_clean(fixture);
            }
        });
        assert_clean(fixture);
    });
}
