"""The scripted model: what it says, what it remembers, and what it can read of a prompt."""

import anyio
import msgspec
import pytest

from rutter.actors.advisor.proposal import proposal_of
from rutter.actors.rules.pages.text_form import text_of
from rutter.actors.rules.tools.arguments import BoundNames
from rutter.actors.world.models.messages import (
    CallResult,
    ModelCall,
    ModelClient,
    ModelFailed,
    ModelTurn,
    Prompt,
    ResultsTurn,
    UserTurn,
)
from rutter.events.action import ByRole, Untrusted
from rutter.events.advisor import TokenUsage
from rutter.events.page import Page, PageElement
from rutter.pipeline.rehearsal.scripted_model import (
    ScriptedModel,
    calls,
    calls_badly,
    cut,
    elements_in,
    fails,
    proposes,
    ref_of,
    refuses,
    says,
    together,
)
from rutter.pipeline.rehearsal.troubles import Waits

pytestmark = pytest.mark.anyio

HELLO = Prompt("Be brief.", (UserTurn("Hello."),))


async def ask(model: ModelClient, prompt: Prompt = HELLO, within_ms: int = 5_000) -> object:
    """What it says, or why it says nothing."""
    try:
        return await model.complete(prompt, within_ms=within_ms)
    except ModelFailed as failed:
        return failed.code, failed.transient


async def test_it_answers_in_order_and_then_not_at_all() -> None:
    model = ScriptedModel(says("Hello."), fails("timeout"), calls("browser_click", ref="@e3"))
    first = await model.complete(HELLO, within_ms=1_000)
    assert (first.ending, first.text, first.calls) == ("said", "Hello.", ())
    assert await ask(model) == ("timeout", True)
    third = await model.complete(HELLO, within_ms=1_000)
    assert third.ending == "called"
    assert third.calls == (ModelCall("call_3_1", "browser_click", '{"ref":"@e3"}'),)
    assert model.left == 0
    assert await ask(model) == ("unavailable", False)
    assert model.asked == [HELLO] * 4


async def test_a_function_is_asked_and_the_last_one_goes_on_answering() -> None:
    model = ScriptedModel(lambda _: says("once"), lambda prompt: says(prompt.system))
    said = [(await model.complete(HELLO, within_ms=1_000)).text for _ in range(3)]
    assert said == ["once", "Be brief.", "Be brief."]
    assert await ask(ScriptedModel(lambda _: fails("overloaded"))) == ("overloaded", True)


async def test_whether_it_may_be_asked_again_follows_from_why_or_is_said() -> None:
    assert await ask(ScriptedModel(fails("unauthorised"))) == ("unauthorised", False)
    assert await ask(ScriptedModel(fails("rate_limited", transient=False))) == (
        "rate_limited",
        False,
    )


async def test_it_keeps_its_deadline() -> None:
    waits = Waits(anyio.Event(), anyio.Event())
    model = ScriptedModel(waits, says("late"))
    assert await ask(model, within_ms=1) == ("timeout", True)
    assert waits.reached.is_set()
    assert (await model.complete(HELLO, within_ms=1_000)).text == "late"


async def test_it_waits_until_the_test_says_so() -> None:
    waits = Waits(anyio.Event(), anyio.Event())
    model = ScriptedModel(waits, says("now"))
    heard: list[object] = []

    async def listen() -> None:
        heard.append(await ask(model, within_ms=60_000))

    async with anyio.create_task_group() as group:
        group.start_soon(listen)
        await waits.reached.wait()
        assert heard == []
        waits.answer.set()
    assert [getattr(each, "text", each) for each in heard] == ["now"]


async def test_it_adds_what_a_provider_adds() -> None:
    model = ScriptedModel(
        calls("wait", ms=5), msgspec.structs.replace(says("a"), usage=TokenUsage(7, 1))
    )
    counted = await model.complete(HELLO, within_ms=1_000)
    assert counted.model == model.model == "scripted-1"
    assert counted.usage.input >= 4
    assert counted.usage.output >= 4
    assert msgspec.json.decode(counted.raw)["calls"][0]["tool"] == "wait"
    given = await model.complete(HELLO, within_ms=1_000)
    assert given.usage == TokenUsage(7, 1)


async def test_several_may_stand_for_several_providers() -> None:
    models: list[ModelClient] = [
        ScriptedModel(provider="anthropic"),
        ScriptedModel(provider="openai"),
    ]
    assert [model.provider for model in models] == ["anthropic", "openai"]
    assert ScriptedModel().provider == "scripted"
    model = ScriptedModel()
    await model.aclose()
    assert model.closed


async def test_what_it_may_say_is_anything_that_a_model_says() -> None:
    model = ScriptedModel(
        together(says("Both."), calls("wait", ms=1), calls("wait", ms=2)),
        calls_badly("browser_click", '{"ref": "@e'),
        cut(says("I would")),
        refuses("I will not."),
    )
    both = await model.complete(HELLO, within_ms=1_000)
    assert (both.ending, both.text) == ("called", "Both.")
    assert [call.id for call in both.calls] == ["call_1_1", "call_1_2"]
    broken = await model.complete(HELLO, within_ms=1_000)
    assert broken.calls[0].arguments == '{"ref": "@e'
    assert [(await model.complete(HELLO, within_ms=1_000)).ending for _ in range(2)] == [
        "cut",
        "refused",
    ]


def test_what_it_proposes_is_a_proposal_of_the_product() -> None:
    reply = proposes(
        action_type="fill",
        aria_role="textbox",
        aria_name="Email",
        value="${email}",
        confidence=0.75,
        state="LOGIN_REQUIRED",
        expected_state="ACCOUNT_ACTIVE",
    )
    arguments = reply.calls[0].arguments
    made = proposal_of(arguments, number=0, names=BoundNames(values=("email",))).proposal
    assert made is not None
    assert made.certainty == 750_000
    assert (made.state, made.leads_to) == ("LOGIN_REQUIRED", "ACCOUNT_ACTIVE")
    assert made.action.target is not None
    assert made.action.target.strategies == (ByRole("textbox", "Email"),)


# -- what it was shown -----------------------------------------------------------------------------

PAGE = Page(
    url="https://shop.example/",
    elements=(
        PageElement("heading", Untrusted("Orders"), level=2, children=(1,)),
        PageElement("button", Untrusted('Say "Go"'), state=("disabled", "focused")),
        PageElement("textbox", Untrusted("Name"), value=Untrusted("A \\ B")),
        PageElement("iframe", Untrusted("Map"), state=("cross-origin",)),
        PageElement("link"),
    ),
)


def test_the_elements_that_a_prompt_shows_are_read_back() -> None:
    told = f"<untrusted-1>\naddress: here\n{text_of(PAGE).text}\n</untrusted-1>"
    prompt = Prompt("", (UserTurn('@e9 button "Old"'), UserTurn(told)))
    lines = elements_in(prompt)
    assert [line.ref for line in lines] == ["@e0", "@e1", "@e2", "@e3", "@e4"]
    assert (lines[1].name, lines[1].state) == ('Say "Go"', ("disabled", "focused"))
    assert (lines[2].name, lines[2].value) == ("Name", "A \\ B")
    assert ref_of(prompt, "button", 'say "go"') == "@e1"
    assert ref_of(prompt, "heading", "Orders") == "@e0"
    assert ref_of(prompt, "iframe", "Map") == "@e3"
    assert ref_of(prompt, "button", "Old") == ""


def test_the_newest_page_counts_wherever_it_is_told() -> None:
    turns = (
        UserTurn('@e1 link "Next"'),
        ModelTurn("On.", (ModelCall("1", "browser_click", '{"ref":"@e1"}'),)),
        ResultsTurn((CallResult("1", "browser_click", "done"),), text='  @e4 link "Next"'),
    )
    assert ref_of(Prompt("", turns), "link", "Next") == "@e4"
    assert ref_of(HELLO, "link", "Next") == ""
