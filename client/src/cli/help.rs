//! `ax --help`: the commands by family, one line for each, the environment variables and the exit codes.

use axd_client::protocol::command::{ALL_NAMES, Family, family};
use clap::Command;

use super::format::FORMAT;
use super::parse::{self, NO_AUTOSTART, WATCH};

/// The families, in the order they are shown, with their headings.
pub const FAMILIES: [(Family, &str); 7] = [
    (Family::Observe, "Observe"),
    (Family::Act, "Act"),
    (Family::Desktop, "Apps, windows, displays, clipboard"),
    (Family::Listen, "Wait and subscribe"),
    (Family::Many, "Batch"),
    (Family::Daemon, "Daemon"),
    (Family::Client, "Client"),
];

/// The environment variables.
const VARIABLES: &[(&str, &str)] = &[
    ("AXD_SOCKET", "The socket, as with --socket"),
    ("AXD_PLATFORM", "The platform of a daemon that is started, as with --platform"),
    (NO_AUTOSTART, "1: do not start a missing daemon"),
    (
        "AXD_BIN",
        "The axd to start [default: the one beside ax, otherwise the one on the PATH; on macOS axd.app first]",
    ),
    ("AXD_STATE", "The folder for the logs of a daemon that is started"),
    ("AXD_CONFIG", "The policy file of a daemon that is started, which must exist"),
    (FORMAT, "text or json: print that, as with --text and --json"),
    ("NO_COLOR", "Set: no colours"),
];

/// The exit codes, as the help and the reference show them.
pub const EXIT_CODES: &[(&str, &str)] = &[
    ("0", "Success"),
    ("1", "Error, as JSON on standard output or as text on standard error"),
    ("2", "Invalid command line"),
    ("3", "No daemon could be reached or started"),
];

/// The text of `ax --help`.
pub fn overview() -> String {
    let mut out = String::from(
        "ax: read desktop apps, act on them, and follow their changes.\n\
         Answers come from axd, which keeps the apps' accessibility trees live in memory.\n\n\
         Usage: ax [OPTIONS] COMMAND [ARGS]\n",
    );
    for (wanted, heading) in FAMILIES {
        let rows = ALL_NAMES.iter().filter(|name| family(name) == Some(wanted)).map(|name| {
            let also = if *name == "subscribe" { format!(" (also: {WATCH})") } else { String::new() };
            ((*name).to_owned(), about(name) + &also)
        });
        section(heading, rows, &mut out);
    }
    let options = parse::global_options();
    let own = [
        ("-h, --help", "Print help; `ax COMMAND --help` for one command"),
        ("-V, --version", "Print the version"),
    ];
    let rows = options.iter().map(|option| {
        let long = option.get_long().unwrap_or_default();
        let value = option.get_value_names().map_or(String::new(), |names| format!(" {}", names[0]));
        (format!("--{long}{value}"), option.get_help().map(ToString::to_string).unwrap_or_default())
    });
    section("Options", rows.chain(own.map(owned)), &mut out);
    section("Environment", VARIABLES.iter().copied().map(owned), &mut out);
    section("Exit codes", EXIT_CODES.iter().copied().map(owned), &mut out);
    out.push_str(
        "\nExamples\n  ax look Notes\n  ax find 'window:Inbox list > row:nth(3)'\n  \
         ax click button:Save --wait-for dialog\n  ax screenshot shot.png\n  ax watch --app Notes\n  ax demo\n",
    );
    out
}

fn owned((left, right): (&str, &str)) -> (String, String) {
    (left.to_owned(), right.to_owned())
}

fn section(heading: &str, rows: impl Iterator<Item = (String, String)>, out: &mut String) {
    out.push_str(&format!("\n{heading}\n"));
    for (left, right) in rows {
        out.push_str(&format!("  {left:<18} {right}\n"));
    }
}

/// The first line of a command's description, without its full stop.
fn about(name: &str) -> String {
    let about = parse::subcommand(name).as_ref().and_then(Command::get_about).map(ToString::to_string);
    about.unwrap_or_default().lines().next().unwrap_or_default().trim_end_matches('.').to_owned()
}
