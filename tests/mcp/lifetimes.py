"""Daemons that are missing, dead, restarted or of another version; clients that cancel, and clients that vanish."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import tempfile
import threading
import time
from pathlib import Path

from ground import AX, AXD, FLASH, PATIENCE, Axd, Raw, check, finish, test, text_of


def until(what: str, holds) -> None:
    """Asks again until something holds. What is asked takes its time, so that nothing has to sleep."""
    end = time.monotonic() + PATIENCE
    while not holds():
        assert time.monotonic() < end, f"not so: {what}"


def held(axd: Axd) -> list:
    return axd.ax("status")["data"].get("held", [])


def pending(axd: Axd) -> int:
    clients = axd.ax("status")["data"]["clients"]
    return sum(client["pending"] for client in clients if client.get("name") == "ax-mcp")


def missing() -> None:
    axd = Axd()
    axd.kill()
    raw = Raw(axd, "--no-autostart")
    raw.open()
    wrong = raw.result("look")
    check("no daemon, and none may be started", wrong["isError"] and "DAEMON_UNAVAILABLE" in text_of(wrong) and "ask the user" in text_of(wrong), wrong)
    axd.start()
    check("it is found once it is there", not raw.result("look", app="Calculator")["isError"])
    raw.close()
    axd.kill()
    raw = Raw(axd, "--platform", "sim")
    raw.open()
    check("a missing daemon is started", not raw.result("look", app="Calculator")["isError"])
    raw.close()
    axd.close()


def restarted() -> None:
    axd = Axd()
    raw = Raw(axd, "--no-autostart")
    raw.open()
    first = raw.result("look", app="Calculator")
    seven = raw.result("find", selector="button:7", app="Calculator")["structuredContent"]["matches"][0]["id"]
    clock = first["structuredContent"]["clock"]
    waiting = raw.result("wait", **{"for": ["button:Never"]}, timeout_ms=20, app="Calculator")["structuredContent"]
    axd.kill()
    axd.start()
    again = raw.result("look", app="Calculator")
    check("the whole tree after a restart", again["structuredContent"].get("fresh") is True and again["structuredContent"]["mode"] == "full", again)
    check("and it says so", "axd was restarted" in text_of(again), text_of(again))
    pressed = raw.result("act", verb="click", target=seven)
    check("ids survive", not pressed["isError"] and 'value = "7"' in text_of(pressed), pressed)
    changes = raw.result("changes", since=clock)
    check("a clock of before", changes["structuredContent"].get("fresh") is True and "restarted" in text_of(changes), changes)
    taken_up = raw.result("wait", **{"for": ["button:Never"]}, timeout_ms=20, app="Calculator", since=waiting["clock"])
    check("a wait of before goes on", taken_up["structuredContent"].get("waiting") is True, taken_up)
    # An action whose daemon dies under it is not repeated.
    axd.ax("sim", "Notes", "fault", "hang")
    number = raw.send("tools/call", {"name": "act", "arguments": {"verb": "click", "target": "button:Delete", "app": "Notes"}})
    until("the action is under way", lambda: pending(axd) > 0)
    axd.kill()
    lost = raw.answer(number)["result"]
    check("an action that was lost says so", lost["isError"] and "look before doing it again" in text_of(lost), lost)
    axd.start()
    check("and the next call works", not raw.result("look", app="Notes")["isError"])
    raw.close()
    axd.close()


def stopped() -> None:
    axd = Axd()
    raw = Raw(axd, "--no-autostart")
    raw.open()
    raw.result("look", app="Calculator")
    axd.process.send_signal(signal.SIGSTOP)
    silent = raw.result("find", selector="button:7", app="Calculator")
    check("a daemon that hangs", silent["isError"] and "TIMEOUT" in text_of(silent), silent)
    axd.process.send_signal(signal.SIGCONT)
    check("goes on when it does", not raw.result("find", selector="button:7", app="Calculator")["isError"])
    raw.close()
    axd.close()


def another_version() -> None:
    folder = Path(tempfile.mkdtemp(prefix="axv", dir="/tmp"))
    folder.chmod(0o700)
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(str(folder / "axd.sock"))
    listener.listen()

    def serve() -> None:
        while True:
            try:
                client, _ = listener.accept()
            except OSError:
                return
            for line in client.makefile():
                request = json.loads(line)
                answer = {
                    "id": request["id"], "ok": False, "command": request["command"], "version": "7.0", "platform": "sim",
                    "error": {
                        "code": "PROTOCOL_MISMATCH", "message": "the client uses protocol 1, this daemon uses 7", "suggestion": "",
                        "disposition": {"delivery": "not_delivered", "retry": "safe"},
                    },
                }  # fmt: skip
                client.sendall((json.dumps(answer, separators=(",", ":")) + "\n").encode())

    threading.Thread(target=serve, daemon=True).start()

    class Fake:
        env = {**os.environ, "AXD_SOCKET": str(folder / "axd.sock"), "AXD_BIN": AXD}

    raw = Raw(Fake, "--no-autostart")
    raw.open()
    wrong = raw.result("look")
    check("a daemon of another version", wrong["isError"] and "different versions" in text_of(wrong) and "protocol 1" in text_of(wrong), wrong)
    raw.close()
    listener.close()


def cancelled() -> None:
    axd = Axd()
    raw = Raw(axd)
    raw.open()
    number = raw.send("tools/call", {"name": "wait", "arguments": {"for": ["button:Never"], "app": "Calculator"}})
    until("it waits", lambda: pending(axd) == 1)
    raw.notify("notifications/cancelled", {"requestId": number, "reason": "enough"})
    until("the wait has ended in axd", lambda: pending(axd) == 0)
    # Apply is disabled, so the action waits for it and has sent nothing.
    before = raw.result("look", app="Settings", mode="none")["structuredContent"]["clock"]
    number = raw.send("tools/call", {"name": "act", "arguments": {"verb": "click", "target": "button:Apply", "app": "Settings", "timeout_ms": 40000, "route": "input"}})
    until("the action is under way", lambda: pending(axd) == 1)
    raw.notify("notifications/cancelled", {"requestId": number})
    until("the action has ended in axd", lambda: pending(axd) == 0)
    axd.ax("sim", "Settings", "set", "volume", "80")
    changes = raw.result("changes", since=before, app="Settings")
    check("what was cancelled is not done", "Applied" not in text_of(changes), text_of(changes))
    raw.close()
    axd.close()


def vanished() -> None:
    axd = Axd()
    raw = Raw(axd, "--tools", "input")
    raw.open()
    raw.result("apps", verb="focus", app="Notes")
    row = raw.result("find", selector="list:Notes > *:nth(1)", app="Notes")["structuredContent"]["matches"][0]["id"]
    place = axd.ax("get", row, "--property", "bounds")["data"]["node"]["bounds"]
    x, y = place["x"] + 10, place["y"] + 5
    down = raw.result("mouse_down", point=f"{x},{y}")
    check("the button is held", not down["isError"] and held(axd), down)
    raw.result("mouse_move", point=f"{x},{y + 30}")
    raw.result("key_down", combo="shift")
    check("and a key", len(held(axd)) == 2, held(axd))
    # As when a client crashes: both ends are closed at once.
    raw.process.stdin.close()
    raw.process.stdout.close()
    until("nothing is held any more", lambda: not held(axd))
    check("the server has ended", raw.process.wait(PATIENCE) == 0)
    check("nothing is held by the apps either", "nothing" in json.dumps(axd.ax("sim", "Notes", "held")).lower() or not axd.ax("sim", "Notes", "held")["data"].get("held"), axd.ax("sim", "Notes", "held"))
    axd.close()


def ended() -> None:
    axd = Axd()
    raw = Raw(axd)
    raw.open()
    number = raw.send("tools/call", {"name": "wait", "arguments": {"for": ["button:Never"], "app": "Calculator"}})
    until("it waits", lambda: pending(axd) == 1)
    raw.process.stdin.close()
    answer = raw.answer(number)["result"]
    check("a wait ends when the client closes its end", answer["isError"] and "CANCELLED" in text_of(answer), answer)
    check("and so does the server", raw.process.wait(PATIENCE) == 0)
    axd.close()


def subscribed() -> None:
    axd = Axd({"flash": FLASH})
    raw = Raw(axd)
    raw.open()
    raw.request("resources/list")
    check("subscribed", raw.request("resources/subscribe", {"uri": "axd://app/Flash"}).get("result") == {})
    axd.ax("sim", "Flash", "press", "go")
    update = raw.note("notifications/resources/updated")
    check("told of the change", update["params"]["uri"] == "axd://app/Flash", update)
    axd.ax("sim", "Files", "launch")
    raw.note("notifications/resources/list_changed")
    check("told of the app", True)
    axd.kill()
    axd.start()
    raw.note("notifications/resources/updated")
    check("told after a restart, when everything may have changed", True)
    check("unsubscribed", raw.request("resources/unsubscribe", {"uri": "axd://app/Flash"}).get("result") == {})
    raw.close()
    axd.close()


def installed() -> None:
    home = Path(tempfile.mkdtemp(prefix="axh", dir="/tmp"))
    (home / ".cursor").mkdir()
    (home / ".cursor/mcp.json").write_text('{\n  // mine\n  "mcpServers": {}\n}\n')
    ran = subprocess.run([AX, "mcp", "install", "--client", "cursor"], env={**os.environ, "HOME": str(home)}, capture_output=True, text=True)
    written = (home / ".cursor/mcp.json").read_text()
    check("install", ran.returncode == 0 and '"axd"' in written and "// mine" in written and AX in written, (ran, written))
    ran = subprocess.run([AX, "mcp", "install"], env={**os.environ, "HOME": str(home)}, capture_output=True, text=True)
    check("install without a client", ran.returncode == 2 and "--client" in ran.stderr, ran)
    guide = subprocess.run([AX, "skills", "get"], capture_output=True, text=True)
    check("the guide", guide.returncode == 0 and "## Act" in guide.stdout, guide)


for name, body in [
    ("missing", missing), ("restarted", restarted), ("another version", another_version), ("cancelled", cancelled),
    ("vanished", vanished), ("ended", ended), ("subscribed", subscribed), ("installed", installed), ("stopped", stopped),
]:  # fmt: skip
    began = time.monotonic()
    test(name, body)
    print(f"{name}: {time.monotonic() - began:.1f} s")
finish()
