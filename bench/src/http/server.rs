//! Servers in processes of their own: ours, and the least that a server of this kind can do.

use std::io::Write as _;
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
}

pub(crate) const OWNERS: u64 = 1_000;
const BATCH: usize = 5_000;

/// The key of a row.
pub(crate) fn key(row: u64) -> String {
    format!("acct_{row:07}")
}

/// Runs a server until it is killed, and tells its address.
pub(crate) fn serve(kind: Kind, folder: &Path, rows: u64) -> Result<()> {
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
        }
        Ok(())
    })
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
