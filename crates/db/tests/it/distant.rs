//! A store that is far away: what is read together is asked for together, and a load does not wait
//! for each of its batches.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{self, Sender};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use bytes::Bytes;
use stonecrop::store::{
    Batch, Direction, Durability, Error as StoreError, ErrorKind, KeyRange, MemoryStore, Read,
    Result, Scan, Stats, Store,
};
use stonecrop::{
    Condition, Database, Error, Family, Index, Options, Query, Table, TableSchema, Write,
};

/// How often somebody waited.
#[derive(Clone, Default)]
struct Waits {
    /// For the answer to a get, of one key or of many.
    gets: Arc<AtomicU64>,
    /// For the first entries of scans: those that were asked for ahead come together.
    scans: Arc<AtomicU64>,
}

impl Waits {
    /// What was done, and how often it waited for gets.
    fn count<T>(&self, work: impl FnOnce() -> T) -> (T, u64) {
        let before = self.gets.load(Ordering::Relaxed);
        let done = work();
        (done, self.gets.load(Ordering::Relaxed) - before)
    }

    /// What was done, and how often it waited for scans.
    fn count_scans<T>(&self, work: impl FnOnce() -> T) -> (T, u64) {
        let before = self.scans.load(Ordering::Relaxed);
        let done = work();
        (done, self.scans.load(Ordering::Relaxed) - before)
    }
}

struct Distant<R: ?Sized> {
    waits: Waits,
    /// What is only begun is there once somebody waits for it.
    begun: Arc<Mutex<Begun>>,
    near: Box<R>,
}

#[derive(Default)]
struct Begun {
    batch: Option<Batch>,
    /// How many were begun.
    batches: u64,
    /// From which on none can be carried out.
    fails_from: Option<u64>,
    /// Told whenever one is carried out.
    carried_out: Option<Sender<()>>,
}

impl Distant<MemoryStore> {
    fn settle(&self) -> Result<MutexGuard<'_, Begun>> {
        let mut begun = self.begun.lock().unwrap();
        if begun.fails_from.is_some_and(|from| begun.batches >= from) {
            return Err(StoreError::new(ErrorKind::Io, "lost on the way"));
        }
        if let Some(batch) = begun.batch.take() {
            self.near.write(batch, Durability::Sync)?;
            begun.carried_out.iter().for_each(|told| told.send(()).unwrap());
        }
        Ok(begun)
    }
}

impl<R: Read + ?Sized> Read for Distant<R> {
    fn get(&self, shard: u8, key: &[u8]) -> Result<Option<Bytes>> {
        self.multi_get(&[(shard, key)]).map(|mut found| found.pop().flatten())
    }

    fn multi_get(&self, keys: &[(u8, &[u8])]) -> Result<Vec<Option<Bytes>>> {
        self.waits.gets.fetch_add(1, Ordering::Relaxed);
        self.near.multi_get(keys)
    }

    fn scan(&self, shard: u8, range: KeyRange, direction: Direction) -> Result<Scan> {
        self.waits.scans.fetch_add(1, Ordering::Relaxed);
        self.near.scan(shard, range, direction)
    }

    fn scan_ahead(&self, shard: u8, range: KeyRange, direction: Direction) -> Result<Scan> {
        let scan = self.near.scan(shard, range, direction)?;
        let waits = self.waits.scans.clone();
        let mut asked = Some(waits.load(Ordering::Relaxed));
        Ok(Scan::new(scan.inspect(move |_| {
            // Whoever waited since then waited for this too.
            if let Some(asked) = asked.take()
                && waits.load(Ordering::Relaxed) == asked
            {
                waits.fetch_add(1, Ordering::Relaxed);
            }
        })))
    }
}

impl Store for Distant<MemoryStore> {
    fn shards(&self) -> u16 {
        self.near.shards()
    }

    fn reads_may_wait(&self) -> bool {
        true
    }

    fn ready(&self) -> Result<()> {
        self.settle().map(drop)
    }

    fn write(&self, batch: Batch, durability: Durability) -> Result<()> {
        let mut begun = self.settle()?;
        if durability != Durability::Begun {
            return self.near.write(batch, durability);
        }
        begun.batch = Some(batch);
        begun.batches += 1;
        Ok(())
    }

    fn snapshot(&self) -> Result<Box<dyn Read>> {
        let (waits, begun) = (self.waits.clone(), self.begun.clone());
        Ok(Box::new(Distant { waits, begun, near: self.near.snapshot()? }))
    }

    fn approximate_size(&self, shard: u8) -> Result<u64> {
        self.near.approximate_size(shard)
    }

    fn sync(&self) -> Result<()> {
        self.ready()?;
        self.near.sync()
    }

    fn flush(&self) -> Result<()> {
        self.near.flush()
    }

    fn compact(&self) -> Result<()> {
        self.near.compact()
    }

    fn stats(&self) -> Result<Stats> {
        self.near.stats()
    }

    fn close(&self) -> Result<()> {
        self.near.close()
    }
}

const ROWS: u64 = 500;

/// A table of two families, with an index that does not have all columns.
fn people() -> (Table, Waits) {
    people_in(1)
}

fn people_in(shards: u16) -> (Table, Waits) {
    let (_, people, waits, _) = database(shards);
    (people, waits)
}

fn database(shards: u16) -> (Database, Table, Waits, Arc<Mutex<Begun>>) {
    let (waits, begun) = (Waits::default(), Arc::<Mutex<Begun>>::default());
    let open = |options: &stonecrop::store::Options| {
        let near = Box::new(MemoryStore::new(options));
        let store = Distant { waits: waits.clone(), begun: begun.clone(), near };
        Ok(Arc::new(store) as Arc<dyn Store>)
    };
    let db = Database::open_in(open, Options::default().shards(shards)).unwrap();
    let schema = TableSchema::new("people", "id u64", "").unwrap();
    let schema = schema.family(Family::new("crm").column("name").column("city"));
    let schema = schema.family(Family::new("scores").column("score"));
    let people =
        db.create_table(schema.index(Index::new("by_city", "city string").unwrap())).unwrap();
    let write = |id: u64| {
        Write::put(id).set("name", format!("{id}")).set("city", "Bern").set("score", id as i64)
    };
    people.write_all((0..ROWS).map(write)).unwrap();
    (db, people, waits, begun)
}

fn of_bern() -> Query {
    Query::new().filter(Condition::eq("city", "Bern"))
}

#[test]
fn rows_by_their_keys_are_asked_for_together() {
    let (people, waits) = people();
    let (found, waited) = waits.count(|| people.multi_get((0..200_u64).rev(), None).unwrap());
    assert!(found.iter().rev().enumerate().all(|(id, row)| {
        row.as_ref().is_some_and(|row| row.value("score") == Some(&(id as i64).into()))
    }));
    assert_eq!(waited, 1);
    let (row, waited) = waits.count(|| people.get(7).unwrap());
    assert_eq!((row.is_some(), waited), (true, 1), "both of its families");
}

#[test]
fn the_rows_of_a_page_by_an_index_are_asked_for_together() {
    let (people, waits) = people();
    let (page, waited) = waits.count(|| people.query(&of_bern().take(200)).unwrap());
    assert_eq!(page.rows.len(), 200);
    assert!(page.rows.iter().all(|row| row.columns().count() == 3));
    assert!(waited <= 6, "{waited}");
    // Those who need few do not wait for many.
    let (page, waited) = waits.count(|| people.query(&of_bern().take(5)).unwrap());
    assert_eq!((page.rows.len(), waited), (5, 1));
}

#[test]
fn the_entries_of_an_index_are_asked_of_all_shards_together() {
    let (people, waits) = people_in(8);
    let (page, waited) = waits.count_scans(|| people.query(&of_bern().take(5)).unwrap());
    assert_eq!((page.rows.len(), waited), (5, 1));
}

#[test]
fn the_families_of_a_scan_are_asked_for_together() {
    let (people, waits) = people();
    let scan = || people.scan(stonecrop::Scan::all()).unwrap().count();
    assert_eq!(waits.count_scans(scan), (ROWS as usize, 1));
}

#[test]
fn the_rows_of_a_page_that_was_sorted_are_asked_for_together() {
    let (people, waits) = people();
    let query = of_bern().sort([stonecrop::Sort::desc("score")]).take(100);
    let (page, waited) = waits.count(|| people.query(&query).unwrap());
    let scores = page.rows.iter().map(|row| row.value("score").unwrap().clone());
    assert!(scores.eq((0..100).map(|at| (ROWS as i64 - 1 - at).into())));
    assert!(waited <= 10, "{waited}");
}

#[test]
fn what_a_group_of_writes_reads_is_asked_for_together() {
    let (people, waits) = people();
    let moved = (0..100_u64).map(|id| Write::put(id).set("city", "Basel"));
    let ((), waited) = waits.count(|| people.write_all(moved).map(drop).unwrap());
    assert!(waited <= 3, "{waited}");
    assert_eq!(people.count(&of_bern()).unwrap(), ROWS - 100);
    // New rows need no look at all.
    let new = (ROWS..ROWS + 100).map(|id| Write::put(id).set("name", "new").set("city", "Bern"));
    let ((), waited) = waits.count(|| people.write_all(new).map(drop).unwrap());
    assert!(waited <= 1, "{waited}");
    assert_eq!(people.count(&of_bern()).unwrap(), ROWS);
}

#[test]
fn what_a_large_batch_reads_is_asked_for_in_few_parts() {
    const MANY: u64 = 5_000;
    let (people, waits) = people();
    let write =
        |city: &'static str| move |id: u64| Write::put(id).set("name", "").set("city", city);
    people.write_all((0..MANY).map(write("Bern"))).unwrap();
    let moved = (0..MANY).map(write("Basel"));
    let ((), waited) = waits.count(|| people.write_all(moved).map(drop).unwrap());
    assert!((1..10).contains(&waited), "{waited}");
    assert_eq!(people.count(&of_bern()).unwrap(), 0);
}

#[test]
fn what_many_callers_in_one_group_read_is_asked_for_together() {
    let (people, waits) = people();
    let mut commit = None;
    let write = |id: u64| [Write::put(id).set("city", "Basel")];
    let submitted: Vec<_> = (0..100)
        .map(|id| {
            people.submit(&write(id), stonecrop::Durability::Sync, |it| commit = Some(it)).unwrap()
        })
        .collect();
    let ((), waited) = waits.count(|| commit.unwrap().run());
    assert_eq!(waited, 1);
    assert_eq!(submitted.len(), 100);
    assert_eq!(people.count(&of_bern()).unwrap(), ROWS - 100);
}

/// How many rows a load writes at once.
const BATCH: u64 = 1_000;

fn row(id: u64, city: &'static str) -> Write<'static> {
    Write::put(id).set("name", "").set("city", city)
}

#[test]
fn a_load_goes_on_while_its_last_batch_is_carried_out_and_reads_what_that_has_written() {
    let (db, people, _, begun) = database(2);
    let moved = (0..3 * BATCH).map(|id| row(id, "Basel"));
    // Each in the batch after the one that has written the row.
    let again = (0..2 * BATCH).map(|id| row(id % BATCH, "Chur").when(Condition::Exists));
    let counted = (0..2 * BATCH).map(|id| Write::put(id % BATCH).add("visits", 1));
    let loaded = people.load(moved.chain(again).chain(counted)).unwrap();
    assert_eq!((loaded, begun.lock().unwrap().batches), (7 * BATCH, 7));
    let count =
        |city: &str| people.count(&Query::new().filter(Condition::eq("city", city))).unwrap();
    assert_eq!((count("Bern"), count("Basel"), count("Chur")), (0, 2 * BATCH, BATCH));
    assert_eq!(people.get(7).unwrap().unwrap().value("visits"), Some(&2.into()));
    assert!(db.check().unwrap().problems.is_empty());
}

#[test]
fn a_batch_that_is_lost_after_it_was_begun_is_not_counted_as_done() {
    for lost in 1..=4 {
        let (_, people, _, begun) = database(1);
        begun.lock().unwrap().fails_from = Some(lost);
        let error = people.load((ROWS..ROWS + 4 * BATCH).map(|id| row(id, "Chur"))).unwrap_err();
        let Error::Load { written, .. } = error else { panic!("{error}") };
        assert_eq!(written, (lost - 1) * BATCH, "{error}");
        let stored = people.scan(stonecrop::Scan::all()).unwrap().count() as u64;
        assert_eq!(stored, ROWS + written);
    }
}

#[test]
fn a_batch_whose_successor_fails_is_counted_and_there() {
    let (_, people, _, _) = database(1);
    let rows = (ROWS..ROWS + BATCH).map(|id| row(id, "Chur"));
    let refused = std::iter::once(row(0, "Chur").when(Condition::NotExists));
    let error = people.load(rows.chain(refused)).unwrap_err();
    assert!(matches!(error, Error::Load { written: BATCH, .. }), "{error}");
    assert!(people.get(ROWS + BATCH - 1).unwrap().is_some());
}

#[test]
fn the_last_batch_of_a_load_is_seen_while_the_next_one_is_long_in_coming() {
    let (_, people, _, begun) = database(1);
    let (told, carried_out) = mpsc::channel();
    begun.lock().unwrap().carried_out = Some(told);
    let rows = (ROWS..ROWS + BATCH + 1).map(|id| {
        if id == ROWS + BATCH {
            carried_out.recv_timeout(Duration::from_secs(20)).unwrap();
            assert!(people.get(id - 1).unwrap().is_some());
        }
        row(id, "Chur")
    });
    assert_eq!(people.load(rows).unwrap(), BATCH + 1);
}

#[test]
fn a_load_into_a_table_that_keeps_changes_waits_for_each_batch() {
    let (db, _, _, begun) = database(1);
    let schema = TableSchema::new("kept", "id u64", "").unwrap();
    let kept = db.create_table(schema.changes(Duration::from_secs(3_600))).unwrap();
    kept.load((0..3 * BATCH).map(|id| Write::put(id).set("name", ""))).unwrap();
    assert_eq!(begun.lock().unwrap().batches, 0);
    assert_eq!(kept.changes(None, 10).unwrap().changes.len(), 10);
}
