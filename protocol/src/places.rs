//! Where the socket, the settings and the logs live. Client and daemon both ask here, so they always agree.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// The socket's file name, and those of the locks beside it.
pub const SOCKET: &str = "axd.sock";
/// Held by the daemon that serves the socket.
pub const DAEMON_LOCK: &str = "axd.lock";
/// Held by a client while it starts a daemon.
pub const START_LOCK: &str = "start.lock";
/// The longest path a socket may have, macOS's limit (Linux allows 4 more).
pub const MAX_SOCKET_PATH: usize = 103;

/// Which system's habits to follow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum System {
    /// XDG directories.
    Linux,
    /// `~/Library`.
    MacOs,
}

impl System {
    /// The system this was built for.
    pub const HERE: System = if cfg!(target_os = "macos") { System::MacOs } else { System::Linux };
}

/// Where things live for one user.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Places {
    /// The socket.
    pub socket: PathBuf,
    /// Policy and settings.
    pub config: PathBuf,
    /// The folder of logs and audit.
    pub state: PathBuf,
}

impl Places {
    /// The places for the user `uid`, as the environment says.
    pub fn resolve(system: System, uid: u32, env: impl Fn(&str) -> Option<OsString>) -> Places {
        let path = |name: &str| env(name).filter(|value| !value.is_empty()).map(PathBuf::from);
        // XDG: a relative path in these variables is to be ignored.
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
        Places {
            socket: path("AXD_SOCKET").unwrap_or_else(|| socket_dir.join(SOCKET)),
            config: path("AXD_CONFIG").unwrap_or_else(|| config_dir.join("policy.toml")),
            state: path("AXD_STATE").unwrap_or(state),
        }
    }

    /// The lock file `name` that belongs to this socket: in the same folder, and for a socket of another name, one of
    /// its own, so that two daemons on two sockets of one folder do not lock each other out.
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

    fn resolve(system: System, env: &[(&str, &str)]) -> Places {
        Places::resolve(system, 501, |name| {
            env.iter().find(|(key, _)| *key == name).map(|(_, value)| value.into())
        })
    }

    #[test]
    fn linux_follows_xdg_and_falls_back_to_a_folder_of_the_users_own() {
        let places = resolve(System::Linux, &[("XDG_RUNTIME_DIR", "/run/user/501"), ("HOME", "/home/a")]);
        assert_eq!(places.socket, Path::new("/run/user/501/axd/axd.sock"));
        assert_eq!(places.config, Path::new("/home/a/.config/axd/policy.toml"));
        assert_eq!(places.state, Path::new("/home/a/.local/state/axd"));
        assert_eq!(
            resolve(System::Linux, &[("XDG_RUNTIME_DIR", "rel")]).socket,
            Path::new("/tmp/axd-501/axd.sock")
        );
    }

    #[test]
    fn macos_uses_the_library_and_variables_override() {
        let places = resolve(System::MacOs, &[("HOME", "/Users/a"), ("AXD_STATE", "/s")]);
        assert_eq!(places.socket, Path::new("/Users/a/Library/Application Support/axd/axd.sock"));
        assert_eq!(places.state, Path::new("/s"));
    }

    #[test]
    fn sockets_that_share_a_folder_do_not_share_locks() {
        assert_eq!(Places::lock_of(Path::new("/r/axd.sock"), DAEMON_LOCK), Path::new("/r/axd.lock"));
        assert_eq!(Places::lock_of(Path::new("/r/b.sock"), DAEMON_LOCK), Path::new("/r/b.sock.axd.lock"));
    }
}
