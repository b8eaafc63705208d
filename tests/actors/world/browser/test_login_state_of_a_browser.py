"""What a real browser knows of one origin, taken from one window and put into another."""

from typing import Any

import pytest

from rutter.actors.world.browser.chromium import Chromium
from rutter.actors.world.browser.login_state import BrowserState, of_origin
from rutter.actors.world.browser.window import Window
from tests.support.page_server import PATIENT, PageServer
from tests.support.policies import HERE

pytestmark = [pytest.mark.browser, pytest.mark.anyio]

STORE = """
document.cookie = "seen=yes; path=/";
localStorage.setItem("token", "local-4711");
const opened = indexedDB.open("auth", 1);
opened.onupgradeneeded = () => {
  opened.result.createObjectStore("users").put({key: "deep-4711"}, "me");
};
opened.onsuccess = () => { document.title = "stored"; };
"""
TELL = """async () => {
  const opened = indexedDB.open("auth", 1);
  await new Promise(done => { opened.onsuccess = done; });
  const asked = opened.result.transaction("users").objectStore("users").get("me");
  await new Promise(done => { asked.onsuccess = done; });
  return [document.cookie, localStorage.getItem("token"), asked.result.key];
}"""


async def told(window: Window, server: PageServer) -> Any:
    await window.tab.navigate(f"{server.url}/another", within_ms=PATIENT)
    return await window.tab.page.evaluate(TELL)


async def test_cookies_local_storage_and_indexed_db_are_taken_from_one_window_to_another(
    chromium: Chromium, server: PageServer, window: Window
) -> None:
    await window.tab.navigate(server.show(f"<script>{STORE}</script>"), within_ms=PATIENT)
    await window.tab.page.wait_for_function("document.title == 'stored'", timeout=PATIENT)
    state = of_origin(await window.state(within_ms=PATIENT), server.url)
    assert [each["value"] for each in state.cookies] == ["yes"]
    assert [each["origin"] for each in state.origins] == [server.url]
    assert not of_origin(state, "http://127.0.0.1:1").origins

    other = await chromium.open_window(HERE)
    try:
        await other.restore(state)
        assert len(other.tabs) == 1  # whatever page the driver needed for it is none of ours
        # Also where nobody went there: what a run did not use is not lost at its end.
        assert of_origin(await other.state(within_ms=PATIENT), server.url) == state
        assert await told(other, server) == ["seen=yes", "local-4711", "deep-4711"]
        assert of_origin(await other.state(within_ms=PATIENT), server.url) == state
    finally:
        await other.close()


async def test_it_can_be_asked_for_when_the_person_has_closed_every_page(
    chromium: Chromium, server: PageServer
) -> None:
    window = await chromium.open_window(HERE)
    try:
        await window.tab.navigate(server.show(f"<script>{STORE}</script>"), within_ms=PATIENT)
        await window.tab.page.wait_for_function("document.title == 'stored'", timeout=PATIENT)
        await window.tab.page.close()

        state = of_origin(await window.state(within_ms=PATIENT), server.url)

        assert (len(state.cookies), len(state.origins)) == (1, 1)
    finally:
        await window.close()


async def test_nothing_is_put_into_a_window_that_had_nothing_to_take(window: Window) -> None:
    await window.restore(BrowserState())

    assert not await window.state(within_ms=PATIENT)
    assert not await window.cookies(within_ms=PATIENT)
