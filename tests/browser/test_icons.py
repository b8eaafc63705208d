"""What an element shows in place of words, and what it sends, as the page's own script tells it."""

import msgspec
import pytest

from actors.browser.tab import Tab
from actors.risky_words import ICONS, said_by
from events.page import Resolved
from tests.browser.page_server import PageServer

pytestmark = [pytest.mark.browser, pytest.mark.anyio]

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
    found = await tab.call("resolve", ways, SECOND, key, within_ms=2 * SECOND)
    assert found["element"] is not None, (selector, found)
    return msgspec.convert(found["element"], Resolved)


async def show(tab: Tab, server: PageServer, html: str) -> None:
    await tab.navigate(server.show(html), within_ms=5 * SECOND)


async def test_icons_are_told_by_their_names(tab: Tab, server: PageServer) -> None:
    style = "<style>button, a, [role] { display: block; min-width: 20px; min-height: 20px }</style>"
    boxes = [f"<section id=p{i}>{html}</section>" for i, html in enumerate([*RISKY, *HARMLESS])]
    await show(tab, server, style + "".join(boxes))
    told = [await described(tab, f"#p{i} > :is(button, a, div)") for i in range(len(boxes))]
    risky = dict(zip(RISKY, told, strict=False))
    assert {html: said_by(each.icon.text, ICONS) for html, each in risky.items()} == RISKY
    assert [said_by(each.icon.text, ICONS) for each in told[len(RISKY) :]] == [""] * len(HARMLESS)


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
