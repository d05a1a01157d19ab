//! Work over the trees of apps: searches, and answers that are written from them.
//!
//! What is small is done at once, on the thread that reads the request. Work that turns out not to be, because its budget of
//! steps is spent or because a change is being applied, is begun again elsewhere: off the threads that answer sockets, a few at
//! a time, with a larger budget and the request's deadline.

use std::cell::Cell;
use std::future::poll_fn;
use std::task::Poll;
use std::time::Duration;

use axd_protocol::selector::budget::{GivenUp, within};
use axd_protocol::{Error, ErrorCode, Result};
use tokio::runtime::{Handle, RuntimeFlavor};
use tokio::sync::{Semaphore, SemaphorePermit};
use tokio::time::{Instant, timeout_at};

use crate::Engine;
use crate::apps::app::App;
use axd_service::{Call, background};
use axd_tree::Tree;

/// The steps of work that is done at once: some tenths of a millisecond.
const SMALL_STEPS: u64 = 8_000;
/// The steps of all other work: about a second.
const MAX_STEPS: u64 = 30_000_000;
/// The elements of an answer that is written at once.
pub(crate) const SMALL_ANSWER: usize = 3_000;

thread_local! {
    /// Whether this thread answers sockets, and is polling a request for the first time.
    static IS_IN_PLACE: Cell<bool> = const { Cell::new(false) };
}

/// How much large work is done at a time: all processors but one are enough to slow everything else down.
pub(crate) fn turns() -> Semaphore {
    let processors = std::thread::available_parallelism().map_or(1, usize::from);
    Semaphore::new(processors.saturating_sub(1).clamp(1, 4))
}

/// Polls a request on a thread that answers sockets, where it does only what is small.
pub(crate) fn in_place<T>(poll: impl FnOnce() -> T) -> T {
    struct Leave;
    impl Drop for Leave {
        fn drop(&mut self) {
            IS_IN_PLACE.set(false);
        }
    }
    IS_IN_PLACE.set(true);
    let _leave = Leave;
    poll()
}

/// Goes on elsewhere, if this thread answers sockets.
pub(crate) async fn leave_place() {
    poll_fn(|_| if IS_IN_PLACE.get() { Poll::Pending } else { Poll::Ready(()) }).await;
}

/// Does what may take a while; the thread's other tasks go to another thread first.
pub(crate) fn blocking<T>(work: impl FnOnce() -> T) -> T {
    match Handle::try_current().map(|runtime| runtime.runtime_flavor()) {
        Ok(RuntimeFlavor::MultiThread) => tokio::task::block_in_place(work),
        _ => work(),
    }
}

/// Does what takes long on a thread that lets others go first.
pub(crate) fn long_work<T: Send>(work: impl FnOnce() -> T + Send) -> T {
    blocking(|| background::run(work))
}

impl Engine {
    /// Searches the tree of an app. The work may be begun twice; its result must not depend on that.
    pub(crate) async fn search<T: Send>(
        &self,
        app: &App,
        deadline: Instant,
        mut work: impl FnMut(&Tree) -> Result<T> + Send,
    ) -> Result<T> {
        if let Some(done) = try_small(app, &mut work).await {
            return done;
        }
        let _turn = self.large_turn(deadline).await?;
        large(app, deadline, work)
    }

    /// Writes an answer from the tree of an app, when the client has room for it. `size` is how many elements it is about,
    /// beside those that are searched.
    pub(crate) async fn write_from<T: Send>(
        &self,
        call: &Call,
        app: &App,
        size: impl Fn(&Tree) -> usize,
        mut work: impl FnMut(&Tree) -> Result<T> + Send,
    ) -> Result<T> {
        self.room_for_answer(call).await?;
        let is_small = size(&app.tree.read()) <= SMALL_ANSWER;
        if is_small && let Some(done) = try_small(app, &mut work).await {
            return done;
        }
        let _turn = self.large_answer_turn(call).await?;
        large(app, Engine::deadline(call), work)
    }

    /// A turn for large work, off the threads that answer sockets.
    pub(crate) async fn large_turn(&self, deadline: Instant) -> Result<SemaphorePermit<'_>> {
        leave_place().await;
        let turn = timeout_at(deadline, self.large_turns.acquire()).await;
        turn.ok().and_then(|turn| turn.ok()).ok_or_else(|| {
            Error::new(ErrorCode::Timeout, "other requests that take long are still being served")
                .suggest("try again, increase --deadline-ms, or ask for less at a time")
        })
    }

    /// A turn for a long answer, for which the client has room. A turn is not kept while the client does not read.
    pub(crate) async fn large_answer_turn(&self, call: &Call) -> Result<SemaphorePermit<'_>> {
        loop {
            self.room_for_answer(call).await?;
            let turn = self.large_turn(Engine::deadline(call)).await?;
            if call.has_room() {
                // All clients that waited for a turn together were told that there is room.
                self.room_for_answer(call).await?;
                return Ok(turn);
            }
        }
    }

    /// Waits until the client has room for an answer, if the request has no deadline for as long as it takes.
    pub(crate) async fn room_for_answer(&self, call: &Call) -> Result<()> {
        let Some(deadline) = call.deadline else { return call.room_for_answer().await };
        timeout_at(deadline, call.room_for_answer()).await.unwrap_or_else(|_| {
            Err(Error::new(ErrorCode::Timeout, "the client has not read its earlier answers")
                .suggest("read them, or use another connection"))
        })
    }
}

/// Does work within the small budget, elsewhere if a change is being applied; `None` if that does not suffice.
async fn try_small<T>(app: &App, mut work: impl FnMut(&Tree) -> Result<T>) -> Option<Result<T>> {
    if let Some(tree) = app.tree.try_read() {
        return within(SMALL_STEPS, None, || work(&tree)).ok();
    }
    leave_place().await;
    small(app, work)
}

/// Does work within the small budget; `None` if that does not suffice.
fn small<T>(app: &App, work: impl FnOnce(&Tree) -> Result<T>) -> Option<Result<T>> {
    let tree = app.tree.read();
    within(SMALL_STEPS, None, || work(&tree)).ok()
}

fn large<T: Send>(app: &App, deadline: Instant, work: impl FnOnce(&Tree) -> Result<T> + Send) -> Result<T> {
    let go_on = move || Instant::now() < deadline;
    let done = long_work(|| {
        let tree = app.tree.read_in_turn();
        within(MAX_STEPS, Some(Box::new(go_on)), || work(&tree))
    });
    done.unwrap_or_else(|why| Err(too_costly(why)))
}

/// The error of work that was given up.
pub(crate) fn too_costly(why: GivenUp) -> Error {
    let simpler = "use a simpler selector, or narrow the search with --window or --root";
    match why {
        GivenUp::Spent => {
            Error::new(ErrorCode::InvalidArgs, "the selector takes too long to search the app with")
                .suggest(simpler)
        }
        GivenUp::Stopped => Error::new(ErrorCode::Timeout, "the search did not end before the deadline")
            .suggest(format!("increase --deadline-ms, or {simpler}")),
    }
}

/// Searches the tree of an app if that is small; `None` if it is not.
pub(crate) fn search_small<T>(app: &App, work: impl FnOnce(&Tree) -> T) -> Option<T> {
    small(app, |tree| Ok(work(tree)))?.ok()
}

/// Searches the tree of an app without waiting for a turn; `None` if that takes too long. For conditions that are checked again.
pub(crate) fn search_now<T: Send>(
    app: &App,
    deadline: Instant,
    mut work: impl FnMut(&Tree) -> T + Send,
) -> Option<T> {
    let found = small(app, |tree| Ok(work(tree)));
    found.unwrap_or_else(|| large(app, deadline, |tree| Ok(work(tree)))).ok()
}

/// How long a condition that takes long to check is not checked again: so long that a quarter of the time is spent on it.
pub(crate) fn rest_after(check: Duration) -> Duration {
    check * 3
}
