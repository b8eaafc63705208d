"""A session becomes spans: the run, below it its steps, below them what the actors did.

A piece of work is what one actor did about one cause. It begins when its cause was numbered, or as
long before its report as the report says it took; it links to the span that its cause lies in; it
is finished when the session's next event is not part of it. A call of a model waits for its answer,
whatever happens meanwhile.

A step reaches from the first look or thought that led to its plan until the next one is planned.
Whether a thought leads to a step shows only later, so it waits; if it led to none, it is the run's.
"""

from typing import Final

from rutter.events.action import Action, Kind
from rutter.events.advisor import (
    AdviceFailed,
    AdviceLost,
    AdvicePrepared,
    AdviceReceived,
    VisionGiven,
)
from rutter.events.critic import ActionJudged, OutcomeUnknown
from rutter.events.envelope import Envelope, kind
from rutter.events.executor import ActionDone, ActionFailed, PersonActed, QueryAnswered, QueryFailed
from rutter.events.observer import PageObserved
from rutter.events.person import ApprovalAnswered
from rutter.events.planner import AdviceRequested, PlanProposed, RunStopped
from rutter.events.runtime import (
    ActorFailed,
    PayloadGone,
    SessionEnded,
    SessionInterrupted,
    SessionStarted,
)
from rutter.events.validator import ApprovalRequested
from rutter.events.vocabulary import AnyEvent
from rutter.replay.fold import Fold, hears
from rutter.replay.story.cost import is_call, is_priced
from rutter.replay.traces.event_attributes import tool_attributes, words_of
from rutter.replay.traces.ids import SpanIds, run_id, trace_id
from rutter.replay.traces.mapping import (
    BY_ACTOR,
    TOTALS,
    WORK_OF,
    SpanRule,
    StepEnd,
    request_attributes,
    rule_of,
    run_attributes,
    step_attributes,
    verdict_of,
)
from rutter.replay.traces.open_spans import OpenStep, OpenWork, Place, took_ns
from rutter.replay.traces.outcomes import OPEN, OUTCOMES, bad
from rutter.replay.traces.outgoing_text import said
from rutter.replay.traces.span import ERROR, Attributes, Link, Span, SpanEvent

# Work that may wait for its step. A run that looks on and on without planning gets it as its own
# then, so that what is held stays small.
MAX_WAITING: Final = 256
# Moments kept for the run and for each step: a page can open dialogs without end.
MAX_NOTES: Final = 128
NOTHING: Final = (b"", 0)


class SessionSpans(Fold):
    """A session's spans take its events, from the second to the last. What some of them mean for
    the step around their work, and for the run, its handlers tell."""

    def __init__(self, envelope: Envelope, started: SessionStarted) -> None:
        self.seq = envelope.seq
        self._n = envelope.n
        self._session = envelope.session
        self._started = started
        self._start_ns = self._last_ns = envelope.at_ns
        self._dead_ns: int | None = None
        self._trace_id = trace_id(envelope.session)
        self._ids = SpanIds(envelope.session)
        self._run_id = self._ids.of(1, "run")
        # The span that each event lies in, and its time: what causes are looked up in.
        self._heard: dict[int, tuple[bytes, int]] = {envelope.n: (self._run_id, envelope.at_ns)}
        self._work: OpenWork | None = None
        self._waiting: list[OpenWork] = []
        self._step: OpenStep | None = None
        self._stopped = False
        self._url = ""
        self._question = ""
        # By their request: what a model was asked, and the call of it, when that is under way.
        self._asked: dict[str, tuple[AdviceRequested, int]] = {}
        self._calls: dict[str, OpenWork] = {}
        self._notes: list[SpanEvent] = []
        self._totals: dict[str, int] = dict.fromkeys(TOTALS, 0)
        self._finished: list[Span] = []
        self.ended = False

    def take(self, envelope: Envelope) -> list[Span]:
        """The spans that this event finished."""
        event = envelope.event
        finished = self._finished = []
        # What recovery writes, perhaps days later, took no time of the run: its clock stands at
        # the last sign of life.
        if isinstance(event, SessionInterrupted):
            self._dead_ns = self._last_ns
        at_ns = max(envelope.at_ns, self._last_ns) if self._dead_ns is None else self._dead_ns
        self._last_ns = at_ns
        self._n = envelope.n
        row = rule_of(event)
        if isinstance(event, SessionEnded):
            self._end(event, at_ns)
        elif row.span and row.span != "run":
            self._take_work(envelope, at_ns, row)
        else:
            self._take_moment(envelope, at_ns, row)
        return finished

    # -- work ----------------------------------------------------------------------------------

    def _take_work(self, envelope: Envelope, at_ns: int, row: SpanRule) -> None:
        event, work = envelope.event, self._work
        if isinstance(event, AdvicePrepared | AdviceReceived | AdviceFailed | AdviceLost):
            work = self._call(envelope, event.request, at_ns)
        elif work is None or not work.goes_on(envelope) or _of_another_step(event, work):
            self._close_work()
            work = self._work = self._begin(envelope, at_ns, row.span)
        self._heard[envelope.n] = (work.span_id, at_ns)
        work.end_ns = at_ns
        work.kinds = f"{work.kinds} {kind(event)}" if work.kinds else kind(event)
        work.attributes.update(row.adds(event))
        outcome = OUTCOMES.get(type(event))
        if outcome is not None:
            work.outcome = outcome(event)
        self.handle(event, work)

    def _begin(self, envelope: Envelope, at_ns: int, name: str) -> OpenWork:
        event = envelope.event
        if name == BY_ACTOR:
            who = event.actor if isinstance(event, ActorFailed) else envelope.actor
            name = WORK_OF.get(who, "runtime")
        work = OpenWork(envelope, name, self._ids.of(envelope.n, "work"), self._place(event))
        work.step = self._at_work(event)
        cause_id, cause_ns = self._heard.get(envelope.cause, NOTHING)
        if cause_id:
            work.link = Link(self._trace_id, cause_id)
        took = took_ns(event)
        # Two clocks measured this, so that a report may claim to have begun before its cause.
        work.start_ns = max(cause_ns or self._start_ns, at_ns - took) if took else cause_ns or at_ns
        return work

    def _call(self, envelope: Envelope, request: str, at_ns: int) -> OpenWork:
        """The call that this is part of: it began with its prompt, and others spoke meanwhile."""
        self._close_work()
        work = self._calls.pop(request, None)
        if work is None:
            work = self._begin(envelope, at_ns, "chat")
        else:
            work.place, work.step = self._place(envelope.event), self._at_work(envelope.event)
        self._work = work
        return work

    def _place(self, event: AnyEvent) -> Place:
        """Whose child work is as it begins."""
        step = self._step
        if self._stopped:
            return "step" if isinstance(event, OutcomeUnknown) and step is not None else "run"
        return "later" if self._at_work(event) is None else "step"

    def _at_work(self, event: AnyEvent) -> OpenStep | None:
        """The innermost step that has no verdict yet. What a verdict teaches is still of the step
        that was judged, and nothing is learned from a look whether it worked."""
        found = self._unsettled
        if found is None and self._step is not None and rule_of(event).span == "learn":
            return list(self._step.chain())[-1]
        return found

    @property
    def _unsettled(self) -> OpenStep | None:
        step = self._step
        while step is not None and step.settled:
            step = step.owner
        return step

    def _numbered(self, number: int) -> OpenStep | None:
        step = self._step
        while step is not None and step.number != number:
            step = step.owner
        return step

    @hears
    def _observed(self, work: OpenWork, _seen: PageObserved) -> None:
        self._url = str(work.attributes["rutter.page.url"])

    @hears
    def _acted(
        self, work: OpenWork, _done: ActionDone | ActionFailed | QueryAnswered | QueryFailed
    ) -> None:
        if self._step is not None:
            tool = tool_attributes(self._step.action, self._step.words)
            work.attributes.update(tool)

    @hears
    def _stop(self, work: OpenWork, _stopped: RunStopped) -> None:
        work.place = "run"
        self._stopped = True
        self._release(self._run_id)

    @hears
    def _failed(self, work: OpenWork, failed: ActorFailed) -> None:
        raised: Attributes = {
            "exception.type": failed.error,
            "exception.message": said(failed.message),
        }
        work.events = (SpanEvent("exception", work.end_ns, raised),)

    @hears
    def _asks_person(self, work: OpenWork, _asked: ApprovalRequested) -> None:
        self._question = str(work.attributes["rutter.question"])

    @hears
    def _answered_by_person(self, work: OpenWork, _answer: ApprovalAnswered) -> None:
        work.attributes["input.value"] = self._question

    @hears
    def _asks_model(self, work: OpenWork, request: AdviceRequested) -> None:
        self._asked[request.request] = (request, work.end_ns)
        if is_call(request):
            self._count_call()

    @hears
    def _prepared(self, work: OpenWork, prepared: AdvicePrepared) -> None:
        self._calls[prepared.request] = work
        self._work = None

    @hears
    def _answered_by_model(
        self, work: OpenWork, end: AdviceReceived | AdviceFailed | AdviceLost
    ) -> None:
        """A call is one span: what was asked is told where the answer is."""
        if end.request not in self._asked:
            self._count_call()  # that it was asked for was erased
        self._tell_asked(end.request, work, took_ns(end))
        if isinstance(end, AdviceLost) or is_call(end):
            self._count_end(end, work)
        self._close_work()  # what its asker says next about the same cause is no part of the call

    @hears
    def _looked(self, work: OpenWork, given: VisionGiven) -> None:
        if is_call(given):
            work.model = str(work.attributes.get("llm.model_name", ""))
            self._count_call()
            self._count_end(given, work)

    def _count_call(self) -> None:
        """From when it is asked for: one that is never heard of again counts as spent."""
        self._totals["rutter.model_calls"] += 1
        self._totals["rutter.model_calls.unpriced"] += 1

    def _count_end(
        self, event: AdviceReceived | AdviceFailed | AdviceLost | VisionGiven, work: OpenWork
    ) -> None:
        totals = self._totals
        if is_priced(event):
            totals["rutter.model_calls.unpriced"] -= 1
        if isinstance(event, AdviceReceived | VisionGiven):
            totals["rutter.tokens.input"] += event.usage.input
            totals["rutter.tokens.output"] += event.usage.output
            totals["rutter.tokens.cached"] += event.usage.cached
            totals["rutter.cost_microdollars"] += event.cost_microdollars
        totals["rutter.model_calls.failed"] += work.outcome.status == ERROR

    def _tell_asked(self, request: str, work: OpenWork, took: int) -> None:
        asked = self._asked.pop(request, None)
        if asked is not None:
            event, asked_ns = asked
            work.attributes = request_attributes(event) | work.attributes
            began_ns = max(asked_ns, work.end_ns - took) if took else asked_ns
            work.start_ns = min(began_ns, work.end_ns)  # asked for behind it: a log of no sense
        work.model = str(work.attributes.get("llm.model_name", ""))

    def _give_up_calls(self) -> None:
        """Calls that the run ended before: nobody said that they were lost."""
        for request, work in self._calls.items():
            self._tell_asked(request, work, 0)
            work.outcome = bad("no answer")
            self._finished.append(work.finish(self._trace_id, self._run_id))
        self._calls = {}

    def _close_work(self) -> None:
        work, self._work = self._work, None
        if work is None:
            return
        if work.place == "later":
            self._waiting.append(work)
            if len(self._waiting) > MAX_WAITING:
                self._release(self._run_id)
            return
        parent_id = self._run_id
        step = work.step or self._step
        if work.place == "step" and step is not None:
            for around in step.chain():
                around.cover(work)
            parent_id = step.span_id
        self._finished.append(work.finish(self._trace_id, parent_id))

    def _release(self, parent_id: bytes) -> None:
        """What waited has found whose it is."""
        waiting, self._waiting = self._waiting, []
        self._finished += [work.finish(self._trace_id, parent_id) for work in waiting]

    # -- steps ---------------------------------------------------------------------------------

    @hears
    def _planned(self, work: OpenWork, plan: PlanProposed) -> None:
        """A plan opens its step, or goes on with it when it is another try."""
        step = self._numbered(plan.step)
        if step is None:
            owner = self._numbered(plan.read_back_of) if plan.read_back_of else None
            step = self._open_step(plan.step, plan.driver, plan.action, plan.kind, owner=owner)
        else:
            self._close_step(until=step)
            step.action, step.words = plan.action, words_of(plan.action)
        step.attempts = max(step.attempts, plan.attempt)
        step.attributes["rutter.reason"] = said(plan.reason)
        self._led_to(step, work)

    @hears
    def _person_acted(self, work: OpenWork, acted: PersonActed) -> None:
        """A person's own step: it had happened when we heard of it."""
        self._led_to(self._open_step(acted.step, "person", acted.action), work)

    def _open_step(
        self,
        number: int,
        driver: str,
        action: Action,
        kind: Kind = "action",
        owner: OpenStep | None = None,
    ) -> OpenStep:
        """A step that looks whether another worked opens inside it; any other ends what was."""
        self._close_step(until=owner)
        words = words_of(action)
        found = step_attributes(number, driver, kind, action, words, self._url)
        if owner is not None:
            found["rutter.read_back_of"] = owner.number
        span_id = self._ids.of(self._n, "step")
        step = self._step = OpenStep(span_id, number, action, words, found, owner)
        self._totals["rutter.steps"] += 1
        return step

    def _led_to(self, step: OpenStep, work: OpenWork) -> None:
        """What waited has led to this step, and is part of it."""
        for around in step.chain():
            for waited in self._waiting:
                around.cover(waited)
            around.cover(work)
        self._release(step.span_id)
        step.settled, step.outcome = False, OPEN
        work.place, work.step = "step", step
        work.attributes["output.value"] = step.words

    @hears
    def _settled(self, work: OpenWork, end: StepEnd) -> None:
        """By the number of the step: its verdict may come after that of the look that it led to. An
        observation is over with its answer: there is nothing to judge."""
        step = self._numbered(end.step)
        if step is None:
            return
        step.settled = True
        step.outcome = work.outcome
        work.place, work.step = "step", step
        verdict = verdict_of(end)
        step.attributes["rutter.verdict"] = verdict
        for total in ("confirmed", "answered"):
            self._totals[f"rutter.steps.{total}"] += verdict == total

    def _close_step(self, until: OpenStep | None = None) -> None:
        """Ends the open steps, the innermost first, down to the one that goes on."""
        while self._step is not None and self._step is not until:
            step, self._step = self._step, self._step.owner
            parent_id = self._run_id
            if step.owner is not None:
                step.owner.cover(step)
                parent_id = step.owner.span_id
            self._finished.append(step.finish(self._trace_id, parent_id))

    # -- moments and the end -------------------------------------------------------------------

    def _take_moment(self, envelope: Envelope, at_ns: int, row: SpanRule) -> None:
        """A fact beside the road, noted on the step it falls into, else on the run."""
        if isinstance(envelope.event, PayloadGone) and envelope.event.was == kind(SessionEnded):
            self._end(envelope.event, at_ns)
            return
        self._close_work()
        step = self._unsettled
        self._heard[envelope.n] = (step.span_id if step else self._run_id, at_ns)
        notes = step.notes if step else self._notes
        if len(notes) < MAX_NOTES:
            found = {"rutter.n": envelope.n, "rutter.cause": envelope.cause}
            notes.append(SpanEvent(kind(envelope.event), at_ns, found | row.adds(envelope.event)))
        for around in step.chain() if step is not None else ():
            around.end_ns = max(around.end_ns, at_ns)

    def _end(self, event: AnyEvent, at_ns: int) -> None:
        """The run is over; when what its end said was erased, nobody knows how."""
        self.ended = True
        self._close_work()
        self._give_up_calls()
        self._release(self._run_id)
        end = event if isinstance(event, SessionEnded) else None
        outcome = OPEN if end is None else OUTCOMES[SessionEnded](end)
        for step in self._step.chain() if self._step is not None else ():
            if not step.settled and outcome.status == ERROR:
                step.outcome = bad("no verdict", outcome.message)
        self._close_step()
        started = self._started
        self._totals["rutter.event_count"] = self._n
        attributes = run_attributes(self._session, started, end) | self._totals

        self._finished.append(
            Span(
                self._trace_id,
                self._run_id,
                b"",
                f"{started.purpose} {started.name}".rstrip(),
                self._start_ns,
                at_ns,
                attributes,
                links=_origins(started),
                events=tuple(self._notes),
                status=outcome.status,
                message=outcome.message,
            )
        )


def _of_another_step(event: AnyEvent, work: OpenWork) -> bool:
    """Two verdicts in one turn, of a step and of the look whether it worked, are two spans."""
    judged = work.attributes.get("rutter.verdict")
    return isinstance(event, ActionJudged) and judged is not None and work.name == "judge"


def _origins(started: SessionStarted) -> tuple[Link, ...]:
    """The sessions that this one came from, each the root of a trace of its own."""
    named = (("continues", started.continues), ("forked_from", started.forked_from))
    return tuple(Link(trace_id(name), run_id(name), why) for why, name in named if name)
