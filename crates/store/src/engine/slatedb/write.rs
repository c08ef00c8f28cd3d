//! What a batch is for each of the shards, and their writes while somebody waits for them.

use std::panic::AssertUnwindSafe;
use std::pin::Pin;
use std::sync::{Mutex, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use futures::future::{BoxFuture, FutureExt, TryFutureExt};
use slatedb::{Db, WriteBatch};
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

/// The uploads of a shard's log that somebody waits for.
pub(super) struct Uploads {
    interval: Duration,
    /// When the next may begin.
    next: Mutex<Instant>,
}

impl Uploads {
    pub(super) fn new(interval: Duration) -> Self {
        Uploads { interval, next: Mutex::new(Instant::now()) }
    }

    /// Uploads what is in the log: at once, unless the last time was less than the interval ago. What
    /// has become of it is told to those whose writes are in it, and with more of the cause.
    pub(super) async fn upload(&self, db: &Db) {
        let begin = self.reserve();
        // To sleep takes a millisecond, even until now.
        if begin > Instant::now() {
            sleep_until(begin).await;
        }
        let _ = db.flush().await;
    }

    /// When an upload may begin; the next after it has to wait.
    fn reserve(&self) -> Instant {
        let mut next = self.next.lock().unwrap_or_else(PoisonError::into_inner);
        let begin = Instant::now().max(*next);
        *next = begin.checked_add(self.interval).unwrap_or(begin);
        begin
    }
}

/// A batch for each shard that it writes to.
pub(super) fn by_shard(operations: Vec<Operation>) -> Vec<(u8, WriteBatch)> {
    let mut batches: Vec<(u8, WriteBatch)> = Vec::new();
    // Keys by themselves: whoever looks for one compares it with many, and with no value.
    let mut shards = [const { (None::<usize>, Pieces::new(), Pieces::new()) }; 256];
    for Operation { shard, key, value } in &operations {
        let pieces = shards.get_mut(usize::from(*shard));
        if let (Some((_, keys, values)), Some(value)) = (pieces, value) {
            keys.expect(key);
            values.expect(value);
        }
    }
    for Operation { shard, key, value } in operations {
        let Some((place, keys, values)) = shards.get_mut(usize::from(shard)) else { continue };
        let at = *place.get_or_insert_with(|| {
            batches.push((shard, WriteBatch::new()));
            batches.len() - 1
        });
        let Some((_, batch)) = batches.get_mut(at) else { continue };
        match value {
            Some(value) => batch.put_bytes(keys.keep(key), values.keep(value)),
            None => batch.delete(key),
        }
    }
    batches
}

/// Small keys and values of a shard's batch, side by side in large pieces of memory. One by one,
/// other threads than the one that has made them would share and free each.
struct Pieces {
    /// How many bytes are still to come.
    expected: usize,
    piece: Option<BytesMut>,
}

impl Pieces {
    const fn new() -> Self {
        Pieces { expected: 0, piece: None }
    }

    fn expect(&mut self, bytes: &Bytes) {
        if bytes.len() <= MOST_IN_PIECE {
            self.expected += bytes.len();
        }
    }

    /// The same bytes, kept with the others; only of what was expected.
    fn keep(&mut self, bytes: Bytes) -> Bytes {
        if bytes.len() > MOST_IN_PIECE {
            return bytes;
        }
        let room = self.piece.take().filter(|piece| piece.capacity() >= bytes.len());
        let mut piece = room.unwrap_or_else(|| BytesMut::with_capacity(self.expected.min(PIECE)));
        self.expected = self.expected.saturating_sub(bytes.len());
        piece.extend_from_slice(&bytes);
        let kept = piece.split().freeze();
        self.piece = Some(piece);
        kept
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
        let first = uploads.reserve();
        assert!(first <= Instant::now());
        assert_eq!(uploads.reserve(), first + Duration::from_secs(100));
    }

    #[test]
    fn a_write_that_panics_has_ended() {
        let ended = ShardWrite::new(async { panic!("on purpose") }).now_or_never();
        assert_eq!(ended.unwrap().unwrap_err(), "a write has panicked");
    }
}
