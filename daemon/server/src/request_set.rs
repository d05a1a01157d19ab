//! The running requests of one connection: futures that are polled together in its task, and dropped one by one on cancellation.
//!
//! They run in the connection's own task rather than in tasks of theirs, so that dropping one is done when the call
//! returns: after a cancellation nothing of it can still be on its way.

use std::collections::HashMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::AcqRel, Ordering::Release};
use std::task::{Context, Poll, Wake, Waker};

use parking_lot::Mutex;

use super::panics::Panicked;
use axd_service::BoxFuture;

/// A set of futures, each with a key.
pub(super) struct RequestSet<T> {
    futures: HashMap<u64, Running<T>>,
    woken: Arc<WakeQueue>,
    /// The keys to poll; the buffer is reused, so that polling allocates nothing.
    to_poll: Vec<u64>,
}

struct Running<T> {
    future: BoxFuture<'static, T>,
    wake_entry: Arc<TaskWaker>,
    waker: Waker,
}

/// The keys of the futures that were woken, and the waker of the task that polls them.
#[derive(Default)]
struct WakeQueue {
    state: Mutex<(Vec<u64>, Option<Waker>)>,
}

/// The waker of one future: queues its key and wakes the task.
struct TaskWaker {
    key: u64,
    /// Whether the key is queued already; this keeps the queue no longer than the set.
    is_queued: AtomicBool,
    woken: Arc<WakeQueue>,
}

impl Wake for TaskWaker {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        if self.is_queued.swap(true, AcqRel) {
            return;
        }
        let task = {
            let mut state = self.woken.state.lock();
            state.0.push(self.key);
            state.1.take()
        };
        if let Some(task) = task {
            task.wake();
        }
    }
}

impl<T> RequestSet<T> {
    /// An empty set.
    pub(super) fn new() -> RequestSet<T> {
        RequestSet { futures: HashMap::new(), woken: Arc::default(), to_poll: Vec::new() }
    }

    /// Adds a future; the next call of [`RequestSet::poll`] polls it.
    pub(super) fn insert(&mut self, key: u64, future: BoxFuture<'static, T>) {
        let call =
            Arc::new(TaskWaker { key, is_queued: AtomicBool::new(false), woken: Arc::clone(&self.woken) });
        let waker = Waker::from(Arc::clone(&call));
        waker.wake_by_ref();
        self.futures.insert(key, Running { future, wake_entry: call, waker });
    }

    /// Drops a future, if the set still has it.
    pub(super) fn remove(&mut self, key: u64) {
        self.futures.remove(&key);
    }

    /// Polls every woken future once, and moves the results of the finished ones to `done`. Ready if any is finished.
    pub(super) fn poll(
        &mut self,
        context: &mut Context<'_>,
        done: &mut Vec<(u64, Result<T, Panicked>)>,
    ) -> Poll<()> {
        self.to_poll.clear();
        {
            let mut state = self.woken.state.lock();
            std::mem::swap(&mut state.0, &mut self.to_poll);
            state.1 = Some(context.waker().clone());
        }
        // A future that wakes itself while it is polled waits for the next call, so that it cannot starve the others.
        for &key in &self.to_poll {
            let Some(running) = self.futures.get_mut(&key) else { continue };
            running.wake_entry.is_queued.store(false, Release);
            let mut context = Context::from_waker(&running.waker);
            let polled = catch_unwind(AssertUnwindSafe(|| running.future.as_mut().poll(&mut context)));
            let result = match polled {
                Ok(Poll::Pending) => continue,
                Ok(Poll::Ready(output)) => Ok(output),
                Err(payload) => Err(Panicked::new(payload)),
            };
            self.futures.remove(&key);
            done.push((key, result));
        }
        if done.is_empty() { Poll::Pending } else { Poll::Ready(()) }
    }
}

#[cfg(test)]
mod tests {
    use std::future::poll_fn;

    use tokio::sync::oneshot;

    use super::*;

    async fn next<T>(futures: &mut RequestSet<T>) -> Vec<(u64, Result<T, Panicked>)> {
        let mut done = Vec::new();
        poll_fn(|context| futures.poll(context, &mut done)).await;
        done
    }

    #[tokio::test]
    async fn what_is_done_comes_out_in_the_order_it_is_done() {
        let mut futures = RequestSet::new();
        let (first, wait_first) = oneshot::channel();
        let (second, wait_second) = oneshot::channel();
        futures.insert(1, Box::pin(async { wait_first.await.unwrap() }));
        futures.insert(2, Box::pin(async { wait_second.await.unwrap() }));
        second.send("b").unwrap();
        assert!(matches!(next(&mut futures).await[..], [(2, Ok("b"))]));
        first.send("a").unwrap();
        assert!(matches!(next(&mut futures).await[..], [(1, Ok("a"))]));
    }

    #[tokio::test]
    async fn a_panic_is_an_outcome_and_the_others_go_on() {
        let mut futures: RequestSet<u32> = RequestSet::new();
        futures.insert(1, Box::pin(async { panic!("no {}", 1) }));
        futures.insert(2, Box::pin(async { 2 }));
        let done = next(&mut futures).await;
        assert!(matches!(&done[..], [(1, Err(panicked)), (2, Ok(2))] if panicked.to_string() == "no 1"));
    }

    #[tokio::test]
    async fn a_removed_future_is_dropped_at_once_and_waking_it_does_nothing() {
        struct Held(Arc<()>);
        let mut futures = RequestSet::new();
        let alive = Arc::new(());
        let held = Held(Arc::clone(&alive));
        let (release, wait) = oneshot::channel::<()>();
        futures.insert(1, Box::pin(async move { wait.await.map(|()| drop(held.0)) }));
        poll_fn(|context| Poll::Ready(futures.poll(context, &mut Vec::new()))).await.is_pending();
        assert_eq!(Arc::strong_count(&alive), 2);
        futures.remove(1);
        assert_eq!(Arc::strong_count(&alive), 1);
        assert!(release.send(()).is_err());
        futures.insert(2, Box::pin(async { Ok(()) }));
        assert!(matches!(next(&mut futures).await[..], [(2, _)]));
    }

    #[tokio::test]
    async fn a_future_that_wakes_itself_for_ever_lets_others_have_their_turn() {
        let mut futures = RequestSet::new();
        futures.insert(
            1,
            Box::pin(poll_fn(|context| {
                context.waker().wake_by_ref();
                Poll::<u32>::Pending
            })),
        );
        futures.insert(2, Box::pin(async { 2 }));
        assert!(matches!(next(&mut futures).await[..], [(2, Ok(2))]));
    }
}
