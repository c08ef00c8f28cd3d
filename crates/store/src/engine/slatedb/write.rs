//! What a batch is for each of the shards, and their writes while somebody waits for them.

use std::collections::VecDeque;
use std::panic::AssertUnwindSafe;
use std::pin::{Pin, pin};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use futures::future::{BoxFuture, Either, FutureExt, TryFutureExt, select};
use slatedb::{Db, WriteBatch, WriteHandle};
use tokio::runtime::Handle;
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep_until};

use crate::batch::Operation;

/// Small keys and values are kept together in pieces of so many bytes.
const PIECE: usize = 64 << 10;
const MOST_IN_PIECE: usize = 8 << 10;

/// What became of a write to a shard; the message of a panic if it has panicked.
pub(super) type Ended = Result<Result<(), slatedb::Error>, String>;

/// A write to a shard that was begun. Whoever waits for it does it, without a switch to another
/// thread and back; once they have stopped waiting it goes on by itself.
pub(super) enum ShardWrite {
    Awaited(BoxFuture<'static, Ended>),
    Alone(JoinHandle<Ended>),
}

impl ShardWrite {
    pub(super) fn new(
        write: impl Future<Output = Result<(), slatedb::Error>> + Send + 'static,
    ) -> Self {
        let write = AssertUnwindSafe(write).catch_unwind();
        ShardWrite::Awaited(write.map_err(|_| "a write has panicked".to_owned()).boxed())
    }

    /// Whether it has ended by itself.
    pub(super) fn has_ended(&self) -> bool {
        matches!(self, ShardWrite::Alone(task) if task.is_finished())
    }

    /// It goes on without whoever has waited.
    pub(super) fn leave(self, handle: &Handle) -> Self {
        match self {
            ShardWrite::Awaited(write) => ShardWrite::Alone(handle.spawn(write)),
            ShardWrite::Alone(task) => ShardWrite::Alone(task),
        }
    }
}

impl Future for ShardWrite {
    type Output = Ended;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Ended> {
        match self.get_mut() {
            ShardWrite::Awaited(write) => write.poll_unpin(context),
            ShardWrite::Alone(task) => {
                task.poll_unpin(context).map(|ended| ended.unwrap_or_else(|e| Err(e.to_string())))
            }
        }
    }
}

/// What nobody waits for is uploaded once it is so many bytes: a longer log takes more memory, and
/// more time at the end of a load.
const MUCH: usize = 1 << 20;

/// The uploads of a shard's log, beside those that SlateDB begins by itself.
pub(super) struct Uploads {
    /// How long there is at least between two that somebody waits for.
    interval: Duration,
    /// When the next of those may begin.
    next: Mutex<Instant>,
    /// The bytes that were written since the last one of what nobody waits for began, and whether
    /// it is under way.
    unawaited: AtomicUsize,
    is_under_way: AtomicBool,
}

impl Uploads {
    pub(super) fn new(interval: Duration) -> Self {
        Uploads {
            interval,
            next: Mutex::new(Instant::now()),
            unawaited: AtomicUsize::new(0),
            is_under_way: AtomicBool::new(false),
        }
    }

    /// Waits until a write is durable, and uploads the log for it if nothing else has.
    pub(super) async fn until_durable(
        &self,
        db: &Db,
        write: &WriteHandle,
    ) -> Result<(), slatedb::Error> {
        let (durable, uploaded) = (pin!(write.await_durable()), pin!(self.upload(db)));
        match select(durable, uploaded).await {
            Either::Left((durable, _)) => durable,
            // What has become of the upload is told to those whose writes are in it.
            Either::Right(((), durable)) => durable.await,
        }
    }

    /// Uploads what is in the log: at once, unless the last time was less than the interval ago.
    async fn upload(&self, db: &Db) {
        while let Err(next) = self.begin() {
            sleep_until(next).await;
        }
        let _ = db.flush().await;
    }

    /// Begins an upload, or tells when the next may begin.
    fn begin(&self) -> Result<(), Instant> {
        let now = Instant::now();
        let mut next = self.next.lock().unwrap_or_else(PoisonError::into_inner);
        if now < *next {
            return Err(*next);
        }
        // Farther than that no clock counts.
        *next = now.checked_add(self.interval).unwrap_or(now + Duration::from_secs(1 << 30));
        Ok(())
    }

    /// So many bytes were written, and nobody waits for them.
    pub(super) fn unawaited(self: &Arc<Self>, db: &Db, bytes: usize, handle: &Handle) {
        let unawaited = self.unawaited.fetch_add(bytes, Ordering::Relaxed) + bytes;
        if unawaited < MUCH || self.is_under_way.swap(true, Ordering::Acquire) {
            return;
        }
        self.unawaited.store(0, Ordering::Relaxed);
        let (uploads, db) = (self.clone(), db.clone());
        handle.spawn(async move {
            let _ = db.flush().await;
            uploads.is_under_way.store(false, Ordering::Release);
        });
    }
}

/// A batch for each shard that it writes to.
///
/// Keys are added from the last to the first: each comes before all that are there, which takes one
/// comparison in every node of SlateDB's tree. In the order that they were written in it takes most
/// of a node's keys.
pub(super) fn by_shard(operations: &[Operation]) -> Vec<Part> {
    let places = operations.iter().enumerate();
    let mut places: Vec<_> = places.map(|(at, operation)| (Start::of(operation), at)).collect();
    let key = |at: usize| operations.get(at).map(|operation| &operation.key);
    places.sort_unstable_by(|(start, at), (other_start, other)| {
        // Of those on the same key the last one counts.
        let by_key = other_start.cmp(start).then_with(|| key(*other).cmp(&key(*at)));
        by_key.then(at.cmp(other))
    });
    let of_shard = places.chunk_by(|(start, _), (other, _)| start.shard == other.shard);
    let part = |places: &[(Start, usize)]| {
        Part::new(places.iter().filter_map(|(_, at)| operations.get(*at)))
    };
    of_shard.filter_map(part).collect()
}

/// What is compared of an operation before its whole key is.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Start {
    shard: u8,
    key: [u64; 3],
}

impl Start {
    fn of(Operation { shard, key, .. }: &Operation) -> Self {
        let word = |at: usize| {
            let mut word = [0; 8];
            let bytes = key.get(at * 8..).unwrap_or_default();
            word.iter_mut().zip(bytes).for_each(|(to, byte)| *to = *byte);
            u64::from_be_bytes(word)
        };
        Start { shard: *shard, key: [word(0), word(1), word(2)] }
    }
}

/// What a shard takes of a batch.
pub(super) struct Part {
    pub(super) shard: u8,
    pub(super) batch: WriteBatch,
    /// Of all keys and values.
    pub(super) bytes: usize,
}

impl Part {
    /// Of operations on one shard; none if there are none.
    fn new<'o>(operations: impl Iterator<Item = &'o Operation> + Clone) -> Option<Self> {
        let shard = operations.clone().next()?.shard;
        let mut part = Part { shard, batch: WriteBatch::new(), bytes: 0 };
        // By themselves: whoever looks for a key compares it with many, and with no value.
        let (mut keys, mut values) = (Pieces::default(), Pieces::default());
        for operation in operations.clone() {
            part.bytes += operation.size();
            if let Some(value) = &operation.value {
                keys.expect(&operation.key);
                values.expect(value);
            }
        }
        for Operation { key, value, .. } in operations.clone() {
            if let Some(value) = value {
                keys.add(key);
                values.add(value);
            }
        }
        for Operation { key, value, .. } in operations {
            match value {
                Some(value) => part.batch.put_bytes(keys.take(key), values.take(value)),
                None => part.batch.delete(key),
            }
        }
        Some(part)
    }
}

/// Small keys and values of a shard's batch, side by side in large pieces of memory. One by one,
/// other threads than the one that has made them would share and free each. All are expected, then
/// added, then taken, in the same order.
#[derive(Default)]
struct Pieces {
    /// How many bytes are still to be added.
    expected: usize,
    pieces: VecDeque<Vec<u8>>,
    /// What is left of the piece that they are taken from.
    rest: Bytes,
}

impl Pieces {
    fn expect(&mut self, bytes: &Bytes) {
        if bytes.len() <= MOST_IN_PIECE {
            self.expected += bytes.len();
        }
    }

    fn add(&mut self, bytes: &Bytes) {
        if bytes.len() > MOST_IN_PIECE {
            return;
        }
        let has_room = |piece: &&mut Vec<u8>| piece.capacity() - piece.len() >= bytes.len();
        match self.pieces.back_mut().filter(has_room) {
            Some(piece) => piece.extend_from_slice(bytes),
            None => {
                let mut piece = Vec::with_capacity(self.expected.min(PIECE));
                piece.extend_from_slice(bytes);
                self.pieces.push_back(piece);
            }
        }
        self.expected = self.expected.saturating_sub(bytes.len());
    }

    /// The same bytes as the next that were added, kept with the others.
    fn take(&mut self, bytes: &Bytes) -> Bytes {
        if bytes.len() > MOST_IN_PIECE {
            return bytes.clone();
        }
        if self.rest.is_empty() {
            self.rest = self.pieces.pop_front().map(Bytes::from).unwrap_or_default();
        }
        match self.rest.len() < bytes.len() {
            true => bytes.clone(),
            false => self.rest.split_to(bytes.len()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_write_goes_on_when_nobody_waits_for_it_any_more() {
        let runtime = tokio::runtime::Runtime::new().unwrap();
        let (go, going) = tokio::sync::oneshot::channel();
        let (done, was_done) = std::sync::mpsc::channel();
        let mut write = ShardWrite::new(async move {
            let _ = going.await;
            let _ = done.send(());
            Ok(())
        });
        assert!((&mut write).now_or_never().is_none());
        let left = write.leave(runtime.handle());
        go.send(()).unwrap();
        was_done.recv().unwrap();
        assert!(matches!(runtime.block_on(left), Ok(Ok(()))));
    }

    #[test]
    fn an_upload_begins_at_once_and_the_next_an_interval_later() {
        let uploads = Uploads::new(Duration::from_secs(100));
        assert_eq!(uploads.begin(), Ok(()));
        let next = uploads.begin().unwrap_err();
        assert!(next > Instant::now() + Duration::from_secs(90));
    }

    #[test]
    fn what_is_kept_in_pieces_is_the_same() {
        let mut random = fastrand::Rng::with_seed(7);
        let lengths = [0, 1, 30, 500, MOST_IN_PIECE, MOST_IN_PIECE + 1, PIECE + 1];
        let all: Vec<Bytes> = (0..2_000)
            .map(|_| {
                let length = random.choice(lengths).unwrap();
                std::iter::repeat_with(|| random.u8(..)).take(length).collect()
            })
            .collect();
        let mut pieces = Pieces::default();
        all.iter().for_each(|bytes| pieces.expect(bytes));
        all.iter().for_each(|bytes| pieces.add(bytes));
        assert!(pieces.pieces.len() > 10);
        assert!(pieces.pieces.iter().all(|piece| piece.capacity() <= PIECE));
        for bytes in &all {
            assert_eq!(pieces.take(bytes), bytes);
        }
        assert!(pieces.pieces.is_empty() && pieces.rest.is_empty() && pieces.expected == 0);
    }

    #[test]
    fn a_write_that_panics_has_ended() {
        let ended = ShardWrite::new(async { panic!("on purpose") }).now_or_never();
        assert_eq!(ended.unwrap().unwrap_err(), "a write has panicked");
    }
}
