//! A store that another process writes, read from the object store alone.

use std::fmt;
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use bytes::Bytes;
use futures::future::{join_all, try_join_all};
use futures::{StreamExt, TryStreamExt};
use slatedb::config::DbReaderOptions;
use slatedb::{DbReader, DbReaderMode};

use super::bucket::Bucket;
use super::objects::Requests;
use super::prefixes;
use super::view::{Entries, GETS_AT_ONCE, Place, Threads, bounds, scan_options};
use super::{ENGINE, shared_cache};
use crate::batch::{Batch, check_shard};
use crate::error::{Error, ErrorKind, Result};
use crate::options::{Options, Prefixes};
use crate::scan::{Direction, KeyRange, Scan};
use crate::store::{Durability, Lag, Read, Stats, Store};

/// A store that is followed: it shows what its writer has written, a poll later, and takes no writes.
///
/// A shard moves on as its log does, so a view of it is not of one moment: each scan is, and each
/// value of a key.
///
/// ```
/// use stonecrop_store::{Durability, ErrorKind, Follower, Options, Read, SlateStore, Store};
/// # let folder = tempfile::tempdir()?;
/// # let location = format!("file://{}?engine=slatedb", folder.path().display());
/// let mut options = Options::default();
/// options.shards = Some(1);
/// let writer = SlateStore::open(&location, &options)?;
/// writer.put(0, "a", "1", Durability::Sync)?;
///
/// let follower = Follower::open(&location, &options)?;
/// assert_eq!(follower.get(0, b"a")?.as_deref(), Some(&b"1"[..]));
/// let error = follower.put(0, "a", "2", Durability::Sync).unwrap_err();
/// assert_eq!(error.kind(), ErrorKind::ReadOnly);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Follower {
    inner: Shards,
    requests: Arc<Requests>,
    poll_interval: Duration,
    _threads: Threads,
}

#[derive(Clone)]
pub(super) struct Shards {
    pub(super) place: Place,
    /// None once it is closed.
    pub(super) readers: Arc<RwLock<Option<Arc<[DbReader]>>>>,
    pub(super) prefixes: Arc<dyn Prefixes>,
}

impl Follower {
    /// Follows the store at a location, which must be there.
    ///
    /// ```
    /// # let folder = tempfile::tempdir()?;
    /// # let location = format!("file://{}?engine=slatedb", folder.path().display());
    /// use stonecrop_store::{ErrorKind, Follower, Options};
    /// let error = Follower::open(&location, &Options::default()).unwrap_err();
    /// assert_eq!(error.kind(), ErrorKind::Missing);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn open(location: &str, options: &Options) -> Result<Self> {
        let bucket = Bucket::at(location)?;
        let (place, threads) = Place::new(bucket.name.clone(), options.objects.patience)?;
        let shards = place.wait(bucket.shards(ENGINE))??;
        let shards = shards.ok_or_else(|| bucket.missing())?;
        let cache = shared_cache(options.cache_bytes);
        let poll_interval = options.objects.poll_interval.min(Duration::from_secs(1));
        let open = |shard: u16| {
            DbReader::builder(bucket.shard(shard as u8), bucket.objects.clone())
                .with_reader_mode(DbReaderMode::FollowLatest)
                .with_options(DbReaderOptions {
                    manifest_poll_interval: poll_interval,
                    ..DbReaderOptions::default()
                })
                .with_db_cache(cache.clone(), u64::from(shard))
                .with_filter_policies(prefixes::policies(&options.prefixes))
                .build()
        };
        let readers = place.wait(try_join_all((0..shards).map(open)))?;
        let readers: Arc<[_]> = readers.map_err(|error| place.error(error))?.into();
        let readers = Arc::new(RwLock::new(Some(readers)));
        Ok(Follower {
            inner: Shards { place, readers, prefixes: options.prefixes.clone() },
            requests: bucket.requests,
            poll_interval,
            _threads: threads,
        })
    }

    fn refused<T>(&self) -> Result<T> {
        self.inner.readers()?;
        let message = format!("{} is followed, and takes no writes here", self.inner.place.name);
        Err(Error::new(ErrorKind::ReadOnly, message))
    }
}

impl Shards {
    fn readers(&self) -> Result<Arc<[DbReader]>> {
        let readers = self.readers.read().unwrap_or_else(PoisonError::into_inner);
        readers.clone().ok_or_else(Error::closed)
    }
}

/// The reader of a shard.
fn reader(readers: &[DbReader], shard: u8) -> Result<&DbReader> {
    check_shard(shard, readers.len() as u16)?;
    readers.get(usize::from(shard)).ok_or_else(Error::closed)
}

impl Read for Shards {
    fn get(&self, shard: u8, key: &[u8]) -> Result<Option<Bytes>> {
        let readers = self.readers()?;
        let reader = reader(&readers, shard)?;
        if key.is_empty() {
            return Ok(None);
        }
        self.place.wait(reader.get(key))?.map_err(|error| self.place.error(error))
    }

    fn multi_get(&self, keys: &[(u8, &[u8])]) -> Result<Vec<Option<Bytes>>> {
        let readers = self.readers()?;
        let of = keys.iter().map(|(shard, key)| Ok((reader(&readers, *shard)?, *key)));
        let of = of.collect::<Result<Vec<_>>>()?;
        let gets = of.into_iter().map(async |(reader, key)| match key {
            [] => Ok(None),
            key => reader.get(key).await,
        });
        let found = futures::stream::iter(gets).buffered(GETS_AT_ONCE).try_collect();
        self.place.wait(found)?.map_err(|error| self.place.error(error))
    }

    fn scan(&self, shard: u8, range: KeyRange, direction: Direction) -> Result<Scan> {
        let readers = self.readers()?;
        let of = reader(&readers, shard)?;
        if range.is_empty() {
            return Ok(Scan::empty());
        }
        let options = scan_options(direction);
        let entries = self.place.wait(async {
            match prefixes::filtered(&*self.prefixes, &range) {
                Some(prefix) => of.scan_prefix_with_options(prefix, .., &options).await,
                None => of.scan_with_options(bounds(range), &options).await,
            }
        })?;
        let entries = entries.map_err(|error| self.place.error(error))?;
        Ok(Scan::new(Entries::new(self.place.clone(), entries, readers.clone())))
    }
}

impl Read for Follower {
    fn get(&self, shard: u8, key: &[u8]) -> Result<Option<Bytes>> {
        self.inner.get(shard, key)
    }

    fn multi_get(&self, keys: &[(u8, &[u8])]) -> Result<Vec<Option<Bytes>>> {
        self.inner.multi_get(keys)
    }

    fn scan(&self, shard: u8, range: KeyRange, direction: Direction) -> Result<Scan> {
        self.inner.scan(shard, range, direction)
    }
}

impl Store for Follower {
    fn shards(&self) -> u16 {
        self.inner.readers().map_or(0, |readers| readers.len() as u16)
    }

    fn reads_may_wait(&self) -> bool {
        true
    }

    fn write(&self, _: Batch, _: Durability) -> Result<()> {
        self.refused()
    }

    fn snapshot(&self) -> Result<Box<dyn Read>> {
        self.inner.readers()?;
        Ok(Box::new(self.inner.clone()))
    }

    fn approximate_size(&self, shard: u8) -> Result<u64> {
        let readers = self.inner.readers()?;
        let manifest = reader(&readers, shard)?.manifest();
        Ok(manifest.all_sst_views().map(|view| view.estimate_size()).sum())
    }

    fn sync(&self) -> Result<()> {
        self.refused()
    }

    fn flush(&self) -> Result<()> {
        self.refused()
    }

    fn compact(&self) -> Result<()> {
        self.refused()
    }

    fn stats(&self) -> Result<Stats> {
        let shards = 0..=(self.shards().saturating_sub(1)) as u8;
        let sizes = shards.map(|shard| self.approximate_size(shard));
        Ok(Stats {
            disk_bytes: sizes.sum::<Result<u64>>()?,
            requests: self.requests.counts(),
            ..Stats::default()
        })
    }

    fn lag(&self) -> Option<Lag> {
        let readers = self.inner.readers().ok()?;
        let failed = readers.iter().any(|reader| reader.status().close_reason.is_some());
        Some(Lag { at_most: self.poll_interval, failed })
    }

    fn close(&self) -> Result<()> {
        let readers = self.inner.readers.write().unwrap_or_else(PoisonError::into_inner).take();
        let Some(readers) = readers else { return Ok(()) };
        let closed = self.inner.place.wait(join_all(readers.iter().map(DbReader::close)))?;
        for closed in closed {
            closed.map_err(|error| self.inner.place.error(error))?;
        }
        Ok(())
    }
}

impl fmt::Debug for Follower {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Follower").field("location", &self.inner.place.name).finish_non_exhaustive()
    }
}
