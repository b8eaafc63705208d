"""An outcome says what came of the step that a person approved, as soon as that is known."""

from rutter.events.critic import ActionJudged, OutcomeUnknown
from rutter.events.envelope import Envelope
from rutter.events.executor import QueryAnswered, QueryFailed
from rutter.events.person import ApprovalAnswered
from rutter.events.runtime import SessionEnded
from rutter.events.validator import ApprovalRequested
from rutter.events.vocabulary import AnyEvent

PERSONS = ("terminal", "daemon")  # who is told: a list of answers is not
IN_WINDOW = ("login", "unknown", "barrier", "by_hand", "requested")  # nothing of ours follows


class AnswerOutcome:
    def __init__(self) -> None:
        self._asked: dict[str, str] = {}
        self._waits = False

    def of(self, envelope: Envelope) -> str:
        """In words; empty while there is nothing to tell."""
        match envelope.event:
            case ApprovalRequested(approval=approval, kind=kind):
                self._asked[approval] = kind
            case ApprovalAnswered(approval=approval, approved=approved, by=by):
                acts = self._asked.pop(approval, "requested") not in IN_WINDOW and by in PERSONS
                self._waits = acts and approved
                return "you said no: nothing was done" if acts and not approved else ""
            case _ as event if self._waits and (said := _came_of(event)):
                self._waits = False
                return said
            case _:
                pass
        return ""


def _came_of(event: AnyEvent) -> str:
    match event:
        case ActionJudged(verdict="confirmed") | QueryAnswered():
            return "you said yes: it was done"
        case ActionJudged(reason=reason):
            return f"you said yes, and it did not come to what it should: {reason}"
        case OutcomeUnknown() | SessionEnded():
            return "you said yes: what came of it is not known"
        case QueryFailed():
            return "you said yes: there was nothing to read"
        case _:
            return ""
