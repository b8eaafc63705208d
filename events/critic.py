"""The Critic says what an action really did, and whether the end was reached."""

from typing import Literal

import msgspec

from rutter.events.action import Untrusted
from rutter.events.causes import Cause, VerdictCode
from rutter.events.checks import FileCheck, PageState, ReadBack
from rutter.events.event import Event, StepEvent, TryEvent

Verdict = Literal["confirmed", "no_effect", "wrong_target", "failed", "unknown"]
Source = Literal["DOM", "VISION", "UIA", "FILE"]


# How far it is proven that the application has what a step sent. Acknowledged: the server answered,
# and the page showed what it showed before. Stored: it was read from the application afterwards.
Grade = Literal["", "acknowledged", "stored"]


class Proof(msgspec.Struct, frozen=True, omit_defaults=True):
    """A proof says what bears out a step that sent something, at `index` of its workflow.
    `passing`: it may be a part of what is sent later, which then takes its place."""

    step: int
    index: int = -1
    grade: Grade = ""
    by: str = ""
    passing: bool = False


class Evidence(msgspec.Struct, frozen=True, omit_defaults=True):
    """Evidence describes a verdict and never changes control flow (F4). Confidence is in
    millionths, and that of this source alone."""

    source: Source
    checked: str
    confidence: int
    sample: Untrusted | None = None


class ActionJudged(TryEvent, frozen=True, tag="ActionJudged"):
    """A verdict. `code` is what it rests on, `reason` the same for people."""

    verdict: Verdict
    reason: str
    evidence: tuple[Evidence, ...] = ()
    confidence: int = 0
    proof: Proof | None = None
    code: VerdictCode = ""


BarrierKind = Literal[
    "blocked",  # the site keeps programs out, or asks for nothing that a person could do
    "captcha",  # it asks for what a person alone can do
    "empty_shell",  # its scripts were to fill the page, and did not
    "drawn",  # what it says is in pictures alone
]
BarrierSign = Literal[
    "status", "title", "heading", "text",  # what the site answered and says
    "script", "frame", "element",  # what it has of a known service
    "covers", "no_text", "mount", "waits", "canvas", "picture",  # what it looks like
]  # fmt: skip


class Barrier(msgspec.Struct, frozen=True, omit_defaults=True):
    """A barrier keeps a page from being read or used. `signs` are what it is known by, `detail` the
    same in the words of our table, never the page's; `service` whose it is, where that is known.
    `beside`: the page has more than it, such as a captcha in a form."""

    kind: BarrierKind
    signs: tuple[BarrierSign, ...] = ()
    service: str = ""
    detail: str = ""
    beside: bool = False

    @property
    def keeps_out(self) -> bool:
        """Whether all that the page is keeps whoever is there out, until a person has acted."""
        return self.kind in ("blocked", "captcha") and not self.beside


class PageAssessed(Event, frozen=True, tag="PageAssessed"):
    """The Critic has nothing left to judge on this page: the next step may be chosen. `state` is
    what it is by the rules of F6, `barrier` what keeps it from being read or used."""

    state: str = ""
    barrier: Barrier | None = None


class FilesRequested(StepEvent, frozen=True, tag="FilesRequested"):
    """The Critic wants these files looked at when one changes, at the latest after `within_ms`."""

    checks: tuple[FileCheck, ...]
    within_ms: int


class ReadBackDue(TryEvent, frozen=True, tag="ReadBackDue"):
    """The page says that the step worked; a look elsewhere must say whether it did. A `trial` looks
    whether it would: it changes no verdict."""

    read_back: ReadBack
    trial: bool = False


class ReadBackFound(StepEvent, frozen=True, tag="ReadBackFound"):
    """The page where the step led shows what was typed when loaded anew: a run can look there. It
    is said as it stands in a workflow, of the step `step`, at `index` of the workflow if any."""

    read_back: ReadBack
    index: int = -1


class StateDiffered(TryEvent, frozen=True, tag="StateDiffered"):
    """The page after the step is in another state than expected: self-correction starts from this
    (S1 FR-005)."""

    expected: PageState
    actual: PageState


class VisionSought(TryEvent, frozen=True, tag="VisionSought"):
    """The Critic wants a failed step's picture looked at: to tell, not to decide."""

    checked: str


class CompletionChecked(Event, frozen=True, tag="CompletionChecked"):
    """The Critic held a claim that the work is done against its criteria (D5). `proofs` are of
    every step that sent something; where one of them is too weak, the end is not verified, and
    `cause` says why not."""

    verified: bool
    reason: str
    evidence: tuple[Evidence, ...] = ()
    proofs: tuple[Proof, ...] = ()
    cause: Cause | None = None


class OutcomeUnknown(TryEvent, frozen=True, tag="OutcomeUnknown"):
    """The browser or process died after this step started. It is never repeated blindly."""

    why: str
