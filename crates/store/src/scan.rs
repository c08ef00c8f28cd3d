//! Ranges of keys, and the entries in them.

use std::fmt;

use bytes::Bytes;

use crate::error::Result;

/// The keys from `start` on that are below `end`.
///
/// ```
/// use stonecrop_store::KeyRange;
/// assert_eq!(KeyRange::prefix(b"a\xFF").end.as_deref(), Some(&b"b"[..]));
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct KeyRange {
    /// The first key of the range, if it is there.
    pub start: Bytes,
    /// The first key after the range; none where the range goes on to the last key.
    pub end: Option<Bytes>,
}

impl KeyRange {
    /// All keys.
    ///
    /// ```
    /// assert_eq!(stonecrop_store::KeyRange::all().end, None);
    /// ```
    pub fn all() -> Self {
        Self::default()
    }

    /// The keys from `start` on that are below `end`.
    ///
    /// ```
    /// let range = stonecrop_store::KeyRange::new("a", "c");
    /// assert_eq!(&range.start[..], b"a");
    /// ```
    pub fn new(start: impl Into<Bytes>, end: impl Into<Bytes>) -> Self {
        KeyRange { start: start.into(), end: Some(end.into()) }
    }

    /// The keys that begin with `prefix`.
    ///
    /// ```
    /// use stonecrop_store::KeyRange;
    /// assert_eq!(KeyRange::prefix(b"ab"), KeyRange::new("ab", "ac"));
    /// ```
    pub fn prefix(prefix: &[u8]) -> Self {
        let kept = prefix.iter().rposition(|byte| *byte != 0xFF).map_or(0, |last| last + 1);
        let mut end = prefix.get(..kept).unwrap_or_default().to_vec();
        let grown = end.last_mut().map(|last| *last += 1);
        KeyRange { start: Bytes::copy_from_slice(prefix), end: grown.map(|()| end.into()) }
    }

    /// Whether no key can lie in the range.
    pub(crate) fn is_empty(&self) -> bool {
        self.end.as_ref().is_some_and(|end| *end <= self.start)
    }
}

/// Which end of a range comes first.
///
/// ```
/// use stonecrop_store::{Direction, KeyRange, MemoryStore, Options, Read, Store, Durability};
/// let store = MemoryStore::new(&Options::default());
/// for key in ["a", "b", "c"] {
///     store.put(0, key, "", Durability::Buffered)?;
/// }
/// let last = store.scan(0, KeyRange::all(), Direction::Backward)?.next();
/// assert_eq!(&last.unwrap()?.0[..], b"c");
/// # Ok::<(), stonecrop_store::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Direction {
    /// Small keys first.
    #[default]
    Forward,
    /// Large keys first.
    Backward,
}

/// The entries of a range, one after the other; of the moment at which the scan began.
///
/// ```
/// use stonecrop_store::{Direction, KeyRange, MemoryStore, Options, Read};
/// let store = MemoryStore::new(&Options::default());
/// assert_eq!(store.scan(0, KeyRange::all(), Direction::Forward)?.count(), 0);
/// # Ok::<(), stonecrop_store::Error>(())
/// ```
pub struct Scan {
    entries: Box<dyn Iterator<Item = Result<(Bytes, Bytes)>> + Send>,
}

impl Scan {
    /// A scan over entries that come from elsewhere, for readers that stand in for a store.
    ///
    /// ```
    /// use stonecrop_store::Scan;
    /// assert_eq!(Scan::new([Ok(("a".into(), "1".into()))].into_iter()).count(), 1);
    /// ```
    pub fn new(entries: impl Iterator<Item = Result<(Bytes, Bytes)>> + Send + 'static) -> Self {
        Scan { entries: Box::new(entries) }
    }

    pub(crate) fn empty() -> Self {
        Scan::new(std::iter::empty())
    }
}

impl Iterator for Scan {
    type Item = Result<(Bytes, Bytes)>;

    fn next(&mut self) -> Option<Self::Item> {
        self.entries.next()
    }
}

impl fmt::Debug for Scan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Scan")
    }
}
