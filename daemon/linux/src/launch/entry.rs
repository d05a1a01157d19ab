//! Desktop entries: what an installed app is called and how it is started, as the freedesktop.org specification has it.
//! Pure.

use std::path::Path;

/// A desktop entry.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct DesktopEntry {
    /// Its name, then its names in other languages.
    pub names: Vec<String>,
    /// Its generic names, in all languages: "Text Editor".
    pub generic_names: Vec<String>,
    /// Its command line, with field codes.
    pub exec: Option<String>,
    /// The program that must be there for it to count as installed.
    pub try_exec: Option<String>,
    /// Where it starts.
    pub path: Option<String>,
    pub icon: Option<String>,
    /// It has to run in a terminal.
    pub terminal: bool,
    /// It stands for one that was removed.
    pub hidden: bool,
    /// It is not to be shown in menus.
    pub no_display: bool,
}

impl DesktopEntry {
    /// Reads the text of a desktop file; `None` if it is not that of an app.
    pub fn parse(text: &str) -> Option<DesktopEntry> {
        let mut entry = DesktopEntry::default();
        let (mut inside, mut is_app) = (false, false);
        for line in text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#')) {
            if line.starts_with('[') {
                // Further groups are about further actions of the app.
                inside = line == "[Desktop Entry]";
                continue;
            }
            let Some((key, value)) = line.split_once('=').filter(|_| inside) else { continue };
            let (key, value) = (key.trim_end(), unescape(value.trim_start()));
            let truth = value == "true";
            match key {
                "Type" => is_app = value == "Application",
                "Name" => entry.names.insert(0, value),
                _ if key.starts_with("Name[") => entry.names.push(value),
                "GenericName" => entry.generic_names.push(value),
                _ if key.starts_with("GenericName[") => entry.generic_names.push(value),
                "Exec" => entry.exec = Some(value),
                "TryExec" => entry.try_exec = Some(value),
                "Path" => entry.path = Some(value).filter(|path| !path.is_empty()),
                "Icon" => entry.icon = Some(value).filter(|icon| !icon.is_empty()),
                "Terminal" => entry.terminal = truth,
                "Hidden" => entry.hidden = truth,
                "NoDisplay" => entry.no_display = truth,
                _ => {}
            }
        }
        is_app.then_some(entry)
    }

    /// Whether this is its name, in any language.
    pub fn is_called(&self, name: &str) -> bool {
        self.names.iter().any(|own| own.to_lowercase() == name.to_lowercase())
    }

    /// Its command line with these arguments put where it wants files or addresses, else at the end.
    pub fn command(&self, arguments: &[String], file: &Path) -> Result<Vec<String>, String> {
        let exec = self
            .exec
            .as_deref()
            .ok_or("it has no command line (Exec); it may support D-Bus activation only")?;
        let mut line = Vec::new();
        let mut taken = false;
        for word in words(exec)? {
            match word.as_str() {
                "%f" | "%F" | "%u" | "%U" => {
                    line.extend_from_slice(arguments);
                    taken = true;
                }
                "%i" => {
                    if let Some(icon) = &self.icon {
                        line.extend(["--icon".to_owned(), icon.clone()]);
                    }
                }
                "%d" | "%D" | "%n" | "%N" | "%v" | "%m" => {}
                _ => {
                    let (word, took) = self.expand(&word, arguments, file)?;
                    line.push(word);
                    taken |= took;
                }
            }
        }
        if !taken {
            line.extend_from_slice(arguments);
        }
        if line.is_empty() {
            return Err(format!("its command line is empty: {exec}"));
        }
        Ok(line)
    }

    /// A word with the codes in it replaced, and whether arguments were put into it.
    fn expand(&self, word: &str, arguments: &[String], file: &Path) -> Result<(String, bool), String> {
        let (mut expanded, mut taken) = (String::with_capacity(word.len()), false);
        let mut characters = word.chars();
        while let Some(character) = characters.next() {
            if character != '%' {
                expanded.push(character);
                continue;
            }
            match characters.next() {
                Some('%') => expanded.push('%'),
                Some('c') => expanded.push_str(self.names.first().map_or("", String::as_str)),
                Some('k') => expanded.push_str(&file.to_string_lossy()),
                Some('f' | 'F' | 'u' | 'U') => {
                    expanded.push_str(&arguments.join(" "));
                    taken = true;
                }
                Some('d' | 'D' | 'n' | 'N' | 'v' | 'm' | 'i') => {}
                code => {
                    let code = code.map(String::from).unwrap_or_default();
                    return Err(format!("its command line has an unknown code %{code}: {word}"));
                }
            }
        }
        Ok((expanded, taken))
    }
}

/// A value as it was before it was written into a desktop file.
fn unescape(value: &str) -> String {
    let mut plain = String::with_capacity(value.len());
    let mut characters = value.chars();
    while let Some(character) = characters.next() {
        match (character, character == '\\') {
            (other, false) => plain.push(other),
            _ => match characters.next() {
                Some('s') => plain.push(' '),
                Some('n') => plain.push('\n'),
                Some('t') => plain.push('\t'),
                Some('r') => plain.push('\r'),
                Some('\\') | None => plain.push('\\'),
                Some(other) => plain.extend(['\\', other]),
            },
        }
    }
    plain
}

/// The words of a command line. Only double quotes quote; in them a backslash takes the meaning from what follows.
fn words(line: &str) -> Result<Vec<String>, String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quoted = false;
    let mut characters = line.chars();
    while let Some(character) = characters.next() {
        match character {
            '"' => {
                quoted = !quoted;
                word.get_or_insert_default();
            }
            '\\' if quoted => word.get_or_insert_default().extend(characters.next()),
            ' ' | '\t' if !quoted => words.extend(word.take()),
            other => word.get_or_insert_default().push(other),
        }
    }
    if quoted {
        return Err(format!("its command line has an unclosed quote: {line}"));
    }
    words.extend(word);
    Ok(words)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(exec: &str) -> DesktopEntry {
        DesktopEntry::parse(&format!(
            "[Desktop Entry]\nType=Application\nName=My App\nIcon=pic\nExec={exec}\n"
        ))
        .unwrap()
    }

    fn command(exec: &str, arguments: &[&str]) -> Vec<String> {
        let arguments: Vec<String> = arguments.iter().map(|argument| (*argument).to_owned()).collect();
        entry(exec).command(&arguments, Path::new("/x/my.desktop")).unwrap()
    }

    #[test]
    fn an_entry_is_read_and_its_further_actions_are_not() {
        let text = "# comment\n[Desktop Entry]\nType=Application\nName[de]=Rechner\nName=Calculator\nExec=calc %U\n\
                    TryExec=calc\nPath=/opt/a\\sb\nTerminal=true\nNoDisplay=true\n\n[Desktop Action New]\nName=New\nExec=calc --new\n";
        let entry = DesktopEntry::parse(text).unwrap();
        assert_eq!(entry.names, ["Calculator", "Rechner"]);
        assert!(entry.is_called("rechner") && !entry.is_called("New"));
        assert_eq!((entry.exec.as_deref(), entry.path.as_deref()), (Some("calc %U"), Some("/opt/a b")));
        assert!(entry.terminal && entry.no_display && !entry.hidden);
        assert_eq!(DesktopEntry::parse("[Desktop Entry]\nType=Link\nName=x\n"), None);
        assert_eq!(DesktopEntry::parse("rubbish"), None);
    }

    #[test]
    fn arguments_go_where_files_go_or_to_the_end() {
        assert_eq!(command("app %U --x", &["a", "b c"]), ["app", "a", "b c", "--x"]);
        assert_eq!(command("app %f", &[]), ["app"]);
        assert_eq!(command("app --x", &["a"]), ["app", "--x", "a"]);
        assert_eq!(command("app --url=%u", &["a"]), ["app", "--url=a"]);
    }

    #[test]
    fn codes_and_quotes_are_understood() {
        assert_eq!(
            command("app %i -t %c %k %d 100%%", &[]),
            ["app", "--icon", "pic", "-t", "My App", "/x/my.desktop", "100%"]
        );
        assert_eq!(
            command(r#""/opt/my app/run" "a \"b\" \\$c" """#, &[]),
            ["/opt/my app/run", r#"a "b" $c"#, ""]
        );
    }

    #[test]
    fn an_entry_that_cannot_be_parsed_is_an_error() {
        let message = |exec: &str| entry(exec).command(&[], Path::new("x")).unwrap_err();
        assert!(message("app %z").contains("%z"));
        assert!(message("app \"x").contains("quote"));
        assert!(message("%U").contains("empty"));
        let without = DesktopEntry { exec: None, ..entry("x") };
        assert!(without.command(&[], Path::new("x")).unwrap_err().contains("Exec"));
    }
}
