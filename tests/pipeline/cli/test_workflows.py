"""`rutter workflows` as people type it: looking at what is known, and changing it."""

import asyncio
import json
import shlex
from pathlib import Path

import msgspec
import pytest

from rutter.actors.answers import ScriptedPerson
from rutter.actors.predictor import Knowledge
from rutter.events.action import Text
from rutter.events.checks import AlertSaid, Check, ValueSet
from rutter.events.predictor import WorkflowLearned
from rutter.events.sqlite_log import SqliteLog
from rutter.events.sqlite_reader import SqliteReader
from rutter.events.workflow import Step
from rutter.pipeline.config.settings import load
from rutter.pipeline.queries.workflows_and_sessions import Tables, latest_workflow, project
from rutter.pipeline.sessions import session_started
from rutter.pipeline.sessions.earlier_run import unsettled, values_of
from rutter.pipeline.workflows.edit import publish
from tests.support import command_fixtures, scripted_logs
from tests.support.command_shell import Rutter, places_of, refused
from tests.support.data_directories import held
from tests.support.scripted_shop import AURORA, ORDER
from tests.support.shop_sessions import (
    YES,
    break_off,
    open_app,
    run_for_fairlead,
    sail,
    with_settings,
)

rutter = command_fixtures.with_orders


def squeezed(text: str) -> list[str]:
    return [" ".join(line.split()) for line in text.splitlines()]


def versions(rutter: Rutter) -> list[tuple[str, int]]:
    return [(row["name"], row["version"]) for row in rutter.json("workflows")]


# -- stating what a step leads to ------------------------------------------------------------------


def test_what_a_step_must_lead_to_is_stated_and_shown(rutter: Rutter) -> None:
    flags = (
        "--expect", "6=text_visible:Order for ${customer}", "--expect", "6=url:/orders",
        "--read-back", "6=/orders text_visible:${customer}", "--read-back", "6=/orders url:=3",
        "--verify", "6=element_state:Send=not disabled",
    )  # fmt: skip
    ended = rutter("workflows", "edit", "order", *flags)

    assert (ended.code, ended.err) == (0, "")
    lines = squeezed(ended.out)
    assert lines[lines.index("what is checked after them:") + 1 :] == [
        "6 text_visible:Order for ${customer}",
        "6 url:/orders",
        "6 at https://shop.example/orders: text_visible:${customer}",
        "6 at https://shop.example/orders: url:=3",
        "7 element_state:Send=not disabled",
    ]
    assert lines == squeezed(rutter("workflows", "show", "order").out)
    flow = rutter.json("workflows", "show", "order")
    assert flow["steps"][5]["after"]["checks"][1] == {"type": "url", "value": "/orders"}
    assert flow["steps"][6]["action"]["type"] == "check"


def test_what_was_stated_is_taken_back(rutter: Rutter) -> None:
    rutter("workflows", "edit", "order", "--expect", "6=url:/orders")
    flow = rutter.json("workflows", "edit", "order", "--no-expect", "6")

    assert "checks" not in flow["steps"][5]["after"]
    assert flow["steps"][5]["after"]["moved"]


def test_another_site_to_read_back_from_is_told(rutter: Rutter) -> None:
    back = "6=http://127.0.0.1:8000/orders text_visible:3"
    ended = rutter("workflows", "edit", "order", "--read-back", back)

    assert ended.complaint == "its runs may go to 127.0.0.1:8000 from now on"
    assert "127.0.0.1:8000" in rutter.json("workflows", "show", "order")["hosts"]


def test_what_cannot_be_stated_is_bad_input(rutter: Rutter) -> None:
    for flags, what in (
        (("--expect", "6=text_seen:x"), "there is no check 'text_seen' -> a check is one of"),
        (("--expect", "6=text_visible:"), "the check 'text_visible' has no value"),
        (("--expect", "6=text_visible:   "), "nothing but blanks"),
        (("--expect", "6=element_state:Send=shiny"), "an element is never 'shiny'"),
        (("--expect", "6=page_state:DONE"), "a page is one of START"),
        (("--expect", "six=url:x"), "is not STEP=CHECK"),
        (("--expect", "9999999999=url:x"), "is not STEP=CHECK"),
        (("--expect", "99=url:x"), "has steps 1 to 6, not 99"),
        (("--expect", "6=url:${nobody}"), "holds ${nobody}, which nothing binds"),
        (("--verify", "99=url:x"), "none can stand behind 99"),
        (("--verify", "url:x"), "is not STEP=CHECK"),
        (("--no-expect", "1"), "expects nothing that can be dropped"),
        (("--read-back", "6=/orders"), "says nothing that must be there"),
        (("--read-back", "6=orders url:x"), "'orders' is not a web address"),
        (("--read-back", "6=/a url:x text_visible:y"), "names a second check (text_visible)"),
        (("--read-back", "6=/a text_gone:x"), "that only looks for what is gone proves nothing"),
        (("--read-back", "6=/a url:x", "--read-back", "6=/b url:x"), "read back in two places"),
    ):
        refused(rutter("workflows", "edit", "order", *flags), what)
    assert versions(rutter) == [("half", 1), ("order", 1)]


def test_a_secret_takes_what_was_learned_from_it_along(rutter: Rutter) -> None:
    learn(rutter, 5, ValueSet("3", "Quantity"), AlertSaid("changed"))
    assert "5 'Quantity' holds '3' (noticed while recording)" in squeezed(
        rutter("workflows", "show", "order").out
    )
    ended = rutter("workflows", "edit", "order", "--secret", "5=pin")

    assert "step 5 is no longer checked by what it said of the secret" in ended.err
    after = rutter.json("workflows", "show", "order")["steps"][4]["after"]
    assert after["learned"] == [{"type": "alert", "value": "changed"}]


def learn(rutter: Rutter, number: int, *checks: Check) -> None:
    """A version whose step is known by these checks, as a verified run would leave it."""
    settings = load(str(rutter.data))
    with project(settings) as store:
        flow = latest_workflow(store, "order")
    steps = list(flow.steps)
    after = msgspec.structs.replace(steps[number - 1].after, learned=checks)
    steps[number - 1] = msgspec.structs.replace(steps[number - 1], after=after)

    def decide(knowledge: Knowledge) -> WorkflowLearned:
        version = knowledge.next_version("order")
        return WorkflowLearned(msgspec.structs.replace(flow, steps=tuple(steps), version=version))

    asyncio.run(publish(settings.directory, decide))


# -- editing ---------------------------------------------------------------------------------------


def test_what_a_step_types_is_named_afterwards(rutter: Rutter) -> None:
    lines = squeezed(rutter("workflows", "edit", "order", "--param", "5=quantity").out)

    assert lines[:2] == ["order version 2 (complete)", "parameters: customer, quantity"]
    assert "5 type <quantity> into 'Quantity'" in lines
    assert versions(rutter) == [("half", 1), ("order", 1), ("order", 2)]
    assert lines == squeezed(rutter("workflows", "show", "order").out)


def test_runs_need_the_new_parameter(rutter: Rutter) -> None:
    rutter("workflows", "edit", "order", "--param", "5=quantity")

    refused(rutter("run", "order", "--set", "customer=Ann"), "'order' needs quantity")


def test_a_secret_is_named_and_what_is_left_in_the_log_is_told(rutter: Rutter) -> None:
    ended = rutter("workflows", "edit", "order", "--secret", "5=pin")

    assert "secrets: pin" in ended.out
    first, *erasing = ended.err.splitlines()
    assert first == "the log still has what was typed; it goes with:"
    assert f"  rutter --data {rutter.data} log erase record-0002 --why TEXT" in erasing


NOTE = "Kraken and four fathoms"


def test_with_what_is_told_a_secret_can_be_erased_from_the_whole_log(tmp_path: Path) -> None:
    """It is in the recording, in the runs of it, and in every version that was edited since."""
    rutter = Rutter(tmp_path / "data")
    asyncio.run(sail_with_a_note(rutter.data / "log.db"))
    rutter("workflows", "edit", "order", "--optional", "3")
    rutter("workflows", "edit", "order", "--required", "3")
    assert places_of(NOTE, rutter.data)
    told = rutter("workflows", "edit", "order", "--secret", "5=note").err.splitlines()[1:]

    commands = [shlex.split(line)[3:] for line in told]
    sessions = [command[2].rsplit("-", 1)[0] if "process" in command[2] else command[2]
                for command in commands]  # fmt: skip
    assert sessions[:2] == ["record", "run"]
    assert [each.startswith("process-") for each in sessions[2:]] == [True, True]
    for command in commands:
        assert rutter(*command).code == 0, command
    assert places_of(NOTE, rutter.data) == []
    assert versions(rutter) == [("order", 4)]
    assert rutter("log", "verify").code == 0
    assert rutter("replay").code == 0
    assert "secrets: note" in rutter("workflows", "show", "order").out


async def sail_with_a_note(path: Path) -> None:
    path.parent.mkdir(parents=True)
    log = await SqliteLog.open(path)
    steps = list(ORDER)
    steps[4] = Step(action=msgspec.structs.replace(ORDER[4].action, value=Text(NOTE)))
    started = session_started.recording("order", tuple(steps), AURORA, ())
    async with open_app(log) as app:
        await sail(
            app, with_settings(started), answers=ScriptedPerson(otherwise=YES), name="record"
        )
        flow = await scripted_logs.learned(log)
        await sail(app, run_for_fairlead(flow), name="run")


def test_steps_are_dropped_and_made_optional_by_the_numbers_that_were_shown(rutter: Rutter) -> None:
    flags = ("--drop", "5", "--optional", "3", "--optional", "6")
    lines = squeezed(rutter("workflows", "edit", "order", *flags).out)

    assert "3 click 'Find' /results optional" in lines
    assert "5 click 'Place order' /orders/* by its recording optional" in lines
    assert not any("Quantity" in line for line in lines)


def test_an_edit_as_json_is_the_new_version(rutter: Rutter) -> None:
    flow = rutter.json("workflows", "edit", "order", "--optional", "3")

    assert (flow["name"], flow["version"], flow["steps"][2]["optional"]) == ("order", 2, True)
    assert flow == rutter.json("workflows", "show", "order")


def test_every_edit_is_a_version_and_none_is_lost(rutter: Rutter) -> None:
    for flag in ("--optional", "--required", "--optional"):
        assert rutter("workflows", "edit", "order", flag, "3").code == 0

    with SqliteReader(rutter.data / "log.db") as reader:
        learned = [each.event for each in reader.read(kinds=["WorkflowLearned"])]
    flows = [each.workflow for each in learned if isinstance(each, WorkflowLearned)]
    orders = [flow for flow in flows if flow.name == "order"]
    assert [flow.version for flow in orders] == [1, 2, 3, 4]
    assert [flow.steps[2].optional for flow in orders] == [False, True, False, True]


def test_an_edit_that_cannot_be_made_changes_nothing(rutter: Rutter) -> None:
    for flags, what in (
        ((), "nothing to change -> see: rutter workflows edit --help"),
        (("--param", "quantity"), "--param 'quantity' is not STEP=NAME -> write --param 3=name"),
        (("--param=-5=quantity",), "is not STEP=NAME"),
        (("--secret", "5=a", "--secret", "5=b"), "--secret names step 5 twice"),
        (("--param", "2=who"), "step 2 types the parameter 'customer' already"),
        (("--drop", "9"), "'order' has steps 1 to 6, not 9"),
        (("--param", "5=1st"), "'1st' is no name"),
    ):
        refused(rutter("workflows", "edit", "order", *flags), what)
    assert versions(rutter) == [("half", 1), ("order", 1)]


# -- renaming and deleting -------------------------------------------------------------------------


def test_a_renamed_workflow_keeps_its_versions_under_the_new_name(rutter: Rutter) -> None:
    rutter("workflows", "edit", "order", "--optional", "3")
    ended = rutter("workflows", "rename", "order", "purchase")

    assert (ended.code, ended.out) == (0, "[OK] order is purchase now\n")
    assert versions(rutter) == [("half", 1), ("purchase", 1), ("purchase", 2)]
    assert rutter("workflows", "show", "purchase").out.startswith("purchase version 2")
    refused(rutter("run", "order"), "there is no workflow 'order'")
    refused(rutter("run", "purchase"), "'purchase' needs customer")


def test_a_name_that_is_taken_is_refused(rutter: Rutter) -> None:
    refused(rutter("workflows", "rename", "order", "half"), "there is a workflow 'half' already")
    refused(rutter("workflows", "rename", "order", "order"), "it is called 'order' already")
    assert versions(rutter) == [("half", 1), ("order", 1)]


def test_a_deleted_workflow_is_no_longer_known_and_keeps_its_number(rutter: Rutter) -> None:
    ended = rutter("workflows", "delete", "order")

    assert ended.out == "[OK] order is no longer known (1 version); the log still has it\n"
    assert versions(rutter) == [("half", 1)]
    rutter("workflows", "rename", "half", "order")
    assert rutter.json("workflows", "edit", "order", "--optional", "1")["version"] == 2


def test_changes_as_json(rutter: Rutter) -> None:
    assert rutter.json("workflows", "rename", "order", "buy") == {"renamed": "order", "to": "buy"}
    assert rutter.json("workflows", "delete", "buy") == {"deleted": "buy", "versions": 1}


def test_an_interrupted_run_is_remembered_under_the_new_name(tmp_path: Path) -> None:
    """E7: what may have happened is asked about, whatever the workflow is called by now."""
    rutter = Rutter(tmp_path / "data")
    asyncio.run(break_off(rutter.data / "log.db"))
    rutter("workflows", "rename", "order", "buy")
    settings = load(str(rutter.data), headless=True)
    with project(settings) as store:
        flow = latest_workflow(store, "buy")

    with Tables(settings) as tables:
        left = unsettled(flow, {}, tables)
        assert [each.session for each in left[:1]] == ["cut"]
        assert unsettled(flow, values_of(left, flow), tables) == left


@pytest.mark.parametrize(
    "command", [("edit", "x", "--drop", "1"), ("rename", "x", "y"), ("delete", "x")]
)
class TestNothingToChange:
    def test_an_unknown_workflow_is_named(self, rutter: Rutter, command: tuple[str, ...]) -> None:
        refused(rutter("workflows", *command), "there is no workflow 'x'")

    def test_no_log_is_made_where_there_is_none(
        self, tmp_path: Path, command: tuple[str, ...]
    ) -> None:
        nowhere = Rutter(tmp_path / "nowhere")
        refused(nowhere("workflows", *command), "there is no log at")
        assert not nowhere.data.exists()

    def test_another_writer_is_waited_for_by_the_person(
        self, rutter: Rutter, command: tuple[str, ...]
    ) -> None:
        with held(rutter.data / "writer.lock"):
            ended = rutter("workflows", *command)
        assert ended.code == 8
        assert "is in use by process 4711" in ended.complaint


def test_the_log_is_whole_after_every_change(rutter: Rutter) -> None:
    rutter("workflows", "edit", "order", "--param", "5=quantity")
    rutter("workflows", "rename", "order", "buy")
    rutter("workflows", "delete", "half")

    assert rutter("log", "verify").code == 0
    assert "no divergence" in rutter("replay").out
    before = json.dumps(rutter.json("workflows"))
    rutter("log", "rebuild")
    assert json.dumps(rutter.json("workflows")) == before
