//! The one error of this crate.

use std::fmt;

/// What the service answers with when it refuses a request: a kind, and its message word for word.
///
/// ```
/// use stonecrop_dynamodb::{ErrorKind, value};
/// let error = value::decode(serde_json::json!({"N": "one"})).unwrap_err();
/// assert_eq!(error.kind(), ErrorKind::Validation);
/// assert_eq!(error.message(), "The parameter cannot be converted to a numeric value: one");
/// ```
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct Error {
    kind: ErrorKind,
    message: String,
}

/// Which of the service's exceptions an [`Error`] is.
///
/// ```
/// use stonecrop_dynamodb::ErrorKind;
/// assert_eq!(ErrorKind::Validation.to_string(), "ValidationException");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The request is understood, and breaks a rule: `ValidationException`.
    Validation,
    /// The JSON is not of the request's shape: `SerializationException`.
    Serialization,
}

impl fmt::Display for ErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            ErrorKind::Validation => "ValidationException",
            ErrorKind::Serialization => "SerializationException",
        })
    }
}

impl Error {
    /// Which exception it is.
    ///
    /// ```
    /// use stonecrop_dynamodb::{ErrorKind, value};
    /// let error = value::decode(serde_json::json!({"S": 1})).unwrap_err();
    /// assert_eq!(error.kind(), ErrorKind::Serialization);
    /// ```
    pub fn kind(&self) -> ErrorKind {
        self.kind
    }

    /// What the client is told.
    ///
    /// ```
    /// use stonecrop_dynamodb::value;
    /// let error = value::decode(serde_json::json!({"S": 1})).unwrap_err();
    /// assert_eq!(error.message(), "NUMBER_VALUE cannot be converted to String");
    /// ```
    pub fn message(&self) -> &str {
        &self.message
    }

    /// A rule that was broken.
    ///
    /// ```
    /// use stonecrop_dynamodb::Error;
    /// assert_eq!(Error::validation("no").to_string(), "no");
    /// ```
    pub fn validation(message: impl Into<String>) -> Self {
        Error { kind: ErrorKind::Validation, message: message.into() }
    }

    /// JSON of another shape.
    ///
    /// ```
    /// use stonecrop_dynamodb::{Error, ErrorKind};
    /// assert_eq!(Error::serialization("no").kind(), ErrorKind::Serialization);
    /// ```
    pub fn serialization(message: impl Into<String>) -> Self {
        Error { kind: ErrorKind::Serialization, message: message.into() }
    }

    /// The same rule, with words around the message; a fault of shape is told without them.
    pub(crate) fn wrapped(self, wrap: impl FnOnce(&str) -> String) -> Self {
        match self.kind {
            ErrorKind::Validation => Error::validation(wrap(&self.message)),
            ErrorKind::Serialization => self,
        }
    }
}

/// A `Result` with this crate's [`Error`].
///
/// ```
/// fn nothing() -> stonecrop_dynamodb::Result<()> {
///     Ok(())
/// }
/// # nothing().unwrap();
/// ```
pub type Result<T, E = Error> = std::result::Result<T, E>;
