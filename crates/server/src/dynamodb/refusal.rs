//! What the service answers with when it refuses a request.

use axum::http::StatusCode;
use serde_json::{Map, Value as Json};

use crate::problem::Problem;

/// An exception of the service: its name, its message, and what else it tells.
#[derive(Clone, Debug)]
pub(super) struct Refusal {
    pub(super) status: StatusCode,
    pub(super) kind: &'static str,
    pub(super) message: String,
    /// Further fields, as the item that a condition was not true of.
    pub(super) more: Map<String, Json>,
}

pub(super) type Result<T, E = Refusal> = std::result::Result<T, E>;

/// Exceptions that are not of this service alone.
const OF_EVERY_SERVICE: [&str; 8] = [
    "SerializationException",
    "UnknownOperationException",
    "MissingAuthenticationTokenException",
    "IncompleteSignatureException",
    "InvalidSignatureException",
    "UnrecognizedClientException",
    "AccessDeniedException",
    "RequestEntityTooLargeException",
];

impl Refusal {
    pub(super) fn new(kind: &'static str, message: impl Into<String>) -> Self {
        let status = StatusCode::BAD_REQUEST;
        Refusal { status, kind, message: message.into(), more: Map::new() }
    }

    pub(super) fn validation(message: impl Into<String>) -> Self {
        Refusal::new("ValidationException", message)
    }

    /// A rule of the parameters, with the words that most of these begin with.
    pub(super) fn invalid(message: impl AsRef<str>) -> Self {
        let message = message.as_ref();
        Refusal::validation(format!("One or more parameter values were invalid: {message}"))
    }

    pub(super) fn serialization(message: impl Into<String>) -> Self {
        Refusal::new("SerializationException", message)
    }

    pub(super) fn unknown_operation() -> Self {
        Refusal::new("UnknownOperationException", "")
    }

    /// As reads and writes of items say it.
    pub(super) fn no_table() -> Self {
        Refusal::new("ResourceNotFoundException", "Requested resource not found")
    }

    /// As operations on tables say it.
    pub(super) fn no_table_named(name: &str) -> Self {
        let message = format!("Requested resource not found: Table: {name} not found");
        Refusal::new("ResourceNotFoundException", message)
    }

    pub(super) fn condition_failed() -> Self {
        Refusal::new("ConditionalCheckFailedException", "The conditional request failed")
    }

    pub(super) fn with(mut self, name: &str, json: Json) -> Self {
        self.more.insert(name.to_owned(), json);
        self
    }

    /// What it is called among the reasons of a transaction, and in the answers of a batch.
    pub(super) fn code(&self) -> &'static str {
        match self.kind {
            "ValidationException" => "ValidationError",
            kind => kind.strip_suffix("Exception").unwrap_or(kind),
        }
    }

    /// As it is sent.
    pub(super) fn body(&self) -> Json {
        let space = match self.kind {
            "ValidationException" => "com.amazon.coral.validate",
            kind if OF_EVERY_SERVICE.contains(&kind) => "com.amazon.coral.service",
            _ => "com.amazonaws.dynamodb.v20120810",
        };
        let mut body = Map::new();
        body.insert("__type".to_owned(), format!("{space}#{}", self.kind).into());
        if !self.message.is_empty() {
            // As the service has it, which is of two minds about it.
            let name = match self.kind {
                "SerializationException" | "AccessDeniedException" => "Message",
                _ => "message",
            };
            body.insert(name.to_owned(), self.message.as_str().into());
        }
        body.extend(self.more.clone());
        body.into()
    }
}

impl From<stonecrop_dynamodb::Error> for Refusal {
    fn from(error: stonecrop_dynamodb::Error) -> Self {
        match error.kind() {
            stonecrop_dynamodb::ErrorKind::Serialization => Refusal::serialization(error.message()),
            _ => Refusal::validation(error.message()),
        }
    }
}

impl From<&Problem> for Refusal {
    fn from(problem: &Problem) -> Self {
        let detail = problem.detail.clone();
        let mut refusal = match problem.kind.code {
            "no-table" => return Refusal::no_table(),
            "unauthenticated" => Refusal::new(
                "UnrecognizedClientException",
                "The security token included in the request is invalid.",
            ),
            "forbidden" | "cross-site" | "host" => Refusal::new("AccessDeniedException", detail),
            "busy" | "altered" => Refusal::new("ThrottlingException", detail),
            "too-large" => Refusal::new("RequestEntityTooLargeException", detail),
            "bad-json" | "slow-client" => Refusal::serialization(detail),
            // The service has no word for it, and those who ask the same again get the same answer.
            _ if problem.kind.status.is_client_error() => Refusal::validation(detail),
            _ => Refusal::new("InternalServerError", detail),
        };
        refusal.status = match problem.kind.status {
            StatusCode::PAYLOAD_TOO_LARGE => StatusCode::PAYLOAD_TOO_LARGE,
            status if status.is_server_error() && refusal.kind == "InternalServerError" => status,
            _ => StatusCode::BAD_REQUEST,
        };
        refusal
    }
}

impl From<Problem> for Refusal {
    fn from(problem: Problem) -> Self {
        (&problem).into()
    }
}

impl From<stonecrop::Error> for Refusal {
    fn from(error: stonecrop::Error) -> Self {
        Problem::from(error).into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::problem::{ALTERED, CLOSED, READ_ONLY, SPANS_SHARDS};

    #[test]
    fn what_a_request_is_to_blame_for_is_no_error_of_the_server() {
        for kind in [SPANS_SHARDS, READ_ONLY] {
            let refusal = Refusal::from(Problem::new(kind, "so"));
            assert_eq!(refusal.kind, "ValidationException");
            assert_eq!(refusal.status, StatusCode::BAD_REQUEST);
        }
        assert_eq!(Refusal::from(Problem::new(ALTERED, "so")).kind, "ThrottlingException");
        let refusal = Refusal::from(Problem::new(CLOSED, "so"));
        assert_eq!(refusal.kind, "InternalServerError");
        assert_eq!(refusal.status, StatusCode::SERVICE_UNAVAILABLE);
    }
}
