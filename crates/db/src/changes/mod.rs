//! The changes of a table, kept with the writes that caused them: what they are, how they are
//! numbered and stored, how they are read.

pub(crate) mod log;
pub(crate) mod read;
pub(crate) mod stored;

use crate::clock::Timestamp;
use crate::key::RowKey;
use crate::row::Row;

pub use log::Changed;

/// What a write did to a row: see [`crate::Table::changes`].
///
/// ```
/// use std::time::Duration;
/// use stonecrop::{Database, TableSchema, Write};
/// let schema = TableSchema::new("people", "id u64", "")?.changes(Duration::from_secs(86_400));
/// let people = Database::memory().create_table(schema)?;
/// people.write(Write::put(1).set("name", "Ann"))?;
/// let change = people.changes(None, 100)?.changes.remove(0);
/// assert_eq!(change.key, 1.into());
/// assert!(change.old.is_none());
/// assert_eq!(change.new.unwrap().value("name"), Some(&"Ann".into()));
/// # Ok::<(), stonecrop::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Change {
    /// Numbers only grow within a table, and none is used twice. They need not be consecutive.
    pub number: u64,
    /// When it was committed.
    pub at: Timestamp,
    /// The key of the row.
    pub key: RowKey<'static>,
    /// The row as it was before; none where it was not there.
    pub old: Option<Row>,
    /// The row as it was afterwards; none where it is not there any more.
    pub new: Option<Row>,
}

/// Changes in the order of their numbers, and where to go on.
///
/// ```
/// use std::time::Duration;
/// use stonecrop::{Database, TableSchema, Write};
/// let schema = TableSchema::new("people", "id u64", "")?.changes(Duration::from_secs(86_400));
/// let people = Database::memory().create_table(schema)?;
/// people.write_all((0..3).map(|id| Write::put(id).set("age", id)))?;
/// let first = people.changes(None, 2)?;
/// let second = people.changes(Some(first.next), 2)?;
/// assert_eq!((first.changes.len(), second.changes.len()), (2, 1));
/// # Ok::<(), stonecrop::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ChangePage {
    /// The changes.
    pub changes: Vec<Change>,
    /// The number to ask for the changes after.
    pub next: u64,
    /// Whether there are more already.
    pub more: bool,
}
