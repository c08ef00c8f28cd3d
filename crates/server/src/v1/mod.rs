//! The JSON API.

mod care;
mod changes;
mod key;
mod keys;
mod many;
mod query;
mod rows;
mod tables;

use axum::Router;
use utoipa::OpenApi;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::app::App;
use crate::auth::Scope;
use crate::problem::ProblemDocument;

pub(crate) use changes::UNBUFFERED;
pub(crate) use rows::{ROW, row};

#[derive(OpenApi)]
#[openapi(
    info(
        title = "Stonecrop",
        description = "A wide-column database with typed, ordered keys and a freshness clock on \
                       every group of columns.",
        license(name = "Apache-2.0", identifier = "Apache-2.0")
    ),
    components(schemas(ProblemDocument)),
    tags(
        (name = "tables", description = "Tables and their indexes"),
        (name = "rows", description = "Rows, one or many at a time"),
        (name = "changes", description = "What writes did to the rows of a table"),
        (name = "queries", description = "Pages of rows, and what can be told of them"),
        (name = "keys", description = "Typed keys as ordered bytes"),
        (name = "server", description = "The server and its database"),
    )
)]
struct Document;

/// What the scope of a request's token must be, by its route.
pub(crate) fn needed_scope(method: &axum::http::Method, route: &str) -> Scope {
    use axum::http::Method;
    let of_rows = ["/rows", "/import", "/v1/transaction"];
    match *method {
        Method::GET | Method::HEAD | Method::OPTIONS => Scope::Read,
        _ if ["/v1/query", "/v1/explain", "/v1/facets", "/v1/summary", "/v1/keys"]
            .contains(&route)
            || route.ends_with("/get") =>
        {
            Scope::Read
        }
        _ if of_rows.iter().any(|part| route.contains(part)) => Scope::Write,
        _ => Scope::Admin,
    }
}

/// The routes, and their description.
pub(crate) fn routes() -> (Router<App>, utoipa::openapi::OpenApi) {
    OpenApiRouter::with_openapi(Document::openapi())
        .routes(routes!(tables::list, tables::create))
        .routes(routes!(tables::describe, tables::alter, tables::drop))
        .routes(routes!(tables::truncate))
        .routes(routes!(tables::freshness))
        .routes(routes!(tables::add_index))
        .routes(routes!(tables::index, tables::drop_index))
        .routes(routes!(rows::get, rows::put, rows::change, rows::delete))
        .routes(routes!(rows::batch))
        .routes(routes!(rows::transaction))
        .routes(routes!(rows::multi_get))
        .routes(routes!(rows::history))
        .routes(routes!(rows::anatomy))
        .routes(routes!(changes::changes))
        .routes(routes!(many::import))
        .routes(routes!(many::export))
        .routes(routes!(query::query))
        .routes(routes!(query::explain))
        .routes(routes!(query::facets))
        .routes(routes!(query::summary))
        .routes(routes!(keys::encode))
        .routes(routes!(care::check))
        .routes(routes!(care::compact))
        .routes(routes!(care::backup))
        .routes(routes!(care::stats))
        .routes(routes!(care::cluster))
        .routes(routes!(care::whoami))
        .split_for_parts()
}
