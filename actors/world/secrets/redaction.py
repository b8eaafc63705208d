"""Redaction keeps known secrets out of every event, wherever the page puts them.

The last thing before a fact is numbered. Deciders so see what the log holds. The same goes for
everything else that leaves the process: what it prints, files that it keeps, what a model is shown.
"""

import re
from collections.abc import Iterable, Mapping
from functools import cache
from typing import NamedTuple

import msgspec

from rutter.actors.world.secrets.encodings import (
    ENOUGH,
    cut_forms,
    escaped_needles,
    fold,
    needles,
    pattern,
)
from rutter.actors.world.secrets.secret_scanner import Detector
from rutter.events.causes import OTHER
from rutter.events.codec import decode, encode
from rutter.events.envelope import Actor
from rutter.events.errors import BadInput, WorldBroken
from rutter.events.runtime import ActorFailed, SessionEnded, SessionStarted
from rutter.events.vocabulary import AnyEvent

SHORTEST = 4  # anything shorter is in every other word
CUT = 100  # characters: a shorter text is whole, unless it says that it was cut
# These hold names of secrets, never values: a password may be the word "password".
NAMES = frozenset({"secrets", "secret", "secret_origins"})
TAGS = frozenset({"event", "is"})
# Kinds and roles of elements: by them it is judged what a step does.
OF_PAGES = ("password", "email", "search", "submit", "textbox", "checkbox", "link", "combobox")
# Sums that we make, by which something is found again: digits of theirs are nobody's secret.
SUMS = frozenset({"digest", "exact", "home", "identity", "sha256", "prompt_sha256"})
SUM = re.compile("[0-9a-f]{1,64}")
# Not words of a page, or such that something is found again by them: nothing is detected there.
EXACT = SUMS | {"session", "call", "approval", "policy", "values"}
# The numbers in an address are names of things far more often than cards.
ADDRESSES = frozenset({"url", "been", "href", "form_action", "origin", "host"})
FAILED = "redaction failed"
LABEL, BESIDE = 80, 400  # characters of what may say what a number is, of one text and of all
DOTS = ("...", "\u2026")


class Secrets:
    """Secrets are found as known values in a text, in one pass, however they are written."""

    def __init__(self, secrets: Iterable[tuple[str, str]]) -> None:
        known = {(name, text) for name, text in secrets if len(text.strip()) >= SHORTEST}
        # The longest first: one secret may be a part of another.
        self._known = sorted(known, key=lambda each: (-len(each[1]), each))
        self._needles = tuple({part for _, text in known for part in needles(text)})
        self._escaped: dict[bytes, tuple[bytes, ...]] = {}
        for sign, needle in (each for _, text in known for each in escaped_needles(text)):
            self._escaped[sign] = (*self._escaped.get(sign, ()), needle)
        self._marks = {f"s{at}": f"<secret {name}>" for at, (name, _) in enumerate(self._known)}
        # Made at the first need: most runs hold nothing that is to be replaced.
        self._pattern: re.Pattern[str] | None = None

    @property
    def known_any(self) -> bool:
        return bool(self._known)

    def may_hold(self, text: bytes) -> bool:
        """Whether it is worth a closer look; `False` is certain."""
        if not self._needles:
            return False
        folded = fold(text)
        if any(needle in folded for needle in self._needles):
            return True
        signs = (needles for sign, needles in self._escaped.items() if sign in text)
        return any(needle in folded for needles in signs for needle in needles)

    def found_in(self, text: str) -> str:
        """The same as `clean`, where it is not known yet that it is worth a look."""
        return self.clean(text) if self.may_hold(text.encode("utf-8", "replace")) else text

    def clean(self, text: str) -> str:
        """The text with each value replaced by the name of its secret."""
        if len(text) < SHORTEST or not self._known:
            return text
        if self._pattern is None:
            each = (f"(?P<s{at}>{pattern(text)})" for at, (_, text) in enumerate(self._known))
            self._pattern = re.compile("|".join(each))
        cleaned = self._pattern.sub(lambda found: self._marks[found.lastgroup or ""], text)
        return self._uncut(cleaned)

    def _uncut(self, text: str) -> str:
        """A text that was cut inside of a value still gives away the other part."""
        ends, begins = text.endswith(DOTS), text.startswith(DOTS)
        if len(text) < CUT and not (ends or begins):
            return text
        dots = next((each for each in DOTS if text.endswith(each)), "")
        body = text.removesuffix(dots)
        for at, (_, value) in enumerate(self._known):
            mark = self._marks[f"s{at}"]
            for form in cut_forms(value):
                if size := _overlap(body, form):
                    body = body[:-size] + mark
                lead = next((each for each in DOTS if body.startswith(each)), "")
                if size := _overlap(form, body[len(lead) : len(lead) + len(form)]):
                    body = lead + mark + body[len(lead) + size :]
        return body + dots


def _overlap(first: str, second: str) -> int:
    """How many characters at the end of one are the beginning of the other, if enough are."""
    for size in range(min(len(first), len(second)), ENOUGH - 1, -1):
        if first.endswith(second[:size]):
            return size
    return 0


class Redactor:
    """A redactor puts a name for each secret's value, and a kind for what a detector finds."""

    def __init__(self, secrets: Mapping[str, str], detector: Detector | None = None) -> None:
        self._known = dict(secrets)
        self._secrets = Secrets(secrets.items())
        self._detector = detector

    def learn(self, secrets: Mapping[str, str]) -> None:
        """From now on these are looked for as well."""
        self._known |= secrets
        self._secrets = Secrets(self._known.items())

    def __call__(self, event: AnyEvent) -> AnyEvent:
        payload = encode(event)
        known = self._secrets.may_hold(payload)
        # What a session was started with is written down on purpose.
        detector = None if isinstance(event, SessionStarted) else self._detector
        if detector is not None and not detector.may_hold(payload):
            detector = None
        if not known and detector is None:
            return event
        cleaning = _Cleaning(self._secrets if known else None, detector)
        said = msgspec.msgpack.decode(payload)
        cleaned = cleaning.part(said)
        return event if cleaned == said else decode(msgspec.msgpack.encode(cleaned))

    def fact(self, actor: Actor, event: AnyEvent) -> tuple[Actor, AnyEvent]:
        """The fact as it may be numbered. When that cannot be said, one that holds nothing, and
        ends the session: rather nothing than everything."""
        try:
            return actor, self(event)
        except Exception:  # noqa: BLE001 - whatever went wrong: its words may hold the secret
            if isinstance(event, SessionStarted):
                raise WorldBroken("redaction failed: the session was not begun") from None
            if isinstance(event, SessionEnded):
                return actor, SessionEnded("failed", "actor_failed", FAILED, OTHER)
            return "runtime", ActorFailed(actor, "RedactionFailed", FAILED)

    @property
    def knows_any(self) -> bool:
        """Whether there is a value that is looked for."""
        return self._secrets.known_any

    def text(self, text: str) -> str:
        text = self._secrets.found_in(text)
        return self._detector.clean(text) if self._detector is not None else text

    def holds_secret(self, text: str) -> bool:
        """Whether a known value is in it."""
        return self._secrets.found_in(text) != text

    def without_known(self, text: str) -> str:
        """The text without known values; what only looks like a secret stays."""
        return self._secrets.found_in(text)


def redactor_of(started: SessionStarted, secrets: Mapping[str, str]) -> Redactor:
    """What cleans the facts of this session: all that it was started with is no find."""
    known = msgspec.json.encode(started).decode()
    return Redactor(secrets, Detector(known) if started.policy.detect_secrets else None)


def check_secrets(started: SessionStarted, secrets: Mapping[str, str]) -> None:
    """A value that is a word of what is run, or of the log itself, would change both: a selector
    `#password` is another one without the word `password`."""
    for name, value in secrets.items():
        if _is_our_word(Redactor({name: value}), started):
            raise BadInput(
                f"the value of secret {name!r} is a word of the workflow, its addresses or the log",
                "use another value",
            )


def is_no_word(started: SessionStarted, name: str, value: str) -> bool:
    """Whether a value that nobody named can be taken out: without it, all stays what it was."""
    return not _is_our_word(Redactor({name: value}), started)


def _is_our_word(redact: Redactor, started: SessionStarted) -> bool:
    if any(map(redact.holds_secret, (*_own_words(), *OF_PAGES))):
        return True
    try:
        return redact(started) != started
    except Exception:  # noqa: BLE001 - whatever went wrong: its words may hold the secret
        return True


class _Cleaning(NamedTuple):
    """A cleaning of one event knows what to look for in it."""

    known: Secrets | None
    detector: Detector | None

    def part(self, value: object, key: str = "", beside: str = "") -> object:
        match value:
            case str():
                return self.text(value, key, beside)
            case [str() as said]:  # a text of the page is a list of one
                return [self.text(said, key, beside)]
            case list():
                return self.parts(value, key)
            case dict() if key == "values":
                # Its keys are names that somebody chose, and none of our fields.
                return {self.text(name, ""): self.part(each) for name, each in value.items()}
            case dict():
                return self.fields(value, beside)
            case _:
                return value

    def parts(self, values: list[object], key: str) -> list[object]:
        """What the one before it says is beside each."""
        cleaned, beside = [], ""
        for value in values:
            cleaned.append(self.part(value, key, beside))
            beside = _said(value)
        return cleaned

    def text(self, text: str, key: str, beside: str = "") -> str:
        if key in SUMS and SUM.fullmatch(text):
            return text
        if self.known is not None:
            text = self.known.clean(text)
        if self.detector is not None and key not in EXACT:
            text = self.detector.clean(text, numbers=key not in ADDRESSES, beside=beside)
        return text

    def fields(self, fields: Mapping[str, object], beside: str) -> dict[str, object]:
        if fields.get("is") == "secret":
            return dict(fields)
        beside = f"{beside} {_said(fields)}"[:BESIDE]
        return {
            key if key in _field_names() else self.text(key, ""): (
                part if key in NAMES or key in TAGS else self.part(part, key, beside)
            )
            for key, part in fields.items()
        }


def _said(value: object) -> str:
    """The short texts in a value: the name of a field says what its value is."""
    match value:
        case str() | [str()]:
            said = value if isinstance(value, str) else value[0]
            return said if len(said) <= LABEL else ""
        case dict():
            kept = (each for key, each in value.items() if key not in ADDRESSES | TAGS)
            return " ".join(filter(None, map(_said, kept)))[:BESIDE]
        case _:
            return ""


@cache
def _field_names() -> frozenset[str]:
    """The fields of all events and of what is in them: ours, whatever a secret is called."""
    return frozenset(TAGS).union(*(_fields_of(kind) for kind in _kinds()))


@cache
def _own_words() -> frozenset[str]:
    """What a field must be one of: an event with any other word cannot be read."""
    return frozenset(
        word for kind in _kinds() for word in getattr(kind, "values", ()) if isinstance(word, str)
    )


def _fields_of(kind: object) -> set[str]:
    tag = getattr(kind, "tag_field", None)
    return {field.encode_name for field in getattr(kind, "fields", ())} | ({tag} if tag else set())


@cache
def _kinds() -> tuple[object, ...]:
    """The types of all events and of what is in them."""
    seen: dict[int, object] = {}
    left: list[object] = [msgspec.inspect.type_info(AnyEvent)]
    while left:
        kind = left.pop()
        if kind is None or id(kind) in seen:
            continue
        seen[id(kind)] = kind
        left += [field.type for field in getattr(kind, "fields", ())]
        left += [*getattr(kind, "types", ()), *getattr(kind, "item_types", ())]
        left += [getattr(kind, each, None) for each in ("item_type", "key_type", "value_type")]
    return tuple(seen.values())


# -- what the process prints -----------------------------------------------------------------------

_hidden: set[tuple[str, str]] = set()
_printed = Secrets(())


def hide(secrets: Mapping[str, str]) -> None:
    """From now on nothing that this process prints holds these."""
    global _printed  # one process has one standard output
    _hidden.update(secrets.items())
    _printed = Secrets(_hidden)


def forget() -> None:
    """Another command begins: what an earlier one knew is not its own."""
    global _printed  # one process has one standard output
    _hidden.clear()
    _printed = Secrets(())


def hushed(text: str) -> str:
    """The text as it may be printed."""
    return _printed.found_in(text)
