//! Whether a condition is true of an item.

use std::borrow::Cow;
use std::cmp::Ordering;

use stonecrop::{Comparison, Value};

use super::{Condition, Operand};
use crate::expression::find;
use crate::value::{AttributeType, Item, Seen, begins_with, contains, equal, order};

impl Condition {
    /// Whether it is true of an item; an item that is not there is an empty one.
    ///
    /// ```
    /// use stonecrop_dynamodb::expression::{Condition, Placeholders};
    /// use stonecrop_dynamodb::value::Item;
    /// let parse = |text| Condition::parse(text, &mut Placeholders::default());
    /// // What is missing is not equal to anything, not even to what is missing as well.
    /// assert!(!parse("a = b")?.matches(&Item::new()));
    /// assert!(parse("a <> b")?.matches(&Item::new()));
    /// # Ok::<(), stonecrop_dynamodb::Error>(())
    /// ```
    pub fn matches(&self, item: &Item) -> bool {
        match self {
            Condition::All(all) => all.iter().all(|condition| condition.matches(item)),
            Condition::Any(any) => any.iter().any(|condition| condition.matches(item)),
            Condition::Not(condition) => !condition.matches(item),
            Condition::Compare(a, how, b) => compare(a.find(item), *how, b.find(item)),
            Condition::Between(a, low, high) => {
                let a = a.find(item);
                compare(a.clone(), Comparison::Ge, low.find(item))
                    && compare(a, Comparison::Le, high.find(item))
            }
            Condition::In(a, others) => {
                let a = a.find(item);
                others.iter().any(|other| compare(a.clone(), Comparison::Eq, other.find(item)))
            }
            Condition::Exists(path) => find(item, path).is_some(),
            Condition::NotExists(path) => find(item, path).is_none(),
            Condition::IsType(operand, of) => {
                operand.find(item).is_some_and(|value| AttributeType::of(&value) == *of)
            }
            Condition::BeginsWith(whole, start) => {
                both(whole.find(item), start.find(item), begins_with)
            }
            Condition::Contains(whole, part) => both(whole.find(item), part.find(item), contains),
        }
    }
}

fn both(
    a: Option<Cow<'_, Value>>,
    b: Option<Cow<'_, Value>>,
    test: fn(&Value, &Value) -> bool,
) -> bool {
    a.zip(b).is_some_and(|(a, b)| test(&a, &b))
}

fn compare(a: Option<Cow<'_, Value>>, how: Comparison, b: Option<Cow<'_, Value>>) -> bool {
    let Some((a, b)) = a.zip(b) else { return how == Comparison::Ne };
    match how {
        Comparison::Eq => equal(&a, &b),
        Comparison::Ne => !equal(&a, &b),
        Comparison::Lt => order(&a, &b) == Some(Ordering::Less),
        Comparison::Le => order(&a, &b).is_some_and(Ordering::is_le),
        Comparison::Gt => order(&a, &b) == Some(Ordering::Greater),
        Comparison::Ge => order(&a, &b).is_some_and(Ordering::is_ge),
    }
}

impl Operand {
    /// Its value in an item, if there is one.
    fn find<'v>(&'v self, item: &'v Item) -> Option<Cow<'v, Value>> {
        match self {
            Operand::Path(path) => find(item, path).map(Cow::Borrowed),
            Operand::Value(value) => Some(Cow::Borrowed(value)),
            Operand::Size(of) => size(&*of.find(item)?).map(Cow::Owned),
        }
    }
}

fn size(value: &Value) -> Option<Value> {
    let size = match Seen::of(value) {
        Seen::Text(text) => text.encode_utf16().count(),
        Seen::Bytes(bytes) => bytes.len(),
        Seen::List(values) => values.len(),
        Seen::Map(values) => values.len(),
        Seen::StringSet(values) => values.len(),
        Seen::NumberSet(values) => values.len(),
        Seen::BytesSet(values) => values.len(),
        Seen::Number(_) | Seen::Bool(_) | Seen::Null => return None,
    };
    i64::try_from(size).ok().map(Value::Int)
}
