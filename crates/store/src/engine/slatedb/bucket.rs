//! The place of a store in an object store: what it is, how it was made, and whether it can be.
//!
//! | object | what |
//! |---|---|
//! | `STONECROP` | text: the version of the format, the engine, the count of shards, a checksum |
//! | `shard-000/` … | SlateDB's own objects, a tree a shard |
//! | `probe-…` | made and removed while the store is opened |

use std::sync::Arc;

use futures::TryStreamExt;
use object_store::path::Path;
use object_store::{
    Error as ObjectError, ObjectStore, ObjectStoreExt, PutMode, PutOptions, UpdateVersion,
};
#[allow(deprecated, reason = "see where it is used")]
use slatedb::cached_object_store::CachedObjectStore;

use super::location;
use super::objects::{Counted, Requests};
use crate::engine::marker::{self, Marker};
use crate::error::{Error, ErrorKind, Result};
use crate::options::ObjectOptions;

/// Where the machines of clouds are asked for credentials if there are no others. What is said when
/// none answers does not tell why it was asked.
const METADATA_SERVICES: [&str; 2] = ["//169.254.169.254/", "//metadata.google.internal/"];

/// An object store, and where in it a store is.
#[derive(Clone)]
pub(super) struct Bucket {
    pub(super) name: Arc<str>,
    pub(super) objects: Arc<Counted>,
    pub(super) root: Path,
    pub(super) requests: Arc<Requests>,
}

/// The path of a shard's objects.
pub(super) fn shard_path(root: &Path, shard: u8) -> Path {
    root.clone().join(format!("shard-{shard:03}"))
}

impl Bucket {
    /// The place that a location names.
    pub(super) fn at(location: &str) -> Result<Self> {
        let (objects, root) = location::resolve(location)?;
        let (objects, requests) = Counted::new(objects);
        Ok(Bucket { name: location::name(location).into(), objects, root, requests })
    }

    /// All of an object store.
    pub(super) fn of(objects: Arc<dyn ObjectStore>, name: &str) -> Self {
        let (objects, requests) = Counted::new(objects);
        Bucket { name: name.into(), objects, root: Path::default(), requests }
    }

    pub(super) fn shard(&self, shard: u8) -> Path {
        shard_path(&self.root, shard)
    }

    /// The objects of all shards as they are read: through the one folder that keeps some of them
    /// on a disk, if there is one. (SlateDB's own setting of it has no bound for several shards.)
    #[allow(deprecated, reason = "what takes its place, slatedb-mirror, was not tried")]
    pub(super) async fn cached(&self, options: &ObjectOptions) -> Result<Arc<dyn ObjectStore>> {
        let Some(folder) = &options.cache_folder else { return Ok(self.objects.clone()) };
        // SlateDB would go on without it, and not say so.
        let unusable = |error: &dyn std::fmt::Display| {
            let message = format!("the cache folder {} can't be used: {error}", folder.display());
            Error::new(ErrorKind::Io, message)
        };
        std::fs::create_dir_all(folder).map_err(|error| unusable(&error))?;
        let bytes = usize::try_from(options.cache_folder_bytes).ok();
        let cached = CachedObjectStore::builder(folder, self.objects.clone());
        let cached = cached.with_max_cache_size_bytes(bytes).build().await;
        match cached {
            Ok(cached) => Ok(cached),
            Err(error) => Err(unusable(&error)),
        }
    }

    /// What the store says of itself, which is made if there is none.
    pub(super) async fn claim(
        &self,
        engine: &str,
        asked: Option<u16>,
        default: u16,
        create: bool,
    ) -> Result<Marker> {
        self.probe().await?;
        if let Some(marker) = self.read(engine).await? {
            return Ok(marker);
        }
        if !create {
            return Err(self.missing());
        }
        let shards = asked.unwrap_or(default);
        marker::check_shards(shards)?;
        let id = format!("{:032x}", uuid::Uuid::new_v4().as_u128());
        let text = marker::text(engine, shards, Some(&id));
        match self.create(&self.marker(), text.into_bytes()).await {
            // Of two who make it at once, the first one's counts.
            Ok(()) | Err(ObjectError::AlreadyExists { .. }) => {}
            Err(error) => return Err(self.error("can't be written to", error)),
        }
        self.read(engine).await?.ok_or_else(|| self.missing())
    }

    /// What the store says of itself, if there is one.
    pub(super) async fn read(&self, engine: &str) -> Result<Option<Marker>> {
        let read = async { self.objects.get(&self.marker()).await?.bytes().await };
        match read.await {
            Ok(bytes) => {
                let text = String::from_utf8_lossy(&bytes);
                let place = format!("{}/{}", self.name, marker::NAME);
                marker::parse(&place, &text, engine).map(Some)
            }
            Err(ObjectError::NotFound { .. }) => Ok(None),
            Err(error) => Err(self.error("can't be read", error)),
        }
    }

    pub(super) fn missing(&self) -> Error {
        Error::new(ErrorKind::Missing, format!("there is no database at {}", self.name))
    }

    fn marker(&self) -> Path {
        self.root.clone().join(marker::NAME)
    }

    async fn create(&self, path: &Path, bytes: Vec<u8>) -> Result<(), ObjectError> {
        self.put(path, bytes, PutMode::Create).await
    }

    async fn put(&self, path: &Path, bytes: Vec<u8>, mode: PutMode) -> Result<(), ObjectError> {
        let options = PutOptions { mode, ..PutOptions::default() };
        self.objects.put_opts(path, bytes.into(), options).await.map(drop)
    }

    /// That the object store keeps to the conditions that a write has: without them two writers
    /// would overwrite each other's log, and neither would find out. And in which form it takes
    /// them.
    pub(super) async fn probe(&self) -> Result<()> {
        let path = self.root.clone().join(format!("probe-{:032x}", uuid::Uuid::new_v4().as_u128()));
        match self.create(&path, b"first".to_vec()).await {
            // Nobody else has its name: it was carried out, and the answer lost on the way.
            Ok(()) | Err(ObjectError::AlreadyExists { .. }) => {}
            Err(error) => return Err(self.error("can't be written to", error)),
        }
        let kept = self.keeps_conditions(&path).await;
        // SlateDB would ask again and again for what it may not list, and not tell what it may not
        // delete. Other errors pass by: what was asked is known without them.
        let listed = self.objects.list(Some(&path)).try_next().await.map(drop);
        let deleted = self.objects.delete(&path).await;
        for (what, done) in [("can't be listed", listed), ("can't be deleted from", deleted)] {
            match done {
                Err(error) if is_denial(&error) => return Err(self.error(what, error)),
                _ => {}
            }
        }
        let problem = match kept.map_err(|error| self.error("can't be written to", error))? {
            Conditions::Kept => return Ok(()),
            Conditions::Ignored => {
                "ignores the conditions of writes (If-None-Match, If-Match), so acknowledged writes \
                 would be lost when a server takes over from another; use a store that keeps to them"
            }
            Conditions::NeverMet => {
                "refuses a write that depends on an object's own ETag (If-Match), so what is not \
                 needed any more could not be removed; use a store that takes it"
            }
        };
        let problem = format!("{} ({}) {problem}", self.name, self.objects);
        Err(Error::new(ErrorKind::Unsupported, problem))
    }

    /// Tries conditions out with an object that nobody else knows.
    async fn keeps_conditions(&self, path: &Path) -> Result<Conditions, ObjectError> {
        match self.create(path, b"second".to_vec()).await {
            Ok(()) => return Ok(Conditions::Ignored),
            Err(error) if is_refusal(&error) => {}
            Err(error) => return Err(error),
        }
        let first = self.version(path).await?;
        if !self.is_updated(path, &first).await? {
            // Ceph 16.2 takes the ETag only without the quotes that it sent it with.
            self.objects.send_bare_etags();
            if !self.is_updated(path, &first).await? {
                return Ok(Conditions::NeverMet);
            }
        }
        match self.put(path, b"fourth".to_vec(), PutMode::Update(first)).await {
            Ok(()) => Ok(Conditions::Ignored),
            Err(error) if is_refusal(&error) => Ok(Conditions::Kept),
            Err(error) => Err(error),
        }
    }

    async fn version(&self, path: &Path) -> Result<UpdateVersion, ObjectError> {
        let object = self.objects.head(path).await?;
        Ok(UpdateVersion { e_tag: object.e_tag, version: object.version })
    }

    /// Whether an object is overwritten if it still is as it was seen, which it is.
    async fn is_updated(&self, path: &Path, seen: &UpdateVersion) -> Result<bool, ObjectError> {
        match self.put(path, b"third".to_vec(), PutMode::Update(seen.clone())).await {
            Ok(()) => Ok(true),
            Err(error) if is_not_offered(&error) => Ok(true),
            // Unless it was carried out, and the answer lost on the way.
            Err(error) if is_refusal(&error) => Ok(self.version(path).await? != *seen),
            Err(error) => Err(error),
        }
    }

    fn error(&self, what: &str, cause: ObjectError) -> Error {
        let message = cause.to_string();
        let (kind, hint) = match &cause {
            ObjectError::NotFound { .. } => (
                ErrorKind::Denied,
                "; check the name of the bucket, and make it if it is not there",
            ),
            _ if METADATA_SERVICES.iter().any(|service| message.contains(service)) => (
                ErrorKind::Denied,
                "; no credentials were found in the environment or in a profile, and none could be \
                 had from this machine",
            ),
            _ if is_denial(&cause) => {
                (ErrorKind::Denied, "; check the credentials, and what they may do")
            }
            _ => (ErrorKind::Unavailable, ""),
        };
        Error::new(kind, format!("{} {what}: {message}{hint}", self.name)).with_cause(cause)
    }
}

/// What an object store makes of the conditions of writes.
enum Conditions {
    Kept,
    Ignored,
    /// Refused even when they hold. SlateDB notes with an update how far it has removed old lists of
    /// files, and would try that again without end.
    NeverMet,
}

/// Lists and deletes are denied in the words of the object store alone.
fn is_denial(error: &ObjectError) -> bool {
    match error {
        ObjectError::PermissionDenied { .. } | ObjectError::Unauthenticated { .. } => true,
        ObjectError::Generic { .. } => {
            let message = error.to_string();
            ["403 Forbidden", "401 Unauthorized", "AccessDenied"]
                .iter()
                .any(|word| message.contains(word))
        }
        _ => false,
    }
}

fn is_refusal(error: &ObjectError) -> bool {
    let refused =
        matches!(error, ObjectError::AlreadyExists { .. } | ObjectError::Precondition { .. });
    refused || is_not_offered(error)
}

/// A folder has no conditional updates; SlateDB keeps old lists of files there.
fn is_not_offered(error: &ObjectError) -> bool {
    matches!(error, ObjectError::NotImplemented { .. } | ObjectError::NotSupported { .. })
}
