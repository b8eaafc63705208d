"""A step record says what became of one step: who drove it, what was found, allowed and done,
whether it can be undone, and what came of it.

Events of steps are interpreted here and nowhere else: whoever shows, counts or repeats them reads
records.
"""

import re

import msgspec

from rutter.actors.rules.steps.pause import RULE as PAUSED
from rutter.events.action import Action, ByRef
from rutter.events.critic import ActionJudged, Evidence, StateDiffered
from rutter.events.executor import (
    ActionDone,
    ActionFailed,
    QueryAnswered,
    QueryFailed,
    TargetMissing,
    TargetResolved,
)
from rutter.events.observer import DialogOpened, DownloadFinished, FilesSeen
from rutter.events.page import Try
from rutter.events.person import ApprovalAnswered
from rutter.events.planner import LookalikesRequested, PlanProposed, PlanWithheld, TargetHealed
from rutter.events.run_settings import MILLION
from rutter.events.tables import Table
from rutter.events.validator import (
    ActionApproved,
    ActionRejected,
    ActionStarted,
    ApprovalRequested,
    QueryStarted,
)
from rutter.replay.fold import Fold, hears
from rutter.replay.story.evidence_weight import overall
from rutter.replay.story.told_session import UNTIMED, EvidenceStory, StepAccount
from rutter.replay.story.wording import (
    file_in_words,
    healed_in_words,
    in_words,
    locator_in_words,
    printable,
)

UNNAMED = "text"  # how it is called what was read and nobody named
CAME_OF = {
    "taken": "found",
    "none": "not there",
    "ambiguous": "several are there",
    "invalid": "not a selector",
    "not_visible": "there, but not visible",
    "not_needed": "not tried",
}


class StepRecord(Fold, StepAccount, eq=False):
    """A step record holds what is known of one step so far, and hears what is said of it.

    `action` is what was proposed last, by `planner`; `driver` is who proposed it first. `name` is
    what its element calls itself where a ref names it. `acting` is what was begun since it was
    proposed, `begun` what was begun at all; `started_ns` is since when input may have gone out.
    `under_way`: it was begun, may leave something behind, and has no verdict. `sent`: it cannot be
    undone, and was done or may have been; `doubtful`: and nobody saw that it worked. `failure` is
    the Executor's code and words. `verdict` is the Critic's; of an observation `answered` or
    `failed`, else `rejected` or `passed_over`. `step` is 0 for a file that was read for a call.
    `index` is its place in a workflow or script, or -1. `erased`: what was proposed is not known
    any more, so that it counts and is not told.
    """

    step: int
    driver: str
    action: Action
    why: str
    began_ns: int
    at_ns: int = 0
    planner: str = "person"
    read_back_of: int = 0
    settles: int = -1
    name: str = ""
    phrase: str = ""
    recorded: str = ""
    acting: Action | None = None
    begun: Action | None = None
    begun_url: str = ""
    started_ns: int = 0
    under_way: bool = False
    sent: bool = False
    doubtful: bool = False
    failure: tuple[str, str] = ("", "")
    typed: str | None = None
    table: Table | None = None
    judged: ActionJudged | None = None
    ended_ns: int = 0
    read_backs: list["StepRecord"] = msgspec.field(default_factory=list)
    file: str = ""
    erased: bool = False

    @property
    def proposed(self) -> str:
        """What was put forward, in words."""
        return in_words(self.action, self.name)

    @property
    def words(self) -> str:
        """What was done, once that was begun: to what its element calls itself."""
        if self.file:
            return printable(f"read the file {self.file!r}")
        told = self.proposed if self.acting is None else in_words(self.acting, self.element)
        if self.typed is None:
            return told
        typed = printable(repr(self.typed))
        return re.sub(r"<typed \d+>", lambda _: typed, told)

    @property
    def number(self) -> int:
        """As `workflows show` counts, where it is a step of a workflow."""
        return self.index + 1 if self.index >= 0 else self.step

    @property
    def called(self) -> str:
        """What is read is kept under this name."""
        return (self.begun.name if self.begun is not None else None) or UNNAMED

    @property
    def evidence(self) -> list[EvidenceStory]:
        return [_told(each) for each in self.judged.evidence] if self.judged else []

    @property
    def confidence(self) -> float | None:
        """Over all evidence; nothing where there was none."""
        judged = self.judged
        return overall(judged) / MILLION if judged is not None and judged.evidence else None

    @property
    def took_ms(self) -> float:
        return (self.ended_ns - self.began_ns) / 1e6 if self.ended_ns else UNTIMED

    @hears
    def _plan(self, plan: PlanProposed) -> None:
        """Another try is the same step, and nothing that came of the one before is true of it."""
        self.action, self.why, self.attempts = plan.action, plan.reason, plan.attempt
        self.planner, self.index, self.settles = plan.driver, plan.index, plan.settles
        self.source = plan.source
        self.verdict, self.reason, self.failure = "", "", ("", "")
        self.acting = self.typed = None

    @hears
    def _resolved(self, resolved: TargetResolved) -> None:
        self.element, self.role = resolved.element.name.text, resolved.element.role
        if self.action.locators and isinstance(self.action.locators[0], ByRef):
            self.name = self.element  # what a ref names is told by its name, now that it is known
        self.found_by = self._named(resolved.tries[-1]) if resolved.tries else ""
        self._tried(resolved.tries)

    @hears
    def _missing(self, missing: TargetMissing) -> None:
        self.waited_ms = missing.waited_ms
        self._tried(missing.tries)

    def _tried(self, tries: tuple[Try, ...]) -> None:
        self.tried = [f"{self._named(each)}: {CAME_OF[each.result]}" for each in tries]

    def _named(self, one: Try) -> str:
        """The locator that was tried."""
        locators, at = self.action.locators, one.strategy
        return locator_in_words(locators[at]) if at < len(locators) else f"way {at + 1}"

    @hears
    def _sought(self, wanted: LookalikesRequested) -> None:
        known_by = wanted.fingerprint
        self.recorded = known_by.name.text or known_by.text.text or known_by.tag

    @hears
    def _healed(self, healed: TargetHealed) -> None:
        self.healed = healed_in_words(self.recorded, healed.element, healed.score)

    @hears
    def _allowed(self, approved: ActionApproved) -> None:
        self.rule, self.approved = approved.rule, approved.reason

    @hears
    def _ask(self, asked: ApprovalRequested) -> None:
        self.asked, self.phrase = printable(asked.question), asked.phrase

    @hears
    def _answered_by_person(self, answer: ApprovalAnswered) -> None:
        self.asked += f" -> {'yes' if answer.approved else 'no'} ({answer.by})"
        self.untyped = answer.approved and self.phrase not in ("", answer.phrase)

    @hears
    def _refused(self, refused: ActionRejected) -> None:
        self.rule, self.reason, self.under_way = refused.rule, refused.reason, False
        self.verdict = "failed" if self.kind == "observation" else "rejected"
        if refused.rule == PAUSED:  # a pause came before it
            self.verdict = "passed_over"

    @hears
    def _withheld(self, withheld: PlanWithheld) -> None:
        if withheld.index >= 0 and self.verdict in ("rejected", "failed"):
            self.verdict = "passed_over"  # an optional one

    @hears
    def _began(self, started: ActionStarted | QueryStarted) -> None:
        self.acting = self.begun = started.action
        if isinstance(started, ActionStarted):
            self.started_ns = self.at_ns
            self.under_way = not started.action.aside  # a look leaves nothing behind
            self.sent = self.sent or started.irreversible

    @hears
    def _failed(self, failed: ActionFailed) -> None:
        self.waited_ms = failed.waited_ms
        self.reason = _said(failed.code, failed.message)
        self.failure = failed.code, self.reason
        self.sent = self.sent and failed.dispatched

    @hears
    def _done(self, done: ActionDone) -> None:
        self.extracted = done.extracted.text if done.extracted is not None else None
        self.typed = done.typed

    @hears
    def _answered(self, answer: QueryAnswered) -> None:
        """An observation has no verdict: it came to something, or it did not."""
        self.verdict, self.reason, self.ended_ns = "answered", "", self.at_ns
        if answer.text is not None:
            self.extracted, self.table = answer.text.text, answer.table
        self.render_mode, self.pictures = answer.render_mode, answer.pictures

    @hears
    def _unanswered(self, failed: QueryFailed) -> None:
        self.verdict, self.reason = "failed", _said(failed.code, failed.message)
        self.ended_ns = self.at_ns

    @hears
    def _judge(self, judged: ActionJudged) -> None:
        """The Critic's words, with the Executor's where it could not act."""
        self.doubtful |= self.under_way and self.sent and judged.verdict != "confirmed"
        self.verdict, self.reason, self.ended_ns = judged.verdict, judged.reason, self.at_ns
        self.judged, self.under_way, self.code = judged, False, judged.code
        code, words = self.failure
        if code and judged.verdict != "confirmed":
            self.reason = words if judged.code == code else f"{judged.reason} ({words})"

    @hears
    def _differed(self, differed: StateDiffered) -> None:
        self.differed = f"expected {differed.expected}, is {differed.actual}"

    @hears
    def _files(self, seen: FilesSeen) -> None:
        self.files = [file_in_words(each) for each in seen.files]

    @hears
    def _downloaded(self, download: DownloadFinished) -> None:
        came = f"not kept: {download.failure}" if download.failure else "kept"
        self.downloads.append(printable(f"{download.name.text!r} {came}"))

    @hears
    def _dialog(self, opened: DialogOpened) -> None:
        said = f"{opened.kind} {opened.message.text!r} was {opened.answer}"
        self.dialogs.append(printable(said))


def _told(evidence: Evidence) -> EvidenceStory:
    return EvidenceStory(
        evidence.source,
        printable(evidence.checked),
        evidence.confidence / MILLION,
        printable(evidence.sample.text) if evidence.sample is not None else "",
    )


def _said(code: str, message: str) -> str:
    return f"{code}: {message}" if message else code
