#!/usr/bin/python3
"""The test app in GTK 4. See storm.py for what it does and says; the widgets are the same in every toolkit."""

from __future__ import annotations

import warnings
from typing import Any

import gi

gi.require_version("Gtk", "4.0")
from gi.repository import Gio, GLib, Gtk  # noqa: E402

import gtk_both  # noqa: E402
import storm  # noqa: E402

warnings.simplefilter("ignore", DeprecationWarning)
TABS = ("List", "Table", "Text")
MENUS = (("File", ("New", "Open", "Quit")), ("Help", ("About",)))


def named(widget: Gtk.Widget, name: str) -> Gtk.Widget:
    widget.update_property([Gtk.AccessibleProperty.LABEL], [name])
    return widget


class Window(gtk_both.Window):
    def __init__(self, app: Gtk.Application) -> None:
        self.counted = self.made = 0
        self.rows: list[Gtk.ListBoxRow] = []
        self.box: Gtk.Dialog | None = None
        self.window = Gtk.ApplicationWindow(application=app, title="Test GTK4")
        self.window.set_default_size(900, 640)
        whole = Gtk.Box(orientation=Gtk.Orientation.VERTICAL)
        whole.append(self.menus(app))
        halves = Gtk.Box(spacing=6, vexpand=True)
        halves.append(self.controls())
        halves.append(self.pages())
        whole.append(halves)
        self.window.set_child(whole)
        self.window.present()
        self.press.grab_focus()

    def menus(self, app: Gtk.Application) -> Gtk.PopoverMenuBar:
        bar = Gio.Menu()
        for title, items in MENUS:
            menu = Gio.Menu()
            for item in items:
                app.add_action(Gio.SimpleAction.new(item.lower(), None))
                menu.append(item, f"app.{item.lower()}")
            bar.append_submenu(title, menu)
        return Gtk.PopoverMenuBar.new_from_model(bar)

    def controls(self) -> Gtk.Box:
        column = Gtk.Box(orientation=Gtk.Orientation.VERTICAL, spacing=2)
        self.press = self.button("Press", self.count)
        self.label = Gtk.Label(label="count 0")
        self.check_box = Gtk.CheckButton(label="Check")
        self.toggle_button = Gtk.ToggleButton(label="Toggle")
        self.switch = named(Gtk.Switch(halign=Gtk.Align.START), "Switch")
        self.radios = [Gtk.CheckButton(label=name) for name in ("Red", "Green", "Blue")]
        for radio in self.radios[1:]:
            radio.set_group(self.radios[0])
        self.radios[0].set_active(True)
        self.entry_field = named(Gtk.Entry(), "Entry")
        self.password = named(Gtk.PasswordEntry(), "Password")
        self.slider_scale = named(Gtk.Scale.new_with_range(Gtk.Orientation.HORIZONTAL, 0, 100, 1), "Slider")
        self.spin_button = named(Gtk.SpinButton.new_with_range(0, 100, 1), "Spin")
        self.combo_box = named(Gtk.DropDown.new_from_strings(["one", "two", "three"]), "Combo")
        self.progress_bar = named(Gtk.ProgressBar(), "Progress")
        self.expander_box = Gtk.Expander(label="More", child=Gtk.Label(label="hidden until expanded"))
        self.target = Gtk.Button(label="Target")
        for widget in (
            self.press, self.label, self.check_box, self.toggle_button, self.switch, *self.radios, self.entry_field,
            self.password, self.slider_scale, self.spin_button, self.combo_box, self.progress_bar, self.expander_box,
            self.target, self.button("Enable/Disable", self.sensitivity), self.button("Dialog", self.dialog),
        ):  # fmt: skip
            column.append(widget)
        return column

    def pages(self) -> Gtk.Notebook:
        self.notebook = Gtk.Notebook(hexpand=True)
        for page, name in zip((self.list_page(), self.table_page(), self.text_page()), TABS):
            self.notebook.append_page(page, Gtk.Label(label=name))
        return self.notebook

    def list_page(self) -> Gtk.Box:
        page = Gtk.Box(orientation=Gtk.Orientation.VERTICAL)
        buttons = Gtk.Box()
        for name, act in (
            ("Add", self.add_row), ("Remove", self.remove_row), ("Rename", self.rename_row), ("Reorder", self.reorder_rows)
        ):  # fmt: skip
            buttons.append(self.button(name, act))
        self.list_box = named(Gtk.ListBox(), "Rows")
        page.append(buttons)
        page.append(Gtk.ScrolledWindow(child=self.list_box, vexpand=True))
        for _ in range(3):
            self.add_row(0)
        return page

    def table_page(self) -> Gtk.ScrolledWindow:
        self.model = Gtk.StringList.new([f"r{row}\tv{row}" for row in range(20)])
        view = named(Gtk.ColumnView(model=Gtk.NoSelection.new(self.model)), "Table")
        for column, title in enumerate(("Key", "Value")):
            factory = Gtk.SignalListItemFactory()
            factory.connect("setup", lambda _, item: item.set_child(Gtk.Label()))
            factory.connect("bind", fill_cell, column)
            view.append_column(Gtk.ColumnViewColumn(title=title, factory=factory))
        return Gtk.ScrolledWindow(child=view)

    def text_page(self) -> Gtk.ScrolledWindow:
        self.text = named(Gtk.TextView(), "Notes")
        self.text.get_buffer().set_text("first line\nsecond line")
        return Gtk.ScrolledWindow(child=self.text)

    # What storms and buttons do, where it is done otherwise than in the other GTK.

    def add_row(self, n: int) -> None:
        self.made += 1
        row = Gtk.ListBoxRow(child=Gtk.Label(label=f"row {self.made}"))
        at = n % (len(self.rows) + 1) if n else len(self.rows)
        self.list_box.insert(row, at)
        self.rows.insert(at, row)

    def remove_row(self, n: int) -> None:
        if self.rows:
            self.list_box.remove(self.rows.pop(n % len(self.rows)))

    def combo(self, n: int) -> None:
        self.combo_box.set_selected(n % 3)

    def chosen(self) -> int:
        return self.combo_box.get_selected()

    def cell(self, n: int) -> None:
        self.model.splice(n % 20, 1, [f"r{n % 20}\tv{n % 1000}"])

    def cells(self) -> list[str]:
        return [self.model.get_string(row).split("\t")[1] for row in range(20)]


def fill_cell(_: Any, item: Gtk.ListItem, column: int) -> None:
    item.get_child().set_text(item.get_item().get_string().split("\t")[column])


def main() -> None:
    args = storm.options("The test app in GTK 4.")
    GLib.set_prgname("axd-test-gtk4")
    app = Gtk.Application(application_id="org.axd.TestGtk4", flags=Gio.ApplicationFlags.NON_UNIQUE)
    app.connect("activate", lambda app: gtk_both.have_weather(Window(app), args))
    app.run()


if __name__ == "__main__":
    main()
