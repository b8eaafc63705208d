"""Given numbers in a row: what of them repeats, and where."""

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from rutter.replay.habits.repeats import BREAK, LONGEST, SHORTEST, repeats
from tests.support.case_table import for_each

rows = st.lists(st.integers(-1, 4), max_size=80)


def found(row: str, least: int = 3) -> dict[str, int]:
    """What repeats in a row of letters, with its times; `.` is a break."""
    codes = [BREAK if letter == "." else ord(letter) for letter in row]
    return {
        "".join(map(chr, codes[starts[0] : starts[0] + length])): len(starts)
        for length, starts in repeats(codes, least)
    }


@for_each(
    "row, expected",
    [
        ("", {}),  # nothing
        ("abcd.abcd", {}),  # twice is not often enough
        ("ab.ab.ab.ab", {}),  # two steps are too short
        ("abcd.xabcdy.abcdz", {"abcd": 3}),  # the longest that is done each time
        ("abc.abc.abc.ab.c", {"abc": 3}),  # nothing goes over a break
        ("aaaaaaaaaaaaaaaa", {}),  # one thing over and over
        ("abababababab", {}),  # two things in turn
        ("abcabcabcabc", {"abc": 4}),  # three things in turn, by where they begin
        ("abcabc.abcabc.abcabc", {"abc": 6}),  # always done twice in turn
        ("abca.xabca.abcay", {"abca": 3}),  # it ends as it began
        ("pabx.qabx.pabx.qabx.pabx.qabx", {"pabx": 3, "qabx": 3}),  # they end alike
        ("abcd.abcd.abcd.abc.abc.abc", {"abcd": 3, "abc": 6}),  # the shorter one on its own
        ("abcd.abcd.abcd.abc.abc", {"abcd": 3}),  # hardly ever on its own
    ],
)
def test_what_repeats(row: str, expected: dict[str, int]) -> None:
    assert found(row) == expected


def test_how_often_is_often_enough_is_asked_for() -> None:
    assert found("abcd.abcd", least=2) == {"abcd": 2}
    assert found("abcd.abcd.abcd", least=4) == {}


def test_a_very_long_one_is_found_in_parts() -> None:
    once = [*range(LONGEST + 10), BREAK]
    told = repeats(once * 3, 3)
    assert [(repeat.length, len(repeat.starts)) for repeat in told] == [(LONGEST, 3), (10, 3)]


@given(rows, st.integers(2, 4))
def test_each_is_there_as_often_as_it_is_told_and_none_overlaps_itself(
    codes: list[int], least: int
) -> None:
    for length, starts in repeats(codes, least):
        assert SHORTEST <= length <= LONGEST
        assert len(starts) >= least
        assert all(start + length <= after for start, after in pairwise(starts))
        sequences = {tuple(codes[start : start + length]) for start in starts}
        assert len(sequences) == 1
        assert BREAK not in sequences.pop()


@given(rows)
def test_none_is_told_that_is_only_ever_done_inside_of_another(codes: list[int]) -> None:
    told = [
        (tuple(codes[starts[0] : starts[0] + length]), len(starts))
        for length, starts in repeats(codes, 3)
    ]
    for longer, often in told:
        within = {longer[at:end] for at in range(len(longer)) for end in range(at, len(longer) + 1)}
        assert all(times > often for other, times in told if other != longer and other in within)


@given(
    st.lists(st.integers(0, 9), min_size=SHORTEST, max_size=10, unique=True),
    st.lists(st.lists(st.integers(), max_size=3), min_size=3, max_size=8),
)
def test_what_is_planted_among_noise_is_found_with_its_times(
    planted: list[int], noise: list[list[int]]
) -> None:
    # No two pieces of noise are alike, so that nothing else repeats.
    number = 10
    codes: list[int] = []
    for piece in noise:
        for _ in (*piece, None):
            number += 1
            codes.append(number)
        codes += planted
    [repeat] = repeats(codes, 3)
    assert (repeat.length, len(repeat.starts)) == (len(planted), len(noise))
    assert codes[repeat.starts[0] : repeat.starts[0] + repeat.length] == planted
