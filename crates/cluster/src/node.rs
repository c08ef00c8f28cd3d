//! A node: it holds a lease, claims the shards that it should have, and opens them.
//!
//! The lease says who should write; that nobody else does is up to SlateDB, which fences whoever
//! opened a shard before. One node **leads**: the one that has shard 0, where the catalog is. It
//! decides all writes, and sends each shard's part to the node that has it. The revision of its
//! claim is its **term**; before it decides anything, every shard has heard of the term, and takes
//! nothing of an earlier one.

use std::collections::{BTreeMap, HashSet};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError, RwLock};
use std::time::Duration;

use futures::future::join_all;
use stonecrop_store::{ErrorKind, SlateShards, Store as _};
use tokio::runtime::Handle;
use tokio::sync::{Notify, watch};
use tokio::time::{Instant, sleep};

use crate::etcd::Etcd;
use crate::map::{Keys, Map, Member};
use crate::owned::{Owned, View, Views};
use crate::peer::{Failure, Peers, is_stranger, unavailable};
use crate::wire::Call;

/// How often is looked for who is there.
const LOOK_EVERY: Duration = Duration::from_millis(300);
/// How long is waited before something that failed is tried again.
const PAUSE: Duration = Duration::from_millis(200);
/// How long another node is waited for when it is asked how it is.
pub(crate) const ANSWER_TIME: Duration = Duration::from_secs(1);
/// The shard whose owner leads.
pub(crate) const FIRST: u8 = 0;

/// Reads the catalog again, and tells whether that was possible.
type Reread = Box<dyn Fn() -> bool + Send + Sync>;

pub(crate) struct Node {
    pub(crate) name: String,
    pub(crate) member: Member,
    pub(crate) shards: SlateShards,
    pub(crate) peers: Peers,
    pub(crate) views: Views,
    pub(crate) handle: Handle,
    pub(crate) patience: Duration,
    /// What is to be done when another node has changed the catalog.
    pub(crate) reread: OnceLock<Reread>,
    etcd: Etcd,
    keys: Keys,
    pub(crate) lease_time: Duration,
    /// Why the cluster can't be joined, if it can't.
    trouble: Mutex<Option<String>>,
    owned: RwLock<BTreeMap<u8, Arc<Owned>>>,
    map: watch::Sender<Arc<Map>>,
    /// Of which shards something is under way.
    busy: Mutex<HashSet<u8>>,
    started: Instant,
    /// Until when the lease holds for certain, in microseconds since the start.
    alive_until: AtomicU64,
    /// Counts the leases.
    life: AtomicU64,
    /// 0 while another one leads.
    term: AtomicU64,
    look: Notify,
    ended: Notify,
    closing: AtomicBool,
}

impl Node {
    #[expect(clippy::too_many_arguments, reason = "they are named at the one place")]
    pub(crate) fn new(
        member: Member,
        shards: SlateShards,
        peers: Peers,
        etcd: Etcd,
        keys: Keys,
        lease_time: Duration,
        patience: Duration,
        handle: Handle,
    ) -> Self {
        let id = format!("{:032x}", uuid::Uuid::new_v4().as_u128());
        let id = id.get(..8).unwrap_or_default();
        Node {
            name: format!("{}-{id}", member.address),
            member,
            shards,
            peers,
            views: Views::default(),
            handle,
            patience,
            reread: OnceLock::new(),
            etcd,
            keys,
            // As etcd counts it.
            lease_time: Duration::from_secs(lease_time.as_secs().max(1)),
            trouble: Mutex::default(),
            owned: RwLock::default(),
            map: watch::Sender::default(),
            busy: Mutex::default(),
            started: Instant::now(),
            alive_until: AtomicU64::new(0),
            life: AtomicU64::new(0),
            term: AtomicU64::new(0),
            look: Notify::new(),
            ended: Notify::new(),
            closing: AtomicBool::new(false),
        }
    }

    /// Whether the lease holds.
    pub(crate) fn is_alive(&self) -> bool {
        (self.started.elapsed().as_micros() as u64) < self.alive_until.load(Ordering::Acquire)
    }

    /// The term in which this node leads, if it does.
    pub(crate) fn term(&self) -> Option<u64> {
        let term = self.term.load(Ordering::Acquire);
        (term > 0 && self.is_alive()).then_some(term)
    }

    /// A shard, if it is here and may be used.
    pub(crate) fn owned(&self, shard: u8) -> Option<Arc<Owned>> {
        let owned = self.owned.read().unwrap_or_else(PoisonError::into_inner);
        owned.get(&shard).filter(|_| self.is_alive()).cloned()
    }

    /// The same, whether it may be used or not.
    fn opened(&self, shard: u8) -> Option<Arc<Owned>> {
        self.owned.read().unwrap_or_else(PoisonError::into_inner).get(&shard).cloned()
    }

    pub(crate) fn all_owned(&self) -> BTreeMap<u8, Arc<Owned>> {
        let owned = self.owned.read().unwrap_or_else(PoisonError::into_inner);
        if self.is_alive() { owned.clone() } else { BTreeMap::new() }
    }

    /// All shards that are here, as they are now.
    pub(crate) fn view(&self) -> stonecrop_store::Result<View> {
        let views = self.all_owned().into_iter().filter_map(|(shard, owned)| {
            match owned.store.snapshot() {
                // It goes elsewhere.
                Err(error) if error.kind() == ErrorKind::Closed => None,
                view => Some(view.map(|view| (shard, view))),
            }
        });
        Ok(Arc::new(views.collect::<stonecrop_store::Result<_>>()?))
    }

    /// Why nothing can be done with a shard that no node has.
    pub(crate) fn nobody_has(&self, shard: u8) -> String {
        let trouble = self.trouble.lock().unwrap_or_else(PoisonError::into_inner);
        match &*trouble {
            Some(problem) => format!("the cluster can't be joined: {problem}"),
            None => format!("no node has shard {shard} at the moment"),
        }
    }

    pub(crate) fn map(&self) -> Arc<Map> {
        self.map.borrow().clone()
    }

    /// Waits a moment, or until something has changed.
    pub(crate) async fn changed(&self) {
        self.look.notify_one();
        let mut map = self.map.subscribe();
        let _ = tokio::time::timeout(PAUSE, map.changed()).await;
    }

    /// Does something with the node that has a shard, for as long as it has it.
    pub(crate) async fn while_there<T>(
        &self,
        shard: u8,
        work: impl Future<Output = Result<T, Failure>>,
    ) -> Result<T, Failure> {
        let mut map = self.map.subscribe();
        let claim = map.borrow_and_update().claims.get(&shard).cloned();
        let moved = async {
            // It can't be closed: we have the sender.
            let _ = map.wait_for(|map| map.claims.get(&shard) != claim.as_ref()).await;
        };
        tokio::select! {
            done = work => done,
            () = moved => Err(Failure::Unknown(unavailable(format!(
                "shard {shard} has moved meanwhile; it is not known whether it was done; ask again"
            )))),
        }
    }

    /// Reads who is there.
    pub(crate) async fn read_map(&self) -> Result<Arc<Map>, String> {
        let listed = self.etcd.list(&self.keys.0).await?;
        let map = Arc::new(self.keys.map(&listed));
        // Of two that were read at once, the later one stays.
        self.map.send_if_modified(|known| {
            let is_later = map.revision >= known.revision;
            let is_new = known.nodes != map.nodes || known.claims != map.claims;
            if is_later {
                *known = map.clone();
            }
            is_later && is_new
        });
        Ok(map)
    }

    /// Makes sure that those who are there know the secret, and are of the same version: one that
    /// they could not ask would take shards, and nobody could read them.
    pub(crate) async fn introduce(&self) -> stonecrop_store::Result<()> {
        // Who can't be asked now does not keep it from starting.
        let Ok(map) = self.read_map().await else { return Ok(()) };
        let asked = map.nodes.values().map(|m| self.peers.call(&m.door, &Call::Tell, ANSWER_TIME));
        for answer in join_all(asked).await {
            if let Err(Failure::Unknown(error)) = answer
                && is_stranger(&error)
            {
                return Err(error);
            }
        }
        Ok(())
    }

    /// Lives from lease to lease until it is closed.
    pub(crate) async fn live(self: Arc<Self>) {
        while !self.closing.load(Ordering::Acquire) {
            match self.join().await {
                Ok(lease) => {
                    *self.trouble.lock().unwrap_or_else(PoisonError::into_inner) = None;
                    let life = self.life.fetch_add(1, Ordering::AcqRel) + 1;
                    tokio::select! {
                        () = self.keep(lease) => {
                            tracing::warn!(node = self.name, "the lease has ended: every shard is given up");
                        }
                        () = self.settle_down(lease, life) => {}
                    }
                    self.give_up_all().await;
                    let _ = self.etcd.revoke(lease).await;
                }
                Err(problem) => {
                    let mut trouble = self.trouble.lock().unwrap_or_else(PoisonError::into_inner);
                    // It is tried several times a second, and told once.
                    if trouble.as_ref() != Some(&problem) {
                        tracing::warn!(node = self.name, problem, "the cluster can't be joined");
                    }
                    *trouble = Some(problem);
                }
            }
            sleep(PAUSE).await;
        }
        self.ended.notify_one();
    }

    async fn join(self: &Arc<Self>) -> Result<i64, String> {
        let began = self.started.elapsed();
        let lease = self.etcd.grant(self.lease_time).await?;
        let member = serde_json::to_vec(&self.member).map_err(|error| error.to_string())?;
        let made = self.etcd.create(&self.keys.node(&self.name), &member, lease).await?;
        if made.is_none() {
            // Of an earlier lease, which ends soon.
            let _ = self.etcd.revoke(lease).await;
            return Err(format!("there is a node {} already", self.name));
        }
        self.reread_catalog().await;
        self.hold_until(began);
        Ok(lease)
    }

    /// Reads what was announced while there was no lease.
    async fn reread_catalog(self: &Arc<Self>) {
        let is_led = self.read_map().await.is_ok_and(|map| map.owner(FIRST).is_some());
        if self.reread.get().is_some() && is_led {
            let _ = tokio::time::timeout(self.lease_time / 2, self.answer(Call::Reread)).await;
        }
    }

    /// The lease holds for its time from when it was asked for.
    fn hold_until(&self, began: Duration) {
        let until = (began + self.lease_time).as_micros() as u64;
        self.alive_until.store(until, Ordering::Release);
    }

    /// Keeps the lease; ends when it can't.
    async fn keep(&self, lease: i64) {
        loop {
            sleep(self.lease_time / 3).await;
            loop {
                let began = self.started.elapsed();
                match self.etcd.keep(lease).await {
                    Ok(true) => {
                        self.hold_until(began);
                        break;
                    }
                    Ok(false) => return,
                    Err(_) if !self.is_alive() => return,
                    Err(_) => sleep(PAUSE).await,
                }
            }
        }
    }

    /// Takes what it should have, gives what it should not; ends when it is closed.
    async fn settle_down(self: &Arc<Self>, lease: i64, life: u64) {
        while !self.closing.load(Ordering::Acquire) {
            // What can't be read now is read the next time.
            if let Ok(map) = self.read_map().await {
                self.act(&map, lease, life);
            }
            self.views.forget_idle();
            let _ = tokio::time::timeout(LOOK_EVERY, self.look.notified()).await;
            sleep(Duration::from_millis(20)).await;
        }
    }

    fn act(self: &Arc<Self>, map: &Map, lease: i64, life: u64) {
        if !self.is_alive() {
            return;
        }
        for shard in (0..self.shards.count()).map(|shard| shard as u8) {
            let owned = self.opened(shard);
            let claim = map.claims.get(&shard);
            let is_wanted = map.wanted(shard) == Some(&self.name);
            let is_claimed = claim.is_some_and(|claim| claim.node == self.name);
            match owned {
                Some(owned) => {
                    let is_lost = map.revision >= owned.revision
                        && claim.is_none_or(|claim| claim.revision != owned.revision);
                    if !is_wanted || is_lost || owned.store.failure().is_some() {
                        self.start(shard, Self::give_up, life, lease);
                    }
                }
                None if is_wanted && (claim.is_none() || is_claimed) => {
                    self.start(shard, Self::take, life, lease);
                }
                // It was given up, and etcd did not hear of it.
                None if is_claimed => self.start(shard, Self::release, life, lease),
                None => {}
            }
        }
    }

    /// Does something with a shard, unless something is under way.
    fn start<F>(
        self: &Arc<Self>,
        shard: u8,
        act: impl FnOnce(Arc<Self>, u8, u64, i64) -> F,
        life: u64,
        lease: i64,
    ) where
        F: Future<Output = ()> + Send + 'static,
    {
        if !self.busy.lock().unwrap_or_else(PoisonError::into_inner).insert(shard) {
            return;
        }
        let (node, act) = (self.clone(), act(self.clone(), shard, life, lease));
        self.handle.spawn(async move {
            act.await;
            node.busy.lock().unwrap_or_else(PoisonError::into_inner).remove(&shard);
            node.look.notify_one();
        });
    }

    /// Lets others have a shard that is not open here.
    async fn release(self: Arc<Self>, shard: u8, _life: u64, _lease: i64) {
        let map = self.map();
        let claim = map.claims.get(&shard).filter(|claim| claim.node == self.name);
        if let Some(claim) = claim {
            // The next round tries again.
            let _ = self.etcd.remove(&self.keys.shard(shard), claim.revision).await;
        }
    }

    async fn take(self: Arc<Self>, shard: u8, life: u64, lease: i64) {
        if let Err(problem) = self.try_take(shard, life, lease).await {
            tracing::warn!(node = self.name, shard, problem, "a shard can't be opened");
            sleep(PAUSE).await;
        }
    }

    async fn try_take(self: &Arc<Self>, shard: u8, life: u64, lease: i64) -> Result<(), String> {
        let key = self.keys.shard(shard);
        let claimed = self.etcd.create(&key, self.name.as_bytes(), lease).await?;
        // After the claim: whoever leads by then, or later, tells its term to this node.
        let map = self.read_map().await?;
        let Some(claim) = map.claims.get(&shard).filter(|claim| claim.node == self.name) else {
            return Ok(());
        };
        // Where nobody leads, whoever does next has a later claim than this one.
        let revision = claim.revision;
        let term = map.claims.get(&FIRST).map_or(revision, |first| first.revision);
        if claimed.is_none() {
            // It was claimed by this node before, and not opened or given up: claimed anew, so that
            // nothing of that time is taken for this.
            self.etcd.remove(&key, revision).await?;
            return Ok(());
        }
        let node = self.clone();
        let opened = tokio::task::spawn_blocking(move || node.shards.open(shard)).await;
        let opened = opened
            .map_err(|error| error.to_string())
            .and_then(|opened| opened.map_err(|error| error.to_string()));
        let store = match opened {
            Ok(store) => store,
            Err(problem) => {
                self.etcd.remove(&key, revision).await?;
                return Err(problem);
            }
        };
        let owned = Arc::new(Owned::new(store, revision, term));
        let mut late = None;
        {
            let mut all = self.owned.write().unwrap_or_else(PoisonError::into_inner);
            match self.life.load(Ordering::Acquire) == life && self.is_alive() {
                true => drop(all.insert(shard, owned)),
                false => late = Some(owned),
            }
        }
        if let Some(owned) = late {
            close(owned).await;
            return Err("the lease has ended meanwhile".to_owned());
        }
        tracing::info!(node = self.name, shard, revision, "a shard is here");
        if shard == FIRST {
            self.handle.spawn(self.clone().begin_to_lead(revision, life));
        }
        Ok(())
    }

    /// Leads once every shard has heard of it.
    async fn begin_to_lead(self: Arc<Self>, term: u64, life: u64) {
        let is_still = || {
            let owned = self.opened(FIRST);
            self.life.load(Ordering::Acquire) == life
                && owned.is_some_and(|owned| owned.revision == term)
        };
        let mut left: Vec<u8> = (0..self.shards.count()).map(|shard| shard as u8).collect();
        while !left.is_empty() {
            if !is_still() {
                return;
            }
            let told = left.iter().map(async |shard| {
                let settle = Call::Settle { shard: *shard, term, number: 0 };
                (*shard, self.call_owner(*shard, &settle).await)
            });
            let told = futures::future::join_all(told).await;
            left.clear();
            for (shard, told) in told {
                if let Err(failure) = told {
                    let problem = failure.into_error().to_string();
                    tracing::info!(node = self.name, shard, problem, "a shard is waited for");
                    left.push(shard);
                }
            }
            if !left.is_empty() {
                self.changed().await;
            }
        }
        if is_still() {
            self.term.store(term, Ordering::Release);
            tracing::info!(node = self.name, term, "this node leads");
            // It may have ended right before that.
            if !is_still() {
                self.end_to_lead(term);
            }
        }
    }

    fn end_to_lead(&self, term: u64) {
        let _ = self.term.compare_exchange(term, 0, Ordering::AcqRel, Ordering::Relaxed);
    }

    /// Closes a shard, and lets others have it.
    async fn give_up(self: Arc<Self>, shard: u8, _life: u64, _lease: i64) {
        let owned = self.owned.write().unwrap_or_else(PoisonError::into_inner).remove(&shard);
        let Some(owned) = owned else { return };
        if shard == FIRST {
            self.end_to_lead(owned.revision);
        }
        let revision = owned.revision;
        close(owned).await;
        tracing::info!(node = self.name, shard, "a shard is given up");
        if let Err(problem) = self.etcd.remove(&self.keys.shard(shard), revision).await {
            tracing::warn!(node = self.name, shard, problem, "a claim can't be given up yet");
        }
    }

    async fn give_up_all(&self) {
        self.life.fetch_add(1, Ordering::AcqRel);
        self.alive_until.store(0, Ordering::Release);
        self.term.store(0, Ordering::Release);
        let owned =
            std::mem::take(&mut *self.owned.write().unwrap_or_else(PoisonError::into_inner));
        futures::future::join_all(owned.into_values().map(close)).await;
    }

    /// Gives up everything, in order.
    pub(crate) async fn leave(&self) {
        self.closing.store(true, Ordering::Release);
        self.look.notify_one();
        self.ended.notified().await;
    }
}

async fn close(owned: Arc<Owned>) {
    // Whatever it says: one that was fenced has nothing to lose.
    let _ = tokio::task::spawn_blocking(move || owned.store.close()).await;
}
