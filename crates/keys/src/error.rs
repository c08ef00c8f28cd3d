//! The one error of this crate.

use std::borrow::Cow;
use std::fmt;

/// What went wrong, where, and in which field.
///
/// ```
/// use stonecrop_keys::{ErrorKind, Schema};
///
/// let schema: Schema = "tenant string, seq u32".parse()?;
/// let error = schema.decode(b"\x38acme\x00\x01\x12\x00").unwrap_err();
/// assert_eq!(error.kind(), ErrorKind::Key);
/// assert_eq!(error.field(), Some("seq"));
/// assert_eq!(error.offset(), Some(9));
/// assert_eq!(error.to_string(), "field seq, byte 9: the key ends here, 3 bytes short");
/// # Ok::<(), stonecrop_keys::Error>(())
/// ```
// Boxed so that a `Result` of a small value travels in registers on the decoding path.
#[derive(Clone, PartialEq, Eq)]
pub struct Error(Box<Details>);

#[derive(Clone, PartialEq, Eq)]
struct Details {
    kind: ErrorKind,
    message: Cow<'static, str>,
    field: Option<String>,
    offset: Option<usize>,
}

/// The kinds of [`Error`], by what the caller can do about them.
///
/// ```
/// use stonecrop_keys::{ErrorKind, Schema};
///
/// assert_eq!("age u31".parse::<Schema>().unwrap_err().kind(), ErrorKind::Schema);
/// let schema: Schema = "age u8".parse()?;
/// assert_eq!(schema.encode(&[300.into()]).unwrap_err().kind(), ErrorKind::Value);
/// assert_eq!(schema.decode(b"junk").unwrap_err().kind(), ErrorKind::Key);
/// # Ok::<(), stonecrop_keys::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The schema is not a schema: correct its text or its fields.
    Schema,
    /// A value does not fit its field: correct the value or the field's type.
    Value,
    /// The bytes are no key of this schema: they are damaged, or belong to another schema.
    Key,
    /// The key would be longer than a stored key can be: use shorter values.
    TooLong,
    /// The record was written by a newer version of the format: upgrade the reader.
    Version,
}

impl ErrorKind {
    /// The kind in lower case, for programs.
    ///
    /// ```
    /// assert_eq!(stonecrop_keys::ErrorKind::TooLong.name(), "too_long");
    /// ```
    pub fn name(self) -> &'static str {
        match self {
            ErrorKind::Schema => "schema",
            ErrorKind::Value => "value",
            ErrorKind::Key => "key",
            ErrorKind::TooLong => "too_long",
            ErrorKind::Version => "version",
        }
    }
}

impl Error {
    #[cold]
    #[inline(never)]
    pub(crate) fn new(kind: ErrorKind, message: impl Into<Cow<'static, str>>) -> Self {
        Error(Box::new(Details { kind, message: message.into(), field: None, offset: None }))
    }

    #[cold]
    pub(crate) fn schema(message: impl Into<Cow<'static, str>>) -> Self {
        Self::new(ErrorKind::Schema, message)
    }

    #[cold]
    pub(crate) fn value(message: impl Into<Cow<'static, str>>) -> Self {
        Self::new(ErrorKind::Value, message)
    }

    /// A fault in key bytes, at `offset` from the start of the key.
    #[cold]
    #[inline(never)]
    pub(crate) fn key(offset: usize, message: impl Into<Cow<'static, str>>) -> Self {
        let mut error = Self::new(ErrorKind::Key, message);
        error.0.offset = Some(offset);
        error
    }

    /// Names the field, or puts an enclosing field's name before the one already there.
    #[cold]
    #[inline(never)]
    pub(crate) fn in_field(mut self, name: &str) -> Self {
        self.0.field = Some(match self.0.field.take() {
            Some(inner) => format!("{name}.{inner}"),
            None => name.to_owned(),
        });
        self
    }

    /// Names a field that has a number for a name.
    #[cold]
    #[inline(never)]
    pub(crate) fn in_numbered_field(self, number: usize) -> Self {
        self.in_field(&number.to_string())
    }

    /// The kind of error.
    ///
    /// ```
    /// use stonecrop_keys::{Decimal, ErrorKind};
    /// assert_eq!("1e999".parse::<Decimal>().unwrap_err().kind(), ErrorKind::Value);
    /// ```
    pub fn kind(&self) -> ErrorKind {
        self.0.kind
    }

    /// What is wrong, without the place: `Display` puts the field and the offset before it.
    ///
    /// ```
    /// use stonecrop_keys::Schema;
    /// let schema: Schema = "on bool".parse()?;
    /// assert_eq!(schema.decode(&[0x09, 0x00]).unwrap_err().message(), "1 byte too many");
    /// # Ok::<(), stonecrop_keys::Error>(())
    /// ```
    pub fn message(&self) -> &str {
        &self.0.message
    }

    /// The field at fault, as a dotted path where tuples are nested.
    ///
    /// ```
    /// use stonecrop_keys::{Schema, Value};
    /// let schema: Schema = "at tuple(x u8, y u8)".parse()?;
    /// let point = Value::Tuple(vec![1.into(), 256.into()]);
    /// assert_eq!(schema.encode(&[point]).unwrap_err().field(), Some("at.y"));
    /// # Ok::<(), stonecrop_keys::Error>(())
    /// ```
    pub fn field(&self) -> Option<&str> {
        self.0.field.as_deref()
    }

    /// The offset of the faulty byte, for errors in a key or in the text of a schema. In a key
    /// that ends too early it is the length of the key.
    ///
    /// ```
    /// use stonecrop_keys::Schema;
    /// let schema: Schema = "on bool".parse()?;
    /// assert_eq!(schema.decode(&[0x09, 0x00]).unwrap_err().offset(), Some(1));
    /// # Ok::<(), stonecrop_keys::Error>(())
    /// ```
    pub fn offset(&self) -> Option<usize> {
        self.0.offset
    }

    pub(crate) fn at(mut self, offset: usize) -> Self {
        self.0.offset = Some(offset);
        self
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Details { message, field, offset, .. } = &*self.0;
        match (field, offset) {
            (Some(field), Some(offset)) => write!(f, "field {field}, byte {offset}: {message}"),
            (Some(field), None) => write!(f, "field {field}: {message}"),
            (None, Some(offset)) => write!(f, "byte {offset}: {message}"),
            (None, None) => f.write_str(message),
        }
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Error({:?}, {:?})", self.0.kind, self.to_string())
    }
}

impl std::error::Error for Error {}

/// A `Result` with this crate's [`Error`].
///
/// ```
/// fn age(key: &[u8]) -> stonecrop_keys::Result<u8> {
///     stonecrop_keys::KeyReader::new(key).read()
/// }
/// assert_eq!(age(&[0x10, 42])?, 42);
/// # Ok::<(), stonecrop_keys::Error>(())
/// ```
pub type Result<T, E = Error> = std::result::Result<T, E>;
