"""A text browser shows the bundled sites: enough to try a brain without Chromium.

It shows a page as prompts do, line by line, and does what the seven tools say.
"""

import json
from collections.abc import Mapping
from html.parser import HTMLParser
from typing import Any

import msgspec

from rutter.actors.world.models.messages import (
    CallResult,
    ModelCall,
    ModelTurn,
    ResultsTurn,
    Turn,
    UserTurn,
)
from rutter.pipeline.demo_sites.loopback import Loopback
from tests.support.provider_server import Call, Heard
from tests.support.site_client import Answer, Client

NONCE = "0123456789abcdef0123"
TOOLS = ("get_snapshot", "browser_click", "browser_fill", "browser_select", "complete_task")
VOID = frozenset(("input", "meta", "br", "path", "link"))


class Box(msgspec.Struct):
    """A box is one element that a prompt would show."""

    role: str
    name: str = ""
    depth: int = 0
    given: dict[str, str] = {}
    form: tuple[str, str] | None = None
    options: list[tuple[str, str]] = []
    value: str = ""

    def line(self, ref: int) -> str:
        said = [f"{'  ' * self.depth}@e{ref}", self.role, json.dumps(self.name)]
        if self.value and self.role in ("textbox", "combobox"):
            said.append(f"= {json.dumps(self.value)}")
        return " ".join(said + ["checked"] * (self.role == "radio" and bool(self.value)))


class Document(HTMLParser):
    def __init__(self, html: str) -> None:
        super().__init__()
        self.boxes: list[Box] = []
        self.title = ""
        self._open: list[tuple[str, Box | None]] = []
        self._form: tuple[str, str] | None = None
        self._labels: dict[str, str] = {}
        self._label = ""
        self.feed(html)
        for box in self.boxes:
            box.name = box.name or self._labels.get(box.given.get("id", ""), "")

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        box = self._box(tag, given)
        if box is not None:
            box.depth = sum(each is not None for _, each in self._open)
            self.boxes.append(box)
        if tag == "form":
            self._form = (given.get("method", "get"), given["action"])
        elif tag == "label":
            self._label = given["for"]
        elif tag == "option":
            self.boxes[-1].options.append((given["value"], ""))
        if tag not in VOID:
            self._open.append((tag, box))

    def _box(self, tag: str, given: dict[str, str]) -> Box | None:
        form = self._form
        match tag:
            case "h1" | "h2" | "h3":
                return Box("heading 1")
            case _ if given.get("role") in ("heading", "alert", "status", "dialog"):
                return Box(given["role"], given.get("aria-label", ""))
            case "a":
                return Box("link", given=given)
            case "button":
                return Box("button", given=given, form=form)
            case "input":
                role = "radio" if given["type"] == "radio" else "textbox"
                return Box(role, given=given, form=form)
            case "select":
                return Box("combobox", given=given, form=form, options=[])
            case _:
                return None

    def handle_endtag(self, tag: str) -> None:
        while self._open and self._open.pop()[0] != tag:
            pass
        if tag == "form":
            self._form = None
        elif tag == "label":
            self._label = ""

    def handle_data(self, data: str) -> None:
        tag, box = self._open[-1] if self._open else ("", None)
        text = " ".join(data.split())
        if tag == "title":
            self.title = text
        elif self._label and text:
            self._labels[self._label] = text
        elif tag == "option" and text:
            self.boxes[-1].options[-1] = (self.boxes[-1].options[-1][0], text)
            self.boxes[-1].value = self.boxes[-1].value or text
        elif box is not None and not box.name:
            box.name = text


class TextBrowser:
    """A browser has one page at a time. `refuse`: the controls a person says no to, and how."""

    def __init__(self, site: Loopback, path: str, refuse: Mapping[str, str] | None = None) -> None:
        self._client = Client(site)
        self._refuse = dict(refuse or {})
        self._base = site.base_url
        self.acknowledges = "cancelled"
        self.ended = ""
        self.said = ""
        self.go("get", path)

    def go(self, method: str, path: str, form: Mapping[str, str] | None = None) -> None:
        answer: Answer = (
            self._client.post(path, **dict(form or {}))
            if method == "post"
            else self._client.get(path)
        )
        while answer.location:
            path = answer.location
            answer = self._client.get(path)
        self.path, self.document = path, Document(answer.body)

    @property
    def shown(self) -> str:
        lines = "\n".join(box.line(ref) for ref, box in enumerate(self.document.boxes))
        where = f"address: {self._base}{self.path}\ntitle: {self.document.title}"
        return f"The page now:\n<untrusted-{NONCE}>\n{where}\n{lines}\n</untrusted-{NONCE}>"

    def use(self, call: Call) -> dict[str, Any]:
        given = json.loads(call.text)
        if call.tool == "complete_task":
            return self._complete(given["status"], given["reason"])
        if call.tool == "get_snapshot":
            return {"success": True}
        box = self.document.boxes[int(given["ref"].removeprefix("@e"))]
        inside = self._dialog()
        if inside and box not in inside:
            return _wrong("element_obscured", "covered by the dialog")
        if (said := self._refuse.pop(box.name, None)) is not None:
            return _wrong("human_rejected", f"User feedback: {said}")
        return self._do(call.tool, box, given.get("value", ""))

    def _complete(self, status: str, reason: str) -> dict[str, Any]:
        headings = [each.name for each in self.document.boxes if each.role.startswith("heading")]
        done = any(self.acknowledges in each.casefold() for each in headings)
        if status == "success" and not done:
            return {"acknowledged": False, "message": "no criterion of success is met"}
        self.ended, self.said = status, reason
        return {"acknowledged": True}

    def _do(self, tool: str, box: Box, value: str) -> dict[str, Any]:
        if tool == "browser_fill":
            box.value = value
        elif tool == "browser_select":
            if value not in [text for _, text in box.options]:
                listed = ", ".join(text for _, text in box.options)
                return _wrong("action_failed", f"option_not_found: {listed}")
            box.value = value
        elif box.role == "radio":
            box.value = "on"
        elif "onclick" in box.given:
            kept = self._dialog()
            self.document.boxes = [each for each in self.document.boxes if each not in kept]
        elif box.role == "link":
            self.go("get", box.given["href"])
        elif box.given.get("type") == "button" or box.form is None:
            return {"success": True, "message": "nothing_changed"}
        else:
            self.go(*box.form, self._fields(box.form))
        return {"success": True}

    def _fields(self, form: tuple[str, str]) -> dict[str, str]:
        fields = {}
        for box in self.document.boxes:
            if box.form != form or "name" not in box.given:
                continue
            if box.role == "combobox":
                fields[box.given["name"]] = next(v for v, text in box.options if text == box.value)
            elif box.role == "radio" and box.value:
                fields[box.given["name"]] = box.given["value"]
            elif box.role == "textbox":
                fields[box.given["name"]] = box.value
        return fields

    def _dialog(self) -> list[Box]:
        found: list[Box] = []
        for box in self.document.boxes:
            if found and box.depth <= found[0].depth:
                break
            if found or box.role == "dialog":
                found.append(box)
        return found


def _wrong(error: str, message: str) -> dict[str, Any]:
    return {"success": False, "error": error, "message": message, "retriable": False}


class Talk:
    """A talk is the conversation as a model has it: what it said, what came of it, and the page."""

    def __init__(self, browser: TextBrowser, goal: str) -> None:
        self._browser = browser
        self._goal = goal
        self._turns: list[Turn] = [UserTurn(f"Your goal: {goal}")]
        self.calls: list[Call] = []

    def heard(self) -> Heard:
        *before, last = self._turns
        assert not isinstance(last, ModelTurn)
        page = f"{last.text}\n\n{self._browser.shown}"
        turns = (*before, msgspec.structs.replace(last, text=page))
        system = f"CURRENT GOAL: {self._goal}"
        return Heard("anthropic", "tried", system, turns, TOOLS, {}, {})

    def say(self, text: str, calls: tuple[Call, ...]) -> None:
        """Only the first call is done."""
        name = f"call_{len(self.calls)}"
        used = tuple(ModelCall(f"{name}_{i}", each.tool, each.text) for i, each in enumerate(calls))
        self._turns.append(ModelTurn(text, used))
        if not calls:
            self._turns.append(
                UserTurn("You called no tool. Call complete_task when you are done.")
            )
            return
        self.calls.append(calls[0])
        told = self._browser.use(calls[0])
        outcomes = [CallResult(used[0].id, used[0].tool, json.dumps(told), not told.get("success"))]
        outcomes += [CallResult(each.id, each.tool, "ignored", failed=True) for each in used[1:]]
        self._turns.append(ResultsTurn(tuple(outcomes)))
