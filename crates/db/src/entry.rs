//! The bytes of a stored family: a header with its clock at fixed offsets, then its columns.

use crate::clock::Timestamp;
use crate::schema::Lifetime;
use crate::value::Value;
use crate::value::encode::{Problem, read_next, read_varint, skip, write_varint};

/// Flags, and three times of eight bytes.
pub(crate) const HEADER_BYTES: usize = 25;
/// The entry says that something was removed, so that a late write does not bring it back.
const REMOVED: u8 = 0x01;

/// The clock of a family.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Header {
    /// The family, or the whole row, was removed at `written_at`; there are no columns.
    pub(crate) removed: bool,
    pub(crate) written_at: Timestamp,
    /// From here on it is stale.
    pub(crate) fresh_until: Timestamp,
    /// From here on it is gone.
    pub(crate) gone_at: Timestamp,
}

impl Header {
    /// What is written now lives for so long.
    pub(crate) fn new(written_at: Timestamp, lifetime: Lifetime) -> Self {
        let fresh_until = lifetime.ttl.map_or(Timestamp::NEVER, |ttl| written_at + ttl);
        let gone_at = lifetime.keep.map_or(Timestamp::NEVER, |keep| fresh_until + keep);
        Header { removed: false, written_at, fresh_until, gone_at }
    }

    /// A removal, which late writes are held against until `gone_at`.
    pub(crate) fn removal(written_at: Timestamp, gone_at: Timestamp) -> Self {
        Header { removed: true, written_at, fresh_until: written_at, gone_at }
    }

    pub(crate) fn to_bytes(self) -> [u8; HEADER_BYTES] {
        let mut bytes = [0; HEADER_BYTES];
        let (flags, times) = bytes.split_at_mut(1);
        flags.fill(if self.removed { REMOVED } else { 0 });
        let of = [self.written_at, self.fresh_until, self.gone_at];
        for (to, time) in times.as_chunks_mut::<8>().0.iter_mut().zip(of) {
            *to = time.as_micros().to_be_bytes();
        }
        bytes
    }

    /// The header of an entry, and the columns after it.
    #[inline]
    pub(crate) fn read(entry: &[u8]) -> Result<(Self, &[u8]), Problem> {
        let Some((header, columns)) = entry.split_first_chunk::<HEADER_BYTES>() else {
            return Err("it is too short for a header");
        };
        let [flags, times @ ..] = header;
        let (times, _) = times.as_chunks::<8>();
        let [written_at, fresh_until, gone_at] = times else {
            return Err("it is too short for a header");
        };
        let time = |bytes: &[u8; 8]| Timestamp::from_micros(i64::from_be_bytes(*bytes));
        if flags & !REMOVED != 0 {
            return Err("its header has flags that are not known");
        }
        let header = Header {
            removed: flags & REMOVED != 0,
            written_at: time(written_at),
            fresh_until: time(fresh_until),
            gone_at: time(gone_at),
        };
        Ok((header, columns))
    }

    /// Whether readers see the family at `now`.
    #[inline]
    pub(crate) fn is_visible(&self, now: Timestamp) -> bool {
        !self.removed && now < self.gone_at
    }
}

/// Appends a column of a declared family.
pub(crate) fn push_column(id: u32, value: &[u8], out: &mut Vec<u8>) {
    write_varint(u64::from(id), out);
    out.extend_from_slice(value);
}

/// The columns of a declared family, in the order of their ids.
#[derive(Clone)]
pub(crate) struct Columns<'b> {
    rest: &'b [u8],
}

impl<'b> Columns<'b> {
    pub(crate) fn new(bytes: &'b [u8]) -> Self {
        Columns { rest: bytes }
    }

    /// The bytes of one column's value.
    #[inline]
    pub(crate) fn find(mut self, id: u32) -> Result<Option<&'b [u8]>, Problem> {
        while let Some((found, value)) = self.step()? {
            if found >= id {
                return Ok((found == id).then_some(value));
            }
        }
        Ok(None)
    }

    #[inline]
    pub(crate) fn step(&mut self) -> Result<Option<(u32, &'b [u8])>, Problem> {
        let Some(id) = self.step_id()? else { return Ok(None) };
        Ok(Some((id, self.skip()?)))
    }

    /// The id of the next column. Its value must be read or skipped before the one after.
    #[inline]
    pub(crate) fn step_id(&mut self) -> Result<Option<u32>, Problem> {
        if self.rest.is_empty() {
            return Ok(None);
        }
        let id = u32::try_from(read_varint(&mut self.rest)?).map_err(|_| "a column beyond all")?;
        Ok(Some(id))
    }

    #[inline]
    pub(crate) fn skip(&mut self) -> Result<&'b [u8], Problem> {
        skip(&mut self.rest)
    }

    #[inline]
    pub(crate) fn read(&mut self) -> Result<Value, Problem> {
        read_next(&mut self.rest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn a_header_comes_back_from_its_bytes() {
        let lifetime =
            Lifetime { ttl: Some(Duration::from_secs(1)), keep: Some(Duration::from_secs(2)) };
        let header = Header::new(Timestamp::from_micros(7), lifetime);
        let mut bytes = header.to_bytes().to_vec();
        bytes.push(9);
        assert_eq!(Header::read(&bytes), Ok((header, &[9][..])));
        assert_eq!(header.gone_at.as_micros(), 3_000_007);
        assert!(Header::read(&bytes[..24]).is_err());
        bytes[0] = 0x80;
        assert!(Header::read(&bytes).is_err());
    }

    #[test]
    fn a_family_without_keep_is_never_gone() {
        let lifetime = Lifetime { ttl: Some(Duration::from_secs(1)), keep: None };
        let header = Header::new(Timestamp::from_micros(0), lifetime);
        assert!(header.is_visible(Timestamp::from_micros(i64::MAX - 1)));
    }

    #[test]
    fn a_column_is_found_among_others() {
        let mut bytes = Vec::new();
        for id in [1, 3, 300] {
            push_column(id, &[0x01], &mut bytes);
        }
        let find = |id| Columns::new(&bytes).find(id).unwrap().is_some();
        assert_eq!([1, 2, 3, 4, 300, 301].map(find), [true, false, true, false, true, false]);
    }
}
