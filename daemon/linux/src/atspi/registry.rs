//! Which apps are on the accessibility bus, and what they are called.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use tokio::task::JoinSet;
use tracing::debug;

use crate::atspi::dbus::{BusConnection, bus_call, call, get};
use crate::atspi::protocol::{ACCESSIBLE, ObjectRef, REGISTRY, ROOT, body, string_property};
use crate::launch;
use crate::process;
use crate::read::handles::Handle;
use axd_platform::RunningApp;

/// An app on the bus.
#[derive(Debug, Clone)]
pub(crate) struct ListedApp {
    /// Its own element.
    pub root: Handle,
    /// What the desktop reports of it.
    pub app: RunningApp,
    /// Whether its actions take effect late, once its worker knows its toolkit.
    pub acts_late: Arc<AtomicBool>,
}

/// The apps the registry lists.
pub(crate) async fn list_apps(calls: &BusConnection) -> Vec<Handle> {
    let answer = calls.call(call(REGISTRY, ROOT, ACCESSIBLE, "GetChildren", &())).await;
    let refs: Vec<ObjectRef> = answer.ok().as_ref().and_then(body).unwrap_or_default();
    let apps = refs.iter().filter(|at| at.is_element());
    apps.map(|at| Handle { bus: at.bus.as_str().into(), path: at.path.as_str().into() }).collect()
}

/// Describes apps, all at the same time, so that one that hangs delays the others by one timeout only.
pub(crate) async fn describe_apps(calls: &BusConnection, roots: Vec<Handle>) -> Vec<ListedApp> {
    let mut asking = JoinSet::new();
    for (order, root) in roots.into_iter().enumerate() {
        let calls = calls.clone();
        asking.spawn(async move { (order, describe_app(&calls, root).await) });
    }
    let mut found = Vec::new();
    while let Some(answer) = asking.join_next().await {
        if let Ok((order, Some(listed))) = answer {
            found.push((order, listed));
        }
    }
    found.sort_by_key(|(order, _)| *order);
    found.into_iter().map(|(_, listed)| listed).collect()
}

/// Describes one app. `None` if it is gone, or is this daemon itself.
pub(crate) async fn describe_app(calls: &BusConnection, root: Handle) -> Option<ListedApp> {
    let answer = calls.call(bus_call("GetConnectionUnixProcessID", &(&*root.bus,))).await.ok()?;
    let pid: u32 = body(&answer)?;
    if pid == std::process::id() {
        return None;
    }
    let name = calls.call(get(&root.bus, &root.path, ACCESSIBLE, "Name")).await;
    let name = name.ok().as_ref().and_then(string_property).filter(|name| !name.is_empty());
    let program = process::of_process(pid);
    let identity = program.or_else(|| name.clone()).unwrap_or_else(|| format!("pid-{pid}"));
    let name = name.unwrap_or_else(|| identity.clone());
    // Reading the desktop entries blocks.
    let program = process::executable(pid);
    let of = identity.clone();
    let aliases = tokio::task::spawn_blocking(move || launch::aliases(&of, program.as_deref()));
    let aliases = aliases.await.unwrap_or_default();
    debug!(pid, name, identity, ?aliases, bus = &*root.bus, "an app");
    Some(ListedApp { root, app: RunningApp { pid, name, identity, aliases }, acts_late: Arc::default() })
}
