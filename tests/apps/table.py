"""What the lines of many runs come to, as Markdown."""

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

COLUMNS = (
    ("rutter", "script", "quiet"),
    ("rutter", "script", "busy"),
    ("rutter", "hand", "quiet"),
    ("rutter", "hand", "busy"),
    ("puppeteer", "script", "quiet"),
    ("puppeteer", "script", "busy"),
    ("playwright", "script", "quiet"),
    ("playwright", "script", "busy"),
    ("puppeteer", "exported", "quiet"),
    ("puppeteer", "exported", "busy"),
    ("playwright", "exported", "quiet"),
    ("playwright", "exported", "busy"),
)


def table_of(lines: Iterable[Mapping[str, Any]]) -> str:
    """A row for each application: of how many runs how many were right, and what the rest was."""
    cells: dict[tuple[str, ...], Counter[str]] = {}
    for line in lines:
        if line.get("run") == "record" and line["verdict"] != "cannot":
            continue
        key = (line["app"], line["tool"], line["by"], line.get("load", "quiet"))
        cells.setdefault(key, Counter())[line["verdict"]] += 1
    apps = list(dict.fromkeys(key[0] for key in cells))
    used = [column for column in COLUMNS if any(key[1:] == column for key in cells)]
    head = ["application", *(f"{tool}, {by}, {load}" for tool, by, load in used)]
    rows = [head, ["---"] * len(head)]
    rows += [[app, *(_cell(cells.get((app, *column))) for column in used)] for app in apps]
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def _cell(counted: Counter[str] | None) -> str:
    if counted is None:
        return "-"
    if counted["cannot"] and not counted["right"]:
        return "cannot"
    said = [f"{counted['right']} of {counted.total()}"]
    said += [
        f"{counted[word]} {word}"
        for word in ("refused", "FALSE SUCCESS", "cannot")
        if counted[word]
    ]
    return ", ".join(said)
