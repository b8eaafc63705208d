"""A workflow recorded on the bundled site, once with a banner and once without: it sails both ways.

The log of every test is derived again when the test ends.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from rutter.pipeline.demo_sites.chandlery import Switches, find_order_script
from tests.support.command_shell import Ended, Rutter, check_logs, places_of
from tests.support.recorded_site import PASSWORD, Harbour, Ship

pytestmark = pytest.mark.browser

SIGNED_IN, LISTED = 5, 6  # how many steps of the script lead to the desk, and to the orders


@pytest.fixture
def ship(harbour: Harbour, tmp_path: Path) -> Iterator[Ship]:
    harbour.site.reset()
    ship = Ship(harbour, Rutter(tmp_path / "data"))
    yield ship
    check_logs(ship.rutter.data)
    assert places_of(PASSWORD, ship.rutter.data) == []


def record(ship: Ship, tmp_path: Path, *asides: tuple[int, str]) -> Ended:
    """Finding an order, with a click on each of these behind so many steps."""
    script: dict[str, Any] = find_order_script(ship.site.base_url, password=PASSWORD)
    for behind, name in sorted(asides, reverse=True):
        click = {"type": "click", "selectors": [[f"#{name}"]], "offsetX": 5, "offsetY": 5}
        script["steps"].insert(behind, click)
    path = tmp_path / "find.json"
    path.write_text(json.dumps(script))
    answers = ("--answers", str(ship.harbour.yes))
    given = ("--script", str(path), "--allow", ship.harbour.host, *ship.harbour.secret)
    ended = ship.rutter("record", "find", *given, *answers, "--param", "number=1003")
    assert ended.code == 0, ended
    return ended


def run(ship: Ship, cookies: bool = False, survey_ms: int = 0) -> Ended:
    ship.site.switches = Switches(cookies=cookies, survey_ms=survey_ms)
    return ship.rutter("run", "find", "--set", "number=1003", *ship.harbour.secret)


def passed_over(ship: Ship) -> list[str]:
    steps = ship.story()["steps"]
    return [each["words"] for each in steps if each["verdict"] == "passed_over"]


def test_recorded_with_and_without_a_banner_both_branches_run(ship: Ship, tmp_path: Path) -> None:
    record(ship, tmp_path)
    lost = run(ship, cookies=True)
    assert lost.code == 6
    assert 'something covers it (the dialog "Your cookies"). Rutter waited ' in lost.out
    assert "while it is there and close it as you would, and later runs do so too: " in lost.out

    ship.site.switches = Switches(cookies=True, survey_ms=1)
    again = record(ship, tmp_path, (SIGNED_IN, "cookies-accept"), (LISTED, "survey-close"))
    assert "merged with version 1; to undo that: rutter" in again.out
    accept, close = "click 'Accept all cookies'", "click 'No, thanks'"
    for number, words in ((5, accept), (7, close)):
        told = f"step {number} ({words}) was only in this recording: optional from now on"
        assert told in again.out

    assert run(ship).code == 0
    assert passed_over(ship) == [accept, close]
    assert run(ship, cookies=True, survey_ms=1).code == 0
    assert passed_over(ship) == []


def test_a_survey_that_comes_late_is_answered_when_it_is_in_the_way(
    ship: Ship, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ship.site.switches = Switches(survey_ms=1)
    record(ship, tmp_path, (LISTED, "survey-close"))
    assert ship.rutter("workflows", "edit", "find", "--optional", "6").code == 0
    # Slowly enough that the survey comes between the list and the button behind the number.
    monkeypatch.setenv("RUTTER_CONTROLLER_EXECUTION_DELAY", "0.4")

    assert run(ship, survey_ms=500).code == 0
    done = [each["words"] for each in ship.story()["steps"] if each["verdict"] == "confirmed"]
    assert "click 'No, thanks'" in done
