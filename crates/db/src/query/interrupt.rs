//! Giving up: after some time, or when told to.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::clock::{Clock, Timestamp};
use crate::error::{Error, Result};
use crate::query::Query;

/// How many rows are looked at between two looks at the clock.
const ROWS: u32 = 256;

/// Tells queries to give up, from any thread.
///
/// ```
/// use stonecrop::{Cancel, Database, Error, Query, TableSchema};
/// let table = Database::memory().create_table(TableSchema::new("table", "id u64", "")?)?;
/// let cancel = Cancel::new();
/// cancel.cancel();
/// let given_up = table.query(&Query::new().cancelled_by(&cancel)).unwrap_err();
/// assert!(matches!(given_up, Error::Interrupted { .. }));
/// # Ok::<(), stonecrop::Error>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Cancel(Arc<AtomicBool>);

impl Cancel {
    /// Not yet.
    ///
    /// ```
    /// stonecrop::Cancel::new();
    /// ```
    pub fn new() -> Self {
        Self::default()
    }

    /// Now.
    ///
    /// ```
    /// stonecrop::Cancel::new().cancel();
    /// ```
    pub fn cancel(&self) {
        self.0.store(true, Ordering::Release);
    }
}

/// One and the same, not just two of the same state.
impl PartialEq for Cancel {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

/// When a query is to give up.
#[derive(Clone)]
pub(super) struct Interrupt {
    clock: Arc<dyn Clock>,
    deadline: Option<Timestamp>,
    cancel: Option<Cancel>,
    rows: u32,
}

impl Interrupt {
    /// For a query that began at a time.
    pub(super) fn new(query: &Query, clock: &Arc<dyn Clock>, began: Timestamp) -> Self {
        let deadline = query.timeout.map(|timeout| began + timeout);
        Interrupt { clock: clock.clone(), deadline, cancel: query.cancel.clone(), rows: 0 }
    }

    /// To be asked for every row.
    #[inline]
    pub(super) fn check(&mut self) -> Result<()> {
        self.rows += 1;
        if self.rows % ROWS != 1 {
            return Ok(());
        }
        self.check_now()
    }

    pub(super) fn check_now(&self) -> Result<()> {
        if self.cancel.as_ref().is_some_and(|cancel| cancel.0.load(Ordering::Acquire)) {
            return Err(Error::Interrupted { problem: "it was cancelled" });
        }
        if self.deadline.is_some_and(|deadline| deadline <= self.clock.now()) {
            return Err(Error::Interrupted { problem: "it took longer than it may" });
        }
        Ok(())
    }
}
