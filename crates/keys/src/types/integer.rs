//! Integers of fixed width: big-endian, the sign bit flipped where there is one.

use crate::decode::{FromKey, KeyReader};
use crate::encode::ToKey;
use crate::error::Result;
use crate::schema::Type;
use crate::tag;

macro_rules! integers {
    ($($integer:ty, $unsigned:ty, $size:literal, $tag:path, $type:path, $flip:expr;)*) => {$(
        impl ToKey for $integer {
            fn field_type() -> Type {
                $type
            }

            #[inline]
            fn write_to(&self, out: &mut Vec<u8>) {
                // One array for tag and payload: one capacity check, and no call to memcpy.
                let mut field = [$tag; 1 + $size];
                if let Some(payload) = field.last_chunk_mut::<$size>() {
                    *payload = ((*self as $unsigned) ^ $flip).to_be_bytes();
                }
                out.extend_from_slice(&field);
            }
        }

        impl<'k> FromKey<'k> for $integer {
            #[inline]
            fn read_from(reader: &mut KeyReader<'k>) -> Result<Self> {
                let payload = reader.take_fixed::<$size>($tag)?;
                Ok((<$unsigned>::from_be_bytes(payload) ^ $flip) as $integer)
            }
        }
    )*};
}

integers! {
    u8, u8, 1, tag::U8, Type::U8, 0;
    u16, u16, 2, tag::U16, Type::U16, 0;
    u32, u32, 4, tag::U32, Type::U32, 0;
    u64, u64, 8, tag::U64, Type::U64, 0;
    u128, u128, 16, tag::U128, Type::U128, 0;
    i8, u8, 1, tag::I8, Type::I8, 1 << 7;
    i16, u16, 2, tag::I16, Type::I16, 1 << 15;
    i32, u32, 4, tag::I32, Type::I32, 1 << 31;
    i64, u64, 8, tag::I64, Type::I64, 1 << 63;
    i128, u128, 16, tag::I128, Type::I128, 1 << 127;
}
