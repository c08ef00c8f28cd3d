//! The changes of a table: a page of them, waited for if need be, or all as they come.

use std::convert::Infallible;
use std::time::Duration;

use axum::Json as Answer;
use axum::body::{Body, Bytes};
use axum::extract::{Path, State};
use axum::http::header::{ACCEPT, CONTENT_TYPE};
use axum::http::{HeaderMap, HeaderName, HeaderValue};
use axum::response::{IntoResponse as _, Response};
use futures_util::stream;
use serde::Deserialize;
use stonecrop::Table;
use tokio::sync::OwnedSemaphorePermit;

use super::key;
use crate::api::{Changes, Lasting, RowChange, Time};
use crate::app::App;
use crate::body::Parameters;
use crate::problem::{BAD_PARAMETER, BUSY, Problem, ProblemDocument, Result};
use crate::watch::Stopwatch;

/// How many changes a page has if nothing is said, and at most.
const USUAL_TAKE: usize = 100;
const MOST_TAKE: usize = 1_000;
/// Who asks for what comes after this asks for what is to come.
const LATEST: &str = "latest";
const EVENTS: &str = "text/event-stream";
const LAST_EVENT_ID: HeaderName = HeaderName::from_static("last-event-id");
/// What is to be sent on as it comes.
pub(crate) const UNBUFFERED: HeaderName = HeaderName::from_static("x-accel-buffering");

#[derive(Debug, Deserialize, utoipa::IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(super) struct Asking {
    /// The changes after this number, or `latest` for those to come; from the oldest on without.
    #[param(pattern = "^([0-9]{1,19}|latest)$")]
    after: Option<String>,
    /// How many at most; 100 if not given.
    #[param(minimum = 1, maximum = 1_000)]
    take: Option<usize>,
    /// How long to wait if there are none, as `30s`; not at all without.
    wait: Option<Lasting>,
}

/// The changes of a table in their order, or with `accept: text/event-stream` all of them as they
/// come, without end.
#[utoipa::path(get, path = "/v1/tables/{table}/changes", tag = "changes",
    params(
        ("table" = String, Path),
        Asking,
        ("last-event-id" = Option<String>, Header, description = "The same as `after`, and before it."),
    ),
    responses(
        (status = 200, content((Changes = "application/json"), (String = "text/event-stream"))),
        (status = "4XX", body = ProblemDocument, content_type = "application/problem+json")))]
pub(super) async fn changes(
    State(app): State<App>,
    Path(table): Path<String>,
    Parameters(asking): Parameters<Asking>,
    headers: HeaderMap,
) -> Result<Response> {
    let table = app.table(&table)?;
    let take = take(asking.take)?;
    let wait = wait(&app, asking.wait)?;
    let last = headers.get(LAST_EVENT_ID).map(|id| (id.to_str().unwrap_or("?"), "last-event-id"));
    let after = match last.or(asking.after.as_deref().map(|after| (after, "after"))) {
        None => None,
        Some((LATEST, _)) => Some(table.last_change()?),
        Some((number, name)) => Some(number.parse().map_err(|_| {
            let problem = format!("{number:?} is neither the number of a change nor {LATEST:?}");
            Problem::new(BAD_PARAMETER, problem).at(name)
        })?),
    };
    let first = read(&app, &table, after, take).await?;
    let follower = |app: App, table: Table| -> Result<Follower> {
        let place = app.follower()?;
        Ok(Follower { after: first.next, app, table, take, _place: place })
    };
    if wants_events(&headers) {
        return Ok(unbuffered(EVENTS, follower(app, table)?.events(first)));
    }
    if !first.changes.is_empty() || wait.is_zero() {
        return Ok(Answer(first).into_response());
    }
    Ok(unbuffered("application/json", follower(app, table)?.page(first, wait)))
}

fn take(asked: Option<usize>) -> Result<usize> {
    let take = asked.unwrap_or(USUAL_TAKE);
    if (1..=MOST_TAKE).contains(&take) {
        return Ok(take);
    }
    let problem = format!("take is {take}, and can be 1 to {MOST_TAKE}");
    Err(Problem::new(BAD_PARAMETER, problem).at("take"))
}

fn wait(app: &App, asked: Option<Lasting>) -> Result<Duration> {
    let Lasting(wait) = asked.unwrap_or(Lasting(Duration::ZERO));
    let most = app.config.limits.request_time;
    if wait <= most {
        return Ok(wait);
    }
    let problem = format!("wait is {} s, and the most is {} s", wait.as_secs(), most.as_secs());
    Err(Problem::new(BAD_PARAMETER, problem).at("wait"))
}

fn wants_events(headers: &HeaderMap) -> bool {
    let accepted = headers.get_all(ACCEPT).iter().filter_map(|value| value.to_str().ok());
    let mut accepted = accepted.flat_map(|value| value.split(','));
    accepted.any(|kind| kind.split(';').next().unwrap_or_default().trim() == EVENTS)
}

/// An answer that is sent as it comes. Its turn is over when it begins, so whoever waits is in
/// nobody's way.
fn unbuffered(kind: &'static str, body: Body) -> Response {
    let mut response = Response::new(body);
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(kind));
    headers.insert(UNBUFFERED, HeaderValue::from_static("no"));
    response
}

async fn read(app: &App, table: &Table, after: Option<u64>, take: usize) -> Result<Changes> {
    let table = table.clone();
    app.in_time(move |_| {
        let schema = table.key_schema()?;
        let page = table.changes(after, take)?;
        let changes = page.changes.into_iter().map(|change| {
            let columns = |row: Option<stonecrop::Row>| {
                let columns = |row: stonecrop::Row| {
                    let columns = row.columns();
                    columns.map(|(name, cell)| (name.to_owned(), cell.value.clone())).collect()
                };
                row.map(columns)
            };
            Ok(RowChange {
                number: change.number,
                at: Time(change.at),
                key: key::write(&schema, &change.key)?,
                old: columns(change.old),
                new: columns(change.new),
            })
        });
        let changes = changes.collect::<Result<_>>()?;
        Ok(Changes { changes, next: page.next, more: page.more })
    })
    .await
}

/// Who waits for changes, without a thread and without a turn.
struct Follower {
    app: App,
    table: Table,
    after: u64,
    take: usize,
    /// One of so many.
    _place: OwnedSemaphorePermit,
}

enum Heard {
    Changes(Changes),
    Nothing,
    /// The server stops.
    End,
}

impl Follower {
    /// The next changes, if they come soon enough.
    async fn hear(&mut self, at_most: Duration) -> Result<Heard> {
        let changed = self.table.changed(self.after)?;
        tokio::select! {
            () = changed => {
                let page = read(&self.app, &self.table, Some(self.after), self.take).await?;
                self.after = page.next;
                Ok(Heard::Changes(page))
            }
            () = self.app.stopping() => Ok(Heard::End),
            () = tokio::time::sleep(at_most) => Ok(Heard::Nothing),
        }
    }

    /// A client that hears nothing for longer would be taken for gone, and takes us for gone.
    fn patience(&self) -> Duration {
        self.app.config.limits.idle_time / 3
    }

    /// One page, once it has something or the time is over; until then, blanks that mean nothing.
    fn page(self, empty: Changes, wait: Duration) -> Body {
        let step = |state: Option<(Follower, Changes, Stopwatch, Duration)>| async {
            let (mut follower, empty, since, wait) = state?;
            let left = wait.saturating_sub(since.elapsed());
            let heard = follower.hear(left.min(follower.patience())).await;
            let (text, state) = match heard {
                Ok(Heard::Changes(page)) => (json(&page), None),
                Ok(Heard::Nothing) if since.elapsed() < wait => {
                    (" ".to_owned(), Some((follower, empty, since, wait)))
                }
                // Why there can be no more is told to whoever asks again.
                Ok(Heard::Nothing | Heard::End) | Err(_) => (json(&empty), None),
            };
            Some((Ok::<_, Infallible>(Bytes::from(text)), state))
        };
        Body::from_stream(stream::unfold(Some((self, empty, Stopwatch::start(), wait)), step))
    }

    /// All changes as events, with comments in between that keep the connection open.
    fn events(self, first: Changes) -> Body {
        let step = |state: Option<(Follower, Option<Changes>)>| async {
            let (mut follower, first) = state?;
            let heard = match first {
                Some(first) => Ok(Heard::Changes(first)),
                None => follower.hear(follower.patience()).await,
            };
            let (text, goes_on) = match heard {
                Ok(Heard::Changes(page)) if page.changes.is_empty() => (": \n\n".to_owned(), true),
                Ok(Heard::Changes(page)) => {
                    let event = |change: &RowChange| {
                        format!("id: {}\nevent: change\ndata: {}\n\n", change.number, json(change))
                    };
                    (page.changes.iter().map(event).collect(), true)
                }
                Ok(Heard::Nothing) => (": \n\n".to_owned(), true),
                Ok(Heard::End) => return None,
                Err(problem) => {
                    let document = json(&problem.document(None));
                    (format!("event: problem\ndata: {document}\n\n"), false)
                }
            };
            let state = goes_on.then_some((follower, None));
            Some((Ok::<_, Infallible>(Bytes::from(text)), state))
        };
        Body::from_stream(stream::unfold(Some((self, Some(first))), step))
    }
}

fn json(value: &impl serde::Serialize) -> String {
    serde_json::to_string(value).unwrap_or_default()
}

impl App {
    /// A place among those who wait for changes.
    fn follower(&self) -> Result<OwnedSemaphorePermit> {
        let place = self.followers.clone().try_acquire_owned();
        place.map_err(|_| {
            let most = self.config.limits.followers;
            Problem::new(BUSY, format!("{most} clients wait for changes already"))
        })
    }
}
