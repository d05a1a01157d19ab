//! What is different from one toolkit to the next: what its widgets are called, and what it cannot do. All of it is here, and
//! none of it in the tests.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::{Raw, workspace};

/// What the test app is made with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kit {
    /// The built-in desktop.
    Sim,
    /// The same app seen by the macOS backend, through the double of macOS.
    Double,
    /// GTK 3.
    Gtk3,
    /// GTK 4.
    Gtk4,
    /// Qt 6.
    Qt6,
    /// A web page in Chromium.
    Chromium,
    /// AppKit, on a Mac: `tests/macos/TestApp.swift`, built by `tests/macos/build`.
    Appkit,
}

use Kit::{Appkit, Chromium, Double, Gtk3, Gtk4, Qt6, Sim};

/// A thing to do, as far as toolkits differ in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Deed {
    Press,
    Check,
    Toggle,
    Switch,
    Radio,
    Focus,
    Insert,
    SetText,
    SetNumber,
    SelectRow,
    SelectChoice,
    SelectTab,
    Menu,
    Expand,
    Perform,
    Scroll,
    ScrollTo,
}

/// How something is done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Way {
    /// By the app itself.
    App,
    /// With mouse and keyboard.
    Input,
    /// Not at all: the error says so, and nothing was sent.
    Not(&'static str),
    /// It is tried and comes to nothing: the error says so.
    InVain(&'static str),
}

/// What is not done by the app itself, and why. Everything that is not here is.
const EXCEPTIONS: &[(Kit, Deed, Way, &str)] = &[
    (Gtk4, Deed::Check, Way::Input, "its check boxes have no action"),
    (Gtk4, Deed::Toggle, Way::Not("ACTION_NOT_SUPPORTED"), "its toggle buttons do not say that they are any"),
    (Gtk4, Deed::Radio, Way::Input, "its radio buttons are check boxes"),
    (Gtk4, Deed::Focus, Way::Input, "it cannot give the focus; a click into a field does"),
    (Gtk4, Deed::SelectChoice, Way::Input, "its drop-downs have no action"),
    (Gtk4, Deed::Perform, Way::Not("ACTION_NOT_SUPPORTED"), "its check boxes have no action"),
    (Gtk3, Deed::Scroll, Way::Input, "nothing can be asked to scroll"),
    (Gtk4, Deed::Scroll, Way::Input, "nothing can be asked to scroll"),
    (Qt6, Deed::Scroll, Way::Input, "nothing can be asked to scroll"),
    (Chromium, Deed::Scroll, Way::Input, "nothing can be asked to scroll"),
    (Gtk3, Deed::ScrollTo, Way::Input, "it does not scroll to elements"),
    (Gtk4, Deed::ScrollTo, Way::Input, "it does not scroll to elements"),
    (Qt6, Deed::ScrollTo, Way::Input, "it does not scroll to elements"),
    (Qt6, Deed::Expand, Way::Not("ACTION_NOT_SUPPORTED"), "it has no expander: a group box stands for it"),
    (Qt6, Deed::SelectChoice, Way::Input, "to select a choice only points at it"),
    (Chromium, Deed::SetText, Way::Not("ACTION_NOT_SUPPORTED"), "it takes text from the keyboard only"),
    (Chromium, Deed::Insert, Way::Input, "it takes text from the keyboard only"),
    (
        Chromium,
        Deed::SelectRow,
        Way::InVain("ACTION_FAILED"),
        "the rows of a plain list are clicked, and cannot be selected",
    ),
    (Chromium, Deed::Menu, Way::Not("ACTION_NOT_SUPPORTED"), "a page has no menu bar"),
];

impl Kit {
    /// The one the tests are to run on: `AXD_STAGE`, the built-in desktop unless said.
    pub fn chosen() -> Kit {
        match std::env::var("AXD_STAGE").as_deref() {
            Err(_) | Ok("" | "sim") => Sim,
            Ok("double") => Double,
            Ok("gtk3") => Gtk3,
            Ok("gtk4") => Gtk4,
            Ok("qt6") => Qt6,
            Ok("chromium") => Chromium,
            Ok("appkit") => Appkit,
            Ok(other) => {
                panic!("AXD_STAGE={other}: there are sim, double, gtk3, gtk4, qt6, chromium and appkit")
            }
        }
    }

    /// How this is done here.
    pub fn way(self, deed: Deed) -> Way {
        let exception = EXCEPTIONS.iter().find(|(kit, other, ..)| (*kit, *other) == (self, deed));
        exception.map_or(Way::App, |(_, _, way, _)| *way)
    }

    /// What an action of the app itself calls its method, and what input does.
    pub fn methods(self) -> (&'static str, &'static str) {
        match self {
            Sim => ("sim", "sim"),
            Double | Appkit => ("ax", "cgevent"),
            _ => ("atspi", "xtest"),
        }
    }

    /// Whether the app is a script of the built-in desktop.
    pub fn is_scripted(self) -> bool {
        matches!(self, Sim | Double)
    }

    /// Whether its views are AppKit's, or shown as AppKit shows them.
    pub fn is_appkit(self) -> bool {
        matches!(self, Double | Appkit)
    }

    /// The selector of a row of the list, or of all.
    pub fn row(self, which: &str) -> String {
        if self.is_appkit() { format!("table:Rows row{which}") } else { format!("list:Rows listitem{which}") }
    }

    /// Whether a role is that of the list of rows: AppKit's lists are tables.
    pub fn is_rows(self, role: &str) -> bool {
        role == if self.is_appkit() { "table" } else { "list" }
    }

    /// The title of the app's window.
    pub fn title(self) -> &'static str {
        match self {
            Sim | Double => "Test Sim",
            Gtk3 => "Test GTK3",
            Gtk4 => "Test GTK4",
            Qt6 => "Test Qt6",
            Chromium => "Test page",
            Appkit => "Test AppKit",
        }
    }

    /// The selector of a widget.
    pub fn selector(self, widget: &str) -> &'static str {
        match (widget, self) {
            ("Press", _) => "button:Press",
            ("Check", _) => "checkbox:Check",
            // A toggle button of GTK 4 is a button, of Qt a check box; a switch of GTK 3 and of Chromium a toggle button.
            ("Toggle", Gtk4) => "button:Toggle",
            ("Toggle", Qt6) => "checkbox:Toggle",
            ("Toggle", _) => "togglebutton:Toggle",
            ("Switch", Sim | Double | Appkit) => "switch:Switch",
            ("Switch", Gtk3 | Chromium) => "togglebutton:Switch",
            ("Switch", Gtk4 | Qt6) => "checkbox:Switch",
            ("Red", Gtk4) => "checkbox:Red",
            ("Green", Gtk4) => "checkbox:Green",
            ("Red", _) => "radio:Red",
            ("Green", _) => "radio:Green",
            ("Entry", _) => "textfield:Entry",
            ("Password", _) => "textfield:Password",
            ("Slider", _) => "slider:Slider",
            ("Spin", _) => "spinbutton:Spin",
            // Qt names it by what is chosen.
            ("Combo", Qt6) => "combobox",
            ("Combo", _) => "combobox:Combo",
            ("Progress", _) => "progressbar:Progress",
            ("More", Sim | Double) => "button:More",
            ("More", Gtk3) => "togglebutton:More",
            ("More", Gtk4) => "button:More",
            ("More", Qt6) => "group:More",
            ("More", Chromium | Appkit) => "*:More[collapsed], *:More[expanded]",
            ("Target", _) => "button:Target",
            ("Enable", _) => "button:Enable/Disable",
            ("Dialog", _) => "button:Dialog",
            ("Add", _) => "button:Add",
            ("Remove", _) => "button:Remove",
            ("Rename", _) => "button:Rename",
            ("Rows", Double | Appkit) => "table:Rows",
            ("Rows", _) => "list:Rows",
            ("Tabs", Qt6) => "tablist:has(tab:Table)",
            ("Tabs", _) => "tablist",
            // GTK 4 calls every tab "Tab".
            ("List", Gtk4) => "tab:nth(1)",
            ("Table", Gtk4) => "tab:nth(2)",
            ("Text", Gtk4) => "tab:nth(3)",
            ("List", _) => "tab:List",
            ("Table", _) => "tab:Table",
            ("Text", _) => "tab:Text",
            ("Notes", _) => "textarea:Notes",
            // GTK 3 calls a message by its kind.
            ("Question", Gtk3) => "alert",
            ("Question", Gtk4) => "*:Question",
            ("Question", Qt6) => "alert:Question",
            ("Question", _) => "dialog:Question",
            // What a right click on a field offers, where the menu is in the tree at all.
            ("Paste", Sim | Double | Gtk3 | Appkit) => "*:Paste[visible]",
            // What shows which choice is chosen.
            ("Chosen", Sim | Double | Gtk3 | Appkit) => "combobox:Combo[value=\"{}\"]",
            ("Chosen", Gtk4) => "combobox:Combo:has(text:{})",
            ("Chosen", Qt6) => "combobox:{}",
            ("Chosen", Chromium) => "combobox:Combo:has(menuitem:{}[selected])",
            ("OK", Gtk4) => "button:\"_OK OK\"",
            ("OK", _) => "button:OK",
            ("Count", _) => "text[name^=\"count \"]",
            _ => panic!("there is no widget {widget}"),
        }
    }

    /// Where to take the thumb of the slider at its middle, and where to drop it.
    pub fn thumb(self, [x, y, width, height]: [i64; 4]) -> (String, String) {
        // GTK 3 writes the number above it.
        let down = if self == Gtk3 { height * 3 / 4 } else { height / 2 };
        (format!("{},{}", x + width / 2, y + down), format!("{},{}", x + width * 9 / 10, y + down))
    }

    /// A place in the part of the list that is on the screen.
    pub fn inside_rows(self, [x, y, width, height]: [i64; 4], window: &Value) -> (i64, i64) {
        let bottom =
            window["y"].as_i64().zip(window["height"].as_i64()).map_or(y + height, |(y, height)| y + height);
        let top = y.max(window["y"].as_i64().unwrap_or(y));
        (x + width / 2, (top + (y + height).min(bottom)) / 2)
    }

    /// What a click on what is hidden answers: some toolkits do not list it at all.
    pub fn of_what_is_hidden(self) -> &'static str {
        if matches!(self, Double | Gtk4 | Chromium) { "ELEMENT_NOT_FOUND" } else { "NOT_ACTIONABLE" }
    }

    /// What a click on what lies under a modal dialog answers: a page takes it out of its tree.
    pub fn of_what_is_covered(self) -> (&'static str, &'static str) {
        match self {
            Chromium => ("ELEMENT_NOT_FOUND", "no element in"),
            _ => ("NOT_ACTIONABLE", "covered by"),
        }
    }

    /// Whether the menu that a right click opens is in the tree: GTK 4, Qt and Chromium do not list it.
    pub fn lists_context_menus(self) -> bool {
        matches!(self, Sim | Double | Gtk3 | Appkit)
    }

    /// Whether the thumb of a slider can be dragged: in a headless Chromium nobody's mouse can.
    pub fn drags_sliders(self) -> bool {
        self != Chromium
    }

    /// Puts the dialog over a widget; which one is covered then.
    pub fn cover(self, client: &mut Raw, app: &str, widget: &'static str) -> &'static str {
        if self == Chromium {
            // A modal dialog of a page covers all the rest.
            return widget;
        }
        let args = json!({ "target": self.selector(widget), "app": app, "property": ["bounds"] });
        let bounds = client.data("get", args)["node"]["bounds"].clone();
        let to = format!("{},{}", bounds["x"], bounds["y"].as_i64().unwrap_or_default() - 10);
        client.ok("move-window", json!({ "window": "Question", "app": app, "to": to }));
        widget
    }

    /// The args of `launch` that start another of the apps.
    pub fn launch(self, folder: &Path) -> Value {
        let apps = workspace().join("tests/desktop/apps");
        let mut args = match self {
            Sim | Double => json!({ "app": "Stage" }),
            Gtk3 => json!({ "app": apps.join("gtk3.py") }),
            Gtk4 => json!({ "app": apps.join("gtk4.py") }),
            Qt6 => json!({ "app": apps.join("qt6.py") }),
            Chromium => json!({ "app": "chromium", "arg": chromium(&folder.join("another")) }),
            Appkit => json!({ "app": bundle() }),
        };
        args["wait"] = json!(true);
        args["timeout_ms"] = json!(30_000);
        args
    }
}

/// Where `tests/macos/build` puts the app.
pub(super) fn bundle() -> PathBuf {
    workspace().join(".work/macos/AxdTest.app")
}

/// What a browser with the page is started with.
pub(super) fn chromium(profile: &Path) -> Vec<String> {
    let page = workspace().join("tests/desktop/apps/page.html");
    let own = [format!("--user-data-dir={}", profile.display()), format!("--app=file://{}", page.display())];
    CHROMIUM.iter().map(|arg| (*arg).to_owned()).chain(own).collect()
}

const CHROMIUM: &[&str] = &[
    "--no-sandbox",
    "--no-first-run",
    "--no-default-browser-check",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-gpu",
    "--disable-extensions",
    "--password-store=basic",
    "--force-renderer-accessibility",
    "--window-size=1000,760",
    "--window-position=0,0",
];
