//! The plain map: what should come of each step, by the documented rules.

use std::collections::BTreeMap;

use stonecrop::keys::Predicate;
use stonecrop::{Comparison, Condition, Scan, Timestamp, Value, Write};

use super::steps::{
    A, B, B_KEEP, B_TTL, Change, ConditionStep, DAY, Key, Kind, LOOSE, OneWrite, Range, ScanStep,
    family,
};
use crate::harness::seconds;

/// All rows by where they are in the order of the table.
pub(super) type Rows = BTreeMap<(u8, &'static str, u64), ModelRow>;

#[derive(Clone, Debug, Default)]
pub(super) struct ModelRow {
    /// By their names; the one without a name says that the row is there.
    pub(super) families: BTreeMap<&'static str, ModelFamily>,
    pub(super) removed: Option<Removal>,
}

#[derive(Clone, Debug)]
pub(super) struct ModelFamily {
    pub(super) written_at: Timestamp,
    pub(super) fresh_until: Timestamp,
    pub(super) gone_at: Timestamp,
    /// None where the family was removed, which is remembered until it is gone.
    pub(super) columns: Option<BTreeMap<&'static str, Value>>,
}

/// The row was deleted or replaced.
#[derive(Clone, Copy, Debug)]
pub(super) struct Removal {
    pub(super) written_at: Timestamp,
    pub(super) gone_at: Timestamp,
}

#[derive(Debug, PartialEq)]
pub(super) enum Failure {
    Condition(usize),
    Value,
    NotUnique(String, usize),
}

/// A column as a reader sees it: its value, whether it is fresh, its two times.
pub(super) type ModelCell = (Value, bool, Timestamp, Timestamp);

impl ModelRow {
    pub(super) fn exists(&self, now: Timestamp) -> bool {
        self.families.values().any(|family| family.columns.is_some() && now < family.gone_at)
    }

    fn cell(&self, now: Timestamp, column: &str) -> Option<ModelCell> {
        let found = self.families.get(family(column)).filter(|family| now < family.gone_at)?;
        let value = found.columns.as_ref()?.get(column)?.clone();
        Some((value, now < found.fresh_until, found.written_at, found.fresh_until))
    }

    /// In the order that rows have their columns in.
    pub(super) fn cells(
        &self,
        now: Timestamp,
        wanted: Option<&[&str]>,
    ) -> Vec<(String, ModelCell)> {
        let all = A.iter().chain(&B).chain(&LOOSE);
        let named = all.filter(|column| wanted.is_none_or(|wanted| wanted.contains(column)));
        named.filter_map(|column| Some(((*column).to_owned(), self.cell(now, column)?))).collect()
    }

    pub(super) fn write(
        &mut self,
        now: Timestamp,
        write: &OneWrite,
    ) -> Result<Vec<String>, Failure> {
        let at = write.written_at.map_or(now, |offset| from(now, offset));
        // Only who says when it was written can be too late.
        let too_late = |stored: Timestamp| write.written_at.is_some() && stored > at;
        let mut named: Vec<&'static str> =
            write.changes.keys().map(|column| family(column)).collect();
        named.dedup();
        let removed = self.removed.filter(|removal| now < removal.gone_at);
        if removed.is_some_and(|removal| too_late(removal.written_at)) {
            return Ok(match &named[..] {
                [] => vec!["row".to_owned()],
                named => named.iter().map(|name| (*name).to_owned()).collect(),
            });
        }
        let mut ignored = Vec::new();
        if write.kind != Kind::Put {
            let mut removed_at = removed.map_or(at, |removal| removal.written_at.max(at));
            // What is gone is as if it had never been.
            self.families.retain(|name, family| named.contains(name) || now < family.gone_at);
            self.families.retain(|name, family| {
                let stays = named.contains(name) || too_late(family.written_at);
                if stays && !named.contains(name) {
                    ignored.push(called(name));
                } else if !stays {
                    removed_at = removed_at.max(family.written_at);
                }
                stays
            });
            let gone_at = removed_at.max(now) + DAY;
            self.removed = Some(Removal { written_at: removed_at, gone_at });
        }
        if named.is_empty() && write.kind != Kind::Delete {
            named.push("");
        }
        for name in named {
            let stored = self.families.get(name).filter(|family| now < family.gone_at);
            if stored.is_some_and(|family| too_late(family.written_at)) {
                ignored.push(called(name));
                continue;
            }
            let written_at = stored.map_or(at, |family| family.written_at.max(at));
            let new = new_family(name, stored, written_at, now, write)?;
            self.families.insert(name, new);
        }
        Ok(ignored)
    }
}

/// What a family is called where it is ignored.
pub(super) fn called(name: &str) -> String {
    if name.is_empty() { "row" } else { name }.to_owned()
}

pub(super) fn new_family(
    name: &'static str,
    stored: Option<&ModelFamily>,
    written_at: Timestamp,
    now: Timestamp,
    write: &OneWrite,
) -> Result<ModelFamily, Failure> {
    let kept = if write.kind == Kind::Put { stored } else { None };
    let mut columns = kept.and_then(|family| family.columns.clone()).unwrap_or_default();
    for (column, change) in write.changes.iter().filter(|(column, _)| family(column) == name) {
        let old = columns.remove(column).filter(|value| *value != Value::Null);
        let new = match (change, old) {
            (Change::Remove, _) => continue,
            (Change::Set(value), _) => value.clone(),
            (Change::Add(number), None) => Value::Int(*number),
            (Change::Add(number), Some(Value::Int(old))) => Value::Int(old + number),
            (Change::Append(last), None) => Value::List(vec![Value::Int(*last)]),
            (Change::Append(last), Some(Value::List(mut list))) => {
                list.push(Value::Int(*last));
                Value::List(list)
            }
            (Change::Add(_) | Change::Append(_), Some(_)) => return Err(Failure::Value),
        };
        columns.insert(column, new);
    }
    let is_loose = LOOSE.contains(&name);
    if is_loose && columns.is_empty() {
        let gone_at = written_at.max(now) + DAY;
        return Ok(ModelFamily { written_at, fresh_until: written_at, gone_at, columns: None });
    }
    let own = if name == "b" { (Some(B_TTL), Some(B_KEEP)) } else { (None, None) };
    let (ttl, keep) = match write.lifetime.filter(|_| !name.is_empty()) {
        Some((ttl, keep)) => (Some(seconds(ttl)), Some(seconds(keep))),
        None => own,
    };
    let fresh_until = ttl.map_or(Timestamp::NEVER, |ttl| written_at + ttl);
    let gone_at = keep.map_or(Timestamp::NEVER, |keep| fresh_until + keep);
    Ok(ModelFamily { written_at, fresh_until, gone_at, columns: Some(columns) })
}

pub(super) fn from(now: Timestamp, offset: i64) -> Timestamp {
    Timestamp::from_micros(now.as_micros() + offset * 1_000_000)
}

pub(super) fn order(a: &Value, b: &Value) -> Option<std::cmp::Ordering> {
    match (a, b) {
        (Value::Null, Value::Null) => Some(std::cmp::Ordering::Equal),
        (Value::Int(a), Value::Int(b)) => Some(a.cmp(b)),
        (Value::String(a), Value::String(b)) => Some(a.cmp(b)),
        (Value::List(a), Value::List(b)) => {
            let ints = |list: &[Value]| -> Vec<i64> {
                list.iter().map(|v| if let Value::Int(v) = v { *v } else { panic!() }).collect()
            };
            Some(ints(a).cmp(&ints(b)))
        }
        _ => None,
    }
}

pub(super) fn compares(order: Option<std::cmp::Ordering>, how: Comparison) -> bool {
    match how {
        Comparison::Eq => order.is_some_and(|order| order.is_eq()),
        Comparison::Ne => order.is_none_or(|order| order.is_ne()),
        Comparison::Lt => order.is_some_and(|order| order.is_lt()),
        Comparison::Le => order.is_some_and(|order| order.is_le()),
        Comparison::Gt => order.is_some_and(|order| order.is_gt()),
        Comparison::Ge => order.is_some_and(|order| order.is_ge()),
    }
}

impl ConditionStep {
    pub(super) fn holds(&self, row: &ModelRow, now: Timestamp) -> bool {
        match self {
            Self::Exists => row.exists(now),
            Self::NotExists => !row.exists(now),
            Self::Has(column) => row.cell(now, column).is_some(),
            Self::Compare(column, how, value) => row
                .cell(now, column)
                .is_some_and(|(stored, ..)| compares(order(&stored, value), *how)),
            Self::WrittenAt(column, how, offset) => row
                .cell(now, column)
                .is_some_and(|(_, _, at, _)| compares(Some(at.cmp(&from(now, *offset))), *how)),
            Self::All(all) => all.iter().all(|condition| condition.holds(row, now)),
            Self::Any(any) => any.iter().any(|condition| condition.holds(row, now)),
            Self::Not(condition) => !condition.holds(row, now),
        }
    }

    pub(super) fn real(&self, now: Timestamp) -> Condition {
        let two = |two: &[Self; 2]| two.iter().map(|one| one.real(now)).collect();
        match self {
            Self::Exists => Condition::Exists,
            Self::NotExists => Condition::NotExists,
            Self::Has(column) => Condition::has(*column),
            Self::Compare(column, how, value) => {
                Condition::Compare((*column).into(), *how, value.clone())
            }
            Self::WrittenAt(column, how, offset) => {
                Condition::WrittenAt((*column).to_owned(), *how, from(now, *offset))
            }
            Self::All(all) => Condition::All(two(all)),
            Self::Any(any) => Condition::Any(two(any)),
            Self::Not(condition) => Condition::Not(Box::new(condition.real(now))),
        }
    }
}

impl OneWrite {
    pub(super) fn real(&self, now: Timestamp) -> Write<'static> {
        let mut write = match self.kind {
            Kind::Put => Write::put(self.key),
            Kind::Replace => Write::replace(self.key),
            Kind::Delete => Write::delete(self.key),
        };
        for (column, change) in &self.changes {
            write = match change {
                Change::Set(value) => write.set(*column, value.clone()),
                Change::Remove => write.remove(*column),
                Change::Add(number) => write.add(*column, *number),
                Change::Append(value) => write.append(*column, [*value]),
            };
        }
        if let Some(offset) = self.written_at {
            write = write.written_at(from(now, offset));
        }
        if let Some((ttl, keep)) = self.lifetime {
            write = write.ttl(seconds(ttl)).keep(seconds(keep));
        }
        match &self.condition {
            Some(condition) => write.when(condition.real(now)),
            None => write,
        }
    }
}

impl ScanStep {
    pub(super) fn real(&self, now: Timestamp) -> Scan<'static> {
        let mut scan = self.partition.map_or_else(Scan::all, Scan::partition);
        scan = match self.range {
            Range::Any => scan,
            Range::Lt(end) => scan.range(Predicate::Lt(end.into())),
            Range::Ge(start) => scan.range(Predicate::Ge(start.into())),
            Range::Between(from, to) => scan.range(Predicate::Between(from.into(), to.into())),
        };
        if let Some(columns) = &self.columns {
            scan = scan.columns(columns.iter().copied());
        }
        if let Some(filter) = &self.filter {
            scan = scan.filter(filter.real(now));
        }
        if self.backward { scan.backward() } else { scan }
    }

    pub(super) fn wants(&self, (partition, sort): Key, row: &ModelRow, now: Timestamp) -> bool {
        let in_range = match self.range {
            Range::Any => true,
            Range::Lt(end) => sort < end,
            Range::Ge(start) => sort >= start,
            Range::Between(from, to) => (from..=to).contains(&sort),
        };
        in_range
            && self.partition.is_none_or(|wanted| wanted == partition)
            && self.filter.as_ref().is_none_or(|filter| filter.holds(row, now))
    }
}
