//! The rules that hold without a file. They are about acting and pictures: reading an app is never stopped by one of them.

use crate::commands::{CLIPBOARD, PICTURES, RELEASES, TREE_READERS, acts};
use crate::decision::{Decision, Verdict};
use crate::keys;
use crate::policy::{Mode, Policy};
use crate::question::{AppFacts, Fact, Question, Stage};
use crate::rule::{Holds, may_hold};
use axd_protocol::pattern::{Pattern, any_matches};

/// A built-in rule.
pub(crate) struct BuiltinRule {
    /// Its name, which errors end with.
    pub name: &'static str,
    /// What it denies, for those who read about it.
    pub denies: &'static str,
    /// What it says of a question, if it speaks of it.
    pub decide: fn(&Policy, &Question<'_>) -> Option<Decision>,
}

/// Shortens the list below.
const fn rule(
    name: &'static str,
    denies: &'static str,
    decide: fn(&Policy, &Question<'_>) -> Option<Decision>,
) -> BuiltinRule {
    BuiltinRule { name, denies, decide }
}

/// All of them, in the order in which they are asked. Of two that are as strict the first one is named.
pub(crate) const RULES: &[BuiltinRule] = &[
    rule(
        "policy-unreadable",
        "everything that acts, while the policy file has never been correct",
        policy_unreadable,
    ),
    rule("observe-only", "everything that acts, if the mode is observe-only", observe_only),
    rule("blocked-shortcut", "keys that quit apps, end the session or lock the screen", blocked_shortcut),
    rule(
        "no-protected-app",
        "acting on programs that the session or a password depends on",
        no_protected_app,
    ),
    rule("other-users-app", "acting on programs of another user", other_users_app),
    rule("blocked-window", "acting on windows that are blocked, and pictures of them", blocked_window),
    rule(
        "hidden-window",
        "reading windows that are hidden, acting on them, and pictures of them",
        hidden_window,
    ),
    rule("unknown-app", "acting on programs that nobody knows", unknown_app),
    rule("text-too-long", "texts of more characters than the limit, at once", text_too_long),
];

/// Whether a rule of a file may not have this name.
pub(crate) fn is_reserved(name: &str) -> bool {
    let others = ["default", "audit-required", "always-allowed"];
    RULES.iter().map(|rule| rule.name).chain(others).any(|reserved| reserved.eq_ignore_ascii_case(name))
}

/// Whether a command may do something that the file could have forbidden.
fn policy_unreadable(policy: &Policy, question: &Question<'_>) -> Option<Decision> {
    let fault = policy.unreadable.as_ref()?;
    let command = question.command;
    let may_harm = acts(command) || PICTURES.contains(&command) || CLIPBOARD.contains(&command);
    (may_harm && !RELEASES.contains(&command)).then(|| {
        let why = format!("the policy file cannot be used, so nothing acts: {fault}");
        Decision::deny(
            "policy-unreadable",
            why,
            "tell the user: `ax policy show` says what is wrong with the file",
        )
    })
}

fn observe_only(policy: &Policy, question: &Question<'_>) -> Option<Decision> {
    let command = question.command;
    (policy.mode == Mode::ObserveOnly && acts(command) && !RELEASES.contains(&command)).then(|| {
        let why = format!("{command} acts, and the policy file allows reading only");
        Decision::deny("observe-only", why, "read only, or ask the user to change `mode` in the policy file")
    })
}

fn blocked_shortcut(policy: &Policy, question: &Question<'_>) -> Option<Decision> {
    if RELEASES.contains(&question.command) {
        return None;
    }
    let allowed = |keys| policy.keys_allowed.iter().any(|pattern| pattern.is(keys));
    for pressed in question.keys.iter().filter(|keys| !allowed(keys)) {
        let what = match policy.keys_blocked.iter().find(|(blocked, _)| blocked.is_within(pressed)) {
            Some((_, what)) => what.clone(),
            None if keys::switches_session(pressed) => "switches to another session".to_owned(),
            None => continue,
        };
        let instead = "to quit an app, use `ax close-app`; ending the session is left to the user";
        return Some(Decision::deny("blocked-shortcut", format!("{pressed} {what}"), instead));
    }
    None
}

/// The app that a command acts on, if it is known. A key that goes up does nothing to an app that did not get it before.
fn app_acted_on<'a>(question: &Question<'a>) -> Option<AppFacts<'a>> {
    question.app.known().filter(|_| acts(question.command) && question.command != "key-up")
}

fn no_protected_app(policy: &Policy, question: &Question<'_>) -> Option<Decision> {
    let app = app_acted_on(question)?;
    policy.programs.protect(&app).then(|| {
        let why = format!("{} is protected: the session, or a password, depends on it", app.name);
        Decision::deny("no-protected-app", why, "reading it is allowed; acting on it is not")
    })
}

fn other_users_app(_: &Policy, question: &Question<'_>) -> Option<Decision> {
    let app = app_acted_on(question)?;
    app.is_foreign.then(|| {
        let why = format!("{} (pid {}) belongs to another user", app.name, app.pid);
        Decision::deny("other-users-app", why, "act on apps of your own user only")
    })
}

fn blocked_window(policy: &Policy, question: &Question<'_>) -> Option<Decision> {
    is_about_window(&policy.blocked_windows, question)
        .then(|| no_window("blocked-window", "is blocked by the policy", question))
}

/// What is hidden from reading is not acted on either, and is in no picture. A tree is read as a whole, in no window: the hidden ones
/// are absent from it.
fn hidden_window(policy: &Policy, question: &Question<'_>) -> Option<Decision> {
    let is_read = TREE_READERS.contains(&question.command)
        && question.window.known().is_some_and(|title| any_matches(&policy.hidden_windows, title));
    (is_read || is_about_window(&policy.hidden_windows, question))
        .then(|| no_window("hidden-window", "is hidden by the policy file", question))
}

/// Whether a command acts on a window of these titles, or takes a picture of one.
fn is_about_window(titles: &[Pattern], question: &Question<'_>) -> bool {
    let command = question.command;
    let is_about = PICTURES.contains(&command) || (acts(command) && command != "key-up");
    if !is_about || titles.is_empty() {
        return false;
    }
    let holds = match question.window {
        Fact::None => Holds::No,
        Fact::Unknown => Holds::Unknown,
        Fact::Known(title) => any_matches(titles, title).into(),
    };
    may_hold(holds, question.stage)
}

fn no_window(rule: &str, what: &str, question: &Question<'_>) -> Decision {
    let why = match question.window.known() {
        Some(title) => format!("the window {title:?} {what}"),
        None => format!("the title of the window is not known, and it may be one that {what}"),
    };
    Decision::deny(rule, why, "leave this window to the user")
}

fn unknown_app(policy: &Policy, question: &Question<'_>) -> Option<Decision> {
    let command = question.command;
    let is_about = acts(command) && command != "key-up" && question.app == Fact::Unknown;
    (is_about && question.stage == Stage::Final && policy.unknown_apps > Verdict::Allow).then(|| Decision {
        verdict: policy.unknown_apps,
        ..Decision::deny(
            "unknown-app",
            "it is not known which program would receive this",
            "act on an app that `ax list-apps` shows",
        )
    })
}

fn text_too_long(policy: &Policy, question: &Question<'_>) -> Option<Decision> {
    let (length, most) = (question.text?.chars().count(), policy.limits.text_chars);
    (length > most).then(|| {
        let why = format!("the text has {length} characters; at most {most} are allowed at once");
        Decision::deny("text-too-long", why, "send it in parts, or put it on the clipboard and paste it")
    })
}
