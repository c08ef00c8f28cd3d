//! One store on several nodes.
//!
//! Each node holds a lease in etcd and claims the shards that are its own by rendezvous hashing; a
//! shard that is claimed is opened, which fences whoever had it before. [`ClusterStore`] reads and
//! writes all shards, wherever they are. One node leads, and decides what is written: docs/decisions
//! says why.

#![forbid(unsafe_code)]

mod client;
mod door;
mod etcd;
mod map;
mod node;
mod owned;
mod peer;
mod store;
mod view;
mod wire;

pub use door::{Bodies, Door, FORWARDED, Leader, Unreached, bodies};
pub use map::Member;
pub use store::{ClusterStore, NodeStatus, Options, ShardStatus, Status};
