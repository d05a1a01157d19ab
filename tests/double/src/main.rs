//! `axd-on-double`: the daemon with the macOS backend, on the double. The same options as `axd`; `ax sim` goes to the
//! scripted apps behind the double, and `AXD_SIM_APPS` adds to them. `AXD_DOUBLE` says how the machine is, in
//! words with commas between: `untrusted`, `other-build`, `no-capture`, `says-yes-after=TIMES` (the user allows reading apps when asked
//! so often), `secure-input=PID` (that process has the keyboard to itself, and keys that are made are swallowed).

#[cfg(not(target_os = "macos"))]
mod daemon;

#[cfg(not(target_os = "macos"))]
fn main() -> std::process::ExitCode {
    daemon::main()
}

#[cfg(target_os = "macos")]
fn main() {
    eprintln!("axd-on-double: this machine is a Mac; `axd` itself runs here");
}
