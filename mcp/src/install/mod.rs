//! `ax mcp install`: enters the server into the configuration of a client.
//!
//! Configuration files are people's own: comments and layout stay as they are, what is written is read back first and compared with what
//! was there, and a file that cannot be edited so is left alone, with the text to paste.

mod clients;
mod edit_toml;
mod jsonc;

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use axd_protocol::command::McpProfile;
use serde_json::Value;

use crate::options::Options;
use clients::{Client, Format, Places};

/// The name under which clients know the server.
const SERVER: &str = "axd";

/// Installs, and says what was done.
pub fn run(options: &Options) -> ExitCode {
    let Some(client) = options.mcp.client else {
        eprintln!("ax mcp install: --client is missing; see `ax mcp --help` for the clients");
        return ExitCode::from(2);
    };
    let client = clients::describe(client);
    let Some(path) = Places::of_this_user().and_then(|places| (client.path)(&places)) else {
        eprintln!("ax mcp install: HOME is not set");
        return ExitCode::FAILURE;
    };
    let entry = (client.entry)(&command(), &arguments(options));
    let pasted = paste(&client, &entry);
    if options.mcp.print {
        println!("Into {}:\n\n{pasted}", path.display());
        return ExitCode::SUCCESS;
    }
    match install(&client, &path, &entry) {
        Ok(Done::Written) => {
            println!("Entered {SERVER} into {}. Restart {}.", path.display(), client.name);
            ExitCode::SUCCESS
        }
        Ok(Done::WasThere) => {
            println!("{SERVER} is in {} already; nothing was changed.", path.display());
            ExitCode::SUCCESS
        }
        Err(reason) => {
            eprintln!("ax mcp install: {} was left as it is: {reason}", path.display());
            eprintln!("Paste this into it yourself:\n\n{pasted}");
            ExitCode::FAILURE
        }
    }
}

/// What came of it.
#[derive(Debug, PartialEq, Eq)]
enum Done {
    Written,
    WasThere,
}

/// Enters the server into a file. The error says why the file was left alone.
fn install(client: &Client, path: &Path, entry: &Value) -> Result<Done, String> {
    // What the file is a link to is edited, so that the link stays.
    let path = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let text = match fs::read_to_string(&path) {
        Ok(text) => text,
        Err(fault) if fault.kind() == io::ErrorKind::NotFound => String::new(),
        Err(fault) => return Err(format!("it cannot be read: {fault}")),
    };
    let edited = edited(client, &text, entry)?;
    if edited == text {
        return Ok(Done::WasThere);
    }
    replace(&path, &edited).map_err(|fault| format!("it cannot be written: {fault}"))?;
    Ok(Done::Written)
}

/// The text of the file with the server in it.
fn edited(client: &Client, text: &str, entry: &Value) -> Result<String, String> {
    match client.format {
        Format::Json => jsonc::with_entry(text, client.section, SERVER, entry),
        Format::Toml => edit_toml::with_entry(text, client.section, SERVER, entry),
    }
}

/// What a person would paste.
fn paste(client: &Client, entry: &Value) -> String {
    edited(client, "", entry).unwrap_or_else(|_| entry.to_string())
}

/// Writes a file in one step: a crash leaves the old one or the new one.
fn replace(path: &Path, text: &str) -> io::Result<()> {
    let folder = path.parent().unwrap_or(Path::new("/"));
    fs::create_dir_all(folder)?;
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let new = folder.join(format!(".{name}.axd-{}", std::process::id()));
    let written = (|| {
        fs::write(&new, text)?;
        if let Ok(old) = path.metadata() {
            fs::set_permissions(&new, old.permissions())?;
        }
        fs::rename(&new, path)
    })();
    if written.is_err() {
        let _ = fs::remove_file(&new);
    }
    written
}

/// The program for the client to start: `ax`, if it is beside this one.
fn command() -> PathBuf {
    let own = std::env::current_exe().unwrap_or_else(|_| PathBuf::from("ax-mcp"));
    let ax = own.with_file_name("ax");
    if axd_client::is_program(&ax) { ax } else { own }
}

/// Its arguments, with the options that were given here.
fn arguments(options: &Options) -> Vec<String> {
    let mut args = Vec::new();
    if command().file_name().is_some_and(|name| name == "ax") {
        args.push("mcp".to_owned());
    }
    let sets = options.mcp.tools.iter().filter_map(|set| serde_json::to_value(set).ok());
    let sets: Vec<String> = sets.filter_map(|set| set.as_str().map(ToOwned::to_owned)).collect();
    if !sets.is_empty() {
        args.extend(["--tools".to_owned(), sets.join(",")]);
    }
    if options.mcp.profile != McpProfile::Axd
        && let Ok(serde_json::Value::String(profile)) = serde_json::to_value(options.mcp.profile)
    {
        args.extend(["--profile".to_owned(), profile]);
    }
    if let Some(socket) = &options.daemon.socket {
        args.extend(["--socket".to_owned(), socket.display().to_string()]);
    }
    if let Some(platform) = &options.daemon.platform {
        args.extend(["--platform".to_owned(), platform.clone()]);
    }
    if options.daemon.no_autostart {
        args.push("--no-autostart".to_owned());
    }
    args
}

#[cfg(test)]
mod tests {
    use super::*;
    use axd_protocol::command::McpClient;

    const CLIENTS: [McpClient; 8] = [
        McpClient::ClaudeCode,
        McpClient::ClaudeDesktop,
        McpClient::Codex,
        McpClient::Cursor,
        McpClient::Gemini,
        McpClient::Vscode,
        McpClient::Windsurf,
        McpClient::Zed,
    ];

    /// What is written for each client, into no file and into one that has something in it.
    #[test]
    fn every_client_gets_what_the_golden_file_shows() {
        let places = Places { home: "/home/ada".into(), config: "/home/ada/.config".into(), is_mac: false };
        let mut shown = String::new();
        for client in CLIENTS {
            let client = clients::describe(client);
            let entry = (client.entry)(Path::new("/usr/local/bin/ax"), &["mcp".to_owned()]);
            let path = (client.path)(&places).unwrap();
            let before = match client.format {
                Format::Json => format!(
                    "{{\n  // mine\n  \"theme\": \"dark\",\n  \"{0}\": {{\n    \"other\": {{ \"command\": \"x\" }}, // keep\n  }}\n}}\n",
                    client.section
                ),
                Format::Toml => {
                    format!("# mine\nmodel = \"m\"\n\n[{0}.other]\ncommand = \"x\"\n", client.section)
                }
            };
            let after = edited(&client, &before, &entry).unwrap();
            assert_eq!(edited(&client, &after, &entry).unwrap(), after, "a second time changes nothing");
            shown.push_str(&format!("== {}: {}\n", client.name, path.display()));
            shown.push_str(&format!("{}-- with something in it\n{after}\n", paste(&client, &entry)));
        }
        let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/install/golden.txt");
        if std::env::var_os("AXD_BLESS").is_some() {
            fs::write(&golden, &shown).unwrap();
        }
        assert_eq!(shown, fs::read_to_string(golden).unwrap(), "AXD_BLESS=1 writes the golden file again");
    }

    #[test]
    fn a_file_is_replaced_in_one_step_and_keeps_its_mode_and_its_link() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let (real, link) = (folder.path().join("real.json"), folder.path().join("link.json"));
        fs::write(&real, "{}").unwrap();
        fs::set_permissions(&real, fs::Permissions::from_mode(0o600)).unwrap();
        std::os::unix::fs::symlink(&real, &link).unwrap();
        let client = clients::describe(McpClient::Cursor);
        let entry = (client.entry)(Path::new("/ax"), &[]);
        assert_eq!(install(&client, &link, &entry), Ok(Done::Written));
        assert_eq!(install(&client, &link, &entry), Ok(Done::WasThere));
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!(real.metadata().unwrap().permissions().mode() & 0o777, 0o600);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2, "nothing is left beside it");
        fs::write(&real, "{ broken").unwrap();
        assert!(install(&client, &link, &entry).is_err());
        assert_eq!(fs::read_to_string(&real).unwrap(), "{ broken");
    }
}
