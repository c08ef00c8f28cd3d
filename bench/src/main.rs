//! Runs the benchmarks several times and writes what they say into `docs/`.

mod cores;
mod datum;
mod db;
mod dynamodb;
mod engine;
mod figures;
mod folders;
mod goal;
mod http;
mod keys;
mod load;
mod machine;
mod number;
mod objects;
mod page;
mod plot;
mod process;
mod queries;
mod sqlite;
mod timer;

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use clap::{Parser, Subcommand, ValueEnum};

/// The C library's takes half of the time of a load. SQLite keeps to that one.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Stonecrop measured beside its peers.
#[derive(Parser)]
#[command(version)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Run the benchmarks, and write the report
    Run {
        /// How often to run them all; the best of each counts
        #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..))]
        passes: u32,
        /// Only prove that they run: one short pass, and the report is not written
        #[arg(long, conflicts_with = "passes")]
        quick: bool,
        /// Only those of one part; the rest of the report stays as it is
        #[arg(long)]
        only: Option<Part>,
        /// Of DynamoDB's door, only these servers, and only print what was measured
        #[arg(long, value_name = "SERVER", requires = "only")]
        servers: Vec<dynamodb::Contender>,
    },
    /// A server to be measured; ends when it is killed
    #[command(hide = true)]
    Serve { kind: http::Kind, rows: u64, folder: PathBuf },
    /// Write the report on keys from the best of all samples that are in target/criterion
    Report,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Part {
    /// The key codec
    Keys,
    /// The database
    Db,
    /// Its queries
    Queries,
    /// The server
    Http,
    /// DynamoDB's door
    Dynamodb,
    /// Object storage
    Objects,
}

fn main() -> Result<()> {
    // Asked for at once: cargo may put a new program in the place of this one meanwhile.
    let program = std::env::current_exe()?;
    let target = program.parent().and_then(Path::parent);
    let target = target.context("the program is not in cargo's target directory")?;
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).with_file_name("docs");
    match Arguments::parse().command {
        Command::Run { passes, quick, only, servers } => {
            let wants = |part| only.is_none_or(|only| only == part);
            if wants(Part::Keys) {
                match quick {
                    true => keys::quick(&target.join("criterion-quick"))?,
                    false => keys::run(&target.join("criterion/passes"), &docs, passes)?,
                }
            }
            // Beside the program, because /tmp is in memory on some machines.
            let directory = target.join("databases");
            if wants(Part::Db) {
                match quick {
                    true => db::quick(&directory)?,
                    false => db::run(&directory, &docs, passes)?,
                }
            }
            if wants(Part::Queries) {
                match quick {
                    true => queries::quick(&directory)?,
                    false => queries::run(&directory, &docs, passes)?,
                }
            }
            if wants(Part::Http) {
                match quick {
                    true => http::quick(&program, &directory)?,
                    false => http::run(&program, &directory, &docs, passes)?,
                }
            }
            if wants(Part::Dynamodb) {
                let peers = target.join("bench-peers");
                let place =
                    dynamodb::Place { program: &program, peers: &peers, directory: &directory };
                match quick {
                    true => dynamodb::quick(place)?,
                    false => dynamodb::run(place, &docs, passes, &servers)?,
                }
            }
            if wants(Part::Objects) {
                match quick {
                    true => objects::quick(&program, &directory)?,
                    false => objects::run(&program, &directory, &docs, passes)?,
                }
            }
        }
        Command::Serve { kind, rows, folder } => http::serve(kind, &folder, rows)?,
        Command::Report => keys::report(&target.join("criterion"), &docs)?,
    }
    Ok(())
}
