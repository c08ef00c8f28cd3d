//! When a query gives up.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use stonecrop::{
    Cancel, Clock, Condition, Database, Error, Family, Index, Options, Query, Sort, Table,
    TableSchema, Timestamp, Write,
};

/// A clock that goes on by a millisecond with every look at it.
struct Ticking(AtomicI64);

impl Clock for Ticking {
    fn now(&self) -> Timestamp {
        Timestamp::from_micros(self.0.fetch_add(1_000, Ordering::Relaxed))
    }
}

fn table(rows: u64) -> Table {
    let clock = Arc::new(Ticking(AtomicI64::new(0)));
    let db = Database::open_with("memory:", Options::default().clock(clock)).unwrap();
    let schema = TableSchema::new("table", "id u64", "").unwrap();
    let schema = schema.family(Family::new("f").column("n"));
    let schema = schema.index(Index::new("by_n", "n i64").unwrap());
    let table = db.create_table(schema).unwrap();
    table.write_all((0..rows).map(|id| Write::put(id).set("n", id as i64 % 100))).unwrap();
    table
}

fn is_too_late<T: std::fmt::Debug>(result: Result<T, Error>) {
    let error = result.unwrap_err();
    assert!(matches!(error, Error::Interrupted { .. }), "{error:?}");
    assert_eq!(error.to_string(), "the query was given up: it took longer than it may");
}

#[test]
fn a_query_gives_up_at_its_deadline() {
    let table = table(20_000);
    let query = Query::new().timeout(Duration::from_millis(15));
    is_too_late(table.query(&query));
    is_too_late(table.query(&query.clone().sort([Sort::asc("n")])));
    is_too_late(table.query(&query.clone().index("by_n")));
    is_too_late(table.count(&query));
    is_too_late(table.facets(&query, "n"));
    is_too_late(table.summarize(&query, "n"));
    is_too_late(table.freshness(&query));
    assert_eq!(table.query(&query.clone().take(100)).unwrap().rows.len(), 100);
    assert_eq!(table.count(&Query::new().timeout(Duration::from_secs(5))).unwrap(), 20_000);
}

#[test]
fn a_query_gives_up_even_if_no_row_passes_its_filter() {
    let table = table(20_000);
    let none = Query::new().filter(Condition::lt("n", -1)).plan("scan");
    is_too_late(table.query(&none.timeout(Duration::from_millis(15))));
}

#[test]
fn the_deadline_is_that_of_the_whole_query_and_not_of_each_part() {
    let table = table(5_000);
    // Each of the two parts looks at 20 groups of 256 rows, with a look at the clock for each.
    let query = Query::new().sort([Sort::asc("n")]).plan("scan");
    is_too_late(table.query(&query.clone().timeout(Duration::from_millis(30))));
    assert!(table.query(&query.timeout(Duration::from_millis(100))).is_ok());
}

#[test]
fn a_query_gives_up_when_it_is_told_to() {
    let table = table(1_000);
    let cancel = Cancel::new();
    let query = Query::new().cancelled_by(&cancel);
    assert_eq!(table.query(&query).unwrap().rows.len(), 1_000);
    cancel.cancel();
    for error in [table.query(&query).unwrap_err(), table.count(&query).unwrap_err()] {
        assert_eq!(error.to_string(), "the query was given up: it was cancelled");
    }
}

#[test]
fn a_query_from_another_thread_is_cancelled_while_it_runs() {
    let table = table(200_000);
    let cancel = Cancel::new();
    let query = Query::new().filter(Condition::lt("n", -1)).plan("scan").cancelled_by(&cancel);
    std::thread::scope(|scope| {
        let asking = scope.spawn(|| {
            loop {
                if let Err(error) = table.query(&query) {
                    return error;
                }
            }
        });
        cancel.cancel();
        assert!(matches!(asking.join().unwrap(), Error::Interrupted { .. }));
    });
}

#[test]
fn rows_that_take_too_much_memory_are_refused_with_advice() {
    let schema = TableSchema::new("table", "id u64", "").unwrap();
    let schema = schema.family(Family::new("f").column("n").column("large"));
    let schema = schema.index(Index::new("by_n", "n i64").unwrap());
    let table = Database::memory().create_table(schema).unwrap();
    let large = vec![7_u8; 8 << 20];
    for id in 0..33 {
        table.write(Write::put(id).set("n", id).set("large", large.clone())).unwrap();
    }
    let advice = "query: its rows take more than 256 MiB; ask for fewer with `take`, and go on \
                  from the cursor";
    let indexed = Query::new().index("by_n");
    let by_large = Query::new().sort([Sort::asc("large")]);
    for query in [Query::new(), Query::new().sort([Sort::asc("n")]), by_large, indexed] {
        assert_eq!(table.query(&query).unwrap_err().to_string(), advice, "{query:?}");
        assert_eq!(table.query(&query.take(10)).unwrap().rows.len(), 10);
    }
}
