"""Storms: seeded sequences of changes to an app's widgets, the same in every toolkit.

An app implements `Widgets` and hands itself to `run`, with its toolkit's timer. Each change is a verb and a number; the
number says which row, which tab, how far. So a storm is a function of its seed, and two runs end in the same state,
which `quiet` proves by printing it. `page.html` has the same generator in JavaScript.

What every app says on stdout, one line each:
    ready                         its window is up
    quiet {"seed":…,"steps":…,"state":{…}}   a storm is over and all that it caused has been handled
"""

from __future__ import annotations

import argparse
import json
import os
import signal
from collections.abc import Callable, Iterator
from typing import Any, Protocol

# Rows come and go more often than anything else: structure is what is hardest to keep true.
VERBS = (
    "add_row", "add_row", "add_row", "remove_row", "remove_row", "rename_row", "rename_row", "reorder_rows",
    "count", "check", "toggle", "radio", "entry", "notes", "slider", "spin", "combo", "tab",
    "sensitivity", "dialog", "progress", "expander", "cell",
)  # fmt: skip


class Widgets(Protocol):
    """What a storm can do to an app; `n` is a random number that chooses among the possibilities."""

    def add_row(self, n: int) -> None: ...
    def remove_row(self, n: int) -> None: ...
    def rename_row(self, n: int) -> None: ...
    def reorder_rows(self, n: int) -> None: ...
    def count(self, n: int) -> None: ...
    def check(self, n: int) -> None: ...
    def toggle(self, n: int) -> None: ...
    def radio(self, n: int) -> None: ...
    def entry(self, n: int) -> None: ...
    def notes(self, n: int) -> None: ...
    def slider(self, n: int) -> None: ...
    def spin(self, n: int) -> None: ...
    def combo(self, n: int) -> None: ...
    def tab(self, n: int) -> None: ...
    def sensitivity(self, n: int) -> None: ...
    def dialog(self, n: int) -> None:
        """Opens the dialog, or closes it if it is open."""

    def progress(self, n: int) -> None: ...
    def expander(self, n: int) -> None: ...
    def cell(self, n: int) -> None: ...
    def close_dialog(self) -> None:
        """Called at the end: a storm leaves no dialog open."""

    def state(self) -> dict[str, Any]:
        """All that a storm can change."""


def numbers(seed: int) -> Iterator[int]:
    """A linear congruential generator, high bits only; 31 bits, so that JavaScript can do it too."""
    x = seed & 0x7FFFFFFF
    while True:
        x = (x * 1103515245 + 12345) & 0x7FFFFFFF
        yield x >> 8


def changes(seed: int, steps: int) -> Iterator[tuple[str, int]]:
    source = numbers(seed)
    for _ in range(steps):
        verb = VERBS[next(source) % len(VERBS)]
        yield verb, next(source)


def say(line: str) -> None:
    print(line, flush=True)


def options(description: str) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--storm", type=int, metavar="N", help="start with a storm of N changes")
    parser.add_argument("--seed", type=int, default=1, help="of the first storm; each further one takes the next")
    parser.add_argument("--steps", type=int, default=200, metavar="N", help="changes per storm asked for by SIGUSR1")
    parser.add_argument("--pace-ms", type=int, default=3, help="time between changes")
    parser.add_argument("--once", action="store_true", help="end after the first storm")
    parser.add_argument("--big", action="store_true", help="with a table of 5,000 rows (GTK 3 and Qt only)")
    return parser.parse_args()


class Weather:
    """Runs storms on an app: by its options at the start, and on every SIGUSR1."""

    def __init__(
        self,
        widgets: Widgets,
        args: argparse.Namespace,
        after: Callable[[int, Callable[[], None]], None],
        when_idle: Callable[[Callable[[], None]], None],
    ) -> None:
        self.widgets, self.args, self.after, self.when_idle = widgets, args, after, when_idle
        self.seed, self.busy, self.asked = args.seed, False, 0

    def started(self) -> None:
        say("ready")
        if self.args.storm:
            self.begin(self.args.storm)

    def asked_for(self) -> None:
        """SIGUSR1. One that comes during a storm is kept for after it."""
        if self.busy:
            self.asked += 1
        else:
            self.begin(self.args.steps)

    def begin(self, steps: int) -> None:
        self.busy = True
        self.step(changes(self.seed, steps), steps)

    def step(self, rest: Iterator[tuple[str, int]], steps: int) -> None:
        for verb, n in rest:
            getattr(self.widgets, verb)(n)
            self.after(self.args.pace_ms, lambda: self.step(rest, steps))
            return
        self.widgets.close_dialog()
        self.when_idle(lambda: self.end(steps))

    def end(self, steps: int) -> None:
        state = {"seed": self.seed, "steps": steps, "state": self.widgets.state()}
        say("quiet " + json.dumps(state, sort_keys=True))
        if self.args.once:
            os._exit(0)  # from within a toolkit's callback, nothing gentler ends the process
        self.seed, self.busy = self.seed + 1, False
        if self.asked:
            self.asked -= 1
            self.begin(self.args.steps)


def on_sigusr1(act: Callable[[], None]) -> None:
    """For toolkits without a way of their own; the interpreter must get to run now and then."""
    signal.signal(signal.SIGUSR1, lambda *_: act())
