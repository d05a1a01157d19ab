//! What is approved of a request, and what must be before it can go on.

use std::sync::Arc;

use axd_protocol::command::Approval;
use parking_lot::Mutex;

/// What is approved of one request. Clones are about the same request.
#[derive(Debug, Clone, Default)]
pub struct Approved(Arc<Mutex<State>>);

#[derive(Debug, Default)]
struct State {
    subjects: Vec<Subject>,
    by: Option<u64>,
    needed: Option<Approval>,
}

/// What somebody was asked about: which rule asked, and about which app and window. Another one is another question.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Subject {
    rule: String,
    pid: Option<u32>,
    window: Option<String>,
}

impl Subject {
    /// Whether who approved this has approved the other, too. Before an action began, its window may not have been known; its app was.
    fn covers(&self, other: &Subject) -> bool {
        let is_any_window = self.window.is_none() && self.pid.is_some();
        self.rule == other.rule && self.pid == other.pid && (is_any_window || self.window == other.window)
    }
}

impl From<&Approval> for Subject {
    fn from(asked: &Approval) -> Subject {
        Subject { rule: asked.rule.clone(), pid: asked.pid, window: asked.window.clone() }
    }
}

impl Approved {
    /// Notes that it is approved, and by which client.
    pub fn add(&self, asked: &Approval, by: Option<u64>) {
        let mut state = self.0.lock();
        state.subjects.push(asked.into());
        state.by = by.or(state.by);
    }

    /// Whether it is approved.
    pub fn has(&self, asked: &Approval) -> bool {
        let subject = asked.into();
        self.0.lock().subjects.iter().any(|approved| approved.covers(&subject))
    }

    /// Whether what a rule asks about the desktop as a whole is approved.
    pub fn has_whole(&self, rule: &str) -> bool {
        let whole = Subject { rule: rule.to_owned(), pid: None, window: None };
        self.0.lock().subjects.contains(&whole)
    }

    /// The client that approved it last.
    pub fn by(&self) -> Option<u64> {
        self.0.lock().by
    }

    /// Notes what must be approved before the request can go on.
    pub fn need(&self, asked: Approval) {
        self.0.lock().needed = Some(asked);
    }

    /// What must be approved before the request can go on.
    pub fn take_needed(&self) -> Option<Approval> {
        self.0.lock().needed.take()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(rule: &str, pid: Option<u32>, window: Option<&str>) -> Approval {
        Approval { rule: rule.into(), pid, window: window.map(str::to_owned), ..Approval::default() }
    }

    #[test]
    fn another_rule_app_or_window_is_another_question() {
        let approved = Approved::default();
        approved.add(&asked("pay", Some(7), Some("Bank")), Some(3));
        assert!(approved.has(&asked("pay", Some(7), Some("Bank"))));
        for other in [
            asked("send", Some(7), Some("Bank")),
            asked("pay", Some(8), Some("Bank")),
            asked("pay", None, Some("Bank")),
            asked("pay", Some(7), Some("Shop")),
            asked("pay", Some(7), None),
        ] {
            assert!(!approved.has(&other), "{other:?}");
        }
        assert_eq!((approved.by(), approved.has_whole("pay")), (Some(3), false));
    }

    #[test]
    fn an_app_is_approved_with_its_windows_and_the_desktop_with_all() {
        let approved = Approved::default();
        approved.add(&asked("pay", Some(7), None), None);
        approved.add(&asked("pictures", None, None), None);
        assert!(approved.has(&asked("pay", Some(7), Some("Bank"))));
        assert!(!approved.has(&asked("pictures", None, Some("Bank"))));
        assert!(approved.has_whole("pictures") && !approved.has_whole("pay"));
    }
}
