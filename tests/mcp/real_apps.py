"""Real apps of three toolkits, used by the official Python SDK: looking, acting, writing, waiting, pictures. Run in a desktop of its own."""

from __future__ import annotations

import asyncio
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client

from clients import as_json, of_sdk
from ground import AX, PATIENCE, Axd, finish
from story import Story

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "desktop"))
import cast  # noqa: E402

APPS = Path(cast.HERE) / "apps"
PYTHON = "/usr/bin/python3"  # the one with the toolkits


async def use(story: Story, name: str, field: str, app: str) -> None:
    """Looks at an app, writes into a field, and presses a button of it."""
    window = await story.call("wait", **{"for": [field]}, app=app, timeout_ms=45000)
    story.check(f"{name} is up", window.data.get("waiting") is False, window.text)
    full = await story.call("look", app=app, mode="full", max_tokens=6000)
    story.check(f"{name} has a tree", "window " in full.text and full.data["mode"] == "full", full.text)
    wrote = await story.call("write", verb="set", target=field, text="Grüße, 世界", app=app)
    if wrote.is_error and "use write with verb type" in wrote.text:
        # Chromium takes no values; the error says what does it.
        wrote = await story.call("write", verb="type", target=field, text="Grüße, 世界", app=app)
    story.check(f"{name}: written", not wrote.is_error and "Grüße, 世界" in wrote.text, wrote.text)
    again = await story.call("look", app=app, max_tokens=6000)
    story.check(f"{name}: a second look is small", len(again.text) < len(full.text) / 2, again.text)
    buttons = await story.call("find", selector="button:Press", app=app)
    if buttons.data.get("count"):
        pressed = await story.call("act", verb="click", target=buttons.data["matches"][0]["id"])
        story.check(f"{name}: pressed", not pressed.is_error and pressed.data["delivery"].startswith("delivered"), pressed.text)
    picture = await story.call("picture", app=app)
    story.check(f"{name}: a picture", picture.images and len(picture.images[0][1]) > 1000, picture.text)


async def main() -> None:
    axd = Axd(platform="linux")
    started = []
    try:
        env = {name: value for name, value in os.environ.items() if name.startswith(("AXD_", "DISPLAY", "DBUS", "XDG", "AT_SPI", "HOME"))}
        env.update({name: value for name, value in axd.env.items() if name.startswith("AXD_")})
        params = StdioServerParameters(command=AX, args=["mcp"], env=env)
        async with Client(stdio_client(params), mode="auto") as client:
            listed = await client.list_tools()

            async def call(tool, arguments):
                return of_sdk(await client.call_tool(tool, arguments))

            story = Story("real apps", [as_json(tool) for tool in listed.tools], call)
            chromium = [word.replace("{tmp}", str(axd.folder)) for word in cast.CHROMIUM]
            for name, command, field, app in [
                ("GTK 3", [PYTHON, str(APPS / "gtk3.py")], "textfield:Entry", "gtk3.py"),
                ("GTK 4", [PYTHON, str(APPS / "gtk4.py")], "textfield:Entry", "gtk4.py"),
                ("Qt 6", [PYTHON, str(APPS / "qt6.py")], "textfield:Entry", "qt6.py"),
                ("Chromium", chromium, "document textfield:Entry", "chromium"),
            ]:
                if not shutil.which(command[0]):
                    print(f"skipped: {name}: {command[0]} is not installed")
                    continue
                log = open(axd.folder / f"{name}.log", "w")
                started.append(subprocess.Popen(command, stdout=log, stderr=log, stdin=subprocess.DEVNULL))
                began = time.monotonic()
                await appeared(story, app)
                await use(story, name, field, app)
                print(f"{name}: {time.monotonic() - began:.1f} s")
    finally:
        for process in started:
            process.kill()
        axd.close()


async def appeared(story: Story, app: str) -> None:
    """Waits until axd knows the app."""
    end = time.monotonic() + PATIENCE
    while True:
        looked = await story.ask("look", {"app": app, "mode": "none"})
        if not looked.is_error:
            return
        assert time.monotonic() < end, looked.text


if __name__ == "__main__":
    asyncio.run(main())
    finish()
