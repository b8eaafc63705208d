"""A notice tells others when a person is needed, or when something that nobody watched failed.

A notice says which session and job, what for, and a few words of ours. It holds nothing that a page
said, no value of a parameter and no secret: it goes to other machines.
"""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Literal

import anyio
import msgspec

from rutter.actors.world.secrets.redaction import hushed
from rutter.events.envelope import Envelope
from rutter.events.errors import BadInput
from rutter.events.jobs import JobEnded, JobQueued, JobStarted, RunFree, RunWorkflow
from rutter.events.runtime import SessionEnded, SessionStarted
from rutter.events.validator import ApprovalKind, ApprovalRequested
from rutter.pipeline.clock import Clock
from rutter.pipeline.config.reader import Config
from rutter.pipeline.config.secret_sources import read_secrets
from rutter.pipeline.config.tables import check_address, is_source
from rutter.pipeline.daemon.notify.webhooks import (
    Courier,
    CourierStatistics,
    Letter,
    RetryPace,
    key_of,
)

What = Literal["person_needed", "job_failed", "job_skipped", "job_done", "session_failed"]

UNVERIFIED = "went to its end and was not verified: look whether it was done before it is run again"
WANTED = ("cancelled", "skipped")  # by somebody, who knows
ASKED: dict[ApprovalKind, str] = {
    "policy": "a step needs an answer before it is done",
    "confirm": "the last step is to be confirmed",
    "barrier": "the site asks for a person: a captcha, or a look at who is there",
    "service": "the service asks for a person",
    "login": "somebody has to sign in",
    "unknown": "the way is lost, somebody has to go on by hand",
    "choice": "an element is not there as it was recorded: which one is it now?",
    "by_hand": "a step is being done by hand in the window",
    "requested": "whoever drives it asks for a person",
}


class Notice(msgspec.Struct, frozen=True, omit_defaults=True):
    """A notice is sent as JSON. `id` is the same whenever this one is sent again."""

    id: str
    event: What
    at: str
    text: str
    session: str = ""
    job: str = ""
    workflow: str = ""
    kind: str = ""
    approval: str = ""
    reason: str = ""
    failure: str = ""


class Noticing:
    """Events become notices here. It remembers what the sessions that run are for."""

    def __init__(self) -> None:
        self._for: dict[str, str] = {}  # jobs and sessions: their workflows
        self._jobs: dict[str, str] = {}  # sessions: their jobs

    def hear(self, envelope: Envelope) -> Notice | None:
        session = envelope.session
        match envelope.event:
            case JobQueued(job=job, run=run):
                if not isinstance(run, RunFree):
                    self._for[job] = run.workflow if isinstance(run, RunWorkflow) else run.name
            case JobStarted(job=job, session=begun):
                self._jobs[begun] = job
            case SessionStarted(name=name):
                self._for[session] = name
            case ApprovalRequested() as asked:
                return self._person_needed(envelope, asked)
            case SessionEnded() as ended:
                return self._session_ended(envelope, ended)
            case JobEnded() as ended:
                return self._job_ended(envelope, ended)
            case _:
                pass
        return None

    def _person_needed(self, envelope: Envelope, asked: ApprovalRequested) -> Notice:
        # A checkpoint asks this too, right behind itself: one need is one notice.
        return _notice(
            envelope,
            "person_needed",
            ASKED[asked.kind],
            job=self._jobs.get(envelope.session, ""),
            workflow=self._for.get(envelope.session, ""),
            kind=asked.kind,
            approval=asked.approval,
        )

    def _session_ended(self, envelope: Envelope, ended: SessionEnded) -> Notice | None:
        workflow = self._for.pop(envelope.session, "")
        if ended.cause is not None and (origin := ended.cause.origin):
            return _notice(
                envelope,
                "person_needed",
                f"the login for {origin} has expired: rutter login {origin}",
                job=self._jobs.get(envelope.session, ""),
                workflow=workflow,
                kind="login",
            )
        if envelope.session in self._jobs or _is_well(ended) or ended.reason in WANTED:
            return None  # a job says it for its session
        return _notice(
            envelope,
            "session_failed",
            f"a session {_in_words(ended)}",
            workflow=workflow,
            reason=ended.reason,
            failure=ended.failure,
        )

    def _job_ended(self, envelope: Envelope, ended: JobEnded) -> Notice | None:
        workflow = self._for.pop(ended.job, "")
        self._jobs.pop(ended.session, None)
        if ended.reason == "cancelled":
            return None
        what: What = "job_done" if _is_well(ended) else "job_failed"
        return _notice(
            envelope,
            "job_skipped" if ended.reason == "skipped" else what,
            "a job could not begin" if ended.reason == "refused" else f"a job {_in_words(ended)}",
            session=ended.session,
            job=ended.job,
            workflow=workflow,
            reason=ended.reason,
            failure=ended.failure,
        )


def _is_well(ended: SessionEnded | JobEnded) -> bool:
    """Completed, or only tried and stopped where it should."""
    cause = ended.cause
    tried = ended.reason == "completed_unverified" and cause is not None and cause.kind == "dry_run"
    return ended.reason == "completed" or tried


def _in_words(ended: SessionEnded | JobEnded) -> str:
    unverified = ended.reason == "completed_unverified" and not _is_well(ended)
    return UNVERIFIED if unverified else f"ended: {ended.reason}"


def _notice(envelope: Envelope, what: What, words: str, *, workflow: str, **more: str) -> Notice:
    text = f"{workflow}: {words}" if workflow else words
    at = datetime.fromtimestamp(envelope.at_ns // 1_000_000_000, UTC)
    name = f"{envelope.session}.{envelope.n}"  # one event, one name
    told = {"session": envelope.session, "workflow": workflow} | more
    return Notice(name, what, f"{at:%Y-%m-%dT%H:%M:%SZ}", text, **told)


class Notifier:
    """The notifier's `hear` is told of every durable event, and costs a line in a queue."""

    def __init__(
        self,
        urls: Sequence[str],
        events: Sequence[str],
        clock: Clock,
        *,
        secret: bytes = b"",
        pace: RetryPace | None = None,
    ) -> None:
        self._events = frozenset(events)
        self._noticing = Noticing()
        self._couriers = [Courier(url, secret, clock, pace or RetryPace()) for url in urls]

    def hear(self, envelope: Envelope) -> None:
        notice = self._noticing.hear(envelope)
        if notice is None or notice.event not in self._events:
            return
        body = hushed(msgspec.json.encode(notice).decode()).encode()
        for courier in self._couriers:
            courier.put(Letter(notice.id, body))

    def start(self) -> None:
        for courier in self._couriers:
            courier.start()

    async def stop(self, within_s: float = 3.0) -> None:
        async with anyio.create_task_group() as group:
            for courier in self._couriers:
                group.start_soon(courier.stop, within_s)

    def statistics(self) -> tuple[CourierStatistics, ...]:
        return tuple(courier.statistics() for courier in self._couriers)


def notifier_of(config: Config, env: Mapping[str, str], clock: Clock) -> Notifier | None:
    """As it is configured; nothing, when nobody is to be told. What cannot be read fails here, at
    the start."""
    urls = config.listed("notify.urls") or ()
    if not urls:
        return None
    source = config.text("notify.secret")
    secret = key_of(_read("notify_secret", source, env)) if source else b""
    return Notifier(
        [_address(number, url, env) for number, url in enumerate(urls, 1)],
        config.listed("notify.events") or (),
        clock,
        secret=secret,
    )


def _address(number: int, url: str, env: Mapping[str, str]) -> str:
    if not is_source(url):
        return url
    found = _read(f"notify_url_{number}", url, env).strip()
    check_address(found, f"what {url} holds")
    return found


def _read(name: str, source: str, env: Mapping[str, str]) -> str:
    found = read_secrets([f"{name}={source}"], env, _nobody)[name]
    if not found.strip():
        raise BadInput(f"what {source} holds is empty", "check notify in the configuration")
    return found


def _nobody(question: str) -> str:
    raise BadInput(f"nobody is here to type {question}", "give it another source")
