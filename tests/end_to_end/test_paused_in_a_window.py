"""A run in a real window is paused, a person goes on in it, and hands it back."""

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import anyio
import msgspec
import pytest

from rutter.actors.answers import PersonAnswer, ScriptedPerson
from rutter.actors.world.browser.chromium import Chromium
from rutter.events.critic import ActionJudged
from rutter.events.executor import QueryAnswered
from rutter.events.log import EventLog
from rutter.events.planner import PlanProposed
from rutter.events.runtime import SessionEnded, SessionStarted
from rutter.events.validator import ActionStarted
from rutter.events.workflow import Workflow
from rutter.pipeline.app import App
from rutter.pipeline.demo_sites.chandlery import Site
from rutter.pipeline.sessions import session_started
from rutter.replay.story.wording import in_words
from tests.support.human_hand import Hand, Heard
from tests.support.log_checks import Replayed, events_of
from tests.support.site_sessions import ALONE, record_order

pytestmark = [pytest.mark.browser, pytest.mark.anyio, pytest.mark.timeout(120)]

# The site has no button for it unless it is altered, and every run would notice that.
PUT_ON_HOLD = """() => {
  const form = document.querySelector("#place-order").form;
  form.action = form.action.replace("/place", "/hold");
}"""


@pytest.fixture(scope="module")
def site() -> Iterator[Site]:
    with Site() as running:
        yield running


@pytest.fixture
async def log(replayed: Replayed, tmp_path: Path) -> AsyncIterator[EventLog]:
    opened = await replayed.sqlite(tmp_path / "log.db")
    yield opened
    await opened.close()


def at_the_window(workflow: Workflow, site: Site) -> SessionStarted:
    started = session_started.run_of(workflow, ALONE, {"password": site.password})
    return msgspec.structs.replace(started, headed=True)


def place_of(workflow: Workflow, words: str) -> int:
    """The number of the step that does this."""
    [place] = [n for n, step in enumerate(workflow.steps, 1) if words in in_words(step.action)]
    return place


async def pause_behind(app: App, heard: Heard, step: int) -> None:
    """When that step has begun: it comes to its end, and no other begins."""
    with anyio.fail_after(30):
        while not any(isinstance(e, ActionStarted) and e.step == step for e in heard.events):
            await heard.until(ActionStarted, heard.count(ActionStarted) + 1)
        await app.pause("s", "the person")
        while not any(isinstance(e, ActionJudged) and e.step == step for e in heard.events):
            await heard.until(ActionJudged, heard.count(ActionJudged) + 1)


async def taken_over(
    app: App,
    chromium: Chromium,
    site: Site,
    workflow: Workflow,
    person: ScriptedPerson,
    *,
    on_hold: bool = False,
) -> SessionEnded:
    """Paused before the order is placed; a person places it, or else puts it on hold, and hands it
    back."""
    secrets = {"password": site.password}
    started = at_the_window(workflow, site)
    ended: list[SessionEnded] = []
    app.listen((heard := Heard()).hear)

    async def sail() -> None:
        sailed = app.run_in_browser(started, chromium, answers=person, secrets=secrets, name="s")
        ended.append(await sailed)

    async with anyio.create_task_group() as group:
        group.start_soon(sail)
        await pause_behind(app, heard, place_of(workflow, "Place order") - 1)
        assert app.paused() == ("s",)
        assert chromium._browser is not None
        context = chromium._browser.contexts[-1]
        hand = Hand(context.pages[0], context, heard)
        if on_hold:
            await hand.page.evaluate(PUT_ON_HOLD)
        await hand.click("#place-order")
        await hand.sees("#order-number")
        await app.resume("s", "the person")
    return ended[0]


async def test_what_a_person_did_meanwhile_is_done_once(
    chromium: Chromium, site: Site, log: EventLog
) -> None:
    """The order is placed by hand while the run is paused before it: the run reads its number."""
    person = ScriptedPerson(otherwise=PersonAnswer(True, phrase="confirm"))
    async with App.open(log) as app:
        workflow = await record_order(app, log, chromium, site)
        ordered = len(site.orders)
        ended = await taken_over(app, chromium, site, workflow, person)
        events = await events_of(log, "s")
    assert (ended.reason, ended.detail) == ("completed", "the recorded end is reached")
    assert len(site.orders) == ordered + 1, "placed once"
    assert site.orders[-1].customer == ALONE["customer"]
    last = place_of(workflow, "Place order")
    planned = {event.step: event.index + 1 for event in events if isinstance(event, PlanProposed)}
    did = [planned[event.step] for event in events if isinstance(event, ActionStarted)]
    assert last not in did
    [read] = [event.text for event in events if isinstance(event, QueryAnswered)]
    assert read is not None
    assert str(site.orders[-1].number) in read.text
    [question] = person.asked
    assert question.question.endswith(
        f"who had the wheel knows if step {last} is done. Is it done?"
    )


async def test_what_a_person_did_instead_is_not_taken_for_it(
    chromium: Chromium, site: Site, log: EventLog
) -> None:
    """Put on hold, an order has its page at the same address: the page does not tell them apart."""
    no = ScriptedPerson(otherwise=PersonAnswer(False))
    async with App.open(log) as app:
        workflow = await record_order(app, log, chromium, site)
        ordered = len(site.orders)
        ended = await taken_over(app, chromium, site, workflow, no, on_hold=True)
    assert (ended.reason, ended.failure) == ("failed", "lost")
    assert ended.detail.startswith("a person had the wheel; ")
    assert len(site.orders) == ordered + 1, "the one on hold"
