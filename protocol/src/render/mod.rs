//! Answers for reading: what `format: "text"` puts in `text`.

use crate::command::{
    AttachAnswer, CancelAnswer, DoctorAnswer, HelloAnswer, IsAnswer, ListAppsAnswer, ListDisplaysAnswer,
    ListWindowsAnswer, ServiceAnswer, ServiceState, ShutdownAnswer, SimAnswer, StatusAnswer, SubscribeAnswer,
    Verdict, VersionAnswer,
};
use crate::text::{quote, write_ref};

/// An answer that can be read.
pub trait Render {
    /// Writes it, whole lines.
    fn render(&self, out: &mut String);
}

impl Render for ListAppsAnswer {
    fn render(&self, out: &mut String) {
        let mut table = Table::new(["APP", "PID", "STATE", "WINDOWS", "IDENTITY"]);
        for listed in &self.apps {
            let mark = if listed.frontmost { "*" } else { "" };
            table.row([
                format!("{}{mark}", listed.app.name),
                listed.app.pid.to_string(),
                listed.app.state.name().into(),
                listed.windows.to_string(),
                listed.app.identity.clone(),
            ]);
        }
        table.write(out);
    }
}

impl Render for ListWindowsAnswer {
    fn render(&self, out: &mut String) {
        let mut table = Table::new(["WINDOW", "ID", "APP", "PLACE", "TITLE"]);
        for window in &self.windows {
            let place =
                window.bounds.map_or(String::new(), |b| format!("{},{} {}x{}", b.x, b.y, b.width, b.height));
            let mark = match (window.focused, window.minimized) {
                (true, _) => " *",
                (_, true) => " (minimized)",
                _ => "",
            };
            table.row([
                window.window.to_string(),
                window.id.map_or(String::new(), |id| id.to_string()),
                window.app.clone(),
                place,
                format!("{}{mark}", window.title),
            ]);
        }
        table.write(out);
    }
}

impl Render for ListDisplaysAnswer {
    fn render(&self, out: &mut String) {
        let mut table = Table::new(["DISPLAY", "PLACE", "SCALE", "NAME"]);
        for display in &self.displays {
            let b = display.bounds;
            let mark = if display.primary { "*" } else { "" };
            table.row([
                format!("{}{mark}", display.display),
                format!("{},{} {}x{}", b.x, b.y, b.width, b.height),
                display.scale.to_string(),
                display.name.clone(),
            ]);
        }
        table.write(out);
    }
}

impl Render for AttachAnswer {
    fn render(&self, out: &mut String) {
        let how = if self.complete { "" } else { ", more to come" };
        out.push_str(&format!("{} elements{how}\n", self.nodes));
    }
}

impl Render for IsAnswer {
    fn render(&self, out: &mut String) {
        out.push_str(if self.value { "true\n" } else { "false\n" });
    }
}

impl Render for SubscribeAnswer {
    fn render(&self, out: &mut String) {
        out.push_str(&format!("subscription {}\n", self.sub));
    }
}

impl Render for StatusAnswer {
    fn render(&self, out: &mut String) {
        out.push_str(&format!(
            "axd {} · pid {} · up {} · {}\n",
            self.daemon,
            self.pid,
            duration(self.uptime_ms),
            self.socket
        ));
        if let Some(log) = &self.log {
            out.push_str(&format!("log {log}\n"));
        }
        if let Some(seconds) = self.idle_exit_s {
            out.push_str(&format!("exits after {} without a client\n", duration(seconds * 1000)));
        }
        out.push('\n');
        let mut apps = Table::new([
            "APP", "PID", "STATE", "NODES", "MEMORY", "EVENTS", "CALLS", "MISSED", "SUSPECT", "CLOCK",
        ]);
        for app in &self.apps {
            let partial = if app.complete { "" } else { "…" };
            apps.row([
                app.app.name.clone(),
                app.app.pid.to_string(),
                app.app.state.name().into(),
                format!("{}{partial}", app.nodes),
                format!("{} kB", app.bytes / 1024),
                app.events.to_string(),
                app.calls.to_string(),
                app.missed.to_string(),
                app.suspect.to_string(),
                app.clock.to_string(),
            ]);
        }
        apps.write_or(out, "no app is attached\n");
        for app in &self.apps {
            if let Some(why) = &app.degraded {
                out.push_str(&format!("{}: {why}\n", app.app.name));
            }
        }
        out.push('\n');
        let mut clients = Table::new([
            "CLIENT",
            "NAME",
            "AGENT",
            "PID",
            "CONNECTED",
            "REQUESTS",
            "PENDING",
            "SUBSCRIPTIONS",
        ]);
        for client in &self.clients {
            clients.row([
                client.client.to_string(),
                client.name.clone().unwrap_or_default(),
                client.agent.clone().unwrap_or_default(),
                client.pid.map_or(String::new(), |pid| pid.to_string()),
                duration(client.connected_ms),
                client.requests.to_string(),
                client.pending.to_string(),
                client.subscriptions.to_string(),
            ]);
        }
        clients.write_or(out, "no client is connected\n");
    }
}

impl Render for DoctorAnswer {
    fn render(&self, out: &mut String) {
        let width = self.checks.iter().map(|check| check.what.chars().count()).max().unwrap_or(0);
        for check in &self.checks {
            let mark = match check.verdict {
                Verdict::Ok => "ok     ",
                Verdict::Limited => "limited",
                Verdict::Missing => "MISSING",
            };
            out.push_str(&format!("{mark}  {:width$}  {}\n", check.what, check.found));
            if let Some(remedy) = &check.remedy {
                out.push_str(&format!("{:9}{:width$}  → {remedy}\n", "", ""));
            }
        }
        out.push_str(if self.healthy { "healthy\n" } else { "not healthy\n" });
    }
}

impl Render for VersionAnswer {
    fn render(&self, out: &mut String) {
        out.push_str(&format!("axd {} (protocol {})\n", self.daemon, self.protocol));
    }
}

impl Render for HelloAnswer {
    fn render(&self, out: &mut String) {
        out.push_str(&format!(
            "axd {} on {}, pid {}: {}\n",
            self.version,
            self.platform,
            self.pid,
            self.capabilities.join(" ")
        ));
    }
}

impl Render for CancelAnswer {
    fn render(&self, out: &mut String) {
        out.push_str(if self.cancelled { "cancelled\n" } else { "no such request is under way\n" });
    }
}

impl Render for ShutdownAnswer {
    fn render(&self, out: &mut String) {
        out.push_str(&format!("axd (pid {}) is going down\n", self.pid));
    }
}

impl Render for SimAnswer {
    fn render(&self, out: &mut String) {
        out.push_str(&self.done);
        out.push('\n');
    }
}

impl Render for ServiceAnswer {
    fn render(&self, out: &mut String) {
        for file in &self.files {
            out.push_str(&format!("# {}\n{}\n", file.path, file.text));
        }
        for step in &self.steps {
            out.push_str(&format!("{}{step}\n", if self.dry_run { "would " } else { "" }));
        }
        if self.steps.is_empty() && self.dry_run {
            out.push_str("nothing would be done\n");
        }
        // After a dry run nothing has changed, and how it is now would read as how it would be.
        if let Some(service) = self.service.as_ref().filter(|_| !self.dry_run) {
            service.render(out);
        }
        for note in &self.notes {
            out.push_str(&format!("note: {note}\n"));
        }
    }
}

impl Render for ServiceState {
    fn render(&self, out: &mut String) {
        let installed = match &self.unit {
            Some(unit) if self.installed => format!("yes, {unit}"),
            _ => "no".to_owned(),
        };
        let enabled = match (self.enabled, self.socket_activation) {
            (false, _) => "no",
            (true, false) => "yes, starts with the session",
            (true, true) => "yes, starts when somebody asks",
        };
        let active = match (self.active, self.pid) {
            (true, Some(pid)) => format!("yes, pid {pid}"),
            (true, None) => "yes".to_owned(),
            (false, _) if self.state != "inactive" => format!("no, {}", self.state),
            (false, _) if self.listening => "no, until somebody asks".to_owned(),
            (false, _) => "no".to_owned(),
        };
        out.push_str(&format!("installed  {installed}\nenabled    {enabled}\nactive     {active}\n"));
    }
}

/// The value of a property, or the elements a `get` or `find` answered, are written by whoever holds the tree; this is
/// the heading line of a path: `in window "Notes" › list "Notes"`.
pub fn write_path(path: &[crate::node::NodeRef], out: &mut String) {
    for (at, node) in path.iter().enumerate() {
        out.push_str(if at == 0 { "in " } else { " › " });
        if let Some(name) = node.name.as_deref().filter(|name| !name.is_empty()) {
            out.push_str(node.role.name());
            out.push(' ');
            quote(name, out);
        } else {
            write_ref(node, out);
        }
    }
    if !path.is_empty() {
        out.push('\n');
    }
}

/// A length of time, in the largest unit that says enough.
fn duration(ms: u64) -> String {
    match ms {
        0..1_000 => format!("{ms} ms"),
        1_000..60_000 => format!("{} s", ms / 1_000),
        60_000..3_600_000 => format!("{} min", ms / 60_000),
        _ => format!("{} h {} min", ms / 3_600_000, ms / 60_000 % 60),
    }
}

/// Columns that line up.
struct Table<const N: usize> {
    rows: Vec<[String; N]>,
}

impl<const N: usize> Table<N> {
    fn new(heading: [&str; N]) -> Table<N> {
        Table { rows: vec![heading.map(str::to_owned)] }
    }

    fn row(&mut self, row: [String; N]) {
        self.rows.push(row);
    }

    fn write_or(&self, out: &mut String, empty: &str) {
        if self.rows.len() == 1 { out.push_str(empty) } else { self.write(out) }
    }

    fn write(&self, out: &mut String) {
        let width =
            |column: usize| self.rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
        let widths: [usize; N] = std::array::from_fn(width);
        for row in &self.rows {
            let mut line = String::new();
            for (cell, width) in row.iter().zip(widths) {
                line.push_str(&format!("{cell:width$}  "));
            }
            out.push_str(line.trim_end());
            out.push('\n');
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_line_up_and_no_line_ends_in_blanks() {
        let mut table = Table::new(["A", "LONG"]);
        table.row(["wide cell".into(), String::new()]);
        let mut out = String::new();
        table.write(&mut out);
        assert_eq!(out, "A          LONG\nwide cell\n");
    }

    #[test]
    fn a_service_is_told_in_three_lines() {
        let told = |service: &ServiceState| {
            let mut out = String::new();
            service.render(&mut out);
            out
        };
        let mut service = ServiceState { state: "inactive".into(), ..ServiceState::default() };
        assert_eq!(told(&service), "installed  no\nenabled    no\nactive     no\n");
        service.installed = true;
        service.unit = Some("/u/axd.service".into());
        service.enabled = true;
        service.socket_activation = true;
        service.listening = true;
        assert_eq!(
            told(&service),
            "installed  yes, /u/axd.service\nenabled    yes, starts when somebody asks\nactive     no, until somebody asks\n"
        );
        service.state = "failed".into();
        assert!(told(&service).ends_with("active     no, failed\n"));
        service.active = true;
        service.pid = Some(7);
        assert!(told(&service).ends_with("active     yes, pid 7\n"));
    }

    #[test]
    fn a_duration_is_told_in_the_unit_that_fits() {
        assert_eq!([duration(12), duration(61_000), duration(3_720_000)], ["12 ms", "1 min", "1 h 2 min"]);
    }
}
