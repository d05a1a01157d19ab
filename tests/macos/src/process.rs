//! Running programs that may hang: each has a limit, after which it is killed.

use std::ffi::OsStr;
use std::io::{BufRead, BufReader, Read};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::time::{Duration, Instant};

/// The time between two looks whether a program has ended.
const LOOK_INTERVAL: Duration = Duration::from_millis(10);
/// The time that the output of a program that was killed may take to end. Its children may hold it open.
const OUTPUT_LIMIT: Duration = Duration::from_secs(1);

/// What a run of a program left.
#[derive(Debug, Default)]
pub struct Ran {
    /// Its exit code; `None` if it was killed.
    pub code: Option<i32>,
    /// Its standard output.
    pub out: String,
    /// Its standard error.
    pub err: String,
    /// Whether it was killed because it took too long.
    pub timed_out: bool,
}

impl Ran {
    /// Everything that it said, for a report.
    pub fn text(&self) -> String {
        let end = match (self.timed_out, self.code) {
            (true, _) => "[killed: it took too long]\n".to_owned(),
            (false, Some(0)) => String::new(),
            (false, code) => format!("[exit code {code:?}]\n"),
        };
        format!("{}{}{end}", self.out, self.err)
    }
}

/// Runs a program to its end, or to the limit.
pub fn run(command: &mut Command, limit: Duration) -> Result<Ran, String> {
    let name = command.get_program().to_string_lossy().into_owned();
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().map_err(|fault| format!("{name} cannot be run: {fault}"))?;
    let (out, err) = (read(child.stdout.take()), read(child.stderr.take()));
    let begin = Instant::now();
    let mut ran = Ran::default();
    loop {
        match child.try_wait() {
            Ok(Some(status)) => break ran.code = status.code(),
            Ok(None) if begin.elapsed() < limit => std::thread::sleep(LOOK_INTERVAL),
            Ok(None) => {
                end(&mut child);
                break ran.timed_out = true;
            }
            Err(fault) => return Err(format!("{name}: {fault}")),
        }
    }
    let take = |pipe: Receiver<String>| pipe.recv_timeout(OUTPUT_LIMIT).unwrap_or_default();
    (ran.out, ran.err) = (take(out), take(err));
    Ok(ran)
}

/// Runs a program of macOS by its name.
pub fn tool<S: AsRef<OsStr>>(
    name: &str,
    args: impl IntoIterator<Item = S>,
    limit: Duration,
) -> Result<Ran, String> {
    run(Command::new(name).args(args), limit)
}

/// Kills a process that was started here, and takes its exit code.
pub fn end(child: &mut Child) {
    // It may have ended already; there is nothing else to do about a failure.
    let _ = child.kill();
    let _ = child.wait();
}

/// The lines that a process writes, as they come.
pub fn lines(pipe: impl Read + Send + 'static) -> Receiver<String> {
    let (sender, receiver) = mpsc::channel();
    std::thread::spawn(move || {
        for line in BufReader::new(pipe).lines().map_while(Result::ok) {
            if sender.send(line).is_err() {
                return;
            }
        }
    });
    receiver
}

fn read(pipe: Option<impl Read + Send + 'static>) -> Receiver<String> {
    let (sender, receiver) = mpsc::channel();
    std::thread::spawn(move || {
        let mut all = Vec::new();
        if let Some(mut pipe) = pipe {
            // What came until the fault is what there is.
            let _ = pipe.read_to_end(&mut all);
        }
        let _ = sender.send(String::from_utf8_lossy(&all).into_owned());
    });
    receiver
}
