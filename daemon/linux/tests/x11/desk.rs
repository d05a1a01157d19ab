//! A private headless desktop for a test, and what the test does in it.

use std::io::Write;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use axd_linux::LinuxDesktop;
use axd_platform::{DesktopEvent, DesktopWindow, Failure, Gate, InputStep, Platform, Reply, RunningApp};
use tokio::sync::mpsc;

const INSIDE: &str = "AXD_TEST_INSIDE_DESKTOP";

/// What scripts/desktop exits with when it could not boot.
const NO_DESKTOP: i32 = 125;

/// Runs this test inside a desktop of its own: true if we are inside. False if the test ran there, or cannot run here.
pub fn inside(test: &str, options: &[&str]) -> bool {
    if std::env::var_os(INSIDE).is_some() {
        return true;
    }
    let programs = ["Xvfb", "jwm", "dbus-daemon", "xprop"];
    let lacks = programs.into_iter().find(|program| !is_installed(program)).or_else(|| {
        let there = [
            "import gi; gi.require_version('Gtk', '3.0')",
            "import gi; gi.require_version('Gtk', '4.0')",
            "import PyQt6",
        ]
        .into_iter()
        .all(|line| {
            Command::new("/usr/bin/python3")
                .args(["-c", line])
                .stderr(Stdio::null())
                .status()
                .is_ok_and(|it| it.success())
        });
        (!there).then_some("the Python bindings of GTK and Qt")
    });
    if let Some(lacks) = lacks {
        skipped(test, lacks);
        return false;
    }
    let me = std::env::current_exe().unwrap();
    let run = || {
        Command::new(root().join("scripts/desktop"))
            .args(options)
            .arg(&me)
            .args(["--exact", test, "--nocapture", "--test-threads=1"])
            .env(INSIDE, "1")
            .output()
            .unwrap()
    };
    let mut output = run();
    for _ in 0..2 {
        // A desktop that could not be booted, as on a machine that is too busy, says nothing about what is tested in it.
        if output.status.code() == Some(NO_DESKTOP) {
            output = run();
        }
    }
    let (stdout, stderr) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    eprintln!("{stderr}");
    assert!(output.status.success(), "{stdout}\n{stderr}");
    assert!(stdout.contains("1 passed"), "the test did not run: {stdout}");
    false
}

/// Says that a test cannot run here, where it is seen: what is printed as usual is shown of failed tests only.
pub fn skipped(test: &str, lacks: &str) {
    let said = format!("SKIPPED {test}: not installed: {lacks}; scripts/install-desktop installs it\n");
    let _ = std::io::stderr().write_all(said.as_bytes());
}

/// Whether a program is in `PATH`.
pub fn is_installed(program: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|folder| folder.join(program).is_file())
}

/// The project's folder.
pub fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The desktop as axd has it.
pub struct Desk {
    pub platform: LinuxDesktop,
    events: mpsc::UnboundedReceiver<DesktopEvent>,
    pub windows: Vec<DesktopWindow>,
    pub front: Option<u64>,
    /// How many there are.
    pub displays: usize,
    /// The apps that show a tree.
    pub seen: Vec<RunningApp>,
    apps: Vec<Child>,
}

impl Desk {
    pub async fn new() -> Desk {
        let platform = LinuxDesktop::connect().await.unwrap();
        let (out, events) = mpsc::unbounded_channel();
        platform.start(out);
        Desk {
            platform,
            events,
            windows: Vec::new(),
            front: None,
            displays: 0,
            seen: Vec::new(),
            apps: Vec::new(),
        }
    }

    /// Starts a program, which ends with the test.
    pub fn start(&mut self, program: &str, args: &[&str]) -> u32 {
        let child =
            Command::new(program).args(args).stdin(Stdio::null()).stdout(Stdio::null()).spawn().unwrap();
        let pid = child.id();
        self.apps.push(child);
        pid
    }

    /// Starts the echo app of a toolkit; its window, once it is in front.
    pub async fn echo(&mut self, toolkit: &str) -> u64 {
        self.echo_beside(toolkit, None).await
    }

    /// Starts another one.
    pub async fn another_echo(&mut self, toolkit: &str, first: u64) -> u64 {
        self.echo_beside(toolkit, Some(first)).await
    }

    async fn echo_beside(&mut self, toolkit: &str, other: Option<u64>) -> u64 {
        let apps = root().join("tests/desktop/apps");
        if toolkit == "chromium" {
            let page = format!("--app=file://{}", apps.join("echo.html").display());
            let profile = format!("--user-data-dir={}/chromium", std::env::var("HOME").unwrap());
            self.start(
                "chromium",
                &[
                    "--no-sandbox",
                    "--no-first-run",
                    "--disable-background-networking",
                    "--disable-sync",
                    &profile,
                    &page,
                ],
            );
        } else {
            self.start("/usr/bin/python3", &[&apps.join("echo.py").display().to_string(), toolkit]);
        }
        self.until("the app is in front", |desk| {
            desk.windows.iter().any(|window| {
                window.title.starts_with("echo") && Some(window.window) == desk.front && desk.front != other
            })
        })
        .await;
        self.front.unwrap()
    }

    /// What the echo app in front holds.
    pub fn echoed(&self, window: u64) -> String {
        let title = &self.window(window).title;
        // A browser may add its name.
        let hex =
            title.strip_prefix("echo").unwrap_or_default().split_whitespace().next().unwrap_or_default();
        let digits: Vec<u8> = hex.bytes().filter(u8::is_ascii_hexdigit).collect();
        let bytes = digits
            .chunks_exact(2)
            .map(|two| u8::from_str_radix(std::str::from_utf8(two).unwrap(), 16).unwrap());
        String::from_utf8_lossy(&bytes.collect::<Vec<u8>>()).into_owned()
    }

    pub fn window(&self, window: u64) -> &DesktopWindow {
        self.windows.iter().find(|seen| seen.window == window).unwrap()
    }

    /// Waits until the desktop is so.
    pub async fn until(&mut self, what: &str, mut condition: impl FnMut(&Desk) -> bool) {
        let limit = tokio::time::sleep(Duration::from_secs(30));
        tokio::pin!(limit);
        while !condition(self) {
            tokio::select! {
                event = self.events.recv() => match event.expect("the desktop goes on telling") {
                    DesktopEvent::Windows(windows) => self.windows = windows,
                    DesktopEvent::Frontmost { window, .. } => self.front = window,
                    DesktopEvent::Displays(displays) => self.displays = displays.len(),
                    DesktopEvent::AppUp(app) => self.seen.push(app),
                    DesktopEvent::AppGone { pid } => self.seen.retain(|app| app.pid != pid),
                    // Some are ended by force.
                    DesktopEvent::Ended { .. } => {}
                },
                () = &mut limit => panic!("in vain: {what}; windows {:#?}, in front {:?}", self.windows, self.front),
            }
        }
    }

    /// Waits until something that the desktop does not report is so.
    pub async fn until_true(&mut self, what: &str, condition: impl Fn() -> bool) {
        let limit = std::time::Instant::now() + Duration::from_secs(30);
        while !condition() {
            assert!(std::time::Instant::now() < limit, "in vain: {what}");
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }

    pub async fn call<T>(&self, call: impl FnOnce(&dyn Platform, Gate) -> Reply<T>) -> Result<T, Failure> {
        call(&self.platform, Gate::new()).await.expect("an answer")
    }

    pub async fn input(&self, steps: Vec<InputStep>) -> Result<(), Failure> {
        self.call(|platform, gate| platform.input(steps.into(), gate)).await.map(drop)
    }

    /// Clicks into the middle of a window.
    pub async fn click(&self, window: u64) {
        use axd_protocol::keys::Button;
        let bounds = self.window(window).bounds.unwrap();
        let at = axd_protocol::Point { x: bounds.x + bounds.width / 2, y: bounds.y + bounds.height / 2 };
        let steps = vec![
            InputStep::Move(at),
            InputStep::Button(Button::Left, true),
            InputStep::Button(Button::Left, false),
        ];
        self.input(steps).await.unwrap();
    }
}

impl Drop for Desk {
    fn drop(&mut self) {
        for app in &mut self.apps {
            let _ = app.kill();
            let _ = app.wait();
        }
    }
}
