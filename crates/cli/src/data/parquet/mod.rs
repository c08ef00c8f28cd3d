//! Parquet: columns with types, in groups of rows. A value without a type there is its text.

mod reader;
mod writer;

pub(crate) use reader::Reader;
pub(crate) use writer::Writer;
