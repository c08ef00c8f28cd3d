//! Entries that were read more than once lately: found without a look into the engine's blocks.
//!
//! Nothing is ever taken out of here when it is written. Commits are numbered, and keys fall into
//! slots; before a commit, the slot of each of its keys takes the commit's number. An entry is kept
//! with the number that its slot had, and counts only while the slot still has it. So an entry that
//! is found has not been written since, and who reads at a moment before that number looks into the
//! engine.

use std::hash::{Hash, Hasher};
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use bytes::Bytes;
use quick_cache::sync::Cache;
use quick_cache::{DefaultHashBuilder, Equivalent, Weighter};

/// Of the memory for what was read, the part that is for entries.
pub(crate) const PART_OF_CACHE: u64 = 4;
const SLOTS: usize = 1 << 17;
/// Keys that were looked for and not found, so that only the second look keeps an entry.
const MISSES: usize = 1 << 18;
/// What an entry takes beside its bytes, about.
const OVERHEAD: usize = 128;

pub(crate) struct Entries {
    kept: Cache<Key, Kept, Weight>,
    hasher: DefaultHashBuilder,
    /// The last commit to a key of the slot.
    written: Box<[AtomicU64]>,
    missed: Box<[AtomicU32]>,
    /// Every commit up to this one can be read.
    committed: AtomicU64,
}

/// A moment to read at: everything up to a commit is visible, and nothing after the snapshot that
/// was taken then.
#[derive(Clone, Copy)]
pub(crate) struct Moment(u64);

#[derive(Clone)]
struct Kept {
    /// The number that the slot had.
    written: u64,
    /// None where the key is known not to be there.
    value: Option<Bytes>,
}

impl Entries {
    pub(crate) fn new(bytes: u64, committed: u64) -> Self {
        let expected = usize::try_from(bytes).unwrap_or(usize::MAX) / (2 * OVERHEAD);
        Entries {
            kept: Cache::with_weighter(expected, bytes, Weight),
            hasher: DefaultHashBuilder::default(),
            written: (0..SLOTS).map(|_| AtomicU64::new(0)).collect(),
            missed: (0..MISSES).map(|_| AtomicU32::new(0)).collect(),
            committed: AtomicU64::new(committed),
        }
    }

    /// This moment; to be asked for before the snapshot is taken that goes with it.
    pub(crate) fn now(&self) -> Moment {
        Moment(self.committed.load(Ordering::Acquire))
    }

    /// The value of a key, from here or from the engine.
    pub(crate) fn get<E>(
        &self,
        Moment(moment): Moment,
        shard: u8,
        key: &[u8],
        from_engine: impl FnOnce() -> Result<Option<Bytes>, E>,
    ) -> Result<Option<Bytes>, E> {
        let found = self.kept.get(&(shard, key));
        let hash = self.hasher.hash_one((shard, key));
        let slot = self.slot(hash);
        if let Some(Kept { written, value }) = found
            && written <= moment
            && slot.is_some_and(|slot| slot.load(Ordering::Acquire) == written)
        {
            return Ok(value);
        }
        let value = from_engine()?;
        // After the read: a commit that it may have seen has left its number by now.
        let written = slot.map_or(u64::MAX, |slot| slot.load(Ordering::Acquire));
        if written <= moment && self.is_missed_again(hash) {
            // A copy: the engine's value holds the whole block.
            let value = value.as_deref().map(Bytes::copy_from_slice);
            self.kept.insert(Key { shard, key: key.into() }, Kept { written, value });
        }
        Ok(value)
    }

    /// A commit is about to write a key.
    pub(crate) fn write(&self, commit: u64, shard: u8, key: &[u8]) {
        if let Some(slot) = self.slot(self.hasher.hash_one((shard, key))) {
            slot.store(commit, Ordering::Release);
        }
    }

    /// A commit can be read.
    pub(crate) fn committed(&self, commit: u64) {
        self.committed.store(commit, Ordering::Release);
    }

    /// The engine was opened again, and may not have all that it had.
    pub(crate) fn clear(&self, committed: u64) {
        self.kept.clear();
        self.committed(committed);
    }

    fn slot(&self, hash: u64) -> Option<&AtomicU64> {
        self.written.get(hash as usize % SLOTS)
    }

    fn is_missed_again(&self, hash: u64) -> bool {
        // Other bits than those that choose the place.
        let mark = (hash >> 32) as u32;
        let missed = self.missed.get(hash as usize % MISSES);
        missed.is_some_and(|missed| missed.swap(mark, Ordering::Relaxed) == mark)
    }
}

struct Key {
    shard: u8,
    key: Box<[u8]>,
}

impl Hash for Key {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (self.shard, &*self.key).hash(state);
    }
}

impl Equivalent<Key> for (u8, &[u8]) {
    fn equivalent(&self, key: &Key) -> bool {
        self.0 == key.shard && *self.1 == *key.key
    }
}

impl PartialEq for Key {
    fn eq(&self, other: &Self) -> bool {
        (other.shard, &*other.key).equivalent(self)
    }
}

impl Eq for Key {}

#[derive(Clone)]
struct Weight;

impl Weighter<Key, Kept> for Weight {
    fn weight(&self, key: &Key, kept: &Kept) -> u64 {
        (key.key.len() + kept.value.as_ref().map_or(0, Bytes::len) + OVERHEAD) as u64
    }
}
