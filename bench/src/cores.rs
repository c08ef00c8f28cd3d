//! Which processors a server runs on, and which its clients.

use anyhow::Result;
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

/// A server has a core to itself, and the clients, which are this thread, another: sharing them, what a
/// client takes is taken from its server, the more the faster that is. All cores are everybody's
/// again when this is dropped, and as long as there is only one.
pub(crate) struct Cores {
    all: CpuSet,
    server: CpuSet,
    clients: CpuSet,
}

impl Cores {
    pub(crate) fn divide() -> Result<Self> {
        let all = sched_getaffinity(None)?;
        let mut ours = (0..CpuSet::MAX_CPU).filter(|core| all.is_set(*core)).map(only);
        let (server, clients) = match (ours.next(), ours.next()) {
            (Some(server), Some(clients)) => (server, clients),
            _ => (all, all),
        };
        sched_setaffinity(None, &clients)?;
        Ok(Cores { all, server, clients })
    }

    /// Starts a process on the core of servers: it keeps the one that it is started on.
    pub(crate) fn start<T>(&self, start: impl FnOnce() -> Result<T>) -> Result<T> {
        sched_setaffinity(None, &self.server)?;
        let started = start();
        sched_setaffinity(None, &self.clients)?;
        started
    }
}

impl Drop for Cores {
    fn drop(&mut self) {
        let _ = sched_setaffinity(None, &self.all);
    }
}

fn only(core: usize) -> CpuSet {
    let mut set = CpuSet::new();
    set.set(core);
    set
}
