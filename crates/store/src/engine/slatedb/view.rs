//! Reading the shards of a store, as they were at one moment or as another process writes them.

use std::collections::VecDeque;
use std::fmt;
use std::future::Future;
use std::ops::Bound;
use std::pin::pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;

use bytes::Bytes;
use futures::future::{Either, select};
use futures::{StreamExt, TryStreamExt};
use slatedb::config::ScanOptions;
use slatedb::{CloseReason, Db, DbIterator, DbReadOps, DbSnapshot, IterationOrder};
use tokio::runtime::{Handle, Runtime};
use tokio::sync::{Semaphore, mpsc};
use tokio::task::JoinHandle;

use super::bucket::Bucket;
use super::checkpoint::Kept;
use super::objects::Requests;
use super::prefixes;
use crate::batch::check_shard;
use crate::error::{Error, ErrorKind, Result};
use crate::options::Prefixes;
use crate::scan::{Direction, KeyRange, Scan};
use crate::store::Read;

/// How many keys are looked for at once.
const GETS_AT_ONCE: usize = 64;
/// How much of a file is asked for at once, and how many such requests are under way.
const READ_AHEAD_BYTES: usize = 256 << 10;
const FETCHES_AT_ONCE: usize = 4;
/// A scan takes some entries at a time from the engine: few at first, for those who need no more.
const FIRST_ENTRIES: usize = 16;
/// From so many on another thread takes them, so many at a time: more would not stay in a core's
/// cache until they are looked at.
const ENTRIES_AHEAD: usize = 1_024;
/// How many threads there may be for that; beyond, scans share those that fetch files.
const SCANNERS: usize = 64;
/// No more are taken at a time once they have so many bytes.
const MOST_BYTES: usize = 1 << 20;

/// Where a store is, and how to wait for what comes from there.
#[derive(Clone)]
pub(super) struct Place {
    pub(super) name: Arc<str>,
    pub(super) handle: Handle,
    /// How long is waited for the object store.
    pub(super) patience: Duration,
    requests: Arc<Requests>,
    /// The threads that long scans may have for themselves.
    scanners: Arc<Semaphore>,
    /// Whether there are no threads any more.
    is_over: Arc<AtomicBool>,
}

/// The threads of a store: they do the work in the background, and wait for the network.
pub(super) struct Threads {
    runtime: Option<Runtime>,
    is_over: Arc<AtomicBool>,
}

impl Drop for Threads {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::Release);
        if let Some(runtime) = self.runtime.take() {
            // It may be dropped by a thread that must not wait.
            runtime.shutdown_background();
        }
    }
}

impl Place {
    /// The place of a bucket, with threads that must live as long as it is used.
    pub(super) fn new(bucket: &Bucket, patience: Duration) -> Result<(Self, Threads)> {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .thread_name("stonecrop objects")
            .enable_all()
            .build()
            .map_err(|error| Error::new(ErrorKind::Io, format!("no threads: {error}")))?;
        let (name, requests) = (bucket.name.clone(), bucket.requests.clone());
        let (scanners, is_over) =
            (Arc::new(Semaphore::new(SCANNERS)), Arc::<AtomicBool>::default());
        let handle = runtime.handle().clone();
        let threads = Threads { runtime: Some(runtime), is_over: is_over.clone() };
        let place = Place { name, handle, patience, requests, scanners, is_over };
        Ok((place, threads))
    }

    /// Waits on this thread, whatever it belongs to: what is in memory is there without a switch
    /// to another thread.
    pub(super) fn wait<T>(&self, work: impl Future<Output = T>) -> Result<T> {
        let (patience, errors) = (self.patience, self.requests.errors());
        let bounded = async { tokio::time::timeout(patience, work).await };
        self.wait_on(bounded).map_err(|_| {
            let mut message = format!(
                "{}: no answer from the object store within {patience:?}; it is not known whether \
                 the request was carried out",
                self.name,
            );
            if self.requests.errors() > errors {
                message += &format!("; the last it said: {}", self.requests.last_error());
            }
            Error::new(ErrorKind::Unavailable, message)
        })
    }

    /// The same for as long as it takes.
    pub(super) fn wait_on<T>(&self, work: impl Future<Output = T>) -> T {
        let _context = self.handle.enter();
        futures::executor::block_on(work)
    }

    pub(super) fn error(&self, cause: slatedb::Error) -> Error {
        let name = &self.name;
        match cause.kind() {
            slatedb::ErrorKind::Closed(CloseReason::Fenced) => self.fenced(),
            slatedb::ErrorKind::Closed(CloseReason::Clean) => Error::closed(),
            slatedb::ErrorKind::Closed(_) => self.poisoned(&cause.to_string()),
            slatedb::ErrorKind::Data if is_lost_race(&cause) => self.fenced(),
            slatedb::ErrorKind::Data => self.unreadable(&cause.to_string()).with_cause(cause),
            _ => {
                let message = format!("{name}: the object store did not answer: {cause}");
                Error::new(ErrorKind::Unavailable, message).with_cause(cause)
            }
        }
    }

    /// Why a write failed. None is taken after it, and it says nothing of what was stored before.
    pub(super) fn write_error(&self, cause: slatedb::Error) -> Error {
        let text = cause.to_string();
        match self.error(cause) {
            error if matches!(error.kind(), ErrorKind::Fenced | ErrorKind::Closed) => error,
            error => self.poisoned(&text).with_cause(error),
        }
    }

    /// Why a shard has stopped by itself, if it has.
    pub(super) fn failure(&self, shards: &[Db]) -> Option<Error> {
        let reasons = || shards.iter().filter_map(|db| db.status().close_reason);
        if reasons().any(|reason| reason == CloseReason::Fenced) {
            return Some(self.fenced());
        }
        let failed = reasons().any(|reason| reason != CloseReason::Clean);
        failed.then(|| self.poisoned("its work in the background has ended"))
    }

    pub(super) fn fenced(&self) -> Error {
        let message = format!(
            "{} was taken over by another process, so this one has stopped using it",
            self.name
        );
        Error::new(ErrorKind::Fenced, message)
    }

    fn unreadable(&self, how: &str) -> Error {
        let message = format!("{} is damaged: {how}; restore it from a backup", self.name);
        Error::new(ErrorKind::Corrupt, message)
    }

    pub(super) fn poisoned(&self, cause: &str) -> Error {
        let name = &self.name;
        let message =
            format!("{name}: a write failed, so no more are taken; open it again: {cause}");
        Error::new(ErrorKind::Poisoned, message)
    }
}

/// Whether another process was first to write a list of files under its number. SlateDB calls that
/// damage, and has nothing but words to tell it from some.
pub(super) fn is_lost_race(error: &slatedb::Error) -> bool {
    error.kind() == slatedb::ErrorKind::Data && error.to_string().contains("version already exists")
}

/// The shards of a store, as far as they are read: their snapshots, or readers of what another
/// process writes.
pub(super) struct Shards<R> {
    place: Place,
    of: Arc<[Arc<R>]>,
    prefixes: Arc<dyn Prefixes>,
    /// What keeps the files that are read, where they would go before long.
    kept: Option<Arc<Kept>>,
}

/// All shards as they were at one moment.
pub(super) type View = Shards<DbSnapshot>;

impl<R> Clone for Shards<R> {
    fn clone(&self) -> Self {
        let (place, of) = (self.place.clone(), self.of.clone());
        Shards { place, of, prefixes: self.prefixes.clone(), kept: self.kept.clone() }
    }
}

/// The states before the one that is shown, which somebody may still read. SlateDB's filters drop
/// entries whether a snapshot has them or not.
#[derive(Default)]
pub(super) struct Earlier(Mutex<Vec<Weak<[Arc<DbSnapshot>]>>>);

impl Earlier {
    fn add(&self, snapshots: &Arc<[Arc<DbSnapshot>]>) {
        let mut earlier = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        earlier.retain(|snapshots| snapshots.strong_count() > 0);
        earlier.push(Arc::downgrade(snapshots));
    }

    /// Whether nobody reads any of them.
    pub(super) fn are_over(&self) -> bool {
        let earlier = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        earlier.iter().all(|snapshots| snapshots.strong_count() == 0)
    }
}

impl View {
    pub(super) fn now(place: &Place, shards: &[Db], prefixes: &Arc<dyn Prefixes>) -> Result<Self> {
        let snapshots = shards.iter().map(Db::snapshot).collect::<Result<Vec<_>, _>>();
        let snapshots = snapshots.map_err(|error| place.error(error))?;
        Ok(Shards::new(place, snapshots, prefixes))
    }

    /// The same with some shards as they are now; the state before is one of the earlier ones then.
    pub(super) fn with(&self, shards: &[Db], changed: &[u8], earlier: &Earlier) -> Result<Self> {
        let mut snapshots = self.of.to_vec();
        for shard in changed {
            let at = usize::from(*shard);
            if let (Some(snapshot), Some(db)) = (snapshots.get_mut(at), shards.get(at)) {
                *snapshot = db.snapshot().map_err(|error| self.place.error(error))?;
            }
        }
        earlier.add(&self.of);
        Ok(Shards { of: snapshots.into(), ..self.clone() })
    }
}

impl<R> Shards<R> {
    pub(super) fn new(place: &Place, of: Vec<Arc<R>>, prefixes: &Arc<dyn Prefixes>) -> Self {
        Shards { place: place.clone(), of: of.into(), prefixes: prefixes.clone(), kept: None }
    }

    /// The same, with what keeps its files.
    pub(super) fn keeping(self, kept: Kept) -> Self {
        Shards { kept: Some(Arc::new(kept)), ..self }
    }

    pub(super) fn all(&self) -> &[Arc<R>] {
        &self.of
    }

    pub(super) fn shard(&self, shard: u8) -> Result<&Arc<R>> {
        check_shard(shard, self.of.len() as u16)?;
        self.of.get(usize::from(shard)).ok_or_else(Error::closed)
    }
}

impl<R: DbReadOps + Send + Sync + 'static> Shards<R> {
    async fn open(
        self,
        reader: Arc<R>,
        range: KeyRange,
        direction: Direction,
    ) -> Result<Open<R>, slatedb::Error> {
        let options = scan_options(direction);
        let entries = match prefixes::filtered(&*self.prefixes, &range) {
            Some(prefix) => reader.scan_prefix_with_options(prefix, .., &options).await,
            None => reader.scan_with_options(bounds(range), &options).await,
        };
        Ok(Open { entries: Box::new(entries?), _held: self })
    }
}

impl<R: DbReadOps + Send + Sync + 'static> Read for Shards<R> {
    fn get(&self, shard: u8, key: &[u8]) -> Result<Option<Bytes>> {
        let reader = self.shard(shard)?;
        if key.is_empty() {
            return Ok(None);
        }
        self.place.wait(reader.get(key))?.map_err(|error| self.place.error(error))
    }

    fn multi_get(&self, keys: &[(u8, &[u8])]) -> Result<Vec<Option<Bytes>>> {
        let readers = keys.iter().map(|(shard, key)| Ok((self.shard(*shard)?, *key)));
        let readers = readers.collect::<Result<Vec<_>>>()?;
        let gets = readers.into_iter().map(async |(reader, key)| match key {
            [] => Ok(None),
            key => reader.get(key).await,
        });
        let found = futures::stream::iter(gets).buffered(GETS_AT_ONCE).try_collect();
        self.place.wait(found)?.map_err(|error| self.place.error(error))
    }

    fn scan(&self, shard: u8, range: KeyRange, direction: Direction) -> Result<Scan> {
        let reader = self.shard(shard)?.clone();
        if range.is_empty() {
            return Ok(Scan::empty());
        }
        let open = self.place.wait(self.clone().open(reader, range, direction))?;
        let source = Source::Here(open.map_err(|error| self.place.error(error))?);
        Ok(Scan::new(Entries::new(self.place.clone(), source)))
    }

    fn scan_ahead(&self, shard: u8, range: KeyRange, direction: Direction) -> Result<Scan> {
        let reader = self.shard(shard)?.clone();
        if range.is_empty() {
            return Ok(Scan::empty());
        }
        let open = self.clone().open(reader, range, direction);
        let taken = async { open.await?.take(FIRST_ENTRIES).await };
        let source = Source::Next(Task(self.place.handle.spawn(taken)));
        Ok(Scan::new(Entries::new(self.place.clone(), source)))
    }
}

fn bounds(range: KeyRange) -> (Bound<Bytes>, Bound<Bytes>) {
    // An empty key is none, and SlateDB panics at one.
    let start = match range.start.is_empty() {
        true => Bound::Unbounded,
        false => Bound::Included(range.start),
    };
    (start, range.end.map_or(Bound::Unbounded, Bound::Excluded))
}

fn scan_options(direction: Direction) -> ScanOptions {
    ScanOptions {
        read_ahead_bytes: READ_AHEAD_BYTES,
        max_fetch_tasks: FETCHES_AT_ONCE,
        cache_blocks: true,
        order: match direction {
            Direction::Forward => IterationOrder::Ascending,
            Direction::Backward => IterationOrder::Descending,
        },
        ..ScanOptions::default()
    }
}

/// The entries of a scan, some at a time. Of a long one the next are taken by another thread while
/// the caller looks at those that were taken before.
struct Entries<R> {
    place: Place,
    taken: VecDeque<(Bytes, Bytes)>,
    next: usize,
    source: Source<R>,
}

enum Source<R> {
    Here(Open<R>),
    /// Only the next are taken elsewhere.
    Next(Task<Taken<R>>),
    /// All that is left is taken elsewhere. It waits while the caller has not asked for the last.
    Rest(mpsc::Receiver<Result<VecDeque<(Bytes, Bytes)>, slatedb::Error>>, Task<()>),
    Over,
}

/// A scan of the engine, and what must live as long as it.
struct Open<R> {
    entries: Box<DbIterator>,
    _held: Shards<R>,
}

/// What a scan has given, and the scan if there is more.
type Taken<R> = Result<(VecDeque<(Bytes, Bytes)>, Option<Open<R>>), slatedb::Error>;

impl<R> Open<R> {
    async fn take(mut self, count: usize) -> Taken<R> {
        let (mut taken, mut bytes) = (VecDeque::with_capacity(count), 0);
        while taken.len() < count && bytes < MOST_BYTES {
            let Some(entry) = self.entries.next().await? else { return Ok((taken, None)) };
            bytes += entry.key.len() + entry.value.len();
            taken.push_back((entry.key, entry.value));
        }
        Ok((taken, Some(self)))
    }
}

impl<R: Send + Sync + 'static> Open<R> {
    /// Has another thread take all that is left: one of its own, as far as there are some. One of
    /// those that fetch files would keep what it asks for waiting behind itself.
    fn take_rest(self, place: &Place) -> Source<R> {
        let (to, from) = mpsc::channel(1);
        let work = async move {
            let mut open = Some(self);
            while let Some(rest) = open.take() {
                let (taking, closed) = (pin!(rest.take(ENTRIES_AHEAD)), pin!(to.closed()));
                let Either::Left((taken, _)) = select(taking, closed).await else { return };
                let taken = taken.map(|(taken, rest)| {
                    open = rest;
                    taken
                });
                if to.send(taken).await.is_err() {
                    return;
                }
            }
        };
        let task = match place.scanners.clone().try_acquire_owned() {
            Ok(scanner) => {
                let handle = place.handle.clone();
                place.handle.spawn_blocking(move || {
                    let _scanner = scanner;
                    handle.block_on(work);
                })
            }
            Err(_) => place.handle.spawn(work),
        };
        Source::Rest(from, Task(task))
    }
}

/// Work on another thread. It ends when nobody waits for it any more.
struct Task<T>(JoinHandle<T>);

impl<T> Drop for Task<T> {
    fn drop(&mut self) {
        self.0.abort();
    }
}

impl<T> Task<T> {
    fn wait(mut self, place: &Place) -> Result<T> {
        place.wait(&mut self.0)?.map_err(|error| {
            // With the threads of a store that is no more, work is cancelled, or panics.
            match error.is_panic() && !place.is_over.load(Ordering::Acquire) {
                true => place.unreadable(&error.to_string()),
                false => Error::closed(),
            }
        })
    }
}

impl<R: Send + Sync + 'static> Entries<R> {
    fn new(place: Place, source: Source<R>) -> Self {
        Entries { place, taken: VecDeque::new(), next: FIRST_ENTRIES, source }
    }

    fn take(&mut self) -> Result<()> {
        let taken = match std::mem::replace(&mut self.source, Source::Over) {
            Source::Over => return Ok(()),
            Source::Here(open) => self.place.wait(open.take(self.next))?,
            Source::Next(task) => task.wait(&self.place)?,
            Source::Rest(mut rest, task) => {
                match self.place.wait(rest.recv())? {
                    Some(taken) => {
                        self.taken = taken.map_err(|error| self.place.error(error))?;
                        self.source = Source::Rest(rest, task);
                    }
                    None => task.wait(&self.place)?,
                }
                return Ok(());
            }
        };
        let (taken, open) = taken.map_err(|error| self.place.error(error))?;
        self.taken = taken;
        self.next *= 2;
        self.source = match open {
            None => Source::Over,
            Some(open) if self.next < ENTRIES_AHEAD => Source::Here(open),
            Some(open) => open.take_rest(&self.place),
        };
        Ok(())
    }
}

impl<R: Send + Sync + 'static> Iterator for Entries<R> {
    type Item = Result<(Bytes, Bytes)>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.taken.is_empty()
            && let Err(error) = self.take()
        {
            return Some(Err(error));
        }
        self.taken.pop_front().map(Ok)
    }
}

impl<R> fmt::Debug for Entries<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Entries")
    }
}
