//! The order of rows: their values in the sort fields, then their places.

use std::cmp::Ordering;

use bytes::Bytes;

use crate::catalog::{Place, TableState};
use crate::condition::find;
use crate::entry::Columns;
use crate::error::Result;
use crate::path::Step;
use crate::query::{Sort, SortDirection, SortNulls};
use crate::read::{Loader, Source};
use crate::value::encode::{self, Problem};
use crate::value::encoded::{compare_encoded, is_null, walk};
use crate::value::{Value, total_order};

/// What rows are sorted by, looked up in a table.
#[derive(Debug)]
pub(super) struct Order {
    pub(super) fields: Vec<OrderField>,
}

#[derive(Debug)]
pub(super) struct OrderField {
    pub(super) source: Source,
    pub(super) steps: Vec<Step>,
    pub(super) descending: bool,
    pub(super) nulls_first: bool,
}

/// What a row has in a sort field.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum SortValue {
    Value(Value),
    Null,
    Missing,
}

/// A row with what it is sorted by.
#[derive(Clone, Debug)]
pub(super) struct Sorted {
    pub(super) values: Vec<SortValue>,
    pub(super) place: Place,
}

impl Order {
    pub(super) fn new(sort: &[Sort], table: &TableState) -> Self {
        let fields = sort.iter().map(|sort| {
            let (source, steps) = find(&sort.field, table);
            let descending = sort.direction == SortDirection::Desc;
            OrderField { source, steps, descending, nulls_first: sort.nulls == SortNulls::First }
        });
        Order { fields: fields.collect() }
    }

    /// What a row is sorted by.
    pub(super) fn values(&self, row: &mut Loader<'_>) -> Result<Vec<SortValue>> {
        let table = row.table();
        let corrupt = |problem: Problem| table.corrupt(problem);
        let mut values = Vec::with_capacity(self.fields.len());
        for field in &self.fields {
            let stored = row.column(&field.source)?;
            let value = match stored {
                Some(stored) => walk(stored.value, &field.steps).map_err(corrupt)?,
                None => None,
            };
            values.push(match value {
                None => SortValue::Missing,
                Some(value) if is_null(value) => SortValue::Null,
                Some(value) => SortValue::Value(encode::read(value).map_err(corrupt)?),
            });
        }
        Ok(values)
    }

    /// Whether a row is certainly after another one, by a look at its first value alone.
    pub(super) fn is_after(&self, row: &mut Loader<'_>, bound: &Sorted) -> Result<bool> {
        let Some(field) = self.fields.first() else { return Ok(false) };
        let table = row.table();
        let Some(stored) = row.column(&field.source)? else { return Ok(false) };
        field.is_after(stored.value, bound).map_err(|problem| table.corrupt(problem))
    }

    /// The same of a row of which the columns of one family are known.
    pub(super) fn is_after_in(
        &self,
        family: u16,
        columns: Columns<'_>,
        bound: &Sorted,
    ) -> Result<bool, Problem> {
        let Some(field) = self.fields.first() else { return Ok(false) };
        let id = match &field.source {
            Source::Declared(column) if column.family == family => column.id,
            _ => return Ok(false),
        };
        let Some(stored) = columns.find(id)? else { return Ok(false) };
        field.is_after(stored, bound)
    }

    pub(super) fn compare(&self, a: &Sorted, b: &Sorted) -> Ordering {
        let order = self.compare_values(&a.values, &b.values);
        order.then_with(|| a.place.bytes.cmp(&b.place.bytes))
    }

    pub(super) fn compare_values(&self, a: &[SortValue], b: &[SortValue]) -> Ordering {
        for ((field, a), b) in self.fields.iter().zip(a).zip(b) {
            let order = match (a, b) {
                (SortValue::Value(a), SortValue::Value(b)) => {
                    let order = total_order(a, b);
                    if field.descending { order.reverse() } else { order }
                }
                _ => {
                    let order = a.rank().cmp(&b.rank());
                    if field.nulls_first { order.reverse() } else { order }
                }
            };
            if order != Ordering::Equal {
                return order;
            }
        }
        Ordering::Equal
    }
}

impl OrderField {
    /// Whether a stored column, by which the rows are sorted first, is certainly after a row's.
    fn is_after(&self, stored: &[u8], bound: &Sorted) -> Result<bool, Problem> {
        let Some(SortValue::Value(bound)) = bound.values.first() else { return Ok(false) };
        let Some(value) = walk(stored, &self.steps)? else { return Ok(false) };
        Ok(match compare_encoded(value, bound)? {
            Some(Ordering::Less) => self.descending,
            Some(Ordering::Greater) => !self.descending,
            _ => false,
        })
    }
}

impl SortValue {
    fn rank(&self) -> u8 {
        match self {
            SortValue::Value(_) => 0,
            SortValue::Null => 1,
            SortValue::Missing => 2,
        }
    }

    /// About how much memory it takes.
    fn size(&self) -> usize {
        let inner = match self {
            SortValue::Value(Value::String(text)) => text.len(),
            SortValue::Value(Value::Bytes(bytes)) => bytes.len(),
            SortValue::Value(Value::List(list)) => list.len() * 64,
            SortValue::Value(Value::Map(map)) => map.len() * 128,
            _ => 0,
        };
        std::mem::size_of::<Self>() + inner
    }

    pub(super) fn write(&self, out: &mut Vec<u8>) -> Result<(), String> {
        match self {
            SortValue::Missing => out.push(0),
            SortValue::Null => out.push(1),
            SortValue::Value(value) => {
                out.push(2);
                encode::write(value, out).map_err(|problem| problem.to_string())?;
            }
        }
        Ok(())
    }

    pub(super) fn read(bytes: &mut &[u8]) -> Option<Self> {
        let (&kind, rest) = bytes.split_first()?;
        *bytes = rest;
        match kind {
            0 => Some(SortValue::Missing),
            1 => Some(SortValue::Null),
            2 => {
                let value = encode::skip(bytes).ok()?;
                encode::read(value).ok().map(SortValue::Value)
            }
            _ => None,
        }
    }
}

impl Sorted {
    /// About how much memory it takes.
    pub(super) fn size(&self) -> usize {
        let values = self.values.iter().map(SortValue::size).sum::<usize>();
        std::mem::size_of::<Self>() + self.place.bytes.len() + values
    }

    /// The same, holding on to no block of a file.
    pub(super) fn detached(mut self) -> Self {
        self.place.bytes = Bytes::copy_from_slice(&self.place.bytes);
        self
    }
}
