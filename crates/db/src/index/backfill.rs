//! Adding the rows that were there before an index to it, on a thread of its own.
//!
//! From the moment that an index is declared, every write keeps it. So each row that was there
//! before has to be looked at once, at any time, as long as nothing else is committed meanwhile. It
//! goes by small groups, and how far it has come is stored with each, for the next opening to go on.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use stonecrop_keys::KeyRange as FieldRange;
use stonecrop_store::{Batch, Direction, Durability, KeyRange, Store};

use crate::catalog::{CATALOG_SHARD, Place, Slot, TableState};
use crate::clock::{Clock, Timestamp};
use crate::error::{Error, Result};
use crate::index::{self, Backfill, Found, IndexState, IndexStatus, Stored};
use crate::read::Moment;
use crate::record::{LOOSE, PLACE, backfill_key, family_prefix};
use crate::retention::droppable_by;
use crate::walk::{View, Walk, families_for};
use crate::writer::{Pending, Writer, is_taken};

/// How many rows are looked at while others wait.
const GROUP_ROWS: usize = 500;
/// How many entries are passed over in a search for rows, before others are let in.
const GROUP_ENTRIES: usize = 20_000;

/// How long it waits after something went wrong.
const PAUSE: Duration = Duration::from_secs(1);

/// Tells those who wait that nobody builds the index any more.
struct Ended<'s>(&'s IndexStatus);

impl Drop for Ended<'_> {
    fn drop(&mut self) {
        self.0.stop();
    }
}

/// What it takes to build an index, without holding the database open.
pub(crate) struct Builder {
    pub(crate) store: Arc<dyn Store>,
    pub(crate) writer: Arc<Writer>,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) slot: Arc<Slot>,
    pub(crate) index: u16,
    /// Of the index that it was started for: who waits for it is told of its end.
    pub(crate) status: Arc<IndexStatus>,
    pub(crate) closing: Arc<AtomicBool>,
}

impl Builder {
    /// Goes on until the index is complete, or dropped, or the database is closed.
    pub(crate) fn run(self) {
        // Who waits is told of its end, even if it panics.
        let _ended = Ended(&self.status);
        while !self.closing.load(Ordering::Acquire) {
            match self.go_on() {
                Ok(true) => {}
                Ok(false) | Err(Error::Closed) => return,
                // A full disk, for one: it may go better in a while.
                Err(_) => std::thread::park_timeout(PAUSE),
            }
        }
    }

    /// Adds some rows, and tells whether there are more.
    fn go_on(&self) -> Result<bool> {
        let Some(table) = self.slot.get() else { return Ok(false) };
        match (table.index_by_id(self.index), self.status.backfill()) {
            // A table that was emptied has another status, and nothing to build.
            (Some(index), Some(backfill)) if Arc::ptr_eq(&index.status, &self.status) => {
                self.add_group(&table, index, backfill)
            }
            _ => Ok(false),
        }
    }

    fn add_group(&self, then: &TableState, index: &IndexState, from: Backfill) -> Result<bool> {
        let (group, next) = self.find_rows(then, index, &from)?;
        self.writer.exclusively(|| {
            // It may have been altered since, or emptied, or dropped.
            let Some(table) = &self.slot.get() else { return Ok(false) };
            let Some(index) = table.index_by_id(self.index) else { return Ok(false) };
            if table.id != then.id {
                return Ok(true);
            }
            let mut pending = Pending::new(&*self.store, group.len() + 1);
            let (mut problem, mut left_out) = (None, from.left_out);
            for place in &group {
                match self.add_row(table, index, place, &mut pending) {
                    Ok(true) => {}
                    Ok(false) => left_out += 1,
                    Err(error @ (Error::Store(_) | Error::Closed)) => return Err(error),
                    Err(error) => {
                        problem = Some(describe(table, index, place, &error));
                        break;
                    }
                }
            }
            let rows = from.rows + group.len() as u64;
            let (left, status) = match (problem, next) {
                (None, None) if left_out == 0 => (false, None),
                (None, None) => (
                    false,
                    Some(Backfill { complete: true, rows, left_out, ..Backfill::default() }),
                ),
                (None, Some((shard, after))) => {
                    (true, Some(Backfill { shard, after, rows, left_out, ..Backfill::default() }))
                }
                (problem, _) => (false, Some(Backfill { problem, ..from })),
            };
            let key = backfill_key(table.id, index.id);
            let mut progress = Batch::new();
            match &status {
                Some(status) => progress.put(CATALOG_SHARD, key, status.to_bytes()?),
                None => progress.delete(CATALOG_SHARD, key),
            }
            let durability = if left { Durability::Buffered } else { Durability::Sync };
            pending.commit_then(progress, durability)?;
            index.status.set(status);
            Ok(left)
        })
    }

    /// The next rows that may be in the index, and where to go on after them.
    #[expect(clippy::type_complexity, reason = "it is told apart at once")]
    fn find_rows(
        &self,
        table: &TableState,
        index: &IndexState,
        from: &Backfill,
    ) -> Result<(Vec<Place>, Option<(u8, Vec<u8>)>)> {
        // A row has no entry without its first column.
        let part = match index.parts.first() {
            Some(part) if !index.is_of_keys() => part,
            _ => return self.find_any_rows(table, from),
        };
        let prefix = family_prefix(table.id, part.family);
        let mut group = Vec::new();
        let mut passed = 0;
        for shard in table.shards().filter(|shard| *shard >= from.shard) {
            let mut range = KeyRange::prefix(&prefix);
            if shard == from.shard && !from.after.is_empty() {
                range.start = [&prefix[..], &from.after, &[0]].concat().into();
            }
            for entry in self.store.scan(shard, range, Direction::Forward)? {
                let (key, _) = entry?;
                let rest = key.slice(PLACE.min(key.len())..);
                let place = match part.family {
                    LOOSE => {
                        let (place, name) = table.split_loose(&rest)?;
                        (name == part.name.as_bytes()).then(|| rest.slice_ref(place))
                    }
                    _ => Some(rest.clone()),
                };
                group.extend(place.map(|bytes| Place { shard, bytes }));
                passed += 1;
                if group.len() == GROUP_ROWS || passed == GROUP_ENTRIES {
                    return Ok((group, Some((shard, rest.to_vec()))));
                }
            }
        }
        Ok((group, None))
    }

    /// The same of an index that has every row.
    #[expect(clippy::type_complexity, reason = "it is told apart at once")]
    fn find_any_rows(
        &self,
        table: &TableState,
        from: &Backfill,
    ) -> Result<(Vec<Place>, Option<(u8, Vec<u8>)>)> {
        // What is gone is back if the clock goes back, until it may be dropped.
        let moment = Moment::now(droppable_by(self.clock.now()));
        let view = View { table, source: &*self.store, moment };
        let stretches = table.shards().filter(|shard| *shard >= from.shard).map(|shard| {
            // No row's place begins with that of another.
            let after = (shard == from.shard && !from.after.is_empty())
                .then(|| FieldRange::prefix(from.after.clone()).end.unwrap_or_default());
            (shard, FieldRange { start: after.unwrap_or_default(), end: None })
        });
        let families = families_for(table, None);
        let mut walk = Walk::new(families, stretches.collect(), Direction::Forward);
        let check = || match self.closing.load(Ordering::Acquire) {
            true => Err(Error::Closed),
            false => Ok(()),
        };
        let mut group: Vec<Place> = Vec::new();
        while let Some(place) = walk.next(view, None, None, check)? {
            group.push(place);
            if group.len() == GROUP_ROWS {
                let last = group.last().map(|last| (last.shard, last.bytes.to_vec()));
                return Ok((group, last));
            }
        }
        Ok((group, None))
    }

    /// Adds a row, if it has all the columns; tells whether their values fit.
    fn add_row(
        &self,
        table: &TableState,
        index: &IndexState,
        place: &Place,
        pending: &mut Pending<'_>,
    ) -> Result<bool> {
        let now = self.clock.now();
        // What is gone is back if the clock goes back, until it may be dropped.
        let (key, value) = match entry_of(&*self.store, table, index, place, droppable_by(now))? {
            Found::Entry(entry) => entry,
            Found::Nothing => return Ok(true),
            Found::Misfit(_) => return Ok(false),
        };
        let stands = index::gone_at(&value).is_some_and(|at| now < at);
        if index.unique && stands && is_taken(pending, table, index, &key, place.bytes.len(), now)?
        {
            return Err(Error::NotUnique { index: index.name.clone(), write: 0 });
        }
        pending.put(place.shard, key, value);
        Ok(true)
    }
}

/// Why a row can't be added.
fn describe(table: &TableState, index: &IndexState, place: &Place, error: &Error) -> String {
    let problem = match error {
        Error::NotUnique { .. } => {
            format!("another row has the same values in the unique index {:?}", index.name)
        }
        error => error.to_string(),
    };
    match table.key_values(&place.bytes) {
        Ok(key) => {
            let key: Vec<_> = key.iter().map(ToString::to_string).collect();
            format!("the row ({}): {problem}", key.join(", "))
        }
        Err(_) => problem,
    }
}

/// What an index makes of a row, by what is stored of it; what was gone by a time counts as not
/// there.
pub(crate) fn entry_of(
    store: &dyn stonecrop_store::Read,
    table: &TableState,
    index: &IndexState,
    place: &Place,
    gone_by: Timestamp,
) -> Result<Found> {
    let reading = Stored::new(store, table, index, place)?;
    index.entry(table, &place.bytes, &reading, gone_by)
}
