//! Files that have nothing under a prefix are not read, and no entry is missed because of it.

use std::sync::Arc;
use std::time::Duration;

use object_store::memory::InMemory;
use stonecrop_store::{Direction, Durability, Options, Prefix, Read, SlateStore, Store};

const FILES: u64 = 4;
/// SlateDB makes no filter for a file of fewer than 1,000 keys.
const KEYS: u64 = 1_200;

fn options(prefixes: fn(&[u8]) -> Prefix) -> Options {
    let mut options = Options::default();
    options.shards = Some(1);
    options.prefixes = Arc::new(prefixes);
    options.objects.flush_interval = Duration::from_millis(2);
    // The files stay as they are.
    options.objects.poll_interval = Duration::from_secs(3_600);
    options.objects.compacts = false;
    options
}

fn up_to_the_slash(key: &[u8]) -> Prefix {
    match key.iter().position(|byte| *byte == b'/') {
        Some(end) => Prefix::First(end + 1),
        None => Prefix::None,
    }
}

fn not_known(_: &[u8]) -> Prefix {
    Prefix::Unknown
}

fn prefix(number: u64, file: u64) -> String {
    format!("{number:05}.{file}/")
}

/// Several files, each with keys over the whole range.
fn filled(prefixes: fn(&[u8]) -> Prefix) -> Arc<InMemory> {
    let objects = Arc::new(InMemory::new());
    let store = SlateStore::open_in(objects.clone(), "test", &options(prefixes)).unwrap();
    for file in 0..FILES {
        let mut batch = stonecrop_store::Batch::new();
        for number in 0..KEYS {
            batch.put(0, format!("{}a", prefix(number, file)), "1");
            batch.put(0, format!("{}b", prefix(number, file)), "2");
        }
        store.write(batch, Durability::Buffered).unwrap();
        store.flush().unwrap();
    }
    store.close().unwrap();
    objects
}

/// How many keys are found under some prefixes of the first file, and with how many requests.
fn found(objects: Arc<InMemory>, prefixes: fn(&[u8]) -> Prefix) -> (usize, u64) {
    let store = SlateStore::open_in(objects, "test", &options(prefixes)).unwrap();
    let before = store.stats().unwrap().requests.gets;
    let mut found = 0;
    for number in (0..KEYS).step_by(100) {
        for direction in [Direction::Forward, Direction::Backward] {
            let prefix = prefix(number, 0);
            found += store.scan_prefix(0, prefix.as_bytes(), direction).unwrap().count();
        }
    }
    let asked = store.stats().unwrap().requests.gets - before;
    store.close().unwrap();
    (found, asked)
}

/// Two keys, in two directions.
const ALL: usize = (KEYS / 100) as usize * 2 * 2;

#[test]
fn files_without_a_prefix_are_not_read() {
    let objects = filled(up_to_the_slash);
    let (with, with_filters) = found(objects.clone(), up_to_the_slash);
    let (without, without_filters) = found(objects, not_known);
    assert_eq!((with, without), (ALL, ALL));
    assert!(with_filters < without_filters, "{with_filters} gets and {without_filters}");
    println!("{with_filters} gets with filters of prefixes, {without_filters} without");
}

#[test]
fn nothing_is_missed_in_files_of_a_process_that_did_not_know_the_prefixes() {
    assert_eq!(found(filled(not_known), up_to_the_slash).0, ALL);
}

#[test]
fn a_prefix_that_ends_early_finds_all_below_it() {
    let objects = filled(up_to_the_slash);
    let store = SlateStore::open_in(objects, "test", &options(up_to_the_slash)).unwrap();
    let found = store.scan_prefix(0, b"00007.", Direction::Forward).unwrap().count();
    assert_eq!(found, 2 * FILES as usize);
}
