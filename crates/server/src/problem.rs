//! Errors as problem documents (RFC 9457).

use std::borrow::Cow;

use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::{Deserialize, Serialize};
use stonecrop::{Error, StoreErrorKind};
use utoipa::ToSchema;

/// What went wrong, as it is sent.
///
/// ```
/// let json = r#"{"type": "…", "title": "No such table", "status": 404, "code": "no-table",
///     "detail": "there is no table \"people\""}"#;
/// let problem: stonecrop_server::ProblemDocument = serde_json::from_str(json)?;
/// assert_eq!(problem.code, "no-table");
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, Default, Serialize, Deserialize, ToSchema)]
pub struct ProblemDocument {
    /// A name for the kind of problem, in the form of an address.
    pub r#type: String,
    /// The kind of problem, in words.
    pub title: String,
    /// The status of the answer.
    #[schema(minimum = 400, maximum = 599)]
    pub status: u16,
    /// The kind of problem, for programs.
    pub code: String,
    /// What was wrong.
    pub detail: String,
    /// Where: a JSON pointer into the body, or the name of a parameter.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// What to do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
    /// The request that it is about, as in the logs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request_id: Option<String>,
}

/// A kind of problem.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Kind {
    pub(crate) status: StatusCode,
    pub(crate) code: &'static str,
    title: &'static str,
    hint: &'static str,
}

macro_rules! kinds {
    ($($name:ident $status:ident $code:literal $title:literal $hint:literal;)*) => {$(
        pub(crate) const $name: Kind =
            Kind { status: StatusCode::$status, code: $code, title: $title, hint: $hint };
    )*};
}

kinds! {
    BAD_JSON BAD_REQUEST "bad-json" "The body is no JSON of the right shape"
        "see /v1/openapi.json for its shape";
    BAD_PARAMETER BAD_REQUEST "bad-parameter" "A parameter is wrong" "";
    BAD_KEY BAD_REQUEST "bad-key" "The key does not fit the table"
        "GET /v1/tables/{table} tells the fields of the key";
    BAD_SCHEMA BAD_REQUEST "bad-schema" "A table can't be like this" "";
    BAD_COLUMN BAD_REQUEST "bad-column" "No name for a column" "";
    COLUMN_TYPE BAD_REQUEST "column-type" "The value is of another type than its column" "";
    BAD_VALUE BAD_REQUEST "bad-value" "The value can't be stored, or not be changed like this" "";
    BAD_INDEX BAD_REQUEST "bad-index" "An index can't be like this" "";
    BAD_QUERY BAD_REQUEST "bad-query" "The query can't be answered" "";
    BAD_CURSOR BAD_REQUEST "bad-cursor" "The cursor can't be used" "begin again without a cursor";
    TOO_MANY BAD_REQUEST "too-many" "Too many at a time" "send them in parts";
    NO_TABLE NOT_FOUND "no-table" "No such table" "GET /v1/tables lists the tables";
    NO_ROW NOT_FOUND "no-row" "No such row" "";
    NO_INDEX NOT_FOUND "no-index" "No such index" "GET /v1/tables/{table} lists its indexes";
    NO_CHANGES CONFLICT "no-changes" "The table keeps no changes"
        "PATCH /v1/tables/{table} with {\"changes\": {\"keep\": \"24h\"}} switches them on";
    CHANGES_LOST GONE "changes-lost" "Changes are not kept any more"
        "read the rows, and then the changes after latest";
    NO_ROUTE NOT_FOUND "no-such-address" "Nothing is at this address"
        "see /v1/openapi.json for what there is";
    NO_METHOD METHOD_NOT_ALLOWED "method-not-allowed" "Not with this method" "";
    TABLE_EXISTS CONFLICT "table-exists" "There is such a table already" "";
    NOT_UNIQUE CONFLICT "not-unique" "Another row has the same values in a unique index" "";
    ALTERED CONFLICT "altered" "The table was altered meanwhile" "try again";
    CONDITION_FAILED PRECONDITION_FAILED "condition-failed" "The condition is not true of the row"
        "read the row, and decide again";
    TOO_LARGE PAYLOAD_TOO_LARGE "too-large" "Too large" "";
    MEDIA_TYPE UNSUPPORTED_MEDIA_TYPE "media-type" "Not this type of body"
        "send the header content-type: application/json";
    UNAUTHENTICATED UNAUTHORIZED "unauthenticated" "A token is needed"
        "send the header authorization: Bearer TOKEN";
    FORBIDDEN_SCOPE FORBIDDEN "forbidden" "The token does not allow this" "";
    CROSS_SITE FORBIDDEN "cross-site" "Requests from other sites are refused" "";
    HOST MISDIRECTED_REQUEST "host" "The server does not answer to this name"
        "use its address or localhost, or start it with tokens";
    INTERRUPTED GATEWAY_TIMEOUT "timeout" "It took too long" "";
    SLOW REQUEST_TIMEOUT "slow-client" "The body did not arrive in time" "";
    BUSY SERVICE_UNAVAILABLE "busy" "Too much at a time" "try again after the time in retry-after";
    CLOSED SERVICE_UNAVAILABLE "closed" "The database is closed" "";
    TAKEN_OVER SERVICE_UNAVAILABLE "taken-over" "Another server has the database now"
        "ask that server";
    STORAGE SERVICE_UNAVAILABLE "storage-unavailable" "The object store does not answer"
        "try again; the server goes on by itself when it is back";
    NO_LEADER SERVICE_UNAVAILABLE "no-leader" "No node of the cluster can do it at the moment"
        "try again; another node takes over within seconds";
    NO_CLUSTER NOT_FOUND "no-cluster" "This server is not one of several"
        "start it with --cluster etcd://host:port";
    READ_ONLY FORBIDDEN "read-only" "This server only reads"
        "write to the server that has the database";
    NO_BACKUPS FORBIDDEN "no-backups" "This server makes no backups"
        "start it with --backups LOCATION, or stop it and copy its folder with stonecrop backup";
    SPANS_SHARDS BAD_REQUEST "spans-shards" "The rows of a transaction are stored apart"
        "give them the same partition key, or write them one by one";
    FULL INSUFFICIENT_STORAGE "full" "The disk is full" "make room; writes go on by themselves";
    CORRUPT INTERNAL_SERVER_ERROR "corrupt" "Stored data is damaged"
        "POST /v1/check finds what disagrees; restore the files from a copy";
    INTERNAL INTERNAL_SERVER_ERROR "internal" "The server failed" "the server's log has more";
}

/// What went wrong with a request.
#[derive(Clone, Debug)]
pub(crate) struct Problem {
    pub(crate) kind: Kind,
    pub(crate) detail: String,
    pub(crate) path: Option<Cow<'static, str>>,
}

pub(crate) type Result<T, E = Problem> = std::result::Result<T, E>;

impl Problem {
    pub(crate) fn new(kind: Kind, detail: impl Into<String>) -> Self {
        Problem { kind, detail: detail.into(), path: None }
    }

    pub(crate) fn at(mut self, path: impl Into<Cow<'static, str>>) -> Self {
        self.path = Some(path.into());
        self
    }

    /// As it is sent.
    pub(crate) fn document(&self, request_id: Option<&str>) -> ProblemDocument {
        let Kind { status, code, title, hint } = self.kind;
        ProblemDocument {
            r#type: format!("https://stonecrop.dev/problems/{code}"),
            title: title.to_owned(),
            status: status.as_u16(),
            code: code.to_owned(),
            detail: self.detail.clone(),
            path: self.path.as_deref().map(str::to_owned),
            hint: Some(hint).filter(|hint| !hint.is_empty()).map(str::to_owned),
            request_id: request_id.map(str::to_owned),
        }
    }

    /// The answer, which [`crate::guard`] gives its body.
    pub(crate) fn with_body(&self, request_id: Option<&str>) -> Response {
        let body = serde_json::to_vec(&self.document(request_id)).unwrap_or_default();
        let mut response = (self.kind.status, body).into_response();
        let headers = response.headers_mut();
        let json = HeaderValue::from_static("application/problem+json");
        headers.insert(header::CONTENT_TYPE, json);
        match self.kind.code {
            "busy" | "closed" | "taken-over" | "storage-unavailable" => {
                headers.insert(header::RETRY_AFTER, HeaderValue::from_static("1"));
            }
            "unauthenticated" => {
                let bearer = HeaderValue::from_static("Bearer");
                headers.insert(header::WWW_AUTHENTICATE, bearer);
            }
            _ => {}
        }
        response
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let mut response = self.kind.status.into_response();
        response.extensions_mut().insert(self);
        response
    }
}

impl From<Error> for Problem {
    fn from(error: Error) -> Self {
        let path = path_of(&error).map(Cow::Owned);
        Problem { kind: kind_of(&error), detail: error.to_string(), path }
    }
}

fn path_of(error: &Error) -> Option<String> {
    match error {
        Error::ConditionFailed { write }
        | Error::NotUnique { write, .. }
        | Error::SpansShards { write } => Some(format!("/writes/{write}")),
        Error::Write { write, cause } => {
            Some(format!("/writes/{write}{}", path_of(cause).unwrap_or_default()))
        }
        Error::Key { .. } => Some("/key".to_owned()),
        Error::Column { column, .. }
        | Error::ColumnType { column, .. }
        | Error::Value { column, .. } => Some(format!("/set/{}", pointer_token(column))),
        _ => None,
    }
}

fn kind_of(error: &Error) -> Kind {
    match error {
        Error::NoTable { .. } => NO_TABLE,
        Error::TableExists { .. } => TABLE_EXISTS,
        Error::Schema { .. } => BAD_SCHEMA,
        Error::Key { .. } => BAD_KEY,
        Error::Column { .. } => BAD_COLUMN,
        Error::ColumnType { .. } => COLUMN_TYPE,
        Error::Value { .. } => BAD_VALUE,
        Error::TooLarge { .. } => TOO_LARGE,
        Error::ConditionFailed { .. } | Error::Refused { .. } => CONDITION_FAILED,
        Error::Write { cause, .. } | Error::Load { cause, .. } => kind_of(cause),
        Error::Index { .. } => BAD_INDEX,
        Error::NotUnique { .. } => NOT_UNIQUE,
        Error::Path { .. } | Error::Scan { .. } | Error::Query { .. } => BAD_QUERY,
        Error::Time { .. } => BAD_PARAMETER,
        Error::NoChanges { .. } => NO_CHANGES,
        Error::ChangesLost { .. } => CHANGES_LOST,
        Error::Interrupted { .. } => INTERRUPTED,
        Error::Cursor { .. } => BAD_CURSOR,
        Error::SpansShards { .. } => SPANS_SHARDS,
        Error::Busy => BUSY,
        Error::Altered => ALTERED,
        Error::Closed => CLOSED,
        Error::Corrupt { .. } => CORRUPT,
        Error::Store(cause) => store_kind(cause.kind()),
        Error::Commit(cause) => store_kind(cause.kind()),
        _ => INTERNAL,
    }
}

fn store_kind(kind: StoreErrorKind) -> Kind {
    match kind {
        StoreErrorKind::Full => FULL,
        StoreErrorKind::Corrupt => CORRUPT,
        StoreErrorKind::Closed => CLOSED,
        StoreErrorKind::Fenced => TAKEN_OVER,
        StoreErrorKind::Unavailable => STORAGE,
        StoreErrorKind::ReadOnly => READ_ONLY,
        _ => INTERNAL,
    }
}

/// A name as a part of a JSON pointer.
pub(crate) fn pointer_token(name: &str) -> String {
    name.replace('~', "~0").replace('/', "~1")
}
