"""One session as spans: the run, below it its steps, below them what the actors did.

A piece of work is what one actor did about one cause. It begins when its cause was numbered, or as
long before its report as the report says it took; it links to the span that its cause lies in; it
is finished when the session's next event is not part of it.

A step reaches from the first look or thought that led to its plan until the next one is planned.
Whether a thought leads to a step shows only later, so it waits; if it led to none, it is the run's.
"""

from typing import Final

from events.action import Action
from events.advisor import AdviceFailed, AdviceLost, AdviceReceived
from events.critic import OutcomeUnknown
from events.envelope import Envelope, kind
from events.executor import ActionDone, ActionFailed, PersonActed
from events.observer import PageObserved
from events.person import ApprovalAnswered
from events.planner import AdviceRequested, PlanProposed, RunStopped
from events.runtime import ActorFailed, SessionEnded, SessionInterrupted, SessionStarted
from events.validator import ApprovalRequested
from events.vocabulary import AnyEvent
from replay.traces import mapping
from replay.traces.ids import SpanIds, run_id, trace_id
from replay.traces.mapping import TABLE, said
from replay.traces.opened import Place, Step, Work, took_ns
from replay.traces.outcomes import OPEN, OUTCOMES, SETTLES, bad
from replay.traces.span import ERROR, Attributes, Link, Span, SpanEvent

# Work that may wait for its step. A run that looks on and on without planning gets it as its own
# then, so that what is held stays small.
MAX_WAITING: Final = 256
# Moments kept for the run and for each step: a page can open dialogs without end.
MAX_NOTES: Final = 128
NOTHING: Final = (b"", 0)


class SessionSpans:
    """Takes the events of one session from its second to its last."""

    def __init__(self, envelope: Envelope, started: SessionStarted) -> None:
        self.seq = envelope.seq
        self._session = envelope.session
        self._started = started
        self._start_ns = self._last_ns = envelope.at_ns
        self._dead_ns: int | None = None
        self._trace_id = trace_id(envelope.session)
        self._ids = SpanIds(envelope.session)
        self._run_id = self._ids.of(1, "run")
        # The span that each event lies in, and its time: what causes are looked up in.
        self._heard: dict[int, tuple[bytes, int]] = {envelope.n: (self._run_id, envelope.at_ns)}
        self._work: Work | None = None
        self._waiting: list[Work] = []
        self._step: Step | None = None
        self._stopped = False
        self._url = ""
        self._question = ""
        self._asked: dict[str, tuple[AdviceRequested, int]] = {}
        self._notes: list[SpanEvent] = []
        self._totals: dict[str, int] = dict.fromkeys(mapping.TOTALS, 0)
        self._finished: list[Span] = []

    def take(self, envelope: Envelope) -> list[Span]:
        """The spans that this event finished."""
        event = envelope.event
        finished = self._finished = []
        # What recovery writes, perhaps days later, took no time of the run: its clock stands at
        # the last sign of life.
        at_ns = envelope.at_ns if self._dead_ns is None else self._dead_ns
        if isinstance(event, SessionInterrupted):
            self._dead_ns = at_ns = self._last_ns
        self._last_ns = at_ns
        self._totals["rutter.event_count"] = envelope.n
        row = TABLE.get(type(event), mapping.MOMENT)
        if isinstance(event, SessionEnded):
            self._end(event, at_ns)
        elif row.span:
            self._take_work(envelope, at_ns, row)
        else:
            self._take_moment(envelope, at_ns, row)
        return finished

    # -- work ----------------------------------------------------------------------------------

    def _take_work(self, envelope: Envelope, at_ns: int, row: mapping.Row) -> None:
        event, work = envelope.event, self._work
        if work is None or not work.goes_on(envelope):
            self._close_work()
            work = self._work = self._begin(envelope, at_ns, row.span)
        self._heard[envelope.n] = (work.span_id, at_ns)
        work.end_ns = at_ns
        work.kinds = f"{work.kinds} {kind(event)}" if work.kinds else kind(event)
        work.attributes.update(row.adds(event))
        outcome = OUTCOMES.get(type(event))
        if outcome is not None:
            work.outcome = outcome(event)
        self._follow(envelope.n, event, work)

    def _begin(self, envelope: Envelope, at_ns: int, name: str) -> Work:
        event = envelope.event
        if name == mapping.BY_ACTOR:
            who = event.actor if isinstance(event, ActorFailed) else envelope.actor
            name = mapping.WORK_OF.get(who, "plan")
        work = Work(envelope, name, self._ids.of(envelope.n, "work"), self._place(event))
        cause_id, cause_ns = self._heard.get(envelope.cause, NOTHING)
        if cause_id:
            work.link = Link(self._trace_id, cause_id)
        took = took_ns(event)
        # Two clocks measured this, so that a report may claim to have begun before its cause.
        work.start_ns = max(cause_ns or self._start_ns, at_ns - took) if took else cause_ns or at_ns
        return work

    def _place(self, event: AnyEvent) -> Place:
        """Whose child work is as it begins."""
        step = self._step
        if self._stopped:
            return "step" if isinstance(event, OutcomeUnknown) and step is not None else "run"
        if step is None:
            return "later"
        # What a verdict teaches is still of the step that was judged.
        return "step" if not step.settled or TABLE[type(event)].span == "learn" else "later"

    def _follow(self, n: int, event: AnyEvent, work: Work) -> None:
        """What an event means for the step around its work, and for the run."""
        match event:
            case PlanProposed(step=number, driver=driver, action=action):
                self._propose(n, number, driver, action, event, work)
            case PersonActed(action=action):
                self._propose(n, 0, "person", action, None, work)
            case PageObserved():
                self._url = str(work.attributes["rutter.page.url"])
            case ActionDone() | ActionFailed() if self._step is not None:
                tool = mapping.tool_attributes(self._step.action, self._step.words)
                work.attributes.update(tool)
            case RunStopped():
                work.place = "run"
                self._stopped = True
                self._release(self._run_id)
            case ActorFailed(error=error, message=message):
                raised: Attributes = {"exception.type": error, "exception.message": said(message)}
                work.events = (SpanEvent("exception", work.end_ns, raised),)
            case _:
                self._ask(event, work)
        if type(event) in SETTLES and self._step is not None:
            self._settle(event, work)

    def _ask(self, event: AnyEvent, work: Work) -> None:
        """A person or a model is asked, and what was asked is told where the answer is."""
        match event:
            case ApprovalRequested():
                self._question = str(work.attributes["rutter.question"])
            case ApprovalAnswered():
                work.attributes["input.value"] = self._question
            case AdviceRequested(request=request):
                self._asked[request] = (event, work.end_ns)
            case AdviceReceived() | AdviceFailed() | AdviceLost():
                self._answer(event, work)
            case _:
                pass

    def _answer(self, event: AdviceReceived | AdviceFailed | AdviceLost, work: Work) -> None:
        asked = self._asked.pop(event.request, None)
        if asked is not None:
            request, asked_ns = asked
            work.attributes = mapping.request_attributes(request) | work.attributes
            took = took_ns(event)
            work.start_ns = max(asked_ns, work.end_ns - took) if took else asked_ns
        work.model = str(work.attributes.get("llm.model_name", ""))
        self._totals["rutter.model_calls"] += 1
        if isinstance(event, AdviceReceived):
            self._totals["rutter.tokens.input"] += event.input_tokens
            self._totals["rutter.tokens.output"] += event.output_tokens
            self._totals["rutter.cost_microdollars"] += event.cost_microdollars

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
        if work.place == "step" and self._step is not None:
            self._step.cover(work)
            parent_id = self._step.span_id
        self._finished.append(work.finish(self._trace_id, parent_id))

    def _release(self, parent_id: bytes) -> None:
        """What waited has found whose it is."""
        waiting, self._waiting = self._waiting, []
        self._finished += [work.finish(self._trace_id, parent_id) for work in waiting]

    # -- steps ---------------------------------------------------------------------------------

    def _propose(
        self,
        n: int,
        number: int,
        driver: str,
        action: Action,
        plan: PlanProposed | None,
        work: Work,
    ) -> None:
        """A plan opens its step, or goes on with it when it is another try."""
        step = self._step
        words = mapping.words_of(action)
        if step is None or plan is None or step.number != number:
            self._close_step()
            found = mapping.step_attributes(number, driver, action, words, self._url)
            step = self._step = Step(self._ids.of(n, "step"), number, action, words, found)
            self._totals["rutter.steps"] += 1
        for waited in self._waiting:
            step.cover(waited)
        step.cover(work)
        self._release(step.span_id)
        step.action, step.words, step.settled, step.outcome = action, words, False, OPEN
        work.place = "step"
        work.attributes["output.value"] = words
        if plan is not None:
            step.attempts = max(step.attempts, plan.attempt)
            step.attributes["rutter.reason"] = said(plan.reason)

    def _settle(self, event: AnyEvent, work: Work) -> None:
        step = self._step
        assert step is not None
        step.settled = True
        step.outcome = work.outcome
        verdict = mapping.verdict_of(event)
        step.attributes["rutter.verdict"] = verdict
        self._totals["rutter.steps.confirmed"] += verdict == "confirmed"

    def _close_step(self) -> None:
        step, self._step = self._step, None
        if step is not None:
            self._finished.append(step.finish(self._trace_id, self._run_id))

    # -- moments and the end -------------------------------------------------------------------

    def _take_moment(self, envelope: Envelope, at_ns: int, row: mapping.Row) -> None:
        """A fact beside the road, noted on the step it falls into, else on the run."""
        self._close_work()
        step = self._step if self._step is not None and not self._step.settled else None
        self._heard[envelope.n] = (step.span_id if step else self._run_id, at_ns)
        notes = step.notes if step else self._notes
        if len(notes) < MAX_NOTES:
            found = {"rutter.n": envelope.n, "rutter.cause": envelope.cause}
            notes.append(SpanEvent(kind(envelope.event), at_ns, found | row.adds(envelope.event)))
        if step is not None:
            step.end_ns = max(step.end_ns, at_ns)

    def _end(self, event: SessionEnded, at_ns: int) -> None:
        self._close_work()
        self._release(self._run_id)
        outcome = OUTCOMES[SessionEnded](event)
        if self._step is not None and not self._step.settled and outcome.status == ERROR:
            self._step.outcome = bad("no verdict", event.failure or event.reason)
        self._close_step()
        started = self._started
        attributes = mapping.run_attributes(self._session, started, event) | self._totals
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


def _origins(started: SessionStarted) -> tuple[Link, ...]:
    """The sessions that this one came from, each the root of a trace of its own."""
    named = (("continues", started.continues), ("forked_from", started.forked_from))
    return tuple(Link(trace_id(name), run_id(name), why) for why, name in named if name)
