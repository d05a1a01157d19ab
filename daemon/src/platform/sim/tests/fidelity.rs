//! Whatever a person does to an app, and whatever befalls it: after a fence the tree is what a fresh walk finds.

use proptest::prelude::*;

use super::*;

/// Something done to an app. Much of it is refused by the app as it is then, which is as good as not done.
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
    ];
    (act, id, other, 1..60u32).prop_map(move |(act, id, other, number)| match act {
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
    let app = proptest::sample::select(&["Calculator", "Notes", "Settings", "Table"][..]);
    app.prop_flat_map(|app| (Just(app), proptest::collection::vec(words(app), 1..25), 1..4usize))
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
                let _ = rig.try_sim(words).await;
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
