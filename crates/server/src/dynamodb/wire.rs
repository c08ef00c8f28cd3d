//! Requests and answers as bytes: content types, compression, checksums, ids.

use std::io::{Read as _, Write as _};
use std::sync::LazyLock;
use std::sync::atomic::{AtomicU64, Ordering};

use axum::body::Body;
use axum::http::header::{
    ACCEPT_ENCODING, CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_TYPE, HeaderName,
};
use axum::http::{HeaderMap, HeaderValue, StatusCode};
use axum::response::Response;
use bytes::Bytes;
use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;
use serde::Serialize;
use serde_json::Value as Json;

use super::refusal::{Refusal, Result};
use crate::app::App;

/// Has the checksum of the bytes that are sent; they must not be changed after it was made.
pub(crate) const CHECKSUM: HeaderName = HeaderName::from_static("x-amz-crc32");
const REQUEST_ID: HeaderName = HeaderName::from_static("x-amzn-requestid");
/// Shorter answers are sent as they are: compressing them takes longer than sending them.
const SHORTEST_COMPRESSED: usize = 1024;
/// Answers with one item of some size are shorter.
const USUAL_BYTES: usize = 2048;

/// The body of an answer.
pub(super) struct Answer(Vec<u8>);

impl Answer {
    pub(super) fn new(told: &impl Serialize) -> Self {
        Self::with_room(USUAL_BYTES, told)
    }

    /// One of which is known how many bytes it may take.
    pub(super) fn with_room(bytes: usize, told: &impl Serialize) -> Self {
        let mut body = Vec::with_capacity(bytes);
        // Names are text, and nothing that is told refuses to be.
        let _ = serde_json::to_writer(&mut body, told);
        Answer(body)
    }
}

impl From<Json> for Answer {
    fn from(json: Json) -> Self {
        Answer::new(&json)
    }
}

/// The content type of the answer; none where the request's is none that the service knows. One
/// without a body needs none.
pub(super) fn content_type(headers: &HeaderMap) -> Option<&'static str> {
    let Some(given) = headers.get(CONTENT_TYPE) else {
        let length = headers.get(CONTENT_LENGTH);
        return length.is_none_or(|length| length == "0").then_some("application/json");
    };
    let given = given.to_str().ok()?;
    let given = given.split(';').next().unwrap_or_default().trim();
    ["application/x-amz-json-1.0", "application/x-amz-json-1.1", "application/json"]
        .into_iter()
        .find(|known| given.eq_ignore_ascii_case(known))
}

/// The body, unpacked.
pub(super) fn unpack(app: &App, headers: &HeaderMap, packed: Bytes) -> Result<Bytes> {
    let encoding = headers.get(CONTENT_ENCODING).and_then(|value| value.to_str().ok());
    match encoding.map(str::trim) {
        None | Some("" | "identity") => Ok(packed),
        Some("gzip") => {
            let limit = app.config.limits.body_bytes;
            let mut body = Vec::new();
            let mut unpack = GzDecoder::new(&*packed).take(limit as u64 + 1);
            let broken = |error: std::io::Error| Refusal::serialization(error.to_string());
            unpack.read_to_end(&mut body).map_err(broken)?;
            if body.len() > limit {
                let message = format!("the body has more than {limit} bytes when it is unpacked");
                let refusal = Refusal::new("RequestEntityTooLargeException", message);
                return Err(Refusal { status: StatusCode::PAYLOAD_TOO_LARGE, ..refusal });
            }
            Ok(body.into())
        }
        Some(other) => Err(Refusal::serialization(format!("the encoding {other:?} is not known"))),
    }
}

/// The answer to a request with these headers.
pub(super) fn response(
    headers: &HeaderMap,
    kind: &'static str,
    answer: Result<Answer>,
) -> Response {
    match answer {
        Ok(Answer(body)) => bytes_response(headers, kind, StatusCode::OK, body),
        Err(refusal) => {
            bytes_response(headers, kind, refusal.status, refusal.body().to_string().into())
        }
    }
}

fn bytes_response(
    headers: &HeaderMap,
    kind: &'static str,
    status: StatusCode,
    mut body: Vec<u8>,
) -> Response {
    let packed =
        (body.len() >= SHORTEST_COMPRESSED && takes_gzip(headers)).then(|| pack(&body)).flatten();
    let is_packed = packed.is_some();
    body = packed.unwrap_or(body);
    let checksum = crc32fast::hash(&body);
    let length = body.len();
    let mut response = Response::new(Body::from(body));
    *response.status_mut() = status;
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(kind));
    headers.insert(CONTENT_LENGTH, length.into());
    headers.insert(CHECKSUM, checksum.into());
    headers.insert(REQUEST_ID, request_id());
    if is_packed {
        headers.insert(CONTENT_ENCODING, HeaderValue::from_static("gzip"));
    }
    response
}

/// Whether the client said that it takes gzip, and not that it takes it with a weight of zero.
fn takes_gzip(headers: &HeaderMap) -> bool {
    let accepted = headers.get(ACCEPT_ENCODING).and_then(|value| value.to_str().ok());
    accepted.unwrap_or_default().split(',').any(|coding| {
        let mut parts = coding.split(';').map(str::trim);
        let is_gzip = parts.next().is_some_and(|name| name.eq_ignore_ascii_case("gzip"));
        let weight = parts.find_map(|part| part.strip_prefix("q="));
        is_gzip && weight.is_none_or(|weight| weight.parse().is_ok_and(|weight: f32| weight > 0.0))
    })
}

fn pack(body: &[u8]) -> Option<Vec<u8>> {
    let mut packer = GzEncoder::new(Vec::new(), Compression::fast());
    packer.write_all(body).ok()?;
    packer.finish().ok()
}

/// The service's words for what is no request of its at all.
pub(super) fn not_understood() -> Response {
    let mut response = Response::new(Body::from("<UnknownOperationException/>\n"));
    *response.status_mut() = StatusCode::NOT_FOUND;
    response.headers_mut().insert(REQUEST_ID, request_id());
    response
}

/// How many digits to the base of 32 the half of an id has.
const DIGITS: usize = 26;

/// 52 characters: one half is that of the server's start, the other is counted.
fn request_id() -> HeaderValue {
    static START: LazyLock<[u8; DIGITS]> = LazyLock::new(|| digits(uuid::Uuid::new_v4().as_u128()));
    static COUNT: AtomicU64 = AtomicU64::new(1);
    let count = digits(u128::from(COUNT.fetch_add(1, Ordering::Relaxed)));
    let mut text = [0; 2 * DIGITS];
    let (start, counted) = text.split_at_mut(DIGITS);
    start.copy_from_slice(&*START);
    counted.copy_from_slice(&count);
    HeaderValue::from_bytes(&text).unwrap_or_else(|_| HeaderValue::from_static("-"))
}

fn digits(mut number: u128) -> [u8; DIGITS] {
    let mut digits = [b'0'; DIGITS];
    for digit in digits.iter_mut().rev() {
        let value = (number & 31) as u8;
        *digit = if value < 10 { b'0' + value } else { b'A' + value - 10 };
        number >>= 5;
        if number == 0 {
            break;
        }
    }
    digits
}
