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

from contract import (
    ROLES, PASSWORD_TEXT, DOCUMENT_TEXT, FILLER, STATES, FOCUSABLE, PLAIN_STATES, NEVER_DISABLED, HOLDS_TEXT, CHECKABLE, SCROLLS, SHOWING_IS_CONTENT, VISIBLE_IS_SCROLLING, HAS_NUMBER, TEXT_IS_NAME, LABELLED, LABELLED_BY, BY_INDEX, UNCOUNTED, COUNTED_NAMES, BROWSERS, MAKES_UP_NAMES, CLASS_NAME, OWN_CLASS_NAME, PAGE_ROLES, DATE_INPUTS, STATIC, BOXES_OF_TEXT,
)  # fmt: skip

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
    uncounted: bool = False  # it may have more children than it lists
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
        self.tops: set[Ref] = set()

    def walk(self) -> Node:
        self.seen = {self.root}
        top = self.read([self.root])
        level = [(self.root, top[0])] if top and top[0] else []
        whole = level[0][1] if level else Node(role="application")
        while level:
            lists = self.children([ref for ref, _ in level], [node for _, node in level])
            if level[0][0] == self.root:
                self.tops = set(lists[0])
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
        for node in nodes:
            if node.uncounted:
                node.truncated, node.children_count = True, 0
        large = [(ref, node) for ref, node in zip(refs, nodes) if node.truncated and not node.uncounted]
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
        if self.toolkit in BROWSERS:
            self.fill([(raw, "attributes", call(raw.ref, "Accessible", "GetAttributes")) for raw in raws if raw])
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
        return Raw(ref, 75 if ref == self.root else number, native, bits, kinds, name or "", description or "", -1 if count is None else count, ref in self.tops)

    def details(self, raws: list[Raw]) -> None:
        """Asks what depends on the first answers: number, text, label, actions, place."""
        second: list[tuple[Raw, str, Any]] = []
        for raw in raws:
            role = raw.role()
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
            if self.toolkit in BROWSERS:
                # Chromium lists no names, Firefox the keys of each action.
                raw.answers["actions"] = [("", *action[1:]) for action in raw.answers.get("actions") or []]
            for at, action in enumerate(raw.answers.get("actions") or []):
                if not action[0] and raw.bits >> FOCUSABLE & 1:
                    third.append((raw, f"action {at}", call(raw.ref, "Action", "GetName", GLib.Variant("(i)", (at,)))))
        self.fill(third)
        self.chosen([raw for raw in raws if raw.role() == "combobox" and "editable" not in raw.native])
        if self.toolkit in BROWSERS:
            for raw in raws:
                if raw.role() == "datefield":
                    raw.answers["date"] = self.reads_as(raw.ref).strip()

    def reads_as(self, ref: Ref) -> str:
        """The text of an element with the text of the elements in it in their places."""
        whole = GLib.Variant("(ii)", (0, -1))
        text, parts = self.bus.all([call(ref, "Text", "GetText", whole), call(ref, "Accessible", "GetChildren")])
        inside = []
        for part in [tuple(part) for part in parts or [] if part[1] != NULL]:
            number, attributes = self.bus.all([call(part, "Accessible", "GetRole"), call(part, "Accessible", "GetAttributes")])
            if number != STATIC:
                inside.append((attributes or {}).get("valuetext") or self.reads_as(part))
        return re.sub("\ufffc", lambda _: inside.pop(0) if inside else "", text or "")

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
        role = raw.role()
        if self.toolkit == "gecko" and raw.answers.get("text"):
            raw.answers["text"] = re.sub("([\U00010000-\U0010ffff])\ufeff", r"\1", raw.answers["text"])  # its padding
        text, own = None, raw.count <= 0 or self.toolkit == "gecko"
        if raw.answers.get("length") is not None:
            text = (raw.answers.get("text") or "").replace("\ufffc", "")
        name = self.own_name(raw.name, role)
        name = name if name.strip() else raw.answers.get("label") or ""
        own = own and not holds_its_text(role, raw.native)  # what is edited is the value alone
        if not name.strip() and own and (role in TEXT_IS_NAME or self.toolkit == "gecko" and role in ("group", "landmark")):
            name = between(raw.answers.get("text") or "")
        if role in HAS_NUMBER and raw.answers.get("number") is not None:
            value = plain_number(raw.answers["number"])
            if role == "spinbutton":
                value = read_aloud(value, (raw.answers.get("attributes") or {}).get("valuetext"))
        elif role == "datefield" and self.toolkit in BROWSERS:
            value = raw.answers["date"] or None
        elif holds_its_text(role, raw.native):
            value = text
        elif role == "cell" and "editable" in raw.native and (text or "").strip() and text != name:
            value = text  # of a spreadsheet: it is called by its place
        elif self.toolkit == "gecko" and (role in TEXT_IS_NAME or role in BOXES_OF_TEXT):
            value = unsaid(raw.answers.get("text") or "", name)
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
            uncounted=raw.count > UNCOUNTED.get(self.toolkit, {}).get(raw.number, raw.count) and raw.name not in COUNTED_NAMES,
            bus=raw.ref[0],
            path=raw.ref[1],
            native_states=sorted(raw.native),
            extents=list(raw.answers["extents"]) if raw.answers.get("extents") else None,
        )


    def own_name(self, name: str, role: str) -> str:
        if self.toolkit not in MAKES_UP_NAMES:
            return name
        if CLASS_NAME.fullmatch(name) or role == "group" and OWN_CLASS_NAME.fullmatch(name) and not name.isupper():
            return ""
        words = name.split(" ")
        half = len(words) // 2
        twice = role not in ("text", "heading") and half and len(words) % 2 == 0 and words[:half] == words[half:]
        return " ".join(words[:half]) if twice else name


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
    top: bool = False  # the app itself lists it
    answers: dict[str, Any] = field(default_factory=dict)

    def role(self) -> str:
        # A window of Qt that is a plain widget is called what any plain widget is.
        if self.top and self.number == FILLER:
            return "window"
        role, attributes = told_role(self.number, self.native), self.answers.get("attributes") or {}
        by_page = PAGE_ROLES.get((attributes.get("xml-roles") or " ").split(" ")[0])
        if by_page:
            return by_page
        return "datefield" if role == "group" and attributes.get("text-input-type") in DATE_INPUTS else role


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


def unsaid(text: str, name: str) -> str | None:
    """What of the text between elements the name does not say."""
    said = " ".join(name.split())
    pieces = [piece.strip() for piece in text.split("\ufffc")]
    return " ".join(piece for piece in pieces if piece and " ".join(piece.split()) not in said) or None


def read_aloud(number: str, text: str | None) -> str:
    """What a spin button holds: what its number reads as, unless that is the number."""
    try:
        same = float(text or number) == float(number)
    except ValueError:
        same = False
    return number if same else text or number


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
