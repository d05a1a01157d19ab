#!/usr/bin/python3
"""Compares what axd says of an app with what the oracle says: same elements, parents, order, names, roles, states, values.

    compare.py --oracle tree.json --ax snapshot.json      two files
    compare.py --app NAME [--ax-bin PATH]                 a live app: walks it, and asks ax for a snapshot

Exits 0 if they agree, 1 if not (the first differences are printed), 2 if one of them could not be had. Differences that
are allowed are in ALLOWED, each with its reason; nothing else is forgiven. Compare only what is quiet: two readers of a
changing app differ by right.
"""

from __future__ import annotations

import argparse
import difflib
import json
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import oracle

Tree = dict[str, Any]
FIELDS = ("role", "name", "value", "description", "native_role", "states", "actions")


@dataclass
class Difference:
    """One disagreement about one element, or an element only one of the two has."""

    where: str
    what: str
    oracle: Any
    axd: Any

    def __str__(self) -> str:
        return f"{self.where}\n    {self.what}: the app says {shown(self.oracle)}, axd says {shown(self.axd)}"


@dataclass
class Verdict:
    differences: list[Difference] = field(default_factory=list)
    allowed: Counter[str] = field(default_factory=Counter)
    nodes: int = 0
    # Object path -> (id, role, name, index) of every element that both have.
    ids: dict[str, tuple[str, str, str | None, int]] = field(default_factory=dict)

    def kinds(self) -> Counter[str]:
        return Counter(difference.what.split(":")[0] for difference in self.differences)


# The differences that are not bugs: a test of (field, oracle's node, axd's node), and why. Applied only where the two
# differ. Containers that axd shows in part are handled in `children_pairs`, secure fields by the oracle having no value.
ALLOWED: dict[str, tuple[Callable[[str, Tree, Tree], bool], str]] = {
    "root": (
        lambda what, o, a: o["role"] == a["role"] == "application",
        "the root is the app itself, which axd names by its executable and describes in `app`",
    ),
    "empty": (
        lambda what, o, a: what in ("value", "description", "name") and not o.get(what) and not a.get(what),
        "an empty string and no value are one and the same: absent means none",
    ),
    "long": (
        lambda what, o, a: what == "value" and len(a.get("value") or "") >= 32_768 and (o["value"] or "").startswith(a["value"]),
        "axd keeps the first 32,768 characters of a text",
    ),
    "unlisted native role": (
        lambda what, o, a: what == "native_role" and "native_role" not in a,
        "native_role is told only by `get` unless axd lists it",
    ),
}


def compare(told: Tree, snapshot: Tree) -> Verdict:
    """`told` is the oracle's tree; `snapshot` is the `tree` of axd's answer."""
    verdict = Verdict()
    focus = Focus()
    stack = [(told, snapshot, "", 0)]
    while stack:
        o, a, path, index = stack.pop()
        verdict.nodes += 1
        where = f"{path}/{o['role']}" + (f":{o['name']!r}" if o.get("name") else "")
        focus.look(o, a, where)
        compare_fields(o, a, f"{where} ({a['id']}, {o['path'].rsplit('/', 1)[-1]})", verdict)
        verdict.ids[o["bus"] + o["path"]] = (a["id"], o["role"], o.get("name"), index)
        pairs = list(children_pairs(o, a, where, verdict))
        stack.extend((left, right, where, at) for at, (left, right) in reversed(list(enumerate(pairs))))
    verdict.differences += focus.differences()
    return verdict


class Focus:
    """One element has the focus at a time, as axd tells it. Apps may say so of several: all cells of a row, the element that
    had it before, one in every window. It must be one of those, and in the active window if one of them is there."""

    def __init__(self) -> None:
        self.said: list[tuple[str, bool]] = []
        self.told: list[str] = []
        self.active = False

    def look(self, o: Tree, a: Tree, where: str) -> None:
        if where.count("/") == 2:
            self.active = "active" in o.get("native_states", ())
        if "focused" in o["states"]:
            self.said.append((o["bus"] + o["path"], self.active))
        if "focused" in (a.get("states") or []):
            self.told.append(o["bus"] + o["path"])

    def differences(self) -> list[Difference]:
        best = [path for path, active in self.said if active] or [path for path, _ in self.said]
        right = len(self.told) == 1 and self.told[0] in best if best else not self.told
        return [] if right else [Difference("/", "focus", best, self.told)]


def compare_fields(o: Tree, a: Tree, where: str, verdict: Verdict) -> None:
    for what in FIELDS:
        left, right = o.get(what), a.get(what)
        if what in ("states", "actions"):
            # Who has the focus is looked at for the whole app.
            left, right = (sorted(set(side or []) - {"focused"}) for side in (left, right))
        if left == right:
            continue
        reason = next((name for name, (allows, _) in ALLOWED.items() if allows(what, o, a)), None)
        if reason:
            verdict.allowed[reason] += 1
        else:
            verdict.differences.append(Difference(where, what, left, right))


def children_pairs(o: Tree, a: Tree, where: str, verdict: Verdict) -> Iterator[tuple[Tree, Tree]]:
    """The children that are the same elements; the others become differences."""
    left, right = o["children"], a.get("children", [])
    if a.get("truncated"):
        # axd shows some children of a container with very many: those shown must be right and in order, and their
        # number must be told. Which ones are shown depends on what is on the screen.
        verdict.allowed["truncated container"] += 1
        if a.get("children_count") != o["children_count"]:
            verdict.differences.append(Difference(where, "children_count", o["children_count"], a.get("children_count")))
        yield from subsequence(left, right, where, verdict, whole=not o["truncated"])
    elif o["truncated"]:
        verdict.differences.append(Difference(where, "truncated", f"{o['children_count']} children", f"{len(right)}, all"))
    elif [looks(child)[0] for child in left] == [looks(child)[0] for child in right]:
        yield from zip(left, right)
    else:
        yield from aligned(left, right, where, verdict)


def subsequence(left: list[Tree], right: list[Tree], where: str, verdict: Verdict, whole: bool) -> Iterator[tuple[Tree, Tree]]:
    rest = iter(left)
    for shown_child in right:
        match = next((child for child in rest if looks(child) == looks(shown_child)), None)
        if match is None:
            # The oracle reads only the first children of such a container, so beyond them it cannot say.
            if whole:
                verdict.differences.append(Difference(where, "child", None, looks(shown_child)))
            return
        yield match, shown_child


def aligned(left: list[Tree], right: list[Tree], where: str, verdict: Verdict) -> Iterator[tuple[Tree, Tree]]:
    if Counter(map(looks, left)) == Counter(map(looks, right)):
        verdict.differences.append(Difference(where, "order", [looks(c) for c in left], [looks(c) for c in right]))
        return
    matcher = difflib.SequenceMatcher(None, [looks(child) for child in left], [looks(child) for child in right], autojunk=False)
    for _, i, i_end, j, j_end in matcher.get_opcodes():
        some, others = left[i:i_end], right[j:j_end]
        while some and others and some[0]["role"] == others[0]["role"]:
            yield some.pop(0), others.pop(0)
        for child in some:
            verdict.differences.append(Difference(where, "missing: child", described(child), None))
        for child in others:
            verdict.differences.append(Difference(where, "extra: child", None, described(child)))


def looks(node: Tree) -> tuple[str, str | None]:
    return node["role"], node.get("name")


def described(node: Tree) -> str:
    below = sum(1 for _ in walk(node)) - 1
    return f"{node['role']} {node.get('name') or ''!r} {node.get('id') or node.get('path')}" + (f" with {below} below" if below else "")


def walk(node: Tree) -> Iterator[Tree]:
    stack = [node]
    while stack:
        at = stack.pop()
        yield at
        stack.extend(at.get("children", []))


def shown(value: Any) -> str:
    if value is None:
        return "none"
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return json.dumps(text, ensure_ascii=False) if isinstance(value, str) else text[:300]


def changed_ids(before: Verdict, after: Verdict) -> list[str]:
    """Elements that lived through it (same object) and yet are called by another id now."""
    broken = []
    for path, (new_id, role, name, index) in after.ids.items():
        old = before.ids.get(path)
        if old is None or old[0] == new_id:
            continue
        # A row whose place and name both changed was recycled for another item: then a new id is right.
        if role in oracle.SCROLLS and old[2] != name and old[3] != index:
            continue
        broken.append(f"{role} {name!r} {path}: was {old[0]} ({old[1]} {old[2]!r}), is {new_id}")
    return broken


def report(verdict: Verdict, most: int = 20) -> str:
    lines = [str(difference) for difference in verdict.differences[:most]]
    if len(verdict.differences) > most:
        lines.append(f"… and {len(verdict.differences) - most} more: {dict(verdict.kinds())}")
    lines.append(f"{verdict.nodes} elements compared, {len(verdict.differences)} differences, allowed: {dict(verdict.allowed)}")
    return "\n".join(lines)


SNAPSHOT = ("snapshot", "--max-nodes", "0", "--menubar", "--actions", "--json")


def snapshot_of(ax: str, app: str, *options: str) -> Tree:
    """What axd says of the app; raises with axd's own words if it says nothing."""
    done = subprocess.run([ax, *SNAPSHOT, "--app", app, *options], capture_output=True, text=True, timeout=30)
    try:
        answer = json.loads(done.stdout)
    except json.JSONDecodeError:
        raise RuntimeError(f"ax exited {done.returncode}: {done.stdout[-300:]}{done.stderr[-300:]}") from None
    if not answer.get("ok"):
        raise RuntimeError(f"ax snapshot: {json.dumps(answer.get('error'))}")
    return answer


def main() -> int:
    parser = argparse.ArgumentParser(description="Compares axd's tree of an app with the oracle's.")
    parser.add_argument("--oracle", type=Path)
    parser.add_argument("--ax", type=Path)
    parser.add_argument("--app")
    parser.add_argument("--ax-bin", default="ax")
    parser.add_argument("--most", type=int, default=20, help="how many differences to print")
    args = parser.parse_args()
    try:
        if args.app:
            bus = oracle.Bus()
            ref = oracle.find_app(bus, args.app)
            if ref is None:
                raise RuntimeError(f"no app {args.app!r} on the accessibility bus")
            told = asdict(oracle.Walker(bus, ref).walk())
            answer = snapshot_of(args.ax_bin, args.app, "--sync")
        else:
            told = json.loads(args.oracle.read_text())
            answer = json.loads(args.ax.read_text())
        tree = answer["data"]["tree"] if "data" in answer else answer
    except (RuntimeError, OSError, KeyError, TypeError, AttributeError) as error:
        print(f"compare: {error}", file=sys.stderr)
        return 2
    verdict = compare(told, tree)
    print(report(verdict, args.most))
    return 1 if verdict.differences else 0


if __name__ == "__main__":
    sys.exit(main())
