//! Resources: `axd://app/NAME` is the tree of an app, and subscribers are told when it changes.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use axd_protocol::command::{ListApps, ListAppsAnswer, Snapshot, SnapshotAnswer, Subscribe};
use axd_protocol::event::{Event, EventKind};
use axd_protocol::text::write_tree;
use axd_protocol::{Clock, Command, Error};
use rmcp::model::{Resource, ResourceContents, ResourceTemplate};
use tokio::sync::mpsc::Sender;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use crate::answer::{Answer, Failure};
use crate::arguments::invalid;
use crate::call::Call;
use crate::link::Link;

/// What the addresses begin with.
const PREFIX: &str = "axd://app/";
/// The type of what is read.
const MIME: &str = "text/plain";
/// How long changes are collected before subscribers are told.
const COALESCE_MS: u64 = 200;
/// How long to wait before a subscription is made again that could not be made.
const RETRY: Duration = Duration::from_secs(1);
/// The budget of a resource in tokens. A client puts all of it into the context.
const MAX_TOKENS: u32 = 20_000;

/// The resources there are now: one for each app.
pub async fn list(call: &Call<'_>) -> Result<Vec<Resource>, Failure> {
    let reply = call.request(&Command::ListApps(ListApps {})).await?;
    let found: ListAppsAnswer = reply.data().map_err(|fault| Failure::Axd(fault.to_error()))?;
    let describe = |name: &str| {
        Resource::new(uri_of(name), name.to_owned())
            .with_description("The app's accessibility tree as it is now, one element a line")
            .with_mime_type(MIME)
    };
    let mut names: Vec<&str> = found.apps.iter().map(|listed| listed.app.name.as_str()).collect();
    names.sort_unstable();
    names.dedup();
    Ok(names.into_iter().map(describe).collect())
}

/// How addresses are made.
pub fn template() -> ResourceTemplate {
    ResourceTemplate::new(format!("{PREFIX}{{app}}"), "app")
        .with_description("The accessibility tree of an app, by its name or pid")
        .with_mime_type(MIME)
}

/// Reads the tree of an app.
pub async fn read(call: &Call<'_>, uri: &str) -> Result<Vec<ResourceContents>, Failure> {
    let app = app_of(uri)?;
    let how = serde_json::from_value(serde_json::json!({ "app": app, "max_tokens": MAX_TOKENS }));
    let how: Snapshot = how.map_err(|fault| invalid(fault.to_string()))?;
    let reply = call.request(&Command::Snapshot(how)).await?;
    let shown: SnapshotAnswer = reply.data().map_err(|fault| Failure::Axd(fault.to_error()))?;
    let mut answer = Answer::default();
    reply.clock.iter().for_each(|clock| answer.clock(*clock));
    if shown.truncated {
        answer.note(&format!("cut: {} elements shown", shown.nodes));
    }
    if !shown.complete {
        answer.note("the app is still being read");
    }
    let mut tree = String::new();
    shown.tree.iter().for_each(|root| write_tree(root, 0, &mut tree));
    answer.lines(&tree);
    reply.app.iter().for_each(|app| answer.app(app));
    let text = answer.into_text(&call.shared.marks);
    Ok(vec![ResourceContents::text(text, uri).with_mime_type(MIME)])
}

/// The address of an app's tree.
fn uri_of(app: &str) -> String {
    let mut out = PREFIX.to_owned();
    for byte in app.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => out.push(byte as char),
            byte => out.push_str(&format!("%{byte:02X}")),
        }
    }
    out
}

/// The app whose tree is at an address.
pub fn app_of(uri: &str) -> Result<String, Error> {
    let wrong = || {
        invalid(format!("there is no resource '{uri}'"))
            .suggest(format!("resources are {PREFIX}NAME, as in {PREFIX}Notes; resources/list shows them"))
    };
    let encoded = uri.strip_prefix(PREFIX).filter(|name| !name.is_empty()).ok_or_else(wrong)?;
    let mut bytes = Vec::new();
    let mut rest = encoded.bytes();
    while let Some(byte) = rest.next() {
        if byte != b'%' {
            bytes.push(byte);
            continue;
        }
        let digits =
            [rest.next(), rest.next()].map(|digit| digit.and_then(|digit| (digit as char).to_digit(16)));
        let [Some(high), Some(low)] = digits else { return Err(wrong()) };
        bytes.push((high * 16 + low) as u8);
    }
    String::from_utf8(bytes).map_err(|_| wrong())
}

/// What subscribers are told.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum News {
    /// What is at an address has changed.
    Updated(String),
    /// Apps have started or ended.
    ListChanged,
}

/// Tells what changes at an address, or in the list, until it is cancelled or nobody listens: from a clock on, so that nothing is missed
/// before axd has the subscription. After a lost connection everything may have changed, which is told too.
pub async fn follow(
    link: &Link,
    uri: Option<&str>,
    since: Option<Clock>,
    cancelled: &CancellationToken,
    tell: &Sender<News>,
) {
    let mut what = match uri.map(app_of) {
        Some(Err(_)) => return,
        Some(Ok(app)) => subscription(Some(app), vec![EventKind::Changes, EventKind::AppState]),
        None => subscription(None, vec![EventKind::AppLaunched, EventKind::AppTerminated]),
    };
    what.since = since;
    let news = || uri.map_or(News::ListChanged, |uri| News::Updated(uri.to_owned()));
    let mut again = false;
    loop {
        let subscribed = tokio::select! {
            subscribed = link.subscribe(what.clone()) => subscribed,
            () = cancelled.cancelled() => return,
        };
        if let Ok(mut subscription) = subscribed {
            if again && tell.send(news()).await.is_err() {
                return;
            }
            loop {
                let next = tokio::select! {
                    next = subscription.next() => next,
                    () = cancelled.cancelled() => return,
                };
                match next {
                    Ok(Some(push)) if matches!(push.event, Event::End { .. }) => break,
                    Ok(Some(_)) if tell.send(news()).await.is_err() => return,
                    Ok(Some(_)) => {}
                    Ok(None) | Err(_) => break,
                }
            }
        }
        again = true;
        what.since = None;
        // An app that is gone may come back, and axd may have been stopped.
        tokio::select! {
            () = tokio::time::sleep(RETRY) => {}
            () = cancelled.cancelled() => return,
        }
    }
}

fn subscription(app: Option<String>, kind: Vec<EventKind>) -> Subscribe {
    Subscribe {
        app,
        within: None,
        role: Vec::new(),
        kind,
        fields: Vec::new(),
        since: None,
        coalesce_ms: Some(COALESCE_MS),
        not_mine: false,
        snapshot: false,
    }
}

/// The subscriptions of a client that makes them one by one.
#[derive(Debug, Default)]
pub struct Subscriptions {
    tasks: Mutex<HashMap<String, JoinHandle<()>>>,
}

impl Subscriptions {
    /// The maximum number; each has a connection of its own to axd.
    pub const MAX: usize = 32;

    fn lock(&self) -> MutexGuard<'_, HashMap<String, JoinHandle<()>>> {
        // A panic leaves nothing half done in the map, so it is used all the same.
        self.tasks.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether there is no room for another address.
    pub fn is_full(&self, uri: &str) -> bool {
        let tasks = self.lock();
        tasks.len() >= Subscriptions::MAX && !tasks.contains_key(uri)
    }

    /// Follows an address with this task, unless it is followed already.
    pub fn add(&self, uri: &str, task: impl FnOnce() -> JoinHandle<()>) {
        self.lock().entry(uri.to_owned()).or_insert_with(task);
    }

    /// Stops following an address.
    pub fn remove(&self, uri: &str) {
        if let Some(task) = self.lock().remove(uri) {
            task.abort();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_reads_back_as_the_name_it_was_made_of() {
        for name in ["Notes", "Text Editor", "Schlüssel/1", "100%"] {
            assert_eq!(app_of(&uri_of(name)).unwrap(), name);
        }
        assert_eq!(uri_of("Text Editor"), "axd://app/Text%20Editor");
        for wrong in ["axd://app/", "file:///etc", "axd://app/%4", "axd://app/%FF"] {
            assert!(app_of(wrong).unwrap_err().suggestion.contains("axd://app/Notes"), "{wrong}");
        }
    }
}
