"""Every code that is said anywhere is one of five types, and comes with what to do (E5)."""

from typing import get_args

import pytest

from rutter.events.executor import ErrorCode
from rutter.events.faults import FAULTS, NONE, RETRIABLE, SAID_AS, TYPE_OF, fault_of
from rutter.events.runtime import Failure, StopReason
from rutter.events.tools import ErrorType, ToolError
from rutter.events.validator import ActionRejected

SAID = {*get_args(ErrorCode), *get_args(ToolError), *get_args(Failure), *get_args(StopReason)}
REJECTED = {*get_args(ActionRejected.__annotations__["code"]), "human_rejected", "needs_person"}


@pytest.mark.parametrize("code", sorted(SAID | REJECTED))
def test_every_code_has_a_row(code: str) -> None:
    fault = FAULTS[code]
    assert fault.error_code in get_args(ErrorType)
    assert bool(fault.error_code) == bool(fault.hint)
    assert len(fault.hint) <= 60
    assert fault.hint.isascii()


def test_only_what_went_well_is_no_fault() -> None:
    assert {code for code, fault in FAULTS.items() if fault == NONE} == {"", "completed"}


def test_there_is_no_row_for_what_nobody_says() -> None:
    assert set(FAULTS) == SAID | REJECTED | {"value_not_set"}


def test_what_the_executor_finds_keeps_its_worth_in_the_words_of_a_caller() -> None:
    assert set(SAID_AS) == set(get_args(ErrorCode))
    assert set(TYPE_OF) == set(get_args(ToolError))
    for code, said in SAID_AS.items():
        assert code in RETRIABLE or said not in RETRIABLE


@pytest.mark.parametrize("code", ["policy_denied", "human_rejected", "verification_failed"])
def test_what_was_refused_or_may_be_done_is_not_worth_a_second_try(code: str) -> None:
    assert not FAULTS[code].retriable


def test_the_failure_says_more_than_the_reason() -> None:
    assert fault_of("failed", "unreachable") == FAULTS["unreachable"]
    assert fault_of("interrupted") == FAULTS["interrupted"]
    assert fault_of("completed") == fault_of("running") == fault_of("completed", sent=True)


def test_nothing_is_run_again_where_something_may_have_been_sent() -> None:
    fault = fault_of("interrupted", "browser_lost", sent=True)
    assert fault.error_code == "tool_unavailable"
    assert not fault.retriable
    assert "before it is run again" in fault.hint
