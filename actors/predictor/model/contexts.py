"""Contexts count what followed each of them; the counts stay small, and contexts may be forgotten.

A context is a number made of the tokens in it. Most contexts are seen once, so one that was costs
no more than its key: its value is the token itself. Counts are halved when there are many, which
keeps the recent ones heavy and the lists short.
"""

from collections.abc import Sequence

SPREAD = 0x9E3779B97F4A7C15  # an odd number without a pattern: 2**64 by the golden ratio
MASK = (1 << 60) - 1  # two of a million contexts share a number once in two million logs
BROKEN = 0  # the mark of a step that did not come about: what follows did not follow from before
START = 1  # the mark before the first token
KNOWN = 2  # tokens are numbered from here
UNKNOWN, BREAK = -1, -2  # what stands in a tail for a token that has no number, and for a break
PRIME = (1 << 60) - 93  # the largest that fits into a key: a name is numbered by what is left

ORDERS = 3  # contexts whose successors are counted
TRAILS = (4, 6, 10)  # longer ones, of which only the last successor is kept
ON_PAGE = 2  # so many tokens are told apart by the page that they were done on
CROWD = 4  # there are many different successors when they are one in so many of all


class Successors:
    """A context seen more than once has successors: who, how often, who last, how often so."""

    __slots__ = ("counts", "last", "run", "total")

    def __init__(self, token: int) -> None:
        self.total = 1
        self.last = token
        self.run = 1
        self.counts = {token: 1}

    def add(self, token: int, limit: int) -> None:
        self.run = self.run + 1 if self.last == token else 1
        self.last = token
        self.counts[token] = self.counts.get(token, 0) + 1
        self.total += 1
        if self.total > limit:
            self._halve(limit)

    def _halve(self, limit: int) -> None:
        """Rounded up: what is rare stays, unless there is so much of it that little was halved;
        then what was seen once goes, or the earlier half of it where there is nothing else. What
        came right now stays in any case."""
        kept = {token: (count + 1) >> 1 for token, count in self.counts.items()}
        if len(kept) * CROWD > limit:
            kept = {token: kept[token] for token, count in self.counts.items() if count > 1}
            if not kept:
                kept = dict.fromkeys(list(self.counts)[len(self.counts) // 2 :], 1)
            kept.setdefault(self.last, 1)
        self.counts = kept
        self.total = sum(kept.values())

    def lessen(self, token: int) -> None:
        """Half of what was counted of this token goes."""
        count = self.counts.get(token, 0)
        if not count:
            return
        self.total -= count - (count >> 1)
        if count > 1:
            self.counts[token] = count >> 1
        else:
            del self.counts[token]


Followed = Successors | int


class Contexts:
    """Contexts have successors. Once `room` contexts were new or met again, those that were not met
    since the last time are forgotten: at most twice that many are held."""

    __slots__ = ("limit", "old", "room", "young")

    def __init__(self, limit: int, room: int) -> None:
        self.limit = limit
        self.room = room
        self.young: dict[int, Followed] = {}
        self.old: dict[int, Followed] = {}

    def get(self, key: int) -> Followed | None:
        found = self.young.get(key)
        return self.old.get(key) if found is None else found

    def add(self, key: int, token: int) -> None:
        young = self.young
        found = young.get(key)
        if found is None:
            if len(young) >= self.room:
                self.old, self.young = young, {}
                young = self.young
            found = self.old.pop(key, None)
            if found is None:
                young[key] = token
                return
            young[key] = found
        if isinstance(found, int):
            found = young[key] = Successors(found)
        found.add(token, self.limit)

    def lessen(self, key: int, token: int) -> None:
        """Somebody took back what followed here."""
        for held in (self.young, self.old):
            found = held.get(key)
            if isinstance(found, Successors):
                found.lessen(token)
            if found == token or (isinstance(found, Successors) and not found.counts):
                del held[key]


class Trails:
    """A trail says who followed a long context last, and how many times in a row, up to three: who
    is on a path that was taken before, and for how long.

    A longer trail is begun where the shorter one was known, so its length tells how often, too.
    """

    __slots__ = ("old", "room", "young")

    def __init__(self, room: int) -> None:
        self.room = room
        self.young: dict[int, int] = {}
        self.old: dict[int, int] = {}

    def longest(self, chain: Sequence[int]) -> tuple[int, int, int]:
        """(which length, how many times, the token), or minus ones."""
        for place in range(len(TRAILS) - 1, -1, -1):
            length = TRAILS[place]
            if length <= len(chain):
                key = chain[length - 1]
                packed = self.young.get(key)
                if packed is None:
                    packed = self.old.get(key)
                if packed is not None:
                    return place, packed & 3, packed >> 2
        return -1, -1, -1

    def add(self, chain: Sequence[int], token: int) -> None:
        for length in TRAILS:
            if length > len(chain):
                return
            key = chain[length - 1]
            packed = self.young.get(key)
            if packed is None:
                packed = self.old.pop(key, None)
            times = 1
            if packed is not None and packed >> 2 == token:
                times = min((packed & 3) + 1, 3)
            self._keep(key, token << 2 | times)
            if packed is None:
                return

    def _keep(self, key: int, packed: int) -> None:
        if len(self.young) >= self.room and key not in self.young:
            self.old, self.young = self.young, {}
        self.young[key] = packed

    def lessen(self, chain: Sequence[int], token: int) -> None:
        for length in TRAILS:
            if length <= len(chain):
                for held in (self.young, self.old):
                    if held.get(chain[length - 1], -1) >> 2 == token:
                        del held[chain[length - 1]]


def chain_of(tail: Sequence[int]) -> list[int]:
    """The contexts that end here, the shortest first; a token nobody knows ends them, and so does
    a break, which is told by a mark as the start is."""
    chain: list[int] = []
    key = 0
    for token in reversed(tail[-TRAILS[-1] :]):
        if token < 0:
            if token == BREAK:
                chain.append((key + BROKEN) * SPREAD & MASK)
            return chain
        key = (key + token + KNOWN) * SPREAD & MASK
        chain.append(key)
    if len(tail) < ORDERS:
        chain.append((key + START) * SPREAD & MASK)
    return chain


def key_of(kind: int, *parts: int) -> int:
    """A context of another kind than the last few tokens in a row."""
    key = kind * SPREAD & MASK
    for part in parts:
        key = (key + part + KNOWN) * SPREAD & MASK
    return key


def keys_on_page(kind: int, place: str, chain: Sequence[int]) -> list[int]:
    """The contexts of a place: it alone, with the last token, with the last two."""
    number = int.from_bytes(place.encode("utf-8", "surrogatepass"), "big") % PRIME
    page = key_of(kind, number)
    return [page, *[(page + key) * SPREAD & MASK for key in chain[:ON_PAGE]]]
