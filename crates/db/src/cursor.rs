//! Where a scan goes on: an opaque text that is valid for as long as the table is there.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use bytes::Bytes;

use crate::catalog::TableState;
use crate::error::{Error, Result};

const VERSION: u8 = 1;
const CHECK_BYTES: usize = 4;

/// The cursor after a row.
pub(crate) fn write(table: &TableState, place: &[u8]) -> String {
    let mut bytes = vec![VERSION];
    bytes.extend_from_slice(&table.id.to_be_bytes());
    bytes.extend_from_slice(place);
    bytes.extend_from_slice(&crc32fast::hash(&bytes).to_be_bytes());
    URL_SAFE_NO_PAD.encode(bytes)
}

/// The place of the row that a cursor comes after.
pub(crate) fn read(table: &TableState, cursor: &str) -> Result<Bytes> {
    let changed = || Error::Cursor { problem: "it was changed, or is none" };
    let bytes = URL_SAFE_NO_PAD.decode(cursor).map_err(|_| changed())?;
    let (body, check) = bytes.split_last_chunk::<CHECK_BYTES>().ok_or_else(changed)?;
    if crc32fast::hash(body).to_be_bytes() != *check {
        return Err(changed());
    }
    let (&version, rest) = body.split_first().ok_or_else(changed)?;
    if version != VERSION {
        return Err(Error::Cursor { problem: "another version of Stonecrop made it" });
    }
    let (id, place) = rest.split_first_chunk().ok_or_else(changed)?;
    if u32::from_be_bytes(*id) != table.id {
        return Err(Error::Cursor { problem: "it belongs to another table, or one since emptied" });
    }
    table.key_values(place).map_err(|_| changed())?;
    Ok(Bytes::copy_from_slice(place))
}
