//! The threads that work on requests: no more than there are turns for, where the runtime would start
//! a new one whenever none has said yet that it is free, and each keeps memory of its own.

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use tokio::runtime::Handle;
use tokio::sync::oneshot;

type Job = Box<dyn FnOnce() + Send>;

/// A few threads, each started when it is needed first. They end with the pool.
pub(crate) struct Pool {
    shared: Arc<Shared>,
    most: usize,
}

struct Shared {
    state: Mutex<State>,
    has_job: Condvar,
}

#[derive(Default)]
struct State {
    jobs: VecDeque<Job>,
    threads: usize,
    /// Those that wait for a job.
    idle: usize,
    is_over: bool,
}

impl Pool {
    pub(crate) fn new(most: usize) -> Self {
        let shared = Shared { state: Mutex::default(), has_job: Condvar::new() };
        Pool { shared: Arc::new(shared), most }
    }

    /// Has a thread do something. None comes back where it panicked, or no thread could be started.
    pub(crate) async fn run<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Option<T> {
        let (done, result) = oneshot::channel();
        let runtime = Handle::try_current().ok();
        self.queue(Box::new(move || {
            // Some of what is called looks for the runtime that it belongs to.
            let _entered = runtime.as_ref().map(Handle::enter);
            // Nobody may wait any more.
            let _ = done.send(work());
        }));
        result.await.ok()
    }

    fn queue(&self, job: Job) {
        let mut state = self.shared.lock();
        state.jobs.push_back(job);
        if state.idle >= state.jobs.len() || state.threads >= self.most {
            drop(state);
            self.shared.has_job.notify_one();
            return;
        }
        let shared = self.shared.clone();
        let name = "stonecrop-work".to_owned();
        match std::thread::Builder::new().name(name).spawn(move || shared.work()) {
            Ok(_) => state.threads += 1,
            // Without any thread nobody would ever come for it.
            Err(_) if state.threads == 0 => drop(state.jobs.pop_back()),
            Err(_) => {}
        }
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        self.shared.lock().is_over = true;
        self.shared.has_job.notify_all();
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn work(&self) {
        let mut state = self.lock();
        loop {
            if let Some(job) = state.jobs.pop_front() {
                drop(state);
                // Whoever waits for it hears of it by what it dropped.
                let _ = catch_unwind(AssertUnwindSafe(job));
                state = self.lock();
                continue;
            }
            if state.is_over {
                return;
            }
            state.idle += 1;
            state = self.has_job.wait(state).unwrap_or_else(PoisonError::into_inner);
            state.idle -= 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;
    use std::sync::Barrier;

    use super::*;

    #[tokio::test]
    async fn what_is_done_comes_back_and_a_panic_ends_no_thread() {
        let pool = Pool::new(1);
        assert_eq!(pool.run(|| 7).await, Some(7));
        assert_eq!(pool.run(|| panic!("as it must")).await, None::<()>);
        assert_eq!(pool.run(|| 8).await, Some(8));
    }

    #[tokio::test]
    async fn there_are_as_many_threads_as_needed_and_no_more_than_allowed() {
        let pool = Arc::new(Pool::new(3));
        // Three at a time must meet, so each round takes all three threads.
        let barrier = Arc::new(Barrier::new(3));
        let jobs: Vec<_> = (0..300)
            .map(|_| {
                let (pool, barrier) = (pool.clone(), barrier.clone());
                tokio::spawn(async move {
                    let work = move || {
                        barrier.wait();
                        std::thread::current().id()
                    };
                    pool.run(work).await
                })
            })
            .collect();
        let mut threads = HashSet::new();
        for job in jobs {
            threads.insert(job.await.unwrap().unwrap());
        }
        assert_eq!(threads.len(), 3);
    }

    #[tokio::test]
    async fn one_after_the_other_needs_one_thread() {
        let pool = Pool::new(32);
        let mut threads = HashSet::new();
        for _ in 0..100 {
            threads.insert(pool.run(|| std::thread::current().id()).await);
            // Who was answered may be back before the thread has said that it is free.
            while pool.shared.lock().idle == 0 {
                std::thread::yield_now();
            }
        }
        assert_eq!(threads.len(), 1);
    }
}
