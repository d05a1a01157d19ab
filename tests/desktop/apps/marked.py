#!/usr/bin/python3
"""An app with what pictures are marked on: a menu bar, buttons large and small, check boxes, a combo box, a password, a list that scrolls.

    marked.py gtk3|gtk4|qt6 TITLE FILE

The same in every toolkit. What it gets is a line of FILE, as record.py writes it: `click B3`, `check C1 true`, `choose Size "Large"`, `menu Open`.
It prints `ready` when it is up.
"""

from __future__ import annotations

import sys

from record import Record

BUTTONS = [f"B{number}" for number in range(6)]
SMALL = [f"s{number}" for number in range(8)]
CHECKS = [f"C{number}" for number in range(3)]
SIZES = ["Small", "Medium", "Large"]
MENU = ["New", "Open", "Save"]
ROWS = [f"Row {number}" for number in range(40)]
SECRET = "correct horse"
CSS = b"button.tiny { min-width: 16px; min-height: 16px; padding: 0; margin: 0; }"


def gtk3(title: str, record: Record) -> None:
    import gi

    gi.require_version("Gdk", "3.0")
    gi.require_version("Gtk", "3.0")
    from gi.repository import Gdk, GLib, Gtk

    style = Gtk.CssProvider()
    style.load_from_data(CSS)
    Gtk.StyleContext.add_provider_for_screen(Gdk.Screen.get_default(), style, Gtk.STYLE_PROVIDER_PRIORITY_APPLICATION)
    window = Gtk.Window(title=title)
    window.set_default_size(420, 460)
    whole = Gtk.Box(orientation=Gtk.Orientation.VERTICAL, spacing=4)
    bar, menu, top = Gtk.MenuBar(), Gtk.Menu(), Gtk.MenuItem(label="File")
    for name in MENU:
        item = Gtk.MenuItem(label=name)
        item.connect("activate", lambda _, name=name: record.note("menu", name))
        menu.append(item)
    top.set_submenu(menu)
    bar.append(top)
    whole.pack_start(bar, False, False, 0)
    for names in (BUTTONS, SMALL):
        row = Gtk.Box(spacing=4 if names is BUTTONS else 1)
        for name in names:
            button = Gtk.Button(label=name)
            if names is SMALL:
                button.get_style_context().add_class("tiny")
            button.connect("clicked", lambda _, name=name: record.note("click", name))
            row.pack_start(button, False, False, 0)
        whole.pack_start(row, False, False, 0)
    whole.pack_start(Gtk.Button(label="Off", sensitive=False), False, False, 0)
    for name in CHECKS:
        check = Gtk.CheckButton(label=name)
        check.connect("toggled", lambda check, name=name: record.note("check", name, check.get_active()))
        whole.pack_start(check, False, False, 0)
    combo = Gtk.ComboBoxText()
    for name in SIZES:
        combo.append_text(name)
    combo.set_active(0)
    combo.get_accessible().set_name("Size")
    combo.connect("changed", lambda combo: record.note("choose", "Size", combo.get_active_text()))
    whole.pack_start(combo, False, False, 0)
    secret = Gtk.Entry(text=SECRET, visibility=False)
    secret.get_accessible().set_name("Secret")
    whole.pack_start(secret, False, False, 0)
    rows = Gtk.ListBox()
    for name in ROWS:
        rows.add(Gtk.Label(label=name, xalign=0))
    area = Gtk.ScrolledWindow()
    area.add(rows)
    whole.pack_start(area, True, True, 0)
    window.add(whole)
    window.connect("destroy", Gtk.main_quit)
    window.show_all()
    GLib.idle_add(lambda: print("ready", flush=True))
    Gtk.main()


def gtk4(title: str, record: Record) -> None:
    import gi

    gi.require_version("Gdk", "4.0")
    gi.require_version("Gtk", "4.0")
    from gi.repository import Gdk, Gio, GLib, Gtk

    Gtk.init()
    style = Gtk.CssProvider()
    style.load_from_data(CSS)
    Gtk.StyleContext.add_provider_for_display(Gdk.Display.get_default(), style, Gtk.STYLE_PROVIDER_PRIORITY_APPLICATION)
    window = Gtk.Window(title=title)
    window.set_default_size(420, 460)
    whole = Gtk.Box(orientation=Gtk.Orientation.VERTICAL, spacing=4)
    actions, menu, top = Gio.SimpleActionGroup(), Gio.Menu(), Gio.Menu()
    for name in MENU:
        action = Gio.SimpleAction(name=name)
        action.connect("activate", lambda *_, name=name: record.note("menu", name))
        actions.add_action(action)
        menu.append(name, f"app.{name}")
    top.append_submenu("File", menu)
    window.insert_action_group("app", actions)
    whole.append(Gtk.PopoverMenuBar.new_from_model(top))
    for names in (BUTTONS, SMALL):
        row = Gtk.Box(spacing=4 if names is BUTTONS else 1)
        for name in names:
            button = Gtk.Button(label=name)
            if names is SMALL:
                button.add_css_class("tiny")
            button.connect("clicked", lambda _, name=name: record.note("click", name))
            row.append(button)
        whole.append(row)
    whole.append(Gtk.Button(label="Off", sensitive=False))
    for name in CHECKS:
        check = Gtk.CheckButton(label=name)
        check.connect("toggled", lambda check, name=name: record.note("check", name, check.get_active()))
        whole.append(check)
    combo = Gtk.DropDown.new_from_strings(SIZES)
    combo.update_property([Gtk.AccessibleProperty.LABEL], ["Size"])
    combo.connect("notify::selected", lambda combo, _: record.note("choose", "Size", SIZES[combo.get_selected()]))
    whole.append(combo)
    secret = Gtk.PasswordEntry()
    secret.set_text(SECRET)
    secret.update_property([Gtk.AccessibleProperty.LABEL], ["Secret"])
    whole.append(secret)
    rows = Gtk.ListBox()
    for name in ROWS:
        rows.append(Gtk.Label(label=name, xalign=0))
    area = Gtk.ScrolledWindow(vexpand=True)
    area.set_child(rows)
    whole.append(area)
    loop = GLib.MainLoop()
    window.set_child(whole)
    window.connect("close-request", lambda _: loop.quit())
    window.present()
    GLib.idle_add(lambda: print("ready", flush=True))
    loop.run()


def qt6(title: str, record: Record) -> None:
    from PyQt6.QtCore import QTimer
    from PyQt6.QtWidgets import QApplication, QCheckBox, QComboBox, QHBoxLayout, QLineEdit, QListWidget, QMenuBar, QPushButton, QVBoxLayout, QWidget

    app = QApplication(sys.argv[:1])
    window = QWidget()
    window.setWindowTitle(title)
    window.resize(420, 460)
    whole = QVBoxLayout(window)
    bar = QMenuBar()
    menu = bar.addMenu("File")
    for name in MENU:
        menu.addAction(name, lambda name=name: record.note("menu", name))
    whole.setMenuBar(bar)
    for names in (BUTTONS, SMALL):
        row = QHBoxLayout()
        row.setSpacing(4 if names is BUTTONS else 1)
        for name in names:
            button = QPushButton(name)
            if names is SMALL:
                button.setFixedSize(18, 18)
            button.clicked.connect(lambda _, name=name: record.note("click", name))
            row.addWidget(button)
        row.addStretch()
        whole.addLayout(row)
    off = QPushButton("Off")
    off.setEnabled(False)
    whole.addWidget(off)
    for name in CHECKS:
        check = QCheckBox(name)
        check.toggled.connect(lambda on, name=name: record.note("check", name, on))
        whole.addWidget(check)
    combo = QComboBox()
    combo.addItems(SIZES)
    combo.setAccessibleName("Size")
    combo.currentTextChanged.connect(lambda text: record.note("choose", "Size", text))
    whole.addWidget(combo)
    secret = QLineEdit(SECRET)
    secret.setEchoMode(QLineEdit.EchoMode.Password)
    secret.setAccessibleName("Secret")
    whole.addWidget(secret)
    rows = QListWidget()
    rows.addItems(ROWS)
    whole.addWidget(rows)
    window.show()
    QTimer.singleShot(0, lambda: print("ready", flush=True))
    app.exec()


def main() -> None:
    kit, title, path = sys.argv[1:4]
    kits = {"gtk3": gtk3, "gtk4": gtk4, "qt6": qt6}
    if kit not in kits:
        sys.exit(f"marked.py: no kit {kit}")
    kits[kit](title, Record(path))


if __name__ == "__main__":
    main()
