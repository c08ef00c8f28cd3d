//! What every engine must do, in every state that data can be in.

use std::sync::atomic::{AtomicBool, Ordering};

use stonecrop_store::{Batch, Direction, Durability, ErrorKind, KeyRange};

use crate::harness::{ENGINES, Engine, Fixture, State, in_every_state, keys};

const FORWARD: Direction = Direction::Forward;
const BACKWARD: Direction = Direction::Backward;

fn letters(fixture: &Fixture) {
    for key in ["b", "d", "a", "c", "ab", "e"] {
        fixture.put(0, key.as_bytes(), key.to_uppercase().as_bytes());
    }
    fixture.delete(0, b"d");
    fixture.put(0, b"c", b"newer");
}

#[test]
fn a_key_has_the_value_that_was_written_last() {
    in_every_state(1, letters, |fixture| {
        let get = |key: &str| fixture.store.get(0, key.as_bytes()).unwrap();
        assert_eq!(get("a").as_deref(), Some(&b"A"[..]));
        assert_eq!(get("c").as_deref(), Some(&b"newer"[..]));
        assert_eq!(get("d"), None);
        assert_eq!(get("never"), None);
    });
}

#[test]
fn an_empty_value_is_a_value() {
    in_every_state(
        1,
        |fixture| fixture.put(0, b"k", b""),
        |fixture| {
            assert_eq!(fixture.store.get(0, b"k").unwrap().as_deref(), Some(&b""[..]));
        },
    );
}

#[test]
fn many_keys_are_read_in_their_order() {
    in_every_state(2, letters, |fixture| {
        let asked: [(u8, &[u8]); 4] = [(0, b"e"), (0, b"d"), (1, b"e"), (0, b"a")];
        for found in [fixture.store.multi_get(&asked), fixture.store.get_together(&asked)] {
            let found = found.unwrap();
            let found: Vec<_> = found.iter().map(Option::as_deref).collect();
            assert_eq!(found, [Some(&b"E"[..]), None, None, Some(&b"A"[..])]);
        }
    });
}

#[test]
fn what_was_begun_is_there_for_who_waits_for_it_and_for_who_writes_after_it() {
    for &engine in ENGINES {
        let fixture = Fixture::new(engine, 2);
        let begin = |number: u64| {
            let mut batch = Batch::new();
            for shard in 0..2 {
                batch.put(shard, number.to_be_bytes().to_vec(), "");
                batch.put(shard, "last", number.to_be_bytes().to_vec());
            }
            fixture.store.write(batch, Durability::Begun).unwrap();
        };
        let all = |last: u64| {
            for shard in 0..2 {
                let found = keys(&*fixture.store, shard, KeyRange::all(), FORWARD).len() as u64;
                let value = fixture.store.get(shard, b"last").unwrap().unwrap();
                assert_eq!((found, &value[..]), (last + 2, &last.to_be_bytes()[..]), "{engine:?}");
            }
        };
        (0..100).for_each(begin);
        fixture.store.ready().unwrap();
        all(99);
        begin(100);
        fixture.put(0, b"last", &100_u64.to_be_bytes());
        all(100);
        begin(101);
        fixture.store.sync().unwrap();
        all(101);
    }
}

#[test]
fn a_scan_gives_the_range_in_either_direction() {
    in_every_state(1, letters, |fixture| {
        let scan = |range: KeyRange, direction| keys(&*fixture.store, 0, range, direction);
        assert_eq!(scan(KeyRange::all(), FORWARD), ["a", "ab", "b", "c", "e"]);
        assert_eq!(scan(KeyRange::all(), BACKWARD), ["e", "c", "b", "ab", "a"]);
        assert_eq!(scan(KeyRange::new("ab", "c"), FORWARD), ["ab", "b"]);
        assert_eq!(scan(KeyRange::new("ab", "c"), BACKWARD), ["b", "ab"]);
        assert_eq!(scan(KeyRange::new("aa", "zz"), FORWARD), ["ab", "b", "c", "e"]);
        assert_eq!(scan(KeyRange::new("c", "c"), FORWARD), [""; 0]);
        assert_eq!(scan(KeyRange::new("d", "b"), BACKWARD), [""; 0]);
        assert_eq!(scan(KeyRange::new("x", "z"), FORWARD), [""; 0]);
        let from_c = KeyRange { start: "c".into(), end: None };
        assert_eq!(scan(from_c, BACKWARD), ["e", "c"]);
    });
}

#[test]
fn a_scan_of_a_prefix_gives_what_begins_with_it() {
    let fill = |fixture: &Fixture| {
        for key in [&b"a"[..], b"a\x00", b"a\xFF", b"a\xFF\xFF", b"b", b"\xFF", b"\xFF\xFF"] {
            fixture.put(0, key, b"");
        }
    };
    in_every_state(1, fill, |fixture| {
        let prefix = |prefix: &[u8]| {
            let entries = fixture.store.scan_prefix(0, prefix, FORWARD).unwrap();
            entries.map(|entry| entry.unwrap().0.to_vec()).collect::<Vec<_>>()
        };
        assert_eq!(prefix(b"a"), [&b"a"[..], b"a\x00", b"a\xFF", b"a\xFF\xFF"]);
        assert_eq!(prefix(b"a\xFF"), [&b"a\xFF"[..], b"a\xFF\xFF"]);
        assert_eq!(prefix(b"\xFF"), [&b"\xFF"[..], b"\xFF\xFF"]);
        assert_eq!(prefix(b"").len(), 7);
        assert_eq!(prefix(b"c").len(), 0);
    });
}

#[test]
fn shards_are_apart_and_a_batch_spans_them() {
    let fill = |fixture: &Fixture| {
        let mut batch = Batch::new();
        for shard in 0..=255 {
            batch.put(shard, "key", vec![shard]);
        }
        batch.put(7, "twice", "first");
        batch.put(7, "twice", "second");
        batch.put(8, "gone", "x");
        batch.delete(8, "gone");
        fixture.store.write(batch, Durability::Sync).unwrap();
    };
    in_every_state(256, fill, |fixture| {
        assert_eq!(fixture.store.shards(), 256);
        for shard in 0..=255 {
            let value = fixture.store.get(shard, b"key").unwrap();
            assert_eq!(value.as_deref(), Some(&[shard][..]));
        }
        let twice = fixture.store.get(7, b"twice").unwrap();
        assert_eq!(twice.as_deref(), Some(&b"second"[..]), "the last one counts");
        assert_eq!(fixture.store.get(8, b"gone").unwrap(), None);
    });
}

#[test]
fn a_snapshot_stays_as_it_was() {
    for &engine in ENGINES {
        let fixture = Fixture::new(engine, 2);
        letters(&fixture);
        let snapshot = fixture.store.snapshot().unwrap();
        let scan = fixture.store.scan(0, KeyRange::all(), FORWARD).unwrap();
        fixture.put(0, b"a", b"changed");
        fixture.put(0, b"z", b"new");
        fixture.delete(0, b"b");
        fixture.put(1, b"other", b"shard");
        fixture.store.compact().unwrap();

        assert_eq!(snapshot.get(0, b"a").unwrap().as_deref(), Some(&b"A"[..]), "{engine:?}");
        assert_eq!(keys(&*snapshot, 0, KeyRange::all(), FORWARD), ["a", "ab", "b", "c", "e"]);
        assert_eq!(keys(&*snapshot, 0, KeyRange::all(), BACKWARD), ["e", "c", "b", "ab", "a"]);
        assert_eq!(keys(&*snapshot, 1, KeyRange::all(), FORWARD), [""; 0]);
        assert_eq!(snapshot.multi_get(&[(0, b"z"), (0, b"b")]).unwrap()[0], None);
        let began_before: Vec<_> = scan.map(|entry| entry.unwrap().0).collect();
        assert_eq!(began_before, ["a", "ab", "b", "c", "e"], "{engine:?}");
    }
}

#[test]
fn compaction_drops_what_may_go_and_brings_nothing_older_back() {
    for &engine in ENGINES {
        let mut fixture =
            Fixture::with_retention(engine, 1, |_: &[u8], value: &[u8]| value == b"gone");
        for key in 0..100_u8 {
            fixture.put(0, &[key], b"older");
        }
        fixture.store.compact().unwrap();
        for key in 0..50_u8 {
            fixture.put(0, &[key], b"gone");
        }
        fixture.store.compact().unwrap();
        let left: Vec<u8> =
            keys(&*fixture.store, 0, KeyRange::all(), FORWARD).iter().map(|key| key[0]).collect();
        assert_eq!(left, (50..100).collect::<Vec<_>>(), "{engine:?}");
        // The journal may bring back what was dropped, which no reader shows, but nothing older.
        fixture.bring(State::Reopened);
        assert_ne!(fixture.store.get(0, &[7]).unwrap().as_deref(), Some(&b"older"[..]));
        fixture.put(0, &[7], b"back");
        fixture.store.compact().unwrap();
        assert_eq!(fixture.store.get(0, &[7]).unwrap().as_deref(), Some(&b"back"[..]));
    }
}

#[test]
fn what_may_be_dropped_is_asked_at_every_compaction() {
    static GONE: AtomicBool = AtomicBool::new(false);
    for &engine in ENGINES {
        GONE.store(false, Ordering::SeqCst);
        let retention = |_: &[u8], _: &[u8]| GONE.load(Ordering::SeqCst);
        let fixture = Fixture::with_retention(engine, 1, retention);
        fixture.put(0, b"key", b"value");
        // What is read may be kept in front of the engine, which only a scan looks past.
        let left = || keys(&*fixture.store, 0, KeyRange::all(), FORWARD);
        fixture.store.compact().unwrap();
        assert_eq!(left(), ["key"], "{engine:?}");
        GONE.store(true, Ordering::SeqCst);
        fixture.store.compact().unwrap();
        assert_eq!(left(), [""; 0], "{engine:?}");
    }
}

#[test]
fn a_snapshot_has_what_compaction_drops_after_it() {
    static GONE: AtomicBool = AtomicBool::new(false);
    for engine in [Engine::Memory, Engine::Fjall] {
        GONE.store(false, Ordering::SeqCst);
        let retention = |_: &[u8], _: &[u8]| GONE.load(Ordering::SeqCst);
        let fixture = Fixture::with_retention(engine, 1, retention);
        fixture.put(0, b"group  1 key", b"value");
        fixture.store.compact().unwrap();
        let snapshot = fixture.store.snapshot().unwrap();
        GONE.store(true, Ordering::SeqCst);
        fixture.store.compact().unwrap();
        let group = || KeyRange::prefix(b"group  1");
        assert_eq!(keys(&*snapshot, 0, group(), FORWARD), ["group  1 key"], "{engine:?}");
        assert_eq!(keys(&*fixture.store, 0, group(), FORWARD), [""; 0], "{engine:?}");
    }
}

#[test]
fn a_batch_beyond_the_limits_is_refused_as_a_whole() {
    for &engine in ENGINES {
        let fixture = Fixture::new(engine, 2);
        let refused = |spoil: &dyn Fn(&mut Batch)| {
            let mut batch = Batch::new();
            batch.put(0, "good", "x");
            spoil(&mut batch);
            let error = fixture.store.write(batch, Durability::Sync).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Invalid);
            assert_eq!(fixture.store.get(0, b"good").unwrap(), None);
            error.to_string()
        };
        assert!(refused(&|batch| batch.put(0, "", "x")).contains("empty key"));
        let long = refused(&|batch| batch.put(0, vec![1; 65_536], "x"));
        assert_eq!(long, "a key of 65536 bytes, and the longest has 65535");
        assert!(refused(&|batch| batch.delete(2, "x")).contains("the store has 2"));

        fixture.put(0, &[1; 65_535], b"the longest key");
        assert!(fixture.store.get(0, &[1; 65_535]).unwrap().is_some());
        assert!(fixture.store.get(9, b"x").is_err());
        assert!(fixture.store.scan(9, KeyRange::all(), FORWARD).is_err());
        fixture.store.write(Batch::new(), Durability::Sync).unwrap();
    }
}

#[test]
fn a_closed_store_refuses_everything_but_closing() {
    for &engine in ENGINES {
        let fixture = Fixture::new(engine, 1);
        fixture.put(0, b"k", b"v");
        fixture.store.close().unwrap();
        fixture.store.close().unwrap();
        let kinds = [
            fixture.store.get(0, b"k").unwrap_err().kind(),
            fixture.store.scan(0, KeyRange::all(), FORWARD).unwrap_err().kind(),
            fixture.store.snapshot().err().unwrap().kind(),
            fixture.store.sync().unwrap_err().kind(),
            fixture.store.flush().unwrap_err().kind(),
            fixture.store.compact().unwrap_err().kind(),
            fixture.store.stats().unwrap_err().kind(),
        ];
        assert_eq!(kinds, [ErrorKind::Closed; 7], "{engine:?}");
        let mut batch = Batch::new();
        batch.put(0, "k", "v");
        let error = fixture.store.write(batch, Durability::Sync).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Closed);
    }
}

#[test]
fn figures_tell_how_much_there_is() {
    for &engine in ENGINES {
        let fixture = Fixture::new(engine, 2);
        // Nothing that could be made shorter.
        let mut random = fastrand::Rng::with_seed(1);
        for key in 0..100_u8 {
            let value: Vec<u8> = (0..100).map(|_| random.u8(..)).collect();
            fixture.put(key % 2, &[key], &value);
        }
        if !engine.counts_entries() {
            fixture.store.flush().unwrap();
            assert!(fixture.store.stats().unwrap().disk_bytes >= 10_000, "{engine:?}");
            continue;
        }
        let stats = fixture.store.stats().unwrap();
        assert_eq!(stats.entries, 100, "{engine:?}");
        assert!(stats.memory_bytes >= 10_000, "{engine:?}: {stats:?}");
    }
}

#[test]
fn readers_never_see_half_a_batch() {
    for &engine in ENGINES {
        let fixture = Fixture::new(engine, 4);
        let write = |number: u64| {
            let mut batch = Batch::new();
            for shard in 0..4 {
                batch.put(shard, "counter", number.to_be_bytes().to_vec());
            }
            fixture.store.write(batch, Durability::Buffered).unwrap();
        };
        write(0);
        std::thread::scope(|scope| {
            scope.spawn(|| (1..=2_000).for_each(write));
            for _ in 0..2 {
                scope.spawn(|| {
                    for _ in 0..1_000 {
                        let snapshot = fixture.store.snapshot().unwrap();
                        let read = |shard| snapshot.get(shard, b"counter").unwrap().unwrap();
                        let first = read(0);
                        assert!((1..4).all(|shard| read(shard) == first), "{engine:?}");
                    }
                });
            }
        });
    }
}

#[test]
fn the_size_of_a_shard_grows_with_what_is_in_it() {
    for &engine in ENGINES {
        let mut fixture = Fixture::new(engine, 2);
        for number in 0..1_000_u32 {
            fixture.put(1, &number.to_be_bytes(), &[number as u8; 100]);
        }
        fixture.bring(State::Flushed);
        let [empty, full] = [0, 1].map(|shard| fixture.store.approximate_size(shard).unwrap());
        assert!(full > empty + 1_000, "{engine:?}: {empty} and {full}");
        let error = fixture.store.approximate_size(2).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Invalid);
    }
}

/// A number that depends on another, and on nothing else.
fn scrambled(number: u64) -> usize {
    (number.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 40) as usize
}

#[test]
fn a_snapshot_tells_its_own_values_however_often_older_and_newer_ones_are_read() {
    for &engine in ENGINES {
        let fixture = Fixture::new(engine, 1);
        let mut now: [Option<u64>; 16] = [None; 16];
        let mut snapshots = Vec::new();
        for round in 0..3_000_u64 {
            let key = scrambled(round) % now.len();
            match scrambled(round + 7) % 8 {
                0 => {
                    now[key] = None;
                    fixture.delete(0, &[key as u8]);
                }
                1 => {
                    now[key] = Some(round);
                    fixture.put(0, &[key as u8], &round.to_be_bytes());
                }
                2 if snapshots.len() < 40 => {
                    snapshots.push((fixture.store.snapshot().unwrap(), now));
                }
                2 => {
                    snapshots.swap_remove(key);
                }
                _ => {}
            }
            let value = |value: Option<u64>| value.map(|value| value.to_be_bytes().to_vec().into());
            assert_eq!(fixture.store.get(0, &[key as u8]).unwrap(), value(now[key]), "{engine:?}");
            for _ in 0..3 {
                let Some((snapshot, then)) = snapshots.get(scrambled(round + 1) % 40) else {
                    break;
                };
                assert_eq!(snapshot.get(0, &[key as u8]).unwrap(), value(then[key]), "{engine:?}");
            }
        }
    }
}

#[test]
fn what_is_read_again_and_again_never_goes_back() {
    for &engine in ENGINES {
        let fixture = Fixture::new(engine, 1);
        let write = |number: u64| {
            let mut batch = Batch::new();
            (0..8_u8).for_each(|key| {
                batch.put(0, [key].to_vec(), number.to_be_bytes().to_vec());
            });
            fixture.store.write(batch, Durability::Buffered).unwrap();
            // Readers get to read it more than once.
            (0..number % 50).for_each(|_| std::thread::yield_now());
        };
        write(0);
        let is_done = std::sync::atomic::AtomicBool::new(false);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                (1..=2_000).for_each(write);
                is_done.store(true, std::sync::atomic::Ordering::Relaxed);
            });
            for _ in 0..2 {
                scope.spawn(|| {
                    let mut last = None;
                    while !is_done.load(std::sync::atomic::Ordering::Relaxed) {
                        let snapshot = fixture.store.snapshot().unwrap();
                        let read = |key: u8| snapshot.get(0, &[key]).unwrap();
                        let first = read(0);
                        assert!(first >= last, "{engine:?}");
                        assert!((1..8).all(|key| read(key) == first), "{engine:?}");
                        assert!(fixture.store.get(0, &[3]).unwrap() >= first, "{engine:?}");
                        let keys = [(0, &[1][..]), (0, &[3]), (0, &[7])];
                        let together = fixture.store.get_together(&keys).unwrap();
                        assert!(together[0] >= first, "{engine:?}");
                        assert!(together.iter().all(|v| *v == together[0]), "{engine:?}");
                        last = first;
                    }
                });
            }
        });
    }
}
