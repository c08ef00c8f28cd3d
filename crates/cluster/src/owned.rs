//! The shards that this node has, and the views of them that other nodes read.

use std::collections::{BTreeMap, HashMap};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use stonecrop_store::{Batch, Durability, Error, ErrorKind, Read, Result, SlateStore, Store as _};
use tokio::time::Instant;

/// How long a view is kept that nobody reads.
const VIEW_KEPT_FOR: Duration = Duration::from_secs(60);
/// The most views that are kept for others.
const MOST_VIEWS: usize = 4_096;

/// A shard that this node has opened.
pub(crate) struct Owned {
    pub(crate) store: SlateStore,
    /// That of the claim.
    pub(crate) revision: u64,
    order: Mutex<Order>,
}

/// What was sent last by whoever leads: the term, and a number within it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
struct Order {
    term: u64,
    number: u64,
}

impl Owned {
    /// A shard of a claim. Who led at the opening is the first who may write.
    pub(crate) fn new(store: SlateStore, revision: u64, term: u64) -> Self {
        Owned { store, revision, order: Mutex::new(Order { term, number: 0 }) }
    }

    /// Sees to it that nothing is written any more that was sent before, and that what was begun
    /// has ended.
    pub(crate) fn settle(&self, term: u64, number: u64) -> Result<()> {
        let mut order = self.order.lock().unwrap_or_else(PoisonError::into_inner);
        let asked = Order { term, number };
        if asked < *order {
            return Err(superseded());
        }
        *order = asked;
        self.store.ready()
    }

    pub(crate) fn write(
        &self,
        term: u64,
        number: u64,
        operations: Vec<(Bytes, Option<Bytes>)>,
        durability: Durability,
    ) -> Result<()> {
        let mut order = self.order.lock().unwrap_or_else(PoisonError::into_inner);
        let asked = Order { term, number };
        if asked <= *order {
            return Err(superseded());
        }
        let mut batch = Batch::with_capacity(operations.len());
        for (key, value) in operations {
            match value {
                Some(value) => batch.put(0, key, value),
                None => batch.delete(0, key),
            }
        }
        *order = asked;
        self.store.write(batch, durability)
    }
}

fn superseded() -> Error {
    let message = "another node decides what is written by now; ask again";
    Error::new(ErrorKind::Unavailable, message)
}

/// All shards of a node as they were at one moment.
pub(crate) type View = Arc<BTreeMap<u8, Box<dyn Read>>>;

/// The views that others read.
#[derive(Default)]
pub(crate) struct Views {
    next: AtomicU64,
    kept: Mutex<HashMap<u64, (View, Instant)>>,
}

impl Views {
    pub(crate) fn keep(&self, view: View) -> Result<u64> {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.len() >= MOST_VIEWS {
            let message = format!("{MOST_VIEWS} views are read by other nodes; ask again");
            return Err(Error::new(ErrorKind::Unavailable, message));
        }
        let id = self.next.fetch_add(1, Ordering::Relaxed);
        kept.insert(id, (view, Instant::now()));
        Ok(id)
    }

    pub(crate) fn get(&self, id: u64) -> Result<View> {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let Some((view, used)) = kept.get_mut(&id) else {
            let message = "what was read is not kept any more; ask again";
            return Err(Error::new(ErrorKind::Unavailable, message));
        };
        *used = Instant::now();
        Ok(view.clone())
    }

    pub(crate) fn release(&self, ids: &[u64]) {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let released: Vec<_> = ids.iter().filter_map(|id| kept.remove(id)).collect();
        drop(kept);
        drop(released);
    }

    /// Forgets those that nobody has read for long.
    pub(crate) fn forget_idle(&self) {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.retain(|_, (_, used)| used.elapsed() < VIEW_KEPT_FOR);
    }
}
