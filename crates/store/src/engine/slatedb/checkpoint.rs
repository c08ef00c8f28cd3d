//! A moment that can be read for as long as it takes: files that it needs are kept, which those of a
//! snapshot are for some minutes only.

use std::sync::{Arc, RwLock};
use std::time::Duration;

use bytes::Bytes;
use futures::future::{join_all, try_join_all};
use slatedb::admin::{Admin, AdminBuilder};
use slatedb::config::{CheckpointOptions, CheckpointScope, DbReaderOptions};
use slatedb::{Db, DbReader, DbReaderMode};
use tokio::task::JoinHandle;
use uuid::Uuid;

use super::bucket::Bucket;
use super::follower::Shards;
use super::prefixes;
use super::view::Place;
use crate::error::Result;
use crate::options::Options;
use crate::scan::{Direction, KeyRange, Scan};
use crate::store::Read;

/// How long files are kept for whoever does not say any more that they are needed.
const LIFETIME: Duration = Duration::from_secs(60 * 60);

/// All shards at one moment.
pub(super) struct Checkpoint {
    shards: Shards,
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
}

impl Checkpoint {
    /// Waits until it can be read. `numbers` are those of its shards.
    pub(super) fn open(
        begun: Begun,
        place: &Place,
        bucket: &Bucket,
        numbers: &[u8],
        options: &Options,
    ) -> Result<Self> {
        let marks = begun.0.into_iter().zip(numbers).map(async |(begun, shard)| {
            let admin = AdminBuilder::new(bucket.shard(*shard), bucket.objects.clone()).build();
            Ok((admin, begun.wait().await?.id))
        });
        let marks = place.wait(try_join_all(marks))?.map_err(|error| place.error(error))?;
        let marks: Arc<[(Admin, Uuid)]> = marks.into();
        let open = |(shard, (_, id)): (&u8, &(Admin, Uuid))| {
            DbReader::builder(bucket.shard(*shard), bucket.objects.clone())
                .with_reader_mode(DbReaderMode::Checkpoint(*id))
                .with_options(DbReaderOptions::default())
                .with_filter_policies(prefixes::policies(&options.prefixes))
                .build()
        };
        let readers = place.wait(try_join_all(numbers.iter().zip(&*marks).map(open)))?;
        let readers: Arc<[_]> = readers.map_err(|error| place.error(error))?.into();
        let shards = Shards {
            place: place.clone(),
            readers: Arc::new(RwLock::new(Some(readers))),
            prefixes: options.prefixes.clone(),
        };
        let refreshing = place.handle.spawn(refresh(marks.clone()));
        Ok(Checkpoint { shards, place: place.clone(), marks, refreshing })
    }
}

async fn refresh(marks: Arc<[(Admin, Uuid)]>) {
    loop {
        tokio::time::sleep(LIFETIME / 4).await;
        // One that can't be has time for another try.
        join_all(marks.iter().map(|(admin, id)| admin.refresh_checkpoint(*id, Some(LIFETIME))))
            .await;
    }
}

impl Drop for Checkpoint {
    fn drop(&mut self) {
        self.refreshing.abort();
        let marks = self.marks.clone();
        // What is left of them when this is cut short ends by itself.
        self.place.handle.spawn(async move {
            join_all(marks.iter().map(|(admin, id)| admin.delete_checkpoint(*id))).await;
        });
    }
}

impl Read for Checkpoint {
    fn get(&self, shard: u8, key: &[u8]) -> Result<Option<Bytes>> {
        self.shards.get(shard, key)
    }

    fn multi_get(&self, keys: &[(u8, &[u8])]) -> Result<Vec<Option<Bytes>>> {
        self.shards.multi_get(keys)
    }

    fn scan(&self, shard: u8, range: KeyRange, direction: Direction) -> Result<Scan> {
        self.shards.scan(shard, range, direction)
    }
}
