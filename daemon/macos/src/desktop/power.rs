//! Whether power is to be saved: then nothing is read that nobody asked for.

use std::time::{Duration, Instant};

use parking_lot::Mutex;

use crate::appkit;

/// How long an answer of the system holds: it is needed twice a second for every attached app.
const LIFETIME: Duration = Duration::from_secs(2);

/// Whether the machine saves power, as the system said within the last two seconds.
pub fn is_saved() -> bool {
    static LAST: Mutex<Option<(Instant, bool)>> = Mutex::new(None);
    let mut last = LAST.lock();
    match *last {
        Some((when, saved)) if when.elapsed() < LIFETIME => saved,
        _ => {
            let saved = appkit::saves_power();
            *last = Some((Instant::now(), saved));
            saved
        }
    }
}
