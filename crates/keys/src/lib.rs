//! Typed composite keys as bytes whose byte order is the value order, and back.
//!
//! Any ordered key-value store compares keys byte by byte. This crate turns a row of typed values
//! into bytes that compare as the values do, field by field, each ascending or descending, with
//! nulls first or last, and turns the bytes back into the values.
//!
//! What holds for every schema:
//! 1. different values give different bytes (equal ones the same: 5.0 and 5.00 are one decimal);
//! 2. byte order is value order, field by field;
//! 3. nulls sort first or last, as the field says, in either direction;
//! 4. bytes decode to the values they came from;
//! 5. no field begins another, so fields concatenate and prefix scans are exact;
//! 6. anything else than the one form of a key is an error with a field and an offset.
//!
//! The exceptions are named in their types: [`Type::Collated`] gives text that is alike in its
//! language one key, which does not decode (1, 4, 6); points order along a curve, not by a
//! coordinate (2); and [`Type::Raw`] has no end of its own, so it must be the last field (5).
//!
//! # With types known at run time
//!
//! ```
//! use stonecrop_keys::{Predicate, Schema, TimestampMs, Value};
//!
//! let schema: Schema = "tenant string, at timestamp desc, score f64 nulls last".parse()?;
//! let key = schema.encode(&["acme".into(), TimestampMs(1_705_312_800_000).into(), Value::Null])?;
//! assert_eq!(schema.decode(&key)?[0], "acme".into());
//!
//! // All of acme's keys from 2024 on: a range of the store.
//! let from_2024 = Predicate::Ge(TimestampMs(1_704_067_200_000).into());
//! assert!(schema.range(&["acme".into()], &from_2024)?.contains(&key));
//! # Ok::<(), stonecrop_keys::Error>(())
//! ```
//!
//! # With types known at compile time
//!
//! ```
//! use stonecrop_keys::{DecodeKey, Key, TimestampMs};
//!
//! #[derive(Key, Debug, PartialEq)]
//! struct Event {
//!     tenant: String,
//!     #[key(desc)]
//!     at: TimestampMs,
//! }
//!
//! let event = Event { tenant: "acme".into(), at: TimestampMs(5) };
//! let mut buffer = Vec::new();
//! event.encode_into(&mut buffer)?;
//! assert_eq!(Event::decode(&buffer)?, event);
//! # Ok::<(), stonecrop_keys::Error>(())
//! ```
//!
//! The bytes are described in `docs/format.md`, well enough to write them in another language.

#![forbid(unsafe_code)]

mod decode;
mod encode;
mod error;
mod explain;
#[cfg(feature = "json")]
mod json;
mod key;
mod notation;
mod range;
mod record;
mod schema;
mod tag;
mod types;
mod value;

pub use decode::{FromKey, KeyReader};
pub use encode::{KeyBuilder, MAX_KEY_BYTES, ToKey};
pub use error::{Error, ErrorKind, Result};
pub use explain::{Explanation, Part, Role};
pub use key::{DecodeKey, Key};
#[doc(hidden)]
pub use key::{field_of, schema_of};
pub use range::{KeyRange, Predicate};
pub use record::{RecordPrefix, stripe};
pub use schema::{Direction, Field, Nulls, Schema, Type};
#[cfg(feature = "derive")]
pub use stonecrop_keys_derive::Key;
pub use types::collated::{Collation, Strength};
pub use types::decimal::Decimal;
pub use types::float::Exact;
pub use types::geo::{Curve, Hilbert, Point2, Point3};
pub use types::nested::{List, Nested};
pub use types::time::{Date, TimeUnit, TimestampMs, TimestampNs, TimestampUs};
pub use types::uuid::{Uuid, UuidV1};
pub use types::varint::Var;
pub use value::Value;

// The Rust code of the README is tested with the examples.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}
