//! An ordered map in memory, for tests and caches. Nothing of it survives the process.

use std::fmt;
use std::ops::Bound;
use std::sync::{Arc, PoisonError, RwLock};

use bytes::Bytes;
use imbl::OrdMap;

use crate::batch::{Batch, check_shard};
use crate::error::{Error, Result};
use crate::options::{Options, Retention};
use crate::scan::{Direction, KeyRange, Scan};
use crate::store::{Durability, Read, Stats, Store};

type Map = OrdMap<Bytes, Bytes>;

/// A store in memory. Its maps share their unchanged parts, so that a snapshot is a cheap copy.
///
/// ```
/// use stonecrop_store::{Durability, MemoryStore, Options, Read, Store};
/// let store = MemoryStore::new(&Options::default());
/// store.put(0, "a", "1", Durability::Sync)?;
/// assert!(store.get(0, b"a")?.is_some());
/// # Ok::<(), stonecrop_store::Error>(())
/// ```
pub struct MemoryStore {
    /// One map a shard; none when closed.
    shards: RwLock<Option<Vec<Map>>>,
    shard_count: u16,
    retention: Arc<dyn Retention>,
}

impl MemoryStore {
    /// An empty store.
    ///
    /// ```
    /// use stonecrop_store::{MemoryStore, Options, Store};
    /// assert_eq!(MemoryStore::new(&Options::default()).shards(), 1);
    /// ```
    pub fn new(options: &Options) -> Self {
        let shard_count = options.shards.unwrap_or(1).clamp(1, 256);
        MemoryStore {
            shards: RwLock::new(Some(vec![Map::new(); usize::from(shard_count)])),
            shard_count,
            retention: options.retention.clone(),
        }
    }

    fn view(&self) -> Result<View> {
        let shards = self.shards.read().unwrap_or_else(PoisonError::into_inner);
        Ok(View { shards: shards.clone().ok_or_else(Error::closed)? })
    }

    /// Changes the maps where they are: only what a view shares with them is copied. They are taken
    /// out meanwhile, so that a panic leaves a closed store and not half a batch.
    fn change(&self, change: impl FnOnce(&mut Vec<Map>)) -> Result<()> {
        let mut shards = self.shards.write().unwrap_or_else(PoisonError::into_inner);
        let mut changed = shards.take().ok_or_else(Error::closed)?;
        change(&mut changed);
        *shards = Some(changed);
        Ok(())
    }
}

impl Read for MemoryStore {
    fn get(&self, shard: u8, key: &[u8]) -> Result<Option<Bytes>> {
        let shards = self.shards.read().unwrap_or_else(PoisonError::into_inner);
        get(shards.as_deref().ok_or_else(Error::closed)?, shard, key)
    }

    fn scan(&self, shard: u8, range: KeyRange, direction: Direction) -> Result<Scan> {
        self.view()?.scan(shard, range, direction)
    }
}

impl Store for MemoryStore {
    fn shards(&self) -> u16 {
        self.shard_count
    }

    fn is_volatile(&self) -> bool {
        true
    }

    fn write(&self, batch: Batch, _: Durability) -> Result<()> {
        let operations = batch.checked(self.shard_count)?;
        self.change(|shards| {
            for operation in operations {
                if let Some(map) = shards.get_mut(usize::from(operation.shard)) {
                    match operation.value {
                        Some(value) => drop(map.insert(operation.key, value)),
                        None => drop(map.remove(&operation.key)),
                    }
                }
            }
        })
    }

    fn snapshot(&self) -> Result<Box<dyn Read>> {
        Ok(Box::new(self.view()?))
    }

    fn approximate_size(&self, shard: u8) -> Result<u64> {
        Ok(bytes_of(self.view()?.shard(shard)?))
    }

    fn sync(&self) -> Result<()> {
        self.view().map(drop)
    }

    fn flush(&self) -> Result<()> {
        self.view().map(drop)
    }

    fn compact(&self) -> Result<()> {
        self.change(|shards| {
            for map in shards {
                let kept = map.iter().filter(|(key, value)| !self.retention.may_drop(key, value));
                *map = kept.map(|(key, value)| (key.clone(), value.clone())).collect();
            }
        })
    }

    fn stats(&self) -> Result<Stats> {
        let shards = self.view()?.shards;
        Ok(Stats {
            entries: shards.iter().map(|map| map.len() as u64).sum(),
            memory_bytes: shards.iter().map(bytes_of).sum(),
            ..Stats::default()
        })
    }

    fn close(&self) -> Result<()> {
        *self.shards.write().unwrap_or_else(PoisonError::into_inner) = None;
        Ok(())
    }
}

fn bytes_of(map: &Map) -> u64 {
    map.iter().map(|(key, value)| (key.len() + value.len()) as u64).sum()
}

impl fmt::Debug for MemoryStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MemoryStore").field("shards", &self.shard_count).finish_non_exhaustive()
    }
}

/// All shards at one moment.
struct View {
    shards: Vec<Map>,
}

impl View {
    fn shard(&self, shard: u8) -> Result<&Map> {
        map_of(&self.shards, shard)
    }
}

fn map_of(shards: &[Map], shard: u8) -> Result<&Map> {
    check_shard(shard, shards.len() as u16)?;
    shards.get(usize::from(shard)).ok_or_else(Error::closed)
}

fn get(shards: &[Map], shard: u8, key: &[u8]) -> Result<Option<Bytes>> {
    Ok(map_of(shards, shard)?.get(key).cloned())
}

impl Read for View {
    fn get(&self, shard: u8, key: &[u8]) -> Result<Option<Bytes>> {
        get(&self.shards, shard, key)
    }

    fn scan(&self, shard: u8, range: KeyRange, direction: Direction) -> Result<Scan> {
        let map = self.shard(shard)?.clone();
        Ok(Scan::new(MapScan { map, range, direction, taken: Default::default() }))
    }
}

/// How many entries a scan takes at once: to find the next one takes longer than to walk on to it.
const TAKEN: usize = 32;

/// Owns its map, and looks up the next entries from the last one's key.
struct MapScan {
    map: Map,
    /// What is left behind those that were taken.
    range: KeyRange,
    direction: Direction,
    taken: std::vec::IntoIter<(Bytes, Bytes)>,
}

impl MapScan {
    fn take_more(&mut self) {
        let start = Bound::Included(&self.range.start);
        let end = self.range.end.as_ref().map_or(Bound::Unbounded, Bound::Excluded);
        let entries = self.map.range::<_, Bytes>((start, end));
        let own = |(key, value): (&Bytes, &Bytes)| (key.clone(), value.clone());
        let taken: Vec<_> = match self.direction {
            Direction::Forward => entries.take(TAKEN).map(own).collect(),
            Direction::Backward => entries.rev().take(TAKEN).map(own).collect(),
        };
        if let Some((last, _)) = taken.last() {
            match self.direction {
                Direction::Forward => self.range.start = [last, &[0][..]].concat().into(),
                Direction::Backward => self.range.end = Some(last.clone()),
            }
        }
        self.taken = taken.into_iter();
    }
}

impl Iterator for MapScan {
    type Item = Result<(Bytes, Bytes)>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.taken.as_slice().is_empty() && !self.range.is_empty() {
            self.take_more();
        }
        self.taken.next().map(Ok)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_scan_goes_on_behind_what_it_has_taken_at_once() {
        let store = MemoryStore::new(&Options::default());
        let key = |number: usize| Bytes::from(format!("{number:03}"));
        for count in [TAKEN - 1, TAKEN, TAKEN + 1, 3 * TAKEN] {
            (0..count).for_each(|n| store.put(0, key(n), "", Durability::Buffered).unwrap());
            let scan = |direction| store.scan(0, KeyRange::all(), direction).unwrap();
            let keys = |direction| scan(direction).map(|entry| entry.unwrap().0);
            assert!(keys(Direction::Forward).eq((0..count).map(key)));
            assert!(keys(Direction::Backward).eq((0..count).rev().map(key)));
        }
        let mut scan = store.scan(0, KeyRange::new(key(1), key(70)), Direction::Forward).unwrap();
        assert_eq!(scan.next().unwrap().unwrap().0, key(1));
        store.delete(0, key(60), Durability::Buffered).unwrap();
        assert!(scan.map(|entry| entry.unwrap().0).eq((2..70).map(key)), "it is of one moment");
    }
}
