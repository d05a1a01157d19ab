//! The agent's file: the template in `launchd/` with its placeholders replaced.

use std::path::{Path, PathBuf};

use axd_protocol::paths::MAX_SOCKET_PATH;
use axd_protocol::{Error, ErrorCode};

const TEMPLATE: &str = include_str!("../../../launchd/dev.axd.axd.plist");

/// The text in a file that `ax` wrote, and that it may replace and remove.
pub const MARK: &str = "<!-- Written by ax,";

/// A launchd agent that runs axd.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Agent {
    /// The label.
    pub label: String,
    /// The `axd` it runs.
    pub program: PathBuf,
    /// The arguments of `axd`.
    pub arguments: Vec<String>,
    /// The variables that are added to those of the session.
    pub environment: Vec<(String, String)>,
    /// The path at which launchd listens.
    pub socket: PathBuf,
    /// Whether it starts when it is loaded, or on the first connection.
    pub run_at_load: bool,
    /// The file for its standard error.
    pub log: PathBuf,
}

impl Agent {
    /// The text of the file. Paths that a property list cannot contain, or that launchd cannot use, are errors.
    pub fn plist(&self) -> Result<String, Error> {
        let socket = plain_text(&self.socket)?;
        if socket.len() > MAX_SOCKET_PATH || !self.socket.is_absolute() {
            let message =
                format!("the socket must be an absolute path of at most {MAX_SOCKET_PATH} bytes: {socket}");
            return Err(Error::new(ErrorCode::InvalidArgs, message).suggest("use another path with --socket"));
        }
        let words =
            std::iter::once(plain_text(&self.program)?).chain(self.arguments.iter().map(String::as_str));
        let arguments: Vec<String> =
            words.map(|word| format!("\t\t<string>{}</string>", escaped(word))).collect();
        let variables = self.environment.iter();
        let environment: Vec<String> = variables
            .map(|(name, value)| {
                format!("\t\t<key>{}</key>\n\t\t<string>{}</string>", escaped(name), escaped(value))
            })
            .collect();
        let mut text = String::new();
        // Every second piece is the name of a placeholder. Replacements are not searched for placeholders again.
        for (at, piece) in TEMPLATE.split('@').enumerate() {
            match piece {
                _ if at % 2 == 0 => text.push_str(piece),
                "LABEL" => text.push_str(&escaped(&self.label)),
                "ARGUMENTS" => text.push_str(&arguments.join("\n")),
                "ENVIRONMENT" => text.push_str(&environment.join("\n")),
                "SOCKET" => text.push_str(&escaped(socket)),
                "RUN_AT_LOAD" => text.push_str(if self.run_at_load { "true" } else { "false" }),
                _ => text.push_str(&escaped(plain_text(&self.log)?)),
            }
        }
        Ok(text)
    }

    /// The socket in the text of a file that `ax` wrote.
    pub fn socket_in(text: &str) -> Option<PathBuf> {
        Some(
            unescaped(value_in(text, "SockPathName")?.strip_prefix("<string>")?.split_once("</string>")?.0)
                .into(),
        )
    }

    /// The program in the text of a file that `ax` wrote.
    pub fn program_in(text: &str) -> Option<PathBuf> {
        let program =
            value_in(text, "ProgramArguments")?.split_once("<string>")?.1.split_once("</string>")?.0;
        Some(unescaped(program).into())
    }

    /// Whether the text of a file that `ax` wrote starts axd when it is loaded.
    pub fn runs_at_load_in(text: &str) -> bool {
        value_in(text, "RunAtLoad").is_some_and(|value| value.starts_with("<true/>"))
    }
}

/// The text after a key, in a file that [`Agent::plist`] wrote.
fn value_in<'a>(text: &'a str, key: &str) -> Option<&'a str> {
    Some(text.split_once(&format!("<key>{key}</key>"))?.1.trim_start())
}

/// Escapes a text for XML.
fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

fn unescaped(text: &str) -> String {
    text.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")
}

/// The path as text, if a property list can contain it.
fn plain_text(path: &Path) -> Result<&str, Error> {
    path.to_str().filter(|text| !text.contains(char::is_control)).ok_or_else(|| {
        let message = format!("a launchd agent cannot contain this path: {path:?}");
        Error::new(ErrorCode::InvalidArgs, message)
            .suggest("use a path that is UTF-8 and has no control characters in it")
    })
}

#[cfg(test)]
mod tests {
    use plist::{Dictionary, Value};

    use super::*;

    fn agent() -> Agent {
        Agent {
            label: "dev.axd.axd".into(),
            program: "/Users/a/bin/axd".into(),
            arguments: vec!["--idle-exit".into(), "900".into()],
            environment: vec![("AXD_LOG".into(), "debug".into())],
            socket: "/Users/a/Library/Application Support/axd/axd.sock".into(),
            run_at_load: true,
            log: "/Users/a/Library/Logs/axd/stderr.log".into(),
        }
    }

    /// The file as an independent reader of property lists understands it.
    fn read(agent: &Agent) -> Dictionary {
        let text = agent.plist().unwrap();
        assert!(text.contains(MARK) && !text.contains('@'), "{text}");
        Value::from_reader_xml(text.as_bytes()).unwrap().into_dictionary().unwrap()
    }

    fn strings(value: &Value) -> Vec<&str> {
        value.as_array().unwrap().iter().map(|word| word.as_string().unwrap()).collect()
    }

    #[test]
    fn launchd_listens_privately_restarts_after_crashes_only_and_stays_in_the_graphical_session() {
        let plist = read(&agent());
        assert_eq!(plist["Label"].as_string(), Some("dev.axd.axd"));
        assert_eq!(strings(&plist["ProgramArguments"]), ["/Users/a/bin/axd", "--idle-exit", "900"]);
        assert_eq!(plist["RunAtLoad"].as_boolean(), Some(true));
        assert_eq!(plist["LimitLoadToSessionType"].as_string(), Some("Aqua"));
        assert_eq!(
            plist["KeepAlive"],
            Value::Dictionary([("Crashed", Value::Boolean(true))].into_iter().collect())
        );
        assert_eq!(plist["StandardErrorPath"].as_string(), Some("/Users/a/Library/Logs/axd/stderr.log"));
        assert_eq!(
            plist["EnvironmentVariables"].as_dictionary().unwrap()["AXD_LOG"].as_string(),
            Some("debug")
        );
        // The daemon asks for the socket by this name.
        let socket = plist["Sockets"].as_dictionary().unwrap()["axd"].as_dictionary().unwrap();
        assert_eq!(
            socket["SockPathName"].as_string(),
            Some("/Users/a/Library/Application Support/axd/axd.sock")
        );
        assert_eq!(socket["SockPathMode"].as_signed_integer(), Some(0o600));
    }

    #[test]
    fn whatever_stands_in_a_path_is_read_back_as_it_was() {
        let odd = "/a <b> & \"c\" 'd' 100% ü @SOCKET@ &lt;/";
        let agent = Agent {
            program: format!("{odd}axd").into(),
            arguments: vec!["--state".into(), "-- ]]> &amp; $HOME ~".into()],
            environment: vec![],
            socket: format!("{odd}s").into(),
            run_at_load: false,
            ..agent()
        };
        let text = agent.plist().unwrap();
        let plist = Value::from_reader_xml(text.as_bytes()).unwrap().into_dictionary().unwrap();
        assert_eq!(
            strings(&plist["ProgramArguments"]),
            [&format!("{odd}axd"), "--state", "-- ]]> &amp; $HOME ~"].map(str::to_owned)
        );
        let socket = plist["Sockets"].as_dictionary().unwrap()["axd"].as_dictionary().unwrap();
        assert_eq!(socket["SockPathName"].as_string(), Some(format!("{odd}s").as_str()));
        assert_eq!(plist["RunAtLoad"].as_boolean(), Some(false));
        assert_eq!(Agent::socket_in(&text), Some(agent.socket.clone()));
        assert_eq!(Agent::program_in(&text), Some(agent.program.clone()));
        assert!(!Agent::runs_at_load_in(&text) && Agent::runs_at_load_in(&self::agent().plist().unwrap()));
        assert!(plist["EnvironmentVariables"].as_dictionary().unwrap().is_empty());
    }

    #[test]
    fn what_launchd_cannot_be_told_is_refused() {
        for path in ["relative/axd.sock", "/a\nb", &format!("/{}", "s".repeat(103))] {
            let refused = Agent { socket: path.into(), ..agent() }.plist();
            assert_eq!(refused.unwrap_err().code, ErrorCode::InvalidArgs, "{path:?}");
        }
        assert!(Agent { program: "/a\u{7}/axd".into(), ..agent() }.plist().is_err());
    }
}
