"""One element among all that a page shows: in shadow roots and frames, by every way, and the last
look before it is clicked (A3, F1)."""

from typing import Any

import msgspec
import pytest

from rutter.actors.world.browser.tab import Tab
from rutter.events.page import Resolved
from tests.support import browser_fixtures
from tests.support.browser_fixtures import show
from tests.support.page_server import PATIENT, PageServer

pytestmark = [pytest.mark.browser, pytest.mark.anyio]
window = browser_fixtures.one_window

SECOND = 1_000
Way = dict[str, object]

# A button in the page, one in a shadow root, one in a shadow root inside of it, one in a frame.
INNER = "<style>body{margin:20px}</style><button id=framed>In the frame</button>"
PAGE = f"""<h1>Harbour</h1><button id=outer>Outside</button>
<div id=host></div>
<iframe id=frame style="margin:40px;border:7px solid;padding:5px" srcdoc='{INNER}'></iframe>
<script>
  const shadow = host.attachShadow({{mode: "open"}});
  shadow.innerHTML = "<button id=shaded>In the shadow</button><section id=deeper></section>";
  const deeper = shadow.getElementById("deeper").attachShadow({{mode: "open"}});
  deeper.innerHTML = "<button>Deep down</button>";
  for (const root of [document, shadow, deeper]) {{
    root.addEventListener("click", (event) => document.title += event.target.textContent + ";");
  }}
</script>"""


def by_css(selector: str) -> Way:
    return {"by": "css", "selector": selector}


async def find(tab: Tab, *ways: Way, within_ms: int = SECOND) -> Any:
    return await tab.call("resolve", list(ways), within_ms, within_ms=within_ms + PATIENT)


async def found(tab: Tab, way: Way) -> Resolved:
    answer = await find(tab, way)
    assert answer["element"] is not None, answer["tries"]
    return msgspec.convert(answer["element"], Resolved)


async def check(tab: Tab, element: Resolved) -> Any:
    return await tab.call("check", element.exact, True, within_ms=PATIENT)


async def click(tab: Tab, way: Way) -> str:
    """As the Executor clicks; what was in the way."""
    at = await check(tab, await found(tab, way))
    assert "x" in at, at
    await tab.click(at["x"], at["y"], within_ms=PATIENT)
    await tab.settle(within_ms=PATIENT)
    return tab.missed


async def title(tab: Tab) -> str:
    seen = await tab.call("observe", within_ms=PATIENT)
    return str(seen["title"][0])


async def said_in_frame(tab: Tab, selector: str) -> str:
    element = await found(tab, by_css(selector))
    return str((await tab.call("read", element.exact, within_ms=PATIENT))["text"])


# -- in every root -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("way", "text"),
    [
        (by_css("#outer"), "Outside"),
        (by_css("#shaded"), "In the shadow"),
        (by_css("#host >>> #shaded"), "In the shadow"),
        (by_css("#host >>> section >>> button"), "Deep down"),
        (by_css("#deeper >>> button"), "Deep down"),
        (by_css("#framed"), "In the frame"),
        (by_css("iframe >>> button"), "In the frame"),
        ({"by": "aria", "role": "button", "name": "Deep down"}, "Deep down"),
        ({"by": "aria", "role": "button", "name": "In the frame"}, "In the frame"),
        ({"by": "text", "text": "deep DOWN"}, "Deep down"),
        ({"by": "text", "text": "in the frame"}, "In the frame"),
    ],
)
async def test_an_element_is_found_in_whatever_root_it_is(
    tab: Tab, server: PageServer, way: Way, text: str
) -> None:
    await show(tab, server, PAGE)
    answer = await find(tab, way)
    assert answer["tries"] == [{"strategy": 0, "matches": 1, "result": "taken"}]
    assert answer["element"]["text"] == [text]


@pytest.mark.parametrize(
    ("way", "result"),
    [
        (by_css("button"), "ambiguous"),
        (by_css("#outer >>> button"), "none"),
        (by_css("#host >>> #framed"), "none"),
        (by_css("#host >>> [["), "invalid"),
        ({"by": "text", "text": "in the"}, "ambiguous"),
    ],
)
async def test_only_one_in_all_roots_together_is_taken(
    tab: Tab, server: PageServer, way: Way, result: str
) -> None:
    await show(tab, server, PAGE)
    await found(tab, by_css("#framed"))  # a frame comes after the page
    answer = await find(tab, way, within_ms=50)
    assert answer["element"] is None
    assert [entry["result"] for entry in answer["tries"]] == [result]


async def test_one_in_the_page_and_one_in_a_frame_are_two(tab: Tab, server: PageServer) -> None:
    await show(tab, server, "<p class=x>Here</p><iframe srcdoc='<p class=x>There'></iframe>")
    await found(tab, by_css("iframe >>> .x"))  # a frame comes after the page
    answer = await find(tab, by_css(".x"), within_ms=50)
    assert answer["tries"] == [{"strategy": 0, "matches": 2, "result": "ambiguous"}]


@pytest.mark.parametrize(
    "way", ["#outer", "#shaded", "#deeper >>> button", "#framed"], ids=lambda way: way.strip("#")
)
async def test_every_way_that_an_element_names_leads_back_to_it(
    tab: Tab, server: PageServer, way: str
) -> None:
    await show(tab, server, PAGE)
    element = await found(tab, by_css(way))
    for other in msgspec.to_builtins(element.ways):
        assert (await found(tab, other)).exact == element.exact, other


async def test_twins_in_two_shadow_roots_are_told_apart_by_their_hosts(
    tab: Tab, server: PageServer
) -> None:
    twins = "".join(f"<div id=host-{side}></div>" for side in ("left", "right"))
    script = """<script>for (const host of document.querySelectorAll("div"))
      host.attachShadow({mode: "open"}).innerHTML = "<button id=go>Go</button>"</script>"""
    await show(tab, server, twins + script)
    element = await found(tab, by_css("#host-right >>> button"))
    assert list(msgspec.to_builtins(element.ways)) == [by_css("#host-right >>> #go")]


async def test_ways_are_named_in_the_order_of_preference(tab: Tab, server: PageServer) -> None:
    await show(tab, server, "<button name=n data-testid=t id=stay>Go</button><b id=made-4711>B</b>")
    element = await found(tab, by_css("button"))
    assert list(msgspec.to_builtins(element.ways)) == [
        by_css('[data-testid="t"]'),
        by_css("#stay"),
        by_css('button[name="n"]'),
        {"by": "aria", "role": "button", "name": "Go"},
        {"by": "text", "text": "Go"},
    ]
    other = await found(tab, by_css("b"))
    assert list(msgspec.to_builtins(other.ways)) == [
        by_css("body > b"),
        {"by": "text", "text": "B"},
    ]


MADE_UP = [
    ("radix-:r1:", "radix-:r2:"),
    (":r7:", ":r8:"),
    ("form:j_idt4:go", "form:j_idt5:go"),
    ("_r_1a_", "_r_2b_"),
    ("mui-123", "mui-124"),
    ("mui-7", "mui-8"),
    ("headlessui-menu-button-3", "headlessui-menu-button-4"),
    ("ember12", "ember13"),
    ("react-select-2-input", "react-select-3-input"),
    ("pay-9f86d08b", "pay-1b4f0e98"),
    ("made-4711", "made-4712"),
]
LASTING = ["pay", "order-2", "react-root", "embers", "priority-urgent", "mui-component-select-size"]


async def test_an_id_that_was_made_up_for_one_page_is_no_part_of_what_an_element_is(
    tab: Tab, server: PageServer
) -> None:
    await show(tab, server, "<button>Go</button><button>Go</button>")
    script = "(ids) => ids.forEach((id, i) => document.querySelectorAll('button')[i].id = id)"

    async def named(*ids: str) -> list[Resolved]:
        await tab.page.evaluate(script, ids)
        return [await found(tab, by_css(f"button:nth-of-type({i})")) for i in (1, 2)]

    for ids in MADE_UP:
        one, other = await named(*ids)
        assert one.digest == other.digest, ids
    for lasting in LASTING:
        one, other = await named(lasting, "other")
        assert one.digest != other.digest, lasting
        assert msgspec.to_builtins(one.ways)[0] == by_css(f"#{lasting}")


async def test_what_was_written_into_an_element_is_no_part_of_what_it_is(
    tab: Tab, server: PageServer
) -> None:
    await show(
        tab,
        server,
        """<div id=a contenteditable aria-label=Note></div><h2 id=b contenteditable title=Heading>
        </h2><p id=c>Reply:<span contenteditable></span></p>
        <style>[contenteditable] { display: block; min-height: 20px }</style>""",
    )
    before = {name: await found(tab, by_css(f"#{name}")) for name in "abc"}
    await tab.page.evaluate(
        """() => document.querySelectorAll("[contenteditable]").forEach((field) => {
          field.innerHTML = "Delete my account \N{WASTEBASKET}<i class=icon-trash>x</i>" })"""
    )
    after = {name: await found(tab, by_css(f"#{name}")) for name in "abc"}
    for name, said in {"a": ("Note", ""), "b": ("Heading", ""), "c": ("", "Reply:")}.items():
        element = after[name]
        assert (element.name.text, element.text.text) == said
        assert (element.digest, element.exact) == (before[name].digest, before[name].exact)
        assert "Delete" not in repr((element.name, element.text, element.icon, element.ways))


@pytest.mark.parametrize(
    ("selector", "kind"),
    [("#a", "editor"), ("#a b", "editor"), ("#work", ""), ("#inside", ""), ("#wrap", "")],
)
async def test_what_is_written_in_place_is_told_from_what_is_worked(
    tab: Tab, server: PageServer, selector: str, kind: str
) -> None:
    await show(
        tab,
        server,
        """<div id=a contenteditable role=textbox>Dear <b>Ann</b></div><div id=work contenteditable
        role=button>x</div><div contenteditable>a<a id=inside href=/a>b</a></div>
        <div id=wrap contenteditable>c <button>d</button></div>""",
    )
    assert (await found(tab, by_css(selector))).kind == kind


FIELDS_OF = "<form>%s<button>Go</form>"


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ("<input><input type=password>", True),
        ("<input type=password autocomplete=current-password>", True),
        ("<input><input type=password><input type=checkbox><input type=hidden>", True),
        ("<input><input type=password autocomplete=new-password>", False),
        ("<input type=password><input type=password>", False),
        ("<input><input><input><input type=password>", False),
        ("<input><select></select><input type=password>", False),
        ("<input>", False),
    ],
)
async def test_a_form_signs_in_if_it_asks_who_it_is_and_for_nothing_else(
    tab: Tab, server: PageServer, fields: str, expected: bool
) -> None:
    await show(tab, server, FIELDS_OF % fields)
    assert (await found(tab, by_css("button"))).signs_in is expected


async def test_what_an_element_in_a_frame_sets_off_is_of_its_own_document(
    tab: Tab, server: PageServer
) -> None:
    inner = server.show('<base href="/orders/"><form method=post action=pay><button>Pay</form>')
    await show(tab, server, f'<iframe src="{inner}"></iframe>')
    element = await found(tab, by_css("button"))
    assert (element.form_action, element.form_method) == (f"{server.url}/orders/pay", "post")
    assert element.origin == server.url


async def test_a_frame_of_another_origin_is_not_looked_into(tab: Tab, server: PageServer) -> None:
    other = server.url.replace("127.0.0.1", "localhost")
    await show(tab, server, f'<iframe src="{other}/another"></iframe><h2>Here</h2>')
    answer = await find(tab, by_css("h1"), by_css("h2"))
    assert [entry["result"] for entry in answer["tries"]] == ["none", "taken"]


# -- a form whose fields are named like what it has ---------------------------------------------

HIDING = [
    *("children", "parentNode", "parentElement", "id", "name", "attributes", "textContent"),
    *("innerText", "localName", "matches", "closest", "querySelector", "querySelectorAll"),
    *("getAttribute", "hasAttribute", "labels", "isConnected", "nodeType", "form", "ownerDocument"),
    *("shadowRoot", "firstChild", "nextSibling", "childNodes", "getRootNode", "checkVisibility"),
    *("focus", "getBoundingClientRect", "assignedSlot", "isContentEditable", "tabIndex"),
    *("scrollIntoView", "contains", "elements"),
]


def hiding_form(inside: str) -> str:
    fields = "".join(f'<input name="{name}" aria-label="field {name}">' for name in HIDING)
    form = f"<form class=f aria-label=Order tabindex=0>{fields}<p>Rope</p>{inside}</form>"
    return f"<section aria-label=Shop>{form}<h2>Behind</h2></section>"


@pytest.mark.parametrize(
    "way",
    [
        by_css("form"),
        by_css("form > button"),
        {"by": "aria", "role": "form", "name": "Order"},
        {"by": "aria", "role": "button", "name": "Buy"},
        {"by": "text", "text": "rope"},
        {"by": "aria", "role": "textbox", "name": "field children"},
    ],
)
async def test_fields_named_like_what_a_form_has_hide_nothing(
    tab: Tab, server: PageServer, way: Way
) -> None:
    await show(tab, server, hiding_form("<button type=button>Buy</button>"))
    element = await found(tab, way)
    assert [(await found(tab, other)).exact for other in msgspec.to_builtins(element.ways)] == [
        element.exact for _ in element.ways
    ]
    fingerprint = msgspec.to_builtins(element.fingerprint)
    alike = await tab.call("lookalikes", fingerprint, within_ms=PATIENT)
    assert element.exact in [other["exact"] for other in alike["elements"]]
    await found(tab, way)
    assert (await tab.call("bringIntoView", element.exact, within_ms=PATIENT)) == {}
    assert (await tab.call("focusOn", element.exact, within_ms=PATIENT)).get("changed") is None
    assert "text" in await tab.call("read", element.exact, within_ms=PATIENT)


async def test_a_page_with_such_a_form_is_seen_and_clicked(tab: Tab, server: PageServer) -> None:
    button = "<button type=button onclick=\"document.title = 'bought'\">Buy</button>"
    await show(tab, server, hiding_form(button))
    seen = await tab.call("observe", within_ms=PATIENT)
    names = [entry["name"][0] for entry in seen["elements"]]
    assert names[0] == "Shop"
    assert {"Order", "Buy", "field children", "Behind"} <= set(names)
    assert await click(tab, by_css("form > button")) == ""
    assert await title(tab) == "bought"


# -- by ref and by place ---------------------------------------------------------------------------


async def ref_of(tab: Tab, name: str) -> Way:
    seen = await tab.call("observe", within_ms=PATIENT)
    names = [entry["name"][0] for entry in seen["elements"]]
    return {"by": "ref", "ref": f"@e{names.index(name)}"}


@pytest.mark.parametrize("name", ["Outside", "In the shadow", "Deep down", "In the frame"])
async def test_an_element_of_the_last_look_is_found_by_its_ref(
    tab: Tab, server: PageServer, name: str
) -> None:
    await show(tab, server, PAGE)
    await found(tab, by_css("#framed"))  # a frame comes after the page
    assert (await found(tab, await ref_of(tab, name))).text.text == name


async def test_a_ref_to_what_is_gone_finds_nothing_and_is_not_waited_for(
    tab: Tab, server: PageServer
) -> None:
    gone = '<button id=go onclick="this.remove()">Go</button>'
    await show(tab, server, gone)
    ref = await ref_of(tab, "Go")
    await click(tab, by_css("#go"))
    others: list[Way] = [{"by": "ref", "ref": "@e99"}, {"by": "ref", "ref": "go"}]
    for way in [ref, *others]:
        answer = await find(tab, way, within_ms=300 * SECOND)
        assert answer["tries"] == [{"strategy": 0, "matches": 0, "result": "none"}]


async def test_a_point_is_looked_at_afresh_down_to_the_innermost_element(
    tab: Tab, server: PageServer
) -> None:
    await show(tab, server, PAGE)
    for name in ("#shaded", "#deeper >>> button", "#framed"):
        at = await check(tab, await found(tab, by_css(name)))
        point = {"by": "coordinates", "x": round(at["x"]), "y": round(at["y"])}
        element = await found(tab, point)
        assert element.tag == "button", name
        assert (await check(tab, element))["x"]


# -- clicking --------------------------------------------------------------------------------------


async def test_a_click_reaches_what_is_in_a_shadow_root(tab: Tab, server: PageServer) -> None:
    await show(tab, server, PAGE)
    await click(tab, by_css("#deeper >>> button"))
    assert "Deep down;" in await title(tab)


async def test_a_click_reaches_what_is_in_a_frame_that_is_out_of_view(
    tab: Tab, server: PageServer
) -> None:
    tell = "onclick='this.textContent = event.isTrusted'"
    inner = f"<p style='height:3000px'></p><button id=go {tell}>Go</button>"
    frame = f'<iframe style="height:200px;border:9px solid" srcdoc="{inner}"></iframe>'
    await show(tab, server, f'<p style="height:3000px"></p>{frame}')
    await click(tab, by_css("#go"))
    assert await said_in_frame(tab, "#go") == "true"


async def test_typing_reaches_a_field_in_a_frame(tab: Tab, server: PageServer) -> None:
    await show(tab, server, "<input id=a autofocus><iframe srcdoc='<input id=b>'></iframe>")
    field = await found(tab, by_css("#b"))
    ready = await tab.call("ready", field.exact, within_ms=PATIENT)
    assert ready["how"] == "typed"
    await tab.insert("rope", within_ms=PATIENT)
    assert await tab.ask("holds", "rope", within_ms=PATIENT)


async def test_an_element_of_a_frame_that_went_on_is_gone(tab: Tab, server: PageServer) -> None:
    first = server.show('<a id=go href="/another">Go</a>')
    await show(tab, server, f'<iframe src="{first}"></iframe>')
    element = await found(tab, by_css("#go"))
    await click(tab, by_css("#go"))
    await found(tab, {"by": "text", "text": "Another"})
    await tab.call("resolve", [by_css("#go")], 0, within_ms=PATIENT)
    assert (await check(tab, element))["code"] == "ref_invalid"


@pytest.mark.parametrize(
    ("html", "way"),
    [
        ("<label><input type=checkbox id=go style='width:0;height:0'>Yes</label>", "#go"),
        ("<input type=checkbox id=go style='display:none'><label for=go>Yes</label>", "#go"),
        (
            "<label style='position:relative'><input type=checkbox id=go style='position:absolute;"
            "clip:rect(0 0 0 0);width:1px;height:1px'><span>Yes</span></label>",
            "#go",
        ),
        ("<input type=checkbox id=go><label for=go id=label>Yes</label>", "#label"),
        ("<label><a href=/another>Terms</a> Yes <input type=checkbox id=go hidden></label>", "#go"),
    ],
    ids=["no size", "not shown", "clipped", "by its label", "beside a link"],
)
async def test_a_box_that_is_drawn_by_its_label_is_ticked_there(
    tab: Tab, server: PageServer, html: str, way: str
) -> None:
    await show(tab, server, f"<body onchange=\"document.title = 'ticked'\">{html}")
    assert await click(tab, by_css(way)) == ""
    assert await title(tab) == "ticked"


async def test_an_element_that_is_partly_covered_is_clicked_beside_the_cover(
    tab: Tab, server: PageServer
) -> None:
    cover = '<p style="position:fixed;left:0;top:0;width:250px;height:300px">Cookies?</p>'
    button = "<button id=go style='width:400px' onclick=\"document.title = 'clicked'\">Go</button>"
    await show(tab, server, button + cover)
    await click(tab, by_css("#go"))
    assert await title(tab) == "clicked"


@pytest.mark.parametrize(
    ("html", "said"),
    [
        ('<p style="position:fixed;inset:0;margin:0">Cookies?', '"Cookies?"'),
        (
            '<div role=dialog aria-label="Cookies" style="position:fixed;inset:0">Yes?',
            'the dialog "Cookies" is open: "Yes?"',
        ),
        (
            '<dialog id=d><h2>Really?</h2></dialog><style>dialog{padding:0}</style>'
            "<script>d.showModal()</script>",
            'the dialog "Really?" is open: "Really?"',
        ),
    ],
    ids=["a cover", "a dialog", "a modal dialog"],
)  # fmt: skip
async def test_what_covers_an_element_is_named(
    tab: Tab, server: PageServer, html: str, said: str
) -> None:
    await show(tab, server, f"<button id=go>Go</button>{html}")
    refused = await check(tab, await found(tab, by_css("#go")))
    assert refused["code"] == "element_obscured"
    assert refused["message"].startswith(said)


async def test_nothing_is_typed_behind_a_modal_dialog(tab: Tab, server: PageServer) -> None:
    dialog = "<dialog id=d aria-label=Session><input id=b autofocus></dialog>"
    await show(tab, server, f"<input id=a>{dialog}<script>d.showModal()</script>")
    field = await found(tab, by_css("#a"))
    refused = await tab.call("ready", field.exact, within_ms=PATIENT)
    assert refused == {
        "code": "element_obscured",
        "message": 'the dialog "Session" is open',
        "dialog": "Session",
    }


@pytest.mark.parametrize(
    ("html", "code"),
    [
        ("<fieldset disabled><button id=go>Go</button></fieldset>", "element_disabled"),
        ("<button disabled><b id=go>Go</b></button>", "element_disabled"),
        ("<div aria-disabled=true><button id=go>Go</button></div>", "element_disabled"),
        ("<div inert><button id=go>Go</button></div>", "element_disabled"),
        ("<fieldset disabled><legend><button id=go>Go</button></legend></fieldset>", None),
        ("<fieldset disabled><a id=go href=/another>Go</a></fieldset>", None),
        ("<button id=go style='pointer-events:none'>Go</button>", "element_obscured"),
        ("<button><b id=go style='pointer-events:none'>Go</b></button>", None),
        ("<div id=go><button>A</button><button>B</button></div>", "element_obscured"),
        ("<div id=go><a style='font-size:16px' href=/another>A</a></div>", None),
    ],
)
async def test_only_what_a_person_could_click_is_clicked(
    tab: Tab, server: PageServer, html: str, code: str | None
) -> None:
    tight = "<style>div{display:inline-block;font-size:0}</style>"
    await show(tab, server, tight + html)
    answer = await check(tab, await found(tab, by_css("#go")))
    assert answer.get("code") == code


async def test_an_element_that_moves_is_clicked_when_it_rests(tab: Tab, server: PageServer) -> None:
    slide = """<style>
      button { position: absolute; left: 0; animation: slide 200ms linear forwards }
      @keyframes slide { to { left: 900px } }
    </style><button id=go onclick="document.title = 'clicked'">Go</button>"""
    await show(tab, server, slide)
    assert await click(tab, by_css("#go")) == ""
    assert await title(tab) == "clicked"


@pytest.mark.parametrize(
    "html",
    [
        "<div onmouseover=\"go.remove()\"><button id=go>Go</button>{under}</div>",
        "<button id=go onmousemove=\"this.style.display = 'none'\">Go</button>{under}",
        "<button id=go onpointerenter=\"cover.style.display = 'block'\">Go</button>{under}"
        "<p id=cover style='position:fixed;inset:0;margin:0;display:none'>Cover</p>",
    ],
    ids=["removed", "hidden", "covered"],
)  # fmt: skip
async def test_nothing_else_is_clicked_when_the_element_goes_away_as_it_is_pointed_at(
    tab: Tab, server: PageServer, html: str
) -> None:
    heard = ["onpointerdown", "onmousedown", "onpointerup", "onmouseup", "onclick"]
    wrong = " ".join(f"{name}=\"document.title = 'wrong'\"" for name in heard)
    under = f"<button {wrong} style='position:absolute;inset:0;z-index:-1'>Delete</button>"
    await show(tab, server, html.format(under=under))
    assert await click(tab, by_css("#go")) != ""
    assert await title(tab) == ""


# -- large pages -----------------------------------------------------------------------------------


async def test_an_element_among_100_000_is_found_within_the_limit(
    tab: Tab, server: PageServer
) -> None:
    script = """<script>
      const list = document.body.appendChild(document.createElement("ul"));
      list.hidden = true; // laid out, it would take the browser longer than us
      for (let i = 0; i < 100000; i++) list.appendChild(document.createElement("li"));
      document.body.append(document.createElement("my-button"));
      document.body.lastChild.attachShadow({mode: "open"}).innerHTML = "<button id=go>Go</button>";
    </script>"""
    await show(tab, server, f"<body>{script}")
    assert (await found(tab, by_css("#go"))).text.text == "Go"
