//! `stonecrop bench`: how fast a database is where it is.

use std::time::{Duration, Instant};

use bytes::Bytes;
use clap::Args;
use hyper::Method;
use indicatif::HumanCount;
use serde_json::json;

use crate::client::{Client, table_path};
use crate::command::heading;
use crate::error::{Error, Result};
use crate::grid::{Grid, Text};
use crate::output::terminal_columns;
use crate::session::Session;

/// Rows of a batch.
const BATCH: u64 = 1_000;

/// Measures writes, reads and queries with a table that is made for it and dropped
///
/// The figures are of this machine, this database and one client that waits for each answer. They
/// are no comparison with anything else.
#[derive(Args)]
#[command(after_help = HELP)]
pub(crate) struct Arguments {
    /// How many rows are written
    #[arg(long, value_name = "COUNT", default_value_t = 20_000)]
    rows: u64,

    /// Print a JSON document a measure, one a line
    #[arg(long)]
    json: bool,
}

const HELP: &str = concat!(
    heading!("Examples:"),
    "
  stonecrop bench
  stonecrop --database memory: bench --rows 100000
  stonecrop --database http://localhost:8321 bench --json"
);

/// How long each request of a kind took, and how many rows it was about.
struct Measure {
    what: &'static str,
    rows_each: u64,
    took: Vec<Duration>,
}

pub(crate) fn run(arguments: &Arguments, session: &mut Session) -> Result<()> {
    let client = session.open_or_create()?;
    let table = format!("bench-{}", std::process::id());
    client.call(Method::POST, "/v1/tables", Some(crate::client::json(&schema(&table))?))?;
    let measured = measure(&client, &table, arguments.rows.max(BATCH));
    // Also if something failed: the table was only lent.
    client.call(Method::DELETE, &table_path(&table, ""), None)?;
    client.close()?;
    let measured = measured?;
    if arguments.json {
        return measured.iter().try_for_each(|measure| session.print_json(&measure.json()));
    }
    let mut grid = Grid::new(["what", "requests", "rows/s", "p50", "p99"]);
    for measure in &measured {
        grid.push([
            Text::new(measure.what),
            Text::number(HumanCount(measure.took.len() as u64).to_string()),
            Text::number(HumanCount(measure.rows_per_second() as u64).to_string()),
            Text::number(format!("{:?}", measure.percentile(50))),
            Text::number(format!("{:?}", measure.percentile(99))),
        ]);
    }
    grid.write(session.out(), terminal_columns()).map_err(Error::Output)?;
    session.say("\none client that waits for each answer, here and now: no comparison")
}

fn schema(table: &str) -> serde_json::Value {
    json!({
        "name": table,
        "partition_key": "id u64",
        "families": [{ "name": "main", "columns": [
            { "name": "name", "type": "string" }, { "name": "owner", "type": "string" },
            { "name": "score", "type": "int" },
        ]}],
        "indexes": [{ "name": "by_owner", "columns": "owner string, score i64 desc" }],
    })
}

fn measure(client: &Client, table: &str, rows: u64) -> Result<Vec<Measure>> {
    let path = |rest: &str| table_path(table, rest);
    let batches = (0..rows / BATCH).map(|batch| {
        let writes: Vec<_> = (batch * BATCH..(batch + 1) * BATCH).map(|id| row(id)).collect();
        (Method::POST, path("/rows"), Some(json!({ "writes": writes })))
    });
    let some = (rows / 20).clamp(100, 1_000);
    // Spread over the table, the same in every run.
    let spread = move |n: u64| n.wrapping_mul(7_919) % rows;
    let puts = (0..some.min(200)).map(|n| {
        let set = json!({ "set": { "score": { "Int": n } } });
        (Method::PATCH, path(&format!("/rows/{}", spread(n))), Some(set))
    });
    let gets = (0..some).map(|n| (Method::GET, path(&format!("/rows/{}", spread(n))), None));
    let queries = (0..some).map(|n| {
        let filter = json!({ "Condition": {
            "field": "owner", "operator": "Eq", "value": { "String": owner(spread(n)) },
        }});
        let sort = json!([{ "field": "score", "direction": "Desc" }]);
        let query = json!({ "prefixes": [table], "filter": filter, "sort": sort, "take": 100 });
        (Method::POST, "/v1/query".to_owned(), Some(query))
    });
    Ok(vec![
        run_all(client, "put 1,000 rows, synced", BATCH, batches)?,
        run_all(client, "put a row, synced", 1, puts)?,
        run_all(client, "get a row", 1, gets)?,
        run_all(client, "query 100 rows by an index", 100, queries)?,
    ])
}

fn owner(id: u64) -> String {
    format!("owner-{:02}", id % 97)
}

fn row(id: u64) -> serde_json::Value {
    json!({ "key": id, "set": {
        "name": { "String": format!("Row {id}") },
        "owner": { "String": owner(id) },
        "score": { "Int": id % 1_000 },
    }})
}

#[allow(clippy::disallowed_methods, reason = "how long an answer takes is what is asked for")]
fn run_all(
    client: &Client,
    what: &'static str,
    rows_each: u64,
    requests: impl Iterator<Item = (Method, String, Option<serde_json::Value>)>,
) -> Result<Measure> {
    let mut took = Vec::new();
    for (method, path, body) in requests {
        let body: Option<Bytes> = body.as_ref().map(crate::client::json).transpose()?;
        let begin = Instant::now();
        client.call(method, &path, body)?;
        took.push(begin.elapsed());
    }
    took.sort_unstable();
    Ok(Measure { what, rows_each, took })
}

impl Measure {
    fn rows_per_second(&self) -> f64 {
        let seconds: f64 = self.took.iter().map(Duration::as_secs_f64).sum();
        (self.took.len() as u64 * self.rows_each) as f64 / seconds.max(1e-9)
    }

    /// In whole microseconds: what is below is noise.
    fn percentile(&self, percent: usize) -> Duration {
        let last = self.took.len().saturating_sub(1);
        let took = self.took.get(last * percent / 100).copied().unwrap_or_default();
        Duration::from_micros(u64::try_from(took.as_micros()).unwrap_or(u64::MAX))
    }

    fn json(&self) -> serde_json::Value {
        json!({
            "what": self.what,
            "requests": self.took.len(),
            "rows_per_second": self.rows_per_second(),
            "p50_micros": self.percentile(50).as_micros() as u64,
            "p99_micros": self.percentile(99).as_micros() as u64,
        })
    }
}
