"""How a failure is read, and what a key or an id must be."""

import sys

import pytest

from rutter.actors.world.models.ollama import OllamaModel
from rutter.actors.world.models.openai import OpenAIModel
from rutter.actors.world.models.provider_call import Provider, failure, fitting, object_of
from rutter.events.errors import BadInput


class Answered(Exception):
    """As the SDKs raise it."""

    def __init__(self, status_code: int, body: object) -> None:
        super().__init__("long words with headers")
        self.status_code = status_code
        self.body = body


def test_an_account_without_money_is_not_asked_again() -> None:
    spent = Answered(429, {"message": "You exceeded your quota", "code": "insufficient_quota"})
    failed = failure(spent, Provider("openai", ()), began=False)
    assert (failed.code, failed.transient) == ("rate_limited", False)
    details = {"error_code": "enforced_spend_limit_reached"}
    limit = Answered(
        429, {"error": {"type": "rate_limit_error", "message": "", "details": details}}
    )
    assert not failure(limit, Provider("anthropic", ()), began=False).transient


def test_an_error_event_is_read_by_its_kind() -> None:
    provider = Provider("anthropic", ())
    kinds = {
        "overloaded_error": ("overloaded", True),
        "rate_limit_error": ("rate_limited", True),
        "invalid_request_error": ("invalid", False),
        "authentication_error": ("unauthorised", False),
        "something_new": ("unavailable", True),
    }
    for kind, expected in kinds.items():
        event = Answered(200, {"type": "error", "error": {"type": kind, "message": "m"}})
        failed = failure(event, provider, began=True)
        assert (kind, (failed.code, failed.transient)) == (kind, expected)


def test_a_body_of_any_shape_is_told_in_one_short_line() -> None:
    bodies: list[object] = ["<html>\n" + "x" * 9_000, None, [], {"error": "no"}, {"error": None}, 5]
    for body in bodies:
        failed = failure(Answered(500, body), Provider("openai", ()), began=False)
        assert failed.code == "unavailable"
        assert len(failed.message) < 400
        assert "\n" not in failed.message


def test_what_nobody_expected_is_no_answer() -> None:
    for error in (
        AttributeError("type"),
        KeyError(3),
        RuntimeError(),
        UnicodeDecodeError("a", b"", 0, 1, ""),
    ):
        failed = failure(error, Provider("ollama", ()), began=True)
        assert (failed.code, failed.transient) == ("invalid", True)


def test_ids_fit_everywhere_and_stay_apart() -> None:
    assert fitting("toolu_01-Ab") == "toolu_01-Ab"
    odd = [fitting(each) for each in ("", "a b", "a_b é", "x" * 41, "x" * 42)]
    assert len(set(odd)) == len(odd)
    assert all(each.isalnum() and len(each) == 40 for each in odd)
    assert fitting("a b") == fitting("a b")


def test_arguments_that_are_no_object_are_kept() -> None:
    assert object_of("") == {}
    assert object_of('{"a": [1]}') == {"a": [1]}
    for text in ("[1]", "null", "{", "x", "[" * 99_999):
        assert object_of(text) == {"unreadable": text}


def test_a_provider_that_is_not_installed_says_what_to_type(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "openai", None)
    monkeypatch.setitem(sys.modules, "ollama", None)
    with pytest.raises(BadInput, match=r"pip install 'rutter-agent\[openai\]'"):
        OpenAIModel("gpt-6-luna", "sk-1")
    with pytest.raises(BadInput, match=r"pip install 'rutter-agent\[ollama\]'"):
        OllamaModel("qwen3:8b")
