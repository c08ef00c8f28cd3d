//! Which stretch of the key space holds the keys that a predicate is true of.

use std::ops::Bound;

use crate::encode::write_field;
use crate::error::{Error, Result};
use crate::schema::{Direction, Field, Schema, Type};
use crate::tag;
use crate::types::escaped;
use crate::types::geo::{Curve, cover};
use crate::value::Value;

/// What is asked of the field that follows the fields with known values. Only [`Predicate::Any`]
/// is true of null; to ask for null, give [`Value::Null`] among the known values.
///
/// ```
/// use stonecrop_keys::{Predicate, Schema, Value};
/// let schema: Schema = "tenant string, seq u32 nulls last".parse()?;
/// let null = schema.encode(&["acme".into(), Value::Null])?;
/// let tenant = ["acme".into()];
/// assert!(schema.range(&tenant, &Predicate::Any)?.contains(&null));
/// assert!(!schema.range(&tenant, &Predicate::Ge(5.into()))?.contains(&null));
/// # Ok::<(), stonecrop_keys::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Predicate<'a> {
    /// Any value, or null.
    Any,
    /// Any value but null.
    NotNull,
    /// `<`
    Lt(Value<'a>),
    /// `<=`
    Le(Value<'a>),
    /// `>`
    Gt(Value<'a>),
    /// `>=`
    Ge(Value<'a>),
    /// From the first to the second, both included.
    Between(Value<'a>, Value<'a>),
    /// For `string`, `bytes`, `bytes(n)` and `raw`.
    BeginsWith(Value<'a>),
}

/// A stretch of the key space: the keys from `start` on that are below `end`.
///
/// ```
/// use stonecrop_keys::KeyRange;
/// use std::collections::BTreeMap;
/// let store: BTreeMap<Vec<u8>, u8> = (0..9).map(|n| (vec![n], n)).collect();
/// let range = KeyRange { start: vec![3], end: Some(vec![5]) };
/// let found: Vec<u8> = store.range::<[u8], _>(range.bounds()).map(|(_, n)| *n).collect();
/// assert_eq!(found, [3, 4]);
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct KeyRange {
    /// The first key of the range, if it is there.
    pub start: Vec<u8>,
    /// The first key after the range; none where the range goes on to the last key.
    pub end: Option<Vec<u8>>,
}

impl KeyRange {
    /// Whether a key lies in the range.
    ///
    /// ```
    /// # use stonecrop_keys::KeyRange;
    /// let range = KeyRange { start: vec![3], end: Some(vec![5]) };
    /// assert!(range.contains(&[4, 255]) && !range.contains(&[5]));
    /// ```
    pub fn contains(&self, key: &[u8]) -> bool {
        self.start.as_slice() <= key && self.end.as_ref().is_none_or(|end| key < end.as_slice())
    }

    /// Whether no key can lie in the range.
    ///
    /// ```
    /// # use stonecrop_keys::{Predicate, Schema};
    /// let schema: Schema = "seq u8".parse()?;
    /// assert!(schema.range(&[], &Predicate::Between(7.into(), 3.into()))?.is_empty());
    /// # Ok::<(), stonecrop_keys::Error>(())
    /// ```
    pub fn is_empty(&self) -> bool {
        self.end.as_ref().is_some_and(|end| *end <= self.start)
    }

    /// The range as `BTreeMap::range` and most stores take it.
    ///
    /// ```
    /// # use stonecrop_keys::KeyRange;
    /// use std::ops::Bound;
    /// let range = KeyRange { start: vec![3], end: None };
    /// assert_eq!(range.bounds(), (Bound::Included(&[3][..]), Bound::Unbounded));
    /// ```
    pub fn bounds(&self) -> (Bound<&[u8]>, Bound<&[u8]>) {
        let end = self.end.as_deref().map_or(Bound::Unbounded, Bound::Excluded);
        (Bound::Included(&self.start), end)
    }

    /// All keys from `start` on that are below `end`; no key where that is nothing.
    fn new(start: Vec<u8>, end: Option<Vec<u8>>) -> Self {
        let end = end.map(|end| end.max(start.clone()));
        KeyRange { start, end }
    }

    /// All keys that begin with these bytes.
    ///
    /// ```
    /// use stonecrop_keys::{KeyBuilder, KeyRange};
    /// let mut prefix = Vec::new();
    /// KeyBuilder::new(&mut prefix).push("acme");
    /// assert!(KeyRange::prefix(prefix.clone()).contains(&[prefix, vec![0x09]].concat()));
    /// ```
    pub fn prefix(prefix: impl Into<Vec<u8>>) -> Self {
        let start = prefix.into();
        KeyRange { end: after_prefix(&start), start }
    }

    /// The keys that lie in both ranges, as in `from <= x < to`.
    ///
    /// ```
    /// use stonecrop_keys::{Predicate, Schema};
    /// let schema: Schema = "seq u8".parse()?;
    /// let from = schema.range(&[], &Predicate::Ge(3.into()))?;
    /// let range = from.intersect(schema.range(&[], &Predicate::Lt(5.into()))?);
    /// let inside = |n: u8| range.contains(&schema.encode(&[n.into()]).unwrap());
    /// assert_eq!([2, 3, 4, 5].map(inside), [false, true, true, false]);
    /// # Ok::<(), stonecrop_keys::Error>(())
    /// ```
    #[must_use]
    pub fn intersect(self, other: KeyRange) -> Self {
        let end = match (self.end, other.end) {
            (Some(a), Some(b)) => Some(a.min(b)),
            (a, b) => a.or(b),
        };
        KeyRange::new(self.start.max(other.start), end)
    }

    /// The same range of keys that stand behind `prefix`, as those of one table do.
    ///
    /// ```
    /// use stonecrop_keys::{KeyRange, RecordPrefix};
    /// let rows = RecordPrefix::new(2, 0)?.to_bytes();
    /// let all = KeyRange { start: vec![], end: None };
    /// assert_eq!(all.under(&rows), KeyRange::prefix(rows));
    /// # Ok::<(), stonecrop_keys::Error>(())
    /// ```
    #[must_use]
    pub fn under(self, prefix: &[u8]) -> Self {
        KeyRange {
            start: [prefix, &self.start].concat(),
            end: match self.end {
                Some(end) => Some([prefix, &end].concat()),
                None => after_prefix(prefix),
            },
        }
    }
}

/// The first key after all that begin with `prefix`: its last byte that can grow, grown. Appending
/// FF instead would lose the keys that go on with FF FF.
fn after_prefix(prefix: &[u8]) -> Option<Vec<u8>> {
    let mut end = prefix.to_vec();
    while let Some(last) = end.pop() {
        if let Some(grown) = last.checked_add(1) {
            end.push(grown);
            return Some(end);
        }
    }
    None
}

impl Schema {
    /// The keys whose first fields have the values `equal` and whose next field satisfies
    /// `predicate`. The range holds those keys and no others of this schema.
    ///
    /// ```
    /// use stonecrop_keys::{Predicate, Schema};
    /// let schema: Schema = "tenant string, name string desc".parse()?;
    /// let range = schema.range(&["acme".into()], &Predicate::BeginsWith("al".into()))?;
    /// assert!(range.contains(&schema.encode(&["acme".into(), "alice".into()])?));
    /// assert!(!range.contains(&schema.encode(&["acme".into(), "bob".into()])?));
    /// assert!(!range.contains(&schema.encode(&["zeta".into(), "alice".into()])?));
    /// # Ok::<(), stonecrop_keys::Error>(())
    /// ```
    pub fn range(&self, equal: &[Value<'_>], predicate: &Predicate<'_>) -> Result<KeyRange> {
        let (prefix, next) = self.prefix(equal)?;
        let Some(field) = next else {
            return match predicate {
                Predicate::Any => Ok(self.whole_key(prefix)),
                _ => Err(Error::value(format!(
                    "all {} fields have values, and none is left for the predicate",
                    equal.len()
                ))),
            };
        };
        field_range(prefix, field, predicate).map_err(|error| error.in_field(field.name()))
    }

    /// Ranges that hold every key whose first fields have the values `equal` and whose next one,
    /// a point, lies in the box from `low` to `high`. They are in order, do not overlap, and are
    /// at most `most` (1 to 1,024). They can hold points outside of the box as well: fewer the
    /// more ranges are allowed. A box whose western edge is east of its eastern one crosses the
    /// antimeridian.
    ///
    /// ```
    /// use stonecrop_keys::{Point2, Schema};
    /// let schema: Schema = "at geo2(hilbert), id u64".parse()?;
    /// let low = Point2::from_degrees(13.0, 52.3)?;
    /// let high = Point2::from_degrees(13.8, 52.7)?;
    /// let ranges = schema.box_ranges(&[], &low.into(), &high.into(), 8)?;
    /// let berlin = schema.encode(&[Point2::from_degrees(13.4, 52.5)?.into(), 1.into()])?;
    /// assert!(ranges.len() <= 8 && ranges.iter().any(|range| range.contains(&berlin)));
    /// # Ok::<(), stonecrop_keys::Error>(())
    /// ```
    pub fn box_ranges(
        &self,
        equal: &[Value<'_>],
        low: &Value<'_>,
        high: &Value<'_>,
        most: usize,
    ) -> Result<Vec<KeyRange>> {
        let (prefix, next) = self.prefix(equal)?;
        let Some(field) = next else {
            return Err(Error::value("all fields have values, and none is left for the box"));
        };
        let most = most.clamp(1, 1_024);
        let (size, intervals) = match (field.field_type(), low, high) {
            (Type::Geo2(curve), Value::Point2(low), Value::Point2(high)) => {
                (8, box_intervals(*curve, (*low).into(), (*high).into(), most))
            }
            (Type::Geo3(curve), Value::Point3(low), Value::Point3(high)) => {
                (12, box_intervals(*curve, (*low).into(), (*high).into(), most))
            }
            (ty, ..) => {
                let message = format!("a box needs a geo field and two of its points, not {ty}");
                return Err(Error::value(message).in_field(field.name()));
            }
        };
        let ranges = intervals.into_iter().map(|interval| {
            let (first, last) = match field.direction() {
                Direction::Asc => interval,
                Direction::Desc => (interval.1, interval.0),
            };
            let start = point_field(&prefix, field, first, size);
            KeyRange { start, end: after_prefix(&point_field(&prefix, field, last, size)) }
        });
        let mut ranges: Vec<_> = ranges.collect();
        ranges.sort_unstable_by(|a, b| a.start.cmp(&b.start));
        Ok(ranges)
    }

    /// The bytes of the fields whose values are known, and the field after them.
    fn prefix(&self, equal: &[Value<'_>]) -> Result<(Vec<u8>, Option<&Field>)> {
        Ok((self.encode_prefix(equal)?, self.fields().get(equal.len())))
    }

    /// The one key with all fields given.
    fn whole_key(&self, key: Vec<u8>) -> KeyRange {
        match self.fields().last() {
            Some(field) if field.field_type() == &Type::Raw => {
                let end = Some(after_key(&key));
                KeyRange { start: key, end }
            }
            _ => KeyRange::prefix(key),
        }
    }
}

/// The very next key. Only a raw field, which has no end of its own, needs it.
fn after_key(key: &[u8]) -> Vec<u8> {
    [key, &[0]].concat()
}

fn field_range(prefix: Vec<u8>, field: &Field, predicate: &Predicate<'_>) -> Result<KeyRange> {
    let encode = |value: &Value<'_>| {
        if value.is_null() {
            return Err(Error::value("nothing compares with null; ask for it as a known value"));
        }
        let mut bytes = prefix.clone();
        write_field(field, value, &mut bytes)?;
        Ok(bytes)
    };
    let after = |bytes: Vec<u8>| match field.field_type() {
        Type::Raw => Some(after_key(&bytes)),
        _ => after_prefix(&bytes),
    };
    let (first, end) = values_range(&prefix, field);
    let all = || (first.clone(), Some(end.clone()));
    // Each as an ascending field has it; a descending one has it the other way round.
    let ascending = field.direction() == Direction::Asc;
    let (start, end) = match predicate {
        Predicate::Any => return Ok(KeyRange::prefix(prefix)),
        Predicate::NotNull => all(),
        Predicate::BeginsWith(value) => return begins_with(prefix, field, value),
        Predicate::Lt(value) if ascending => (all().0, Some(encode(value)?)),
        Predicate::Lt(value) => (after(encode(value)?).unwrap_or_default(), all().1),
        Predicate::Le(value) if ascending => (all().0, after(encode(value)?)),
        Predicate::Le(value) => (encode(value)?, all().1),
        Predicate::Gt(value) if ascending => (after(encode(value)?).unwrap_or_default(), all().1),
        Predicate::Gt(value) => (all().0, Some(encode(value)?)),
        Predicate::Ge(value) if ascending => (encode(value)?, all().1),
        Predicate::Ge(value) => (all().0, after(encode(value)?)),
        Predicate::Between(low, high) if ascending => (encode(low)?, after(encode(high)?)),
        Predicate::Between(low, high) => (encode(high)?, after(encode(low)?)),
    };
    Ok(KeyRange::new(start, end))
}

/// Where the values of a field that are not null begin and end: the tags of its type.
fn values_range(prefix: &[u8], field: &Field) -> (Vec<u8>, Vec<u8>) {
    let (first, last) = match (field.field_type().tags(), field.direction()) {
        (tags, Direction::Asc) => tags,
        ((first, last), Direction::Desc) => (!last, !first),
    };
    // No tag is FF, so there is always a byte after the last one.
    ([prefix, &[first]].concat(), [prefix, &[last.saturating_add(1)]].concat())
}

fn begins_with(mut prefix: Vec<u8>, field: &Field, value: &Value<'_>) -> Result<KeyRange> {
    let beginning: &[u8] = match (field.field_type(), value) {
        (Type::String, Value::String(text)) => text.as_bytes(),
        (Type::Bytes | Type::FixedBytes(_) | Type::Raw, Value::Bytes(bytes)) => bytes,
        (ty, value) => {
            return Err(Error::value(format!(
                "begins-with is for string, bytes and raw fields, and takes their values; this is \
                 {ty} and {}",
                value.kind()
            )));
        }
    };
    let start = prefix.len();
    prefix.push(field.field_type().tags().0);
    match field.field_type() {
        Type::FixedBytes(length) if beginning.len() > usize::from(*length) => {
            // Longer than any value: nothing begins with it.
            return Ok(KeyRange { end: Some(prefix.clone()), start: prefix });
        }
        Type::FixedBytes(_) | Type::Raw => prefix.extend_from_slice(beginning),
        _ => escaped::write_open(beginning, &mut prefix),
    }
    if field.direction() == Direction::Desc {
        for byte in prefix.iter_mut().skip(start) {
            *byte = !*byte;
        }
    }
    Ok(KeyRange::prefix(prefix))
}

/// The intervals of the curve for a box, of which the first axis goes around the world.
fn box_intervals<const D: usize>(
    curve: Curve,
    low: [u32; D],
    high: [u32; D],
    most: usize,
) -> Vec<(u128, u128)> {
    let around = low.first() > high.first();
    if !around {
        return cover(curve, low, high, most);
    }
    let (mut east_edge, mut west_edge) = (high, low);
    if let (Some(east), Some(west)) = (east_edge.first_mut(), west_edge.first_mut()) {
        (*east, *west) = (u32::MAX, 0);
    }
    // Half of the ranges each; with a single one allowed, all that lies between as well.
    let mut intervals = cover(curve, low, east_edge, most.div_ceil(2));
    intervals.extend(cover(curve, west_edge, high, (most / 2).max(1)));
    intervals.sort_unstable();
    crate::types::geo::join(intervals, most)
}

fn point_field(prefix: &[u8], field: &Field, index: u128, size: usize) -> Vec<u8> {
    let bytes = index.to_be_bytes();
    let payload = bytes.iter().skip(bytes.len() - size);
    let mask = if field.direction() == Direction::Desc { 0xFF } else { 0 };
    let tag = [field.field_type().tags().0];
    prefix.iter().copied().chain(tag.iter().chain(payload).map(|byte| byte ^ mask)).collect()
}

// Nulls are one byte outside of all tags, which is why `values_range` need not know of them.
const _: () = assert!(tag::NULL_FIRST < 0x05 && tag::NULL_LAST > !0x05);
