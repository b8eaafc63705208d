"""Given a stock MCP client: it lists tools, opens a session, and is answered by the contract."""

import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import anyio
import pytest
from mcp import Client

from rutter.actors.answers import PersonAnswer, ScriptedPerson
from rutter.actors.rules.tools.tool_table import TOOLS
from rutter.events.predictor import TransitionLearned
from rutter.events.runtime import SessionEnded
from rutter.pipeline.daemon.jobs.approvals import PendingQuestion
from rutter.pipeline.mcp.mcp_server import Agents, Seat
from rutter.pipeline.rehearsal.troubles import Fails
from tests.support.case_table import for_each
from tests.support.log_checks import Replayed, events_of
from tests.support.scripted_tool_sessions import (
    ORDER,
    START,
    Rehearsed,
    body,
    refs,
    rehearsed,
    text,
)
from tests.support.until_true import until

pytestmark = pytest.mark.anyio

BOTH = pytest.mark.parametrize("mode", ["legacy", "auto"])  # the handshake, and the newest protocol


@asynccontextmanager
async def connected(host: Rehearsed, mode: str = "legacy") -> AsyncIterator[Client]:
    """A client on a line of its own; its sessions end when it goes."""
    seat = Seat("agent")
    agents = Agents(host, host.app, lambda _: seat)
    async with Client(agents.server(), mode=mode) as client:
        yield client
    await agents.leave(seat)
    await agents.settled()


@BOTH
async def test_a_client_is_told_of_every_tool_of_the_registry(
    replayed: Replayed, mode: str
) -> None:
    async with rehearsed(replayed.memory()) as host, connected(host, mode) as client:
        told = {tool.name: tool for tool in (await client.list_tools()).tools}
    assert list(told) == ["open_session", *TOOLS, "close_session"]
    for name, known in TOOLS.items():
        tool = told[name]
        schema = dict(tool.input_schema)
        assert schema["properties"].pop("session")["type"] == "string"
        assert schema == known.input_schema
        assert (tool.description or "").startswith(known.description)
        assert tool.annotations is not None
        assert tool.annotations.read_only_hint == (known.side_effect_class == "read")
        assert bool(tool.annotations.destructive_hint) == (known.side_effect_class == "write")


@BOTH
async def test_a_task_is_done_by_calls_alone_and_what_was_done_is_learned(
    replayed: Replayed, mode: str
) -> None:
    log = replayed.memory()
    async with rehearsed(log) as host, connected(host, mode) as client:
        opening = {"url": START, "goal": "find it", "success": ["heading=Found"]}
        first = await client.call_tool("open_session", opening)
        assert not first.is_error
        filled = await client.call_tool(
            "browser_fill", {"ref": refs(first)["Search"], "value": "Fender"}
        )
        found = await client.call_tool("browser_click", {"ref": refs(filled)["Find"]})
        assert body(found)["success"] is True
        over = await client.call_tool("complete_task", {"status": "success", "reason": "found"})
        late = await client.call_tool("get_snapshot", {})
        session = body(first)["session"]
    assert body(over) == {"acknowledged": True, "message": None}
    assert (late.is_error, body(late)["error"]) == (True, "unavailable")
    said = await events_of(log, session)
    assert [each.reason for each in said if isinstance(each, SessionEnded)] == ["completed"]
    learned = [each.signature for each in said if isinstance(each, TransitionLearned)]
    assert [signature.rpartition('"type":')[2] for signature in learned[1:]] == [
        '"type"}',
        '"click"}',
    ]


async def test_a_tool_before_a_session_is_answered_by_what_to_do(replayed: Replayed) -> None:
    async with rehearsed(replayed.memory()) as host, connected(host) as client:
        answer = await client.call_tool("browser_click", {"ref": "@e1"})
        closed = await client.call_tool("close_session", {})
    for each in (answer, closed):
        assert each.is_error
        assert body(each)["error"] == "unavailable"
        assert body(each)["retriable"] is True
        assert "call open_session first" in body(each)["message"]


async def test_what_a_page_says_is_marked_as_data(
    replayed: Replayed,
) -> None:
    async with rehearsed(replayed.memory()) as host, connected(host) as client:
        first = await client.call_tool("open_session", {"url": START})
        found = await client.call_tool("browser_click", {"ref": refs(first)["Find"]})
        again = await client.call_tool("get_snapshot", {})
    marks = [re.findall(r"<untrusted-(\w+)>\n(.*)\n</untrusted-\1>", text(each), re.DOTALL)
             for each in (found, again)]  # fmt: skip
    [(nonce, told)], [(other, _)] = marks
    assert ORDER in told
    assert ORDER not in text(found).replace(told, "")
    assert nonce != other


async def test_a_stale_ref_comes_back_with_a_fresh_snapshot(replayed: Replayed) -> None:
    async with rehearsed(replayed.memory()) as host, connected(host) as client:
        await client.call_tool("open_session", {"url": START})
        answer = await client.call_tool("browser_click", {"ref": "@e99"})
    assert answer.is_error
    assert (body(answer)["error"], body(answer)["error_code"]) == (
        "ref_invalid",
        "validation_error",
    )
    assert "Find" in refs(answer)


async def test_a_person_who_says_no_has_the_last_word(replayed: Replayed) -> None:
    person = ScriptedPerson(otherwise=PersonAnswer(False, "not today"))
    async with rehearsed(replayed.memory(), person) as host, connected(host) as client:
        first = await client.call_tool("open_session", {"url": START})
        answer = await client.call_tool("browser_click", {"ref": refs(first)["Order"]})
        asked = await client.call_tool(
            "request_human_approval", {"action": "order", "reason": "it is wanted"}
        )
        world = host.worlds[body(first)["session"]]
    assert answer.is_error
    assert (body(answer)["error"], body(answer)["error_code"]) == (
        "human_rejected",
        "policy_denied",
    )
    assert body(answer)["message"] == "User feedback: not today"
    assert body(asked)["approved"] is False
    assert [action.type for action in world.done] == ["navigate"]


async def test_a_client_that_wants_to_know_is_told_that_a_person_is_being_asked(
    replayed: Replayed,
) -> None:
    told: list[str | None] = []

    async def hear(progress: float, total: float | None, message: str | None) -> None:
        told.append(message)

    async with rehearsed(replayed.memory()) as host, connected(host) as client:
        first = await client.call_tool("open_session", {"url": START})
        session = body(first)["session"]
        async with anyio.create_task_group() as group:

            async def answer() -> None:
                await until(lambda: told)
                [question] = host.questions.pending(session)
                host.questions.answer(
                    session, question.approval, PersonAnswer(True, "go on", "confirm")
                )

            group.start_soon(answer)
            ordered = await client.call_tool(
                "browser_click", {"ref": refs(first)["Order"]}, progress_callback=hear
            )
    assert body(ordered)["success"] is True
    assert told[0] == f"a person is being asked (policy) in session {session}"


async def test_who_is_asked_again_after_an_unknown_outcome_hears_that_it_may_have_happened(
    replayed: Replayed,
) -> None:
    told: list[str | None] = []

    async def hear(progress: float, total: float | None, message: str | None) -> None:
        told.append(message)

    log = replayed.memory()
    async with rehearsed(log) as host, connected(host) as client:
        first = await client.call_tool("open_session", {"url": START})
        session = body(first)["session"]
        host.worlds[session].trouble("#order", Fails("timeout", dispatched=True))
        waiting: list[PendingQuestion] = []
        for _ in range(2):
            async with anyio.create_task_group() as group:

                async def answer() -> None:
                    await until(lambda: host.questions.pending(session))
                    waiting.extend(host.questions.pending(session))
                    await until(lambda: len(told) == len(waiting))
                    yes = PersonAnswer(True, phrase="confirm")
                    host.questions.answer(session, waiting[-1].approval, yes)

                group.start_soon(answer)
                first = await client.call_tool(
                    "browser_click", {"ref": refs(first)["Order"]}, progress_callback=hear
                )
    step = waiting[0].step
    assert [each.maybe_done_by for each in waiting] == [0, step]
    assert f"Step {step} may have done it already" in waiting[1].question
    assert told[1] == f"{told[0]}; step {step} may have done it already"
    assert body(first)["success"] is True


async def test_a_call_that_is_called_off_while_a_person_is_asked_lets_the_client_go(
    replayed: Replayed,
) -> None:
    log = replayed.memory()
    async with rehearsed(log) as host, connected(host) as client:
        first = await client.call_tool("open_session", {"url": START})
        session = body(first)["session"]
        with anyio.CancelScope() as scope:
            async with anyio.create_task_group() as group:

                async def call_off() -> None:
                    await until(lambda: host.questions.pending(session))
                    scope.cancel()

                group.start_soon(call_off)
                await client.call_tool("browser_click", {"ref": refs(first)["Order"]})
        assert host.questions.pending(session)  # the client went away, and the question is open
    assert host.questions.pending(session) == ()
    said = await events_of(log, session)
    [ended] = [each for each in said if isinstance(each, SessionEnded)]
    assert ended.reason == "cancelled"
    assert [action.type for action in host.worlds[session].done] == ["navigate"]


async def test_a_client_that_goes_leaves_no_session_behind(replayed: Replayed) -> None:
    log = replayed.memory()
    async with rehearsed(log) as host:
        async with connected(host) as client:
            first = await client.call_tool("open_session", {"url": START})
            second = await client.call_tool("open_session", {"url": START})
        for each in (first, second):
            said = await events_of(log, body(each)["session"])
            [ended] = [event for event in said if isinstance(event, SessionEnded)]
            assert ended.reason == "cancelled"


async def test_of_two_sessions_the_newer_is_meant_unless_one_is_named(replayed: Replayed) -> None:
    async with rehearsed(replayed.memory()) as host, connected(host) as client:
        first = await client.call_tool("open_session", {"url": START})
        second = await client.call_tool("open_session", {"url": START})
        one, other = body(first)["session"], body(second)["session"]
        await client.call_tool("browser_click", {"ref": refs(second)["Find"]})
        named = {"ref": refs(first)["Search"], "value": "x", "session": one}
        await client.call_tool("browser_fill", named)
        assert (host.worlds[one].path, host.worlds[other].path) == ("/", "/found")
        closed = await client.call_tool("close_session", {})
        gone = await client.call_tool("get_snapshot", {})
        still = await client.call_tool("get_snapshot", {"session": one})
        nobodys = await client.call_tool("get_snapshot", {"session": "tools-of-another"})
    assert body(closed)["session"] == other
    assert body(closed)["message"].startswith("cancelled")
    assert body(gone)["error"] == "unavailable"
    assert body(still)["success"] is True
    assert body(nobodys)["error"] == "invalid_params"


@for_each(
    "given, error, says",
    [
        ({"url": 7}, "invalid_params", "Expected `str`"),
        ({"address": START}, "invalid_params", "unknown field `address`"),
        ({"url": "ftp://shop.example/"}, "invalid_params", "is not a web address"),
        ({"url": START, "success": ["colour=red"]}, "invalid_params", "no such place"),
    ],
)
async def test_a_session_that_cannot_be_meant_is_answered_and_not_opened(
    replayed: Replayed, given: dict[str, object], error: str, says: str
) -> None:
    async with rehearsed(replayed.memory()) as host, connected(host) as client:
        answer = await client.call_tool("open_session", given)
        assert host.tools == {}
    assert answer.is_error
    assert body(answer)["error"] == error
    assert says in body(answer)["message"]


async def test_too_many_sessions_and_tools_that_are_none_are_answers_too(
    replayed: Replayed,
) -> None:
    async with rehearsed(replayed.memory(), at_most=1) as host, connected(host) as client:
        await client.call_tool("open_session", {"url": START})
        more = await client.call_tool("open_session", {"url": START})
        none = await client.call_tool("fly", {})
        unfit = await client.call_tool("browser_click", {"ref": "e1"})
    assert (body(more)["error"], body(more)["retriable"]) == ("unavailable", True)
    assert body(none)["error"] == "invalid_params"
    assert body(unfit)["error"] == "invalid_params"
