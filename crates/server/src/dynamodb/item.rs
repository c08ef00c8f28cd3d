//! Items as rows, and back.

use stonecrop::keys::Type;
use stonecrop::{ColumnType, Row, RowKey, Timestamp, Value, Write};
use stonecrop_dynamodb::value::{Item, number_text};

use super::known::Known;

/// Items that ran out so long ago stay, as the service has it: their time is taken for a mistake.
const FIVE_YEARS: f64 = 5.0 * 365.0 * 86_400.0;

impl Known {
    /// A row as an item; none where its time is over.
    pub(super) fn item(&self, row: &Row, now: Timestamp) -> Option<Item> {
        let mut item: Item =
            row.columns().map(|(name, cell)| (name.to_owned(), cell.value.clone())).collect();
        for (part, value) in self.key.iter().zip(row.key().values()) {
            item.insert(part.name.clone(), Value::from_key(value));
        }
        let is_over = self.gone_at(&item, now).is_some_and(|at| at <= now);
        (!is_over).then_some(item)
    }

    /// From when on an item is gone, if the table has an attribute for that.
    pub(super) fn gone_at(&self, item: &Item, now: Timestamp) -> Option<Timestamp> {
        let attribute = self.about.ttl.as_ref()?;
        let seconds: Option<f64> = match item.get(attribute) {
            Some(Value::Decimal(until)) => number_text(until).parse().ok(),
            Some(Value::Int(until)) => Some(*until as f64),
            Some(Value::Float(until)) => Some(*until),
            _ => None,
        };
        let counts = |until: &f64| now.as_micros() as f64 / 1e6 - until < FIVE_YEARS;
        Some(seconds.filter(counts).map_or(Timestamp::NEVER, |until| {
            Timestamp::from_micros((until * 1e6) as i64) + self.ttl_delay
        }))
    }

    /// The write that makes a row this item; none where it is it already. The attributes that are
    /// named are written even if they stay the same: their families are fresh again.
    pub(super) fn write(
        &self,
        key: &RowKey<'static>,
        row: Option<&Row>,
        old: Option<&Item>,
        new: &Item,
        named: Option<&[String]>,
        now: Timestamp,
    ) -> Option<Write<'static>> {
        let write = self.write_columns(key, row, old, new, named)?;
        Some(match self.gone_at(new, now) {
            Some(at) => write.gone_at(at),
            None => write,
        })
    }

    fn write_columns(
        &self,
        key: &RowKey<'static>,
        row: Option<&Row>,
        old: Option<&Item>,
        new: &Item,
        named: Option<&[String]>,
    ) -> Option<Write<'static>> {
        let attributes = || new.iter().filter(|(name, _)| !self.is_key(name));
        let is_named = |name: &String| named.is_some_and(|named| named.contains(name));
        // A row of another item, or one without columns, or all of it, is made anew.
        let is_part = attributes().next().is_some() && !new.keys().all(is_named);
        let Some(old) = old.filter(|_| is_part) else {
            let write = match (row, attributes().next()) {
                (None, Some(_)) => Write::put(key.clone()),
                _ => Write::replace(key.clone()),
            };
            return Some(self.set_all(write, attributes()));
        };
        let is_written =
            |(name, value): &(&String, &Value)| old.get(*name) != Some(*value) || is_named(name);
        let mut write = self.set_all(Write::put(key.clone()), attributes().filter(is_written));
        let mut changes = attributes().any(|attribute| is_written(&attribute));
        for name in old.keys().filter(|name| !new.contains_key(*name) && !self.is_key(name)) {
            write = write.remove(name.clone());
            changes = true;
        }
        changes.then_some(write)
    }

    fn set_all<'i>(
        &self,
        write: Write<'static>,
        attributes: impl Iterator<Item = (&'i String, &'i Value)>,
    ) -> Write<'static> {
        attributes.fold(write, |write, (name, value)| {
            write.set(name.clone(), native(value, self.declared_type(name)))
        })
    }
}

/// A value in the type that a column was declared with: the service has one type of numbers, and
/// none for times and the like, which are texts to it.
fn native(value: &Value, of: ColumnType) -> Value {
    let parsed = match (value, of) {
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
    };
    parsed.unwrap_or_else(|| value.clone())
}

fn from_text(text: &str, of: &Type) -> Option<Value> {
    let json = serde_json::Value::from(text).to_string();
    of.value_from_json(&json).ok().map(|value| Value::from_key(&value))
}
