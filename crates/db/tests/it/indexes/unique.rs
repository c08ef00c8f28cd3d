//! Unique indexes: who is refused, and when a value is free again.

use super::*;

fn assert_taken(fixture: &Fixture, writes: impl IntoIterator<Item = Write<'static>>, at: usize) {
    let before = rows(&fixture.table(), Scan::all());
    let error = fixture.table().write_all(writes).unwrap_err();
    let Error::NotUnique { index, write } = &error else { panic!("{error:?}") };
    assert_eq!((index.as_str(), *write), ("index", at));
    assert_eq!(rows(&fixture.table(), Scan::all()), before, "nothing is written");
    assert_clean(fixture);
}

/// On every engine, over several shards as well as one.
fn with_unique(columns: &str, check: impl Fn(&mut Fixture)) {
    for &engine in crate::harness::ENGINES {
        for shards in [1, 3] {
            let mut fixture = Fixture::with_shards(engine, shards);
            fixture.db.create_table(schema().index(index(columns).unique())).unwrap();
            check(&mut fixture);
            assert_clean(&fixture);
        }
    }
}

fn email(id: u64, email: &str) -> Write<'static> {
    Write::put(id).set("email", email.to_owned())
}

#[test]
fn another_row_with_the_same_values_is_refused() {
    with_unique("email string", |fixture| {
        fixture.table().write_all((0..20).map(|id| email(id, &format!("{id}@x")))).unwrap();
        for id in 0..20 {
            assert_taken(fixture, [email(100, "free"), email(21, &format!("{id}@x"))], 1);
        }
        assert_taken(fixture, [Write::replace(3).set("email", "4@x")], 0);
        write(fixture, email(4, "4@x"));
        write(fixture, email(21, "1@"));
        write(fixture, email(22, "1@xx"));
    });
}

#[test]
fn rows_with_the_same_values_in_some_of_the_columns_are_not_the_same() {
    with_unique("name string, seen i64 desc", |fixture| {
        write(fixture, Write::put(1).set("name", "Ann").set("seen", 1));
        write(fixture, Write::put(2).set("name", "Ann").set("seen", 2));
        write(fixture, Write::put(3).set("name", "Bob").set("seen", 1));
        assert_taken(fixture, [Write::put(3).set("name", "Ann")], 0);
        assert_taken(fixture, [Write::put(1).set("seen", 2)], 0);
    });
}

#[test]
fn nulls_are_never_the_same() {
    with_unique("email string nulls last, loose i64 nulls first", |fixture| {
        for id in 0..3 {
            let row = Write::put(id).set("email", Value::Null).set("loose", Value::Null);
            write(fixture, row);
            write(fixture, email(10 + id, "a").set("loose", Value::Null));
        }
        write(fixture, email(1, "a").set("loose", 1));
        assert_taken(fixture, [email(2, "a").set("loose", 1)], 0);
    });
}

#[test]
fn a_value_is_free_once_its_row_has_another_or_none_or_is_deleted() {
    let frees: [fn() -> Write<'static>; 4] = [
        || email(1, "b"),
        || Write::put(1).remove("email"),
        || Write::replace(1).set("name", "Ann"),
        || Write::delete(1),
    ];
    for free in frees {
        with_unique("email string", |fixture| {
            write(fixture, email(1, "a"));
            assert_taken(fixture, [email(2, "a")], 0);
            write(fixture, free());
            write(fixture, email(2, "a"));
            assert_taken(fixture, [email(1, "a")], 0);
        });
    }
}

#[test]
fn a_value_is_free_once_it_is_gone() {
    for state in crate::harness::STATES {
        with_unique("page string", |fixture| {
            write(fixture, Write::put(1).set("page", "/"));
            fixture.pass(9);
            assert_taken(fixture, [Write::put(2).set("page", "/")], 0);
            fixture.pass(1);
            fixture.bring(state);
            write(fixture, Write::put(2).set("page", "/"));
        });
    }
}

#[test]
fn a_row_whose_value_was_gone_and_taken_by_another_does_not_get_it_back() {
    with_unique("page string", |fixture| {
        write(fixture, Write::put(1).set("page", "/"));
        fixture.pass(10);
        write(fixture, Write::put(2).set("page", "/"));
        assert_taken(fixture, [Write::put(1).set("page", "/")], 0);
        assert_taken(fixture, [Write::replace(1).set("page", "/")], 0);
    });
}

#[test]
fn two_rows_of_one_batch_can_not_have_the_same_values() {
    with_unique("email string", |fixture| {
        assert_taken(fixture, [email(1, "a"), email(2, "b"), email(3, "a")], 2);
        fixture.table().write_all([email(1, "a"), email(1, "a"), email(2, "b")]).unwrap();
    });
}

#[test]
fn the_writes_of_a_batch_count_in_their_order() {
    with_unique("email string", |fixture| {
        fixture.table().write_all([email(1, "a"), email(2, "b")]).unwrap();
        assert_taken(fixture, [email(1, "b"), email(2, "a")], 0);
        assert_taken(fixture, [email(3, "c"), email(2, "a"), email(1, "b")], 1);
        fixture.table().write_all([email(1, "c"), email(2, "a"), email(1, "b")]).unwrap();
        assert_eq!(value(fixture, "email"), Some("b".into()));
        fixture.table().write_all([Write::delete(1), email(3, "b")]).unwrap();
    });
}

#[test]
fn tables_and_indexes_do_not_share_their_values() {
    on_every_engine(|fixture| {
        let other = Index::new("other", "name string").unwrap().unique();
        let schema = schema().index(index("email string").unique()).index(other);
        let table = fixture.db.create_table(schema).unwrap();
        let second = TableSchema::new("second", "id u64", "").unwrap();
        let second = fixture.db.create_table(second.index(index("email string").unique())).unwrap();
        let write = || email(1, "a").set("name", "a");
        fixture.db.transaction([(&table, write()), (&second, write())]).unwrap();
        fixture.db.transaction([(&table, email(2, "b")), (&second, email(2, "b"))]).unwrap();
        let error = fixture.db.transaction([(&table, email(3, "c")), (&second, email(3, "b"))]);
        assert!(matches!(error, Err(Error::NotUnique { write: 1, .. })), "{error:?}");
        assert_eq!(table.get(3).unwrap(), None);
    });
}

#[test]
fn of_many_who_want_the_same_value_one_gets_it() {
    with_unique("email string", |fixture| {
        let table = fixture.table();
        for round in 0..20 {
            let won = std::thread::scope(|scope| {
                let threads: Vec<_> = (0..4_u64)
                    .map(|thread| {
                        let (table, want) = (&table, format!("{round}@x"));
                        scope.spawn(move || table.write(email(round * 4 + thread, &want)).is_ok())
                    })
                    .collect();
                threads.into_iter().map(|thread| thread.join().unwrap()).collect::<Vec<_>>()
            });
            assert_eq!(won.iter().filter(|won| **won).count(), 1, "{won:?}");
        }
    });
}
