//! The bytes of a change.
//!
//! | bytes | what |
//! |---|---|
//! | 8 | from when on it is not kept any more |
//! | 8 | when it was committed |
//! | 8 | the number of the change before |
//! | varint, so many | the place of the row |
//! | varint, so many | the row before: its entries, each family (2), name and entry |
//! | varint, so many | the row afterwards |

use bytes::Bytes;

use crate::clock::Timestamp;
use crate::read::Entries;
use crate::value::encode::{Problem, read_varint, write_varint};

/// Three numbers of eight bytes.
const HEAD: usize = 24;

/// A change as it is stored.
pub(crate) struct StoredChange {
    pub(crate) gone_at: Timestamp,
    pub(crate) at: Timestamp,
    /// The number of the one before. If that is above what a reader has seen, it missed something.
    pub(crate) before: u64,
    pub(crate) place: Bytes,
    pub(crate) old: Bytes,
    pub(crate) new: Bytes,
}

/// The place and the entries of a row before and after a write.
pub(crate) fn body(place: &[u8], old: &Entries, new: &Entries) -> Vec<u8> {
    let mut body = Vec::new();
    for block in [place, &image(old), &image(new)] {
        push_block(block, &mut body);
    }
    body
}

/// The value of a record.
pub(crate) fn value(gone_at: Timestamp, at: Timestamp, before: u64, body: &[u8]) -> Vec<u8> {
    let times = [gone_at, at].map(|time| time.as_micros().to_be_bytes());
    [times.as_flattened(), &before.to_be_bytes(), body].concat()
}

/// From when on a change is not kept any more.
pub(crate) fn gone_at(value: &[u8]) -> Option<Timestamp> {
    value.first_chunk().map(|at| Timestamp::from_micros(i64::from_be_bytes(*at)))
}

/// The parts of a record's value.
pub(crate) fn parse(value: &Bytes) -> Result<StoredChange, Problem> {
    let (head, mut rest) = value.split_first_chunk::<HEAD>().ok_or("a change that is too short")?;
    let (numbers, _) = head.as_chunks::<8>();
    let [gone_at, at, before] = numbers else { return Err("a change that is too short") };
    let time = |bytes: &[u8; 8]| Timestamp::from_micros(i64::from_be_bytes(*bytes));
    let (gone_at, at, before) = (time(gone_at), time(at), u64::from_be_bytes(*before));
    let mut block = || take_block(&mut rest).map(|block| value.slice_ref(block));
    let (place, old, new) = (block()?, block()?, block()?);
    if !rest.is_empty() {
        return Err("a change that goes on after its end");
    }
    Ok(StoredChange { gone_at, at, before, place, old, new })
}

/// The entries of a row, one after the other.
fn image(entries: &Entries) -> Vec<u8> {
    let mut image = Vec::new();
    for (family, name, entry) in entries.stored() {
        image.extend_from_slice(&family.to_be_bytes());
        push_block(name, &mut image);
        push_block(entry, &mut image);
    }
    image
}

/// The entries of an image: family, name, entry.
pub(crate) fn entries(image: &Bytes) -> Result<Vec<(u16, Bytes, Bytes)>, Problem> {
    let mut entries = Vec::new();
    let mut rest = &image[..];
    while !rest.is_empty() {
        let (family, after) = rest.split_first_chunk().ok_or("an entry without a family")?;
        rest = after;
        let mut block = || take_block(&mut rest).map(|block| image.slice_ref(block));
        entries.push((u16::from_be_bytes(*family), block()?, block()?));
    }
    Ok(entries)
}

fn push_block(block: &[u8], out: &mut Vec<u8>) {
    write_varint(block.len() as u64, out);
    out.extend_from_slice(block);
}

fn take_block<'b>(rest: &mut &'b [u8]) -> Result<&'b [u8], Problem> {
    let length = usize::try_from(read_varint(rest)?).map_err(|_| "a length beyond all")?;
    let (block, after) = rest.split_at_checked(length).ok_or("a change that ends too early")?;
    *rest = after;
    Ok(block)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_layout_of_a_change_is_frozen() {
        let (gone_at, at) = (Timestamp::from_micros(5), Timestamp::from_micros(3));
        let bytes = value(gone_at, at, 7, &body(b"row", &Entries::default(), &Entries::default()));
        let times = b"\0\0\0\0\0\0\0\x05\0\0\0\0\0\0\0\x03\0\0\0\0\0\0\0\x07";
        assert_eq!(bytes, [&times[..], b"\x03row\x00\x00"].concat());
        let image = b"\x00\x02\x00\x01e\x00\x00\x01n\x02ee".as_slice();
        let [first, second] = &entries(&image.into()).unwrap()[..] else { panic!("two entries") };
        assert_eq!((first.0, &first.1[..], &first.2[..]), (2, &b""[..], &b"e"[..]));
        assert_eq!((second.0, &second.1[..], &second.2[..]), (0, &b"n"[..], &b"ee"[..]));
    }

    #[test]
    fn a_change_that_was_cut_short_or_made_longer_is_refused() {
        let whole =
            value(Timestamp::NEVER, Timestamp::MIN, 0, b"\x03row\x05\0\x02\0\x01e\x00").to_vec();
        assert!(parse(&whole.clone().into()).is_ok());
        for length in 0..whole.len() {
            assert!(parse(&Bytes::copy_from_slice(&whole[..length])).is_err(), "{length} bytes");
        }
        assert!(parse(&[&whole[..], b"\0"].concat().into()).is_err());
        assert!(entries(&Bytes::from_static(b"\0")).is_err());
    }
}
