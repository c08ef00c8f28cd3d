//! Writes that are synced a while later.

use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use stonecrop_store::Store;

/// Syncs a while after the first write that asked for it, on a thread of its own.
pub(super) struct Syncer {
    shared: Arc<SyncerShared>,
    store: Arc<dyn Store>,
    interval: Duration,
    thread: Mutex<Option<JoinHandle<()>>>,
}

#[derive(Default)]
struct SyncerShared {
    state: Mutex<SyncerState>,
    changed: Condvar,
}

#[derive(Default, PartialEq, Eq)]
enum SyncerState {
    #[default]
    Idle,
    /// Something was written that is to be synced.
    Dirty,
    Stopped,
}

impl Syncer {
    pub(super) fn new(store: Arc<dyn Store>, interval: Duration) -> Self {
        Syncer { shared: Arc::default(), store, interval, thread: Mutex::default() }
    }

    /// Something was written that is to be synced.
    pub(super) fn wake(&self) {
        let mut state = self.shared.lock();
        if *state != SyncerState::Idle {
            return;
        }
        *state = SyncerState::Dirty;
        self.shared.changed.notify_one();
        drop(state);
        let mut thread = self.thread.lock().unwrap_or_else(PoisonError::into_inner);
        if thread.is_none() {
            let (shared, store, interval) =
                (self.shared.clone(), self.store.clone(), self.interval);
            let named = std::thread::Builder::new().name("stonecrop sync".to_owned());
            *thread = named.spawn(move || shared.run(&*store, interval)).ok();
        }
    }

    /// Ends the thread.
    pub(super) fn stop(&self) {
        *self.shared.lock() = SyncerState::Stopped;
        self.shared.changed.notify_one();
        let thread = self.thread.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(thread) = thread {
            // It can't have panicked but in the engine, and then the engine refuses writes.
            let _ = thread.join();
        }
    }
}

impl SyncerShared {
    fn lock(&self) -> std::sync::MutexGuard<'_, SyncerState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn run(&self, store: &dyn Store, interval: Duration) {
        loop {
            let state = self.lock();
            let state = self
                .changed
                .wait_while(state, |state| *state == SyncerState::Idle)
                .unwrap_or_else(PoisonError::into_inner);
            let (mut state, _) = self
                .changed
                .wait_timeout_while(state, interval, |state| *state != SyncerState::Stopped)
                .unwrap_or_else(PoisonError::into_inner);
            if *state == SyncerState::Stopped {
                return;
            }
            // What is written from here on counts for the next time.
            *state = SyncerState::Idle;
            drop(state);
            // If it fails, the engine refuses the next write.
            let _ = store.sync();
        }
    }
}
