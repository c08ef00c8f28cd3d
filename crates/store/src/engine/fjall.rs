//! fjall: log-structured trees on disk, a keyspace a shard, one journal for all of them.

use std::fmt;
use std::ops::Bound;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError, RwLock, RwLockReadGuard};

use bytes::Bytes;
use fjall::compaction::filter::{
    CompactionFilter, CompactionFilterResult, Context, Factory, ItemAccessor, Verdict,
};
use fjall::{Database, Keyspace, KeyspaceCreateOptions, PersistMode, Readable, Snapshot};

use crate::batch::{Batch, check_shard};
use crate::engine::folder::{Commits, Folder};
use crate::error::{Error, ErrorKind, Result};
use crate::options::{Options, Retention};
use crate::scan::{Direction, KeyRange, Scan};
use crate::store::{Durability, Read, Stats, Store};

const ENGINE: &str = "fjall";
/// Holds the number of the last commit, written with every batch.
const META: &str = "meta";
const LAST_COMMIT: &[u8] = b"last commit";

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
    path: PathBuf,
    shard_count: u16,
    /// None when closed.
    engine: RwLock<Option<Engine>>,
    /// Held over a commit and the record of it, so that both happen in one order.
    writer: Mutex<Writer>,
}

struct Writer {
    /// The number of the last commit.
    committed: u64,
    /// The number of the last one that is known to be on disk.
    synced: Commits,
}

struct Engine {
    database: Database,
    shards: Arc<[Keyspace]>,
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
        let path = path.as_ref();
        let folder = Folder::open(path, ENGINE, options.shards)?;
        // fjall asserts some of what it reads from a journal, so a damaged one can be a panic.
        let engine = catch_unwind(AssertUnwindSafe(|| Engine::open(&folder, options)))
            .map_err(|_| damaged(path, "its journal can't be read"))?
            .map_err(|error| open_error(path, error))?;
        let synced = folder.commits()?;
        let committed = engine.last_commit(path, synced.last())?;
        Ok(FjallStore {
            path: path.to_owned(),
            shard_count: folder.shards,
            engine: RwLock::new(Some(engine)),
            writer: Mutex::new(Writer { committed, synced }),
        })
    }

    /// The engine, for as long as the guard lives; closing waits for it.
    fn engine(&self) -> Result<EngineGuard<'_>> {
        let guard = self.engine.read().unwrap_or_else(PoisonError::into_inner);
        if guard.is_none() {
            return Err(Error::closed());
        }
        Ok(EngineGuard(guard))
    }

    fn view(&self) -> Result<View> {
        let guard = self.engine()?;
        let engine = guard.get()?;
        Ok(View {
            path: self.path.clone(),
            snapshot: engine.database.snapshot(),
            shards: engine.shards.clone(),
        })
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
    fn open(folder: &Folder, options: &Options) -> fjall::Result<Self> {
        let retention = options.retention.clone();
        let factory: Arc<dyn Factory> = Arc::new(RetentionFactory { retention });
        let database = Database::builder(folder.engine())
            .cache_size(options.cache_bytes)
            .with_compaction_filter_factories(Arc::new(move |keyspace| {
                (keyspace != META).then(|| factory.clone())
            }))
            .open()?;
        let keyspace = |name: &str| database.keyspace(name, KeyspaceCreateOptions::default);
        let shards = (0..folder.shards).map(|shard| keyspace(&format!("shard-{shard:03}")));
        let shards = shards.collect::<fjall::Result<_>>()?;
        let meta = keyspace(META)?;
        Ok(Engine { database, shards, meta })
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

impl Read for FjallStore {
    fn get(&self, shard: u8, key: &[u8]) -> Result<Option<Bytes>> {
        let engine = self.engine()?;
        let value = engine.shard(shard)?.get(key).map_err(|error| self.error(error))?;
        Ok(value.map(Bytes::from))
    }

    fn scan(&self, shard: u8, range: KeyRange, direction: Direction) -> Result<Scan> {
        // A keyspace's own iterator sees writes that come after it; a snapshot's does not.
        self.view()?.scan(shard, range, direction)
    }
}

impl Store for FjallStore {
    fn shards(&self) -> u16 {
        self.shard_count
    }

    fn write(&self, batch: Batch, durability: Durability) -> Result<()> {
        let operations = batch.checked(self.shard_count)?;
        if operations.is_empty() {
            return Ok(());
        }
        let guard = self.engine()?;
        let engine = guard.get()?;
        let mode = match durability {
            Durability::Sync => PersistMode::SyncAll,
            Durability::Buffered => PersistMode::Buffer,
        };
        let mut writer = self.writer.lock().unwrap_or_else(PoisonError::into_inner);
        let mut batch = engine.database.batch().durability(Some(mode));
        for operation in operations {
            let shard = guard.shard(operation.shard)?;
            match operation.value {
                Some(value) => batch.insert(shard, operation.key, value),
                None => batch.remove(shard, operation.key),
            }
        }
        let number = writer.committed + 1;
        batch.insert(&engine.meta, LAST_COMMIT, number.to_be_bytes());
        batch.commit().map_err(|error| self.error(error))?;
        writer.committed = number;
        match durability {
            Durability::Sync => writer.synced.record(number),
            Durability::Buffered => Ok(()),
        }
    }

    fn snapshot(&self) -> Result<Box<dyn Read>> {
        Ok(Box::new(self.view()?))
    }

    fn sync(&self) -> Result<()> {
        let guard = self.engine()?;
        let engine = guard.get()?;
        let mut writer = self.writer.lock().unwrap_or_else(PoisonError::into_inner);
        engine.database.persist(PersistMode::SyncAll).map_err(|error| self.error(error))?;
        let committed = writer.committed;
        writer.synced.record(committed)
    }

    fn flush(&self) -> Result<()> {
        let guard = self.engine()?;
        for shard in guard.get()?.shards.iter() {
            shard.rotate_memtable_and_wait().map_err(|error| self.error(error))?;
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
        })
    }

    fn close(&self) -> Result<()> {
        if self.engine.read().unwrap_or_else(PoisonError::into_inner).is_none() {
            return Ok(());
        }
        let synced = self.sync();
        drop(self.engine.write().unwrap_or_else(PoisonError::into_inner).take());
        synced
    }
}

impl fmt::Debug for FjallStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FjallStore").field("path", &self.path).finish_non_exhaustive()
    }
}

/// All shards at one moment.
struct View {
    path: PathBuf,
    snapshot: Snapshot,
    shards: Arc<[Keyspace]>,
}

impl Read for View {
    fn get(&self, shard: u8, key: &[u8]) -> Result<Option<Bytes>> {
        let value = self.snapshot.get(shard_of(&self.shards, shard)?, key);
        Ok(value.map_err(|error| engine_error(&self.path, error))?.map(Bytes::from))
    }

    fn scan(&self, shard: u8, range: KeyRange, direction: Direction) -> Result<Scan> {
        let keyspace = shard_of(&self.shards, shard)?;
        if range.is_empty() {
            return Ok(Scan::empty());
        }
        let entries = self.snapshot.range::<Bytes, _>(keyspace, bounds(range));
        Ok(scan(self.path.clone(), entries, direction))
    }
}

fn bounds(range: KeyRange) -> (Bound<Bytes>, Bound<Bytes>) {
    (Bound::Included(range.start), range.end.map_or(Bound::Unbounded, Bound::Excluded))
}

fn scan(path: PathBuf, entries: fjall::Iter, direction: Direction) -> Scan {
    let entry = move |guard: fjall::Guard| match guard.into_inner() {
        Ok((key, value)) => Ok((key.into(), value.into())),
        Err(error) => Err(engine_error(&path, error)),
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
