"""The steps of a session are the records of what became of each, and of what they left behind."""

from collections.abc import Iterable

from rutter.actors.rules.pages.barrier_words import barrier_story
from rutter.events.action import Action
from rutter.events.critic import OutcomeUnknown, PageAssessed
from rutter.events.envelope import Envelope, kind
from rutter.events.executor import ActionDone, PersonActed, QueryAnswered
from rutter.events.observer import DownloadFinished, PageObserved
from rutter.events.page import Page
from rutter.events.person import ApprovalAnswered
from rutter.events.planner import PlanProposed
from rutter.events.runtime import SessionEnded, SessionStarted
from rutter.events.tools import FileRead, ToolCalled
from rutter.events.validator import ActionStarted, ApprovalRequested, QueryStarted
from rutter.events.vocabulary import AnyEvent
from rutter.replay.fold import Fold, hears
from rutter.replay.step_record import StepRecord
from rutter.replay.story.phases import PHASES
from rutter.replay.story.results import SentFile, SessionResults, TableRows, numbered, table_rows
from rutter.replay.story.wording import file_wanted, name_on, printable


class SessionSteps(Fold):
    """The steps of one session as far as its events were heard.

    `steps` are by their number; `in_order` are those that are told beside each other: a look
    whether a step worked is told below that step. `now` is the one that was begun last, `planned`
    the one that was proposed last. `unknown` is why the outcome of one is not known.
    """

    def __init__(self) -> None:
        self.session, self.n, self.at_ns = "", 0, 0
        self.started: SessionStarted | None = None
        self.page: Page | None = None
        self.steps: dict[int, StepRecord] = {}
        self.in_order: list[StepRecord] = []
        self.now: StepRecord | None = None
        self.planned: StepRecord | None = None
        self.unknown = ""
        self.downloads: list[SentFile] = []
        self._wanted: dict[str, tuple[str, str]] = {}
        self._asked_of: dict[str, StepRecord] = {}

    def take(self, envelope: Envelope) -> None:
        event = envelope.event
        self.session, self.n, self.at_ns = envelope.session, envelope.n, envelope.at_ns
        self.handle(event)
        if type(event) not in StepRecord.folds or (step := self.step_of(event)) is None:
            return
        step.at_ns = envelope.at_ns
        step.handle(event)

    def step_of(self, event: AnyEvent) -> StepRecord | None:
        """The step that an event is about. By its number, for a verdict may come after that of the
        look elsewhere that it waited for; without one it is the step of now."""
        if isinstance(event, ApprovalAnswered):
            return self._asked_of.get(event.approval, self.now)
        number = getattr(event, "step", 0)
        return self.steps.get(number) if number else self.now

    @property
    def url(self) -> str:
        return self.page.url if self.page is not None else ""

    @property
    def of(self) -> int:
        """How many steps its workflow or script has."""
        started = self.started
        return len(started.workflow.steps if started.workflow else started.script) if started else 0

    @property
    def results(self) -> SessionResults:
        """What its steps read, by the place of each: its step of the workflow, or its own number
        outside of one."""
        texts: dict[tuple[str, int], str] = {}
        tables: dict[tuple[str, int], TableRows] = {}
        for step in self.steps.values():
            place = step.called, step.index if step.index >= 0 else -step.step
            if step.extracted is not None:
                texts[place] = step.extracted
            if step.table is not None:
                tables[place] = table_rows(step.table)
        named = dict(zip(texts, numbered(name for name, _ in texts), strict=True))
        return SessionResults(
            self.session if self.started is not None else "",
            self.started.name if self.started is not None else "",
            {named[place]: text for place, text in texts.items()},
            {named[place]: rows for place, rows in tables.items()},
            list(self.downloads),
        )

    @property
    def sent(self) -> bool:
        """Whether something that cannot be undone was done, or may have been."""
        return any(step.sent for step in self.steps.values())

    @property
    def left_open(self) -> bool:
        """Whether something was begun of which nobody knows how it ended: by what was recorded, or
        because the process died before anything could be. What cannot be undone and was sent may
        have happened, whatever the page showed, there or where its result was looked for."""
        doubts = (step.under_way or step.doubtful for step in self.steps.values())
        return bool(self.unknown) or any(doubts)

    @property
    def in_doubt(self) -> bool:
        """Whether what has an unknown outcome may have changed something. What can be undone, such
        as the loading of a page, leaves nothing to be looked for."""
        open_now = [step for step in self.steps.values() if step.under_way or step.doubtful]
        return bool(self.unknown) and (not open_now or any(step.sent for step in open_now))

    @hears
    def _start(self, started: SessionStarted) -> None:
        self.started = started

    @hears
    def _see(self, seen: PageObserved) -> None:
        self.page = seen.page
        if self.now is not None and seen.screenshot is not None:
            self.now.screenshot = seen.screenshot

    @hears
    def _plan(self, plan: PlanProposed) -> None:
        known = step = self.steps.get(plan.step)
        if step is None or step.erased:
            step = self._open(plan.step, plan.driver, plan.action, plan.reason, plan.read_back_of)
            step.kind, step.probability = plan.kind, plan.probability
            step.sent = known is not None and known.sent
        step.name = name_on(self.page, plan.action)
        self.now = self.planned = step

    @hears
    def _acted(self, acted: PersonActed) -> None:
        step = self._open(acted.step, "person", acted.action, "done by a person")
        step.acting, step.begun, step.begun_url = acted.action, acted.action, self.url
        step.element = acted.element.name.text if acted.element is not None else ""

    @hears
    def _call(self, called: ToolCalled) -> None:
        path = file_wanted(called)
        if path is not None:
            self._wanted[called.call] = path, called.by

    @hears
    def _read(self, read: FileRead) -> None:
        """It needs no page, and the step of now goes on behind it."""
        path, by = self._wanted.pop(read.call, ("", "agent"))
        step = self._begin(0, by, Action("extract", name=path), "called for")
        step.kind, step.file, step.phases = "observation", path, list(PHASES["observation"])
        step.verdict = "failed" if read.error else "answered"
        step.reason = printable(f"{read.error}: {read.message}") if read.error else "file_read"

    def _open(
        self, number: int, driver: str, action: Action, why: str, below: int = 0
    ) -> StepRecord:
        step = self.now = self.steps[number] = self._begin(number, driver, action, why, below)
        return step

    def _begin(
        self, number: int, driver: str, action: Action, why: str, below: int = 0
    ) -> StepRecord:
        step = StepRecord(number, driver, action, why, self.at_ns, url=self.url, source="person")
        step.read_back_of = below
        owner = self.steps.get(below)
        told = self.in_order if owner is None or owner.erased else owner.read_backs
        told.append(step)
        return step

    @hears
    def _begun(self, by: ActionStarted | QueryStarted | ActionDone | QueryAnswered) -> None:
        """Where its plan was erased, a step is counted all the same, and not told."""
        if by.step not in self.steps:
            action = getattr(by, "action", Action("extract"))
            step = StepRecord(
                by.step, "person", action, "", self.at_ns, source="person", erased=True
            )
            self.steps[by.step] = step
        if not isinstance(by, ActionDone | QueryAnswered):
            self.steps[by.step].begun_url = self.url

    @hears
    def _download(self, file: DownloadFinished) -> None:
        sent = SentFile(file.name.text, file.step, file.artifact, file.failure)
        self.downloads.append(sent)

    @hears
    def _asked(self, asked: ApprovalRequested) -> None:
        if (step := self.step_of(asked)) is not None:
            self._asked_of[asked.approval] = step

    @hears
    def _assess(self, assessed: PageAssessed) -> None:
        """The state that a step left the page in. A look elsewhere is over by then."""
        if self.in_order:
            self.in_order[-1].state = assessed.state
            self.in_order[-1].barrier = barrier_story(assessed.barrier)

    @hears
    def _unknown(self, unknown: OutcomeUnknown) -> None:
        self.unknown = unknown.why


def steps_in(events: Iterable[Envelope]) -> SessionSteps:
    """The steps of the session of these events."""
    found = SessionSteps()
    for envelope in events:
        found.take(envelope)
    return found


HEARD = sorted(map(kind, SessionSteps.folds | StepRecord.folds))
# What says how a run ended and what it brought home: all but pages, which are most of a log.
KINDS = [*(each for each in HEARD if each != kind(PageObserved)), kind(SessionEnded)]
