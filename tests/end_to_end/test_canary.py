"""A password and an API key that a run types, and a page repeats, are found nowhere afterwards."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from rutter.actors.executor.page_input import PageInput
from rutter.actors.world.browser.keyboard import TypedField
from rutter.actors.world.secrets.redaction import Redactor, Secrets
from rutter.events.action import Action
from tests.support.command_shell import COMMAND, ROOT, Ended, Rutter, check_logs
from tests.support.echo_site import EchoSite
from tests.support.otlp_receiver import Receiver
from tests.support.secret_search import places_of

PASSWORD = "Canary-9 & sons<x>/'knot"
KEY = "cnry-AQ7tWz4Lm2Rr8Kd3"
SECRETS = ("--secret", "pw=env:CANARY_PW", "--secret", "key=env:CANARY_KEY")
ENV = {"CANARY_PW": PASSWORD, "CANARY_KEY": KEY}


class Left(NamedTuple):
    """What a run left: its directory and files beside it, and all that it said."""

    folder: Path
    said: list[Ended]
    sent: bytes

    def places_of(self, value: str) -> list[str]:
        spoken = [text for each in self.said for text in (each.out, each.err)]
        return places_of(value, self.folder, self.sent, *spoken)


def script(site: EchoSite, remark: str = KEY) -> dict[str, object]:
    def step(kind: str, selector: str, **more: object) -> dict[str, object]:
        return {"type": kind, "selectors": [[selector]], "target": "main", **more}

    def click(selector: str) -> dict[str, object]:
        return step("click", selector, offsetX=3, offsetY=3)

    steps = [
        {"type": "navigate", "url": f"{site.url}/"},
        step("change", "#pw", value=PASSWORD),
        step("change", "#remark", value=remark),
        click("#go"),
        *([click("#file"), click("#packed"), click("#next")] if remark == KEY else []),
    ]
    return {"title": "Canary", "steps": steps}


@pytest.fixture
def site() -> Iterator[EchoSite]:
    with EchoSite() as running:
        yield running


@pytest.fixture(autouse=True)
def bound(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in ENV.items():
        monkeypatch.setenv(name, value)


def record(rutter: Rutter, site: EchoSite, folder: Path, **more: str) -> Ended:
    file = folder.parent / "script.json"
    file.write_text(json.dumps(script(site, **more)))
    more_flags = ("--allow", site.host, "--answers", yes(folder.parent))
    return rutter("--verbose", "record", "canary", "--script", file, *SECRETS, *more_flags)


def yes(folder: Path) -> Path:
    """A person who agrees to everything."""
    file = folder / "yes.json"
    file.write_text(json.dumps([{"approved": True, "phrase": "confirm"}] * 30))
    return file


def everything(folder: Path, site: EchoSite, monkeypatch: pytest.MonkeyPatch) -> Left:
    """Records, sails, is told as JSON, reported, exported and traced, live and afterwards."""
    folder.mkdir()
    rutter = Rutter(folder / "data")
    collector = Receiver()
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", collector.url)
    try:
        said = [record(rutter, site, folder)]
        agreed = ("--answers", yes(folder.parent))
        said.append(rutter("--verbose", "run", "canary", *SECRETS, *agreed, "--screenshots"))
        asked: tuple[tuple[str | Path, ...], ...] = (
            ("--json", "show", "last"),
            ("show", "last"),
            ("report", "last", "--out", folder / "report.html"),
            ("trace", "last", "--again", "--file", folder / "traces.jsonl"),
            ("export", "canary", "--format", "playwright", "--out", folder / "canary.py"),
            ("--json", "workflows", "show", "canary"),
        )
        said.extend(rutter(*arguments) for arguments in asked)
        sent = b"".join(each.SerializeToString() for each in collector.requests)
    finally:
        collector.close()
    assert site.typed == [(PASSWORD, KEY)] * 2, said[:2]
    return Left(folder, said, sent)


@pytest.mark.browser
def test_what_is_typed_and_repeated_by_the_page_is_nowhere(
    tmp_path: Path, site: EchoSite, monkeypatch: pytest.MonkeyPatch
) -> None:
    left = everything(tmp_path / "kept", site, monkeypatch)
    check_logs(left.folder)
    assert [each.code for each in left.said] == [0] * len(left.said), left.said
    assert left.places_of(PASSWORD) == []
    assert left.places_of(KEY) == []
    # And it was not for want of anything to hide: the page did say it, under its name.
    shown = left.said[2].out + left.said[0].err
    assert "<secret pw>" in shown
    assert b"<secret pw>" in b"".join(
        path.read_bytes() for path in left.folder.rglob("*") if path.is_file()
    )
    assert left.sent


@pytest.mark.browser
def test_without_redaction_the_same_search_finds_it(
    tmp_path: Path, site: EchoSite, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Secrets, "may_hold", lambda self, text: False)
    monkeypatch.setattr(Redactor, "__call__", lambda self, event: event)
    left = everything(tmp_path / "kept", site, monkeypatch)
    for value in (PASSWORD, KEY):
        found = left.places_of(value)
        assert any("log.db" in place for place in found), found
    assert any("artifacts" in place for place in left.places_of(PASSWORD))


def tools_call(data: Path, site: EchoSite, *calls: dict[str, object]) -> Ended:
    flags = ["--data", str(data), "tools", "call", "--url", f"{site.url}/", "--allow", site.host]
    answers = yes(data.parent)
    ended = subprocess.run(
        [*COMMAND, *flags, *SECRETS, "--answers", str(answers)],
        input="".join(json.dumps(call) + "\n" for call in calls),
        cwd=ROOT,
        env={**os.environ, **ENV},
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )
    return Ended(ended.returncode, ended.stdout, ended.stderr)


@pytest.mark.browser
def test_answers_to_an_agent_do_not_hold_it(tmp_path: Path, site: EchoSite) -> None:
    def call(tool: str, **arguments: object) -> dict[str, object]:
        return {"tool": tool, "arguments": arguments}

    ended = tools_call(
        tmp_path / "data",
        site,
        call("get_snapshot"),
        call("browser_fill", ref="@e1", value="${pw}"),
        call("browser_fill", ref="@e2", value="${key}"),
        call("browser_click", ref="@e3"),
        call("get_snapshot"),
        call("extract", ref="@e1"),
    )
    check_logs(tmp_path)
    assert site.typed == [(PASSWORD, KEY)], ended
    for value in (PASSWORD, KEY):
        assert places_of(value, tmp_path, ended.out, ended.err) == []
    assert "<secret pw>" in ended.out


@pytest.mark.browser
def test_nothing_is_left_by_a_process_that_is_killed_while_it_knows(
    tmp_path: Path, site: EchoSite
) -> None:
    file = tmp_path / "script.json"
    file.write_text(json.dumps(script(site, remark="hang")))
    folder = tmp_path / "kept"
    rutter = Rutter(folder / "data")
    process = rutter.spawn(
        *("--verbose", "record", "canary", "--script", file, *SECRETS[:2], "--allow", site.host),
        *("--answers", yes(tmp_path)),
        env=ENV,
    )
    try:
        assert site.hung.wait(60)
    finally:
        os.killpg(process.pid, signal.SIGKILL)
        out, err = process.communicate()
    assert places_of(PASSWORD, folder, out, err) == []
    assert rutter("sessions").code == 0


@pytest.mark.browser
def test_an_exception_that_holds_it_is_told_without(
    tmp_path: Path, site: EchoSite, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def fails(
        self: PageInput, action: Action, value: str, field: TypedField
    ) -> tuple[bool | None, str]:
        raise RuntimeError(f"cannot type {value!r} into it ({action.append})")

    monkeypatch.setattr(PageInput, "_enter", fails)
    folder = tmp_path / "kept"
    folder.mkdir()
    rutter = Rutter(folder / "data")
    said = [record(rutter, site, folder), rutter("--json", "show", "last")]
    assert said[0].code != 0
    check_logs(folder)
    spoken = [text for each in said for text in (each.out, each.err)]
    assert places_of(PASSWORD, folder, *spoken) == []
    assert "cannot type" in said[1].out
    assert "<secret pw>" in said[1].out


CRASH = """
import os, sys, threading, warnings
from rutter.pipeline.output.redacted_streams import hush_streams
from rutter.pipeline.config.secret_sources import read_secrets
hush_streams()
value = read_secrets(["pw=env:CANARY_PW"], os.environ, input)["pw"]
warnings.warn(f"about {value}")
print("said", value, repr(value))
thread = threading.Thread(target=lambda: int(value))
thread.start(); thread.join()
raise ExceptionGroup("several", [ValueError(value), KeyError(f"{value}!")])
"""


def test_a_traceback_is_printed_without_it() -> None:
    crashed = subprocess.run(
        [sys.executable, "-W", "default", "-c", CRASH],
        cwd=ROOT,
        env={**os.environ, **ENV},
        capture_output=True,
        check=False,
    )
    assert crashed.returncode == 1
    assert crashed.stderr.count(b"<secret pw>") == 4
    assert crashed.stdout.count(b"<secret pw>") == 2
    assert places_of(PASSWORD, crashed.stdout, crashed.stderr) == []
