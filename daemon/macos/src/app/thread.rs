//! The line to an app: what is asked of it goes to the thread that keeps its elements.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use tokio::sync::watch;
use tracing::warn;

use super::attached_app::{App, Letter};
use crate::ax::run_loop::Mailbox;
use crate::desktop::monitor::Hints;
use axd_platform::worker::{Line, Question};

/// Reaches an app. Its thread ends when the last clone is dropped.
#[derive(Clone)]
pub struct AppLine(Arc<Inner>);

struct Inner {
    mailbox: Arc<Mailbox<Letter>>,
    ended: watch::Receiver<bool>,
    late: Arc<AtomicBool>,
}

impl Drop for Inner {
    fn drop(&mut self) {
        // A thread that has ended needs no telling.
        let _ = self.mailbox.post(Letter::Quit);
    }
}

/// What goes with an app as long as it runs, attached or not.
#[derive(Clone)]
pub struct Life {
    /// Turns true when it has ended.
    pub ended: watch::Receiver<bool>,
    /// Whether it is known to answer acts late.
    pub late: Arc<AtomicBool>,
    /// Whether it is a browser of Chrome's kin.
    pub browser: Arc<AtomicBool>,
    /// Told when something happened that windows may look different after.
    pub windows: Hints,
}

/// How the desktop reaches the thread of an attached app.
pub type Post = std::sync::Weak<Mailbox<Letter>>;

impl AppLine {
    /// Starts the thread of an app. `None` if the system has no thread to give.
    pub fn open(pid: u32, life: Life) -> Option<(AppLine, Post)> {
        let mailbox = Mailbox::new();
        let (inbox, windows, browser) =
            (Arc::clone(&mailbox), life.windows.clone(), Arc::clone(&life.browser));
        let started = std::thread::Builder::new()
            .name(format!("app {pid}"))
            .stack_size(1 << 20)
            .spawn(move || App::run(pid, inbox, windows, browser));
        if let Err(fault) = started {
            warn!(pid, %fault, "no thread for an app");
            return None;
        }
        let post = Arc::downgrade(&mailbox);
        Some((AppLine(Arc::new(Inner { mailbox, ended: life.ended, late: life.late })), post))
    }
}

impl Line for AppLine {
    /// An element takes one to four round trips; a healthy app makes one in a millisecond or two.
    const MOST: usize = 32;

    fn ask(&self, question: Question) -> bool {
        !*self.0.ended.borrow() && self.0.mailbox.post(Letter::Asked(question))
    }

    async fn ended(&self) {
        let mut ended = self.0.ended.clone();
        // Whoever could tell is gone with the desktop.
        let _ = ended.wait_for(|ended| *ended).await;
    }

    fn late(&self) -> &Arc<AtomicBool> {
        &self.0.late
    }
}
