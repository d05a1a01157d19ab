//! The ledger of objects: which were created, which still live, and how they were misused.
//!
//! An object that is released for the last time is not freed but kept in quarantine, so that a use after that is
//! detected instead of reading memory that was reused. The quarantine is limited: the
//! oldest are freed when it is full.
//!
//! A test takes a [`mark`], does its work and asks for the [`balance`] since then.

use std::collections::{HashMap, VecDeque};
use std::fmt;

use parking_lot::Mutex;

use crate::cf::{Object, ObjectKind};

/// How many released objects are kept.
const MAX_QUARANTINED: usize = 1 << 18;
/// How many misuses are kept; the first ones matter most.
const MAX_MISUSES: usize = 1_000;

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

/// What is known of an object.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ObjectRecord {
    /// Its number, in the order of creation.
    pub serial: u64,
    /// Its type.
    pub kind: ObjectKind,
    /// The function that created it.
    pub made_by: &'static str,
    /// A description of its content, if it lives.
    pub holds: String,
    /// Its retain count.
    pub retains: isize,
}

/// A kind of misuse of an object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MisuseKind {
    /// It was released more often than it was retained.
    OverRelease,
    /// It was used after its last release.
    UseAfterRelease,
    /// The pointer is not an object.
    NotAnObject,
    /// The object is of another type than the function takes.
    WrongType,
    /// The index is out of range.
    OutOfRange,
}

/// A misuse of an object.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Misuse {
    /// The number of the last object that was created before it.
    pub after: u64,
    /// What kind it is.
    pub kind: MisuseKind,
    /// The function that was called.
    pub function: &'static str,
    /// The object, as far as it is known.
    pub object: Option<ObjectRecord>,
    /// The calling thread.
    pub thread: String,
}

/// A point in the order of creation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Mark(u64);

/// Leaks and misuses since a mark.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Balance {
    /// Objects that were created since the mark and still live.
    pub leaked: Vec<ObjectRecord>,
    /// Misuses since the mark.
    pub misused: Vec<Misuse>,
}

impl Balance {
    /// Whether there are no leaks and no misuses.
    pub fn is_even(&self) -> bool {
        self.leaked.is_empty() && self.misused.is_empty()
    }
}

impl fmt::Display for Balance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for ObjectRecord { serial, kind, made_by, holds, retains } in &self.leaked {
            writeln!(f, "leaked: {kind:?} #{serial} by {made_by}, retained {retains} times: {holds}")?;
        }
        for Misuse { kind, function, object, thread, .. } in &self.misused {
            write!(f, "{kind:?} in {function} on thread {thread}")?;
            match object {
                Some(birth) => writeln!(f, ": {:?} #{} by {}", birth.kind, birth.serial, birth.made_by)?,
                None => writeln!(f)?,
            }
        }
        Ok(())
    }
}

/// The current point in the order of creation.
pub fn mark() -> Mark {
    let mut ledger = LEDGER.lock();
    // So that what is misused before anything else is made counts as done since.
    ledger.serial += 1;
    Mark(ledger.serial)
}

/// Leaks and misuses since the mark. Run loops belong to their threads and do not count.
pub fn balance(since: Mark) -> Balance {
    let ledger = LEDGER.lock();
    let alive = ledger.alive.iter().flatten().filter(|(serial, _)| **serial > since.0);
    let mut leaked: Vec<ObjectRecord> = alive
        .map(|(_, entry)| {
            // SAFETY: what is in the ledger has not been freed, and cannot be while it is locked.
            unsafe { &*entry.0 }.record()
        })
        .filter(|birth| birth.kind != ObjectKind::RunLoop)
        .collect();
    leaked.sort_by_key(|birth| birth.serial);
    let misused = ledger.misuses.iter().filter(|misuse| misuse.after >= since.0).cloned().collect();
    Balance { leaked, misused }
}

/// How many objects live.
pub fn alive() -> usize {
    LEDGER.lock().alive.as_ref().map_or(0, HashMap::len)
}

/// Registers an object, and returns its number.
pub(crate) fn register(object: *mut Object) -> u64 {
    let mut ledger = LEDGER.lock();
    ledger.serial += 1;
    let serial = ledger.serial;
    ledger.alive.get_or_insert_default().insert(serial, Entry(object));
    serial
}

/// Moves an object into quarantine after its last release.
pub(crate) fn retire(serial: u64, object: *mut Object) {
    let freed = {
        let mut ledger = LEDGER.lock();
        if let Some(alive) = &mut ledger.alive {
            alive.remove(&serial);
        }
        ledger.dead.push_back(Entry(object));
        (ledger.dead.len() > MAX_QUARANTINED).then(|| ledger.dead.pop_front()).flatten()
    };
    if let Some(Entry(oldest)) = freed {
        // SAFETY: it came from a box, and has left the ledger, which is what else kept it.
        drop(unsafe { Box::from_raw(oldest) });
    }
}

/// Records a misuse.
pub(crate) fn report(kind: MisuseKind, function: &'static str, object: Option<ObjectRecord>) {
    let thread = std::thread::current().name().unwrap_or("without a name").to_owned();
    let mut ledger = LEDGER.lock();
    let after = ledger.serial;
    tracing::error!(?kind, function, ?object, thread, "the double was misused");
    if ledger.misuses.len() < MAX_MISUSES {
        ledger.misuses.push(Misuse { after, kind, function, object, thread });
    }
}
