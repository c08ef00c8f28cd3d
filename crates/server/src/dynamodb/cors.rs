//! Pages of other sites: whether they may ask, and what their browsers are told.

use axum::http::header::{
    ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS, ACCESS_CONTROL_ALLOW_ORIGIN,
    ACCESS_CONTROL_EXPOSE_HEADERS, ACCESS_CONTROL_MAX_AGE, VARY,
};
use axum::http::{HeaderMap, HeaderValue, StatusCode};
use axum::response::IntoResponse;

use crate::app::App;

const ANY: &str = "*";
/// What AWS's clients send from a browser.
const SENT: &str = "authorization, content-type, content-encoding, x-amz-target, x-amz-date, \
                    x-amz-content-sha256, x-amz-security-token, x-amz-user-agent, \
                    x-amz-api-version, amz-sdk-invocation-id, amz-sdk-request";
/// What they read of an answer.
const READ: &str = "x-amzn-requestid, x-amz-crc32, x-request-id, date";
/// For how many seconds a browser need not ask again whether it may ask.
const REMEMBERED: &str = "172800";

/// Whether pages of this origin may ask.
pub(crate) fn may_ask(app: &App, origin: &HeaderValue) -> bool {
    let origins = &app.config.cors_origins;
    match origins.is_empty() {
        // The page must know a secret.
        true => app.config.asks_who(),
        false => origins.iter().any(|known| known == ANY || known.as_str() == origin),
    }
}

/// Tells the browser whether the page may see the answer.
pub(crate) fn tell(app: &App, origin: &HeaderValue, headers: &mut HeaderMap) {
    let origins = &app.config.cors_origins;
    let is_any = origins.is_empty() || origins.iter().any(|known| known == ANY);
    if !is_any {
        headers.append(VARY, HeaderValue::from_static("origin"));
    }
    if !may_ask(app, origin) {
        return;
    }
    let allowed = if is_any { HeaderValue::from_static(ANY) } else { origin.clone() };
    headers.insert(ACCESS_CONTROL_ALLOW_ORIGIN, allowed);
    headers.insert(ACCESS_CONTROL_EXPOSE_HEADERS, HeaderValue::from_static(READ));
}

/// Answers a browser that asks what the page may send. Whether it may is told by [`tell`].
pub(crate) async fn preflight() -> impl IntoResponse {
    let told = [
        (ACCESS_CONTROL_ALLOW_METHODS, "POST"),
        (ACCESS_CONTROL_ALLOW_HEADERS, SENT),
        (ACCESS_CONTROL_MAX_AGE, REMEMBERED),
    ];
    (StatusCode::OK, told)
}
