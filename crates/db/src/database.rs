//! The database: opening it, its tables, closing it.

use std::fmt;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use stonecrop_store::{Batch, FjallStore, Lead, MemoryStore, ObjectOptions, Stats, Store};

use crate::catalog::{self, CATALOG_SHARD, Catalog, Slot, TableState};
use crate::clock::{Clock, SystemClock, Timestamp, WriterClock};
use crate::error::{Error, Result};
use crate::index::backfill::Builder;
use crate::index::check::{Report, check};
use crate::key::RowKey;
use crate::prefixes::RowPrefixes;
use crate::query::{Request, Response};
use crate::read::Moment;
use crate::retention::Expiry;
use crate::row::Row;
use crate::schema::TableSchema;
use crate::table::Table;
use crate::write::Write;
use crate::writer::{
    Commit, Durability, Prepared, QueueLimit, Receipt, Submitted, Target, Writer, WriterStats,
};

/// How often a follower looks for tables that were made, altered or dropped.
const FOLLOW_EVERY: Duration = Duration::from_secs(1);

/// How a database is opened.
///
/// ```
/// use stonecrop::{Database, Durability, Options};
/// let options = Options::default().durability(Durability::Interval).shards(4);
/// Database::open_with("memory:", options)?;
/// # Ok::<(), stonecrop::Error>(())
/// ```
#[derive(Clone)]
pub struct Options {
    pub(crate) clock: Arc<dyn Clock>,
    durability: Durability,
    sync_interval: Duration,
    shards: Option<u16>,
    cache_bytes: u64,
    queue: QueueLimit,
    objects: ObjectOptions,
    read_only: bool,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            clock: Arc::new(SystemClock),
            durability: Durability::Sync,
            sync_interval: Duration::from_millis(100),
            shards: None,
            cache_bytes: 256 << 20,
            queue: QueueLimit { bytes: 256 << 20, wait: Duration::from_secs(30) },
            objects: ObjectOptions::default(),
            read_only: false,
        }
    }
}

impl Options {
    /// Where the time comes from; the machine's clock without.
    ///
    /// ```
    /// # use std::sync::Arc;
    /// # use stonecrop::{ManualClock, Options, Timestamp};
    /// Options::default().clock(Arc::new(ManualClock::new(Timestamp::from_micros(0))));
    /// ```
    pub fn clock(mut self, clock: Arc<dyn Clock>) -> Self {
        self.clock = clock;
        self
    }

    /// When a write counts as done, unless it says so itself; [`Durability::Sync`] without.
    ///
    /// ```
    /// # use stonecrop::{Durability, Options};
    /// Options::default().durability(Durability::Interval);
    /// ```
    pub fn durability(mut self, durability: Durability) -> Self {
        self.durability = durability;
        self
    }

    /// How long a write with [`Durability::Interval`] may be unsynced; 100 ms without.
    ///
    /// ```
    /// # use std::time::Duration;
    /// stonecrop::Options::default().sync_interval(Duration::from_secs(1));
    /// ```
    pub fn sync_interval(mut self, interval: Duration) -> Self {
        self.sync_interval = interval;
        self
    }

    /// How many shards a database that is created has, 1 to 256; one that exists keeps its own. One
    /// without, and 16 on object storage.
    ///
    /// ```
    /// stonecrop::Options::default().shards(16);
    /// ```
    pub fn shards(mut self, shards: u16) -> Self {
        self.shards = Some(shards);
        self
    }

    /// The memory for what was read from files: three quarters for blocks, one for entries that were
    /// read again; 256 MiB without.
    ///
    /// ```
    /// stonecrop::Options::default().cache_bytes(1 << 30);
    /// ```
    pub fn cache_bytes(mut self, bytes: u64) -> Self {
        self.cache_bytes = bytes;
        self
    }

    /// On object storage, how often the log is uploaded for synced writes, at most; 100 ms without.
    /// One that comes sooner after another waits, but for no more than half of the patience, for
    /// every upload of every shard is a request that costs. What nobody waits for is uploaded as
    /// often, but not more than every 100 ms unless it is a MiB.
    ///
    /// ```
    /// # use std::time::Duration;
    /// stonecrop::Options::default().flush_interval(Duration::from_millis(5));
    /// ```
    pub fn flush_interval(mut self, interval: Duration) -> Self {
        self.objects.flush_interval = interval;
        self
    }

    /// How long a read or a write waits for object storage; 25 s without.
    ///
    /// ```
    /// # use std::time::Duration;
    /// stonecrop::Options::default().patience(Duration::from_secs(5));
    /// ```
    pub fn patience(mut self, patience: Duration) -> Self {
        self.objects.patience = patience;
        self
    }

    /// On object storage, how often it is looked for files to compact; 5 s without.
    ///
    /// ```
    /// # use std::time::Duration;
    /// stonecrop::Options::default().poll_interval(Duration::from_secs(60));
    /// ```
    pub fn poll_interval(mut self, interval: Duration) -> Self {
        self.objects.poll_interval = interval;
        self
    }

    /// On object storage, whether this process compacts and removes files that nobody needs any more;
    /// it does without. If not, a [`Compactor`](crate::Compactor) has to.
    ///
    /// ```
    /// stonecrop::Options::default().compacts(false);
    /// ```
    pub fn compacts(mut self, compacts: bool) -> Self {
        self.objects.compacts = compacts;
        self
    }

    /// On object storage, a folder that keeps up to so many bytes of what was read; none without.
    ///
    /// ```
    /// stonecrop::Options::default().cache_folder("/var/cache/stonecrop", 16 << 30);
    /// ```
    pub fn cache_folder(mut self, folder: impl Into<std::path::PathBuf>, bytes: u64) -> Self {
        self.objects.cache_folder = Some(folder.into());
        self.objects.cache_folder_bytes = bytes;
        self
    }

    /// On object storage, whether a database is made where there is none; it is without.
    ///
    /// ```
    /// stonecrop::Options::default().create(false);
    /// ```
    pub fn create(mut self, create: bool) -> Self {
        self.objects.create = create;
        self
    }

    /// Whether the database is only read, and followed as another process writes it; on object
    /// storage alone.
    ///
    /// ```
    /// use stonecrop::{Database, Options};
    /// assert!(Database::open_with("memory:", Options::default().read_only(true)).is_err());
    /// ```
    pub fn read_only(mut self, read_only: bool) -> Self {
        self.read_only = read_only;
        self
    }

    /// How many bytes of writes may wait, and how long a further one waits for room before it is
    /// refused with [`Error::Busy`]; 256 MiB and 30 s without.
    ///
    /// ```
    /// # use std::time::Duration;
    /// stonecrop::Options::default().queue(64 << 20, Duration::from_secs(1));
    /// ```
    pub fn queue(mut self, bytes: usize, wait: Duration) -> Self {
        self.queue = QueueLimit { bytes, wait };
        self
    }
}

impl fmt::Debug for Options {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut options = f.debug_struct("Options");
        options.field("durability", &self.durability).field("shards", &self.shards);
        options.finish_non_exhaustive()
    }
}

/// A database. It is cheap to clone, and can be used from any thread.
///
/// ```
/// use std::time::Duration;
/// use stonecrop::{Database, Family, TableSchema, Write};
/// # let folder = tempfile::tempdir().unwrap();
/// # let path = folder.path().to_str().unwrap();
///
/// let db = Database::open(path)?;
/// let crm = Family::new("crm").column("name").column("email").ttl(Duration::from_secs(600));
/// let people = db.create_table(TableSchema::new("people", "company string", "id u64")?.family(crm))?;
///
/// people.write(Write::put(("acme", 7)).set("name", "Ann").set("email", "ann@acme.example"))?;
///
/// let row = people.get(("acme", 7))?.expect("it was just written");
/// let name = row.cell("name").expect("so was its name");
/// assert!(name.value == "Ann".into() && name.fresh);
/// # Ok::<(), stonecrop::Error>(())
/// ```
#[derive(Clone)]
pub struct Database {
    pub(crate) inner: Arc<Inner>,
}

pub(crate) struct Inner {
    pub(crate) store: Arc<dyn Store>,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) writer: Arc<Writer>,
    pub(crate) catalog: Arc<Catalog>,
    durability: Durability,
    /// Those who build indexes, and what tells them to stop.
    builders: Mutex<Vec<JoinHandle<()>>>,
    closing: Arc<AtomicBool>,
}

impl Database {
    /// Opens the database in a folder, or makes one there if it is empty or not there. The location
    /// `memory:` is a database that is gone with its last handle; with the feature `slatedb`,
    /// `s3://bucket/path`, `gs://bucket/path`, `az://container/path` and
    /// `file:///path?engine=slatedb` are databases on object storage.
    ///
    /// ```
    /// # use stonecrop::Database;
    /// # let folder = tempfile::tempdir().unwrap();
    /// # let path = folder.path().to_str().unwrap();
    /// let db = Database::open(path)?;
    /// assert!(Database::open(path).is_err(), "one process, one handle");
    /// # Ok::<(), stonecrop::Error>(())
    /// ```
    pub fn open(location: impl AsRef<Path>) -> Result<Self> {
        Self::open_with(location, Options::default())
    }

    /// An empty database in memory.
    ///
    /// ```
    /// assert!(stonecrop::Database::memory().tables().is_empty());
    /// ```
    pub fn memory() -> Self {
        let options = Options::default();
        let catalog = Arc::new(Catalog::default());
        let store = Arc::new(MemoryStore::new(&store_options(&catalog, &options)));
        catalog.start_empty();
        Self::new(store, catalog, options)
    }

    /// Opens a database with options of its own.
    ///
    /// ```
    /// use stonecrop::{Database, Options};
    /// let db = Database::open_with("memory:", Options::default().shards(4))?;
    /// # Ok::<(), stonecrop::Error>(())
    /// ```
    pub fn open_with(location: impl AsRef<Path>, options: Options) -> Result<Self> {
        let catalog = Arc::new(Catalog::default());
        let store = open_store(location.as_ref(), &catalog, &options)?;
        Self::on(store, catalog, options)
    }

    /// Opens the database in a store of one's own, which is opened with the options that the
    /// database has for it.
    ///
    /// ```
    /// use std::sync::Arc;
    /// use stonecrop::{Database, Options, store::MemoryStore};
    /// let open = |options: &stonecrop::store::Options| Ok(Arc::new(MemoryStore::new(options)) as _);
    /// let database = Database::open_in(open, Options::default())?;
    /// assert!(database.tables().is_empty());
    /// # Ok::<(), stonecrop::Error>(())
    /// ```
    pub fn open_in(
        open: impl FnOnce(&stonecrop_store::Options) -> stonecrop_store::Result<Arc<dyn Store>>,
        options: Options,
    ) -> Result<Self> {
        let catalog = Arc::new(Catalog::default());
        let store = open(&store_options(&catalog, &options))?;
        Self::on(store, catalog, options)
    }

    fn on(store: Arc<dyn Store>, catalog: Arc<Catalog>, options: Options) -> Result<Self> {
        catalog.load(&*store, store.shards())?;
        let is_alone = store.lead() == Lead::Alone;
        let read_only = options.read_only;
        let database = Self::new(store, catalog, options);
        if read_only || !is_alone {
            database.inner.follow();
            return Ok(database);
        }
        for name in database.inner.catalog.incomplete() {
            if let Some(slot) = database.inner.catalog.slot(&name) {
                database.inner.build_indexes(&slot);
            }
        }
        Ok(database)
    }

    fn new(store: Arc<dyn Store>, catalog: Arc<Catalog>, options: Options) -> Self {
        let clock = options.clock.clone();
        let inner = Inner {
            writer: Arc::new(Writer::new(
                store.clone(),
                catalog.clone(),
                Arc::new(WriterClock(clock.clone())),
                options.queue,
                options.sync_interval,
            )),
            durability: options.durability,
            catalog,
            clock,
            store,
            builders: Mutex::default(),
            closing: Arc::default(),
        };
        Database { inner: Arc::new(inner) }
    }

    /// Makes a table.
    ///
    /// ```
    /// # use stonecrop::{Database, TableSchema};
    /// let db = Database::memory();
    /// db.create_table(TableSchema::new("people", "id u64", "")?)?;
    /// assert!(db.create_table(TableSchema::new("people", "id u64", "")?).is_err());
    /// # Ok::<(), stonecrop::Error>(())
    /// ```
    pub fn create_table(&self, schema: TableSchema) -> Result<Table> {
        let inner = &self.inner;
        inner.writer.exclusively(|| {
            if inner.catalog.slot(schema.name()).is_some() {
                return Err(Error::TableExists { table: schema.name().to_owned() });
            }
            let state = Arc::new(inner.new_table(schema.with_numbered_indexes())?);
            let slot = inner.store_table(&state, None)?;
            Ok(self.handle(state.schema.name(), slot))
        })
    }

    fn handle(&self, name: &str, slot: Arc<Slot>) -> Table {
        Table::new(self.inner.clone(), name.into(), slot)
    }

    /// A table by its name.
    ///
    /// ```
    /// # use stonecrop::{Database, TableSchema};
    /// let db = Database::memory();
    /// db.create_table(TableSchema::new("people", "id u64", "")?)?;
    /// assert_eq!(db.table("people")?.name(), "people");
    /// # Ok::<(), stonecrop::Error>(())
    /// ```
    pub fn table(&self, name: &str) -> Result<Table> {
        let slot = self.inner.catalog.slot(name);
        let slot = slot.ok_or_else(|| Error::NoTable { table: name.to_owned() })?;
        Ok(self.handle(name, slot))
    }

    /// The names of all tables, in order.
    ///
    /// ```
    /// assert!(stonecrop::Database::memory().tables().is_empty());
    /// ```
    pub fn tables(&self) -> Vec<String> {
        self.inner.catalog.names()
    }

    /// Drops a table with all its rows. Their space is given back as compaction comes by.
    ///
    /// ```
    /// # use stonecrop::{Database, TableSchema};
    /// let db = Database::memory();
    /// db.create_table(TableSchema::new("people", "id u64", "")?)?;
    /// db.drop_table("people")?;
    /// assert!(db.tables().is_empty());
    /// # Ok::<(), stonecrop::Error>(())
    /// ```
    pub fn drop_table(&self, name: &str) -> Result<()> {
        let inner = &self.inner;
        inner.writer.exclusively(|| {
            let state = inner.catalog.slot(name).and_then(|slot| slot.get());
            let state = state.ok_or_else(|| Error::NoTable { table: name.to_owned() })?;
            let mut batch = Batch::new();
            for key in catalog::keys_of(&state) {
                batch.delete(CATALOG_SHARD, key);
            }
            inner.writer.commit_batch(batch)?;
            inner.catalog.remove(name);
            Ok(())
        })
    }

    /// Writes rows of several tables, all or nothing. Each write can have a condition.
    ///
    /// ```
    /// use stonecrop::{Condition, Database, TableSchema, Write};
    /// let db = Database::memory();
    /// let accounts = db.create_table(TableSchema::new("accounts", "name string", "")?)?;
    /// accounts.write(Write::put("ann").set("balance", 10))?;
    /// db.transaction([
    ///     (&accounts, Write::put("ann").add("balance", -7).when(Condition::ge("balance", 7))),
    ///     (&accounts, Write::put("bob").add("balance", 7)),
    /// ])?;
    /// assert_eq!(accounts.get("bob")?.unwrap().value("balance"), Some(&7.into()));
    /// # Ok::<(), stonecrop::Error>(())
    /// ```
    pub fn transaction<'t, 'w>(
        &self,
        writes: impl IntoIterator<Item = (&'t Table, Write<'w>)>,
    ) -> Result<Receipt> {
        let writes: Vec<_> = writes.into_iter().collect();
        let writes = writes
            .iter()
            .map(|(table, write)| Ok((table.slot_in(&self.inner)?, table.name(), write)));
        self.inner.write(&writes.collect::<Result<Vec<_>>>()?, None)
    }

    /// Queues changes of rows in any tables, all or nothing, as [`Table::submit`] does for one.
    /// [`Error::Altered`] in the receipt says that a table was altered meanwhile: submit them again.
    ///
    /// ```
    /// use stonecrop::{Commit, Database, Durability, TableSchema, Write};
    /// let db = Database::memory();
    /// let [a, b] = [db.create_table(TableSchema::new("a", "id u64", "")?)?,
    ///     db.create_table(TableSchema::new("b", "id u64", "")?)?];
    /// let writes = [(&a, Write::put(1).set("n", 1)), (&b, Write::put(2).set("n", 2))];
    /// let receipt = db.submit(writes, Durability::Sync, Commit::run)?;
    /// // In an async function: receipt.await?
    /// # Ok::<(), stonecrop::Error>(())
    /// ```
    pub fn submit<'t, 'w>(
        &self,
        writes: impl IntoIterator<Item = (&'t Table, Write<'w>)>,
        durability: Durability,
        run: impl FnOnce(Commit),
    ) -> Result<Submitted> {
        let writes = writes.into_iter().enumerate().map(|(at, (table, write))| {
            let slot = table.slot_in(&self.inner)?;
            let state = slot.get().ok_or_else(|| no_table(table.name()))?;
            Prepared::new(&Target::new(slot, state), &write).map_err(|error| error.in_write(at))
        });
        let writes = writes.collect::<Result<Vec<_>>>()?;
        self.inner.check_shards(&writes)?;
        self.inner.writer.submit(writes, durability, run)
    }

    /// Rows of any tables by their keys, in that order, all as they are at one moment.
    ///
    /// ```
    /// # use stonecrop::{Database, TableSchema, Write};
    /// let db = Database::memory();
    /// let [a, b] = [db.create_table(TableSchema::new("a", "id u64", "")?)?,
    ///     db.create_table(TableSchema::new("b", "id u64", "")?)?];
    /// db.transaction([(&a, Write::put(1).set("n", 1)), (&b, Write::put(2).set("n", 2))])?;
    /// let rows = db.get_all([(&a, 1), (&b, 2), (&b, 3)])?;
    /// assert!(rows[0].is_some() && rows[1].is_some() && rows[2].is_none());
    /// # Ok::<(), stonecrop::Error>(())
    /// ```
    pub fn get_all<'t, 'k, K: Into<RowKey<'k>>>(
        &self,
        rows: impl IntoIterator<Item = (&'t Table, K)>,
    ) -> Result<Vec<Option<Row>>> {
        let moment = Moment::now(self.inner.clock.now());
        let snapshot = self.inner.store.snapshot()?;
        let rows = rows.into_iter().map(|(table, key)| {
            table.slot_in(&self.inner)?;
            table.row_in(&*snapshot, key, moment)
        });
        rows.collect()
    }

    /// Answers a query in the form that JSON has.
    ///
    /// ```
    /// use stonecrop::{Database, Request, TableSchema};
    /// let db = Database::memory();
    /// db.create_table(TableSchema::new("accounts", "id string", "")?)?;
    /// let request: Request = serde_json::from_str(r#"{"prefixes": ["accounts"]}"#).unwrap();
    /// assert!(db.query(&request)?.rows.is_empty());
    /// # Ok::<(), stonecrop::Error>(())
    /// ```
    pub fn query(&self, request: &Request) -> Result<Response> {
        let mut response = Response::default();
        match request.prefixes.as_slice() {
            [] => return Err(Error::Query { problem: "prefixes: name a table".to_owned() }),
            [name] => self.table(name)?.answer(request, &mut response)?,
            names if request.sort.is_empty() => {
                let mut rest = request.clone();
                for name in names {
                    rest.take = request.take.map(|take| take - response.rows.len());
                    self.table(name)?.answer(&rest, &mut response)?;
                }
                (response.next, response.previous) = (None, None);
            }
            names if request.count => {
                for name in names {
                    self.table(name)?.answer(request, &mut response)?;
                }
            }
            names => self.answer_sorted(names, request, &mut response)?,
        }
        Ok(response)
    }

    /// The first rows of several tables in one order; of equals the earlier table's come first.
    fn answer_sorted(
        &self,
        names: &[String],
        request: &Request,
        response: &mut Response,
    ) -> Result<()> {
        let tables = names.iter().map(|name| self.table(name)).collect::<Result<Vec<_>>>()?;
        let queries = tables.iter().map(|table| request.query(&*table.state()?));
        let queries = queries.collect::<Result<Vec<_>>>()?;
        let mut found = Vec::new();
        let mut orders = Vec::new();
        for (table, query) in tables.iter().zip(&queries) {
            let execution = table.execution(query)?;
            if request.explain {
                response.explanation.push(execution.explain()?);
            }
            for (row, values) in execution.sorted_rows()? {
                found.push((execution.response_row(row, request)?, values));
            }
            orders.push(execution);
        }
        if let Some(order) = orders.first() {
            found.sort_by(|(_, a), (_, b)| order.compare(a, b));
        }
        found.truncate(request.take.unwrap_or(usize::MAX));
        response.rows.extend(found.into_iter().map(|(row, _)| row));
        Ok(())
    }

    /// Makes every write so far survive a power cut.
    ///
    /// ```
    /// stonecrop::Database::memory().sync()?;
    /// # Ok::<(), stonecrop::Error>(())
    /// ```
    pub fn sync(&self) -> Result<()> {
        Ok(self.inner.store.sync()?)
    }

    /// Moves what is held in memory to files.
    ///
    /// ```
    /// stonecrop::Database::memory().flush()?;
    /// # Ok::<(), stonecrop::Error>(())
    /// ```
    pub fn flush(&self) -> Result<()> {
        Ok(self.inner.store.flush()?)
    }

    /// Merges the files, and gives back the space of what is gone. It happens by itself, too, bit
    /// by bit.
    ///
    /// ```
    /// stonecrop::Database::memory().compact()?;
    /// # Ok::<(), stonecrop::Error>(())
    /// ```
    pub fn compact(&self) -> Result<()> {
        Ok(self.inner.store.compact()?)
    }

    /// Looks at every entry: that keys and values fit their tables, and that rows and indexes
    /// agree. It reads everything, and nobody waits for it.
    ///
    /// ```
    /// assert!(stonecrop::Database::memory().check()?.is_clean());
    /// # Ok::<(), stonecrop::Error>(())
    /// ```
    pub fn check(&self) -> Result<Report> {
        check(&self.inner, &self.inner.catalog, false)
    }

    /// As [`Database::check`], and makes indexes agree with their rows. Writes wait until it is
    /// done.
    ///
    /// ```
    /// assert_eq!(stonecrop::Database::memory().repair()?.mended, 0);
    /// # Ok::<(), stonecrop::Error>(())
    /// ```
    pub fn repair(&self) -> Result<Report> {
        check(&self.inner, &self.inner.catalog, true)
    }

    /// Figures about the files.
    ///
    /// ```
    /// assert_eq!(stonecrop::Database::memory().stats()?.disk_bytes, 0);
    /// # Ok::<(), stonecrop::Error>(())
    /// ```
    pub fn stats(&self) -> Result<Stats> {
        Ok(self.inner.store.stats()?)
    }

    /// Figures about what was written.
    ///
    /// ```
    /// assert_eq!(stonecrop::Database::memory().writer_stats().commits, 0);
    /// ```
    pub fn writer_stats(&self) -> WriterStats {
        self.inner.writer.stats()
    }

    /// The time by the database's clock.
    ///
    /// ```
    /// use stonecrop::{Database, Timestamp};
    /// assert!(Database::memory().now() > Timestamp::from_micros(0));
    /// ```
    pub fn now(&self) -> Timestamp {
        self.inner.clock.now()
    }

    /// Whether this process decides what is written, where several share the database.
    ///
    /// ```
    /// use stonecrop::{Database, Lead};
    /// assert_eq!(Database::memory().lead(), Lead::Alone);
    /// ```
    pub fn lead(&self) -> Lead {
        self.inner.store.lead()
    }

    /// Whether a read may wait for another machine.
    ///
    /// ```
    /// assert!(!stonecrop::Database::memory().reads_may_wait());
    /// ```
    pub fn reads_may_wait(&self) -> bool {
        self.inner.store.reads_may_wait()
    }

    /// Why nothing more can be done with the database, if that is so: on object storage another
    /// process may have taken it over.
    ///
    /// ```
    /// assert!(stonecrop::Database::memory().failure().is_none());
    /// ```
    pub fn failure(&self) -> Option<Error> {
        self.inner.store.failure().map(Error::from)
    }

    /// How far behind its writer the database may be, if it is followed ([`Options::read_only`]):
    /// what was durable so long ago is seen.
    ///
    /// ```
    /// assert!(stonecrop::Database::memory().lag().is_none());
    /// ```
    pub fn lag(&self) -> Option<Duration> {
        self.inner.store.lag()
    }

    /// Makes all writes durable and lets go of the files; scans that still run see their end.
    /// Whatever is asked afterwards is refused. Without it, the same happens with the last handle.
    ///
    /// ```
    /// use stonecrop::{Database, Error};
    /// let db = Database::memory();
    /// db.close()?;
    /// assert!(matches!(db.flush(), Err(Error::Closed)));
    /// # Ok::<(), stonecrop::Error>(())
    /// ```
    pub fn close(&self) -> Result<()> {
        self.inner.close()
    }
}

/// The store at a location.
pub(crate) fn open_store(
    location: &Path,
    catalog: &Arc<Catalog>,
    options: &Options,
) -> Result<Arc<dyn Store>> {
    let (text, store_options) = (location.to_string_lossy(), store_options(catalog, options));
    Ok(match text.split_once(':') {
        Some((_, rest)) if rest.starts_with("//") => {
            open_objects(&text, &store_options, options.read_only)?
        }
        _ if options.read_only => {
            return Err(Error::Location {
                location: text.to_string(),
                problem: "only a database on object storage can be followed".to_owned(),
            });
        }
        Some(("memory", "")) => Arc::new(MemoryStore::new(&store_options)),
        _ => Arc::new(FjallStore::open(location, &store_options)?),
    })
}

#[cfg(feature = "slatedb")]
fn open_objects(
    location: &str,
    options: &stonecrop_store::Options,
    read_only: bool,
) -> Result<Arc<dyn Store>> {
    Ok(match read_only {
        true => Arc::new(stonecrop_store::Follower::open(location, options)?),
        false => Arc::new(stonecrop_store::SlateStore::open(location, options)?),
    })
}

#[cfg(not(feature = "slatedb"))]
fn open_objects(location: &str, _: &stonecrop_store::Options, _: bool) -> Result<Arc<dyn Store>> {
    Err(Error::Location {
        location: location.to_owned(),
        problem: "object storage needs the feature slatedb of this crate".to_owned(),
    })
}

pub(crate) fn store_options(catalog: &Arc<Catalog>, options: &Options) -> stonecrop_store::Options {
    let mut store = stonecrop_store::Options::default();
    store.shards = options.shards;
    store.objects = options.objects.clone();
    store.cache_bytes = options.cache_bytes;
    store.prefixes = Arc::new(RowPrefixes::new(catalog.clone()));
    store.retention = Arc::new(Expiry::new(catalog.clone(), options.clock.clone()));
    store
}

impl fmt::Debug for Database {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Database").field("tables", &self.tables()).finish_non_exhaustive()
    }
}

impl Inner {
    /// A table with an id of its own; within [`Writer::exclusively`].
    pub(crate) fn new_table(&self, schema: TableSchema) -> Result<TableState> {
        catalog::new_table(schema, self.catalog.next_id(), self.store.shards())
    }

    /// Stores a table's definition in place of others, then lets everybody see it.
    pub(crate) fn store_table(
        &self,
        state: &Arc<TableState>,
        replaced: Option<&TableState>,
    ) -> Result<Arc<Slot>> {
        let mut batch = Batch::new();
        for key in replaced.iter().flat_map(|table| catalog::keys_of(table)) {
            batch.delete(CATALOG_SHARD, key);
        }
        self.store_table_with(state, batch)
    }

    /// As [`Inner::store_table`], together with other changes of the catalog.
    pub(crate) fn store_table_with(
        &self,
        state: &Arc<TableState>,
        mut batch: Batch,
    ) -> Result<Arc<Slot>> {
        let next_id = catalog::next_id_record(self.catalog.next_id().max(state.id + 1));
        let changes = state.activity.changes.record(state.id);
        for (key, value) in [catalog::table_record(state)?, next_id].into_iter().chain(changes) {
            batch.put(CATALOG_SHARD, key, value);
        }
        self.writer.commit_batch(batch)?;
        Ok(self.catalog.insert(state.clone()))
    }

    /// Keeps up with the tables of a database that another process writes.
    fn follow(self: &Arc<Self>) {
        let (inner, closing) = (Arc::downgrade(self), self.closing.clone());
        let announced = inner.clone();
        self.store.on_announcement(Box::new(move || {
            announced.upgrade().is_some_and(|inner| inner.reread().is_ok())
        }));
        let thread = std::thread::Builder::new().name("stonecrop follow".to_owned());
        let followed = thread.spawn(move || {
            while !closing.load(Ordering::Acquire) {
                std::thread::park_timeout(FOLLOW_EVERY);
                let Some(inner) = inner.upgrade() else { return };
                match inner.store.lead() {
                    Lead::Here(_) => inner.go_on(),
                    // What can't be read now is read the next time.
                    Lead::Alone | Lead::Elsewhere => drop(inner.reread()),
                }
            }
        });
        self.builders.lock().unwrap_or_else(PoisonError::into_inner).extend(followed);
    }

    /// Reads the catalog again that another process writes. Nothing is committed meanwhile: whoever
    /// comes to lead has read it after that.
    fn reread(&self) -> Result<()> {
        self.writer.last(|| match self.store.lead() {
            Lead::Here(_) => Ok(()),
            Lead::Alone | Lead::Elsewhere => self.catalog.follow(&*self.store, self.store.shards()),
        })
    }

    /// Goes on with what whoever wrote before has left unfinished.
    fn go_on(&self) {
        // What can't be read now is read the next time.
        if self.writer.exclusively(|| Ok(())).is_err() {
            return;
        }
        for name in self.catalog.incomplete() {
            if let Some(slot) = self.catalog.slot(&name) {
                self.build_indexes(&slot);
            }
        }
    }

    /// Starts to build the indexes of a table that are not complete.
    pub(crate) fn build_indexes(&self, slot: &Arc<Slot>) {
        let Some(table) = slot.get() else { return };
        for index in table.indexes.iter().filter(|index| index.status.claim()) {
            let builder = Builder {
                store: self.store.clone(),
                writer: self.writer.clone(),
                clock: self.clock.clone(),
                slot: slot.clone(),
                index: index.id,
                status: index.status.clone(),
                closing: self.closing.clone(),
            };
            let thread = std::thread::Builder::new().name("stonecrop index".to_owned());
            match thread.spawn(move || builder.run()) {
                Ok(thread) => {
                    let mut builders = self.builders.lock().unwrap_or_else(PoisonError::into_inner);
                    builders.retain(|builder| !builder.is_finished());
                    builders.push(thread);
                }
                // The next opening will try again.
                Err(_) => index.status.stop(),
            }
        }
    }

    fn close(&self) -> Result<()> {
        self.writer.stop();
        self.catalog.close_changes();
        self.closing.store(true, Ordering::Release);
        // Not under the lock: one of them may be about to start another, which sees that it ends.
        let builders =
            std::mem::take(&mut *self.builders.lock().unwrap_or_else(PoisonError::into_inner));
        for builder in builders {
            builder.thread().unpark();
            // The last one who has the database may be one of them.
            if builder.thread().id() != std::thread::current().id() {
                let _ = builder.join();
            }
        }
        self.writer.last(|| {
            if self.writer.leads() {
                let mut batch = Batch::new();
                for (key, value) in self.catalog.final_ceilings() {
                    batch.put(CATALOG_SHARD, key, value);
                }
                // Without this the first minute of the next opening is slower, and nothing is lost.
                // Who only reads is refused.
                let _ = self.store.write(batch, stonecrop_store::Durability::Buffered);
            }
            Ok(self.store.close()?)
        })
    }

    /// Writes all or nothing. The writes are prepared anew where a table is altered meanwhile.
    pub(crate) fn write(
        &self,
        writes: &[(&Arc<Slot>, &str, &Write<'_>)],
        durability: Option<Durability>,
    ) -> Result<Receipt> {
        loop {
            let prepared = writes.iter().enumerate().map(|(at, (slot, name, write))| {
                let table = slot.get().ok_or_else(|| no_table(name))?;
                let prepared = Prepared::new(&Target::new(slot, table), write);
                prepared.map_err(|error| if writes.len() > 1 { error.in_write(at) } else { error })
            });
            let prepared = prepared.collect::<Result<Vec<_>>>()?;
            self.check_shards(&prepared)?;
            let tables: Vec<_> = prepared.iter().map(|write| write.target.table.clone()).collect();
            let is_altered = || {
                let mut slots = writes.iter().map(|(slot, ..)| slot).zip(&tables);
                slots.any(|(slot, table)| slot.get().is_none_or(|now| !Arc::ptr_eq(&now, table)))
            };
            match self.write_prepared(prepared, durability) {
                // If nothing was, it is what a function that decides has answered.
                Err(Error::Altered) if is_altered() => {}
                receipt => return receipt,
            }
        }
    }

    /// That the storage can write these all or nothing.
    fn check_shards(&self, writes: &[Prepared]) -> Result<()> {
        if self.store.is_atomic_across_shards() {
            return Ok(());
        }
        let first = writes.first().map(|write| write.place.shard);
        match writes.iter().position(|write| Some(write.place.shard) != first) {
            Some(write) => Err(Error::SpansShards { write }),
            None => Ok(()),
        }
    }

    pub(crate) fn write_prepared(
        &self,
        writes: Vec<Prepared>,
        durability: Option<Durability>,
    ) -> Result<Receipt> {
        self.writer.write(writes, durability.unwrap_or(self.durability))
    }
}

pub(crate) fn no_table(name: &str) -> Error {
    Error::NoTable { table: name.to_owned() }
}

impl Drop for Inner {
    fn drop(&mut self) {
        // There is nobody left to tell; what was acknowledged as synced is on disk already.
        let _ = self.close();
    }
}
