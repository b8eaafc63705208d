"""A run through the pages alone: started from its form, approved with its picture, looked at."""

import re

import pytest
from playwright.async_api import expect

from rutter.events.validator import ApprovalRequested
from rutter.pipeline.cli.demo import ALONE
from rutter.pipeline.demo_sites.chandlery.switches import Switches
from tests.support.recorded_site import is_wanted
from tests.support.web_visitor import Visitor

pytestmark = [pytest.mark.browser, pytest.mark.anyio, pytest.mark.timeout(240)]


async def start(visitor: Visitor) -> None:
    """By the form of the workflow: whoever sends it sees the run."""
    page = visitor.page
    await visitor.open("/web/workflows/one?name=order")
    for name, value in ALONE.items():
        await page.get_by_label(name, exact=True).fill(value)
    await page.get_by_role("button", name="Run order").click()
    await page.wait_for_url("**/web/runs/run-*")


async def test_a_run_is_started_watched_and_looked_at(visitor: Visitor) -> None:
    page, ship = visitor.page, visitor.ship
    await start(visitor)
    done = page.locator("#head .badge.done")
    await done.wait_for(timeout=60_000)  # without a reload
    [order] = ship.site.placed
    assert is_wanted(order)

    address = page.url
    strip = page.locator("ol.strip img")
    assert await strip.count() > 10
    first = page.locator(".strip img").first
    assert await first.evaluate("image => image.decode().then(() => image.naturalWidth)") > 100
    place = page.locator("li", has=page.locator("summary", has_text="click 'Place order'")).last
    await place.locator("summary").first.click()
    told = await place.inner_text()
    assert "its recording, step 17 of" in told
    assert "Allowed" in told

    await visitor.go(address.removeprefix(ship.url) + "?at=30")
    assert "Running" in await visitor.text("#head")  # as it was then
    await visitor.go(address.removeprefix(ship.url) + "/again")
    assert re.search(r"All [\d,]+ decisions came out the same", await visitor.text())
    await visitor.go(address.removeprefix(ship.url) + "/what-if?threshold=0.9")
    assert "90 %" in await visitor.text("h1")
    await visitor.go(address.removeprefix(ship.url))
    for link, begins in (("Report", "<!doctype html>"), ("Trace", '{"resourceSpans"')):
        async with page.expect_download() as download:
            await page.get_by_role("link", name=link).click()
        file = await (await download.value).path()
        assert file.read_text().startswith(begins)

    await visitor.go("/web/runs?workflow=order&outcome=done&value=juniper")
    assert await page.locator("tbody tr").count() == 1
    await visitor.go("/web/runs?outcome=failed")
    assert "No run is like that" in await visitor.text()


async def test_a_question_is_answered_on_its_page_and_only_once(visitor: Visitor) -> None:
    page, ship = visitor.page, visitor.ship
    ship.site.reset()
    ship.site.switches = Switches(relabelled=True)
    await start(visitor)
    session = page.url.rpartition("/")[2]
    await visitor.go("/web/approvals")
    said, answered = page.locator("#said"), 0
    async for envelope in ship.daemon.feed.follow(session):
        if envelope is None or not isinstance(asked := envelope.event, ApprovalRequested):
            continue
        mine = page.locator(f"[id='ask-{session}-{asked.approval}']")
        await expect(mine).to_contain_text("order", timeout=20_000)
        if asked.phrase:
            await mine.get_by_role("button", name="Yes").click()
            await expect(said).to_contain_text("type confirm")
            assert ship.daemon.questions.pending(session)
            await mine.locator("input[name=phrase]").fill(asked.phrase)
        await mine.get_by_role("button", name="Yes").click()
        await expect(mine).to_have_count(0, timeout=20_000)
        answered += 1
    assert answered, "it asks, for its button is another one"
    await expect(page.locator("article.question")).to_have_count(0)
    [order] = ship.site.placed
    assert is_wanted(order)
    ship.site.switches = Switches()


async def test_what_lies_over_a_step_is_chosen_by_its_number_on_the_page(
    visitor: Visitor,
) -> None:
    page, ship = visitor.page, visitor.ship
    ship.site.reset()
    ship.site.switches = Switches(cookies=True)
    await start(visitor)
    session = page.url.rpartition("/")[2]
    await visitor.go("/web/approvals")
    async for envelope in ship.daemon.feed.follow(session):
        if envelope is None or not isinstance(asked := envelope.event, ApprovalRequested):
            continue
        mine = page.locator(f"[id='ask-{session}-{asked.approval}']")
        await expect(mine.locator("img")).to_have_count(1, timeout=20_000)
        await mine.get_by_role("button", name="Accept all cookies").click()
    [order] = ship.site.placed
    assert is_wanted(order)
    ship.site.switches = Switches()
