//! Tests of `launchd.rs`: which steps lead from where to where.

use super::*;

fn launchd() -> Launchd {
    let places = Paths { socket: "/s/axd.sock".into(), config: "/s/policy.toml".into(), state: "/l".into() };
    Launchd { folder: "/a".into(), places }
}

fn files(socket_activation: bool) -> Vec<ServiceFile> {
    let wanted =
        Wanted { program: "/usr/local/bin/axd".into(), platform: None, socket: None, socket_activation };
    launchd().files(&wanted).unwrap()
}

/// An agent that was loaded from this file; with a process, or without.
fn loaded(path: &str, pid: Option<u32>) -> Option<Loaded> {
    let state = if pid.is_some() { "running" } else { "not running" };
    Some(Loaded { path: path.into(), state: state.into(), pid, last_exit: None })
}

fn told(steps: Result<Vec<Step>, Error>) -> Vec<String> {
    let uid = nix::unistd::getuid();
    let short =
        |step: &Step| step.to_string().replace("run launchctl ", "").replace(&format!("gui/{uid}"), "gui");
    steps.unwrap().iter().map(short).collect()
}

fn install(seen: &Seen, socket_activation: bool) -> Vec<String> {
    told(launchd().install(seen, &files(socket_activation), false))
}

const FILE: &str = "/a/dev.axd.axd.plist";

#[test]
fn a_first_install_makes_the_folders_writes_and_loads() {
    let steps = [
        "make the folder /s",
        "make the folder /l",
        "write /a/dev.axd.axd.plist",
        "bootstrap gui /a/dev.axd.axd.plist",
    ];
    assert_eq!(install(&Seen::default(), false), steps);
    assert_eq!(install(&Seen::default(), true), steps);
    assert_ne!(files(false), files(true));
}

#[test]
fn installing_what_is_installed_and_runs_takes_no_steps() {
    let seen = |socket, pid| Seen {
        text: Some(files(socket)[0].text.clone()),
        loaded: loaded(FILE, pid),
        disabled: false,
    };
    assert!(install(&seen(false, Some(7)), false).is_empty());
    assert!(install(&seen(true, None), true).is_empty(), "it starts when somebody asks");
    assert_eq!(install(&seen(false, None), false), ["kickstart gui/dev.axd.axd"]);
}

#[test]
fn an_agent_that_changed_or_was_loaded_from_elsewhere_is_loaded_anew() {
    let text = files(false)[0].text.clone();
    let of_session = Seen { text: None, loaded: loaded("/s/dev.axd.axd.plist", Some(7)), disabled: false };
    let steps = install(&of_session, false);
    assert_eq!((steps[0].as_str(), steps.len()), ("bootout gui/dev.axd.axd", 5));
    let changed =
        Seen { text: Some(format!("{MARK} once -->")), loaded: loaded(FILE, Some(7)), disabled: false };
    assert_eq!(install(&changed, false), steps);
    let elsewhere = Seen { text: Some(text.clone()), ..of_session };
    assert_eq!(install(&elsewhere, false).len(), 4, "the file is right as it is");
    let off = Seen { text: Some(text), loaded: None, disabled: true };
    assert_eq!(
        install(&off, false)[2..],
        ["enable gui/dev.axd.axd".to_owned(), "bootstrap gui /a/dev.axd.axd.plist".to_owned()]
    );
}

#[test]
fn a_file_of_another_hand_is_left_alone_unless_forced() {
    let theirs = Seen { text: Some("<plist/>".into()), ..Seen::default() };
    for refused in [launchd().install(&theirs, &files(false), false), launchd().uninstall(&theirs, false)] {
        let error = refused.unwrap_err();
        assert!(error.message.contains(FILE) && error.suggestion.contains("--force"), "{error:?}");
    }
    assert!(!launchd().install(&theirs, &files(false), true).unwrap().is_empty());
    assert_eq!(told(launchd().uninstall(&theirs, true)), ["remove /a/dev.axd.axd.plist"]);
}

#[test]
fn uninstalling_and_stopping_have_launchd_let_go() {
    assert!(told(launchd().uninstall(&Seen::default(), false)).is_empty());
    assert!(told(launchd().stop(&Seen::default())).is_empty());
    let up = Seen { text: Some(files(true)[0].text.clone()), loaded: loaded(FILE, Some(7)), disabled: false };
    assert_eq!(
        told(launchd().uninstall(&up, false)),
        ["bootout gui/dev.axd.axd", "remove /a/dev.axd.axd.plist"]
    );
    assert_eq!(told(launchd().stop(&up)), ["bootout gui/dev.axd.axd"]);
    assert!(
        matches!(&launchd().stop(&up).unwrap()[0], Step::BootOut { pid: Some(7), .. }),
        "and wait for its end"
    );
}

#[test]
fn starting_loads_and_runs_what_does_not_run_by_itself() {
    let error = launchd().start(&Seen::default()).unwrap_err();
    assert_eq!(error.retry_command.as_deref(), Some("service install"));
    let seen = |socket, loaded| Seen { text: Some(files(socket)[0].text.clone()), loaded, disabled: false };
    assert_eq!(told(launchd().start(&seen(false, None))), ["bootstrap gui /a/dev.axd.axd.plist"]);
    assert_eq!(
        told(launchd().start(&seen(true, None))),
        ["bootstrap gui /a/dev.axd.axd.plist", "kickstart gui/dev.axd.axd"]
    );
    assert_eq!(told(launchd().start(&seen(true, loaded(FILE, None)))), ["kickstart gui/dev.axd.axd"]);
    assert!(told(launchd().start(&seen(true, loaded(FILE, Some(7))))).is_empty());
}

#[test]
fn the_state_is_told_in_the_words_that_are_the_same_everywhere() {
    let mut seen =
        Seen { text: Some(files(true)[0].text.clone()), loaded: loaded(FILE, None), disabled: false };
    let state = launchd().state(&seen);
    assert_eq!(
        (state.installed, state.enabled, state.active, state.socket_activation),
        (true, true, false, true)
    );
    assert_eq!(
        (state.listening, state.state.as_str(), state.unit.as_deref()),
        (true, "inactive", Some(FILE))
    );
    seen.loaded.as_mut().unwrap().last_exit = Some(1);
    assert_eq!(launchd().state(&seen).state, "failed");
    assert!(launchd().notes(&seen).join("\n").contains("/l/stderr.log"));
    seen.loaded = loaded(FILE, Some(7));
    let state = launchd().state(&seen);
    assert_eq!((state.active, state.pid, state.state.as_str()), (true, Some(7), "active"));
}

#[test]
fn notes_say_what_to_do() {
    let text = Some(files(false)[0].text.clone());
    for (seen, said) in [
        (Seen::default(), "ax service install"),
        (Seen { loaded: loaded("/s/x.plist", Some(7)), ..Seen::default() }, "for this session"),
        (Seen { text: text.clone(), loaded: loaded(FILE, Some(7)), disabled: false }, "Accessibility"),
        (Seen { text, loaded: None, disabled: true }, "Login Items"),
    ] {
        let notes = launchd().notes(&seen).join("\n");
        assert!(notes.contains(said), "{said} in {notes}");
    }
}
