"""Sequences hold what each session did, in order, as far as one step follows from another.

What was typed is kept beside what was done, not in it. An element that was chosen by what was typed
(`Open Aurora Shipping`, after `Aurora Shipping` was searched for) is the same whatever it was.
"""

from collections.abc import Iterable
from typing import NamedTuple

import msgspec

from rutter.actors.rules.workflows.templates import named_target
from rutter.actors.rules.workflows.versions import Versions
from rutter.events.action import Action, ByRole, Parameter, Target, Text, Value, locator_text
from rutter.events.envelope import Envelope
from rutter.events.predictor import (
    SessionForgotten,
    TransitionLearned,
    TransitionUndone,
    WorkflowDeleted,
    WorkflowLearned,
    WorkflowRenamed,
)
from rutter.events.signature import bare, doing
from rutter.events.workflow import Driver, Workflow
from rutter.replay.habits.repeats import BREAK

KINDS = (
    "TransitionLearned",
    "TransitionUndone",
    "WorkflowLearned",
    "WorkflowDeleted",
    "WorkflowRenamed",
    "SessionForgotten",
)
OURS: frozenset[Driver] = frozenset({"workflow", "prediction"})  # nobody's habit but ours
TYPED = 8  # values that an element may be named by: the last ones of its session
LABEL = 80  # characters of it


class DoneStep(NamedTuple):
    """A done step has a code that is the same for the same thing. `shown` is what words are made
    of: one locator of its element, and no value."""

    code: int
    token: str
    shown: Action
    value: Value | None
    field: str
    place: str
    driver: Driver
    session: str


class SequencesFold:
    """The fold keeps what was learned, without what was forgotten."""

    def __init__(self) -> None:
        self.tokens: list[str] = []  # what is done, by its code
        self._codes: dict[str, int] = {}
        self._bare: dict[str, str] = {}
        self._shown: dict[Action, Action] = {}
        self._sessions: dict[str, _SessionSequence] = {}
        self._versions = Versions()
        self._names: dict[str, None] = {}

    def take_in(self, envelope: Envelope) -> None:
        match envelope.event:
            case TransitionLearned() as learned:
                self._learn(envelope.session, learned)
            case TransitionUndone(token=token, why=why) if why != "refused":
                self._session(envelope.session).undo(token)
            case SessionForgotten(session=session):
                self._sessions.pop(session, None)  # what it goes on to do counts
                self._versions.forget(session)
            case WorkflowLearned(workflow=workflow):
                self._versions.learn(envelope.session, workflow)
                self._names[workflow.name] = None
            case WorkflowDeleted(name=name):
                self._versions.delete(name)
            case WorkflowRenamed(name=name, to=to):
                self._versions.rename(name, to)
                self._names[to] = None
            case _:
                pass

    def workflows(self) -> list[Workflow]:
        """The newest version of each that there is."""
        newest = [self._versions.newest(name) for name in sorted(self._names)]
        return [workflow for workflow in newest if workflow is not None]

    def steps(self) -> tuple[list[int], list[DoneStep | None]]:
        """All sessions in one row: the codes, and what is behind them. Where nothing follows from
        what was before stands a break."""
        rows: list[DoneStep | None] = []
        for session in self._sessions.values():
            rows += [*session.rows, None]
        return [BREAK if row is None else row.code for row in rows], rows

    def _session(self, name: str) -> "_SessionSequence":
        return self._sessions.setdefault(name, _SessionSequence())

    def _learn(self, name: str, learned: TransitionLearned) -> None:
        session = self._session(name)
        if learned.driver in OURS:
            session.end_chain()
            return
        if not session.goes_on(learned.after):
            session.end_chain()
        action = learned.action
        target = session.named(action.target)
        code = self._code(session, learned, target)
        session.type(code, action.value)
        shown = _shown(action)
        session.rows.append(
            DoneStep(
                code,
                learned.token,
                self._shown.setdefault(shown, shown),
                action.value,
                _field(action) if action.value is not None else "",
                learned.place,
                learned.driver,
                name,
            )
        )

    def _code(
        self, session: "_SessionSequence", learned: TransitionLearned, target: Target | None
    ) -> int:
        if target is None:
            token = self._bare.get(learned.token)
            if token is None:
                token = self._bare[learned.token] = bare(learned.token)
        else:
            token = doing(msgspec.structs.replace(learned.action, target=target))
        token = session.unnamed(token)
        code = self._codes.get(token)
        if code is None:
            code = self._codes[token] = len(self.tokens)
            self.tokens.append(token)
        return code


class _SessionSequence:
    """A session's sequence holds its steps, and what was typed, by the code of the step that
    did."""

    def __init__(self) -> None:
        self.rows: list[DoneStep | None] = []
        self._texts: dict[str, str] = {}
        self._parameters: dict[str, str] = {}

    def goes_on(self, after: tuple[str, ...]) -> bool:
        """Whether what comes next followed from what is here last: a step in between may have
        been one of ours, or erased."""
        last = self.rows[-1] if self.rows else None
        return last is not None and after[-1:] == (last.token,)

    def end_chain(self) -> None:
        if self.rows and self.rows[-1] is not None:
            self.rows.append(None)

    def undo(self, token: str) -> None:
        if self.rows and (last := self.rows[-1]) is not None and last.token == token:
            self.rows.pop()

    def type(self, code: int, value: Value | None) -> None:
        match value:
            case Text(text) if len(text.strip()) > 2:
                self._texts.pop(f"v{code}", None)
                self._texts[f"v{code}"] = text
                if len(self._texts) > TYPED:
                    del self._texts[next(iter(self._texts))]
            case Parameter(name):
                self._parameters[name] = f"v{code}"
            case _:
                pass

    def named(self, target: Target | None) -> Target | None:
        """The target by what was typed before, where that is in its name; else nothing."""
        if target is None or not self._texts:
            return None
        said = "\n".join(map(locator_text, target.strategies)).casefold()
        values = {
            name: text for name, text in self._texts.items() if text.strip().casefold() in said
        }
        if not values:
            return None
        found = named_target(Target(target.strategies), values)
        return found if any("${" in locator_text(locator) for locator in found.strategies) else None

    def unnamed(self, token: str) -> str:
        """A parameter of this session by the step that types it: another may call it otherwise."""
        if "${" in token:
            for name, step in self._parameters.items():
                token = token.replace("${" + name + "}", "${" + step + "}")
        return token


def fold(log: Iterable[Envelope]) -> SequencesFold:
    doings = SequencesFold()
    for envelope in log:
        doings.take_in(envelope)
    return doings


def _shown(action: Action) -> Action:
    """As little of it as words need: most steps are the same thing done again, and held once."""
    target = action.target
    if target is not None:
        role = next((each.role for each in target.strategies if isinstance(each, ByRole)), "")
        label = _label(target)
        target = Target((ByRole(role, label),) if label else target.strategies[:1])
    return msgspec.structs.replace(action, target=target, value=None, dialogs=())


def _label(target: Target) -> str:
    """What the element calls itself."""
    for locator in target.strategies:
        if isinstance(locator, ByRole) and locator.name:
            return locator.name[:LABEL]
    known = target.fingerprint
    return (known.name.text or known.text.text)[:LABEL] if known is not None else ""


def _field(action: Action) -> str:
    """What a field is called: by itself, in its form, or at worst by its selector."""
    target = action.target
    if target is None:
        return ""
    if label := _label(target):
        return label
    attributes = dict(target.fingerprint.attributes) if target.fingerprint else {}
    for name in ("placeholder", "name", "id"):
        if attributes.get(name):
            return attributes[name][:LABEL]
    return locator_text(target.strategies[0])[:LABEL] if target.strategies else ""
