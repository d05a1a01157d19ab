"""What trials on real apps share: a desktop and a daemon for each, and what is asked of it.

Nothing here waits for a time: trials wait for what axd pushes.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
APP = "gtk3.py"
LIMIT_S = 60


# The exit status of a trial that cannot run here.
SKIPPED = 77


class Skipped(Exception):
    """Why a trial cannot run here."""


def run(
    trials: list[Callable[[Any], None]], about: str, script: str, extra: dict[str, str] | None = None, limit_s: int = LIMIT_S,
    kind: Callable[[Path, Path], Any] | None = None,
) -> int:
    """Runs trials, each in a desktop of its own, on what `kind` makes. `extra` are those that need more than scripts/install-desktop installs, and which program."""
    parser = argparse.ArgumentParser(description=about)
    parser.add_argument("--ax", required=True, type=Path)
    parser.add_argument("--axd", required=True, type=Path)
    parser.add_argument("--only", action="append", metavar="NAME")
    if extra:
        parser.add_argument("--extra", action="store_true", help="also what scripts/install-desktop does not install: " + ", ".join(sorted(set(extra.values()))))
    parser.add_argument("--inside", help=argparse.SUPPRESS)
    args = parser.parse_args()
    known = {trial.__name__: trial for trial in trials}
    if args.inside:
        try:
            known[args.inside]((kind or Trial)(args.ax, args.axd))
        except Skipped as why:
            print(why)
            return SKIPPED
        return 0
    if unknown := set(args.only or ()) - set(known):
        parser.error(f"there is no {', '.join(unknown)}; there are: {', '.join(known)}")
    passed = failed = skipped = 0
    for name in args.only or known:
        words, program = name.replace("_", " "), (extra or {}).get(name)
        if program and not args.only and not args.extra:
            continue
        if program and not shutil.which(program):
            status, told = SKIPPED, f"{program} is not installed (scripts/install-desktop --extra)"
        else:
            status, told = in_a_desktop(name, script, args, limit_s)
        if status == 0:
            passed += 1
            print(f"ok {words}", flush=True)
        elif status == SKIPPED:
            skipped += 1
            print(f"skipped {words}: {told.strip()}", flush=True)
        else:
            failed += 1
            print(f"FAILED {words}\n{told}", flush=True)
    print(f"{passed} passed, {failed} failed" + (f", {skipped} skipped" if skipped else ""))
    return 1 if failed else 0


def in_a_desktop(name: str, script: str, args: argparse.Namespace, limit_s: int) -> tuple[int, str]:
    """Runs one trial; how it ended, and what it said."""
    desktop = HERE.parent.parent / "scripts" / "desktop"
    command = [desktop, script, "--ax", args.ax.resolve(), "--axd", args.axd.resolve(), "--inside", name]
    try:
        ran = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=limit_s)
    except subprocess.TimeoutExpired as late:
        return 1, f"it did not end within {limit_s} s\n{(late.stdout or b'').decode(errors='replace')}"
    return ran.returncode, ran.stdout.decode(errors="replace")


class Trial:
    """A daemon and what is asked of it."""

    def __init__(self, ax: Path, axd: Path) -> None:
        self.ax, self.axd = ax, axd
        os.environ["AXD_BIN"] = str(axd)

    def run(self, *words: str, stdin: str | None = None) -> dict[str, Any]:
        told = subprocess.run([self.ax, "--json", *words], capture_output=True, text=True, input=stdin)
        assert told.stdout, f"ax {' '.join(words)}: exit {told.returncode}: {told.stderr}"
        return json.loads(told.stdout)

    def ok(self, *words: str) -> dict[str, Any]:
        answer = self.run(*words)
        assert answer["ok"], answer
        return answer

    def error(self, *words: str) -> str:
        return self.failure(*words)["code"]

    def failure(self, *words: str) -> dict[str, Any]:
        answer = self.run(*words)
        assert not answer["ok"], answer
        return answer["error"]

    def id_of(self, selector: str, app: str = APP) -> str:
        return self.ok("find", selector, "--app", app, "--first")["data"]["matches"][0]["id"]

    def events(self, *words: str) -> Iterator[dict[str, Any]]:
        """What axd pushes, from the moment the subscription stands."""
        stream = subprocess.Popen([self.ax, "--json", "subscribe", *words], stdout=subprocess.PIPE, text=True)
        assert stream.stdout and json.loads(stream.stdout.readline())["ok"]
        return (json.loads(line) for line in stream.stdout)


def start(name: str = APP, *words: str) -> subprocess.Popen[str]:
    """Starts one of our apps; returns when it is up."""
    app = subprocess.Popen([HERE / "apps" / name, *words], stdout=subprocess.PIPE, text=True)
    assert app.stdout and app.stdout.readline().startswith("ready")
    return app


def until(events: Iterator[dict[str, Any]], wanted: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
    return next(event for event in events if wanted(event))
