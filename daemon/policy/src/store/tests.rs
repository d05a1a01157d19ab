use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::{Duration, Instant};

use super::*;
use crate::decision::Verdict;
use crate::policy::Mode;
use crate::question::Question;

const DENY: &str = "default = \"deny\"\n";
const ASK: &str = "default = \"ask\"\n";

/// Waits for a condition.
fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let end = Instant::now() + Duration::from_secs(20);
    while !holds() {
        assert!(Instant::now() < end, "{what} does not come");
        thread::park_timeout(Duration::from_millis(1));
    }
}

/// A folder with a policy file, and the store of it.
struct Place {
    folder: tempfile::TempDir,
    store: PolicyStore,
    changes: Receiver<Verdict>,
}

impl Place {
    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn write(&self, text: &str) {
        fs::write(self.path("policy.toml"), text).unwrap();
    }

    /// Waits for the next policy that comes into force, and says what it does by default.
    fn next(&self) -> Verdict {
        self.changes.recv_timeout(Duration::from_secs(20)).expect("a policy comes into force")
    }

    fn error(&self) -> String {
        self.store.state().error.unwrap_or_default()
    }

    fn until_error(&self, expected: &str) {
        until(expected, || self.error().contains(expected));
    }

    fn verdict(&self, command: &str) -> (Verdict, String) {
        let decision = self.store.current().decide(&Question { command, ..Question::default() });
        (decision.verdict, decision.rule)
    }
}

/// A store of `policy.toml` in a folder that was prepared.
fn store(is_required: bool, prepare: impl FnOnce(&Path)) -> Place {
    let folder = tempfile::tempdir().unwrap();
    prepare(folder.path());
    let store = PolicyStore::open(&folder.path().join("policy.toml"), is_required);
    let (sender, changes) = channel();
    store.on_change(move |policy| {
        let _ = sender.send(policy.default);
    });
    Place { folder, store, changes }
}

fn with_file(text: &str) -> Place {
    store(false, |folder| fs::write(folder.join("policy.toml"), text).unwrap())
}

#[test]
fn what_the_file_says_is_in_force_from_the_start_and_after_each_change() {
    let place = with_file(DENY);
    assert_eq!(place.store.current().default, Verdict::Deny);
    let state = place.store.state();
    assert!(state.from_file && !state.refuses() && state.versions == 1 && state.since.is_some());
    assert_eq!(state.file, Some(place.path("policy.toml")));
    place.write(ASK);
    assert_eq!(place.next(), Verdict::Ask);
    place.write("[[rule]]\nverdict = \"deny\"\ncommands = [\"launch\"]\n");
    assert_eq!(place.next(), Verdict::Allow);
    assert_eq!((place.store.state().rules, place.store.state().versions), (1, 3));
    assert_eq!(place.verdict("launch").0, Verdict::Deny);
}

#[test]
fn a_file_that_is_replaced_by_another_comes_into_force() {
    let place = with_file(DENY);
    for text in [ASK, DENY] {
        fs::write(place.path("new"), text).unwrap();
        fs::rename(place.path("new"), place.path("policy.toml")).unwrap();
        assert_eq!(place.next().name(), if text == ASK { "ask" } else { "deny" });
    }
}

#[test]
fn a_file_in_folders_that_are_made_later_comes_into_force() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("not/yet/policy.toml");
    let store = PolicyStore::open(&path, false);
    assert!(!store.state().from_file && store.state().error.is_none());
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(&path, DENY).unwrap();
    until("the file", || store.current().default == Verdict::Deny);
    // The folder is replaced as a whole.
    fs::create_dir_all(folder.path().join("other/yet")).unwrap();
    fs::write(folder.path().join("other/yet/policy.toml"), ASK).unwrap();
    fs::rename(folder.path().join("not"), folder.path().join("old")).unwrap();
    fs::rename(folder.path().join("other"), folder.path().join("not")).unwrap();
    until("the other folder", || store.current().default == Verdict::Ask);
}

#[test]
fn a_link_that_points_elsewhere_and_its_target_are_followed() {
    let place = store(false, |folder| {
        for (name, text) in [("a", DENY), ("b", ASK)] {
            fs::create_dir(folder.join(name)).unwrap();
            fs::write(folder.join(name).join("policy.toml"), text).unwrap();
        }
        symlink("a", folder.join("current")).unwrap();
        symlink("current/policy.toml", folder.join("policy.toml")).unwrap();
    });
    assert_eq!(place.store.current().default, Verdict::Deny);
    symlink("b", place.path("next")).unwrap();
    fs::rename(place.path("next"), place.path("current")).unwrap();
    assert_eq!(place.next(), Verdict::Ask);
    fs::write(place.path("b/policy.toml"), DENY).unwrap();
    assert_eq!(place.next(), Verdict::Deny);
}

#[test]
fn a_broken_file_leaves_its_last_correct_version_in_force_and_is_told() {
    let place = with_file(DENY);
    place.write("default = \"dney\"\n");
    place.until_error("line 1: `default` must be");
    assert!(place.store.state().from_file && !place.store.state().refuses());
    assert_eq!(place.verdict("click"), (Verdict::Deny, "default".to_owned()));
    place.write(DENY);
    until("the end of the error", || place.error().is_empty());
    assert_eq!(place.store.state().versions, 1, "nothing else came into force");
    place.write(ASK);
    assert_eq!(place.next(), Verdict::Ask);
}

#[test]
fn without_any_correct_version_nothing_acts_until_there_is_one() {
    let place = with_file("[[rule]]\nverdict = \"dney\"\n");
    assert!(place.store.state().refuses() && !place.store.state().from_file);
    assert_eq!(place.verdict("click").1, "policy-unreadable");
    assert_eq!(place.verdict("snapshot").0, Verdict::Allow);
    let message = place.store.current().decide(&Question { command: "click", ..Question::default() }).why;
    assert!(message.contains("policy.toml: line 2: `verdict` must be"), "{message}");
    place.write("mode = \"observe-only\"");
    place.next();
    assert_eq!(place.store.current().mode, Mode::ObserveOnly);
    assert_eq!(place.verdict("click").1, "observe-only");
}

#[test]
fn a_first_file_that_is_broken_stops_what_the_built_in_rules_allowed() {
    let place = store(false, |_| {});
    assert_eq!(place.verdict("click").0, Verdict::Allow);
    place.write("deny everything");
    place.next();
    assert_eq!(place.verdict("click").1, "policy-unreadable");
    fs::remove_file(place.path("policy.toml")).unwrap();
    place.next();
    assert_eq!(place.verdict("click").0, Verdict::Allow);
}

#[test]
fn a_file_that_is_removed_stays_in_force_and_that_is_told() {
    let place = with_file(DENY);
    fs::remove_file(place.path("policy.toml")).unwrap();
    place.until_error("it was removed");
    assert_eq!(place.store.current().default, Verdict::Deny);
    assert!(!place.store.state().refuses());
    place.write(ASK);
    assert_eq!(place.next(), Verdict::Ask);
    assert_eq!(place.error(), "");
}

#[test]
fn a_file_that_somebody_named_must_exist() {
    let place = store(true, |_| {});
    assert!(place.store.state().refuses());
    assert_eq!(place.error(), "it does not exist");
    assert_eq!(place.verdict("click").1, "policy-unreadable");
    place.write(ASK);
    assert_eq!(place.next(), Verdict::Ask);
}

#[test]
fn a_file_that_others_may_write_is_not_in_force() {
    let place = with_file(DENY);
    let path = place.path("policy.toml");
    fs::write(place.path("new"), ASK).unwrap();
    fs::set_permissions(place.path("new"), fs::Permissions::from_mode(0o666)).unwrap();
    fs::rename(place.path("new"), &path).unwrap();
    place.until_error("can be written by other users");
    assert_eq!(place.store.current().default, Verdict::Deny);
    fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
    assert_eq!(place.next(), Verdict::Ask);
}

#[test]
fn a_file_that_is_being_written_is_read_when_it_is_complete() {
    use std::io::Write;
    let place = with_file(&format!("{DENY}[[rule]]\nname = \"first\"\nverdict = \"deny\"\n"));
    // A half of this would be a correct file that allows more.
    let mut file = fs::File::create(place.path("policy.toml")).unwrap();
    file.write_all(b"# default follows\n").unwrap();
    file.write_all(ASK.as_bytes()).unwrap();
    drop(file);
    assert_eq!(place.next(), Verdict::Ask);
    assert_eq!(place.store.state().versions, 2, "no part of it was in force");
}

#[test]
fn a_store_without_a_file_holds_the_policy_that_it_is_given() {
    let store = PolicyStore::default();
    assert_eq!(*store.current(), Policy::builtin());
    assert_eq!(store.state(), PolicyState::default());
    let other = PolicyStore::of(Policy { mode: Mode::ObserveOnly, ..Policy::builtin() });
    assert_eq!(other.current().mode, Mode::ObserveOnly);
}

#[test]
fn a_store_that_is_dropped_watches_no_longer() {
    let place = with_file(DENY);
    let Place { folder, store, changes } = place;
    drop(store);
    fs::write(folder.path().join("policy.toml"), ASK).unwrap();
    assert!(changes.recv().is_err(), "whoever was called is gone");
}
