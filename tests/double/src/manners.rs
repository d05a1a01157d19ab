//! How the system and its apps behave beyond what Apple documents. They are rude by default, as people have measured on Macs; a
//! test may ask for the polite ones.

use std::time::Duration;

/// How apps behave.
#[derive(Debug, Clone)]
pub struct Manners {
    /// What one call to an app costs at least.
    pub round_trip: Duration,
}

impl Default for Manners {
    fn default() -> Manners {
        Manners { round_trip: Duration::from_micros(100) }
    }
}

impl Manners {
    /// As Apple's documentation could be understood.
    pub fn polite() -> Manners {
        Manners { round_trip: Duration::ZERO }
    }
}
