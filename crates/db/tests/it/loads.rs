//! Loads: what is there after one, and how far one came that ended early.

use stonecrop::{ColumnType, Error, Family, TableSchema, Write};

use crate::harness::{Fixture, on_every_engine};

fn create(fixture: &Fixture) {
    let family = Family::new("crm").typed("age", ColumnType::Int);
    fixture
        .db
        .create_table(TableSchema::new("table", "id u64", "").unwrap().family(family))
        .unwrap();
}

fn age(fixture: &Fixture, id: u64) -> Option<stonecrop::Value> {
    fixture.table().get(id).unwrap()?.value("age").cloned()
}

#[test]
fn a_load_of_many_batches_does_all_writes_in_their_order() {
    on_every_engine(|fixture| {
        create(fixture);
        // Each row twice, far enough apart to be in different batches.
        let rows = (0..3_500_u64).chain(0..3_500).enumerate();
        let loaded =
            fixture.table().load(rows.map(|(at, id)| Write::put(id).set("age", at as i64)));
        assert_eq!(loaded.unwrap(), 7_000);
        for id in [0, 999, 1_000, 3_499] {
            assert_eq!(age(fixture, id), Some((3_500 + id as i64).into()));
        }
        assert_eq!(fixture.table().load([]).unwrap(), 0);
    });
}

#[test]
fn a_load_that_meets_a_bad_write_tells_how_many_were_done_before() {
    on_every_engine(|fixture| {
        create(fixture);
        let write = |id: u64| match id {
            1_700 => Write::put(id).set("age", "old"),
            _ => Write::put(id).set("age", 1),
        };
        let error = fixture.table().load((0..5_000).map(write)).unwrap_err();
        let Error::Load { written: 1_000, cause } = &error else { panic!("{error}") };
        assert!(matches!(**cause, Error::Write { write: 700, .. }), "{error}");
        assert_eq!((age(fixture, 999), age(fixture, 1_000)), (Some(1.into()), None));
    });
}

#[test]
fn a_load_asks_for_no_more_writes_once_one_could_not_be_done() {
    on_every_engine(|fixture| {
        create(fixture);
        let table = fixture.table();
        let unless_there = |id: u64| match id {
            1_500 => Write::put(id).when(stonecrop::Condition::Exists),
            _ => Write::put(id).set("age", 1),
        };
        let mut asked = 0;
        let writes = (0..1_000_000).inspect(|_| asked += 1).map(unless_there);
        let error = table.load(writes).unwrap_err();
        let Error::Load { written: 1_000, cause } = &error else { panic!("{error}") };
        assert!(matches!(**cause, Error::ConditionFailed { write: 500 }), "{error}");
        assert!(asked < 1_000_000, "all were asked for");
    });
}
