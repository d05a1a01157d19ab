//! A daemon on the built-in desktop whose policy a test writes.

use std::fs;
use std::path::PathBuf;
use std::time::Instant;

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::{Daemon, PATIENCE, Raw, Setup, folder};

/// A daemon with a policy file that can be written again.
pub struct Policed {
    /// The daemon.
    pub daemon: Daemon,
    /// A client of it.
    pub client: Raw,
    /// The policy file.
    pub file: PathBuf,
    _folder: TempDir,
}

impl Policed {
    /// With this policy.
    pub fn with(policy: &str) -> Policed {
        Policed::with_apps(policy, &[])
    }

    /// With this policy, and these apps beside those of the built-in desktop.
    pub fn with_apps(policy: &str, apps: &[&str]) -> Policed {
        let place = folder();
        let file = place.path().join("policy.toml");
        fs::write(&file, policy).expect("the file can be written");
        let setup = Setup::new().args(&["--config", file.to_str().expect("a path")]);
        let daemon = apps.iter().fold(setup, |setup, app| setup.app(*app)).start();
        let client = daemon.client();
        Policed { daemon, client, file, _folder: place }
    }

    /// Fails because of this rule, with nothing sent.
    pub fn denied(&mut self, rule: &str, command: &str, args: Value) -> Value {
        self.refused("POLICY_DENIED", rule, command, args)
    }

    /// Fails because this rule asks and nobody is there, with nothing sent.
    pub fn unasked(&mut self, rule: &str, command: &str, args: Value) -> Value {
        self.refused("APPROVAL_REQUIRED", rule, command, args)
    }

    fn refused(&mut self, code: &str, rule: &str, command: &str, args: Value) -> Value {
        let error = self.client.fails(code, command, args);
        let message = error["message"].as_str().expect("a message");
        assert!(message.ends_with(&format!("({rule})")), "{command}: {error}");
        assert_eq!(error["disposition"]["delivery"], "not_delivered", "{error}");
        error
    }

    /// Writes another policy, and waits until it is in force or refused.
    pub fn write(&mut self, policy: &str) {
        let was = self.status();
        fs::write(&self.file, policy).expect("the file can be written");
        let begun = Instant::now();
        while self.status() == was {
            assert!(begun.elapsed() < PATIENCE, "{was}");
        }
    }

    /// What `status` says of the policy.
    pub fn status(&mut self) -> Value {
        self.client.data("status", json!({}))["policy"].clone()
    }

    /// What the field of the calculator shows.
    pub fn value(&mut self) -> Value {
        self.client.data("get", json!({ "target": "textfield", "app": "Calculator" }))["node"]["value"]
            .clone()
    }
}
