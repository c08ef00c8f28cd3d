//! Scans over fjall's files alone, where nothing in memory has a say: an entry takes half the time
//! that it takes in fjall's own iterator, which merges and compares for whatever might come.
//!
//! Keys that share their first eight bytes are a group. Of each group it is known in which memtable
//! it was written to last; once that one is in a file, so is all of the group. What is used of fjall
//! for this it hides from its documentation, so its version is pinned. The reasons and the
//! measurements are in docs/decisions/0011-scans-of-files.md.

use std::ops::Bound;
use std::sync::atomic::{AtomicU64, Ordering};

use bytes::Bytes;
use fjall::{AbstractTree, Keyspace};
use lsm_tree::{InternalValue, SeqNo, Table};
use xxhash_rust::xxh3::xxh3_64;

use crate::scan::{Direction, KeyRange};

const GROUP_BYTES: usize = 8;
const SLOTS_OF_SHARD: usize = 256;
/// A write is under way, and which memtable takes it is not known.
const UNDER_WAY: u64 = u64::MAX;

/// In which memtable the groups of each shard were written to last.
pub(crate) struct Unflushed {
    /// The number of the memtable and one more; groups may share a slot. Zero for none.
    slots: Box<[[AtomicU64; SLOTS_OF_SHARD]]>,
}

impl Unflushed {
    /// Of shards that were just opened: what came out of the journal is in memory.
    pub(crate) fn new(shards: &[Keyspace]) -> Self {
        let slots = || std::array::from_fn(|_| AtomicU64::new(0));
        let unflushed = Unflushed { slots: shards.iter().map(|_| slots()).collect() };
        for (shard, keyspace) in (0..=u8::MAX).zip(shards) {
            let memtable = keyspace.tree.active_memtable();
            if keyspace.tree.sealed_memtable_count() > 0 {
                // Nobody lets us look into these.
                unflushed
                    .all(shard)
                    .for_each(|slot| slot.store(memtable.id() + 1, Ordering::Release));
            }
            for entry in memtable.iter() {
                if let Some(slot) = unflushed.slot(shard, &entry.key.user_key) {
                    slot.store(memtable.id() + 1, Ordering::Release);
                }
            }
        }
        unflushed
    }

    /// A key is about to be written. Writers come one at a time.
    pub(crate) fn begin<'u>(&'u self, shard: u8, key: &[u8], begun: &mut Vec<(u8, &'u AtomicU64)>) {
        if let Some(slot) = self.slot(shard, key)
            && slot.load(Ordering::Relaxed) != UNDER_WAY
        {
            slot.store(UNDER_WAY, Ordering::Release);
            begun.push((shard, slot));
        }
    }

    /// What was begun can be read.
    pub(crate) fn end(begun: Vec<(u8, &AtomicU64)>, shards: &[Keyspace]) {
        let mut known = None;
        for (shard, slot) in begun {
            let number = match known {
                Some((of, number)) if of == shard => number,
                _ => shards
                    .get(usize::from(shard))
                    .map_or(UNDER_WAY, |keyspace| youngest(keyspace) + 1),
            };
            known = Some((shard, number));
            slot.store(number, Ordering::Release);
        }
    }

    /// Whether all of a range, which lies in one group, is in files.
    fn is_flushed(&self, shard: u8, keyspace: &Keyspace, range: &KeyRange) -> bool {
        let Some((group, _)) = range.start.split_first_chunk::<GROUP_BYTES>() else { return false };
        let Some(end) = &range.end else { return false };
        if !end.starts_with(group) && KeyRange::prefix(group).end.as_ref() != Some(end) {
            return false;
        }
        let written =
            self.slot(shard, &range.start).map_or(UNDER_WAY, |slot| slot.load(Ordering::Acquire));
        written <= oldest(keyspace)
    }

    fn all(&self, shard: u8) -> impl Iterator<Item = &AtomicU64> {
        self.slots.get(usize::from(shard)).into_iter().flatten()
    }

    fn slot(&self, shard: u8, key: &[u8]) -> Option<&AtomicU64> {
        let group = key.get(..GROUP_BYTES).unwrap_or(key);
        let slots = self.slots.get(usize::from(shard))?;
        slots.get(xxh3_64(group) as usize % SLOTS_OF_SHARD)
    }
}

/// The number of the memtable that is written to. They are numbered without a gap.
fn youngest(shard: &Keyspace) -> u64 {
    shard.tree.active_memtable().id()
}

/// A number that all memtables that are not in files have, or a higher one. The youngest is asked for
/// first, so that one that is flushed in between makes this no higher than it was.
fn oldest(shard: &Keyspace) -> u64 {
    let youngest = youngest(shard);
    youngest.saturating_sub(shard.tree.sealed_memtable_count() as u64)
}

/// The list of files of a shard has a number, another one after each change.
pub(crate) fn version(shard: &Keyspace) -> u64 {
    shard.tree.current_version().id()
}

/// The entries of a range as they were at a moment, if they are all in files, and the list of files
/// is still that of then: a compaction since may have dropped what the moment still has.
pub(crate) fn scan(
    unflushed: &Unflushed,
    (shard, keyspace): (u8, &Keyspace),
    (seqno, of): (SeqNo, u64),
    range: &KeyRange,
    direction: Direction,
) -> Option<Merge> {
    if !unflushed.is_flushed(shard, keyspace, range) {
        return None;
    }
    let version = keyspace.tree.current_version();
    if version.id() != of {
        return None;
    }
    let start = Bound::Included(lsm_tree::Slice::from(range.start.clone()));
    let end = range.end.clone().map_or(Bound::Unbounded, |end| Bound::Excluded(end.into()));
    let bounds = (start, end);
    let mut sources = Vec::new();
    for run in version.iter_levels().flat_map(|level| level.iter()) {
        let Some((first, last)) = run.range_overlap_indexes::<lsm_tree::Slice, _>(&bounds) else {
            continue;
        };
        let tables = run.get(first..=last).unwrap_or_default().to_vec();
        if !tables.is_empty() {
            sources.push(Source::new(tables, bounds.clone(), direction));
        }
    }
    Some(Merge { sources, seqno, direction })
}

type Bounds = (Bound<lsm_tree::Slice>, Bound<lsm_tree::Slice>);
type Item = lsm_tree::Result<InternalValue>;

/// Files that follow each other.
struct Source {
    entries: Box<dyn Iterator<Item = Item> + Send>,
    head: Option<InternalValue>,
    is_begun: bool,
}

impl Source {
    fn new(tables: Vec<Table>, bounds: Bounds, direction: Direction) -> Self {
        let entries = tables.into_iter();
        let entries: Box<dyn Iterator<Item = Item> + Send> = match direction {
            Direction::Forward => {
                Box::new(entries.flat_map(move |table| table.range(bounds.clone())))
            }
            Direction::Backward => {
                Box::new(entries.rev().flat_map(move |table| table.range(bounds.clone()).rev()))
            }
        };
        Source { entries, head: None, is_begun: false }
    }

    fn key(&self) -> Option<&lsm_tree::Slice> {
        self.head.as_ref().map(|head| &head.key.user_key)
    }

    /// Takes the head, and puts the next entry in its place.
    fn advance(&mut self) -> lsm_tree::Result<Option<InternalValue>> {
        let next = self.entries.next().transpose()?;
        Ok(std::mem::replace(&mut self.head, next))
    }
}

/// The entries of all files that can be seen at a moment, each key once.
pub(crate) struct Merge {
    sources: Vec<Source>,
    /// Only what has a lower one can be seen.
    seqno: SeqNo,
    direction: Direction,
}

impl Merge {
    fn advance(&mut self) -> lsm_tree::Result<Option<(Bytes, Bytes)>> {
        for source in &mut self.sources {
            if !source.is_begun {
                source.is_begun = true;
                source.advance()?;
            }
        }
        loop {
            let Some(first) = self.first() else { return Ok(None) };
            let Some(mut newest) = first.advance()? else { return Ok(None) };
            if newest.key.seqno >= self.seqno {
                continue;
            }
            for source in &mut self.sources {
                while source.key() == Some(&newest.key.user_key) {
                    let Some(other) = source.advance()? else { break };
                    if other.key.seqno < self.seqno && other.key.seqno > newest.key.seqno {
                        newest = other;
                    }
                }
            }
            if !newest.key.is_tombstone() {
                return Ok(Some((newest.key.user_key.into(), newest.value.into())));
            }
        }
    }

    /// The source whose head comes first.
    fn first(&mut self) -> Option<&mut Source> {
        let direction = self.direction;
        let open = self.sources.iter_mut().filter(|source| source.head.is_some());
        open.min_by(|a, b| match direction {
            Direction::Forward => a.key().cmp(&b.key()),
            Direction::Backward => b.key().cmp(&a.key()),
        })
    }
}

impl Iterator for Merge {
    type Item = lsm_tree::Result<(Bytes, Bytes)>;

    fn next(&mut self) -> Option<Self::Item> {
        let next = self.advance().transpose();
        if matches!(next, Some(Err(_))) {
            self.sources.clear();
        }
        next
    }
}
