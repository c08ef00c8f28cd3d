//! The process that is killed: it writes, and says what was acknowledged.
//!
//! A line on stdout each: `pid N`, `open`, `try N`, `ack N`, `begin STEP` (a change of the catalog,
//! in JSON), `done`, `maintain flush|compact`, `error KIND MESSAGE`, `accepted` (a write after a
//! failed one), `reopened`.

use std::io::Write as _;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};

use stonecrop::{Database, Error};

use crate::batch::{EVENTS, FIRST, LANES, PEOPLE, Tables, open, read_rows};
use crate::side::{Sides, Step};
use crate::{Result, kind};

/// Write numbered batches until killed, and say which were acknowledged.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Where the database is, or is made.
    folder: PathBuf,
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// The number of the first batch, a multiple of 4.
    #[arg(long, default_value_t = FIRST)]
    first: u64,
    /// The number of the first change of the catalog.
    #[arg(long, default_value_t = 1)]
    first_step: u64,
    /// 1 or 4.
    #[arg(long, default_value_t = 1)]
    threads: u64,
    /// How many batches are written.
    #[arg(long, default_value_t = 100_000)]
    batches: u64,
    /// Only open, flush and compact.
    #[arg(long)]
    open_only: bool,
    /// After an error, see that writes are refused and reads are not; then open again and go on.
    #[arg(long)]
    after_error: bool,
}

/// Says a line at once; who does not listen any more ends the writer.
fn say(line: std::fmt::Arguments<'_>) {
    if writeln!(std::io::stdout().lock(), "{line}").is_err() {
        std::process::exit(3);
    }
}

pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    say(format_args!("pid {}", std::process::id()));
    let mut next = arguments.first + arguments.batches;
    let opened = open(&arguments.folder).inspect_err(|error| {
        say(format_args!("error unopened {} {error}", kind(error)));
    });
    let written = opened.and_then(|db| {
        say(format_args!("open"));
        write(arguments, &db).inspect_err(|error| {
            say(format_args!("error {} {error}", kind(error)));
            if arguments.after_error {
                (next..next + 3).for_each(|batch| try_refused(&db, batch));
                next += 4;
                if let Err(error) = read_rows(&db, PEOPLE).and_then(|_| read_rows(&db, EVENTS)) {
                    say(format_args!("unread {error}"));
                }
            }
        })
    });
    match written {
        Err(_) if arguments.after_error => {
            let db = open(&arguments.folder)?;
            say(format_args!("reopened"));
            let tables = Tables::create(&db)?;
            (next..next + 4).try_for_each(|batch| write_batch(&db, &tables, batch))?;
            Ok(db.close()?)
        }
        written => Ok(written?),
    }
}

fn try_refused(db: &Database, batch: u64) {
    if Tables::create(db).and_then(|tables| write_batch(db, &tables, batch)).is_ok() {
        say(format_args!("accepted"));
    }
}

fn write(arguments: &Arguments, db: &Database) -> Result<(), Error> {
    if arguments.open_only {
        db.flush()?;
        return db.compact();
    }
    let tables = Tables::create(db)?;
    // Before any thread changes them.
    let sides = Sides::read(db)?;
    let failed = AtomicBool::new(false);
    if arguments.threads == 1 {
        return write_lanes(arguments, db, (&tables, sides), 0, &failed);
    }
    std::thread::scope(|scope| {
        let (tables, failed) = (&tables, &failed);
        let threads: Vec<_> = (0..arguments.threads)
            .map(|thread| {
                let tables = (tables, sides.clone());
                scope.spawn(move || write_lanes(arguments, db, tables, thread, failed))
            })
            .collect();
        let mut ended = threads.into_iter().map(|thread| thread.join());
        ended.try_for_each(|ended| ended.unwrap_or(Err(Error::Closed)))
    })
}

/// Writes the batches of a thread's lanes; the first lane also flushes and compacts, the second
/// changes the catalog.
fn write_lanes(
    arguments: &Arguments,
    db: &Database,
    (tables, mut sides): (&Tables, Sides),
    thread: u64,
    failed: &AtomicBool,
) -> Result<(), Error> {
    let mut random = fastrand::Rng::with_seed(arguments.seed ^ thread);
    let mut step = arguments.first_step;
    let numbers = arguments.first..arguments.first + arguments.batches;
    for batch in numbers.filter(|batch| batch % arguments.threads == thread) {
        let mut act = || {
            write_batch(db, tables, batch)?;
            match batch % LANES {
                0 if random.u32(0..8) == 0 => maintain(db, random.bool()),
                1 if random.u32(0..3) == 0 => {
                    step += 1;
                    change_catalog(db, &mut sides, step - 1, &mut random)
                }
                _ => Ok(()),
            }
        };
        if failed.load(Ordering::Relaxed) {
            break;
        }
        act().inspect_err(|_| failed.store(true, Ordering::Relaxed))?;
    }
    Ok(())
}

fn write_batch(db: &Database, tables: &Tables, batch: u64) -> Result<(), Error> {
    say(format_args!("try {batch}"));
    tables.write(db, batch)?;
    say(format_args!("ack {batch}"));
    Ok(())
}

fn maintain(db: &Database, compact: bool) -> Result<(), Error> {
    if compact {
        say(format_args!("maintain compact"));
        return db.compact();
    }
    say(format_args!("maintain flush"));
    db.flush()
}

fn change_catalog(
    db: &Database,
    sides: &mut Sides,
    number: u64,
    random: &mut fastrand::Rng,
) -> Result<(), Error> {
    let step = Step::choose(number, sides, random);
    say(format_args!("begin {}", serde_json::to_string(&step).unwrap_or_default()));
    step.perform(db)?;
    say(format_args!("done"));
    step.apply(sides);
    Ok(())
}
