"""The comparison measures two commits in turns: `python -m bench.compare [--rev REV] [NAME ...]`.

A machine is never twice the same: figures of two commits mean something beside each other only
where both were measured at the same time. So the other commit gets a worktree with an environment
of its own, both run each bench once in every round, and what they differ by is held against what
the rounds of one tree differ by. Nothing fails because it is slow: this tells, a person judges.
"""

import argparse
import csv
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from time import perf_counter
from typing import NamedTuple

from bench.ratios import Comparison, Ratios, Spread, compare, ratios_in, spreads_of
from bench.tables import Cell, print_table

NAMES = ("append", "pipeline", "replay", "flow")  # log, actors, deciding again, a whole run
ROUNDS = 3
KEPT = Path("bench/ratios.csv")
COLUMNS = ("commit", "beside", "rounds", "load", "bench", "ratio", "median", "least", "most")
STOPS = (signal.SIGINT, signal.SIGTERM)
ENDING_S = 10  # a browser needs a second or two to close
INTERRUPTED = 130  # what a shell says of a program that Ctrl-C ended


class Tree(NamedTuple):
    """A tree is a checkout that can be measured. Both are built and run by the same commands."""

    commit: str
    directory: Path

    def build(self) -> None:
        python = Path(sys.executable).resolve()  # both sides by the same Python
        made = _run(self.directory, "make", "-s", "venv", f"PYTHON={python}")
        if made.returncode:
            raise SystemExit(f"make venv failed in {self.commit}:\n{made.stdout}{made.stderr}")

    def measure(self, name: str) -> Ratios:
        """Empty, and said, where the bench failed: others may still be compared."""
        done = _run(self.directory, ".venv/bin/python", "-m", "bench", name)
        if done.returncode:
            _say(f"bench {name} failed in {self.commit}: {_last_line(done.stderr)}")
            return {}
        return ratios_in(done.stdout)


class Measured(NamedTuple):
    """Measures stand by bench and ratio, for either tree, beside the machine's load meanwhile."""

    before: Mapping[str, Mapping[str, Spread]]
    after: Mapping[str, Mapping[str, Spread]]
    load: float


@contextmanager
def worktree(root: Path, commit: str) -> Iterator[Tree]:
    """The commit beside the tree that is here, for as long as it is measured."""
    with tempfile.TemporaryDirectory(prefix="rutter-bench-") as directory:
        path = Path(directory, "tree")
        try:
            _git(root, "worktree", "add", "--quiet", "--detach", str(path), commit)
            yield Tree(commit, path)
        finally:
            _run(root, "git", "worktree", "remove", "--force", str(path))


def measure(before: Tree, after: Tree, names: Sequence[str], rounds: int) -> Measured:
    """In turns, and either goes first as often as the other."""
    found: dict[tuple[Tree, str], list[Ratios]] = {}
    loads = []
    for number in range(rounds):
        for name in names:
            for tree in (before, after) if number % 2 == 0 else (after, before):
                began = perf_counter()
                found.setdefault((tree, name), []).append(tree.measure(name))
                loads.append(os.getloadavg()[0])
                _say(
                    f"round {number + 1} of {rounds}: {name} of {tree.commit} "
                    f"took {perf_counter() - began:.0f} s, load {loads[-1]:.1f}"
                )
    of_before, of_after = (
        {name: spreads_of(found[tree, name]) for name in names} for tree in (before, after)
    )
    return Measured(of_before, of_after, sum(loads) / len(loads))


def print_comparison(before: str, after: str, measured: Measured) -> None:
    compared = [
        (name, each)
        for name, ratios in measured.after.items()
        for each in compare(measured.before[name], ratios)
    ]
    print_table(
        f"{after} beside {before}, medians and spreads, load {measured.load:.1f}",
        ("ratio", before, "spread", after, "spread", "change", ""),
        [_row(name, each) for name, each in compared],
    )
    moved = sum(each.moved for _, each in compared)
    print(f"  {moved} of {len(compared)} moved: by more than both spreads and more than a tenth")
    for name, ratios in measured.after.items():
        if not ratios:
            print(f"  {name} printed no ratio in {after}")
        for alone in sorted(ratios.keys() ^ measured.before[name].keys()):
            print(f"  not compared, only one of them printed it: {name}: {alone}")


def _row(name: str, each: Comparison) -> list[Cell]:
    before, after = each.before, each.after
    change, mark = f"x {each.change:.2f}", "moved" if each.moved else ""
    figures = (before.median, str(before), after.median, str(after))
    return [f"{name}: {each.name}", *figures, change, mark]


def keep(path: Path, before: str, after: str, measured: Measured, rounds: int) -> None:
    """A commit's ratios name the commit they were measured beside: only those two compare."""
    fresh = not path.exists()
    with path.open("a", newline="") as file:
        table = csv.writer(file, lineterminator="\n")
        if fresh:
            table.writerow(COLUMNS)
        for commit, beside, benches in (
            (before, after, measured.before),
            (after, before, measured.after),
        ):
            for bench, ratios in benches.items():
                for ratio, spread in ratios.items():
                    figures = [f"{figure:.2f}" for figure in spread]
                    load = f"{measured.load:.1f}"
                    table.writerow((commit, beside, rounds, load, bench, ratio, *figures))


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.compare", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"benches; {' '.join(NAMES)}")
    parser.add_argument("--rev", default="", help="beside which commit; the one before this tree")
    parser.add_argument("--rounds", type=int, default=ROUNDS, help=f"at least 2; {ROUNDS}")
    parser.add_argument("--keep", action="store_true", help=f"add both commits to {KEPT}")
    wanted = parser.parse_args()
    if wanted.rounds < 2:
        parser.error("one round has no spread: --rounds must be 2 or more")
    root, names = Path.cwd(), wanted.names or NAMES
    changed = _changed(root)
    if wanted.keep and changed:
        parser.error("this tree has changes that no commit has: commit them, then --keep")
    before = _commit(root, wanted.rev or ("HEAD" if changed else "HEAD~1"))
    after = f"{_commit(root, 'HEAD')}, changed" if changed else _commit(root, "HEAD")
    for each in STOPS:
        signal.signal(each, _stop)
    with worktree(root, before) as other:
        here = Tree(after, root)
        for tree in (other, here):
            _say(f"building the environment of {tree.commit}")
            tree.build()
        measured = measure(other, here, names, wanted.rounds)
    print_comparison(before, after, measured)
    if wanted.keep:
        keep(root / KEPT, before, after, measured, wanted.rounds)
        _say(f"kept in {KEPT}")


def _stop(*_: object) -> None:
    """Ends the bench that runs and what was made for it; asking once more does not disturb that."""
    for each in STOPS:
        signal.signal(each, signal.SIG_IGN)
    sys.exit(INTERRUPTED)


def _changed(root: Path) -> bool:
    """The table that is being added to does not count."""
    here = ("status", "--porcelain", "--untracked-files=no", "--", ".", f":!{KEPT}")
    return bool(_git(root, *here))


def _commit(root: Path, rev: str) -> str:
    return _git(root, "rev-parse", "--verify", "--short", f"{rev}^{{commit}}")


def _git(root: Path, *arguments: str) -> str:
    done = _run(root, "git", *arguments)
    if done.returncode:
        raise SystemExit(f"git {' '.join(arguments)}: {done.stderr.strip()}")
    return done.stdout.strip()


def _run(directory: Path, *command: str) -> subprocess.CompletedProcess[str]:
    """In a group of its own: when this is stopped, all that it started ends, and tidies up."""
    with subprocess.Popen(
        command,
        cwd=directory,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as process:
        try:
            said, failed = process.communicate()
        except BaseException:
            _end(process)
            raise
    return subprocess.CompletedProcess(command, process.returncode, said, failed)


def _end(process: subprocess.Popen[str]) -> None:
    with suppress(ProcessLookupError, subprocess.TimeoutExpired):
        os.killpg(process.pid, signal.SIGINT)
        process.wait(ENDING_S)
    with suppress(ProcessLookupError):  # who did not listen
        os.killpg(process.pid, signal.SIGKILL)


def _last_line(text: str) -> str:
    return next(reversed(text.strip().splitlines()), "it said nothing")


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
