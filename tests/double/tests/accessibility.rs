//! The double's accessibility API: what apps show, what errors there are, and what is announced.
#![cfg(not(target_os = "macos"))]

mod common;
#[path = "common/scripts.rs"]
mod scripts;

use std::cell::RefCell;
use std::ffi::c_void;
use std::time::{Duration, Instant};

use axd_double::ax::Error;
use axd_double::faults::{Call, Fault};
use axd_double::{Manners, World, ledger};
use axd_protocol::State;
use axd_sim::SimVerb;
use common::{Element, Observer, boxed_error};
use core_foundation::base::{CFType, TCFType};
use core_foundation::boolean::CFBoolean;
use core_foundation::dictionary::CFDictionary;
use core_foundation::number::CFNumber;
use core_foundation::string::CFString;
use core_foundation_sys::base::CFTypeRef;
use core_foundation_sys::dictionary::CFDictionaryRef;
use core_foundation_sys::runloop::{
    CFRunLoopAddSource, CFRunLoopGetCurrent, CFRunLoopRunInMode, CFRunLoopSourceInvalidate,
    kCFRunLoopDefaultMode, kCFRunLoopRunHandledSource,
};
use core_foundation_sys::string::CFStringRef;
use scripts::APP;

fn number(value: f64) -> CFType {
    CFNumber::from(value).as_CFType()
}

fn text(value: &str) -> CFType {
    CFString::new(value).as_CFType()
}

fn truth() -> CFType {
    CFBoolean::true_value().as_CFType()
}

#[test]
fn an_app_shows_itself_as_appkit_shows_views() {
    let world = World::of(&[APP]);
    let app = Element::app(world.pid("App"));
    assert_eq!((app.text("AXRole"), app.text("AXTitle")), ("AXApplication".into(), "App".into()));
    let window = &app.elements("AXWindows")[0];
    assert_eq!(window.text("AXSubrole"), "AXStandardWindow");
    let roles = |elements: Vec<Element>| -> Vec<String> {
        elements.iter().map(|element| element.text("AXRole")).collect()
    };
    assert_eq!(roles(app.elements("AXChildren")), ["AXWindow", "AXMenuBar"], "the menu bar is the app's");
    let item = &app.elements("AXChildren")[1].elements("AXChildren")[0];
    assert_eq!(roles(vec![item.clone()]), ["AXMenuBarItem"]);
    let menu = &item.elements("AXChildren")[0];
    assert_eq!(roles(menu.elements("AXChildren")), ["AXMenuItem", "AXMenuItem"], "of a closed menu too");
    assert_eq!(app.find("check").number("AXValue"), 0.0);
    assert_eq!(app.find("slider").number("AXValue"), 5.0);
    assert_eq!(app.find("label").text("AXValue"), "count 0");
    assert_eq!(app.find("label").get("AXTitle").err(), Some(Error::AttributeUnsupported));
    assert_eq!(app.find("field").text("AXDescription"), "Field");
    assert_eq!(app.find("secret").text("AXSubrole"), "AXSecureTextField");
    assert_eq!(app.find("secret").text("AXValue"), "••••");
    assert_eq!(world.trace().secure_reads(), 1, "and that it was asked for is known");
    let rows = app.find("rows").elements("AXRows");
    assert_eq!(rows[1].elements("AXChildren")[0].elements("AXChildren")[0].text("AXValue"), "second");
    assert!(!app.walk().iter().any(|element| {
        element
            .get("AXValue")
            .is_ok_and(|value| value.downcast::<CFString>().is_some_and(|it| it == "not shown"))
    }));
    // Up again on the way down.
    for element in app.walk() {
        for child in element.elements("AXChildren") {
            let parent = Element(child.get("AXParent").expect("a parent"));
            assert!(parent == element, "{}", child.text("AXRole"));
        }
    }
}

#[test]
fn elements_are_equal_by_what_they_name() {
    let world = World::of(&[APP]);
    let pid = world.pid("App");
    let (one, other) = (Element::app(pid).find("press"), Element::app(pid).find("press"));
    assert!(one.raw() != other.raw() && one == other);
    // SAFETY: both live.
    let hashes = unsafe { [one.raw(), other.raw()].map(|raw| core_foundation_sys::base::CFHash(raw)) };
    assert_eq!(hashes[0], hashes[1]);
    assert!(one != Element::app(pid).find("check"));
}

#[test]
fn what_cannot_be_read_among_many_has_its_error_in_its_place() {
    let world = World::of(&[APP]);
    let press = Element::app(world.pid("App")).find("press");
    let values = press.many(&["AXTitle", "AXSubrole", "AXRows", "AXChildren"]).unwrap();
    let errors: Vec<Option<Error>> = values.iter().map(boxed_error).collect();
    assert_eq!(errors, [None, Some(Error::NoValue), Some(Error::AttributeUnsupported), None]);
}

#[test]
fn every_error_can_be_had() {
    let world = World::of(&[APP]);
    let press = Element::app(world.pid("App")).find("press");
    for error in Error::ALL {
        let fault = Fault {
            widget: Some("press".to_owned()),
            name: Some("AXTitle".to_owned()),
            error: Some(error),
            times: Some(1),
            ..Fault::default()
        };
        world.faults().add(fault);
        assert_eq!(press.get("AXTitle").err(), Some(error));
        assert!(press.get("AXTitle").is_ok(), "once is enough");
    }
}

#[test]
fn an_element_that_dies_is_invalid_from_then_on() {
    let world = World::of(&[APP]);
    let app = Element::app(world.pid("App"));
    let (press, check) = (app.find("press"), app.find("check"));
    let kills = Fault {
        call: Some(Call::ReadMany),
        widget: Some("press".to_owned()),
        kills: true,
        times: Some(1),
        ..Fault::default()
    };
    world.faults().add(kills);
    assert_eq!(press.many(&["AXTitle"]).err(), Some(Error::InvalidUIElement));
    assert_eq!(press.get("AXRole").err(), Some(Error::InvalidUIElement));
    assert_eq!(press.perform("AXPress").err(), Some(Error::InvalidUIElement));
    assert!(check.get("AXRole").is_ok());
    world.act_as_user("App", SimVerb::Quit, None, None);
    assert_eq!(check.get("AXRole").err(), Some(Error::CannotComplete), "nobody is there any more");
}

#[test]
fn nothing_is_told_without_permission() {
    let world = World::of(&[APP]);
    let app = Element::app(world.pid("App"));
    world.settings(|settings| settings.trusted = false);
    assert_eq!(app.get("AXRole").err(), Some(Error::APIDisabled));
    world.settings(|settings| settings.trusted = true);
    assert!(app.get("AXRole").is_ok());
}

#[test]
fn a_call_waits_for_a_hung_app_as_long_as_its_object_says() {
    let world = World::of(&[APP]);
    let app = Element::app(world.pid("App"));
    let equal = Element::app(world.pid("App"));
    Element::system_wide().set_timeout(0.4);
    app.set_timeout(0.05);
    world.act_as_user("App", SimVerb::Fault, Some("hang"), None);
    let time = |element: &Element| {
        let began = Instant::now();
        assert_eq!(element.get("AXRole").err(), Some(Error::CannotComplete));
        began.elapsed()
    };
    assert!((50..390).contains(&time(&app).as_millis()), "the object's own");
    assert!(time(&equal).as_millis() >= 400, "another that is equal has the one for all");
    world.act_as_user("App", SimVerb::Heal, None, None);
    assert!(app.get("AXRole").is_ok());
}

#[test]
fn what_is_asked_of_elements_is_done_or_refused_as_appkit_does() {
    let world = World::of(&[APP]);
    let app = Element::app(world.pid("App"));
    let (press, slider, field) = (app.find("press"), app.find("slider"), app.find("field"));
    assert_eq!(press.actions(), ["AXPress"]);
    assert_eq!(press.perform("AXPress"), Ok(()));
    assert_eq!(app.find("label").text("AXValue"), "count 1");
    assert_eq!(press.perform("AXIncrement"), Err(Error::ActionUnsupported));
    assert_eq!(app.find("off").perform("AXPress"), Err(Error::Failure), "it is disabled");
    assert_eq!(slider.set("AXValue", &number(8.0)), Ok(()));
    assert_eq!(slider.number("AXValue"), 8.0);
    assert_eq!(slider.set("AXValue", &text("8")), Err(Error::IllegalArgument), "text is no number");
    assert_eq!(field.set("AXValue", &number(8.0)), Err(Error::IllegalArgument), "nor a number text");
    assert_eq!(field.set("AXValue", &text("new")), Ok(()));
    assert_eq!(field.set("AXFocused", &truth()), Ok(()));
    assert_eq!(field.set("AXSelectedText", &text("er")), Ok(()));
    assert_eq!(field.text("AXValue"), "newer");
    assert_eq!(app.find("check").is_settable("AXValue"), Ok(false));
    let row = app.find("rows").elements("AXRows").remove(1);
    assert_eq!(row.set("AXSelected", &truth()), Ok(()));
    assert!(app.find("rows").elements("AXSelectedRows") == [row]);
}

#[test]
fn a_press_that_opens_a_modal_dialog_is_answered_when_that_is_closed() {
    let world = World::of(&[APP]);
    let app = Element::app(world.pid("App"));
    world.act_as_user("App", SimVerb::Fault, Some("blocks"), None);
    let ask = app.find("ask");
    ask.set_timeout(0.2);
    assert_eq!(ask.perform("AXPress"), Err(Error::CannotComplete), "it was sent, and not answered in time");
    assert_eq!(app.elements("AXWindows").len(), 2, "and done");
    assert_eq!(app.find("yes").perform("AXPress"), Ok(()));
    assert_eq!(app.elements("AXWindows").len(), 1);
}

#[test]
fn a_hundred_thousand_rows_are_there_and_twenty_in_view() {
    let world = World::of(&[r#"
name = "Big"
[[window]]
id = "w"
title = "Big"
children = [{ role = "table", id = "t", name = "T", rows = { total = 100000, visible = 20, cells = ["cell {row}"] } }]
"#]);
    let app = Element::app(world.pid("Big"));
    let window = app.elements("AXWindows").remove(0);
    let table = window.elements("AXChildren").remove(0).elements("AXChildren").remove(0);
    assert_eq!(table.count("AXRows"), Ok(100_000));
    let before = world.trace().elements();
    let visible = table.elements("AXVisibleRows");
    assert_eq!((visible.len(), world.trace().elements() - before), (20, 20));
    assert_eq!(visible[0].elements("AXChildren")[0].elements("AXChildren")[0].text("AXValue"), "cell 1");
    let far = table.elements("AXRows").remove(70_000);
    assert_eq!(far.perform("AXScrollToVisible"), Ok(()));
    assert!(table.elements("AXVisibleRows").contains(&far), "it is the same row, come into view");
}

thread_local! {
    static HEARD: RefCell<Vec<(String, Option<String>, usize)>> = const { RefCell::new(Vec::new()) };
}

extern "C" fn hear(
    _observer: CFTypeRef,
    _element: CFTypeRef,
    name: CFStringRef,
    info: CFDictionaryRef,
    context: *mut c_void,
) {
    // SAFETY: all are lent for the call.
    let (name, spoken) = unsafe {
        let info: CFDictionary<CFString, CFType> = CFDictionary::wrap_under_get_rule(info);
        let spoken = info.find(CFString::new("AXAnnouncementKey"));
        let spoken = spoken.and_then(|spoken| spoken.downcast::<CFString>()).map(|spoken| spoken.to_string());
        (CFString::wrap_under_get_rule(name).to_string(), spoken)
    };
    HEARD.with_borrow_mut(|heard| heard.push((name, spoken, context.addr())));
}

/// Runs the loop until this many notifications have come.
fn run_until(count: usize) -> Vec<(String, Option<String>, usize)> {
    let deadline = Instant::now() + Duration::from_secs(20);
    while HEARD.with_borrow(Vec::len) < count && Instant::now() < deadline {
        // SAFETY: the mode is a constant.
        unsafe { CFRunLoopRunInMode(kCFRunLoopDefaultMode, 1.0, 1) };
    }
    HEARD.take()
}

fn on_this_loop(observer: &Observer) {
    // SAFETY: both live.
    unsafe { CFRunLoopAddSource(CFRunLoopGetCurrent(), observer.source(), kCFRunLoopDefaultMode) };
}

#[test]
fn what_happens_is_announced_to_the_loop_that_has_the_source() {
    let world = World::of(&[APP]);
    world.settings(|settings| settings.manners = Manners::polite());
    let mark = ledger::mark();
    {
        let pid = world.pid("App");
        let app = Element::app(pid);
        let observer = Observer::new(pid, hear).unwrap();
        let context = std::ptr::without_provenance_mut(7);
        for name in ["AXValueChanged", "AXRowCountChanged", "AXAnnouncementRequested", "AXTitleChanged"] {
            assert_eq!(observer.add(&app, name, context), Ok(()));
        }
        assert_eq!(observer.add(&app, "AXValueChanged", context), Err(Error::NotificationAlreadyRegistered));
        assert_eq!(observer.add(&app, "AXNonsense", context), Err(Error::NotificationUnsupported));
        on_this_loop(&observer);
        world.act_as_user("App", SimVerb::Press, Some("press"), None);
        let heard = run_until(4);
        let names: Vec<&str> = heard.iter().map(|(name, ..)| name.as_str()).collect();
        let announced = ["AXValueChanged", "AXValueChanged", "AXRowCountChanged", "AXAnnouncementRequested"];
        assert_eq!(names, announced);
        assert_eq!((heard[3].1.as_deref(), heard[0].2), (Some("Pressed"), 7));
        // That something is enabled is not announced: only the check itself comes.
        world.inspect("App", |inside| {
            let off = inside.model.find("off").expect("it is there");
            inside.model.set_state(off, State::Disabled, false);
            let check = inside.model.find("check").expect("it is there");
            inside.model.set_state(check, State::Checked, true);
        });
        assert_eq!(run_until(1).len(), 1);
        // SAFETY: it lives.
        unsafe { CFRunLoopSourceInvalidate(observer.source()) };
    }
    // The thread that announced it may still hold the source for a moment.
    let deadline = Instant::now() + Duration::from_secs(20);
    while !ledger::balance(mark).is_even() && Instant::now() < deadline {
        std::thread::yield_now();
    }
    let balance = ledger::balance(mark);
    assert!(balance.is_even(), "{balance}");
}

#[test]
fn what_was_posted_before_it_was_given_up_still_comes() {
    let world = World::of(&[APP]);
    let pid = world.pid("App");
    let app = Element::app(pid);
    let observer = Observer::new(pid, hear).unwrap();
    assert_eq!(observer.add(&app, "AXValueChanged", std::ptr::null_mut()), Ok(()));
    on_this_loop(&observer);
    world.act_as_user("App", SimVerb::Press, Some("check"), None);
    // The app has answered something since, so what it posted is in the port.
    assert!(app.get("AXRole").is_ok());
    assert_eq!(observer.remove(&app, "AXValueChanged"), Ok(()));
    assert_eq!(observer.remove(&app, "AXValueChanged"), Err(Error::NotificationNotRegistered));
    // SAFETY: the mode is a constant.
    assert_eq!(unsafe { CFRunLoopRunInMode(kCFRunLoopDefaultMode, 10.0, 1) }, kCFRunLoopRunHandledSource);
    assert_eq!(HEARD.take().len(), 1);
    // SAFETY: it lives.
    unsafe { CFRunLoopSourceInvalidate(observer.source()) };
}

#[test]
fn observers_are_refused_as_often_as_wanted() {
    let world = World::of(&[APP]);
    let pid = world.pid("App");
    let app = Element::app(pid);
    let observer = Observer::new(pid, hear).unwrap();
    world.faults().add(Fault {
        call: Some(Call::AddNotification),
        error: Some(Error::CannotComplete),
        times: Some(2),
        ..Fault::default()
    });
    for _ in 0..2 {
        assert_eq!(observer.add(&app, "AXCreated", std::ptr::null_mut()), Err(Error::CannotComplete));
    }
    assert_eq!(observer.add(&app, "AXCreated", std::ptr::null_mut()), Ok(()));
    assert_eq!(world.observed(), (1, 1));
    world.sleep();
    assert_eq!(world.observed(), (1, 0), "after sleep nobody is told, and nobody was told so");
}

#[test]
fn the_inside_of_a_page_comes_when_it_is_asked_for() {
    let world = World::of(&[r#"
name = "Chat"
identity = "test.electron.chat"
[[window]]
id = "w"
title = "Chat"
children = [{ role = "document", id = "page", name = "Page", children = [
  { role = "group", id = "outer", children = [{ role = "button", id = "send", name = "Send" }] },
] }]
"#]);
    let pid = world.pid("Chat");
    let app = Element::app(pid);
    let page = app.find("page");
    assert!(page.elements("AXChildren").is_empty());
    let observer = Observer::new(pid, hear).unwrap();
    for name in ["AXLayoutComplete", "AXLoadComplete"] {
        assert_eq!(observer.add(&app, name, std::ptr::null_mut()), Ok(()));
    }
    on_this_loop(&observer);
    // It says no, and does it.
    assert_eq!(app.set("AXManualAccessibility", &truth()), Err(Error::AttributeUnsupported));
    let mut heard = Vec::new();
    while heard.last().is_none_or(|(name, ..): &(String, Option<String>, usize)| name != "AXLoadComplete") {
        let more = run_until(1);
        assert!(!more.is_empty(), "{heard:?}");
        heard.extend(more);
    }
    assert!(heard.len() > 1, "it grows by events: {heard:?}");
    assert_eq!(app.find("send").text("AXTitle"), "Send");
    // SAFETY: it lives.
    unsafe { CFRunLoopSourceInvalidate(observer.source()) };
}

#[test]
fn a_walk_leaves_nothing_behind() {
    let world = World::of(&[APP]);
    let mark = ledger::mark();
    {
        let app = Element::app(world.pid("App"));
        for element in app.walk() {
            for name in element.names().unwrap() {
                let _ = element.get(&name);
            }
        }
    }
    let balance = ledger::balance(mark);
    assert!(balance.is_even(), "{balance}");
}

fn point(x: f64, y: f64) -> CFType {
    common::boxed(1, [x, y])
}

#[test]
fn a_window_that_is_moved_for_a_screen_reader_is_on_its_way_for_a_while() {
    let world = World::of(&[APP]);
    world.stop_clock();
    let app = Element::app(world.pid("App"));
    let window = app.elements("AXWindows").remove(0);
    let place = || common::unboxed(&window.get("AXPosition").unwrap());
    assert_eq!(window.set("AXPosition", &point(100.0, 100.0)), Ok(()));
    assert_eq!(place(), [100.0, 100.0]);
    // It says no, and does it.
    assert_eq!(app.set("AXEnhancedUserInterface", &truth()), Err(Error::NotImplemented));
    assert!(world.is_enhanced("App"));
    assert_eq!(window.set("AXPosition", &point(200.0, 300.0)), Ok(()));
    assert_eq!(place(), [150.0, 200.0], "half way");
    world.pass(Duration::from_millis(200));
    assert_eq!(place(), [200.0, 300.0]);
    // Who asks for the next before the last is done cuts that short.
    assert_eq!(window.set("AXPosition", &point(0.0, 100.0)), Ok(()));
    assert_eq!(window.set("AXPosition", &point(100.0, 200.0)), Ok(()));
    assert_eq!(place(), [100.0, 200.0], "half way from half way");
    world.pass(Duration::from_millis(200));
    assert_eq!(place(), [100.0, 200.0]);
}

#[test]
fn chromium_counts_what_is_switched_on_and_off_before_it_believes_it() {
    let world = World::of(&[r#"
name = "Browser"
identity = "test.chromium.browser"
[[window]]
id = "w"
title = "Browser"
children = [{ role = "document", id = "page", name = "Page", children = [{ role = "button", id = "send", name = "Send" }] }]
"#]);
    world.stop_clock();
    let app = Element::app(world.pid("Browser"));
    let is_there = || {
        app.walk().iter().any(|element| {
            element.get("AXRole").is_ok_and(|role| role == CFString::new("AXWebArea").into_CFType())
        })
    };
    assert!(world.is_asleep("Browser") && !is_there(), "a page that sleeps is in nobody's children");
    world.keep_pages_awake("Browser");
    let page = app.find("page");
    let is_shown = || !page.elements("AXChildren").is_empty();
    let second = Duration::from_secs(1);
    world.enhance("Browser", true);
    world.pass(second);
    world.enhance("Browser", false);
    world.pass(2 * second);
    assert!(!is_shown(), "it was switched off before it was believed");
    world.enhance("Browser", true);
    world.pass(2 * second);
    let deadline = Instant::now() + Duration::from_secs(20);
    while !is_shown() {
        assert!(Instant::now() < deadline, "it is never shown");
        std::thread::yield_now();
    }
    world.enhance("Browser", false);
    assert!(!is_shown(), "at once");
}
