//! A short soak on the built-in desktop; `scripts/soak` runs the long one, with real apps.

use std::time::Duration;

use axd_tests::soak::{Soak, run};

#[test]
fn twenty_clients_and_dying_apps_leave_nothing_wrong_behind() {
    let seed = std::env::var("AXD_SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or(1);
    let soak =
        Soak { axd: axd_tests::axd(), time: Duration::from_secs(12), clients: 20, desktop: false, seed };
    let wrong = run(&soak);
    assert!(wrong.is_empty(), "seed {seed}: {wrong:#?}");
}
