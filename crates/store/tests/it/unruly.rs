//! An object store in memory that does not always do as it is asked.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use futures::stream::BoxStream;
use futures::{FutureExt, StreamExt, TryStreamExt};
use object_store::memory::InMemory;
use object_store::path::Path;
use object_store::{
    CopyOptions, Error, GetOptions, GetResult, ListResult, MultipartUpload, ObjectMeta,
    ObjectStore, ObjectStoreExt, PutMode, PutMultipartOptions, PutOptions, PutPayload, PutResult,
    Result, UploadPart,
};

/// What is asked of an object store.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Request {
    Put,
    Get,
    List,
    Delete,
}

/// What becomes of a request.
#[derive(Debug, Default)]
pub(crate) struct Fate {
    pub(crate) delay: Duration,
    /// It is not carried out.
    pub(crate) refused: Option<Error>,
    /// It is carried out, and who asked does not hear of it.
    pub(crate) answer_lost: bool,
}

/// How an object store misbehaves.
#[async_trait::async_trait]
pub(crate) trait Mood: fmt::Debug + Send + Sync + 'static {
    /// What becomes of a request; one that hangs gets its fate late.
    async fn fate(&self, request: Request, path: &Path) -> Fate;

    /// The condition that a write really has.
    fn condition(&self, asked: PutMode) -> PutMode {
        asked
    }
}

/// An object store with a mood. Clones share their objects.
#[derive(Clone, Debug)]
pub(crate) struct Unruly {
    objects: Arc<InMemory>,
    mood: Arc<dyn Mood>,
}

impl Unruly {
    pub(crate) fn new(objects: Arc<InMemory>, mood: Arc<dyn Mood>) -> Self {
        Unruly { objects, mood }
    }

    async fn ask<T>(
        &self,
        request: Request,
        path: &Path,
        work: impl Future<Output = Result<T>>,
    ) -> Result<T> {
        let Fate { delay, refused, answer_lost } = self.mood.fate(request, path).await;
        if !delay.is_zero() {
            tokio::time::sleep(delay).await;
        }
        if let Some(error) = refused {
            return Err(error);
        }
        let done = work.await;
        if answer_lost {
            return Err(generic("the connection was reset before the answer"));
        }
        done
    }
}

/// An error of which nothing more is known: SlateDB tries again.
pub(crate) fn generic(words: &str) -> Error {
    Error::Generic { store: "unruly", source: words.into() }
}

impl fmt::Display for Unruly {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Unruly")
    }
}

#[async_trait::async_trait]
impl ObjectStore for Unruly {
    async fn put_opts(
        &self,
        location: &Path,
        payload: PutPayload,
        mut options: PutOptions,
    ) -> Result<PutResult> {
        options.mode = self.mood.condition(options.mode);
        let put = self.objects.put_opts(location, payload, options);
        self.ask(Request::Put, location, put).await
    }

    async fn put_multipart_opts(
        &self,
        location: &Path,
        options: PutMultipartOptions,
    ) -> Result<Box<dyn MultipartUpload>> {
        let begin = self.objects.put_multipart_opts(location, options);
        let upload = self.ask(Request::Put, location, begin).await?;
        Ok(Box::new(Upload { store: self.clone(), upload, path: location.clone() }))
    }

    async fn get_opts(&self, location: &Path, options: GetOptions) -> Result<GetResult> {
        self.ask(Request::Get, location, self.objects.get_opts(location, options)).await
    }

    fn delete_stream(
        &self,
        locations: BoxStream<'static, Result<Path>>,
    ) -> BoxStream<'static, Result<Path>> {
        let store = self.clone();
        let delete = move |path: Result<Path>| {
            let store = store.clone();
            async move {
                let path = path?;
                let deleted = store.objects.delete(&path);
                store.ask(Request::Delete, &path, deleted).await.map(|()| path)
            }
        };
        locations.then(delete).boxed()
    }

    fn list(&self, prefix: Option<&Path>) -> BoxStream<'static, Result<ObjectMeta>> {
        let (store, prefix) = (self.clone(), prefix.cloned());
        let listed = async move {
            let path = prefix.clone().unwrap_or_default();
            let all = store.objects.list(prefix.as_ref()).try_collect::<Vec<_>>();
            store.ask(Request::List, &path, all).await
        };
        let entries = listed.map(|all| match all {
            Ok(all) => futures::stream::iter(all.into_iter().map(Ok)).boxed(),
            Err(error) => futures::stream::iter([Err(error)]).boxed(),
        });
        entries.flatten_stream().boxed()
    }

    async fn list_with_delimiter(&self, prefix: Option<&Path>) -> Result<ListResult> {
        let path = prefix.cloned().unwrap_or_default();
        self.ask(Request::List, &path, self.objects.list_with_delimiter(prefix)).await
    }

    async fn copy_opts(&self, from: &Path, to: &Path, options: CopyOptions) -> Result<()> {
        self.ask(Request::Put, to, self.objects.copy_opts(from, to, options)).await
    }
}

/// An object that is written in parts, each a request.
#[derive(Debug)]
struct Upload {
    store: Unruly,
    upload: Box<dyn MultipartUpload>,
    path: Path,
}

#[async_trait::async_trait]
impl MultipartUpload for Upload {
    fn put_part(&mut self, data: PutPayload) -> UploadPart {
        let (store, path, part) =
            (self.store.clone(), self.path.clone(), self.upload.put_part(data));
        async move { store.ask(Request::Put, &path, part).await }.boxed()
    }

    async fn complete(&mut self) -> Result<PutResult> {
        let Upload { store, upload, path } = self;
        store.ask(Request::Put, path, upload.complete()).await
    }

    async fn abort(&mut self) -> Result<()> {
        self.upload.abort().await
    }
}
