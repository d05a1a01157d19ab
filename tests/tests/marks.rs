//! Marks on pictures: they are where the elements are, they can be read, and `#7` is refused if the picture is out of date.

use std::collections::HashSet;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use axd_tests::picture::Pixels;
use axd_tests::{Daemon, Policed, Raw, Setup};
use serde_json::{Value, json};

/// A list whose items come in at the top, so that all others and the button below move.
const GROWING: &str = r#"
name = "Growing"
[[window]]
id = "main"
title = "Growing"
bounds = [40, 40, 300, 600]
children = [
  { role = "list", id = "list", name = "Things" },
  { role = "button", id = "more", name = "More" },
  { role = "button", id = "late", name = "Late" },
  { role = "button", id = "other", name = "Other" },
]
[template.item]
role = "button"
id = "item-{n}"
name = "Thing {n}"
[[rule]]
on = "press:more"
do = [{ add = "item", into = "main", index = 0 }]
[[rule]]
on = "press:late"
do = [{ rename = "other", text = "Another" }]
"#;

fn number(value: &Value) -> i64 {
    value.as_i64().unwrap_or_else(|| panic!("{value} is no number"))
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_else(|| panic!("{value} is no text"))
}

fn sides(bounds: &Value) -> [i64; 4] {
    ["x", "y", "width", "height"].map(|side| number(&bounds[side]))
}

fn marks(shot: &Value) -> &[Value] {
    shot["marks"].as_array().unwrap_or_else(|| panic!("no marks in {}", shot["error"]))
}

fn picture(client: &mut Raw, app: &str, more: Value) -> Value {
    let mut args = json!({ "app": app, "marks": true });
    for (name, value) in more.as_object().into_iter().flatten() {
        args[name] = value.clone();
    }
    client.data("screenshot", args)
}

/// The target of the mark of an element.
fn mark_of(shot: &Value, role: &str, name: &str) -> String {
    let is_it = |mark: &&Value| mark["role"] == role && mark["name"] == name;
    let mark = marks(shot).iter().find(is_it).unwrap_or_else(|| panic!("no mark of {role} {name}"));
    format!("#{}", mark["mark"])
}

/// Whether an element is another, or lies in it.
fn is_in(found: &Value, id: &Value) -> bool {
    found["node"]["id"] == *id
        || found["path"].as_array().into_iter().flatten().any(|ancestor| ancestor["id"] == *id)
}

#[test]
fn marks_are_where_the_elements_are_in_every_style_and_scale() {
    let daemon = Daemon::start();
    let mut client = daemon.client();
    client.sim("Files", &["launch"]);
    for scale in [1, 2] {
        client.sim("Notes", &["scale", &scale.to_string()]);
        for app in ["Notes", "Settings", "Form", "Calculator", "Files", "Table", "Paint"] {
            client.ok("focus-window", json!({ "app": app }));
            let plain = client.data("screenshot", json!({ "app": app }));
            let none = picture(&mut client, app, json!({ "style": "none" }));
            assert_eq!((&none["hash"], &none["scale"]), (&plain["hash"], &json!(scale as f64)));
            let (outline, fill) =
                (picture(&mut client, app, json!({})), picture(&mut client, app, json!({ "style": "fill" })));
            assert!(outline["moving"].is_null() && outline["unmarked"].is_null(), "{app}");
            assert_eq!(outline["marks"], fill["marks"], "{app}");
            assert_eq!(outline["marks"], none["marks"], "{app}");
            assert_ne!(outline["hash"], fill["hash"], "{app}");
            assert!(marks(&outline).len() > 2, "{app}: {}", outline["marks"]);
            check_marks(&mut client, app, scale, &outline, [&plain, &outline, &fill].map(Pixels::of));
        }
    }
}

fn check_marks(client: &mut Raw, app: &str, scale: i64, shot: &Value, [plain, outline, fill]: [Pixels; 3]) {
    let origin = sides(&shot["bounds"]);
    let mut ids = HashSet::new();
    for (place, mark) in marks(shot).iter().enumerate() {
        assert_eq!(mark["mark"], place + 1, "{app}");
        assert!(ids.insert(text(&mark["id"]).to_owned()), "{app}: marked twice: {mark}");
        let [x, y, width, height] = sides(&mark["bounds"]);
        assert!(x >= 0 && y >= 0 && width > 0 && height > 0, "{app}: {mark}");
        assert!(
            x + width <= number(&shot["width"]) && y + height <= number(&shot["height"]),
            "{app}: {mark}"
        );
        // The place in the picture is the place on the screen, as far as the window shows it.
        let args = json!({ "target": mark["id"], "app": app, "property": ["bounds"] });
        let [left, top, wide, high] = sides(&client.data("get", args)["node"]["bounds"]);
        let (left, top) = ((left - origin[0]) * scale, (top - origin[1]) * scale);
        assert!(x >= left && y >= top && x + width <= left + wide * scale, "{app}: {mark}");
        assert!(y + height <= top + high * scale, "{app}: {mark}");
        let point = [number(&mark["point"]["x"]), number(&mark["point"]["y"])];
        let found = client.data("element-at", json!({ "point": format!("{},{}", point[0], point[1]) }));
        assert!(is_in(&found, &mark["id"]), "{app}: {mark} is under {found}");
        // Something is drawn on most of the edge, and the middle of what nothing lies in is left as it is.
        let edge = (0..width).flat_map(|at| [(x + at, y), (x + at, y + height - 1)]);
        let drawn = edge.filter(|(x, y)| outline.at(*x, *y) != plain.at(*x, *y)).count();
        assert!(drawn as i64 * 10 >= width * 2 * 7, "{app}: {drawn} of {} pixels of {mark}", width * 2);
        let (across, down) = (x + width / 2, y + height / 2);
        let holds_others = marks(shot).iter().any(|other| {
            let [x, y, width, height] = sides(&other["bounds"]);
            other != mark && across >= x && across < x + width && down >= y && down < y + height
        });
        if !holds_others && width.min(height) > 8 * scale {
            assert_eq!(outline.at(across, down), plain.at(across, down), "{app}: {mark}");
            assert_ne!(fill.at(across, down), plain.at(across, down), "{app}: {mark}");
        }
    }
}

#[test]
fn a_mark_is_a_target_of_every_command_that_takes_one() {
    let daemon = Daemon::start();
    let mut client = daemon.client();
    let shot = picture(&mut client, "Calculator", json!({}));
    let seven = mark_of(&shot, "button", "7");
    let got = client.data("get", json!({ "target": seven }));
    assert_eq!(got["node"]["name"], "7");
    let is = client.data("is", json!({ "target": seven, "property": "enabled" }));
    assert_eq!(is["value"], true);
    for route in ["semantic", "input"] {
        let clicked = client.data("click", json!({ "target": seven, "route": route }));
        assert_eq!(clicked["before"]["name"], "7", "{clicked}");
    }
    // The display shows it twice now.
    let shown = client.data("find", json!({ "selector": "*[value=\"77\"]", "app": "Calculator" }));
    assert_ne!(shown["count"], 0, "{shown}");
    let named = format!("{seven}@{}", text(&shot["picture"]));
    client.ok("hover", json!({ "target": named }));
    client.ok("wait", json!({ "target": seven, "state": "enabled" }));
    assert_eq!(client.data("snapshot", json!({ "root": seven }))["tree"]["name"], "7");
    assert_eq!(client.data("find", json!({ "selector": "button", "root": seven }))["count"], 1);
    let batch = client.data(
        "batch",
        json!({ "items": [
        { "command": "click", "args": { "target": seven } },
        { "command": "get", "args": { "target": seven } },
    ] }),
    );
    assert_eq!(batch["succeeded"], 2, "{batch}");
}

#[test]
fn marks_are_limited_to_what_is_asked_for() {
    let daemon = Daemon::start();
    let mut client = daemon.client();
    let all = picture(&mut client, "Form", json!({}));
    let roles = picture(&mut client, "Form", json!({ "roles": ["button", "checkbox"] }));
    assert!(marks(&roles).iter().all(|mark| ["button", "checkbox"].contains(&text(&mark["role"]))));
    assert!(!marks(&roles).is_empty() && marks(&roles).len() < marks(&all).len());
    assert!(marks(&all).iter().all(|mark| mark["name"] != "Team"), "what is disabled cannot be acted on");
    let few = picture(&mut client, "Form", json!({ "max_marks": 2 }));
    assert_eq!((marks(&few).len(), number(&few["unmarked"])), (2, marks(&all).len() as i64 - 2));
    let root = picture(&mut client, "Form", json!({ "root": "radiogroup:Plan" }));
    assert_eq!(marks(&root).len(), 2, "{}", root["marks"]);
    let element =
        client.data("screenshot", json!({ "app": "Form", "element": "radiogroup:Plan", "marks": true }));
    let names = |shot: &Value| marks(shot).iter().map(|mark| mark["name"].clone()).collect::<Vec<_>>();
    assert_eq!(names(&element), names(&root));
    assert_eq!(element["bounds"]["height"], element["height"]);
    for (args, said) in [
        (json!({ "app": "Form", "style": "fill" }), "marked pictures only"),
        (json!({ "app": "Form", "roles": ["button"] }), "marked pictures only"),
        (json!({ "app": "Form", "marks": true, "max_marks": 0 }), "max_marks must be between"),
        (json!({ "app": "Form", "marks": true, "roles": ["knob"] }), "knob"),
    ] {
        let error = client.fails("INVALID_ARGS", "screenshot", args);
        assert!(text(&error["message"]).contains(said), "{error}");
    }
}

#[test]
fn a_mark_is_refused_if_the_picture_is_out_of_date() {
    let daemon = Setup::new().app(GROWING).start();
    let mut client = daemon.client();
    let error = client.fails("ELEMENT_NOT_FOUND", "click", json!({ "target": "#1" }));
    assert!(text(&error["message"]).contains("no marked picture was taken"), "{error}");
    let shot = picture(&mut client, "Growing", json!({}));
    let [more, late, other] = ["More", "Late", "Other"].map(|name| mark_of(&shot, "button", name));
    let count = marks(&shot).len();
    for wrong in ["#0".to_owned(), format!("#{}", count + 1)] {
        let error = client.fails("ELEMENT_NOT_FOUND", "get", json!({ "target": wrong }));
        assert!(text(&error["message"]).contains(&format!("has {count} marks")), "{error}");
    }
    let error = client.fails("ELEMENT_NOT_FOUND", "get", json!({ "target": "#1@00000000" }));
    assert!(text(&error["message"]).contains("00000000 is not known"), "{error}");
    client.fails("INVALID_ARGS", "get", json!({ "target": "#main" }));
    // Another name means something else.
    client.sim("Growing", &["press", "late"]);
    client.ok("wait", json!({ "for": ["button:Another"], "app": "Growing" }));
    let error = client.fails("CHANGED", "click", json!({ "target": other }));
    assert!(text(&error["message"]).contains("is called \"Another\" now"), "{error}");
    assert_eq!(error["disposition"]["delivery"], "not_delivered", "{error}");
    client.ok("get", json!({ "target": late }));
    // What was added pushes the rest down.
    client.ok("click", json!({ "target": more }));
    for command in ["click", "get"] {
        let error = client.fails("CHANGED", command, json!({ "target": late }));
        assert!(text(&error["message"]).contains("has moved since the picture"), "{error}");
    }
    let shot = picture(&mut client, "Growing", json!({}));
    let thing = mark_of(&shot, "button", "Thing 1");
    client.sim("Growing", &["restart"]);
    let error = client.fails("STALE_REF", "click", json!({ "target": thing }));
    assert_eq!(error["disposition"]["delivery"], "not_delivered", "{error}");
}

#[test]
fn a_mark_is_refused_if_something_has_come_over_it_or_it_was_hidden() {
    let daemon = Daemon::start();
    let mut client = daemon.client();
    let shot = picture(&mut client, "Notes", json!({}));
    let delete = mark_of(&shot, "button", "Delete");
    client.ok("get", json!({ "target": delete }));
    // A menu opens over the tool bar.
    client.sim("Notes", &["press", "file"]);
    client.ok("wait", json!({ "target": "menuitem:Save", "state": "visible", "app": "Notes" }));
    let new = mark_of(&shot, "button", "New Note");
    let error = client.fails("CHANGED", "click", json!({ "target": new }));
    assert!(text(&error["message"]).contains("has been covered since the picture"), "{error}");
    client.sim("Notes", &["press", "file"]);
    client.ok("move-window", json!({ "app": "Notes", "to": "10,10" }));
    let error = client.fails("CHANGED", "get", json!({ "target": delete }));
    assert!(text(&error["message"]).contains("has moved since the picture"), "{error}");
    let shot = picture(&mut client, "Notes", json!({}));
    client.ok("minimize", json!({ "app": "Notes" }));
    let hidden = mark_of(&shot, "button", "Delete");
    let error = client.fails("CHANGED", "get", json!({ "target": hidden }));
    assert!(text(&error["message"]).contains("has been hidden since the picture"), "{error}");
}

#[test]
fn the_picture_of_a_command_line_is_known_to_the_next_and_agents_have_their_own() {
    let daemon = Daemon::start();
    let path = daemon.folder().join("shot.png");
    let path = path.to_str().expect("a plain path");
    let told =
        daemon.ax(&["screenshot", path, "--app", "Calculator", "--marks", "--json"]).run().exits(0).json();
    let eight = mark_of(&told["data"], "button", "8");
    let mut agent = daemon.client();
    agent.ok("hello", json!({ "client": "test", "agent": "one" }));
    let error = agent.fails("ELEMENT_NOT_FOUND", "get", json!({ "target": eight }));
    assert!(text(&error["message"]).contains("no marked picture"), "{error}");
    let named = format!("{eight}@{}", text(&told["data"]["picture"]));
    assert_eq!(agent.data("get", json!({ "target": named }))["node"]["name"], "8");
    let own = picture(&mut agent, "Notes", json!({}));
    assert_eq!(
        agent.data("get", json!({ "target": mark_of(&own, "button", "Delete") }))["node"]["name"],
        "Delete"
    );
    let mut again = daemon.client();
    again.ok("hello", json!({ "client": "test", "agent": "one" }));
    again.ok("get", json!({ "target": mark_of(&own, "button", "Delete") }));
    daemon.ax(&["click", &eight]).run().exits(0);
    let text = daemon.ax(&["screenshot", path, "--app", "Calculator", "--marks", "--text"]).run().exits(0);
    assert!(text.out.contains(&format!("  {eight} button \"8\" btn_")), "{text:?}");
}

#[test]
fn a_picture_of_a_window_has_its_popups_and_marks_what_is_in_them() {
    let daemon = Daemon::start();
    let mut client = daemon.client();
    for scale in [1, 2] {
        client.sim("Form", &["scale", &scale.to_string()]);
        let window = client.data("list-windows", json!({ "app": "Form" }))["windows"][0]["bounds"].take();
        let closed = picture(&mut client, "Form", json!({}));
        assert_eq!((&closed["bounds"], &closed["popups"]), (&window, &Value::Null));
        // So narrow that the list sticks out.
        client.ok("resize-window", json!({ "app": "Form", "to": "150x160" }));
        client.sim("Form", &["press", "country"]);
        client.ok("wait", json!({ "target": "combobox:Country", "state": "expanded", "app": "Form" }));
        let open = picture(&mut client, "Form", json!({}));
        assert_eq!(open["popups"], 1);
        let [x, y, width, height] = sides(&open["bounds"]);
        assert!(width > 150 || height > 160, "{}", open["bounds"]);
        let japan = mark_of(&open, "listitem", "Japan");
        let item = client.data("get", json!({ "target": japan, "property": ["bounds"] }));
        let [left, top, wide, high] = sides(&item["node"]["bounds"]);
        assert!(left >= x && top >= y && left + wide <= x + width && top + high <= y + height);
        // It is what is on the screen, and nothing of other windows is in it.
        client.ok("focus-window", json!({ "app": "Form" }));
        let plain = Pixels::of(&client.data("screenshot", json!({ "app": "Form" })));
        let screen = Pixels::of(&client.data("screenshot", json!({ "all": true })));
        for (across, down) in [(left + 1, top + 1), (left + wide - 1, top + high / 2)] {
            assert_eq!(
                plain.at((across - x) * scale, (down - y) * scale),
                screen.at(across * scale, down * scale)
            );
        }
        let corner = plain.at((width - 1) * scale, 0);
        assert_eq!(corner, [0x30; 3], "no other window");
        client.ok("click", json!({ "target": japan }));
        client.ok("wait", json!({ "target": "combobox:Country", "value": "Japan", "app": "Form" }));
        client.ok("resize-window", json!({ "app": "Form", "to": "460x700" }));
    }
}

#[test]
fn what_a_popup_covers_has_no_mark() {
    let daemon = Daemon::start();
    let mut client = daemon.client();
    client.sim("Notes", &["press", "file"]);
    client.ok("wait", json!({ "target": "menu:File", "state": "expanded", "app": "Notes" }));
    let shot = picture(&mut client, "Notes", json!({}));
    for item in ["New Note", "Save", "Delete Note…"] {
        mark_of(&shot, "menuitem", item);
    }
    let covered = |mark: &Value| mark["role"] == "button" && mark["name"] == "New Note";
    assert!(!marks(&shot).iter().any(covered), "{}", shot["marks"]);
    assert!(shot["popups"] == 1);
}

#[test]
fn secrets_and_what_may_not_be_in_pictures_have_no_place_in_marks() {
    let daemon = Daemon::start();
    let mut client = daemon.client();
    let shot = picture(&mut client, "Settings", json!({}));
    assert!(!shot["marks"].to_string().contains("correct horse"), "{}", shot["marks"]);
    let rule =
        "[[rule]]\nname = \"notes\"\nverdict = \"deny\"\ncommands = [\"screenshot\"]\napps = [\"Notes\"]\n";
    let mut policed = Policed::with(rule);
    policed.client.ok("focus-window", json!({ "app": "Calculator" }));
    let shot = policed.client.data("screenshot", json!({ "all": true, "marks": true, "max_marks": 500 }));
    assert_eq!(shot["blocked_windows"], 1);
    let ids: HashSet<&str> = marks(&shot).iter().map(|mark| text(&mark["id"])).collect();
    assert!(marks(&shot).iter().any(|mark| mark["name"] == "7"), "{}", shot["marks"]);
    let of_notes = policed.client.data("find", json!({ "selector": "*", "app": "Notes", "limit": 1000 }));
    for node in of_notes["matches"].as_array().expect("elements") {
        assert!(!ids.contains(text(&node["id"])), "{node}");
    }
    policed.denied("notes", "screenshot", json!({ "app": "Notes", "marks": true }));
}

#[test]
fn a_picture_of_the_screen_marks_what_no_other_window_covers() {
    let daemon = Daemon::start();
    let mut client = daemon.client();
    client.ok("focus-window", json!({ "app": "Calculator" }));
    let shot = client.data("screenshot", json!({ "all": true, "marks": true, "max_marks": 500 }));
    assert!(shot["apps_without_marks"].is_null());
    for mark in marks(&shot) {
        let point = format!("{},{}", mark["point"]["x"], mark["point"]["y"]);
        let found = client.data("element-at", json!({ "point": point }));
        assert!(is_in(&found, &mark["id"]), "{mark} is under {found}");
    }
    client.ok("maximize", json!({ "app": "Notes" }));
    client.ok("focus-window", json!({ "app": "Notes" }));
    let covered = client.data("screenshot", json!({ "all": true, "marks": true }));
    assert!(marks(&covered).iter().all(|mark| mark["name"] != "7"), "{}", covered["marks"]);
    // A picture of the window alone shows it although it is covered.
    let alone = picture(&mut client, "Calculator", json!({}));
    client.ok("click", json!({ "target": mark_of(&alone, "button", "7") }));
}

#[test]
fn an_app_that_hangs_has_a_picture_without_marks() {
    let daemon = Daemon::start();
    let mut client = daemon.client();
    client.data("attach", json!({ "app": "Notes" }));
    let before = picture(&mut client, "Notes", json!({}));
    client.sim("Notes", &["fault", "hang"]);
    let shot = picture(&mut client, "Notes", json!({}));
    assert_eq!((marks(&shot).len(), &shot["apps_without_marks"]), (0, &json!(["Notes"])));
    let named = format!("{}@{}", mark_of(&before, "button", "Delete"), text(&before["picture"]));
    client.fails("APP_UNRESPONSIVE", "get", json!({ "target": named }));
}

#[test]
fn a_picture_and_its_marks_are_of_one_moment() {
    let daemon = Setup::new().app(GROWING).start();
    let mut client = daemon.client();
    let calm = picture(&mut client, "Growing", json!({ "style": "none" }));
    let first = &marks(&calm)[0];
    let [x, y, width, _] = sides(&first["bounds"]);
    let corners = |pixels: &Pixels, [x, y, width, height]: [i64; 4]| {
        [(x, y), (x + width - 1, y), (x, y + height - 1), (x + width - 1, y + height - 1)]
            .map(|(x, y)| pixels.at(x, y))
    };
    let expected = Pixels::of(&calm).at(x + width / 2, y);
    let over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let mut other = daemon.client();
            while !over.load(Relaxed) {
                for _ in 0..8 {
                    other.sim("Growing", &["press", "more"]);
                }
                other.sim("Growing", &["restart"]);
            }
        });
        for _ in 0..40 {
            let answer =
                client.ask("screenshot", json!({ "app": "Growing", "marks": true, "style": "none" }));
            // It may have ended just then.
            let Some(shot) = answer.get("data").filter(|data| data["marks"].is_array()) else { continue };
            let pixels = Pixels::of(shot);
            for mark in marks(shot) {
                let [x, y, width, height] = sides(&mark["bounds"]);
                assert_eq!(
                    pixels.at(x + width / 2, y),
                    expected,
                    "{mark}: {:?}",
                    corners(&pixels, [x, y, width, height])
                );
            }
        }
        over.store(true, Relaxed);
    });
}
