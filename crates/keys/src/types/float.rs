//! Floats: the bits of a negative one complemented, of any other with the sign bit flipped, so
//! that they order as unsigned integers do. `f32` and `f64` have one zero and one NaN, which
//! sorts above infinity; [`Exact`] keeps every bit pattern apart, in IEEE 754's total order.

use crate::decode::{FromKey, KeyReader};
use crate::encode::ToKey;
use crate::error::{Error, Result};
use crate::schema::Type;
use crate::tag;

/// A float with all its bits: -0 sorts below +0, and NaNs are kept apart by sign and payload.
///
/// ```
/// use stonecrop_keys::{Exact, KeyBuilder};
/// let encode = |value| {
///     let mut buffer = Vec::new();
///     KeyBuilder::new(&mut buffer).push(Exact(value));
///     buffer
/// };
/// assert!(encode(-0.0_f64) < encode(0.0));
/// assert!(encode(-f64::NAN) < encode(f64::NEG_INFINITY));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub struct Exact<T>(pub T);

macro_rules! write_bits {
    ($out:ident, $tag:path, $bits:ty, $size:literal, $value:expr) => {
        let bits: $bits = $value;
        let sign = 1 << (<$bits>::BITS - 1);
        let ordered = if bits & sign == 0 { bits | sign } else { !bits };
        let mut field = [$tag; 1 + $size];
        if let Some(payload) = field.last_chunk_mut::<$size>() {
            *payload = ordered.to_be_bytes();
        }
        $out.extend_from_slice(&field);
    };
}

macro_rules! read_bits {
    ($reader:ident, $tag:path, $bits:ty, $size:literal) => {{
        let ordered = <$bits>::from_be_bytes($reader.take_fixed::<$size>($tag)?);
        let sign = 1 << (<$bits>::BITS - 1);
        if ordered & sign == 0 { !ordered } else { ordered & !sign }
    }};
}

macro_rules! floats {
    ($($float:ty, $bits:ty, $size:literal, $nan:literal, $tag:path, $type:path, $exact_tag:path,
       $exact_type:path;)*) => {$(
        impl ToKey for $float {
            fn field_type() -> Type {
                $type
            }

            #[inline]
            fn write_to(&self, out: &mut Vec<u8>) {
                let normal = if self.is_nan() {
                    $nan
                } else if *self == 0.0 {
                    0
                } else {
                    self.to_bits()
                };
                write_bits!(out, $tag, $bits, $size, normal);
            }
        }

        impl<'k> FromKey<'k> for $float {
            #[inline]
            fn read_from(reader: &mut KeyReader<'k>) -> Result<Self> {
                let start = reader.offset() + 1;
                let bits = read_bits!(reader, $tag, $bits, $size);
                let value = <$float>::from_bits(bits);
                if bits == (-0.0 as $float).to_bits() {
                    return Err(Error::key(start, "a negative zero, which is stored as zero"));
                }
                if value.is_nan() && bits != $nan {
                    return Err(Error::key(start, "a NaN other than the one that is stored"));
                }
                Ok(value)
            }
        }

        impl ToKey for Exact<$float> {
            fn field_type() -> Type {
                $exact_type
            }

            #[inline]
            fn write_to(&self, out: &mut Vec<u8>) {
                write_bits!(out, $exact_tag, $bits, $size, self.0.to_bits());
            }
        }

        impl<'k> FromKey<'k> for Exact<$float> {
            #[inline]
            fn read_from(reader: &mut KeyReader<'k>) -> Result<Self> {
                let bits = read_bits!(reader, $exact_tag, $bits, $size);
                Ok(Exact(<$float>::from_bits(bits)))
            }
        }
    )*};
}

floats! {
    f32, u32, 4, 0x7FC0_0000, tag::F32, Type::F32, tag::F32_EXACT, Type::F32Exact;
    f64, u64, 8, 0x7FF8_0000_0000_0000, tag::F64, Type::F64, tag::F64_EXACT, Type::F64Exact;
}
