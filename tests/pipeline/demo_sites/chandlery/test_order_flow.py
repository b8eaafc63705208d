"""The flows of the bundled site in a real Chromium, by plain Playwright calls."""

import asyncio
import os
import shutil
from collections.abc import Callable, Coroutine, Iterator
from typing import Any, Protocol

import pytest
from playwright.async_api import Browser, Dialog, Page, async_playwright, expect

from rutter.pipeline.demo_sites.chandlery import (
    Order,
    Site,
    Switches,
    find_order_script,
    order_script,
)
from rutter.pipeline.demo_sites.chandlery.seed import ORDERS

CHROMIUM = os.environ.get("RUTTER_CHROMIUM") or next(
    filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None
)
QUIET = (
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-quic",
)

pytestmark = pytest.mark.browser

Scenario = Callable[[Page, Site], Coroutine[None, None, None]]


class Run(Protocol):
    def __call__(self, scenario: Scenario, switches: Switches | None = None) -> Site: ...


async def play_order(
    page: Page,
    base_url: str,
    *,
    customer: str = "Aurora Shipping",
    product: str = "mooring-rope",
    quantity: str = "3",
    delivery: str = "2026-03-20",
    berth: str = "Waalhaven pier 7",
    note: str = "Call the bosun on arrival.",
    password: str = "bowline-7",
) -> str:
    """The steps of `order_script`; the number of the order."""
    await review_order(page, base_url, customer, product, quantity, delivery, berth, note, password)
    await page.get_by_test_id("place-order").click()
    number = await page.get_by_test_id("order-number").inner_text()
    await page.get_by_test_id("nav-orders").click()
    return number


async def review_order(
    page: Page,
    base_url: str,
    customer: str = "Aurora Shipping",
    product: str = "mooring-rope",
    quantity: str = "3",
    delivery: str = "2026-03-20",
    berth: str = "Waalhaven pier 7",
    note: str = "Call the bosun on arrival.",
    password: str = "bowline-7",
) -> None:
    await page.goto(f"{base_url}/login")
    await page.get_by_test_id("login-user").fill("mate")
    await page.get_by_test_id("login-password").fill(password)
    await page.get_by_test_id("login-submit").click()
    await page.get_by_test_id("nav-customers").click()
    await page.get_by_test_id("customer-search").fill(customer)
    await page.get_by_test_id("customer-search").press("Enter")
    await page.get_by_role("link", name=customer).click()
    await page.get_by_test_id("new-order").click()
    await page.get_by_test_id("order-product").select_option(product)
    await page.get_by_test_id("order-quantity").fill(quantity)
    await page.get_by_test_id("order-delivery").fill(delivery)
    await page.get_by_test_id("order-berth").fill(berth)
    await page.get_by_test_id("priority-urgent").click()
    await page.get_by_test_id("order-note").fill(note)
    await page.get_by_test_id("review-order").click()
    await page.wait_for_url("**/drafts/*")


@pytest.fixture(scope="module")
def run() -> Iterator[Run]:
    """Plays a scenario on a fresh site in a fresh context of one browser; the site afterwards."""
    flags = [*QUIET, *(["--no-sandbox"] if os.geteuid() == 0 else [])]
    with asyncio.Runner() as runner:
        playwright = runner.run(async_playwright().start())
        browser = runner.run(playwright.chromium.launch(executable_path=CHROMIUM, args=flags))

        def play(scenario: Scenario, switches: Switches | None = None) -> Site:
            with Site(switches=switches) as site:
                runner.run(play_quietly(browser, scenario, site))
            return site

        yield play
        runner.run(browser.close())
        runner.run(playwright.stop())


async def play_quietly(browser: Browser, scenario: Scenario, site: Site) -> None:
    """A page that prints or throws anything fails the scenario."""
    page = await browser.new_page()
    page.set_default_timeout(5_000)
    noise: list[str] = []
    page.on("console", lambda message: noise.append(message.text))
    page.on("pageerror", lambda error: noise.append(str(error)))
    await scenario(page, site)
    await page.close()
    assert noise == []


def new_orders(site: Site) -> tuple[Order, ...]:
    return site.orders[len(ORDERS) :]


def test_the_whole_flow_stores_the_order(run: Run) -> None:
    async def scenario(page: Page, site: Site) -> None:
        number = await play_order(
            page, site.base_url, customer="Kestrel Dredging", product="fire-hose", quantity="12"
        )
        assert number == "1007"
        await expect(page.get_by_role("heading", level=1)).to_have_text("Orders")

    assert new_orders(run(scenario)) == (
        Order(
            1007, "Kestrel Dredging", "fire-hose", 12, "2026-03-20", "Waalhaven pier 7",
            "urgent", "Call the bosun on arrival.", placed=True,
        ),
    )  # fmt: skip


def test_the_estimate_appears_while_typing(run: Run) -> None:
    async def scenario(page: Page, site: Site) -> None:
        await review_order(page, site.base_url)
        await page.get_by_test_id("change-order").click()
        await expect(page.get_by_test_id("order-estimate")).to_have_text("1,237.50 EUR")
        await page.get_by_test_id("order-quantity").fill("")
        await page.get_by_test_id("order-quantity").press_sequentially("10")
        await expect(page.get_by_test_id("order-estimate")).to_have_text("4,125.00 EUR")

    run(scenario)


def test_a_moved_and_relabelled_site_can_still_be_used_by_its_words(run: Run) -> None:
    async def scenario(page: Page, site: Site) -> None:
        await review_order(page, site.base_url)
        site.switches = Switches(moved=True, relabelled=True)
        await page.reload()
        await expect(page.get_by_test_id("place-order")).to_have_count(0)
        await page.get_by_role("button", name="Submit purchase").click()
        await expect(page.get_by_role("heading", level=1)).to_have_text("Order 1007 placed")

    assert len(new_orders(run(scenario))) == 1


def test_a_covered_button_is_free_after_the_overlay_is_dismissed(run: Run) -> None:
    async def scenario(page: Page, site: Site) -> None:
        await review_order(page, site.base_url)
        assert not await is_on_top(page, "place-order")
        await page.get_by_test_id("consent-accept").click()
        assert await is_on_top(page, "place-order")
        await page.get_by_test_id("place-order").click()
        await page.wait_for_url("**/orders/1007")

    assert len(new_orders(run(scenario, Switches(covered=True)))) == 1


async def is_on_top(page: Page, mark: str) -> bool:
    return bool(
        await page.get_by_test_id(mark).evaluate(
            """element => {
                const box = element.getBoundingClientRect();
                return document.elementFromPoint(box.x + 8, box.y + 8) === element;
            }"""
        )
    )


@pytest.mark.parametrize("agreed", [True, False])
def test_the_dialog_decides(run: Run, agreed: bool) -> None:
    asked: list[str] = []

    async def decide(dialog: Dialog) -> None:
        asked.append(dialog.message)
        await (dialog.accept() if agreed else dialog.dismiss())

    async def scenario(page: Page, site: Site) -> None:
        page.on("dialog", decide)
        await review_order(page, site.base_url)
        await page.get_by_test_id("place-order").click()
        await page.wait_for_url("**/orders/1007" if agreed else "**/drafts/501")

    assert len(new_orders(run(scenario, Switches(dialog=True)))) == agreed
    assert asked == ["Place this order?"]


@pytest.mark.parametrize(
    ("switches", "address", "heading"),
    [
        (Switches(dead_button=True), "**/drafts/501", "Review"),
        (Switches(lying_toast=True), "**/drafts/501?placed=1", "Review"),
        (Switches(silent_fail=True), "**/orders/received", "Thank you"),
    ],
    ids=["dead button", "lying toast", "silent fail"],
)
def test_what_looks_done_is_not(run: Run, switches: Switches, address: str, heading: str) -> None:
    async def scenario(page: Page, site: Site) -> None:
        await review_order(page, site.base_url)
        await page.get_by_test_id("place-order").click()
        await page.wait_for_url(address)
        await expect(page.get_by_role("heading", level=1)).to_have_text(heading)
        shown = await page.get_by_role("status").all_inner_texts()
        assert ("Order placed" in shown) == switches.lying_toast

    assert new_orders(run(scenario, switches)) == ()


def test_the_banner_goes_when_dismissed(run: Run) -> None:
    async def scenario(page: Page, site: Site) -> None:
        await review_order(page, site.base_url)
        await page.get_by_test_id("nav-desk").click()
        await page.get_by_test_id("desk-banner-dismiss").click()
        await expect(page.get_by_test_id("desk-banner")).to_have_count(0)

    run(scenario, Switches(banner=True))


def test_every_selector_of_the_order_script_names_one_and_the_same_element(run: Run) -> None:
    async def scenario(page: Page, site: Site) -> None:
        read = await play_script(page, order_script(site.base_url, customer="Isbjorn Reefer"))
        assert read == {"order_number": "1007"}

    assert new_orders(run(scenario))[0].customer == "Isbjorn Reefer"


def test_every_selector_of_the_find_script_names_one_and_the_same_element(run: Run) -> None:
    async def scenario(page: Page, site: Site) -> None:
        read = await play_script(page, find_order_script(site.base_url, number="1005"))
        assert read == {"order_status": "On hold"}

    run(scenario)


async def play_script(page: Page, script: dict[str, Any]) -> dict[str, str]:
    """Just enough of a Recorder player, strict about selectors; what was read."""
    read = {}
    for step in script["steps"]:
        match step["type"]:
            case "setViewport":
                await page.set_viewport_size({"width": step["width"], "height": step["height"]})
            case "navigate":
                await page.goto(step["url"])
            case "keyDown":
                await page.keyboard.down(step["key"])
            case "keyUp":
                await page.keyboard.up(step["key"])
            case "customStep":
                mark = await agreed_test_id(page, step["parameters"]["selectors"])
                read[step["parameters"]["name"]] = await page.locator(mark).inner_text()
            case "click":
                await page.locator(await agreed_test_id(page, step["selectors"])).click()
            case "change":
                await change(page, await agreed_test_id(page, step["selectors"]), step["value"])
            case other:
                pytest.fail(f"unexpected step {other}")
        for event in step.get("assertedEvents", []):
            await page.wait_for_load_state()
            if "url" in event:
                await page.wait_for_url(event["url"])
                assert await page.title() == event["title"]
    return read


async def change(page: Page, css: str, value: str) -> None:
    target = page.locator(css)
    if await target.evaluate("element => element.tagName") == "SELECT":
        await target.select_option(value)
    else:
        await target.fill(value)


async def agreed_test_id(page: Page, selectors: list[list[str]]) -> str:
    """The test id selector, once all the others were found to mean that element only."""
    css = next(s[0] for s in selectors if s[0].startswith("[data-testid="))
    await expect(page.locator(css)).to_have_count(1)
    expected = await page.locator(css).evaluate("element => element.outerHTML")
    for (selector,) in selectors:
        assert await outer_html(page, selector) == [expected], selector
    return css


async def outer_html(page: Page, selector: str) -> list[str]:
    if selector.startswith("aria/"):
        return await by_accessible_name(page, selector.removeprefix("aria/"))
    if selector.startswith("text/"):
        found = page.get_by_text(selector.removeprefix("text/"), exact=True)
    elif selector.startswith("xpath/"):
        found = page.locator(f"xpath={selector.removeprefix('xpath/')}")
    else:
        found = page.locator(selector.removeprefix("pierce/"))
    return [str(html) for html in await found.evaluate_all("all => all.map(e => e.outerHTML)")]


async def by_accessible_name(page: Page, selector: str) -> list[str]:
    """As puppeteer resolves aria selectors: by Chromium's own accessibility tree."""
    name, _, role = selector.removesuffix('"]').partition('[role="')
    session = await page.context.new_cdp_session(page)
    root = await session.send("DOM.getDocument")
    query = {"nodeId": root["root"]["nodeId"], "accessibleName": name}
    answer = await session.send(
        "Accessibility.queryAXTree", query | ({"role": role} if role else {})
    )
    found = []
    for node in answer["nodes"]:
        if node["role"]["value"] not in ("StaticText", "InlineTextBox", "LabelText"):
            element = {"backendNodeId": node["backendDOMNodeId"]}
            found.append(str((await session.send("DOM.getOuterHTML", element))["outerHTML"]))
    await session.detach()
    return found
