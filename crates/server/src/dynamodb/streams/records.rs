//! GetRecords: changes of items, as the view of the stream shows them.

use std::time::Duration;

use serde_json::{Map, Value as Json, json};
use stonecrop::Change;
use stonecrop_dynamodb::value::{Item, encode_item, item_size};

use super::iterator::Place;
use super::{or_trimmed, sequence_number, stream_of};
use crate::app::App;
use crate::dynamodb::about::StreamAbout;
use crate::dynamodb::faults::Faults;
use crate::dynamodb::input::Input;
use crate::dynamodb::known::Known;
use crate::dynamodb::refusal::{Refusal, Result};

const MOST_RECORDS: i64 = 1_000;
/// How long an iterator can be used.
const FRESH: Duration = Duration::from_secs(15 * 60);

pub(super) async fn get(app: &App, input: Input) -> Result<Json> {
    let mut faults = Faults::default();
    faults.required(&input, "ShardIterator");
    faults.text(input.text("ShardIterator"), "shardIterator", 1, 2048);
    let limit = input.integer("Limit");
    faults.at_least(limit, "limit", 1);
    faults.at_most(limit, "limit", MOST_RECORDS);
    faults.finish()?;
    let limit = limit.unwrap_or(MOST_RECORDS) as usize;
    let place = Place::parse(input.text("ShardIterator").unwrap_or_default())?;
    let now = app.database.now();
    if place.made + FRESH < now {
        return Err(Refusal::new(
            "ExpiredIteratorException",
            "Iterator expired. It was made more than 15 minutes ago; ask for a new one with \
             GetShardIterator, after the last SequenceNumber that was read.",
        ));
    }
    let (known, stream) = stream_of(app, &place.arn).await?;
    let mut answer = Map::new();
    let (mut records, mut after) = (Vec::new(), place.after);
    if after < stream.last() {
        (records, after) = app.apart(move |_| read(&known, &stream, after, limit)).await?;
        let next = Place { after, made: now, ..place };
        // A shard that is closed has an end.
        if after < u64::MAX {
            answer.insert("NextShardIterator".to_owned(), next.to_text().into());
        }
    }
    answer.insert("Records".to_owned(), records.into());
    Ok(answer.into())
}

/// Records, and the number to go on after; the largest there is at the end of the shard.
fn read(known: &Known, stream: &StreamAbout, after: u64, limit: usize) -> Result<(Vec<Json>, u64)> {
    let page = or_trimmed(known.table.changes(Some(after), limit))?;
    let own = page.changes.iter().filter(|change| change.number <= stream.last());
    let records = own.filter_map(|change| record(known, stream, change)).collect();
    let next = if page.next >= stream.last() { u64::MAX } else { page.next };
    Ok((records, next))
}

/// A change as a record; none where no item was changed, but a copy for an index.
fn record(known: &Known, stream: &StreamAbout, change: &Change) -> Option<Json> {
    let item =
        |row: &Option<stonecrop::Row>| -> Option<Item> { known.item(row.as_ref()?, change.at) };
    let (old, new) = (item(&change.old), item(&change.new));
    let event = match (&old, &new) {
        (None, Some(_)) => "INSERT",
        (Some(_), None) => "REMOVE",
        (Some(old), Some(new)) if old != new => "MODIFY",
        _ => return None,
    };
    let keys = known.key_item(new.as_ref().or(old.as_ref())?);
    let mut size = item_size(&keys);
    let mut told = json!({
        "ApproximateCreationDateTime": change.at.as_micros() / 1_000_000,
        "Keys": encode_item(&keys),
        "SequenceNumber": sequence_number(change.number),
        "StreamViewType": stream.view,
    });
    let fields = told.as_object_mut()?;
    let shows = |view: &str| stream.view == view || stream.view == "NEW_AND_OLD_IMAGES";
    for (name, view, image) in [("OldImage", "OLD_IMAGE", old), ("NewImage", "NEW_IMAGE", new)] {
        if let Some(image) = image.filter(|_| shows(view)) {
            size += item_size(&image);
            fields.insert(name.to_owned(), encode_item(&image));
        }
    }
    fields.insert("SizeBytes".to_owned(), size.into());
    let of_stream = crc32fast::hash(stream.arn(known.table.name()).as_bytes());
    Some(json!({
        "eventID": format!("{of_stream:016x}{:016x}", change.number),
        "eventName": event,
        "eventVersion": "1.1",
        "eventSource": "aws:dynamodb",
        "awsRegion": "us-east-1",
        "dynamodb": told,
    }))
}
