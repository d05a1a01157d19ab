//! Where the log goes: the terminal if there is one, else a file a day, the last seven kept.

use std::fs::DirBuilder;
use std::io::{self, IsTerminal};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use tracing::{error, warn};
use tracing_appender::non_blocking::{NonBlocking, NonBlockingBuilder, WorkerGuard};
use tracing_appender::rolling::{RollingFileAppender, Rotation};
use tracing_subscriber::filter::{LevelFilter, Targets};
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;

/// How many days are kept.
const DAYS: usize = 7;
/// How many lines may wait to be written; what is more is dropped rather than waited for.
const LINES: usize = 1024;

/// The log, while it is kept open; dropping it writes what still waits.
#[derive(Debug)]
pub struct Log {
    /// The folder it is written to; absent if it goes to stderr.
    pub folder: Option<PathBuf>,
    _worker: WorkerGuard,
}

/// Begins to log. Nothing that happens to the log's folder or disk stops the daemon or makes it wait.
pub fn start(state: &Path, level: &str) -> Log {
    start_to(state, level, io::stderr().is_terminal())
}

fn start_to(state: &Path, level: &str, terminal: bool) -> Log {
    let file = if terminal { None } else { Some(daily(state)) };
    let (folder, (writer, worker), fault) = match file {
        None => (None, lossy(io::stderr()), None),
        Some(Ok(file)) => (Some(state.to_owned()), lossy(file), None),
        Some(Err(fault)) => (None, lossy(io::stderr()), Some(fault)),
    };
    let filter = level.parse::<Targets>();
    let bad_filter = filter.as_ref().err().map(ToString::to_string);
    let filter = filter.unwrap_or_else(|_| Targets::new().with_default(LevelFilter::INFO));
    let lines = tracing_subscriber::fmt::layer().with_ansi(false).with_writer(writer);
    // Fails only if a log has been started already, which then goes on.
    let _ = tracing_subscriber::registry().with(filter).with(lines).try_init();
    if let Some(fault) = fault {
        warn!(folder = %state.display(), %fault, "cannot log to the state folder; logging to stderr");
    }
    if let Some(fault) = bad_filter {
        warn!(level, fault, "not a log level; logging at info");
    }
    log_panics();
    Log { folder, _worker: worker }
}

fn daily(state: &Path) -> Result<RollingFileAppender, String> {
    // What a log says of the apps on a desktop is nobody else's business.
    let made = DirBuilder::new().recursive(true).mode(0o700).create(state);
    made.map_err(|fault| fault.to_string())?;
    RollingFileAppender::builder()
        .rotation(Rotation::DAILY)
        .filename_prefix("axd")
        .filename_suffix("log")
        .max_log_files(DAYS)
        .build(state)
        .map_err(|fault| fault.to_string())
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
    fn levels_and_lists_of_them_are_understood() {
        for level in ["info", "debug", "warn,axd_server=trace"] {
            assert!(level.parse::<Targets>().is_ok(), "{level}");
        }
    }
}
