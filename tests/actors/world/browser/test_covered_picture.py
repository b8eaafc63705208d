"""In a picture of a page nothing secret is to be seen, and the page does not notice."""

from io import BytesIO

import pytest
from PIL import Image

from rutter.actors.world.browser.tab import Tab
from rutter.actors.world.browser.window import Window
from rutter.events.errors import WorldBroken
from tests.support.page_server import PageServer

pytestmark = [pytest.mark.anyio, pytest.mark.browser]

SECOND = 1_000
SECRET = "Canary-9 & sons"
PAGE = """<style>body { margin: 0; background: #fff }
 .at { position: absolute; left: 20px; height: 20px; width: 200px; font: 16px/20px monospace;
       border: 0; padding: 0; margin: 0; background: #0f0; color: #f00 !important }</style>
<input class=at style="top:20px" type=password value=whatever>
<input class=at style="top:60px" value="it is Canary-9 &amp; sons">
<div class=at style="top:100px">x Canary-9 <b>&amp; sons</b></div>
<div class=at style="top:140px" id=host></div>
<iframe class=at style="top:180px"
 srcdoc="<body style='margin:0;background:#0f0'>CANARY-9 &amp;amp; SONS"></iframe>
<div class=at style="top:220px">harmless</div>
<input class=at style="top:260px" type=password>
<div class=at style="top:2000px">Q2FuYXJ5LTkgJiBzb25z</div>
<div style="position:absolute;top:2100px;height:1px;width:1px"></div>
<script>
  const inside = document.querySelector("#host").attachShadow({mode: "open"});
  inside.innerHTML = "<i>Canary-9 &amp; sons</i>";
  window.noticed = 0;
  new MutationObserver(() => noticed++).observe(document, {subtree: true, childList: true,
    attributes: true, characterData: true});
  document.querySelectorAll("input")[1].focus();
  for (const kind of ["blur", "focus", "scroll"]) addEventListener(kind, () => noticed++, true);
</script>"""


def rows_of(image: bytes) -> list[bytes]:
    """The picture's rows of red, green and blue."""
    with Image.open(BytesIO(image)) as picture:
        raw, line = picture.convert("RGB").tobytes(), 3 * picture.width
    return [raw[at : at + line] for at in range(0, len(raw), line)]


def colours(rows: list[bytes], top: int, scale: float = 1) -> set[bytes]:
    """Those of the left end of what is at this height: where the words are."""
    found = set()
    for y in range(round((top + 3) * scale), round((top + 17) * scale)):
        for x in range(round(24 * scale), round(150 * scale)):
            found.add(rows[y][3 * x : 3 * x + 3])
    return found


BLACK, GREEN = b"\0\0\0", b"\0\xff\0"


async def test_fields_and_words_that_are_secret_are_covered(
    window: Window, tab: Tab, server: PageServer
) -> None:
    window.secrets = (SECRET, "abc")
    await tab.navigate(server.show(PAGE), within_ms=10 * SECOND)
    seen = rows_of(await tab.screenshot(full_page=False, within_ms=10 * SECOND))
    whole = rows_of(await tab.screenshot(full_page=True, within_ms=10 * SECOND))
    small = rows_of(await tab.picture(max_width=640, within_ms=10 * SECOND))
    for rows, scale in ((seen, 1.0), (whole, 1.0), (small, 0.5)):
        for top in (20, 60, 100, 140, 180):
            assert colours(rows, top, scale) == {BLACK}, top
        assert GREEN in colours(rows, 220, scale)
        assert GREEN in colours(rows, 260, scale)
    assert len(whole) > 2_000
    assert colours(whole, 2_000) == {BLACK}
    await tab.page.evaluate("scrollTo(0, 50)")
    moved = rows_of(await tab.screenshot(full_page=False, within_ms=10 * SECOND))
    assert colours(moved, 10) == {BLACK}
    whole = rows_of(await tab.screenshot(full_page=True, within_ms=10 * SECOND))
    assert colours(whole, 60) == {BLACK}
    assert await tab.page.evaluate("[noticed, document.activeElement.value]") == [
        1,  # that it was scrolled by this test
        "it is Canary-9 & sons",
    ]


async def test_of_too_many_words_there_is_no_picture(
    window: Window, tab: Tab, server: PageServer
) -> None:
    await tab.navigate(server.show("<div id=all></div>"), within_ms=10 * SECOND)
    window.secrets = ("hawser",)
    fill = "n => { all.innerHTML = '<p>x</p>'.repeat(n) + '<p>hawser</p>'.repeat(n) }"
    await tab.page.evaluate(fill, 40)
    await tab.screenshot(full_page=False, within_ms=10 * SECOND)
    await tab.page.evaluate(fill, 3_000)
    with pytest.raises(WorldBroken, match="cannot be told"):
        await tab.screenshot(full_page=False, within_ms=10 * SECOND)


async def test_what_moves_meanwhile_is_not_pictured(
    window: Window, tab: Tab, server: PageServer
) -> None:
    window.secrets = (SECRET,)
    html = f"""<p id=it>{SECRET}</p><script>let at = 0;
      setInterval(() => {{ it.style.marginLeft = (at = (at + 7) % 997) + "px" }}, 1)</script>"""
    await tab.navigate(server.show(html), within_ms=10 * SECOND)
    with pytest.raises(WorldBroken, match="hold still"):
        await tab.screenshot(full_page=False, within_ms=10 * SECOND)


async def test_where_nothing_is_secret_the_picture_is_as_it_was(
    tab: Tab, server: PageServer
) -> None:
    await tab.navigate(server.show("<h1>Harbour</h1>"), within_ms=10 * SECOND)
    image = await tab.screenshot(full_page=False, within_ms=10 * SECOND)
    assert image == await tab.page.screenshot()
