//! Ordered bytes in, ordered bytes out: one interface over several storage engines.
//!
//! A store holds entries, a key and a value each, in the order of their keys. It has no idea of
//! rows, columns or time; all it knows of their meaning is one callback, [`Retention`], that says
//! at compaction which entries may be dropped.
//!
//! A store is split into **shards**, 1 to 256 of them. Each is an ordered map of its own; a
//! [`Batch`] is atomic over all of them. Every engine behaves the same: one suite of tests,
//! `tests/it/conformance.rs`, runs on all of them.
//!
//! ```
//! use stonecrop_store::{Batch, Durability, MemoryStore, Options, Read, Store};
//!
//! let store = MemoryStore::new(&Options::default());
//! let mut batch = Batch::new();
//! batch.put(0, "a", "1");
//! batch.put(0, "b", "2");
//! store.write(batch, Durability::Sync)?;
//! assert_eq!(store.get(0, b"b")?.as_deref(), Some(&b"2"[..]));
//! # Ok::<(), stonecrop_store::Error>(())
//! ```

#![forbid(unsafe_code)]

mod batch;
mod engine;
mod error;
mod options;
mod scan;
mod store;

pub use batch::Batch;
pub use engine::fjall::FjallStore;
pub use engine::memory::MemoryStore;
#[cfg(feature = "slatedb")]
pub use engine::slatedb::{Follower, Requests, SlateCompactor, SlateShards, SlateStore};
pub use error::{Error, ErrorKind, Result};
pub use options::{ObjectOptions, Options, Prefix, Prefixes, Retention};
pub use scan::{Direction, KeyRange, Scan};
pub use store::{Durability, Lead, Read, RequestCounts, Stats, Store};
