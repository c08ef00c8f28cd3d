//! Every engine behind one face, and the states that data can be in.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use stonecrop_store::{
    Batch, Direction, Durability, FjallStore, KeyRange, MemoryStore, Options, Read, Retention,
    Store,
};
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
    /// Whether it says how many entries there are, and how much of them is in memory.
    pub(crate) fn counts_entries(self) -> bool {
        matches!(self, Engine::Memory | Engine::Fjall)
    }
}

/// Where data can be when it is read.
#[derive(Clone, Copy, Debug)]
pub(crate) enum State {
    Written,
    Flushed,
    Compacted,
    Reopened,
}

const STATES: [State; 4] = [State::Written, State::Flushed, State::Compacted, State::Reopened];

/// A place of a test's own, as a folder and as a location on object storage.
pub(crate) struct Place {
    pub(crate) folder: TempDir,
    /// The folder too, unless `STONECROP_OBJECTS` says where objects are stored.
    #[cfg(feature = "slatedb")]
    pub(crate) location: String,
}

impl Place {
    /// In memory where there is such a place: these tests open thousands of stores, and none is
    /// about power cuts.
    pub(crate) fn new() -> Self {
        let memory = std::path::Path::new("/dev/shm");
        let base = if memory.is_dir() { memory.to_owned() } else { std::env::temp_dir() };
        let folder = tempfile::tempdir_in(base).unwrap();
        Place {
            #[cfg(feature = "slatedb")]
            location: location(folder.path()),
            folder,
        }
    }
}

#[cfg(feature = "slatedb")]
fn location(folder: &std::path::Path) -> String {
    let Ok(objects) = std::env::var("STONECROP_OBJECTS") else {
        return format!("file://{}?engine=slatedb", folder.display());
    };
    let (base, settings) = objects.split_once('?').unwrap_or((&objects, ""));
    format!("{base}/{}?{settings}", uuid::Uuid::new_v4())
}

/// A store of some engine, and how to open it again.
pub(crate) struct Fixture {
    pub(crate) engine: Engine,
    pub(crate) store: Arc<dyn Store>,
    options: Options,
    place: Place,
}

impl Fixture {
    pub(crate) fn new(engine: Engine, shards: u16) -> Self {
        Self::with_retention(engine, shards, |_: &[u8], _: &[u8]| false)
    }

    pub(crate) fn with_retention(
        engine: Engine,
        shards: u16,
        retention: impl Retention + 'static,
    ) -> Self {
        let mut options = Options::default();
        options.shards = Some(shards);
        options.retention = Arc::new(retention);
        // There is nobody to pay for requests here.
        options.objects.flush_interval = Duration::from_millis(1);
        options.objects.poll_interval = Duration::from_millis(5);
        let place = Place::new();
        let store = open(engine, &place, &options);
        Fixture { engine, store, options, place }
    }

    /// Brings the data into a state. Memory has no files to be opened again.
    pub(crate) fn bring(&mut self, state: State) {
        match state {
            State::Written => {}
            State::Flushed => self.store.flush().unwrap(),
            State::Compacted => self.store.compact().unwrap(),
            State::Reopened if self.engine == Engine::Memory => {}
            State::Reopened => {
                self.store.close().unwrap();
                self.store = open(self.engine, &self.place, &self.options);
            }
        }
    }

    pub(crate) fn put(&self, shard: u8, key: &[u8], value: &[u8]) {
        let mut batch = Batch::new();
        batch.put(shard, key.to_vec(), value.to_vec());
        self.store.write(batch, Durability::Buffered).unwrap();
    }

    pub(crate) fn delete(&self, shard: u8, key: &[u8]) {
        let mut batch = Batch::new();
        batch.delete(shard, key.to_vec());
        self.store.write(batch, Durability::Buffered).unwrap();
    }
}

fn open(engine: Engine, place: &Place, options: &Options) -> Arc<dyn Store> {
    match engine {
        Engine::Memory => Arc::new(MemoryStore::new(options)),
        Engine::Fjall => Arc::new(FjallStore::open(place.folder.path(), options).unwrap()),
        #[cfg(feature = "slatedb")]
        Engine::Slate => {
            Arc::new(stonecrop_store::SlateStore::open(&place.location, options).unwrap())
        }
    }
}

/// Fills a new store, brings it into each state in turn, and checks it there; on every engine.
pub(crate) fn in_every_state(shards: u16, fill: impl Fn(&Fixture), check: impl Fn(&Fixture)) {
    for &engine in ENGINES {
        for state in STATES {
            let mut fixture = Fixture::new(engine, shards);
            fill(&fixture);
            fixture.bring(state);
            check(&fixture);
        }
    }
}

pub(crate) fn keys(
    reader: &(impl Read + ?Sized),
    shard: u8,
    range: KeyRange,
    direction: Direction,
) -> Vec<Bytes> {
    let entries = reader.scan(shard, range, direction).unwrap();
    entries.map(|entry| entry.unwrap().0).collect()
}
