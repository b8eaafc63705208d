"""A recorded control meets its redesigned page, by the real script and the real rules."""

from dataclasses import dataclass
from typing import Any

import msgspec

from rutter.actors.rules.steps.healing import doubtful, heal, look_for, unlike
from rutter.actors.world.browser.tab import Tab
from rutter.events.action import Action, Fingerprint, Target
from rutter.events.page import Resolved
from rutter.events.planner import PlanProposed
from rutter.events.runtime import SessionStarted
from rutter.events.validator import ActionRejected
from rutter.events.workflow import Step, Workflow
from rutter.pipeline.sessions import session_started
from tests.support.page_server import PageServer
from tests.support.redesigned_pages import Case, html

WITHIN_MS = 2_000


@dataclass(frozen=True)
class Met:
    """A redesign is met by right: the control; asked: a person; refused: none; wrong: another."""

    how: str
    said: str


async def meet(tab: Tab, server: PageServer, case: Case) -> Met:
    """What would be clicked on the page as it is now, if anything."""
    await tab.navigate(server.show(html(case.before)), within_ms=WITHIN_MS)
    recorded = await _truth(tab, case.truth)
    assert recorded is not None
    action = Action("click", target=Target(recorded.ways, recorded.fingerprint))
    plan = PlanProposed(1, 1, "workflow", action, "step", index=0)
    await tab.navigate(server.show(html(case.after)), within_ms=WITHIN_MS)
    truth = await _truth(tab, case.truth)
    taken, why = await _decide(tab, plan)
    if taken is None:
        return Met("refused", why)
    same = truth is not None and _spot(truth) == _spot(taken)
    said = f"{recorded.name.text!r} -> {taken.name.text!r} {why}"
    if why:
        return Met("asked of the right one" if same else "asked of another", said)
    return Met("right" if same else "wrong", said)


async def _decide(tab: Tab, plan: PlanProposed) -> tuple[Resolved | None, str]:
    """The element that would be acted on, and why a person would be asked about it first; or none,
    and why."""
    found = await _find(tab, plan)
    why = unlike(plan, found, {}) if found is not None else "not there"
    if not why:
        return found, ""
    rejected = ActionRejected(1, "target_exists", why, "1", "execution_error", "element_not_found")
    request = look_for(plan, rejected, {})
    assert request is not None
    raw = await tab.call("lookalikes", request.fingerprint, within_ms=WITHIN_MS)
    healed = heal(plan, msgspec.convert(raw["elements"], tuple[Resolved, ...]), {})
    if isinstance(healed, str):
        return None, healed
    again = await _find(tab, healed[1])
    if again is None or (why := unlike(healed[1], again, {})):
        return None, f"not found again: {why}"
    return again, doubtful(_run_of(plan), healed[1], again)


def _run_of(plan: PlanProposed) -> SessionStarted:
    workflow = Workflow("made up", 1, (Step(plan.action),))
    return session_started.run_of(workflow, {}, ())


async def _find(tab: Tab, plan: PlanProposed) -> Resolved | None:
    assert plan.action.target is not None
    return await _resolve(tab, list(plan.action.target.strategies))


async def _truth(tab: Tab, truth: str) -> Resolved | None:
    return await _resolve(tab, [{"by": "css", "selector": f'[data-truth="{truth}"]'}])


async def _resolve(tab: Tab, ways: list[Any]) -> Resolved | None:
    raw = await tab.call("resolve", ways, 0, within_ms=WITHIN_MS)
    return None if raw["element"] is None else msgspec.convert(raw["element"], Resolved)


def _spot(element: Resolved) -> tuple[str, Fingerprint]:
    """No two controls of a page are in the same place."""
    return element.exact, element.fingerprint
