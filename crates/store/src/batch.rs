//! Writes that happen together.

use bytes::Bytes;

use crate::error::{Error, Result};

/// The longest key, in bytes; the shortest has one.
const MAX_KEY_BYTES: usize = 65_535;
/// The longest value, in bytes.
const MAX_VALUE_BYTES: usize = u32::MAX as usize;

/// Puts and deletes that are written together or not at all. Of several to the same key the last
/// one counts.
///
/// ```
/// use stonecrop_store::Batch;
/// let mut batch = Batch::new();
/// batch.put(0, "key", "value");
/// batch.delete(3, "other");
/// assert_eq!(batch.len(), 2);
/// ```
#[derive(Clone, Debug, Default)]
pub struct Batch {
    operations: Vec<Operation>,
}

#[derive(Clone, Debug)]
pub(crate) struct Operation {
    pub(crate) shard: u8,
    pub(crate) key: Bytes,
    /// None deletes.
    pub(crate) value: Option<Bytes>,
}

impl Operation {
    /// The bytes of the key and the value.
    pub(crate) fn size(&self) -> usize {
        self.key.len() + self.value.as_ref().map_or(0, Bytes::len)
    }
}

impl Batch {
    /// An empty batch.
    ///
    /// ```
    /// assert!(stonecrop_store::Batch::new().is_empty());
    /// ```
    pub fn new() -> Self {
        Self::default()
    }

    /// An empty batch with room for some puts and deletes.
    ///
    /// ```
    /// assert!(stonecrop_store::Batch::with_capacity(1000).is_empty());
    /// ```
    pub fn with_capacity(operations: usize) -> Self {
        Batch { operations: Vec::with_capacity(operations) }
    }

    /// Adds an entry, or replaces its value.
    ///
    /// ```
    /// let mut batch = stonecrop_store::Batch::new();
    /// batch.put(0, vec![1, 2], vec![3]);
    /// ```
    pub fn put(&mut self, shard: u8, key: impl Into<Bytes>, value: impl Into<Bytes>) {
        let (key, value) = (key.into(), Some(value.into()));
        self.operations.push(Operation { shard, key, value });
    }

    /// Deletes an entry, if it is there.
    ///
    /// ```
    /// let mut batch = stonecrop_store::Batch::new();
    /// batch.delete(0, "key");
    /// ```
    pub fn delete(&mut self, shard: u8, key: impl Into<Bytes>) {
        self.operations.push(Operation { shard, key: key.into(), value: None });
    }

    /// Adds the puts and deletes of another batch after those of this one.
    ///
    /// ```
    /// let mut batch = stonecrop_store::Batch::new();
    /// batch.append({
    ///     let mut other = stonecrop_store::Batch::new();
    ///     other.delete(0, "key");
    ///     other
    /// });
    /// assert_eq!(batch.len(), 1);
    /// ```
    pub fn append(&mut self, mut other: Batch) {
        self.operations.append(&mut other.operations);
    }

    /// Forgets all but the first `len` puts and deletes.
    ///
    /// ```
    /// let mut batch = stonecrop_store::Batch::new();
    /// batch.delete(0, "key");
    /// batch.truncate(0);
    /// assert!(batch.is_empty());
    /// ```
    pub fn truncate(&mut self, len: usize) {
        self.operations.truncate(len);
    }

    /// The shard, the key and the value of each but the first `count`, in their order; a delete has
    /// no value.
    ///
    /// ```
    /// let mut batch = stonecrop_store::Batch::new();
    /// batch.put(0, "a", "1");
    /// batch.delete(3, "b");
    /// assert_eq!(batch.iter_after(1).next(), Some((3, &"b".into(), None)));
    /// assert_eq!(batch.iter_after(3).count(), 0);
    /// ```
    pub fn iter_after(&self, count: usize) -> impl Iterator<Item = (u8, &Bytes, Option<&Bytes>)> {
        self.operations.iter().skip(count).map(|operation| {
            let Operation { shard, key, value } = operation;
            (*shard, key, value.as_ref())
        })
    }

    /// How many puts and deletes there are.
    ///
    /// ```
    /// assert_eq!(stonecrop_store::Batch::new().len(), 0);
    /// ```
    pub fn len(&self) -> usize {
        self.operations.len()
    }

    /// Whether there are none.
    ///
    /// ```
    /// assert!(stonecrop_store::Batch::new().is_empty());
    /// ```
    pub fn is_empty(&self) -> bool {
        self.operations.is_empty()
    }

    /// The operations, once each is within the limits of every engine.
    pub(crate) fn checked(self, shards: u16) -> Result<Vec<Operation>> {
        for Operation { shard, key, value } in &self.operations {
            check_shard(*shard, shards)?;
            if key.is_empty() {
                return Err(Error::invalid("an empty key, and a key has at least one byte"));
            }
            if key.len() > MAX_KEY_BYTES {
                return Err(Error::invalid(format!(
                    "a key of {} bytes, and the longest has {MAX_KEY_BYTES}",
                    key.len()
                )));
            }
            let length = value.as_ref().map_or(0, Bytes::len);
            if length > MAX_VALUE_BYTES {
                return Err(Error::invalid(format!(
                    "a value of {length} bytes, and the longest has {MAX_VALUE_BYTES}"
                )));
            }
        }
        Ok(self.operations)
    }
}

pub(crate) fn check_shard(shard: u8, shards: u16) -> Result<()> {
    if u16::from(shard) < shards {
        return Ok(());
    }
    Err(Error::invalid(format!("shard {shard}, and the store has {shards}, counted from 0")))
}
