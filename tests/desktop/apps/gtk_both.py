"""What the test apps in GTK 3 and GTK 4 have in common: what storms and buttons do to widgets that are called alike in both.

Whoever imports this has said which GTK it is.
"""

from __future__ import annotations

import signal
from typing import Any

from gi.repository import GLib, Gtk

import storm


class Window:
    """A window of the test app. Each GTK makes its own widgets."""

    def button(self, name: str, act: Any) -> Gtk.Button:
        button = Gtk.Button(label=name)
        button.connect("clicked", lambda *_: act(0))
        return button

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
        self.box.present()

    def close_dialog(self) -> None:
        if self.box:
            self.box.destroy()
            self.box = None

    def progress(self, n: int) -> None:
        self.progress_bar.set_fraction(n % 101 / 100)

    def expander(self, n: int) -> None:
        self.expander_box.set_expanded(not self.expander_box.get_expanded())

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
            "combo": self.chosen(),
            "tab": self.notebook.get_current_page(),
            "sensitive": self.target.get_sensitive(),
            "progress": round(self.progress_bar.get_fraction(), 2),
            "expanded": self.expander_box.get_expanded(),
            "cells": self.cells(),
        }


def once(act: Any) -> bool:
    act()
    return GLib.SOURCE_REMOVE


def have_weather(window: Window, args: Any) -> None:
    """Has a window hit by storms, when they are asked for."""
    weather = storm.Weather(
        window,
        args,
        after=lambda ms, act: GLib.timeout_add(ms, once, act),
        when_idle=lambda act: GLib.idle_add(once, act, priority=GLib.PRIORITY_LOW),
    )
    GLib.unix_signal_add(GLib.PRIORITY_DEFAULT, signal.SIGUSR1, lambda: weather.asked_for() or GLib.SOURCE_CONTINUE)
    GLib.idle_add(once, weather.started, priority=GLib.PRIORITY_LOW)
