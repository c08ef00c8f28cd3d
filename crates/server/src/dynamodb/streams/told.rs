//! What is told of streams: ListStreams and DescribeStream.

use serde_json::{Map, Value as Json, json};

use super::{seconds, sequence_number, stream_of};
use crate::app::App;
use crate::dynamodb::about::About;
use crate::dynamodb::describe::description;
use crate::dynamodb::faults::{Faults, table_name};
use crate::dynamodb::input::Input;
use crate::dynamodb::refusal::{Refusal, Result};

const MOST_LISTED: i64 = 100;

pub(super) async fn list(app: &App, input: Input) -> Result<Json> {
    let mut faults = Faults::default();
    if input.has("TableName") {
        faults.table_name(&input);
    }
    let limit = limit(&input, &mut faults);
    faults.text(input.text("ExclusiveStartStreamArn"), "exclusiveStartStreamArn", 37, 1024);
    faults.finish()?;
    let only = input.has("TableName").then(|| table_name(&input)).transpose()?;
    let start = input.text("ExclusiveStartStreamArn").map(str::to_owned);
    let now = seconds(app);
    let streams = app.apart(move |database| {
        let mut streams = Vec::new();
        for name in database.tables() {
            if only.as_ref().is_some_and(|only| *only != name) {
                continue;
            }
            let about = About::read(database, &name)?.unwrap_or_default();
            streams.extend(about.streams(now).map(|stream| {
                let arn = stream.arn(&name);
                let told =
                    json!({"StreamArn": arn, "TableName": name, "StreamLabel": stream.label});
                (arn, told)
            }));
        }
        streams.sort_by(|(a, _), (b, _)| a.cmp(b));
        streams.retain(|(arn, _)| start.as_ref().is_none_or(|start| arn > start));
        Ok(streams)
    });
    let mut streams = streams.await?;
    let has_more = streams.len() > limit;
    streams.truncate(limit);
    let mut answer = Map::new();
    if let Some((last, _)) = streams.last().filter(|_| has_more) {
        answer.insert("LastEvaluatedStreamArn".to_owned(), last.as_str().into());
    }
    let streams: Vec<Json> = streams.into_iter().map(|(_, told)| told).collect();
    answer.insert("Streams".to_owned(), streams.into());
    Ok(answer.into())
}

fn limit(input: &Input, faults: &mut Faults) -> usize {
    let limit = input.integer("Limit");
    faults.at_least(limit, "limit", 1);
    faults.at_most(limit, "limit", MOST_LISTED);
    limit.unwrap_or(MOST_LISTED) as usize
}

pub(super) async fn describe(app: &App, mut input: Input) -> Result<Json> {
    let mut faults = Faults::default();
    faults.required(&input, "StreamArn");
    faults.text(input.text("StreamArn"), "streamArn", 37, 1024);
    faults.text(input.text("ExclusiveStartShardId"), "exclusiveStartShardId", 28, 65);
    limit(&input, &mut faults);
    let filter = input.take_inner("ShardFilter");
    if let Some(filter) = &filter {
        faults.word(filter.text("Type"), "shardFilter.type", &["CHILD_SHARDS"]);
        faults.text(filter.text("ShardId"), "shardFilter.shardId", 28, 65);
    }
    faults.finish()?;
    if filter.as_ref().is_some_and(|filter| !filter.has("Type") || !filter.has("ShardId")) {
        return Err(Refusal::validation("A ShardFilter needs a Type and a ShardId"));
    }
    let arn = input.text("StreamArn").unwrap_or_default();
    let (known, stream) = stream_of(app, arn).await?;
    let name = known.table.name();
    let shard = stream.shard(name);
    let mut range = json!({"StartingSequenceNumber": sequence_number(stream.after + 1)});
    if let (Some(end), Some(range)) = (&stream.end, range.as_object_mut()) {
        let last = sequence_number(end.number.max(stream.after + 1));
        range.insert("EndingSequenceNumber".to_owned(), last.into());
    }
    // There is one, without children.
    let is_shown = filter.is_none() && input.text("ExclusiveStartShardId") != Some(&shard);
    let shards = is_shown.then(|| json!({"ShardId": shard, "SequenceNumberRange": range}));
    let made = format!("{}Z", stream.label).parse::<jiff::Timestamp>().unwrap_or_default();
    Ok(json!({"StreamDescription": {
        "StreamArn": arn,
        "StreamLabel": stream.label,
        "StreamStatus": if stream.end.is_some() { "DISABLED" } else { "ENABLED" },
        "StreamViewType": stream.view,
        "CreationRequestDateTime": made.as_millisecond() as f64 / 1e3,
        "TableName": name,
        "KeySchema": description(&known, "ACTIVE").get("KeySchema"),
        "Shards": Vec::from_iter(shards),
    }}))
}
