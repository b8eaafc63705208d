"""A literal becomes a secret: out of the workflow, and found wherever the log has it.

Nothing is found by a secret's value: a locator that holds it goes, a text keeps `*` in its place.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple
from urllib.parse import quote, quote_plus

import msgspec

from rutter.actors.rules.pages.address import blur
from rutter.actors.rules.steps.likeness import mapped
from rutter.actors.world.secrets.redaction import SHORTEST
from rutter.events.action import Action, DialogAnswer, Secret, Target, Text, locator_text
from rutter.events.chain import is_gone
from rutter.events.checks import texts_of
from rutter.events.envelope import kind
from rutter.events.errors import BadInput
from rutter.events.runtime import ProcessStarted
from rutter.events.sqlite_reader import SqliteReader

# Where an event has what was typed, and nothing else beside it.
_TYPED_IN = ("text", "typed", "value")


class Holder(NamedTuple):
    """A session, or one event of a process that changed a workflow, still holds the secret."""

    session: str
    event: int | None = None


class Literals:
    """Secrets have values, by name, in the forms in which pages and addresses write them."""

    def __init__(self, secrets: Mapping[str, str]) -> None:
        self._names = {value: name for name, value in secrets.items()}
        forms = {form for value in secrets.values() for form in _written(value)}
        longest = sorted(forms, key=len, reverse=True)
        self._either = re.compile("|".join(map(re.escape, longest)) or "(?!)", re.IGNORECASE)
        self._short = frozenset(value for value in secrets.values() if not is_telling(value))

    def holds(self, text: str) -> bool:
        return self._either.search(text) is not None

    def hide(self, text: str) -> str:
        return self._either.sub("*", text)

    def are_among(self, texts: Iterable[str]) -> bool:
        """Whether one of the texts holds one of them; a short one must be all of a text."""
        return any(text in self._names or self.holds(text) for text in texts)

    def action(self, number: int, action: Action) -> Action:
        """The action without them; what cannot be done without them is refused."""
        if self.are_among(text for check in action.verify for text in texts_of(check)):
            raise refusal(number, "checks a text that holds it", "drop that step")
        if action.url is not None and self.holds(action.url):
            raise refusal(number, "goes to an address that holds it", "drop that step")
        target = action.target
        if target is not None:
            target = self._target(number, target)
        dialogs = tuple(self._answer(number, answer) for answer in action.dialogs)
        value = action.value
        if isinstance(value, Text) and self.holds(value.text):
            value = Secret(self._name(number, value.text))
        return msgspec.structs.replace(action, target=target, dialogs=dialogs, value=value)

    def in_log(self, reader: SqliteReader) -> list[Holder]:
        """Every place of the log that still has one of them, oldest first."""
        found: dict[Holder, None] = {}
        processes: set[str] = set()
        for row in reader.rows():
            session, n, what, payload = row[1], row[2], row[6], row[7]
            if what == kind(ProcessStarted):
                processes.add(session)
            if not is_gone(payload) and self._are_in(payload):
                found[Holder(session, n if session in processes else None)] = None
        return list(found)

    def _target(self, number: int, target: Target) -> Target:
        locators = tuple(
            locator for locator in target.strategies if not self.holds(locator_text(locator))
        )
        if target.strategies and not locators:
            raise refusal(number, "finds its element by nothing else", "drop that step")
        known_by = target.fingerprint
        return Target(locators, None if known_by is None else mapped(known_by, self.hide))

    def _answer(self, number: int, answer: DialogAnswer) -> DialogAnswer:
        answer = msgspec.structs.replace(answer, message=self.hide(answer.message))
        if answer.text is None or not self.holds(answer.text):
            return answer
        return msgspec.structs.replace(answer, text=None, secret=self._name(number, answer.text))

    def _name(self, number: int, typed: str) -> str:
        if typed not in self._names:
            raise refusal(number, "types it among other words", f"add --secret {number}=NAME")
        return self._names[typed]

    def _are_in(self, payload: bytes) -> bool:
        text = payload.decode("utf-8", "replace")
        if self.holds(text):
            return True
        if not any(value in text for value in self._short):
            return False
        return any(value in self._short for value in _typed_in(msgspec.msgpack.decode(payload)))


def is_telling(value: str) -> bool:
    """Long enough to be told from an accident, as where secrets are kept out of facts."""
    return len(value) >= SHORTEST


def _written(value: str) -> Iterator[str]:
    if not is_telling(value):
        return
    yield from (value, " ".join(value.split()), quote(value), quote(value, ""), quote_plus(value))
    blurred = blur(value)  # as headings are recorded
    if is_telling(blurred):
        yield blurred


def _typed_in(value: object, key: str = "") -> Iterator[str]:
    match value:
        case str() if key in _TYPED_IN:
            yield value
        case list():
            for each in value:
                yield from _typed_in(each, key)
        case dict():
            for name, each in value.items():
                yield from _typed_in(each, str(name))
        case _:
            pass


def refusal(number: int, why: str, instead: str) -> BadInput:
    said = f"step {number} {why}, and a secret is kept in no workflow"
    return BadInput(said, f"{instead}, or record it again with --secret")
