"""The journal keeps what every session taught, in log order, in some twenty bytes a transition.

From it a model can be folded at any time, with or without a session, so that one that nobody asks
costs nothing, and one session can be forgotten without reading the log again.
"""

from array import array
from collections.abc import Container, Iterator
from operator import attrgetter
from typing import Final, NamedTuple

import msgspec

from rutter.events.action import Action, Parameter, Secret, Text
from rutter.events.predictor import EndLearned, TransitionLearned, TransitionUndone
from rutter.events.signature import bare

# How a row counts.
DONE: Final = 0
OWN: Final = 1  # a model of ours brought it about: it says nothing about how right we are
TAKEN_BACK: Final = 2
REFUSED: Final = 3
END: Final = 4
OWN_END: Final = 5

Taught = TransitionLearned | TransitionUndone | EndLearned

RECENT = 4  # sessions remembered by how they did a thing, of each thing


class LearnedRow(NamedTuple):
    """A row is one thing learned. Tokens are named as the log names them; an end has none."""

    session: int
    token: str
    after: tuple[str, ...]
    place: str
    counts: int


class NumberedTexts:
    """A table gives each text a number, and holds it once."""

    def __init__(self) -> None:
        self.all: list[str] = []
        self._numbers: dict[str, int] = {}

    def number(self, text: str) -> int:
        found = self._numbers.get(text)
        if found is None:
            found = self._numbers[text] = len(self.all)
            self.all.append(text)
        return found


class Journal:
    def __init__(self) -> None:
        self._forgotten: dict[int, int] = {}  # of a session, how many rows there were then
        self._sessions = NumberedTexts()
        self._texts = NumberedTexts()  # tokens and places
        self._none = self._texts.number("")
        self._rows = array("I")
        self._counts = array("B")

    def __len__(self) -> int:
        return len(self._counts)

    def session(self, name: str) -> int:
        return self._sessions.number(name)

    def forget(self, session: int) -> None:
        """What it taught until now goes. What it goes on to teach counts."""
        self._forgotten[session] = len(self)

    def add(self, session: str, learned: Taught) -> LearnedRow:
        token = "" if isinstance(learned, EndLearned) else learned.token
        row = LearnedRow(
            self.session(session), token, learned.after[-2:], learned.place, _kind(learned)
        )
        number = self._texts.number
        first, second = ("", "", *row.after)[-2:]
        self._rows.extend(
            (row.session, number(row.token), number(first), number(second), number(row.place))
        )
        self._counts.append(row.counts)
        return row

    def rows(self, begin: int = 0, end: int | None = None) -> Iterator[LearnedRow]:
        """Everything but what was forgotten."""
        rows, texts, none = self._rows, self._texts.all, self._none
        for at in range(begin, len(self) if end is None else min(end, len(self))):
            counts = self._counts[at]
            session, token, first, second, place = rows[at * 5 : at * 5 + 5]
            if at < self._forgotten.get(session, 0):
                continue
            after = tuple(texts[each] for each in (first, second) if each != none)
            yield LearnedRow(session, texts[token], after, texts[place], counts)


class PastAction(NamedTuple):
    """A session did a thing like this; `at` says how many were done before it."""

    session: int
    action: Action
    at: int


class PastActions:
    """The last sessions that did each thing show how it is done.

    More than the last, because one may be forgotten, and because another's parameters may be bound.
    """

    def __init__(self) -> None:
        self._past: dict[str, list[PastAction]] = {}  # by token
        self._tokens: dict[str, dict[str, None]] = {}  # by what is done, whatever it is done with
        self._count = 0

    def add(self, session: int, token: str, action: Action) -> None:
        self._count += 1
        held = self._past.setdefault(token, [])
        # Most are done alike each time: that is held once.
        action = next((each.action for each in held if each.action == action), action)
        held[:] = [each for each in held if each.session != session][-RECENT + 1 :]
        held.append(PastAction(session, action, self._count))
        self._tokens.setdefault(bare(token), {})[token] = None

    def exactly(self, token: str) -> Action | None:
        held = self._past.get(token)
        return held[-1].action if held else None

    def like(self, doing: str, bound: Container[str]) -> Action | None:
        """How it would be done now. What is typed is what every session typed, or a parameter that
        is bound. Otherwise it is not known, and is left out: how probable the step is says nothing
        of what is to be typed."""
        past = [each for token in self._tokens.get(doing, {}) for each in self._past.get(token, ())]
        if not past:
            return None
        past.sort(key=attrgetter("at"), reverse=True)
        done = [each.action for each in past]
        newest = done[0]
        named = [(each, _names(each)) for each in done]
        given = [each for each, of in named if of and all(name in bound for name in of)]
        texts = [each.value.text for each in done if isinstance(each.value, Text)]
        if not _names(newest) and all(text == texts[0] for text in texts):
            return newest
        return given[0] if given else msgspec.structs.replace(newest, value=None)

    def forget(self, session: int) -> None:
        for held in self._past.values():
            held[:] = [each for each in held if each.session != session]


def _kind(learned: Taught) -> int:
    if isinstance(learned, TransitionUndone):
        return REFUSED if learned.why == "refused" else TAKEN_BACK
    own = learned.driver == "prediction"
    if isinstance(learned, EndLearned):
        return OWN_END if own else END
    return OWN if own else DONE


def _names(action: Action) -> set[str]:
    """What must be bound before it can be done."""
    found = {said.secret for said in action.dialogs if said.secret}
    if isinstance(action.value, Parameter | Secret):
        found.add(action.value.name)
    return found
