#!/usr/bin/python3
"""The oracle: walks an app's accessibility tree by itself and tells what axd should know of it.

It shares no code with axd and keeps no cache: plain D-Bus calls through Gio, level by level, asked again each time. What
it reads is native (AT-SPI numbers); what it tells is axd's vocabulary, by the tables below. The tables are the contract:
docs/testing.md explains them, and a difference between them and axd is a bug in one of the two.

    oracle.py --list                     the apps on the accessibility bus
    oracle.py --app NAME [--extents]     the tree of one app, as JSON
    oracle.py --app NAME --text          the same as an indented text
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass, field
from typing import Any

from gi.repository import Gio, GLib

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
PASSWORD_TEXT, DOCUMENT_TEXT = 40, 94

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
BROWSERS = {"chromium", "gecko"}

ACCESSIBLE, REGISTRY = "org.a11y.atspi.Accessible", "org.a11y.atspi.Registry"
ROOT, NULL = "/org/a11y/atspi/accessible/root", "/org/a11y/atspi/null"
PROPERTIES = "org.freedesktop.DBus.Properties"

Ref = tuple[str, str]  # bus name, object path


@dataclass
class Node:
    """An element: first what axd should say of it, then where it was found."""

    role: str = ""
    name: str | None = None
    description: str | None = None
    value: str | None = None
    states: list[str] = field(default_factory=list)
    actions: list[str] = field(default_factory=list)
    native_role: str = ""
    children_count: int = 0
    truncated: bool = False
    children: list[Node] = field(default_factory=list)
    path: str = ""
    bus: str = ""
    native_states: list[str] = field(default_factory=list)
    extents: list[int] | None = None

    def walk(self) -> Iterator[Node]:
        stack = [self]
        while stack:
            node = stack.pop()
            yield node
            stack.extend(reversed(node.children))


class Bus:
    """The accessibility bus; many calls at once, a bounded number of them under way."""

    DEPTH = 32

    def __init__(self, timeout_ms: int = 2000) -> None:
        self.timeout_ms = timeout_ms
        session = Gio.bus_get_sync(Gio.BusType.SESSION)
        answer = session.call_sync("org.a11y.Bus", "/org/a11y/bus", "org.a11y.Bus", "GetAddress", None, None, 0, 5000, None)
        flags = Gio.DBusConnectionFlags.AUTHENTICATION_CLIENT | Gio.DBusConnectionFlags.MESSAGE_BUS_CONNECTION
        self.connection = Gio.DBusConnection.new_for_address_sync(answer.unpack()[0], flags, None, None)
        self.errors: list[str] = []

    def all(self, calls: list[tuple[Ref, str, str, GLib.Variant | None]]) -> list[Any]:
        """The unpacked answers, in order; None for a call that failed."""
        answers: list[Any] = [None] * len(calls)
        waiting = iter(enumerate(calls))
        loop, under_way = GLib.MainLoop(), 0

        def send() -> None:
            nonlocal under_way
            for index, ((bus, path), interface, member, args) in waiting:
                under_way += 1
                self.connection.call(
                    bus, path, interface, member, args, None, Gio.DBusCallFlags.NO_AUTO_START, self.timeout_ms, None, done, index
                )
                if under_way >= self.DEPTH:
                    return
            if under_way == 0:
                loop.quit()

        def done(connection: Gio.DBusConnection, result: Gio.AsyncResult, index: int) -> None:
            nonlocal under_way
            under_way -= 1
            try:
                answer = connection.call_finish(result).unpack()
                answers[index] = answer[0] if len(answer) == 1 else answer
            except GLib.Error as error:
                self.errors.append(f"{calls[index][0][1]} {calls[index][2]}: {error.message}")
            send()

        if calls:
            GLib.idle_add(lambda: send())
            loop.run()
        return answers


def call(ref: Ref, interface: str, member: str, args: GLib.Variant | None = None) -> tuple[Ref, str, str, Any]:
    return ref, interface if "." in interface else f"org.a11y.atspi.{interface}", member, args


# Never GetAll: it crashes Qt apps.
def get(ref: Ref, interface: str, name: str) -> tuple[Ref, str, str, Any]:
    return ref, PROPERTIES, "Get", GLib.Variant("(ss)", (f"org.a11y.atspi.{interface}", name))


def apps(bus: Bus) -> list[tuple[Ref, str, int]]:
    """Every app on the bus, with its name and pid."""
    refs = [tuple(ref) for ref in bus.all([call((REGISTRY, ROOT), ACCESSIBLE, "GetChildren")])[0] or []]
    names = bus.all([get(ref, "Accessible", "Name") for ref in refs])
    dbus = ("org.freedesktop.DBus", "/org/freedesktop/DBus")
    pids = bus.all(
        [call(dbus, "org.freedesktop.DBus", "GetConnectionUnixProcessID", GLib.Variant("(s)", (ref[0],))) for ref in refs]
    )
    return [(ref, name or "", pid or 0) for ref, name, pid in zip(refs, names, pids)]


def toolkit_of(bus: Bus, ref: Ref) -> str:
    name, version = bus.all([get(ref, "Application", "ToolkitName"), get(ref, "Application", "Version")])
    plain = (name or "").lower()
    if plain in ("gtk", "gail"):
        return "gtk4" if (version or "").startswith("4") else "gtk3"
    for known, short in (("qt", "qt"), ("chromium", "chromium"), ("gecko", "gecko"), ("vcl", "office")):
        if plain.startswith(known):
            return short
    return plain


class Walker:
    """Walks one app, level by level, so that each level is one burst of calls."""

    # A container with more children than this is not read whole, unless it is of a web page: `first_children` of it are, and how
    # many it has, of a table how many rows.
    MOST_CHILDREN = 1000

    def __init__(self, bus: Bus, root: Ref, extents: bool = False, first_children: int = 300) -> None:
        self.bus, self.root, self.extents, self.first_children = bus, root, extents, first_children
        self.toolkit = toolkit_of(bus, root)
        self.seen: set[Ref] = set()

    def walk(self) -> Node:
        self.seen = {self.root}
        top = self.read([self.root])
        level = [(self.root, top[0])] if top and top[0] else []
        whole = level[0][1] if level else Node(role="application")
        while level:
            lists = self.children([ref for ref, _ in level], [node for _, node in level])
            wanted = [(node, child) for (_, node), children in zip(level, lists) for child in children]
            fresh = [(node, child) for node, child in wanted if not (child in self.seen or self.seen.add(child))]
            nodes = self.read([child for _, child in fresh])
            level = []
            for (parent, ref), node in zip(fresh, nodes):
                if node is not None:  # None: it died under our hands, as elements do
                    parent.children.append(node)
                    level.append((ref, node))
        return whole

    def children(self, refs: list[Ref], nodes: list[Node]) -> list[list[Ref]]:
        calls, owners = [], []
        for at, (ref, node) in enumerate(zip(refs, nodes)):
            node.truncated = node.children_count > self.MOST_CHILDREN and self.toolkit not in BROWSERS
            if node.truncated or (self.toolkit in BY_INDEX and node.children_count > 0):
                for index in range(min(node.children_count, self.first_children if node.truncated else self.MOST_CHILDREN)):
                    calls.append(call(ref, "Accessible", "GetChildAtIndex", GLib.Variant("(i)", (index,))))
                    owners.append(at)
            elif node.children_count != 0:
                calls.append(call(ref, "Accessible", "GetChildren"))
                owners.append(at)
        lists: list[list[Ref]] = [[] for _ in refs]
        for at, answer in zip(owners, self.bus.all(calls)):
            found = [answer] if isinstance(answer, tuple) else answer or []
            lists[at] += [tuple(child) for child in found if child[1] != NULL]
        large = [(ref, node) for ref, node in zip(refs, nodes) if node.truncated]
        for (_, node), rows in zip(large, self.bus.all([get(ref, "Table", "NRows") for ref, _ in large])):
            node.children_count = rows or node.children_count
        return lists

    def read(self, refs: list[Ref]) -> list[Node | None]:
        first = list(
            batches(
                self.bus.all([
                    question
                    for ref in refs
                    for question in (
                        call(ref, "Accessible", "GetRole"), call(ref, "Accessible", "GetState"),
                        call(ref, "Accessible", "GetInterfaces"), get(ref, "Accessible", "Name"),
                        get(ref, "Accessible", "Description"), get(ref, "Accessible", "ChildCount"),
                    )
                ]), 6)
        )  # fmt: skip
        raws = [self.raw(ref, answers) for ref, answers in zip(refs, first)]
        self.details([raw for raw in raws if raw])
        return [raw and self.tell(raw) for raw in raws]

    def raw(self, ref: Ref, answers: list[Any]) -> Raw | None:
        number, words, interfaces, name, description, count = answers
        if number is None or words is None:
            if ref != self.root:
                return None
            number, words = 75, []
        bits = sum(word << (32 * at) for at, word in enumerate(words))
        native = {name for bit, name in STATES.items() if bits >> bit & 1}
        if "defunct" in native:
            return None
        kinds = {kind.rsplit(".", 1)[-1] for kind in interfaces or []}
        return Raw(ref, 75 if ref == self.root else number, native, bits, kinds, name or "", description or "", -1 if count is None else count)

    def details(self, raws: list[Raw]) -> None:
        """Asks what depends on the first answers: number, text, label, actions, place."""
        second: list[tuple[Raw, str, Any]] = []
        for raw in raws:
            role = told_role(raw.number, raw.native)
            if "Value" in raw.interfaces and role in HAS_NUMBER:
                second.append((raw, "number", get(raw.ref, "Value", "CurrentValue")))
            if "Text" in raw.interfaces and raw.number != PASSWORD_TEXT:
                second.append((raw, "length", get(raw.ref, "Text", "CharacterCount")))
            if "Action" in raw.interfaces:
                second.append((raw, "actions", call(raw.ref, "Action", "GetActions")))
            if not raw.name.strip() and role in LABELLED:
                second.append((raw, "relations", call(raw.ref, "Accessible", "GetRelationSet")))
            if self.extents and "Component" in raw.interfaces:
                second.append((raw, "extents", call(raw.ref, "Component", "GetExtents", GLib.Variant("(u)", (0,)))))
        self.fill(second)
        third: list[tuple[Raw, str, Any]] = []
        for raw in raws:
            if length := raw.answers.get("length"):
                third.append((raw, "text", call(raw.ref, "Text", "GetText", GLib.Variant("(ii)", (0, length)))))
            for kind, targets in raw.answers.get("relations") or []:
                if kind == LABELLED_BY and targets:
                    third.append((raw, "label", get(tuple(targets[0]), "Accessible", "Name")))
            for at, action in enumerate(raw.answers.get("actions") or []):
                if not action[0] and raw.bits >> FOCUSABLE & 1:
                    third.append((raw, f"action {at}", call(raw.ref, "Action", "GetName", GLib.Variant("(i)", (at,)))))
        self.fill(third)
        self.chosen([raw for raw in raws if told_role(raw.number, raw.native) == "combobox" and "editable" not in raw.native])

    def chosen(self, boxes: list[Raw]) -> None:
        """What combo boxes show: the name of what is selected in them or, in browsers, in their list."""
        if self.toolkit in BROWSERS:
            inside = [raw for raw in boxes if "Selection" not in raw.interfaces]
            self.fill([(raw, "list", call(raw.ref, "Accessible", "GetChildAtIndex", GLib.Variant("(i)", (0,)))) for raw in inside])
        lists = [(raw, raw.ref if "Selection" in raw.interfaces else raw.answers.get("list")) for raw in boxes]
        first = GLib.Variant("(i)", (0,))
        self.fill([(raw, "item", call(tuple(at), "Selection", "GetSelectedChild", first)) for raw, at in lists if at])
        chosen = [raw for raw in boxes if raw.answers.get("item") and raw.answers["item"][1] != NULL]
        self.fill([(raw, "chosen", get(tuple(raw.answers["item"]), "Accessible", "Name")) for raw in chosen])

    def fill(self, questions: list[tuple[Raw, str, Any]]) -> None:
        answers = self.bus.all([question for _, _, question in questions])
        for (raw, key, _), answer in zip(questions, answers):
            raw.answers[key] = answer

    def tell(self, raw: Raw) -> Node:
        """The native answers in axd's words."""
        role = told_role(raw.number, raw.native)
        if self.toolkit == "gecko" and raw.answers.get("text"):
            raw.answers["text"] = re.sub("([\U00010000-\U0010ffff])\ufeff", r"\1", raw.answers["text"])  # its padding
        text, own = None, raw.count <= 0 or self.toolkit == "gecko"
        if raw.answers.get("length") is not None:
            text = (raw.answers.get("text") or "").replace("\ufffc", "")
        name = raw.name if raw.name.strip() else raw.answers.get("label") or ""
        if not name.strip() and own and (role in TEXT_IS_NAME or self.toolkit == "gecko" and role in ("group", "landmark")):
            name = between(raw.answers.get("text") or "")
        if role in HAS_NUMBER and raw.answers.get("number") is not None:
            value = plain_number(raw.answers["number"])
        elif holds_its_text(role, raw.native):
            value = text
        elif role == "cell" and "editable" in raw.native and (text or "").strip() and text != name:
            value = text  # of a spreadsheet: it is called by its place
        else:
            value = raw.answers.get("chosen") or None
        return Node(
            role=role,
            name=name if name.strip() else None,
            description=raw.description if raw.description.strip() else None,
            value=None if raw.number == PASSWORD_TEXT else value,
            states=told_states(role, raw, self.toolkit),
            actions=[name for at, action in enumerate(raw.answers.get("actions") or [])
                     if (name := action[0] or raw.answers.get(f"action {at}"))],
            native_role=ROLES.get(raw.number, ("unknown", ""))[0],
            children_count=raw.count,
            bus=raw.ref[0],
            path=raw.ref[1],
            native_states=sorted(raw.native),
            extents=list(raw.answers["extents"]) if raw.answers.get("extents") else None,
        )


@dataclass
class Raw:
    """What the app answered."""

    ref: Ref
    number: int
    native: set[str]
    bits: int
    interfaces: set[str]
    name: str
    description: str
    count: int
    answers: dict[str, Any] = field(default_factory=dict)


def told_role(number: int, native: set[str]) -> str:
    role = ROLES.get(number, ("", "unknown"))[1]
    if role == "textfield" and "multi line" in native:
        return "textarea"
    if number == DOCUMENT_TEXT and "editable" in native:
        return "textarea"
    return role


def told_states(role: str, raw: Raw, toolkit: str) -> list[str]:
    native = raw.native
    if role == "application" or not raw.bits:
        return []
    told = {name for known, name in PLAIN_STATES.items() if known in native}
    mixed = "indeterminate" in native and role in CHECKABLE
    down = "checked" in native or "pressed" in native
    conditions = {
        "secure": raw.number == PASSWORD_TEXT,
        "disabled": not native & {"enabled", "sensitive"} and role not in NEVER_DISABLED,
        "expanded": {"expandable", "expanded"} <= native,
        "collapsed": "expandable" in native and "expanded" not in native,
        "readonly": "read only" in native and role in HOLDS_TEXT,
        "mixed": mixed,
        # Toolkits differ in whether a toggle that is down is "checked" or "pressed": here it is pressed.
        "pressed": down if role == "togglebutton" else "pressed" in native,
        "checked": "checked" in native and not mixed and role != "togglebutton",
        "hidden": "visible" not in native and not (toolkit in VISIBLE_IS_SCROLLING and role in SCROLLS),
        "offscreen": "visible" in native
        and "showing" not in native
        and toolkit in SHOWING_IS_CONTENT
        and role not in SCROLLS,
    }
    told |= {name for name, holds in conditions.items() if holds}
    # Qt says of the current tab that it has the focus, whoever has it, and never that it is selected.
    if role == "tab" and toolkit == "qt" and "focused" in told:
        told = told - {"focused"} | {"selected"}
    return sorted(told)


def between(text: str) -> str:
    """What a text says between the elements in it: Gecko has no elements for that."""
    if "\ufffc" not in text:
        return text
    return " ".join(piece.strip() for piece in text.split("\ufffc") if piece.strip())


def holds_its_text(role: str, native: set[str]) -> bool:
    if role in ("textfield", "textarea", "searchfield"):
        return True
    return "editable" in native and role in ("document", "paragraph", "combobox", "datefield")


def plain_number(number: float) -> str:
    rounded = round(number, 6)
    return str(int(rounded)) if rounded == int(rounded) else repr(rounded)


def batches(answers: list[Any], size: int) -> Iterable[list[Any]]:
    return (answers[at : at + size] for at in range(0, len(answers), size))


def render(node: Node, depth: int = 0) -> Iterator[str]:
    """An indented text, one element a line."""
    stack = [(node, depth)]
    while stack:
        at, level = stack.pop()
        parts = [at.role, json.dumps(at.name, ensure_ascii=False) if at.name else ""]
        parts += [f"= {json.dumps(at.value, ensure_ascii=False)}" if at.value is not None else "", *at.states]
        parts += [f"({at.children_count} children)" if at.truncated else "", at.path.rsplit("/", 1)[-1]]
        yield "  " * level + " ".join(part for part in parts if part)
        stack.extend((child, level + 1) for child in reversed(at.children))


def find_app(bus: Bus, wanted: str) -> Ref | None:
    """By name or pid."""
    matching: Callable[[str, int], bool] = lambda name, pid: wanted in (name, str(pid))
    return next((ref for ref, name, pid in apps(bus) if matching(name, pid)), None)


def main() -> int:
    parser = argparse.ArgumentParser(description="An independent walk of an app's accessibility tree.")
    parser.add_argument("--app", help="name or pid")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--text", action="store_true")
    parser.add_argument("--extents", action="store_true")
    args = parser.parse_args()
    bus = Bus()
    if args.list or not args.app:
        for ref, name, pid in apps(bus):
            print(f"{pid}\t{ref[0]}\t{toolkit_of(bus, ref)}\t{name}")
        return 0
    ref = find_app(bus, args.app)
    if ref is None:
        print(f"oracle: no app {args.app!r}; there are: {[name for _, name, _ in apps(bus)]}", file=sys.stderr)
        return 1
    tree = Walker(bus, ref, args.extents).walk()
    if args.text:
        print("\n".join(render(tree)))
    else:
        print(json.dumps(asdict(tree), ensure_ascii=False))
    return 0


if __name__ == "__main__":
    sys.exit(main())
