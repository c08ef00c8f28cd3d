//! Entries that were read lately: found without a look into the engine's blocks. As long as there is
//! room all are kept that are read; then those that are read again, as are keys that are not there.
//!
//! Nothing is ever taken out of here when it is written. Commits are numbered, and keys fall into
//! slots; before a commit, the slot of each of its keys takes the commit's number. An entry is kept
//! with the number that its slot had, and counts only while the slot still has it. So an entry that
//! is found has not been written since, and who reads at a moment before that number looks into the
//! engine.

use std::hash::{BuildHasherDefault, Hash, Hasher};
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU32, AtomicU64, Ordering};

use bytes::Bytes;
use quick_cache::sync::Cache;
use quick_cache::{DefaultHashBuilder, Equivalent, Weighter};

/// Of the memory for what was read, the part that is for entries.
pub(crate) const PART_OF_CACHE: u64 = 4;
const SLOTS: usize = 1 << 17;
/// Of how many keys it is remembered that they were looked for, for each that there is room for.
const MISSES_OF_ENTRY: usize = 4;
/// After how many misses it is looked at whether there is room.
const MISSES_OF_LOOK: u32 = 64;
/// There is memory for the finding of so many entries from the start, at most.
const MOST_EXPECTED: usize = 1 << 22;
/// What an entry takes beside its bytes, about.
const OVERHEAD: usize = 128;

pub(crate) struct Entries {
    kept: Cache<Key, Kept, Weight, BuildHasherDefault<Known>>,
    hasher: DefaultHashBuilder,
    /// The last commit to a key of the slot.
    written: Box<[AtomicU64]>,
    /// Marks of keys that were looked for and not found here.
    missed: Box<[AtomicU8]>,
    misses: AtomicU32,
    /// Whether there was room when it was looked at last.
    has_room: AtomicBool,
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
        let expected = expected.min(MOST_EXPECTED);
        let misses = expected.saturating_mul(MISSES_OF_ENTRY).next_power_of_two();
        Entries {
            kept: Cache::with(expected, bytes, Weight, <_>::default(), <_>::default()),
            hasher: DefaultHashBuilder::default(),
            written: (0..SLOTS).map(|_| AtomicU64::new(0)).collect(),
            missed: (0..misses).map(|_| AtomicU8::new(0)).collect(),
            misses: AtomicU32::new(0),
            has_room: AtomicBool::new(true),
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
        let hash = self.hash(shard, key);
        if let Some(value) = self.find(moment, Sought { hash, shard, key }) {
            return Ok(value);
        }
        let slot = self.slot(hash);
        let value = from_engine()?;
        // After the read: a commit that it may have seen has left its number by now.
        let written = slot.map_or(u64::MAX, |slot| slot.load(Ordering::Acquire));
        if written <= moment && (self.is_missed_again(hash) || value.is_some() && self.has_room()) {
            // A copy: the engine's value holds the whole block.
            let value = value.as_deref().map(Bytes::copy_from_slice);
            self.kept.insert(Key { hash, shard, key: key.into() }, Kept { written, value });
        }
        Ok(value)
    }

    /// What the keys had at a moment, if that is known here of each.
    pub(crate) fn get_all(
        &self,
        Moment(moment): Moment,
        keys: &[(u8, &[u8])],
    ) -> Option<Vec<Option<Bytes>>> {
        let find = |&(shard, key): &(u8, &[u8])| {
            self.find(moment, Sought { hash: self.hash(shard, key), shard, key })
        };
        keys.iter().map(find).collect()
    }

    fn find(&self, moment: u64, sought: Sought<'_>) -> Option<Option<Bytes>> {
        let Kept { written, value } = self.kept.get(&sought)?;
        let slot = self.slot(sought.hash)?.load(Ordering::Acquire);
        (written <= moment && slot == written).then_some(value)
    }

    /// A commit is about to write a key.
    pub(crate) fn write(&self, commit: u64, shard: u8, key: &[u8]) {
        if let Some(slot) = self.slot(self.hash(shard, key)) {
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

    fn hash(&self, shard: u8, key: &[u8]) -> u64 {
        self.hasher.hash_one((shard, key))
    }

    fn has_room(&self) -> bool {
        let misses = self.misses.fetch_add(1, Ordering::Relaxed);
        if misses.is_multiple_of(MISSES_OF_LOOK) {
            let is_nearly_full = self.kept.weight() > self.kept.capacity() / 8 * 7;
            self.has_room.store(!is_nearly_full, Ordering::Relaxed);
        }
        self.has_room.load(Ordering::Relaxed)
    }

    fn is_missed_again(&self, hash: u64) -> bool {
        // Other bits than those that choose the place.
        let mark = (hash >> 56) as u8;
        let missed = self.missed.get(hash as usize & (self.missed.len() - 1));
        missed.is_some_and(|missed| missed.swap(mark, Ordering::Relaxed) == mark)
    }
}

struct Key {
    hash: u64,
    shard: u8,
    key: Box<[u8]>,
}

/// A key that is looked for.
struct Sought<'k> {
    hash: u64,
    shard: u8,
    key: &'k [u8],
}

impl Hash for Key {
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u64(self.hash);
    }
}

impl Hash for Sought<'_> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u64(self.hash);
    }
}

impl Equivalent<Key> for Sought<'_> {
    fn equivalent(&self, key: &Key) -> bool {
        self.shard == key.shard && *self.key == *key.key
    }
}

impl PartialEq for Key {
    fn eq(&self, other: &Self) -> bool {
        self.shard == other.shard && self.key == other.key
    }
}

impl Eq for Key {}

/// Takes the hash of a key as it is: it is made once, and used for the slots as well.
#[derive(Default)]
struct Known(u64);

impl Hasher for Known {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write_u64(&mut self, hash: u64) {
        self.0 = hash;
    }

    fn write(&mut self, bytes: &[u8]) {
        // Keys are written by their hash alone.
        debug_assert!(bytes.is_empty(), "{bytes:?} is no hash");
    }
}

#[derive(Clone)]
struct Weight;

impl Weighter<Key, Kept> for Weight {
    fn weight(&self, key: &Key, kept: &Kept) -> u64 {
        (key.key.len() + kept.value.as_ref().map_or(0, Bytes::len) + OVERHEAD) as u64
    }
}
