//! Random operations against a plain map, on every engine, with flushes, compactions and reopening
//! in between, and snapshots that have to stay as they were.

use std::collections::BTreeMap;

use proptest::prelude::*;
use stonecrop_store::{Batch, Direction, Durability, KeyRange, Read};

use crate::harness::{ENGINES, Fixture, State};

const SHARDS: u16 = 3;
/// What many keys begin with, as those of a database do.
const GROUPS: [&[u8]; 2] = [b"group  1", b"group \xFF\xFF"];
/// As many snapshots are kept at a time, at most.
const MOST_KEPT: usize = 3;

#[derive(Clone, Debug)]
enum Step {
    Write(Vec<(u8, Vec<u8>, Option<Vec<u8>>)>),
    Get(u8, Vec<u8>),
    Scan(Scan),
    Keep,
    Flush,
    Compact,
    Reopen,
}

#[derive(Clone, Debug)]
struct Scan {
    shard: u8,
    start: Vec<u8>,
    end: Option<Vec<u8>>,
    backward: bool,
}

fn suffix() -> impl Strategy<Value = Vec<u8>> {
    prop::collection::vec(prop::sample::select(vec![0x00, 0x01, b'a', 0xFF]), 1..4)
}

fn group() -> impl Strategy<Value = &'static [u8]> {
    prop::sample::select(&GROUPS[..])
}

fn key() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![suffix(), (group(), suffix()).prop_map(|(group, suffix)| [group, &suffix].concat())]
}

/// A range of anything, or one within a group.
fn range() -> impl Strategy<Value = (Vec<u8>, Option<Vec<u8>>)> {
    let within = (group(), prop::option::of(suffix()), prop::option::of(suffix()));
    prop_oneof![
        (key(), prop::option::of(key())),
        within.prop_map(|(group, start, end)| {
            let whole = KeyRange::prefix(group);
            let start = [group, &start.unwrap_or_default()].concat();
            let end = end.map(|end| [group, &end].concat());
            (start, end.or(whole.end.map(|end| end.to_vec())))
        }),
    ]
}

fn step() -> impl Strategy<Value = Step> {
    let value = prop::option::of(prop::collection::vec(any::<u8>(), 0..20));
    let write = prop::collection::vec((0..SHARDS as u8, key(), value), 1..6);
    let scan = (0..SHARDS as u8, range(), any::<bool>());
    let scan =
        scan.prop_map(|(shard, (start, end), backward)| Scan { shard, start, end, backward });
    prop_oneof![
        8 => write.prop_map(Step::Write),
        4 => (0..SHARDS as u8, key()).prop_map(|(shard, key)| Step::Get(shard, key)),
        4 => scan.prop_map(Step::Scan),
        1 => Just(Step::Keep),
        1 => Just(Step::Flush),
        1 => Just(Step::Compact),
        1 => Just(Step::Reopen),
    ]
}

type Model = BTreeMap<(u8, Vec<u8>), Vec<u8>>;

/// A snapshot, and what it must hold.
type Kept = (Box<dyn Read>, Model);

fn apply(fixture: &mut Fixture, model: &mut Model, kept: &mut Vec<Kept>, step: &Step) {
    match step {
        Step::Write(operations) => {
            let mut batch = Batch::new();
            for (shard, key, value) in operations {
                match value {
                    Some(value) => {
                        batch.put(*shard, key.clone(), value.clone());
                        model.insert((*shard, key.clone()), value.clone());
                    }
                    None => {
                        batch.delete(*shard, key.clone());
                        model.remove(&(*shard, key.clone()));
                    }
                }
            }
            fixture.store.write(batch, Durability::Buffered).unwrap();
        }
        Step::Get(shard, key) => {
            let found = fixture.store.get(*shard, key).unwrap();
            assert_eq!(found.as_deref(), model.get(&(*shard, key.clone())).map(Vec::as_slice));
        }
        Step::Scan(scan) => {
            check(&*fixture.store, model, scan);
            kept.iter().for_each(|(snapshot, model)| check(&**snapshot, model, scan));
        }
        Step::Keep => {
            kept.push((fixture.store.snapshot().unwrap(), model.clone()));
            kept.drain(..kept.len().saturating_sub(MOST_KEPT));
        }
        Step::Flush => fixture.bring(State::Flushed),
        Step::Compact => fixture.bring(State::Compacted),
        Step::Reopen => {
            kept.clear();
            fixture.bring(State::Reopened);
        }
    }
}

fn check(
    reader: &(impl Read + ?Sized),
    model: &Model,
    Scan { shard, start, end, backward }: &Scan,
) {
    let range = KeyRange { start: start.clone().into(), end: end.clone().map(Into::into) };
    let direction = if *backward { Direction::Backward } else { Direction::Forward };
    let entries = reader.scan(*shard, range, direction).unwrap();
    let found: Vec<_> = entries
        .map(|entry| entry.map(|(key, value)| (key.to_vec(), value.to_vec())).unwrap())
        .collect();
    let inside = |key: &Vec<u8>| key >= start && end.as_ref().is_none_or(|end| key < end);
    let mut expected: Vec<_> = model
        .iter()
        .filter(|((of, key), _)| of == shard && inside(key))
        .map(|((_, key), value)| (key.clone(), value.clone()))
        .collect();
    if *backward {
        expected.reverse();
    }
    assert_eq!(found, expected);
}

#[test]
fn every_engine_does_what_a_plain_map_does() {
    let cases = std::env::var("PROPTEST_CASES").ok().and_then(|n| n.parse().ok()).unwrap_or(500);
    let config = ProptestConfig { cases, failure_persistence: None, ..ProptestConfig::default() };
    proptest!(config, |(steps in prop::collection::vec(step(), 1..60))| {
        // One that compacts through files of its plans takes a hundred times as long.
        let all = steps.len() % 10 == 0;
        for &engine in ENGINES {
            if !engine.counts_entries() && !all {
                continue;
            }
            let mut fixture = Fixture::new(engine, SHARDS);
            let (mut model, mut kept) = (Model::new(), Vec::new());
            for step in &steps {
                apply(&mut fixture, &mut model, &mut kept, step);
            }
        }
    });
}
