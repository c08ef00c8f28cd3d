//! The one error of this crate.

use std::fmt;
use std::sync::Arc;

use crate::value::ColumnType;

/// What went wrong: a variant for each cause.
///
/// ```
/// use stonecrop::{Database, Error};
/// let db = Database::memory();
/// let error = db.table("people").unwrap_err();
/// assert!(matches!(&error, Error::NoTable { table } if table == "people"));
/// assert_eq!(error.to_string(), "there is no table \"people\"");
/// ```
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// No table has this name, or it was dropped since.
    #[error("there is no table {table:?}")]
    NoTable {
        /// The name that was asked for.
        table: String,
    },
    /// A table of this name is there already.
    #[error("there is a table {table:?} already")]
    TableExists {
        /// The name.
        table: String,
    },
    /// A table can't be declared or altered like this.
    #[error("table {table:?}: {problem}")]
    Schema {
        /// The table.
        table: String,
        /// What is wrong, and where.
        problem: String,
    },
    /// A row's key does not fit the table's.
    #[error("the key of a row of {table:?}: {cause}")]
    Key {
        /// The table.
        table: String,
        /// What is wrong with which field.
        #[source]
        cause: stonecrop_keys::Error,
    },
    /// A name of a column that can't be one.
    #[error("column {column:?}: {problem}")]
    Column {
        /// The column.
        column: String,
        /// What is wrong.
        problem: String,
    },
    /// A value of another type than its column was declared with.
    #[error("column {column:?} holds {expected}, and the value is {found}")]
    ColumnType {
        /// The column.
        column: String,
        /// What it was declared with.
        expected: ColumnType,
        /// The type of the value.
        found: ColumnType,
    },
    /// A value that can't be stored, or that a function can't be applied to.
    #[error("column {column:?}: {problem}")]
    Value {
        /// The column.
        column: String,
        /// What is wrong.
        problem: String,
    },
    /// Something is larger than it may be.
    #[error("{what} has {size} bytes, and the most is {limit}")]
    TooLarge {
        /// What it is.
        what: String,
        /// Its size in bytes.
        size: u64,
        /// The limit in bytes.
        limit: u64,
    },
    /// The condition of a write was not true of the row. Nothing of the batch was written.
    #[error("the condition of write {write} is not true of the row; nothing was written")]
    ConditionFailed {
        /// Which write of the batch, counted from 0.
        write: usize,
    },
    /// A function that decides on a write ([`crate::Write::decide`]) wants none of the batch.
    #[error("the write was refused: {reason}")]
    Refused {
        /// Why.
        reason: String,
    },
    /// One of the writes of a batch is wrong. Nothing of the batch was written.
    #[error("write {write}: {cause}; nothing was written")]
    Write {
        /// Which write of the batch, counted from 0.
        write: usize,
        /// What is wrong with it.
        #[source]
        cause: Box<Error>,
    },
    /// An index that can't be made like this.
    #[error("index {index:?}: {problem}")]
    Index {
        /// The index.
        index: String,
        /// What is wrong.
        problem: String,
    },
    /// Another row has the same values in a unique index. Nothing of the batch was written.
    #[error(
        "write {write}: another row has the same values in the unique index {index:?}; nothing was written"
    )]
    NotUnique {
        /// The index.
        index: String,
        /// Which write of the batch, counted from 0.
        write: usize,
    },
    /// The changes of a table that keeps none.
    #[error(
        "table {table:?} keeps no changes; switch them on to see those that are made from then on"
    )]
    NoChanges {
        /// The table.
        table: String,
    },
    /// Changes that are not there any more.
    #[error(
        "the changes of table {table:?} after {} are not all there: they were kept for too short a time, \
         not kept at all for a while, or the table was emptied or made anew; begin again with its rows",
        after.unwrap_or_default()
    )]
    ChangesLost {
        /// The table.
        table: String,
        /// The number that they were asked for after.
        after: Option<u64>,
    },
    /// Text that is no path to a column or into one.
    #[error("{path:?} is no path: {problem}")]
    Path {
        /// The text.
        path: String,
        /// What is wrong.
        problem: &'static str,
    },
    /// Text that is no time.
    #[error("{text:?} is no time: {problem}")]
    Time {
        /// The text.
        text: String,
        /// What is wrong.
        problem: String,
    },
    /// A scan that can't be done.
    #[error("scan: {problem}")]
    Scan {
        /// What is wrong.
        problem: String,
    },
    /// A query that can't be answered.
    #[error("query: {problem}")]
    Query {
        /// What is wrong, and what to do.
        problem: String,
    },
    /// A query that gave up.
    #[error("the query was given up: {problem}")]
    Interrupted {
        /// Why.
        problem: &'static str,
    },
    /// A cursor that was changed, or belongs to another table.
    #[error("the cursor can't be used: {problem}; begin again without one")]
    Cursor {
        /// What is wrong.
        problem: &'static str,
    },
    /// A transaction of rows that are stored apart.
    #[error(
        "the transaction spans shards: write {write} is in another one than those before it, and on \
         this storage a transaction is within one; give the rows the same partition key, or write \
         them one by one; nothing was written"
    )]
    SpansShards {
        /// The first write that is in another shard, counted from 0.
        write: usize,
    },
    /// A load ([`crate::Table::load`]) that was not carried out to its end.
    #[error("the load ended after {written} writes: {cause}")]
    Load {
        /// How many writes were done.
        written: u64,
        /// What was wrong with those that came next, which it counts from 0.
        #[source]
        cause: Box<Error>,
    },
    /// Too many writes are waiting already.
    #[error("too many writes are waiting; try again in a moment")]
    Busy,
    /// The table was altered while a batch was on its way.
    #[error("the table was altered meanwhile, and nothing was written; try again")]
    Altered,
    /// The database was closed.
    #[error("the database is closed")]
    Closed,
    /// A location that names no engine.
    #[error("{location:?} is no place for a database: {problem}")]
    Location {
        /// The location.
        location: String,
        /// What is wrong.
        problem: String,
    },
    /// What is stored does not make sense.
    #[error("damaged data in {place}: {problem}")]
    Corrupt {
        /// Where.
        place: String,
        /// What is wrong.
        problem: String,
    },
    /// The files or the engine failed; see [`stonecrop_store::Error::kind`] for what to do.
    #[error("{0}")]
    Store(#[source] stonecrop_store::Error),
    /// The write was one of several that were committed together, and the commit failed.
    #[error("the commit failed: {0}")]
    Commit(#[source] Arc<stonecrop_store::Error>),
}

impl Error {
    pub(crate) fn corrupt(place: impl fmt::Display, problem: impl Into<String>) -> Self {
        Error::Corrupt { place: place.to_string(), problem: problem.into() }
    }

    /// Says which write of a batch it is about, if it is about one.
    pub(crate) fn in_write(self, write: usize) -> Self {
        match self {
            Error::Key { .. }
            | Error::Column { .. }
            | Error::ColumnType { .. }
            | Error::Value { .. }
            | Error::TooLarge { .. }
            | Error::Index { .. }
            | Error::Refused { .. }
            | Error::Query { .. } => Error::Write { write, cause: Box::new(self) },
            other => other,
        }
    }

    /// For each of the callers whose writes were committed together.
    pub(crate) fn commit(cause: &Arc<stonecrop_store::Error>) -> Self {
        match cause.kind() {
            stonecrop_store::ErrorKind::Closed => Error::Closed,
            _ => Error::Commit(cause.clone()),
        }
    }

    /// The same as an error of the store, for all whose writes wait for it.
    pub(crate) fn into_store(self) -> stonecrop_store::Error {
        use stonecrop_store::ErrorKind;
        match self {
            Error::Store(error) => error,
            Error::Closed => stonecrop_store::Error::new(ErrorKind::Closed, "it is closed"),
            error => stonecrop_store::Error::new(ErrorKind::Corrupt, error.to_string()),
        }
    }

    pub(crate) fn value(column: &str, problem: impl Into<String>) -> Self {
        Error::Value { column: column.to_owned(), problem: problem.into() }
    }
}

impl From<stonecrop_store::Error> for Error {
    fn from(error: stonecrop_store::Error) -> Self {
        match error.kind() {
            stonecrop_store::ErrorKind::Closed => Error::Closed,
            _ => Error::Store(error),
        }
    }
}

/// A `Result` with this crate's [`Error`].
///
/// ```
/// fn names(db: &stonecrop::Database) -> stonecrop::Result<Vec<String>> {
///     Ok(db.tables())
/// }
/// ```
pub type Result<T, E = Error> = std::result::Result<T, E>;
