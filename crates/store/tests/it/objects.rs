//! Stores on object storage: who has one, who follows it, and where there can be none.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use object_store::memory::InMemory;
use object_store::path::Path;
use object_store::{Error as ObjectError, ObjectMeta, ObjectStoreExt, PutMode, UpdateVersion};
use stonecrop_store::{
    Batch, Direction, Durability, ErrorKind, Follower, KeyRange, Options, Read, SlateCompactor,
    SlateShards, SlateStore, Store,
};

use crate::harness::{Place, keys};
use crate::unruly::{Fate, Mood, Request, Unruly, generic};

fn options(shards: u16) -> Options {
    let mut options = Options::default();
    options.shards = Some(shards);
    options.objects.flush_interval = Duration::from_millis(2);
    options.objects.poll_interval = Duration::from_millis(20);
    options
}

fn open(place: &Place, shards: u16) -> SlateStore {
    SlateStore::open(&place.location, &options(shards)).unwrap()
}

#[allow(clippy::disallowed_methods, reason = "other threads and processes live in real time")]
fn now() -> Instant {
    Instant::now()
}

#[allow(clippy::disallowed_methods, reason = "other threads and processes live in real time")]
fn pause() {
    std::thread::sleep(Duration::from_millis(5));
}

/// Waits until something is there, and gives up after a while.
fn eventually<T>(what: &str, within: Duration, mut look: impl FnMut() -> Option<T>) -> T {
    let start = now();
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(start.elapsed() < within, "not within {within:?}: {what}");
        pause();
    }
}

/// Generous, for machines with much to do.
const SOON: Duration = Duration::from_secs(10);

#[test]
fn a_second_opener_takes_over_and_the_first_is_refused_everything() {
    let place = Place::new();
    let first = open(&place, 2);
    first.put(0, "a", "first", Durability::Sync).unwrap();
    first.put(1, "b", "first", Durability::Sync).unwrap();
    let before = first.snapshot().unwrap();

    let second = open(&place, 2);
    second.put(0, "c", "second", Durability::Sync).unwrap();

    let error = first.put(0, "d", "late", Durability::Sync).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Fenced, "{error}");
    assert!(error.to_string().contains("was taken over by another process"), "{error}");
    for shard in 0..2 {
        let refused = |read: &dyn Fn() -> Option<ErrorKind>| {
            let kind = eventually("a read is refused", SOON, read);
            assert_eq!(kind, ErrorKind::Fenced);
        };
        refused(&|| first.get(shard, b"a").err().map(|error| error.kind()));
        refused(&|| before.get(shard, b"a").err().map(|error| error.kind()));
        let scan = || first.scan(shard, KeyRange::all(), Direction::Forward);
        refused(&|| scan().err().map(|error| error.kind()));
    }
    let kinds = [first.sync(), first.flush(), first.compact(), first.ready()]
        .map(|result| result.unwrap_err().kind());
    assert_eq!(kinds, [ErrorKind::Fenced; 4]);

    assert_eq!(keys(&second, 0, KeyRange::all(), Direction::Forward), ["a", "c"]);
    assert_eq!(keys(&second, 1, KeyRange::all(), Direction::Forward), ["b"]);
}

#[test]
fn what_was_begun_and_failed_fails_whoever_waits_for_it_and_whatever_comes_after() {
    for end in [
        |store: &SlateStore| store.ready(),
        |store: &SlateStore| store.sync(),
        |store: &SlateStore| store.put(0, "next", "", Durability::Begun),
        |store: &SlateStore| store.close(),
    ] {
        let place = Place::new();
        let first = open(&place, 1);
        let _second = open(&place, 1);
        // Its log can't be uploaded, which is told once that was tried.
        let failure = eventually("it fails", SOON, || {
            first.put(0, "late", "", Durability::Begun).err().or_else(|| end(&first).err())
        });
        assert_eq!(failure.kind(), ErrorKind::Fenced, "{failure}");
        assert!(first.put(0, "later", "", Durability::Sync).is_err());
    }
}

#[test]
fn the_first_finds_out_by_itself_that_it_was_taken_over() {
    let place = Place::new();
    // As it is opened in earnest: looked for within a second, however rare other looks are.
    let mut options = options(2);
    options.objects.poll_interval = 10 * SOON;
    let first = SlateStore::open(&place.location, &options).unwrap();
    assert!(first.failure().is_none());
    let _second = SlateStore::open(&place.location, &options).unwrap();
    let failure = eventually("the first knows", SOON, || first.failure());
    assert_eq!(failure.kind(), ErrorKind::Fenced);
    assert!(first.close().is_err() || first.failure().is_none());
}

#[test]
fn a_store_that_was_closed_is_not_said_to_have_failed() {
    let place = Place::new();
    let first = open(&place, 1);
    first.close().unwrap();
    let _second = open(&place, 1);
    assert!(first.failure().is_none());
    assert_eq!(first.get(0, b"a").unwrap_err().kind(), ErrorKind::Closed);
}

/// What a writer does who opens a store again and again, and writes until it is taken away.
#[derive(Default)]
struct Race {
    acknowledged: BTreeSet<(u8, Vec<u8>)>,
    opened: usize,
    fenced: usize,
}

#[allow(clippy::disallowed_methods, reason = "each waits for its own while, so that some get on")]
fn race(place: &Place, shards: u16, writer: u8) -> Race {
    let mut race = Race::default();
    let mut opening = Duration::ZERO;
    for round in 0..6_u8 {
        std::thread::sleep(opening * (u32::from((writer * 37) ^ (round * 11)) % 6));
        let start = now();
        let opened = SlateStore::open(&place.location, &options(shards));
        opening = start.elapsed();
        let store = match opened {
            Ok(store) => store,
            Err(error) => {
                assert_eq!(error.kind(), ErrorKind::Fenced, "{error}");
                race.fenced += 1;
                continue;
            }
        };
        race.opened += 1;
        for write in 0..40_u8 {
            let shard = write % shards as u8;
            let key = vec![writer, round, write];
            match store.put(shard, key.clone(), vec![writer], Durability::Sync) {
                Ok(()) => drop(race.acknowledged.insert((shard, key))),
                Err(error) => {
                    assert_eq!(error.kind(), ErrorKind::Fenced, "{error}");
                    race.fenced += 1;
                    break;
                }
            }
        }
    }
    race
}

fn race_of_four(shards: u16) {
    let place = Place::new();
    let races: Vec<_> = std::thread::scope(|scope| {
        let place = &place;
        let writers: Vec<_> =
            (0..4).map(|writer| scope.spawn(move || race(place, shards, writer))).collect();
        writers.into_iter().map(|writer| writer.join().unwrap()).collect()
    });
    let store = open(&place, shards);
    let found: BTreeSet<_> = (0..shards as u8)
        .flat_map(|shard| {
            let keys = keys(&store, shard, KeyRange::all(), Direction::Forward);
            keys.into_iter().map(move |key| (shard, key.to_vec()))
        })
        .collect();
    let acknowledged: BTreeSet<_> = races.iter().flat_map(|race| &race.acknowledged).collect();
    let lost: Vec<_> = acknowledged.iter().filter(|write| !found.contains(**write)).collect();
    assert!(lost.is_empty(), "{} of {} lost: {lost:?}", lost.len(), acknowledged.len());
    let sum = |of: fn(&Race) -> usize| races.iter().map(of).sum::<usize>();
    let (opened, fenced) = (sum(|race| race.opened), sum(|race| race.fenced));
    let figures = format!("{opened} opened, {fenced} fenced, {} acknowledged", acknowledged.len());
    assert!(opened > 1 && fenced > 0 && acknowledged.len() > 20, "{figures}");
}

#[test]
fn a_store_that_many_make_at_once_is_made_once_and_nobody_is_told_of_damage() {
    for _ in 0..20 {
        let place = Place::new();
        let kinds: Vec<_> = std::thread::scope(|scope| {
            let make =
                || SlateStore::open(&place.location, &options(2)).map(|store| store.shards());
            let makers: Vec<_> = (0..4).map(|_| scope.spawn(make)).collect();
            makers.into_iter().map(|maker| maker.join().unwrap()).collect()
        });
        for made in kinds {
            let kind = made.as_ref().map_err(|error| error.kind());
            assert!(matches!(kind, Ok(2) | Err(ErrorKind::Fenced)), "{made:?}");
        }
        assert_eq!(open(&place, 5).shards(), 2);
    }
}

#[test]
fn of_four_racing_writers_nothing_acknowledged_is_lost() {
    race_of_four(1);
}

#[test]
fn of_four_racing_writers_of_several_shards_nothing_acknowledged_is_lost() {
    race_of_four(3);
}

#[test]
fn a_follower_sees_what_was_synced_and_takes_no_writes() {
    let place = Place::new();
    let writer = open(&place, 2);
    writer.put(0, "a", "1", Durability::Sync).unwrap();
    let follower = Follower::open(&place.location, &options(2)).unwrap();
    assert_eq!(follower.shards(), 2);
    assert_eq!(follower.get(0, b"a").unwrap().as_deref(), Some(&b"1"[..]));

    writer.put(1, "b", "2", Durability::Sync).unwrap();
    writer.delete(0, "a", Durability::Sync).unwrap();
    eventually("the follower sees a write", SOON, || follower.get(1, b"b").unwrap());
    eventually("the follower sees a delete", SOON, || {
        follower.get(0, b"a").unwrap().is_none().then_some(())
    });
    assert_eq!(keys(&follower, 1, KeyRange::all(), Direction::Backward), ["b"]);

    let write = follower.put(0, "c", "3", Durability::Sync);
    let kinds = [write, follower.sync(), follower.flush(), follower.compact()]
        .map(|result| result.unwrap_err().kind());
    assert_eq!(kinds, [ErrorKind::ReadOnly; 4]);
    assert!(writer.lag().is_none() && writer.failure().is_none(), "it takes nothing over");
    writer.put(0, "d", "4", Durability::Sync).unwrap();
}

#[test]
fn a_follower_goes_on_when_another_writer_takes_over() {
    let place = Place::new();
    let first = open(&place, 2);
    first.put(0, "a", "first", Durability::Sync).unwrap();
    let follower = Follower::open(&place.location, &options(2)).unwrap();
    for round in 0..3_u8 {
        let next = open(&place, 2);
        next.put(round % 2, [b'b', round].to_vec(), "next", Durability::Sync).unwrap();
        next.flush().unwrap();
        next.compact().unwrap();
        let key = [b'b', round];
        eventually("the next one's write", SOON, || follower.get(round % 2, &key).unwrap());
        assert!(follower.get(0, b"a").unwrap().is_some());
        assert!(follower.failure().is_none());
    }
    assert_eq!(first.put(0, "z", "", Durability::Sync).unwrap_err().kind(), ErrorKind::Fenced);
}

/// Answers nothing while it is away.
#[derive(Debug, Default)]
struct Leaving {
    away: AtomicBool,
}

#[async_trait::async_trait]
impl Mood for Leaving {
    async fn fate(&self, _: Request, _: &Path) -> Fate {
        while self.away.load(Ordering::SeqCst) {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        Fate::default()
    }
}

#[test]
fn a_store_tells_since_when_something_is_in_the_log_alone_and_so_does_the_next_one() {
    let place = Place::new();
    let first = open(&place, 2);
    assert_eq!(first.log_lag(), Duration::ZERO, "nothing was written");
    let before = now();
    first.put(1, "a", "1", Durability::Buffered).unwrap();
    first.put(1, "b", "2", Durability::Sync).unwrap();
    let lag = eventually("time passes", SOON, || {
        let lag = first.log_lag();
        (lag > Duration::from_millis(20)).then_some(lag)
    });
    assert!(lag < before.elapsed(), "{lag:?}");

    let second = open(&place, 2);
    assert!(second.log_lag() > Duration::ZERO, "it has read them from the log");
    second.flush().unwrap();
    assert_eq!(second.log_lag(), Duration::ZERO);
    second.close().unwrap();
    assert_eq!(open(&place, 2).log_lag(), Duration::ZERO, "all is in files");
}

#[test]
fn a_write_without_sync_is_seen_at_once_and_others_once_they_are_durable() {
    let mood = Arc::new(Leaving::default());
    let objects = Arc::new(Unruly::new(Arc::new(InMemory::new()), mood.clone()));
    let store = Arc::new(SlateStore::open_in(objects, "test", &options(1)).unwrap());
    mood.away.store(true, Ordering::SeqCst);
    store.put(0, "a", "1", Durability::Buffered).unwrap();
    assert!(store.get(0, b"a").unwrap().is_some());
    let synced = std::thread::spawn({
        let store = store.clone();
        move || store.put(0, "b", "2", Durability::Sync)
    });
    for _ in 0..20 {
        assert!(store.get(0, b"b").unwrap().is_none() && !synced.is_finished());
        pause();
    }
    mood.away.store(false, Ordering::SeqCst);
    synced.join().unwrap().unwrap();
    assert!(store.get(0, b"b").unwrap().is_some());
}

#[test]
fn a_write_that_was_given_up_is_seen_once_it_is_durable_though_nobody_writes_again() {
    let mood = Arc::new(Leaving::default());
    let objects = Arc::new(Unruly::new(Arc::new(InMemory::new()), mood.clone()));
    let mut options = options(2);
    options.objects.patience = Duration::from_secs(2);
    let store = SlateStore::open_in(objects, "test", &options).unwrap();
    mood.away.store(true, Ordering::SeqCst);
    let error = store.put(1, "a", "1", Durability::Sync).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unavailable, "{error}");
    assert!(store.get(1, b"a").unwrap().is_none());
    mood.away.store(false, Ordering::SeqCst);
    eventually("it is seen", SOON, || store.get(1, b"a").unwrap());
    store.put(1, "b", "2", Durability::Sync).unwrap();
}

#[test]
fn a_follower_tells_how_long_ago_it_saw_all_there_was() {
    let mood = Arc::new(Leaving::default());
    let objects = Arc::new(Unruly::new(Arc::new(InMemory::new()), mood.clone()));
    let writer = SlateStore::open_in(objects.clone(), "test", &options(2)).unwrap();
    let follower = Follower::open_in(objects, "test", &options(2)).unwrap();
    let is_near = || {
        let (asked, lag) = (now(), follower.lag().unwrap());
        // When it was asked for may have been long ago by now.
        (lag < Duration::from_millis(500)).then_some((asked, lag))
    };
    // It is near without writes, with them, and when the files are other ones.
    eventually("it looks", SOON, is_near);
    for round in 0..20_u8 {
        writer.put(round % 2, [round].to_vec(), "1", Durability::Sync).unwrap();
        let written = now();
        if round % 5 == 0 {
            writer.flush().unwrap();
        }
        eventually("what was written before that long ago is seen", SOON, || {
            let (asked, lag) = is_near()?;
            let is_told = lag < asked.saturating_duration_since(written);
            let seen = follower.get(round % 2, &[round]).unwrap();
            assert!(!is_told || seen.is_some(), "{lag:?} behind, and {round} is not there");
            is_told.then_some(())
        });
    }

    mood.away.store(true, Ordering::SeqCst);
    eventually("it is behind", SOON, || (follower.lag()? > Duration::from_secs(2)).then_some(()));
    assert!(follower.failure().is_none(), "the object store may come back");
    mood.away.store(false, Ordering::SeqCst);
    eventually("it has caught up", SOON, is_near);
    follower.close().unwrap();
    assert!(follower.lag().is_none());
}

/// Counts what is asked for of the log, and of the lists of files; the log's files are missing while
/// it is told so.
#[derive(Debug, Default)]
struct Watched {
    of_log: AtomicU64,
    of_lists: AtomicU64,
    log_is_lost: AtomicBool,
}

#[async_trait::async_trait]
impl Mood for Watched {
    async fn fate(&self, _: Request, path: &Path) -> Fate {
        let is_of = |folder: &str| path.to_string().contains(folder);
        if is_of("/wal/") {
            self.of_log.fetch_add(1, Ordering::SeqCst);
        } else if is_of("/manifest/") {
            self.of_lists.fetch_add(1, Ordering::SeqCst);
        }
        let refused = (is_of("/wal/") && self.log_is_lost.load(Ordering::SeqCst))
            .then(|| generic("the log can't be read"));
        Fate { refused, ..Fate::default() }
    }
}

#[test]
fn a_follower_asks_once_a_look_whether_the_log_has_grown() {
    let (objects, mood) = (Arc::new(InMemory::new()), Arc::new(Watched::default()));
    let writer = SlateStore::open_in(objects.clone(), "test", &options(1)).unwrap();
    let watched = Arc::new(Unruly::new(objects, mood.clone()));
    let follower = Follower::open_in(watched, "test", &options(1)).unwrap();
    let asked = || (mood.of_lists.load(Ordering::SeqCst), mood.of_log.load(Ordering::SeqCst));
    // In the log is only the mark of its writer, which is read every time; then there is a write.
    for requests in [2, 1] {
        let (lists, log) = asked();
        eventually("it looks often", SOON, || (asked().0 > lists + 40).then_some(()));
        let (looks, of_log) = (asked().0 - lists, asked().1 - log);
        assert!(of_log <= requests * looks + 10, "{of_log} of the log in {looks} looks");
        writer.put(0, "a", "1", Durability::Sync).unwrap();
        eventually("it has seen all", SOON, || follower.get(0, b"a").unwrap());
    }
}

#[test]
fn a_follower_that_can_not_read_the_log_falls_behind_and_catches_up() {
    let (objects, mood) = (Arc::new(InMemory::new()), Arc::new(Watched::default()));
    let writer = SlateStore::open_in(objects.clone(), "test", &options(1)).unwrap();
    let watched = Arc::new(Unruly::new(objects, mood.clone()));
    let follower = Follower::open_in(watched, "test", &options(1)).unwrap();
    mood.log_is_lost.store(true, Ordering::SeqCst);
    writer.put(0, "a", "1", Durability::Sync).unwrap();
    eventually("it is behind", SOON, || (follower.lag()? > Duration::from_secs(2)).then_some(()));
    assert!(follower.get(0, b"a").unwrap().is_none());
    mood.log_is_lost.store(false, Ordering::SeqCst);
    eventually("it sees the write", SOON, || follower.get(0, b"a").unwrap());
    eventually("it is near", SOON, || (follower.lag()? < Duration::from_millis(500)).then_some(()));
}

#[test]
fn a_follower_is_opened_though_the_log_can_not_be_read_at_first() {
    let (objects, mood) = (Arc::new(InMemory::new()), Arc::new(Watched::default()));
    let writer = SlateStore::open_in(objects.clone(), "test", &options(1)).unwrap();
    writer.put(0, "a", "1", Durability::Sync).unwrap();
    mood.log_is_lost.store(true, Ordering::SeqCst);
    let watched = Arc::new(Unruly::new(objects, mood.clone()));
    let opening = std::thread::spawn(|| Follower::open_in(watched, "test", &options(1)));
    eventually("it tries", SOON, || (mood.of_log.load(Ordering::SeqCst) > 2).then_some(()));
    mood.log_is_lost.store(false, Ordering::SeqCst);
    assert!(opening.join().unwrap().unwrap().get(0, b"a").unwrap().is_some());
}

#[test]
fn a_folder_that_keeps_what_was_read_is_bounded_over_all_shards() {
    const BOUND: u64 = 64 << 10;
    let (objects, folder) = (Arc::new(InMemory::new()), tempfile::tempdir().unwrap());
    let writer = SlateStore::open_in(objects.clone(), "test", &options(4)).unwrap();
    for shard in 0..4 {
        // As much as half of the bound, in a form that can't be made shorter.
        let mut random = fastrand::Rng::with_seed(u64::from(shard));
        let value: Vec<u8> = std::iter::repeat_with(|| random.u8(..)).take(32 << 10).collect();
        writer.put(shard, "a", value, Durability::Buffered).unwrap();
    }
    writer.close().unwrap();
    let mut options = options(4);
    options.objects.cache_folder = Some(folder.path().into());
    options.objects.cache_folder_bytes = BOUND;
    let follower = Follower::open_in(objects, "test", &options).unwrap();
    let mut most = 0;
    for shard in 0..4 {
        assert!(follower.get(shard, b"a").unwrap().is_some());
        most = most.max(bytes_in(folder.path()));
    }
    assert!(most > 0, "nothing was kept");
    eventually("some of it is dropped", SOON, || (bytes_in(folder.path()) <= BOUND).then_some(()));
}

#[test]
fn a_folder_that_can_not_keep_what_was_read_is_refused_at_the_start() {
    let place = Place::new();
    let file = place.folder.path().join("file");
    std::fs::write(&file, "years of work").unwrap();
    let mut options = options(1);
    options.objects.cache_folder = Some(file.clone());
    let error = SlateStore::open(&place.location, &options).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Io);
    assert!(error.to_string().contains(file.to_str().unwrap()), "{error}");
}

fn bytes_in(folder: &std::path::Path) -> u64 {
    let Ok(entries) = folder.read_dir() else { return 0 };
    let sizes = entries.flatten().map(|entry| match entry.metadata() {
        Ok(found) if found.is_dir() => bytes_in(&entry.path()),
        Ok(found) => found.len(),
        Err(_) => 0,
    });
    sizes.sum()
}

#[test]
fn there_is_nothing_to_follow_where_there_is_no_store() {
    let place = Place::new();
    let error = Follower::open(&place.location, &options(1)).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Missing);
    assert!(error.to_string().contains("there is no database at"), "{error}");
}

/// Takes every write, whatever its condition.
#[derive(Debug)]
struct Unconditional {
    ignores_create: bool,
    ignores_update: bool,
}

#[async_trait::async_trait]
impl Mood for Unconditional {
    async fn fate(&self, _: Request, _: &Path) -> Fate {
        Fate::default()
    }

    fn condition(&self, asked: PutMode) -> PutMode {
        match asked {
            PutMode::Create if self.ignores_create => PutMode::Overwrite,
            PutMode::Update(_) if self.ignores_update => PutMode::Overwrite,
            asked => asked,
        }
    }
}

#[test]
fn an_object_store_that_ignores_conditions_is_refused_by_name() {
    for (ignores_create, ignores_update) in [(true, true), (true, false), (false, true)] {
        let objects = Arc::new(InMemory::new());
        let mood = Arc::new(Unconditional { ignores_create, ignores_update });
        let store = Arc::new(Unruly::new(objects.clone(), mood));
        let error = SlateStore::open_in(store, "s3://bucket", &options(1)).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Unsupported);
        let message = error.to_string();
        assert!(message.contains("s3://bucket") && message.contains("Unruly"), "{message}");
        assert!(message.contains("If-None-Match"), "{message}");
        assert_eq!(names(&objects), [""; 0], "nothing is left there");
    }
}

/// Takes ETags in some of the forms that they could be sent in.
#[derive(Debug)]
struct Particular {
    takes_quoted: bool,
    takes_bare: bool,
    taken: Mutex<Vec<String>>,
}

#[async_trait::async_trait]
impl Mood for Particular {
    async fn fate(&self, _: Request, _: &Path) -> Fate {
        Fate::default()
    }

    fn condition(&self, asked: PutMode) -> PutMode {
        let PutMode::Update(UpdateVersion { e_tag: Some(sent), version }) = asked else {
            return asked;
        };
        let takes = if sent.starts_with('"') { self.takes_quoted } else { self.takes_bare };
        let inner = if takes { sent.trim_matches('"') } else { "of no object" };
        let e_tag = Some(format!("\"{inner}\""));
        if takes {
            self.taken.lock().unwrap().push(sent);
        }
        PutMode::Update(UpdateVersion { e_tag, version })
    }
}

#[test]
fn an_etag_is_sent_in_the_form_that_the_object_store_takes() {
    for (takes_quoted, takes_bare) in [(true, true), (true, false), (false, true)] {
        let mood = Arc::new(Particular { takes_quoted, takes_bare, taken: Mutex::default() });
        let store = Arc::new(Unruly::new(Arc::new(InMemory::new()), mood.clone()));
        let store = SlateStore::open_in(store, "s3://bucket", &options(1)).unwrap();
        store.put(0, "a", "1", Durability::Sync).unwrap();
        let taken = mood.taken.lock().unwrap().clone();
        assert!(!taken.is_empty());
        assert!(taken.iter().all(|sent| sent.starts_with('"') == takes_quoted), "{taken:?}");
    }
}

#[test]
fn a_compactor_by_itself_sends_etags_in_that_form_too() {
    let objects = Arc::new(InMemory::new());
    let _store = SlateStore::open_in(objects.clone(), "s3://bucket", &options(1)).unwrap();
    let mood =
        Arc::new(Particular { takes_quoted: false, takes_bare: true, taken: Mutex::default() });
    let unruly = Arc::new(Unruly::new(objects, mood.clone()));
    let compactor = SlateCompactor::open_in(unruly, "s3://bucket", &options(1)).unwrap();
    compactor.stop();
    compactor.wait().unwrap();
    assert!(!mood.taken.lock().unwrap().is_empty(), "it was not tried out");
}

#[test]
fn an_object_store_that_takes_no_etag_is_refused_by_name() {
    let objects = Arc::new(InMemory::new());
    let mood = Particular { takes_quoted: false, takes_bare: false, taken: Mutex::default() };
    let store = Arc::new(Unruly::new(objects.clone(), Arc::new(mood)));
    let error = SlateStore::open_in(store, "s3://bucket", &options(1)).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unsupported);
    let message = error.to_string();
    assert!(message.contains("s3://bucket") && message.contains("own ETag"), "{message}");
    assert_eq!(names(&objects), [""; 0], "nothing is left there");
}

fn listed(objects: &InMemory) -> Vec<ObjectMeta> {
    use futures::TryStreamExt;
    use object_store::ObjectStore;
    futures::executor::block_on(objects.list(None).try_collect()).unwrap()
}

fn names(objects: &InMemory) -> Vec<String> {
    listed(objects).into_iter().map(|object| object.location.to_string()).collect()
}

/// A value that can be made much shorter.
fn repetitive(key: u16) -> String {
    format!("{key:05} ").repeat(50)
}

fn put_repetitive(store: &SlateStore) {
    for key in 0..1_000_u16 {
        let value = repetitive(key);
        store.put(0, key.to_be_bytes().to_vec(), value, Durability::Buffered).unwrap();
    }
}

#[test]
fn what_is_stored_is_compressed_in_the_log_in_files_and_after_compaction() {
    let objects = Arc::new(InMemory::new());
    let store = SlateStore::open_in(objects.clone(), "test", &options(1)).unwrap();
    let entries = 1_000 * (2 + repetitive(0).len() as u64);
    let bytes_of = |folder: &str| {
        let is_in = |object: &ObjectMeta| object.location.to_string().contains(folder);
        listed(&objects).into_iter().filter(is_in).map(|object| object.size).sum::<u64>()
    };
    put_repetitive(&store);
    store.sync().unwrap();
    assert!((1..entries / 2).contains(&bytes_of("/wal/")), "{} in the log", bytes_of("/wal/"));
    store.flush().unwrap();
    let flushed = bytes_of("/compacted/");
    assert!((1..entries / 2).contains(&flushed), "{flushed} in files");
    store.compact().unwrap();
    // Files that were compacted stay for a while.
    let compacted = bytes_of("/compacted/") - flushed;
    assert!((1..entries / 2).contains(&compacted), "{compacted} after compaction");
}

#[test]
fn a_store_from_before_files_were_compressed_is_read_and_compacted() {
    let objects = Arc::new(InMemory::new());
    SlateStore::open_in(objects.clone(), "test", &options(1)).unwrap().close().unwrap();
    tokio::runtime::Runtime::new().unwrap().block_on(async {
        let old = slatedb::Db::open("shard-000", objects.clone()).await.unwrap();
        for key in 0..1_000_u16 {
            old.put(key.to_be_bytes(), repetitive(key)).await.unwrap();
        }
        // Half of it in a file, half in the log.
        let flush_type = slatedb::config::FlushType::MemTable;
        old.flush_with_options(slatedb::config::FlushOptions { flush_type }).await.unwrap();
        for key in 500..1_000_u16 {
            old.put(key.to_be_bytes(), repetitive(key)).await.unwrap();
        }
        old.close().await.unwrap();
    });

    let store = SlateStore::open_in(objects, "test", &options(1)).unwrap();
    for is_compacted in [false, true] {
        for key in [0, 499, 500, 999_u16] {
            let found = store.get(0, &key.to_be_bytes()).unwrap();
            assert_eq!(found.unwrap(), repetitive(key), "{is_compacted}");
        }
        store.compact().unwrap();
    }
}

/// Refuses requests of one kind, always with the same answer.
#[derive(Debug)]
struct Refusing(Request, fn() -> ObjectError);

#[async_trait::async_trait]
impl Mood for Refusing {
    async fn fate(&self, request: Request, _: &Path) -> Fate {
        Fate { refused: (request == self.0).then(self.1), ..Fate::default() }
    }
}

fn denied() -> ObjectError {
    ObjectError::PermissionDenied { path: "p".to_owned(), source: "403 Forbidden".into() }
}

/// As lists and deletes are, by object_store 0.14.
fn denied_in_words() -> ObjectError {
    generic("Server returned non-2xx status code: 403 Forbidden: <Code>AccessDenied</Code>")
}

fn unknown_key() -> ObjectError {
    ObjectError::Unauthenticated { path: "p".to_owned(), source: "401 Unauthorized".into() }
}

fn no_bucket() -> ObjectError {
    ObjectError::NotFound { path: "p".to_owned(), source: "404 NoSuchBucket".into() }
}

fn busy() -> ObjectError {
    crate::unruly::generic("503 Slow Down")
}

fn no_credentials() -> ObjectError {
    crate::unruly::generic("Error performing PUT http://169.254.169.254/latest/api/token in 10 s")
}

#[test]
fn what_the_object_store_refuses_is_said_at_the_start() {
    type Case = (Request, fn() -> ObjectError, ErrorKind, &'static [&'static str]);
    let cases: [Case; 9] = [
        (Request::Put, denied, ErrorKind::Denied, &["403 Forbidden", "check the credentials"]),
        (Request::Get, denied, ErrorKind::Denied, &["403 Forbidden", "check the credentials"]),
        (Request::List, denied_in_words, ErrorKind::Denied, &["can't be listed", "403 Forbidden"]),
        (
            Request::Delete,
            denied_in_words,
            ErrorKind::Denied,
            &["can't be deleted from", "403 Forbidden"],
        ),
        (Request::Put, unknown_key, ErrorKind::Denied, &["401", "check the credentials"]),
        (Request::Put, no_bucket, ErrorKind::Denied, &["404", "check the name of the bucket"]),
        (Request::Put, no_credentials, ErrorKind::Denied, &["no credentials were found"]),
        (Request::Put, busy, ErrorKind::Unavailable, &["503 Slow Down"]),
        (Request::Get, busy, ErrorKind::Unavailable, &["503 Slow Down"]),
    ];
    for (request, answer, kind, words) in cases {
        let mood = Arc::new(Refusing(request, answer));
        let store = Arc::new(Unruly::new(Arc::new(InMemory::new()), mood));
        let error = SlateStore::open_in(store, "s3://bucket", &options(1)).unwrap_err();
        assert_eq!(error.kind(), kind, "{error}");
        let message = error.to_string();
        assert!(message.contains("s3://bucket"), "{message}");
        assert!(words.iter().all(|word| message.contains(word)), "{message}");
    }
}

#[test]
fn an_opening_that_fails_does_not_disturb_a_thread_that_must_not_wait() {
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let kind = runtime.block_on(async {
        let mood = Arc::new(Refusing(Request::Put, denied));
        let store = Arc::new(Unruly::new(Arc::new(InMemory::new()), mood));
        SlateStore::open_in(store, "s3://bucket", &options(1)).unwrap_err().kind()
    });
    assert_eq!(kind, ErrorKind::Denied);
    let place = Place::new();
    let kind =
        runtime.block_on(async { Follower::open(&place.location, &options(1)) }).unwrap_err();
    assert_eq!(kind.kind(), ErrorKind::Missing);
}

/// What opening says when the marker is as told.
fn with_marker(change: impl Fn(&str) -> String) -> (ErrorKind, String) {
    let objects = Arc::new(InMemory::new());
    SlateStore::open_in(objects.clone(), "s3://bucket", &options(2)).unwrap().close().unwrap();
    let marker = Path::from("STONECROP");
    futures::executor::block_on(async {
        let text = objects.get(&marker).await.unwrap().bytes().await.unwrap();
        let text = change(std::str::from_utf8(&text).unwrap());
        objects.put(&marker, text.into_bytes().into()).await.unwrap();
    });
    let error = SlateStore::open_in(objects, "s3://bucket", &options(2)).unwrap_err();
    (error.kind(), error.to_string())
}

/// The marker with a right checksum.
fn checked(text: &str) -> String {
    let (body, _) = text.rsplit_once("check ").unwrap();
    format!("{body}check {:08x}\n", crc32fast::hash(body.as_bytes()))
}

#[test]
fn a_store_has_an_id_of_its_own_for_good() {
    let (one, other) = (Place::new(), Place::new());
    let id = |place: &Place| {
        let shards = SlateShards::at(&place.location, &options(1)).unwrap();
        shards.id().map(str::to_owned)
    };
    let first = id(&one);
    assert_eq!(first.as_ref().map(String::len), Some(32));
    assert_ne!(first, id(&other));
    assert_eq!(first, id(&one));

    // Stores of before have none.
    let objects = Arc::new(InMemory::new());
    let text = checked("stonecrop 2\nengine slatedb\nshards 2\ncheck \n");
    let marker = Path::from("STONECROP");
    futures::executor::block_on(objects.put(&marker, text.into_bytes().into())).unwrap();
    let store = SlateStore::open_in(objects, "s3://bucket", &options(1)).unwrap();
    assert_eq!(store.shards(), 2);
}

#[test]
fn a_marker_that_says_something_else_is_refused() {
    let (kind, message) = with_marker(|text| checked(&text.replace("slatedb", "fjall")));
    assert_eq!(kind, ErrorKind::Corrupt);
    assert!(message.contains("the engine is fjall"), "{message}");
    assert!(message.contains("s3://bucket/STONECROP"), "{message}");

    let (kind, message) = with_marker(|text| checked(&text.replace("stonecrop 2", "stonecrop 99")));
    assert_eq!(kind, ErrorKind::Version);
    assert!(message.contains("format 99") && message.contains("use a newer one"), "{message}");

    let (kind, message) = with_marker(|text| text.replace("shards 2", "shards 3"));
    assert_eq!(kind, ErrorKind::Corrupt);
    assert!(message.contains("its checksum differs"), "{message}");

    let (kind, _) = with_marker(|_| "years of work".to_owned());
    assert_eq!(kind, ErrorKind::Corrupt);
}

#[test]
fn the_count_of_shards_is_fixed_when_a_store_is_made() {
    let place = Place::new();
    open(&place, 3).close().unwrap();
    assert_eq!(open(&place, 7).shards(), 3);
    assert_eq!(Follower::open(&place.location, &options(7)).unwrap().shards(), 3);
    for shards in [0, 257] {
        let place = Place::new();
        let error = SlateStore::open(&place.location, &options(shards)).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Invalid);
        assert!(error.to_string().contains("1 to 256"), "{error}");
    }
}

#[test]
fn readers_never_see_half_a_batch_while_it_is_on_its_way_to_several_shards() {
    /// The shards answer at different times.
    #[derive(Debug)]
    struct Uneven;

    #[async_trait::async_trait]
    impl Mood for Uneven {
        async fn fate(&self, request: Request, path: &Path) -> Fate {
            let slow = request == Request::Put && path.as_ref().contains("shard-002/wal");
            Fate { delay: Duration::from_millis(if slow { 10 } else { 0 }), ..Fate::default() }
        }
    }

    let objects = Arc::new(Unruly::new(Arc::new(InMemory::new()), Arc::new(Uneven)));
    let store = SlateStore::open_in(objects, "test", &options(4)).unwrap();
    let write = |number: u64| {
        let mut batch = Batch::new();
        (0..4).for_each(|shard| batch.put(shard, "counter", number.to_be_bytes().to_vec()));
        store.write(batch, Durability::Sync).unwrap();
    };
    write(0);
    let done = std::sync::atomic::AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            (1..=40).for_each(write);
            done.store(true, std::sync::atomic::Ordering::Relaxed);
        });
        while !done.load(std::sync::atomic::Ordering::Relaxed) {
            let snapshot = store.snapshot().unwrap();
            let counters = [0, 1, 2, 3].map(|shard| snapshot.get(shard, b"counter").unwrap());
            assert!(counters.iter().all(|counter| *counter == counters[0]), "{counters:?}");
        }
    });
}

#[test]
fn a_long_scan_has_every_entry_once_whatever_is_written_and_however_it_ends() {
    let place = Place::new();
    let store = open(&place, 1);
    let mut batch = Batch::new();
    let key = |number: u32| format!("{number:05}");
    // The last ones are too large to be taken many at a time.
    (0..5_000).for_each(|number| batch.put(0, key(number), vec![0; 10]));
    (5_000..5_040).for_each(|number| batch.put(0, key(number), vec![0; 100_000]));
    store.write(batch, Durability::Sync).unwrap();

    let mut scan = store.scan(0, KeyRange::all(), Direction::Forward).unwrap();
    let first: Vec<_> = scan.by_ref().take(2_000).map(|entry| entry.unwrap().0).collect();
    let mut over = Batch::new();
    (0..5_040).for_each(|number| over.delete(0, key(number)));
    store.write(over, Durability::Sync).unwrap();
    let found = first.into_iter().chain(scan.map(|entry| entry.unwrap().0));
    assert!(found.eq((0..5_040).map(key)));

    drop(store.scan(0, KeyRange::all(), Direction::Forward).unwrap());
    store.close().unwrap();
}

#[test]
fn a_synced_write_that_comes_alone_does_not_wait_for_the_interval() {
    let place = Place::new();
    let mut options = options(1);
    options.objects.flush_interval = 100 * SOON;
    let store = SlateStore::open(&place.location, &options).unwrap();
    store.put(0, "a", "1", Durability::Sync).unwrap();
    let follower = Follower::open(&place.location, &options).unwrap();
    assert_eq!(follower.get(0, b"a").unwrap().as_deref(), Some(&b"1"[..]));
}

#[test]
fn a_synced_write_that_waits_for_the_next_upload_learns_of_a_takeover_before_it() {
    let place = Place::new();
    let mut late = options(1);
    late.objects.flush_interval = 50 * SOON;
    late.objects.patience = 100 * SOON;
    let first = Arc::new(SlateStore::open(&place.location, &late).unwrap());
    first.put(0, "a", "1", Durability::Sync).unwrap();
    let (told, outcome) = std::sync::mpsc::channel();
    let writer = first.clone();
    std::thread::spawn(move || told.send(writer.put(0, "b", "2", Durability::Sync)));
    let second = open(&place, 1);
    match outcome.recv_timeout(SOON).unwrap() {
        // The first may upload all it has when it ends, before the second shuts it out.
        Ok(()) => assert!(second.get(0, b"b").unwrap().is_some(), "it was acknowledged"),
        Err(error) => assert_eq!(error.kind(), ErrorKind::Fenced, "{error}"),
    }
    assert!(second.get(0, b"a").unwrap().is_some());
}

#[test]
fn a_longer_interval_than_the_patience_does_not_fail_writes() {
    let place = Place::new();
    let mut options = options(1);
    options.objects.flush_interval = 100 * SOON;
    options.objects.patience = Duration::from_secs(6);
    let store = SlateStore::open(&place.location, &options).unwrap();
    for key in ["a", "b"] {
        store.put(0, key, "1", Durability::Sync).unwrap();
    }
}

#[test]
fn much_that_nobody_waits_for_is_uploaded_before_the_interval() {
    let place = Place::new();
    let mut options = options(1);
    options.objects.flush_interval = 100 * SOON;
    let store = SlateStore::open(&place.location, &options).unwrap();
    for key in 0..64_u8 {
        store.put(0, vec![key], vec![key; 32 << 10], Durability::Buffered).unwrap();
    }
    let follower = Follower::open(&place.location, &options).unwrap();
    let found = eventually("what was written first", SOON, || follower.get(0, &[0]).unwrap());
    assert_eq!(found, vec![0; 32 << 10]);
}

#[test]
fn a_process_of_its_own_compacts_and_drops_what_may_go() {
    let place = Place::new();
    let mut options = options(2);
    options.objects.compacts = false;
    options.retention = Arc::new(|_: &[u8], value: &[u8]| value == b"gone");
    let store = SlateStore::open(&place.location, &options).unwrap();
    for value in ["older", "gone"] {
        for shard in 0..2 {
            for key in 0..100_u8 {
                let value = if key < 50 { value } else { "kept" };
                store.put(shard, [key].to_vec(), value, Durability::Buffered).unwrap();
            }
        }
        store.flush().unwrap();
    }
    let nobody = store.compact().unwrap_err();
    assert_eq!(nobody.kind(), ErrorKind::Unavailable);
    assert!(nobody.to_string().contains("stonecrop compactor"), "{nobody}");

    let compactor = SlateCompactor::open(&place.location, &options).unwrap();
    store.compact().unwrap();
    for shard in 0..2 {
        let left = keys(&store, shard, KeyRange::all(), Direction::Forward);
        assert!(left.iter().map(|key| key[0]).eq(50..100));
    }
    // The store was not taken over, and goes on.
    store.put(0, "after", "1", Durability::Sync).unwrap();
    assert!(store.failure().is_none());
    compactor.stop();
    compactor.wait().unwrap();
}

#[test]
fn a_checkpoint_is_of_one_moment_in_all_shards_whatever_comes_after() {
    let place = Place::new();
    let store = open(&place, 3);
    let write = |number: u64| {
        let mut batch = Batch::new();
        (0..3).for_each(|shard| batch.put(shard, "counter", number.to_be_bytes().to_vec()));
        store.write(batch, Durability::Buffered).unwrap();
    };
    write(0);
    let is_done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            (1..).take_while(|_| !is_done.load(Ordering::Relaxed)).for_each(write);
        });
        let mut last = None;
        for _ in 0..5 {
            let checkpoint = store.checkpoint().unwrap();
            let first = checkpoint.get(0, b"counter").unwrap();
            assert!(first > last, "what was written before is in it");
            store.compact().unwrap();
            let all = [(0, &b"counter"[..]), (1, b"counter"), (2, b"counter")];
            assert!(checkpoint.multi_get(&all).unwrap().iter().all(|found| *found == first));
            let scan = checkpoint.scan(2, KeyRange::all(), Direction::Forward).unwrap();
            assert!(scan.map(|entry| Some(entry.unwrap().1)).eq([first.clone()]));
            last = first;
        }
        is_done.store(true, Ordering::Relaxed);
    });
}

#[test]
fn a_location_that_can_not_be_is_refused_with_words() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    std::fs::write(&file, "years of work").unwrap();
    let problem = |location: &str| {
        let error = SlateStore::open(location, &options(1)).unwrap_err();
        assert!(error.to_string().contains(location.split('?').next().unwrap()), "{error}");
        (error.kind(), error.to_string())
    };
    let (_, message) = problem(&format!("file://{}?engine=slatedb", file.display()));
    assert!(message.contains("exists"), "{message}");
    let (kind, message) = problem("file:///proc/nowhere?engine=slatedb");
    assert_ne!(kind, ErrorKind::Corrupt, "{message}");
    let (kind, message) = problem("s3:///path");
    assert_eq!(kind, ErrorKind::Invalid);
    assert!(message.contains("name a bucket"), "{message}");
    // A port on which nobody listens, if there are credentials to send there.
    let (kind, message) = problem("s3://bucket/path?endpoint=http://127.0.0.1:1");
    let has_none = message.contains("no credentials were found");
    let expected = if has_none { ErrorKind::Denied } else { ErrorKind::Unavailable };
    assert_eq!(kind, expected, "{message}");
}

#[test]
fn secrets_in_a_location_are_not_told() {
    let error = Follower::open("s3://bucket/path?token=hunter2", &options(1)).unwrap_err();
    assert!(!error.to_string().contains("hunter2"), "{error}");
}
