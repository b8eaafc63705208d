"""Tokens of a login are taken out of facts, those too that came during the session."""

from types import SimpleNamespace
from typing import Any

import pytest

from rutter.actors.rules.pages.page_state import detect
from rutter.actors.world.browser.screen import Screen
from rutter.actors.world.secrets.login_tokens import LoginTokens
from rutter.actors.world.secrets.redaction import redactor_of
from rutter.events.action import Untrusted
from rutter.events.observer import PageObserved
from rutter.events.policy import Policy
from tests.support import shop_facts
from tests.support.shop_logins import TOKEN, state_with

RENEWED = "b81d" * 8
STARTED = shop_facts.run_of(shop_facts.workflow(shop_facts.step(shop_facts.go_to("/desk"))))


def said(*words: str) -> PageObserved:
    return shop_facts.saw(shop_facts.page(headings=tuple(map(Untrusted, words))))


def test_what_was_kept_and_what_was_renewed_is_in_no_fact() -> None:
    redact = redactor_of(STARTED, {"password": "hunter2-and-more"})
    hiding = LoginTokens(STARTED, redact)
    hiding.take(state_with())
    first = redact(said(f"id {TOKEN}", RENEWED, "hunter2-and-more"))
    hiding.take(state_with(RENEWED))
    hiding.take(state_with())

    assert first == said("id <secret kept_1>", RENEWED, "<secret password>")
    assert redact(said(TOKEN, RENEWED)) == said("<secret kept_1>", "<secret kept_2>")


@pytest.mark.anyio
async def test_they_are_covered_in_pictures_also_when_they_come_later() -> None:
    window: Any = SimpleNamespace(secrets=())

    class Pages:
        async def open_window(self, policy: Policy) -> Any:
            return window

    screen = Screen(Pages(), Policy("1"))
    screen.secrets = ("hunter2-and-more",)
    hiding = LoginTokens(STARTED, redactor_of(STARTED, {}), screen.cover)
    hiding.take(state_with())
    await screen.open()
    assert window.secrets == ("hunter2-and-more", TOKEN)

    hiding.take(state_with(RENEWED))
    hiding.take(state_with())

    assert window.secrets == ("hunter2-and-more", TOKEN, RENEWED)


def test_the_name_that_stands_for_it_says_nothing_of_the_page() -> None:
    """`<secret login_1>` on every page would make every page one that asks to sign in."""
    redact = redactor_of(STARTED, {})
    LoginTokens(STARTED, redact).take(state_with())
    seen = redact(said(TOKEN))
    assert isinstance(seen, PageObserved)

    assert detect(seen.page, ()) == "UNKNOWN"


def test_a_value_that_is_a_word_of_the_run_is_left_alone() -> None:
    flow = shop_facts.workflow(shop_facts.step(shop_facts.go_to(f"/accounts/{TOKEN}")))
    started = shop_facts.run_of(flow)
    redact = redactor_of(started, {})
    LoginTokens(started, redact).take(state_with())

    assert redact(started) == started
    assert not redact.knows_any


def test_there_are_only_so_many(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rutter.actors.world.secrets.login_tokens.MOST", 2)
    tokens = [letter * 20 + "9" for letter in "abc"]
    redact = redactor_of(STARTED, {})
    hiding = LoginTokens(STARTED, redact)
    for token in tokens:
        hiding.take(state_with(token))

    assert redact(said(*tokens)) == said("<secret kept_1>", "<secret kept_2>", tokens[2])
