//! BatchGetItem and BatchWriteItem.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::Serialize;
use serde_json::{Map, Value as Json, json};
use stonecrop::RowKey;
use stonecrop_dynamodb::expression::Projection;
use stonecrop_dynamodb::value::{Item, ItemWrite, check_put_size, decode_item};

use super::capacity::{Cost, collection, read_units};
use super::change::{Action, Change};
use super::expressions::{check_kinds, placeholders, projection};
use super::faults::{
    Faults, RETURN_CAPACITY, RETURN_METRICS, check_name_length, length_rule, name_of,
};
use super::input::Input;
use super::item::Shown;
use super::known::Known;
use super::refusal::{Refusal, Result};
use super::shown::shown_list;
use super::wire::Answer;
use crate::app::App;

const MOST_KEYS: usize = 100;
const MOST_WRITES: usize = 25;
/// What exceeds this is left for the client to ask again.
const MOST_BYTES: usize = 16 << 20;

/// The keys of one table that are asked for.
struct Asked {
    /// As the client named the table, and named it again in the answer.
    name: String,
    /// The request for it, without the keys.
    rest: Map<String, Json>,
    keys: Vec<(Json, Item)>,
    projection: Option<Projection>,
    is_consistent: bool,
}

fn duplicates() -> Refusal {
    Refusal::validation("Provided list of item keys contains duplicates")
}

/// Refuses the same key twice.
fn check_apart<'k>(keys: impl Iterator<Item = &'k RowKey<'static>> + Clone) -> Result<()> {
    let twice = |at: usize, key: &RowKey<'static>| keys.clone().skip(at + 1).any(|k| k == key);
    match keys.clone().enumerate().any(|(at, key)| twice(at, key)) {
        true => Err(duplicates()),
        false => Ok(()),
    }
}

/// The requests by table, and the rules that both operations have. `check` has those for the list
/// of one table.
fn request_items(
    input: &mut Input,
    operation: &str,
    check: impl Fn(&mut Faults, &str, &Json),
) -> Result<Vec<(String, Json)>> {
    let is_empty = |json: &Json| json.as_object().is_some_and(Map::is_empty);
    let is_missing = match input.get("RequestItems") {
        // Of one that is there, but empty, only reads tell as of other parameters.
        Some(json) => operation == "BatchWriteItem" && is_empty(json),
        None => true,
    };
    if is_missing {
        return Err(Refusal::validation(format!(
            "The requestItems parameter is required for {operation}"
        )));
    }
    let items = input.take_inner("RequestItems").unwrap_or_default().into_fields();
    check_tables(input, &items, check)?;
    Ok(items.into_iter().collect())
}

/// The rules for tables and other parameters of both operations.
fn check_tables<'t, T: 't>(
    input: &Input,
    tables: impl IntoIterator<Item = (&'t String, &'t T)> + Copy,
    check: impl Fn(&mut Faults, &str, &T),
) -> Result<()> {
    let mut faults = Faults::default();
    faults.one_of(input, "ReturnConsumedCapacity", RETURN_CAPACITY);
    faults.one_of(input, "ReturnItemCollectionMetrics", RETURN_METRICS);
    if tables.into_iter().next().is_none() {
        faults.length(0, "{}", "requestItems", 1, 25);
    }
    for (name, asked) in tables {
        faults.table(name, &format!("requestItems.{name}"));
        check(&mut faults, name, asked);
    }
    faults.finish()?;
    tables.into_iter().try_for_each(|(name, _)| check_name_length(name_of(name)))
}

/// Whether there is something to write, but not too much, to every table.
pub(super) fn are_few(writes: &BTreeMap<String, Vec<ItemWrite>>) -> bool {
    let is_right = |writes: &Vec<ItemWrite>| (1..=MOST_WRITES).contains(&writes.len());
    !writes.is_empty() && writes.values().all(is_right)
}

/// The number of keys of one table, whose place the service writes as it was sent.
fn check_keys(faults: &mut Faults, name: &str, json: &Json) {
    let length = json["Keys"].as_array().map_or(0, Vec::len);
    if let Some(rule) = length_rule(length, 1, MOST_KEYS) {
        faults.add_unshown(&format!("RequestItems.{name}.member.Keys"), &rule);
    }
}

/// The number of writes to one table; the service tells of a map where there are too many.
fn check_writes(faults: &mut Faults, name: &str, json: &Json) {
    let writes = json.as_array().map_or(&[][..], Vec::as_slice);
    if writes.len() <= MOST_WRITES {
        return faults.list(writes, &format!("requestItems.{name}.member"), 1, MOST_WRITES);
    }
    let rule = format!(
        "Map value must satisfy constraint: [Member must have length less than or equal to \
         {MOST_WRITES}, Member must have length greater than or equal to 1]"
    );
    faults.add(Some(&format!("{{{name}={}}}", shown_list(writes))), "requestItems", &rule);
}

pub(super) async fn get(app: &App, mut input: Input) -> Result<Answer> {
    let mut tables = Vec::new();
    for (name, json) in request_items(&mut input, "BatchGetItem", check_keys)? {
        tables.push(asked(name, Input::of(json))?);
    }
    if tables.iter().map(|asked| asked.keys.len()).sum::<usize>() > MOST_KEYS {
        return Err(Refusal::validation("Too many items requested for the BatchGetItem call"));
    }
    let mut found = Vec::new();
    for asked in tables {
        let known = app.known(name_of(&asked.name)).await?;
        let keys = asked.keys.iter().map(|(_, key)| known.key_of(key));
        let keys = keys.collect::<Result<Vec<_>>>()?;
        check_apart(keys.iter())?;
        found.push((asked, known, keys));
    }
    let now = app.database.now();
    let wish = input.text("ReturnConsumedCapacity").map(str::to_owned);
    app.apart(move |_| {
        let mut read = Vec::new();
        for (asked, known, keys) in found {
            let rows = known.table.multi_get(keys, None)?;
            read.push((asked, known, rows));
        }
        let mut answer = Got::default();
        let mut bytes = 0;
        for (asked, known, rows) in &read {
            let (mut told, mut cost, mut left) = (Vec::new(), Cost::default(), Vec::new());
            for (row, (key, _)) in rows.iter().zip(&asked.keys) {
                let row = row.as_ref().filter(|row| !known.is_over(row, now));
                let size = row.map_or(0, |row| known.size(row, |_| true));
                if bytes + size > MOST_BYTES {
                    left.push(key.clone());
                    continue;
                }
                bytes += size;
                cost.table += read_units(size, asked.is_consistent);
                told.extend(row.map(|row| Shown::new(known, row, asked.projection.as_ref())));
            }
            let costs = cost.told(known.table.name(), wish.as_deref());
            answer.consumed_capacity.extend(costs);
            answer.responses.insert(&asked.name, told);
            if !left.is_empty() {
                let mut rest = asked.rest.clone();
                rest.insert("Keys".to_owned(), left.into());
                answer.unprocessed_keys.insert(&asked.name, rest);
            }
        }
        Ok(Answer::new(&answer))
    })
    .await
}

/// What BatchGetItem answers.
#[derive(Default, Serialize)]
#[serde(rename_all = "PascalCase")]
struct Got<'r> {
    responses: BTreeMap<&'r str, Vec<Shown<'r>>>,
    unprocessed_keys: BTreeMap<&'r str, Map<String, Json>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    consumed_capacity: Vec<Json>,
}

fn asked(name: String, mut input: Input) -> Result<Asked> {
    check_kinds(&input, &["ProjectionExpression"], &["AttributesToGet"])?;
    let is_consistent = input.flag("ConsistentRead");
    let keys = input.take_list("Keys");
    let rest = input.clone().into_fields();
    let keys = keys.into_iter().map(|json| Ok((json.clone(), decode_item(json)?)));
    let keys = keys.collect::<Result<Vec<(Json, Item)>>>()?;
    let mut places = placeholders(&mut input)?;
    let projection = projection(&mut input, &mut places)?;
    places.check_all_used()?;
    let twice = |at: usize, key: &Item| keys.iter().skip(at + 1).any(|(_, other)| other == key);
    if keys.iter().enumerate().any(|(at, (_, key))| twice(at, key)) {
        return Err(duplicates());
    }
    Ok(Asked { name, rest, keys, projection, is_consistent })
}

pub(super) async fn write(app: &App, mut input: Input) -> Result<Json> {
    let tables = writes(&mut input)?;
    if tables.iter().map(|(_, writes)| writes.len()).sum::<usize>() > MOST_WRITES {
        return Err(Refusal::validation("Too many items requested for the BatchWriteItem call"));
    }
    let mut all = Vec::new();
    for (name, writes) in tables {
        let known = app.known(name_of(&name)).await?;
        let tells_cost = input.has("ReturnConsumedCapacity");
        let changes = writes.into_iter().map(|write| change(app, &known, write, tells_cost));
        let changes = changes.collect::<Result<Vec<_>>>()?;
        check_apart(changes.iter().map(|change| &change.row_key))?;
        all.push((known, changes));
    }
    let (mut costs, mut metrics) = (Vec::new(), BTreeMap::new());
    for (known, changes) in all {
        let tells_metrics = input.text("ReturnItemCollectionMetrics") == Some("SIZE");
        let keys = changes.iter().filter(|_| tells_metrics).map(|change| change.key_item());
        let keys: Vec<Item> = keys.collect();
        let mut cost = Cost::default();
        for outcome in app.change_all(changes).await? {
            cost.add(&Cost::of_write(&known, &outcome), 1.0);
        }
        let name = known.table.name();
        costs.extend(cost.told(name, input.text("ReturnConsumedCapacity")));
        let sizes: Vec<Json> = keys.iter().filter_map(|key| collection(&known, key)).collect();
        if !sizes.is_empty() {
            metrics.insert(name.to_owned(), sizes);
        }
    }
    let mut answer = json!({"UnprocessedItems": {}});
    if let Some(fields) = answer.as_object_mut() {
        if !costs.is_empty() {
            fields.insert("ConsumedCapacity".to_owned(), costs.into());
        }
        if !metrics.is_empty() {
            fields.insert("ItemCollectionMetrics".to_owned(), json!(metrics));
        }
    }
    Ok(answer)
}

/// What is written to each table.
fn writes(input: &mut Input) -> Result<Vec<(String, Vec<ItemWrite>)>> {
    if let Some(tables) = input.take_writes() {
        check_tables(input, &tables, |_, _, _| {})?;
        tables.values().flatten().try_for_each(check_size)?;
        return Ok(tables.into_iter().collect());
    }
    let mut tables = Vec::new();
    for (name, json) in request_items(input, "BatchWriteItem", check_writes)? {
        let Json::Array(list) = json else { continue };
        let writes = list.into_iter().map(|json| write_of(Input::of(json)));
        tables.push((name, writes.collect::<Result<Vec<_>>>()?));
    }
    Ok(tables)
}

fn check_size(write: &ItemWrite) -> Result<()> {
    match write {
        ItemWrite::Put(item) => Ok(check_put_size(item)?),
        ItemWrite::Delete(_) => Ok(()),
    }
}

/// A put with its item, or a delete with its key.
fn write_of(mut input: Input) -> Result<ItemWrite> {
    let write = match (input.take_inner("PutRequest"), input.take_inner("DeleteRequest")) {
        (Some(mut put), None) => ItemWrite::Put(put.take_item("Item")?),
        (None, Some(mut delete)) => ItemWrite::Delete(delete.take_item("Key")?),
        _ => {
            return Err(Refusal::validation(
                "Supplied AttributeValue has more than one datatypes set, must contain exactly one \
                 of the supported datatypes",
            ));
        }
    };
    check_size(&write)?;
    Ok(write)
}

fn change(app: &App, known: &Arc<Known>, write: ItemWrite, keeps_items: bool) -> Result<Change> {
    let (row_key, key, action) = match write {
        ItemWrite::Put(item) => {
            // A batch tells of a wrong key in other words than a put.
            let row_key = known.key_of(&known.key_item(&item))?;
            Change::check_put(known, &item)?;
            (row_key, Item::new(), Action::Put(item))
        }
        ItemWrite::Delete(key) => (known.key_of(&key)?, key, Action::Delete),
    };
    let (known, now) = (known.clone(), app.database.now());
    let (condition, tells_item) = (None, false);
    Ok(Change { known, row_key, key, action, condition, tells_item, keeps_items, now })
}
