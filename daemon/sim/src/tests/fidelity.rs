//! After any sequence of actions, input and faults, the tree after a fence is what a fresh walk finds.

use proptest::prelude::*;

use super::*;

/// An action on an app. Many are refused in the state in which the app is then, which is fine.
fn words(app: &'static str) -> impl Strategy<Value = String> {
    let ids: &[&str] = match app {
        "Calculator" => &["seven", "plus", "minus", "divide", "equals", "clear", "clear-history", "history"],
        "Notes" => &[
            "new",
            "delete",
            "file",
            "edit",
            "file-new",
            "file-save",
            "file-delete",
            "confirm-yes",
            "confirm-no",
            "edit-spelling",
            "body",
            "search",
            "notes",
            "note-1",
            "note-4",
            "note-menu-delete",
            "toolbar",
            "status",
        ],
        "Settings" => &[
            "notify",
            "wifi",
            "theme-dark",
            "language",
            "volume",
            "tab-account",
            "tab-advanced",
            "tab-general",
            "more",
            "reset",
            "ok",
            "cancel",
            "apply",
            "user",
            "password",
            "terms",
            "update",
            "buttons",
        ],
        "Form" => &[
            "name",
            "password",
            "country",
            "city",
            "guests",
            "rating",
            "plan-pro",
            "newsletter",
            "comment",
            "terms",
            "submit",
            "clear",
            "help",
            "close",
        ],
        _ => &["table", "list", "headers", "main"],
    };
    let id = proptest::sample::select(ids);
    let other = proptest::sample::select(ids);
    let act = prop_oneof![
        4 => Just("press"),
        1 => Just("set"),
        1 => Just("type"),
        1 => Just("select"),
        1 => Just("focus"),
        1 => Just("scroll"),
        1 => Just("reparent"),
        1 => Just("vanish"),
        1 => Just("flood"),
        1 => Just("cycle"),
        1 => Just("double-parent"),
        1 => Just("heal"),
        4 => Just("click"),
        2 => Just("drag"),
        3 => Just("keys"),
        3 => Just("ask"),
    ];
    (act, id, other, 1..60u32).prop_map(move |(act, id, other, number)| match act {
        "click" | "drag" | "ask" => format!("{act} {id} {other} {number}"),
        "keys" => format!("{act} {number}"),
        "press" | "focus" => format!("{app} {act} {id}"),
        "reparent" => format!("{app} fault reparent {id} {other}"),
        "vanish" => format!("{app} fault vanish 2"),
        "flood" => format!("{app} fault flood {number}"),
        "cycle" | "double-parent" => format!("{app} fault {act} {id}"),
        "heal" => format!("{app} heal"),
        _ => format!("{app} {act} {id} {number}"),
    })
}

fn story() -> impl Strategy<Value = (&'static str, Vec<String>, usize)> {
    let app = proptest::sample::select(&["Calculator", "Notes", "Settings", "Table", "Form"][..]);
    app.prop_flat_map(|app| (Just(app), proptest::collection::vec(words(app), 1..25), 1..4usize))
}

const KEYS: [&str; 20] = [
    "tab",
    "shift+tab",
    "space",
    "return",
    "escape",
    "up",
    "down",
    "left",
    "right",
    "home",
    "end",
    "pagedown",
    "delete",
    "ctrl+a",
    "ctrl+x",
    "ctrl+v",
    "shift+left",
    "menu",
    "a",
    "f1",
];

/// Does an action: by the command `sim`, on the element, or with mouse and keyboard.
async fn live(rig: &mut Rig, app: &mut Attached, words: &str) {
    let parts: Vec<&str> = words.split(' ').collect();
    let place = |app: &Attached, id: &str| app.has(id).then(|| app.key(id));
    match parts.as_slice() {
        ["click", id, _, number] => {
            let Some(key) = place(app, id) else { return };
            let Some(Bounds { x, y, width, height }) = app.bounds(key).await else { return };
            let number: i32 = number.parse().unwrap();
            let at = format!("move:{},{}", x + (width - 1) * number / 60, y + height / 2);
            let button = if number % 5 == 0 { "click:right" } else { "click:left" };
            rig.input(&[&at, button]).await;
        }
        ["drag", from, to, _] => {
            let (Some(from), Some(to)) = (place(app, from), place(app, to)) else { return };
            let (Some(from), Some(to)) = (app.bounds(from).await, app.bounds(to).await) else { return };
            let at = |bounds: Bounds| format!("move:{},{}", bounds.x + 2, bounds.y + 2);
            rig.input(&[&at(from), "down:left", &at(to), &at(to), "up:left", "wheel:1"]).await;
        }
        ["keys", number] => {
            let number: usize = number.parse().unwrap();
            let (one, other) = (KEYS[number % KEYS.len()], KEYS[number * 7 % KEYS.len()]);
            rig.input(&[&format!("key:{one}"), "x", &format!("key:{other}")]).await;
        }
        ["ask", id, _, number] => {
            let Some(key) = place(app, id) else { return };
            let number: u32 = number.parse().unwrap();
            let act = match number % 9 {
                0 => Act::SetValue(number.to_string()),
                1 => Act::Insert(number.to_string()),
                2 => Act::Select,
                3 => Act::Expand,
                4 => Act::Collapse,
                5 => Act::Focus,
                6 => Act::Reveal(number * 100),
                7 => Act::Scroll(Direction::Down, number),
                _ => Act::Press,
            };
            let gate = Gate::new();
            let _ = app.ask(|reply| WorkerRequest::Perform { key, act, gate, reply }).await;
        }
        _ => {
            let _ = rig.try_sim(words).await;
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn after_a_fence_the_tree_is_what_a_fresh_walk_finds((name, story, room) in story()) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
        runtime.block_on(async {
            let mut rig = Rig::built_in();
            let mut app = rig.begin(name, room);
            for (step, words) in story.iter().enumerate() {
                live(&mut rig, &mut app, words).await;
                if step % 5 == 4 {
                    app.fence().await;
                }
            }
            app.until(|app| app.complete).await;
            // What was claimed twice may be believed of the other parent by a second walk, so no lies at the end.
            rig.sim(&format!("{name} heal")).await;
            app.fence().await;
            rig.agrees(name, &app).await;
        });
    }
}
