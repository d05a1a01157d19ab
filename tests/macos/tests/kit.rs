//! The kit for a Mac, run here: the macOS backend on the double, with scripted apps that are called as Apple's, and stand-ins
//! for programs of macOS alone. However a run ends, there is a report.
#![cfg(not(target_os = "macos"))]

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use tempfile::TempDir;

/// launchd, as far as it is needed: it starts what an agent's file names, with the socket that the file names.
const LAUNCHCTL: &str = r#"#!/usr/bin/env python3
import os, plistlib, subprocess, sys, time
folder = os.environ["FOLDER"] + "/launchd"
os.makedirs(folder, exist_ok=True)
verb, words = sys.argv[1], sys.argv[2:]
def pid_of(label):
    try:
        pid = int(open(f"{folder}/{label}.pid").read())
        return pid if open(f"/proc/{pid}/stat").read().rsplit(") ", 1)[1][0] != "Z" else None
    except (OSError, ValueError):
        return None
if verb == "list":
    for name in os.listdir(folder):
        if name.endswith(".plist"): print("-\t0\t" + name[:-6])
elif verb == "print":
    label = words[0].rsplit("/", 1)[1]
    if not os.path.exists(f"{folder}/{label}.plist"):
        sys.exit(f'Could not find service "{label}" in domain for user gui: 501')
    pid = pid_of(label)
    print(f"{words[0]} = {{\n\tpath = {os.readlink(f'{folder}/{label}.plist')}\n\tstate = {'running' if pid else 'not running'}")
    print((f"\tpid = {pid}\n" if pid else "") + "\tlast exit code = (never exited)\n}")
elif verb == "bootstrap":
    label = os.path.basename(words[1])[:-6]
    agent = plistlib.load(open(words[1], "rb"))
    os.symlink(words[1], f"{folder}/{label}.plist")
    socket = agent["Sockets"]["axd"]["SockPathName"]
    if os.path.exists(socket): os.unlink(socket)
    child = subprocess.Popen([*agent["ProgramArguments"], "--socket", socket], start_new_session=True, stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL, stderr=open(agent["StandardErrorPath"], "a"), env={**os.environ, **agent["EnvironmentVariables"]})
    open(f"{folder}/{label}.pid", "w").write(str(child.pid))
    while not os.path.exists(socket) and child.poll() is None: time.sleep(0.01)
elif verb == "bootout":
    label = words[0].rsplit("/", 1)[1]
    pid = pid_of(label)
    if pid: os.kill(pid, 15)
    os.unlink(f"{folder}/{label}.plist")
"#;

/// Apps that are called as Apple's, and show what the checks look for.
const APPS: [(&str, &str); 5] = [
    (
        "textedit",
        r#"
name = "TextEdit"
identity = "com.apple.TextEdit"
[[window]]
id = "main"
title = "axd-l4-note.txt"
children = [{ role = "textarea", id = "text", name = "Text", value = "first line\n" }]
"#,
    ),
    (
        "finder",
        r#"
name = "Finder"
identity = "com.apple.finder"
[[window]]
id = "main"
title = "axd-l4-folder"
children = [{ role = "list", id = "files", children = [
  { role = "listitem", id = "a", name = "alpha.txt" }, { role = "listitem", id = "b", name = "beta.txt" } ] }]
"#,
    ),
    (
        "safari",
        r#"
name = "Safari"
identity = "com.apple.Safari"
[[window]]
id = "main"
title = "axd-l4-page"
children = [
  { role = "button", id = "press", name = "Press me" }, { role = "text", id = "n", name = "pressed 0" },
  { role = "text", id = "t", name = "second 0" }, { role = "text", id = "counter", value = "0", states = ["hidden"] },
]
[[rule]]
on = "press:press"
do = [{ increase = "counter" }, { rename = "n", text = "pressed {value:counter}" }, { rename = "t", text = "second 1" }]
[[rule]]
on = "press:press"
after_ms = 1500
do = [{ rename = "t", text = "second 2" }]
"#,
    ),
    (
        "settings",
        r#"
name = "System Settings"
identity = "com.apple.systempreferences"
[[window]]
id = "main"
title = "System Settings"
children = [{ role = "table", id = "table", name = "Table", generate = { rows = 6, columns = 2 } }]
"#,
    ),
    ("calculator", include_str!("../../../daemon/sim/src/apps/calculator.toml")),
];

/// The programs that are tested, and stand-ins for those of macOS.
struct Mac {
    folder: TempDir,
    variables: Vec<(&'static str, String)>,
}

/// What a run of the kit left.
#[derive(Debug)]
struct Ran {
    code: Option<i32>,
    out: String,
    report: String,
}

impl Mac {
    fn new() -> Mac {
        let folder = tempfile::Builder::new().prefix("axd-kit").tempdir_in("/tmp").unwrap();
        let mac = Mac { folder, variables: Vec::new() };
        for inside in ["bin", "tools", "apps", "archive/axd.app/Contents/MacOS", "home"] {
            fs::create_dir_all(mac.at(inside)).unwrap();
        }
        for name in ["ax", "axd-l4"] {
            fs::copy(program(name), mac.at("archive").join(name)).unwrap();
        }
        let daemon =
            format!("#!/bin/sh\nexec '{}' --platform macos \"$@\"\n", program("axd-on-double").display());
        mac.write("archive/axd.app/Contents/MacOS/axd", &daemon);
        mac.write("tools/launchctl", LAUNCHCTL);
        mac.write("tools/open", "#!/bin/sh\necho \"$@\" >> \"$FOLDER/opened\"\n");
        mac.write("tools/uname", "#!/bin/sh\necho Darwin\n");
        mac.write("tools/xcode-select", "#!/bin/sh\nexit 2\n");
        mac.write("tools/sw_vers", "#!/bin/sh\necho 26.1\n");
        mac.write("tools/codesign", "#!/bin/sh\necho \"Identifier=dev.axd.axd\"\n");
        mac.write("tools/log", "#!/bin/sh\necho 'tccd: dev.axd.axd is allowed'\necho 'tccd: another'\n");
        mac.write(
            "tools/ditto",
            "#!/bin/sh\nshift 3\nexec tar -cf \"$2\" -C \"$(dirname \"$1\")\" \"$(basename \"$1\")\"\n",
        );
        for (name, script) in APPS {
            let script = script.replace("\"sim.calculator\"", "\"com.apple.calculator\"");
            fs::write(mac.at("apps").join(format!("{name}.toml")), script).unwrap();
        }
        mac.with_test_app("");
        mac
    }

    /// The test app: the one of the other tests, by the title of the one for macOS, and a program that says that it is up. Before
    /// that, this script is run.
    fn with_test_app(&self, script: &str) {
        let stage = include_str!("../../src/stage/stage.toml").replace("\"Test Sim\"", "\"Test AppKit\"");
        let more = "{ role = \"text\", id = \"ticks\", value = \"0\", states = [\"hidden\"] },\n\
            { role = \"text\", id = \"tick\", name = \"tick 0\" }, { role = \"button\", id = \"clock\", name = \"Clock\" },\n\
            { role = \"button\", name = \"Modern Press\" }, { role = \"textfield\", name = \"Modern Field\" },\n\
            { role = \"slider\", name = \"Modern Slider\", value = \"0\" },\n";
        let stage = stage.replacen(
            "{ role = \"button\", id = \"press\"",
            &format!("{more}{{ role = \"button\", id = \"press\""),
            1,
        );
        let rule = "\n[[rule]]\non = \"press:clock\"\ndo = [{ increase = \"ticks\" }, { rename = \"tick\", text = \"tick {value:ticks}\" }]\n";
        fs::write(self.at("apps/stage.toml"), stage + rule).unwrap();
        // The clock is pressed by a person, of whom the daemon knows nothing.
        let app = format!(
            "#!/bin/sh\n[ \"$1\" != --held ] || exit 0\n{script}\necho ready\n\
             while sleep 0.5; do '{}' sim Stage press clock --socket \"$(cat \"$FOLDER/socket\")\" >/dev/null 2>&1; done\n",
            self.at("archive/ax").display()
        );
        self.write("tools/AxdTest", &app);
        // Where the daemon listens is known to launchd.
        let launchctl = LAUNCHCTL.replace(
            "    child = ",
            "    open(os.environ[\"FOLDER\"] + \"/socket\", \"w\").write(socket)\n    child = ",
        );
        self.write("tools/launchctl", &launchctl);
    }

    fn at(&self, path: &str) -> PathBuf {
        self.folder.path().join(path)
    }

    fn write(&self, path: &str, text: &str) {
        fs::write(self.at(path), text).unwrap();
        fs::set_permissions(self.at(path), PermissionsExt::from_mode(0o755)).unwrap();
    }

    fn run(&self, words: &[&str]) -> Ran {
        let mut kit = Command::new(env!("CARGO_BIN_EXE_axd-l4"));
        kit.arg("--test-app").arg(self.at("tools/AxdTest"));
        self.finish(kit, words)
    }

    /// Runs the kit by the script.
    fn run_script(&self, words: &[&str]) -> Ran {
        let mut script = Command::new("/bin/bash");
        script.arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("run"));
        self.finish(script, words)
    }

    fn finish(&self, mut kit: Command, words: &[&str]) -> Ran {
        let path = std::env::var("PATH").unwrap();
        let ran = kit
            .args(["--no-return", "--patience", "10", "--bin"])
            .arg(self.at("archive"))
            .arg("--out")
            .arg(self.at("report"))
            .args(words)
            .env("HOME", self.at("home"))
            .env("XDG_RUNTIME_DIR", self.at("home"))
            .env("PATH", format!("{}:{path}", self.at("tools").display()))
            .env("FOLDER", self.folder.path())
            .env("AXD_START", "launchd")
            .env("AXD_SIM_APPS", self.at("apps"))
            .envs(self.variables.iter().map(|(name, value)| (name, value)))
            .stdin(Stdio::null())
            .output()
            .unwrap();
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        Ran {
            code: ran.status.code(),
            out: text(&ran.stdout) + &text(&ran.stderr),
            report: fs::read_to_string(self.at("report/report.md")).unwrap_or_default(),
        }
    }

    fn kept(&self, name: &str) -> String {
        fs::read_to_string(self.at("report").join(name)).unwrap_or_default()
    }
}

impl Drop for Mac {
    fn drop(&mut self) {
        // What a run left behind would outlive the test.
        for entry in fs::read_dir(self.at("launchd")).into_iter().flatten().flatten() {
            if entry.path().extension().is_some_and(|extension| extension == "pid") {
                let pid = fs::read_to_string(entry.path()).unwrap_or_default();
                let _ = Command::new("kill").arg("-9").arg(pid.trim()).stderr(Stdio::null()).status();
            }
        }
    }
}

/// A program of this workspace, as it was built last.
fn program(name: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_BIN_EXE_axd-l4")).with_file_name(name);
    assert!(path.is_file(), "{} is not there: run cargo build --workspace --bins first", path.display());
    path
}

/// The rows of the table of checks with this outcome.
fn rows<'r>(ran: &'r Ran, outcome: &str) -> Vec<&'r str> {
    ran.report.lines().filter(|line| line.contains(&format!("| {outcome} |"))).collect()
}

/// These need what the scripted apps do not have.
const NOT_HERE: [&str; 4] = ["--skip", "menu item", "--skip", "dragged"];

#[test]
fn a_mac_on_which_all_is_well_passes_every_check_and_brings_home_the_tables() {
    let mac = Mac::new();
    let ran = mac.run(&NOT_HERE);
    assert_eq!((ran.code, rows(&ran, "FAILED")), (Some(0), vec![]), "{}", ran.out);
    assert!(rows(&ran, "ok").len() >= 20 && rows(&ran, "skipped").is_empty(), "{}", ran.report);
    assert!(!ran.report.contains("did not come to its end"), "{}", ran.report);
    for said in [
        "| AXValueChanged |",
        "| AXWindowMoved |",
        "| Calculator |",
        "| Safari |",
        "macOS 26.1",
        "| AXUIElementDestroyed | ",
    ] {
        assert!(ran.report.contains(said), "{said} in {}", ran.report);
    }
    for file in ["status.json", "codesign.txt", "sw_vers.txt", "trees/TextEdit.json", "launchctl-list.txt"] {
        assert!(!mac.kept(file).is_empty(), "{file}");
    }
    assert!(mac.kept("trees/TextEdit.native.jsonl").contains("\"native_role\":\"AXTextArea"), "{}", ran.out);
    assert_eq!(mac.kept("tcc-log.txt"), "tccd: dev.axd.axd is allowed\n");
    assert!(mac.at("report.zip").exists(), "{}", ran.out);
    // Nothing is left: no agent, no process, no folder of the socket.
    assert_eq!(
        fs::read_dir(mac.at("launchd"))
            .unwrap()
            .flatten()
            .filter(|e| e.path().extension().unwrap() == "plist")
            .count(),
        0
    );
    let opened = fs::read_to_string(mac.at("opened")).unwrap();
    assert!(!opened.contains("x-apple.systempreferences"), "what is granted is not asked for: {opened}");
}

#[test]
fn a_check_that_fails_is_told_with_the_command_and_the_others_are_run() {
    let mac = Mac::new();
    let script = fs::read_to_string(mac.at("apps/calculator.toml")).unwrap();
    fs::write(
        mac.at("apps/calculator.toml"),
        script
            .replace("name = \"8\"", "name = \"nothing\"")
            .replace("\"eight\"", "\"none\"")
            .replace("\neight =", "\nnone ="),
    )
    .unwrap();
    let ran = mac.run(&["--only", "Calculator", "--only", "Finder"]);
    assert_eq!(ran.code, Some(1), "{}", ran.out);
    assert_eq!((rows(&ran, "FAILED").len(), rows(&ran, "ok").len()), (1, 1), "{}", ran.report);
    assert!(rows(&ran, "FAILED")[0].contains("no button is called 8 or eight"), "{}", ran.report);
    let folder = "failures/Calculator-is-pressed-by-AX-and-by-the-mouse";
    assert!(mac.kept(&format!("{folder}/snapshot.json")).contains("\"ok\":true"), "{}", ran.out);
    assert!(mac.kept(&format!("{folder}/why.txt")).contains("no button"), "{}", ran.out);
    assert!(mac.at("report.zip").exists());
}

#[test]
fn a_permission_that_never_comes_ends_in_a_report_and_was_asked_for_once() {
    let mut mac = Mac::new();
    mac.variables.push(("AXD_DOUBLE", "untrusted,no-capture".into()));
    let ran = mac.run(&["--patience", "2"]);
    assert_eq!(ran.code, Some(1), "{}", ran.out);
    assert!(ran.report.contains("Accessibility was not granted to"), "{}", ran.report);
    assert!(ran.report.contains(".local/axd-test/axd.app"), "{}", ran.report);
    // What needs no permission comes home all the same.
    assert!(
        ran.report.contains("median us") && !ran.report.contains("The selftest told nothing"),
        "{}",
        ran.report
    );
    assert!(rows(&ran, "ok").is_empty() && rows(&ran, "skipped").len() > 20, "{}", ran.report);
    let opened = fs::read_to_string(mac.at("opened")).unwrap();
    assert_eq!(opened.lines().count(), 2, "each place in the settings once: {opened}");
    assert!(mac.kept("permissions.txt").contains("MISSING"), "{}", mac.kept("permissions.txt"));
}

#[test]
fn a_permission_that_comes_is_waited_for() {
    let mut mac = Mac::new();
    // The daemon may ask by itself when it starts, and does when it is told to.
    mac.variables.push(("AXD_DOUBLE", "untrusted,says-yes-after=1".into()));
    let ran = mac.run(&["--only", "Finder"]);
    assert_eq!((ran.code, rows(&ran, "ok").len()), (Some(0), 1), "{}", ran.out);
}

#[test]
fn a_daemon_that_dies_is_started_again_and_ends_in_a_report() {
    let mac = Mac::new();
    // It is killed each time that the test app comes up.
    mac.with_test_app("kill -9 $(cat \"$FOLDER\"/launchd/*.pid)");
    let ran = mac.run(&["--only", "slider", "--only", "choice", "--only", "Finder"]);
    assert_eq!(rows(&ran, "ok").len() + rows(&ran, "FAILED").len(), 3, "{}", ran.report);
    assert!(rows(&ran, "ok").iter().any(|row| row.contains("Finder")), "{}", ran.report);
    assert!(!ran.report.contains("did not come to its end") && mac.at("report.zip").exists(), "{}", ran.out);
}

#[test]
fn a_daemon_that_cannot_be_started_ends_in_a_report() {
    let mac = Mac::new();
    mac.write("archive/axd.app/Contents/MacOS/axd", "#!/bin/sh\nexit 9\n");
    let ran = mac.run(&["--patience", "1"]);
    assert_eq!(ran.code, Some(1), "{}", ran.out);
    assert!(ran.report.contains("The daemon did not tell its permissions"), "{}", ran.report);
    let nothing = tempfile::tempdir().unwrap();
    let ran = mac.run(&["--bin", nothing.path().to_str().unwrap()]);
    assert_eq!(ran.code, Some(1));
    assert!(
        ran.report.contains("cannot install") && ran.report.contains("did not come to its end"),
        "{}",
        ran.report
    );
}

#[test]
fn an_app_that_hangs_and_a_test_app_that_says_nothing_end_in_a_report() {
    let mac = Mac::new();
    // The app hangs from the moment that it is opened.
    let open = format!(
        "#!/bin/sh\n'{}' sim Finder fault hang --socket \"$(cat \"$FOLDER/socket\")\"\n",
        mac.at("archive/ax").display()
    );
    mac.write("tools/open", &open);
    mac.write("tools/AxdTest", "#!/bin/sh\nexit 0\n");
    let ran = mac.run(&["--only", "Finder", "--only", "slider", "--only", "Calculator"]);
    assert_eq!(ran.code, Some(1), "{}", ran.out);
    let failed = rows(&ran, "FAILED");
    assert!(
        failed.len() == 2 && failed[0].contains("Finder") && failed[1].contains("does not come up"),
        "{}",
        ran.report
    );
    assert!(rows(&ran, "ok")[0].contains("Calculator"), "{}", ran.report);
    assert!(mac.at("report.zip").exists());
}

#[test]
fn a_run_that_takes_too_long_ends_in_a_report_of_what_was_not_run() {
    let mac = Mac::new();
    let ran = mac.run(&["--limit", "0", "--only", "Finder", "--only", "slider"]);
    assert_eq!((ran.code, rows(&ran, "FAILED").len()), (Some(1), 2), "{}", ran.out);
    assert!(rows(&ran, "FAILED")[0].contains("not run: the 0 s for all checks were over"), "{}", ran.report);
    assert!(mac.at("report.zip").exists(), "{}", ran.out);
}

#[test]
fn the_script_needs_no_compiler_and_says_what_it_cannot_do_without() {
    let mac = Mac::new();
    let ran = mac.run_script(&["--only", "Finder", "--only", "slider"]);
    assert_eq!(
        (ran.code, rows(&ran, "ok").len(), rows(&ran, "skipped").len()),
        (Some(0), 1, 1),
        "{}",
        ran.out
    );
    assert!(ran.out.contains("there is no Swift compiler here"), "{}", ran.out);
    assert!(rows(&ran, "skipped")[0].contains("no swiftc"), "{}", ran.report);
    fs::remove_file(mac.at("archive/axd-l4")).unwrap();
    let ran = mac.run_script(&[]);
    assert_eq!(ran.code, Some(2), "{}", ran.out);
    assert!(ran.out.contains("has no axd-l4"), "{}", ran.out);
}

#[test]
fn a_test_app_that_cannot_be_built_is_told_and_the_rest_is_run() {
    let mac = Mac::new();
    mac.write("tools/xcode-select", "#!/bin/sh\n");
    mac.write("tools/xcrun", "#!/bin/sh\n");
    mac.write("tools/swiftc", "#!/bin/sh\necho 'error: no SDK'\nexit 1\n");
    let ran = mac.run_script(&["--only", "Finder", "--only", "slider"]);
    assert_eq!(
        (ran.code, rows(&ran, "ok").len(), rows(&ran, "skipped").len()),
        (Some(0), 1, 1),
        "{}",
        ran.out
    );
    assert!(ran.out.contains("error: no SDK"), "{}", ran.out);
}
