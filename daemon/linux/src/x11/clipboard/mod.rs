//! The clipboard, on a thread of its own: X11 keeps nothing there itself, so as long as axd runs it serves what it
//! has put on it, and before it ends gives it to the clipboard manager, if there is one (`handover`). The thread speaks
//! the protocol itself (`owner` hands out, `reader` asks), because a clipboard that fails has to say how: an owner that
//! does not answer, a kind that nobody offers, a secret.

mod formats;
mod handover;
mod owner;
mod reader;

use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, TryRecvError, channel};

use nix::sys::eventfd::{EfdFlags, EventFd};
use parking_lot::Mutex;
use tokio::sync::oneshot;
use tracing::{debug, warn};
use x11rb::connection::Connection;
use x11rb::protocol::Event;
use x11rb::protocol::xproto::{ConnectionExt as _, CreateWindowAux, EventMask, Window, WindowClass};

use crate::x11::clipboard::owner::{OwnedContent, Representation, SelectionOwner};
use crate::x11::connection::{Display, XResult};
use axd_platform::{ClipboardContent, ClipboardKind, Failure, FailureKind, Gate, Sent};

x11rb::atom_manager! {
    /// The atoms of the clipboard.
    pub(self) ClipboardAtoms: ClipboardAtomsCookie {
        ATOM_PAIR,
        CLIPBOARD,
        CLIPBOARD_MANAGER,
        INCR,
        MULTIPLE,
        SAVE_TARGETS,
        TARGETS,
        TEXT,
        TIMESTAMP,
        UTF8_STRING,
        _AXD_CLIPBOARD,
        _AXD_TIME,
    }
}

/// A request to the thread of the clipboard.
#[derive(Debug)]
pub(crate) enum ClipboardRequest {
    /// To read it.
    Get(ClipboardKind, Answer<Option<ClipboardContent>>),
    /// To put this on it, or to empty it.
    Set(Option<ClipboardContent>, Gate, Answer<()>),
    /// To give what is ours on it to the clipboard manager.
    HandOver(Answer<()>),
}

/// Where an answer goes.
type Answer<T> = oneshot::Sender<Result<T, Failure>>;

impl ClipboardRequest {
    /// Answers that it cannot be done.
    fn fail(self, failure: Failure) {
        // Whoever asked may have stopped waiting.
        match self {
            ClipboardRequest::Get(_, answer) => drop(answer.send(Err(failure))),
            ClipboardRequest::Set(_, _, answer) | ClipboardRequest::HandOver(answer) => {
                drop(answer.send(Err(failure)))
            }
        }
    }
}

/// A handle to the thread, which is started when it is first needed.
#[derive(Default)]
pub(crate) struct Clipboard(Mutex<Option<ThreadHandle>>);

struct ThreadHandle {
    jobs: Sender<ClipboardRequest>,
    /// Wakes the thread, which waits for the X server otherwise.
    wakeup: Arc<EventFd>,
}

impl Clipboard {
    /// Gives what is on it to the clipboard manager; answers when it is done.
    pub fn hand_over(&self, answer: Answer<()>) {
        // Where there is no thread, nothing was put there.
        match *self.0.lock() {
            Some(_) => {}
            None => return drop(answer.send(Ok(()))),
        }
        self.ask(ClipboardRequest::HandOver(answer));
    }

    /// Does what is wished; answers when it is done.
    pub fn ask(&self, mut request: ClipboardRequest) {
        let mut line = self.0.lock();
        if let Some(ThreadHandle { jobs, wakeup }) = &*line {
            match jobs.send(request) {
                Ok(()) => return wake(wakeup),
                Err(back) => request = back.0,
            }
        }
        match start_thread() {
            Ok(started) => {
                // The thread has just been given the other end.
                let _ = started.jobs.send(request);
                wake(&started.wakeup);
                *line = Some(started);
            }
            Err(error) => {
                let message = format!("cannot start the clipboard thread: {error}");
                request.fail(Failure::new(FailureKind::Refused, message));
            }
        }
    }
}

fn wake(wakeup: &EventFd) {
    // It fails only if its counter is full: then it is readable anyway.
    let _ = wakeup.write(1);
}

fn start_thread() -> std::io::Result<ThreadHandle> {
    let wakeup = Arc::new(EventFd::from_flags(EfdFlags::EFD_CLOEXEC | EfdFlags::EFD_NONBLOCK)?);
    let (jobs, inbox) = channel();
    let woken = Arc::clone(&wakeup);
    std::thread::Builder::new().name("axd-clipboard".to_owned()).spawn(move || serve(&inbox, &woken))?;
    Ok(ThreadHandle { jobs, wakeup })
}

/// Serves until nobody can ask any more, or the server is gone.
fn serve(jobs: &Receiver<ClipboardRequest>, wakeup: &EventFd) {
    let mut seat = match ClipboardWindow::new() {
        Ok(seat) => seat,
        Err(failure) => {
            // The call that made the thread start gets the reason; a later one starts another.
            if let Ok(request) = jobs.recv() {
                request.fail(failure);
            }
            return;
        }
    };
    if let Err(error) = seat.run(jobs, wakeup) {
        warn!(%error, "the clipboard is lost");
    }
}

/// axd's window on the X server, which owns and requests the selection.
struct ClipboardWindow {
    display: Display,
    atoms: ClipboardAtoms,
    window: Window,
    owner: SelectionOwner,
}

impl ClipboardWindow {
    fn new() -> Result<ClipboardWindow, Failure> {
        let display = Display::open()?;
        let sit = || -> XResult<(ClipboardAtoms, Window)> {
            let atoms = ClipboardAtoms::new(&display.connection)?.reply()?;
            let window = display.connection.generate_id()?;
            let (class, how) =
                (WindowClass::INPUT_ONLY, CreateWindowAux::new().event_mask(EventMask::PROPERTY_CHANGE));
            display
                .connection
                .create_window(0, window, display.root, -1, -1, 1, 1, 0, class, 0, &how)?
                .check()?;
            Ok((atoms, window))
        };
        let (atoms, window) = sit()?;
        Ok(ClipboardWindow { display, atoms, window, owner: SelectionOwner::default() })
    }

    fn run(&mut self, jobs: &Receiver<ClipboardRequest>, wakeup: &EventFd) -> XResult<()> {
        loop {
            match jobs.try_recv() {
                Ok(request) => {
                    self.handle(request);
                    self.display.sync()?;
                    continue;
                }
                Err(TryRecvError::Disconnected) => return Ok(()),
                Err(TryRecvError::Empty) => {}
            }
            if let Some(event) = self.display.next_event(self.owner.next_deadline(), Some(wakeup))? {
                self.serve(&event)?;
            }
            // Nothing to read means that no request woke the thread.
            let _ = wakeup.read();
            self.owner.expire();
        }
    }

    /// Serves other clients' requests for the content that axd owns.
    fn serve(&mut self, event: &Event) -> XResult<()> {
        match event {
            Event::SelectionRequest(event) => self.owner.on_request(&self.display, &self.atoms, event)?,
            Event::PropertyNotify(event) if event.window != self.window => {
                self.owner.on_property_deleted(&self.display, event)?
            }
            Event::DestroyNotify(event) => self.owner.on_window_destroyed(event.window),
            Event::SelectionClear(event) if event.selection == self.atoms.CLIPBOARD => self.owner.held = None,
            Event::Error(error) => debug!(?error, "the clipboard"),
            _ => {}
        }
        Ok(())
    }

    fn handle(&mut self, request: ClipboardRequest) {
        // Whoever asked may have stopped waiting.
        match request {
            ClipboardRequest::Get(kind, answer) => drop(answer.send(self.read(kind))),
            ClipboardRequest::Set(content, gate, answer) => drop(answer.send(self.set(content, &gate))),
            ClipboardRequest::HandOver(answer) => drop(answer.send(self.hand_over())),
        }
    }

    fn set(&mut self, content: Option<ClipboardContent>, gate: &Gate) -> Result<(), Failure> {
        let since = self.server_time()?;
        let held = match content {
            Some(content) => Some(OwnedContent { forms: self.forms(&content)?, content, since }),
            None => None,
        };
        gate.enter()?;
        let owner = if held.is_some() { self.window } else { 0 };
        let claim = || -> XResult<Window> {
            let connection = &self.display.connection;
            connection.set_selection_owner(owner, self.atoms.CLIPBOARD, since)?.check()?;
            Ok(connection.get_selection_owner(self.atoms.CLIPBOARD)?.reply()?.owner)
        };
        let now = claim().map_err(|error| Failure::from(error).sent(Sent::Maybe))?;
        self.owner.held = held;
        if now != owner {
            self.owner.held = None;
            let message = "another app took the clipboard at the same time";
            return Err(Failure::new(FailureKind::Refused, message).sent(Sent::Maybe));
        }
        Ok(())
    }

    /// The representations in which content is offered.
    fn forms(&self, content: &ClipboardContent) -> Result<Vec<Representation>, Failure> {
        let invalid = |message: String| Failure::new(FailureKind::Invalid, message);
        let mut forms: Vec<(&str, Vec<u8>)> = Vec::new();
        let add_text = |text: &str, forms: &mut Vec<(&str, Vec<u8>)>| {
            let utf8 = formats::TEXT.into_iter().filter(|kind| *kind != "STRING");
            forms.extend(utf8.map(|kind| (kind, text.as_bytes().to_vec())));
            forms.extend(formats::latin1(text).map(|bytes| ("STRING", bytes)));
        };
        match content {
            ClipboardContent::Text(text) => add_text(text, &mut forms),
            ClipboardContent::Image(png) => {
                if !png.starts_with(b"\x89PNG\r\n\x1a\n") {
                    return Err(invalid("the image is not a PNG".to_owned()));
                }
                forms.push((formats::PNG, png.clone()));
            }
            ClipboardContent::Files(files) => {
                if let Some(path) = files.iter().find(|path| !path.is_absolute()) {
                    return Err(invalid(format!("{} is not an absolute path", path.display())));
                }
                forms.push((formats::GNOME_FILES, formats::gnome_list(files).into_bytes()));
                forms.push((formats::URIS, formats::uri_list(files).into_bytes()));
                // Pasted into a text the files become their paths.
                add_text(&as_text(files), &mut forms);
            }
        }
        let mut made = Vec::with_capacity(forms.len());
        for (name, bytes) in forms {
            made.push(Representation { target: self.atom(name)?, bytes });
        }
        Ok(made)
    }

    fn atom(&self, name: &str) -> XResult<u32> {
        Ok(self.display.connection.intern_atom(false, name.as_bytes())?.reply()?.atom)
    }
}

/// Whether content is of the requested kind.
fn fits(content: &ClipboardContent, kind: ClipboardKind) -> bool {
    matches!(
        (content, kind),
        (_, ClipboardKind::Any)
            | (ClipboardContent::Text(_), ClipboardKind::Text)
            | (ClipboardContent::Image(_), ClipboardKind::Image)
            | (ClipboardContent::Files(_), ClipboardKind::Files)
    )
}

/// Files as the text they are pasted as.
fn as_text(files: &[impl AsRef<Path>]) -> String {
    let paths: Vec<_> = files.iter().map(|path| path.as_ref().to_string_lossy()).collect();
    paths.join("\n")
}
