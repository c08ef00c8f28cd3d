//! Tables and their indexes.

use axum::Json as Answer;
use axum::extract::{Path, State};
use axum::http::StatusCode;

use crate::api::{Alteration, Index, KeptChanges, Lasting, Schema, Table, TableFreshness, Tables};
use crate::app::App;
use crate::body::Json;
use crate::problem::{NO_INDEX, Problem, ProblemDocument, Result};

/// All tables.
#[utoipa::path(get, path = "/v1/tables", tag = "tables",
    responses((status = 200, body = Tables), (status = "4XX", body = ProblemDocument, content_type = "application/problem+json")))]
pub(super) async fn list(State(app): State<App>) -> Result<Answer<Tables>> {
    app.in_time(|database| {
        let mut tables = Vec::new();
        for name in database.tables() {
            match database.table(&name).and_then(|table| Table::of(&table)) {
                Ok(table) => tables.push(table),
                // It was dropped since.
                Err(stonecrop::Error::NoTable { .. }) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(Answer(Tables { tables }))
    })
    .await
}

/// Creates a table.
#[utoipa::path(post, path = "/v1/tables", tag = "tables", request_body = Schema,
    responses((status = 201, body = Table), (status = "4XX", body = ProblemDocument, content_type = "application/problem+json")))]
pub(super) async fn create(
    State(app): State<App>,
    Json(schema): Json<Schema>,
) -> Result<(StatusCode, Answer<Table>)> {
    app.in_time(move |database| {
        let table = database.create_table(schema.try_into()?)?;
        crate::dynamodb::forget(database, table.name())?;
        Ok((StatusCode::CREATED, Answer(Table::of(&table)?)))
    })
    .await
}

/// What a table is declared as.
#[utoipa::path(get, path = "/v1/tables/{table}", tag = "tables", params(("table" = String, Path)),
    responses((status = 200, body = Table), (status = "4XX", body = ProblemDocument, content_type = "application/problem+json")))]
pub(super) async fn describe(
    State(app): State<App>,
    Path(table): Path<String>,
) -> Result<Answer<Table>> {
    Ok(Answer(Table::of(&app.table(&table)?)?))
}

/// Alters a table.
#[utoipa::path(patch, path = "/v1/tables/{table}", tag = "tables", params(("table" = String, Path)),
    request_body = Alteration,
    responses((status = 200, body = Table), (status = "4XX", body = ProblemDocument, content_type = "application/problem+json")))]
pub(super) async fn alter(
    State(app): State<App>,
    Path(table): Path<String>,
    Json(alteration): Json<Alteration>,
) -> Result<Answer<Table>> {
    let of_app = app.clone();
    app.in_time(move |database| {
        let table = database.table(&table)?;
        for family in alteration.add_families {
            table.add_family(family.into())?;
        }
        for column in alteration.add_columns {
            table.add_column(&column.family, &column.name, column.column_type)?;
        }
        for family in alteration.lifetimes {
            let length = |lasting: Option<Lasting>| lasting.map(|Lasting(length)| length);
            table.set_lifetime(&family.family, length(family.ttl), length(family.keep))?;
        }
        if let Some(changes) = alteration.changes {
            let keep = changes.map(|KeptChanges { keep: Lasting(keep) }| keep);
            crate::dynamodb::keep_changes(&of_app, database, &table, keep)?;
        }
        Ok(Answer(Table::of(&table)?))
    })
    .await
}

/// Drops a table.
#[utoipa::path(delete, path = "/v1/tables/{table}", tag = "tables", params(("table" = String, Path)),
    responses((status = 204), (status = "4XX", body = ProblemDocument, content_type = "application/problem+json")))]
pub(super) async fn drop(State(app): State<App>, Path(table): Path<String>) -> Result<StatusCode> {
    app.in_time(move |database| {
        database.drop_table(&table)?;
        crate::dynamodb::forget(database, &table)?;
        Ok(StatusCode::NO_CONTENT)
    })
    .await
}

/// Drops all rows of a table.
#[utoipa::path(post, path = "/v1/tables/{table}/truncate", tag = "tables",
    params(("table" = String, Path)),
    responses((status = 204), (status = "4XX", body = ProblemDocument, content_type = "application/problem+json")))]
pub(super) async fn truncate(
    State(app): State<App>,
    Path(table): Path<String>,
) -> Result<StatusCode> {
    app.in_time(move |database| {
        database.table(&table)?.truncate()?;
        Ok(StatusCode::NO_CONTENT)
    })
    .await
}

/// How many rows a table has, and how fresh they are. It may be some seconds old.
#[utoipa::path(get, path = "/v1/tables/{table}/freshness", tag = "tables",
    params(("table" = String, Path)),
    responses((status = 200, body = TableFreshness), (status = "4XX", body = ProblemDocument, content_type = "application/problem+json")))]
pub(super) async fn freshness(
    State(app): State<App>,
    Path(table): Path<String>,
) -> Result<Answer<TableFreshness>> {
    let table = app.table(&table)?;
    Ok(Answer(app.freshness(table).await?))
}

/// Adds an index, which is built in the background.
#[utoipa::path(post, path = "/v1/tables/{table}/indexes", tag = "tables",
    params(("table" = String, Path)), request_body = Index,
    responses((status = 202, body = Index), (status = "4XX", body = ProblemDocument, content_type = "application/problem+json")))]
pub(super) async fn add_index(
    State(app): State<App>,
    Path(table): Path<String>,
    Json(index): Json<Index>,
) -> Result<(StatusCode, Answer<Index>)> {
    app.in_time(move |database| {
        let table = database.table(&table)?;
        let name = index.name.clone();
        table.create_index(index.try_into()?)?;
        Ok((StatusCode::ACCEPTED, Answer(find_index(&table, &name)?)))
    })
    .await
}

/// An index, and how far it has come.
#[utoipa::path(get, path = "/v1/tables/{table}/indexes/{index}", tag = "tables",
    params(("table" = String, Path), ("index" = String, Path)),
    responses((status = 200, body = Index), (status = "4XX", body = ProblemDocument, content_type = "application/problem+json")))]
pub(super) async fn index(
    State(app): State<App>,
    Path((table, index)): Path<(String, String)>,
) -> Result<Answer<Index>> {
    Ok(Answer(find_index(&app.table(&table)?, &index)?))
}

/// Drops an index.
#[utoipa::path(delete, path = "/v1/tables/{table}/indexes/{index}", tag = "tables",
    params(("table" = String, Path), ("index" = String, Path)),
    responses((status = 204), (status = "4XX", body = ProblemDocument, content_type = "application/problem+json")))]
pub(super) async fn drop_index(
    State(app): State<App>,
    Path((table, index)): Path<(String, String)>,
) -> Result<StatusCode> {
    app.in_time(move |database| {
        let table = database.table(&table)?;
        find_index(&table, &index)?;
        table.drop_index(&index)?;
        Ok(StatusCode::NO_CONTENT)
    })
    .await
}

fn find_index(table: &stonecrop::Table, name: &str) -> Result<Index> {
    let schema = table.schema()?;
    let index = schema.indexes().iter().find(|index| index.name() == name);
    let index = index.ok_or_else(|| {
        Problem::new(NO_INDEX, format!("table {:?} has no index {name:?}", table.name()))
    })?;
    Ok(Index::of(index, table.index_progress(name)?))
}
