//! Who is there, who has which shard, and who should have it.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::xxh3_64;

use crate::etcd::Listed;

/// A node as it tells of itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Member {
    /// Where other nodes reach it.
    pub door: String,
    /// Where clients reach it.
    pub address: String,
}

/// Who has a shard.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Claim {
    pub(crate) node: String,
    /// When it was claimed: a later claim of the same shard has a larger one.
    pub(crate) revision: u64,
}

/// All of it, at one moment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Map {
    /// The moment: a later one has a larger one.
    pub(crate) revision: u64,
    pub(crate) nodes: BTreeMap<String, Member>,
    pub(crate) claims: BTreeMap<u8, Claim>,
}

/// The keys in etcd of a cluster: `…/nodes/NAME` and `…/shards/000`.
pub(crate) struct Keys(pub(crate) String);

impl Keys {
    /// Those for a store. Another may have the same location at another endpoint: its nodes must not
    /// be taken for nodes of this one.
    pub(crate) fn of(location: &str, id: Option<&str>) -> Self {
        Keys(match id {
            Some(id) => format!("stonecrop/{location}/{id}/"),
            None => format!("stonecrop/{location}/"),
        })
    }

    pub(crate) fn node(&self, name: &str) -> String {
        format!("{}nodes/{name}", self.0)
    }

    pub(crate) fn shard(&self, shard: u8) -> String {
        format!("{}shards/{shard:03}", self.0)
    }

    /// What is said by the keys that there are. What can't be read is not there.
    pub(crate) fn map(&self, listed: &Listed) -> Map {
        let mut map = Map { revision: listed.revision, ..Map::default() };
        for (key, held) in &listed.keys {
            match key.strip_prefix(&self.0).and_then(|key| key.split_once('/')) {
                Some(("nodes", name)) => {
                    let member = serde_json::from_slice(&held.value).ok();
                    map.nodes.extend(member.map(|member| (name.to_owned(), member)));
                }
                Some(("shards", shard)) => {
                    let node = String::from_utf8_lossy(&held.value).into_owned();
                    let claim = Claim { node, revision: held.created };
                    map.claims.extend(shard.parse().ok().map(|shard: u8| (shard, claim)));
                }
                _ => {}
            }
        }
        map
    }
}

impl Map {
    /// The node that should have a shard, by rendezvous hashing: of all nodes the one whose name
    /// gives the largest number with it, so that a node that comes or goes moves only what is its.
    pub(crate) fn wanted(&self, shard: u8) -> Option<&str> {
        let weight = |name: &&String| xxh3_64(&[name.as_bytes(), &[0, shard]].concat());
        self.nodes.keys().max_by_key(weight).map(String::as_str)
    }

    /// The node that has a shard, and where it is.
    pub(crate) fn owner(&self, shard: u8) -> Option<(&str, &Member)> {
        let claim = self.claims.get(&shard)?;
        Some((&claim.node, self.nodes.get(&claim.node)?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::etcd::Held;

    fn of(names: &[&str]) -> Map {
        let member = Member { door: String::new(), address: String::new() };
        let nodes = names.iter().map(|name| ((*name).to_owned(), member.clone())).collect();
        Map { nodes, ..Map::default() }
    }

    #[test]
    fn a_node_that_comes_takes_only_what_becomes_its_own() {
        let (two, three) = (of(&["a", "b"]), of(&["a", "b", "c"]));
        let mut moved = 0;
        for shard in 0..=255 {
            let (before, after) = (two.wanted(shard), three.wanted(shard));
            moved += usize::from(before != after);
            assert!(before == after || after == Some("c"), "{shard}");
        }
        assert!((50..120).contains(&moved), "{moved} of 256");
    }

    #[test]
    fn nobody_wants_a_shard_where_nobody_is() {
        assert_eq!(Map::default().wanted(0), None);
    }

    #[test]
    fn what_is_in_etcd_is_read_back() {
        let keys = Keys::of("p", None);
        let member = Member { door: "d:1".to_owned(), address: "a:1".to_owned() };
        let held = |value: Vec<u8>, created| Held { value: value.into(), created };
        let mut listed = Listed { revision: 9, ..Listed::default() };
        listed.keys.insert(keys.node("x"), held(serde_json::to_vec(&member).unwrap(), 1));
        listed.keys.insert(keys.shard(7), held(b"x".to_vec(), 9));
        listed.keys.insert(keys.shard(0).replace("000", "none"), held(Vec::new(), 9));
        let map = keys.map(&listed);
        assert_eq!(map.owner(7), Some(("x", &member)));
        assert_eq!(map.claims.len(), 1);
        assert_eq!(map.owner(8), None);

        // Nodes of stores of the same name are not there for each other.
        for other in [Keys::of("p", Some("1")), Keys::of("p", Some("2"))] {
            assert_eq!(other.map(&listed).nodes.len(), 0);
            listed.keys.insert(other.node("y"), held(serde_json::to_vec(&member).unwrap(), 1));
            assert_eq!(other.map(&listed).nodes.len(), 1);
        }
        assert_eq!(keys.map(&listed), map);
    }
}
