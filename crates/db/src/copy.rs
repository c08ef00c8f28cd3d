//! A database copied to another place, entry by entry, on whatever engine either is.

use std::hash::{BuildHasher as _, BuildHasherDefault, DefaultHasher};
use std::path::Path;
use std::sync::Arc;

use bytes::Bytes;
use stonecrop_store::{Batch, Direction, Durability, KeyRange, Store};

use crate::catalog::{CATALOG_SHARD, Catalog, TableState};
use crate::changes::stored;
use crate::database::{Database, Options, open_store};
use crate::error::{Error, Result};
use crate::index;
use crate::record::{PLACE, Record, record};

/// About how many bytes are written at once.
const BATCH_BYTES: usize = 4 << 20;
/// How many entries there are between two reports of progress.
const REPORT_EVERY: u64 = 10_000;

/// How far a copy has come.
///
/// ```
/// assert_eq!(stonecrop::Copied::default().entries, 0);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Copied {
    /// How many entries were written.
    pub entries: u64,
    /// Their bytes.
    pub bytes: u64,
    /// How many were read again at the new place, and found to be the same.
    pub verified: u64,
}

impl Database {
    /// Copies all that is in the database at this moment to a location where there is nothing yet,
    /// on any engine and in any number of shards; then reads the copy, and compares. Whoever writes
    /// meanwhile does not wait. A copy that is cut short has no tables.
    ///
    /// ```
    /// use stonecrop::{Database, Options, TableSchema, Write};
    /// # let folder = tempfile::tempdir().unwrap();
    /// # let path = folder.path().join("copy");
    /// let db = Database::memory();
    /// let people = db.create_table(TableSchema::new("people", "id u64", "")?)?;
    /// people.write_all((0..100).map(|id| Write::put(id).set("age", id)))?;
    ///
    /// db.copy_to(&path, Options::default().shards(4), |_| {})?;
    ///
    /// let copy = Database::open(&path)?;
    /// assert_eq!(copy.table("people")?.get(7)?.unwrap().value("age"), Some(&7.into()));
    /// # Ok::<(), stonecrop::Error>(())
    /// ```
    pub fn copy_to(
        &self,
        location: impl AsRef<Path>,
        options: Options,
        mut progress: impl FnMut(Copied),
    ) -> Result<Copied> {
        let (source, shards) = (self.inner.store.checkpoint()?, self.inner.store.shards());
        // Nothing of it is dropped before it can be told which table it is of.
        let unknown = Arc::new(Catalog::default());
        let target = open_store(location.as_ref(), &unknown, &options)?;
        for shard in all(target.shards()) {
            if target.scan(shard, KeyRange::all(), Direction::Forward)?.next().is_some() {
                return Err(Error::Location {
                    location: location.as_ref().display().to_string(),
                    problem: "there is a database already; name a place where there is none"
                        .to_owned(),
                });
            }
        }
        // The tables as they are at the moment of the copy.
        let tables = Catalog::default();
        tables.load(&*source, shards)?;
        let mut copy = Copy::new(&*target);
        for shard in all(shards) {
            for entry in source.scan(shard, KeyRange::all(), Direction::Forward)? {
                let (key, value) = entry?;
                let to = match record(&key) {
                    Some(Record::Catalog) => CATALOG_SHARD,
                    _ if shards == target.shards() => shard,
                    _ => shard_of(&tables, target.shards(), &key, &value).unwrap_or(CATALOG_SHARD),
                };
                if copy.add(to, key, value)? {
                    progress(copy.copied);
                }
            }
        }
        let (mut copied, sum) = copy.finish()?;
        let found = verify(&*target, &mut copied, progress)?;
        target.close()?;
        if found == sum && copied.verified == copied.entries {
            return Ok(copied);
        }
        let problem = format!(
            "{} entries were written to the copy, and {} were found in it, or their bytes differ",
            copied.entries, copied.verified
        );
        Err(Error::corrupt(location.as_ref().display(), problem))
    }
}

fn all(shards: u16) -> impl Iterator<Item = u8> {
    0..=shards.saturating_sub(1).min(255) as u8
}

/// The shard of so many that an entry belongs in; none for one of a table that was dropped.
fn shard_of(tables: &Catalog, shards: u16, key: &Bytes, value: &Bytes) -> Option<u8> {
    let shard = |table: Arc<TableState>, place: &[u8]| table.shard_among(shards, place);
    match record(key)? {
        Record::Catalog => Some(CATALOG_SHARD),
        Record::Row { table, .. } | Record::History { table, .. } => {
            Some(shard(tables.by_id(table)?, key.get(PLACE..)?))
        }
        Record::Index { table, .. } => {
            let start = index::place_start(key, value).ok()?;
            Some(shard(tables.by_id(table)?, key.get(start..)?))
        }
        Record::Change { table, .. } => {
            let place: Bytes = stored::parse(value).ok()?.place;
            Some(shard(tables.by_id(table)?, &place))
        }
    }
}

/// The sum of this over all entries says whether they are the same, in whatever order.
fn mark(key: &[u8], value: &[u8]) -> u64 {
    BuildHasherDefault::<DefaultHasher>::default().hash_one((key, value))
}

struct Copy<'t> {
    target: &'t dyn Store,
    batch: Batch,
    bytes: usize,
    /// Written last, so that what is cut short is no database with half of its rows.
    catalog: Batch,
    copied: Copied,
    sum: u64,
}

impl<'t> Copy<'t> {
    fn new(target: &'t dyn Store) -> Self {
        let (batch, catalog) = (Batch::new(), Batch::new());
        Copy { target, batch, bytes: 0, catalog, copied: Copied::default(), sum: 0 }
    }

    /// Takes an entry, and says whether it is time to tell of it.
    fn add(&mut self, shard: u8, key: Bytes, value: Bytes) -> Result<bool> {
        self.sum = self.sum.wrapping_add(mark(&key, &value));
        let bytes = key.len() + value.len();
        self.copied.entries += 1;
        self.copied.bytes += bytes as u64;
        if record(&key) == Some(Record::Catalog) {
            self.catalog.put(shard, key, value);
            return Ok(false);
        }
        self.batch.put(shard, key, value);
        self.bytes += bytes;
        if self.bytes >= BATCH_BYTES {
            self.bytes = 0;
            self.target.write(std::mem::take(&mut self.batch), Durability::Begun)?;
        }
        Ok(self.copied.entries.is_multiple_of(REPORT_EVERY))
    }

    fn finish(self) -> Result<(Copied, u64)> {
        self.target.write(self.batch, Durability::Sync)?;
        self.target.sync()?;
        self.target.write(self.catalog, Durability::Sync)?;
        Ok((self.copied, self.sum))
    }
}

/// Reads all of a copy.
fn verify(
    target: &dyn Store,
    copied: &mut Copied,
    mut progress: impl FnMut(Copied),
) -> Result<u64> {
    let mut sum = 0_u64;
    for shard in all(target.shards()) {
        for entry in target.scan(shard, KeyRange::all(), Direction::Forward)? {
            let (key, value) = entry?;
            sum = sum.wrapping_add(mark(&key, &value));
            copied.verified += 1;
            if copied.verified.is_multiple_of(REPORT_EVERY) {
                progress(*copied);
            }
        }
    }
    progress(*copied);
    Ok(sum)
}
