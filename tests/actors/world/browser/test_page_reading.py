"""One look at a page: what is in it, in which order, and what is left out."""

from collections.abc import Iterator
from typing import Any

import msgspec
import pytest

from rutter.actors.observer.actor import INLINE, fit
from rutter.actors.world.browser.tab import Tab
from rutter.events.codec import pack
from rutter.events.page import Page, PageElement
from tests.support import browser_fixtures
from tests.support.browser_fixtures import show
from tests.support.page_server import PATIENT, PageServer

pytestmark = [pytest.mark.browser, pytest.mark.anyio]
window = browser_fixtures.one_window

SECOND = 1_000


@pytest.fixture(scope="module")
def elsewhere() -> Iterator[PageServer]:
    """Another port is another origin."""
    with PageServer() as running:
        yield running


async def look(tab: Tab, **how: bool) -> Page:
    return msgspec.convert(await tab.call("observe", how, within_ms=10 * SECOND), Page)


async def seen(tab: Tab, server: PageServer, html: str) -> list[str]:
    """The elements of a page, each as its role and name."""
    await show(tab, server, html)
    return [said(element) for element in (await look(tab)).elements]


def said(element: PageElement) -> str:
    return f"{element.role} {element.name.text}".strip()


async def look_until(tab: Tab, wanted: str) -> Page:
    """A frame is loaded after the page around it: looked at until this element is there."""
    for _ in range(50):
        page = await look(tab)
        if wanted in [said(element) for element in page.elements]:
            return page
        await tab.change(200)
    raise AssertionError(f"{wanted} did not appear")


async def type_into(tab: Tab, selector: str, text: str) -> None:
    way = {"by": "css", "selector": selector}
    found: Any = await tab.call("resolve", [way], SECOND, within_ms=PATIENT)
    await tab.call("ready", found["element"]["exact"], within_ms=PATIENT)
    await tab.insert(text, within_ms=PATIENT)


# -- pruning (S3 1.3.2) ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        (
            "<button>A</button><a href=#>B</a><input aria-label=C>",
            ["button A", "link B", "textbox C"],
        ),
        ("<h1>A</h1><h2>B</h2><h3>C</h3><h4>D</h4>", ["heading A", "heading B", "heading C"]),
        (
            "<div role=heading aria-level=2>A</div><div role=heading aria-level=5>B</div>",
            ["heading A"],
        ),
        ("<section aria-label=A><p>text</p></section><section>B</section>", ["region A"]),
        ("<div role=alert>Saved</div><div role=status>Fine</div>", ["alert"]),
        ("<main><nav><p>text</p></nav></main><ul><li>one</li></ul><hr><img src=x alt=B>", []),
        ("<div tabindex=0>A</div><div tabindex=-1>B</div><div onclick=x()>C</div>", ["generic A"]),
        ("<a>no address</a><input type=hidden><option>loose</option>", []),
        ("<button aria-hidden=true>A</button><button hidden>B</button>", []),
        ("<button style='visibility:hidden'>A</button><div inert><button>B</button></div>", []),
        ("<ul role=listbox aria-label=A><li role=option>B</li></ul>", ["listbox A", "option B"]),
        ("<select aria-label=A><option>B</select>", ["combobox A"]),
        ("<button><h2>Inside</h2></button>", ["button Inside"]),
        ("<dialog open aria-label=A><button>B</button></dialog>", ["dialog A", "button B"]),
        ("<details><summary>A</summary><button>B</button></details>", ["button A"]),
        ("<b role=none>A</b><button role=presentation>B</button>", ["button B"]),
    ],
)
async def test_what_can_be_operated_and_what_leads_to_it_is_kept(
    tab: Tab, server: PageServer, html: str, expected: list[str]
) -> None:
    assert await seen(tab, server, html) == expected


async def test_behind_a_modal_dialog_nothing_can_be_operated(tab: Tab, server: PageServer) -> None:
    html = "<h1>Behind</h1><button>A</button><dialog id=d><button>B</button></dialog>"
    assert await seen(tab, server, f"{html}<script>d.showModal()</script>") == [
        "dialog",
        "button B",
    ]
    page = await look(tab)
    assert page.modal
    assert [heading.text for heading in page.headings] == ["Behind"]


async def test_a_page_without_a_dialog_is_not_modal(tab: Tab, server: PageServer) -> None:
    await show(tab, server, "<dialog><p>closed</p></dialog><div role=dialog hidden>x</div>")
    assert not (await look(tab)).modal


# -- order, numbers, nesting ---------------------------------------------------------------------


async def test_equal_pages_have_equal_elements(tab: Tab, server: PageServer) -> None:
    html = "<h1>A</h1><section aria-label=B><button>C</button><input value=D></section>"
    await show(tab, server, html)
    first, again = await look(tab), await look(tab)
    await show(tab, server, html)
    other = await look(tab)
    assert first == again
    assert first.elements == other.elements
    assert first.digest == other.digest


async def test_children_are_the_kept_elements_right_below(tab: Tab, server: PageServer) -> None:
    await show(
        tab,
        server,
        "<section aria-label=Out><div><h2>Head</h2><p><section aria-label=In><button>A</button>"
        "</section></p></div><a href=#>B</a></section><button>C</button>",
    )
    elements = (await look(tab)).elements
    assert [said(element) for element in elements] == [
        *("region Out", "heading Head", "region In", "button A", "link B", "button C")
    ]
    assert [element.children for element in elements] == [(1, 2, 4), (), (3,), (), (), ()]


async def test_the_tree_is_ten_levels_deep(tab: Tab, server: PageServer) -> None:
    opened = "".join(f"<section aria-label=R{n}>" for n in range(12))
    await show(
        tab, server, f"{opened}<button>Deep</button>{'</section>' * 12}<button>Flat</button>"
    )
    page = await look(tab)
    assert [said(element) for element in page.elements] == [
        *(f"region R{n}" for n in range(10)),
        "button Flat",
    ]
    assert page.dropped == 3


async def test_long_names_are_cut_at_200_characters(tab: Tab, server: PageServer) -> None:
    await show(tab, server, f"<button>{'x' * 200}</button><button>{'y' * 201}</button>")
    names = [element.name.text for element in (await look(tab)).elements]
    assert names == ["x" * 200, "y" * 200 + "..."]


# -- ranking (S3 1.3.3) --------------------------------------------------------------------------


async def test_of_many_elements_those_in_view_are_kept_first(tab: Tab, server: PageServer) -> None:
    above = "".join(f"<button>Above {n}</button>" for n in range(150))
    below = "".join(f"<button>Below {n}</button>" for n in range(150))
    middle = "".join(f"<h3>In view {n}</h3>" for n in range(5))
    await show(
        tab,
        server,
        f"<div style='position:absolute;top:-5000px'>{above}</div>"
        f"<div style='position:absolute;top:5000px'>{below}</div>{middle}",
    )
    page = await look(tab)
    assert len(page.elements) == 100
    assert page.dropped == 205
    kept = [said(element) for element in page.elements]
    assert kept[95:] == [f"heading In view {n}" for n in range(5)]
    assert kept[:95] == [f"button Above {n}" for n in range(95)]


async def test_of_what_is_in_view_roles_decide_and_then_the_order_of_the_page(
    tab: Tab, server: PageServer
) -> None:
    tiny = "<style>* { font-size: 1px; margin: 0 !important; padding: 0 !important }</style>"
    parts = {
        "heading": "<h3>x</h3>",
        "region": "<section aria-label=x>x</section>",
        "tab": "<b role=tab>x</b>",
        "combobox": "<select><option>x</select>",
        "checkbox": "<input type=checkbox>",
        "link": "<a href=#>x</a>",
    }
    await show(tab, server, tiny + "".join(part * 30 for part in parts.values()))
    page = await look(tab)
    counted = {role: sum(e.role == role for e in page.elements) for role in parts}
    expected = {"link": 30, "checkbox": 30, "combobox": 30, "heading": 10, "region": 0, "tab": 0}
    assert counted == expected
    assert page.dropped == 80


async def test_what_is_partly_in_view_comes_before_what_is_not(
    tab: Tab, server: PageServer
) -> None:
    buttons = "".join(f"<button>B{n}</button>" for n in range(100))
    partly = "<h2 style='position:absolute;top:790px;height:40px;margin:0'>Partly</h2>"
    html = f"<div style='position:absolute;top:3000px'>{buttons}</div>{partly}"
    assert (await seen(tab, server, html))[-1] == "heading Partly"


async def test_only_what_is_in_view_when_asked_for(tab: Tab, server: PageServer) -> None:
    await show(
        tab, server, "<button>A</button><button style='position:absolute;top:3000px'>B</button>"
    )
    assert [said(element) for element in (await look(tab)).elements] == ["button A", "button B"]
    page = await look(tab, viewportOnly=True)
    assert [said(element) for element in page.elements] == ["button A"]
    assert page.dropped == 0


async def test_the_lowest_ranked_go_when_there_is_no_room(tab: Tab, server: PageServer) -> None:
    heads = "".join(f"<h2>{n} {'h' * 190}</h2>" for n in range(50))
    wide = "\u00e9" * 190
    links = "".join(f"<a href=#>{n} {wide}</a>" for n in range(50))
    small = "<style>* { font-size: 2px; margin: 0 }</style>"
    await show(tab, server, small + heads + links)
    page = await look(tab)
    assert len(pack(page)) <= INLINE
    assert fit(page) == page
    roles = [element.role for element in page.elements]
    assert "heading" not in roles
    assert len(roles) > 25
    assert len(roles) + page.dropped == 100


# -- states and values (S3 1.3.4) ------------------------------------------------------------------


@pytest.mark.parametrize(
    ("html", "state"),
    [
        ("<button>x</button>", ()),
        ("<button disabled>x</button>", ("disabled",)),
        ("<fieldset disabled><button>x</button></fieldset>", ("disabled",)),
        ("<div aria-disabled=true><button>x</button></div>", ("disabled",)),
        ("<input readonly>", ("readonly",)),
        ("<input type=checkbox>", ("unchecked",)),
        ("<input type=radio checked>", ("checked",)),
        ("<div role=checkbox aria-checked=mixed>x</div>", ("mixed",)),
        ("<div role=switch>x</div>", ("unchecked",)),
        ("<button aria-expanded=true>x</button>", ("expanded",)),
        ("<details><summary>x</summary></details>", ("collapsed",)),
        ("<button role=tab aria-selected=true>x</button>", ("selected",)),
        ("<button aria-pressed=true>x</button>", ("pressed",)),
        ("<input required aria-invalid=true>", ("required", "invalid")),
        ("<button aria-busy=true>x</button>", ("busy",)),
        ("<button id=b>x</button><script>b.focus()</script>", ("focused",)),
        ("<button style='position:absolute;top:2000px'>x</button>", ("offscreen",)),
        ("<button style='all:unset;position:absolute;width:0;height:0'></button>", ("hidden",)),
        ("<input type=checkbox id=i><script>i.indeterminate = true</script>", ("mixed",)),
    ],
)
async def test_states(tab: Tab, server: PageServer, html: str, state: tuple[str, ...]) -> None:
    await show(tab, server, html)
    assert (await look(tab)).elements[0].state == state


@pytest.mark.parametrize(
    ("html", "value"),
    [
        ("<input value=Ann>", "Ann"),
        ("<textarea>two\nlines</textarea>", "two\nlines"),
        ("<select><option>a<option selected>b</select>", "b"),
        ("<select multiple><option selected>a<option selected>b</select>", "a, b"),
        ("<input type=date value=2026-03-20>", "2026-03-20"),
        ("<input type=range value=30>", "30"),
        ("<div contenteditable>Some <b>text</b></div>", "Some text"),
        ("<div role=slider tabindex=0 aria-valuenow=5></div>", "5"),
        ("<input type=password value=hunter2>", "(secret)"),
        ("<input autocomplete=one-time-code value=123456>", "(secret)"),
        ("<input name=userOtp value=123456>", "(secret)"),
        ("<label>Card number <input value=4111></label>", "(secret)"),
        ("<input placeholder='Your PIN' value=1234>", "(secret)"),
        ("<input name=footprint aria-label='Shipping and spinning' value=x>", "x"),
        ("<input type=checkbox value=on>", None),
        ("<input type=submit value=Send>", None),
        ("<input>", None),
    ],
)
async def test_values(tab: Tab, server: PageServer, html: str, value: str | None) -> None:
    await show(tab, server, html)
    found = (await look(tab)).elements[0].value
    assert (found.text if found is not None else None) == value


SHOWN = "<input id=p type=password><button onclick=\"p.type = 'text'\">Show</button>"


@pytest.mark.parametrize("frame", [False, True])
async def test_a_password_that_is_shown_stays_secret(
    tab: Tab, server: PageServer, frame: bool
) -> None:
    html = f"<iframe srcdoc='{SHOWN.replace(chr(39), '&#39;')}'></iframe>" if frame else SHOWN
    await show(tab, server, html)
    field, button = (await look_until(tab, "button Show")).elements
    x, y = field.box.x + 5, field.box.y + 5
    await tab.click(x, y, within_ms=PATIENT)
    await tab.insert("hunter2", within_ms=PATIENT)
    await tab.click(button.box.x + 5, button.box.y + 5, within_ms=PATIENT)
    after = await look(tab)
    assert after.elements[0].value is not None
    assert after.elements[0].value.text == "(secret)"
    assert "hunter" not in str(msgspec.to_builtins(after))


async def test_secrets_in_the_address_are_not_told(tab: Tab, server: PageServer) -> None:
    url = server.show("<h1>x</h1>")
    asked = f"{url}?user=ann&password=hunter2&q=a%20b&access_token=abc#id_token=def&x=1"
    await tab.navigate(asked, within_ms=PATIENT)
    told = "?user=ann&password=(secret)&q=a%20b&access_token=(secret)#id_token=(secret)&x=1"
    assert (await look(tab)).url == url + told


# -- frames and shadow roots -----------------------------------------------------------------------

IN_SHADOW = """<x-box><button slot=foot>Slotted</button><i>Rest</i></x-box><script>
  customElements.define('x-box', class extends HTMLElement {
    constructor() {
      super();
      this.attachShadow({ mode: 'open' }).innerHTML =
        '<h2>Head</h2><slot name=foot></slot><a href=#>Last</a><input autofocus aria-label=Field>';
    }
  });
</script><button>After</button>"""


async def test_open_shadow_roots_are_read_in_the_order_they_are_shown(
    tab: Tab, server: PageServer
) -> None:
    expected = ["heading Head", "button Slotted", "link Last", "textbox Field", "button After"]
    assert await seen(tab, server, IN_SHADOW) == expected
    page = await look(tab)
    assert [heading.text for heading in page.headings] == ["Head"]


async def test_the_focus_is_found_inside_of_a_shadow_root(tab: Tab, server: PageServer) -> None:
    focus = "document.querySelector('x-box').shadowRoot.querySelector('input').focus()"
    await show(tab, server, f"{IN_SHADOW}<script>{focus}</script>")
    page = await look(tab)
    assert [said(e) for e in page.elements if "focused" in e.state] == ["textbox Field"]
    assert page.focused


async def test_frames_of_the_same_origin_are_read_where_they_are(
    tab: Tab, server: PageServer
) -> None:
    inner = server.show("<body style='margin:0'><button style='margin:0'>In</button>")
    where = "position:absolute; left:300px; top:200px; border:3px solid"
    frame = f"<iframe src='{inner}' style='{where}'></iframe>"
    await show(tab, server, f"<button>Before</button>{frame}<button>After</button>")
    elements = (await look_until(tab, "button In")).elements
    assert [said(element) for element in elements] == ["button Before", "button In", "button After"]
    assert (elements[1].box.x, elements[1].box.y) == (303, 203)


async def test_what_is_scrolled_out_of_its_frame_is_off_screen(
    tab: Tab, server: PageServer
) -> None:
    inner = "<button style='position:absolute;top:300px'>In</button>"
    await show(tab, server, f'<iframe height=100 srcdoc="{inner}"></iframe>')
    assert (await look_until(tab, "button In")).elements[0].state == ("offscreen",)


async def test_a_frame_of_another_origin_is_one_element(
    tab: Tab, server: PageServer, elsewhere: PageServer
) -> None:
    inner = elsewhere.show("<button>Not ours to read</button>")
    await show(tab, server, f"<iframe title=Payment src='{inner}'></iframe><button>Ours</button>")
    elements = (await look_until(tab, "iframe Payment")).elements
    assert [said(element) for element in elements] == ["iframe Payment", "button Ours"]
    assert elements[0].state == ("cross-origin",)


async def test_a_frame_that_cannot_be_seen_is_not_told(
    tab: Tab, server: PageServer, elsewhere: PageServer
) -> None:
    hidden = f"<iframe src='{elsewhere.url}/another' style='display:none'></iframe>"
    empty = f"<iframe src='{elsewhere.url}/another' width=0 height=0 style='border:0'></iframe>"
    assert await seen(tab, server, hidden + empty) == []


# -- the digest ------------------------------------------------------------------------------------

CHANGING = """<body style="height:3000px"><p id=t>Text</p><p id=h hidden>Hidden</p><input id=i>
  <input type=checkbox id=c aria-label=Check><x-y id=s></x-y>
  <iframe srcdoc="<button>Inner</button>"></iframe>
  <script>
    s.attachShadow({ mode: 'open' }).innerHTML = '<p>Shadow</p>';
    addEventListener('keydown', (e) => ({
      1: () => { t.textContent = 'Other' },
      2: () => { h.textContent = 'Still hidden' },
      3: () => { h.hidden = false },
      4: () => { c.checked = true },
      5: () => { s.shadowRoot.firstChild.textContent = 'Other' },
      6: () => { document.querySelector('iframe').contentDocument.body.textContent = 'Other' },
      7: () => { scrollTo(0, 500) },
      8: () => { t.style.visibility = 'hidden' },
      9: () => { t.className = 'other' },
    })[e.key]?.());
  </script>"""


@pytest.mark.parametrize(
    ("key", "changes"),
    [
        ("1", True),
        ("2", False),
        ("3", True),
        ("4", True),
        ("5", True),
        ("6", True),
        ("7", False),
        ("8", True),
        ("9", False),
    ],
)
async def test_the_digest_changes_with_what_is_shown(
    tab: Tab, server: PageServer, key: str, changes: bool
) -> None:
    await show(tab, server, CHANGING)
    before = await look_until(tab, "button Inner")
    await tab.press(key, within_ms=PATIENT)
    after = await look(tab)
    assert (before.digest != after.digest) is changes


async def test_the_focus_is_no_part_of_the_digest(tab: Tab, server: PageServer) -> None:
    await show(tab, server, CHANGING)
    before = await look_until(tab, "button Inner")
    await tab.press("Tab", within_ms=PATIENT)
    after = await look(tab)
    assert before.digest == after.digest
    assert before.focused != after.focused


# -- pages of any size -----------------------------------------------------------------------------


async def test_a_huge_page_is_read_as_far_as_it_is_in_view(tab: Tab, server: PageServer) -> None:
    items = "const item = n => `<div><span>Item ${n}</span><a href=#>Open ${n}</a></div>`;"
    script = f"{items} all.innerHTML = Array.from({{length: 50000}}, (_, n) => item(n)).join('')"
    bar = "<footer style='position:fixed;bottom:0'><button>Always there</button></footer>"
    await show(tab, server, f"<div id=all></div><script>{script}</script>{bar}")
    page = await look(tab)
    assert page.truncated
    assert len(page.elements) == 100
    assert page.dropped > 0
    assert "button Always there" in [said(element) for element in page.elements]
    assert len(pack(page)) <= INLINE


async def test_a_page_that_is_read_whole_is_not_truncated(tab: Tab, server: PageServer) -> None:
    await show(tab, server, "<button>x</button>" * 500)
    page = await look(tab)
    assert not page.truncated
    assert (len(page.elements), page.dropped) == (100, 400)


async def test_nesting_without_end_is_read_as_far_as_it_goes(tab: Tab, server: PageServer) -> None:
    script = """let at = deep;
      for (let n = 0; n < 2000; n++) at = at.appendChild(document.createElement('div'));
      at.innerHTML = '<button>Too deep</button>'"""
    html = f"<button>First</button><div id=deep></div><script>{script}</script>"
    assert await seen(tab, server, html) == ["button First"]
    assert (await look(tab)).truncated


async def test_a_document_without_a_body_is_read(tab: Tab, server: PageServer) -> None:
    assert await seen(tab, server, "<script>document.body?.remove()</script>") == []
    await show(tab, server, "<p>x</p><script>document.documentElement.remove()</script>")
    assert (await look(tab)).elements == ()


async def test_fields_keep_their_number_while_values_change(tab: Tab, server: PageServer) -> None:
    await show(tab, server, "<input id=a aria-label=A><input id=b aria-label=B><button>C</button>")
    before = [said(element) for element in (await look(tab)).elements]
    await type_into(tab, "#b", "other")
    page = await look(tab)
    assert [said(element) for element in page.elements] == before
    assert page.elements[1].value is not None
    assert page.elements[1].value.text == "other"
