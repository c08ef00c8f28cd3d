//! `stonecrop cluster`: the nodes that share a database.

use clap::{Args, Subcommand};
use indicatif::BinaryBytes;
use stonecrop_server::api::Cluster;

use crate::command::heading;
use crate::error::{Error, Result};
use crate::grid::{Grid, Text};
use crate::output::terminal_columns;
use crate::session::Session;

#[derive(Subcommand)]
pub(crate) enum Command {
    Status(Status),
}

/// Shows the nodes, and which of them has which shard
#[derive(Args)]
#[command(after_help = HELP)]
pub(crate) struct Status {
    /// Print it as JSON
    #[arg(long)]
    json: bool,
}

const HELP: &str = concat!(
    heading!("Examples:"),
    "
  stonecrop --database http://localhost:8321 cluster status
  stonecrop --database http://localhost:8321 cluster status --json | jq '.nodes[].address'

The epoch of a shard grows whenever a node opens it. Its lag is how long its files have been behind
its log, which the next node to open it has to read: about a minute at most while the object store
answers, and 0 s if all is in files. Shards that move are shown with the node that will have them."
);

pub(crate) fn run(command: &Command, session: &mut Session) -> Result<()> {
    let Command::Status(arguments) = command;
    let client = session.open_to_read()?;
    let cluster: Cluster = client.get("/v1/cluster")?;
    client.close()?;
    if arguments.json {
        return session.print_json(&cluster);
    }
    let mut nodes = Grid::new(["node", "address", "shards", "state"]);
    for node in &cluster.nodes {
        let state = match (node.answers, node.leads) {
            (false, _) => "does not answer",
            (true, true) => "leads",
            (true, false) => "follows",
        };
        nodes.push([
            Text::new(node.name.clone()),
            Text::new(node.address.clone()),
            Text::new(node.shards.to_string()),
            Text::new(state),
        ]);
    }
    nodes.write(session.out(), terminal_columns()).map_err(Error::Output)?;
    let mut shards = Grid::new(["shard", "node", "epoch", "size", "lag", "state"]);
    for shard in &cluster.shards {
        let state = match (&shard.node, &shard.wanted_by) {
            (Some(_), _) if shard.epoch.is_none() => "is opened".to_owned(),
            (Some(node), Some(wanted)) if node != wanted => format!("goes to {wanted}"),
            (Some(_), _) => "open".to_owned(),
            (None, Some(wanted)) => format!("waits for {wanted}"),
            (None, None) => "nobody has it".to_owned(),
        };
        let lag = shard.lag_seconds.map_or_else(String::new, |lag| format!("{lag:.0} s"));
        let size = shard.bytes.map_or_else(String::new, |bytes| BinaryBytes(bytes).to_string());
        shards.push([
            Text::new(shard.shard.to_string()),
            Text::new(shard.node.clone().unwrap_or_default()),
            Text::new(shard.epoch.map_or_else(String::new, |epoch| epoch.to_string())),
            Text::new(size),
            Text::new(lag),
            Text::new(state),
        ]);
    }
    shards.write(session.out(), terminal_columns()).map_err(Error::Output)
}
