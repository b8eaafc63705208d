"""One session as people read it: step by step, who drove, why, what came of it, how long."""

import re
from collections.abc import Iterable

import msgspec

from events.advisor import AdviceReceived
from events.critic import ActionJudged, CompletionChecked, OutcomeUnknown
from events.envelope import Envelope, kind
from events.executor import ActionDone, ActionFailed, PersonActed, TargetMissing, TargetResolved
from events.observer import DialogOpened, PageObserved, ScreenshotTaken
from events.page import Artifact, Try
from events.person import ApprovalAnswered
from events.planner import LookalikesRequested, PlanProposed, PlanWithheld, RunStopped, TargetHealed
from events.runtime import PayloadGone, SessionEnded, SessionStarted
from events.validator import ActionApproved, ActionRejected, ActionStarted, ApprovalRequested
from events.vocabulary import AnyEvent
from replay.wording import ascii_only, healed_in_words, in_words, way_in_words

CAME_OF = {
    "taken": "found",
    "none": "not there",
    "ambiguous": "several are there",
    "invalid": "not a selector",
    "not_visible": "there, but not visible",
    "not_needed": "not tried",
}


class StepStory(msgspec.Struct, omit_defaults=True):
    """One step with everything that was decided about it."""

    step: int
    driver: str
    words: str
    why: str
    url: str = ""
    probability: int | None = None
    attempts: int = 1
    element: str = ""
    found_by: str = ""
    healed: str = ""
    tried: list[str] = []
    verdict: str = ""
    reason: str = ""
    rule: str = ""
    approved: str = ""
    asked: str = ""
    evidence: list[str] = []
    dialogs: list[str] = []
    screenshot: Artifact | None = None
    extracted: str | None = None
    began_ns: int = 0
    took_ms: float = 0.0


class Story(msgspec.Struct, omit_defaults=True):
    session: str = ""
    purpose: str = ""
    name: str = ""
    version: int | None = None
    values: dict[str, str] = {}
    started_ns: int = 0
    ended_ns: int = 0
    took_ms: float = 0.0
    reason: str = "running"
    failure: str = ""
    detail: str = ""
    steps: list[StepStory] = []
    results: dict[str, str] = {}
    model_calls: int = 0
    cost_microdollars: int = 0
    events: int = 0
    screenshot: Artifact | None = None
    unknown: str = ""
    erased: int = 0


def tell(events: Iterable[Envelope]) -> Story:
    """Folds the events of one session into its story. Stops wherever the events stop."""
    teller = _Teller()
    for envelope in events:
        teller.hear(envelope)
    return teller.story


class _Teller:
    def __init__(self) -> None:
        self.story = Story()
        self._url = ""
        self._ways: tuple[str, ...] = ()
        self._read_as = ""
        self._recorded = ""

    @property
    def _step(self) -> StepStory:
        return self.story.steps[-1]

    def hear(self, envelope: Envelope) -> None:
        self.story.events += 1
        if not self._of_session(envelope):
            self._of_step(envelope)

    def _of_session(self, envelope: Envelope) -> bool:
        story = self.story
        match envelope.event:
            case SessionStarted() as started:
                story.session, story.purpose = envelope.session, started.purpose
                story.name, story.values = started.name, started.values
                story.version = started.workflow.version if started.workflow else None
                story.started_ns = envelope.at_ns
            case PageObserved(page=page, screenshot=screenshot):
                self._url = page.url
                if story.steps and screenshot is not None:
                    self._step.screenshot = screenshot
            case RunStopped(reason=reason, failure=failure, detail=detail):
                story.reason, story.failure, story.detail = reason, failure, detail
            case SessionEnded(reason=reason, failure=failure, detail=detail):
                story.reason, story.failure, story.detail = reason, failure, detail
                story.ended_ns = envelope.at_ns
                story.took_ms = (envelope.at_ns - story.started_ns) / 1e6
            case AdviceReceived(cost_microdollars=cost):
                story.model_calls += 1
                story.cost_microdollars += cost
            case ScreenshotTaken(artifact=artifact):
                story.screenshot = artifact
            case OutcomeUnknown(why=why):
                story.unknown = why
            case PlanProposed() as plan:
                self._propose(envelope, plan)
            case PersonActed() as acted:
                self._acted(envelope, acted)
            case PayloadGone(was=was):
                self._gone(envelope, was)
            case _:
                return False
        return True

    def _gone(self, envelope: Envelope, was: str) -> None:
        """Of what was erased, the log still knows that it was, and when."""
        story = self.story
        story.erased += 1
        story.session = envelope.session
        if was == kind(SessionStarted):
            story.purpose, story.started_ns = "erased", envelope.at_ns
        elif was == kind(SessionEnded):
            story.reason, story.ended_ns = "erased", envelope.at_ns
            story.took_ms = (envelope.at_ns - story.started_ns) / 1e6

    def _propose(self, envelope: Envelope, plan: PlanProposed) -> None:
        steps = self.story.steps
        self._ways = tuple(
            way_in_words(way)
            for way in (plan.action.target.strategies if plan.action.target else ())
        )
        if steps and steps[-1].step == plan.step:
            again = steps[-1]
            again.attempts, again.words, again.why = (
                plan.attempt,
                in_words(plan.action),
                plan.reason,
            )
            again.verdict = again.reason = ""  # of the try before
            return
        steps.append(
            StepStory(
                step=plan.step,
                driver=plan.driver,
                words=in_words(plan.action),
                why=plan.reason,
                url=self._url,
                probability=plan.probability,
                began_ns=envelope.at_ns,
            )
        )

    def _acted(self, envelope: Envelope, acted: PersonActed) -> None:
        name = acted.element.name.text if acted.element is not None else ""
        self.story.steps.append(
            StepStory(
                step=acted.step,
                driver="person",
                words=in_words(acted.action, name),
                why="done by a person",
                url=self._url,
                element=name,
                began_ns=envelope.at_ns,
            )
        )

    def _of_step(self, envelope: Envelope) -> None:
        if not self.story.steps:
            return
        step = self._step
        match envelope.event:
            case ActionRejected(rule=rule, reason=reason):
                step.rule, step.verdict, step.reason = rule, "rejected", reason
            case PlanWithheld(index=index) if index >= 0 and step.verdict == "rejected":
                step.verdict = "passed_over"  # an optional one
            case ActionStarted(action=action):
                step.words = in_words(action, step.element)
                self._read_as = action.name or "text"
            case ActionFailed(code=code, message=message):
                step.reason = f"{code}: {message}" if message else code
            case ActionDone(extracted=extracted, typed=typed):
                step.extracted = extracted.text if extracted is not None else None
                if typed is not None:
                    step.words = re.sub(
                        r"<typed \d+>", lambda _: ascii_only(repr(typed)), step.words
                    )
            case DialogOpened(kind=kind, message=message, answer=answer):
                step.dialogs.append(ascii_only(f"{kind} {message.text!r} was {answer}"))
            case ActionJudged() as judged:
                self._judge(envelope, judged)
            case CompletionChecked(reason=reason):
                self.story.detail = reason
            case _ as event:
                self._looked(step, event)

    def _looked(self, step: StepStory, event: AnyEvent) -> None:
        """What was found and who allowed it, before anything was done."""
        match event:
            case TargetResolved(tries=tries, element=element):
                step.element = element.name.text
                step.tried = self._tried(tries)
                step.found_by = self._way(tries[-1].strategy) if tries else ""
            case TargetMissing(tries=tries):
                step.tried = self._tried(tries)
            case LookalikesRequested(fingerprint=known_by):
                self._recorded = known_by.name.text or known_by.text.text or known_by.tag
            case TargetHealed(element=element, score=score):
                step.healed = healed_in_words(self._recorded, element, score)
            case ActionApproved(rule=rule, reason=reason):
                step.rule, step.approved = rule, reason
            case ApprovalRequested(question=question):
                step.asked = ascii_only(question)
            case ApprovalAnswered(approved=approved, by=by):
                step.asked += f" -> {'yes' if approved else 'no'} ({by})"
            case _:
                pass

    def _tried(self, tries: tuple[Try, ...]) -> list[str]:
        return [f"{self._way(entry.strategy)}: {CAME_OF[entry.result]}" for entry in tries]

    def _judge(self, envelope: Envelope, judged: ActionJudged) -> None:
        step = self._step
        step.verdict = judged.verdict
        step.reason = (
            judged.reason if judged.verdict == "confirmed" else step.reason or judged.reason
        )
        step.took_ms = (envelope.at_ns - step.began_ns) / 1e6
        step.evidence = [
            f"{evidence.source} {ascii_only(evidence.checked)}" for evidence in judged.evidence
        ]
        if step.extracted is not None:
            self.story.results[self._read_as] = step.extracted

    def _way(self, index: int) -> str:
        return self._ways[index] if index < len(self._ways) else f"way {index + 1}"
