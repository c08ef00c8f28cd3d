//! Reading before it is asked for, many entries at once: one after the other, each would wait for an
//! answer of another machine.

use std::collections::HashMap;

use bytes::Bytes;
use stonecrop_store::{Direction, KeyRange, Read, Result, Scan};

use crate::catalog::{Place, TableState};
use crate::record::{LOOSE, entry_key};

/// So many rows are read at once, at most.
pub(crate) const ROWS_AHEAD: usize = 256;

/// Entries that were looked for, by their keys.
#[derive(Default)]
pub(crate) struct Fetched(HashMap<Bytes, Option<Bytes>, foldhash::fast::RandomState>);

impl Fetched {
    pub(crate) fn read(source: &dyn Read, keys: Vec<(u8, Bytes)>) -> Result<Self> {
        let asked: Vec<(u8, &[u8])> = keys.iter().map(|(shard, key)| (*shard, &**key)).collect();
        let found = source.multi_get(&asked)?;
        Ok(Fetched(keys.into_iter().map(|(_, key)| key).zip(found).collect()))
    }

    /// What was found under a key; the outer none is for one that was not looked for.
    pub(crate) fn get(&self, key: &[u8]) -> Option<Option<Bytes>> {
        self.0.get(key).cloned()
    }

    /// The bytes that were read.
    pub(crate) fn size(&self) -> usize {
        self.0.values().flatten().map(Bytes::len).sum()
    }
}

/// A source of which some rows were read already.
pub(crate) struct Ahead<'r> {
    source: &'r dyn Read,
    fetched: Fetched,
}

impl<'r> Ahead<'r> {
    pub(crate) fn nothing(source: &'r dyn Read) -> Self {
        Ahead { source, fetched: Fetched::default() }
    }

    /// Reads the declared ones among some families of rows; what else is asked for is read then.
    pub(crate) fn read<'p>(
        source: &'r dyn Read,
        table: &TableState,
        families: &[u16],
        places: impl Iterator<Item = &'p Place>,
    ) -> Result<Self> {
        let mut keys = Vec::new();
        for place in places {
            let families = families.iter().filter(|family| **family != LOOSE);
            let key = |family: &u16| entry_key(table.id, *family, &place.bytes, "");
            keys.extend(families.map(|family| (place.shard, key(family))));
        }
        Ok(Ahead { source, fetched: Fetched::read(source, keys)? })
    }

    /// The bytes that were read.
    pub(crate) fn size(&self) -> usize {
        self.fetched.size()
    }
}

impl Read for Ahead<'_> {
    fn get(&self, shard: u8, key: &[u8]) -> Result<Option<Bytes>> {
        match self.fetched.get(key) {
            Some(value) => Ok(value),
            None => self.source.get(shard, key),
        }
    }

    fn scan(&self, shard: u8, range: KeyRange, direction: Direction) -> Result<Scan> {
        self.source.scan(shard, range, direction)
    }

    fn scan_ahead(&self, shard: u8, range: KeyRange, direction: Direction) -> Result<Scan> {
        self.source.scan_ahead(shard, range, direction)
    }
}
