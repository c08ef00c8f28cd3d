//! The numbers of a table's changes, and those who wait for the next.

use std::collections::HashMap;
use std::pin::Pin;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use bytes::Bytes;

use crate::record::{CatalogKind, catalog_key};

/// How far ahead the stored ceiling is set, so that it is written rarely.
const CEILING_AHEAD: u64 = 1 << 20;

/// The numbers of a table's changes. Only the writer gives them out.
#[derive(Debug, Default)]
pub(crate) struct ChangeLog {
    numbers: Mutex<Numbers>,
    /// Told when there are new changes, or will be none any more.
    arrived: Condvar,
}

#[derive(Debug, Default)]
struct Numbers {
    /// The highest number that may be in use; the next one is above.
    given: u64,
    /// The number of the last change, which the next one names as the one before it.
    last: u64,
    /// The last one that is committed: readers find it, if it is still kept.
    committed: u64,
    /// What is stored of `given`. It is on disk before any number above is used, so that no number
    /// is used twice even if the changes themselves were not synced.
    ceiling: u64,
    /// Up to here the changes tell nothing of the rows that are there now: they were not kept for a
    /// while, or the table was emptied.
    start: u64,
    is_closed: bool,
    next_waiter: u64,
    waiters: HashMap<u64, Waker>,
}

impl ChangeLog {
    fn lock(&self) -> MutexGuard<'_, Numbers> {
        self.numbers.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Goes on from what is stored: the value of the catalog's record, the last change that is
    /// there.
    pub(crate) fn recover(&self, record: &[u8], last: Option<u64>) -> Option<()> {
        let (ceiling, rest) = record.split_first_chunk()?;
        let (ceiling, start) =
            (u64::from_be_bytes(*ceiling), u64::from_be_bytes(*rest.first_chunk()?));
        let mut numbers = self.lock();
        numbers.last = start.max(last.unwrap_or(0));
        numbers.committed = numbers.last;
        numbers.given = ceiling.max(numbers.last);
        (numbers.ceiling, numbers.start) = (ceiling, start);
        Some(())
    }

    /// Goes on to where another process has come, as it was read just now.
    pub(crate) fn follow(&self, found: &ChangeLog) {
        let (given, last, start) = {
            let found = found.lock();
            (found.given, found.last, found.start)
        };
        let mut numbers = self.lock();
        (numbers.given, numbers.last, numbers.start) = (given, last, start);
        drop(numbers);
        self.publish();
    }

    /// Goes on where another process has stopped to give numbers.
    pub(crate) fn lead(&self, found: &ChangeLog) {
        let ceiling = found.lock().ceiling;
        self.lock().ceiling = ceiling;
    }

    /// A number for a change, and that of the one before.
    pub(crate) fn give(&self) -> (u64, u64) {
        let mut numbers = self.lock();
        numbers.given += 1;
        let (number, before) = (numbers.given, numbers.last);
        numbers.last = number;
        (number, before)
    }

    /// The changes that were kept so far lead up to nothing that comes from now on.
    pub(crate) fn start_anew(&self) {
        let mut numbers = self.lock();
        numbers.given += 1;
        numbers.last = numbers.given;
        numbers.start = numbers.given;
        numbers.committed = numbers.given;
    }

    /// As the log of a table that was emptied: its numbers go on.
    pub(crate) fn start_after(&self, emptied: &ChangeLog) {
        let given = emptied.lock().given;
        if given > 0 {
            self.lock().given = given;
            self.start_anew();
        }
    }

    /// The record of a higher ceiling, if there is none for the numbers that were given out. It must
    /// be on disk before they are used.
    pub(crate) fn raise_ceiling(&self, table: u32) -> Option<(Bytes, Bytes)> {
        let mut numbers = self.lock();
        if numbers.given <= numbers.ceiling {
            return None;
        }
        numbers.ceiling = numbers.given.saturating_add(CEILING_AHEAD);
        Some(numbers.record(table, numbers.ceiling))
    }

    /// What the catalog has to know of the numbers; none where none was ever given out.
    pub(crate) fn record(&self, table: u32) -> Option<(Bytes, Bytes)> {
        let mut numbers = self.lock();
        numbers.ceiling = numbers.ceiling.max(numbers.given);
        (numbers.given > 0).then(|| numbers.record(table, numbers.ceiling))
    }

    /// The same with the lowest ceiling, now that no more numbers are given out.
    pub(crate) fn final_record(&self, table: u32) -> Option<(Bytes, Bytes)> {
        let numbers = self.lock();
        (numbers.given < numbers.ceiling).then(|| numbers.record(table, numbers.given))
    }

    /// The last commit failed, so the ceiling may not be stored, and the next change follows the
    /// last one that was committed.
    pub(crate) fn forget_stored(&self) {
        let mut numbers = self.lock();
        numbers.ceiling = 0;
        numbers.last = numbers.committed;
    }

    /// What was given out is committed.
    pub(crate) fn publish(&self) {
        let mut numbers = self.lock();
        if numbers.committed < numbers.last {
            numbers.committed = numbers.last;
            self.wake(numbers);
        }
    }

    /// There will be no more changes.
    pub(crate) fn close(&self) {
        let mut numbers = self.lock();
        numbers.is_closed = true;
        self.wake(numbers);
    }

    fn wake(&self, mut numbers: MutexGuard<'_, Numbers>) {
        let waiters = std::mem::take(&mut numbers.waiters);
        drop(numbers);
        self.arrived.notify_all();
        waiters.into_values().for_each(Waker::wake);
    }

    /// The number of the last change that is committed.
    pub(crate) fn committed(&self) -> u64 {
        self.lock().committed
    }

    /// The highest number that may ever have been told.
    pub(crate) fn given(&self) -> u64 {
        self.lock().given
    }
}

impl Numbers {
    fn record(&self, table: u32, ceiling: u64) -> (Bytes, Bytes) {
        let value = [ceiling, self.start].map(u64::to_be_bytes);
        (catalog_key(CatalogKind::Changes, table), Bytes::copy_from_slice(value.as_flattened()))
    }

    fn is_over(&self, after: u64) -> bool {
        self.is_closed || self.committed > after
    }
}

/// Waits for changes: a future that is ready once there are some after a number, or can be none any
/// more. See [`crate::Table::changed`].
///
/// ```
/// use std::time::Duration;
/// use stonecrop::{Changed, Database, TableSchema, Write};
/// let schema = TableSchema::new("people", "id u64", "")?.changes(Duration::from_secs(86_400));
/// let people = Database::memory().create_table(schema)?;
/// let changed: Changed = people.changed(0)?;
/// people.write(Write::put(1).set("name", "Ann"))?;
/// assert!(changed.wait(Duration::from_secs(1)));
/// # Ok::<(), stonecrop::Error>(())
/// ```
#[derive(Debug)]
#[must_use = "nothing waits unless it is awaited"]
pub struct Changed {
    log: Arc<ChangeLog>,
    after: u64,
    /// Its place among those who wait without a thread.
    waiter: Option<u64>,
}

impl Changed {
    pub(crate) fn new(log: Arc<ChangeLog>, after: u64) -> Self {
        Changed { log, after, waiter: None }
    }

    /// Waits on this thread, for so long at most, and tells whether it is ready.
    ///
    /// ```
    /// # use std::time::Duration;
    /// # use stonecrop::{Database, TableSchema};
    /// let schema = TableSchema::new("people", "id u64", "")?.changes(Duration::from_secs(60));
    /// let people = Database::memory().create_table(schema)?;
    /// assert!(!people.changed(0)?.wait(Duration::from_millis(1)));
    /// # Ok::<(), stonecrop::Error>(())
    /// ```
    pub fn wait(&self, at_most: Duration) -> bool {
        let waits = |numbers: &mut Numbers| !numbers.is_over(self.after);
        let waited = self.log.arrived.wait_timeout_while(self.log.lock(), at_most, waits);
        let (numbers, _) = waited.unwrap_or_else(PoisonError::into_inner);
        numbers.is_over(self.after)
    }
}

impl Future for Changed {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        let log = self.log.clone();
        let mut numbers = log.lock();
        if numbers.is_over(self.after) {
            return Poll::Ready(());
        }
        let waiter = self.waiter.unwrap_or(numbers.next_waiter);
        if self.waiter.replace(waiter).is_none() {
            numbers.next_waiter += 1;
        }
        numbers.waiters.insert(waiter, context.waker().clone());
        Poll::Pending
    }
}

/// Who gave up is not kept until the next change.
impl Drop for Changed {
    fn drop(&mut self) {
        if let Some(waiter) = self.waiter {
            self.log.lock().waiters.remove(&waiter);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_above_the_stored_ceiling_raises_it_once() {
        let log = ChangeLog::default();
        assert_eq!(log.raise_ceiling(1), None);
        assert_eq!(log.give(), (1, 0));
        assert!(log.raise_ceiling(1).is_some());
        assert_eq!(log.give(), (2, 1));
        assert_eq!(log.raise_ceiling(1), None);
        log.forget_stored();
        assert!(log.raise_ceiling(1).is_some());
    }

    #[test]
    fn numbers_go_on_above_the_ceiling_after_a_crash_and_without_a_gap_after_a_close() {
        let log = ChangeLog::default();
        log.give();
        let (_, crashed) = log.raise_ceiling(1).unwrap();
        let (_, closed) = log.final_record(1).unwrap();
        let next = |record: &[u8]| {
            let log = ChangeLog::default();
            log.recover(record, Some(1)).unwrap();
            log.give()
        };
        assert_eq!(next(&crashed), (CEILING_AHEAD + 2, 1));
        assert_eq!(next(&closed), (2, 1));
        assert_eq!(ChangeLog::default().recover(&closed[..9], None), None);
    }

    #[test]
    fn the_log_of_an_emptied_table_goes_on() {
        let (log, empty) = (ChangeLog::default(), ChangeLog::default());
        empty.start_after(&log);
        assert_eq!(empty.record(2), None, "there were none");
        log.give();
        empty.start_after(&log);
        assert_eq!((empty.committed(), empty.give()), (2, (3, 2)));
    }

    #[test]
    fn who_gives_up_waiting_leaves_nothing_behind() {
        let log = Arc::new(ChangeLog::default());
        let mut context = Context::from_waker(Waker::noop());
        for _ in 0..3 {
            let mut changed = Changed::new(log.clone(), 0);
            assert!(Pin::new(&mut changed).poll(&mut context).is_pending());
            assert!(Pin::new(&mut changed).poll(&mut context).is_pending());
            assert_eq!(log.lock().waiters.len(), 1);
        }
        assert!(log.lock().waiters.is_empty());
    }

    #[test]
    fn what_is_not_committed_wakes_nobody() {
        let log = Arc::new(ChangeLog::default());
        let mut changed = Changed::new(log.clone(), 0);
        let mut context = Context::from_waker(Waker::noop());
        log.give();
        assert!(Pin::new(&mut changed).poll(&mut context).is_pending());
        log.publish();
        assert!(Pin::new(&mut changed).poll(&mut context).is_ready());
        let mut later = Changed::new(log.clone(), 1);
        assert!(Pin::new(&mut later).poll(&mut context).is_pending());
        log.close();
        assert!(Pin::new(&mut later).poll(&mut context).is_ready());
    }
}
