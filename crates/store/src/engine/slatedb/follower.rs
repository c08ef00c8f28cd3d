//! A store that another process writes, read from the object store alone.

use std::fmt;
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use bytes::Bytes;
use futures::future::{join_all, try_join_all};
use object_store::ObjectStore;
use slatedb::config::DbReaderOptions;
use slatedb::{DbReader, DbReaderMode};

use super::bucket::Bucket;
use super::looks::{FollowedLog, Looks};
use super::objects::Requests;
use super::prefixes;
use super::view::{Place, Shards, Threads};
use super::{ENGINE, shared_cache};
use crate::batch::Batch;
use crate::error::{Error, ErrorKind, Result};
use crate::options::Options;
use crate::scan::{Direction, KeyRange, Scan};
use crate::store::{Durability, Read, Stats, Store};

/// How long after an attempt that failed a shard is opened again, for as long as the patience goes.
const OPENED_AGAIN_AFTER: Duration = Duration::from_millis(200);

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
    place: Place,
    /// None once it is closed.
    shards: RwLock<Option<Shards<DbReader>>>,
    /// Of each shard.
    looks: Box<[Arc<Looks>]>,
    requests: Arc<Requests>,
    _threads: Threads,
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
        Self::in_bucket(Bucket::at(location)?, options)
    }

    /// Follows the store in an object store that the caller has, under `name` in messages.
    ///
    /// ```
    /// use std::sync::Arc;
    /// use stonecrop_store::{Follower, Options, SlateStore, Store};
    /// let objects = Arc::new(object_store::memory::InMemory::new());
    /// let writer = SlateStore::open_in(objects.clone(), "test", &Options::default())?;
    /// let follower = Follower::open_in(objects, "test", &Options::default())?;
    /// assert_eq!(follower.shards(), writer.shards());
    /// # Ok::<(), stonecrop_store::Error>(())
    /// ```
    pub fn open_in(objects: Arc<dyn ObjectStore>, name: &str, options: &Options) -> Result<Self> {
        Self::in_bucket(Bucket::of(objects, name), options)
    }

    fn in_bucket(bucket: Bucket, options: &Options) -> Result<Self> {
        let (place, threads) = Place::new(&bucket, options.objects.patience)?;
        let marker = place.wait(bucket.read(ENGINE))??.ok_or_else(|| bucket.missing())?;
        let cache = shared_cache(options.cache_bytes);
        let cached = place.wait(bucket.cached(&options.objects))??;
        let poll_interval = options.objects.poll_interval.min(Duration::from_secs(1));
        let open = async |shard: u16| {
            let path = bucket.shard(shard as u8);
            let log = FollowedLog::at(path.clone(), bucket.objects.clone())?;
            let looks = log.looks();
            let reader = DbReader::builder(path, cached.clone())
                .with_reader_mode(DbReaderMode::FollowLatest)
                .with_wal_reader(Arc::new(log))
                .with_options(DbReaderOptions {
                    manifest_poll_interval: poll_interval,
                    ..DbReaderOptions::default()
                })
                .with_db_cache(cache.clone(), u64::from(shard))
                .with_filter_policies(prefixes::policies(&options.prefixes));
            reader.build().await.map(|reader| (Arc::new(reader), looks))
        };
        let open = async |shard| {
            // The log is read without SlateDB's own retries.
            loop {
                match open(shard).await {
                    Err(error) if error.kind() == slatedb::ErrorKind::Unavailable => {
                        tokio::time::sleep(OPENED_AGAIN_AFTER).await;
                    }
                    opened => return opened,
                }
            }
        };
        let readers = place.wait(try_join_all((0..marker.shards).map(open)))?;
        let (readers, looks): (_, Vec<_>) =
            readers.map_err(|error| place.error(error))?.into_iter().unzip();
        let shards = Shards::new(&place, readers, &options.prefixes);
        Ok(Follower {
            place,
            shards: RwLock::new(Some(shards)),
            looks: looks.into(),
            requests: bucket.requests,
            _threads: threads,
        })
    }

    fn open_shards(&self) -> Result<Shards<DbReader>> {
        let shards = self.shards.read().unwrap_or_else(PoisonError::into_inner);
        shards.clone().ok_or_else(Error::closed)
    }

    fn refused<T>(&self) -> Result<T> {
        self.open_shards()?;
        let message = format!("{} is followed, and takes no writes here", self.place.name);
        Err(Error::new(ErrorKind::ReadOnly, message))
    }
}

impl Read for Follower {
    fn get(&self, shard: u8, key: &[u8]) -> Result<Option<Bytes>> {
        self.open_shards()?.get(shard, key)
    }

    fn multi_get(&self, keys: &[(u8, &[u8])]) -> Result<Vec<Option<Bytes>>> {
        self.open_shards()?.multi_get(keys)
    }

    fn scan(&self, shard: u8, range: KeyRange, direction: Direction) -> Result<Scan> {
        self.open_shards()?.scan(shard, range, direction)
    }

    fn scan_ahead(&self, shard: u8, range: KeyRange, direction: Direction) -> Result<Scan> {
        self.open_shards()?.scan_ahead(shard, range, direction)
    }
}

impl Store for Follower {
    fn shards(&self) -> u16 {
        self.open_shards().map_or(0, |shards| shards.all().len() as u16)
    }

    fn reads_may_wait(&self) -> bool {
        true
    }

    fn write(&self, _: Batch, _: Durability) -> Result<()> {
        self.refused()
    }

    fn snapshot(&self) -> Result<Box<dyn Read>> {
        Ok(Box::new(self.open_shards()?))
    }

    fn approximate_size(&self, shard: u8) -> Result<u64> {
        let manifest = self.open_shards()?.shard(shard)?.manifest();
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

    fn failure(&self) -> Option<Error> {
        let shards = self.open_shards().ok()?;
        let ended = shards.all().iter().any(|reader| reader.status().close_reason.is_some());
        ended.then(|| {
            let name = &self.place.name;
            let message = format!("{name} is not followed any more; open it again");
            Error::new(ErrorKind::Unavailable, message)
        })
    }

    fn lag(&self) -> Option<Duration> {
        self.open_shards().ok()?;
        self.looks.iter().map(|looks| looks.seen().elapsed()).max()
    }

    fn close(&self) -> Result<()> {
        let shards = self.shards.write().unwrap_or_else(PoisonError::into_inner).take();
        let Some(shards) = shards else { return Ok(()) };
        let closed = shards.all().iter().map(|reader| reader.close());
        for closed in self.place.wait(join_all(closed))? {
            closed.map_err(|error| self.place.error(error))?;
        }
        Ok(())
    }
}

impl fmt::Debug for Follower {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Follower").field("location", &self.place.name).finish_non_exhaustive()
    }
}
