//! The clipboard, on a thread of its own: X11 keeps nothing there itself, so as long as axd runs it hands out what it
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

use crate::x11::clipboard::owner::{Form, Held, Owner};
use crate::x11::connection::{Display, XResult};
use axd_platform::{ClipboardContent, ClipboardKind, DesktopAnswer, Failure, FailureKind, Gate, Sent};

x11rb::atom_manager! {
    /// The atoms of the clipboard.
    pub(self) Atoms: AtomsCookie {
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

/// What is asked of the clipboard.
#[derive(Debug)]
pub(crate) enum Wish {
    /// To read it.
    Get(ClipboardKind),
    /// To put this on it, or to empty it.
    Set(Option<ClipboardContent>, Gate),
    /// To give what is ours on it to the clipboard manager.
    HandOver,
}

/// The way to the thread; started when it is first needed.
#[derive(Default)]
pub(crate) struct Clipboard(Mutex<Option<Line>>);

struct Line {
    jobs: Sender<Job>,
    /// Wakes the thread, which waits for the X server otherwise.
    bell: Arc<EventFd>,
}

struct Job {
    wish: Wish,
    answer: oneshot::Sender<Result<DesktopAnswer, Failure>>,
}

impl Clipboard {
    /// Gives what is on it to the clipboard manager; answers when it is done.
    pub fn hand_over(&self, answer: oneshot::Sender<Result<DesktopAnswer, Failure>>) {
        // Where there is no thread, nothing was put there.
        match *self.0.lock() {
            Some(_) => {}
            None => return drop(answer.send(Ok(DesktopAnswer::Done))),
        }
        self.ask(Wish::HandOver, answer);
    }

    /// Does what is wished; answers when it is done.
    pub fn ask(&self, wish: Wish, answer: oneshot::Sender<Result<DesktopAnswer, Failure>>) {
        let mut line = self.0.lock();
        let mut job = Job { wish, answer };
        if let Some(Line { jobs, bell }) = &*line {
            match jobs.send(job) {
                Ok(()) => return ring(bell),
                Err(back) => job = back.0,
            }
        }
        match begin() {
            Ok(started) => {
                // The thread has just been given the other end.
                let _ = started.jobs.send(job);
                ring(&started.bell);
                *line = Some(started);
            }
            Err(fault) => {
                let said = format!("no thread for the clipboard can be started: {fault}");
                let _ = job.answer.send(Err(Failure::new(FailureKind::Refused, said)));
            }
        }
    }
}

fn ring(bell: &EventFd) {
    // It fails only when it has been rung more often than can be counted: then it rings anyway.
    let _ = bell.write(1);
}

fn begin() -> std::io::Result<Line> {
    let bell = Arc::new(EventFd::from_flags(EfdFlags::EFD_CLOEXEC | EfdFlags::EFD_NONBLOCK)?);
    let (jobs, inbox) = channel();
    let heard = Arc::clone(&bell);
    std::thread::Builder::new().name("axd-clipboard".to_owned()).spawn(move || serve(&inbox, &heard))?;
    Ok(Line { jobs, bell })
}

/// Serves until nobody can ask any more, or the server is gone.
fn serve(jobs: &Receiver<Job>, bell: &EventFd) {
    let mut seat = match Seat::new() {
        Ok(seat) => seat,
        Err(failure) => {
            // The one that made the thread start is told why; a later one starts another.
            if let Ok(job) = jobs.recv() {
                let _ = job.answer.send(Err(failure));
            }
            return;
        }
    };
    if let Err(fault) = seat.run(jobs, bell) {
        warn!(%fault, "the clipboard is lost");
    }
}

/// A window that stands for axd at the clipboard.
struct Seat {
    display: Display,
    atoms: Atoms,
    window: Window,
    owner: Owner,
}

impl Seat {
    fn new() -> Result<Seat, Failure> {
        let display = Display::open()?;
        let sit = || -> XResult<(Atoms, Window)> {
            let atoms = Atoms::new(&display.connection)?.reply()?;
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
        Ok(Seat { display, atoms, window, owner: Owner::default() })
    }

    fn run(&mut self, jobs: &Receiver<Job>, bell: &EventFd) -> XResult<()> {
        loop {
            match jobs.try_recv() {
                Ok(Job { wish, answer }) => {
                    let result = self.grant(wish);
                    let _ = answer.send(result);
                    self.display.sync()?;
                    continue;
                }
                Err(TryRecvError::Disconnected) => return Ok(()),
                Err(TryRecvError::Empty) => {}
            }
            if let Some(event) = self.display.event(self.owner.next_look(), Some(bell))? {
                self.serve(&event)?;
            }
            // Nothing to read means that it has not been rung.
            let _ = bell.read();
            self.owner.expire();
        }
    }

    /// Does what others ask of us.
    fn serve(&mut self, event: &Event) -> XResult<()> {
        match event {
            Event::SelectionRequest(event) => self.owner.asked(&self.display, &self.atoms, event)?,
            Event::PropertyNotify(event) if event.window != self.window => {
                self.owner.taken(&self.display, event)?
            }
            Event::DestroyNotify(event) => self.owner.gone(event.window),
            Event::SelectionClear(event) if event.selection == self.atoms.CLIPBOARD => self.owner.held = None,
            Event::Error(error) => debug!(?error, "the clipboard"),
            _ => {}
        }
        Ok(())
    }

    fn grant(&mut self, wish: Wish) -> Result<DesktopAnswer, Failure> {
        match wish {
            Wish::Get(kind) => self.read(kind).map(DesktopAnswer::Clipboard),
            Wish::Set(clip, gate) => self.put(clip, &gate).map(|()| DesktopAnswer::Done),
            Wish::HandOver => self.hand_over().map(|()| DesktopAnswer::Done),
        }
    }

    fn put(&mut self, clip: Option<ClipboardContent>, gate: &Gate) -> Result<(), Failure> {
        let since = self.now()?;
        let held = match clip {
            Some(clip) => Some(Held { forms: self.forms(&clip)?, clip, since }),
            None => None,
        };
        gate.enter()?;
        let owner = if held.is_some() { self.window } else { 0 };
        let claim = || -> XResult<Window> {
            let connection = &self.display.connection;
            connection.set_selection_owner(owner, self.atoms.CLIPBOARD, since)?.check()?;
            Ok(connection.get_selection_owner(self.atoms.CLIPBOARD)?.reply()?.owner)
        };
        let now = claim().map_err(|fault| Failure::from(fault).sent(Sent::Maybe))?;
        self.owner.held = held;
        if now != owner {
            self.owner.held = None;
            let said = "another app took the clipboard at the same time";
            return Err(Failure::new(FailureKind::Refused, said).sent(Sent::Maybe));
        }
        Ok(())
    }

    /// What a clip is handed out as.
    fn forms(&self, clip: &ClipboardContent) -> Result<Vec<Form>, Failure> {
        let invalid = |said: String| Failure::new(FailureKind::Invalid, said);
        let mut forms: Vec<(&str, Vec<u8>)> = Vec::new();
        let add_text = |text: &str, forms: &mut Vec<(&str, Vec<u8>)>| {
            let utf8 = formats::TEXT.into_iter().filter(|kind| *kind != "STRING");
            forms.extend(utf8.map(|kind| (kind, text.as_bytes().to_vec())));
            forms.extend(formats::latin1(text).map(|bytes| ("STRING", bytes)));
        };
        match clip {
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
            made.push(Form { target: self.atom(name)?, bytes });
        }
        Ok(made)
    }

    fn atom(&self, name: &str) -> XResult<u32> {
        Ok(self.display.connection.intern_atom(false, name.as_bytes())?.reply()?.atom)
    }
}

/// Whether a clip is what was asked for.
fn fits(clip: &ClipboardContent, kind: ClipboardKind) -> bool {
    matches!(
        (clip, kind),
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
