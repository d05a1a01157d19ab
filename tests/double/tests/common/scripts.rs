//! The scripted apps of most tests.
#![allow(dead_code, reason = "each test program uses a part of it")]

/// An app with one widget of each kind.
pub const APP: &str = r#"
name = "App"
identity = "test.app"

[[window]]
id = "main"
title = "Main"
bounds = [40, 40, 600, 560]
children = [
  { role = "menubar", id = "bar", children = [{ role = "menu", id = "file", name = "File", items = ["New", "Quit"] }] },
  { role = "button", id = "press", name = "Press" },
  { role = "text", id = "label", name = "count 0" },
  { role = "text", id = "counter", value = "0", states = ["hidden"] },
  { role = "checkbox", id = "check", name = "Check" },
  { role = "slider", id = "slider", name = "Slider", value = "5", min = 0, max = 10 },
  { role = "textfield", id = "field", name = "Field", value = "text" },
  { role = "textfield", id = "secret", name = "Secret", value = "hush", states = ["secure"] },
  { role = "button", id = "off", name = "Off", states = ["disabled"] },
  { role = "button", id = "ask", name = "Ask" },
  { role = "combobox", id = "combo", name = "Combo", value = "one", items = ["one", "two"] },
  { role = "list", id = "rows", name = "Rows", items = ["first", "second"] },
  { role = "group", id = "hidden", states = ["hidden"], children = [{ role = "text", name = "not shown" }] },
]

[[window]]
id = "question"
title = "Sure?"
role = "dialog"
open = false
modal = true
children = [{ role = "button", id = "yes", name = "Yes" }]

[template.row]
role = "listitem"
id = "row-{n}"
name = "row {n}"

[[rule]]
on = "press:press"
do = [{ increase = "counter" }, { rename = "label", text = "count {value:counter}" }, { add = "row", into = "rows" }, { announce = "Pressed" }]
[[rule]]
on = "press:ask"
do = [{ open = "question" }]
[[rule]]
on = "press:yes"
do = [{ close = "question" }]
"#;

/// Another app beside it.
pub const OTHER: &str = r#"
name = "Other"
identity = "test.other"
[[window]]
id = "main"
title = "Other"
bounds = [700, 60, 300, 200]
children = [{ role = "button", id = "press", name = "Press" }, { role = "text", id = "label", name = "not yet" }]
[[rule]]
on = "press:press"
do = [{ rename = "label", text = "pressed" }]
"#;
