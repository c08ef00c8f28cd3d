//! SlateDB: log-structured trees on object storage, a tree a shard.
//!
//! A batch is atomic within a shard, and readers of this process see all of it or nothing over all
//! shards: what they read is the last state that was published, and a state is published once every
//! synced write before it is in the object store. What is written without sync is shown at once.
//! Only a crash can leave a batch that spans shards half written.

mod aws_profile;
mod bucket;
mod checkpoint;
mod compact;
mod compactor;
mod follower;
mod location;
mod log;
mod looks;
mod objects;
mod prefixes;
mod view;
mod write;

use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock, TryLockError};
use std::time::Duration;

use bytes::Bytes;
use futures::future::{join_all, try_join_all};
use futures::stream::{self, FuturesUnordered};
use futures::{FutureExt, StreamExt};
use object_store::ObjectStore;
use slatedb::config::{
    CompactionWorkerOptions, CompactorOptions, CompressionCodec, FlushOptions, FlushType,
    GarbageCollectorOptions, Settings,
};
use slatedb::db_cache::DbCache;
use slatedb::db_cache::moka::{MokaCache, MokaCacheOptions};
use slatedb::{CompactorBuilder, Db};
use tokio::task::AbortHandle;
use uuid::Uuid;

pub use self::compactor::SlateCompactor;
pub use self::follower::Follower;
pub use self::objects::Requests;

use self::bucket::Bucket;
use self::checkpoint::Begun;
use self::compact::{Demand, Scheduling};
use self::log::Log;
use self::view::{Earlier, Place, Threads, View};
use self::write::{Ended, Part, ShardWrite, Uploads, by_shard};
use crate::batch::Batch;
use crate::engine::marker::Marker;
use crate::error::{Error, ErrorKind, Result};
use crate::options::Options;
use crate::scan::{Direction, KeyRange, Scan};
use crate::store::{Durability, Read, Stats, Store};

/// The name of the engine in a store's marker.
const ENGINE: &str = "slatedb";
/// The shards of a store that is created, unless its options say otherwise.
const SHARDS: u16 = 16;
/// The memory for writes that are in the log alone, over all shards, and what a shard has of it.
const WRITE_BUFFERS: usize = 512 << 20;
const WRITE_BUFFER: std::ops::RangeInclusive<usize> = 8 << 20..=64 << 20;
/// What is stored is paid for, and so is what is sent. Files say themselves what they are compressed
/// with, so those from before can be read.
const COMPRESSION: Option<CompressionCodec> = Some(CompressionCodec::Lz4);
/// How often the log is uploaded while nobody waits for it.
const UNAWAITED_UPLOADS: Duration = Duration::from_millis(100);
/// How often what is in the log alone is made a file, so that little of it has to be read when the
/// store is opened again.
const LOG_KEPT_FOR: Duration = Duration::from_secs(60);
const FLUSHED_AT_ONCE: usize = 8;
/// How many write buffers a shard may have filled before its writers wait.
const FULL_BUFFERS: usize = 4;
/// How many looks for files to compact others have, to begin with what they are asked for.
const LOOKS_OF_COMPACTORS: u32 = 12;
/// How often a shard is opened anew that another process opens or makes at the same moment.
const OPENING_TRIES: usize = 10;

/// A store on object storage.
///
/// Whoever opens it last has it: the one who had it before is fenced, and refuses everything from
/// when it finds out.
///
/// ```
/// use stonecrop_store::{Durability, ErrorKind, Options, Read, SlateStore, Store};
/// # let folder = tempfile::tempdir()?;
/// # let location = format!("file://{}?engine=slatedb", folder.path().display());
/// let mut options = Options::default();
/// options.shards = Some(2);
/// let first = SlateStore::open(&location, &options)?;
/// first.put(0, "a", "1", Durability::Sync)?;
///
/// let second = SlateStore::open(&location, &options)?;
/// assert_eq!(second.get(0, b"a")?.as_deref(), Some(&b"1"[..]));
/// let error = first.put(0, "a", "2", Durability::Sync).unwrap_err();
/// assert_eq!(error.kind(), ErrorKind::Fenced);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct SlateStore {
    place: Place,
    bucket: Bucket,
    options: Options,
    shards: Box<[Db]>,
    /// The numbers of the shards in the bucket.
    numbers: Box<[u8]>,
    logs: Arc<[Log]>,
    uploads: Box<[Arc<Uploads>]>,
    /// What readers see; none once it is closed.
    published: RwLock<Option<View>>,
    earlier: Arc<Earlier>,
    writer: Mutex<Writer>,
    /// Whether what was begun goes on though its caller has given it up.
    is_late: AtomicBool,
    /// Of each shard, whether all of it is to be compacted.
    demands: Box<[Arc<Demand>]>,
    /// How long is waited for another process to compact, if that is for others to do.
    compactor_patience: Option<Duration>,
    /// Ends with the store.
    _flushing: Flushing,
    _threads: Arc<Threads>,
}

#[derive(Default)]
struct Writer {
    /// What was begun and has not ended: of more than one write only where the object store was
    /// away for longer than a caller waits.
    unsettled: FuturesUnordered<ShardWrite>,
    /// The shards that were written to since the last state was published.
    touched: Vec<u8>,
    /// Why no further write is taken.
    failure: Option<(ErrorKind, Arc<str>)>,
}

impl SlateStore {
    /// Opens the store at a location, or makes one there: `s3://bucket/path`, `gs://bucket/path`,
    /// `az://container/path` or `file:///path?engine=slatedb`.
    ///
    /// ```
    /// # let folder = tempfile::tempdir()?;
    /// # let location = format!("file://{}?engine=slatedb", folder.path().display());
    /// use stonecrop_store::{Options, SlateStore, Store};
    /// assert_eq!(SlateStore::open(&location, &Options::default())?.shards(), 16);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn open(location: &str, options: &Options) -> Result<Self> {
        SlateShards::in_bucket(Bucket::at(location)?, options)?.open_all()
    }

    /// Opens the store in an object store that the caller has, under `name` in messages.
    ///
    /// ```
    /// use std::sync::Arc;
    /// use stonecrop_store::{Options, SlateStore, Store};
    /// let objects = Arc::new(object_store::memory::InMemory::new());
    /// let store = SlateStore::open_in(objects, "test", &Options::default())?;
    /// store.close()?;
    /// # Ok::<(), stonecrop_store::Error>(())
    /// ```
    pub fn open_in(objects: Arc<dyn ObjectStore>, name: &str, options: &Options) -> Result<Self> {
        SlateShards::in_bucket(Bucket::of(objects, name), options)?.open_all()
    }

    /// What was asked of the object store since the store was opened.
    ///
    /// ```
    /// # use std::sync::Arc;
    /// # use stonecrop_store::{Options, SlateStore};
    /// # let objects = Arc::new(object_store::memory::InMemory::new());
    /// let store = SlateStore::open_in(objects, "test", &Options::default())?;
    /// assert!(store.requests().puts() > 0);
    /// # Ok::<(), stonecrop_store::Error>(())
    /// ```
    pub fn requests(&self) -> &Requests {
        &self.bucket.requests
    }

    /// How often its first shard was opened for writing, by anyone.
    ///
    /// ```
    /// # use std::sync::Arc;
    /// # use stonecrop_store::{Options, SlateStore};
    /// # let objects = Arc::new(object_store::memory::InMemory::new());
    /// assert_eq!(SlateStore::open_in(objects, "test", &Options::default())?.epoch(), 1);
    /// # Ok::<(), stonecrop_store::Error>(())
    /// ```
    pub fn epoch(&self) -> u64 {
        self.shards.first().map_or(0, |db| db.manifest().writer_epoch())
    }

    /// How long its files have been behind its log, told up to a second too long (or more once it is
    /// five minutes), of the shard where that is the longest: what was written
    /// since then is read from the log by whoever opens the store next. What the store found in the
    /// log when it was opened counts from then on. Zero if all is in files.
    ///
    /// ```
    /// # use std::sync::Arc;
    /// # use std::time::Duration;
    /// # use stonecrop_store::{Durability, Options, SlateStore, Store};
    /// # let objects = Arc::new(object_store::memory::InMemory::new());
    /// let store = SlateStore::open_in(objects, "test", &Options::default())?;
    /// assert_eq!(store.log_lag(), Duration::ZERO);
    /// store.put(0, "a", "1", Durability::Sync)?;
    /// assert!(store.log_lag() > Duration::ZERO);
    /// store.flush()?;
    /// assert_eq!(store.log_lag(), Duration::ZERO);
    /// # Ok::<(), stonecrop_store::Error>(())
    /// ```
    pub fn log_lag(&self) -> Duration {
        let logs = self.shards.iter().zip(self.logs.iter());
        logs.filter_map(|(db, log)| log.lag(db)).max().unwrap_or_default()
    }

    /// Marks what was written so far in its first shard, for [`SlateShards::checkpoint`]; it is kept
    /// for an hour if nobody asks for it.
    ///
    /// ```
    /// use stonecrop_store::{Options, SlateShards};
    /// # let folder = tempfile::tempdir()?;
    /// # let location = format!("file://{}?engine=slatedb", folder.path().display());
    /// let shard = SlateShards::at(&location, &Options::default())?.open(3)?;
    /// assert_ne!(shard.mark()?, shard.mark()?);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn mark(&self) -> Result<u128> {
        let marks = self.begin_checkpoint()?.marks(&self.place)?;
        marks.first().map(Uuid::as_u128).ok_or_else(Error::closed)
    }

    fn begin_checkpoint(&self) -> Result<Begun> {
        // Nobody writes until it has begun in all shards.
        let _writer = self.writer()?;
        let begun = self.place.wait(Begun::new(&self.shards))?;
        begun.map_err(|error| self.place.error(error))
    }

    fn view(&self) -> Result<View> {
        if self.is_late.load(Ordering::Acquire) {
            self.settle_what_ended();
        }
        let published = self.published.read().unwrap_or_else(PoisonError::into_inner);
        published.clone().ok_or_else(Error::closed)
    }

    /// Shows what has ended by itself since its caller gave it up, though nobody writes. It waits for
    /// nothing: who reads may be within a future that must not.
    fn settle_what_ended(&self) {
        // Whoever writes meanwhile does it.
        let Some(mut writer) = self.try_writer() else { return };
        if writer.unsettled.iter().all(ShardWrite::has_ended) {
            let (begun, mut failed) = (writer.unsettled.len(), Vec::new());
            while let Some(Some(ended)) = writer.unsettled.next().now_or_never() {
                failed.extend(self.problem(ended));
            }
            // What has failed is told to those who write next.
            let _ = self.conclude(&mut writer, begun, failed);
        }
    }

    fn try_writer(&self) -> Option<MutexGuard<'_, Writer>> {
        match self.writer.try_lock() {
            Ok(writer) => Some(writer),
            Err(TryLockError::Poisoned(poisoned)) => Some(poisoned.into_inner()),
            Err(TryLockError::WouldBlock) => None,
        }
    }

    /// The writer, once what was written before has ended.
    fn writer(&self) -> Result<MutexGuard<'_, Writer>> {
        let mut writer = self.writer.lock().unwrap_or_else(PoisonError::into_inner);
        self.view()?;
        self.settle(&mut writer)?;
        Ok(writer)
    }

    /// Waits for what was begun, and then shows it to readers.
    fn settle(&self, writer: &mut Writer) -> Result<()> {
        let (begun, mut failed) = (writer.unsettled.len(), Vec::new());
        let waited = self.place.wait(async {
            while let Some(ended) = writer.unsettled.next().await {
                failed.extend(self.problem(ended));
            }
        });
        if waited.is_err() {
            let left = std::mem::take(&mut writer.unsettled).into_iter();
            writer.unsettled = left.map(|write| write.leave(&self.place.handle)).collect();
        }
        self.conclude(writer, begun, failed)?;
        waited
    }

    fn problem(&self, ended: Ended) -> Option<Error> {
        match ended {
            Ok(Ok(())) => None,
            Ok(Err(error)) => Some(self.place.write_error(error)),
            Err(panic) => Some(self.place.poisoned(&panic)),
        }
    }

    /// Shows what was written once all of it has ended, unless some has failed.
    fn conclude(&self, writer: &mut Writer, begun: usize, failed: Vec<Error>) -> Result<()> {
        let Writer { unsettled, touched, failure } = writer;
        self.is_late.store(!unsettled.is_empty(), Ordering::Release);
        if let Some(error) = failed.first() {
            let left = begun.saturating_sub(failed.len());
            let part = match left {
                0 => String::new(),
                _ => format!("; {left} of {begun} shards have taken their part of the write"),
            };
            *failure = Some((error.kind(), format!("{error}{part}").into()));
        }
        if let Some((kind, message)) = failure {
            return Err(Error::new(*kind, message.to_string()));
        }
        if unsettled.is_empty() && !touched.is_empty() {
            let mut published = self.published.write().unwrap_or_else(PoisonError::into_inner);
            let view = published.as_ref().ok_or_else(Error::closed)?;
            *published = Some(view.with(&self.shards, touched, &self.earlier)?);
            touched.clear();
        }
        Ok(())
    }

    /// Flushes all shards at once.
    fn flush_all(&self, flush_type: FlushType) -> Result<()> {
        drop(self.writer()?);
        let options = FlushOptions { flush_type };
        let flushes = self.shards.iter().map(|db| db.flush_with_options(options.clone()));
        let flushed = self.place.wait(try_join_all(flushes))?;
        flushed.map(drop).map_err(|error| self.place.error(error))
    }
}

/// The shards of a store on object storage, to be opened one by one: by several processes, each of
/// which has some of them.
///
/// ```
/// use stonecrop_store::{Durability, Options, Read, SlateShards, Store};
/// # let folder = tempfile::tempdir()?;
/// # let location = format!("file://{}?engine=slatedb", folder.path().display());
/// let shards = SlateShards::at(&location, &Options::default())?;
/// assert_eq!(shards.count(), 16);
/// let third = shards.open(3)?;
/// third.put(0, "a", "1", Durability::Sync)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct SlateShards {
    place: Place,
    bucket: Bucket,
    marker: Marker,
    /// What files are read through.
    cached: Arc<dyn ObjectStore>,
    cache: Arc<dyn DbCache>,
    settings: Settings,
    options: Options,
    threads: Arc<Threads>,
}

impl SlateShards {
    /// Those of the store at a location. It is made if it is not there, and not opened.
    ///
    /// ```
    /// # let folder = tempfile::tempdir()?;
    /// # let location = format!("file://{}?engine=slatedb", folder.path().display());
    /// use stonecrop_store::{Options, SlateShards};
    /// assert_eq!(SlateShards::at(&location, &Options::default())?.count(), 16);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn at(location: &str, options: &Options) -> Result<Self> {
        Self::in_bucket(Bucket::at(location)?, options)
    }

    fn in_bucket(bucket: Bucket, options: &Options) -> Result<Self> {
        let (place, threads) = Place::new(&bucket, options.objects.patience)?;
        let claim = bucket.claim(ENGINE, options.shards, SHARDS, options.objects.create);
        let marker = place.wait(claim)??;
        let cached = place.wait(bucket.cached(&options.objects))??;
        Ok(SlateShards {
            place,
            bucket,
            cached,
            settings: settings(options, marker.shards),
            marker,
            cache: shared_cache(options.cache_bytes),
            options: options.clone(),
            threads: Arc::new(threads),
        })
    }

    /// How many there are.
    ///
    /// ```
    /// # let folder = tempfile::tempdir()?;
    /// # let location = format!("file://{}?engine=slatedb", folder.path().display());
    /// # use stonecrop_store::{Options, SlateShards};
    /// let mut options = Options::default();
    /// options.shards = Some(4);
    /// assert_eq!(SlateShards::at(&location, &options)?.count(), 4);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn count(&self) -> u16 {
        self.marker.shards
    }

    /// What the store has that no other has, wherever that is; none if it was made before there
    /// was such a thing.
    ///
    /// ```
    /// # let folder = tempfile::tempdir()?;
    /// # let location = format!("file://{}?engine=slatedb", folder.path().display());
    /// # use stonecrop_store::{Options, SlateShards};
    /// assert!(SlateShards::at(&location, &Options::default())?.id().is_some());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn id(&self) -> Option<&str> {
        self.marker.id.as_deref()
    }

    /// What was asked of the object store, for all of them.
    ///
    /// ```
    /// # let folder = tempfile::tempdir()?;
    /// # let location = format!("file://{}?engine=slatedb", folder.path().display());
    /// # use stonecrop_store::{Options, SlateShards};
    /// assert!(SlateShards::at(&location, &Options::default())?.requests().puts() > 0);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn requests(&self) -> &Requests {
        &self.bucket.requests
    }

    /// Opens one of them as a store of a single shard. Whoever had it before is fenced.
    ///
    /// ```
    /// # let folder = tempfile::tempdir()?;
    /// # let location = format!("file://{}?engine=slatedb", folder.path().display());
    /// # use stonecrop_store::{Options, SlateShards, Store};
    /// let shard = SlateShards::at(&location, &Options::default())?.open(15)?;
    /// assert_eq!(shard.shards(), 1);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn open(&self, shard: u8) -> Result<SlateStore> {
        crate::batch::check_shard(shard, self.count())?;
        self.open_some(&[shard])
    }

    /// What was marked in all of them ([`SlateStore::mark`]), in their order; it can be read for as
    /// long as it takes, whoever has them by then.
    ///
    /// ```
    /// # let folder = tempfile::tempdir()?;
    /// # let location = format!("file://{}?engine=slatedb", folder.path().display());
    /// use stonecrop_store::{Durability, Options, Read, SlateShards, Store};
    /// let mut options = Options::default();
    /// options.shards = Some(1);
    /// let shards = SlateShards::at(&location, &options)?;
    /// let only = shards.open(0)?;
    /// only.put(0, "a", "1", Durability::Sync)?;
    /// let mark = only.mark()?;
    /// only.delete(0, "a", Durability::Sync)?;
    /// assert!(shards.checkpoint(&[mark])?.get(0, b"a")?.is_some());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn checkpoint(&self, marks: &[u128]) -> Result<Box<dyn Read>> {
        if marks.len() != usize::from(self.count()) {
            let (marks, shards) = (marks.len(), self.count());
            return Err(Error::invalid(format!("{marks} marks for {shards} shards")));
        }
        let marks: Vec<_> = marks.iter().map(|mark| Uuid::from_u128(*mark)).collect();
        let numbers: Vec<_> = (0..self.count()).map(|shard| shard as u8).collect();
        let (place, bucket) = (&self.place, &self.bucket);
        Ok(Box::new(checkpoint::open(place, bucket, &numbers, &marks, &self.options)?))
    }

    fn open_all(&self) -> Result<SlateStore> {
        self.open_some(&(0..self.count()).map(|shard| shard as u8).collect::<Vec<_>>())
    }

    fn open_some(&self, shards: &[u8]) -> Result<SlateStore> {
        let place = self.place.clone();
        let demands: Box<[Arc<Demand>]> = shards.iter().map(|_| Arc::default()).collect();
        let earlier = Arc::<Earlier>::default();
        let open = |(shard, demand): (&u8, &Arc<Demand>)| {
            let (demand, retention) = (demand.clone(), self.options.retention.clone());
            let scheduling = Scheduling { demand, retention, earlier: earlier.clone() };
            self.open_shard(*shard, scheduling)
        };
        let numbers = shards;
        let opened = place.wait(async {
            // The first shard decides who has the store, so of two who open it at once, one goes
            // ahead of the other in all of them.
            let mut each = shards.iter().zip(&demands);
            let mut opened = try_join_all(each.next().map(open)).await?;
            opened.extend(try_join_all(each.map(open)).await?);
            Ok::<Box<[Db]>, slatedb::Error>(opened.into())
        })?;
        let shards = opened.map_err(|error| place.error(error))?;
        let numbers = numbers.into();
        let view = View::now(&place, &shards, &self.options.prefixes)?;
        let logs: Arc<[Log]> = shards.iter().map(Log::of).collect();
        // A write that waited for longer would be given up before its upload.
        let interval = self.options.objects.flush_interval.min(place.patience / 2);
        let uploads = shards.iter().map(|_| Arc::new(Uploads::new(interval))).collect();
        let flushing = place.handle.spawn(flush_now_and_then(shards.clone(), logs.clone()));
        Ok(SlateStore {
            place,
            bucket: self.bucket.clone(),
            options: self.options.clone(),
            shards,
            numbers,
            logs,
            uploads,
            published: RwLock::new(Some(view)),
            earlier,
            writer: Mutex::default(),
            is_late: AtomicBool::new(false),
            demands,
            compactor_patience: (!self.options.objects.compacts)
                .then(|| self.options.objects.poll_interval * LOOKS_OF_COMPACTORS),
            _flushing: Flushing(flushing.abort_handle()),
            _threads: self.threads.clone(),
        })
    }
}

impl SlateShards {
    async fn open_shard(&self, shard: u8, scheduling: Scheduling) -> Result<Db, slatedb::Error> {
        let mut tries = OPENING_TRIES;
        loop {
            match self.try_open_shard(shard, Arc::new(scheduling.clone())).await {
                Err(error) if view::is_lost_race(&error) && tries > 1 => tries -= 1,
                opened => return opened,
            }
        }
    }

    async fn try_open_shard(
        &self,
        shard: u8,
        scheduling: Arc<Scheduling>,
    ) -> Result<Db, slatedb::Error> {
        let (path, objects) = (self.bucket.shard(shard), &self.options.objects);
        let poll_interval = objects.poll_interval;
        let compactor = CompactorBuilder::new(path.clone(), self.bucket.objects.clone())
            .with_options(CompactorOptions {
                poll_interval,
                commit_compacted_interval: poll_interval.min(Duration::from_secs(1)),
                worker: objects.compacts.then(|| worker_options(poll_interval)),
                ..CompactorOptions::default()
            })
            .with_scheduler_supplier(scheduling.clone())
            .with_compaction_filter_supplier(scheduling);
        Db::builder(path, self.cached.clone())
            .with_settings(self.settings.clone())
            .with_db_cache(self.cache.clone(), u64::from(shard))
            .with_compactor_builder(compactor)
            .with_filter_policies(prefixes::policies(&self.options.prefixes))
            .build()
            .await
    }
}

impl fmt::Debug for SlateShards {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SlateShards").field("location", &self.place.name).finish_non_exhaustive()
    }
}

/// Ends what it stands for when it is dropped.
struct Flushing(AbortHandle);

impl Drop for Flushing {
    fn drop(&mut self) {
        self.0.abort();
    }
}

async fn flush_now_and_then(shards: Box<[Db]>, logs: Arc<[Log]>) {
    loop {
        tokio::time::sleep(LOG_KEPT_FOR).await;
        let all = shards.iter().zip(logs.iter());
        let behind: Vec<Db> = all.filter_map(|(db, log)| log.lag(db).map(|_| db.clone())).collect();
        // One that can't is closed, and says so to whoever uses it.
        let flush = |db: Db| async move {
            let options = FlushOptions { flush_type: FlushType::MemTable };
            let _ = db.flush_with_options(options).await;
        };
        stream::iter(behind).map(flush).buffer_unordered(FLUSHED_AT_ONCE).collect::<()>().await;
    }
}

fn shared_cache(bytes: u64) -> Arc<dyn DbCache> {
    let options = MokaCacheOptions { max_capacity: bytes, ..MokaCacheOptions::default() };
    Arc::new(MokaCache::new_with_opts(options))
}

fn settings(options: &Options, shards: u16) -> Settings {
    let buffer = WRITE_BUFFERS / usize::from(shards) / FULL_BUFFERS;
    let buffer = buffer.clamp(*WRITE_BUFFER.start(), *WRITE_BUFFER.end());
    Settings {
        flush_interval: Some(options.objects.flush_interval.max(UNAWAITED_UPLOADS)),
        manifest_poll_interval: options.objects.poll_interval.min(Duration::from_secs(1)),
        l0_sst_size_bytes: buffer,
        max_unflushed_bytes: buffer * FULL_BUFFERS,
        compression_codec: COMPRESSION,
        compactor_options: None,
        garbage_collector_options: options.objects.compacts.then(GarbageCollectorOptions::default),
        ..Settings::default()
    }
}

/// How files are compacted, by whoever has the store or by a process of its own.
fn worker_options(poll_interval: Duration) -> CompactionWorkerOptions {
    CompactionWorkerOptions {
        compactions_poll_interval: poll_interval,
        compression_codec: COMPRESSION,
        ..CompactionWorkerOptions::default()
    }
}

impl Read for SlateStore {
    fn get(&self, shard: u8, key: &[u8]) -> Result<Option<Bytes>> {
        self.view()?.get(shard, key)
    }

    fn multi_get(&self, keys: &[(u8, &[u8])]) -> Result<Vec<Option<Bytes>>> {
        self.view()?.multi_get(keys)
    }

    fn scan(&self, shard: u8, range: KeyRange, direction: Direction) -> Result<Scan> {
        self.view()?.scan(shard, range, direction)
    }

    fn scan_ahead(&self, shard: u8, range: KeyRange, direction: Direction) -> Result<Scan> {
        self.view()?.scan_ahead(shard, range, direction)
    }
}

impl Store for SlateStore {
    fn shards(&self) -> u16 {
        self.shards.len() as u16
    }

    fn is_atomic_across_shards(&self) -> bool {
        self.shards.len() == 1
    }

    fn reads_may_wait(&self) -> bool {
        true
    }

    fn ready(&self) -> Result<()> {
        self.writer().map(drop)
    }

    fn write(&self, batch: Batch, durability: Durability) -> Result<()> {
        let operations = batch.checked(self.shards())?;
        let mut writer = self.writer()?;
        if operations.is_empty() {
            return Ok(());
        }
        for Part { shard, batch, bytes } in by_shard(&operations) {
            let at = usize::from(shard);
            let (Some(db), Some(uploads)) = (self.shards.get(at), self.uploads.get(at)) else {
                continue;
            };
            let (db, uploads, logs) = (db.clone(), uploads.clone(), self.logs.clone());
            let runtime = self.place.handle.clone();
            let write = ShardWrite::new(async move {
                let handle = db.write(batch).await?;
                if let Some(log) = logs.get(at) {
                    log.wrote(handle.seqnum());
                }
                match durability {
                    Durability::Sync => uploads.until_durable(&db, &handle).await,
                    Durability::Buffered | Durability::Begun => {
                        uploads.unawaited(&db, bytes, &runtime);
                        Ok(())
                    }
                }
            });
            writer.unsettled.push(match durability {
                Durability::Begun => write.leave(&self.place.handle),
                Durability::Sync | Durability::Buffered => write,
            });
            writer.touched.push(shard);
        }
        match durability {
            Durability::Begun => Ok(()),
            Durability::Sync | Durability::Buffered => self.settle(&mut writer),
        }
    }

    fn snapshot(&self) -> Result<Box<dyn Read>> {
        Ok(Box::new(self.view()?))
    }

    fn checkpoint(&self) -> Result<Box<dyn Read>> {
        let (place, marks) = (&self.place, self.begin_checkpoint()?.marks(&self.place)?);
        let opened = checkpoint::open(place, &self.bucket, &self.numbers, &marks, &self.options)?;
        Ok(Box::new(opened))
    }

    fn approximate_size(&self, shard: u8) -> Result<u64> {
        self.view()?;
        crate::batch::check_shard(shard, self.shards())?;
        Ok(self.shards.get(usize::from(shard)).map_or(0, compact::size))
    }

    fn sync(&self) -> Result<()> {
        self.flush_all(FlushType::Wal)
    }

    fn flush(&self) -> Result<()> {
        self.flush_all(FlushType::MemTable)
    }

    fn compact(&self) -> Result<()> {
        self.flush()?;
        let each = self.shards.iter().zip(&self.demands);
        let each = each.map(|(db, demand)| demand.compact(db, self.compactor_patience));
        let compacted = self.place.wait_on(try_join_all(each));
        match compacted.map_err(|error| self.place.error(error))?.contains(&false) {
            false => Ok(()),
            true => Err(Error::new(
                ErrorKind::Unavailable,
                format!(
                    "{} is compacted by processes of their own, and none has begun with it: start \
                     `stonecrop compactor`",
                    self.place.name
                ),
            )),
        }
    }

    fn stats(&self) -> Result<Stats> {
        self.view()?;
        Ok(Stats {
            disk_bytes: self.shards.iter().map(compact::size).sum(),
            requests: self.bucket.requests.counts(),
            ..Stats::default()
        })
    }

    fn failure(&self) -> Option<Error> {
        self.view().ok()?;
        // Who holds it is about to find out.
        let failure = self.try_writer().and_then(|writer| writer.failure.clone());
        let failure = failure.map(|(kind, message)| Error::new(kind, message.to_string()));
        self.place.failure(&self.shards).or(failure)
    }

    fn close(&self) -> Result<()> {
        let mut writer = self.writer.lock().unwrap_or_else(PoisonError::into_inner);
        if self.view().is_err() {
            return Ok(());
        }
        let settled = self.settle(&mut writer);
        *self.published.write().unwrap_or_else(PoisonError::into_inner) = None;
        let closed = self.place.wait(join_all(self.shards.iter().map(Db::close)))?;
        settled?;
        for closed in closed {
            closed.map_err(|error| self.place.error(error))?;
        }
        Ok(())
    }
}

impl fmt::Debug for SlateStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SlateStore").field("location", &self.place.name).finish_non_exhaustive()
    }
}
