//! PutItem, GetItem, UpdateItem, DeleteItem.

use serde::Serialize;
use serde_json::Value as Json;
use stonecrop_dynamodb::expression::{Projection, Update};
use stonecrop_dynamodb::value::{Encoded, Item, check_put_size};

use super::capacity::{self, Cost, read_units};
use super::change::{Action, Change, Outcome};
use super::expressions::{check_kinds, condition, placeholders, projection, update};
use super::faults::{
    Faults, OPERATOR, RETURN_CAPACITY, RETURN_METRICS, RETURN_ON_FAILURE, RETURN_VALUES, table_name,
};
use super::input::Input;
use super::item::Shown;
use super::known::Known;
use super::refusal::{Refusal, Result};
use super::wire::Answer;
use crate::app::App;

/// Most answers of writes are shorter.
const USUAL_BYTES: usize = 128;

/// The rules for single parameters of a write.
fn check_write(input: &Input, what: &str) -> Result<()> {
    let mut faults = Faults::default();
    faults.table_name(input);
    faults.required(input, what);
    faults.one_of(input, "ReturnValues", RETURN_VALUES);
    faults.one_of(input, "ReturnConsumedCapacity", RETURN_CAPACITY);
    faults.one_of(input, "ReturnItemCollectionMetrics", RETURN_METRICS);
    faults.one_of(input, "ConditionalOperator", OPERATOR);
    faults.one_of(input, "ReturnValuesOnConditionCheckFailure", RETURN_ON_FAILURE);
    faults.finish()
}

fn check_returns_old(input: &Input) -> Result<()> {
    match input.text("ReturnValues") {
        None | Some("ALL_OLD" | "NONE") => Ok(()),
        _ => Err(Refusal::validation("ReturnValues can only be ALL_OLD or NONE")),
    }
}

fn tells_item(input: &Input) -> bool {
    input.text("ReturnValuesOnConditionCheckFailure") == Some("ALL_OLD")
}

/// Whether the answer is made of the items.
fn keeps_items(input: &Input) -> bool {
    input.text("ReturnValues").is_some_and(|wish| wish != "NONE")
        || input.has("ReturnConsumedCapacity")
}

/// What a write answers.
#[derive(Serialize)]
#[serde(rename_all = "PascalCase")]
struct Written<'i> {
    #[serde(skip_serializing_if = "Option::is_none")]
    attributes: Option<Encoded<'i, Item>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    consumed_capacity: Option<Json>,
    #[serde(skip_serializing_if = "Option::is_none")]
    item_collection_metrics: Option<Json>,
}

/// The answer of a write: attributes if there are any, and what else was asked for.
fn answer(input: &Input, change: &Change, outcome: &Outcome, shown: Option<&Item>) -> Answer {
    let written = Written {
        attributes: shown.filter(|shown| !shown.is_empty()).map(Encoded),
        consumed_capacity: capacity::of_write(input, change, outcome),
        item_collection_metrics: capacity::metrics(input, change),
    };
    Answer::with_room(USUAL_BYTES, &written)
}

pub(super) async fn put(app: &App, mut input: Input) -> Result<Answer> {
    check_write(&input, "Item")?;
    let name = table_name(&input)?;
    check_kinds(&input, &["ConditionExpression"], &["Expected", "ConditionalOperator"])?;
    check_returns_old(&input)?;
    let item = input.take_item("Item")?;
    check_put_size(&item)?;
    let mut places = placeholders(&mut input)?;
    let condition = condition(&mut input, &mut places)?;
    places.check_all_used()?;
    let known = app.known(&name).await?;
    let row_key = known.key_in(&item)?;
    Change::check_put(&known, &item)?;
    let change = Change {
        known,
        row_key,
        key: Item::new(),
        action: Action::Put(item),
        condition,
        tells_item: tells_item(&input),
        keeps_items: keeps_items(&input),
        now: app.database.now(),
    };
    let (change, outcome) = app.change(change).await?;
    let shown = outcome.old.as_ref().filter(|_| input.text("ReturnValues") == Some("ALL_OLD"));
    Ok(answer(&input, &change, &outcome, shown))
}

pub(super) async fn delete(app: &App, mut input: Input) -> Result<Answer> {
    check_write(&input, "Key")?;
    let name = table_name(&input)?;
    check_kinds(&input, &["ConditionExpression"], &["Expected", "ConditionalOperator"])?;
    check_returns_old(&input)?;
    let key = input.take_item("Key")?;
    let mut places = placeholders(&mut input)?;
    let condition = condition(&mut input, &mut places)?;
    places.check_all_used()?;
    let known = app.known(&name).await?;
    let change = Change {
        row_key: known.key_of(&key)?,
        known,
        key,
        action: Action::Delete,
        condition,
        tells_item: tells_item(&input),
        keeps_items: keeps_items(&input),
        now: app.database.now(),
    };
    let (change, outcome) = app.change(change).await?;
    let shown = outcome.old.as_ref().filter(|_| input.text("ReturnValues") == Some("ALL_OLD"));
    Ok(answer(&input, &change, &outcome, shown))
}

/// Refuses an update of the key, and one that looks into attributes of keys.
pub(super) fn check_update(known: &Known, update: &Update) -> Result<()> {
    match update.attributes().into_iter().find(|name| known.is_key(name)) {
        None => known.check_scalars(update.paths().into_iter()),
        Some(name) => Err(Refusal::invalid(format!(
            "Cannot update attribute {name}. This attribute is part of the key"
        ))),
    }
}

pub(super) async fn change(app: &App, mut input: Input) -> Result<Answer> {
    check_write(&input, "Key")?;
    let name = table_name(&input)?;
    check_kinds(
        &input,
        &["UpdateExpression", "ConditionExpression"],
        &["AttributeUpdates", "Expected", "ConditionalOperator"],
    )?;
    let key = input.take_item("Key")?;
    let mut places = placeholders(&mut input)?;
    let update = update(&mut input, &mut places)?;
    let condition = condition(&mut input, &mut places)?;
    places.check_all_used()?;
    let known = app.known(&name).await?;
    let row_key = known.key_of(&key)?;
    if let Some(update) = &update {
        check_update(&known, update)?;
    }
    let change = Change {
        known,
        row_key,
        key,
        action: Action::Update(update),
        condition,
        tells_item: tells_item(&input),
        keeps_items: keeps_items(&input),
        now: app.database.now(),
    };
    let (change, outcome) = app.change(change).await?;
    let updated;
    let shown = match (input.text("ReturnValues"), change.update(), &outcome.old, &outcome.new) {
        (Some("ALL_OLD"), _, old, _) => old.as_ref(),
        (Some("ALL_NEW"), _, _, new) => new.as_ref(),
        (Some("UPDATED_OLD"), Some(update), Some(old), _) => {
            updated = update.updated_old(old);
            Some(&updated)
        }
        (Some("UPDATED_NEW"), Some(update), old, Some(new)) => {
            updated = update.updated_new(old.as_ref().unwrap_or(&change.key), new)?;
            Some(&updated)
        }
        _ => None,
    };
    Ok(answer(&input, &change, &outcome, shown))
}

/// What GetItem answers.
#[derive(Default, Serialize)]
#[serde(rename_all = "PascalCase")]
struct Got<'r> {
    #[serde(skip_serializing_if = "Option::is_none")]
    item: Option<Shown<'r>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    consumed_capacity: Option<Json>,
}

pub(super) async fn get(app: &App, mut input: Input) -> Result<Answer> {
    let mut faults = Faults::default();
    faults.table_name(&input);
    faults.required(&input, "Key");
    faults.one_of(&input, "ReturnConsumedCapacity", RETURN_CAPACITY);
    faults.finish()?;
    let name = table_name(&input)?;
    check_kinds(&input, &["ProjectionExpression"], &["AttributesToGet"])?;
    let key = input.take_item("Key")?;
    let mut places = placeholders(&mut input)?;
    let projection = projection(&mut input, &mut places)?;
    places.check_all_used()?;
    let known = app.known(&name).await?;
    let row_key = known.key_of(&key)?;
    known.check_scalars(projection.iter().flat_map(Projection::paths))?;
    let now = app.database.now();
    let row = app.read_here(|| known.table.get(row_key))?.filter(|row| !known.is_over(row, now));
    let wish = input.text("ReturnConsumedCapacity");
    let consumed_capacity = wish.and_then(|_| {
        let size = row.as_ref().map_or(0, |row| known.size(row, |_| true));
        let cost = Cost::of_read(read_units(size, input.flag("ConsistentRead")));
        cost.told(known.table.name(), wish)
    });
    let item = row.as_ref().map(|row| Shown::new(&known, row, projection.as_ref()));
    Ok(Answer::new(&Got { item, consumed_capacity }))
}
