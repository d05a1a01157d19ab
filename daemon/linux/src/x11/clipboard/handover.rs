//! Giving what is on the clipboard to the desktop's clipboard manager before axd ends, as the freedesktop specification
//! of clipboard managers has it: the manager is asked to save it, and takes it from us like anybody else.

use std::time::{Duration, Instant};

use tracing::{debug, info};
use x11rb::protocol::Event;
use x11rb::protocol::xproto::{AtomEnum, ConnectionExt as _, PropMode};
use x11rb::wrapper::ConnectionExt as _;

use crate::x11::clipboard::ClipboardWindow;
use crate::x11::connection::XResult;
use axd_platform::{Failure, FailureKind};

/// How long the manager may take. It keeps axd from ending, so it is not much.
const MANAGER_TIMEOUT: Duration = Duration::from_secs(2);

impl ClipboardWindow {
    /// Returns when the manager has it, or there is nothing to give or nobody to take it.
    pub(crate) fn hand_over(&mut self) -> Result<(), Failure> {
        let Some(held) = &self.owner.held else { return Ok(()) };
        let targets: Vec<u32> = held.forms.iter().map(|form| form.target).collect();
        if self.manager()? == 0 {
            info!("there is no clipboard manager: what is on the clipboard goes with axd");
            return Ok(());
        }
        let time = self.server_time()?;
        let ask = || -> XResult<()> {
            let (connection, atoms) = (&self.display.connection, &self.atoms);
            let (window, property) = (self.window, atoms._AXD_CLIPBOARD);
            connection
                .change_property32(PropMode::REPLACE, window, property, AtomEnum::ATOM, &targets)?
                .check()?;
            let (manager, save) = (atoms.CLIPBOARD_MANAGER, atoms.SAVE_TARGETS);
            connection.convert_selection(window, manager, save, property, time)?.check()?;
            Ok(())
        };
        ask()?;
        let until = Instant::now() + MANAGER_TIMEOUT;
        while let Some(event) = self.display.next_event(Some(until), None)? {
            match event {
                Event::SelectionNotify(event) if event.selection == self.atoms.CLIPBOARD_MANAGER => {
                    debug!(saved = event.property != 0, "the clipboard manager has answered");
                    return match event.property {
                        0 => Err(Failure::new(FailureKind::Refused, "the clipboard manager refused")),
                        _ => Ok(()),
                    };
                }
                event => self.serve(&event)?,
            }
        }
        Err(Failure::new(FailureKind::Unresponsive, "the clipboard manager does not answer"))
    }

    fn manager(&self) -> XResult<u32> {
        Ok(self.display.connection.get_selection_owner(self.atoms.CLIPBOARD_MANAGER)?.reply()?.owner)
    }
}
