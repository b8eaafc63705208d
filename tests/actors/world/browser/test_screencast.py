"""Given a window that is watched: what is in front is shown as it changes, and nothing secret."""

from io import BytesIO

import anyio
import pytest
from PIL import Image

from rutter.actors.world.browser.screencast import FrameView, framed
from rutter.actors.world.browser.tab import Tab
from rutter.actors.world.browser.window import Window
from rutter.events.errors import BrowserGone
from tests.support.jpeg_reader import Gallery, blacks, greens, quality_of, reds, size_of, watching
from tests.support.page_server import PageServer

pytestmark = [pytest.mark.anyio, pytest.mark.browser]

SECOND = 1_000
SECRET = "Canary-9-sons-sail"
# All that is red is secret; what moves is green.
MOVING = """<style>body { margin: 0; background: #fff; color: #00f }
 #it { position: fixed; top: 300px; width: 60px; height: 60px; background: #0a0 }
 input, .said { font: 30px monospace; color: #f00; width: 700px; height: 40px; border: 0;
                display: block; outline: 0 }</style>
<div id=it></div>
<script>let n = 0;
  const move = () => { it.style.left = (n += 5) % 600 + "px"; requestAnimationFrame(move) };
  move();</script>"""
GREEN = "<body style='background:#0a0'>"
WHITE = "<body style='background:#fff'>"


async def type_in(tab: Tab, text: str = SECRET) -> None:
    await tab.page.evaluate("document.querySelector('input').focus()")
    await tab.insert(text, within_ms=10 * SECOND)


async def go(tab: Tab, url: str) -> None:
    await tab.navigate(url, within_ms=10 * SECOND)


def is_green(picture: bytes) -> bool:
    width, height = size_of(picture)
    return greens(picture) > width * height / 2


# -- what is shown -----------------------------------------------------------------------------


async def test_a_page_that_moves_is_shown_as_it_moves(
    window: Window, tab: Tab, server: PageServer
) -> None:
    await go(tab, server.show(MOVING))
    async with watching(window) as (gallery, cast):
        pictures = await gallery.more(12)
        assert len(set(pictures)) > 6  # a busy machine draws the same once more
        assert all(greens(each) > 500 for each in pictures)
        assert cast.shown >= 12


@pytest.mark.parametrize(
    ("quality", "max_width", "size"),
    [(25, 854, (854, 534)), (80, 320, (320, 200)), (40, 4_000, (1280, 800))],
)
async def test_width_and_quality_are_as_wished(
    window: Window,
    tab: Tab,
    server: PageServer,
    quality: int,
    max_width: int,
    size: tuple[int, int],
) -> None:
    await go(tab, server.show("<h1>Harbour</h1>"))
    async with watching(window, quality=quality, max_width=max_width) as (gallery, _):
        picture = await gallery.one_that(bool)
    assert size_of(picture) == size
    assert abs(quality_of(picture) - quality) <= 2


async def test_a_page_that_stood_still_is_shown_when_it_changes(
    window: Window, tab: Tab, server: PageServer
) -> None:
    await go(tab, server.show(WHITE))
    async with watching(window) as (gallery, _):
        await gallery.one_that(bool)
        await tab.page.evaluate("document.body.style.background = '#0a0'")
        await gallery.one_that(is_green)
        # The last of many changes is not lost.
        await tab.page.evaluate("""async () => {
          for (let i = 0; i < 40; i++) {
            document.body.style.background = i % 2 ? "#fff" : "#aaf";
            await new Promise(requestAnimationFrame);
          }
          document.body.style.background = "#0a0";
        }""")
        await gallery.one_that(is_green)
        assert is_green(gallery.pictures[-1])


async def test_it_follows_to_other_documents_and_to_the_page_in_front(
    window: Window, tab: Tab, server: PageServer
) -> None:
    await go(tab, server.show(WHITE))
    async with watching(window) as (gallery, _):
        await gallery.one_that(bool)
        await go(tab, server.show(GREEN))
        await gallery.one_that(is_green)
        # Another host: another process of the browser has it.
        await go(tab, server.show(WHITE).replace("127.0.0.1", "localhost"))
        await gallery.one_that(lambda picture: not is_green(picture))
        aside = await window.open_aside()
        await go(aside, server.show(GREEN))
        await gallery.one_that(is_green)
        await window.close_asides()
        await gallery.one_that(lambda picture: not is_green(picture))


async def test_it_outlives_a_page_that_crashes(
    window: Window, tab: Tab, server: PageServer
) -> None:
    await go(tab, server.show(WHITE))
    async with watching(window) as (gallery, _):
        await gallery.one_that(bool)
        aside = await window.open_aside()
        await go(aside, server.show(GREEN))
        await gallery.one_that(is_green)
        await aside.kill()
        await window.close_asides()
        await gallery.one_that(lambda picture: not is_green(picture))


async def test_it_ends_with_the_window(window: Window, tab: Tab, server: PageServer) -> None:
    await go(tab, server.show(MOVING))
    gone: list[BrowserGone] = []
    with anyio.fail_after(30):
        async with anyio.create_task_group() as group:

            async def watch() -> None:
                try:
                    async with watching(window) as (gallery, _):
                        await gallery.one_that(bool)
                        await window.close()
                        await anyio.sleep_forever()
                except* BrowserGone as errors:
                    gone.extend(each for each in errors.exceptions if isinstance(each, BrowserGone))

            group.start_soon(watch)
    assert len(gone) == 1
    assert window.closed_by_us


async def test_the_page_does_not_notice(window: Window, tab: Tab, server: PageServer) -> None:
    html = """<input type=password value=whatever><input id=plain><p id=it>Harbour</p>
    <script>window.noticed = []; window.before = "";
      for (const kind of ["resize", "focus", "blur", "scroll", "visibilitychange", "beforeprint"])
        addEventListener(kind, () => noticed.push(kind), true);
      visualViewport.addEventListener("resize", () => noticed.push("viewport"));
      new ResizeObserver(() => noticed.push("size")).observe(document.documentElement);
      new MutationObserver(() => noticed.push("mutation")).observe(document, {subtree: true,
        childList: true, attributes: true, characterData: true});
      const style = () => JSON.stringify([document.styleSheets.length,
        document.adoptedStyleSheets.length, document.getAnimations().length, innerWidth,
        it.getBoundingClientRect(), Object.keys(window).length, document.all.length]);
    </script>"""
    await go(tab, server.show(html))
    await tab.page.evaluate("() => { window.before = style(); noticed.length = 0 }")
    async with watching(window) as (gallery, _):
        await gallery.one_that(bool)
        # A change that none of these hear of, so that it is looked at again.
        await tab.page.evaluate("document.querySelector('#plain').value = 'something else'")
        await gallery.more(1)
        assert await tab.page.evaluate("[noticed.length, style() === before]") == [0, True]


# -- what is not -------------------------------------------------------------------------------


async def watched_while_typed(
    window: Window, tab: Tab, server: PageServer, html: str, number: int = 15
) -> Gallery:
    """Typed while somebody watches: what was shown from before until long after it."""
    window.secrets = (SECRET,)
    await go(tab, server.show(MOVING + html))
    async with watching(window) as (gallery, _):
        await gallery.more(2)
        await type_in(tab)
        await gallery.more(number)
    return gallery


async def test_a_password_is_covered_also_when_the_page_shows_and_echoes_it(
    window: Window, tab: Tab, server: PageServer
) -> None:
    html = """<input type=password><div class=said id=echo></div>
    <script>const field = document.querySelector("input");
      field.addEventListener("input", () => { echo.textContent = "you said " + field.value });
      setInterval(() => { field.type = field.type === "text" ? "password" : "text" }, 15);
    </script>"""
    gallery = await watched_while_typed(window, tab, server, html, number=25)
    assert max(map(reds, gallery.pictures)) == 0
    assert blacks(gallery.pictures[-1]) > 2_000, "both are covered, nothing is left out"


async def test_what_is_there_for_a_moment_only_is_in_no_picture(
    window: Window, tab: Tab, server: PageServer
) -> None:
    html = """<input type=password><div class=said id=flash></div>
    <script>const field = document.querySelector("input");
      setInterval(() => { flash.textContent = flash.textContent ? "" : field.value }, 9);
    </script>"""
    window.secrets = (SECRET,)
    await go(tab, server.show(MOVING + html))
    async with watching(window) as (gallery, cast):
        await gallery.more(2)
        await type_in(tab)
        before = cast.withheld
        with anyio.fail_after(60):
            while cast.withheld < before + 25:
                await anyio.sleep(0.01)
    assert max(map(reds, gallery.pictures)) == 0


async def test_words_that_come_and_go_by_style_are_in_no_picture(
    window: Window, tab: Tab, server: PageServer
) -> None:
    html = f"""<input><div class=said id=flash style="display:none">{SECRET}</div>
    <script>setInterval(() => {{
      flash.style.display = flash.style.display ? "" : "none" }}, 9);
    </script>"""
    window.secrets = (SECRET,)
    await go(tab, server.show(MOVING + html))
    async with watching(window) as (gallery, cast):
        with anyio.fail_after(60):
            while cast.withheld < 25:
                await anyio.sleep(0.01)
    assert max(map(reds, gallery.pictures), default=0) == 0


async def test_the_page_before_is_not_shown_uncovered_while_the_next_one_comes(
    window: Window, tab: Tab, server: PageServer
) -> None:
    window.secrets = (SECRET,)
    said = server.show(MOVING + f"<div class=said>{SECRET}</div>" * 5)
    plain = server.show(MOVING + "<p>plain</p>" * 5)
    await go(tab, plain)
    async with watching(window) as (gallery, _):
        for _ in range(6):
            await gallery.more(1)
            await go(tab, said)
            await gallery.more(1)
            await go(tab, plain)
            await tab.page.evaluate(f"location = {said!r}")
            await gallery.more(2)
    assert max(map(reds, gallery.pictures)) == 0


async def test_what_is_scrolled_stays_covered(window: Window, tab: Tab, server: PageServer) -> None:
    window.secrets = (SECRET,)
    words = f"<p>and then</p><div class=said>{SECRET}</div>" * 60
    await go(tab, server.show(MOVING + words))
    async with watching(window) as (gallery, _):
        await gallery.more(1)
        for turn in range(30):
            await tab.page.mouse.move(400, 300)
            await tab.page.mouse.wheel(0, 150 if turn < 20 else -150)
            if turn % 5 == 4:
                await gallery.more(1)
        await gallery.more(3)
    assert max(map(reds, gallery.pictures)) == 0


async def test_what_nobody_bound_is_covered_by_its_field(
    window: Window, tab: Tab, server: PageServer
) -> None:
    html = '<input name=card autocomplete=cc-number value="4111 1111">'
    await go(tab, server.show(MOVING + html))
    async with watching(window) as (gallery, _):
        pictures = await gallery.more(5)
    assert max(map(reds, pictures)) == 0
    assert min(map(blacks, pictures)) > 2_000


async def test_frames_of_another_origin_are_covered_whatever_is_in_them(
    window: Window, tab: Tab, server: PageServer
) -> None:
    inside = server.show("<body style='background:#f00'>").replace("127.0.0.1", "localhost")
    frame = f"<iframe src='{inside}' style='width:300px;height:200px;border:0'></iframe>"
    await go(tab, server.show(MOVING + frame))
    async with watching(window) as (gallery, _):
        pictures = await gallery.more(10)
    assert max(map(reds, pictures)) == 0
    assert min(map(blacks, pictures[3:])) > 20_000


async def test_a_page_that_is_zoomed_with_two_fingers_is_covered_where_it_is_shown(
    window: Window, tab: Tab, server: PageServer
) -> None:
    window.secrets = (SECRET,)
    await go(tab, server.show(MOVING + f"<div class=said>{SECRET}</div>" * 5))
    cdp = await tab.page.context.new_cdp_session(tab.page)
    await cdp.send("Emulation.setPageScaleFactor", {"pageScaleFactor": 2})
    assert await tab.page.evaluate("visualViewport.scale") == 2
    async with watching(window) as (gallery, _):
        pictures = await gallery.more(5)
    assert max(map(reds, pictures)) == 0
    assert min(map(blacks, pictures)) > 5_000


# -- the picture -------------------------------------------------------------------------------


def test_boxes_outside_of_the_picture_are_no_matter() -> None:
    made = BytesIO()
    Image.new("RGB", (100, 50), (255, 0, 0)).save(made, "PNG")
    boxes = ((-50.0, -50.0, 10.0, 10.0), (500.0, 0.0, 10.0, 10.0), (-10.0, -10.0, 200.0, 100.0))
    look = FrameView(boxes, (0, 0), (100, 50), (0, 0, 100))
    picture = framed(made.getvalue(), look, 50, 40)
    assert size_of(picture) == (40, 20)
    assert blacks(picture) == 800
