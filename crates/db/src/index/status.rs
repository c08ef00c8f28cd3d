//! How far an index has come.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};

/// How far an index has come.
///
/// ```
/// use stonecrop::{Database, Index, IndexProgress, TableSchema, Write};
/// let people = Database::memory().create_table(TableSchema::new("people", "id u64", "")?)?;
/// people.write(Write::put(1).set("name", "Ann"))?;
/// people.create_index(Index::new("by_name", "name string")?)?;
/// people.wait_for_index("by_name")?;
/// assert_eq!(people.index_progress("by_name")?, IndexProgress::Complete);
/// # Ok::<(), stonecrop::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum IndexProgress {
    /// Every row with its columns is in it, and queries use it.
    #[default]
    Complete,
    /// As complete, but for rows that had values of another type before the index was made. They are
    /// not in it, so only queries that name it use it.
    Partial {
        /// How many rows were left out.
        left_out: u64,
    },
    /// Rows that were there before it are still being added.
    Building {
        /// How many rows were looked at so far.
        rows: u64,
    },
    /// It can't be completed. Drop it, mend the rows, and make it again.
    Failed {
        /// Why.
        problem: String,
    },
}

/// The progress of an index, which the one who builds it tells to all.
#[derive(Debug, Default)]
pub(crate) struct IndexStatus {
    state: Mutex<State>,
    changed: Condvar,
    /// Whether there is a problem; every write asks.
    failed: AtomicBool,
}

#[derive(Clone, Debug, Default)]
struct State {
    /// What is stored; none once it is complete, and nothing was left out.
    backfill: Option<Backfill>,
    /// Somebody builds it.
    claimed: bool,
    /// Nobody builds it any more: it is complete, or dropped, or the database is closed.
    stopped: bool,
}

/// How far the building of an index has come, as it is stored.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Backfill {
    pub(crate) shard: u8,
    /// The place of the last row that was looked at.
    pub(crate) after: Vec<u8>,
    pub(crate) rows: u64,
    pub(crate) problem: Option<String>,
    /// How many rows had values of another type.
    #[serde(default)]
    pub(crate) left_out: u64,
    /// There is nothing more to do.
    #[serde(default)]
    pub(crate) complete: bool,
}

impl Backfill {
    fn is_building(&self) -> bool {
        self.problem.is_none() && !self.complete
    }

    pub(crate) fn to_bytes(&self) -> Result<Bytes> {
        let json = serde_json::to_vec(self);
        Ok(json.map_err(|error| Error::corrupt("the catalog", error.to_string()))?.into())
    }
}

impl IndexStatus {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes over what is stored of the building.
    pub(crate) fn read(&self, stored: &[u8]) -> Result<()> {
        let backfill = serde_json::from_slice(stored);
        let backfill = backfill.map_err(|error| {
            Error::corrupt("the catalog", format!("the progress of an index: {error}"))
        })?;
        self.set(Some(backfill));
        Ok(())
    }

    pub(crate) fn set(&self, backfill: Option<Backfill>) {
        let mut state = self.lock();
        let failed = backfill.as_ref().is_some_and(|backfill| backfill.problem.is_some());
        self.failed.store(failed, Ordering::Release);
        state.backfill = backfill;
        drop(state);
        self.changed.notify_all();
    }

    /// What is stored of the building.
    pub(crate) fn stored(&self) -> Option<Backfill> {
        self.lock().backfill.clone()
    }

    /// What there is still to do; none where nothing is, or nothing can be done.
    pub(crate) fn backfill(&self) -> Option<Backfill> {
        self.lock().backfill.clone().filter(Backfill::is_building)
    }

    /// Whether it is for the caller to build it: there is something to do, and nobody does it.
    pub(crate) fn claim(&self) -> bool {
        let mut state = self.lock();
        let building = state.backfill.as_ref().is_some_and(Backfill::is_building);
        building && !std::mem::replace(&mut state.claimed, true)
    }

    pub(crate) fn is_ready(&self) -> bool {
        self.lock().backfill.as_ref().is_none_or(|backfill| backfill.complete)
    }

    /// Whether rows were left out of it, for values of another type.
    pub(crate) fn is_partial(&self) -> bool {
        self.lock().backfill.as_ref().is_some_and(|backfill| backfill.left_out > 0)
    }

    pub(crate) fn is_building(&self) -> bool {
        self.lock().backfill.as_ref().is_some_and(Backfill::is_building)
    }

    pub(crate) fn has_failed(&self) -> bool {
        self.failed.load(Ordering::Acquire)
    }

    pub(crate) fn progress(&self) -> IndexProgress {
        match self.lock().backfill.clone() {
            None => IndexProgress::Complete,
            Some(Backfill { problem: Some(problem), .. }) => IndexProgress::Failed { problem },
            Some(Backfill { complete: true, left_out, .. }) => IndexProgress::Partial { left_out },
            Some(Backfill { rows, .. }) => IndexProgress::Building { rows },
        }
    }

    /// Nobody goes on with it.
    pub(crate) fn stop(&self) {
        self.lock().stopped = true;
        self.changed.notify_all();
    }

    /// Waits until it is complete, or can't be.
    pub(crate) fn wait(&self) -> IndexProgress {
        let goes_on = |state: &mut State| {
            let building = state.backfill.as_ref().is_some_and(Backfill::is_building);
            building && !state.stopped
        };
        drop(self.changed.wait_while(self.lock(), goes_on).unwrap_or_else(PoisonError::into_inner));
        self.progress()
    }
}
