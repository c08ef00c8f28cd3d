//! What is done to a database and to the plain map beside it, and how it is made up.

use std::collections::BTreeMap;
use std::time::Duration;

use proptest::prelude::*;
use stonecrop::{Comparison, Family, Placement, TableSchema, Value};

use super::indexes::{IndexStep, index};
use crate::harness::{State, seconds};

pub(super) const PARTITIONS: [&str; 3] = ["p", "q", "r\0"];
pub(super) const SORTS: u64 = 3;
pub(super) const A: [&str; 3] = ["a1", "a2", "a3"];
pub(super) const B: [&str; 2] = ["b1", "b2"];
pub(super) const LOOSE: [&str; 2] = ["x", "y"];
pub(super) const B_TTL: Duration = seconds(10);
pub(super) const B_KEEP: Duration = seconds(20);
pub(super) const DAY: Duration = seconds(86_400);
/// The names that indexes have.
pub(super) const INDEXES: [&str; 3] = ["first", "second", "third"];

pub(super) type Key = (&'static str, u64);

pub(super) fn schema(
    placement: Placement,
    indexes: &[IndexStep],
    changes: Option<u64>,
) -> TableSchema {
    let [a1, a2, a3] = A;
    let [b1, b2] = B;
    let schema = TableSchema::new("table", "p string", "s u64")
        .unwrap()
        .placement(placement)
        .family(Family::new("a").column(a1).column(a2).column(a3))
        .family(Family::new("b").column(b1).column(b2).ttl(B_TTL).keep(B_KEEP));
    let schema = match changes {
        Some(keep) => schema.changes(seconds(keep)),
        None => schema,
    };
    let named = INDEXES.iter().zip(indexes);
    named.fold(schema, |schema, (name, index)| schema.index(index.real(name)))
}

/// The family that a column is in: its own where it is declared in none.
pub(super) fn family(column: &str) -> &str {
    match column {
        "a1" | "a2" | "a3" => "a",
        "b1" | "b2" => "b",
        other => other,
    }
}

// What is done.

#[derive(Clone, Debug)]
pub(super) enum Step {
    Write(Vec<OneWrite>),
    Get(Key),
    GetColumns(Key, Vec<&'static str>),
    MultiGet(Vec<Key>, Option<Vec<&'static str>>),
    Scan(ScanStep),
    Segments(u32),
    Forward(u64),
    Back(u64),
    CreateIndex(CreateStep),
    DropIndex(&'static str),
    /// For how many seconds, if at all.
    KeepChanges(Option<u64>),
    Truncate,
    DropAndCreate,
    Bring(State),
}

#[derive(Clone, Debug)]
pub(super) struct CreateStep {
    pub(super) name: &'static str,
    pub(super) index: IndexStep,
    /// Before anything else is done.
    pub(super) wait: bool,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Kind {
    Put,
    Replace,
    Delete,
}

#[derive(Clone, Debug)]
pub(super) struct OneWrite {
    pub(super) kind: Kind,
    pub(super) key: Key,
    pub(super) changes: BTreeMap<&'static str, Change>,
    /// Seconds from now.
    pub(super) written_at: Option<i64>,
    pub(super) lifetime: Option<(u64, u64)>,
    pub(super) condition: Option<ConditionStep>,
}

#[derive(Clone, Debug)]
pub(super) enum Change {
    Set(Value),
    Remove,
    Add(i64),
    Append(i64),
}

#[derive(Clone, Debug)]
pub(super) enum ConditionStep {
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
pub(super) struct ScanStep {
    pub(super) partition: Option<&'static str>,
    pub(super) range: Range,
    pub(super) columns: Option<Vec<&'static str>>,
    pub(super) filter: Option<ConditionStep>,
    pub(super) backward: bool,
    pub(super) limit: Option<usize>,
}

#[derive(Clone, Copy, Debug)]
pub(super) enum Range {
    Any,
    Lt(u64),
    Ge(u64),
    Between(u64, u64),
}

// How it is made up.

/// One row more often than the others, so that much happens to it.
pub(super) fn key() -> impl Strategy<Value = Key> {
    prop_oneof![
        2 => Just((PARTITIONS[0], 0)),
        1 => (prop::sample::select(&PARTITIONS[..]), 0..SORTS),
    ]
}

pub(super) fn column() -> impl Strategy<Value = &'static str> {
    prop::sample::select([&A[..], &B, &LOOSE].concat())
}

pub(super) fn columns() -> impl Strategy<Value = Vec<&'static str>> {
    prop::collection::vec(column(), 0..4)
}

pub(super) fn value() -> impl Strategy<Value = Value> {
    prop_oneof![
        6 => (0..4_i64).prop_map(Value::Int),
        1 => Just(Value::Null),
        1 => "[ab]".prop_map(Value::String),
        2 => prop::collection::vec((0..3_i64).prop_map(Value::Int), 0..3).prop_map(Value::List),
    ]
}

pub(super) fn offset() -> impl Strategy<Value = i64> {
    prop_oneof![
        8 => -12..4_i64,
        2 => -40..-12_i64,
        2 => prop::sample::select(vec![-86_390, -86_405, -86_460, -86_500, -86_510, -172_900]),
    ]
}

pub(super) fn comparison() -> impl Strategy<Value = Comparison> {
    use Comparison::{Eq, Ge, Gt, Le, Lt, Ne};
    prop::sample::select(vec![Eq, Ne, Lt, Le, Gt, Ge])
}

pub(super) fn condition() -> impl Strategy<Value = ConditionStep> {
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

pub(super) fn one_write() -> impl Strategy<Value = OneWrite> {
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

pub(super) fn scan() -> impl Strategy<Value = ScanStep> {
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

/// For how many seconds changes are kept, if they are.
pub(super) fn keep() -> impl Strategy<Value = Option<u64>> {
    prop::option::of(prop::sample::select(vec![20, 100_000]))
}

pub(super) fn step() -> impl Strategy<Value = Step> {
    let keys = prop::collection::vec(key(), 0..4);
    let forward = prop::sample::select(vec![1, 2, 5, 9, 10, 30, 31, 70, 86_390, 86_460, 86_500]);
    let name = prop::sample::select(&INDEXES[..]);
    let create = (name.clone(), index(), any::<bool>())
        .prop_map(|(name, index, wait)| Step::CreateIndex(CreateStep { name, index, wait }));
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
        2 => create,
        1 => name.prop_map(Step::DropIndex),
        2 => keep().prop_map(Step::KeepChanges),
        1 => Just(Step::Truncate),
        1 => Just(Step::DropAndCreate),
        1 => Just(Step::Bring(State::Flushed)),
        1 => Just(Step::Bring(State::Compacted)),
        1 => Just(Step::Bring(State::Reopened)),
    ]
}
