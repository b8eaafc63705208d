"""`rutter schedule` and `rutter hook`: what is asked of the daemon, and what the log says."""

import argparse
from pathlib import Path
from typing import Any

import anyio
import msgspec
import pytest

from rutter.events.errors import BadInput
from rutter.events.jobs import RunFree, RunGoal, RunWorkflow
from rutter.events.sqlite_log import SqliteLog
from rutter.events.triggers import HookDropped, HookSet, ScheduleDropped, ScheduleSet
from rutter.events.vocabulary import AnyEvent
from rutter.pipeline.app import App
from rutter.pipeline.cli import schedule
from rutter.pipeline.cli.parser import parser
from rutter.pipeline.cli.terminal import Terminal
from rutter.pipeline.config.settings import Settings, load
from rutter.pipeline.daemon.jobs.cron import machine_zone
from tests.support.case_table import for_each
from tests.support.command_shell import Rutter, refused
from tests.support.log_checks import Replayed

NOW = "2026-03-16T06:00:00Z"
ORDER = RunWorkflow("order", values={"customer": "Aurora"})


class Daemon:
    """Keeps what it was asked, as it would be sent."""

    def __init__(self, answer: Any = None) -> None:
        self.asked: list[tuple[str, str, Any]] = []
        self._answer = answer

    def request(self, method: str, path: str, body: object = None) -> Any:
        self.asked.append((method, path, msgspec.to_builtins(body)))
        return self._answer


def do(daemon: Daemon, *arguments: str, terminal: Terminal | None = None) -> None:
    """The command, where this daemon runs."""
    options = typed(*arguments)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(schedule, "require_daemon", lambda _: daemon)
        patch.setattr(schedule, "through_daemon", lambda _: daemon)
        options.do(options, Settings(Path()), terminal or Terminal())


def typed(*arguments: str) -> argparse.Namespace:
    return parser().parse_args(arguments)


MORNING = ("schedule", "set", "morning", "--cron", "0 7 * * 1-5", "--workflow", "order")


def test_a_schedule_is_asked_of_the_daemon(capsys: pytest.CaptureFixture[str]) -> None:
    daemon = Daemon({"name": "morning", "next": NOW, "zone": "Europe/Berlin"})
    do(daemon, *MORNING, "--zone", "Europe/Berlin", "--set", "customer=Aurora Shipping")
    assert daemon.asked == [
        (
            "PUT",
            "/schedules/morning",
            {
                "cron": "0 7 * * 1-5",
                "run": {
                    "kind": "workflow",
                    "workflow": "order",
                    "values": {"customer": "Aurora Shipping"},
                },
                "zone": "Europe/Berlin",
                "overlap": "skip",
                "missed": "skip",
                "rows": "",
                "afresh": False,
            },
        )
    ]
    assert capsys.readouterr().out == "[OK] morning: order, next Mon 2026-03-16 07:00 CET\n"


def test_what_a_hook_may_be_called_with_and_its_token(capsys: pytest.CaptureFixture[str]) -> None:
    daemon = Daemon({"name": "shop", "token": "t0ken"})
    do(daemon, "hook", "set", "shop", "--workflow", "order", "--param", "customer")
    [(method, path, body)] = daemon.asked
    assert (method, path, body["parameters"]) == ("PUT", "/hooks/shop", ("customer",))
    assert body["overlap"] == "queue"
    assert "t0ken" in capsys.readouterr().out


def test_what_is_dropped_and_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    daemon = Daemon()
    terminal = Terminal(as_json=True)
    do(daemon, "schedule", "drop", "morning", terminal=terminal)
    do(daemon, "hook", "drop", "shop", terminal=terminal)
    assert [each[:2] for each in daemon.asked] == [
        ("DELETE", "/schedules/morning"),
        ("DELETE", "/hooks/shop"),
    ]
    assert capsys.readouterr().out == '{"dropped":"morning"}\n{"dropped":"shop"}\n'


def test_what_is_no_name_or_no_value_is_asked_of_nobody() -> None:
    daemon = Daemon()
    with pytest.raises(BadInput, match="no name"):
        do(daemon, "hook", "drop", "../jobs")
    with pytest.raises(BadInput, match="not name=value"):
        do(daemon, *MORNING, "--set", "customer")
    assert daemon.asked == []


def test_without_a_daemon_a_schedule_is_set_in_the_log_and_a_hook_is_not(
    rutter: Rutter, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TZ", "Europe/Berlin")
    told = rutter(*MORNING).out
    assert told.startswith("[OK] morning: order, next ")
    assert "it is run while the daemon runs: rutter" in told
    assert rutter.json("schedule", "list")[0]["zone"] == "Europe/Berlin"
    assert rutter("schedule", "drop", "morning").out == "[OK] dropped morning\n"
    for wrong, words in {
        "no schedule 'morning'": ("schedule", "drop", "morning"),
        "no time to run at": (*MORNING, "--cron", "7"),
        "no time zone": (*MORNING, "--zone", "Old/Town"),
        "sounds like a secret": (*MORNING, "--set", "password=x"),
        "no daemon runs": ("hook", "set", "shop", "--workflow", "order"),
    }.items():
        refused(rutter(*words), wrong)
    assert rutter.json("schedule", "list") == []


def test_rows_are_looked_at_when_they_are_set(with_orders: Rutter, tmp_path: Path) -> None:
    file, rutter = tmp_path / "orders.csv", with_orders
    file.write_text("note\nsoon\n")
    rows = ("schedule", "set", "orders", "--cron", "0 7 * * *", "--workflow", "order", "--rows")
    refused(rutter(*rows, file.with_name("none.csv")), "cannot be read")
    refused(rutter(*rows, file), "lacks the column customer")
    refused(rutter(*MORNING, "--afresh"), "--afresh is for --rows")
    file.write_text("customer\nAurora Shipping\n")
    told = rutter(*rows, file, "--afresh")
    assert told.out.startswith("[OK] orders: order, each row of orders.csv, next "), told
    [listed] = rutter.json("schedule", "list")
    assert (listed["rows"], listed["afresh"]) == (str(file), True)
    assert "order, each row of orders.csv" in rutter("schedule").out


@for_each(
    "env, link, zone",
    [
        ({"TZ": ":Europe/Berlin"}, "", "Europe/Berlin"),
        ({}, "usr/share/zoneinfo/America/Lima", "America/Lima"),
        ({"TZ": "CET-1CEST"}, "usr/share/zoneinfo/America/Lima", "America/Lima"),
        ({"TZ": "/etc/passwd"}, "usr/share/zoneinfo/posix/nowhere", "UTC"),
        ({}, "", "UTC"),
    ],
)
def test_the_zone_of_this_machine(
    tmp_path: Path, env: dict[str, str], link: str, zone: str
) -> None:
    place = tmp_path / "localtime"
    if link:
        place.symlink_to(tmp_path / link)
    assert machine_zone(env, place) == zone


# -- from the log ----------------------------------------------------------------------------------


def written(path: Path, replayed: Replayed, *events: AnyEvent) -> Settings:
    async def write() -> None:
        log: SqliteLog = await replayed.sqlite(settings.directory.log)
        async with App.open(log) as app:
            for event in events:
                await app.say_process(event)

    settings = load(str(path), env={"XDG_CONFIG_HOME": str(path)})
    anyio.run(write)
    return settings


def test_what_is_run_when_is_read_from_the_log(
    tmp_path: Path, replayed: Replayed, capsys: pytest.CaptureFixture[str]
) -> None:
    settings = written(
        tmp_path,
        replayed,
        ScheduleSet("morning", "0 7 * * *", ORDER, "person", zone="Europe/Berlin"),
        ScheduleSet("gone", "0 7 * * *", ORDER, "person"),
        ScheduleDropped("gone", "person"),
        ScheduleSet("lost", "0 7 * * *", RunGoal("find it"), "person", zone="Old/Town"),
    )
    options = typed("schedule", "list")
    options.do(options, settings, Terminal())
    header, lost, morning = capsys.readouterr().out.splitlines()
    assert header.split() == ["schedule", "cron", "zone", "runs", "overlap", "missed", "next"]
    assert "order customer=Aurora" in morning
    assert " 07:00 CE" in morning
    assert "to: find it" in lost
    assert "there is no time zone" in lost
    options.do(typed("schedule"), settings, Terminal(as_json=True))
    rows = msgspec.json.decode(capsys.readouterr().out)
    assert [(row["name"], bool(row["next"])) for row in rows] == [
        ("lost", False),
        ("morning", True),
    ]


def test_what_can_be_called_is_read_from_the_log_without_its_token(
    tmp_path: Path, replayed: Replayed, capsys: pytest.CaptureFixture[str]
) -> None:
    settings = written(
        tmp_path,
        replayed,
        HookSet("shop", ORDER, "person", "ab" * 32, ("customer",)),
        HookSet("look", RunFree("https://a.example"), "person", "cd" * 32),
        HookSet("gone", ORDER, "person", "ef" * 32),
        HookDropped("gone", "person"),
    )
    options = typed("hook")
    options.do(options, settings, Terminal())
    out = capsys.readouterr().out
    assert "freely from https://a.example" in out
    assert "customer" in out
    assert "gone" not in out
    options.do(options, settings, Terminal(as_json=True))
    said = capsys.readouterr().out
    assert [each["name"] for each in msgspec.json.decode(said)] == ["look", "shop"]
    assert "abab" not in said


def test_where_there_is_nothing_it_is_said_how_to_begin(
    tmp_path: Path, replayed: Replayed, capsys: pytest.CaptureFixture[str]
) -> None:
    settings = written(tmp_path, replayed)
    for what in ("schedule", "hook"):
        options = typed(what, "list")
        options.do(options, settings, Terminal())
        assert f"rutter {what} set NAME" in capsys.readouterr().out
