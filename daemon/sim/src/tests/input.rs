//! Mouse and keyboard: what they reach, what swallows them, and what is still held when they are stopped.

use super::*;
use axd_platform::{ClipboardContent, ClipboardKind};

#[tokio::test(start_paused = true)]
async fn a_click_goes_to_the_front_window_there_and_brings_it_forward() {
    let mut rig = Rig::built_in();
    let mut notes = rig.attach("Notes").await;
    rig.click(&mut notes, "new").await;
    assert!(notes.has("note-4"));
    assert_eq!(rig.frontmost, Some(rig.app("Notes").pid));
    assert_eq!(rig.windows[0].title, "Notes");
    // The calculator lies over the form, so a click there is for the calculator.
    let mut calculator = rig.attach("Calculator").await;
    let mut form = rig.attach("Form").await;
    let at = calculator.centre("seven").await;
    rig.input(&[&format!("move:{at}"), "click:left"]).await;
    calculator.fence().await;
    form.fence().await;
    assert_eq!(calculator.value("display"), "7");
    assert!(!form.nodes.values().any(|node| node.facts.states.has(State::Focused)));
    let pointer = rig.call(&Gate::new(), |platform, _| platform.pointer()).await;
    assert_eq!(pointer, Ok(at.parse().unwrap()));
}

#[tokio::test(start_paused = true)]
async fn disabled_controls_modal_dialogs_and_open_menus_swallow_clicks() {
    let mut rig = Rig::built_in();
    let mut app = rig.attach("Settings").await;
    rig.sim("Settings raise").await;
    rig.click(&mut app, "apply").await;
    assert_eq!(app.name("status"), "", "it is disabled");
    rig.click(&mut app, "tab-advanced").await;
    rig.click(&mut app, "reset").await;
    assert!(app.has("confirm"));
    rig.click(&mut app, "more").await;
    assert!(app.is("more", State::Collapsed), "behind a dialog");
    assert_eq!(rig.windows[0].title, "Reset all settings?", "which stays in front");
    rig.keys(&mut app, &["key:escape"]).await;
    assert!(!app.has("confirm"));
    let mut notes = rig.attach("Notes").await;
    rig.sim("Notes raise").await;
    rig.click(&mut notes, "file").await;
    assert!(notes.is("file", State::Expanded));
    rig.click(&mut notes, "body").await;
    assert!(notes.is("file", State::Collapsed), "a click beside a menu closes it");
    assert!(!notes.is("body", State::Focused), "and does nothing else");
    rig.click(&mut notes, "file").await;
    rig.click(&mut notes, "file-new").await;
    assert!(notes.has("note-4") && notes.is("file", State::Collapsed));
}

#[tokio::test(start_paused = true)]
async fn a_form_is_filled_in_with_mouse_and_keyboard() {
    let mut rig = Rig::built_in();
    let mut app = rig.attach("Form").await;
    rig.sim("Form raise").await;
    rig.click(&mut app, "name").await;
    rig.keys(&mut app, &["Ada", "key:tab", "ada@example.com", "key:tab", "s3cret", "key:tab"]).await;
    assert_eq!((app.value("name"), app.value("email")), ("Ada", "ada@example.com"));
    assert!(app.is("country", State::Focused));
    rig.keys(&mut app, &["key:down", "key:tab", "key:tab", "key:tab", "key:up", "key:up", "key:tab"]).await;
    assert_eq!((app.value("country"), app.value("guests")), ("Japan", "2"));
    rig.keys(&mut app, &["key:end", "key:left", "key:tab", "key:right", "key:tab", "key:space"]).await;
    assert_eq!(app.value("rating"), "9");
    assert!(app.is("plan-pro", State::Checked) && app.is("newsletter", State::Checked));
    assert!(app.is("submit", State::Disabled), "the terms are not agreed to");
    rig.click(&mut app, "terms").await;
    assert!(!app.is("submit", State::Disabled));
    rig.keys(&mut app, &["key:return"]).await;
    assert_eq!(
        app.name("result"),
        "Welcome Ada <ada@example.com> from Japan; rating 9, newsletter yes, pro yes"
    );
    rig.keys(&mut app, &["key:shift+tab"]).await;
    assert!(app.is("comment", State::Focused));
    rig.click(&mut app, "plan-team").await;
    assert!(!app.is("plan-team", State::Checked), "it is disabled");
    rig.click(&mut app, "name").await;
    rig.keys(&mut app, &["key:ctrl+a", "key:delete"]).await;
    assert!(app.value("name").is_empty() && app.is("submit", State::Disabled));
    rig.agrees("Form", &app).await;
}

#[tokio::test(start_paused = true)]
async fn text_is_selected_copied_cut_and_pasted_between_apps_but_never_out_of_a_secure_field() {
    let mut rig = Rig::built_in();
    let mut notes = rig.attach("Notes").await;
    let bounds = notes.bounds(notes.key("body")).await.unwrap();
    // On the second word of the second line: "Milk, bread, apples".
    let word = format!("move:{},{}", bounds.x + 4 + 8 * 6, bounds.y + 4 + 12 + 3);
    rig.keys(&mut notes, &[&word, "click:left", "click:left", "key:ctrl+x"]).await;
    assert_eq!(notes.value("body"), "Shopping\nMilk, , apples");
    rig.keys(&mut notes, &["eggs", "key:home", "key:shift+end", "key:cmd+c"]).await;
    let clip = |answer| match answer {
        Ok(Some(ClipboardContent::Text(text))) => text,
        other => panic!("{other:?}"),
    };
    let get = |platform: &dyn Platform, _| platform.clipboard(ClipboardKind::Any);
    assert_eq!(clip(rig.call(&Gate::new(), get).await), "Milk, eggs, apples");
    let mut form = rig.attach("Form").await;
    rig.sim("Form raise").await;
    rig.click(&mut form, "password").await;
    rig.keys(&mut form, &["hunter2", "key:ctrl+a", "key:ctrl+c", "key:ctrl+x"]).await;
    assert_eq!(clip(rig.call(&Gate::new(), get).await), "Milk, eggs, apples", "a secret stays where it is");
    rig.click(&mut form, "comment").await;
    rig.keys(&mut form, &["key:ctrl+v", "key:return", "done"]).await;
    assert_eq!(form.value("comment"), "Milk, eggs, apples\ndone");
}

#[tokio::test(start_paused = true)]
async fn shortcuts_fire_and_the_calculator_can_be_typed_into() {
    let mut rig = Rig::built_in();
    let mut calculator = rig.attach("Calculator").await;
    rig.keys(&mut calculator, &["12+30=", "key:shift+8"]).await;
    assert_eq!(calculator.value("display"), "42");
    let mut notes = rig.attach("Notes").await;
    rig.sim("Notes raise").await;
    rig.keys(&mut notes, &["key:ctrl+n", "Plan", "key:cmd+s", "key:ctrl+f"]).await;
    assert_eq!((notes.value("body"), notes.name("status-text")), ("Plan", "Saved"));
    assert!(notes.is("search", State::Focused));
    rig.keys(&mut notes, &["milk"]).await;
    assert!(notes.is("note-2", State::Hidden));
}

#[tokio::test(start_paused = true)]
async fn the_keyboard_moves_in_menus_lists_trees_and_tables() {
    let mut rig = Rig::built_in();
    rig.sim("Files launch").await;
    let mut files = rig.attach("Files").await;
    rig.click(&mut files, "photo").await;
    assert!(files.is("photo", State::Selected));
    rig.keys(&mut files, &["key:down", "key:return"]).await;
    assert_eq!(files.name("said"), "Opened song.ogg");
    rig.click(&mut files, "pictures").await;
    rig.keys(&mut files, &["key:up", "key:right", "key:down"]).await;
    assert!(files.is("letters", State::Selected) && !files.is("pictures", State::Selected));
    assert!(files.is("documents", State::Expanded));
    rig.click(&mut files, "go").await;
    rig.keys(&mut files, &["key:down", "key:return"]).await;
    assert_eq!(files.name("said"), "Opened song.ogg");
    assert!(files.is("letters", State::Focused), "the focus is back where it was");
    let mut table = rig.attach("Table").await;
    rig.sim("Table select table 5").await;
    table.fence().await;
    let row = *table.inside("table").get(4).unwrap();
    let bounds = table.bounds(row).await.unwrap();
    let on = format!("move:{},{}", bounds.x + 5, bounds.y + 5);
    rig.keys(&mut table, &[&on, "click:left", "key:end", "key:up"]).await;
    assert_eq!(table.name("chosen"), "Chosen: Row 9999");
    rig.keys(&mut table, &["wheel:-10"]).await;
    assert_eq!(table.nodes[&table.inside("table")[0]].facts.row, Some(9950));
}

#[tokio::test(start_paused = true)]
async fn things_are_dragged_dropped_and_reordered_if_they_do_not_jump() {
    let mut rig = Rig::built_in();
    rig.sim("Files launch").await;
    let mut files = rig.attach("Files").await;
    let at = |at: &str| format!("move:{at}");
    let (song, readme) = (at(&files.centre("song").await), at(&files.centre("readme").await));
    rig.keys(&mut files, &[&song, "down:left", &readme, "up:left"]).await;
    assert_eq!(files.names("files")[0], "readme.txt", "a drag that jumps is none");
    let between = at(&files.centre("photo").await);
    rig.keys(&mut files, &[&song, "down:left", &between, &readme, "up:left"]).await;
    assert_eq!(files.names("files"), ["song.ogg", "readme.txt", "photo.png", "plan.md"]);
    let (plan, bin) = (at(&files.centre("plan").await), at(&files.centre("bin").await));
    rig.keys(&mut files, &[&plan, "down:left", &between, &bin, "up:left"]).await;
    assert_eq!((files.names("bin"), files.name("said")), (vec!["plan.md"], "Moved plan.md to the bin"));
    let (photo, zone) = (at(&files.centre("photo").await), at(&files.centre("drop-zone").await));
    rig.keys(&mut files, &[&photo, "down:left", &between, &zone, "up:left"]).await;
    assert_eq!(files.name("drop-zone"), "Shared photo.png");
    rig.agrees("Files", &files).await;
}

#[tokio::test(start_paused = true)]
async fn a_drag_ends_in_the_app_it_is_dropped_on() {
    let text = "name = 'Y'\n[[window]]\nid = 'w'\ntitle = 'Y'\nbounds = [600, 100, 300, 300]\n\
                children = [{ role = 'text', id = 'here', name = 'Here' }]\n\
                [[rule]]\non = 'drop:here'\ndo = [{ rename = 'here', text = 'Got {text}' }]";
    let from = "name = 'X'\n[[window]]\nid = 'w'\ntitle = 'X'\nbounds = [100, 100, 300, 300]\n\
                children = [{ role = 'button', id = 'that', name = 'That', drag = true }]";
    let script = |text| Arc::new(Script::parse("x.toml", text).unwrap());
    let scripts = vec![script(text), script(from)];
    let mut rig = Rig::new(SimOptions { built_in: false, apps: vec![], scripts });
    let (mut x, mut y) = (rig.attach("X").await, rig.attach("Y").await);
    let (that, here) = (x.centre("that").await, y.centre("here").await);
    rig.input(&[&format!("move:{that}"), "down:left", "move:500,500", &format!("move:{here}"), "up:left"])
        .await;
    y.fence().await;
    assert_eq!(y.name("here"), "Got That");
    x.fence().await;
}

#[tokio::test(start_paused = true)]
async fn context_menus_tooltips_and_double_clicks() {
    let mut rig = Rig::built_in();
    rig.sim("Files launch").await;
    let mut files = rig.attach("Files").await;
    let photo = format!("move:{}", files.centre("photo").await);
    rig.keys(&mut files, &[&photo, "click:right"]).await;
    assert!(files.is("photo", State::Selected) && !files.is("file-menu", State::Hidden));
    rig.click(&mut files, "file-rename").await;
    assert!(!files.is("file-menu", State::Hidden), "it is disabled, and the menu stays");
    rig.click(&mut files, "file-delete").await;
    assert!(files.is("file-menu", State::Hidden));
    assert_eq!(files.names("bin"), ["photo.png"]);
    let song = format!("move:{}", files.centre("song").await);
    rig.keys(&mut files, &[&song, "click:left", "click:left"]).await;
    assert_eq!(files.name("said"), "Opened song.ogg");
    let zone = format!("move:{}", files.centre("drop-zone").await);
    rig.keys(&mut files, &[&zone]).await;
    assert_eq!(files.name("said"), "Drop a file to share it");
    let mut form = rig.attach("Form").await;
    rig.sim("Form raise").await;
    let tips = |app: &Attached| app.nodes.values().filter(|node| node.facts.role == Role::Tooltip).count();
    let email = format!("move:{}", form.centre("email").await);
    rig.keys(&mut form, &[&email]).await;
    assert_eq!(tips(&form), 1);
    rig.keys(&mut form, &["move:1279,799"]).await;
    assert_eq!(tips(&form), 0);
}

#[tokio::test(start_paused = true)]
async fn a_slider_follows_the_pointer_and_a_branch_opens_by_its_arrow() {
    let mut rig = Rig::built_in();
    let mut settings = rig.attach("Settings").await;
    rig.sim("Settings raise").await;
    let bounds = settings.bounds(settings.key("volume")).await.unwrap();
    let at = |part: i32| format!("move:{},{}", bounds.x + (bounds.width - 1) * part / 100, bounds.y + 9);
    rig.keys(&mut settings, &[&at(25), "down:left", &at(60), &at(80), "up:left"]).await;
    assert_eq!(settings.value("volume"), "80");
    rig.sim("Files launch").await;
    let mut files = rig.attach("Files").await;
    let bounds = files.bounds(files.key("documents")).await.unwrap();
    let arrow = format!("move:{},{}", bounds.x + 4, bounds.y + 10);
    rig.keys(&mut files, &[&arrow, "click:left"]).await;
    assert!(!files.is("letters", State::Hidden) && !files.is("documents", State::Selected));
}

#[tokio::test(start_paused = true)]
async fn a_closed_gate_stops_input_and_nothing_stays_held() {
    let mut rig = Rig::built_in();
    let steps: Vec<InputStep> =
        ["hold:shift", "down:left", "a", "pause:1000", "b"].iter().flat_map(|word| steps(word)).collect();
    let gate = Gate::new();
    let reply = rig.desktop.input(steps.clone().into(), gate.clone());
    soon(|| gate.characters() > 0).await;
    assert_eq!(rig.sim("Notes held").await, "held: shift, left button");
    gate.close();
    let failure = reply.await.unwrap().unwrap_err();
    assert_eq!((failure.kind, failure.sent, gate.characters()), (FailureKind::Closed, Sent::Yes, 1));
    assert_eq!(rig.sim("Notes held").await, "no key or button is held");
    let gate = Gate::new();
    gate.close();
    let answer = rig.call(&gate, |platform, gate| platform.input(steps.into(), gate)).await;
    assert_eq!(answer, Err(Failure::closed()));
    // What is held on purpose stays held until it is let go, or it would not be seen when it is stuck.
    rig.input(&["hold:ctrl"]).await;
    assert_eq!(rig.sim("Notes held").await, "held: ctrl");
    rig.input(&["let:ctrl"]).await;
    assert_eq!(rig.sim("Notes held").await, "no key or button is held");
}

#[tokio::test(start_paused = true)]
async fn a_hung_app_gets_its_input_when_it_wakes() {
    let mut rig = Rig::built_in();
    let mut notes = rig.attach("Notes").await;
    rig.sim("Notes focus body").await;
    rig.sim("Notes fault hang").await;
    rig.input(&["!?"]).await;
    rig.sim("Notes heal").await;
    notes.until(|app| app.value("body").ends_with("apples!?")).await;
}
