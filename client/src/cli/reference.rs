//! `ax schema --markdown`: the reference page of all commands, generated from their structs.

use axd_client::protocol::ErrorCode;
use axd_client::protocol::command::{ACTION_OPTIONS, ALL_NAMES, Family, family};
use clap::{Arg, Command};

use super::help::{EXIT_CODES, FAMILIES};
use super::parse;

/// The protocol version with which all commands were introduced. A later command must be distinguished here.
const SINCE: &str = "1.0";

/// The text of the page.
pub fn page() -> String {
    let mut out = String::from(
        "# Commands\n\nMade by `ax schema --markdown`; do not edit. On the wire the args have the same names, with `_` for \
         `-`: `ax snapshot --max-nodes 5` is `{\"command\":\"snapshot\",\"args\":{\"max_nodes\":5}}`.\n",
    );
    for (wanted, heading) in FAMILIES {
        out.push_str(&format!("\n## {heading}\n"));
        if wanted == Family::Act {
            write_action_options(&mut out);
        }
        for name in ALL_NAMES.iter().filter(|name| family(name) == Some(wanted)) {
            if let Some(command) = parse::subcommand(name) {
                write_command(command, &mut out);
            }
        }
    }
    out.push_str("\n## Options of every command\n\n");
    write_args(&mut parse::global_options().iter(), &mut out);
    out.push_str("\n## Exit codes\n\n| code | meaning |\n| --- | --- |\n");
    for (code, meaning) in EXIT_CODES {
        out.push_str(&format!("| {code} | {meaning} |\n"));
    }
    out.push_str("\n## Error codes\n\n| code | what to do |\n| --- | --- |\n");
    for code in ErrorCode::ALL {
        out.push_str(&format!("| `{}` | {} |\n", code.name(), cell(code.suggestion())));
    }
    out
}

/// Writes the options of every action once, because ten more rows at each of them would hide its own arguments.
fn write_action_options(out: &mut String) {
    let an_action = ALL_NAMES
        .iter()
        .filter_map(|name| parse::subcommand(name))
        .find(|command| command.get_arguments().any(is_action_option));
    if let Some(action) = an_action {
        out.push_str(&format!("\n### {ACTION_OPTIONS}\n\n"));
        write_args(&mut action.get_arguments().filter(|arg| is_action_option(arg)), out);
    }
}

fn is_action_option(arg: &Arg) -> bool {
    arg.get_help_heading() == Some(ACTION_OPTIONS)
}

fn write_command(command: Command, out: &mut String) {
    let name = command.get_name().to_owned();
    let mut command = command.bin_name(format!("ax {name}"));
    let usage = command.render_usage().to_string();
    let usage = usage.trim_start_matches("Usage:").trim();
    out.push_str(&format!("\n### {name}\n\n```\n{usage}\n```\n\n"));
    let about = command.get_about().map(ToString::to_string);
    out.push_str(&prose(&about.unwrap_or_default()));
    let own = command.get_arguments().filter(|arg| arg.get_id() != "help" && !is_action_option(arg));
    let mut own = own.peekable();
    if own.peek().is_some() {
        out.push('\n');
        write_args(&mut own, out);
    }
    if command.get_arguments().any(is_action_option) {
        let link = ACTION_OPTIONS.to_lowercase().replace(' ', "-");
        out.push_str(&format!("\nAnd the [{}](#{link}).\n", ACTION_OPTIONS.to_lowercase()));
    }
    let aliases: Vec<&str> = command.get_visible_aliases().collect();
    let also = if aliases.is_empty() { String::new() } else { format!(" Also: `{}`.", aliases.join("`, `")) };
    out.push_str(&format!("\nSince protocol {SINCE}.{also}\n"));
}

fn write_args(args: &mut dyn Iterator<Item = &Arg>, out: &mut String) {
    out.push_str("| arg | meaning |\n| --- | --- |\n");
    for arg in args {
        let value = arg
            .get_action()
            .takes_values()
            .then(|| arg.get_value_names().map_or_else(|| "VALUE".to_owned(), |names| names.join(" ")));
        let shown = match (arg.get_long(), value) {
            (Some(long), Some(value)) => format!("--{long} {value}"),
            (Some(long), None) => format!("--{long}"),
            (None, value) => value.unwrap_or_default(),
        };
        let help = arg.get_help().map(ToString::to_string).unwrap_or_default();
        let required = if arg.is_required_set() { " Required." } else { "" };
        let choices: Vec<String> =
            arg.get_possible_values().iter().map(|choice| format!("`{}`", choice.get_name())).collect();
        let choices = if choices.is_empty() || !arg.get_action().takes_values() {
            String::new()
        } else {
            format!(" One of {}.", choices.join(", "))
        };
        let full_stop = if help.ends_with('.') { "" } else { "." };
        let wire =
            if arg.is_positional() { on_the_wire(arg.get_id().as_str(), &shown) } else { String::new() };
        out.push_str(&format!(
            "| `{}` | {}{full_stop}{required}{choices}{wire} |\n",
            cell(&shown),
            cell(&help)
        ));
    }
}

/// How an argument is called on the wire, if that is not what it is called here.
fn on_the_wire(name: &str, shown: &str) -> String {
    let shown = shown.to_lowercase();
    match shown.chars().all(|c| c.is_ascii_lowercase()) {
        _ if shown.replace('-', "_") == name => String::new(),
        true => format!(" On the wire `{name}` or `{shown}`."),
        false => format!(" On the wire `{name}`."),
    }
}

/// Escapes a text for a table cell, which a bar would end.
fn cell(text: &str) -> String {
    text.replace('|', "\\|").replace('\n', " ")
}

/// A doc comment as Markdown: its indented examples become a code block.
fn prose(about: &str) -> String {
    let mut out = String::new();
    let mut in_code = false;
    for line in about.lines() {
        let is_code = line.starts_with("  ");
        if is_code != in_code {
            out.push_str(if is_code { "\n```sh\n" } else { "```\n" });
        }
        in_code = is_code;
        out.push_str(line.trim_start());
        out.push('\n');
    }
    if in_code {
        out.push_str("```\n");
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_has_every_command_with_its_usage_examples_and_args() {
        let page = page();
        for name in ALL_NAMES {
            assert!(page.contains(&format!("\n### {name}\n\n```\nax {name}")), "{name}");
        }
        assert!(page.contains("```sh\nax snapshot\nax snapshot --app Notes --interactive\n"), "{page}");
        assert!(
            page.contains("| `--property NAME` | Property to check. Required. One of `visible`, "),
            "{page}"
        );
        assert!(page.contains("| `FILE\\|-\\|JSON` |"), "{page}");
        assert!(page.contains("Also: `watch`."));
        assert_eq!(
            page.matches("| `--quiet-ms MS` | Time without changes after").count(),
            1,
            "told once, linked to"
        );
        assert!(page.contains("\n### Action options\n") && page.contains("(#action-options)"));
    }
}
