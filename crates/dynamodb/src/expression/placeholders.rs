//! What `#name` and `:value` stand for, and which of them were used.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value as Json;
use stonecrop::{Path, Value};

use super::grammar::RawStep;
use crate::error::{Error, Result};
use crate::value::{MAX_NESTING, decode};

const NAMES: &str = "ExpressionAttributeNames";
const VALUES: &str = "ExpressionAttributeValues";
/// The longest placeholder, in bytes.
const MAX_KEY_BYTES: usize = 255;
const NO_NAME: &str = "a path begins with a name";
const MAX_INDEX: u64 = u32::MAX as u64 - 1;

/// `ExpressionAttributeNames` and `ExpressionAttributeValues` of a request.
///
/// ```
/// use serde_json::json;
/// use stonecrop_dynamodb::expression::{Placeholders, Projection};
/// let mut placeholders = Placeholders::from_json(Some(json!({"#n": "name", "#x": "x"})), None)?;
/// Projection::parse("#n", &mut placeholders)?;
/// assert_eq!(
///     placeholders.check_all_used().unwrap_err().message(),
///     "Value provided in ExpressionAttributeNames unused in expressions: keys: {#x}"
/// );
/// # Ok::<(), stonecrop_dynamodb::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Placeholders {
    names: BTreeMap<String, String>,
    values: BTreeMap<String, Value>,
    used_names: BTreeSet<String>,
    used_values: BTreeSet<String>,
}

impl Placeholders {
    /// From what the request has, in the service's order of checks: the names, the keys of the
    /// values, the values.
    ///
    /// ```
    /// use serde_json::json;
    /// use stonecrop_dynamodb::expression::Placeholders;
    /// let message = |names, values| {
    ///     Placeholders::from_json(names, values).unwrap_err().message().to_owned()
    /// };
    /// assert_eq!(message(Some(json!({})), None), "ExpressionAttributeNames must not be empty");
    /// assert_eq!(
    ///     message(None, Some(json!({"v": {"S": "a"}}))),
    ///     "ExpressionAttributeValues contains invalid key: Syntax error; key: \"v\""
    /// );
    /// assert_eq!(
    ///     message(None, Some(json!({":v": {"N": "a"}}))),
    ///     "ExpressionAttributeValues contains invalid value: \
    ///      The parameter cannot be converted to a numeric value: a for key :v"
    /// );
    /// ```
    pub fn from_json(names: Option<Json>, values: Option<Json>) -> Result<Self> {
        let mut placeholders = Placeholders::default();
        if let Some(names) = names {
            placeholders.names = read_names(names)?;
        }
        if let Some(values) = values {
            placeholders.values = read_values(values)?;
        }
        Ok(placeholders)
    }

    /// From what is known already, unchecked.
    ///
    /// ```
    /// use std::collections::BTreeMap;
    /// use stonecrop_dynamodb::expression::{Condition, Placeholders};
    /// let values = BTreeMap::from([(":v".to_owned(), 1.into())]);
    /// let mut placeholders = Placeholders::new(BTreeMap::new(), values);
    /// assert!(Condition::parse("a = :v", &mut placeholders).is_ok());
    /// ```
    pub fn new(names: BTreeMap<String, String>, values: BTreeMap<String, Value>) -> Self {
        Placeholders { names, values, ..Placeholders::default() }
    }

    /// Refuses names and values that none of the expressions had, once all of them are read.
    ///
    /// ```
    /// use stonecrop_dynamodb::expression::Placeholders;
    /// let values = serde_json::json!({":x": {"S": "a"}});
    /// let error = Placeholders::from_json(None, Some(values))?.check_all_used().unwrap_err();
    /// assert_eq!(
    ///     error.message(),
    ///     "Value provided in ExpressionAttributeValues unused in expressions: keys: {:x}"
    /// );
    /// # Ok::<(), stonecrop_dynamodb::Error>(())
    /// ```
    pub fn check_all_used(&self) -> Result<()> {
        unused(NAMES, self.names.keys(), &self.used_names)?;
        unused(VALUES, self.values.keys(), &self.used_values)
    }

    /// What a value stands for.
    pub(super) fn value(&mut self, key: &str) -> Result<Value, String> {
        let value = self.look_at(key)?.clone();
        self.used_values.insert(key.to_owned());
        Ok(value)
    }

    /// What a value stands for, without using it.
    pub(super) fn look_at(&self, key: &str) -> Result<&Value, String> {
        self.values.get(key).ok_or_else(|| {
            format!(
                "An expression attribute value used in expression is not defined; \
                 attribute value: {key}"
            )
        })
    }

    /// Where a path leads.
    pub(super) fn path(&mut self, raw: &[RawStep<'_>]) -> Result<Path, String> {
        self.check_path(raw)?;
        let mut path: Option<Path> = None;
        for step in raw {
            path = Some(match (step, path) {
                (RawStep::Index(digits), Some(path)) => path.index(index(digits)?),
                (RawStep::Index(_), None) => return Err(NO_NAME.to_owned()),
                (RawStep::Word(name), path) => lead_on(path, name),
                (RawStep::Name(key), path) => lead_on(path, self.name(key)?),
            });
        }
        path.ok_or_else(|| NO_NAME.to_owned())
    }

    /// Refuses a path that leads nowhere, and uses the names in it.
    pub(super) fn check_path(&mut self, raw: &[RawStep<'_>]) -> Result<(), String> {
        for step in raw {
            match step {
                RawStep::Word(_) => {}
                RawStep::Index(digits) => drop(index(digits)?),
                RawStep::Name(key) => {
                    self.name(key)?;
                    self.used_names.insert((*key).to_owned());
                }
            }
        }
        if raw.len() > MAX_NESTING {
            return Err(format!(
                "The document path has too many nesting levels; nesting levels: {}",
                raw.len()
            ));
        }
        Ok(())
    }

    fn name(&self, key: &str) -> Result<&str, String> {
        self.names.get(key).map(String::as_str).ok_or_else(|| {
            format!(
                "An expression attribute name used in the document path is not defined; \
                 attribute name: {key}"
            )
        })
    }
}

/// The path to a name in what another leads to.
fn lead_on(path: Option<Path>, name: &str) -> Path {
    match path {
        Some(path) => path.field(name),
        None => Path::new(name),
    }
}

/// The place in a list, which has a limit.
pub(super) fn index(digits: &str) -> Result<usize, String> {
    let index = digits.parse::<u64>().ok().filter(|index| *index <= MAX_INDEX);
    index
        .and_then(|index| usize::try_from(index).ok())
        .ok_or_else(|| format!("List index is not within the allowable range; index: [{digits}]"))
}

fn unused<'k>(
    parameter: &str,
    keys: impl Iterator<Item = &'k String>,
    used: &BTreeSet<String>,
) -> Result<()> {
    let unused: Vec<&str> = keys.filter(|key| !used.contains(*key)).map(String::as_str).collect();
    match unused.is_empty() {
        true => Ok(()),
        false => Err(Error::validation(format!(
            "Value provided in {parameter} unused in expressions: keys: {{{}}}",
            unused.join(", ")
        ))),
    }
}

fn check_key(parameter: &str, key: &str, first: char) -> Result<()> {
    if key.len() > MAX_KEY_BYTES {
        return Err(Error::validation(format!(
            "{parameter} contains invalid key: The expression attribute map contains a key that \
             is too long; size of key: {}",
            key.len()
        )));
    }
    let part = |character: char| character.is_ascii_alphanumeric() || character == '_';
    match key.strip_prefix(first) {
        Some(rest) if !rest.is_empty() && rest.chars().all(part) => Ok(()),
        _ => Err(Error::validation(format!(
            "{parameter} contains invalid key: Syntax error; key: \"{key}\""
        ))),
    }
}

fn entries(parameter: &str, json: Json) -> Result<serde_json::Map<String, Json>> {
    match json {
        Json::Object(entries) if entries.is_empty() => {
            Err(Error::validation(format!("{parameter} must not be empty")))
        }
        Json::Object(entries) => Ok(entries),
        _ => Err(Error::serialization("Unexpected field type")),
    }
}

fn read_names(json: Json) -> Result<BTreeMap<String, String>> {
    let entries = entries(NAMES, json)?;
    let mut names = BTreeMap::new();
    for (key, json) in entries {
        check_key(NAMES, &key, '#')?;
        match json {
            Json::String(name) if name.is_empty() => {
                return Err(Error::validation(format!(
                    "{NAMES} contains invalid value: Empty attribute name for key {key}"
                )));
            }
            Json::String(name) => names.insert(key, name),
            _ => return Err(Error::serialization("Unexpected field type")),
        };
    }
    Ok(names)
}

fn read_values(json: Json) -> Result<BTreeMap<String, Value>> {
    let entries = entries(VALUES, json)?;
    for key in entries.keys() {
        check_key(VALUES, key, ':')?;
    }
    let read = |(key, json): (String, Json)| {
        let value = decode(json).map_err(|error| {
            error.wrapped(|problem| {
                format!("{VALUES} contains invalid value: {problem} for key {key}")
            })
        })?;
        Ok((key, value))
    };
    entries.into_iter().map(read).collect()
}
