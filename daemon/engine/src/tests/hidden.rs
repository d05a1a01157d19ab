//! Windows that may not be read: of the desktop, of trees, of events and of what is still in the log.

use std::sync::Arc;

use axd_protocol::ErrorCode;
use axd_protocol::event::Event;
use serde_json::Value;

use super::fake_desktop::{LABEL, MAIL, NOTES, window_of};
use super::{Rig, button_of, code_of, drained, id_of};
use crate::desktop::state::DesktopChange;
use axd_platform::RunningApp;

/// Hides the windows of an app whose title contains a word.
fn hide(rig: &Rig, app: &'static str, word: &'static str) {
    rig.engine
        .set_hidden(Arc::new(move |seen: &RunningApp, title: &str| seen.name == app && title.contains(word)));
}

/// The kind and the window or element of every event so far, as text.
fn logged(rig: &Rig) -> Vec<String> {
    let log = rig.engine.event_log.lock();
    log.between(0, log.next()).map(|event| serde_json::to_string(event).unwrap()).collect()
}

async fn windows(rig: &Rig) -> Vec<String> {
    let answer = rig.run(&rig.client(), "list-windows").await;
    let titles = answer["data"]["windows"].as_array().unwrap().iter();
    titles.map(|window| window["title"].as_str().unwrap().to_owned()).collect()
}

/// Runs a request and expects it to fail with this code. Nothing of the answer may contain what is hidden.
async fn fails(rig: &Rig, words: &str, code: ErrorCode) -> Value {
    let answer = rig.begin(&rig.client(), words).answer().await;
    assert_eq!(code_of(&answer), Some(code), "{words}: {answer}");
    assert!(!answer.to_string().contains("Secret"), "{words}: {answer}");
    answer
}

#[tokio::test(start_paused = true)]
async fn a_hidden_window_is_in_no_answer_about_the_desktop_or_its_app() {
    let rig = Rig::new();
    rig.notes().await;
    rig.attached(MAIL).await;
    rig.desktop.rename_window(NOTES, "Secret plan", true, true);
    drained().await;
    assert_eq!(windows(&rig).await, ["Secret plan", "Window"]);
    hide(&rig, "Notes", "Secret");
    assert_eq!(windows(&rig).await, ["Window"]);
    let apps = rig.run(&rig.client(), "list-apps").await["data"]["apps"].clone();
    let counts: Vec<_> = apps.as_array().unwrap().iter().map(|app| app["windows"].clone()).collect();
    assert_eq!(counts, [0, 1], "{apps}");
    let snapshot = rig.run(&rig.client(), r#"snapshot {"app":"Notes"}"#).await.to_string();
    assert!(!snapshot.contains("Secret") && !snapshot.contains("Save"), "{snapshot}");
    let found = rig.run(&rig.client(), r#"find {"selector":"button","app":"Notes"}"#).await.to_string();
    assert!(!found.contains("Save"), "{found}");
    for words in [
        r#"get {"target":"button:Save","app":"Notes"}"#,
        r#"focused {"app":"Notes"}"#,
        r#"element-at {"point":"120,110"}"#,
    ] {
        fails(&rig, words, ErrorCode::ElementNotFound).await;
    }
    for words in [
        r#"focus-window {"window":"Secret plan","app":"Notes"}"#.to_owned(),
        format!(r#"minimize {{"window":"{}"}}"#, window_of(NOTES)),
        r#"screenshot {"app":"Notes"}"#.to_owned(),
    ] {
        fails(&rig, &words.replace("Secret plan", "plan"), ErrorCode::WindowNotFound).await;
    }
    fails(&rig, r#"wait {"window":"plan","timeout":20}"#, ErrorCode::Timeout).await;
    hide(&rig, "Notes", "Nothing");
    assert_eq!(windows(&rig).await, ["Secret plan", "Window"]);
}

#[tokio::test(start_paused = true)]
async fn an_action_on_an_element_of_a_hidden_window_fails_and_does_nothing() {
    let rig = Rig::new();
    let notes = rig.notes().await;
    let button = button_of(&notes);
    hide(&rig, "Notes", "Window");
    let press = format!(r#"click {{"target":"{button}"}}"#);
    let answer = fails(&rig, &press, ErrorCode::StaleRef).await;
    assert_eq!(answer["error"]["disposition"]["delivery"], "not_delivered", "{answer}");
    fails(&rig, r#"click {"target":"button:Save","app":"Notes"}"#, ErrorCode::ElementNotFound).await;
    assert_eq!(rig.desktop.done(), [""; 0]);
    // The same for a client that never saw it.
    let rig = Rig::new();
    hide(&rig, "Notes", "Window");
    rig.notes().await;
    fails(&rig, &press, ErrorCode::ElementNotFound).await;
    assert_eq!(rig.desktop.done(), [""; 0]);
}

#[tokio::test(start_paused = true)]
async fn a_window_goes_and_comes_as_an_event_when_its_title_does() {
    let rig = Rig::new();
    rig.notes().await;
    hide(&rig, "Notes", "Secret");
    drained().await;
    let before = logged(&rig).len();
    rig.desktop.rename_window(NOTES, "Secret", true, true);
    drained().await;
    rig.desktop.rename_window(NOTES, "Secret too", true, true);
    drained().await;
    rig.desktop.rename_window(NOTES, "Open", true, true);
    drained().await;
    let log = logged(&rig).split_off(before);
    assert_eq!(log.len(), 2, "{log:?}");
    assert!(log[0].contains("window-closed") && log[0].contains("\"Window\""), "{log:?}");
    assert!(log[1].contains("window-opened") && log[1].contains("\"Open\""), "{log:?}");
}

#[tokio::test(start_paused = true)]
async fn what_the_desktop_hides_its_app_does_not_show_under_another_title() {
    let rig = Rig::new();
    let notes = rig.notes().await;
    hide(&rig, "Notes", "Secret");
    let shown = || notes.tree.read().windows().count();
    assert_eq!(shown(), 1);
    rig.desktop.rename_window(NOTES, "Secret", false, true);
    drained().await;
    assert_eq!(shown(), 0, "the tree hides it by its number");
    rig.desktop.rename_window(NOTES, "Open", false, true);
    drained().await;
    assert_eq!(shown(), 1);
    assert_eq!(windows(&rig).await, ["Open", "Window"]);
    rig.desktop.rename_window(NOTES, "Secret", true, false);
    drained().await;
    assert_eq!(shown(), 0);
    assert_eq!(windows(&rig).await, ["Window"], "and the other way round");
    fails(&rig, &format!(r#"screenshot {{"window":"{}"}}"#, window_of(NOTES)), ErrorCode::WindowNotFound)
        .await;
    rig.desktop.rename_window(NOTES, "Shown", true, false);
    drained().await;
    assert_eq!((shown(), windows(&rig).await), (1, vec!["Open".to_owned(), "Window".to_owned()]));
    rig.desktop.rename_window(NOTES, "Secret", true, true);
    drained().await;
    assert_eq!((shown(), windows(&rig).await), (0, vec!["Window".to_owned()]));
    rig.desktop.rename_window(NOTES, "Shown", true, true);
    drained().await;
    assert_eq!((shown(), windows(&rig).await), (1, vec!["Shown".to_owned(), "Window".to_owned()]));
}

#[tokio::test(start_paused = true)]
async fn an_app_that_is_attached_anew_hides_at_once() {
    let rig = Rig::new();
    hide(&rig, "Mail", "Window");
    let mail = rig.attached(MAIL).await;
    assert_eq!(mail.tree.read().len(), 1);
    rig.run(&rig.client(), r#"detach {"app":"Mail"}"#).await;
    assert_eq!(rig.attached(MAIL).await.tree.read().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_window_that_a_tree_hides_stays_hidden_while_its_app_is_detached() {
    let rig = Rig::new();
    rig.notes().await;
    hide(&rig, "Notes", "Secret");
    rig.desktop.rename_window(NOTES, "Secret", true, false);
    drained().await;
    assert_eq!(windows(&rig).await.len(), 1);
    rig.run(&rig.client(), r#"detach {"app":"Notes"}"#).await;
    assert_eq!(windows(&rig).await.len(), 1);
    // When it is read again it has another title.
    rig.notes().await;
    drained().await;
    assert_eq!(windows(&rig).await.len(), 2);
}

#[tokio::test(start_paused = true)]
async fn announcements_of_an_app_with_a_hidden_window_are_withheld() {
    let rig = Rig::new();
    rig.notes().await;
    rig.attached(MAIL).await;
    hide(&rig, "Notes", "Window");
    drained().await;
    let before = logged(&rig).len();
    rig.desktop.announce_text(NOTES, "You have a secret");
    rig.desktop.announce_text(MAIL, "You have mail");
    drained().await;
    let log = logged(&rig).split_off(before);
    assert!(log.len() == 1 && log[0].contains("You have mail"), "{log:?}");
}

#[tokio::test(start_paused = true)]
async fn changes_in_a_hidden_window_wake_nobody() {
    let rig = Rig::new();
    let notes = rig.notes().await;
    let label = id_of(&notes, LABEL);
    hide(&rig, "Notes", "Window");
    drained().await;
    let tick = notes.tree.read().tick();
    rig.desktop.change_label(NOTES);
    drained().await;
    assert_eq!(notes.tree.read().tick(), tick);
    hide(&rig, "Notes", "Nothing");
    let tree = notes.tree.read();
    assert_eq!(tree.name(tree.by_id(label).unwrap()), Some("Change 1"), "it was kept true meanwhile");
}

#[tokio::test(start_paused = true)]
async fn events_in_the_log_about_what_is_hidden_now_are_not_told() {
    let rig = Rig::new();
    let notes = rig.notes().await;
    let clock = rig.engine.clock.now();
    rig.desktop.rename_window(NOTES, "Secret", true, true);
    drained().await;
    let is_told = || {
        let log = rig.engine.event_log.lock();
        let events: Vec<Event> = log.between(0, log.next()).cloned().collect();
        drop(log);
        let hidden = |event: &Event| {
            crate::subscribe::event_log::event_data(event)
                .is_some_and(|(_, data)| rig.engine.is_hidden_event(data))
        };
        events.iter().filter(|event| !hidden(event)).any(|event| format!("{event:?}").contains("Secret"))
    };
    assert!(is_told());
    hide(&rig, "Notes", "Secret");
    assert!(!is_told());
    let wait = format!(r#"wait {{"event":["window-changed"],"since":"{clock}","timeout":20}}"#);
    fails(&rig, &wait, ErrorCode::Timeout).await;
    // The event still says which app it was about when that app has ended.
    rig.desktop.end_app(NOTES);
    drained().await;
    assert!(notes.tree.read().is_empty() && !is_told());
}

#[test]
fn a_window_that_an_app_leaves_behind_stays_hidden() {
    use axd_platform::DesktopEvent::{AppGone, AppUp, Windows};
    let rig_window = |title: &str| axd_platform::DesktopWindow {
        window: 1,
        pid: 7,
        title: title.into(),
        bounds: None,
        minimized: false,
        maximized: false,
        splash: false,
    };
    let mut desktop = crate::desktop::state::DesktopState::default();
    desktop.apply(AppUp(super::fake_desktop::running_app(NOTES)));
    let hides: Arc<crate::HidesWindow> =
        Arc::new(|seen: &RunningApp, title: &str| seen.name == "Notes" && title == "Secret");
    desktop.set_hidden(crate::desktop::hidden::HiddenBy(Some(hides)));
    assert_eq!(desktop.apply(Windows(vec![rig_window("Secret")])), [DesktopChange::Hidden(7)]);
    desktop.apply(AppGone { pid: 7 });
    assert_eq!(desktop.apply(Windows(vec![rig_window("Secret")])), []);
    assert_eq!(desktop.apply(Windows(Vec::new())), [], "a window that nobody saw does not close");
    // Until its app is known nobody can say; then it goes.
    let opened = desktop.apply(Windows(vec![rig_window("Secret")]));
    assert!(matches!(opened[..], [DesktopChange::Opened(_)]), "{opened:?}");
    let up = desktop.apply(AppUp(super::fake_desktop::running_app(NOTES)));
    assert!(
        matches!(up[..], [DesktopChange::Launched(_), DesktopChange::Closed(_), DesktopChange::Hidden(7)]),
        "{up:?}"
    );
}
