"""Every way to end has one documented code (J)."""

import re
from itertools import product
from pathlib import Path
from typing import get_args

from rutter.events.errors import (
    BadInput,
    BrowserGone,
    LogCorrupt,
    PolicyDenied,
    RutterError,
    WorldBroken,
)
from rutter.events.runtime import Failure, StopReason
from rutter.pipeline.cli.parser import parser
from rutter.pipeline.config.exit_codes import Exit, of_error, of_session
from tests.support.case_table import for_each

REASONS: tuple[str, ...] = get_args(StopReason)
FAILURES: tuple[str, ...] = get_args(Failure)
DOCUMENT = Path(__file__).parents[3] / "docs" / "exit-codes.md"


def test_the_codes_are_what_scripts_rely_on() -> None:
    assert {exit.name: exit.value for exit in Exit} == {
        "DONE": 0,
        "DIVERGED": 1,
        "BAD_INPUT": 2,
        "LOST": 3,
        "DENIED": 4,
        "NEEDS_PERSON": 5,
        "NOT_VERIFIED": 6,
        "INTERRUPTED": 7,
        "ENVIRONMENT": 8,
    }


def test_only_what_was_completed_is_done() -> None:
    done = {each for each in product(REASONS, FAILURES) if of_session(*each) == Exit.DONE}
    assert done == set(product(["completed"], FAILURES))


@for_each(
    "reason, failure, code",
    [
        ("completed", "", Exit.DONE),
        ("completed_unverified", "", Exit.NOT_VERIFIED),
        ("failed", "lost", Exit.LOST),
        ("failed", "verification_failed", Exit.NOT_VERIFIED),
        ("failed", "retry_exhausted", Exit.NOT_VERIFIED),
        ("failed", "unreachable", Exit.ENVIRONMENT),
        ("failed", "actor_failed", Exit.ENVIRONMENT),
        ("failed", "model_unavailable", Exit.ENVIRONMENT),
        ("failed", "", Exit.NOT_VERIFIED),
        ("policy_denied", "needs_person", Exit.NEEDS_PERSON),
        ("policy_denied", "policy_denied", Exit.DENIED),
        ("policy_denied", "", Exit.DENIED),
        ("max_steps", "", Exit.LOST),
        ("max_turns_exceeded", "", Exit.LOST),
        ("no_op_loop", "", Exit.LOST),
        ("max_failures", "", Exit.NOT_VERIFIED),
        ("max_wall_time", "", Exit.INTERRUPTED),
        ("cancelled", "", Exit.INTERRUPTED),
        ("interrupted", "", Exit.INTERRUPTED),
        ("interrupted", "browser_lost", Exit.INTERRUPTED),
        ("running", "", Exit.INTERRUPTED),
        ("a reason of a later version", "", Exit.NOT_VERIFIED),
    ],
)
def test_the_code_of_a_session(reason: str, failure: str, code: Exit) -> None:
    assert of_session(reason, failure) == code


def test_a_dry_run_is_done_where_it_stopped_and_nowhere_else() -> None:
    codes = {reason: of_session(reason, "", dry_run=True) for reason in REASONS}

    done = {reason for reason, code in codes.items() if code == Exit.DONE}
    assert done == {"completed", "completed_unverified"}


@for_each(
    "kind, code",
    [
        (BadInput, Exit.BAD_INPUT),
        (PolicyDenied, Exit.DENIED),
        (WorldBroken, Exit.ENVIRONMENT),
        (BrowserGone, Exit.ENVIRONMENT),
        (LogCorrupt, Exit.ENVIRONMENT),
    ],
)
def test_the_code_of_an_error(kind: type[RutterError], code: Exit) -> None:
    assert of_error(kind("what is wrong")) == code


def test_every_code_is_documented() -> None:
    documented = re.findall(r"^\| (\d+) \|", DOCUMENT.read_text("utf-8"), re.MULTILINE)

    assert [int(code) for code in documented] == [exit.value for exit in Exit]


def test_the_help_names_every_code() -> None:
    text = parser().format_help()

    for code in Exit:
        assert re.search(rf"\b{code.value} [a-z]", text), code
