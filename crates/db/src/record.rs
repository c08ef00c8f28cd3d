//! The keys of stored entries.
//!
//! | record | after the version and the type |
//! |---|---|
//! | catalog | kind (1), table (4), index (2) if it is about one |
//! | row | table (4), family (2), place, column name if the family is 0 |
//! | index | table (4), index (2), indexed values, place |
//! | history | table (4), family (2), place, written_at descending (8), expires_at (8) |
//! | change | table (4), number (8) |
//!
//! The place of a row is its stripe (1, in tables placed by hash), its partition key and its sort
//! key. The family comes before the place, so that a scan reads the families it needs and no
//! others; docs/decisions/0002-families-first.md has the measurements.

use bytes::Bytes;
use stonecrop_store::KeyRange;

use crate::clock::Timestamp;

const VERSION: u8 = 0x01;
const CATALOG: u8 = 0x10;
const ROW: u8 = 0x20;
const INDEX: u8 = 0x30;
const HISTORY: u8 = 0x40;
const CHANGE: u8 = 0x50;

/// Holds the columns that are declared in no family, an entry each, and removals of whole rows.
pub(crate) const LOOSE: u16 = 0;
/// The bytes before the place of a row.
pub(crate) const PLACE: usize = 8;
/// The two times at the end of a history key.
pub(crate) const TIMES: usize = 16;

/// The records of the catalog.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum CatalogKind {
    /// The id of the next table; its own id is 0.
    NextTable = 1,
    /// A table's definition, by its id.
    Table = 2,
    /// A time that no entry of the table was written after, by the table's id.
    Ceiling = 3,
    /// How far an index that is being built has come, by the table's and the index's id.
    Backfill = 4,
    /// How far the numbers of a table's changes have come, by the table's id.
    Changes = 5,
}

pub(crate) fn catalog_key(kind: CatalogKind, id: u32) -> Bytes {
    let [a, b, c, d] = id.to_be_bytes();
    Bytes::copy_from_slice(&[VERSION, CATALOG, kind as u8, a, b, c, d])
}

/// The key of what is known of an index that is being built.
pub(crate) fn backfill_key(table: u32, index: u16) -> Bytes {
    let key = catalog_key(CatalogKind::Backfill, table);
    [&key[..], &index.to_be_bytes()].concat().into()
}

/// The table and the index that a backfill key is about.
pub(crate) fn backfill_ids(key: &[u8]) -> Option<(u32, u16)> {
    let (key, index) = key.split_last_chunk()?;
    Some((catalog_id(key)?, u16::from_be_bytes(*index)))
}

/// All records of a kind.
pub(crate) fn catalog_range(kind: CatalogKind) -> KeyRange {
    KeyRange::prefix(&[VERSION, CATALOG, kind as u8])
}

/// The id at the end of a catalog key.
pub(crate) fn catalog_id(key: &[u8]) -> Option<u32> {
    key.last_chunk().map(|id| u32::from_be_bytes(*id))
}

fn prefix(record: u8, table: u32, family: u16) -> [u8; PLACE] {
    let [a, b, c, d] = table.to_be_bytes();
    let [e, f] = family.to_be_bytes();
    [VERSION, record, a, b, c, d, e, f]
}

/// What all rows' entries of a family begin with.
pub(crate) fn family_prefix(table: u32, family: u16) -> [u8; PLACE] {
    prefix(ROW, table, family)
}

/// What all superseded versions of a family begin with.
pub(crate) fn history_prefix(table: u32, family: u16) -> [u8; PLACE] {
    prefix(HISTORY, table, family)
}

/// The key of an entry: `name` is empty but for a loose column.
pub(crate) fn entry_key(table: u32, family: u16, place: &[u8], name: &str) -> Bytes {
    [&prefix(ROW, table, family)[..], place, name.as_bytes()].concat().into()
}

/// Whether a key is that of an entry, without making it.
pub(crate) fn is_entry_key(key: &[u8], table: u32, family: u16, place: &[u8], name: &str) -> bool {
    let rest = key.strip_prefix(&prefix(ROW, table, family));
    rest.and_then(|rest| rest.strip_prefix(place)) == Some(name.as_bytes())
}

/// What all entries of an index begin with.
pub(crate) fn index_prefix(table: u32, index: u16) -> [u8; PLACE] {
    prefix(INDEX, table, index)
}

/// The key of a superseded version.
pub(crate) fn history_key(
    table: u32,
    family: u16,
    place: &[u8],
    written_at: Timestamp,
    expires_at: Timestamp,
) -> Bytes {
    let newest_first = !sortable(written_at);
    let times = [newest_first.to_be_bytes(), sortable(expires_at).to_be_bytes()];
    [&prefix(HISTORY, table, family)[..], place, times.as_flattened()].concat().into()
}

/// All superseded versions of a row's family, newest first.
pub(crate) fn history_range(table: u32, family: u16, place: &[u8]) -> KeyRange {
    KeyRange::prefix(&[&prefix(HISTORY, table, family)[..], place].concat())
}

/// When a superseded version was written and when it may go.
pub(crate) fn history_times(key: &[u8]) -> Option<(Timestamp, Timestamp)> {
    let (times, _) = key.last_chunk::<TIMES>()?.as_chunks::<8>();
    let [written_at, expires_at] = times else { return None };
    let [written_at, expires_at] = [written_at, expires_at].map(|time| u64::from_be_bytes(*time));
    Some((from_sortable(!written_at), from_sortable(expires_at)))
}

/// The key of a change.
pub(crate) fn change_key(table: u32, number: u64) -> Bytes {
    [&change_prefix(table)[..], &number.to_be_bytes()].concat().into()
}

fn change_prefix(table: u32) -> [u8; 6] {
    let [a, b, c, d] = table.to_be_bytes();
    [VERSION, CHANGE, a, b, c, d]
}

/// The changes of a table after a number, or all of them.
pub(crate) fn change_range(table: u32, after: Option<u64>) -> KeyRange {
    let mut range = KeyRange::prefix(&change_prefix(table));
    if let Some(after) = after {
        // The shortest key above that of the number.
        range.start = [&change_key(table, after)[..], &[0]].concat().into();
    }
    range
}

/// The number of a change, by its key.
pub(crate) fn change_number(key: &[u8]) -> Option<u64> {
    let number = key.get(change_prefix(0).len()..)?;
    number.try_into().ok().map(u64::from_be_bytes)
}

/// The times as numbers whose order as unsigned is theirs.
fn sortable(time: Timestamp) -> u64 {
    time.as_micros() as u64 ^ (1 << 63)
}

fn from_sortable(bits: u64) -> Timestamp {
    Timestamp::from_micros((bits ^ (1 << 63)) as i64)
}

/// What an entry is, by its key alone.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Record {
    Catalog,
    Row { table: u32, family: u16 },
    Index { table: u32, index: u16 },
    History { table: u32, family: u16, expires_at: Timestamp },
    Change { table: u32, number: u64 },
}

/// What kind of entry a key belongs to; none where it is none of ours.
pub(crate) fn record(key: &[u8]) -> Option<Record> {
    let (&[version, record], rest) = key.split_first_chunk()?;
    if version != VERSION {
        return None;
    }
    let ids = || {
        let (table, rest) = rest.split_first_chunk()?;
        let second = rest.first_chunk()?;
        Some((u32::from_be_bytes(*table), u16::from_be_bytes(*second)))
    };
    match record {
        CATALOG => Some(Record::Catalog),
        ROW => ids().map(|(table, family)| Record::Row { table, family }),
        INDEX => ids().map(|(table, index)| Record::Index { table, index }),
        HISTORY => {
            let ((table, family), (_, expires_at)) = (ids()?, history_times(key)?);
            Some(Record::History { table, family, expires_at })
        }
        CHANGE => {
            let table = u32::from_be_bytes(*rest.first_chunk()?);
            Some(Record::Change { table, number: change_number(key)? })
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn superseded_versions_sort_newest_first_and_tell_their_times() {
        let key = |written_at, expires_at| {
            let [w, e] = [written_at, expires_at].map(Timestamp::from_micros);
            history_key(3, 1, b"row", w, e)
        };
        assert!(key(5, 10) < key(4, 11) && key(4, 1) < key(-4, 0) && key(1, 2) < key(1, 3));
        let times = history_times(&key(-4, i64::MAX)).unwrap();
        assert_eq!(times, (Timestamp::from_micros(-4), Timestamp::NEVER));
        assert_eq!(
            record(&key(1, 2)),
            Some(Record::History { table: 3, family: 1, expires_at: Timestamp::from_micros(2) })
        );
    }

    #[test]
    fn the_layout_of_the_keys_is_frozen() {
        assert_eq!(&entry_key(1, 2, b"row", "")[..], b"\x01\x20\x00\x00\x00\x01\x00\x02row");
        assert_eq!(&entry_key(1, LOOSE, b"row", "a")[..], b"\x01\x20\x00\x00\x00\x01\x00\x00rowa");
        assert_eq!(&catalog_key(CatalogKind::Table, 7)[..], b"\x01\x10\x02\x00\x00\x00\x07");
        assert_eq!(&backfill_key(7, 8)[..], b"\x01\x10\x04\x00\x00\x00\x07\x00\x08");
        assert_eq!(backfill_ids(&backfill_key(7, 8)), Some((7, 8)));
        assert_eq!(&index_prefix(1, 2), b"\x01\x30\x00\x00\x00\x01\x00\x02");
        let change = change_key(7, 8);
        assert_eq!(&change[..], b"\x01\x50\x00\x00\x00\x07\x00\x00\x00\x00\x00\x00\x00\x08");
        assert_eq!(record(&change), Some(Record::Change { table: 7, number: 8 }));
        let first = history_key(1, 2, b"r", Timestamp::from_micros(0), Timestamp::NEVER);
        let times = b"\x7f\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff";
        assert_eq!(&first[..], [&b"\x01\x40\x00\x00\x00\x01\x00\x02r"[..], times].concat());
    }
}
