//! fjall itself, with entries as long as ours: what a database on top of it can't beat by much.

use std::hint::black_box;
use std::ops::Bound;
use std::path::Path;

use anyhow::{Result, anyhow};
use fjall::config::{
    BlockSizePolicy, HashRatioPolicy, PartitioningPolicy, PinningPolicy, RestartIntervalPolicy,
};
use fjall::{Database, Keyspace, KeyspaceCreateOptions, PersistMode};
use stonecrop_keys::{KeyBuilder, ToKey};

use crate::db::contender::{Contender, RowWriter, Wanted};
use crate::db::data::{Data, Datum, Row, TTL_SECONDS, Tenant};

/// The flags and times before the columns of an entry.
const HEADER_BYTES: usize = 25;
const CRM: u8 = 1;
const BILLING: u8 = 2;

pub(crate) struct RawFjall<'d> {
    database: Database,
    keyspace: Keyspace,
    data: &'d Data,
    /// Encoded beforehand, a batch a tenant, so that only the engine's time counts.
    load: Vec<Vec<Entry>>,
    refresh: Vec<Vec<Entry>>,
}

type Entry = (Vec<u8>, Vec<u8>);

impl<'d> RawFjall<'d> {
    /// As `stonecrop-store` opens it.
    pub(crate) fn open(folder: &Path, data: &'d Data) -> Result<Self> {
        let database = Database::builder(folder).cache_size(256 << 20).open()?;
        let keyspace = database.keyspace("shard-000", options)?;
        let (mut load, mut refresh) = (Vec::new(), Vec::new());
        for tenant in data.tenants() {
            let (mut loaded, mut refreshed) = (Vec::new(), Vec::new());
            for row in &tenant.rows {
                loaded.push((key(CRM, tenant, Some(row))?, value(&row.crm)));
                loaded.push((key(BILLING, tenant, Some(row))?, value(&row.billing)));
                refreshed.push((key(BILLING, tenant, Some(row))?, value(&row.billing_refreshed)));
            }
            load.push(loaded);
            refresh.push(refreshed);
        }
        Ok(RawFjall { database, keyspace, data, load, refresh })
    }

    fn write(&self, batches: &[Vec<Entry>]) -> Result<()> {
        for entries in batches {
            let mut batch = self.database.batch().durability(Some(PersistMode::SyncAll));
            for (key, value) in entries {
                batch.insert(&self.keyspace, key.as_slice(), value.as_slice());
            }
            batch.commit()?;
        }
        Ok(())
    }

    /// Goes over the entries from one key on, up to another.
    fn count(&self, start: Vec<u8>, end: Vec<u8>, limit: usize) -> Result<usize> {
        let mut found = 0;
        for entry in self.keyspace.range((Bound::Included(start), Bound::Excluded(end))).take(limit)
        {
            black_box(entry.into_inner()?);
            found += 1;
        }
        Ok(found)
    }
}

impl Contender for RawFjall<'_> {
    fn load(&self) -> Result<()> {
        self.write(&self.load)
    }

    fn refresh(&self) -> Result<()> {
        self.write(&self.refresh)
    }

    fn compact(&self) -> Result<u64> {
        self.keyspace.rotate_memtable_and_wait()?;
        self.keyspace.major_compact()?;
        Ok(self.database.disk_space()? - self.database.journal_disk_space()?)
    }

    fn read(&self, rows: &[(&Tenant, &Row)], wanted: Wanted) -> Result<usize> {
        let families = match wanted {
            Wanted::OneSource => &[CRM][..],
            Wanted::BothSources => &[CRM, BILLING],
        };
        let mut found = 0;
        for (tenant, row) in rows {
            let mut last = None;
            for family in families {
                last = black_box(self.keyspace.get(key(*family, tenant, Some(row))?)?);
            }
            found += usize::from(last.is_some());
        }
        Ok(found)
    }

    /// All entries of the source that has the score, without a look into them.
    fn scan(&self, score: i64, threads: u32) -> Result<usize> {
        let edge = |part: u32| {
            let stripe = part * 256 / threads;
            let mut edge = prefix(CRM + (stripe >> 8) as u8);
            edge.push(stripe as u8);
            edge
        };
        let part = |index: u32| self.count(edge(index), edge(index + 1), usize::MAX);
        let found: usize = std::thread::scope(|scope| {
            let parts: Vec<_> =
                (0..threads).map(|index| scope.spawn(move || part(index))).collect();
            let parts = parts.into_iter().map(|part| part.join());
            parts.map(|count| count.map_err(|_| anyhow!("a scan panicked"))?).sum::<Result<_>>()
        })?;
        anyhow::ensure!(found == self.data.len(), "{found} entries of a source");
        Ok(self.data.count_below(score))
    }

    fn read_tenants(&self, rows: &[(&Tenant, &Row)], limit: usize) -> Result<usize> {
        let mut found = 0;
        for (tenant, _) in rows {
            let mut last = 0;
            for family in [CRM, BILLING] {
                let start = key(family, tenant, None)?;
                let end = [start.as_slice(), &[0xFF]].concat();
                last = self.count(start, end, limit)?;
            }
            found += last;
        }
        Ok(found)
    }

    fn writers(&self, threads: u32) -> Result<Vec<RowWriter<'_>>> {
        let writer = |_| -> RowWriter<'_> {
            Box::new(|tenant, row| {
                let mut batch = self.database.batch().durability(Some(PersistMode::SyncAll));
                let key = key(BILLING, tenant, Some(row))?;
                batch.insert(&self.keyspace, key, value(&row.billing_refreshed));
                Ok(batch.commit()?)
            })
        };
        Ok((0..threads).map(writer).collect())
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
fn prefix(family: u8) -> Vec<u8> {
    vec![0x01, 0x20, 0, 0, 0, 1, 0, family]
}

/// The key of a row's entry, or what those of a tenant begin with.
fn key(family: u8, tenant: &Tenant, row: Option<&Row>) -> Result<Vec<u8>> {
    let mut partition = Vec::with_capacity(40);
    push(&mut partition, tenant.name.as_str())?;
    let mut key = prefix(family);
    key.push(stonecrop_keys::stripe(&partition));
    key.append(&mut partition);
    if let Some(row) = row {
        push(&mut key, row.id)?;
    }
    Ok(key)
}

fn push(key: &mut Vec<u8>, value: impl ToKey) -> Result<()> {
    let mut builder = KeyBuilder::new(key);
    builder.push(value);
    builder.finish()?;
    Ok(())
}

fn value(columns: &[Datum; 5]) -> Vec<u8> {
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
        }
    }
    value
}
