//! Where the log goes: the terminal if there is one, else a file a day, the last seven kept.

use std::fs::{self, File};
use std::io::{self, IsTerminal, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

use axd_engine::private_file::{Access, PrivateFolder};
use axd_protocol::audit::day_of;
use tracing::{error, warn};
use tracing_appender::non_blocking::{NonBlocking, NonBlockingBuilder, WorkerGuard};
use tracing_subscriber::filter::{LevelFilter, Targets};
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;

/// How many days are kept.
const DAYS: usize = 7;
/// How many lines may wait to be written; what is more is dropped rather than waited for.
const LINES: usize = 1024;

/// How many bytes are kept until it is known whether this daemon serves.
const EARLY_BYTES: usize = 1 << 20;

/// The log, while it is kept open; dropping it writes what still waits.
#[derive(Debug)]
pub struct Log {
    /// The folder it is written to; absent if it goes to stderr.
    pub folder: Option<PathBuf>,
    state: PathBuf,
    stage: Arc<Mutex<Stage>>,
    _worker: WorkerGuard,
}

/// Where lines go.
enum Stage {
    /// Into memory, until it is known whether this daemon serves the socket: only that one writes the log.
    Early(Vec<u8>),
    Open(Box<dyn Write + Send>),
}

impl std::fmt::Debug for Stage {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(if matches!(self, Stage::Early(_)) { "Early" } else { "Open" })
    }
}

/// Begins to log. Nothing that happens to the log's folder or disk stops the daemon or makes it wait. On a terminal lines are seen at
/// once; for a file they wait until [`Log::commit`].
pub fn start(state: &Path, level: &str) -> Log {
    let terminal = io::stderr().is_terminal();
    let stage = if terminal { Stage::Open(Box::new(io::stderr())) } else { Stage::Early(Vec::new()) };
    let stage = Arc::new(Mutex::new(stage));
    let (writer, worker) = lossy(StagedWriter(Arc::clone(&stage)));
    let filter = level.parse::<Targets>();
    let bad_filter = filter.as_ref().err().map(ToString::to_string);
    let filter = filter.unwrap_or_else(|_| Targets::new().with_default(LevelFilter::INFO));
    let lines = tracing_subscriber::fmt::layer().with_ansi(false).with_writer(writer);
    // Fails only if a log has been started already, which then goes on.
    let _ = tracing_subscriber::registry().with(filter).with(lines).try_init();
    if let Some(fault) = bad_filter {
        warn!(level, fault, "not a log level; logging at info");
    }
    log_panics();
    Log { folder: None, state: state.to_owned(), stage, _worker: worker }
}

impl Log {
    /// Writes what was logged so far to a file in the state folder, and what follows too.
    pub fn commit(&mut self) {
        let mut stage = self.stage.lock().unwrap_or_else(PoisonError::into_inner);
        let Stage::Early(early) = &mut *stage else { return };
        let early = std::mem::take(early);
        let (mut file, fault): (Box<dyn Write + Send>, _) = match daily(&self.state) {
            Ok(file) => (Box::new(file), None),
            Err(fault) => (Box::new(io::stderr()), Some(fault)),
        };
        // A full disk stops the log and nothing else.
        let _ = file.write_all(&early);
        *stage = Stage::Open(file);
        drop(stage);
        match fault {
            None => self.folder = Some(self.state.clone()),
            Some(fault) => {
                let folder = self.state.display();
                warn!(%folder, %fault, "cannot log to the state folder; logging to stderr");
            }
        }
    }
}

/// The end of the log's queue.
struct StagedWriter(Arc<Mutex<Stage>>);

impl Write for StagedWriter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match &mut *self.0.lock().unwrap_or_else(PoisonError::into_inner) {
            Stage::Early(early) if early.len() + bytes.len() > EARLY_BYTES => Ok(bytes.len()),
            Stage::Early(early) => early.write(bytes),
            Stage::Open(file) => file.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match &mut *self.0.lock().unwrap_or_else(PoisonError::into_inner) {
            Stage::Early(_) => Ok(()),
            Stage::Open(file) => file.flush(),
        }
    }
}

/// A log file for each day, which nobody else may read or plant.
#[derive(Debug)]
struct DailyFile {
    folder: PathBuf,
    day: String,
    file: File,
}

fn daily(state: &Path) -> Result<DailyFile, String> {
    let day = day_of(now());
    let file = open(state, &day).map_err(|fault| fault.to_string())?;
    Ok(DailyFile { folder: state.to_owned(), day, file })
}

fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs())
}

fn open(folder: &Path, day: &str) -> io::Result<File> {
    // What a log says of the apps on a desktop is nobody else's business.
    let file = PrivateFolder::create(folder)?.open(&format!("axd.{day}.log"), Access::Append)?;
    remove_old(folder);
    Ok(file)
}

/// Removes all but the files that were written last. Their names do not say which those are: the clock may have been wrong.
fn remove_old(folder: &Path) {
    let mut files: Vec<(i64, PathBuf)> = Vec::new();
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        if let Ok(metadata) = entry.metadata()
            && name.starts_with("axd.")
            && name.ends_with(".log")
        {
            files.push((metadata.mtime(), entry.path()));
        }
    }
    files.sort();
    files.iter().rev().skip(DAYS).for_each(|(_, path)| drop(fs::remove_file(path)));
}

impl DailyFile {
    /// Goes on to the file of this time, forward or back, and to a new one if the file was removed.
    fn turn(&mut self, now: u64) -> io::Result<()> {
        let day = day_of(now);
        if day == self.day && self.file.metadata().is_ok_and(|metadata| metadata.nlink() > 0) {
            return Ok(());
        }
        self.file = open(&self.folder, &day)?;
        self.day = day;
        Ok(())
    }
}

impl Write for DailyFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.turn(now())?;
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

fn lossy(writer: impl io::Write + Send + 'static) -> (NonBlocking, WorkerGuard) {
    NonBlockingBuilder::default().lossy(true).buffered_lines_limit(LINES).thread_name("log").finish(writer)
}

/// A panic is a bug in axd: it belongs in the log, not on a stderr that nobody may see.
fn log_panics() {
    std::panic::set_hook(Box::new(|panic| {
        let said = panic.to_string().replace('\n', " ");
        error!("{said}");
    }));
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn a_folder_that_cannot_be_written_is_an_error_and_not_a_panic() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("file");
        fs::write(&file, "").unwrap();
        assert!(daily(&file.join("state")).is_err());
        assert!(daily(&folder.path().join("made/on/demand")).is_ok());
    }

    #[test]
    fn a_clock_that_jumps_and_comes_back_leaves_the_log_in_the_file_of_today() {
        let folder = tempfile::tempdir().unwrap();
        let state = folder.path().join("state");
        let mut log = daily(&state).unwrap();
        let today = log.day.clone();
        log.turn(now() + 200 * 365 * 86_400).unwrap();
        assert_ne!(log.day, today);
        log.write_all(b"back\n").unwrap();
        assert_eq!(fs::read_to_string(state.join(format!("axd.{today}.log"))).unwrap(), "back\n");
    }

    #[test]
    fn a_link_and_a_folder_of_everybodys_are_refused() {
        use std::os::unix::fs::{PermissionsExt, symlink};
        let folder = tempfile::tempdir().unwrap();
        let victim = folder.path().join("victim");
        let state = folder.path().join("state");
        fs::create_dir(&state).unwrap();
        symlink(&victim, state.join(format!("axd.{}.log", day_of(now())))).unwrap();
        assert!(daily(&state).unwrap_err().contains("link"));
        assert!(!victim.exists());
        fs::set_permissions(&state, PermissionsExt::from_mode(0o777)).unwrap();
        assert!(daily(&state).unwrap_err().contains("777"));
    }

    #[test]
    fn levels_and_lists_of_them_are_understood() {
        for level in ["info", "debug", "warn,axd_server=trace"] {
            assert!(level.parse::<Targets>().is_ok(), "{level}");
        }
    }
}
