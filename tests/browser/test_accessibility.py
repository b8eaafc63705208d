"""Roles and names against Chromium's own accessibility tree."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from playwright.async_api import BrowserContext, CDPSession, async_playwright

from actors.browser.tab import PARTS, library
from pipeline.chromium import find_chromium
from pipeline.site import Site
from pipeline.site.sessions import DEFAULT_PASSWORD, USER
from tests.browser.page_server import PageServer

pytestmark = [pytest.mark.browser, pytest.mark.anyio]

# One file for each kind of page: what people build forms, tables, menus and dialogs of.
PAGES = sorted(Path(__file__).parent.glob("accessible/*.html"))
STYLE = """<style>
  .off { display: none } .gone { visibility: hidden }
  .sr { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%) }
</style>"""
SITE = ("/desk", "/customers", "/customers/201", "/orders", "/orders/new?customer=201", "/login")
LEAST = 98  # percent of the interactive elements that must agree
# What Chromium calls things for which there is no role in ARIA, and what we call them.
TRANSLATED = {
    "DisclosureTriangle": "button",
    "DisclosureTriangleGrouped": "button",
    "Date": "textbox",
    "DateTime": "textbox",
    "InputTime": "textbox",
    "ColorWell": "button",
    "Pre": "generic",
    "image": "img",
}
# Nothing in ARIA names a box. Ours is named by what is in it: a snapshot has no text beside.
NAMELESS = {"generic", "paragraph", "listitem"}
WIDGETS = """button link checkbox radio textbox combobox listbox menuitem menuitemcheckbox
    menuitemradio tab switch slider searchbox spinbutton DisclosureTriangle Date DateTime InputTime
    ColorWell DisclosureTriangleGrouped"""
INTERACTIVE = frozenset(WIDGETS.split())
DRAWN = {"Date", "DateTime", "InputTime", "ColorWell"}
EXPOSED = "globalThis.seen = { page: observe(), refs };"


class Seen(NamedTuple):
    """An element as one side sees it: `where` tells it apart on its page."""

    where: int
    role: str
    name: str


@pytest.fixture(scope="module")
async def context(anyio_backend: str) -> AsyncIterator[BrowserContext]:
    executable = find_chromium()
    assert executable is not None
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(
            executable_path=executable, args=["--no-sandbox"]
        )
        yield await browser.new_context(viewport={"width": 1280, "height": 2400})
        await browser.close()


def exposing() -> str:
    """The page's script with its last look laid open: these pages have nothing to hide."""
    assert "snapshot" in PARTS
    script = library()
    end = script.rindex("})();")
    return f"{script[:end]}{EXPOSED}\n{script[end:]}"


async def theirs(cdp: CDPSession) -> list[Seen]:
    """What Chromium's tree holds that can be operated."""
    await cdp.send("Accessibility.enable")
    tree = await cdp.send("Page.getFrameTree")
    found = []
    for frame in frames_of(tree["frameTree"]):
        nodes = (await cdp.send("Accessibility.getFullAXTree", {"frameId": frame}))["nodes"]
        drawn = drawn_by_the_browser(nodes)
        operable = [node for node in nodes if is_operable(node) and node["nodeId"] not in drawn]
        found += [seen_in(node) for node in operable if not await is_left_out(cdp, node)]
    return found


def drawn_by_the_browser(nodes: list[dict[str, Any]]) -> set[str]:
    """The parts of a date field: no element of the page is behind them."""
    drawn: set[str] = set()
    for node in nodes:  # a node comes before its children
        if node["role"]["value"] in DRAWN or node["nodeId"] in drawn:
            drawn.update(node.get("childIds", ()))
    return drawn


async def is_left_out(cdp: CDPSession, node: dict[str, Any]) -> bool:
    """By S3 1.3.2: the options of a select, and what only a script can focus."""
    described = await cdp.send("DOM.describeNode", {"backendNodeId": node["backendDOMNodeId"]})
    given = described["node"].get("attributes", [])
    attributes = dict(zip(given[::2], given[1::2], strict=True))
    by_script = attributes.get("tabindex", "").startswith("-")
    widget = node["role"]["value"] in INTERACTIVE
    return described["node"]["localName"] == "option" or (by_script and not widget)


def frames_of(tree: dict[str, Any]) -> list[str]:
    inner = [frame for child in tree.get("childFrames", []) for frame in frames_of(child)]
    return [tree["frame"]["id"], *inner]


def is_operable(node: dict[str, Any]) -> bool:
    if node.get("ignored") or "backendDOMNodeId" not in node:
        return False
    role = node["role"]["value"]
    focusable = any(
        state["name"] == "focusable" and state["value"]["value"]
        for state in node.get("properties", [])
    )
    return role in INTERACTIVE or (focusable and role not in {"RootWebArea", "Iframe"})


def seen_in(node: dict[str, Any]) -> Seen:
    role, name = node["role"]["value"], node.get("name", {}).get("value", "")
    if role in {"generic", "paragraph"} and any(
        state["name"] == "editable" for state in node.get("properties", [])
    ):
        role = "textbox"  # Chromium says so in a property
    return Seen(node["backendDOMNodeId"], TRANSLATED.get(role, role), " ".join(name.split()))


async def ours(cdp: CDPSession) -> list[Seen]:
    exposed = await cdp.send("Runtime.evaluate", {"expression": exposing()})
    assert "exceptionDetails" not in exposed, exposed
    page = await value_of(cdp, "seen.page")
    refs = await cdp.send("Runtime.evaluate", {"expression": "seen.refs"})
    held = await cdp.send(
        "Runtime.getProperties", {"objectId": refs["result"]["objectId"], "ownProperties": True}
    )
    objects = [each["value"] for each in held["result"] if each["name"].isdigit()]
    found = []
    for element, held_by in zip(page["elements"], objects, strict=True):
        node = await cdp.send("DOM.describeNode", {"objectId": held_by["objectId"]})
        where = node["node"]["backendNodeId"]
        found.append(Seen(where, element["role"], element["name"][0]))
    return found


async def value_of(cdp: CDPSession, expression: str) -> Any:
    answer = await cdp.send("Runtime.evaluate", {"expression": expression, "returnByValue": True})
    return answer["result"]["value"]


def compare(page: str, chromium: list[Seen], mine: list[Seen]) -> list[str]:
    """A line for each operable element that the two sides see differently."""
    by_place = {seen.where: seen for seen in mine}
    wrong = []
    for seen in chromium:
        found = by_place.pop(seen.where, None)
        if found is None:
            wrong.append(f"{page}: {seen.role} {seen.name!r} is not in ours")
        elif found.role != seen.role or (found.name != seen.name and seen.role not in NAMELESS):
            wrong.append(
                f"{page}: {seen.role} {seen.name!r} is {found.role} {found.name!r} in ours"
            )
    extra = [seen for seen in by_place.values() if seen.role in INTERACTIVE]
    return wrong + [f"{page}: {seen.role} {seen.name!r} is only in ours" for seen in extra]


async def visit(context: BrowserContext, url: str) -> tuple[list[Seen], list[Seen]]:
    page = await context.new_page()
    try:
        await page.goto(url)
        cdp = await context.new_cdp_session(page)
        return await theirs(cdp), await ours(cdp)
    finally:
        await page.close()


async def sign_in(context: BrowserContext, base_url: str) -> None:
    page = await context.new_page()
    await page.goto(f"{base_url}/login")
    await page.fill('[data-testid="login-user"]', USER)
    await page.fill('[data-testid="login-password"]', DEFAULT_PASSWORD)
    await page.click('[data-testid="login-submit"]')
    await page.wait_for_url("**/desk")
    await page.close()


async def test_roles_and_names_are_those_of_chromiums_own_accessibility_tree(
    context: BrowserContext, server: PageServer, capsys: pytest.CaptureFixture[str]
) -> None:
    operable, wrong = 0, []
    with Site() as site:
        await sign_in(context, site.base_url)
        urls = {path: f"{site.base_url}{path}" for path in SITE}
        for file in PAGES:
            urls[file.stem] = server.show(STYLE + file.read_text("utf-8"))
        for name, url in urls.items():
            chromium, mine = await visit(context, url)
            assert chromium, name
            operable += len(chromium)
            wrong += compare(name, chromium, mine)
    agree = 100 * (operable - len(wrong)) / operable
    with capsys.disabled():
        print(f"\n{agree:.1f} % of {operable} operable elements on {len(urls)} pages agree")
        print("\n".join(wrong))
    assert len(urls) >= 25
    assert agree >= LEAST
