#!/usr/bin/python3
"""An app that keeps a record of what it got, for tests that do not believe axd.

    record.py gtk3|gtk4|qt6 TITLE FILE

Its window has eight buttons, four check boxes, four fields and a text area, the same in every toolkit. Whatever it gets is a line of FILE:
`click B3`, `check C1 on`, `text F2 …` and `text Notes …` with all that the field then holds, as JSON. It prints `ready` when it is up.

A line on its standard input opens a second window, "Popup", which blocks nothing, and the next one closes it. When that is done it is recorded (`popup
open`, `popup closed`) and the same word is printed.
"""

from __future__ import annotations

import json
import sys

BUTTONS = [f"B{number}" for number in range(8)]
CHECKS = [f"C{number}" for number in range(4)]
FIELDS = [f"F{number}" for number in range(4)]


class Record:
    def __init__(self, path: str) -> None:
        self.file = open(path, "a", buffering=1)

    def note(self, what: str, name: str, value: object = None) -> None:
        self.file.write(f"{what} {name} {json.dumps(value)}\n")

    def popup(self, is_open: bool) -> None:
        word = "open" if is_open else "closed"
        self.note("popup", word)
        print(word, flush=True)


def gtk(version: str, title: str, record: Record) -> None:
    import gi

    gi.require_version("Gtk", version)
    from gi.repository import GLib, Gtk

    def put(box: Gtk.Box, widget: Gtk.Widget, fill: bool = False) -> None:
        if version == "3.0":
            box.pack_start(widget, fill, fill, 0)
        else:
            widget.set_vexpand(fill)
            box.append(widget)

    def named(widget: Gtk.Widget, name: str) -> Gtk.Widget:
        if version == "3.0":
            widget.get_accessible().set_name(name)
        else:
            widget.update_property([Gtk.AccessibleProperty.LABEL], [name])
        return widget

    window = Gtk.Window(title=title)
    window.set_default_size(420, 520)
    whole = Gtk.Box(orientation=Gtk.Orientation.VERTICAL, spacing=4)
    for names in (BUTTONS[:4], BUTTONS[4:]):
        row = Gtk.Box(spacing=4)
        for name in names:
            button = Gtk.Button(label=name)
            button.connect("clicked", lambda _, name=name: record.note("click", name))
            put(row, button)
        put(whole, row)
    for name in CHECKS:
        check = Gtk.CheckButton(label=name)
        check.connect("toggled", lambda check, name=name: record.note("check", name, check.get_active()))
        put(whole, check)
    for name in FIELDS:
        field = named(Gtk.Entry(), name)
        field.connect("changed", lambda field, name=name: record.note("text", name, field.get_text()))
        put(whole, field)
    notes = named(Gtk.TextView(), "Notes")
    buffer = notes.get_buffer()
    buffer.connect("changed", lambda buffer: record.note("text", "Notes", buffer.get_text(*buffer.get_bounds(), True)))
    area = Gtk.ScrolledWindow()
    area.add(notes) if version == "3.0" else area.set_child(notes)
    put(whole, area, fill=True)
    popup: list[Gtk.Window] = []

    def toggle(*_: object) -> bool:
        if not sys.stdin.readline():
            return False
        if popup:
            popup.pop().destroy()
            GLib.idle_add(record.popup, False)
        else:
            popup.append(Gtk.Window(title="Popup", transient_for=window))
            button = Gtk.Button(label="Yes")
            if version == "3.0":
                popup[0].add(button)
                button.show()
            else:
                popup[0].set_child(button)
            popup[0].connect("map", lambda _: GLib.idle_add(record.popup, True))
            popup[0].present()
        return True

    GLib.io_add_watch(0, GLib.PRIORITY_DEFAULT, GLib.IOCondition.IN | GLib.IOCondition.HUP, toggle)
    loop = GLib.MainLoop()
    if version == "3.0":
        window.add(whole)
        window.connect("destroy", lambda _: loop.quit())
        window.show_all()
    else:
        window.set_child(whole)
        window.connect("close-request", lambda _: loop.quit())
        window.present()
    GLib.idle_add(lambda: print("ready", flush=True))
    loop.run()


def qt6(title: str, record: Record) -> None:
    from PyQt6.QtCore import QSocketNotifier, QTimer
    from PyQt6.QtWidgets import QApplication, QCheckBox, QHBoxLayout, QLineEdit, QPlainTextEdit, QPushButton, QVBoxLayout, QWidget

    app = QApplication(sys.argv[:1])
    window = QWidget()
    window.setWindowTitle(title)
    window.resize(420, 520)
    whole = QVBoxLayout(window)
    for names in (BUTTONS[:4], BUTTONS[4:]):
        row = QHBoxLayout()
        for name in names:
            button = QPushButton(name)
            button.clicked.connect(lambda _, name=name: record.note("click", name))
            row.addWidget(button)
        whole.addLayout(row)
    for name in CHECKS:
        check = QCheckBox(name)
        check.toggled.connect(lambda on, name=name: record.note("check", name, on))
        whole.addWidget(check)
    for name in FIELDS:
        field = QLineEdit()
        field.setAccessibleName(name)
        field.textChanged.connect(lambda text, name=name: record.note("text", name, text))
        whole.addWidget(field)
    notes = QPlainTextEdit()
    notes.setAccessibleName("Notes")
    notes.textChanged.connect(lambda: record.note("text", "Notes", notes.toPlainText()))
    whole.addWidget(notes)
    popup: list[QWidget] = []

    def toggle() -> None:
        if not sys.stdin.readline():
            stdin.setEnabled(False)
        elif popup:
            popup.pop().close()
            QTimer.singleShot(0, lambda: record.popup(False))
        else:
            popup.append(QWidget())
            popup[0].setWindowTitle("Popup")
            QVBoxLayout(popup[0]).addWidget(QPushButton("Yes"))
            popup[0].show()
            QTimer.singleShot(0, lambda: record.popup(True))

    stdin = QSocketNotifier(0, QSocketNotifier.Type.Read)
    stdin.activated.connect(toggle)
    window.show()
    QTimer.singleShot(0, lambda: print("ready", flush=True))
    app.exec()


def main() -> None:
    kit, title, path = sys.argv[1:4]
    record = Record(path)
    match kit:
        case "gtk3":
            gtk("3.0", title, record)
        case "gtk4":
            gtk("4.0", title, record)
        case "qt6":
            qt6(title, record)
        case _:
            sys.exit(f"record.py: no kit {kit}")


if __name__ == "__main__":
    main()
