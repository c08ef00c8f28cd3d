//! The database on object storage, beside SlateDB itself with the same entries.
//!
//! `STONECROP_OBJECTS` names the place, as `tests/objects` sets it for SeaweedFS; a folder without.

mod contender;
mod nodes;
mod ours;
mod raw;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;
use std::time::Duration;

use anyhow::Result;

use self::contender::{Contender, Requests, Size};
use self::nodes::Programs;
use crate::goal::{self, Goal};
use crate::number::{rate, thousands, times};
use crate::plot::{Bars, Group};
use crate::timer::{now, timed};
use crate::{machine, page};

const SHARDS: [u16; 3] = [1, 2, 4];
const CLIENTS: [usize; 3] = [1, 16, 64];
/// How long rows are put and read for.
const SECONDS: u64 = 4;
const READS: u64 = 2_000;
const COLD_READS: u64 = 200;
/// How many rows are loaded for all that follows, and for a load alone. When a short one is synced
/// much is left to do, and the sooner it has ended the more: what is in memory becomes files later.
/// So it is also told when all of it is in files.
const ROWS: u64 = 500_000;
const MANY_ROWS: u64 = 2_000_000;
/// How often each is loaded in a pass, in one shard. The first load of a process takes half as long
/// again as the next, which have its memory.
const TURNS: usize = 3;
const PAGES: u64 = 100;
/// How often the same is read, of which the best counts: after the first time it is cached, unless a
/// compaction put other files in the place of those that were read.
const UNTIL_CACHED: usize = 4;
/// At most so many times the time of SlateDB.
const FACTOR: f64 = 1.3;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Measure {
    LoadMany,
    Load,
    Synced,
    Put(usize),
    Cold,
    Warm,
    Page,
    Scan,
}

impl Measure {
    const ALL: [Measure; 10] = [
        Measure::LoadMany,
        Measure::Load,
        Measure::Synced,
        Measure::Put(CLIENTS[0]),
        Measure::Put(CLIENTS[1]),
        Measure::Put(CLIENTS[2]),
        Measure::Cold,
        Measure::Warm,
        Measure::Page,
        Measure::Scan,
    ];

    fn title(self) -> String {
        match self {
            Measure::LoadMany => {
                format!("load of {} rows, synced once", thousands(MANY_ROWS as f64))
            }
            Measure::Load => {
                format!("load of {} rows, until all is in files", thousands(ROWS as f64))
            }
            Measure::Synced => format!("load of {} rows, synced once", thousands(ROWS as f64)),
            Measure::Put(1) => "put a row, durable, 1 client".to_owned(),
            Measure::Put(clients) => format!("put a row, durable, {clients} clients"),
            Measure::Cold => "get a row, nothing cached".to_owned(),
            Measure::Warm => "get a row, cached".to_owned(),
            Measure::Page => format!("page of {} rows by an index", contender::PAGE),
            Measure::Scan => "scan, rows".to_owned(),
        }
    }
}

/// Rates by measure and shards; of each the best.
#[derive(Default)]
struct Figures {
    ours: Best,
    raw: Best,
    /// What a million of each costs, in requests of ours.
    requests: BTreeMap<Measure, Requests>,
}

impl Figures {
    fn of(&mut self, is_ours: bool) -> &mut Best {
        if is_ours { &mut self.ours } else { &mut self.raw }
    }
}

/// Proves that everything runs; the figures mean nothing.
pub(crate) fn quick(program: &Path, directory: &Path) -> Result<()> {
    let mut figures = Figures::default();
    let size = Size { rows: 500, many_rows: 2_000, seconds: Duration::from_millis(300) };
    pass(directory, &[1], size, &mut figures)?;
    print!("{}\n{}", table(&figures, &[1])?, nodes(program, directory, size, 1)?);
    Ok(())
}

/// The nodes as a table, or why there is none.
fn nodes(program: &Path, directory: &Path, size: Size, passes: u32) -> Result<String> {
    let programs = match Programs::find(program) {
        Ok(programs) => programs,
        Err(missing) => return Ok(format!("{missing}\n")),
    };
    let mut figures = nodes::Figures::default();
    for number in 1..=passes {
        eprintln!("objects: nodes, pass {number} of {passes}");
        programs.pass(directory, size, &mut figures)?;
    }
    figures.markdown()
}

/// Measures everything and writes the report.
pub(crate) fn run(program: &Path, directory: &Path, docs: &Path, passes: u32) -> Result<()> {
    let mut figures = Figures::default();
    let seconds = Duration::from_secs(SECONDS);
    let size = Size { rows: ROWS, many_rows: MANY_ROWS, seconds };
    for number in 1..=passes {
        eprintln!("objects: pass {number} of {passes}");
        pass(directory, &SHARDS, size, &mut figures)?;
    }
    let nodes = nodes(program, directory, size, passes)?;
    let (table, goals) = (table(&figures, &SHARDS)?, goal::markdown(&goals(&figures))?);
    let (machine, costs) = (machine::markdown()?, costs(&figures)?);
    let section = format!(
        "{machine}\n{table}\n\
         ![Rate of the database as a multiple of SlateDB's own](benchmarks/objects.svg)\n\n\
         {nodes}\n{costs}\n{goals}",
    );
    page::replace_section(&docs.join("benchmarks.md"), "objects", &section)?;
    page::write(&docs.join("benchmarks/objects.svg"), &chart(&figures).svg()?)?;
    print!("{section}");
    Ok(())
}

fn pass(directory: &Path, shards: &[u16], size: Size, figures: &mut Figures) -> Result<()> {
    // In one shard, which the goals are for: many rows take much of the memory that all is in.
    for is_ours in [true, false].repeat(TURNS) {
        load_many(&mut *open(directory, is_ours, 1)?, size, figures.of(is_ours))?;
    }
    for is_ours in [true, false].repeat(TURNS) {
        let mut contender = open(directory, is_ours, 1)?;
        load(&mut *contender, 1, size, figures.of(is_ours))?;
        contender.close()?;
    }
    for shards in shards.iter().copied() {
        // By turns, so that both have the same neighbours.
        for is_ours in [true, false] {
            let mut contender = open(directory, is_ours, shards)?;
            measure(&mut *contender, shards, size, figures.of(is_ours))?;
            if is_ours && shards == 1 {
                count(&mut *contender, size, &mut figures.requests)?;
            }
            contender.close()?;
        }
    }
    Ok(())
}

/// One of them, with nothing in it.
fn open(directory: &Path, is_ours: bool, shards: u16) -> Result<Box<dyn Contender>> {
    let place = contender::place(directory)?;
    Ok(match is_ours {
        true => Box::new(ours::Ours::open(&place, shards)?),
        false => Box::new(raw::Raw::open(&place, shards)?),
    })
}

/// The best rates so far, by measure and shards.
type Best = BTreeMap<(Measure, u16), f64>;

fn add(best: &mut Best, key: (Measure, u16), count: u64, seconds: f64) {
    let rate = count as f64 / seconds;
    let best = best.entry(key).or_insert(rate);
    *best = best.max(rate);
}

fn load_many(contender: &mut dyn Contender, size: Size, best: &mut Best) -> Result<()> {
    let (seconds, ()) = timed(|| contender.load(size.many_rows))?;
    add(best, (Measure::LoadMany, 1), size.many_rows, seconds);
    contender.close()
}

fn load(contender: &mut dyn Contender, shards: u16, size: Size, best: &mut Best) -> Result<()> {
    let (synced, ()) = timed(|| contender.load(size.rows))?;
    let (filed, ()) = timed(|| contender.flush())?;
    add(best, (Measure::Synced, shards), size.rows, synced);
    add(best, (Measure::Load, shards), size.rows, synced + filed);
    Ok(())
}

fn measure(contender: &mut dyn Contender, shards: u16, size: Size, best: &mut Best) -> Result<()> {
    load(contender, shards, size, best)?;
    let mut add = |measure, count, seconds| add(best, (measure, shards), count, seconds);
    for clients in CLIENTS {
        let (began, until) = (now(), now() + size.seconds);
        let done = contender.put(size.rows, clients, until)?;
        add(Measure::Put(clients), done, began.elapsed().as_secs_f64());
    }
    contender.reopen()?;
    let (seconds, ()) = timed(|| contender.get(&picks(COLD_READS, size.rows)))?;
    add(Measure::Cold, COLD_READS, seconds);
    let warm = picks(READS, size.rows);
    // An owner has a page of rows.
    let pages = PAGES.min(size.rows / contender::PAGE);
    for _ in 0..UNTIL_CACHED {
        let (seconds, ()) = timed(|| contender.get(&warm))?;
        add(Measure::Warm, READS, seconds);
    }
    for _ in 0..UNTIL_CACHED {
        let (seconds, ()) = timed(|| contender.pages(pages))?;
        add(Measure::Page, pages, seconds);
    }
    let (seconds, found) = timed(|| contender.scan())?;
    anyhow::ensure!(found == size.rows, "{found} rows of {} were found", size.rows);
    add(Measure::Scan, found, seconds);
    Ok(())
}

/// The requests that a million of each would take.
fn count(
    contender: &mut dyn Contender,
    size: Size,
    requests: &mut BTreeMap<Measure, Requests>,
) -> Result<()> {
    let mut of = |measure, count: u64, before: Requests, after: Requests| {
        requests.insert(measure, after.since(before).for_a_million(count));
    };
    for clients in CLIENTS {
        let before = contender.requests()?;
        let done = contender.put(size.rows, clients, now() + size.seconds)?;
        of(Measure::Put(clients), done, before, contender.requests()?);
    }
    contender.reopen()?;
    let before = contender.requests()?;
    contender.get(&picks(COLD_READS, size.rows))?;
    of(Measure::Cold, COLD_READS, before, contender.requests()?);
    Ok(())
}

/// Rows in no order.
fn picks(count: u64, rows: u64) -> Vec<u64> {
    (0..count).map(|number| number.wrapping_mul(2_654_435_761) % rows).collect()
}

fn table(figures: &Figures, shards: &[u16]) -> Result<String> {
    let mut text = String::from("| |");
    for shards in shards {
        let plural = if *shards == 1 { "" } else { "s" };
        write!(text, " stonecrop, {shards} shard{plural} | SlateDB, {shards} |")?;
    }
    writeln!(text, "\n|---|{}", "---:|".repeat(2 * shards.len()))?;
    for measure in Measure::ALL {
        write!(text, "| {} |", measure.title())?;
        for shards in shards {
            let key = (measure, *shards);
            let (Some(ours), Some(raw)) = (figures.ours.get(&key), figures.raw.get(&key)) else {
                text.push_str(" | |");
                continue;
            };
            write!(text, " {}/s ({}) | {}/s |", rate(*ours), times(ours / raw), rate(*raw))?;
        }
        text.push('\n');
    }
    Ok(text)
}

/// For each measure a bar for every number of shards.
fn chart(figures: &Figures) -> Bars {
    let ratio = |measure, shards| {
        let key = (measure, shards);
        Some(figures.ours.get(&key)? / figures.raw.get(&key)?)
    };
    let group = |measure: Measure| Group {
        label: measure.title(),
        ratios: SHARDS.map(|shards| vec![ratio(measure, shards)]).into(),
    };
    Bars {
        title: "The database on object storage",
        subtitle: "Rate as a multiple of SlateDB's own; more is better; the scale is logarithmic",
        unit: "SlateDB",
        panels: vec!["1 shard", "2 shards", "4 shards"],
        series: vec![("stonecrop", "#00795a")],
        labels: 290.0,
        groups: Measure::ALL.map(group).into(),
    }
}

fn costs(figures: &Figures) -> Result<String> {
    let mut text = String::from("| a million of | puts | gets | dollars |\n|---|---:|---:|---:|\n");
    for (measure, Requests { puts, gets }) in &figures.requests {
        let dollars = puts * 0.005 / 1_000.0 + gets * 0.0004 / 1_000.0;
        let (puts, gets) = (thousands(*puts), thousands(*gets));
        writeln!(text, "| {} | {puts} | {gets} | {} |", measure.title(), rate(dollars))?;
    }
    Ok(text)
}

fn goals(figures: &Figures) -> Vec<Goal> {
    let goal = |measure: Measure| {
        let (ours, raw) = (figures.ours.get(&(measure, 1))?, figures.raw.get(&(measure, 1))?);
        Some(Goal {
            text: format!("{} in at most {FACTOR}× of SlateDB's own time", measure.title()),
            figures: format!("{}/s to {}/s: {}", rate(*ours), rate(*raw), times(raw / ours)),
            met: raw / ours <= FACTOR,
        })
    };
    Measure::ALL.into_iter().filter_map(goal).collect()
}
