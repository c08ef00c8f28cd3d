//! What is about to be committed, laid over what is stored.

use std::collections::BTreeMap;
use std::ops::Bound;

use bytes::Bytes;
use stonecrop_store::{Batch, Direction, KeyRange, Read, Result, Scan, Store};

/// Puts and deletes in their order, and a view of the store as it will be after them.
///
/// Most writes are never looked at again before they are committed, so the index over them is made
/// only when somebody is about to read; see [`Pending::view`].
pub(crate) struct Pending<'s> {
    store: &'s dyn Store,
    operations: Vec<(u8, Bytes, Option<Bytes>)>,
    index: BTreeMap<(u8, Bytes), Option<Bytes>>,
    indexed: usize,
}

impl<'s> Pending<'s> {
    pub(crate) fn new(store: &'s dyn Store) -> Self {
        Pending { store, operations: Vec::new(), index: BTreeMap::new(), indexed: 0 }
    }

    pub(crate) fn put(&mut self, shard: u8, key: Bytes, value: impl Into<Bytes>) {
        self.operations.push((shard, key, Some(value.into())));
    }

    pub(crate) fn delete(&mut self, shard: u8, key: Bytes) {
        self.operations.push((shard, key, None));
    }

    /// How many operations there are, to go back to with [`Pending::truncate`].
    pub(crate) fn len(&self) -> usize {
        self.operations.len()
    }

    /// Forgets the operations after the first `len`.
    pub(crate) fn truncate(&mut self, len: usize) {
        self.operations.truncate(len);
        if self.indexed > len {
            self.index.clear();
            self.indexed = 0;
        }
    }

    /// The store as it will be.
    pub(crate) fn view(&mut self) -> &Self {
        for (shard, key, value) in self.operations.iter().skip(self.indexed) {
            self.index.insert((*shard, key.clone()), value.clone());
        }
        self.indexed = self.operations.len();
        self
    }

    pub(crate) fn into_batch(self) -> Batch {
        let mut batch = Batch::new();
        for (shard, key, value) in self.operations {
            match value {
                Some(value) => batch.put(shard, key, value),
                None => batch.delete(shard, key),
            }
        }
        batch
    }
}

impl Read for Pending<'_> {
    fn get(&self, shard: u8, key: &[u8]) -> Result<Option<Bytes>> {
        debug_assert_eq!(self.indexed, self.operations.len(), "read through view()");
        if !self.index.is_empty()
            && let Some(value) = self.index.get(&(shard, Bytes::copy_from_slice(key)))
        {
            return Ok(value.clone());
        }
        self.store.get(shard, key)
    }

    /// For small ranges, such as the entries of one row: they are collected.
    fn scan(&self, shard: u8, range: KeyRange, direction: Direction) -> Result<Scan> {
        debug_assert_eq!(self.indexed, self.operations.len(), "read through view()");
        let start = Bound::Included((shard, range.start.clone()));
        let end = match &range.end {
            Some(end) => Bound::Excluded((shard, end.clone())),
            None => Bound::Excluded((shard.saturating_add(1), Bytes::new())),
        };
        let mut changes = self.index.range((start, end)).peekable();
        if changes.peek().is_none() {
            return self.store.scan(shard, range, direction);
        }
        let stored = self.store.scan(shard, range, Direction::Forward)?;
        let mut merged = stored.collect::<Result<BTreeMap<_, _>>>()?;
        for ((_, key), value) in changes {
            match value {
                Some(value) => merged.insert(key.clone(), value.clone()),
                None => merged.remove(key),
            };
        }
        Ok(match direction {
            Direction::Forward => Scan::new(merged.into_iter().map(Ok)),
            Direction::Backward => Scan::new(merged.into_iter().rev().map(Ok)),
        })
    }
}
