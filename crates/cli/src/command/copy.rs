//! `stonecrop copy`: a database from one place to another.

use clap::Args;
use indicatif::{BinaryBytes, HumanCount};
use serde::Serialize;
use stonecrop::{Copied, Database, Options};

use crate::client::{Location, location, must_exist};
use crate::command::heading;
use crate::error::{Error, Result};
use crate::progress;
use crate::session::Session;

/// Copies a database to a new place, on any engine, and verifies the copy
///
/// All of it: tables, rows with their clocks, history, indexes and changes, as they are at one moment.
/// A database on object storage can be in use meanwhile; one in a folder can't.
#[derive(Args)]
#[command(after_help = HELP)]
pub(crate) struct Arguments {
    /// Where it is: a folder, or a place on object storage
    from: String,
    /// Where to: a folder or a place that is empty or not there
    to: String,
    #[command(flatten)]
    pub(super) form: Form,
}

/// What the copy is like, and how it is told of.
#[derive(Args)]
pub(super) struct Form {
    /// The parts of the copy, 1 to 256: 16 on object storage without, and 1 in a folder
    #[arg(long, value_name = "COUNT", value_parser = clap::value_parser!(u16).range(1..=256))]
    shards: Option<u16>,
    /// JSON, for programs
    #[arg(long)]
    pub(super) json: bool,
}

const HELP: &str = concat!(
    heading!("Examples:"),
    "
  stonecrop copy ./data s3://bucket/path
  stonecrop copy s3://bucket/path ./data
  stonecrop copy ./data 'file:///mnt/share/data?engine=slatedb' --shards 4"
);

#[derive(Serialize)]
struct Told<'l> {
    location: &'l str,
    entries: u64,
    bytes: u64,
}

pub(crate) fn run(arguments: &Arguments, session: &mut Session) -> Result<()> {
    copy(&arguments.from, &arguments.to, &arguments.form, session)
}

/// Copies, with a count of what was copied on a terminal.
pub(super) fn copy(from: &str, to: &str, form: &Form, session: &mut Session) -> Result<()> {
    for place in [from, to] {
        if let Location::Url(url) = location(place)? {
            let problem = format!("{url} is a server; name a folder or a place on object storage");
            return Err(Error::Usage(problem));
        }
    }
    let mut options = Options::default();
    if let Location::Folder(folder) = location(from)? {
        must_exist(&folder)?;
    } else {
        options = options.read_only(true);
    }
    let database = Database::open_with(from, options).map_err(Error::Database)?;
    let mut options = Options::default();
    if let Some(shards) = form.shards {
        options = options.shards(shards);
    }
    let bar = progress::entries("copied");
    let show = |copied: Copied| {
        bar.set_position(copied.entries);
        bar.set_message(format!("{} verified", HumanCount(copied.verified)));
    };
    let copied = database.copy_to(to, options, show);
    bar.finish_and_clear();
    let copied = copied.map_err(Error::Database)?;
    database.close().map_err(Error::Database)?;
    tell(to, copied.entries, copied.bytes, form.json, session)
}

pub(super) fn tell(
    location: &str,
    entries: u64,
    bytes: u64,
    json: bool,
    session: &mut Session,
) -> Result<()> {
    if json {
        return session.print_json(&Told { location, entries, bytes });
    }
    let (entries, size) = (HumanCount(entries), BinaryBytes(bytes));
    session.say(&format!("{entries} entries ({size}) are in {location}, and were verified"))
}
