#!/usr/bin/python3
"""An app on the accessibility bus that means harm. It speaks D-Bus by itself, so that it can say whatever it likes.

    hostile.py long      20 buttons whose names, descriptions and ids have 4,000,000 characters each
    hostile.py texts     3,000 buttons whose names have 30,000 characters each
    hostile.py endless   every element has ten more
    hostile.py deep      every element has one more

It prints `ready` when it is known to the registry.
"""

from __future__ import annotations

import os
import socket
import struct
import sys

import gi

gi.require_version("Gio", "2.0")
from gi.repository import Gio, GLib

KIND = sys.argv[1] if len(sys.argv) > 1 else "endless"
ROOT = "/org/a11y/atspi/accessible/root"
PREFIX = "/org/a11y/atspi/accessible/"
NOWHERE = "/org/a11y/atspi/null"
ACCESSIBLE, APPLICATION = "org.a11y.atspi.Accessible", "org.a11y.atspi.Application"
ROLE_BUTTON, ROLE_PANEL, ROLE_FRAME, ROLE_APPLICATION = 43, 39, 23, 75
# Enabled, sensitive, showing, visible.
STATES = [1 << 8 | 1 << 24 | 1 << 25 | 1 << 30, 0]
LONG, SOME = "x" * 4_000_000, "y" * 30_000
NO_FLAGS = Gio.DBusCapabilityFlags.NONE
HEADER_BYTES = 16


class Element:
    """An element, by its number: 0 is the app, 1 its window."""

    def __init__(self, number: int) -> None:
        self.number = number

    @property
    def path(self) -> str:
        return ROOT if self.number == 0 else f"{PREFIX}{self.number}"

    def children(self) -> list[int]:
        n = self.number
        if n == 0:
            return [1]
        if KIND == "endless":
            return [n * 10 + k for k in range(10)]
        if KIND == "deep":
            return [n + 1]
        count = {"long": 20, "texts": 3_000}[KIND]
        return list(range(2, 2 + count)) if n == 1 else []

    def parent(self) -> int:
        n = self.number
        if n <= 1:
            return 0
        return {"endless": n // 10, "deep": n - 1}.get(KIND, 1)

    def role(self) -> int:
        if self.number <= 1:
            return (ROLE_APPLICATION, ROLE_FRAME)[self.number]
        return ROLE_PANEL if KIND in ("endless", "deep") else ROLE_BUTTON

    def text(self) -> str:
        if self.number <= 1:
            return ("hostile", "Hostile")[self.number]
        return {"long": LONG, "texts": SOME}.get(KIND, "") + str(self.number)

    def properties(self) -> dict[str, GLib.Variant]:
        more = self.text() if KIND == "long" and self.number > 1 else ""
        return {
            "Name": GLib.Variant("s", self.text()),
            "Description": GLib.Variant("s", more),
            "AccessibleId": GLib.Variant("s", more),
            "Parent": GLib.Variant("(so)", at(self.parent())),
            "ChildCount": GLib.Variant("i", len(self.children())),
            "Locale": GLib.Variant("s", ""),
            "HelpText": GLib.Variant("s", ""),
        }


def at(number: int) -> tuple[str, str]:
    return (name, Element(number).path)


def element(path: str) -> Element | None:
    if path == ROOT:
        return Element(0)
    number = path.removeprefix(PREFIX)
    return Element(int(number)) if number.isdigit() else None


def answer(call: Gio.DBusMessage) -> GLib.Variant | None:
    """What a call returns; None if there is no such thing here."""
    member, interface, body = call.get_member(), call.get_interface(), call.get_body()
    if member == "Ping":
        return GLib.Variant("()", ())
    it = element(call.get_path())
    if it is None:
        return None
    if interface == "org.freedesktop.DBus.Properties":
        of = body[0]
        known = it.properties() if of == ACCESSIBLE else {}
        if of == APPLICATION:
            known = {"ToolkitName": GLib.Variant("s", "hostile"), "Version": GLib.Variant("s", "1"), "Id": GLib.Variant("i", 1)}
        if member == "GetAll":
            return GLib.Variant("(a{sv})", (known,))
        return GLib.Variant("(v)", (known[body[1]],)) if member == "Get" and body[1] in known else None
    if member == "GetChildren":
        return GLib.Variant("(a(so))", ([at(child) for child in it.children()],))
    if member == "GetChildAtIndex":
        children = it.children()
        return GLib.Variant("((so))", (at(children[body[0]]) if 0 <= body[0] < len(children) else (name, NOWHERE),))
    plain = {
        "GetRole": ("(u)", it.role()),
        "GetState": ("(au)", STATES),
        "GetInterfaces": ("(as)", [ACCESSIBLE]),
        "GetAttributes": ("(a{ss})", {}),
        "GetRelationSet": ("(a(ua(so)))", []),
        "GetApplication": ("((so))", at(0)),
        "GetIndexInParent": ("(i)", 0),
        "GetRoleName": ("(s)", "x"),
        "GetLocalizedRoleName": ("(s)", "x"),
        "GetLocale": ("(s)", "C"),
    }
    return GLib.Variant(plain[member][0], (plain[member][1],)) if member in plain else None


class Bus:
    """A connection to a bus."""

    def __init__(self, address: str) -> None:
        self.socket = socket.socket(socket.AF_UNIX)
        words = dict(word.split("=", 1) for word in address.split(":", 1)[1].split(",") if "=" in word)
        self.socket.connect("\0" + words["abstract"] if "abstract" in words else words["path"])
        self.socket.sendall(b"\0AUTH EXTERNAL " + str(os.getuid()).encode().hex().encode() + b"\r\n")
        assert self.socket.recv(200).startswith(b"OK")
        self.socket.sendall(b"BEGIN\r\n")
        self.serial, self.pending = 0, b""

    def send(self, message: Gio.DBusMessage) -> int:
        self.serial += 1
        message.set_serial(self.serial)
        self.socket.sendall(message.to_blob(NO_FLAGS))
        return self.serial

    def receive(self) -> Gio.DBusMessage:
        head = self.exactly(HEADER_BYTES)
        order = "<" if head[:1] == b"l" else ">"
        body, fields = struct.unpack(order + "I", head[4:8])[0], struct.unpack(order + "I", head[12:16])[0]
        rest = self.exactly((fields + 7) // 8 * 8 + body)
        return Gio.DBusMessage.new_from_blob(head + rest, NO_FLAGS)

    def exactly(self, count: int) -> bytes:
        while len(self.pending) < count:
            more = self.socket.recv(1 << 16)
            if not more:
                sys.exit(0)
            self.pending += more
        taken, self.pending = self.pending[:count], self.pending[count:]
        return taken

    def call(self, to: str, path: str, interface: str, member: str, body: GLib.Variant | None) -> GLib.Variant:
        message = Gio.DBusMessage.new_method_call(to, path, interface, member)
        if body:
            message.set_body(body)
        serial = self.send(message)
        while True:
            told = self.receive()
            if told.get_reply_serial() == serial:
                return told.get_body()
            self.serve(told)

    def serve(self, call: Gio.DBusMessage) -> None:
        if call.get_message_type() != Gio.DBusMessageType.METHOD_CALL:
            return
        told = answer(call)
        if told is None:
            reply = call.new_method_error_literal("org.freedesktop.DBus.Error.UnknownMethod", "there is no such thing")
        else:
            reply = call.new_method_reply()
            reply.set_body(told)
        if not call.get_flags() & Gio.DBusMessageFlags.NO_REPLY_EXPECTED:
            self.send(reply)


DBUS = ("org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus")
session = Gio.bus_get_sync(Gio.BusType.SESSION)
address = session.call_sync("org.a11y.Bus", "/org/a11y/bus", "org.a11y.Bus", "GetAddress", None, None, 0, -1)[0]
bus = Bus(address)
name = bus.call(*DBUS, "Hello", None)[0]
bus.call("org.a11y.atspi.Registry", ROOT, "org.a11y.atspi.Socket", "Embed", GLib.Variant("((so))", (at(0),)))
print("ready", flush=True)
while True:
    bus.serve(bus.receive())
