//! Tests of `launchd.rs`: which steps lead from where to where.

use super::*;

fn launchd() -> Launchd {
    let paths = Paths { socket: "/s/axd.sock".into(), config: "/s/policy.toml".into(), state: "/l".into() };
    Launchd { folder: "/a".into(), paths }
}

fn files(socket_activation: bool) -> Vec<ServiceFile> {
    let spec =
        ServiceSpec { program: "/usr/local/bin/axd".into(), platform: None, socket: None, socket_activation };
    launchd().files(&spec).unwrap()
}

/// An agent that was loaded from this file; with a process, or without.
fn loaded(path: &str, pid: Option<u32>) -> Option<Loaded> {
    let state = if pid.is_some() { "running" } else { "not running" };
    Some(Loaded { path: path.into(), state: state.into(), pid, last_exit: None })
}

fn steps_of(steps: Result<Vec<Step>, Error>) -> Vec<String> {
    let uid = nix::unistd::getuid();
    let short =
        |step: &Step| step.to_string().replace("run launchctl ", "").replace(&format!("gui/{uid}"), "gui");
    steps.unwrap().iter().map(short).collect()
}

fn install(status: &LaunchdStatus, socket_activation: bool) -> Vec<String> {
    steps_of(launchd().install(status, &files(socket_activation), false))
}

const FILE: &str = "/a/dev.axd.axd.plist";

#[test]
fn a_first_install_makes_the_folders_writes_and_loads() {
    let steps = [
        "create the folder /s",
        "create the folder /l",
        "write /a/dev.axd.axd.plist",
        "bootstrap gui /a/dev.axd.axd.plist",
        "kickstart gui/dev.axd.axd",
    ];
    assert_eq!(install(&LaunchdStatus::default(), false), steps);
    assert_eq!(install(&LaunchdStatus::default(), true), steps[..4], "it starts when somebody asks");
    assert_ne!(files(false), files(true));
}

#[test]
fn installing_what_is_installed_and_runs_takes_no_steps() {
    let status = |socket, pid| LaunchdStatus {
        text: Some(files(socket)[0].text.clone()),
        loaded: loaded(FILE, pid),
        disabled: false,
    };
    assert!(install(&status(false, Some(7)), false).is_empty());
    assert!(install(&status(true, None), true).is_empty(), "it starts when somebody asks");
    assert_eq!(install(&status(false, None), false), ["kickstart gui/dev.axd.axd"]);
}

#[test]
fn an_agent_that_changed_or_was_loaded_from_elsewhere_is_loaded_anew() {
    let text = files(false)[0].text.clone();
    let of_session =
        LaunchdStatus { text: None, loaded: loaded("/s/dev.axd.axd.plist", Some(7)), disabled: false };
    let steps = install(&of_session, false);
    assert_eq!((steps[0].as_str(), steps.len()), ("bootout gui/dev.axd.axd", 6));
    let changed = LaunchdStatus {
        text: Some(format!("{MARK} once -->")),
        loaded: loaded(FILE, Some(7)),
        disabled: false,
    };
    assert_eq!(install(&changed, false), steps);
    let elsewhere = LaunchdStatus { text: Some(text.clone()), ..of_session };
    assert_eq!(install(&elsewhere, false).len(), 5, "the file is right as it is");
    let off = LaunchdStatus { text: Some(text), loaded: None, disabled: true };
    assert_eq!(
        install(&off, false)[2..],
        ["enable gui/dev.axd.axd", "bootstrap gui /a/dev.axd.axd.plist", "kickstart gui/dev.axd.axd"]
    );
}

#[test]
fn a_file_of_another_hand_is_left_alone_unless_forced() {
    let theirs = LaunchdStatus { text: Some("<plist/>".into()), ..LaunchdStatus::default() };
    for refused in [launchd().install(&theirs, &files(false), false), launchd().uninstall(&theirs, false)] {
        let error = refused.unwrap_err();
        assert!(error.message.contains(FILE) && error.suggestion.contains("--force"), "{error:?}");
    }
    assert!(!launchd().install(&theirs, &files(false), true).unwrap().is_empty());
    assert_eq!(steps_of(launchd().uninstall(&theirs, true)), ["remove /a/dev.axd.axd.plist"]);
}

#[test]
fn uninstalling_and_stopping_have_launchd_let_go() {
    assert!(steps_of(launchd().uninstall(&LaunchdStatus::default(), false)).is_empty());
    assert!(steps_of(launchd().stop(&LaunchdStatus::default())).is_empty());
    let up = LaunchdStatus {
        text: Some(files(true)[0].text.clone()),
        loaded: loaded(FILE, Some(7)),
        disabled: false,
    };
    assert_eq!(
        steps_of(launchd().uninstall(&up, false)),
        ["bootout gui/dev.axd.axd", "remove /a/dev.axd.axd.plist"]
    );
    assert_eq!(steps_of(launchd().stop(&up)), ["bootout gui/dev.axd.axd"]);
    assert!(
        matches!(&launchd().stop(&up).unwrap()[0], Step::Unload { pid: Some(7), .. }),
        "and wait for its end"
    );
}

#[test]
fn starting_loads_and_runs_what_does_not_run_by_itself() {
    let error = launchd().start(&LaunchdStatus::default()).unwrap_err();
    assert_eq!(error.retry_command.as_deref(), Some("service install"));
    let status =
        |socket, loaded| LaunchdStatus { text: Some(files(socket)[0].text.clone()), loaded, disabled: false };
    for socket_activation in [false, true] {
        assert_eq!(
            steps_of(launchd().start(&status(socket_activation, None))),
            ["bootstrap gui /a/dev.axd.axd.plist", "kickstart gui/dev.axd.axd"]
        );
    }
    assert_eq!(steps_of(launchd().start(&status(true, loaded(FILE, None)))), ["kickstart gui/dev.axd.axd"]);
    assert!(steps_of(launchd().start(&status(true, loaded(FILE, Some(7))))).is_empty());
}

#[test]
fn the_state_is_told_in_the_words_that_are_the_same_everywhere() {
    let mut status = LaunchdStatus {
        text: Some(files(true)[0].text.clone()),
        loaded: loaded(FILE, None),
        disabled: false,
    };
    let state = launchd().state(&status);
    assert_eq!(
        (state.installed, state.enabled, state.active, state.socket_activation),
        (true, true, false, true)
    );
    assert_eq!(
        (state.listening, state.state.as_str(), state.unit.as_deref()),
        (true, "inactive", Some(FILE))
    );
    status.loaded.as_mut().unwrap().last_exit = Some(1);
    assert_eq!(launchd().state(&status).state, "failed");
    assert!(launchd().notes(&status).join("\n").contains("/l/stderr.log"));
    status.loaded = loaded(FILE, Some(7));
    let state = launchd().state(&status);
    assert_eq!((state.active, state.pid, state.state.as_str()), (true, Some(7), "active"));
}

#[test]
fn notes_say_what_to_do() {
    let text = Some(files(false)[0].text.clone());
    for (status, said) in [
        (LaunchdStatus::default(), "ax service install"),
        (
            LaunchdStatus { loaded: loaded("/s/x.plist", Some(7)), ..LaunchdStatus::default() },
            "for this session",
        ),
        (
            LaunchdStatus { text: text.clone(), loaded: loaded(FILE, Some(7)), disabled: false },
            "Accessibility",
        ),
        (LaunchdStatus { text, loaded: None, disabled: true }, "Login Items"),
    ] {
        let notes = launchd().notes(&status).join("\n");
        assert!(notes.contains(said), "{said} in {notes}");
    }
}
