"""Foresight is the default model: it says what comes next, and how sure that is.

Three steps, each learned from the log as it goes:

1. *Blend.* Successors are counted for the last three tokens, the last two, the last one and none,
   the start of a session being a token too. Each count is trusted over the shorter ones by as much
   as counts like it were worth so far: like it in size, in how many different successors there
   are, and in how often the last one came in a row. Below the last token comes what was done on the
   page that one is on, if that is known: where the history leads nowhere, the page does.
2. *Factors.* What else is known about each of the best is one factor: how long ago it was done in
   this session, what followed the last time, whether a longer trail leads to it, what is usual in a
   session that began like this one, two steps on, so many steps in, after the last token alone; on
   this page, after the last token there, after the last two. A factor is how much more often than
   expected such a candidate came, so a page that tells nothing comes to count for nothing.
3. *Calibration.* The best one's share becomes how often such a share was right.

All of it is integers, or floats made with + - * / in one order: the same on every machine.
"""

from collections.abc import Sequence
from operator import itemgetter
from typing import NamedTuple

from rutter.actors.predictor.model.calibration import LearnedCalibration
from rutter.actors.predictor.model.contexts import (
    BREAK,
    ORDERS,
    UNKNOWN,
    Contexts,
    Followed,
    Trails,
    chain_of,
    key_of,
    keys_on_page,
)
from rutter.actors.predictor.model.factors import (
    AFTER_LAST,
    BEGUN,
    ECHO,
    NTH,
    ON_PAGE,
    ON_TRAIL,
    OTHER,
    STEPS,
    TWO_ON,
    Candidate,
    Factors,
    Hints,
    Lead,
    lead,
)
from rutter.actors.predictor.model.trust import Trust, Used
from rutter.events.run_settings import MILLION

TAIL = 48  # how far back in its session a token still counts as done before
CANDIDATES = 10  # how many of the best are looked at closely
USUAL = 8  # the most frequent tokens are candidates anywhere
RECENT = 30  # counts of a context are halved above this
BROAD = 255  # counts that many different tokens share are halved above this
ROOM = 250_000  # contexts in a generation: at most twice as many are held
LASTING = 1 << 60  # contexts of one token are few and all kept
FEW = 2.0  # by the rule of succession
LATEST = 12  # later steps of a session are all the same

_share = itemgetter(1)
# How long ago the tokens of a tail were done, the oldest first: 1, 2, 3, 4 to 5, 6 to 9, longer.
_AGO = [*[6] * (TAIL - 9), 5, 5, 5, 5, 4, 4, 3, 2, 1]


Others = list[tuple[int, int]]  # the first mark of their kind, the context


class Situation(NamedTuple):
    """A situation is what came before, as numbers, and the contexts that it makes."""

    tail: list[int]
    chain: list[int]
    others: Others
    page: list[int]


class Outlook(NamedTuple):
    """An outlook is everything that one prediction was made from."""

    ranked: list[Candidate]
    rest: float
    whole: float
    other: int
    used: list[Used]


class Foresight:
    """Foresight can `observe` an event, `predict` without side effects, `doubt` a takeback."""

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
        self.calibration = LearnedCalibration()

    def predict(self, history: Sequence[str], k: int, *, place: str = "") -> list[tuple[str, int]]:
        if not self.total or k < 1:
            return []
        outlook = self._outlook(self._situation(history, self._tail(history), place))
        (best, weight, _), *others = outlook.ranked[:k]
        share = weight / outlook.whole
        # However alike everything was so far: of few things not much can be said.
        said = min(self.calibration.said(share), self.total / (self.total + FEW))
        most = int(said * MILLION)
        left = outlook.whole - weight
        scale = MILLION * (1.0 - said) / left if left > 0.0 else 0.0
        tokens = self.tokens
        found = [(tokens[best], most)]
        for token, weight, _ in others:
            found.append((tokens[token], min(most, int(weight * scale))))
        return found

    def knows(self, history: Sequence[str], *, place: str = "") -> bool:
        """Whether anything ever came after this, or was done on this page: else there is nothing to
        go by but what is done most often."""
        _, chain, _, page = self._situation(history, self._tail(history), place)
        met = bool(chain) and self.lasting.get(chain[0]) is not None
        return met or (bool(page) and self.contexts.get(page[0]) is not None)

    def observe(
        self, history: Sequence[str], token: str, *, place: str = "", measured: bool = True
    ) -> None:
        tail = self._tail(history)
        if UNKNOWN in tail:
            tail = [self._number(each) if each else BREAK for each in history[-TAIL:]]
        number = self._number(token)
        situation = self._situation(history, tail, place)
        if measured and self.total:
            self._learn(self._outlook(situation), number)
        self._count(situation, number)

    def doubt(self, history: Sequence[str], token: str, *, place: str = "") -> None:
        number = self.numbers.get(token)
        if number is None or not self.seen[number]:
            return
        _, chain, _, page = self._situation(history, self._tail(history), place)
        for key in chain[:ORDERS]:
            self.contexts.lessen(key, number)
            self.lasting.lessen(key, number)
        for key in page:
            self.contexts.lessen(key, number)
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
        return [number(token, UNKNOWN) if token else BREAK for token in history[-TAIL:]]

    def _situation(self, history: Sequence[str], tail: list[int], place: str) -> Situation:
        chain = chain_of(tail)
        others = self._others(history, tail)
        return Situation(tail, chain, others, keys_on_page(ON_PAGE, place, chain) if place else [])

    def _outlook(self, situation: Situation) -> Outlook:
        tail, chain, others, page = situation
        on_page = [self.contexts.get(key) for key in page]
        known = self._known(chain, on_page[0] if page else None)
        shares, left, used = self.trust.blend(known)
        self._add_single(shares, left)
        best = sorted(shares.items(), key=_share, reverse=True)[:CANDIDATES]
        other = OTHER + len(known) - 1
        hints = Hints(
            dict(zip(tail, _AGO[TAIL - len(tail) :], strict=True)),
            _echo(tail),
            self._trail(chain),
            self._leads(others, known, on_page),
            other,
        )
        weighed, rest, whole = self.factors.weigh(best, hints)
        weighed.sort(key=_share, reverse=True)
        return Outlook(weighed, rest, whole, other, used)

    def _others(self, history: Sequence[str], tail: list[int]) -> Others:
        """Contexts of other kinds: how far on in the session; the token two steps back; how the
        session began, and the last token."""
        size = len(history)
        found = [(NTH, key_of(NTH, min(size, LATEST)))]
        if size > 1 and tail[-2] >= 0:
            found.append((TWO_ON, key_of(TWO_ON, tail[-2])))
        if size > 2 and tail[-1] >= 0:
            first = tail[0] if size <= TAIL else self.numbers.get(history[0], UNKNOWN)
            if first >= 0:
                found.append((BEGUN, key_of(BEGUN, first, tail[-1])))
        return found

    def _known(self, chain: list[int], on_page: Followed | None) -> list[Followed | None]:
        """What was done on this page, if anything was; the successors of the last token, the last
        two and three, as far as they were seen."""
        known: list[Followed | None] = [on_page]
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

    def _leads(
        self,
        others: Others,
        known: Sequence[Followed | None],
        on_page: Sequence[Followed | None],
    ) -> list[Lead]:
        leads = []
        for mark, key in others:
            followed = (self.contexts if mark == BEGUN else self.lasting).get(key)
            if followed is not None:
                leads.append(lead(mark, followed))
        if len(known) > 2 and known[1] is not None:
            leads.append(lead(AFTER_LAST + (len(known) - 3) * (STEPS + 1), known[1]))
        mark = ON_PAGE
        for followed in on_page:
            if followed is not None:
                leads.append(lead(mark, followed))
            mark += STEPS + 1
        return leads

    def _learn(self, outlook: Outlook, number: int) -> None:
        best, weight, _ = outlook.ranked[0]
        self.calibration.learn(weight / outlook.whole, best == number)
        self.factors.learn(outlook.ranked, outlook.other, outlook.rest, outlook.whole, number)
        single = self.seen[number] / self.total
        self.trust.learn(outlook.used, number, single, 1.0 / len(self.tokens))

    def _count(self, situation: Situation, number: int) -> None:
        _, chain, others, page = situation
        self.seen[number] += 1
        self.total += 1
        _raise(self.usual, number, self.seen)
        self.lasting.add(chain[0], number)
        for key in (*chain[1:ORDERS], *page):
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
