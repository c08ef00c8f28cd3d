//! `ComparisonOperator` and its values.

use std::cmp::Ordering;

use serde_json::Value as Json;
use stonecrop::{Comparison, Path, Value};

use super::{INVALID, not_one_of};
use crate::error::{Error, Result};
use crate::expression::{Condition, KeyTest, Operand};
use crate::value::{AttributeType, decode, order};

const NAMES: &str = "IN, NULL, BETWEEN, LT, NOT_CONTAINS, EQ, GT, NOT_NULL, NE, LE, BEGINS_WITH, \
                     GE, CONTAINS";

/// How an attribute is compared with the values that come with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Operator {
    Compare(Comparison),
    In,
    Between,
    Null,
    NotNull,
    Contains,
    NotContains,
    BeginsWith,
}

impl Operator {
    pub(super) fn named(name: &str, place: &str) -> Result<Self> {
        Ok(match name {
            "EQ" => Operator::Compare(Comparison::Eq),
            "NE" => Operator::Compare(Comparison::Ne),
            "LE" => Operator::Compare(Comparison::Le),
            "LT" => Operator::Compare(Comparison::Lt),
            "GE" => Operator::Compare(Comparison::Ge),
            "GT" => Operator::Compare(Comparison::Gt),
            "IN" => Operator::In,
            "BETWEEN" => Operator::Between,
            "NULL" => Operator::Null,
            "NOT_NULL" => Operator::NotNull,
            "CONTAINS" => Operator::Contains,
            "NOT_CONTAINS" => Operator::NotContains,
            "BEGINS_WITH" => Operator::BeginsWith,
            _ => return Err(not_one_of(name, place, NAMES)),
        })
    }

    fn name(self) -> &'static str {
        match self {
            Operator::Compare(Comparison::Eq) => "EQ",
            Operator::Compare(Comparison::Ne) => "NE",
            Operator::Compare(Comparison::Le) => "LE",
            Operator::Compare(Comparison::Lt) => "LT",
            Operator::Compare(Comparison::Ge) => "GE",
            Operator::Compare(Comparison::Gt) => "GT",
            Operator::In => "IN",
            Operator::Between => "BETWEEN",
            Operator::Null => "NULL",
            Operator::NotNull => "NOT_NULL",
            Operator::Contains => "CONTAINS",
            Operator::NotContains => "NOT_CONTAINS",
            Operator::BeginsWith => "BEGINS_WITH",
        }
    }

    fn takes_count(self, count: usize) -> bool {
        match self {
            Operator::Null | Operator::NotNull => count == 0,
            Operator::In => count > 0,
            Operator::Between => count == 2,
            _ => count == 1,
        }
    }

    fn takes_type(self, of: AttributeType) -> bool {
        match self {
            // These are for all types.
            Operator::Compare(Comparison::Eq | Comparison::Ne)
            | Operator::Null
            | Operator::NotNull => true,
            Operator::Compare(_) | Operator::In | Operator::Between => of.is_ordered(),
            Operator::Contains | Operator::NotContains => {
                !of.is_set() && !matches!(of, AttributeType::List | AttributeType::Map)
            }
            Operator::BeginsWith => matches!(of, AttributeType::String | AttributeType::Binary),
        }
    }

    /// Refuses values that it can't compare with, in the service's order.
    pub(super) fn check(self, values: &[Value]) -> Result<()> {
        let name = self.name();
        if !self.takes_count(values.len()) {
            return Err(Error::validation(format!(
                "{INVALID}Invalid number of argument(s) for the {name} ComparisonOperator"
            )));
        }
        let mut types = values.iter().map(AttributeType::of);
        if let Some(first) = types.next()
            && types.any(|of| of != first)
        {
            return Err(Error::validation(format!(
                "{INVALID}AttributeValues inside AttributeValueList must be of same type"
            )));
        }
        if let Some(of) = values.iter().map(AttributeType::of).find(|of| !self.takes_type(*of)) {
            return Err(Error::validation(format!(
                "{INVALID}ComparisonOperator {name} is not valid for {of} AttributeValue type"
            )));
        }
        match (self, values) {
            (Operator::Between, [low, high]) if order(low, high) == Some(Ordering::Greater) => {
                Err(Error::validation(
                    "The BETWEEN condition was provided a range where the lower bound is greater \
                     than the upper bound",
                ))
            }
            _ => Ok(()),
        }
    }

    /// What it asks of an attribute, once the values are checked.
    pub(super) fn condition(self, attribute: &str, values: Vec<Value>) -> Condition {
        let path = || Path::new(attribute);
        let operand = || Operand::Path(path());
        let mut values = values.into_iter().map(Operand::Value);
        let mut next = || values.next().unwrap_or(Operand::Value(Value::Null));
        match self {
            Operator::Compare(how) => Condition::Compare(operand(), how, next()),
            Operator::In => Condition::In(operand(), values.collect()),
            Operator::Between => {
                let low = next();
                Condition::Between(operand(), low, next())
            }
            Operator::Null => Condition::NotExists(path()),
            Operator::NotNull => Condition::Exists(path()),
            Operator::Contains => Condition::Contains(operand(), next()),
            // Of what is not there neither is true.
            Operator::NotContains => Condition::All(vec![
                Condition::Exists(path()),
                Condition::Not(Box::new(Condition::Contains(operand(), next()))),
            ]),
            Operator::BeginsWith => Condition::BeginsWith(operand(), next()),
        }
    }

    /// What it asks of a key, once the values are checked.
    pub(super) fn key_test(self, values: Vec<Value>) -> KeyTest {
        let mut values = values.into_iter();
        match (self, values.next(), values.next()) {
            (Operator::Compare(Comparison::Eq), Some(value), _) => KeyTest::Equal(value),
            (Operator::Compare(Comparison::Lt), Some(value), _) => KeyTest::Below(value),
            (Operator::Compare(Comparison::Le), Some(value), _) => KeyTest::AtMost(value),
            (Operator::Compare(Comparison::Gt), Some(value), _) => KeyTest::Above(value),
            (Operator::Compare(Comparison::Ge), Some(value), _) => KeyTest::AtLeast(value),
            (Operator::Between, Some(low), Some(high)) => KeyTest::Between(low, high),
            (Operator::BeginsWith, Some(start), _) => KeyTest::BeginsWith(start),
            _ => KeyTest::NotIndexable,
        }
    }
}

/// The values of an `AttributeValueList`.
pub(super) fn value_list(json: Option<Json>) -> Result<Vec<Value>> {
    match json {
        None => Ok(Vec::new()),
        Some(Json::Array(values)) => values.into_iter().map(decode).collect(),
        Some(_) => Err(Error::serialization("Unexpected field type")),
    }
}
