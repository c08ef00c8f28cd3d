//! `stonecrop query`: rows that pass a filter, in an order.

use std::io::Write as _;
use std::path::PathBuf;

use clap::Args;
use serde_json::json;
use stonecrop::{FreshnessFilter, Request, Response, ResponseRow, Sort};
use stonecrop_server::api::{Explain, Explained, Table};

use crate::client::{Client, table_path};
use crate::command::heading;
use crate::error::{Error, Result};
use crate::filter;
use crate::input::read_text;
use crate::output::{terminal_columns, visible};
use crate::rows;
use crate::session::Session;

/// So many rows are asked for at a time.
const PAGE: usize = 10_000;

/// Finds rows
///
/// A value that is no longer fresh has a "~" after it.
#[derive(Args)]
#[command(after_help = HELP)]
pub(crate) struct Arguments {
    /// The table
    #[arg(required_unless_present = "request")]
    table: Option<String>,

    /// Only rows of which this is true
    #[arg(long = "where", value_name = "FILTER")]
    filter: Option<String>,

    /// Columns to sort by, the largest first where there is a "-" before the name
    #[arg(long, value_name = "COLUMNS", value_delimiter = ',', allow_hyphen_values = true)]
    sort: Vec<String>,

    /// At most so many rows [default: 200]
    #[arg(long, value_name = "COUNT")]
    take: Option<usize>,

    /// Only these columns, in this order
    #[arg(long, value_name = "COLUMNS", value_delimiter = ',')]
    columns: Option<Vec<String>>,

    /// The rows after this cursor, which the page before gave
    #[arg(long, value_name = "CURSOR")]
    after: Option<String>,

    /// Only rows with something stale in these columns
    #[arg(long, conflicts_with = "fresh")]
    stale: bool,

    /// Only rows with nothing stale in these columns
    #[arg(long)]
    fresh: bool,

    /// Only count the rows
    #[arg(long)]
    count: bool,

    /// Only tell how the rows would be found
    #[arg(long, conflicts_with = "count")]
    explain: bool,

    /// With --explain: answer the query, and tell what that took
    #[arg(long, requires = "explain")]
    analyze: bool,

    /// Read a whole request as JSON from a file, or from standard input if it is "-"
    #[arg(long, value_name = "FILE")]
    #[arg(conflicts_with_all = ["table", "filter", "sort", "take", "columns", "after", "stale", "fresh"])]
    request: Option<PathBuf>,

    /// Print a JSON document a row, one a line
    #[arg(long)]
    json: bool,
}

const HELP: &str = concat!(
    heading!("Examples:"),
    "
  stonecrop query accounts --where 'status = \"active\" and score > 10' --sort -score --take 20
  stonecrop query accounts --where 'address.city in (\"Bern\", \"Basel\") and email exists'
  stonecrop query accounts --stale --columns name,score
  stonecrop query accounts --where 'owner = \"adam\"' --count
  stonecrop query accounts --where 'owner = \"adam\"' --explain --analyze
  echo '{\"prefixes\": [\"accounts\"], \"take\": 5}' | stonecrop query --request - --json

",
    heading!("Filters:"),
    "
  name = \"Ann\"   !=  <>  <  <=  >  >=      compares; 'Ann' is the same text
  plan in (\"free\", \"pro\")                  is one of them
  age between 18 and 65                    both included
  phone begins with \"+41\"                  of text and bytes
  tags contains \"red\"                      a part of a text, an element of a list or set
  email exists                             is there; is null, is not null
  score is fresh                           or is stale
  score written after \"2024-01-15T10:00:00Z\"
  and, or, not, and parentheses; \"not\" can stand before in, between, begins, contains, exists

  Columns are paths: address.city, tags[0]; a name that is no word stands in double quotes.
  Values are text, 42, 1.5, 9.99d (decimal), true, false, null, timestamp \"...\", date \"...\",
  uuid \"...\" and x\"00ff\" (bytes)."
);

pub(crate) fn run(arguments: &Arguments, session: &mut Session) -> Result<()> {
    let request = match &arguments.request {
        Some(path) => from_file(path, arguments)?,
        None => from_arguments(arguments)?,
    };
    let client = session.open_to_read()?;
    if arguments.explain {
        explain(&request, arguments, &client, session)?;
    } else if request.count {
        count(&request, arguments.json, &client, session)?;
    } else {
        show(request, arguments.json, &client, session)?;
    }
    client.close()
}

fn from_arguments(arguments: &Arguments) -> Result<Request> {
    let sort = arguments.sort.iter().map(|text| match text.strip_prefix('-') {
        Some(column) => Sort::desc(column),
        None => Sort::asc(text.as_str()),
    });
    Ok(Request {
        prefixes: arguments.table.iter().cloned().collect(),
        columns: arguments.columns.clone(),
        filter: arguments.filter.as_deref().map(filter::parse).transpose()?,
        sort: sort.collect(),
        take: arguments.take,
        after: arguments.after.clone(),
        freshness: match (arguments.stale, arguments.fresh) {
            (true, _) => Some(FreshnessFilter::SomeStale),
            (_, true) => Some(FreshnessFilter::AllFresh),
            _ => None,
        },
        count: arguments.count,
        ..Request::default()
    })
}

fn from_file(path: &std::path::Path, arguments: &Arguments) -> Result<Request> {
    let request: Request = serde_json::from_str(&read_text(path)?)
        .map_err(|error| Error::Data(format!("{}: {error}", path.display())))?;
    Ok(Request { count: request.count || arguments.count, ..request })
}

fn explain(
    request: &Request,
    arguments: &Arguments,
    client: &Client,
    session: &mut Session,
) -> Result<()> {
    let body = Explain { request: request.clone(), analyze: arguments.analyze };
    let explained: Explained = client.post("/v1/explain", &body)?;
    if arguments.json {
        return session.print_json(&explained);
    }
    explained.text.trim_end().lines().try_for_each(|line| session.say(&visible(line)))
}

fn count(request: &Request, json: bool, client: &Client, session: &mut Session) -> Result<()> {
    let response: Response = client.post("/v1/query", request)?;
    let count = response.count.unwrap_or_default();
    match json {
        true => session.print_json(&json!({ "count": count })),
        false => session.say(&count.to_string()),
    }
}

fn show(request: Request, json: bool, client: &Client, session: &mut Session) -> Result<()> {
    let mut all = Vec::new();
    let next = each_page(&request, client, |rows| {
        if !json {
            all.extend(rows);
            return Ok(());
        }
        rows.iter().try_for_each(|row| session.print_json(row))
    })?;
    if !json {
        let table: Option<Table> = match request.prefixes.as_slice() {
            [only] => Some(client.get(&table_path(only, ""))?),
            _ => None,
        };
        if all.is_empty() {
            session.say("no rows")?;
        } else {
            let grid = rows::grid(&all, table.as_ref(), request.columns.as_deref());
            grid.write(session.out(), terminal_columns()).map_err(Error::Output)?;
        }
    }
    if let Some(cursor) = next {
        session.out().flush().map_err(Error::Output)?;
        session.note(&format!("there are more rows: --after {cursor}"));
    }
    Ok(())
}

/// Asks for page after page until there are enough rows; gives the cursor for those after.
fn each_page(
    request: &Request,
    client: &Client,
    mut work: impl FnMut(Vec<ResponseRow>) -> Result<()>,
) -> Result<Option<String>> {
    let mut request = request.clone();
    let mut wanted = request.take;
    loop {
        request.take = wanted.map(|wanted| wanted.min(PAGE));
        let page: Response = client.post("/v1/query", &request)?;
        wanted = wanted.map(|wanted| wanted.saturating_sub(page.rows.len()));
        work(page.rows)?;
        match (page.next, wanted) {
            (Some(next), Some(1..)) => (request.after, request.skip) = (Some(next), 0),
            (next, _) => return Ok(next),
        }
    }
}
