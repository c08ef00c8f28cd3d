//! Bytes to values: [`KeyReader`] for callers who know their types, [`Schema::decode`] for the
//! others. Only the one form that encoding gives is accepted; anything else is an error with the
//! field and the offset.

use std::borrow::Cow;

use crate::encode::ToKey;
use crate::error::{Error, Result};
use crate::key::check_stored_length;
use crate::schema::{Direction, Field, MAX_DEPTH, Nulls, Schema, Type};
use crate::types::escaped;
use crate::types::geo::{Curve, Hilbert, Point2, Point3};
use crate::types::time::{Date, TimeUnit, TimestampMs, TimestampNs, TimestampUs};
use crate::types::uuid::{Uuid, UuidV1};
use crate::value::Value;
use crate::{Decimal, Exact, Var, tag};

#[diagnostic::on_unimplemented(
    message = "`{Self}` can't be read from a key",
    note = "text and bytes are read as `Cow` or owned, because an escaped or descending field \
            can't be borrowed"
)]
/// A Rust value that can be read from a field of a key; [`ToKey`] shows how to add one.
///
/// ```
/// use stonecrop_keys::{FromKey, KeyReader};
/// let mut reader = KeyReader::new(&[0x10, 0x07]);
/// assert_eq!(u8::read_from(&mut reader)?, 7);
/// # Ok::<(), stonecrop_keys::Error>(())
/// ```
pub trait FromKey<'k>: ToKey + Sized {
    /// Reads a value that is not null; the reader undoes the complement of a descending field.
    fn read_from(reader: &mut KeyReader<'k>) -> Result<Self>;

    /// The null of this type, where it has one.
    fn null() -> Option<Self> {
        None
    }
}

impl<'k, T: FromKey<'k>> FromKey<'k> for Option<T> {
    #[inline]
    fn read_from(reader: &mut KeyReader<'k>) -> Result<Self> {
        T::read_from(reader).map(Some)
    }

    fn null() -> Option<Self> {
        Some(None)
    }
}

/// Reads the fields of a key in order, borrowing text and bytes from it where that is possible.
///
/// ```
/// use std::borrow::Cow;
/// use stonecrop_keys::{KeyBuilder, KeyReader};
///
/// let mut buffer = Vec::new();
/// KeyBuilder::new(&mut buffer).push("acme").push_desc(7_u32);
///
/// let mut reader = KeyReader::new(&buffer);
/// let tenant: Cow<str> = reader.read()?;
/// let seq: u32 = reader.read_desc()?;
/// reader.finish()?;
/// assert!(matches!(tenant, Cow::Borrowed("acme")));
/// assert_eq!(seq, 7);
/// # Ok::<(), stonecrop_keys::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct KeyReader<'k> {
    rest: &'k [u8],
    length: usize,
    /// 0xFF inside a descending field: what is read is complemented.
    mask: u8,
    /// How many fields were read at this level of nesting, to name the next one in errors.
    fields_read: usize,
    /// How many tuples and lists the next byte is in.
    depth: usize,
}

impl<'k> KeyReader<'k> {
    /// Starts at the first byte of `key`.
    ///
    /// ```
    /// let mut reader = stonecrop_keys::KeyReader::new(&[0x09]);
    /// assert!(reader.read::<bool>()?);
    /// # Ok::<(), stonecrop_keys::Error>(())
    /// ```
    #[inline]
    pub fn new(key: &'k [u8]) -> Self {
        KeyReader { rest: key, length: key.len(), mask: 0, fields_read: 0, depth: 0 }
    }

    /// Goes on at `offset` of a key, where `mask` is in force.
    pub(crate) fn resume(key: &'k [u8], offset: usize, mask: u8) -> Self {
        let rest = key.get(offset..).unwrap_or_default();
        KeyReader { rest, mask, ..KeyReader::new(key) }
    }

    /// Reads an ascending field. Where the type is an `Option`, nulls sort first.
    ///
    /// ```
    /// let mut reader = stonecrop_keys::KeyReader::new(&[0x02]);
    /// assert_eq!(reader.read::<Option<i64>>()?, None);
    /// # Ok::<(), stonecrop_keys::Error>(())
    /// ```
    #[inline(always)]
    pub fn read<T: FromKey<'k>>(&mut self) -> Result<T> {
        self.read_ordered(Direction::Asc, Nulls::First)
    }

    /// Reads a descending field. Where the type is an `Option`, nulls sort first.
    ///
    /// ```
    /// let mut reader = stonecrop_keys::KeyReader::new(&[!0x10, !0x2A]);
    /// assert_eq!(reader.read_desc::<u8>()?, 42);
    /// # Ok::<(), stonecrop_keys::Error>(())
    /// ```
    #[inline(always)]
    pub fn read_desc<T: FromKey<'k>>(&mut self) -> Result<T> {
        self.read_ordered(Direction::Desc, Nulls::First)
    }

    /// Reads a field with its direction and the place of its nulls.
    ///
    /// ```
    /// use stonecrop_keys::{Direction::Asc, KeyReader, Nulls};
    /// let mut reader = KeyReader::new(&[0xFD]);
    /// assert_eq!(reader.read_ordered::<Option<u8>>(Asc, Nulls::Last)?, None);
    /// # Ok::<(), stonecrop_keys::Error>(())
    /// ```
    #[inline(always)]
    pub fn read_ordered<T: FromKey<'k>>(
        &mut self,
        direction: Direction,
        nulls: Nulls,
    ) -> Result<T> {
        let number = self.fields_read.wrapping_add(1);
        self.read_unnamed(direction, nulls).map_err(|error| error.in_numbered_field(number))
    }

    /// Reads a field that has a name; what `#[derive(Key)]` expands to.
    #[doc(hidden)]
    #[inline(always)]
    pub fn read_named<T: FromKey<'k>>(
        &mut self,
        name: &str,
        direction: Direction,
        nulls: Nulls,
    ) -> Result<T> {
        self.read_unnamed(direction, nulls).map_err(|error| error.in_field(name))
    }

    /// Reads an element of a list, named by its index.
    pub(crate) fn read_element<T: FromKey<'k>>(&mut self, index: usize) -> Result<T> {
        self.read_unnamed(Direction::Asc, Nulls::First)
            .map_err(|error| error.in_numbered_field(index))
    }

    #[inline(always)]
    fn read_unnamed<T: FromKey<'k>>(&mut self, direction: Direction, nulls: Nulls) -> Result<T> {
        let read = self.fields_read.wrapping_add(1);
        let value = if T::NULLABLE
            && nulls != Nulls::NotAllowed
            && self.peek() == Some(nulls.byte())
            && let Some(null) = T::null()
        {
            self.skip_byte();
            Ok(null)
        } else {
            match direction {
                Direction::Asc => T::read_from(self),
                Direction::Desc => self.complemented(T::read_from),
            }
        };
        // A type that reads by way of another one has counted too.
        self.fields_read = read;
        value
    }

    /// Nothing may be left of the key.
    ///
    /// ```
    /// let reader = stonecrop_keys::KeyReader::new(b"left over");
    /// assert_eq!(reader.finish().unwrap_err().to_string(), "byte 0: 9 bytes too many");
    /// ```
    #[inline]
    pub fn finish(self) -> Result<()> {
        match self.fields_read {
            _ if self.rest.is_empty() => Ok(()),
            0 => Err(self.too_many()),
            last => Err(self.trailing(&last.to_string())),
        }
    }

    #[cold]
    pub(crate) fn trailing(&self, last_field: &str) -> Error {
        self.too_many().in_field(last_field)
    }

    #[cold]
    fn too_many(&self) -> Error {
        let bytes = if self.rest.len() == 1 { "byte" } else { "bytes" };
        self.error(format!("{} {bytes} too many", self.rest.len()))
    }

    /// Reads the bytes up to the end of the key: a `raw` field.
    ///
    /// ```
    /// let mut reader = stonecrop_keys::KeyReader::new(b"\x09\x78rest");
    /// assert!(reader.read::<bool>()?);
    /// assert_eq!(reader.read_tail()?, b"rest");
    /// # Ok::<(), stonecrop_keys::Error>(())
    /// ```
    pub fn read_tail(&mut self) -> Result<&'k [u8]> {
        self.expect_tag(tag::RAW)?;
        self.take_raw(self.rest.len())
    }

    /// An error at the next byte, for a [`FromKey`] of one's own that refuses a value.
    ///
    /// ```
    /// use stonecrop_keys::KeyReader;
    /// let error = KeyReader::new(&[0x10, 9]).error("no such status");
    /// assert_eq!(error.to_string(), "byte 0: no such status");
    /// ```
    pub fn error(&self, message: impl Into<Cow<'static, str>>) -> Error {
        Error::key(self.offset(), message)
    }

    /// What is left of the key, as it is stored, for a caller who reads the rest another way.
    ///
    /// ```
    /// let mut reader = stonecrop_keys::KeyReader::new(&[0x09, 0x10, 0x07]);
    /// reader.read::<bool>()?;
    /// assert_eq!(reader.rest(), [0x10, 0x07]);
    /// # Ok::<(), stonecrop_keys::Error>(())
    /// ```
    #[inline]
    pub fn rest(&self) -> &'k [u8] {
        self.rest
    }

    /// The offset of the next byte from the start of the key.
    ///
    /// ```
    /// let mut reader = stonecrop_keys::KeyReader::new(&[0x10, 0x07, 0x09]);
    /// reader.read::<u8>()?;
    /// assert_eq!(reader.offset(), 2);
    /// # Ok::<(), stonecrop_keys::Error>(())
    /// ```
    #[inline]
    pub fn offset(&self) -> usize {
        self.length.saturating_sub(self.rest.len())
    }

    #[inline]
    pub(crate) fn set_rest(&mut self, rest: &'k [u8]) {
        self.rest = rest;
    }

    /// Whether bytes are complemented on their way in, so that they can't be lent.
    #[inline]
    pub(crate) fn is_complemented(&self) -> bool {
        self.mask != 0
    }

    #[inline]
    pub(crate) fn mask(&self) -> u8 {
        self.mask
    }

    /// Runs `read` with the meaning of every byte reversed.
    #[inline]
    fn complemented<T>(&mut self, read: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        self.mask = !self.mask;
        let value = read(self);
        self.mask = !self.mask;
        value
    }

    /// Runs `read` one level deeper, where fields are counted from one again.
    pub(crate) fn nested<T>(&mut self, read: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        if self.depth == MAX_DEPTH {
            return Err(self.error(format!("nested more than {MAX_DEPTH} deep")));
        }
        self.depth += 1;
        let outer = std::mem::take(&mut self.fields_read);
        let value = read(self);
        self.fields_read = outer;
        self.depth -= 1;
        value
    }

    #[inline]
    pub(crate) fn peek(&self) -> Option<u8> {
        self.rest.first().map(|byte| byte ^ self.mask)
    }

    #[inline]
    pub(crate) fn skip_byte(&mut self) {
        self.rest = self.rest.get(1..).unwrap_or_default();
    }

    /// The first of `n` raw bytes is at `offset()`; the caller applies the mask.
    #[inline]
    pub(crate) fn take_raw(&mut self, n: usize) -> Result<&'k [u8]> {
        let Some((taken, rest)) = self.rest.split_at_checked(n) else {
            return Err(self.clone().truncated(n));
        };
        self.rest = rest;
        Ok(taken)
    }

    #[inline]
    pub(crate) fn take_array<const N: usize>(&mut self) -> Result<[u8; N]> {
        let Some((taken, rest)) = self.rest.split_first_chunk::<N>() else {
            return Err(self.clone().truncated(N));
        };
        self.rest = rest;
        // By cases, because LLVM takes the bytes apart for an exclusive or with the mask.
        Ok(if self.mask == 0 { *taken } else { taken.map(|byte| !byte) })
    }

    #[inline]
    pub(crate) fn expect_tag(&mut self, tag: u8) -> Result<()> {
        if self.peek() != Some(tag) {
            return Err(self.clone().wrong_tag(&[tag]));
        }
        self.skip_byte();
        Ok(())
    }

    /// Whether a list has no more elements: at its end, or where the key breaks off.
    pub(crate) fn at_end(&self) -> bool {
        matches!(self.peek(), None | Some(tag::END))
    }

    /// The byte that ends a tuple or list.
    pub(crate) fn expect_end(&mut self) -> Result<()> {
        match self.peek() {
            Some(tag::END) => {
                self.skip_byte();
                Ok(())
            }
            Some(found) => Err(Error::key(
                self.offset(),
                format!(
                    "the tuple ends here with {:02x}, and this is {:02x}",
                    tag::END ^ self.mask,
                    found ^ self.mask
                ),
            )),
            None => Err(self.clone().unterminated()),
        }
    }

    /// A field of fixed size: its tag, then N bytes.
    #[inline]
    pub(crate) fn take_fixed<const N: usize>(&mut self, tag: u8) -> Result<[u8; N]> {
        self.expect_tag(tag)?;
        self.take_array()
    }

    // The cold errors take a copy of the reader: one that no address is taken of stays in
    // registers.
    #[cold]
    #[inline(never)]
    fn truncated(self, needed: usize) -> Error {
        let short = needed.saturating_sub(self.rest.len());
        let bytes = if short == 1 { "byte" } else { "bytes" };
        Error::key(self.length, format!("the key ends here, {short} {bytes} short"))
    }

    #[cold]
    #[inline(never)]
    pub(crate) fn unterminated(self) -> Error {
        Error::key(self.length, "the key ends here, before the terminator of the field")
    }

    /// The next byte is none of the tags that this field can begin with.
    #[cold]
    #[inline(never)]
    pub(crate) fn wrong_tag(self, expected: &[u8]) -> Error {
        let Some(found) = self.rest.first() else {
            return Error::key(self.length, "the key ends here, before the field");
        };
        let expected: Vec<_> =
            expected.iter().map(|tag| format!("{:02x}", tag ^ self.mask)).collect();
        let expected = expected.join(" or ");
        let message = match *found {
            tag::NULL_FIRST | tag::NULL_LAST => {
                format!(
                    "null ({found:02x}), which the field can't be here; it begins with {expected}"
                )
            }
            _ => format!("the field begins with {expected}, and this is {found:02x}"),
        };
        Error::key(self.offset(), message)
    }
}

impl Schema {
    /// Decodes a key into one value for each field. Text and bytes are borrowed from the key
    /// where no escape occurred and the field is ascending.
    ///
    /// ```
    /// use stonecrop_keys::{Schema, Value};
    /// let schema: Schema = "tenant string, seq u16 desc nulls last".parse()?;
    /// let key = schema.encode(&["acme".into(), Value::Null])?;
    /// assert_eq!(schema.decode(&key)?, ["acme".into(), Value::Null]);
    /// # Ok::<(), stonecrop_keys::Error>(())
    /// ```
    pub fn decode<'k>(&self, key: &'k [u8]) -> Result<Vec<Value<'k>>> {
        let last = || self.fields().last().map_or("", Field::name);
        check_stored_length(key).map_err(|error| error.in_field(last()))?;
        let mut reader = KeyReader::new(key);
        let values = self.read(&mut reader)?;
        reader.finish().map_err(|error| error.in_field(last()))?;
        Ok(values)
    }

    /// Reads the fields of this schema from a key that goes on after them.
    ///
    /// ```
    /// use stonecrop_keys::{KeyReader, Schema};
    /// let (first, second): (Schema, Schema) = ("a u8".parse()?, "b bool".parse()?);
    /// let mut reader = KeyReader::new(&[0x10, 7, 0x09]);
    /// assert_eq!(first.read(&mut reader)?, [7.into()]);
    /// assert_eq!(second.read(&mut reader)?, [true.into()]);
    /// reader.finish()?;
    /// # Ok::<(), stonecrop_keys::Error>(())
    /// ```
    pub fn read<'k>(&self, reader: &mut KeyReader<'k>) -> Result<Vec<Value<'k>>> {
        read_fields(self.fields(), reader)
    }
}

fn read_fields<'k>(fields: &[Field], reader: &mut KeyReader<'k>) -> Result<Vec<Value<'k>>> {
    let mut values = Vec::with_capacity(fields.len());
    for field in fields {
        push_field(field, reader, &mut values).map_err(|error| error.in_field(field.name()))?;
    }
    Ok(values)
}

/// Reads one field with its direction and nulls. The caller names the field in an error.
pub(crate) fn read_field<'k>(field: &Field, reader: &mut KeyReader<'k>) -> Result<Value<'k>> {
    let mut values = Vec::new();
    push_field(field, reader, &mut values)?;
    Ok(values.pop().unwrap_or(Value::Null))
}

/// The value goes straight to its place: a `Result` of it would be moved twice, which takes longer
/// than to read it.
fn push_field<'k>(
    field: &Field,
    reader: &mut KeyReader<'k>,
    values: &mut Vec<Value<'k>>,
) -> Result<()> {
    if field.nulls() != Nulls::NotAllowed && reader.peek() == Some(field.nulls().byte()) {
        reader.skip_byte();
        values.push(Value::Null);
        return Ok(());
    }
    match field.direction() {
        Direction::Asc => push_ascending(field.field_type(), reader, values),
        Direction::Desc => {
            reader.complemented(|reader| push_ascending(field.field_type(), reader, values))
        }
    }
}

fn push_ascending<'k>(
    ty: &Type,
    reader: &mut KeyReader<'k>,
    values: &mut Vec<Value<'k>>,
) -> Result<()> {
    values.push(match ty {
        Type::Bool => Value::Bool(bool::read_from(reader)?),
        Type::U8 => u8::read_from(reader)?.into(),
        Type::U16 => u16::read_from(reader)?.into(),
        Type::U32 => u32::read_from(reader)?.into(),
        Type::U64 => u64::read_from(reader)?.into(),
        Type::U128 => u128::read_from(reader)?.into(),
        Type::I8 => Value::Int(i8::read_from(reader)?.into()),
        Type::I16 => Value::Int(i16::read_from(reader)?.into()),
        Type::I32 => Value::Int(i32::read_from(reader)?.into()),
        Type::I64 => Value::Int(i64::read_from(reader)?.into()),
        Type::I128 => Value::Int(i128::read_from(reader)?),
        Type::Varuint => Var::<u64>::read_from(reader)?.0.into(),
        Type::Varint => Value::Int(Var::<i64>::read_from(reader)?.0.into()),
        Type::F32 => Value::F32(f32::read_from(reader)?),
        Type::F64 => Value::F64(f64::read_from(reader)?),
        Type::F32Exact => Value::F32(Exact::<f32>::read_from(reader)?.0),
        Type::F64Exact => Value::F64(Exact::<f64>::read_from(reader)?.0),
        Type::Decimal => Value::Decimal(Decimal::read_from(reader)?),
        Type::String => Value::String(Cow::read_from(reader)?),
        Type::Bytes => Value::Bytes(Cow::read_from(reader)?),
        Type::FixedBytes(length) => {
            Value::Bytes(escaped::read_fixed(usize::from(*length), reader)?)
        }
        Type::Collated(_) => Value::SortKey(escaped::read_tagged(tag::COLLATED, reader)?),
        Type::Uuid => Value::Uuid(Uuid::read_from(reader)?.0),
        Type::UuidV1 => Value::Uuid(UuidV1::read_from(reader)?.bytes()),
        Type::Timestamp(TimeUnit::Milliseconds) => TimestampMs::read_from(reader)?.into(),
        Type::Timestamp(TimeUnit::Microseconds) => TimestampUs::read_from(reader)?.into(),
        Type::Timestamp(TimeUnit::Nanoseconds) => TimestampNs::read_from(reader)?.into(),
        Type::Date => Value::Date(Date::read_from(reader)?.0),
        Type::Geo2(Curve::Morton) => Value::Point2(Point2::read_from(reader)?),
        Type::Geo2(Curve::Hilbert) => Value::Point2(Hilbert::read_from(reader)?.0),
        Type::Geo3(Curve::Morton) => Value::Point3(Point3::read_from(reader)?),
        Type::Geo3(Curve::Hilbert) => Value::Point3(Hilbert::read_from(reader)?.0),
        Type::Tuple(schema) => {
            reader.expect_tag(tag::TUPLE)?;
            let values = read_fields(schema.fields(), reader)?;
            reader.expect_end()?;
            Value::Tuple(values)
        }
        Type::List(element) => {
            reader.expect_tag(tag::LIST)?;
            Value::Tuple(read_elements(element, reader)?)
        }
        Type::Raw => Value::Bytes(Cow::Borrowed(reader.read_tail()?)),
    });
    Ok(())
}

fn read_elements<'k>(element: &Field, reader: &mut KeyReader<'k>) -> Result<Vec<Value<'k>>> {
    let mut values = Vec::new();
    while !reader.at_end() {
        let index = values.len();
        push_field(element, reader, &mut values).map_err(|error| error.in_numbered_field(index))?;
    }
    reader.expect_end()?;
    Ok(values)
}
