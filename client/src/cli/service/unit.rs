//! The unit files: the templates in `systemd/` with their placeholders replaced, quoted for systemd.

use std::path::Path;

use axd_client::protocol::paths::MAX_SOCKET_PATH;
use axd_client::protocol::{Error, ErrorCode};

use super::ServiceSpec;

const SERVICE: &str = include_str!("../../../../systemd/axd.service");
const SOCKET: &str = include_str!("../../../../systemd/axd.socket");

/// The start of a unit file that `ax` wrote, and that it may replace and remove.
pub const MARK: &str = "# Written by `ax service install";

/// The text of `axd.service`.
pub fn service(spec: &ServiceSpec) -> Result<String, Error> {
    let mut exec = program(&spec.program)?;
    if let Some(platform) = &spec.platform {
        exec.push_str(&format!(" --platform {}", word(platform)));
    }
    if let Some(socket) = &spec.socket {
        exec.push_str(&format!(" --socket {}", word(socket_path(socket)?)));
    }
    Ok(SERVICE.replace("@EXEC@", &exec))
}

/// The text of `axd.socket`.
pub fn socket(spec: &ServiceSpec) -> Result<String, Error> {
    let listen = match &spec.socket {
        // systemd does not split this setting into words, so it is not quoted; only specifiers are escaped.
        Some(socket) => socket_path(socket)?.replace('%', "%%"),
        None => "%t/axd/axd.sock".to_owned(),
    };
    Ok(SOCKET.replace("@SOCKET@", &listen))
}

/// Quotes the program of an `ExecStart=`, in which systemd refuses some characters and does not expand variables.
fn program(path: &Path) -> Result<String, Error> {
    let text = plain_text(path)?;
    if text.contains(['"', '\'', '\\']) {
        let message =
            format!("the path of a program for systemd must not have a quote or a backslash: {text}");
        return Err(Error::new(ErrorCode::InvalidArgs, message)
            .suggest("install axd in a folder without such characters"));
    }
    Ok(format!("\"{}\"", text.replace('%', "%%")))
}

/// Quotes one word of an `ExecStart=`, with all special characters escaped.
fn word(text: &str) -> String {
    let mut quoted = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => quoted.extend(['\\', c]),
            '%' | '$' => quoted.extend([c, c]),
            c => quoted.push(c),
        }
    }
    quoted.push('"');
    quoted
}

fn socket_path(path: &Path) -> Result<&str, Error> {
    let text = plain_text(path)?;
    let fault = if text.len() > MAX_SOCKET_PATH {
        format!("the socket's path must have at most {MAX_SOCKET_PATH} bytes: {text}")
    } else if text.trim() != text || text.ends_with('\\') {
        format!("the path of a socket in a unit file must not end in a space or a backslash: {text:?}")
    } else {
        return Ok(text);
    };
    Err(Error::new(ErrorCode::InvalidArgs, fault).suggest("use another path with --socket"))
}

/// The path as text, if it can be written in a unit file: one line of UTF-8.
fn plain_text(path: &Path) -> Result<&str, Error> {
    path.to_str().filter(|text| !text.contains(char::is_control)).ok_or_else(|| {
        let message = format!("a unit file cannot contain this path: {path:?}");
        Error::new(ErrorCode::InvalidArgs, message)
            .suggest("use a path that is UTF-8 and has no control characters in it")
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::ffi::OsString;
    use std::os::unix::ffi::OsStringExt;
    use std::path::PathBuf;

    fn spec(program: &str) -> ServiceSpec {
        ServiceSpec { program: program.into(), platform: None, socket: None, socket_activation: true }
    }

    /// The value of a setting.
    fn value<'a>(text: &'a str, name: &str) -> &'a str {
        text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix('=')).unwrap()
    }

    #[test]
    fn the_templates_have_no_blank_left_and_bear_the_mark() {
        for text in [service(&spec("/usr/bin/axd")).unwrap(), socket(&spec("/usr/bin/axd")).unwrap()] {
            assert!(text.starts_with(MARK) && !text.contains('@'), "{text}");
        }
    }

    #[test]
    fn a_service_belongs_to_the_graphical_session_and_never_exits_for_want_of_clients() {
        let text = service(&spec("/usr/bin/axd")).unwrap();
        for (name, expected) in [
            ("PartOf", "graphical-session.target"),
            ("After", "graphical-session.target"),
            ("WantedBy", "graphical-session.target"),
            ("Restart", "on-failure"),
            ("ExecStart", "\"/usr/bin/axd\""),
        ] {
            assert_eq!(value(&text, name), expected);
        }
        assert!(!text.contains("idle-exit"));
    }

    #[test]
    fn paths_are_quoted_as_systemd_reads_them() {
        let mut spec = spec("/opt/my apps/100%/$HOME/axd");
        spec.platform = Some("sim".into());
        spec.socket = Some(r#"/tmp/a "b" \c %t $d/axd.sock"#.into());
        assert_eq!(
            value(&service(&spec).unwrap(), "ExecStart"),
            r#""/opt/my apps/100%%/$HOME/axd" --platform "sim" --socket "/tmp/a \"b\" \\c %%t $$d/axd.sock""#
        );
        assert_eq!(value(&socket(&spec).unwrap(), "ListenStream"), r#"/tmp/a "b" \c %%t $d/axd.sock"#);
    }

    #[test]
    fn what_systemd_cannot_be_told_is_refused() {
        for path in ["/a\"b/axd", "/a'b/axd", "/a\\b/axd", "/a\nb/axd"] {
            assert_eq!(service(&spec(path)).unwrap_err().code, ErrorCode::InvalidArgs, "{path:?}");
        }
        let binary = PathBuf::from(OsString::from_vec(b"/a\xff/axd".to_vec()));
        assert!(service(&ServiceSpec { program: binary, ..spec("") }).is_err());
        for path in ["/s ", "/s\\", "/a\nb", &format!("/{}", "s".repeat(103))] {
            let spec = ServiceSpec { socket: Some(path.into()), ..spec("/axd") };
            assert!(socket(&spec).is_err() && service(&spec).is_err(), "{path:?}");
        }
    }
}
