//! The policy in force: that of the file as it was when it was last correct.
//!
//! A file that is wrong changes nothing: the last version that was correct stays in force, and what is wrong is told. Where there
//! has been no correct one yet, nothing acts, because nobody knows what the file would have forbidden.

pub(crate) mod read;
#[cfg(test)]
mod tests;
mod watch;

use std::path::{Path, PathBuf};
use std::sync::{Arc, Weak};
use std::time::SystemTime;

use parking_lot::{Mutex, RwLock};
use tracing::{info, warn};

use crate::file;
use crate::policy::Policy;
use watch::Watch;

/// What the policy in force comes from, for `status` and `doctor`.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PolicyState {
    /// The file, if there is a place for one.
    pub file: Option<PathBuf>,
    /// Whether the file is there and in force, this version or an earlier one.
    pub from_file: bool,
    /// Why the file as it is now is not in force.
    pub error: Option<String>,
    /// The number of rules of the file.
    pub rules: usize,
    /// How many versions of the file have come into force since the daemon started.
    pub versions: u64,
    /// When the last one did.
    pub since: Option<SystemTime>,
}

impl PolicyState {
    /// Whether nothing acts, because the file cannot be used and no earlier version of it is in force.
    pub fn refuses(&self) -> bool {
        self.error.is_some() && !self.from_file
    }
}

/// What is called with each policy that comes into force.
type OnChange = Box<dyn Fn(&Arc<Policy>) + Send + Sync>;

/// Holds the policy in force.
pub struct PolicyStore {
    shared: Arc<Shared>,
    /// Ends with the store.
    _watch: Option<Watch>,
}

struct Shared {
    path: Option<PathBuf>,
    /// Whether a file that is missing is an error.
    is_required: bool,
    current: RwLock<InForce>,
    /// The text that is in force. Held while the file is read, so that versions follow each other.
    text: Mutex<Option<String>>,
    on_change: RwLock<Vec<OnChange>>,
}

/// The policy in force, and what it comes from.
struct InForce {
    policy: Arc<Policy>,
    /// Found out once: every read asks for it.
    restricts_reading: bool,
    state: PolicyState,
}

impl InForce {
    fn put(&mut self, policy: &Arc<Policy>) {
        self.restricts_reading = policy.restricts_reading();
        self.policy = Arc::clone(policy);
    }
}

impl std::fmt::Debug for PolicyStore {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("PolicyStore").field("state", &self.state()).finish_non_exhaustive()
    }
}

impl Default for PolicyStore {
    fn default() -> PolicyStore {
        PolicyStore::of(Policy::builtin())
    }
}

impl PolicyStore {
    /// A store that holds this policy, which has no file.
    pub fn of(policy: Policy) -> PolicyStore {
        let state = PolicyState { rules: policy.rules.len(), ..PolicyState::default() };
        PolicyStore { shared: Arc::new(Shared::new(None, false, policy, state)), _watch: None }
    }

    /// Reads the file, and reads it again whenever it changes. A file that is missing means the built-in rules, but if somebody
    /// named it, it is an error.
    pub fn open(path: &Path, is_required: bool) -> PolicyStore {
        // What is relative is so to where the daemon was started, wherever it is later.
        let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
        let state = PolicyState { file: Some(path.clone()), ..PolicyState::default() };
        let shared = Shared::new(Some(path.clone()), is_required, Policy::builtin(), state);
        let shared = Arc::new(shared);
        watch::wait_until_settled(&path);
        shared.reload(&mut || true);
        let weak: Weak<Shared> = Arc::downgrade(&shared);
        let reload = move |is_whole: &mut dyn FnMut() -> bool| {
            if let Some(shared) = weak.upgrade() {
                shared.reload(is_whole);
            }
        };
        let watch = Watch::start(path, reload).inspect_err(
            |fault| warn!(%fault, "the policy file cannot be watched; changes need a restart of axd"),
        );
        PolicyStore { shared, _watch: watch.ok() }
    }

    /// The policy in force.
    pub fn current(&self) -> Arc<Policy> {
        Arc::clone(&self.shared.current.read().policy)
    }

    /// Whether the policy in force restricts any command that reads.
    pub fn restricts_reading(&self) -> bool {
        self.shared.current.read().restricts_reading
    }

    /// What it comes from.
    pub fn state(&self) -> PolicyState {
        self.shared.current.read().state.clone()
    }

    /// The policy in force, and what it comes from.
    pub(crate) fn both(&self) -> (Arc<Policy>, PolicyState) {
        let current = self.shared.current.read();
        (Arc::clone(&current.policy), current.state.clone())
    }

    /// Calls this with each policy that comes into force from now on, after it has.
    pub fn on_change(&self, called: impl Fn(&Arc<Policy>) + Send + Sync + 'static) {
        self.shared.on_change.write().push(Box::new(called));
    }
}

impl Shared {
    fn new(path: Option<PathBuf>, is_required: bool, policy: Policy, state: PolicyState) -> Shared {
        let restricts_reading = policy.restricts_reading();
        let current = InForce { policy: Arc::new(policy), restricts_reading, state };
        let current = RwLock::new(current);
        Shared { path, is_required, current, text: Mutex::default(), on_change: RwLock::default() }
    }

    /// Reads the file, and puts it in force if it is another one and correct. Nothing becomes of what is not the whole file.
    fn reload(&self, is_whole: &mut dyn FnMut() -> bool) {
        let Some(path) = &self.path else { return };
        let mut in_force = self.text.lock();
        let found = read::read(path);
        if !is_whole() {
            return;
        }
        match found {
            Ok(Some(text)) if in_force.as_ref() == Some(&text) => self.clear_error(),
            Ok(Some(text)) => match file::parse(&text) {
                Ok(policy) => {
                    *in_force = Some(text);
                    self.put_in_force(policy);
                }
                Err(errors) => {
                    let errors: Vec<String> = errors.iter().map(ToString::to_string).collect();
                    self.refuse(errors.join("; "));
                }
            },
            Ok(None) if in_force.is_some() => {
                self.refuse("it was removed; what it said stays in force until axd stops".to_owned());
            }
            Ok(None) if self.is_required => self.refuse("it does not exist".to_owned()),
            Ok(None) => self.without_file(),
            Err(fault) => self.refuse(fault),
        }
    }

    fn put_in_force(&self, policy: Policy) {
        let policy = Arc::new(policy);
        let file = self.path.as_deref().unwrap_or(Path::new("")).display();
        info!(%file, rules = policy.rules.len(), default = policy.default.name(), mode = policy.mode.name(), "the policy file is in force");
        {
            let mut current = self.current.write();
            let state = &mut current.state;
            (state.from_file, state.error, state.rules) = (true, None, policy.rules.len());
            (state.versions, state.since) = (state.versions + 1, Some(SystemTime::now()));
            current.put(&policy);
        }
        self.changed(&policy);
    }

    /// Keeps what is in force, or lets nothing act if nothing of the file is.
    fn refuse(&self, error: String) {
        let mut current = self.current.write();
        if current.state.error.as_ref() == Some(&error) {
            return;
        }
        let file = self.path.as_deref().unwrap_or(Path::new("")).display();
        current.state.error = Some(error.clone());
        if current.state.from_file {
            warn!(%file, error, "the policy file is not in force; its last correct version is");
            return;
        }
        warn!(%file, error, "the policy file cannot be used, so nothing acts until it is corrected");
        let policy = Arc::new(Policy::unreadable(format!("{file}: {error}")));
        current.put(&policy);
        drop(current);
        self.changed(&policy);
    }

    fn clear_error(&self) {
        if self.current.write().state.error.take().is_some() {
            info!("the policy file is again what is in force");
        }
    }

    /// Only the built-in rules are in force: a file that was wrong, before any correct one, is gone.
    fn without_file(&self) {
        let mut current = self.current.write();
        if current.state.error.take().is_none() {
            return;
        }
        info!("the policy file is gone; the built-in rules are in force");
        let policy = Arc::new(Policy::builtin());
        current.put(&policy);
        drop(current);
        self.changed(&policy);
    }

    fn changed(&self, policy: &Arc<Policy>) {
        self.on_change.read().iter().for_each(|called| called(policy));
    }
}
