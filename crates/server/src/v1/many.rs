//! Rows in any number, in constant memory.

use axum::Json as Answer;
use axum::body::{Body, Bytes};
use axum::extract::{Path, Request, State};
use axum::http::header::CONTENT_TYPE;
use axum::response::Response;
use bytes::{Buf, BytesMut};
use futures_util::StreamExt as _;
use serde::Deserialize;
use stonecrop::{Error, Scan, Table};
use tokio_stream::wrappers::ReceiverStream;

use super::{key, rows};
use crate::api::{self, Durability, Imported, Operation, Reject};
use crate::app::App;
use crate::body::{Parameters, parse};
use crate::problem::{BAD_JSON, MEDIA_TYPE, Problem, ProblemDocument, Result, SLOW, TOO_LARGE};

/// How many lines are committed at a time.
const LINES: usize = 1_000;
/// How many bytes of them.
const LINES_BYTES: usize = 4 << 20;
/// How many rejected lines are told.
const REJECTS: usize = 1_000;
/// How large the pieces of an export are.
const PIECE_BYTES: usize = 64 << 10;
/// How many of them wait for the client.
const PIECES: usize = 4;
const NDJSON: &str = "application/x-ndjson";

#[derive(Debug, Deserialize, utoipa::IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(super) struct Importing {
    /// How safe rows are as they come; at the end all of them are synced.
    #[serde(default)]
    durability: Durability,
}

/// Imports rows: a write a line, without conditions. Bad lines are left out.
#[utoipa::path(post, path = "/v1/tables/{table}/import", tag = "rows",
    params(("table" = String, Path), Importing),
    request_body(content = String, content_type = "application/x-ndjson"),
    responses((status = 200, body = Imported), (status = "4XX", body = ProblemDocument, content_type = "application/problem+json")))]
pub(super) async fn import(
    State(app): State<App>,
    Path(table): Path<String>,
    Parameters(Importing { durability }): Parameters<Importing>,
    request: Request,
) -> Result<Answer<Imported>> {
    let content_type = request.headers().get(CONTENT_TYPE).and_then(|value| value.to_str().ok());
    if content_type.is_none_or(|value| value.split(';').next() != Some(NDJSON)) {
        return Err(Problem::new(MEDIA_TYPE, format!("the body must be {NDJSON}")));
    }
    let mut import = Import::new(app.table(&table)?, app, durability);
    let mut stream = request.into_body().into_data_stream();
    let limits = import.app.config.limits;
    loop {
        let chunk = tokio::time::timeout(limits.idle_time, stream.next()).await;
        let Ok(chunk) = chunk else {
            let problem = format!("nothing came for {} s", limits.idle_time.as_secs());
            return Err(Problem::new(SLOW, format!("{problem}; {}", import.so_far())));
        };
        let Some(chunk) = chunk else { break };
        let chunk = chunk.map_err(|error| {
            Problem::new(BAD_JSON, format!("the body ended early: {error}; {}", import.so_far()))
        })?;
        import.take(&chunk, limits.line_bytes).await?;
    }
    import.finish().await
}

/// An import as far as it has come.
struct Import {
    app: App,
    table: Table,
    durability: Durability,
    /// What came after the last end of a line.
    rest: BytesMut,
    /// The line that is being read is too long, and what comes of it is let go.
    too_long: bool,
    lines: u64,
    /// Lines that wait to be committed together, with their numbers.
    waiting: Vec<(u64, Bytes)>,
    waiting_bytes: usize,
    done: Imported,
}

impl Import {
    fn new(table: Table, app: App, durability: Durability) -> Self {
        Import {
            app,
            table,
            durability,
            rest: BytesMut::new(),
            too_long: false,
            lines: 0,
            waiting: Vec::new(),
            waiting_bytes: 0,
            done: Imported::default(),
        }
    }

    fn so_far(&self) -> String {
        format!("{} rows were written, and {} rejected", self.done.rows, self.done.rejected)
    }

    async fn take(&mut self, chunk: &[u8], most: usize) -> Result<()> {
        let mut chunk = chunk;
        while let Some(end) = chunk.iter().position(|byte| *byte == b'\n') {
            let (line, after) = chunk.split_at(end);
            self.part_of_line(line, most);
            chunk = after;
            chunk.advance(1);
            self.end_of_line().await?;
        }
        self.part_of_line(chunk, most);
        Ok(())
    }

    fn part_of_line(&mut self, part: &[u8], most: usize) {
        if self.too_long || self.rest.len() + part.len() > most {
            self.too_long = true;
            self.rest.clear();
            return;
        }
        self.rest.extend_from_slice(part);
    }

    async fn end_of_line(&mut self) -> Result<()> {
        self.lines += 1;
        let line = self.rest.split().freeze();
        if std::mem::take(&mut self.too_long) {
            let most = self.app.config.limits.line_bytes;
            let problem = format!("the line has more than {most} bytes");
            self.done.reject(self.lines, &Problem::new(TOO_LARGE, problem));
        } else if !line.trim_ascii().is_empty() {
            self.waiting_bytes += line.len();
            self.waiting.push((self.lines, line));
        }
        match self.waiting.len() >= LINES || self.waiting_bytes >= LINES_BYTES {
            true => self.commit().await,
            false => Ok(()),
        }
    }

    async fn commit(&mut self) -> Result<()> {
        let lines = std::mem::take(&mut self.waiting);
        self.waiting_bytes = 0;
        let (table, durability) = (self.table.clone(), self.durability);
        let mut done = std::mem::take(&mut self.done);
        let committed = self.app.blocking(move |_| {
            let result = commit(&table, lines, durability, &mut done);
            Ok((result, done))
        });
        let (result, done) = committed.await?;
        self.done = done;
        result.map_err(|problem| {
            let detail = format!("{}; {}", problem.detail, self.so_far());
            Problem { detail, ..problem }
        })
    }

    async fn finish(mut self) -> Result<Answer<Imported>> {
        if !self.rest.is_empty() || self.too_long {
            self.end_of_line().await?;
        }
        self.commit().await?;
        if self.durability != Durability::Sync {
            self.app.blocking(|database| Ok(database.sync()?)).await?;
        }
        Ok(Answer(self.done))
    }
}

impl Imported {
    fn reject(&mut self, line: u64, problem: &Problem) {
        self.rejected += 1;
        if self.rejects.len() < REJECTS {
            let (code, detail) = (problem.kind.code.to_owned(), problem.detail.clone());
            self.rejects.push(Reject { line, code, detail });
        }
    }
}

/// Writes lines as one batch or, where one of them is bad, the others.
fn commit(
    table: &Table,
    lines: Vec<(u64, Bytes)>,
    durability: Durability,
    done: &mut Imported,
) -> Result<()> {
    let schema = table.key_schema()?;
    let mut writes = Vec::with_capacity(lines.len());
    for (number, line) in &lines {
        match read_line(&schema, line) {
            Ok(write) => writes.push((*number, write)),
            Err(problem) => done.reject(*number, &problem),
        }
    }
    while !writes.is_empty() {
        let batch = writes.iter().map(|(_, write)| write.clone());
        let (bad, problem) = match table.write_with(batch, durability.into()) {
            Ok(_) => {
                done.rows += writes.len() as u64;
                break;
            }
            Err(error) => bad_write(error, writes.len()),
        };
        match bad.filter(|_| problem.kind.status.is_client_error()) {
            Some(bad) => done.reject(writes.remove(bad).0, &problem),
            None => return Err(problem),
        }
    }
    Ok(())
}

/// Which write of a batch is wrong, and why: the others are written, so that nothing was is no part
/// of it, nor is its place in the batch.
fn bad_write(error: Error, writes: usize) -> (Option<usize>, Problem) {
    match error {
        Error::Write { write, cause } => (Some(write), Problem::from(*cause)),
        Error::NotUnique { write, ref index } => {
            let detail = format!("another row has the same values in the unique index {index:?}");
            (Some(write), Problem { detail, ..Problem::from(error) })
        }
        error => ((writes == 1).then_some(0), Problem::from(error)),
    }
}

fn read_line(schema: &stonecrop::keys::Schema, line: &[u8]) -> Result<stonecrop::Write<'static>> {
    let write: api::Write = parse(line)?;
    if write.op != Operation::Put || write.when.is_some() || write.table.is_some() {
        let problem = "an import puts rows, without conditions and of one table";
        return Err(Problem::new(BAD_JSON, problem));
    }
    let row_key = key::read(schema, write.key.0.get())?;
    rows::db_write(write, row_key)
}

#[derive(Debug, Deserialize, utoipa::IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(super) struct Exporting {
    /// The columns, with commas between; all of them without.
    columns: Option<String>,
}

/// Exports all rows of a table: a row a line.
#[utoipa::path(get, path = "/v1/tables/{table}/export", tag = "rows",
    params(("table" = String, Path), Exporting),
    responses((status = 200, body = String, content_type = "application/x-ndjson"), (status = "4XX", body = ProblemDocument, content_type = "application/problem+json")))]
pub(super) async fn export(
    State(app): State<App>,
    Path(table): Path<String>,
    Parameters(Exporting { columns }): Parameters<Exporting>,
) -> Result<Response> {
    let table = app.table(&table)?;
    let (pieces, receiver) = tokio::sync::mpsc::channel::<Result<Bytes, std::io::Error>>(PIECES);
    // It waits where the client is slow, and ends where it is gone.
    drop(tokio::task::spawn_blocking(move || {
        if let Err(problem) = send_rows(&table, columns.as_deref(), &pieces) {
            // The client sees that the answer breaks off.
            tracing::warn!(table = table.name(), detail = problem.detail, "an export broke off");
            let _ = pieces.blocking_send(Err(std::io::Error::other(problem.detail)));
        }
    }));
    let body = Body::from_stream(ReceiverStream::new(receiver));
    Response::builder()
        .header(CONTENT_TYPE, NDJSON)
        .body(body)
        .map_err(|error| Problem::new(crate::problem::INTERNAL, error.to_string()))
}

type Pieces = tokio::sync::mpsc::Sender<Result<Bytes, std::io::Error>>;

fn send_rows(table: &Table, columns: Option<&str>, pieces: &Pieces) -> Result<()> {
    let key_schema = table.key_schema()?;
    let mut scan = Scan::all();
    if let Some(columns) = columns {
        scan = scan.columns(columns.split(',').map(str::trim).filter(|name| !name.is_empty()));
    }
    let mut piece = Vec::with_capacity(PIECE_BYTES + PIECE_BYTES / 4);
    for row in table.scan(scan)? {
        rows::tell(&key_schema, &row?, None, &mut piece)?;
        piece.push(b'\n');
        if piece.len() >= PIECE_BYTES {
            let full = std::mem::replace(&mut piece, Vec::with_capacity(PIECE_BYTES * 2));
            if pieces.blocking_send(Ok(full.into())).is_err() {
                return Ok(());
            }
        }
    }
    let _ = pieces.blocking_send(Ok(piece.into()));
    Ok(())
}
