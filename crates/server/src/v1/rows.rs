//! Rows, one or a batch at a time.

use std::ops::Range;

use axum::Json as Answer;
use axum::extract::{Path, State};
use axum::http::HeaderValue;
use axum::http::header::CONTENT_TYPE;
use axum::response::Response;
use serde::{Deserialize, Serialize};
use stonecrop::keys::{Schema, Value as KeyValue};
use stonecrop::{Database, ResponseRow, Row, RowKey, Table, Timestamp, Write};

use super::key;
use crate::api::{
    self, Anatomy, Change, Durability, Get, Key, Lasting, Operation, Receipt, Rows, StoredFamily,
    StoredIndexEntry, Time, Version, Versions, Writes,
};
use crate::app::App;
use crate::body::{Json, OptionalJson, Parameters};
use crate::problem::{
    BAD_JSON, BAD_PARAMETER, INTERNAL, NO_ROW, Problem, ProblemDocument, Result, TOO_MANY,
};

/// How many rows a batch may have.
const MOST_WRITES: usize = 10_000;
/// How many rows may be asked for at a time.
const MOST_KEYS: usize = 1_000;
/// Most rows are told in fewer.
const USUAL_BYTES: usize = 1 << 10;

#[derive(Debug, Default, Deserialize, utoipa::IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(super) struct Reading {
    /// The columns, with commas between; all of them without.
    columns: Option<String>,
    /// The row as it was then.
    as_of: Option<String>,
}

/// A row.
#[utoipa::path(get, path = "/v1/tables/{table}/rows/{key}", tag = "rows",
    params(("table" = String, Path), ("key" = String, Path), Reading),
    responses((status = 200, body = ResponseRow), (status = "4XX", body = ProblemDocument, content_type = "application/problem+json")))]
pub(super) async fn get(
    State(app): State<App>,
    Path((table, key)): Path<(String, String)>,
    Parameters(reading): Parameters<Reading>,
) -> Result<Response> {
    read(&app, &table, &key, reading)
}

/// The route of a row.
pub(crate) const ROW: &str = "/v1/tables/{table}/rows/{key}";

/// All of a row, as it is now.
pub(crate) async fn row(app: &App, table: &str, key: &str) -> Result<Response> {
    read(app, table, key, Reading::default())
}

fn read(app: &App, table: &str, key: &str, reading: Reading) -> Result<Response> {
    let table = app.table(table)?;
    let key_schema = table.key_schema()?;
    let row_key = key::read_address(&key_schema, key)?;
    let names = reading.columns.as_deref().map(split_names);
    let time = reading.as_of.as_deref().map(str::parse::<Timestamp>).transpose();
    let time = time.map_err(|error| Problem::new(BAD_PARAMETER, error.to_string()).at("as_of"))?;
    let row = app.read_here(|| match (time, &names) {
        (Some(time), _) => table.get_as_of(&row_key, time),
        (None, Some(names)) => table.get_columns(&row_key, names.iter().copied()),
        (None, None) => table.get(&row_key),
    });
    let row = row?.ok_or_else(|| no_row(&table, key))?;
    let mut json = Vec::with_capacity(USUAL_BYTES);
    tell(&key_schema, &row, names.as_deref(), &mut json)?;
    Ok(answer(json))
}

fn no_row(table: &Table, key: &str) -> Problem {
    Problem::new(NO_ROW, format!("table {:?} has no row {key}", table.name()))
}

fn split_names(names: &str) -> Vec<&str> {
    names.split(',').map(str::trim).filter(|name| !name.is_empty()).collect()
}

/// The clock of a value, as it is told.
#[derive(PartialEq, Serialize)]
struct Clock<'r> {
    fresh: bool,
    family: &'r str,
    written_at: Option<Time>,
    fresh_until: Option<Time>,
    gone_at: Option<Time>,
}

/// Writes a row as a [`ResponseRow`], or the columns of it that have these names if any are named.
pub(super) fn tell(
    key_schema: &Schema,
    row: &Row,
    names: Option<&[&str]>,
    to: &mut Vec<u8>,
) -> Result<()> {
    to.extend_from_slice(b"{\"row_key\":");
    match row.key().values() {
        // Most are one text, which needs no detour.
        [KeyValue::String(text)] => write_json(to, text)?,
        _ => write_json(to, &key::write(key_schema, row.key())?)?,
    }
    to.extend_from_slice(b",\"columns\":{");
    let columns = row.columns_of_families();
    let columns = columns.filter(|(_, name, _)| names.is_none_or(|names| names.contains(name)));
    let mut last: Option<(Clock<'_>, Range<usize>)> = None;
    for (family, name, cell) in columns {
        if last.is_some() {
            to.push(b',');
        }
        write_json(to, name)?;
        to.extend_from_slice(b":{\"value\":");
        write_json(to, &cell.value)?;
        let clock = Clock {
            fresh: cell.fresh,
            family,
            written_at: Time::unless_never(cell.written_at),
            fresh_until: Time::unless_never(cell.fresh_until),
            gone_at: Time::unless_never(cell.gone_at),
        };
        // All columns of a family have one clock.
        if let Some((told, range)) = &last
            && *told == clock
        {
            to.extend_from_within(range.clone());
            continue;
        }
        let start = to.len();
        write_json(to, &clock)?;
        // It goes on where the value ended.
        if let Some(brace) = to.get_mut(start) {
            *brace = b',';
        }
        last = Some((clock, start..to.len()));
    }
    to.extend_from_slice(b"}}");
    Ok(())
}

fn write_json(to: &mut Vec<u8>, value: &(impl Serialize + ?Sized)) -> Result<()> {
    serde_json::to_writer(to, value).map_err(|error| Problem::new(INTERNAL, error.to_string()))
}

/// The answer with this body.
fn answer(json: Vec<u8>) -> Response {
    let mut response = Response::new(json.into());
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response
}

/// The row becomes exactly this.
#[utoipa::path(put, path = "/v1/tables/{table}/rows/{key}", tag = "rows",
    params(("table" = String, Path), ("key" = String, Path)), request_body = Change,
    responses((status = 200, body = Receipt), (status = "4XX", body = ProblemDocument, content_type = "application/problem+json")))]
pub(super) async fn put(
    State(app): State<App>,
    Path(address): Path<(String, String)>,
    Json(change): Json<Change>,
) -> Result<Answer<Receipt>> {
    write_one(app, address, change, Operation::Replace).await
}

/// Changes columns of a row, and makes it if need be.
#[utoipa::path(patch, path = "/v1/tables/{table}/rows/{key}", tag = "rows",
    params(("table" = String, Path), ("key" = String, Path)), request_body = Change,
    responses((status = 200, body = Receipt), (status = "4XX", body = ProblemDocument, content_type = "application/problem+json")))]
pub(super) async fn change(
    State(app): State<App>,
    Path(address): Path<(String, String)>,
    Json(change): Json<Change>,
) -> Result<Answer<Receipt>> {
    write_one(app, address, change, Operation::Put).await
}

/// Deletes a row.
#[utoipa::path(delete, path = "/v1/tables/{table}/rows/{key}", tag = "rows",
    params(("table" = String, Path), ("key" = String, Path)), request_body = Option<Change>,
    responses((status = 200, body = Receipt), (status = "4XX", body = ProblemDocument, content_type = "application/problem+json")))]
pub(super) async fn delete(
    State(app): State<App>,
    Path(address): Path<(String, String)>,
    OptionalJson(change): OptionalJson<Change>,
) -> Result<Answer<Receipt>> {
    write_one(app, address, change, Operation::Delete).await
}

async fn write_one(
    app: App,
    (table, key): (String, String),
    change: Change,
    op: Operation,
) -> Result<Answer<Receipt>> {
    let table = app.table(&table)?;
    let schema = table.key_schema()?;
    let row_key = key::read_address(&schema, &key)?;
    let (write, durability) = change.of(key::write(&schema, &row_key)?, op);
    let receipt = app.write(table, vec![db_write(write, row_key)?], durability.into()).await;
    let receipt = receipt.map_err(|mut problem| {
        // There is only one.
        let path = problem.path.as_deref().and_then(|path| path.strip_prefix("/writes/0"));
        if let Some(path) = path.map(str::to_owned) {
            problem.path = Some(path).filter(|path| !path.is_empty()).map(Into::into);
        }
        problem
    })?;
    Ok(Answer(receipt.into()))
}

/// The write as the database has it.
pub(super) fn db_write(write: api::Write, key: RowKey<'static>) -> Result<Write<'static>> {
    let changes = write.remove.len() + write.add.len() + write.append.len();
    if write.op != Operation::Put && changes > 0 {
        let problem = "only a put can remove, add or append";
        return Err(Problem::new(BAD_JSON, problem));
    }
    if write.op == Operation::Delete && !write.set.is_empty() {
        return Err(Problem::new(BAD_JSON, "a delete sets nothing").at("/set"));
    }
    let mut made = match write.op {
        Operation::Put => Write::put(key),
        Operation::Replace => Write::replace(key),
        Operation::Delete => Write::delete(key),
    };
    for (name, value) in write.set {
        made = made.set(name, value);
    }
    for name in write.remove {
        made = made.remove(name);
    }
    for (name, number) in write.add {
        made = made.add(name, number);
    }
    for (name, values) in write.append {
        made = made.append(name, values);
    }
    if let Some(condition) = write.when {
        made = made.when(condition);
    }
    if let Some(Time(time)) = write.written_at {
        made = made.written_at(time);
    }
    if let Some(Lasting(ttl)) = write.ttl {
        made = made.ttl(ttl);
    }
    if let Some(Lasting(keep)) = write.keep {
        made = made.keep(keep);
    }
    Ok(made)
}

/// Writes several rows, all or nothing.
#[utoipa::path(post, path = "/v1/tables/{table}/rows", tag = "rows",
    params(("table" = String, Path)), request_body = Writes,
    responses((status = 200, body = Receipt), (status = "4XX", body = ProblemDocument, content_type = "application/problem+json")))]
pub(super) async fn batch(
    State(app): State<App>,
    Path(table): Path<String>,
    Json(batch): Json<Writes>,
) -> Result<Answer<Receipt>> {
    check_size("writes", batch.writes.len(), MOST_WRITES)?;
    let durability = batch.durability.into();
    let (table, writes) = app
        .blocking(move |database| {
            let table = database.table(&table)?;
            let schema = table.key_schema()?;
            let mut writes = Vec::with_capacity(batch.writes.len());
            for (at, write) in batch.writes.into_iter().enumerate() {
                if write.table.as_ref().is_some_and(|name| name != table.name()) {
                    let problem = "rows of other tables are written by POST /v1/transaction";
                    return Err(Problem::new(BAD_JSON, problem).at(format!("/writes/{at}/table")));
                }
                writes.push(in_write(at, row_write(&schema, write))?);
            }
            Ok((table, writes))
        })
        .await?;
    let receipt = app.write(table, writes, durability).await;
    Ok(Answer(receipt.map_err(of_batch)?.into()))
}

fn row_write(schema: &Schema, write: api::Write) -> Result<Write<'static>> {
    let key = key::read(schema, write.key.0.get())?;
    db_write(write, key)
}

fn in_write<T>(at: usize, result: Result<T>) -> Result<T> {
    result.map_err(|problem| {
        let path = problem.path.as_deref().unwrap_or_default();
        let path = format!("/writes/{at}{path}");
        problem.at(path)
    })
}

/// The problem of a batch, also if it had one write.
fn of_batch(problem: Problem) -> Problem {
    match problem.path.as_deref() {
        Some(path) if !path.starts_with("/writes/") => {
            let path = format!("/writes/0{path}");
            problem.at(path)
        }
        _ => problem,
    }
}

fn check_size(what: &'static str, count: usize, most: usize) -> Result<()> {
    if count <= most {
        return Ok(());
    }
    let problem = format!("there are {count} {what}, and the most is {most}");
    Err(Problem::new(TOO_MANY, problem).at(format!("/{what}")))
}

/// Writes rows of several tables, all or nothing.
#[utoipa::path(post, path = "/v1/transaction", tag = "rows", request_body = Writes,
    responses((status = 200, body = Receipt), (status = "4XX", body = ProblemDocument, content_type = "application/problem+json")))]
pub(super) async fn transaction(
    State(app): State<App>,
    Json(batch): Json<Writes>,
) -> Result<Answer<Receipt>> {
    check_size("writes", batch.writes.len(), MOST_WRITES)?;
    if batch.durability != Durability::Sync {
        return Err(Problem::new(BAD_JSON, "a transaction is always synced").at("/durability"));
    }
    app.in_time(move |database| {
        let mut writes = Vec::with_capacity(batch.writes.len());
        for (at, mut write) in batch.writes.into_iter().enumerate() {
            let table = in_write(at, table_of(database, write.table.take()))?;
            let schema = table.key_schema()?;
            let write = in_write(at, row_write(&schema, write))?;
            writes.push((table, write));
        }
        let writes = writes.iter().map(|(table, write)| (table, write.clone()));
        let receipt = database.transaction(writes).map_err(Problem::from);
        Ok(Answer(receipt.map_err(of_batch)?.into()))
    })
    .await
}

fn table_of(database: &Database, name: Option<String>) -> Result<Table> {
    let name = name.ok_or_else(|| {
        Problem::new(BAD_JSON, "each write of a transaction names its table").at("/table")
    })?;
    database.table(&name).map_err(|error| Problem::from(error).at("/table"))
}

/// Rows by their keys.
#[utoipa::path(post, path = "/v1/tables/{table}/get", tag = "rows",
    params(("table" = String, Path)), request_body = Get,
    responses((status = 200, body = Rows), (status = "4XX", body = ProblemDocument, content_type = "application/problem+json")))]
pub(super) async fn multi_get(
    State(app): State<App>,
    Path(table): Path<String>,
    Json(Get { keys, columns }): Json<Get>,
) -> Result<Response> {
    check_size("keys", keys.len(), MOST_KEYS)?;
    app.in_time(move |database| {
        let table = database.table(&table)?;
        let key_schema = table.key_schema()?;
        let mut row_keys = Vec::with_capacity(keys.len());
        for (at, Key(json)) in keys.iter().enumerate() {
            let key = key::read(&key_schema, json.get());
            row_keys.push(key.map_err(|problem| problem.at(format!("/keys/{at}")))?);
        }
        let names: Option<Vec<&str>> =
            columns.as_ref().map(|names| names.iter().map(String::as_str).collect());
        let found = table.multi_get(&row_keys, names.as_deref())?;
        let mut json = b"{\"rows\":[".to_vec();
        for (at, row) in found.iter().enumerate() {
            if at > 0 {
                json.push(b',');
            }
            match row {
                Some(row) => tell(&key_schema, row, names.as_deref(), &mut json)?,
                None => json.extend_from_slice(b"null"),
            }
        }
        json.extend_from_slice(b"]}");
        Ok(answer(json))
    })
    .await
}

#[derive(Debug, Deserialize, utoipa::IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(super) struct OfFamily {
    /// The family.
    family: String,
}

/// The versions of a family of a row.
#[utoipa::path(get, path = "/v1/tables/{table}/rows/{key}/history", tag = "rows",
    params(("table" = String, Path), ("key" = String, Path), OfFamily),
    responses((status = 200, body = Versions), (status = "4XX", body = ProblemDocument, content_type = "application/problem+json")))]
pub(super) async fn history(
    State(app): State<App>,
    Path((table, key)): Path<(String, String)>,
    Parameters(OfFamily { family }): Parameters<OfFamily>,
) -> Result<Answer<Versions>> {
    app.in_time(move |database| {
        let table = database.table(&table)?;
        let row_key = key::read_address(&*table.key_schema()?, &key)?;
        let versions = table.versions(&row_key, &family)?.into_iter().map(|version| Version {
            written_at: Time(version.written_at),
            fresh_until: Time::unless_never(version.fresh_until),
            columns: version
                .columns
                .into_iter()
                .map(|(name, value)| (name.to_string(), value))
                .collect(),
        });
        Ok(Answer(Versions { versions: versions.collect() }))
    })
    .await
}

/// Where a row is stored.
#[utoipa::path(get, path = "/v1/tables/{table}/rows/{key}/anatomy", tag = "rows",
    params(("table" = String, Path), ("key" = String, Path)),
    responses((status = 200, body = Anatomy), (status = "4XX", body = ProblemDocument, content_type = "application/problem+json")))]
pub(super) async fn anatomy(
    State(app): State<App>,
    Path((table, key)): Path<(String, String)>,
) -> Result<Answer<Anatomy>> {
    app.in_time(move |database| {
        let table = database.table(&table)?;
        let schema = table.key_schema()?;
        let row_key = key::read_address(&schema, &key)?;
        if table.get_columns(&row_key, [])?.is_none() {
            return Err(no_row(&table, &key));
        }
        let anatomy = table.anatomy(&row_key)?;
        let families = anatomy.families.into_iter().map(|family| StoredFamily {
            family: family.name,
            declared: family.declared,
            written_at: Time(family.written_at),
            fresh_until: Time::unless_never(family.fresh_until),
            gone_at: Time::unless_never(family.gone_at),
            fresh: family.fresh,
            value_bytes: family.value_bytes,
            key: family.key,
        });
        let indexes = anatomy
            .indexes
            .into_iter()
            .map(|entry| StoredIndexEntry { index: entry.index, key: entry.key });
        Ok(Answer(Anatomy {
            row_key: key::write(&schema, &row_key)?,
            families: families.collect(),
            indexes: indexes.collect(),
        }))
    })
    .await
}
