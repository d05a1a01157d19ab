"""What trials on real apps share: each gets a desktop and a daemon of its own, and waits for what axd pushes, never for a time."""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
GTK3 = "gtk3.py"
LIMIT_S = 60


def main(script: str, about: str, trials: list[Callable[[Trial], None]], limit_s: int = LIMIT_S) -> int:
    """Runs trials by their names, each inside a desktop of its own; 0 if all passed."""
    named = {trial.__name__: trial for trial in trials}
    parser = argparse.ArgumentParser(description=about.splitlines()[0])
    parser.add_argument("--ax", required=True, type=Path)
    parser.add_argument("--axd", required=True, type=Path)
    parser.add_argument("--only", action="append", choices=named, metavar="NAME")
    parser.add_argument("--inside", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.inside:
        try:
            named[args.inside](Trial(args.ax, args.axd))
        except Skipped as why:
            print(f"skipped: {why}")
            return SKIPPED
        return 0
    passed = failed = skipped = 0
    for name in args.only or named:
        status, said = in_a_desktop(script, name, args, limit_s)
        passed, failed, skipped = passed + (status == 0), failed + (status not in (0, SKIPPED)), skipped + (status == SKIPPED)
        words = name.replace("_", " ")
        verdict = {0: f"ok {words}", SKIPPED: f"skipped {words}: {said.strip().removeprefix('skipped: ')}"}
        print(verdict.get(status, f"FAILED {words}\n{said}"), flush=True)
    print(f"{passed} passed, {failed} failed" + (f", {skipped} skipped" if skipped else ""))
    return 1 if failed else 0


# The exit status of a trial that cannot run here.
SKIPPED = 77


class Skipped(Exception):
    """Why a trial cannot run here."""


def in_a_desktop(script: str, name: str, args: argparse.Namespace, limit_s: int) -> tuple[int, str]:
    """Runs one trial; how it ended, and what it said."""
    command = [ROOT / "scripts/desktop", script, "--ax", args.ax.resolve(), "--axd", args.axd.resolve(), "--inside", name]
    try:
        ran = subprocess.run(command, capture_output=True, text=True, timeout=limit_s)
    except subprocess.TimeoutExpired as late:
        said = b"".join(part if isinstance(part, bytes) else (part or "").encode() for part in (late.stdout, late.stderr))
        return 1, f"it did not end within {limit_s} s\n{said.decode(errors='replace')}"
    return ran.returncode, ran.stdout + ran.stderr


class Trial:
    """A daemon and what is asked of it."""

    def __init__(self, ax: Path, axd: Path) -> None:
        self.ax, self.axd = ax, axd
        os.environ["AXD_BIN"] = str(axd)

    def run(self, *words: str) -> dict[str, Any]:
        told = subprocess.run([self.ax, "--json", *words], capture_output=True, text=True)
        assert told.stdout, f"ax {' '.join(words)}: exit {told.returncode}: {told.stderr}"
        return json.loads(told.stdout)

    def ok(self, *words: str) -> dict[str, Any]:
        answer = self.run(*words)
        assert answer["ok"], answer
        return answer

    def error(self, *words: str) -> str:
        answer = self.run(*words)
        assert not answer["ok"], answer
        return answer["error"]["code"]

    def id_of(self, selector: str, app: str = GTK3) -> str:
        return self.ok("find", selector, "--app", app, "--first")["data"]["matches"][0]["id"]

    def events(self, *words: str) -> Iterator[dict[str, Any]]:
        """What axd pushes, from the moment the subscription stands."""
        stream = subprocess.Popen([self.ax, "--json", "subscribe", *words], stdout=subprocess.PIPE, text=True)
        assert stream.stdout and json.loads(stream.stdout.readline())["ok"]
        return (json.loads(line) for line in stream.stdout)


def start(name: str = GTK3) -> subprocess.Popen[str]:
    """Starts one of our apps; returns when it is up."""
    app = subprocess.Popen([HERE / "apps" / name], stdout=subprocess.PIPE, text=True)
    assert app.stdout and app.stdout.readline().startswith("ready")
    return app


def until(events: Iterator[dict[str, Any]], wanted: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
    return next(event for event in events if wanted(event))
