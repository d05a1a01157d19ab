//! A daemon of a test's own, on the built-in desktop unless said otherwise.

use std::fs::{self, File, Permissions};
use std::io::{BufRead, BufReader};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc;

use axd_client::Connection;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use tempfile::TempDir;

use crate::raw::Raw;
use crate::{Ax, PATIENCE, programs};

/// A folder that is the user's alone, with a short path: sockets have little room for theirs.
pub fn folder() -> TempDir {
    tempfile::Builder::new()
        .prefix("axt")
        .permissions(Permissions::from_mode(0o700))
        .tempdir_in("/tmp")
        .expect("a folder in /tmp")
}

/// How a daemon is to be started.
#[derive(Debug, Default)]
pub struct Setup {
    args: Vec<String>,
    env: Vec<(String, String)>,
    apps: Vec<String>,
    state: Option<PathBuf>,
    folder: Option<TempDir>,
    platform: Option<String>,
    policy: Option<String>,
}

impl Setup {
    /// As it comes: the built-in apps, and a log that tells everything.
    pub fn new() -> Setup {
        Setup::default()
    }

    /// With this app, a script, on its desktop too.
    pub fn app(mut self, script: impl Into<String>) -> Setup {
        self.apps.push(script.into());
        self
    }

    /// With these args of `axd` too.
    pub fn args(mut self, args: &[&str]) -> Setup {
        self.args.extend(args.iter().map(|arg| (*arg).to_owned()));
        self
    }

    /// With this in its environment.
    pub fn env(mut self, name: &str, value: &str) -> Setup {
        self.env.push((name.to_owned(), value.to_owned()));
        self
    }

    /// On this platform; `macos` elsewhere than on a Mac is its backend on the double.
    pub fn platform(mut self, platform: &str) -> Setup {
        self.platform = Some(platform.to_owned());
        self
    }

    /// With this in its policy file, which is empty otherwise: that of whoever tests is none of the daemon's business.
    pub fn policy(mut self, text: impl Into<String>) -> Setup {
        self.policy = Some(text.into());
        self
    }

    /// With its log in this folder.
    pub fn state(mut self, state: &Path) -> Setup {
        self.state = Some(state.to_owned());
        self
    }

    /// With its socket in this folder.
    pub fn folder(mut self, folder: TempDir) -> Setup {
        self.folder = Some(folder);
        self
    }

    /// Starts it; returns when it listens.
    pub fn start(self) -> Daemon {
        let folder = self.folder.unwrap_or_else(folder);
        let apps = folder.path().join("apps");
        fs::create_dir_all(&apps).expect("a folder for the apps");
        for (number, script) in self.apps.iter().enumerate() {
            fs::write(apps.join(format!("{number}.toml")), script).expect("a script can be written");
        }
        let policy = folder.path().join("policy.toml");
        if let Some(text) = self.policy {
            write_policy(&policy, &text);
        } else if !policy.exists() {
            write_policy(&policy, "# The built-in rules.\n");
        }
        let state = self.state.unwrap_or_else(|| folder.path().join("state"));
        let mut daemon = Daemon {
            child: None,
            socket: folder.path().join("axd.sock"),
            state,
            policy,
            apps,
            args: self.args,
            env: self.env,
            platform: self.platform.unwrap_or_else(|| "sim".to_owned()),
            folder,
        };
        daemon.launch();
        daemon
    }
}

/// A running daemon; it is killed when this is dropped.
#[derive(Debug)]
pub struct Daemon {
    child: Option<Child>,
    /// Where it listens.
    pub socket: PathBuf,
    /// Where it logs.
    pub state: PathBuf,
    /// Its policy file.
    pub policy: PathBuf,
    apps: PathBuf,
    args: Vec<String>,
    env: Vec<(String, String)>,
    platform: String,
    folder: TempDir,
}

impl Daemon {
    /// A daemon as it comes.
    pub fn start() -> Daemon {
        Setup::new().start()
    }

    /// The folder of its socket, its apps and its log.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// Its process.
    pub fn pid(&self) -> i32 {
        self.child.as_ref().expect("it runs").id() as i32
    }

    /// A new client.
    pub fn client(&self) -> Raw {
        Raw::connect(&self.socket)
    }

    /// A new connection of the client library.
    pub fn connection(&self) -> Connection {
        let connection = Connection::open(&self.socket).expect("it listens");
        connection.stream().set_read_timeout(Some(PATIENCE)).expect("a timeout can be set");
        connection
    }

    /// `ax`, talking to this daemon and starting no other.
    pub fn ax(&self, words: &[&str]) -> Ax {
        Ax::new(words).env("AXD_SOCKET", &self.socket).env("AXD_NO_AUTOSTART", "1")
    }

    /// Writes its policy file anew.
    pub fn write_policy(&self, text: &str) {
        write_policy(&self.policy, text);
    }

    /// Sends it a signal.
    pub fn signal(&self, signal: Signal) {
        kill(Pid::from_raw(self.pid()), signal).expect("it can be signalled");
    }

    /// Waits until it has ended by itself.
    pub fn exit(&mut self) -> ExitStatus {
        wait_for_exit(self.child.as_mut().expect("it runs"))
    }

    /// Kills it without a word, and starts another in its place.
    pub fn replace(&mut self) {
        self.signal(Signal::SIGKILL);
        self.exit();
        self.launch();
    }

    /// How much memory it holds, in bytes.
    pub fn memory(&self) -> u64 {
        let pid = self.pid().to_string();
        let told = if cfg!(target_os = "linux") {
            let status = fs::read_to_string(format!("/proc/{pid}/status")).expect("it runs");
            status.lines().find_map(|line| line.strip_prefix("VmRSS:")).expect("it has memory").to_owned()
        } else {
            let ps = Command::new("ps").args(["-o", "rss=", "-p", &pid]).output().expect("ps runs");
            String::from_utf8_lossy(&ps.stdout).into_owned()
        };
        let kilobytes = told.split_whitespace().next().and_then(|word| word.parse::<u64>().ok());
        kilobytes.expect("a number") * 1024
    }

    /// Everything it has logged and written to its standard error so far.
    pub fn log(&self) -> Vec<u8> {
        let mut all = fs::read(self.folder.path().join("stderr")).unwrap_or_default();
        for entry in fs::read_dir(&self.state).into_iter().flatten().flatten() {
            all.extend(fs::read(entry.path()).unwrap_or_default());
        }
        all
    }

    fn launch(&mut self) {
        let stderr = File::create(self.folder.path().join("stderr")).expect("a file for its standard error");
        let on_double = self.platform == "macos" && !cfg!(target_os = "macos");
        let program = if on_double { programs::axd_on_double() } else { programs::axd() };
        // The shell puts the pipe where `--ready-fd` can name it, and is replaced by the daemon.
        let mut child = Command::new("sh")
            .args(["-c", r#"exec "$0" "$@" --ready-fd 9 9>&1 >/dev/null"#])
            .arg(program)
            .args(["--platform", &self.platform, "--log-level", "trace", "--socket"])
            .arg(&self.socket)
            .arg("--state")
            .arg(&self.state)
            .args(&self.args)
            .env("AXD_SIM_APPS", &self.apps)
            .env("AXD_CONFIG", &self.policy)
            .envs(self.env.iter().map(|(name, value)| (name, value)))
            .env_remove("AXD_SOCKET")
            .env_remove("AXD_LOG")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(stderr)
            .spawn()
            .expect("axd runs");
        let pipe = child.stdout.take().expect("it was asked for");
        self.child = Some(child);
        let (tell, told) = mpsc::channel();
        std::thread::spawn(move || {
            let mut line = String::new();
            let _ = BufReader::new(pipe).read_line(&mut line);
            let _ = tell.send(line);
        });
        let line = told.recv_timeout(PATIENCE).expect("the daemon says whether it listens");
        assert!(line.starts_with("ready "), "{line}{}", String::from_utf8_lossy(&self.log()));
    }
}

/// Puts another file in place of the policy, as editors do.
fn write_policy(path: &Path, text: &str) {
    let new = path.with_extension("new");
    fs::write(&new, text).expect("a policy can be written");
    fs::set_permissions(&new, Permissions::from_mode(0o600)).expect("it is ours");
    fs::rename(new, path).expect("it can be replaced");
}

impl Drop for Daemon {
    fn drop(&mut self) {
        if let Some(child) = &mut self.child {
            let _ = child.kill();
            let _ = child.wait();
        }
        if std::thread::panicking() {
            let log = self.log();
            let tail = &log[log.len().saturating_sub(3_000)..];
            eprintln!("the end of the daemon's log:\n{}", String::from_utf8_lossy(tail));
        }
    }
}

/// Waits until a process has ended.
pub fn wait_for_exit(child: &mut Child) -> ExitStatus {
    let pid = Pid::from_raw(child.id() as i32);
    let (tell, told) = mpsc::channel();
    std::thread::spawn(move || {
        // Does not reap it: that is for whoever holds the child.
        // SAFETY: all zeroes is a `siginfo_t`, and the call writes nothing but that.
        let ended = unsafe {
            let mut info: nix::libc::siginfo_t = std::mem::zeroed();
            let options = nix::libc::WEXITED | nix::libc::WNOWAIT;
            nix::libc::waitid(nix::libc::P_PID, pid.as_raw() as nix::libc::id_t, &mut info, options)
        };
        let _ = tell.send(ended == 0);
    });
    let ended = told.recv_timeout(PATIENCE);
    if ended.is_err() {
        let _ = child.kill();
        panic!("process {pid} does not end");
    }
    child.wait().expect("it has ended")
}
