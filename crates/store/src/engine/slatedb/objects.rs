//! An object store whose requests are counted, and made in the form that it takes.

use std::fmt;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use futures::StreamExt;
use futures::stream::BoxStream;
use object_store::path::Path;
use object_store::{
    CopyOptions, Error, GetOptions, GetResult, ListResult, MultipartUpload, ObjectMeta,
    ObjectStore, PutMode, PutMultipartOptions, PutOptions, PutPayload, PutResult, Result,
    UpdateVersion, UploadPart,
};

use crate::store::RequestCounts;

/// How much of an error is kept: some have a page of XML.
const TOLD: usize = 300;

/// What was asked of an object store.
///
/// ```
/// # use std::sync::Arc;
/// # use stonecrop_store::{Options, SlateStore};
/// # let objects = Arc::new(object_store::memory::InMemory::new());
/// let store = SlateStore::open_in(objects, "test", &Options::default())?;
/// assert_eq!(store.requests().errors(), 0);
/// # Ok::<(), stonecrop_store::Error>(())
/// ```
#[derive(Debug, Default)]
pub struct Requests {
    puts: AtomicU64,
    gets: AtomicU64,
    lists: AtomicU64,
    deletes: AtomicU64,
    errors: AtomicU64,
    sent: AtomicU64,
    received: AtomicU64,
    last_error: Mutex<String>,
}

impl Requests {
    /// What the last request that failed was answered.
    pub(super) fn last_error(&self) -> String {
        self.last_error.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Objects and parts of objects that were written.
    ///
    /// ```
    /// assert_eq!(stonecrop_store::Requests::default().puts(), 0);
    /// ```
    pub fn puts(&self) -> u64 {
        self.puts.load(Ordering::Relaxed)
    }

    /// Requests that failed. That an object is not there, is there already, or that a folder has no
    /// conditional updates, is an answer.
    ///
    /// ```
    /// assert_eq!(stonecrop_store::Requests::default().errors(), 0);
    /// ```
    pub fn errors(&self) -> u64 {
        self.errors.load(Ordering::Relaxed)
    }

    /// All of them at once.
    ///
    /// ```
    /// assert_eq!(stonecrop_store::Requests::default().counts().errors, 0);
    /// ```
    pub fn counts(&self) -> RequestCounts {
        let read = |count: &AtomicU64| count.load(Ordering::Relaxed);
        RequestCounts {
            puts: read(&self.puts),
            gets: read(&self.gets),
            lists: read(&self.lists),
            deletes: read(&self.deletes),
            errors: read(&self.errors),
            sent_bytes: read(&self.sent),
            received_bytes: read(&self.received),
        }
    }

    fn ended<T>(&self, result: Result<T>) -> Result<T> {
        let answers = |error: &Error| {
            matches!(
                error,
                Error::NotFound { .. }
                    | Error::AlreadyExists { .. }
                    | Error::Precondition { .. }
                    | Error::NotModified { .. }
                    | Error::NotImplemented { .. }
            )
        };
        if let Err(error) = &result
            && !answers(error)
        {
            let told = error.to_string().chars().take(TOLD).collect();
            *self.last_error.lock().unwrap_or_else(PoisonError::into_inner) = told;
            add(&self.errors, 1);
        }
        result
    }
}

fn add(count: &AtomicU64, by: u64) {
    count.fetch_add(by, Ordering::Relaxed);
}

/// Counts what it passes on.
#[derive(Debug)]
pub(super) struct Counted {
    inner: Arc<dyn ObjectStore>,
    requests: Arc<Requests>,
    /// Whether an ETag is sent without its quotes.
    bare_etags: AtomicBool,
}

impl Counted {
    pub(super) fn new(inner: Arc<dyn ObjectStore>) -> (Arc<Self>, Arc<Requests>) {
        let requests = Arc::new(Requests::default());
        let counted = Counted { inner, requests: requests.clone(), bare_etags: false.into() };
        (Arc::new(counted), requests)
    }

    /// From now on the ETag that a write depends on is sent without its quotes.
    pub(super) fn send_bare_etags(&self) {
        self.bare_etags.store(true, Ordering::Relaxed);
    }

    fn condition(&self, asked: PutMode) -> PutMode {
        match asked {
            PutMode::Update(UpdateVersion { e_tag: Some(e_tag), version })
                if self.bare_etags.load(Ordering::Relaxed) =>
            {
                let bare = e_tag.trim_matches('"').to_owned();
                PutMode::Update(UpdateVersion { e_tag: Some(bare), version })
            }
            asked => asked,
        }
    }
}

impl fmt::Display for Counted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.inner.fmt(f)
    }
}

#[async_trait::async_trait]
impl ObjectStore for Counted {
    async fn put_opts(
        &self,
        location: &Path,
        payload: PutPayload,
        mut options: PutOptions,
    ) -> Result<PutResult> {
        options.mode = self.condition(options.mode);
        add(&self.requests.puts, 1);
        add(&self.requests.sent, payload.content_length() as u64);
        self.requests.ended(self.inner.put_opts(location, payload, options).await)
    }

    async fn put_multipart_opts(
        &self,
        location: &Path,
        options: PutMultipartOptions,
    ) -> Result<Box<dyn MultipartUpload>> {
        add(&self.requests.puts, 1);
        let upload = self.requests.ended(self.inner.put_multipart_opts(location, options).await)?;
        Ok(Box::new(CountedUpload { inner: upload, requests: self.requests.clone() }))
    }

    async fn get_opts(&self, location: &Path, options: GetOptions) -> Result<GetResult> {
        add(&self.requests.gets, 1);
        let head = options.head;
        let found = self.requests.ended(self.inner.get_opts(location, options).await)?;
        if !head {
            add(&self.requests.received, found.range.end.saturating_sub(found.range.start));
        }
        Ok(found)
    }

    async fn get_ranges(&self, location: &Path, ranges: &[Range<u64>]) -> Result<Vec<Bytes>> {
        add(&self.requests.gets, ranges.len() as u64);
        let found = self.requests.ended(self.inner.get_ranges(location, ranges).await)?;
        add(&self.requests.received, found.iter().map(|bytes| bytes.len() as u64).sum());
        Ok(found)
    }

    fn delete_stream(
        &self,
        locations: BoxStream<'static, Result<Path>>,
    ) -> BoxStream<'static, Result<Path>> {
        let requests = self.requests.clone();
        let deleted = self.inner.delete_stream(locations);
        deleted
            .map(move |result| {
                add(&requests.deletes, 1);
                requests.ended(result)
            })
            .boxed()
    }

    fn list(&self, prefix: Option<&Path>) -> BoxStream<'static, Result<ObjectMeta>> {
        add(&self.requests.lists, 1);
        let requests = self.requests.clone();
        self.inner.list(prefix).map(move |result| requests.ended(result)).boxed()
    }

    fn list_with_offset(
        &self,
        prefix: Option<&Path>,
        offset: &Path,
    ) -> BoxStream<'static, Result<ObjectMeta>> {
        add(&self.requests.lists, 1);
        let requests = self.requests.clone();
        let listed = self.inner.list_with_offset(prefix, offset);
        listed.map(move |result| requests.ended(result)).boxed()
    }

    async fn list_with_delimiter(&self, prefix: Option<&Path>) -> Result<ListResult> {
        add(&self.requests.lists, 1);
        self.requests.ended(self.inner.list_with_delimiter(prefix).await)
    }

    async fn copy_opts(&self, from: &Path, to: &Path, options: CopyOptions) -> Result<()> {
        add(&self.requests.puts, 1);
        self.requests.ended(self.inner.copy_opts(from, to, options).await)
    }
}

#[derive(Debug)]
struct CountedUpload {
    inner: Box<dyn MultipartUpload>,
    requests: Arc<Requests>,
}

#[async_trait::async_trait]
impl MultipartUpload for CountedUpload {
    fn put_part(&mut self, data: PutPayload) -> UploadPart {
        add(&self.requests.puts, 1);
        add(&self.requests.sent, data.content_length() as u64);
        self.inner.put_part(data)
    }

    async fn complete(&mut self) -> Result<PutResult> {
        add(&self.requests.puts, 1);
        self.requests.ended(self.inner.complete().await)
    }

    async fn abort(&mut self) -> Result<()> {
        self.inner.abort().await
    }
}
