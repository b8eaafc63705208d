"""What a model is shown: every part within its limits, and the others when one cannot be had."""

import struct

import msgspec
import pytest

from rutter.actors.advisor.page_context import (
    MAX_HTML,
    MAX_RECORDS,
    MAX_TREE,
    MAX_WORDS,
    ActionRecord,
    ErrorRecord,
    gather_context,
)
from rutter.actors.world.browser.page_session import PageTimeout
from rutter.actors.world.browser.tab import Tab
from rutter.events.page import Page
from tests.support import browser_fixtures
from tests.support.browser_fixtures import show
from tests.support.page_server import PageServer

pytestmark = [pytest.mark.browser, pytest.mark.anyio]
window = browser_fixtures.one_window

SECOND = 1_000
PNG = b"\x89PNG\r\n\x1a\n"
FORM = """<h1>Sign in</h1><p>Welcome back to the harbour.</p><p hidden>Unseen words</p>
  <form><label>Name <input name=user value=Ann data-testid=user></label>
  <input type=password name=password value=hunter2><input type=checkbox checked name=stay>
  <select name=lang><option>English<option selected>Dutch</select>
  <button class="long list of classes" onclick="go()">Sign in</button></form>
  <a href="/reset?token=hunter3&x=1">Forgot "it"?</a>
  <a href=/far style="position:absolute;top:3000px">Far below</a>
  <p style="position:absolute;top:3000px">Words far below</p>"""


def width_of(png: bytes) -> int:
    assert png.startswith(PNG)
    (width,) = struct.unpack(">I", png[16:20])
    return int(width)


async def test_a_page_is_shown_in_all_its_parts(tab: Tab, server: PageServer) -> None:
    await show(tab, server, FORM)
    context = await gather_context(tab, part_ms=10 * SECOND)
    assert context.missing == ()
    assert width_of(context.screenshot) == 1280
    assert '@e0 heading 1 "Sign in"' in context.accessibility_tree
    assert '@e1 textbox "Name" = "Ann"' in context.accessibility_tree
    assert context.url.startswith(server.url)
    assert context.visible_text.startswith("Sign in Welcome back to the harbour.")
    assert context.viewport_size == (1280, 800)
    assert context.scroll_position == (0, 0)


async def test_the_snippet_holds_the_controls_in_view_and_little_else(
    tab: Tab, server: PageServer
) -> None:
    await show(tab, server, FORM)
    assert (await gather_context(tab, part_ms=10 * SECOND)).html_snippet.splitlines() == [
        '<input name="user" data-testid="user" value="Ann">',
        '<input name="password" type="password" value="(secret)">',
        '<input name="stay" type="checkbox" checked>',
        '<select name="lang"><option>English</option><option selected>Dutch</option></select>',
        "<button>Sign in</button>",
        '<a href="/reset?token=(secret)&amp;x=1">Forgot &quot;it&quot;?</a>',
    ]


async def test_neither_secrets_nor_what_is_out_of_sight_is_shown(
    tab: Tab, server: PageServer
) -> None:
    await show(tab, server, FORM)
    context = await gather_context(tab, part_ms=10 * SECOND)
    assert "hunter" not in str(context)
    assert "Unseen" not in context.visible_text
    assert "far below" not in context.visible_text


async def test_every_part_of_a_long_page_is_within_its_limit(tab: Tab, server: PageServer) -> None:
    rows = "".join(
        f"<tr><td>Row number {n} \u00e9\u4e16</td><td><a href=/{n}>Open the order {n}</a></td></tr>"
        for n in range(2_000)
    )
    await show(tab, server, f"<style>* {{ font-size: 3px }}</style><table>{rows}</table>")
    actions = [ActionRecord("click", f"button {n}", True, "2026-01-01") for n in range(9)]
    errors = [ErrorRecord("click", "timeout", "x" * 200, "css", str(n)) for n in range(20)]
    context = await gather_context(tab, actions=actions, errors=errors, part_ms=10 * SECOND)
    assert context.missing == ()
    assert 0 < len(context.accessibility_tree.encode()) <= MAX_TREE
    assert 0 < len(context.html_snippet.encode()) <= MAX_HTML
    assert 0 < len(context.visible_text.encode()) <= MAX_WORDS
    assert [action.target_description[-1] for action in context.previous_actions] == list("45678")
    assert [error.timestamp for error in context.error_history] == ["17", "18", "19"]
    assert sum(len(error.error_message) for error in context.error_history) <= MAX_RECORDS


async def test_a_picture_is_no_wider_than_asked_for(tab: Tab, server: PageServer) -> None:
    await show(tab, server, FORM)
    assert width_of(await tab.picture(max_width=640, within_ms=10 * SECOND)) == 640
    assert width_of(await tab.picture(max_width=4_000, within_ms=10 * SECOND)) == 1280


async def test_parts_that_cannot_be_had_are_named_and_the_others_are_there(
    tab: Tab, server: PageServer
) -> None:
    await show(tab, server, '<button style="margin:0" onclick="while (true);">Go</button>')
    page = msgspec.convert(await tab.call("observe", within_ms=10 * SECOND), Page)
    with pytest.raises(PageTimeout):
        await tab.click(20, 20, within_ms=300)
    actions = [ActionRecord("click", "button Go", False, "2026-01-01")]
    context = await gather_context(tab, page=page, actions=actions, part_ms=300)
    assert [missing.part for missing in context.missing] == [
        "html_snippet",
        "screenshot",
        "visible_text",
    ]
    assert context.missing[0].why == "controlsHtml did not finish within 300 ms"
    assert context.accessibility_tree == '@e0 button "Go"'
    assert context.url == page.url
    assert context.previous_actions == tuple(actions)
    blind = await gather_context(tab, part_ms=300)
    assert blind.missing[0].part == "accessibility_tree"
    assert (blind.url, blind.accessibility_tree) == ("", "")
