//! Key conditions: which part of a table or an index a query reads.

use std::cmp::Ordering;

use stonecrop::{Comparison, Value};

use super::{Condition, Operand};
use crate::error::{Error, Result};
use crate::value::{AttributeType, begins_with, equal, order};

/// What a query says of its key attributes, each at most once.
///
/// ```
/// use serde_json::json;
/// use stonecrop_dynamodb::expression::{Condition, KeyAttribute, KeyConditions, KeyTest};
/// use stonecrop_dynamodb::expression::Placeholders;
/// use stonecrop_dynamodb::value::AttributeType;
///
/// let values = json!({":id": {"S": "a"}, ":from": {"N": "5"}});
/// let mut placeholders = Placeholders::from_json(None, Some(values))?;
/// let text = "id = :id AND taken >= :from";
/// let condition = Condition::parse_key_condition(text, &mut placeholders)?;
/// let conditions = KeyConditions::new(&condition)?;
/// let search = conditions.search(
///     &[KeyAttribute::new("id", AttributeType::String)],
///     &[KeyAttribute::new("taken", AttributeType::Number)],
/// )?;
/// assert_eq!(search.partition, ["a".into()]);
/// assert!(matches!(search.range, Some(KeyTest::AtLeast(_))));
/// # Ok::<(), stonecrop_dynamodb::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct KeyConditions {
    tests: Vec<(String, KeyTest)>,
}

/// What is asked of one key attribute.
///
/// ```
/// use stonecrop_dynamodb::expression::KeyTest;
/// assert!(KeyTest::Between(1.into(), 3.into()).matches(&3.into()));
/// assert!(!KeyTest::Below(3.into()).matches(&3.into()));
/// ```
#[derive(Clone, Debug, PartialEq)]
pub enum KeyTest {
    /// It is this.
    Equal(Value),
    /// It is smaller.
    Below(Value),
    /// It is this or smaller.
    AtMost(Value),
    /// It is larger.
    Above(Value),
    /// It is this or larger.
    AtLeast(Value),
    /// It is one of these or between them.
    Between(Value, Value),
    /// A string or binary begins with this.
    BeginsWith(Value),
    /// A test of the older `KeyConditions` that no key can be searched by.
    NotIndexable,
}

impl KeyTest {
    /// Whether it is true of a value.
    ///
    /// ```
    /// use stonecrop_dynamodb::expression::KeyTest;
    /// assert!(KeyTest::BeginsWith("a".into()).matches(&"abc".into()));
    /// ```
    pub fn matches(&self, value: &Value) -> bool {
        let is = |other: &Value, test: fn(Ordering) -> bool| order(value, other).is_some_and(test);
        match self {
            KeyTest::Equal(other) => equal(value, other),
            KeyTest::Below(other) => is(other, Ordering::is_lt),
            KeyTest::AtMost(other) => is(other, Ordering::is_le),
            KeyTest::Above(other) => is(other, Ordering::is_gt),
            KeyTest::AtLeast(other) => is(other, Ordering::is_ge),
            KeyTest::Between(low, high) => is(low, Ordering::is_ge) && is(high, Ordering::is_le),
            KeyTest::BeginsWith(start) => begins_with(value, start),
            KeyTest::NotIndexable => false,
        }
    }

    fn values(&self) -> Vec<&Value> {
        match self {
            KeyTest::Equal(value)
            | KeyTest::Below(value)
            | KeyTest::AtMost(value)
            | KeyTest::Above(value)
            | KeyTest::AtLeast(value)
            | KeyTest::BeginsWith(value) => vec![value],
            KeyTest::Between(low, high) => vec![low, high],
            KeyTest::NotIndexable => vec![],
        }
    }
}

/// An attribute of a key, and the type that it was declared with.
///
/// ```
/// use stonecrop_dynamodb::expression::KeyAttribute;
/// use stonecrop_dynamodb::value::AttributeType;
/// assert_eq!(KeyAttribute::new("id", AttributeType::String).name, "id");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyAttribute<'k> {
    /// Its name.
    pub name: &'k str,
    /// Its type.
    pub of: AttributeType,
}

impl<'k> KeyAttribute<'k> {
    /// An attribute of this name and type.
    ///
    /// ```
    /// use stonecrop_dynamodb::expression::KeyAttribute;
    /// use stonecrop_dynamodb::value::AttributeType;
    /// let key = KeyAttribute::new("at", AttributeType::Number);
    /// assert_eq!(key.of, AttributeType::Number);
    /// ```
    pub fn new(name: &'k str, of: AttributeType) -> Self {
        KeyAttribute { name, of }
    }
}

/// The part of a table or an index to read: the partition, the sort attributes that are known from
/// the left, and what is asked of the next one.
///
/// ```
/// use stonecrop_dynamodb::expression::KeySearch;
/// let search = KeySearch { partition: vec!["a".into()], sort: vec![], range: None };
/// assert_eq!(search.partition.len(), 1);
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct KeySearch {
    /// The value of each partition attribute.
    pub partition: Vec<Value>,
    /// The values of the first sort attributes, which are equal to them.
    pub sort: Vec<Value>,
    /// What is asked of the sort attribute after those, never that it is equal.
    pub range: Option<KeyTest>,
}

impl KeyConditions {
    /// From a condition, if it has only what key conditions can have.
    ///
    /// ```
    /// use stonecrop_dynamodb::expression::{Condition, KeyConditions, Placeholders};
    /// let condition = Condition::parse_key_condition("a = b OR c = d", &mut Placeholders::default())?;
    /// assert_eq!(
    ///     KeyConditions::new(&condition).unwrap_err().message(),
    ///     "Invalid operator used in KeyConditionExpression: OR"
    /// );
    /// # Ok::<(), stonecrop_dynamodb::Error>(())
    /// ```
    pub fn new(condition: &Condition) -> Result<Self> {
        let mut tests = Vec::new();
        collect(condition, &mut tests)?;
        Ok(KeyConditions { tests })
    }

    /// Of these tests, one an attribute.
    ///
    /// ```
    /// use stonecrop_dynamodb::expression::{KeyConditions, KeyTest};
    /// let conditions = KeyConditions::from_tests(vec![("a".into(), KeyTest::Equal(1.into()))]);
    /// assert_eq!(conditions.tests().len(), 1);
    /// ```
    pub fn from_tests(tests: Vec<(String, KeyTest)>) -> Self {
        KeyConditions { tests }
    }

    /// The attributes and what is asked of each.
    ///
    /// ```
    /// use stonecrop_dynamodb::expression::KeyConditions;
    /// assert!(KeyConditions::from_tests(vec![]).tests().is_empty());
    /// ```
    pub fn tests(&self) -> &[(String, KeyTest)] {
        &self.tests
    }

    /// Fits them to a key: all partition attributes must be given, and sort attributes from the
    /// left without a gap, of which only the last may be a range.
    ///
    /// ```
    /// use stonecrop_dynamodb::expression::{KeyAttribute, KeyConditions, KeyTest};
    /// use stonecrop_dynamodb::value::AttributeType;
    /// let conditions = KeyConditions::from_tests(vec![("a".into(), KeyTest::Equal(1.into()))]);
    /// let key = KeyAttribute::new("b", AttributeType::Number);
    /// assert_eq!(
    ///     conditions.search(&[key], &[]).unwrap_err().message(),
    ///     "Query condition missed key schema element: b"
    /// );
    /// ```
    pub fn search(
        &self,
        partition: &[KeyAttribute<'_>],
        sort: &[KeyAttribute<'_>],
    ) -> Result<KeySearch> {
        let attributes = partition.len() + sort.len();
        if self.tests.is_empty() || (attributes <= 2 && self.tests.len() > 2) {
            return Err(Error::validation("Conditions can be of length 1 or 2 only"));
        }
        if self.tests.len() > attributes {
            return Err(not_supported());
        }
        let mut search = KeySearch { partition: Vec::new(), sort: Vec::new(), range: None };
        self.check_order(sort)?;
        let mut left = self.tests.len();
        for key in partition {
            let Some(test) = self.test(key)? else { return Err(missed(key)) };
            let KeyTest::Equal(value) = test else { return Err(not_supported()) };
            search.partition.push(value.clone());
            left -= 1;
        }
        for key in sort {
            if left == 0 {
                break;
            }
            let Some(test) = self.test(key)? else { return Err(missed(key)) };
            left -= 1;
            match test {
                KeyTest::Equal(value) => search.sort.push(value.clone()),
                range => search.range = Some(range.clone()),
            }
        }
        match left {
            0 => Ok(search),
            _ => Err(not_supported()),
        }
    }

    /// Refuses a test of a sort attribute where one before it is not known.
    fn check_order(&self, sort: &[KeyAttribute<'_>]) -> Result<()> {
        let test = |key: &KeyAttribute<'_>| self.tests.iter().find(|(name, _)| name == key.name);
        let known = |key: &KeyAttribute<'_>| matches!(test(key), Some((_, KeyTest::Equal(_))));
        for (at, later) in sort.iter().enumerate() {
            let unknown = sort.iter().take(at).find(|earlier| !known(earlier));
            if let (Some(earlier), Some(_)) = (unknown, test(later)) {
                return Err(Error::validation(format!(
                    "RANGE key attributes {} must have equality conditions specified in the query \
                     because a condition is present on key attribute {}",
                    earlier.name, later.name
                )));
            }
        }
        Ok(())
    }

    /// What is asked of an attribute, if that can be searched and is of its type.
    fn test(&self, key: &KeyAttribute<'_>) -> Result<Option<&KeyTest>> {
        let Some((_, test)) = self.tests.iter().find(|(name, _)| name == key.name) else {
            return Ok(None);
        };
        if *test == KeyTest::NotIndexable {
            let problem = "Attempted conditional constraint is not an indexable operation";
            return Err(Error::validation(problem));
        }
        if test.values().into_iter().any(|value| AttributeType::of(value) != key.of) {
            return Err(Error::validation(
                "One or more parameter values were invalid: \
                 Condition parameter type does not match schema type",
            ));
        }
        Ok(Some(test))
    }
}

fn missed(key: &KeyAttribute<'_>) -> Error {
    Error::validation(format!("Query condition missed key schema element: {}", key.name))
}

fn not_supported() -> Error {
    Error::validation("Query key condition not supported")
}

fn collect(condition: &Condition, tests: &mut Vec<(String, KeyTest)>) -> Result<()> {
    let operator = |name: &str| {
        Err(Error::validation(format!("Invalid operator used in KeyConditionExpression: {name}")))
    };
    let first = |name: &str| {
        Err(Error::validation(format!(
            "Invalid condition in KeyConditionExpression: {name} operator must have the key \
             attribute as its first operand"
        )))
    };
    match condition {
        Condition::All(parts) => parts.iter().try_for_each(|part| collect(part, tests)),
        Condition::Any(_) => operator("OR"),
        Condition::Not(_) => operator("NOT"),
        Condition::In(..) => operator("IN"),
        Condition::Exists(_) => operator("attribute_exists"),
        Condition::NotExists(_) => operator("attribute_not_exists"),
        Condition::IsType(..) => operator("attribute_type"),
        Condition::Contains(..) => operator("contains"),
        Condition::Compare(_, Comparison::Ne, _) => operator("<>"),
        Condition::Between(Operand::Value(_), ..) => first("BETWEEN"),
        Condition::BeginsWith(Operand::Value(_), _) => first("begins_with"),
        Condition::Compare(a, how, b) => {
            let (name, mut values) = sides(&[a, b])?;
            let how = if matches!(a, Operand::Value(_)) { turned(*how) } else { *how };
            let Some(value) = values.pop() else { return Err(no_attribute()) };
            push(tests, name, compared(how, value))
        }
        Condition::Between(a, low, high) => {
            let (name, mut values) = sides(&[a, low, high])?;
            let (high, low) = (values.pop(), values.pop());
            let Some((low, high)) = low.zip(high) else { return Err(no_attribute()) };
            push(tests, name, KeyTest::Between(low, high))
        }
        Condition::BeginsWith(a, start) => {
            let (name, mut values) = sides(&[a, start])?;
            let Some(start) = values.pop() else { return Err(no_attribute()) };
            push(tests, name, KeyTest::BeginsWith(start))
        }
    }
}

fn no_attribute() -> Error {
    Error::validation("Invalid condition in KeyConditionExpression: No key attribute specified")
}

/// The one attribute among the operands, and the values.
fn sides(operands: &[&Operand]) -> Result<(String, Vec<Value>)> {
    let mut name = None;
    let mut values = Vec::new();
    for operand in operands {
        match operand {
            Operand::Size(_) => {
                let problem = "KeyConditionExpressions cannot contain nested operations";
                return Err(Error::validation(problem));
            }
            Operand::Path(_) if name.is_some() => {
                return Err(Error::validation(
                    "Invalid condition in KeyConditionExpression: \
                     Multiple attribute names used in one condition",
                ));
            }
            Operand::Path(path) if !path.steps().is_empty() => {
                return Err(Error::validation(
                    "KeyConditionExpressions cannot have conditions on nested attributes",
                ));
            }
            Operand::Path(path) => name = Some(path.column().to_owned()),
            Operand::Value(value) => values.push(value.clone()),
        }
    }
    Ok((name.ok_or_else(no_attribute)?, values))
}

/// The comparison with its sides the other way round.
fn turned(how: Comparison) -> Comparison {
    match how {
        Comparison::Lt => Comparison::Gt,
        Comparison::Le => Comparison::Ge,
        Comparison::Gt => Comparison::Lt,
        Comparison::Ge => Comparison::Le,
        Comparison::Eq | Comparison::Ne => how,
    }
}

fn compared(how: Comparison, value: Value) -> KeyTest {
    match how {
        Comparison::Lt => KeyTest::Below(value),
        Comparison::Le => KeyTest::AtMost(value),
        Comparison::Gt => KeyTest::Above(value),
        Comparison::Ge => KeyTest::AtLeast(value),
        Comparison::Eq | Comparison::Ne => KeyTest::Equal(value),
    }
}

fn push(tests: &mut Vec<(String, KeyTest)>, name: String, test: KeyTest) -> Result<()> {
    if tests.iter().any(|(other, _)| *other == name) {
        return Err(Error::validation(
            "KeyConditionExpressions must only contain one condition per key",
        ));
    }
    tests.push((name, test));
    Ok(())
}
