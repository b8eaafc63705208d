"""A run request says what is to be run and on which terms. Command line, jobs, schedules, hooks,
rows and sessions of tools come to this one form before a session is started."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec

from rutter.events.errors import BadInput
from rutter.events.jobs import Run, RunFree, RunGoal, RunWorkflow
from rutter.events.rows import BatchRow
from rutter.events.workflow import Criteria, Indicator
from rutter.pipeline.config.thresholds import Thresholds
from rutter.pipeline.sessions.service_file import bundled, indicator, read_service
from rutter.pipeline.sessions.session_started import MAX_TURNS, Given


class RunRequest(msgspec.Struct, frozen=True):
    """A request is for a workflow by its name, a goal, or a free run from an address. Secrets have
    a source each, or the configuration's; a service is named, or its file is."""

    name: str = ""
    version: int = 0  # of the workflow; 0 is the newest
    goal: str | None = None
    url: str = ""
    free: bool = False
    values: Mapping[str, str] = {}
    dry_run: bool = False
    allow_ghost: bool = False  # pictures of its pages may be read (S4 W8)
    service: str = ""
    success: tuple[str, ...] = ()
    row: BatchRow | None = None
    # What no job pins: it is for who starts a session of their own.
    failure: tuple[str, ...] = ()
    folders: tuple[str, ...] = ()
    secrets: tuple[str, ...] = ()
    allow: tuple[str, ...] = ()
    after: str = ""
    screenshots: bool = False
    headed: bool = False
    patience_ms: int = 0
    no_model: bool = False
    no_login: bool = False
    sure: Thresholds | None = None
    max_turns: int = MAX_TURNS
    flags: bool = False  # it was typed: what is wrong with it is said of its flags


def request_of(run: Run) -> RunRequest:
    """The request that a job pinned."""
    said = msgspec.structs.asdict(run)
    match run:
        case RunWorkflow():
            if not run.workflow:
                raise BadInput("which workflow?", "name one: GET /workflows lists them")
            return RunRequest(said.pop("workflow"), **said)
        case RunGoal():
            if run.service and run.service not in bundled():  # no file is read for a request
                raise BadInput(
                    f"there is no service {run.service!r}", f"it is one of: {', '.join(bundled())}"
                )
            return RunRequest(**said)
        case RunFree():
            return RunRequest(free=True, **said)


def run_of_request(request: RunRequest) -> Run:
    """What a job pins of it."""
    values, dry, ghost = dict(request.values), request.dry_run, request.allow_ghost
    if request.goal or request.service:
        goal, service = request.goal or "", request.service
        return RunGoal(
            goal, request.url, request.name, service, request.success, values, dry, ghost
        )
    if request.free:
        if not request.url:
            raise BadInput("a free run needs a place to start", "add --url URL")
        return RunFree(request.url, values, request.success, dry, ghost)
    if not request.name:
        raise BadInput("which workflow?", "rutter run NAME")
    return RunWorkflow(request.name, 0, values, dry, request.row, ghost)


def read_given(request: RunRequest) -> Given:
    """What the request says of the service and its ends; signs that are typed stand beside those of
    the file."""
    known = read_service(Path(request.service)) if request.service else None
    named = known.criteria if known is not None and known.criteria is not None else Criteria()
    dashes = "--" if request.flags else ""
    success = (*_signs(request.success, f"{dashes}success"), *named.success)
    failure = (*_signs(request.failure, f"{dashes}failure"), *named.failure)
    return Given(
        service=known.service if known is not None else None,
        criteria=Criteria(success, failure) if success or failure else None,
        folders=request.folders,
    )


def _signs(pairs: Sequence[str], what: str) -> tuple[Indicator, ...]:
    return tuple(read_sign(pair, f"{what} {pair}") for pair in pairs)


def read_sign(pair: str, at: str) -> Indicator:
    """`WHERE=TEXT`: what a page shows at the end."""
    where, _, says = pair.partition("=")
    return indicator(where, says, at)
