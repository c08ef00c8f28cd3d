//! What a write does to what is there: which one wins, what stays, what is told.

use std::sync::Arc;

use stonecrop::{
    ColumnType, Commit, Condition, Database, Decision, Durability, Error, Family, Scan,
    TableSchema, Value, Write,
};

use crate::harness::{Engine, Fixture, at, in_every_state, on_every_engine, rows, value};

fn create(fixture: &Fixture) {
    let family = Family::new("crm").column("name").column("email");
    let schema = TableSchema::new("table", "id u64", "").unwrap().family(family);
    fixture.db.create_table(schema).unwrap();
}

fn fill(fixture: &Fixture) {
    create(fixture);
    let row = Write::put(1).set("name", "Ann").set("email", "ann@example").set("loose", 1);
    fixture.table().write(row).unwrap();
}

fn ignored(fixture: &Fixture, write: Write<'_>) -> Vec<String> {
    fixture.table().write(write).unwrap().writes[0].ignored.clone()
}

#[test]
fn a_partial_write_keeps_the_other_columns_of_the_family() {
    in_every_state(fill, |fixture| {
        fixture.table().write(Write::put(1).set("name", "Anna")).unwrap();
        assert_eq!(value(fixture, "name"), Some("Anna".into()));
        assert_eq!(value(fixture, "email"), Some("ann@example".into()));
        assert_eq!(value(fixture, "loose"), Some(1.into()));
    });
}

#[test]
fn a_replacement_leaves_nothing_that_it_does_not_name() {
    in_every_state(fill, |fixture| {
        fixture.table().write(Write::replace(1).set("name", "Bob")).unwrap();
        let found = rows(&fixture.table(), Scan::all());
        let columns: Vec<_> = found[0].columns().map(|(name, _)| name).collect();
        assert_eq!((found.len(), columns), (1, vec!["name"]));
    });
}

#[test]
fn a_deleted_row_is_not_there() {
    in_every_state(fill, |fixture| {
        fixture.table().write(Write::delete(1)).unwrap();
        assert_eq!(fixture.table().get(1).unwrap(), None);
        assert!(rows(&fixture.table(), Scan::all()).is_empty());
    });
}

#[test]
fn a_late_write_is_ignored_and_reported() {
    in_every_state(fill, |fixture| {
        let late = Write::put(1).set("name", "An").set("loose", 0).set("new", 2);
        let mut names = ignored(fixture, late.written_at(at(-1)));
        names.sort();
        assert_eq!(names, ["crm", "loose"]);
        assert_eq!(value(fixture, "name"), Some("Ann".into()));
        assert_eq!(value(fixture, "new"), Some(2.into()), "nothing newer was there");
    });
}

#[test]
fn a_write_of_the_same_time_wins() {
    in_every_state(fill, |fixture| {
        assert!(ignored(fixture, Write::put(1).set("name", "An").written_at(at(0))).is_empty());
        assert_eq!(value(fixture, "name"), Some("An".into()));
    });
}

#[test]
fn a_write_that_does_not_say_when_is_never_late_even_if_the_clock_went_back() {
    in_every_state(fill, |fixture| {
        fixture.clock.set(at(-50));
        assert!(ignored(fixture, Write::put(1).set("name", "Anna")).is_empty());
        let row = fixture.table().get(1).unwrap().unwrap();
        assert_eq!(row.value("name"), Some(&"Anna".into()));
        assert_eq!(
            row.cell("name").unwrap().written_at,
            at(0),
            "nor is it before what it replaces"
        );
    });
}

#[test]
fn a_late_write_does_not_bring_back_what_was_deleted_in_the_last_24_hours() {
    let fill = |fixture: &Fixture| {
        fill(fixture);
        fixture.pass(10);
        fixture.table().write(Write::delete(1)).unwrap();
    };
    in_every_state(fill, |fixture| {
        fixture.pass(86_399);
        assert_eq!(ignored(fixture, Write::put(1).set("name", "An").written_at(at(9))), ["crm"]);
        assert_eq!(fixture.table().get(1).unwrap(), None);
        fixture.pass(1);
        assert!(ignored(fixture, Write::put(1).set("name", "An").written_at(at(9))).is_empty());
        assert_eq!(value(fixture, "name"), Some("An".into()));
    });
}

#[test]
fn a_late_write_does_not_bring_back_a_column_that_was_removed() {
    let fill = |fixture: &Fixture| {
        fill(fixture);
        fixture.pass(10);
        fixture.table().write(Write::put(1).remove("loose").remove("name")).unwrap();
    };
    in_every_state(fill, |fixture| {
        let late = Write::put(1).set("loose", 1).set("name", "An").written_at(at(9));
        let mut names = ignored(fixture, late);
        names.sort();
        assert_eq!(names, ["crm", "loose"]);
        assert_eq!([value(fixture, "loose"), value(fixture, "name")], [None, None]);
        assert_eq!(value(fixture, "email"), Some("ann@example".into()));
    });
}

#[test]
fn a_late_delete_leaves_what_is_newer() {
    let fill = |fixture: &Fixture| {
        fill(fixture);
        fixture.pass(10);
        fixture.table().write(Write::put(1).set("loose", 2)).unwrap();
    };
    in_every_state(fill, |fixture| {
        assert_eq!(ignored(fixture, Write::delete(1).written_at(at(5))), ["loose"]);
        let columns = fixture.table().get(1).unwrap().unwrap();
        let columns: Vec<_> = columns.columns().map(|(name, _)| name.to_owned()).collect();
        assert_eq!(columns, ["loose"]);
    });
}

#[test]
fn a_row_without_columns_can_be_there() {
    let fill = |fixture: &Fixture| {
        create(fixture);
        fixture.table().write(Write::put(1)).unwrap();
    };
    in_every_state(fill, |fixture| {
        assert_eq!(fixture.table().get(1).unwrap().unwrap().columns().count(), 0);
        assert_eq!(rows(&fixture.table(), Scan::all()).len(), 1);
        fixture.table().write(Write::put(1).when(Condition::Exists)).unwrap();
    });
}

#[test]
fn null_is_there_unlike_a_column_that_was_removed() {
    in_every_state(fill, |fixture| {
        fixture.table().write(Write::put(1).set("name", Value::Null).remove("email")).unwrap();
        assert_eq!(value(fixture, "name"), Some(Value::Null));
        assert_eq!(value(fixture, "email"), None);
        let has = |column: &str| Write::put(1).when(Condition::has(column));
        assert!(fixture.table().write(has("name")).is_ok());
        assert!(fixture.table().write(has("email")).is_err());
    });
}

#[test]
fn a_batch_with_one_condition_that_is_not_true_writes_nothing() {
    in_every_state(fill, |fixture| {
        let error = fixture.table().write_all([
            Write::put(2).set("name", "Bob"),
            Write::delete(1),
            Write::put(3).set("name", "Cid").when(Condition::Exists),
        ]);
        assert!(matches!(error, Err(Error::ConditionFailed { write: 2 })));
        assert_eq!(rows(&fixture.table(), Scan::all()).len(), 1);
        assert_eq!(value(fixture, "loose"), Some(1.into()));
    });
}

#[test]
fn a_write_sees_those_before_it_in_its_batch() {
    on_every_engine(|fixture| {
        create(fixture);
        let batch = [
            Write::put(1).set("loose", 1).when(Condition::NotExists),
            Write::put(1).add("loose", 1).when(Condition::eq("loose", 1)),
            Write::replace(1).set("name", "Ann").when(Condition::eq("loose", 2)),
        ];
        fixture.table().write_all(batch).unwrap();
        assert_eq!(value(fixture, "loose"), None);
        assert_eq!(value(fixture, "name"), Some("Ann".into()));
    });
}

#[test]
fn a_late_write_without_columns_does_not_make_the_row_older() {
    on_every_engine(|fixture| {
        create(fixture);
        fixture.table().write(Write::put(1)).unwrap();
        fixture.table().write(Write::put(1).written_at(at(-20))).unwrap();
        fixture.table().write(Write::delete(1).written_at(at(-10))).unwrap();
        assert!(fixture.table().get(1).unwrap().is_some(), "it was written after that delete");
    });
}

#[test]
fn a_late_delete_of_a_row_without_columns_is_reported_as_the_row() {
    on_every_engine(|fixture| {
        create(fixture);
        fixture.table().write(Write::put(1)).unwrap();
        assert_eq!(ignored(fixture, Write::delete(1).written_at(at(-10))), ["row"]);
    });
}

#[test]
fn a_late_column_does_not_come_back_after_a_replacement_of_all_families() {
    on_every_engine(|fixture| {
        create(fixture);
        let replacement = Write::replace(1).set("name", "Ann").set("email", "ann@example");
        fixture.table().write(replacement).unwrap();
        assert_eq!(ignored(fixture, Write::put(1).set("loose", 1).written_at(at(-1))), ["loose"]);
        assert_eq!(value(fixture, "loose"), None);
    });
}

#[test]
fn a_late_write_does_not_bring_back_what_was_deleted_after_the_clock_went_back() {
    in_every_state(
        |fixture| {
            fill(fixture);
            fixture.clock.set(at(-10));
            fixture.table().write(Write::delete(1)).unwrap();
        },
        |fixture| {
            let late = Write::put(1).set("name", "An").written_at(at(-5));
            assert_eq!(ignored(fixture, late), ["crm"], "it is older than what was deleted");
            assert_eq!(fixture.table().get(1).unwrap(), None);
        },
    );
}

#[test]
fn a_forgotten_removal_is_forgotten_whether_compaction_ran_or_not() {
    let fill = |fixture: &Fixture| {
        create(fixture);
        fixture.table().write(Write::delete(1)).unwrap();
        fixture.pass(86_400 + 60);
    };
    in_every_state(fill, |fixture| {
        fixture.table().write(Write::delete(1).written_at(at(-10))).unwrap();
        let late = Write::put(1).set("name", "An").written_at(at(-5));
        assert!(ignored(fixture, late).is_empty());
        assert_eq!(value(fixture, "name"), Some("An".into()));
    });
}

#[test]
fn a_transaction_refuses_a_table_of_another_database() {
    let [ours, theirs] = [Database::memory(), Database::memory()];
    let schema = || TableSchema::new("table", "id u64", "").unwrap();
    let (_, table) = (ours.create_table(schema()).unwrap(), theirs.create_table(schema()).unwrap());
    let error = ours.transaction([(&table, Write::put(1).set("a", 1))]).unwrap_err();
    assert!(error.to_string().contains("another database"), "{error}");
}

/// Waits for a future on this thread.
fn wait<F: Future>(future: F) -> F::Output {
    struct Unpark(std::thread::Thread);
    impl std::task::Wake for Unpark {
        fn wake(self: Arc<Self>) {
            self.0.unpark();
        }
    }
    let waker = Arc::new(Unpark(std::thread::current())).into();
    let mut future = std::pin::pin!(future);
    loop {
        match future.as_mut().poll(&mut std::task::Context::from_waker(&waker)) {
            std::task::Poll::Ready(output) => return output,
            std::task::Poll::Pending => std::thread::park(),
        }
    }
}

#[test]
fn writes_that_are_submitted_are_committed_by_the_first_of_them() {
    on_every_engine(|fixture| {
        create(fixture);
        let table = fixture.table();
        let before = fixture.db.writer_stats().commits;
        let mut commits = Vec::new();
        let submitted: Vec<_> = (0..10)
            .map(|id| {
                let write = Write::put(id).set("name", "Ann").when(Condition::NotExists);
                table.submit(&[write], Durability::Sync, |commit| commits.push(commit)).unwrap()
            })
            .collect();
        let failing = Write::put(3).when(Condition::NotExists);
        let failing = table.submit(&[failing], Durability::Sync, |_| panic!("not first")).unwrap();
        assert_eq!((commits.len(), rows(&table, Scan::all()).len()), (1, 0));
        let committing = std::thread::spawn(move || commits.into_iter().for_each(Commit::run));
        for submitted in submitted {
            assert_eq!(wait(submitted).unwrap().durability, Durability::Sync);
        }
        assert!(matches!(wait(failing), Err(Error::ConditionFailed { .. })));
        committing.join().unwrap();
        assert_eq!(rows(&table, Scan::all()).len(), 10);
        assert_eq!(fixture.db.writer_stats().commits - before, 1);
    });
}

#[test]
fn a_submitted_write_is_done_though_nobody_waits_for_it() {
    on_every_engine(|fixture| {
        create(fixture);
        // The commit is dropped as well.
        let table = fixture.table();
        drop(table.submit(&[Write::put(1)], Durability::Interval, drop).unwrap());
        assert_eq!(rows(&table, Scan::all()).len(), 1);
    });
}

#[test]
fn a_commit_is_run_at_once_only_where_it_waits_for_nothing() {
    on_every_engine(|fixture| {
        create(fixture);
        let table = fixture.table();
        let submit = |id: i64| {
            let mut left = None;
            let run = |commit: Commit| left = commit.run_at_once();
            let submitted = table.submit(&[Write::put(id)], Durability::Sync, run).unwrap();
            (submitted, left)
        };
        let (submitted, left) = submit(1);
        assert_eq!(left.is_none(), fixture.engine == Engine::Memory);
        drop(left);
        wait(submitted).unwrap();

        let step = Arc::new(std::sync::Barrier::new(2));
        let (of_slow, slow_table) = (step.clone(), table.clone());
        let slow = Write::decide(2, move |_| {
            of_slow.wait();
            of_slow.wait();
            Ok(None)
        });
        let slow = std::thread::spawn(move || slow_table.write(slow));
        step.wait();
        let (submitted, left) = submit(3);
        assert!(left.is_some(), "another commit goes on");
        step.wait();
        drop(left);
        wait(submitted).unwrap();
        slow.join().unwrap().unwrap();
        assert_eq!(rows(&table, Scan::all()).len(), 2);
    });
}

/// One more visit than there were.
fn visit() -> Write<'static> {
    Write::decide(1, |row| {
        let visits = row.and_then(|row| row.value("visits")).cloned();
        let Value::Int(visits) = visits.unwrap_or(0.into()) else { panic!("no number") };
        Ok(Some(Write::put(1).set("visits", visits + 1)))
    })
}

#[test]
fn what_a_function_decides_is_decided_on_the_row_as_it_is() {
    on_every_engine(|fixture| {
        create(fixture);
        let table = fixture.table();
        table.write_all([Write::put(1).set("visits", 10), visit(), visit()]).unwrap();
        assert_eq!(value(fixture, "visits"), Some(12.into()));
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| (0..25).for_each(|_| drop(fixture.table().write(visit()).unwrap())));
            }
        });
        assert_eq!(value(fixture, "visits"), Some(212.into()));
    });
}

#[test]
fn a_function_can_decide_on_another_row_on_a_deletion_or_on_nothing() {
    on_every_engine(|fixture| {
        fill(fixture);
        let table = fixture.table();
        let copy = Write::decide(1, |row| {
            let name = row.unwrap().value("name").unwrap().clone();
            Ok(Some(Write::put(2).set("name", name)))
        });
        table.write_all([copy, Write::decide(1, |_| Ok(Some(Write::delete(1))))]).unwrap();
        let found = rows(&table, Scan::all());
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].value("name"), Some(&"Ann".into()));
        let gone = Write::decide(1, |row| {
            assert_eq!(row, None);
            Ok(None)
        });
        assert!(table.write(gone).unwrap().writes[0].ignored.is_empty());
        assert_eq!(rows(&table, Scan::all()).len(), 1);
    });
}

/// Of a new row the name, of one that is there how often it was asked for, twice at most.
fn welcome(name: &str) -> Write<'_> {
    Write::put(1).set("name", name).unless(|row| {
        let Some(row) = row else { return Ok(Decision::AsIs) };
        let again = match row.value("again") {
            None => 1,
            Some(Value::Int(again)) if *again < 2 => again + 1,
            Some(_) => return Ok(Decision::Nothing),
        };
        Ok(Decision::Instead(Box::new(Write::put(1).set("again", again))))
    })
}

#[test]
fn a_write_is_done_as_it_is_unless_a_function_decides_otherwise() {
    in_every_state(create, |fixture| {
        let table = fixture.table();
        table.write_all([welcome("Ann"), welcome("Bob")]).unwrap();
        assert_eq!(value(fixture, "again"), Some(1.into()));
        table.write_all([welcome("Cid"), welcome("Dan")]).unwrap();
        assert_eq!(value(fixture, "name"), Some("Ann".into()));
        assert_eq!(value(fixture, "again"), Some(2.into()));
        table.write_all([Write::delete(1), welcome("Eve")]).unwrap();
        assert_eq!(value(fixture, "name"), Some("Eve".into()));
        assert_eq!(value(fixture, "again"), None);
        let refused = Write::delete(1).unless(|_| Err(Error::Refused { reason: String::new() }));
        assert!(matches!(table.write(refused), Err(Error::Refused { .. })));
        let failed = welcome("Fay").when(Condition::NotExists);
        assert!(matches!(table.write(failed), Err(Error::ConditionFailed { .. })));
        assert_eq!(value(fixture, "name"), Some("Eve".into()));
    });
}

#[test]
fn a_write_that_can_not_be_done_is_refused_only_if_it_is_to_be_done() {
    on_every_engine(|fixture| {
        let family = Family::new("crm").typed("age", ColumnType::Int);
        let schema = TableSchema::new("table", "id u64", "").unwrap().family(family);
        let table = fixture.db.create_table(schema).unwrap();
        let aged = |decision: fn() -> Decision| {
            Write::put(1).set("age", "old").unless(move |_| Ok(decision()))
        };
        table.write(aged(|| Decision::Nothing)).unwrap();
        let young = || Decision::Instead(Box::new(Write::put(1).set("age", 7)));
        table.write(aged(young)).unwrap();
        let refused = table.write(aged(|| Decision::AsIs)).unwrap_err();
        assert!(matches!(refused, Error::ColumnType { .. }), "{refused:?}");
        assert_eq!(value(fixture, "age"), Some(7.into()));
    });
}

#[test]
fn a_function_that_says_that_a_table_was_altered_is_not_asked_forever() {
    on_every_engine(|fixture| {
        create(fixture);
        let altered = Write::decide(1, |_| Err(Error::Altered));
        let refused = fixture.db.transaction([(&fixture.table(), altered)]);
        assert!(matches!(refused, Err(Error::Altered)), "{refused:?}");
    });
}

#[test]
fn a_function_that_refuses_refuses_the_whole_batch() {
    on_every_engine(|fixture| {
        create(fixture);
        let table = fixture.table();
        let refuse = || Write::decide(2, |_| Err(Error::Refused { reason: "no".to_owned() }));
        let refused = table.write_all([Write::put(1).set("name", "Ann"), refuse()]).unwrap_err();
        assert!(matches!(&refused, Error::Write { write: 1, .. }), "{refused:?}");
        let error = table.write(refuse()).unwrap_err();
        assert_eq!(error.to_string(), "the write was refused: no");
        let nested = table.write(Write::decide(1, |_| Ok(Some(visit())))).unwrap_err();
        assert!(matches!(nested, Error::Refused { .. }), "{nested:?}");
        let both = table.write(visit().set("name", "Ann")).unwrap_err();
        assert!(matches!(both, Error::Value { .. }), "{both:?}");
        assert!(rows(&table, Scan::all()).is_empty());
    });
}
