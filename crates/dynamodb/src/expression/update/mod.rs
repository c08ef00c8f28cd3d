//! Updates: what becomes of an item.

mod apply;
mod check;
mod grammar;
#[cfg(test)]
mod tests;

use std::collections::BTreeSet;

use stonecrop::{Path, Value};

use super::projection::project;
use super::{Kind, Placeholders, read_as};
use crate::error::Result;
use crate::value::{AttributeType, Item};

/// What becomes of an item.
///
/// ```
/// use serde_json::json;
/// use stonecrop_dynamodb::expression::{Placeholders, Update};
/// use stonecrop_dynamodb::value::{decode_item, encode_item};
/// let values = json!({":one": {"N": "1"}, ":zero": {"N": "0"}});
/// let mut placeholders = Placeholders::from_json(None, Some(values))?;
/// let text = "SET visits = if_not_exists(visits, :zero) + :one REMOVE draft";
/// let update = Update::parse(text, &mut placeholders)?;
/// let item = decode_item(json!({"draft": {"BOOL": true}}))?;
/// let updated = update.apply(&item)?;
/// assert_eq!(encode_item(&updated), json!({"visits": {"N": "1"}}));
/// assert_eq!(encode_item(&update.updated_old(&item)), json!({"draft": {"BOOL": true}}));
/// # Ok::<(), stonecrop_dynamodb::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Update {
    actions: Vec<Action>,
}

/// One thing that an update does.
///
/// ```
/// use stonecrop_dynamodb::expression::{Action, Path, Update};
/// let update = Update::new(vec![Action::Remove(Path::new("a"))]);
/// assert_eq!(update.actions().len(), 1);
/// ```
#[derive(Clone, Debug, PartialEq)]
pub enum Action {
    /// Something has this value from now on.
    Set(Path, SetValue),
    /// Something is not there any more.
    Remove(Path),
    /// A number is larger by this, a set has these as well; what is not there is zero or empty.
    Add(Path, Value),
    /// A set has these no more; it is not there any more once it is empty.
    Delete(Path, Value),
    /// A list has these at its end as well, or a number or set as with `Add`: what `ADD` of the
    /// older `AttributeUpdates` does, with its own message about types that differ.
    LegacyAdd(Path, Value),
    /// As with `Delete`, with the message of the older `AttributeUpdates`.
    LegacyDelete(Path, Value),
}

/// The value that something is set to; all of it is read from the item before the update.
///
/// ```
/// use stonecrop_dynamodb::expression::{Path, SetValue};
/// let one_more = SetValue::Sum(
///     Box::new(SetValue::Path(Path::new("n"))),
///     Box::new(SetValue::Value(1.into())),
/// );
/// assert_ne!(one_more, SetValue::Value(1.into()));
/// ```
#[derive(Clone, Debug, PartialEq)]
pub enum SetValue {
    /// The value there.
    Path(Path),
    /// This value.
    Value(Value),
    /// The value there, or the other if there is none.
    IfNotExists(Path, Box<SetValue>),
    /// One list, then the other.
    ListAppend(Box<SetValue>, Box<SetValue>),
    /// One number and the other.
    Sum(Box<SetValue>, Box<SetValue>),
    /// One number less the other.
    Difference(Box<SetValue>, Box<SetValue>),
}

impl Action {
    /// What it is done to.
    ///
    /// ```
    /// use stonecrop_dynamodb::expression::{Action, Path};
    /// assert_eq!(Action::Remove(Path::new("a")).path(), &Path::new("a"));
    /// ```
    pub fn path(&self) -> &Path {
        match self {
            Action::Set(path, _)
            | Action::Remove(path)
            | Action::Add(path, _)
            | Action::Delete(path, _)
            | Action::LegacyAdd(path, _)
            | Action::LegacyDelete(path, _) => path,
        }
    }

    /// The type that the value will have, where the action tells it for every item. The service
    /// refuses an update by it that would change a key of an index to another type.
    ///
    /// ```
    /// use stonecrop_dynamodb::expression::{Action, Path, SetValue};
    /// use stonecrop_dynamodb::value::AttributeType;
    /// let set = |value| Action::Set(Path::new("a"), value);
    /// assert_eq!(set(SetValue::Value(1.into())).value_type(), Some(AttributeType::Number));
    /// assert_eq!(set(SetValue::Path(Path::new("b"))).value_type(), None);
    /// ```
    pub fn value_type(&self) -> Option<AttributeType> {
        match self {
            Action::Set(_, value) => value.value_type(),
            Action::Add(_, value) | Action::LegacyAdd(_, value) => Some(AttributeType::of(value)),
            Action::Delete(_, value) | Action::LegacyDelete(_, value) => {
                Some(AttributeType::of(value))
            }
            Action::Remove(_) => None,
        }
    }
}

impl SetValue {
    fn value_type(&self) -> Option<AttributeType> {
        match self {
            SetValue::Path(_) => None,
            SetValue::Value(value) => Some(AttributeType::of(value)),
            SetValue::IfNotExists(_, otherwise) => otherwise.value_type(),
            SetValue::ListAppend(..) => Some(AttributeType::List),
            SetValue::Sum(..) | SetValue::Difference(..) => Some(AttributeType::Number),
        }
    }
}

impl Update {
    /// Reads an `UpdateExpression`.
    ///
    /// ```
    /// use stonecrop_dynamodb::expression::{Placeholders, Update};
    /// let error = Update::parse("SET a = :a", &mut Placeholders::default()).unwrap_err();
    /// assert_eq!(
    ///     error.message(),
    ///     "Invalid UpdateExpression: An expression attribute value used in expression is not \
    ///      defined; attribute value: :a"
    /// );
    /// ```
    pub fn parse(text: &str, placeholders: &mut Placeholders) -> Result<Self> {
        read_as(Kind::Update, text, |text| {
            let actions = check::update(&grammar::whole(text)?, placeholders)?;
            Ok(Update { actions })
        })
    }

    /// Of these actions, whose paths must not be in each other's way.
    ///
    /// ```
    /// use stonecrop_dynamodb::expression::Update;
    /// assert!(Update::new(vec![]).actions().is_empty());
    /// ```
    pub fn new(actions: Vec<Action>) -> Self {
        Update { actions }
    }

    /// What it does, in the order in which it is written.
    ///
    /// ```
    /// use stonecrop_dynamodb::expression::{Placeholders, Update};
    /// let update = Update::parse("REMOVE a, b", &mut Placeholders::default())?;
    /// assert_eq!(update.actions().len(), 2);
    /// # Ok::<(), stonecrop_dynamodb::Error>(())
    /// ```
    pub fn actions(&self) -> &[Action] {
        &self.actions
    }

    /// The attributes that it changes, or changes something in.
    ///
    /// ```
    /// use stonecrop_dynamodb::expression::{Placeholders, Update};
    /// let update = Update::parse("SET a.b = c REMOVE d", &mut Placeholders::default())?;
    /// assert_eq!(update.attributes().into_iter().collect::<Vec<_>>(), ["a", "d"]);
    /// # Ok::<(), stonecrop_dynamodb::Error>(())
    /// ```
    pub fn attributes(&self) -> BTreeSet<&str> {
        self.actions.iter().map(|action| action.path().column()).collect()
    }

    /// All paths in it, also those that it only reads.
    ///
    /// ```
    /// use stonecrop_dynamodb::expression::{Placeholders, Update};
    /// let update = Update::parse("SET a.b = c", &mut Placeholders::default())?;
    /// assert_eq!(update.paths().len(), 2);
    /// # Ok::<(), stonecrop_dynamodb::Error>(())
    /// ```
    pub fn paths(&self) -> Vec<&Path> {
        let mut paths = Vec::new();
        for action in &self.actions {
            paths.push(action.path());
            if let Action::Set(_, value) = action {
                value.collect_paths(&mut paths);
            }
        }
        paths
    }

    /// `UPDATED_OLD`: what it changes or removes, as it was in the item.
    ///
    /// ```
    /// use serde_json::json;
    /// use stonecrop_dynamodb::expression::{Placeholders, Update};
    /// use stonecrop_dynamodb::value::{decode_item, encode_item};
    /// let update = Update::parse("SET m.a = b REMOVE c", &mut Placeholders::default())?;
    /// let item = decode_item(json!({"b": {"N": "1"}, "c": {"N": "2"}, "m": {"M": {}}}))?;
    /// assert_eq!(encode_item(&update.updated_old(&item)), json!({"c": {"N": "2"}}));
    /// # Ok::<(), stonecrop_dynamodb::Error>(())
    /// ```
    pub fn updated_old(&self, item: &Item) -> Item {
        project(item, self.actions.iter().map(Action::path))
    }
}

impl SetValue {
    fn collect_paths<'u>(&'u self, paths: &mut Vec<&'u Path>) {
        match self {
            SetValue::Path(path) => paths.push(path),
            SetValue::Value(_) => {}
            SetValue::IfNotExists(path, otherwise) => {
                paths.push(path);
                otherwise.collect_paths(paths);
            }
            SetValue::ListAppend(a, b) | SetValue::Sum(a, b) | SetValue::Difference(a, b) => {
                a.collect_paths(paths);
                b.collect_paths(paths);
            }
        }
    }
}
