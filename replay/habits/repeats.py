"""Repeats are the longest sequences of numbers that occur again and again, and where they do.

Sequences are grown step by step from all the places where they occur, and only while they occur
often enough: what happens once costs nothing.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

BREAK = -1  # no sequence goes over it
SHORTEST = 3  # two steps are a coincidence on many a site
LONGEST = 64  # a longer one is found in parts; what repeats itself for ever must end somewhere


class Repeat(NamedTuple):
    """A repeat says where a sequence occurs; no two of these places overlap."""

    length: int
    starts: list[int]


def repeats(codes: Sequence[int], least: int) -> list[Repeat]:
    """The longest first. A shorter one is told only where it was done often enough outside of
    the longer ones."""
    least = max(least, 2)
    steps = [*codes, BREAK]
    found = list(_grown(steps, least))
    found.sort(key=lambda repeat: (-repeat.length, -len(repeat.starts), repeat.starts[0]))
    covered = bytearray(len(steps))
    told: list[Repeat] = []
    for length, starts in found:
        free = [start for start in starts if covered.find(1, start, start + length) < 0]
        if len(free) < least:
            continue
        told.append(Repeat(length, starts))
        for start in starts:
            covered[start : start + length] = b"\1" * length
    return told


class _GrowingRepeat(NamedTuple):
    """A growing sequence knows every place where it occurs, and those that do not overlap."""

    length: int
    everywhere: list[int]
    apart: list[int]


def _grown(steps: list[int], least: int) -> Iterator[Repeat]:
    """All that occur often enough, but for those that never occur without their next step."""
    growing = list(_longer(steps, _GrowingRepeat(0, list(range(len(steps))), []), least))
    while growing:
        sequence = growing.pop()
        length, _, apart = sequence
        longer = list(_longer(steps, sequence, least)) if length < LONGEST else []
        growing += longer
        if length < SHORTEST or any(_is_always(steps, each, apart) for each in longer):
            continue
        once = _not_in_turns(steps, length, apart)
        if len(once) >= least:
            yield Repeat(length, once)


def _longer(steps: list[int], sequence: _GrowingRepeat, least: int) -> Iterator[_GrowingRepeat]:
    """One step more, whatever it is, where that still occurs often enough."""
    length, everywhere, _ = sequence
    follow = [steps[start + length] for start in everywhere]
    by_step: dict[int, list[int]] = {}
    if follow.count(follow[0]) == len(follow):
        by_step[follow[0]] = everywhere
    else:
        for start, step in zip(everywhere, follow, strict=True):
            by_step.setdefault(step, []).append(start)
    by_step.pop(BREAK, None)
    for starts in by_step.values():
        apart = _apart(starts, length + 1) if len(starts) >= least else []
        if len(apart) >= least:
            yield _GrowingRepeat(length + 1, starts, apart)


def _apart(starts: list[int], length: int) -> list[int]:
    """As many as there is room for, from the first one on."""
    found: list[int] = []
    free = 0
    for start in starts:
        if start >= free:
            found.append(start)
            free = start + length
    return found


def _is_always(steps: list[int], longer: _GrowingRepeat, apart: list[int]) -> bool:
    """Whether the longer one is done whenever the shorter one is, and is worth telling itself."""
    if len(longer.apart) < len(apart):
        return False
    start = longer.apart[0]
    return _period(steps[start : start + longer.length]) == longer.length


def _not_in_turns(steps: list[int], length: int, starts: list[int]) -> list[int]:
    """Without the places where it is part of a shorter thing that is done at least twice in turn:
    of `abcabc` it is `abc` that was done, and neither `bcab` nor all of it."""
    period = _period(steps[starts[0] : starts[0] + length])
    if period == length:
        return starts
    if length >= 2 * period:
        return []
    return [start for start in starts if _run(steps, start, length, period) < 2 * period]


def _run(steps: list[int], start: int, length: int, period: int) -> int:
    """How long what is here repeats itself, to both sides: two periods at most."""
    end = start + length
    while end - start < 2 * period and steps[end] == steps[end - period] != BREAK:
        end += 1
    while end - start < 2 * period and start > 0 and steps[start - 1] == steps[start - 1 + period]:
        start -= 1
    return end - start


def _period(sequence: Sequence[int]) -> int:
    """After how many steps it begins anew, to the end or in part; its length if it does not."""
    borders = [0]
    for at in range(1, len(sequence)):
        border = borders[-1]
        while border and sequence[at] != sequence[border]:
            border = borders[border - 1]
        borders.append(border + (sequence[at] == sequence[border]))
    return len(sequence) - borders[-1]
