"""No acknowledged event is lost when the process that appends is killed, at any moment."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from random import Random

import pytest

from tests.crash.appender import ROOT
from tests.crash.survivors import Problem, find_problems
from tests.crash.victim import OPENING
from tests.crash.workload import Ack

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]


def append_until_killed(
    path: Path, rng: Random, *, lines: int, spin: int, writers: int = 4, early: bool = False
) -> list[Ack]:
    """Kills the child once it said `lines` lines and we counted to `spin`; what it acknowledged."""
    command = [sys.executable, "-m", "tests.crash.victim", str(path), str(rng.random())[2:]]
    command += [str(writers), *(["early"] if early else [])]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as child:
        assert child.stdout is not None
        said = [child.stdout.readline().strip() for _ in range(lines)]
        for _ in range(spin):  # a moment that no event of the child's decides
            pass
        child.kill()
        said += [line.strip() for line in child.stdout]
    assert said[0] == OPENING
    return [Ack(int(seq), bytes.fromhex(digest)) for seq, digest in map(str.split, said[1:])]


def test_one_log_outlives_every_kill_of_its_writer(
    tmp_path: Path, count: Callable[[int, int], int]
) -> None:
    rng, acks = Random(2), list[Ack]()
    kills = count(15, 100)
    for kill in range(kills):
        acks += append_until_killed(
            tmp_path / "log.db",
            rng,
            lines=rng.randint(1, 80),
            spin=rng.randrange(200_000),
            writers=(1, 4, 40)[kill % 3],
        )
        assert find_problems(tmp_path / "log.db", acks) == []
    print(f"kills: {kills}, acknowledged turns: {len(acks)}, lost: 0")
    assert len(acks) > 10 * kills


def test_a_kill_while_the_log_is_made_leaves_one_that_opens(
    tmp_path: Path, count: Callable[[int, int], int]
) -> None:
    rng = Random(3)
    for kill in range(count(10, 50)):
        path = tmp_path / str(kill) / "log.db"
        path.parent.mkdir()
        acks = append_until_killed(path, rng, lines=1, spin=rng.randrange(400_000))
        assert find_problems(path, acks) == []


def test_the_control_that_acknowledges_before_the_commit_is_caught(tmp_path: Path) -> None:
    rng, found = Random(4), set[Problem]()
    for kill in range(15):
        path = tmp_path / str(kill) / "log.db"
        path.parent.mkdir()
        acks = append_until_killed(
            path, rng, lines=rng.randint(2, 200), spin=0, writers=40, early=True
        )
        found.update(find_problems(path, acks))
    print(f"control: acknowledged too early and lost {len(found)} times")
    assert {problem.kind for problem in found} == {"lost"}
