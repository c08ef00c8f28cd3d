//! How requests get to a server: over the network, or to the one within.

use std::error::Error as StdError;
use std::path::Path;
use std::time::Duration;

use axum::Router;
use axum::body::Body as AxumBody;
use bytes::Bytes;
use http_body_util::{BodyExt as _, Full, combinators::UnsyncBoxBody};
use hyper::{Request, Response};
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::client::legacy::Client as HttpClient;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use stonecrop::{Database, Options};
use stonecrop_server::{Config, Limits, Server};
use tokio::runtime::Runtime;
use tower::ServiceExt as _;

use crate::error::{Error, Result};

/// The body of an answer, as it comes.
pub(super) type Body = UnsyncBoxBody<Bytes, Box<dyn StdError + Send + Sync>>;

/// Who asks at a terminal waits until it is done, or presses Ctrl-C.
const PATIENCE: Duration = Duration::from_secs(365 * 86_400);

/// A server that can be reached is reached in this time.
const CONNECT_TIME: Duration = Duration::from_secs(10);

#[derive(Clone)]
pub(super) enum Transport {
    Network {
        base: String,
        client: Box<HttpClient<HttpsConnector<HttpConnector>, Full<Bytes>>>,
    },
    /// A server without a socket, and the database that it serves.
    Within {
        router: Router,
        database: Database,
    },
}

impl Transport {
    pub(super) fn network(base: String) -> Result<Self> {
        let mut http = HttpConnector::new();
        http.set_connect_timeout(Some(CONNECT_TIME));
        // TLS comes on top of it.
        http.enforce_http(false);
        let connector = HttpsConnectorBuilder::new().with_native_roots();
        let connector = connector
            .map_err(|error| Error::Unreachable(format!("no certificates to trust: {error}")))?
            .https_or_http()
            .enable_http1()
            .wrap_connector(http);
        let client = HttpClient::builder(TokioExecutor::new()).build(connector);
        Ok(Transport::Network { base, client: Box::new(client) })
    }

    /// A server of our own for a database that is no server's.
    pub(super) fn within(location: &Path, options: Options, runtime: &Runtime) -> Result<Self> {
        let database = Database::open_with(location, options).map_err(Error::Database)?;
        let config = Config {
            location: location.display().to_string(),
            // Nobody else can ask.
            any_host: true,
            limits: Limits { request_time: PATIENCE, ..Limits::default() },
            ..Config::default()
        };
        let _within = runtime.enter();
        let router = Server::new(database.clone(), config).router();
        Ok(Transport::Within { router, database })
    }

    /// Leaves a database of our own in good order.
    pub(super) fn close(&self) -> Result<()> {
        match self {
            Transport::Network { .. } => Ok(()),
            Transport::Within { database, .. } => database.close().map_err(Error::Database),
        }
    }

    /// Sends a request for a path, and gives the answer as soon as its head is there.
    pub(super) async fn send(&self, request: Request<Bytes>) -> Result<Response<Body>> {
        match self {
            Transport::Network { base, client } => {
                let (mut head, body) = request.into_parts();
                let uri = format!("{base}{}", head.uri);
                let bad = |_| Error::Usage(format!("{base} is no address of a server"));
                head.uri = uri.parse().map_err(bad)?;
                let answer = client.request(Request::from_parts(head, Full::new(body))).await;
                let answer = answer.map_err(|error| Error::Unreachable(no_answer(base, &error)))?;
                Ok(answer.map(|body| body.map_err(Into::into).boxed_unsync()))
            }
            Transport::Within { router, .. } => {
                let answer = router.clone().oneshot(request.map(AxumBody::from)).await;
                let answer = answer.unwrap_or_else(|never| match never {});
                Ok(answer.map(|body| body.map_err(Into::into).boxed_unsync()))
            }
        }
    }
}

/// The last cause says most: "connection refused" rather than "client error".
pub(super) fn no_answer(base: &str, error: &dyn StdError) -> String {
    let mut cause = error;
    while let Some(deeper) = cause.source() {
        cause = deeper;
    }
    format!("no answer from {base}: {cause}")
}
