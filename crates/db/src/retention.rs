//! What compaction may drop: nothing that any reader could still see.

use std::panic::{AssertUnwindSafe, RefUnwindSafe};
use std::sync::Arc;
use std::time::Duration;

use stonecrop_store::Retention;

use crate::catalog::Catalog;
use crate::changes::stored;
use crate::clock::{Clock, Timestamp};
use crate::entry::Header;
use crate::index;
use crate::record::{Record, record};

/// Entries go this long after they can't be seen any more, so that a read that began before does
/// not miss them.
pub(crate) const DROP_DELAY: Duration = Duration::from_secs(60);

/// Whether something that went at `at` may be dropped by now; no reader looks at it from here on,
/// whether compaction came by or not.
pub(crate) fn is_droppable(at: Timestamp, now: Timestamp) -> bool {
    at + DROP_DELAY <= now
}

/// What was gone by then may be dropped by now.
pub(crate) fn droppable_by(now: Timestamp) -> Timestamp {
    let delay = DROP_DELAY.as_micros() as i64;
    Timestamp::from_micros(now.as_micros().saturating_sub(delay))
}

pub(crate) struct Expiry {
    inner: AssertUnwindSafe<(Arc<Catalog>, Arc<dyn Clock>)>,
}

impl Expiry {
    pub(crate) fn new(catalog: Arc<Catalog>, clock: Arc<dyn Clock>) -> Self {
        Expiry { inner: AssertUnwindSafe((catalog, clock)) }
    }

    /// Compaction asks this of every entry, and most have no end: no clock is asked for those.
    fn is_over(&self, at: Timestamp) -> bool {
        at != Timestamp::NEVER && is_droppable(at, self.inner.1.now())
    }
}

// The catalog's locks are taken again after a panic, and a clock only tells the time.
impl RefUnwindSafe for Expiry {}

impl Retention for Expiry {
    fn may_drop(&self, key: &[u8], value: &[u8]) -> bool {
        let (catalog, _) = &*self.inner;
        match record(key) {
            Some(Record::Row { table, .. }) => {
                catalog.is_dropped(table)
                    || Header::read(value).is_ok_and(|(header, _)| self.is_over(header.gone_at))
            }
            Some(Record::Index { table, index }) => {
                catalog.is_index_dropped(table, index)
                    || index::gone_at(value).is_some_and(|at| self.is_over(at))
            }
            Some(Record::History { table, expires_at, .. }) => {
                catalog.is_dropped(table) || self.is_over(expires_at)
            }
            Some(Record::Change { table, number }) => {
                // The last one stays: the next one's number, and the one before it, come from it.
                catalog.is_dropped(table)
                    || stored::gone_at(value).is_some_and(|at| self.is_over(at))
                        && catalog.has_change_after(table, number)
            }
            Some(Record::Catalog) | None => false,
        }
    }
}
