//! `stonecrop changes`: what writes did to the rows of a table.

use std::collections::BTreeMap;
use std::io::Write as _;

use clap::Args;
use serde_json::Value as Json;
use stonecrop_server::api::{Changes, RowChange};

use crate::client::{Client, Location, escape, table_path};
use crate::command::heading;
use crate::error::{Error, Result};
use crate::output::{DIM, visible};
use crate::session::Session;
use crate::value::to_show;

/// So many changes are asked for at a time.
const PAGE: usize = 1_000;
/// So long a server is asked to wait for the next; it would not wait for ever.
const WAIT: &str = "10s";

/// Shows the changes of a table that keeps them
///
/// They come in the order in which they were committed, from the oldest on that is kept. A line has
/// the number of the change, when it was, the key of the row, and the columns that differ.
#[derive(Args)]
#[command(after_help = HELP)]
pub(crate) struct Arguments {
    /// The table
    table: String,

    /// Only those after this number, or "latest" for those to come
    #[arg(long, value_name = "NUMBER")]
    after: Option<String>,

    /// Wait for further ones, until Ctrl-C
    #[arg(long)]
    follow: bool,

    /// Print a JSON document a change, one a line
    #[arg(long)]
    json: bool,
}

const HELP: &str = concat!(
    heading!("Examples:"),
    "
  stonecrop table alter people --changes 24h
  stonecrop changes people
  stonecrop --database http://localhost:8321 changes people --after latest --follow
  stonecrop changes people --after 17 --json | jq .new"
);

pub(crate) fn run(arguments: &Arguments, session: &mut Session) -> Result<()> {
    if arguments.follow && !matches!(session.target().location()?, Location::Url(_)) {
        return Err(Error::Usage(
            "nobody else writes to a folder while this has it open: follow the changes of a \
             server, with --database http://…"
                .to_owned(),
        ));
    }
    let client = session.open_to_read()?;
    let mut after = arguments.after.clone();
    loop {
        let page = page(arguments, after.as_deref(), &client)?;
        page.changes.iter().try_for_each(|change| match arguments.json {
            true => session.print_json(change),
            false => show(change, session),
        })?;
        if !page.more && !arguments.follow {
            break;
        }
        session.out().flush().map_err(Error::Output)?;
        after = Some(page.next.to_string());
    }
    client.close()
}

fn page(arguments: &Arguments, after: Option<&str>, client: &Client) -> Result<Changes> {
    let mut path = table_path(&arguments.table, &format!("/changes?take={PAGE}"));
    if let Some(after) = after {
        path.push_str(&format!("&after={}", escape(after)));
    }
    if arguments.follow {
        path.push_str(&format!("&wait={WAIT}"));
    }
    client.get(&path)
}

fn show(change: &RowChange, session: &mut Session) -> Result<()> {
    let nothing = BTreeMap::new();
    let (old, new) = (change.old.as_ref(), change.new.as_ref());
    let what = match (old, new) {
        (None, _) => "new",
        (_, None) => "gone",
        _ => "changed",
    };
    let (old, new) = (old.unwrap_or(&nothing), new.unwrap_or(&nothing));
    let mut differences = Vec::new();
    for name in old.keys().chain(new.keys().filter(|name| !old.contains_key(*name))) {
        match (old.get(name), new.get(name)) {
            (before, after) if before == after => {}
            (Some(before), Some(after)) => {
                differences.push(format!("{name} {} -> {}", to_show(before), to_show(after)));
            }
            (Some(before), None) if what == "changed" => {
                differences.push(format!("{name} {} -> nothing", to_show(before)));
            }
            (before, after) => {
                let value = before.or(after).map(to_show).unwrap_or_default();
                differences.push(format!("{name} {value}"));
            }
        }
    }
    let (key, differences) = (key_text(change), differences.join(", "));
    let (number, at) = (change.number, &change.at);
    let line = format!("{what:7}  {}  {}", visible(&key), visible(&differences));
    session.say(&format!("{number}  {DIM}{at}{DIM:#}  {}", line.trim_end()))
}

/// The key as it is given to other commands.
fn key_text(change: &RowChange) -> String {
    match serde_json::from_str(change.key.0.get()) {
        Ok(Json::String(text)) => text,
        _ => change.key.0.get().to_owned(),
    }
}
