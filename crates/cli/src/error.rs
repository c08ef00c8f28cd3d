//! What can go wrong, in words for the person at the keyboard.

use std::path::PathBuf;
use std::{fmt, io};

use crate::client::Problem;
use crate::filter::FilterError;
use crate::output::{visible, width};

pub(crate) type Result<T, E = Error> = std::result::Result<T, E>;

#[derive(Debug)]
pub(crate) enum Error {
    /// The schema was given with the command, so this is wrong usage and not bad data.
    Schema {
        text: String,
        cause: stonecrop_keys::Error,
    },
    /// The values do not fit the schema, or the key is not one of it.
    Key(stonecrop_keys::Error),
    /// The text is not hex; characters are counted from one.
    Hex {
        character: usize,
        problem: HexProblem,
    },
    Line(LineProblem),
    Database(stonecrop::Error),
    /// A server can't be started, or go on.
    Serve(String),
    Input(io::Error),
    Output(io::Error),
    /// Arguments that clap can't judge.
    Usage(String),
    Filter(FilterError),
    /// Data that is not what it should be, in a file or an argument.
    Data(String),
    File {
        path: PathBuf,
        cause: io::Error,
    },
    /// The folder is not there, or is no database.
    NoDatabase(String),
    /// The server, or the one within, refused or failed.
    Problem(Box<Problem>),
    /// No answer came, or one that makes no sense.
    Unreachable(String),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum HexProblem {
    NotADigit(char),
    /// A separator stands between the two digits of a byte.
    HalfAByte,
    OddDigits(usize),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LineProblem {
    Blank,
    TooLong {
        limit: usize,
    },
    /// Bytes are counted from one, as the characters of hex are.
    NotUtf8 {
        byte: usize,
    },
}

impl Error {
    pub(crate) fn exit_code(&self) -> u8 {
        match self {
            Error::Schema { .. } | Error::Usage(_) | Error::Filter(_) => 2,
            error if error.is_missing_database() => 3,
            Error::Problem(problem) => problem.exit_code(),
            Error::Database(_) | Error::Serve(_) | Error::Unreachable(_) => 5,
            _ => 1,
        }
    }

    /// Whether there is no database where one was named.
    pub(crate) fn is_missing_database(&self) -> bool {
        match self {
            Error::NoDatabase(_) => true,
            Error::Database(stonecrop::Error::Store(cause)) => {
                cause.kind() == stonecrop::StoreErrorKind::Missing
            }
            _ => false,
        }
    }

    /// Whether only this line is at fault, so that the next one can be taken.
    pub(crate) fn is_bad_data(&self) -> bool {
        matches!(self, Error::Key(_) | Error::Hex { .. } | Error::Line(_))
    }

    /// Whether the reader of our output went away, as `head` does when it has enough.
    pub(crate) fn is_closed_pipe(&self) -> bool {
        matches!(self, Error::Output(cause) if cause.kind() == io::ErrorKind::BrokenPipe)
    }
}

impl From<FilterError> for Error {
    fn from(error: FilterError) -> Self {
        Error::Filter(error)
    }
}

impl From<Problem> for Error {
    fn from(problem: Problem) -> Self {
        Error::Problem(Box::new(problem))
    }
}

impl From<stonecrop_keys::Error> for Error {
    fn from(cause: stonecrop_keys::Error) -> Self {
        Error::Key(cause)
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Schema { text, cause } => {
                write!(f, "in the schema, {}", visible(&cause.to_string()))?;
                match cause.offset() {
                    Some(offset) if !text.trim().is_empty() => write_caret(f, text, offset),
                    _ => Ok(()),
                }
            }
            Error::Key(cause) => f.write_str(&visible(&cause.to_string())),
            Error::Hex { character, problem } => write_hex_problem(f, *character, *problem),
            Error::Line(LineProblem::Blank) => f.write_str("the line is blank"),
            Error::Line(LineProblem::TooLong { limit }) => {
                write!(f, "the line is longer than {limit} bytes")
            }
            Error::Line(LineProblem::NotUtf8 { byte }) => {
                write!(f, "not UTF-8 from byte {byte} of the line on")
            }
            Error::Database(cause) => f.write_str(&visible(&cause.to_string())),
            Error::Serve(problem) => f.write_str(&visible(problem)),
            Error::Input(cause) => write!(f, "standard input can't be read: {cause}"),
            Error::Output(cause) => write!(f, "standard output can't be written: {cause}"),
            Error::Usage(text) | Error::Data(text) | Error::NoDatabase(text) => {
                f.write_str(&visible_lines(text))
            }
            Error::Filter(error) => error.fmt(f),
            Error::File { path, cause } => {
                write!(f, "{}: {cause}", visible(&path.display().to_string()))
            }
            Error::Problem(problem) => problem.fmt(f),
            Error::Unreachable(text) => f.write_str(&visible(text)),
        }
    }
}

fn write_hex_problem(
    f: &mut fmt::Formatter<'_>,
    character: usize,
    problem: HexProblem,
) -> fmt::Result {
    match problem {
        HexProblem::NotADigit(found) => {
            write!(f, "character {character}: {found:?} is not a hex digit")
        }
        HexProblem::HalfAByte => {
            write!(f, "character {character}: the byte before it has one digit and needs two")
        }
        HexProblem::OddDigits(1) => {
            write!(f, "character {character}: a byte has two digits, and this is only one")
        }
        HexProblem::OddDigits(count) => write!(
            f,
            "character {character}: the last byte has one digit and needs two \
             ({count} digits in all)"
        ),
    }
}

/// Text whose line ends are ours.
fn visible_lines(text: &str) -> String {
    let lines: Vec<_> = text.split('\n').map(visible).collect();
    lines.join("\n")
}

/// The line of `text` that has the byte at `offset`, and a caret under that byte.
pub(crate) fn write_caret(f: &mut fmt::Formatter<'_>, text: &str, offset: usize) -> fmt::Result {
    let (before, after) = text.split_at_checked(offset).unwrap_or((text, ""));
    let before = before.rsplit('\n').next().unwrap_or_default().replace('\t', " ");
    let after = after.split('\n').next().unwrap_or_default().replace('\t', " ");
    let before = visible(&before);
    write!(f, "\n  {before}{}\n  {:indent$}^", visible(&after), "", indent = width(&before))
}
