"""`rutter export`: a learned workflow as a file that others can run."""

import argparse
from collections.abc import Callable, Mapping
from pathlib import Path

from events.errors import BadInput
from events.workflow import Workflow
from pipeline.cli.terminal import Terminal
from pipeline.exit_codes import Exit
from pipeline.export.playwright import playwright_script
from pipeline.export.recorder import recorder_script
from pipeline.known import latest_workflow, project
from pipeline.secret_sources import read_pairs
from pipeline.settings import Settings

FORMATS: Mapping[str, Callable[[Workflow, Mapping[str, str]], str]] = {
    "recorder": recorder_script,
    "playwright": playwright_script,
}

EPILOG = """examples:
  rutter export order --format playwright --out order.py
  SECRET_PASSWORD=... python order.py --customer "Juniper Tankers"
  rutter export order --format recorder --set customer="Aurora Shipping" --out order.json

A secret is never written: the script reads it from the environment, the Recorder's file says
${name} in its place, and so it does for a parameter that is not set."""


def add_options(it: argparse.ArgumentParser) -> None:
    it.epilog, it.formatter_class = EPILOG, argparse.RawDescriptionHelpFormatter
    it.add_argument("name", help="the workflow")
    it.add_argument(
        "--format",
        required=True,
        choices=sorted(FORMATS),
        help="Chrome DevTools Recorder JSON, or a Python script for Playwright",
    )
    it.add_argument("--out", type=Path, metavar="FILE", help="where to write it (default stdout)")
    it.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="a parameter's value in the Recorder's file, or the default of the script's flag",
    )
    it.set_defaults(do=export)


def export(options: argparse.Namespace, settings: Settings, terminal: Terminal) -> int:
    values = read_pairs(options.set, "--set")
    with project(settings) as store:
        workflow = latest_workflow(store, options.name)
    if unknown := sorted(set(values) - set(workflow.parameters)):
        known = ", ".join(workflow.parameters) or "none"
        raise BadInput(f"{workflow.name!r} has no parameter {unknown[0]!r}", f"it has: {known}")
    if not workflow.complete:
        raise BadInput(
            f"{workflow.name!r} was not recorded to its end", "record it again, then export it"
        )
    text = FORMATS[options.format](workflow, values)
    if options.out is not None:
        _write(options.out, text)
    if terminal.as_json:
        report = {"workflow": workflow.name, "version": workflow.version, "format": options.format}
        place = {"text": text} if options.out is None else {"file": str(options.out)}
        terminal.json(report | place)
    elif options.out is None:
        terminal.say(text.removesuffix("\n"))
    else:
        terminal.say(f"[OK] {options.out}: {workflow.name} version {workflow.version}")
    return Exit.DONE


def _write(place: Path, text: str) -> None:
    try:
        place.write_text(text, "ascii")
    except OSError as error:
        raise BadInput(f"{place} cannot be written ({error.strerror})", "check --out") from error
