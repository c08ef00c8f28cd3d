//! Conditions: what must be true of an item.

mod check;
mod evaluate;
mod grammar;
#[cfg(test)]
mod tests;

use stonecrop::{Comparison, Path, Value};

use super::{Kind, Placeholders, read_as};
use crate::error::Result;
use crate::value::AttributeType;

/// What must be true of an item: a condition of a write, or a filter of a read.
///
/// ```
/// use serde_json::json;
/// use stonecrop_dynamodb::expression::{Condition, Placeholders};
/// use stonecrop_dynamodb::value::decode_item;
/// let values = json!({":low": {"N": "1"}, ":high": {"N": "9"}});
/// let mut placeholders = Placeholders::from_json(None, Some(values))?;
/// let text = "score BETWEEN :low AND :high AND attribute_not_exists(banned)";
/// let condition = Condition::parse(text, &mut placeholders)?;
/// assert!(condition.matches(&decode_item(json!({"score": {"N": "5"}}))?));
/// # Ok::<(), stonecrop_dynamodb::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub enum Condition {
    /// All of these.
    All(Vec<Condition>),
    /// One of these at least.
    Any(Vec<Condition>),
    /// Not this.
    Not(Box<Condition>),
    /// A comparison; false of values of different types, except that they are unequal.
    Compare(Operand, Comparison, Operand),
    /// The first is neither smaller than the second nor larger than the third.
    Between(Operand, Operand, Operand),
    /// The first is one of the others.
    In(Operand, Vec<Operand>),
    /// Something is there.
    Exists(Path),
    /// Nothing is there.
    NotExists(Path),
    /// A value of this type is there.
    IsType(Operand, AttributeType),
    /// A string or binary begins with another.
    BeginsWith(Operand, Operand),
    /// A string or binary has another in it, or a set or a list has an element.
    Contains(Operand, Operand),
}

/// What is compared.
///
/// ```
/// use stonecrop_dynamodb::expression::{Operand, Path};
/// let size = Operand::Size(Box::new(Operand::Path(Path::new("tags"))));
/// assert_ne!(size, Operand::Value(3.into()));
/// ```
#[derive(Clone, Debug, PartialEq)]
pub enum Operand {
    /// The value in the item.
    Path(Path),
    /// This value.
    Value(Value),
    /// How large another is: the UTF-16 units of a string, the bytes of a binary, the elements of
    /// anything else; nothing of a number, a boolean and a null.
    Size(Box<Operand>),
}

impl Condition {
    /// Reads a `ConditionExpression`.
    ///
    /// ```
    /// use stonecrop_dynamodb::expression::{Condition, Placeholders};
    /// let error = Condition::parse("a = = b", &mut Placeholders::default()).unwrap_err();
    /// assert_eq!(
    ///     error.message(),
    ///     "Invalid ConditionExpression: Syntax error; token: \"=\", near: \"= = b\""
    /// );
    /// ```
    pub fn parse(text: &str, placeholders: &mut Placeholders) -> Result<Self> {
        Self::parse_as(Kind::Condition, text, placeholders)
    }

    /// Reads a `FilterExpression`.
    ///
    /// ```
    /// use stonecrop_dynamodb::expression::{Condition, Placeholders};
    /// let error = Condition::parse_filter("year = y", &mut Placeholders::default()).unwrap_err();
    /// assert_eq!(
    ///     error.message(),
    ///     "Invalid FilterExpression: Attribute name is a reserved keyword; reserved keyword: year"
    /// );
    /// ```
    pub fn parse_filter(text: &str, placeholders: &mut Placeholders) -> Result<Self> {
        Self::parse_as(Kind::Filter, text, placeholders)
    }

    /// Reads a `KeyConditionExpression`; [`KeyConditions::new`](super::KeyConditions::new) has the
    /// rules beyond those of any condition, which the service looks at once all placeholders are
    /// known to be used.
    ///
    /// ```
    /// use stonecrop_dynamodb::expression::{Condition, Placeholders};
    /// assert!(Condition::parse_key_condition("a = b", &mut Placeholders::default()).is_ok());
    /// ```
    pub fn parse_key_condition(text: &str, placeholders: &mut Placeholders) -> Result<Self> {
        Self::parse_as(Kind::KeyCondition, text, placeholders)
    }

    fn parse_as(kind: Kind, text: &str, placeholders: &mut Placeholders) -> Result<Self> {
        read_as(kind, text, |text| check::condition(&grammar::whole(text)?, placeholders))
    }

    /// The paths in it, in their order.
    ///
    /// ```
    /// use stonecrop_dynamodb::expression::{Condition, Placeholders};
    /// let text = "a = b AND size(c.d) > e";
    /// let condition = Condition::parse(text, &mut Placeholders::default())?;
    /// let names: Vec<&str> = condition.paths().iter().map(|path| path.column()).collect();
    /// assert_eq!(names, ["a", "b", "c", "e"]);
    /// # Ok::<(), stonecrop_dynamodb::Error>(())
    /// ```
    pub fn paths(&self) -> Vec<&Path> {
        let mut paths = Vec::new();
        self.collect_paths(&mut paths);
        paths
    }

    fn collect_paths<'c>(&'c self, paths: &mut Vec<&'c Path>) {
        match self {
            Condition::All(inner) | Condition::Any(inner) => {
                inner.iter().for_each(|inner| inner.collect_paths(paths));
            }
            Condition::Not(inner) => inner.collect_paths(paths),
            Condition::Compare(a, _, b)
            | Condition::BeginsWith(a, b)
            | Condition::Contains(a, b) => paths.extend(a.path().into_iter().chain(b.path())),
            Condition::Between(a, b, c) => {
                paths.extend([a, b, c].into_iter().filter_map(Operand::path));
            }
            Condition::In(a, others) => {
                paths.extend([a].into_iter().chain(others).filter_map(Operand::path));
            }
            Condition::Exists(path) | Condition::NotExists(path) => paths.push(path),
            Condition::IsType(a, _) => paths.extend(a.path()),
        }
    }
}

impl Operand {
    /// The path in it, if there is one.
    ///
    /// ```
    /// use stonecrop_dynamodb::expression::{Operand, Path};
    /// let path = Path::new("a");
    /// assert_eq!(Operand::Path(path.clone()).path(), Some(&path));
    /// assert_eq!(Operand::Value(1.into()).path(), None);
    /// ```
    pub fn path(&self) -> Option<&Path> {
        match self {
            Operand::Path(path) => Some(path),
            Operand::Value(_) => None,
            Operand::Size(inner) => inner.path(),
        }
    }
}
