"""Plain Playwright is the limit of the flow bench: the same steps as anybody would write them."""

from playwright.async_api import Page

from rutter.pipeline.demo_sites.sign_ins import DEFAULT_PASSWORD, USER


def by_test_id(name: str) -> str:
    return f'[data-testid="{name}"]'


async def play_order(page: Page, base_url: str, customer: str) -> str:
    """The steps of `rutter.pipeline.demo_sites.chandlery.order_script`, one call each; the number
    of the order.

    Nothing is observed, judged, written or verified. It ends where ours does: the document that
    the last click leads to is there. (A click alone returns when its navigation is committed.)
    """
    await page.goto(f"{base_url}/login")
    await page.fill(by_test_id("login-user"), USER)
    await page.fill(by_test_id("login-password"), DEFAULT_PASSWORD)
    await page.click(by_test_id("login-submit"))
    await page.click(by_test_id("nav-customers"))
    await page.fill(by_test_id("customer-search"), customer)
    await page.press(by_test_id("customer-search"), "Enter")
    await page.click(by_test_id("customer-link"))
    await page.click(by_test_id("new-order"))
    await page.select_option(by_test_id("order-product"), "mooring-rope")
    await page.fill(by_test_id("order-quantity"), "3")
    await page.fill(by_test_id("order-delivery"), "2026-03-20")
    await page.fill(by_test_id("order-berth"), "Waalhaven pier 7")
    await page.click(by_test_id("priority-urgent"))
    await page.fill(by_test_id("order-note"), "Call the bosun on arrival.")
    await page.click(by_test_id("review-order"))
    await page.click(by_test_id("place-order"))
    number = await page.inner_text(by_test_id("order-number"))
    await page.click(by_test_id("nav-orders"))
    await page.wait_for_load_state("domcontentloaded")
    return number
