"""Apps that keep a record of what they got (apps/record.py, apps/record.html), so that axd's word can be held against theirs."""

from __future__ import annotations

import http.server
import json
import shutil
import subprocess
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from trials import HERE, Skipped, Trial

KITS = ("gtk3", "gtk4", "qt6", "chromium")
PROBES = {
    "gtk3": "import gi; gi.require_version('Gtk', '3.0')",
    "gtk4": "import gi; gi.require_version('Gtk', '4.0')",
    "qt6": "import PyQt6.QtWidgets",
}


class Recorder:
    """An app, and its record. Which one is the name of its files in `apps`; these elements are there when it is up."""

    program = "record"
    elements = ("textarea:Notes", "button:B7")

    def __init__(self, trial: Trial, kit: str, title: str) -> None:
        self.trial, self.kit, self.title = trial, kit, title
        self.file = Path.home() / f"{title}.record"
        self.file.touch()
        if kit == "chromium":
            if not shutil.which("chromium"):
                raise Skipped("chromium is not installed")
            self.server = serve(self.file, HERE / f"apps/{self.program}.html")
            address = f"http://127.0.0.1:{self.server.server_address[1]}/#{title}"
            profile = Path.home() / f"{title}.profile"
            self.process = subprocess.Popen(
                ["chromium", "--no-sandbox", "--no-first-run", "--disable-background-networking", "--disable-component-update",
                 "--disable-sync", "--disable-gpu", "--disable-extensions", "--password-store=basic", "--force-renderer-accessibility",
                 "--window-size=460,640", f"--user-data-dir={profile}", f"--app={address}"],
                stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            )  # fmt: skip
        else:
            if subprocess.run(["/usr/bin/python3", "-c", PROBES[kit]], capture_output=True).returncode:
                raise Skipped(f"{kit} is not installed (scripts/install-desktop)")
            command = [HERE / f"apps/{self.program}.py", kit, title, self.file]
            pipe = subprocess.PIPE
            self.process = subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL, text=True)
            assert self.process.stdout and self.process.stdout.readline() == "ready\n"
        trial.ok("wait", "--window", title, "--timeout", "40000")
        windows = trial.ok("list-windows", "--filter", title)["data"]["windows"]
        self.app = str(windows[0]["pid"])
        wanted = [word for element in self.elements for word in ("--for", element)]
        trial.ok("wait", *wanted, "--app", self.app, "--timeout", "40000")

    def lines(self) -> list[tuple[str, str, Any]]:
        """What it got so far, in order: what, of which widget, and what that holds then."""
        got = []
        for line in self.file.read_text().splitlines():
            what, name, value = line.split(" ", 2)
            got.append((what, name, json.loads(value)))
        return got

    def popup(self) -> None:
        """Has the app open its popup, or close it, without waiting for that."""
        assert self.process.stdin
        self.process.stdin.write("\n")
        self.process.stdin.flush()

    def popup_is(self, word: str) -> None:
        """Waits until the popup is `open` or `closed`."""
        assert self.process.stdout
        told = self.process.stdout.readline()
        assert told == f"{word}\n", told

    def holds(self, name: str) -> str:
        """What a field holds, by its own record."""
        return next((value for what, of, value in reversed(self.lines()) if (what, of) == ("text", name)), "")

    def quiet(self) -> None:
        """Waits until the app has taken in all that it was sent."""
        self.trial.ok("wait", "--idle", "--app", self.app, "--timeout", "20000")

    def until(self, is_so: Callable[[], bool]) -> bool:
        """Whether something comes to be so of its record: a page tells it a little later."""
        end = time.monotonic() + 20
        while not is_so() and time.monotonic() < end:
            self.quiet()
        return is_so()


def serve(record: Path, file: Path) -> http.server.ThreadingHTTPServer:
    """Serves the page, and writes down what it tells."""
    page = file.read_bytes()

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.answer(page, "text/html")

        def do_POST(self) -> None:
            line = self.rfile.read(int(self.headers["Content-Length"]))
            with record.open("ab") as file:
                file.write(line)
            self.answer(b"", "text/plain")

        def answer(self, body: bytes, kind: str) -> None:
            self.send_response(200)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: Any) -> None:
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server
