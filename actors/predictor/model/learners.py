"""A learner gives a model the journal's rows, each kind of model in its own form."""

from collections import OrderedDict
from collections.abc import Sequence

from rutter.actors.predictor.journal import DONE, END, OWN, OWN_END, REFUSED, TAKEN_BACK, LearnedRow
from rutter.actors.predictor.model.foresight import TAIL, Foresight
from rutter.actors.predictor.model.markov2 import Markov2
from rutter.actors.predictor.model.places import Places
from rutter.events.signature import bare

NOTHING = "-"  # what comes next when nothing more comes: no token of an action is like it
BREAK = ""  # in a history: a step was not confirmed here, so what follows did not follow from it
SESSIONS = 1024  # whose histories are known to the end; of older ones, what the event says


def kept(history: Sequence[str]) -> tuple[str, ...]:
    """As much of a session's history as any model looks at: its first token and the last ones."""
    if len(history) <= TAIL + 1:
        return tuple(history)
    return (history[0], *history[-TAIL:])


def since_break(history: Sequence[str], most: int) -> tuple[str, ...]:
    """The last tokens in a row, `most` at most: nothing is known to follow from before a break."""
    found: list[str] = []
    for token in reversed(history):
        if token == BREAK or len(found) == most:
            break
        found.append(token)
    return tuple(reversed(found))


class OfSeeds:
    """`markov2` counts tokens as they are named, behind the two before them."""

    def __init__(self) -> None:
        self.model = Markov2()

    def take(self, row: LearnedRow) -> None:
        if row.counts in (DONE, OWN):
            self.model.observe(row.after, row.token)


class OfForesight:
    """`foresight` counts what was done to which element, whatever it was done with, in the whole
    history of its session."""

    def __init__(self) -> None:
        self.model = Foresight()
        self.places = Places()
        self._histories: OrderedDict[int, tuple[str, ...]] = OrderedDict()
        self._bare: dict[str, str] = {}

    def take(self, row: LearnedRow) -> None:
        token = self.bare(row.token) if row.token else NOTHING
        own = row.counts in (OWN, OWN_END)
        if row.place:
            self.places.see(row.place)
        place = self.places.pattern(row.place)
        # What is learned at the end of its session is a history of its own.
        key = row.session * 2 + own
        history = self._history(key, tuple(map(self.bare, row.after)), token, row.counts)
        if row.counts in (TAKEN_BACK, REFUSED):
            self.model.doubt(history, token, place=place)
        else:
            self.model.observe(history, token, place=place, measured=not own)
        if row.counts in (END, OWN_END):
            self._histories.pop(key, None)
        else:
            self._keep(key, kept((*history, token) if row.counts in (DONE, OWN) else history))

    def bare(self, token: str) -> str:
        if token == BREAK:
            return token
        found = self._bare.get(token)
        if found is None:
            found = self._bare[token] = bare(token)
        return found

    def _history(
        self, key: int, after: tuple[str, ...], token: str, counts: int
    ) -> tuple[str, ...]:
        """The session so far. Where the event says that something else came right before, that
        came in between: what a model of ours did is learned later, or never."""
        known = self._histories.get(key)
        if known is None:
            return (BREAK, *after) if len(after) > 1 else after
        if counts == TAKEN_BACK and known[-1:] == (token,):
            return known[:-1]
        if not after:
            return known if not known or known[-1] == BREAK else (*known, BREAK)
        shared = max(
            size for size in range(len(after) + 1) if since_break(known, size) == after[:size]
        )
        return (*known, *after[shared:])

    def _keep(self, key: int, history: tuple[str, ...]) -> None:
        self._histories[key] = history
        self._histories.move_to_end(key)
        if len(self._histories) > SESSIONS:
            self._histories.popitem(last=False)
