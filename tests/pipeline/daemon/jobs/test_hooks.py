"""Given hooks: their own token opens them, to what was declared; nothing else does, and it opens
nothing else."""

import hashlib
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rutter.events.codec import encode
from rutter.events.errors import BadInput
from rutter.events.jobs import RunFree, RunWorkflow
from rutter.events.triggers import HookSet
from rutter.pipeline.daemon.http.access import AccessRule, AccessTable
from rutter.pipeline.daemon.http.asgi import Receive, Scope, Send
from rutter.pipeline.daemon.http.guard import Guard, caller_of, own_addresses
from rutter.pipeline.daemon.http.http_server import listen
from rutter.pipeline.daemon.http.tokens import Tickets, Tokens, bearer_of
from rutter.pipeline.daemon.jobs.hooks import (
    ACCESS,
    HookDenied,
    Hooks,
    HookWish,
    NoSuchHook,
    ParameterRefused,
)
from rutter.pipeline.daemon.jobs.jobs import Conflict, JobLimits, Jobs
from tests.support.guarded_app import AGENT, PERSON, TABLE, Served, Spy, lifespan, serving
from tests.support.jobs_on_clock import Deck, WallClock

pytestmark = pytest.mark.anyio

ORDER = RunWorkflow("order", values={"quantity": "3"})


@pytest.fixture
async def deck() -> Deck:
    return Deck(WallClock())


async def made(deck: Deck, name: str = "shop", **more: Any) -> str:
    more.setdefault("parameters", ("customer", "quantity"))
    return await deck.hooks.set(name, HookWish(ORDER, **more), by="person")


# -- calling them ----------------------------------------------------------------------------------


async def test_a_call_takes_on_what_the_hook_is_for_with_the_values_that_came(deck: Deck) -> None:
    token = await made(deck)
    job = await deck.hooks.fire("shop", token, {"customer": "Aurora"})
    assert job.queued.run == RunWorkflow("order", values={"quantity": "3", "customer": "Aurora"})
    assert (job.queued.by, job.queued.trigger) == ("hook shop", "hook")


async def test_what_is_sent_stands_above_what_was_set(deck: Deck) -> None:
    token = await made(deck)
    job = await deck.hooks.fire("shop", token, {"customer": "Aurora", "quantity": "5"})
    assert job.queued.run.values == {"customer": "Aurora", "quantity": "5"}


async def test_the_same_key_is_the_same_job_and_for_something_else_a_conflict(deck: Deck) -> None:
    token, other = await made(deck), await made(deck, "other")
    first = await deck.hooks.fire("shop", token, {"customer": "Aurora"}, key="k")
    again = await deck.hooks.fire("shop", token, {"customer": "Aurora"}, key="k")
    assert again.name == first.name
    with pytest.raises(Conflict):
        await deck.hooks.fire("shop", token, {"customer": "Juniper"}, key="k")
    elsewhere = await deck.hooks.fire("other", other, {"customer": "Juniper"}, key="k")
    assert elsewhere.name != first.name


@pytest.mark.parametrize(
    ("body", "why"),
    [
        ({"customer": "A", "colour": "red"}, "no parameter 'colour'; it takes customer, quantity"),
        ({"customer": 3}, "customer is not a text"),
        ({"customer": None}, "customer is not a text"),
        ({"customer": ["A"]}, "customer is not a text"),
        ({"customer": "x" * 4_097}, "at most 4096 characters"),
        ({}, "customer is missing"),
        ({"": "x", "customer": "A"}, "no parameter ''"),
    ],
)
async def test_what_the_hook_does_not_take_is_refused_and_nothing_is_taken_on(
    deck: Deck, body: dict[str, object], why: str
) -> None:
    token = await made(deck)
    with pytest.raises(ParameterRefused, match=why):
        await deck.hooks.fire("shop", token, body)
    assert deck.queued() == []


@pytest.mark.parametrize("key", ["x" * 201, "a\nb"])
async def test_a_key_that_is_none_is_refused(deck: Deck, key: str) -> None:
    token = await made(deck)
    with pytest.raises(ParameterRefused, match="Idempotency-Key"):
        await deck.hooks.fire("shop", token, {"customer": "A"}, key=key)


async def test_who_waits_in_line_and_who_is_skipped_is_for_the_hook_to_say(deck: Deck) -> None:
    token = await made(deck, overlap="skip")
    await deck.hooks.fire("shop", token, {"customer": "A"})
    second = await deck.hooks.fire("shop", token, {"customer": "B"})
    assert second.ended is not None
    assert second.ended.reason == "skipped"


# -- tokens ----------------------------------------------------------------------------------------


async def test_the_token_of_one_hook_opens_no_other_and_an_unknown_hook_says_no_more(
    deck: Deck,
) -> None:
    token = await made(deck)
    other = await made(deck, "other")
    said = set()
    for name, given_ in (("shop", other), ("shop", ""), ("none", token), ("shop", token + "x")):
        with pytest.raises(HookDenied) as caught:
            await deck.hooks.fire(name, given_, {"customer": "A"})
        said.add(str(caught.value))
    assert len(said) == 1
    assert deck.queued() == []


async def test_a_hook_that_is_set_again_has_another_token_and_a_dropped_one_none(
    deck: Deck,
) -> None:
    old = await made(deck)
    new = await made(deck)
    assert (deck.hooks.admits("shop", old), deck.hooks.admits("shop", new)) == (False, True)
    await deck.hooks.drop("shop", "person")
    assert not deck.hooks.admits("shop", new)
    with pytest.raises(NoSuchHook, match="rutter hook list"):
        await deck.hooks.drop("shop", "person")


async def test_the_log_holds_the_digest_and_not_the_token_and_the_next_process_knows_it(
    deck: Deck,
) -> None:
    token = await made(deck)
    told = deck.log[0].event
    assert isinstance(told, HookSet)
    assert told.sha256 == hashlib.sha256(token.encode()).hexdigest()
    assert token.encode() not in encode(told)
    deck.restart()
    assert deck.hooks.admits("shop", token)
    assert [each.name for each in deck.hooks.all()] == ["shop"]


@given(st.text(), st.text())
def test_nothing_that_was_not_given_out_is_a_token(name: str, token: str) -> None:
    async def say(_: object) -> None: ...

    async def begin(*_: object) -> Any: ...

    hooks = Hooks(say, Jobs(say, begin, str, JobLimits()))
    assert not hooks.admits(name, token)


async def test_a_parameter_that_sounds_like_a_secret_is_refused(deck: Deck) -> None:
    with pytest.raises(BadInput, match="sounds like a secret"):
        await made(deck, parameters=("password",))
    with pytest.raises(BadInput, match="no parameter"):
        await made(deck, parameters=("not one",))
    with pytest.raises(BadInput, match="no name"):
        await made(deck, name="../x")
    assert deck.log == []


async def test_a_free_run_can_have_a_hook_too(deck: Deck) -> None:
    token = await deck.hooks.set("look", HookWish(RunFree("https://a.example")), by="person")
    job = await deck.hooks.fire("look", token, {})
    assert job.queued.run == RunFree("https://a.example")


# -- at the door -----------------------------------------------------------------------------------


class Door:
    """The hooks behind the guard on a real port."""

    def __init__(self, deck: Deck) -> None:
        self.deck = deck
        self.spy = Spy()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await lifespan(receive, send)
        elif not scope["path"].startswith("/hooks/") or scope["method"] != "POST":
            await self.spy(scope, receive, send)
        else:
            body = json.loads((await receive())["body"] or b"{}")
            header = dict(scope["headers"])[b"authorization"].decode()
            name = scope["path"].removeprefix("/hooks/")
            job = await self.deck.hooks.fire(name, bearer_of(header), body)
            said = f"{caller_of(scope)} {job.name}".encode()
            headers = [(b"content-length", b"%d" % len(said))]
            await send({"type": "http.response.start", "status": 202, "headers": headers})
            await send({"type": "http.response.body", "body": said})


def guard_of(door: Door, port: int) -> Guard:
    return Guard(
        door,
        addresses=own_addresses(port),
        tokens=Tokens(PERSON, AGENT),
        tickets=Tickets(),
        table=(*TABLE, ACCESS),
        admits_hook=door.deck.hooks.admits,
    )


async def test_at_the_door_its_own_token_opens_a_hook_and_no_other_does(deck: Deck) -> None:
    token, other = await made(deck), await made(deck, "other")
    door, listening = Door(deck), listen()
    async with serving(guard_of(door, listening.port), listening):
        served = Served(door.spy, listening.port, Tickets())
        taken = await served.post("/hooks/shop", b'{"customer": "Aurora"}', token=token)
        assert (taken.status, taken.body) == (202, b"hook job-1")
        for wrong in (other, PERSON, AGENT, "", "x" * 43):
            refused = await served.post("/hooks/shop", b'{"customer": "A"}', token=wrong)
            assert (refused.status, refused.error) == (401, "hook_token_needed")
            assert refused.header("www-authenticate") == ["Bearer"]
        unknown = await served.post("/hooks/none", b"{}", token=token)
        assert (unknown.status, unknown.error) == (401, "hook_token_needed")
    assert len(deck.queued()) == 1


async def test_at_the_door_the_token_of_a_hook_opens_nothing_else(deck: Deck) -> None:
    token = await made(deck)
    door, listening = Door(deck), listen()
    async with serving(guard_of(door, listening.port), listening):
        served = Served(door.spy, listening.port, Tickets())
        for target in ("/", "/sessions", "/approvals/1", "/hooks", "/hooks/shop", "/stream/s1"):
            assert (await served.ask(target, token=token)).status == 401
        for target in ("/jobs", "/hooks/shop/x", "/hooks", "/approvals/1"):
            assert (await served.post(target, b"{}", token=token)).status == 401
        for method in ("PUT", "PATCH", "DELETE"):
            assert (await served.ask("/hooks/shop", method=method, token=token)).status == 401
        assert (await served.open_socket("/hooks/shop", token=token)).status == 401
    assert door.spy.reached == []


async def test_at_the_door_a_hook_is_kept_to_the_same_rules_as_everything(deck: Deck) -> None:
    token = await made(deck)
    door, listening = Door(deck), listen()
    async with serving(guard_of(door, listening.port), listening):
        served = Served(door.spy, listening.port, Tickets())
        body = b'{"customer": "A"}'
        foreign = await served.post("/hooks/shop", body, "Origin: https://a.test", token=token)
        assert (foreign.status, foreign.error) == (403, "foreign_origin")
        form = "Content-Type: application/x-www-form-urlencoded"
        assert (await served.post("/hooks/shop", b"a=b", form, token=token)).status == 415
        hosted = await served.post("/hooks/shop", body, host="evil.test", token=token)
        assert hosted.status == 421
        in_url = await served.post(f"/hooks/shop?token={token}", body, token="")
        assert (in_url.status, in_url.error) == (400, "token_in_url")
    assert deck.queued() == []


async def test_a_guard_that_knows_no_hooks_opens_none(deck: Deck) -> None:
    token = await made(deck)
    door, listening = Door(deck), listen()
    guard = Guard(
        door,
        addresses=own_addresses(listening.port),
        tokens=Tokens(PERSON, AGENT),
        tickets=Tickets(),
        table=(*TABLE, ACCESS),
    )
    async with serving(guard, listening):
        served = Served(door.spy, listening.port, Tickets())
        assert (await served.post("/hooks/shop", b"{}", token=token)).status == 401
        assert (await served.post("/hooks/shop", b"{}", token=PERSON)).status == 401


def test_a_row_for_hooks_names_one_and_has_no_tickets() -> None:
    with pytest.raises(ValueError, match="stars"):
        AccessTable([AccessRule("POST", "/hooks", "hook")])
    with pytest.raises(ValueError, match="alone"):
        AccessTable([AccessRule("POST", "/hooks/*", "hook", ticket=True)])
    assert AccessTable([ACCESS]).needed("POST", ("hooks", "shop")).hook == "shop"
