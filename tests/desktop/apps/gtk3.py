#!/usr/bin/python3
"""The test app in GTK 3. See storm.py for what it does and says; the widgets are the same in every toolkit."""

from __future__ import annotations

import gi

gi.require_version("Gtk", "3.0")
from gi.repository import GLib, Gtk  # noqa: E402

import gtk_both  # noqa: E402
import storm  # noqa: E402

TABS = ("List", "Table", "Text", "Big")


def named(widget: Gtk.Widget, name: str) -> Gtk.Widget:
    widget.get_accessible().set_name(name)
    return widget


class Window(gtk_both.Window):
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

    # What storms and buttons do, where it is done otherwise than in the other GTK.

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

    def combo(self, n: int) -> None:
        self.combo_box.set_active(n % 3)

    def chosen(self) -> int:
        return self.combo_box.get_active()

    def cell(self, n: int) -> None:
        self.store[n % 20][1] = f"v{n % 1000}"

    def cells(self) -> list[str]:
        return [row[1] for row in self.store]


def scrolled(child: Gtk.Widget) -> Gtk.ScrolledWindow:
    area = Gtk.ScrolledWindow()
    area.add(child)
    return area


def main() -> None:
    args = storm.options("The test app in GTK 3.")
    GLib.set_prgname("axd-test-gtk3")
    gtk_both.have_weather(Window(args.big), args)
    Gtk.main()


if __name__ == "__main__":
    main()
