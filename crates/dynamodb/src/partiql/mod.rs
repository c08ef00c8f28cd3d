//! PartiQL: the statements of the service that look like SQL.
//!
//! What a statement asks of items, and what it does to them, are the conditions, projections and
//! updates of [`expression`](crate::expression).
//!
//! ```
//! use stonecrop_dynamodb::partiql::{Statement, parse};
//! use stonecrop_dynamodb::value::Item;
//! let text = r#"SELECT name FROM "people" WHERE id = ? AND size(tags) > 2"#;
//! let Statement::Select(select) = parse(text, vec![7.into()])? else { unreachable!() };
//! assert_eq!(select.table, "people");
//! assert!(!select.condition.unwrap().matches(&Item::new()));
//! # Ok::<(), stonecrop_dynamodb::Error>(())
//! ```
//!
//! The grammar, with words in either case:
//!
//! ```text
//! statement = select | insert | update | delete | "EXISTS" "(" select ")"
//! select    = "SELECT" ("*" | path ("," path)*) "FROM" name ["." name]
//!             ["WHERE" condition] ["ORDER" "BY" name ["ASC" | "DESC"] ("," …)*]
//! insert    = "INSERT" "INTO" name "VALUE" value
//! update    = "UPDATE" name (("SET" set ("," set)*) | ("REMOVE" path ("," path)*))+
//!             "WHERE" condition ["RETURNING" ("ALL" | "MODIFIED") ("OLD" | "NEW") "*"]
//! delete    = "DELETE" "FROM" name "WHERE" condition ["RETURNING" "ALL" "OLD" "*"]
//! set       = path "=" term [("+" | "-") term]
//! term      = operand | ("list_append" | "if_not_exists" | "set_add" | "set_delete") "(" … ")"
//! condition = and ("OR" and)*
//! and       = not ("AND" not)*
//! not       = "NOT" not | test
//! test      = operand ("=" | "<>" | "!=" | "<" | "<=" | ">" | ">=") operand
//!           | operand "BETWEEN" operand "AND" operand
//!           | operand "IN" ("[" … "]" | "(" … ")")
//!           | path "IS" ["NOT"] ("MISSING" | "NULL")
//!           | ("begins_with" | "contains" | "attribute_type") "(" operand "," operand ")"
//!           | "(" condition ")"
//! operand   = path | value | "size" "(" operand ")" | "(" operand ")"
//! path      = name ("." name | "[" digits "]")*
//! name      = word | '"' text with "" for a quote '"'
//! value     = "?" | "'" text with '' for a quote "'" | ["-"] number | "true" | "false" | "null"
//!           | "[" value, … "]" | "{" text ":" value, … "}" | "<<" value, … ">>"
//! ```

mod condition;
mod input;
mod key;
mod literal;
mod statement;
#[cfg(test)]
mod tests;
mod token;
mod told;
mod update;

use stonecrop::Value;

pub use key::split_key;
pub use told::told;

use crate::error::Result;
use crate::expression::{Condition, Projection, Update};
use crate::value::Item;

/// A statement.
///
/// ```
/// use stonecrop_dynamodb::partiql::{Statement, parse};
/// let statement = parse("DELETE FROM people WHERE id = 1", vec![])?;
/// assert!(matches!(statement, Statement::Delete(_)));
/// # Ok::<(), stonecrop_dynamodb::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub enum Statement {
    /// Reads items.
    Select(Select),
    /// Puts an item that is not there yet.
    Insert(Insert),
    /// Changes an item.
    Update(UpdateOne),
    /// Removes an item.
    Delete(DeleteOne),
    /// Asks, in a transaction, whether there is such an item.
    Exists(Select),
}

/// `SELECT`
///
/// ```
/// use stonecrop_dynamodb::partiql::{Statement, parse};
/// let text = r#"SELECT * FROM "people"."by-age" WHERE age > 5 ORDER BY age DESC"#;
/// let Statement::Select(select) = parse(text, vec![])? else { unreachable!() };
/// assert_eq!(select.index.as_deref(), Some("by-age"));
/// assert!(select.projection.is_none() && select.order[0].descending);
/// # Ok::<(), stonecrop_dynamodb::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Select {
    /// The table.
    pub table: String,
    /// The index, if it is asked for one.
    pub index: Option<String>,
    /// The parts to tell; all of them for `*`.
    pub projection: Option<Projection>,
    /// Which items.
    pub condition: Option<Condition>,
    /// In which order.
    pub order: Vec<OrderBy>,
}

/// One attribute of `ORDER BY`.
///
/// ```
/// use stonecrop_dynamodb::partiql::OrderBy;
/// let order = OrderBy { attribute: "age".to_owned(), descending: false };
/// assert!(!order.descending);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OrderBy {
    /// The attribute.
    pub attribute: String,
    /// From the largest to the smallest.
    pub descending: bool,
}

/// `INSERT`
///
/// ```
/// use stonecrop_dynamodb::partiql::{Statement, parse};
/// let text = "INSERT INTO people VALUE {'id': 7, 'tags': <<'a', 'b'>>}";
/// let Statement::Insert(insert) = parse(text, vec![])? else { unreachable!() };
/// assert_eq!(insert.item.len(), 2);
/// # Ok::<(), stonecrop_dynamodb::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Insert {
    /// The table.
    pub table: String,
    /// The item.
    pub item: Item,
}

/// `UPDATE`
///
/// ```
/// use stonecrop_dynamodb::partiql::{Returning, Statement, parse};
/// let text = "UPDATE people SET age = age + 1 REMOVE draft WHERE id = 7 RETURNING ALL NEW *";
/// let Statement::Update(update) = parse(text, vec![])? else { unreachable!() };
/// assert_eq!(update.returning, Some(Returning::AllNew));
/// assert_eq!(update.update.actions().len(), 2);
/// # Ok::<(), stonecrop_dynamodb::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct UpdateOne {
    /// The table.
    pub table: String,
    /// What becomes of the item.
    pub update: Update,
    /// Which item, and what must be true of it; [`split_key`] tells the one from the other.
    pub condition: Condition,
    /// What to tell.
    pub returning: Option<Returning>,
}

/// `DELETE`
///
/// ```
/// use stonecrop_dynamodb::partiql::{Statement, parse};
/// let text = "DELETE FROM people WHERE id = 7 RETURNING ALL OLD *";
/// let Statement::Delete(delete) = parse(text, vec![])? else { unreachable!() };
/// assert!(delete.returning_old);
/// # Ok::<(), stonecrop_dynamodb::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct DeleteOne {
    /// The table.
    pub table: String,
    /// Which item, and what must be true of it; [`split_key`] tells the one from the other.
    pub condition: Condition,
    /// Whether to tell the item that was there.
    pub returning_old: bool,
}

/// What an `UPDATE` tells.
///
/// ```
/// use stonecrop_dynamodb::partiql::Returning;
/// assert_ne!(Returning::AllOld, Returning::ModifiedOld);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Returning {
    /// The item as it was.
    AllOld,
    /// What was changed, as it was.
    ModifiedOld,
    /// The item as it is.
    AllNew,
    /// What was changed, as it is.
    ModifiedNew,
}

/// Reads a statement, with a parameter for each `?` in it.
///
/// ```
/// use stonecrop_dynamodb::partiql::parse;
/// let message = |text, parameters| parse(text, parameters).unwrap_err().message().to_owned();
/// assert_eq!(
///     message("DROP TABLE people", vec![]),
///     "Statement wasn't well formed, can't be processed: Expected data manipulation"
/// );
/// assert_eq!(
///     message("DELETE FROM people WHERE id = ?", vec![]),
///     "Number of parameters in request and statement don't match."
/// );
/// ```
pub fn parse(text: &str, parameters: Vec<Value>) -> Result<Statement> {
    input::read(text, parameters, statement::statement)
}
