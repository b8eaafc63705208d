"""Pages that rewrite their own address: what is recorded at one moment is right at another."""

from collections.abc import AsyncIterator
from typing import Any

import pytest

from rutter.actors.answers import PersonAnswer, ScriptedPerson
from rutter.actors.world.browser.chromium import Chromium
from rutter.actors.world.browser.page_addresses import Addresses
from rutter.events.action import Action, Parameter
from rutter.events.critic import ActionJudged
from rutter.events.predictor import EffectsLearned, WorkflowLearned
from rutter.events.runtime import SessionEnded, SessionStarted
from rutter.events.workflow import Step, Workflow
from rutter.pipeline.app import App
from rutter.pipeline.sessions import session_started
from tests.support.log_checks import Replayed, events_of
from tests.support.page_server import PageServer
from tests.support.shop_facts import css

pytestmark = [pytest.mark.browser, pytest.mark.anyio]

# A list whose button opens an editor, which names itself once more: at once, when something is
# typed as an autosave does, a moment later whatever is done meanwhile, or not before it is over.
PAGE = """<title>Notes</title><h1>Notes</h1><button id=new>New note</button>
<form hidden><label>Title <input id=title></label> <button type=button id=keep>Keep</button></form>
<p id=said></p>
<script>
const when = "WHEN", base = location.pathname;
const name = () => history.replaceState({}, "", `${base}/draft/own?tab=text`);
document.querySelector("#new").onclick = (event) => {
  history.pushState({}, "", `${base}/draft?`);
  document.querySelector("form").hidden = false;
  event.target.hidden = true;
  if (when === "soon") name();
  if (when === "later") setTimeout(name, 60);
};
if (when === "typed") document.querySelector("#title").oninput = name;
if (when === "aside") document.querySelector("#new").addEventListener("click", () =>
  history.replaceState({}, "", "/error"));
document.querySelector("#keep").onclick = () => (said.textContent = `Kept ${title.value}`);
</script>"""


class Author:
    def __init__(self, app: App, log: Any, chromium: Chromium, server: PageServer) -> None:
        self._app, self._log, self._chromium, self._server = app, log, chromium, server
        self._url = server.show("")

    async def record(self, when: str) -> Workflow:
        self._server.replace(self._url, PAGE.replace("WHEN", when))
        steps = (
            Step(Action("navigate", url=self._url)),
            Step(Action("click", target=css("#new"))),
            Step(Action("type", target=css("#title"), value=Parameter("title"))),
            Step(Action("click", target=css("#keep"))),
        )
        host = self._server.url.removeprefix("http://")
        started = session_started.recording("note", steps, {"title": "Ropes"}, (), allow=[host])
        assert (await self._sail(started, f"rec {when}")).reason == "completed"
        learned = await events_of(self._log, f"rec {when}")
        return next(e.workflow for e in learned if isinstance(e, WorkflowLearned))

    async def work(self, workflow: Workflow, when: str) -> tuple[str, list[Any]]:
        self._server.replace(self._url, PAGE.replace("WHEN", when))
        name = f"run {when} of {workflow.session}"
        ended = await self._sail(session_started.run_of(workflow, {"title": "Sails"}, ()), name)
        return ended.reason, await events_of(self._log, name)

    async def _sail(self, started: SessionStarted, name: str) -> SessionEnded:
        person = ScriptedPerson(otherwise=PersonAnswer(True, phrase="confirm"))
        return await self._app.run_in_browser(started, self._chromium, answers=person, name=name)


@pytest.fixture
async def author(
    replayed: Replayed, chromium: Chromium, server: PageServer
) -> AsyncIterator[Author]:
    log = replayed.memory()
    async with App.open(log) as app:
        yield Author(app, log, chromium, server)


@pytest.mark.parametrize("recorded", ["soon", "typed", "never"])
async def test_a_page_that_names_itself_at_another_moment_is_the_same(
    author: Author, recorded: str
) -> None:
    workflow = await author.record(recorded)
    for when in ("soon", "typed", "later"):
        reason, _ = await author.work(workflow, when)
        assert reason == "completed", (recorded, when)


async def test_what_verified_runs_showed_is_known_from_then_on(author: Author) -> None:
    workflow = await author.record("never")
    _, events = await author.work(workflow, "soon")
    [learned] = [each for each in events if isinstance(each, EffectsLearned)]
    assert {each.index for each in learned.rewritten} == {2, 3, 4}
    assert {each.path.split("/", 3)[-1] for each in learned.rewritten} == {"draft/own"}


async def test_a_page_that_is_sent_aside_is_another_one(author: Author) -> None:
    workflow = await author.record("soon")
    reason, events = await author.work(workflow, "aside")
    judged = [each for each in events if isinstance(each, ActionJudged)]
    assert (reason, judged[-1].verdict) == ("failed", "wrong_target")


async def test_the_control_that_knows_one_address_only_refuses_a_right_run(
    author: Author, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was seen: whichever address the page had at some moment was the step's."""
    monkeypatch.setattr(Addresses, "been", ())
    workflow = await author.record("typed")
    reason, events = await author.work(workflow, "soon")
    judged = [each for each in events if isinstance(each, ActionJudged)]
    assert (reason, judged[-1].verdict) == ("failed", "wrong_target")
