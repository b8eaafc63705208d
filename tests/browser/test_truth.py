"""Done means that the server has it: pages that send late, hand on late, or listen to keys, each
recorded and run through the whole pipeline. The control of each is the same run without what it is
about: there the server has nothing."""

from collections.abc import AsyncIterator, Callable
from typing import Any, NamedTuple

import pytest

from actors.browser.chromium import Chromium
from actors.browser.tab import Tab
from actors.person import Answer, ScriptedPerson
from events.action import Action, ByCss, Parameter, Target
from events.observer import Shown
from events.page import Rest, Resting
from events.predictor import WorkflowLearned
from events.runtime import SessionEnded, SessionStarted
from events.workflow import Step, Workflow
from pipeline import launch
from pipeline.app import App
from tests.browser.page_server import PageServer
from tests.logs import Replayed, events_of

pytestmark = [pytest.mark.browser, pytest.mark.anyio]

STORE = "/none"  # what is sent there counts
PAGE = f"""<title>Notes</title><h1>Notes</h1>
<label>Note <input id=note></label> <button type=button id=keep hidden>Keep</button><p id=said></p>
<script>
const note = document.querySelector("#note"), keep = document.querySelector("#keep");
const said = document.querySelector("#said");
const post = (what) => fetch("{STORE}", {{method: "POST", body: what}});
const shown = () => said.textContent = "Thank you";
%s
</script>"""


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
    patch.setattr("actors.browser.tab.FEW_KEYS", 0)


class Case(NamedTuple):
    script: str
    control: Callable[[pytest.MonkeyPatch], None]
    button: bool = True  # whether something is clicked behind what is typed


CASES = {
    "kept by itself a while after the last input": Case(
        "let due; note.oninput = () => {"
        " clearTimeout(due); due = setTimeout(() => post(note.value), 700) };",
        hurry,
        button=False,
    ),
    "sent in a second request that follows the answer of the first": Case(
        "keep.hidden = false;"
        "keep.onclick = () => { shown(); post('begin').then(() =>"
        " setTimeout(() => post(note.value), 500)) };",
        hurry,
    ),
    "handed to the form after a pause": Case(
        "keep.hidden = false; let text = ''; let due;"
        "note.oninput = () => {"
        " clearTimeout(due); due = setTimeout(() => text = note.value, 600) };"
        "keep.onclick = () => { shown(); if (text) post(text) };",
        hurry,
    ),
    "a button that a key shows": Case(
        "note.onkeyup = () => keep.hidden = !note.value;"
        "keep.onclick = () => { shown(); post(note.value) };",
        paste,
    ),
}


def css(selector: str) -> Target:
    return Target((ByCss(selector),))


class Author:
    def __init__(self, app: App, log: Any, chromium: Chromium, server: PageServer) -> None:
        self._app, self._log, self._chromium, self._server = app, log, chromium, server

    async def record(self, case: Case) -> Workflow:
        steps = [
            Step(Action("navigate", url=self._server.show(PAGE % case.script))),
            Step(Action("type", target=css("#note"), value=Parameter("note"))),
        ]
        if case.button:
            steps.append(Step(Action("click", target=css("#keep"))))
        host = self._server.url.removeprefix("http://")
        started = launch.recording("note", tuple(steps), {"note": "Ropes"}, (), allow=[host])
        ended = await self._sail(started, "rec")
        assert ended.reason == "completed", ended
        learned = await events_of(self._log, "rec")
        return next(each.workflow for each in learned if isinstance(each, WorkflowLearned))

    async def run(self, workflow: Workflow, note: str) -> SessionEnded:
        return await self._sail(launch.run_of(workflow, {"note": note}, ()), f"run {note}")

    def has(self, note: str) -> bool:
        return f"{STORE} {note}" in self._server.asked

    async def _sail(self, started: SessionStarted, name: str) -> SessionEnded:
        person = ScriptedPerson(otherwise=Answer(True, phrase="confirm"))
        return await self._app.sail(started, self._chromium, answers=person, name=name)


@pytest.fixture
async def author(
    replayed: Replayed, chromium: Chromium, server: PageServer
) -> AsyncIterator[Author]:
    log = replayed.memory()
    async with App.open(log) as app:
        yield Author(app, log, chromium, server)


@pytest.mark.parametrize("name", CASES)
async def test_done_means_that_the_server_has_it(
    author: Author, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    case = CASES[name]
    workflow = await author.record(case)
    assert author.has("Ropes"), "recorded from a script, at a careful pace"
    ended = await author.run(workflow, "Sails")
    assert (ended.reason, author.has("Sails")) == ("completed", True), ended
    with monkeypatch.context() as patch:
        case.control(patch)
        await author.run(workflow, "Oars")
    assert not author.has("Oars"), "the control shows nothing"


DRAFT = """keep.hidden = false;
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
        monkeypatch.setattr("actors.observer.Shown", lambda text, *more: shown(text, *more[:1]))
    workflow = await author.record(Case(DRAFT, hurry))
    assert any(step.after.read_back for step in workflow.steps) is not told
