"""`rutter export` writes a learned workflow as a file that others can run."""

from collections.abc import Callable, Mapping

from rutter.events.errors import BadInput
from rutter.events.workflow import Workflow
from rutter.pipeline.cli.terminal import Gauge, Options, Terminal, count, size
from rutter.pipeline.config.secret_sources import read_pairs
from rutter.pipeline.config.settings import Settings
from rutter.pipeline.export.everything import export_all
from rutter.pipeline.export.playwright_script import playwright_script
from rutter.pipeline.export.recorder_json import recorder_script
from rutter.pipeline.export.wait_conditions import not_done, unchecked
from rutter.pipeline.output.safe_files import write_named
from rutter.pipeline.queries.workflows_and_sessions import find_workflow
from rutter.pipeline.sessions.session_started import check_parameters

FORMATS: Mapping[str, Callable[[Workflow, Mapping[str, str]], str]] = {
    "recorder": recorder_script,
    "playwright": playwright_script,
}


def export(options: Options, settings: Settings, terminal: Terminal) -> None:
    if options.everything is not None:
        _everything(options, settings, terminal)
        return
    if options.name is None or options.format is None:
        fix = f"give NAME and --format {' or '.join(sorted(FORMATS))}, or --all PLACE"
        raise BadInput("it is not said what to export", fix)
    values = read_pairs(options.set, "--set")
    workflow = find_workflow(settings, options.name)
    check_parameters(workflow, values)
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
    report: dict[str, object] = {"workflow": workflow.name, "version": workflow.version}
    report |= {"format": options.format, "left_out": left_out, "not_done": undone}
    place = {"text": text} if options.out is None else {"file": str(options.out)}
    terminal.answer(report | place)
    if options.out is None:
        terminal.say(text.removesuffix("\n"))
    else:
        terminal.say(f"[OK] {options.out}: {workflow.name} version {workflow.version}")


def _everything(options: Options, settings: Settings, terminal: Terminal) -> None:
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
        terminal.say_below(f"expired or missing: {count(done.left_out, 'artifact')}")
    terminal.say_below(
        "README.txt in it says what is what; tokens, logins and secrets are not in it"
    )
