//! What becomes of menus, outlines and long tables, and of apps that are slow or odd.

use axd_double::World;
use axd_double::ax::Error;
use axd_double::faults::{Call, Fault};
use axd_platform::{Act, DesktopEvent, WorkerRequest};
use axd_protocol::{Role, State};
use axd_sim::SimVerb;

use crate::on::{Attached, Desktop};

const SHAPES: &str = r#"
name = "Shapes"
identity = "test.shapes"

[[window]]
id = "main"
title = "Main"
bounds = [40, 40, 600, 560]
children = [
  { role = "menubar", id = "bar", children = [
    { role = "menu", id = "file", name = "File", children = [
      { role = "menuitem", id = "new", name = "New" },
      { role = "menu", id = "recent", name = "Recent", children = [{ role = "menuitem", id = "one", name = "One" }] },
    ] },
  ] },
  { role = "tree", id = "folders", name = "Folders", height = 200, children = [
    { role = "treeitem", id = "home", name = "Home", states = ["expanded"], children = [
      { role = "treeitem", id = "letters", name = "Letters", children = [{ role = "treeitem", id = "old", name = "Old" }] },
    ] },
    { role = "treeitem", id = "disk", name = "Disk" },
  ] },
  { role = "textfield", id = "secret", name = "Secret", states = ["secure"] },
  { role = "text", id = "label", name = "nothing" },
]

[[rule]]
on = "press:new"
do = [{ rename = "label", text = "new" }]
"#;

const MANY: &str = r#"
name = "Many"
identity = "test.many"
[[window]]
id = "w"
title = "Many"
bounds = [40, 40, 600, 560]
children = [{ role = "group", id = "g", children = [
CHILDREN
] }]
"#;

fn parent(app: &Attached, id: &str) -> String {
    let key = app.key(id);
    let above = app.children.iter().find(|(_, children)| children.contains(&key));
    let above = above.unwrap_or_else(|| panic!("{id} is nowhere in\n{}", app.tree()));
    app.nodes[above.0].identifier.clone().unwrap_or_default()
}

#[test]
fn the_items_of_a_menu_are_below_what_opens_it_and_hidden_until_it_does() {
    let world = World::of(&[SHAPES]);
    let mut desktop = Desktop::start();
    let mut app = desktop.attach(&world, "Shapes");
    app.walked();
    for menu in ["file", "recent"] {
        let key = app.key(menu);
        assert_eq!(app.ask(|reply| WorkerRequest::Unfold { key, reply }), Ok(()));
    }
    assert_eq!([parent(&app, "new"), parent(&app, "recent")], ["file", "file"]);
    assert_eq!(parent(&app, "one"), "recent");
    assert_eq!((app.facts("file").role, app.facts("recent").role), (Role::Menu, Role::Menu));
    assert!(app.facts("new").states.has(State::Hidden), "{}", app.tree());
    app.perform("file", Act::Expand).unwrap();
    app.until("the menu is open", |app| !app.facts("new").states.has(State::Hidden));
    assert!(app.facts("file").states.has(State::Expanded), "{}", app.tree());
    app.perform("new", Act::Press).unwrap();
    app.until("the item was picked", |app| app.has_text(Role::Text, "new"));
    app.until("and the menu closed", |app| app.facts("new").states.has(State::Hidden));
}

#[test]
fn the_rows_of_an_outline_hang_below_those_that_disclose_them() {
    let world = World::of(&[SHAPES]);
    let mut desktop = Desktop::start();
    let mut app = desktop.attach(&world, "Shapes");
    app.walked();
    assert_eq!([parent(&app, "home"), parent(&app, "disk")], ["folders", "folders"], "{}", app.tree());
    assert_eq!(parent(&app, "letters"), "home", "{}", app.tree());
    assert!(app.facts("home").states.has(State::Expanded));
    assert!(app.facts("letters").states.has(State::Collapsed));
    app.perform("letters", Act::Expand).unwrap();
    app.until("what it discloses", |app| app.has("old"));
    assert_eq!(parent(&app, "old"), "letters", "{}", app.tree());
    app.perform("disk", Act::Select).unwrap();
    app.until("it is selected", |app| app.facts("disk").states.has(State::Selected));
}

#[test]
fn a_row_of_an_outline_that_comes_below_another_one_is_found_there() {
    let world = World::of(&[SHAPES]);
    let mut desktop = Desktop::start();
    let mut app = desktop.attach(&world, "Shapes");
    app.walked();
    assert_eq!(parent(&app, "letters"), "home", "{}", app.tree());
    world.act_as_user("Shapes", SimVerb::Fault, Some("reparent"), Some("letters folders"));
    app.walk_again();
    assert_eq!(parent(&app, "letters"), "folders", "{}", app.tree());
}

#[test]
fn a_secret_goes_whole_into_an_empty_field_and_is_never_read() {
    let world = World::of(&[SHAPES]);
    let mut desktop = Desktop::start();
    let mut app = desktop.attach(&world, "Shapes");
    app.walked();
    app.perform("secret", Act::Insert("open sesame".to_owned())).unwrap();
    app.fence();
    let held = world.inspect("Shapes", |inside| {
        let secret = inside.model.find("secret")?;
        inside.model.widget(secret)?.value.clone()
    });
    assert_eq!(held.as_deref(), Some("open sesame"));
    assert_eq!(app.facts("secret").value, None);
    assert_eq!(world.trace().secure_reads(), 0, "it was asked for");
}

#[test]
fn an_app_that_is_slow_is_read_whole_in_the_end() {
    let children: String = (0..60)
        .map(|number| format!("{{ role = \"button\", id = \"b{number}\", name = \"{number}\" }},\n"))
        .collect();
    let world = World::of(&[&MANY.replace("CHILDREN", &children)]);
    let mut desktop = Desktop::start();
    // Every answer takes so long that the elements of one question take longer than anybody waits for them.
    world.act_as_user("Many", SimVerb::Fault, Some("slow"), Some("20"));
    let mut app = desktop.attach(&world, "Many");
    app.walked();
    assert!(app.has("b0") && app.has("b59"), "{}", app.tree());
}

#[test]
fn an_element_of_which_one_thing_cannot_be_asked_keeps_the_rest() {
    let world = World::of(&[SHAPES]);
    for name in ["AXValue", "AXRows", "AXHeader"] {
        world.faults().add(Fault {
            call: Some(if name == "AXValue" { Call::Settable } else { Call::Count }),
            name: Some(name.to_owned()),
            error: Some(Error::Failure),
            ..Fault::default()
        });
    }
    let mut desktop = Desktop::start();
    let mut app = desktop.attach(&world, "Shapes");
    app.walked();
    assert_eq!(app.facts("secret").role, Role::TextField, "{}", app.tree());
    assert_eq!(app.facts("folders").role, Role::Tree, "{}", app.tree());
}

#[test]
fn who_is_in_front_and_who_ended_is_told() {
    let world = World::of(&[SHAPES, &MANY.replace("CHILDREN", "")]);
    let mut desktop = Desktop::start();
    let (shapes, many) = (world.pid("Shapes"), world.pid("Many"));
    for pid in [shapes, many] {
        desktop.wait_for_event(|event| matches!(event, DesktopEvent::AppUp(app) if app.pid == pid));
    }
    for (name, pid) in [("Shapes", shapes), ("Many", many)] {
        world.act_as_user(name, SimVerb::Raise, Some(if name == "Shapes" { "main" } else { "w" }), None);
        desktop.wait_for_event(|event| {
            matches!(event, DesktopEvent::Frontmost { pid: Some(front), window: Some(_) } if *front == pid)
        });
    }
    world.act_as_user("Shapes", SimVerb::Quit, None, None);
    desktop.wait_for_event(|event| matches!(event, DesktopEvent::AppGone { pid } if *pid == shapes));
    desktop.wait_for_event(|event| {
        matches!(event, DesktopEvent::Windows(windows) if !windows.is_empty() && windows.iter().all(|w| w.pid == many))
    });
}
