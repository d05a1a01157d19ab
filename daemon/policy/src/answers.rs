//! What is told about a policy: by `policy-check`, `policy-show`, `status`, `doctor`, and `axd --policy-test`.

use std::path::Path;

use axd_protocol::command::{
    BlockedKeys, BuiltinRule, FileRule, Finding, PolicyCheckAnswer, PolicyFileError, PolicyMatch,
    PolicyShowAnswer, PolicyStatus, PolicyTestAnswer, PolicyVerdict, ThuvuSettings,
};

use crate::builtin;
use crate::decision::{Decision, Verdict};
use crate::file;
use crate::policy::Policy;
use crate::profile::ThuvuProfile;
use crate::question::{Fact, Question, Stage};
use crate::rule::Rule;
use crate::store::{PolicyState, PolicyStore, read};
use axd_protocol::pattern::Pattern;

impl From<Verdict> for PolicyVerdict {
    fn from(verdict: Verdict) -> PolicyVerdict {
        match verdict {
            Verdict::Allow => PolicyVerdict::Allow,
            Verdict::Ask => PolicyVerdict::Ask,
            Verdict::Deny => PolicyVerdict::Deny,
        }
    }
}

impl Policy {
    /// What is decided about a request and why, as far as it is known what it is about. Which element that is, the caller adds.
    pub fn check(&self, question: &Question<'_>) -> PolicyCheckAnswer {
        let explained = self.explain(question);
        let matched: Vec<PolicyMatch> = explained.matched.iter().map(Decision::to_match).collect();
        // What restricts it if all is unfavourable that is not known.
        let last = self.explain(&Question { stage: Stage::Final, ..question.clone() }).matched;
        let restricts = last.iter().filter(|decision| decision.verdict > Verdict::Allow);
        let mut possible: Vec<PolicyMatch> = restricts.map(Decision::to_match).collect();
        possible.retain(|found| !matched.contains(found));
        let Decision { verdict, rule, line, why, instead } = explained.decision;
        let unknown = [
            ("app", question.app == Fact::Unknown),
            ("window", question.window == Fact::Unknown),
            ("element", question.element == Fact::Unknown),
        ];
        PolicyCheckAnswer {
            command: question.command.to_owned(),
            verdict: verdict.into(),
            rule,
            line,
            why,
            instead,
            matched,
            possible,
            app: question.app.known().map(|app| app.name.to_owned()),
            window: question.window.known().map(str::to_owned),
            element: None,
            not_found: None,
            unknown: unknown.iter().filter(|(_, is)| *is).map(|(what, _)| (*what).to_owned()).collect(),
        }
    }

    /// All that the policy says, and where it comes from.
    pub fn show(&self, state: &PolicyState) -> PolicyShowAnswer {
        let keys = self.keys_blocked.iter();
        let builtin = builtin::RULES.iter().filter(|rule| rule.name != "policy-unreadable");
        PolicyShowAnswer {
            status: state.status(),
            default: self.default.into(),
            mode: self.mode.name().to_owned(),
            unknown_apps: self.unknown_apps.into(),
            blocked_windows: written(&self.blocked_windows),
            hidden_windows: written(&self.hidden_windows),
            blocked_keys: keys
                .map(|(keys, what)| BlockedKeys { keys: keys.as_str().to_owned(), what: what.clone() })
                .collect(),
            allowed_keys: self.keys_allowed.iter().map(|keys| keys.as_str().to_owned()).collect(),
            protected_programs: written(&self.programs.protected),
            unprotected_programs: written(&self.programs.unprotected),
            builtin_programs: written(self.programs.list()),
            text_chars: self.limits.text_chars,
            captures_per_minute: self.limits.captures_per_minute,
            actions_per_minute: self.limits.actions_per_minute,
            ask_timeout_s: self.ask_timeout.as_secs(),
            audit_required: self.audit_required,
            thuvu: self.thuvu.show(),
            file_rules: self.rules.iter().map(Rule::show).collect(),
            builtin_rules: builtin
                .map(|rule| BuiltinRule { name: rule.name.to_owned(), denies: rule.denies.to_owned() })
                .collect(),
        }
    }
}

impl ThuvuProfile {
    fn show(&self) -> ThuvuSettings {
        ThuvuSettings {
            enabled: self.enabled,
            require_approval_for_capture: self.require_approval_for_capture,
            require_approval_for_input: self.require_approval_for_input,
            allowed_window_patterns: written(&self.allowed_window_patterns),
            blocked_window_patterns: written(&self.blocked_window_patterns),
            max_captures_per_minute: self.max_captures_per_minute,
            log_all_actions: self.log_all_actions,
            log_file: self.log_file.as_ref().map(|file| file.display().to_string()),
        }
    }
}

impl Decision {
    fn to_match(&self) -> PolicyMatch {
        PolicyMatch { rule: self.rule.clone(), line: self.line, verdict: self.verdict.into() }
    }
}

/// Patterns as they are written.
fn written(patterns: &[Pattern]) -> Vec<String> {
    patterns.iter().map(|pattern| pattern.as_str().to_owned()).collect()
}

impl Rule {
    fn show(&self) -> FileRule {
        FileRule {
            name: self.name.clone(),
            line: self.line,
            verdict: self.verdict.into(),
            reason: self.reason.clone(),
            conditions: self.written(),
            hides: self.hides,
        }
    }
}

impl PolicyState {
    /// The state for `status`.
    pub fn status(&self) -> PolicyStatus {
        PolicyStatus {
            file: self.file.as_ref().map(|file| file.display().to_string()),
            in_force: self.from_file,
            error: self.error.clone(),
            refuses: self.refuses(),
            rules: self.rules,
            versions: self.versions,
        }
    }

    /// The result of the check for `doctor`.
    pub fn finding(&self) -> Finding {
        let found = self.status().summary();
        let remedy = "correct the file; `ax policy test` tells what is wrong with it";
        match (&self.error, self.refuses()) {
            (None, _) => Finding::ok("policy", found),
            (Some(_), false) => Finding::limited("policy", found, remedy),
            (Some(_), true) => Finding::missing("policy", found, remedy),
        }
    }
}

impl PolicyStore {
    /// All that the policy in force says, and where it comes from.
    pub fn show(&self) -> PolicyShowAnswer {
        let (policy, state) = self.both();
        policy.show(&state)
    }
}

/// Checks a file as the daemon would read it.
pub fn test_file(path: &Path) -> PolicyTestAnswer {
    let whole = |message: String| vec![PolicyFileError { line: None, message }];
    let parsed = match read::read(path) {
        Err(fault) => Err(whole(fault)),
        Ok(None) => Err(whole("it does not exist".to_owned())),
        Ok(Some(text)) => file::parse(&text).map_err(|errors| {
            let told = errors.into_iter();
            told.map(|error| PolicyFileError { line: Some(error.line), message: error.message }).collect()
        }),
    };
    PolicyTestAnswer {
        file: path.display().to_string(),
        valid: parsed.is_ok(),
        rules: parsed.as_ref().map_or(0, |policy| policy.rules.len()),
        errors: parsed.err().unwrap_or_default(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::{click, policy};

    #[test]
    fn a_check_tells_what_is_decided_by_which_rule_and_what_is_not_known() {
        let policy =
            policy("[[rule]]\nname = \"r\"\nverdict = \"ask\"\nreason = \"why\"\ncommands = [\"click\"]");
        let question = Question { window: Fact::Unknown, stage: Stage::Before, ..click() };
        let answer = policy.check(&question);
        assert_eq!(
            (answer.verdict, &*answer.rule, answer.line, &*answer.why),
            (PolicyVerdict::Ask, "r", Some(1), "why")
        );
        assert_eq!(answer.matched.len(), 1, "{:?}", answer.matched);
        assert_eq!((answer.app.as_deref(), answer.window.as_deref()), (Some("Notes"), None));
        assert_eq!(answer.unknown, ["window"]);
        let possible: Vec<&str> = answer.possible.iter().map(|found| &*found.rule).collect();
        assert_eq!(possible, ["blocked-window"]);
        let allowed = Policy::builtin().check(&click());
        assert_eq!((allowed.verdict, &*allowed.rule), (PolicyVerdict::Allow, "default"));
    }

    #[test]
    fn all_of_a_policy_is_shown_as_it_is_written() {
        let policy = policy(
            "mode = \"observe-only\"\n[keys]\nblocked = [\"ctrl+w\"]\n[programs]\nunprotected = [\"seahorse\"]\n\
             [[rule]]\nname = \"r\"\nverdict = \"deny\"\ncommands = [\"@acts\"]\nkeys = [\"Ctrl+*\"]\napps = [\"a*\", \"b\"]",
        );
        let shown = policy.show(&PolicyState::default());
        assert_eq!(shown.mode, "observe-only");
        assert!(shown.blocked_keys.iter().any(|blocked| blocked.keys == "ctrl+w"));
        assert_eq!(shown.unprotected_programs, ["seahorse"]);
        assert!(shown.builtin_programs.iter().any(|name| name == "pinentry*"));
        let conditions: Vec<(&str, String)> =
            shown.file_rules[0].conditions.iter().map(|(key, values)| (&**key, values.join(" "))).collect();
        let expected = [("apps", "a* b"), ("commands", "@acts"), ("keys", "Ctrl+*")];
        assert_eq!(conditions, expected.map(|(key, values)| (key, values.to_owned())));
        assert!(!shown.thuvu.enabled && shown.thuvu.allowed_window_patterns == ["*"]);
        assert!(shown.builtin_rules.iter().any(|rule| rule.name == "blocked-shortcut"));
    }

    #[test]
    fn the_state_of_the_file_is_told_as_it_is() {
        let file = Some("/p/policy.toml".into());
        let state = |from_file, error: Option<&str>| PolicyState {
            file: file.clone(),
            from_file,
            error: error.map(str::to_owned),
            ..PolicyState::default()
        };
        use axd_protocol::command::Verdict::{Limited, Missing, Ok};
        for (state, verdict, said) in [
            (state(true, None), Ok, "/p/policy.toml (0 rules)"),
            (state(false, None), Ok, "built-in rules (/p/policy.toml: not there)"),
            (state(true, Some("line 3: x")), Limited, "line 3: x; the last correct version is in force"),
            (state(false, Some("line 3: x")), Missing, "nothing acts until it is corrected"),
        ] {
            let finding = state.finding();
            assert_eq!(finding.verdict, verdict);
            assert!(finding.found.contains(said), "{}", finding.found);
        }
    }

    #[test]
    fn a_file_is_tested_as_it_would_be_read() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("policy.toml");
        assert_eq!(test_file(&path).errors[0].message, "it does not exist");
        std::fs::write(&path, "\ndefault = 1\nx = 2").unwrap();
        let tested = test_file(&path);
        assert!(!tested.valid);
        assert_eq!(tested.errors.iter().map(|error| error.line).collect::<Vec<_>>(), [Some(2), Some(3)]);
        std::fs::write(&path, "[[rule]]\nverdict = \"deny\"").unwrap();
        assert_eq!((test_file(&path).valid, test_file(&path).rules), (true, 1));
    }
}
