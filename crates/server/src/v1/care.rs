//! The care of the database, and what the server tells of itself.

use axum::Json as Answer;
use axum::extract::{Extension, State};
use axum::http::StatusCode;
use stonecrop::{Options, Report};

use crate::api::{Backup, Check, Cluster, Objects, Stats, Time, WhoAmI};
use crate::app::App;
use crate::auth::Scope;
use crate::body::OptionalJson;
use crate::problem::{NO_BACKUPS, NO_CLUSTER, Problem, ProblemDocument, Result};

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

/// Copies the database, as it is at this moment, to a new place among the server's backups, and
/// verifies the copy. It takes as long as there is to copy.
#[utoipa::path(post, path = "/v1/backups", tag = "server",
    responses((status = 201, body = Backup), (status = "4XX", body = ProblemDocument, content_type = "application/problem+json")))]
pub(super) async fn backup(State(app): State<App>) -> Result<(StatusCode, Answer<Backup>)> {
    let Some(backups) = app.config.backups.clone() else {
        return Err(Problem::new(NO_BACKUPS, "no place for them was named"));
    };
    app.aside(move |database| {
        let location = place_in(&backups, &database.now().to_string());
        let copied = database.copy_to(&location, Options::default(), |_| {})?;
        let (entries, bytes) = (copied.entries, copied.bytes);
        Ok((StatusCode::CREATED, Answer(Backup { location, entries, bytes })))
    })
    .await
}

/// A place by its name within a location, which may end in parameters.
fn place_in(location: &str, name: &str) -> String {
    // Times have colons, which are no part of names everywhere.
    let name = name.replace(':', "-");
    match location.split_once('?') {
        Some((path, parameters)) => {
            format!("{}/{name}?{parameters}", path.trim_end_matches('/'))
        }
        None => format!("{}/{name}", location.trim_end_matches('/')),
    }
}

/// Figures about the server and its database.
#[utoipa::path(get, path = "/v1/stats", tag = "server",
    responses((status = 200, body = Stats), (status = "4XX", body = ProblemDocument, content_type = "application/problem+json")))]
pub(super) async fn stats(State(app): State<App>) -> Result<Answer<Stats>> {
    let uptime = app.started.elapsed();
    let location = app.config.location.clone();
    app.in_time(move |database| {
        let (engine, writer) = (database.stats()?, database.writer_stats());
        Ok(Answer(Stats {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            location,
            uptime_seconds: uptime.as_secs(),
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
            objects: Objects::new(&engine, uptime),
            lag_seconds: database.lag().map(|lag| lag.as_secs_f64()),
        }))
    })
    .await
}

/// The nodes that share the database, and which shards each has.
#[utoipa::path(get, path = "/v1/cluster", tag = "server",
    responses((status = 200, body = Cluster), (status = "4XX", body = ProblemDocument, content_type = "application/problem+json")))]
pub(super) async fn cluster(State(app): State<App>) -> Result<Answer<Cluster>> {
    let Some(cluster) = app.config.cluster.clone() else {
        return Err(Problem::new(NO_CLUSTER, "there are no other nodes"));
    };
    app.in_time(move |_| {
        let status = cluster.status().map_err(stonecrop::Error::from)?;
        Ok(Answer(status.into()))
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_backup_has_a_place_of_its_own_before_the_parameters_of_the_location() {
        assert_eq!(place_in("/b/", "2026-11-16T10:00:00Z"), "/b/2026-11-16T10-00-00Z");
        assert_eq!(place_in("s3://b/p?region=eu", "x"), "s3://b/p/x?region=eu");
    }
}
