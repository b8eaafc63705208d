"""What an element shows in place of words, and what it sends, as the page's own script tells it."""

import msgspec
import pytest

from rutter.actors.rules.policy.risky_words import icon_words, said_by
from rutter.actors.world.browser.tab import Tab
from rutter.events.page import Resolved
from tests.support import browser_fixtures
from tests.support.browser_fixtures import show
from tests.support.page_server import PATIENT, PageServer

pytestmark = [pytest.mark.browser, pytest.mark.anyio]
window = browser_fixtures.one_window

SECOND = 1_000
# How each button is drawn, and a word by which it is known for it.
RISKY = {
    '<button><i class="fas fa-trash-alt"></i></button>': "trash",
    '<button class="btn icon-delete"></button>': "delete",
    '<button class="ui-remove round"></button>': "remove",
    '<button><svg data-icon="credit-card"><path d=""/></svg></button>': "credit card",
    '<button><svg><use href="/sprite.svg#icon-trash"></use></svg></button>': "trash",
    "<button aria-label=x><svg><title>Send</title></svg></button>": "send",
    '<button><img src="/i/paper-plane.svg?v=2" alt=""></button>': "paper plane",
    '<button><img src="/i/7.png" alt="Trash"></button>': "trash",
    '<button aria-label="More" title="Delete"></button>': "delete",
    '<button style="background-image:url(/i/trash_can.png)"></button>': "trash",
    '<button><span class="material-icons">delete</span></button>': "delete",
    '<button class="b4"></button><style>.b4::before{content:"\N{WASTEBASKET}"}</style>': (
        "\N{WASTEBASKET}"
    ),
    "<button>\N{CREDIT CARD} now</button>": "\N{CREDIT CARD}",
    '<div role=button tabindex=0><ion-icon name="trash-outline"></ion-icon></div>': "trash",
    '<a href="#x"><span class="bi bi-box-arrow-right"></span></a>': "box arrow right",
}
HARMLESS = [
    '<button class="btn btn-block d-block"><i class="fa fa-search"></i></button>',
    '<button class="nav-link is-active">Next</button>',
    '<button><img src="/i/logo.png" alt="Harbour"></button>',
    '<a href="#y"><svg><use href="#chevron-right"></use></svg></a>',
    '<div role=button tabindex=0><ion-icon name="menu"></ion-icon></div>',
]


async def described(tab: Tab, selector: str, key: str | None = None) -> Resolved:
    ways = [{"by": "css", "selector": selector}]
    found = await tab.call("resolve", ways, SECOND, key, within_ms=PATIENT)
    assert found["element"] is not None, (selector, found)
    return msgspec.convert(found["element"], Resolved)


async def test_icons_are_told_by_their_names(tab: Tab, server: PageServer) -> None:
    style = "<style>button, a, [role] { display: block; min-width: 20px; min-height: 20px }</style>"
    boxes = [f"<section id=p{i}>{html}</section>" for i, html in enumerate([*RISKY, *HARMLESS])]
    await show(tab, server, style + "".join(boxes))
    told = [await described(tab, f"#p{i} > :is(button, a, div)") for i in range(len(boxes))]
    risky = dict(zip(RISKY, told, strict=False))
    assert {html: said_by(each.icon.text, icon_words()) for html, each in risky.items()} == RISKY
    harmless = [said_by(each.icon.text, icon_words()) for each in told[len(RISKY) :]]
    assert harmless == [""] * len(HARMLESS)


async def test_another_icon_is_another_element_but_stands_for_what_was_approved(
    tab: Tab, server: PageServer
) -> None:
    many = "".join(f"<i class=icon-{i}>{i}</i>" for i in range(300))
    await show(tab, server, f"<button id=a>Go<i class=icon-star></i></button><p id=b>{many}</p>")
    before = await described(tab, "#a")
    await tab.page.evaluate("a.querySelector('i').className = 'icon-trash'")
    after = await described(tab, "#a")
    assert (after.digest, after.name) == (before.digest, before.name)
    assert after.exact != before.exact
    await tab.page.evaluate("a.classList.add('is-hover', 'focus-visible')")
    assert (await described(tab, "#a")).exact == after.exact
    assert 0 < len((await described(tab, "#b")).icon.text) <= 200


async def test_what_is_sent_is_told_wherever_the_button_is(tab: Tab, server: PageServer) -> None:
    await show(
        tab,
        server,
        """<form id=f method=post action=/save><input id=field><label id=l for=s>Keep</label>
        <button id=s>Save</button><button id=o formaction=/other formmethod=get>Other</button>
        <button id=p type=button>Plain</button><button id=r type=reset>Undo</button></form>
        <button id=far form=f>Far</button>
        <dialog open><form method=dialog><button id=d>Done</button></form></dialog>
        <div id=role role=button tabindex=0>Act</div><a id=js href="javascript:void 0">Script</a>
        <object id=obj data="/another" width=50 height=50 tabindex=0></object>""",
    )
    sent = {
        name: await described(tab, f"#{name}")
        for name in ("s", "l", "o", "p", "r", "far", "d", "role", "js", "field")
    }
    told = {
        name: (each.submits, each.form_method, each.form_action.rpartition("/")[2])
        for name, each in sent.items()
        if each.submits
    }
    assert told == {
        "s": (True, "post", "save"),
        "l": (True, "post", "save"),
        "o": (True, "get", "other"),
        "far": (True, "post", "save"),
    }
    assert sent["js"].href == "javascript:"
    assert (await described(tab, "#field", "Enter")).submits
    assert (await described(tab, "#obj", "Enter")).submits
    assert not (await described(tab, "#field", "a")).submits


async def test_enter_in_a_field_is_told_as_the_button_that_it_clicks(
    tab: Tab, server: PageServer
) -> None:
    own = "formaction=/pay formmethod=post"
    forms = {
        "plain": "<form action=/find><input><button>Find it</button></form>",
        "own": f"<form action=/find><input><button type=button>No</button><button {own}>Pay now"
        "</button><button>Find it</button></form>",
        "drawn": f"<form><input><input type=image alt='Buy all' {own}><button>Find</button></form>",
        "beside": f"<button form=f {own}><i class=icon-trash></i></button>"
        "<form id=f action=/find><input><button>Find it</button></form>",
        "off": f"<form action=/find><input><button disabled {own}>Pay</button><button>Find it"
        "</button></form>",
        "box": f"<form action=/find><input type=checkbox><button disabled>Find it</button>"
        f"<button {own}>Pay</button></form>",
        "list": f"<form action=/find><select size=2></select><button {own}>Pay</button></form>",
        "two": "<form action=/find><input><input class=o></form>",
        "one": "<form action=/find method=post><input></form>",
        "closing": "<form method=dialog><input><button formmethod=post>Pay</button></form>",
        "closed": "<form action=/find><input><button formmethod=dialog>Close</button></form>",
    }
    await show(
        tab, server, "".join(f"<section id={name}>{html}</section>" for name, html in forms.items())
    )
    field = "#{} :is(input:not([type=image], .o), select)"
    told = {name: await described(tab, field.format(name), "Enter") for name in forms}
    assert {
        name: (each.submits, each.form_method, each.form_action.rpartition("/")[2], each.icon.text)
        for name, each in told.items()
        if name not in ("closing", "closed")
    } == {
        "plain": (True, "get", "find", "Find it"),
        "own": (True, "post", "pay", "Pay now"),
        "drawn": (True, "post", "pay", "Buy all"),
        "beside": (True, "post", "pay", "icon-trash"),
        "off": (False, "get", "find", ""),
        "box": (True, "post", "pay", "Pay"),
        "list": (True, "post", "pay", "Pay"),
        "two": (False, "get", "find", ""),
        "one": (True, "post", "find", ""),
    }
    assert [told[name].submits for name in ("closing", "closed")] == [True, False]

    at_rest = {name: await described(tab, field.format(name)) for name in ("plain", "own")}
    assert at_rest["plain"].digest == told["plain"].digest
    assert at_rest["own"].digest != told["own"].digest
    assert (at_rest["own"].form_method, at_rest["own"].icon.text) == ("get", "")
    await tab.page.evaluate("document.querySelector('#plain button').textContent = 'Pay'")
    renamed = await described(tab, field.format("plain"), "Enter")
    assert (renamed.icon.text, renamed.digest) == ("Pay", told["plain"].digest)
    assert renamed.exact != told["plain"].exact
    await tab.page.evaluate("document.querySelector('#plain button').formAction = '/pay'")
    assert (await described(tab, field.format("plain"), "Enter")).digest != renamed.digest


async def test_a_key_on_a_list_that_acts_on_its_choice_sends_the_form(
    tab: Tab, server: PageServer
) -> None:
    options = "<option>Small<option>Large"
    await show(
        tab,
        server,
        f"""<form action=/another><select id=sends onchange=form.submit()>{options}</select>
        <select id=waits>{options}</select></form>""",
    )
    keys = ["ArrowDown", "L", "Shift+End", "Enter", "Tab", "Shift+Tab", "Escape", "Shift"]
    told = {key: (await described(tab, "#sends", key)).submits for key in keys}
    assert told == {key: at < 4 for at, key in enumerate(keys)}
    assert not (await described(tab, "#waits", "ArrowDown")).submits
    await tab.page.focus("#sends")
    await tab.page.keyboard.press("ArrowDown")
    await tab.page.wait_for_url("**/another*")


async def test_a_form_that_says_neither_where_nor_how_is_sent_in_a_way_that_is_not_known(
    tab: Tab, server: PageServer
) -> None:
    unknown = [
        "<form><input name=amount>{}</form>",
        "<form action=''><textarea name=message></textarea>{}</form>",
        "<form action='#'><input name=q><input name=email>{}</form>",
        "<form action='javascript:void 0'>{}</form>",
    ]
    plain = [
        "<form action=/find><input name=amount>{}</form>",
        "<form method=get><input name=amount>{}</form>",
        "<form role=search><input name=words><select></select>{}</form>",
        "<search><form><input name=words>{}</form></search>",
        "<form><input type=search><input type=hidden name=lang>{}</form>",
        "<form><input role=searchbox>{}</form>",
        "<form><input name=q>{}</form>",
        "<form><input name=amount>{}</form>".replace("{}", "<button formaction=/find>Go</button>"),
    ]
    button = "<button>Go</button>"
    forms = [form.replace("{}", button) for form in [*unknown, *plain]]
    await show(tab, server, "".join(f"<p id=p{i}></p>" for i in range(len(forms))))
    await tab.page.evaluate(
        "(forms) => forms.forEach((form, i) => window['p' + i].innerHTML = form)", forms
    )
    told = [await described(tab, f"#p{i} button") for i in range(len(forms))]
    assert [each.form_method for each in told] == ["unknown"] * len(unknown) + ["get"] * len(plain)
    assert all(each.submits for each in told)
    # What was approved while it counted as a plain one is still the same.
    await tab.page.evaluate("document.querySelector('#p0 form').method = 'get'")
    written = await described(tab, "#p0 button")
    assert (written.form_method, written.digest) == ("get", told[0].digest)
    assert written.exact != told[0].exact


async def test_a_label_is_of_the_kind_of_its_control(tab: Tab, server: PageServer) -> None:
    await show(
        tab,
        server,
        """<label id=a><input type=checkbox>Terms</label><label id=b for=r>Fast</label>
        <input type=radio id=r><label id=c for=s>Size</label><select id=s></select>
        <label id=d for=go>Go</label><button id=go>Pay</button><label id=e>Nothing</label>""",
    )
    told = {name: await described(tab, f"#{name}") for name in "abcde"}
    assert {each.tag for each in told.values()} == {"label"}
    kinds = ["checkbox", "radio", "select-one", "submit", ""]
    assert [each.kind for each in told.values()] == kinds
