//! The language of expressions: conditions and filters, key conditions, projections and updates.
//!
//! A request brings its expressions as texts, and what `#name` and `:value` stand for in all of
//! them: the [`Placeholders`]. Each text is read with them, then
//! [`check_all_used`](Placeholders::check_all_used) tells what was given for nothing.
//!
//! ```
//! use serde_json::json;
//! use stonecrop_dynamodb::expression::{Condition, Placeholders, Update};
//! use stonecrop_dynamodb::value::{decode_item, encode_item};
//!
//! let mut placeholders = Placeholders::from_json(
//!     Some(json!({"#s": "status"})),
//!     Some(json!({":open": {"S": "open"}, ":one": {"N": "1"}})),
//! )?;
//! let update = Update::parse("ADD visits :one", &mut placeholders)?;
//! let condition = Condition::parse("#s = :open", &mut placeholders)?;
//! placeholders.check_all_used()?;
//!
//! let item = decode_item(json!({"status": {"S": "open"}}))?;
//! assert!(condition.matches(&item));
//! let updated = update.apply(&item)?;
//! assert_eq!(encode_item(&updated), json!({"status": {"S": "open"}, "visits": {"N": "1"}}));
//! # Ok::<(), stonecrop_dynamodb::Error>(())
//! ```
//!
//! The grammar, with words in either case:
//!
//! ```text
//! condition  = and ("OR" and)*
//! and        = not ("AND" not)*
//! not        = "NOT" not | test
//! test       = operand ("=" | "<>" | "<" | "<=" | ">" | ">=") operand
//!            | operand "BETWEEN" operand "AND" operand
//!            | operand "IN" "(" operand ("," operand)* ")"
//!            | call | "(" condition ")"
//! operand    = path | ":" value | call | "(" operand ")"
//! call       = word "(" operand ("," operand)* ")"
//! path       = name ("." name | "[" digits "]")*
//! name       = word | "#" letters, digits and "_"
//! projection = path ("," path)*
//! update     = ("SET" set ("," set)* | "REMOVE" path ("," path)*
//!              | ("ADD" | "DELETE") path ":" value ("," path ":" value)*)+
//! set        = path "=" sum
//! sum        = term (("+" | "-") term)?
//! term       = operand | "(" sum ")"
//! ```

mod condition;
mod grammar;
mod key;
mod path;
mod placeholders;
mod projection;
mod reserved;
mod token;
mod update;

use std::fmt;

pub use condition::{Condition, Operand};
pub use key::{KeyAttribute, KeyConditions, KeySearch, KeyTest};
pub use path::{find, path_text};
pub use placeholders::Placeholders;
pub use projection::Projection;
pub use reserved::is_reserved;
pub use stonecrop::{Comparison, Path, Step};
pub use update::{Action, SetValue, Update};

pub(crate) use path::check_apart;

use crate::error::{Error, Result};

/// The longest text of an expression, in bytes.
const MAX_BYTES: usize = 4096;
/// The most operators and functions in an expression.
const MAX_OPERATORS: usize = 300;

/// Which parameter of a request an expression is, for the messages about it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Condition,
    Filter,
    KeyCondition,
    Projection,
    Update,
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Kind::Condition => "ConditionExpression",
            Kind::Filter => "FilterExpression",
            Kind::KeyCondition => "KeyConditionExpression",
            Kind::Projection => "ProjectionExpression",
            Kind::Update => "UpdateExpression",
        })
    }
}

/// Checks the length of a text, reads it, and says in errors which expression it is.
fn read_as<T>(kind: Kind, text: &str, read: impl FnOnce(&str) -> Result<T, String>) -> Result<T> {
    let checked = match text.len() {
        0 => Err("The expression can not be empty;".to_owned()),
        bytes if bytes > MAX_BYTES => Err(format!(
            "Expression size has exceeded the maximum allowed size; expression size: {bytes}"
        )),
        _ => read(text),
    };
    checked.map_err(|problem| Error::validation(format!("Invalid {kind}: {problem}")))
}
