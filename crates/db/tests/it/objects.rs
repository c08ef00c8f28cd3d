//! Databases on object storage, in a folder: what is particular to them.

use std::time::Duration;

use stonecrop::{
    Condition, Database, Error, Family, History, Index, IndexProgress, Options, Query, Scan,
    StoreErrorKind, TableSchema, Write,
};
use tempfile::TempDir;

use crate::harness::{Engine, folder};

fn options() -> Options {
    let interval = Duration::from_millis(2);
    Options::default().flush_interval(interval).poll_interval(Duration::from_millis(20))
}

fn location(folder: &TempDir) -> String {
    Engine::Slate.location(folder)
}

/// A table whose rows are spread over four shards.
fn spread(folder: &TempDir) -> Database {
    let db = Database::open_with(location(folder), options().shards(4)).unwrap();
    let schema = TableSchema::new("people", "company string", "id u64").unwrap();
    let schema = schema.family(Family::new("crm").column("name").column("age"));
    db.create_table(schema.index(Index::new("by_age", "age i64").unwrap())).unwrap();
    db
}

/// Waits until something is so.
fn until(mut is_so: impl FnMut() -> bool) {
    let soon = (0..6_000).any(|_| {
        std::thread::park_timeout(Duration::from_millis(5));
        is_so()
    });
    assert!(soon, "it was waited for too long");
}

#[test]
fn a_transaction_is_within_one_shard() {
    let folder = folder();
    let db = spread(&folder);
    let people = db.table("people").unwrap();
    let put = |company: &'static str, id: u64| Write::put((company, id)).set("age", 1);
    db.transaction([(&people, put("acme", 1)), (&people, put("acme", 2))]).unwrap();
    let apart = (0..).map(|n| format!("c{n}")).find(|company| {
        let other = Write::put((company.as_str(), 1)).set("age", 1);
        db.transaction([(&people, put("acme", 3)), (&people, other)]).is_err()
    });
    let apart = apart.unwrap();
    let other = Write::put((apart.as_str(), 9)).set("age", 1);
    let error = db.transaction([(&people, put("acme", 9)), (&people, other)]).unwrap_err();
    assert!(matches!(error, Error::SpansShards { write: 1 }), "{error}");
    assert!(error.to_string().contains("give the rows the same partition key"), "{error}");
    assert_eq!(people.get(("acme", 9)).unwrap(), None, "nothing was written");
    // A plain load may span shards.
    let rows = (0..200).map(|id| Write::put((format!("c{id}"), id)).set("age", id as i64));
    people.write_all(rows).unwrap();
    assert_eq!(people.count(&Query::new().filter(Condition::ge("age", 100))).unwrap(), 100);
    assert!(db.check().unwrap().problems.is_empty());
}

#[test]
fn who_opens_a_database_last_has_it() {
    let folder = folder();
    let first = spread(&folder);
    let people = first.table("people").unwrap();
    people.write(Write::put(("acme", 1)).set("name", "Ann")).unwrap();

    let second = Database::open_with(location(&folder), options()).unwrap();
    let here = second.table("people").unwrap();
    assert!(here.get(("acme", 1)).unwrap().is_some());
    here.write(Write::put(("acme", 1)).set("name", "Bob")).unwrap();

    until(|| first.failure().is_some());
    let fenced = |error: Error| match &error {
        Error::Store(cause) => cause.kind() == StoreErrorKind::Fenced,
        Error::Commit(cause) => cause.kind() == StoreErrorKind::Fenced,
        _ => false,
    };
    assert!(fenced(people.write(Write::put(("acme", 1)).set("name", "Cid")).unwrap_err()));
    assert!(fenced(first.failure().unwrap()));
    until(|| people.get(("acme", 1)).is_err());
    drop(first);
    let name = here.get(("acme", 1)).unwrap().unwrap().value("name").cloned();
    assert_eq!(name, Some("Bob".into()));
}

#[test]
fn a_follower_sees_rows_tables_indexes_and_changes_as_they_come() {
    let folder = folder();
    let writer = spread(&folder);
    let people = writer.table("people").unwrap();
    people.write(Write::put(("acme", 1)).set("name", "Ann").set("age", 41)).unwrap();

    let follower = Database::open_with(location(&folder), options().read_only(true)).unwrap();
    let seen = follower.table("people").unwrap();
    until(|| seen.get(("acme", 1)).unwrap().is_some());
    assert!(follower.lag().is_some() && writer.lag().is_none());
    let refused = seen.write(Write::put(("acme", 2)).set("age", 1)).unwrap_err();
    assert!(refused.to_string().contains("takes no writes here"), "{refused}");

    people.write_all((10..20).map(|id| Write::put(("acme", id)).set("age", 7))).unwrap();
    let sevens = Query::new().filter(Condition::eq("age", 7));
    until(|| seen.count(&sevens).unwrap() == 10);

    writer.create_table(TableSchema::new("later", "id u64", "").unwrap()).unwrap();
    people.create_index(Index::new("by_name", "name string").unwrap()).unwrap();
    people.wait_for_index("by_name").unwrap();
    people.keep_changes(Some(Duration::from_secs(3_600))).unwrap();
    people.write(Write::put(("acme", 1)).set("name", "Eve")).unwrap();
    until(|| follower.tables() == ["later", "people"]);
    until(|| seen.index_progress("by_name").is_ok_and(|is| is == IndexProgress::Complete));
    until(|| seen.changes(None, 10).is_ok_and(|page| page.changes.len() == 1));

    writer.drop_table("later").unwrap();
    until(|| follower.tables() == ["people"]);
    follower.close().unwrap();
    people.write(Write::put(("acme", 3)).set("name", "Flo")).unwrap();
}

#[test]
fn a_copy_on_another_engine_in_other_shards_is_the_same_database() {
    let (from, to, back) = (folder(), folder(), folder());
    let db = Database::open_with(from.path(), options()).unwrap();
    let crm = Family::new("crm").column("name").column("age").history(History::Versions(3));
    let schema = TableSchema::new("people", "company string", "id u64").unwrap();
    let people = db
        .create_table(schema.family(crm).index(Index::new("by_age", "age i64").unwrap()))
        .unwrap();
    people.keep_changes(Some(Duration::from_secs(3_600))).unwrap();
    for round in 0..3 {
        let row = |id: u64| {
            let put = Write::put((format!("c{}", id % 50), id)).set("age", (id + round) as i64);
            put.set("loose", round as i64)
        };
        people.write_all((0..300).map(row)).unwrap();
    }
    let rows = |db: &Database| -> Vec<_> {
        let people = db.table("people").unwrap();
        let mut rows: Vec<_> = people.scan(Scan::all()).unwrap().map(Result::unwrap).collect();
        rows.sort_by_key(|row| format!("{:?}", row.key()));
        rows
    };
    let expected = rows(&db);

    let mut last = stonecrop::Copied::default();
    let copied = db.copy_to(location(&to), options().shards(5), |now| last = now).unwrap();
    assert_eq!((copied.entries, copied), (copied.verified, last));
    let again = db.copy_to(location(&to), options(), |_| {}).unwrap_err();
    assert!(again.to_string().contains("there is a database already"), "{again}");

    let objects = Database::open_with(location(&to), options()).unwrap();
    assert_eq!(rows(&objects), expected);
    let report = objects.check().unwrap();
    assert!(report.problems.is_empty(), "{report:?}");
    let there = objects.table("people").unwrap();
    let history = there.versions(("c7", 7), "crm").unwrap();
    assert_eq!(history.len(), people.versions(("c7", 7), "crm").unwrap().len());
    assert_eq!(there.changes(None, 2_000).unwrap().changes.len(), 900);

    objects.copy_to(back.path(), Options::default(), |_| {}).unwrap();
    let returned = Database::open(back.path()).unwrap();
    assert_eq!(rows(&returned), expected);
    assert!(returned.check().unwrap().problems.is_empty());
}
