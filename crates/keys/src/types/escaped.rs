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

/// Nonzero where a byte is zero: only a zero byte borrows into its own clear top bit.
#[inline]
fn zero_bytes(word: [u8; 8]) -> u64 {
    let word = u64::from_ne_bytes(word);
    word.wrapping_sub(0x0101_0101_0101_0101) & !word & 0x8080_8080_8080_8080
}

#[inline(never)]
fn write_zeros(payload: &[u8], out: &mut Vec<u8>) {
    for byte in payload {
        out.push(*byte);
        if *byte == 0 {
            out.push(ESCAPED_ZERO);
        }
    }
}

/// Reads a tag, an escaped payload and its terminator.
#[inline]
pub(crate) fn read_tagged<'k>(tag: u8, reader: &mut KeyReader<'k>) -> Result<Cow<'k, [u8]>> {
    reader.expect_tag(tag)?;
    let rest = reader.rest();
    if !reader.is_complemented()
        && let Some(length) = memchr(0, rest)
        && rest.get(length + 1) == Some(&0x01)
    {
        let payload = reader.take_raw(length)?;
        reader.take_raw(TERMINATOR.len())?;
        return Ok(Cow::Borrowed(payload));
    }
    read_slowly(reader).map(Cow::Owned)
}

#[inline(never)]
fn read_slowly(reader: &mut KeyReader<'_>) -> Result<Vec<u8>> {
    let mask = reader.mask();
    let mut payload = Vec::new();
    loop {
        let Some(length) = memchr(mask, reader.rest()) else {
            return Err(reader.unterminated());
        };
        payload.extend(reader.take_raw(length)?.iter().map(|byte| byte ^ mask));
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
            None => return Err(reader.unterminated()),
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
    #[inline]
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
