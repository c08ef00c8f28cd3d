//! Pages of rows, and what can be told of them.

use axum::Json as Answer;
use axum::extract::State;
use stonecrop::{Path, Query, Request, Response, Summary, Table};

use crate::api::{Explain, Explained, Facet, Facets, OfColumn};
use crate::app::{App, Limit};
use crate::body::Json;
use crate::problem::{BAD_QUERY, Problem, ProblemDocument, Result};

/// How many rows a page has if nothing is said.
const USUAL_TAKE: usize = 200;
/// How many rows a page may have.
const MOST_TAKE: usize = 10_000;
/// How many values of a column are told if nothing is said, and at most.
const USUAL_VALUES: usize = 100;
const MOST_VALUES: usize = 10_000;

/// A page of rows.
#[utoipa::path(post, path = "/v1/query", tag = "queries", request_body = Request,
    responses((status = 200, body = Response), (status = "4XX", body = ProblemDocument, content_type = "application/problem+json")))]
pub(super) async fn query(
    State(app): State<App>,
    Json(mut request): Json<Request>,
) -> Result<Answer<Response>> {
    let take = request.take.unwrap_or(USUAL_TAKE);
    if take > MOST_TAKE {
        let problem = format!("take is {take}, and the most is {MOST_TAKE}; go on with the cursor");
        return Err(Problem::new(BAD_QUERY, problem).at("/take"));
    }
    request.take = Some(take);
    app.query(move |database, limit| {
        (request.timeout, request.cancel) = (Some(limit.time), Some(limit.cancel));
        Ok(Answer(database.query(&request)?))
    })
    .await
}

/// How a query is answered.
#[utoipa::path(post, path = "/v1/explain", tag = "queries", request_body = Explain,
    responses((status = 200, body = Explained), (status = "4XX", body = ProblemDocument, content_type = "application/problem+json")))]
pub(super) async fn explain(
    State(app): State<App>,
    Json(Explain { mut request, analyze }): Json<Explain>,
) -> Result<Answer<Explained>> {
    app.query(move |database, limit| {
        let [table] = request.prefixes.as_slice() else {
            let problem = "name one table";
            return Err(Problem::new(BAD_QUERY, problem).at("/request/prefixes"));
        };
        let table = database.table(table)?;
        request.take = Some(request.take.unwrap_or(USUAL_TAKE).min(MOST_TAKE));
        let query = limit.query(request.of(&table)?);
        let explanation = match analyze {
            true => table.explain_analyze(&query)?,
            false => table.explain(&query)?,
        };
        Ok(Answer(Explained { text: explanation.to_string(), explanation }))
    })
    .await
}

/// The values of a column with their rows.
#[utoipa::path(post, path = "/v1/facets", tag = "queries", request_body = OfColumn,
    responses((status = 200, body = Facets), (status = "4XX", body = ProblemDocument, content_type = "application/problem+json")))]
pub(super) async fn facets(
    State(app): State<App>,
    Json(question): Json<OfColumn>,
) -> Result<Answer<Facets>> {
    let limit = question.limit.unwrap_or(USUAL_VALUES);
    if limit > MOST_VALUES {
        let problem = format!("limit is {limit}, and the most is {MOST_VALUES}");
        return Err(Problem::new(BAD_QUERY, problem).at("/limit"));
    }
    of_column(app, question, move |table, query, column| {
        let values = table.facets(query, column)?.values;
        let distinct = values.len();
        let values = values.into_iter().take(limit).map(|(value, rows)| Facet { value, rows });
        Ok(Answer(Facets { distinct, values: values.collect() }))
    })
    .await
}

/// What the values of a column come to.
#[utoipa::path(post, path = "/v1/summary", tag = "queries", request_body = OfColumn,
    responses((status = 200, body = Summary), (status = "4XX", body = ProblemDocument, content_type = "application/problem+json")))]
pub(super) async fn summary(
    State(app): State<App>,
    Json(question): Json<OfColumn>,
) -> Result<Answer<Summary>> {
    of_column(app, question, |table, query, column| {
        let mut summary = table.summarize(query, column)?;
        // JSON has no other.
        summary.average = summary.average.filter(|average| average.is_finite());
        Ok(Answer(summary))
    })
    .await
}

async fn of_column<T: Send + 'static>(
    app: App,
    question: OfColumn,
    answer: impl FnOnce(&Table, &Query, Path) -> Result<T> + Send + 'static,
) -> Result<T> {
    app.query(move |database, limit: Limit| {
        let column: Path =
            question.column.parse().map_err(|error| Problem::from(error).at("/column"))?;
        let table = database.table(&question.table)?;
        let request = Request {
            filter: question.filter,
            freshness: question.freshness,
            columns: question.columns,
            ..Request::default()
        };
        answer(&table, &limit.query(request.of(&table)?), column)
    })
    .await
}
