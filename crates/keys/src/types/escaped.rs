//! Text and bytes. A zero byte becomes 00 FF and the end is 00 01, so that a field sorts before
//! every longer one that it begins. Bytes of fixed length carry neither.

use std::borrow::Cow;

use fearless_simd::{Level, Simd};
use memchr::memchr;

use crate::decode::{FromKey, KeyReader};
use crate::encode::ToKey;
use crate::error::{Error, Result};
use crate::schema::Type;
use crate::tag;

const TERMINATOR: [u8; 2] = [0x00, 0x01];
const ESCAPED_ZERO: u8 = 0xFF;

/// Appends a tag, the payload with its zeros escaped, and the terminator.
#[inline]
pub(crate) fn write_tagged(tag: u8, payload: &[u8], out: &mut Vec<u8>) {
    let written = match payload.len() {
        8..=16 => write_short::<8, 19>(tag, payload, out),
        17..=32 => write_short::<16, 35>(tag, payload, out),
        _ => false,
    };
    if !written {
        write_long(tag, payload, out);
    }
}

/// Appends a field of W to 2W bytes without zeros as its first W and its last W, which may
/// overlap; or nothing. N is 2W and three for the tag and the terminator. With every size known
/// there is one capacity check, and no call to memcpy, which would take longer than all the rest.
#[inline]
fn write_short<const W: usize, const N: usize>(tag: u8, payload: &[u8], out: &mut Vec<u8>) -> bool {
    let (Some(first), Some(last)) = (payload.first_chunk::<W>(), payload.last_chunk::<W>()) else {
        return false;
    };
    if has_zero(first) || has_zero(last) {
        return false;
    }
    let start = out.len();
    let end = 1 + payload.len();
    out.extend_from_slice(&[tag; N]);
    if let Some(field) = out.last_chunk_mut::<N>() {
        put(field, 1, first);
        put(field, end - W, last);
        put(field, end, &TERMINATOR);
    }
    out.truncate(start + end + TERMINATOR.len());
    true
}

#[inline]
fn put<const L: usize>(field: &mut [u8], at: usize, bytes: &[u8; L]) {
    if let Some(place) = field.get_mut(at..at + L) {
        place.copy_from_slice(bytes);
    }
}

#[inline(never)]
fn write_long(tag: u8, payload: &[u8], out: &mut Vec<u8>) {
    out.reserve(payload.len() + 3);
    out.push(tag);
    write_open(payload, out);
    out.extend_from_slice(&TERMINATOR);
}

/// Appends the payload with its zeros escaped and no terminator: what all longer payloads that
/// begin with it have in common.
#[inline]
pub(crate) fn write_open(payload: &[u8], out: &mut Vec<u8>) {
    if payload.len() >= WIDE {
        return write_wide(payload, out);
    }
    if has_zero(payload) {
        return write_zeros(payload, out);
    }
    out.extend_from_slice(payload);
}

/// From here on it pays to look for zeros and to copy in one pass, with the widest registers
/// that the machine has.
const WIDE: usize = 128;

#[inline(never)]
fn write_wide(payload: &[u8], out: &mut Vec<u8>) {
    let start = out.len();
    let whole = payload.len() - payload.len() % WIDE;
    let (blocks, tail) = payload.split_at(whole);
    let least = fearless_simd::dispatch!(Level::new(), simd => simd.vectorize(
        #[inline(always)]
        || {
            let mut least = u8::MAX;
            out.extend(blocks.iter().map(
                #[inline(always)]
                |byte| {
                    least = least.min(*byte);
                    *byte
                },
            ));
            least
        }
    ));
    if least == 0 || has_zero(tail) {
        out.truncate(start);
        return write_zeros(payload, out);
    }
    out.extend_from_slice(tail);
}

#[inline]
fn has_zero(bytes: &[u8]) -> bool {
    let Some(last) = bytes.last_chunk::<8>() else {
        return bytes.contains(&0);
    };
    let (words, _) = bytes.as_chunks::<8>();
    // The last eight bytes overlap the last whole word, so that no byte is looked at alone.
    words.iter().chain([last]).fold(0, |zeros, word| zeros | zero_bytes(*word)) != 0
}

/// Where the first zero is. Most fields are so short that a call to memchr would take longer than
/// the search.
#[inline]
fn find_zero(bytes: &[u8]) -> Option<usize> {
    let (words, _) = bytes.as_chunks::<8>();
    for (index, word) in words.iter().take(SHORT / 8).enumerate() {
        let first = first_zero(*word);
        if first < 8 {
            return Some(8 * index + first);
        }
    }
    memchr(0, bytes)
}

/// Where the first zero of a word is, or 8.
#[inline]
fn first_zero(word: [u8; 8]) -> usize {
    zero_bytes(word).trailing_zeros() as usize / 8
}

const SHORT: usize = 32;

/// Nonzero where a byte is zero; the lowest bit set belongs to the first of them.
#[inline]
fn zero_bytes(word: [u8; 8]) -> u64 {
    let word = u64::from_le_bytes(word);
    word.wrapping_sub(0x0101_0101_0101_0101) & !word & 0x8080_8080_8080_8080
}

/// Copies a word at a time up to each zero, because calls to memchr and memcpy for short runs
/// take longer; a long run is copied whole.
#[inline(never)]
fn write_zeros(mut payload: &[u8], out: &mut Vec<u8>) {
    while let Some(word) = payload.first_chunk::<8>() {
        let run = first_zero(*word);
        if run == 8 && payload.len() >= WIDE {
            let run = memchr(0, payload).unwrap_or(payload.len());
            let (plain, rest) = payload.split_at(run);
            out.extend_from_slice(plain);
            payload = rest;
            continue;
        }
        let end = out.len() + run;
        out.extend_from_slice(word);
        if run == 8 {
            payload = payload.get(8..).unwrap_or_default();
        } else {
            out.truncate(end);
            out.extend_from_slice(&[0, ESCAPED_ZERO]);
            payload = payload.get(run + 1..).unwrap_or_default();
        }
    }
    for byte in payload {
        out.push(*byte);
        if *byte == 0 {
            out.push(ESCAPED_ZERO);
        }
    }
}

/// Reads a tag, an escaped payload and its terminator.
#[inline(always)]
pub(crate) fn read_tagged<'k>(tag: u8, reader: &mut KeyReader<'k>) -> Result<Cow<'k, [u8]>> {
    reader.expect_tag(tag)?;
    if !reader.is_complemented()
        && let Some((payload, rest)) = split_plain(reader.rest())
    {
        reader.set_rest(rest);
        return Ok(Cow::Borrowed(payload));
    }
    // The copy lets the compiler keep the reader itself in registers.
    let mut slow = reader.clone();
    let payload = read_slowly(&mut slow)?;
    *reader = slow;
    Ok(Cow::Owned(payload))
}

/// The payload and what follows its terminator, if no escape comes before that.
#[inline]
fn split_plain(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let (payload, rest) = bytes.split_at_checked(find_zero(bytes)?)?;
    Some((payload, rest.strip_prefix(&TERMINATOR)?))
}

#[inline(never)]
fn read_slowly(reader: &mut KeyReader<'_>) -> Result<Vec<u8>> {
    let mask = reader.mask();
    // Not as long as the key: a list can have many short payloads.
    let mut payload = Vec::with_capacity(reader.rest().len().min(WIDE));
    loop {
        read_to_zero(reader, &mut payload)?;
        reader.skip_byte();
        let offset = reader.offset();
        match reader.peek() {
            Some(0x01) => {
                reader.skip_byte();
                return Ok(payload);
            }
            Some(ESCAPED_ZERO) => {
                reader.skip_byte();
                payload.push(0);
            }
            None => return Err(reader.clone().unterminated()),
            Some(other) => {
                let [zero, other] = [mask, other ^ mask];
                return Err(Error::key(
                    offset,
                    format!(
                        "after {zero:02x} comes {:02x} for a zero byte or {:02x} for the end, \
                         and this is {other:02x}",
                        ESCAPED_ZERO ^ mask,
                        0x01 ^ mask
                    ),
                ));
            }
        }
    }
}

/// Appends what comes before the next zero, as [`write_zeros`] does.
#[inline]
fn read_to_zero(reader: &mut KeyReader<'_>, payload: &mut Vec<u8>) -> Result<()> {
    let mask = reader.mask();
    while let Some(word) = reader.rest().first_chunk::<8>() {
        let word = if mask == 0 { *word } else { word.map(|byte| !byte) };
        let run = first_zero(word);
        if run == 8 && reader.rest().len() >= WIDE {
            break;
        }
        let end = payload.len() + run;
        payload.extend_from_slice(&word);
        payload.truncate(end);
        reader.take_raw(run)?;
        if run < 8 {
            return Ok(());
        }
    }
    let Some(run) = memchr(mask, reader.rest()) else {
        return Err(reader.clone().unterminated());
    };
    payload.extend(reader.take_raw(run)?.iter().map(|byte| byte ^ mask));
    Ok(())
}

/// Appends bytes of a fixed length.
pub(crate) fn write_fixed(length: usize, payload: &[u8], out: &mut Vec<u8>) -> Result<()> {
    if payload.len() != length {
        let found = payload.len();
        let bytes = if found == 1 { "byte" } else { "bytes" };
        return Err(Error::value(format!(
            "the field is bytes({length}), and the value has {found} {bytes}"
        )));
    }
    out.push(tag::FIXED_BYTES);
    out.extend_from_slice(payload);
    Ok(())
}

/// Reads bytes of a fixed length.
pub(crate) fn read_fixed<'k>(length: usize, reader: &mut KeyReader<'k>) -> Result<Cow<'k, [u8]>> {
    reader.expect_tag(tag::FIXED_BYTES)?;
    let mask = reader.mask();
    let payload = reader.take_raw(length)?;
    Ok(if mask == 0 {
        Cow::Borrowed(payload)
    } else {
        Cow::Owned(payload.iter().map(|byte| byte ^ mask).collect())
    })
}

#[inline(always)]
fn read_text<'k>(reader: &mut KeyReader<'k>) -> Result<Cow<'k, str>> {
    let start = reader.offset() + 1;
    match read_tagged(tag::STRING, reader)? {
        Cow::Borrowed(bytes) => match std::str::from_utf8(bytes) {
            Ok(text) => Ok(Cow::Borrowed(text)),
            Err(error) => Err(not_text(start, bytes, error)),
        },
        Cow::Owned(bytes) => match String::from_utf8(bytes) {
            Ok(text) => Ok(Cow::Owned(text)),
            Err(error) => Err(not_text(start, error.as_bytes(), error.utf8_error())),
        },
    }
}

#[cold]
fn not_text(start: usize, bytes: &[u8], error: std::str::Utf8Error) -> Error {
    // Each zero before the fault took two bytes of the key.
    let zeros = bytes.iter().take(error.valid_up_to()).filter(|byte| **byte == 0).count();
    Error::key(start + error.valid_up_to() + zeros, "the text is not UTF-8 here")
}

impl ToKey for str {
    fn field_type() -> Type {
        Type::String
    }

    #[inline]
    fn write_to(&self, out: &mut Vec<u8>) {
        write_tagged(tag::STRING, self.as_bytes(), out);
    }
}

impl ToKey for [u8] {
    fn field_type() -> Type {
        Type::Bytes
    }

    #[inline]
    fn write_to(&self, out: &mut Vec<u8>) {
        write_tagged(tag::BYTES, self, out);
    }
}

macro_rules! delegate {
    ($($type:ty, $to:ty;)*) => {$(
        impl ToKey for $type {
            fn field_type() -> Type {
                <$to>::field_type()
            }

            #[inline]
            fn write_to(&self, out: &mut Vec<u8>) {
                <$to>::write_to(self, out);
            }
        }
    )*};
}

delegate! {
    String, str;
    Cow<'_, str>, str;
    Vec<u8>, [u8];
    Cow<'_, [u8]>, [u8];
}

impl<'k: 'a, 'a> FromKey<'k> for Cow<'a, str> {
    #[inline(always)]
    fn read_from(reader: &mut KeyReader<'k>) -> Result<Self> {
        read_text(reader)
    }
}

impl<'k> FromKey<'k> for String {
    fn read_from(reader: &mut KeyReader<'k>) -> Result<Self> {
        read_text(reader).map(Cow::into_owned)
    }
}

impl<'k: 'a, 'a> FromKey<'k> for Cow<'a, [u8]> {
    #[inline]
    fn read_from(reader: &mut KeyReader<'k>) -> Result<Self> {
        read_tagged(tag::BYTES, reader)
    }
}

impl<'k> FromKey<'k> for Vec<u8> {
    fn read_from(reader: &mut KeyReader<'k>) -> Result<Self> {
        read_tagged(tag::BYTES, reader).map(Cow::into_owned)
    }
}

/// Bytes of fixed length.
impl<const N: usize> ToKey for [u8; N] {
    fn field_type() -> Type {
        const { assert!(N >= 1 && N < crate::MAX_KEY_BYTES, "bytes(n) has 1 to 65534 bytes") };
        Type::FixedBytes(N as u16)
    }

    #[inline]
    fn write_to(&self, out: &mut Vec<u8>) {
        out.push(tag::FIXED_BYTES);
        out.extend_from_slice(self);
    }
}

impl<'k, const N: usize> FromKey<'k> for [u8; N] {
    #[inline]
    fn read_from(reader: &mut KeyReader<'k>) -> Result<Self> {
        reader.take_fixed(tag::FIXED_BYTES)
    }
}
