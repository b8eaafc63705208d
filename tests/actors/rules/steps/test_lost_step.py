"""Given a step whose element is not clearly there: what a person is shown, and in which words."""

import pytest

from rutter.actors.rules.steps.lost_step import in_words, lookalikes, shown_by
from rutter.events.executor import LookalikesFound
from rutter.events.page import Lookalike, Resolved
from rutter.events.planner import PlanProposed
from tests.support.page_elements import click_on, thing

SAVE = thing("Save", name="_save", form="post /invoices/@2 note", sends="with others")
RENAMED = thing("Save changes", name="_save", form="post /invoices/@2 note", sends="with others")
MORE = thing("Save and add another", name="_more", form="post /invoices/@2 note")
PRINT = thing("Print", near=("Elsewhere",), tag="a")
LINK = thing("Save", role="link", tag="a", href="/save")


def shown(*elements: Resolved, others: tuple[Lookalike, ...] = ()) -> list[str]:
    step = PlanProposed(1, 1, "workflow", click_on(SAVE), "due", index=0)
    found = LookalikesFound(1, 1, elements, others=others)
    return list(in_words(lookalikes(step, found, {}), "the recorded one"))


@pytest.mark.parametrize(
    ("elements", "others", "words"),
    [
        ((MORE, RENAMED), (), ['the button "Save changes"', 'the button "Save and add another"']),
        ((MORE,), (Lookalike(LINK),), ['the link "Save"', 'the button "Save and add another"']),
        (
            (MORE,),
            (Lookalike(SAVE, thing("More")),),
            [
                'the button "More" first, then the button "Save"',
                'the button "Save and add another"',
            ],
        ),
        (
            (),
            (Lookalike(first=LINK), Lookalike(first=thing("Hide"))),
            [
                'the button "Hide" first, then the recorded one, where it was',
                'the link "Save" first, then the recorded one, where it was',
            ],
        ),
        (
            (thing("Save", near=("Draft",)), thing("Save", near=("Final",))),
            (),
            ['the button "Save" (beside "Draft")', 'the button "Save" (beside "Final")'],
        ),
        ((PRINT,), (), []),
        ((), (), []),
    ],
)
def test_the_most_similar_come_first(
    elements: tuple[Resolved, ...], others: tuple[Lookalike, ...], words: list[str]
) -> None:
    assert shown(*elements, others=others) == words


def test_what_was_chosen_while_hidden_is_known_when_it_is_clear() -> None:
    assert shown_by(SAVE, (MORE, SAVE)) == SAVE
    assert shown_by(SAVE, (SAVE, SAVE)) is None
    assert shown_by(SAVE, (MORE,)) is None
