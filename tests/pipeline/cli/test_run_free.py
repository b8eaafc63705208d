"""`rutter run --free` as a person types it, where the learned model is nearly sure. The command is
the real one; its browser is a scripted shop."""

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from rutter.actors.answers import Answers
from rutter.events.event import Event
from rutter.events.predictor import PredictionMade
from rutter.events.run_settings import RunSettings
from rutter.events.runtime import SessionEnded, SessionStarted
from rutter.events.sqlite_reader import SqliteReader
from rutter.pipeline.app import App
from rutter.pipeline.cli import session_run
from tests.support.command_shell import Rutter
from tests.support.scripted_shop import ORIGIN, World, effectors, shop

FREE = ("run", "--free", "--url", ORIGIN + "/")


class NoBrowser:
    """What is opened where the world is scripted."""

    def __init__(self, *_: object, **__: object) -> None: ...

    async def start(self) -> None: ...

    async def close(self) -> None: ...


@pytest.fixture
def world(monkeypatch: pytest.MonkeyPatch) -> World:
    """The shop that every session of the command sails in, with what was done in all of them."""
    seen = shop()

    async def run_in_browser(
        app: App,
        started: SessionStarted,
        _: object,
        *,
        answers: Answers,
        name: str,
        typed: Sequence[str] = (),
        **__: Any,
    ) -> SessionEnded:
        new = shop()
        new.done = seen.done
        made = effectors(new, started, answers=answers, typed=typed)
        return await app.run_session(started, made, name=name)

    monkeypatch.setattr(App, "run_in_browser", run_in_browser)
    monkeypatch.setattr(session_run, "browser_maker", lambda _: NoBrowser)
    return seen


@pytest.fixture
def shown(rutter: Rutter, world: World, tmp_path: Path) -> Rutter:
    """Shown three times where to go from the first page, once otherwise."""
    for number, way in enumerate(("find", "fill", "find")):
        script = tmp_path / f"{number}.json"
        script.write_text(json.dumps({"title": way, "steps": _steps(way)}))
        ended = rutter("record", f"way-{number}", "--script", script, "--confirm-hosts")
        assert ended.code == 0, ended
    world.done.clear()
    return rutter


def _steps(way: str) -> list[dict[str, Any]]:
    first = {"type": "navigate", "url": ORIGIN + "/"}
    if way == "find":
        return [first, {"type": "click", "selectors": [["#find"]], "offsetX": 1, "offsetY": 1}]
    return [first, {"type": "change", "selectors": [["#q"]], "value": "rope"}]


def settings_of_all(rutter: Rutter) -> list[RunSettings]:
    with SqliteReader(rutter.data / "log.db") as reader:
        events = [each.event for each in reader.read()]
    return [each.settings for each in events if isinstance(each, SessionStarted)]


def last(rutter: Rutter, kind: type[Event]) -> Any:
    with SqliteReader(rutter.data / "log.db") as reader:
        return [each.event for each in reader.read() if isinstance(each.event, kind)][-1]


def answers(tmp_path: Path, *answers: dict[str, Any]) -> tuple[str, Path]:
    file = tmp_path / "answers.json"
    file.write_text(json.dumps(answers))
    return "--answers", file


MODELS = pytest.mark.parametrize("model", ["foresight", "markov2"])


@MODELS
def test_a_suggestion_that_is_approved_is_done(
    shown: Rutter, world: World, tmp_path: Path, model: str
) -> None:
    yes = answers(tmp_path, {"approved": True})
    ended = shown(*FREE, "--predictor", model, "--threshold", "0.7", *yes, "--verbose")

    assert [action.type for action in world.done][:2] == ["navigate", "click"]
    lines = ended.err.splitlines()
    [said] = [line for line in lines if line.startswith("suggests: ")]
    assert re.fullmatch(r"suggests: click 'Find' \(0\.[56]\d\) - do it\?", said)
    sure = r"it is 0\.[56]\d sure that this comes next, less than the 0\.70 that it acts on alone"
    assert re.fullmatch(
        rf'\[ASK\] Click the button "Find"\? I{sure[1:]}\.', lines[lines.index(said) + 2]
    )
    assert last(shown, PredictionMade).model == model


@MODELS
def test_a_suggestion_that_is_refused_ends_the_run(
    shown: Rutter, world: World, tmp_path: Path, model: str
) -> None:
    no = answers(tmp_path, {"approved": False, "message": "the other one"})
    ended = shown(*FREE, "--predictor", model, "--threshold", "0.7", *no)

    assert [action.type for action in world.done] == ["navigate"]
    assert ended.code == 4
    assert 'Step 2: a person said no to click "Find": "the other one".' in ended.out
    assert "Show it what is meant instead: rutter record NAME --url URL" in ended.out


def test_where_nobody_is_there_it_says_that_a_person_is_needed(shown: Rutter, world: World) -> None:
    ended = shown(*FREE)

    assert [action.type for action in world.done] == ["navigate"]
    assert ended.code == 5
    assert 'Step 2: nobody was there to say yes or no to click "Find": Rutter is not' in ended.out
    assert "Run it at a terminal to say yes or no, or give --answers FILE" in ended.out


def test_who_wants_no_suggestions_gets_none(shown: Rutter, world: World, tmp_path: Path) -> None:
    yes = answers(tmp_path, {"approved": True})
    ended = shown(*FREE, "--suggest", "1", *yes)

    assert [action.type for action in world.done] == ["navigate"]
    assert ended.code == 3
    assert re.search(r"Rutter is only [56]\d % sure of what comes next\.\n", ended.out)
    assert "It is less than run.threshold (0.70): show it what is meant" in ended.out


def test_what_is_too_unsure_to_ask_about_names_the_limit_that_was_given(shown: Rutter) -> None:
    ended = shown(*FREE, "--suggest", "0.69")

    assert ended.code == 3
    assert "It is less than run.suggest (0.69): show it what is meant" in ended.out
    assert "lower --threshold (it acts alone) or --suggest (a person is asked)" in ended.out


def test_at_a_lower_threshold_it_acts_alone(shown: Rutter, world: World) -> None:
    shown(*FREE, "--threshold", "0.5")

    assert [action.type for action in world.done][:2] == ["navigate", "click"]


def test_every_session_goes_by_the_model_that_is_configured(shown: Rutter) -> None:
    (shown.data / "config.toml").write_text("[run]\npredictor = 'markov2'\nsuggest = 0.4\n")
    (shown.data / "config.toml").chmod(0o600)
    by_default = len(settings_of_all(shown))
    shown("run", "way-0")
    shown(*FREE)
    shown(*FREE, "--predictor", "foresight")
    shown("fork", "last", "--at", "1", "--free", "--threshold", "0.9")

    found = [(each.predictor, each.threshold, each.suggest) for each in settings_of_all(shown)]
    assert set(found[:by_default]) == {("foresight", 700_000, 500_000)}
    assert found[by_default:] == [
        ("markov2", 500_000, 400_000),
        ("markov2", 500_000, 400_000),
        ("foresight", 700_000, 400_000),
        ("markov2", 900_000, 400_000),
    ]
