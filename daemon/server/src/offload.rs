//! Runs work on the runtime of the service, so that the threads that answer sockets never compute.

use std::future::Future;
use std::panic::resume_unwind;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use axd_service::BoxFuture;
use tokio::runtime::Handle;
use tokio::task::JoinHandle;

/// A future that runs on another runtime. Dropping it ends it there, at the next point where it waits; until then its gate,
/// which whoever drops it closes first, keeps it from sending anything.
struct Offloaded<T>(JoinHandle<T>);

impl<T> Drop for Offloaded<T> {
    fn drop(&mut self) {
        self.0.abort();
    }
}

impl<T> Future for Offloaded<T> {
    type Output = T;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<T> {
        match ready!(Pin::new(&mut self.0).poll(context)) {
            Ok(done) => Poll::Ready(done),
            Err(fault) if fault.is_panic() => resume_unwind(fault.into_panic()),
            // The runtime is being shut down, and the connections with it.
            Err(_) => Poll::Pending,
        }
    }
}

/// Runs a future on a runtime, if there is one, else in the task that polls it.
pub(super) fn offload<T: Send + 'static>(
    runtime: Option<&Handle>,
    future: BoxFuture<'static, T>,
) -> BoxFuture<'static, T> {
    match runtime {
        Some(runtime) => Box::pin(Offloaded(runtime.spawn(future))),
        None => future,
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::mpsc::channel;

    use super::*;

    #[test]
    fn work_runs_elsewhere_and_ends_when_it_is_dropped() {
        let (ours, theirs) = (runtime(), runtime());
        let (alive, (told, hear)) = (Arc::new(()), channel());
        let held = Arc::clone(&alive);
        let future = Box::pin(async move {
            let _ = told.send(std::thread::current().id());
            let _held = held;
            std::future::pending::<()>().await;
        });
        let running = offload(Some(theirs.handle()), future);
        assert_ne!(hear.recv().unwrap(), std::thread::current().id());
        ours.block_on(async { drop(running) });
        while Arc::strong_count(&alive) > 1 {
            std::thread::yield_now();
        }
    }

    #[test]
    fn a_panic_elsewhere_is_a_panic_here() {
        let (ours, theirs) = (runtime(), runtime());
        let running = offload::<()>(Some(theirs.handle()), Box::pin(async { panic!("a bug") }));
        let outcome = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| ours.block_on(running)));
        assert!(outcome.is_err());
    }

    fn runtime() -> tokio::runtime::Runtime {
        tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap()
    }
}
