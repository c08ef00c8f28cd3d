//! fjall itself, with entries as long as ours: what a database on top of it can't beat by much.

use std::hint::black_box;
use std::ops::Bound;
use std::path::Path;

use anyhow::{Result, anyhow};
use fjall::config::{
    BlockSizePolicy, HashRatioPolicy, PartitioningPolicy, PinningPolicy, RestartIntervalPolicy,
};
use fjall::{Database, Keyspace, KeyspaceCreateOptions, PersistMode};
use stonecrop_keys::ToKey;

use crate::datum::{Datum, TTL_SECONDS};

/// The cache that all databases have, which is enough for everything.
pub(crate) const CACHE_BYTES: u64 = 1 << 30;
/// The flags and times before the columns of an entry.
const HEADER_BYTES: usize = 25;

/// A key and a value.
pub(crate) type Entry = (Vec<u8>, Vec<u8>);

/// A database of fjall with one shard.
pub(crate) struct Engine {
    pub(crate) database: Database,
    pub(crate) keyspace: Keyspace,
}

impl Engine {
    /// As `stonecrop-store` opens it.
    pub(crate) fn open(folder: &Path) -> Result<Self> {
        let database = Database::builder(folder).cache_size(CACHE_BYTES).open()?;
        let keyspace = database.keyspace("shard-000", options)?;
        Ok(Engine { database, keyspace })
    }

    /// Writes a batch, and returns when it is on disk.
    pub(crate) fn write(&self, entries: &[Entry]) -> Result<()> {
        let mut batch = self.database.batch().durability(Some(PersistMode::SyncAll));
        for (key, value) in entries {
            batch.insert(&self.keyspace, key.as_slice(), value.as_slice());
        }
        Ok(batch.commit()?)
    }

    /// Brings the files into their best form, and tells their size.
    pub(crate) fn compact(&self) -> Result<u64> {
        self.keyspace.rotate_memtable_and_wait()?;
        self.keyspace.major_compact()?;
        Ok(self.database.disk_space()? - self.database.journal_disk_space()?)
    }

    /// The entries from one key on, up to another.
    pub(crate) fn entries(
        &self,
        start: Vec<u8>,
        end: Vec<u8>,
        limit: usize,
    ) -> impl Iterator<Item = Result<fjall::KvPair>> {
        let range = self.keyspace.range((Bound::Included(start), Bound::Excluded(end)));
        range.take(limit).map(|entry| Ok(entry.into_inner()?))
    }

    /// Goes over the entries from one key on, up to another.
    pub(crate) fn count(&self, start: Vec<u8>, end: Vec<u8>, limit: usize) -> Result<usize> {
        let mut found = 0;
        for entry in self.entries(start, end, limit) {
            black_box(entry?);
            found += 1;
        }
        Ok(found)
    }

    /// Goes over all entries of a family, each thread over as many stripes.
    pub(crate) fn count_family(&self, family: u8, threads: u32) -> Result<usize> {
        let edge = |part: u32| {
            let stripe = part * 256 / threads;
            let mut edge = family_prefix(family + (stripe >> 8) as u8);
            edge.push(stripe as u8);
            edge
        };
        let part = |index: u32| self.count(edge(index), edge(index + 1), usize::MAX);
        std::thread::scope(|scope| {
            let parts: Vec<_> =
                (0..threads).map(|index| scope.spawn(move || part(index))).collect();
            let parts = parts.into_iter().map(|part| part.join());
            parts.map(|count| count.map_err(|_| anyhow!("a scan panicked"))?).sum()
        })
    }
}

/// The options of `stonecrop-store`, which keeps them to itself.
fn options() -> KeyspaceCreateOptions {
    KeyspaceCreateOptions::default()
        .data_block_size_policy(BlockSizePolicy::all(16 << 10))
        .data_block_restart_interval_policy(RestartIntervalPolicy::all(8))
        .data_block_hash_ratio_policy(HashRatioPolicy::all(1.0))
        .index_block_partitioning_policy(PartitioningPolicy::all(false))
        .index_block_pinning_policy(PinningPolicy::all(true))
        .filter_block_partitioning_policy(PartitioningPolicy::all(false))
        .filter_block_pinning_policy(PinningPolicy::all(true))
}

/// What the entries of a family begin with: version, record type, table and family.
pub(crate) fn family_prefix(family: u8) -> Vec<u8> {
    vec![0x01, 0x20, 0, 0, 0, 1, 0, family]
}

/// What the entries of an index begin with.
pub(crate) fn index_prefix(index: u8) -> Vec<u8> {
    vec![0x01, 0x30, 0, 0, 0, 1, 0, index]
}

/// The place of the rows of a partition: its stripe and its key.
pub(crate) fn place(partition: &str) -> Vec<u8> {
    let mut place = vec![0];
    partition.write_to(&mut place);
    if let Some((first, rest)) = place.split_first_mut() {
        *first = stonecrop_keys::stripe(rest);
    }
    place
}

/// What is stored of a family of a row.
pub(crate) fn value(columns: &[Datum]) -> Vec<u8> {
    let mut value = vec![0; HEADER_BYTES];
    // Times that differ from entry to entry only in their last bytes, as real ones do.
    let now = 1_800_000_000_000_000_u64;
    for (index, time) in [now, now + u64::from(TTL_SECONDS) * 1_000_000].into_iter().enumerate() {
        let bytes = time.to_be_bytes();
        value.iter_mut().skip(1 + 8 * index).zip(bytes).for_each(|(to, from)| *to = from);
    }
    for (id, column) in columns.iter().enumerate() {
        value.push(id as u8 + 1);
        match column {
            Datum::Text(text) => {
                value.extend_from_slice(&[0x28, text.len() as u8]);
                value.extend_from_slice(text.as_bytes());
            }
            Datum::Int(number) => {
                value.push(0x10);
                let mut rest = (*number as u64) << 1;
                while rest > 0x7F {
                    value.push(rest as u8 | 0x80);
                    rest >>= 7;
                }
                value.push(rest as u8);
            }
            Datum::Float(number) => {
                value.push(0x18);
                value.extend_from_slice(&number.to_bits().to_be_bytes());
            }
            Datum::Time(time) => {
                value.push(0x38);
                value.extend_from_slice(&time.as_micros().to_be_bytes());
            }
        }
    }
    value
}
