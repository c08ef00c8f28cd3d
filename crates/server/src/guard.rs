//! What every request goes through: an id, who may do what, a turn, and a line in the log.

use std::sync::LazyLock;
use std::sync::atomic::{AtomicU64, Ordering};

use axum::extract::{MatchedPath, Request, State};
use axum::http::header::{AUTHORIZATION, CACHE_CONTROL, HOST, ORIGIN};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, Uri};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

use crate::app::App;
use crate::auth::Scope;
use crate::dynamodb;
use crate::problem::{
    CROSS_SITE, FORBIDDEN_SCOPE, HOST as WRONG_HOST, Problem, Result, UNAUTHENTICATED,
};
use crate::v1;
use crate::watch::Stopwatch;

const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");
/// How long an id of a client's own may be.
const MOST_ID_BYTES: usize = 128;

/// Routes that everybody may ask for, whatever else is asked for at the time.
const OPEN: [&str; 3] = ["/v1/openapi.json", "/health/live", "/health/ready"];

/// [`watched`], for what the router has found the way for.
pub(crate) async fn guard(State(app): State<App>, request: Request, next: Next) -> Response {
    let route = request.extensions().get::<MatchedPath>().cloned();
    let route = route.as_ref().map(MatchedPath::as_str);
    watched(&app, route, request, |request| next.run(request)).await
}

/// Gives the request an id, lets it through to `next` if it may, counts and logs it, and gives
/// problems their body.
pub(crate) async fn watched<N: Future<Output = Response>>(
    app: &App,
    route: Option<&str>,
    request: Request,
    next: impl FnOnce(Request) -> N,
) -> Response {
    let began = Stopwatch::start();
    let id = request_id(request.headers());
    let method = method_name(request.method());
    app.metrics.in_flight.inc();
    let is_dynamodb = route == Some(dynamodb::ROUTE);
    let is_page = is_dynamodb && matches!(method, "GET" | "HEAD");
    let origin = request.headers().get(ORIGIN).filter(|_| is_dynamodb && !is_page).cloned();
    let mut response = match route {
        Some(route) if !is_page && !OPEN.contains(&route) => {
            guarded(app, route, request, next).await
        }
        // The files of the grid have no route.
        _ => next(request).await,
    };
    app.metrics.in_flight.dec();
    let route = route.unwrap_or("other");
    let problem = response.extensions_mut().remove::<Problem>();
    if let Some(problem) = &problem {
        let mut with_body = match is_dynamodb && method == "POST" {
            true => dynamodb::of_problem(problem),
            false => problem.with_body(id.to_str().ok()),
        };
        with_body.headers_mut().extend(response.headers().clone().into_iter().filter_map(
            // Its body is another now.
            |(name, value)| name.filter(|name| name == "allow").map(|name| (name, value)),
        ));
        response = with_body;
    }
    let (status, took) = (response.status().as_u16(), began.elapsed());
    app.metrics.count(method, route, status, took);
    let id_text = id.to_str().unwrap_or_default();
    let micros = took.as_micros() as u64;
    match problem {
        Some(Problem { detail, kind, .. }) if status >= 500 => {
            tracing::error!(id = id_text, method, route, status, micros, code = kind.code, detail);
        }
        Some(Problem { detail, kind, .. }) => {
            tracing::info!(id = id_text, method, route, status, micros, code = kind.code, detail);
        }
        None => tracing::info!(id = id_text, method, route, status, micros),
    }
    response.headers_mut().insert(REQUEST_ID, id);
    if let Some(origin) = origin {
        dynamodb::cors::tell(app, &origin, response.headers_mut());
    }
    response
}

/// The id that the client gave, or a new one.
fn request_id(headers: &HeaderMap) -> HeaderValue {
    let given = headers.get(&REQUEST_ID).filter(|id| {
        let is_short = (1..=MOST_ID_BYTES).contains(&id.len());
        is_short && id.as_bytes().iter().all(|byte| byte.is_ascii_graphic())
    });
    given.cloned().unwrap_or_else(|| {
        // Two servers, or the same started twice, give different ones; asking the system for
        // randomness for each would take as long as reading a row.
        static START: LazyLock<u64> = LazyLock::new(|| uuid::Uuid::now_v7().as_u64_pair().0);
        static COUNT: AtomicU64 = AtomicU64::new(1);
        let id = uuid::Uuid::from_u64_pair(*START, COUNT.fetch_add(1, Ordering::Relaxed));
        let mut text = [0; uuid::fmt::Simple::LENGTH];
        let text = id.simple().encode_lower(&mut text);
        HeaderValue::from_str(text).unwrap_or_else(|_| HeaderValue::from_static("-"))
    })
}

/// A name that is one of few, whatever a client sends.
fn method_name(method: &Method) -> &'static str {
    match *method {
        Method::GET => "GET",
        Method::HEAD => "HEAD",
        Method::POST => "POST",
        Method::PUT => "PUT",
        Method::PATCH => "PATCH",
        Method::DELETE => "DELETE",
        Method::OPTIONS => "OPTIONS",
        _ => "other",
    }
}

/// Lets those through who may do what they ask for, when it is their turn.
async fn guarded<N: Future<Output = Response>>(
    app: &App,
    route: &str,
    mut request: Request,
    next: impl FnOnce(Request) -> N,
) -> Response {
    let scope = match allowed(app, route, &request) {
        Ok(scope) => scope,
        Err(problem) => return problem.into_response(),
    };
    let turn = match app.turn().await {
        Ok(turn) => turn,
        Err(problem) => return problem.into_response(),
    };
    request.extensions_mut().insert(scope);
    let mut response = next(request).await;
    drop(turn);
    response.headers_mut().insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}

fn allowed(app: &App, route: &str, request: &Request) -> Result<Scope> {
    let headers = request.headers();
    check_site(app, request, route)?;
    if !app.config.asks_who() {
        return Ok(Scope::Admin);
    }
    if route == dynamodb::ROUTE {
        // It finds out itself: a signature is also one of the body.
        return Ok(Scope::Read);
    }
    let Some(tokens) = &app.config.tokens else {
        let problem = "this server has access keys, which are for DynamoDB's protocol, and no \
                       tokens: --token-file gives it some";
        return Err(Problem::new(UNAUTHENTICATED, problem));
    };
    let Some(token) = bearer(headers) else {
        return Err(Problem::new(UNAUTHENTICATED, "this server asks for a token"));
    };
    let Some(scope) = tokens.scope_of(token) else {
        return Err(Problem::new(UNAUTHENTICATED, "the token is not known"));
    };
    let needed = v1::needed_scope(request.method(), route);
    if scope < needed {
        let problem = format!("the token allows to {scope}, and this needs {needed}");
        return Err(Problem::new(FORBIDDEN_SCOPE, problem));
    }
    Ok(scope)
}

/// The token that a request has.
pub(crate) fn bearer(headers: &HeaderMap) -> Option<&str> {
    let (kind, token) = headers.get(AUTHORIZATION)?.to_str().ok()?.split_once(' ')?;
    kind.eq_ignore_ascii_case("bearer").then(|| token.trim())
}

/// The name that the client knows the server by.
pub(crate) fn host<'a>(headers: &'a HeaderMap, uri: &'a Uri) -> &'a str {
    // HTTP/2 has it in the address.
    let authority = uri.authority().map(|authority| authority.as_str());
    let host = headers.get(HOST).and_then(|value| value.to_str().ok());
    host.or(authority).unwrap_or_default()
}

/// Refuses what a page of another site makes a browser send.
fn check_site(app: &App, request: &Request, route: &str) -> Result<()> {
    let headers = request.headers();
    let text = |name: HeaderName| headers.get(name).and_then(|value| value.to_str().ok());
    let host = host(headers, request.uri());
    if !app.config.asks_who() && !app.config.any_host && !is_local_name(host) {
        return Err(Problem::new(WRONG_HOST, format!("{host:?} is none of the server's names")));
    }
    let is_dynamodb = route == dynamodb::ROUTE;
    let only_looks = matches!(*request.method(), Method::GET | Method::HEAD)
        || *request.method() == Method::OPTIONS && !is_dynamodb;
    if only_looks {
        return Ok(());
    }
    if is_dynamodb && headers.get(ORIGIN).is_some_and(|origin| dynamodb::cors::may_ask(app, origin))
    {
        return Ok(());
    }
    let fetch_site = text(HeaderName::from_static("sec-fetch-site"));
    let is_elsewhere = text(ORIGIN).is_some_and(|origin| {
        let origin = origin.split_once("://").map_or(origin, |(_, host)| host);
        origin != host
    });
    if is_elsewhere || matches!(fetch_site, Some("cross-site" | "same-site")) {
        return Err(Problem::new(
            CROSS_SITE,
            match (is_dynamodb, text(ORIGIN)) {
                (true, Some(origin)) => format!(
                    "a page of {origin} sent this: --cors-origin {origin} lets the pages of that site ask"
                ),
                _ => "a page of another site sent this".to_owned(),
            },
        ));
    }
    Ok(())
}

/// Whether a page of another site can't have made this name up: it is an address, or localhost.
fn is_local_name(host: &str) -> bool {
    let name = match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => name,
        _ => host,
    };
    let bare = name.trim_start_matches('[').trim_end_matches(']');
    name.is_empty()
        || name.eq_ignore_ascii_case("localhost")
        || bare.parse::<std::net::IpAddr>().is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_addresses_and_localhost_are_local_names() {
        for name in ["localhost", "LOCALHOST:8321", "127.0.0.1:1", "[::1]:8321", "10.0.0.7", ""] {
            assert!(is_local_name(name), "{name}");
        }
        for name in ["example.com", "localhost.example.com:80", "127.0.0.1.example.com", "a:b"] {
            assert!(!is_local_name(name), "{name}");
        }
    }

    #[test]
    fn an_id_of_the_client_is_kept_if_it_is_one() {
        let id = |text: &'static str| {
            let mut headers = HeaderMap::new();
            headers.insert(REQUEST_ID, HeaderValue::from_static(text));
            request_id(&headers)
        };
        assert_eq!(id("abc-1"), "abc-1");
        assert_ne!(id("a b"), "a b");
        assert_eq!(request_id(&HeaderMap::new()).len(), 32);
    }
}
