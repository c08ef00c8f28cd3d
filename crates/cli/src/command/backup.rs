//! `stonecrop backup`: a copy to go back to.

use clap::Args;
use hyper::Method;
use stonecrop_server::api::Backup;

use super::copy::{self, Form};
use crate::client::Location;
use crate::command::heading;
use crate::error::{Error, Result};
use crate::session::Session;

/// Makes a verified copy of the database, as it is at this moment
///
/// Of a server's database the server makes it, in the place that it was started with (--backups),
/// and goes on meanwhile.
#[derive(Args)]
#[command(after_help = HELP)]
pub(crate) struct Arguments {
    /// Where to: a folder or a place on object storage that is empty or not there
    to: Option<String>,
    #[command(flatten)]
    form: Form,
}

const HELP: &str = concat!(
    heading!("Examples:"),
    "
  stonecrop backup /backups/monday
  stonecrop --database s3://bucket/path backup /backups/monday
  stonecrop serve ./data --backups s3://bucket/backups
  stonecrop --database http://localhost:8321 backup"
);

pub(crate) fn run(arguments: &Arguments, session: &mut Session) -> Result<()> {
    let of_server = matches!(session.target().location()?, Location::Url(_));
    match (&arguments.to, of_server) {
        (Some(to), false) => {
            let from = session.target().text().to_owned();
            copy::copy(&from, to, &arguments.form, session)
        }
        (None, true) => {
            let client = session.open()?;
            let backup = client.call(Method::POST, "/v1/backups", None)?;
            client.close()?;
            let backup: Backup = serde_json::from_slice(&backup).map_err(|error| {
                Error::Unreachable(format!("an answer makes no sense: {error}"))
            })?;
            let Backup { location, entries, bytes } = backup;
            copy::tell(&location, entries, bytes, arguments.form.json, session)
        }
        (Some(_), true) => Err(Error::Usage(
            "a server makes its backups where it was told to with --backups; name no place".into(),
        )),
        (None, false) => Err(Error::Usage("name the place of the backup".into())),
    }
}
