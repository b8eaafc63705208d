"""Given two recordings side by side: which step of the one is which of the other."""

import msgspec

from rutter.actors.rules.workflows.alignment import MOST, Pair, align, both_places, meets
from rutter.events.action import Action, ByCss, ByRole, DialogAnswer, Parameter, Target, Text
from rutter.events.workflow import Fork, Place, Step
from tests.actors.predictor.learning.test_merge import HERE, at, click, goto, typed
from tests.support.case_table import for_each

A, B, C = click("a"), click("b"), click("c")


def pairs(known: list[Step], new: list[Step]) -> list[tuple[int | None, int | None]]:
    return [(pair.known, pair.new) for pair in align(known, new)]


def test_what_both_have_is_paired_in_order_and_the_known_comes_first() -> None:
    assert pairs([A, B, C], [A, click("x"), C]) == [(0, 0), (1, None), (None, 1), (2, 2)]
    assert pairs([], [A]) == [(None, 0)]
    assert pairs([A], []) == [(0, None)]


def test_of_several_alike_the_one_that_must_be_there_is_taken() -> None:
    optional = msgspec.structs.replace(A, optional=True)
    assert align([optional, A], [A]) == [Pair(0, None), Pair(1, 0)]
    assert align([A, optional], [A]) == [Pair(0, 0), Pair(1, None)]


def test_a_run_of_what_is_known_takes_one_branch_of_a_fork() -> None:
    one = msgspec.structs.replace(A, optional=True, fork=Fork(1, 1))
    two = msgspec.structs.replace(A, optional=True, fork=Fork(1, 2))
    other = msgspec.structs.replace(B, optional=True, fork=Fork(1, 2))
    assert align([one, other, C], [A, C])[0] == Pair(0, 0)
    assert align([one, two, other, C], [A, B, C])[:3] == [Pair(0, None), Pair(1, 0), Pair(2, 1)]


def test_elsewhere_or_in_another_page_it_is_another_step() -> None:
    assert pairs([click("a", at("/x"))], [click("a", at("/y"))]) == [(0, None), (None, 0)]
    assert pairs([click("a", at("/o/*"))], [click("a", at("/o/new"))]) == [(0, 0)]
    first, second = (
        msgspec.structs.replace(A, action=msgspec.structs.replace(A.action, tab=tab))
        for tab in (0, 1)
    )
    assert pairs([first], [second]) == [(0, None), (None, 0)]
    assert pairs([A], [second]) == [(0, 0)]  # only one page was open then


def test_any_locator_that_both_found_it_by_makes_it_the_same() -> None:
    def found(*ways: ByCss | ByRole) -> Step:
        return Step(Action("click", target=Target(ways)), before=HERE)

    role = ByRole("button", "Send")
    assert pairs([found(ByCss("#old"), role)], [found(ByCss("#new"), role)]) == [(0, 0)]
    assert len(pairs([found(ByCss("#old"))], [found(ByCss("#new"))])) == 2


def test_a_name_for_what_was_typed_makes_no_difference() -> None:
    def row(name: str) -> Step:
        return Step(Action("click", target=Target((ByRole("link", name),))), before=HERE)

    known = [typed("who", Parameter("customer")), row("Open ${customer}")]
    assert pairs(known, [typed("who", Text("Aurora")), row("Open Aurora")]) == [(0, 0), (1, 1)]
    assert pairs(known, [typed("who", Parameter("name")), row("Open ${name}")]) == [(0, 0), (1, 1)]
    assert len(pairs(known, [typed("who", Text("Aurora")), row("Open Fairlead")])) == 3
    address = "https://shop.example/c/${customer}"
    first = Step(Action("navigate", url=address))
    assert pairs([*known, first], [*known, first])[-1] == (2, 2)
    assert len(pairs([goto("/a")], [goto("/b")])) == 2


def test_another_answer_to_the_same_question_is_another_step() -> None:
    def asked(accept: bool) -> Step:
        answer = DialogAnswer(accept, kind="confirm", message="sure?")
        return msgspec.structs.replace(
            A, action=msgspec.structs.replace(A.action, dialogs=(answer,))
        )

    assert len(pairs([asked(True)], [asked(False)])) == 2
    assert pairs([asked(True)], [A]) == [(0, 0)]


def test_a_long_recording_of_one_step_over_and_over_comes_to_an_end() -> None:
    many = [msgspec.structs.replace(A, optional=bool(n % 2)) for n in range(MOST // 2)]
    found = align(many, [A] * (MOST // 2 - 7))
    assert sum(pair.known is not None and pair.new is not None for pair in found) == MOST // 2 - 7


@for_each(
    "one, other, both",
    [
        ("/a/b", "/a/b", "/a/b"),
        ("/a/*", "/a/b", "/a/*"),
        ("/a/b", "/*/b", "/*/b"),
        ("/a/b", "/a/c", None),
        ("/a", "/a/b", None),
    ],
)
def test_places_are_one_where_neither_contradicts(one: str, other: str, both: str | None) -> None:
    assert meets(at(one), at(other)) == (both is not None)
    if both is not None:
        assert both_places(at(one), at(other)) == at(both)
    assert not meets(at(one), Place("https://other.example", one))
