"""The runtime says when processes and sessions begin and end, and what limits ended them."""

from typing import Literal

import msgspec

from rutter.events.causes import Cause
from rutter.events.event import Event
from rutter.events.policy import Policy
from rutter.events.rows import BatchRow
from rutter.events.run_settings import ModelUse, RunSettings
from rutter.events.workflow import Driver, Step, Workflow

Purpose = Literal["record", "run", "free", "tools"]
StopReason = Literal[
    "completed",
    "completed_unverified",
    "max_steps",
    "max_wall_time",
    "max_failures",
    "max_turns_exceeded",
    "no_op_loop",
    "policy_denied",
    "failed",
    "cancelled",
    "interrupted",
]
Failure = Literal[
    "",
    "lost",
    "needs_person",
    "verification_failed",
    "retry_exhausted",
    "unreachable",
    "policy_denied",
    "actor_failed",
    "browser_lost",
    "model_unavailable",
]


class ChainHead(msgspec.Struct, frozen=True):
    """A chain head is the last event of a session: how long its chain is and what it ends in."""

    session: str
    n: int
    hash: bytes


class ProcessStarted(Event, frozen=True, tag="ProcessStarted"):
    version: str
    python: str = ""
    platform: str = ""


class ProcessStopped(Event, frozen=True, tag="ProcessStopped"):
    reason: str = ""


class LogSealed(Event, frozen=True, tag="LogSealed"):
    """A seal lists the heads of sessions that moved since the last one: it shows a lost tail."""

    heads: tuple[ChainHead, ...]


class PayloadErased(Event, frozen=True, tag="PayloadErased"):
    """A person has payloads removed on purpose: event `n`, or all from `n` to `last`.

    It is the intent, on disk before anything goes; the chain still verifies over what is left.
    """

    session: str
    n: int
    why: str
    last: int = 0

    @property
    def to(self) -> int:
        return max(self.n, self.last)


class PayloadGone(Event, frozen=True, tag="PayloadGone"):
    """A gone payload leaves its kind, and the hash that the chain holds.

    Never said by anyone: it stands in the row of the event whose payload it was.
    """

    was: str
    sha256: bytes


class ArtifactsExpired(Event, frozen=True, tag="ArtifactsExpired"):
    """A rule lets these artifacts go: on disk before any file does. Events keep their digests.

    `until` is how far the log was read: whatever names one of them behind that has it anew.
    """

    rule: str
    digests: tuple[str, ...]
    until: int


class SessionStarted(Event, frozen=True, tag="SessionStarted"):
    """A session starts with everything it depends on, in full: a new recording does not change it.

    `headed`: a person can act in the window, `attended`: one is there to be asked. `left_off` says
    how the session that it continues was left; `same_values`: that one was given the same, so that
    its results can be looked for. `models` are the language models that may be asked; nobody is,
    without. `row` is the one of a file that it is for, where it is one run of many. From the step
    at `by_hand_from` on a person records it again; with `by_hand_only` that step alone.
    """

    purpose: Purpose
    driver: Driver
    logic: str
    settings: RunSettings
    policy: Policy
    name: str = ""
    url: str = ""
    workflow: Workflow | None = None
    script: tuple[Step, ...] = ()
    values: dict[str, str] = msgspec.field(default_factory=dict)
    secrets: tuple[str, ...] = ()
    goal: str = ""
    continues: str = ""
    forked_from: str = ""
    forked_at: int = 0
    done_before: int = 0
    headed: bool = False
    attended: bool = False
    left_off: str = ""
    same_values: bool = False
    models: ModelUse | None = msgspec.field(default=None, name="minds")
    row: BatchRow | None = None
    by_hand_from: int = -1
    by_hand_only: bool = False

    @property
    def steps(self) -> tuple[Step, ...]:
        """Those of its workflow; nothing where it follows none."""
        return self.workflow.steps if self.workflow is not None else ()


class DeadlinePassed(Event, frozen=True, tag="DeadlinePassed"):
    """The clock reports time as a fact: no decider reads one. `call` is whose time it was."""

    what: Literal["wall_time", "tool"]
    after_ms: int
    call: str = ""


class StopRequested(Event, frozen=True, tag="StopRequested"):
    by: str
    why: str = ""


class RecordingFinished(Event, frozen=True, tag="RecordingFinished"):
    """The person is done: what was recorded is the whole workflow, unless they discarded it."""

    by: Literal["window_closed", "interrupt", "bar", "discarded"]


class SessionPaused(Event, frozen=True, tag="SessionPaused"):
    """A paused session begins nothing new and counts no time until it is resumed."""

    by: str


class SessionResumed(Event, frozen=True, tag="SessionResumed"):
    """A resumed session looks at the page first and goes on from there."""

    by: str


class SessionInterrupted(Event, frozen=True, tag="SessionInterrupted"):
    """The process that ran this session died: found on opening the log."""

    why: str


class ActorFailed(Event, frozen=True, tag="ActorFailed"):
    """A decider raised, or an effector could not be restarted. The session ends."""

    actor: str
    error: str
    message: str = ""


class SessionEnded(Event, frozen=True, tag="SessionEnded"):
    """A session ends, and its chain with it."""

    reason: StopReason
    failure: Failure = ""
    detail: str = ""
    cause: Cause | None = None
