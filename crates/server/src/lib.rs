//! Stonecrop behind HTTP: a JSON API, a web grid, metrics.
//!
//! [`Server::router`] has all of it, for a server of one's own or to be called without one;
//! [`Server::serve`] listens, with limits on everything that a client can make it hold.
//!
//! ```
//! use axum::{body::Body, http::Request};
//! use stonecrop::Database;
//! use stonecrop_server::{Config, Server};
//! use tower::ServiceExt;
//!
//! # tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
//! let server = Server::new(Database::memory(), Config::default());
//! let request = Request::get("/v1/tables").body(Body::empty()).unwrap();
//! let response = server.router().oneshot(request).await.unwrap();
//! assert_eq!(response.status(), 200);
//! # });
//! ```

#![forbid(unsafe_code)]

mod access_keys;
pub mod api;
mod app;
mod auth;
mod body;
mod config;
mod dynamodb;
mod forward;
mod guard;
mod metrics;
mod page;
mod pool;
mod problem;
mod serve;
mod shortcut;
mod v1;
mod watch;

use axum::extract::State;
use axum::http::header::CONTENT_TYPE;
use axum::http::{Extensions, HeaderMap, StatusCode, Version};
use axum::response::IntoResponse;
use axum::routing::get;
use axum::{Router, middleware};
use stonecrop::Database;
use tower_http::catch_panic::CatchPanicLayer;
use tower_http::compression::CompressionLayer;
use tower_http::compression::predicate::{DefaultPredicate, Predicate};

use crate::app::App;
use crate::problem::{CLOSED, INTERNAL, NO_LEADER, NO_METHOD, Problem, Result};

pub use access_keys::AccessKeys;
pub use auth::{Scope, Tokens};
pub use config::{Config, Limits};
pub use problem::ProblemDocument;
pub use serve::{ServeError, Tls};

/// A database behind HTTP.
///
/// ```
/// use stonecrop::Database;
/// use stonecrop_server::{Config, Server};
/// let router = Server::new(Database::memory(), Config::default()).router();
/// ```
#[derive(Clone)]
pub struct Server {
    app: App,
}

impl Server {
    /// A server for a database.
    ///
    /// ```
    /// # use stonecrop::Database;
    /// # use stonecrop_server::{Config, Server};
    /// Server::new(Database::memory(), Config::default());
    /// ```
    pub fn new(database: Database, config: Config) -> Self {
        Server { app: App::new(database, config) }
    }

    /// Everything that the server answers.
    ///
    /// ```
    /// # use stonecrop::Database;
    /// # use stonecrop_server::{Config, Server};
    /// Server::new(Database::memory(), Config::default()).router();
    /// ```
    pub fn router(&self) -> Router {
        let (routes, document) = v1::routes();
        let document = serde_json::to_string(&document).unwrap_or_default();
        let document = move || async move { ([(CONTENT_TYPE, "application/json")], document) };
        routes
            .route(
                dynamodb::ROUTE,
                get(page::serve).post(dynamodb::answer).options(dynamodb::cors::preflight),
            )
            .route("/metrics", get(metrics))
            .route("/v1/openapi.json", get(document))
            .route("/health/live", get(|| async { "alive\n" }))
            .route("/health/ready", get(ready))
            .method_not_allowed_fallback(no_method)
            .fallback(page::serve)
            // One layer of the router for all three: each is cloned and boxed for every request.
            .layer((
                CompressionLayer::new().gzip(true).zstd(true).compress_when(compresses()),
                middleware::from_fn_with_state(self.app.clone(), guard::guard),
                CatchPanicLayer::custom(panicked),
            ))
            .with_state(self.app.clone())
    }

    pub(crate) fn app(&self) -> &App {
        &self.app
    }
}

impl std::fmt::Debug for Server {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Server").field("config", &self.app.config).finish_non_exhaustive()
    }
}

/// What is worth it, other than what has a checksum of its bytes or is sent as it comes.
fn compresses() -> impl Predicate {
    let is_open = |_: StatusCode, _: Version, headers: &HeaderMap, _: &Extensions| {
        !headers.contains_key(dynamodb::CHECKSUM) && !headers.contains_key(v1::UNBUFFERED)
    };
    DefaultPredicate::new().and(is_open)
}

async fn no_method() -> Problem {
    Problem::new(NO_METHOD, "there is something at this address, but not with this method")
}

async fn ready(State(app): State<App>) -> Result<&'static str> {
    let stats = app.in_time(|database| Ok(database.stats()?)).await;
    if app.config.cluster.as_ref().is_some_and(|cluster| !cluster.door().is_alive()) {
        return Err(Problem::new(NO_LEADER, "this node has no lease at the moment"));
    }
    match (stats, app.database.failure()) {
        (_, Some(failure)) => Err(failure.into()),
        (Ok(_), None) => Ok("ready\n"),
        (Err(problem), None) => Err(Problem::new(CLOSED, problem.detail)),
    }
}

async fn metrics(State(app): State<App>) -> Result<impl IntoResponse> {
    let of_app = app.clone();
    let text = app.in_time(move |database| {
        let (freshness, uptime) = (of_app.known_freshness(), of_app.started.elapsed());
        Ok(of_app.metrics.text(database, &freshness, uptime)?)
    });
    const TEXT: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";
    Ok((StatusCode::OK, [(CONTENT_TYPE, TEXT)], text.await?))
}

fn panicked(panic: Box<dyn std::any::Any + Send>) -> axum::response::Response {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    let text = text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_default();
    tracing::error!(text, "a request panicked");
    Problem::new(INTERNAL, "this should not have happened; please report it").into_response()
}
