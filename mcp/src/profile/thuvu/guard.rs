//! What the policy file says of this profile: which windows it may use, how often it captures, and what a person must agree to.
//!
//! It comes before axd's own policy, which holds all the same.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use axd_protocol::command::ThuvuSettings;
use axd_protocol::pattern::Pattern;

use super::{Fault, Result};

const MINUTE: Duration = Duration::from_secs(60);

/// The settings that are in force for a call.
#[derive(Debug)]
pub struct Guard {
    /// The settings.
    pub settings: ThuvuSettings,
}

impl Guard {
    /// With these settings.
    pub fn new(settings: ThuvuSettings) -> Guard {
        Guard { settings }
    }

    /// Fails if a window of this title may not be used.
    pub fn window(&self, title: &str) -> Result<()> {
        let blocking =
            self.settings.blocked_window_patterns.iter().find(|it| Pattern::new(it).matches(title));
        if let Some(pattern) = blocking {
            return Err(format!("Window '{title}' is blocked by pattern '{pattern}'").into());
        }
        if !self.settings.allowed_window_patterns.iter().any(|it| Pattern::new(it).matches(title)) {
            return Err(format!("Window '{title}' matches no pattern of allowed_window_patterns").into());
        }
        Ok(())
    }

    /// The setting that wants a person to agree to calls of this tool.
    pub fn needs_consent(&self, tool: &str) -> Option<&'static str> {
        match tool {
            "ui_capture" if self.settings.require_approval_for_capture => {
                Some("require_approval_for_capture")
            }
            "ui_click" | "ui_type" | "ui_mouse_move" | "ui_focus_window"
                if self.settings.require_approval_for_input =>
            {
                Some("require_approval_for_input")
            }
            _ => None,
        }
    }
}

/// The captures of the last minute.
#[derive(Debug, Default)]
pub struct Rate {
    captures: Mutex<VecDeque<Instant>>,
}

impl Rate {
    /// Counts a capture. Fails if there were as many as there may be.
    pub fn capture(&self, most: u32, now: Instant) -> std::result::Result<(), Fault> {
        // A panic leaves nothing half done in it.
        let mut captures = self.captures.lock().unwrap_or_else(PoisonError::into_inner);
        while captures.front().is_some_and(|at| now.duration_since(*at) >= MINUTE) {
            captures.pop_front();
        }
        if captures.len() >= most as usize {
            return Err(format!("Rate limit: at most {most} captures a minute").into());
        }
        captures.push_back(now);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn guard(allowed: &[&str], blocked: &[&str]) -> Guard {
        let texts = |patterns: &[&str]| patterns.iter().map(|it| (*it).to_owned()).collect();
        Guard::new(ThuvuSettings {
            enabled: true,
            require_approval_for_capture: false,
            require_approval_for_input: true,
            allowed_window_patterns: texts(allowed),
            blocked_window_patterns: texts(blocked),
            max_captures_per_minute: 60,
            log_all_actions: true,
            log_file: None,
        })
    }

    fn refusal(guard: &Guard, title: &str) -> Option<String> {
        match guard.window(title) {
            Err(Fault::Ours(message)) => Some(message),
            _ => None,
        }
    }

    #[test]
    fn a_window_must_match_an_allowed_pattern_and_no_blocked_one() {
        let default = guard(&["*"], &["*Password*", "*Banking*"]);
        assert_eq!(refusal(&default, "Notes"), None);
        assert_eq!(refusal(&default, ""), None);
        let said = "Window 'My PASSWORDS' is blocked by pattern '*Password*'";
        assert_eq!(refusal(&default, "My PASSWORDS").as_deref(), Some(said));
        let narrow = guard(&["Notes*"], &["*Banking*"]);
        assert_eq!(refusal(&narrow, "Notes — all"), None);
        assert!(refusal(&narrow, "Paint").unwrap().contains("matches no pattern"));
        assert!(refusal(&narrow, "Notes Banking").unwrap().contains("blocked by pattern '*Banking*'"));
        assert!(refusal(&guard(&[], &[]), "Notes").is_some());
    }

    #[test]
    fn captures_are_counted_over_the_last_minute() {
        let (rate, start) = (Rate::default(), Instant::now());
        assert!(rate.capture(2, start).is_ok() && rate.capture(2, start + MINUTE / 2).is_ok());
        let Err(Fault::Ours(refused)) = rate.capture(2, start + MINUTE / 2) else { panic!("it was allowed") };
        assert_eq!(refused, "Rate limit: at most 2 captures a minute");
        assert!(rate.capture(2, start + MINUTE).is_ok());
        assert!(rate.capture(2, start + MINUTE).is_err());
        assert!(Rate::default().capture(0, start).is_err());
    }

    #[test]
    fn what_a_person_must_agree_to_is_input_and_pictures_if_so_set() {
        let mut guard = guard(&["*"], &[]);
        for tool in ["ui_click", "ui_type", "ui_mouse_move", "ui_focus_window"] {
            assert_eq!(guard.needs_consent(tool), Some("require_approval_for_input"));
        }
        for tool in ["ui_capture", "ui_list_windows", "ui_get_element", "ui_wait"] {
            assert_eq!(guard.needs_consent(tool), None);
        }
        guard.settings.require_approval_for_capture = true;
        assert_eq!(guard.needs_consent("ui_capture"), Some("require_approval_for_capture"));
    }
}
