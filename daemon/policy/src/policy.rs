//! The rules in force, and what they decide.

use std::time::Duration;

use crate::builtin;
use crate::commands::{ALWAYS_ALLOWED, NOT_BY_DEFAULT};
use crate::decision::{Decision, Verdict};
use crate::keys::{self, KeyPattern};
use crate::profile::ThuvuProfile;
use crate::programs::Programs;
use crate::question::{AppFacts, Fact, Question};
use crate::rule::Rule;
use axd_protocol::pattern::{Pattern, any_matches};

/// The maximum length of a text that is typed or entered at once, if the file does not say.
const MAX_TEXT: usize = 10_000;
/// How long a request waits for approval, if the file does not say.
const ASK_TIMEOUT: Duration = Duration::from_secs(60);

/// Whether anything may act at all.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Mode {
    /// The rules decide.
    #[default]
    Normal,
    /// Nothing acts; reading goes on.
    ObserveOnly,
}

impl Mode {
    /// The mode's name in the policy file.
    pub const fn name(self) -> &'static str {
        match self {
            Mode::Normal => "normal",
            Mode::ObserveOnly => "observe-only",
        }
    }
}

/// How much may be done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// The most characters that are entered at once.
    pub text_chars: usize,
    /// The most pictures that are taken in a minute, of all clients together; without it, any number.
    pub captures_per_minute: Option<u32>,
    /// The most actions in a minute, of all clients together; without it, any number.
    pub actions_per_minute: Option<u32>,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits { text_chars: MAX_TEXT, captures_per_minute: None, actions_per_minute: None }
    }
}

/// The rules in force.
#[derive(Debug, Clone, PartialEq)]
pub struct Policy {
    /// What becomes of a request that no rule matches.
    pub default: Verdict,
    /// Whether anything may act at all.
    pub mode: Mode,
    /// What becomes of an action on an app whose process nobody knows.
    pub unknown_apps: Verdict,
    /// How much may be done.
    pub limits: Limits,
    /// How long a request waits for approval.
    pub ask_timeout: Duration,
    /// Whether nothing acts while the audit cannot be written.
    pub audit_required: bool,
    /// The settings of the profile `thuvu`.
    pub thuvu: ThuvuProfile,
    /// The rules of the file, in its order.
    pub rules: Vec<Rule>,
    /// Why the file cannot be used, if there has been no usable version of it.
    pub(crate) unreadable: Option<String>,
    pub(crate) blocked_windows: Vec<Pattern>,
    pub(crate) hidden_windows: Vec<Pattern>,
    pub(crate) keys_blocked: Vec<(KeyPattern, String)>,
    pub(crate) keys_allowed: Vec<KeyPattern>,
    pub(crate) programs: Programs,
}

/// A decision, and all that it was made of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Explanation {
    /// The decision.
    pub decision: Decision,
    /// What each rule says that speaks of the request: the built-in ones, those of the file that restrict it, and those that permit it.
    pub matched: Vec<Decision>,
}

impl Policy {
    /// The built-in rules alone.
    pub fn builtin() -> Policy {
        Policy {
            default: Verdict::Allow,
            mode: Mode::Normal,
            unknown_apps: Verdict::Deny,
            limits: Limits::default(),
            ask_timeout: ASK_TIMEOUT,
            audit_required: false,
            thuvu: ThuvuProfile::default(),
            rules: Vec::new(),
            unreadable: None,
            blocked_windows: vec![Pattern::new("*Password*"), Pattern::new("*Banking*")],
            hidden_windows: Vec::new(),
            keys_blocked: keys::builtin(),
            keys_allowed: Vec::new(),
            programs: Programs::builtin(),
        }
    }

    /// The policy where there is a file of which no version could be used: nothing acts.
    pub fn unreadable(fault: impl Into<String>) -> Policy {
        Policy { unreadable: Some(fault.into()), ..Policy::builtin() }
    }

    /// Decides a question: of all rules that match, the strictest counts, and of those the first. What no rule of the file permits has
    /// the default.
    pub fn decide(&self, question: &Question<'_>) -> Decision {
        self.explain(question).decision
    }

    /// Decides a question, and tells which rules matched.
    pub fn explain(&self, question: &Question<'_>) -> Explanation {
        if ALWAYS_ALLOWED.contains(&question.command) {
            return Explanation { decision: Decision::allow("always-allowed"), matched: Vec::new() };
        }
        let restricting = self.restricting(question);
        let otherwise = self.otherwise(question);
        let decision = strictest(&restricting).filter(|decision| decision.verdict >= otherwise.verdict);
        let decision = decision.cloned().unwrap_or(otherwise);
        let permitting =
            self.rules.iter().filter(|rule| rule.verdict == Verdict::Allow && rule.permits(question));
        let matched = restricting.into_iter().chain(permitting.map(Rule::permission)).collect();
        Explanation { decision, matched }
    }

    /// What becomes of a request that nothing restricts: what a rule permits that is allowed, all else has the default.
    fn otherwise(&self, question: &Question<'_>) -> Decision {
        let permits = |verdict| move |rule: &&Rule| rule.verdict == verdict && rule.permits(question);
        let allowed = || self.rules.iter().find(permits(Verdict::Allow));
        // A rule that asks permits what would be denied by default. That it asks, it says where it restricts.
        let asked =
            || self.rules.iter().find(permits(Verdict::Ask)).filter(|_| self.default > Verdict::Allow);
        allowed().or_else(asked).map_or_else(|| self.by_default(question), Rule::permission)
    }

    /// Whether a window may be in no picture, whoever takes it: what a rule says that denies or asks. For a rule that is about
    /// one client, decide the whole question instead.
    pub fn blocks_pictures_of(&self, app: Fact<AppFacts<'_>>, title: Fact<&str>) -> Option<Decision> {
        let question = Question { command: "screenshot", app, window: title, ..Question::default() };
        strictest(&self.restricting(&question)).cloned()
    }

    /// Whether a window is hidden from all reading. What is not known of it hides it.
    pub fn hides(&self, app: Fact<AppFacts<'_>>, title: Fact<&str>) -> bool {
        let is_listed = match title {
            Fact::None => false,
            Fact::Unknown => !self.hidden_windows.is_empty(),
            Fact::Known(title) => any_matches(&self.hidden_windows, title),
        };
        is_listed || self.rules.iter().any(|rule| rule.hides(app, title))
    }

    /// Whether a rule of the file, or the default, restricts any command that reads. Where it does not, reads need not be asked
    /// about.
    pub fn restricts_reading(&self) -> bool {
        self.default > Verdict::Allow
            || self.unreadable.is_some()
            || self.hides_anything()
            || self.rules.iter().any(Rule::restricts_reading)
    }

    /// Whether any window is hidden from reading.
    pub fn hides_anything(&self) -> bool {
        !self.hidden_windows.is_empty() || self.rules.iter().any(|rule| rule.hides)
    }

    /// What each rule says that denies a request, or asks.
    fn restricting(&self, question: &Question<'_>) -> Vec<Decision> {
        let builtin = builtin::RULES.iter().filter_map(|rule| (rule.decide)(self, question));
        let of_file = self.rules.iter().filter(|rule| rule.restricts(question));
        builtin.chain(of_file.map(|rule| rule.decision(question))).collect()
    }

    fn by_default(&self, question: &Question<'_>) -> Decision {
        let command = question.command;
        match self.default {
            // Who approves what the default asks about, and who goes on after a pause, must not wait for that.
            _ if NOT_BY_DEFAULT.contains(&command) => Decision::allow("default"),
            Verdict::Allow => Decision::allow("default"),
            verdict => Decision {
                verdict,
                ..Decision::deny(
                    "default",
                    format!("no rule of the policy file allows this {command}"),
                    "ask the user for a rule that allows it",
                )
            },
        }
    }
}

/// The first of the strictest decisions.
fn strictest(decisions: &[Decision]) -> Option<&Decision> {
    let strictest = decisions.iter().map(|decision| decision.verdict).max()?;
    decisions.iter().find(|decision| decision.verdict == strictest)
}
