//! Streams: the changes of a table, as the service tells them. A stream is a stretch of the numbers
//! that the database gives to changes, and has one shard.

mod iterator;
mod records;
mod told;

use std::sync::Arc;
use std::time::Duration;

use serde_json::Value as Json;
use stonecrop::{Database, Table};

use super::about::{About, StreamAbout, StreamEnd};
use super::create::{VIEWS, label};
use super::describe::arn;
use super::faults::{Faults, name_of};
use super::input::Input;
use super::known::Known;
use super::refusal::{Refusal, Result};
use crate::app::App;
use crate::auth::Scope;

pub(super) const SERVICE: &str = "DynamoDBStreams_20120810.";
pub(super) const OPERATIONS: [(&str, Scope); 4] = [
    ("DescribeStream", Scope::Read),
    ("GetRecords", Scope::Read),
    ("GetShardIterator", Scope::Read),
    ("ListStreams", Scope::Read),
];

/// How long records are kept, and streams that were switched off.
pub(super) const KEPT: Duration = Duration::from_secs(24 * 3600);
/// Sequence numbers have so many digits at least, and no zeros before them: the numbers of changes
/// are counted from here.
const FIRST_SEQUENCE_NUMBER: u128 = 100_000_000_000_000_000_000;

pub(super) async fn answer(app: &App, operation: &str, input: Input) -> Result<Json> {
    match operation {
        "DescribeStream" => told::describe(app, input).await,
        "GetRecords" => records::get(app, input).await,
        "GetShardIterator" => iterator::get(app, input).await,
        "ListStreams" => told::list(app, input).await,
        _ => Err(Refusal::unknown_operation()),
    }
}

/// The stream that a table is made with.
pub(super) fn created(input: Option<Input>, now: f64) -> Result<Option<StreamAbout>> {
    let missing = "Table is being created with a stream enabled, UpdateViewType is required";
    specified(input.unwrap_or_default(), now, missing)
}

/// The stream that a request switches on.
fn specified(input: Input, now: f64, missing: &str) -> Result<Option<StreamAbout>> {
    if !input.flag("StreamEnabled") {
        return Ok(None);
    }
    let view = input.text("StreamViewType").ok_or_else(|| Refusal::invalid(missing))?;
    let mut faults = Faults::default();
    faults.word(Some(view), "streamSpecification.streamViewType", VIEWS);
    faults.finish()?;
    Ok(Some(StreamAbout { view: view.to_owned(), label: label(now), ..StreamAbout::default() }))
}

/// Switches the stream of a table on or off.
pub(super) fn change(known: &Known, about: &mut About, input: Input, now: f64) -> Result<()> {
    let name = known.table.name();
    let missing = "If stream is being enabled then UpdateViewType is required";
    let stream = specified(input, now, missing)?;
    let kept = known.table.schema()?.kept_changes();
    match (about.stream.take(), stream) {
        (Some(_), Some(_)) => {
            return Err(Refusal::validation(format!(
                "Table already has an enabled stream: TableName: {name}"
            )));
        }
        (None, None) => {
            return Err(Refusal::validation(format!(
                "Table has no stream to disable: TableName: {name}"
            )));
        }
        (None, Some(mut stream)) => {
            stream.kept_before = kept;
            stream.after = known.table.keep_changes(kept.max(Some(KEPT)))?;
            about.stream = Some(stream);
        }
        (Some(mut stream), None) => {
            // As before the stream, unless somebody else has changed it since.
            let is_ours = kept == stream.kept_before.max(Some(KEPT));
            let kept = if is_ours { stream.kept_before } else { kept };
            stream.end = Some(StreamEnd { number: known.table.keep_changes(kept)?, at: now });
            about.former.retain(|stream| !stream.is_over(now));
            about.former.push(stream);
        }
    }
    Ok(())
}

/// Another door keeps the changes of a table for so long, or none any more. That is its stream's end
/// if it has one; or else, what it leaves behind.
pub(crate) fn keep_changes(
    app: &App,
    database: &Database,
    table: &Table,
    keep: Option<Duration>,
) -> stonecrop::Result<()> {
    let _altering = app.dynamodb.lock();
    table.keep_changes(keep)?;
    let Some(about) = About::read(database, table.name())? else { return Ok(()) };
    let mut about = settled(about, table, seconds(app))?;
    if let Some(stream) = &mut about.stream {
        stream.kept_before = keep;
    }
    about.write(database, table.name())?;
    app.dynamodb.forget(table.name());
    Ok(())
}

/// What is told of a table that keeps no changes any more, whoever switched them off: its stream
/// is over.
pub(super) fn settled(mut about: About, table: &Table, now: f64) -> stonecrop::Result<About> {
    if about.stream.is_none() || table.schema()?.kept_changes().is_some() {
        return Ok(about);
    }
    about.former.extend(about.stream.take().map(|stream| {
        let number = table.last_change().unwrap_or(stream.after);
        StreamAbout { end: Some(StreamEnd { number, at: now }), ..stream }
    }));
    Ok(about)
}

impl StreamAbout {
    /// Whether it was switched off so long ago that none of its records is there.
    fn is_over(&self, now: f64) -> bool {
        self.end.as_ref().is_some_and(|end| end.at + KEPT.as_secs_f64() < now)
    }

    pub(super) fn arn(&self, table: &str) -> String {
        format!("{}/stream/{}", arn(table), self.label)
    }

    /// The one shard that it has.
    fn shard(&self, table: &str) -> String {
        let check = crc32fast::hash(self.arn(table).as_bytes());
        format!("shardId-{:020}-{check:08x}", self.after + 1)
    }

    /// The last number that is its own, if there is a last.
    fn last(&self) -> u64 {
        self.end.as_ref().map_or(u64::MAX, |end| end.number)
    }
}

impl About {
    /// The streams that can be read, the oldest first.
    fn streams(&self, now: f64) -> impl Iterator<Item = &StreamAbout> {
        self.former.iter().filter(move |stream| !stream.is_over(now)).chain(&self.stream)
    }
}

/// The stream of an ARN, and its table.
async fn stream_of(app: &App, arn: &str) -> Result<(Arc<Known>, StreamAbout)> {
    let missing = || {
        let message = format!("Requested resource not found: Stream: {arn} not found");
        Refusal::new("ResourceNotFoundException", message)
    };
    let known = app.known(name_of(arn)).await.map_err(|refusal| match refusal.kind {
        "ResourceNotFoundException" => missing(),
        _ => refusal,
    })?;
    let found = known.about.streams(seconds(app)).find(|s| s.arn(known.table.name()) == arn);
    let stream = found.cloned().ok_or_else(missing)?;
    Ok((known, stream))
}

fn seconds(app: &App) -> f64 {
    app.database.now().as_micros() as f64 / 1e6
}

fn sequence_number(number: u64) -> String {
    (FIRST_SEQUENCE_NUMBER + u128::from(number)).to_string()
}

/// That what is asked for is not kept any more.
fn or_trimmed<T>(result: stonecrop::Result<T>) -> Result<T> {
    result.map_err(|error| match error {
        stonecrop::Error::ChangesLost { .. } => Refusal::new(
            "TrimmedDataAccessException",
            "Attempted access beyond trim horizon. Use ShardIteratorType TRIM_HORIZON to start at \
             the oldest available record.",
        ),
        error => error.into(),
    })
}
