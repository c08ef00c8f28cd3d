//! A database of any engine with a clock of its own, and the states that its data can be in.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use stonecrop::{Database, Durability, ManualClock, Options, Row, Scan, Table, Timestamp, Value};
use stonecrop_store::{FjallStore, Store};
use tempfile::TempDir;

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Engine {
    Memory,
    Fjall,
    #[cfg(feature = "slatedb")]
    Slate,
}

pub(crate) const ENGINES: &[Engine] = &[
    Engine::Memory,
    Engine::Fjall,
    #[cfg(feature = "slatedb")]
    Engine::Slate,
];

impl Engine {
    /// How many shards there can be for transactions of any rows.
    pub(crate) fn shards_of_transactions(self) -> u16 {
        match self {
            Engine::Memory | Engine::Fjall => 4,
            #[cfg(feature = "slatedb")]
            Engine::Slate => 1,
        }
    }

    /// Whether a write that is not synced is done at once.
    pub(crate) fn answers_at_once(self) -> bool {
        matches!(self, Engine::Memory | Engine::Fjall)
    }

    /// How often to do what writes the same rows all the time: SlateDB keeps every version of a row in
    /// memory until its log is made a file, and a scan goes over all of them.
    pub(crate) fn rounds(self, rounds: usize) -> usize {
        match self {
            Engine::Memory | Engine::Fjall => rounds,
            #[cfg(feature = "slatedb")]
            Engine::Slate => rounds / 16,
        }
    }

    /// Where a database of it is, in a folder.
    pub(crate) fn location(self, folder: &TempDir) -> String {
        match self {
            Engine::Memory => "memory:".to_owned(),
            Engine::Fjall => folder.path().display().to_string(),
            #[cfg(feature = "slatedb")]
            Engine::Slate => location(folder.path()),
        }
    }
}

/// The place on object storage that belongs to a folder: the folder itself, unless
/// `STONECROP_OBJECTS` says where objects are stored.
#[cfg(feature = "slatedb")]
pub(crate) fn location(folder: &std::path::Path) -> String {
    let Ok(objects) = std::env::var("STONECROP_OBJECTS") else {
        return format!("file://{}?engine=slatedb", folder.display());
    };
    let (base, settings) = objects.split_once('?').unwrap_or((&objects, ""));
    let name = folder.file_name().unwrap().to_str().unwrap().trim_start_matches('.');
    format!("{base}/{name}?{settings}")
}

/// Where data can be when it is read.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum State {
    Written,
    Flushed,
    Compacted,
    Reopened,
}

pub(crate) const STATES: [State; 4] =
    [State::Written, State::Flushed, State::Compacted, State::Reopened];

/// When every test begins.
pub(crate) const START: Timestamp = Timestamp::from_micros(1_800_000_000_000_000);

pub(crate) const fn seconds(count: u64) -> Duration {
    Duration::from_secs(count)
}

/// So many seconds after the beginning, or before.
pub(crate) const fn at(seconds: i64) -> Timestamp {
    Timestamp::from_micros(START.as_micros() + seconds * 1_000_000)
}

/// A database, its clock, and how to open it again.
pub(crate) struct Fixture {
    pub(crate) engine: Engine,
    pub(crate) db: Database,
    pub(crate) clock: Arc<ManualClock>,
    shards: u16,
    folder: TempDir,
}

impl Fixture {
    pub(crate) fn new(engine: Engine) -> Self {
        Self::with_shards(engine, 1)
    }

    pub(crate) fn with_shards(engine: Engine, shards: u16) -> Self {
        let clock = Arc::new(ManualClock::new(START));
        let folder = folder();
        let db = open(engine, &folder, shards, &clock);
        Fixture { engine, db, clock, shards, folder }
    }

    /// Brings the data into a state. Memory has no files to be opened again.
    pub(crate) fn bring(&mut self, state: State) {
        match state {
            State::Written => {}
            State::Flushed => self.db.flush().unwrap(),
            State::Compacted => self.db.compact().unwrap(),
            State::Reopened if self.engine == Engine::Memory => {}
            State::Reopened => {
                self.db.close().unwrap();
                self.db = open(self.engine, &self.folder, self.shards, &self.clock);
            }
        }
    }

    pub(crate) fn table(&self) -> Table {
        self.db.table("table").unwrap()
    }

    /// Does something to the files of a database while it is closed.
    pub(crate) fn beneath<T>(&mut self, act: impl FnOnce(&FjallStore) -> T) -> T {
        assert_eq!(self.engine, Engine::Fjall, "only a folder has files");
        self.db.close().unwrap();
        let store = FjallStore::open(self.folder.path(), &Default::default()).unwrap();
        let done = act(&store);
        store.close().unwrap();
        self.db = open(self.engine, &self.folder, self.shards, &self.clock);
        done
    }

    /// So many seconds go by.
    pub(crate) fn pass(&self, count: u64) {
        self.clock.advance(seconds(count));
    }
}

/// A folder in memory where there is one: what is tested here is no power cut.
pub(crate) fn folder() -> TempDir {
    let memory = Path::new("/dev/shm");
    if memory.is_dir() { tempfile::tempdir_in(memory) } else { tempfile::tempdir() }.unwrap()
}

fn open(engine: Engine, folder: &TempDir, shards: u16, clock: &Arc<ManualClock>) -> Database {
    let options = Options::default()
        .clock(clock.clone())
        .durability(Durability::None)
        .cache_bytes(4 << 20)
        .flush_interval(Duration::from_millis(1))
        .poll_interval(Duration::from_millis(5))
        .shards(shards);
    Database::open_with(engine.location(folder), options).unwrap()
}

/// Fills a new database, brings it into each state in turn, and checks it there; on every engine.
pub(crate) fn in_every_state(fill: impl Fn(&Fixture), check: impl Fn(&Fixture)) {
    for &engine in ENGINES {
        for state in STATES {
            let mut fixture = Fixture::new(engine);
            fill(&fixture);
            fixture.bring(state);
            check(&fixture);
        }
    }
}

/// Does the same on every engine.
pub(crate) fn on_every_engine(check: impl Fn(&mut Fixture)) {
    for &engine in ENGINES {
        check(&mut Fixture::new(engine));
    }
}

pub(crate) fn rows(table: &Table, scan: Scan<'_>) -> Vec<Row> {
    table.scan(scan).unwrap().map(Result::unwrap).collect()
}

/// The value of a column of the row with the key 1.
pub(crate) fn value(fixture: &Fixture, column: &str) -> Option<Value> {
    fixture.table().get(1).unwrap()?.value(column).cloned()
}
