"""Two commits are measured in turns, told beside each other, and nothing is left behind.

A repository of its own, whose bench prints a ratio that is written in it, stands for this one.
"""

import csv
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from bench.compare import COLUMNS, INTERRUPTED, KEPT

pytestmark = pytest.mark.slow
ROOT = Path(__file__).resolve().parents[2]
MAKEFILE = "venv:\n\t@mkdir -p .venv/bin && ln -sf $(PYTHON) .venv/bin/python\n"
BENCH = """
import os, signal, sys, tempfile
from bench.tables import print_table
name = sys.argv[1]
with open({runs!r}, "a") as runs: print({ratio}, name, file=runs)
if name == "endless":
    with tempfile.TemporaryDirectory():
        os.kill(os.getppid(), {signal})
        signal.pause()
if name == "broken": sys.exit("it broke")
print_table("a title", ["what", "ratio"], [["ours", {ratio}], ["the limit", 1.0]])
"""


class Project:
    """A repository of two commits: the bench of the first prints 1.0, that of the second 2.0."""

    def __init__(self, root: Path) -> None:
        self.root, self.runs, self.temporary = root / "project", root / "runs", root / "temporary"
        self.signal = signal.SIGINT
        (self.root / "bench").mkdir(parents=True)
        self.temporary.mkdir()
        (self.root / "bench" / "tables.py").write_text((ROOT / "bench/tables.py").read_text())
        (self.root / "Makefile").write_text(MAKEFILE)
        (self.root / ".gitignore").write_text(".venv\n__pycache__\n")
        self.git("init", "--quiet")
        for ratio in (1.0, 2.0):
            self.write(ratio)
            self.git("add", ".")
            self.git("commit", "--quiet", "--message", f"{ratio}")

    def write(self, ratio: float) -> None:
        text = BENCH.format(runs=str(self.runs), ratio=ratio, signal=int(self.signal))
        (self.root / "bench" / "__main__.py").write_text(text)

    def git(self, *arguments: str) -> str:
        who = ("-c", "user.name=A", "-c", "user.email=a@localhost", "-c", "commit.gpgsign=false")
        command = ("git", *who, *arguments)
        done = subprocess.run(command, cwd=self.root, capture_output=True, text=True, check=True)
        return done.stdout.strip()

    def compare(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        # -P: its own `bench` is in the directory, and is not the one that compares.
        command = (sys.executable, "-P", "-m", "bench.compare", "--rounds", "2", *arguments)
        return subprocess.run(
            command,
            cwd=self.root,
            env={"PATH": "/usr/local/bin:/usr/bin:/bin", "TMPDIR": str(self.temporary)},
            capture_output=True,
            text=True,
            check=False,
        )

    def left_behind(self) -> list[str]:
        trees = self.git("worktree", "list", "--porcelain").count("worktree ")
        found = [str(path) for path in self.temporary.iterdir()]
        return found if trees == 1 else [*found, f"{trees} worktrees"]


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project(tmp_path)


def test_both_trees_are_measured_in_turns_and_what_moved_is_marked(project: Project) -> None:
    done = project.compare("fake")

    assert done.returncode == 0, done.stderr
    ours, limit = (
        line.split("  ")[1:] for line in done.stdout.splitlines() if line.startswith("  fake")
    )
    cells = [cell.strip() for cell in ours if cell]
    assert cells == ["fake: ours", "1.00", "1.00..1.00", "2.00", "2.00..2.00", "x 2.00", "moved"]
    assert [cell.strip() for cell in limit if cell][-1] == "x 1.00"
    assert "1 of 2 moved" in done.stdout
    runs = project.runs.read_text().split("\n")
    assert runs[:4] == ["1.0 fake", "2.0 fake", "2.0 fake", "1.0 fake"]
    assert "round 2 of 2: fake of" in done.stderr
    assert project.left_behind() == []


def test_what_is_not_committed_is_measured_beside_the_commit_it_is_made_of(
    project: Project,
) -> None:
    project.write(4.0)

    done = project.compare("fake")

    assert "changed" in done.stdout
    assert "x 2.00" in done.stdout, done.stderr
    refused = project.compare("--keep", "fake")
    assert (refused.returncode, "commit them" in refused.stderr) == (2, True)


def test_kept_ratios_say_of_which_commit_they_are_and_beside_which(project: Project) -> None:
    old, new = (project.git("rev-parse", "--short", rev) for rev in ("HEAD~1", "HEAD"))

    for _ in range(2):  # the table is no change of the tree: it is added to
        done = project.compare("--keep", "--rev", old, "fake")
        assert done.returncode == 0, done.stderr

    header, *rows = csv.reader((project.root / KEPT).read_text().splitlines())
    assert tuple(header) == COLUMNS
    told = [(row[0], row[1], row[2], row[4], row[5], *row[6:]) for row in rows]
    once = [
        (old, new, "2", "fake", "ours", "1.00", "1.00", "1.00"),
        (old, new, "2", "fake", "the limit", "1.00", "1.00", "1.00"),
        (new, old, "2", "fake", "ours", "2.00", "2.00", "2.00"),
        (new, old, "2", "fake", "the limit", "1.00", "1.00", "1.00"),
    ]
    assert told == once * 2


def test_a_bench_that_fails_is_told_and_the_others_are_compared(project: Project) -> None:
    done = project.compare("broken", "fake")

    assert done.returncode == 0
    assert "bench broken failed in" in done.stderr
    assert "it broke" in done.stderr
    assert "broken printed no ratio" in done.stdout
    assert "1 of 2 moved" in done.stdout


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM])
def test_a_comparison_that_is_stopped_leaves_nothing_behind(
    project: Project, how: signal.Signals
) -> None:
    project.signal = how
    project.write(2.0)

    done = project.compare("--rev", "HEAD", "fake", "endless")

    assert done.returncode == INTERRUPTED, done.stderr
    assert "Traceback" not in done.stderr
    assert project.left_behind() == []


def test_a_commit_that_is_not_there_is_refused(project: Project) -> None:
    done = project.compare("--rev", "nowhere", "fake")

    assert done.returncode != 0
    assert "nowhere" in done.stderr
    assert not project.runs.exists()


def test_one_round_has_no_spread_and_is_refused(project: Project) -> None:
    done = project.compare("--rounds", "1", "fake")

    assert (done.returncode, "no spread" in done.stderr) == (2, True)
