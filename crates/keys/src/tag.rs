//! The first byte of every field. These numbers are on disk: they are never changed or reused,
//! and the gaps between the groups are for types to come. `docs/format.md` has the same table.

/// Ends a nested tuple or list; below every tag, so that a shorter list sorts first.
pub(crate) const END: u8 = 0x01;
/// NULL in a field whose nulls sort first, ascending or descending.
pub(crate) const NULL_FIRST: u8 = 0x02;
/// NULL in a field whose nulls sort last, ascending or descending.
pub(crate) const NULL_LAST: u8 = 0xFD;

pub(crate) const FALSE: u8 = 0x08;
pub(crate) const TRUE: u8 = 0x09;

pub(crate) const U8: u8 = 0x10;
pub(crate) const U16: u8 = 0x11;
pub(crate) const U32: u8 = 0x12;
pub(crate) const U64: u8 = 0x13;
pub(crate) const U128: u8 = 0x14;

pub(crate) const I8: u8 = 0x18;
pub(crate) const I16: u8 = 0x19;
pub(crate) const I32: u8 = 0x1A;
pub(crate) const I64: u8 = 0x1B;
pub(crate) const I128: u8 = 0x1C;

pub(crate) const VARUINT: u8 = 0x20;
pub(crate) const VARINT: u8 = 0x21;

pub(crate) const F32: u8 = 0x28;
pub(crate) const F64: u8 = 0x29;
pub(crate) const F32_EXACT: u8 = 0x2A;
pub(crate) const F64_EXACT: u8 = 0x2B;

pub(crate) const DECIMAL_NEGATIVE: u8 = 0x30;
pub(crate) const DECIMAL_ZERO: u8 = 0x31;
pub(crate) const DECIMAL_POSITIVE: u8 = 0x32;

pub(crate) const STRING: u8 = 0x38;
pub(crate) const BYTES: u8 = 0x39;
pub(crate) const FIXED_BYTES: u8 = 0x3A;
pub(crate) const COLLATED: u8 = 0x3C;

pub(crate) const UUID: u8 = 0x40;
pub(crate) const UUID_V1: u8 = 0x41;

pub(crate) const TIMESTAMP_MS: u8 = 0x48;
pub(crate) const TIMESTAMP_US: u8 = 0x49;
pub(crate) const TIMESTAMP_NS: u8 = 0x4A;
pub(crate) const DATE: u8 = 0x4C;

pub(crate) const GEO2_MORTON: u8 = 0x50;
pub(crate) const GEO2_HILBERT: u8 = 0x51;
pub(crate) const GEO3_MORTON: u8 = 0x52;
pub(crate) const GEO3_HILBERT: u8 = 0x53;

pub(crate) const TUPLE: u8 = 0x60;
pub(crate) const LIST: u8 = 0x61;

pub(crate) const RAW: u8 = 0x78;
