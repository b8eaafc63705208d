"""A session story tells one session step by step: who drove, why, what came of it, how long."""

from collections.abc import Iterable, Mapping

import msgspec

from rutter.actors.rules.pages.barrier_words import barrier_story
from rutter.actors.rules.steps.proof_grades import lasting
from rutter.events.advisor import VisionGiven
from rutter.events.artifacts import artifacts_in
from rutter.events.causes import OTHER
from rutter.events.checks import ReadBack
from rutter.events.critic import (
    ActionJudged,
    CompletionChecked,
    PageAssessed,
    Proof,
    ReadBackFound,
    VisionSought,
)
from rutter.events.envelope import Envelope, kind
from rutter.events.executor import PersonActed, QueryAnswered
from rutter.events.faults import fault_of_end
from rutter.events.logins import LoginKept, LoginNotKept, LoginUsed
from rutter.events.observer import ScreenshotTaken
from rutter.events.planner import PlanProposed, RunStopped
from rutter.events.predictor import (
    PredictionMade,
    SessionForgotten,
    TransitionLearned,
    TransitionUndone,
)
from rutter.events.runtime import (
    ArtifactsExpired,
    PayloadGone,
    SessionEnded,
    SessionPaused,
    SessionResumed,
    SessionStarted,
)
from rutter.events.tools import CompletionClaimed, FileRead
from rutter.replay.fold import hears
from rutter.replay.step_record import StepRecord
from rutter.replay.steps import SessionSteps
from rutter.replay.story.advice import AdviceFold, VisionStory
from rutter.replay.story.ending import EndingFold
from rutter.replay.story.login_use import login_in_words
from rutter.replay.story.looked_for import LookedForFold
from rutter.replay.story.phases import entered
from rutter.replay.story.proofs import ProofStory
from rutter.replay.story.told_session import StepStory, Story
from rutter.replay.story.wording import paused_in_words, printable, undone_in_words, within_in_words


def tell(events: Iterable[Envelope]) -> Story:
    """Folds the events of one session into its story. Stops wherever the events stop."""
    teller = _StoryFold()
    for envelope in events:
        teller.take(envelope)
    story = teller.finish()
    fault = fault_of_end(story.reason, story.failure, sent=story.sent or bool(story.unknown))
    if fault.error_code:
        story.error_code, story.hint = fault.error_code, fault.hint
        story.retriable = fault.retriable
    return story


class _StoryFold(SessionSteps):
    """The steps of a session with what is told beside them."""

    def __init__(self) -> None:
        super().__init__()
        self.story = Story()
        self._advice = AdviceFold()
        self._foreseen: PredictionMade | None = None
        self._judged: StepRecord | None = None
        self._taught: dict[str, StepRecord] = {}
        self._paused: tuple[list[str], str, int] = ([], "", 0)
        self._named: set[str] = set()
        self._seeking = LookedForFold()
        self._ending = EndingFold()
        self._proofs: dict[int, Proof] = {}  # as the end was checked: see `_proofs_of`

    def finish(self) -> Story:
        story, advice = self.story, self._advice
        found = self.results
        story.results, story.tables, story.downloads = found.values, found.tables, found.downloads
        story.sent, story.unknown = self.sent, self.unknown if self.in_doubt else ""
        story.model_calls, story.tokens = advice.calls, advice.tokens
        story.cost_microdollars, story.unpriced = advice.cost_microdollars, advice.unpriced
        self._failed_at()
        story.proofs = _proofs_of(self, self._proofs, story.read_backs)
        for proof in story.proofs:
            if (sender := self.steps.get(proof.step)) is not None:
                sender.proof = proof.words
        for number, call in advice.led_nowhere():
            step = self.steps.get(number)
            (story.advice if step is None else step.advice).append(call)
        story.steps = msgspec.convert(self.in_order, list[StepStory], from_attributes=True)
        return story

    def _failed_at(self) -> None:
        """Where it ended, what it looked for and what was there: of a session that failed."""
        story = self.story
        if story.reason in ("completed", "running", "erased"):
            return
        sought = self._seeking.sought()
        story.page, story.expected, story.start = sought[:3]
        story.ending = self._ending.ending()
        story.ending.like = sought.like
        step = self.steps.get(sought.step)
        if step is not None and not step.done:
            step.looked_for, step.instead = [*step.tried, *sought.near], [*sought.instead]

    def take(self, envelope: Envelope) -> None:
        event = envelope.event
        if isinstance(event, SessionForgotten):  # said of it, and not in it
            self.story.forgotten = printable(event.why)
            return
        if isinstance(event, ArtifactsExpired):  # said in a process
            gone = sorted(self._named.intersection(event.digests))
            self.story.expired += [each for each in gone if each not in self.story.expired]
            return
        self._named.update(artifact.sha256 for artifact in artifacts_in(event))
        self.story.events += 1
        self._seeking.hear(event)
        self._ending.handle(event)
        self._advice.take(event)
        super().take(envelope)
        if (step := self.step_of(event)) is None:
            return
        for phase in entered(event, step.kind):
            if not step.phases or step.phases[-1] != phase:
                step.phases.append(phase)

    # -- beside a step -----------------------------------------------------------------------------

    @hears
    def _led_to(self, begun: PlanProposed | PersonActed | FileRead) -> None:
        """What was asked of models, and what was foreseen, has led to the step that begins. A look
        whether a step really worked is told under that step."""
        step = self.in_order[-1] if isinstance(begun, FileRead) else self.steps[begun.step]
        if step is self.in_order[-1]:
            step.advice += self._advice.led_to_a_step()
        if isinstance(begun, PlanProposed) and begun.driver == "prediction" and self._foreseen:
            step.within = [*map(within_in_words, self._foreseen.within)]
            step.absent = self._foreseen.absent

    @hears
    def _foresee(self, made: PredictionMade) -> None:
        self._foreseen = made

    @hears
    def _came_to_something(self, end: ActionJudged | QueryAnswered) -> None:
        self._judged = self.steps.get(end.step)

    @hears
    def _learned(self, learned: TransitionLearned) -> None:
        if self._judged is not None:
            self._taught[learned.token] = self._judged

    @hears
    def _taken_back(self, undone: TransitionUndone) -> None:
        step = self.now if undone.why == "refused" else self._taught.get(undone.token)
        if step is not None:
            step.undone = undone_in_words(undone.why)

    @hears
    def _see_picture(self, seen: VisionSought | VisionGiven) -> None:
        story = self._advice.look(seen) if isinstance(seen, VisionGiven) else VisionStory()
        if (step := self.step_of(seen)) is not None:
            step.vision = story

    @hears
    def _pause(self, said: SessionPaused | SessionResumed) -> None:
        """Told below the step that it came behind; its end where it began."""
        if isinstance(said, SessionPaused):
            told = self.story.pauses if self.now is None else self.now.pauses
            told.append(printable(f"paused by {said.by}"))
            self._paused = told, said.by, self.at_ns
            return
        told, by, since_ns = self._paused
        if told:
            told[-1] = paused_in_words(by, (self.at_ns - since_ns) / 1e6, said.by)

    # -- the session -------------------------------------------------------------------------------

    @hears
    def _begin_session(self, started: SessionStarted) -> None:
        story = self.story
        story.session, story.purpose = self.session, started.purpose
        story.name, story.values = started.name, started.values
        story.goal, story.led = printable(started.goal), started.driver == "model"
        story.dry_run = started.settings.dry_run
        story.version = started.workflow.version if started.workflow else None
        story.started_ns = self.at_ns

    @hears
    def _stop(self, end: RunStopped | SessionEnded) -> None:
        story = self.story
        story.reason, story.failure, story.detail = end.reason, end.failure, end.detail
        story.cause = end.cause or OTHER
        if isinstance(end, SessionEnded):
            self._over()

    def _over(self) -> None:
        self.story.ended_ns = self.at_ns
        self.story.took_ms = (self.at_ns - self.story.started_ns) / 1e6

    @hears
    def _picture(self, taken: ScreenshotTaken) -> None:
        self.story.screenshot = taken.artifact

    @hears
    def _state(self, assessed: PageAssessed) -> None:
        self.story.state = assessed.state
        self.story.barrier = barrier_story(assessed.barrier)

    @hears
    def _claim(self, claimed: CompletionClaimed) -> None:
        self.story.gave_up = printable(claimed.reason) if claimed.status == "failed" else ""

    @hears
    def _check_end(self, checked: CompletionChecked) -> None:
        """What the page says of a claim; which signs it looked for, where it shows none."""
        story = self.story
        self._proofs |= {proof.step: proof for proof in checked.proofs}
        story.detail, story.unmet = checked.reason, ""
        if checked.verified or story.gave_up:
            return
        criteria = self.started.settings.criteria if self.started is not None else None
        signs = criteria.success if criteria is not None else ()
        none = checked.cause is not None and checked.cause.kind == "no_sign"
        shown = ", ".join(printable(f"{each.where} {each.says!r}") for each in signs if none)
        story.unmet = f"{checked.reason}: {shown}" if shown else checked.reason

    @hears
    def _found_back(self, found: ReadBackFound) -> None:
        self.story.read_backs[found.step] = found.read_back

    @hears
    def _use_login(self, login: LoginUsed | LoginKept | LoginNotKept) -> None:
        self.story.logins.append(login_in_words(login))
        if isinstance(login, LoginNotKept):
            self.story.unkept.append(self.story.logins[-1])

    @hears
    def _gone(self, gone: PayloadGone) -> None:
        """Of what was erased, the log still knows that it was, and when."""
        story = self.story
        story.erased += 1
        story.session = self.session
        if gone.was == kind(SessionStarted):
            story.purpose, story.started_ns = "erased", self.at_ns
        elif gone.was == kind(SessionEnded):
            story.reason = "erased"
            self._over()


def _proofs_of(
    session: SessionSteps, checked: Mapping[int, Proof], found: Mapping[int, ReadBack]
) -> list[ProofStory]:
    """Each step that sent something, graded: as its verdict said, or the check of the end, for a
    later step may have proven an earlier one. `found` is where what it sent showed, by the step."""
    judged = [step.judged for step in session.steps.values() if step.judged is not None]
    proofs = {each.proof.step: each.proof for each in judged if each.proof is not None}
    steps = session.started.steps if session.started is not None else ()

    def proposed(proof: Proof) -> ReadBack | None:
        known = 0 <= proof.index < len(steps) and steps[proof.index].after.read_back is not None
        return None if known else found.get(proof.step)

    return [
        ProofStory(each.step, each.index, each.grade, each.by, proposed(each))
        for each in sorted(lasting((proofs | dict(checked)).values()), key=lambda each: each.step)
    ]
