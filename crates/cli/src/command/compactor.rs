//! `stonecrop compactor`: compaction of a database on object storage, apart from its servers.

use std::sync::Arc;

use clap::Args;
use stonecrop::{Compactor, Options};
use stonecrop_server::api::Lasting;

use super::serve::stop_signal;
use crate::command::heading;
use crate::error::{Error, Result};
use crate::session::Session;

/// Compacts a database on object storage, for servers that leave it to others
///
/// It rewrites files and removes those that nobody needs any more, until it is stopped. The servers
/// are started with `--no-compaction`. There may be several of these; one that is killed leaves its
/// work to the others.
#[derive(Args)]
#[command(after_help = HELP)]
pub(crate) struct Arguments {
    /// Where the database is: s3://bucket/path, gs://, az:// or file:///path?engine=slatedb
    location: String,
    /// How often it is looked for work
    #[arg(long, value_name = "TIME", default_value = "5s")]
    poll_interval: Lasting,
}

const HELP: &str = concat!(
    heading!("Examples:"),
    "
  stonecrop serve s3://bucket/path --no-compaction
  stonecrop compactor s3://bucket/path"
);

pub(crate) fn run(arguments: &Arguments, session: &mut Session) -> Result<()> {
    let options = Options::default().poll_interval(arguments.poll_interval.0);
    let compactor = Compactor::open(&arguments.location, options).map_err(Error::Database)?;
    let compactor = Arc::new(compactor);
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build();
    let runtime = runtime.map_err(|error| Error::Serve(error.to_string()))?;
    let stop = {
        let _context = runtime.enter();
        stop_signal().map_err(|error| Error::Serve(error.to_string()))?
    };
    let told = compactor.clone();
    runtime.spawn(async move {
        stop.await;
        told.stop();
    });
    session.say(&format!("Stonecrop compacts {}; Ctrl-C stops it", arguments.location))?;
    compactor.wait().map_err(Error::Database)?;
    session.note("stopped; what was begun is left to others");
    Ok(())
}
