//! What a person does is told apart from what programs send: by the devices of the X server.

use std::time::Instant;

use axd_platform::{Gate, Input, InputStep, Platform};
use axd_protocol::Point;
use x11rb::connection::{Connection, RequestConnection};
use x11rb::protocol::xinput::{self, ConnectionExt as _, Device, DeviceClassData};
use x11rb::protocol::xtest::ConnectionExt as _;
use x11rb::rust_connection::RustConnection;

use crate::desk::{Desk, inside};

/// The numbers of these events, counted from the first of the extension.
const DEVICE_KEY_PRESS: u8 = 1;
const DEVICE_BUTTON_PRESS: u8 = 3;

/// A person at the keyboard and the mouse of the server itself, which are no devices of XTEST.
struct Person {
    connection: RustConnection,
    root: u32,
    first_event: u8,
    keyboard: u8,
    mouse: u8,
}

impl Person {
    fn new() -> Person {
        let (connection, screen) = x11rb::connect(None).unwrap();
        let root = connection.setup().roots[screen].root;
        let extension = connection.extension_information(xinput::X11_EXTENSION_NAME).unwrap().unwrap();
        connection.xinput_xi_query_version(2, 2).unwrap().reply().unwrap();
        let devices = connection.xinput_xi_query_device(Device::ALL).unwrap().reply().unwrap().infos;
        let real = |wanted: fn(&DeviceClassData) -> bool| {
            let own = devices.iter().filter(|device| {
                let name = String::from_utf8_lossy(&device.name);
                !name.contains("XTEST") && !name.starts_with("Virtual core")
            });
            let mut own = own.filter(|device| device.classes.iter().any(|class| wanted(&class.data)));
            u8::try_from(own.next().expect("a device of the server's own").deviceid).unwrap()
        };
        let keyboard = real(|class| matches!(class, DeviceClassData::Key(_)));
        let mouse = real(|class| matches!(class, DeviceClassData::Button(_)));
        Person { connection, root, first_event: extension.first_event, keyboard, mouse }
    }

    fn sends(&self, event: u8, detail: u8, device: u8) {
        // A release is the event after the press.
        for event in [event, event + 1] {
            let sent = self.connection.xtest_fake_input(
                self.first_event + event,
                detail,
                x11rb::CURRENT_TIME,
                self.root,
                0,
                0,
                device,
            );
            sent.unwrap().check().unwrap();
        }
    }

    fn presses_a_key(&self) {
        self.sends(DEVICE_KEY_PRESS, 38, self.keyboard);
    }

    fn clicks(&self) {
        self.sends(DEVICE_BUTTON_PRESS, 1, self.mouse);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_person_is_noticed_in_the_window_that_is_used_and_axd_is_not() {
    if !inside("person::a_person_is_noticed_in_the_window_that_is_used_and_axd_is_not", &[]) {
        return;
    }
    let mut desk = Desk::new().await;
    let person = Person::new();
    let of_axd = desk.echo("gtk3").await;
    let activity = desk.platform.person().unwrap();
    let nothing = activity.last_use(None, None);
    let typing = Input::from(vec![InputStep::Text("axd".to_owned())]);
    desk.platform.input(typing, Gate::new()).await.unwrap().unwrap();
    let of_both = desk.another_echo("gtk3", of_axd).await;
    let pid = |desk: &Desk, window| Some(desk.window(window).pid);
    let (axds, both) = (pid(&desk, of_axd), pid(&desk, of_both));

    let pressed = Instant::now();
    person.presses_a_key();
    desk.until_true("the key is noticed", || activity.last_use(both, Some(of_both)) >= pressed).await;
    assert_eq!(activity.last_use(axds, Some(of_axd)), nothing, "what axd typed there is not a person's");

    let bounds = desk.window(of_both).bounds.unwrap();
    let middle = Point { x: bounds.x + bounds.width / 2, y: bounds.y + bounds.height / 2 };
    let moving = Input::from(vec![InputStep::Move(middle)]);
    desk.platform.input(moving, Gate::new()).await.unwrap().unwrap();
    let clicked = Instant::now();
    person.clicks();
    desk.until_true("the click is noticed", || activity.last_use(both, Some(of_both)) >= clicked).await;
    assert_eq!(activity.last_use(axds, Some(of_axd)), nothing);
}
