"""A takeback is a person's undoing of what was just done: it counts against that, not for it."""

from typing import Literal

import msgspec

from rutter.actors.rules.pages.address import same_document
from rutter.actors.rules.pages.changes import PageMoment
from rutter.events.action import Action
from rutter.events.page import Resolved
from rutter.events.predictor import TransitionLearned, TransitionUndone
from rutter.events.signature import doing

UNDO_KEYS = frozenset({"control+z", "meta+z"})
SWITCHES = frozenset({"checkbox", "switch", "menuitemcheckbox"})
WRITES = frozenset({"type", "select", "press"})


class Taught(msgspec.Struct, frozen=True):
    """A session taught this last, where its page was before and after, and whether it can be taken
    back at all."""

    learned: TransitionLearned
    before: str
    after: str
    final: bool = False


def undone(
    last: Taught | None, action: Action, element: Resolved | None
) -> TransitionUndone | None:
    """What this step of a person takes back, if it does: they went back to the page before, turned
    a switch back, or pressed undo."""
    if last is None:
        return None
    learned, switches = last.learned, element is not None and element.role in SWITCHES
    why: Literal["went_back", "turned_back", "undo_key"]
    if action.type == "navigate" and _is_way_back(last, action.url or ""):
        why = "went_back"
    elif switches and doing(action) == doing(learned.action):
        why = "turned_back"
    elif (action.key or "").lower() in UNDO_KEYS and learned.action.type in WRITES:
        why = "undo_key"
    else:
        return None
    return TransitionUndone(learned.token, why, learned.after, learned.place)


def _is_way_back(last: Taught, url: str) -> bool:
    """Whoever sent something and goes back takes nothing back: they do the next one."""
    left = not same_document(last.before, last.after)
    return left and not last.final and same_document(url, last.before)


def taught(
    learned: TransitionLearned, before: PageMoment, after: PageMoment, *, final: bool = False
) -> Taught:
    return Taught(learned, before.page.url, after.page.url, final)
