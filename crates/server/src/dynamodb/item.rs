//! Items as rows, and back.

use std::collections::HashMap;

use foldhash::fast::RandomState;
use serde::ser::{Serialize, SerializeMap, Serializer};
use stonecrop::keys::{Type, Value as KeyValue};
use stonecrop::{ColumnType, Row, RowKey, Timestamp, Value, Write};
use stonecrop_dynamodb::expression::Projection;
use stonecrop_dynamodb::value::{Encoded, Item, key_size, number_text, value_size};

use super::known::Known;

/// Items that ran out so long ago stay, as the service has it: their time is taken for a mistake.
const FIVE_YEARS: f64 = 5.0 * 365.0 * 86_400.0;

impl Known {
    /// A row as an item; none where its time is over.
    pub(super) fn item(&self, row: &Row, now: Timestamp) -> Option<Item> {
        (!self.is_over(row, now)).then(|| self.whole_item(row))
    }

    pub(super) fn whole_item(&self, row: &Row) -> Item {
        let key = self.key_attributes(row);
        let key = key.map(|(name, value)| (name.to_owned(), Value::from_key(value)));
        let columns = row.columns();
        key.chain(columns.map(|(name, cell)| (name.to_owned(), cell.value.clone()))).collect()
    }

    /// The attributes of an item that are in the key of its row.
    fn key_attributes<'r>(
        &'r self,
        row: &'r Row,
    ) -> impl Iterator<Item = (&'r str, &'r KeyValue<'static>)> {
        self.key.iter().map(|part| &*part.name).zip(row.key().values())
    }

    /// The bytes of those attributes of an item that are shown.
    pub(super) fn size(&self, row: &Row, shows: impl Fn(&str) -> bool) -> usize {
        let key = self.key_attributes(row).filter(|(name, _)| shows(name));
        let key: usize = key.map(|(name, value)| name.len() + key_size(value)).sum();
        let columns = row.columns().filter(|(name, _)| shows(name));
        key + columns.map(|(name, cell)| name.len() + value_size(&cell.value)).sum::<usize>()
    }

    /// Whether the time of an item is over.
    pub(super) fn is_over(&self, row: &Row, now: Timestamp) -> bool {
        let at = self.about.ttl.as_ref().map(|name| self.end(row.value(name), now));
        at.is_some_and(|at| at <= now)
    }

    /// From when on an item is gone, if the table has an attribute for that.
    pub(super) fn gone_at(&self, item: &Item, now: Timestamp) -> Option<Timestamp> {
        let attribute = self.about.ttl.as_ref()?;
        Some(self.end(item.get(attribute), now))
    }

    /// The time that such an attribute stands for.
    fn end(&self, value: Option<&Value>, now: Timestamp) -> Timestamp {
        let seconds: Option<f64> = match value {
            Some(Value::Decimal(until)) => number_text(until).parse().ok(),
            Some(Value::Int(until)) => Some(*until as f64),
            Some(Value::Float(until)) => Some(*until),
            _ => None,
        };
        let counts = |until: &f64| now.as_micros() as f64 / 1e6 - until < FIVE_YEARS;
        seconds.filter(counts).map_or(Timestamp::NEVER, |until| {
            Timestamp::from_micros((until * 1e6) as i64) + self.ttl_delay
        })
    }

    /// The write that makes a row this item; none where it is it already. The attributes that are
    /// named are written even if they stay the same: their families are fresh again.
    pub(super) fn write<'i>(
        &self,
        key: &RowKey<'static>,
        row: Option<&Row>,
        old: Option<&Row>,
        new: &'i Item,
        named: Option<&[&str]>,
        now: Timestamp,
    ) -> Option<Write<'i>> {
        let write = self.write_columns(key, row, old, new, named)?;
        Some(match self.gone_at(new, now) {
            Some(at) => write.gone_at(at),
            None => write,
        })
    }

    fn write_columns<'i>(
        &self,
        key: &RowKey<'static>,
        row: Option<&Row>,
        old: Option<&Row>,
        new: &'i Item,
        named: Option<&[&str]>,
    ) -> Option<Write<'i>> {
        let attributes = || new.iter().filter(|(name, _)| !self.is_key(name));
        let is_named = |name: &String| named.is_some_and(|named| named.contains(&name.as_str()));
        // A row of another item, or one without columns, or all of it, is made anew.
        let is_part = attributes().next().is_some() && !new.keys().all(is_named);
        let Some(old) = old.filter(|_| is_part) else {
            let write = match (row, attributes().next()) {
                (None, Some(_)) => Write::put(key.clone()),
                _ => Write::replace(key.clone()),
            };
            return Some(self.set_all(write, attributes()));
        };
        let stored: HashMap<&str, &Value, RandomState> =
            old.columns().map(|(name, cell)| (name, &cell.value)).collect();
        let is_written = |(name, value): &(&String, &Value)| {
            stored.get(name.as_str()) != Some(value) || is_named(name)
        };
        let mut write = self.set_all(Write::put(key.clone()), attributes().filter(is_written));
        let mut changes = attributes().any(|attribute| is_written(&attribute));
        for name in stored.keys().filter(|name| !new.contains_key(**name)) {
            write = write.remove((*name).to_owned());
            changes = true;
        }
        changes.then_some(write)
    }

    fn set_all<'i>(
        &self,
        write: Write<'i>,
        attributes: impl Iterator<Item = (&'i String, &'i Value)>,
    ) -> Write<'i> {
        attributes.fold(write, |write, (name, value)| {
            match native(value, self.declared_type(name)) {
                Some(native) => write.set(name, native),
                None => write.set_borrowed(name, value),
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
        for (name, value) in known.key_attributes(row) {
            map.serialize_entry(name, &Encoded(value))?;
        }
        for (name, cell) in row.columns() {
            map.serialize_entry(name, &Encoded(&cell.value))?;
        }
        map.end()
    }
}

/// A value in the type that a column was declared with, where that is another: the service has one
/// type of numbers, and none for times and the like, which are texts to it.
fn native(value: &Value, of: ColumnType) -> Option<Value> {
    match (value, of) {
        (Value::Decimal(number), ColumnType::Int) => {
            number_text(number).parse().ok().map(Value::Int)
        }
        (Value::Decimal(number), ColumnType::Float) => {
            number_text(number).parse().ok().map(Value::Float)
        }
        (Value::String(text), ColumnType::Timestamp) => text.parse().ok().map(Value::Timestamp),
        (Value::String(text), ColumnType::Date) => from_text(text, &Type::Date),
        (Value::String(text), ColumnType::Uuid) => from_text(text, &Type::Uuid),
        _ => None,
    }
}

fn from_text(text: &str, of: &Type) -> Option<Value> {
    let json = serde_json::Value::from(text).to_string();
    of.value_from_json(&json).ok().map(|value| Value::from_key(&value))
}
