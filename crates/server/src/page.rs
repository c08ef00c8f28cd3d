//! The grid: files that are built from web/ and put into the program.

use axum::http::header::{
    CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, ETAG, IF_NONE_MATCH, REFERRER_POLICY,
    X_CONTENT_TYPE_OPTIONS, X_FRAME_OPTIONS,
};
use axum::http::{HeaderMap, HeaderValue, StatusCode, Uri};
use axum::response::{Html, IntoResponse, Response};

use crate::problem::{NO_ROUTE, Problem};

#[derive(rust_embed::Embed)]
#[folder = "../../web/dist"]
#[allow_missing = true]
struct Files;

/// Only what the server itself sends is run or shown.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' \
                      data:; font-src 'self' data:; connect-src 'self'; base-uri 'none'; \
                      form-action 'none'; frame-ancestors 'none'";
/// Names of files under it have a hash of their content.
const HASHED: &str = "assets/";
const NOT_BUILT: &str = "<!doctype html><title>Stonecrop</title><p>The server runs; its grid was \
                         not built into it. Run <code>make web</code>, build again, and reload.";

/// The file at an address; everything that is no file is the page itself.
pub(crate) async fn serve(uri: Uri, headers: HeaderMap) -> Response {
    // One slash: what has more is another address, and none of ours.
    let path = uri.path().strip_prefix('/').unwrap_or_default();
    if path == "v1" || path.starts_with("v1/") || path.starts_with("health/") {
        let problem = format!("nothing is at {}", uri.path());
        return Problem::new(NO_ROUTE, problem).into_response();
    }
    let path = if path.is_empty() { "index.html" } else { path };
    let mut response = match Files::get(path) {
        Some(file) => send(path, &file, &headers),
        None if path == "index.html" => Html(NOT_BUILT).into_response(),
        None => {
            let problem = format!("nothing is at {}", uri.path());
            return Problem::new(NO_ROUTE, problem).into_response();
        }
    };
    let headers = response.headers_mut();
    headers.insert(CONTENT_SECURITY_POLICY, HeaderValue::from_static(POLICY));
    headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    headers.insert(X_FRAME_OPTIONS, HeaderValue::from_static("DENY"));
    headers.insert(REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
    response
}

fn send(path: &str, file: &rust_embed::EmbeddedFile, headers: &HeaderMap) -> Response {
    let hash = file.metadata.sha256_hash();
    let tag: String = hash.iter().take(16).map(|byte| format!("{byte:02x}")).collect();
    let tag = format!("\"{tag}\"");
    let caching = match path.starts_with(HASHED) {
        true => "public, max-age=31536000, immutable",
        false => "no-cache",
    };
    let of_file = [
        (CONTENT_TYPE, file.metadata.mimetype().to_owned()),
        (CACHE_CONTROL, caching.to_owned()),
        (ETAG, tag.clone()),
    ];
    if headers.get(IF_NONE_MATCH).is_some_and(|known| known.as_bytes() == tag.as_bytes()) {
        return (StatusCode::NOT_MODIFIED, of_file).into_response();
    }
    (of_file, file.data.clone().into_owned()).into_response()
}
