//! Whole keys as Rust types: structs with `#[derive(Key)]`, and tuples.

use crate::MAX_KEY_BYTES;
use crate::decode::{FromKey, KeyReader};
use crate::encode::{KeyBuilder, ToKey};
use crate::error::{Error, ErrorKind, Result};
use crate::schema::{Direction, Field, Nulls, Schema};

/// A Rust type that is a whole key. Derive it for structs; tuples of up to eight have it.
///
/// ```
/// use stonecrop_keys::{DecodeKey, Key, TimestampMs};
///
/// #[derive(Key, Debug, PartialEq)]
/// struct Reading<'a> {
///     tenant: std::borrow::Cow<'a, str>,
///     #[key(desc)]
///     at: TimestampMs,
///     #[key(nulls = "last")]
///     score: Option<f64>,
/// }
///
/// let reading = Reading { tenant: "acme".into(), at: TimestampMs(5), score: None };
/// let key = reading.encode()?;
/// assert_eq!(Reading::decode(&key)?, reading);
/// assert_eq!(
///     Reading::schema().to_string(),
///     "tenant string, at timestamp desc, score f64 nulls last",
/// );
/// # Ok::<(), stonecrop_keys::Error>(())
/// ```
pub trait Key {
    /// The same key for callers who learn its types at run time, and for `explain`.
    fn schema() -> Schema;

    /// Appends the fields, in order.
    fn write_fields(&self, key: &mut KeyBuilder<'_>);

    /// The key in a buffer of its own.
    ///
    /// ```
    /// use stonecrop_keys::Key;
    /// assert_eq!((1_u8, "a").encode()?, [0x10, 0x01, 0x38, b'a', 0x00, 0x01]);
    /// # Ok::<(), stonecrop_keys::Error>(())
    /// ```
    fn encode(&self) -> Result<Vec<u8>> {
        let mut key = Vec::new();
        self.encode_into(&mut key)?;
        Ok(key)
    }

    /// Appends the key to a buffer that is reused; on an error the buffer is as it was.
    ///
    /// ```
    /// use stonecrop_keys::Key;
    /// let mut buffer = vec![0xAA];
    /// (1_u8,).encode_into(&mut buffer)?;
    /// assert_eq!(buffer, [0xAA, 0x10, 0x01]);
    /// # Ok::<(), stonecrop_keys::Error>(())
    /// ```
    #[inline]
    fn encode_into(&self, buffer: &mut Vec<u8>) -> Result<()> {
        let start = buffer.len();
        let mut key = KeyBuilder::new(buffer);
        self.write_fields(&mut key);
        match key.finish() {
            Ok(_) => Ok(()),
            Err(error) => {
                buffer.truncate(start);
                Err(error)
            }
        }
    }
}

/// A [`Key`] that can be read back, borrowing from the bytes what it can. `#[derive(Key)]` gives it
/// as well.
///
/// ```
/// use stonecrop_keys::DecodeKey;
/// assert_eq!(<(u8, bool)>::decode(&[0x10, 0x01, 0x08])?, (1, false));
/// # Ok::<(), stonecrop_keys::Error>(())
/// ```
pub trait DecodeKey<'k>: Key + Sized {
    /// Reads the fields, in order.
    fn read_fields(reader: &mut KeyReader<'k>) -> Result<Self>;

    /// Reads a whole key; nothing may follow it.
    ///
    /// ```
    /// use stonecrop_keys::DecodeKey;
    /// assert!(<(u8,)>::decode(&[0x10, 0x01, 0x00]).is_err());
    /// ```
    #[inline]
    fn decode(key: &'k [u8]) -> Result<Self> {
        check_stored_length(key)?;
        let mut reader = KeyReader::new(key);
        let decoded = Self::read_fields(&mut reader)?;
        if !reader.rest().is_empty() {
            let schema = Self::schema();
            return Err(reader.trailing(schema.fields().last().map_or("", Field::name)));
        }
        Ok(decoded)
    }
}

/// No key is longer than this, so anything longer is not one.
#[inline]
pub(crate) fn check_stored_length(key: &[u8]) -> Result<()> {
    if key.len() <= MAX_KEY_BYTES {
        return Ok(());
    }
    Err(Error::new(
        ErrorKind::TooLong,
        format!("{} bytes, and the longest key has {MAX_KEY_BYTES}", key.len()),
    )
    .at(MAX_KEY_BYTES))
}

/// The field of a schema for a Rust type; what `#[derive(Key)]` expands to.
#[doc(hidden)]
pub fn field_of<T: ToKey>(name: &str, direction: Direction, nulls: Nulls) -> Field {
    let nulls = if T::NULLABLE { nulls } else { Nulls::NotAllowed };
    Field::new(name, T::field_type()).ordered(direction, nulls)
}

/// The schema of fields that are known to be right, except for a nesting beyond the limit.
#[doc(hidden)]
#[expect(clippy::panic, reason = "a struct nested too deep is a mistake in the program's types")]
pub fn schema_of(fields: Vec<Field>) -> Schema {
    match Schema::new(fields) {
        Ok(schema) => schema,
        Err(error) => panic!("this type can't be a key: {error}"),
    }
}

macro_rules! tuples {
    ($($($type:ident $name:literal)*;)*) => {$(
        impl<$($type: ToKey),*> Key for ($($type,)*) {
            fn schema() -> Schema {
                schema_of(vec![$(field_of::<$type>($name, Direction::Asc, Nulls::First)),*])
            }

            #[inline]
            #[expect(non_snake_case, reason = "the values are named after their types")]
            fn write_fields(&self, key: &mut KeyBuilder<'_>) {
                let ($($type,)*) = self;
                $(key.push($type);)*
            }
        }

        impl<'k, $($type: FromKey<'k>),*> DecodeKey<'k> for ($($type,)*) {
            #[inline]
            fn read_fields(reader: &mut KeyReader<'k>) -> Result<Self> {
                Ok(($(reader.read::<$type>()?,)*))
            }
        }
    )*};
}

tuples! {
    A "1";
    A "1" B "2";
    A "1" B "2" C "3";
    A "1" B "2" C "3" D "4";
    A "1" B "2" C "3" D "4" E "5";
    A "1" B "2" C "3" D "4" E "5" F "6";
    A "1" B "2" C "3" D "4" E "5" F "6" G "7";
    A "1" B "2" C "3" D "4" E "5" F "6" G "7" H "8";
}
