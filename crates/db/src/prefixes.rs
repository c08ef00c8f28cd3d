//! What the entries of a row that are read together begin with.

use std::panic::{AssertUnwindSafe, RefUnwindSafe};
use std::sync::Arc;

use stonecrop_store::{Prefix, Prefixes};

use crate::catalog::Catalog;
use crate::record::{LOOSE, PLACE, Record, record};

/// The loose columns of a row are an entry each, and found by the row's place. Where that ends, only
/// the definition of the table tells, in which the key is the same forever.
pub(crate) struct RowPrefixes(AssertUnwindSafe<Arc<Catalog>>);

impl RowPrefixes {
    pub(crate) fn new(catalog: Arc<Catalog>) -> Self {
        RowPrefixes(AssertUnwindSafe(catalog))
    }
}

// The catalog's locks are taken again after a panic.
impl RefUnwindSafe for RowPrefixes {}

impl Prefixes for RowPrefixes {
    fn of(&self, key: &[u8]) -> Prefix {
        let Some(Record::Row { table, family: LOOSE, .. }) = record(key) else {
            return Prefix::None;
        };
        // The table may be dropped, or not be known here yet.
        let Some(table) = self.0.by_id(table) else { return Prefix::Unknown };
        match table.split_loose(key.get(PLACE..).unwrap_or_default()) {
            Ok((place, _)) => Prefix::First(PLACE + place.len()),
            Err(_) => Prefix::Unknown,
        }
    }
}
