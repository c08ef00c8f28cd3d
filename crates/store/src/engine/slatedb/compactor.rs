//! Compaction and the removal of files in a process of their own.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use futures::future::try_join_all;
use object_store::ObjectStore;
use slatedb::config::GarbageCollectorOptions;
use slatedb::{CompactionWorkerBuilder, GarbageCollectorBuilder};
use tokio::sync::watch;
use tokio::task::JoinHandle;

use super::bucket::Bucket;
use super::compact::Scheduling;
use super::prefixes;
use super::view::{Place, Threads};
use super::{ENGINE, Earlier, worker_options};
use crate::error::{Error, Result};
use crate::options::Options;

/// Does the compactions of a store on object storage that those who have it open have planned, and
/// removes files that nobody needs any more: so their own processors and network need not
/// ([`ObjectOptions::compacts`](crate::ObjectOptions::compacts)). There may be several.
///
/// ```
/// use stonecrop_store::{ErrorKind, Options, SlateCompactor};
/// # let folder = tempfile::tempdir()?;
/// # let location = format!("file://{}?engine=slatedb", folder.path().display());
/// let error = SlateCompactor::open(&location, &Options::default()).unwrap_err();
/// assert_eq!(error.kind(), ErrorKind::Missing);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct SlateCompactor {
    place: Place,
    stop: watch::Sender<bool>,
    /// None once somebody waits for it.
    working: Mutex<Option<JoinHandle<Result<(), slatedb::Error>>>>,
    _threads: Threads,
}

impl SlateCompactor {
    /// Begins to work for the store at a location, which must be there.
    ///
    /// ```
    /// use stonecrop_store::{Options, SlateStore, SlateCompactor};
    /// # let folder = tempfile::tempdir()?;
    /// # let location = format!("file://{}?engine=slatedb", folder.path().display());
    /// let mut options = Options::default();
    /// options.objects.compacts = false;
    /// let store = SlateStore::open(&location, &options)?;
    /// let worker = SlateCompactor::open(&location, &options)?;
    /// worker.stop();
    /// worker.wait()?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn open(location: &str, options: &Options) -> Result<Self> {
        Self::in_bucket(&Bucket::at(location)?, options)
    }

    /// Begins to work for the store in an object store that the caller has, under `name` in
    /// messages.
    ///
    /// ```
    /// use std::sync::Arc;
    /// use stonecrop_store::{Options, SlateStore, SlateCompactor};
    /// let objects = Arc::new(object_store::memory::InMemory::new());
    /// let store = SlateStore::open_in(objects.clone(), "test", &Options::default())?;
    /// let worker = SlateCompactor::open_in(objects, "test", &Options::default())?;
    /// worker.stop();
    /// worker.wait()?;
    /// # Ok::<(), stonecrop_store::Error>(())
    /// ```
    pub fn open_in(objects: Arc<dyn ObjectStore>, name: &str, options: &Options) -> Result<Self> {
        Self::in_bucket(&Bucket::of(objects, name), options)
    }

    fn in_bucket(bucket: &Bucket, options: &Options) -> Result<Self> {
        let (place, threads) = Place::new(bucket, options.objects.patience)?;
        let marker = place.wait(bucket.read(ENGINE))??.ok_or_else(|| bucket.missing())?;
        place.wait(bucket.probe())??;
        // What readers elsewhere look at is not known here; `Retention` has to leave them time.
        let (retention, earlier) = (options.retention.clone(), Arc::<Earlier>::default());
        let supplier = Arc::new(Scheduling { demand: Arc::default(), retention, earlier });
        let (stop, stopped) = watch::channel(false);
        let build = async |shard: u16| {
            let (path, objects) = (bucket.shard(shard as u8), bucket.objects.clone());
            let worker = CompactionWorkerBuilder::new(path.clone(), objects.clone())
                .with_options(worker_options(options.objects.poll_interval))
                .with_filter_policies(prefixes::policies(&options.prefixes))
                .with_compaction_filter_supplier(supplier.clone());
            let collector = GarbageCollectorBuilder::new(path, objects)
                .with_options(GarbageCollectorOptions::default());
            let (worker, collector) = (worker.build().await?, collector.build());
            let mut stopped = stopped.clone();
            Ok(async move {
                tokio::select! {
                    ended = async { tokio::try_join!(worker.run(), collector.run()) } => {
                        ended.map(drop)
                    }
                    () = async { drop(stopped.wait_for(|is_stopped| *is_stopped).await) } => {
                        // What it has begun is for others to do.
                        worker.stop().await?;
                        collector.stop().await
                    }
                }
            })
        };
        let built = place.wait(try_join_all((0..marker.shards).map(build)))?;
        let working = try_join_all(built.map_err(|error| place.error(error))?);
        let working = place.handle.spawn(async { working.await.map(drop) });
        Ok(SlateCompactor { place, stop, working: Mutex::new(Some(working)), _threads: threads })
    }

    /// Waits until it has stopped, or can't go on. Who comes second does not wait.
    ///
    /// ```no_run
    /// # use stonecrop_store::{Options, SlateCompactor};
    /// SlateCompactor::open("s3://bucket/path", &Options::default())?.wait()?;
    /// # Ok::<(), stonecrop_store::Error>(())
    /// ```
    pub fn wait(&self) -> Result<()> {
        let working = self.working.lock().unwrap_or_else(PoisonError::into_inner).take();
        let Some(working) = working else { return Ok(()) };
        let ended = self.place.wait_on(working).map_err(|_| Error::closed())?;
        ended.map_err(|error| self.place.error(error))
    }

    /// Tells it to stop.
    ///
    /// ```no_run
    /// # use stonecrop_store::{Options, SlateCompactor};
    /// SlateCompactor::open("s3://bucket/path", &Options::default())?.stop();
    /// # Ok::<(), stonecrop_store::Error>(())
    /// ```
    pub fn stop(&self) {
        self.stop.send_replace(true);
    }
}

impl fmt::Debug for SlateCompactor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SlateCompactor").field("location", &self.place.name).finish_non_exhaustive()
    }
}
