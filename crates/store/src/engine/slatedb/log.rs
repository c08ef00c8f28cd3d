//! How long a shard's files have been behind its log.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use slatedb::Db;
use tokio::time::Instant;

/// Writes so soon after each other count as one.
const STEP: Duration = Duration::from_secs(1);
/// Where the files stay behind for longer, what is written later counts as the last.
const MOST_STEPS: usize = 300;

/// The writes of a shard that may be in its log alone. Whoever opens it next has to read them there.
#[derive(Debug, Default)]
pub(super) struct Log(Mutex<Steps>);

#[derive(Debug, Default)]
struct Steps {
    /// The first write of each step.
    began: VecDeque<(Instant, u64)>,
    /// The last write of all.
    last: u64,
}

impl Log {
    /// That of a shard which was just opened: how old what was read of it is, is not known.
    pub(super) fn of(db: &Db) -> Self {
        let (log, status) = (Log::default(), db.status());
        let filed = status.current_manifest.last_l0_seq();
        if status.durable_seq > filed {
            log.wrote(filed + 1);
            log.wrote(status.durable_seq);
        }
        log
    }

    /// A write has been given a number.
    pub(super) fn wrote(&self, number: u64) {
        let now = Instant::now();
        let mut steps = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let is_step = steps.began.back().is_none_or(|(began, _)| now - *began >= STEP);
        if is_step && number > steps.last && steps.began.len() < MOST_STEPS {
            steps.began.push_back((now, number));
        }
        steps.last = steps.last.max(number);
    }

    /// How old the oldest write is that is in the log alone, if there is one, told up to a second too
    /// long.
    pub(super) fn lag(&self, db: &Db) -> Option<Duration> {
        self.lag_behind(db.manifest().last_l0_seq())
    }

    /// The same if a write is the last that is in files.
    fn lag_behind(&self, filed: u64) -> Option<Duration> {
        let mut steps = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if steps.last <= filed {
            steps.began.clear();
        }
        while steps.began.get(1).is_some_and(|(_, number)| *number <= filed + 1) {
            steps.began.pop_front();
        }
        steps.began.front().map(|(began, _)| began.elapsed())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn the_lag_is_the_age_of_the_oldest_write_that_is_in_no_file() {
        let log = Log::default();
        assert_eq!(log.lag_behind(0), None);
        for number in 1..=10 {
            log.wrote(number);
            tokio::time::advance(STEP).await;
        }
        assert_eq!(log.lag_behind(0), Some(10 * STEP));
        assert_eq!(log.lag_behind(1), Some(9 * STEP));
        assert_eq!(log.lag_behind(9), Some(STEP));
        assert_eq!(log.lag_behind(10), None);
        tokio::time::advance(STEP).await;
        log.wrote(11);
        assert_eq!(log.lag_behind(10), Some(Duration::ZERO));
    }

    #[tokio::test(start_paused = true)]
    async fn writes_of_a_second_count_as_one_and_no_more_are_kept_than_a_number() {
        let log = Log::default();
        for number in 1..=100 {
            log.wrote(number);
            tokio::time::advance(STEP / 10).await;
        }
        assert_eq!(log.0.lock().unwrap().began.len(), 10);
        assert_eq!(log.lag_behind(15), Some(9 * STEP), "16 is of the second step");
        for number in 101..=1_000 {
            log.wrote(number);
            tokio::time::advance(STEP).await;
        }
        assert_eq!(log.0.lock().unwrap().began.len(), MOST_STEPS);
        assert!(log.lag_behind(999).unwrap() > STEP, "it is never said to be less");
        assert_eq!(log.lag_behind(1_000), None);
    }
}
