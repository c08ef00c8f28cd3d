//! The index entries of a row that is written: the old one goes and the new one comes in the same
//! batch, and where both are the same nothing is written.

use std::sync::Arc;

use bytes::Bytes;
use stonecrop_store::{Direction, KeyRange, Read};

use crate::catalog::TableState;
use crate::clock::Timestamp;
use crate::error::{Error, Result};
use crate::index::{self, IndexEntry, IndexState, Part};
use crate::record::PLACE;
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
        let concerned = |index: &IndexState| {
            // One that failed is of no use any more, and must not stand in anybody's way.
            if index.status.has_failed() {
                return false;
            }
            write.kind != WriteKind::Put
                || index.parts.iter().any(|part| {
                    let is_part =
                        |f: &PreparedFamily| f.family == part.family && *f.name == *part.name;
                    write.families.iter().any(is_part)
                })
        };
        let indexes = table.indexes.iter().enumerate();
        let indexes: Vec<usize> =
            indexes.filter(|(_, index)| concerned(index)).map(|(at, _)| at).collect();
        if indexes.is_empty() {
            return Ok(None);
        }
        let mut parts: Vec<Watch> = Vec::new();
        for part in indexes.iter().filter_map(|at| table.indexes.get(*at)).flat_map(|i| &i.parts) {
            if !parts.iter().any(|known| known.part == *part) {
                let key = part.key(table, &write.place.bytes);
                let before = self.pending.point_view().get(write.place.shard, &key)?;
                parts.push(Watch { part: part.clone(), key, before });
            }
        }
        let operations = self.pending.len();
        Ok(Some(Watched { table: table.clone(), indexes, parts, operations }))
    }

    /// Brings the indexes up to what the row has become.
    pub(super) fn maintain(
        &mut self,
        row: &RowWrite,
        watched: Option<Watched>,
        write: usize,
    ) -> Result<()> {
        let Some(Watched { table, indexes, parts, operations }) = watched else { return Ok(()) };
        let mut after: Vec<Option<Bytes>> = parts.iter().map(|part| part.before.clone()).collect();
        for (_, key, value) in self.pending.operations_since(operations) {
            for (watch, after) in parts.iter().zip(&mut after) {
                if watch.key == *key {
                    *after = value.cloned();
                }
            }
        }
        let of_index = |index: &IndexState, values: &dyn Fn(usize) -> Option<Bytes>| {
            let positions = index.parts.iter().map(|part| {
                let at = parts.iter().position(|watch| watch.part == *part)?;
                values(at)
            });
            positions.collect::<Vec<_>>()
        };
        for index in indexes.iter().filter_map(|at| table.indexes.get(*at)) {
            let before = of_index(index, &|at| parts.get(at)?.before.clone());
            let new = of_index(index, &|at| after.get(at)?.clone());
            // What is gone counts as before: its entry may still be stored, and must not come back
            // with the clock. If it can't be told what it was, it has none. What is gone counts
            // afterwards, too, until it may be dropped: it is back if the clock goes back.
            let before = index.entry(&table, &row.place, &before, Timestamp::MIN);
            let before = before.unwrap_or_default();
            let new = index.entry(&table, &row.place, &new, droppable_by(self.now))?;
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
