"""`rutter run NAME --rows FILE.csv` runs the workflow once for each row, none of them twice."""

import asyncio
from collections.abc import Callable, Mapping

import msgspec

from rutter.actors.world.secrets.redaction import SHORTEST, check_secrets
from rutter.events.errors import BadInput, PolicyDenied
from rutter.events.jobs import RunWorkflow
from rutter.events.workflow import Workflow
from rutter.pipeline.batches.ledger import Ledger, read_ledger
from rutter.pipeline.batches.report import BatchReport, beside, check_place, names_read
from rutter.pipeline.batches.row_values import BoundRow, bind_rows, columns_of, read_mapping
from rutter.pipeline.batches.scheduler import BatchRun
from rutter.pipeline.batches.sheet import Sheet, read_separator, read_sheet
from rutter.pipeline.cli.daemon_client import through_daemon
from rutter.pipeline.cli.options import read_request
from rutter.pipeline.cli.row_progress import RowProgress
from rutter.pipeline.cli.row_runs import DaemonRows, LocalRows
from rutter.pipeline.cli.run_by_daemon import check_for_daemon
from rutter.pipeline.cli.session_run import attendant
from rutter.pipeline.cli.terminal import Options, Terminal
from rutter.pipeline.config.settings import Settings
from rutter.pipeline.daemon.jobs.runner import MAX_RUN_BYTES
from rutter.pipeline.queries.workflows_and_sessions import find_workflow
from rutter.pipeline.sessions import session_started
from rutter.pipeline.sessions.attendant import BoundSecrets, ask_unbound, bind_secrets
from rutter.pipeline.sessions.request import RunRequest
from rutter.pipeline.sessions.start import terms_of

IN_A_ROW = 3  # failures one after another: then it is the site, or the file, and not the row
NOT_WITH_ROWS = {"--goal": "goal", "--free": "free", "--url": "url", "--from": "after"}
ONLY_WITH_ROWS = {
    "--map": "map",
    "--parallel": "parallel",
    "--max-failures-in-a-row": "max_failures_in_a_row",
    "--afresh": "afresh",
    "--resume": "resume",
    "--encoding": "encoding",
    "--separator": "separator",
}


def check_flags(options: Options) -> None:
    """What is said of rows needs rows; what is no named workflow has none."""
    if options.rows is None:
        for flag, name in ONLY_WITH_ROWS.items():
            said = getattr(options, name)
            if said is not None and said is not False and said != []:
                raise BadInput(f"{flag} is for --rows", "add --rows FILE.csv")
        return
    for flag, name in NOT_WITH_ROWS.items():
        if getattr(options, name):
            raise BadInput(f"{flag} does not go with --rows", "leave it out, and name a workflow")
    if not options.name:
        raise BadInput("which workflow?", "rutter run NAME --rows FILE.csv")
    if options.resume and options.afresh:
        raise BadInput("--resume and --afresh say two things", "give one of them")


def run_rows(options: Options, settings: Settings, terminal: Terminal) -> int:
    """Everything is checked first; what then runs is run to its end, and told row by row."""
    daemon = through_daemon(settings)
    if daemon is not None:
        check_for_daemon(options)
    request = read_request(options, settings.config)
    workflow = find_workflow(settings, request.name)
    parallel = _parallel(options, settings)
    bound = _secrets(request, workflow, settings, terminal) if daemon is None else None
    sheet, rows = _checked(options, request, workflow, bound, settings, terminal)
    place = options.results or beside(options.rows, dry_run=request.dry_run)
    check_place(place, options.rows)
    report = BatchReport(place, sheet, names_read(workflow), guard=not options.formulas)

    def read() -> Ledger:
        return read_ledger(
            settings,
            workflow.name,
            options.rows,
            rows,
            dry_run=request.dry_run,
            afresh=options.afresh,
            served=daemon is not None,
        )

    ledger = read()
    most = IN_A_ROW if options.max_failures_in_a_row is None else options.max_failures_in_a_row
    batch_run = BatchRun(rows, ledger.told(rows), parallel, most)
    telling = RowProgress(batch_run, report, workflow.name, settings, terminal)
    telling.begin()
    try:
        if batch_run.left() and daemon is not None:
            served = DaemonRows(daemon, ledger, request, telling, settings, terminal)
            asyncio.run(served.run_rows(batch_run))
        elif batch_run.left() and bound is not None:
            aboard = LocalRows(request, bound, read, telling, options.answers, settings, terminal)
            asyncio.run(aboard.run_rows(batch_run))
    finally:
        telling.stop()
        telling.write()
    return telling.end()


def _checked(
    options: Options,
    request: RunRequest,
    workflow: Workflow,
    bound: BoundSecrets | None,
    settings: Settings,
    terminal: Terminal,
) -> tuple[Sheet, list[BoundRow]]:
    """The file, and every row of it as its run would be given it."""
    mapping, constants = read_mapping(options.map), dict(request.values)
    sheet = read_sheet(
        options.rows,
        encoding=options.encoding or "",
        separator=read_separator(options.separator) if options.separator else "",
        expected=[*workflow.parameters, *mapping],
    )
    columns = columns_of(sheet, workflow, mapping, constants)
    known = bound.secrets if bound is not None else workflow.secrets
    session_started.check_bound(workflow, dict.fromkeys(workflow.parameters, ""), set(known))
    rows = bind_rows(sheet, columns, constants, _check_of(workflow, bound, request, settings))
    if columns.extra:
        terminal.note(f"columns that bind nothing, kept in the results: {', '.join(columns.extra)}")
    return sheet, rows


def _parallel(options: Options, settings: Settings) -> int:
    """So many at once as the configuration lets of one workflow: a run narrows, it widens not."""
    wanted = 1 if options.parallel is None else int(options.parallel)
    number = settings.config.number
    allowed = min(number("jobs.per_workflow"), number("browser.max_windows"))
    if wanted < 1:
        raise BadInput("--parallel is at least 1", "give another number")
    if wanted > allowed:
        raise PolicyDenied(
            f"--parallel {wanted}: the configuration lets {allowed} of one workflow run at once",
            "raise jobs.per_workflow in it, if the site can take that",
        )
    return wanted


def _secrets(
    request: RunRequest, workflow: Workflow, settings: Settings, terminal: Terminal
) -> BoundSecrets:
    """Read or typed once, for all rows."""
    who = attendant(terminal)
    bound = bind_secrets(request.secrets, settings, who, workflow.secrets)
    there = dict.fromkeys(workflow.parameters, "")  # a row has them: nobody is asked for them
    _, secrets = ask_unbound(workflow, there, bound.secrets, who)
    return bound._replace(secrets=secrets)


def _check_of(
    workflow: Workflow, bound: BoundSecrets | None, request: RunRequest, settings: Settings
) -> Callable[[Mapping[str, str]], None]:
    """What is looked at in every row: all that its run would be refused for. What a daemon is
    handed is looked at by it too, which knows its own secrets."""
    bound = bound or BoundSecrets(dict.fromkeys(workflow.secrets, ""))
    secrets, terms = bound.secrets, terms_of(request, settings, bound)
    looked_at = False

    def check(values: Mapping[str, str]) -> None:
        nonlocal looked_at
        started = session_started.run_of(workflow, values, secrets, **terms)
        if not looked_at:
            check_secrets(started, {name: each for name, each in secrets.items() if each})
            looked_at = True
        _refuse_secret_values(values, secrets)
        size = len(msgspec.json.encode(RunWorkflow(workflow.name, 0, dict(values))))
        if size > MAX_RUN_BYTES:
            raise BadInput(f"it has more than {MAX_RUN_BYTES} bytes in it", "shorten its cells")

    return check


def _refuse_secret_values(values: Mapping[str, str], secrets: Mapping[str, str]) -> None:
    for name, secret in secrets.items():
        for parameter, value in values.items():
            if len(secret) >= SHORTEST and secret in value:
                raise BadInput(
                    f"{parameter!r} holds the secret {name!r}: it would be in the log",
                    "take it out of the file",
                )
