"""Sessions record the order on the bundled site and run it again however it looks by then."""

from collections.abc import Sequence
from dataclasses import dataclass

import msgspec

from rutter.actors.answers import Answers, PersonAnswer, ScriptedPerson
from rutter.actors.world.browser.chromium import Chromium
from rutter.events.executor import QueryAnswered, TargetChanged, TargetResolved
from rutter.events.log import EventLog
from rutter.events.page import Resolved
from rutter.events.planner import PlanProposed, TargetHealed
from rutter.events.predictor import WorkflowLearned
from rutter.events.runtime import SessionEnded
from rutter.events.validator import ActionStarted
from rutter.events.workflow import Workflow
from rutter.pipeline.app import App
from rutter.pipeline.demo_sites.chandlery import Order, Site, order_script
from rutter.pipeline.demo_sites.chandlery.switches import Switches
from rutter.pipeline.demo_sites.chandlery.wording import AS_RECORDED, word
from rutter.pipeline.sessions import session_started
from rutter.pipeline.workflows.recorder_import import RecorderScript, prepare
from tests.support.log_checks import events_of

WATCHED = {
    "customer": "Aurora Shipping",
    "product": "mooring-rope",
    "quantity": "3",
    "delivery": "2026-03-20",
    "berth": "Waalhaven pier 7",
    "note": "Call the bosun on arrival.",
}
ALONE = {
    "customer": "Juniper Tankers",
    "product": "shackle-bow",
    "quantity": "12",
    "delivery": "2026-04-02",
    "berth": "Botlek quay 2",
    "note": "Second gangway.",
}


class SaysYes(ScriptedPerson):
    """A person approves all that is asked: the agent alone stands before a wrong click."""

    def __init__(self) -> None:
        super().__init__(otherwise=PersonAnswer(True, "go on", "confirm"))


@dataclass(frozen=True)
class Sailed:
    """A run acted on these elements, by the number of its step."""

    ended: SessionEnded
    acted_on: dict[int, Resolved]
    healed: dict[int, TargetHealed]
    learned: Sequence[Workflow]
    orders: Sequence[Order]
    read: Sequence[str]


async def record_order(app: App, log: EventLog, chromium: Chromium, site: Site) -> Workflow:
    """Watched on the site as it is. The order that this places stays."""
    secrets = {"password": site.password}
    recorded = msgspec.convert(order_script(site.base_url, **WATCHED), RecorderScript)
    script = prepare(recorded, WATCHED, secrets)
    host = site.base_url.removeprefix("http://")
    ended = await app.run_in_browser(
        session_started.recording("order", script.steps, WATCHED, secrets, allow=[host]),
        chromium,
        answers=SaysYes(),
        secrets=secrets,
        typed=script.typed,
    )
    assert ended.reason == "completed", ended
    return (await learned(log))[-1]


async def learned(log: EventLog) -> list[Workflow]:
    events = [envelope.event async for envelope in log.read(kinds=["WorkflowLearned"])]
    return [event.workflow for event in events if isinstance(event, WorkflowLearned)]


async def sail_order(
    app: App,
    log: EventLog,
    chromium: Chromium,
    site: Site,
    workflow: Workflow,
    *,
    answers: Answers | None = None,
    name: str = "",
) -> Sailed:
    before = len(site.orders)
    known = len(await learned(log))
    secrets = {"password": site.password}
    started = session_started.run_of(workflow, ALONE, secrets)
    # The pages are on this machine: what is not there at once will not come.
    settings = msgspec.structs.replace(started.settings, resolve_ms=300)
    started = msgspec.structs.replace(started, settings=settings)
    session = name or app.clock.new_id("run")
    ended = await app.run_in_browser(
        started, chromium, answers=answers or SaysYes(), secrets=secrets, name=session
    )
    acted_on: dict[int, Resolved] = {}
    healed: dict[int, TargetHealed] = {}
    read: list[str] = []
    element: Resolved | None = None
    recorded: dict[int, int] = {}  # by the number of a step: a look at its result has one too
    for event in await events_of(log, session):
        match event:
            case PlanProposed(step=step, index=index) if index >= 0:
                recorded[step] = index + 1
            case TargetHealed() as found:
                healed[found.step] = found
            case TargetResolved() | TargetChanged():
                element = event.element
            case ActionStarted(step=step, action=action) if action.target is not None:
                assert element is not None
                acted_on[recorded[step]] = element
            case QueryAnswered(text=text) if text is not None:
                read.append(text.text)
            case _:
                pass
    versions = (await learned(log))[known:]
    return Sailed(ended, acted_on, healed, versions, site.orders[before:], read)


def right_names(switches: Switches) -> dict[int, str]:
    """What the right element of each step is called on the site as it looks now."""
    words = {key: word(key, switches) for key in AS_RECORDED}
    return {
        2: "User name",
        3: "Password",
        4: words["sign_in"],
        5: "Customers",
        6: "Customer search",
        8: ALONE["customer"],
        9: words["new_order"],
        10: words["product"],
        11: words["quantity"],
        12: words["delivery"],
        13: words["berth"],
        14: "Urgent",
        15: words["note"],
        16: words["review"],
        17: words["place"],
        18: "",
        19: "Orders",
    }


def wrong_of(sailed: Sailed, switches: Switches) -> list[str]:
    """Everything that was done to an element that was not the right one, and every wrong order."""
    names = right_names(switches)
    wrong = [
        f"step {step}: {element.name.text!r} is not {names[step]!r}"
        for step, element in sailed.acted_on.items()
        if element.name.text != names[step]
    ]
    expected = {**ALONE, "quantity": int(ALONE["quantity"]), "placed": True, "priority": "urgent"}
    for order in sailed.orders:
        found = {field: getattr(order, field) for field in expected}
        if found != expected:
            wrong.append(f"ordered {found}")
    if list(sailed.read) not in ([], [str(order.number) for order in sailed.orders]):
        wrong.append(f"read {sailed.read}")
    if len(sailed.orders) > 1:
        wrong.append(f"{len(sailed.orders)} orders")
    return wrong
