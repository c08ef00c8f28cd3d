//! The one error of this crate.

use std::borrow::Cow;
use std::fmt;
use std::path::Path;

type Cause = Box<dyn std::error::Error + Send + Sync>;

/// What went wrong with a store, and what caused it.
///
/// ```
/// use stonecrop_store::{Durability, ErrorKind, MemoryStore, Options, Store};
/// let store = MemoryStore::new(&Options::default());
/// let error = store.put(0, "", "value", Durability::Sync).unwrap_err();
/// assert_eq!(error.kind(), ErrorKind::Invalid);
/// assert_eq!(error.to_string(), "an empty key, and a key has at least one byte");
/// ```
#[derive(Debug)]
pub struct Error {
    kind: ErrorKind,
    message: Cow<'static, str>,
    cause: Option<Cause>,
}

/// The kinds of [`Error`], by what the caller can do about them.
///
/// ```
/// use stonecrop_store::{ErrorKind, MemoryStore, Options, Read, Store};
/// let store = MemoryStore::new(&Options::default());
/// store.close()?;
/// assert_eq!(store.get(0, b"a").unwrap_err().kind(), ErrorKind::Closed);
/// # Ok::<(), stonecrop_store::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The request can't be right: correct it.
    Invalid,
    /// Another process has the folder open: close it there first.
    Locked,
    /// The store was closed: open it again.
    Closed,
    /// The disk is full: make room.
    Full,
    /// The files are damaged, or are not a store's: restore them from elsewhere.
    Corrupt,
    /// The files were written by a newer version: upgrade.
    Version,
    /// A write failed, so that no further one is taken: open the store again.
    Poisoned,
    /// Reading or writing files failed.
    Io,
    /// There is no store, and none was to be made: name the place of one.
    Missing,
    /// Another process has taken the store over: this one must not go on.
    Fenced,
    /// The object store did not answer in time: try again.
    Unavailable,
    /// The object store refused: correct the credentials, the rights or the name of the bucket.
    Denied,
    /// The object store can't do what is needed of it: use another.
    Unsupported,
    /// The store is open for reading alone: write where it is open for writing.
    ReadOnly,
}

impl Error {
    /// An error of a kind, for a store of one's own.
    ///
    /// ```
    /// use stonecrop_store::{Error, ErrorKind};
    /// assert_eq!(Error::new(ErrorKind::Closed, "it is closed").kind(), ErrorKind::Closed);
    /// ```
    pub fn new(kind: ErrorKind, message: impl Into<Cow<'static, str>>) -> Self {
        Error { kind, message: message.into(), cause: None }
    }

    pub(crate) fn invalid(message: impl Into<Cow<'static, str>>) -> Self {
        Self::new(ErrorKind::Invalid, message)
    }

    pub(crate) fn closed() -> Self {
        Self::new(ErrorKind::Closed, "the store is closed")
    }

    pub(crate) fn with_cause(mut self, cause: impl Into<Cause>) -> Self {
        self.cause = Some(cause.into());
        self
    }

    /// A failed operation on a file or folder.
    pub(crate) fn io(path: &Path, cause: std::io::Error) -> Self {
        let kind = match cause.kind() {
            std::io::ErrorKind::StorageFull => ErrorKind::Full,
            _ => ErrorKind::Io,
        };
        Self::new(kind, format!("{}: {cause}", path.display())).with_cause(cause)
    }

    /// The kind of error.
    ///
    /// ```
    /// use stonecrop_store::{Batch, Durability, ErrorKind, MemoryStore, Options, Store};
    /// let store = MemoryStore::new(&Options::default());
    /// let mut batch = Batch::new();
    /// batch.delete(9, "key");
    /// let error = store.write(batch, Durability::Sync).unwrap_err();
    /// assert_eq!(error.kind(), ErrorKind::Invalid);
    /// ```
    pub fn kind(&self) -> ErrorKind {
        self.kind
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.cause.as_ref().map(|cause| &**cause as _)
    }
}

/// A `Result` with this crate's [`Error`].
///
/// ```
/// fn count(store: &dyn stonecrop_store::Store) -> stonecrop_store::Result<u64> {
///     Ok(store.stats()?.entries)
/// }
/// ```
pub type Result<T, E = Error> = std::result::Result<T, E>;
