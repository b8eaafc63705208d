"""Who answers for a command: a list that somebody wrote down ends, and a window needs a screen."""

import json
from pathlib import Path

import pytest

from rutter.actors.person.actor import Person
from rutter.events.errors import BadInput
from rutter.events.person import ApprovalAnswered
from rutter.events.validator import ApprovalRequested
from rutter.pipeline.cli.session_run import PausedWhileAsked, person
from rutter.pipeline.cli.terminal import RunProgress, Terminal
from rutter.pipeline.config.settings import check_display
from tests.support.command_shell import Rutter


@pytest.mark.anyio
async def test_behind_the_last_answer_of_a_list_nobody_is_there(tmp_path: Path) -> None:
    file, terminal = tmp_path / "yes.json", Terminal()
    file.write_text(json.dumps([{"approved": True}]))
    asked = Person(PausedWhileAsked(person(terminal, file), RunProgress(terminal, what="")))
    question = ApprovalRequested("p1", 1, "policy", "go on?")
    first, second = [await asked._answered(question) for _ in range(2)]
    assert first == ApprovalAnswered("p1", True, "scripted")
    assert (second.approved, second.by) == (False, "nobody")
    assert second.message == "the list of answers has no more: go on?"


def test_a_window_needs_a_screen(rutter: Rutter, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.platform", "linux")
    check_display({"DISPLAY": ":0"}, "")
    with pytest.raises(BadInput, match="no screen"):
        check_display({}, "record a script")
    for name in ("DISPLAY", "WAYLAND_DISPLAY"):
        monkeypatch.delenv(name, raising=False)
    ended = rutter("run", "order", "--headed")
    assert ended.code == 2
    assert ended.complaint.endswith("or leave out --headed")
