"""The default model: what comes next, and how sure that is.

Three steps, each learned from the log as it goes:

1. *Blend.* Successors are counted for the last three tokens, the last two, the last one and none,
   the start of a session being a token too. Each count is trusted over the shorter ones by as much
   as counts like it were worth so far: like it in size, in how many different successors there
   are, and in how often the last one came in a row.
2. *Factors.* What else is known about each of the best is one factor: how long ago it was done in
   this session, what followed the last time, whether a longer trail leads to it, what is usual in a
   session that began like this one, two steps on, at this place, after the last token alone. A
   factor is how much more often than expected such a candidate came.
3. *Calibration.* The best one's share becomes how often such a share was right.

All of it is integers, or floats made with + - * / in one order: the same on every machine.
"""

from collections.abc import Sequence
from operator import itemgetter
from typing import NamedTuple

from actors.predictor.calibration import Calibration
from actors.predictor.contexts import ORDERS, Contexts, Followed, Trails, chain_of, key_of
from actors.predictor.factors import (
    AFTER_LAST,
    BEGUN,
    ECHO,
    ON_TRAIL,
    OTHER,
    PLACE,
    STEPS,
    TWO_ON,
    Candidate,
    Factors,
    Hints,
    Lead,
    lead,
)
from actors.predictor.trust import Trust, Used
from events.workflow import MILLION

TAIL = 48  # how far back in its session a token still counts as done before
CANDIDATES = 10  # how many of the best are looked at closely
USUAL = 8  # the most frequent tokens are candidates anywhere
RECENT = 30  # counts of a context are halved above this
BROAD = 255  # counts that many different tokens share are halved above this
ROOM = 250_000  # contexts in a generation: at most twice as many are held
LASTING = 1 << 60  # contexts of one token are few and all kept
PLACES = 12  # later places in a session are all the same

_share = itemgetter(1)
# How long ago the tokens of a tail were done, the oldest first: 1, 2, 3, 4 to 5, 6 to 9, longer.
_AGO = [*[6] * (TAIL - 9), 5, 5, 5, 5, 4, 4, 3, 2, 1]


Others = list[tuple[int, int]]  # the first mark of their kind, the context


class Outlook(NamedTuple):
    """Everything that one prediction was made from."""

    ranked: list[Candidate]
    rest: float
    whole: float
    other: int
    used: list[Used]


class Foresight:
    """`observe` one event, `predict` without side effects, `doubt` what was taken back."""

    def __init__(self) -> None:
        self.numbers: dict[str, int] = {}
        self.tokens: list[str] = []
        self.seen: list[int] = []  # how often each came, by number
        self.total = 0
        self.usual: list[int] = []
        self.contexts = Contexts(RECENT, ROOM)
        self.lasting = Contexts(BROAD, LASTING)
        self.trails = Trails(ROOM)
        self.trust = Trust()
        self.factors = Factors()
        self.calibration = Calibration()

    def predict(self, history: Sequence[str], k: int) -> list[tuple[str, int]]:
        if not self.total or k < 1:
            return []
        outlook = self._look(history)
        (best, weight, _), *others = outlook.ranked[:k]
        share = weight / outlook.whole
        said = self.calibration.said(share)
        most = int(said * MILLION)
        left = outlook.whole - weight
        scale = MILLION * (1.0 - said) / left if left > 0.0 else 0.0
        tokens = self.tokens
        found = [(tokens[best], most)]
        for token, weight, _ in others:
            found.append((tokens[token], min(most, int(weight * scale))))
        return found

    def observe(self, history: Sequence[str], token: str, *, measured: bool = True) -> None:
        tail = self._tail(history)
        if -1 in tail:
            tail = [self._number(each) for each in history[-TAIL:]]
        number = self._number(token)
        chain = chain_of(tail)
        others = self._others(history, tail)
        if measured and self.total:
            self._learn(self._outlook(tail, chain, others), number)
        self._count(chain, others, number)

    def doubt(self, history: Sequence[str], token: str) -> None:
        number = self.numbers.get(token)
        if number is None or not self.seen[number]:
            return
        tail = self._tail(history)
        chain = chain_of(tail)
        for key in chain[:ORDERS]:
            self.contexts.lessen(key, number)
            self.lasting.lessen(key, number)
        self.trails.lessen(chain, number)
        self.seen[number] -= 1
        self.total -= 1
        self.usual.sort(key=self.seen.__getitem__, reverse=True)

    def _number(self, token: str) -> int:
        number = self.numbers.get(token)
        if number is None:
            number = self.numbers[token] = len(self.tokens)
            self.tokens.append(token)
            self.seen.append(0)
        return number

    def _tail(self, history: Sequence[str]) -> list[int]:
        number = self.numbers.get
        return [number(token, -1) for token in history[-TAIL:]]

    def _look(self, history: Sequence[str]) -> Outlook:
        tail = self._tail(history)
        return self._outlook(tail, chain_of(tail), self._others(history, tail))

    def _outlook(self, tail: list[int], chain: list[int], others: Others) -> Outlook:
        known = self._known(chain)
        shares, left, used = self.trust.blend(known)
        self._add_single(shares, left)
        best = sorted(shares.items(), key=_share, reverse=True)[:CANDIDATES]
        other = OTHER + len(known)
        hints = Hints(
            dict(zip(tail, _AGO[TAIL - len(tail) :], strict=True)),
            _echo(tail),
            self._trail(chain),
            self._leads(others, known),
            other,
        )
        weighed, rest, whole = self.factors.weigh(best, hints)
        weighed.sort(key=_share, reverse=True)
        return Outlook(weighed, rest, whole, other, used)

    def _others(self, history: Sequence[str], tail: list[int]) -> Others:
        """Contexts of other kinds: the place in the session; the token two steps back; how the
        session began, and the last token."""
        size = len(history)
        found = [(PLACE, key_of(PLACE, min(size, PLACES)))]
        if size > 1 and tail[-2] >= 0:
            found.append((TWO_ON, key_of(TWO_ON, tail[-2])))
        if size > 2 and tail[-1] >= 0:
            first = tail[0] if size <= TAIL else self.numbers.get(history[0], -1)
            if first >= 0:
                found.append((BEGUN, key_of(BEGUN, first, tail[-1])))
        return found

    def _known(self, chain: list[int]) -> list[Followed]:
        """The successors of the last token, the last two and three, as far as they were seen."""
        known: list[Followed] = []
        held = self.lasting
        for key in chain[:ORDERS]:
            followed = held.get(key)
            if followed is None:
                break
            known.append(followed)
            held = self.contexts
        return known

    def _add_single(self, shares: dict[int, float], left: float) -> None:
        """What is left goes to tokens by how often they came, and a little to those that never
        did."""
        base = self.trust.base()
        each = left * base / self.total
        never = left * (1.0 - base) / (len(self.tokens) + 1)
        for token in self.usual:
            if token not in shares:
                shares[token] = 0.0
        seen = self.seen
        for token in shares:
            shares[token] += each * seen[token] + never

    def _trail(self, chain: list[int]) -> tuple[int, int]:
        length, times, token = self.trails.longest(chain)
        return token, ON_TRAIL + length * 3 + times - 1

    def _leads(self, others: Others, known: list[Followed]) -> list[Lead]:
        leads = []
        for mark, key in others:
            followed = (self.contexts if mark == BEGUN else self.lasting).get(key)
            if followed is not None:
                leads.append(lead(mark, followed))
        if len(known) > 1:
            leads.append(lead(AFTER_LAST + (len(known) - 2) * (STEPS + 1), known[0]))
        return leads

    def _learn(self, outlook: Outlook, number: int) -> None:
        best, weight, _ = outlook.ranked[0]
        self.calibration.learn(weight / outlook.whole, best == number)
        self.factors.learn(outlook.ranked, outlook.other, outlook.rest, outlook.whole, number)
        single = self.seen[number] / self.total
        self.trust.learn(outlook.used, number, single, 1.0 / len(self.tokens))

    def _count(self, chain: list[int], others: Others, number: int) -> None:
        self.seen[number] += 1
        self.total += 1
        _raise(self.usual, number, self.seen)
        self.lasting.add(chain[0], number)
        for key in chain[1:ORDERS]:
            self.contexts.add(key, number)
        for mark, key in others:
            (self.contexts if mark == BEGUN else self.lasting).add(key, number)
        self.trails.add(chain, number)


def _echo(tail: list[int]) -> tuple[int, int]:
    """What followed the last token when it was done before in this session, and how well the
    tokens before it agree."""
    if tail:
        back = tail[::-1]
        last = back[0]
        if last in back[1:]:
            at = back.index(last, 1)
            agree = 1
            while agree < 3 and at + agree < len(back) and back[at + agree] == back[agree]:
                agree += 1
            return back[at - 1], ECHO + agree - 1
    return -1, 0


def _raise(usual: list[int], number: int, seen: list[int]) -> None:
    """Keeps the most frequent tokens in order, after one of them came once more."""
    if number in usual:
        at = usual.index(number)
    elif len(usual) < USUAL:
        at = len(usual)
        usual.append(number)
    elif seen[number] > seen[usual[-1]]:
        at = USUAL - 1
    else:
        return
    while at and seen[usual[at - 1]] < seen[number]:
        usual[at] = usual[at - 1]
        at -= 1
    usual[at] = number
