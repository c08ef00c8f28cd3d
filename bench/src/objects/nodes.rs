//! One to three nodes that share a database, all on this machine: `stonecrop serve` in processes of
//! their own, with a member of etcd.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::{Context, Result, anyhow, ensure};
use serde_json::Value;

use super::contender::{self, BATCH, FLUSH_INTERVAL, Size, name, owner};
use crate::load::{self, Limit};
use crate::number::rate;
use crate::process::{Running, free_address};

const NODES: [usize; 3] = [1, 2, 3];
const CLIENTS: u64 = 64;
/// So that every node has some.
const SHARDS: u16 = 6;
/// How long it may take until all shards are open.
const PATIENCE: Duration = Duration::from_secs(60);

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Ask {
    Put,
    Get,
}

impl Ask {
    fn title(self) -> &'static str {
        match self {
            Ask::Put => "put a row, durable",
            Ask::Get => "get a row, cached",
        }
    }

    fn request(self, number: u64, rows: u64) -> Vec<u8> {
        let path = format!("/v1/tables/rows/rows/{}", number.wrapping_mul(2_654_435_761) % rows);
        match self {
            Ask::Get => request("GET", &path, ""),
            Ask::Put => {
                let body = format!("{{\"set\":{{\"score\":{{\"Int\":{}}}}}}}", number % 1_000);
                request("PATCH", &path, &body)
            }
        }
    }
}

/// Rates by what was asked, the nodes there are, and the nodes that were asked; of each the best.
#[derive(Default)]
pub(super) struct Figures(BTreeMap<(Ask, usize, usize), f64>);

impl Figures {
    pub(super) fn markdown(&self) -> Result<String> {
        let mut text = String::from("| |");
        for nodes in NODES {
            let plural = if nodes == 1 { "" } else { "s" };
            write!(text, " {nodes} node{plural}, through one | through all |")?;
        }
        writeln!(text, "\n|---|{}", "---:|---:|".repeat(NODES.len()))?;
        for ask in [Ask::Put, Ask::Get] {
            write!(text, "| {}, {CLIENTS} clients |", ask.title())?;
            for (nodes, asked) in NODES.into_iter().flat_map(|nodes| [(nodes, 1), (nodes, nodes)]) {
                match self.0.get(&(ask, nodes, asked)) {
                    Some(found) => write!(text, " {}/s |", rate(*found))?,
                    None => text.push_str(" – |"),
                }
            }
            text.push('\n');
        }
        Ok(text)
    }
}

/// What is needed to start nodes.
pub(super) struct Programs {
    stonecrop: PathBuf,
}

impl Programs {
    /// Those that are there, or what is missing. `program` is this program.
    pub(super) fn find(program: &Path) -> Result<Self, String> {
        let etcd = Command::new("etcd").arg("--version").stdout(Stdio::null()).status();
        if !etcd.is_ok_and(|status| status.success()) {
            return Err("nodes were not measured: there is no etcd".to_owned());
        }
        let stonecrop = program.with_file_name("stonecrop");
        match stonecrop.is_file() {
            true => Ok(Programs { stonecrop }),
            false => Err("nodes were not measured: build --release the program".to_owned()),
        }
    }

    /// Measures all numbers of nodes once.
    pub(super) fn pass(&self, directory: &Path, size: Size, figures: &mut Figures) -> Result<()> {
        for nodes in NODES {
            std::fs::create_dir_all(directory)?;
            let folder = tempfile::tempdir_in(directory)?;
            let cluster = Cluster::start(self, folder.path(), nodes)?;
            cluster.fill(size.rows)?;
            let mut asked = vec![1, nodes];
            asked.dedup();
            for (ask, asked) in [Ask::Put, Ask::Get]
                .into_iter()
                .flat_map(|ask| asked.iter().map(move |asked| (ask, *asked)))
            {
                if ask == Ask::Get {
                    cluster.ask(ask, asked, size)?;
                }
                let found = cluster.ask(ask, asked, size)?;
                let best = figures.0.entry((ask, nodes, asked)).or_insert(found);
                *best = best.max(found);
            }
        }
        Ok(())
    }
}

struct Cluster {
    /// Ended before etcd is.
    nodes: Vec<Running>,
    _etcd: Running,
}

impl Cluster {
    fn start(programs: &Programs, folder: &Path, count: usize) -> Result<Self> {
        let etcd = etcd(folder)?;
        let (path, parameters) = contender::place(folder)?;
        let location = format!("{path}?{parameters}");
        let start = |number: usize| {
            let address = free_address()?;
            let mut command = Command::new(&programs.stonecrop);
            command.args(["serve", &location, "--cluster", &format!("etcd://{}", etcd.address)]);
            command.args(["--listen", &address.to_string(), "--shards", &SHARDS.to_string()]);
            command.args(["--flush-interval", &format!("{}ms", FLUSH_INTERVAL.as_millis())]);
            Running::at(address, &mut command, &folder.join(format!("node-{number}.log")))
        };
        let nodes = (0..count).map(start).collect::<Result<Vec<_>>>()?;
        let cluster = Cluster { nodes, _etcd: etcd };
        cluster.wait_until_whole()?;
        Ok(cluster)
    }

    /// Waits until every node knows of all, and every shard is open.
    fn wait_until_whole(&self) -> Result<()> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let mut left = PATIENCE;
        while !self.is_whole() {
            ensure!(!left.is_zero(), "not all shards were open within {PATIENCE:?}");
            let pause = Duration::from_millis(100);
            runtime.block_on(async { tokio::time::sleep(pause).await });
            left = left.saturating_sub(pause);
        }
        Ok(())
    }

    fn is_whole(&self) -> bool {
        self.nodes.iter().all(|node| {
            let Ok(answer) = load::once(node.address, &request("GET", "/v1/cluster", "")) else {
                return false;
            };
            let status: Value = serde_json::from_slice(&answer).unwrap_or_default();
            let of = |name: &str| status.get(name).and_then(Value::as_array).cloned();
            let is_open = |shard: &Value| shard.get("epoch").is_some_and(Value::is_u64);
            of("nodes").is_some_and(|nodes| nodes.len() == self.nodes.len())
                && of("shards").is_some_and(|shards| shards.iter().all(is_open))
        })
    }

    fn first(&self) -> Result<SocketAddr> {
        Ok(self.nodes.first().context("a node")?.address)
    }

    fn fill(&self, rows: u64) -> Result<()> {
        let table = r#"{"name":"rows","partition_key":"id u64","families":[{"name":"crm","columns":
            [{"name":"name"},{"name":"owner"},{"name":"score"}]}],
            "indexes":[{"name":"by_owner","columns":"owner string"}]}"#;
        load::once(self.first()?, &request("POST", "/v1/tables", table))?;
        for first in (0..rows).step_by(BATCH as usize) {
            let write = |row| {
                let (name, owner) = (name(row), owner(row));
                serde_json::json!({"key": row, "set": {"name": {"String": name},
                    "owner": {"String": owner}, "score": {"Int": 0}}})
            };
            let writes: Vec<Value> = (first..rows.min(first + BATCH)).map(write).collect();
            let body = serde_json::json!({ "writes": writes }).to_string();
            load::once(self.first()?, &request("POST", "/v1/tables/rows/rows", &body))?;
        }
        Ok(())
    }

    /// Asks with all clients, spread over so many nodes, and tells the rate.
    fn ask(&self, ask: Ask, asked: usize, size: Size) -> Result<f64> {
        let clients = CLIENTS / asked as u64;
        std::thread::scope(|scope| {
            let at = |(node, running): (usize, &Running)| {
                let address = running.address;
                scope.spawn(move || {
                    // Not the same rows at the same time.
                    let request =
                        |number| ask.request(number * NODES.len() as u64 + node as u64, size.rows);
                    let limit = Limit::time(size.seconds);
                    load::run(address, clients, limit, &request, &|_, _| Ok(()))
                })
            };
            let asking: Vec<_> = self.nodes.iter().take(asked).enumerate().map(at).collect();
            let rates = asking.into_iter().map(|asking| {
                let outcome = asking.join().map_err(|_| anyhow!("a client panicked"))?;
                Ok(outcome?.rate)
            });
            rates.sum()
        })
    }
}

/// A member of etcd by itself.
fn etcd(folder: &Path) -> Result<Running> {
    let (clients, peers) = (free_address()?, free_address()?);
    let mut command = Command::new("etcd");
    command.arg("--data-dir").arg(folder.join("etcd"));
    for (names, address) in [
        (["--listen-client-urls", "--advertise-client-urls"], clients),
        (["--listen-peer-urls", "--initial-advertise-peer-urls"], peers),
    ] {
        for name in names {
            command.args([name, &format!("http://{address}")]);
        }
    }
    command.args(["--initial-cluster", &format!("default=http://{peers}")]);
    Running::at(clients, &mut command, &folder.join("etcd.log"))
}

fn request(method: &str, path: &str, body: &str) -> Vec<u8> {
    let head = format!("{method} {path} HTTP/1.1\r\nhost: localhost\r\n");
    let length = body.len();
    let of_body = match length {
        0 => String::new(),
        _ => format!("content-type: application/json\r\ncontent-length: {length}\r\n"),
    };
    format!("{head}{of_body}\r\n{body}").into_bytes()
}
