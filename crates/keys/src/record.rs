//! The two bytes before the fields of a stored key, and the stripe of a partition key.

use crate::error::{Error, ErrorKind, Result};

/// The version of the stored keys that this crate reads and writes.
const VERSION: u8 = 0x01;

/// The first two bytes of a stored key: the version, then the record's type in the high four bits
/// and four bits that are the record type's own.
///
/// ```
/// use stonecrop_keys::RecordPrefix;
/// let prefix = RecordPrefix::new(0x2, 0x5)?;
/// assert_eq!(prefix.to_bytes(), [0x01, 0x25]);
/// assert_eq!(RecordPrefix::read(&[0x01, 0x25, 0x09])?, (prefix, &[0x09][..]));
/// # Ok::<(), stonecrop_keys::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct RecordPrefix {
    tag: u8,
}

impl RecordPrefix {
    /// A record type from 1 to 15 and four low bits from 0 to 15.
    ///
    /// ```
    /// let error = stonecrop_keys::RecordPrefix::new(0x0, 0x1).unwrap_err();
    /// assert_eq!(error.to_string(), "record type 0 is not from 1 to 15; 0 is reserved");
    /// ```
    pub fn new(record_type: u8, low_bits: u8) -> Result<Self> {
        if !(1..=15).contains(&record_type) {
            return Err(Error::value(format!(
                "record type {record_type} is not from 1 to 15; 0 is reserved"
            )));
        }
        if low_bits > 15 {
            return Err(Error::value(format!("the low bits {low_bits} are not from 0 to 15")));
        }
        Ok(RecordPrefix { tag: record_type << 4 | low_bits })
    }

    /// The record's type, from 1 to 15.
    ///
    /// ```
    /// # use stonecrop_keys::RecordPrefix;
    /// assert_eq!(RecordPrefix::new(3, 0)?.record_type(), 3);
    /// # Ok::<(), stonecrop_keys::Error>(())
    /// ```
    pub fn record_type(self) -> u8 {
        self.tag >> 4
    }

    /// The four bits that mean what the record's type says.
    ///
    /// ```
    /// # use stonecrop_keys::RecordPrefix;
    /// assert_eq!(RecordPrefix::new(3, 9)?.low_bits(), 9);
    /// # Ok::<(), stonecrop_keys::Error>(())
    /// ```
    pub fn low_bits(self) -> u8 {
        self.tag & 0x0F
    }

    /// The two bytes.
    ///
    /// ```
    /// # use stonecrop_keys::RecordPrefix;
    /// assert_eq!(RecordPrefix::new(15, 15)?.to_bytes(), [0x01, 0xFF]);
    /// # Ok::<(), stonecrop_keys::Error>(())
    /// ```
    pub fn to_bytes(self) -> [u8; 2] {
        [VERSION, self.tag]
    }

    /// Reads the prefix of a stored key and gives the rest of it.
    ///
    /// ```
    /// use stonecrop_keys::{ErrorKind, RecordPrefix};
    /// let error = RecordPrefix::read(&[0x02, 0x10]).unwrap_err();
    /// assert_eq!(error.kind(), ErrorKind::Version);
    /// ```
    pub fn read(key: &[u8]) -> Result<(Self, &[u8])> {
        let Some((&[version, tag], rest)) = key.split_first_chunk() else {
            return Err(Error::key(key.len(), "a stored key begins with a version and a record"));
        };
        match version {
            VERSION => {}
            0 => return Err(Error::key(0, "version 0 is not a version of stored keys")),
            newer => {
                let message = format!(
                    "a stored key of version {newer}, and this program reads version {VERSION}; \
                     use a newer one"
                );
                return Err(Error::new(ErrorKind::Version, message).at(0));
            }
        }
        if tag >> 4 == 0 {
            return Err(Error::key(1, "record type 0 is reserved and never stored"));
        }
        Ok((RecordPrefix { tag }, rest))
    }
}

/// Which of the 256 stripes an encoded partition key belongs to: its CRC-32, modulo 256.
///
/// ```
/// use stonecrop_keys::stripe;
/// assert_eq!([stripe(b"user#1"), stripe(b"user#2"), stripe(b"user#3")], [154, 32, 182]);
/// ```
pub fn stripe(partition_key: &[u8]) -> u8 {
    let [.., lowest] = crc32fast::hash(partition_key).to_be_bytes();
    lowest
}
