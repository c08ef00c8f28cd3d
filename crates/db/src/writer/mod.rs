//! All writes go through here: callers queue up, and one of them at a time commits for all who
//! wait. So conditions, counters and late writes are decided one after the other, and one sync to
//! disk serves many. Readers never wait for it.

mod ahead;
mod apply;
mod changes;
mod indexes;
mod pending;
mod prepare;
mod syncer;

use std::pin::Pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError, TryLockError};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use stonecrop_store::{Batch, ErrorKind, Lead, Store};

use crate::catalog::{Catalog, TableState};
use crate::clock::{Clock, Timestamp};
use crate::error::{Error, Result};

use apply::Request;
pub(crate) use indexes::is_taken;
pub(crate) use pending::Pending;
pub(crate) use prepare::{Prepared, Target};
use syncer::Syncer;

/// When a write counts as done.
///
/// ```
/// use stonecrop::{Database, Durability, TableSchema, Write};
/// let people = Database::memory().create_table(TableSchema::new("people", "id u64", "")?)?;
/// let receipt = people.write_with([Write::put(1).set("name", "Ann")], Durability::None)?;
/// assert_eq!(receipt.durability, Durability::None);
/// # Ok::<(), stonecrop::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Durability {
    /// When the operating system has it. It survives the end of the process, but a power cut only
    /// after the next sync.
    None,
    /// As `None`, and it is synced within [`crate::Options::sync_interval`].
    Interval,
    /// When it is on disk.
    #[default]
    Sync,
}

/// What became of a batch of writes.
///
/// ```
/// use stonecrop::{Database, TableSchema, Timestamp, Write};
/// let people = Database::memory().create_table(TableSchema::new("people", "id u64", "")?)?;
/// people.write(Write::put(1).set("name", "Ann"))?;
/// let late = Write::put(1).set("name", "An").written_at(Timestamp::from_micros(0));
/// assert_eq!(people.write(late)?.writes[0].ignored, ["name"]);
/// # Ok::<(), stonecrop::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Receipt {
    /// How safe it is: what was asked for, or better.
    pub durability: Durability,
    /// What became of each write, in their order.
    pub writes: Vec<Outcome>,
}

/// What became of one write.
///
/// ```
/// use stonecrop::{Database, TableSchema, Write};
/// let people = Database::memory().create_table(TableSchema::new("people", "id u64", "")?)?;
/// let receipt = people.write(Write::put(1).set("name", "Ann"))?;
/// assert!(receipt.writes[0].ignored.is_empty());
/// # Ok::<(), stonecrop::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Outcome {
    /// The time that it was written at.
    pub written_at: Timestamp,
    /// The families, and the columns that are in none, that hold something newer already and were
    /// left as they are.
    pub ignored: Vec<String>,
}

/// So many bytes that are not synced are committed without letting others run first: they are worth
/// a commit of their own, and on busy cores each turn that is given away takes long.
const LOAD_BYTES: usize = 64 << 10;
/// How often others are let run before a commit, at most.
const GATHER_TURNS: usize = 64;
/// How often is looked whether another commit is over, where none takes long; and how often after
/// that, with others let run in between: the one that commits may have been stopped for this one.
const SPINS: usize = 200;
const YIELDS: usize = 20;
/// How long others are waited for where a commit takes several times as long.
const GATHER_WAIT: Duration = Duration::from_millis(2);

/// Callers that wait, and the one who commits.
pub(crate) struct Writer {
    store: Arc<dyn Store>,
    catalog: Arc<Catalog>,
    /// The term of the store for which the catalog was read, where several processes share it.
    term: AtomicU64,
    clock: Arc<dyn Clock>,
    limit: QueueLimit,
    queue: Mutex<Queue>,
    /// Told when there is room in the queue.
    room: Condvar,
    /// Told when all who are expected have come.
    gathered: Condvar,
    /// Held while something is committed.
    commit: Mutex<()>,
    counts: Counts,
    syncer: Syncer,
}

#[derive(Default)]
struct Counts {
    commits: AtomicU64,
    syncs: AtomicU64,
    writes: AtomicU64,
}

/// What the writer has done since the database was opened, and what waits.
///
/// ```
/// use stonecrop::{Database, TableSchema, Write};
/// let db = Database::memory();
/// let people = db.create_table(TableSchema::new("people", "id u64", "")?)?;
/// people.write(Write::put(1).set("name", "Ann"))?;
/// assert_eq!((db.writer_stats().writes, db.writer_stats().queued_bytes), (1, 0));
/// # Ok::<(), stonecrop::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct WriterStats {
    /// How many groups of writes were committed.
    pub commits: u64,
    /// How many of them were synced.
    pub syncs: u64,
    /// How many writes were in them.
    pub writes: u64,
    /// The bytes of the writes that wait.
    pub queued_bytes: usize,
}

/// How many bytes of writes may wait, and how long a caller waits for room.
#[derive(Clone, Copy, Debug)]
pub(crate) struct QueueLimit {
    pub(crate) bytes: usize,
    pub(crate) wait: Duration,
}

/// The group that is next to be committed. Whoever is first in it commits it for all.
#[derive(Default)]
struct Queue {
    waiting: Vec<Waiting>,
    answers: Arc<Answers>,
    bytes: usize,
    /// How many callers are likely to be in it.
    expected: usize,
    /// Whether a thread waits for room, or for more callers: to wake one takes a call of the system
    /// even where there is none.
    is_room_awaited: bool,
    are_more_awaited: bool,
}

impl Queue {
    fn is_gathered(&self) -> bool {
        self.waiting.len() >= self.expected
    }

    /// Whether it is much, and there is no sync that others could share.
    fn is_load(&self) -> bool {
        self.bytes >= LOAD_BYTES && !self.is_to_be_synced()
    }

    fn is_to_be_synced(&self) -> bool {
        self.waiting.iter().any(|waiting| waiting.durability == Durability::Sync)
    }
}

struct Waiting {
    writes: Vec<Prepared>,
    durability: Durability,
    /// Whether it is done when it has begun: nobody is told of it before the next one, or
    /// [`Writer::settle`], has found that it was carried out.
    is_load: bool,
}

impl Waiting {
    /// About how many puts and deletes it makes.
    fn operations(&self) -> usize {
        let of = |write: &Prepared| {
            let change = usize::from(write.target.table.schema.changes.is_some());
            write.families.len() + write.target.table.indexes.len() + change
        };
        // One for the catalog.
        self.writes.iter().map(of).sum::<usize>() + 1
    }
}

/// Where the callers of one group wait, each for the answer in its place. All threads among them
/// are woken at once: one call of the system a group, not one a caller.
#[derive(Default)]
struct Answers {
    given: OnceLock<Vec<Mutex<Option<Result<Receipt>>>>>,
    /// Those who wait without a thread.
    wakers: Mutex<Vec<Waker>>,
}

impl Answers {
    fn give(&self, answers: Vec<Mutex<Option<Result<Receipt>>>>) {
        let _ = self.given.set(answers);
        std::mem::take(&mut *lock(&self.wakers)).into_iter().for_each(Waker::wake);
    }
}

/// Writes that are queued, and the future of their receipt: see [`crate::Table::submit`].
///
/// ```
/// # use stonecrop::{Commit, Database, Durability, Submitted, TableSchema, Write};
/// let people = Database::memory().create_table(TableSchema::new("people", "id u64", "")?)?;
/// let write = Write::put(1).set("name", "Ann");
/// let receipt: Submitted = people.submit(&[write], Durability::Sync, Commit::run)?;
/// # Ok::<(), stonecrop::Error>(())
/// ```
#[must_use = "the future tells what became of the writes"]
pub struct Submitted {
    answers: Arc<Answers>,
    place: usize,
}

impl Submitted {
    /// Waits until the group is committed.
    fn wait(self) -> Result<Receipt> {
        Self::take(self.answers.given.wait(), self.place)
    }

    fn take(given: &[Mutex<Option<Result<Receipt>>>], place: usize) -> Result<Receipt> {
        let answer = given.get(place).and_then(|answer| lock(answer).take());
        answer.unwrap_or(Err(Error::Closed))
    }
}

impl Future for Submitted {
    type Output = Result<Receipt>;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Result<Receipt>> {
        // Under the lock: answers that come now find the waker.
        let mut wakers = lock(&self.answers.wakers);
        match self.answers.given.get() {
            Some(given) => Poll::Ready(Self::take(given, self.place)),
            None => {
                wakers.push(context.waker().clone());
                Poll::Pending
            }
        }
    }
}

/// The commit of a group of writes, for all who wait. It blocks, and happens when this is dropped at
/// the latest: see [`crate::Table::submit`].
///
/// ```
/// # use stonecrop::{Commit, Database, Durability, TableSchema, Write};
/// let people = Database::memory().create_table(TableSchema::new("people", "id u64", "")?)?;
/// let on_a_thread = |commit: Commit| drop(std::thread::spawn(|| commit.run()));
/// let receipt = people.submit(&[Write::put(1)], Durability::Sync, on_a_thread)?;
/// # Ok::<(), stonecrop::Error>(())
/// ```
#[must_use = "the commit happens when this is dropped"]
pub struct Commit(Option<Arc<Writer>>);

impl Commit {
    /// Commits.
    ///
    /// ```
    /// # use stonecrop::{Commit, Database, Durability, TableSchema, Write};
    /// let people = Database::memory().create_table(TableSchema::new("people", "id u64", "")?)?;
    /// let write = Write::put(1).set("name", "Ann");
    /// let receipt = people.submit(&[write], Durability::Sync, Commit::run)?;
    /// # Ok::<(), stonecrop::Error>(())
    /// ```
    pub fn run(self) {}

    /// Whether another commit is under way, for which this one would wait.
    ///
    /// ```
    /// # use stonecrop::{Commit, Database, Durability, TableSchema, Write};
    /// let people = Database::memory().create_table(TableSchema::new("people", "id u64", "")?)?;
    /// let run = |commit: Commit| assert!(!commit.waits_for_another());
    /// let receipt = people.submit(&[Write::put(1)], Durability::Sync, run)?;
    /// # Ok::<(), stonecrop::Error>(())
    /// ```
    pub fn waits_for_another(&self) -> bool {
        let writer = self.0.as_ref();
        writer.is_some_and(|it| matches!(it.commit.try_lock(), Err(TryLockError::WouldBlock)))
    }

    /// Commits where that waits for nothing: the database is in memory, and nobody else commits.
    /// Otherwise gives the commit back.
    ///
    /// ```
    /// # use stonecrop::{Commit, Database, Durability, TableSchema, Write};
    /// let people = Database::memory().create_table(TableSchema::new("people", "id u64", "")?)?;
    /// let run = |commit: Commit| assert!(commit.run_at_once().is_none());
    /// let receipt = people.submit(&[Write::put(1)], Durability::Sync, run)?;
    /// # Ok::<(), stonecrop::Error>(())
    /// ```
    pub fn run_at_once(mut self) -> Option<Commit> {
        let writer = self.0.take()?;
        if writer.commit_at_once() {
            return None;
        }
        self.0 = Some(writer);
        Some(self)
    }
}

impl Drop for Commit {
    fn drop(&mut self) {
        if let Some(writer) = &self.0 {
            writer.commit_all();
        }
    }
}

impl std::fmt::Debug for Submitted {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Submitted").field("place", &self.place).finish_non_exhaustive()
    }
}

impl std::fmt::Debug for Commit {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Commit")
    }
}

/// No lock here guards anything that a panic could leave half done.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Writer {
    pub(crate) fn new(
        store: Arc<dyn Store>,
        catalog: Arc<Catalog>,
        clock: Arc<dyn Clock>,
        limit: QueueLimit,
        sync_interval: Duration,
    ) -> Self {
        Writer {
            syncer: Syncer::new(store.clone(), sync_interval),
            store,
            catalog,
            term: AtomicU64::new(0),
            clock,
            limit,
            queue: Mutex::default(),
            room: Condvar::new(),
            gathered: Condvar::new(),
            commit: Mutex::new(()),
            counts: Counts::default(),
        }
    }

    /// Nothing is synced later any more.
    pub(crate) fn stop(&self) {
        self.syncer.stop();
    }

    pub(crate) fn stats(&self) -> WriterStats {
        let read = |count: &AtomicU64| count.load(Ordering::Relaxed);
        WriterStats {
            commits: read(&self.counts.commits),
            syncs: read(&self.counts.syncs),
            writes: read(&self.counts.writes),
            queued_bytes: lock(&self.queue).bytes,
        }
    }

    /// Writes all or nothing. [`Error::Altered`] says that the definition of a table was changed
    /// since the writes were prepared.
    pub(crate) fn write(&self, writes: Vec<Prepared>, durability: Durability) -> Result<Receipt> {
        self.wait_for(Waiting { writes, durability, is_load: false })
    }

    /// The same for a batch of a load: it may have done no more than begin. The next one, or
    /// [`Writer::settle`], fails if it could not be carried out.
    pub(crate) fn load(&self, writes: Vec<Prepared>) -> Result<Receipt> {
        self.wait_for(Waiting { writes, durability: Durability::None, is_load: true })
    }

    /// Waits until what was written before is carried out, or tells that it could not be.
    pub(crate) fn settle(&self) -> Result<()> {
        Ok(self.store.ready()?)
    }

    fn wait_for(&self, waiting: Waiting) -> Result<Receipt> {
        let queued = self.queue(waiting, self.limit.wait)?;
        if queued.place == 0 {
            self.commit_all();
        }
        queued.wait()
    }

    /// The same for those who wait without a thread: `run` is given the commit if it is up to this
    /// caller, and runs it where that may block. [`Error::Busy`] says that there is no room now.
    pub(crate) fn submit(
        self: &Arc<Self>,
        writes: Vec<Prepared>,
        durability: Durability,
        run: impl FnOnce(Commit),
    ) -> Result<Submitted> {
        let waiting = Waiting { writes, durability, is_load: false };
        let queued = self.queue(waiting, Duration::ZERO)?;
        if queued.place == 0 {
            run(Commit(Some(self.clone())));
        }
        Ok(queued)
    }

    /// Queues writes once there is room; whoever is first in the queue is to commit.
    fn queue(&self, waiting: Waiting, wait: Duration) -> Result<Submitted> {
        let bytes: usize = waiting.writes.iter().map(Prepared::size).sum();
        let is_full = |queue: &mut Queue| {
            let is_full = !queue.waiting.is_empty() && queue.bytes + bytes > self.limit.bytes;
            queue.is_room_awaited |= is_full;
            is_full
        };
        let (mut queue, waited) = self
            .room
            .wait_timeout_while(lock(&self.queue), wait, is_full)
            .unwrap_or_else(PoisonError::into_inner);
        if waited.timed_out() {
            return Err(Error::Busy);
        }
        queue.bytes += bytes;
        let place = queue.waiting.len();
        queue.waiting.push(waiting);
        if queue.are_more_awaited && queue.is_gathered() {
            self.gathered.notify_one();
        }
        Ok(Submitted { answers: queue.answers.clone(), place })
    }

    /// Commits for all who wait. Those who come meanwhile are the next group.
    fn commit_all(&self) {
        self.commit_next(lock(&self.commit));
    }

    /// The same where that waits for nothing; tells whether it was done. Another short commit is over
    /// before a thread could be woken for this one.
    fn commit_at_once(&self) -> bool {
        if !self.store.is_volatile() {
            return false;
        }
        for turn in 0..SPINS + YIELDS {
            let committing = match self.commit.try_lock() {
                Ok(committing) => committing,
                Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
                Err(TryLockError::WouldBlock) => {
                    match turn < SPINS {
                        true => std::hint::spin_loop(),
                        false => std::thread::yield_now(),
                    }
                    continue;
                }
            };
            self.commit_next(committing);
            return true;
        }
        false
    }

    fn commit_next(&self, committing: MutexGuard<'_, ()>) {
        let mut queue = self.gather();
        let waiting = std::mem::take(&mut queue.waiting);
        let answers = AlwaysAnswered(std::mem::take(&mut queue.answers));
        queue.bytes = 0;
        let is_room_awaited = std::mem::take(&mut queue.is_room_awaited);
        drop(queue);
        if is_room_awaited {
            self.room.notify_all();
        }
        let answered = waiting.len();
        let given = self.commit(waiting);
        let mut queue = lock(&self.queue);
        queue.expected = answered + queue.waiting.len();
        drop(queue);
        drop(committing);
        answers.0.give(given);
    }

    /// Those whose writes were committed the last time have just been answered, and are likely to
    /// be back in a moment: one sync for all of them and all who wait already is worth letting them
    /// run first.
    fn gather(&self) -> MutexGuard<'_, Queue> {
        let mut queue = lock(&self.queue);
        for _ in 0..GATHER_TURNS {
            if queue.is_gathered() || queue.is_load() || self.store.is_volatile() {
                return queue;
            }
            drop(queue);
            std::thread::yield_now();
            queue = lock(&self.queue);
        }
        if !self.store.reads_may_wait() || !queue.is_to_be_synced() {
            return queue;
        }
        queue.are_more_awaited = true;
        let missing = |queue: &mut Queue| !queue.is_gathered();
        let gathered = self.gathered.wait_timeout_while(queue, GATHER_WAIT, missing);
        let mut queue = gathered.unwrap_or_else(PoisonError::into_inner).0;
        queue.are_more_awaited = false;
        queue
    }

    /// Commits a group, and gives the answer for each.
    fn commit(&self, group: Vec<Waiting>) -> Vec<Mutex<Option<Result<Receipt>>>> {
        let is_load = self.is_load(&group);
        let ready = if is_load { Ok(()) } else { self.ready() };
        if let Err(cause) = ready.map_err(Arc::new) {
            let refused = group.iter().map(|_| Mutex::new(Some(Err(Error::commit(&cause)))));
            return refused.collect();
        }
        let operations = group.iter().map(Waiting::operations).sum();
        let mut pending = Pending::new(&*self.store, operations);
        if is_load {
            pending.after_begun();
        }
        pending.read_ahead(group.iter().flat_map(|waiting| &waiting.writes));
        let mut answers = Vec::with_capacity(group.len());
        let mut durability = Durability::None;
        let mut tables: Vec<Arc<TableState>> = Vec::new();
        for Waiting { writes, durability: asked, .. } in group {
            let mut of: Vec<_> = targets(&writes).map(|target| target.table.clone()).collect();
            let applied = check_current(&writes)
                .and_then(|()| Request::new(&mut pending, self.clock.now()).apply(writes));
            if applied.is_ok() {
                durability = durability.max(asked);
                tables.append(&mut of);
            }
            answers.push(applied);
        }
        if pending.is_to_be_synced() {
            durability = Durability::Sync;
        }
        let level = match durability {
            Durability::Sync => stonecrop_store::Durability::Sync,
            _ if is_load => stonecrop_store::Durability::Begun,
            Durability::Interval | Durability::None => stonecrop_store::Durability::Buffered,
        };
        let committed = pending.commit(level).map_err(Arc::new);
        if committed.is_err() {
            self.doubt();
        }
        self.count(&answers, durability);
        if committed.is_ok() && durability == Durability::Interval {
            self.syncer.wake();
        }
        for table in &tables {
            match &committed {
                Ok(()) if table.schema.changes.is_some() => table.activity.changes.publish(),
                Ok(()) => {}
                Err(_) => table.activity.forget_stored(),
            }
        }
        let answers = answers.into_iter().map(|answer| match &committed {
            Ok(()) => answer.map(|writes| Receipt { durability, writes }),
            // A condition may have failed of what was not committed, so that is no answer.
            Err(cause) => Err(Error::commit(cause)),
        });
        answers.map(|answer| Mutex::new(Some(answer))).collect()
    }

    /// Whether a group may be made ready while the last one is carried out, and be carried out
    /// while the next is made ready: nobody hears of it before.
    fn is_load(&self, group: &[Waiting]) -> bool {
        let keeps_changes = |target: &Arc<Target>| target.table.schema.changes.is_some();
        group.iter().all(|waiting| waiting.is_load && !targets(&waiting.writes).any(keeps_changes))
            && self.store.lead() == Lead::Alone
    }

    fn count(&self, answers: &[Result<Vec<Outcome>>], durability: Durability) {
        let writes: usize = answers.iter().flatten().map(Vec::len).sum();
        self.counts.writes.fetch_add(writes as u64, Ordering::Relaxed);
        self.counts.commits.fetch_add(1, Ordering::Relaxed);
        self.counts.syncs.fetch_add(u64::from(durability == Durability::Sync), Ordering::Relaxed);
    }

    /// Waits until nothing is under way, and has the catalog as whoever wrote before left it; only
    /// by whoever commits.
    fn ready(&self) -> stonecrop_store::Result<()> {
        self.store.ready()?;
        match self.store.lead() {
            Lead::Here(term) if self.term.load(Ordering::Acquire) != term => {
                self.catalog.lead(&*self.store, self.store.shards())?;
                self.term.store(term, Ordering::Release);
                Ok(())
            }
            Lead::Alone | Lead::Here(_) => Ok(()),
            Lead::Elsewhere => {
                let problem = "another process decides what is written now; ask again";
                Err(stonecrop_store::Error::new(ErrorKind::Unavailable, problem))
            }
        }
    }

    /// Whether what is known of the tables is of whoever decides now.
    pub(crate) fn leads(&self) -> bool {
        match self.store.lead() {
            Lead::Alone => true,
            Lead::Here(term) => self.term.load(Ordering::Acquire) == term,
            Lead::Elsewhere => false,
        }
    }

    /// After a commit whose end is not known, the catalog may be another.
    fn doubt(&self) {
        self.term.store(0, Ordering::Release);
    }

    /// Does something while nothing else is committed.
    pub(crate) fn exclusively<T>(&self, act: impl FnOnce() -> Result<T>) -> Result<T> {
        self.last(|| {
            self.ready()?;
            act()
        })
    }

    /// The same where it does not matter whether anything more can be committed.
    pub(crate) fn last<T>(&self, act: impl FnOnce() -> Result<T>) -> Result<T> {
        let _committing = lock(&self.commit);
        act()
    }

    /// Commits a batch, on disk; only within [`Writer::exclusively`].
    pub(crate) fn commit_batch(&self, batch: Batch) -> Result<()> {
        let written = self.store.write(batch, stonecrop_store::Durability::Sync);
        written.inspect_err(|_| self.doubt())?;
        self.store.announce();
        Ok(())
    }
}

/// That the tables are still those that the writes were prepared for.
fn check_current(writes: &[Prepared]) -> Result<()> {
    for Target { slot, table } in targets(writes).map(Arc::as_ref) {
        match slot.get() {
            Some(current) if Arc::ptr_eq(&current, table) => {}
            Some(_) => return Err(Error::Altered),
            None => return Err(Error::NoTable { table: table.schema.name().to_owned() }),
        }
    }
    Ok(())
}

/// What the writes are for, once for all that follow each other.
fn targets(writes: &[Prepared]) -> impl Iterator<Item = &Arc<Target>> {
    let runs = writes.chunk_by(|a, b| Arc::ptr_eq(&a.target, &b.target));
    runs.filter_map(|run| Some(&run.first()?.target))
}

/// Answers that are given whatever happens: those who wait when a commit panics learn that it is
/// over.
struct AlwaysAnswered(Arc<Answers>);

impl Drop for AlwaysAnswered {
    fn drop(&mut self) {
        self.0.give(Vec::new());
    }
}
