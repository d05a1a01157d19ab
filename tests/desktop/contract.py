"""The contract of what is told of elements, as tables: AT-SPI's numbers and what they become. docs/testing.md explains them. They share nothing
with axd; a difference between them and axd is a bug in one of the two."""

from __future__ import annotations

import re

# AT-SPI role number -> (what AT-SPI calls it, axd's role). Numbers are the same in every toolkit; the names that
# toolkits send ("push button", "button") are not.
ROLES: dict[int, tuple[str, str]] = {
    1: ("accelerator label", "text"), 2: ("alert", "alert"), 3: ("animation", "image"), 4: ("arrow", "image"),
    5: ("calendar", "datefield"), 6: ("canvas", "canvas"), 7: ("check box", "checkbox"),
    8: ("check menu item", "menuitemcheckbox"), 9: ("color chooser", "colorwell"), 10: ("column header", "columnheader"),
    11: ("combo box", "combobox"), 12: ("date editor", "datefield"), 13: ("desktop icon", "image"),
    14: ("desktop frame", "group"), 15: ("dial", "slider"), 16: ("dialog", "dialog"), 17: ("directory pane", "group"),
    18: ("drawing area", "canvas"), 19: ("file chooser", "dialog"), 20: ("filler", "group"),
    21: ("focus traversable", "group"), 22: ("font chooser", "dialog"), 23: ("frame", "window"),
    24: ("glass pane", "group"), 25: ("html container", "document"), 26: ("icon", "image"), 27: ("image", "image"),
    28: ("internal frame", "iframe"), 29: ("label", "text"), 30: ("layered pane", "group"), 31: ("list", "list"),
    32: ("list item", "listitem"), 33: ("menu", "menu"), 34: ("menu bar", "menubar"), 35: ("menu item", "menuitem"),
    36: ("option pane", "group"), 37: ("page tab", "tab"), 38: ("page tab list", "tablist"), 39: ("panel", "group"),
    40: ("password text", "textfield"), 41: ("popup menu", "menu"), 42: ("progress bar", "progressbar"),
    43: ("push button", "button"), 44: ("radio button", "radio"), 45: ("radio menu item", "menuitemradio"),
    46: ("root pane", "group"), 47: ("row header", "rowheader"), 48: ("scroll bar", "scrollbar"),
    49: ("scroll pane", "scrollarea"), 50: ("separator", "separator"), 51: ("slider", "slider"),
    52: ("spin button", "spinbutton"), 53: ("split pane", "splitgroup"), 54: ("status bar", "statusbar"),
    55: ("table", "table"), 56: ("table cell", "cell"), 57: ("table column header", "columnheader"),
    58: ("table row header", "rowheader"), 59: ("tearoff menu item", "menuitem"), 60: ("terminal", "textarea"),
    61: ("text", "textfield"), 62: ("toggle button", "togglebutton"), 63: ("tool bar", "toolbar"),
    64: ("tool tip", "tooltip"), 65: ("tree", "tree"), 66: ("tree table", "tree"), 67: ("unknown", "unknown"),
    68: ("viewport", "group"), 69: ("window", "window"), 71: ("header", "group"), 72: ("footer", "group"),
    73: ("paragraph", "paragraph"), 74: ("ruler", "separator"), 75: ("application", "application"),
    76: ("autocomplete", "combobox"), 77: ("editbar", "textfield"), 78: ("embedded", "group"), 79: ("entry", "textfield"),
    80: ("chart", "image"), 81: ("caption", "text"), 82: ("document frame", "document"), 83: ("heading", "heading"),
    84: ("page", "group"), 85: ("section", "group"), 86: ("redundant object", "group"), 87: ("form", "form"),
    88: ("link", "link"), 89: ("input method window", "window"), 90: ("table row", "row"), 91: ("tree item", "treeitem"),
    92: ("document spreadsheet", "document"), 93: ("document presentation", "document"),
    94: ("document text", "document"), 95: ("document web", "document"), 96: ("document email", "document"),
    97: ("comment", "group"), 98: ("list box", "list"), 99: ("grouping", "group"), 100: ("image map", "image"),
    101: ("notification", "notification"), 102: ("info bar", "notification"), 103: ("level bar", "meter"),
    104: ("title bar", "group"), 105: ("block quote", "group"), 106: ("audio", "media"), 107: ("video", "media"),
    108: ("definition", "text"), 109: ("article", "document"), 110: ("landmark", "landmark"), 111: ("log", "group"),
    112: ("marquee", "text"), 113: ("math", "group"), 114: ("rating", "slider"), 115: ("timer", "text"),
    116: ("static", "text"), 117: ("math fraction", "group"), 118: ("math root", "group"), 119: ("subscript", "text"),
    120: ("superscript", "text"), 121: ("description list", "list"), 122: ("description term", "text"),
    123: ("description value", "text"), 124: ("footnote", "group"), 125: ("content deletion", "group"),
    126: ("content insertion", "group"), 127: ("mark", "group"), 128: ("suggestion", "group"),
    129: ("push button menu", "button"), 130: ("switch", "switch"),
}  # fmt: skip
PASSWORD_TEXT, DOCUMENT_TEXT, FILLER = 40, 94, 20

# AT-SPI state bit -> name.
STATES = {
    1: "active", 3: "busy", 4: "checked", 6: "defunct", 7: "editable", 8: "enabled", 9: "expandable", 10: "expanded",
    11: "focusable", 12: "focused", 15: "iconified", 16: "modal", 17: "multi line", 18: "multiselectable", 20: "pressed",
    22: "selectable", 23: "selected", 24: "sensitive", 25: "showing", 30: "visible", 31: "manages descendants",
    32: "indeterminate", 33: "required", 36: "invalid entry", 41: "checkable", 42: "has popup", 43: "read only",
}  # fmt: skip

# States that are told by the same name. The others have conditions: see `told_states`.
FOCUSABLE = 11  # AT-SPI's number.
PLAIN_STATES = {
    "focused": "focused", "selected": "selected", "busy": "busy", "modal": "modal", "required": "required",
    "invalid entry": "invalid", "multiselectable": "multiselectable", "has popup": "haspopup", "editable": "editable",
}  # fmt: skip
NEVER_DISABLED = {"application", "window", "dialog", "alert", "separator", "unknown"}
HOLDS_TEXT = {"textfield", "textarea", "searchfield", "combobox", "spinbutton", "datefield"}
CHECKABLE = {"checkbox", "togglebutton", "radio", "switch", "menuitemcheckbox", "treeitem", "listitem", "cell"}
# Of these, "showing" only says how far something is scrolled, which is geometry and not told as a state.
SCROLLS = {"cell", "row", "listitem", "treeitem", "columnheader", "rowheader"}
# Toolkits where "showing" follows being mapped. In browsers it follows scrolling; GTK 4 (4.8) never sets it at all.
SHOWING_IS_CONTENT = {"gtk3", "qt"}
# Toolkits where even "visible" says of rows and cells only how far they are scrolled.
VISIBLE_IS_SCROLLING = {"qt"}
# Whose number is its value.
HAS_NUMBER = {"slider", "spinbutton", "progressbar", "meter"}
# Whose text is its name, where it has no other.
TEXT_IS_NAME = {
    "text", "heading", "paragraph", "link", "cell", "listitem", "treeitem", "statusbar", "tooltip", "columnheader",
    "rowheader", "button", "notification",
}  # fmt: skip
# Who is called by its label, where it has no name.
LABELLED = {
    "textfield", "textarea", "searchfield", "combobox", "slider", "spinbutton", "checkbox", "switch", "togglebutton",
    "button", "progressbar", "meter", "datefield", "colorwell",
}  # fmt: skip
LABELLED_BY = 2  # AT-SPI relation
# GTK 4 (4.8) contradicts itself about stacks and notebooks: GetChildren leaves out the pages and lists what is in them,
# while GetChildAtIndex and Parent have the pages. The pages it is: there, a child's parent has it as a child.
BY_INDEX = {"gtk4"}
# GTK 4 makes elements for some of the rows of its views only, and does not tell how many there are: with more children than this,
# nobody knows whether these are all. By AT-SPI's number: list, list box, table.
UNCOUNTED = {"gtk4": {31: 200, 98: 200, 55: 30}}
COUNTED_NAMES = {"GtkListBox", "GtkFlowBox"}
BROWSERS = {"chromium", "gecko"}
# GTK 4 names what has no name by its class, and buttons by their label and what is in them, which is the same: no names.
MAKES_UP_NAMES = {"gtk4"}
CLASS_NAME = re.compile(r"(Gtk|Adw|Gsk|Gdk)[A-Z][A-Za-z0-9]*")
OWN_CLASS_NAME = re.compile(r"[A-Z][A-Za-z0-9]*[A-Z][A-Za-z0-9]*")  # of a box: nobody else calls one so
# What a page says by its attributes, where browsers say less: the role of a dialog, a field for a time.
PAGE_ROLES = {"dialog": "dialog", "alertdialog": "alert"}
DATE_INPUTS = {"date", "time", "datetime-local", "month", "week"}
STATIC = 116
# In Gecko, text between elements is the text of the box they are in: of these it is the value, unless their name says it.
BOXES_OF_TEXT = {"group", "landmark", "dialog", "alert", "document", "form"}
