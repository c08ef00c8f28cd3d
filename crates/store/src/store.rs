//! What every engine does.

use std::time::Duration;

use bytes::Bytes;

use crate::batch::Batch;
use crate::error::{Error, Result};
use crate::scan::{Direction, KeyRange, Scan};

/// When a write counts as done.
///
/// ```
/// use stonecrop_store::Durability;
/// assert_ne!(Durability::Sync, Durability::Buffered);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Durability {
    /// When it is on disk: it survives a power cut.
    Sync,
    /// When the operating system has it: it survives the end of the process, however sudden, but
    /// not a power cut, until the next [`Store::sync`]. On object storage it is in memory alone
    /// until the next upload, and ends with the process.
    Buffered,
    /// When it has begun, for many writes of which only the end matters. The next write waits for
    /// it, as do [`Store::ready`] and [`Store::sync`], and fails if it has failed; until then
    /// readers may not see it. An engine that has nothing to wait for does it at once, as
    /// `Buffered`.
    Begun,
}

/// Reading, from the store as it is now or from a snapshot of it.
///
/// ```
/// use stonecrop_store::{Batch, Durability, MemoryStore, Options, Read, Store};
/// let store = MemoryStore::new(&Options::default());
/// let before = store.snapshot()?;
/// store.put(0, "a", "1", Durability::Sync)?;
/// assert_eq!((before.get(0, b"a")?.is_some(), store.get(0, b"a")?.is_some()), (false, true));
/// # Ok::<(), stonecrop_store::Error>(())
/// ```
pub trait Read: Send + Sync {
    /// The value of a key.
    fn get(&self, shard: u8, key: &[u8]) -> Result<Option<Bytes>>;

    /// The values of many keys, in their order. All are of one moment in a snapshot; in the store
    /// itself each is of its own.
    fn multi_get(&self, keys: &[(u8, &[u8])]) -> Result<Vec<Option<Bytes>>> {
        keys.iter().map(|(shard, key)| self.get(*shard, key)).collect()
    }

    /// The entries of a range, as they are at this moment, in either direction.
    fn scan(&self, shard: u8, range: KeyRange, direction: Direction) -> Result<Scan>;

    /// The same, for who begins several scans and needs the first entries of all: where it may have
    /// to wait for another machine, it asks for them at once, and waits when they are taken.
    fn scan_ahead(&self, shard: u8, range: KeyRange, direction: Direction) -> Result<Scan> {
        self.scan(shard, range, direction)
    }

    /// The entries whose keys begin with `prefix`.
    fn scan_prefix(&self, shard: u8, prefix: &[u8], direction: Direction) -> Result<Scan> {
        self.scan(shard, KeyRange::prefix(prefix), direction)
    }
}

/// Ordered bytes, split into shards, on some engine.
///
/// ```
/// use stonecrop_store::{Durability, FjallStore, Options, Read, Store};
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path();
/// let store = FjallStore::open(path, &Options::default())?;
/// store.put(0, "a", "1", Durability::Sync)?;
/// store.close()?;
///
/// let store = FjallStore::open(path, &Options::default())?;
/// assert_eq!(store.get(0, b"a")?.as_deref(), Some(&b"1"[..]));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait Store: Read {
    /// How many shards there are: 1 to 256, fixed when the store is created.
    fn shards(&self) -> u16;

    /// Whether a batch is written as a whole or not at all over all shards, whatever happens. If
    /// not, it is so within each; a crash can leave it in some of them.
    fn is_atomic_across_shards(&self) -> bool {
        true
    }

    /// Whether a read may wait for another machine.
    fn reads_may_wait(&self) -> bool {
        false
    }

    /// Whether nothing of it outlives the process, so that no write waits for a disk.
    fn is_volatile(&self) -> bool {
        false
    }

    /// Whether it is for this process to write, where several share the store.
    fn lead(&self) -> Lead {
        Lead::Alone
    }

    /// Tells the other processes that what all of them keep in memory has changed in the store, and
    /// waits until they have read it again.
    fn announce(&self) {}

    /// Has something done whenever another process announces; it tells whether it could be done.
    fn on_announcement(&self, _reread: Box<dyn Fn() -> bool + Send + Sync>) {}

    /// Waits until what was written before has ended, one way or the other: who is about to write
    /// what depends on what is there calls this before they look.
    fn ready(&self) -> Result<()> {
        Ok(())
    }

    /// Writes all of a batch or nothing of it, whatever happens.
    fn write(&self, batch: Batch, durability: Durability) -> Result<()>;

    /// Writes one entry.
    fn put(
        &self,
        shard: u8,
        key: impl Into<Bytes>,
        value: impl Into<Bytes>,
        durability: Durability,
    ) -> Result<()>
    where
        Self: Sized,
    {
        let mut batch = Batch::new();
        batch.put(shard, key, value);
        self.write(batch, durability)
    }

    /// Deletes one entry, if it is there.
    fn delete(&self, shard: u8, key: impl Into<Bytes>, durability: Durability) -> Result<()>
    where
        Self: Sized,
    {
        let mut batch = Batch::new();
        batch.delete(shard, key);
        self.write(batch, durability)
    }

    /// The values of a few keys, in their order, all of one moment.
    fn get_together(&self, keys: &[(u8, &[u8])]) -> Result<Vec<Option<Bytes>>> {
        match keys {
            [(shard, key)] => Ok(vec![self.get(*shard, key)?]),
            _ => self.snapshot()?.multi_get(keys),
        }
    }

    /// A view of all shards at one moment, which later writes do not change.
    fn snapshot(&self) -> Result<Box<dyn Read>>;

    /// The same for those who take long to read it. On object storage the files of a snapshot are
    /// kept for some minutes only.
    fn checkpoint(&self) -> Result<Box<dyn Read>> {
        self.snapshot()
    }

    /// About how many bytes a shard takes: its files, or its entries where they are in memory.
    fn approximate_size(&self, shard: u8) -> Result<u64>;

    /// Makes every write so far survive a power cut.
    fn sync(&self) -> Result<()>;

    /// Moves what is held in memory to files.
    fn flush(&self) -> Result<()>;

    /// Merges the files of every shard into one sorted run, and drops what [`crate::Retention`]
    /// says may go.
    fn compact(&self) -> Result<()>;

    /// Figures about the store.
    fn stats(&self) -> Result<Stats>;

    /// Why nothing more can be done with the store, if that is so and was found out unasked.
    fn failure(&self) -> Option<Error> {
        None
    }

    /// How far behind its writer the store may be, if another process writes it: what was durable
    /// so long ago is seen.
    fn lag(&self) -> Option<Duration> {
        None
    }

    /// Makes all writes durable and lets go of the files. Whatever is asked afterwards is refused.
    fn close(&self) -> Result<()>;
}

/// Who decides what is written to a store.
///
/// ```
/// use stonecrop_store::{Lead, MemoryStore, Options, Store};
/// assert_eq!(MemoryStore::new(&Options::default()).lead(), Lead::Alone);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lead {
    /// This process, which has the store to itself.
    Alone,
    /// This process, for now: the number grows with every change of who leads.
    Here(u64),
    /// Another one, or nobody at the moment.
    Elsewhere,
}

/// Figures about a store. Those that an engine does not have are zero.
///
/// ```
/// use stonecrop_store::{MemoryStore, Options, Store};
/// let store = MemoryStore::new(&Options::default());
/// assert_eq!(store.stats()?.disk_bytes, 0);
/// # Ok::<(), stonecrop_store::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Stats {
    /// About how many entries there are, deleted ones not yet compacted included.
    pub entries: u64,
    /// The bytes of all files.
    pub disk_bytes: u64,
    /// Those of them that are journals.
    pub journal_bytes: u64,
    /// The bytes of writes that are held in memory.
    pub memory_bytes: u64,
    /// How many compactions have run since the store was opened.
    pub compactions: u64,
    /// What was asked of the object store since the store was opened.
    pub requests: RequestCounts,
}

/// What was asked of an object store.
///
/// ```
/// use stonecrop_store::{MemoryStore, Options, Store};
/// let store = MemoryStore::new(&Options::default());
/// assert_eq!(store.stats()?.requests.puts, 0);
/// # Ok::<(), stonecrop_store::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct RequestCounts {
    /// Objects and parts of objects that were written.
    pub puts: u64,
    /// Objects and ranges of objects that were read.
    pub gets: u64,
    /// Listings that were begun.
    pub lists: u64,
    /// Objects that were deleted.
    pub deletes: u64,
    /// Requests that failed. That an object is not there, or is there already, is an answer.
    pub errors: u64,
    /// The bytes that were written.
    pub sent_bytes: u64,
    /// The bytes that were read.
    pub received_bytes: u64,
}
