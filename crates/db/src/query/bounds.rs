//! What a filter says of keys: the ranges of a key or an index that all its rows lie in.

use stonecrop_keys::{
    Direction, Field, KeyRange, Nulls, Predicate, Schema, TimeUnit, Type, Value as KeyValue,
};

use crate::catalog::TableState;
use crate::condition::{Comparison, Condition, find};
use crate::read::Source;
use crate::value::Value;

/// How many ranges a filter may come to. With more it is cheaper to look at all that lies between.
const MAX_RANGES: usize = 1000;

/// A filter as parts that must all be true.
pub(super) struct Parts<'c> {
    pub(super) list: Vec<Part<'c>>,
}

/// One part, and what it says of a column.
pub(super) struct Part<'c> {
    pub(super) condition: &'c Condition,
    /// The column that it is about, if it is about one as a whole.
    source: Option<Source>,
    bound: Bound<'c>,
    /// The column that a row must have for it to be true.
    pub(super) needs: Option<Source>,
    /// Whether the column that it is about is not null, if it is there.
    not_null: bool,
}

enum Bound<'c> {
    Equal(Vec<&'c Value>),
    Compare(Comparison, &'c Value),
    Between(&'c Value, &'c Value),
    BeginsWith(&'c Value),
    NotNull,
    None,
}

impl<'c> Parts<'c> {
    pub(super) fn new(filter: Option<&'c Condition>, table: &TableState) -> Self {
        let mut list = Vec::new();
        let mut open: Vec<&Condition> = filter.into_iter().collect();
        while let Some(condition) = open.pop() {
            match condition {
                Condition::All(all) => open.extend(all.iter().rev()),
                condition => list.push(Part::new(condition, table)),
            }
        }
        Parts { list }
    }

    /// Whether every row that is wanted has this column; and if `not_null`, something in it.
    pub(super) fn require(&self, source: &Source, not_null: bool) -> bool {
        let is_there = |part: &Part<'_>| part.needs.as_ref() == Some(source);
        self.list.iter().any(|part| is_there(part) && (part.not_null || !not_null))
    }

    /// Whether a column has one and the same value in all rows that are wanted.
    pub(super) fn pins(&self, source: &Source) -> bool {
        self.list.iter().any(|part| {
            part.source.as_ref() == Some(source)
                && matches!(&part.bound, Bound::Equal(values) if values.len() == 1)
        })
    }

    /// The ranges of a schema's keys that the wanted rows lie in. `sources` are where the fields
    /// of the schema come from.
    pub(super) fn ranges(&self, schema: &Schema, sources: &[Source]) -> Ranges {
        let mut ranges = Ranges::default();
        let mut equal: Vec<Vec<KeyValue<'_>>> = vec![Vec::new()];
        for (field, source) in schema.fields().iter().zip(sources) {
            let found = self.equal(source, field.field_type(), field.nulls());
            let Some((at, values)) = found else { break };
            if equal.len() * values.len() > MAX_RANGES {
                break;
            }
            ranges.used.push(at);
            ranges.pinned.push(values.len() == 1);
            let longer = equal.iter().flat_map(|known| {
                values.iter().map(|value| {
                    let mut longer = known.clone();
                    longer.push(value.clone());
                    longer
                })
            });
            equal = longer.collect();
        }
        let next = schema.fields().get(ranges.pinned.len()).zip(sources.get(ranges.pinned.len()));
        let mut predicates = Vec::new();
        if let Some((field, source)) = next {
            let nullable = field.nulls() != Nulls::NotAllowed;
            for (at, part) in self.list.iter().enumerate() {
                if part.source.as_ref() != Some(source) {
                    continue;
                }
                if let Some(predicate) = part.bound.predicates(field.field_type(), nullable) {
                    predicates.extend(predicate);
                    ranges.used.push(at);
                    ranges.narrowed = true;
                }
            }
        }
        for equal in equal {
            let whole = schema.range(&equal, &Predicate::Any);
            let narrowed = predicates.iter().try_fold(whole, |range, predicate| {
                Ok::<_, stonecrop_keys::Error>(range.and_then(|range| {
                    schema.range(&equal, predicate).map(|next| range.intersect(next))
                }))
            });
            match narrowed {
                Ok(Ok(range)) if !range.is_empty() => ranges.list.push((equal.len(), range)),
                Ok(Ok(_)) => {}
                // A value that the field can't hold: the filter will tell.
                _ => return Ranges::default(),
            }
        }
        let bytes = |range: &KeyRange| range.start.clone();
        ranges.list.sort_by_key(|(_, range)| bytes(range));
        ranges.list.dedup_by(|(_, a), (_, b)| a == b);
        ranges
    }

    /// The part that gives a column only some values, and these.
    fn equal(
        &self,
        source: &Source,
        of: &Type,
        nulls: Nulls,
    ) -> Option<(usize, Vec<KeyValue<'static>>)> {
        let about = self.list.iter().enumerate();
        let mut about = about.filter(|(_, part)| part.source.as_ref() == Some(source));
        about.find_map(|(at, part)| {
            let Bound::Equal(values) = &part.bound else { return None };
            let keys = values.iter().map(|value| {
                let allowed = nulls != Nulls::NotAllowed || **value != Value::Null;
                to_bound(value, of).filter(|_| allowed)
            });
            Some((at, keys.collect::<Option<Vec<_>>>()?))
        })
    }

    /// The parts that are not among these.
    pub(super) fn others(&self, used: &[usize]) -> Vec<usize> {
        (0..self.list.len()).filter(|at| !used.contains(at)).collect()
    }

    /// The parts that are not among these, as one condition.
    pub(super) fn without(&self, used: &[usize]) -> Option<Condition> {
        let kept = self.list.iter().enumerate().filter(|(at, _)| !used.contains(at));
        let mut kept: Vec<Condition> = kept.map(|(_, part)| part.condition.clone()).collect();
        if kept.len() > 1 { Some(Condition::All(kept)) } else { kept.pop() }
    }
}

/// What a filter comes to for a key or an index.
#[derive(Default)]
pub(super) struct Ranges {
    /// In order, apart from each other; with how many fields are given by each.
    pub(super) list: Vec<(usize, KeyRange)>,
    /// For each of the first fields that is given, whether there is only one value for it.
    pub(super) pinned: Vec<bool>,
    /// Whether the field after these is narrowed as well.
    pub(super) narrowed: bool,
    /// The parts of the filter that say nothing beyond the ranges.
    pub(super) used: Vec<usize>,
}

impl Ranges {
    /// Whether the ranges are less than everything.
    pub(super) fn is_bound(&self) -> bool {
        !self.pinned.is_empty() || self.narrowed
    }
}

impl<'c> Part<'c> {
    fn new(condition: &'c Condition, table: &TableState) -> Self {
        let (path, bound, not_null) = match condition {
            Condition::Compare(path, Comparison::Eq, value) => {
                (path, Bound::Equal(vec![value]), *value != Value::Null)
            }
            Condition::Compare(path, Comparison::Ne, _) => (path, Bound::None, false),
            Condition::Compare(path, how, value) => {
                (path, Bound::Compare(*how, value), *value != Value::Null)
            }
            Condition::In(path, values) => {
                let not_null = !values.contains(&Value::Null);
                (path, Bound::Equal(values.iter().collect()), not_null)
            }
            Condition::IsNull(path) => (path, Bound::Equal(vec![&Value::Null]), false),
            Condition::Between(path, low, high) => {
                let not_null = *low != Value::Null && *high != Value::Null;
                (path, Bound::Between(low, high), not_null)
            }
            Condition::BeginsWith(path, start) => (path, Bound::BeginsWith(start), true),
            Condition::Contains(path, _) => (path, Bound::None, true),
            Condition::Has(path) => (path, Bound::None, false),
            Condition::HasValue(path) => (path, Bound::NotNull, true),
            Condition::IsFresh(column)
            | Condition::IsStale(column)
            | Condition::WrittenAt(column, _, _) => {
                let needs = Some(Source::new(table, column));
                return Part { needs, ..Part::opaque(condition) };
            }
            _ => return Part::opaque(condition),
        };
        let (source, steps) = find(path, table);
        if !steps.is_empty() {
            return Part { needs: Some(source), ..Part::opaque(condition) };
        }
        Part { condition, bound, needs: Some(source.clone()), source: Some(source), not_null }
    }

    fn opaque(condition: &'c Condition) -> Self {
        Part { condition, source: None, bound: Bound::None, needs: None, not_null: false }
    }
}

impl<'c> Bound<'c> {
    /// What it says of a field, as ranges that must all hold the value; none where these would
    /// hold others too.
    fn predicates(&self, of: &Type, nullable: bool) -> Option<Vec<Predicate<'static>>> {
        // Their bytes are in another order than their values.
        let in_order = !matches!(of, Type::UuidV1);
        let bound =
            |value: &&Value| to_bound(value, of).filter(|value| in_order && !value.is_null());
        Some(match self {
            Bound::Compare(Comparison::Lt, value) => vec![Predicate::Lt(bound(value)?)],
            Bound::Compare(Comparison::Le, value) => vec![Predicate::Le(bound(value)?)],
            Bound::Compare(Comparison::Gt, value) => vec![Predicate::Gt(bound(value)?)],
            Bound::Compare(Comparison::Ge, value) => vec![Predicate::Ge(bound(value)?)],
            Bound::Between(low, high) => {
                vec![Predicate::Ge(bound(low)?), Predicate::Le(bound(high)?)]
            }
            Bound::BeginsWith(start) if matches!(of, Type::String | Type::Bytes) => {
                vec![Predicate::BeginsWith(bound(start)?)]
            }
            Bound::NotNull if nullable => vec![Predicate::NotNull],
            Bound::NotNull => Vec::new(),
            _ => return None,
        })
    }
}

/// A value as a field of a key, where it stands for no other value than that.
pub(super) fn to_bound(value: &Value, of: &Type) -> Option<KeyValue<'static>> {
    use Type as T;
    Some(match (of, value) {
        (_, Value::Null) => KeyValue::Null,
        (T::Bool, Value::Bool(value)) => KeyValue::Bool(*value),
        (
            T::U8
            | T::U16
            | T::U32
            | T::U64
            | T::I8
            | T::I16
            | T::I32
            | T::I64
            | T::I128
            | T::U128
            | T::Varuint
            | T::Varint,
            value,
        ) => KeyValue::Int(whole(value)?.into()),
        (T::F64, Value::Float(value)) => KeyValue::F64(*value),
        (T::F64, Value::Int(value)) => {
            let float = *value as f64;
            KeyValue::F64(Some(float).filter(|_| value.unsigned_abs() <= 1 << 53)?)
        }
        (T::F32, Value::Float(value)) => {
            let short = *value as f32;
            KeyValue::F32(Some(short).filter(|short| f64::from(*short) == *value)?)
        }
        (T::Decimal, Value::Decimal(value)) => KeyValue::Decimal(*value),
        (T::Decimal, Value::Int(value)) => KeyValue::Decimal((*value).into()),
        (T::String, Value::String(value)) => KeyValue::String(value.clone().into()),
        (T::Bytes, Value::Bytes(value)) => KeyValue::Bytes(value.clone().into()),
        (T::FixedBytes(length), Value::Bytes(value)) if value.len() == usize::from(*length) => {
            KeyValue::Bytes(value.clone().into())
        }
        (T::Uuid | T::UuidV1, Value::Uuid(value)) => KeyValue::Uuid(value.0),
        (T::Timestamp(TimeUnit::Microseconds), Value::Timestamp(value)) => {
            KeyValue::Timestamp(value.as_micros(), TimeUnit::Microseconds)
        }
        (T::Timestamp(TimeUnit::Milliseconds), Value::Timestamp(value))
            if value.as_micros() % 1000 == 0 =>
        {
            KeyValue::Timestamp(value.as_micros() / 1000, TimeUnit::Milliseconds)
        }
        (T::Date, Value::Date(value)) => KeyValue::Date(value.0),
        _ => return None,
    })
}

fn whole(value: &Value) -> Option<i64> {
    match value {
        Value::Int(value) => Some(*value),
        Value::Float(value) if value.trunc() == *value && value.abs() < 9e15 => Some(*value as i64),
        Value::Decimal(value) => value.to_string().parse().ok(),
        _ => None,
    }
}

/// Whether keys of a type are in the order of the values that conditions see; those that are
/// rounded are so only where nothing is sorted within equals.
fn keeps_order(of: &Type, is_last: bool) -> bool {
    use Type as T;
    match of {
        T::UuidV1 | T::Geo2(_) | T::Geo3(_) | T::F32Exact | T::F64Exact => false,
        T::Tuple(_) | T::List(_) => false,
        T::Timestamp(TimeUnit::Nanoseconds) | T::U128 | T::I128 => is_last,
        _ => true,
    }
}

/// Whether rows in the order of some fields are in the order that is asked for; and if so, whether
/// they have to be read backward.
pub(super) fn follows<'s>(
    fields: impl Iterator<Item = (&'s Field, &'s Source)>,
    pinned: &[bool],
    wanted: &[(&Source, bool)],
) -> Option<bool> {
    let mut wanted = wanted.iter().peekable();
    let mut backward = None;
    let mut passed: Vec<&Source> = Vec::new();
    for (at, (field, source)) in fields.enumerate() {
        let Some((next, descending)) = wanted.peek() else { break };
        // Among rows that are equal so far, a field has one value if it came before.
        let is_settled = pinned.get(at).copied().unwrap_or(false) || passed.contains(&source);
        passed.push(source);
        if *next != source {
            if is_settled {
                continue;
            }
            return None;
        }
        let reversed = *descending != (field.direction() == Direction::Desc);
        if *backward.get_or_insert(reversed) != reversed {
            return None;
        }
        wanted.next();
        let is_last = wanted.peek().is_none();
        if !keeps_order(field.field_type(), is_last) {
            return None;
        }
    }
    if wanted.peek().is_some() { None } else { Some(backward.unwrap_or(false)) }
}

impl Parts<'_> {
    /// The parts that are true of every row that has an entry in an index over these columns.
    pub(super) fn implied(&self, schema: &Schema, sources: &[Source]) -> Vec<usize> {
        let is_implied = |part: &Part<'_>| {
            let field = sources.iter().zip(schema.fields());
            let mut field = field.filter(|(source, _)| part.source.as_ref() == Some(source));
            let Some((_, field)) = field.next() else { return false };
            match part.condition {
                Condition::Has(_) => true,
                Condition::HasValue(_) => field.nulls() == Nulls::NotAllowed,
                _ => false,
            }
        };
        let parts = self.list.iter().enumerate();
        parts.filter(|(_, part)| is_implied(part)).map(|(at, _)| at).collect()
    }
}
