//! `stonecrop import`: files of rows into a table.

mod batch;
mod plan;
mod rejects;
mod run;
mod state;

use std::path::PathBuf;

use clap::Args;
use stonecrop::ColumnType;
use stonecrop_server::api::Lasting;

use crate::command::heading;
use crate::data::Format;
use crate::error::{Error, Result};
use crate::session::Session;
use crate::value::{TYPES, column_type};

/// Imports rows from files
///
/// The columns and their types are seen from the first 1,000 rows, and shown before anything is
/// written. A table that is not there is made: its key is what --key says, or else the first column
/// that has another value in every row.
///
/// A row that can't be read, or that the table refuses, is left out: FILE.rejects.jsonl has its
/// line, the reason and its text. The others are imported, and the exit code is 1.
///
/// How far the import has come is kept in FILE.stonecrop-import until it ends; after an import that
/// was cut short, --resume goes on from there.
#[derive(Args)]
#[command(after_help = HELP)]
pub(crate) struct Arguments {
    /// The table
    table: String,

    /// The files, or "-" for standard input
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,

    /// What the files are, if their names don't say it
    #[arg(long, value_name = "FORMAT")]
    format: Option<Format>,

    /// What stands between the values of CSV [default: a comma, and a tab in .tsv]
    #[arg(long, value_name = "CHARACTER")]
    delimiter: Option<char>,

    /// The columns that are the key of a table that is made; a semicolon stands before those of the
    /// sort key
    #[arg(long, value_name = "COLUMNS")]
    key: Option<String>,

    /// The type of a column, as in zip:string, where another is seen; can be given several times
    #[arg(long = "type", value_name = "COLUMN:TYPE", value_parser = column_and_type)]
    types: Vec<(String, ColumnType)>,

    /// The family of the columns of a table that is made [default: the name of the file]
    #[arg(long, value_name = "NAME")]
    family: Option<String>,

    /// How long its values are fresh, as in 10m [default: for ever]
    #[arg(long, value_name = "DURATION")]
    ttl: Option<Lasting>,

    /// Go on where an import of the same files was cut short
    #[arg(long)]
    resume: bool,

    /// Only show what would be done
    #[arg(long)]
    dry_run: bool,

    /// Do not ask
    #[arg(short, long)]
    yes: bool,

    /// Print what was done as JSON
    #[arg(long)]
    json: bool,
}

const HELP: &str = concat!(
    heading!("Examples:"),
    "
  stonecrop import people people.csv
  stonecrop import people people.csv --key 'company; id' --family crm --ttl 10m --yes
  stonecrop import people people.csv --type zip:string --type age:int
  stonecrop import events events.parquet --dry-run
  zcat log.jsonl.gz | stonecrop import log - --format jsonl --yes
  stonecrop import people people.csv --resume --yes

",
    heading!("Files:"),
    "
  CSV      a line of names, then a line a row; an empty value is none
  JSONL    an object a row, plain, or as \"stonecrop query --json\" prints them
  Parquet  with its own types

",
    heading!("Exit codes:"),
    "
  0 all rows were imported, 1 some were left out, 2 wrong usage, or nobody to ask without --yes,
  5 the server failed or can't be reached"
);

impl Arguments {
    fn format(&self, file: &std::path::Path) -> Result<Format> {
        self.format.or_else(|| Format::of(file)).ok_or_else(|| {
            let name = file.display();
            Error::Usage(format!("{name}: say what it is with --format csv, jsonl or parquet"))
        })
    }

    fn delimiter(&self) -> Result<Option<u8>> {
        let byte = |character| {
            u8::try_from(character)
                .map_err(|_| Error::Usage(format!("{character:?} is no delimiter of one byte")))
        };
        self.delimiter.map(byte).transpose()
    }
}

/// A column and its type, which follows the last colon.
fn column_and_type(text: &str) -> Result<(String, ColumnType), String> {
    let (column, named) = text.rsplit_once(':').ok_or("there is no colon before the type")?;
    let found = column_type(named).ok_or(format!("{named:?} is no type; there are {TYPES}"))?;
    Ok((column.to_owned(), found))
}

pub(crate) fn run(arguments: &Arguments, session: &mut Session) -> Result<()> {
    run::run(arguments, session)
}
