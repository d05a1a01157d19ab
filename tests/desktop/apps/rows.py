#!/usr/bin/python3
"""Views of GTK 4 that have more rows than they have elements for: a list, a grid and a table of 5,000 rows each, and a list and a list box
that show all of theirs. They print `ready` when they are up."""

from __future__ import annotations

import gi

gi.require_version("Gtk", "4.0")
from gi.repository import GLib, Gtk  # noqa: E402


def factory(prefix: str) -> Gtk.SignalListItemFactory:
    made = Gtk.SignalListItemFactory()
    made.connect("setup", lambda _, item: item.set_child(Gtk.Label()))
    made.connect("bind", lambda _, item: item.get_child().set_text(prefix + item.get_item().get_string()))
    return made


def rows(count: int) -> Gtk.NoSelection:
    return Gtk.NoSelection.new(Gtk.StringList.new([str(number) for number in range(count)]))


def boxed(count: int) -> Gtk.ListBox:
    box = Gtk.ListBox()
    for number in range(count):
        box.append(Gtk.Label(label=f"box {number}"))
    return box


def table() -> Gtk.ColumnView:
    view = Gtk.ColumnView.new(rows(5000))
    for title in ("a", "b"):
        view.append_column(Gtk.ColumnViewColumn.new(title, factory(f"{title} ")))
    return view


def show(app: Gtk.Application) -> None:
    window = Gtk.ApplicationWindow(application=app, title="Rows", default_width=900, default_height=500)
    views = Gtk.Box(homogeneous=True)
    grid = Gtk.GridView.new(rows(5000), factory("grid "))
    for view in (Gtk.ListView.new(rows(5000), factory("list ")), grid, table(), Gtk.ListView.new(rows(150), factory("few ")), boxed(250)):
        scrolled = Gtk.ScrolledWindow()
        scrolled.set_child(view)
        views.append(scrolled)
    window.set_child(views)
    window.present()
    GLib.idle_add(lambda: print("ready", flush=True))


app = Gtk.Application(application_id="org.axd.rows")
app.connect("activate", show)
app.run([])
