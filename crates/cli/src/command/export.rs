//! `stonecrop export`: the rows of a table into a file, a few in memory at a time.

use std::fs::{self, File};
use std::io::{self, BufWriter, IsTerminal as _, Write};
use std::path::{Path, PathBuf};

use clap::Args;
use indicatif::{HumanCount, ProgressBar};
use stonecrop::{Request, Response, ResponseRow};
use stonecrop_server::api::Table;

use crate::client::{Client, escape, table_path};
use crate::command::heading;
use crate::data::{Columns, Format, RowWriter};
use crate::error::{Error, Result};
use crate::filter;
use crate::output::visible;
use crate::progress;
use crate::session::Session;

/// So many rows are asked for at a time, where there is a filter.
const PAGE: usize = 5_000;

/// Writes the rows of a table to a file, or to standard output
///
/// All rows are of one moment, unless there is a filter: then they are found page by page.
#[derive(Args)]
#[command(after_help = HELP)]
pub(crate) struct Arguments {
    /// The table
    table: String,

    /// What to write [default: by the name of the file, or jsonl]
    #[arg(long, value_name = "FORMAT")]
    format: Option<Format>,

    /// The file; it is there at the end as a whole, or not at all
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,

    /// Only rows of which this is true
    #[arg(long = "where", value_name = "FILTER")]
    filter: Option<String>,

    /// Only these columns, after those of the key
    #[arg(long, value_name = "COLUMNS", value_delimiter = ',')]
    columns: Option<Vec<String>>,
}

const HELP: &str = concat!(
    heading!("Examples:"),
    "
  stonecrop export people -o people.csv
  stonecrop export people -o people.parquet --columns name,email
  stonecrop export people --where 'plan = \"pro\"' | jq .email
  stonecrop export people --format rows | stonecrop --database copy import people - \\
      --format jsonl --yes

",
    heading!("Formats:"),
    "
  csv      the key and the declared columns, or those that --columns names
  jsonl    a plain JSON object a row; decimals, times and UUIDs are strings, bytes base64
  parquet  as csv, with types; a column of any type is text
  rows     a JSON object a row with the type of every value: nothing is lost"
);

pub(crate) fn run(arguments: &Arguments, session: &mut Session) -> Result<()> {
    let by_name = arguments.output.as_deref().and_then(Format::of);
    let format = arguments.format.or(by_name).unwrap_or(Format::Jsonl);
    let client = session.open_to_read()?;
    let table: Table = client.get(&table_path(&arguments.table, ""))?;
    let output = Output::new(arguments.output.as_deref(), format)?;
    let bar = progress::spinner("exporting");
    let written = write_rows(arguments, format, &table, &client, &output, &bar);
    let left_out = written.map_err(|error| output.discard(error))?;
    bar.finish_and_clear();
    client.close()?;
    output.keep()?;
    if !left_out.is_empty() {
        let names = left_out.join(", ");
        session.note(&format!(
            "columns that the table does not declare were left out; --columns can name them: {}",
            visible(&names)
        ));
    }
    match &arguments.output {
        None => Ok(()),
        Some(path) => {
            let (count, path) = (HumanCount(bar.position()), path.display());
            session.say(&format!("{count} rows exported to {path}"))
        }
    }
}

/// Writes all rows that are asked for; gives the names of columns that had no place.
fn write_rows(
    arguments: &Arguments,
    format: Format,
    table: &Table,
    client: &Client,
    output: &Output,
    bar: &ProgressBar,
) -> Result<Vec<String>> {
    let filter = arguments.filter.as_deref().map(filter::parse).transpose()?;
    let columns = Columns::new(table, arguments.columns.as_deref());
    let mut writer = RowWriter::new(format, columns, output.open()?)?;
    let mut work = |row: ResponseRow| {
        bar.inc(1);
        writer.write(&row)
    };
    match filter {
        None => each_row(arguments, client, &mut work)?,
        Some(filter) => {
            let request = Request {
                prefixes: vec![arguments.table.clone()],
                columns: arguments.columns.clone(),
                filter: Some(filter),
                take: Some(PAGE),
                ..Request::default()
            };
            each_found(request, client, &mut work)?;
        }
    }
    writer.finish()
}

/// All rows, as of one moment.
fn each_row(
    arguments: &Arguments,
    client: &Client,
    work: &mut impl FnMut(ResponseRow) -> Result<()>,
) -> Result<()> {
    let columns = match &arguments.columns {
        Some(columns) => format!("?columns={}", escape(&columns.join(","))),
        None => String::new(),
    };
    let mut lines = client.lines(&table_path(&arguments.table, &format!("/export{columns}")))?;
    while let Some(line) = lines.next()? {
        let row = serde_json::from_slice(&line)
            .map_err(|error| Error::Unreachable(format!("an answer makes no sense: {error}")))?;
        work(row)?;
    }
    Ok(())
}

/// The rows that a query finds, page by page.
fn each_found(
    mut request: Request,
    client: &Client,
    work: &mut impl FnMut(ResponseRow) -> Result<()>,
) -> Result<()> {
    loop {
        let page: Response = client.post("/v1/query", &request)?;
        page.rows.into_iter().try_for_each(&mut *work)?;
        match page.next {
            Some(next) => request.after = Some(next),
            None => return Ok(()),
        }
    }
}

/// Where the rows go: a file gets its name when it is complete.
struct Output {
    path: Option<(PathBuf, PathBuf)>,
}

impl Output {
    fn new(path: Option<&Path>, format: Format) -> Result<Self> {
        if path.is_none() && format == Format::Parquet && io::stdout().is_terminal() {
            return Err(Error::Usage("Parquet is not for terminals: name a file with -o".into()));
        }
        let path = path.map(|path| {
            let mut part = path.as_os_str().to_owned();
            part.push(".part");
            (path.to_owned(), PathBuf::from(part))
        });
        Ok(Output { path })
    }

    fn open(&self) -> Result<Box<dyn Write + Send>> {
        Ok(match &self.path {
            None => Box::new(BufWriter::new(io::stdout())),
            Some((_, part)) => {
                let file = File::create(part);
                let file = file.map_err(|cause| Error::File { path: part.clone(), cause })?;
                Box::new(BufWriter::new(file))
            }
        })
    }

    /// Removes what there is of a file, and says that it was not standard output that failed.
    fn discard(&self, error: Error) -> Error {
        let Some((path, part)) = &self.path else { return error };
        // What can't be removed is in the way of nobody.
        let _ = fs::remove_file(part);
        match error {
            Error::Output(cause) => Error::File { path: path.clone(), cause },
            other => other,
        }
    }

    fn keep(self) -> Result<()> {
        let Some((path, part)) = self.path else { return Ok(()) };
        fs::rename(&part, &path).map_err(|cause| Error::File { path, cause })
    }
}
