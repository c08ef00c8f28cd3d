//! The shards that this node has, and the views of them that other nodes read.

use std::collections::{BTreeMap, HashMap};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use stonecrop_store::{Batch, Durability, Error, ErrorKind, Read, Result, SlateStore, Store as _};
use tokio::time::Instant;

/// How long a view is kept that nobody reads.
pub(crate) const VIEW_KEPT_FOR: Duration = Duration::from_secs(60);
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

/// All shards of a node, each as it was at one moment.
pub(crate) type View = Arc<BTreeMap<u8, Box<dyn Read>>>;

/// The views that others read.
pub(crate) struct Views {
    /// It begins anywhere, so that an id of one node is none of another.
    next: AtomicU64,
    kept: Mutex<HashMap<u64, (View, Instant)>>,
}

impl Default for Views {
    fn default() -> Self {
        let next = uuid::Uuid::new_v4().as_u64_pair().1;
        Views { next: AtomicU64::new(next), kept: Mutex::default() }
    }
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

#[cfg(test)]
mod tests {
    use super::*;
    use stonecrop_store::{Options, SlateShards};

    fn owned(folder: &std::path::Path, term: u64) -> Owned {
        let location = format!("file://{}?engine=slatedb", folder.display());
        let mut options = Options::default();
        options.shards = Some(1);
        options.objects.flush_interval = Duration::from_millis(1);
        Owned::new(SlateShards::at(&location, &options).unwrap().open(0).unwrap(), 1, term)
    }

    fn put(owned: &Owned, term: u64, number: u64, value: &'static str) -> Result<()> {
        let operations = vec![(Bytes::from("key"), Some(Bytes::from(value)))];
        owned.write(term, number, operations, Durability::Sync)
    }

    #[test]
    fn a_shard_takes_nothing_of_an_earlier_term_or_number() {
        let folder = tempfile::tempdir().unwrap();
        let owned = owned(folder.path(), 5);
        put(&owned, 5, 1, "first").unwrap();
        assert_eq!(put(&owned, 5, 1, "again").unwrap_err().kind(), ErrorKind::Unavailable);
        assert!(put(&owned, 4, 9, "earlier").is_err());
        owned.settle(5, 7).unwrap();
        assert!(put(&owned, 5, 6, "late").is_err(), "what was given up never comes");
        owned.settle(8, 0).unwrap();
        owned.settle(8, 0).unwrap();
        assert!(put(&owned, 5, 100, "of a leader that was paused").is_err());
        assert!(owned.settle(5, 101).is_err());
        assert_eq!(owned.store.get(0, b"key").unwrap().as_deref(), Some(&b"first"[..]));
        put(&owned, 8, 1, "second").unwrap();
        assert_eq!(owned.store.get(0, b"key").unwrap().as_deref(), Some(&b"second"[..]));
    }

    #[test]
    fn a_view_is_kept_until_it_is_let_go() {
        let views = Views::default();
        let id = views.keep(View::default()).unwrap();
        assert!(views.get(id).is_ok());
        views.forget_idle();
        assert!(views.get(id).is_ok());
        views.release(&[id]);
        assert!(views.get(id).is_err());
        for _ in 0..MOST_VIEWS {
            views.keep(View::default()).unwrap();
        }
        assert!(views.keep(View::default()).is_err(), "there is a bound");
    }
}
