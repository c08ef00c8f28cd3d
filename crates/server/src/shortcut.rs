//! What is asked for most, answered without the router: finding the way and going through its layers
//! takes as long as reading a row. What the layers do is done here as well, by the same functions.

use std::panic::AssertUnwindSafe;

use axum::Router;
use axum::extract::{Request, State};
use axum::http::header::{ACCEPT_ENCODING, VARY};
use axum::http::{HeaderValue, Method, StatusCode};
use axum::response::{IntoResponse, Response};
use futures_util::FutureExt as _;
use tower::ServiceExt as _;

use crate::app::App;
use crate::{dynamodb, guard, panicked, v1};

/// Answers a request as the router does.
pub(crate) async fn answer(app: &App, router: &Router, request: Request) -> Response {
    if *request.method() == Method::POST && request.uri().path() == dynamodb::ROUTE {
        let next = |request| caught(dynamodb::answer(State(app.clone()), request));
        return guard::watched(app, Some(dynamodb::ROUTE), request, next).await;
    }
    if row(&request).is_some() {
        let next = |request| {
            caught(async move {
                // To find it twice is cheaper than to hold the address beside the request.
                match row(&request) {
                    Some((table, key)) => v1::row(app, table, key).await.into_response(),
                    None => StatusCode::NOT_FOUND.into_response(),
                }
            })
        };
        let mut response = guard::watched(app, Some(v1::ROW), request, next).await;
        response.headers_mut().insert(VARY, HeaderValue::from_static("accept-encoding"));
        return response;
    }
    let Ok(response) = router.clone().oneshot(request).await;
    response
}

/// The table and the key of a row that is asked for as simply as can be: nothing is escaped, no part
/// of it is chosen, and it is not to be compressed.
fn row<B>(request: &axum::http::Request<B>) -> Option<(&str, &str)> {
    let is_compressed = request.headers().contains_key(ACCEPT_ENCODING);
    if *request.method() != Method::GET || request.uri().query().is_some() || is_compressed {
        return None;
    }
    let (table, key) = request.uri().path().strip_prefix("/v1/tables/")?.split_once("/rows/")?;
    let is_plain = |part: &str| !part.is_empty() && !part.contains(['/', '%']);
    (is_plain(table) && is_plain(key)).then_some((table, key))
}

async fn caught(answer: impl Future<Output = Response>) -> Response {
    AssertUnwindSafe(answer).catch_unwind().await.unwrap_or_else(panicked)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_plain_get_of_a_row_needs_no_router() {
        let of = |method: Method, uri: &'static str| {
            let request = axum::http::Request::builder().method(method).uri(uri).body(());
            row(&request.unwrap()).is_some()
        };
        assert!(of(Method::GET, "/v1/tables/people/rows/7"));
        assert!(of(Method::GET, "http://localhost/v1/tables/people/rows/a,b"));
        assert!(!of(Method::HEAD, "/v1/tables/people/rows/7"));
        for uri in [
            "/v1/tables/people/rows/",
            "/v1/tables//rows/7",
            "/v1/tables/people/rows/7/history",
            "/v1/tables/people/rows/a%20b",
            "/v1/tables/people/rows/7?columns=name",
            "/v1/tables/people",
            "/",
        ] {
            assert!(!of(Method::GET, uri), "{uri}");
        }
    }
}
