//! SlateDB itself, with the entries that Stonecrop makes of the same rows: the limit.

use std::hint::black_box;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use anyhow::{Context, Result, ensure};
use futures_util::future::try_join_all;
use object_store::ObjectStore;
use object_store::aws::AmazonS3Builder;
use object_store::local::LocalFileSystem;
use object_store::path::Path;
use slatedb::config::{CompressionCodec, FlushOptions, FlushType, ScanOptions, Settings};
use slatedb::db_cache::moka::{MokaCache, MokaCacheOptions};
use slatedb::{Db, WriteBatch};
use stonecrop_keys::stripe;
use tokio::runtime::Runtime;

use super::contender::{
    BATCH, CACHE_BYTES, Contender, FLUSH_INTERVAL, PAGE, Requests, name, owner,
};
use crate::timer::now;

pub(super) struct Raw {
    runtime: Runtime,
    objects: Arc<dyn ObjectStore>,
    root: Path,
    shards: Vec<Db>,
}

impl Raw {
    pub(super) fn open((path, parameters): &(String, String), shards: u16) -> Result<Self> {
        let (objects, root) = resolve(path, parameters)?;
        let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
        let mut raw = Raw { runtime, objects, root, shards: Vec::new() };
        raw.open_shards(shards)?;
        Ok(raw)
    }

    fn open_shards(&mut self, shards: u16) -> Result<()> {
        let options = MokaCacheOptions { max_capacity: CACHE_BYTES, ..MokaCacheOptions::default() };
        let cache = Arc::new(MokaCache::new_with_opts(options));
        let settings = Settings {
            flush_interval: Some(FLUSH_INTERVAL),
            compression_codec: Some(CompressionCodec::Lz4),
            ..Settings::default()
        };
        let open = |shard: u16| {
            Db::builder(self.root.clone().join(format!("raw-{shard}")), self.objects.clone())
                .with_settings(settings.clone())
                .with_db_cache(cache.clone(), u64::from(shard))
                .build()
        };
        self.shards = self.runtime.block_on(try_join_all((0..shards).map(open)))?;
        Ok(())
    }

    /// The shard of a row by its stripe, each with a run of them.
    fn shard_of(&self, row: u64) -> usize {
        let stripe = place(row).first().copied().unwrap_or(0);
        usize::from(stripe) * self.shards.len() / 256
    }

    fn shard(&self, row: u64) -> Result<&Db> {
        self.shards.get(self.shard_of(row)).context("no such shard")
    }
}

/// The object store of a location, as the crate itself opens it.
fn resolve(path: &str, parameters: &str) -> Result<(Arc<dyn ObjectStore>, Path)> {
    if let Some(folder) = path.strip_prefix("file://") {
        let store = LocalFileSystem::new_with_prefix(folder)?.with_fsync(true);
        return Ok((Arc::new(store), Path::default()));
    }
    let place = path.strip_prefix("s3://").context("name s3:// or file://")?;
    let (bucket, path) = place.split_once('/').unwrap_or((place, ""));
    let mut builder = AmazonS3Builder::from_env().with_bucket_name(bucket).with_allow_http(true);
    for (name, value) in parameters.split('&').filter_map(|pair| pair.split_once('=')) {
        if name == "endpoint" {
            builder = builder.with_endpoint(value);
        }
    }
    Ok((Arc::new(builder.with_region("us-east-1").build()?), Path::from(path)))
}

/// What all entries of the rows begin with: the only family of the first table.
const ROWS: &[u8] = b"\x01\x20\x00\x00\x00\x01\x00\x01";
/// What all entries of the index begin with, and each of its strings.
const INDEX: &[u8] = b"\x01\x30\x00\x00\x00\x01\x00\x01\x38";

/// The stripe of a row, and its key.
fn place(row: u64) -> Vec<u8> {
    let mut place = [&[0, 0x13][..], &row.to_be_bytes()].concat();
    if let Some((first, key)) = place.split_first_mut() {
        *first = stripe(key);
    }
    place
}

fn row_key(row: u64) -> Vec<u8> {
    [ROWS, &place(row)].concat()
}

fn index_prefix(owner: &str) -> Vec<u8> {
    [INDEX, owner.as_bytes(), b"\x00\x01"].concat()
}

/// The clock of a family, and its columns.
fn value(row: u64) -> Vec<u8> {
    let (name, owner) = (name(row), owner(row));
    let parts: [&[u8]; 6] = [
        &[0; 25],
        b"\x01\x28\x1e",
        name.as_bytes(),
        b"\x02\x28\x0c",
        owner.as_bytes(),
        b"\x03\x10\x00",
    ];
    parts.concat()
}

impl Contender for Raw {
    fn load(&mut self, rows: u64) -> Result<()> {
        self.runtime.block_on(async {
            for first in (0..rows).step_by(BATCH as usize) {
                let mut batches: Vec<_> = self.shards.iter().map(|_| WriteBatch::new()).collect();
                for row in first..rows.min(first + BATCH) {
                    let batch = batches.get_mut(self.shard_of(row)).context("no such shard")?;
                    batch.put_bytes(row_key(row).into(), value(row).into());
                    let index = [index_prefix(&owner(row)), place(row)].concat();
                    batch.put(index, [0; 10]);
                }
                let writes = self.shards.iter().zip(batches).map(|(db, batch)| db.write(batch));
                try_join_all(writes).await?;
            }
            try_join_all(self.shards.iter().map(Db::flush)).await?;
            Ok(())
        })
    }

    fn flush(&mut self) -> Result<()> {
        let options = FlushOptions { flush_type: FlushType::MemTable };
        let flushes = self.shards.iter().map(|db| db.flush_with_options(options.clone()));
        self.runtime.block_on(try_join_all(flushes))?;
        Ok(())
    }

    fn put(&mut self, rows: u64, clients: usize, until: Instant) -> Result<u64> {
        let next = AtomicU64::new(0);
        self.runtime.block_on(async {
            let client = || async {
                let mut done = 0;
                while now() < until {
                    let row = next.fetch_add(1, Ordering::Relaxed) % rows;
                    self.shard(row)?.put(row_key(row), value(row)).await?.await_durable().await?;
                    done += 1;
                }
                anyhow::Ok(done)
            };
            Ok(try_join_all((0..clients).map(|_| client())).await?.into_iter().sum())
        })
    }

    fn reopen(&mut self) -> Result<()> {
        let shards = self.shards.len() as u16;
        self.close()?;
        self.open_shards(shards)
    }

    fn get(&mut self, rows: &[u64]) -> Result<()> {
        self.runtime.block_on(async {
            for row in rows {
                let found = black_box(self.shard(*row)?.get(row_key(*row)).await?);
                ensure!(found.is_some(), "row {row} is missing");
            }
            Ok(())
        })
    }

    fn pages(&mut self, count: u64) -> Result<()> {
        let options = ScanOptions { cache_blocks: true, ..ScanOptions::default() };
        self.runtime.block_on(async {
            for number in 0..count {
                let prefix = index_prefix(&owner(number * PAGE));
                for db in &self.shards {
                    let mut entries = db.scan_prefix_with_options(&prefix, .., &options).await?;
                    let mut rows = Vec::new();
                    while let Some(entry) = entries.next().await? {
                        rows.push([ROWS, &entry.key.slice(prefix.len()..)].concat());
                    }
                    black_box(try_join_all(rows.iter().map(|row| db.get(row))).await?);
                }
            }
            Ok(())
        })
    }

    fn scan(&mut self) -> Result<u64> {
        let options = ScanOptions {
            cache_blocks: true,
            read_ahead_bytes: 256 << 10,
            max_fetch_tasks: 4,
            ..ScanOptions::default()
        };
        self.runtime.block_on(async {
            let mut found = 0;
            for db in &self.shards {
                let mut entries = db.scan_prefix_with_options(ROWS, .., &options).await?;
                while let Some(entry) = entries.next().await? {
                    black_box(entry);
                    found += 1;
                }
            }
            Ok(found)
        })
    }

    fn requests(&mut self) -> Result<Requests> {
        Ok(Requests::default())
    }

    fn close(&mut self) -> Result<()> {
        let shards = std::mem::take(&mut self.shards);
        self.runtime.block_on(try_join_all(shards.iter().map(Db::close)))?;
        Ok(())
    }
}
