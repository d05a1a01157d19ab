//! The refs of the latest snapshot in a file beside the daemon's socket, because each command line is a process of its own.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use axd_client::agent_desktop::{MAX_BYTES, RefMap};
use axd_client::files::write_private;
use axd_client::protocol::{Error, ErrorCode, Result};

/// The file.
#[derive(Debug)]
pub struct Store {
    path: PathBuf,
}

impl Store {
    /// The file of the daemon at this socket. Its folder is its user's alone.
    pub fn beside(socket: &Path) -> Store {
        Store { path: socket.with_extension("refs.json") }
    }

    /// The refs. There are none if there is no file, or one that is too large.
    pub fn load(&self) -> RefMap {
        let mut text = String::new();
        let read =
            File::open(&self.path).and_then(|file| file.take(MAX_BYTES as u64 + 1).read_to_string(&mut text));
        if read.is_ok() { RefMap::from_json(&text) } else { RefMap::default() }
    }

    /// Keeps the refs.
    pub fn save(&self, refs: &RefMap) -> Result<()> {
        write_private(&self.path, refs.to_json()?.as_bytes()).map_err(|fault| {
            Error::new(ErrorCode::Internal, format!("{} cannot be written: {fault}", self.path.display()))
        })
    }
}
