//! The ledger of objects: which were made, which still live, and what was done to them that must not be.
//!
//! An object that is released for the last time is not freed but kept in quarantine, so that whoever uses it
//! afterwards is found out instead of reading someone else's memory. The quarantine is large, not endless: the
//! oldest are freed when it is full.
//!
//! A test takes a [`mark`], does its work and asks for the [`balance`] since then.

use std::collections::{HashMap, VecDeque};
use std::fmt;

use parking_lot::Mutex;

use crate::cf::{Kind, Object};

/// How many dead objects are kept.
const MOST_DEAD: usize = 1 << 18;
/// How many misuses are kept; the first say most.
const MOST_MISUSES: usize = 1_000;

static LEDGER: Mutex<Ledger> =
    Mutex::new(Ledger { serial: 0, alive: None, dead: VecDeque::new(), misuses: Vec::new() });

struct Ledger {
    serial: u64,
    alive: Option<HashMap<u64, Entry>>,
    dead: VecDeque<Entry>,
    misuses: Vec<Misuse>,
}

#[derive(Clone, Copy)]
struct Entry(*mut Object);

// SAFETY: the pointer is only followed while the object is in the ledger, and objects may be used from any thread.
unsafe impl Send for Entry {}

/// Where an object comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Birth {
    /// Its number: objects are numbered as they are made.
    pub serial: u64,
    /// What it is.
    pub kind: Kind,
    /// The function that made it.
    pub made_by: &'static str,
    /// What it holds, if it lives.
    pub holds: String,
    /// How often it is retained.
    pub retains: isize,
}

/// What must not be done to an object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wrong {
    /// It was released more often than it was retained.
    OverRelease,
    /// It was used after its last release.
    UseAfterRelease,
    /// It is no object at all.
    NotAnObject,
    /// It is an object of another type than the function takes.
    WrongType,
    /// An index that is not there.
    OutOfRange,
}

/// Something that was done to an object and must not be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Misuse {
    /// When: objects with higher numbers were made later.
    pub after: u64,
    /// What.
    pub wrong: Wrong,
    /// By which function.
    pub function: &'static str,
    /// To what, as far as that is known.
    pub object: Option<Birth>,
    /// On which thread.
    pub thread: String,
}

/// A point in time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Mark(u64);

/// What is not as it should be.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Balance {
    /// Made since the mark, and still there.
    pub leaked: Vec<Birth>,
    /// Done since the mark.
    pub misused: Vec<Misuse>,
}

impl Balance {
    /// Whether all is as it should be.
    pub fn is_even(&self) -> bool {
        self.leaked.is_empty() && self.misused.is_empty()
    }
}

impl fmt::Display for Balance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for Birth { serial, kind, made_by, holds, retains } in &self.leaked {
            writeln!(f, "leaked: {kind:?} #{serial} by {made_by}, retained {retains} times: {holds}")?;
        }
        for Misuse { wrong, function, object, thread, .. } in &self.misused {
            write!(f, "{wrong:?} in {function} on thread {thread}")?;
            match object {
                Some(birth) => writeln!(f, ": {:?} #{} by {}", birth.kind, birth.serial, birth.made_by)?,
                None => writeln!(f)?,
            }
        }
        Ok(())
    }
}

/// Now.
pub fn mark() -> Mark {
    let mut ledger = LEDGER.lock();
    // So that what is misused before anything else is made counts as done since.
    ledger.serial += 1;
    Mark(ledger.serial)
}

/// What was made or done wrong since the mark. Run loops belong to their threads and do not count.
pub fn balance(since: Mark) -> Balance {
    let ledger = LEDGER.lock();
    let alive = ledger.alive.iter().flatten().filter(|(serial, _)| **serial > since.0);
    let mut leaked: Vec<Birth> = alive
        .map(|(_, entry)| {
            // SAFETY: what is in the ledger has not been freed, and cannot be while it is locked.
            unsafe { &*entry.0 }.birth()
        })
        .filter(|birth| birth.kind != Kind::RunLoop)
        .collect();
    leaked.sort_by_key(|birth| birth.serial);
    let misused = ledger.misuses.iter().filter(|misuse| misuse.after >= since.0).cloned().collect();
    Balance { leaked, misused }
}

/// How many objects live.
pub fn alive() -> usize {
    LEDGER.lock().alive.as_ref().map_or(0, HashMap::len)
}

/// Enters an object; answers its number.
pub(crate) fn enter(object: *mut Object) -> u64 {
    let mut ledger = LEDGER.lock();
    ledger.serial += 1;
    let serial = ledger.serial;
    ledger.alive.get_or_insert_default().insert(serial, Entry(object));
    serial
}

/// An object was released for the last time.
pub(crate) fn bury(serial: u64, object: *mut Object) {
    let freed = {
        let mut ledger = LEDGER.lock();
        if let Some(alive) = &mut ledger.alive {
            alive.remove(&serial);
        }
        ledger.dead.push_back(Entry(object));
        (ledger.dead.len() > MOST_DEAD).then(|| ledger.dead.pop_front()).flatten()
    };
    if let Some(Entry(oldest)) = freed {
        // SAFETY: it came from a box, and has left the ledger, which is what else kept it.
        drop(unsafe { Box::from_raw(oldest) });
    }
}

/// Notes what was done wrong.
pub(crate) fn report(wrong: Wrong, function: &'static str, object: Option<Birth>) {
    let thread = std::thread::current().name().unwrap_or("without a name").to_owned();
    let mut ledger = LEDGER.lock();
    let after = ledger.serial;
    tracing::error!(?wrong, function, ?object, thread, "the double was misused");
    if ledger.misuses.len() < MOST_MISUSES {
        ledger.misuses.push(Misuse { after, wrong, function, object, thread });
    }
}
