"""Given a workflow that is recorded again: what is merged, made optional, and refused."""

from collections.abc import Sequence

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from rutter.actors.predictor.learning.merge import Merged, compare
from rutter.events.action import (
    Action,
    ByCss,
    ByRole,
    DialogAnswer,
    Fingerprint,
    Parameter,
    Secret,
    Target,
    Text,
    Untrusted,
    Value,
    kind_of,
)
from rutter.events.checks import AlertSaid, TextVisible
from rutter.events.workflow import Expectation, Fork, Place, StandingApproval, Step, Workflow
from tests.support.case_table import for_each

HERE = Place("https://shop.example", "/")


def at(path: str) -> Place:
    return Place("https://shop.example", path)


def click(name: str, place: Place = HERE, **more: object) -> Step:
    target = Target((ByCss(f"#{name}"),), Fingerprint("button", name=Untrusted(name)))
    step = Step(Action("click", target=target), before=place, after=Expectation(place=place))
    return msgspec.structs.replace(step, **more)


def typed(name: str, value: Value) -> Step:
    return Step(Action("type", target=Target((ByCss(f"#{name}"),)), value=value), before=HERE)


def goto(path: str, *, lands: str = "") -> Step:
    action = Action("navigate", url=f"https://shop.example{path}")
    return Step(action, after=Expectation(moved=True, place=at(lands or path)))


def press(key: str) -> Step:
    return Step(Action("press", key=key), before=HERE, after=Expectation(place=HERE))


def flow(*steps: Step, version: int = 1, session: str = "", end: str = "/") -> Workflow:
    named = [step.action.value for step in steps]
    return Workflow(
        "order",
        version,
        steps,
        end=Expectation(place=at(end)),
        parameters=tuple(each.name for each in named if isinstance(each, Parameter)),
        hosts=("shop.example",),
        session=session or f"record-{version}",
    )


def again(known: Workflow, *steps: Step, **more: str) -> Merged:
    """Recorded once more, as these steps."""
    return compare(known, flow(*steps, version=known.version + 1, **more))


def names(steps: Sequence[Step]) -> list[str]:
    """Each step by its element, `?` behind what is optional, and the way of a fork."""
    return [_name(step) for step in steps]


def _name(step: Step) -> str:
    way = step.action.target.primary if step.action.target is not None else None
    name = way.selector[1:] if isinstance(way, ByCss) else step.action.type
    fork = f"{step.fork.number}.{step.fork.way}" if step.fork is not None else ""
    return f"{name}{'?' if step.optional else ''}{fork}"


A, B, C, D = click("a"), click("b"), click("c"), click("d")
BANNER, SURVEY = click("banner"), click("survey")


def test_what_only_the_first_recording_met_is_optional_from_now_on() -> None:
    merged = again(flow(A, BANNER, B, C), A, B, C)

    assert names(merged.workflow.steps) == ["a", "banner?", "b", "c"]
    assert merged.workflow.version == 2
    assert merged.compared.recordings == ("record-1", "record-2")
    assert (merged.compared.optional, merged.compared.added) == ((1,), ())


def test_what_only_the_second_recording_met_is_put_in_where_it_came() -> None:
    merged = again(flow(A, B, C), A, B, SURVEY, C)

    assert names(merged.workflow.steps) == ["a", "b", "survey?", "c"]
    assert (merged.compared.optional, merged.compared.added) == ((), (2,))


def test_two_short_branches_between_the_same_steps_are_a_fork() -> None:
    merged = again(flow(A, B, C), A, SURVEY, BANNER, C)

    assert names(merged.workflow.steps) == ["a", "survey?1.2", "banner?1.2", "b?1.1", "c"]


def test_a_third_branch_belongs_to_the_same_fork() -> None:
    known = again(flow(A, B, D), A, C, D).workflow
    merged = again(known, A, SURVEY, D)

    assert names(merged.workflow.steps) == ["a", "survey?1.3", "c?1.2", "b?1.1", "d"]


def test_two_forks_have_two_numbers() -> None:
    known = again(flow(A, B, D, C), A, SURVEY, D, C).workflow
    merged = again(known, A, B, D, BANNER, C)

    assert names(merged.workflow.steps) == ["a", "survey?1.2", "b?1.1", "d", "banner?", "c"]
    other = compare(flow(A, B, D, C, goto("/z")), flow(A, SURVEY, D, BANNER, goto("/z"), version=2))
    assert names(other.workflow.steps)[1:6] == ["survey?1.2", "b?1.1", "d", "banner?2.2", "c?2.1"]


def test_who_meets_both_branches_in_one_recording_dissolves_the_fork() -> None:
    known = again(flow(A, BANNER, C), A, SURVEY, C).workflow
    merged = again(known, A, SURVEY, BANNER, C)

    assert names(merged.workflow.steps) == ["a", "survey?", "banner?", "c"]


def test_so_does_who_meets_them_in_the_other_order() -> None:
    known = again(flow(A, BANNER, C), A, SURVEY, C).workflow
    assert names(known.steps) == ["a", "survey?1.2", "banner?1.1", "c"]
    merged = again(known, A, BANNER, SURVEY, C)

    assert sorted(set(names(merged.workflow.steps))) == ["a", "banner?", "c", "survey?"]


def test_a_look_before_the_fork_stays_before_it() -> None:
    look = Step(Action("check", verify=(TextVisible("placed"),)))
    merged = again(flow(A, look, B, C), A, SURVEY, C)

    assert names(merged.workflow.steps) == ["a", "check", "survey?1.2", "b?1.1", "c"]


def test_in_older_logs_what_was_known_came_first() -> None:
    known, new = (
        flow(typed("q", Text("3")), A, B, C),
        flow(typed("q", Text("5")), A, SURVEY, C, version=2),
    )
    merged = compare(known, new, newest_first=False).workflow

    assert names(merged.steps) == ["q", "a", "b?1.1", "survey?1.2", "c"]
    assert merged.steps[0].action.value == Text("3")


def test_something_new_beside_what_is_optional_already_is_no_other_branch() -> None:
    known = again(flow(A, BANNER, C), A, C).workflow
    merged = again(known, A, SURVEY, C)

    assert names(merged.workflow.steps) == ["a", "banner?", "survey?", "c"]


def test_where_a_step_leads_sometimes_is_not_awaited_any_more() -> None:
    led = Expectation(moved=True, place=at("/notice"))
    on = click("on", at("/notice"), after=Expectation(moved=True, place=at("/list")))
    first = flow(click("find", after=led), on, click("row", at("/list")), end="/list")
    past = msgspec.structs.replace(led, place=at("/list"))
    merged = again(first, click("find", after=past), click("row", at("/list")), end="/list")

    assert names(merged.workflow.steps) == ["find", "on?", "row"]
    assert merged.workflow.steps[0].after == Expectation()


def test_what_only_one_of_them_said_is_not_awaited_any_more() -> None:
    both = AlertSaid("saved", whole=True)
    first = click(
        "a", after=Expectation(place=HERE, learned=(both, AlertSaid("welcome", whole=True)))
    )
    second = click("a", after=Expectation(place=HERE, learned=(both,)))
    [step] = again(flow(first), second).workflow.steps

    assert step.after.learned == (both,)


# -- what a person made of it ----------------------------------------------------------------------


def test_names_checks_and_looks_survive() -> None:
    check = TextVisible("placed")
    look = Step(Action("check", verify=(check,)))
    known = flow(
        typed("who", Parameter("customer")),
        click("a", after=Expectation(place=HERE, checks=(check,))),
        look,
        typed("pin", Secret("pin")),
    )
    merged = again(known, typed("who", Text("Aurora")), A, BANNER, typed("pin", Text("x")))

    first, second, third, _, last = merged.workflow.steps
    assert names(merged.workflow.steps) == ["who", "a", "check", "banner?", "pin"]
    assert first.action.value == Parameter("customer")
    assert second.after.checks == (check,)
    assert not third.optional
    assert last.action.value == Secret("pin")
    assert merged.workflow.parameters == ("customer",)
    assert merged.compared.varied == ()


def test_a_name_that_is_given_now_is_taken() -> None:
    known = flow(typed("who", Text("Aurora Shipping")), row("Aurora Shipping"), C)
    merged = again(known, typed("who", Parameter("customer")), row("${customer}"), C)

    assert merged.workflow.steps[0].action.value == Parameter("customer")
    assert merged.workflow.steps[1].action.target == row("${customer}").action.target
    assert merged.workflow.parameters == ("customer",)


def row(name: str) -> Step:
    return Step(Action("click", target=Target((ByRole("link", name),))), before=HERE)


def test_an_element_that_is_found_by_a_name_is_the_same_under_what_was_typed() -> None:
    known = flow(typed("who", Parameter("customer")), row("Open ${customer}"), C)
    merged = again(known, typed("who", Text("Juniper")), row("Open Juniper"), C)

    assert merged.compared.merged
    assert merged.workflow.steps == known.steps
    other = again(known, typed("who", Text("Juniper")), row("Open the list"), C)
    assert other.compared.added


def test_of_two_literals_in_one_field_the_new_one_is_typed_and_it_is_told() -> None:
    merged = again(flow(typed("q", Text("3")), A), typed("q", Text("5")), A)

    assert merged.compared.varied == (0,)
    assert merged.workflow.steps[0].action.value == Text("5")


def test_who_records_it_last_approves_the_element_as_it_is() -> None:
    old, new = (
        StandingApproval("https://shop.example", "old"),
        StandingApproval("https://shop.example", "new"),
    )
    [step] = again(
        flow(click("a", standing_approval=old)), click("a", standing_approval=new)
    ).workflow.steps
    assert step.standing_approval == new
    [step] = again(flow(click("a", standing_approval=old)), A).workflow.steps
    assert step.standing_approval == old


def test_a_question_that_only_one_of_them_was_asked_has_its_answer() -> None:
    def asked(*answers: DialogAnswer) -> Step:
        action = msgspec.structs.replace(A.action, dialogs=answers)
        return msgspec.structs.replace(A, action=action)

    yes = DialogAnswer(True, kind="confirm", message="leave?")
    [step] = again(flow(A), asked(yes)).workflow.steps
    assert step.action.dialogs == (yes,)
    no = DialogAnswer(False, kind="confirm", message="leave?")
    assert not again(flow(asked(yes)), asked(no)).compared.merged


# -- two ways of working ---------------------------------------------------------------------------

PAY = click("pay", irreversible=True)
STATED = click("a", after=Expectation(place=HERE, checks=(TextVisible("x"),)))


@for_each(
    "known, new, why",
    [
        ([A, B, C, D], [A, SURVEY, BANNER, click("x")], "1 of 4 steps are the same"),
        ([A, B, C], [A, B, PAY, C], "it now has click 'pay', which a run is for"),
        ([A, PAY, B, C], [A, B, C], "it now lacks click 'pay', which a run is for"),
        ([STATED, B, C], [B, C], "it now lacks click 'a', which a run is for"),
        ([A, B, C], [A, B, goto("/z"), C], "it now has navigate"),
        ([A, B, C], [A, B, press("Escape"), C], "press 'Escape', and no element shows"),
    ],
)
def test_what_differs_too_much_is_the_next_version_as_it_is(
    known: list[Step], new: list[Step], why: str
) -> None:
    merged = again(flow(*known), *new)

    assert why in merged.compared.why
    assert merged.workflow.steps == tuple(new)
    assert merged.compared.version == 1


def test_another_end_is_another_workflow() -> None:
    merged = again(flow(A, B), A, B, end="/elsewhere")

    assert merged.compared.why == "it ends at /elsewhere, and version 1 at /"


def test_a_long_stretch_of_other_steps_is_no_detour() -> None:
    common = [click(name) for name in "abcdefgh"]
    first, second = ([click(f"{who}{n}") for n in range(5)] for who in "xy")
    merged = again(flow(*common, *first, D), *common, *second, D)

    assert merged.compared.why == "5 steps in a row are others"


def test_a_key_in_something_that_is_optional_hangs_on_it() -> None:
    merged = again(flow(A, B, C), A, B, click("comment"), press("Enter"), C)

    assert names(merged.workflow.steps) == ["a", "b", "comment?", "press?", "c"]


# -- whatever was recorded -------------------------------------------------------------------------

LETTERS = st.sampled_from([click(name) for name in "abcdef"])
RECORDINGS = st.lists(LETTERS, min_size=1, max_size=8)


def sails(workflow: Workflow, recording: Sequence[Step]) -> bool:
    """Whether these steps are a run of the workflow: only optional ones left out, and of each fork
    one way gone at most."""

    def go(at: int, to: int, ways: frozenset[Fork]) -> bool:
        if at == len(workflow.steps):
            return to == len(recording)
        step = workflow.steps[at]
        fork = step.fork
        other = fork is not None and any(w.number == fork.number and w != fork for w in ways)
        gone = ways | {fork} if fork is not None else ways
        same = to < len(recording) and recording[to].action == step.action
        if same and not other and go(at + 1, to + 1, gone):
            return True
        left_out = step.optional or kind_of(step.action) != "action"
        return left_out and go(at + 1, to, ways)

    return go(0, 0, frozenset())


@given(RECORDINGS)
def test_merging_with_itself_changes_nothing(steps: list[Step]) -> None:
    merged = again(flow(*steps), *steps)

    assert merged.compared.merged
    assert merged.workflow == flow(*steps, version=2)
    assert (merged.compared.optional, merged.compared.added) == ((), ())


@given(st.lists(RECORDINGS, min_size=2, max_size=5))
def test_every_recording_that_was_merged_is_a_run_of_what_came_of_it(
    recordings: list[list[Step]],
) -> None:
    known, merged = merged_one_by_one(recordings)

    assert all(sails(known, each) for each in merged), (names(known.steps), merged)


@given(st.lists(RECORDINGS, min_size=2, max_size=5))
def test_merging_again_what_was_merged_changes_nothing(recordings: list[list[Step]]) -> None:
    known, merged = merged_one_by_one(recordings)

    for steps in merged:
        twice = again(known, *steps)
        assert twice.compared.merged
        assert twice.workflow.steps == known.steps


@given(RECORDINGS, RECORDINGS)
def test_the_same_two_give_the_same(first: list[Step], second: list[Step]) -> None:
    assert again(flow(*first), *second) == again(flow(*first), *second)


def merged_one_by_one(recordings: Sequence[list[Step]]) -> tuple[Workflow, list[list[Step]]]:
    """What comes of them in this order, and those that were not refused."""
    known, merged = flow(*recordings[0]), [recordings[0]]
    for steps in recordings[1:]:
        made = again(known, *steps)
        if made.compared.merged:
            known = made.workflow
            merged.append(steps)
    return known, merged
