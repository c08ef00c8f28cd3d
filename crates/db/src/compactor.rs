//! Compaction of a database on object storage by a process of its own.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use stonecrop_store::SlateCompactor;

use crate::clock::{Clock, Timestamp};
use crate::database::{Database, Options, store_options};
use crate::error::Result;
use crate::retention::Expiry;

/// How long what is gone is left to readers in other processes: it is not known here what they look
/// at, and some look at a moment long past until they have read all of it.
const LEFT_TO_READERS: Duration = Duration::from_secs(60 * 60);

/// Compacts a database on object storage, and removes files that nobody needs any more, for servers
/// that leave it to others ([`Options::compacts`]). There may be several.
///
/// ```
/// use stonecrop::{Compactor, Database, Options};
/// # let folder = tempfile::tempdir()?;
/// # let location = format!("file://{}?engine=slatedb", folder.path().display());
/// let db = Database::open_with(&location, Options::default().shards(1).compacts(false))?;
/// let compactor = Compactor::open(&location, Options::default())?;
/// compactor.stop();
/// compactor.wait()?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Compactor {
    inner: SlateCompactor,
    /// Follows the tables that there are: what is left of those that were dropped may go.
    _followed: Database,
}

impl Compactor {
    /// Begins to work for the database at a location, which must be there.
    ///
    /// ```no_run
    /// stonecrop::Compactor::open("s3://bucket/path", stonecrop::Options::default())?;
    /// # Ok::<(), stonecrop::Error>(())
    /// ```
    pub fn open(location: &str, options: Options) -> Result<Self> {
        let followed = Database::open_with(location, options.clone().read_only(true))?;
        let catalog = &followed.inner.catalog;
        let clock = Arc::new(Behind(options.clock.clone()));
        let mut options = store_options(catalog, &options);
        options.retention = Arc::new(Expiry::new(catalog.clone(), clock));
        let inner = SlateCompactor::open(location, &options)?;
        Ok(Compactor { inner, _followed: followed })
    }

    /// Waits until it has stopped, or can't go on.
    ///
    /// ```no_run
    /// stonecrop::Compactor::open("s3://bucket/path", stonecrop::Options::default())?.wait()?;
    /// # Ok::<(), stonecrop::Error>(())
    /// ```
    pub fn wait(&self) -> Result<()> {
        Ok(self.inner.wait()?)
    }

    /// Tells it to stop.
    ///
    /// ```no_run
    /// stonecrop::Compactor::open("s3://bucket/path", stonecrop::Options::default())?.stop();
    /// # Ok::<(), stonecrop::Error>(())
    /// ```
    pub fn stop(&self) {
        self.inner.stop();
    }
}

impl fmt::Debug for Compactor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Compactor").finish_non_exhaustive()
    }
}

/// A clock that is behind.
struct Behind(Arc<dyn Clock>);

impl Clock for Behind {
    fn now(&self) -> Timestamp {
        let now = self.0.now().as_micros();
        Timestamp::from_micros(now.saturating_sub(LEFT_TO_READERS.as_micros() as i64))
    }
}
