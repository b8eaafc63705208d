"""A step's mark is what is done in it, so that doing it again is known.

An element that was found by a parameter's value has the parameter in its name (`Open ${customer}`);
done with any other value it is the same step.
"""

from collections.abc import Container
from typing import NamedTuple

from rutter.actors.rules.pages.address import stands_in
from rutter.actors.rules.steps.placeholders import PLACEHOLDER
from rutter.events.action import kind_of
from rutter.events.signature import doing
from rutter.events.workflow import Workflow


class Mark(NamedTuple):
    """A mark shows its step in a history. `pieces` is its token around the parameters in it, one
    piece where there are none; `reached` is how many steps of the workflow are done with it."""

    token: str
    pieces: tuple[str, ...]
    reached: int
    optional: bool


def marks_of(workflow: Workflow) -> tuple[Mark, ...]:
    """Every step but those that only check: they are in no history, and done with the step that
    they look at. What only reads may be missing, because a person does it with their eyes."""
    marks: list[Mark] = []
    for reached, step in enumerate(workflow.steps, 1):
        kind = kind_of(step.action)
        if kind != "verification":
            token = doing(step.action)
            pieces = _pieces(token, workflow.parameters)
            marks.append(Mark(token, pieces, reached, step.optional or kind == "observation"))
        elif marks:
            marks[-1] = marks[-1]._replace(reached=reached)
    return tuple(marks)


def fits(pieces: tuple[str, ...], token: str) -> bool:
    """Whether the token is these pieces with something in each gap, and nothing but a text: a
    quotation mark more would be another field."""
    quotes = token.count('"')
    return stands_in(pieces, token) and quotes == sum(piece.count('"') for piece in pieces)


def _pieces(token: str, parameters: Container[str]) -> tuple[str, ...]:
    """A page may say `${half}` for reasons of its own: only known names are parameters."""
    pieces: list[str] = []
    at = 0
    for found in PLACEHOLDER.finditer(token):
        if found[1] in parameters:
            pieces.append(token[at : found.start()])
            at = found.end()
    return (*pieces, token[at:])
