"""Given what happens in the daemon: who is told of it, in which words, and what is never said."""

from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any, get_args

import anyio
import msgspec
import pytest

from rutter.actors.rules.policy.policy import DEFAULT_POLICY
from rutter.actors.world.secrets.redaction import forget, hide
from rutter.events.envelope import Envelope
from rutter.events.errors import BadInput
from rutter.events.jobs import JobEnded, JobQueued, JobStarted, RunFree, RunWorkflow
from rutter.events.log import EventLog
from rutter.events.planner import CheckpointReached
from rutter.events.run_settings import RunSettings
from rutter.events.runtime import SessionEnded, SessionStarted
from rutter.events.upcast import with_causes
from rutter.events.validator import ApprovalKind, ApprovalRequested
from rutter.events.vocabulary import AnyEvent
from rutter.pipeline.app import App
from rutter.pipeline.clock import CountingClock
from rutter.pipeline.config.keys import NAMES
from rutter.pipeline.config.reader import Config, read_config
from rutter.pipeline.daemon.notify.notices import (
    ASKED,
    Notice,
    Noticing,
    Notifier,
    What,
    notifier_of,
)
from rutter.pipeline.daemon.notify.webhooks import RetryPace
from tests.support.case_table import for_each
from tests.support.notice_receiver import WAIT_S, Reply, Told

pytestmark = pytest.mark.anyio

ORDER = RunWorkflow("order", values={"customer": "Aurora Shipping"})
QUESTION = "May 'Pay 300 to Aurora' be clicked?"
ASK = ApprovalRequested("a-1", 4, "confirm", QUESTION, origin="https://shop.example")
ALL = NAMES["notify.events"].choices


def envelopes(*said: tuple[str, AnyEvent]) -> list[Envelope]:
    return [
        Envelope(n, session, n, 1_773_619_200_000_000_000, "runtime", 0, with_causes(event), b"")
        for n, (session, event) in enumerate(said, 1)
    ]


def started(name: str) -> SessionStarted:
    return SessionStarted("run", "workflow", "1", RunSettings(), DEFAULT_POLICY, name=name)


def noticed(*said: tuple[str, AnyEvent]) -> list[Notice]:
    noticing = Noticing()
    return [each for each in map(noticing.hear, envelopes(*said)) if each is not None]


A_JOB: list[tuple[str, AnyEvent]] = [
    ("process", JobQueued("job-1", ORDER, "schedule morning", "schedule")),
    ("process", JobStarted("job-1", "run-1")),
    ("run-1", started("order")),
]


# -- what is said ----------------------------------------------------------------------------------


def test_when_a_person_is_needed_it_says_where_and_what_for_and_nothing_of_the_page() -> None:
    [notice] = noticed(*A_JOB, ("run-1", ASK))
    assert notice == Notice(
        id="run-1.4",
        event="person_needed",
        at="2026-03-16T00:00:00Z",
        text="order: the last step is to be confirmed",
        session="run-1",
        job="job-1",
        workflow="order",
        kind="confirm",
        approval="a-1",
    )


def test_a_checkpoint_is_one_notice_and_not_two() -> None:
    asked = ApprovalRequested("a-2", 1, "login", "Sign in")
    told = noticed(("s", CheckpointReached("login", 1, "a sign-in page")), ("s", asked))
    assert [each.kind for each in told] == ["login"]


def test_there_are_words_for_everything_that_can_be_asked() -> None:
    assert set(ASKED) == set(get_args(ApprovalKind))


@for_each(
    "ended, event, text",
    [
        (JobEnded("job-1", "failed", "lost", "no 'Pay'"), "job_failed", "a job ended: failed"),
        (JobEnded("job-1", "refused", "", "no way"), "job_failed", "a job could not begin"),
        (JobEnded("job-1", "interrupted"), "job_failed", "a job ended: interrupted"),
        (JobEnded("job-1", "max_wall_time"), "job_failed", "a job ended: max_wall_time"),
        (JobEnded("job-1", "skipped", "", "job-0 runs"), "job_skipped", "a job ended: skipped"),
        (JobEnded("job-1", "completed"), "job_done", "a job ended: completed"),
        (
            JobEnded("job-1", "completed_unverified", "", "dry run: it sends a form"),
            "job_done",
            "a job ended: completed_unverified",
        ),
        (
            JobEnded("job-1", "completed_unverified", "", "nothing shows it"),
            "job_failed",
            "a job went to its end and was not verified: look whether it was done before it is "
            "run again",
        ),
    ],
)
def test_how_a_job_ended(ended: JobEnded, event: What, text: str) -> None:
    [notice] = noticed(A_JOB[0], ("process", ended))
    assert (notice.event, notice.text) == (event, f"order: {text}")
    assert (notice.job, notice.reason, notice.failure) == ("job-1", ended.reason, ended.failure)


def test_a_login_that_expired_calls_for_a_person_whatever_else_is_told() -> None:
    why = "the login for https://shop.example has expired: step 1 of 4: 'Pay 300'"
    expired = SessionEnded("policy_denied", "needs_person", why)
    [notice] = noticed(*A_JOB, ("run-1", expired))
    assert (notice.event, notice.kind, notice.job) == ("person_needed", "login", "job-1")
    words = "the login for https://shop.example has expired: rutter login https://shop.example"
    assert notice.text == f"order: {words}"  # and nothing of the page


@for_each(
    "failure, why",
    [
        ("lost", "the login for https://evil.example has expired: "),
        ("needs_person", "click 'the login for https://evil.example has expired: ': Approve?"),
        ("needs_person", "the login for evil.example has expired: "),
    ],
)
def test_nobody_is_sent_to_sign_in_where_a_page_says_so(failure: Any, why: str) -> None:
    [notice] = noticed(("s", started("look")), ("s", SessionEnded("failed", failure, why)))
    assert notice.event == "session_failed"
    assert "evil" not in notice.text


def test_what_somebody_cancelled_is_told_to_nobody() -> None:
    assert noticed(A_JOB[0], ("process", JobEnded("job-1", "cancelled"))) == []
    assert noticed(("s", SessionEnded("cancelled")), ("s", SessionEnded("completed"))) == []


def test_a_session_that_failed_is_told_of_unless_its_job_is() -> None:
    failed = SessionEnded("failed", "lost", "the page said 'Pay 300'")
    [alone] = noticed(("s", started("look")), ("s", failed))
    assert (alone.event, alone.text) == ("session_failed", "look: a session ended: failed")
    ended = JobEnded("job-1", "failed", "lost", session="run-1")
    [of_a_job] = noticed(*A_JOB, ("run-1", failed), ("process", ended))
    assert (of_a_job.event, of_a_job.session) == ("job_failed", "run-1")


def test_nothing_that_a_page_said_and_no_value_is_in_any_of_them() -> None:
    told = noticed(
        *A_JOB,
        ("run-1", ASK),
        ("run-1", SessionEnded("failed", "lost", QUESTION)),
        ("process", JobEnded("job-1", "failed", "lost", QUESTION, "run-1")),
        ("other", started("")),
        ("other", SessionEnded("failed", "lost", QUESTION)),
        ("process", JobQueued("job-2", RunFree("https://shop.example/?q=Pay"), "person")),
        ("process", JobEnded("job-2", "refused", "", QUESTION)),
    )
    said = msgspec.json.encode(told)
    assert len(told) == 4
    for word in (b"Pay", b"Aurora", b"shop.example"):
        assert word not in said


def test_what_was_remembered_is_forgotten_when_it_is_over() -> None:
    noticing = Noticing()
    ends: Sequence[tuple[str, AnyEvent]] = [
        ("run-1", SessionEnded("completed")),
        ("process", JobEnded("job-1", "completed", session="run-1")),
    ]
    for envelope in envelopes(*A_JOB, *ends):
        noticing.hear(envelope)
    assert not any(vars(noticing).values())


# -- who is told -----------------------------------------------------------------------------------


async def told_of(urls: list[str], events: Sequence[str], *said: tuple[str, AnyEvent]) -> Notifier:
    notifier = Notifier(
        urls, events, CountingClock(), pace=RetryPace(attempts=2, first_wait_s=0.01)
    )
    notifier.start()
    for envelope in envelopes(*said):
        notifier.hear(envelope)
    await notifier.stop(WAIT_S)
    return notifier


async def test_everybody_is_told_of_what_was_chosen_and_of_nothing_else() -> None:
    with Told() as one, Told() as other:
        ended = JobEnded("job-1", "completed", session="run-1")
        await told_of(
            [one.url, other.url], ["person_needed"], *A_JOB, ("run-1", ASK), ("process", ended)
        )
        for each in (one, other):
            assert [heard.json["event"] for heard in each.heard] == ["person_needed"]
            assert each.heard[0].headers["webhook-id"] == "run-1.4" == each.heard[0].json["id"]


async def test_one_who_does_not_answer_keeps_nobody_else_waiting() -> None:
    with Told(Reply(hangs=True)) as stuck, Told() as other:
        notifier = Notifier([stuck.url, other.url], ALL, CountingClock())
        notifier.start()
        for envelope in envelopes(*A_JOB, ("run-1", ASK)):
            notifier.hear(envelope)
        await anyio.to_thread.run_sync(partial(other.wait_for, 1))
        await notifier.stop(0.05)
        waiting = {each.host: each.sent for each in notifier.statistics()}
        assert sorted(waiting.values()) == [0, 1]


@pytest.fixture
def forgetful() -> Iterator[None]:
    yield
    forget()


@pytest.mark.usefixtures("forgetful")
async def test_a_secret_that_got_into_a_name_does_not_get_out() -> None:
    hide({"password": "hunter2-and-more"})
    with Told() as told:
        await told_of([told.url], ALL, ("s", started("hunter2-and-more")), ("s", ASK))
    assert b"hunter2" not in told.heard[0].body
    assert told.heard[0].json["workflow"] == "<secret password>"


async def test_a_running_pipeline_tells_what_is_on_disk(pipeline_log: EventLog) -> None:
    with Told(Reply(500)) as told:
        quick = RetryPace(attempts=3, first_wait_s=0.01)
        async with App.open(pipeline_log, clock=CountingClock()) as app:
            notifier = Notifier([told.url], ["job_failed"], app.clock, pace=quick)
            app.listen(notifier.hear)
            notifier.start()
            await app.say_process(JobQueued("job-1", ORDER, "person"))
            await app.say_process(JobEnded("job-1", "refused", "", "no browser"))
            await anyio.to_thread.run_sync(partial(told.wait_for, 2))
            await notifier.stop(WAIT_S)
    first, second = told.heard
    assert first.body == second.body
    assert second.json["text"] == "order: a job could not begin"


# -- as it is configured ---------------------------------------------------------------------------


def configured(tmp_path: Path, text: str) -> Config:
    (tmp_path / "config.toml").write_text(text)
    (tmp_path / "config.toml").chmod(0o600)
    return read_config(None, tmp_path, {"XDG_CONFIG_HOME": "/nowhere/at/all"})


def test_nobody_is_told_unless_it_is_configured(tmp_path: Path) -> None:
    assert notifier_of(configured(tmp_path, ""), {}, CountingClock()) is None
    assert NAMES["notify.events"].default == ("person_needed", "job_failed")
    assert set(ALL) == set(get_args(What))


async def test_addresses_and_the_secret_may_be_kept_elsewhere(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("s3cret\n")
    with Told() as told:
        config = configured(
            tmp_path,
            f'[notify]\nurls = ["env:TEAM", "{told.url}2"]\nsecret = "file:{tmp_path}/secret"\n',
        )
        notifier = notifier_of(config, {"TEAM": told.url}, CountingClock())
        assert notifier is not None
        notifier.start()
        for envelope in envelopes(("s", ASK)):
            notifier.hear(envelope)
        await notifier.stop(WAIT_S)
        assert sorted(each.path for each in told.heard) == ["/told", "/told2"]
        assert all("webhook-signature" in each.headers for each in told.heard)


@for_each(
    "text, env, why",
    [
        ('urls = ["env:TEAM"]', {}, "TEAM is not set"),
        ('urls = ["env:TEAM"]', {"TEAM": ""}, "empty"),
        ('urls = ["env:TEAM"]', {"TEAM": "T0KEN"}, "no address"),
        ('urls = ["https://a.example"]\nsecret = "env:S"', {"S": " "}, "empty"),
        ('urls = ["https://a.example"]\nsecret = "env:S"', {"S": "whsec_*"}, "not base64"),
    ],
)
def test_what_cannot_be_read_fails_at_the_start(
    tmp_path: Path, text: str, env: dict[str, Any], why: str
) -> None:
    config = configured(tmp_path, f"[notify]\n{text}\n")
    with pytest.raises(BadInput, match=why) as caught:
        notifier_of(config, env, CountingClock())
    assert "T0KEN" not in str(caught.value)


@for_each(
    "text, why",
    [
        ('urls = ["a.example"]', "no address"),
        ('urls = ["ftp://a.example"]', "no address"),
        ('urls = ["https://user:pass@a.example"]', "no address"),
        ('urls = ["prompt"]', "no address"),
        ('urls = ["https://a.example", "https://a.example"]', "twice"),
        ('events = ["everything"]', "there is no 'everything'"),
        ('secret = "hunter2-and-more"', "says no place"),
        ('secret = "prompt"', "says no place"),
    ],
)
def test_what_is_configured_wrongly_is_refused_and_not_repeated(
    tmp_path: Path, text: str, why: str
) -> None:
    with pytest.raises(BadInput, match=why) as caught:
        configured(tmp_path, f"[notify]\n{text}\n")
    assert "hunter2" not in str(caught.value)
    assert "user:pass" not in str(caught.value)
