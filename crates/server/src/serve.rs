//! Listening: connections within limits, and an end that loses nothing.

use std::convert::Infallible;
use std::io;
use std::net::SocketAddr;
use std::path::Path;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use axum::Router;
use axum::body::{Body, HttpBody as _};
use axum::response::Response;
use futures_util::StreamExt as _;
use hyper::Version;
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto::Builder;
use hyper_util::server::graceful::{GracefulShutdown, Watcher};
use rustls_pki_types::pem::PemObject as _;
use rustls_pki_types::{CertificateDer, PrivateKeyDer};
use stonecrop::Lead;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::Handle;
use tokio::sync::Semaphore;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;

use crate::Server;
use crate::app::App;
use crate::config::Limits;
use crate::forward;

/// How often is looked whether another node leads.
const LOOK_EVERY: Duration = Duration::from_secs(1);

/// Why a server can't run.
///
/// ```
/// let error = stonecrop_server::Tls::read("no".as_ref(), "no".as_ref()).unwrap_err();
/// assert!(error.to_string().contains("certificate"));
/// ```
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ServeError {
    /// The certificate or its key can't be used.
    #[error("the {what} {path}: {problem}")]
    Tls {
        /// The certificate or the key.
        what: &'static str,
        /// Its file.
        path: String,
        /// What is wrong.
        problem: String,
    },
    /// An address without tokens or access keys that others can reach.
    #[error(
        "{address} can be reached by others: give tokens or access keys, or say that none are wanted"
    )]
    Exposed {
        /// The address.
        address: SocketAddr,
    },
}

/// A certificate, for connections that nobody can listen in on.
#[derive(Clone)]
pub struct Tls(Arc<ServerConfig>);

impl Tls {
    /// Reads a chain of certificates and their private key, both in PEM.
    ///
    /// ```
    /// assert!(stonecrop_server::Tls::read("no".as_ref(), "no".as_ref()).is_err());
    /// ```
    pub fn read(certificates: &Path, key: &Path) -> Result<Self, ServeError> {
        let wrong = |what: &'static str, path: &Path, problem: String| ServeError::Tls {
            what,
            path: path.display().to_string(),
            problem,
        };
        let of_certificates = |problem| wrong("certificate", certificates, problem);
        let chain = CertificateDer::pem_file_iter(certificates)
            .and_then(Iterator::collect::<Result<Vec<_>, _>>)
            .map_err(|error| of_certificates(error.to_string()))?;
        let private = PrivateKeyDer::from_pem_file(key)
            .map_err(|error| wrong("private key", key, error.to_string()))?;
        let provider = Arc::new(tokio_rustls::rustls::crypto::ring::default_provider());
        let mut config = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .map_err(|error| of_certificates(error.to_string()))?
            .with_no_client_auth()
            .with_single_cert(chain, private)
            .map_err(|error| of_certificates(error.to_string()))?;
        config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
        Ok(Tls(Arc::new(config)))
    }
}

impl std::fmt::Debug for Tls {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Tls")
    }
}

impl Server {
    /// Answers those who connect, until `stop`; then finishes what was begun.
    ///
    /// An address that others can reach is refused without tokens or access keys, unless
    /// [`crate::Config::any_host`] says that everybody may come.
    ///
    /// ```no_run
    /// # use stonecrop::Database;
    /// # use stonecrop_server::{Config, Server};
    /// # async fn serve() -> Result<(), Box<dyn std::error::Error>> {
    /// let listener = tokio::net::TcpListener::bind("127.0.0.1:8321").await?;
    /// let server = Server::new(Database::open("./data")?, Config::default());
    /// server.serve(listener, None, std::future::pending()).await?;
    /// # Ok(())
    /// # }
    /// ```
    pub async fn serve(
        self,
        listener: TcpListener,
        tls: Option<Tls>,
        stop: impl Future<Output = ()>,
    ) -> Result<(), ServeError> {
        let app = self.app().clone();
        if let Ok(address) = listener.local_addr() {
            app.config.check_address(address)?;
        }
        app.serves_on(&Handle::current());
        tokio::spawn(resume(app.clone()));
        let limits = app.config.limits;
        let places = Arc::new(Semaphore::new(limits.connections));
        let graceful = GracefulShutdown::new();
        let builder = Arc::new(builder(&limits));
        let router = self.router();
        forward::serve_others(&app, &router);
        let mut stop = std::pin::pin!(stop);
        loop {
            let accepted = tokio::select! {
                accepted = accept(&listener, &places) => accepted,
                () = &mut stop => break,
            };
            let Some((stream, place)) = accepted else { continue };
            let connection = Connection {
                app: app.clone(),
                router: router.clone(),
                builder: builder.clone(),
                watcher: graceful.watcher(),
                activity: Arc::default(),
            };
            let acceptor = tls.clone().map(|Tls(config)| TlsAcceptor::from(config));
            tokio::spawn(async move {
                connection.run(stream, acceptor).await;
                drop(place);
            });
        }
        drop(listener);
        app.stop();
        if tokio::time::timeout(limits.shutdown_time, graceful.shutdown()).await.is_err() {
            tracing::warn!("some requests were not finished in time");
        }
        Ok(())
    }
}

/// Goes on with what was left unfinished, by whoever may write, now and whenever that changes.
async fn resume(app: App) {
    let mut resumed = Lead::Elsewhere;
    loop {
        let lead = app.database.lead();
        if lead != Lead::Elsewhere && lead != resumed {
            resumed = lead;
            let app = app.clone();
            let _ = tokio::task::spawn_blocking(move || crate::dynamodb::resume(&app)).await;
        }
        if lead == Lead::Alone {
            return;
        }
        tokio::select! {
            () = tokio::time::sleep(LOOK_EVERY) => {}
            () = app.stopping() => return,
        }
    }
}

/// A client that is connected.
struct Connection {
    app: App,
    router: Router,
    builder: Arc<Builder<TokioExecutor>>,
    watcher: Watcher,
    activity: Arc<Activity>,
}

impl Connection {
    /// Answers the client until it leaves, or is too slow.
    async fn run(self, stream: TcpStream, acceptor: Option<TlsAcceptor>) {
        let (app, activity) = (self.app.clone(), self.activity.clone());
        app.metrics.connections.inc();
        let stream = Watched { stream, activity: activity.clone() };
        // A task of its own: the one that looks at the clock is not woken by every request.
        let mut serving = tokio::spawn(async {
            match acceptor {
                None => self.serve(stream).await,
                Some(acceptor) => match acceptor.accept(stream).await {
                    Ok(stream) => self.serve(stream).await,
                    Err(error) => tracing::debug!(%error, "no TLS with a client"),
                },
            }
        });
        tokio::select! {
            _ = &mut serving => {}
            () = activity.until_slow(&app.config.limits) => {
                tracing::debug!("a client was too slow");
                serving.abort();
            }
        }
        app.metrics.connections.dec();
    }

    async fn serve(self, stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static) {
        let (shared, activity) = (Arc::new((self.app, self.router)), self.activity);
        let service = service_fn(move |request: hyper::Request<Incoming>| {
            let is_framed = request.version() == Version::HTTP_2;
            let (shared, working) = (shared.clone(), Working::new(&activity, is_framed));
            async move {
                let (app, router) = &*shared;
                let answer = forward::answer(app, router, request.map(Body::new)).await;
                Ok::<_, Infallible>(working.until_sent(answer))
            }
        });
        let connection = self.builder.serve_connection(TokioIo::new(stream), service).into_owned();
        if let Err(error) = self.watcher.watch(connection).await {
            tracing::debug!(%error, "a connection ended");
        }
    }
}

fn builder(limits: &Limits) -> Builder<TokioExecutor> {
    let mut builder = Builder::new(TokioExecutor::new());
    builder
        .http1()
        // A timer for each head takes a thirtieth of a short request's time; see `Activity`.
        .header_read_timeout(None)
        .max_buf_size(limits.header_bytes.max(8192))
        .http2()
        .timer(TokioTimer::new())
        .max_concurrent_streams(128)
        .max_header_list_size(limits.header_bytes.try_into().unwrap_or(u32::MAX))
        .keep_alive_interval(limits.idle_time)
        .keep_alive_timeout(limits.header_time);
    builder
}

/// The next connection, once there is a place for it.
async fn accept(
    listener: &TcpListener,
    places: &Arc<Semaphore>,
) -> Option<(TcpStream, tokio::sync::OwnedSemaphorePermit)> {
    let place = places.clone().acquire_owned().await.ok()?;
    match listener.accept().await {
        Ok((stream, _)) => {
            // Answers are written whole; waiting for more would only delay them.
            let _ = stream.set_nodelay(true);
            Some((stream, place))
        }
        Err(error) => {
            tracing::warn!(%error, "a connection could not be accepted");
            // No more files, say: others must end first.
            tokio::time::sleep(Duration::from_millis(50)).await;
            None
        }
    }
}

/// What a connection is doing.
#[derive(Debug, Default)]
struct Activity {
    /// Bytes that came or went.
    bytes: AtomicU64,
    /// Requests that came.
    heads: AtomicU64,
    /// Requests that are worked on.
    requests: AtomicUsize,
    /// An answer waits for the client to take it.
    is_stuck: AtomicBool,
    /// The last head that came was whole, and nothing has come since; never mind what comes in
    /// frames, between requests as well.
    is_between: AtomicBool,
    is_framed: AtomicBool,
}

/// How often it is looked at a client, in the time that it has.
const LOOKS: u32 = 4;

impl Activity {
    /// Ends when nothing was sent or taken for too long while it was the client's turn, or a head
    /// takes too long.
    async fn until_slow(&self, limits: &Limits) {
        let between_looks = limits.header_time.min(limits.idle_time) / LOOKS;
        let (mut bytes, mut heads) = (self.bytes.load(Ordering::Relaxed), None);
        let (mut idle, mut late) = (Duration::ZERO, Duration::ZERO);
        loop {
            tokio::time::sleep(between_looks).await;
            let bytes_before = std::mem::replace(&mut bytes, self.bytes.load(Ordering::Relaxed));
            let is_working = self.requests.load(Ordering::Relaxed) > 0;
            let is_clients_turn = !is_working || self.is_stuck.load(Ordering::Relaxed);
            let is_idle = bytes == bytes_before && is_clients_turn;
            idle = if is_idle { idle + between_looks } else { Duration::ZERO };
            let is_late = !is_working
                && !self.is_between.load(Ordering::Relaxed)
                && !self.is_framed.load(Ordering::Relaxed);
            let head = is_late.then(|| self.heads.load(Ordering::Relaxed));
            let heads_before = std::mem::replace(&mut heads, head);
            let is_same = head.is_some() && head == heads_before;
            late = if is_same { late + between_looks } else { Duration::ZERO };
            if idle >= limits.idle_time || late >= limits.header_time {
                return;
            }
        }
    }
}

/// Counts the requests of a connection while they are worked on.
struct Working(Arc<Activity>);

impl Working {
    fn new(activity: &Arc<Activity>, is_framed: bool) -> Self {
        activity.heads.fetch_add(1, Ordering::Relaxed);
        activity.requests.fetch_add(1, Ordering::Relaxed);
        activity.is_between.store(true, Ordering::Relaxed);
        if is_framed {
            activity.is_framed.store(true, Ordering::Relaxed);
        }
        Working(activity.clone())
    }
}

impl Working {
    /// Goes on while an answer is made that is sent bit by bit.
    fn until_sent(self, answer: Response) -> Response {
        if answer.body().size_hint().exact().is_some() {
            return answer;
        }
        answer.map(|body| {
            let mut pieces = body.into_data_stream();
            Body::from_stream(futures_util::stream::poll_fn(move |context| {
                let _working = &self;
                pieces.poll_next_unpin(context)
            }))
        })
    }
}

impl Drop for Working {
    fn drop(&mut self) {
        self.0.requests.fetch_sub(1, Ordering::Relaxed);
    }
}

/// So much is copied together faster than the system takes it in pieces.
const SMALL_BYTES: usize = 2 << 10;

fn join<'j>(slices: &[io::IoSlice<'_>], joined: &'j mut [u8; SMALL_BYTES]) -> Option<&'j [u8]> {
    let mut end = 0;
    for slice in slices {
        let start = end;
        end += slice.len();
        joined.get_mut(start..end)?.copy_from_slice(slice);
    }
    joined.get(..end)
}

/// A stream that says what comes and goes.
struct Watched {
    stream: TcpStream,
    activity: Arc<Activity>,
}

impl Watched {
    fn note(&self, written: &Poll<io::Result<usize>>) {
        match written {
            Poll::Ready(Ok(bytes)) => {
                self.activity.bytes.fetch_add(*bytes as u64, Ordering::Relaxed);
                self.activity.is_stuck.store(false, Ordering::Relaxed);
            }
            Poll::Ready(Err(_)) => {}
            Poll::Pending => self.activity.is_stuck.store(true, Ordering::Relaxed),
        }
    }
}

impl AsyncRead for Watched {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        let read = Pin::new(&mut self.stream).poll_read(context, buffer);
        let bytes = buffer.filled().len() - before;
        if bytes > 0 {
            self.activity.bytes.fetch_add(bytes as u64, Ordering::Relaxed);
            if self.activity.requests.load(Ordering::Relaxed) == 0 {
                self.activity.is_between.store(false, Ordering::Relaxed);
            }
        }
        read
    }
}

impl AsyncWrite for Watched {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write(context, bytes);
        self.note(&written);
        written
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let stream = Pin::new(&mut self.stream);
        let mut joined = [0; SMALL_BYTES];
        let written = match join(slices, &mut joined) {
            Some(bytes) => stream.poll_write(context, bytes),
            None => stream.poll_write_vectored(context, slices),
        };
        self.note(&written);
        written
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }
}
