//! What a Linux desktop needs for its apps to be seen, looked at from the outside: works whether or not a daemon runs.

use std::collections::BTreeMap;

use axd_protocol::command::Finding;

use crate::atspi::bus::{LAUNCHER, LAUNCHER_PATH, STATUS};
use crate::atspi::dbus::{BusConnection, call, get};
use crate::atspi::protocol::{REGISTRY, ROOT, body, bool_property};
use crate::atspi::registry;
use crate::x11::screen::{Screen, ScreenMonitor};

/// Looks at the buses, the registry, the display and the apps, and says what is missing and what to do.
pub async fn examine() -> Vec<Finding> {
    let mut checks = Vec::new();
    let screen = examine_display(&mut checks);
    let Some(session) = examine_session(&mut checks).await else { return checks };
    let Some(bus) = examine_bus(&session, &mut checks).await else { return checks };
    examine_apps(&bus, screen.as_ref(), &mut checks).await;
    checks
}

fn examine_display(checks: &mut Vec<Finding>) -> Option<Screen> {
    let wayland = std::env::var_os("WAYLAND_DISPLAY").is_some_and(|display| !display.is_empty());
    let looked = ScreenMonitor::connect().and_then(|mut x11| x11.read_screen());
    match looked {
        Ok(screen) => {
            let count =
                |count: usize, what: &str| format!("{count} {what}{}", if count == 1 { "" } else { "s" });
            let (windows, displays) =
                (count(screen.windows.len(), "window"), count(screen.displays.len(), "display"));
            checks.push(Finding::ok("display", format!("X11 with {windows} on {displays}")));
            if wayland {
                checks.push(Finding::limited(
                    "wayland",
                    "apps that use Wayland are not on the X server",
                    "their trees are complete; for windows and positions, start them with GDK_BACKEND=x11 or QT_QPA_PLATFORM=xcb",
                ));
            }
            Some(screen)
        }
        Err(_) if wayland => {
            checks.push(Finding::limited(
                "display",
                "Wayland without an X server: trees and windows are available; displays and positions are not",
                "not needed for reading; for positions, run the apps under Xwayland",
            ));
            None
        }
        Err(error) => {
            checks.push(Finding::limited(
                "display",
                format!("no X server: {error}"),
                "trees work without one; for windows and positions, set DISPLAY or run inside the desktop session",
            ));
            None
        }
    }
}

async fn examine_session(checks: &mut Vec<Finding>) -> Option<BusConnection> {
    match BusConnection::session().await {
        Ok(session) => {
            let address =
                std::env::var("DBUS_SESSION_BUS_ADDRESS").unwrap_or_else(|_| "the user's default".to_owned());
            checks.push(Finding::ok("session bus", address));
            Some(session)
        }
        Err(error) => {
            checks.push(Finding::missing(
                "session bus",
                error.to_string(),
                "run inside the desktop session, or set DBUS_SESSION_BUS_ADDRESS",
            ));
            None
        }
    }
}

async fn examine_bus(session: &BusConnection, checks: &mut Vec<Finding>) -> Option<BusConnection> {
    let answer = session.call(call(LAUNCHER, LAUNCHER_PATH, LAUNCHER, "GetAddress", &())).await;
    let of_session =
        answer.ok().and_then(|answer| body::<String>(&answer)).filter(|address| !address.is_empty());
    // The display's own bus wins, as it does for the apps.
    let of_display = ScreenMonitor::connect().ok().and_then(|x11| x11.accessibility_bus());
    let Some(address) = of_display.or(of_session) else {
        let remedy = "install at-spi2-core, then log in again";
        checks.push(Finding::missing("accessibility bus", "the session bus cannot start it", remedy));
        return None;
    };
    let bus = match BusConnection::connect(&address, None).await {
        Ok(bus) => bus,
        Err(error) => {
            let remedy = "restart it: systemctl --user restart at-spi-dbus-bus, or log in again";
            checks.push(Finding::missing("accessibility bus", format!("{address}: {error}"), remedy));
            return None;
        }
    };
    checks.push(Finding::ok("accessibility bus", address));
    let enabled = session.call(get(LAUNCHER, LAUNCHER_PATH, STATUS, "IsEnabled")).await;
    match enabled.ok().and_then(|answer| bool_property(&answer)) {
        Some(true) => checks.push(Finding::ok("accessibility", "turned on")),
        _ => checks.push(Finding::limited(
            "accessibility",
            "turned off: Qt and Chromium apps show no tree",
            "start axd, which turns it on, then restart the apps that started before",
        )),
    }
    let ping = call(REGISTRY, ROOT, "org.freedesktop.DBus.Peer", "Ping", &());
    match bus.call(ping).await {
        Ok(Ok(_)) => checks.push(Finding::ok("registry", "answers")),
        Ok(Err(why)) | Err(axd_platform::Failure { native: why, .. }) => {
            checks.push(Finding::missing("registry", why, "install at-spi2-core, or log in again"));
            return None;
        }
    }
    Some(bus)
}

/// Which apps are on the bus, and which show windows and are not.
async fn examine_apps(bus: &BusConnection, screen: Option<&Screen>, checks: &mut Vec<Finding>) {
    let listed = registry::describe_apps(bus, registry::list_apps(bus).await).await;
    let names: Vec<&str> = listed.iter().map(|app| app.app.name.as_str()).collect();
    checks.push(match names.is_empty() {
        true => Finding::limited(
            "apps",
            "no app has a tree",
            "start one; those that started before accessibility was turned on need a restart",
        ),
        false => Finding::ok("apps", names.join(", ")),
    });
    let mut unseen: BTreeMap<u32, &str> = BTreeMap::new();
    for window in screen.into_iter().flat_map(|screen| &screen.windows) {
        let pid = window.info.pid;
        if pid != 0 && listed.iter().all(|app| app.app.pid != pid) {
            unseen.entry(pid).or_insert(&window.info.title);
        }
    }
    for (pid, title) in unseen {
        checks.push(Finding::limited(
            "app without a tree",
            format!("\"{title}\" (pid {pid}) has a window, but is not on the accessibility bus"),
            "restart it now that accessibility is on; Electron and Chromium may need --force-renderer-accessibility, Java its bridge",
        ));
    }
    for app in listed.iter().filter(|app| is_chromium(&app.app.identity) && !is_forced(app.app.pid)) {
        checks.push(Finding::limited(
            "web content",
            format!("{} (pid {}) may show web pages only after the first read", app.app.name, app.app.pid),
            "start it with --force-renderer-accessibility to get them at once",
        ));
    }
}

fn is_chromium(identity: &str) -> bool {
    ["chrom", "electron", "brave", "edge"].iter().any(|word| identity.to_lowercase().contains(word))
}

fn is_forced(pid: u32) -> bool {
    let line = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    String::from_utf8_lossy(&line).contains("--force-renderer-accessibility")
}
