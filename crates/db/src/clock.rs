//! Time: what it is to the database, and where it comes from.

use std::fmt;
use std::ops::Add;
use std::str::FromStr;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::{Duration, UNIX_EPOCH};

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};

/// A moment: microseconds since 1970, in UTC.
///
/// ```
/// use std::time::Duration;
/// use stonecrop::Timestamp;
/// let noon = Timestamp::from_micros(1_800_000_000_000_000);
/// assert_eq!(noon.to_string(), "2027-01-15T08:00:00Z");
/// assert!(noon + Duration::from_secs(1) > noon);
/// assert_eq!("2027-01-15T09:00:00+01:00".parse::<Timestamp>()?, noon);
/// # Ok::<(), stonecrop::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Timestamp(i64);

impl Timestamp {
    /// Before every other moment.
    pub const MIN: Timestamp = Timestamp(i64::MIN);
    /// After every other moment: never.
    pub const NEVER: Timestamp = Timestamp(i64::MAX);

    /// A moment by its microseconds since 1970.
    ///
    /// ```
    /// assert!(stonecrop::Timestamp::from_micros(-1) < stonecrop::Timestamp::from_micros(0));
    /// ```
    pub const fn from_micros(micros: i64) -> Self {
        Timestamp(micros)
    }

    /// The microseconds since 1970.
    ///
    /// ```
    /// assert_eq!(stonecrop::Timestamp::from_micros(7).as_micros(), 7);
    /// ```
    pub const fn as_micros(self) -> i64 {
        self.0
    }
}

impl Add<Duration> for Timestamp {
    type Output = Timestamp;

    /// A moment that is too far away to be written down is never.
    fn add(self, duration: Duration) -> Timestamp {
        let micros = i64::try_from(duration.as_micros()).unwrap_or(i64::MAX);
        Timestamp(self.0.saturating_add(micros))
    }
}

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match jiff::Timestamp::from_microsecond(self.0) {
            Ok(time) => time.fmt(f),
            Err(_) => write!(f, "{} us", self.0),
        }
    }
}

/// Reads what [`Display`](fmt::Display) writes: RFC 3339, or a count of microseconds.
impl FromStr for Timestamp {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        if let Some(micros) = text.strip_suffix(" us").and_then(|count| count.parse().ok()) {
            return Ok(Timestamp(micros));
        }
        match text.parse::<jiff::Timestamp>() {
            Ok(time) => Ok(Timestamp(time.as_microsecond())),
            Err(error) => Err(Error::Time { text: text.to_owned(), problem: error.to_string() }),
        }
    }
}

/// Says what time it is. The database asks once for each read and each write.
///
/// ```
/// use stonecrop::{Clock, SystemClock, Timestamp};
/// assert!(SystemClock.now() > Timestamp::from_micros(0));
/// ```
pub trait Clock: Send + Sync {
    /// The time now.
    fn now(&self) -> Timestamp;

    /// The time of a write that does not bring its own. It names the write, so a clock that goes on
    /// by itself gives no time twice.
    ///
    /// ```
    /// use stonecrop::{Clock, SystemClock};
    /// assert_ne!(SystemClock.write_time(), SystemClock.write_time());
    /// ```
    fn write_time(&self) -> Timestamp {
        self.now()
    }
}

/// The clock that the writer goes by.
pub(crate) struct WriterClock(pub(crate) Arc<dyn Clock>);

impl Clock for WriterClock {
    fn now(&self) -> Timestamp {
        self.0.write_time()
    }
}

/// The machine's clock.
///
/// ```
/// use stonecrop::{Clock, SystemClock};
/// assert!(SystemClock.now() <= SystemClock.now());
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemClock;

/// The time of the last write of this process.
static LAST_WRITE: AtomicI64 = AtomicI64::new(i64::MIN);
/// A machine's clock that is so much behind the last write was set back, and is followed.
const SET_BACK_MICROS: i64 = 1_000_000;

impl Clock for SystemClock {
    #[allow(clippy::disallowed_methods, reason = "this is the clock that all others stand in for")]
    fn now(&self) -> Timestamp {
        let since = std::time::SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Timestamp(0) + since
    }

    fn write_time(&self) -> Timestamp {
        let Timestamp(now) = self.now();
        let mut given = now;
        let next = |last: i64| {
            let is_taken = last >= now && last - now < SET_BACK_MICROS;
            given = if is_taken { last + 1 } else { now };
            Some(given)
        };
        // Always some, so there is no error to look at.
        let _ = LAST_WRITE.fetch_update(Ordering::Relaxed, Ordering::Relaxed, next);
        Timestamp(given)
    }
}

/// A clock that stands still until it is told to move, for tests.
///
/// ```
/// use std::time::Duration;
/// use stonecrop::{Clock, ManualClock, Timestamp};
/// let clock = ManualClock::new(Timestamp::from_micros(0));
/// clock.advance(Duration::from_millis(1));
/// assert_eq!(clock.now().as_micros(), 1_000);
/// ```
#[derive(Debug)]
pub struct ManualClock(AtomicI64);

impl ManualClock {
    /// A clock that shows `now`.
    ///
    /// ```
    /// # use stonecrop::{Clock, ManualClock, Timestamp};
    /// assert_eq!(ManualClock::new(Timestamp::MIN).now(), Timestamp::MIN);
    /// ```
    pub fn new(now: Timestamp) -> Self {
        ManualClock(AtomicI64::new(now.0))
    }

    /// Shows another time, earlier or later.
    ///
    /// ```
    /// # use stonecrop::{Clock, ManualClock, Timestamp};
    /// let clock = ManualClock::new(Timestamp::from_micros(5));
    /// clock.set(Timestamp::from_micros(3));
    /// assert_eq!(clock.now().as_micros(), 3);
    /// ```
    pub fn set(&self, now: Timestamp) {
        self.0.store(now.0, Ordering::SeqCst);
    }

    /// Moves on.
    ///
    /// ```
    /// # use std::time::Duration;
    /// # use stonecrop::{Clock, ManualClock, Timestamp};
    /// let clock = ManualClock::new(Timestamp::from_micros(0));
    /// clock.advance(Duration::from_secs(1));
    /// assert_eq!(clock.now().as_micros(), 1_000_000);
    /// ```
    pub fn advance(&self, by: Duration) {
        self.set(self.now() + by);
    }
}

impl Clock for ManualClock {
    fn now(&self) -> Timestamp {
        Timestamp(self.0.load(Ordering::SeqCst))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn no_two_writes_have_the_same_time() {
        let times = || (0..20_000).map(|_| SystemClock.write_time()).collect::<Vec<_>>();
        let before = SystemClock.now();
        let threads: Vec<_> = (0..4).map(|_| std::thread::spawn(times)).collect();
        let all: Vec<_> = threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect();
        assert_eq!(all.iter().collect::<HashSet<_>>().len(), all.len());
        assert!(all.iter().all(|time| *time >= before));
    }

    #[test]
    fn a_clock_of_a_test_gives_writes_the_time_it_shows() {
        let clock = WriterClock(Arc::new(ManualClock::new(Timestamp(5))));
        assert_eq!([clock.now(), clock.now()], [Timestamp(5); 2]);
    }
}
