//! The values of a key whose types are known only at run time.

use std::borrow::Cow;
use std::fmt;

use crate::types::decimal::Decimal;
use crate::types::geo::{Point2, Point3};
use crate::types::time::{Date, TimeUnit, TimestampMs, TimestampNs, TimestampUs};
use crate::types::uuid::{Uuid, UuidV1};

/// One value of a key. Text and bytes can be borrowed from the key they were decoded from.
///
/// ```
/// use stonecrop_keys::Value;
/// let values: [Value; 4] = ["acme".into(), 7_u32.into(), Value::Date(19_737), Value::Null];
/// assert_eq!(values[1], Value::Int(7));
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Value<'a> {
    /// No value.
    Null,
    /// For `bool`.
    Bool(bool),
    /// For all integers.
    Int(i128),
    /// For integers of `u128` that are too large for `Int`.
    Uint(u128),
    /// For `f32` and `f32_exact`.
    F32(f32),
    /// For `f64` and `f64_exact`.
    F64(f64),
    /// For `decimal`.
    Decimal(Decimal),
    /// For `string` and `collated`.
    String(Cow<'a, str>),
    /// For `bytes`, `bytes(n)` and `raw`.
    Bytes(Cow<'a, [u8]>),
    /// What a `collated` field gives: the sort key of the text. Encoding takes it back.
    SortKey(Cow<'a, [u8]>),
    /// For `uuid` and `uuid_v1`.
    Uuid([u8; 16]),
    /// For `timestamp`: the count since 1970, and its unit, which must be the field's.
    Timestamp(i64, TimeUnit),
    /// For `date`: days since 1970-01-01.
    Date(i32),
    /// For `geo2`.
    Point2(Point2),
    /// For `geo3`.
    Point3(Point3),
    /// For `tuple` and `list`.
    Tuple(Vec<Value<'a>>),
}

impl Value<'_> {
    /// Whether the value is null.
    ///
    /// ```
    /// # use stonecrop_keys::Value;
    /// assert!(Value::from(None::<u8>).is_null());
    /// ```
    pub fn is_null(&self) -> bool {
        matches!(self, Value::Null)
    }

    /// The same value, borrowing nothing.
    ///
    /// ```
    /// use stonecrop_keys::{Schema, Value};
    /// fn first_field(key: Vec<u8>, schema: &Schema) -> Option<Value<'static>> {
    ///     Some(schema.decode(&key).ok()?.swap_remove(0).into_owned())
    /// }
    /// let schema: Schema = "name string".parse()?;
    /// let key = schema.encode(&["acme".into()])?;
    /// assert_eq!(first_field(key, &schema), Some("acme".into()));
    /// # Ok::<(), stonecrop_keys::Error>(())
    /// ```
    pub fn into_owned(self) -> Value<'static> {
        match self {
            Value::Null => Value::Null,
            Value::Bool(value) => Value::Bool(value),
            Value::Int(value) => Value::Int(value),
            Value::Uint(value) => Value::Uint(value),
            Value::F32(value) => Value::F32(value),
            Value::F64(value) => Value::F64(value),
            Value::Decimal(value) => Value::Decimal(value),
            Value::String(value) => Value::String(value.into_owned().into()),
            Value::Bytes(value) => Value::Bytes(value.into_owned().into()),
            Value::SortKey(value) => Value::SortKey(value.into_owned().into()),
            Value::Uuid(value) => Value::Uuid(value),
            Value::Timestamp(value, unit) => Value::Timestamp(value, unit),
            Value::Date(value) => Value::Date(value),
            Value::Point2(value) => Value::Point2(value),
            Value::Point3(value) => Value::Point3(value),
            Value::Tuple(values) => {
                Value::Tuple(values.into_iter().map(Value::into_owned).collect())
            }
        }
    }

    /// What kind of value this is, for messages.
    pub(crate) fn kind(&self) -> &'static str {
        match self {
            Value::Null => "null",
            Value::Bool(_) => "a bool",
            Value::Int(_) | Value::Uint(_) => "an integer",
            Value::F32(_) => "an f32",
            Value::F64(_) => "an f64",
            Value::Decimal(_) => "a decimal",
            Value::String(_) => "a string",
            Value::Bytes(_) => "bytes",
            Value::SortKey(_) => "a sort key",
            Value::Uuid(_) => "a UUID",
            Value::Timestamp(_, TimeUnit::Milliseconds) => "a timestamp in ms",
            Value::Timestamp(_, TimeUnit::Microseconds) => "a timestamp in us",
            Value::Timestamp(_, TimeUnit::Nanoseconds) => "a timestamp in ns",
            Value::Date(_) => "a date",
            Value::Point2(_) => "a geo2 point",
            Value::Point3(_) => "a geo3 point",
            Value::Tuple(_) => "a tuple or list",
        }
    }
}

/// For people: numbers and text as they are, bytes in hex.
impl fmt::Display for Value<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::Null => f.write_str("null"),
            Value::Bool(value) => value.fmt(f),
            Value::Int(value) => value.fmt(f),
            Value::Uint(value) => value.fmt(f),
            Value::F32(value) => write!(f, "{value:?}"),
            Value::F64(value) => write!(f, "{value:?}"),
            Value::Decimal(value) => value.fmt(f),
            Value::String(value) => write!(f, "{value:?}"),
            Value::Bytes(value) | Value::SortKey(value) => write_hex(f, value),
            Value::Uuid(value) => write_hex(f, value),
            Value::Timestamp(value, _) => value.fmt(f),
            Value::Date(value) => value.fmt(f),
            Value::Point2(value) => value.fmt(f),
            Value::Point3(value) => value.fmt(f),
            Value::Tuple(values) => {
                f.write_str("(")?;
                for (index, value) in values.iter().enumerate() {
                    f.write_str(if index > 0 { ", " } else { "" })?;
                    value.fmt(f)?;
                }
                f.write_str(")")
            }
        }
    }
}

fn write_hex(f: &mut fmt::Formatter<'_>, bytes: &[u8]) -> fmt::Result {
    f.write_str("0x")?;
    bytes.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
}

macro_rules! from {
    ($($type:ty => $variant:ident;)*) => {$(
        impl<'a> From<$type> for Value<'a> {
            fn from(value: $type) -> Self {
                Value::$variant(value.into())
            }
        }
    )*};
}

from! {
    bool => Bool;
    u8 => Int;
    u16 => Int;
    u32 => Int;
    u64 => Int;
    i8 => Int;
    i16 => Int;
    i32 => Int;
    i64 => Int;
    i128 => Int;
    f32 => F32;
    f64 => F64;
    Decimal => Decimal;
    &'a str => String;
    String => String;
    &'a [u8] => Bytes;
    Vec<u8> => Bytes;
    Cow<'a, str> => String;
    Cow<'a, [u8]> => Bytes;
    Vec<Value<'a>> => Tuple;
    Point2 => Point2;
    Point3 => Point3;
}

impl From<u128> for Value<'_> {
    fn from(value: u128) -> Self {
        i128::try_from(value).map_or(Value::Uint(value), Value::Int)
    }
}

macro_rules! from_newtypes {
    ($($type:ty, $value:ident => $into:expr;)*) => {$(
        impl From<$type> for Value<'_> {
            fn from($value: $type) -> Self {
                $into
            }
        }
    )*};
}

from_newtypes! {
    TimestampMs, time => Value::Timestamp(time.0, TimeUnit::Milliseconds);
    TimestampUs, time => Value::Timestamp(time.0, TimeUnit::Microseconds);
    TimestampNs, time => Value::Timestamp(time.0, TimeUnit::Nanoseconds);
    Date, date => Value::Date(date.0);
    Uuid, uuid => Value::Uuid(uuid.0);
    UuidV1, uuid => Value::Uuid(uuid.bytes());
}

impl<'a, T: Into<Value<'a>>> From<Option<T>> for Value<'a> {
    fn from(value: Option<T>) -> Self {
        value.map_or(Value::Null, Into::into)
    }
}
