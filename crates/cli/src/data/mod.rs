//! Files of rows: how they are read and written, and what is in them.

mod csv;
pub(crate) mod infer;
mod jsonl;
#[cfg(feature = "parquet")]
mod parquet;
mod record;
mod writer;

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use clap::ValueEnum;

use crate::error::{Error, Result};

pub(crate) use record::{Field, Read as ReadRow, Record, Reject};
pub(crate) use writer::{Columns, RowWriter};

/// What a file of rows is written in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// Values with commas between them, and a line of names before
    Csv,
    /// A JSON object a line
    Jsonl,
    /// A Parquet file
    Parquet,
    /// A JSON object a line as the API writes rows, with the type of every value
    Rows,
}

impl Format {
    /// By the end of a file's name.
    pub(crate) fn of(path: &Path) -> Option<Self> {
        let extension = path.extension().and_then(OsStr::to_str)?.to_lowercase();
        match extension.as_str() {
            "csv" | "tsv" => Some(Format::Csv),
            "jsonl" | "ndjson" | "json" => Some(Format::Jsonl),
            "parquet" => Some(Format::Parquet),
            _ => None,
        }
    }
}

/// A file of rows that is read from its beginning to its end.
pub(crate) enum Reader {
    Csv(csv::Reader),
    Jsonl(jsonl::Reader),
    #[cfg(feature = "parquet")]
    Parquet(Box<parquet::Reader>),
}

impl Reader {
    pub(crate) fn open(path: &Path, format: Format, delimiter: Option<u8>) -> Result<Self> {
        if format == Format::Parquet {
            return Self::open_parquet(path);
        }
        let failed = |cause| Error::File { path: path.to_owned(), cause };
        let input: Box<dyn Read> = match path == Path::new("-") {
            true => Box::new(io::stdin()),
            false => Box::new(File::open(path).map_err(failed)?),
        };
        if format == Format::Csv {
            let by_name = path.extension().is_some_and(|extension| extension == "tsv");
            let delimiter = delimiter.unwrap_or(if by_name { b'\t' } else { b',' });
            return Ok(Reader::Csv(csv::Reader::new(input, delimiter, path)?));
        }
        Ok(Reader::Jsonl(jsonl::Reader::new(input)))
    }

    #[cfg(feature = "parquet")]
    fn open_parquet(path: &Path) -> Result<Self> {
        Ok(Reader::Parquet(Box::new(parquet::Reader::open(path)?)))
    }

    #[cfg(not(feature = "parquet"))]
    fn open_parquet(_: &Path) -> Result<Self> {
        Err(Error::Usage(WITHOUT_PARQUET.to_owned()))
    }

    /// The next row, or what is wrong with it; none at the end.
    pub(crate) fn next(&mut self) -> Result<Option<ReadRow>> {
        match self {
            Reader::Csv(reader) => reader.next(),
            Reader::Jsonl(reader) => reader.next(),
            #[cfg(feature = "parquet")]
            Reader::Parquet(reader) => reader.next(),
        }
    }

    /// How far we are, in bytes or, of Parquet, in rows.
    pub(crate) fn position(&self) -> u64 {
        match self {
            Reader::Csv(reader) => reader.position(),
            Reader::Jsonl(reader) => reader.position(),
            #[cfg(feature = "parquet")]
            Reader::Parquet(reader) => reader.position(),
        }
    }

    /// Where we are at the end, if that is known, of a file of so many bytes.
    pub(crate) fn total(&self, bytes: Option<u64>) -> Option<u64> {
        match self {
            #[cfg(feature = "parquet")]
            Reader::Parquet(reader) => Some(reader.total()),
            _ => bytes,
        }
    }
}

#[cfg(not(feature = "parquet"))]
const WITHOUT_PARQUET: &str = "this stonecrop was built without Parquet";
