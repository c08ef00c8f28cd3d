//! A store whose shards are on several nodes.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::time::Duration;

use bytes::Bytes;
use futures::future::{join_all, try_join_all};
use serde::Serialize;
use stonecrop_store::{
    Batch, Direction, Durability, Error, ErrorKind, KeyRange, Lead, Read, Result, Scan,
    SlateShards, Stats, Store,
};
use tokio::net::TcpListener;
use tokio::runtime::Runtime;

use crate::door::{self, Door};
use crate::etcd::Etcd;
use crate::map::{Keys, Member};
use crate::node::{ANSWER_TIME, FIRST, Node};
use crate::peer::{Failure, Peers, elsewhere, unavailable};
use crate::view::{ClusterView, Entries, check_shard, get_now, unexpected, wait};
use crate::wire::{Answer, Call, Care};

/// How a node joins others.
#[derive(Clone)]
pub struct Options {
    /// The members of etcd, as `etcd://host:port,host:port`.
    pub etcd: String,
    /// Where this node listens to the others; port 0 is any that is free.
    pub door: SocketAddr,
    /// How the others reach that; the same if it is not given.
    pub advertise: Option<String>,
    /// Where clients reach this node.
    pub address: String,
    /// What the nodes know and nobody else does. It may be empty on loopback alone.
    pub secret: String,
    /// How long a node is waited for that does not answer.
    pub lease: Duration,
}

/// A store whose shards are on several nodes, of which this process is one.
pub struct ClusterStore {
    node: Arc<Node>,
    door: Arc<Door>,
    /// The number of the last write that was sent.
    number: AtomicU64,
    /// The term in which it was last looked at what is there.
    ready_term: AtomicU64,
    /// Shards of which the end of a write is not known.
    unsettled: Mutex<BTreeSet<u8>>,
    /// Held by all that write, and alone by a checkpoint.
    writes: RwLock<()>,
    runtime: Mutex<Option<Runtime>>,
}

impl ClusterStore {
    /// Joins the nodes that share the store at a location, or is the first of them.
    pub fn join(
        location: &str,
        options: &stonecrop_store::Options,
        cluster: &Options,
    ) -> Result<Self> {
        let invalid = |problem: String| Error::new(ErrorKind::Invalid, problem);
        if cluster.secret.is_empty() && !cluster.door.ip().is_loopback() {
            let problem =
                format!("{} can be reached by others: the nodes need a secret", cluster.door);
            return Err(invalid(problem));
        }
        if cluster.advertise.is_none() && cluster.door.ip().is_unspecified() {
            let door = cluster.door;
            let problem =
                format!("{door} is no address by which other nodes could reach this one: name one");
            return Err(invalid(problem));
        }
        let etcd = Etcd::at(&cluster.etcd).map_err(invalid)?;
        let shards = SlateShards::at(location, options)?;
        let failed = |error: std::io::Error| {
            Error::new(ErrorKind::Io, format!("can't listen at {}: {error}", cluster.door))
        };
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .thread_name("stonecrop cluster")
            .enable_all()
            .build()
            .map_err(failed)?;
        let listener = runtime.block_on(TcpListener::bind(cluster.door)).map_err(failed)?;
        let door = listener.local_addr().map_err(failed)?;
        let member = Member {
            door: cluster.advertise.clone().unwrap_or_else(|| door.to_string()),
            address: cluster.address.clone(),
        };
        let keys = Keys::of(bare(location), shards.id());
        let node = Arc::new(Node::new(
            member,
            shards,
            Peers::new(cluster.secret.clone()),
            etcd,
            keys,
            cluster.lease,
            options.objects.patience,
            runtime.handle().clone(),
        ));
        runtime.block_on(node.introduce())?;
        let door = Arc::new(Door::new(node.clone(), cluster.secret.clone()));
        runtime.spawn(door::listen(listener, door.clone()));
        runtime.spawn(node.clone().live());
        Ok(ClusterStore {
            node,
            door,
            number: AtomicU64::new(0),
            ready_term: AtomicU64::new(0),
            unsettled: Mutex::default(),
            writes: RwLock::default(),
            runtime: Mutex::new(Some(runtime)),
        })
    }

    /// What is asked of this node by clients through other nodes is answered by this.
    pub fn door(&self) -> &Arc<Door> {
        &self.door
    }

    /// Who is there, and who has what.
    pub fn status(&self) -> Result<Status> {
        let node = &self.node;
        let map = wait(node, node.read_map()).map_err(unavailable)?;
        let told = map.nodes.iter().map(async |(name, member)| {
            let answer = match *name == node.name {
                true => Ok(node.answer(Call::Tell).await),
                false => node.peers.call(&member.door, &Call::Tell, ANSWER_TIME).await,
            };
            match answer {
                Ok(Answer::Told(told)) => (name.clone(), Some(told)),
                _ => (name.clone(), None),
            }
        });
        let told: BTreeMap<_, _> = wait(node, join_all(told)).into_iter().collect();
        let nodes = map.nodes.iter().map(|(name, member)| NodeStatus {
            name: name.clone(),
            address: member.address.clone(),
            door: member.door.clone(),
            answers: told.get(name).is_some_and(Option::is_some),
            leads: map.claims.get(&FIRST).is_some_and(|claim| claim.node == *name),
            shards: map.claims.values().filter(|claim| claim.node == *name).count(),
        });
        let shards = (0..node.shards.count()).map(|shard| {
            let shard = shard as u8;
            let claim = map.claims.get(&shard);
            let told = claim.and_then(|claim| told.get(&claim.node)?.as_ref());
            let told = told.and_then(|told| told.iter().find(|told| told.shard == shard));
            ShardStatus {
                shard,
                node: claim.map(|claim| claim.node.clone()),
                wanted_by: map.wanted(shard).map(str::to_owned),
                epoch: told.map(|told| told.epoch),
                bytes: told.map(|told| told.bytes),
                lag_seconds: told.map(|told| told.lag.as_secs_f64()),
            }
        });
        Ok(Status { this: node.name.clone(), nodes: nodes.collect(), shards: shards.collect() })
    }

    fn next_number(&self) -> u64 {
        self.number.fetch_add(1, Ordering::AcqRel) + 1
    }

    fn all_shards(&self) -> impl Iterator<Item = u8> + use<> {
        (0..self.node.shards.count()).map(|shard| shard as u8)
    }

    fn care(&self, care: Care) -> Result<()> {
        let node = &self.node;
        let each = self.all_shards().map(|shard| async move {
            node.ask_owner(shard, &Call::Care { shard, care }).await.map(drop)
        });
        wait(node, join_all(each)).into_iter().collect()
    }
}

/// A location without what is only about how to reach it.
fn bare(location: &str) -> &str {
    let bare = location.split_once('?').map_or(location, |(bare, _)| bare);
    bare.trim_end_matches('/')
}

impl Read for ClusterStore {
    fn get(&self, shard: u8, key: &[u8]) -> Result<Option<Bytes>> {
        Ok(get_now(&self.node, &[(shard, key)])?.pop().flatten())
    }

    fn multi_get(&self, keys: &[(u8, &[u8])]) -> Result<Vec<Option<Bytes>>> {
        get_now(&self.node, keys)
    }

    fn scan(&self, shard: u8, range: KeyRange, direction: Direction) -> Result<Scan> {
        check_shard(&self.node, shard)?;
        if let Some(owned) = self.node.owned(shard) {
            match owned.store.scan(0, range.clone(), direction) {
                Err(error) if error.kind() == ErrorKind::Closed => {}
                scan => return scan,
            }
        }
        Ok(Scan::new(Entries::new(&self.node, shard, range, direction, None)))
    }
}

impl Store for ClusterStore {
    fn shards(&self) -> u16 {
        self.node.shards.count()
    }

    fn is_atomic_across_shards(&self) -> bool {
        self.node.shards.count() == 1
    }

    fn reads_may_wait(&self) -> bool {
        true
    }

    fn lead(&self) -> Lead {
        self.node.term().map_or(Lead::Elsewhere, Lead::Here)
    }

    fn announce(&self) {
        let node = &self.node;
        let told = async {
            // Whoever comes later reads what is there by then.
            let map = node.read_map().await.unwrap_or_else(|_| node.map());
            let others = map.nodes.iter().filter(|(name, _)| **name != node.name);
            let told = others.map(async |(name, member)| {
                // Who does not answer for so long has no lease any more, and reads it when it has one.
                let time = node.lease_time + Duration::from_secs(1);
                let read = async {
                    loop {
                        match node.peers.call(&member.door, &Call::Reread, time).await {
                            Ok(Answer::Done) => return,
                            Err(Failure::NotDone(_)) if !node.map().nodes.contains_key(name) => {
                                return;
                            }
                            _ => node.changed().await,
                        }
                    }
                };
                let _ = tokio::time::timeout(time, read).await;
            });
            join_all(told).await;
        };
        wait(node, told);
    }

    fn on_announcement(&self, reread: Box<dyn Fn() -> bool + Send + Sync>) {
        let _ = self.node.reread.set(reread);
    }

    fn ready(&self) -> Result<()> {
        let term = self.node.term().ok_or_else(elsewhere)?;
        if self.ready_term.swap(term, Ordering::AcqRel) != term {
            // Every shard has heard of the new term.
            self.unsettled.lock().unwrap_or_else(PoisonError::into_inner).clear();
        }
        let unsettled = self.unsettled.lock().unwrap_or_else(PoisonError::into_inner).clone();
        for shard in unsettled {
            let call = Call::Settle { shard, term, number: self.next_number() };
            wait(&self.node, self.node.ask_owner(shard, &call))?;
            self.unsettled.lock().unwrap_or_else(PoisonError::into_inner).remove(&shard);
        }
        Ok(())
    }

    fn write(&self, batch: Batch, durability: Durability) -> Result<()> {
        let mut by_shard: BTreeMap<u8, Vec<(Bytes, Option<Bytes>)>> = BTreeMap::new();
        for (shard, key, value) in batch.iter_after(0) {
            check_shard(&self.node, shard)?;
            by_shard.entry(shard).or_default().push((key.clone(), value.cloned()));
        }
        if by_shard.is_empty() {
            return Ok(());
        }
        let _not_alone = self.writes.read().unwrap_or_else(PoisonError::into_inner);
        let (term, number) = (self.ready_term.load(Ordering::Acquire), self.next_number());
        if term == 0 {
            return Err(elsewhere());
        }
        let (node, sync) = (&self.node, durability == Durability::Sync);
        let begun = by_shard.len();
        let writes = by_shard.into_iter().map(|(shard, operations)| async move {
            let call = Call::Write { shard, term, number, sync, operations };
            (shard, node.ask_owner(shard, &call).await)
        });
        let mut failed: Vec<(u8, Error)> = Vec::new();
        for (shard, written) in wait(node, join_all(writes)) {
            match written {
                Ok(Answer::Done) => {}
                Ok(answer) => failed.push((shard, unexpected(answer))),
                Err(error) => failed.push((shard, error)),
            }
        }
        let mut unsettled = self.unsettled.lock().unwrap_or_else(PoisonError::into_inner);
        unsettled.extend(failed.iter().map(|(shard, _)| *shard));
        let taken = begun - failed.len();
        match failed.into_iter().next() {
            None => Ok(()),
            Some((_, error)) if taken == 0 => Err(error),
            Some((_, error)) => Err(Error::new(
                error.kind(),
                format!("{error}; {taken} of {begun} shards have taken their part of the write"),
            )),
        }
    }

    fn snapshot(&self) -> Result<Box<dyn Read>> {
        Ok(Box::new(ClusterView::new(&self.node)?))
    }

    fn checkpoint(&self) -> Result<Box<dyn Read>> {
        // What the catalog says must fit what is in the other shards, so nothing is written until all
        // are marked: by this node, as long as it leads, or by none.
        let alone = self.writes.write().unwrap_or_else(PoisonError::into_inner);
        let term = self.node.term().ok_or_else(elsewhere)?;
        let (node, number) = (&self.node, self.next_number());
        let marks = self.all_shards().map(async |shard| {
            match node.ask_owner(shard, &Call::Mark { shard, term, number }).await? {
                Answer::Marked(mark) => Ok(mark),
                answer => Err(unexpected(answer)),
            }
        });
        let marks = wait(node, try_join_all(marks))?;
        drop(alone);
        node.shards.checkpoint(&marks)
    }

    fn approximate_size(&self, shard: u8) -> Result<u64> {
        check_shard(&self.node, shard)?;
        match wait(&self.node, self.node.ask_owner(shard, &Call::Size { shard }))? {
            Answer::Size(size) => Ok(size),
            answer => Err(unexpected(answer)),
        }
    }

    fn sync(&self) -> Result<()> {
        self.care(Care::Sync)
    }

    fn flush(&self) -> Result<()> {
        self.care(Care::Flush)
    }

    fn compact(&self) -> Result<()> {
        self.care(Care::Compact)
    }

    /// Those of this node's shards.
    fn stats(&self) -> Result<Stats> {
        let mut stats = Stats::default();
        stats.requests = self.node.shards.requests().counts();
        for owned in self.node.all_owned().into_values() {
            stats.disk_bytes += owned.store.approximate_size(0).unwrap_or(0);
        }
        Ok(stats)
    }

    fn close(&self) -> Result<()> {
        let runtime = self.runtime.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(runtime) = runtime {
            let leave = async { tokio::time::timeout(self.node.patience, self.node.leave()).await };
            let _ = wait(&self.node, leave);
            runtime.shutdown_background();
        }
        Ok(())
    }
}

impl Drop for ClusterStore {
    fn drop(&mut self) {
        let _ = self.close();
    }
}

impl fmt::Debug for ClusterStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ClusterStore").field("node", &self.node.name).finish_non_exhaustive()
    }
}

/// Who is there, and who has what.
#[derive(Clone, Debug, Serialize)]
pub struct Status {
    /// The node that was asked.
    pub this: String,
    /// All nodes.
    pub nodes: Vec<NodeStatus>,
    /// All shards.
    pub shards: Vec<ShardStatus>,
}

/// A node, as it is seen by another.
#[derive(Clone, Debug, Serialize)]
pub struct NodeStatus {
    /// Its name, which it has until it ends.
    pub name: String,
    /// Where clients reach it.
    pub address: String,
    /// Where other nodes reach it.
    pub door: String,
    /// Whether it answers.
    pub answers: bool,
    /// Whether it decides what is written.
    pub leads: bool,
    /// How many shards it has claimed.
    pub shards: usize,
}

/// A shard, and who has it.
#[derive(Clone, Debug, Serialize)]
pub struct ShardStatus {
    /// Its number.
    pub shard: u8,
    /// The node that has claimed it.
    pub node: Option<String>,
    /// The node that should have it.
    pub wanted_by: Option<String>,
    /// How often it was opened, by anyone; none while it is not open.
    pub epoch: Option<u64>,
    /// The bytes of its files.
    pub bytes: Option<u64>,
    /// How long its files have been behind its log, which the next node to open it has to read.
    pub lag_seconds: Option<f64>,
}
