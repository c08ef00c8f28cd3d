//! Attribute values: the ten types of the service on the database's own [`Value`].
//!
//! What a client writes becomes `String`, `Decimal`, `Bytes`, `Bool`, `Null`, `Map`, `List` and the
//! three sets. Native tables hold more types than the service knows: `Int` and `Float` are told as
//! numbers, `Timestamp`, `Date` and `Uuid` as strings, and a float that no number of the service
//! can be (infinity, NaN, beyond 1E126) as a string as well.

mod compare;
mod decode;
mod direct;
mod encode;
mod number;
mod seen;
mod size;
mod types;

use std::collections::BTreeMap;

use stonecrop::Value;

pub use compare::{equal, order};
pub use decode::{
    MAX_NESTING, check_nesting, check_shape, decode, decode_item, nesting_error, read_json,
};
pub use direct::{ItemAction, ItemWrite, read_actions, read_item, read_writes};
pub use encode::{Encoded, encode, encode_item};
pub use number::{add, number_text, parse_number, subtract};
pub use size::{
    MAX_ITEM_BYTES, check_put_size, check_update_size, item_size, key_size, number_size, value_size,
};
pub use types::AttributeType;

pub(crate) use compare::{begins_with, contains};
pub(crate) use seen::Seen;

/// An item: its attributes by name.
///
/// ```
/// use stonecrop_dynamodb::value::{Item, decode_item};
/// let item: Item = decode_item(serde_json::json!({"name": {"S": "Ann"}}))?;
/// assert_eq!(item["name"], "Ann".into());
/// # Ok::<(), stonecrop_dynamodb::Error>(())
/// ```
pub type Item = BTreeMap<String, Value>;
