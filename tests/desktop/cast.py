"""The apps that tests/desktop/fidelity looks at, and how a person would use them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent


@dataclass
class App:
    """An app to look at: how it is started, and how a person would use it."""

    name: str
    command: list[str]
    # Ours say when they are up and when they are quiet.
    ours: bool = False
    # Roles it is safe to click anywhere, and names never to click.
    clicks: tuple[str, ...] = ("checkbox", "togglebutton", "radio", "tab", "switch")
    spare: tuple[str, ...] = ()
    # Buttons (and the like) to press, by name and in this order, at the end of the storm from outside.
    buttons: tuple[str, ...] = ()
    # Role of the first field to type into.
    types_into: str | None = "textfield"
    # Keys to press at the end of that: a second window, another place.
    keys: tuple[str, ...] = ()
    # Made with a toolkit that announces neither new rows nor new numbers: axd has to look by itself, so it may be later.
    mute: bool = False
    needs: str = ""
    limit_s: int = 90
    # The name of something without which it is not up yet: some come to the bus before they have anything to show.
    shows: str = ""
    # Too large to be installed for every run of the tests: looked at only when it is named, or all are asked for.
    extra: bool = False


OURS = ("Press", "Add", "Rename", "Reorder", "Remove", "Enable/Disable", "Add")
CHROMIUM = [
    "chromium", "--no-sandbox", "--no-first-run", "--no-default-browser-check", "--disable-background-networking",
    "--disable-component-update", "--disable-sync", "--disable-gpu", "--disable-extensions", "--password-store=basic",
    "--force-renderer-accessibility", "--window-size=1000,780", "--window-position=0,0",
    "--user-data-dir={tmp}/chromium", f"file://{HERE}/apps/page.html",
]  # fmt: skip
FIREFOX = ["firefox-esr", "--no-remote", "--new-instance", "--profile", "{tmp}/firefox", f"file://{HERE}/apps/page.html"]
OFFICE = ["soffice", "--norestore", "--nologo", "-env:UserInstallation=file://{tmp}/office"]
YAD_LIST = ["yad", "--list", "--title=Choose", "--width=400", "--height=300", "--checklist", "--column=Take",
    "--column=Fruit", "--column=Kilos:NUM", *[word for n in range(12) for word in ("FALSE", f"fruit {n}", str(n))]]  # fmt: skip
# A page with nothing on it.
PDF = """%PDF-1.4
1 0 obj
<</Type/Catalog/Pages 2 0 R>>
endobj
2 0 obj
<</Type/Pages/Kids[3 0 R]/Count 1>>
endobj
3 0 obj
<</Type/Page/Parent 2 0 R/MediaBox[0 0 300 200]>>
endobj
trailer
<</Root 1 0 R/Size 4>>
%%EOF
"""
YAD_FORM = ["yad", "--form", "--title=Form", "--field=Name", "--field=Age:NUM", "--field=Agree:CHK",
    "--field=Colour:CB", "--field=Secret:H", "--field=Level:SCL", "Ann", "42!0..100", "TRUE", "red!green!blue", "pw", "50"]  # fmt: skip

APPS = [
    App("gtk3", [f"{HERE}/apps/gtk3.py", "--big"], ours=True, buttons=OURS, needs="gir1.2-gtk-3.0"),
    App("gtk4", [f"{HERE}/apps/gtk4.py"], ours=True, mute=True, buttons=OURS, needs="gir1.2-gtk-4.0"),
    App("qt6", [f"{HERE}/apps/qt6.py"], ours=True, mute=True, buttons=OURS, needs="python3-pyqt6"),
    App("page", CHROMIUM, buttons=(*OURS, "Storm"), types_into=None, clicks=("checkbox", "radio"), needs="chromium"),
    App("gtk3-widget-factory", ["gtk3-widget-factory"], clicks=("checkbox", "radio"), spare=("Page 1", "Page 2", "Page 3"),
        buttons=("Page 2", "Page 1"), needs="gtk-3-examples"),
    App("mousepad", ["mousepad", "--disable-server"], clicks=(), types_into="textarea", needs="mousepad"),
    App("gtk4-demo", ["gtk4-demo"], clicks=("tab", "listitem"), types_into=None, mute=True, needs="gtk-4-examples"),
    App("yad-dialog", ["yad", "--title=Ask", "--text=Are you sure?", "--button=Yes:0", "--button=No:1"],
        clicks=(), types_into=None, needs="yad"),
    App("yad-form", YAD_FORM, needs="yad"),
    App("yad-list", YAD_LIST, clicks=("cell",), types_into=None, needs="yad"),
    App("qt5", [f"{HERE}/apps/qt5.py"], ours=True, mute=True, buttons=OURS, needs="python3-pyqt5", extra=True),
    App("firefox", FIREFOX, buttons=(*OURS, "Storm"), types_into=None, clicks=("checkbox", "radio"), shows="Press", needs="firefox-esr", extra=True),
    # Made by others, with every toolkit.
    App("thunar", ["thunar", "{files}"], clicks=("cell", "image"), types_into=None, keys=("ctrl+n", "Down", "Down"), needs="thunar", extra=True),
    App("gedit", ["gedit", "--standalone"], clicks=(), types_into="textarea", keys=("ctrl+n", "ctrl+f"), needs="gedit", extra=True),
    App("galculator", ["galculator"], clicks=(), types_into=None, buttons=("1", "+", "2", "="), needs="galculator", extra=True),
    App("evince", ["evince", "{files}/page.pdf"], clicks=(), types_into=None, needs="evince", extra=True),
    App("gtk3-demo", ["gtk3-demo"], clicks=("cell", "tab"), types_into=None, needs="gtk-3-examples"),
    App("xfce4-terminal", ["xfce4-terminal", "--disable-server"], clicks=(), types_into="textarea", needs="xfce4-terminal", extra=True),
    App("gnome-calculator", ["gnome-calculator"], clicks=(), types_into=None, mute=True, buttons=("1", "+", "2", "="), needs="gnome-calculator", extra=True),
    App("gtk4-widget-factory", ["gtk4-widget-factory"], clicks=("checkbox", "radio"), types_into=None, mute=True, needs="gtk-4-examples", extra=True),
    App("kcalc", ["kcalc"], clicks=(), types_into=None, mute=True, buttons=("1", "2", "3"), needs="kcalc", extra=True),
    App("featherpad", ["featherpad", "--standalone"], clicks=("tab",), types_into="textarea", mute=True, keys=("ctrl+n", "ctrl+f"), needs="featherpad", extra=True),
    App("pcmanfm-qt", ["pcmanfm-qt", "--profile=test", "{files}"], clicks=("listitem", "treeitem"), types_into=None, mute=True, keys=("ctrl+n", "Down", "alt+Up"),
        needs="pcmanfm-qt", extra=True),
    App("writer", OFFICE + ["--writer"], clicks=(), types_into=None, keys=("H", "ctrl+k"), limit_s=240, needs="libreoffice-writer libreoffice-gtk3", extra=True),
]  # fmt: skip
