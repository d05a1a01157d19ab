//! The answers of commands about the daemon, and of those that `ax` runs without it.

use super::{Render, Table, duration};
use crate::command::{
    CancelAnswer, DoctorAnswer, HelloAnswer, Permission, PermissionState, PermissionsAnswer, ServiceAnswer,
    ServiceState, ShutdownAnswer, StatusAnswer, Verdict, VersionAnswer,
};
use crate::text::one_line;

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
        if let Some(policy) = self.policy.as_ref().filter(|policy| policy.in_force || policy.error.is_some())
        {
            out.push_str(&format!("policy {}\n", policy.summary()));
        }
        if let Some(paused) = &self.paused {
            let reason =
                paused.reason.as_deref().map_or_else(String::new, |why| format!(": {}", one_line(why)));
            let since = duration(paused.for_ms);
            out.push_str(&format!(
                "paused for {since} by client {}{reason}; `ax resume` goes on\n",
                paused.client
            ));
        }
        if let Some(audit) = self.audit.as_ref().filter(|audit| audit.fault.is_some() || audit.lost > 0) {
            let how = match &audit.fault {
                Some(fault) => format!("cannot be written: {}; ", one_line(fault)),
                None => String::new(),
            };
            out.push_str(&format!("audit {how}{} lines lost\n", audit.lost));
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
                out.push_str(&format!("{}: {}\n", one_line(&app.app.name), one_line(why)));
            }
            if let Some(acting) = &app.acting {
                let waiting = match acting.waiting {
                    0 => String::new(),
                    more => format!(", {more} waiting"),
                };
                let (client, command) = (acting.client, &acting.command);
                let since = duration(acting.for_ms);
                out.push_str(&format!(
                    "{}: client {client} has been running {command} for {since}{waiting}\n",
                    one_line(&app.app.name)
                ));
            }
        }
        for held in &self.held {
            let left = duration(held.left_ms);
            out.push_str(&format!(
                "client {} holds {} for another {left}\n",
                held.client,
                one_line(&held.what)
            ));
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
            out.push_str(&format!("{mark}  {:width$}  {}\n", check.what, one_line(&check.found)));
            if let Some(remedy) = &check.remedy {
                out.push_str(&format!("{:9}{:width$}  → {}\n", "", "", one_line(remedy)));
            }
        }
        out.push_str(if self.healthy { "healthy\n" } else { "not healthy\n" });
    }
}

impl Render for PermissionsAnswer {
    fn render(&self, out: &mut String) {
        if self.permissions.is_empty() {
            out.push_str("no permissions are required\n");
        }
        let width = self.permissions.iter().map(|one| one.name.chars().count()).max().unwrap_or(0);
        for Permission { name, state, program, needed_for, remedy, .. } in &self.permissions {
            let mark = match state {
                PermissionState::Granted => "granted",
                PermissionState::Missing => "MISSING",
                PermissionState::OtherBuild => "INVALID",
            };
            out.push_str(&format!("{mark}  {name:width$}  {program}, for {needed_for}\n"));
            if let Some(remedy) = remedy {
                out.push_str(&format!("{:9}{:width$}  → {remedy}\n", "", ""));
            }
        }
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
        out.push_str(if self.cancelled { "cancelled\n" } else { "no such request is in progress\n" });
    }
}

impl Render for ShutdownAnswer {
    fn render(&self, out: &mut String) {
        out.push_str(&format!("axd (pid {}) is shutting down\n", self.pid));
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
        // After a dry run nothing has changed, and the current state would read as if it were the new one.
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
            (true, true) => "yes, starts on the first connection",
        };
        let active = match (self.active, self.pid) {
            (true, Some(pid)) => format!("yes, pid {pid}"),
            (true, None) => "yes".to_owned(),
            (false, _) if self.state != "inactive" => format!("no, {}", self.state),
            (false, _) if self.listening => "no, starts on the first connection".to_owned(),
            (false, _) => "no".to_owned(),
        };
        out.push_str(&format!("installed  {installed}\nenabled    {enabled}\nactive     {active}\n"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_service_is_rendered_in_three_lines() {
        let rendered = |service: &ServiceState| {
            let mut out = String::new();
            service.render(&mut out);
            out
        };
        let mut service = ServiceState { state: "inactive".into(), ..ServiceState::default() };
        assert_eq!(rendered(&service), "installed  no\nenabled    no\nactive     no\n");
        service.installed = true;
        service.unit = Some("/u/axd.service".into());
        service.enabled = true;
        service.socket_activation = true;
        service.listening = true;
        assert_eq!(
            rendered(&service),
            "installed  yes, /u/axd.service\nenabled    yes, starts on the first connection\nactive     no, starts on the first connection\n"
        );
        service.state = "failed".into();
        assert!(rendered(&service).ends_with("active     no, failed\n"));
        service.active = true;
        service.pid = Some(7);
        assert!(rendered(&service).ends_with("active     yes, pid 7\n"));
    }
}
