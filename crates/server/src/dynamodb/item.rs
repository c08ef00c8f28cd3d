//! Items as rows, and back.

use stonecrop::{ColumnType, Row, RowKey, Timestamp, Value, Write};
use stonecrop_dynamodb::value::{Item, number_text};

use super::known::{Known, copy_of, is_copy};

/// Items that ran out so long ago stay, as the service has it: their time is taken for a mistake.
const FIVE_YEARS: f64 = 5.0 * 365.0 * 86_400.0;

impl Known {
    /// A row as an item; none where its time is over.
    pub(super) fn item(&self, row: &Row, now: Timestamp) -> Option<Item> {
        let mut item: Item = row
            .columns()
            .filter(|(name, _)| !is_copy(name))
            .map(|(name, cell)| (name.to_owned(), cell.value.clone()))
            .collect();
        if self.is_over(&item, now) {
            return None;
        }
        for (part, value) in self.key.iter().zip(row.key().values()) {
            item.insert(part.name.clone(), Value::from_key(value));
        }
        Some(item)
    }

    fn is_over(&self, item: &Item, now: Timestamp) -> bool {
        let Some(Value::Decimal(until)) = self.about.ttl.as_ref().and_then(|name| item.get(name))
        else {
            return false;
        };
        let until: f64 = number_text(until).parse().unwrap_or(f64::MAX);
        let now = now.as_micros() as f64 / 1e6;
        until < now && now - until < FIVE_YEARS
    }

    /// The write that makes a row this item; none where it is it already.
    pub(super) fn write(
        &self,
        key: &RowKey<'static>,
        row: Option<&Row>,
        old: Option<&Item>,
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
        let changed = attributes().filter(|(name, value)| old.get(*name) != Some(value));
        let mut write = self.set_all(Write::put(key.clone()), changed);
        let mut changes = attributes().any(|(name, value)| old.get(name) != Some(value));
        for name in old.keys().filter(|name| !new.contains_key(*name) && !self.is_key(name)) {
            write = write.remove(name.clone());
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
