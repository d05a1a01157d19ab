//! The handle of an app's thread: requests to the app are queued there, because the thread owns the app's elements.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use tokio::sync::watch;
use tracing::warn;

use super::attached_app::{AttachedApp, Message};
use super::enable_accessibility::Browser;
use crate::ax::run_loop::MessageQueue;
use crate::desktop::monitor::MonitorQueue;
use crate::desktop::power;
use axd_platform::worker::{AppHandle, AppRequest, Pulse};

/// The thread of an attached app. It ends when the last clone is dropped.
#[derive(Clone)]
pub struct AppThread(Arc<Handle>);

struct Handle {
    messages: Arc<MessageQueue<Message>>,
    ended: watch::Receiver<bool>,
    late: Arc<AtomicBool>,
    hidden: Arc<AtomicBool>,
    pulse: Arc<Pulse>,
}

impl Drop for Handle {
    fn drop(&mut self) {
        // The thread may have ended by itself.
        let _ = self.messages.send(Message::Quit);
    }
}

/// What is kept of an app as long as it runs, attached or not, and shared with its thread.
#[derive(Clone)]
pub struct AppShared {
    /// Becomes true when the app has ended.
    pub ended: watch::Receiver<bool>,
    /// Whether the app is known to answer actions late.
    pub late: Arc<AtomicBool>,
    /// How it shows web pages, some of which must be asked for.
    pub browser: Arc<Browser>,
    /// Whether the app is hidden with all its windows.
    pub hidden: Arc<AtomicBool>,
    /// Where changes that concern windows are reported.
    pub monitor: MonitorQueue,
}

/// How the desktop sends messages to the thread of an attached app, without keeping it alive.
pub type AppSender = std::sync::Weak<MessageQueue<Message>>;

impl AppThread {
    /// Starts the thread of an app. `None` if the system refuses another thread.
    pub fn start(pid: u32, shared: AppShared) -> Option<(AppThread, AppSender)> {
        let messages = MessageQueue::new();
        let (queue, monitor, browser) =
            (Arc::clone(&messages), shared.monitor.clone(), Arc::clone(&shared.browser));
        let pulse = Arc::<Pulse>::default();
        let recorded = Arc::clone(&pulse);
        let started =
            std::thread::Builder::new().name(format!("app {pid}")).stack_size(1 << 20).spawn(move || {
                crate::ax::pulse::record_to(recorded);
                AttachedApp::run(pid, queue, monitor, browser);
            });
        if let Err(error) = started {
            warn!(pid, %error, "no thread for an app");
            return None;
        }
        let sender = Arc::downgrade(&messages);
        let AppShared { ended, late, hidden, .. } = shared;
        Some((AppThread(Arc::new(Handle { messages, ended, late, hidden, pulse })), sender))
    }
}

impl AppHandle for AppThread {
    /// An element takes one to four round trips; a healthy app makes one in a millisecond or two.
    const MAX_BATCH: usize = 32;
    /// The app's main thread answers, so that what is read at a time is felt by who uses the app.
    const MAX_STEP: usize = 256;
    const MAX_WATCHED: Option<usize> = Some(128);
    const STEP_BUDGET: Option<Duration> = Some(Duration::from_millis(400));

    fn ask(&self, question: AppRequest) -> bool {
        !*self.0.ended.borrow() && self.0.messages.send(Message::Request(question))
    }

    async fn ended(&self) {
        let mut ended = self.0.ended.clone();
        // The sender is dropped only together with the desktop.
        let _ = ended.wait_for(|ended| *ended).await;
    }

    fn late(&self) -> &Arc<AtomicBool> {
        &self.0.late
    }

    fn pulse(&self) -> Option<&Arc<Pulse>> {
        Some(&self.0.pulse)
    }

    fn may_sweep(&self) -> bool {
        !self.0.hidden.load(Ordering::Relaxed) && !power::is_saved()
    }
}
