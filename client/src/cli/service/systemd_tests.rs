//! Tests of `systemd.rs`: which steps lead from where to where.

use super::*;

/// How things are: each unit as `file text, file state, active state`; an empty text is no file.
fn status(service: [&str; 3], socket: [&str; 3]) -> SystemdStatus {
    let unit = |[text, file_state, active]: [&str; 3]| Unit {
        load: if text.is_empty() { "not-found" } else { "loaded" }.into(),
        active: active.into(),
        file_state: file_state.into(),
        fragment: if text.is_empty() { String::new() } else { "/u/axd.service".into() },
        pid: None,
        needs_reload: false,
        text: (!text.is_empty()).then(|| text.to_owned()),
    };
    SystemdStatus { service: unit(service), socket: unit(socket), session: true }
}

const NONE: [&str; 3] = ["", "", "inactive"];
const OLD: &str = "# Written by `ax service install`, once";

fn systemd() -> Systemd {
    Systemd { folder: "/u".into() }
}

fn files(with_socket: bool) -> Vec<ServiceFile> {
    let spec = ServiceSpec {
        program: "/usr/bin/axd".into(),
        platform: None,
        socket: None,
        socket_activation: with_socket,
    };
    systemd().files(&spec).unwrap()
}

fn steps_of(steps: Result<Vec<Step>, Error>) -> Vec<String> {
    let short = |step: &Step| step.to_string().replace("run systemctl --user ", "").replace("/u/", "");
    steps.unwrap().iter().map(short).collect()
}

fn install(status: &SystemdStatus, with_socket: bool) -> Vec<String> {
    steps_of(systemd().install(status, &files(with_socket), false))
}

#[test]
fn a_first_install_writes_reloads_and_enables() {
    let nothing = status(NONE, NONE);
    assert_eq!(install(&nothing, false), ["write axd.service", "daemon-reload", "enable --now axd.service"]);
    assert_eq!(
        install(&nothing, true),
        ["write axd.service", "write axd.socket", "daemon-reload", "enable --now axd.socket"]
    );
}

#[test]
fn installing_what_is_installed_and_runs_takes_no_steps() {
    let (plain, both) = (files(false), files(true));
    assert!(install(&status([&plain[0].text, "enabled", "active"], NONE), false).is_empty());
    let socket = [both[1].text.as_str(), "enabled", "active"];
    for state in ["active", "inactive"] {
        assert!(install(&status([&both[0].text, "disabled", state], socket), true).is_empty(), "{state}");
    }
}

#[test]
fn installing_again_takes_only_the_steps_that_are_missing() {
    let plain = files(false);
    let stopped = status([&plain[0].text, "enabled", "inactive"], NONE);
    assert_eq!(install(&stopped, false), ["enable --now axd.service"]);
    let failed = status([&plain[0].text, "enabled", "failed"], NONE);
    assert_eq!(install(&failed, false), ["reset-failed axd.service", "enable --now axd.service"]);
    let of_old = status([OLD, "enabled", "active"], NONE);
    assert_eq!(
        install(&of_old, false),
        ["write axd.service", "daemon-reload", "enable --now axd.service", "restart axd.service"]
    );
    let mut edited = status([&plain[0].text, "enabled", "active"], NONE);
    edited.service.needs_reload = true;
    assert_eq!(install(&edited, false), ["daemon-reload", "enable --now axd.service", "restart axd.service"]);
}

#[test]
fn socket_activation_comes_and_goes_with_the_last_install() {
    let (plain, both) = (files(false), files(true));
    let without = status([&plain[0].text, "enabled", "active"], NONE);
    assert_eq!(
        install(&without, true),
        [
            "stop axd.service",
            "disable axd.service",
            "write axd.socket",
            "daemon-reload",
            "enable --now axd.socket"
        ]
    );
    let with = status([&both[0].text, "disabled", "active"], [&both[1].text, "enabled", "active"]);
    assert_eq!(
        install(&with, false),
        [
            "stop axd.socket axd.service",
            "disable axd.socket",
            "remove axd.socket",
            "daemon-reload",
            "enable --now axd.service"
        ]
    );
}

#[test]
fn a_unit_file_of_another_hand_is_left_alone_unless_forced() {
    let theirs = status(["[Unit]\n", "enabled", "active"], NONE);
    for refused in [systemd().install(&theirs, &files(false), false), systemd().uninstall(&theirs, false)] {
        let error = refused.unwrap_err();
        assert!(
            error.message.contains("/u/axd.service") && error.suggestion.contains("--force"),
            "{error:?}"
        );
    }
    assert!(!systemd().install(&theirs, &files(false), true).unwrap().is_empty());
    assert!(!systemd().uninstall(&theirs, true).unwrap().is_empty());
    let mut packaged = status(["x", "enabled", "active"], NONE);
    packaged.service.text = None;
    assert!(systemd().uninstall(&packaged, true).unwrap_err().suggestion.contains("disable --now"));
}

#[test]
fn uninstalling_disables_removes_and_reloads_and_is_nothing_when_nothing_is_there() {
    assert!(steps_of(systemd().uninstall(&status(NONE, NONE), false)).is_empty());
    assert_eq!(
        steps_of(systemd().uninstall(&status([OLD, "enabled", "failed"], NONE), false)),
        ["disable --now axd.service", "reset-failed axd.service", "remove axd.service", "daemon-reload"]
    );
    assert_eq!(
        steps_of(
            systemd().uninstall(&status([OLD, "disabled", "active"], [OLD, "enabled", "active"]), false)
        ),
        ["disable --now axd.socket axd.service", "remove axd.socket", "remove axd.service", "daemon-reload"]
    );
}

#[test]
fn starting_and_stopping_take_the_socket_along() {
    let with = status([OLD, "disabled", "inactive"], [OLD, "enabled", "inactive"]);
    assert_eq!(steps_of(systemd().start(&with)), ["start axd.socket axd.service"]);
    assert!(steps_of(systemd().stop(&with)).is_empty());
    let alone = status([OLD, "disabled", "active"], [OLD, "enabled", "failed"]);
    assert_eq!(
        steps_of(systemd().start(&alone)),
        ["reset-failed axd.socket", "stop axd.service", "start axd.socket axd.service"]
    );
    let running = status([OLD, "disabled", "active"], [OLD, "enabled", "active"]);
    assert!(steps_of(systemd().start(&running)).is_empty());
    assert_eq!(steps_of(systemd().stop(&running)), ["stop axd.socket axd.service"]);
    let error = systemd().start(&status(NONE, NONE)).unwrap_err();
    assert_eq!(error.retry_command.as_deref(), Some("service install"));
}

#[test]
fn what_systemctl_shows_is_read_whatever_its_order() {
    let steps_of = "MainPID=77\nId=axd.service\nLoadState=loaded\nActiveState=active\nFragmentPath=/u/axd.service\n\
                UnitFileState=enabled\nNeedDaemonReload=no\n\nId=axd.socket\nLoadState=not-found\n\
                ActiveState=inactive\nUnitFileState=\n\nId=graphical-session.target\nActiveState=active\n";
    let status = parse_show(steps_of);
    assert!(status.session);
    let state = systemd().state(&status);
    assert_eq!((state.installed, state.enabled, state.active, state.pid), (true, true, true, Some(77)));
    assert_eq!(state.unit.as_deref(), Some("/u/axd.service"));
    assert!(!state.socket_activation);
    assert_eq!(systemd().notes(&status), Vec::<String>::new());
}

#[test]
fn notes_say_what_to_do() {
    for (mut status, said) in [
        (status(NONE, NONE), "ax service install"),
        (status([OLD, "enabled", "failed"], NONE), "journalctl"),
        (status([OLD, "enabled", "active"], NONE), "--socket-activation"),
    ] {
        status.session = false;
        let notes = systemd().notes(&status).join("\n");
        assert!(notes.contains(said), "{said} in {notes}");
    }
}
