//! Many threads at once: every operation takes effect at one moment between its call and its answer.

use std::collections::HashSet;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

use stonecrop::{Condition, Error, Family, Scan, Table, TableSchema, Value, Write};

use crate::harness::{ENGINES, Fixture, on_every_engine};

const THREADS: usize = 16;

/// What a thread asked of a row, and was told.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Operation {
    Put(i64),
    /// From the first to the second, and whether it was done.
    Swap(i64, i64, bool),
    Add(i64),
    Get(Option<i64>),
}

impl Operation {
    fn is_read(self) -> bool {
        matches!(self, Operation::Get(_) | Operation::Swap(_, _, false))
    }
}

/// An operation, with the turns at which it was called and answered.
#[derive(Clone, Copy, Debug)]
struct Event {
    called: u64,
    answered: u64,
    operation: Operation,
}

/// The value after an operation; none where the answer is not the one that the value asks for.
fn after(value: Option<i64>, operation: Operation) -> Option<Option<i64>> {
    match operation {
        Operation::Put(new) => Some(Some(new)),
        Operation::Add(number) => Some(Some(value.unwrap_or(0) + number)),
        Operation::Get(found) => (found == value).then_some(value),
        Operation::Swap(old, new, true) => (value == Some(old)).then_some(Some(new)),
        Operation::Swap(old, _, false) => (value != Some(old)).then_some(value),
    }
}

/// Whether the operations on one value, absent at first, can be put into an order in which each
/// answer is right, and none comes before another that was answered before it was called (Wing and
/// Gong 1993). What was tried is remembered as the set of operations done and the value after them
/// (Lowe 2017).
fn is_linearizable(events: &[Event]) -> bool {
    let mut events = events.to_vec();
    events.sort_by_key(|event| event.answered);
    let mut tried = HashSet::new();
    let mut paths = vec![(vec![false; events.len()], None)];
    while let Some((done, value)) = paths.pop() {
        // The first to be answered has to be done before anything that is called after that.
        let Some(first) = done.iter().position(|done| !done) else { return true };
        let may_be_next = |(index, event): &(usize, &Event)| {
            !done[*index] && event.called < events[first].answered
        };
        let next = events.iter().enumerate().filter(may_be_next);
        let mut next: Vec<_> = next
            .filter_map(|(index, event)| Some((index, after(value, event.operation)?)))
            .collect();
        // A read that is right here can as well be done here as later.
        if let Some(read) = next.iter().find(|(index, _)| events[*index].operation.is_read()) {
            next = vec![*read];
        }
        // Those answered first are tried first.
        for (index, value) in next.into_iter().rev() {
            let mut done = done.clone();
            done[index] = true;
            if tried.insert((done.clone(), value)) {
                paths.push((done, value));
            }
        }
    }
    false
}

fn event(called: u64, answered: u64, operation: Operation) -> Event {
    Event { called, answered, operation }
}

#[test]
fn the_checker_takes_overlapping_operations_in_either_order() {
    let put = event(0, 3, Operation::Put(1));
    assert!(is_linearizable(&[put, event(1, 2, Operation::Get(None))]));
    assert!(is_linearizable(&[put, event(1, 2, Operation::Get(Some(1)))]));
    let swaps =
        [event(4, 7, Operation::Swap(1, 2, true)), event(5, 6, Operation::Swap(2, 3, true))];
    assert!(is_linearizable(&[&[put][..], &swaps].concat()));
}

#[test]
fn the_checker_refuses_a_read_of_what_was_overwritten_before_it_began() {
    let puts = [event(0, 1, Operation::Put(1)), event(2, 3, Operation::Put(2))];
    assert!(is_linearizable(&[&puts[..], &[event(4, 5, Operation::Get(Some(2)))]].concat()));
    assert!(!is_linearizable(&[&puts[..], &[event(4, 5, Operation::Get(Some(1)))]].concat()));
}

#[test]
fn the_checker_refuses_a_lost_increment_and_two_winners_of_one_swap() {
    let adds = [event(0, 3, Operation::Add(1)), event(1, 2, Operation::Add(1))];
    assert!(!is_linearizable(&[&adds[..], &[event(4, 5, Operation::Get(Some(1)))]].concat()));
    let put = event(0, 1, Operation::Put(7));
    let swaps =
        [event(2, 5, Operation::Swap(7, 8, true)), event(3, 4, Operation::Swap(7, 9, true))];
    assert!(!is_linearizable(&[&[put][..], &swaps].concat()));
}

#[test]
fn the_checker_refuses_two_reads_that_see_a_write_come_and_go() {
    let put = event(0, 9, Operation::Put(1));
    let reads = [event(1, 2, Operation::Get(Some(1))), event(3, 4, Operation::Get(None))];
    assert!(!is_linearizable(&[&[put][..], &reads].concat()));
}

/// Does one operation, the `turn`th of a thread.
fn operate(table: &Table, row: u64, thread: usize, turn: usize) -> Operation {
    let choice = thread * 7 + turn * 13;
    // Few values, so that some swaps happen; a value of its own, so that a wrong read shows.
    let own = (thread * 1_000 + turn) as i64;
    let int = |value: &Value| if let Value::Int(value) = value { *value } else { panic!() };
    let read = || {
        let found = table.get(row).unwrap();
        found.as_ref().and_then(|row| row.value("value")).map(int)
    };
    match choice % 5 {
        0 => {
            table.write(Write::put(row).set("value", own)).unwrap();
            Operation::Put(own)
        }
        1 => {
            table.write(Write::put(row).add("value", 1)).unwrap();
            Operation::Add(1)
        }
        2 => {
            let old = read().unwrap_or(0);
            let swap = Write::put(row).set("value", own).when(Condition::eq("value", old));
            match table.write(swap) {
                Ok(_) => Operation::Swap(old, own, true),
                Err(Error::ConditionFailed { .. }) => Operation::Swap(old, own, false),
                Err(other) => panic!("{other}"),
            }
        }
        _ => Operation::Get(read()),
    }
}

fn history(table: &Table, rows: u64, turns: usize) -> Vec<(u64, Event)> {
    let clock = AtomicU64::new(0);
    let tick = || clock.fetch_add(1, Ordering::SeqCst);
    let run = |thread: usize| {
        let events = (0..turns).map(|turn| {
            let row = (thread + turn) as u64 % rows;
            let called = tick();
            let operation = operate(table, row, thread, turn);
            (row, Event { called, answered: tick(), operation })
        });
        events.collect::<Vec<_>>()
    };
    thread::scope(|scope| {
        let threads: Vec<_> = (0..THREADS).map(|thread| scope.spawn(move || run(thread))).collect();
        threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
    })
}

#[test]
fn operations_on_a_row_by_many_threads_are_linearizable() {
    for &engine in ENGINES {
        for round in 0..20 {
            // Where all threads wait for the same commit, all their turns overlap, and the search for an
            // order of them has no end.
            let turns = if engine.answers_at_once() { 20 } else { 4 };
            let fixture = Fixture::new(engine);
            // A column of a family is read by another path than one that is declared in none.
            let mut schema = TableSchema::new("table", "id u64", "").unwrap();
            if round % 2 == 0 {
                schema = schema.family(Family::new("family").column("value"));
            }
            let table = fixture.db.create_table(schema).unwrap();
            let rows = 1 + round / 2 % 4;
            let events = history(&table, rows, turns);
            for row in 0..rows {
                let of_row: Vec<_> =
                    events.iter().filter(|(of, _)| *of == row).map(|(_, event)| *event).collect();
                assert!(is_linearizable(&of_row), "{engine:?}, row {row}: {of_row:#?}");
            }
        }
    }
}

#[test]
fn increments_by_many_threads_are_all_counted() {
    on_every_engine(|fixture| {
        let schema = TableSchema::new("table", "id u64", "").unwrap();
        let table = fixture.db.create_table(schema).unwrap();
        thread::scope(|scope| {
            for _ in 0..32 {
                scope.spawn(|| {
                    for _ in 0..50 {
                        table.write(Write::put(1).add("count", 1)).unwrap();
                    }
                });
            }
        });
        assert_eq!(table.get(1).unwrap().unwrap().value("count"), Some(&1_600.into()));
    });
}

#[test]
fn only_one_of_many_threads_makes_a_row_that_must_not_be_there() {
    on_every_engine(|fixture| {
        let schema = TableSchema::new("table", "id u64", "").unwrap();
        let table = fixture.db.create_table(schema).unwrap();
        for row in 0..20 {
            let make = |thread: i64| {
                let write = Write::put(row).set("by", thread).when(Condition::NotExists);
                table.write(write).is_ok().then_some(thread)
            };
            let made: Vec<i64> = thread::scope(|scope| {
                let threads: Vec<_> =
                    (0..8).map(|thread| scope.spawn(move || make(thread))).collect();
                threads.into_iter().filter_map(|thread| thread.join().unwrap()).collect()
            });
            assert_eq!(made.len(), 1);
            let row = table.get(row).unwrap().unwrap();
            assert_eq!(row.value("by"), Some(&made[0].into()));
        }
    });
}

const ACCOUNTS: u64 = 8;

fn sum(table: &Table) -> i64 {
    let rows = table.scan(Scan::all()).unwrap();
    rows.map(|row| match row.unwrap().value("balance") {
        Some(Value::Int(balance)) => *balance,
        other => panic!("a balance of {other:?}"),
    })
    .sum()
}

/// Moves one from an account to another that has it, in turns that differ from thread to thread.
fn transfer(fixture: &Fixture, table: &Table, thread: u64) {
    for turn in 0..100 {
        let from = (thread * 3 + turn) % ACCOUNTS;
        let to = (from + 1 + turn % (ACCOUNTS - 1)) % ACCOUNTS;
        let has = Condition::ge("balance", 5);
        let moved = fixture.db.transaction([
            (table, Write::put(to).add("balance", 5)),
            (table, Write::put(from).add("balance", -5).when(has)),
        ]);
        match moved {
            Ok(_) | Err(Error::ConditionFailed { write: 1 }) => {}
            Err(other) => panic!("{other}"),
        }
    }
}

#[test]
fn scans_between_transfers_always_see_the_same_sum() {
    for &engine in ENGINES {
        let fixture = Fixture::with_shards(engine, engine.shards_of_transactions());
        let schema = TableSchema::new("table", "id u64", "").unwrap();
        let table = fixture.db.create_table(schema).unwrap();
        table.write_all((0..ACCOUNTS).map(|id| Write::put(id).set("balance", 10))).unwrap();
        thread::scope(|scope| {
            for thread in 0..8 {
                let (fixture, table) = (&fixture, &table);
                scope.spawn(move || transfer(fixture, table, thread));
            }
            for _ in 0..2 {
                scope.spawn(|| (0..100).for_each(|_| assert_eq!(sum(&table), 80)));
            }
        });
        assert_eq!(sum(&table), 80);
        let rows = table.scan(Scan::all().filter(Condition::lt("balance", 0))).unwrap();
        assert_eq!(rows.count(), 0, "no account was overdrawn");
    }
}
