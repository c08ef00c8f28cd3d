//! GetShardIterator: where in a stream to read on.

use serde_json::{Value as Json, json};
use stonecrop::Timestamp;

use super::{FIRST_SEQUENCE_NUMBER, or_trimmed, stream_of};
use crate::app::App;
use crate::dynamodb::about::StreamAbout;
use crate::dynamodb::faults::Faults;
use crate::dynamodb::input::Input;
use crate::dynamodb::known::Known;
use crate::dynamodb::refusal::{Refusal, Result};

const KINDS: &[&str] = &["AFTER_SEQUENCE_NUMBER", "LATEST", "AT_SEQUENCE_NUMBER", "TRIM_HORIZON"];

/// Where in a stream to read on. As text it is the stream's ARN, a version, and numbers with a check.
pub(super) struct Place {
    pub(super) arn: String,
    /// The number of the change before.
    pub(super) after: u64,
    pub(super) made: Timestamp,
}

impl Place {
    pub(super) fn to_text(&self) -> String {
        let body = format!("{}|1|{}.{}", self.arn, self.made.as_micros(), self.after);
        let check = crc32fast::hash(body.as_bytes());
        format!("{body}.{check:08x}")
    }

    pub(super) fn parse(text: &str) -> Result<Self> {
        let parsed = || {
            let (arn, numbers) = text.split_once("|1|")?;
            let (made, numbers) = numbers.split_once('.')?;
            let after = numbers.split_once('.')?.0.parse().ok()?;
            let made = Timestamp::from_micros(made.parse().ok()?);
            let place = Place { arn: arn.to_owned(), after, made };
            (place.to_text() == text).then_some(place)
        };
        parsed().ok_or_else(|| {
            Refusal::validation("Invalid ShardIterator: it was not made by GetShardIterator")
        })
    }
}

pub(super) async fn get(app: &App, input: Input) -> Result<Json> {
    let mut faults = Faults::default();
    for name in ["StreamArn", "ShardId", "ShardIteratorType"] {
        faults.required(&input, name);
    }
    faults.text(input.text("StreamArn"), "streamArn", 37, 1024);
    faults.text(input.text("ShardId"), "shardId", 28, 65);
    faults.text(input.text("SequenceNumber"), "sequenceNumber", 21, 40);
    faults.one_of(&input, "ShardIteratorType", KINDS);
    faults.finish()?;
    let text = |name| input.text(name).unwrap_or_default().to_owned();
    let (arn, shard, kind) = (text("StreamArn"), text("ShardId"), text("ShardIteratorType"));
    let number = match kind.as_str() {
        "AT_SEQUENCE_NUMBER" | "AFTER_SEQUENCE_NUMBER" => Some(number(&input, &kind)?),
        _ => None,
    };
    let (known, stream) = stream_of(app, &arn).await?;
    if stream.shard(known.table.name()) != shard {
        return Err(Refusal::new(
            "ResourceNotFoundException",
            format!("Requested resource not found: Shard: {shard} in stream {arn} not found"),
        ));
    }
    let made = app.database.now();
    let after = app.apart(move |_| start(&known, &stream, &kind, number)).await?;
    Ok(json!({"ShardIterator": Place { arn, after, made }.to_text()}))
}

/// The number of a change by its sequence number.
fn number(input: &Input, kind: &str) -> Result<u64> {
    let Some(text) = input.text("SequenceNumber") else {
        return Err(Refusal::validation(format!(
            "The parameter SequenceNumber is required for ShardIteratorType {kind}"
        )));
    };
    let number = text.parse::<u128>().ok().and_then(|n| n.checked_sub(FIRST_SEQUENCE_NUMBER));
    number.and_then(|number| u64::try_from(number).ok()).ok_or_else(|| no_number(text))
}

fn no_number(text: &str) -> Refusal {
    Refusal::validation(format!("Invalid SequenceNumber: {text} is none of this shard"))
}

/// The number that an iterator begins after.
fn start(known: &Known, stream: &StreamAbout, kind: &str, number: Option<u64>) -> Result<u64> {
    let table = &known.table;
    let last = table.last_change()?.min(stream.last());
    let Some(number) = number else {
        if kind == "LATEST" {
            return Ok(last);
        }
        // The oldest one that is kept may be of a stream before this one, or after it.
        let oldest = table.changes(None, 1)?;
        let before = oldest.changes.first().map_or(oldest.next, |change| change.number - 1);
        return Ok(before.max(stream.after).min(stream.last()));
    };
    if number <= stream.after || number > last {
        return Err(no_number(&super::sequence_number(number)));
    }
    let after = if kind == "AT_SEQUENCE_NUMBER" { number - 1 } else { number };
    if after < stream.last() {
        or_trimmed(table.changes(Some(after), 0))?;
    }
    Ok(after)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_comes_back_from_its_text_and_a_changed_one_does_not() {
        let arn = "arn:aws:dynamodb:us-east-1:000000000000:table/t.a|1|b/stream/2024".to_owned();
        let place = Place { arn: arn.replace("|1|", "-"), after: 7, made: Timestamp::MIN };
        let text = place.to_text();
        let back = Place::parse(&text).unwrap();
        assert_eq!((back.arn, back.after, back.made), (place.arn, 7, Timestamp::MIN));
        for changed in [text.replace(".7.", ".8."), text.replace("/t", "/u"), "|1|..".to_owned()] {
            assert_eq!(Place::parse(&changed).err().unwrap().kind, "ValidationException");
        }
    }
}
