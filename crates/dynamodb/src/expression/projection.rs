//! Projections: the parts of an item that are asked for.

use std::collections::BTreeMap;

use stonecrop::{Path, Step, Value};
use winnow::combinator::separated;
use winnow::prelude::*;

use super::grammar::{RawPath, RawStep, must, path, read, sign};
use super::placeholders::index;
use super::{Kind, Placeholders, check_apart, is_reserved, read_as};
use crate::error::Result;
use crate::value::Item;

/// The parts of items that are asked for.
///
/// ```
/// use serde_json::json;
/// use stonecrop_dynamodb::expression::{Placeholders, Projection};
/// use stonecrop_dynamodb::value::{decode_item, encode_item};
/// let projection = Projection::parse("a.b, l[2], l[0]", &mut Placeholders::default())?;
/// let item = decode_item(json!({
///     "a": {"M": {"b": {"N": "1"}, "c": {"N": "2"}}},
///     "l": {"L": [{"N": "0"}, {"N": "1"}, {"N": "2"}]},
/// }))?;
/// assert_eq!(encode_item(&projection.apply(&item)), json!({
///     "a": {"M": {"b": {"N": "1"}}},
///     "l": {"L": [{"N": "0"}, {"N": "2"}]},
/// }));
/// # Ok::<(), stonecrop_dynamodb::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Projection {
    paths: Vec<Path>,
}

impl Projection {
    /// Reads a `ProjectionExpression`.
    ///
    /// ```
    /// use stonecrop_dynamodb::expression::{Placeholders, Projection};
    /// let error = Projection::parse("a, a.b", &mut Placeholders::default()).unwrap_err();
    /// assert_eq!(
    ///     error.message(),
    ///     "Invalid ProjectionExpression: Two document paths overlap with each other; must remove \
    ///      or rewrite one of these paths; path one: [a], path two: [a, b]"
    /// );
    /// ```
    pub fn parse(text: &str, placeholders: &mut Placeholders) -> Result<Self> {
        read_as(Kind::Projection, text, |text| {
            let raw: Vec<RawPath<'_>> =
                read(text, &[], |input| separated(1.., must(path), sign(",")).parse_next(input))?;
            raw.iter().try_for_each(|path| check_words(path))?;
            let paths = raw.iter().map(|path| placeholders.path(path));
            let paths = paths.collect::<Result<Vec<_>, String>>()?;
            check_apart(&paths.iter().collect::<Vec<_>>())?;
            Ok(Projection { paths })
        })
    }

    /// Of these paths, which must not be in each other's way.
    ///
    /// ```
    /// use stonecrop_dynamodb::expression::{Path, Projection};
    /// assert_eq!(Projection::new(vec![Path::new("a")]).paths().len(), 1);
    /// ```
    pub fn new(paths: Vec<Path>) -> Self {
        Projection { paths }
    }

    /// The paths in it, in their order.
    ///
    /// ```
    /// use stonecrop_dynamodb::expression::{Path, Placeholders, Projection};
    /// let projection = Projection::parse("b, a[0]", &mut Placeholders::default())?;
    /// assert_eq!(projection.paths(), [Path::new("b"), Path::new("a").index(0)]);
    /// # Ok::<(), stonecrop_dynamodb::Error>(())
    /// ```
    pub fn paths(&self) -> &[Path] {
        &self.paths
    }

    /// The parts of an item that are there, in maps and lists as they were; lists close up.
    ///
    /// ```
    /// use stonecrop_dynamodb::expression::{Path, Projection};
    /// use stonecrop_dynamodb::value::Item;
    /// let projection = Projection::new(vec![Path::new("a")]);
    /// assert_eq!(projection.apply(&Item::from([("b".to_owned(), 1.into())])), Item::new());
    /// ```
    pub fn apply(&self, item: &Item) -> Item {
        project(item, self.paths.iter())
    }
}

pub(super) fn check_words(path: &[RawStep<'_>]) -> Result<(), String> {
    path.iter().try_for_each(|step| match step {
        RawStep::Word(name) if is_reserved(name) => {
            Err(format!("Attribute name is a reserved keyword; reserved keyword: {name}"))
        }
        RawStep::Index(digits) => index(digits).map(drop),
        _ => Ok(()),
    })
}

/// The parts of an item that paths lead to.
pub(super) fn project<'p>(item: &Item, paths: impl Iterator<Item = &'p Path>) -> Item {
    let mut parts = BTreeMap::<&str, Part<'_>>::new();
    for path in paths {
        if let Some(value) = item.get(path.column()) {
            let part = parts.entry(path.column()).or_insert_with(|| Part::empty(value));
            part.take(value, path.steps());
        }
    }
    let taken = parts.into_iter().filter_map(|(name, part)| Some((name.to_owned(), part.value()?)));
    taken.collect()
}

/// The parts of a value that were taken so far.
enum Part<'i> {
    Whole(&'i Value),
    Fields(BTreeMap<&'i str, Part<'i>>),
    Elements(BTreeMap<usize, Part<'i>>),
    Nothing,
}

impl<'i> Part<'i> {
    fn empty(value: &Value) -> Self {
        match value {
            Value::Map(_) => Part::Fields(BTreeMap::new()),
            Value::List(_) => Part::Elements(BTreeMap::new()),
            _ => Part::Nothing,
        }
    }

    fn take(&mut self, value: &'i Value, steps: &[Step]) {
        let Some((step, rest)) = steps.split_first() else {
            *self = Part::Whole(value);
            return;
        };
        match (self, step, value) {
            (Part::Fields(parts), Step::Field(name), Value::Map(values)) => {
                if let Some((name, value)) = values.get_key_value(name) {
                    parts.entry(name).or_insert_with(|| Part::empty(value)).take(value, rest);
                }
            }
            (Part::Elements(parts), Step::Index(index), Value::List(values)) => {
                if let Some(value) = values.get(*index) {
                    parts.entry(*index).or_insert_with(|| Part::empty(value)).take(value, rest);
                }
            }
            _ => {}
        }
    }

    /// What was taken; nothing where no path led anywhere.
    fn value(self) -> Option<Value> {
        match self {
            Part::Whole(value) => Some(value.clone()),
            Part::Nothing => None,
            Part::Fields(parts) => {
                let taken = parts.into_iter();
                let taken: BTreeMap<String, Value> = taken
                    .filter_map(|(name, part)| Some((name.to_owned(), part.value()?)))
                    .collect();
                (!taken.is_empty()).then_some(Value::Map(taken))
            }
            Part::Elements(parts) => {
                let taken: Vec<Value> = parts.into_values().filter_map(Part::value).collect();
                (!taken.is_empty()).then_some(Value::List(taken))
            }
        }
    }
}
