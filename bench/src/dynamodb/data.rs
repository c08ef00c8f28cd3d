//! The items, and requests as the wire has them.

use std::sync::LazyLock;

use anyhow::{Context, Result, bail, ensure};
use serde_json::Value;

/// Items of about 1 KB, whose key is one text.
pub(super) const CUSTOMERS: &str = "customers";
/// Items of about 100 bytes, many to a partition.
pub(super) const EVENTS: &str = "events";
/// How many events a partition has.
pub(super) const PARTITION: u64 = 100;

const NOTES: usize = 700;
const WORDS: u64 = 8 << 10;

/// What texts are cut from: no two windows are alike, and they do not compress well.
static LETTERS: LazyLock<String> =
    LazyLock::new(|| (0..WORDS).map(|word| format!("{:016x}", mixed(word))).collect());

/// A number that looks random, another for each number (the end of SplitMix64).
fn mixed(number: u64) -> u64 {
    let number = number.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let number = (number ^ (number >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let number = (number ^ (number >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    number ^ (number >> 31)
}

fn letters(number: u64, length: usize) -> &'static str {
    let place = mixed(number) as usize % (LETTERS.len() - length);
    LETTERS.get(place..place + length).unwrap_or_default()
}

/// The key of a customer.
pub(super) fn customer_key(number: u64) -> String {
    format!(r#"{{"id":{{"S":"customer#{:016x}"}}}}"#, mixed(number))
}

/// What only that customer has.
pub(super) fn notes(number: u64) -> &'static str {
    letters(number, NOTES)
}

pub(super) fn customer(number: u64) -> String {
    let id = mixed(number);
    let notes = notes(number);
    format!(
        r#"{{"id":{{"S":"customer#{id:016x}"}},"name":{{"S":"Customer {number}"}},"email":{{"S":"customer.{number}@example.com"}},"visits":{{"N":"{number}"}},"score":{{"N":"0.{}"}},"active":{{"BOOL":true}},"tags":{{"L":[{{"S":"new"}},{{"S":"europe"}}]}},"address":{{"M":{{"street":{{"S":"{} Long Road"}},"city":{{"S":"Marburg"}},"zip":{{"S":"35037"}}}}}},"notes":{{"S":"{notes}"}}}}"#,
        id % 1_000 + 1,
        id % 200,
    )
}

/// What only that event has.
pub(super) fn event_text(partition: u64, at: u64) -> &'static str {
    letters(u64::MAX - (partition * PARTITION + at), 60)
}

pub(super) fn event(partition: u64, at: u64) -> String {
    let text = event_text(partition, at);
    format!(
        r#"{{"device":{{"S":"device {partition}"}},"at":{{"N":"{at}"}},"kind":{{"S":"reading"}},"text":{{"S":"{text}"}}}}"#,
    )
}

/// A put of an item, as batches have it.
pub(super) fn put_request(item: &str) -> String {
    format!(r#"{{"PutRequest":{{"Item":{item}}}}}"#)
}

/// A batch of puts into one table.
pub(super) fn batch(table: &str, items: impl Iterator<Item = String>) -> String {
    let puts: Vec<_> = items.map(|item| put_request(&item)).collect();
    format!(r#"{{"RequestItems":{{"{table}":[{}]}}}}"#, puts.join(","))
}

/// A whole request, with a signature of the right form.
pub(super) fn request(operation: &str, body: &str) -> Vec<u8> {
    let length = body.len();
    format!(
        "POST / HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/x-amz-json-1.0\r\n\
         x-amz-target: DynamoDB_20120810.{operation}\r\nx-amz-date: 20260101T000000Z\r\n\
         authorization: AWS4-HMAC-SHA256 \
         Credential=bench/20260101/us-east-1/dynamodb/aws4_request, \
         SignedHeaders=host;x-amz-date;x-amz-target, \
         Signature=0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef\r\n\
         content-length: {length}\r\n\r\n{body}"
    )
    .into_bytes()
}

/// An answer that has to be an object.
pub(super) fn object(body: &[u8]) -> Result<Value> {
    let value: Value = serde_json::from_slice(body).with_context(|| told(body))?;
    ensure!(value.is_object(), "not an object: {}", told(body));
    Ok(value)
}

/// Nothing of a batch may be left.
pub(super) fn check_batch(body: &[u8]) -> Result<()> {
    match object(body)?.get("UnprocessedItems").and_then(Value::as_object) {
        Some(left) if left.is_empty() => Ok(()),
        _ => bail!("something of the batch was left: {}", told(body)),
    }
}

/// An answer, for a message.
pub(super) fn told(body: &[u8]) -> String {
    String::from_utf8_lossy(body.get(..500).unwrap_or(body)).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_customer_is_about_1_kb_and_an_event_about_100_bytes() {
        let customer: Value = serde_json::from_str(&customer(1_234_567)).unwrap();
        let event: Value = serde_json::from_str(&event(7, 42)).unwrap();
        assert_eq!(customer["notes"]["S"], notes(1_234_567));
        assert!((900..1_200).contains(&customer.to_string().len()));
        assert!((100..180).contains(&event.to_string().len()));
    }

    #[test]
    fn a_batch_of_which_something_is_left_is_an_error() {
        assert!(check_batch(br#"{"UnprocessedItems":{}}"#).is_ok());
        assert!(check_batch(br#"{"UnprocessedItems":{"customers":[]}}"#).is_err());
        assert!(check_batch(b"{}").is_err());
    }
}
