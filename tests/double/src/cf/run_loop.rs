//! Run loops: one per thread, created on first use.
//!
//! They behave as Apple's in what matters to callers: a signal alone does not wake a loop, a mode without sources and timers
//! ends at once, a stop that comes while nothing runs is lost, and a loop ends with its thread.

use std::cell::OnceCell;
use std::collections::{BTreeSet, HashMap};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use parking_lot::{Condvar, Mutex};

use super::object::{Body, CFTypeRef, Foreign, ObjectKind, Owned, constant_strings, foreign, owned};
use super::source::{Source, source_of};
use super::text::{string, text_of};
use super::timer::{Timer, timer_of};

const FINISHED: i32 = 1;
const STOPPED: i32 = 2;
const TIMED_OUT: i32 = 3;
const HANDLED_SOURCE: i32 = 4;

constant_strings! {
    kCFRunLoopDefaultMode = "kCFRunLoopDefaultMode";
    kCFRunLoopCommonModes = "kCFRunLoopCommonModes";
}
const DEFAULT: &str = "kCFRunLoopDefaultMode";
const COMMON: &str = "kCFRunLoopCommonModes";

/// A run loop.
pub(crate) struct Loop {
    state: Mutex<State>,
    woken: Condvar,
}

#[derive(Default)]
struct State {
    modes: HashMap<String, Mode>,
    /// The modes that count as common, besides the default one.
    commons: BTreeSet<String>,
    /// The modes it runs in, one inside the other.
    running: Vec<String>,
    stopped: bool,
    awake: bool,
    waiting: bool,
}

#[derive(Default)]
struct Mode {
    sources: Held<Source>,
    timers: Held<Timer>,
}

impl Foreign for Loop {
    fn describe(&self) -> String {
        format!("running in {:?}", self.state.lock().running)
    }
}

impl State {
    /// The modes that a name stands for.
    fn named(&self, mode: &str) -> Vec<String> {
        match mode {
            COMMON => self.commons.iter().map(String::as_str).chain([DEFAULT]).map(str::to_owned).collect(),
            mode => vec![mode.to_owned()],
        }
    }
}

impl Loop {
    /// Wakes the loop, so that it checks its sources and timers again.
    pub(crate) fn wake(&self) {
        self.state.lock().awake = true;
        self.woken.notify_all();
    }

    /// Removes a source from all modes.
    pub(super) fn forget(&self, source: &Source) {
        let mut gone = Vec::new();
        for mode in self.state.lock().modes.values_mut() {
            let is_it = |other: &mut (Owned, Arc<Source>)| std::ptr::eq(Arc::as_ptr(&other.1), source);
            gone.extend(mode.sources.extract_if(.., is_it));
        }
        // Released outside the lock.
        drop(gone);
    }

    fn run(&self, name: &str, seconds: f64, after_source: bool) -> i32 {
        let timeout = Duration::try_from_secs_f64(seconds.max(0.0)).unwrap_or(Duration::MAX);
        let deadline = Instant::now().checked_add(timeout);
        let stopped_outside = {
            let mut state = self.state.lock();
            state.running.push(name.to_owned());
            std::mem::take(&mut state.stopped)
        };
        let ended = self.run_until(name, deadline, after_source);
        let mut state = self.state.lock();
        state.running.pop();
        state.stopped = stopped_outside;
        ended
    }

    fn run_until(&self, name: &str, deadline: Option<Instant>, after_source: bool) -> i32 {
        loop {
            let timers = self.take(name, |mode| mode.timers.iter().map(hold).collect::<Vec<_>>());
            for (object, timer) in timers.iter().flatten() {
                timer.fire(object.get());
            }
            drop(timers);
            let mut sources = self.take(name, |mode| mode.sources.iter().map(hold).collect::<Vec<_>>());
            let mut handled = false;
            if let Some(sources) = &mut sources {
                sources.sort_by_key(|(_, source)| source.order);
                for (_, source) in sources.iter() {
                    handled |= source.take_signal() && source.perform();
                }
            }
            drop(sources);
            if handled && after_source {
                return HANDLED_SOURCE;
            }
            let mut state = self.state.lock();
            if std::mem::take(&mut state.stopped) {
                return STOPPED;
            }
            if deadline.is_some_and(|deadline| deadline <= Instant::now()) {
                return TIMED_OUT;
            }
            if handled || std::mem::take(&mut state.awake) {
                continue;
            }
            let Some(mode) = state.modes.get(name) else { return FINISHED };
            let mut timers = mode.timers.iter().filter_map(|(_, timer)| timer.due_in()).peekable();
            if mode.sources.is_empty() && timers.peek().is_none() {
                return FINISHED;
            }
            let timer = timers.min().and_then(|left| Instant::now().checked_add(left));
            state.waiting = true;
            match deadline.into_iter().chain(timer).min() {
                Some(until) => drop(self.woken.wait_until(&mut state, until)),
                None => self.woken.wait(&mut state),
            }
            state.waiting = false;
            state.awake = false;
        }
    }

    fn take<T>(&self, mode: &str, what: impl FnOnce(&Mode) -> T) -> Option<T> {
        self.state.lock().modes.get(mode).map(what)
    }
}

/// Retains what is about to be called, because it may be removed meanwhile.
fn hold<T>((object, body): &(Owned, Arc<T>)) -> (Owned, Arc<T>) {
    // What is in a mode is retained by it, so it lives.
    let held = Owned::retained(object.get(), "CFRunLoopRunInMode").unwrap_or_else(|| super::boolean(false));
    (held, Arc::clone(body))
}

thread_local! {
    static CURRENT: OnceCell<Owned> = const { OnceCell::new() };
}

fn new_loop() -> Owned {
    let new = Loop { state: Mutex::default(), woken: Condvar::new() };
    owned(ObjectKind::RunLoop, Body::Foreign(Arc::new(new)), "CFRunLoopGetCurrent")
}

fn is_main_thread() -> bool {
    nix::unistd::gettid() == nix::unistd::getpid()
}

fn loop_of(run_loop: CFTypeRef, function: &'static str) -> Option<Arc<Loop>> {
    foreign(run_loop, ObjectKind::RunLoop, function)
}

fn of_this_thread() -> CFTypeRef {
    if is_main_thread() {
        return CFRunLoopGetMain();
    }
    CURRENT.with(|current| current.get_or_init(new_loop).get())
}

/// `CFRunLoopGetTypeID`.
#[unsafe(no_mangle)]
pub extern "C" fn CFRunLoopGetTypeID() -> usize {
    ObjectKind::RunLoop as usize
}

/// `CFRunLoopGetCurrent`: borrowed, and there for as long as the thread is.
#[unsafe(no_mangle)]
pub extern "C" fn CFRunLoopGetCurrent() -> CFTypeRef {
    of_this_thread()
}

/// `CFRunLoopGetMain`: borrowed.
#[unsafe(no_mangle)]
pub extern "C" fn CFRunLoopGetMain() -> CFTypeRef {
    static MAIN: OnceLock<Owned> = OnceLock::new();
    MAIN.get_or_init(new_loop).get()
}

/// `CFRunLoopRunInMode`.
#[unsafe(no_mangle)]
pub extern "C" fn CFRunLoopRunInMode(mode: CFTypeRef, seconds: f64, after_source: u8) -> i32 {
    let name = text_of(mode, "CFRunLoopRunInMode");
    let (Some(name), Some(run_loop)) = (name, loop_of(of_this_thread(), "CFRunLoopRunInMode")) else {
        return FINISHED;
    };
    run_loop.run(&name, seconds, after_source != 0)
}

/// `CFRunLoopRun`.
#[unsafe(no_mangle)]
pub extern "C" fn CFRunLoopRun() {
    if let Some(run_loop) = loop_of(of_this_thread(), "CFRunLoopRun") {
        while !matches!(run_loop.run(DEFAULT, 1e10, false), FINISHED | STOPPED) {}
    }
}

/// `CFRunLoopWakeUp`.
#[unsafe(no_mangle)]
pub extern "C" fn CFRunLoopWakeUp(run_loop: CFTypeRef) {
    if let Some(run_loop) = loop_of(run_loop, "CFRunLoopWakeUp") {
        run_loop.wake();
    }
}

/// `CFRunLoopStop`.
#[unsafe(no_mangle)]
pub extern "C" fn CFRunLoopStop(run_loop: CFTypeRef) {
    if let Some(run_loop) = loop_of(run_loop, "CFRunLoopStop") {
        run_loop.state.lock().stopped = true;
        run_loop.wake();
    }
}

/// `CFRunLoopIsWaiting`.
#[unsafe(no_mangle)]
pub extern "C" fn CFRunLoopIsWaiting(run_loop: CFTypeRef) -> u8 {
    u8::from(loop_of(run_loop, "CFRunLoopIsWaiting").is_some_and(|found| found.state.lock().waiting))
}

/// `CFRunLoopCopyCurrentMode`.
#[unsafe(no_mangle)]
pub extern "C" fn CFRunLoopCopyCurrentMode(run_loop: CFTypeRef) -> CFTypeRef {
    let mode = loop_of(run_loop, "CFRunLoopCopyCurrentMode")
        .and_then(|found| found.state.lock().running.last().cloned());
    mode.map_or(std::ptr::null(), |mode| string(&mode, "CFRunLoopCopyCurrentMode").give())
}

/// `CFRunLoopAddCommonMode`.
#[unsafe(no_mangle)]
pub extern "C" fn CFRunLoopAddCommonMode(run_loop: CFTypeRef, mode: CFTypeRef) {
    let mode = text_of(mode, "CFRunLoopAddCommonMode");
    if let (Some(run_loop), Some(mode)) = (loop_of(run_loop, "CFRunLoopAddCommonMode"), mode) {
        run_loop.state.lock().commons.insert(mode);
    }
}

/// The objects of a mode of one kind: its sources or its timers.
type Held<T> = Vec<(Owned, Arc<T>)>;

/// Adds an object to the modes that a name stands for, once each.
fn add<T>(
    run_loop: &Loop,
    mode: &str,
    object: CFTypeRef,
    added: &Arc<T>,
    of: impl Fn(&mut Mode) -> &mut Held<T>,
    function: &'static str,
) {
    let mut state = run_loop.state.lock();
    for mode in state.named(mode) {
        let held = of(state.modes.entry(mode).or_default());
        if !has(held, added)
            && let Some(object) = Owned::retained(object, function)
        {
            held.push((object, Arc::clone(added)));
        }
    }
}

/// Removes an object from the modes that a name stands for; false if other modes still have it.
fn remove<T>(run_loop: &Loop, mode: &str, gone: &Arc<T>, of: impl Fn(&mut Mode) -> &mut Held<T>) -> bool {
    let mut state = run_loop.state.lock();
    let mut removed = Vec::new();
    for mode in state.named(mode) {
        if let Some(mode) = state.modes.get_mut(&mode) {
            removed.extend(of(mode).extract_if(.., |(_, other)| Arc::ptr_eq(other, gone)));
        }
    }
    let is_left = state.modes.values_mut().any(|mode| has(of(mode), gone));
    drop(state);
    // Released outside the lock.
    drop(removed);
    !is_left
}

fn has<T>(held: &Held<T>, wanted: &Arc<T>) -> bool {
    held.iter().any(|(_, other)| Arc::ptr_eq(other, wanted))
}

/// `CFRunLoopAddSource`.
#[unsafe(no_mangle)]
pub extern "C" fn CFRunLoopAddSource(run_loop: CFTypeRef, source: CFTypeRef, mode: CFTypeRef) {
    const NAME: &str = "CFRunLoopAddSource";
    let (Some(found), Some(added), Some(mode)) =
        (loop_of(run_loop, NAME), source_of(source, NAME), text_of(mode, NAME))
    else {
        return;
    };
    if !added.is_valid() {
        return;
    }
    add(&found, &mode, source, &added, |mode| &mut mode.sources, NAME);
    added.added_to(&found);
    // What came before it was added is seen now.
    found.wake();
}

/// `CFRunLoopRemoveSource`.
#[unsafe(no_mangle)]
pub extern "C" fn CFRunLoopRemoveSource(run_loop: CFTypeRef, source: CFTypeRef, mode: CFTypeRef) {
    const NAME: &str = "CFRunLoopRemoveSource";
    let (Some(found), Some(removed), Some(mode)) =
        (loop_of(run_loop, NAME), source_of(source, NAME), text_of(mode, NAME))
    else {
        return;
    };
    if remove(&found, &mode, &removed, |mode| &mut mode.sources) {
        removed.removed_from(&found);
    }
}

/// `CFRunLoopContainsSource`.
#[unsafe(no_mangle)]
pub extern "C" fn CFRunLoopContainsSource(run_loop: CFTypeRef, source: CFTypeRef, mode: CFTypeRef) -> u8 {
    const NAME: &str = "CFRunLoopContainsSource";
    let (Some(found), Some(wanted), Some(mode)) =
        (loop_of(run_loop, NAME), source_of(source, NAME), text_of(mode, NAME))
    else {
        return 0;
    };
    let state = found.state.lock();
    let mut modes = state.named(&mode).into_iter().filter_map(|mode| state.modes.get(&mode));
    u8::from(modes.any(|mode| has(&mode.sources, &wanted)))
}

/// `CFRunLoopAddTimer`.
#[unsafe(no_mangle)]
pub extern "C" fn CFRunLoopAddTimer(run_loop: CFTypeRef, timer: CFTypeRef, mode: CFTypeRef) {
    const NAME: &str = "CFRunLoopAddTimer";
    let (Some(found), Some(added), Some(mode)) =
        (loop_of(run_loop, NAME), timer_of(timer, NAME), text_of(mode, NAME))
    else {
        return;
    };
    add(&found, &mode, timer, &added, |mode| &mut mode.timers, NAME);
    found.wake();
}

/// `CFRunLoopRemoveTimer`.
#[unsafe(no_mangle)]
pub extern "C" fn CFRunLoopRemoveTimer(run_loop: CFTypeRef, timer: CFTypeRef, mode: CFTypeRef) {
    const NAME: &str = "CFRunLoopRemoveTimer";
    let (Some(found), Some(removed), Some(mode)) =
        (loop_of(run_loop, NAME), timer_of(timer, NAME), text_of(mode, NAME))
    else {
        return;
    };
    remove(&found, &mode, &removed, |mode| &mut mode.timers);
}
