//! The server under load, beside the least that a server of its kind can do.

mod server;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;
use std::time::Duration;

use anyhow::{Context, Result};

use crate::goal::{self, Goal};
use crate::load::{self, Limit, Outcome};
use crate::number::{microseconds, rate, thousands, times};
use crate::{machine, page};
pub(crate) use server::{Kind, serve, start};
use server::{OWNERS, key};

const ROWS: u64 = 100_000;
const QUICK_ROWS: u64 = 2_000;
const CLIENTS: [u64; 3] = [1, 16, 64];
const TURNS: u32 = 4;
const BATCH: u64 = 100;
const PAGE: u64 = 50;

/// What is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Measure {
    Echo,
    Get,
    Put,
    Batch,
    Page,
}

impl Measure {
    const ALL: [Measure; 5] =
        [Measure::Echo, Measure::Get, Measure::Put, Measure::Batch, Measure::Page];

    fn title(self) -> String {
        match self {
            Measure::Echo => "echo (axum alone)".to_owned(),
            Measure::Get => "get a row".to_owned(),
            Measure::Put => "put a row, durable".to_owned(),
            Measure::Batch => format!("put {BATCH} rows, durable"),
            Measure::Page => format!("page of {PAGE} rows by an index"),
        }
    }

    /// The bytes of a request.
    fn request(self, number: u64, rows: u64) -> Vec<u8> {
        // All rows come by, in no order.
        let row = number.wrapping_mul(2_654_435_761) % rows;
        let of_row = format!("/v1/tables/accounts/rows/{}", key(row));
        match self {
            Measure::Echo | Measure::Get => head("GET", &of_row, 0).into_bytes(),
            Measure::Put => {
                let body = format!("{{\"set\":{{\"score\":{{\"Int\":{}}}}}}}", number % 1_000);
                (head("PATCH", &of_row, body.len()) + &body).into_bytes()
            }
            Measure::Batch => {
                let write = |at: u64| {
                    let key = key((row + at) % rows);
                    format!("{{\"key\":\"{key}\",\"set\":{{\"score\":{{\"Int\":{at}}}}}}}")
                };
                let writes: Vec<_> = (0..BATCH).map(write).collect();
                let body = format!("{{\"writes\":[{}]}}", writes.join(","));
                (head("POST", "/v1/tables/accounts/rows", body.len()) + &body).into_bytes()
            }
            Measure::Page => {
                let body = format!(
                    "{{\"prefixes\":[\"accounts\"],\"columns\":[\"name\",\"score\"],\"filter\":\
                     {{\"Condition\":{{\"field\":\"owner\",\"operator\":\"Eq\",\"value\":\
                     {{\"String\":\"owner {}\"}}}}}},\"sort\":[{{\"field\":\"score\",\
                     \"direction\":\"Desc\"}}],\"take\":{PAGE}}}",
                    row % OWNERS
                );
                (head("POST", "/v1/query", body.len()) + &body).into_bytes()
            }
        }
    }
}

fn head(method: &str, path: &str, length: usize) -> String {
    let of_body = match length {
        0 => String::new(),
        length => format!("content-type: application/json\r\ncontent-length: {length}\r\n"),
    };
    format!("{method} {path} HTTP/1.1\r\nhost: localhost\r\n{of_body}\r\n")
}

#[derive(Default)]
struct Figures {
    best: BTreeMap<(Measure, u64), Outcome>,
    memory: f64,
}

impl Figures {
    fn add(&mut self, measure: Measure, clients: u64, outcome: Outcome) {
        let best = self.best.entry((measure, clients)).or_insert(outcome);
        if outcome.rate > best.rate {
            *best = outcome;
        }
    }

    fn rate(&self, measure: Measure, clients: u64) -> Result<f64> {
        Ok(self.best.get(&(measure, clients)).context("it was measured")?.rate)
    }

    fn markdown(&self) -> Result<String> {
        let mut text = String::from("| |");
        CLIENTS
            .iter()
            .for_each(|clients| text.push_str(&format!(" {clients} clients | p50 | p99 |")));
        text.push_str("\n|---|");
        CLIENTS.iter().for_each(|_| text.push_str("---:|---:|---:|"));
        text.push('\n');
        for measure in Measure::ALL {
            write!(text, "| {} |", measure.title())?;
            for clients in CLIENTS {
                let Outcome { rate: of, p50, p99, .. } =
                    self.best.get(&(measure, clients)).context("it was measured")?;
                write!(
                    text,
                    " {}/s | {} | {} |",
                    rate(*of),
                    microseconds(*p50),
                    microseconds(*p99)
                )?;
            }
            text.push('\n');
        }
        writeln!(text, "\nThe server took at most {} MiB of memory.\n", thousands(self.memory))?;
        Ok(text)
    }

    fn goals(&self) -> Result<Vec<Goal>> {
        let mut goals = Vec::new();
        for clients in CLIENTS {
            let (get, echo) =
                (self.rate(Measure::Get, clients)?, self.rate(Measure::Echo, clients)?);
            goals.push(Goal {
                text: format!("get a row with {clients} clients at least 0.5× of the echo"),
                figures: format!("{}/s to {}/s: {}", rate(get), rate(echo), times(get / echo)),
                met: get / echo >= 0.5,
            });
        }
        let (many, one) = (self.rate(Measure::Put, 64)?, self.rate(Measure::Put, 1)?);
        goals.push(Goal {
            text: "durable puts with 64 clients at least 10× of those with one".to_owned(),
            figures: format!("{}/s to {}/s: {}", rate(many), rate(one), times(many / one)),
            met: many / one >= 10.0,
        });
        Ok(goals)
    }
}

fn pass(
    program: &Path,
    directory: &Path,
    rows: u64,
    time: Duration,
    figures: &mut Figures,
) -> Result<()> {
    std::fs::create_dir_all(directory)?;
    let folder = tempfile::tempdir_in(directory)?;
    let ours = start(program, Kind::Ours, folder.path(), rows)?;
    let echo = start(program, Kind::Echo, folder.path(), rows)?;
    // In turns: what else the machine does meanwhile should meet all of them.
    for _ in 0..TURNS {
        for (clients, measure) in CLIENTS.iter().flat_map(|c| Measure::ALL.map(|m| (*c, m))) {
            let server = if measure == Measure::Echo { &echo } else { &ours };
            let request = |number| measure.request(number, rows);
            let time = Limit::time(time);
            let outcome = load::run(server.address, clients, time, &request, &|_, _| Ok(()))?;
            figures.add(measure, clients, outcome);
            figures.memory = figures.memory.max(ours.memory());
        }
    }
    Ok(())
}

/// Proves that everything runs; the figures mean nothing.
pub(crate) fn quick(program: &Path, directory: &Path) -> Result<()> {
    let mut figures = Figures::default();
    pass(program, directory, QUICK_ROWS, Duration::from_millis(20), &mut figures)?;
    print!("{}", figures.markdown()?);
    Ok(())
}

/// Measures everything and writes the report.
pub(crate) fn run(program: &Path, directory: &Path, docs: &Path, passes: u32) -> Result<()> {
    let mut figures = Figures::default();
    for _ in 0..passes {
        pass(program, directory, ROWS, Duration::from_millis(500), &mut figures)?;
    }
    let table = figures.markdown()?;
    let goals = goal::markdown(&figures.goals()?)?;
    let section = format!("{}\n{table}{goals}", machine::markdown()?);
    page::replace_section(&docs.join("benchmarks.md"), "http", &section)?;
    print!("{table}{goals}");
    Ok(())
}
