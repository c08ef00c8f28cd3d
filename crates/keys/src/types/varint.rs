//! Integers of variable length, one to nine bytes after the tag. The first byte is the number
//! itself where it is near zero, and else says how many bytes follow. Only the shortest form of
//! a number is legal.
//!
//! | first byte | unsigned | signed |
//! |---|---|---|
//! | 00 to 07 | the number | negative: 8 to 1 bytes follow |
//! | 08 to F7 | the number | the number, plus 128 |
//! | F8 to FF | 1 to 8 bytes follow | positive: 1 to 8 bytes follow |

use crate::decode::{FromKey, KeyReader};
use crate::encode::ToKey;
use crate::error::{Error, Result};
use crate::schema::Type;
use crate::tag;

/// An integer that takes two bytes where it is small and up to ten where it is not.
///
/// ```
/// use stonecrop_keys::{KeyBuilder, Var};
/// let length = |value: i64| {
///     let mut buffer = Vec::new();
///     KeyBuilder::new(&mut buffer).push(Var(value));
///     buffer.len()
/// };
/// assert_eq!((length(-120), length(119), length(120), length(i64::MIN)), (2, 2, 3, 10));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Var<T>(pub T);

/// The last first byte that is a number itself; those above it say how many bytes follow.
const LAST_SMALL: u8 = 0xF7;
/// The first of the first bytes that are a signed number itself, which is -120.
const FIRST_SMALL_SIGNED: u8 = 0x08;
/// The magnitudes that a signed first byte can't hold: 120 and up, or -121 and down.
const FIRST_LARGE_SIGNED: u64 = 120;

impl ToKey for Var<u64> {
    fn field_type() -> Type {
        Type::Varuint
    }

    #[inline]
    fn write_to(&self, out: &mut Vec<u8>) {
        if self.0 <= u64::from(LAST_SMALL) {
            out.extend_from_slice(&[tag::VARUINT, self.0 as u8]);
        } else {
            write_large(tag::VARUINT, self.0, 0, out);
        }
    }
}

impl<'k> FromKey<'k> for Var<u64> {
    #[inline]
    fn read_from(reader: &mut KeyReader<'k>) -> Result<Self> {
        let [first] = reader.take_fixed(tag::VARUINT)?;
        if first <= LAST_SMALL {
            return Ok(Var(u64::from(first)));
        }
        read_large(reader, first - LAST_SMALL, 0, u64::from(LAST_SMALL) + 1).map(Var)
    }
}

impl ToKey for Var<i64> {
    fn field_type() -> Type {
        Type::Varint
    }

    #[inline]
    fn write_to(&self, out: &mut Vec<u8>) {
        // -1 - value for negative numbers: the bytes of it, complemented, grow with the value.
        let magnitude = (self.0 ^ (self.0 >> 63)) as u64;
        let negative = if self.0 < 0 { 0xFF } else { 0 };
        if (-120..=119).contains(&self.0) {
            out.extend_from_slice(&[tag::VARINT, (self.0 as u8) ^ 0x80]);
        } else {
            write_large(tag::VARINT, magnitude, negative, out);
        }
    }
}

impl<'k> FromKey<'k> for Var<i64> {
    #[inline]
    fn read_from(reader: &mut KeyReader<'k>) -> Result<Self> {
        let start = reader.offset() + 1;
        let [first] = reader.take_fixed(tag::VARINT)?;
        if (FIRST_SMALL_SIGNED..=LAST_SMALL).contains(&first) {
            return Ok(Var(i64::from((first ^ 0x80) as i8)));
        }
        let (length, complement, negative) = if first < FIRST_SMALL_SIGNED {
            (FIRST_SMALL_SIGNED - first, 0xFF, true)
        } else {
            (first - LAST_SMALL, 0, false)
        };
        // For negative numbers the smallest magnitude is that of -121, which is 120 again.
        let magnitude = read_large(reader, length, complement, FIRST_LARGE_SIGNED)?;
        let Ok(magnitude) = i64::try_from(magnitude) else {
            return Err(Error::key(start, "the number does not fit in 64 bits"));
        };
        Ok(Var(if negative { !magnitude } else { magnitude }))
    }
}

/// `complement` is FF for a negative number: it turns the length and the bytes around.
fn write_large(tag: u8, magnitude: u64, complement: u8, out: &mut Vec<u8>) {
    let bytes = magnitude.to_be_bytes();
    let zeros = (magnitude.leading_zeros() / 8) as usize;
    let length = (bytes.len() - zeros) as u8;
    out.extend_from_slice(&[tag, (LAST_SMALL + length) ^ complement]);
    out.extend(bytes.iter().skip(zeros).map(|byte| byte ^ complement));
}

fn read_large(reader: &mut KeyReader<'_>, length: u8, complement: u8, least: u64) -> Result<u64> {
    let start = reader.offset();
    let mask = reader.mask() ^ complement;
    let bytes = reader.take_raw(usize::from(length))?;
    let magnitude = bytes.iter().fold(0, |n, byte| n << 8 | u64::from(byte ^ mask));
    let shortest = magnitude >> (8 * (length - 1)) != 0;
    if magnitude < least || !shortest {
        return Err(Error::key(start, "the number has a shorter form, which is the one stored"));
    }
    Ok(magnitude)
}
