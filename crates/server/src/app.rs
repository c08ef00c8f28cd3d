//! What all handlers share.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak, mpsc};
use std::time::Duration;

use stonecrop::{
    Cancel, Commit, Database, Durability, Error, Query, Receipt, Submitted, Table, Write,
};
use tokio::runtime::{Handle, RuntimeFlavor};
use tokio::sync::{Semaphore, watch};

use crate::api::{TableFreshness, Time};
use crate::config::Config;
use crate::metrics::Metrics;
use crate::pool::Pool;
use crate::problem::{BUSY, INTERNAL, INTERRUPTED, Problem, Result};
use crate::watch::Stopwatch;

/// What all handlers share.
#[derive(Clone)]
pub(crate) struct App(Arc<Shared>);

pub(crate) struct Shared {
    pub(crate) database: Database,
    pub(crate) config: Config,
    pub(crate) metrics: Metrics,
    pub(crate) started: Stopwatch,
    pub(crate) dynamodb: crate::dynamodb::Shared,
    /// Turns for requests.
    turns: Arc<Semaphore>,
    /// Turns for the threads that work. More would not be faster, but take more memory.
    threads: Arc<Semaphore>,
    pool: Pool,
    /// Places for those who wait for changes.
    pub(crate) followers: Arc<Semaphore>,
    /// Whether the server stops.
    stop: watch::Sender<bool>,
    commits: mpsc::Sender<Commit>,
    /// Whether a request may block its thread: another one then does the rest of what that did.
    may_block: AtomicBool,
    /// The most requests that were worked on at the time of a write since the last commit.
    crowd: AtomicI64,
    freshness: Mutex<HashMap<String, Arc<tokio::sync::Mutex<Counted>>>>,
}

/// How fresh a table was when it was last counted.
#[derive(Default)]
struct Counted {
    freshness: Option<TableFreshness>,
    /// When it may be counted again.
    rest: Option<(Stopwatch, Duration)>,
}

/// Some of them wait for the disk, and a few that take long must not hold up all others.
const THREADS_A_CORE: usize = 16;
/// So many writes are prepared faster than another thread is found for it.
const FEW_WRITES: usize = 25;
/// The shortest time between two counts.
const SHORTEST_REST: Duration = Duration::from_secs(1);
/// Counting takes at most about this part of the time.
const PART_OF_TIME: u32 = 10;

/// The same, for those whom it holds itself.
#[derive(Clone)]
pub(crate) struct WeakApp(Weak<Shared>);

impl WeakApp {
    pub(crate) fn upgrade(&self) -> Option<App> {
        self.0.upgrade().map(App)
    }
}

impl std::ops::Deref for App {
    type Target = Shared;

    fn deref(&self) -> &Shared {
        &self.0
    }
}

impl App {
    pub(crate) fn new(database: Database, config: Config) -> Self {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        App(Arc::new(Shared {
            turns: Arc::new(Semaphore::new(config.limits.requests)),
            metrics: Metrics::new(),
            started: Stopwatch::start(),
            dynamodb: crate::dynamodb::Shared::new(config.dynamodb_ttl_delay),
            threads: Arc::new(Semaphore::new(THREADS_A_CORE * cores)),
            pool: Pool::new(THREADS_A_CORE * cores),
            followers: Arc::new(Semaphore::new(config.limits.followers)),
            stop: watch::Sender::new(false),
            commits: committer(),
            may_block: AtomicBool::new(false),
            crowd: AtomicI64::new(0),
            freshness: Mutex::default(),
            database,
            config,
        }))
    }

    pub(crate) fn downgrade(&self) -> WeakApp {
        WeakApp(Arc::downgrade(&self.0))
    }

    pub(crate) fn table(&self, name: &str) -> Result<Table> {
        Ok(self.database.table(name)?)
    }

    /// Waits for a turn among the requests that are worked on.
    pub(crate) async fn turn(&self) -> Result<tokio::sync::OwnedSemaphorePermit> {
        let limits = &self.config.limits;
        if let Ok(turn) = self.turns.clone().try_acquire_owned() {
            return Ok(turn);
        }
        let turn = self.turns.clone().acquire_owned();
        match tokio::time::timeout(limits.requests_wait, turn).await {
            Ok(Ok(turn)) => Ok(turn),
            _ => Err(Problem::new(BUSY, format!("{} requests are worked on", limits.requests))),
        }
    }

    /// From now on requests come on threads of this runtime.
    pub(crate) fn serves_on(&self, runtime: &Handle) {
        let may_block = runtime.runtime_flavor() == RuntimeFlavor::MultiThread;
        self.may_block.store(may_block, Ordering::Relaxed);
    }

    /// Ends what goes on until somebody ends it.
    pub(crate) fn stop(&self) {
        self.stop.send_replace(true);
    }

    /// Waits until the server stops.
    pub(crate) async fn stopping(&self) {
        // It can't be closed: we have the sender.
        let _ = self.stop.subscribe().wait_for(|stops| *stops).await;
    }

    /// Reads a row or two here and now: that takes less time than to have another thread do it. If
    /// it may have to wait for another machine, the other tasks of this thread go on elsewhere.
    pub(crate) fn read_here<T>(&self, read: impl FnOnce() -> T) -> T {
        match self.database.reads_may_wait() {
            true => tokio::task::block_in_place(read),
            false => read(),
        }
    }

    /// Does something that reads or writes files, where that holds up nobody else, as soon as one
    /// of the few threads for it is free.
    pub(crate) async fn blocking<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Database) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let free = self.threads.clone().acquire_owned();
        let free = tokio::time::timeout(self.config.limits.request_time, free).await;
        let free = free.map_err(|_| Problem::new(BUSY, "no thread was free in time"))?;
        let database = self.database.clone();
        let done = self.pool.run(move || {
            let done = work(&database);
            drop(free);
            done
        });
        done.await.unwrap_or_else(|| Err(Problem::new(INTERNAL, "it failed in the middle")))
    }

    /// The same for what takes long, and is rare: nobody waits for its thread.
    pub(crate) async fn aside<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Database) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let database = self.database.clone();
        let work = tokio::task::spawn_blocking(move || work(&database));
        work.await.unwrap_or_else(|error| Err(Problem::new(INTERNAL, error.to_string())))
    }

    /// The same within the time of a request. What has begun goes on, and its end is not told.
    pub(crate) async fn in_time<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Database) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        self.within_time(self.blocking(work)).await
    }

    /// Waits for something within the time of a request.
    async fn within_time<T>(&self, done: impl Future<Output = Result<T>>) -> Result<T> {
        let time = self.config.limits.request_time;
        match tokio::time::timeout(time, done).await {
            Ok(done) => done,
            Err(_) => Err(Problem::new(
                INTERRUPTED,
                format!("it took more than {} s; it may still be done", time.as_secs()),
            )),
        }
    }

    /// Writes rows, without a thread that waits for them: those who come together are committed at
    /// once, by one thread for all.
    pub(crate) async fn write(
        &self,
        table: Table,
        writes: impl Writes,
        durability: Durability,
    ) -> Result<Receipt> {
        let submitted = match writes.len() {
            0..=FEW_WRITES => Submission::new(self, table, writes, durability)?,
            _ => {
                let app = self.clone();
                self.blocking(move |_| Submission::new(&app, table, writes, durability)).await?
            }
        };
        match submitted {
            Submission::Queued(receipt) => self.within_time(async { Ok(receipt.await?) }).await,
            // A thread waits for room.
            Submission::Full(table, writes) => {
                let write = move |_: &Database| {
                    Ok(table.write_with(writes.writes().into_owned(), durability)?)
                };
                self.in_time(write).await
            }
        }
    }

    /// The same for rows of several tables.
    pub(crate) async fn write_across(&self, writes: Vec<(Table, Write<'_>)>) -> Result<Receipt> {
        self.note_crowd();
        let run = |commit| self.commit(commit);
        let each = writes.iter().map(|(table, write)| (table, write.clone()));
        match self.database.submit(each, Durability::Sync, run) {
            Err(Error::Busy) => {}
            submitted => {
                let receipt = submitted?;
                return self.within_time(async { Ok(receipt.await?) }).await;
            }
        }
        // A thread waits for room.
        let owned = writes.into_iter().map(|(table, write)| (table, write.into_owned()));
        let owned: Vec<_> = owned.collect();
        self.in_time(move |database| {
            Ok(database.transaction(owned.iter().map(|(table, write)| (table, write.clone())))?)
        })
        .await
    }

    /// To be said before a write is queued.
    fn note_crowd(&self) {
        self.crowd.fetch_max(self.metrics.in_flight.get(), Ordering::Relaxed);
    }

    /// Commits in this thread where that waits for nothing, or requests come one at a time: to hand it
    /// to another and back takes a quarter of the time of a write. Otherwise the thread for it does,
    /// which those who were just answered have time to join, and if that is gone, this one. (A thread
    /// that waited for another's commit would not see that its own time is over.)
    fn commit(&self, commit: Commit) {
        let Some(commit) = commit.run_at_once() else { return };
        let is_alone = self.crowd.swap(0, Ordering::Relaxed) <= 1 && !commit.waits_for_another();
        if is_alone && self.may_block.load(Ordering::Relaxed) {
            tokio::task::block_in_place(|| commit.run());
        } else {
            drop(self.commits.send(commit));
        }
    }

    /// The same for a query, which is given up when its time is over or nobody waits any more.
    pub(crate) async fn query<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Database, Limit) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let cancel = CancelOnDrop(Cancel::new());
        let limit = Limit { time: self.config.limits.request_time, cancel: cancel.0.clone() };
        self.blocking(move |database| work(database, limit)).await
    }

    /// How fresh a table is, counted anew if that is due.
    pub(crate) async fn freshness(&self, table: Table) -> Result<TableFreshness> {
        let counted = {
            let mut all = self.freshness.lock().unwrap_or_else(PoisonError::into_inner);
            let known = self.database.tables();
            all.retain(|name, _| known.contains(name));
            all.entry(table.name().to_owned()).or_default().clone()
        };
        // Whoever comes while it is counted waits for that.
        let mut counted = counted.lock().await;
        if let (Some(freshness), Some((since, rest))) = (&counted.freshness, &counted.rest)
            && since.elapsed() < *rest
        {
            return Ok(freshness.clone());
        }
        let began = Stopwatch::start();
        let freshness = self.query(move |database, limit| {
            let now = database.now();
            let families = table.freshness(&limit.query(Query::new()))?;
            // Every row has each family, or does not.
            let rows = match families.first() {
                Some(family) => family.fresh + family.stale + family.missing,
                None => table.count(&limit.query(Query::new()))?,
            };
            Ok(TableFreshness { rows, families, taken_at: Time(now) })
        });
        let freshness = freshness.await?;
        let rest = (began.elapsed() * PART_OF_TIME).max(SHORTEST_REST);
        *counted =
            Counted { freshness: Some(freshness.clone()), rest: Some((Stopwatch::start(), rest)) };
        Ok(freshness)
    }

    /// What is known of the freshness of tables, without counting.
    pub(crate) fn known_freshness(&self) -> Vec<(String, TableFreshness)> {
        let all = self.freshness.lock().unwrap_or_else(PoisonError::into_inner);
        let known = all.iter().filter_map(|(name, counted)| {
            let freshness = counted.try_lock().ok()?.freshness.clone()?;
            Some((name.clone(), freshness))
        });
        known.collect()
    }
}

/// What writes to one table are made of; they are made when they are wanted, and borrow from it.
pub(crate) trait Writes: Send + 'static {
    fn len(&self) -> usize;

    fn writes(&self) -> Cow<'_, [Write<'_>]>;
}

impl Writes for Vec<Write<'static>> {
    fn len(&self) -> usize {
        self.len()
    }

    fn writes(&self) -> Cow<'_, [Write<'_>]> {
        Cow::Borrowed(self)
    }
}

/// What became of writes that were to be queued.
enum Submission<W> {
    Queued(Submitted),
    Full(Table, W),
}

impl<W: Writes> Submission<W> {
    fn new(app: &App, table: Table, writes: W, durability: Durability) -> Result<Self> {
        app.note_crowd();
        let run = |commit| app.commit(commit);
        match table.submit(&writes.writes(), durability, run) {
            Err(Error::Busy) => Ok(Submission::Full(table, writes)),
            submitted => Ok(Submission::Queued(submitted?)),
        }
    }
}

/// A thread that commits, and nothing else: one of those that also wait for commits might never be
/// free to do it.
fn committer() -> mpsc::Sender<Commit> {
    let (commits, queue) = mpsc::channel::<Commit>();
    let thread = std::thread::Builder::new().name("commits".to_owned());
    let _ = thread.spawn(move || queue.into_iter().for_each(Commit::run));
    commits
}

/// When a query is to give up.
#[derive(Clone)]
pub(crate) struct Limit {
    pub(crate) time: Duration,
    pub(crate) cancel: Cancel,
}

impl Limit {
    pub(crate) fn query(&self, query: Query) -> Query {
        query.timeout(self.time).cancelled_by(&self.cancel)
    }
}

/// Gives up a query when nobody waits for it any more.
struct CancelOnDrop(Cancel);

impl Drop for CancelOnDrop {
    fn drop(&mut self) {
        self.0.cancel();
    }
}
