//! Many rows, in batches: while one is committed, the next is made ready.

use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use crate::error::{Error, Result};
use crate::table::Table;
use crate::write::Write;
use crate::writer::{Prepared, Writer};

/// A batch that comes later than this is not waited for by those who read the one before.
const SOON: Duration = Duration::from_millis(20);

impl Table {
    /// Does any number of writes in their order, in batches of up to 1,000, and syncs them at the
    /// end; tells how many there were. Each batch is all or nothing, as with [`Table::write_all`].
    /// A thread of its own commits while the caller's makes the next batch ready. Readers see the
    /// rows as they come; none is sure to outlive the process before the end.
    ///
    /// [`Error::Load`] says how many were done before something went wrong.
    ///
    /// ```
    /// # use stonecrop::{Database, TableSchema, Write};
    /// let people = Database::memory().create_table(TableSchema::new("people", "id u64", "")?)?;
    /// let loaded = people.load((0..10_000).map(|id| Write::put(id).set("age", id % 100)))?;
    /// assert_eq!(loaded, 10_000);
    /// # Ok::<(), stonecrop::Error>(())
    /// ```
    pub fn load<'w>(&self, writes: impl IntoIterator<Item = Write<'w>>) -> Result<u64> {
        let inner = self.inner();
        // One batch is committed, one waits, one is made ready.
        let (batches, queue) = mpsc::sync_channel(1);
        let (done, committed, prepared) = thread::scope(|scope| {
            let thread = thread::Builder::new().name("stonecrop load".to_owned());
            let committer = match thread.spawn_scoped(scope, move || commit(&inner.writer, queue)) {
                Ok(committer) => committer,
                Err(cause) => return (0, Err(no_thread(cause)), Ok(())),
            };
            // Nobody takes it once a batch could not be committed.
            let prepared = self.prepare_batches(writes, |batch| batches.send(batch).is_ok());
            drop(batches);
            let (done, committed) = match committer.join() {
                Ok(ended) => ended,
                Err(panic) => std::panic::resume_unwind(panic),
            };
            (done, committed, prepared)
        });
        let ended = committed.and(prepared).and_then(|()| Ok(inner.store.sync()?));
        match ended {
            Ok(()) => Ok(done),
            Err(cause) => Err(Error::Load { written: done, cause: Box::new(cause) }),
        }
    }
}

/// Commits batches until there are no more; tells how many writes were in those before an error.
fn commit(writer: &Writer, queue: Receiver<Vec<Prepared>>) -> (u64, Result<()>) {
    let (mut done, mut begun) = (0, 0);
    let ended = loop {
        let next = match queue.recv_timeout(SOON) {
            // Readers are not to wait for the rows of the last batch until there is another.
            Err(RecvTimeoutError::Timeout) => writer.settle().map(|()| queue.recv().ok()),
            next => Ok(next.ok()),
        };
        let batch = match next {
            Ok(Some(batch)) => batch,
            Ok(None) => break Ok(()),
            Err(error) => break Err(error),
        };
        let writes = batch.len() as u64;
        match writer.load(batch) {
            // Those of the one before are done.
            Ok(_) => done += std::mem::replace(&mut begun, writes),
            Err(error) => break Err(error),
        }
    };
    let settled = writer.settle();
    if settled.is_ok() {
        done += begun;
    }
    (done, ended.and(settled))
}

fn no_thread(cause: std::io::Error) -> Error {
    let problem = format!("no thread for a load: {cause}");
    Error::Store(stonecrop_store::Error::new(stonecrop_store::ErrorKind::Io, problem))
}
