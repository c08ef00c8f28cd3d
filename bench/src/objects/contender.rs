//! What is measured, and where it is.

use std::path::Path;
use std::time::{Duration, Instant, SystemTime};

use anyhow::{Context, Result};

/// The rows of a page, and of an owner.
pub(crate) const PAGE: u64 = 200;
/// How often the log is uploaded.
pub(crate) const FLUSH_INTERVAL: Duration = Duration::from_millis(10);
/// The memory for what was read.
pub(crate) const CACHE_BYTES: u64 = 256 << 20;
/// Rows that are written at once.
pub(crate) const BATCH: u64 = 1_000;

/// How much is measured.
#[derive(Clone, Copy)]
pub(crate) struct Size {
    pub(crate) rows: u64,
    /// For a load alone.
    pub(crate) many_rows: u64,
    pub(crate) seconds: Duration,
}

/// What was asked of the object store.
#[derive(Clone, Copy, Default)]
pub(crate) struct Requests {
    pub(crate) puts: f64,
    pub(crate) gets: f64,
}

impl Requests {
    pub(crate) fn since(self, before: Requests) -> Self {
        Requests { puts: self.puts - before.puts, gets: self.gets - before.gets }
    }

    pub(crate) fn for_a_million(self, count: u64) -> Self {
        let scale = 1e6 / count.max(1) as f64;
        Requests { puts: self.puts * scale, gets: self.gets * scale }
    }
}

pub(crate) trait Contender {
    /// Writes all rows, and waits until they are durable.
    fn load(&mut self, rows: u64) -> Result<()>;
    /// Waits until all that was written is in files.
    fn flush(&mut self) -> Result<()>;
    /// Puts rows, each durable, with so many clients until a time, and counts them.
    fn put(&mut self, rows: u64, clients: usize, until: Instant) -> Result<u64>;
    /// Closes it, and opens it with nothing in its caches.
    fn reopen(&mut self) -> Result<()>;
    fn get(&mut self, rows: &[u64]) -> Result<()>;
    /// Reads a page of each of so many owners.
    fn pages(&mut self, count: u64) -> Result<()>;
    fn scan(&mut self) -> Result<u64>;
    fn requests(&mut self) -> Result<Requests>;
    fn close(&mut self) -> Result<()>;
}

/// A new place for a database: its location without parameters, and the parameters.
pub(crate) fn place(directory: &Path) -> Result<(String, String)> {
    let unique = SystemTime::UNIX_EPOCH.elapsed().context("the clock")?.as_nanos();
    match std::env::var("STONECROP_OBJECTS") {
        Ok(location) => {
            let (path, parameters) = location.split_once('?').unwrap_or((&location, ""));
            Ok((format!("{path}/bench-{unique}"), parameters.to_owned()))
        }
        Err(_) => {
            let folder = directory.join(format!("objects-{unique}"));
            std::fs::create_dir_all(&folder)?;
            let folder = folder.canonicalize()?;
            Ok((format!("file://{}", folder.display()), "engine=slatedb".to_owned()))
        }
    }
}

pub(crate) fn owner(row: u64) -> String {
    format!("owner-{:06}", row / PAGE)
}

pub(crate) fn name(row: u64) -> String {
    format!("The Company of Number {row:08}")
}
