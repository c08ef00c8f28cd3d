//! DynamoDB's language: attribute values, expressions, the older parameters that they replaced, and
//! PartiQL.
//!
//! All of it is pure: texts and JSON in, conditions, updates and items out. Requests, tables and
//! storage are not here. What is refused is refused with the service's own words, in the service's
//! order where that is known.
//!
//! - [`value`]: values to and from the JSON of the service, numbers, sizes.
//! - [`expression`]: condition, filter, key condition, projection and update expressions.
//! - [`legacy`]: the parameters that expressions replaced, as the same conditions and updates.
//! - [`partiql`]: statements that look like SQL, with the same conditions and updates in them.
//!
//! ```
//! use serde_json::json;
//! use stonecrop_dynamodb::expression::{Condition, Placeholders};
//! use stonecrop_dynamodb::value::decode_item;
//!
//! let values = json!({":tag": {"S": "new"}});
//! let mut placeholders = Placeholders::from_json(None, Some(values))?;
//! let condition = Condition::parse("contains(tags, :tag)", &mut placeholders)?;
//! let item = decode_item(json!({"tags": {"SS": ["new", "red"]}}))?;
//! assert!(condition.matches(&item));
//! # Ok::<(), stonecrop_dynamodb::Error>(())
//! ```

#![forbid(unsafe_code)]

mod error;
pub mod expression;
pub mod legacy;
pub mod partiql;
pub mod value;

pub use error::{Error, ErrorKind, Result};
