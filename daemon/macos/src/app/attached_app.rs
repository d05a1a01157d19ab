//! The thread of an attached app: it owns the app's elements and observers, asks the app what it is asked, and passes on
//! what the app tells. All calls wait for the app; if that hangs, nobody else does.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use tokio::sync::{mpsc, oneshot};
use tracing::{debug, trace};

use super::enable_accessibility::Waking;
use super::notifications::{Means, meaning};
use super::reader::Reader;
use super::registration::Registration;
use crate::appkit::host;
use crate::ax::element::Element;
use crate::ax::error::Fault;
use crate::ax::observer::{Ear, Heard};
use crate::ax::run_loop::{self, Inbox, Mailbox};
use crate::desktop::monitor::{Hint, Hints};
use crate::ffi::names as n;
use axd_platform::mirror::Reading;
use axd_platform::worker::{Answer, Note, Question};
use axd_platform::{ElementKey, Failure, FailureKind};

/// How long an app has to answer one call. The worker waits a little longer for the whole answer.
pub const TIMEOUT: f32 = 0.7;
/// How long is taken at most to hear all that was announced before a fence.
const DRAIN: Duration = Duration::from_millis(250);
/// For how long an app is asked about what it tells before that is passed on.
const QUICK: Duration = Duration::from_millis(50);
/// How soon, and how late, an app that does not answer is asked again.
const PROBE: Duration = Duration::from_millis(50);
const PROBE_AT_MOST: Duration = Duration::from_secs(2);
/// How long what was read for a question that was given up is still good for the next one.
const STILL_GOOD: Duration = Duration::from_secs(3);
/// More children than this are not looked at each for a change of what is selected.
const MOST_BESIDE: usize = 512;

/// What an app's thread is told.
pub enum Letter {
    /// A question to the app.
    Asked(Question),
    /// The app came to the front: what it refused before it may accept now.
    Activated,
    /// The machine slept: what was announced meanwhile is lost, and observers may be dead.
    Woke,
    /// Nobody asks any more.
    Quit,
}

/// An app, on its thread.
pub struct App {
    pid: u32,
    pub(crate) element: Element,
    pub(crate) reader: Reader,
    inbox: Inbox<Letter>,
    ear: Ear,
    /// Observers, by the process they observe.
    registrations: HashMap<u32, Registration>,
    out: Option<mpsc::UnboundedSender<Note>>,
    windows: Hints,
    /// What was last told to be refused.
    refused: Option<String>,
    /// Those who wait for the app to answer anything, and when it is asked next.
    awake: Vec<oneshot::Sender<()>>,
    probe: (Instant, Duration),
    /// The element that has the focus, as last told.
    focused: Option<ElementKey>,
    /// What was read for nobody, and when.
    unclaimed: HashMap<ElementKey, (Instant, Option<Reading>)>,
    waking: Waking,
}

impl App {
    /// Serves an app until nobody asks any more.
    pub fn run(pid: u32, mailbox: Arc<Mailbox<Letter>>, windows: Hints, browser: Arc<AtomicBool>) {
        let Some(inbox) = Inbox::open(mailbox) else { return };
        let Some(element) = Element::app(pid) else { return };
        let now = Instant::now();
        let mut app = App {
            pid,
            reader: Reader::new(pid, element.clone()),
            waking: Waking::new(browser),
            element,
            inbox,
            ear: Ear::default(),
            registrations: HashMap::new(),
            out: None,
            windows,
            refused: None,
            awake: Vec::new(),
            probe: (now, PROBE),
            focused: None,
            unclaimed: HashMap::new(),
        };
        while host::tidily(|| app.turn()) {}
        app.waking.undo(&app.element);
    }

    /// One turn of the loop. False once nobody asks any more.
    fn turn(&mut self) -> bool {
        if !self.serve() {
            return false;
        }
        self.hear_all();
        self.register_again(false);
        self.knock();
        run_loop::wait(self.next_due());
        true
    }

    /// Deals with the letters that have come. False once nobody asks any more.
    fn serve(&mut self) -> bool {
        while let Some(letter) = self.inbox.take() {
            match letter {
                Letter::Asked(question) if question.is_given_up() => {}
                Letter::Asked(question) => {
                    self.hear_all();
                    self.answer(question);
                }
                Letter::Activated => self.register_again(true),
                Letter::Woke => {
                    debug!(pid = self.pid, "observing again after sleep");
                    let observed: Vec<u32> = self.registrations.drain().map(|(pid, _)| pid).collect();
                    observed.into_iter().for_each(|pid| self.register(pid));
                    self.tell(Note::Everything);
                }
                Letter::Quit => return false,
            }
        }
        true
    }

    /// When something is to be done though nobody asks.
    fn next_due(&self) -> Option<Duration> {
        let retries = self.registrations.values().filter_map(Registration::due);
        let probe = (!self.awake.is_empty()).then_some(self.probe.0);
        let due = retries.chain(probe).min()?;
        Some(due.saturating_duration_since(Instant::now()).max(Duration::from_millis(1)))
    }

    fn answer(&mut self, question: Question) {
        trace!(pid = self.pid, question = question.name(), "asked");
        // Whoever asked may have given up by the time there is an answer.
        match question {
            Question::Observe(out, answer) => {
                let result = self.observe(out);
                let _ = answer.send(result);
            }
            Question::Mark(mark, out) => self.mark(mark, &out),
            Question::Read(keys, answer) => self.read(keys, answer),
            Question::Measure(keys, answer) => {
                let measured = self.reader.measure(&keys).map_err(Fault::asking);
                let _ = answer.send(measured);
            }
            Question::At(point, answer) => {
                let path = self.reader.at(point).map_err(Fault::asking);
                let _ = answer.send(path);
            }
            Question::Path(key, answer) => {
                let path = self.reader.path(key).map_err(Fault::asking);
                let _ = answer.send(path);
            }
            Question::Front(answer) => {
                let front = self.front().map_err(Fault::asking);
                let _ = answer.send(front);
            }
            Question::Act(key, act, gate, answer) => {
                let result = self.act(key, &act, &gate);
                self.unclaimed.clear();
                let _ = answer.send(result);
            }
            Question::Awake(answer) => {
                self.awake.push(answer);
                self.probe = (Instant::now(), PROBE);
                self.knock();
            }
        }
    }

    /// Registers for all that the app tells, before anything of it is read.
    fn observe(&mut self, out: mpsc::UnboundedSender<Note>) -> Result<(), Failure> {
        // One that does not answer this would hold up each of the many calls that follow.
        match self.element.get(n::kAXRoleAttribute) {
            Ok(_) => {}
            Err(fault @ Fault::NOT_ALLOWED) => {
                self.refused = Some(fault.text());
                let _ = out.send(Note::Refused(self.refused.clone()));
                // It is asked again when it answers; that is, when we are allowed.
                return Err(of_app(fault));
            }
            Err(fault @ Fault::BUSY) => return Err(fault.asking()),
            // Odd, but it answers.
            Err(_) => {}
        }
        self.out = Some(out);
        // One that was too slow for the first question is asked again; what it accepted then is as good as now.
        if self.registrations.contains_key(&self.pid) {
            self.register_again(true);
            self.tell(Note::Refused(self.refused.clone()));
            return Ok(());
        }
        self.waking.wake(&self.element);
        self.register(self.pid);
        Ok(())
    }

    fn register(&mut self, pid: u32) {
        let registration = Registration::new(pid, &self.ear);
        self.registrations.insert(pid, registration);
        self.tell_refused();
    }

    /// Registers for what was not accepted before, if it is time.
    fn register_again(&mut self, at_once: bool) {
        let now = Instant::now();
        let due: Vec<u32> = self
            .registrations
            .iter()
            .filter(|(_, registration)| registration.due().is_some_and(|due| at_once || due <= now))
            .map(|(pid, _)| *pid)
            .collect();
        for pid in &due {
            if let Some(registration) = self.registrations.get_mut(pid) {
                registration.try_again(&self.ear);
            }
        }
        if !due.is_empty() {
            self.tell_refused();
        }
    }

    fn tell_refused(&mut self) {
        let refused = self.registrations.get(&self.pid).and_then(Registration::refused);
        if refused != self.refused {
            self.refused.clone_from(&refused);
            self.tell(Note::Refused(refused));
        }
    }

    fn tell(&self, note: Note) {
        if let Some(out) = &self.out {
            // Nobody listens any more if the app is being detached.
            let _ = out.send(note);
        }
    }

    /// Puts a marker behind all that the app has announced so far.
    fn mark(&mut self, mark: u64, out: &mpsc::UnboundedSender<Note>) {
        // An app answers in order, so what it announced before is on its way before its answer. Some announcements are
        // made at the end of a turn of its loop: a second question is answered in the next turn.
        for _ in 0..2 {
            if self.element.get(n::kAXRoleAttribute) == Err(Fault::BUSY) {
                // No marker: the fence fails by itself, and whoever waits learns that the app is silent.
                return;
            }
        }
        let end = Instant::now() + DRAIN;
        while run_loop::wait(Some(Duration::ZERO)) && Instant::now() < end {}
        self.hear_all();
        let _ = out.send(Note::Marker(mark));
    }

    fn read(&mut self, keys: Vec<ElementKey>, answer: Answer<Vec<Option<Reading>>>) {
        let mut read = Vec::with_capacity(keys.len());
        for key in &keys {
            if answer.is_closed() {
                // They did not wait, but will ask again: what is read by then need not be read twice.
                let now = Instant::now();
                self.unclaimed.extend(keys.iter().copied().zip(read.into_iter().map(|read| (now, read))));
                return;
            }
            let recent = self.unclaimed.remove(key).filter(|(when, _)| when.elapsed() < STILL_GOOD);
            let reading = match recent {
                Some((_, reading)) => Ok(reading),
                None => self.reader.read(*key),
            };
            match reading {
                Ok(reading) => read.push(reading),
                Err(fault) => {
                    let now = Instant::now();
                    self.unclaimed.extend(keys.iter().copied().zip(read.into_iter().map(|read| (now, read))));
                    let _ = answer.send(Err(of_app(fault)));
                    return;
                }
            }
        }
        self.unclaimed.retain(|_, (when, _)| when.elapsed() < STILL_GOOD);
        let _ = answer.send(Ok(read));
        self.look_after_what_was_read();
    }

    /// Other processes' elements are observed too, pages that are asleep are woken, and what is not needed is forgotten.
    fn look_after_what_was_read(&mut self) {
        if self.reader.foreign().iter().any(|pid| !self.registrations.contains_key(pid)) {
            // A page that was loaded anew may have left its process behind.
            self.reader.tidy_foreign();
            let foreign = self.reader.foreign().clone();
            self.registrations.retain(|pid, _| *pid == self.pid || foreign.contains(pid));
            for pid in foreign {
                if !self.registrations.contains_key(&pid) {
                    self.register(pid);
                }
            }
        }
        if !self.reader.empty_pages.is_empty() {
            self.reader.empty_pages.clear();
            self.waking.wake_pages(&self.element);
        }
        for window in self.reader.children_of(ElementKey::APP).to_vec() {
            let Some(element) = self.reader.handles.get(window).filter(|_| self.reader.is_window(window))
            else {
                continue;
            };
            let pid = element.pid().unwrap_or(self.pid);
            if let Some(registration) = self.registrations.get_mut(&pid) {
                registration.add_window(element);
            }
        }
        self.reader.tidy();
    }

    /// The window in front.
    fn front(&mut self) -> Result<Option<ElementKey>, Fault> {
        for attribute in [n::kAXFocusedWindowAttribute, n::kAXMainWindowAttribute] {
            match self.element.element(attribute) {
                Ok(Some(window)) => return Ok(Some(self.reader.handles.key(&window))),
                Err(fault) if super::reader::is_of_app(fault) => return Err(fault),
                _ => {}
            }
        }
        Ok(None)
    }

    /// Asks an app that did not answer whether it does now, if it is time.
    fn knock(&mut self) {
        self.awake.retain(|waiting| !waiting.is_closed());
        let (due, pause) = self.probe;
        if self.awake.is_empty() || Instant::now() < due {
            return;
        }
        match self.element.get(n::kAXRoleAttribute) {
            Err(fault) if super::reader::is_of_app(fault) => {
                let pause = (pause * 2).min(PROBE_AT_MOST);
                self.probe = (Instant::now() + pause, pause);
            }
            _ => {
                for waiting in self.awake.drain(..) {
                    // It may have stopped waiting just now.
                    let _ = waiting.send(());
                }
            }
        }
    }

    /// Passes on what was heard.
    fn hear_all(&mut self) {
        let began = Instant::now();
        while let Some(heard) = self.ear.next() {
            self.hear(&heard, began.elapsed() < QUICK);
        }
        if self.ear.has_overflowed() {
            debug!(pid = self.pid, "so much was announced that everything is read again");
            self.tell(Note::Everything);
        }
    }

    /// Passes on one thing; `asks` says whether the app may be asked more about it.
    fn hear(&mut self, heard: &Heard, asks: bool) {
        let Some(means) = meaning(&heard.name) else { return };
        trace!(pid = self.pid, name = heard.name, "announced");
        if let Some(key) = self.reader.handles.known(&heard.element) {
            self.unclaimed.remove(&key);
        }
        match means {
            Means::Destroyed => {
                if let Some(key) = self.reader.handles.known(&heard.element) {
                    let was_window = self.reader.is_window(key);
                    self.tell(Note::Destroyed(key));
                    if was_window {
                        self.hint();
                    }
                }
                return;
            }
            Means::Announced => {
                if let Some(text) = heard.announcement.clone().filter(|text| !text.is_empty()) {
                    self.tell(Note::Announced(text));
                }
                return;
            }
            Means::Place => return self.hint(),
            _ => {}
        }
        let key = self.reader.handles.key(&heard.element);
        match means {
            Means::Changed => {
                self.tell(Note::Changed(key));
                if self.reader.is_window(key) {
                    self.hint();
                }
            }
            Means::Structure => self.tell(Note::Structure(key)),
            Means::New => {
                // Whoever has it is asked for at once where that is one short question: there may be many of them.
                let parent = match self.reader.parent_of(key) {
                    None if asks => heard.element.element(n::kAXParentAttribute).ok().flatten(),
                    _ => None,
                };
                let parent = parent.and_then(|parent| self.reader.handles.known(&parent));
                match parent.or_else(|| self.reader.parent_of(key)) {
                    Some(parent) => self.tell(Note::Structure(parent)),
                    None => self.tell(Note::Structure(key)),
                }
            }
            Means::NewWindow | Means::Window => {
                self.tell(Note::Structure(ElementKey::APP));
                if key != ElementKey::APP {
                    self.tell(Note::Changed(key));
                }
                self.hint();
            }
            Means::App => {
                self.tell(Note::Changed(ElementKey::APP));
                self.hint();
            }
            Means::Focused => {
                let before = self.focused.replace(key);
                before.into_iter().for_each(|before| self.tell(Note::Changed(before)));
                self.tell(Note::Changed(key));
            }
            Means::Selection => {
                self.tell(Note::Structure(key));
                let beside: Vec<ElementKey> = self.reader.selectable_in(key, MOST_BESIDE);
                beside.into_iter().for_each(|child| self.tell(Note::Changed(child)));
            }
            Means::Unfolded => {
                // An outline knows best which rows are below which.
                self.reader
                    .outline_of(key)
                    .into_iter()
                    .for_each(|outline| self.tell(Note::Structure(outline)));
                self.tell(Note::Structure(key));
                if let Some(parent) = self.reader.parent_of(key) {
                    self.tell(Note::Structure(parent));
                }
            }
            Means::MenuOpened | Means::MenuClosed => {
                let changed = self.reader.menu_is(key, means == Means::MenuOpened);
                changed.into_iter().for_each(|key| self.tell(Note::Structure(key)));
                if let Some(parent) = self.reader.parent_of(key) {
                    self.tell(Note::Structure(parent));
                }
            }
            Means::Destroyed | Means::Announced | Means::Place => {}
        }
        for other in &heard.others {
            let key = self.reader.handles.key(other);
            self.tell(Note::Structure(key));
        }
    }

    /// Windows may be different now.
    fn hint(&self) {
        // Nobody follows windows any more when the daemon stops.
        let _ = self.windows.post(Hint::Windows(self.pid));
    }
}

/// What it means that reading failed: only silence makes the worker wait before it asks again.
fn of_app(fault: Fault) -> Failure {
    Failure::new(FailureKind::Unresponsive, fault.text())
}
