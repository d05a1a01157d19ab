#!/usr/bin/python3
"""Another app at the clipboard, in GTK 3. Says `ready` when it owns it; stays until it is killed.

clip.py own text TEXT TIMES     owns TEXT, so many times over
clip.py own secret TEXT         the same, marked as a password manager does
clip.py own image WIDTH         owns a square image
clip.py own files PATH…         owns a list of files
clip.py own bmp                 owns an image in a form that is not PNG
clip.py read text|image|files   prints what is there in JSON: the text, the image's size, the paths
"""

from __future__ import annotations

import json
import random
import sys

import gi

gi.require_version("Gdk", "3.0")
gi.require_version("Gtk", "3.0")
from gi.repository import Gdk, GdkPixbuf, GLib, Gtk  # noqa: E402

clipboard = Gtk.Clipboard.get(Gdk.SELECTION_CLIPBOARD)


def own(kind: str, *values: str) -> None:
    if kind == "text":
        clipboard.set_text(values[0] * int(values[1]), -1)
    elif kind == "image":
        size = int(values[0])
        data = GLib.Bytes.new(random.Random(1).randbytes(size * size * 3))
        clipboard.set_image(
            GdkPixbuf.Pixbuf.new_from_bytes(data, GdkPixbuf.Colorspace.RGB, False, 8, size, size, size * 3)
        )
    else:
        serve(kind, values)
    print("ready", flush=True)
    Gtk.main()


def serve(kind: str, values: tuple[str, ...]) -> None:
    """Kinds that the clipboard's own calls do not know: by a widget that answers requests for them."""
    names = {
        "secret": ["UTF8_STRING", "x-kde-passwordManagerHint"],
        "files": ["text/uri-list"],
        "bmp": ["image/bmp"],
    }[kind]
    serve.widget = Gtk.Invisible()

    def get(_widget: Gtk.Widget, data: Gtk.SelectionData, _info: int, _time: int) -> None:
        target = data.get_target().name()
        if target == "text/uri-list":
            data.set_uris([GLib.filename_to_uri(path) for path in values])
        elif target == "x-kde-passwordManagerHint":
            data.set(data.get_target(), 8, b"secret")
        elif target == "image/bmp":
            data.set(data.get_target(), 8, b"BM")
        else:
            data.set_text(values[0], -1)

    serve.widget.connect("selection-get", get)
    for name in names:
        Gtk.selection_add_target(serve.widget, Gdk.SELECTION_CLIPBOARD, Gdk.Atom.intern(name, False), 0)
    Gtk.selection_owner_set(serve.widget, Gdk.SELECTION_CLIPBOARD, 0)


def read(kind: str) -> None:
    if kind == "text":
        answer = clipboard.wait_for_text()
    elif kind == "image":
        image = clipboard.wait_for_image()
        answer = image and [image.get_width(), image.get_height()]
    else:
        uris = clipboard.wait_for_uris()
        answer = uris and [GLib.filename_from_uri(uri)[0] for uri in uris]
    print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    {"own": own, "read": read}[sys.argv[1]](*sys.argv[2:])
