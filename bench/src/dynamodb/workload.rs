//! What is asked, and what the answers have to be.

use anyhow::{Context, Result, ensure};
use memchr::memmem;
use serde_json::Value;

use super::data::{
    CUSTOMERS, EVENTS, PARTITION, batch, check_batch, customer, customer_key, event_text, notes,
    object, request, told,
};

pub(super) const BATCH: u64 = 25;
const TRANSACTION: u64 = 4;
const BEGINNING: usize = 16;

/// A row of the report.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Workload {
    Put,
    Get,
    Query,
    Batch,
    Update,
    Transact,
}

/// The items that are there before, and those that a measurement may write.
#[derive(Clone, Copy, Debug)]
pub(super) struct Scope {
    pub(super) customers: u64,
    pub(super) partitions: u64,
    /// The number of the first new item.
    pub(super) first: u64,
    /// Which counter is counted.
    pub(super) counter: u64,
}

impl Workload {
    /// In the order of the report.
    pub(super) const ALL: [Workload; 6] = [
        Workload::Put,
        Workload::Get,
        Workload::Query,
        Workload::Batch,
        Workload::Update,
        Workload::Transact,
    ];

    pub(super) fn title(self) -> &'static str {
        match self {
            Workload::Put => "PutItem, 1 KB",
            Workload::Get => "GetItem, 1 KB",
            Workload::Query => "Query of 100 items",
            Workload::Batch => "BatchWriteItem of 25",
            Workload::Update => "UpdateItem, one counter",
            Workload::Transact => "TransactWriteItems of 4",
        }
    }

    /// The bytes of a request.
    pub(super) fn request(self, number: u64, scope: Scope) -> Vec<u8> {
        let first = scope.first + number * self.items();
        match self {
            Workload::Put => {
                let item = customer(first);
                let body = format!(r#"{{"TableName":"{CUSTOMERS}","Item":{item}}}"#);
                request("PutItem", &body)
            }
            Workload::Get => get(&customer_key(any(number, scope.customers))),
            Workload::Query => {
                let partition = any(number, scope.partitions);
                let body = format!(
                    r#"{{"TableName":"{EVENTS}","KeyConditionExpression":"device = :device","ExpressionAttributeValues":{{":device":{{"S":"device {partition}"}}}}}}"#
                );
                request("Query", &body)
            }
            Workload::Batch => {
                let items = (first..first + BATCH).map(customer);
                request("BatchWriteItem", &batch(CUSTOMERS, items))
            }
            Workload::Update => {
                let key = counter_key(scope.counter);
                let body = format!(
                    r#"{{"TableName":"{CUSTOMERS}","Key":{key},"UpdateExpression":"ADD hits :one","ExpressionAttributeValues":{{":one":{{"N":"1"}}}},"ReturnValues":"UPDATED_NEW"}}"#
                );
                request("UpdateItem", &body)
            }
            Workload::Transact => {
                let put = |number| {
                    let item = customer(number);
                    format!(r#"{{"Put":{{"TableName":"{CUSTOMERS}","Item":{item}}}}}"#)
                };
                let puts: Vec<_> = (first..first + TRANSACTION).map(put).collect();
                let body = format!(r#"{{"TransactItems":[{}]}}"#, puts.join(","));
                request("TransactWriteItems", &body)
            }
        }
    }

    /// Whether an answer is right, as far as it tells.
    pub(super) fn check(self, number: u64, scope: Scope, body: &[u8]) -> Result<()> {
        match self {
            Workload::Put | Workload::Transact => object(body).map(drop),
            Workload::Get => check_customer(any(number, scope.customers), body),
            Workload::Query => check_partition(any(number, scope.partitions), body),
            Workload::Batch => check_batch(body),
            Workload::Update => hits(&object(body)?, "Attributes").map(drop),
        }
    }

    /// How many new items a request writes.
    pub(super) fn items(self) -> u64 {
        match self {
            Workload::Put => 1,
            Workload::Batch => BATCH,
            Workload::Transact => TRANSACTION,
            Workload::Get | Workload::Query | Workload::Update => 0,
        }
    }
}

/// All come by, in no order.
fn any(number: u64, of: u64) -> u64 {
    number.wrapping_mul(2_654_435_761) % of
}

fn counter_key(counter: u64) -> String {
    format!(r#"{{"id":{{"S":"counter {counter}"}}}}"#)
}

fn get(key: &str) -> Vec<u8> {
    let body = format!(r#"{{"TableName":"{CUSTOMERS}","Key":{key},"ConsistentRead":true}}"#);
    request("GetItem", &body)
}

pub(super) fn get_customer(number: u64) -> Vec<u8> {
    get(&customer_key(number))
}

pub(super) fn get_counter(counter: u64) -> Vec<u8> {
    get(&counter_key(counter))
}

/// Only the beginning is searched for: to make ready for a search of all of it took the client a third
/// of its time.
pub(super) fn check_customer(number: u64, body: &[u8]) -> Result<()> {
    let notes = notes(number).as_bytes();
    let (beginning, _) = notes.split_at(BEGINNING);
    let is_whole = |at: usize| body.get(at..).is_some_and(|rest| rest.starts_with(notes));
    let found = memmem::find_iter(body, beginning).any(is_whole);
    ensure!(found, "customer {number} was not answered, but {}", told(body));
    Ok(())
}

/// All of a partition, in its order. An event is looked for as far behind the one before as that was
/// behind its own, and only then anywhere: a search for each took the client a quarter of the time.
fn check_partition(partition: u64, body: &[u8]) -> Result<()> {
    let (mut rest, mut gap) = (body, 0);
    for at in 0..PARTITION {
        let text = event_text(partition, at).as_bytes();
        if !rest.get(gap..).is_some_and(|rest| rest.starts_with(text)) {
            gap = memmem::find(rest, text).with_context(|| {
                format!("event {at} of device {partition} is not in its place: {}", told(body))
            })?;
        }
        rest = rest.get(gap + text.len()..).unwrap_or_default();
    }
    Ok(())
}

/// The value of the counter that an answer tells.
pub(super) fn hits(answer: &Value, part: &str) -> Result<u64> {
    let number = answer.pointer(&format!("/{part}/hits/N")).and_then(Value::as_str);
    let number = number.with_context(|| format!("an answer without a count: {answer}"))?;
    number.parse().with_context(|| format!("not a count: {number}"))
}

#[cfg(test)]
mod tests {
    use super::super::data::event;
    use super::*;

    #[test]
    fn a_partition_has_to_be_there_whole_and_in_order() {
        let body = |events: &mut dyn Iterator<Item = u64>| {
            events.map(|at| event(7, at)).collect::<Vec<_>>().join(",").into_bytes()
        };
        assert!(check_partition(7, &body(&mut (0..PARTITION))).is_ok());
        assert!(check_partition(7, &body(&mut (0..PARTITION).rev())).is_err());
        assert!(check_partition(7, &body(&mut (1..PARTITION))).is_err());
        assert!(check_partition(8, &body(&mut (0..PARTITION))).is_err());
    }

    #[test]
    fn a_customer_is_told_from_another() {
        assert!(check_customer(3, customer(3).as_bytes()).is_ok());
        assert!(check_customer(3, customer(4).as_bytes()).is_err());
    }
}
