//! All writes go through here: callers queue up, and one of them at a time commits for all who
//! wait. So conditions, counters and late writes are decided one after the other, and one sync to
//! disk serves many. Readers never wait for it.

mod apply;
mod pending;
mod prepare;

use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use stonecrop_store::{Batch, Store};

use crate::catalog::TableState;
use crate::clock::{Clock, Timestamp};
use crate::error::{Error, Result};

use apply::Request;
use pending::Pending;
pub(crate) use prepare::Prepared;

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

/// How often others are let run before a commit, at most.
const GATHER_TURNS: usize = 64;

/// Callers that wait, and the one who commits.
pub(crate) struct Writer {
    store: Arc<dyn Store>,
    clock: Arc<dyn Clock>,
    limit: QueueLimit,
    queue: Mutex<Queue>,
    /// Told when there is room in the queue.
    room: Condvar,
    /// Held while something is committed.
    commit: Mutex<()>,
}

/// How many bytes of writes may wait, and how long a caller waits for room.
#[derive(Clone, Copy, Debug)]
pub(crate) struct QueueLimit {
    pub(crate) bytes: usize,
    pub(crate) wait: Duration,
}

#[derive(Default)]
struct Queue {
    waiting: VecDeque<Waiting>,
    bytes: usize,
    /// How many callers the last commit was for.
    last_group: usize,
    /// Whether somebody is committing, or was told to.
    led: bool,
}

struct Waiting {
    writes: Vec<Prepared>,
    durability: Durability,
    ticket: Arc<Ticket>,
}

/// Where a caller waits for the answer, or to be told to commit.
#[derive(Default)]
struct Ticket {
    state: Mutex<TicketState>,
    changed: Condvar,
}

#[derive(Default)]
enum TicketState {
    #[default]
    Waiting,
    /// The caller is the one to commit next.
    Lead,
    Done(Result<Receipt>),
}

impl Ticket {
    fn set(&self, state: TicketState) {
        *lock(&self.state) = state;
        self.changed.notify_one();
    }

    /// The answer, or none if the caller is to commit.
    fn wait(&self) -> Option<Result<Receipt>> {
        let mut state = lock(&self.state);
        loop {
            match std::mem::take(&mut *state) {
                TicketState::Waiting => {}
                TicketState::Lead => return None,
                TicketState::Done(result) => return Some(result),
            }
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }
}

/// No lock here guards anything that a panic could leave half done.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Writer {
    pub(crate) fn new(store: Arc<dyn Store>, clock: Arc<dyn Clock>, limit: QueueLimit) -> Self {
        let queue = Mutex::new(Queue::default());
        Writer { store, clock, limit, queue, room: Condvar::new(), commit: Mutex::new(()) }
    }

    /// Writes all or nothing. [`Error::Altered`] says that the definition of a table was changed
    /// since the writes were prepared.
    pub(crate) fn write(&self, writes: Vec<Prepared>, durability: Durability) -> Result<Receipt> {
        let bytes = writes.iter().map(Prepared::size).sum();
        let ticket = Arc::new(Ticket::default());
        let waiting = Waiting { writes, durability, ticket: ticket.clone() };
        let mut queue = self.wait_for_room(bytes)?;
        queue.bytes += bytes;
        queue.waiting.push_back(waiting);
        let leads = !std::mem::replace(&mut queue.led, true);
        drop(queue);
        if !leads && let Some(answer) = ticket.wait() {
            return answer;
        }
        self.commit_all();
        ticket.wait().unwrap_or(Err(Error::Closed))
    }

    fn wait_for_room(&self, bytes: usize) -> Result<MutexGuard<'_, Queue>> {
        let queue = lock(&self.queue);
        let is_full =
            |queue: &mut Queue| !queue.waiting.is_empty() && queue.bytes + bytes > self.limit.bytes;
        let (queue, waited) = self
            .room
            .wait_timeout_while(queue, self.limit.wait, is_full)
            .unwrap_or_else(PoisonError::into_inner);
        if waited.timed_out() { Err(Error::Busy) } else { Ok(queue) }
    }

    /// Commits for all who wait, then lets one of those who came meanwhile go on.
    fn commit_all(&self) {
        let committing = lock(&self.commit);
        let mut queue = self.gather();
        let group = Group { waiting: std::mem::take(&mut queue.waiting), writer: self };
        queue.bytes = 0;
        queue.last_group = group.waiting.len();
        drop(queue);
        self.room.notify_all();
        self.commit(group);
        drop(committing);
    }

    /// Those whose writes were committed together the last time have just been answered, and are
    /// likely to be back in a moment: one sync for all of them is worth letting them run first.
    fn gather(&self) -> MutexGuard<'_, Queue> {
        let mut queue = lock(&self.queue);
        for _ in 0..GATHER_TURNS {
            if queue.waiting.len() >= queue.last_group {
                break;
            }
            drop(queue);
            std::thread::yield_now();
            queue = lock(&self.queue);
        }
        queue
    }

    fn commit(&self, mut group: Group<'_>) {
        let mut pending = Pending::new(&*self.store);
        let mut answers = Vec::with_capacity(group.waiting.len());
        let mut durability = Durability::None;
        let mut tables: Vec<Arc<TableState>> = Vec::new();
        for waiting in &mut group.waiting {
            let writes = std::mem::take(&mut waiting.writes);
            let runs = writes.chunk_by(|a, b| Arc::ptr_eq(&a.table, &b.table));
            let of = runs.filter_map(|run| Some(run.first()?.table.clone()));
            let mut of: Vec<_> = of.collect();
            let applied = check_current(&writes)
                .and_then(|()| Request::new(&mut pending, self.clock.now()).apply(writes));
            if applied.is_ok() {
                durability = durability.max(waiting.durability);
                tables.append(&mut of);
            }
            answers.push(applied);
        }
        let level = match durability {
            Durability::Sync => stonecrop_store::Durability::Sync,
            Durability::Interval | Durability::None => stonecrop_store::Durability::Buffered,
        };
        let committed = self.store.write(pending.into_batch(), level).map_err(Arc::new);
        if committed.is_err() {
            tables.iter().for_each(|table| table.activity.forget_stored());
        }
        for (waiting, answer) in group.waiting.drain(..).zip(answers) {
            let answer = match &committed {
                Ok(()) => answer.map(|writes| Receipt { durability, writes }),
                // A condition may have failed of what was not committed, so that is no answer.
                Err(cause) => Err(Error::commit(cause)),
            };
            waiting.ticket.set(TicketState::Done(answer));
        }
    }

    /// Does something while nothing else is committed.
    pub(crate) fn exclusively<T>(&self, act: impl FnOnce() -> Result<T>) -> Result<T> {
        let _committing = lock(&self.commit);
        act()
    }

    /// Commits a batch, on disk; only within [`Writer::exclusively`].
    pub(crate) fn commit_batch(&self, batch: Batch) -> Result<()> {
        self.store.write(batch, stonecrop_store::Durability::Sync)?;
        Ok(())
    }
}

/// That the tables are still those that the writes were prepared for.
fn check_current(writes: &[Prepared]) -> Result<()> {
    let mut checked: Option<&Arc<TableState>> = None;
    for write in writes {
        if checked.is_some_and(|table| Arc::ptr_eq(table, &write.table)) {
            continue;
        }
        match write.slot.get() {
            Some(current) if Arc::ptr_eq(&current, &write.table) => checked = Some(&write.table),
            Some(_) => return Err(Error::Altered),
            None => return Err(Error::NoTable { table: write.table.schema.name().to_owned() }),
        }
    }
    Ok(())
}

/// Requests that are being committed. Whatever happens, each gets an answer, and somebody who came
/// meanwhile commits next.
struct Group<'w> {
    waiting: VecDeque<Waiting>,
    writer: &'w Writer,
}

impl Drop for Group<'_> {
    fn drop(&mut self) {
        for waiting in self.waiting.drain(..) {
            waiting.ticket.set(TicketState::Done(Err(Error::Closed)));
        }
        let mut queue = lock(&self.writer.queue);
        match queue.waiting.front() {
            Some(next) => next.ticket.set(TicketState::Lead),
            None => queue.led = false,
        }
    }
}
