//! The paths of the socket, the settings and the logs. Client and daemon both use this module, so that they always agree.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// The file name of the socket.
pub const SOCKET: &str = "axd.sock";
/// The file name of the lock that the daemon holds while it serves the socket.
pub const DAEMON_LOCK: &str = "axd.lock";
/// The file name of the lock that a client holds while it starts a daemon.
pub const START_LOCK: &str = "start.lock";
/// The maximum length of a socket's path in bytes. This is the limit of macOS; Linux allows 4 more.
pub const MAX_SOCKET_PATH: usize = 103;

/// The operating system whose directory conventions are followed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum System {
    /// Linux, with the XDG directories.
    Linux,
    /// macOS, with `~/Library`.
    MacOs,
}

impl System {
    /// The system that this crate was built for.
    pub const CURRENT: System = if cfg!(target_os = "macos") { System::MacOs } else { System::Linux };
}

/// The paths of one user's daemon.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Paths {
    /// The socket.
    pub socket: PathBuf,
    /// The file of policy and settings.
    pub config: PathBuf,
    /// The folder of the logs and the audit.
    pub state: PathBuf,
}

impl Paths {
    /// The paths for the user `uid`, from the environment variables that `env` returns.
    pub fn resolve(system: System, uid: u32, env: impl Fn(&str) -> Option<OsString>) -> Paths {
        let path = |name: &str| env(name).filter(|value| !value.is_empty()).map(PathBuf::from);
        // The XDG specification says that a relative path in these variables must be ignored.
        let xdg = |name: &str| path(name).filter(|path| path.is_absolute());
        let home = path("HOME").unwrap_or_else(|| PathBuf::from("/"));
        let scratch = || PathBuf::from(format!("/tmp/axd-{uid}"));
        let (socket_dir, config_dir, state) = match system {
            System::Linux => (
                xdg("XDG_RUNTIME_DIR").map_or_else(scratch, |dir| dir.join("axd")),
                xdg("XDG_CONFIG_HOME").unwrap_or_else(|| home.join(".config")).join("axd"),
                xdg("XDG_STATE_HOME").unwrap_or_else(|| home.join(".local/state")).join("axd"),
            ),
            System::MacOs => {
                let support = home.join("Library/Application Support/axd");
                (support.clone(), support, home.join("Library/Logs/axd"))
            }
        };
        Paths {
            socket: path("AXD_SOCKET").unwrap_or_else(|| socket_dir.join(SOCKET)),
            config: path("AXD_CONFIG").unwrap_or_else(|| config_dir.join("policy.toml")),
            state: path("AXD_STATE").unwrap_or(state),
        }
    }

    /// The path of the lock file `name` for this socket, in the same folder. A socket that is not called [`SOCKET`] has
    /// lock files of its own, so that two daemons on two sockets in one folder do not exclude each other.
    pub fn lock_of(socket: &Path, name: &str) -> PathBuf {
        match socket.file_name() {
            Some(file) if file != SOCKET => {
                socket.with_file_name(format!("{}.{name}", file.to_string_lossy()))
            }
            _ => socket.with_file_name(name),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn resolve(system: System, env: &[(&str, &str)]) -> Paths {
        Paths::resolve(system, 501, |name| {
            env.iter().find(|(key, _)| *key == name).map(|(_, value)| value.into())
        })
    }

    #[test]
    fn linux_follows_xdg_and_falls_back_to_a_folder_of_the_users_own() {
        let paths = resolve(System::Linux, &[("XDG_RUNTIME_DIR", "/run/user/501"), ("HOME", "/home/a")]);
        assert_eq!(paths.socket, Path::new("/run/user/501/axd/axd.sock"));
        assert_eq!(paths.config, Path::new("/home/a/.config/axd/policy.toml"));
        assert_eq!(paths.state, Path::new("/home/a/.local/state/axd"));
        assert_eq!(
            resolve(System::Linux, &[("XDG_RUNTIME_DIR", "rel")]).socket,
            Path::new("/tmp/axd-501/axd.sock")
        );
    }

    #[test]
    fn macos_uses_the_library_and_variables_override() {
        let paths = resolve(System::MacOs, &[("HOME", "/Users/a"), ("AXD_STATE", "/s")]);
        assert_eq!(paths.socket, Path::new("/Users/a/Library/Application Support/axd/axd.sock"));
        assert_eq!(paths.state, Path::new("/s"));
    }

    #[test]
    fn sockets_that_share_a_folder_do_not_share_locks() {
        assert_eq!(Paths::lock_of(Path::new("/r/axd.sock"), DAEMON_LOCK), Path::new("/r/axd.lock"));
        assert_eq!(Paths::lock_of(Path::new("/r/b.sock"), DAEMON_LOCK), Path::new("/r/b.sock.axd.lock"));
    }
}
