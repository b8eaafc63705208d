"""The scripted browser: what it shows, finds and does, and what it can be made of."""

from collections.abc import Sequence

import pytest

from rutter.actors.world.secrets.bindings import Bindings
from rutter.events.action import (
    Action,
    ByCss,
    ByRef,
    ByRole,
    ByText,
    Fingerprint,
    Strategy,
    Target,
    Text,
    Typed,
    Untrusted,
)
from rutter.events.envelope import Envelope
from rutter.events.executor import (
    ActionDone,
    ActionFailed,
    LookalikesFound,
    TargetMissing,
    TargetResolved,
)
from rutter.events.planner import LookalikesRequested
from rutter.events.validator import ActionStarted, PlanAdmitted
from rutter.events.vocabulary import AnyEvent
from rutter.pipeline.rehearsal import fixtures
from rutter.pipeline.rehearsal.effectors import ScriptedExecutor
from rutter.pipeline.rehearsal.sheets import ScriptedElement, ScriptedPage
from rutter.pipeline.rehearsal.world import ORIGIN, ScriptedWorld
from tests.support.case_table import for_each
from tests.support.shop_facts import css as at

pytestmark = pytest.mark.anyio

DESK = {
    "/": ScriptedPage(
        "Desk",
        {
            "#name": ScriptedElement("input", "textbox", "Name"),
            "#pin": ScriptedElement("input", "textbox", "PIN", secret=True),
            "#size": ScriptedElement("select", "combobox", "Size", options=("Small", "Large")),
            "#news": ScriptedElement("input", "checkbox", "News"),
            "#s": ScriptedElement("input", "radio", "Slow"),
            "#f": ScriptedElement("input", "radio", "Fast"),
            "#go": ScriptedElement(name="Go", leads_to="/next"),
            "#off": ScriptedElement(name="Off", disabled=True),
            "#one": ScriptedElement(name="Same"),
            "#two": ScriptedElement(name="Same"),
        },
        shows=("Open from eight.",),
        alerts=("The printer is out of paper.",),
    ),
    "/next": ScriptedPage("Next", {"#back": ScriptedElement("a", "link", "Back", leads_to="/")}),
}


def desk() -> ScriptedWorld:
    world = ScriptedWorld(DESK)
    world.act(Action("navigate", url=ORIGIN + "/"), "", "")
    return world


def ref_to(world: ScriptedWorld, name: str) -> ByRef:
    """The ref of an element in a fresh look."""
    page = world.look()
    place = next(i for i, each in enumerate(page.elements) if each.name.text == name)
    return ByRef(f"@e{place}", world.looks)


async def hear(executor: ScriptedExecutor, event: AnyEvent) -> AnyEvent:
    envelope = Envelope(1, "s", 1, 0, "validator", 0, event, b"")
    [fact] = [fact async for fact in executor.handle(envelope)]
    return fact


async def do(world: ScriptedWorld, action: Action, typed: Sequence[str] = ()) -> AnyEvent:
    """What comes of resolving and doing it."""
    executor = ScriptedExecutor(world, Bindings({}, {}, typed))
    found = await hear(executor, PlanAdmitted(1, 1, action, 0))
    if not isinstance(found, TargetResolved):
        return found
    return await hear(executor, ActionStarted(1, 1, action, found.element.digest))


def test_a_page_shows_its_heading_its_alerts_and_its_elements_in_order() -> None:
    page = desk().look()
    assert [text.text for text in page.headings] == ["Desk"]
    assert [text.text for text in page.alerts] == ["The printer is out of paper."]
    assert [element.role for element in page.elements][:4] == [
        *("heading", "textbox", "textbox", "combobox")
    ]
    assert page.elements[8].state == ("disabled",)
    assert page.viewport == (1280, 720)


async def test_what_is_typed_chosen_and_switched_shows() -> None:
    world = desk()
    await do(world, Action("type", target=at("#name"), value=Text("Ann")))
    await do(world, Action("type", target=at("#name"), value=Text("e"), append=True))
    await do(world, Action("type", target=at("#pin"), value=Text("1234")))
    await do(world, Action("select", target=at("#size"), value=Text("Large")))
    for box in ("#news", "#s", "#f"):
        await do(world, Action("click", target=at(box)))
    shown = {each.name.text: each for each in world.look().elements}
    assert [shown[name].value for name in ("Name", "PIN", "Size")] == [
        Untrusted("Anne"),
        Untrusted("(secret)"),
        Untrusted("Large"),
    ]
    assert [shown[name].state for name in ("News", "Slow", "Fast")] == [
        ("checked",),
        (),
        ("checked", "focused"),
    ]
    await do(world, Action("click", target=at("#go")))
    world.come_back()
    await do(world, Action("click", target=at("#back")))
    assert world.look().elements[1].value is None, "another document holds nothing of it"


@for_each(
    "strategy, found",
    [
        (ByCss("#go"), "#go"),
        (ByCss("input[type=password]"), "#pin"),
        (ByCss('[type="checkbox"]'), "#news"),
        (ByCss("input[type=radio]"), ""),
        (ByCss("select[type=password]"), ""),
        (ByRole("button", "Go"), "#go"),
        (ByText("slow"), "#s"),
        (ByRole("button", "Same"), ""),
        (ByRole("link", "Go"), ""),
        (ByRef("@e7", 1), "#go"),
        (ByRef("@e7", 2), ""),
        (ByRef("@e99", 1), ""),
        (ByRef("@e0", 1), ""),
        (ByRef("@x", 1), ""),
    ],
)
def test_an_element_is_found_or_not(strategy: Strategy, found: str) -> None:
    world = desk()
    world.look()
    assert world.find([strategy])[0] == found


async def test_a_ref_is_of_one_look_and_of_one_document() -> None:
    world = desk()
    old = ref_to(world, "Go")
    new = ref_to(world, "Go")
    missed = await do(world, Action("click", target=Target((old,))))
    assert isinstance(missed, TargetMissing)
    assert missed.code == "ref_invalid"
    assert isinstance(await do(world, Action("click", target=Target((new,)))), ActionDone)
    assert world.path == "/next"
    gone = await do(world, Action("click", target=Target((new,))))
    assert isinstance(gone, TargetMissing)
    back = ref_to(world, "Back")
    assert isinstance(await do(world, Action("click", target=Target((back,)))), ActionDone)
    assert [action.type for action in world.done] == ["navigate", "click", "click"]


@for_each(
    "action, code",
    [
        (Action("click", target=at("#off")), "element_disabled"),
        (Action("click", target=at("#none")), "element_not_found"),
        (Action("click", target=Target((ByRole("button", "Same"),))), "element_ambiguous"),
        (Action("select", target=at("#size"), value=Text("Huge")), "option_not_found"),
        (Action("type", target=at("#name"), value=Typed(3)), "value_unbound"),
    ],
)
async def test_what_cannot_be_done_fails_as_it_does_in_a_browser(action: Action, code: str) -> None:
    world = desk()
    fact = await do(world, action)
    assert isinstance(fact, TargetMissing | ActionFailed)
    assert fact.code == code
    assert len(world.done) == 1, "nothing but the way there"


async def test_a_literal_is_told_once_it_is_typed() -> None:
    world = desk()
    done = await do(world, Action("type", target=at("#name"), value=Typed(0)), ["Ann"])
    assert isinstance(done, ActionDone)
    assert (done.typed, done.value_set) == ("Ann", True)
    done = await do(world, Action("type", target=at("#name"), value=Text("Bob")))
    assert isinstance(done, ActionDone)
    assert done.typed is None


async def test_look_alikes_are_those_of_its_kind() -> None:
    world = desk()
    wanted = Fingerprint("button", "button", Untrusted("Start"))
    executor = ScriptedExecutor(world, Bindings({}, {}))
    found = await hear(executor, LookalikesRequested(1, 1, wanted))
    assert isinstance(found, LookalikesFound)
    assert [each.name.text for each in found.elements] == ["Go", "Off", "Same", "Same"]
    assert found.elements[0].fingerprint.attributes == (("id", "go"),)
    assert world.calls == [LookalikesRequested(1, 1, wanted)]


# -- made of snapshots -----------------------------------------------------------------------------


async def test_pages_that_were_seen_can_be_walked() -> None:
    world = fixtures.cancellation()
    world.act(Action("navigate", url="https://gaffsail.example/account"), "", "")
    assert "next payment" in world.words().casefold()
    ways = (
        ("link", "Cancel membership", "/cancel/offer"),
        ("link", "Continue to cancel", "/cancel/survey"),
        ("radio", "Too expensive", "/cancel/survey"),
        ("button", "Continue", "/cancel/confirm"),
        ("button", "Finish cancellation", "/cancel/done"),
    )
    for role, name, path in ways:
        done = await do(world, Action("click", target=Target((ByRole(role, name),))))
        assert isinstance(done, ActionDone)
        assert world.path == path
    assert world.look().headings == (Untrusted("Your membership is cancelled"),)


def test_a_page_from_a_snapshot_keeps_its_tree_and_shows_what_changes() -> None:
    world = fixtures.cancellation()
    world.act(Action("navigate", url="https://gaffsail.example/account?from=mail"), "", "")
    page = world.look()
    assert page.elements[4].children == (5, 6)
    world.replace('link "Cancel membership"', ScriptedElement("a", "link", "End my plan"))
    changed = world.look()
    assert changed.elements[6].name == Untrusted("End my plan")
    assert changed.elements[6].box == page.elements[6].box


def test_what_leads_from_nowhere_is_refused() -> None:
    with pytest.raises(ValueError, match="there is no page '/else'"):
        ScriptedWorld.of_snapshots({"/": fixtures.snapshot("login")}, {("/else", "Sign in"): "/"})
