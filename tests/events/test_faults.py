"""Every code that is said anywhere is one of five types, and comes with what to do (E5)."""

import re
from pathlib import Path
from typing import get_args

from rutter.events.advisor import AdviceError
from rutter.events.critic import BarrierKind
from rutter.events.executor import ErrorCode
from rutter.events.faults import NONE, failed_call, fault_of, fault_of_end, faults
from rutter.events.runtime import Failure, StopReason
from rutter.events.tools import ErrorType, ToolError
from rutter.events.validator import ActionRejected
from tests.support.case_table import for_each

ENDS = {*get_args(Failure), *get_args(StopReason)} - {""}
SAID = {*get_args(ErrorCode), *get_args(ToolError), *ENDS} - {""}
REJECTED = {*get_args(ActionRejected.__annotations__["code"]), "human_rejected", "needs_person"}
WELL = {"completed", "running"}
KEPT_OUT = {*get_args(BarrierKind)} - {"drawn"}
UNREAD = {"ghost_refused", "no_reader", "reader_failed", "nothing_read"}
ROOT = Path(__file__).parents[2]


@for_each("code", sorted((SAID | REJECTED | KEPT_OUT) - WELL))
def test_every_code_has_a_row(code: str) -> None:
    fault = faults().codes[code]
    assert fault.error_code in get_args(ErrorType)
    assert 0 < len(fault.hint) <= 60
    assert len(fault.words) > 10
    assert "_" not in fault.words
    assert "".join((fault.hint, fault.words, fault.next)).isascii()


def test_there_is_no_row_for_what_nobody_says() -> None:
    assert set(faults().codes) == SAID | REJECTED | KEPT_OUT | WELL | {"value_not_set"}
    assert set(faults().models) == set(get_args(AdviceError))


def test_only_what_went_well_or_is_under_way_is_no_fault() -> None:
    assert {code for code, fault in faults().codes.items() if not fault.error_code} == WELL


def test_every_end_has_a_command_and_an_advice() -> None:
    codes = faults().codes
    assert {code for code in codes if codes[code].command} == ENDS - WELL
    told = (ENDS | KEPT_OUT | UNREAD) - WELL - {"failed"}
    assert {code for code in codes if codes[code].next} == told


def test_what_the_executor_finds_keeps_its_worth_in_the_words_of_a_caller() -> None:
    for code in get_args(ErrorCode):
        assert fault_of(code).retriable or not fault_of(fault_of(code).tool).retriable


@for_each("code", ["policy_denied", "human_rejected", "verification_failed"])
def test_what_was_refused_or_may_be_done_is_not_worth_a_second_try(code: str) -> None:
    assert not fault_of(code).retriable


def test_the_failure_says_more_than_the_reason() -> None:
    assert fault_of_end("failed", "unreachable") == fault_of("unreachable")
    assert fault_of_end("interrupted") == fault_of("interrupted")
    assert not fault_of_end("completed", sent=True).hint
    assert fault_of_end("of a later version") == NONE


def test_nothing_is_run_again_where_something_may_have_been_sent() -> None:
    fault = fault_of_end("interrupted", "browser_lost", sent=True)
    assert fault.error_code == "tool_unavailable"
    assert not fault.retriable
    assert "before it is run again" in fault.hint


def test_a_call_that_failed_is_worth_what_the_table_says_unless_it_is_known_better() -> None:
    assert failed_call("c1", "timeout", "too long").retriable
    assert not failed_call("c1", "timeout", "it was sent", retriable=False).retriable


def test_the_page_of_the_daemon_lists_what_a_request_is_refused_for() -> None:
    page = (ROOT / "docs" / "daemon.md").read_text()
    rows = re.findall(r"^\| (\d{3}) \| `(\w+)` \| (yes|no) \| (.+) \|$", page, re.MULTILINE)
    told = {
        (code, int(status), kind, again == "yes")
        for status, kind, again, codes in rows
        for code in re.findall(r"`(\w+)`", codes)
    }
    assert told == {
        (code, fault.status, fault.error_code, fault.retriable)
        for code, fault in faults().requests.items()
    }


def test_an_error_and_a_refusal_have_a_row_and_each_row_is_said() -> None:
    texts = [each.read_text() for each in (ROOT / "pipeline").rglob("*.py")]
    text = "\n".join([*texts, (ROOT / "events" / "errors.py").read_text()])
    errors = re.findall(r'^    code(?:: ClassVar\[str\])? = "(\w+)"$', text, re.MULTILINE)
    refusals = re.findall(r'HttpRefusal\(\s*"(\w+)"', text)
    assert {*errors, *refusals} == set(faults().requests)
