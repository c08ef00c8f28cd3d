//! The index entries of a row that is written: the old one goes and the new one comes in the same
//! batch, and where both are the same nothing is written.

use std::collections::HashMap;

use bytes::Bytes;
use smallvec::SmallVec;
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

/// What the indexes that a write may change read of its row, before the write and after.
pub(super) struct Watched {
    /// Which of the table's indexes they are.
    indexes: SmallVec<[usize; 4]>,
    parts: SmallVec<[Watch; 2]>,
    /// All that was stored of the row, where one of them is over the key alone.
    row: Option<HashMap<Bytes, Bytes>>,
    /// Whether nothing can be stored of it.
    is_new: bool,
    /// How many operations were pending.
    operations: usize,
}

struct Watch {
    /// An index that reads it, and which of its parts it is there.
    part: (usize, usize),
    before: Option<Bytes>,
    /// The operation that has changed it.
    changed: Option<usize>,
}

impl Request<'_, '_> {
    /// Looks at the row before it is written; none where no index can change.
    pub(super) fn watch(&mut self, write: &Prepared, is_new: bool) -> Result<Option<Watched>> {
        let table = &write.target.table;
        let indexes: SmallVec<[usize; 4]> = concerned(write).map(|(at, _)| at).collect();
        let of_table = || indexes.iter().filter_map(|at| Some((*at, table.indexes.get(*at)?)));
        if indexes.is_empty() {
            return Ok(None);
        }
        let mut parts: SmallVec<[Watch; 2]> = SmallVec::new();
        let each = of_table().flat_map(|(index, of)| {
            of.parts.iter().enumerate().map(move |(at, part)| ((index, at), part))
        });
        for (place, part) in each {
            if parts.iter().any(|known| known.part(table) == Some(part)) {
                continue;
            }
            let before = match is_new {
                true => None,
                false => {
                    let key = part.key(table, &write.place.bytes);
                    self.pending.point_view().get(write.place.shard, &key)?
                }
            };
            parts.push(Watch { part: place, before, changed: None });
        }
        let row = match of_table().any(|(_, index)| index.is_of_keys()) {
            true if is_new => Some(HashMap::new()),
            true => {
                Some(entries_of(self.pending.view(), table, &write.place)?.into_iter().collect())
            }
            false => None,
        };
        let operations = self.pending.len();
        Ok(Some(Watched { indexes, parts, row, is_new, operations }))
    }

    /// Brings the indexes up to what the row has become.
    pub(super) fn maintain(
        &mut self,
        row: &RowWrite,
        watched: Option<Watched>,
        write: usize,
    ) -> Result<()> {
        let Some(mut watched) = watched else { return Ok(()) };
        let table = &**row.table();
        let gone_before = watched.row_gone_at(table)?;
        watched.look_again(self.pending, table, &row.place);
        let (watched, gone_after) = (&watched, watched.row_gone_at(table)?);
        for index in watched.indexes.iter().filter_map(|at| table.indexes.get(*at)) {
            let before = Seen { table, index, watched, after: None, row_gone_at: gone_before };
            let pending = Some(&*self.pending);
            let after = Seen { after: pending, row_gone_at: gone_after, ..before };
            let entry = |seen, gone_by| index.entry(table, &row.place, seen, gone_by);
            let is_misfit = |seen, gone_by| matches!(entry(seen, gone_by), Ok(Found::Misfit(_)));
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
            let before = match watched.is_new {
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
                if checked && is_taken(self.pending, table, index, &key, row.place.len(), self.now)?
                {
                    return Err(Error::NotUnique { index: index.name.clone(), write });
                }
                self.pending.put(row.shard, key, value);
            }
        }
        Ok(())
    }
}

/// The indexes of its table that a write may change, and their places there.
fn concerned(write: &Prepared) -> impl Iterator<Item = (usize, &IndexState)> {
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
    let indexes = write.target.table.indexes.iter().enumerate();
    indexes.filter(move |(_, index)| is_concerned(index))
}

/// What these indexes read of the row that a write is for; some of it more than once.
pub(super) fn watched_keys(write: &Prepared) -> impl Iterator<Item = Bytes> {
    let parts = concerned(write).flat_map(|(_, index)| &index.parts);
    parts.map(|part| part.key(&write.target.table, &write.place.bytes))
}

impl Watch {
    fn part<'t>(&self, table: &'t TableState) -> Option<&'t Part> {
        let (index, at) = self.part;
        table.indexes.get(index)?.parts.get(at)
    }
}

impl Watched {
    /// Finds what has become of the row since.
    fn look_again(&mut self, pending: &Pending<'_>, table: &TableState, place: &[u8]) {
        for (at, (_, key, value)) in pending.operations_since(self.operations).enumerate() {
            for watch in &mut self.parts {
                if watch.part(table).is_some_and(|part| part.has_key(table, place, key)) {
                    watch.changed = Some(self.operations + at);
                }
            }
            if let Some(row) = &mut self.row
                && matches!(record(key), Some(Record::Row { .. }))
            {
                match value {
                    Some(value) => row.insert(key.clone(), value.clone()),
                    None => row.remove(key),
                };
            }
        }
    }

    fn row_gone_at(&self, table: &TableState) -> Result<Option<Timestamp>> {
        match &self.row {
            Some(row) => row_gone_at(table, row.values()),
            None => Ok(None),
        }
    }
}

/// What an index reads of a row that is watched.
#[derive(Clone, Copy)]
struct Seen<'w> {
    table: &'w TableState,
    index: &'w IndexState,
    watched: &'w Watched,
    /// Where the changes are, if it is the row after them.
    after: Option<&'w Pending<'w>>,
    row_gone_at: Option<Timestamp>,
}

impl Reading for Seen<'_> {
    fn part(&self, at: usize) -> Option<&[u8]> {
        let part = self.index.parts.get(at)?;
        let watch = self.watched.parts.iter().find(|watch| watch.part(self.table) == Some(part))?;
        match (self.after, watch.changed) {
            (Some(pending), Some(changed)) => pending.value_at(changed).map(|value| &**value),
            _ => watch.before.as_deref(),
        }
    }

    fn row_gone_at(&self) -> Option<Timestamp> {
        self.row_gone_at
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
