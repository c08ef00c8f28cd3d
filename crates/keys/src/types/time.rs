//! Points in time, as a signed count since 1970-01-01T00:00:00Z; the tag says the unit.

use crate::decode::{FromKey, KeyReader};
use crate::encode::ToKey;
use crate::error::Result;
use crate::schema::Type;
use crate::tag;

/// The unit of a timestamp field.
///
/// ```
/// use stonecrop_keys::{Schema, TimeUnit, Type};
/// let schema: Schema = "at timestamp(us)".parse()?;
/// assert_eq!(schema.fields()[0].field_type(), &Type::Timestamp(TimeUnit::Microseconds));
/// # Ok::<(), stonecrop_keys::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum TimeUnit {
    /// `timestamp` or `timestamp(ms)`
    Milliseconds,
    /// `timestamp(us)`
    Microseconds,
    /// `timestamp(ns)`: the years 1677 to 2262
    Nanoseconds,
}

macro_rules! times {
    ($($(#[$doc:meta])* $name:ident($count:ty), $tag:path, $type:expr;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(pub $count);

        impl ToKey for $name {
            fn field_type() -> Type {
                $type
            }

            #[inline]
            fn write_to(&self, out: &mut Vec<u8>) {
                // The integer's own field, under another tag.
                let start = out.len();
                self.0.write_to(out);
                if let Some(tag) = out.get_mut(start) {
                    *tag = $tag;
                }
            }
        }

        impl<'k> FromKey<'k> for $name {
            #[inline]
            fn read_from(reader: &mut KeyReader<'k>) -> Result<Self> {
                let payload = reader.take_fixed($tag)?;
                Ok($name(<$count>::from_be_bytes(payload) ^ <$count>::MIN))
            }
        }
    )*};
}

times! {
    /// Milliseconds since 1970.
    ///
    /// ```
    /// use stonecrop_keys::{KeyBuilder, TimestampMs};
    /// let mut buffer = Vec::new();
    /// KeyBuilder::new(&mut buffer).push_desc(TimestampMs(1_705_312_800_000));
    /// assert_eq!(buffer[0], !0x48);
    /// ```
    TimestampMs(i64), tag::TIMESTAMP_MS, Type::Timestamp(TimeUnit::Milliseconds);
    /// Microseconds since 1970.
    ///
    /// ```
    /// use stonecrop_keys::{KeyReader, TimestampUs};
    /// let mut reader = KeyReader::new(&[0x49, 0x80, 0, 0, 0, 0, 0, 0, 1]);
    /// assert_eq!(reader.read::<TimestampUs>()?, TimestampUs(1));
    /// # Ok::<(), stonecrop_keys::Error>(())
    /// ```
    TimestampUs(i64), tag::TIMESTAMP_US, Type::Timestamp(TimeUnit::Microseconds);
    /// Nanoseconds since 1970, from 1677 to 2262.
    ///
    /// ```
    /// use stonecrop_keys::{KeyReader, TimestampNs};
    /// let mut reader = KeyReader::new(&[0x4A, 0x80, 0, 0, 0, 0, 0, 0, 1]);
    /// assert_eq!(reader.read::<TimestampNs>()?, TimestampNs(1));
    /// # Ok::<(), stonecrop_keys::Error>(())
    /// ```
    TimestampNs(i64), tag::TIMESTAMP_NS, Type::Timestamp(TimeUnit::Nanoseconds);
    /// Days since 1970-01-01.
    ///
    /// ```
    /// use stonecrop_keys::{Date, KeyBuilder};
    /// let mut buffer = Vec::new();
    /// KeyBuilder::new(&mut buffer).push(Date(-1));
    /// assert_eq!(buffer, [0x4C, 0x7F, 0xFF, 0xFF, 0xFF]);
    /// ```
    Date(i32), tag::DATE, Type::Date;
}
