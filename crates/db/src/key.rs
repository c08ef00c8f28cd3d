//! The key of a row, from Rust values.

use stonecrop_keys::{Date, Decimal, TimestampMs, TimestampNs, TimestampUs, Uuid, UuidV1, Value};

/// The key of a row: the fields of the partition key, then those of the sort key. One value, a
/// tuple or a list of values becomes one.
///
/// ```
/// use stonecrop::{RowKey, keys::Value};
/// let key: RowKey = ("acme", 7).into();
/// assert_eq!(key.values(), ["acme".into(), Value::Int(7)]);
/// assert_eq!(RowKey::from("acme").values().len(), 1);
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct RowKey<'a>(Vec<Value<'a>>);

impl<'a> RowKey<'a> {
    /// The values of the fields.
    ///
    /// ```
    /// use stonecrop::RowKey;
    /// assert_eq!(RowKey::from((1, 2, 3)).values().len(), 3);
    /// ```
    pub fn values(&self) -> &[Value<'a>] {
        &self.0
    }

    /// The same key, borrowing nothing.
    ///
    /// ```
    /// use stonecrop::RowKey;
    /// let name = String::from("acme");
    /// let key: RowKey<'static> = RowKey::from(name.as_str()).into_owned();
    /// ```
    pub fn into_owned(self) -> RowKey<'static> {
        RowKey(self.0.into_iter().map(Value::into_owned).collect())
    }
}

impl<'a> From<Vec<Value<'a>>> for RowKey<'a> {
    fn from(values: Vec<Value<'a>>) -> Self {
        RowKey(values)
    }
}

impl<'a> From<&[Value<'a>]> for RowKey<'a> {
    fn from(values: &[Value<'a>]) -> Self {
        RowKey(values.to_vec())
    }
}

impl<'a, const N: usize> From<[Value<'a>; N]> for RowKey<'a> {
    fn from(values: [Value<'a>; N]) -> Self {
        RowKey(values.into())
    }
}

impl<'a> From<&RowKey<'a>> for RowKey<'a> {
    fn from(key: &RowKey<'a>) -> Self {
        key.clone()
    }
}

macro_rules! from_one {
    ($($type:ty)*) => {$(
        impl<'a> From<$type> for RowKey<'a> {
            fn from(value: $type) -> Self {
                RowKey(vec![value.into()])
            }
        }
    )*};
}

from_one! {
    Value<'a> bool u8 u16 u32 u64 u128 i8 i16 i32 i64 i128 f32 f64
    Decimal &'a str String &'a [u8] Vec<u8> Date Uuid UuidV1 TimestampMs TimestampUs TimestampNs
}

macro_rules! from_tuple {
    ($($name:ident)*) => {
        impl<'a, $($name: Into<Value<'a>>),*> From<($($name,)*)> for RowKey<'a> {
            #[allow(non_snake_case)]
            fn from(($($name,)*): ($($name,)*)) -> Self {
                RowKey(vec![$($name.into()),*])
            }
        }
    };
}

from_tuple!(A);
from_tuple!(A B);
from_tuple!(A B C);
from_tuple!(A B C D);
from_tuple!(A B C D E);
from_tuple!(A B C D E F);
from_tuple!(A B C D E F G);
from_tuple!(A B C D E F G H);
