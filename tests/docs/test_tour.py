"""README and ARCHITECTURE tell one click as a golden log has it, and name the files that do it."""

import re
from pathlib import Path
from typing import NamedTuple

from tests.support.golden_logs import envelopes

ROOT = Path(__file__).parents[2]
TOLD = re.compile(r"^\| (\d+) \| `(\w+)` \| (\w+) \| (\d+)", re.MULTILINE)
TOUR = re.compile(r"^\| `(\w+)` \| .+ \| \[([\w/.]+)\]", re.MULTILINE)


class Line(NamedTuple):
    n: int
    event: str
    actor: str
    cause: int


def told() -> list[Line]:
    page = (ROOT / "docs" / "ARCHITECTURE.md").read_text(encoding="utf-8")
    return [Line(int(n), event, by.lower(), int(of)) for n, event, by, of in TOLD.findall(page)]


def from_its_start(lines: list[Line]) -> list[Line]:
    start = lines[0].n
    return [each._replace(n=each.n - start, cause=each.cause - start) for each in lines]


def test_the_life_of_one_click_is_in_a_golden_log() -> None:
    expected = from_its_start(told())
    assert len(expected) == 12
    logged = [
        Line(each.n, type(each.event).__name__, each.actor, each.cause or 0)
        for each in envelopes("order")
    ]
    stretches = (logged[at : at + len(expected)] for at in range(len(logged)))
    assert any(from_its_start(stretch) == expected for stretch in stretches)


def test_the_tour_names_each_event_of_it_and_a_file_that_speaks_of_it() -> None:
    tour = TOUR.findall((ROOT / "README.md").read_text(encoding="utf-8"))
    assert [event for event, _ in tour] == [each.event for each in told()[:-1]]
    silent = [(event, file) for event, file in tour if event not in (ROOT / file).read_text()]
    assert silent == []
