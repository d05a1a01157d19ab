//! The tables of the file that are not rules.

use std::path::PathBuf;
use std::time::Duration;

use super::section::{Section, Text};
use crate::decision::Verdict;
use crate::keys::KeyPattern;
use crate::policy::{Mode, Policy};
use crate::profile::ThuvuProfile;
use axd_protocol::pattern::Pattern;

/// The verdicts by name.
pub(super) const VERDICTS: &[(&str, Verdict)] =
    &[("allow", Verdict::Allow), ("ask", Verdict::Ask), ("deny", Verdict::Deny)];

/// The most of anything in a minute that a limit can say.
const MAX_PER_MINUTE: u64 = 1_000_000;
/// The longest text that a limit can allow; more than a request can hold.
const MAX_TEXT_CHARS: u64 = 1 << 20;
/// The longest time that a person is waited for, in seconds.
const MAX_ASK_S: u64 = 3_600;

/// Reads the settings of the file.
pub(super) fn read(file: &mut Section<'_, '_>, policy: &mut Policy) {
    let modes = [Mode::Normal, Mode::ObserveOnly].map(|mode| (mode.name(), mode));
    set(&mut policy.default, file.choice("default", VERDICTS));
    set(&mut policy.mode, file.choice("mode", &modes));
    set(&mut policy.unknown_apps, file.choice("unknown_apps", VERDICTS));
    windows(file, policy);
    keys(file, policy);
    programs(file, policy);
    limits(file, policy);
    if let Some(mut ask) = file.section("ask") {
        set(&mut policy.ask_timeout, ask.number("timeout_s", 1..=MAX_ASK_S).map(Duration::from_secs));
        ask.finish();
    }
    if let Some(mut audit) = file.section("audit") {
        set(&mut policy.audit_required, audit.flag("required"));
        audit.finish();
    }
    if let Some(mut profiles) = file.section("profile") {
        if let Some(thuvu) = profiles.section("thuvu") {
            policy.thuvu = thuvu_profile(thuvu);
        }
        profiles.finish();
    }
}

/// Replaces a value by that of the file, if it has one.
fn set<T>(value: &mut T, read: Option<T>) {
    if let Some(read) = read {
        *value = read;
    }
}

/// Patterns as they are written.
pub(super) fn patterns(texts: Vec<Text>) -> Vec<Pattern> {
    texts.iter().map(|text| Pattern::new(&text.text)).collect()
}

fn windows(file: &mut Section<'_, '_>, policy: &mut Policy) {
    let Some(mut windows) = file.section("windows") else { return };
    set(&mut policy.blocked_windows, windows.texts("blocked").map(patterns));
    set(&mut policy.hidden_windows, windows.texts("hidden").map(patterns));
    windows.finish();
}

fn keys(file: &mut Section<'_, '_>, policy: &mut Policy) {
    let Some(mut keys) = file.section("keys") else { return };
    let blocked = keys.texts("blocked").unwrap_or_default();
    let blocked = key_patterns(&keys, blocked);
    let allowed = keys.texts("allowed").unwrap_or_default();
    let allowed = key_patterns(&keys, allowed);
    for pattern in &allowed {
        if blocked.iter().any(|blocked| blocked.as_str().eq_ignore_ascii_case(pattern.as_str())) {
            keys.fault(keys.place, format!("{:?} is both in `blocked` and in `allowed`", pattern.as_str()));
        }
    }
    let what = || "is blocked by the policy file".to_owned();
    policy.keys_blocked.extend(blocked.into_iter().map(|pattern| (pattern, what())));
    policy.keys_allowed = allowed;
    keys.finish();
}

/// Combinations of keys.
pub(super) fn key_patterns(section: &Section<'_, '_>, texts: Vec<Text>) -> Vec<KeyPattern> {
    let mut patterns = Vec::new();
    for text in texts {
        match KeyPattern::parse(&text.text) {
            Ok(pattern) => patterns.push(pattern),
            Err(fault) => {
                section.fault(text.place, format!("{:?} is no combination of keys: {fault}", text.text))
            }
        }
    }
    patterns
}

fn programs(file: &mut Section<'_, '_>, policy: &mut Policy) {
    let Some(mut programs) = file.section("programs") else { return };
    policy.programs.protected = programs.texts("protected").map(patterns).unwrap_or_default();
    let unprotected = programs.texts("unprotected").unwrap_or_default();
    for text in &unprotected {
        let pattern = Pattern::new(&text.text);
        // A name that is not on the list is misspelled; whether a pattern or a path is, nobody can say.
        if pattern.is_literal() && !pattern.is_path() && !policy.programs.is_builtin(&text.text) {
            programs.fault(
                text.place,
                format!("{:?} is not on the built-in list of protected programs", text.text),
            );
        }
        if policy.programs.protected.contains(&pattern) {
            programs
                .fault(text.place, format!("{:?} is both in `protected` and in `unprotected`", text.text));
        }
    }
    policy.programs.unprotected = patterns(unprotected);
    programs.finish();
}

fn limits(file: &mut Section<'_, '_>, policy: &mut Policy) {
    let Some(mut limits) = file.section("limits") else { return };
    let per_minute = |limits: &mut Section<'_, '_>, key| {
        limits.number(key, 0..=MAX_PER_MINUTE).and_then(|number| u32::try_from(number).ok())
    };
    let text_chars = limits.number("text_chars", 0..=MAX_TEXT_CHARS);
    set(&mut policy.limits.text_chars, text_chars.and_then(|number| usize::try_from(number).ok()));
    policy.limits.captures_per_minute = per_minute(&mut limits, "captures_per_minute");
    policy.limits.actions_per_minute = per_minute(&mut limits, "actions_per_minute");
    limits.finish();
}

fn thuvu_profile(mut section: Section<'_, '_>) -> ThuvuProfile {
    let mut profile = ThuvuProfile::default();
    set(&mut profile.enabled, section.flag("enabled"));
    set(&mut profile.require_approval_for_capture, section.flag("require_approval_for_capture"));
    set(&mut profile.require_approval_for_input, section.flag("require_approval_for_input"));
    set(&mut profile.allowed_window_patterns, section.texts("allowed_window_patterns").map(patterns));
    set(&mut profile.blocked_window_patterns, section.texts("blocked_window_patterns").map(patterns));
    let captures = section.number("max_captures_per_minute", 0..=MAX_PER_MINUTE);
    set(&mut profile.max_captures_per_minute, captures.and_then(|number| u32::try_from(number).ok()));
    set(&mut profile.log_all_actions, section.flag("log_all_actions"));
    if let Some(file) = section.text("log_file") {
        let path = PathBuf::from(&file.text);
        if path.is_relative() {
            section.fault(file.place, "`log_file` must be a path from / on");
        }
        profile.log_file = Some(path);
    }
    section.finish();
    profile
}
