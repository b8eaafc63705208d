"""Given a daemon in a process of its own: what it leaves when it is stopped or killed, and what the
next one makes of it."""

import os
import shutil
import signal
import socket
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from rutter.events.critic import OutcomeUnknown
from rutter.events.runtime import SessionEnded
from rutter.events.validator import ApprovalRequested, ApprovalVoided
from tests.support.command_shell import Rutter, check_logs
from tests.support.daemon_on_site import configure
from tests.support.daemon_process import Afloat, Logged, until
from tests.support.recorded_site import Harbour, once

pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.timeout(600)]

IN_USE = 8
TWO = "[browser]\npool_size = 2\n\n[jobs]\nrunning = 4\nper_workflow = 4\n"


@pytest.fixture
def daemon(harbour: Harbour, recorded: Path, tmp_path: Path) -> Iterator[Afloat]:
    """Not started yet. What it leaves in its log is derived again at the end."""
    harbour.site.reset()
    data = tmp_path / "data"
    shutil.copytree(recorded, data)
    configure(data, harbour, TWO)
    with Afloat(data) as afloat:
        yield afloat
    check_logs(data)


def asked(daemon: Afloat) -> Any:
    """The one question that waits for a person."""
    [question] = until(lambda: daemon.ask("GET", "/approvals").json, "somebody is asked")
    return question


Ends = Callable[[Afloat], None]


def killed(daemon: Afloat) -> None:
    daemon.kill()


def told_to_stop(daemon: Afloat) -> None:
    assert daemon.tell(signal.SIGTERM) == 0


def test_what_may_have_happened_is_asked_about_by_the_next_daemon_and_the_one_after_that(
    daemon: Afloat, harbour: Harbour
) -> None:
    """Killed while it placed the order; then the question about it is pending at every end."""
    daemon.start()
    harbour.site.when = once("/drafts/", daemon.kill, "POST")
    daemon.run()
    daemon.gone()
    until(lambda: len(harbour.site.placed) == 1, "the order that was sent is stored")

    before: list[Any] = []
    for end in (killed, told_to_stop, killed):
        daemon.start()
        assert daemon.ask("GET", "/approvals").json == []
        for each in before:  # void: no answer to it does anything
            place = f"/approvals/{each['session']}/{each['approval']}"
            assert daemon.ask("POST", place, {"approved": True}).status == 404
        daemon.run()
        question = asked(daemon)
        assert "may have done it already" in question["question"]
        assert question["session"] not in [each["session"] for each in before]
        before.append(question)
        end(daemon)
        assert daemon.left_behind() == []

    daemon.start()
    job = daemon.run()
    question = asked(daemon)
    place = f"/approvals/{question['session']}/{question['approval']}"
    assert daemon.ask("POST", place, {"approved": False}).status == 200
    ended = daemon.ended(job)
    assert ended["reason"] == "policy_denied", ended  # whoever was asked said no
    assert len(harbour.site.placed) == 1
    assert daemon.tell() == 0

    logged = Logged(daemon.data)
    assert logged.open() == []
    assert len(logged.all(OutcomeUnknown)) == 1
    sessions = [each["session"] for each in (*before, question)]  # the recording asked some too
    told = [each.event for session in sessions for each in logged.session(session)]
    assert len([each for each in told if isinstance(each, ApprovalRequested)]) == 4
    for each in before:
        events = [envelope.event for envelope in logged.session(each["session"])]
        assert any(isinstance(event, ApprovalVoided) for event in events)
        assert isinstance(events[-1], SessionEnded)
        assert events[-1].reason == "interrupted"


def test_a_second_daemon_is_told_who_has_the_directory_and_the_first_is_unharmed(
    daemon: Afloat, harbour: Harbour
) -> None:
    daemon.start()
    second = Rutter(daemon.data)("serve", "--port", "0")
    assert second.code == IN_USE
    assert f"is in use by process {daemon.process.pid}" in second.complaint
    assert daemon.ended(daemon.run())["reason"] == "completed"
    assert len(harbour.site.placed) == 1
    assert daemon.tell() == 0
    assert daemon.left_behind() == []


def test_a_port_that_is_taken_is_told_before_anything_is_warmed(daemon: Afloat) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        ended = Rutter(daemon.data)("serve", "--port", port)
    assert ended.code == IN_USE
    assert port in ended.complaint
    daemon.start()  # and the directory is free
    assert daemon.tell() == 0


def test_what_a_killed_daemon_says_of_its_whereabouts_is_not_believed(daemon: Afloat) -> None:
    daemon.start()
    daemon.kill()
    stale = daemon.data / "daemon.json"
    assert stale.exists()
    assert Rutter(daemon.data)("approvals").code != 0  # nobody is there to ask
    assert Rutter(daemon.data)("sessions").code == 0  # what is there can be read
    daemon.start()
    assert Rutter(daemon.data)("approvals").code == 0
    assert daemon.tell() == 0
    assert not stale.exists()


@pytest.mark.parametrize("group", [False, True], ids=["itself", "its group"])
@pytest.mark.parametrize(
    "number",
    [
        pytest.param(signal.SIGTERM, id="TERM"),
        pytest.param(signal.SIGINT, id="INT", marks=pytest.mark.extended),
    ],
)
def test_told_to_stop_it_ends_what_runs_and_goes_without_a_word_too_many(
    daemon: Afloat, harbour: Harbour, number: signal.Signals, group: bool
) -> None:
    daemon.start()
    jobs = [daemon.run(f"run {turn}") for turn in range(3)]
    opened = daemon.ask("POST", "/sessions", {"url": f"{harbour.site.base_url}/login"})
    assert opened.status == 201
    until(lambda: len(Logged(daemon.data).sessions()) >= 5, "all have begun")
    assert daemon.tell(number, group=group) == 0
    assert daemon.left_behind(0) == []
    assert daemon.complaints() == []
    _check_ends(daemon, harbour, jobs)


def test_when_everything_it_started_is_told_as_well_it_still_ends_in_a_true_state(
    daemon: Afloat, harbour: Harbour
) -> None:
    """As systemd tells all processes of a service (KillMode=control-group)."""
    daemon.start()
    jobs = [daemon.run(f"run {turn}") for turn in range(3)]
    until(lambda: len(Logged(daemon.data).sessions()) >= 4, "all have begun")
    for each in [daemon.itself, *daemon.family()]:
        if each.is_running():
            os.kill(each.pid, signal.SIGTERM)
    assert daemon.gone() == 0
    assert daemon.left_behind(0) == []
    assert daemon.complaints() == []
    _check_ends(daemon, harbour, jobs)


def _check_ends(daemon: Afloat, harbour: Harbour, jobs: list[str]) -> None:
    logged = Logged(daemon.data)
    assert logged.open() == []
    told = logged.jobs()
    for job in jobs:
        _, _, [ended] = told[job]
        assert ended.reason in ("interrupted", "completed"), ended
    notes = [order.note for order in harbour.site.placed]
    assert len(set(notes)) == len(notes)
    assert not (daemon.data / "daemon.json").exists()


@pytest.mark.extended
def test_the_control_that_starts_its_children_as_any_process_does_has_them_in_its_group(
    harbour: Harbour, recorded: Path, tmp_path: Path
) -> None:
    """Then a signal to the group is for the drivers too, which end before anything else does."""
    data = tmp_path / "data"
    shutil.copytree(recorded, data)
    configure(data, harbour, TWO)
    plain = "import asyncio; from rutter.pipeline.daemon.browsers import process_groups as it; "
    plain += "it.OwnSessions = asyncio.SelectorEventLoop; "
    with Afloat(data) as daemon:
        command = daemon.command
        for changed, theirs in (("", False), (plain, True)):
            daemon.command = (*command[:2], changed + command[2])
            daemon.start()
            until(lambda: len(daemon.browsers()) == 2, "both are up")
            groups = {os.getpgid(each.pid) for each in daemon.family()}
            assert (daemon.process.pid in groups) is theirs
            daemon.tell(signal.SIGTERM, group=True)
