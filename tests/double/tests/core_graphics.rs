//! The double's CoreGraphics: where events go.
#![cfg(not(target_os = "macos"))]

mod common;
#[path = "common/scripts.rs"]
mod scripts;

use std::time::Duration;

use axd_double::World;
use axd_double::cg::CGPoint;
use axd_sim::SimVerb;
use common::{Element, Event, is_key_down};
use scripts::{APP, OTHER};

/// The app, with the focus in its field, behind another one.
fn behind() -> World {
    let world = World::of(&[APP, OTHER]);
    world.act_as_user("App", SimVerb::Focus, Some("field"), None);
    world.act_as_user("Other", SimVerb::Raise, Some("main"), None);
    assert_eq!(world.sim().active().0, Some(world.pid("Other")));
    world
}

fn settle(world: &World) {
    assert!(world.input().settle(Duration::from_secs(20)));
}

#[test]
fn keys_that_are_posted_to_a_process_reach_that_one_and_not_the_one_in_front() {
    let world = behind();
    let pid = world.pid("App");
    let field = Element::app(pid).find("field");
    for down in [true, false] {
        Event::key(0, down).typing("!").post_to(pid);
    }
    settle(&world);
    assert!(field.text("AXValue").contains('!'), "{}", field.text("AXValue"));
    assert_eq!(world.sim().active().0, Some(world.pid("Other")), "and nothing came to the front");
    // The letter s, held: of that the hardware knows nothing.
    Event::key(1, true).post_to(pid);
    settle(&world);
    assert!(field.text("AXValue").contains('s') && !is_key_down(1));
    // Nobody is there.
    Event::key(1, true).post_to(999_999);
    settle(&world);
}

#[test]
fn keys_that_are_posted_as_hardware_would_reach_the_one_in_front() {
    let world = behind();
    let field = Element::app(world.pid("App")).find("field");
    let before = field.text("AXValue");
    for down in [true, false] {
        Event::key(1, down).post();
    }
    settle(&world);
    assert_eq!(field.text("AXValue"), before);
}

#[test]
fn the_mouse_reaches_what_is_on_top_and_nobody_by_process() {
    let world = World::of(&[&OTHER.replace("[700, 60, 300, 200]", "[40, 40, 600, 560]"), APP]);
    // What is tested is where they go.
    world.settings(|settings| settings.takes_hurried_clicks = true);
    let (app, other) = (Element::app(world.pid("App")), Element::app(world.pid("Other")));
    let place = world.inspect("Other", |inside| {
        let press = inside.model.find("press").expect("it is there");
        inside.model.place(press).and_then(|place| place.bounds).expect("it has a place")
    });
    let at = CGPoint { x: f64::from(place.x + 5), y: f64::from(place.y + 5) };
    let click = |post: &dyn Fn(&Event)| {
        for number in [1, 2] {
            post(&Event::mouse(number, at));
        }
        settle(&world);
    };
    click(&|event| event.post_to(world.pid("Other")));
    click(&|event| event.post());
    assert_eq!(other.find("label").text("AXValue"), "not yet", "it is behind");
    world.act_as_user("Other", SimVerb::Raise, Some("main"), None);
    click(&|event| event.post());
    assert_eq!(other.find("label").text("AXValue"), "pressed");
    assert_eq!(app.find("label").text("AXValue").len(), "count 0".len());
}

#[test]
fn a_click_in_no_time_does_not_arrive_and_leaves_the_button_down() {
    // A machine that is slow may take its time between the two: then there was no such click, and it is tried again.
    let hurried = || {
        let world = World::of(&[APP]);
        let press = world.inspect("App", |inside| {
            let press = inside.model.find("press").expect("it is there");
            inside.model.place(press).and_then(|place| place.bounds).expect("it has a place")
        });
        let at = CGPoint { x: f64::from(press.x + 5), y: f64::from(press.y + 5) };
        let [down, up] = [1, 2].map(|number| Event::mouse(number, at));
        down.post();
        up.post();
        settle(&world);
        let posted = world.input().posted();
        let between = posted[1].when.duration_since(posted[0].when);
        (between < Duration::from_millis(20)).then_some(world)
    };
    let world = (0..50).find_map(|_| hurried()).expect("two events can be posted within 20 ms");
    assert_eq!(Element::app(world.pid("App")).find("label").text("AXValue"), "count 0");
    assert!(world.input().is_held());
}
