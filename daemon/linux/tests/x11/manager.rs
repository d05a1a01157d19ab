//! A small clipboard manager: asked to save, it takes what is on the clipboard as text, and has it from then on.

use std::sync::mpsc::{Sender, channel};
use std::thread::JoinHandle;

use x11rb::connection::Connection;
use x11rb::protocol::Event;
use x11rb::protocol::xproto::{
    AtomEnum, ConnectionExt as _, CreateWindowAux, EventMask, PropMode, Property, SELECTION_NOTIFY_EVENT,
    SelectionNotifyEvent, SelectionRequestEvent, Window, WindowClass,
};
use x11rb::rust_connection::RustConnection;
use x11rb::wrapper::ConnectionExt as _;

x11rb::atom_manager! {
    Atoms: AtomsCookie { CLIPBOARD, CLIPBOARD_MANAGER, INCR, SAVE_TARGETS, TARGETS, UTF8_STRING, _SAVED, _END, }
}

/// What it does when it is asked to save.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Manner {
    Saves,
    Refuses,
    /// Never answers.
    Hangs,
}

/// A manager that runs until it is dropped.
pub struct Manager {
    /// Its window, by which it is asked to end.
    window: Window,
    thread: Option<JoinHandle<()>>,
}

impl Manager {
    /// Returns when it is the desktop's clipboard manager.
    pub fn start(manner: Manner) -> Manager {
        let (sender, receiver) = channel();
        let thread = std::thread::spawn(move || serve(manner, &sender));
        Manager { window: receiver.recv().unwrap(), thread: Some(thread) }
    }
}

impl Drop for Manager {
    fn drop(&mut self) {
        let (connection, _) = x11rb::connect(None).unwrap();
        let atoms = Atoms::new(&connection).unwrap().reply().unwrap();
        connection
            .change_property8(PropMode::REPLACE, self.window, atoms._END, AtomEnum::STRING, b"end")
            .unwrap()
            .check()
            .unwrap();
        let _ = self.thread.take().unwrap().join();
    }
}

struct Desk {
    connection: RustConnection,
    atoms: Atoms,
    window: Window,
    saved: Vec<u8>,
}

fn serve(manner: Manner, sender: &Sender<Window>) {
    let (connection, screen) = x11rb::connect(None).unwrap();
    let atoms = Atoms::new(&connection).unwrap().reply().unwrap();
    let (window, root) = (connection.generate_id().unwrap(), connection.setup().roots[screen].root);
    let how = CreateWindowAux::new().event_mask(EventMask::PROPERTY_CHANGE);
    connection.create_window(0, window, root, -1, -1, 1, 1, 0, WindowClass::INPUT_ONLY, 0, &how).unwrap();
    connection.set_selection_owner(window, atoms.CLIPBOARD_MANAGER, x11rb::CURRENT_TIME).unwrap();
    connection.sync().unwrap();
    sender.send(window).unwrap();
    let mut desk = Desk { connection, atoms, window, saved: Vec::new() };
    loop {
        match desk.connection.wait_for_event().unwrap() {
            Event::PropertyNotify(event) if event.atom == desk.atoms._END => return,
            Event::SelectionRequest(event) if event.selection == desk.atoms.CLIPBOARD_MANAGER => match manner
            {
                Manner::Saves => {
                    desk.save();
                    desk.answer(&event, true);
                }
                Manner::Refuses => desk.answer(&event, false),
                Manner::Hangs => {}
            },
            Event::SelectionRequest(event) => desk.hand_out(&event),
            _ => {}
        }
    }
}

impl Desk {
    /// Takes what is on the clipboard, and the clipboard too.
    fn save(&mut self) {
        let atoms = &self.atoms;
        let (property, time) = (atoms._SAVED, x11rb::CURRENT_TIME);
        self.connection
            .convert_selection(self.window, atoms.CLIPBOARD, atoms.UTF8_STRING, property, time)
            .unwrap();
        self.connection.flush().unwrap();
        while !matches!(self.connection.wait_for_event().unwrap(), Event::SelectionNotify(_)) {}
        let (kind, bytes) = self.take();
        self.saved = bytes;
        if kind == atoms.INCR {
            self.saved.clear();
            loop {
                match self.connection.wait_for_event().unwrap() {
                    Event::PropertyNotify(event)
                        if event.atom == property && event.state == Property::NEW_VALUE => {}
                    _ => continue,
                }
                let (_, piece) = self.take();
                if piece.is_empty() {
                    break;
                }
                self.saved.extend(piece);
            }
        }
        self.connection.set_selection_owner(self.window, self.atoms.CLIPBOARD, time).unwrap();
    }

    fn take(&self) -> (u32, Vec<u8>) {
        let any = AtomEnum::ANY;
        let asked = self.connection.get_property(true, self.window, self.atoms._SAVED, any, 0, 1 << 20);
        let reply = asked.unwrap().reply().unwrap();
        (reply.type_, reply.value)
    }

    /// Gives what was saved to who asks for it as text.
    fn hand_out(&self, event: &SelectionRequestEvent) {
        let Atoms { TARGETS, UTF8_STRING, .. } = self.atoms;
        let (to, property) = (event.requestor, event.property);
        if event.target == TARGETS {
            let targets = [TARGETS, UTF8_STRING];
            self.connection
                .change_property32(PropMode::REPLACE, to, property, AtomEnum::ATOM, &targets)
                .unwrap();
        } else if event.target == UTF8_STRING {
            self.connection
                .change_property8(PropMode::REPLACE, to, property, UTF8_STRING, &self.saved)
                .unwrap();
        }
        self.answer(event, [TARGETS, UTF8_STRING].contains(&event.target));
    }

    fn answer(&self, event: &SelectionRequestEvent, given: bool) {
        let answer = SelectionNotifyEvent {
            response_type: SELECTION_NOTIFY_EVENT,
            sequence: 0,
            time: event.time,
            requestor: event.requestor,
            selection: event.selection,
            target: event.target,
            property: if given { event.property } else { 0 },
        };
        self.connection.send_event(false, event.requestor, EventMask::NO_EVENT, answer).unwrap();
        self.connection.flush().unwrap();
    }
}
