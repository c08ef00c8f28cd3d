//! Compaction on demand, and what it may drop.

use std::sync::Arc;
use std::time::Duration;

use object_store::ObjectStore;
use object_store::path::Path;
use slatedb::admin::AdminBuilder;
use slatedb::compactor::{CompactionSpec, CompactionStatus, SourceId};
use slatedb::{
    CompactionFilter, CompactionFilterDecision, CompactionFilterError, CompactionFilterSupplier,
    CompactionJobContext, Db, RowEntry, ValueDeletable,
};

use crate::options::Retention;

/// How often a compaction is looked at.
const POLL: Duration = Duration::from_millis(10);
/// How often one is begun anew where another was under way with the same files.
const TRIES: usize = 10;

/// The bytes of a shard's files.
pub(super) fn size(db: &Db) -> u64 {
    db.manifest().all_sst_views().map(|view| view.estimate_size()).sum()
}

/// Merges all that a shard has into one sorted run, however long it takes.
pub(super) async fn compact(
    db: &Db,
    path: Path,
    objects: Arc<dyn ObjectStore>,
) -> Result<(), slatedb::Error> {
    let admin = AdminBuilder::new(path, objects).build();
    for _ in 0..TRIES {
        let manifest = db.manifest();
        let newest = manifest.l0().iter().map(|view| SourceId::SstView(view.id));
        let runs = manifest.compacted().iter().map(|run| SourceId::SortedRun(run.id));
        let sources: Vec<_> = newest.chain(runs).collect();
        if sources.is_empty() {
            return Ok(());
        }
        let last = manifest.compacted().iter().map(|run| run.id).min().unwrap_or(0);
        let id = admin.submit_compaction(CompactionSpec::new(sources, last)).await?.id();
        let ended = loop {
            let status = admin.read_compaction(id, None).await?.map(|found| found.status());
            match status {
                Some(CompactionStatus::Completed | CompactionStatus::Failed) | None => {
                    break status;
                }
                // Of a store that was closed or taken over, this says so.
                Some(_) => db.refresh_manifest().await?,
            }
            tokio::time::sleep(POLL).await;
        };
        db.refresh_manifest().await?;
        if ended != Some(CompactionStatus::Failed) {
            return Ok(());
        }
    }
    Ok(())
}

/// Asks [`Retention`] of every entry that a compaction meets.
pub(super) struct RetentionSupplier(pub(super) Arc<dyn Retention>);

#[async_trait::async_trait]
impl CompactionFilterSupplier for RetentionSupplier {
    async fn create_compaction_filter(
        &self,
        context: &CompactionJobContext,
    ) -> Result<Box<dyn CompactionFilter>, CompactionFilterError> {
        let (retention, last) = (self.0.clone(), context.is_dest_last_run);
        Ok(Box::new(RetentionFilter { retention, last }))
    }
}

struct RetentionFilter {
    retention: Arc<dyn Retention>,
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
        Ok(match (self.retention.may_drop(&entry.key, value), self.last) {
            (false, _) => CompactionFilterDecision::Keep,
            (true, true) => CompactionFilterDecision::Drop,
            (true, false) => CompactionFilterDecision::Modify(ValueDeletable::Tombstone),
        })
    }

    async fn on_compaction_end(&mut self) -> Result<(), CompactionFilterError> {
        Ok(())
    }
}
