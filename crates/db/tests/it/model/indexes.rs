//! Indexes as the plain map sees them: which entry a row should have, and what is refused.

use std::ops::RangeInclusive;

use proptest::prelude::*;
use stonecrop::{Index, Timestamp, Value};

use super::plain::{Failure, ModelRow, Rows, from};
use super::steps::{Kind, OneWrite, column, family};

/// Where a row is in the order of the table.
type Place = (u8, &'static str, u64);

/// What compaction may drop counts no more, even if the clock goes back.
const DROP_DELAY: i64 = 60;

#[derive(Clone, Debug)]
pub(super) struct IndexStep {
    fields: Vec<Field>,
    covering: Vec<&'static str>,
    pub(super) unique: bool,
}

#[derive(Clone, Debug)]
struct Field {
    column: &'static str,
    of: &'static str,
    descending: bool,
    nulls: Option<&'static str>,
}

/// An index that there is.
#[derive(Clone, Debug)]
pub(super) struct ModelIndex {
    pub(super) name: String,
    pub(super) step: IndexStep,
    /// It could not be completed, and is as if it were not there.
    pub(super) failed: bool,
    /// How many rows had values of another type when it was made; fewer, if a compaction had
    /// dropped some of them before the clock went back.
    pub(super) left_out: RangeInclusive<u64>,
}

struct ModelEntry {
    values: Vec<Value>,
}

/// What a row has in a field of the key; none where it is another column.
fn of_key((_, partition, sort): &Place, column: &str) -> Option<Value> {
    match column {
        "p" => Some((*partition).into()),
        "s" => Some(Value::Int(*sort as i64)),
        _ => None,
    }
}

pub(super) fn index() -> impl Strategy<Value = IndexStep> {
    let of = prop_oneof![6 => Just("i64"), 1 => Just("decimal"), 1 => Just("string")];
    let of_key = prop::sample::select(vec![("p", "string"), ("s", "u64")]);
    let named = prop_oneof![3 => (column(), of), 1 => of_key];
    let nulls = prop::option::of(prop::sample::select(vec!["nulls first", "nulls last"]));
    let field = (named, any::<bool>(), nulls).prop_map(|((column, of), descending, nulls)| Field {
        column,
        of,
        descending,
        nulls,
    });
    let covering = prop_oneof![2 => Just(Vec::new()), 1 => prop::collection::vec(column(), 1..4)];
    (prop::collection::vec(field, 1..4), covering, prop::bool::weighted(0.3)).prop_map(
        |(mut fields, covering, unique)| {
            let mut named = Vec::new();
            fields.retain(|field| {
                let is_new = !named.contains(&field.column);
                named.push(field.column);
                is_new
            });
            IndexStep { fields, covering, unique }
        },
    )
}

impl IndexStep {
    pub(super) fn real(&self, name: &str) -> Index {
        let fields = self.fields.iter().map(|field| {
            let order = if field.descending { " desc" } else { "" };
            let nulls = field.nulls.map(|nulls| format!(" {nulls}")).unwrap_or_default();
            format!("{} {}{order}{nulls}", field.column, field.of)
        });
        let index = Index::new(name, &fields.collect::<Vec<_>>().join(", ")).unwrap();
        let index = index.covering(self.covering.iter().copied());
        if self.unique { index.unique() } else { index }
    }

    /// The entry of a row; what was gone by a time counts as not there.
    fn entry(
        &self,
        place: &Place,
        row: &ModelRow,
        gone_by: Timestamp,
    ) -> Result<Option<ModelEntry>, Failure> {
        let mut entry = ModelEntry { values: Vec::new() };
        if !row.exists(gone_by) {
            return Ok(None);
        }
        for field in &self.fields {
            if let Some(value) = of_key(place, field.column) {
                entry.values.push(value);
                continue;
            }
            let stored = row.families.get(family(field.column));
            let Some(stored) = stored.filter(|family| gone_by < family.gone_at) else {
                return Ok(None);
            };
            let value = stored.columns.as_ref().and_then(|columns| columns.get(field.column));
            let Some(value) = value else { return Ok(None) };
            match (field.of, value) {
                (_, Value::Null) if field.nulls.is_none() => return Ok(None),
                (_, Value::Null) | ("i64" | "decimal", Value::Int(_)) => {}
                ("string", Value::String(_)) => {}
                _ => return Err(Failure::Value),
            }
            entry.values.push(value.clone());
        }
        Ok(Some(entry))
    }

    /// How many rows are in it.
    pub(super) fn count(&self, rows: &Rows, now: Timestamp) -> usize {
        rows.iter()
            .filter(|(place, row)| matches!(self.entry(place, row, now), Ok(Some(_))))
            .count()
    }

    /// The values of a row that no other row may have.
    fn claim(&self, place: &Place, row: &ModelRow, now: Timestamp) -> Option<Vec<Value>> {
        let entry = self.entry(place, row, now).ok().flatten().filter(|_| self.unique)?;
        (!entry.values.contains(&Value::Null)).then_some(entry.values)
    }

    fn is_concerned(&self, write: &OneWrite) -> bool {
        let read = self.fields.iter().map(|field| &field.column).chain(&self.covering);
        let mut read = read.map(|column| family(column));
        write.kind != Kind::Put
            || self.fields.iter().all(|field| matches!(field.column, "p" | "s"))
            || read.any(|name| write.changes.keys().any(|column| family(column) == name))
    }

    /// Whether all rows that fit can be in it.
    pub(super) fn fits(&self, rows: &Rows, now: Timestamp) -> bool {
        let claims = rows.iter().filter_map(|(place, row)| self.claim(place, row, now));
        let claims: Vec<_> = claims.collect();
        let is_twice = |claim| claims.iter().filter(|other| *other == claim).count() > 1;
        !claims.iter().any(is_twice)
    }

    /// How many rows do not fit at a time.
    pub(super) fn misfits(&self, rows: &Rows, now: Timestamp) -> u64 {
        let horizon = from(now, -DROP_DELAY);
        let misfits = rows.iter().filter(|(place, row)| self.entry(place, row, horizon).is_err());
        misfits.count() as u64
    }
}

impl ModelIndex {
    /// Whether a row may become what a write made of it; the row among `rows` is the new one.
    pub(super) fn check(
        &self,
        before: &ModelRow,
        place: &Place,
        rows: &Rows,
        write: (usize, &OneWrite),
        now: Timestamp,
    ) -> Result<(), Failure> {
        let (at, write) = write;
        if self.failed || !self.step.is_concerned(write) {
            return Ok(());
        }
        let new = &rows[place];
        let horizon = from(now, -DROP_DELAY);
        let is_misfit = |row, by| self.step.entry(place, row, by).is_err();
        let was_left_out = is_misfit(before, now)
            // It is gone, and stays it.
            || is_misfit(before, horizon) && !is_misfit(new, now);
        if !was_left_out {
            self.step.entry(place, new, horizon)?;
        }
        let Some(claim) = self.step.claim(place, new, now) else { return Ok(()) };
        // What it had already is its own.
        if self.step.claim(place, before, now).as_ref() == Some(&claim) {
            return Ok(());
        }
        let mut others = rows.iter().filter(|(other, _)| *other != place);
        match others.any(|(at, other)| self.step.claim(at, other, now).as_ref() == Some(&claim)) {
            true => Err(Failure::NotUnique(self.name.clone(), at)),
            false => Ok(()),
        }
    }
}
