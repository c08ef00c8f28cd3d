//! Compaction on demand, and what it may drop.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use slatedb::compactor::{
    CompactionScheduler, CompactionSchedulerSupplier, CompactionSpec, CompactionStatus,
    CompactorStateView, SizeTieredCompactionSchedulerSupplier, SourceId,
};
use slatedb::config::CompactorOptions;
use slatedb::{
    CompactionFilter, CompactionFilterDecision, CompactionFilterError, CompactionFilterSupplier,
    CompactionJobContext, Db, RowEntry, ValueDeletable, VersionedManifest,
};

use super::view::Earlier;
use crate::options::Retention;

/// How often a compaction is looked at.
const POLL: Duration = Duration::from_millis(100);

/// The bytes of a shard's files.
pub(super) fn size(db: &Db) -> u64 {
    db.manifest().all_sst_views().map(|view| view.estimate_size()).sum()
}

/// A wish for all that a shard has to be merged into one sorted run. The compactor has to plan that
/// itself: a plan that comes from outside can be older than one of its own, which it takes for a clock
/// that goes backward, and ends.
#[derive(Default)]
pub(super) struct Demand {
    wish: Mutex<Wish>,
    /// Whether somebody does it.
    is_claimed: AtomicBool,
}

#[derive(Default)]
enum Wish {
    #[default]
    None,
    /// It is to be planned as soon as nothing else is under way, and the compactor, which looks only
    /// now and then, has seen this list of files or a later one.
    Asked(u64),
    /// It is under way. Those with the same files that were there before it have these ids.
    Planned(u64, CompactionSpec, Vec<u128>),
}

impl Demand {
    fn lock(&self) -> MutexGuard<'_, Wish> {
        self.wish.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Merges all that a shard has, however long it takes, and tells whether that was done: where
    /// others have to, it is given up if none of them begins within `patience`.
    pub(super) async fn compact(
        &self,
        db: &Db,
        patience: Option<Duration>,
    ) -> Result<bool, slatedb::Error> {
        db.refresh_manifest().await?;
        self.is_claimed.store(false, Ordering::Relaxed);
        *self.lock() = Wish::Asked(db.manifest().id());
        let mut waited = Duration::ZERO;
        while !matches!(*self.lock(), Wish::None) {
            // Of a store that was closed or taken over, this says so.
            db.refresh_manifest().await?;
            let is_claimed = self.is_claimed.load(Ordering::Relaxed);
            if !is_claimed && patience.is_some_and(|patience| waited >= patience) {
                *self.lock() = Wish::None;
                return Ok(false);
            }
            tokio::time::sleep(POLL).await;
            waited += POLL;
        }
        db.refresh_manifest().await?;
        Ok(true)
    }

    /// What is to be done next, if it is for this to say.
    fn propose(&self, state: &CompactorStateView) -> Option<Vec<CompactionSpec>> {
        let mut wish = self.lock();
        let known = state.compactions().into_iter();
        let known: Vec<_> = known.flat_map(|known| known.recent_compactions()).collect();
        let same = |spec: &CompactionSpec| {
            let same = known.iter().filter(|known| known.spec() == spec);
            same.map(|known| (known.id().0, known.status())).collect::<Vec<_>>()
        };
        let files = match &*wish {
            Wish::None => return None,
            Wish::Asked(files) => *files,
            Wish::Planned(files, spec, before) => {
                let mut ours = same(spec).into_iter().filter(|(id, _)| !before.contains(id));
                match ours.next().map(|(_, status)| status) {
                    Some(CompactionStatus::Completed) => {
                        *wish = Wish::None;
                        return None;
                    }
                    // It was refused, or went wrong.
                    Some(CompactionStatus::Failed) | None => *files,
                    Some(status) => {
                        let is_claimed = matches!(
                            status,
                            CompactionStatus::Running | CompactionStatus::Compacted
                        );
                        self.is_claimed.fetch_or(is_claimed, Ordering::Relaxed);
                        return Some(Vec::new());
                    }
                }
            }
        };
        if state.manifest().id() < files || known.iter().any(|known| known.active()) {
            *wish = Wish::Asked(files);
            return Some(Vec::new());
        }
        let Some(spec) = everything(state.manifest()) else {
            *wish = Wish::None;
            return None;
        };
        let before = same(&spec).into_iter().map(|(id, _)| id).collect();
        *wish = Wish::Planned(files, spec.clone(), before);
        Some(vec![spec])
    }
}

/// All files of a shard into one run; none where there are none.
fn everything(manifest: &VersionedManifest) -> Option<CompactionSpec> {
    let newest = manifest.l0().iter().map(|view| SourceId::SstView(view.id));
    let runs = manifest.compacted().iter().map(|run| SourceId::SortedRun(run.id));
    let sources: Vec<_> = newest.chain(runs).collect();
    let last = manifest.compacted().iter().map(|run| run.id).min().unwrap_or(0);
    (!sources.is_empty()).then(|| CompactionSpec::new(sources, last))
}

/// What a compactor asks: SlateDB's own scheduler unless there is a wish, and what may be dropped.
#[derive(Clone)]
pub(super) struct Scheduling {
    pub(super) demand: Arc<Demand>,
    pub(super) retention: Arc<dyn Retention>,
    pub(super) earlier: Arc<Earlier>,
}

impl CompactionSchedulerSupplier for Scheduling {
    fn compaction_scheduler(
        &self,
        options: &CompactorOptions,
    ) -> Box<dyn CompactionScheduler + Send + Sync> {
        let own = SizeTieredCompactionSchedulerSupplier::new().compaction_scheduler(options);
        Box::new(Scheduler { demand: self.demand.clone(), own })
    }
}

struct Scheduler {
    demand: Arc<Demand>,
    own: Box<dyn CompactionScheduler + Send + Sync>,
}

impl CompactionScheduler for Scheduler {
    fn propose(&self, state: &CompactorStateView) -> Vec<CompactionSpec> {
        self.demand.propose(state).unwrap_or_else(|| self.own.propose(state))
    }

    fn validate(
        &self,
        state: &CompactorStateView,
        spec: &CompactionSpec,
    ) -> Result<(), slatedb::Error> {
        self.own.validate(state, spec)
    }
}

/// Asks [`Retention`] of every entry that a compaction meets.
#[async_trait::async_trait]
impl CompactionFilterSupplier for Scheduling {
    async fn create_compaction_filter(
        &self,
        context: &CompactionJobContext,
    ) -> Result<Box<dyn CompactionFilter>, CompactionFilterError> {
        let (retention, earlier) = (self.retention.clone(), self.earlier.clone());
        Ok(Box::new(RetentionFilter { retention, earlier, last: context.is_dest_last_run }))
    }
}

struct RetentionFilter {
    retention: Arc<dyn Retention>,
    earlier: Arc<Earlier>,
    /// Whether nothing older is below, which could come back.
    last: bool,
}

#[async_trait::async_trait]
impl CompactionFilter for RetentionFilter {
    async fn filter(
        &mut self,
        entry: &RowEntry,
    ) -> Result<CompactionFilterDecision, CompactionFilterError> {
        let ValueDeletable::Value(value) = &entry.value else {
            return Ok(CompactionFilterDecision::Keep);
        };
        let may_drop = self.retention.may_drop(&entry.key, value) && self.earlier.are_over();
        Ok(match (may_drop, self.last) {
            (false, _) => CompactionFilterDecision::Keep,
            (true, true) => CompactionFilterDecision::Drop,
            (true, false) => CompactionFilterDecision::Modify(ValueDeletable::Tombstone),
        })
    }

    async fn on_compaction_end(&mut self) -> Result<(), CompactionFilterError> {
        Ok(())
    }
}
