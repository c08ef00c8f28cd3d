//! An embedded wide-column database with typed, ordered keys and a freshness clock on every group
//! of columns.
//!
//! It is made to be the fast local copy of slow upstream systems: rows arrive in batches, each
//! **family** of columns ages at its own pace, and whoever asks for a row is told which of its
//! values are still fresh.
//!
//! ```
//! use std::time::Duration;
//! use stonecrop::{Database, Family, Scan, TableSchema, Write};
//!
//! let db = Database::memory(); // or Database::open("./data")?
//! let people = db.create_table(
//!     TableSchema::new("people", "company string", "id u64")?
//!         .family(Family::new("crm").column("name").column("email").ttl(Duration::from_secs(600)))
//!         .family(Family::new("billing").column("plan").ttl(Duration::from_secs(86_400))),
//! )?;
//!
//! people.write(Write::put(("acme", 7)).set("name", "Ann").set("plan", "pro"))?;
//!
//! for row in people.scan(Scan::partition("acme").columns(["name", "plan"]))? {
//!     for (name, cell) in row?.columns() {
//!         println!("{name}: {:?}{}", cell.value, if cell.fresh { "" } else { " (stale)" });
//!     }
//! }
//! # Ok::<(), stonecrop::Error>(())
//! ```
//!
//! # What it promises
//!
//! - A write that was acknowledged with [`Durability::Sync`] survives the end of the process and a
//!   power cut. A batch is there as a whole or not at all, for every reader, at every moment.
//! - The newest write wins, by its `written_at`; a late one does not undo it, and says so.
//! - What a reader sees depends on the time of the read alone, never on whether compaction ran.

//!
//! # Speed
//!
//! Writing and reading rows allocates. On Linux a program that does a lot of it is up to twice as
//! fast with another allocator than the C library's: `mimalloc`, as in our benchmarks, is one line.

#![forbid(unsafe_code)]

mod ahead;
mod anatomy;
mod catalog;
mod changes;
mod clock;
#[cfg(feature = "slatedb")]
mod compactor;
mod condition;
mod copy;
mod cursor;
mod database;
mod entry;
mod error;
mod index;
mod key;
mod load;
mod met;
#[cfg(feature = "openapi")]
mod openapi;
mod path;
mod prefixes;
mod query;
mod read;
mod record;
mod retention;
mod row;
mod scan;
mod schema;
mod scratch;
mod table;
mod value;
mod walk;
mod write;
mod writer;

pub use stonecrop_keys as keys;
pub use stonecrop_store as store;
pub use stonecrop_store::{ErrorKind as StoreErrorKind, Lead, RequestCounts, Stats};

pub use anatomy::{Anatomy, StoredFamily, StoredIndexEntry, StoredKey, StoredKeyPart};
pub use changes::{Change, ChangePage, Changed};
pub use clock::{Clock, ManualClock, SystemClock, Timestamp};
#[cfg(feature = "slatedb")]
pub use compactor::Compactor;
pub use condition::{Comparison, Condition};
pub use copy::Copied;
pub use database::{Database, Options};
pub use error::{Error, Result};
pub use index::check::{Disagreement, Report};
pub use index::{Index, IndexProgress};
pub use key::RowKey;
pub use path::{Path, Step};
pub use query::{
    Cancel, ExplainedPart, Explanation, Facets, Freshness, FreshnessFilter, Page, Query, Request,
    Response, ResponseCell, ResponseClock, ResponseRow, Sort, SortDirection, SortNulls, Summary,
};
pub use row::{Cell, Row, Version};
pub use scan::{Rows, Scan};
pub use schema::{Family, History, Placement, TableSchema};
pub use table::Table;
pub use value::{ColumnType, Value};
pub use write::{Decision, Write};
pub use writer::{Commit, Durability, Outcome, Receipt, Submitted, WriterStats};

// The Rust code of the README is tested with the examples.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct Readme;
