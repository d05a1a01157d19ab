//! Apps for the built-in desktop that the tests bring along.

/// An app that does nothing: attaching it and letting it go is an event that marks a place in a stream.
pub const BELL: &str = "name = 'Bell'\nidentity = 'test.bell'\n[[window]]\nid = 'bell'\ntitle = 'Bell'\n";

/// An app with a list of so many real items, and a button and a field beside it.
pub fn long_list(name: &str, rows: u32) -> String {
    format!(
        r#"
name = "{name}"
identity = "test.{name}"
[[window]]
id = "main"
title = "{name}"
children = [
  {{ role = "button", id = "go", name = "Go" }},
  {{ role = "textfield", id = "field", name = "Field", value = "0" }},
  {{ role = "list", id = "list", name = "Items", generate = {{ rows = {rows} }} }},
]
"#
    )
}

/// An app that announces as badly as `profile` does, with things that come, go, change and are switched off.
pub fn mute(name: &str, profile: &str) -> String {
    format!(
        r#"
name = "{name}"
identity = "test.{name}"
profile = "{profile}"
[[window]]
id = "main"
title = "{name}"
children = [
  {{ role = "button", id = "add", name = "Add" }},
  {{ role = "button", id = "remove", name = "Remove" }},
  {{ role = "button", id = "off", name = "Off" }},
  {{ role = "button", id = "subject", name = "Subject" }},
  {{ role = "textfield", id = "field", name = "Field", value = "0" }},
  {{ role = "list", id = "list", name = "Items", children = [
    {{ role = "listitem", id = "first", name = "Draft 1" }},
    {{ role = "listitem", id = "second", name = "Draft 2" }},
  ] }},
]
[template.extra]
role = "listitem"
name = "Extra"
[[rule]]
on = "press:add"
do = [{{ add = "extra", into = "list", index = 0 }}]
[[rule]]
on = "press:remove"
do = [{{ remove = "first" }}]
[[rule]]
on = "press:off"
do = [{{ disable = "subject" }}]
"#
    )
}
