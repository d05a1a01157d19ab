"""A real app through each compatibility profile, used by the official Python SDK: the tree, a value, a click, a picture. Run in a desktop of its own."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import time
from pathlib import Path

from jsonschema import Draft202012Validator
from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client

from clients import as_json, of_sdk
from ground import AX, PATIENCE, Axd, check, finish

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "desktop"))
import cast  # noqa: E402

APP = Path(cast.HERE) / "apps" / "gtk3.py"
PYTHON = "/usr/bin/python3"  # the one with the toolkits
POLICY = "[profile.thuvu]\nenabled = true\nrequire_approval_for_input = false\n"
TEXT = "Grüße, 世界"


class Profile:
    """The tools of a profile; every result is held to its schema."""

    def __init__(self, name: str, client: Client, tools: list[dict]):
        self.name, self.client = name, client
        self.tools = {tool["name"]: tool for tool in tools}
        for tool in tools:
            for schema in ("inputSchema", "outputSchema"):
                Draft202012Validator.check_schema(tool[schema])

    def check(self, what: str, holds: bool, shown: object = "") -> None:
        check(f"{self.name}: {what}", holds, shown)

    async def call(self, tool: str, **arguments):
        result = of_sdk(await self.client.call_tool(tool, arguments))
        errors = [error.message for error in Draft202012Validator(self.tools[tool]["outputSchema"]).iter_errors(result.data)]
        self.check(f"{tool} answers as its schema says", not errors, (errors, result.data))
        return result

    async def until(self, tool: str, holds, **arguments):
        """Calls until something holds: the app needs a moment to start."""
        end = time.monotonic() + PATIENCE
        while True:
            result = await self.call(tool, **arguments)
            if holds(result):
                return result
            assert time.monotonic() < end, result


def nodes(node: dict):
    yield node
    for child in node.get("children", []):
        yield from nodes(child)


def command_line(profile: Profile, axd: Axd, *words: str) -> dict:
    """agent-desktop as a command line: a link to `ax`, which prints one line."""
    link = axd.folder / "agent-desktop"
    if not link.exists():
        link.symlink_to(AX)
    ran = subprocess.run([link, *words], env={**axd.env, "AXD_NO_AUTOSTART": "1"}, capture_output=True, text=True, timeout=PATIENCE)
    profile.check(f"{words[0]} prints one line", ran.stdout.count("\n") == 1 and ran.stdout.endswith("\n"), ran.stdout)
    answer = json.loads(ran.stdout)
    profile.check(f"{words[0]} exits with what came of it", ran.returncode == (0 if answer["ok"] else 1), (ran.returncode, answer))
    return answer


async def strobe(profile: Profile, axd: Axd) -> None:
    launched = await profile.call("debug_launch", command=PYTHON, args=[str(APP)])
    profile.check("launched", launched.data.get("sessionId", "").isdigit(), launched)
    session = launched.data["sessionId"]
    shown = await profile.until("debug_ui", lambda it: "Entry" in it.data.get("tree", ""), sessionId=session, mode="both", verbose=True)
    profile.check("a picture", shown.images and len(shown.images[0][1]) > 1000, shown.text)
    tree = json.loads(shown.data["tree"])
    every = [node for window in tree["nodes"] for node in nodes(window)]
    profile.check("nodes are counted", shown.data["stats"]["axNodes"] == len(every), shown.data["stats"])
    profile.check("menu bars are left out", all(node["role"] != "menuBar" for node in every), shown.data["tree"])
    by_title = {(node["role"], node.get("title")): node for node in every}
    entry, press = by_title["textField", "Entry"], by_title["button", "Press"]
    profile.check("places are known", press["bounds"]["w"] > 0, press)
    act = lambda **arguments: profile.call("debug_ui_action", sessionId=session, **arguments)  # noqa: E731
    wrote = await act(action="set_value", id=entry["id"], value=TEXT)
    profile.check("written", wrote.data["success"] and wrote.data["changed"] and wrote.data["nodeAfter"]["value"] == TEXT, wrote.data)
    typed = await act(action="type", id=entry["id"], text="!")
    profile.check("typed", typed.data["success"] and typed.data["method"] == "cgevent", typed.data)
    pressed = await act(action="click", id=press["id"])
    profile.check("pressed", pressed.data["success"] and pressed.data["method"] == "ax", pressed.data)
    compact = await profile.call("debug_ui", sessionId=session, mode="tree")
    profile.check("the click has landed", '"count 1"' in compact.data["tree"], compact.data["tree"])
    key = await act(action="key", key="a", modifiers=["ctrl"])
    profile.check("a key", key.data["success"] and "changed" not in key.data, key.data)


async def agent_desktop(profile: Profile, axd: Axd) -> None:
    def has_entry(result) -> bool:
        tree = (result.data.get("data") or {}).get("tree", {})
        return any(node.get("name") == "Entry" for node in nodes(tree))

    shown = await profile.until("desktop_snapshot", has_entry, app="gtk3.py")
    refs = {(node["role"], node.get("name")): node.get("ref") for node in nodes(shown.data["data"]["tree"])}
    entry, press = refs["textfield", "Entry"], refs["button", "Press"]
    wrote = await profile.call("desktop_set_value", ref=entry, value=TEXT)
    profile.check("written", wrote.data["ok"], wrote.data)
    read = await profile.call("desktop_get", ref=entry, property="text")
    profile.check("read back", read.data["data"]["value"] == TEXT, read.data)
    pressed = await profile.call("desktop_click", ref=press)
    profile.check("pressed", pressed.data["data"]["post_state"]["role"] == "button", pressed.data)
    found = await profile.call("desktop_find", app="gtk3.py", name="count 1")
    profile.check("the click has landed", len(found.data["data"]["matches"]) == 1, found.data)
    picture = await profile.call("desktop_screenshot", app="gtk3.py")
    profile.check("a picture", picture.images and "data" not in json.loads(picture.text)["data"], picture.text)
    tree = command_line(profile, axd, "snapshot", "--app", "gtk3.py", "--compact")["data"]["tree"]
    press = next(node["ref"] for node in nodes(tree) if node["role"] == "button" and node.get("name") == "Press")
    clicked = command_line(profile, axd, "click", press)
    profile.check("clicked from the command line", clicked["data"]["action"] == "click", clicked)
    found = command_line(profile, axd, "find", "--app", "gtk3.py", "--name", "count 2")
    profile.check("the second click has landed", len(found["data"]["matches"]) == 1, found)
    gone = command_line(profile, axd, "click", "@e999")
    profile.check("a ref that there is not", gone["error"]["code"] == "STALE_REF", gone)


async def thuvu(profile: Profile, axd: Axd) -> None:
    await profile.until("ui_wait", lambda it: it.data["success"], window_title="test gtk3", element_selector="TextBox:Entry", timeout_ms=5000)
    field = await profile.call("ui_get_element", selector="TextBox:Entry", window_title="test gtk3")
    at = field.data["elements"][0]
    point = {"x": at["x"] + at["width"] // 2, "y": at["y"] + at["height"] // 2}
    hit = await profile.call("ui_get_element", **point)
    profile.check("the element at the point is the same", hit.data["element"]["id"] == at["id"], hit.data)
    clicked = await profile.call("ui_click", **point)
    profile.check("clicked at a point", clicked.data["success"], clicked.data)
    selected = await profile.call("ui_type", keys=["ctrl", "a"], window_title="test gtk3")
    typed = await profile.call("ui_type", text=TEXT, window_title="test gtk3")
    profile.check("typed", selected.data["success"] and typed.data["success"], (selected.data, typed.data))
    read = await profile.call("ui_get_element", selector="TextBox:Entry", window_title="test gtk3")
    profile.check("read back", read.data["elements"][0].get("value") == TEXT, read.data)
    pressed = await profile.call("ui_click", selector="Button:Press", window_title="test gtk3")
    profile.check("pressed", pressed.data["success"], pressed.data)
    counted = await profile.call("ui_wait", window_title="test gtk3", element_selector="Text:\"count 1\"", timeout_ms=5000)
    profile.check("the click has landed", counted.data["success"], counted.data)
    picture = await profile.call("ui_capture", mode="window", window_title="test gtk3", format="jpeg")
    profile.check("a picture", picture.images and picture.images[0][0] == "image/jpeg", picture.text)


async def use(name: str, story, launches: bool) -> None:
    axd = Axd(platform="linux", policy=POLICY)
    app = None
    try:
        if not launches:
            log = open(axd.folder / "app.log", "w")
            app = subprocess.Popen([PYTHON, str(APP)], stdout=log, stderr=log, stdin=subprocess.DEVNULL)
        env = {key: value for key, value in os.environ.items() if key.startswith(("AXD_", "DISPLAY", "DBUS", "XDG", "AT_SPI", "HOME"))}
        env.update({key: value for key, value in axd.env.items() if key.startswith("AXD_")})
        params = StdioServerParameters(command=AX, args=["mcp", "--profile", name], env=env)
        async with Client(stdio_client(params), mode="auto") as client:
            listed = await client.list_tools()
            began = time.monotonic()
            await story(Profile(name, client, [as_json(tool) for tool in listed.tools]), axd)
            print(f"{name}: {time.monotonic() - began:.1f} s")
        axd.ax("close-app", "gtk3.py", "--force")
    finally:
        if app:
            app.kill()
        axd.close()


async def main() -> None:
    for name, story, launches in [("strobe", strobe, True), ("agent-desktop", agent_desktop, False), ("thuvu", thuvu, False)]:
        try:
            await use(name, story, launches)
        except Exception as error:  # one profile that fails does not hide the others
            check(name, False, repr(error))


if __name__ == "__main__":
    asyncio.run(main())
    finish()
