"""Done means that the server has it: pages that send late, hand on late, listen to keys, are
covered or off for a while, or want another gesture than a click; and servers that keep nothing.
Each is recorded and run through the whole pipeline. The control of each is the same run without
what it is about: there the server has nothing, or nobody notices."""

from collections.abc import AsyncIterator, Callable
from typing import Any, NamedTuple

import msgspec
import pytest

from rutter.actors.answers import PersonAnswer, ScriptedPerson
from rutter.actors.executor.patience import StepPatience
from rutter.actors.world.browser.chromium import Chromium
from rutter.actors.world.browser.page_script import library
from rutter.actors.world.browser.tab import Tab
from rutter.events.action import Action, Parameter
from rutter.events.observer import Shown
from rutter.events.page import Rest, Resting
from rutter.events.predictor import WorkflowLearned
from rutter.events.runtime import SessionEnded, SessionStarted
from rutter.events.validator import PlanAdmitted
from rutter.events.workflow import Step, Workflow
from rutter.pipeline.app import App
from rutter.pipeline.sessions import session_started
from tests.support.log_checks import Replayed, events_of
from tests.support.page_server import PATIENT, PageServer
from tests.support.shop_facts import css

pytestmark = [pytest.mark.browser, pytest.mark.anyio]

HASTY_MS = 400
BRIEF = 3_000  # ms, for what is never found
PAGE = """<title>Notes</title><h1>Notes</h1>
<style>
@keyframes gone { to { visibility: hidden } }
#menu:not(:hover) #keep { display: none }
.cover { position: fixed; inset: 0; background: #fff8; animation: gone 0s forwards }
</style>
<label>Note <input id=note></label> <p id=menu><b>Menu</b> <button type=button id=keep>Keep</button>
<p id=said></p><p id=notes></p>
<script>
const [note, keep, said, notes] = ["note", "keep", "said", "notes"].map((id) =>
  document.getElementById(id));
const post = (what) => fetch("/store", {method: "POST", body: what});
const shown = () => said.textContent = "Thank you";
const cover = (seconds, more) => document.body.insertAdjacentHTML("beforeend",
  `<div class=cover style="animation-delay:${seconds}s" ${more ?? ""}>Loading</div>`);
const open = () => document.querySelector("style").sheet.deleteRule(1);
%s
</script>"""


# -- what is switched off --------------------------------------------------------------------------


def hurry(patch: pytest.MonkeyPatch) -> None:
    """No page is let come to rest."""

    async def rest_and_find(self: Tab, wanted: Resting, sought: object) -> tuple[Rest, None]:
        return Rest(), None

    async def sent_off(self: Tab) -> None:
        """Not waited for."""

    patch.setattr(Tab, "rest_and_find", rest_and_find)
    patch.setattr(Tab, "sent_off", sent_off)


def paste(patch: pytest.MonkeyPatch) -> None:
    """All text comes without a key."""

    async def nobody(self: Tab) -> bool:
        return False

    patch.setattr(Tab, "_keys_heard", nobody)
    patch.setattr("rutter.actors.world.browser.tab.FEW_KEYS", 0)


def give_up(patch: pytest.MonkeyPatch) -> None:
    """What is covered or off is given up within half a second."""
    begin = StepPatience.__init__

    def briefly(self: StepPatience, admitted: PlanAdmitted) -> None:
        begin(self, msgspec.structs.replace(admitted, within_ms=HASTY_MS, answer_ms=HASTY_MS))

    patch.setattr(StepPatience, "__init__", briefly)


def unmarked(patch: pytest.MonkeyPatch) -> None:
    """A notice is what has the role of one."""
    whole = library()
    noting = "if (!look.over) noteUnmarked(look);"
    assert noting in whole
    patch.setattr(
        "rutter.actors.world.browser.page_session.library", lambda: whole.replace(noting, "")
    )


def plainly(workflow: Workflow) -> Workflow:
    """Every gesture is one click, and what is only pointed at is passed over."""
    steps = [each for each in workflow.steps if each.action.type != "hover"]
    replace = msgspec.structs.replace
    clicks = (replace(each, action=replace(each.action, count=1)) for each in steps)
    return replace(workflow, steps=tuple(clicks))


def unread(workflow: Workflow) -> Workflow:
    """Nothing is read back."""
    replace = msgspec.structs.replace
    steps = (replace(each, after=replace(each.after, read_back=None)) for each in workflow.steps)
    return replace(workflow, steps=tuple(steps))


# -- pages -----------------------------------------------------------------------------------------


CLICK = (Action("click", target=css("#keep")),)
TWICE = (Action("click", target=css("#keep"), count=2),)
POINTED = (Action("hover", target=css("#menu")), *CLICK)


class Case(NamedTuple):
    script: str
    control: Callable[[pytest.MonkeyPatch], None] | None = None
    does: tuple[Action, ...] = CLICK  # behind what is typed
    without: Callable[[Workflow], Workflow] = lambda workflow: workflow
    seconds: float = 0  # that something is in the way
    shows: str = "the page has not sent"  # how the control ends

    def page(self, seconds: float | None = None) -> str:
        return self.script.replace("SECONDS", str(self.seconds if seconds is None else seconds))


LONG = PATIENT / 2_000  # that whoever waits at all waits for
SENDS = "keep.onclick = () => { shown(); post(note.value) };"

CASES = {
    "kept by itself a while after the last input": Case(
        "let due; note.oninput = () => {"
        " clearTimeout(due); due = setTimeout(() => post(note.value), 700) };",
        hurry,
        does=(),
    ),
    "sent in a second request that follows the answer of the first": Case(
        "open(); keep.onclick = () => { shown(); fetch('/none').then(() =>"
        " setTimeout(() => post(note.value), 500)) };",
        hurry,
    ),
    "handed to the form after a pause": Case(
        "open(); let text = ''; let due;"
        "note.oninput = () => {"
        " clearTimeout(due); due = setTimeout(() => text = note.value, 600) };"
        "keep.onclick = () => { shown(); if (text) post(text) };",
        hurry,
    ),
    "a button that a key shows": Case(
        f"note.onkeyup = () => {{ if (note.value) open(); note.onkeyup = null }}; {SENDS}",
        paste,
        shows="element_not_found",
    ),
    # None of these is put off by a script: the page is at rest, and something is in the way.
    "covered for 1.2 s": Case(
        f"open(); note.oninput = () => {{ cover(SECONDS); note.oninput = null }}; {SENDS}",
        give_up,
        seconds=1.2,
        shows="element_obscured",
    ),
    "off for 0.7 s": Case(
        "open(); keep.disabled = true; note.oninput = () => { cover(SECONDS, 'id=c');"
        " c.style.inset = 'auto'; note.oninput = null;"
        f" c.onanimationstart = () => (keep.disabled = false) }}; {SENDS}",
        give_up,
        seconds=0.7,
        shows="element_disabled",
    ),
    "covered at the start": Case(
        f"open(); cover(SECONDS, 'role=dialog aria-modal=true'); {SENDS}",
        give_up,
        seconds=1,
        shows="element_obscured",
    ),
    "clicked twice": Case(
        "open(); keep.ondblclick = () => { shown(); post(note.value) };",
        does=TWICE,
        without=plainly,
        shows="no_effect",
    ),
    "shown to whoever points at it": Case(
        SENDS, does=POINTED, without=plainly, shows="element_not_found"
    ),
}  # fmt: skip


class Author:
    def __init__(self, app: App, log: Any, chromium: Chromium, server: PageServer) -> None:
        self._app, self._log, self._chromium, self._server = app, log, chromium, server
        self._url = server.show("")
        self._sessions = 0

    def show(self, script: str, *, forgetful: bool = False) -> None:
        self._server.replace(self._url, PAGE % script)
        self._server.forget(forgetful)

    async def record(self, *does: Action) -> Workflow:
        steps = (
            Action("navigate", url=self._url),
            Action("type", target=css("#note"), value=Parameter("note")),
            *does,
        )
        host = self._server.url.removeprefix("http://")
        script = tuple(map(Step, steps))
        started = session_started.recording("note", script, {"note": "Ropes"}, (), allow=[host])
        ended, events = await self._sail(started)
        assert (ended.reason, self._server.stored) == ("completed", ["Ropes"]), ended
        return next(each.workflow for each in events if isinstance(each, WorkflowLearned))

    async def run(self, workflow: Workflow, within_ms: int = PATIENT) -> SessionEnded:
        ended, _ = await self._sail(
            session_started.run_of(workflow, {"note": "Sails"}, ()), within_ms
        )
        return ended

    async def _sail(
        self, started: SessionStarted, within_ms: int = PATIENT
    ) -> tuple[SessionEnded, list[Any]]:
        settings = msgspec.structs.replace(started.settings, resolve_ms=within_ms)
        started = msgspec.structs.replace(started, settings=settings)
        self._sessions += 1
        name = f"session {self._sessions}"
        person = ScriptedPerson(otherwise=PersonAnswer(True, phrase="confirm"))
        ended = await self._app.run_in_browser(started, self._chromium, answers=person, name=name)
        return ended, await events_of(self._log, name)


@pytest.fixture
async def author(
    replayed: Replayed, chromium: Chromium, server: PageServer
) -> AsyncIterator[Author]:
    log = replayed.memory()
    async with App.open(log) as app:
        yield Author(app, log, chromium, server)


@pytest.mark.parametrize("name", CASES)
async def test_done_means_that_the_server_has_it(
    author: Author, server: PageServer, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    case = CASES[name]
    author.show(case.page())
    workflow = await author.record(*case.does)
    author.show(case.page())
    ended = await author.run(workflow)
    assert (ended.reason, server.stored) == ("completed", ["Sails"]), ended
    author.show(case.page(LONG))
    with monkeypatch.context() as patch:
        if case.control is not None:
            case.control(patch)
        ended = await author.run(case.without(workflow), within_ms=BRIEF)
    assert "Sails" not in server.stored, "the control shows nothing"
    assert case.shows in (ended.detail or ended.reason), ended


# -- servers that keep nothing ---------------------------------------------------------------------

# What the page says it did is in a list of messages, by its looks alone.
MESSAGES = """<ul class=messages><li class=success>The note was kept</ul>"""
SAYS = f"post(note.value).then(() => document.body.insertAdjacentHTML('afterbegin', `{MESSAGES}`))"
FINAL = "open(); keep.textContent = 'Submit note';"
LISTS = "fetch('/store').then((all) => all.text()).then((all) => notes.textContent = all);"


class Lie(NamedTuple):
    """A page as it was recorded, and as it is when its server keeps nothing. Its button cannot be
    taken back: what the page says to others does not decide."""

    honest: str
    silent: str
    control: Callable[[pytest.MonkeyPatch], None] | None = None
    without: Callable[[Workflow], Workflow] = lambda workflow: workflow


LIES = {
    "no word of it, where there was one": Lie(
        f"keep.onclick = () => {{ shown(); {SAYS} }}", SENDS, control=unmarked
    ),
    "all that it ever said": Lie(
        f"{LISTS} keep.onclick = () => {{ shown(); {SAYS} }}",
        f"{LISTS} keep.onclick = () => {{ shown(); {SAYS} }}",
        without=unread,
    ),
}


@pytest.mark.parametrize("name", LIES)
async def test_a_server_that_keeps_nothing_is_found_out(
    author: Author, server: PageServer, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    lie = LIES[name]
    for control in (False, True):
        with monkeypatch.context() as patch:
            if control and lie.control is not None:
                lie.control(patch)
            author.show(FINAL + lie.honest)
            workflow = await author.record(*CLICK)
            author.show(FINAL + lie.silent, forgetful=True)
            ended = await author.run(lie.without(workflow) if control else workflow)
        assert server.stored == []
        assert (ended.reason == "completed") is control, (control, ended)


DRAFT = """open();
for (const at of Object.values(localStorage)) note.value = JSON.parse(at).text;
keep.onclick = () => {
  localStorage.setItem("draft", JSON.stringify({text: note.value}));
  post(note.value).then(shown);
};"""


@pytest.mark.parametrize("told", [True, False])
async def test_what_the_browser_keeps_itself_is_no_proof_that_the_server_has_it(
    author: Author, told: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A page that fills its field again from the browser's own storage; the control is not told
    that it is kept there, and takes it for stored."""
    if not told:
        shown = Shown
        monkeypatch.setattr(
            "rutter.actors.world.browser.page_reading.Shown",
            lambda text, *more: shown(text, *more[:1]),
        )
    author.show(DRAFT)
    workflow = await author.record(*CLICK)
    assert any(step.after.read_back for step in workflow.steps) is not told
