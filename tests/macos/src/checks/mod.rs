//! The checks. Each has a sentence about behaviour for a name.

mod acting;
mod apple;
mod daemon;
mod desktop;
mod tree;

use crate::ax::Checked;
use crate::stage::Stage;

/// What a check cannot do without.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Needs {
    /// Nothing but axd.
    Axd,
    /// The test app.
    TestApp,
    /// The test app, and leave to take pictures.
    Pictures,
}

/// A check.
pub struct Check {
    /// What is so if it passes.
    pub name: &'static str,
    /// What it cannot do without.
    pub needs: Needs,
    /// Looks whether it is so.
    pub run: fn(&mut Stage<'_>) -> Checked,
}

/// All checks, in the order in which they are run.
pub fn all() -> Vec<Check> {
    [daemon::CHECKS, apple::CHECKS, tree::CHECKS, acting::CHECKS, desktop::CHECKS, daemon::LAST_CHECKS]
        .into_iter()
        .flatten()
        .map(|(name, needs, run)| Check { name, needs: *needs, run: *run })
        .collect()
}

/// The checks of a module.
type Table = &'static [(&'static str, Needs, fn(&mut Stage<'_>) -> Checked)];
