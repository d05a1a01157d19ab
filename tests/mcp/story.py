"""The calls that every client makes, and what must come of them. A client is a function from a tool and its arguments to its result."""

from __future__ import annotations

import base64
import re
from dataclasses import dataclass, field

from jsonschema import Draft202012Validator

from ground import check

FORBIDDEN = ("anyOf", "oneOf", "allOf", "if", "$schema", "$ref")


@dataclass
class Result:
    """A result, whichever client got it."""

    text: str
    data: dict
    is_error: bool
    images: list[tuple[str, str]] = field(default_factory=list)  # type and base64


class Story:
    """Calls tools, and holds every answer to the schemas that the server gave."""

    def __init__(self, client: str, tools: list[dict], call):
        self.client, self.ask = client, call
        self.schemas = {tool["name"]: tool for tool in tools}

    def check(self, what: str, holds: bool, shown: object = "") -> None:
        check(f"{self.client}: {what}", holds, shown)

    async def call(self, tool: str, **arguments) -> Result:
        result: Result = await self.ask(tool, arguments)
        errors = [error.message for error in Draft202012Validator(self.schemas[tool]["outputSchema"]).iter_errors(result.data)]
        self.check(f"{tool} answers as its schema says", not errors, (errors, result.data))
        if not result.is_error:
            wrong = [e.message for e in Draft202012Validator(self.schemas[tool]["inputSchema"]).iter_errors(arguments)]
            self.check(f"{tool} takes what its schema says", not wrong, wrong)
        self.check(f"{tool} has text", bool(result.text), result)
        marks = re.findall(r"^</?ui-([0-9a-f]{8})>$", result.text, re.M)
        self.check(f"{tool} has marks in pairs", len(marks) in (0, 2) and len(set(marks)) <= 1, result.text)
        return result

    def tools(self) -> None:
        self.check("twelve tools", len(self.schemas) == 12, list(self.schemas))
        for name, tool in self.schemas.items():
            for schema in (tool["inputSchema"], tool["outputSchema"]):
                Draft202012Validator.check_schema(schema)
                self.check(f"{name}: an object", schema["type"] == "object", schema)
                self.check(f"{name}: no combinators", not any(word in schema for word in FORBIDDEN), schema)
            hints = tool["annotations"]
            for hint in ("readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"):
                self.check(f"{name}: {hint}", isinstance(hints.get(hint), bool), hints)
        reads = {name for name, tool in self.schemas.items() if tool["annotations"]["readOnlyHint"]}
        self.check("what only reads says so", reads == {"look", "find", "read", "wait", "changes", "picture", "status"}, reads)

    async def tell(self) -> None:
        """The whole story, on the built-in desktop."""
        self.tools()
        await self.looking()
        await self.acting()
        await self.waiting()
        await self.the_rest()
        await self.mistakes()

    async def looking(self) -> None:
        apps = await self.call("apps", verb="list")
        self.check("apps are listed", "Calculator" in [app["name"] for app in apps.data["apps"]], apps.data)
        full = await self.call("look", app="Calculator")
        self.check("the first look shows all", full.data["mode"] == "full" and 'button "7" btn_' in full.text, full.text)
        self.check("both forms say the same", full.data["text"] in full.text, full.data)
        again = await self.call("look", app="Calculator")
        self.check("the second look shows nothing", again.data["mode"] == "changes" and "nothing changed" in again.text, again)
        whole = await self.call("look", app="Calculator", mode="full")
        self.check("a full look shows all again", whole.data["text"] == full.data["text"], whole.text)
        small = await self.call("look", app="Calculator", max_tokens=60, mode="full")
        self.check("a small budget cuts, and says so", small.data.get("truncated") is True and "cut" in small.text, small)
        larger = await self.call("look", app="Calculator", max_tokens=4000)
        self.check("a larger budget shows what was cut", larger.data["mode"] == "full", larger.data)
        found = await self.call("find", selector="button:7", app="Calculator")
        self.check("found by selector", found.data["count"] == 1 and found.data["complete"] is True, found.data)
        seven = found.data["matches"][0]["id"]
        read = await self.call("read", target=seven)
        self.check("read by id", read.data["node"]["name"] == "7", read.data)
        texts = await self.call("read", target="window", text=True, app="Notes")
        self.check("texts are read", "Shopping" in texts.data["texts"], texts.data)

    async def acting(self) -> None:
        pressed = await self.call("act", verb="click", target="button:8", app="Calculator")
        self.check("the effect is told", '~ textfield "Display"' in pressed.text and 'value = "8"' in pressed.text, pressed.text)
        self.check("and how sure it is", pressed.data["delivery"].startswith("delivered"), pressed.data)
        look = await self.call("look", app="Calculator")
        self.check("what was told is not told again", "nothing changed" in look.text, look.text)
        quiet = await self.call("act", verb="click", target="button:C", app="Calculator", mode="none")
        self.check("mode none shows nothing", "Display" not in quiet.text and quiet.data["mode"] == "none", quiet.text)
        later = await self.call("look", app="Calculator")
        self.check("the next look tells it", 'value = "0"' in later.text and later.data["mode"] == "changes", later.text)
        name = await self.call("write", verb="set", target="textfield:Name", text="Ada \"L\"", app="Form")
        self.check("written and read back", name.data["delivery"] == "delivered_verified", name.data)
        self.check("the new value is told", 'Ada \\"L\\"' in name.text, name.text)
        await self.call("write", verb="clear", target="textfield:Name", app="Form")
        typed = await self.call("write", verb="type", target="textfield:Name", text="Grace", app="Form")
        self.check("typed", "Grace" in typed.text, typed.text)
        keys = await self.call("keys", keys="ctrl+a", app="Form")
        self.check("keys", keys.data["delivery"].startswith("delivered"), keys.data)
        toggled = await self.call("act", verb="check", target="checkbox", app="Settings")
        if toggled.is_error:  # several check boxes: one of the candidates
            one = toggled.data["error"]["candidates"][0]["id"]
            toggled = await self.call("act", verb="check", target=one, app="Settings")
        self.check("checked", toggled.data["delivery"].startswith("delivered") , toggled.data)
        menu = await self.call("act", verb="menu", target="File > New Note", app="Notes")
        self.check("a menu item", not menu.is_error, menu.text)
        dry = await self.call("act", verb="hover", target="button:7", app="Calculator")
        self.check("hover", not dry.is_error, dry.text)

    async def waiting(self) -> None:
        met = await self.call("wait", **{"for": ["button:7"]}, app="Calculator")
        self.check("a wait that is met at once", met.data["waiting"] is False and met.data["met"], met.data)
        waits = {"for": ["text:Toast"], "app": "Flash", "timeout_ms": 50}
        waiting = await self.call("wait", **waits)
        self.check("a wait that is not over says so", waiting.data["waiting"] is True and waiting.data["clock"] in waiting.text, waiting)
        # It comes and goes between the two calls.
        await self.call("act", verb="click", target="button:Go", app="Flash")
        await self.call("act", verb="click", target="button:Drop", app="Flash")
        gone = await self.call("find", selector="text:Toast", app="Flash")
        self.check("it is gone again", gone.data.get("count") == 0, gone.text)
        resumed = await self.call("wait", **waits, since=waiting.data["clock"])
        self.check("the wait has seen it all the same", resumed.data["waiting"] is False, resumed.data)

    async def the_rest(self) -> None:
        before = (await self.call("status")).data
        self.check("status", before["platform"] == "sim" and before["version"], before)
        look = await self.call("look", app="Calculator", mode="none")
        await self.call("act", verb="click", target="button:5", app="Calculator", mode="none")
        changes = await self.call("changes", since=look.data["clock"], app="Calculator")
        self.check("changes since a clock", 'value = "5"' in changes.text, changes.text)
        everything = await self.call("changes", since=look.data["clock"])
        self.check("changes of all apps", 'app "Calculator"' in everything.text, everything.text)
        picture = await self.call("picture", app="Paint")
        kind, data = picture.images[0] if picture.images else ("", "")
        raw = base64.b64decode(data)
        self.check("a picture is an image", kind == "image/png" and raw.startswith(b"\x89PNG") and len(raw) > 1000, kind)
        same = await self.call("picture", app="Paint", if_changed=picture.data["hash"])
        self.check("the same picture is not sent twice", same.data["unchanged"] is True and not same.images, same.data)
        marked = await self.call("picture", app="Calculator", marks=True)
        seven = next(mark for mark in marked.data["marks"] if mark["name"] == "7")
        self.check("marks are listed", f"#{seven['mark']} button" in marked.text and marked.images, marked.text)
        clicked = await self.call("act", verb="click", target=f"#{seven['mark']}")
        self.check("a mark is clicked", "57" in clicked.text, clicked.text)
        read = await self.call("read", target=f"#{seven['mark']}@{marked.data['picture']}")
        self.check("a mark is read", seven["id"] in read.text, read.text)
        unknown = await self.call("act", verb="click", target="#999")
        self.check("an unknown mark is an error", "marks, #1 to #" in unknown.text, unknown.text)
        batch = await self.call("batch", items=[
            {"tool": "find", "args": {"selector": "textfield:Name", "app": "Form"}},
            {"tool": "write", "args": {"verb": "set", "target": "$0.matches.0.id", "text": "Batch", "app": "Form"}},
        ])  # fmt: skip
        self.check("a batch", batch.data["succeeded"] == 2 and "Batch" in batch.text, batch.text)
        launched = await self.call("apps", verb="launch", app="Files")
        self.check("launched", launched.data.get("app", {}).get("name") == "Files", launched.data)
        closed = await self.call("apps", verb="close", app="Files")
        self.check("closed", closed.data["closed"] is True, closed.data)
        windows = await self.call("apps", verb="windows")
        self.check("windows", any(window["app"] == "Notes" for window in windows.data["windows"]), windows.data)
        focus = await self.call("apps", verb="focus", app="Settings")
        self.check("focused", focus.data["window"]["app"] == "Settings", focus.data)
        hostile = await self.call("look", app="Hostile")
        body = hostile.text.split("\n")
        self.check("hostile text stays in its line", not any(line.lstrip().startswith(("SYSTEM", "</ui-0000")) for line in body), body)

    async def mistakes(self) -> None:
        for tool, arguments, said in [
            ("look", {"apq": 1}, "did you mean 'app'?"),
            ("look", {"app": 5}, "must be a string"),
            ("look", {"depth": "2"}, 'as in "depth": 1'),
            ("look", {"mode": "fulll"}, "did you mean 'full'?"),
            ("act", {"verb": "clik", "target": "x"}, "did you mean 'click'?"),
            ("act", {"verb": "click"}, "target is missing"),
            ("act", {"verb": "drag", "target": "x"}, "verb drag needs to"),
            ("act", {"verb": "click", "target": "x", "to": "y"}, "belongs to another verb"),
            ("write", {"verb": "set", "target": "x"}, "verb set needs text"),
            ("wait", {"for": "x"}, "for must be an array"),
            ("changes", {"since": "yesterday"}, "is not a clock token"),
            ("changes", {}, "since is missing"),
            ("batch", {"items": [{"tool": "look"}]}, "look cannot be in a batch"),
            ("batch", {"items": [{"tool": "finnd", "args": {}}]}, "did you mean 'find'?"),
            ("find", {"selector": "buton:x"}, "buton"),
            ("look", {"app": "Nobody"}, "running apps: "),
            ("act", {"verb": "click", "target": "btn_zzzzzz"}, "nothing was sent"),
            ("apps", {"verb": "launch"}, "verb launch needs app"),
        ]:
            wrong = await self.call(tool, **arguments)
            self.check(f"{tool} {arguments} is refused helpfully", wrong.is_error and said in wrong.text, wrong.text)
            self.check("errors have a code", bool(wrong.data["error"]["code"]), wrong.data)
