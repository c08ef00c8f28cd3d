//! The one-line language of filters, as in `status = "active" and score > 10`.
//!
//! ```text
//! filter   = and ("or" and)*
//! and      = not ("and" not)*
//! not      = "not" not | "(" filter ")" | "exists" | path test
//! test     = ("=" | "!=" | "<>" | "<" | "<=" | ">" | ">=") literal
//!          | ["not"] "in" "(" literal ("," literal)* ")"
//!          | ["not"] "between" literal "and" literal
//!          | ["not"] "begins" "with" literal
//!          | ["not"] "contains" literal
//!          | ["not"] "exists"
//!          | "is" ["not"] ("null" | "fresh" | "stale")
//!          | "written" ("before" | "after" | "at" | "=" | … | ">=") text
//! path     = name ("." name | "[" digits "]")*
//! name     = letter or "_", then letters, digits, "_" and "-"
//!          | '"' text as in JSON '"'
//! literal  = text | number | decimal | "true" | "false" | "null"
//!          | ("timestamp" | "date" | "uuid") text | "x" text of hex
//! text     = '"' text as in JSON '"' | "'" text, with '' for a quote "'"
//! number   = ["-"] digits ["." digits] [("e" | "E") ["+" | "-"] digits]
//! decimal  = number "d"
//! ```
//!
//! Words are the same in capitals. A path can't begin with one of `and`, `or`, `not` and `exists`
//! unless that is quoted. `exists` without a path asks whether the row is there.

mod literal;
mod parse;
#[cfg(test)]
mod print;
#[cfg(test)]
mod tests;

use std::fmt;

use stonecrop::Condition;

use crate::error::write_caret;

pub(crate) use literal::{TypedText, typed};

/// Parentheses and `not`s can be nested this deep, so that reading them takes a bounded stack.
const MAX_NESTING: usize = 64;
/// What the server takes of the nodes that they become.
const MAX_DEPTH: usize = 32;
const MAX_NODES: usize = 1_000;

/// The condition that a filter stands for.
pub(crate) fn parse(text: &str) -> Result<Condition, FilterError> {
    let condition = parse::whole(text).map_err(|fault| fault.into_error(text))?;
    let mut nodes = 0;
    if measure(&condition, 0, &mut nodes) > MAX_DEPTH {
        let problem = format!("the filter is nested more than {MAX_DEPTH} deep");
        return Err(FilterError { text: text.to_owned(), offset: 0, problem });
    }
    if nodes > MAX_NODES {
        let problem = format!("the filter has more than {MAX_NODES} conditions");
        return Err(FilterError { text: text.to_owned(), offset: 0, problem });
    }
    Ok(condition)
}

/// How deep the nodes are; counts them as well.
fn measure(condition: &Condition, depth: usize, nodes: &mut usize) -> usize {
    *nodes += 1;
    match condition {
        Condition::All(inner) | Condition::Any(inner) => {
            let depths = inner.iter().map(|inner| measure(inner, depth + 1, nodes));
            depths.max().unwrap_or(depth)
        }
        Condition::Not(inner) => measure(inner, depth + 1, nodes),
        _ => depth,
    }
}

/// What is wrong with a filter, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FilterError {
    text: String,
    offset: usize,
    problem: String,
}

impl fmt::Display for FilterError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "in the filter, {}", crate::output::visible(&self.problem))?;
        write_caret(f, &self.text, self.offset)
    }
}
