//! Values that go into every database, and numbers to make them from.

use rusqlite::types::{ToSql, ToSqlOutput, ValueRef};
use stonecrop::{Timestamp, Value};

/// How long what a source says is fresh.
pub(crate) const TTL_SECONDS: u32 = 3_600;

/// The value of a column.
#[derive(Debug)]
pub(crate) enum Datum {
    Text(String),
    Int(i64),
    Float(f64),
    Time(Timestamp),
}

impl From<&Datum> for Value {
    fn from(datum: &Datum) -> Self {
        match datum {
            Datum::Text(text) => text.as_str().into(),
            Datum::Int(number) => (*number).into(),
            Datum::Float(number) => (*number).into(),
            Datum::Time(time) => (*time).into(),
        }
    }
}

impl ToSql for Datum {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::Borrowed(match self {
            Datum::Text(text) => ValueRef::Text(text.as_bytes()),
            Datum::Int(number) => ValueRef::Integer(*number),
            Datum::Float(number) => ValueRef::Real(*number),
            Datum::Time(time) => ValueRef::Integer(time.as_micros()),
        }))
    }
}

/// One of them, the same for the same bits.
pub(crate) fn one_of<'a>(choices: &[&'a str], bits: u64) -> &'a str {
    choices.get(bits as usize % choices.len()).copied().unwrap_or_default()
}

/// Splitmix64: the same number for the same seed.
pub(crate) fn random(seed: u64) -> u64 {
    let mut bits = seed.wrapping_add(1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    bits = (bits ^ (bits >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    bits = (bits ^ (bits >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    bits ^ (bits >> 31)
}
