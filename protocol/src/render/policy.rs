//! The answers of commands about the policy.

use super::{Render, Table};
use crate::command::{
    FileRule, PolicyCheckAnswer, PolicyShowAnswer, PolicyStatus, PolicyTestAnswer, PolicyVerdict,
};
use crate::text::{one_line, write_ref};

impl Render for PolicyCheckAnswer {
    fn render(&self, out: &mut String) {
        let why = if self.why.is_empty() { String::new() } else { format!(": {}", one_line(&self.why)) };
        out.push_str(&format!("{} {}{why}\n", self.verdict.name(), self.command));
        out.push_str(&format!("  rule: {}\n", at_line(&self.rule, self.line)));
        for (what, value) in [("app", &self.app), ("window", &self.window)] {
            if let Some(value) = value {
                out.push_str(&format!("  {what}: {}\n", one_line(value)));
            }
        }
        if let Some(element) = &self.element {
            out.push_str("  element: ");
            write_ref(element, out);
            out.push('\n');
        }
        if let Some(why) = &self.not_found {
            out.push_str(&format!("  not found: {}\n", one_line(why)));
        }
        if !self.unknown.is_empty() {
            out.push_str(&format!(
                "  not known yet, and decided again when it is: {}\n",
                self.unknown.join(", ")
            ));
        }
        if !self.instead.is_empty() {
            out.push_str(&format!("  try: {}\n", one_line(&self.instead)));
        }
        for (what, found) in [("matched", &self.matched), ("may match", &self.possible)] {
            for rule in found {
                let verdict = rule.verdict.name();
                out.push_str(&format!("  {what}: {} ({verdict})\n", at_line(&rule.rule, rule.line)));
            }
        }
    }
}

fn at_line(rule: &str, line: Option<usize>) -> String {
    let rule = one_line(rule);
    line.map_or_else(|| rule.to_string(), |line| format!("{rule}, line {line}"))
}

fn count(rules: usize) -> String {
    if rules == 1 { "1 rule".to_owned() } else { format!("{rules} rules") }
}

impl PolicyStatus {
    /// The state of the policy in one line.
    pub fn summary(&self) -> String {
        let file = self.file.as_deref().map(one_line);
        let file = file.as_deref().unwrap_or("no file");
        let rules = count(self.rules);
        match (&self.error, self.in_force) {
            (None, true) => format!("{file} ({rules})"),
            (None, false) => format!("built-in rules ({file}: not there)"),
            (Some(error), true) => {
                format!("{file}: {}; the last correct version is in force ({rules})", one_line(error))
            }
            (Some(error), false) => {
                format!("{file}: {}; nothing acts until it is corrected", one_line(error))
            }
        }
    }
}

impl Render for PolicyShowAnswer {
    fn render(&self, out: &mut String) {
        let word = |verdict: PolicyVerdict| verdict.name();
        out.push_str(&format!("policy {}\n", self.status.summary()));
        out.push_str(&format!(
            "mode {} · default {} · unknown apps {}\n",
            self.mode,
            word(self.default),
            word(self.unknown_apps)
        ));
        let per_minute =
            |most: Option<u32>| most.map_or_else(|| "any number of".to_owned(), |most| most.to_string());
        out.push_str(&format!(
            "limits {} characters at once, {} pictures and {} actions a minute; approval within {} s\n",
            self.text_chars,
            per_minute(self.captures_per_minute),
            per_minute(self.actions_per_minute),
            self.ask_timeout_s
        ));
        if self.audit_required {
            out.push_str("nothing acts while the audit cannot be written\n");
        }
        let lists = [
            ("windows without input and pictures", &self.blocked_windows),
            ("windows that are hidden", &self.hidden_windows),
            ("keys that are allowed", &self.allowed_keys),
            ("programs that are protected, too", &self.protected_programs),
            ("programs that are not protected", &self.unprotected_programs),
        ];
        for (what, list) in lists.into_iter().filter(|(_, list)| !list.is_empty()) {
            out.push_str(&format!("{what}: {}\n", one_line(&list.join(", "))));
        }
        let keys: Vec<&str> = self.blocked_keys.iter().map(|blocked| &*blocked.keys).collect();
        out.push_str(&format!("keys that are blocked: {}\n\n", keys.join(", ")));
        let mut rules = Table::new(["RULE", "LINE", "VERDICT", "CONDITIONS"]);
        for rule in &self.file_rules {
            let verdict = word(rule.verdict);
            let hides = if rule.hides { " (hides the windows)" } else { "" };
            let conditions = format!("{}{hides}", conditions(rule));
            rules.row([rule.name.clone(), rule.line.to_string(), verdict.into(), conditions]);
        }
        for rule in &self.builtin_rules {
            rules.row([rule.name.clone(), "built in".into(), "deny".into(), rule.denies.clone()]);
        }
        rules.write_or(out, "no rules\n");
    }
}

fn conditions(rule: &FileRule) -> String {
    if rule.conditions.is_empty() {
        return "everything".to_owned();
    }
    let conditions = rule.conditions.iter().map(|(key, values)| format!("{key} {}", values.join(" | ")));
    one_line(&conditions.collect::<Vec<_>>().join("; ")).to_string()
}

impl Render for PolicyTestAnswer {
    fn render(&self, out: &mut String) {
        let file = one_line(&self.file);
        if self.valid {
            out.push_str(&format!("{file} is correct ({})\n", count(self.rules)));
        }
        for error in &self.errors {
            let line = error.line.map_or_else(String::new, |line| format!("{line}:"));
            out.push_str(&format!("{file}:{line} {}\n", one_line(&error.message)));
        }
    }
}
