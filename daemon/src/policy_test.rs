//! `axd --policy-test`: checks a policy file without a daemon, as one would read it.

use std::path::Path;
use std::process::ExitCode;

/// The exit code for a file that cannot be used.
const INVALID: u8 = 2;

/// Checks a file, and says as JSON what is wrong with it.
pub fn run(file: &Path) -> ExitCode {
    let answer = axd_policy::test_file(file);
    // Serialising plain strings cannot fail.
    println!("{}", serde_json::to_string(&answer).unwrap_or_default());
    if answer.valid { ExitCode::SUCCESS } else { ExitCode::from(INVALID) }
}
