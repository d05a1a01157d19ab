#!/usr/bin/python3
"""The test app in GTK 3. See storm.py for what it does and says; the widgets are the same in every toolkit."""

from __future__ import annotations

import signal
from typing import Any

import gi

gi.require_version("Gtk", "3.0")
from gi.repository import GLib, Gtk  # noqa: E402

import storm  # noqa: E402

TABS = ("List", "Table", "Text", "Big")


def named(widget: Gtk.Widget, name: str) -> Gtk.Widget:
    widget.get_accessible().set_name(name)
    return widget


class Window:
    def __init__(self, big: bool) -> None:
        self.counted = self.made = 0
        self.rows: list[Gtk.ListBoxRow] = []
        self.box: Gtk.Dialog | None = None
        self.window = Gtk.Window(title="Test GTK3")
        self.window.set_default_size(900, 640)
        self.window.connect("destroy", Gtk.main_quit)
        whole = Gtk.Box(orientation=Gtk.Orientation.VERTICAL)
        whole.pack_start(self.menus(), False, False, 0)
        halves = Gtk.Box(spacing=6)
        halves.pack_start(self.controls(), False, False, 6)
        halves.pack_start(self.pages(big), True, True, 6)
        whole.pack_start(halves, True, True, 0)
        self.window.add(whole)
        self.window.show_all()
        self.press.grab_focus()

    def menus(self) -> Gtk.MenuBar:
        bar = Gtk.MenuBar()
        for title, items in (("File", ("New", "Open", "Quit")), ("Help", ("About",))):
            menu, head = Gtk.Menu(), Gtk.MenuItem(label=title)
            for item in items:
                menu.append(Gtk.MenuItem(label=item))
            if title == "File":
                menu.append(Gtk.CheckMenuItem(label="Autosave"))
            head.set_submenu(menu)
            bar.append(head)
        return bar

    def controls(self) -> Gtk.Box:
        column = Gtk.Box(orientation=Gtk.Orientation.VERTICAL, spacing=2)
        self.press = self.button("Press", self.count)
        self.label = Gtk.Label(label="count 0")
        self.check_box = Gtk.CheckButton(label="Check")
        self.toggle_button = Gtk.ToggleButton(label="Toggle")
        self.switch = named(Gtk.Switch(), "Switch")
        self.radios = [Gtk.RadioButton(label="Red")]
        self.radios += [Gtk.RadioButton(label=name, group=self.radios[0]) for name in ("Green", "Blue")]
        self.entry_field = named(Gtk.Entry(), "Entry")
        self.password = named(Gtk.Entry(visibility=False, input_purpose=Gtk.InputPurpose.PASSWORD), "Password")
        self.slider_scale = named(Gtk.Scale.new_with_range(Gtk.Orientation.HORIZONTAL, 0, 100, 1), "Slider")
        self.spin_button = named(Gtk.SpinButton.new_with_range(0, 100, 1), "Spin")
        self.combo_box = named(Gtk.ComboBoxText(), "Combo")
        for choice in ("one", "two", "three"):
            self.combo_box.append_text(choice)
        self.combo_box.set_active(0)
        self.progress_bar = named(Gtk.ProgressBar(), "Progress")
        self.expander_box = Gtk.Expander(label="More")
        self.expander_box.add(Gtk.Label(label="hidden until expanded"))
        self.target = Gtk.Button(label="Target")
        for widget in (
            self.press, self.label, self.check_box, self.toggle_button, self.switch, *self.radios, self.entry_field,
            self.password, self.slider_scale, self.spin_button, self.combo_box, self.progress_bar, self.expander_box,
            self.target, self.button("Enable/Disable", self.sensitivity), self.button("Dialog", self.dialog),
        ):  # fmt: skip
            column.pack_start(widget, False, False, 0)
        return column

    def button(self, name: str, act: Any) -> Gtk.Button:
        button = Gtk.Button(label=name)
        button.connect("clicked", lambda *_: act(0))
        return button

    def pages(self, big: bool) -> Gtk.Notebook:
        self.notebook = Gtk.Notebook()
        pages = [self.list_page(), self.table_page(20, "Table"), self.text_page()]
        pages += [self.table_page(5000, "Big")] if big else []
        for page, name in zip(pages, TABS):
            self.notebook.append_page(page, Gtk.Label(label=name))
        return self.notebook

    def list_page(self) -> Gtk.Box:
        page = Gtk.Box(orientation=Gtk.Orientation.VERTICAL)
        buttons = Gtk.Box()
        for name, act in (
            ("Add", self.add_row), ("Remove", self.remove_row), ("Rename", self.rename_row), ("Reorder", self.reorder_rows)
        ):  # fmt: skip
            buttons.add(self.button(name, act))
        self.list_box = named(Gtk.ListBox(), "Rows")
        page.pack_start(buttons, False, False, 0)
        page.pack_start(scrolled(self.list_box), True, True, 0)
        for _ in range(3):
            self.add_row(0)
        return page

    def table_page(self, rows: int, name: str) -> Gtk.ScrolledWindow:
        store = Gtk.ListStore(str, str)
        for row in range(rows):
            store.append([f"r{row}", f"v{row}"])
        view = named(Gtk.TreeView(model=store), name)
        for index, title in enumerate(("Key", "Value")):
            view.append_column(Gtk.TreeViewColumn(title, Gtk.CellRendererText(), text=index))
        if name == "Table":
            self.store = store
        return scrolled(view)

    def text_page(self) -> Gtk.ScrolledWindow:
        self.text = named(Gtk.TextView(), "Notes")
        self.text.get_buffer().set_text("first line\nsecond line")
        return scrolled(self.text)

    # What storms and buttons do.

    def add_row(self, n: int) -> None:
        self.made += 1
        row = Gtk.ListBoxRow()
        row.add(Gtk.Label(label=f"row {self.made}"))
        row.show_all()
        at = n % (len(self.rows) + 1) if n else len(self.rows)
        self.list_box.insert(row, at)
        self.rows.insert(at, row)

    def remove_row(self, n: int) -> None:
        if self.rows:
            self.rows.pop(n % len(self.rows)).destroy()

    def rename_row(self, n: int) -> None:
        if self.rows:
            label = self.rows[n % len(self.rows)].get_child()
            label.set_text(label.get_text().split("*")[0] + f"*{n % 100}")

    def reorder_rows(self, n: int) -> None:
        if self.rows:
            row = self.rows.pop(n % len(self.rows))
            self.list_box.remove(row)
            self.list_box.insert(row, 0)
            self.rows.insert(0, row)

    def count(self, n: int) -> None:
        self.counted += 1
        self.label.set_text(f"count {self.counted}")

    def check(self, n: int) -> None:
        self.check_box.set_active(not self.check_box.get_active())

    def toggle(self, n: int) -> None:
        widget = self.toggle_button if n % 2 else self.switch
        widget.set_active(not widget.get_active())

    def radio(self, n: int) -> None:
        self.radios[n % 3].set_active(True)

    def entry(self, n: int) -> None:
        (self.password if n % 5 == 0 else self.entry_field).set_text(f"text {n % 1000}")

    def notes(self, n: int) -> None:
        self.text.get_buffer().set_text(f"line {n % 10}\nline {n % 100}")

    def slider(self, n: int) -> None:
        self.slider_scale.set_value(n % 101)

    def spin(self, n: int) -> None:
        self.spin_button.set_value(n % 101)

    def combo(self, n: int) -> None:
        self.combo_box.set_active(n % 3)

    def tab(self, n: int) -> None:
        self.notebook.set_current_page(n % 3)

    def sensitivity(self, n: int) -> None:
        self.target.set_sensitive(not self.target.get_sensitive())

    def dialog(self, n: int) -> None:
        if self.box:
            return self.close_dialog()
        self.box = Gtk.MessageDialog(
            transient_for=self.window, modal=True, buttons=Gtk.ButtonsType.OK_CANCEL, text="Sure?", title="Question"
        )
        self.box.connect("response", lambda *_: self.close_dialog())
        self.box.show_all()

    def close_dialog(self) -> None:
        if self.box:
            self.box.destroy()
            self.box = None

    def progress(self, n: int) -> None:
        self.progress_bar.set_fraction(n % 101 / 100)

    def expander(self, n: int) -> None:
        self.expander_box.set_expanded(not self.expander_box.get_expanded())

    def cell(self, n: int) -> None:
        self.store[n % 20][1] = f"v{n % 1000}"

    def state(self) -> dict[str, Any]:
        buffer = self.text.get_buffer()
        return {
            "rows": [row.get_child().get_text() for row in self.rows],
            "count": self.counted,
            "check": self.check_box.get_active(),
            "toggle": [self.toggle_button.get_active(), self.switch.get_active()],
            "radio": [radio.get_active() for radio in self.radios],
            "entry": [self.entry_field.get_text(), self.password.get_text()],
            "notes": buffer.get_text(*buffer.get_bounds(), False),
            "numbers": [int(self.slider_scale.get_value()), int(self.spin_button.get_value())],
            "combo": self.combo_box.get_active(),
            "tab": self.notebook.get_current_page(),
            "sensitive": self.target.get_sensitive(),
            "progress": round(self.progress_bar.get_fraction(), 2),
            "expanded": self.expander_box.get_expanded(),
            "cells": [row[1] for row in self.store],
        }


def scrolled(child: Gtk.Widget) -> Gtk.ScrolledWindow:
    area = Gtk.ScrolledWindow()
    area.add(child)
    return area


def once(act: Any) -> bool:
    act()
    return GLib.SOURCE_REMOVE


def main() -> None:
    args = storm.options("The test app in GTK 3.")
    GLib.set_prgname("axd-test-gtk3")
    window = Window(args.big)
    weather = storm.Weather(
        window,
        args,
        after=lambda ms, act: GLib.timeout_add(ms, once, act),
        when_idle=lambda act: GLib.idle_add(once, act, priority=GLib.PRIORITY_LOW),
    )
    GLib.unix_signal_add(GLib.PRIORITY_DEFAULT, signal.SIGUSR1, lambda: weather.asked_for() or GLib.SOURCE_CONTINUE)
    GLib.idle_add(once, weather.started, priority=GLib.PRIORITY_LOW)
    Gtk.main()


if __name__ == "__main__":
    main()
