//! A moment that can be read for as long as it takes: files that it needs are kept, which those of a
//! snapshot are for some minutes only.

use std::sync::Arc;
use std::time::Duration;

use futures::future::{join_all, try_join_all};
use slatedb::admin::{Admin, AdminBuilder};
use slatedb::config::{CheckpointOptions, CheckpointScope, DbReaderOptions};
use slatedb::{Db, DbReader, DbReaderMode};
use tokio::task::JoinHandle;
use uuid::Uuid;

use super::bucket::Bucket;
use super::prefixes;
use super::shared_cache;
use super::view::{Place, Shards};
use crate::error::Result;
use crate::options::Options;

/// How long files are kept for whoever does not say any more that they are needed.
const LIFETIME: Duration = Duration::from_secs(60 * 60);
/// The memory for files that are read, at most; SlateDB takes ten times as much for each shard.
const CACHE_BYTES: u64 = 64 << 20;

/// What keeps the files of a moment, for as long as it lives.
pub(super) struct Kept {
    place: Place,
    marks: Arc<[(Admin, Uuid)]>,
    refreshing: JoinHandle<()>,
}

/// What has begun to be kept.
pub(super) struct Begun(Vec<slatedb::CheckpointHandle>);

impl Begun {
    /// Of all that was written so far, and nothing that is written after this.
    pub(super) async fn new(shards: &[Db]) -> Result<Self, slatedb::Error> {
        let options = CheckpointOptions { lifetime: Some(LIFETIME), ..<_>::default() };
        let begun = shards.iter().map(|db| db.begin_checkpoint(CheckpointScope::All, &options));
        Ok(Begun(try_join_all(begun).await?))
    }

    /// Waits until it can be read: how it is found then, in each shard.
    pub(super) fn marks(self, place: &Place) -> Result<Vec<Uuid>> {
        let marks = self.0.into_iter().map(async |begun| Ok(begun.wait().await?.id));
        place.wait(try_join_all(marks))?.map_err(|error| place.error(error))
    }
}

/// What was marked in shards of these numbers, for reading. It is kept until that ends.
pub(super) fn open(
    place: &Place,
    bucket: &Bucket,
    numbers: &[u8],
    marks: &[Uuid],
    options: &Options,
) -> Result<Shards<DbReader>> {
    let path = |shard: u8| (bucket.shard(shard), bucket.objects.clone());
    let kept = numbers.iter().zip(marks).map(|(shard, id)| {
        let (path, objects) = path(*shard);
        (AdminBuilder::new(path, objects).build(), *id)
    });
    let kept: Arc<[(Admin, Uuid)]> = kept.collect();
    let refreshing = place.handle.spawn(refresh(kept.clone()));
    let kept = Kept { place: place.clone(), marks: kept, refreshing };
    // Everything is read once.
    let cache = shared_cache(options.cache_bytes.min(CACHE_BYTES));
    let open = async |(shard, id): (&u8, &Uuid)| {
        let (path, objects) = path(*shard);
        let reader = DbReader::builder(path, objects)
            .with_reader_mode(DbReaderMode::Checkpoint(*id))
            .with_options(DbReaderOptions::default())
            .with_db_cache(cache.clone(), u64::from(*shard))
            .with_filter_policies(prefixes::policies(&options.prefixes));
        reader.build().await.map(Arc::new)
    };
    let readers = place.wait(try_join_all(numbers.iter().zip(marks).map(open)))?;
    let readers = readers.map_err(|error| place.error(error))?;
    Ok(Shards::new(place, readers, &options.prefixes).keeping(kept))
}

async fn refresh(marks: Arc<[(Admin, Uuid)]>) {
    loop {
        tokio::time::sleep(LIFETIME / 4).await;
        // One that can't be has time for another try.
        join_all(marks.iter().map(|(admin, id)| admin.refresh_checkpoint(*id, Some(LIFETIME))))
            .await;
    }
}

impl Drop for Kept {
    fn drop(&mut self) {
        self.refreshing.abort();
        let marks = self.marks.clone();
        // What is left of them when this is cut short ends by itself.
        self.place.handle.spawn(async move {
            join_all(marks.iter().map(|(admin, id)| admin.delete_checkpoint(*id))).await;
        });
    }
}
