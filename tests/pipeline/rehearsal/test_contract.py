"""What keeps the fakes honest: a session in Chromium and the same in a scripted world, an answer by
a real adapter and the same by the scripted model.
"""

from collections.abc import Awaitable, Callable, Sequence
from typing import Any, NamedTuple

import msgspec
import pytest

from rutter.actors.answers import Answers, PersonAnswer, Who
from rutter.actors.rules.tools.tool_table import TOOLS
from rutter.actors.world.browser.chromium import Chromium
from rutter.actors.world.browser.window import Window
from rutter.actors.world.models.anthropic import AnthropicModel
from rutter.actors.world.models.messages import ModelFailed, Prompt, Reply, ToolSpec, UserTurn
from rutter.events.action import Action, ByCss, ByRole, Target, Text
from rutter.events.advisor import TokenUsage
from rutter.events.critic import ActionJudged
from rutter.events.executor import ActionDone, ActionFailed, TargetChanged, TargetMissing
from rutter.events.policy import Policy
from rutter.events.predictor import WorkflowLearned
from rutter.events.runtime import SessionEnded, SessionStarted
from rutter.events.validator import ApprovalRequested
from rutter.events.workflow import Step, Workflow
from rutter.pipeline.app import App
from rutter.pipeline.rehearsal import fixtures
from rutter.pipeline.rehearsal.scripted_model import (
    ScriptedModel,
    calls,
    cut,
    fails,
    refuses,
    says,
    together,
)
from rutter.pipeline.rehearsal.sheets import ScriptedElement, ScriptedPage
from rutter.pipeline.rehearsal.stage import rehearse, rehearsing_tools
from rutter.pipeline.rehearsal.world import ScriptedWorld
from rutter.pipeline.sessions import session_policy, session_started
from rutter.pipeline.tools.dispatcher import Tools, open_tools
from rutter.pipeline.tools.snapshot import Snapshot
from tests.support import provider_server
from tests.support.case_table import for_each
from tests.support.log_checks import Replayed, events_of
from tests.support.page_server import PageServer
from tests.support.snapshot_capture import capture

pytestmark = pytest.mark.anyio

NEXT = "<title>Next</title><h1>Next</h1>"
FORM = """<title>Form</title><h1>Form</h1>
<label>Name <input id=name></label>
<label>Size <select id=size><option>Small<option>Large</select></label>
<button id=off type=button disabled>Off</button>
<button id=none type=button>Nothing</button>
<a id=next href="{next}">Next</a>"""
PAY = """<title>Pay</title><h1>Pay</h1>
<button id=pay type=button onclick="document.body.append('Paid.')">Pay now</button>"""
PAID = {"#pay": ScriptedElement(name="Pay now", says="Paid.")}
RENAME = "document.querySelector('#pay').textContent = 'Pay twice'"
# What only a browser has to tell: whom it spoke to.
OF_A_BROWSER = frozenset({"HostsContacted"})


def things(path: str) -> dict[str, ScriptedElement]:
    return {
        "#name": ScriptedElement("input", "textbox", "Name"),
        "#size": ScriptedElement("select", "combobox", "Size", options=("Small", "Large")),
        "#off": ScriptedElement(name="Off", disabled=True),
        "#none": ScriptedElement(name="Nothing", inert=True),
        "#next": ScriptedElement("a", "link", "Next", leads_to=path),
    }


def click(selector: str) -> Action:
    return Action("click", target=Target((ByCss(selector),)))


FILL = (
    Action("type", target=Target((ByCss("#name"),)), value=Text("Ann")),
    Action("select", target=Target((ByCss("#size"),)), value=Text("Large")),
    click("#next"),
)
BY_NAME = Action("click", target=Target((ByRole("link", "Next"),)))
PATIENT = dict.fromkeys(TOOLS, 60_000)  # a busy machine is no reason to fail
HUGE = Action("select", target=Target((ByCss("#size"),)), value=Text("Huge"))
# What comes of each, behind the way there, and how the session ends.
SCRIPTS: dict[str, tuple[tuple[Action, ...], list[str], str]] = {
    "done": (FILL, ["done False True", "done False True", "done True None"], "completed"),
    "no such element": ((click("#nowhere"),), ["element_not_found"], "failed"),
    "disabled": ((click("#off"),), ["element_disabled"], "failed"),
    "no such option": ((HUGE,), ["option_not_found"], "failed"),
    "nothing but the focus": ((click("#none"),), ["done False None"], "completed"),
}
YES = PersonAnswer(True, phrase="confirm")


def brisk(started: SessionStarted) -> SessionStarted:
    """What is not there is not there a second later either."""
    settings = msgspec.structs.replace(started.settings, resolve_ms=1_000)
    return msgspec.structs.replace(started, settings=settings)


class Renames:
    """A person who says yes, then no; the button is another one by the time of the yes."""

    who: Who = "scripted"

    def __init__(self, change: Callable[[], Awaitable[None]]) -> None:
        self._change = change
        self._asked = 0

    async def ask(self, question: ApprovalRequested) -> PersonAnswer:
        self._asked += 1
        if self._asked > 1:
            return PersonAnswer(False)
        await self._change()
        return YES


class Account(NamedTuple):
    """What both must tell alike."""

    kinds: list[str]
    verdicts: list[tuple[int, str]]
    outcomes: list[str]
    ended: tuple[str, str]


def told(events: Sequence[object], ended: SessionEnded) -> Account:
    outcomes: list[str] = []
    for event in events:
        match event:
            case TargetMissing(code=code) | ActionFailed(code=code):
                outcomes.append(code)
            case ActionDone(navigated=navigated, value_set=value_set):
                outcomes.append(f"done {navigated} {value_set}")
            case TargetChanged(element=element):
                outcomes.append(f"now {element.name.text}")
            case _:
                pass
    kinds = [type(event).__name__ for event in events]
    return Account(
        [kind for kind in kinds if kind not in OF_A_BROWSER],
        [(event.step, event.verdict) for event in events if isinstance(event, ActionJudged)],
        outcomes,
        (ended.reason, ended.failure),
    )


class Keeping:
    """The browser, and the window that it opened."""

    def __init__(self, chromium: Chromium) -> None:
        self._chromium = chromium
        self.window: Window | None = None

    async def open_window(self, policy: Policy) -> Window:
        self.window = await self._chromium.open_window(policy)
        return self.window

    async def rename(self) -> None:
        assert self.window is not None
        await self.window.tab.page.evaluate(RENAME)


async def in_chromium(
    started: SessionStarted, keeping: Keeping, answers: Answers, replayed: Replayed
) -> Account:
    log = replayed.memory()
    async with App.open(log) as app:
        ended = await app.run_in_browser(started, keeping, answers=answers, name="real")
        return told(await events_of(log, "real"), ended)


class Yes:
    """A person who has nothing against it."""

    who: Who = "scripted"

    async def ask(self, question: ApprovalRequested) -> PersonAnswer:
        return YES


@pytest.mark.browser
@pytest.mark.parametrize("name", SCRIPTS)
async def test_a_scripted_world_tells_what_a_browser_tells(
    name: str, chromium: Chromium, server: PageServer, replayed: Replayed
) -> None:
    further = server.show(NEXT)
    url = server.show(FORM.format(next=further))
    actions, outcomes, end = SCRIPTS[name]
    started = session_started.recording(
        "form",
        tuple(Step(action=each) for each in (Action("navigate", url=url), *actions)),
        {},
        (),
        allow=[session_policy.host_typed(url)],
    )
    started = brisk(started)
    real = await in_chromium(started, Keeping(chromium), Yes(), replayed)
    assert (real.outcomes[1:], real.ended[0]) == (outcomes, end)

    path = further.removeprefix(server.url)
    sheets = {
        url.removeprefix(server.url): ScriptedPage("Form", things(path)),
        path: ScriptedPage("Next"),
    }
    scripted = await rehearse(started, ScriptedWorld(sheets, origin=server.url), answers=Yes())
    assert told(scripted.events, scripted.ended) == real


@pytest.mark.browser
async def test_an_element_that_changed_is_told_alike(
    chromium: Chromium, server: PageServer, replayed: Replayed
) -> None:
    url = server.show(PAY)
    script = (Step(action=Action("navigate", url=url)), Step(action=click("#pay")))
    started = session_started.recording(
        "pay", script, {}, (), allow=[session_policy.host_typed(url)]
    )
    keeping = Keeping(chromium)
    real = await in_chromium(started, keeping, Renames(keeping.rename), replayed)
    assert real.outcomes[1:] == ["now Pay twice"]

    world = ScriptedWorld(
        {url.removeprefix(server.url): ScriptedPage("Pay", PAID)}, origin=server.url
    )

    async def rename() -> None:
        world.replace("#pay", ScriptedElement(name="Pay twice", says="Paid."))

    scripted = await rehearse(started, world, answers=Renames(rename))
    assert told(scripted.events, scripted.ended) == real


@pytest.mark.browser
async def test_what_was_learned_is_sailed_alike_and_healed_alike(
    chromium: Chromium, server: PageServer, replayed: Replayed
) -> None:
    further = f"{server.url}/another"  # an address without a number is one of its own
    url = server.show(FORM.format(next=further))
    other = FORM.format(next=further).replace("id=next", "id=on").replace(">Next<", ">Go on<")
    renamed = server.show(other)
    path, at, later = (each.removeprefix(server.url) for each in (further, url, renamed))
    script = tuple(Step(action=each) for each in (Action("navigate", url=url), *FILL[:1], BY_NAME))
    hosts = [session_policy.host_typed(url)]
    recording = session_started.recording("form", script, {}, (), allow=hosts)

    def runs(workflow: Workflow) -> list[SessionStarted]:
        """The run of it, and the same where the link is called otherwise."""
        begun = Step(action=Action("navigate", url=renamed))
        moved = msgspec.structs.replace(workflow, steps=(begun, *workflow.steps[1:]))
        return [
            brisk(session_started.run_of(each, {}, (), allow=hosts)) for each in (workflow, moved)
        ]

    log = replayed.memory()
    real: list[Account] = []
    async with App.open(log) as app:
        await app.run_in_browser(recording, chromium, answers=Yes(), name="recording")
        learned = next(
            each.workflow
            for each in await events_of(log, "recording")
            if isinstance(each, WorkflowLearned)
        )
        for started in runs(learned):
            name = f"run-{len(real)}"
            ended = await app.run_in_browser(started, chromium, answers=Yes(), name=name)
            real.append(told(await events_of(log, name), ended))

    form = things(path)
    changed = {each: thing for each, thing in form.items() if each != "#next"}
    changed["#on"] = ScriptedElement("a", "link", "Go on", leads_to=path)
    sheets = {
        at: ScriptedPage("Form", form),
        later: ScriptedPage("Form", changed),
        path: ScriptedPage("Another"),
    }
    kept = replayed.memory()
    first = await rehearse(
        recording, ScriptedWorld(sheets, origin=server.url), answers=Yes(), log=kept
    )
    assert first.learned is not None
    for started, expected in zip(runs(first.learned), real, strict=True):
        world = ScriptedWorld(sheets, origin=server.url)
        scripted = await rehearse(started, world, answers=Yes(), log=kept)
        assert told(scripted.events, scripted.ended) == expected
    assert [each.ended for each in real] == [("completed", "")] * 2
    assert "TargetHealed" in real[1].kinds


@pytest.mark.browser
async def test_calls_by_ref_are_answered_alike(
    chromium: Chromium, server: PageServer, replayed: Replayed
) -> None:
    further = server.show(NEXT)
    url = server.show(FORM.format(next=further))
    path = further.removeprefix(server.url)
    sheets = {
        url.removeprefix(server.url): ScriptedPage("Form", things(path)),
        path: ScriptedPage("Next"),
    }
    started = session_started.tool_session(url, screenshots=False)
    async with (
        App.open(replayed.memory()) as app,
        open_tools(app, chromium, started, timeouts_ms=PATIENT) as tools,
    ):
        real = await use(tools)
    world = ScriptedWorld(sheets, origin=server.url)
    async with rehearsing_tools(started, world, log=replayed.memory()) as tools:
        assert await use(tools) == real


async def use(tools: Tools) -> list[object]:
    """What is answered to a few calls, each by the name of its element."""
    told: list[object] = []
    wanted: list[tuple[str, str, dict[str, Any]]] = [
        ("browser_fill", "Name", {"value": "Ann"}),
        ("browser_select", "Size", {"value": "Large"}),
        ("browser_select", "Size", {"value": "Huge"}),
        ("browser_click", "Off", {}),
        ("browser_scroll", "Next", {}),
        ("browser_click", "nobody", {}),
        ("browser_click", "Next", {}),
    ]
    for tool, name, more in wanted:
        seen = (await tools.call("get_snapshot")).snapshot
        assert seen is not None
        shown = [(each.role, each.name, each.value) for each in seen.elements]
        refs = {each.name: each.ref for each in seen.elements}
        answer = await tools.call(tool, {"ref": refs.get(name, "@e99"), **more})
        told.append((shown, tool, answer.success, answer.error, answer.error_code))
    return told


@pytest.mark.browser
async def test_the_snapshots_show_what_the_bundled_pages_show() -> None:
    """But for where things are: fonts differ. When this fails: python -m
    tests.support.snapshot_capture"""

    def shown(snapshot: Snapshot) -> object:
        elements = [
            (each.ref, each.role, each.name, each.value, each.state, each.children)
            for each in snapshot.elements
        ]
        return snapshot.page, elements

    taken, words = await capture()
    assert set(taken) == set(fixtures.names())
    for name, snapshot in taken.items():
        assert shown(snapshot) == shown(fixtures.snapshot(name)), name
        assert words[name] == fixtures.words(name)


# -- models ----------------------------------------------------------------------------------------

WAIT = ToolSpec("wait", "Waits.", {"type": "object", "properties": {"ms": {"type": "integer"}}})
PROMPT = Prompt("Be brief.", (UserTurn("Wait a moment."),), (WAIT,))
USAGE = TokenUsage(120, 30)


def comparable(reply: Reply) -> object:
    """Without what is a provider's own: ids, its model's name, its bytes, its count."""
    made = [(call.tool, call.arguments.replace(" ", "")) for call in reply.calls]
    return reply.ending, reply.text, made


@for_each(
    "on_the_wire, scripted",
    [
        (provider_server.Answer(text="Done."), says("Done.")),
        (
            provider_server.Answer(calls=(provider_server.Call("wait", {"ms": 5}),)),
            calls("wait", ms=5),
        ),
        (
            provider_server.Answer(
                "Both.",
                (provider_server.Call("wait", {"ms": 5}), provider_server.Call("wait", {"ms": 6})),
            ),
            together(says("Both."), calls("wait", ms=5), calls("wait", ms=6)),
        ),
        (provider_server.Answer(text="I was", stop="length"), cut(says("I was"))),
        (provider_server.Answer(text="No.", stop="refusal"), refuses("No.")),
        (provider_server.Fault("status", 529), fails("overloaded")),
        (provider_server.Fault("status", 429), fails("rate_limited")),
        (provider_server.Fault("status", 401), fails("unauthorised")),
        (provider_server.Fault("cut"), fails("cut")),
        (provider_server.Fault("garbage"), fails("invalid")),
    ],
)
async def test_the_scripted_model_answers_as_an_adapter_does(
    on_the_wire: provider_server.Answer | provider_server.Fault, scripted: Reply | ModelFailed
) -> None:
    async def heard(client: AnthropicModel | ScriptedModel) -> object:
        try:
            return comparable(await client.complete(PROMPT, within_ms=20_000))
        except ModelFailed as failed:
            return failed.code, failed.transient
        finally:
            await client.aclose()

    with provider_server.WireServer([on_the_wire]) as server:
        real = await heard(AnthropicModel("claude-x", "key", base_url=server.anthropic_url))
    assert await heard(ScriptedModel(scripted)) == real
