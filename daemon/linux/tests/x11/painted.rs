//! A window of one colour, on a connection of its own.

use axd_protocol::Bounds;
use x11rb::connection::Connection;
use x11rb::protocol::xproto::{ConnectionExt as _, CreateWindowAux, Window, WindowClass};
use x11rb::rust_connection::RustConnection;

/// The window; gone when it is dropped.
pub struct Painted {
    pub connection: RustConnection,
    pub window: Window,
}

impl Painted {
    /// Shows it, on top of all others, beside the window manager unless it is `managed`.
    pub fn new(place: Bounds, [red, green, blue]: [u8; 3], managed: bool) -> Painted {
        let (connection, screen) = x11rb::connect(None).unwrap();
        let root = connection.setup().roots[screen].root;
        let window = connection.generate_id().unwrap();
        let colour = u32::from_be_bytes([0, red, green, blue]);
        let how = CreateWindowAux::new().background_pixel(colour).override_redirect(u32::from(!managed));
        let (width, height) = (place.width as u16, place.height as u16);
        let class = WindowClass::INPUT_OUTPUT;
        connection
            .create_window(0, window, root, place.x as i16, place.y as i16, width, height, 0, class, 0, &how)
            .unwrap();
        connection.map_window(window).unwrap();
        // The server has shown it when it answers the next question.
        connection.get_input_focus().unwrap().reply().unwrap();
        Painted { connection, window }
    }
}
