"""What a model is shown of real pages: within the budgets of S3 2.1.1, and without any secret."""

import re
from pathlib import Path
from typing import ClassVar

import msgspec
import pytest

from rutter.actors.advisor.conversation import NewestPage, Task, converse
from rutter.actors.advisor.page_context import gather_context, prompt_of
from rutter.actors.advisor.prompt import ActionQuestion, prompt_for, prompt_tokens
from rutter.actors.advisor.tool_specs import specs_tokens, tool_specs
from rutter.actors.answers import PersonAnswer, ScriptedPerson
from rutter.actors.rules.pages.text_form import estimate_tokens, text_of
from rutter.actors.rules.text.untrusted import quarantined
from rutter.actors.rules.tools.tool_table import SEVEN, TOOLS
from rutter.actors.world.browser.chromium import Chromium
from rutter.actors.world.browser.tab import Tab
from rutter.actors.world.models.messages import (
    ModelCall,
    ModelClient,
    ModelTurn,
    Prompt,
    Reply,
    UserTurn,
)
from rutter.actors.world.models.prices import PricedModel
from rutter.actors.world.secrets.redaction import Redactor
from rutter.events.action import Action, ByCss, Target
from rutter.events.advisor import AdviceReceived, TokenUsage
from rutter.events.artifacts import ArtifactStore
from rutter.events.page import Page
from rutter.events.planner import AdviceRequested
from rutter.events.run_settings import LanguageModel, ModelUse
from rutter.events.workflow import Criteria, Indicator, Step, Workflow
from rutter.pipeline.app import App
from rutter.pipeline.demo_sites.chandlery import Site
from rutter.pipeline.demo_sites.sign_ins import DEFAULT_PASSWORD, USER
from rutter.pipeline.sessions import session_started
from tests.support import browser_fixtures
from tests.support.log_checks import Replayed
from tests.support.page_server import PageServer

pytestmark = [pytest.mark.browser, pytest.mark.anyio]
window = browser_fixtures.one_window

NONCE = "0123456789abcdef"
PATHS = ("/desk", "/customers", "/orders", "/orders/1004", "/nowhere")
WITHIN_MS = 20_000
TASK = Task("Order three mooring ropes for Aurora Shipping", "The shop calls orders bookings.")
WAY = Workflow("order", 1, (Step(Action("click", target=Target((ByCss("#gone"),)))),))
QUESTION = ActionQuestion(AdviceRequested("a1", "repair", "scripted", index=0), TASK, WAY)
CUSTOMER = "Aurora"  # as if it were a secret of the session: pages say it


async def seen_on(tab: Tab) -> Page:
    how = {"viewportOnly": True, "marks": True}
    raw = await tab.call("observe", how, within_ms=WITHIN_MS)
    return quarantined(msgspec.convert(raw, Page))[0]


async def test_every_page_of_the_bundled_site_fits_into_a_turn(tab: Tab) -> None:
    redact = Redactor({"customer": CUSTOMER, "password": DEFAULT_PASSWORD})
    tools = specs_tokens(tool_specs([tool.name for tool in SEVEN]))
    with Site() as site:
        await tab.navigate(f"{site.base_url}/login", within_ms=WITHIN_MS)
        pages = [await seen_on(tab)]
        await tab._page.fill("[name=user]", USER)
        await tab._page.fill("[name=password]", DEFAULT_PASSWORD)
        await tab._page.press("[name=password]", "Enter")
        await tab._page.wait_for_url("**/desk")
        for path in PATHS:
            await tab.navigate(f"{site.base_url}{path}", within_ms=WITHIN_MS)
            page = await seen_on(tab)
            pages.append(page)
            context = await gather_context(tab, page=page, part_ms=WITHIN_MS, redact=redact.text)
            asked = prompt_for(QUESTION, prompt_of(context, NONCE), b"", nonce=NONCE)
            (told,) = asked.turns
            assert isinstance(told, UserTurn)
            assert CUSTOMER not in told.text
            assert prompt_tokens(asked) + specs_tokens(asked.tools) < 8_000, path
            assert page.url in told.text
            assert "<a " in told.text
        assert "<secret customer>" in redact.text(text_of(pages[2]).text)
    assert len(pages) == 1 + len(PATHS)
    for page in pages:
        talk = converse(TASK, [], NewestPage(page), note="", nonce=NONCE)
        assert estimate_tokens(text_of(page).text) < 1_000, page.url
        assert estimate_tokens(talk.system) < 500
        assert talk.tokens + tools < 8_000


def test_all_tools_with_the_longest_system_prompt_leave_room_for_a_whole_conversation() -> None:
    tools = specs_tokens(tool_specs(tuple(TOOLS)))
    assert tools + 10_000 < 15_000  # the hard limits: a conversation, and a turn


# -- a session that a model leads ------------------------------------------------------------------

SECRET = "Zq7 anchor & chain"
# It writes what was typed wherever it can: into its text, its title and its address.
ECHO = """<h1>Vault</h1><label>Phrase <input></label>
<button type=button onclick="const said = document.querySelector('input').value;
  document.title = said; history.replaceState(0, '', '?' + said);
  document.body.innerHTML = '<h1>Welcome</h1><button>' + said + '</button>'">Open</button>"""


class Reads(ModelClient):
    """A model that goes by what it is shown."""

    provider: ClassVar[str] = "scripted"
    model = "reads"

    def __init__(self) -> None:
        self.asked: list[Prompt] = []

    async def complete(self, prompt: Prompt, *, within_ms: int) -> Reply:
        self.asked.append(prompt)
        last = prompt.turns[-1]
        assert not isinstance(last, ModelTurn)
        field = re.search(r'(@e\d+) textbox "Phrase"', last.text)
        if "Welcome" in last.text:
            tool, given = "complete_task", {"status": "success", "reason": "it says welcome"}
        elif field and len(self.asked) == 1:
            tool, given = "browser_fill", {"ref": field[1], "value": "${password}"}
        else:
            tool, given = "browser_click", {"ref": "@e2"}
        call = ModelCall("toolu_1", tool, msgspec.json.encode(given).decode())
        raw = f"{tool} {SECRET}".encode()
        return Reply("reads-1", "called", f"I think of {SECRET}", (call,), TokenUsage(10, 1), raw)

    async def aclose(self) -> None:
        return


async def test_a_bound_secret_is_in_no_prompt_no_event_and_nothing_that_is_kept(
    chromium: Chromium, server: PageServer, replayed: Replayed, tmp_path: Path
) -> None:
    model, log = Reads(), replayed.memory()
    started = session_started.goal_run(
        "welcome",
        "Open the vault",
        server.show(ECHO),
        {},
        ["password"],
        models=ModelUse((LanguageModel("scripted", "reads"),), tuple(tool.name for tool in SEVEN)),
        given=session_started.Given(criteria=Criteria((Indicator("heading", "Welcome"),))),
        screenshots=True,
    )
    async with App.open(log, artifacts=ArtifactStore(tmp_path)) as app:
        ended = await app.run_in_browser(
            started,
            chromium,
            secrets={"password": SECRET},
            answers=ScriptedPerson(otherwise=PersonAnswer(True, phrase="confirm")),
            models={"scripted": PricedModel(model)},
        )
    assert (ended.reason, len(model.asked)) == ("completed", 3)
    assert all("${password}" in str(prompt.turns[0]) for prompt in model.asked)
    assert "<secret password>" in str(model.asked[-1].turns[-1])
    told = [str(prompt) for prompt in model.asked]
    events = [envelope.event async for envelope in log.read()]
    assert sum(isinstance(event, AdviceReceived) for event in events) == 3
    kept = [file.read_bytes() for file in tmp_path.rglob("*") if file.is_file()]
    assert len(kept) > 6
    for form in (SECRET, "Zq7%20anchor", "Zq7+anchor"):
        assert not any(form in text for text in [*told, *map(str, events)])
        assert not any(form.encode() in body for body in kept)
