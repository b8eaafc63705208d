"""A membership ended from the command line: a model finds the way, the next run needs none; and
what is said where no model can be asked. Keys and passwords are in nothing that is left behind."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from rutter.actors.rules.tools.tool_table import SEVEN
from rutter.actors.world.secrets.redaction import forget
from rutter.pipeline.demo_sites.gaffsail import StreamingSite
from tests.pipeline.cli.test_config import configure
from tests.support.command_shell import Ended, Rutter
from tests.support.model_brain import Reader
from tests.support.page_server import PageServer
from tests.support.provider_server import WireServer
from tests.support.secret_search import places_of

pytestmark = pytest.mark.browser

KEY = "sk-canary-5f3a9c1e7b2d4f60"
PASSWORD = "canary-rolling-hitch-71"
TOOLS = json.dumps([each.name for each in SEVEN])
ON = f"[agent.internal]\nenabled = true\nallowed_tools = {TOOLS}\n"
PLAN = "<title>Plan</title><h1>Plan</h1><button>Cancel plan</button>"


@pytest.fixture(autouse=True)
def _keys(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    forget()
    monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
    yield
    forget()


def at(url: str, more: str = "") -> str:
    return f"{ON}[models.anthropic]\nbase_url = '{url}'\n{more}"


def run(site: StreamingSite, root: Path) -> tuple[str, ...]:
    password, yes = root / "password.txt", root / "yes.json"
    password.write_text(PASSWORD)
    yes.write_text(json.dumps([{"approved": True, "phrase": "confirm"}] * 9))
    return (
        *("run", "film", "--goal", "End the membership", "--url", f"{site.base_url}/account"),
        *("--service", "streaming", "--set", f"email={site.email}", "--answers", str(yes)),
        *("--secret", f"password=file:{password}"),
    )


def nothing_left(rutter: Rutter, *said: Ended) -> None:
    texts = [text for each in said for text in (each.out, each.err)]
    for value in (KEY, PASSWORD):
        assert places_of(value, rutter.data, *texts) == []


def test_a_goal_is_come_to_by_a_model_once_and_then_without_one(
    rutter: Rutter, tmp_path: Path
) -> None:
    with StreamingSite(password=PASSWORD) as site, WireServer(Reader(), key=KEY) as wire:
        configure(rutter, at(wire.anthropic_url))
        arguments = run(site, tmp_path)
        found = rutter(*arguments)
        assert (found.code, site.cancelled, wire.attempts) == (0, 1, 6), found
        assert "6 model calls, " in found.out
        assert "$0.0" in found.out
        assert "Learned as film" in found.out
        assert " for: End the membership" in found.err
        first = rutter("show", "last")
        assert "goal: End the membership" in first.out
        assert "@e" not in "".join(line for line in first.out.splitlines() if "[OK]" in line)

        site.reset()
        again = rutter(*arguments)
        assert (again.code, site.cancelled, wire.attempts) == (0, 1, 6), again
        assert "model call" not in again.out
    shown, replayed, metrics = rutter("show", "last"), rutter("replay"), rutter("metrics")
    assert "asked: 6 model calls, " in first.out
    assert "model call" not in shown.out
    assert "no divergence" in replayed.out
    row = next(line for line in metrics.out.splitlines() if line.startswith("anthropic"))
    calls, failed = row.split()[2:4]
    assert (calls, failed) == ("6", "0")
    assert "$0.0" in row
    nothing_left(rutter, found, first, again, shown, replayed, metrics)


def test_with_a_wrong_key_the_service_goes_its_own_way(rutter: Rutter, tmp_path: Path) -> None:
    with StreamingSite(password=PASSWORD) as site, WireServer([], key="another") as wire:
        configure(rutter, at(wire.anthropic_url))
        ended = rutter(*run(site, tmp_path))
        assert (ended.code, site.cancelled, wire.attempts) == (0, 1, 1), ended
    assert "1 model call, 0 tokens" in ended.out
    assert "anthropic did not answer (unauthorised: " in ended.out
    assert "): the service's own way went on" in ended.out
    nothing_left(rutter, ended, rutter("show", "last"))


@pytest.mark.parametrize(
    ("server", "more", "why", "fix"),
    [
        ({"key": "another"}, "", "unauthorised: ", "check models.anthropic.key"),
        ({"models": ["sonnet"]}, "model = 'sonet'\n", "unknown_model: ", "models.anthropic.model"),
        (None, "", "unavailable: ", "check the network and models.anthropic.base_url"),
    ],
    ids=["wrong key", "unknown model", "provider down"],
)
def test_where_nobody_can_be_asked_it_says_why_and_what_to_do(
    rutter: Rutter, server: dict[str, object] | None, more: str, why: str, fix: str
) -> None:
    with PageServer() as pages, WireServer([], **(server or {})) as wire:  # type: ignore[arg-type]
        url = wire.anthropic_url
        if server is None:
            with WireServer([]) as gone:
                url = gone.anthropic_url
        configure(rutter, at(url, more))
        goal = ("--goal", "Cancel the plan", "--url", pages.show(PLAN))
        ended = rutter("run", *goal, "--success", "heading=cancelled")
        assert wire.attempts == (1 if server else 0)
    assert ended.code == 8, ended
    [said] = [line for line in ended.out.splitlines() if "no language model answered" in line]
    [todo] = [line for line in ended.out.splitlines() if "models check" in line]
    assert f"anthropic: {why}" in said
    assert fix in todo
    nothing_left(rutter, ended, rutter("show", "last"))
