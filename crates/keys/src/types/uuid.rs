//! UUIDs: sixteen bytes as they are, which orders version 7 by time; or, for version 1, with the
//! timestamp's high bits first.

use crate::decode::{FromKey, KeyReader};
use crate::encode::ToKey;
use crate::error::{Error, Result};
use crate::schema::Type;
use crate::tag;

/// A UUID of any version, in the order of its bytes.
///
/// ```
/// use stonecrop_keys::{KeyBuilder, Uuid};
/// let mut buffer = Vec::new();
/// KeyBuilder::new(&mut buffer).push(Uuid([7; 16]));
/// assert_eq!((buffer[0], buffer.len()), (0x40, 17));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Uuid(pub [u8; 16]);

impl ToKey for Uuid {
    fn field_type() -> Type {
        Type::Uuid
    }

    #[inline]
    fn write_to(&self, out: &mut Vec<u8>) {
        out.push(tag::UUID);
        out.extend_from_slice(&self.0);
    }
}

impl<'k> FromKey<'k> for Uuid {
    #[inline]
    fn read_from(reader: &mut KeyReader<'k>) -> Result<Self> {
        reader.take_fixed(tag::UUID).map(Uuid)
    }
}

/// A version 1 UUID, in the order of its timestamp.
///
/// ```
/// use stonecrop_keys::{KeyBuilder, UuidV1};
/// let encode = |time: [u8; 8]| {
///     let mut bytes = [0; 16];
///     bytes[..8].copy_from_slice(&time);
///     let mut buffer = Vec::new();
///     KeyBuilder::new(&mut buffer).push(UuidV1::new(bytes).unwrap());
///     buffer
/// };
/// // The low bits of the time come first in the UUID, and last in the key.
/// let (earlier, later) = ([0xFF, 0, 0, 0, 0, 1, 0x10, 0], [0, 0, 0, 0, 0, 2, 0x10, 0]);
/// assert!(encode(earlier) < encode(later));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct UuidV1([u8; 16]);

impl UuidV1 {
    /// Takes the sixteen bytes of a UUID, which must be of version 1.
    ///
    /// ```
    /// let error = stonecrop_keys::UuidV1::new([0x44; 16]).unwrap_err();
    /// assert_eq!(error.to_string(), "the UUID has version 4, and uuid_v1 takes version 1 alone");
    /// ```
    pub fn new(bytes: [u8; 16]) -> Result<Self> {
        match version(bytes) {
            1 => Ok(UuidV1(bytes)),
            version => Err(Error::value(format!(
                "the UUID has version {version}, and uuid_v1 takes version 1 alone"
            ))),
        }
    }

    /// The sixteen bytes of the UUID.
    ///
    /// ```
    /// let bytes = [0x11; 16];
    /// assert_eq!(stonecrop_keys::UuidV1::new(bytes)?.bytes(), bytes);
    /// # Ok::<(), stonecrop_keys::Error>(())
    /// ```
    pub fn bytes(self) -> [u8; 16] {
        self.0
    }
}

fn version([_, _, _, _, _, _, high, ..]: [u8; 16]) -> u8 {
    high >> 4
}

impl ToKey for UuidV1 {
    fn field_type() -> Type {
        Type::UuidV1
    }

    #[inline]
    fn write_to(&self, out: &mut Vec<u8>) {
        let [l0, l1, l2, l3, m0, m1, h0, h1, rest @ ..] = self.0;
        out.push(tag::UUID_V1);
        out.extend_from_slice(&[h0, h1, m0, m1, l0, l1, l2, l3]);
        out.extend_from_slice(&rest);
    }
}

impl<'k> FromKey<'k> for UuidV1 {
    #[inline]
    fn read_from(reader: &mut KeyReader<'k>) -> Result<Self> {
        let start = reader.offset();
        let payload: [u8; 16] = reader.take_fixed(tag::UUID_V1)?;
        let [h0, h1, m0, m1, l0, l1, l2, l3, a, b, c, d, e, f, g, h] = payload;
        let bytes = [l0, l1, l2, l3, m0, m1, h0, h1, a, b, c, d, e, f, g, h];
        if version(bytes) != 1 {
            return Err(Error::key(
                start + 1,
                format!("the UUID has version {}, and only version 1 is stored", version(bytes)),
            ));
        }
        Ok(UuidV1(bytes))
    }
}
