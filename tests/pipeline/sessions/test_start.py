"""What a run departs with that depends on what was run before."""

from pathlib import Path

import pytest

from rutter.events.action import Action
from rutter.events.checks import HERE, ReadBack, TextVisible
from rutter.events.workflow import Expectation, Step, Workflow
from rutter.pipeline.config.reader import Config
from rutter.pipeline.config.settings import Settings
from rutter.pipeline.config.tables import SecretGiven
from rutter.pipeline.output.proof_words import is_unread
from rutter.pipeline.queries.workflows_and_sessions import Tables
from rutter.pipeline.sessions import start
from rutter.pipeline.sessions.request import RunRequest
from rutter.pipeline.sessions.start import check_session
from tests.support.case_table import for_each
from tests.support.scripted_logs import keep, keep_locked

SAVE = Action("click")
BACK = Expectation(read_back=ReadBack(HERE, (TextVisible("x"),)))


@for_each(
    "steps, unread",
    [
        ([Step(SAVE)], False),
        ([Step(SAVE, irreversible=True)], True),
        ([Step(SAVE, irreversible=True, after=BACK)], False),
        ([Step(SAVE, irreversible=True, state="LOGIN_REQUIRED")], False),
    ],
)
def test_what_sends_something_and_is_not_read_back(steps: list[Step], unread: bool) -> None:
    assert is_unread(Workflow("order", 1, tuple(steps))) is unread


def seeks(settings: Settings, name: str, *, dry_run: bool = False) -> bool:
    values = {"user": "mate"} if name == "sign-in" else {"customer": "Ann"}
    request = RunRequest(name=name, values=values, dry_run=dry_run)
    with Tables(settings) as tables:
        return check_session(request, tables).settings.seeks_proof


def test_the_first_run_of_a_version_looks_where_its_results_show(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    keep_locked(tmp_path / "log.db")
    monkeypatch.setenv("PIN", "0000-1111")
    secrets = {"pin": SecretGiven("env:PIN")}
    settings = Settings(tmp_path, config=Config({}, secrets=secrets))
    assert not seeks(settings, "sign-in"), "it sends nothing"
    monkeypatch.setattr(start, "is_unread", lambda _: True)
    assert seeks(settings, "sign-in")
    assert not seeks(settings, "sign-in", dry_run=True)


def test_a_version_that_was_run_to_its_end_does_not_look_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    keep(tmp_path / "log.db")
    monkeypatch.setattr(start, "is_unread", lambda _: True)
    assert not seeks(Settings(data=tmp_path), "order")
