//! Rows in a plain list, and what conditions and orders mean for them, in the simplest words.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use stonecrop::keys::Value as KeyValue;
use stonecrop::{
    Comparison, Condition, Index, Path, Row, Sort, SortDirection, SortNulls, Step, Timestamp, Value,
};

/// The columns that arrived together.
#[derive(Clone, Debug, Default)]
pub(super) struct ModelFamily {
    pub(super) columns: BTreeMap<&'static str, Value>,
    pub(super) written_at: Option<Timestamp>,
    pub(super) fresh_until: Option<Timestamp>,
    pub(super) gone_at: Option<Timestamp>,
}

/// A row: its key by the names of the fields, and its families by name.
#[derive(Clone, Debug)]
pub(super) struct ModelRow {
    pub(super) key: Vec<(&'static str, Value)>,
    pub(super) families: BTreeMap<&'static str, ModelFamily>,
}

/// A row as it is seen at a time.
#[derive(Clone, Debug)]
pub(super) struct Seen {
    pub(super) key: Vec<(&'static str, Value)>,
    pub(super) cells: BTreeMap<&'static str, SeenCell>,
    /// Whether a family is fresh, for those that are there.
    pub(super) families: BTreeMap<&'static str, bool>,
}

#[derive(Clone, Debug)]
pub(super) struct SeenCell {
    pub(super) value: Value,
    pub(super) fresh: bool,
    pub(super) written_at: Timestamp,
}

impl ModelRow {
    /// None once all of it is gone.
    pub(super) fn see(&self, now: Timestamp) -> Option<Seen> {
        let mut seen =
            Seen { key: self.key.clone(), cells: BTreeMap::new(), families: BTreeMap::new() };
        for (name, family) in &self.families {
            if family.gone_at.is_some_and(|at| at <= now) {
                continue;
            }
            let fresh = family.fresh_until.is_none_or(|until| now < until);
            seen.families.insert(name, fresh);
            for (column, value) in &family.columns {
                let written_at = family.written_at.unwrap();
                let cell = SeenCell { value: value.clone(), fresh, written_at };
                seen.cells.insert(column, cell);
            }
        }
        (!seen.families.is_empty()).then_some(seen)
    }
}

impl Seen {
    pub(super) fn key_text(&self) -> String {
        let values: Vec<&Value> = self.key.iter().map(|(_, value)| value).collect();
        format!("{values:?}")
    }

    fn column(&self, name: &str) -> Option<&Value> {
        let key = self.key.iter().find(|(field, _)| *field == name).map(|(_, value)| value);
        key.or_else(|| self.cells.get(name).map(|cell| &cell.value))
    }

    pub(super) fn at(&self, path: &Path) -> Option<&Value> {
        let mut value = self.column(path.column())?;
        for step in path.steps() {
            value = match (step, value) {
                (Step::Field(name), Value::Map(map)) => map.get(name)?,
                (Step::Index(index), Value::List(list)) => list.get(*index)?,
                _ => return None,
            };
        }
        Some(value)
    }

    /// Whether a column is fresh, and when it was written; none where it is not there.
    fn age(&self, column: &str) -> Option<(bool, Option<Timestamp>)> {
        if self.key.iter().any(|(field, _)| *field == column) {
            return Some((true, None));
        }
        self.cells.get(column).map(|cell| (cell.fresh, Some(cell.written_at)))
    }

    pub(super) fn satisfies(&self, condition: &Condition) -> bool {
        match condition {
            Condition::Exists => true,
            Condition::NotExists => false,
            Condition::Has(path) => self.at(path).is_some(),
            Condition::IsNull(path) => self.at(path) == Some(&Value::Null),
            Condition::HasValue(path) => self.at(path).is_some_and(|value| *value != Value::Null),
            Condition::Compare(path, how, other) => {
                self.at(path).is_some_and(|value| holds(*how, compare(value, other)))
            }
            Condition::In(path, others) => self.at(path).is_some_and(|value| {
                others.iter().any(|other| compare(value, other) == Some(Ordering::Equal))
            }),
            Condition::Between(path, low, high) => self.at(path).is_some_and(|value| {
                holds(Comparison::Ge, compare(value, low))
                    && holds(Comparison::Le, compare(value, high))
            }),
            Condition::BeginsWith(path, start) => match (self.at(path), start) {
                (Some(Value::String(text)), Value::String(start)) => text.starts_with(start),
                (Some(Value::Bytes(bytes)), Value::Bytes(start)) => bytes.starts_with(start),
                _ => false,
            },
            Condition::Contains(path, part) => match (self.at(path), part) {
                (Some(Value::String(text)), Value::String(part)) => text.contains(part),
                (Some(Value::Bytes(bytes)), Value::Bytes(part)) => {
                    part.is_empty() || bytes.windows(part.len()).any(|window| window == part)
                }
                (Some(Value::List(list)), part) => {
                    list.iter().any(|value| compare(value, part) == Some(Ordering::Equal))
                }
                _ => false,
            },
            Condition::WrittenAt(column, how, time) => {
                let written_at = self.age(column).and_then(|(_, written_at)| written_at);
                written_at.is_some_and(|at| holds(*how, Some(at.cmp(time))))
            }
            Condition::IsFresh(column) => self.age(column).is_some_and(|(fresh, _)| fresh),
            Condition::IsStale(column) => self.age(column).is_some_and(|(fresh, _)| !fresh),
            Condition::All(all) => all.iter().all(|one| self.satisfies(one)),
            Condition::Any(any) => any.iter().any(|one| self.satisfies(one)),
            Condition::Not(one) => !self.satisfies(one),
            other => panic!("{other:?}"),
        }
    }

    /// Whether the row has an entry in an index.
    pub(super) fn is_in(&self, index: &Index) -> bool {
        index.columns().fields().iter().all(|field| {
            let nullable = field.nulls() != stonecrop::keys::Nulls::NotAllowed;
            self.column(field.name()).is_some_and(|value| nullable || *value != Value::Null)
        })
    }
}

fn holds(how: Comparison, order: Option<Ordering>) -> bool {
    match how {
        Comparison::Eq => order == Some(Ordering::Equal),
        Comparison::Ne => order != Some(Ordering::Equal),
        Comparison::Lt => order == Some(Ordering::Less),
        Comparison::Le => order.is_some_and(Ordering::is_le),
        Comparison::Gt => order == Some(Ordering::Greater),
        Comparison::Ge => order.is_some_and(Ordering::is_ge),
    }
}

/// Numbers in hundredths, which is exact for all that the tests have; infinity is beyond.
pub(super) fn hundredths(value: &Value) -> Option<i128> {
    match value {
        Value::Int(int) => Some(i128::from(*int) * 100),
        Value::Float(float) if float.is_infinite() => Some(i128::MAX),
        Value::Float(float) => Some((float * 100.0) as i128),
        Value::Decimal(decimal) => {
            let text = decimal.to_string();
            let (whole, part) = text.split_once('.').unwrap_or((&text, ""));
            format!("{whole}{part:0<2}").parse().ok()
        }
        _ => None,
    }
}

fn compare(a: &Value, b: &Value) -> Option<Ordering> {
    if let (Some(a), Some(b)) = (hundredths(a), hundredths(b)) {
        return Some(a.cmp(&b));
    }
    match (a, b) {
        (Value::Null, Value::Null) => Some(Ordering::Equal),
        (Value::Bool(a), Value::Bool(b)) => Some(a.cmp(b)),
        (Value::String(a), Value::String(b)) => Some(a.cmp(b)),
        (Value::Bytes(a), Value::Bytes(b)) => Some(a.cmp(b)),
        (Value::Timestamp(a), Value::Timestamp(b)) => Some(a.cmp(b)),
        (Value::List(a), Value::List(b)) => {
            for (a, b) in a.iter().zip(b) {
                match compare(a, b)? {
                    Ordering::Equal => {}
                    order => return Some(order),
                }
            }
            Some(a.len().cmp(&b.len()))
        }
        (Value::Map(_), Value::Map(_)) => {
            (order(a, b) == Ordering::Equal).then_some(Ordering::Equal)
        }
        _ => None,
    }
}

/// The order of all values.
pub(super) fn order(a: &Value, b: &Value) -> Ordering {
    let kind = |value: &Value| match value {
        Value::Null => 0,
        Value::Bool(_) => 1,
        Value::Int(_) | Value::Float(_) | Value::Decimal(_) => 2,
        Value::String(_) => 3,
        Value::Bytes(_) => 4,
        Value::Timestamp(_) => 5,
        Value::List(_) => 6,
        Value::Map(_) => 7,
        other => panic!("{other:?}"),
    };
    match (a, b) {
        (Value::List(a), Value::List(b)) => {
            let pairs = a.iter().zip(b).map(|(a, b)| order(a, b));
            pairs.fold(Ordering::Equal, Ordering::then).then(a.len().cmp(&b.len()))
        }
        (Value::Map(a), Value::Map(b)) => {
            let pairs = a.iter().zip(b).map(|(a, b)| a.0.cmp(b.0).then(order(a.1, b.1)));
            pairs.fold(Ordering::Equal, Ordering::then).then(a.len().cmp(&b.len()))
        }
        _ => compare(a, b).unwrap_or_else(|| kind(a).cmp(&kind(b))),
    }
}

/// What a row is sorted by: null and nothing are not values.
pub(super) fn sort_values<'r>(row: &'r Seen, sort: &[Sort]) -> Vec<Option<&'r Value>> {
    sort.iter().map(|field| row.at(&field.field)).collect()
}

pub(super) fn compare_sorted(
    sort: &[Sort],
    a: &[Option<&Value>],
    b: &[Option<&Value>],
) -> Ordering {
    let rank = |value: Option<&Value>| match value {
        Some(Value::Null) => 1,
        Some(_) => 0,
        None => 2,
    };
    for ((field, a), b) in sort.iter().zip(a).zip(b) {
        let found = match (rank(*a), rank(*b)) {
            (0, 0) if field.direction == SortDirection::Asc => order(a.unwrap(), b.unwrap()),
            (0, 0) => order(b.unwrap(), a.unwrap()),
            (a, b) if field.nulls == SortNulls::Last => a.cmp(&b),
            (a, b) => b.cmp(&a),
        };
        if found != Ordering::Equal {
            return found;
        }
    }
    Ordering::Equal
}

/// The key of a row that the database returned, as the model writes it.
pub(super) fn key_text(row: &Row) -> String {
    let values: Vec<Value> = row.key().values().iter().map(Value::from_key).collect();
    format!("{values:?}")
}

pub(super) fn key_values(key: &[(&'static str, Value)]) -> Vec<KeyValue<'static>> {
    let value = |value: &Value| match value {
        Value::Null => KeyValue::Null,
        Value::Int(int) => KeyValue::from(*int),
        Value::String(text) => KeyValue::from(text.clone()),
        other => panic!("{other:?}"),
    };
    key.iter().map(|(_, field)| value(field)).collect()
}
