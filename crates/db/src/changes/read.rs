//! Reading changes: all shards, in the order of the numbers.

use bytes::Bytes;
use stonecrop_store::{Direction, KeyRange, Read, Scan};

use crate::catalog::TableState;
use crate::changes::stored::{self, StoredChange};
use crate::changes::{Change, ChangePage};
use crate::clock::Timestamp;
use crate::error::{Error, Result};
use crate::key::RowKey;
use crate::read::{Entries, Moment, Selection};
use crate::record::{change_number, change_range};
use crate::row::Row;

/// A page has no more bytes than this, as stored, unless its first change alone has.
const PAGE_BYTES: usize = 1 << 20;

/// The number of the last change that is stored.
pub(crate) fn last_stored(source: &dyn Read, table: &TableState) -> Result<Option<u64>> {
    let mut last = None;
    for shard in table.shards() {
        let mut changes = source.scan(shard, change_range(table.id, None), Direction::Backward)?;
        if let Some(entry) = changes.next() {
            last = last.max(Some(number(table, &entry?.0)?));
        }
    }
    Ok(last)
}

fn number(table: &TableState, key: &[u8]) -> Result<u64> {
    change_number(key).ok_or_else(|| table.corrupt("a change without a number"))
}

/// The changes after a number, or from the oldest on, up to the last that was known to be committed
/// before the source was taken.
pub(crate) fn page(
    source: &dyn Read,
    table: &TableState,
    after: Option<u64>,
    committed: u64,
    take: usize,
    now: Timestamp,
) -> Result<ChangePage> {
    let lost = || Error::ChangesLost { table: table.schema.name().to_owned(), after };
    let mut page =
        ChangePage { changes: Vec::new(), next: after.unwrap_or(committed), more: false };
    if after.is_some_and(|after| after > table.activity.changes.given()) {
        return Err(lost());
    }
    let (mut position, mut bytes) = (after, 0);
    let mut merge = Merge::new(source, table, change_range(table.id, after))?;
    while let Some((number, value)) = merge.next(table)? {
        // What is still being synced is told once it is.
        if number > committed {
            break;
        }
        let change = stored::parse(&value).map_err(|problem| table.corrupt(problem))?;
        if change.gone_at <= now {
            continue;
        }
        if position.is_some_and(|seen| change.before > seen) {
            // Those between are not kept any more, which the next page will say.
            page.more = !page.changes.is_empty();
            return if page.more { Ok(page) } else { Err(lost()) };
        }
        bytes += value.len();
        let is_full = page.changes.len() >= take || bytes > PAGE_BYTES;
        if is_full && !(page.changes.is_empty() && take > 0) {
            page.more = true;
            return Ok(page);
        }
        position = Some(number);
        page.next = number;
        page.changes.push(decode(table, number, change)?);
    }
    if position.is_some_and(|seen| seen < committed) {
        page.more = !page.changes.is_empty();
        return if page.more { Ok(page) } else { Err(lost()) };
    }
    Ok(page)
}

fn decode(table: &TableState, number: u64, change: StoredChange) -> Result<Change> {
    let key = RowKey::from(table.key_values(&change.place)?).into_owned();
    let moment = Moment::now(change.at);
    let row = |image: &Bytes| -> Result<Option<Row>> {
        let stored = stored::entries(image).map_err(|problem| table.corrupt(problem))?;
        let mut entries = Entries::default();
        for (family, name, entry) in stored {
            entries.push(table, family, name, entry, moment)?;
        }
        if entries.is_empty() {
            return Ok(None);
        }
        entries.row(table, &change.place, &Selection::all(table), moment).map(Some)
    };
    Ok(Change { number, at: change.at, old: row(&change.old)?, new: row(&change.new)?, key })
}

/// The changes of all shards, one after the other.
struct Merge {
    shards: Vec<(Scan, Option<(u64, Bytes)>)>,
}

impl Merge {
    fn new(source: &dyn Read, table: &TableState, range: KeyRange) -> Result<Self> {
        let shards = table.shards().map(|shard| {
            let mut scan = source.scan(shard, range.clone(), Direction::Forward)?;
            let first = step(table, &mut scan)?;
            Ok((scan, first))
        });
        Ok(Merge { shards: shards.collect::<Result<_>>()? })
    }

    fn next(&mut self, table: &TableState) -> Result<Option<(u64, Bytes)>> {
        let waiting = self.shards.iter_mut().filter(|(_, next)| next.is_some());
        let first = waiting.min_by_key(|(_, next)| next.as_ref().map(|(number, _)| *number));
        let Some((scan, next)) = first else { return Ok(None) };
        Ok(std::mem::replace(next, step(table, scan)?))
    }
}

fn step(table: &TableState, scan: &mut Scan) -> Result<Option<(u64, Bytes)>> {
    let Some(entry) = scan.next() else { return Ok(None) };
    let (key, value) = entry?;
    Ok(Some((number(table, &key)?, value)))
}
