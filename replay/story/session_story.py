"""A session story tells one session step by step: who drove, why, what came of it, how long."""

import re
from collections.abc import Iterable

from rutter.actors.rules.steps.pause import RULE as PAUSED
from rutter.events.action import Action, ByRef
from rutter.events.advisor import VisionGiven
from rutter.events.artifacts import artifacts_in
from rutter.events.critic import (
    ActionJudged,
    CompletionChecked,
    Evidence,
    OutcomeUnknown,
    PageAssessed,
    StateDiffered,
    VisionSought,
)
from rutter.events.envelope import Envelope, kind
from rutter.events.executor import (
    ActionDone,
    ActionFailed,
    PersonActed,
    QueryAnswered,
    QueryFailed,
    TargetMissing,
    TargetResolved,
)
from rutter.events.faults import fault_of
from rutter.events.logins import LoginKept, LoginNotKept, LoginUsed
from rutter.events.observer import (
    DialogOpened,
    DownloadFinished,
    FilesSeen,
    PageObserved,
    ScreenshotTaken,
)
from rutter.events.page import Page
from rutter.events.person import ApprovalAnswered
from rutter.events.planner import (
    LookalikesRequested,
    PlanProposed,
    PlanWithheld,
    RunStopped,
    TargetHealed,
)
from rutter.events.predictor import (
    PredictionMade,
    SessionForgotten,
    TransitionLearned,
    TransitionUndone,
)
from rutter.events.run_settings import MILLION
from rutter.events.runtime import (
    ArtifactsExpired,
    PayloadGone,
    SessionEnded,
    SessionPaused,
    SessionResumed,
    SessionStarted,
)
from rutter.events.tools import CompletionClaimed, FileRead, ToolCalled
from rutter.events.validator import (
    ActionApproved,
    ActionRejected,
    ActionStarted,
    ApprovalRequested,
    QueryStarted,
)
from rutter.events.vocabulary import AnyEvent
from rutter.events.workflow import Criteria, Indicator
from rutter.replay.story.advice import AdviceFold, VisionStory
from rutter.replay.story.evidence_weight import overall
from rutter.replay.story.login_use import login_in_words
from rutter.replay.story.looked_for import LookedForFold
from rutter.replay.story.pauses import PausesFold
from rutter.replay.story.phases import PHASES, entered
from rutter.replay.story.proofs import ProofsFold
from rutter.replay.story.results import ResultsFold
from rutter.replay.story.told_session import EvidenceStory, StepStory, Story
from rutter.replay.story.tried_locators import TriedLocators
from rutter.replay.story.wording import (
    file_in_words,
    file_wanted,
    healed_in_words,
    in_words,
    name_on,
    printable,
    undone_in_words,
    within_in_words,
)


def tell(events: Iterable[Envelope]) -> Story:
    """Folds the events of one session into its story. Stops wherever the events stop."""
    teller = _StoryFold()
    for envelope in events:
        teller.hear(envelope)
    story = teller.finish()
    fault = fault_of(story.reason, story.failure, sent=story.sent or bool(story.unknown))
    if fault.error_code:
        story.error_code, story.retriable, story.hint = fault
    return story


class _StoryFold:
    def __init__(self) -> None:
        self.story = Story()
        self._now: StepStory | None = None
        self._numbered: dict[int, StepStory] = {}
        self._asked_of: dict[str, StepStory] = {}
        self._url = ""
        self._page: Page | None = None
        self._criteria: Criteria | None = None
        self._planned: dict[int, Action] = {}
        self._locators = TriedLocators()
        self._failed: dict[int, tuple[str, str]] = {}
        self._recorded = ""
        self._sent: set[int] = set()
        self._wanted: dict[str, tuple[str, str]] = {}
        self._advice = AdviceFold()
        self._seen = VisionStory()
        self._foreseen: PredictionMade | None = None
        self._judged: StepStory | None = None
        self._taught: dict[str, StepStory] = {}
        self._pauses = PausesFold()
        self._named: set[str] = set()
        self._gathering = ResultsFold()
        self._seeking = LookedForFold()
        self._proofs = ProofsFold()

    def finish(self) -> Story:
        story, advice = self.story, self._advice
        found = self._gathering.results()
        story.results, story.tables, story.downloads = found.values, found.tables, found.downloads
        story.sent = bool(self._sent)
        story.model_calls, story.tokens = advice.calls, advice.tokens
        story.cost_microdollars, story.unpriced = advice.cost_microdollars, advice.unpriced
        self._failed_at()
        story.proofs, story.read_backs = self._proofs.told(), self._proofs.found
        for proof in story.proofs:
            if (sender := self._numbered.get(proof.step)) is not None:
                sender.proof = proof.words
        for number, call in advice.led_nowhere():
            step = self._numbered.get(number)
            (story.advice if step is None else step.advice).append(call)
        return story

    def _failed_at(self) -> None:
        """Where it ended, what it looked for and what was there: of a session that failed."""
        story = self.story
        if story.reason in ("completed", "running", "erased"):
            return
        sought = self._seeking.sought()
        story.page, story.expected, story.start = sought[:3]
        step = self._numbered.get(sought.step)
        if step is not None and not step.done:
            step.looked_for, step.instead = [*step.tried, *sought.near], [*sought.instead]

    def hear(self, envelope: Envelope) -> None:
        if isinstance(envelope.event, SessionForgotten):  # said of it, and not in it
            self.story.forgotten = printable(envelope.event.why)
            return
        if isinstance(envelope.event, ArtifactsExpired):  # said in a process
            gone = sorted(self._named.intersection(envelope.event.digests))
            self.story.expired += [each for each in gone if each not in self.story.expired]
            return
        self._named.update(artifact.sha256 for artifact in artifacts_in(envelope.event))
        self.story.events += 1
        self._gathering.hear(envelope)
        self._seeking.hear(envelope.event)
        self._proofs.hear(envelope.event)
        self._learn(envelope.event)
        match envelope.event:
            case ActionStarted(step=step, irreversible=True):
                self._sent.add(step)
            case ActionFailed(step=step, dispatched=False):
                self._sent.discard(step)
            case VisionGiven() as given:
                self._seen = self._advice.look(given)
            case _:
                pass
        if not self._advice.take(envelope.event) and not self._of_session(envelope):
            self._of_step(envelope)

    def _learn(self, event: AnyEvent) -> None:
        """What was foreseen, what was learned of a step, and what of that a person took back."""
        match event:
            case PredictionMade():
                self._foreseen = event
            case ActionJudged(step=number) | QueryAnswered(step=number):
                self._judged = self._numbered.get(number)
            case TransitionLearned(token=token) if self._judged is not None:
                self._taught[token] = self._judged
            case TransitionUndone(token=token, why=why):
                step = self._now if why == "refused" else self._taught.get(token)
                if step is not None:
                    step.undone = undone_in_words(why)
            case _:
                pass

    def _of_session(self, envelope: Envelope) -> bool:
        story = self.story
        match envelope.event:
            case SessionStarted() as started:
                story.session, story.purpose = envelope.session, started.purpose
                story.name, story.values = started.name, started.values
                story.goal, story.led = printable(started.goal), started.driver == "model"
                story.dry_run = started.settings.dry_run
                self._criteria = started.settings.criteria
                story.version = started.workflow.version if started.workflow else None
                story.started_ns = envelope.at_ns
            case PageObserved(page=page, screenshot=screenshot):
                self._url, self._page = page.url, page
                if self._now is not None and screenshot is not None:
                    self._now.screenshot = screenshot
            case RunStopped(reason=reason, failure=failure, detail=detail):
                story.reason, story.failure, story.detail = reason, failure, detail
            case SessionEnded(reason=reason, failure=failure, detail=detail):
                story.reason, story.failure, story.detail = reason, failure, detail
                story.ended_ns = envelope.at_ns
                story.took_ms = (envelope.at_ns - story.started_ns) / 1e6
            case ScreenshotTaken(artifact=artifact):
                story.screenshot = artifact
            case OutcomeUnknown(why=why):
                story.unknown = why
            case CompletionClaimed(status=status, reason=reason):
                story.gave_up = printable(reason) if status == "failed" else ""
            case CompletionChecked() as checked:
                self._end(checked)
            case PayloadGone(was=was):
                self._gone(envelope, was)
            case _:
                return self._begun(envelope)
        return True

    def _end(self, checked: CompletionChecked) -> None:
        """What the page says of a claim; which signs it looked for, where it shows none."""
        story = self.story
        story.detail, story.unmet = checked.reason, ""
        if checked.verified or story.gave_up:
            return
        signs = self._criteria.success if self._criteria is not None else ()
        shown = ", ".join(map(_sign, signs)) if checked.reason.startswith("none of ") else ""
        story.unmet = f"{checked.reason}: {shown}" if shown else checked.reason

    def _begun(self, envelope: Envelope) -> bool:
        """What opens a step: a plan, a person, a file that a call wants; and what holds them."""
        match envelope.event:
            case PlanProposed() as plan:
                self._propose(envelope, plan)
            case PersonActed() as acted:
                self._acted(envelope, acted)
            case ToolCalled() as called:
                wanted = file_wanted(called)
                if wanted is not None:
                    self._wanted[called.call] = (wanted, called.by)
            case FileRead() as read:
                self._read_file(envelope, read)
            case SessionPaused() | SessionResumed() as said:
                # Told below the step that it came behind.
                told = self.story.pauses if self._now is None else self._now.pauses
                self._pauses.hear(said, told, envelope.at_ns)
            case LoginUsed() | LoginKept() | LoginNotKept() as login:
                self.story.logins.append(login_in_words(login))
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
        self._locators.plan(plan.action)
        self._planned[plan.step] = plan.action
        words = in_words(plan.action, name_on(self._page, plan.action))
        again = self._numbered.get(plan.step)
        if again is not None:
            again.attempts, again.words, again.why = (
                plan.attempt,
                words,
                plan.reason,
            )
            again.verdict = again.reason = ""  # of the try before
            self._failed.pop(plan.step, None)
            again.advice += self._advice.led_to_a_step()
            self._now = again
        else:
            self._open(
                StepStory(
                    step=plan.step,
                    driver=plan.driver,
                    words=words,
                    why=plan.reason,
                    kind=plan.kind,
                    url=self._url,
                    probability=plan.probability,
                    began_ns=envelope.at_ns,
                ),
                below=plan.read_back_of,
            )
        if plan.driver == "prediction" and self._foreseen is not None:
            seen, step = self._foreseen, self._numbered[plan.step]
            step.within, step.absent = [*map(within_in_words, seen.within)], seen.absent
        self._enter(envelope.event, self._numbered[plan.step])

    def _acted(self, envelope: Envelope, acted: PersonActed) -> None:
        name = acted.element.name.text if acted.element is not None else ""
        step = StepStory(
            step=acted.step,
            driver="person",
            words=in_words(acted.action, name),
            why="done by a person",
            url=self._url,
            element=name,
            began_ns=envelope.at_ns,
        )
        self._open(step)
        self._enter(acted, step)

    def _open(self, step: StepStory, below: int = 0) -> None:
        """A look whether a step really worked is told under that step."""
        owner = self._numbered.get(below)
        if owner is None:
            step.advice = self._advice.led_to_a_step()
        (self.story.steps if owner is None else owner.read_backs).append(step)
        self._now = self._numbered[step.step] = step

    def _read_file(self, envelope: Envelope, read: FileRead) -> None:
        path, by = self._wanted.pop(read.call, ("", "agent"))
        step = StepStory(
            step=0,
            driver=by,
            words=printable(f"read the file {path!r}"),
            why="called for",
            kind="observation",
            phases=list(PHASES["observation"]),
            url=self._url,
            verdict="failed" if read.error else "answered",
            reason=printable(f"{read.error}: {read.message}") if read.error else "file_read",
            advice=self._advice.led_to_a_step(),
            began_ns=envelope.at_ns,
        )
        self.story.steps.append(step)

    def _enter(self, event: AnyEvent, step: StepStory) -> None:
        for phase in entered(event, step.kind):
            if not step.phases or step.phases[-1] != phase:
                step.phases.append(phase)

    def _of_step(self, envelope: Envelope) -> None:
        event = envelope.event
        number = getattr(event, "step", None)
        # By its number: a verdict may come after that of the look elsewhere that it waited for.
        step = self._numbered.get(number) if number else self._now
        if step is None:
            if isinstance(event, PageAssessed):
                self._assess(event)
            return
        self._enter(event, step)
        match event:
            case ActionRejected(rule=rule, reason=reason):
                refused = "failed" if step.kind == "observation" else "rejected"
                refused = "passed_over" if rule == PAUSED else refused  # a pause came before it
                step.rule, step.verdict, step.reason = rule, refused, reason
            case PlanWithheld(index=index) if index >= 0 and step.verdict in ("rejected", "failed"):
                step.verdict = "passed_over"  # an optional one
            case ActionStarted(action=action) | QueryStarted(action=action):
                step.words = in_words(action, step.element)
            case ActionFailed(code=code, message=message, waited_ms=waited_ms):
                step.waited_ms = waited_ms
                step.reason = f"{code}: {message}" if message else code
                self._failed[step.step] = (code, step.reason)
            case ActionDone(extracted=extracted, typed=typed):
                step.extracted = extracted.text if extracted is not None else None
                if typed is not None:
                    step.words = re.sub(
                        r"<typed \d+>", lambda _: printable(repr(typed)), step.words
                    )
            case QueryAnswered() | QueryFailed() as answer:
                self._answer(envelope, step, answer)
            case ActionJudged() as judged:
                self._judge(envelope, step, judged)
            case _:
                self._looked(step, event)

    def _looked(self, step: StepStory, event: AnyEvent) -> None:
        """What was found and who allowed it, before anything was done."""
        match event:
            case TargetResolved(tries=tries, element=element):
                step.element, step.role = element.name.text, element.role
                self._name(step)
                step.tried = self._locators.tried(tries)
                step.found_by = self._locators.found_by(tries)
            case TargetMissing(tries=tries, waited_ms=waited_ms):
                step.tried, step.waited_ms = self._locators.tried(tries), waited_ms
            case LookalikesRequested(fingerprint=known_by):
                self._recorded = known_by.name.text or known_by.text.text or known_by.tag
            case TargetHealed(element=element, score=score):
                step.healed = healed_in_words(self._recorded, element, score)
            case ActionApproved(rule=rule, reason=reason):
                step.rule, step.approved = rule, reason
            case ApprovalRequested(approval=approval, question=question):
                step.asked = printable(question)
                self._asked_of[approval] = step
            case ApprovalAnswered(approval=approval, approved=approved, by=by):
                asked = self._asked_of.get(approval, step)
                asked.asked += f" -> {'yes' if approved else 'no'} ({by})"
            case _:
                self._verified(step, event)

    def _name(self, step: StepStory) -> None:
        """What was named by a ref is told by its name, now that it is known."""
        action = self._planned.get(step.step)
        locators = action.target.strategies if action is not None and action.target else ()
        if action is not None and locators and isinstance(locators[0], ByRef):
            step.words = in_words(action, step.element)

    def _verified(self, step: StepStory, event: AnyEvent) -> None:
        """What was looked at afterwards, beside the verdict."""
        match event:
            case PageAssessed() as assessed:
                self._assess(assessed)
            case StateDiffered(expected=expected, actual=actual):
                step.differed = f"expected {expected}, is {actual}"
            case VisionSought():
                step.vision = VisionStory()
            case VisionGiven():
                step.vision = self._seen
            case FilesSeen(files=files):
                step.files = [file_in_words(seen) for seen in files]
            case DownloadFinished(name=name, failure=failure):
                came = f"not kept: {failure}" if failure else "kept"
                step.downloads.append(printable(f"{name.text!r} {came}"))
            case DialogOpened(kind=asked, message=message, answer=answer):
                step.dialogs.append(printable(f"{asked} {message.text!r} was {answer}"))
            case _:
                pass

    def _assess(self, assessed: PageAssessed) -> None:
        """The state that a step left the page in. A look elsewhere is over by then."""
        self.story.state = assessed.state
        top = self.story.steps[-1] if self.story.steps else None
        if top is not None:
            top.state = assessed.state

    def _answer(
        self, envelope: Envelope, step: StepStory, answer: QueryAnswered | QueryFailed
    ) -> None:
        """An observation has no verdict: it came to something, or it did not."""
        step.took_ms = (envelope.at_ns - step.began_ns) / 1e6
        if isinstance(answer, QueryFailed):
            step.verdict = "failed"
            step.reason = f"{answer.code}: {answer.message}" if answer.message else answer.code
            return
        step.verdict, step.reason = "answered", ""
        if answer.text is not None:
            step.extracted = answer.text.text

    def _judge(self, envelope: Envelope, step: StepStory, judged: ActionJudged) -> None:
        step.verdict = judged.verdict
        step.reason = self._reason(judged)
        step.took_ms = (envelope.at_ns - step.began_ns) / 1e6
        step.evidence = [_evidence(each) for each in judged.evidence]
        step.confidence = overall(judged) / MILLION if judged.evidence else None

    def _reason(self, judged: ActionJudged) -> str:
        """The Critic's words, with the Executor's where it could not act."""
        code, words = self._failed.get(judged.step, ("", ""))
        if judged.verdict == "confirmed" or not code:
            return judged.reason
        return words if judged.reason == code else f"{judged.reason} ({words})"


def _sign(sign: Indicator) -> str:
    return printable(f"{sign.where} {sign.says!r}")


def _evidence(evidence: Evidence) -> EvidenceStory:
    return EvidenceStory(
        evidence.source,
        printable(evidence.checked),
        evidence.confidence / MILLION,
        printable(evidence.sample.text) if evidence.sample is not None else "",
    )
