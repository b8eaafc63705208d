"""The Advisor's memory of its session has pages, steps, and the conversation so far.

None of it is on disk beyond what the log holds: what a model typed is here and nowhere else.
"""

from collections.abc import Callable
from datetime import UTC, datetime

import msgspec

from rutter.actors.advisor.conversation import Anchor, BoundValues, CallExchange, Task, thought_of
from rutter.actors.advisor.page_context import MAX_ACTIONS, ActionRecord, ErrorRecord
from rutter.actors.advisor.prompt import in_words
from rutter.actors.advisor.reply_parser import ParsedReply
from rutter.actors.rules.text.untrusted import normalised
from rutter.actors.rules.tools.arguments import BoundNames
from rutter.actors.world.models.messages import Reply
from rutter.events.action import Action, Untrusted
from rutter.events.critic import ActionJudged
from rutter.events.envelope import Envelope
from rutter.events.observer import PageObserved
from rutter.events.planner import PlanProposed
from rutter.events.run_settings import LanguageModel
from rutter.events.runtime import SessionStarted
from rutter.events.tools import FileRead, ToolAnswered

MAX_ERRORS = 10

Clean = Callable[[str], str]


class Memory:
    """A session's memory can `clean` what must not leave it, and `draw` a mark of its own."""

    def __init__(self, clean: Clean, draw: Callable[[], str]) -> None:
        self._clean = clean
        self._draw = draw
        self.started: SessionStarted | None = None
        self.seen: PageObserved | None = None
        self.actions: list[ActionRecord] = []
        self.errors: list[ErrorRecord] = []
        self.exchanges: list[CallExchange] = []
        self.anchor: Anchor | None = None
        self._plan: PlanProposed | None = None
        self._open: dict[str, int] = {}  # by call: the turn that it is the first call of
        self._file: FileRead | None = None

    def hear(self, envelope: Envelope) -> None:
        match envelope.event:
            case SessionStarted() as started:
                self.started = started
            case PageObserved() as seen:
                self.seen = seen
            case PlanProposed() as plan:
                self._plan = plan
            case ActionJudged() as judged if self._plan is not None:
                if judged.step == self._plan.step:
                    at = datetime.fromtimestamp(envelope.at_ns // 1_000_000_000, UTC)
                    self._judged(self._plan.action, judged, f"{at:%Y-%m-%dT%H:%M:%SZ}")
            case ToolAnswered(call=call) as answer if call in self._open:
                self._answered(self._open.pop(call), answer)
            case _:
                return

    def read(self, file: FileRead) -> None:
        """What is in a file, without what must not leave."""
        text = Untrusted(self._clean(normalised(file.text.text))) if file.text else None
        self._file = msgspec.structs.replace(file, text=text)

    def note(self, note: str) -> None:
        """What is said to a turn that called nothing stays with it."""
        if self.exchanges and not self.exchanges[-1].thought.calls:
            self.exchanges[-1] = msgspec.structs.replace(self.exchanges[-1], note=note)

    def said(self, reply: Reply, heard: ParsedReply, recorded: Clean) -> None:
        """A turn of the conversation, as it was and as the record may hold it."""
        turn, text = len(self.exchanges) + 1, self._clean(normalised(reply.text))
        live = thought_of(text, reply.calls, turn)
        kept = thought_of(recorded(text), heard.recorded, turn)
        if heard.calls:
            self._open[heard.calls[0].call] = len(self.exchanges)
        self.exchanges.append(CallExchange(live, kept))

    @property
    def task(self) -> Task:
        started = self.started
        if started is None:
            return Task("")
        service = started.settings.service
        goal = started.goal or (started.workflow.goal if started.workflow else "")
        goal = goal or (service.goal if service else "")
        bound = BoundValues(
            {name: self._clean(value) for name, value in started.values.items()}, started.secrets
        )
        guidance = service.guidance if service else ""
        return Task(self._clean(goal), self._clean(guidance), bound)

    @property
    def names(self) -> BoundNames:
        started = self.started
        return BoundNames(started.values, started.secrets) if started is not None else BoundNames()

    def model(self, provider: str) -> LanguageModel | None:
        models = self.started.models if self.started is not None else None
        asked = models.models if models is not None else ()
        return next((each for each in asked if each.provider == provider), None)

    def _answered(self, turn: int, answer: ToolAnswered) -> None:
        if self._file is not None and self._file.call == answer.call and answer.success:
            answer = msgspec.structs.replace(answer, result=self._file.text)
        exchange = self.exchanges[turn]
        self.exchanges[turn] = msgspec.structs.replace(exchange, answer=answer, nonce=self._draw())

    def _judged(self, action: Action, judged: ActionJudged, at: str) -> None:
        told, good = in_words(action), judged.verdict == "confirmed"
        self.actions = [*self.actions, ActionRecord(action.type, told, good, at)][-MAX_ACTIONS:]
        if not good:
            locator = action.target.primary if action.target is not None else None
            by = str(locator.__struct_config__.tag) if locator is not None else ""
            error = ErrorRecord(action.type, judged.verdict, judged.reason, by, at)
            self.errors = [*self.errors, error][-MAX_ERRORS:]
