//! Values as bytes: a tag, then the payload. Tags are frozen numbers with gaps.

use std::collections::{BTreeMap, BTreeSet};

use stonecrop_keys::{Date, Decimal, KeyBuilder, KeyReader, Uuid};

use super::Value;
use crate::clock::Timestamp;

pub(super) const NULL: u8 = 0x01;
pub(super) const FALSE: u8 = 0x02;
pub(super) const TRUE: u8 = 0x03;
pub(super) const INT: u8 = 0x10;
pub(super) const FLOAT: u8 = 0x18;
const DECIMAL: u8 = 0x20;
pub(super) const STRING: u8 = 0x28;
pub(super) const BYTES: u8 = 0x30;
pub(super) const TIMESTAMP: u8 = 0x38;
pub(super) const DATE: u8 = 0x39;
pub(super) const UUID: u8 = 0x3A;
pub(super) const LIST: u8 = 0x40;
pub(super) const MAP: u8 = 0x41;
pub(super) const STRING_SET: u8 = 0x48;
pub(super) const NUMBER_SET: u8 = 0x49;
pub(super) const BYTES_SET: u8 = 0x4A;

/// How deep lists and maps may be nested, as in DynamoDB.
pub(super) const MAX_DEPTH: usize = 32;

/// What is wrong with a value or its bytes.
pub(crate) type Problem = &'static str;

/// Appends a value.
pub(crate) fn write(value: &Value, out: &mut Vec<u8>) -> Result<(), Problem> {
    write_at(value, out, 0)
}

fn write_at(value: &Value, out: &mut Vec<u8>, depth: usize) -> Result<(), Problem> {
    if depth > MAX_DEPTH {
        return Err("lists and maps are nested more than 32 deep");
    }
    match value {
        Value::Null => out.push(NULL),
        Value::Bool(value) => out.push(if *value { TRUE } else { FALSE }),
        Value::Int(value) => {
            out.push(INT);
            write_varint(zigzag(*value), out);
        }
        Value::Float(value) => {
            out.push(FLOAT);
            out.extend_from_slice(&value.to_bits().to_be_bytes());
        }
        Value::Decimal(value) => {
            out.push(DECIMAL);
            write_number(value, out)?;
        }
        Value::String(value) => {
            out.push(STRING);
            write_bytes(value.as_bytes(), out);
        }
        Value::Bytes(value) => {
            out.push(BYTES);
            write_bytes(value, out);
        }
        Value::Timestamp(value) => {
            out.push(TIMESTAMP);
            out.extend_from_slice(&value.as_micros().to_be_bytes());
        }
        Value::Date(value) => {
            out.push(DATE);
            out.extend_from_slice(&value.0.to_be_bytes());
        }
        Value::Uuid(value) => {
            out.push(UUID);
            out.extend_from_slice(&value.0);
        }
        Value::List(values) => write_block(LIST, out, |out| {
            values.iter().try_for_each(|value| write_at(value, out, depth + 1))
        })?,
        Value::Map(values) => write_block(MAP, out, |out| {
            values.iter().try_for_each(|(name, value)| {
                write_bytes(name.as_bytes(), out);
                write_at(value, out, depth + 1)
            })
        })?,
        Value::StringSet(values) => write_block(STRING_SET, out, |out| {
            values.iter().for_each(|value| write_bytes(value.as_bytes(), out));
            Ok(())
        })?,
        Value::NumberSet(values) => write_block(NUMBER_SET, out, |out| {
            values.iter().try_for_each(|value| write_number(value, out))
        })?,
        Value::BytesSet(values) => write_block(BYTES_SET, out, |out| {
            values.iter().for_each(|value| write_bytes(value, out));
            Ok(())
        })?,
    }
    Ok(())
}

/// A tag, the length of what `fill` writes, and that.
fn write_block(
    tag: u8,
    out: &mut Vec<u8>,
    fill: impl FnOnce(&mut Vec<u8>) -> Result<(), Problem>,
) -> Result<(), Problem> {
    let mut block = Vec::new();
    fill(&mut block)?;
    out.push(tag);
    write_bytes(&block, out);
    Ok(())
}

fn write_bytes(bytes: &[u8], out: &mut Vec<u8>) {
    write_varint(bytes.len() as u64, out);
    out.extend_from_slice(bytes);
}

/// The length and the bytes of a decimal's key field.
pub(super) fn write_number(value: &Decimal, out: &mut Vec<u8>) -> Result<(), Problem> {
    let mut field = Vec::with_capacity(24);
    let mut builder = KeyBuilder::new(&mut field);
    builder.push(*value);
    builder.finish().map_err(|_| "a decimal that can't be encoded")?;
    write_bytes(&field, out);
    Ok(())
}

/// Seven bits a byte, the lowest first; the high bit says that more follow.
pub(crate) fn write_varint(mut value: u64, out: &mut Vec<u8>) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

#[inline]
pub(crate) fn read_varint(bytes: &mut &[u8]) -> Result<u64, Problem> {
    // Ids, lengths and small numbers: nearly all have one byte.
    if let Some((byte @ ..0x80, rest)) = bytes.split_first() {
        *bytes = rest;
        return Ok(u64::from(*byte));
    }
    read_long_varint(bytes)
}

fn read_long_varint(bytes: &mut &[u8]) -> Result<u64, Problem> {
    let mut value = 0_u64;
    for shift in (0..64).step_by(7) {
        let byte = take_byte(bytes)?;
        let bits = u64::from(byte & 0x7F);
        if shift == 63 && bits > 1 {
            break;
        }
        value |= bits << shift;
        if byte < 0x80 {
            return Ok(value);
        }
    }
    Err("a number that goes on for too long")
}

fn zigzag(value: i64) -> u64 {
    ((value << 1) ^ (value >> 63)) as u64
}

pub(super) fn unzigzag(value: u64) -> i64 {
    (value >> 1) as i64 ^ -((value & 1) as i64)
}

const SHORT: Problem = "it ends in the middle of a value";

#[inline]
pub(super) fn take_byte(bytes: &mut &[u8]) -> Result<u8, Problem> {
    let (first, rest) = bytes.split_first().ok_or(SHORT)?;
    *bytes = rest;
    Ok(*first)
}

#[inline]
pub(crate) fn take<'b>(bytes: &mut &'b [u8], count: usize) -> Result<&'b [u8], Problem> {
    let (taken, rest) = bytes.split_at_checked(count).ok_or(SHORT)?;
    *bytes = rest;
    Ok(taken)
}

#[inline]
pub(super) fn take_array<const N: usize>(bytes: &mut &[u8]) -> Result<[u8; N], Problem> {
    let (taken, rest) = bytes.split_first_chunk().ok_or(SHORT)?;
    *bytes = rest;
    Ok(*taken)
}

#[inline]
pub(super) fn take_block<'b>(bytes: &mut &'b [u8]) -> Result<&'b [u8], Problem> {
    let length = usize::try_from(read_varint(bytes)?).map_err(|_| SHORT)?;
    take(bytes, length)
}

#[inline]
fn take_text<'b>(bytes: &mut &'b [u8]) -> Result<&'b str, Problem> {
    std::str::from_utf8(take_block(bytes)?).map_err(|_| "text that is not UTF-8")
}

fn take_number(bytes: &mut &[u8]) -> Result<Decimal, Problem> {
    const NO_DECIMAL: Problem = "a decimal that is none";
    let mut reader = KeyReader::new(take_block(bytes)?);
    let value = reader.read().map_err(|_| NO_DECIMAL)?;
    reader.finish().map_err(|_| NO_DECIMAL)?;
    Ok(value)
}

/// Takes the bytes of one value off the front, without looking into them.
#[inline]
pub(crate) fn skip<'b>(bytes: &mut &'b [u8]) -> Result<&'b [u8], Problem> {
    let start = *bytes;
    match take_byte(bytes)? {
        NULL | FALSE | TRUE => {}
        INT => {
            read_varint(bytes)?;
        }
        FLOAT | TIMESTAMP => {
            take(bytes, 8)?;
        }
        DATE => {
            take(bytes, 4)?;
        }
        UUID => {
            take(bytes, 16)?;
        }
        DECIMAL | STRING | BYTES | LIST | MAP | STRING_SET | NUMBER_SET | BYTES_SET => {
            take_block(bytes)?;
        }
        _ => return Err("a value of a type that is not known"),
    }
    start.get(..start.len() - bytes.len()).ok_or(SHORT)
}

/// A value from all of its bytes.
pub(crate) fn read(mut bytes: &[u8]) -> Result<Value, Problem> {
    let value = read_next(&mut bytes)?;
    if bytes.is_empty() { Ok(value) } else { Err("more bytes after a value") }
}

/// A value that is a text, without a copy of it.
pub(crate) fn text(bytes: &[u8]) -> Option<&str> {
    let mut rest = bytes.strip_prefix(&[STRING])?;
    let text = take_text(&mut rest).ok()?;
    rest.is_empty().then_some(text)
}

/// Takes a value off the front.
#[inline]
pub(crate) fn read_next(bytes: &mut &[u8]) -> Result<Value, Problem> {
    // Most are texts.
    if let Some((&STRING, mut rest)) = bytes.split_first() {
        let text = take_text(&mut rest)?.to_owned();
        *bytes = rest;
        return Ok(Value::String(text));
    }
    read_at(bytes, 0)
}

fn read_at(bytes: &mut &[u8], depth: usize) -> Result<Value, Problem> {
    if depth > MAX_DEPTH {
        return Err("lists and maps nested more than 32 deep");
    }
    Ok(match take_byte(bytes)? {
        NULL => Value::Null,
        FALSE => Value::Bool(false),
        TRUE => Value::Bool(true),
        INT => Value::Int(unzigzag(read_varint(bytes)?)),
        FLOAT => Value::Float(f64::from_bits(u64::from_be_bytes(take_array(bytes)?))),
        DECIMAL => Value::Decimal(take_number(bytes)?),
        STRING => Value::String(take_text(bytes)?.to_owned()),
        BYTES => Value::Bytes(take_block(bytes)?.to_owned()),
        TIMESTAMP => {
            Value::Timestamp(Timestamp::from_micros(i64::from_be_bytes(take_array(bytes)?)))
        }
        DATE => Value::Date(Date(i32::from_be_bytes(take_array(bytes)?))),
        UUID => Value::Uuid(Uuid(take_array(bytes)?)),
        LIST => Value::List(read_all(bytes, |block| read_at(block, depth + 1))?),
        MAP => Value::Map(read_all::<BTreeMap<_, _>, _>(bytes, |block| {
            Ok((take_text(block)?.to_owned(), read_at(block, depth + 1)?))
        })?),
        STRING_SET => Value::StringSet(read_all::<BTreeSet<_>, _>(bytes, |block| {
            Ok(take_text(block)?.to_owned())
        })?),
        NUMBER_SET => Value::NumberSet(read_all(bytes, take_number)?),
        BYTES_SET => Value::BytesSet(read_all(bytes, |block| Ok(take_block(block)?.to_owned()))?),
        _ => return Err("a value of a type that is not known"),
    })
}

fn read_all<C: FromIterator<T>, T>(
    bytes: &mut &[u8],
    mut read: impl FnMut(&mut &[u8]) -> Result<T, Problem>,
) -> Result<C, Problem> {
    let mut block = take_block(bytes)?;
    std::iter::from_fn(|| (!block.is_empty()).then(|| read(&mut block))).collect()
}

#[cfg(test)]
pub(crate) mod tests {
    use super::super::compare::compare;
    use super::super::encoded::{Needle, begins_with, compare_encoded, walk};
    use super::*;
    use crate::path::Step;
    use proptest::prelude::*;

    fn scalar() -> impl Strategy<Value = Value> + Clone {
        let number = (any::<i64>(), -100..80).prop_map(|(digits, exponent)| {
            format!("{digits}e{exponent}").parse::<Decimal>().unwrap()
        });
        prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::Bool),
            any::<i64>().prop_map(Value::Int),
            prop::num::f64::NORMAL.prop_map(Value::Float),
            number.clone().prop_map(Value::Decimal),
            ".{0,8}".prop_map(Value::String),
            prop::collection::vec(any::<u8>(), 0..9).prop_map(Value::Bytes),
            any::<i64>().prop_map(|micros| Value::Timestamp(Timestamp::from_micros(micros))),
            any::<i32>().prop_map(|days| Value::Date(Date(days))),
            any::<[u8; 16]>().prop_map(|bytes| Value::Uuid(Uuid(bytes))),
            prop::collection::btree_set(".{0,4}", 0..4).prop_map(Value::StringSet),
            prop::collection::btree_set(number, 0..4).prop_map(Value::NumberSet),
            prop::collection::btree_set(prop::collection::vec(any::<u8>(), 0..4), 0..4)
                .prop_map(Value::BytesSet),
        ]
    }

    pub(crate) fn value() -> impl Strategy<Value = Value> + Clone {
        scalar().prop_recursive(3, 20, 4, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..4).prop_map(Value::List),
                prop::collection::btree_map(".{0,4}", inner, 0..4).prop_map(Value::Map),
            ]
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2_000))]

        #[test]
        fn every_value_comes_back_from_its_bytes(value in value()) {
            let mut bytes = Vec::new();
            write(&value, &mut bytes).unwrap();
            prop_assert_eq!(read(&bytes), Ok(value.clone()));
            let mut rest = &bytes[..];
            prop_assert_eq!(skip(&mut rest), Ok(&bytes[..]));
            prop_assert_eq!(compare_encoded(&bytes, &value), Ok(compare(&value, &value)));
            for end in 0..bytes.len() {
                prop_assert!(read(&bytes[..end]).is_err());
            }
        }

        #[test]
        fn changed_bytes_are_a_value_or_an_error(
            value in value(), at in any::<prop::sample::Index>(), byte in any::<u8>(),
        ) {
            let mut bytes = Vec::new();
            write(&value, &mut bytes).unwrap();
            let at = at.index(bytes.len());
            bytes[at] = byte;
            // These may be true or an error as well, as long as they end.
            let _ = compare_encoded(&bytes, &value);
            let _ = begins_with(&bytes, &value);
            let _ = Needle::new(value).is_in(&bytes);
            let steps = [Step::Index(1), Step::Field("a".to_owned()), Step::Index(0)];
            for (from, to) in [(0, 2), (1, 3)] {
                let _ = walk(&bytes, &steps[from..to]);
            }
            if let Ok(value) = read(&bytes) {
                let mut again = Vec::new();
                prop_assert!(write(&value, &mut again).is_ok());
            }
        }
    }

    #[test]
    fn nesting_is_bounded_when_written_and_when_read() {
        let nested = |depth| (0..depth).fold(Value::Null, |value, _| Value::List(vec![value]));
        let mut bytes = Vec::new();
        write(&nested(32), &mut bytes).unwrap();
        assert!(read(&bytes).is_ok());
        assert!(write(&nested(33), &mut Vec::new()).unwrap_err().contains("32 deep"));
        let mut deeper = vec![LIST];
        write_bytes(&bytes, &mut deeper);
        assert!(read(&deeper).unwrap_err().contains("32 deep"));
    }
}
