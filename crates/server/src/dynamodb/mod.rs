//! DynamoDB's door: its JSON protocol at `POST /`, on the same tables as everything else.
//!
//! - [`wire`], [`refusal`], [`cors`]: bytes, errors and headers.
//! - [`credentials`], [`signature`]: who asks.
//! - [`shapes`], [`faults`], [`shown`], [`input`]: what a request is made of, and the rules for each
//!   of it.
//! - [`known`], [`about`], [`declare`], [`keys`], [`item`]: tables, keys and items as rows.
//! - [`change`], [`found`], [`capacity`]: writing, reading, and what it would cost.
//! - [`sweep`]: gives rows their times when time to live is switched on or off.
//! - The others are operations.

mod about;
mod batch;
mod capacity;
mod change;
pub(crate) mod cors;
mod create;
mod credentials;
mod declare;
mod describe;
mod expressions;
mod faults;
mod found;
mod input;
mod item;
mod items;
mod keys;
mod known;
mod projected;
mod refusal;
mod search;
mod shapes;
mod shown;
mod signature;
mod statements;
mod streams;
mod sweep;
mod tags;
mod time_to_live;
mod tokens;
mod transact;
mod update_table;
mod wire;

use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::HeaderMap;
use axum::http::request::Parts;
use axum::response::Response;
use serde_json::Value as Json;
use stonecrop_dynamodb::ErrorKind;
use stonecrop_dynamodb::value::{read_actions, read_item, read_json, read_writes};

use crate::app::App;
use crate::auth::Scope;
use crate::guard::host;
use crate::problem::Problem;
use credentials::Caller;
use input::Input;
use refusal::{Refusal, Result};
use wire::Answer;

pub(crate) use about::forget;
pub(crate) use known::Shared;
pub(crate) use streams::keep_changes;
pub(crate) use sweep::resume;
pub(crate) use wire::CHECKSUM;

/// The address of this door.
pub(crate) const ROUTE: &str = "/";
const TARGET: &str = "x-amz-target";
const SERVICE: &str = "DynamoDB_20120810.";

/// The operations, each with the scope that it needs; statements that write need more.
const OPERATIONS: [(&str, Scope); 26] = [
    ("BatchExecuteStatement", Scope::Read),
    ("BatchGetItem", Scope::Read),
    ("BatchWriteItem", Scope::Write),
    ("CreateTable", Scope::Admin),
    ("DeleteItem", Scope::Write),
    ("DeleteTable", Scope::Admin),
    ("DescribeContinuousBackups", Scope::Read),
    ("DescribeEndpoints", Scope::Read),
    ("DescribeLimits", Scope::Read),
    ("DescribeTable", Scope::Read),
    ("DescribeTimeToLive", Scope::Read),
    ("ExecuteStatement", Scope::Read),
    ("ExecuteTransaction", Scope::Read),
    ("GetItem", Scope::Read),
    ("ListTables", Scope::Read),
    ("ListTagsOfResource", Scope::Read),
    ("PutItem", Scope::Write),
    ("Query", Scope::Read),
    ("Scan", Scope::Read),
    ("TagResource", Scope::Admin),
    ("TransactGetItems", Scope::Read),
    ("TransactWriteItems", Scope::Write),
    ("UntagResource", Scope::Admin),
    ("UpdateItem", Scope::Write),
    ("UpdateTable", Scope::Admin),
    ("UpdateTimeToLive", Scope::Admin),
];

/// The operation that a request asks for.
fn operation(headers: &HeaderMap) -> Option<(&'static str, Scope)> {
    let target = headers.get(TARGET)?.to_str().ok()?;
    let find = |operations: &[(&'static str, Scope)], name: &str| {
        operations.iter().find(|(known, _)| *known == name).copied()
    };
    match target.strip_prefix(SERVICE) {
        Some(name) => find(&OPERATIONS, name),
        None => find(&streams::OPERATIONS, target.strip_prefix(streams::SERVICE)?),
    }
}

/// A problem in the words of this door.
pub(crate) fn of_problem(problem: &Problem) -> Response {
    let refusal = Refusal::from(problem);
    wire::response(&HeaderMap::new(), "application/x-amz-json-1.0", Err(refusal))
}

/// Answers a request.
pub(crate) async fn answer(State(app): State<App>, request: Request) -> Response {
    let (parts, body) = request.into_parts();
    let Some(content_type) = wire::content_type(&parts.headers) else {
        return wire::not_understood();
    };
    let answer = respond(&app, &parts, body).await;
    if let Err(refusal) = &answer
        && refusal.status.is_server_error()
    {
        tracing::error!(kind = refusal.kind, message = refusal.message, "a request failed");
    }
    wire::response(&parts.headers, content_type, answer)
}

/// What is asked most, and what has the item in it.
const WITH_ITEM: [(&str, &str); 4] =
    [("GetItem", "Key"), ("PutItem", "Item"), ("UpdateItem", "Key"), ("DeleteItem", "Key")];

/// The parameters of a request.
fn input(operation: Option<&str>, body: &[u8]) -> Result<Input> {
    let item = WITH_ITEM.iter().find(|(known, _)| operation == Some(known));
    if let Some((_, name)) = item
        && let Some((fields, item)) = read_item(body, name)
    {
        return Ok(Input::with_item(fields, name, item));
    }
    if operation == Some("BatchWriteItem")
        && let Some((fields, writes)) = read_writes(body)
        && batch::are_few(&writes)
    {
        return Ok(Input::with_writes(fields, writes));
    }
    if operation == Some("TransactWriteItems")
        && let Some((fields, actions)) = read_actions(body)
        && transact::are_simple(&actions)
    {
        return Ok(Input::with_actions(fields, actions));
    }
    match read_json(body) {
        Ok(Json::Object(fields)) => Ok(Input::new(fields)),
        Ok(_) => Err(Refusal::serialization("Unexpected value type in payload")),
        // The service does not say what is wrong with what is no JSON.
        Err(error) if error.kind() == ErrorKind::Serialization => Err(Refusal::serialization("")),
        Err(error) => Err(error.into()),
    }
}

async fn respond(app: &App, parts: &Parts, body: Body) -> Result<Answer> {
    // Before the body: those who are not known can't make us wait for it.
    let caller = Caller::of(app, parts)?;
    let packed = crate::body::read(app, body).await?;
    let scope = caller.verify(parts, &packed)?;
    let body = wire::unpack(app, &parts.headers, packed)?;
    let operation = operation(&parts.headers);
    let input = match body.is_empty() {
        true => None,
        false => Some(input(operation.map(|(name, _)| name), &body)?),
    };
    let (operation, needed) = operation.ok_or_else(Refusal::unknown_operation)?;
    credentials::check(app, parts, scope, needed)?;
    let input = input.ok_or_else(|| Refusal::serialization(""))?;
    shapes::check(operation, input.fields())?;
    // Each apart: with all of them in it the future of a request would be ten thousand bytes long, and
    // it is moved.
    let told = match operation {
        "BatchExecuteStatement" => Box::pin(statements::batch(app, scope, input)).await,
        "BatchGetItem" => return Box::pin(batch::get(app, input)).await,
        "BatchWriteItem" => Box::pin(batch::write(app, input)).await,
        "CreateTable" => Box::pin(create::create(app, input)).await,
        "DeleteItem" => return Box::pin(items::delete(app, input)).await,
        "DeleteTable" => Box::pin(create::delete(app, input)).await,
        "DescribeContinuousBackups" => Box::pin(describe::backups(app, input)).await,
        "DescribeEndpoints" => Ok(describe::endpoints(host(&parts.headers, &parts.uri))),
        "DescribeLimits" => Ok(describe::limits()),
        "DescribeTable" => Box::pin(describe::describe(app, input)).await,
        "DescribeTimeToLive" => Box::pin(time_to_live::describe(app, input)).await,
        "ExecuteStatement" => Box::pin(statements::execute(app, scope, input)).await,
        "ExecuteTransaction" => Box::pin(statements::transaction(app, scope, input)).await,
        "GetItem" => return items::get(app, input).await,
        "ListTables" => Box::pin(describe::list(app, input)).await,
        "ListTagsOfResource" => Box::pin(tags::list(app, input)).await,
        "PutItem" => return Box::pin(items::put(app, input)).await,
        "Query" => return Box::pin(search::query(app, input)).await,
        "Scan" => return Box::pin(search::scan(app, input)).await,
        "TagResource" => Box::pin(tags::tag(app, input)).await,
        "TransactGetItems" => Box::pin(transact::get(app, input)).await,
        "TransactWriteItems" => Box::pin(transact::write(app, input)).await,
        "UntagResource" => Box::pin(tags::untag(app, input)).await,
        "UpdateItem" => return Box::pin(items::change(app, input)).await,
        "UpdateTable" => Box::pin(update_table::update(app, input)).await,
        "UpdateTimeToLive" => Box::pin(time_to_live::update(app, input)).await,
        of_streams => Box::pin(streams::answer(app, of_streams, input)).await,
    };
    Ok(told?.into())
}
