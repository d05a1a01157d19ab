"""Clients that send what they should not: every line gets an error that says what to do, and the connection goes on."""

from __future__ import annotations

import json

from ground import Axd, Raw, check, finish, test, text_of

axd = Axd()
MODERN = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": {"name": "raw", "version": "1"},
    "io.modelcontextprotocol/clientCapabilities": {},
}


def works(raw: Raw, after: str) -> None:
    result = raw.result("find", selector="button:7", app="Calculator")
    check(f"it goes on after {after}", result["structuredContent"]["count"] == 1, result)


def error(answer: dict) -> tuple[int, str]:
    return answer.get("error", {}).get("code", 0), answer.get("error", {}).get("message", json.dumps(answer))


def lines() -> None:
    raw = Raw(axd)
    raw.open()
    long = json.dumps({"jsonrpc": "2.0", "id": 77, "method": "tools/call", "params": {"name": "look", "x": "y" * (1 << 20)}})
    raw.write(long.encode())
    code, message = error(raw.answer(77))
    check("a line over 1 MiB", code == -32600 and "longer than 1048576 bytes" in message, message)
    works(raw, "a line over 1 MiB")
    raw.write(b"x" * (3 << 20))
    code, message = error(raw.answer(None))
    check("a long line without an id", code == -32600 and "longer than" in message, message)
    fits = json.dumps({"jsonrpc": "2.0", "id": 78, "method": "tools/call", "params": {"name": "look", "arguments": {"x": "y" * 1_000_000}}})
    raw.write(fits.encode())
    check("a line below 1 MiB is read", "no argument 'x'" in text_of(raw.answer(78)["result"]))
    for line, code, said in [
        (b'{"jsonrpc":"2.0","id":"a","method":"\xff\xfe"}', -32700, "not UTF-8"),
        (b"{", -32700, "not JSON"),
        (b"hello", -32700, "not JSON"),
        (b"[]", -32600, "one message a line"),
        (b'{"id":"a","method":"ping"}', -32600, '"jsonrpc":"2.0"'),
        (b'{"jsonrpc":"2.0","id":"a"}', -32600, "must have a method"),
        (b'{"jsonrpc":"2.0","id":"a","method":"tools/list","params":[1]}', -32600, "params must be an object"),
        (b'{"jsonrpc":"2.0","id":{},"method":"ping"}', -32600, "id must be"),
        (b"[" * 5000, -32700, "not JSON"),
        (b'{"jsonrpc":"2.0","id":"a","method":"tools/call","params":{"name":5}}', -32602, "must be like"),
        (b'{"jsonrpc":"2.0","id":"a","method":"tools/call","params":{"name":"look","arguments":[]}}', -32602, "must be like"),
        (b'{"jsonrpc":"2.0","id":"a","method":"tools/cal"}', -32601, "did you mean 'tools/call'?"),
        (b'{"jsonrpc":"2.0","id":"a","method":"xyzzy"}', -32601, "no method 'xyzzy'"),
        (b'{"jsonrpc":"2.0","id":"a","method":"tools/call","params":{"name":"lok"}}', -32602, "did you mean 'look'?"),
        (b'{"jsonrpc":"2.0","id":"a","method":"tools/call","params":{"name":"xyzzy"}}', -32602, "the tools are: look"),
        (b'{"jsonrpc":"2.0","id":"a","method":"resources/read","params":{"uri":"file:///etc/passwd"}}', -32602, "axd://app/"),
        (b'{"jsonrpc":"2.0","id":"a","method":"resources/subscribe","params":{"uri":"axd://"}}', -32602, "axd://app/"),
    ]:
        raw.write(line)
        wanted = "a" if b'"id":"a"' in line else None
        got, message = error(raw.answer(wanted))
        check(f"{line[:70]!r}", got == code and said in message, (got, message))
    works(raw, "all of that")
    check("ended", raw.close() == 0)


def versions() -> None:
    for asked in ("1999-01-01", "2031-01-01", "2026-07-28", "nonsense"):
        raw = Raw(axd)
        answer = raw.open(asked)
        check(f"initialize with {asked}", answer["result"]["protocolVersion"] == "2025-11-25", answer)
        works(raw, "that")
        raw.close()
    raw = Raw(axd)
    answer = raw.open("2025-06-18")
    check("an older version is kept", answer["result"]["protocolVersion"] == "2025-06-18", answer)
    raw.close()
    raw = Raw(axd)
    strange = {**MODERN, "io.modelcontextprotocol/protocolVersion": "2031-01-01"}
    code, message = error(raw.request("tools/list", {"_meta": strange}))
    check("an unknown version of the newer era", code != 0, message)
    raw.send("tools/list", {"_meta": strange})
    answer = raw.answer(raw.next)
    check("is answered with those there are", "2026-07-28" in json.dumps(answer), answer)
    discovered = raw.request("server/discover", {"_meta": MODERN})["result"]
    check("discover", "2026-07-28" in discovered["supportedVersions"] and discovered["resultType"] == "complete", discovered)
    check("discover says how long", "ttlMs" in discovered and "cacheScope" in discovered, discovered)
    listed = raw.request("tools/list", {"_meta": MODERN})["result"]
    check("the list says how long", listed["ttlMs"] > 0 and listed["cacheScope"] == "public" and listed["resultType"] == "complete", listed["ttlMs"])
    code, message = error(raw.request("tools/list"))
    check("a request without _meta", code == -32602 and "_meta" in message, message)
    code, message = error(raw.request("ping", {"_meta": MODERN}))
    check("ping is of the older era", code == -32601, message)
    code, message = error(raw.request("resources/subscribe", {"uri": "axd://app/Notes", "_meta": MODERN}))
    check("so is subscribe", code == -32601, message)
    raw.close()


def before_opening() -> None:
    raw = Raw(axd)
    raw.notify("notifications/cancelled", {"requestId": 5})
    raw.write(b"rubbish")
    check("rubbish first", error(raw.answer(None))[0] == -32700)
    code, message = error(raw.request("tools/list"))
    check("a request before initialize", code == -32602, message)
    check("ping before initialize", raw.request("ping").get("result") == {})
    raw.open()
    works(raw, "a false start")
    raw.close()
    raw = Raw(axd)
    check("a client that says nothing", raw.close() == 0)


def many() -> None:
    raw = Raw(axd)
    raw.open()
    ids = [raw.send("tools/call", {"name": "find", "arguments": {"selector": "button:7", "app": "Calculator"}}) for _ in range(1000)]
    answers = [raw.answer(number) for number in ids]
    good = sum(answer["result"]["structuredContent"].get("count") == 1 for answer in answers)
    check("1,000 calls at once", good == 1000, (good, [a for a in answers if a["result"].get("isError")][:1]))
    # Actions too: each is done once.
    raw.result("act", verb="click", target="button:C", app="Calculator")
    ids = [raw.send("tools/call", {"name": "act", "arguments": {"verb": "click", "target": "button:1", "app": "Calculator", "mode": "none"}}) for _ in range(8)]
    for number in ids:
        check("each action is answered", not raw.answer(number)["result"].get("isError"))
    shown = raw.result("read", target="textfield:Display", app="Calculator")
    check("each was done once", shown["structuredContent"]["node"]["value"] == "11111111", shown)
    raw.close()


def sets() -> None:
    raw = Raw(axd, "--tools", "all")
    raw.open()
    tools = {tool["name"] for tool in raw.request("tools/list")["result"]["tools"]}
    check("all sets", {"mouse_down", "move_window", "clipboard_set", "watch", "focused"} <= tools and len(tools) > 30, tools)
    done = raw.result("clipboard_set", text="from an agent")
    check("the clipboard is set", not done["isError"], done)
    got = raw.result("clipboard_get")["structuredContent"]["data"]
    check("and read", "from an agent" in json.dumps(got), got)
    moved = raw.result("move_window", to="50,60", app="Calculator")
    check("a window is moved", moved["structuredContent"]["data"]["after"]["bounds"]["x"] == 50, moved)
    number = raw.send("tools/call", {"name": "watch", "arguments": {"kind": ["app-launched"], "max_events": 1, "for_ms": 50000}})
    while not any(client.get("subscriptions") for client in axd.ax("status")["data"]["clients"]):
        pass  # each status takes its time
    axd.ax("sim", "Files", "launch")
    seen = raw.answer(number)["result"]["structuredContent"]
    check("events are watched", seen["events"] and seen["events"][0]["event"] == "app-launched" and seen["clock"], seen)
    raw.close()


for name, body in [("lines", lines), ("versions", versions), ("before opening", before_opening), ("many", many), ("sets", sets)]:
    test(name, body)
axd.close()
finish()
