//! ExecuteStatement, BatchExecuteStatement, ExecuteTransaction.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::{Map, Value as Json, json};
use stonecrop_dynamodb::expression::{Condition, KeyTest, Placeholders};
use stonecrop_dynamodb::partiql::{Returning, Select, Statement, parse, split_key, told};
use stonecrop_dynamodb::value::{
    Item, check_put_size, decode, decode_item, encode_item, item_size,
};

use super::capacity::{Cost, Costs, read_units};
use super::change::{Action, Change, Outcome};
use super::credentials::check_scope;
use super::faults::{Faults, RETURN_CAPACITY, RETURN_ON_FAILURE, check_name_length, name_of};
use super::found::{Found, Reading};
use super::input::Input;
use super::items::check_update;
use super::known::Known;
use super::refusal::{Refusal, Result};
use super::search::key_attributes;
use super::tokens::Token;
use super::transact::{Committed, cancelled, check_apart, commit, costs};
use crate::app::App;
use crate::auth::Scope;

const MOST_IN_BATCH: usize = 25;
const MOST_IN_TRANSACTION: usize = 100;

/// A statement, and what else is said of it.
struct Asked {
    statement: Statement,
    /// Whether a failed condition tells the item.
    tells_item: bool,
}

/// A statement of a request, read with its parameters.
fn read(input: &mut Input) -> Result<Asked> {
    let mut faults = Faults::default();
    faults.required(input, "Statement");
    faults.text(input.text("Statement"), "statement", 1, 8192);
    faults.one_of(input, "ReturnValuesOnConditionCheckFailure", RETURN_ON_FAILURE);
    faults.finish()?;
    let parameters = input.take_list("Parameters").into_iter().map(|json| Ok(decode(json)?));
    let parameters = parameters.collect::<Result<Vec<_>>>()?;
    let statement = parse(input.text("Statement").unwrap_or_default(), parameters)?;
    let tells_item = input.text("ReturnValuesOnConditionCheckFailure") == Some("ALL_OLD");
    Ok(Asked { statement, tells_item })
}

async fn known(app: &App, table: &str) -> Result<Arc<Known>> {
    check_name_length(name_of(table))?;
    app.known(name_of(table)).await
}

pub(super) async fn execute(app: &App, scope: Scope, mut input: Input) -> Result<Json> {
    let mut faults = Faults::default();
    faults.at_least(input.integer("Limit"), "limit", 1);
    faults.one_of(&input, "ReturnConsumedCapacity", RETURN_CAPACITY);
    faults.finish()?;
    let asked = read(&mut input)?;
    let mut answer = Map::new();
    let (known, cost) = if let Statement::Select(select) = asked.statement {
        let selected = find(app, select, &input).await?;
        let items: Vec<Json> = selected.items.iter().map(encode_item).collect();
        answer.insert("Items".to_owned(), items.into());
        if let Some(last) = selected.last {
            let last = encode_item(&last);
            answer.insert("NextToken".to_owned(), hex(&last.to_string()).into());
            answer.insert("LastEvaluatedKey".to_owned(), last);
        }
        (selected.known, selected.cost)
    } else {
        let (item, known, cost) = write(app, scope, asked, tells_cost(&input)).await?;
        let items: Vec<Json> = item.iter().map(encode_item).collect();
        answer.insert("Items".to_owned(), items.into());
        (known, cost)
    };
    let told = cost.told(known.table.name(), input.text("ReturnConsumedCapacity"));
    answer.extend(told.map(|told| ("ConsumedCapacity".to_owned(), told)));
    Ok(answer.into())
}

fn tells_cost(input: &Input) -> bool {
    input.text("ReturnConsumedCapacity").is_some_and(|wish| wish != "NONE")
}

/// Does a statement that writes, and gives what it returns and what it cost.
async fn write(
    app: &App,
    scope: Scope,
    asked: Asked,
    tells_cost: bool,
) -> Result<(Option<Item>, Arc<Known>, Cost)> {
    check_scope(scope, Scope::Write)?;
    let (mut change, returning) = change(app, asked).await?;
    change.keeps_items |= tells_cost;
    let known = change.known.clone();
    let (change, outcome) = app.change(change).await?;
    let cost = Cost::of_write(&known, &outcome);
    Ok((shown(&outcome, returning, change.update())?, known, cost))
}

fn shown(
    outcome: &Outcome,
    returning: Option<Returning>,
    update: Option<&stonecrop_dynamodb::expression::Update>,
) -> Result<Option<Item>> {
    let Outcome { old, new, .. } = outcome;
    Ok(match (returning, update, old, new) {
        (Some(Returning::AllOld), ..) => old.clone(),
        (Some(Returning::AllNew), ..) => new.clone(),
        (Some(Returning::ModifiedOld), Some(update), Some(old), _) => Some(update.updated_old(old)),
        (Some(Returning::ModifiedNew), Some(update), Some(old), Some(new)) => {
            Some(update.updated_new(old, new)?)
        }
        _ => None,
    })
}

/// The change that a statement makes.
async fn change(app: &App, asked: Asked) -> Result<(Change, Option<Returning>)> {
    let now = app.database.now();
    let (known, row_key, key, action, condition, returning) = match asked.statement {
        Statement::Insert(insert) => {
            let known = known(app, &insert.table).await?;
            let row_key = known.key_in(&insert.item)?;
            Change::check_put(&known, &insert.item)?;
            check_put_size(&insert.item)?;
            (known, row_key, Item::new(), Action::Insert(insert.item), None, None)
        }
        Statement::Update(update) => {
            let known = known(app, &update.table).await?;
            let (key, rest) = whole_key(&known, update.condition)?;
            check_update(&known, &update.update)?;
            let condition =
                Some(Condition::All([exists(&known)?].into_iter().chain(rest).collect()));
            let action = Action::Update(Some(update.update));
            (known.clone(), known.key_of(&key)?, key, action, condition, update.returning)
        }
        Statement::Delete(delete) => {
            let known = known(app, &delete.table).await?;
            let (key, rest) = whole_key(&known, delete.condition)?;
            let returning = delete.returning_old.then_some(Returning::AllOld);
            (known.clone(), known.key_of(&key)?, key, Action::Delete, rest, returning)
        }
        Statement::Exists(select) | Statement::Select(select) => {
            let known = known(app, &select.table).await?;
            let all = select.condition.unwrap_or(Condition::All(Vec::new()));
            let (key, rest) = whole_key(&known, all)?;
            let condition = Condition::All([exists(&known)?].into_iter().chain(rest).collect());
            (known.clone(), known.key_of(&key)?, key, Action::Check, Some(condition), None)
        }
    };
    let (tells_item, keeps_items) = (asked.tells_item, returning.is_some());
    let change = Change { known, row_key, key, action, condition, tells_item, keeps_items, now };
    Ok((change, returning))
}

/// That the item is there.
fn exists(known: &Known) -> Result<Condition> {
    let name = known.key.first().map(|part| part.name.clone()).unwrap_or_default();
    let names = BTreeMap::from([("#k".to_owned(), name)]);
    let mut places = Placeholders::new(names, BTreeMap::new());
    Ok(Condition::parse("attribute_exists(#k)", &mut places)?)
}

/// The key that a condition asks for, and what else it asks.
fn whole_key(known: &Known, condition: Condition) -> Result<(Item, Option<Condition>)> {
    let names: Vec<&str> = known.key.iter().map(|part| part.name.as_str()).collect();
    let (tests, rest) = split_key(condition, &names);
    let key: Item = tests
        .tests()
        .iter()
        .filter_map(|(name, test)| match test {
            KeyTest::Equal(value) => Some((name.clone(), value.clone())),
            _ => None,
        })
        .collect();
    match key.len() == names.len() {
        true => Ok((key, rest)),
        false => Err(Refusal::validation(
            "Where clause does not contain a mandatory equality on all key attributes",
        )),
    }
}

/// What a select found.
struct Selected {
    known: Arc<Known>,
    items: Vec<Item>,
    /// Where to go on.
    last: Option<Item>,
    cost: Cost,
}

/// What a select finds: along a key if its condition has one, otherwise among all items.
async fn find(app: &App, mut select: Select, input: &Input) -> Result<Selected> {
    let known = known(app, &select.table).await?;
    let index = match &select.index {
        Some(name) => Some(known.index(name)?.clone()),
        None => None,
    };
    let (partition, sort) = key_attributes(&known, index.as_ref());
    let names: Vec<&str> = partition.iter().chain(&sort).map(|part| part.name).collect();
    let condition = select.condition.take();
    let split = condition.clone().map(|condition| split_key(condition, &names));
    let found = split.and_then(|(tests, rest)| Some((tests.search(&partition, &sort).ok()?, rest)));
    let (search, filter) = match found {
        Some((search, rest)) => (Some(search), rest),
        None => (None, condition),
    };
    let start = match input.text("NextToken") {
        None => None,
        Some(token) => Some(position(token)?),
    };
    let reading = Reading {
        backward: select.order.first().is_some_and(|order| order.descending),
        limit: input.integer("Limit").map(|limit| limit as usize),
        segment: (0, 1),
        now: app.database.now(),
        known: known.clone(),
        index,
        search,
        start,
    };
    let (index, found) = app
        .apart(move |_| {
            let found: Found = reading.read()?;
            Ok((reading.index, found))
        })
        .await?;
    let shown = |item: Item| match &index {
        Some(index) => known.projected(index, &item),
        None => item,
    };
    let passes = |item: &Item| filter.as_ref().is_none_or(|filter| filter.matches(item));
    let items = found.rows.iter().map(|row| known.whole_item(row)).map(shown).filter(passes);
    let items = items.map(|item| told(&select, item)).collect();
    let units = read_units(found.bytes, input.flag("ConsistentRead"));
    let cost = match &index {
        Some(index) => Cost::of_index(index, units),
        None => Cost::of_read(units),
    };
    Ok(Selected { items, last: found.last, cost, known })
}

/// A token is the key of the last item, in hex so that nobody takes it for more.
fn hex(text: &str) -> String {
    text.bytes().map(|byte| format!("{byte:02x}")).collect()
}

fn position(token: &str) -> Result<Item> {
    let wrong = || Refusal::validation("Invalid NextToken");
    let byte = |pair: &[u8]| {
        let digits = std::str::from_utf8(pair).ok()?;
        u8::from_str_radix(digits, 16).ok()
    };
    let bytes: Option<Vec<u8>> = token.as_bytes().chunks(2).map(byte).collect();
    let json = serde_json::from_slice(&bytes.ok_or_else(wrong)?).map_err(|_| wrong())?;
    decode_item(json).map_err(|_| wrong())
}

/// The statements of a request, which are all reads or all writes.
fn read_all(input: &mut Input, name: &str, most: usize) -> Result<Vec<Asked>> {
    let mut faults = Faults::default();
    faults.required(input, name);
    if input.has(name) {
        let at = if name == "Statements" { "statements" } else { "transactStatements" };
        faults.list(input.list(name), at, 1, most);
    }
    faults.finish()?;
    let statements = input.take_list(name).into_iter().map(|json| read(&mut Input::of(json)));
    let statements = statements.collect::<Result<Vec<_>>>()?;
    let is_read = |asked: &&Asked| matches!(asked.statement, Statement::Select(_));
    let reads = statements.iter().filter(is_read).count();
    match reads == 0 || reads == statements.len() {
        true => Ok(statements),
        false => {
            Err(Refusal::validation("Batch or transaction statements cannot mix reads and writes"))
        }
    }
}

fn table_of(statement: &Statement) -> String {
    match statement {
        Statement::Select(select) | Statement::Exists(select) => select.table.clone(),
        Statement::Insert(insert) => insert.table.clone(),
        Statement::Update(update) => update.table.clone(),
        Statement::Delete(delete) => delete.table.clone(),
    }
}

/// The one item that a statement finds or returns, and what that cost.
async fn one(
    app: &App,
    scope: Scope,
    asked: Asked,
    tells_cost: bool,
) -> Result<(Option<Item>, Arc<Known>, Cost)> {
    match asked.statement {
        Statement::Select(select) => {
            // It must ask for one item.
            let known = known(app, &select.table).await?;
            let all = select.condition.clone().unwrap_or(Condition::All(Vec::new()));
            whole_key(&known, all)?;
            let selected = find(app, select, &Input::default()).await?;
            Ok((selected.items.into_iter().next(), known, selected.cost))
        }
        statement => write(app, scope, Asked { statement, ..asked }, tells_cost).await,
    }
}

pub(super) async fn batch(app: &App, scope: Scope, mut input: Input) -> Result<Json> {
    let (mut responses, mut costs) = (Vec::new(), Costs::default());
    for asked in read_all(&mut input, "Statements", MOST_IN_BATCH)? {
        let table = table_of(&asked.statement);
        let item = one(app, scope, asked, tells_cost(&input)).await.map(|(item, known, cost)| {
            costs.add(&known, &cost, 1.0);
            item
        });
        responses.push(match item {
            Ok(None) => json!({"TableName": table}),
            Ok(Some(item)) => json!({"TableName": table, "Item": encode_item(&item)}),
            Err(refusal) => {
                let mut error = refusal.more.clone();
                error.insert("Code".to_owned(), refusal.code().into());
                error.insert("Message".to_owned(), refusal.message.into());
                json!({"TableName": table, "Error": error})
            }
        });
    }
    Ok(together(&input, responses, &costs))
}

/// What statements that came together are answered with.
fn together(input: &Input, responses: Vec<Json>, costs: &Costs) -> Json {
    let mut answer = Map::new();
    answer.insert("Responses".to_owned(), responses.into());
    costs.tell(input.text("ReturnConsumedCapacity"), &mut answer);
    answer.into()
}

pub(super) async fn transaction(app: &App, scope: Scope, mut input: Input) -> Result<Json> {
    let mut faults = Faults::default();
    faults.text(input.text("ClientRequestToken"), "clientRequestToken", 1, 36);
    faults.finish()?;
    let token = input.text("ClientRequestToken");
    let request = input.list("TransactStatements").iter().map(Json::to_string);
    let token = token.map(|text| Token::new(text, request));
    let statements = read_all(&mut input, "TransactStatements", MOST_IN_TRANSACTION)?;
    if statements.first().is_some_and(|asked| matches!(asked.statement, Statement::Select(_))) {
        return read_together(app, statements, input).await;
    }
    check_scope(scope, Scope::Write)?;
    let mut changes = Vec::new();
    for statement in statements {
        let (change, _) = change(app, statement).await?;
        let new = change.known.undeclared(change.names());
        let known = app.known_with(change.known.clone(), new).await?;
        changes.push(Change { known, keeps_items: tells_cost(&input), ..change });
    }
    check_apart(&changes)?;
    let changes: Vec<_> = changes.into_iter().map(Arc::new).collect();
    let responses = changes.iter().map(|_| json!({})).collect();
    match commit(app, &changes, token).await? {
        Committed::Now(outcomes) if outcomes.iter().any(|outcome| outcome.refusal.is_some()) => {
            Err(cancelled(&outcomes))
        }
        Committed::Now(outcomes) => Ok(together(&input, responses, &costs(&changes, &outcomes))),
        Committed::Before => Ok(together(&input, responses, &Costs::default())),
    }
}

/// The items that statements ask for by their keys, all of one moment.
async fn read_together(app: &App, statements: Vec<Asked>, input: Input) -> Result<Json> {
    let mut asked = Vec::new();
    for Asked { statement, .. } in statements {
        let Statement::Select(mut select) = statement else { continue };
        let known = known(app, &select.table).await?;
        let all = select.condition.take().unwrap_or(Condition::All(Vec::new()));
        let (key, rest) = whole_key(&known, all)?;
        let row_key = known.key_of(&key)?;
        asked.push((known, row_key, rest, select));
    }
    let now = app.database.now();
    app.apart(move |database| {
        let keys = asked.iter().map(|(known, key, ..)| (&known.table, key.clone()));
        let rows = database.get_all(keys)?;
        let (mut responses, mut costs) = (Vec::new(), Costs::default());
        for ((known, _, rest, select), row) in asked.into_iter().zip(rows) {
            let item = row.and_then(|row| known.item(&row, now));
            let size = item.as_ref().map_or(0, item_size);
            costs.add(&known, &Cost::of_read(read_units(size, true)), 2.0);
            let item = item.filter(|item| rest.is_none_or(|rest| rest.matches(item)));
            responses.push(match item {
                None => json!({}),
                Some(item) => json!({"Item": encode_item(&told(&select, item))}),
            });
        }
        Ok(together(&input, responses, &costs))
    })
    .await
}
