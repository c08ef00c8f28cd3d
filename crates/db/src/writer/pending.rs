//! What is about to be committed, laid over what is stored.

use std::collections::BTreeMap;
use std::hash::BuildHasher;
use std::ops::Bound;

use bytes::Bytes;
use hashbrown::HashTable;
use hashbrown::hash_table::Entry;
use stonecrop_store::{Batch, Direction, Durability, KeyRange, Lead, Read, Result, Scan, Store};

use crate::ahead::Fetched;
use crate::catalog::CATALOG_SHARD;
use crate::writer::ahead;
use crate::writer::prepare::Prepared;

/// Puts and deletes in their order, and a view of the store as it will be after them.
///
/// Most writes are never looked at again before they are committed, so what finds them is made only
/// when somebody is about to read; see [`Pending::view`].
pub(crate) struct Pending<'s> {
    store: &'s dyn Store,
    /// Whether what was written before may be under way: it is waited for where something is read.
    is_after_begun: bool,
    batch: Batch,
    /// What the catalog must know before any of it is on disk.
    catalog: Batch,
    /// The place of the last operation on each key. A key belongs to one row, and so to one shard.
    by_key: HashTable<usize>,
    hasher: foldhash::fast::RandomState,
    in_order: BTreeMap<(u8, Bytes), Option<Bytes>>,
    /// How many of the operations are in `by_key`, and in `in_order`.
    known: usize,
    ordered: usize,
    /// About how many operations there will be.
    expected: usize,
    /// What was read before it was asked for, and of how many more writes.
    ahead: Fetched,
    covered: usize,
    /// Whether it has to be on disk when it is done, whatever the callers asked for.
    synced: bool,
}

impl<'s> Pending<'s> {
    /// With room for some puts and deletes: to make room over and over takes longer than all else.
    pub(crate) fn new(store: &'s dyn Store, operations: usize) -> Self {
        Pending {
            store,
            is_after_begun: false,
            batch: Batch::with_capacity(operations),
            catalog: Batch::new(),
            by_key: HashTable::new(),
            hasher: Default::default(),
            in_order: BTreeMap::new(),
            known: 0,
            ordered: 0,
            expected: operations,
            ahead: Fetched::default(),
            covered: 0,
            synced: false,
        }
    }

    /// What was written before may be under way: see [`Durability::Begun`].
    pub(super) fn after_begun(&mut self) {
        self.is_after_begun = true;
    }

    /// Reads what the first of these writes will need.
    pub(super) fn read_ahead<'w>(&mut self, writes: impl Iterator<Item = &'w Prepared>) {
        let (keys, covered) = ahead::needed(self.store, writes);
        self.covered = covered;
        // A single one can as well be read when it is needed. What can't be read fails those who
        // need it, when they do.
        self.ahead = match keys.len() {
            0 | 1 => Fetched::default(),
            _ => self.stored().and_then(|store| Fetched::read(store, keys)).unwrap_or_default(),
        };
    }

    /// The first of these writes is about to be applied.
    pub(super) fn begin(&mut self, writes: &[Prepared]) {
        if self.covered == 0 {
            self.read_ahead(writes.iter());
        }
        self.pass_over(1);
    }

    /// So many writes are applied, or will not be.
    pub(super) fn pass_over(&mut self, writes: usize) {
        self.covered = self.covered.saturating_sub(writes);
    }

    pub(crate) fn put(&mut self, shard: u8, key: Bytes, value: impl Into<Bytes>) {
        self.batch.put(shard, key, value);
    }

    pub(crate) fn delete(&mut self, shard: u8, key: Bytes) {
        self.batch.delete(shard, key);
    }

    /// Something that the catalog must know before any of the rest is on disk.
    pub(crate) fn put_in_catalog(&mut self, key: Bytes, value: Bytes) {
        self.catalog.put(CATALOG_SHARD, key, value);
    }

    /// Nothing of it may be seen before it is on disk.
    pub(crate) fn must_sync(&mut self) {
        self.synced = true;
    }

    pub(crate) fn is_to_be_synced(&self) -> bool {
        self.synced
    }

    /// The store, once nothing is under way.
    fn stored(&self) -> Result<&'s dyn Store> {
        if self.is_after_begun {
            self.store.ready()?;
        }
        Ok(self.store)
    }

    /// How many operations there are, to go back to with [`Pending::truncate`].
    pub(crate) fn len(&self) -> usize {
        self.batch.len()
    }

    /// Forgets the operations after the first `len`.
    pub(crate) fn truncate(&mut self, len: usize) {
        self.batch.truncate(len);
        if self.known > len {
            self.by_key.clear();
            self.known = 0;
        }
        if self.ordered > len {
            self.in_order.clear();
            self.ordered = 0;
        }
    }

    /// What an operation puts; none where it deletes.
    pub(crate) fn value_at(&self, at: usize) -> Option<&Bytes> {
        self.batch.iter_after(at).next()?.2
    }

    /// The operations after the first `len`.
    pub(crate) fn operations_since(
        &self,
        len: usize,
    ) -> impl Iterator<Item = (u8, &Bytes, Option<&Bytes>)> {
        self.batch.iter_after(len)
    }

    /// The store as it will be, for reading by key alone.
    pub(crate) fn point_view(&mut self) -> &Self {
        let Pending { batch, by_key, hasher, .. } = self;
        let hash = |at: &usize| hasher.hash_one(key_at(batch, *at));
        if by_key.is_empty() && batch.len() > self.known {
            by_key.reserve(self.expected, hash);
        }
        for at in self.known..batch.len() {
            let is_same = |other: &usize| key_at(batch, *other) == key_at(batch, at);
            match by_key.entry(hash(&at), is_same, hash) {
                Entry::Occupied(mut last) => *last.get_mut() = at,
                Entry::Vacant(none) => drop(none.insert(at)),
            }
        }
        self.known = self.batch.len();
        self
    }

    /// The store as it will be.
    pub(crate) fn view(&mut self) -> &Self {
        for (shard, key, value) in self.batch.iter_after(self.ordered) {
            self.in_order.insert((shard, key.clone()), value.cloned());
        }
        self.ordered = self.batch.len();
        self.point_view()
    }

    /// Commits all of it, and what may be on disk only once the rest is.
    pub(crate) fn commit_then(mut self, after: Batch, durability: Durability) -> Result<()> {
        let store = self.store;
        if is_at_once(store) {
            self.batch.append(after);
            return self.commit(durability);
        }
        self.commit(Durability::Sync)?;
        store.write(after, durability)?;
        // What is not durable yet is no news for others.
        if durability == Durability::Sync {
            store.announce();
        }
        Ok(())
    }

    /// Commits all of it. Where a batch is not atomic across shards, the catalog's part is on disk
    /// before the rest begins, and where several processes share the store, all have read it.
    pub(crate) fn commit(mut self, durability: Durability) -> Result<()> {
        if is_at_once(self.store) {
            self.batch.append(self.catalog);
        } else if !self.catalog.is_empty() {
            self.store.write(self.catalog, Durability::Sync)?;
            self.store.announce();
        }
        self.store.write(self.batch, durability)
    }
}

/// The key of an operation.
fn key_at(batch: &Batch, at: usize) -> &[u8] {
    batch.iter_after(at).next().map_or(&[], |(_, key, _)| key)
}

/// Whether the catalog and the rest can be written at once.
fn is_at_once(store: &dyn Store) -> bool {
    store.is_atomic_across_shards() && store.lead() == Lead::Alone
}

impl Read for Pending<'_> {
    fn get(&self, shard: u8, key: &[u8]) -> Result<Option<Bytes>> {
        debug_assert_eq!(self.known, self.batch.len(), "read through point_view()");
        let hash = self.hasher.hash_one(key);
        if let Some(at) = self.by_key.find(hash, |at| key_at(&self.batch, *at) == key) {
            return Ok(self.value_at(*at).cloned());
        }
        match self.ahead.get(key) {
            Some(value) => Ok(value),
            None => self.stored()?.get(shard, key),
        }
    }

    /// For small ranges, such as the entries of one row: they are collected.
    fn scan(&self, shard: u8, range: KeyRange, direction: Direction) -> Result<Scan> {
        debug_assert_eq!(self.ordered, self.batch.len(), "read through view()");
        let start = Bound::Included((shard, range.start.clone()));
        let end = match &range.end {
            Some(end) => Bound::Excluded((shard, end.clone())),
            None => Bound::Excluded((shard.saturating_add(1), Bytes::new())),
        };
        let mut changes = self.in_order.range((start, end)).peekable();
        if changes.peek().is_none() {
            return self.stored()?.scan(shard, range, direction);
        }
        let stored = self.stored()?.scan(shard, range, Direction::Forward)?;
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
