//! The care of the database, and what the server tells of itself.

use axum::Json as Answer;
use axum::extract::{Extension, State};
use axum::http::StatusCode;
use stonecrop::Report;

use crate::api::{Check, Stats, Time, WhoAmI};
use crate::app::App;
use crate::auth::Scope;
use crate::body::OptionalJson;
use crate::problem::{ProblemDocument, Result};

/// Compares rows with indexes, and keys with schemas. It takes as long as there is to look at.
#[utoipa::path(post, path = "/v1/check", tag = "server", request_body = Option<Check>,
    responses((status = 200, body = Report), (status = "4XX", body = ProblemDocument, content_type = "application/problem+json")))]
pub(super) async fn check(
    State(app): State<App>,
    OptionalJson(Check { repair }): OptionalJson<Check>,
) -> Result<Answer<Report>> {
    app.aside(move |database| {
        Ok(Answer(if repair { database.repair()? } else { database.check()? }))
    })
    .await
}

/// Compacts the files. It takes as long as there is to write.
#[utoipa::path(post, path = "/v1/compact", tag = "server",
    responses((status = 204), (status = "4XX", body = ProblemDocument, content_type = "application/problem+json")))]
pub(super) async fn compact(State(app): State<App>) -> Result<StatusCode> {
    app.aside(|database| {
        database.compact()?;
        Ok(StatusCode::NO_CONTENT)
    })
    .await
}

/// Figures about the server and its database.
#[utoipa::path(get, path = "/v1/stats", tag = "server",
    responses((status = 200, body = Stats), (status = "4XX", body = ProblemDocument, content_type = "application/problem+json")))]
pub(super) async fn stats(State(app): State<App>) -> Result<Answer<Stats>> {
    let uptime_seconds = app.started.elapsed().as_secs();
    let location = app.config.location.clone();
    app.in_time(move |database| {
        let (engine, writer) = (database.stats()?, database.writer_stats());
        Ok(Answer(Stats {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            location,
            uptime_seconds,
            tables: database.tables().len(),
            entries: engine.entries,
            disk_bytes: engine.disk_bytes,
            journal_bytes: engine.journal_bytes,
            memory_bytes: engine.memory_bytes,
            compactions: engine.compactions,
            commits: writer.commits,
            syncs: writer.syncs,
            writes: writer.writes,
            queued_bytes: writer.queued_bytes,
        }))
    })
    .await
}

/// What the one who asks may do.
#[utoipa::path(get, path = "/v1/whoami", tag = "server",
    responses((status = 200, body = WhoAmI), (status = "4XX", body = ProblemDocument, content_type = "application/problem+json")))]
pub(super) async fn whoami(
    State(app): State<App>,
    Extension(scope): Extension<Scope>,
) -> Result<Answer<WhoAmI>> {
    let authentication = app.config.asks_who();
    Ok(Answer(WhoAmI { scope, authentication, now: Time(app.database.now()) }))
}
