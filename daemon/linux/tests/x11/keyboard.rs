//! Keys, modifiers and scripts that are stopped on the way.

use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::time::{Duration, Instant};

use axd_platform::{FailureKind, Gate, Input, InputStep, Judge, Platform, Sent};
use axd_protocol::keys::{Button, Key, Modifier, Named};
use axd_protocol::{Bounds, Point};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use x11rb::connection::Connection;
use x11rb::protocol::Event;
use x11rb::protocol::xkb::{ConnectionExt as _, Group, ID};
use x11rb::protocol::xproto::{
    AtomEnum, ChangeWindowAttributesAux, ConnectionExt as _, EventMask, InputFocus, KeyButMask, ModMask,
    PropMode,
};
use x11rb::protocol::xtest::ConnectionExt as _;
use x11rb::rust_connection::RustConnection;
use x11rb::wrapper::ConnectionExt as _;

use crate::desk::{Desk, inside, skipped};
use crate::painted::Painted;

const SHIFT: Key = Key::Modifier(Modifier::Shift);
const CTRL: Key = Key::Modifier(Modifier::Ctrl);

fn tap(key: Key) -> [InputStep; 2] {
    [InputStep::Key(key, true), InputStep::Key(key, false)]
}

fn combo(modifier: Key, key: Key) -> Vec<InputStep> {
    let mut steps = vec![InputStep::Key(modifier, true)];
    steps.extend(tap(key));
    steps.push(InputStep::Key(modifier, false));
    steps
}

fn text(text: &str) -> Vec<InputStep> {
    vec![InputStep::Text(text.to_owned())]
}

/// Somebody else at the X server.
struct Other(RustConnection, u32);

impl Other {
    fn new() -> Other {
        let (connection, screen) = x11rb::connect(None).unwrap();
        let root = connection.setup().roots[screen].root;
        connection.xkb_use_extension(1, 0).unwrap().reply().unwrap();
        Other(connection, root)
    }

    fn keys_down(&self) -> Vec<usize> {
        let keys = self.0.query_keymap().unwrap().reply().unwrap().keys;
        (0..256).filter(|code| keys[code / 8] & (1 << (code % 8)) != 0).collect()
    }

    fn mask(&self) -> KeyButMask {
        self.0.query_pointer(self.1).unwrap().reply().unwrap().mask
    }

    /// Takes the focus, as soon as the server lets anybody.
    fn focus(&self, window: u32) {
        self.0.set_input_focus(InputFocus::PARENT, window, x11rb::CURRENT_TIME).unwrap();
        self.0.flush().unwrap();
    }

    fn focused(&self) -> u32 {
        self.0.get_input_focus().unwrap().reply().unwrap().focus
    }

    fn mapping(&self) -> Vec<u32> {
        self.0.get_keyboard_mapping(8, 248).unwrap().reply().unwrap().keysyms
    }

    fn key(&self, keycode: u8, down: bool) {
        self.0.xtest_fake_input(if down { 2 } else { 3 }, keycode, 0, 0, 0, 0, 0).unwrap().check().unwrap();
    }
}

async fn holds(desk: &mut Desk, window: u64, wanted: &str) {
    let enough = |desk: &Desk| desk.echoed(window).chars().count() >= wanted.chars().count();
    desk.until(&format!("the text {wanted:?}"), enough).await;
    assert_eq!(desk.echoed(window), wanted);
}

async fn clear(desk: &mut Desk, window: u64) {
    let mut steps = combo(CTRL, Key::Char('a'));
    steps.extend(tap(Key::Named(Named::Backspace)));
    desk.input(steps).await.unwrap();
    desk.until("it is empty", |desk| desk.echoed(window).is_empty()).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn keys_and_combinations_do_what_they_do_for_a_person() {
    if !inside("keyboard::keys_and_combinations_do_what_they_do_for_a_person", &[]) {
        return;
    }
    let (mut desk, other) = (Desk::new().await, Other::new());
    let window = desk.echo("gtk3").await;
    desk.click(window).await;
    let before = other.mapping();
    let mut steps = Vec::new();
    for key in [Key::Char('a'), Key::Char('+'), Key::Char('é'), Key::Named(Named::Space), Key::Char('世')] {
        steps.extend(tap(key));
    }
    steps.extend(combo(SHIFT, Key::Char('b')));
    desk.input(steps).await.unwrap();
    holds(&mut desk, window, "a+é 世B").await;
    clear(&mut desk, window).await;
    desk.input(
        [
            text("xyz"),
            tap(Key::Named(Named::Left)).to_vec(),
            text("|"),
            tap(Key::Named(Named::Home)).to_vec(),
            text(">"),
        ]
        .concat(),
    )
    .await
    .unwrap();
    holds(&mut desk, window, ">xy|z").await;
    assert_eq!(other.mapping(), before, "keys that were lent are given back");
    assert_eq!(other.keys_down(), Vec::<usize>::new());
    assert_eq!(other.0.list_properties(other.1).unwrap().reply().unwrap().atoms.len(), {
        let note = other.0.intern_atom(false, b"_AXD_BORROWED_KEYS").unwrap().reply().unwrap().atom;
        let atoms = other.0.list_properties(other.1).unwrap().reply().unwrap().atoms;
        atoms.iter().filter(|atom| **atom != note).count()
    });
}

#[tokio::test(flavor = "multi_thread")]
async fn text_is_text_whatever_is_locked_or_held() {
    if !inside("keyboard::text_is_text_whatever_is_locked_or_held", &[]) {
        return;
    }
    let (mut desk, other) = (Desk::new().await, Other::new());
    let window = desk.echo("gtk3").await;
    desk.click(window).await;
    const TEXT: &str = "aBc äÖ 世 {1}";
    desk.input(tap(Key::Named(Named::CapsLock)).to_vec()).await.unwrap();
    assert!(u16::from(other.mask()) & 2 != 0, "Caps Lock is on");
    desk.input(text(TEXT)).await.unwrap();
    holds(&mut desk, window, TEXT).await;
    assert!(u16::from(other.mask()) & 2 != 0, "and on again");
    desk.input(tap(Key::Named(Named::CapsLock)).to_vec()).await.unwrap();
    clear(&mut desk, window).await;

    // Held by an earlier script: out of the way of the text, and held again after it.
    for key in [SHIFT, CTRL] {
        desk.input(vec![InputStep::Key(key, true)]).await.unwrap();
        let held = other.mask();
        assert_ne!(u16::from(held) & 0xff, 0);
        desk.input(text(TEXT)).await.unwrap();
        assert_eq!(other.mask(), held);
        desk.input(vec![InputStep::Key(key, false)]).await.unwrap();
        assert_eq!(u16::from(other.mask()) & 0xff, 0);
        holds(&mut desk, window, TEXT).await;
        clear(&mut desk, window).await;
    }

    // Held by somebody else: waited for, or refused before anything is sent.
    const SHIFT_R: u8 = 62;
    for held_by_us_too in [false, true] {
        desk.input(vec![InputStep::Key(SHIFT, held_by_us_too)]).await.unwrap();
        other.key(SHIFT_R, true);
        let gate = Gate::new();
        let asked = desk.platform.input(text(TEXT).into(), gate.clone());
        // That nothing is sent can only be seen by waiting for it in vain.
        tokio::time::sleep(Duration::from_millis(200)).await;
        assert!(!gate.is_sent());
        other.key(SHIFT_R, false);
        assert_eq!(asked.await.unwrap(), Ok(None));
        assert_eq!(gate.characters(), TEXT.chars().count() as u32);
        desk.input(vec![InputStep::Key(SHIFT, false)]).await.unwrap();
        holds(&mut desk, window, TEXT).await;
        clear(&mut desk, window).await;
    }
    other.key(SHIFT_R, true);
    let failure = desk.input(text("no")).await.unwrap_err();
    assert_eq!((failure.kind, failure.sent), (FailureKind::Refused, Sent::No), "{failure}");
    let gate = Gate::new();
    let asked = desk.platform.input(text("no").into(), gate.clone());
    gate.close();
    // Whoever waits to the end is refused instead.
    let failure = asked.await.unwrap().unwrap_err();
    assert_eq!((failure.kind, failure.sent), (FailureKind::Closed, Sent::No), "{failure}");
    other.key(SHIFT_R, false);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_script_that_is_stopped_lets_go_of_what_it_pressed_and_of_nothing_else() {
    if !inside("keyboard::a_script_that_is_stopped_lets_go_of_what_it_pressed_and_of_nothing_else", &[]) {
        return;
    }
    let (mut desk, other) = (Desk::new().await, Other::new());
    let window = desk.echo("gtk3").await;
    desk.click(window).await;
    desk.input(vec![InputStep::Key(SHIFT, true)]).await.unwrap();
    let before = other.keys_down();
    assert_eq!(before.len(), 1);
    let gate = Gate::new();
    let pause = InputStep::Pause(Duration::from_secs(60));
    let steps = vec![
        InputStep::Move(Point { x: 5, y: 700 }),
        InputStep::Key(CTRL, true),
        InputStep::Button(Button::Middle, true),
        pause.clone(),
    ];
    let started = Instant::now();
    let asked = desk.platform.input(steps.into(), gate.clone());
    desk.until_true("both are down", || {
        other.keys_down().len() == 2 && u16::from(other.mask()) & u16::from(KeyButMask::BUTTON2) != 0
    })
    .await;
    assert!(!gate.close());
    let failure = asked.await.unwrap().unwrap_err();
    assert!(started.elapsed() < Duration::from_secs(30));
    assert_eq!((failure.kind, failure.sent), (FailureKind::Closed, Sent::Yes), "{failure}");
    assert_eq!(other.keys_down(), before);
    assert_eq!(u16::from(other.mask()) & u16::from(KeyButMask::BUTTON2), 0);
    desk.input(vec![InputStep::Key(SHIFT, false)]).await.unwrap();
    assert_eq!(other.keys_down(), Vec::<usize>::new());

    // Closed before anything was sent.
    let gate = Gate::new();
    gate.close();
    let failure = desk.platform.input(text("never").into(), gate).await.unwrap().unwrap_err();
    assert_eq!((failure.kind, failure.sent), (FailureKind::Closed, Sent::No));
    // Closed in the middle of a text: what is there is the beginning of it, as long as was counted.
    // A title has room for so many characters only.
    let (gate, long) = (Gate::new(), "abcdefghij".repeat(190));
    let asked = desk.platform.input(text(&long).into(), gate.clone());
    while gate.characters() <= 50 {
        std::hint::spin_loop();
    }
    gate.close();
    let failure = asked.await.unwrap().unwrap_err();
    assert_eq!((failure.kind, failure.sent), (FailureKind::Closed, Sent::Yes));
    let typed = gate.characters() as usize;
    assert!(typed < long.len());
    desk.input(text("!")).await.unwrap();
    desk.until("the rest is typed", |desk| desk.echoed(window).ends_with('!')).await;
    assert_eq!(desk.echoed(window).len(), typed + 1);
    // What makes no sense is said before anything is sent.
    let failure = desk.input([tap(Key::Char('a')).to_vec(), text("\u{1b}")].concat()).await.unwrap_err();
    assert_eq!((failure.kind, failure.sent), (FailureKind::Invalid, Sent::No));
}

/// Stops an app. One that happens to have the X server to itself just then would stop everybody: it goes on, and is
/// stopped again.
fn stop(pid: Pid) {
    const ANSWERS: Duration = Duration::from_secs(2);
    loop {
        kill(pid, Signal::SIGSTOP).unwrap();
        let (tell, told) = std::sync::mpsc::channel();
        std::thread::spawn(move || {
            Other::new().mask();
            tell.send(()).unwrap();
        });
        if told.recv_timeout(ANSWERS).is_ok() {
            return;
        }
        kill(pid, Signal::SIGCONT).unwrap();
        told.recv().unwrap();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_app_that_hangs_is_not_typed_to_with_a_map_it_has_not_read() {
    if !inside("keyboard::an_app_that_hangs_is_not_typed_to_with_a_map_it_has_not_read", &[]) {
        return;
    }
    let (mut desk, other) = (Desk::new().await, Other::new());
    let window = desk.echo("gtk3").await;
    desk.click(window).await;
    let before = other.mapping();
    let pid = Pid::from_raw(desk.window(window).pid as i32);
    stop(pid);
    let failure = desk.input(text("ab世界")).await.unwrap_err();
    assert_eq!((failure.kind, failure.sent), (FailureKind::Unresponsive, Sent::Yes), "{failure}");
    kill(pid, Signal::SIGCONT).unwrap();
    holds(&mut desk, window, "ab").await;
    desk.input(text("世界!")).await.unwrap();
    holds(&mut desk, window, "ab世界!").await;
    assert_eq!(other.mapping(), before);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_map_stays_until_who_got_the_keys_has_read_them_whoever_has_the_focus_then() {
    let name = "keyboard::the_map_stays_until_who_got_the_keys_has_read_them_whoever_has_the_focus_then";
    if !inside(name, &[]) {
        return;
    }
    let (mut desk, other) = (Desk::new().await, Other::new());
    let before = other.mapping();
    let thief = desk.echo("gtk3").await;
    let window = desk.another_echo("gtk3", thief).await;
    desk.click(window).await;
    let pid = Pid::from_raw(desk.window(window).pid as i32);
    let (at_once, asked) = (Other::new(), AtomicU32::new(0));
    let judge = Judge::new(move |_, receiver| {
        assert_eq!(receiver.window, Some(window));
        // The first time it is asked the app has not read yet how keys are lent. The second time the keys follow: the app does not
        // come to read them, and somebody takes the focus as soon as anybody else can do anything.
        if asked.fetch_add(1, Relaxed) == 1 {
            kill(pid, Signal::SIGSTOP).unwrap();
            at_once.focus(thief as u32);
        }
        Ok(())
    });
    let mut steps = text("世");
    steps.push(InputStep::Pause(Duration::from_millis(100)));
    let input = Input { steps, judge };
    desk.call(|platform, gate| platform.input(input, gate)).await.unwrap();
    desk.until_true("the focus is taken", || other.focused() != window as u32).await;
    assert!(other.mapping() != before, "given back before it was read");
    kill(pid, Signal::SIGCONT).unwrap();
    holds(&mut desk, window, "世").await;
    desk.until_true("the keys are given back", || other.mapping() == before).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn keys_that_a_killed_daemon_had_lent_are_given_back() {
    if !inside("keyboard::keys_that_a_killed_daemon_had_lent_are_given_back", &[]) {
        return;
    }
    let other = Other::new();
    let before = other.mapping();
    let free = (8..=255u8).find(|code| {
        let per = before.len() / 248;
        before[usize::from(code - 8) * per..][..per].iter().all(|symbol| *symbol == 0)
    });
    let free = free.expect("a key with nothing on it");
    other.0.change_keyboard_mapping(1, free, 2, &[0x0100_4e16, 0x0100_4e16]).unwrap().check().unwrap();
    let note = other.0.intern_atom(false, b"_AXD_BORROWED_KEYS").unwrap().reply().unwrap().atom;
    // An owner that is gone, and the number that its window had.
    let words = [0x00de_ad01, 1, 2, u32::from(free), 0, 0];
    other
        .0
        .change_property32(PropMode::REPLACE, other.1, note, AtomEnum::CARDINAL, &words)
        .unwrap()
        .check()
        .unwrap();
    assert_ne!(other.mapping(), before);
    let mut desk = Desk::new().await;
    desk.until_true("the keys are given back, before there is any input", || other.mapping() == before).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn any_layout_types_any_text() {
    if !inside("keyboard::any_layout_types_any_text", &[]) {
        return;
    }
    let (mut desk, other) = (Desk::new().await, Other::new());
    let window = desk.echo("gtk3").await;
    desk.click(window).await;
    const TEXT: &str = "Zoë@home: {[€~]} \\ Привет, мир! Ωµ 'ß'";
    for (layout, group) in [("de", Group::M1), ("fr", Group::M1), ("us,ru", Group::M1), ("us,ru", Group::M2)]
    {
        let set = std::process::Command::new("setxkbmap").arg(layout).status();
        if !set.is_ok_and(|set| set.success()) {
            skipped("keyboard::any_layout_types_any_text", "setxkbmap");
            return;
        }
        let device = u16::from(ID::USE_CORE_KBD);
        let none = ModMask::from(0u8);
        other
            .0
            .xkb_latch_lock_state(device, none, none, true, group, none, false, 0)
            .unwrap()
            .check()
            .unwrap();
        desk.input(text(TEXT)).await.unwrap();
        holds(&mut desk, window, TEXT).await;
        // A shortcut means the key, whatever it types in the group in force.
        clear(&mut desk, window).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_pointer_moves_clicks_and_turns_its_wheel() {
    if !inside("keyboard::the_pointer_moves_clicks_and_turns_its_wheel", &["--no-wm"]) {
        return;
    }
    let desk = Desk::new().await;
    let target = Painted::new(Bounds { x: 100, y: 100, width: 200, height: 100 }, [9, 9, 9], false);
    let listen = ChangeWindowAttributesAux::new()
        .event_mask(EventMask::BUTTON_PRESS | EventMask::BUTTON_RELEASE | EventMask::POINTER_MOTION);
    target.connection.change_window_attributes(target.window, &listen).unwrap().check().unwrap();
    // A left-handed person's mouse: the first button means the third.
    let map = target.connection.get_pointer_mapping().unwrap().reply().unwrap().map;
    let mut swapped = map.clone();
    swapped.swap(0, 2);
    target.connection.set_pointer_mapping(&swapped).unwrap().reply().unwrap();
    desk.input(vec![
        InputStep::Move(Point { x: 110, y: 120 }),
        InputStep::Button(Button::Left, true),
        InputStep::Move(Point { x: 150, y: 130 }),
        InputStep::Pause(Duration::from_millis(20)),
        InputStep::Button(Button::Left, false),
        InputStep::Button(Button::Right, true),
        InputStep::Button(Button::Right, false),
        InputStep::Wheel { right: -1, down: 2 },
    ])
    .await
    .unwrap();
    assert_eq!(desk.call(|platform, _| platform.pointer()).await, Ok(Point { x: 150, y: 130 }));
    let mut seen = Vec::new();
    while let Some(event) = target.connection.poll_for_event().unwrap() {
        match event {
            Event::ButtonPress(event) => {
                seen.push(format!("+{} {},{}", event.detail, event.event_x, event.event_y))
            }
            Event::ButtonRelease(event) => {
                seen.push(format!("-{} {},{}", event.detail, event.event_x, event.event_y))
            }
            _ => {}
        }
    }
    let at = "50,30";
    let wheel = ["+5", "-5", "+5", "-5", "+6", "-6"].map(|button| format!("{button} {at}"));
    let mut wanted = vec!["+1 10,20".to_owned(), format!("-1 {at}"), format!("+3 {at}"), format!("-3 {at}")];
    wanted.extend(wheel);
    assert_eq!(seen, wanted);
    desk.input(vec![InputStep::Move(Point { x: -50, y: 9_999 })]).await.unwrap();
    assert_eq!(desk.call(|platform, _| platform.pointer()).await, Ok(Point { x: 0, y: 799 }));
}
