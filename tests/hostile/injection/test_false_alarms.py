"""How often harmless pages are marked, how often orders are, and that a mark changes nothing."""

import re
import tomllib
from pathlib import Path

import pytest

from rutter.actors.rules.text.untrusted import suspicions
from rutter.actors.rules.tools.tool_table import TOOLS
from rutter.actors.world.browser.chromium import Chromium
from rutter.events.observer import PageObserved
from rutter.pipeline.app import App
from rutter.pipeline.sessions import session_started
from rutter.pipeline.tools.dispatcher import open_tools
from tests.hostile.injection.corpus import (
    ABOUT_INJECTION,
    EVERYDAY,
    UNSEEN_ABOUT_INJECTION,
    UNSEEN_EVERYDAY,
    UNSEEN_ORDERS,
)
from tests.hostile.injection.payloads import payloads
from tests.support.log_checks import Replayed, events_of
from tests.support.page_server import PageServer

ROOT = Path(__file__).parents[3]
_TAGS = re.compile(r"<(?:script|style)\b.*?</(?:script|style)>|<[^>]*>", re.DOTALL)


def share(texts: list[str]) -> tuple[int, int]:
    """How many of them are marked, of how many."""
    return sum(bool(suspicions(text)) for text in texts), len(texts)


def site_pages() -> list[str]:
    """The pages by which states are measured: what sites show, as text."""
    found = (ROOT / "tests" / "support" / "page_states").glob("*/*/*.html")
    return [" ".join(_TAGS.sub(" ", path.read_text("utf-8")).split()) for path in sorted(found)]


def test_hardly_any_page_of_every_day_is_marked() -> None:
    marked, of = share([*EVERYDAY, *site_pages()])
    print(f"\nof every day: {marked} of {of} marked")
    assert of > 100
    assert marked * 100 <= of * 3


def test_pages_about_orders_are_often_marked_which_is_why_a_mark_blocks_nothing() -> None:
    marked, of = share(list(ABOUT_INJECTION))
    print(f"\nabout prompt injection: {marked} of {of} marked")
    assert 0 < marked < of


def test_most_orders_are_marked_and_not_all_which_is_why_nothing_rests_on_it() -> None:
    every = [payload.text for payload in payloads()]
    marked, of = share(every)
    print(f"\norders: {marked} of {of} marked")
    assert marked * 100 >= of * 75
    assert marked < of


def test_texts_that_the_patterns_were_not_written_for_are_told_apart_less_well() -> None:
    """These figures are the honest ones, and are only reported: nothing rests on them."""
    for what, texts in (
        ("of every day", UNSEEN_EVERYDAY),
        ("about prompt injection", UNSEEN_ABOUT_INJECTION),
        ("orders", UNSEEN_ORDERS),
    ):
        marked, of = share(list(texts))
        print(f"\nnot seen before, {what}: {marked} of {of} marked")
    assert share(list(UNSEEN_EVERYDAY))[0] < share(list(UNSEEN_ORDERS))[0]


def test_no_decider_reads_the_mark() -> None:
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]
    [deciders] = [each for each in contracts["contracts"] if each["id"] == "deciders"]
    for module in deciders["source_modules"]:
        path = ROOT / Path(*module.split("."))
        files = path.rglob("*.py") if path.is_dir() else [path.with_suffix(".py")]
        for file in files:
            # What makes the mark, is no decider.
            told = file.stem in ("untrusted", "suspicious_phrases", "text_form")
            if not told:
                assert "suspicio" not in file.read_text("utf-8"), file


@pytest.mark.browser
@pytest.mark.anyio
async def test_an_article_about_orders_is_worked_on_like_any_other_page(
    replayed: Replayed, tmp_path: Path, chromium: Chromium, server: PageServer
) -> None:
    articles = "".join(f"<h2>{text[:150]}</h2>" for text in ABOUT_INJECTION[:8])
    html = f"""<title>Articles</title><label>Find <input id=find></label>
    <button type=button onclick="document.title = 'shown'">Show comments</button>
    <a href=/another>Next article</a>{articles}"""
    log = await replayed.sqlite(tmp_path / "log.db")
    started = session_started.tool_session(
        server.show(html), allow=[server.url.removeprefix("http://")], screenshots=False
    )
    patient = dict.fromkeys(TOOLS, 60_000)
    async with (
        App.open(log) as app,
        open_tools(app, chromium, started, timeouts_ms=patient) as tools,
    ):

        async def ref(name: str) -> str:
            answer = await tools.call("get_snapshot")
            assert answer.body()["suspicious"] == list(answer.suspicious)
            assert "override" in answer.suspicious
            assert answer.snapshot is not None
            return next(each.ref for each in answer.snapshot.elements if each.name == name)

        filled = await tools.call("browser_fill", {"ref": await ref("Find"), "value": "agents"})
        clicked = await tools.call("browser_click", {"ref": await ref("Show comments")})
        left = await tools.call("browser_click", {"ref": await ref("Next article")})
        said = await events_of(log, tools.session)
    assert (filled.success, clicked.success, left.success) == (True, True, True)
    assert left.snapshot is not None
    assert left.snapshot.page.title == "Another"
    assert "suspicious" not in left.body()
    assert any("override" in each.suspicious for each in said if isinstance(each, PageObserved))
