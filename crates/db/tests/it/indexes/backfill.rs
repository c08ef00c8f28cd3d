//! Indexes that are added to tables with rows.

use std::sync::mpsc::channel;
use std::thread;

use super::*;
use stonecrop::{IndexProgress, Placement};

const ROWS: u64 = 20_000;

fn fill(fixture: &Fixture, count: u64) {
    for start in (0..count).step_by(2_000) {
        let row = |id: u64| {
            Write::put(id).set("age", (id % 100) as i64).set("seen", 1).set("loose", id as i64)
        };
        fixture.table().write_all((start..count.min(start + 2_000)).map(row)).unwrap();
    }
}

fn create(fixture: &Fixture, index: Index) -> stonecrop::Result<()> {
    let name = index.name().to_owned();
    fixture.table().create_index(index).unwrap();
    fixture.table().wait_for_index(&name)
}

#[test]
fn an_index_that_is_added_has_the_entries_of_one_that_was_there_before() {
    let indexes = || {
        [
            Index::new("1", "age i64 desc nulls last").unwrap(),
            Index::new("2", "loose i64, age i64").unwrap().covering(["seen", "name"]),
            Index::new("3", "seen decimal, loose i64").unwrap().unique(),
            Index::new("4", "name string").unwrap().covering(["loose"]),
            Index::new("5", "id u64 desc").unwrap().covering(["seen", "loose"]),
            Index::new("6", "age i64, id u64").unwrap(),
            Index::new("7", "id u64").unwrap().unique(),
        ]
    };
    let write_all = |fixture: &Fixture| {
        fill(fixture, 1_500);
        for id in (0..1_500).step_by(7) {
            write(fixture, Write::put(id).set("age", Value::Null).set("name", format!("{id}")));
            write(fixture, Write::put(id + 1).remove("loose"));
            write(fixture, Write::delete(id + 2));
        }
    };
    for placement in [Placement::Hash, Placement::Range] {
        let schema = schema().placement(placement);
        let mut before = Fixture::new(Engine::Fjall);
        let declared = indexes().into_iter().fold(schema.clone(), |s, index| s.index(index));
        before.db.create_table(declared).unwrap();
        write_all(&before);
        let mut later = Fixture::new(Engine::Fjall);
        later.db.create_table(schema).unwrap();
        write_all(&later);
        for index in indexes() {
            create(&later, index).unwrap();
        }
        assert!(before.table().schema().unwrap() == later.table().schema().unwrap());
        let (before, later) = (entries(&mut before), entries(&mut later));
        assert!(before.len() > 3_000 && before == later, "{} {}", before.len(), later.len());
    }
}

#[test]
fn rows_that_are_written_while_an_index_is_built_are_all_in_it() {
    for (engine, shards) in [(Engine::Memory, 1), (Engine::Memory, 3), (Engine::Fjall, 3)] {
        let fixture = Fixture::with_shards(engine, shards);
        fixture.db.create_table(schema()).unwrap();
        fill(&fixture, ROWS);
        let table = fixture.table();
        thread::scope(|scope| {
            for thread in 0..4_u64 {
                let table = &table;
                scope.spawn(move || {
                    for step in 0..1_000_u64 {
                        let id = (step * 7_919 + thread * 104_729) % (ROWS + 1_000);
                        let age = (step % 200) as i64;
                        let write = match step % 4 {
                            0 => Write::put(id).set("age", age),
                            1 => Write::put(id).set("loose", age),
                            2 => Write::replace(id).set("age", age).set("loose", 1),
                            _ => Write::delete(id),
                        };
                        table.write(write).unwrap();
                    }
                });
            }
            let names = ["index", "second", "third"];
            let columns = ["age i64", "loose i64, age i64", "id u64"];
            for (name, columns) in names.iter().zip(columns) {
                table.create_index(Index::new(*name, columns).unwrap()).unwrap();
            }
            names.iter().for_each(|name| table.wait_for_index(name).unwrap());
        });
        let report = fixture.db.check().unwrap();
        assert!(report.is_clean(), "{report:#?}");
        assert!(report.entries > ROWS * 4);
    }
}

/// Creates an index and gives up half way; it may take some turns to get there.
fn stop_half_way(fixture: &mut Fixture) {
    for _ in 0..100 {
        fixture.table().create_index(index("loose i64, age i64")).unwrap();
        let progress = || fixture.table().index_progress("index").unwrap();
        while progress() == (IndexProgress::Building { rows: 0 }) {
            thread::yield_now();
        }
        fixture.bring(State::Reopened);
        let progress = fixture.table().index_progress("index").unwrap();
        if matches!(progress, IndexProgress::Building { rows } if rows > 0) {
            return;
        }
        fixture.table().drop_index("index").unwrap();
    }
    panic!("it was never half way");
}

#[test]
fn an_index_that_was_half_built_when_the_database_was_closed_is_completed() {
    let mut fixture = Fixture::new(Engine::Fjall);
    fixture.db.create_table(schema()).unwrap();
    fill(&fixture, ROWS);
    stop_half_way(&mut fixture);
    fixture.table().wait_for_index("index").unwrap();
    assert_clean(&fixture);
    fixture.bring(State::Compacted);
    assert_eq!(entries(&mut fixture).len() as u64, ROWS);
    assert_eq!(fixture.table().index_progress("index").unwrap(), IndexProgress::Complete);
}

#[test]
fn a_duplicate_makes_a_unique_index_fail_until_it_is_mended() {
    on_every_engine(|fixture| {
        fixture.db.create_table(schema()).unwrap();
        fill(fixture, 1_000);
        write(fixture, Write::put(5_000).set("loose", 500));
        let error = create(fixture, index("loose i64").unique()).unwrap_err();
        assert!(matches!(&error, Error::Index { index, .. } if index == "index"), "{error:?}");
        for state in [State::Written, State::Reopened, State::Compacted] {
            fixture.bring(state);
            let progress = fixture.table().index_progress("index").unwrap();
            let IndexProgress::Failed { problem } = progress else { panic!("{progress:?}") };
            assert!(problem.contains("unique") && problem.contains("\"index\""), "{problem}");
            // One of the two rows is named.
            assert!(problem.contains("500"), "{problem}");
            assert!(fixture.table().wait_for_index("index").is_err());
            assert_clean(fixture);
        }
        fixture.table().drop_index("index").unwrap();
        write(fixture, Write::put(5_000).set("loose", 5_000));
        create(fixture, index("loose i64").unique()).unwrap();
        assert!(fixture.table().write(Write::put(5_001).set("loose", 5_000)).is_err());
        assert_clean(fixture);
    });
}

#[test]
fn a_row_with_a_value_of_another_type_is_left_out_of_an_index_made_later() {
    on_every_engine(|fixture| {
        fixture.db.create_table(schema()).unwrap();
        fill(fixture, 1_000);
        write(fixture, Write::put(500).set("age", "old"));
        create(fixture, index("age i64")).unwrap();
        let partial = IndexProgress::Partial { left_out: 1 };
        for state in [State::Written, State::Reopened, State::Compacted] {
            fixture.bring(state);
            assert_eq!(fixture.table().index_progress("index").unwrap(), partial);
            assert_clean(fixture);
            let all = fixture.table().query(&Query::new().index("index")).unwrap();
            assert_eq!(all.rows.len(), 999);
        }
        // It may stay as it is, and may become one that fits.
        write(fixture, Write::put(500).set("name", "Ann"));
        write(fixture, Write::put(500).set("age", 50));
        assert_clean(fixture);
        let error = fixture.table().write(Write::put(500).set("age", "old")).unwrap_err();
        for part in ["\"age\"", "string", "\"index\"", "i64"] {
            assert!(error.to_string().contains(part), "{part} in {error}");
        }
        fixture.table().drop_index("index").unwrap();
        create(fixture, index("age i64")).unwrap();
        assert_eq!(fixture.table().index_progress("index").unwrap(), IndexProgress::Complete);
        assert_clean(fixture);
    });
}

#[test]
fn an_index_that_rows_were_left_out_of_is_used_only_by_name() {
    let fixture = Fixture::new(Engine::Memory);
    fixture.db.create_table(schema()).unwrap();
    fill(&fixture, 100);
    write(&fixture, Write::put(500).set("age", 1.5));
    create(&fixture, index("age i64")).unwrap();
    // 1.5 is between them, and in no index over i64.
    let between = Query::new().filter(Condition::between("age", 1, 2));
    let plans = fixture.table().explain(&between).unwrap().plans;
    assert_eq!(
        (fixture.table().query(&between).unwrap().rows.len(), plans),
        (3, vec!["scan".into()])
    );
    let named = fixture.table().query(&between.index("index")).unwrap();
    assert_eq!(named.rows.len(), 2);
}

#[test]
fn an_index_that_failed_refuses_no_writes() {
    on_every_engine(|fixture| {
        fixture.db.create_table(schema()).unwrap();
        write(fixture, Write::put(1).set("age", 7));
        write(fixture, Write::put(2).set("age", 7));
        create(fixture, index("age i64").unique()).unwrap_err();
        write(fixture, Write::put(1).set("name", "Ann"));
        write(fixture, Write::put(2).set("age", "older").set("name", "Bob"));
        write(fixture, Write::put(3).set("age", 1));
        write(fixture, Write::put(4).set("age", 1));
        fixture.bring(State::Reopened);
        write(fixture, Write::put(1).set("name", "Anne"));
        assert_clean(fixture);
    });
}

#[test]
fn an_index_that_failed_is_complete_once_the_table_is_emptied() {
    on_every_engine(|fixture| {
        fixture.db.create_table(schema()).unwrap();
        for id in [1, 2] {
            write(fixture, Write::put(id).set("age", 7));
        }
        create(fixture, index("age i64").unique()).unwrap_err();
        fixture.table().truncate().unwrap();
        fixture.table().wait_for_index("index").unwrap();
        fixture.bring(State::Reopened);
        fixture.table().wait_for_index("index").unwrap();
        assert!(fixture.table().write(Write::put(1).set("age", "old")).is_err());
        write(fixture, Write::put(1).set("age", 1));
        assert_clean(fixture);
    });
}

#[test]
fn a_value_that_is_gone_for_good_makes_no_index_fail_and_no_write() {
    in_every_state(
        |fixture| {
            fixture.db.create_table(schema()).unwrap();
            write(fixture, Write::put(1).set("seen", "never").set("loose", 1));
            fixture.pass(70);
        },
        |fixture| {
            create(fixture, index("seen i64, loose i64")).unwrap();
            write(fixture, Write::put(1).set("loose", 2));
            assert_clean(fixture);
            write(fixture, Write::put(1).set("seen", 2));
            assert_clean(fixture);
        },
    );
}

#[test]
fn who_waits_for_an_index_that_is_dropped_or_emptied_is_told() {
    type End = fn(&Fixture);
    let ends: [(End, bool); 3] = [
        (|fixture| fixture.table().drop_index("index").unwrap(), false),
        (|fixture| fixture.table().truncate().unwrap(), true),
        (|fixture| fixture.db.drop_table("table").unwrap(), false),
    ];
    for (end, completes) in ends {
        let fixture = Fixture::new(Engine::Memory);
        let table = fixture.db.create_table(schema()).unwrap();
        fill(&fixture, ROWS);
        table.create_index(index("loose i64")).unwrap();
        let (to, told) = channel();
        let waiting = table.clone();
        thread::spawn(move || {
            to.send(true).unwrap();
            to.send(waiting.wait_for_index("index").is_ok())
        });
        told.recv().unwrap();
        while table.index_progress("index").unwrap() == (IndexProgress::Building { rows: 0 }) {
            thread::yield_now();
        }
        end(&fixture);
        let told = told.recv_timeout(seconds(30)).expect("who waits is told");
        // The building may have been faster than the end.
        assert!(told || !completes);
    }
}

#[test]
fn nothing_is_kept_of_the_progress_of_an_index_that_was_dropped() {
    let mut fixture = Fixture::new(Engine::Fjall);
    fixture.db.create_table(schema()).unwrap();
    write(&fixture, Write::put(1).set("age", "old"));
    create(&fixture, index("age i64")).unwrap();
    assert_eq!(fixture.beneath(|store| stored(store, &PROGRESS)).len(), 1);
    fixture.table().drop_index("index").unwrap();
    assert_eq!(fixture.beneath(|store| stored(store, &PROGRESS)).len(), 0);
}

#[test]
fn a_check_while_an_index_is_completed_finds_nothing_wrong() {
    let fixture = Fixture::new(Engine::Memory);
    let table = fixture.db.create_table(schema()).unwrap();
    fill(&fixture, 5_000);
    for _ in 0..10 {
        table.create_index(index("loose i64")).unwrap();
        while matches!(table.index_progress("index").unwrap(), IndexProgress::Building { .. }) {
            assert_clean(&fixture);
        }
        table.drop_index("index").unwrap();
    }
}
