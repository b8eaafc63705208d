"""Six ways of a lost step: a person is asked once, sees the right element among the first two, and
what they choose is done, verified and learned. Who says "none" has touched nothing."""

from collections.abc import AsyncIterator
from pathlib import Path

import msgspec
import pytest

from rutter.actors.answers import Nobody, PersonAnswer, ScriptedPerson
from rutter.actors.world.browser.chromium import Chromium
from rutter.events.action import Action, ByCss, Target, Text
from rutter.events.artifacts import ArtifactStore
from rutter.events.memory_log import MemoryLog
from rutter.events.page import Artifact
from rutter.events.runtime import SessionEnded
from rutter.events.validator import ApprovalRequested
from rutter.events.workflow import Step, Workflow
from rutter.pipeline.app import App
from rutter.pipeline.sessions import session_started
from tests.support.human_hand import recorded
from tests.support.log_checks import Replayed
from tests.support.page_server import PageServer
from tests.support.site_sessions import SaysYes, learned

pytestmark = [pytest.mark.browser, pytest.mark.anyio]

HEAD = "<title>Change invoice</title><h1>Change invoice</h1>"
FORM = "<form method=post action=/store><label>Note <input name=note></label> "
ANOTHER = '<input type=submit name=_more value="Save and add another"> '
SAVE = '<input type=submit name=_save value="Save">'
BEFORE = f"{HEAD}{FORM}{ANOTHER}{SAVE}</form><a href=/another>Cancel</a>"
NOTICE = "<h2>What is new</h2><p>Invoices have colours.</p>"
HIDE = '<button type=button onclick="this.parentElement.remove()">Hide</button>'
WAYS = {
    "renamed": (
        f"{HEAD}{FORM}{ANOTHER}<input type=submit name=_save value='Save changes'></form>",
        'the button "Save changes"',
    ),
    "moved into a menu": (
        f"{HEAD}{FORM}{ANOTHER}<details><summary>More</summary>{SAVE}</details></form>",
        'the button "More" first, then the button "Save"',
    ),
    "twin": (
        f"{HEAD}{FORM}{ANOTHER}<p>Draft</p>{SAVE}<p>Final</p>{SAVE}</form>",
        'the button "Save" (beside "Final")',
    ),
    "gone": (f"{HEAD}{FORM}{ANOTHER}</form><a href=/another>Cancel</a>", ""),
    "covered": (
        f"{BEFORE}<div style='position:fixed;inset:0;background:#0008'>{NOTICE}{HIDE}</div>",
        'the button "Hide" first, then the button "Save", where it was',
    ),
    "behind a new dialog": (
        f"{BEFORE}<dialog aria-label=News>{NOTICE}<a href=/another>Read more</a> "
        "<form method=dialog><button>Got it</button></form></dialog>"
        "<script>document.querySelector('dialog').showModal()</script>",
        'the button "Got it" first, then the field "Note", where it was',
    ),
}


class Chooser(ScriptedPerson):
    """A person looks at the picture and chooses what is called so; where nothing is, none."""

    def __init__(self, words: str) -> None:
        super().__init__()
        self._words = words
        self.pictures: list[Artifact] = []

    async def ask(self, question: ApprovalRequested) -> PersonAnswer:
        self.asked.append(question)
        numbers = {each.words: each.number for each in question.choices}
        number = numbers.get(self._words, 0)
        return PersonAnswer(bool(number), "" if number else "none", choice=number)

    def see(self, question: ApprovalRequested, picture: Artifact) -> None:
        self.pictures.append(picture)


class Invoices:
    """A page with a form is watched, and run again however it looks by then."""

    def __init__(self, app: App, log: MemoryLog, chromium: Chromium, server: PageServer) -> None:
        self.app = app
        self.log = log
        self.server = server
        self.url = server.show(BEFORE)
        self._chromium = chromium

    async def record(self) -> Workflow:
        script = (
            Step(Action("navigate", url=self.url)),
            Step(Action("type", target=Target((ByCss("input[name=note]"),)), value=Text("paid"))),
            Step(Action("click", target=Target((ByCss("input[name=_save]"),)))),
        )
        host = self.server.url.removeprefix("http://")
        started = session_started.recording("invoice", script, {}, (), allow=[host])
        ended = await self.app.run_in_browser(started, self._chromium, answers=SaysYes())
        assert ended.reason == "completed", ended
        self.server.forget(False)
        return (await learned(self.log))[-1]

    async def run(
        self, workflow: Workflow, person: ScriptedPerson | Nobody, *, headed: bool = False
    ) -> SessionEnded:
        started = session_started.run_of(workflow, {}, ())
        settings = msgspec.structs.replace(started.settings, resolve_ms=300, answer_ms=300)
        attended = person.who != "nobody"
        started = msgspec.structs.replace(started, settings=settings, attended=attended)
        started = msgspec.structs.replace(started, headed=headed)
        return await self.app.run_in_browser(
            started, self._chromium, answers=person, name=self.app.clock.new_id("run")
        )


@pytest.fixture
async def invoices(
    chromium: Chromium, server: PageServer, replayed: Replayed, tmp_path: Path
) -> AsyncIterator[Invoices]:
    log = replayed.memory()
    async with App.open(log, artifacts=ArtifactStore(tmp_path / "artifacts")) as app:
        yield Invoices(app, log, chromium, server)


async def test_a_person_says_what_a_renamed_button_is_now_and_the_next_run_knows(
    invoices: Invoices,
) -> None:
    await is_asked_about(invoices, "renamed")


@pytest.mark.parametrize("way", [way for way in WAYS if way != "renamed"])
async def test_every_other_way_of_a_lost_step_is_asked_about_too(
    way: str, invoices: Invoices
) -> None:
    await is_asked_about(invoices, way)


async def is_asked_about(invoices: Invoices, way: str) -> None:
    page, right = WAYS[way]
    workflow = await invoices.record()
    invoices.server.replace(invoices.url, page)

    refuses = Chooser("none of them")
    ended = await invoices.run(workflow, refuses)
    assert (ended.reason, ended.failure) == ("failed", "lost")
    assert invoices.server.stored == []
    [asked] = refuses.asked
    assert asked.kind == "choice"
    assert len(refuses.pictures) == 1
    if not right:
        return

    assert right in [each.words for each in asked.choices[:2]], asked.choices
    person = Chooser(right)
    ended = await invoices.run(workflow, person)
    assert ended.reason == "completed", (ended, person.asked)
    assert len(person.asked) == 1
    assert len(invoices.server.stored) == 1

    newest = (await learned(invoices.log))[-1]
    assert newest.version > workflow.version
    ended = await invoices.run(newest, Nobody())
    assert ended.reason == "completed", ended
    assert len(invoices.server.stored) == 2


class DoesItThemselves(Chooser):
    """A person does the step in the window, with a real hand, and says that it is done."""

    def __init__(self, chromium: Chromium, *selectors: str) -> None:
        super().__init__("")
        self._chromium = chromium
        self._selectors = selectors

    async def ask(self, question: ApprovalRequested) -> PersonAnswer:
        self.asked.append(question)
        if question.kind == "choice":
            return PersonAnswer(True, myself=True)
        assert self._chromium._browser is not None
        page = self._chromium._browser.contexts[-1].pages[0]
        for selector in self._selectors:
            await page.click(selector)
        return PersonAnswer(True)


async def test_what_a_person_does_themselves_is_recorded_and_the_run_goes_on_behind_it(
    invoices: Invoices, chromium: Chromium
) -> None:
    workflow = await invoices.record()
    page = (
        f'{HEAD}{FORM}{ANOTHER}<button type=button onclick="this.nextElementSibling.hidden=false">'
    )
    invoices.server.replace(
        invoices.url, f"{page}Done?</button><button name=_keep hidden>Keep it</button></form>"
    )
    person = DoesItThemselves(chromium, "text=Done?", "text=Keep it")
    ended = await invoices.run(workflow, person, headed=True)
    assert ended.reason == "completed", ended
    assert [each.kind for each in person.asked] == ["choice", "by_hand"]
    assert len(invoices.server.stored) == 1

    events = [each.event async for each in invoices.log.read(kinds=["PersonActed"])]
    assert len(events) == 2
    newest = (await learned(invoices.log))[-1]
    assert [step.optional for step in newest.steps] == [False, False, True, False]
    assert (await invoices.run(newest, Nobody())).reason == "completed"
    assert len(invoices.server.stored) == 2


@pytest.mark.parametrize("only", [True, False])
async def test_a_step_is_done_again_by_hand_behind_those_that_are_kept(
    only: bool, invoices: Invoices, chromium: Chromium
) -> None:
    workflow = await invoices.record()
    invoices.server.replace(invoices.url, WAYS["renamed"][0])
    started = msgspec.structs.replace(
        session_started.run_of(workflow, {}, ()),
        purpose="record",
        by_hand_from=2,
        by_hand_only=only,
    )
    async with recorded(invoices.app, chromium, started, answers=Nobody()) as (hand, ended):
        await hand.click("text=Save changes")
        await hand.looks(2)  # at what came of it, behind the two that were done for them
    assert ended["it"].reason == "completed"
    assert len(invoices.server.stored) == 1

    newest = (await learned(invoices.log))[-1]
    assert (newest.version, len(newest.steps)) == (workflow.version + 1, 3)
    assert newest.steps[:2] == workflow.steps[:2]
    assert newest.steps[2].action != workflow.steps[2].action
    assert (newest.end == workflow.end) or not only
    invoices.server.forget(False)
    assert (await invoices.run(newest, Nobody())).reason == "completed"
    assert len(invoices.server.stored) == 1
