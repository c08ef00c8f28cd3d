//! fjall: log-structured trees on disk, a keyspace a shard, one journal for all of them.

use std::fmt;
use std::io::ErrorKind as IoKind;
use std::ops::Bound;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock, RwLockReadGuard};
use std::time::Duration;

use bytes::Bytes;
use fjall::compaction::filter::{
    CompactionFilter, CompactionFilterResult, Context, Factory, ItemAccessor, Verdict,
};
use fjall::config::{
    BlockSizePolicy, HashRatioPolicy, PartitioningPolicy, PinningPolicy, RestartIntervalPolicy,
};
use fjall::{
    Database, Keyspace, KeyspaceCreateOptions, OwnedWriteBatch, PersistMode, Readable, Snapshot,
};

use crate::batch::{Batch, check_shard};
use crate::engine::entries::{self, Entries, Moment};
use crate::engine::files::{self, Unflushed};
use crate::engine::folder::{Commits, Folder};
use crate::engine::manifest;
use crate::engine::space::{self, Space};
use crate::error::{Error, ErrorKind, Result};
use crate::options::{Options, Retention};
use crate::scan::{Direction, KeyRange, Scan};
use crate::store::{Durability, Read, Stats, Store};

const ENGINE: &str = "fjall";
/// Holds the number of the last commit, written with every batch.
const META: &str = "meta";
const LAST_COMMIT: &[u8] = b"last commit";
/// How often a flush looks whether it is done.
const FLUSH_POLL: Duration = Duration::from_millis(1);

/// A store in a folder.
///
/// ```
/// use stonecrop_store::{ErrorKind, FjallStore, Options};
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path();
/// let store = FjallStore::open(path, &Options::default())?;
/// let second = FjallStore::open(path, &Options::default()).unwrap_err();
/// assert_eq!(second.kind(), ErrorKind::Locked);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct FjallStore {
    folder: Folder,
    path: Arc<Path>,
    options: Options,
    /// None when closed, or when it could not be opened again.
    engine: RwLock<Option<Engine>>,
    /// Held over a commit and the record of it, so that both happen in one order. Who takes both
    /// locks takes this one first.
    writer: Mutex<Writer>,
    entries: Arc<Entries>,
    /// Held by every snapshot and scan: while there is one, the engine can't be opened again.
    views: Arc<()>,
    closed: AtomicBool,
}

struct Writer {
    space: Space,
    /// Why the engine takes no more writes.
    failure: Option<Failure>,
    /// The number of the last commit.
    committed: u64,
    /// The number of the last one that is known to be on disk.
    synced: Commits,
}

/// After a failed write the engine takes no more.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Failure {
    /// The disk was full: the journal is whole, and with room the engine can be opened again.
    Full,
    /// What is on disk is not known: only whoever opens the store anew can tell.
    Unknown,
}

struct Engine {
    database: Database,
    shards: Arc<[Keyspace]>,
    unflushed: Arc<Unflushed>,
    meta: Keyspace,
}

impl FjallStore {
    /// Opens the store in a folder, or makes one there if it is empty or not there.
    ///
    /// ```
    /// # let folder = tempfile::tempdir()?;
    /// # let path = folder.path().join("new");
    /// use stonecrop_store::{FjallStore, Options, Store};
    /// assert_eq!(FjallStore::open(&path, &Options::default())?.shards(), 1);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn open(path: impl AsRef<Path>, options: &Options) -> Result<Self> {
        let folder = Folder::open(path.as_ref(), ENGINE, options.shards.unwrap_or(1))?;
        let synced = folder.commits()?;
        if !folder.engine().exists() && synced.last() == 0 {
            folder.make_engine(|engine| Engine::open(engine, &folder, options).map(drop))?;
        }
        manifest::check(&folder.engine())?;
        let engine = Engine::open(&folder.engine(), &folder, options)?;
        let committed = engine.last_commit(folder.path(), synced.last())?;
        let writer = Writer { space: Space::default(), failure: None, committed, synced };
        Ok(FjallStore {
            path: folder.path().into(),
            folder,
            options: options.clone(),
            engine: RwLock::new(Some(engine)),
            writer: Mutex::new(writer),
            entries: Arc::new(Entries::new(
                options.cache_bytes / entries::PART_OF_CACHE,
                committed,
            )),
            views: Arc::default(),
            closed: AtomicBool::new(false),
        })
    }

    /// The engine, for as long as the guard lives; closing waits for it.
    fn engine(&self) -> Result<EngineGuard<'_>> {
        let guard = self.engine.read().unwrap_or_else(PoisonError::into_inner);
        if guard.is_some() {
            return Ok(EngineGuard(guard));
        }
        if self.closed.load(Ordering::Acquire) {
            return Err(Error::closed());
        }
        let message = "the disk was full, and the engine could not be opened again; the next write \
                       tries once more";
        Err(Error::new(ErrorKind::Full, message))
    }

    fn view(&self) -> Result<View> {
        let guard = self.engine()?;
        let engine = guard.get()?;
        // Before the snapshot: one that comes in between is not taken for the snapshot's.
        let versions = engine.shards.iter().map(files::version).collect();
        let moment = self.entries.now();
        Ok(View {
            path: self.path.clone(),
            moment,
            entries: self.entries.clone(),
            snapshot: engine.database.snapshot(),
            versions,
            shards: engine.shards.clone(),
            unflushed: engine.unflushed.clone(),
            token: self.views.clone(),
        })
    }

    /// The writer, of an engine that takes writes.
    fn writer(&self) -> Result<MutexGuard<'_, Writer>> {
        let mut writer = self.writer.lock().unwrap_or_else(PoisonError::into_inner);
        match writer.failure {
            None => {}
            Some(Failure::Unknown) => return Err(self.error(fjall::Error::Poisoned)),
            Some(Failure::Full) => self.reopen(&mut writer)?,
        }
        Ok(writer)
    }

    /// Opens the engine again after the disk was full.
    fn reopen(&self, writer: &mut Writer) -> Result<()> {
        space::check(&self.path)?;
        let mut engine = self.engine.write().unwrap_or_else(PoisonError::into_inner);
        if self.closed.load(Ordering::Acquire) {
            return Err(Error::closed());
        }
        if Arc::strong_count(&self.views) > 1 {
            let message = "the disk was full; writes go on once the scans that are open have ended";
            return Err(Error::new(ErrorKind::Full, message));
        }
        // The files can be opened only once at a time.
        drop(engine.take());
        let opened = Engine::open(&self.folder.engine(), &self.folder, &self.options)?;
        writer.committed = opened.last_commit(&self.path, writer.synced.last())?;
        writer.failure = None;
        self.entries.clear(writer.committed);
        *engine = Some(opened);
        Ok(())
    }

    /// The error of a failed write, after which the engine takes no more.
    fn failed(&self, writer: &mut Writer, cause: fjall::Error) -> Error {
        let path = &self.path;
        let full = match &cause {
            fjall::Error::Io(cause) => cause.kind() == IoKind::StorageFull,
            // Something in the background failed, and there is no word of what.
            fjall::Error::Poisoned => space::is_scarce(path),
            _ => false,
        };
        writer.failure = Some(if full { Failure::Full } else { Failure::Unknown });
        if full {
            let message =
                format!("{}: the disk is full; make room, and writes go on", path.display());
            return Error::new(ErrorKind::Full, message).with_cause(cause);
        }
        self.error(cause)
    }

    fn error(&self, cause: fjall::Error) -> Error {
        engine_error(&self.path, cause)
    }
}

struct EngineGuard<'s>(RwLockReadGuard<'s, Option<Engine>>);

impl EngineGuard<'_> {
    fn get(&self) -> Result<&Engine> {
        self.0.as_ref().ok_or_else(Error::closed)
    }

    fn shard(&self, shard: u8) -> Result<&Keyspace> {
        shard_of(&self.get()?.shards, shard)
    }
}

fn shard_of(shards: &[Keyspace], shard: u8) -> Result<&Keyspace> {
    check_shard(shard, shards.len() as u16)?;
    shards.get(usize::from(shard)).ok_or_else(Error::closed)
}

impl Engine {
    fn open(files: &Path, folder: &Folder, options: &Options) -> Result<Self> {
        let path = folder.path();
        // fjall asserts some of what it reads from a journal, so a damaged one can be a panic.
        catch_unwind(AssertUnwindSafe(|| Self::open_files(files, folder.shards, options)))
            .map_err(|_| damaged(path, "its journal can't be read"))?
            .map_err(|error| open_error(path, error))
    }

    fn open_files(files: &Path, shards: u16, options: &Options) -> fjall::Result<Self> {
        let retention = options.retention.clone();
        let factory: Arc<dyn Factory> = Arc::new(RetentionFactory { retention });
        let database = Database::builder(files)
            .cache_size(options.cache_bytes - options.cache_bytes / entries::PART_OF_CACHE)
            .with_compaction_filter_factories(Arc::new(move |keyspace| {
                (keyspace != META).then(|| factory.clone())
            }))
            .open()?;
        let keyspace = |name: &str| database.keyspace(name, keyspace_options);
        let shards = (0..shards).map(|shard| keyspace(&format!("shard-{shard:03}")));
        let shards = shards.collect::<fjall::Result<Arc<[_]>>>()?;
        let unflushed = Arc::new(Unflushed::new(&shards));
        let meta = keyspace(META)?;
        // An open snapshot of before the first write makes fjall forget which others are open, and
        // what they see is cleaned up under them.
        if database.snapshot().seqno() == 0 {
            meta.insert(LAST_COMMIT, 0_u64.to_be_bytes())?;
        }
        Ok(Engine { database, shards, unflushed, meta })
    }

    /// The number of the last commit, which must not be below what was acknowledged.
    fn last_commit(&self, path: &Path, acknowledged: u64) -> Result<u64> {
        let bytes = self.meta.get(LAST_COMMIT).map_err(|error| engine_error(path, error))?;
        let found = bytes.and_then(|bytes| Some(u64::from_be_bytes(*bytes.first_chunk()?)));
        let found = found.unwrap_or(0);
        if found >= acknowledged {
            return Ok(found);
        }
        let lost = format!("{acknowledged} commits were acknowledged, and it ends after {found}");
        Err(damaged(path, &lost))
    }
}

/// What reads cost least with; docs/decisions/0003-engine-options.md has the measurements. Indexes
/// and filters stay in memory: by estimate 1.5% of what is stored.
fn keyspace_options() -> KeyspaceCreateOptions {
    KeyspaceCreateOptions::default()
        .data_block_size_policy(BlockSizePolicy::all(16 << 10))
        .data_block_restart_interval_policy(RestartIntervalPolicy::all(8))
        .data_block_hash_ratio_policy(HashRatioPolicy::all(1.0))
        .index_block_partitioning_policy(PartitioningPolicy::all(false))
        .index_block_pinning_policy(PinningPolicy::all(true))
        .filter_block_partitioning_policy(PartitioningPolicy::all(false))
        .filter_block_pinning_policy(PinningPolicy::all(true))
}

impl Read for FjallStore {
    fn get(&self, shard: u8, key: &[u8]) -> Result<Option<Bytes>> {
        let engine = self.engine()?;
        let keyspace = engine.shard(shard)?;
        self.entries.get(self.entries.now(), shard, key, || {
            let value = keyspace.get(key).map_err(|error| self.error(error))?;
            Ok(value.map(Bytes::from))
        })
    }

    fn scan(&self, shard: u8, range: KeyRange, direction: Direction) -> Result<Scan> {
        // A keyspace's own iterator sees writes that come after it; a snapshot's does not.
        self.view()?.scan(shard, range, direction)
    }
}

impl Store for FjallStore {
    fn shards(&self) -> u16 {
        self.folder.shards
    }

    fn write(&self, batch: Batch, durability: Durability) -> Result<()> {
        let operations = batch.checked(self.folder.shards)?;
        if operations.is_empty() {
            return Ok(());
        }
        let mode = match durability {
            // Of the file's own facts those that its bytes can't be found without; times of changes
            // would be a write to the disk of their own.
            Durability::Sync => PersistMode::SyncData,
            Durability::Buffered | Durability::Begun => PersistMode::Buffer,
        };
        let mut writer = self.writer()?;
        let guard = self.engine()?;
        let engine = guard.get()?;
        let bytes = operations.iter().map(|operation| operation.size() as u64).sum();
        writer.space.take(&self.path, bytes, engine.database.write_buffer_size())?;
        let batch = OwnedWriteBatch::with_capacity(engine.database.clone(), operations.len() + 1);
        let mut batch = batch.durability(Some(mode));
        let number = writer.committed + 1;
        let mut begun = Vec::new();
        for operation in operations {
            let shard = guard.shard(operation.shard)?;
            self.entries.write(number, operation.shard, &operation.key);
            engine.unflushed.begin(operation.shard, &operation.key, &mut begun);
            match operation.value {
                Some(value) => batch.insert(shard, operation.key, value),
                None => batch.remove(shard, operation.key),
            }
        }
        batch.insert(&engine.meta, LAST_COMMIT, number.to_be_bytes());
        batch.commit().map_err(|error| self.failed(&mut writer, error))?;
        writer.committed = number;
        Unflushed::end(begun, &engine.shards);
        self.entries.committed(number);
        match durability {
            Durability::Sync => writer.synced.record(number),
            Durability::Buffered | Durability::Begun => Ok(()),
        }
    }

    fn get_together(&self, keys: &[(u8, &[u8])]) -> Result<Vec<Option<Bytes>>> {
        if let [(shard, key)] = keys {
            return Ok(vec![self.get(*shard, key)?]);
        }
        let open = self.engine()?;
        if let Some(values) = self.entries.get_all(self.entries.now(), keys) {
            return Ok(values);
        }
        drop(open);
        self.view()?.multi_get(keys)
    }

    fn snapshot(&self) -> Result<Box<dyn Read>> {
        Ok(Box::new(self.view()?))
    }

    fn approximate_size(&self, shard: u8) -> Result<u64> {
        Ok(self.engine()?.shard(shard)?.disk_space())
    }

    fn sync(&self) -> Result<()> {
        let mut writer = self.writer()?;
        let guard = self.engine()?;
        let persisted = guard.get()?.database.persist(PersistMode::SyncAll);
        persisted.map_err(|error| self.failed(&mut writer, error))?;
        let committed = writer.committed;
        writer.synced.record(committed)
    }

    fn flush(&self) -> Result<()> {
        let guard = self.engine()?;
        let Engine { database, shards, meta, .. } = guard.get()?;
        // A journal can go only when all that is in it has been flushed, the count of commits too.
        for shard in shards.iter().chain([meta]) {
            shard.rotate_memtable().map_err(|error| self.error(error))?;
            while shard.sealed_memtable_count() > 0 {
                // Where the work in the background has failed, this says so.
                database.persist(PersistMode::Buffer).map_err(|error| self.error(error))?;
                std::thread::park_timeout(FLUSH_POLL);
            }
        }
        Ok(())
    }

    fn compact(&self) -> Result<()> {
        self.flush()?;
        let guard = self.engine()?;
        for shard in guard.get()?.shards.iter() {
            shard.major_compact().map_err(|error| self.error(error))?;
        }
        Ok(())
    }

    fn stats(&self) -> Result<Stats> {
        let guard = self.engine()?;
        let Engine { database, shards, .. } = guard.get()?;
        let error = |error| self.error(error);
        Ok(Stats {
            entries: shards.iter().map(|shard| shard.approximate_len() as u64).sum(),
            disk_bytes: database.disk_space().map_err(error)?,
            journal_bytes: database.journal_disk_space().map_err(error)?,
            memory_bytes: database.write_buffer_size(),
            compactions: database.compactions_completed() as u64,
            ..Stats::default()
        })
    }

    fn close(&self) -> Result<()> {
        if self.closed.load(Ordering::Acquire) {
            return Ok(());
        }
        let synced = self.sync();
        self.closed.store(true, Ordering::Release);
        drop(self.engine.write().unwrap_or_else(PoisonError::into_inner).take());
        synced.and(self.folder.unlock())
    }
}

impl fmt::Debug for FjallStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FjallStore").field("path", &self.path).finish_non_exhaustive()
    }
}

/// All shards at one moment.
struct View {
    path: Arc<Path>,
    moment: Moment,
    entries: Arc<Entries>,
    snapshot: Snapshot,
    /// The numbers of the lists of files that the shards had when the snapshot was about to be taken.
    versions: Box<[u64]>,
    shards: Arc<[Keyspace]>,
    unflushed: Arc<Unflushed>,
    token: Arc<()>,
}

impl Read for View {
    fn get(&self, shard: u8, key: &[u8]) -> Result<Option<Bytes>> {
        let keyspace = shard_of(&self.shards, shard)?;
        self.entries.get(self.moment, shard, key, || {
            let value = self.snapshot.get(keyspace, key);
            Ok(value.map_err(|error| engine_error(&self.path, error))?.map(Bytes::from))
        })
    }

    fn scan(&self, shard: u8, range: KeyRange, direction: Direction) -> Result<Scan> {
        let keyspace = shard_of(&self.shards, shard)?;
        if range.is_empty() {
            return Ok(Scan::empty());
        }
        let version = self.versions.get(usize::from(shard)).copied().unwrap_or_default();
        let moment = (self.snapshot.seqno(), version);
        if let Some(entries) =
            files::scan(&self.unflushed, (shard, keyspace), moment, &range, direction)
        {
            let held = (self.path.clone(), self.token.clone(), self.snapshot.clone());
            return Ok(Scan::new(
                entries
                    .map(move |entry| entry.map_err(|error| engine_error(&held.0, error.into()))),
            ));
        }
        let entries = self.snapshot.range::<Bytes, _>(keyspace, bounds(range));
        Ok(scan((self.path.clone(), self.token.clone()), entries, direction))
    }
}

fn bounds(range: KeyRange) -> (Bound<Bytes>, Bound<Bytes>) {
    (Bound::Included(range.start), range.end.map_or(Bound::Unbounded, Bound::Excluded))
}

/// The token lives as long as the scan does.
fn scan(held: (Arc<Path>, Arc<()>), entries: fjall::Iter, direction: Direction) -> Scan {
    let entry = move |guard: fjall::Guard| match guard.into_inner() {
        Ok((key, value)) => Ok((key.into(), value.into())),
        Err(error) => Err(engine_error(&held.0, error)),
    };
    match direction {
        Direction::Forward => Scan::new(entries.map(entry)),
        Direction::Backward => Scan::new(entries.rev().map(entry)),
    }
}

/// Asks [`Retention`] of every entry that a compaction meets.
struct RetentionFactory {
    retention: Arc<dyn Retention>,
}

impl Factory for RetentionFactory {
    fn name(&self) -> &str {
        "retention"
    }

    fn make_filter(&self, _: &Context) -> Box<dyn CompactionFilter> {
        Box::new(RetentionFilter { retention: self.retention.clone() })
    }
}

struct RetentionFilter {
    retention: Arc<dyn Retention>,
}

impl CompactionFilter for RetentionFilter {
    fn filter_item(&mut self, item: ItemAccessor<'_>, _: &Context) -> CompactionFilterResult {
        // Remove leaves a tombstone, so that no older version comes back from a lower level.
        Ok(if self.retention.may_drop(item.key(), &item.value()?) {
            Verdict::Remove
        } else {
            Verdict::Keep
        })
    }
}

fn open_error(path: &Path, cause: fjall::Error) -> Error {
    match cause {
        fjall::Error::Locked => Error::new(
            ErrorKind::Locked,
            format!("{} is open in another process; close it there first", path.display()),
        ),
        other => engine_error(path, other),
    }
}

fn engine_error(path: &Path, cause: fjall::Error) -> Error {
    let place = path.display();
    match cause {
        fjall::Error::Io(cause) => Error::io(path, cause),
        // A file that is missing or too short is damage; anything else is the disk's.
        fjall::Error::Storage(fjall::LsmError::Io(cause))
            if !matches!(cause.kind(), IoKind::NotFound | IoKind::UnexpectedEof) =>
        {
            Error::io(path, cause)
        }
        fjall::Error::Poisoned => Error::new(
            ErrorKind::Poisoned,
            format!("{place}: a write to disk failed, so no more are taken; open it again"),
        ),
        fjall::Error::InvalidVersion(version) => Error::new(
            ErrorKind::Version,
            format!("{place}: the engine's files have version {version:?}, which is not known"),
        ),
        cause => damaged(path, &cause.to_string()).with_cause(cause),
    }
}

fn damaged(path: &Path, how: &str) -> Error {
    let place = path.join("engine");
    Error::new(
        ErrorKind::Corrupt,
        format!("{} is damaged: {how}; restore the folder from a backup", place.display()),
    )
}
