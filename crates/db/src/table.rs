//! A handle to a table.

use std::borrow::Borrow;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use stonecrop_keys::Schema;
use stonecrop_store::{Batch, Direction, Read};

use crate::ahead::{Ahead, ROWS_AHEAD};
use crate::anatomy::{Anatomy, anatomy};
use crate::catalog::{CATALOG_SHARD, Place, Slot, TableState};
use crate::changes::read::page;
use crate::changes::{ChangePage, Changed};
use crate::clock::Timestamp;
use crate::database::{Inner, no_table};
use crate::entry::Header;
use crate::error::{Error, Result};
use crate::index::{Backfill, Index, IndexProgress};
use crate::key::RowKey;
use crate::path::Path;
use crate::query::{
    Execution, Explanation, Facets, Freshness, Page, Query, Request, Response, Summary,
    after_entry, needing,
};
use crate::read::{Loader, Moment, Selection, read_now, versions};
use crate::record::{LOOSE, PLACE, backfill_key, family_prefix};
use crate::row::{Row, Version};
use crate::scan::{Rows, Scan};
use crate::schema::{Column, Family, KeptChanges, TableSchema};
use crate::value::ColumnType;
use crate::write::Write;
use crate::writer::{Commit, Durability, Prepared, Receipt, Submitted, Target};

/// For how many writes room is made at once, at most: an iterator may promise more than it has.
const EXPECTED_WRITES: usize = 1 << 16;
/// How many writes of a load are committed at once, and about how many bytes.
const BATCH_WRITES: usize = 1_000;
const BATCH_BYTES: usize = 4 << 20;

/// A table. The handle is cheap to clone, and can be used from any thread.
///
/// ```
/// use stonecrop::{Database, TableSchema, Write};
/// let people = Database::memory().create_table(TableSchema::new("people", "id u64", "")?)?;
/// let same = people.clone();
/// std::thread::spawn(move || same.write(Write::put(1).set("name", "Ann"))).join().unwrap()?;
/// assert!(people.get(1)?.is_some());
/// # Ok::<(), stonecrop::Error>(())
/// ```
#[derive(Clone)]
pub struct Table {
    inner: Arc<Inner>,
    name: Arc<str>,
    slot: Arc<Slot>,
}

impl Table {
    pub(crate) fn new(inner: Arc<Inner>, name: Arc<str>, slot: Arc<Slot>) -> Self {
        Table { inner, name, slot }
    }

    pub(crate) fn inner(&self) -> &Inner {
        &self.inner
    }

    /// The table's place in the catalog, if it is one of this database.
    pub(crate) fn slot_in(&self, database: &Arc<Inner>) -> Result<&Arc<Slot>> {
        if Arc::ptr_eq(&self.inner, database) {
            return Ok(&self.slot);
        }
        let (table, problem) = (self.name.to_string(), "it is one of another database".to_owned());
        Err(Error::Schema { table, problem })
    }

    pub(crate) fn state(&self) -> Result<Arc<TableState>> {
        self.slot.get().ok_or_else(|| no_table(&self.name))
    }

    /// The name of the table.
    ///
    /// ```
    /// # use stonecrop::{Database, TableSchema};
    /// let people = Database::memory().create_table(TableSchema::new("people", "id u64", "")?)?;
    /// assert_eq!(people.name(), "people");
    /// # Ok::<(), stonecrop::Error>(())
    /// ```
    pub fn name(&self) -> &str {
        &self.name
    }

    /// What the table is declared as.
    ///
    /// ```
    /// # use stonecrop::{Database, TableSchema};
    /// let people = Database::memory().create_table(TableSchema::new("people", "id u64", "")?)?;
    /// assert_eq!(people.schema()?.key()?.to_string(), "id u64");
    /// # Ok::<(), stonecrop::Error>(())
    /// ```
    pub fn schema(&self) -> Result<Arc<TableSchema>> {
        Ok(self.state()?.schema.clone())
    }

    /// The fields of the partition key and of the sort key, as one schema.
    ///
    /// ```
    /// # use stonecrop::{Database, TableSchema};
    /// let people = Database::memory().create_table(TableSchema::new("people", "id u64", "")?)?;
    /// assert_eq!(people.key_schema()?.to_string(), "id u64");
    /// # Ok::<(), stonecrop::Error>(())
    /// ```
    pub fn key_schema(&self) -> Result<Arc<Schema>> {
        Ok(self.state()?.key.clone())
    }

    /// How often the table's definition was changed, and once for its making.
    ///
    /// ```
    /// # use stonecrop::{Database, Family, TableSchema};
    /// let people = Database::memory().create_table(TableSchema::new("people", "id u64", "")?)?;
    /// people.add_family(Family::new("crm").column("name"))?;
    /// assert_eq!(people.version()?, 2);
    /// # Ok::<(), stonecrop::Error>(())
    /// ```
    pub fn version(&self) -> Result<u32> {
        Ok(self.state()?.version)
    }

    /// Changes one row.
    ///
    /// ```
    /// # use stonecrop::{Database, TableSchema, Write};
    /// let people = Database::memory().create_table(TableSchema::new("people", "id u64", "")?)?;
    /// people.write(Write::put(1).set("name", "Ann"))?;
    /// # Ok::<(), stonecrop::Error>(())
    /// ```
    pub fn write(&self, write: Write<'_>) -> Result<Receipt> {
        self.inner.write(&[(&self.slot, &self.name, &write)], None)
    }

    /// Changes many rows, all or nothing. [`Error::Altered`] says that the table was altered at the
    /// same time, and nothing was written.
    ///
    /// On object storage that is so within each shard: a process that ends meanwhile, or is taken
    /// over, can leave the writes in some shards and not in others.
    ///
    /// ```
    /// # use stonecrop::{Database, TableSchema, Write};
    /// let people = Database::memory().create_table(TableSchema::new("people", "id u64", "")?)?;
    /// people.write_all((0..100).map(|id| Write::put(id).set("age", id)))?;
    /// # Ok::<(), stonecrop::Error>(())
    /// ```
    pub fn write_all<'w>(&self, writes: impl IntoIterator<Item = Write<'w>>) -> Result<Receipt> {
        self.write_as(writes, None)
    }

    /// Changes many rows, all or nothing, with a durability of their own.
    ///
    /// ```
    /// # use stonecrop::{Database, Durability, TableSchema, Write};
    /// let people = Database::memory().create_table(TableSchema::new("people", "id u64", "")?)?;
    /// people.write_with([Write::put(1).set("age", 41)], Durability::None)?;
    /// # Ok::<(), stonecrop::Error>(())
    /// ```
    pub fn write_with<'w>(
        &self,
        writes: impl IntoIterator<Item = Write<'w>>,
        durability: Durability,
    ) -> Result<Receipt> {
        self.write_as(writes, Some(durability))
    }

    fn write_as<'w>(
        &self,
        writes: impl IntoIterator<Item = Write<'w>>,
        durability: Option<Durability>,
    ) -> Result<Receipt> {
        self.inner.write_prepared(self.prepare(writes)?, durability)
    }

    /// Queues writes, all or nothing, and gives the future of their receipt, for callers who have
    /// no thread to wait with. The commit blocks: if it is up to this caller, `run` is given it, to
    /// be run on a thread that may wait. Nothing waits here: [`Error::Busy`] says that the queue is
    /// full now. The writes are done even if the future is dropped.
    ///
    /// ```
    /// # use stonecrop::{Commit, Database, Durability, TableSchema, Write};
    /// let people = Database::memory().create_table(TableSchema::new("people", "id u64", "")?)?;
    /// let run = |commit: Commit| drop(std::thread::spawn(|| commit.run()));
    /// let receipt = people.submit(&[Write::put(1).set("age", 41)], Durability::Sync, run)?;
    /// // In an async function: receipt.await?
    /// # Ok::<(), stonecrop::Error>(())
    /// ```
    pub fn submit(
        &self,
        writes: &[Write<'_>],
        durability: Durability,
        run: impl FnOnce(Commit),
    ) -> Result<Submitted> {
        self.inner.writer.submit(self.prepare(writes)?, durability, run)
    }

    fn prepare<'w>(
        &self,
        writes: impl IntoIterator<Item = impl Borrow<Write<'w>>>,
    ) -> Result<Vec<Prepared>> {
        // Each is prepared as it comes and let go of, which is faster than holding all of them.
        let target = Target::new(&self.slot, self.state()?);
        let mut writes = writes.into_iter();
        let mut prepared = Vec::with_capacity(writes.size_hint().0.min(EXPECTED_WRITES));
        while let Some(write) = writes.next() {
            match Prepared::new(&target, write.borrow()) {
                Ok(write) => prepared.push(write),
                Err(error) if prepared.is_empty() && writes.next().is_none() => return Err(error),
                Err(error) => return Err(error.in_write(prepared.len())),
            }
        }
        Ok(prepared)
    }

    /// Prepares any number of writes, and gives them on in batches until one is not wanted.
    pub(crate) fn prepare_batches<'w>(
        &self,
        writes: impl IntoIterator<Item = Write<'w>>,
        mut take: impl FnMut(Vec<Prepared>) -> bool,
    ) -> Result<()> {
        let mut writes = writes.into_iter();
        loop {
            let target = Target::new(&self.slot, self.state()?);
            let (mut batch, mut bytes) = (Vec::with_capacity(BATCH_WRITES), 0);
            while batch.len() < BATCH_WRITES && bytes < BATCH_BYTES {
                let Some(write) = writes.next() else { break };
                let prepared = Prepared::new(&target, &write);
                let prepared = prepared.map_err(|error| error.in_write(batch.len()))?;
                bytes += prepared.size();
                batch.push(prepared);
            }
            if batch.is_empty() || !take(batch) {
                return Ok(());
            }
        }
    }

    /// A row with all its columns; none where it is not there, or gone.
    ///
    /// ```
    /// # use stonecrop::{Database, TableSchema};
    /// let people = Database::memory().create_table(TableSchema::new("people", "id u64", "")?)?;
    /// assert_eq!(people.get(1)?, None);
    /// # Ok::<(), stonecrop::Error>(())
    /// ```
    pub fn get<'k>(&self, key: impl Into<RowKey<'k>>) -> Result<Option<Row>> {
        let table = self.state()?;
        let selection = Selection::all(&table);
        self.read(&table, &key.into(), &selection, Moment::now(self.inner.clock.now()))
    }

    /// A row with some of its columns. A row that is there but has none of them is returned empty.
    ///
    /// ```
    /// # use stonecrop::{Database, TableSchema, Write};
    /// let people = Database::memory().create_table(TableSchema::new("people", "id u64", "")?)?;
    /// people.write(Write::put(1).set("name", "Ann").set("age", 41))?;
    /// assert_eq!(people.get_columns(1, ["age"])?.unwrap().columns().count(), 1);
    /// # Ok::<(), stonecrop::Error>(())
    /// ```
    pub fn get_columns<'k, 'n>(
        &self,
        key: impl Into<RowKey<'k>>,
        columns: impl IntoIterator<Item = &'n str>,
    ) -> Result<Option<Row>> {
        let table = self.state()?;
        let selection = Selection::of(&table, columns);
        self.read(&table, &key.into(), &selection, Moment::now(self.inner.clock.now()))
    }

    /// Where a row is stored: the keys of its families, and the entries of indexes that lead to it.
    ///
    /// ```
    /// # use stonecrop::{Database, TableSchema, Write};
    /// let people = Database::memory().create_table(TableSchema::new("people", "id u64", "")?)?;
    /// people.write(Write::put(1).set("name", "Ann"))?;
    /// assert_eq!(people.anatomy(1)?.families[0].name, "name");
    /// # Ok::<(), stonecrop::Error>(())
    /// ```
    pub fn anatomy<'k>(&self, key: impl Into<RowKey<'k>>) -> Result<Anatomy> {
        let table = self.state()?;
        let place = table.place(key.into().values())?;
        let source = self.inner.store.snapshot()?;
        anatomy(&*source, &table, &place, self.inner.clock.now())
    }

    /// A row as it was at a time. Of families without a history it shows what was written by then
    /// and has not been written again.
    ///
    /// ```
    /// use stonecrop::{Database, Family, History, TableSchema, Timestamp, Write};
    /// let family = Family::new("prices").column("price").history(History::Versions(3));
    /// let items = Database::memory()
    ///     .create_table(TableSchema::new("items", "id u64", "")?.family(family))?;
    /// let at = Timestamp::from_micros;
    /// items.write(Write::put(1).set("price", 10).written_at(at(1_000)))?;
    /// items.write(Write::put(1).set("price", 11).written_at(at(2_000)))?;
    /// assert_eq!(items.get_as_of(1, at(1_500))?.unwrap().value("price"), Some(&10.into()));
    /// # Ok::<(), stonecrop::Error>(())
    /// ```
    pub fn get_as_of<'k>(
        &self,
        key: impl Into<RowKey<'k>>,
        then: Timestamp,
    ) -> Result<Option<Row>> {
        let table = self.state()?;
        let selection = Selection::all(&table);
        let moment = Moment { now: self.inner.clock.now(), as_of: Some(then) };
        self.read(&table, &key.into(), &selection, moment)
    }

    fn read(
        &self,
        table: &TableState,
        key: &RowKey<'_>,
        selection: &Selection,
        moment: Moment,
    ) -> Result<Option<Row>> {
        let place = table.place(key.values())?;
        if moment.as_of.is_none() {
            return read_now(&*self.inner.store, table, &place, selection, moment);
        }
        let snapshot = self.inner.store.snapshot()?;
        Loader::new(&*snapshot, table, &place, moment).row(selection)
    }

    /// Many rows, in the order of their keys here, all of one moment. All columns, or those named.
    ///
    /// ```
    /// # use stonecrop::{Database, TableSchema, Write};
    /// let people = Database::memory().create_table(TableSchema::new("people", "id u64", "")?)?;
    /// people.write(Write::put(2).set("name", "Ann"))?;
    /// let found = people.multi_get([1, 2], None)?;
    /// assert!(found[0].is_none() && found[1].is_some());
    /// # Ok::<(), stonecrop::Error>(())
    /// ```
    pub fn multi_get<'k, K: Into<RowKey<'k>>>(
        &self,
        keys: impl IntoIterator<Item = K>,
        columns: Option<&[&str]>,
    ) -> Result<Vec<Option<Row>>> {
        let table = self.state()?;
        let selection = match columns {
            None => Selection::all(&table),
            Some(names) => Selection::of(&table, names.iter().copied()),
        };
        let moment = Moment::now(self.inner.clock.now());
        let snapshot = self.inner.store.snapshot()?;
        let places = keys.into_iter().map(|key| table.place(key.into().values()));
        let places = places.collect::<Result<Vec<Place>>>()?;
        let families: Vec<u16> = match self.inner.store.reads_may_wait() {
            true => selection.families().collect(),
            false => Vec::new(),
        };
        let mut rows = Vec::with_capacity(places.len());
        for places in places.chunks(ROWS_AHEAD) {
            let source = Ahead::read(&*snapshot, &table, &families, places.iter())?;
            for place in places {
                rows.push(Loader::new(&source, &table, place, moment).row(&selection)?);
            }
        }
        Ok(rows)
    }

    /// A row of a snapshot.
    pub(crate) fn row_in<'k>(
        &self,
        snapshot: &dyn Read,
        key: impl Into<RowKey<'k>>,
        moment: Moment,
    ) -> Result<Option<Row>> {
        let table = self.state()?;
        let place = table.place(key.into().values())?;
        Loader::new(snapshot, &table, &place, moment).row(&Selection::all(&table))
    }

    /// The versions of a family in a row that are still kept, the present one first.
    ///
    /// ```
    /// use stonecrop::{Database, Family, History, TableSchema, Write};
    /// let family = Family::new("prices").column("price").history(History::Versions(3));
    /// let items = Database::memory()
    ///     .create_table(TableSchema::new("items", "id u64", "")?.family(family))?;
    /// items.write(Write::put(1).set("price", 10))?;
    /// assert_eq!(items.versions(1, "prices")?.len(), 1);
    /// # Ok::<(), stonecrop::Error>(())
    /// ```
    pub fn versions<'k>(&self, key: impl Into<RowKey<'k>>, family: &str) -> Result<Vec<Version>> {
        let table = self.state()?;
        let family = table
            .family_named(family)
            .ok_or_else(|| table.schema.problem(format!("there is no family {family:?}")))?;
        let place = table.place(key.into().values())?;
        let snapshot = self.inner.store.snapshot()?;
        versions(&*snapshot, &table, &place, family, self.inner.clock.now())
    }

    /// Rows in the order of their keys, as they are at this moment.
    ///
    /// ```
    /// # use stonecrop::{Database, Scan, TableSchema, Write};
    /// let people = Database::memory().create_table(TableSchema::new("people", "id u64", "")?)?;
    /// people.write(Write::put(1).set("name", "Ann"))?;
    /// for row in people.scan(Scan::all())? {
    ///     println!("{:?}", row?.value("name"));
    /// }
    /// # Ok::<(), stonecrop::Error>(())
    /// ```
    pub fn scan(&self, scan: Scan<'_>) -> Result<Rows> {
        let (table, snapshot) = loop {
            let (table, snapshot) = (self.state()?, self.inner.store.snapshot()?);
            // It is the table of the snapshot, and none that was altered or emptied before it.
            if self.slot.get().is_some_and(|now| Arc::ptr_eq(&now, &table)) {
                break (table, snapshot);
            }
        };
        scan.start(table, snapshot, Moment::now(self.inner.clock.now()))
    }

    /// Some rows, found by the cheapest way that there is.
    ///
    /// ```
    /// use stonecrop::{Condition, Database, Query, Sort, TableSchema, Write};
    /// let people = Database::memory().create_table(TableSchema::new("people", "id u64", "")?)?;
    /// people.write_all((0..100).map(|id| Write::put(id).set("age", id % 50)))?;
    /// let query = Query::new().filter(Condition::ge("age", 40)).sort([Sort::desc("age")]).take(5);
    /// let page = people.query(&query)?;
    /// assert_eq!(page.rows[0].value("age"), Some(&49.into()));
    /// # Ok::<(), stonecrop::Error>(())
    /// ```
    pub fn query(&self, query: &Query) -> Result<Page> {
        self.execution(query)?.page()
    }

    pub(crate) fn execution<'q>(&self, query: &'q Query) -> Result<Execution<'q>> {
        let (store, clock) = (&*self.inner.store, &self.inner.clock);
        Execution::new(&self.slot, &self.name, store, clock, query)
    }

    /// The cursor with which a scan goes on after a key, whether or not a row has it.
    ///
    /// ```
    /// # use stonecrop::{Database, Scan, TableSchema, Write};
    /// let table = Database::memory().create_table(TableSchema::new("t", "a string", "b u64")?)?;
    /// table.write_all((0..5).map(|b| Write::put(("x", b)).set("c", b)))?;
    /// let rest = Scan::partition("x").after(table.cursor_after(("x", 2))?);
    /// assert_eq!(table.scan(rest)?.count(), 2);
    /// # Ok::<(), stonecrop::Error>(())
    /// ```
    pub fn cursor_after<'k>(&self, key: impl Into<RowKey<'k>>) -> Result<String> {
        let table = self.state()?;
        let place = table.place(key.into().values())?;
        Ok(crate::cursor::write(&table, &place.bytes))
    }

    /// Whether a row of this key is in part `index` of `count` ([`Scan::segment`]).
    ///
    /// ```
    /// # use stonecrop::{Database, TableSchema};
    /// let table = Database::memory().create_table(TableSchema::new("t", "a string", "")?)?;
    /// assert!(table.is_in_segment("x", 0, 1)?);
    /// assert_ne!(table.is_in_segment("x", 0, 2)?, table.is_in_segment("x", 1, 2)?);
    /// # Ok::<(), stonecrop::Error>(())
    /// ```
    pub fn is_in_segment<'k>(
        &self,
        key: impl Into<RowKey<'k>>,
        index: u32,
        count: u32,
    ) -> Result<bool> {
        let table = self.state()?;
        let place = table.place(key.into().values())?;
        if table.schema.placement == crate::schema::Placement::Range {
            return Ok(index == 0);
        }
        let stretches = table.segment(index as usize, count as usize);
        Ok(stretches.iter().any(|(_, range)| range.contains(&place.bytes)))
    }

    /// The cursor with which a query along an index ([`Query::index`]) goes on after an entry of it,
    /// or ends before it: the values of the index's columns, and the key of the row. The entry need
    /// not be there.
    ///
    /// ```
    /// # use stonecrop::{Database, Index, Query, TableSchema, Write};
    /// let schema = TableSchema::new("people", "id u64", "")?;
    /// let people =
    ///     Database::memory().create_table(schema.index(Index::new("by_age", "age i64")?))?;
    /// people.write_all((0..5).map(|id| Write::put(id).set("age", 10 * id)))?;
    /// let query = Query::new().index("by_age");
    /// let cursor = people.index_cursor(&query, &[20.into()], 2)?;
    /// assert_eq!(people.query(&query.after(cursor))?.rows.len(), 2);
    /// # Ok::<(), stonecrop::Error>(())
    /// ```
    pub fn index_cursor<'k>(
        &self,
        query: &Query,
        columns: &[stonecrop_keys::Value<'_>],
        key: impl Into<RowKey<'k>>,
    ) -> Result<String> {
        let table = self.state()?;
        let place = table.place(key.into().values())?;
        after_entry(&table, query, columns, &place.bytes)
    }

    /// How a query would be answered, and how many rows would have to be looked at.
    ///
    /// ```
    /// # use stonecrop::{Database, Query, TableSchema};
    /// let people = Database::memory().create_table(TableSchema::new("people", "id u64", "")?)?;
    /// println!("{}", people.explain(&Query::new().take(10))?);
    /// # Ok::<(), stonecrop::Error>(())
    /// ```
    pub fn explain(&self, query: &Query) -> Result<Explanation> {
        self.execution(query)?.explain()
    }

    /// How a query was answered, and how many rows were looked at. It takes as long as the answer.
    ///
    /// ```
    /// # use stonecrop::{Database, Query, TableSchema};
    /// let people = Database::memory().create_table(TableSchema::new("people", "id u64", "")?)?;
    /// println!("{}", people.explain_analyze(&Query::new().take(10))?);
    /// # Ok::<(), stonecrop::Error>(())
    /// ```
    pub fn explain_analyze(&self, query: &Query) -> Result<Explanation> {
        Ok(self.execution(query)?.analyze()?.1)
    }

    /// How many rows the filter of a query lets through.
    ///
    /// ```
    /// # use stonecrop::{Condition, Database, Query, TableSchema, Write};
    /// let people = Database::memory().create_table(TableSchema::new("people", "id u64", "")?)?;
    /// people.write_all((0..100).map(|id| Write::put(id).set("age", id % 50)))?;
    /// assert_eq!(people.count(&Query::new().filter(Condition::lt("age", 10)))?, 20);
    /// # Ok::<(), stonecrop::Error>(())
    /// ```
    pub fn count(&self, query: &Query) -> Result<u64> {
        self.execution(&needing(query, None))?.count()
    }

    /// The values that a column has in the rows that the filter of a query lets through, and in how
    /// many of them each is; at most `take` of them, the most frequent first.
    ///
    /// ```
    /// # use stonecrop::{Database, Query, TableSchema, Write};
    /// let people = Database::memory().create_table(TableSchema::new("people", "id u64", "")?)?;
    /// people.write_all((0..100).map(|id| Write::put(id).set("age", id % 50)))?;
    /// assert_eq!(people.facets(&Query::new(), "age")?.values[0], (0.into(), 2));
    /// # Ok::<(), stonecrop::Error>(())
    /// ```
    pub fn facets(&self, query: &Query, column: impl Into<Path>) -> Result<Facets> {
        let column = column.into();
        self.execution(&needing(query, Some(&column)))?.facets(&column, query.take)
    }

    /// The smallest and largest value, sum and average of a column in the rows that the filter of a
    /// query lets through.
    ///
    /// ```
    /// # use stonecrop::{Database, Query, TableSchema, Write};
    /// let people = Database::memory().create_table(TableSchema::new("people", "id u64", "")?)?;
    /// people.write_all((0..100).map(|id| Write::put(id).set("age", id % 50)))?;
    /// assert_eq!(people.summarize(&Query::new(), "age")?.max, Some(49.into()));
    /// # Ok::<(), stonecrop::Error>(())
    /// ```
    pub fn summarize(&self, query: &Query, column: impl Into<Path>) -> Result<Summary> {
        let column = column.into();
        self.execution(&needing(query, Some(&column)))?.summarize(&column)
    }

    /// How many of the rows that the filter of a query lets through have each family, and how many
    /// of these are fresh.
    ///
    /// ```
    /// # use stonecrop::{Database, Query, TableSchema};
    /// let people = Database::memory().create_table(TableSchema::new("people", "id u64", "")?)?;
    /// assert!(people.freshness(&Query::new())?.is_empty(), "it has no families");
    /// # Ok::<(), stonecrop::Error>(())
    /// ```
    pub fn freshness(&self, query: &Query) -> Result<Vec<Freshness>> {
        let query = Query { columns: None, ..needing(query, None) };
        self.execution(&query)?.freshness()
    }

    /// Answers a request for one table.
    pub(crate) fn answer(&self, request: &Request, response: &mut Response) -> Result<()> {
        let table = self.state()?;
        let mut query = request.query(&table)?;
        if request.count {
            query = needing(&query, None);
        }
        if request.count {
            if request.explain {
                response.explanation.push(self.explain(&query)?);
            }
            let count = self.count(&query)?;
            response.count = Some(response.count.unwrap_or(0) + count);
            return Ok(());
        }
        let page = if request.explain {
            let (page, explanation) = self.execution(&query)?.analyze()?;
            response.explanation.push(explanation);
            page
        } else {
            self.query(&query)?
        };
        response.add_page(&table, page, request)
    }

    /// Deletes all rows at once. Their space is given back as compaction comes by.
    ///
    /// ```
    /// # use stonecrop::{Database, TableSchema, Write};
    /// let people = Database::memory().create_table(TableSchema::new("people", "id u64", "")?)?;
    /// people.write(Write::put(1).set("name", "Ann"))?;
    /// people.truncate()?;
    /// assert_eq!(people.get(1)?, None);
    /// # Ok::<(), stonecrop::Error>(())
    /// ```
    pub fn truncate(&self) -> Result<()> {
        self.inner.writer.exclusively(|| {
            let old = self.state()?;
            // The rows of the old id belong to no table any more.
            let mut new = self.inner.new_table((*old.schema).clone())?;
            new.version = old.version;
            new.activity.changes.start_after(&old.activity.changes);
            self.inner.store_table(&Arc::new(new), Some(&old))?;
            old.activity.changes.close();
            Ok(())
        })
    }

    /// Adds a family. Its columns must not be in use as undeclared ones.
    ///
    /// ```
    /// # use stonecrop::{Database, Family, TableSchema};
    /// let people = Database::memory().create_table(TableSchema::new("people", "id u64", "")?)?;
    /// people.add_family(Family::new("crm").column("name"))?;
    /// # Ok::<(), stonecrop::Error>(())
    /// ```
    pub fn add_family(&self, family: Family) -> Result<()> {
        let columns: Vec<String> = family.columns().map(str::to_owned).collect();
        self.alter(&columns, |schema| {
            schema.families.push(family);
            Ok(())
        })
    }

    /// Adds a column to a family. It must not be in use as an undeclared one.
    ///
    /// ```
    /// # use stonecrop::{ColumnType, Database, Family, TableSchema};
    /// let schema = TableSchema::new("people", "id u64", "")?.family(Family::new("crm").column("name"));
    /// let people = Database::memory().create_table(schema)?;
    /// people.add_column("crm", "age", ColumnType::Int)?;
    /// # Ok::<(), stonecrop::Error>(())
    /// ```
    pub fn add_column(&self, family: &str, name: &str, column_type: ColumnType) -> Result<()> {
        self.alter(&[name.to_owned()], |schema| {
            let column = Column { name: name.to_owned(), column_type };
            find_family(schema, family)?.columns.push(column);
            Ok(())
        })
    }

    /// Adds columns of any type to a family, all at once. They must not be in use as undeclared ones.
    ///
    /// ```
    /// # use stonecrop::{Database, Family, TableSchema};
    /// let schema = TableSchema::new("people", "id u64", "")?.family(Family::new("crm").column("name"));
    /// let people = Database::memory().create_table(schema)?;
    /// people.add_columns("crm", ["age", "city"])?;
    /// # Ok::<(), stonecrop::Error>(())
    /// ```
    pub fn add_columns<N: Into<String>>(
        &self,
        family: &str,
        names: impl IntoIterator<Item = N>,
    ) -> Result<()> {
        let names: Vec<String> = names.into_iter().map(Into::into).collect();
        self.alter(&names, |schema| {
            let columns = &mut find_family(schema, family)?.columns;
            let declared = names
                .iter()
                .map(|name| Column { name: name.clone(), column_type: ColumnType::Any });
            columns.extend(declared);
            Ok(())
        })
    }

    /// Changes how long what is written to a family from now on is fresh, and kept after that; none
    /// is for ever.
    ///
    /// ```
    /// # use std::time::Duration;
    /// # use stonecrop::{Database, Family, TableSchema};
    /// let schema = TableSchema::new("people", "id u64", "")?.family(Family::new("crm").column("name"));
    /// let people = Database::memory().create_table(schema)?;
    /// people.set_lifetime("crm", Some(Duration::from_secs(60)), None)?;
    /// # Ok::<(), stonecrop::Error>(())
    /// ```
    pub fn set_lifetime(
        &self,
        family: &str,
        ttl: Option<Duration>,
        keep: Option<Duration>,
    ) -> Result<()> {
        self.alter(&[], |schema| {
            let lifetime = &mut find_family(schema, family)?.lifetime;
            (lifetime.ttl, lifetime.keep) = (ttl, keep);
            Ok(())
        })
    }

    /// Makes a new version of the table's definition, which says the same. When it is there, all
    /// writes that were decided on by the version before are committed, and [`Error::Altered`] is
    /// the answer to those that wait.
    ///
    /// ```
    /// # use stonecrop::{Database, TableSchema};
    /// let people = Database::memory().create_table(TableSchema::new("people", "id u64", "")?)?;
    /// let before = people.version()?;
    /// people.renew()?;
    /// assert!(people.version()? > before);
    /// # Ok::<(), stonecrop::Error>(())
    /// ```
    pub fn renew(&self) -> Result<()> {
        self.alter(&[], |_| Ok(()))
    }

    /// Keeps every change of a row from now on for so long, or none any more. Those that are kept
    /// already stay for as long as they were to. The answer is the number that changes from now on
    /// come after.
    ///
    /// ```
    /// # use std::time::Duration;
    /// # use stonecrop::{Database, TableSchema};
    /// let people = Database::memory().create_table(TableSchema::new("people", "id u64", "")?)?;
    /// people.keep_changes(Some(Duration::from_secs(86_400)))?;
    /// people.keep_changes(None)?;
    /// # Ok::<(), stonecrop::Error>(())
    /// ```
    pub fn keep_changes(&self, keep: Option<Duration>) -> Result<u64> {
        let mut after = 0;
        self.alter(&[], |schema| {
            let log = &self.state()?.activity.changes;
            if schema.changes.is_none() && keep.is_some() {
                log.start_anew();
            }
            after = log.committed();
            schema.changes = keep.map(|keep| KeptChanges { keep });
            Ok(())
        })?;
        Ok(after)
    }

    /// The changes of rows after a number, or from the oldest on that is kept: so many at most, and
    /// a mebibyte of them. [`Error::ChangesLost`] says that some after the number are not kept any
    /// more.
    ///
    /// A write is a change if it makes a reader see other columns or values: a refresh with the same
    /// values is none, and neither is a row that is gone because its time is over.
    ///
    /// ```
    /// # use std::time::Duration;
    /// # use stonecrop::{Database, TableSchema, Write};
    /// let schema = TableSchema::new("people", "id u64", "")?.changes(Duration::from_secs(86_400));
    /// let people = Database::memory().create_table(schema)?;
    /// people.write(Write::put(1).set("name", "Ann"))?;
    /// people.write(Write::delete(1))?;
    /// let page = people.changes(None, 100)?;
    /// assert!(page.changes[0].new.is_some() && page.changes[1].new.is_none());
    /// assert!(people.changes(Some(page.next), 100)?.changes.is_empty());
    /// # Ok::<(), stonecrop::Error>(())
    /// ```
    pub fn changes(&self, after: Option<u64>, take: usize) -> Result<ChangePage> {
        let table = self.state_with_changes()?;
        // Before the snapshot is taken, which then has all of them that are kept.
        let committed = table.activity.changes.committed();
        let snapshot = self.inner.store.snapshot()?;
        page(&*snapshot, &table, after, committed, take, self.inner.clock.now())
    }

    /// The number of the last change.
    ///
    /// ```
    /// # use std::time::Duration;
    /// # use stonecrop::{Database, TableSchema, Write};
    /// let schema = TableSchema::new("people", "id u64", "")?.changes(Duration::from_secs(86_400));
    /// let people = Database::memory().create_table(schema)?;
    /// people.write(Write::put(1).set("name", "Ann"))?;
    /// assert!(people.changes(Some(people.last_change()?), 100)?.changes.is_empty());
    /// # Ok::<(), stonecrop::Error>(())
    /// ```
    pub fn last_change(&self) -> Result<u64> {
        Ok(self.state_with_changes()?.activity.changes.committed())
    }

    /// Waits for a change after a number, as a future or on a thread. It is over, too, when there
    /// can be none any more: the table was emptied or dropped, or the database closed.
    ///
    /// ```
    /// # use std::time::Duration;
    /// # use stonecrop::{Database, TableSchema, Write};
    /// let schema = TableSchema::new("people", "id u64", "")?.changes(Duration::from_secs(86_400));
    /// let people = Database::memory().create_table(schema)?;
    /// let changed = people.changed(people.last_change()?)?;
    /// people.write(Write::put(1).set("name", "Ann"))?;
    /// assert!(changed.wait(Duration::from_secs(1)));
    /// // In an async function: changed.await
    /// # Ok::<(), stonecrop::Error>(())
    /// ```
    pub fn changed(&self, after: u64) -> Result<Changed> {
        Ok(Changed::new(self.state_with_changes()?.activity.changes.clone(), after))
    }

    /// The table, if it keeps changes or ever did.
    fn state_with_changes(&self) -> Result<Arc<TableState>> {
        let table = self.state()?;
        if table.schema.changes.is_none() && table.activity.changes.given() == 0 {
            return Err(Error::NoChanges { table: self.name.to_string() });
        }
        Ok(table)
    }

    /// Adds an index. The rows that are there are added to it in the background, while the table
    /// is read and written; queries use it once it is complete.
    ///
    /// ```
    /// # use stonecrop::{Database, Index, TableSchema};
    /// let people = Database::memory().create_table(TableSchema::new("people", "id u64", "")?)?;
    /// people.create_index(Index::new("by_name", "name string")?)?;
    /// people.wait_for_index("by_name")?;
    /// # Ok::<(), stonecrop::Error>(())
    /// ```
    pub fn create_index(&self, index: Index) -> Result<()> {
        self.inner.writer.exclusively(|| {
            let old = self.state()?;
            let schema = (*old.schema).clone().index(index);
            let id = schema.next_index - 1;
            let status = old.activity.index_status(id);
            status.set(Some(Backfill::default()));
            let (shards, activity) = (self.inner.store.shards(), old.activity.clone());
            let new = TableState::new(old.id, old.version + 1, schema, shards, activity)
                .inspect_err(|_| status.set(None))?;
            let mut batch = Batch::new();
            let backfill = Backfill::default().to_bytes()?;
            batch.put(CATALOG_SHARD, backfill_key(old.id, id), backfill);
            self.inner.store_table_with(&Arc::new(new), batch)
        })?;
        self.inner.build_indexes(&self.slot);
        Ok(())
    }

    /// Drops an index. Its space is given back as compaction comes by.
    ///
    /// ```
    /// # use stonecrop::{Database, Index, TableSchema};
    /// let schema = TableSchema::new("people", "id u64", "")?;
    /// let people = Database::memory()
    ///     .create_table(schema.index(Index::new("by_name", "name string")?))?;
    /// people.drop_index("by_name")?;
    /// assert!(people.drop_index("by_name").is_err());
    /// # Ok::<(), stonecrop::Error>(())
    /// ```
    pub fn drop_index(&self, name: &str) -> Result<()> {
        self.inner.writer.exclusively(|| {
            let old = self.state()?;
            let id = old.index_by_name(name)?.id;
            let mut schema = (*old.schema).clone();
            schema.indexes.retain(|index| index.id != id);
            let (shards, activity) = (self.inner.store.shards(), old.activity.clone());
            let new = TableState::new(old.id, old.version + 1, schema, shards, activity)?;
            let mut batch = Batch::new();
            batch.delete(CATALOG_SHARD, backfill_key(old.id, id));
            self.inner.store_table_with(&Arc::new(new), batch)?;
            Ok(())
        })
    }

    /// How far an index has come.
    ///
    /// ```
    /// # use stonecrop::{Database, Index, IndexProgress, TableSchema};
    /// let schema = TableSchema::new("people", "id u64", "")?;
    /// let people = Database::memory()
    ///     .create_table(schema.index(Index::new("by_name", "name string")?))?;
    /// assert_eq!(people.index_progress("by_name")?, IndexProgress::Complete);
    /// # Ok::<(), stonecrop::Error>(())
    /// ```
    pub fn index_progress(&self, name: &str) -> Result<IndexProgress> {
        Ok(self.state()?.index_by_name(name)?.status.progress())
    }

    /// Waits until an index is complete, or as complete as it can be with values of other types in
    /// its columns; an error if it can't be.
    ///
    /// ```
    /// # use stonecrop::{Database, Index, TableSchema};
    /// let people = Database::memory().create_table(TableSchema::new("people", "id u64", "")?)?;
    /// people.create_index(Index::new("by_name", "name string")?)?;
    /// people.wait_for_index("by_name")?;
    /// # Ok::<(), stonecrop::Error>(())
    /// ```
    pub fn wait_for_index(&self, name: &str) -> Result<()> {
        loop {
            let status = self.state()?.index_by_name(name)?.status.clone();
            match status.wait() {
                IndexProgress::Complete | IndexProgress::Partial { .. } => return Ok(()),
                IndexProgress::Failed { problem } => {
                    return Err(Error::Index { index: name.to_owned(), problem });
                }
                // It was stopped; if it was dropped or emptied, what there is now counts.
                IndexProgress::Building { .. } => {
                    if Arc::ptr_eq(&status, &self.state()?.index_by_name(name)?.status) {
                        return Err(Error::Closed);
                    }
                }
            }
        }
    }

    fn alter(
        &self,
        declared: &[String],
        change: impl FnOnce(&mut TableSchema) -> Result<()>,
    ) -> Result<()> {
        self.inner.writer.exclusively(|| {
            let old = self.state()?;
            let mut schema = (*old.schema).clone();
            change(&mut schema)?;
            let shards = self.inner.store.shards();
            let activity = old.activity.clone();
            let new = TableState::new(old.id, old.version + 1, schema, shards, activity)?;
            self.check_unused(&old, declared)?;
            self.inner.store_table(&Arc::new(new), None)?;
            Ok(())
        })
    }

    /// That no row has these columns yet: they would no longer be found where they are.
    fn check_unused(&self, table: &TableState, columns: &[String]) -> Result<()> {
        if columns.is_empty() || !table.is_loose() {
            return Ok(());
        }
        let prefix = family_prefix(table.id, LOOSE);
        let shards = 0..=(self.inner.store.shards() - 1) as u8;
        for shard in shards {
            for entry in self.inner.store.scan_prefix(shard, &prefix, Direction::Forward)? {
                let (key, value) = entry?;
                let (header, _) = Header::read(&value).map_err(|problem| table.corrupt(problem))?;
                if !header.is_visible(self.inner.clock.now()) {
                    continue;
                }
                let (_, name) = table.split_loose(key.get(PLACE..).unwrap_or_default())?;
                if let Some(used) = columns.iter().find(|column| column.as_bytes() == name) {
                    return Err(Error::Column {
                        column: used.clone(),
                        problem: "rows have it as an undeclared column; remove it from them first"
                            .to_owned(),
                    });
                }
            }
        }
        Ok(())
    }
}

fn find_family<'s>(schema: &'s mut TableSchema, name: &str) -> Result<&'s mut Family> {
    let missing = schema.problem(format!("there is no family {name:?}"));
    schema.families.iter_mut().find(|family| family.name == name).ok_or(missing)
}

impl fmt::Debug for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Table").field(&self.name).finish()
    }
}
