"""A real page: what settles it, what it cannot hide from us, and what ends a call in time."""

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from time import perf_counter
from typing import Any

import msgspec
import psutil
import pytest

from rutter.actors.observer.actor import INLINE, fit
from rutter.actors.world.browser.chromium import Chromium
from rutter.actors.world.browser.page_session import NavigationFailed, PageTimeout
from rutter.actors.world.browser.tab import Tab
from rutter.actors.world.browser.window import Window
from rutter.events.codec import pack
from rutter.events.errors import BrowserGone
from rutter.events.page import Page, Resolved
from tests.support.browser_fixtures import show
from tests.support.page_server import PATIENT, PageServer
from tests.support.policies import HERE

pytestmark = [pytest.mark.browser, pytest.mark.anyio]

SECOND = 1_000
LOADING = '<img src="/never">'  # keeps the page from being loaded, though it is parsed
NOWHERE = "http://127.0.0.1:9/"  # nobody listens there, and nobody may


Way = dict[str, object]


def by_css(selector: str) -> Way:
    return {"by": "css", "selector": selector}


async def find(tab: Tab, *ways: Way, within_ms: int = SECOND) -> Any:
    return await tab.call("resolve", list(ways), within_ms, within_ms=within_ms + PATIENT)


async def find_css(tab: Tab, selector: str) -> Resolved:
    found = await find(tab, by_css(selector))
    return msgspec.convert(found["element"], Resolved)


async def check(tab: Tab, digest: str) -> Any:
    return await tab.call("check", digest, True, within_ms=PATIENT)


async def click(tab: Tab, selector: str) -> bool:
    """As the Executor clicks: whether a new document came."""
    element = await find_css(tab, selector)
    at = await check(tab, element.exact)
    await tab.click(at["x"], at["y"], within_ms=PATIENT)
    return await tab.settle(within_ms=PATIENT)


async def look(tab: Tab) -> Page:
    return msgspec.convert(await tab.call("observe", within_ms=PATIENT), Page)


async def heading(tab: Tab) -> str:
    headings = (await look(tab)).headings
    return headings[0].text if headings else ""


# -- navigation --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "html",
    [
        '<a id=go href="/another">Go</a>',
        '<form method=post action="/hop"><button id=go>Go</button></form>',
        '<form action="/another"><input type=submit id=go></form>',
        "<button id=go onclick=\"location = '/another'\">Go</button>",
        "<button id=go onmousedown=\"location = '/another'\">Go</button>",
        "<button id=go onclick=\"location = '/never'; location = '/another'\">Go</button>",
        '<a id=go href="/another" onclick="alert(\'Really?\')">Go</a>',
        f'<a id=go href="/another">Go</a>{LOADING}',
    ],
    ids=[
        *("link", "post and two redirects", "get form", "script", "on press"),
        *("one navigation replaces another", "dialog first", "page still loads its images"),
    ],
)
async def test_a_click_that_navigates_settles_on_the_parsed_document(
    tab: Tab, server: PageServer, html: str
) -> None:
    await show(tab, server, html)
    assert await click(tab, "#go")
    page = await look(tab)
    assert page.url.rstrip("?") == f"{server.url}/another"
    assert page.ready != "loading"
    assert [text.text for text in page.headings] == ["Another"]


@pytest.mark.parametrize(
    "html",
    [
        '<a id=go href="/none">Go</a>',
        '<a id=go href="/file">Go</a>',
        '<a id=go href="/file" download>Go</a>',
        f'<a id=go href="/file">Go</a>{LOADING}',
        '<a id=go href="mailto:a@example.com">Go</a>',
        '<a id=go href="nobody-knows:this">Go</a>',
        '<a id=go href="javascript:void 0">Go</a>',
        '<a id=go href="/another" target=_blank>Go</a>',
        '<a id=go href="/another" target=inner>Go</a><iframe name=inner></iframe>',
        "<button id=go onclick=\"location = '/never'; stop()\">Go</button>",
        "<button id=go onclick=\"alert('Hello')\">Go</button>",
        "<button id=go onclick=\"fetch('/another')\">Go</button>",
    ],
    ids=[
        *("no content", "download", "download attribute", "download while loading", "mail"),
        *("unknown scheme", "javascript", "another tab", "frame", "stopped", "dialog", "fetch"),
    ],
)
async def test_a_click_that_brings_no_document_settles_where_it_was(
    tab: Tab, server: PageServer, html: str
) -> None:
    await show(tab, server, f"<h1>Here</h1>{html}")
    assert not await click(tab, "#go")
    assert await heading(tab) == "Here"


@pytest.mark.parametrize(
    ("html", "ending"),
    [
        ('<a id=go href="#part">Go</a><p id=part>Part', "#part"),
        ("<button id=go onclick=\"history.pushState(0, '', '/pushed')\">Go</button>", "/pushed"),
    ],
)
async def test_an_address_that_changes_within_the_document_is_no_navigation(
    tab: Tab, server: PageServer, html: str, ending: str
) -> None:
    await show(tab, server, html)
    assert not await click(tab, "#go")
    assert (await look(tab)).url.endswith(ending)


async def test_a_page_that_leads_on_before_it_is_parsed_is_not_where_one_arrives(
    tab: Tab, server: PageServer
) -> None:
    stub = server.show("<script>location.replace('/another')</script>")
    await show(tab, server, f'<a id=go href="{stub}">Go</a>')
    assert await click(tab, "#go")
    assert await heading(tab) == "Another"


async def test_a_page_that_stops_its_own_parser_is_where_one_arrives(
    tab: Tab, server: PageServer
) -> None:
    stopped = server.show("<h1>Stopped</h1><script>stop()</script><p>Never shown")
    await show(tab, server, f'<a id=go href="{stopped}">Go</a>')
    assert await click(tab, "#go")
    assert await heading(tab) == "Stopped"


@pytest.mark.parametrize("delay_ms", [0, 100])
async def test_a_navigation_that_starts_later_is_seen_by_waiting_for_a_change(
    tab: Tab, server: PageServer, delay_ms: int
) -> None:
    later = f"setTimeout(() => location = '/another', {delay_ms})"
    await show(tab, server, f'<button id=go onclick="{later}">Go</button>')
    if not await click(tab, "#go"):
        await tab.change(3 * SECOND)
    assert await heading(tab) == "Another"


async def test_a_call_goes_on_in_the_document_that_replaced_its_own(
    tab: Tab, server: PageServer
) -> None:
    # Found by it: the world was announced while a call waited for it, and nobody woke the call.
    await show(tab, server, '<meta http-equiv=refresh content="0;url=/another">')
    found = await find(tab, by_css("h1"), within_ms=PATIENT)
    assert found["element"]["text"] == ["Another"]


async def test_a_question_before_leaving_is_answered_with_staying(
    window: Window, tab: Tab, server: PageServer
) -> None:
    ask = "<script>onbeforeunload = (event) => event.preventDefault()</script>"
    await show(tab, server, f'<h1>Here</h1><a id=go href="/another">Go</a>{ask}')
    assert not await click(tab, "#go")
    assert await heading(tab) == "Here"
    assert [kind for kind, _, _ in window.dialogs] == ["beforeunload"]


async def test_dialogs_are_dismissed_and_equal_ones_are_counted(
    window: Window, tab: Tab, server: PageServer
) -> None:
    ask = "for (let i = 0; i < 3; i++) alert('Again'); document.title = confirm('Sure?')"
    await show(tab, server, f'<button id=go onclick="{ask}">Go</button>')
    await click(tab, "#go")
    assert window.dialogs == {("alert", "Again", False): 3, ("confirm", "Sure?", False): 1}
    assert (await look(tab)).title.text == "false"


async def test_another_site_is_reached_by_a_link_and_read(tab: Tab, server: PageServer) -> None:
    other = server.url.replace("127.0.0.1", "localhost")
    await show(tab, server, f'<a id=go href="{other}/another">Go</a>')
    assert await click(tab, "#go")
    assert (await look(tab)).url == f"{other}/another"


async def test_where_nobody_answers_is_said_and_the_page_goes_on(
    tab: Tab, server: PageServer
) -> None:
    with pytest.raises(NavigationFailed, match="ERR_"):
        await tab.navigate(NOWHERE, within_ms=PATIENT)
    await show(tab, server, f'<a id=go href="{NOWHERE}">Go</a>')
    assert await click(tab, "#go")
    assert (await look(tab)).url.startswith("chrome-error:")
    await show(tab, server, "<h1>Here</h1>")
    assert await heading(tab) == "Here"


async def test_navigating_within_the_document_needs_no_new_one(
    tab: Tab, server: PageServer
) -> None:
    url = server.show("<h1>Here</h1>")
    await tab.navigate(url, within_ms=PATIENT)
    await tab.navigate(f"{url}#part", within_ms=PATIENT)
    assert (await look(tab)).url == f"{url}#part"


async def test_an_address_that_sends_a_file_is_no_place_to_navigate_to(
    tab: Tab, server: PageServer
) -> None:
    assert await tab.navigate(f"{server.url}/another", within_ms=PATIENT)
    assert not await tab.navigate(f"{server.url}/file", within_ms=PATIENT)
    assert (await look(tab)).url == f"{server.url}/another"


# -- deadlines, and pages that die -----------------------------------------------------------------


async def test_a_page_that_hangs_costs_a_call_its_deadline_and_no_more(
    tab: Tab, server: PageServer
) -> None:
    await show(tab, server, '<button id=go onclick="while (true);">Go</button>')
    element = await find_css(tab, "#go")
    at = await check(tab, element.exact)
    began = perf_counter()
    with pytest.raises(PageTimeout, match="click did not finish within 300 ms"):
        await tab.click(at["x"], at["y"], within_ms=300)
    with pytest.raises(PageTimeout, match="observe did not finish within 300 ms"):
        await tab.call("observe", within_ms=300)
    with pytest.raises(PageTimeout, match="screenshot"):
        await tab.screenshot(full_page=True, within_ms=300)
    await tab.change(100)
    await tab.close()
    assert perf_counter() - began < 30


async def test_a_page_that_asks_without_end_costs_a_call_its_deadline_and_no_memory(
    window: Window, tab: Tab, server: PageServer
) -> None:
    await show(tab, server, "<button id=go onclick=\"while (true) alert('Again')\">Go</button>")
    element = await find_css(tab, "#go")
    at = await check(tab, element.exact)
    with pytest.raises(PageTimeout):
        await tab.click(at["x"], at["y"], within_ms=SECOND)
    assert list(window.dialogs) == [("alert", "Again", False)]
    assert window.dialogs["alert", "Again", False] > 1


async def test_a_server_that_never_answers_costs_a_navigation_its_deadline(
    tab: Tab, server: PageServer
) -> None:
    with pytest.raises(PageTimeout, match="navigate"):
        await tab.navigate(f"{server.url}/never", within_ms=300)
    await show(tab, server, '<h1>Here</h1><a id=go href="/never">Go</a>')
    element = await find_css(tab, "#go")
    at = await check(tab, element.exact)
    await tab.click(at["x"], at["y"], within_ms=PATIENT)
    with pytest.raises(PageTimeout, match="settle"):
        await tab.settle(within_ms=300)


async def test_a_page_that_crashes_itself_is_known_to_be_gone(tab: Tab) -> None:
    with pytest.raises((BrowserGone, NavigationFailed)):
        await tab.navigate("chrome://crash", within_ms=20 * SECOND)
    for _ in range(2):
        with pytest.raises(BrowserGone, match="the page crashed"):
            await tab.call("observe", within_ms=20 * SECOND)
    with pytest.raises(BrowserGone, match="the page crashed"):
        await tab.click(1, 1, within_ms=20 * SECOND)


async def test_a_renderer_that_is_killed_ends_the_call_that_waits(
    tab: Tab, server: PageServer
) -> None:
    await show(tab, server, "<h1>Here</h1>")
    waiting = asyncio.create_task(nothing_found(tab))
    await find_css(tab, "h1")
    for process in psutil.Process().children(recursive=True):
        # One may end between the listing and the question.
        with suppress(psutil.Error):
            if "--type=renderer" in process.cmdline():
                process.kill()
    with pytest.raises(BrowserGone, match="the page crashed"):
        await waiting


async def test_a_page_that_is_closed_ends_the_call_that_waits(tab: Tab, server: PageServer) -> None:
    await show(tab, server, "<h1>Here</h1>")
    waiting = asyncio.create_task(nothing_found(tab))
    await find_css(tab, "h1")
    await tab.close()
    with pytest.raises(BrowserGone):
        await waiting
    with pytest.raises(BrowserGone, match="the page was closed"):
        await tab.call("observe", within_ms=20 * SECOND)


async def nothing_found(tab: Tab) -> None:
    """Far longer than a test may take, unless it is ended."""
    await find(tab, by_css("#nowhere"), within_ms=300 * SECOND)


async def test_a_closed_browser_is_opened_again(chromium: Chromium, server: PageServer) -> None:
    await chromium.close()
    tab = await chromium.open_tab(HERE)
    await show(tab, server, "<h1>Here</h1>")
    assert await heading(tab) == "Here"
    await tab.close()


# -- a world of its own ----------------------------------------------------------------------------

HOSTILE = """<script>
  const nothing = () => { throw new Error("no") };
  document.querySelectorAll = document.querySelector = document.elementFromPoint = nothing;
  Element.prototype.getAttribute = Element.prototype.getBoundingClientRect = nothing;
  Element.prototype.checkVisibility = () => false;
  EventTarget.prototype.addEventListener = nothing;
  Object.defineProperty(Node.prototype, "textContent", { get: () => "a lie" });
  JSON.stringify = JSON.parse = Array.prototype.map = Array.prototype.filter = nothing;
  Math.imul = Math.round = () => 7;
  String.prototype.replace = () => "a lie";
  globalThis.rutter = async () => '{"url": "a lie"}';
</script>"""


async def test_a_page_cannot_change_what_we_see(tab: Tab, server: PageServer) -> None:
    html = "<h1>Here</h1><button id=go>Go</button>"
    await show(tab, server, html)
    honest, element = await look(tab), await find_css(tab, "#go")
    await show(tab, server, html + HOSTILE)
    assert (await look(tab)).elements == honest.elements
    assert (await look(tab)).digest == honest.digest
    assert await find_css(tab, "#go") == element


async def test_a_page_cannot_see_us(tab: Tab, server: PageServer) -> None:
    tell = "document.title = [typeof rutter, 'rutter' in window, document.all.length].join()"
    await show(tab, server, f'<button id=go onclick="{tell}">Go</button>')
    before = await look(tab)
    await click(tab, "#go")
    after = await look(tab)
    assert before.title.text == ""
    assert after.title.text.startswith("undefined,false,")


async def test_fields_named_like_parts_of_their_form_hide_nothing(
    tab: Tab, server: PageServer
) -> None:
    fields = "".join(
        f"<input name={name} value=x>"
        for name in ("method", "action", "getAttribute", "id", "role", "textContent", "children")
    )
    form = f'<form method=post action="/pay" role=form>{fields}<button id=go>Pay</button></form>'
    await show(tab, server, form)
    element = await find_css(tab, "#go")
    assert (element.form_action, element.form_method) == (f"{server.url}/pay", "post")


async def test_input_is_trusted(tab: Tab, server: PageServer) -> None:
    tell = "document.title += event.type + event.isTrusted"
    await show(tab, server, f'<input id=go onclick="{tell}" oninput="{tell}" onkeydown="{tell}">')
    await click(tab, "#go")
    await tab.insert("text", within_ms=PATIENT)
    await tab.press("Tab", within_ms=PATIENT)
    assert (await look(tab)).title.text == (
        "clicktrue" + "keydowntrueinputtrue" * 4 + "keydowntrue"
    )


# -- finding ---------------------------------------------------------------------------------------

FORM = """<h1>Order</h1>
<form action="/pay" method=post>
  <label for=berth>Berth</label><input id=berth name=berth>
  <button data-testid=pay>Pay <b>now</b></button><button disabled id=off>Later</button>
</form>
<ul><li><a href="/1">Open</a></li><li><a href="/2">Open</a></li></ul>
<a id=hidden href="/3" style="display:none">Hidden</a>"""


@pytest.mark.parametrize(
    ("way", "tag"),
    [
        (by_css("#berth"), "input"),
        ({"by": "aria", "role": "textbox", "name": "Berth"}, "input"),
        ({"by": "aria", "role": "", "name": "Berth"}, "input"),
        ({"by": "aria", "role": "button", "name": "Pay now"}, "button"),
        ({"by": "aria", "role": "heading", "name": "Order"}, "h1"),
        ({"by": "text", "text": "pay NOW"}, "button"),
        ({"by": "text", "text": "Order"}, "h1"),
        ({"by": "coordinates", "x": 20, "y": 30}, "h1"),
    ],
)
async def test_an_element_is_found_in_every_way(
    tab: Tab, server: PageServer, way: Way, tag: str
) -> None:
    await show(tab, server, FORM)
    found = await find(tab, way)
    assert found["tries"] == [{"strategy": 0, "matches": 1, "result": "taken"}]
    assert found["element"]["tag"] == tag


@pytest.mark.parametrize(
    ("way", "result"),
    [
        (by_css("li a"), "ambiguous"),
        ({"by": "aria", "role": "link", "name": "Open"}, "ambiguous"),
        ({"by": "text", "text": "Open"}, "ambiguous"),
        (by_css("#hidden"), "not_visible"),
        (by_css("#nowhere"), "none"),
        (by_css("a[["), "invalid"),
        ({"by": "coordinates", "x": 9_000, "y": 9_000}, "none"),
    ],
)
async def test_what_is_not_exactly_one_visible_element_is_not_taken(
    tab: Tab, server: PageServer, way: Way, result: str
) -> None:
    await show(tab, server, FORM)
    found = await find(tab, way, within_ms=50)
    assert found["element"] is None
    assert [entry["result"] for entry in found["tries"]] == [result]


async def test_the_next_way_is_tried_and_every_try_is_told(tab: Tab, server: PageServer) -> None:
    await show(tab, server, FORM)
    ways = ["#nowhere", "li a", "[data-testid=pay]", "#off"]
    found = await find(tab, *[by_css(way) for way in ways])
    assert [entry["result"] for entry in found["tries"]] == ["none", "ambiguous", "taken"]


async def test_an_element_that_appears_later_is_found(tab: Tab, server: PageServer) -> None:
    later = "setTimeout(() => document.body.append(document.createElement('hr')), 100)"
    await show(tab, server, f"<body><script>{later}</script>")
    found = await find(tab, by_css("hr"), within_ms=PATIENT)
    assert found["element"]["tag"] == "hr"


async def test_an_element_says_what_it_is_and_how_to_find_it_again(
    tab: Tab, server: PageServer
) -> None:
    await show(tab, server, FORM)
    element = await find_css(tab, "[data-testid=pay]")
    assert (element.role, element.name.text, element.submits) == ("button", "Pay now", True)
    assert (element.form_action, element.form_method) == (f"{server.url}/pay", "post")
    for way in msgspec.to_builtins(element.ways):
        found = await find(tab, way)
        assert found["element"]["digest"] == element.digest, way


# -- the last look before input --------------------------------------------------------------------


@pytest.mark.parametrize(
    ("then", "code"),
    [
        ("go.disabled = true", "element_disabled"),
        ("go.setAttribute('aria-disabled', 'true')", "element_disabled"),
        ("go.parentElement.disabled = true", "element_disabled"),
        ("go.style.visibility = 'hidden'", "element_not_visible"),
        ("go.style.width = go.style.height = go.style.padding = go.style.border = 0; "
         "go.style.overflow = 'hidden'; go.style.fontSize = 0", "element_not_visible"),
        ("go.remove()", "ref_invalid"),
        ("document.body.insertAdjacentHTML('beforeend', "
         "'<p style=\"position:fixed;inset:0\">Cookies?')", "element_obscured"),
    ],
)  # fmt: skip
async def test_an_element_that_cannot_be_clicked_is_refused_with_its_code(
    tab: Tab, server: PageServer, then: str, code: str
) -> None:
    script = f"<script>onkeydown = () => {{ {then} }}</script>"
    await show(tab, server, f"<fieldset><button id=go>Go</button></fieldset>{script}")
    element = await find_css(tab, "#go")
    await tab.press("x", within_ms=PATIENT)
    assert (await check(tab, element.exact))["code"] == code


@pytest.mark.parametrize(
    "then",
    [
        *("go.textContent = 'Delete'", "go.setAttribute('aria-label', 'Delete')"),
        *("go.form.action = '/delete'", "go.form.method = 'post'"),
        *("go.setAttribute('formaction', '/delete')", "go.setAttribute('formmethod', 'post')"),
        *("go.id = 'other'", "go.type = 'button'"),
    ],
)
async def test_an_element_that_is_not_what_was_judged_is_described_anew(
    tab: Tab, server: PageServer, then: str
) -> None:
    script = f"<script>onkeydown = () => {{ {then} }}</script>"
    await show(tab, server, f"<form><button id=go type=submit>Go</button></form>{script}")
    element = await find_css(tab, "#go")
    await tab.press("x", within_ms=PATIENT)
    changed = (await check(tab, element.exact))["changed"]
    assert changed["exact"] != element.exact
    assert await tab.call("check", changed["exact"], False, within_ms=PATIENT) == {}


async def test_an_element_out_of_view_is_brought_into_it(tab: Tab, server: PageServer) -> None:
    tell = "document.title = 'clicked'"
    below = f'<p style="height:5000px"></p><button id=go onclick="{tell}">Go</button>'
    await show(tab, server, below)
    await click(tab, "#go")
    page = await look(tab)
    assert page.title.text == "clicked"
    assert page.scroll[1] > 1_000


# -- what is read ----------------------------------------------------------------------------------

SECRETS = """<h1>Sign in</h1><form>
  <input id=a type=password value="hunter-1">
  <input id=b autocomplete=one-time-code value="hunter-2"><input id=c name=cvc value="hunter-3">
  <label>Say it <textarea id=d name=password-hint>hunter-4</textarea></label>
  <input id=e name=user value="mate"></form>"""


async def test_the_value_of_a_secret_field_leaves_the_page_in_no_way(
    tab: Tab, server: PageServer
) -> None:
    await show(tab, server, SECRETS)
    seen = [await tab.call("observe", within_ms=PATIENT)]
    for field in "abcd":
        element = await find_css(tab, f"#{field}")
        assert element.secret
        seen.append(msgspec.to_builtins(element))
        seen.append(await tab.call("read", element.exact, within_ms=PATIENT))
    assert "hunter" not in str(seen)
    assert "mate" in str(seen)
    assert str(seen).count("(secret)") == 4


async def test_a_field_that_changed_changes_the_page_unless_it_is_secret(
    tab: Tab, server: PageServer
) -> None:
    await show(tab, server, SECRETS)
    digests = [(await look(tab)).digest]
    for field in "ae":
        element = await find_css(tab, f"#{field}")
        await tab.call("ready", element.exact, within_ms=PATIENT)
        await tab.insert("other", within_ms=PATIENT)
        digests.append((await look(tab)).digest)
    assert digests[0] == digests[1] != digests[2]


async def test_a_page_with_5000_buttons_is_read_within_the_limit(
    tab: Tab, server: PageServer
) -> None:
    buttons = "".join(f"<button>Button number {n} of very many</button>" for n in range(5_000))
    await show(tab, server, f"<h1>Many</h1>{buttons}")
    page = fit(await look(tab))
    assert len(pack(page)) <= INLINE
    assert page.elements
    assert len(page.elements) + page.dropped == 5_001  # the heading is one of them


async def test_long_addresses_roles_and_names_are_read_within_the_limit(
    tab: Tab, server: PageServer
) -> None:
    long = "x" * 30_000
    await show(tab, server, f"<h1>{long}</h1><b role={long}>{long}</b><button>{long}</button>")
    await tab.navigate(f"{(await look(tab)).url}#{long}", within_ms=PATIENT)
    assert len(pack(fit(await look(tab)))) <= INLINE


async def test_half_a_character_is_read_as_a_replaced_one(tab: Tab, server: PageServer) -> None:
    ships = "\U0001f6a2" * 300
    script = "<script>document.title = 'half \\ud83d'</script>"
    await show(tab, server, f"<h1>a{ships}</h1><button id=go>a{ships}</button>{script}")
    page, element = await look(tab), await find_css(tab, "#go")
    assert page.title.text == "half \ufffd"
    for text in (page.headings[0].text, page.elements[0].name.text, element.name.text):
        assert text.startswith("a\U0001f6a2")
        assert text.endswith("\ufffd...")


@pytest.mark.parametrize(
    ("level", "read"),
    [("1.5", 2), ("2", 2), ("0", 3), ("-1", 3), ("x", 3), ("Infinity", 99), ("1e30", 99)],
)
async def test_a_level_is_a_whole_number_whatever_the_page_says(
    tab: Tab, server: PageServer, level: str, read: int
) -> None:
    await show(tab, server, f'<h3 tabindex=0 aria-level="{level}">Here</h3>')
    assert [element.level for element in (await look(tab)).elements] == [read]


# -- typing ----------------------------------------------------------------------------------------


async def type_into(tab: Tab, selector: str, text: str) -> bool:
    """As the Executor types: whether the field holds it afterwards."""
    element = await find_css(tab, selector)
    ready = await tab.call("ready", element.exact, within_ms=PATIENT)
    if ready["how"] != "typed":
        answer = await tab.act("setValue", element.exact, text, within_ms=PATIENT)
        return bool(answer["held"])
    await tab.insert(text, within_ms=PATIENT)
    return bool(await tab.ask("holds", text, within_ms=PATIENT))


@pytest.mark.parametrize(
    ("field", "text"),
    [
        ("<input id=go value=before>", "after"),
        ("<input id=go value=before>", ""),
        (
            "<input id=go type=search value=before>",
            "a \"b\" \\ 'c' </script> d\u00e9j\u00e0 \U0001f6a2",
        ),
        ("<input id=go type=number value=7>", "12"),
        ("<input id=go type=email value=a@b>", "c@example.com"),
        ("<input id=go type=date value=2020-01-01>", "2026-03-20"),
        ("<input id=go type=time>", "12:30"),
        ("<input id=go type=color>", "#00ff00"),
        ("<input id=go type=range max=50>", "20"),
        ("<textarea id=go>before</textarea>", "two\nlines"),
        ("<div id=go contenteditable>before <b>and</b></div>", "after"),
    ],
)
async def test_what_was_in_a_field_is_replaced(
    tab: Tab, server: PageServer, field: str, text: str
) -> None:
    await show(tab, server, f"<body oninput=\"document.title = 'heard'\">{field}")
    assert await type_into(tab, "#go", text)
    assert (await look(tab)).title.text == "heard"


async def test_a_field_that_refuses_what_is_typed_is_told(tab: Tab, server: PageServer) -> None:
    await show(tab, server, "<input id=go maxlength=3>")
    assert not await type_into(tab, "#go", "too long")


@pytest.mark.parametrize(
    ("choice", "said"),
    [
        ("m", {"set": True}),
        ("medium", {"set": True}),
        ("Huge", {"code": "option_not_found", "message": "Small, Medium, Large"}),
        ("Large", {"code": "option_not_found", "message": "Small, Medium, Large"}),
    ],
)
async def test_an_option_is_chosen_by_its_value_or_its_words(
    tab: Tab, server: PageServer, choice: str, said: dict[str, object]
) -> None:
    options = "<option value=s>Small<option value=m>Medium<option value=l disabled>Large"
    await show(tab, server, f'<select id=go onchange="document.title = value">{options}</select>')
    element = await find_css(tab, "#go")
    assert await tab.act("choose", element.exact, choice, within_ms=PATIENT) == said
    assert (await look(tab)).title.text == ("m" if "set" in said else "")


@pytest.mark.parametrize("heard", ["onchange", "oninput"])
async def test_a_choice_that_leads_away_settles_there(
    tab: Tab, server: PageServer, heard: str
) -> None:
    select = f"<select name=size {heard}=form.submit()><option>Small<option>Large</select>"
    await show(tab, server, f'<form action="/another">{select}</form>')
    element = await find_css(tab, "select")
    await tab.act("choose", element.exact, "Large", within_ms=PATIENT)
    assert await tab.settle(within_ms=PATIENT)
    assert (await look(tab)).url == f"{server.url}/another?size=Large"


async def test_enter_submits_the_form_of_the_focused_field(tab: Tab, server: PageServer) -> None:
    await show(tab, server, '<form method=post action="/hop"><input name=q autofocus></form>')
    assert await type_into(tab, "input", "rope")
    found = await tab.call("resolveFocused", "Enter", within_ms=PATIENT)
    assert found["element"]["submits"]
    digest = found["element"]["exact"]
    assert await tab.call("focusOn", digest, within_ms=PATIENT) == {}
    await tab.press("Enter", within_ms=PATIENT)
    assert await tab.settle(within_ms=PATIENT)
    assert await heading(tab) == "Another"
    assert "/hop q=rope" in server.asked


async def test_a_key_goes_to_the_element_that_was_judged(tab: Tab, server: PageServer) -> None:
    fields = '<input id=a onkeydown="document.title += 1"><input id=b autofocus><p id=c>Text'
    await show(tab, server, fields)
    field = await find_css(tab, "#a")
    assert await tab.call("focusOn", field.exact, within_ms=PATIENT) == {}
    await tab.press("x", within_ms=PATIENT)
    assert (await look(tab)).title.text == "1"
    text = await find_css(tab, "#c")
    refused = await tab.call("focusOn", text.exact, within_ms=PATIENT)
    assert refused["code"] == "action_failed"


async def test_scrolling_says_where_it_ended(tab: Tab, server: PageServer) -> None:
    await show(tab, server, '<p style="height:3000px">')
    moves: Sequence[tuple[str, int]] = [("down", 300), ("up", 100), ("bottom", 0), ("top", 0)]
    ended = [await tab.call("scroll", way, by, within_ms=PATIENT) for way, by in moves]
    assert [y for _, y in ended[:2]] == [300, 200]
    assert ended[2][1] > 1_000
    assert ended[3] == [0, 0]


# -- what a click or a key really sets off -------------------------------------------------------

PAY = """
<form method=post action=/pay?order=1>
  <input id=field aria-label=Amount>
  <button id=button><span id=word>Send it</span></button>
  <input type=submit id=sent value=Send>
</form>
<label for=sent id=label>Send now</label>
<a id=link href="/orders?op=view&id=1">Order 1</a>
"""


@pytest.mark.parametrize("selector", ["#button", "#word", "#label", "#sent"])
async def test_a_part_of_a_button_sends_what_the_button_sends(
    tab: Tab, server: PageServer, selector: str
) -> None:
    await show(tab, server, PAY)
    element = await find_css(tab, selector)
    assert (element.submits, element.form_method) == (True, "post")


@pytest.mark.parametrize(
    ("focus", "key", "sends"),
    [
        ("#field", "Enter", True),
        ("#field", "NumpadEnter", True),
        ("#field", "Shift+Enter", True),
        ("#field", "a", False),
        ("#field", "Space", False),
        ("#button", "Space", True),
        ("#button", " ", True),
        ("#button", "Control+Enter", True),
        ("#button", "Tab", False),
    ],
)
async def test_a_key_sends_what_it_would_send(
    tab: Tab, server: PageServer, focus: str, key: str, sends: bool
) -> None:
    await show(tab, server, PAY)
    element = await find_css(tab, focus)
    await tab.call("focusOn", element.exact, within_ms=PATIENT)
    focused = await tab.call("resolveFocused", key, within_ms=PATIENT)
    assert focused["element"]["submits"] is sends


async def test_an_address_that_changes_is_another_element_to_the_last_look(
    tab: Tab, server: PageServer
) -> None:
    """The same kind of link across runs, and yet not the one that was judged a moment ago."""
    await show(
        tab, server, PAY + "<script>onclick = () => link.search = '?op=delete&id=2'</script>"
    )
    judged = await find_css(tab, "#link")
    await tab.click(5, 5, within_ms=PATIENT)
    now = (await check(tab, judged.exact))["changed"]
    assert now["digest"] == judged.digest
    assert now["exact"] != judged.exact
