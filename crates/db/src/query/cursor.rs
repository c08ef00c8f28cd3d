//! Where a query goes on: an opaque text that is valid for as long as the table is there.
//!
//! It says how the rows before it were found, because rows that are equal in the order come in the
//! order of that way: the rest is found the same way.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use bytes::Bytes;

use crate::catalog::{Place, TableState};
use crate::error::{Error, Result};
use crate::query::Query;
use crate::query::order::{SortValue, Sorted};

const VERSION: u8 = 2;
const CHECK_BYTES: usize = 4;

/// The row that a page ended or began with.
#[derive(Clone, Debug)]
pub(super) struct Cursor {
    /// Whether it was among those that have a value in the first sort field, or the others.
    pub(super) part: u8,
    pub(super) position: Position,
}

#[derive(Clone, Debug)]
pub(super) enum Position {
    /// Found in the order of the keys, or of an index: the key of the row or of its entry, without
    /// the prefix of all.
    Found { index: Option<u16>, key: Bytes },
    /// Sorted after they were found.
    Sorted(Sorted),
}

impl Cursor {
    pub(super) fn write(&self, table: &TableState, query: &Query) -> Result<String> {
        let mut bytes = vec![VERSION];
        bytes.extend_from_slice(&table.id.to_be_bytes());
        bytes.extend_from_slice(&fingerprint(query).to_be_bytes());
        bytes.push(self.part);
        match &self.position {
            Position::Found { index, key } => {
                bytes.push(0);
                bytes.extend_from_slice(&index.unwrap_or(0).to_be_bytes());
                bytes.extend_from_slice(key);
            }
            Position::Sorted(sorted) => {
                bytes.push(1);
                for value in &sorted.values {
                    value.write(&mut bytes).map_err(|problem| table.corrupt(problem))?;
                }
                bytes.extend_from_slice(&sorted.place.bytes);
            }
        }
        bytes.extend_from_slice(&crc32fast::hash(&bytes).to_be_bytes());
        Ok(URL_SAFE_NO_PAD.encode(bytes))
    }

    pub(super) fn read(text: &str, table: &TableState, query: &Query) -> Result<Self> {
        let problem = |problem| Error::Cursor { problem };
        let changed = || problem("it was changed, or is none");
        let bytes = URL_SAFE_NO_PAD.decode(text).map_err(|_| changed())?;
        let (body, check) = bytes.split_last_chunk::<CHECK_BYTES>().ok_or_else(changed)?;
        if crc32fast::hash(body).to_be_bytes() != *check {
            return Err(changed());
        }
        let (&version, rest) = body.split_first().ok_or_else(changed)?;
        if version != VERSION {
            return Err(problem("another version of Stonecrop made it, or it is one of a scan"));
        }
        let (id, rest) = rest.split_first_chunk().ok_or_else(changed)?;
        if u32::from_be_bytes(*id) != table.id {
            return Err(problem("it belongs to another table, or one since emptied"));
        }
        let (print, rest) = rest.split_first_chunk().ok_or_else(changed)?;
        if u32::from_be_bytes(*print) != fingerprint(query) {
            return Err(problem("it belongs to a query with another filter or order"));
        }
        let (&[part, kind], mut rest) = rest.split_first_chunk().ok_or_else(changed)?;
        let position = if kind == 0 {
            let (index, key) = rest.split_first_chunk().ok_or_else(changed)?;
            let index = Some(u16::from_be_bytes(*index)).filter(|index| *index != 0);
            if index.is_some_and(|index| table.index_by_id(index).is_none()) {
                return Err(problem("its index was dropped"));
            }
            Position::Found { index, key: Bytes::copy_from_slice(key) }
        } else {
            let values = query.sort.iter().map(|_| SortValue::read(&mut rest));
            let values = values.collect::<Option<Vec<_>>>().ok_or_else(changed)?;
            let bytes = Bytes::copy_from_slice(rest);
            Position::Sorted(Sorted { values, place: Place { shard: table.shard(&bytes), bytes } })
        };
        Ok(Cursor { part, position })
    }
}

/// The cursor of a query along its index after an entry: the values of its columns, and the place of
/// its row.
pub(crate) fn after_entry(
    table: &TableState,
    query: &Query,
    columns: &[stonecrop_keys::Value<'_>],
    place: &[u8],
) -> Result<String> {
    let name = query.index.as_deref().unwrap_or_default();
    let index = table.index_by_name(name)?;
    let mut key = Vec::new();
    index
        .schema
        .encode_into(columns, &mut key)
        .map_err(|error| Error::Index { index: name.to_owned(), problem: error.to_string() })?;
    key.extend_from_slice(place);
    let position = Position::Found { index: Some(index.id), key: key.into() };
    Cursor { part: 0, position }.write(table, query)
}

/// What has to be the same from page to page.
fn fingerprint(query: &Query) -> u32 {
    let text = format!("{:?} {:?} {:?} {:?}", query.filter, query.sort, query.index, query.as_of);
    crc32fast::hash(text.as_bytes())
}
