"""The versions of a workflow as people see them: where each came from, what is different, going
back; and a workflow that is recorded again, in plain words."""

import asyncio
from pathlib import Path

import msgspec
import pytest

from rutter.events.action import ByCss, Target
from rutter.events.artifacts import ArtifactStore
from rutter.events.predictor import Comparison, WorkflowLearned
from rutter.events.sqlite_log import SqliteLog
from rutter.events.workflow import Fork, Step, Workflow
from rutter.pipeline.cli.record import in_plain_words
from rutter.pipeline.config.settings import load
from rutter.pipeline.queries.workflows_and_sessions import latest_workflow, project
from rutter.pipeline.workflows.diff import differences
from rutter.pipeline.workflows.edit import publish
from tests.pipeline.test_recorded_again import record
from tests.support import command_fixtures
from tests.support.case_table import for_each
from tests.support.command_shell import Rutter
from tests.support.shop_facts import click, step
from tests.support.shop_sessions import open_app

rutter = command_fixtures.with_orders


@pytest.fixture
def twice(tmp_path: Path) -> Rutter:
    """`order` recorded with a banner and without."""
    rutter = Rutter(tmp_path / "data")
    rutter.data.mkdir()

    async def keep() -> None:
        async with open_app(await SqliteLog.open(rutter.data / "log.db")) as app:
            await record(app, banner=True)
            await record(app, banner=False)

    asyncio.run(keep())
    return rutter


def lines(text: str) -> list[str]:
    return [" ".join(line.split()) for line in text.splitlines()]


def known(rutter: Rutter, name: str = "order") -> Workflow:
    with project(load(str(rutter.data))) as store:
        return latest_workflow(store, name)


# -- where they came from --------------------------------------------------------------------------


def test_each_version_says_where_it_came_from(twice: Rutter) -> None:
    assert twice("workflows", "edit", "order", "--host", "cdn.example").code == 0
    assert twice("workflows", "revert", "order", "1").code == 0

    came = [row["came"] for row in twice.json("workflows")]
    assert came == ["recorded", "merged with version 1", "edited", "version 1 again"]
    assert "merged with version 1" in twice("workflows", "list").out


# -- the difference --------------------------------------------------------------------------------


def test_without_numbers_it_is_what_the_last_version_changed(rutter: Rutter) -> None:
    flags = ("--optional", "3", "--param", "5=quantity", "--expect", "6=url:/orders")
    rutter("workflows", "edit", "order", *flags, "--host", "cdn.example")
    said = lines(rutter("workflows", "diff", "order").out)

    assert said[0] == "order version 1 -> version 2"
    assert "~ step 3: click 'Find'" in said
    assert "optional now" in said
    assert "was: type '3' into 'Quantity'" in said
    assert "expects url:/orders" in said
    assert "parameter quantity" in said
    assert "may go to cdn.example" in said


def test_a_step_that_is_gone_and_one_that_came_are_told_by_their_numbers(rutter: Rutter) -> None:
    rutter("workflows", "edit", "order", "--drop", "5", "--verify", "6=url:/orders")
    found = rutter.json("workflows", "diff", "order", "1", "2")

    assert (found["old"], found["new"]) == (1, 2)
    told = [(each["kind"], each.get("before"), each.get("after")) for each in found["differences"]]
    assert told == [("dropped", 5, None), ("added", None, 6)]
    back = rutter.json("workflows", "diff", "order", "2", "1")["differences"]
    assert {each["kind"] for each in back} == {"added", "dropped"}


def test_two_that_are_the_same_have_no_difference(rutter: Rutter) -> None:
    rutter("workflows", "edit", "order", "--optional", "5")
    rutter("workflows", "revert", "order", "1")

    assert lines(rutter("workflows", "diff", "order", "1", "3").out) == [
        "order version 1 -> version 3",
        "nothing is different",
    ]


def test_an_element_that_was_found_elsewhere_is_one_step_that_changed() -> None:
    old = Workflow("order", 1, (step(click("#a")), step(click("#b")), step(click("#c"))))
    healed = Target((ByCss("#bb"), ByCss(".b")))
    action = msgspec.structs.replace(click("#b"), target=healed)
    new = Workflow("order", 2, (old.steps[0], step(action), old.steps[2]))
    [found] = differences(old, new)

    assert (found.kind, found.before, found.after) == ("changed", 2, 2)
    assert found.what == ("found by #bb, was #b",)


@for_each(
    "arguments, what",
    [
        (("nothing",), "there is no workflow 'nothing'"),
        (("order",), "has one version alone"),
        (("order", "1", "7"), "has no version 7"),
        (("order", "one"), "invalid int value"),
    ],
)
def test_what_cannot_be_compared_is_bad_input(
    rutter: Rutter, arguments: tuple[str, ...], what: str
) -> None:
    ended = rutter("workflows", "diff", *arguments)
    assert ended.code == 2
    assert what in ended.err


# -- going back ------------------------------------------------------------------------------------


def test_an_old_version_is_the_newest_again_and_the_others_stay(twice: Rutter) -> None:
    assert [each.optional for each in known(twice).steps] == [False, True, False, False]
    ended = twice("workflows", "revert", "order", "1")

    assert ended.out == "[OK] order version 3 is version 1 again\n"
    assert [each.optional for each in known(twice).steps] == [False] * 4
    assert [row["version"] for row in twice.json("workflows")] == [1, 2, 3]
    assert twice("replay").code == 0


@pytest.mark.parametrize(
    ("arguments", "what"),
    [
        (("order", "1"), "is the newest already"),
        (("order", "9"), "has no version 9"),
        (("nothing", "1"), "there is no workflow"),
    ],
)
def test_what_cannot_be_gone_back_to_is_bad_input(
    rutter: Rutter, arguments: tuple[str, ...], what: str
) -> None:
    ended = rutter("workflows", "revert", *arguments)
    assert (ended.code, ended.out) == (2, "")
    assert what in ended.complaint


# -- recorded again --------------------------------------------------------------------------------


def flow(*steps: Step) -> Workflow:
    return Workflow("order", 2, steps)


def told(workflow: Workflow, **compared: object) -> list[str]:
    made = msgspec.convert({"version": 1, "recordings": ["a", "b"], **compared}, Comparison)
    return list(in_plain_words(workflow, made, load("/data")))


def test_what_was_merged_is_told_in_plain_words() -> None:
    banner = msgspec.structs.replace(step(click("#accept")), optional=True)
    one = msgspec.structs.replace(banner, fork=Fork(1, 1))
    other = msgspec.structs.replace(banner, fork=Fork(1, 2))
    said = told(flow(banner, one, other), optional=[0, 1], added=[2], varied=[0])

    assert said[0].startswith("merged with version 1; to undo that: rutter --data /data workflows")
    assert said[1] == "step 1 (click #accept) was not in this recording: optional from now on"
    assert said[2].endswith(
        "not in this recording: one of several ways (1a), of which a run goes one"
    )
    assert said[3].endswith(
        "only in this recording: one of several ways (1b), of which a run goes one; where it has "
        "the choice, this one"
    )
    assert "typed something else before; runs type this now; to vary it:" in said[4]
    assert said[4].endswith("workflows edit order --param 1=NAME")


def test_what_was_not_merged_says_why_and_how_to_go_back() -> None:
    said = told(flow(step(click("#a"))), why="1 of 4 steps are the same")

    assert said[0] == "it is another way of working than version 1: 1 of 4 steps are the same"
    assert said[1].endswith("to go back: rutter --data /data workflows revert order 1")


def test_the_same_again_says_so() -> None:
    assert told(flow(step(click("#a")))) == ["the same steps as version 1"]


# -- pictures --------------------------------------------------------------------------------------


def test_a_workflow_is_shown_beside_pictures_of_its_steps(rutter: Rutter, tmp_path: Path) -> None:
    settings = load(str(rutter.data))
    store = settings.directory.artifacts
    assert isinstance(store, ArtifactStore)
    kept = store.put(b"\x89PNG", "image/png")
    order = known(rutter)
    shown = msgspec.structs.replace(order.steps[1], picture=kept)
    gone = msgspec.structs.replace(
        order.steps[2], picture=msgspec.structs.replace(kept, sha256="0" * 64)
    )
    steps = (order.steps[0], shown, gone, *order.steps[3:])

    def decide(_: object) -> WorkflowLearned:
        return WorkflowLearned(msgspec.structs.replace(order, version=2, steps=steps))

    asyncio.run(publish(settings.directory, decide))
    page = tmp_path / "order.html"

    assert "pictures of 2 steps: rutter" in rutter("workflows", "show", "order").out
    assert rutter("workflows", "show", "order", "--html", page).out == f"[OK] {page}\n"
    html = page.read_text()
    assert html.count("data:image/png;base64,") == 1
    assert html.count("the picture is gone") == 1
    assert "type &lt;customer&gt; into" in html
    assert "default-src 'none'" in html
    assert "<script" not in html
    steps_told = rutter.json("workflows", "show", "order")["steps"]
    assert steps_told[1]["picture"]["sha256"] == kept.sha256
    pictures = rutter.json("workflows", "show", "order", "--html", page)["pictures"]
    assert pictures[:3] == [None, kept.sha256, "0" * 64]


def test_a_page_that_cannot_be_written_is_bad_input(rutter: Rutter, tmp_path: Path) -> None:
    ended = rutter("workflows", "show", "order", "--html", tmp_path / "no" / "where.html")
    assert ended.code == 2
    assert "check --html" in ended.complaint


def test_with_a_secret_named_afterwards_no_picture_stays(rutter: Rutter) -> None:
    """What was typed plainly is to be seen on them."""
    settings = load(str(rutter.data))
    kept = settings.directory.artifacts.put(b"\x89PNG", "image/png")
    order = known(rutter)
    steps = tuple(msgspec.structs.replace(each, picture=kept) for each in order.steps)
    learned = WorkflowLearned(msgspec.structs.replace(order, version=2, steps=steps))
    asyncio.run(publish(settings.directory, lambda _: learned))

    rutter("workflows", "edit", "order", "--optional", "3")
    assert all(each.picture for each in known(rutter).steps)
    rutter("workflows", "edit", "order", "--secret", "5=pin")
    assert not any(each.picture for each in known(rutter).steps)
