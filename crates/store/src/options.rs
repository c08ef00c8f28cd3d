//! How a store is opened.

use std::fmt;
use std::panic::RefUnwindSafe;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

/// Says of an entry, at compaction, whether it may be dropped.
///
/// It is asked at any time, any number of times, from any thread, and can be asked of a version
/// that a newer one has replaced already; dropping one never brings an older one back. An entry that
/// may be dropped must already be invisible to every reader, because whether and when it goes is up
/// to the engine.
///
/// ```
/// use stonecrop_store::{Durability, MemoryStore, Options, Read, Store};
/// let mut options = Options::default();
/// options.retention = std::sync::Arc::new(|key: &[u8], _: &[u8]| key.starts_with(b"old"));
/// let store = MemoryStore::new(&options);
/// store.put(0, "old", "", Durability::Sync)?;
/// store.put(0, "new", "", Durability::Sync)?;
/// store.compact()?;
/// assert_eq!((store.get(0, b"old")?, store.get(0, b"new")?.is_some()), (None, true));
/// # Ok::<(), stonecrop_store::Error>(())
/// ```
pub trait Retention: Send + Sync + RefUnwindSafe {
    /// Whether the entry may be dropped.
    fn may_drop(&self, key: &[u8], value: &[u8]) -> bool;
}

impl<F: Fn(&[u8], &[u8]) -> bool + Send + Sync + RefUnwindSafe> Retention for F {
    fn may_drop(&self, key: &[u8], value: &[u8]) -> bool {
        self(key, value)
    }
}

/// Says by which first bytes of their keys entries are looked for together, so that an engine can
/// tell which files have none of them.
///
/// What it says of a key, once it can, it must say forever, in every process: files that were written
/// long ago are skipped because of it. What it says of a key that has the whole prefix is so for
/// every longer one.
///
/// ```
/// use stonecrop_store::{Prefix, Prefixes};
/// let of = |key: &[u8]| match key.iter().position(|byte| *byte == b'/') {
///     Some(end) => Prefix::First(end + 1),
///     None => Prefix::None,
/// };
/// assert_eq!((of.of(b"ann/age"), of.of(b"ann")), (Prefix::First(4), Prefix::None));
/// ```
pub trait Prefixes: Send + Sync + RefUnwindSafe {
    /// What prefix a key has.
    fn of(&self, key: &[u8]) -> Prefix;
}

impl<F: Fn(&[u8]) -> Prefix + Send + Sync + RefUnwindSafe> Prefixes for F {
    fn of(&self, key: &[u8]) -> Prefix {
        self(key)
    }
}

/// What is known of a key's prefix: see [`Prefixes`].
///
/// ```
/// assert_ne!(stonecrop_store::Prefix::None, stonecrop_store::Prefix::Unknown);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Prefix {
    /// It has none, or not all of it.
    None,
    /// It has one of so many bytes.
    First(usize),
    /// It may have one, which can't be told now.
    Unknown,
}

/// How a store is opened.
///
/// ```
/// let options = stonecrop_store::Options::default();
/// assert_eq!(options.shards, None);
/// ```
#[derive(Clone)]
#[non_exhaustive]
pub struct Options {
    /// The shards of a store that is created, 1 to 256; one that exists keeps its own. Without, it
    /// is 1, and 16 on object storage.
    pub shards: Option<u16>,
    /// What may be dropped at compaction; nothing by default.
    pub retention: Arc<dyn Retention>,
    /// By which first bytes of their keys entries are looked for together; not known by
    /// default.
    pub prefixes: Arc<dyn Prefixes>,
    /// The memory for what was read from files.
    pub cache_bytes: u64,
    /// What concerns object storage alone.
    pub objects: ObjectOptions,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            shards: None,
            retention: Arc::new(|_: &[u8], _: &[u8]| false),
            prefixes: Arc::new(|_: &[u8]| Prefix::Unknown),
            cache_bytes: 64 << 20,
            objects: ObjectOptions::default(),
        }
    }
}

impl fmt::Debug for Options {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Options").field("shards", &self.shards).finish_non_exhaustive()
    }
}

/// How a store on object storage is opened.
///
/// ```
/// let options = stonecrop_store::ObjectOptions::default();
/// assert_eq!(options.flush_interval.as_millis(), 100);
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ObjectOptions {
    /// Whether a store is made where there is none.
    pub create: bool,
    /// How often the log is uploaded for synced writes, at most: one that comes sooner after another
    /// waits, but for no more than half of the patience, and each upload of each shard is a request
    /// that costs. What nobody waits for is uploaded as often, but not more than every 100 ms
    /// unless it is a MiB.
    pub flush_interval: Duration,
    /// How long a read or a write waits for the object store.
    pub patience: Duration,
    /// How often it is looked for files to compact, and for a new owner at least once a second.
    pub poll_interval: Duration,
    /// Whether this process compacts, and removes files that nobody needs any more. If not, it only
    /// plans that, and another does it: `SlateCompactor`.
    pub compacts: bool,
    /// A folder that keeps what was read from the object store.
    pub cache_folder: Option<PathBuf>,
    /// How large it may become.
    pub cache_folder_bytes: u64,
}

impl Default for ObjectOptions {
    fn default() -> Self {
        ObjectOptions {
            create: true,
            flush_interval: Duration::from_millis(100),
            patience: Duration::from_secs(25),
            poll_interval: Duration::from_secs(5),
            compacts: true,
            cache_folder: None,
            cache_folder_bytes: 16 << 30,
        }
    }
}
