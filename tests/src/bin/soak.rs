//! Soaks daemons of its own with many clients and faults, and prints what came of it (docs/reliability.md).
//!
//! Usage: `soak [--axd PATH] [--minutes N | --seconds N] [--clients N] [--seed N] [--desktop]`; with `--desktop` inside `scripts/desktop`.

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use axd_tests::soak::{Soak, run};

fn main() -> ExitCode {
    let mut soak = Soak {
        axd: PathBuf::from("target/release/axd"),
        time: Duration::from_secs(60),
        clients: 200,
        desktop: false,
        seed: 1,
    };
    let mut args = std::env::args().skip(1);
    while let Some(arg) = args.next() {
        if arg == "--desktop" {
            soak.desktop = true;
            continue;
        }
        let Some(value) = args.next() else { return usage(&arg) };
        let number = value.parse::<u64>();
        match (arg.as_str(), number) {
            ("--axd", _) => soak.axd = PathBuf::from(value),
            ("--minutes", Ok(n)) => soak.time = Duration::from_secs(n * 60),
            ("--seconds", Ok(n)) => soak.time = Duration::from_secs(n),
            ("--clients", Ok(n)) => soak.clients = n as usize,
            ("--seed", Ok(n)) => soak.seed = n,
            _ => return usage(&arg),
        }
    }
    let wrong = run(&soak);
    println!();
    wrong.iter().for_each(|what| println!("wrong: {what}"));
    if wrong.is_empty() {
        println!("nothing was wrong");
        return ExitCode::SUCCESS;
    }
    ExitCode::FAILURE
}

fn usage(arg: &str) -> ExitCode {
    eprintln!(
        "soak: '{arg}' is not an option with a value that fits; there are: --axd PATH, --minutes N, --seconds N, --clients N, --seed N, --desktop"
    );
    ExitCode::from(2)
}
