"""The snapshot bench holds one look at a page, and reading its text, against Playwright's aria
snapshot of it."""

import asyncio
import tempfile
from collections.abc import Awaitable, Callable
from pathlib import Path
from time import perf_counter_ns
from typing import Any, NamedTuple

import msgspec
from playwright.async_api import Page as PlaywrightPage

from bench.flow import shared_browser
from bench.spans import ms
from bench.tables import Cell, middle, print_table
from rutter.actors.rules.pages.text_form import MAX_TOKENS, estimate_tokens, text_of
from rutter.actors.world.browser.tab import Tab
from rutter.events.page import Page
from rutter.pipeline.tools.snapshot import snapshot_of

AIM_TIME, AIM_SIZE = 0.25, 0.5
AIM_OVER_MS = 50  # that a page of text may take over a look
MAX_ELEMENTS = 100
WITHIN_MS = 60_000
OPERABLE = "a[href],button,input,select,textarea,summary"
IN_VIEW = """(operable) => {
  const seen = (el) => {
    const box = el.getBoundingClientRect();
    return el.checkVisibility({ visibilityProperty: true }) && box.width > 0 && box.height > 0
      && box.x < innerWidth && box.y < innerHeight && box.right > 0 && box.bottom > 0;
  };
  return {
    seen: [...document.querySelectorAll(operable)].filter(seen).length,
    nodes: document.evaluate("count(//node())", document, null, 1).numberValue,
    elements: document.querySelectorAll("*").length,
  };
}"""


class Look(NamedTuple):
    """A look saw one page from both sides. Times in ms, medians. `pages` are its text."""

    name: str
    counted: dict[str, int]
    page: Page
    took: dict[str, float]
    theirs: dict[str, str]
    pages: list[str]


def form() -> str:
    """A checkout as shops have them: labels, hints, a list of countries, choices."""
    fields = "".join(
        f'<div class=field><label for=f{n}>{name}</label><input id=f{n} name=f{n} value="{value}">'
        f"<p class=hint>{hint}</p></div>"
        for n, (name, value, hint) in enumerate(
            [
                ("First name", "Ann", "As it is in your passport."),
                ("Last name", "Berger", "As it is in your passport."),
                ("E-mail", "", "We send the invoice there and nothing else."),
                ("Phone", "", "Only for the driver, in case nobody answers the door."),
                ("Street and number", "", "No post boxes, please."),
                ("Postal code", "", "Five digits."),
                ("City", "", "The city that the parcel goes to."),
            ]
        )
    )
    countries = "".join(f"<option>Country number {n}</option>" for n in range(40))
    choices = "".join(
        f"<label><input type=radio name=way> {way}</label><p>{about}</p>"
        for way, about in [
            ("Standard", "Three to five days, by the post."),
            ("Express", "The next day if you order before noon."),
            ("Pick up", "From our shop in the harbour, on any day but Sunday."),
        ]
    )
    return f"""<header><a href=/>Chandlery</a>
        <nav><a href=/shop>Shop</a> <a href=/help>Help</a></nav></header>
        <main><h1>Delivery</h1><p>Where shall we send it? You can change this until it is
        packed.</p><form>{fields}<label for=c>Country</label><select id=c>{countries}</select>
        <fieldset><legend>How</legend>{choices}</fieldset>
        <label><input type=checkbox> The invoice goes to the same address</label>
        <p>By going on you accept our <a href=/terms>terms</a>.</p>
        <button>Go on to payment</button> <button type=button>Back to the basket</button></form>
        </main>"""


def table() -> str:
    rows = "".join(
        f"<tr><td><input type=checkbox aria-label='Select order {1000 + n}'></td>"
        f"<td><a href=/orders/{n}>{1000 + n}</a></td><td>Customer number {n} Limited</td>"
        f"<td>2026-03-{n % 28 + 1:02}</td><td>{n * 37}.50 EUR</td><td>in transit</td>"
        f"<td><button>Edit</button> <button aria-label='Delete order {1000 + n}'>x</button></td>"
        for n in range(100)
    )
    head = "".join(
        f"<th><button>{name}</button></th>"
        for name in ("All", "Number", "Customer", "Date", "Amount", "State", "Actions")
    )
    return f"""<nav><a href=/>Home</a> <a href=/orders>Orders</a> <a href=/people>People</a></nav>
        <h1>Orders</h1><input type=search placeholder='Find an order'><button>New order</button>
        <table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"""


def documentation() -> str:
    """About 16,000 nodes of prose, code and links."""
    contents = "".join(f"<li><a href=#s{n}>Section {n} of the guide</a></li>" for n in range(300))
    sections = "".join(
        f"<h2 id=s{n}>Section {n} of the guide</h2><p>The <code>option_{n}</code> decides how often"
        f" the <b>log</b> is written; see <a href=#s{n // 2}>section {n // 2}</a> for why.</p>"
        f"<ul><li>It is read once.</li><li>It may be <em>left out</em>.</li></ul>"
        f"<pre><span>option_{n}</span> = <span>{n}</span></pre><p>Since <i>version</i> {n}.</p>"
        for n in range(470)
    )
    return f"<nav><ul>{contents}</ul></nav><main><h1>Guide</h1>{sections}</main>"


def huge() -> str:
    """200,000 elements."""
    items = "".join(
        f"<div class=item><span>Item {n}</span><a href=#i{n}>Open {n}</a></div>"
        for n in range(66_660)
    )
    return f"<h1>Everything</h1><main>{items}</main><footer><button>Load more</button></footer>"


PAGES: dict[str, tuple[Callable[[], str], int]] = {
    "a form": (form, 40),
    "an admin table of 100 rows": (table, 15),
    "a long documentation page": (documentation, 7),
    "200,000 elements": (huge, 1),
}


async def timed(call: Callable[[], Awaitable[Any]]) -> tuple[float, Any]:
    began_ns = perf_counter_ns()
    answer = await call()
    return ms(perf_counter_ns() - began_ns), answer


async def compare(name: str, url: str, times: int, tab: Tab, plain: PlaywrightPage) -> Look:
    await tab.navigate(url, within_ms=WITHIN_MS)
    await plain.goto(url, timeout=WITHIN_MS)
    counted = await plain.evaluate(IN_VIEW, OPERABLE)
    body = plain.locator("body")
    looks: dict[str, Callable[[], Awaitable[Any]]] = {
        "trip": lambda: tab.call("sync", within_ms=WITHIN_MS),
        "ours": lambda: tab.call("observe", within_ms=WITHIN_MS),
        "read": lambda: tab.call("readPage", "", 1, within_ms=WITHIN_MS),
        "aria": lambda: body.aria_snapshot(timeout=WITHIN_MS),
        "refs": lambda: body.aria_snapshot(timeout=WITHIN_MS, mode="ai"),
    }
    took: dict[str, list[float]] = {side: [] for side in looks}
    last: dict[str, Any] = {}
    for each in range(times + 1):
        for side, look in looks.items():
            spent, last[side] = await timed(look)
            if each or times == 1:  # the first lays the page out for whoever comes first
                took[side].append(spent)
    page = msgspec.convert(last.pop("ours"), Page)
    del last["trip"]
    first = last.pop("read")
    pages = [first["text"]]
    for number in range(2, first["pages"] + 1):
        more = await tab.call("readPage", "", number, within_ms=WITHIN_MS)
        pages.append(more.get("text", ""))  # a page that is cut by time has more or less of them
    medians = {side: middle(all_) for side, all_ in took.items()}
    return Look(name, counted, page, medians, last, pages)


async def measure() -> list[Look]:
    looks = []
    async with shared_browser() as browser:
        tab = (await browser.open_window()).tab
        plain = await (await browser.new_context()).new_page()
        with tempfile.TemporaryDirectory() as directory:
            for name, (build, times) in PAGES.items():
                file = Path(directory, "page.html")
                file.write_text(
                    f"<!doctype html><meta charset=utf-8><title>{name}</title>{build()}"
                )
                looks.append(await compare(name, file.as_uri(), times, tab, plain))
        await tab.close()
    return looks


def time_row(look: Look) -> list[Cell]:
    trip, ours, aria, refs = (look.took[side] for side in ("trip", "ours", "aria", "refs"))
    mark = "yes" if look.page.truncated else "no"
    counts = (look.counted["elements"], look.counted["nodes"])
    return [look.name, *counts, trip, ours, aria, ours / aria, refs, ours / refs, mark]


def size_row(look: Look) -> list[Cell]:
    text = text_of(look.page)
    sizes = {side: len(said) for side, said in look.theirs.items()}
    answer = snapshot_of(look.page, session="bench", n=0, at_ns=0)
    tokens = estimate_tokens(look.theirs["refs"])
    return [
        look.name,
        len(text.text),
        len(text.text) / sizes["aria"],
        len(text.text) / sizes["refs"],
        len(text.text) / len(msgspec.json.encode(answer)),
        text.tokens,
        text.tokens / tokens,
    ]


def read_row(look: Look) -> list[Cell]:
    read, ours, aria = (look.took[side] for side in ("read", "ours", "aria"))
    tokens = list(map(estimate_tokens, look.pages))
    theirs = estimate_tokens(look.theirs["aria"])
    sizes = (len(tokens), max(tokens), sum(tokens) / theirs)
    return [look.name, ours, read, read - ours, aria, read / aria, *sizes]


def kept_row(look: Look) -> list[Cell]:
    """Of what can be operated in view: there, in the observation, and in the text form."""
    tags = set(OPERABLE.replace("[href]", "").split(","))
    in_view = [
        f"@e{ref} "
        for ref, element in enumerate(look.page.elements)
        if element.tag in tags and not {"offscreen", "hidden"} & set(element.state)
    ]
    lines = {line.lstrip().split(" ")[0] + " " for line in text_of(look.page).text.splitlines()}
    return [look.name, look.counted["seen"], len(in_view), len(lines.intersection(in_view))]


def main() -> None:
    looks = asyncio.run(measure())
    print_table(
        f"one look, ms, medians (aim: at most {AIM_TIME} of Playwright's)",
        ["page", "elements", "nodes", "bare trip", "ours", "aria", "ratio", "refs", "ratio", "cut"],
        [time_row(look) for look in looks],
    )
    print_table(
        f"the text form (aim: at most {AIM_SIZE} of Playwright's; {MAX_TOKENS:,} tokens)",
        ["page", "characters", "of aria", "of refs", "of our JSON", "tokens", "of refs'"],
        [size_row(look) for look in looks],
    )
    print_table(
        f"a page of its text, ms (aim: at most {AIM_OVER_MS} over a look; {MAX_TOKENS:,} tokens)",
        ["page", "a look", "read", "over it", "aria", "ratio", "pages", "most tokens", "of aria's"],
        [read_row(look) for look in looks],
    )
    print_table(
        f"operable elements in view (at most {MAX_ELEMENTS} are kept)",
        ["page", "in view", "observed", "in the text"],
        [kept_row(look) for look in looks],
    )


if __name__ == "__main__":
    main()
