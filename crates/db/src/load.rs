//! Many rows, in batches: while one is committed, the next is made ready.

use std::sync::mpsc::{self, Receiver};
use std::thread;

use crate::database::Inner;
use crate::error::{Error, Result};
use crate::table::Table;
use crate::write::Write;
use crate::writer::{Durability, Prepared};

impl Table {
    /// Does any number of writes in their order, in batches of up to 1,000, and syncs them at the
    /// end; tells how many there were. Each batch is all or nothing. A thread of its own commits
    /// while the caller's makes the next batch ready.
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
            let committer = match thread.spawn_scoped(scope, move || commit(inner, queue)) {
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
fn commit(inner: &Inner, queue: Receiver<Vec<Prepared>>) -> (u64, Result<()>) {
    let mut done = 0;
    for batch in queue {
        let writes = batch.len() as u64;
        match inner.write_prepared(batch, Some(Durability::None)) {
            Ok(_) => done += writes,
            Err(error) => return (done, Err(error)),
        }
    }
    (done, Ok(()))
}

fn no_thread(cause: std::io::Error) -> Error {
    let problem = format!("no thread for a load: {cause}");
    Error::Store(stonecrop_store::Error::new(stonecrop_store::ErrorKind::Io, problem))
}
