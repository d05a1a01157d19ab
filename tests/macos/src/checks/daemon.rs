//! launchd and the daemon itself.

use std::time::Duration;

use super::{Needs, Table};
use crate::ax::Checked;
use crate::process;
use crate::stage::{Stage, expect};

pub const CHECKS: Table = &[
    ("launchd started the daemon, from the bundle", Needs::Axd, parent),
    ("the signature of the bundle is valid for macOS", Needs::Axd, signature),
];

/// Those that end the daemon.
pub const LAST_CHECKS: Table = &[("the daemon is started again after its end", Needs::Axd, restart)];

fn pid(stage: &Stage<'_>) -> Checked<u64> {
    let status = stage.ax.data(&["status"])?;
    status["pid"].as_u64().ok_or_else(|| format!("the daemon does not tell its process: {status}"))
}

fn parent(stage: &mut Stage<'_>) -> Checked {
    let pid = pid(stage)?;
    let ran = process::tool("ps", ["-o", "ppid=", "-p", &pid.to_string()], Duration::from_secs(10))?;
    let parent = ran.out.trim().to_owned();
    // Elsewhere than on a Mac nobody is launchd.
    expect(parent == "1" || !cfg!(target_os = "macos"), || format!("its parent is {parent}"))
}

fn signature(stage: &mut Stage<'_>) -> Checked {
    let bundle = stage.ax.bundle();
    let args = ["--verify".as_ref(), "--strict".as_ref(), "--verbose=2".as_ref(), bundle.as_os_str()];
    let ran = process::tool("codesign", args, Duration::from_secs(30))?;
    expect(ran.code == Some(0), || ran.text())
}

fn restart(stage: &mut Stage<'_>) -> Checked {
    let before = pid(stage)?;
    stage.ax.ask(&["shutdown"])?;
    let after = pid(stage)?;
    expect(after != before, || format!("it is still process {before}"))
}
