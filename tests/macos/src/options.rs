//! The command line.

use std::path::PathBuf;
use std::time::Duration;

/// What `--help` prints.
pub const HELP: &str = "\
axd-l4: tests axd on this Mac, and writes a report.

Usage: axd-l4 [OPTIONS]        (tests/macos/run calls it)

  --bin DIR         The folder with ax and axd.app [default: that of this program]
  --out DIR         The folder of the report [default: axd-l4-report]; the same with .zip is made of it
  --only TEXT       Only checks with this in their name; may be repeated
  --skip TEXT       No checks with this in their name; may be repeated
  --patience S      How long to wait for the permissions, in seconds [default: 300]
  --limit S         How long all checks together may take, in seconds [default: 1200]; the rest is not run then
  --no-return       Start when both are granted, without asking for Return
  --test-app FILE   The program of the test app (tests/macos/build makes it)
  --home DIR        Where axd.app is installed for the test [default: ~/.local/axd-test]
  --help            This text

The exit code is 0 if every check passed, 1 if one failed or could not be run, 2 if the command line is wrong.
";

/// The options.
#[derive(Debug)]
pub struct Options {
    /// The folder with `ax` and `axd.app`.
    pub bin: PathBuf,
    /// The folder of the report.
    pub out: PathBuf,
    /// Parts of names of checks to run; all if empty.
    pub only: Vec<String>,
    /// Parts of names of checks not to run.
    pub skip: Vec<String>,
    /// How long to wait for the permissions.
    pub patience: Duration,
    /// How long all checks together may take.
    pub limit: Duration,
    /// Whether to ask for Return before mouse and keyboard are used.
    pub asks_for_return: bool,
    /// The program of the test app.
    pub test_app: Option<PathBuf>,
    /// Where axd.app is installed.
    pub home: PathBuf,
}

impl Options {
    /// Parses the command line; `None` asks for help.
    pub fn parse(args: impl IntoIterator<Item = String>) -> Result<Option<Options>, String> {
        let own = std::env::current_exe().ok().and_then(|own| own.parent().map(PathBuf::from));
        let user = std::env::var_os("HOME").map(PathBuf::from).unwrap_or_else(|| "/tmp".into());
        let mut options = Options {
            bin: own.unwrap_or_else(|| ".".into()),
            out: "axd-l4-report".into(),
            only: Vec::new(),
            skip: Vec::new(),
            patience: Duration::from_secs(300),
            limit: Duration::from_secs(1_200),
            asks_for_return: true,
            test_app: None,
            home: user.join(".local/axd-test"),
        };
        let mut args = args.into_iter();
        while let Some(name) = args.next() {
            if name == "--help" || name == "-h" {
                return Ok(None);
            }
            if name == "--no-return" {
                options.asks_for_return = false;
                continue;
            }
            let mut value = || args.next().ok_or_else(|| format!("{name} needs a value"));
            match name.as_str() {
                "--bin" => options.bin = value()?.into(),
                "--out" => options.out = value()?.into(),
                "--only" => options.only.push(value()?),
                "--skip" => options.skip.push(value()?),
                "--test-app" => options.test_app = Some(value()?.into()),
                "--home" => options.home = value()?.into(),
                "--patience" => options.patience = seconds(&value()?)?,
                "--limit" => options.limit = seconds(&value()?)?,
                _ => return Err(format!("unknown option {name}")),
            }
        }
        for path in [&mut options.bin, &mut options.out, &mut options.home] {
            *path = std::path::absolute(&*path).map_err(|fault| format!("{}: {fault}", path.display()))?;
        }
        Ok(Some(options))
    }

    /// Whether the check of this name is to be run.
    pub fn selects(&self, name: &str) -> bool {
        let is_in = |parts: &[String]| parts.iter().any(|part| name.contains(part.as_str()));
        (self.only.is_empty() || is_in(&self.only)) && !is_in(&self.skip)
    }
}

fn seconds(text: &str) -> Result<Duration, String> {
    text.parse().map(Duration::from_secs).map_err(|_| format!("{text} is not a number of seconds"))
}
