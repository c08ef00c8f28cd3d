//! The commands, one file each.

mod access_key;
mod backup;
mod bench;
mod changes;
mod check;
mod cluster;
mod compact;
mod compactor;
mod completions;
mod copy;
mod delete;
mod demo;
mod export;
mod get;
mod import;
mod index;
mod key;
mod man;
mod put;
mod query;
mod restore;
mod serve;
mod stats;
mod table;
mod token;

use clap::Subcommand;

use crate::error::Result;
use crate::session::Session;

/// A heading in the help, as clap writes its own.
macro_rules! heading {
    ($text:literal) => {
        concat!("\x1b[1m\x1b[4m", $text, "\x1b[0m")
    };
}
pub(crate) use heading;

pub(crate) const HELP: &str = concat!(
    heading!("Examples:"),
    "
  stonecrop import people people.csv --key id
  stonecrop query people --where 'city = \"Bern\" and age > 30' --sort -age --take 20
  stonecrop put people 7 name=Ann age=41
  stonecrop --database http://localhost:8321 table list
  stonecrop key demo

",
    heading!("Exit codes:"),
    "
  0  all went well, or the reader of the output closed it
  1  bad data: values, keys, lines or rows, of which the good ones were worked on; or a file
     can't be read or written
  2  wrong usage, a bad schema or filter included
  3  not found: a database, a table, an index, a row, or changes that are not kept any more
  4  a condition is not true, or there is a conflict; nothing was written
  5  the server or the engine failed, can't be reached, or refused us"
);

#[derive(Subcommand)]
pub(crate) enum Command {
    Serve(serve::Arguments),
    Demo(demo::Arguments),
    /// Creates, shows, alters and drops tables
    #[command(subcommand)]
    Table(table::Command),
    Get(get::Arguments),
    Put(put::Arguments),
    Delete(delete::Arguments),
    Query(query::Arguments),
    Changes(changes::Arguments),
    Import(import::Arguments),
    Export(export::Arguments),
    /// Creates, shows and drops indexes
    #[command(subcommand)]
    Index(index::Command),
    Check(check::Arguments),
    Compact(compact::Arguments),
    Compactor(compactor::Arguments),
    Copy(copy::Arguments),
    Backup(backup::Arguments),
    Restore(restore::Arguments),
    Stats(stats::Arguments),
    /// Shows the nodes that share a database
    #[command(subcommand)]
    Cluster(cluster::Command),
    Token(token::Arguments),
    AccessKey(access_key::Arguments),
    Bench(bench::Arguments),
    /// Encodes, decodes and explains keys
    #[command(subcommand)]
    Key(key::Command),
    Completions(completions::Arguments),
    Man(man::Arguments),
}

pub(crate) fn run(command: &Command, session: &mut Session) -> Result<()> {
    match command {
        Command::Table(command) => table::run(command, session),
        Command::Get(arguments) => get::run(arguments, session),
        Command::Put(arguments) => put::run(arguments, session),
        Command::Delete(arguments) => delete::run(arguments, session),
        Command::Query(arguments) => query::run(arguments, session),
        Command::Changes(arguments) => changes::run(arguments, session),
        Command::Import(arguments) => import::run(arguments, session),
        Command::Export(arguments) => export::run(arguments, session),
        Command::Index(command) => index::run(command, session),
        Command::Check(arguments) => check::run(arguments, session),
        Command::Compact(arguments) => compact::run(arguments, session),
        Command::Compactor(arguments) => compactor::run(arguments, session),
        Command::Copy(arguments) => copy::run(arguments, session),
        Command::Backup(arguments) => backup::run(arguments, session),
        Command::Restore(arguments) => restore::run(arguments, session),
        Command::Stats(arguments) => stats::run(arguments, session),
        Command::Cluster(command) => cluster::run(command, session),
        Command::Bench(arguments) => bench::run(arguments, session),
        Command::Token(arguments) => token::run(arguments, session),
        Command::AccessKey(arguments) => access_key::run(arguments, session),
        Command::Serve(arguments) => serve::run(arguments, session),
        Command::Demo(arguments) => demo::run(arguments, session),
        Command::Key(command) => key::run(command, session),
        Command::Completions(arguments) => completions::run(arguments, session),
        Command::Man(arguments) => man::run(arguments, session),
    }
}
