//! Bodies of requests: read within limits, and errors that say where.

use axum::body::Body;
use axum::extract::{FromRequest, Request};
use axum::http::header::CONTENT_TYPE;
use bytes::{Bytes, BytesMut};
use futures_util::StreamExt as _;
use serde::de::DeserializeOwned;

use crate::app::App;
use crate::problem::{
    BAD_JSON, BAD_PARAMETER, MEDIA_TYPE, Problem, Result, SLOW, TOO_LARGE, pointer_token,
};

/// A body of JSON.
pub(crate) struct Json<T>(pub(crate) T);

impl<T: DeserializeOwned> FromRequest<App> for Json<T> {
    type Rejection = Problem;

    async fn from_request(request: Request, app: &App) -> Result<Self> {
        let content_type = request.headers().get(CONTENT_TYPE);
        let is_json = content_type.and_then(|value| value.to_str().ok()).is_some_and(|value| {
            let essence = value.split(';').next().unwrap_or_default().trim();
            essence.eq_ignore_ascii_case("application/json")
        });
        if !is_json {
            return Err(Problem::new(MEDIA_TYPE, "the body must be application/json"));
        }
        let body = read(app, request.into_body()).await?;
        // Serde would take a list of its fields for an object as well.
        if body.trim_ascii_start().starts_with(b"[") {
            return Err(Problem::new(BAD_JSON, "the body must be an object, and is a list"));
        }
        parse(&body).map(Json)
    }
}

/// A body of JSON, or none at all, which stands for what is usual.
pub(crate) struct OptionalJson<T>(pub(crate) T);

impl<T: DeserializeOwned + Default> FromRequest<App> for OptionalJson<T> {
    type Rejection = Problem;

    async fn from_request(request: Request, app: &App) -> Result<Self> {
        if request.headers().contains_key(CONTENT_TYPE) {
            let Json(body) = Json::<Option<T>>::from_request(request, app).await?;
            return Ok(OptionalJson(body.unwrap_or_default()));
        }
        match read(app, request.into_body()).await?.is_empty() {
            true => Ok(OptionalJson(T::default())),
            false => Err(Problem::new(MEDIA_TYPE, "the body must be application/json")),
        }
    }
}

/// Parameters after the question mark.
pub(crate) struct Parameters<T>(pub(crate) T);

impl<T: DeserializeOwned, S: Sync> axum::extract::FromRequestParts<S> for Parameters<T> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut axum::http::request::Parts, _: &S) -> Result<Self> {
        let parameters = axum::extract::Query::<T>::try_from_uri(&parts.uri);
        let wrong = |error: axum::extract::rejection::QueryRejection| {
            Problem::new(BAD_PARAMETER, error.body_text())
        };
        parameters.map(|axum::extract::Query(parameters)| Parameters(parameters)).map_err(wrong)
    }
}

/// The whole body.
pub(crate) async fn read(app: &App, body: Body) -> Result<Bytes> {
    let limits = &app.config.limits;
    let limit = limits.body_bytes;
    let too_large = || {
        Problem::new(
            TOO_LARGE,
            format!("the body has more than {limit} bytes, the most there may be"),
        )
    };
    if http_body_size(&body).is_some_and(|size| size > limit as u64) {
        return Err(too_large());
    }
    let reading = async {
        let mut stream = body.into_data_stream();
        let mut all = BytesMut::new();
        let mut first: Option<Bytes> = None;
        while let Some(chunk) = stream.next().await {
            let chunk = chunk.map_err(|error| {
                Problem::new(BAD_JSON, format!("the body ended before its time: {error}"))
            })?;
            let size = all.len() + first.as_ref().map_or(0, Bytes::len) + chunk.len();
            if size > limit {
                return Err(too_large());
            }
            // Most bodies arrive in one piece, which need not be copied.
            match first.take() {
                None if all.is_empty() => first = Some(chunk),
                None => all.extend_from_slice(&chunk),
                Some(before) => {
                    all.extend_from_slice(&before);
                    all.extend_from_slice(&chunk);
                }
            }
        }
        Ok(first.unwrap_or_else(|| all.freeze()))
    };
    match tokio::time::timeout(limits.idle_time, reading).await {
        Ok(read) => read,
        Err(_) => Err(Problem::new(
            SLOW,
            format!("the body was not there after {} s", limits.idle_time.as_secs()),
        )),
    }
}

fn http_body_size(body: &Body) -> Option<u64> {
    use hyper::body::Body as _;
    Some(body.size_hint().lower())
}

/// JSON of the right shape; otherwise says where it is not.
pub(crate) fn parse<T: DeserializeOwned>(json: &[u8]) -> Result<T> {
    let error = match serde_json::from_slice(json) {
        Ok(parsed) => return Ok(parsed),
        Err(error) => error,
    };
    let path = match error.is_data() {
        true => path_of_fault::<T>(json),
        false => None,
    };
    let problem = Problem::new(BAD_JSON, error.to_string());
    Err(match path {
        Some(path) => problem.at(path),
        None => problem,
    })
}

/// Reads it once more, looking where the fault is.
fn path_of_fault<T: DeserializeOwned>(json: &[u8]) -> Option<String> {
    use serde_path_to_error::Segment;
    let mut reader = serde_json::Deserializer::from_slice(json);
    let error = serde_path_to_error::deserialize::<_, T>(&mut reader).err()?;
    let mut path = String::new();
    for segment in error.path() {
        match segment {
            Segment::Seq { index } => path.push_str(&format!("/{index}")),
            Segment::Map { key } => path.push_str(&format!("/{}", pointer_token(key))),
            Segment::Enum { variant } => path.push_str(&format!("/{}", pointer_token(variant))),
            Segment::Unknown => break,
        }
    }
    Some(path)
}
