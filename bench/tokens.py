"""The tokens bench counts what a model reads: of a page in our text form and others, and in talk.

All by our own estimate (`rutter.actors.rules.pages.text_form.estimate_tokens`), which is rather too
high; pictures are the same in every form and are left out.
"""

import asyncio
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import msgspec

from bench.flow import CUSTOMER, shared_browser
from bench.plain import by_test_id
from bench.tables import Cell, print_table
from rutter.actors.advisor.conversation import (
    CallExchange,
    NewestPage,
    Task,
    converse,
    page_told,
    thought_of,
    turn_tokens,
)
from rutter.actors.advisor.tool_specs import specs_tokens, tool_specs
from rutter.actors.rules.pages.text_form import estimate_tokens, line_of, text_of
from rutter.actors.rules.tools.tool_table import SEVEN
from rutter.actors.world.browser.tab import Tab
from rutter.actors.world.models.messages import ModelCall
from rutter.events.page import Page
from rutter.events.tools import ToolAnswered
from rutter.pipeline.demo_sites.chandlery import Site
from rutter.pipeline.demo_sites.sign_ins import DEFAULT_PASSWORD, USER
from rutter.pipeline.tools.snapshot import snapshot_of

WITHIN_MS = 10_000
NONCE = "0123456789abcdef01234567"
GOAL = f"Order 3 mooring ropes for {CUSTOMER}, to be delivered on 20 March 2026"
# What a million tokens cost in parts of fresh input, as providers that keep prompts price it.
FRESH, KEPT, READ = 1.0, 1.25, 0.1
DOLLARS = 3.0  # for a million fresh ones
LIMIT = 10_000  # S3 2.1.1, of a conversation

Do = Callable[[Any], Any]
STEPS: Sequence[tuple[str, dict[str, str], Do]] = (
    (
        "browser_fill",
        {"value": "${password}"},
        lambda on: on.fill(by_test_id("login-password"), DEFAULT_PASSWORD),
    ),
    ("browser_click", {}, lambda on: on.click(by_test_id("login-submit"))),
    ("browser_click", {}, lambda on: on.click(by_test_id("nav-customers"))),
    (
        "browser_fill",
        {"value": CUSTOMER},
        lambda on: on.fill(by_test_id("customer-search"), CUSTOMER),
    ),
    ("browser_click", {}, lambda on: on.press(by_test_id("customer-search"), "Enter")),
    ("browser_click", {}, lambda on: on.click(by_test_id("customer-link"))),
    ("browser_click", {}, lambda on: on.click(by_test_id("new-order"))),
    (
        "browser_select",
        {"value": "Mooring rope"},
        lambda on: on.select_option(by_test_id("order-product"), "mooring-rope"),
    ),
    ("browser_fill", {"value": "3"}, lambda on: on.fill(by_test_id("order-quantity"), "3")),
    (
        "browser_fill",
        {"value": "2026-03-20"},
        lambda on: on.fill(by_test_id("order-delivery"), "2026-03-20"),
    ),
    (
        "browser_fill",
        {"value": "Waalhaven pier 7"},
        lambda on: on.fill(by_test_id("order-berth"), "Waalhaven pier 7"),
    ),
    ("browser_click", {}, lambda on: on.click(by_test_id("review-order"))),
)


def answered(number: int) -> tuple[str, dict[str, str], Do]:
    text = f"Answer {number}"
    return "browser_fill", {"value": text}, lambda on: on.fill(f"#q{number}", text)


# The same number of steps on one page that is much larger: a form below a table.
FIELDS: Sequence[tuple[str, dict[str, str], Do]] = tuple(map(answered, range(12)))


class Look(NamedTuple):
    """A look is one page of the run, in every form."""

    page: Page
    aria: str
    refs: str


class Turn(NamedTuple):
    """A turn sends tokens that the provider has kept, that it keeps from now on, and that are told
    once."""

    kept: int
    written: int
    fresh: int


def crowded() -> str:
    """Twelve questions on a page with sixty links: all of them in view."""
    links = "".join(f"<a href=#{n}>Paragraph {n} of the rules</a> " for n in range(60))
    fields = "".join(f"<label>Question {n} <input id=q{n}></label> " for n in range(12))
    return f"<title>Survey</title><h1>Survey</h1><nav>{links}</nav><form>{fields}</form>"


async def walk() -> tuple[list[Look], list[Look]]:
    """The pages of both tasks, each as a model would be shown it."""
    with Site() as site:
        async with shared_browser() as browser:
            window = await browser.open_window()
            tab = window.tab
            await tab.navigate(f"{site.base_url}/login", within_ms=WITHIN_MS)
            await tab._page.fill(by_test_id("login-user"), USER)
            order = await looks_of(tab, STEPS)
            await tab._page.set_content(crowded())
            survey = await looks_of(tab, FIELDS)
            await window.close()
    return order, survey


async def looks_of(tab: Tab, steps: Sequence[tuple[str, dict[str, str], Do]]) -> list[Look]:
    looks = [await look_at(tab)]
    for _, _, do in steps:
        await do(tab._page)
        await tab._page.wait_for_load_state("domcontentloaded")
        looks.append(await look_at(tab))
    return looks


async def look_at(tab: Tab) -> Look:
    how = {"viewportOnly": True, "marks": True}
    page = msgspec.convert(await tab.call("observe", how, within_ms=WITHIN_MS), Page)
    body = tab._page.locator("body")
    return Look(page, await body.aria_snapshot(), await body.aria_snapshot(mode="ai"))


# -- one page ------------------------------------------------------------------------------------


def page_row(look: Look) -> list[Cell]:
    ours = text_of(look.page).tokens
    answer = msgspec.to_builtins(snapshot_of(look.page, session="bench", n=0, at_ns=0))
    del answer["screenshot"]
    theirs = [look.aria, look.refs, msgspec.json.encode(answer).decode()]
    row: list[Cell] = [look.page.title.text.partition(" ")[0], ours]
    for text in theirs:
        tokens = estimate_tokens(text)
        row += [tokens, ours / tokens]
    return row


def distinct(looks: Sequence[Look]) -> list[Look]:
    return list({look.page.url.rpartition(":")[2]: look for look in looks}.values())


# -- a conversation ------------------------------------------------------------------------------


def exchange(number: int) -> CallExchange:
    tool, given, _ = STEPS[number]
    arguments = msgspec.json.encode({"ref": f"@e{number}", **given}).decode()
    text = "The field is there; I go on with the next one."
    thought = thought_of(text, [ModelCall("", tool, arguments)], number + 1)
    return CallExchange(thought, thought, ToolAnswered("a", True), NONCE)


def delta(before: Page, after: Page) -> str:
    """The lines that are not what they were, by their refs; all of them where that is shorter."""
    old = [line_of(ref, element) for ref, element in enumerate(before.elements)]
    new = [line_of(ref, element) for ref, element in enumerate(after.elements)]
    told = [line for ref, line in enumerate(new) if ref >= len(old) or old[ref] != line]
    if len(old) > len(new):
        told.append(f"gone: @e{len(new)} to @e{len(old) - 1}")
    head = "" if before.url == after.url else f"address: {after.url}\n"
    return f"What changed:\n{head}" + "\n".join(told)


def told(looks: Sequence[Look]) -> tuple[list[int], list[int], list[int]]:
    """By turn: what was said but for pages; a whole page; and what of it changed."""
    task, said = Task(GOAL), []
    whole = [estimate_tokens(page_told(NewestPage(look.page), NONCE)) for look in looks]
    changed = whole[:1]
    for number in range(len(looks)):
        talk = converse(task, [exchange(n) for n in range(number)], None, note="", nonce=NONCE)
        said.append(talk.tokens)
        if number:
            tokens = estimate_tokens(delta(looks[number - 1].page, looks[number].page))
            changed.append(min(whole[number], tokens))
    return said, whole, changed


def ways(looks: Sequence[Look]) -> dict[str, list[Turn]]:
    said, whole, changed = told(looks)
    tools = specs_tokens(tool_specs([tool.name for tool in SEVEN]))

    def newest() -> list[Turn]:
        before = [0, *(tools + each for each in said)]
        return [
            Turn(before[number], tools + said[number] - before[number], page)
            for number, page in enumerate(whole)
        ]

    def growing(pages: Sequence[int]) -> list[Turn]:
        turns, before = [], 0
        for number in range(len(looks)):
            all_of_it = tools + said[number] + sum(pages[: number + 1])
            turns.append(Turn(before, all_of_it - before, 0))
            before = all_of_it
        return turns

    return {
        "A the newest page only": newest(),
        "B all pages": growing(whole),
        "C what changed": growing(changed),
        "D large pages by what changed": as_it_is(looks, tools),
    }


def as_it_is(looks: Sequence[Look], tools: int) -> list[Turn]:
    """What is really sent: by `converse`, each with the page that the one before it leant on."""
    turns, anchor, before = [], None, 0
    for number, look in enumerate(looks):
        past = [exchange(n) for n in range(number)]
        seen = NewestPage(look.page)
        talk = converse(Task(GOAL), past, seen, note="", nonce=NONCE, anchor=anchor)
        anchor = talk.anchor
        stays = sum(map(turn_tokens, talk.turns[: talk.stays]))
        kept = tools + estimate_tokens(talk.system) + stays
        turns.append(Turn(min(before, kept), max(0, kept - before), tools + talk.tokens - kept))
        before = kept
    return turns


def way_row(name: str, turns: Sequence[Turn], tools: int) -> list[Cell]:
    sent = [sum(turn) for turn in turns]
    cached = sum(turn.kept * READ + turn.written * KEPT + turn.fresh * FRESH for turn in turns)
    over = next((n + 1 for n, size in enumerate(sent) if size - tools > LIMIT), 0)
    return [
        name,
        sent[0],
        sent[-1],
        sum(sent),
        sum(sent) * DOLLARS / 1e4,
        round(cached),
        cached * DOLLARS / 1e4,
        over or "-",
    ]


def main() -> None:
    looks, survey = asyncio.run(walk())
    print_table(
        "one page, tokens (ratio: ours to it)",
        ["page", "ours", "aria", "ratio", "aria, refs", "ratio", "JSON of S3", "ratio"],
        [page_row(look) for look in distinct(looks)],
    )
    tools = specs_tokens(tool_specs([tool.name for tool in SEVEN]))
    for what, seen in (("an order on the bundled site", looks), ("a crowded form", survey)):
        print_table(
            f"{what}, {len(STEPS)} steps: tokens in, at {DOLLARS} dollars for a million",
            ["way", "first", "last", "all", "cents", "with caching", "cents", f"over {LIMIT:,}"],
            [way_row(name, turns, tools) for name, turns in ways(seen).items()],
        )
    system = estimate_tokens(converse(Task(GOAL), [], None, note="", nonce=NONCE).system)
    print(f"\n  system prompt {system} tokens, seven tools {tools}")


if __name__ == "__main__":
    main()
