#!/usr/bin/python3
"""A window with a text area that has the focus, and tells in its title what it holds: `echo` and the text's UTF-8 in hex.

echo.py gtk3|gtk4|qt6
"""

from __future__ import annotations

import sys


def title(text: str) -> str:
    return f"echo {text.encode('utf-8', 'surrogatepass').hex()}"


def gtk3() -> None:
    import gi

    gi.require_version("Gtk", "3.0")
    from gi.repository import Gtk

    window = Gtk.Window(title=title(""), default_width=420, default_height=240)
    view = Gtk.TextView()
    buffer = view.get_buffer()
    buffer.connect("changed", lambda b: window.set_title(title(b.get_text(*b.get_bounds(), True))))
    window.add(view)
    window.connect("destroy", Gtk.main_quit)
    window.show_all()
    view.grab_focus()
    Gtk.main()


def gtk4() -> None:
    import gi

    gi.require_version("Gtk", "4.0")
    from gi.repository import GLib, Gtk

    window = Gtk.Window(title=title(""), default_width=420, default_height=240)
    view = Gtk.TextView()
    buffer = view.get_buffer()
    buffer.connect("changed", lambda b: window.set_title(title(b.get_text(*b.get_bounds(), True))))
    window.set_child(view)
    loop = GLib.MainLoop()
    window.connect("close-request", lambda _: loop.quit())
    window.present()
    view.grab_focus()
    loop.run()


def qt6() -> None:
    from PyQt6.QtWidgets import QApplication, QPlainTextEdit

    app = QApplication(sys.argv[:1])
    view = QPlainTextEdit()
    view.resize(420, 240)
    view.setWindowTitle(title(""))
    view.textChanged.connect(lambda: view.setWindowTitle(title(view.toPlainText())))
    view.show()
    view.setFocus()
    app.exec()


if __name__ == "__main__":
    {"gtk3": gtk3, "gtk4": gtk4, "qt6": qt6}[sys.argv[1]]()
