//! The values of columns.

mod arithmetic;
mod compare;
pub(crate) mod encode;
pub(crate) mod encoded;
mod json;
mod key;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use serde::{Deserialize, Serialize};
use stonecrop_keys::{Date, Decimal, Uuid};

use crate::clock::Timestamp;

pub(crate) use arithmetic::add;
#[cfg(test)]
pub(crate) use compare::compare;
pub(crate) use compare::total_order;

/// The value of a column.
///
/// ```
/// use stonecrop::Value;
/// assert_eq!(Value::from("Adam"), Value::String("Adam".to_owned()));
/// assert_eq!(Value::from(42), Value::Int(42));
/// assert_eq!(Value::from(None::<&str>), Value::Null);
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Value {
    /// Known to be nothing, unlike a column that is not there.
    Null,
    /// True or false.
    Bool(bool),
    /// A whole number of 64 bits.
    Int(i64),
    /// A floating-point number of 64 bits.
    Float(f64),
    /// A number of up to 38 significant digits.
    Decimal(Decimal),
    /// Text.
    String(String),
    /// Bytes.
    Bytes(Vec<u8>),
    /// A moment.
    Timestamp(Timestamp),
    /// A day.
    Date(Date),
    /// A UUID.
    Uuid(Uuid),
    /// Values in an order, of any types.
    List(Vec<Value>),
    /// Values by name, of any types.
    Map(BTreeMap<String, Value>),
    /// Texts, each once.
    StringSet(BTreeSet<String>),
    /// Numbers, each once.
    NumberSet(BTreeSet<Decimal>),
    /// Strings of bytes, each once.
    BytesSet(BTreeSet<Vec<u8>>),
}

/// The type of a value; what a column can be declared with.
///
/// ```
/// use stonecrop::{ColumnType, Value};
/// assert_eq!(Value::from(1.5).column_type(), ColumnType::Float);
/// assert_eq!(ColumnType::Float.to_string(), "float");
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ColumnType {
    /// Values of every type.
    #[default]
    Any,
    /// Only null.
    Null,
    /// True or false.
    Bool,
    /// A whole number of 64 bits.
    Int,
    /// A floating-point number of 64 bits.
    Float,
    /// A number of up to 38 significant digits.
    Decimal,
    /// Text.
    String,
    /// Bytes.
    Bytes,
    /// A moment.
    Timestamp,
    /// A day.
    Date,
    /// A UUID.
    Uuid,
    /// Values in an order.
    List,
    /// Values by name.
    Map,
    /// Texts, each once.
    StringSet,
    /// Numbers, each once.
    NumberSet,
    /// Strings of bytes, each once.
    BytesSet,
}

impl fmt::Display for ColumnType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            ColumnType::Any => "any",
            ColumnType::Null => "null",
            ColumnType::Bool => "bool",
            ColumnType::Int => "int",
            ColumnType::Float => "float",
            ColumnType::Decimal => "decimal",
            ColumnType::String => "string",
            ColumnType::Bytes => "bytes",
            ColumnType::Timestamp => "timestamp",
            ColumnType::Date => "date",
            ColumnType::Uuid => "uuid",
            ColumnType::List => "list",
            ColumnType::Map => "map",
            ColumnType::StringSet => "string set",
            ColumnType::NumberSet => "number set",
            ColumnType::BytesSet => "bytes set",
        })
    }
}

impl ColumnType {
    /// Whether a column of this type takes a value of type `other`. Null is taken by all.
    pub(crate) fn takes(self, other: ColumnType) -> bool {
        self == ColumnType::Any || other == ColumnType::Null || self == other
    }
}

impl Value {
    /// The type of the value.
    ///
    /// ```
    /// use stonecrop::{ColumnType, Value};
    /// assert_eq!(Value::Null.column_type(), ColumnType::Null);
    /// ```
    pub fn column_type(&self) -> ColumnType {
        match self {
            Value::Null => ColumnType::Null,
            Value::Bool(_) => ColumnType::Bool,
            Value::Int(_) => ColumnType::Int,
            Value::Float(_) => ColumnType::Float,
            Value::Decimal(_) => ColumnType::Decimal,
            Value::String(_) => ColumnType::String,
            Value::Bytes(_) => ColumnType::Bytes,
            Value::Timestamp(_) => ColumnType::Timestamp,
            Value::Date(_) => ColumnType::Date,
            Value::Uuid(_) => ColumnType::Uuid,
            Value::List(_) => ColumnType::List,
            Value::Map(_) => ColumnType::Map,
            Value::StringSet(_) => ColumnType::StringSet,
            Value::NumberSet(_) => ColumnType::NumberSet,
            Value::BytesSet(_) => ColumnType::BytesSet,
        }
    }
}

macro_rules! from {
    ($($type:ty => $variant:ident;)*) => {$(
        impl From<$type> for Value {
            fn from(value: $type) -> Self {
                Value::$variant(value.into())
            }
        }
    )*};
}

from! {
    bool => Bool;
    i64 => Int;
    i32 => Int;
    u32 => Int;
    f64 => Float;
    Decimal => Decimal;
    &str => String;
    String => String;
    &[u8] => Bytes;
    Vec<u8> => Bytes;
    Timestamp => Timestamp;
    Date => Date;
    Uuid => Uuid;
    Vec<Value> => List;
    BTreeMap<String, Value> => Map;
    BTreeSet<String> => StringSet;
    BTreeSet<Decimal> => NumberSet;
    BTreeSet<Vec<u8>> => BytesSet;
}

impl<T: Into<Value>> From<Option<T>> for Value {
    fn from(value: Option<T>) -> Self {
        value.map_or(Value::Null, Into::into)
    }
}
