//! How a store is opened.

use std::fmt;
use std::panic::RefUnwindSafe;
use std::sync::Arc;

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

/// How a store is opened.
///
/// ```
/// let options = stonecrop_store::Options::default();
/// assert_eq!(options.shards, 1);
/// ```
#[derive(Clone)]
#[non_exhaustive]
pub struct Options {
    /// The shards of a store that is created, 1 to 256; one that exists keeps its own.
    pub shards: u16,
    /// What may be dropped at compaction; nothing by default.
    pub retention: Arc<dyn Retention>,
    /// The memory for what was read from files.
    pub cache_bytes: u64,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            shards: 1,
            retention: Arc::new(|_: &[u8], _: &[u8]| false),
            cache_bytes: 64 << 20,
        }
    }
}

impl fmt::Debug for Options {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Options").field("shards", &self.shards).finish_non_exhaustive()
    }
}
