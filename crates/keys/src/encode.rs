//! Values to bytes: [`KeyBuilder`] for callers who know their types, [`Schema::encode`] for the
//! others. Both end in the same [`ToKey`] implementations; for tuples, lists and bytes(n), which
//! each has of its own, a test compares them.

use crate::error::{Error, ErrorKind, Result};
use crate::schema::{Direction, Field, Nulls, Schema, Type};
use crate::types::geo::{Curve, Hilbert};
use crate::types::time::TimeUnit;
use crate::types::{escaped, uuid};
use crate::value::Value;
use crate::{Exact, Var, tag};

/// The longest key that can be stored, in bytes.
///
/// ```
/// use stonecrop_keys::{KeyBuilder, MAX_KEY_BYTES};
/// let mut buffer = Vec::new();
/// let mut key = KeyBuilder::new(&mut buffer);
/// key.push("x".repeat(MAX_KEY_BYTES));
/// assert_eq!(
///     key.finish().unwrap_err().to_string(),
///     "the key has 65538 bytes, and the longest that can be stored has 65535",
/// );
/// ```
pub const MAX_KEY_BYTES: usize = 65_535;

/// A Rust value that can be a field of a key.
///
/// Types of your own can join by delegating to one that is there:
///
/// ```
/// use stonecrop_keys::{FromKey, KeyBuilder, KeyReader, Result, ToKey, Type};
///
/// struct OrderId(u64);
/// impl ToKey for OrderId {
///     fn field_type() -> Type { u64::field_type() }
///     fn write_to(&self, out: &mut Vec<u8>) { self.0.write_to(out) }
/// }
/// impl<'k> FromKey<'k> for OrderId {
///     fn read_from(reader: &mut KeyReader<'k>) -> Result<Self> {
///         u64::read_from(reader).map(OrderId)
///     }
/// }
///
/// let mut buffer = Vec::new();
/// KeyBuilder::new(&mut buffer).push(OrderId(7));
/// assert_eq!(KeyReader::new(&buffer).read::<OrderId>()?.0, 7);
/// # Ok::<(), stonecrop_keys::Error>(())
/// ```
#[diagnostic::on_unimplemented(message = "`{Self}` is not a key type")]
pub trait ToKey {
    /// Whether the type has a null: true for `Option` alone, and of that one level, because a key
    /// has one null:
    ///
    /// ```compile_fail
    /// stonecrop_keys::KeyBuilder::new(&mut Vec::new()).push(Some(Some(1_u8)));
    /// ```
    const NULLABLE: bool = false;

    /// The type of the field that this value is encoded as.
    fn field_type() -> Type;

    /// Whether this value is null. Null is written by the builder, which knows where nulls sort.
    fn is_null(&self) -> bool {
        false
    }

    /// Appends the ascending form of a value that is not null.
    fn write_to(&self, out: &mut Vec<u8>);
}

impl<T: ToKey + ?Sized> ToKey for &T {
    const NULLABLE: bool = T::NULLABLE;

    fn field_type() -> Type {
        T::field_type()
    }

    fn is_null(&self) -> bool {
        T::is_null(self)
    }

    #[inline]
    fn write_to(&self, out: &mut Vec<u8>) {
        T::write_to(self, out);
    }
}

impl<T: ToKey> ToKey for Option<T> {
    const NULLABLE: bool = {
        assert!(!T::NULLABLE, "a key has one null, so an Option in an Option can't be a field");
        true
    };

    fn field_type() -> Type {
        T::field_type()
    }

    fn is_null(&self) -> bool {
        self.is_none()
    }

    #[inline]
    fn write_to(&self, out: &mut Vec<u8>) {
        const { assert!(Self::NULLABLE) };
        // The builder writes null itself.
        if let Some(value) = self {
            value.write_to(out);
        }
    }
}

/// Appends the fields of a key to a buffer that the caller owns and reuses.
///
/// ```
/// use stonecrop_keys::{Direction, KeyBuilder, Nulls};
///
/// let mut buffer = Vec::with_capacity(64);
/// for seq in 0..3_u32 {
///     buffer.clear();
///     let mut key = KeyBuilder::new(&mut buffer);
///     key.push("acme").push_desc(seq).push_ordered(None::<i64>, Direction::Asc, Nulls::Last);
///     assert_eq!(key.finish()?.len(), 13);
/// }
/// # Ok::<(), stonecrop_keys::Error>(())
/// ```
#[derive(Debug)]
pub struct KeyBuilder<'b> {
    buffer: &'b mut Vec<u8>,
    start: usize,
    /// A null was given for a field that is not null.
    refused_null: bool,
}

impl<'b> KeyBuilder<'b> {
    /// Starts a key after whatever the buffer holds already.
    ///
    /// ```
    /// let mut buffer = vec![0x01, 0x20];
    /// stonecrop_keys::KeyBuilder::new(&mut buffer).push(true);
    /// assert_eq!(buffer, [0x01, 0x20, 0x09]);
    /// ```
    #[inline]
    pub fn new(buffer: &'b mut Vec<u8>) -> Self {
        let start = buffer.len();
        KeyBuilder { buffer, start, refused_null: false }
    }

    /// Appends an ascending field. Where the value is an `Option`, nulls sort first. Slices are
    /// `bytes` and arrays are `bytes(n)`: `&b"ab"[..]` is the one, `b"ab"` the other.
    ///
    /// ```
    /// let mut buffer = Vec::new();
    /// stonecrop_keys::KeyBuilder::new(&mut buffer).push(7_u16).push(None::<u16>);
    /// assert_eq!(buffer, [0x11, 0x00, 0x07, 0x02]);
    /// ```
    #[inline]
    pub fn push(&mut self, value: impl ToKey) -> &mut Self {
        self.push_ordered(value, Direction::Asc, Nulls::First)
    }

    /// Appends a descending field. Where the value is an `Option`, nulls sort first.
    ///
    /// ```
    /// let mut buffer = Vec::new();
    /// stonecrop_keys::KeyBuilder::new(&mut buffer).push_desc(7_u16);
    /// assert_eq!(buffer, [!0x11, !0x00, !0x07]);
    /// ```
    #[inline]
    pub fn push_desc(&mut self, value: impl ToKey) -> &mut Self {
        self.push_ordered(value, Direction::Desc, Nulls::First)
    }

    /// Appends a field with its direction and the place of its nulls.
    ///
    /// ```
    /// use stonecrop_keys::{Direction::Desc, KeyBuilder, Nulls};
    /// let mut buffer = Vec::new();
    /// KeyBuilder::new(&mut buffer).push_ordered(None::<bool>, Desc, Nulls::Last);
    /// assert_eq!(buffer, [0xFD]);
    /// ```
    #[inline]
    pub fn push_ordered(
        &mut self,
        value: impl ToKey,
        direction: Direction,
        nulls: Nulls,
    ) -> &mut Self {
        if value.is_null() {
            self.refused_null |= nulls == Nulls::NotAllowed;
            self.buffer.push(nulls.byte());
            return self;
        }
        let start = self.buffer.len();
        value.write_to(self.buffer);
        if direction == Direction::Desc {
            complement(self.buffer, start);
        }
        self
    }

    /// Appends bytes up to the end of the key: a `raw` field, after which nothing may come.
    ///
    /// ```
    /// let mut buffer = Vec::new();
    /// stonecrop_keys::KeyBuilder::new(&mut buffer).push(true).push_tail(b"rest");
    /// assert_eq!(buffer, b"\x09\x78rest");
    /// ```
    pub fn push_tail(&mut self, bytes: &[u8]) {
        self.buffer.push(tag::RAW);
        self.buffer.extend_from_slice(bytes);
    }

    /// The key, once it has at least one byte and at most [`MAX_KEY_BYTES`], and no null where
    /// [`Nulls::NotAllowed`] was said.
    ///
    /// ```
    /// let mut buffer = Vec::new();
    /// let mut key = stonecrop_keys::KeyBuilder::new(&mut buffer);
    /// key.push(false);
    /// assert_eq!(key.finish()?, [0x08]);
    /// # Ok::<(), stonecrop_keys::Error>(())
    /// ```
    #[inline]
    pub fn finish(self) -> Result<&'b [u8]> {
        if self.refused_null {
            return Err(null_error());
        }
        let key = self.buffer.get(self.start..).unwrap_or_default();
        check_length(key.len())?;
        Ok(key)
    }
}

#[inline]
fn check_length(length: usize) -> Result<()> {
    if (1..=MAX_KEY_BYTES).contains(&length) { Ok(()) } else { Err(length_error(length)) }
}

#[cold]
fn length_error(length: usize) -> Error {
    if length == 0 {
        return Error::value("the key has no fields, and an empty key can't be stored");
    }
    Error::new(
        ErrorKind::TooLong,
        format!(
            "the key has {length} bytes, and the longest that can be stored has {MAX_KEY_BYTES}"
        ),
    )
}

#[cold]
pub(crate) fn null_error() -> Error {
    Error::value("null, and the field is not null; give a value, or let nulls sort first or last")
}

/// Turns the ascending field that begins at `start` into the descending one.
#[inline]
fn complement(buffer: &mut [u8], start: usize) {
    for byte in buffer.iter_mut().skip(start) {
        *byte = !*byte;
    }
}

impl Schema {
    /// Encodes one value for each field.
    ///
    /// ```
    /// use stonecrop_keys::{Schema, Value};
    /// let schema: Schema = "tenant string, seq u16 desc, score f64 nulls last".parse()?;
    /// let key = schema.encode(&["a".into(), 1.into(), Value::Null])?;
    /// assert_eq!(key, [0x38, b'a', 0x00, 0x01, 0xEE, 0xFF, 0xFE, 0xFD]);
    /// # Ok::<(), stonecrop_keys::Error>(())
    /// ```
    pub fn encode(&self, values: &[Value<'_>]) -> Result<Vec<u8>> {
        let mut key = Vec::new();
        self.encode_into(values, &mut key)?;
        Ok(key)
    }

    /// Encodes the first fields alone: what all keys with these values begin with.
    ///
    /// ```
    /// use stonecrop_keys::{KeyRange, Schema};
    /// let schema: Schema = "tenant string, seq u16".parse()?;
    /// let acme = schema.encode_prefix(&["acme".into()])?;
    /// assert!(schema.encode(&["acme".into(), 7.into()])?.starts_with(&acme));
    /// # Ok::<(), stonecrop_keys::Error>(())
    /// ```
    pub fn encode_prefix(&self, values: &[Value<'_>]) -> Result<Vec<u8>> {
        let Some(fields) = self.fields().get(..values.len()) else {
            return Err(wrong_count(values.len(), self.fields().len()));
        };
        let mut prefix = Vec::new();
        write_fields(fields, values, &mut prefix)?;
        Ok(prefix)
    }

    /// Appends the key of `values` to `out`; on an error `out` is as it was.
    ///
    /// ```
    /// use stonecrop_keys::Schema;
    /// let schema: Schema = "seq u8".parse()?;
    /// let mut out = Vec::new();
    /// for seq in 0..3 {
    ///     schema.encode_into(&[seq.into()], &mut out)?;
    /// }
    /// assert_eq!(out, [0x10, 0, 0x10, 1, 0x10, 2]);
    /// # Ok::<(), stonecrop_keys::Error>(())
    /// ```
    pub fn encode_into(&self, values: &[Value<'_>], out: &mut Vec<u8>) -> Result<()> {
        let start = out.len();
        let encoded = write_fields(self.fields(), values, out)
            .and_then(|()| check_length(out.len().saturating_sub(start)));
        if encoded.is_err() {
            out.truncate(start);
        }
        encoded
    }
}

fn write_fields(fields: &[Field], values: &[Value<'_>], out: &mut Vec<u8>) -> Result<()> {
    if fields.len() != values.len() {
        return Err(wrong_count(values.len(), fields.len()));
    }
    for (field, value) in fields.iter().zip(values) {
        write_field(field, value, out).map_err(|error| error.in_field(field.name()))?;
    }
    Ok(())
}

#[cold]
pub(crate) fn wrong_count(values: usize, fields: usize) -> Error {
    let count = |n, what| if n == 1 { format!("1 {what}") } else { format!("{n} {what}s") };
    Error::value(format!("{} for {}", count(values, "value"), count(fields, "field")))
}

/// Appends one field with its direction and nulls. The caller names the field in an error.
pub(crate) fn write_field(field: &Field, value: &Value<'_>, out: &mut Vec<u8>) -> Result<()> {
    if value.is_null() {
        if field.nulls() == Nulls::NotAllowed {
            return Err(null_error());
        }
        out.push(field.nulls().byte());
        return Ok(());
    }
    let start = out.len();
    write_ascending(field.field_type(), value, out)?;
    if field.direction() == Direction::Desc {
        complement(out, start);
    }
    Ok(())
}

fn write_ascending(ty: &Type, value: &Value<'_>, out: &mut Vec<u8>) -> Result<()> {
    match (ty, value) {
        (Type::Bool, Value::Bool(value)) => value.write_to(out),
        (Type::U8, _) => integer::<u8>(ty, value)?.write_to(out),
        (Type::U16, _) => integer::<u16>(ty, value)?.write_to(out),
        (Type::U32, _) => integer::<u32>(ty, value)?.write_to(out),
        (Type::U64, _) => integer::<u64>(ty, value)?.write_to(out),
        (Type::U128, _) => integer::<u128>(ty, value)?.write_to(out),
        (Type::I8, _) => integer::<i8>(ty, value)?.write_to(out),
        (Type::I16, _) => integer::<i16>(ty, value)?.write_to(out),
        (Type::I32, _) => integer::<i32>(ty, value)?.write_to(out),
        (Type::I64, _) => integer::<i64>(ty, value)?.write_to(out),
        (Type::I128, _) => integer::<i128>(ty, value)?.write_to(out),
        (Type::Varuint, _) => Var(integer::<u64>(ty, value)?).write_to(out),
        (Type::Varint, _) => Var(integer::<i64>(ty, value)?).write_to(out),
        (Type::F32, Value::F32(value)) => value.write_to(out),
        (Type::F64, Value::F64(value)) => value.write_to(out),
        (Type::F32Exact, Value::F32(value)) => Exact(*value).write_to(out),
        (Type::F64Exact, Value::F64(value)) => Exact(*value).write_to(out),
        (Type::Decimal, Value::Decimal(value)) => value.write_to(out),
        (Type::String, Value::String(value)) => value.as_ref().write_to(out),
        (Type::Bytes, Value::Bytes(value)) => value.as_ref().write_to(out),
        (Type::FixedBytes(length), Value::Bytes(value)) => {
            escaped::write_fixed(usize::from(*length), value, out)?;
        }
        (Type::Collated(collation), Value::String(text)) => collation.write(text, out)?,
        (Type::Collated(_), Value::SortKey(key)) => {
            escaped::write_tagged(tag::COLLATED, key, out);
        }
        (Type::Uuid, Value::Uuid(value)) => uuid::Uuid(*value).write_to(out),
        (Type::UuidV1, Value::Uuid(value)) => uuid::UuidV1::new(*value)?.write_to(out),
        (Type::Timestamp(unit), Value::Timestamp(value, given)) if unit == given => {
            unit.write(*value, out);
        }
        (Type::Date, Value::Date(value)) => crate::Date(*value).write_to(out),
        (Type::Geo2(Curve::Morton), Value::Point2(point)) => point.write_to(out),
        (Type::Geo2(Curve::Hilbert), Value::Point2(point)) => Hilbert(*point).write_to(out),
        (Type::Geo3(Curve::Morton), Value::Point3(point)) => point.write_to(out),
        (Type::Geo3(Curve::Hilbert), Value::Point3(point)) => Hilbert(*point).write_to(out),
        (Type::Tuple(schema), Value::Tuple(values)) => {
            out.push(tag::TUPLE);
            write_fields(schema.fields(), values, out)?;
            out.push(tag::END);
        }
        (Type::List(element), Value::Tuple(values)) => {
            out.push(tag::LIST);
            for (index, value) in values.iter().enumerate() {
                write_field(element, value, out)
                    .map_err(|error| error.in_field(&index.to_string()))?;
            }
            out.push(tag::END);
        }
        (Type::Raw, Value::Bytes(value)) => {
            out.push(tag::RAW);
            out.extend_from_slice(value);
        }
        _ => return Err(wrong_kind(ty, value)),
    }
    Ok(())
}

#[cold]
fn wrong_kind(ty: &Type, value: &Value<'_>) -> Error {
    Error::value(format!("the field is {ty}, and the value is {}", value.kind()))
}

fn integer<T: TryFrom<i128> + TryFrom<u128>>(ty: &Type, value: &Value<'_>) -> Result<T> {
    let converted = match value {
        Value::Int(value) => T::try_from(*value).ok(),
        Value::Uint(value) => T::try_from(*value).ok(),
        _ => return Err(wrong_kind(ty, value)),
    };
    converted.ok_or_else(|| Error::value(format!("{value} is out of the range of {ty}")))
}

impl TimeUnit {
    fn write(self, value: i64, out: &mut Vec<u8>) {
        match self {
            TimeUnit::Milliseconds => crate::TimestampMs(value).write_to(out),
            TimeUnit::Microseconds => crate::TimestampUs(value).write_to(out),
            TimeUnit::Nanoseconds => crate::TimestampNs(value).write_to(out),
        }
    }
}
