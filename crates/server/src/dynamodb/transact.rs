//! TransactWriteItems and TransactGetItems.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::{Map, Value as Json, json};
use stonecrop::{Error, RowKey, Table, Write};
use stonecrop_dynamodb::value::{Item, ItemAction, check_put_size, encode_item, item_size};

use super::capacity::{Cost, Costs, collection, read_units};
use super::change::{Action, Cell, Change, Outcome, is_refused, take_outcome};
use super::expressions::{condition, placeholders, projection, update};
use super::faults::{Faults, RETURN_CAPACITY, RETURN_METRICS, RETURN_ON_FAILURE, table_name};
use super::input::Input;
use super::items::check_update;
use super::known::Known;
use super::refusal::{Refusal, Result};
use super::shapes;
use super::tokens::{self, Token};
use crate::app::App;
use crate::problem::Problem;

const MOST_ACTIONS: usize = 100;
const MOST_BYTES: usize = 4 << 20;
/// How often a transaction is tried again that met a change of a table.
const TRIES: usize = 20;

/// The rules for single parameters of both operations.
fn check(input: &Input) -> Result<()> {
    let mut faults = Faults::default();
    faults.required(input, "TransactItems");
    // Those that were read already are neither too few nor too many.
    if input.get("TransactItems").is_some() {
        faults.list(input.list("TransactItems"), "transactItems", 1, MOST_ACTIONS);
    }
    faults.one_of(input, "ReturnConsumedCapacity", RETURN_CAPACITY);
    faults.one_of(input, "ReturnItemCollectionMetrics", RETURN_METRICS);
    faults.text(input.text("ClientRequestToken"), "clientRequestToken", 1, 36);
    faults.finish()
}

/// Whether there is something to do, but not too much, and all parameters are of their shapes.
pub(super) fn are_simple(actions: &[ItemAction]) -> bool {
    let is_right =
        |action: &ItemAction| shapes::check("TransactWriteItems", &action.parameters).is_ok();
    (1..=MOST_ACTIONS).contains(&actions.len()) && actions.iter().all(is_right)
}

fn one_item() -> Refusal {
    Refusal::validation("Transaction request cannot include multiple operations on one item")
}

pub(super) async fn write(app: &App, mut input: Input) -> Result<Json> {
    check(&input)?;
    let actions = input.take_actions();
    let request = actions.iter().map(|action| action.to_json().to_string());
    let token = input.text("ClientRequestToken").map(|text| Token::new(text, request));
    let tells_cost = input.has("ReturnConsumedCapacity");
    let mut changes = Vec::new();
    for action in actions {
        changes.push(change(app, action, tells_cost).await?);
    }
    let changes = all_or_cancelled(changes)?;
    check_apart(&changes)?;
    check_size(&changes)?;
    let changes = changes.into_iter().map(Arc::new).collect::<Vec<_>>();
    match commit(app, &changes, token).await? {
        Committed::Before => Ok(json!({})),
        Committed::Now(outcomes) if outcomes.iter().any(|outcome| outcome.refusal.is_some()) => {
            Err(cancelled(&outcomes))
        }
        Committed::Now(outcomes) => Ok(told(&input, &changes, &outcomes)),
    }
}

/// What is wrong with the request is an error; what its table has against it is one within.
async fn change(app: &App, mut input: Input, keeps_items: bool) -> Result<Result<Change>> {
    let given: Vec<&str> = ItemAction::KINDS.into_iter().filter(|kind| input.has(kind)).collect();
    let [kind] = given.as_slice() else {
        return Err(Refusal::validation(
            "TransactItems can only contain one of Check, Put, Update or Delete",
        ));
    };
    let mut action = input.take_inner(kind).unwrap_or_default();
    let mut faults = Faults::default();
    faults.table_name(&action);
    faults.required(&action, ItemAction::item_of(kind));
    faults.one_of(&action, "ReturnValuesOnConditionCheckFailure", RETURN_ON_FAILURE);
    match *kind {
        "Update" => faults.required(&action, "UpdateExpression"),
        "ConditionCheck" => faults.required(&action, "ConditionExpression"),
        _ => {}
    }
    faults.finish()?;
    let name = table_name(&action)?;
    let mut item = action.take_item(ItemAction::item_of(kind))?;
    let mut places = placeholders(&mut action)?;
    let update = update(&mut action, &mut places)?;
    let condition = condition(&mut action, &mut places)?;
    places.check_all_used()?;
    let known = app.known(&name).await?;
    let does = match *kind {
        "Put" => Action::Put(std::mem::take(&mut item)),
        "Update" => Action::Update(update),
        "Delete" => Action::Delete,
        _ => Action::Check,
    };
    let key = item;
    let row_key = match key_of_action(&known, &does, &key) {
        Ok(row_key) => row_key,
        Err(refusal) => return Ok(Err(refusal)),
    };
    let tells_item = action.text("ReturnValuesOnConditionCheckFailure") == Some("ALL_OLD");
    let now = app.database.now();
    let change =
        Change { known, row_key, key, action: does, condition, tells_item, keeps_items, now };
    let new = change.known.undeclared(change.names());
    let known = app.known_with(change.known.clone(), new).await?;
    Ok(Ok(Change { known, ..change }))
}

/// The key of the row that an action is about, if the table can take the action.
fn key_of_action(known: &Known, action: &Action, key: &Item) -> Result<RowKey<'static>> {
    if let Action::Put(item) = action {
        let row_key = known.key_in(item)?;
        Change::check_put(known, item)?;
        check_put_size(item)?;
        return Ok(row_key);
    }
    let row_key = known.key_of(key)?;
    if let Action::Update(Some(update)) = action {
        check_update(known, update)?;
    }
    Ok(row_key)
}

/// All that was asked for; if its table had something against any, the transaction is cancelled.
fn all_or_cancelled<T>(asked: Vec<Result<T>>) -> Result<Vec<T>> {
    if asked.iter().all(Result::is_ok) {
        return asked.into_iter().collect();
    }
    let outcome = |one: Result<T>| Outcome { refusal: one.err(), ..Outcome::default() };
    Err(cancelled(&asked.into_iter().map(outcome).collect::<Vec<_>>()))
}

pub(super) fn check_apart(changes: &[Change]) -> Result<()> {
    let is_same = |a: &Change, b: &Change| {
        a.known.table.name() == b.known.table.name() && a.row_key == b.row_key
    };
    let twice = changes
        .iter()
        .enumerate()
        .any(|(at, change)| changes.iter().skip(at + 1).any(|other| is_same(change, other)));
    if twice { Err(one_item()) } else { Ok(()) }
}

fn check_size(changes: &[Change]) -> Result<()> {
    let size = changes.iter().map(|change| match &change.action {
        Action::Put(item) => item_size(item),
        _ => item_size(&change.key),
    });
    match size.sum::<usize>() > MOST_BYTES {
        true => Err(Refusal::validation("Collection size exceeded: 4 MB for a transaction")),
        false => Ok(()),
    }
}

/// What became of a transaction.
pub(super) enum Committed {
    /// Each of its changes has an outcome; if any has a refusal, none was made.
    Now(Vec<Outcome>),
    /// It was done before, with the same token.
    Before,
}

/// Does all changes or none, and tells what became of each.
pub(super) async fn commit(
    app: &App,
    changes: &[Arc<Change>],
    token: Option<Token>,
) -> Result<Committed> {
    let tokens = match &token {
        Some(_) => Some(app.apart(|database| Ok(tokens::table(database)?)).await?),
        None => None,
    };
    let mut changes = changes.to_vec();
    for _ in 0..TRIES {
        let cells: Vec<Cell> = changes.iter().map(|_| Cell::default()).collect();
        let token_write = tokens.iter().cloned().zip(token.iter().map(Token::write));
        let mut all: Vec<(Table, Write<'_>)> = token_write.collect();
        all.extend(writes(&changes, &cells));
        match app.write_across(all).await {
            Err(problem) if problem.kind.code == "altered" => {
                for change in &mut changes {
                    *change = Arc::new(change.renewed(app).await?);
                }
                continue;
            }
            Err(problem) if problem.kind.code != "condition-failed" => return Err(problem.into()),
            Ok(_) | Err(_) => {}
        }
        if token.as_ref().map_or(Ok(false), Token::was_done)? {
            return Ok(Committed::Before);
        }
        return Ok(Committed::Now(cells.iter().map(take_outcome).collect()));
    }
    Err(Problem::from(Error::Altered).into())
}

fn writes<'c>(changes: &'c [Arc<Change>], cells: &[Cell]) -> Vec<(Table, Write<'c>)> {
    let mut writes: Vec<_> = changes
        .iter()
        .zip(cells)
        .map(|(change, cell)| (change.known.table.clone(), change.deciding_with_others(cell)))
        .collect();
    // All are decided on before the last write undoes them, so that every reason can be told.
    if let Some(last) = changes.last() {
        let cells = cells.to_vec();
        let verdict =
            Write::decide(last.row_key.clone(), move |_| match cells.iter().any(is_refused) {
                true => Err(Error::Refused { reason: "a condition failed".to_owned() }),
                false => Ok(None),
            });
        writes.push((last.known.table.clone(), verdict));
    }
    writes
}

pub(super) fn cancelled(outcomes: &[Outcome]) -> Refusal {
    let code = |outcome: &Outcome| outcome.refusal.as_ref().map_or("None", Refusal::code);
    let reason = |outcome: &Outcome| {
        let mut reason = Map::new();
        reason.insert("Code".to_owned(), code(outcome).into());
        if let Some(refusal) = &outcome.refusal {
            reason.insert("Message".to_owned(), refusal.message.as_str().into());
            reason.extend(refusal.more.clone());
        }
        Json::from(reason)
    };
    let codes: Vec<&str> = outcomes.iter().map(code).collect();
    let message = format!(
        "Transaction cancelled, please refer cancellation reasons for specific reasons [{}]",
        codes.join(", ")
    );
    let reasons: Vec<Json> = outcomes.iter().map(reason).collect();
    Refusal::new("TransactionCanceledException", message)
        .with("CancellationReasons", reasons.into())
}

fn told(input: &Input, changes: &[Arc<Change>], outcomes: &[Outcome]) -> Json {
    let mut metrics: BTreeMap<&str, Vec<Json>> = BTreeMap::new();
    let tells_metrics = input.text("ReturnItemCollectionMetrics") == Some("SIZE");
    for change in changes.iter().filter(|_| tells_metrics) {
        if let Some(size) = collection(&change.known, &change.key_item()) {
            metrics.entry(change.known.table.name()).or_default().push(size);
        }
    }
    let mut answer = Map::new();
    costs(changes, outcomes).tell(input.text("ReturnConsumedCapacity"), &mut answer);
    if !metrics.is_empty() {
        answer.insert("ItemCollectionMetrics".to_owned(), json!(metrics));
    }
    answer.into()
}

/// A transaction costs twice what its writes would.
pub(super) fn costs(changes: &[Arc<Change>], outcomes: &[Outcome]) -> Costs {
    let mut costs = Costs::default();
    for (change, outcome) in changes.iter().zip(outcomes) {
        costs.add(&change.known, &Cost::of_write(&change.known, outcome), 2.0);
    }
    costs
}

pub(super) async fn get(app: &App, mut input: Input) -> Result<Json> {
    check(&input)?;
    let mut asked = Vec::new();
    for json in input.take_list("TransactItems") {
        let mut action = Input::of(json).take_inner("Get").unwrap_or_default();
        let mut faults = Faults::default();
        faults.table_name(&action);
        faults.required(&action, "Key");
        faults.finish()?;
        let name = table_name(&action)?;
        let key = action.take_item("Key")?;
        let mut places = placeholders(&mut action)?;
        let projection = projection(&mut action, &mut places)?;
        places.check_all_used()?;
        let known = app.known(&name).await?;
        let row_key = known.key_of(&key);
        asked.push(row_key.map(|row_key| (known, row_key, projection)));
    }
    let asked = all_or_cancelled(asked)?;
    let is_same = |at: usize| {
        let Some((known, key, _)) = asked.get(at) else { return false };
        let mut others = asked.iter().skip(at + 1);
        others.any(|(other, k, _)| known.table.name() == other.table.name() && k == key)
    };
    if (0..asked.len()).any(is_same) {
        return Err(one_item());
    }
    let now = app.database.now();
    let wish = input.text("ReturnConsumedCapacity").map(str::to_owned);
    app.apart(move |database| {
        let mut responses = Vec::new();
        let mut costs = Costs::default();
        let keys = asked.iter().map(|(known, key, _)| (&known.table, key.clone()));
        let rows = database.get_all(keys)?;
        for ((known, _, projection), row) in asked.into_iter().zip(rows) {
            let item = row.and_then(|row| known.item(&row, now));
            let size = item.as_ref().map_or(0, item_size);
            let cost = Cost::of_read(read_units(size, true));
            costs.add(&known, &cost, 2.0);
            responses.push(match (item, projection) {
                (None, _) => json!({}),
                (Some(item), None) => json!({"Item": encode_item(&item)}),
                (Some(item), Some(only)) => json!({"Item": encode_item(&only.apply(&item))}),
            });
        }
        let mut answer = Map::new();
        answer.insert("Responses".to_owned(), responses.into());
        costs.tell(wish.as_deref(), &mut answer);
        Ok(answer.into())
    })
    .await
}
