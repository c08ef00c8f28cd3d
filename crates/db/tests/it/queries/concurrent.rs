//! Rows are passed from owner to owner while others ask who has them.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use stonecrop::{
    Condition, Database, Durability, Family, Index, Options, Query, Sort, Table, TableSchema,
    Value, Write,
};

use super::model::key_text;
use super::random::Random;
use crate::harness::{ENGINES, folder};

const OWNERS: [&str; 4] = ["adam", "bob", "cem", "dan"];
const ROWS: usize = 60;
/// How often each of the readers asks everything.
const ROUNDS: usize = 80;

fn table(db: &Database) -> Table {
    let crm = Family::new("crm").column("owner").column("rank");
    let schema = TableSchema::new("table", "id u64", "").unwrap().family(crm);
    let schema = schema
        .index(Index::new("by_owner", "owner string").unwrap())
        .index(Index::new("by_owner_and_rank", "owner string, rank i64 desc").unwrap());
    let table = db.create_table(schema).unwrap();
    let row = |id: usize| Write::put(id as u64).set("owner", OWNERS[id % 4]).set("rank", 0);
    table.write_all((0..ROWS).map(row)).unwrap();
    table
}

fn reassign(table: &Table, seed: u64, stop: &AtomicBool) {
    let mut random = Random(seed);
    while !stop.load(Ordering::Relaxed) {
        let writes = (0..1 + random.below(3)).map(|_| {
            let write = Write::put(random.below(ROWS) as u64);
            write.set("owner", random.pick(&OWNERS)).set("rank", random.below(5) as i64)
        });
        let writes: Vec<Write<'_>> = writes.collect();
        table.write_all(writes).unwrap();
    }
}

/// Every row is somebody's, and nobody's twice.
fn ask_for_all(table: &Table, plan: &str) {
    let all = Query::new().filter(Condition::is_in("owner", OWNERS)).plan(plan);
    let page = table.query(&all).unwrap();
    let mut keys: Vec<String> = page.rows.iter().map(key_text).collect();
    keys.sort();
    keys.dedup();
    assert_eq!((page.rows.len(), keys.len()), (ROWS, ROWS), "{plan}");
    assert_eq!(table.count(&all).unwrap(), ROWS as u64);
    let facets = table.facets(&all, "owner").unwrap();
    assert_eq!(facets.values.iter().map(|(_, rows)| *rows).sum::<u64>(), ROWS as u64);
}

fn ask_for_one(table: &Table, plan: &str, owner: &str) {
    let query = Query::new().filter(Condition::eq("owner", owner)).sort([Sort::desc("rank")]);
    let page = table.query(&query.plan(plan)).unwrap();
    let value = |row: &stonecrop::Row, column| row.value(column).cloned();
    assert!(page.rows.iter().all(|row| value(row, "owner") == Some(owner.into())), "{plan}");
    let rank = |row: &stonecrop::Row| match row.value("rank") {
        Some(Value::Int(rank)) => *rank,
        other => panic!("{other:?}"),
    };
    assert!(page.rows.is_sorted_by(|a, b| rank(a) >= rank(b)), "{plan}");
}

#[test]
fn a_row_has_one_owner_in_every_query_while_rows_are_reassigned() {
    for &engine in ENGINES {
        for shards in [1, 3] {
            let folder = folder();
            let options = Options::default().durability(Durability::None).shards(shards);
            let db = Database::open_with(engine.location(&folder), options);
            let table = table(&db.unwrap());
            let (stop, queries) = (AtomicBool::new(false), AtomicUsize::new(0));
            std::thread::scope(|scope| {
                for seed in 0..2 {
                    let (table, stop) = (&table, &stop);
                    scope.spawn(move || reassign(table, seed, stop));
                }
                let readers: Vec<_> = (0..2)
                    .map(|_| {
                        scope.spawn(|| {
                            for _ in 0..engine.rounds(ROUNDS) {
                                for plan in ["index by_owner", "index by_owner_and_rank", "scan"] {
                                    if plan != "index by_owner_and_rank" {
                                        ask_for_all(&table, plan);
                                    }
                                    OWNERS
                                        .iter()
                                        .for_each(|owner| ask_for_one(&table, plan, owner));
                                    queries.fetch_add(7, Ordering::Relaxed);
                                }
                            }
                        })
                    })
                    .collect();
                let ended: Vec<_> = readers.into_iter().map(|reader| reader.join()).collect();
                stop.store(true, Ordering::Relaxed);
                ended.into_iter().for_each(|end| end.unwrap());
            });
            println!("{engine:?}, {shards} shards: {} queries", queries.load(Ordering::Relaxed));
        }
    }
}
