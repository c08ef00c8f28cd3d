//! Reading over all nodes.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use futures::future::try_join_all;
use stonecrop_store::{Direction, Error, KeyRange, Read, Result, Scan};
use tokio::task::JoinHandle;
use tokio::time::Instant;

use crate::node::Node;
use crate::owned::{VIEW_KEPT_FOR, View};
use crate::peer::{Failure, unavailable};
use crate::wire::{Answer, At, Call, refused};

/// All shards, each as it was at one moment: those of this node when the view was made, those of
/// another when one of its shards was first read.
pub(crate) struct ClusterView {
    node: Arc<Node>,
    sources: Mutex<HashMap<u8, Source>>,
    /// The views of other nodes, which are let go at the end.
    kept: Mutex<Vec<Kept>>,
}

/// What another node keeps for this view: all of its shards at one moment.
struct Kept {
    door: String,
    view: u64,
    shards: Vec<u8>,
    since: Instant,
}

impl Kept {
    /// Whether a shard that the node behind a door still has can be read from it. A node forgets
    /// what nobody has read for long.
    fn has(&self, shard: u8, door: &str) -> bool {
        self.door == door
            && self.shards.contains(&shard)
            && self.since.elapsed() < VIEW_KEPT_FOR / 4
    }
}

#[derive(Clone)]
enum Source {
    Here(View),
    /// A node, and its view.
    There(String, u64),
}

impl ClusterView {
    pub(crate) fn new(node: &Arc<Node>) -> Result<Self> {
        let view = node.view()?;
        let sources = view.keys().map(|shard| (*shard, Source::Here(view.clone()))).collect();
        Ok(ClusterView { node: node.clone(), sources: Mutex::new(sources), kept: Mutex::default() })
    }

    fn source(&self, shard: u8) -> Result<Source> {
        let mut sources = self.sources.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(source) = sources.get(&shard) {
            return Ok(source.clone());
        }
        check_shard(&self.node, shard)?;
        let source = wait(&self.node, self.find(shard))?;
        sources.insert(shard, source.clone());
        Ok(source)
    }

    /// A view that has a shard.
    async fn find(&self, shard: u8) -> Result<Source> {
        let began = Instant::now();
        loop {
            let problem = match self.try_find(shard).await {
                Ok(source) => return Ok(source),
                Err(Failure::NotDone(problem)) => problem,
                Err(Failure::Unknown(error)) => error.to_string(),
            };
            if began.elapsed() > self.node.patience {
                return Err(unavailable(problem));
            }
            self.node.changed().await;
        }
    }

    async fn try_find(&self, shard: u8) -> Result<Source, Failure> {
        let not_here = || Failure::NotDone(format!("shard {shard} is moving"));
        let map = self.node.map();
        let Some((name, member)) = map.owner(shard) else {
            return Err(Failure::NotDone(self.node.nobody_has(shard)));
        };
        if name == self.node.name {
            let view = self.node.view().map_err(Failure::Unknown)?;
            return view.contains_key(&shard).then_some(Source::Here(view)).ok_or_else(not_here);
        }
        let door = &member.door;
        let known = {
            let kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
            kept.iter().find(|kept| kept.has(shard, door)).map(|kept| kept.view)
        };
        if let Some(view) = known {
            return Ok(Source::There(door.clone(), view));
        }
        let call = Call::Keep { shard };
        let asked = self.node.peers.call(door, &call, self.node.patience);
        match self.node.while_there(shard, asked).await? {
            Answer::Kept { view, shards } => {
                let kept = Kept { door: door.clone(), view, shards, since: Instant::now() };
                self.kept.lock().unwrap_or_else(PoisonError::into_inner).push(kept);
                Ok(Source::There(door.clone(), view))
            }
            Answer::NotHere => Err(not_here()),
            answer => Err(Failure::Unknown(unexpected(answer))),
        }
    }

    /// A scan of this node's own shards as `here` does it, and of others ahead in any case.
    fn scan_with(
        &self,
        shard: u8,
        range: KeyRange,
        direction: Direction,
        here: impl FnOnce(&dyn Read, KeyRange) -> Result<Scan>,
    ) -> Result<Scan> {
        match self.source(shard)? {
            Source::Here(view) => {
                let scan = here(of_view(&view, shard)?, range).map_err(moved)?;
                Ok(Scan::new(scan.map(|entry| entry.map_err(moved))))
            }
            Source::There(door, view) => {
                Ok(Scan::new(Entries::new(&self.node, shard, range, direction, Some((door, view)))))
            }
        }
    }
}

impl Drop for ClusterView {
    fn drop(&mut self) {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        for Kept { door, view, .. } in kept.drain(..) {
            release(&self.node, door, view);
        }
    }
}

fn release(node: &Arc<Node>, door: String, view: u64) {
    let of_task = node.clone();
    node.handle.spawn(async move {
        // If it does not arrive, it is let go after a while.
        let _ = of_task.peers.call(&door, &Call::Release(vec![view]), of_task.patience).await;
    });
}

impl Read for ClusterView {
    fn get(&self, shard: u8, key: &[u8]) -> Result<Option<Bytes>> {
        Ok(self.multi_get(&[(shard, key)])?.pop().flatten())
    }

    fn multi_get(&self, keys: &[(u8, &[u8])]) -> Result<Vec<Option<Bytes>>> {
        get_all(&self.node, keys, |shard| self.source(shard).map(Some))
    }

    fn scan(&self, shard: u8, range: KeyRange, direction: Direction) -> Result<Scan> {
        self.scan_with(shard, range, direction, |view, range| view.scan(0, range, direction))
    }

    fn scan_ahead(&self, shard: u8, range: KeyRange, direction: Direction) -> Result<Scan> {
        self.scan_with(shard, range, direction, |view, range| view.scan_ahead(0, range, direction))
    }
}

/// The values of keys, asked of all nodes at once.
pub(crate) fn get_now(node: &Arc<Node>, keys: &[(u8, &[u8])]) -> Result<Vec<Option<Bytes>>> {
    get_all(node, keys, |shard| check_shard(node, shard).map(|()| None))
}

fn get_all(
    node: &Arc<Node>,
    keys: &[(u8, &[u8])],
    source: impl Fn(u8) -> Result<Option<Source>>,
) -> Result<Vec<Option<Bytes>>> {
    let mut by_shard: BTreeMap<u8, Vec<usize>> = BTreeMap::new();
    for (at, (shard, _)) in keys.iter().enumerate() {
        by_shard.entry(*shard).or_default().push(at);
    }
    let mut values = vec![None; keys.len()];
    let mut asked = Vec::new();
    for (shard, places) in by_shard {
        let keys: Vec<&[u8]> = places.iter().filter_map(|at| Some(keys.get(*at)?.1)).collect();
        let owned = node.owned(shard);
        match (source(shard)?, owned) {
            (Some(Source::Here(view)), _) => {
                let found = of_view(&view, shard)?.multi_get(&of_first(&keys)).map_err(moved)?;
                fill(&mut values, &places, found);
            }
            (None, Some(owned)) => match owned.store.multi_get(&of_first(&keys)) {
                Ok(found) => fill(&mut values, &places, found),
                Err(error) if error.kind() == stonecrop_store::ErrorKind::Closed => {
                    asked.push((shard, places, copied(&keys), None));
                }
                Err(error) => return Err(error),
            },
            (Some(Source::There(door, view)), _) => {
                asked.push((shard, places, copied(&keys), Some((door, view))));
            }
            (None, None) => asked.push((shard, places, copied(&keys), None)),
        }
    }
    if asked.is_empty() {
        return Ok(values);
    }
    let answers = asked.into_iter().map(async |(shard, places, keys, source)| {
        let answer = match source {
            Some((door, view)) => {
                let call = Call::Get { shard, keys, at: At::View(view) };
                let asked = node.peers.call(&door, &call, node.patience);
                node.while_there(shard, asked).await.map_err(Failure::into_error)?
            }
            None => node.ask_owner(shard, &Call::Get { shard, keys, at: At::Now }).await?,
        };
        match answer {
            Answer::Values(values) => Ok((places, values)),
            answer => Err(unexpected(answer)),
        }
    });
    for (places, found) in wait(node, try_join_all(answers))? {
        fill(&mut values, &places, found);
    }
    Ok(values)
}

fn fill(values: &mut [Option<Bytes>], places: &[usize], found: Vec<Option<Bytes>>) {
    for (at, found) in places.iter().zip(found) {
        if let Some(value) = values.get_mut(*at) {
            *value = found;
        }
    }
}

fn of_first<'k>(keys: &[&'k [u8]]) -> Vec<(u8, &'k [u8])> {
    keys.iter().map(|key| (0, *key)).collect()
}

fn copied(keys: &[&[u8]]) -> Vec<Bytes> {
    keys.iter().map(|key| Bytes::copy_from_slice(key)).collect()
}

fn of_view(view: &View, shard: u8) -> Result<&dyn Read> {
    let of = view.get(&shard).map(|read| &**read);
    of.ok_or_else(|| unavailable(format!("shard {shard} has moved; ask again")))
}

/// A shard that was closed here is elsewhere.
fn moved(error: Error) -> Error {
    match error.kind() {
        stonecrop_store::ErrorKind::Closed => unexpected(Answer::NotHere),
        _ => error,
    }
}

pub(crate) fn check_shard(node: &Node, shard: u8) -> Result<()> {
    let shards = node.shards.count();
    match u16::from(shard) < shards {
        true => Ok(()),
        false => Err(Error::new(
            stonecrop_store::ErrorKind::Invalid,
            format!("shard {shard}, and the store has {shards}, counted from 0"),
        )),
    }
}

/// The error of an answer that does not fit.
pub(crate) fn unexpected(answer: Answer) -> Error {
    match answer {
        Answer::Refused { kind, message } => refused(kind, message),
        Answer::NotHere => unavailable("a shard has moved while it was read; ask again"),
        _ => unavailable("a node gave an answer to something else; are all of the same version?"),
    }
}

/// Waits on this thread.
pub(crate) fn wait<T>(node: &Node, work: impl Future<Output = T>) -> T {
    let _context = node.handle.enter();
    futures::executor::block_on(work)
}

/// An answer, and the door of the node that gave it.
type Coming = Result<(Answer, String)>;

/// The entries of a range of another node, some at a time. The next ones are asked for while these
/// are read.
pub(crate) struct Entries {
    node: Arc<Node>,
    shard: u8,
    rest: KeyRange,
    direction: Direction,
    /// The node and its view; none before the first answer of a scan without a view.
    source: Option<(String, u64)>,
    /// Whether the view is of this scan alone.
    is_own: bool,
    taken: VecDeque<(Bytes, Bytes)>,
    coming: Option<JoinHandle<Coming>>,
}

impl Entries {
    pub(crate) fn new(
        node: &Arc<Node>,
        shard: u8,
        range: KeyRange,
        direction: Direction,
        source: Option<(String, u64)>,
    ) -> Self {
        let mut entries = Entries {
            node: node.clone(),
            shard,
            rest: range,
            direction,
            is_own: source.is_none(),
            source,
            taken: VecDeque::new(),
            coming: None,
        };
        entries.ask(true);
        entries
    }

    fn ask(&mut self, first: bool) {
        let at = self.source.as_ref().map_or(At::Now, |(_, view)| At::View(*view));
        let KeyRange { start, end } = self.rest.clone();
        let backward = self.direction == Direction::Backward;
        let (node, shard) = (self.node.clone(), self.shard);
        let call = Call::Scan { shard, start, end, backward, first, at };
        let door = self.source.as_ref().map(|(door, _)| door.clone());
        self.coming = Some(self.node.handle.spawn(async move {
            if let Some(door) = door {
                let asked = node.peers.call(&door, &call, node.patience);
                let answer = node.while_there(shard, asked).await;
                return answer.map(|answer| (answer, door)).map_err(Failure::into_error);
            }
            node.ask_owner_at(shard, &call).await
        }));
    }

    fn take(&mut self) -> Result<()> {
        let Some(coming) = self.coming.take() else { return Ok(()) };
        let came = wait(&self.node, coming).map_err(|error| unavailable(error.to_string()))?;
        let (answer, door) = came?;
        let (view, entries, more) = match answer {
            Answer::Entries { view, entries, more } => (view, entries, more),
            answer => return Err(unexpected(answer)),
        };
        if self.source.is_none() {
            self.source = view.map(|view| (door, view));
        }
        self.taken = entries.into();
        if more && let Some((last, _)) = self.taken.back() {
            match self.direction {
                Direction::Forward => self.rest.start = [&last[..], &[0]].concat().into(),
                Direction::Backward => self.rest.end = Some(last.clone()),
            }
            self.ask(false);
        }
        Ok(())
    }
}

impl Drop for Entries {
    fn drop(&mut self) {
        if let (true, Some((door, view))) = (self.is_own, self.source.take()) {
            release(&self.node, door, view);
        }
    }
}

impl Iterator for Entries {
    type Item = Result<(Bytes, Bytes)>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.taken.is_empty()
            && let Err(error) = self.take()
        {
            return Some(Err(error));
        }
        self.taken.pop_front().map(Ok)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_view_serves_other_shards_of_its_node_while_the_node_surely_keeps_it() {
        let kept = |since| Kept { door: "a:1".to_owned(), view: 7, shards: vec![2, 5], since };
        let now = kept(Instant::now());
        assert!(now.has(2, "a:1") && now.has(5, "a:1"));
        assert!(!now.has(3, "a:1"), "it did not have that shard");
        assert!(!now.has(5, "b:1"), "the shard has moved to another node");
        let before = kept(Instant::now().checked_sub(VIEW_KEPT_FOR / 2).unwrap());
        assert!(!before.has(5, "a:1"), "it may be forgotten before it is read");
    }
}
