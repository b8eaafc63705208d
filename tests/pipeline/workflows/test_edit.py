"""Given a recorded workflow and a change: the next version, or what is wrong with the change."""

from pathlib import Path

import msgspec
import pytest

from rutter.actors.answers import ScriptedPerson
from rutter.events.action import (
    Action,
    ByCss,
    ByRole,
    ByText,
    DialogAnswer,
    Fingerprint,
    Parameter,
    Secret,
    Target,
    Text,
    Untrusted,
)
from rutter.events.errors import BadInput
from rutter.events.log import EventLog
from rutter.events.predictor import WorkflowDeleted, WorkflowLearned, WorkflowRenamed
from rutter.events.sqlite_reader import SqliteReader
from rutter.events.workflow import Expectation, Step, Workflow
from rutter.pipeline.config.data_directory import DataDirectory
from rutter.pipeline.workflows.edit import Edit, edited, names_over_time, publish, typed_again
from tests.support.case_table import for_each
from tests.support.log_checks import check_log, records_of
from tests.support.scripted_shop import AURORA, ORDER
from tests.support.shop_facts import click, fill, go_to, place, step, workflow
from tests.support.shop_sessions import (
    YES,
    open_app,
    record_order,
    recording,
    run_for_fairlead,
    sail,
)

pytestmark = pytest.mark.anyio

AURORA_LINK = Target(
    (ByCss("tr:nth-child(2) a"), ByRole("link", "Open Aurora Shipping"), ByText("aurora shipping")),
    Fingerprint(tag="a", name=Untrusted("Open Aurora Shipping")),
)


def flow() -> Workflow:
    return workflow(
        step(go_to("/")),
        step(fill("#q", "Aurora Shipping")),
        step(Action("click", target=AURORA_LINK), leads_to="/customers/aurora%20shipping"),
        step(fill("#qty", "3"), at="/customers/aurora%20shipping"),
        step(fill("#floor", "3"), at="/customers/aurora%20shipping"),
        step(click("#place"), at="/customers/aurora%20shipping", leads_to="/orders/*"),
        end=Expectation(place=place("/orders/*"), headings=("order # for aurora shipping",)),
    )


def changed(**asked: object) -> Workflow:
    return edited(flow(), msgspec.convert(asked, Edit), 2)


def refusal(**asked: object) -> str:
    with pytest.raises(BadInput) as caught:
        changed(**asked)
    return str(caught.value)


# -- naming what is typed --------------------------------------------------------------------------


def test_a_recording_that_was_cut_short_can_be_declared_whole() -> None:
    short = workflow(step(click("#one")), complete=False)
    assert edited(short, Edit(complete=True), 2).complete


def test_what_a_step_types_becomes_a_parameter() -> None:
    after = changed(parameters={2: "customer"})

    assert (after.version, after.parameters) == (2, ("customer",))
    assert after.steps[1].action.value == Parameter("customer")


def test_an_element_named_by_the_literal_is_found_by_the_parameter_alone() -> None:
    target = changed(parameters={2: "customer"}).steps[2].action.target

    assert target is not None
    assert target.strategies == (ByRole("link", "Open ${customer}"), ByText("${customer}"))
    assert target.fingerprint is not None
    assert target.fingerprint.name == Untrusted("Open ${customer}")


def test_places_and_headings_that_hold_the_literal_vary_from_then_on() -> None:
    after = changed(parameters={2: "customer"})

    assert after.steps[2].after.place == after.steps[3].before == place("/customers/*")
    assert after.end.headings == ("order # for *",)


def test_another_step_that_types_the_same_is_left_alone_and_named() -> None:
    asked = Edit(parameters={4: "quantity"})
    after = edited(flow(), asked, 2)

    assert after.steps[4].action.value == Text("3")
    assert typed_again(flow(), asked) == {"quantity": [5]}


def test_two_steps_may_type_one_parameter_or_two() -> None:
    one = changed(parameters={4: "many", 5: "many"})
    two = changed(parameters={4: "quantity", 5: "floor"})

    assert [one.parameters, two.parameters] == [("many",), ("quantity", "floor")]


def test_a_literal_becomes_a_secret() -> None:
    after = changed(secrets={2: "pin"})

    assert (after.parameters, after.secrets) == ((), ("pin",))
    assert after.steps[1].action.value == Secret("pin")


SAID = "Kraken & 4 Fathoms"
KNOWN_BY = Fingerprint(
    tag="a",
    name=Untrusted(f"Forget {SAID}"),
    text=Untrusted(SAID.lower()),
    near=(Untrusted(f"signed in with {SAID}"),),
    attributes=(("title", SAID),),
)
TOLD = Target((ByCss(f'a[title="{SAID}"]'), ByCss("#forget"), ByText(SAID.lower())), KNOWN_BY)
ASKED = (DialogAnswer(True, SAID, message=f"again, {SAID.lower()}?"),)


def told(*more: Step) -> Workflow:
    """A page that repeats what was typed into it wherever it can."""
    return workflow(
        step(go_to("/")),
        step(fill("#code", SAID), leads_to="/with/kraken%20%26%204%20fathoms"),
        step(Action("click", target=TOLD, dialogs=ASKED), at="/with/Kraken%20%26%204%20Fathoms"),
        step(fill("#again", SAID)),
        *more,
        end=Expectation(place=place("/kraken & 4 fathoms"), headings=("hail kraken & # fathoms",)),
    )


def test_a_literal_that_is_a_secret_is_nowhere_in_the_new_version() -> None:
    after = edited(told(), Edit(secrets={2: "code"}), 2)

    assert "kraken" not in msgspec.json.encode(after).decode().casefold()
    target = after.steps[2].action.target
    assert target is not None
    assert target.strategies == (ByCss("#forget"),)
    assert target.fingerprint is not None
    assert target.fingerprint.name == Untrusted("Forget *")
    assert after.steps[1].after.place == after.steps[2].before == place("/with/*")
    assert after.end == Expectation(place=place("/*"), headings=("hail *",))


def test_a_secret_is_one_wherever_it_is_typed() -> None:
    asked = Edit(secrets={2: "code"})
    after = edited(told(), asked, 2)

    assert after.steps[3].action.value == Secret("code")
    [answer] = after.steps[2].action.dialogs
    assert (answer.accept, answer.text, answer.secret) == (True, None, "code")
    assert typed_again(told(), asked) == {}


def test_a_secret_too_short_to_be_told_from_an_accident_is_left_where_else_it_is_typed() -> None:
    asked = Edit(secrets={4: "pin"})
    after = edited(flow(), asked, 2)

    assert after.steps[4].action.value == Text("3")
    assert typed_again(flow(), asked) == {"pin": [5]}


@for_each(
    "last, said",
    [
        (click("text/x"), None),
        (go_to("/?code=Kraken+%26+4+Fathoms"), "step 5 goes to an address that holds it"),
        (fill("#note", f"It is {SAID}."), "step 5 types it among other words"),
        (Action("click", target=Target((ByText(SAID),))), "step 5 finds its element by nothing"),
    ],
)
def test_what_cannot_be_done_without_the_secret_is_refused(last: Action, said: str | None) -> None:
    if said is None:
        assert len(edited(told(step(last)), Edit(secrets={2: "code"}), 2).steps) == 5
        return
    with pytest.raises(BadInput, match=said):
        edited(told(step(last)), Edit(secrets={2: "code"}), 2)
    without = edited(told(step(last)), Edit(secrets={2: "code"}, dropped=frozenset({5})), 2)
    assert "kraken" not in msgspec.json.encode(without).decode().casefold()


async def test_naming_afterwards_gives_what_naming_at_the_recording_gives(
    pipeline_log: EventLog,
) -> None:
    typed = Text(AURORA["customer"])
    literal = tuple(
        msgspec.structs.replace(each.action, value=typed)
        if isinstance(each.action.value, Parameter)
        else each.action
        for each in ORDER
    )
    async with open_app(pipeline_log) as app:
        named = await record_order(app, pipeline_log)
        alone = recording(*literal, compares=False)
        await sail(app, alone, answers=ScriptedPerson(otherwise=YES))
        lessons = [each.event async for each in pipeline_log.read(kinds=["WorkflowLearned"])]
    assert isinstance(lessons[-1], WorkflowLearned)
    plain = lessons[-1].workflow

    after = edited(plain, Edit(parameters={2: "customer"}), named.version)
    assert msgspec.structs.replace(after, session=named.session) == named


# -- steps -----------------------------------------------------------------------------------------


def test_a_dropped_step_is_gone_with_the_names_that_only_it_used() -> None:
    named = edited(flow(), Edit(parameters={4: "quantity", 5: "floor"}), 2)
    after = edited(named, Edit(dropped=frozenset({5})), 3)

    assert len(after.steps) == 5
    assert (after.version, after.parameters) == (3, ("quantity",))
    assert after.end == flow().end


def test_without_its_last_step_it_ends_where_the_one_before_led() -> None:
    assert changed(dropped=[6]).end == Expectation(place=place("/customers/aurora%20shipping"))


def test_a_step_is_made_optional_and_required_again() -> None:
    after = changed(optional=[3])
    again = edited(after, Edit(required=frozenset({3})), 3)

    assert [each.optional for each in after.steps] == [False, False, True, False, False, False]
    assert not any(each.optional for each in again.steps)


def test_what_it_was_approved_for_and_what_it_was_recorded_in_stay() -> None:
    before = msgspec.structs.replace(flow(), session="record-1")
    assert edited(before, Edit(optional=frozenset({3})), 2).session == "record-1"


# -- what cannot be done ---------------------------------------------------------------------------


@for_each(
    "asked, said",
    [
        ({}, "nothing to change"),
        ({"dropped": [7]}, "'order' has steps 1 to 6, not 7; see: rutter workflows show order"),
        ({"optional": [0]}, "has steps 1 to 6, not 0"),
        ({"parameters": {1: "url"}}, "step 1 types nothing that could be named"),
        ({"parameters": {2: "two words"}}, "'two words' is no name"),
        ({"parameters": {2: "x", 4: "x"}}, "'x' would be two values: step 4 types another"),
        ({"parameters": {2: "x"}, "secrets": {4: "x"}}, "'x' would be a parameter and a secret"),
        ({"parameters": {2: "x"}, "secrets": {2: "y"}}, "step 2 cannot be both"),
        ({"optional": [2], "required": [2]}, "step 2 cannot be both"),
        ({"parameters": {2: "x"}, "dropped": [2]}, "step 2 is dropped and changed"),
        ({"dropped": [1, 2, 3, 4, 5, 6]}, "that would leave no step"),
    ],
)
def test_a_change_that_cannot_be_made_says_why(asked: dict[str, object], said: str) -> None:
    assert said in refusal(**asked)


@for_each(
    "value, said",
    [
        (Parameter("customer"), "step 1 types the parameter 'customer' already"),
        (Secret("pin"), "step 1 types the secret 'pin' already"),
    ],
)
def test_a_step_that_types_a_name_has_no_literal(value: Parameter | Secret, said: str) -> None:
    with pytest.raises(BadInput, match=said):
        edited(workflow(Step(fill("#q", value))), Edit(parameters={1: "x"}), 2)


# -- saying so in the log --------------------------------------------------------------------------


async def test_a_change_is_a_fact_that_the_log_derives_again(tmp_path: Path) -> None:
    directory = DataDirectory(tmp_path)
    directory.create()
    learned = WorkflowLearned(flow())
    await publish(directory, lambda _: learned)
    await publish(directory, lambda _: WorkflowRenamed("order", "buy"))
    await publish(directory, lambda _: WorkflowRenamed("buy", "purchase"))
    await publish(directory, lambda _: WorkflowDeleted("purchase"))

    versions: list[int] = []

    def look(knowledge: object) -> WorkflowDeleted:
        versions.extend(knowledge.next_version(name) for name in ("purchase", "new"))  # type: ignore[attr-defined]
        return WorkflowDeleted("new")

    await publish(directory, look)
    assert versions == [2, 1]  # a deleted workflow keeps its number
    check_log(records_of(directory.log))
    with SqliteReader(directory.log) as reader:
        assert names_over_time("purchase", reader) == ("purchase", "buy", "order")
        assert names_over_time("order", reader) == ("order",)


async def test_an_edited_workflow_is_sailed(pipeline_log: EventLog) -> None:
    async with open_app(pipeline_log) as app:
        before = await record_order(app, pipeline_log)
        after = edited(before, Edit(parameters={5: "quantity"}), before.version + 1)
        await app.say_process(WorkflowLearned(after))
        started = run_for_fairlead(before)
        values = {**started.values, "quantity": "12"}
        started = msgspec.structs.replace(started, workflow=after, values=values)
        ended = await sail(app, started)

    assert ended.reason == "completed", ended
