//! BatchGetItem and BatchWriteItem.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::Serialize;
use serde_json::{Map, Value as Json, json};
use stonecrop::RowKey;
use stonecrop_dynamodb::expression::Projection;
use stonecrop_dynamodb::value::{Item, check_put_size, decode_item};

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
fn check_apart(keys: &[RowKey<'static>]) -> Result<()> {
    let twice = |at: usize, key: &RowKey<'static>| keys.iter().skip(at + 1).any(|k| k == key);
    match keys.iter().enumerate().any(|(at, key)| twice(at, key)) {
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
    let mut faults = Faults::default();
    faults.one_of(input, "ReturnConsumedCapacity", RETURN_CAPACITY);
    faults.one_of(input, "ReturnItemCollectionMetrics", RETURN_METRICS);
    let items = input.take_inner("RequestItems").unwrap_or_default().into_fields();
    if items.is_empty() {
        faults.length(0, "{}", "requestItems", 1, 25);
    }
    for (name, json) in &items {
        faults.table(name, &format!("requestItems.{name}"));
        check(&mut faults, name, json);
    }
    faults.finish()?;
    items.iter().try_for_each(|(name, _)| check_name_length(name_of(name)))?;
    Ok(items.into_iter().collect())
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
        check_apart(&keys)?;
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
    let mut tables = Vec::new();
    for (name, json) in request_items(&mut input, "BatchWriteItem", check_writes)? {
        let list = json.as_array().cloned().unwrap_or_default();
        let writes = list.into_iter().map(|json| action(Input::of(json)));
        tables.push((name, writes.collect::<Result<Vec<_>>>()?));
    }
    if tables.iter().map(|(_, writes)| writes.len()).sum::<usize>() > MOST_WRITES {
        return Err(Refusal::validation("Too many items requested for the BatchWriteItem call"));
    }
    let mut all = Vec::new();
    for (name, writes) in tables {
        let known = app.known(name_of(&name)).await?;
        let tells_cost = input.has("ReturnConsumedCapacity");
        let changes = writes.into_iter().map(|write| change(app, &known, write, tells_cost));
        let changes = changes.collect::<Result<Vec<_>>>()?;
        let keys: Vec<_> = changes.iter().map(|change| change.row_key.clone()).collect();
        check_apart(&keys)?;
        all.push((known, changes));
    }
    let (mut costs, mut metrics) = (Vec::new(), BTreeMap::new());
    for (known, changes) in all {
        let keys: Vec<Item> = changes.iter().map(|change| change.key.clone()).collect();
        let mut cost = Cost::default();
        for outcome in app.change_all(changes).await? {
            cost.add(&Cost::of_write(&known, &outcome), 1.0);
        }
        let name = known.table.name();
        costs.extend(cost.told(name, input.text("ReturnConsumedCapacity")));
        if input.text("ReturnItemCollectionMetrics") == Some("SIZE") {
            let sizes: Vec<Json> = keys.iter().filter_map(|key| collection(&known, key)).collect();
            if !sizes.is_empty() {
                metrics.insert(name.to_owned(), sizes);
            }
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

/// A put with its item, or a delete with its key.
fn action(mut input: Input) -> Result<(Option<Item>, Option<Item>)> {
    match (input.take_inner("PutRequest"), input.take_inner("DeleteRequest")) {
        (Some(mut put), None) => {
            let item = put.take_item("Item")?;
            check_put_size(&item)?;
            Ok((Some(item), None))
        }
        (None, Some(mut delete)) => Ok((None, Some(delete.take_item("Key")?))),
        _ => Err(Refusal::validation(
            "Supplied AttributeValue has more than one datatypes set, must contain exactly one of \
             the supported datatypes",
        )),
    }
}

fn change(
    app: &App,
    known: &Arc<Known>,
    write: (Option<Item>, Option<Item>),
    keeps_items: bool,
) -> Result<Change> {
    let (row_key, key, action) = match write {
        (Some(item), _) => {
            // A batch tells of a wrong key in other words than a put.
            let key = known.key_item(&item);
            let row_key = known.key_of(&key)?;
            Change::check_put(known, &item)?;
            (row_key, key, Action::Put(item))
        }
        (None, key) => {
            let key = key.unwrap_or_default();
            (known.key_of(&key)?, key, Action::Delete)
        }
    };
    let (known, now) = (known.clone(), app.database.now());
    let (condition, tells_item) = (None, false);
    Ok(Change { known, row_key, key, action, condition, tells_item, keeps_items, now })
}
