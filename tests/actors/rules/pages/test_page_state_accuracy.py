"""How often the state of a page is named right, on both labelled sets, in a real browser."""

from collections import Counter
from typing import get_args

import msgspec
import pytest

from rutter.actors.observer.actor import fit
from rutter.actors.rules.pages.page_state import detect, phrases_for
from rutter.actors.world.browser.chromium import Chromium
from rutter.actors.world.browser.tab import Tab
from rutter.actors.world.egress.gate import Gate
from rutter.events.checks import PageState
from rutter.events.page import Page
from rutter.events.run_settings import RunSettings
from rutter.pipeline.config.chromium_install import find_chromium
from tests.support.page_states.labelled import LabelledPage, Sites, Verdict, read_pages, table_of
from tests.support.policies import HERE

SECOND = 1_000
AIM = 95  # of 100: what rules are to exceed (S1 3.2)
# What they do exceed on the pages they were written with.
FLOOR = AIM
# The same, on the set that nobody who wrote a rule had seen.
FRESH_FLOOR = AIM
FLOORS = {"pages": FLOOR, "fresh": FRESH_FLOOR}
PHRASES = phrases_for(RunSettings())


async def judge(tab: Tab, sites: Sites, page: LabelledPage) -> Verdict:
    await tab.navigate(sites.show_at(page), within_ms=20 * SECOND)
    raw = await tab.call("observe", {"phrases": PHRASES}, within_ms=10 * SECOND)
    said = msgspec.convert(raw.pop("phrases"), tuple[str, ...])
    return Verdict(page, detect(fit(msgspec.convert(raw, Page)), said))


@pytest.mark.browser
@pytest.mark.anyio
async def test_pages_are_called_what_a_person_would_call_them(
    capsys: pytest.CaptureFixture[str],
) -> None:
    executable = find_chromium()
    assert executable is not None, "no Chromium: run `make setup`, or set RUTTER_CHROMIUM"
    async with Chromium(executable, Gate()) as browser:
        window = await browser.open_window(HERE)
        with Sites() as sites:
            verdicts = {
                of: [await judge(window.tab, sites, page) for page in read_pages(of)]
                for of in FLOORS
            }
        await window.close()

    with capsys.disabled():
        for of, floor in FLOORS.items():
            print(f"\n{of}: {table_of(verdicts[of])}")
            print(f"the aim: above {AIM} %; held: above {floor} %")

    for of, floor in FLOORS.items():
        right = sum(verdict.right for verdict in verdicts[of])
        assert right * 100 > floor * len(verdicts[of]), of


def test_every_state_has_pages_enough_to_measure_it() -> None:
    labels = Counter(page.state for page in read_pages("pages"))
    fresh = Counter(page.state for page in read_pages("fresh"))

    assert labels.total() >= 110
    assert labels["UNKNOWN"] >= 20
    assert fresh["UNKNOWN"] >= 12
    for state in set(get_args(PageState)) - {"START"}:  # a blank page needs no set
        assert labels[state] >= 12, state
        assert fresh[state] >= 6, state
