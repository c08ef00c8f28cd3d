//! An object store that fails now and then, is slow, loses answers, or is away for a while.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use object_store::Error as ObjectError;
use object_store::memory::InMemory;
use object_store::path::Path;
use stonecrop_store::{
    Batch, Direction, Durability, Error, ErrorKind, KeyRange, Options, Read as _, SlateStore, Store,
};

use crate::unruly::{Fate, Mood, Request, Unruly, generic};

const SHARDS: u8 = 2;
const NAME: &str = "s3://faulty";

/// Faults by chance, in the order of a seed.
#[derive(Debug)]
struct Weather {
    random: Mutex<fastrand::Rng>,
    /// Nothing goes wrong.
    calm: AtomicBool,
    /// Nothing is answered.
    away: AtomicBool,
    /// Whether a request to a store that is away hangs until it is back, instead of failing.
    hangs: AtomicBool,
}

impl Weather {
    fn new(seed: u64) -> Arc<Self> {
        Arc::new(Weather {
            random: Mutex::new(fastrand::Rng::with_seed(seed)),
            calm: AtomicBool::new(true),
            away: AtomicBool::new(false),
            hangs: AtomicBool::new(false),
        })
    }

    fn set(flag: &AtomicBool, value: bool) {
        flag.store(value, Ordering::SeqCst);
    }

    fn is(flag: &AtomicBool) -> bool {
        flag.load(Ordering::SeqCst)
    }
}

#[async_trait::async_trait]
impl Mood for Weather {
    async fn fate(&self, _: Request, path: &Path) -> Fate {
        let was_away = Self::is(&self.away);
        while Self::is(&self.away) && Self::is(&self.hangs) {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        if was_away {
            let refused = Some(generic("503 Service Unavailable"));
            return Fate { refused, ..Fate::default() };
        }
        if Self::is(&self.calm) {
            return Fate::default();
        }
        let mut random = self.random.lock().unwrap();
        let delay = match random.u32(0..100) {
            0..70 => 0,
            70..98 => random.u64(0..5),
            _ => random.u64(0..200),
        };
        let delay = Duration::from_millis(delay);
        match random.u32(0..100) {
            0 => {
                let words = ["429 Too Many Requests", "503 Slow Down", "connection reset"];
                let refused = Some(generic(words[random.usize(0..words.len())]));
                Fate { delay, refused, answer_lost: false }
            }
            // Expired credentials, which somebody renews in time; at an opening they are an error.
            1 if path.as_ref().starts_with("shard-") => {
                let path = path.to_string();
                let refused = ObjectError::PermissionDenied { path, source: "403".into() };
                Fate { delay, refused: Some(refused), answer_lost: false }
            }
            2..4 => Fate { delay, refused: None, answer_lost: true },
            _ => Fate { delay, ..Fate::default() },
        }
    }
}

/// The entries of all shards.
type Entries = BTreeMap<(u8, Vec<u8>), Vec<u8>>;
/// What a batch puts, or deletes.
type Change = (u8, Vec<u8>, Option<Vec<u8>>);

fn apply<'a>(entries: &mut Entries, changes: impl Iterator<Item = &'a Change>) {
    for (shard, key, value) in changes {
        match value {
            Some(value) => drop(entries.insert((*shard, key.clone()), value.clone())),
            None => drop(entries.remove(&(*shard, key.clone()))),
        }
    }
}

fn batch(changes: &[Change]) -> Batch {
    let mut batch = Batch::new();
    for (shard, key, value) in changes {
        match value {
            Some(value) => batch.put(*shard, key.clone(), value.clone()),
            None => batch.delete(*shard, key.clone()),
        }
    }
    batch
}

/// What must be there, and what may be.
#[derive(Debug, Default)]
struct Model {
    settled: Entries,
    /// Writes that nobody knows the end of, in their order.
    undecided: Vec<Vec<Change>>,
}

impl Model {
    /// Whether some of the undecided writes, each as a whole, lead from what is settled to this.
    fn explains(&self, found: &Entries, shard: Option<u8>) -> bool {
        let of = |entries: &Entries| -> Entries {
            let inside = entries.iter().filter(|((of, _), _)| shard.is_none_or(|it| it == *of));
            inside.map(|(key, value)| (key.clone(), value.clone())).collect()
        };
        let found = of(found);
        (0..1_u32 << self.undecided.len()).any(|chosen| {
            let mut entries = self.settled.clone();
            for (number, changes) in self.undecided.iter().enumerate() {
                if chosen & (1 << number) != 0 {
                    apply(&mut entries, changes.iter());
                }
            }
            of(&entries) == found
        })
    }

    /// Within a process a batch is seen as a whole or not at all, over all shards.
    fn check(&self, found: &Entries) {
        assert!(self.explains(found, None), "seen: {found:?}\nexpected: {self:?}");
    }

    /// What is found now stays so: nothing is under way. After a crash a batch can be in some of
    /// its shards.
    fn settle(&mut self, found: Entries, after_crash: bool) {
        match after_crash {
            false => self.check(&found),
            true => (0..SHARDS).for_each(|shard| {
                let explained = self.explains(&found, Some(shard));
                assert!(explained, "shard {shard}: {found:?}\nexpected: {self:?}");
            }),
        }
        self.settled = found;
        self.undecided.clear();
    }
}

fn read_all(store: &dyn Store) -> Result<Entries, Error> {
    let snapshot = store.snapshot()?;
    let mut entries = Entries::new();
    for shard in 0..SHARDS {
        for entry in snapshot.scan(shard, KeyRange::all(), Direction::Forward)? {
            let (key, value) = entry?;
            entries.insert((shard, key.to_vec()), value.to_vec());
        }
    }
    Ok(entries)
}

fn options(patience: Duration) -> Options {
    let mut options = Options::default();
    options.shards = Some(u16::from(SHARDS));
    options.objects.flush_interval = Duration::from_millis(1);
    options.objects.poll_interval = Duration::from_millis(20);
    options.objects.patience = patience;
    options
}

/// A store over faults, and what is known of it.
struct Voyage {
    seed: u64,
    random: fastrand::Rng,
    weather: Arc<Weather>,
    objects: Arc<Unruly>,
    store: SlateStore,
    model: Model,
    /// Whether something was begun, and no sync came after it.
    is_unsynced: bool,
    /// What went on, so that a seed is known to test something.
    acknowledged: u64,
    unavailable: u64,
}

impl Voyage {
    fn new(seed: u64) -> Self {
        let weather = Weather::new(seed);
        let objects = Arc::new(Unruly::new(Arc::new(InMemory::new()), weather.clone()));
        let store = SlateStore::open_in(objects.clone(), NAME, &Self::options()).unwrap();
        Weather::set(&weather.calm, false);
        Voyage {
            seed,
            random: fastrand::Rng::with_seed(seed ^ 0x5EED),
            weather,
            objects,
            store,
            model: Model::default(),
            is_unsynced: false,
            acknowledged: 0,
            unavailable: 0,
        }
    }

    fn options() -> Options {
        options(Duration::from_millis(300))
    }

    /// Only that the object store did not answer is an answer here.
    fn tolerate<T>(&mut self, result: Result<T, Error>) -> Option<T> {
        let seed = self.seed;
        result
            .map_err(|error| {
                assert_eq!(error.kind(), ErrorKind::Unavailable, "seed {seed}: {error}");
                self.unavailable += 1;
            })
            .ok()
    }

    fn step(&mut self, number: u32) {
        match self.random.u32(0..100) {
            0..60 => self.write(number),
            60..80 => {
                let seen = read_all(&self.store);
                if let Some(seen) = self.tolerate(seen) {
                    self.model.check(&seen);
                }
            }
            80..86 => {
                let flushed = self.store.flush();
                self.tolerate(flushed);
            }
            86..88 => {
                let compacted = self.store.compact();
                self.tolerate(compacted);
            }
            88..91 => {
                let closed = self.store.close();
                self.tolerate(closed);
                self.reopen();
            }
            91..94 => self.reopen(),
            94..97 => self.take_over(),
            _ => self.leave_for_a_while(),
        }
        if std::mem::take(&mut self.is_unsynced) {
            self.in_the_calm(|voyage| patiently(|| voyage.store.sync()));
        }
        if self.model.undecided.len() > 8 {
            self.calm_down();
        }
    }

    fn changes(&mut self, number: u32) -> Vec<Change> {
        let random = &mut self.random;
        (0..random.u32(1..6))
            .map(|_| {
                let value = (random.u32(0..4) > 0).then(|| number.to_be_bytes().to_vec());
                (random.u8(0..SHARDS), vec![random.u8(b'a'..=b'h')], value)
            })
            .collect()
    }

    /// Writes, now and then after another write that is only begun.
    fn write(&mut self, number: u32) {
        let (mut begun, mut changes) = (Vec::new(), self.changes(number));
        if self.random.u32(0..4) == 0 {
            begun = self.changes(number);
            let written = self.store.write(batch(&begun), Durability::Begun);
            self.model.undecided.push(begun.clone());
            if self.tolerate(written).is_none() {
                self.is_unsynced = true;
                return;
            }
            // So that what was begun is as durable as this.
            changes.extend((0..SHARDS).map(|shard| (shard, b"z".to_vec(), None)));
        }
        let written = self.store.write(batch(&changes), Durability::Sync);
        self.model.undecided.push(changes.clone());
        if self.tolerate(written).is_none() {
            self.is_unsynced |= !begun.is_empty();
            return;
        }
        self.acknowledged += 1;
        // It came after all that was under way, whose end is known now.
        match read_all(&self.store) {
            Ok(seen) => {
                let surely = || begun.iter().chain(&changes);
                let mut again = seen.clone();
                for (shard, key, _) in surely() {
                    again.remove(&(*shard, key.clone()));
                }
                apply(&mut again, surely());
                assert_eq!(again, seen, "seed {}: a write that was acknowledged", self.seed);
                self.model.settle(seen, false);
            }
            Err(error) => {
                // What was undecided stays so, with this one surely after it.
                self.tolerate::<()>(Err(error));
                self.calm_down();
            }
        }
    }

    /// Opens the store anew, as another process would.
    fn open(&mut self) -> SlateStore {
        for _ in 0..self.random.u32(0..4) {
            let opened = SlateStore::open_in(self.objects.clone(), NAME, &Self::options());
            if let Some(opened) = self.tolerate(opened) {
                return opened;
            }
        }
        let objects = self.objects.clone();
        self.in_the_calm(|_| {
            patiently(|| SlateStore::open_in(objects.clone(), NAME, &Self::options()))
        })
    }

    fn reopen(&mut self) {
        self.store = self.open();
        self.settle_after_crash();
    }

    fn take_over(&mut self) {
        let next = self.open();
        let before = std::mem::replace(&mut self.store, next);
        self.settle_after_crash();
        let mut batch = Batch::new();
        batch.put(0, "late", "late");
        let error = before.write(batch, Durability::Sync).unwrap_err();
        let refused = [ErrorKind::Fenced, ErrorKind::Unavailable].contains(&error.kind());
        assert!(refused, "seed {}: {error}", self.seed);
    }

    fn settle_after_crash(&mut self) {
        let seen = self.in_the_calm(|voyage| patiently(|| read_all(&voyage.store)));
        self.model.settle(seen, true);
    }

    fn leave_for_a_while(&mut self) {
        Weather::set(&self.weather.hangs, self.random.bool());
        Weather::set(&self.weather.away, true);
        for number in 0..self.random.u32(1..3) {
            self.write(u32::MAX - number);
        }
        Weather::set(&self.weather.away, false);
    }

    fn in_the_calm<T>(&mut self, act: impl FnOnce(&mut Self) -> T) -> T {
        Weather::set(&self.weather.calm, true);
        let done = act(self);
        Weather::set(&self.weather.calm, false);
        done
    }

    /// What is under way ends by itself once the object store answers.
    fn calm_down(&mut self) {
        self.in_the_calm(|voyage| {
            let ready = (0..20).find_map(|_| {
                let ready = voyage.store.ready();
                voyage.tolerate(ready)
            });
            assert!(ready.is_some(), "seed {}: it does not recover", voyage.seed);
            let seen = patiently(|| read_all(&voyage.store));
            voyage.model.settle(seen, false);
        });
    }
}

/// What must work in the calm, on a machine that may be too busy for it to work at once.
fn patiently<T>(act: impl Fn() -> Result<T, Error>) -> T {
    let tried = (0..100).find_map(|_| match act() {
        Err(error) if error.kind() == ErrorKind::Unavailable => None,
        done => Some(done),
    });
    tried.expect("no answer in the calm").unwrap()
}

fn sail(seed: u64) -> (u64, u64) {
    let mut voyage = Voyage::new(seed);
    (0..120).for_each(|number| voyage.step(number));
    voyage.calm_down();
    Weather::set(&voyage.weather.calm, true);
    // A request that failed before the calm may wait for its next try.
    let closed = voyage.store.close();
    voyage.tolerate(closed);
    voyage.reopen();
    (voyage.acknowledged, voyage.unavailable)
}

#[test]
fn whatever_the_object_store_does_what_was_acknowledged_is_there_and_batches_are_whole() {
    let seeds = std::env::var("STONECROP_FAULT_SEEDS").ok().and_then(|seeds| seeds.parse().ok());
    let (seeds, next) = (seeds.unwrap_or(10), AtomicU64::new(0));
    // They wait more than they work, so many can be under way.
    let sailors = seeds.clamp(1, 40);
    let sail_some = || {
        let mine = std::iter::repeat_with(|| next.fetch_add(1, Ordering::SeqCst));
        let voyages = mine.take_while(|seed| *seed < seeds).map(sail);
        voyages.fold((0, 0), |sum, one| (sum.0 + one.0, sum.1 + one.1))
    };
    let sums: Vec<(u64, u64)> = std::thread::scope(|scope| {
        let sailors: Vec<_> = (0..sailors).map(|_| scope.spawn(sail_some)).collect();
        sailors.into_iter().map(|sailor| sailor.join().unwrap()).collect()
    });
    let acknowledged: u64 = sums.iter().map(|(acknowledged, _)| acknowledged).sum();
    let unavailable: u64 = sums.iter().map(|(_, unavailable)| unavailable).sum();
    assert!(acknowledged > 0 && unavailable > 0, "{acknowledged} and {unavailable}");
}

/// A store whose object store can be sent away.
fn at_sea(patience: Duration) -> (Arc<Weather>, Arc<Unruly>, SlateStore) {
    let weather = Weather::new(0);
    let objects = Arc::new(Unruly::new(Arc::new(InMemory::new()), weather.clone()));
    let store = SlateStore::open_in(objects.clone(), NAME, &options(patience)).unwrap();
    (weather, objects, store)
}

fn eventually_written(store: &SlateStore, key: &'static str) {
    let written = (0..100).find_map(|_| match store.put(1, key, "back", Durability::Sync) {
        Ok(()) => Some(()),
        Err(error) => {
            assert_eq!(error.kind(), ErrorKind::Unavailable, "{error}");
            None
        }
    });
    assert!(written.is_some(), "writes do not go on");
}

#[test]
fn while_the_object_store_is_away_writes_fail_reads_go_on_and_then_everything_does() {
    for hangs in [false, true] {
        let (weather, objects, store) = at_sea(Duration::from_millis(200));
        store.put(0, "flushed", "1", Durability::Sync).unwrap();
        store.flush().unwrap();
        assert!(store.get(0, b"flushed").unwrap().is_some(), "its block is in the cache");
        store.put(0, "recent", "2", Durability::Sync).unwrap();

        Weather::set(&weather.hangs, hangs);
        Weather::set(&weather.away, true);
        for key in ["first", "second"] {
            let error = store.put(0, key, "3", Durability::Sync).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Unavailable, "{error}");
            assert!(error.to_string().contains("no answer from the object store"), "{error}");
            assert!(error.to_string().contains(NAME), "{error}");
            let tells_why = error.to_string().contains("503 Service Unavailable");
            assert!(tells_why != hangs || key == "second", "{error}");
        }
        assert_eq!(store.flush().unwrap_err().kind(), ErrorKind::Unavailable);
        assert_eq!(store.ready().unwrap_err().kind(), ErrorKind::Unavailable);
        for key in [&b"flushed"[..], b"recent"] {
            assert!(store.get(0, key).unwrap().is_some());
        }
        assert_eq!(store.get(0, b"first").unwrap(), None, "nobody knows yet whether it is there");
        assert_eq!(read_all(&store).unwrap().len(), 2);
        assert!(store.failure().is_none(), "it may come back");

        Weather::set(&weather.away, false);
        eventually_written(&store, "after");
        let found = read_all(&store).unwrap();
        let keys: Vec<_> = found.keys().map(|(_, key)| String::from_utf8_lossy(key)).collect();
        // The second was refused before it was begun.
        assert_eq!(keys, ["first", "flushed", "recent", "after"]);
        drop(store);
        let store = SlateStore::open_in(objects, NAME, &options(Duration::from_secs(10))).unwrap();
        assert_eq!(read_all(&store).unwrap(), found);
    }
}

#[test]
fn a_write_waits_for_an_object_store_that_is_back_within_its_patience() {
    let (weather, _, store) = at_sea(Duration::from_secs(20));
    Weather::set(&weather.away, true);
    std::thread::scope(|scope| {
        let write = scope.spawn(|| store.put(0, "a", "1", Durability::Sync));
        while store.requests().errors() == 0 {
            std::thread::yield_now();
        }
        Weather::set(&weather.away, false);
        write.join().unwrap().unwrap();
    });
    assert!(store.get(0, b"a").unwrap().is_some());
}

#[test]
fn what_was_left_undecided_is_not_shown_before_it_is_durable() {
    let (weather, objects, store) = at_sea(Duration::from_millis(100));
    Weather::set(&weather.away, true);
    store.put(0, "a", "1", Durability::Sync).unwrap_err();
    assert_eq!(store.get(0, b"a").unwrap(), None);
    // The process ends before the store is back.
    drop(store);
    Weather::set(&weather.away, false);
    let store = SlateStore::open_in(objects, NAME, &options(Duration::from_secs(10))).unwrap();
    assert_eq!(store.get(0, b"a").unwrap(), None);
}

#[test]
fn a_store_that_is_closed_while_the_object_store_is_away_says_so_and_is_closed() {
    let (weather, _, store) = at_sea(Duration::from_millis(100));
    Weather::set(&weather.away, true);
    store.put(0, "a", "1", Durability::Sync).unwrap_err();
    assert_eq!(store.close().unwrap_err().kind(), ErrorKind::Unavailable);
    assert_eq!(store.get(0, b"a").unwrap_err().kind(), ErrorKind::Closed);
    store.close().unwrap();
}

/// Loses the answer to every first try of a write.
#[derive(Debug, Default)]
struct Forgetful(Mutex<std::collections::BTreeSet<String>>);

#[async_trait::async_trait]
impl Mood for Forgetful {
    async fn fate(&self, request: Request, path: &Path) -> Fate {
        let is_first = request == Request::Put
            && path.as_ref().starts_with("shard-")
            && self.0.lock().unwrap().insert(path.to_string());
        Fate { answer_lost: is_first, ..Fate::default() }
    }
}

#[test]
fn a_write_whose_answer_was_lost_is_not_taken_for_another_process_s() {
    let objects = Arc::new(Unruly::new(Arc::new(InMemory::new()), Arc::<Forgetful>::default()));
    let options = options(Duration::from_secs(20));
    for round in 0..2_u8 {
        let store = SlateStore::open_in(objects.clone(), NAME, &options).unwrap();
        for number in 0..5_u8 {
            store.put(0, vec![round, number], "value", Durability::Sync).unwrap();
        }
        store.flush().unwrap();
        assert_eq!(read_all(&store).unwrap().len(), 5 * (usize::from(round) + 1));
        store.close().unwrap();
    }
}

/// Its bucket is removed.
#[derive(Debug, Default)]
struct Removed(AtomicBool);

#[async_trait::async_trait]
impl Mood for Removed {
    async fn fate(&self, _: Request, path: &Path) -> Fate {
        let refused = || ObjectError::NotFound { path: path.to_string(), source: "404".into() };
        Fate { refused: Weather::is(&self.0).then(refused), ..Fate::default() }
    }
}

#[test]
fn a_store_whose_bucket_is_removed_takes_no_more_writes_and_says_why() {
    let mood = Arc::new(Removed::default());
    let objects = Arc::new(Unruly::new(Arc::new(InMemory::new()), mood.clone()));
    let store = SlateStore::open_in(objects, NAME, &options(Duration::from_secs(5))).unwrap();
    store.put(0, "a", "1", Durability::Sync).unwrap();
    Weather::set(&mood.0, true);
    let first = store.put(0, "b", "2", Durability::Sync).unwrap_err();
    assert_eq!(first.kind(), ErrorKind::Poisoned, "{first}");
    assert!(first.to_string().contains("404"), "{first}");
    let second = store.put(0, "c", "3", Durability::Sync).unwrap_err();
    assert_eq!(second.kind(), ErrorKind::Poisoned, "{second}");
    let failure = store.failure().unwrap();
    assert_eq!(failure.kind(), ErrorKind::Poisoned, "{failure}");
}
