"""`rutter export` writes a learned workflow as a file that others can run."""

import argparse
from collections.abc import Callable, Mapping
from pathlib import Path

from rutter.events.errors import BadInput
from rutter.events.workflow import Workflow
from rutter.pipeline.cli.log_tidy import count, size
from rutter.pipeline.cli.options import add_set
from rutter.pipeline.cli.progress import Gauge
from rutter.pipeline.cli.terminal import Terminal
from rutter.pipeline.config.secret_sources import read_pairs
from rutter.pipeline.config.settings import Settings
from rutter.pipeline.export.everything import export_all
from rutter.pipeline.export.playwright_script import playwright_script
from rutter.pipeline.export.recorder_json import recorder_script
from rutter.pipeline.export.wait_conditions import not_done, unchecked
from rutter.pipeline.output.safe_files import write_named
from rutter.pipeline.queries.workflows_and_sessions import latest_workflow, project

FORMATS: Mapping[str, Callable[[Workflow, Mapping[str, str]], str]] = {
    "recorder": recorder_script,
    "playwright": playwright_script,
}

EPILOG = """examples:
  rutter export order --format playwright --out order.py
  SECRET_PASSWORD=... python order.py --customer "Juniper Tankers"
  rutter export --all ~/rutter-everything.zip
  rutter export order --format recorder --set customer="Aurora Shipping" --out order.json

A secret is never written: the script reads it from the environment, the Recorder's file says
${name} in its place, and so it does for a parameter that is not set."""


def add_options(it: argparse.ArgumentParser) -> None:
    it.epilog, it.formatter_class = EPILOG, argparse.RawDescriptionHelpFormatter
    it.add_argument("name", nargs="?", help="the workflow")
    it.add_argument(
        "--all",
        type=Path,
        dest="everything",
        metavar="DIR|FILE.zip",
        help="everything there is, in open formats; no token, login or secret",
    )
    it.add_argument(
        "--format",
        choices=sorted(FORMATS),
        help="Chrome DevTools Recorder JSON, or a Python script for Playwright",
    )
    it.add_argument("--out", type=Path, metavar="FILE", help="where to write it (default stdout)")
    add_set(it, "a parameter's value in the Recorder's file, or the default of the script's flag")
    it.set_defaults(do=export)


def export(options: argparse.Namespace, settings: Settings, terminal: Terminal) -> None:
    if options.everything is not None:
        _everything(options, settings, terminal)
        return
    if options.name is None or options.format is None:
        fix = f"give NAME and --format {' or '.join(sorted(FORMATS))}, or --all PLACE"
        raise BadInput("it is not said what to export", fix)
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
    undone = tuple(not_done(workflow, options.format))
    left_out = (*undone, *unchecked(workflow, options.format))
    for each in left_out:
        terminal.note(f"not carried over: {each}")
    if options.out is not None:
        write_named(options.out, text, "--out")
    if terminal.as_json:
        report: dict[str, object] = {"workflow": workflow.name, "version": workflow.version}
        report |= {"format": options.format, "left_out": left_out, "not_done": undone}
        place = {"text": text} if options.out is None else {"file": str(options.out)}
        terminal.json(report | place)
    elif options.out is None:
        terminal.say(text.removesuffix("\n"))
    else:
        terminal.say(f"[OK] {options.out}: {workflow.name} version {workflow.version}")


def _everything(options: argparse.Namespace, settings: Settings, terminal: Terminal) -> None:
    if options.name or options.format or options.out or options.set:
        raise BadInput("--all is everything", "leave out the workflow and its flags")
    with Gauge(terminal) as gauge:
        done = export_all(settings, options.everything.expanduser().absolute(), gauge)
    terminal.answer(done)
    what = (
        f"{count(done.workflows, 'workflow')}, {count(done.sessions, 'session')}, "
        f"{count(done.artifacts, 'artifact')}"
    )
    terminal.say(f"[OK] {done.place}: {what} in {count(done.files, 'file')}, {size(done.bytes)}")
    if done.left_out:
        terminal.say(f"     expired or missing: {count(done.left_out, 'artifact')}")
    terminal.say(
        "     README.txt in it says what is what; tokens, logins and secrets are not in it"
    )
