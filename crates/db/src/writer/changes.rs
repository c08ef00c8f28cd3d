//! The changes of a table that keeps them: each is a record in the batch of the write that caused it.

use std::sync::Arc;

use crate::catalog::{Place, TableState};
use crate::changes::stored;
use crate::error::Result;
use crate::read::{Entries, Loader, Moment};
use crate::record::change_key;
use crate::writer::apply::{Request, RowWrite};
use crate::writer::prepare::Prepared;

/// A change whose number is not known before all writes of its batch are applied.
pub(super) struct Draft {
    table: Arc<TableState>,
    shard: u8,
    body: Vec<u8>,
}

impl Request<'_, '_> {
    /// The row before it is written; none where the table keeps no changes.
    pub(super) fn row_before(&mut self, write: &Prepared, is_new: bool) -> Result<Option<Entries>> {
        match write.target.table.schema.changes {
            None => Ok(None),
            Some(_) if is_new => Ok(Some(Entries::default())),
            Some(_) => self.whole_row(&write.target.table, &write.place).map(Some),
        }
    }

    fn whole_row(&mut self, table: &TableState, place: &Place) -> Result<Entries> {
        let moment = Moment::now(self.now);
        let mut row = Loader::new(self.pending.view(), table, place, moment);
        row.load_all()?;
        Ok(row.into_entries())
    }

    /// Drafts the change of a row, if a reader can tell that there was one.
    pub(super) fn draft_change(&mut self, row: &RowWrite, before: Option<Entries>) -> Result<()> {
        let Some(old) = before else { return Ok(()) };
        let place = Place { shard: row.shard, bytes: row.place.clone() };
        let new = self.whole_row(row.table(), &place)?;
        if !old.has_same_columns(&new) {
            let body = stored::body(&row.place, &old, &new);
            self.drafts.push(Draft { table: row.table().clone(), shard: row.shard, body });
        }
        Ok(())
    }

    /// Adds the changes to the batch. Nothing can go wrong any more, so no number is given in vain.
    pub(super) fn record_changes(&mut self) {
        for Draft { table, shard, body } in std::mem::take(&mut self.drafts) {
            let Some(changes) = &table.schema.changes else { continue };
            let log = &table.activity.changes;
            let (number, before) = log.give();
            let value = stored::value(self.now + changes.keep, self.now, before, &body);
            self.pending.put(shard, change_key(table.id, number), value);
            if let Some((key, value)) = log.raise_ceiling(table.id) {
                self.pending.put_in_catalog(key, value);
                self.pending.must_sync();
            }
        }
    }
}
