"""A process that died while a model was thinking: what the next one makes of it."""

import pytest

from rutter.events.advisor import AdviceLost, AdvicePrepared
from rutter.events.runtime import SessionEnded
from tests.replay.test_advised_replay import SESSION, at_the_fork
from tests.support.log_checks import Replayed, events_of
from tests.support.shop_sessions import NextClock, open_app
from tests.support.step_kinds import PROMPT

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize("prepared", [True, False])
async def test_the_question_is_lost_and_not_asked_again(
    replayed: Replayed, *, prepared: bool
) -> None:
    told = at_the_fork(600_000)
    if prepared:
        told.tell(SESSION, "advisor", AdvicePrepared("a1", PROMPT, 700))
    log = replayed.memory(*told.turns)
    async with open_app(log, clock=NextClock()):
        pass
    events = await events_of(log, SESSION)

    assert [event for event in events if isinstance(event, AdviceLost)] == [AdviceLost("a1")]
    assert isinstance(events[-1], SessionEnded)
    assert events[-1].reason == "interrupted"
    before = len([each for each in told.log if each.session == SESSION])
    assert not [event for event in events[before:] if type(event).__name__ == "AdviceRequested"]
