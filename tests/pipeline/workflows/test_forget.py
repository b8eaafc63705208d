"""Recorded, sailed freely, forgotten, sailed freely again: the model is the fold without it, in the
process that said so, in the next one, and in replay (every log is derived again at the end)."""

from pathlib import Path

import msgspec
import pytest

from rutter.actors.answers import PersonAnswer, ScriptedPerson, Who
from rutter.events.errors import BadInput, LogWriteFailed
from rutter.events.log import EventLog
from rutter.events.predictor import PredictionMade, SessionForgotten
from rutter.events.run_settings import PredictorName
from rutter.events.runtime import SessionStarted
from rutter.events.signature import token
from rutter.events.sqlite_log import SqliteLog
from rutter.events.sqlite_reader import SqliteReader
from rutter.events.validator import ApprovalRequested
from rutter.pipeline.app import App
from rutter.pipeline.config.data_directory import DataDirectory
from rutter.pipeline.sessions import session_started
from rutter.pipeline.workflows.forget import ForgetTarget, forget
from rutter.replay.verify import verify
from tests.support.log_checks import check_log, events_of, records_of
from tests.support.scripted_shop import FAIRLEAD, ORDER, ORIGIN
from tests.support.shop_sessions import (
    YES,
    NextClock,
    open_app,
    record_order,
    recording,
    sail,
    with_settings,
)

pytestmark = pytest.mark.anyio

MODELS: tuple[PredictorName, ...] = ("foresight", "markov2")
GO, FIND, PLACE = (ORDER[at].action for at in (0, 2, 5))
TIMES = 4  # what was seen once or twice is not sure enough to be done


def free(model: PredictorName) -> SessionStarted:
    started = session_started.free_run(ORIGIN + "/", FAIRLEAD, (), threshold=500_000)
    return with_settings(started, predictor=model)


async def practise(app: App, model: PredictorName) -> list[str]:
    """The same order a few times, recorded under names of its own."""
    names = [f"practice-{number}" for number in range(TIMES)]
    for name in names:
        started = msgspec.structs.replace(recording(predictor=model), name=name)
        ended = await sail(app, started, answers=ScriptedPerson(otherwise=YES), name=name)
        assert ended.reason == "completed", ended
    return names


async def predictions(log: EventLog, session: str) -> list[PredictionMade]:
    return [e for e in await events_of(log, session) if isinstance(e, PredictionMade)]


def foreseen(made: list[PredictionMade]) -> set[str]:
    return {candidate.token for each in made for candidate in each.candidates}


@pytest.mark.parametrize("model", MODELS)
async def test_what_was_forgotten_is_no_longer_predicted(
    pipeline_log: EventLog, model: PredictorName
) -> None:
    async with open_app(pipeline_log) as app:
        names = await practise(app, model)
        await sail(app, free(model), name="before")
        for name in (*names, "before"):
            await app.say_process(SessionForgotten(name))
        await sail(app, free(model), name="after")
        before = await predictions(pipeline_log, "before")
        after = await predictions(pipeline_log, "after")

    assert {made.generation for made in before} == {0}
    assert {token(FIND), token(PLACE)} <= foreseen(before)
    assert {made.generation for made in after} == {TIMES + 1}
    assert foreseen(after) <= {token(GO)}  # which is what this session did itself
    assert not any(made.within for made in after)


@pytest.mark.parametrize("model", MODELS)
async def test_what_others_taught_is_predicted_as_if_it_had_never_been(
    pipeline_log: EventLog, model: PredictorName
) -> None:
    """One went another way. Without it the model says what it said before that."""
    async with open_app(pipeline_log) as app:
        await practise(app, model)
        await sail(app, free(model), name="before")
        await sail(app, recording(GO, FIND, GO, FIND, predictor=model), name="other")
        await sail(app, free(model), name="between")
        for name in ("before", "other", "between"):
            await app.say_process(SessionForgotten(name))
        await sail(app, free(model), name="after")
        before, between, after = [
            [made.candidates for made in await predictions(pipeline_log, name)]
            for name in ("before", "between", "after")
        ]

    assert after == before != between


async def test_a_session_that_is_under_way_goes_on_with_the_new_generation(
    pipeline_log: EventLog,
) -> None:
    async with open_app(pipeline_log) as app:
        names = await practise(app, "foresight")
        person = Forgets(app, names)  # asked before the order is placed
        await sail(app, free("foresight"), answers=person, name="free")
        made = await predictions(pipeline_log, "free")

    old = [each for each in made if each.generation == 0]
    new = made[len(old) :]
    assert {each.generation for each in new} == {TIMES}
    assert token(PLACE) in foreseen(old)
    assert foreseen(new) <= {token(GO)}


class Forgets:
    """A person who forgets what was learned and then says yes."""

    who: Who = "scripted"

    def __init__(self, app: App, sessions: list[str]) -> None:
        self._app = app
        self._sessions = sessions

    async def ask(self, question: ApprovalRequested) -> PersonAnswer:
        for session in self._sessions:
            await self._app.say_process(SessionForgotten(session))
        return YES


async def test_the_next_process_knows_no_more_of_it(tmp_path: Path) -> None:
    directory = DataDirectory(tmp_path)
    async with open_app(await SqliteLog.open(directory.log)) as app:
        names = await practise(app, "foresight")
    found = [await forget(directory, ForgetTarget(session=name), "only practice") for name in names]
    log = await SqliteLog.open(directory.log)
    async with open_app(log, clock=NextClock()) as app:
        await sail(app, free("foresight"), name="free")
        made = await predictions(log, "free")

    assert [each.generation for each in found] == [1, 2, 3, 4]
    assert {each.generation for each in made} == {TIMES}
    assert foreseen(made) <= {token(GO)}
    check_log(records_of(directory.log))
    for session in (*names, "free"):  # by itself too, with what the others taught and unlearned
        with SqliteReader(directory.log) as reader:
            assert verify(reader.read(), only=session).ok


async def test_nothing_is_said_of_what_cannot_be_forgotten(tmp_path: Path) -> None:
    directory = DataDirectory(tmp_path)
    log = await SqliteLog.open(directory.log)
    async with open_app(log) as app:
        await record_order(app, log, name="record")
    await forget(directory, ForgetTarget(session="record"), "")
    before = len(records_of(directory.log))

    for wanted in (
        ForgetTarget(session="record"),
        ForgetTarget(workflow="order"),
        ForgetTarget(workflow="none"),
    ):
        with pytest.raises(BadInput):
            await forget(directory, wanted, "")
    assert len(records_of(directory.log)) == before


async def test_what_the_log_did_not_take_is_not_said_to_be_forgotten(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    directory = DataDirectory(tmp_path)
    log = await SqliteLog.open(directory.log)
    async with open_app(log) as app:
        await record_order(app, log, name="record")

    async def lost(app: App, forgotten: SessionForgotten) -> None:
        pass

    monkeypatch.setattr(App, "say_process", lost)
    with pytest.raises(LogWriteFailed, match="did not take all of it"):
        await forget(directory, ForgetTarget(session="record"), "")
