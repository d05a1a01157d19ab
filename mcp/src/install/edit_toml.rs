//! Enters a table into TOML, and leaves every other line as it is.

use serde_json::Value;

/// The text with the table `[section.name]` in it.
pub fn with_entry(text: &str, section: &str, name: &str, entry: &Value) -> Result<String, String> {
    let parsed = |text: &str| {
        toml::from_str::<toml::Table>(text).map_err(|fault| format!("it is not TOML: {}", fault.message()))
    };
    let before = parsed(text)?;
    let wanted = toml::Value::try_from(entry).map_err(|fault| fault.to_string())?;
    if before.get(section).and_then(|servers| servers.get(name)) == Some(&wanted) {
        return Ok(text.to_owned());
    }
    let heading = format!("[{section}.{name}]");
    let mut table = format!("{heading}\n");
    for (key, value) in entry.as_object().into_iter().flatten() {
        // Texts and lists of texts are written in TOML as in JSON; anything else would not be equal below.
        table.push_str(&format!("{key} = {value}\n"));
    }
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let edited = match lines.iter().position(|line| line.trim() == heading) {
        None if text.is_empty() => table,
        None => format!("{}\n\n{table}", text.trim_end()),
        Some(start) => {
            // The table ends at the next heading; comments in front of that belong to it.
            let next = lines[start + 1..].iter().position(|line| line.trim_start().starts_with('['));
            let mut end = next.map_or(lines.len(), |next| start + 1 + next);
            while end > start + 1
                && (lines[end - 1].trim().is_empty() || lines[end - 1].trim_start().starts_with('#'))
            {
                end -= 1;
            }
            format!("{}{table}{}", lines[..start].concat(), lines[end..].concat())
        }
    };
    let mut expected = before;
    let servers = expected.entry(section).or_insert_with(|| toml::Value::Table(toml::Table::new()));
    let servers = servers.as_table_mut().ok_or_else(|| format!("its {section} is not a table"))?;
    servers.insert(name.to_owned(), wanted);
    if parsed(&edited)? != expected {
        return Err("it has a layout that cannot be edited safely".to_owned());
    }
    Ok(edited)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn edited(text: &str) -> Result<String, String> {
        with_entry(text, "mcp_servers", "axd", &json!({ "args": ["mcp"], "command": "ax" }))
    }

    const TABLE: &str = "[mcp_servers.axd]\nargs = [\"mcp\"]\ncommand = \"ax\"\n";

    #[test]
    fn a_table_is_added_at_the_end_or_replaced_where_it_is() {
        assert_eq!(edited("").unwrap(), TABLE);
        assert_eq!(edited("a = 1 # x\n").unwrap(), format!("a = 1 # x\n\n{TABLE}"));
        let old = "[mcp_servers.axd]\ncommand = \"old\"\n\n# next\n[b]\nc = 1\n";
        assert_eq!(edited(old).unwrap(), format!("{TABLE}\n# next\n[b]\nc = 1\n"));
        assert_eq!(edited(TABLE).unwrap(), TABLE);
    }

    #[test]
    fn what_cannot_be_edited_safely_is_refused() {
        for wrong in [
            "mcp_servers = { axd = { command = \"old\" } }\n",
            "mcp_servers = 1\n",
            "[mcp_servers.axd.env]\nA = \"1\"\n",
            "a = ",
        ] {
            assert!(edited(wrong).is_err(), "{wrong}");
        }
    }
}
