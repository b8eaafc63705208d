"""Roles and names against Chromium's own accessibility tree."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from playwright.async_api import BrowserContext, CDPSession, Page, async_playwright

from rutter.actors.world.browser.page_script import PARTS, library
from rutter.pipeline.config.chromium_install import find_chromium
from rutter.pipeline.demo_sites.chandlery import Site
from rutter.pipeline.demo_sites.sign_ins import DEFAULT_PASSWORD, USER
from tests.support.page_server import PageServer

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
MARK = "data-seen"
# Each element that it saw is marked with its number, once it was seen.
EXPOSED = f"""const page = observe();
refs.forEach((element, number) => element.setAttribute("{MARK}", number));
return page;"""


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
    document = await nodes_of(cdp)
    found = []
    for frame in frames_of(tree["frameTree"]):
        nodes = (await cdp.send("Accessibility.getFullAXTree", {"frameId": frame}))["nodes"]
        drawn = drawn_by_the_browser(nodes)
        operable = [node for node in nodes if is_operable(node) and node["nodeId"] not in drawn]
        found += [seen_in(node) for node in operable if not is_left_out(document, node)]
    return found


async def nodes_of(cdp: CDPSession) -> dict[int, dict[str, Any]]:
    """Every node of the page by the number that both trees know it by, in one call."""
    whole = await cdp.send("DOM.getDocument", {"depth": -1, "pierce": True})
    left, found = [whole["root"]], {}
    while left:
        node = left.pop()
        found[node["backendNodeId"]] = node
        left += [*node.get("children", ()), *node.get("shadowRoots", ())]
        left += [node["contentDocument"]] if "contentDocument" in node else []
    return found


def attributes_of(node: dict[str, Any]) -> dict[str, str]:
    given = node.get("attributes", [])
    return dict(zip(given[::2], given[1::2], strict=True))


def drawn_by_the_browser(nodes: list[dict[str, Any]]) -> set[str]:
    """The parts of a date field: no element of the page is behind them."""
    drawn: set[str] = set()
    for node in nodes:  # a node comes before its children
        if node["role"]["value"] in DRAWN or node["nodeId"] in drawn:
            drawn.update(node.get("childIds", ()))
    return drawn


def is_left_out(document: dict[int, dict[str, Any]], node: dict[str, Any]) -> bool:
    """By S3 1.3.2: the options of a select, and what only a script can focus."""
    element = document[node["backendDOMNodeId"]]
    by_script = attributes_of(element).get("tabindex", "").startswith("-")
    widget = node["role"]["value"] in INTERACTIVE
    return bool(element["localName"] == "option") or (by_script and not widget)


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
    exposed = await cdp.send("Runtime.evaluate", {"expression": exposing(), "returnByValue": True})
    assert "exceptionDetails" not in exposed, exposed
    marked = {
        int(attributes_of(node)[MARK]): where
        for where, node in (await nodes_of(cdp)).items()
        if MARK in attributes_of(node)
    }
    elements = exposed["result"]["value"]["elements"]
    assert sorted(marked) == list(range(len(elements)))
    return [
        Seen(marked[number], element["role"], element["name"][0])
        for number, element in enumerate(elements)
    ]


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


async def sign_in(page: Page, base_url: str) -> None:
    await page.goto(f"{base_url}/login")
    await page.fill('[data-testid="login-user"]', USER)
    await page.fill('[data-testid="login-password"]', DEFAULT_PASSWORD)
    await page.click('[data-testid="login-submit"]')
    await page.wait_for_url("**/desk")


async def test_roles_and_names_are_those_of_chromiums_own_accessibility_tree(
    context: BrowserContext, server: PageServer, capsys: pytest.CaptureFixture[str]
) -> None:
    operable, wrong = 0, []
    page = await context.new_page()
    cdp = await context.new_cdp_session(page)
    with Site() as site:
        await sign_in(page, site.base_url)
        urls = {path: f"{site.base_url}{path}" for path in SITE}
        for file in PAGES:
            urls[file.stem] = server.show(STYLE + file.read_text("utf-8"))
        for name, url in urls.items():
            await page.goto(url)
            chromium, mine = await theirs(cdp), await ours(cdp)
            assert chromium, name
            operable += len(chromium)
            wrong += compare(name, chromium, mine)
    agree = 100 * (operable - len(wrong)) / operable
    with capsys.disabled():
        print(f"\n{agree:.1f} % of {operable} operable elements on {len(urls)} pages agree")
        print("\n".join(wrong))
    assert len(urls) >= 25
    assert agree >= LEAST
