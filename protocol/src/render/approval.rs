//! The answers of `approvals`, `decide`, `pause` and `resume`.

use super::{Render, duration};
use crate::command::{
    Approval, ApprovalVerdict, ApprovalsAnswer, DecideAnswer, PauseAnswer, ResumeAnswer, StoppedAction,
};
use crate::text::{one_line, quote, write_ref};

impl Render for ApprovalsAnswer {
    fn render(&self, out: &mut String) {
        for approval in &self.approvals {
            approval.render(out);
        }
        if self.approvals.is_empty() {
            out.push_str("nothing waits for approval\n");
        }
    }
}

impl Render for Approval {
    /// Writes what would be done, where and for whom, in two lines.
    fn render(&self, out: &mut String) {
        out.push_str(&format!("{}: {}", self.approval, self.command));
        if let Some(keys) = &self.keys {
            out.push_str(&format!(" {keys}"));
        }
        if let Some(element) = &self.element {
            out.push(' ');
            write_ref(element, out);
        }
        if let Some(text) = &self.text {
            out.push(' ');
            quote(text, out);
        }
        for word in &self.launch {
            out.push(' ');
            quote(word, out);
        }
        if let Some(window) = &self.window {
            out.push_str(" in window ");
            quote(window, out);
        }
        if let Some(app) = &self.app {
            out.push_str(&format!(" of {}", one_line(app)));
        }
        let who = who(self.client, self.client_name.as_deref(), self.agent.as_deref(), self.client_pid);
        let (reason, left) = (one_line(&self.reason), duration(self.left_ms));
        out.push_str(&format!(
            "\n  for {who}; {reason} ({}); waits for another {left}\n",
            one_line(&self.rule)
        ));
    }
}

fn who(client: u64, name: Option<&str>, agent: Option<&str>, pid: Option<u32>) -> String {
    let mut who = format!("client {client}");
    for (label, text) in [("", name), ("agent ", agent)] {
        if let Some(text) = text {
            who.push_str(&format!(", {label}{}", one_line(text)));
        }
    }
    if let Some(pid) = pid {
        who.push_str(&format!(", pid {pid}"));
    }
    who
}

impl Render for DecideAnswer {
    fn render(&self, out: &mut String) {
        let verdict = match self.verdict {
            ApprovalVerdict::Allow => "allowed",
            ApprovalVerdict::Deny => "denied",
        };
        out.push_str(&format!("{} is {verdict}\n", self.approval));
    }
}

impl Render for PauseAnswer {
    fn render(&self, out: &mut String) {
        out.push_str(if self.was_paused { "paused already\n" } else { "paused; `ax resume` goes on\n" });
        for StoppedAction { client, client_name, agent, client_pid, command, for_ms, sent } in &self.stopped {
            let who = who(*client, client_name.as_deref(), agent.as_deref(), *client_pid);
            let how = if *sent { "part of it was sent" } else { "nothing was sent" };
            out.push_str(&format!("stopped {command} of {who} after {}: {how}\n", duration(*for_ms)));
        }
        for what in &self.released {
            out.push_str(&format!("released {}\n", one_line(what)));
        }
    }
}

impl Render for ResumeAnswer {
    fn render(&self, out: &mut String) {
        match self.paused_ms {
            Some(ms) => out.push_str(&format!("actions are allowed again, after {}\n", duration(ms))),
            None => out.push_str("it was not paused\n"),
        }
    }
}
