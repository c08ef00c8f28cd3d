//! Random steps against a plain map, on both engines, with flushes, compactions and reopening in
//! between. The model keeps the documented rules and knows nothing of how they are stored.

use std::collections::BTreeMap;
use std::time::Duration;

use proptest::prelude::*;
use stonecrop::keys::{Predicate, Schema, stripe};
use stonecrop::{
    Clock, Comparison, Condition, Error, Family, Placement, Row, Scan, Table, TableSchema,
    Timestamp, Value, Write,
};

use crate::harness::{Engine, Fixture, START, State, seconds};

const PARTITIONS: [&str; 3] = ["p", "q", "r\0"];
const SORTS: u64 = 3;
const A: [&str; 3] = ["a1", "a2", "a3"];
const B: [&str; 2] = ["b1", "b2"];
const LOOSE: [&str; 2] = ["x", "y"];
const B_TTL: Duration = seconds(10);
const B_KEEP: Duration = seconds(20);
const DAY: Duration = seconds(86_400);

type Key = (&'static str, u64);

fn schema(placement: Placement) -> TableSchema {
    let [a1, a2, a3] = A;
    let [b1, b2] = B;
    TableSchema::new("table", "p string", "s u64")
        .unwrap()
        .placement(placement)
        .family(Family::new("a").column(a1).column(a2).column(a3))
        .family(Family::new("b").column(b1).column(b2).ttl(B_TTL).keep(B_KEEP))
}

/// The family that a column is in: its own where it is declared in none.
fn family(column: &str) -> &str {
    match column {
        "a1" | "a2" | "a3" => "a",
        "b1" | "b2" => "b",
        other => other,
    }
}

// What is done.

#[derive(Clone, Debug)]
enum Step {
    Write(Vec<OneWrite>),
    Get(Key),
    GetColumns(Key, Vec<&'static str>),
    MultiGet(Vec<Key>, Option<Vec<&'static str>>),
    Scan(ScanStep),
    Segments(u32),
    Forward(u64),
    Back(u64),
    Truncate,
    DropAndCreate,
    Bring(State),
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Kind {
    Put,
    Replace,
    Delete,
}

#[derive(Clone, Debug)]
struct OneWrite {
    kind: Kind,
    key: Key,
    changes: BTreeMap<&'static str, Change>,
    /// Seconds from now.
    written_at: Option<i64>,
    lifetime: Option<(u64, u64)>,
    condition: Option<ConditionStep>,
}

#[derive(Clone, Debug)]
enum Change {
    Set(Value),
    Remove,
    Add(i64),
    Append(i64),
}

#[derive(Clone, Debug)]
enum ConditionStep {
    Exists,
    NotExists,
    Has(&'static str),
    Compare(&'static str, Comparison, Value),
    /// Seconds from now.
    WrittenAt(&'static str, Comparison, i64),
    All(Box<[ConditionStep; 2]>),
    Any(Box<[ConditionStep; 2]>),
    Not(Box<ConditionStep>),
}

#[derive(Clone, Debug)]
struct ScanStep {
    partition: Option<&'static str>,
    range: Range,
    columns: Option<Vec<&'static str>>,
    filter: Option<ConditionStep>,
    backward: bool,
    limit: Option<usize>,
}

#[derive(Clone, Copy, Debug)]
enum Range {
    Any,
    Lt(u64),
    Ge(u64),
    Between(u64, u64),
}

// How it is made up.

/// One row more often than the others, so that much happens to it.
fn key() -> impl Strategy<Value = Key> {
    prop_oneof![
        2 => Just((PARTITIONS[0], 0)),
        1 => (prop::sample::select(&PARTITIONS[..]), 0..SORTS),
    ]
}

fn column() -> impl Strategy<Value = &'static str> {
    prop::sample::select([&A[..], &B, &LOOSE].concat())
}

fn columns() -> impl Strategy<Value = Vec<&'static str>> {
    prop::collection::vec(column(), 0..4)
}

fn value() -> impl Strategy<Value = Value> {
    prop_oneof![
        6 => (0..4_i64).prop_map(Value::Int),
        1 => Just(Value::Null),
        1 => "[ab]".prop_map(Value::String),
        2 => prop::collection::vec((0..3_i64).prop_map(Value::Int), 0..3).prop_map(Value::List),
    ]
}

fn offset() -> impl Strategy<Value = i64> {
    prop_oneof![
        8 => -12..4_i64,
        2 => -40..-12_i64,
        2 => prop::sample::select(vec![-86_390, -86_405, -86_460, -86_500, -86_510, -172_900]),
    ]
}

fn comparison() -> impl Strategy<Value = Comparison> {
    use Comparison::{Eq, Ge, Gt, Le, Lt, Ne};
    prop::sample::select(vec![Eq, Ne, Lt, Le, Gt, Ge])
}

fn condition() -> impl Strategy<Value = ConditionStep> {
    let leaf = prop_oneof![
        2 => Just(ConditionStep::Exists),
        2 => Just(ConditionStep::NotExists),
        1 => column().prop_map(ConditionStep::Has),
        3 => (column(), comparison(), value())
            .prop_map(|(column, how, value)| ConditionStep::Compare(column, how, value)),
        1 => (column(), comparison(), offset())
            .prop_map(|(column, how, offset)| ConditionStep::WrittenAt(column, how, offset)),
    ];
    leaf.prop_recursive(2, 4, 2, |inner| {
        let two = [inner.clone(), inner.clone()];
        prop_oneof![
            two.clone().prop_map(|two| ConditionStep::All(Box::new(two))),
            two.prop_map(|two| ConditionStep::Any(Box::new(two))),
            inner.prop_map(|one| ConditionStep::Not(Box::new(one))),
        ]
    })
}

fn one_write() -> impl Strategy<Value = OneWrite> {
    let change = prop_oneof![
        6 => value().prop_map(Change::Set),
        2 => Just(Change::Remove),
        2 => (-2..3_i64).prop_map(Change::Add),
        1 => (0..3_i64).prop_map(Change::Append),
    ];
    let kind = prop_oneof![6 => Just(Kind::Put), 2 => Just(Kind::Replace), 2 => Just(Kind::Delete)];
    let changes = prop::collection::btree_map(column(), change, 0..5);
    let lifetime = prop::option::weighted(0.2, (0..8_u64, 0..8_u64));
    let written_at = prop::option::weighted(0.4, offset());
    let condition = prop::option::weighted(0.2, condition());
    (kind, key(), changes, written_at, lifetime, condition).prop_map(
        |(kind, key, mut changes, written_at, lifetime, condition)| {
            match kind {
                Kind::Put => {}
                // What is replaced has no value to change.
                Kind::Replace => changes.retain(|_, change| matches!(change, Change::Set(_))),
                Kind::Delete => changes.clear(),
            }
            OneWrite { kind, key, changes, written_at, lifetime, condition }
        },
    )
}

fn scan() -> impl Strategy<Value = ScanStep> {
    let range = prop_oneof![
        Just(Range::Any),
        (0..=SORTS).prop_map(Range::Lt),
        (0..=SORTS).prop_map(Range::Ge),
        (0..=SORTS, 0..=SORTS).prop_map(|(from, to)| Range::Between(from, to)),
    ];
    let partition = prop::option::of(prop::sample::select(&PARTITIONS[..]));
    let parts = (partition, range, prop::option::weighted(0.3, columns()));
    let more =
        (prop::option::weighted(0.4, condition()), any::<bool>(), prop::option::of(1..4_usize));
    (parts, more).prop_map(|((partition, range, columns), (filter, backward, limit))| {
        // The sort key can be restricted only within a partition.
        let range = if partition.is_some() { range } else { Range::Any };
        ScanStep { partition, range, columns, filter, backward, limit }
    })
}

fn step() -> impl Strategy<Value = Step> {
    let keys = prop::collection::vec(key(), 0..4);
    let forward = prop::sample::select(vec![1, 2, 5, 9, 10, 30, 31, 70, 86_390, 86_460, 86_500]);
    prop_oneof![
        24 => one_write().prop_map(|write| Step::Write(vec![write])),
        6 => prop::collection::vec(one_write(), 2..5).prop_map(Step::Write),
        6 => key().prop_map(Step::Get),
        6 => (key(), columns()).prop_map(|(key, columns)| Step::GetColumns(key, columns)),
        2 => (keys, prop::option::of(columns())).prop_map(|(keys, names)| Step::MultiGet(keys, names)),
        8 => scan().prop_map(Step::Scan),
        1 => (1..5_u32).prop_map(Step::Segments),
        5 => forward.prop_map(Step::Forward),
        2 => (1..9_u64).prop_map(Step::Back),
        1 => Just(Step::Truncate),
        1 => Just(Step::DropAndCreate),
        1 => Just(Step::Bring(State::Flushed)),
        1 => Just(Step::Bring(State::Compacted)),
        1 => Just(Step::Bring(State::Reopened)),
    ]
}

// What should come of it.

/// All rows by where they are in the order of the table.
type Rows = BTreeMap<(u8, &'static str, u64), ModelRow>;

#[derive(Clone, Debug, Default)]
struct ModelRow {
    /// By their names; the one without a name says that the row is there.
    families: BTreeMap<&'static str, ModelFamily>,
    removed: Option<Removal>,
}

#[derive(Clone, Debug)]
struct ModelFamily {
    written_at: Timestamp,
    fresh_until: Timestamp,
    gone_at: Timestamp,
    /// None where the family was removed, which is remembered until it is gone.
    columns: Option<BTreeMap<&'static str, Value>>,
}

/// The row was deleted or replaced.
#[derive(Clone, Copy, Debug)]
struct Removal {
    written_at: Timestamp,
    gone_at: Timestamp,
}

#[derive(Debug, PartialEq)]
enum Failure {
    Condition(usize),
    Value,
}

/// A column as a reader sees it: its value, whether it is fresh, its two times.
type ModelCell = (Value, bool, Timestamp, Timestamp);

impl ModelRow {
    fn exists(&self, now: Timestamp) -> bool {
        self.families.values().any(|family| family.columns.is_some() && now < family.gone_at)
    }

    fn cell(&self, now: Timestamp, column: &str) -> Option<ModelCell> {
        let found = self.families.get(family(column)).filter(|family| now < family.gone_at)?;
        let value = found.columns.as_ref()?.get(column)?.clone();
        Some((value, now < found.fresh_until, found.written_at, found.fresh_until))
    }

    /// In the order that rows have their columns in.
    fn cells(&self, now: Timestamp, wanted: Option<&[&str]>) -> Vec<(String, ModelCell)> {
        let all = A.iter().chain(&B).chain(&LOOSE);
        let named = all.filter(|column| wanted.is_none_or(|wanted| wanted.contains(column)));
        named.filter_map(|column| Some(((*column).to_owned(), self.cell(now, column)?))).collect()
    }

    fn write(&mut self, now: Timestamp, write: &OneWrite) -> Result<Vec<String>, Failure> {
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
fn called(name: &str) -> String {
    if name.is_empty() { "row" } else { name }.to_owned()
}

fn new_family(
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

fn from(now: Timestamp, offset: i64) -> Timestamp {
    Timestamp::from_micros(now.as_micros() + offset * 1_000_000)
}

fn order(a: &Value, b: &Value) -> Option<std::cmp::Ordering> {
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

fn compares(order: Option<std::cmp::Ordering>, how: Comparison) -> bool {
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
    fn holds(&self, row: &ModelRow, now: Timestamp) -> bool {
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

    fn real(&self, now: Timestamp) -> Condition {
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
    fn real(&self, now: Timestamp) -> Write<'static> {
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
    fn real(&self, now: Timestamp) -> Scan<'static> {
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

    fn wants(&self, (partition, sort): Key, row: &ModelRow, now: Timestamp) -> bool {
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

// Both side by side.

type PlainRow = (Vec<stonecrop::keys::Value<'static>>, Vec<(String, ModelCell)>);

fn plain(row: &Row) -> PlainRow {
    let cells = row.columns().map(|(name, cell)| {
        let cell = (cell.value.clone(), cell.fresh, cell.written_at, cell.fresh_until);
        (name.to_owned(), cell)
    });
    (row.key().values().to_vec(), cells.collect())
}

struct Run {
    fixture: Fixture,
    placement: Placement,
    table: Table,
    rows: Rows,
    /// The latest time that the clock ever showed.
    latest: Timestamp,
}

impl Run {
    fn new(engine: Engine, placement: Placement, shards: u16) -> Self {
        let fixture = Fixture::with_shards(engine, shards);
        let table = fixture.db.create_table(schema(placement)).unwrap();
        Run { fixture, placement, table, rows: Rows::new(), latest: START }
    }

    fn now(&self) -> Timestamp {
        self.fixture.clock.now()
    }

    fn place(&self, (partition, sort): Key) -> (u8, &'static str, u64) {
        let schema: Schema = "p string".parse().unwrap();
        let stripe = match self.placement {
            Placement::Hash => stripe(&schema.encode(&[partition.into()]).unwrap()),
            Placement::Range => 0,
        };
        (stripe, partition, sort)
    }

    fn expected(&self, key: Key, columns: Option<&[&str]>) -> Option<PlainRow> {
        let row = self.rows.get(&self.place(key)).filter(|row| row.exists(self.now()))?;
        Some((vec![key.0.into(), key.1.into()], row.cells(self.now(), columns)))
    }

    fn apply(&mut self, step: &Step) {
        match step {
            Step::Write(writes) => self.write(writes),
            Step::Get(key) => {
                let found = self.table.get(*key).unwrap();
                assert_eq!(found.as_ref().map(plain), self.expected(*key, None));
            }
            Step::GetColumns(key, columns) => {
                let found = self.table.get_columns(*key, columns.iter().copied()).unwrap();
                assert_eq!(found.as_ref().map(plain), self.expected(*key, Some(columns)));
            }
            Step::MultiGet(keys, columns) => {
                let found = self.table.multi_get(keys.iter().copied(), columns.as_deref()).unwrap();
                let found: Vec<_> = found.iter().map(|row| row.as_ref().map(plain)).collect();
                let expected = keys.iter().map(|key| self.expected(*key, columns.as_deref()));
                assert_eq!(found, expected.collect::<Vec<_>>());
            }
            Step::Scan(scan) => self.scan(scan),
            Step::Segments(count) => {
                let segments = (0..*count).flat_map(|index| {
                    let scan = Scan::all().segment(index, *count);
                    self.table.scan(scan).unwrap().map(|row| plain(&row.unwrap()))
                });
                assert_eq!(segments.collect::<Vec<_>>(), self.expected_scan(&ScanStep::all()));
            }
            Step::Forward(count) => {
                self.fixture.pass(*count);
                self.latest = self.latest.max(self.now());
            }
            Step::Back(count) => {
                // Compaction leaves a minute's room for a clock that goes back.
                let furthest = from(self.latest, -30);
                let back = from(self.now(), -(*count as i64));
                self.fixture.clock.set(back.max(furthest));
            }
            Step::Truncate => {
                self.table.truncate().unwrap();
                self.rows.clear();
            }
            Step::DropAndCreate => {
                self.fixture.db.drop_table("table").unwrap();
                self.table = self.fixture.db.create_table(schema(self.placement)).unwrap();
                self.rows.clear();
            }
            Step::Bring(state) => {
                self.fixture.bring(*state);
                self.table = self.fixture.table();
            }
        }
    }

    fn write(&mut self, writes: &[OneWrite]) {
        let now = self.now();
        let mut rows = self.rows.clone();
        let mut expected = Ok(Vec::new());
        for (index, write) in writes.iter().enumerate() {
            let row = rows.entry(self.place(write.key)).or_default();
            let refused = write.condition.as_ref().is_some_and(|c| !c.holds(row, now));
            let ignored = match refused {
                true => Err(Failure::Condition(index)),
                false => row.write(now, write),
            };
            expected = expected.and_then(|mut outcomes: Vec<_>| {
                outcomes.push(ignored?);
                Ok(outcomes)
            });
            if expected.is_err() {
                break;
            }
        }
        let found = match self.table.write_all(writes.iter().map(|write| write.real(now))) {
            Ok(receipt) => Ok(receipt.writes.into_iter().map(|write| write.ignored).collect()),
            Err(Error::ConditionFailed { write }) => Err(Failure::Condition(write)),
            Err(Error::Value { .. }) => Err(Failure::Value),
            Err(other) => panic!("{other}"),
        };
        // All or nothing.
        if expected.is_ok() {
            self.rows = rows;
        }
        assert_eq!(found.map(sorted), expected.map(sorted));
    }

    fn expected_scan(&self, scan: &ScanStep) -> Vec<PlainRow> {
        let now = self.now();
        let wanted = self.rows.iter().filter(|((_, partition, sort), row)| {
            row.exists(now) && scan.wants((*partition, *sort), row, now)
        });
        let columns = scan.columns.as_deref();
        let mut expected: Vec<_> = wanted
            .map(|((_, partition, sort), row)| {
                (vec![(*partition).into(), (*sort).into()], row.cells(now, columns))
            })
            .collect();
        if scan.backward {
            expected.reverse();
        }
        expected
    }

    /// Page by page, if there is a limit.
    fn scan(&self, scan: &ScanStep) {
        let mut found = Vec::new();
        let mut cursor = None;
        loop {
            let mut page = scan.real(self.now());
            if let Some(limit) = scan.limit {
                page = page.limit(limit);
            }
            if let Some(cursor) = cursor {
                page = page.after(cursor);
            }
            let mut rows = self.table.scan(page).unwrap();
            let before = found.len();
            found.extend(rows.by_ref().map(|row| plain(&row.unwrap())));
            let count = found.len() - before;
            assert!(scan.limit.is_none_or(|limit| count <= limit), "more than were asked for");
            cursor = rows.cursor();
            if cursor.is_none() {
                break;
            }
            assert_eq!(Some(count), scan.limit, "a page that is not full is the last");
        }
        assert_eq!(found, self.expected_scan(scan));
    }
}

impl ScanStep {
    fn all() -> Self {
        let range = Range::Any;
        ScanStep {
            partition: None,
            range,
            columns: None,
            filter: None,
            backward: false,
            limit: None,
        }
    }
}

fn sorted(mut outcomes: Vec<Vec<String>>) -> Vec<Vec<String>> {
    outcomes.iter_mut().for_each(|names| names.sort());
    outcomes
}

fn check(engine: Engine, default_cases: u32) {
    let cases = std::env::var("PROPTEST_CASES").ok().and_then(|n| n.parse().ok());
    let cases = cases.unwrap_or(default_cases);
    let config = ProptestConfig { cases, failure_persistence: None, ..ProptestConfig::default() };
    let placement = prop::sample::select(vec![Placement::Hash, Placement::Range]);
    let shards = prop::sample::select(vec![1, 1, 3]);
    let steps = prop::collection::vec(step(), 1..60);
    proptest!(config, |(placement in placement, shards in shards, steps in steps)| {
        let mut run = Run::new(engine, placement, shards);
        for step in &steps {
            run.apply(step);
        }
        run.scan(&ScanStep::all());
    });
}

#[test]
fn a_database_in_memory_does_what_a_plain_map_does() {
    check(Engine::Memory, 4_000);
}

#[test]
fn a_database_in_a_folder_does_what_a_plain_map_does() {
    check(Engine::Fjall, 2_000);
}
