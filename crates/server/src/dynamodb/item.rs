//! Items as rows, and back.

use std::borrow::Cow;
use std::collections::HashMap;

use serde::ser::{Serialize, SerializeMap, Serializer};
use stonecrop::{ColumnType, Row, RowKey, Timestamp, Value, Write};
use stonecrop_dynamodb::expression::Projection;
use stonecrop_dynamodb::value::{Encoded, Item, number_text, value_size};

use super::known::{Known, copy_of, is_copy};

/// Items that ran out so long ago stay, as the service has it: their time is taken for a mistake.
const FIVE_YEARS: f64 = 5.0 * 365.0 * 86_400.0;

impl Known {
    /// A row as an item; none where its time is over.
    pub(super) fn item(&self, row: &Row, now: Timestamp) -> Option<Item> {
        (!self.is_over(row, now)).then(|| self.whole_item(row))
    }

    pub(super) fn whole_item(&self, row: &Row) -> Item {
        let columns = self.attributes(row);
        columns.map(|(name, value)| (name.to_owned(), value.into_owned())).collect()
    }

    /// The attributes of the item in a row: first those of its key.
    fn attributes<'r>(&'r self, row: &'r Row) -> impl Iterator<Item = (&'r str, Cow<'r, Value>)> {
        let key = self.key.iter().zip(row.key().values());
        let key = key.map(|(part, value)| (&*part.name, Cow::Owned(Value::from_key(value))));
        let columns = row.columns().filter(|(name, _)| !is_copy(name));
        key.chain(columns.map(|(name, cell)| (name, Cow::Borrowed(&cell.value))))
    }

    /// The bytes of those attributes of an item that are shown.
    pub(super) fn size(&self, row: &Row, shows: impl Fn(&str) -> bool) -> usize {
        let shown = self.attributes(row).filter(|(name, _)| shows(name));
        shown.map(|(name, value)| name.len() + value_size(&value)).sum()
    }

    /// Whether the time of an item is over.
    pub(super) fn is_over(&self, row: &Row, now: Timestamp) -> bool {
        let Some(Value::Decimal(until)) = self.about.ttl.as_ref().and_then(|name| row.value(name))
        else {
            return false;
        };
        let until: f64 = number_text(until).parse().unwrap_or(f64::MAX);
        let now = now.as_micros() as f64 / 1e6;
        until < now && now - until < FIVE_YEARS
    }

    /// The write that makes a row this item, or the item that is in it; none where it is it already.
    pub(super) fn write(
        &self,
        key: &RowKey<'static>,
        row: Option<&Row>,
        old: Option<&Row>,
        new: &Item,
    ) -> Option<Write<'static>> {
        let attributes = || new.iter().filter(|(name, _)| !self.is_key(name));
        // A row of another item, or one without columns, is made anew.
        let Some(old) = old.filter(|_| attributes().next().is_some()) else {
            let write = match (row, attributes().next()) {
                (None, Some(_)) => Write::put(key.clone()),
                _ => Write::replace(key.clone()),
            };
            return Some(self.with_copies(self.set_all(write, attributes()), None, new));
        };
        let stored: HashMap<&str, &Value> =
            old.columns().map(|(name, cell)| (name, &cell.value)).collect();
        let is_changed = |name: &str, value| stored.get(name) != Some(&value);
        let changed = attributes().filter(|(name, value)| is_changed(name, value));
        let mut write = self.set_all(Write::put(key.clone()), changed);
        let mut changes = attributes().any(|(name, value)| is_changed(name, value));
        let names = stored.keys().filter(|name| !is_copy(name) && !new.contains_key(**name));
        for name in names {
            write = write.remove((*name).to_owned());
            changes = true;
        }
        changes.then(|| self.with_copies(write, row, new))
    }

    fn set_all<'i>(
        &self,
        write: Write<'static>,
        attributes: impl Iterator<Item = (&'i String, &'i Value)>,
    ) -> Write<'static> {
        attributes.fold(write, |write, (name, value)| {
            let value = match self.is_own {
                true => value.clone(),
                false => native(value, self.declared_type(name)),
            };
            write.set(name.clone(), value)
        })
    }

    /// With the copies of key attributes that indexes are over, where the row lacks them.
    fn with_copies(&self, write: Write<'static>, row: Option<&Row>, new: &Item) -> Write<'static> {
        self.copied.iter().fold(write, |write, name| {
            let column = copy_of(name);
            match new.get(name) {
                Some(value) if row.is_none_or(|row| row.value(&column).is_none()) => {
                    write.set(column, value.clone())
                }
                _ => write,
            }
        })
    }
}

/// An item as it is told: all of a row, without an item in between, or what was made of it.
pub(super) enum Shown<'r> {
    Whole(&'r Known, &'r Row),
    Part(Item),
}

impl<'r> Shown<'r> {
    pub(super) fn new(known: &'r Known, row: &'r Row, projection: Option<&Projection>) -> Self {
        match projection {
            None => Shown::Whole(known, row),
            Some(projection) => Shown::Part(projection.apply(&known.whole_item(row))),
        }
    }
}

impl Serialize for Shown<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let (known, row) = match self {
            Shown::Whole(known, row) => (known, row),
            Shown::Part(item) => return Encoded(item).serialize(serializer),
        };
        let mut map = serializer.serialize_map(None)?;
        for (name, value) in known.attributes(row) {
            map.serialize_entry(name, &Encoded(&*value))?;
        }
        map.end()
    }
}

/// A number in the type that a native column was declared with.
fn native(value: &Value, of: ColumnType) -> Value {
    let Value::Decimal(number) = value else { return value.clone() };
    let text = number_text(number);
    let parsed = match of {
        ColumnType::Int => text.parse().ok().map(Value::Int),
        ColumnType::Float => text.parse().ok().map(Value::Float),
        _ => None,
    };
    parsed.unwrap_or_else(|| value.clone())
}
