//! The index entries of a row that is written: the old one goes and the new one comes in the same
//! batch, and where both are the same nothing is written.

use std::collections::HashMap;
use std::sync::Arc;

use bytes::Bytes;
use stonecrop_store::{Direction, KeyRange, Read};

use crate::catalog::TableState;
use crate::clock::Timestamp;
use crate::error::{Error, Result};
use crate::index::{self, Found, IndexEntry, IndexState, Part, Reading, entries_of, row_gone_at};
use crate::record::{PLACE, Record, record};
use crate::retention::droppable_by;
use crate::write::WriteKind;
use crate::writer::apply::{Request, RowWrite};
use crate::writer::pending::Pending;
use crate::writer::prepare::{Prepared, PreparedFamily};

/// What the indexes that a write may change read of its row, from before the write.
pub(super) struct Watched {
    table: Arc<TableState>,
    /// Which of the table's indexes they are.
    indexes: Vec<usize>,
    parts: Vec<Watch>,
    /// All that was stored of the row, where one of them is over the key alone.
    row: Option<HashMap<Bytes, Bytes>>,
    /// Whether nothing can be stored of it.
    is_new: bool,
    /// How many operations were pending.
    operations: usize,
}

struct Watch {
    part: Part,
    key: Bytes,
    before: Option<Bytes>,
}

impl Request<'_, '_> {
    /// Looks at the row before it is written; none where no index can change.
    pub(super) fn watch(&mut self, write: &Prepared) -> Result<Option<Watched>> {
        let table = &write.table;
        let indexes = concerned(write);
        if indexes.is_empty() {
            return Ok(None);
        }
        let is_new = write.is_new();
        let mut parts = Vec::new();
        for (part, key) in watched_parts(write, &indexes) {
            let before = match is_new {
                true => None,
                false => self.pending.point_view().get(write.place.shard, &key)?,
            };
            parts.push(Watch { part: part.clone(), key, before });
        }
        let are_of_keys = |at: &usize| table.indexes.get(*at).is_some_and(IndexState::is_of_keys);
        let row = match indexes.iter().any(are_of_keys) {
            true if is_new => Some(HashMap::new()),
            true => {
                Some(entries_of(self.pending.view(), table, &write.place)?.into_iter().collect())
            }
            false => None,
        };
        let operations = self.pending.len();
        Ok(Some(Watched { table: table.clone(), indexes, parts, row, is_new, operations }))
    }

    /// Brings the indexes up to what the row has become.
    pub(super) fn maintain(
        &mut self,
        row: &RowWrite,
        watched: Option<Watched>,
        write: usize,
    ) -> Result<()> {
        let Some(watched) = watched else { return Ok(()) };
        let (before, after) = watched.before_and_after(self.pending)?;
        let Watched { table, indexes, parts, is_new, .. } = watched;
        for index in indexes.iter().filter_map(|at| table.indexes.get(*at)) {
            let (before, after) = (before.of(index, &parts), after.of(index, &parts));
            let entry = |reading, gone_by| index.entry(&table, &row.place, reading, gone_by);
            let is_misfit =
                |reading, gone_by| matches!(entry(reading, gone_by), Ok(Found::Misfit(_)));
            // What is gone counts as before: its entry may still be stored, and must not come back
            // with the clock. If it can't be told what it was, it has none. What is gone counts
            // afterwards, too, until it may be dropped: it is back if the clock goes back.
            let horizon = droppable_by(self.now);
            let new = match entry(&after, horizon)? {
                // Only a row that was left out for such a value may have it.
                Found::Misfit(error) => {
                    let stays_gone = || !is_misfit(&after, self.now) && is_misfit(&before, horizon);
                    if !is_misfit(&before, self.now) && !stays_gone() {
                        return Err(error);
                    }
                    None
                }
                found => found.entry(),
            };
            let before = match is_new {
                true => None,
                false => entry(&before, Timestamp::MIN).ok().and_then(Found::entry),
            };
            if before == new {
                continue;
            }
            let same_key = match (&before, &new) {
                (Some((before, _)), Some((new, _))) => before == new,
                _ => false,
            };
            // Another row may have taken the values of one that was gone.
            let stands = |entry: &Option<IndexEntry>| {
                let gone_at = entry.as_ref().and_then(|(_, value)| index::gone_at(value));
                gone_at.is_some_and(|at| self.now < at)
            };
            let checked = index.unique && stands(&new) && !(same_key && stands(&before));
            if let Some((key, _)) = before.filter(|_| !same_key) {
                self.pending.delete(row.shard, key);
            }
            if let Some((key, value)) = new {
                if checked
                    && is_taken(self.pending, &table, index, &key, row.place.len(), self.now)?
                {
                    return Err(Error::NotUnique { index: index.name.clone(), write });
                }
                self.pending.put(row.shard, key, value);
            }
        }
        Ok(())
    }
}

/// Which of its table's indexes a write may change.
fn concerned(write: &Prepared) -> Vec<usize> {
    let is_concerned = |index: &IndexState| {
        // One that failed is of no use any more, and must not stand in anybody's way.
        if index.status.has_failed() {
            return false;
        }
        // Of an index over the key alone the whole row is a part.
        write.kind != WriteKind::Put
            || write.gone_at.is_some()
            || index.is_of_keys()
            || index.parts.iter().any(|part| {
                let is_part = |f: &PreparedFamily| f.family == part.family && *f.name == *part.name;
                write.families.iter().any(is_part)
            })
    };
    let indexes = write.table.indexes.iter().enumerate();
    indexes.filter(|(_, index)| is_concerned(index)).map(|(at, _)| at).collect()
}

/// The parts of a row that some indexes of its table read, and their keys, each once.
fn watched_parts<'w>(write: &'w Prepared, indexes: &[usize]) -> Vec<(&'w Part, Bytes)> {
    let table = &write.table;
    let mut parts: Vec<(&Part, Bytes)> = Vec::new();
    for part in indexes.iter().filter_map(|at| table.indexes.get(*at)).flat_map(|i| &i.parts) {
        if !parts.iter().any(|(known, _)| *known == part) {
            parts.push((part, part.key(table, &write.place.bytes)));
        }
    }
    parts
}

/// What indexes read of the row that a write is for, unless it is new.
pub(super) fn watched_keys(write: &Prepared) -> impl Iterator<Item = Bytes> {
    watched_parts(write, &concerned(write)).into_iter().map(|(_, key)| key)
}

/// What a row held, before or after a write.
struct Held {
    /// For each of the watched parts.
    parts: Vec<Option<Bytes>>,
    gone_at: Option<Timestamp>,
}

impl Held {
    fn of(&self, index: &IndexState, watches: &[Watch]) -> Reading {
        let part = |part: &Part| {
            let at = watches.iter().position(|watch| watch.part == *part)?;
            self.parts.get(at)?.clone()
        };
        Reading { parts: index.parts.iter().map(part).collect(), row_gone_at: self.gone_at }
    }
}

impl Watched {
    fn before_and_after(&self, pending: &Pending<'_>) -> Result<(Held, Held)> {
        let gone_at = |row: &Option<HashMap<Bytes, Bytes>>| match row {
            Some(row) => row_gone_at(&self.table, row.values()),
            None => Ok(None),
        };
        let mut parts: Vec<_> = self.parts.iter().map(|part| part.before.clone()).collect();
        let mut row = self.row.clone();
        let before = Held { parts: parts.clone(), gone_at: gone_at(&row)? };
        for (_, key, value) in pending.operations_since(self.operations) {
            for (watch, after) in self.parts.iter().zip(&mut parts) {
                if watch.key == *key {
                    *after = value.cloned();
                }
            }
            if let Some(row) = &mut row
                && matches!(record(key), Some(Record::Row { .. }))
            {
                match value {
                    Some(value) => row.insert(key.clone(), value.clone()),
                    None => row.remove(key),
                };
            }
        }
        Ok((before, Held { parts, gone_at: gone_at(&row)? }))
    }
}

/// Whether another row has the same values in an index, nulls aside.
pub(crate) fn is_taken(
    pending: &mut Pending<'_>,
    table: &TableState,
    index: &IndexState,
    key: &[u8],
    place: usize,
    now: Timestamp,
) -> Result<bool> {
    let values = key.get(..key.len().saturating_sub(place)).unwrap_or_default();
    let decoded = index.schema.decode(values.get(PLACE..).unwrap_or_default());
    let decoded = decoded.map_err(|error| index.corrupt(table, error))?;
    if decoded.iter().any(stonecrop_keys::Value::is_null) {
        return Ok(false);
    }
    for shard in table.shards() {
        for entry in pending.view().scan(shard, KeyRange::prefix(values), Direction::Forward)? {
            let (found, value) = entry?;
            if found != key && index::gone_at(&value).is_some_and(|at| now < at) {
                return Ok(true);
            }
        }
    }
    Ok(false)
}
