"""`python -m tests.apps [APP ...]`: each flow recorded once and sailed with other values.

One line of JSON for each run says whether the application's own store has exactly what was typed.
"""

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.apps import hand, tools
from tests.apps.app import App, Place, judged, running
from tests.apps.fleet import NAMES, app_of
from tests.apps.table import table_of

BUSY = 8
RECORDED = (0, 6)  # done; done, and nothing shows that it worked
Report = Callable[..., None]
# Each tool with the format that it takes, and how it is run with such a file.
EXPORTED: tuple[tuple[str, str, Callable[[App, Path], tools.Ended]], ...] = (
    ("puppeteer", "recorder", tools.exported_to_puppeteer),
    ("playwright", "playwright", tools.exported_to_playwright),
)


def main(arguments: list[str] | None = None) -> int:
    asked = arguments_of(arguments)
    lines: list[dict[str, Any]] = []

    def report(**line: Any) -> None:
        lines.append(line)
        print(json.dumps(line, ensure_ascii=False), flush=True)
        if asked.out:
            with asked.out.open("a") as out:
                out.write(json.dumps(line, ensure_ascii=False) + "\n")

    for app in map(app_of, asked.apps or NAMES):
        programs = app.packages.install(app.name)
        for tool in ["rutter"] if asked.exported else asked.tool or ["rutter"]:
            for by in (asked.by or ["script"]) if tool == "rutter" else ["script"]:
                at = Path(tempfile.mkdtemp(prefix=f"app-{app.name}-"))
                try:
                    with running(app, programs, at / "home") as place:
                        sail(app, place, at, tool, by, asked, report)
                except AssertionError as error:
                    report(app=app.name, tool=tool, by=by, verdict="cannot", why=str(error)[-500:])
                finally:
                    if asked.keep:
                        print(f"kept: {at}", file=sys.stderr)
                    else:
                        shutil.rmtree(at, ignore_errors=True)
    if asked.table:
        print(table_of(lines))
    return int(any(line["verdict"] == "FALSE SUCCESS" for line in lines))


def arguments_of(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.apps", description=__doc__)
    parser.add_argument("apps", nargs="*", metavar="APP", help=f"of {', '.join(NAMES)}")
    parser.add_argument("--tool", action="append", choices=["rutter", "puppeteer", "playwright"])
    parser.add_argument("--by", action="append", choices=["script", "hand"])
    parser.add_argument("--busy", action="store_true", help=f"beside {BUSY} busy processes")
    parser.add_argument("--both", action="store_true", help="quiet, then busy, from one recording")
    parser.add_argument("--exported", action="store_true", help="what is exported, elsewhere")
    parser.add_argument("--forgetful", action="store_true", help="one run, and nothing is kept")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--out", type=Path, help="a file that the lines are added to")
    parser.add_argument("--table", action="store_true", help="all of it as Markdown at the end")
    parser.add_argument("--keep", action="store_true", help="the stores and logs, to look at")
    return parser.parse_args(arguments)


def sail(
    app: App, place: Place, at: Path, tool: str, by: str, asked: argparse.Namespace, report: Report
) -> None:
    """One recording, then the runs; a recording is made while it is quiet."""
    rutter = tools.Rutter(app, place, at / "data")
    again = {"app": app.name, "tool": tool, "by": by}
    loads = ["quiet", "busy"] if asked.both else ["busy" if asked.busy else "quiet"]
    if tool == "rutter":
        recorded = record(app, place, rutter, by)
        report(**again, load="quiet", run="record", **recorded)
        if recorded["exit"] not in RECORDED or recorded["verdict"] == "cannot":
            missing = {"verdict": recorded["verdict"], "exit": recorded["exit"], "stored": "no"}
            for load in loads * asked.runs:
                report(**again, load=load, run=0, **missing, said="it was not recorded")
            return
        if asked.forgetful:
            report(**again, load="quiet", run="forgetful", **forgotten(app, place, rutter))
            return
        if asked.exported:
            for load in loads:
                with busy(BUSY if load == "busy" else 0):
                    sail_exported(app, place, rutter, asked.runs, load, report)
            return
    number = 0
    for load in loads:
        with busy(BUSY if load == "busy" else 0):
            for _ in range(asked.runs):
                number += 1
                values = app.values(number)
                ended = once_with(tool, app, place, values, rutter, at / "script.json")
                outcome = outcome_of(app, place, values, ended)
                if tool == "rutter":
                    outcome["replayed"] = rutter.replay().code == 0
                    if ended.code == tools.CANNOT:  # the recording lacks something
                        outcome["verdict"] = "refused"
                report(**again, load=load, run=number, **outcome)


def sail_exported(
    app: App, place: Place, rutter: tools.Rutter, runs: int, load: str, report: Report
) -> None:
    """The workflow as others run it: a file for each run, with values that no other run has."""
    for number in range(1, runs + 1):
        for order, (tool, format, run) in enumerate(EXPORTED):
            values = app.values(number * len(EXPORTED) - order)
            exported = rutter.export(format, values, rutter.data.with_suffix(f".{format}.{number}"))
            if exported.ended.code or exported.not_done:
                why = "; ".join(exported.not_done) or exported.ended.said[-500:]
                outcome: dict[str, Any] = {"verdict": "cannot", "why": why}
            else:
                outcome = outcome_of(app, place, values, run(app, exported.at))
            said = {"left_out": exported.left_out} if exported.left_out else {}
            report(app=app.name, tool=tool, by="exported", load=load, run=number, **outcome, **said)


def forgotten(app: App, place: Place, rutter: tools.Rutter) -> dict[str, Any]:
    """A run against a server that keeps nothing. Where the workflow reads back it must be found
    out; else the run may call itself done, and says that it was not read back."""
    if app.forgets is None:
        return {"verdict": "cannot", "why": "its store is in the memory of its server"}
    with app.forgets(place):
        ended = rutter("--json", *rutter.running(app.values(1)))
    proof = json.loads(ended.out).get("proof") if ended.out.startswith("{") else None
    reads_back = rutter.reads_back()
    honest = ended.code != 0 or (proof == "acknowledged" and not reads_back)
    verdict = ("found out" if ended.code else "acknowledged") if honest else "FALSE SUCCESS"
    said = {"exit": ended.code, "proof": proof, "reads_back": reads_back, "verdict": verdict}
    stored = "no" if judged(app, place, app.values(1), 0) else "yes"
    return {**said, "stored": stored, "seconds": round(ended.seconds, 1), "said": ended.out[-400:]}


def record(app: App, place: Place, rutter: tools.Rutter, by: str) -> dict[str, Any]:
    """With the first values. What a hand did not get done is not the tool's fault."""
    values = app.values(0)
    if by == "script":
        return outcome_of(app, place, values, rutter.record(values))
    ended = hand.record(app, place, rutter, values)
    outcome = outcome_of(app, place, values, ended)
    if outcome["stored"] == "no":
        outcome |= {"verdict": "cannot", "said": f"the hand did not do it: {ended.said[-600:]}"}
    return outcome


def once_with(
    tool: str, app: App, place: Place, values: Any, rutter: tools.Rutter, at: Path
) -> tools.Ended:
    match tool:
        case "rutter":
            return rutter.run(values)
        case "puppeteer":
            return tools.with_puppeteer(app, place, values, at)
        case _:
            return tools.with_playwright(app, place, values, at)


def outcome_of(app: App, place: Place, values: Any, ended: tools.Ended) -> dict[str, Any]:
    wrong = judged(app, place, values)
    outcome = {
        "exit": ended.code,
        "stored": "no" if wrong else "yes",
        "verdict": verdict_of(ended.code, not wrong),
        "seconds": round(ended.seconds, 1),
    }
    if wrong:
        outcome["store"] = wrong[:300]
    if ended.code != 0:
        outcome["said"] = ended.said[-900:]
    return outcome


def verdict_of(code: int, stored: bool) -> str:
    if code == tools.CANNOT:
        return "cannot"
    if code != 0:
        return "refused"
    return "right" if stored else "FALSE SUCCESS"


@contextmanager
def busy(count: int) -> Iterator[None]:
    """That many processes that do nothing but compute."""
    endless = [sys.executable, "-c", "while True: pass"]
    beside = [subprocess.Popen(endless) for _ in range(count)]
    try:
        yield
    finally:
        for process in beside:
            process.kill()
            process.wait()


if __name__ == "__main__":
    sys.exit(main())
