//! `stonecrop demo`: a server with data that lives.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use stonecrop::{Database, Durability, Options};

use super::heading;
use super::serve::{self, Door};
use crate::demo;
use crate::error::{Error, Result};
use crate::session::Session;

const HELP: &str = concat!(
    heading!("Examples:"),
    "
  stonecrop demo
  stonecrop demo --rows 1000000 --listen 127.0.0.1:9000
  stonecrop demo memory: --still

Three tables (accounts, contacts, orders), each fed by sources that age at their own pace: seconds,
minutes, hours. While it runs, the sources deliver again and again, one of them is late now and
then, and every few seconds an account changes hands."
);

/// Serves made-up accounts, contacts and orders that are refreshed all the time
#[derive(clap::Args)]
#[command(after_help = HELP)]
pub(crate) struct Arguments {
    /// The folder of the demo's database, which is filled if it is empty; or "memory:"
    #[arg(default_value = "./stonecrop-demo")]
    location: String,
    /// How many rows to make, of all tables together
    #[arg(long, value_name = "COUNT", default_value_t = 130_000, value_parser = clap::value_parser!(u64).range(100..=100_000_000))]
    rows: u64,
    /// The same seed gives the same rows
    #[arg(long, value_name = "NUMBER", default_value_t = 7)]
    seed: u64,
    /// Nothing is refreshed
    #[arg(long)]
    still: bool,
    #[command(flatten)]
    listening: serve::Listening,
}

pub(crate) fn run(arguments: &Arguments, session: &mut Session) -> Result<()> {
    let mut door = Door::open(&arguments.listening, session)?;
    // What is lost with the power is made again.
    let options = Options::default().durability(Durability::Interval);
    let database = Database::open_with(&arguments.location, options).map_err(Error::Database)?;
    if database.tables().is_empty() {
        session.note(&format!("making {} rows in {}", arguments.rows, arguments.location));
        demo::fill(&database, arguments.rows, arguments.seed).map_err(Error::Database)?;
    }
    let stop = Arc::new(AtomicBool::new(false));
    let refresher = (!arguments.still).then(|| demo::refresh(database.clone(), stop.clone()));
    door.config.location = arguments.location.clone();
    let ended = door.serve(database, session);
    stop.store(true, Ordering::Release);
    if let Some(refresher) = refresher {
        let _ = refresher.join();
    }
    ended
}
