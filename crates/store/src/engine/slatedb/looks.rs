//! The log of a shard that is followed, and since when the shard is seen as it is.

use std::error::Error as _;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use object_store::path::Path;
use object_store::{Error as ObjectError, ObjectStore};
use slatedb::WalReader as LogFiles;
use slatedb::wal::{
    SlateDbWalReader, SlateDbWalReaderBuilder, WalError, WalFileRange, WalIterator, WalReader,
    WalRows,
};
use tokio::time::Instant;

/// The looks that SlateDB takes at a shard, one after the other: it reads the list of files, asks how
/// long the log is, and reads what is new there. It tells nobody when one has ended, or that one
/// goes on because the object store does not answer; but the next one begins after it.
#[derive(Debug)]
pub(super) struct Looks(Mutex<Look>);

#[derive(Debug)]
struct Look {
    /// What was durable at this moment can be read.
    seen: Instant,
    /// When it was last asked how long the log is; none before the first time.
    began: Option<Instant>,
    /// Whether not all of the log was read since.
    failed: bool,
}

impl Looks {
    /// Those at a shard that is about to be opened: that takes the first one.
    fn new() -> Self {
        Looks(Mutex::new(Look { seen: Instant::now(), began: None, failed: false }))
    }

    /// Since when nothing is known of what was written.
    pub(super) fn seen(&self) -> Instant {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).seen
    }

    fn begins(&self) {
        let mut look = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let before = look.began.replace(Instant::now());
        if let Some(before) = before.filter(|_| !look.failed) {
            look.seen = before;
        }
        look.failed = false;
    }

    /// Takes note of an error, and passes it on.
    fn told<T>(&self, answer: Result<T, WalError>) -> Result<T, WalError> {
        if answer.is_err() {
            self.0.lock().unwrap_or_else(PoisonError::into_inner).failed = true;
        }
        answer
    }
}

/// The log of a shard as its follower reads it: SlateDB's own, but for the looks.
pub(super) struct FollowedLog {
    files: LogFiles,
    reader: SlateDbWalReader,
    /// The last file that was found. What has nothing in it SlateDB asks for again and again.
    end: AtomicU64,
    looks: Arc<Looks>,
}

impl FollowedLog {
    /// That of the shard at a path.
    pub(super) fn at(path: Path, objects: Arc<dyn ObjectStore>) -> Result<Self, slatedb::Error> {
        let files = LogFiles::new(path.clone(), objects.clone());
        let reader = SlateDbWalReaderBuilder::new().with_path(path).with_object_store(objects);
        let (reader, looks) = (reader.build()?, Arc::new(Looks::new()));
        Ok(FollowedLog { files, reader, end: AtomicU64::new(0), looks })
    }

    pub(super) fn looks(&self) -> Arc<Looks> {
        self.looks.clone()
    }
}

#[async_trait]
impl WalReader for FollowedLog {
    async fn iterator(&self, range: WalFileRange) -> Result<Box<dyn WalIterator>, WalError> {
        let rows = self.looks.told(self.reader.iterator(range).await)?;
        Ok(Box::new(FollowedRows { rows, looks: self.looks.clone() }))
    }

    async fn last_wal_file_id(&self, known: u64) -> Result<u64, WalError> {
        self.looks.begins();
        let known = known.max(self.end.load(Ordering::Relaxed));
        // Mostly nothing is new. To learn that, SlateDB would ask for eight files at once.
        let end = match self.files.get(known + 1).metadata().await {
            Err(error) if is_not_found(&error) => known,
            _ => self.looks.told(self.reader.last_wal_file_id(known).await)?,
        };
        self.end.store(end, Ordering::Relaxed);
        Ok(end)
    }
}

fn is_not_found(error: &slatedb::Error) -> bool {
    let cause = error.source().and_then(|cause| cause.downcast_ref::<Arc<ObjectError>>());
    cause.is_some_and(|cause| matches!(**cause, ObjectError::NotFound { .. }))
}

struct FollowedRows {
    rows: Box<dyn WalIterator>,
    looks: Arc<Looks>,
}

#[async_trait]
impl WalIterator for FollowedRows {
    async fn next(&mut self) -> Result<Option<WalRows>, WalError> {
        self.looks.told(self.rows.next().await)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    /// How far behind it is after some looks, a second after each other.
    async fn behind(looks: &Looks, are_good: &[bool]) -> Duration {
        for is_good in are_good {
            looks.begins();
            let _ = looks.told(if *is_good { Ok(()) } else { Err(WalError::WalTruncated(7)) });
            tokio::time::advance(SECOND).await;
        }
        looks.seen().elapsed()
    }

    #[tokio::test(start_paused = true)]
    async fn what_a_look_shows_is_counted_from_its_beginning_once_the_next_one_begins() {
        let looks = Looks::new();
        tokio::time::advance(SECOND).await;
        assert_eq!(behind(&looks, &[true]).await, 2 * SECOND, "it may still be under way");
        assert_eq!(behind(&looks, &[true]).await, 2 * SECOND);
        assert_eq!(behind(&looks, &[true; 10]).await, 2 * SECOND);
        tokio::time::advance(60 * SECOND).await;
        assert_eq!(looks.seen().elapsed(), 62 * SECOND);
    }

    #[tokio::test(start_paused = true)]
    async fn a_look_that_failed_shows_nothing() {
        let looks = Looks::new();
        assert_eq!(behind(&looks, &[true, true, false]).await, 2 * SECOND);
        assert_eq!(behind(&looks, &[true]).await, 3 * SECOND, "that was counted before it failed");
        assert_eq!(behind(&looks, &[true]).await, 2 * SECOND);
        assert_eq!(behind(&looks, &[false, false, false]).await, 4 * SECOND);
    }
}
