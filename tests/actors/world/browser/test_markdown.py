"""What a page says, as Markdown: in which order, what is left out, and in pages of a size."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from rutter.actors.executor.actor import Executor
from rutter.actors.rules.pages.text_form import estimate_tokens
from rutter.actors.world.browser.screen import Screen
from rutter.actors.world.browser.tab import Tab
from rutter.actors.world.browser.window import Window
from rutter.actors.world.secrets.bindings import Bindings
from rutter.events.action import Action, ByCss, Target, Untrusted
from rutter.events.executor import QueryAnswered, QueryFailed
from rutter.events.page import Resting
from rutter.events.run_settings import RunSettings
from rutter.events.validator import PlanAdmitted, QueryStarted
from tests.support import browser_fixtures
from tests.support.browser_fixtures import OneWindow, show, tell
from tests.support.page_server import PATIENT, PageServer
from tests.support.policies import HERE

pytestmark = [pytest.mark.browser, pytest.mark.anyio]
window = browser_fixtures.one_window
MAX_TOKENS = 2_000

BLOCKS = """<h1>Your  <i>order</i></h1>
<p>Thank you,<br>Ann.   Your order number is <b>No. 4711</b>.</p>
<div>One <span style="display: block">two</span> three</div>
<ul><li>Rope<ul><li>5 m<li>10 m</ul><li><p>Chain</p><p>galvanised</p></ul>
<ol start=3><li>Pay<li>Wait</ol>
<dl><dt>Order number<dd>No. 4711<dt>State<dd>packed</dl>
<blockquote><p>Fine rope.</p><p>Ann</p></blockquote>
<div role=heading aria-level=3>Terms</div><p># no heading</p><p>- no list</p><p>| no table</p>
<pre>a  = 1
  b = ```2
</pre><div style="display: flex"><span>Total</span><b>9 EUR</b></div>
<p style="text-transform: uppercase">loud</p>"""
BLOCKS_TOLD = r"""
# Your order

Thank you,
Ann. Your order number is No. 4711.

One

two

three

- Rope
  - 5 m
  - 10 m
- Chain
  galvanised

3. Pay
4. Wait

Order number
: No. 4711
State
: packed

> Fine rope.
> Ann

### Terms

\# no heading

\- no list

\| no table

````
a  = 1
  b = ```2
````

Total 9 EUR

LOUD
"""
ORDER = """<header><h1>Chandlery</h1></header><nav><a href=/shop>Shop</a></nav><p>Beside</p>
<main><nav>On this page</nav><header><h2>Rope</h2></header><p>Strong.</p>
<article><p>Tested.</p><aside>A note in it.</aside></article><aside>Related</aside></main>
<footer>Imprint</footer><dialog id=d>Cookies?</dialog><script>d.showModal()</script>"""
ORDER_TOLD = """
Cookies?

---

## Rope

Strong.

Tested.

A note in it.

---

Beside

---

# Chandlery

[Shop](/shop)

On this page

Related

Imprint
"""
LINKS = """<p>See <a href=/terms?a=1#b> our  terms</a>, <a href=#top>the top</a>,
<a href="javascript:go()">go</a> and <a>nowhere</a>.</p>
<p><a href="https://example.com/x(1)?token=abc&q=1">Elsewhere</a></p>
<a href=/rope><h2>Rope [new]</h2><p>5 m</p></a>
<a href=/cart><img alt=Cart src="data:,"></a><a href=/nothing><svg></svg></a>
<p><a href=mailto:ann@example.com>Write</a> or <a href="http://u:p@127.0.0.1/">call</a></p>"""
LINKS_TOLD = r"""
See [our terms](/terms?a=1#b), [the top](#top), go and nowhere.

[Elsewhere](https://example.com/x%281%29?token=%28secret%29&q=1)

## [Rope \[new\]](/rope)

5 m

[Cart](/cart)

[Write](mailto:ann@example.com) or [call](http://127.0.0.1/)
"""
TABLES = """<table><caption>Open orders</caption><thead><tr><th>Number<th>What<th></thead>
<tr><th>1001<td><a href=/orders/1>Rope</a> | 5 m<td><ul><li>a<li>b</ul><tr><td><td><td>
<tr><td>1002<td>Chain <span style="opacity: 0">unseen</span><td><img alt=yes src="data:,"></table>
<table><tr><td>a<td>b<tr><td>c<td><input value="by hand"></table>
<table><tr><td><h3>Laid out</h3><td><p>Right</p></table>
<div role=grid><div role=row><b role=columnheader>Ship</b></div>
<div role=row><i role=gridcell>Aurora</i></div></div>"""
TABLES_TOLD = r"""
Open orders

| Number | What |  |
| - | - | - |
| 1001 | [Rope](/orders/1) \| 5 m | a b |
| 1002 | Chain | yes |

|  |  |
| - | - |
| a | b |
| c | by hand |

### Laid out

Right

| Ship |
| - |
| Aurora |
"""
HIDDEN = """<style>
.sr { position: absolute; width: 1px; height: 1px; overflow: hidden; clip: rect(0 0 0 0) }
body { height: 3000px }</style><title>title</title><p>Seen</p><p aria-hidden=true>for eyes alone</p>
<p style="display: none">HIDE</p><p hidden>HIDE</p><p style="opacity: 0">HIDE</p>
<p style="opacity: .01">HIDE</p>
<p style="visibility: hidden">HIDE <b style="visibility: visible">but this</b></p>
<p class=sr>HIDE</p>
<p style="position: absolute; left: -9999px">HIDE</p>
<p style="position: absolute; top: -90px">HIDE</p>
<p style="position: fixed; top: 110%">HIDE</p><p style="text-indent: -9999px">HIDE</p>
<p style="font-size: 0">HIDE</p><p style="color: white; background: white">HIDE</p>
<p style="color: white; background: navy">white on blue</p><p style="transform: scale(0)">HIDE</p>
<div style="height: 0; overflow: hidden"><p>HIDE</p></div>
<details><summary>More</summary>HIDE</details>
<p style="clip-path: inset(100%)">HIDE</p><script>HIDE</script><noscript>HIDE</noscript>
<template>HIDE</template>
<!-- HIDE --><select><option>HIDE<option selected>Chosen</select><textarea hidden>HIDE</textarea>
<svg><title>HIDE</title><text y=9>drawn</text></svg>
<a href=/x style="position: absolute; left: -700px">HIDE</a>
<p style="position: absolute; top: 2900px">far below</p>"""
FIELDS = """<label>Name <input value="Ann"></label><p>
<label>Password <input type=password value=hunter-2></label>
<p><label>Card number <input value="4111 1111"></label><p>
<label>Empty <input placeholder=HIDE></label>
<p><textarea>two
lines</textarea><p><label><input type=checkbox checked> Express</label>
<label><input type=radio> Post</label>
<p><button>Send</button> <input type=submit value=Order> <input type=hidden value=HIDE>
<input type=file>
<p><label><input type=checkbox style="opacity: 0" checked>drawn</label>
<div role=checkbox aria-checked=true>Yes</div>"""
FIELDS_TOLD = """
Name Ann

Password (secret)

Card number (secret)

Empty

two lines

[x] Express [ ] Post

Send Order

[x] drawn

[x] Yes
"""
DEEP = """<div id=host><b slot=name>slotted</b></div><iframe srcdoc="<p>framed</p>"></iframe>
<script>
host.attachShadow({mode: "open"}).innerHTML = "<p>Hello <slot name=name></slot></p><p>shadow</p>";
</script>"""


@pytest.fixture(scope="module")
def elsewhere() -> Iterator[PageServer]:
    """Another port is another origin."""
    with PageServer() as running:
        yield running


async def read(tab: Tab, page: int = 1) -> dict[str, Any]:
    told: dict[str, Any] = await tab.call("readPage", "", page, within_ms=PATIENT)
    return told


async def read_until(tab: Tab, wanted: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
    """A frame is loaded after the page around it."""
    for _ in range(50):
        if wanted(told := await read(tab)):
            return told
        await tab.change(200)
    raise AssertionError("it did not come to that")


@pytest.mark.parametrize(
    ("html", "told"),
    [
        pytest.param(BLOCKS, BLOCKS_TOLD, id="blocks"),
        pytest.param(ORDER, ORDER_TOLD, id="order"),
        pytest.param(LINKS, LINKS_TOLD, id="links"),
        pytest.param(TABLES, TABLES_TOLD, id="tables"),
        pytest.param(FIELDS, FIELDS_TOLD, id="fields"),
        pytest.param(DEEP, "Hello slotted\n\nshadow\n\nframed", id="shadow-and-frame"),
    ],
)
async def test_a_page_is_told_as_it_is_read(
    tab: Tab, server: PageServer, html: str, told: str
) -> None:
    await show(tab, server, html)
    first = await read_until(tab, lambda read: "iframe" not in html or "framed" in read["text"])
    assert first["text"].splitlines() == told.strip().splitlines()
    assert (first["pages"], first["unread"]) == (1, False)
    assert await read(tab) == first
    assert (await read(tab, 0))["text"] == first["text"]


async def test_what_nobody_sees_is_not_told(tab: Tab, server: PageServer) -> None:
    await show(tab, server, HIDDEN)
    said = (await read(tab))["text"]
    assert "HIDE" not in said
    for seen in (
        "Seen",
        "for eyes alone",
        "but this",
        "white on blue",
        "More",
        "Chosen",
        "drawn",
        "far below",
    ):
        assert seen in said


async def test_a_frame_of_another_site_is_said_to_be_unread(
    tab: Tab, server: PageServer, elsewhere: PageServer
) -> None:
    hidden = "<iframe style='display: none'></iframe>"
    await show(tab, server, f"<p>Here</p>{hidden}<iframe src='{elsewhere.url}/another'></iframe>")
    told = await read_until(tab, lambda read: read["unread"])
    assert (told["text"], told["pages"]) == ("Here", 1)


ALL_SIGNS = "".join(chr(code) for code in (*range(33, 127), 0xE9, 0x4E2D, 0x1F600))
LONG = f"""<h1>Log</h1><p id=long></p><table><thead><tr><th>n<th>text</thead><tbody></tbody></table>
<pre></pre><p>{ALL_SIGNS.replace("<", "&lt;") * 40}</p><p>{"中" * 3000}</p><p>{"word " * 4000}</p>
<script>
const body = document.querySelector("tbody"), pre = document.querySelector("pre");
for (let n = 0; n < 600; n++) body.insertRow().innerHTML = `<td>${{n}}<td>row ${{n * 7919}}`;
pre.textContent = Array.from({{ length: 500 }}, (_, n) => `line = ${{n}};`).join("\\n");
</script>"""


async def test_a_long_page_comes_in_pages_of_a_size(tab: Tab, server: PageServer) -> None:
    await show(tab, server, LONG)
    count = (await read(tab))["pages"]
    pages = [(await read(tab, page))["text"] for page in range(1, count + 1)]
    assert max(map(estimate_tokens, pages)) < 2_000
    assert min(map(estimate_tokens, pages[:-1])) > 900  # and not many more than there must be
    whole = "\n".join(pages)
    for n in range(600):
        assert whole.count(f"| {n} | row {n * 7919} |") == 1
    for n in range(500):
        assert whole.count(f"line = {n};") == 1
    assert all(page.count("```") % 2 == 0 for page in pages)
    tabled = [page for page in pages if "| row" in page]
    assert len(tabled) > 1
    assert all("| n | text |\n| - | - |\n" in page for page in tabled)
    assert whole.replace("\n", "").count("中" * 300) >= 9
    assert len((await read(tab, 0))["text"]) > len(whole) * 0.95
    beyond = await read(tab, count + 1)
    assert beyond["code"] == "action_failed"
    assert beyond["message"] == f"there is no page {count + 1} of {count}"
    await show(tab, server, "<p></p>")
    assert await read(tab) == {"text": "", "pages": 0, "unread": False}


# -- by the Executor ------------------------------------------------------------------------------


@pytest.fixture
async def executor(window: Window) -> Executor:
    screen = Screen(OneWindow(window), HERE)
    await screen.open()
    return Executor(screen, Bindings({}, {}), RunSettings())


async def test_a_part_is_read_alone_and_a_heading_with_what_is_under_it(
    executor: Executor, tab: Tab, server: PageServer
) -> None:
    html = """<h1>Guide</h1><main><h2 id=a>A\u200b</h2><p>\u202eone</p><h3>Deeper</h3><p>two</p>
    <nav>Contents</nav><h2>B</h2><p>three</p><section id=s><p>four</p></section></main>"""
    await show(tab, server, html)

    async def told(selector: str, page: int = 0) -> QueryAnswered | QueryFailed:
        target = Target((ByCss(selector),)) if selector else None
        action, digest = Action("read_page", target=target, page=page), ""
        if target is not None:
            found = await tell(executor, PlanAdmitted(1, 1, action, PATIENT))
            digest = found.element.exact
        asked = QueryStarted(1, 1, action, digest, None if target else Resting(PATIENT))
        answer = await tell(executor, asked)
        assert isinstance(answer, QueryAnswered | QueryFailed)
        return answer

    under = await told("#a")
    assert isinstance(under, QueryAnswered)
    assert under.text == Untrusted("## A\n\none\n\n### Deeper\n\ntwo")
    part = await told("#s", 1)
    assert isinstance(part, QueryAnswered)
    assert (part.text, part.pages, part.rest) == (Untrusted("four"), 1, None)
    whole = await told("")
    assert isinstance(whole, QueryAnswered)
    assert whole.rest is not None
    assert whole.text is not None
    assert whole.text.text.startswith("## A\n\none")
    assert whole.text.text.endswith("# Guide\n\n---\n\nContents")
    beyond = await told("", 2)
    assert isinstance(beyond, QueryFailed)
    assert (beyond.code, beyond.message) == ("action_failed", "there is no page 2 of 1")
