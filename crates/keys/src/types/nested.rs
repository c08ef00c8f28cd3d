//! Tuples and lists within a key: a tag, the fields, and an end byte that sorts below them all.

use crate::decode::{FromKey, KeyReader};
use crate::encode::{KeyBuilder, ToKey};
use crate::error::Result;
use crate::key::{DecodeKey, Key};
use crate::schema::{Field, Type};
use crate::tag;

/// A whole key as one field of another, up to 16 deep. A type that holds itself has no end to its
/// schema, so it can't be one.
///
/// ```
/// use stonecrop_keys::{DecodeKey, Key, Nested};
/// let key = (Nested((1_u8, true)), "x".to_owned()).encode()?;
/// assert_eq!(key, [0x60, 0x10, 1, 0x09, 0x01, 0x38, b'x', 0, 1]);
/// assert_eq!(<(Nested<(u8, bool)>, String)>::decode(&key)?.0, Nested((1, true)));
/// # Ok::<(), stonecrop_keys::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Nested<K>(pub K);

impl<K: Key> ToKey for Nested<K> {
    fn field_type() -> Type {
        Type::Tuple(K::schema())
    }

    #[inline]
    fn write_to(&self, out: &mut Vec<u8>) {
        out.push(tag::TUPLE);
        self.0.write_fields(&mut KeyBuilder::new(out));
        out.push(tag::END);
    }
}

impl<'k, K: DecodeKey<'k>> FromKey<'k> for Nested<K> {
    fn read_from(reader: &mut KeyReader<'k>) -> Result<Self> {
        reader.expect_tag(tag::TUPLE)?;
        let key = reader.nested(K::read_fields)?;
        reader.expect_end()?;
        Ok(Nested(key))
    }
}

/// Any number of values of one type; a list sorts before every longer one that it begins.
///
/// ```
/// use stonecrop_keys::{Key, List};
/// let path = |parts: &[u8]| (List(parts.to_vec()),).encode().unwrap();
/// assert!(path(&[1]) < path(&[1, 0]) && path(&[1, 9]) < path(&[2]));
/// ```
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct List<T>(pub Vec<T>);

impl<T: ToKey> ToKey for List<T> {
    fn field_type() -> Type {
        let element = Field::new(crate::schema::ELEMENT, T::field_type());
        Type::List(Box::new(if T::NULLABLE { element.nulls_first() } else { element }))
    }

    #[inline]
    fn write_to(&self, out: &mut Vec<u8>) {
        out.push(tag::LIST);
        for value in &self.0 {
            KeyBuilder::new(out).push(value);
        }
        out.push(tag::END);
    }
}

impl<'k, T: FromKey<'k>> FromKey<'k> for List<T> {
    fn read_from(reader: &mut KeyReader<'k>) -> Result<Self> {
        reader.expect_tag(tag::LIST)?;
        let mut values = Vec::new();
        reader.nested(|reader| {
            while !reader.at_end() {
                let value = reader.read_element(values.len())?;
                values.push(value);
            }
            Ok(())
        })?;
        reader.expect_end()?;
        Ok(List(values))
    }
}
