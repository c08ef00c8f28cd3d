//! What an update makes of an item.
//!
//! Everything is read from the item as it was, and places in lists are those of the lists as they
//! were. So what changes in place comes first, then what is appended, by its place, then what is
//! taken out of lists, from their ends.

use std::cmp::Ordering;
use std::collections::BTreeSet;

use stonecrop::{Path, Step, Value};

use super::{Action, SetValue, Update};
use crate::error::{Error, Result};
use crate::expression::find;
use crate::expression::projection::project;
use crate::value::{Item, Seen, add, check_nesting, subtract};

const MISSING: &str =
    "The provided expression refers to an attribute that does not exist in the item";
const WRONG_TYPE: &str = "An operand in the update expression has an incorrect data type";
const WRONG_PATH: &str =
    "The document path provided in the update expression is invalid for update";
const LEGACY_WRONG_TYPE: &str = "Type mismatch for attribute to update";

impl Update {
    /// The item after the update; an item that is not there is one with its key alone.
    ///
    /// ```
    /// use stonecrop_dynamodb::expression::{Placeholders, Update};
    /// use stonecrop_dynamodb::value::Item;
    /// let update = Update::parse("SET a = b", &mut Placeholders::default())?;
    /// assert_eq!(
    ///     update.apply(&Item::new()).unwrap_err().message(),
    ///     "The provided expression refers to an attribute that does not exist in the item"
    /// );
    /// # Ok::<(), stonecrop_dynamodb::Error>(())
    /// ```
    pub fn apply(&self, item: &Item) -> Result<Item> {
        let updated = self.changes(item)?.make(item.clone());
        check_nesting(&updated)?;
        Ok(updated)
    }

    /// `UPDATED_NEW`: what it sets, adds or leaves of a set, as it is after the update of an item.
    /// What is appended to a list is where the list ends and not where the expression says, and what
    /// is told is what is there then, as the service does.
    ///
    /// ```
    /// use serde_json::json;
    /// use stonecrop_dynamodb::expression::{Placeholders, Update};
    /// use stonecrop_dynamodb::value::{decode_item, encode_item};
    /// let text = "SET m.a = b, l[1] = b REMOVE c";
    /// let update = Update::parse(text, &mut Placeholders::default())?;
    /// let item = json!({"b": {"N": "1"}, "c": {"N": "2"}, "m": {"M": {}}, "l": {"L": []}});
    /// let item = decode_item(item)?;
    /// assert_eq!(
    ///     encode_item(&update.updated_new(&item, &update.apply(&item)?)?),
    ///     json!({"m": {"M": {"a": {"N": "1"}}}})
    /// );
    /// # Ok::<(), stonecrop_dynamodb::Error>(())
    /// ```
    pub fn updated_new(&self, item: &Item, updated: &Item) -> Result<Item> {
        // Whole attributes are where the expression says.
        if self.actions.iter().all(|action| action.path().steps().is_empty()) {
            let told = self.actions.iter().filter(|action| !matches!(action, Action::Remove(_)));
            let told = told.filter_map(|action| updated.get_key_value(action.path().column()));
            return Ok(told.map(|(name, value)| (name.clone(), value.clone())).collect());
        }
        let mut changes = self.changes(item)?;
        // What is not told must not move what is.
        changes.remove.clear();
        let paths: Vec<&Path> =
            changes.put.iter().chain(&changes.append).map(|(path, _)| *path).collect();
        Ok(project(&changes.make(item.clone()), paths.into_iter()))
    }

    fn changes(&self, item: &Item) -> Result<Changes<'_>> {
        let sets = self.actions.iter().map(|action| match action {
            Action::Set(_, value) => value.of(item).map(Some),
            _ => Ok(None),
        });
        let sets = sets.collect::<Result<Vec<_>>>()?;
        let mut changes = Changes::default();
        for (action, set) in self.actions.iter().zip(sets) {
            check_parent(item, action.path())?;
            match (action, set) {
                (Action::Set(path, _), Some(value)) => changes.put(item, path, value),
                (Action::Add(path, value), _) => {
                    let sum = sum(find(item, path), value, WRONG_TYPE)?;
                    changes.put(item, path, sum);
                }
                (Action::LegacyAdd(path, value), _) => {
                    let sum = legacy_sum(find(item, path), value)?;
                    changes.put(item, path, sum);
                }
                (Action::Delete(path, value), _) => {
                    changes.delete(item, path, value, WRONG_TYPE)?;
                }
                (Action::LegacyDelete(path, value), _) => {
                    changes.delete(item, path, value, LEGACY_WRONG_TYPE)?;
                }
                (Action::Remove(path), _) | (Action::Set(path, _), None) => {
                    changes.remove(item, path);
                }
            }
        }
        Ok(changes)
    }
}

/// What is to be done, by the order in which it can be.
#[derive(Default)]
struct Changes<'u> {
    put: Vec<(&'u Path, Value)>,
    append: Vec<(&'u Path, Value)>,
    remove: Vec<&'u Path>,
}

impl<'u> Changes<'u> {
    fn put(&mut self, item: &Item, path: &'u Path, value: Value) {
        let beyond = matches!(path.steps().last(), Some(Step::Index(_)));
        match beyond && find(item, path).is_none() {
            true => self.append.push((path, value)),
            false => self.put.push((path, value)),
        }
    }

    fn remove(&mut self, item: &Item, path: &'u Path) {
        if find(item, path).is_some() {
            self.remove.push(path);
        }
    }

    fn delete(
        &mut self,
        item: &Item,
        path: &'u Path,
        value: &Value,
        wrong_type: &str,
    ) -> Result<()> {
        let Some(old) = find(item, path) else { return Ok(()) };
        match difference(old, value) {
            None => Err(Error::validation(wrong_type)),
            Some(None) => {
                self.remove.push(path);
                Ok(())
            }
            Some(Some(rest)) => {
                self.put.push((path, rest));
                Ok(())
            }
        }
    }

    fn make(mut self, mut item: Item) -> Item {
        for (path, value) in self.put {
            change(&mut item, path, |place| place.put(value));
        }
        self.append.sort_by(|(a, _), (b, _)| order_of_paths(a, b));
        for (path, value) in self.append {
            change(&mut item, path, |place| place.put(value));
        }
        self.remove.sort_by(|a, b| order_of_paths(b, a));
        for path in self.remove {
            change(&mut item, path, |place| place.remove());
        }
        item
    }
}

fn order_of_paths(a: &Path, b: &Path) -> Ordering {
    let order = |(a, b): (&Step, &Step)| match (a, b) {
        (Step::Index(a), Step::Index(b)) => a.cmp(b),
        (Step::Field(a), Step::Field(b)) => a.cmp(b),
        (Step::Index(_), Step::Field(_)) => Ordering::Less,
        (Step::Field(_), Step::Index(_)) => Ordering::Greater,
    };
    a.column().cmp(b.column()).then_with(|| {
        let steps = a.steps().iter().zip(b.steps()).map(order);
        steps.into_iter().find(|order| order.is_ne()).unwrap_or(Ordering::Equal)
    })
}

/// Where something is or will be: a name in a map, or a place in a list.
enum Place<'v> {
    Field(&'v mut Item, &'v str),
    Element(&'v mut Vec<Value>, usize),
}

impl Place<'_> {
    fn put(self, value: Value) {
        match self {
            Place::Field(values, name) => {
                values.insert(name.to_owned(), value);
            }
            Place::Element(values, index) => match values.get_mut(index) {
                Some(element) => *element = value,
                None => values.push(value),
            },
        }
    }

    fn remove(self) {
        match self {
            Place::Field(values, name) => {
                values.remove(name);
            }
            Place::Element(values, index) => {
                if index < values.len() {
                    values.remove(index);
                }
            }
        }
    }
}

/// Does something at a place whose parent is there, as `check_parent` has made sure of.
fn change(item: &mut Item, path: &Path, what: impl FnOnce(Place<'_>)) {
    let Some((last, steps)) = path.steps().split_last() else {
        return what(Place::Field(item, path.column()));
    };
    let mut parent = item.get_mut(path.column());
    for step in steps {
        parent = match (parent, step) {
            (Some(Value::Map(values)), Step::Field(name)) => values.get_mut(name),
            (Some(Value::List(values)), Step::Index(index)) => values.get_mut(*index),
            _ => None,
        };
    }
    match (parent, last) {
        (Some(Value::Map(values)), Step::Field(name)) => what(Place::Field(values, name)),
        (Some(Value::List(values)), Step::Index(index)) => what(Place::Element(values, *index)),
        _ => {}
    }
}

/// Refuses a path into what is not there or is no map or list.
fn check_parent(item: &Item, path: &Path) -> Result<()> {
    let Some((last, steps)) = path.steps().split_last() else { return Ok(()) };
    let mut parent = item.get(path.column());
    for step in steps {
        parent = match (parent, step) {
            (Some(Value::Map(values)), Step::Field(name)) => values.get(name),
            (Some(Value::List(values)), Step::Index(index)) => values.get(*index),
            _ => None,
        };
    }
    match (parent, last) {
        (Some(Value::Map(_)), Step::Field(_)) | (Some(Value::List(_)), Step::Index(_)) => Ok(()),
        _ => Err(Error::validation(WRONG_PATH)),
    }
}

impl SetValue {
    fn of(&self, item: &Item) -> Result<Value> {
        let number = |value: &SetValue| match Seen::of(&value.of(item)?) {
            Seen::Number(number) => Ok(number),
            _ => Err(Error::validation(WRONG_TYPE)),
        };
        let list = |value: &SetValue| match value.of(item)? {
            Value::List(values) => Ok(values),
            _ => Err(Error::validation(WRONG_TYPE)),
        };
        match self {
            SetValue::Path(path) => {
                find(item, path).cloned().ok_or_else(|| Error::validation(MISSING))
            }
            SetValue::Value(value) => Ok(value.clone()),
            SetValue::IfNotExists(path, otherwise) => match find(item, path) {
                Some(value) => Ok(value.clone()),
                None => otherwise.of(item),
            },
            SetValue::ListAppend(a, b) => {
                let mut values = list(a)?;
                values.extend(list(b)?);
                Ok(Value::List(values))
            }
            SetValue::Sum(a, b) => add(&number(a)?, &number(b)?).map(Value::Decimal),
            SetValue::Difference(a, b) => subtract(&number(a)?, &number(b)?).map(Value::Decimal),
        }
    }
}

/// What `ADD` makes of a value.
fn sum(old: Option<&Value>, value: &Value, wrong_type: &str) -> Result<Value> {
    let Some(old) = old else { return Ok(value.clone()) };
    match (Seen::of(old), Seen::of(value)) {
        (Seen::Number(a), Seen::Number(b)) => add(&a, &b).map(Value::Decimal),
        (Seen::StringSet(a), Seen::StringSet(b)) => Ok(Value::StringSet(a | b)),
        (Seen::NumberSet(a), Seen::NumberSet(b)) => Ok(Value::NumberSet(a | b)),
        (Seen::BytesSet(a), Seen::BytesSet(b)) => Ok(Value::BytesSet(a | b)),
        _ => Err(Error::validation(wrong_type)),
    }
}

/// What `ADD` of the older parameter makes of a value: lists grow as well.
fn legacy_sum(old: Option<&Value>, value: &Value) -> Result<Value> {
    match (old, value) {
        (Some(Value::List(old)), Value::List(more)) => {
            Ok(Value::List(old.iter().chain(more).cloned().collect()))
        }
        _ => sum(old, value, LEGACY_WRONG_TYPE),
    }
}

/// What `DELETE` leaves of a set, and nothing if that is empty; none where types differ.
fn difference(old: &Value, value: &Value) -> Option<Option<Value>> {
    fn less<T: Ord + Clone>(a: &BTreeSet<T>, b: &BTreeSet<T>) -> Option<BTreeSet<T>> {
        let rest = a - b;
        (!rest.is_empty()).then_some(rest)
    }
    match (Seen::of(old), Seen::of(value)) {
        (Seen::StringSet(a), Seen::StringSet(b)) => Some(less(a, b).map(Value::StringSet)),
        (Seen::NumberSet(a), Seen::NumberSet(b)) => Some(less(a, b).map(Value::NumberSet)),
        (Seen::BytesSet(a), Seen::BytesSet(b)) => Some(less(a, b).map(Value::BytesSet)),
        _ => None,
    }
}
