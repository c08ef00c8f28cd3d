//! Requests in a cluster: what only reads is answered by the node that is asked, all else by the one
//! that leads.

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::{Body, HttpBody as _};
use axum::extract::Request;
use axum::http::{HeaderMap, Method, StatusCode};
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use futures_util::FutureExt as _;
use stonecrop_cluster::{Door, Leader, Unreached, bodies};

use crate::app::App;
use crate::problem::{NO_LEADER, Problem};
use crate::watch::Stopwatch;
use crate::{dynamodb, shortcut};

/// How much of a body is held, so that it can be sent once more.
const HELD_BYTES: usize = 1 << 20;
/// How long is waited for somebody to lead.
const PATIENCE: Duration = Duration::from_secs(15);
const PAUSE: Duration = Duration::from_millis(100);

/// Answers a client.
pub(crate) async fn answer(app: &App, router: &Router, request: Request) -> Response {
    let Some(cluster) = &app.config.cluster else {
        return shortcut::answer(app, router, request).await;
    };
    if !is_for_leader(request.method(), request.uri().path(), request.headers()) {
        return shortcut::answer(app, router, request).await;
    }
    match pass_on(app, router, cluster.door(), request).await {
        Ok(response) => response,
        Err(problem) => {
            let problem = Problem::new(NO_LEADER, problem);
            tracing::warn!(code = problem.kind.code, problem.detail);
            problem.with_body(None)
        }
    }
}

/// Has what clients of other nodes ask answered here.
pub(crate) fn serve_others(app: &App, router: &Router) {
    let Some(cluster) = &app.config.cluster else { return };
    // The door holds what it is given, and the app holds the door.
    let (app, router) = (app.downgrade(), router.clone());
    cluster.door().serve(move |request| {
        let (app, router) = (app.clone(), router.clone());
        async move {
            let refusal = || Response::builder().status(NOT_LEADING).body(Body::empty());
            let answer = match app.upgrade() {
                Some(app) if app.config.cluster.as_ref().is_some_and(|c| c.door().leads()) => {
                    shortcut::answer(&app, &router, request.map(Body::new)).await
                }
                _ => refusal().unwrap_or_default(),
            };
            answer.map(bodies)
        }
        .boxed()
    });
}

/// What a node says to another that takes it for the one that leads.
const NOT_LEADING: StatusCode = StatusCode::MISDIRECTED_REQUEST;

async fn pass_on(
    app: &App,
    router: &Router,
    door: &Arc<Door>,
    request: Request,
) -> Result<Response, String> {
    let (parts, body) = request.into_parts();
    let is_held = body.size_hint().upper().is_some_and(|most| most <= HELD_BYTES as u64);
    let (held, mut body) = match is_held {
        true => match axum::body::to_bytes(body, HELD_BYTES).await {
            Ok(bytes) => (Some(bytes), None),
            Err(error) => return Ok((StatusCode::BAD_REQUEST, error.to_string()).into_response()),
        },
        false => (None, Some(body)),
    };
    let mut problem = "no node leads at the moment".to_owned();
    let began = Stopwatch::start();
    while began.elapsed() < PATIENCE {
        let Some(leader) = door.leader().await else { break };
        let sent = held.clone().map(|bytes: Bytes| Body::from(bytes)).or_else(|| body.take());
        let Some(sent) = sent else { break };
        let request = Request::from_parts(parts.clone(), sent);
        let node = match leader {
            Leader::Here => return Ok(shortcut::answer(app, router, request).await),
            Leader::There(node) => node,
        };
        match door.forward(&node, request.map(bodies)).await {
            Ok(response) if response.status() == NOT_LEADING => {}
            Ok(response) => return Ok(response.map(Body::new)),
            Err(Unreached { problem: found, may_be_done: false }) => problem = found,
            Err(Unreached { problem, .. }) => {
                return Err(format!(
                    "{problem}; it is not known whether the request was carried out"
                ));
            }
        }
        tokio::time::sleep(PAUSE).await;
    }
    Err(problem)
}

/// Whether something is not only read.
fn is_for_leader(method: &Method, path: &str, headers: &HeaderMap) -> bool {
    if path == dynamodb::ROUTE {
        let target = headers.get("x-amz-target").and_then(|target| target.to_str().ok());
        let operation = target.and_then(|target| target.rsplit_once('.')).map(|(_, name)| name);
        let reads = ["GetItem", "BatchGetItem", "TransactGetItems", "Query", "Scan"];
        return *method == Method::POST && !operation.is_some_and(|name| reads.contains(&name));
    }
    if !path.starts_with("/v1/") {
        return false;
    }
    match *method {
        // Which changes there are, and how far an index is, knows who writes.
        Method::GET => path.ends_with("/changes") || path.contains("/indexes/"),
        Method::HEAD | Method::OPTIONS => false,
        _ => {
            let reads = ["/v1/query", "/v1/explain", "/v1/facets", "/v1/summary", "/v1/keys"];
            let is_get = path.strip_suffix("/get").is_some_and(|table| {
                table.strip_prefix("/v1/tables/").is_some_and(|name| !name.contains('/'))
            });
            !(*method == Method::POST && (reads.contains(&path) || is_get))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_only_reads_is_answered_by_any_node() {
        let none = HeaderMap::new();
        let of = |method: Method, path: &str| is_for_leader(&method, path, &none);
        assert!(!of(Method::GET, "/v1/tables/people/rows/7"));
        assert!(!of(Method::POST, "/v1/query"));
        assert!(!of(Method::POST, "/v1/tables/people/get"));
        assert!(!of(Method::GET, "/assets/index.js"));
        assert!(!of(Method::GET, "/"));
        assert!(of(Method::PUT, "/v1/tables/people/rows/7"));
        assert!(of(Method::PUT, "/v1/tables/people/rows/get"));
        assert!(of(Method::DELETE, "/v1/tables/get"));
        assert!(of(Method::POST, "/v1/tables"));
        assert!(of(Method::GET, "/v1/tables/people/changes"));
        assert!(of(Method::POST, "/"));
        let target = |name: &'static str| {
            let mut headers = HeaderMap::new();
            headers.insert("x-amz-target", name.parse().unwrap());
            is_for_leader(&Method::POST, "/", &headers)
        };
        assert!(!target("DynamoDB_20120810.GetItem"));
        assert!(target("DynamoDB_20120810.PutItem"));
        assert!(target("DynamoDBStreams_20120810.GetRecords"));
    }
}
