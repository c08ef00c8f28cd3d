//! Booleans are a tag alone: 08 for false, 09 for true.

use crate::decode::{FromKey, KeyReader};
use crate::encode::ToKey;
use crate::error::Result;
use crate::schema::Type;
use crate::tag;

impl ToKey for bool {
    fn field_type() -> Type {
        Type::Bool
    }

    #[inline]
    fn write_to(&self, out: &mut Vec<u8>) {
        out.push(if *self { tag::TRUE } else { tag::FALSE });
    }
}

impl<'k> FromKey<'k> for bool {
    #[inline]
    fn read_from(reader: &mut KeyReader<'k>) -> Result<Self> {
        let value = match reader.peek() {
            Some(tag::FALSE) => false,
            Some(tag::TRUE) => true,
            _ => return Err(reader.clone().wrong_tag(&[tag::FALSE, tag::TRUE])),
        };
        reader.skip_byte();
        Ok(value)
    }
}
