//! The clients: where each keeps its configuration, and what it wants there.

use std::path::{Path, PathBuf};

use axd_protocol::command::McpClient;
use serde_json::{Value, json};

/// A client.
pub struct Client {
    /// Its name.
    pub name: &'static str,
    /// The format of its file.
    pub format: Format,
    /// The key under which its file has the servers.
    pub section: &'static str,
    /// Its file.
    pub path: fn(&Places) -> Option<PathBuf>,
    /// The entry that starts this program with these arguments.
    pub entry: fn(&Path, &[String]) -> Value,
}

/// The format of a configuration file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// JSON, perhaps with comments.
    Json,
    /// TOML.
    Toml,
}

/// Where a user's files are.
#[derive(Debug)]
pub struct Places {
    /// The home folder.
    pub home: PathBuf,
    /// The folder of configurations on Linux.
    pub config: PathBuf,
    /// Whether this is macOS.
    pub is_mac: bool,
}

impl Places {
    /// Those of the user who runs this.
    pub fn of_this_user() -> Option<Places> {
        let folder = |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
        let home = folder("HOME")?;
        let config = folder("XDG_CONFIG_HOME").unwrap_or_else(|| home.join(".config"));
        Some(Places { home, config, is_mac: cfg!(target_os = "macos") })
    }

    /// The folder in which desktop apps keep their data.
    fn app_data(&self) -> PathBuf {
        if self.is_mac { self.home.join("Library/Application Support") } else { self.config.clone() }
    }
}

/// What is known of a client.
pub fn describe(client: McpClient) -> Client {
    let json = |name, section, path, entry| Client { name, format: Format::Json, section, path, entry };
    match client {
        McpClient::ClaudeCode => {
            json("Claude Code", "mcpServers", |places| Some(places.home.join(".claude.json")), typed)
        }
        McpClient::ClaudeDesktop => json(
            "Claude Desktop",
            "mcpServers",
            |places| Some(places.app_data().join("Claude/claude_desktop_config.json")),
            plain,
        ),
        McpClient::Codex => Client {
            name: "Codex CLI",
            format: Format::Toml,
            section: "mcp_servers",
            path: |places| {
                let own = std::env::var_os("CODEX_HOME").map(PathBuf::from).filter(|path| path.is_absolute());
                Some(own.unwrap_or_else(|| places.home.join(".codex")).join("config.toml"))
            },
            entry: plain,
        },
        McpClient::Cursor => {
            json("Cursor", "mcpServers", |places| Some(places.home.join(".cursor/mcp.json")), plain)
        }
        McpClient::Gemini => {
            json("Gemini CLI", "mcpServers", |places| Some(places.home.join(".gemini/settings.json")), plain)
        }
        McpClient::Vscode => json(
            "Visual Studio Code",
            "servers",
            |places| Some(places.app_data().join("Code/User/mcp.json")),
            typed,
        ),
        McpClient::Windsurf => json(
            "Windsurf",
            "mcpServers",
            |places| Some(places.home.join(".codeium/windsurf/mcp_config.json")),
            plain,
        ),
        // Zed keeps its settings in the same place on both systems.
        McpClient::Zed => json(
            "Zed",
            "context_servers",
            |places| {
                let config = if places.is_mac { places.home.join(".config") } else { places.config.clone() };
                Some(config.join("zed/settings.json"))
            },
            |command, args| json!({ "command": command, "args": args, "env": {} }),
        ),
    }
}

fn plain(command: &Path, args: &[String]) -> Value {
    json!({ "command": command, "args": args })
}

/// With the kind of the connection, which some clients want to be told.
fn typed(command: &Path, args: &[String]) -> Value {
    json!({ "type": "stdio", "command": command, "args": args })
}
