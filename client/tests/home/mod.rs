//! A user's home with an installed `axd` and a stand-in for the service manager, and `ax` run in it.
#![allow(dead_code, reason = "each test file uses a part of it")]

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::fake::{Ran, ax};

/// The home. There are spaces and percent signs in every path.
pub struct Home {
    folder: tempfile::TempDir,
    /// What its manager calls itself.
    manager: &'static str,
    /// Variables that `ax` and the stand-in have beside those of every home.
    variables: Vec<(&'static str, PathBuf)>,
}

impl Home {
    /// One where this manager is stood in for by this program.
    pub fn new(manager: &'static str, program: (&str, &str)) -> Home {
        let folder = tempfile::Builder::new().prefix("a home 100%").tempdir().unwrap();
        let home = Home { folder, manager, variables: Vec::new() };
        fs::create_dir(home.at("bin")).unwrap();
        write_program(&home.at("bin").join(program.0), program.1);
        write_program(&home.at("bin/axd"), "#!/bin/sh\n");
        home
    }

    pub fn set(&mut self, name: &'static str, value: impl Into<PathBuf>) {
        self.variables.push((name, value.into()));
    }

    pub fn at(&self, path: &str) -> PathBuf {
        self.folder.path().join(path)
    }

    pub fn ax(&self, line: &str) -> Command {
        let mut command = ax(line);
        command
            .env("HOME", self.folder.path())
            .env("XDG_CONFIG_HOME", self.at("config"))
            .env("XDG_RUNTIME_DIR", self.at("run"))
            .env("XDG_STATE_HOME", self.at("state"))
            .env("PATH", format!("{}:/usr/bin:/bin", self.at("bin").display()))
            .env("AXD_BIN", self.at("bin/axd"))
            .env("FOLDER", self.folder.path())
            .envs(self.variables.iter().map(|(name, value)| (name, value)))
            .stdin(Stdio::null());
        command
    }

    pub fn run(&self, line: &str) -> Ran {
        Ran::of(self.ax(line).output().unwrap())
    }

    /// The `data` of `ax service`, that is to succeed.
    pub fn data(&self, line: &str) -> Value {
        let ran = self.run(&format!("service {line}"));
        assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""), "{ran:?}");
        let answer = ran.json();
        assert_eq!((&answer["ok"], &answer["command"]), (&true.into(), &"service".into()), "{answer}");
        assert_eq!(answer["data"]["manager"], self.manager, "{answer}");
        answer["data"].clone()
    }

    /// The `error` of `ax service`, that is to fail.
    pub fn error(&self, line: &str) -> Value {
        let ran = self.run(&format!("service {line}"));
        assert_eq!((ran.code, ran.err.as_str()), (Some(1), ""), "{ran:?}");
        ran.json()["error"].clone()
    }

    /// What the manager was told since the last time this was asked, but for questions.
    pub fn log(&self) -> Vec<String> {
        let log = fs::read_to_string(self.at("log")).unwrap_or_default();
        let _ = fs::remove_file(self.at("log"));
        log.lines().map(str::to_owned).collect()
    }
}

pub fn write_program(path: &Path, text: &str) {
    fs::write(path, text).unwrap();
    fs::set_permissions(path, PermissionsExt::from_mode(0o755)).unwrap();
}

/// What `ax service` says of the service, in this order.
pub fn flags(data: &Value) -> [bool; 4] {
    ["installed", "enabled", "active", "socket_activation"]
        .map(|name| data["service"][name].as_bool().unwrap())
}
