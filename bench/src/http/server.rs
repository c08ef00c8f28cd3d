//! Servers in processes of their own: ours, and the least that a server of this kind can do.

use std::fs::File;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result};
use axum::body::Bytes;
use clap::ValueEnum;
use stonecrop::{ColumnType, Database, Durability, Family, Index, TableSchema, Write};
use stonecrop_server::{Config, Server};
use tokio::net::TcpListener;

use crate::process::Running;

/// Which server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Kind {
    Ours,
    /// Ours, without a table yet.
    Empty,
    /// Answers everything with the bytes of a row, from axum and hyper alone.
    Echo,
    /// The same with an item of DynamoDB's, once the whole request was read.
    Item,
    /// The same without them: a thread for each connection, which reads and writes.
    Bare,
    /// The same, and the request is on disk before the answer.
    BareSynced,
}

pub(crate) const OWNERS: u64 = 1_000;
const BATCH: usize = 5_000;

/// The key of a row.
pub(crate) fn key(row: u64) -> String {
    format!("acct_{row:07}")
}

/// Runs a server until it is killed, and tells its address.
pub(crate) fn serve(kind: Kind, folder: &Path, rows: u64) -> Result<()> {
    if matches!(kind, Kind::Bare | Kind::BareSynced) {
        return serve_bare((kind == Kind::BareSynced).then_some(folder));
    }
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    runtime.block_on(async {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let address = listener.local_addr()?;
        let tell = || writeln!(std::io::stdout(), "{address}");
        match kind {
            Kind::Ours | Kind::Empty => {
                let database = match kind {
                    Kind::Ours => filled(folder, rows)?,
                    _ => Database::open(folder)?,
                };
                tell()?;
                let server = Server::new(database, Config::default());
                server.serve(listener, None, std::future::pending()).await?;
            }
            Kind::Echo => {
                tell()?;
                axum::serve(listener, axum::Router::new().fallback(|| async { ANSWER })).await?;
            }
            Kind::Item => {
                tell()?;
                let item = Bytes::from(crate::dynamodb::answer());
                let answer = move |_request: Bytes| std::future::ready(item.clone());
                axum::serve(listener, axum::Router::new().fallback(answer)).await?;
            }
            Kind::Bare | Kind::BareSynced => {}
        }
        Ok(())
    })
}

/// Answers every request with an item, once the request is on disk if it is to be.
fn serve_bare(folder: Option<&Path>) -> Result<()> {
    let item = crate::dynamodb::answer();
    let length = item.len();
    let answer = format!("HTTP/1.1 200 OK\r\ncontent-length: {length}\r\n\r\n{item}").into_bytes();
    let listener = std::net::TcpListener::bind("127.0.0.1:0")?;
    writeln!(std::io::stdout(), "{}", listener.local_addr()?)?;
    std::thread::scope(|scope| {
        for (number, stream) in listener.incoming().enumerate() {
            let (stream, answer) = (stream?, &answer);
            let log = folder.map(|folder| File::create(folder.join(format!("bare-{number}"))));
            let log = log.transpose()?;
            scope.spawn(move || answer_bare(stream, answer, log));
        }
        Ok(())
    })
}

/// Until the client is gone.
fn answer_bare(stream: TcpStream, answer: &[u8], mut log: Option<File>) -> Result<()> {
    stream.set_nodelay(true)?;
    let (mut requests, mut body, mut stream) = (BufReader::new(&stream), Vec::new(), &stream);
    loop {
        let (mut line, mut length) = (String::new(), 0);
        while requests.read_line(&mut line)? > 2 {
            if let Some(value) = line.strip_prefix("content-length:") {
                length = value.trim().parse()?;
            }
            line.clear();
        }
        anyhow::ensure!(!line.is_empty(), "the client is gone");
        body.resize(length, 0);
        requests.read_exact(&mut body)?;
        if let Some(log) = &mut log {
            log.write_all(&body)?;
            log.sync_data()?;
        }
        stream.write_all(answer)?;
    }
}

/// As long as a row that our server tells.
const ANSWER: ([(&str, &str); 1], &str) = (
    [("content-type", "application/json")],
    r#"{"row_key":"acct_0000007","columns":{"name":{"value":{"String":"Account 7"},"fresh":true,"family":"crm","written_at":"2026-11-16T07:52:29.499379Z","fresh_until":null,"gone_at":null},"owner":{"value":{"String":"owner 7"},"fresh":true,"family":"crm","written_at":"2026-11-16T07:52:29.499379Z","fresh_until":null,"gone_at":null},"score":{"value":{"Int":7},"fresh":true,"family":"scoring","written_at":"2026-11-16T07:52:29.499379Z","fresh_until":"2026-11-16T08:52:29.499379Z","gone_at":null}}}"#,
);

fn filled(folder: &Path, rows: u64) -> Result<Database> {
    let database = Database::open(folder)?;
    let crm =
        Family::new("crm").typed("name", ColumnType::String).typed("owner", ColumnType::String);
    let scoring = Family::new("scoring")
        .typed("score", ColumnType::Int)
        .ttl(std::time::Duration::from_secs(3600));
    let schema = TableSchema::new("accounts", "id string", "")?
        .family(crm)
        .family(scoring)
        .index(Index::new("by_owner", "owner string, score i64 desc")?);
    let table = database.create_table(schema)?;
    let mut writes = (0..rows).map(|row| {
        Write::put(key(row))
            .set("name", format!("Account {row}"))
            .set("owner", format!("owner {}", row % OWNERS))
            .set("score", (row * 7919 % 1_000) as i64)
    });
    let mut writes = writes.by_ref().peekable();
    while writes.peek().is_some() {
        table.write_with(writes.by_ref().take(BATCH), Durability::None)?;
    }
    database.sync()?;
    database.compact()?;
    Ok(database)
}

/// Starts one in a process of its own. `program` is this program.
pub(crate) fn start(program: &Path, kind: Kind, folder: &Path, rows: u64) -> Result<Running> {
    let name = kind.to_possible_value().context("it has a name")?;
    let arguments = ["serve", name.get_name(), &rows.to_string()];
    Running::told(Command::new(program).args(arguments).arg(folder))
}
