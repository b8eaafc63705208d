"""Documents name what is there: files, headings, targets of make."""

import re
from itertools import chain
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGES = sorted(chain(ROOT.glob("*.md"), (ROOT / "docs").rglob("*.md")))
LINK = re.compile(r"\]\((?![a-z]+:)([^)\s#]*)(?:#([^)\s]+))?\)")
HEADING = re.compile(r"^#+ (.+)$", re.MULTILINE)
FENCE = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)
# `actors/topology.py`, `tests/golden`, `replay/*`: from the root, so that a move is noticed.
NAMED = re.compile(
    r"`((?:actors|events|replay|pipeline|tests|bench|docs)/[\w./*-]*|[\w./*-]+\.(?:py|js|svg))`"
)
MADE = re.compile(r"`make ([a-z-]+)")


def anchors(page: Path) -> set[str]:
    kept = (re.sub(r"[^\w\- ]", "", each.lower()) for each in HEADING.findall(page.read_text()))
    return {each.strip().replace(" ", "-") for each in kept}


def dead_links(page: Path, text: str) -> list[str]:
    dead = []
    for path, anchor in LINK.findall(FENCE.sub("", text)):
        to = page.parent / path if path else page
        if not to.exists() or (anchor and anchor not in anchors(to)):
            dead.append(f"{path}#{anchor}" if anchor else path)
    return dead


def lost_paths(text: str) -> list[str]:
    return [path for path in NAMED.findall(text) if not any(ROOT.glob(path.rstrip("/")))]


def test_a_page_names_only_what_is_there() -> None:
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        assert dead_links(page, text) == [], page
        assert lost_paths(text) == [], page


def test_every_target_of_make_that_is_named_is_one() -> None:
    targets = re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE)
    named = {each for page in PAGES for each in MADE.findall(page.read_text(encoding="utf-8"))}
    assert named <= set(targets)


def test_what_is_not_there_is_noticed() -> None:
    page = ROOT / "README.md"
    assert dead_links(page, "[a](docs/none.md), [b](docs/log.md#none), [c](docs/log.md)") == [
        "docs/none.md",
        "docs/log.md#none",
    ]
    assert lost_paths("`actors/browser/tab.py`, `tab/none.py`, `actors/none/*`, `actors/`") == [
        "actors/browser/tab.py",
        "tab/none.py",
        "actors/none/*",
    ]
