//! How many rows there are, about, from a look at a few of them.

use stonecrop_keys::KeyRange as FieldRange;
use stonecrop_store::{Direction, KeyRange};

use crate::catalog::TableState;
use crate::error::Result;
use crate::query::interrupt::Interrupt;
use crate::query::plan::Access;
use crate::query::visit::View;
use crate::record::{LOOSE, family_prefix, index_prefix};
use crate::schema::Placement;

/// How many entries are counted for an estimate of a whole table.
const SAMPLE: u64 = 512;
/// How many entries of one stripe are counted.
const STRIPE: u64 = 1 << 14;

/// Counts, as far as it is worth it.
pub(super) struct Statistics<'q> {
    view: View<'q>,
    interrupt: &'q Interrupt,
}

impl<'q> Statistics<'q> {
    pub(super) fn new(view: View<'q>, interrupt: &'q Interrupt) -> Self {
        Statistics { view, interrupt }
    }

    /// About how many rows the table has. It is counted again once much was written.
    pub(super) fn rows(&mut self) -> Result<u64> {
        let activity = &self.view.table.activity;
        if let Some(rows) = activity.estimated_rows() {
            return Ok(rows);
        }
        let table = self.view.table;
        let families = table.families().chain(table.is_loose().then_some(LOOSE));
        let mut rows = 0;
        for family in families {
            rows = rows.max(self.entries_of(family)?);
        }
        activity.set_estimated_rows(rows);
        Ok(rows)
    }

    /// How many entries of a family there are, from those of a few stripes.
    fn entries_of(&self, family: u16) -> Result<u64> {
        let table = self.view.table;
        let prefix = family_prefix(table.id, family);
        if table.schema.placement == Placement::Range {
            let whole = FieldRange { start: Vec::new(), end: None };
            let count = self.count(table.own_shard(), &prefix, &whole, SAMPLE)?;
            // More than were counted; how many more can't be told from here.
            return Ok(if count == SAMPLE { SAMPLE * 64 } else { count });
        }
        let mut count = 0;
        for stripe in 0..=255_u8 {
            let end = stripe.checked_add(1).map(|next| vec![next]);
            let range = FieldRange { start: vec![stripe], end };
            let shard = table.shard_of_stripe(stripe);
            count += self.count(shard, &prefix, &range, STRIPE)?;
            if count >= SAMPLE {
                return Ok(count * 256 / (u64::from(stripe) + 1));
            }
        }
        Ok(count)
    }

    fn count(&self, shard: u8, prefix: &[u8], range: &FieldRange, most: u64) -> Result<u64> {
        self.interrupt.check_now()?;
        let range = range.clone().under(prefix);
        let range = KeyRange { start: range.start.into(), end: range.end.map(Into::into) };
        let mut count = 0;
        for entry in self.view.source.scan(shard, range, Direction::Forward)?.take(most as usize) {
            entry?;
            count += 1;
        }
        Ok(count)
    }

    /// How many candidates an access gives, a guess where there are more than enough to tell.
    pub(super) fn candidates(
        &mut self,
        access: &Access,
        rows: u64,
        enough: u64,
    ) -> Result<Option<u64>> {
        let table: &TableState = self.view.table;
        let mut count = 0;
        match access {
            Access::Everything => return Ok(Some(rows)),
            Access::Points(places) => return Ok(Some(places.len() as u64)),
            Access::Keys(stretches) => {
                let family = table.families().next().unwrap_or(LOOSE);
                let prefix = family_prefix(table.id, family);
                for (shard, range) in stretches {
                    count += self.count(*shard, &prefix, range, enough + 1 - count)?;
                    if count > enough {
                        return Ok(more_than(enough, rows));
                    }
                }
            }
            Access::Index { at, ranges, .. } => {
                let Some(index) = table.indexes.get(*at) else { return Ok(None) };
                let prefix = index_prefix(table.id, index.id);
                for range in ranges {
                    if range.start.is_empty() && range.end.is_none() {
                        return Ok(Some(rows));
                    }
                    for shard in table.shards() {
                        count += self.count(shard, &prefix, range, enough + 1 - count)?;
                        if count > enough {
                            return Ok(more_than(enough, rows));
                        }
                    }
                }
            }
        }
        Ok(Some(count))
    }
}

/// What is expected where there is more than was counted: to read rows one by one that were thought
/// to be few costs more than a scan that was not needed.
fn more_than(counted: u64, rows: u64) -> Option<u64> {
    Some(counted.saturating_mul(16).min(rows))
}
